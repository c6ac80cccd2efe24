"""Break-even: the fewest attackers that are favourites, and the straight line nearest to them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from iacta.checks import whole_number
from iacta.questions.armies_needed import armies_needed
from iacta.rules.rules import Rules

__all__ = ["BreakEvenLine", "break_even_line"]

EVEN = Fraction(1, 2)


@dataclass(frozen=True)
class BreakEvenLine:
    """The line intercept + slope · defenders that is nearest to the fewest attackers.

    attackers: the fewest with an even chance or better, against 1, 2, ... defenders.
    intercept, slope: the line, in armies, by least squares.
    """

    attackers: tuple[int, ...]
    intercept: float
    slope: float


def break_even_line(
    defenders: int, rules: Rules | str = "classic", *, garrison: int | None = None
) -> BreakEvenLine:
    """Return the fewest attackers with an even chance by the number of defenders, as a line.

    defenders: the most defenders, at least 2, for a line takes two points.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.

    The fewest attackers are exact; the line is in floats. The same is refused as by
    `armies_needed`.

    >>> line = break_even_line(50, garrison=0)
    >>> line.attackers[14], line.attackers[24], line.attackers[34]
    (14, 23, 31)
    >>> round(line.intercept, 8), round(line.slope, 8)
    (1.22040816, 0.85253301)

    Source: Höhle's regression for up to 50 defenders, who leaves the garrison out.
    """
    count = np.arange(1, whole_number(defenders, "defenders", least=2) + 1)
    attackers = armies_needed(count, EVEN, rules, garrison=garrison)
    slope, intercept = np.polyfit(count, attackers, 1)
    return BreakEvenLine(tuple(attackers.tolist()), float(intercept), float(slope))
