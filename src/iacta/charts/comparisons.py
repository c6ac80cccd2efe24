"""Charts of rules and methods: what rules do to the odds, and how methods agree."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from iacta.battle.battle import Battle
from iacta.charts.registry import chart, public
from iacta.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    RED,
    AnyChart,
    Row,
    alt,
    categories,
    counted,
    exactly,
    expect,
    finish,
    percent_label,
    row_axis,
    rows_of,
    under_rules,
    x_axis,
    y_axis,
)
from iacta.checks import row_of
from iacta.errors import IactaError, IllegalError
from iacta.questions.words import percent
from iacta.rules.roll import Roll
from iacta.rules.variants import RULE_SETS, RuleSet

EXAMPLE_ARMIES = 10
BAR_HEIGHT = 19
MORE, LESS = "more than half", "half or less"
LEAST_ERROR = 1e-18  # where no error at all is drawn
ERRORS = {
    1e-18: "0",
    1e-15: "10⁻¹⁵",
    1e-12: "10⁻¹²",
    1e-9: "10⁻⁹",
    1e-6: "10⁻⁶",
    1e-3: "0.1%",
    1: "100%",
}
TIMES = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 0.001 ? "
    "format(1000 * datum.value, '~r') + ' ms' : format(1000000 * datum.value, '~r') + ' µs'"
)
EXACT, ROUNDED, UNKNOWN = "none: exact", "as measured", "not known"
POINT_HEIGHT = 26


@chart()
def rule_sets(known: Sequence[RuleSet] = RULE_SETS) -> AnyChart:
    """Return the chance of 10 armies to beat 10 under each rule set, the highest first.

    known: the rule sets; those whose battles no method can solve are left out.

    Rule sets none of which can be solved are refused.
    """
    for each in row_of(known, "known", "RuleSet"):
        expect(each, RuleSet, "each of known")
    rows: list[Row] = []
    for each in known:
        try:
            battle = Battle(EXAMPLE_ARMIES, EXAMPLE_ARMIES, each.rules)
            chance = float(battle.win_probability())
        except IactaError:
            continue
        favourite = MORE if chance > 0.5 else LESS
        rows.append({"rules": each.name, "win_probability": chance, "favourite": favourite})
    if not rows:
        raise IllegalError("rules must be such that the odds of their battles can be computed")
    rows.sort(key=lambda row: -row["win_probability"])
    base = rows_of("rules").encode(
        y=row_axis("rules", rows, labelLimit=150, labelOverlap=False),
        x=x_axis("win_probability:Q", "chance to win", {"domain": [0, 1]}, format="%"),
        tooltip=["rules:N", exactly("win_probability")],
    )
    written = base.transform_calculate(per_cent=percent_label("win_probability", 1))
    values = written.mark_text(align="left", dx=4).encode(text="per_cent:N")
    bars = base.mark_bar().encode(color=categories("favourite", {MORE: BLUE, LESS: RED}))
    first, last = (
        f"{percent(row['win_probability'], 0)} ({row['rules']})" for row in (rows[0], rows[-1])
    )
    win = f"{EXAMPLE_ARMIES} armies against {EXAMPLE_ARMIES} win"
    title = f"The rules decide: {win} from {first} to {last} of the time."
    if len(rows) == 1:
        title = f"{win} {first} of the time."
    return finish(
        alt.layer(bars, values).properties(height=BAR_HEIGHT * len(rows)),
        title,
        f"Chance of {EXAMPLE_ARMIES} armies, {known[0].rules.garrison} of which must stay behind, "
        f"to beat {EXAMPLE_ARMIES}.",
        {"rules": rows},
    )


@chart(of="RuleSet")
def full_roll(known: RuleSet) -> AnyChart:
    """Return what a roll with all dice costs: the chance of each loss of the defenders.

    known: the rule set; refused if its dice are not chosen before the roll.
    """
    if not known.rules.mode.dice_chosen_first:
        raise known.rules.mode.unfit("to draw the dice of a full roll")
    roll = Roll(*known.rules.full_roll, known.rules)
    losses = roll.loss_counts()
    words = "armies that the defenders lose; the attackers lose the rest"
    base = rows_of("losses").encode(
        x=x_axis("defenders_lost:O", words, labelAngle=0),
        y=y_axis("probability:Q", "chance", format="%"),
        tooltip=[
            alt.Tooltip("defenders_lost:O", title="defenders lose"),
            alt.Tooltip("attackers_lost:O", title="attackers lose"),
            exactly("probability", "chance"),
            alt.Tooltip("ways:Q", title=f"of {losses.total} equally likely rolls"),
        ],
    )
    values = base.mark_text(dy=-7).encode(text=alt.Text("probability:Q", format=".1%"))
    ours, theirs = map(float, roll.expected_losses())
    dice = f"{counted(roll.attack_dice, 'die', 'dice')} against {roll.defence_dice}"
    others = "; in all other rolls both sides gain armies" if losses.gains else ""
    return finish(
        alt.layer(base.mark_bar(color=BLUE), values),
        f"A full roll costs you {ours:.2f} armies on average, and them {theirs:.2f}.",
        f"{dice} under {known.name} rules{others}.",
        {
            "losses": [
                {
                    "attackers_lost": losses.compared - lost,
                    "defenders_lost": lost,
                    "probability": count / losses.total,
                    "ways": count,
                }
                for lost, count in enumerate(losses.counts)
            ]
        },
    )


@public
class Solved(NamedTuple):
    """What one method says of a battle.

    method: its name.
    chance: its chance to win.
    error: its relative error; `None` if the exact chance is not known.
    is_exact: whether it answers with a fraction.
    seconds: how long it took.
    """

    method: str
    chance: float
    error: float | None
    is_exact: bool
    seconds: float


@chart()
def methods_compared(battle: Battle, solved: Sequence[Solved], label: str = "") -> AnyChart:
    """Return the relative error of each method beside the time that it took, on log scales.

    battle: the battle.
    solved: what the methods say of it.
    label: what the rules are called, if they have no name of their own.

    A battle that no method has solved is refused.
    """
    expect(battle, Battle, "battle")
    if not solved:
        raise IllegalError("a battle must be one that some method can solve to be drawn")
    rows: list[Row] = [
        {
            "method": each.method,
            "win_probability": each.chance,
            "relative_error": each.error,
            "seconds": each.seconds,
            "answer": EXACT if each.is_exact else UNKNOWN if each.error is None else ROUNDED,
        }
        for each in sorted(solved, key=lambda each: each.seconds)
    ]
    best = min(solved, key=lambda each: (not each.is_exact, each.error is None, each.error or 0))
    verb = "beats" if battle.attackers == 1 else "beat"
    title = (
        f"{counted(battle.attackers)} {verb} {battle.defenders:,} with a chance of "
        f"{percent(best.chance, 0)}; "
    )
    fastest, took = rows[0]["method"], _time(rows[0]["seconds"])
    if len(solved) == 1:
        title += f"only {fastest} answers, in {took}."
    else:
        title += f"{fastest} is the fastest of {len(solved)} methods, with {took}."
    numbers = [alt.Tooltip(f"{each}:Q", format=".3~g") for each in ("relative_error", "seconds")]
    base = rows_of("methods").encode(
        y=row_axis("method", rows, labelOverlap=False),
        tooltip=["method:N", exactly("win_probability"), *numbers],
    )
    base = base.properties(height=POINT_HEIGHT * len(rows))
    look: dict[str, Any] = {"filled": True, "size": 80, "opacity": 1}
    seconds = x_axis("seconds:Q", "time", {"type": "log"}, labelExpr=TIMES, tickCount=4)
    powers = {round(math.log10(value)): label for value, label in ERRORS.items()}
    # A method without an error is at the left.
    error = x_axis(
        "shown:Q",
        "relative error",
        {"type": "log", "domain": [LEAST_ERROR, 1], "clamp": True},
        values=list(ERRORS),
        labelExpr=f"{json.dumps(powers)}[round(log(datum.value) / LN10)]",
    )
    answers = {EXACT: GREEN, ROUNDED: BLUE, UNKNOWN: GREY}
    colour = categories("answer", answers, rows, "relative error")
    shown = base.transform_calculate(shown=f"max(datum.relative_error || 0, {LEAST_ERROR})")
    times = base.mark_point(color=BLUE, **look).encode(x=seconds)
    errors = shown.mark_point(**look).encode(x=error, color=colour)
    return finish(
        alt.vconcat(times, errors).resolve_scale(color="independent"),
        title,
        f"{battle.attackers} armies against {battle.defenders}, the chance to win "
        f"({under_rules(battle.rules, label)}): the time that each method took, and its error.",
        {"methods": rows},
    )


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"
