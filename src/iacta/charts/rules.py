"""Pictures of what rules do to the odds."""

from collections.abc import Sequence

import altair as alt

from iacta.battle.battle import Battle
from iacta.charts.theme import BLUE, RED, AnyChart, Row, expect, finish, named
from iacta.charts.words import armies, per_cent
from iacta.checks import row_of
from iacta.errors import IactaError, IllegalError
from iacta.rules.roll import Roll
from iacta.rules.variants import RULE_SETS, RuleSet

__all__ = ["full_roll", "rule_sets"]

EXAMPLE_ARMIES = 10
ROW_HEIGHT = 19
MORE, LESS = "more than half", "half or less"


def rule_sets(known: Sequence[RuleSet] = RULE_SETS) -> AnyChart:
    """Return the chance of 10 armies to beat 10 under each rule set, the best for them first.

    known: the rule sets; those under which that chance cannot be told are left out.

    Refused are rule sets under none of which it can be told.
    """
    for each in row_of(known, "known", "RuleSet"):
        expect(each, RuleSet, "each of known")
    rows = sorted((row for row in map(_row, known) if row), key=lambda row: -row["win_probability"])
    if not rows:
        raise IllegalError("rules must be such that the odds of their battles can be told")
    base = alt.Chart(named("rules")).encode(
        y=alt.Y(
            "rules:N",
            title=None,
            sort=[row["rules"] for row in rows],
            axis=alt.Axis(labelLimit=150, labelOverlap=False),
        ),
        x=alt.X(
            "win_probability:Q",
            title="chance to win",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=["rules:N", alt.Tooltip("win_probability:Q", format=".16~g")],
    )
    bars = base.mark_bar().encode(color=_colour())
    values = (
        base.transform_calculate(per_cent="format(100 * datum.win_probability, '.1f')")
        .mark_text(align="left", dx=4)
        .encode(text="per_cent:N")
    )
    return finish(
        alt.layer(bars, values).properties(height=ROW_HEIGHT * len(rows)),
        _title(rows),
        f"Chance of {EXAMPLE_ARMIES} armies, {known[0].rules.garrison} of which must stay behind, "
        f"to beat {EXAMPLE_ARMIES}, in per cent.",
        {"rules": rows},
    )


def _row(known: RuleSet) -> Row:
    """Return the chance under one rule set, nothing if it cannot be told."""
    try:
        battle = Battle(EXAMPLE_ARMIES, EXAMPLE_ARMIES, known.rules)
        chance = float(battle.win_probability())
    except IactaError:
        return {}
    favourite = MORE if chance > 0.5 else LESS
    return {"rules": known.name, "win_probability": chance, "favourite": favourite}


def _colour() -> alt.Color:
    return alt.Color(
        "favourite:N",
        title=None,
        scale=alt.Scale(domain=[MORE, LESS], range=[BLUE, RED]),
    )


def _title(rows: Sequence[Row]) -> str:
    first, last = (
        f"{per_cent(row['win_probability'])} ({row['rules']})" for row in (rows[0], rows[-1])
    )
    if len(rows) == 1:
        return f"{EXAMPLE_ARMIES} armies beat {EXAMPLE_ARMIES} {first} of the time."
    return f"The rules decide: {EXAMPLE_ARMIES} armies beat {EXAMPLE_ARMIES} {first} to {last}."


def full_roll(known: RuleSet) -> AnyChart:
    """Return what a roll with all dice costs: the chance of each loss of the defenders.

    known: the rule set; one under which the dice are not chosen before the roll is refused.
    """
    expect(known, RuleSet, "known")
    if known.rules.defender_sees_first:
        raise IllegalError(
            "defender_sees_first must be False for the dice of a full roll to be known, got True"
        )
    law = Roll(*known.rules.full_roll, known.rules).law()
    rows = [
        {
            "attackers_lost": law.compared - lost,
            "defenders_lost": lost,
            "probability": count / law.total,
            "ways": count,
        }
        for lost, count in enumerate(law.counts)
    ]
    base = alt.Chart(named("losses")).encode(
        x=alt.X(
            "defenders_lost:O",
            title="armies that the defenders lose; the attackers lose the rest",
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("probability:Q", title="chance", axis=alt.Axis(format="%")),
        tooltip=[
            alt.Tooltip("defenders_lost:O", title="defenders lose"),
            alt.Tooltip("attackers_lost:O", title="attackers lose"),
            alt.Tooltip("probability:Q", title="chance", format=".16~g"),
            alt.Tooltip("ways:Q", title=f"of {law.total} equally likely rolls"),
        ],
    )
    values = base.mark_text(dy=-7).encode(text=alt.Text("probability:Q", format=".1%"))
    means = [float(mean) for mean in Roll(*known.rules.full_roll, known.rules).expected_losses()]
    dice, against = known.rules.full_roll
    others = "; in the rolls left over both sides gain armies" if law.gains else ""
    return finish(
        alt.layer(base.mark_bar(color=BLUE), values),
        f"A full roll costs you {means[0]:.2f} armies on average, and them {means[1]:.2f}.",
        f"{armies(dice, 'die', 'dice')} against {against} under {known.name} rules{others}.",
        {"losses": rows},
    )
