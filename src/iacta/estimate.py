"""Estimate: how often something happened in many runs, and how close that is to its chance."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from iacta.chances import Chance, read_chance
from iacta.checks import put, shown, whole_number
from iacta.errors import IllegalError

CONFIDENCE = 0.95  # of every interval whose level nobody asks for

MOST_RUNS = 10**18  # far more than any computer plays
LEAST_OUTSIDE = 1e-300


class Interval(NamedTuple):
    """An interval that contains the true chance with a stated confidence.

    low: its lower end.
    high: its upper end.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A chance as estimated from many independent runs.

    runs: how many runs there were.
    successes: in how many of them the event happened.

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
        """The share of the runs in which the event happened."""
        return Fraction(self.successes, self.runs)

    def interval(self, level: Chance = CONFIDENCE) -> Interval:
        """Return Wilson's score interval.

        level: the share of simulations in which such an interval contains the true chance, on
            average over the chances; between 0 and 1.

        The ends are the chances p with (p̂ − p)² = z² p (1 − p) / n, where p̂ is the share of
        successes in n runs, and z the quantile of the normal distribution for that level; floats.
        Unlike the textbook's p̂ ± z √(p̂ (1 − p̂) / n), it is right for chances near 0 and 1 too.

        >>> low, high = Estimate(runs=100_000, successes=81_099).interval()
        >>> round(low, 4), round(high, 4)
        (0.8086, 0.8134)
        >>> Estimate(runs=10, successes=0).interval().low
        0.0

        Source: Wilson, "Probable inference, the law of succession, and statistical inference"
        (Journal of the American Statistical Association 22, 1927).
        """
        n, share, z = self.runs, float(self.probability), _quantile(level)
        middle = share + z * z / (2 * n)
        half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
        scale = 1 + z * z / n
        return Interval(
            (middle - half) / scale if self.successes else 0.0,
            (middle + half) / scale if self.successes < n else 1.0,
        )


def _quantile(level: Chance) -> float:
    """Return z such that a normal variable is within z standard deviations with that chance."""
    from statistics import NormalDist  # slow to import, and only needed here

    outside = float((1 - read_chance(level, "level")) / 2)
    if outside < LEAST_OUTSIDE:
        raise IllegalError(
            f"level must be below 1 by at least {2 * LEAST_OUTSIDE:.0e}, got {shown(level)}"
        )
    return -NormalDist().inv_cdf(outside)
