"""Charts of the chance to win a game, of the goals for a turn, and of threats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from iacta.board.scene import shorten_name
from iacta.charts.axes_and_labels import (
    axis,
    categories,
    exact_field,
    format_percent,
    row_axis,
    value_scale,
)
from iacta.charts.board_layers import choose_digit_colour
from iacta.charts.boards import assign_owner_colours
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.theme import WIDTH
from iacta.charts.vega import Row, View, field, layer, table_view

if TYPE_CHECKING:  # slow to import, and only needed for types
    from iacta.questions.goals import GoalsAnswer
    from iacta.questions.threats import ThreatsAnswer
    from iacta.questions.win import WinAnswer
    from iacta.war import GoalChance

ROW, THICK = 64, 44  # distance between bars and thickness of a bar, in pixels
GOAL_ROW, GOAL_THICK = 26, 16
HATCH_DISTANCE = 7  # distance between hatch lines, in pixels
MIN_LABELLED_SHARE = 0.07  # a smaller segment has no room for a number
MAX_GOAL_LENGTH = 32
MIN_GAP = 0.001  # a line shows an upper limit that exceeds a chance by more than this
AXIS_MARGIN = 1.25  # length of the axis relative to the longest bar, to leave room for labels
TICK_STEPS = tuple(k * 10.0**power for power in range(-6, 0) for k in (1, 2, 5))
MAX_TICKS = 8


@register_chart(default_for="WinAnswer")
def win_bar(answer: WinAnswer) -> Chart:
    """Draw each player's share of wins as two bars: for the chosen AI and for a second AI.

    answer: the answer of `iacta.ask("win", ...)`.

    The table `shares` has one row per AI and player, with the columns `like` (the AI), `player`,
    `win` (the share of wins), and `low` and `high` (its interval). The table `hatching` has the
    lines that mark the intervals, unless the game is over.
    """
    from iacta.forms.whole_game import PEOPLE, describe_ai  # slow to import

    colours = assign_owner_colours(answer.question.turn.position)
    rows: list[Row] = []
    lines: list[Row] = []
    names = [describe_ai(each.ai) for each in (answer.found.chances, answer.found.second_opinion)]
    for bar, estimate in enumerate((answer.found.chances, answer.found.second_opinion)):
        top, end = _compute_top(bar, ROW, THICK), 0.0
        present = [chance for chance in estimate.chances if chance.chance > 0]
        for each in present:
            start, end = end, end + each.chance
            low, high = each.interval
            name = shorten_name(each.player)
            same = {"like": names[bar], "player": name, "win": each.chance}
            edges = {"low": low, "high": high, "start": start, "end": end, "middle": start}
            edges["middle"] += each.chance / 2
            rows.append({**same, **edges, "top": top, "bottom": top + THICK / ROW})
            if each is not present[-1]:
                lines += _list_hatch_lines(start + low, start + high, top, ROW, THICK)
    by_player = {
        shorten_name(name): colours[name]
        for name in answer.question.turn.players
        if name in colours
    }
    bar_axis = _make_bar_axis(names, ROW, THICK)
    base = table_view("shares").encode(
        x=axis("start:Q", "share of the games", {"domain": [0, 1]}, format="%"),
        x2="end",
        y=bar_axis,
        y2="bottom",
        tooltip=["like:N", "player:N", *map(exact_field, ("win", "low", "high"))],
    )
    bars = base.mark("rect", style="outlined", strokeWidth=1.5)
    bars = bars.encode(color=categories("player", by_player, rows))
    written = table_view("shares", f"datum.win >= {MIN_LABELLED_SHARE}").calculate(
        label=format_percent("win"), level="(datum.top + datum.bottom) / 2"
    )
    digits = {name: choose_digit_colour(tone) for name, tone in by_player.items()}
    written = written.encode(x="middle:Q", y={**bar_axis, "field": "level"}, text="label:N")
    look: dict[str, Any] = {"fontSize": 13, "fontWeight": "bold"}
    behind = written.mark("text", strokeWidth=5, strokeJoin="round", **look)
    ground = categories("player", by_player, legend=None)
    front = field("player:N", legend=None, scale=value_scale(digits))
    numbers = (
        layer(behind.encode(stroke=ground, fill=front)),
        layer(written.mark("text", **look).encode(fill=front)),
    )
    tables: dict[str, Sequence[Row]] = {"shares": rows}
    layers = [bars]
    if lines:
        tables["hatching"] = lines
        layers.append(_draw_hatching(bar_axis))
    hatched = "Hatched: the 95% interval. " if lines else ""
    return Chart(
        layer(*layers, *numbers).independent("color", "fill", "stroke").properties(height=2 * ROW),
        answer.sentence[0].upper() + answer.sentence[1:],
        f"{hatched}{PEOPLE}",
        tables,
    )


@register_chart(default_for="GoalsAnswer")
def goal_bars(answer: GoalsAnswer) -> Chart:
    """Draw the chance to reach each goal of a turn, or the chance to win the game with each goal.

    answer: the answer of `iacta.ask("goals", ...)`. If it has `win`, the chart shows chances to
        win.

    The table `goals` has one row for each `goal`. If there is a plan, `chance` is the chance of the
    best plan, a longer search would find a chance from `low` to `high`, and `figure` is the chance
    as text. If the question has `win`, the table also has `how` (the way the turn is played), `win`
    (the share of games won) with its interval from `low` to `high`, and `second_opinion` (the share
    with a second AI).
    """
    from iacta.forms.whole_game import PEOPLE  # slow to import
    from iacta.questions.goals import find_range, format_reach

    tone = assign_owner_colours(answer.question.turn.position)[answer.question.turn.player]
    is_won = answer.judged is not None
    shown = [goal for goal in answer.goals if goal.judged or not is_won]
    rows: list[Row] = []
    for bar, each in enumerate(shown):
        top = _compute_top(bar, GOAL_ROW, GOAL_THICK)
        bottom = top + GOAL_THICK / GOAL_ROW
        box = {"top": top, "bottom": bottom, "middle": (top + bottom) / 2, "start": 0.0}
        own: Row = {"goal": each.words, "how": each.how, **box}
        if each.reach is not None:
            (low, high), chance = find_range(each.reach), each.reach.value or 0.0
            own = {**own, "chance": chance, "share": chance, "low": low, "high": high}
            own["figure"] = format_reach(each.reach)
        rows.append({**own, **(_make_win_cells(each.judged) if each.judged else {})})
    most = 1.0
    if is_won:
        most = min(max(max(row["high"], row["second_opinion"]) for row in rows), 1.0)
    numbers = ("win", "low", "high", "second_opinion") if is_won else ("low", "high")
    names = [shorten_name(each.words, MAX_GOAL_LENGTH) for each in shown]
    bar_axis = _make_bar_axis(names, GOAL_ROW, GOAL_THICK)
    base = table_view("goals").encode(
        y=bar_axis,
        tooltip=["goal:N", "how:N", *map(exact_field, ("chance", *numbers))],
    )
    title = "share of games won" if is_won else "chance of the best plan"
    across = _make_share_axis("start:Q", title, AXIS_MARGIN * most)
    bars = base.mark("rect", color=tone, opacity=0.6)
    middle = {**bar_axis, "field": "middle"}
    ranges = table_view("goals").mark("rule", style="ink", strokeWidth=2)
    layers = [
        bars.encode(x=across, x2="share", y2="bottom"),
        ranges.encode(x="low:Q", x2="high", y=middle),
    ]
    label, last = "datum.figure", "datum.high"
    words = "Bars: the best plan found for each goal; lines: the range for a longer search."
    if is_won:
        second = table_view("goals").mark(
            "point", style="ink", shape="diamond", filled=True, size=90
        )
        layers.append(second.encode(x="second_opinion:Q", y=middle))
        label = f"({format_percent('share', 1)}) + ' / ' + ({format_percent('second_opinion', 1)})"
        last = "max(datum.high, datum.second_opinion)"
        words = (
            "Bars and first numbers: the usual AI in every seat; lines: its 95% interval. Diamonds "
            f"and second numbers: the keeper AI. {PEOPLE}"
        )
    written = table_view("goals").calculate(label=label, last=last)
    written = written.mark("text", align="left", dx=6)
    layers.append(written.encode(x="last:Q", y=middle, text="label:N"))
    drawn = layer(*layers).properties(height=GOAL_ROW * max(len(rows), 1))
    return Chart(drawn, answer.sentence, words, {"goals": rows})


@register_chart(default_for="ThreatsAnswer")
def threat_bars(answer: ThreatsAnswer) -> Chart:
    """Draw the chance of each threat in the colour of the most dangerous opponent.

    answer: the answer of `iacta.ask("threats", ...)`.

    The table `threats` has one row per `goal` of an opponent, with the highest `chance`, the
    `player` with this chance, the upper bound `at_most`, and the chance as text (`figure`). If the
    bound is clearly greater than the chance, a line connects them.
    """
    from iacta.questions.threats import (
        THREATS_CONDITION,
        format_threat,
        threats_sentence,
    )  # slow to import

    rows: list[Row] = []
    for goal, by in answer.goals.items():
        first = max(by.values(), key=lambda each: each.chance)
        numbers = {"chance": first.chance, "at_most": first.at_most}
        rows.append(
            {
                "goal": shorten_name(goal, MAX_GOAL_LENGTH),
                "player": shorten_name(first.player),
                **numbers,
                "figure": format_threat(first),
            }
        )
    colours = assign_owner_colours(answer.question.turn.position)
    by_player = {
        shorten_name(name): tone for name, tone in colours.items() if name != answer.found.player
    }
    base = table_view("threats").encode(
        y=row_axis("goal", rows),
        x=_make_share_axis("chance:Q", "chance on their next turn", AXIS_MARGIN),
        tooltip=["goal:N", "player:N", *map(exact_field, ("chance", "at_most"))],
    )
    bars = base.mark("bar", style="outlined")
    bars = bars.encode(color=categories("player", by_player, rows))
    is_open = f"datum.at_most - datum.chance > {MIN_GAP}"
    written = base.calculate(last=f"{is_open} ? datum.at_most : datum.chance")
    written = written.mark("text", align="left", dx=5).encode(x="last:Q", text="figure:N")
    layers = [bars, written]
    words = f"{THREATS_CONDITION[0].upper()}{THREATS_CONDITION[1:]}."
    if any(row["at_most"] - row["chance"] > MIN_GAP for row in rows):
        lines = base.filter(is_open).mark("rule", style="ink", strokeWidth=2)
        layers.insert(1, lines.encode(x2="at_most"))
        words = f"Each line ends at an upper limit of the chance. {words}"
    drawn = layer(*layers).properties(height=GOAL_ROW * max(len(rows), 1))
    return Chart(drawn, threats_sentence(answer), words, {"threats": rows})


def _make_share_axis(column: str, title: str, maximum: float) -> dict[str, Any]:
    """Return an axis for shares from 0 to `maximum`, with ticks up to 100%."""
    step = next(each for each in TICK_STEPS if maximum < MAX_TICKS * each)
    ticks = [k * step for k in range(MAX_TICKS) if k * step <= min(maximum, 1.0)]
    scale = {"domain": [0, maximum], "nice": False}
    return axis(column, title, scale, format="~%", values=ticks)


def _make_win_cells(each: GoalChance) -> dict[str, float]:
    low, high = each.interval
    own = {"win": each.win, "low": low, "high": high, "second_opinion": each.second_opinion}
    return {**own, "share": each.win}


def _compute_top(bar_index: int, row_height: int, bar_height: int) -> float:
    """Return the upper edge of a bar, in rows from the top."""
    return bar_index + (row_height - bar_height) / (2 * row_height)


def _make_bar_axis(names: Sequence[str], row_height: int, bar_height: int) -> dict[str, Any]:
    """Return a quantitative axis for bars, on which hatch lines can be placed.

    All layers must share this axis, because Vega-Lite drops labels that differ between layers.
    """
    middles = [
        _compute_top(k, row_height, bar_height) + bar_height / (2 * row_height)
        for k in range(len(names))
    ]
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


def _list_hatch_lines(
    low: float, high: float, top: float, row_height: int, bar_height: int
) -> Iterator[Row]:
    """Yield slanted lines that hatch a bar from `low` to `high`.

    top: the upper edge of the bar, in rows from the top.
    row_height, bar_height: the height of a row and of a bar, in pixels.
    """
    step, slant = HATCH_DISTANCE / WIDTH, bar_height / WIDTH
    for number in range(floor((low - slant) / step), ceil(high / step) + 1):
        foot = number * step  # the lower end of the line; its upper end is at `foot + slant`
        x, x2 = max(foot, low), min(foot + slant, high)
        if x < x2:
            up, up2 = ((end - foot) / slant * bar_height / row_height for end in (x, x2))
            bottom = top + bar_height / row_height
            yield {"x": x, "x2": x2, "y": bottom - up, "y2": bottom - up2}


def _draw_hatching(bars: Mapping[str, Any]) -> View:
    lines = table_view("hatching").mark("rule", strokeWidth=1.5, style="paper")
    return lines.encode(x="x:Q", x2="x2", y={**bars, "field": "y"}, y2="y2")
