"""Charts about games already played: audits of dice, and reviews of decisions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from iacta.board.scene import shorten_name
from iacta.charts.axes_and_labels import axis, categories, draw_level, exact_field, row_axis
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.theme import BLUE, GREY, PAPER, RED, choose_colours, compute_contrast
from iacta.charts.vega import Row, View, layer, table_view, vconcat
from iacta.inputs.errors import IllegalError

if TYPE_CHECKING:  # slow to import, and only needed for types
    from iacta.fairness.audit import Audit
    from iacta.plan.review import PlayerReview, Review

MAX_RESULTS = 30  # maximum number of results in the chart
ROW_HEIGHT = 18  # pixels
MAX_HEIGHT = 264  # maximum height of all rows together, in pixels
SMALL_HEIGHT = 78  # height of each panel over time, in pixels
MAX_DRAWN_EXPONENT = 300  # larger e-values are drawn as 1e300
FAIR, ODD = "possible with fair dice", "unusual"
BAND, BAND_TONE = "band: range of 95 of 100 fair logs", "#80808050"
MAX_LABEL_LENGTH = 20
UNNAMED = "attackers"
MAX_TITLE_PLAYERS = 2  # maximum number of players to name in the title


@register_chart(default_for="Audit")
def dice_audit(audit_result: Audit) -> Chart:
    """Draw the deviation of each result from fair dice, and the evidence and luck over time.

    audit_result: the result of `iacta.audit`, for a log with dice, rolls or battles.

    The table `results` has one row per result of a kind of throw, with the columns `throws` (the
    kind of throw), `result`, `seen` (the count in the log), `expected` (the count expected with
    fair dice), `off` (the deviation of its share), and `low` and `high` (the ends of a band for the
    deviation). For 95% of fair logs, all results lie in their bands. If the log has single throws,
    the table `evidence` has the `e_value` after each number of `throws`. If the log has rolls or
    battles, the table `luck` has the luck of each `player` in `armies`.
    """
    from iacta.questions.audit import audit_sentence  # slow to import

    rows = _list_results(audit_result)
    if not rows and audit_result.chances:
        raise IllegalError("a chart of an audit needs dice, rolls or battles, got only chances")
    if not rows:
        raise IllegalError("nothing to draw: no result in the log is possible under the rules")
    most = MAX_DRAWN_EXPONENT * math.log(10)
    evidence = [
        {"throws": moment.throws, "e_value": math.exp(min(max(moment.log_evidence, -most), most))}
        for moment in audit_result.moments
    ]
    luck = [
        {
            "throws": moment.throws,
            "player": shorten_name(name, MAX_LABEL_LENGTH) or UNNAMED,
            "armies": moment.armies[number],
        }
        for number, name in enumerate(audit_result.players)
        for moment in audit_result.moments
        if any(luck.player == name for luck in audit_result.lucks)
    ]
    tables: dict[str, Sequence[Row]] = {"results": rows}
    parts = [_draw_deviations(rows)]
    words = "Points: how much more often each result came up than with fair dice"
    if evidence:
        tables["evidence"] = evidence
        tables["needed"] = [{"e_value": 1 / audit_result.level}]
        parts.append(_draw_evidence([*evidence, *tables["needed"]], is_last=not luck))
        words += "; below: the evidence against fair dice, with the level of an alarm"
    if luck:
        tables["luck"] = luck
        parts.append(_draw_luck(luck))
        words += "; the luck of each player"
    drawn = vconcat(*parts, spacing=12).independent("color") if len(parts) > 1 else parts[0]
    return Chart(drawn, audit_sentence(audit_result), f"{words}.", tables)


def _list_results(audit_result: Audit) -> list[Row]:
    totals = {kind.name: int(kind.counts.sum()) for kind in audit_result.throws}
    kept: set[str] = set()
    count = 0
    for throws in sorted(audit_result.throws, key=lambda throws: -totals[throws.name]):
        count += len(throws.results)
        if count <= MAX_RESULTS or not kept:
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
            "verdict": ODD if audit_result.is_unusual(result) else FAIR,
        }
        for result, fair in zip(
            audit_result.results, audit_result.compute_fair_intervals(), strict=True
        )
        if result.throws in kept and (total := totals[result.throws])
    ]


def _draw_deviations(rows: Sequence[Row]) -> View:
    row_height = min(ROW_HEIGHT, MAX_HEIGHT // len(rows))
    names: dict[str, Any] = {
        "labelLimit": 150,
        "labelOverlap": False,
        "labelFontSize": min(row_height - 1, 11),
    }
    base = table_view("results").encode(
        y=row_axis("result", rows, **names),
        tooltip=["result:N", exact_field("seen"), exact_field("expected"), exact_field("off")],
    )
    across = axis("low:Q", "more often than fair", {"padding": 8}, format="+~%", tickCount=5)
    tones = {BAND: BAND_TONE, FAIR: BLUE, ODD: RED}
    verdicts = dict.fromkeys(row["verdict"] for row in rows)
    colours = categories("verdict", {each: tones[each] for each in (BAND, *verdicts)})
    band = base.mark("bar", height=row_height - 2)
    key = {"datum": BAND, "type": "nominal", "title": None}
    return layer(
        band.encode(x=across, x2="high", color=key),
        draw_level("results", "x", 0, strokeDash=[6, 4]),
        base.mark("point", filled=True, size=36, opacity=1).encode(x="off:Q", color=colours),
    ).properties(height=row_height * len(rows))


def _draw_evidence(rows: Sequence[Row], *, is_last: bool) -> View:
    logs = [math.log10(row["e_value"]) for row in rows]
    least, most = math.floor(min(logs)), math.ceil(max(logs))
    powers = range(least, most + 1, max(1, (most - least) // 5))
    look = {"format": "~g", "values": [10.0**power for power in powers]}
    line = table_view("evidence").mark("line", color=BLUE, strokeWidth=2)
    line = line.encode(
        x=_make_time_axis() if is_last else {**_make_time_axis(), "axis": None},
        y=axis("e_value:Q", "odds against fair", {"type": "log"}, **look),
        tooltip=["throws:Q", exact_field("e_value", "evidence")],
    )
    needed = table_view("needed").mark("rule", strokeDash=[6, 4], strokeWidth=1.5, color=RED)
    alarm = needed.encode(y="e_value:Q", tooltip=[exact_field("e_value", "alarm")])
    return layer(line, alarm).properties(height=SMALL_HEIGHT)


def _make_time_axis() -> dict[str, Any]:
    return axis("throws:Q", "throws", format="~s", grid=False, tickCount=5)


def _draw_lines(lines: View, rows: Sequence[Row]) -> list[View]:
    """Return layers with a line for each player; all lines get an outline if a colour is light."""
    players = dict.fromkeys(row["player"] for row in rows)
    tones = choose_colours(players)
    lines = lines.encode(color=categories("player", {name: tones[name] for name in players}))
    edge = lines.mark("line", strokeWidth=4.5).encode(color={"value": GREY})
    is_pale = any(
        compute_contrast(tones[name], paper) < 2 for name in players for paper in PAPER.values()
    )
    return [*([edge] if is_pale else []), lines.mark("line", strokeWidth=2.5)]


def _draw_luck(rows: Sequence[Row]) -> View:
    lines = table_view("luck").encode(
        x=_make_time_axis(),
        y=axis("armies:Q", "luck, in armies", tickCount=4),
        detail="player:N",
        tooltip=["throws:Q", "player:N", exact_field("armies")],
    )
    zero = draw_level("luck", "y", 0, strokeDash=[6, 4])
    return layer(zero, *_draw_lines(lines, rows)).properties(height=SMALL_HEIGHT)


@register_chart(default_for="Review")
def game_review(review: Review) -> Chart:
    """Draw the value of each turn after every battle, and mark the costliest decisions.

    review: the result of `iacta.review`.

    The table `steps` has one row per battle, with the columns `player`, `step` (its number),
    `value` (of the best plan after the battle), `decision`, `cost`, `luck`, and `luck_armies` (luck
    in armies). The first row of a turn has the value at its start. Turns without a goal are left
    out. If no turn has a goal, the values are the luck in armies since the start of the turn. The
    table `costliest` has the costliest decisions, each with a `better` decision.
    """
    rows: list[Row] = []
    worst: list[Row] = []
    has_goals = any(step.after is not None for step in review.steps)
    shown = review.steps
    if has_goals:
        shown = tuple(step for step in shown if step.after is not None)
    for step in shown:
        same = {"turn": step.turn, "player": shorten_name(step.player, MAX_LABEL_LENGTH) or UNNAMED}
        if not rows or rows[-1]["turn"] != step.turn:
            value = step.before if has_goals else 0.0
            start = {"value": value, "decision": "start", "cost": 0.0, "luck": 0.0}
            rows.append({"step": len(rows), **same, **start})
        if step in review.costliest:
            made = {"value": step.before, "decision": step.name, "cost": step.cost}
            worst.append({"step": len(rows) - 1, **same, **made, "better": step.better})
        value = step.after if has_goals else rows[-1]["value"] + (step.luck_armies or 0.0)
        made = {"value": value, "decision": step.name, "cost": step.cost, "luck": step.luck}
        rows.append({"step": len(rows), **same, **made, "luck_armies": step.luck_armies})
    y = axis("value:Q", "worth" if has_goals else "luck, in armies", {"zero": False})
    if has_goals and review.is_chance:
        y = axis("value:Q", "chance to reach the turn's goal", {"domain": [0, 1]}, format="~%")
    starts = {row["step"]: row["turn"] for row in rows if row["decision"] == "start"}
    ticks = {"values": list(starts), "labelExpr": f"{json.dumps(starts)}[datum.value]"}
    steps = table_view("steps").encode(
        x=axis("step:Q", "turn, battle by battle", {"nice": False, "padding": 6}, **ticks),
        y=y,
        detail="turn:N",
        tooltip=["turn:N", "decision:N", *map(exact_field, ("value", "cost", "luck"))],
    )
    lines = _draw_lines(steps, rows)
    points = lines[-1].mark("point", filled=True, size=40, opacity=1, stroke=GREY, strokeWidth=0.7)
    layers = [*lines, points]
    tables: dict[str, Sequence[Row]] = {"steps": rows}
    words = "Value of the best plan found, after each battle of each turn"
    if not has_goals:
        words = "Luck in armies since each turn began, after each battle"
    if worst:
        tables["costliest"] = worst
        words += "; circles: the costliest decisions"
        circles = table_view("costliest").mark("point", size=200, strokeWidth=2, style="ink")
        circles = circles.encode(
            x="step:Q", y="value:Q", tooltip=["decision:N", "better:N", exact_field("cost")]
        )
        layers.append(circles)
    title = ", ".join(
        f"{shorten_name(player.player, MAX_LABEL_LENGTH)} {_describe_luck(review, player)}"
        for player in review.players[:MAX_TITLE_PLAYERS]
    )
    return Chart(layer(*layers), f"{title[0].upper()}{title[1:]}.", f"{words}.", tables)


def _describe_luck(review: Review, player: PlayerReview) -> str:
    """Describe the luck of a player in the unit of the chart."""
    luck, unit = player.luck_armies, "armies"
    if player.luck is not None:
        luck, unit = player.luck * (100 if review.is_chance else 1), "points"
    if luck is None:
        return "had unknown luck"
    return f"was {abs(luck):.1f} {unit} {'lucky' if luck >= 0 else 'unlucky'}"
