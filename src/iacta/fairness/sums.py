"""Sums: the tails of sums of independent scores, however small they are.

The tail of a sum S of independent scores, P(S ≥ t), may be far smaller than the rounding error of
a Fourier transform. So the distributions are tilted first (Esscher 1932). With the moment
generating function M(θ) = Π E[e^{θ·X_i}] and the tilted probabilities

    q(s) = P(S = s)·e^{θ·s} / M(θ),        P(S ≥ t) = M(θ)·Σ_{s≥t} q(s)·e^{−θ·s},

where θ is the number at which the mean of q is t, the relative error of the sum is small, too.
The same θ gives Chernoff's bound P(S ≥ t) ≤ M(θ)·e^{−θ·t}. The bound also holds for scores between
0 and 1 of which only the mean is known, with the M of scores that are 0 or 1, as e^{θ·x} is convex.

Sources: Esscher, "On the probability function in the collective theory of risk" (Skandinavisk
Aktuarietidskrift 15, 1932); Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis
based on the sum of observations" (Annals of Mathematical Statistics 23, 1952).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from iacta.fairness.e_values import Floats, Ints
from iacta.fairness.trials import Trial

MOST_WORK = 2**24  # the sum of the lengths of all Fourier transforms
WINDOW = 10.0  # half the usual width of a Fourier transform, in standard deviations
LOG_NEGLIGIBLE = -25.0  # the logarithm of 1.4e-11, a probability that may be lost
NEAR = 0.1  # standard deviations between a total and the mean of the tilted sum
SAME = 1e-9
STEPS = np.array([0.25, 1.0, 3.0, 8.0])  # changes of a tilt, times the standard deviation
MOST_TILT = 60.0  # at this tilt, neighbours of the largest sum weigh e^-60


class Scores(NamedTuple):
    """The distribution of the scores of equal trials.

    scores: the score of each result, in whole units.
    chances: how likely fair dice give each result.
    times: how many such trials there are.
    """

    scores: Ints
    chances: Floats
    times: int


def sum_tail(parts: Sequence[Scores], total: int) -> float:
    """Return the probability that independent scores add up to at least a total.

    parts: the distributions of the scores, all chances positive.
    total: the sum.

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 100)
    >>> round(sum_tail([coins], 99) * 2**100, 6)
    101.0
    """
    least = sum(int(part.scores.min()) * part.times for part in parts)
    most = sum(int(part.scores.max()) * part.times for part in parts)
    if not least < total <= most:
        return float(total <= least)
    tilted = _Tilted(parts)
    tilt = tilted.find_tilt(total)
    width, window = most - least + 1, 2 * tilted.find_window(tilt, total)
    size = 1 << (min(width, window) - 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=complex)
    for part in parts:
        shifted = part.scores - part.scores.min()
        weights = part.chances * np.exp(tilt * (part.scores - part.scores.max()))
        row = np.bincount(shifted % size, weights=weights / weights.sum(), minlength=size)
        product *= np.fft.rfft(row) ** part.times
    tilted_sums = np.maximum(np.fft.irfft(product, size), 0.0)
    beyond = np.arange(min(most - total + 1, size if width <= size else size // 2))
    rest = float(tilted_sums[(total - least + beyond) % size] @ np.exp(-tilt * beyond))
    return min(math.exp(tilted.cumulants(tilt)[0] - tilt * total) * rest, 1.0)


def bound_tail(parts: Sequence[Scores], total: float) -> float:
    """Return Chernoff's bound for the probability that scores add up to at least a total.

    parts: the distributions of the scores. The bound also holds for other scores with the same
        means and the same ranges.
    total: the sum.

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 100)
    >>> round(bound_tail([coins], 60), 3), round(sum_tail([coins], 60), 3)
    (0.134, 0.028)
    """
    tilted = _Tilted(parts)
    tilt = tilted.find_tilt(total)
    return math.exp(min(tilted.cumulants(tilt)[0] - tilt * total, 0.0))


class _Tilted:
    """The cumulants of a sum of scores whose distributions are tilted.

    The log of the moment generating function, its first and its second derivative.
    """

    def __init__(self, parts: Sequence[Scores]) -> None:
        sizes = [len(part.scores) for part in parts]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.places = np.repeat(np.arange(len(parts)), sizes)
        self.counts = np.array([part.times for part in parts], dtype=float)
        self.scores = np.concatenate([part.scores for part in parts]).astype(float)
        self.chances = np.concatenate([part.chances for part in parts])

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return log M, the mean and the variance of the tilted sum."""
        logs = tilt * self.scores
        most = np.maximum.reduceat(logs, self.starts)
        weights = self.chances * np.exp(logs - most[self.places])
        sums = np.add.reduceat(weights, self.starts)
        means = np.add.reduceat(weights * self.scores, self.starts) / sums
        off = self.scores - means[self.places]
        variances = np.add.reduceat(weights * off**2, self.starts) / sums
        return (
            float(self.counts @ (np.log(sums) + most)),
            float(self.counts @ means),
            float(self.counts @ variances),
        )

    def find_tilt(self, total: float) -> float:
        """Return a tilt from 0 on at which a total is near the mean of the sum.

        Near is within a tenth of the standard deviation. Where the total is at most the mean, or
        beyond all means, the tilt is 0 or `MOST_TILT`.
        """
        _, mean, variance = self.cumulants(0.0)
        if mean >= total or not variance:
            return 0.0
        low, high = 0.0, math.inf
        tilt = 1 / math.sqrt(variance)
        while high - low > SAME * low:
            tilt = min(tilt, MOST_TILT)
            _, mean, variance = self.cumulants(tilt)
            if abs(mean - total) <= NEAR * math.sqrt(variance):
                break
            low, high = (tilt, high) if mean < total else (low, tilt)
            if low == MOST_TILT:
                break
            tilt = 2 * low if math.isinf(high) else (low + high) / 2
        return tilt

    def find_window(self, tilt: float, total: int) -> int:
        """Return a distance from a total beyond which the tilted sum lies almost never.

        By Chernoff's bound with any step h, P(S ≥ t + w) ≤ M(θ + h) / M(θ)·e^{−h·(t + w)}, and with
        −h for h the same holds below.
        """
        log_mean, _, variance = self.cumulants(tilt)
        if not variance:
            return 1
        steps = np.minimum(STEPS / math.sqrt(variance), MOST_TILT)
        steps = np.concatenate([steps, -steps])
        widths = [
            (self.cumulants(tilt + h)[0] - log_mean - h * total - LOG_NEGLIGIBLE) / abs(h)
            for h in steps.tolist()
        ]
        above, below = float(min(widths[: len(STEPS)])), float(min(widths[len(STEPS) :]))
        return 1 + math.ceil(max(above, below, 0.0))


def win_tails(counts: Mapping[Trial, int], won: float, *, is_decided: bool) -> tuple[float, float]:
    """Return how likely fair dice win at most, and at least, so many chances.

    counts: how often each chance was tried.
    won: how many were won, or the sum of the chances that they became.
    is_decided: whether each became 0 or 1; else only upper bounds are known.

    >>> from iacta.rules.rules import Rules
    >>> chances = [Trial("chance", 0, 0, Rules(), chance=chance) for chance in (0.9, 0.8, 0.7, 0.6)]
    >>> at_most, at_least = win_tails(dict.fromkeys(chances, 1), 1, is_decided=True)
    >>> round(at_most, 6), round(at_least, 6)
    (0.0428, 0.9976)
    """
    ones = [
        Scores(np.array([0, 1]), np.array([1 - trial.chance, trial.chance]), count)
        for trial, count in counts.items()
        if 0 < trial.chance < 1
    ]
    if not ones:
        return 1.0, 1.0
    zeros = [part._replace(scores=-part.scores) for part in ones]
    unsure = won - sum(count for trial, count in counts.items() if trial.chance == 1)
    if is_decided:
        return sum_tail(zeros, -round(unsure)), sum_tail(ones, round(unsure))
    return bound_tail(zeros, -unsure), bound_tail(ones, unsure)
