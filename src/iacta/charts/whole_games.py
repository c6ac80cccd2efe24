"""Charts of games: who wins how often, what a turn is best played for, and threats to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from iacta.board.scene import shorten_name
from iacta.charts.axes_and_labels import (
    axis,
    categories,
    exactly,
    mapped,
    percent_label,
    row_axis,
)
from iacta.charts.board_layers import digits_on
from iacta.charts.boards import owner_colours
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.theme import WIDTH
from iacta.charts.vega import Row, View, field, layer, rows_of

if TYPE_CHECKING:  # they take time to import
    from iacta.questions.goals import GoalsAnswer
    from iacta.questions.threats import ThreatsAnswer
    from iacta.questions.win import WinAnswer
    from iacta.war import GoalChance

ROW, THICK = 64, 44  # pixels: from a bar to the next, and of a bar
GOAL_ROW, GOAL_THICK = 26, 16
HATCH = 7  # pixels from a line of a hatching to the next
LEAST_LABELLED = 0.07  # a smaller part of a bar has no room for a number
LONGEST_GOAL = 32
ROOM = 1.25  # for the numbers behind bars, as a multiple of what bars need
STEPS = tuple(k * 10.0**power for power in range(-6, 0) for k in (1, 2, 5))  # of ticks
MOST_TICKS = 8


@chart(of="WinAnswer")
def win_bar(answer: WinAnswer) -> Chart:
    """Return each player's share of the games as a bar, above that under the simple player.

    answer: what `iacta.ask` answers to `win`.

    The chart has a table `shares`: of each bar `like` a player of iacta and each `player` the share
    of games, `win`, with the ends `low` and `high` of its interval; and a table `hatching` of the
    lines that mark intervals. A share without games, because only one player is left, has none.
    """
    from iacta.forms.whole_game import PEOPLE, like  # takes time to import

    colours = owner_colours(answer.question.turn.position)
    rows: list[Row] = []
    lines: list[Row] = []
    names = [like(each.ai) for each in (answer.found.chances, answer.found.under_simple)]
    for bar, estimate in enumerate((answer.found.chances, answer.found.under_simple)):
        top, end = _top(bar, ROW, THICK), 0.0
        present = [each for each in estimate.chances if each.chance > 0]
        for each in present:
            start, end = end, end + each.chance
            low, high = each.interval
            name = shorten_name(each.player)
            same = {"like": names[bar], "player": name, "win": each.chance}
            edges = {"low": low, "high": high, "start": start, "end": end, "middle": start}
            edges["middle"] += each.chance / 2
            rows.append({**same, **edges, "top": top, "bottom": top + THICK / ROW})
            if each is not present[-1]:
                lines += _hatched(start + low, start + high, top, ROW, THICK)
    by_player = {
        shorten_name(name): colours[name]
        for name in answer.question.turn.players
        if name in colours
    }
    bar_axis = _bar_axis(names, ROW, THICK)
    base = rows_of("shares").encode(
        x=axis("start:Q", "share of the games", {"domain": [0, 1]}, format="%"),
        x2="end",
        y=bar_axis,
        y2="bottom",
        tooltip=["like:N", "player:N", *map(exactly, ("win", "low", "high"))],
    )
    bars = base.mark("rect", style="outlined", strokeWidth=1.5)
    bars = bars.encode(color=categories("player", by_player, rows))
    written = rows_of("shares", f"datum.win >= {LEAST_LABELLED}").calculate(
        label=percent_label("win"), level="(datum.top + datum.bottom) / 2"
    )
    digits = {name: digits_on(tone) for name, tone in by_player.items()}
    written = written.encode(x="middle:Q", y={**bar_axis, "field": "level"}, text="label:N")
    look: dict[str, Any] = {"fontSize": 13, "fontWeight": "bold"}
    behind = written.mark("text", strokeWidth=5, strokeJoin="round", **look)
    ground = categories("player", by_player, legend=None)
    front = field("player:N", legend=None, scale=mapped(digits))
    numbers = (
        layer(behind.encode(stroke=ground, fill=front)),
        layer(written.mark("text", **look).encode(fill=front)),
    )
    tables: dict[str, Sequence[Row]] = {"shares": rows}
    layers = [bars]
    if lines:
        tables["hatching"] = lines
        layers.append(_hatching(bar_axis, style="paper"))
    hatched = "Hatched: the 95% interval. " if lines else ""
    return Chart(
        layer(*layers, *numbers).independent("color", "fill", "stroke").properties(height=2 * ROW),
        answer.sentence[0].upper() + answer.sentence[1:],
        f"{hatched}{PEOPLE}",
        tables,
    )


@chart(of="GoalsAnswer")
def goal_bars(answer: GoalsAnswer) -> Chart:
    """Return how often games are won after each goal of a turn, or how often it is reached.

    answer: what `iacta.ask` answers to `goals`; with `win` the chart is about games.

    The chart has a table `goals`: for each `goal` the `chance` of its best plan, where it has one,
    and what a longer search stays within, from `low` to `high`; with games `how` the turn is played
    in them, their share that is won (`win`) from `low` to `high`, and the share `under_simple`; and
    a table `hatching` of the lines that mark intervals.
    """
    from iacta.forms.whole_game import PEOPLE  # takes time to import

    tone = owner_colours(answer.question.turn.position)[answer.question.turn.player]
    is_won = answer.judged is not None
    shown = [each for each in answer.goals if each.judged or not is_won]
    rows: list[Row] = []
    for bar, each in enumerate(shown):
        top = _top(bar, GOAL_ROW, GOAL_THICK)
        place = {"top": top, "bottom": top + GOAL_THICK / GOAL_ROW, "start": 0.0}
        own: Row = {"goal": each.words, "how": each.how, **place}
        if each.reach is not None:
            (low, high), chance = each.reach.interval, each.reach.chance
            own = {**own, "chance": chance, "share": chance, "low": low, "high": high}
        rows.append({**own, **(_won(each.judged) if each.judged else {})})
    most = 1.0
    if is_won:
        most = min(max(max(row["high"], row["under_simple"]) for row in rows), 1.0)
    hatching = [line for row in rows for line in _uncertain(row, most)]
    tables: dict[str, Sequence[Row]] = {"goals": rows, "hatching": hatching}
    numbers = ("win", "low", "high", "under_simple") if is_won else ("low", "high")
    names = [shorten_name(each.words, LONGEST_GOAL) for each in shown]
    bar_axis = _bar_axis(names, GOAL_ROW, GOAL_THICK)
    base = rows_of("goals").encode(
        y=bar_axis,
        tooltip=["goal:N", "how:N", *map(exactly, ("chance", *numbers))],
    )
    title = "share of the games that are won" if is_won else "chance of the best plan"
    across = _share_axis("start:Q", title, ROOM * most)
    bars = base.mark("rect", color=tone)
    layers = [
        bars.encode(x=across, x2="share", y2="bottom"),
        _hatching(bar_axis, "datum.is_inside", style="paper"),
        _hatching(bar_axis, "!datum.is_inside", color=tone),
    ]
    label, last = percent_label("share", 1), "datum.high"
    words = (
        "The chance of the best plan that was found for each goal; hatched: what a longer search "
        "stays within."
    )
    if is_won:
        simple = base.mark("rule", style="ink", strokeWidth=2.5)
        layers.append(simple.encode(x="under_simple:Q", y2="bottom"))
        label = f"({label}) + ' / ' + ({percent_label('under_simple', 1)})"
        last = "max(datum.high, datum.under_simple)"
        words = (
            "Bars, with hatched 95% intervals: like iacta's player; lines, and the second numbers: "
            f"like its simple player. {PEOPLE}"
        )
    written = rows_of("goals").calculate(
        label=label, last=last, level="(datum.top + datum.bottom) / 2"
    )
    written = written.mark("text", align="left", dx=6)
    layers.append(written.encode(x="last:Q", y={**bar_axis, "field": "level"}, text="label:N"))
    drawn = layer(*layers).properties(height=GOAL_ROW * max(len(rows), 1))
    return Chart(drawn, answer.sentence, words, tables)


@chart(of="ThreatsAnswer")
def threat_bars(answer: ThreatsAnswer) -> Chart:
    """Return the greatest chance of each threat as a bar in the colour of who could do it.

    answer: what `iacta.ask` answers to `threats`.

    The chart has a table `threats`: for each `goal` its `chance`, the bound `at_most`, and the
    `player` who has it.
    """
    from iacta.questions.threats import CONDITION, threats_sentence  # takes time to import

    rows: list[Row] = []
    for goal, by in answer.goals.items():
        first = max(by.values(), key=lambda each: each.chance)
        numbers = {"chance": first.chance, "at_most": first.at_most}
        rows.append(
            {
                "goal": shorten_name(goal, LONGEST_GOAL),
                "player": shorten_name(first.player),
                **numbers,
            }
        )
    colours = owner_colours(answer.question.turn.position)
    by_player = {
        shorten_name(name): tone for name, tone in colours.items() if name != answer.found.player
    }
    base = rows_of("threats").encode(
        y=row_axis("goal", rows),
        x=_share_axis("chance:Q", "chance on their next turn", ROOM),
        tooltip=["goal:N", "player:N", *map(exactly, ("chance", "at_most"))],
    )
    bars = base.mark("bar", style="outlined")
    bars = bars.encode(color=categories("player", by_player, rows))
    written = base.calculate(label=percent_label("chance", 1))
    written = written.mark("text", align="left", dx=5).encode(text="label:N")
    drawn = layer(bars, written).properties(height=GOAL_ROW * max(len(rows), 1))
    words = f"{CONDITION[0].upper()}{CONDITION[1:]}."
    return Chart(drawn, threats_sentence(answer), words, {"threats": rows})


def _share_axis(of: str, title: str, most: float) -> dict[str, Any]:
    """Return an axis of shares with room for numbers behind bars, and no tick above 100%.

    most: where it ends.
    """
    step = next(each for each in STEPS if most < MOST_TICKS * each)
    ticks = [k * step for k in range(MOST_TICKS) if k * step <= min(most, 1.0)]
    scale = {"domain": [0, most], "nice": False}
    return axis(of, title, scale, format="~%", values=ticks)


def _won(each: GoalChance) -> dict[str, float]:
    low, high = each.interval
    own = {"win": each.win, "low": low, "high": high, "under_simple": each.under_simple}
    return {**own, "share": each.win}


def _uncertain(row: Row, most: float) -> Iterator[Row]:
    """Yield the hatching of an interval inside of a bar, and beyond its end."""
    place = (row["top"], GOAL_ROW, GOAL_THICK, ROOM * most)
    for line in _hatched(row["low"], row["share"], *place):
        yield {**line, "is_inside": True}
    for line in _hatched(row["share"], row["high"], *place):
        yield {**line, "is_inside": False}


def _top(bar: int, row: int, thick: int) -> float:
    """Return where a bar begins, in rows."""
    return bar + (row - thick) / (2 * row)


def _bar_axis(names: Sequence[str], row: int, thick: int) -> dict[str, Any]:
    """Return the axis of bars that are places along it, so that lines can cross them.

    All layers need the same axis: where they differ, Vega-Lite leaves out labels.
    """
    middles = [_top(k, row, thick) + thick / (2 * row) for k in range(len(names))]
    labels = f"{json.dumps(list(names))}[floor(datum.value)]"
    scale = {"domain": [0, len(names)], "reverse": True, "nice": False}
    look = {
        "values": middles,
        "labelExpr": labels,
        "labelLimit": 200,
        "labelOverlap": False,
        "labelPadding": 6,
    }
    return axis("top:Q", None, scale, **look, grid=False, ticks=False, domain=False)


def _hatched(
    low: float, high: float, top: float, row: int, thick: int, most: float = 1.0
) -> Iterator[Row]:
    """Yield slanted lines across a bar from one share to another, of those up to `most`."""
    step, slant = HATCH / WIDTH * most, thick / WIDTH * most
    for number in range(floor((low - slant) / step), ceil(high / step) + 1):
        foot = number * step  # at the bottom; at the top the line is at `foot + slant`
        x, x2 = max(foot, low), min(foot + slant, high)
        if x < x2:
            up, up2 = ((place - foot) / slant * thick / row for place in (x, x2))
            bottom = top + thick / row
            yield {"x": x, "x2": x2, "y": bottom - up, "y2": bottom - up2}


def _hatching(bars: Mapping[str, Any], where: str = "", **look: Any) -> View:
    lines = rows_of("hatching", where).mark("rule", strokeWidth=1.5, **look)
    return lines.encode(x="x:Q", x2="x2", y={**bars, "field": "y"}, y2="y2")
