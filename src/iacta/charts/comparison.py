"""A picture of how methods compare on one battle."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from iacta.battle.battle import Battle
from iacta.charts.theme import BLUE, GREEN, GREY, AnyChart, Row, expect, finish, named
from iacta.charts.words import armies, per_cent, under_rules
from iacta.errors import IllegalError
from iacta.rules.variants import rules_name

__all__ = ["Solved", "methods_compared"]

LEAST_ERROR = 1e-18  # where no error at all is drawn
EXACT, ROUNDED, UNKNOWN = ANSWERS = ("none: exact", "as measured", "not known")
ROW_HEIGHT = 26


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


def methods_compared(battle: Battle, solved: Sequence[Solved], label: str = "") -> AnyChart:
    """Return the relative error of each method beside the time that it took, on scales of powers.

    battle: the battle.
    solved: what the methods say of it.
    label: what the rules are called, if they have no name of their own.

    Refused is a battle that no method has solved.
    """
    expect(battle, Battle, "battle")
    if not solved:
        raise IllegalError("a battle must be one that some method can solve to be drawn")
    rows = [_row(each) for each in sorted(solved, key=lambda each: each.seconds)]
    order = [row["method"] for row in rows]
    return finish(
        alt.vconcat(_times(order), _errors(order)).resolve_scale(color="independent"),
        _title(battle, solved, rows[0]),
        f"{battle.attackers} armies against {battle.defenders}, the chance to win "
        f"({under_rules(label or rules_name(battle.rules), battle.rules.garrison)}): the time that "
        "each method took, and its error.",
        {"methods": rows},
    )


def _row(solved: Solved) -> Row:
    answer = UNKNOWN if solved.error is None else ROUNDED
    return {
        "method": solved.method,
        "win_probability": solved.chance,
        "relative_error": solved.error,
        "seconds": solved.seconds,
        "answer": EXACT if solved.is_exact else answer,
    }


def _title(battle: Battle, solved: Sequence[Solved], fastest: Row) -> str:
    """Return the answer of the method that errs least, and which is the fastest."""
    best = min(solved, key=lambda each: (not each.is_exact, each.error is None, each.error or 0))
    verb = "beats" if battle.attackers == 1 else "beat"
    answer = (
        f"{armies(battle.attackers)} {verb} {battle.defenders:,} {per_cent(best.chance)} "
        f"of the time"
    )
    took = _time(fastest["seconds"])
    if len(solved) == 1:
        return f"{answer}; only {fastest['method']} can tell, in {took}."
    return f"{answer}; {fastest['method']} is the fastest of {len(solved)} methods, with {took}."


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"


TOOLTIP = [
    alt.Tooltip("method:N"),
    alt.Tooltip("win_probability:Q", format=".16~g"),
    alt.Tooltip("relative_error:Q", format=".3~g"),
    alt.Tooltip("seconds:Q", format=".3~g"),
]


def _methods(order: Sequence[str]) -> alt.Y:
    return alt.Y("method:N", title=None, sort=list(order), axis=alt.Axis(labelOverlap=False))


def _times(order: Sequence[str]) -> AnyChart:
    """Return how long each method took."""
    chart: AnyChart = (
        alt.Chart(named("methods"))
        .mark_point(filled=True, size=80, opacity=1, color=BLUE)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="time in seconds",
                axis=alt.Axis(format="~s", tickCount=4),
                scale=alt.Scale(type="log"),
            ),
            y=_methods(order),
            tooltip=TOOLTIP,
        )
        .properties(height=ROW_HEIGHT * len(order))
    )
    return chart


def _errors(order: Sequence[str]) -> AnyChart:
    """Return the relative error of each method; those without one stand at the left."""
    base = alt.Chart(named("methods")).encode(y=_methods(order), tooltip=TOOLTIP)
    placed = base.transform_calculate(shown=f"max(datum.relative_error || 0, {LEAST_ERROR})")
    x = alt.X(
        "shown:Q",
        title="relative error",
        axis=alt.Axis(format=".0e", tickCount=6),
        scale=alt.Scale(type="log", domain=[LEAST_ERROR, 1], clamp=True),
    )
    colour = alt.Color(
        "answer:N",
        title="relative error",
        scale=alt.Scale(domain=list(ANSWERS), range=[GREEN, BLUE, GREY]),
    )
    chart: AnyChart = (
        placed.mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, color=colour)
        .properties(height=ROW_HEIGHT * len(order))
    )
    return chart
