"""Walk: the armies that one side has lost after many rolls with all dice.

While all dice are thrown, each roll takes X = 0, 1 ... m armies from a side, with the same chances
p_0 .. p_m each time. After s rolls the side has lost L = X_1 + ... + X_s. With μ the mean of X and
x_k = k − μ, the generating function of L about its mean is M(w)^s, where

    M(w) = Σ_k p_k · e^(w·x_k),        P(L = l) = 1 / 2π · ∫ M(w)^s · e^(−w·(l − s·μ)) dθ,

w = τ + iθ, over the circle −π ≤ θ ≤ π, for any tilt τ. The trapezoidal rule converges
exponentially, and with a step in units of 1/σ the number of its nodes does not grow with s
(Trefethen and Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014).
With τ where the integrand is smallest on the real axis, no digits are lost to cancellation, even
where P is tiny (the saddle point; Daniels, "Saddlepoint approximations in statistics", 1954).

M is computed from its second-order remainder, since Σ p_k · x_k = 0:

    Re M − 1 = Σ_k p_k · (e^u − 1 − u)  −  Σ_k p_k · e^u · 2 sin²(t / 2),
    Im M     = Σ_k p_k · ((e^u − 1) · sin t  +  (sin t − t)),          u = τ·x_k,  t = θ·x_k,

and l − s·μ in whole numbers, so that 10^12 armies lose no digits either.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.rules.roll import loss_law
from iacta.rules.rules import Rules

__all__ = [
    "Walk",
    "attackers_walk",
    "defenders_walk",
    "excess",
    "log_generating",
    "probabilities",
    "tilted_variance",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Complex: TypeAlias = npt.NDArray[np.complex128]

STEPS_OF_SIGMA = 9.0  # copies of the law at this distance weigh less than e^(−9² / 2) = 3e-18
WIDTH = 8.7  # beyond this many 1/σ the integrand is below e^(−8.7² / 2) = 4e-17
LEAST_SIGMA = 25.0  # below it, the integrand is not yet as good as a bell
LOG_OF_NOTHING = -700.0
NEWTON_STEPS = 60
SETTLED = 0.05
MOST_TILT = 40.0
MOST_TOTAL = 10**9  # up to these, products stay below 2^63
MOST_CELLS = 2**12  # rows of that many nodes fit into a processor's cache


class Walk(NamedTuple):
    """The law of one side's losses in a roll with all dice.

    counts: the equally likely rolls in which it loses 0, 1 ... m armies.
    total: all of them.
    """

    counts: tuple[int, ...]
    total: int

    @property
    def chances(self) -> Floats:
        """The chances p_k."""
        return np.array([count / self.total for count in self.counts])

    @property
    def mean(self) -> float:
        """The mean μ."""
        return sum(k * count for k, count in enumerate(self.counts)) / self.total

    @property
    def steps(self) -> Floats:
        """What each number of losses exceeds the mean by, x_k, correctly rounded."""
        lost = sum(k * count for k, count in enumerate(self.counts))
        return np.array([(k * self.total - lost) / self.total for k in range(len(self.counts))])

    @property
    def variance(self) -> float:
        """The variance of X."""
        return float(self.chances @ self.steps**2)


@lru_cache(maxsize=256)
def attackers_walk(rules: Rules) -> Walk:
    """Return the walk of the attackers.

    rules: the rules of the battle.

    >>> attackers_walk(Rules())
    Walk(counts=(2890, 2611, 2275), total=7776)
    """
    law = loss_law(*rules.full_roll, rules)
    return Walk(law.counts[::-1], law.total)


@lru_cache(maxsize=256)
def defenders_walk(rules: Rules) -> Walk:
    """Return the walk of the defenders.

    rules: the rules of the battle.

    >>> defenders_walk(Rules())
    Walk(counts=(2275, 2611, 2890), total=7776)
    """
    law = loss_law(*rules.full_roll, rules)
    return Walk(law.counts, law.total)


def excess(walk: Walk, losses: int, rolls: int) -> float:
    """Return by how much some losses exceed the mean, l − s·μ, correctly rounded.

    walk: the walk.
    losses: l.
    rolls: s.

    >>> excess(attackers_walk(Rules()), 10**12, 10**12)
    79089506172.83951
    """
    lost = sum(k * count for k, count in enumerate(walk.counts))
    return (losses * walk.total - rolls * lost) / walk.total


def log_generating(walk: Walk, tilts: Floats, angles: Floats) -> Complex:
    """Return log M(τ + iθ).

    walk: the walk.
    tilts: τ, one for each row.
    angles: θ, one for each node, or a row of them for each tilt.

    An array of a row for each tilt, and in it one entry for each node.
    """
    p, x = walk.chances, walk.steps
    real, imaginary = np.zeros((2, len(tilts), angles.shape[-1]))
    for chance, step in zip(p, x, strict=True):
        u = (tilts * step)[:, np.newaxis]
        half = angles * (step / 2)
        sine = np.sin(half)
        real += chance * (_exp2(u) - 2 * np.exp(u) * sine**2)
        imaginary += chance * (np.expm1(u) * (2 * sine * np.cos(half)) + _sin3(2 * half))
    excess_of_square = real * (2 + real) + imaginary**2
    vanishes = excess_of_square <= -1
    size = 0.5 * np.log1p(np.where(vanishes, 0.0, excess_of_square))
    return np.where(vanishes, LOG_OF_NOTHING, size) + 1j * np.arctan2(imaginary, 1 + real)


def _exp2(u: Floats) -> Floats:
    """Return e^u − 1 − u, without cancellation for small u."""
    small = np.where(np.abs(u) < 0.5, u, 0.0)
    series = np.ones_like(u)
    for k in range(14, 2, -1):
        series = 1 + small / k * series
    return np.where(np.abs(u) < 0.5, small * small / 2 * series, np.expm1(u) - u)


def _sin3(t: Floats) -> Floats:
    """Return sin t − t, without cancellation for small t."""
    largest = float(np.abs(t).max(initial=0.0))
    if largest >= 1:
        near = np.abs(t) < 0.9
        return np.where(near, _sin3(np.where(near, t, 0.0)), np.sin(t) - t)
    square, series = t * t, np.ones_like(t)
    for k in range(17 if largest > 0.1 else 9, 3, -2):
        series *= square
        series *= -1 / (k * (k - 1))
        series += 1
    return -t * square / 6 * series


def probabilities(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    """Return the chances P(L = l).

    walk: the walk.
    rolls: s, one for each answer, at least 1.
    losses: l, one for each answer.

    Floats. Their relative error is at most 1e-12 where they are not below 1e-30.
    """
    found = np.empty(len(rolls))
    for first in range(0, len(rolls), MOST_CELLS):
        cells = slice(first, first + MOST_CELLS)
        found[cells] = _probabilities(walk, rolls[cells], losses[cells])
    return found


def _probabilities(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    beyond = _excesses(walk, rolls, losses)
    tilts, variances = _saddles(walk, beyond / rolls, rolls)
    sigmas = np.sqrt(rolls * variances)[:, np.newaxis]
    nodes = int(np.ceil(WIDTH * STEPS_OF_SIGMA / (2 * np.pi)))
    if sigmas.min() < LEAST_SIGMA:
        nodes *= 3
    # The whole circle, where it is short, has its last node at π, which is its own mirror image.
    step = np.minimum(2 * np.pi / (STEPS_OF_SIGMA * sigmas), np.pi / nodes)
    angles = step * np.arange(nodes + 1.0)
    logarithms = log_generating(walk, tilts, angles)
    exponents = rolls[:, np.newaxis] * logarithms
    exponents -= beyond[:, np.newaxis] * (tilts[:, np.newaxis] + 1j * angles)
    terms = np.exp(exponents).real
    terms[:, [0, -1]] /= 2
    return np.asarray(terms.sum(axis=1) * step[:, 0] / np.pi)


def _excesses(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    """Return l − s·μ, right but for the last roundings while s stays below 10^15."""
    lost = sum(k * count for k, count in enumerate(walk.counts))
    if walk.total > MOST_TOTAL:
        exact = losses.astype(object) * walk.total - rolls.astype(object) * lost
        return np.asarray(exact / walk.total, dtype=float)
    quotient, rest = divmod(lost, walk.total)
    whole = losses - rolls * quotient
    turns, part = np.divmod(rolls, walk.total)
    # rolls · rest / total = turns · rest + part · rest / total, each piece small
    return np.asarray((whole - turns * rest).astype(float) - part * rest / walk.total)


def tilted_variance(walk: Walk, tilt: float) -> float:
    """Return the variance of X under a tilt: the second derivative of log M.

    walk: the walk.
    tilt: τ.

    >>> walk = attackers_walk(Rules())
    >>> round(tilted_variance(walk, 0.0), 12) == round(walk.variance, 12)
    True
    """
    _, second = _slopes(walk, np.array([tilt]))
    return float(second[0])


def _slopes(walk: Walk, tilts: Floats) -> tuple[Floats, Floats]:
    """Return the first two derivatives of log M on the real axis."""
    p, x = walk.chances, walk.steps
    exponents = np.outer(tilts, x)
    weights = p * np.exp(exponents - exponents.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    first = weights @ x
    return first, ((x - first[:, np.newaxis]) ** 2 * weights).sum(axis=1)


def _saddles(walk: Walk, slopes: Floats, rolls: Whole) -> tuple[Floats, Floats]:
    """Return the tilts at which log M has the given slopes, and its second derivative there.

    A tilt need only be near in units of 1/σ: the integral is the same for all.
    """
    tilts = np.clip(slopes / walk.variance, -1, 1)
    for _ in range(NEWTON_STEPS):
        first, second = _slopes(walk, tilts)
        moves = np.clip((first - slopes) / np.maximum(second, 1e-30), -1, 1)
        tilts = np.clip(tilts - moves, -MOST_TILT, MOST_TILT)
        if (moves**2 * second * rolls).max(initial=0.0) < SETTLED**2:
            break
    return tilts, _slopes(walk, tilts)[1]
