"""Total chances: how likely fair dice win so few battles, or lose so many armies in total.

The number of battles won is a sum of independent variables that are 1 with the chances p of the
battles and else 0, its distribution the product of binomial ones. The armies lost in n rolls are a
sum of n independent variables of one distribution, the n-th power of its Fourier transform.

A sum with a large variance σ² is nearly normal. With its third central moment μ₃, φ the normal
density and Φ the normal distribution,

    P(S ≤ s) ≈ Φ(z) − μ₃ / (6 σ³)·(z² − 1)·φ(z),      z = (s + ½ − E[S]) / σ

(Feller 1971, XVI.4), with ½ for the steps of 1 that the sum takes.
"""

import math
from collections.abc import Mapping

import numpy as np

from iacta.fairness.e_values import Floats

NEGLIGIBLE = 1e-40  # smaller chances are left out of distributions
SAME = 1e-6  # rounding error of a mean, in armies
LEAST_TAIL = 1e-12  # above the rounding errors of a Fourier transform
MOST_VARIANCE = 2_500.0  # largest variance of the battles won in an exact distribution
MOST_ARMIES = 2**18  # most armies in an exact distribution


def are_nearly_normal(chances: Mapping[tuple[float, float], int]) -> bool:
    """Return whether the number of battles won is taken as normal.

    chances: how many battles there are of each chance to win and to lose.

    >>> are_nearly_normal({(0.5, 0.5): 100})
    False
    """
    return math.fsum(p * q * count for (p, q), count in chances.items()) > MOST_VARIANCE


def win_tails(chances: Mapping[tuple[float, float], int], won: int) -> tuple[float, float]:
    """Return the chance to win at most, and at least, so many battles.

    chances: how many battles there are of each chance to win and to lose.
    won: the number of battles won.

    >>> battles = {(0.9, 0.1): 1, (0.8, 0.2): 1, (0.7, 0.3): 1, (0.6, 0.4): 1}
    >>> at_most, at_least = win_tails(battles, 1)
    >>> round(at_most, 4), round(at_least, 4)
    (0.0428, 0.9976)
    """
    mean = math.fsum(p * count for (p, _), count in chances.items())
    variance = math.fsum(p * q * count for (p, q), count in chances.items())
    third = math.fsum(p * q * (q - p) * count for (p, q), count in chances.items())
    if are_nearly_normal(chances):
        return _normal_tails(won - mean, variance, third)
    first, distribution = 0, np.ones(1)
    for (p, q), count in chances.items():
        least, binomial = _binomial(count, p, q)
        distribution = np.convolve(distribution, binomial)
        kept = np.flatnonzero(distribution > NEGLIGIBLE)
        first += least + int(kept[0])
        distribution = distribution[kept[0] : kept[-1] + 1]
    place = won - first
    at_most, at_least = distribution[: max(place + 1, 0)].sum(), distribution[max(place, 0) :].sum()
    return _within(float(at_most), NEGLIGIBLE), _within(float(at_least), NEGLIGIBLE)


def share_interval(won: int, fought: int, level: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for the share of battles won.

    level: how often the interval contains the true share, at least.

    Where the battles have different chances, a number of wins far from the mean is even less likely
    than among as many battles with the mean chance (Hoeffding 1956).

    >>> [round(end, 3) for end in share_interval(0, 10, 0.95)]
    [0.0, 0.308]
    """
    ends = []
    for side, outside in ((1, 0.0), (0, 1.0)):
        inside = won / fought
        if inside != outside:
            for _ in range(60):
                middle = (inside + outside) / 2
                tail = win_tails({(middle, 1 - middle): fought}, won)[side]
                inside, outside = (middle, outside) if tail > (1 - level) / 2 else (inside, middle)
        ends.append(outside)
    return ends[0], ends[1]


def _binomial(count: int, p: float, q: float) -> tuple[int, Floats]:
    """Return the least number of wins that is not negligible, and the chances from there on.

    By Bernstein's inequality, numbers that are t or more from the mean have at most the chance
    2 exp(−t² / (2 σ² + 2 t / 3)).
    """
    if not p or not q:
        return (count if p else 0), np.ones(1)
    log = -math.log(NEGLIGIBLE)
    reach = math.ceil(log / 3 + math.sqrt(log * log / 9 + 2 * log * count * p * q)) + 1
    least, most = max(0, int(count * p) - reach), min(count, int(count * p) + reach)
    won = np.arange(least, most)
    logs = np.cumsum([0.0, *(np.log((count - won) / (won + 1)) + math.log(p) - math.log(q))])
    weights = np.exp(logs - logs.max())
    return least, weights / weights.sum()


def loss_tail(chances: Mapping[int, float], rolls: int, lost: int) -> float:
    """Return the chance that some rolls cost a side an amount as far from the mean, or farther.

    chances: how likely one roll costs it so many armies.
    rolls: how many there are.
    lost: the armies that it has lost.

    >>> round(loss_tail({0: 2890 / 7776, 1: 2611 / 7776, 2: 2275 / 7776}, 100_000, 92_351), 3)
    0.312
    """
    mean, variance, third = loss_moments(chances)
    off = abs(lost - rolls * mean)
    most = max(chances)
    if most * rolls >= MOST_ARMIES:
        few, many = math.floor(rolls * mean - off + SAME), math.ceil(rolls * mean + off - SAME)
        at_most, _ = _normal_tails(few - rolls * mean, rolls * variance, rolls * third)
        _, at_least = _normal_tails(many - rolls * mean, rolls * variance, rolls * third)
        return _within(at_most + at_least, LEAST_TAIL)
    one = np.zeros(most + 1)
    one[list(chances)] = list(chances.values())
    size = 1 << (most * rolls).bit_length()
    total = np.fft.irfft(np.fft.rfft(one, size) ** rolls, size)[: most * rolls + 1]
    is_as_far = np.abs(np.arange(len(total)) - rolls * mean) >= off - SAME
    return _within(float(total[is_as_far].sum()), LEAST_TAIL)


def loss_moments(chances: Mapping[int, float]) -> tuple[float, float, float]:
    """Return the mean, the variance and the third central moment of the armies that a roll costs.

    >>> loss_moments({0: 0.5, 2: 0.5})
    (1.0, 1.0, 0.0)
    """
    mean = math.fsum(p * lost for lost, p in chances.items())
    variance, third = (
        math.fsum(p * (lost - mean) ** power for lost, p in chances.items()) for power in (2, 3)
    )
    return mean, variance, third


def _normal_tails(off: float, variance: float, third: float) -> tuple[float, float]:
    """Return the chance that a sum is at most, and at least, so far above its mean."""
    return _below(off + 0.5, variance, third), _below(0.5 - off, variance, -third)


def _below(off: float, variance: float, third: float) -> float:
    z = off / math.sqrt(variance)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    skewed = third / (6 * variance**1.5) * (z * z - 1) * density
    return _within(math.erfc(-z / math.sqrt(2)) / 2 - skewed, LEAST_TAIL)


def _within(chance: float, least: float) -> float:
    return min(max(chance, least), 1.0)
