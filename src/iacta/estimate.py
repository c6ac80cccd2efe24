"""Estimate: how often something came in many runs, and how near that is to its chance."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from iacta.checks import Chance, put, read_chance, shown, whole_number
from iacta.errors import IllegalError

__all__ = ["Estimate", "Interval"]

MOST_RUNS = 10**18
LEAST_OUTSIDE = 1e-300


class Interval(NamedTuple):
    """An interval that holds the true chance with a stated confidence.

    low: its lower end.
    high: its upper end.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A chance as many independent runs show it.

    runs: how many runs there were.
    successes: in how many of them it came.

    >>> Estimate(runs=100_000, successes=81_099).probability
    Fraction(81099, 100000)
    """

    runs: int
    successes: int

    def __post_init__(self) -> None:
        put(self, "runs", whole_number(self.runs, "runs", least=1, most=MOST_RUNS))
        put(self, "successes", whole_number(self.successes, "successes", 0, most=self.runs))

    @property
    def probability(self) -> Fraction:
        """The part of the runs in which it came."""
        return Fraction(self.successes, self.runs)

    def interval(self, level: Chance = 0.95) -> Interval:
        """Return Wilson's score interval.

        level: in which part of all simulations such an interval holds the true chance, on
            average over the chances; between 0 and 1.

        The ends are the chances p with (p̂ − p)² = z² p (1 − p) / n, where p̂ is the part of the n
        runs in which it came, and z the quantile of the normal law for that level; floats. Unlike
        the textbook's p̂ ± z √(p̂ (1 − p̂) / n), it holds for chances near 0 and 1 too.

        >>> low, high = Estimate(runs=100_000, successes=81_099).interval()
        >>> round(low, 4), round(high, 4)
        (0.8086, 0.8134)
        >>> Estimate(runs=10, successes=0).interval().low
        0.0

        Source: Wilson, "Probable inference, the law of succession, and statistical inference"
        (Journal of the American Statistical Association 22, 1927).
        """
        n, part, z = self.runs, float(self.probability), _quantile(level)
        middle = part + z * z / (2 * n)
        half = z * math.sqrt(part * (1 - part) / n + (z / (2 * n)) ** 2)
        scale = 1 + z * z / n
        return Interval(
            (middle - half) / scale if self.successes else 0.0,
            (middle + half) / scale if self.successes < n else 1.0,
        )


def _quantile(level: Chance) -> float:
    """Return z such that a normal number lies within z standard deviations at that level."""
    from statistics import NormalDist  # slow to import, and only needed here

    outside = float((1 - read_chance(level, "level")) / 2)
    if outside < LEAST_OUTSIDE:
        raise IllegalError(
            f"level must be below 1 by at least {2 * LEAST_OUTSIDE:.0e}, got {shown(level)}"
        )
    return -NormalDist().inv_cdf(outside)
