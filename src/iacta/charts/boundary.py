"""The picture of how a battle comes to the boundary, where fewer dice are thrown."""

from collections.abc import Iterable, Iterator
from typing import Any

import altair as alt

from iacta.charts.theme import BLUE, GREY, PURPLE, AnyChart, Row, finish, named, whole_axis
from iacta.charts.words import fight, per_cent
from iacta.checks import shown
from iacta.errors import IllegalError, TooLargeError
from iacta.methods.limits import read_battle
from iacta.rules.rules import Rules
from iacta_literature.taflin_2001 import first_passage
from iacta_literature.taflin_strips import Point, roll_chances

__all__ = ["first_passages"]

EDGE, BEYOND = "on the edge", "past the edge"
KINDS = {EDGE: BLUE, BEYOND: PURPLE}
MOST_ARMIES = 40
HEIGHT = 460
INSIDE = Point(5, 3)  # the least with which a roll still stays free of the boundary


def first_passages(attackers: int, defenders: int, rules: Rules | str = "classic") -> AnyChart:
    """Return where a battle first comes to the boundary region, and by which rolls.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set; three attack dice and two defence dice.

    The chart has a table `points`: `attackers` and `defenders`, whether they are on the edge or
    past it, and the chance that the battle first comes to the boundary there; they sum to 1. A
    table `rolls` has the ways there `from` a state inside. Refused are other dice, more than 40
    armies on a side, and battles that start on the boundary.

    Source: Taflin (2001), figure 2 and equations (15)-(16).
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    start = Point(attackers - rules.garrison + 1, defenders)
    _refuse(start, attackers, defenders, rules)
    passages = first_passage(start, roll_chances(rules))
    shift = rules.garrison - 1  # the paper's garrison is one army
    points = [
        {
            "attackers": m + shift,
            "defenders": n,
            "place": EDGE if m >= 4 and n >= 2 else BEYOND,
            "probability": float(chance),
            "exact": str(chance),
        }
        for (m, n), chance in passages.items()
    ]
    likeliest = max(passages, key=lambda point: passages[point])
    return finish(
        _chart(500 * min(1, 12 / max(start)), attackers, defenders),
        f"Most often it leaves the free space at {likeliest.m + shift} against {likeliest.n}: "
        f"{per_cent(passages[likeliest])} of the time.",
        fight(attackers, defenders, rules)
        + " In the free space, which has the grey points, both sides have more armies than all "
        "their dice need. Lines: the rolls that lead out of it; the area of a circle is its "
        "chance.",
        {
            "points": points,
            "rolls": list(_rolls(passages, start, shift)),
            "starts": [{"attackers": attackers, "defenders": defenders}],
        },
    )


def _refuse(start: Point, attackers: int, defenders: int, rules: Rules) -> None:
    roll_chances(rules)  # refuses other dice
    battle = f"{shown(attackers)} against {shown(defenders)}"
    least = INSIDE.m + rules.garrison - 1
    if start.m < INSIDE.m or start.n < INSIDE.n:
        raise IllegalError(
            f"a battle that comes to its boundary must start with at least {least} attackers "
            f"against {INSIDE.n} defenders, got {battle}"
        )
    if max(start) > MOST_ARMIES:
        raise TooLargeError(
            f"a battle whose boundary is drawn must have at most {MOST_ARMIES} armies on a side, "
            f"got {battle}"
        )


def _rolls(passages: Iterable[Point], start: Point, shift: int) -> Iterator[Row]:
    """Yield the rolls from inside to a point of the boundary."""
    for m, n in passages:
        for lost in (0, 1, 2):  # attackers, of the two armies that a roll takes
            before = Point(m + lost, n + 2 - lost)
            if _inside(before, start):
                yield {
                    "from": f"{before.m + shift}v{before.n}",
                    "to": f"{m + shift}v{n}",
                    **{"x": before.m + shift, "y": before.n, "x2": m + shift, "y2": n},
                }


def _inside(point: Point, start: Point) -> bool:
    """Tell whether a battle can come by a point by rolls with all dice, and roll all there."""
    if not (INSIDE.m <= point.m <= start.m and INSIDE.n <= point.n <= start.n):
        return False
    return (sum(start) - sum(point)) % 2 == 0


def _axis(title: str, most: int) -> dict[str, Any]:
    return {
        "title": title,
        "axis": whole_axis((0, most)),
        "scale": alt.Scale(zero=False, nice=False, padding=24),
    }


def _chart(largest: float, attackers: int, defenders: int) -> AnyChart:
    x = alt.X("attackers:Q", **_axis("attackers, garrison included", attackers))
    y = alt.Y("defenders:Q", **_axis("defenders", defenders))
    rolls = (
        alt.Chart(named("rolls"))
        .mark_rule(opacity=0.35)
        .encode(x="x:Q", y="y:Q", x2="x2:Q", y2="y2:Q", tooltip=["from:N", "to:N"])
    )
    free = (
        alt.Chart(named("rolls"))
        .mark_point(filled=True, opacity=1, color=GREY, size=25)
        .encode(x="x:Q", y="y:Q")
    )
    points = (
        alt.Chart(named("points"))
        .mark_point(filled=True, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "place:N",
                title=None,
                scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            ),
            size=alt.Size("probability:Q", legend=None, scale=alt.Scale(range=[0, largest])),
            tooltip=[
                "attackers:Q",
                "defenders:Q",
                alt.Tooltip("probability:Q", title="chance", format=".16~g"),
                alt.Tooltip("exact:N", title="exactly"),
            ],
        )
    )
    start = alt.Chart(named("starts")).encode(x=x, y=y)
    name = start.mark_text(text="start", dx=-20, fontSize=11, fontWeight="bold")
    dot = start.mark_text(text="●", fontSize=14)
    return alt.layer(rolls, free, points, dot, name).properties(height=HEIGHT)
