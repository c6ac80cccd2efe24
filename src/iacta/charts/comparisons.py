"""Charts that compare rule sets or methods."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from iacta.battle.battle import Battle
from iacta.charts.axes_and_labels import axis, categories, exact_field, format_percent, row_axis
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_type, format_count, format_rules
from iacta.charts.theme import BLUE, GREEN, GREY, RED
from iacta.charts.vega import Row, field, layer, table_view, vconcat
from iacta.forms.percentages import percent
from iacta.inputs.checks import read_list
from iacta.inputs.errors import IactaError, IllegalError
from iacta.rules.roll import Roll
from iacta.rules.variants import RULE_SETS, RuleSet

if TYPE_CHECKING:  # slow to import, and only needed for types
    from iacta.questions.compare import CompareAnswer

EXAMPLE_ARMIES = 10
BAR_HEIGHT = 19
MORE, LESS = "more than half", "half or less"
MIN_ERROR = 1e-18  # the position of an error of 0, which a logarithmic axis cannot show
ERROR_LABELS = {
    1e-18: "0",
    1e-15: "10⁻¹⁵",
    1e-12: "10⁻¹²",
    1e-9: "10⁻⁹",
    1e-6: "10⁻⁶",
    1e-3: "0.1%",
    1: "100%",
}
TIME_LABELS = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 0.001 ? "
    "format(1000 * datum.value, '~r') + ' ms' : format(1000000 * datum.value, '~r') + ' µs'"
)
EXACT, ROUNDED, UNKNOWN = "none: exact", "as measured", "not known"
POINT_HEIGHT = 26


@register_chart()
def rule_sets(known: Sequence[RuleSet] = RULE_SETS) -> Chart:
    """Draw the chance of 10 armies to beat 10 under each rule set, in descending order.

    known: the rule sets. Rule sets whose odds cannot be computed are left out; at least one must
        remain.
    """
    for rule_set in read_list(known, "known", "RuleSet"):
        check_type(rule_set, RuleSet, "each of known")
    rows: list[Row] = []
    for rule_set in known:
        try:
            battle = Battle(EXAMPLE_ARMIES, EXAMPLE_ARMIES, rule_set.rules)
            chance = float(battle.win_probability())
        except IactaError:
            continue
        favourite = MORE if chance > 0.5 else LESS
        rows.append({"rules": rule_set.name, "win_probability": chance, "favourite": favourite})
    if not rows:
        raise IllegalError(
            "rules must include rules for which the odds of a battle can be computed"
        )
    rows.sort(key=lambda row: -row["win_probability"])
    base = table_view("rules").encode(
        y=row_axis("rules", rows, labelLimit=150, labelOverlap=False),
        x=axis("win_probability:Q", "chance to win", {"domain": [0, 1]}, format="%"),
        tooltip=["rules:N", exact_field("win_probability")],
    )
    written = base.calculate(per_cent=format_percent("win_probability", 1))
    values = written.mark("text", align="left", dx=4).encode(text="per_cent:N")
    bars = base.mark("bar").encode(color=categories("favourite", {MORE: BLUE, LESS: RED}))
    first, last = (
        f"{percent(row['win_probability'], 0)} ({row['rules']})" for row in (rows[0], rows[-1])
    )
    win = f"{EXAMPLE_ARMIES} armies against {EXAMPLE_ARMIES} win"
    title = f"The rules decide: {win} from {first} to {last} of the time."
    if len(rows) == 1:
        title = f"{win} {first} of the time."
    return Chart(
        layer(bars, values).properties(height=BAR_HEIGHT * len(rows)),
        title,
        f"Chance of {EXAMPLE_ARMIES} armies, {known[0].rules.garrison} of which must stay behind, "
        f"to beat {EXAMPLE_ARMIES}.",
        {"rules": rows},
    )


@register_chart(default_for="RuleSet")
def full_roll(known: RuleSet) -> Chart:
    """Draw the distribution of defenders lost in a roll with all dice.

    known: a rule set under which both sides choose their dice before the roll.
    """
    if not known.rules.mode.has_plain_rolls:
        raise known.rules.mode.make_unfit_error("to draw the dice of a full roll")
    roll = Roll(*known.rules.full_roll, known.rules)
    losses = roll.loss_counts()
    words = "armies that the defenders lose; the attackers lose the rest"
    base = table_view("losses").encode(
        x=axis("defenders_lost:O", words, labelAngle=0),
        y=axis("probability:Q", "chance", format="%"),
        tooltip=[
            field("defenders_lost:O", title="defenders lose"),
            field("attackers_lost:O", title="attackers lose"),
            exact_field("probability", "chance"),
            field("ways:Q", title=f"of {losses.total} equally likely rolls"),
        ],
    )
    values = base.mark("text", dy=-7).encode(text=field("probability:Q", format=".1%"))
    ours, theirs = map(float, roll.expected_losses())
    dice = f"{format_count(roll.attack_dice, 'die', 'dice')} against {roll.defence_dice}"
    others = "; in all other rolls both sides gain armies" if losses.gains else ""
    return Chart(
        layer(base.mark("bar", color=BLUE), values),
        f"A full roll costs you {ours:.2f} armies on average, and them {theirs:.2f}.",
        f"{dice} under {known.name} rules{others}.",
        {
            "losses": [
                {
                    "attackers_lost": losses.pair_count - lost,
                    "defenders_lost": lost,
                    "probability": count / losses.total,
                    "ways": count,
                }
                for lost, count in enumerate(losses.counts)
            ]
        },
    )


@register_chart(default_for="CompareAnswer")
def method_comparison(answer: CompareAnswer) -> Chart:
    """Draw the time and the relative error of each method on logarithmic axes.

    answer: the answer of `iacta.ask("compare", ...)`; at least one method must have succeeded.
    """
    from iacta.questions.compare import format_duration  # slow to import

    rows: list[Row] = []
    for method in answer.methods:
        if method.chance is not None:
            error = answer.error(method.chance)
            status = UNKNOWN if error is None else ROUNDED
            rows.append(
                {
                    "method": method.method,
                    "win_probability": float(method.chance),
                    "relative_error": error,
                    "seconds": method.seconds,
                    "answer": EXACT if isinstance(method.chance, Fraction) else status,
                }
            )
    if not rows:
        raise IllegalError("a chart needs at least one method that solves the battle")
    rows.sort(key=lambda row: row["seconds"])
    fastest, took = rows[0]["method"], format_duration(rows[0]["seconds"])
    speed = f"{fastest} is the fastest of {len(rows)} methods, at {took}."
    if len(rows) == 1:
        speed = f"Only {fastest} solves the battle, in {took}."
    numbers = [field(f"{name}:Q", format=".3~g") for name in ("relative_error", "seconds")]
    base = table_view("methods").encode(
        y=row_axis("method", rows, labelOverlap=False),
        tooltip=["method:N", exact_field("win_probability"), *numbers],
    )
    base = base.properties(height=POINT_HEIGHT * len(rows))
    look: dict[str, Any] = {"filled": True, "size": 80, "opacity": 1}
    seconds = axis("seconds:Q", "time", {"type": "log"}, labelExpr=TIME_LABELS, tickCount=4)
    powers = {round(math.log10(value)): label for value, label in ERROR_LABELS.items()}
    errors = axis(
        "shown:Q",
        "relative error",
        {"type": "log", "domain": [MIN_ERROR, 1], "clamp": True},
        values=list(ERROR_LABELS),
        labelExpr=f"{json.dumps(powers)}[round(log(datum.value) / LN10)]",
    )
    answers = {EXACT: GREEN, ROUNDED: BLUE, UNKNOWN: GREY}
    colour = categories("answer", answers, rows, "relative error")
    shown = base.calculate(shown=f"max(datum.relative_error || 0, {MIN_ERROR})")
    times = base.mark("point", color=BLUE, **look).encode(x=seconds)
    points = shown.mark("point", **look).encode(x=errors, color=colour)
    question, rule_set = answer.question, answer.question.rule_set
    return Chart(
        vconcat(times, points).independent("color"),
        f"{answer.sentence} {speed}",
        f"{question.attackers} armies against {question.defenders}, the chance to win "
        f"({format_rules(rule_set.rules, rule_set.name)}): the time that each method took, and its "
        "error.",
        {"methods": rows},
    )
