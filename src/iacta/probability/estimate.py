"""Estimates of chances and means from many simulated runs, with their errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote, read_int, set_field
from iacta.inputs.errors import IllegalError
from iacta.probability.chances import Chance, read_chance

CONFIDENCE = 0.95  # the default level of an interval
NORMAL_QUANTILE = 1.959963984540054  # half width of a 95% interval, in standard errors
MIN_GAMES = 10  # minimum number of games for a finite interval

MAX_RUNS = 10**18
MIN_OUTSIDE = 1e-300
MIN_SHIFT = 1e-6  # a smaller shift by skewness is not worth a correction


class Interval(NamedTuple):
    """A confidence interval for a chance.

    low: the lower end.
    high: the upper end.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A chance estimated from many independent runs.

    runs: the number of runs.
    successes: the number of runs in which the event happened.

    >>> Estimate(runs=100_000, successes=81_099).probability
    Fraction(81099, 100000)
    """

    runs: int
    successes: int

    def __post_init__(self) -> None:
        set_field(self, "runs", read_int(self.runs, "runs", minimum=1, maximum=MAX_RUNS))
        set_field(self, "successes", read_int(self.successes, "successes", 0, maximum=self.runs))

    @property
    def probability(self) -> Fraction:
        """The share of the runs in which the event happened."""
        return Fraction(self.successes, self.runs)

    def interval(self, level: Chance = CONFIDENCE) -> Interval:
        """Return Wilson's score interval.

        level: the confidence level, between 0 and 1: the fraction of simulations whose interval
            contains the true chance, averaged over all chances.

        Let p̂ be the share of successes in n runs and z the normal quantile for the level. The ends
        of the interval are the chances p with (p̂ − p)² = z² p (1 − p) / n, as floats. Unlike the
        textbook interval p̂ ± z √(p̂ (1 − p̂) / n), this interval is also correct for chances near
        0 and 1.

        >>> low, high = Estimate(runs=100_000, successes=81_099).interval()
        >>> round(low, 4), round(high, 4)
        (0.8086, 0.8134)
        >>> Estimate(runs=10, successes=0).interval().low
        0.0

        Source: Wilson, "Probable inference, the law of succession, and statistical inference"
        (Journal of the American Statistical Association 22, 1927).
        """
        share = float(self.probability)
        return _compute_wilson_interval(
            share, share * (1 - share), self.runs, _compute_quantile(level)
        )


def _compute_wilson_interval(mean: float, variance: float, runs: float, z: float) -> Interval:
    middle = mean + z * z / (2 * runs)
    half = z * math.sqrt(variance / runs + (z / (2 * runs)) ** 2)
    scale = 1 + z * z / runs
    return Interval(
        max((middle - half) / scale, 0.0) if mean > 0 else 0.0,
        min((middle + half) / scale, 1.0) if mean < 1 else 1.0,
    )


def compute_interval_of_mean(results: Sequence[float] | npt.NDArray[np.float64]) -> Interval:
    """Return the 95% interval of the mean of results from 0 to 1.

    results: the result of each run; at least one.

    This is Wilson's score interval, with the variance of the results in place of p̂ (1 − p̂). If all
    results are 0 or 1, the two are equal. Wilson's additional term z² / 4n² keeps the interval wide
    if a few results happen to be similar, which would make the sample variance too small.

    >>> low, high = compute_interval_of_mean([0.36, 0.41])
    >>> round(low, 2), round(high, 2)
    (0.13, 0.79)
    >>> for low, high in (compute_interval_of_mean([1, 1, 0]), Estimate(3, successes=2).interval()):
    ...     print(round(low, 4), round(high, 4))
    0.2077 0.9385
    0.2077 0.9385
    """
    mean = float(np.mean(results))
    return _compute_wilson_interval(mean, float(np.var(results)), len(results), NORMAL_QUANTILE)


def compute_interval_of_chance(chance: float, runs: float) -> Interval:
    """Return Wilson's 95% interval for a share of successes that need not be a multiple of 1/runs.

    runs: the number of runs. For a share whose error is known, it is the number of runs with that
        error, which need not be whole.

    >>> low, high = compute_interval_of_chance(0.55, 4)
    >>> round(low, 4), round(high, 4)
    (0.1764, 0.8746)
    """
    return _compute_wilson_interval(chance, chance * (1 - chance), runs, NORMAL_QUANTILE)


def compute_half_width_of_difference(
    differences: npt.NDArray[np.float64], comparisons: int = 1
) -> float:
    """Return the half-width of the 95% interval of the mean of differences from -1 to 1.

    differences: for each run, the difference of two results from 0 to 1; at least one.
    comparisons: the number of intervals that are all right with a chance of at least 95%
        (Bonferroni's correction).

    It is twice the half-width for the results (d + 1) / 2 by `compute_interval_of_mean`. Therefore
    equal differences in a few runs do not make the mean certain.

    >>> round(compute_half_width_of_difference(np.array([0.3, 0.3])), 2)
    0.66
    """
    runs, z = len(differences), NORMAL_QUANTILE
    if comparisons > 1:
        z = _compute_quantile(1 - (1 - CONFIDENCE) / comparisons)
    half = z * math.sqrt(float(np.var(differences)) / runs + (z / runs) ** 2)
    return half / (1 + z * z / runs)


def _compute_quantile(level: Chance) -> float:
    """Return z such that a normal variable is within z standard deviations with chance `level`."""
    from statistics import NormalDist  # slow to import, and only needed here

    outside = float((1 - read_chance(level, "level")) / 2)
    if outside < MIN_OUTSIDE:
        raise IllegalError(
            f"level must be below 1 by at least {2 * MIN_OUTSIDE:.0e}, got {quote(level)}"
        )
    return -NormalDist().inv_cdf(outside)


def compute_interval_of_skewed(values: Sequence[float] | npt.NDArray[np.float64]) -> Interval:
    """Return the 95% interval of the mean of results, corrected for their skewness.

    values: the result of each run. With fewer than 10 runs the interval is infinite.

    Let x̄ be the mean, s / √n its standard error, γ the skewness and c = γ / 3√n. Hall's
    transformation g(T) = ((1 + cT)³ − 1) / 3c + c / 2 removes the skewness from Student's
    T = (x̄ − μ)√n / s. The ends of the interval are the means μ with g(T) = ± t, where t is the
    quantile of `compute_half_width`. Skewed results thus have an interval that extends further on
    the side of the rare results.

    >>> for rare in (0.0, 1.0):
    ...     low, high = compute_interval_of_skewed([rare] * 2 + [0.5] * 98)
    ...     print(round(low, 3), round(high, 3))
    0.436 0.5
    0.5 0.564

    Source: Hall, "On the removal of skewness by transformation" (Journal of the Royal Statistical
    Society B 54, 1992).
    """
    half, runs = compute_half_width(values), len(values)
    mean, spread = float(np.mean(values)), float(np.std(values))
    if half in (0.0, math.inf) or spread == 0.0:
        return Interval(mean - half, mean + half)
    skewness = float(np.mean(((np.asarray(values) - mean) / spread) ** 3))
    shift = skewness / (3 * math.sqrt(runs))
    error = standard_error(values)
    if abs(shift) < MIN_SHIFT:
        return Interval(mean - half, mean + half)
    high, low = (
        mean - error * (math.cbrt(1 + 3 * shift * (t - shift / 2)) - 1) / shift
        for t in (-half / error, half / error)
    )
    return Interval(low, high)


def compute_half_width(values: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return the half-width of the 95% confidence interval for a mean.

    values: the result of each run. With fewer than 10 runs the half-width is infinite.

    It is Student's t times the standard error. The quantile of t is expanded around the normal
    quantile.

    >>> round(compute_half_width([0.0, 1.0] * 5), 2)
    0.38

    Source: Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 26.7.5.
    """
    if len(values) < MIN_GAMES:
        return math.inf
    z, freedom = NORMAL_QUANTILE, len(values) - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return t * standard_error(values)


def standard_error(values: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return the standard error of the mean.

    values: the result of each run, at least two.

    >>> round(standard_error([0.0, 1.0] * 5), 4)
    0.1667
    """
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def mean_error(chances: Sequence[float]) -> float:
    """Return the standard error of a mean of chances, after adding 0 and 1 to the sample.

    chances: the sample. The two extra values keep the error above 0 if all chances are equal.

    >>> round(mean_error([1.0, 1.0]), 4)
    0.2165

    Source: the rule of succession in Laplace's "Essai philosophique sur les probabilités" (1814).
    """
    return float(np.std([*chances, 0.0, 1.0])) / math.sqrt(len(chances) + 2)
