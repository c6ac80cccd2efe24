"""Charts of the boundary of a battle: where fewer dice are thrown, and how a battle gets there."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any, TypeAlias

from iacta.charts.registry import chart
from iacta.charts.theme import (
    ATTACKERS,
    BLUE,
    GREY,
    PURPLE,
    AnyChart,
    alt,
    categories,
    exactly,
    fight,
    finish,
    rows_of,
    whole_axis,
)
from iacta.checks import shown
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import find_kernel
from iacta.methods.kernel import read_battle
from iacta.questions.words import percent
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules

State: TypeAlias = tuple[int, int]  # able attackers, defenders

EDGE, BEYOND = "on the edge", "past the edge"
KINDS = {EDGE: BLUE, BEYOND: PURPLE}
LEAST_ABLE, LEAST_DEFENDERS = 4, 3  # one more than all dice need on each side
MOST_ARMIES = 40
HEIGHT = 460


@chart(command="boundary", example="12 10")
def first_passages(attackers: int, defenders: int, rules: Rules | str = "classic") -> AnyChart:
    """Return where a battle first reaches the boundary region, and by which rolls.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set; three attack dice and two defence dice.

    The chart has a table `points`: `attackers` and `defenders`, whether they are on the edge or
    past it, and the probability that the battle first reaches the boundary there; they sum to 1. A
    table `rolls` has the ways there `from` a state inside. Other dice, more than 40 armies on
    a side, and battles that start on the boundary are refused.

    Source: Taflin (2001), figure 2 and equations (15)-(16).
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    garrison = rules.garrison
    start = attackers - garrison, defenders
    _refuse(start, attackers, defenders, rules)
    passages, before = _passages(start, rules)
    points = [
        {
            "attackers": able + garrison,
            "defenders": left,
            "place": _place((able, left)),
            "probability": float(chance),
            "exact": str(chance),
        }
        for (able, left), chance in passages.items()
    ]
    rolls = [
        {
            "from": f"{were_able + garrison}v{were_left}",
            "to": f"{able + garrison}v{left}",
            **{"x": were_able + garrison, "y": were_left, "x2": able + garrison, "y2": left},
        }
        for able, left in passages
        for were_able, were_left in before[able, left]
    ]
    able, left = max(passages, key=lambda state: passages[state])
    return finish(
        _chart(500 * min(1, 12 / max(start[0] + 1, defenders)), attackers, defenders),
        f"Most often it leaves the free space at {able + garrison} against {left}: "
        f"{percent(passages[able, left], 0)} of the time.",
        fight(attackers, defenders, rules)
        + " In the free space (grey points) both sides have more armies than all their dice "
        "need. Lines: the rolls that lead out of it; the area of a circle is its probability.",
        {
            "points": points,
            "rolls": rolls,
            "starts": [{"attackers": attackers, "defenders": defenders}],
        },
    )


def _refuse(start: State, attackers: int, defenders: int, rules: Rules) -> None:
    find_kernel(rules, method="closed_form").refuse(1, 1)
    battle = f"{shown(attackers)} against {shown(defenders)}"
    if not _is_inside(start):
        raise IllegalError(
            "a battle that comes to its boundary must start with at least "
            f"{LEAST_ABLE + rules.garrison} attackers against {LEAST_DEFENDERS} defenders, got "
            f"{battle}"
        )
    if start[0] >= MOST_ARMIES or defenders > MOST_ARMIES:
        raise TooLargeError(
            f"a battle whose boundary is drawn must have at most {MOST_ARMIES} armies on a side, "
            f"got {battle}"
        )


def _is_inside(state: State) -> bool:
    return state[0] >= LEAST_ABLE and state[1] >= LEAST_DEFENDERS


def _place(state: State) -> str:
    return EDGE if state[0] >= LEAST_ABLE - 1 and state[1] >= LEAST_DEFENDERS - 1 else BEYOND


def _passages(start: State, rules: Rules) -> tuple[dict[State, Fraction], dict[State, list[State]]]:
    """Return where the boundary is first reached: the probabilities, and the states just before."""
    losses = Roll(3, 2, rules).losses()
    chances = [Fraction(losses[Losses(lost, 2 - lost)]) for lost in (0, 1, 2)]
    passages: dict[State, Fraction] = defaultdict(Fraction)
    before: dict[State, list[State]] = defaultdict(list)
    visits = {start: Fraction(1)}
    while visits:
        after: dict[State, Fraction] = defaultdict(Fraction)
        for (able, defenders), visit in sorted(visits.items()):
            for lost, chance in enumerate(chances):
                state = able - lost, defenders - 2 + lost
                if _is_inside(state):
                    after[state] += visit * chance
                else:
                    passages[state] += visit * chance
                    before[state].append((able, defenders))
        visits = after

    def edge_first(state: State) -> tuple[bool, bool, State]:
        return _place(state) == BEYOND, state[1] >= LEAST_DEFENDERS, state

    reached = [state for state in sorted(passages, key=edge_first) if passages[state]]
    return {state: passages[state] for state in reached}, before


def _axis(title: str, most: int) -> dict[str, Any]:
    return {
        "title": title,
        "axis": whole_axis((0, most)),
        "scale": alt.Scale(zero=False, nice=False, padding=24),
    }


def _chart(largest: float, attackers: int, defenders: int) -> AnyChart:
    x = alt.X("attackers:Q", **_axis(ATTACKERS, attackers))
    y = alt.Y("defenders:Q", **_axis("defenders", defenders))
    rolls = (
        rows_of("rolls")
        .mark_rule(opacity=0.35)
        .encode(x="x:Q", y="y:Q", x2="x2:Q", y2="y2:Q", tooltip=["from:N", "to:N"])
    )
    free = (
        rows_of("rolls")
        .mark_point(filled=True, opacity=1, color=GREY, size=25)
        .encode(x="x:Q", y="y:Q")
    )
    points = (
        rows_of("points")
        .mark_point(filled=True, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=categories("place", KINDS),
            size=alt.Size("probability:Q", legend=None, scale=alt.Scale(range=[0, largest])),
            tooltip=[
                "attackers:Q",
                "defenders:Q",
                exactly("probability", "chance"),
                alt.Tooltip("exact:N", title="exactly"),
            ],
        )
    )
    start = rows_of("starts").encode(x=x, y=y)
    name = start.mark_text(text="start", dx=-20, fontSize=11, fontWeight="bold")
    dot = start.mark_text(text="●", fontSize=14)
    return alt.layer(rolls, free, points, dot, name).properties(height=HEIGHT)
