"""Charts of games that were played: what was rolled beside what fair dice give, and reviews."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from iacta.board.scene import shorten_name
from iacta.charts.axes_and_labels import axis, categories, exactly, level, row_axis
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.theme import BLUE, GREY, PAPER, RED, contrast, player_tones
from iacta.charts.vega import Row, View, layer, rows_of, vconcat
from iacta.inputs.errors import IllegalError

if TYPE_CHECKING:  # both take time to import
    from iacta.fairness.audit import Audit
    from iacta.plan.review import Review

MOST_RESULTS = 30  # bars of a kind of throws
ROW_HEIGHT = 18  # pixels
MOST_HEIGHT = 264  # pixels, of all results
SMALL = 78  # for what changes over time
MOST_EXPONENT = 300  # of an e-value that the picture reaches
FAIR, ODD = "as fair dice may", "odd"
BAND, BAND_TONE = "band: where 95 of 100 fair logs lie", "#80808050"
LONGEST_NAME = 20
NOBODY = "attackers"
MOST_NAMED = 2  # players in the title


@chart(of="Audit")
def audited_log(audited: Audit) -> Chart:
    """Return how far each result of a log is from fair dice, and evidence and luck over time.

    audited: what `iacta.audit` returns.

    The chart has a table `results`: for each `result` of some `throws` how often it was `seen`, how
    often fair dice give it (`expected`), by how much its share is `off`, and from `low` to `high`
    the band in which all results of 95 of 100 fair logs are. If the log has its throws one by one,
    a table `evidence` has the `e_value` after each number of `throws`; if it also has rolls or
    battles, a table `luck` has the luck of each `player` in `armies`. A log in which every result
    is impossible under its rules is refused, and so is one that has nothing but chances.
    """
    from iacta.questions.audit import audit_sentence  # takes time to import

    rows = _results(audited)
    if not rows and audited.chances:
        raise IllegalError("a picture of an audit needs dice, rolls or battles, got chances alone")
    if not rows:
        raise IllegalError("nothing to draw: no result in the log is possible under the rules")
    most = MOST_EXPONENT * math.log(10)
    evidence = [
        {"throws": moment.throws, "e_value": math.exp(min(max(moment.log_evidence, -most), most))}
        for moment in audited.moments
    ]
    luck = [
        {
            "throws": moment.throws,
            "player": shorten_name(name, LONGEST_NAME) or NOBODY,
            "armies": moment.armies[number],
        }
        for number, name in enumerate(audited.players)
        for moment in audited.moments
        if any(luck.player == name for luck in audited.lucks)
    ]
    tables: dict[str, Sequence[Row]] = {"results": rows}
    parts = [_deviations(rows)]
    words = "Points: how much more often each result came up than with fair dice"
    if evidence:
        tables["evidence"] = evidence
        tables["needed"] = [{"e_value": 1 / audited.level}]
        parts.append(_evidence([*evidence, *tables["needed"]], is_last=not luck))
        words += "; below: the evidence against them, with the level of an alarm"
    if luck:
        tables["luck"] = luck
        parts.append(_luck(luck))
        words += "; the luck of each player"
    drawn = vconcat(*parts, spacing=12).independent("color") if len(parts) > 1 else parts[0]
    return Chart(drawn, audit_sentence(audited), f"{words}.", tables)


def _results(audited: Audit) -> list[Row]:
    totals = {kind.name: int(kind.counts.sum()) for kind in audited.throws}
    kept: set[str] = set()
    count = 0
    for throws in sorted(audited.throws, key=lambda throws: -totals[throws.name]):
        count += len(throws.results)
        if count <= MOST_RESULTS or not kept:
            kept.add(throws.name)
    return [
        {
            "throws": result.throws,
            "result": f"{result.throws}: {result.result}",
            "seen": result.seen,
            "expected": result.expected,
            "off": (result.seen - result.expected) / total,
            "low": (fair.low - result.expected) / total,
            "high": (fair.high - result.expected) / total,
            "verdict": ODD if audited.is_odd(result) else FAIR,
        }
        for result, fair in zip(audited.results, audited.fair_counts(), strict=True)
        if result.throws in kept and (total := totals[result.throws])
    ]


def _deviations(rows: Sequence[Row]) -> View:
    row_height = min(ROW_HEIGHT, MOST_HEIGHT // len(rows))
    names: dict[str, Any] = {
        "labelLimit": 150,
        "labelOverlap": False,
        "labelFontSize": min(row_height - 1, 11),
    }
    base = rows_of("results").encode(
        y=row_axis("result", rows, **names),
        tooltip=["result:N", exactly("seen"), exactly("expected"), exactly("off")],
    )
    across = axis("low:Q", "more often than fair", {"padding": 8}, format="+~%", tickCount=5)
    tones = {BAND: BAND_TONE, FAIR: BLUE, ODD: RED}
    known = {each: tones[each] for each in (BAND, *dict.fromkeys(row["verdict"] for row in rows))}
    colours = categories("verdict", known)
    band = base.mark("bar", height=row_height - 2)
    key = {"datum": BAND, "type": "nominal", "title": None}
    return layer(
        band.encode(x=across, x2="high", color=key),
        level("results", "x", 0, strokeDash=[6, 4]),
        base.mark("point", filled=True, size=36, opacity=1).encode(x="off:Q", color=colours),
    ).properties(height=row_height * len(rows))


def _evidence(rows: Sequence[Row], *, is_last: bool) -> View:
    logs = [math.log10(row["e_value"]) for row in rows]
    least, most = math.floor(min(logs)), math.ceil(max(logs))
    powers = range(least, most + 1, max(1, (most - least) // 5))
    look = {"format": "~g", "values": [10.0**power for power in powers]}
    line = rows_of("evidence").mark("line", color=BLUE, strokeWidth=2)
    line = line.encode(
        x=_time() if is_last else {**_time(), "axis": None},
        y=axis("e_value:Q", "odds against fair", {"type": "log"}, **look),
        tooltip=["throws:Q", exactly("e_value", "evidence")],
    )
    needed = rows_of("needed").mark("rule", strokeDash=[6, 4], strokeWidth=1.5, color=RED)
    alarm = needed.encode(y="e_value:Q", tooltip=[exactly("e_value", "alarm")])
    return layer(line, alarm).properties(height=SMALL)


def _time() -> dict[str, Any]:
    return axis("throws:Q", "throws", format="~s", grid=False, tickCount=5)


def _lines(lines: View, rows: Sequence[Row]) -> list[View]:
    """Return a line for each player, with an edge where one is about as light as the ground."""
    players = dict.fromkeys(row["player"] for row in rows)
    tones = player_tones(players)
    lines = lines.encode(color=categories("player", {name: tones[name] for name in players}))
    edge = lines.mark("line", strokeWidth=4.5).encode(color={"value": GREY})
    is_pale = any(contrast(tones[name], paper) < 2 for name in players for paper in PAPER.values())
    return [*([edge] if is_pale else []), lines.mark("line", strokeWidth=2.5)]


def _luck(rows: Sequence[Row]) -> View:
    lines = rows_of("luck").encode(
        x=_time(),
        y=axis("armies:Q", "luck, in armies", tickCount=4),
        detail="player:N",
        tooltip=["throws:Q", "player:N", exactly("armies")],
    )
    zero = level("luck", "y", 0, strokeDash=[6, 4])
    return layer(zero, *_lines(lines, rows)).properties(height=SMALL)


@chart(of="Review")
def game_review(reviewed: Review) -> Chart:
    """Return what each turn of a game was worth as it went on, with the costliest decisions.

    reviewed: what `iacta.review` returns.

    The chart has a table `steps`: after each battle of each `player`, numbered by `step`, the
    `value` of the best plan, with the `decision`, its `cost` and the `luck`; each turn begins with
    what it was worth before. A table `costliest` has the decisions that cost most, where they were
    made, and what was `better`.
    """
    rows: list[Row] = []
    worst: list[Row] = []
    for step in reviewed.steps:
        same = {"turn": step.turn, "player": shorten_name(step.player, LONGEST_NAME) or NOBODY}
        if not rows or rows[-1]["turn"] != step.turn:
            start = {"value": step.before, "decision": "start", "cost": 0.0, "luck": 0.0}
            rows.append({"step": len(rows), **same, **start})
        if step in reviewed.costliest:
            made = {"value": step.before, "decision": step.name, "cost": step.cost}
            worst.append({"step": len(rows) - 1, **same, **made, "better": step.better})
        made = {"value": step.after, "decision": step.name, "cost": step.cost, "luck": step.luck}
        rows.append({"step": len(rows), **same, **made})
    value = axis("value:Q", "worth", {"zero": False})
    if reviewed.is_chance:
        value = axis("value:Q", "chance", {"domain": [0, 1]}, format="~%")
    starts = {row["step"]: row["turn"] for row in rows if row["decision"] == "start"}
    ticks = {"values": list(starts), "labelExpr": f"{json.dumps(starts)}[datum.value]"}
    steps = rows_of("steps").encode(
        x=axis("step:Q", "turn, battle by battle", {"nice": False, "padding": 6}, **ticks),
        y=value,
        detail="turn:N",
        tooltip=["turn:N", "decision:N", *map(exactly, ("value", "cost", "luck"))],
    )
    lines = _lines(steps, rows)
    links = lines[-1].mark("line", strokeWidth=1.5, strokeDash=[2, 4]).encode(detail="player:N")
    points = lines[-1].mark("point", filled=True, size=40, opacity=1, stroke=GREY, strokeWidth=0.7)
    layers = [links, *lines, points]
    tables: dict[str, Sequence[Row]] = {"steps": rows}
    words = "What the best plan found is worth in each turn, after each battle"
    if worst:
        tables["costliest"] = worst
        words += "; circles: the costliest decisions"
        circles = rows_of("costliest").mark("point", size=200, strokeWidth=2, style="ink")
        circles = circles.encode(
            x="step:Q", y="value:Q", tooltip=["decision:N", "better:N", exactly("cost")]
        )
        layers.append(circles)
    title = ", ".join(
        f"{shorten_name(player.player, LONGEST_NAME)} was {_size(player.luck, reviewed)} "
        f"{'lucky' if player.luck >= 0 else 'unlucky'}"
        for player in reviewed.players[:MOST_NAMED]
    )
    return Chart(layer(*layers), f"{title[0].upper()}{title[1:]}.", f"{words}.", tables)


def _size(luck: float, reviewed: Review) -> str:
    return f"{100 * abs(luck):.1f} points" if reviewed.is_chance else f"{abs(luck):.2f}"
