"""Pictures of how many armies a wanted chance takes, of either side."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import altair as alt

from iacta.battle.territory import Territory, read_territories, stages
from iacta.charts.theme import AMBER, BLUE, GREY, RED, AnyChart, Row, finish, named
from iacta.charts.words import armies, per_cent, under_rules
from iacta.checks import whole_number
from iacta.questions.armies_needed import win_probability_keeping
from iacta.questions.arrays import win_probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["chance_by_attackers", "chance_by_defenders"]

MOST_POINTS = 60
LOW = 0.02  # chances below this are no longer drawn

Chances: TypeAlias = Callable[[Sequence[int]], list[float]]


def chance_by_attackers(
    territories: Sequence[int | Territory],
    attackers: int,
    chance: Fraction,
    rules: Rules | str = "classic",
    *,
    keep: int = 0,
    label: str = "",
) -> AnyChart:
    """Return the chance to take a way by the number of attackers, with those that a chance takes.

    territories: the way, as for `Campaign`.
    attackers: the fewest that are enough, as `armies_needed_for_campaign` tells.
    chance: the wanted chance.
    rules: `Rules`, or the name of a rule set.
    keep: armies that must be left at the end on the last territory.
    label: what the rules are called, if they have no name of their own.
    """
    found = find_rules(rules)
    attackers = whole_number(attackers, "attackers", least=1)

    way = list(stages(read_territories(territories), found))

    def won(counts: Sequence[int]) -> list[float]:
        """Return the chances to win.

        counts: numbers of attackers, garrison included.
        """
        if len(way) == 1 and not keep:
            chances: list[float] = win_probability(counts, *way[0][:2]).tolist()
            return chances
        return [float(win_probability_keeping(n, territories, keep, found)) for n in counts]

    rows = _rows("attackers", attackers, won)
    keeping = f", and keep {keep}" if keep else ""
    return finish(
        _chart("attackers", attackers, chance, "attackers, garrison included", "chance to win"),
        f"With {armies(attackers)} you win {per_cent(won([attackers])[0])} of the time.",
        f"Chance to {_goal(territories)}{keeping}; {_percent(chance)} is wanted "
        f"({under_rules(label or rules_name(found), found.garrison)}).",
        {"chances": rows},
    )


def chance_by_defenders(
    attackers: int,
    defenders: int,
    chance: Fraction,
    rules: Rules | str = "classic",
    label: str = "",
) -> AnyChart:
    """Return the chance to hold by the number of defenders, with those that a chance takes.

    attackers: armies on the attacking territory, garrison included.
    defenders: the fewest that are enough, as `defenders_needed` tells.
    chance: the wanted chance.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.
    """
    found = find_rules(rules)
    attackers = whole_number(attackers, "attackers", least=1)
    defenders = whole_number(defenders, "defenders", least=1)

    def held(counts: Sequence[int]) -> list[float]:
        """Return the chances to hold.

        counts: numbers of defenders.
        """
        chances: list[float] = (1 - win_probability(attackers, counts, found)).tolist()
        return chances

    rows = _rows("defenders", defenders, held)
    subject = armies(defenders, "defender")
    return finish(
        _chart("defenders", defenders, chance, "defenders", "chance to hold"),
        f"{subject} {'holds' if defenders == 1 else 'hold'} {per_cent(held([defenders])[0])} "
        "of the time.",
        f"Chance to hold against {armies(attackers)}; {_percent(chance)} is wanted "
        f"({under_rules(label or rules_name(found), found.garrison)}).",
        {"chances": rows},
    )


def _goal(territories: Sequence[int | Territory]) -> str:
    if len(territories) > 1:
        return f"take all {len(territories)} territories"
    only = territories[0]
    return f"beat {armies(only if isinstance(only, int) else only.defenders, 'defender')}"


def _percent(chance: Fraction) -> str:
    return f"{float(100 * chance):.10g} %"


def _rows(side: str, enough: int, probabilities: Chances) -> list[Row]:
    """Return the chances of the numbers around the answer, at most some sixty of them."""
    reach = 2
    while reach < enough and probabilities([enough - reach])[0] > LOW:
        reach *= 2
    least, most = max(enough - reach, 1), enough + max(min(reach, enough), 4)
    step = -(-(most - least + 1) // MOST_POINTS)
    numbers = sorted({*range(least, most + 1, step), max(enough - 1, 1), enough})
    return [
        {side: n, "probability": chance, "is_enough": n >= enough}
        for n, chance in zip(numbers, probabilities(numbers), strict=True)
    ]


def _chart(side: str, enough: int, chance: Fraction, x_title: str, y_title: str) -> AnyChart:
    """Return the chances as bars' tips, the wanted one as a line, and the answer by its number."""
    base = alt.Chart(named("chances")).encode(
        x=alt.X(
            f"{side}:Q",
            title=x_title,
            axis=alt.Axis(format=",d", tickMinStep=1),
            scale=alt.Scale(zero=False, nice=False, padding=8),
        ),
        y=alt.Y(
            "probability:Q",
            title=y_title,
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=[
            alt.Tooltip(f"{side}:Q", title=x_title),
            alt.Tooltip("probability:Q", title=y_title, format=".16~g"),
        ],
    )
    colour = alt.Color(
        "is_enough:N",
        title=None,
        scale=alt.Scale(domain=[True, False], range=[BLUE, RED]),
        legend=alt.Legend(labelExpr="datum.value ? 'enough' : 'too few'"),
    )
    answer = base.transform_filter(f"datum.{side} == {enough}")
    return alt.layer(
        base.mark_line(color=GREY, strokeWidth=1),
        alt.Chart(named("chances"))
        .mark_rule(color=AMBER, strokeDash=[6, 4])
        .encode(y=alt.datum(float(chance), type="quantitative")),
        base.mark_point(filled=True, size=36, opacity=1).encode(color=colour),
        answer.mark_point(filled=True, size=140, color=BLUE, opacity=1),
        answer.mark_text(align="left", dx=9, dy=12, fontSize=13, fontWeight="bold").encode(
            text=alt.Text(f"{side}:Q", format=",d")
        ),
    )
