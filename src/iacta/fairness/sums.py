"""Tail probabilities of sums of independent scores, with a small relative error.

The tail P(S ≥ t) of a sum S of independent scores X_i may be far smaller than the rounding error of
a Fourier transform. The distributions are therefore tilted first: the probability of each score x
is multiplied by e^{θ·x} and normalised (Esscher 1932). Let M(θ) = Π E[e^{θ·X_i}] be the moment
generating function. With the tilted probabilities q,

    q(s) = P(S = s)·e^{θ·s} / M(θ),        P(S ≥ t) = M(θ)·Σ_{s≥t} q(s)·e^{−θ·s}.

If θ is chosen so that the mean of q is t, the relative error of this sum is small. The same θ gives
the Chernoff bound P(S ≥ t) ≤ M(θ)·e^{−θ·t}. The function e^{θ·x} is convex, so the bound also holds
for scores between 0 and 1 whose means are known: compute M for scores of 0 and 1 with these means.

A sum with a large variance σ² is nearly normal. With its third central moment μ₃, the normal
density φ and the normal distribution function Φ,

    P(S ≤ s) ≈ Φ(z) − μ₃ / (6 σ³)·(z² − 1)·φ(z),      z = (s + ½ − E[S]) / σ

(Feller 1971, XVI.4). The ½ is the continuity correction for sums of integers.

Sources: Esscher, "On the probability function in the collective theory of risk" (Skandinavisk
Aktuarietidskrift 15, 1932); Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis
based on the sum of observations" (Annals of Mathematical Statistics 23, 1952); Feller, "An
introduction to probability theory and its applications" (volume 2, 2nd edition, 1971).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.fairness.e_values import Floats, Ints

# `MAX_WORK` and `MAX_WORK_PER_SUM` limit the time for a tail probability: the total length of its
# Fourier transforms. `MAX_WORK_PER_SUM` is the limit if many tail probabilities are needed.
MAX_WORK = 2**24
MAX_WORK_PER_SUM = 2**12
MAX_TRANSFORM = 2**20  # sums that need a longer Fourier transform use a normal approximation
MIN_TAIL = 1e-12  # a normal approximation never returns a smaller tail probability
# `_transform_sum` computes z − 1 only for trials with few results and many repetitions.
MAX_SUMMED_RESULTS = 3
MIN_SUMMED_TRIALS = 2**20
WINDOW_DEVIATIONS = 10.0  # half the usual length of a Fourier transform, in standard deviations
LOG_NEGLIGIBLE_SUM = -25.0  # probabilities below e^-25 = 1.4e-11 are neglected
TILT_TOLERANCE = 0.1  # allowed distance of the tilted mean from the total, in standard deviations
TOLERANCE = 1e-9  # relative precision of the tilt θ that `compute_tilt` returns
STEPS = np.array(
    [0.25, 1.0, 3.0, 8.0]
)  # the steps h that `compute_window` tries, in units of 1 / σ
LOG_MIN_TAIL = -690.0  # tail probabilities below e^-690 = 1e-300 are replaced by a bound
MAX_LOG = 600.0  # larger exponents are reduced to this number, so that e^x does not overflow
# This tilt weights the largest sum at least e^700 times more than any other sum.
MAX_SUM_TILT = 700.0


class Scores(NamedTuple):
    """The distribution of the score of one trial, and the number of identical trials.

    scores: the score of each result of the trial, a whole number.
    chances: the probability of each result with fair dice.
    times: the number of trials.
    """

    scores: Ints
    chances: Floats
    times: int


def compute_tail(parts: Sequence[Scores], total: int) -> float:
    """Return the probability that independent scores add up to at least `total`.

    parts: the distributions of the scores; all chances must be positive.

    If the probability is below 1e-300, or would take too long to compute, the result is an upper
    bound (the Chernoff bound).

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 100)
    >>> round(compute_tail([coins], 99) * 2**100, 6)
    101.0
    """
    least = sum(int(part.scores.min()) * part.times for part in parts)
    most = sum(int(part.scores.max()) * part.times for part in parts)
    if not least < total <= most:
        return float(total <= least)
    tilted = _TiltedSum(parts)
    tilt = tilted.compute_tilt(total)
    width, window = most - least + 1, 2 * tilted.compute_window(tilt, total)
    size = 1 << (min(width, window) - 1).bit_length()
    log_bound = tilted.compute_cumulants(tilt)[0] - tilt * total  # log of the Chernoff bound
    if log_bound < LOG_MIN_TAIL or size > 2 * MAX_WORK:
        return math.exp(min(log_bound, 0.0))
    product, start = np.ones(size // 2 + 1, dtype=complex), 0
    for part in parts:
        weights = part.chances * np.exp(tilt * (part.scores - part.scores.max()))
        usual = int(part.scores[np.argmax(weights)])
        product *= _transform_sum(part.scores - usual, weights / weights.sum(), part.times, size)
        start += usual * part.times
    tilted_sums = np.maximum(np.fft.irfft(product, size), 0.0)
    beyond = np.arange(min(most - total + 1, size if width <= size else size // 2))
    rest = float(tilted_sums[(total - start + beyond) % size] @ np.exp(-tilt * beyond))
    return min(math.exp(log_bound) * rest, 1.0)


def _transform_sum(
    scores: Ints, chances: Floats, times: int, size: int
) -> npt.NDArray[np.complex128]:
    """Return the Fourier transform of the distribution of a sum of `times` identical trials.

    scores: the score of each result; the most likely score must be 0.

    A high power of a transform z multiplies the rounding error of z. If there are few results, the
    function computes z − 1 instead, which is small wherever the power matters and therefore has a
    small error.
    """
    if len(scores) > MAX_SUMMED_RESULTS or times < MIN_SUMMED_TRIALS:
        row = np.bincount(scores % size, weights=chances, minlength=size)
        power: npt.NDArray[np.complex128] = np.fft.rfft(row) ** times
        return power
    real, imaginary = np.zeros(size // 2 + 1), np.zeros(size // 2 + 1)
    for score, chance in zip(scores.tolist(), chances.tolist(), strict=True):
        angles = 2 * math.pi / size * (np.arange(size // 2 + 1) * score % size)
        real -= 2 * chance * np.sin(angles / 2) ** 2
        imaginary -= chance * np.sin(angles)
    with np.errstate(divide="ignore"):  # a value of the transform may be 0, and its log -infinity
        logs = np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1.0)) / 2
    turned = times * np.arctan2(imaginary, 1 + real)
    sums: npt.NDArray[np.complex128] = np.exp(times * logs) * np.exp(1j * turned)
    return sums


def are_nearly_normal(parts: Sequence[Scores], most_work: int = MAX_WORK) -> bool:
    """Return whether a sum needs a normal approximation, because its exact tail takes too long.

    most_work: the maximum total length of the Fourier transforms that compute an exact tail.

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 10**6)
    >>> are_nearly_normal([coins]), are_nearly_normal([coins._replace(times=10**12)])
    (False, True)
    """
    width = (
        2 * WINDOW_DEVIATIONS * math.sqrt(math.fsum(_compute_moments(part)[1] for part in parts))
    )
    return width > MAX_TRANSFORM or width * len(parts) > most_work


def compute_tails_of_sum(
    parts: Sequence[Scores], total: int, most_work: int = MAX_WORK
) -> tuple[float, float]:
    """Return the probabilities that a sum of scores is at most `total`, and at least `total`.

    most_work: the maximum total length of the Fourier transforms. If an exact tail needs more, a
        normal approximation is used.

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 10)
    >>> [round(tail * 2**10, 6) for tail in compute_tails_of_sum([coins], 9)]
    [1023.0, 11.0]
    """
    if are_nearly_normal(parts, most_work):
        mean, variance, third = map(math.fsum, zip(*map(_compute_moments, parts), strict=True))
        off = total - mean
        return approximate_tail(off + 0.5, variance, third), approximate_tail(
            0.5 - off, variance, -third
        )
    losses = [part._replace(scores=-part.scores) for part in parts]
    return compute_tail(losses, -total), compute_tail(parts, total)


def _compute_moments(part: Scores) -> tuple[float, float, float]:
    """Return the mean, variance and third central moment of the sum of identical trials."""
    mean = float(part.chances @ part.scores)
    off = part.scores - mean
    variance, third = float(part.chances @ off**2), float(part.chances @ off**3)
    return part.times * mean, part.times * variance, part.times * third


def approximate_tail(off: float, variance: float, third: float) -> float:
    """Return the probability that a nearly normal sum is less than its mean plus `off`.

    variance, third: the variance and the third central moment of the sum.
    """
    z = off / math.sqrt(variance)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    skewed = third / (6 * math.sqrt(variance) ** 3) * (z * z - 1) * density
    return min(max(math.erfc(-z / math.sqrt(2)) / 2 - skewed, MIN_TAIL), 1.0)


def bound_tail(parts: Sequence[Scores], total: float) -> float:
    """Return the Chernoff bound on the probability that scores add up to at least `total`.

    parts: the distributions of the scores. If all scores are 0 or 1, the bound also holds for
        scores between 0 and 1 with the same means.

    >>> import numpy as np
    >>> coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 100)
    >>> round(bound_tail([coins], 60), 3), round(compute_tail([coins], 60), 3)
    (0.134, 0.028)
    """
    tilted = _TiltedSum(parts)
    tilt = tilted.compute_tilt(total)
    return math.exp(min(tilted.compute_cumulants(tilt)[0] - tilt * total, 0.0))


class _TiltedSum:
    """A sum of independent scores, with the means and variances of its tilted distributions.

    The tilt θ multiplies the probability of each sum s by e^{θ·s}, see the formulas above.
    """

    def __init__(self, parts: Sequence[Scores]) -> None:
        sizes = [len(part.scores) for part in parts]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.part_indices = np.repeat(np.arange(len(parts)), sizes)
        self.counts = np.array([part.times for part in parts], dtype=float)
        usual = [int(part.scores[np.argmax(part.chances)]) for part in parts]
        off = [part.scores - score for part, score in zip(parts, usual, strict=True)]
        # Scores are stored as differences from the most likely score of their trial.
        self.scores = np.concatenate(off).astype(float)
        self.chances = np.concatenate([part.chances for part in parts])
        self.start = sum(score * part.times for part, score in zip(parts, usual, strict=True))

    def compute_cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return log M(θ), and the mean and the variance of the sum tilted by θ."""
        logs = tilt * self.scores
        most = np.maximum.reduceat(logs, self.starts)
        weights = self.chances * np.exp(logs - most[self.part_indices])
        sums = np.add.reduceat(weights, self.starts)
        # `log1p` keeps the relative precision of logarithms near 0.
        grown = np.add.reduceat(self.chances * np.expm1(np.minimum(logs, MAX_LOG)), self.starts)
        logs_of_means = np.where(most < MAX_LOG, np.log1p(grown), np.log(sums) + most)
        means = np.add.reduceat(weights * self.scores, self.starts) / sums
        off = self.scores - means[self.part_indices]
        variances = np.add.reduceat(weights * off**2, self.starts) / sums
        return (
            float(self.counts @ logs_of_means) + tilt * self.start,
            float(self.counts @ means) + self.start,
            float(self.counts @ variances),
        )

    def compute_tilt(self, total: float) -> float:
        """Return a tilt θ ≥ 0 for which the mean of the tilted sum is close to `total`.

        Close means at most a tenth of the standard deviation away. If `total` is below the untilted
        mean, the tilt is 0. If no tilt is large enough, the result is `MAX_SUM_TILT`.
        """
        _, mean, variance = self.compute_cumulants(0.0)
        if mean >= total or not variance:
            return 0.0
        low, high = 0.0, math.inf
        tilt = 1 / math.sqrt(variance)
        while high - low > TOLERANCE * low:
            tilt = min(tilt, MAX_SUM_TILT)
            _, mean, variance = self.compute_cumulants(tilt)
            if abs(mean - total) <= TILT_TOLERANCE * math.sqrt(variance):
                break
            low, high = (tilt, high) if mean < total else (low, tilt)
            if low == MAX_SUM_TILT:
                break
            tilt = 2 * low if math.isinf(high) else (low + high) / 2
        return tilt

    def compute_window(self, tilt: float, total: int) -> int:
        """Return a distance w such that the tilted sum is almost certainly within w of `total`.

        With t = `total`, the Chernoff bound for a step h > 0 is P(S ≥ t + w) ≤ M(θ + h) / M(θ)·
        e^{−h·(t + w)}. The step −h gives the bound for sums below t − w.
        """
        log_mean, _, variance = self.compute_cumulants(tilt)
        if not variance:
            return 1
        steps = np.minimum(STEPS / math.sqrt(variance), MAX_SUM_TILT)
        steps = np.concatenate([steps, -steps])
        widths = [
            (self.compute_cumulants(tilt + h)[0] - log_mean - h * total - LOG_NEGLIGIBLE_SUM)
            / abs(h)
            for h in steps.tolist()
        ]
        above, below = float(min(widths[: len(STEPS)])), float(min(widths[len(STEPS) :]))
        return 1 + math.ceil(max(above, below, 0.0))


def list_win_scores(trial_counts: Mapping[tuple[float, float], int]) -> list[Scores]:
    """Return the distribution of the score (1 for a win, 0 for a loss) of each kind of trial.

    trial_counts: the number of trials for each pair of the chance to win and the chance to lose.
        Trials with a certain result are left out.
    """
    return [
        Scores(np.array([0, 1]), np.array([lost, won]), count)
        for (won, lost), count in trial_counts.items()
        if won > 0 and lost > 0
    ]


def compute_win_tails(
    chances: Mapping[tuple[float, float], int],
    won: float,
    *,
    is_decided: bool = True,
    most_work: int = MAX_WORK,
) -> tuple[float, float]:
    """Return the probabilities that fair dice win at most, and at least, `won` trials.

    chances: the number of trials for each pair of the chance to win and the chance to lose. Both
        are given because the smaller chance may be less than the rounding error of the larger one.
    won: the number of wins, or the sum of the chances to win after the trials.
    is_decided: whether every trial is won or lost; otherwise upper bounds are returned.
    most_work: the maximum total length of the Fourier transforms. If an exact tail needs more, a
        normal approximation is used.

    >>> chances = {(0.9, 0.1): 1, (0.8, 0.2): 1, (0.7, 0.3): 1, (0.6, 0.4): 1}
    >>> at_most, at_least = compute_win_tails(chances, 1)
    >>> round(at_most, 6), round(at_least, 6)
    (0.0428, 0.9976)
    """
    parts = list_win_scores(chances)
    unsure = won - sum(count for (_, lost), count in chances.items() if not lost)
    if is_decided:
        return compute_tails_of_sum(parts, round(unsure), most_work) if parts else (1.0, 1.0)
    zeros = [part._replace(scores=-part.scores) for part in parts]
    return (bound_tail(zeros, -unsure), bound_tail(parts, unsure)) if parts else (1.0, 1.0)


def compute_share_interval(won: int, fought: int, level: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval for the share of battles won.

    won: the number of battles won.
    fought: the total number of battles.
    level: the minimum probability that the interval contains the true share.

    The interval is also valid if battles have different chances: a number of wins far from the mean
    is then less likely than if every battle had the mean chance (Hoeffding 1956).

    >>> [round(end, 3) for end in compute_share_interval(0, 10, 0.95)]
    [0.0, 0.308]
    """
    ends = []
    for side, outside in ((1, 0.0), (0, 1.0)):
        inside = won / fought
        if inside != outside:
            for _ in range(60):
                middle = (inside + outside) / 2
                chances = {(middle, 1 - middle): fought}
                tail = compute_win_tails(chances, won, most_work=MAX_WORK_PER_SUM)[side]
                inside, outside = (middle, outside) if tail > (1 - level) / 2 else (inside, middle)
        ends.append(outside)
    return ends[0], ends[1]
