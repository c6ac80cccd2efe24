"""Leap: the odds of armies of any size, from one integral and a small table.

The walk. While both sides roll all their dice, each roll takes X = 0, 1 ... m armies from a side,
with fixed probabilities p_0 .. p_m, and m − X armies from the other side. After s rolls the side
has lost L = X_1 + ... + X_s. Let μ be the mean of X and x_k = k − μ. The generating function of L
about its mean is M(w)^s, where

    M(w) = Σ_k p_k · e^(w·x_k),        P(L = l) = 1 / 2π · ∫ M(w)^s · e^(−w·(l − s·μ)) dθ,

w = τ + iθ, over the circle −π ≤ θ ≤ π, for any tilt τ. The trapezoidal rule converges
exponentially. With a step in units of 1/σ, its number of nodes does not grow with s (Trefethen and
Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014). If τ minimises the
integrand on the real axis, there is no cancellation, even for tiny P (the saddle point; Daniels,
"Saddlepoint approximations in statistics", 1954). Because Σ p_k · x_k = 0, M can be computed from
its second-order remainder:

    Re M − 1 = Σ_k p_k · (e^u − 1 − u)  −  Σ_k p_k · e^u · 2 sin²(t/2),
    Im M     = Σ_k p_k · ((e^u − 1) · sin t  +  (sin t − t)),          u = τ·x_k,  t = θ·x_k.

The difference l − s·μ is computed in whole numbers, so even 10^12 armies lose no digits.

The chance. After s rolls with all dice, the attackers have lost L armies. All states (a − L, d −
m·s + L) lie on the diagonal with n = a + d − m·s armies. Choose s such that n is about 128. Armies
never grow. If a walk reaches a state of this diagonal in which both sides have enough armies for
all their dice, all dice were therefore rolled every time. A walk past an end of the diagonal leaves
one side with a few armies against about n, and that side almost surely loses. Let V(x) be the
chance to win with x attackers against n − x defenders, with V(x) = 1 for x > n. Then

    P(a, d) = Σ_l  P(L = l) · V(a − l),

up to the chance of a few armies against n. The program doubles n until this chance is at most 1e-15
of P. Let G(w) = Σ_x V(x) · e^(w·x), whose terms past the end of the diagonal are a geometric series
if τ < 0. The sum is a single integral,

    P(a, d) = 1 / 2π · ∫ M(w)^s · e^(−w·(a − s·μ)) · G(w) dθ.

The trapezoidal rule takes about 70 nodes for any s. The program computes the smaller of the
chances to win and to lose. The chance of the defenders is the same sum with their losses and table.

The survivors. Let i and j be the numbers of attack and defence dice. In a battle that reaches a
state with a ≥ i and d ≥ j, every roll has had all dice. The probability of visiting this state is
therefore a probability of the walk,

    X(a, d) = P(L = A − a)   after   s = (A + D − a − d) / m   rolls.

The next roll may leave fewer than i attackers or j defenders. These states form two strips, of
j − 1 rows and of i − 1 columns, in which a few rolls end the battle. `lattice.run_forward` carries
the probabilities through the strips to the end. Negligible cells are left out. By Hoeffding's
inequality, the distance of L from its mean exceeds m·√(s·ln(2 / ε) / 2) with a probability of at
most ε. Let r be the smaller of both sides' chances to win. Cells of a strip are left out with
ε = 1e-20·r, and armies that almost never fight with ε = 1e-15·r, or 1e-30. The omitted probability
is therefore small compared with each side's chance, and so is the error of each conditional
distribution. In battles of up to a million states `lattice` visits all states, so nothing is left
out.

Error: a relative error of at most 1e-12, if the chance and its complement are above 1e-150. (The
largest observed error is 3e-13 near this limit, and 5e-14 above 1e-15, in comparisons with
fractions for up to some thousand armies, and with 30 digits for up to 10^12.) Chances below 1e-150
are returned as 0.
Under rules by which a few armies can beat 1024 others with a chance f above 1e-165, the bound holds
for chances above 1e15·f.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil, inf, isqrt, log, pi, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.methods.kernel import MAX_KERNEL_STEPS, Chances, Error, Floats, RollKernel, State, Values
from iacta.methods.lattice import Lattice, Steps, compute_steps, run_forward
from iacta.probability.distribution import Distribution
from iacta.rules.roll import loss_counts
from iacta.rules.rules import Rules

LEAP = "leap"

Whole: TypeAlias = npt.NDArray[np.int64]
Complex: TypeAlias = npt.NDArray[np.complex128]

RELATIVE_ERROR = 1e-12
MIN_LEAP_CHANCE = 1e-150  # smallest chance with an error bound; smaller chances become 0
TABLE_SIZE = 256
MAX_LEAP_ARMIES = 10**18  # keeps products within 64 bits
MAX_FULL_STATES = 10**6  # maximum number of states to visit with `lattice`
MAX_FULL_ROWS = 5000  # maximum number of defenders in a battle to solve with `lattice`
STEPS_PER_OUTCOME = 2500
LIKELY_OUTCOMES = 16  # ratio of the number of likely outcomes to √(fighting armies)
MIN_OUTCOME = 1e-18  # minimum chance of a listed outcome, given the winner

DIAGONALS = (128, 256, 512, 1024)
RARE_DIAGONAL = 1e-15  # chance below which a longer diagonal may be needed
NEGLIGIBLE = 1e-15  # negligible part of a chance
LOG_NEGLIGIBLE = -400.0
MIN_SIGMA = 12.0  # standard deviation above which the integrand is almost a bell curve
BELL_STEP = 9.0  # copies of the bell curve at this distance weigh less than e^(−9² / 2) = 3e-18
POLE_STEP = 37.0  # copies of the geometric series at this distance weigh less than e^−37 = 1e-16
BELL_WIDTH = 8.7  # half-width in units of 1/σ, where the integrand is e^(−8.7² / 2) = 4e-17
TILTS: Floats = -np.geomspace(1e-9, 40, 500)

MIN_SIGMA_OF_A_CELL = 25.0
LOG_ZERO = -700.0
NEWTON_STEPS = 60
SETTLED = 0.05
MAX_TILT = 40.0
MAX_TOTAL = 10**9  # keeps products below 2^63
MAX_NODES_PER_ROW = 2**12  # nodes per row; fits a processor's cache

OMITTED = 1e-20  # probability that may be omitted, relative to the smaller chance to win


class Walk(NamedTuple):
    """The distribution of one side's losses in a roll with all dice of both sides.

    counts: the numbers of equally likely rolls in which this side loses 0, 1 ... m armies.
    total: the total number of equally likely rolls.
    """

    counts: tuple[int, ...]
    total: int

    @property
    def chances(self) -> Floats:
        return np.array([count / self.total for count in self.counts])

    @property
    def mean(self) -> float:
        return sum(k * count for k, count in enumerate(self.counts)) / self.total

    @property
    def steps(self) -> Floats:
        """The differences x_k = k − μ from the mean for k = 0 .. m, correctly rounded."""
        lost = sum(k * count for k, count in enumerate(self.counts))
        return np.array([(k * self.total - lost) / self.total for k in range(len(self.counts))])

    @property
    def variance(self) -> float:
        return float(self.chances @ self.steps**2)


@lru_cache(maxsize=256)
def compute_attackers_walk(rules: Rules) -> Walk:
    """Return the distribution of the attackers' losses in a roll with all dice.

    >>> compute_attackers_walk(Rules())
    Walk(counts=(2890, 2611, 2275), total=7776)
    """
    losses = loss_counts(*rules.full_roll, rules)
    return Walk(losses.counts[::-1], losses.total)


@lru_cache(maxsize=256)
def compute_defenders_walk(rules: Rules) -> Walk:
    """Return the distribution of the defenders' losses in a roll with all dice.

    >>> compute_defenders_walk(Rules())
    Walk(counts=(2275, 2611, 2890), total=7776)
    """
    losses = loss_counts(*rules.full_roll, rules)
    return Walk(losses.counts, losses.total)


def compute_excess(walk: Walk, losses: int, rolls: int) -> float:
    """Return l − s·μ: the losses in a number of rolls minus their mean, correctly rounded.

    walk: the distribution of the losses in one roll.
    losses: l, the armies lost in all rolls.
    rolls: s, the number of rolls.

    >>> compute_excess(compute_attackers_walk(Rules()), 10**12, 10**12)
    79089506172.83951
    """
    lost = sum(k * count for k, count in enumerate(walk.counts))
    return (losses * walk.total - rolls * lost) / walk.total


def compute_log_generating(walk: Walk, tilts: Floats, angles: Floats) -> Complex:
    """Return log M(τ + iθ), the logarithm of the generating function of one roll.

    walk: the distribution of the losses in one roll.
    tilts: τ for each row.
    angles: θ for each column, either the same for all rows or one row for each τ.

    Return an array with one row for each τ and one column for each θ.
    """
    p, x = walk.chances, walk.steps
    real, imaginary = np.zeros((2, len(tilts), angles.shape[-1]))
    for chance, step in zip(p, x, strict=True):
        u = (tilts * step)[:, np.newaxis]
        half = angles * (step / 2)
        sine = np.sin(half)
        real += chance * (exp_remainder(u) - 2 * np.exp(u) * sine**2)
        imaginary += chance * (np.expm1(u) * (2 * sine * np.cos(half)) + sin_remainder(2 * half))
    excess_of_square = real * (2 + real) + imaginary**2
    vanishes = excess_of_square <= -1
    size = 0.5 * np.log1p(np.where(vanishes, 0.0, excess_of_square))
    return np.where(vanishes, LOG_ZERO, size) + 1j * np.arctan2(imaginary, 1 + real)


def exp_remainder(u: Floats) -> Floats:
    """Return e^u − 1 − u without cancellation for small u."""
    small = np.where(np.abs(u) < 0.5, u, 0.0)
    series = np.ones_like(u)
    for k in range(14, 2, -1):
        series = 1 + small / k * series
    return np.where(np.abs(u) < 0.5, small * small / 2 * series, np.expm1(u) - u)


def sin_remainder(t: Floats) -> Floats:
    """Return sin t − t without cancellation for small t."""
    largest = float(np.abs(t).max(initial=0.0))
    if largest >= 1:
        near = np.abs(t) < 0.9
        return np.where(near, sin_remainder(np.where(near, t, 0.0)), np.sin(t) - t)
    square, series = t * t, np.ones_like(t)
    for k in range(17 if largest > 0.1 else 9, 3, -2):
        series *= square
        series *= -1 / (k * (k - 1))
        series += 1
    return -t * square / 6 * series


def compute_probabilities(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    """Return P(L = l), the probability of losing l armies in s rolls.

    walk: the distribution of the losses in one roll.
    rolls: s for each result, at least 1.
    losses: l for each result.

    Returns floats. The relative error of probabilities of at least 1e-30 is at most 1e-12.
    """
    found = np.empty(len(rolls))
    for first in range(0, len(rolls), MAX_NODES_PER_ROW):
        cells = slice(first, first + MAX_NODES_PER_ROW)
        found[cells] = _compute_probabilities(walk, rolls[cells], losses[cells])
    return found


def _compute_probabilities(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    beyond = _compute_excesses(walk, rolls, losses)
    tilts, variances = _compute_saddles(walk, beyond / rolls, rolls)
    sigmas = np.sqrt(rolls * variances)[:, np.newaxis]
    nodes = int(np.ceil(BELL_WIDTH * BELL_STEP / (2 * np.pi)))
    if sigmas.min() < MIN_SIGMA_OF_A_CELL:
        nodes *= 3
    # If few nodes cover the whole half circle, the last node π is its own mirror image.
    step = np.minimum(2 * np.pi / (BELL_STEP * sigmas), np.pi / nodes)
    angles = step * np.arange(nodes + 1.0)
    logarithms = compute_log_generating(walk, tilts, angles)
    exponents = rolls[:, np.newaxis] * logarithms
    exponents -= beyond[:, np.newaxis] * (tilts[:, np.newaxis] + 1j * angles)
    terms = np.exp(exponents).real
    terms[:, [0, -1]] /= 2
    return np.asarray(terms.sum(axis=1) * step[:, 0] / np.pi)


def _compute_excesses(walk: Walk, rolls: Whole, losses: Whole) -> Floats:
    lost = sum(k * count for k, count in enumerate(walk.counts))
    if walk.total > MAX_TOTAL:
        exact = losses.astype(object) * walk.total - rolls.astype(object) * lost
        return np.asarray(exact / walk.total, dtype=float)
    quotient, rest = divmod(lost, walk.total)
    whole = losses - rolls * quotient
    turns, part = np.divmod(rolls, walk.total)
    # rolls · rest / total = turns · rest + part · rest / total, without the large product
    return np.asarray((whole - turns * rest).astype(float) - part * rest / walk.total)


def compute_tilted_variance(walk: Walk, tilt: float) -> float:
    """Return the second derivative of log M at τ: the variance of the losses in a tilted roll.

    walk: the distribution of the losses in one roll.
    tilt: τ.

    >>> walk = compute_attackers_walk(Rules())
    >>> round(compute_tilted_variance(walk, 0.0), 12) == round(walk.variance, 12)
    True
    """
    _, second = _compute_slopes(walk, np.array([tilt]))
    return float(second[0])


def _compute_slopes(walk: Walk, tilts: Floats) -> tuple[Floats, Floats]:
    """Return the first two derivatives of log M on the real axis."""
    p, x = walk.chances, walk.steps
    exponents = np.outer(tilts, x)
    weights = p * np.exp(exponents - exponents.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    first = weights @ x
    return first, ((x - first[:, np.newaxis]) ** 2 * weights).sum(axis=1)


def _compute_saddles(walk: Walk, slopes: Floats, rolls: Whole) -> tuple[Floats, Floats]:
    """Return the tilts at which log M(tilt) has the given slopes, and its second derivatives there.

    M is the moment generating function of one roll.

    The tilts may be approximate, because the integral does not depend on the tilt.
    """
    tilts = np.clip(slopes / walk.variance, -1, 1)
    for _ in range(NEWTON_STEPS):
        first, second = _compute_slopes(walk, tilts)
        moves = np.clip((first - slopes) / np.maximum(second, 1e-30), -1, 1)
        tilts = np.clip(tilts - moves, -MAX_TILT, MAX_TILT)
        if (moves**2 * second * rolls).max(initial=0.0) < SETTLED**2:
            break
    return tilts, _compute_slopes(walk, tilts)[1]


@lru_cache(maxsize=16)
def _build_table(rules: Rules) -> Floats:
    return Lattice(rules).win_table(TABLE_SIZE, TABLE_SIZE)


def _compute_chances(able: int, defenders: int, rules: Rules, min_survivors: int) -> Chances:
    """Return both chances, from the first diagonal that is long enough for the smaller one.

    If a side starts with too few armies for all its dice, or no diagonal is long enough, and the
    battle is not too large, visit all its states instead.
    """
    i, j = rules.full_roll
    moderate = able * defenders <= MAX_FULL_STATES and defenders <= MAX_FULL_ROWS
    if moderate and (able < i or defenders < j):
        return Lattice(rules).chances(able, defenders, min_survivors)
    for armies in DIAGONALS[DIAGONALS.index(_choose_diagonal(rules, RARE_DIAGONAL)) :]:
        chances = _leap(able, defenders, rules, min_survivors, armies)
        few, rarer = _bound_win_chance_of_few(armies, rules, min_survivors), min(chances)
        if few <= NEGLIGIBLE * rarer or few + rarer < MIN_LEAP_CHANCE:
            return chances
    return Lattice(rules).chances(able, defenders, min_survivors) if moderate else chances


def _leap(able: int, defenders: int, rules: Rules, min_survivors: int, armies: int) -> Chances:
    """Return both chances from the diagonal on which `armies` armies are left in total."""
    taken = min(rules.full_roll)
    rolls = max((able + defenders - armies) // taken, 0)
    near = able + defenders - taken * rolls
    won, lost = _build_diagonal(near, rules, min_survivors)
    if not rolls:
        winning, losing = float(won.values[able]), float(lost.values[defenders])
        return Chances(*((winning, 1 - winning) if winning < losing else (1 - losing, losing)))
    middle = able - rolls * compute_attackers_walk(rules).mean
    if won.values[round(min(max(middle, 0), near))] < 0.5:
        chance = _integrate(won, compute_attackers_walk(rules), able, rolls)
        return Chances(chance, 1.0 - chance)
    chance = _integrate(lost, compute_defenders_walk(rules), defenders, rolls)
    return Chances(1.0 - chance, chance)


class _Diagonal(NamedTuple):
    """One side's chances to win on a diagonal of n armies.

    values: V(x) for x = 0 .. n armies of this side.
    log_values: the logarithms of the values.
    log_series: log G(τ) at the `TILTS`.
    """

    values: Floats
    log_values: Floats
    log_series: Floats


@lru_cache(maxsize=64)
def _build_diagonal(armies: int, rules: Rules, min_survivors: int) -> tuple[_Diagonal, _Diagonal]:
    """Return the attackers' and the defenders' chances to win on a diagonal."""
    won, lost = np.zeros((2, armies + 1))
    won[armies], lost[armies] = 1.0, 1.0
    enough = np.arange(armies + 1) >= min_survivors
    lattice = Lattice(rules)
    wins = lattice.run_backward(Values(enough.astype(float), np.zeros(armies)))
    losses = lattice.run_backward(Values((~enough).astype(float), np.ones(armies)))
    for d, (winning, losing) in enumerate(zip(wins, losses, strict=True), start=1):
        won[armies - d] = winning[armies - d]
        lost[d] = losing[armies - d]
    return _build_side(won), _build_side(lost)


def _build_side(values: Floats) -> _Diagonal:
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    exponents = np.outer(TILTS, np.arange(len(values))) + log_values
    past = TILTS * len(values) - np.log(-np.expm1(TILTS))
    series = np.logaddexp(np.logaddexp.reduce(exponents, axis=1), past)
    return _Diagonal(values, log_values, series)


def _choose_diagonal(rules: Rules, chance: float) -> int:
    """Return the size of the first diagonal on which a side with few armies almost never wins.

    chance: the chance to compute, at most `RARE_DIAGONAL`. On the diagonal, the chance to win
        with a few armies must be negligible relative to this chance.

    If no diagonal is long enough, return the longest.
    """
    if not compute_attackers_walk(rules).variance:
        raise IllegalError(
            f"the method {LEAP!r} needs rules in which a roll with all dice has more than one "
            f"result, got {rules!r}"
        )
    for armies in DIAGONALS:
        if _bound_win_chance_of_few(armies, rules) < NEGLIGIBLE * chance:
            return armies
    if chance < RARE_DIAGONAL:
        return max(DIAGONALS[-1], _choose_diagonal(rules, RARE_DIAGONAL))
    raise IllegalError(
        f"the method {LEAP!r} needs rules in which a few armies almost never beat {DIAGONALS[-1]}, "
        f"got {rules!r}"
    )


def _bound_win_chance_of_few(armies: int, rules: Rules, min_survivors: int = 0) -> float:
    """Return the largest chance to win of a side with too few armies for all its dice."""
    won, lost = _build_diagonal(armies, rules, min_survivors)
    # Under some rules, fewer armies may have the better chance, so take the maximum.
    few_attackers, few_defenders = (
        won.values[: rules.attack.kept],
        lost.values[: rules.defence.kept],
    )
    return float(max(few_attackers.max(), few_defenders.max()))


@lru_cache(maxsize=64)
def _compute_log_at_tilts(walk: Walk) -> Floats:
    return compute_log_generating(walk, TILTS, np.zeros(1))[:, 0].real


def _integrate(side: _Diagonal, walk: Walk, armies: int, rolls: int) -> float:
    """Return Σ_l P(L = l) · V(armies − l), the chance of a side to win after some rolls.

    side: V, the chances on the diagonal.
    walk: the distribution of the losses in one roll.
    armies, rolls: the side's armies at the start, and the number of rolls before the diagonal.
    """
    beyond = compute_excess(walk, armies, rolls)
    heights = rolls * _compute_log_at_tilts(walk) - TILTS * beyond + side.log_series
    # Of nearly equal tilts, choose the tilt with the smallest exponents.
    best = int(np.argmax(heights <= heights.min() + 0.01))
    if heights[best] < LOG_NEGLIGIBLE:  # on the real axis the integrand bounds the integral
        return 0.0
    tilt = float(TILTS[best])
    angles, step = _choose_angles(walk, rolls, tilt, len(side.values))
    nodes = np.asarray(tilt + 1j * angles, dtype=complex)
    exponents = rolls * compute_log_generating(walk, np.array([tilt]), angles)[0] - nodes * beyond
    scale = float(side.log_series[best])
    is_whole = bool(angles[-1] > pi - step / 2)
    terms = (np.exp(exponents + scale) * _sum_series(side, nodes, scale, is_whole=is_whole)).real
    terms[0] /= 2
    if is_whole:  # the last node is its own mirror image
        terms[-1] /= 2
    return float(terms.sum() * step / pi)


def _choose_angles(walk: Walk, rolls: int, tilt: float, width: int) -> tuple[Floats, float]:
    """Return the angles of the nodes and the distance between them.

    The nodes cover the part of the half circle where the integrand is not negligible. The tilted
    distribution determines the last node. The wider of the tilted and the untilted distribution
    determines the distance between nodes.
    """
    sigma = sqrt(rolls * walk.variance)
    tilted = sqrt(rolls * compute_tilted_variance(walk, tilt))
    step = 2 * pi / max(BELL_STEP * max(sigma, tilted) - POLE_STEP / tilt, 2.0 * width)
    whole = ceil(pi / step)
    is_bell = min(sigma, tilted) > MIN_SIGMA
    count = ceil(BELL_WIDTH / (min(sigma, tilted) * step)) if is_bell else whole
    if count >= whole:
        count, step = whole, pi / whole
    return step * np.arange(count + 1.0), step


def _sum_series(side: _Diagonal, nodes: Complex, scale: float, *, is_whole: bool) -> Complex:
    """Return G(w) · e^(−scale) for each node w.

    nodes: w; all have the same real part.
    is_whole: whether the nodes divide the whole half circle from 0 to π.
    """
    tilt, length = nodes[0].real, len(side.values)
    weights = np.exp(side.log_values + tilt * np.arange(length) - scale)
    past = np.exp(nodes * length - scale) / -np.expm1(nodes)
    if is_whole:
        circle = np.fft.fft(weights, 2 * (len(nodes) - 1))
        return np.asarray(circle[: len(nodes)].conj() + past)
    turns = np.empty((len(nodes), length), dtype=complex)
    turns[:, 0] = 1.0
    turns[:, 1:] = np.exp(1j * nodes.imag)[:, np.newaxis]
    np.multiply.accumulate(turns, axis=1, out=turns)
    # einsum uses one thread; BLAS would start several threads that wait for each other.
    return np.asarray(np.einsum("ij,j->i", turns, weights) + past)


class Window(NamedTuple):
    """The chances of consecutive numbers of armies; all other numbers have negligible chances.

    first: the smallest number.
    chances: the chance of each number from `first` on.
    """

    first: int
    chances: Floats


class Ends(NamedTuple):
    """The distribution of the armies left at the end of a battle.

    attackers: the chances of the attackers left after a victory, garrison excluded.
    defenders: the chances of the defenders left after a defeat.
    """

    attackers: Window
    defenders: Window


class _Strip(NamedTuple):
    """One side of a battle in which the other side has too few armies for all its dice.

    armies, dice: this side's armies at the start and its largest number of dice.
    walk: the distribution of this side's losses in a roll with all dice.
    steps: `steps[i, j][k]` is the probability that the other side loses k armies, if this side
        rolls i dice and the other side j.
    """

    armies: int
    dice: int
    walk: Walk
    steps: Steps


def compute_ends(able: int, defenders: int, rules: Rules, margin: int, rare: float = 1.0) -> Ends:
    """Return the distribution of the armies left at the end of a battle.

    able: the attackers without the garrison; at least the number of attack dice.
    defenders: the armies on the defended territory; at least the number of defence dice.
    margin: a number of armies that almost never loses to a side with too few armies for all its
        dice.
    rules: the rules of the battle.
    rare: the smaller of the two sides' chances to win.

    The relative error is at most 1e-12 for chances above 1e-15 times `rare`.

    >>> from iacta.rules.rules import CLASSIC
    >>> left = compute_ends(853_400, 1_000_000, CLASSIC, margin=128)
    >>> round(float(left.attackers.chances.sum()), 10)
    0.4958367341
    """
    steps = compute_steps(*rules.full_roll, rules)
    i, j = rules.full_roll
    ours = _Strip(able, i, compute_attackers_walk(rules), steps)
    mirrored = {(e, f): step[::-1] for (f, e), step in steps.items()}
    theirs = _Strip(defenders, j, compute_defenders_walk(rules), mirrored)
    omitted = OMITTED * rare
    won, few_left = _run_along_strip(ours, theirs, margin, minimum=0, omitted=omitted)
    lost, few_lost = _run_along_strip(theirs, ours, margin, minimum=j, omitted=omitted)
    return Ends(_add_few(won, few_lost, omitted), _add_few(lost, few_left, omitted))


def _add_few(window: Window, few: dict[int, float], omitted: float) -> Window:
    """Add chances to a window; widen the window for chances above `omitted`.

    few: the chances to add, by number of armies.
    """
    past = window.first + len(window.chances)
    missing = [
        number
        for number, chance in few.items()
        if chance > omitted and not window.first <= number < past
    ]
    if missing:
        first = min(window.first, *missing)
        padded = np.zeros(max(past, *(number + 1 for number in missing)) - first)
        padded[window.first - first : past - first] = window.chances
        window = Window(first, padded)
    for number, chance in few.items():
        if 0 <= number - window.first < len(window.chances):
            window.chances[number - window.first] += chance
    return window


def _run_along_strip(
    ours: _Strip, theirs: _Strip, margin: int, minimum: int, omitted: float
) -> tuple[Window, dict[int, float]]:
    """Return the chances of the armies left to us, and of the armies left to them.

    Only battles that end in our strip are counted. In this strip they have too few armies for all
    their dice. States in which both sides have too few armies must belong to only one strip.

    margin: see `compute_ends`.
    minimum: the fewest armies with which we may enter the strip.
    omitted: states with a smaller chance may be left out.
    """
    last = theirs.dice + _count_taken(ours)
    cells = [_visit_probabilities(ours, theirs, y, omitted) for y in range(theirs.dice, last)]
    lowest = min((int(xs[0]) for xs, _ in cells if len(xs)), default=0)
    highest = max((int(xs[-1]) for xs, _ in cells if len(xs)), default=0)
    first = max(lowest - margin - _count_taken(ours), 0)
    rows = _compute_entry_chances(ours, theirs, cells, minimum - first, first, highest - first + 1)
    left, few = rows[0], dict.fromkeys(range(1, theirs.dice), 0.0)
    for y in range(1, theirs.dice):
        won, held = run_forward(rows[y], y, ours.steps)
        left += won
        for number, (chance,) in held.items():
            few[number] += float(chance) if first == 0 else 0.0
    return Window(first, left), few


def _count_taken(side: _Strip) -> int:
    return len(side.walk.counts) - 1


def _visit_probabilities(
    ours: _Strip, theirs: _Strip, y: int, omitted: float
) -> tuple[Whole, Floats]:
    """Return numbers x of our armies, and the probabilities of visiting the states x against y."""
    if y > theirs.armies:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    taken, armies = _count_taken(ours), ours.armies + theirs.armies
    share = ours.walk.mean / taken  # our average share of the losses
    middle = (ours.armies - share * (armies - y)) / (1 - share)
    width = _bound_deviation(taken, armies // taken, omitted) / (1 - share)
    last = min(ceil(middle + width), ours.armies)
    last -= (last - (armies - y)) % taken  # each roll takes m armies
    first = max(int(middle - width), ours.dice)
    xs = np.arange(last, first - 1, -taken, dtype=np.int64)[::-1]
    rolls = (armies - y - xs) // taken
    chances = np.where(rolls == 0, 1.0, 0.0)
    some = rolls > 0
    chances[some] = compute_probabilities(ours.walk, rolls[some], ours.armies - xs[some])
    return xs, chances


def _bound_deviation(taken: int, rolls: int, chance: float) -> float:
    """Return a bound on the deviation of losses from their mean, by Hoeffding's inequality.

    chance: the maximum chance of a deviation beyond the bound.
    """
    return taken * sqrt(rolls * log(2 / chance) / 2)


def _compute_entry_chances(
    ours: _Strip,
    theirs: _Strip,
    cells: list[tuple[Whole, Floats]],
    minimum: int,
    first: int,
    width: int,
) -> list[Floats]:
    """Return the chances to enter the strip with x armies against y: one array for each y.

    cells: the results of `_visit_probabilities` for the rows nearest to the strip.
    minimum: the fewest armies of this side on entry, counted from `first`.
    first, width: each array covers x = first .. first + width − 1.
    """
    taken = _count_taken(ours)
    rows = [np.zeros(width) for _ in range(theirs.dice)]
    step = ours.steps[ours.dice, theirs.dice]
    for y, (xs, chances) in enumerate(cells, start=theirs.dice):
        for k in range(y - theirs.dice + 1, taken + 1):
            after = xs - (taken - k) - first
            inside = after >= max(minimum, 0)
            rows[y - k][after[inside]] += step[k] * chances[inside]
    return rows


def count_spare_armies(
    armies: int, others: int, walk: Walk, margin: int, rare: float = RARE_DIAGONAL
) -> int:
    """Return the number of a side's armies that almost never fight.

    armies: the number of armies of this side.
    others: the number of armies of the other side.
    walk: the distribution of the side's losses in a roll with all dice.
    margin, rare: as for `compute_ends`.

    >>> from iacta.rules.rules import CLASSIC
    >>> count_spare_armies(10**6, 10, compute_attackers_walk(CLASSIC), margin=128)
    999606
    """
    taken = len(walk.counts) - 1
    share, needed = walk.mean / taken, float(others)
    for _ in range(60):
        width = _bound_deviation(taken, ceil((needed + others) / taken), NEGLIGIBLE * rare)
        needed = (share * others + width) / (1 - share)
    return max(armies - ceil(needed) - margin, 0)


class Leap(RollKernel):
    """The kernel for battles of any size, in floats.

    >>> from iacta.rules.rules import CLASSIC
    >>> leap = Leap(CLASSIC)
    >>> round(leap.win_probability(853_400_000, 10**9), 12)
    0.376738111582
    >>> won, lost = leap.chances(87_000, 100_000)
    >>> round(won, 6), f"{lost:.11e}"
    (0.999844, '1.55887520756e-04')
    """

    name = LEAP
    least_chance = MIN_LEAP_CHANCE

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` for more than 10^18 armies, and for rules that the method excludes.

        Such rules let a few armies beat a thousand, or give a roll with all dice only one result.
        """
        if max(attackers, defenders) > MAX_LEAP_ARMIES:
            raise TooLargeError(f"armies must be at most 10^18 for the method {LEAP!r}")
        _choose_diagonal(self.rules, RARE_DIAGONAL)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a relative bound of 1e-12, which holds for chances above 1e-150."""
        return Error(RELATIVE_ERROR)

    def win_probability(self, attackers: int, defenders: int) -> float:
        """Return the chance to conquer the territory; small battles are looked up in a table."""
        self.refuse(attackers, defenders)
        if max(attackers, defenders) <= TABLE_SIZE and min(attackers, defenders) > 0:
            return float(_build_table(self.rules)[attackers - 1, defenders - 1])
        won, lost = self.chances(attackers, defenders)
        if won < MIN_LEAP_CHANCE:
            return 0.0
        return float(won if won < lost else 1 - lost)

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        """Return the chance to win with enough armies left, and the chance not to.

        The relative error of each chance above 1e-150 is at most 1e-12.
        """
        self.refuse(attackers, defenders)
        if attackers <= 0 or attackers < min_survivors or not defenders:
            won = not defenders and max(attackers, 0) >= min_survivors
            return Chances(float(won), float(not won))
        # If `min_survivors` is more than the number of dice, these armies never fight.
        spare = max(min_survivors - self.rules.attack.kept, 0)
        return _compute_chances(attackers - spare, defenders, self.rules, min_survivors - spare)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the final state.

        The relative error is at most 1e-12 for states with a chance above 1e-15, given the winner.
        In battles of more than a million states, final states with a chance below 1e-18, given the
        winner, may be left out, and so may all victories of a side whose chance to win is below
        1e-150. More than a million likely states, as in an even battle of about 10^9 armies, raise
        `TooLargeError`.
        """
        self.refuse(max(start), defenders)
        states: dict[State, float] = {}
        for attackers, weight in start.items():
            for state, probability in self._compute_absorbing_states(attackers, defenders):
                states[state] = states.get(state, 0.0) + float(weight) * probability
        return Distribution.from_probabilities(states)

    def _compute_absorbing_states(
        self, attackers: int, defenders: int
    ) -> Iterator[tuple[State, float]]:
        if attackers <= 0 or not defenders:
            yield State(attackers, defenders), 1.0
            return
        won, lost = map(float, self.chances(attackers, defenders))
        rarer = min(chance for chance in (won, lost) if chance >= MIN_LEAP_CHANCE)
        rare = min(rarer, RARE_DIAGONAL)
        near = _choose_diagonal(self.rules, rare)
        ours = count_spare_armies(
            attackers, defenders, compute_attackers_walk(self.rules), near, rare
        )
        theirs = count_spare_armies(
            defenders, attackers, compute_defenders_walk(self.rules), near, rare
        )
        fighting, against = attackers - ours, defenders - theirs
        i, j = self.rules.full_roll
        if fighting < i or against < j or fighting * against <= MAX_FULL_STATES:
            for state, chance in (
                Lattice(self.rules).run_forward(Distribution([fighting]), against).items()
            ):
                least = _compute_negligible_chance(lost if state.defenders else won)
                if chance > least or not (ours or theirs):
                    yield _add_spare(state, ours, theirs), float(chance)
            return
        _refuse_many(fighting + against)
        left = compute_ends(fighting, against, self.rules, near, rarer)
        for x, chance in _list_likely(left.attackers, won):
            yield State(x + ours, 0), chance
        for y, chance in _list_likely(left.defenders, lost):
            yield State(0, y + theirs), chance


def _add_spare(state: State, ours: int, theirs: int) -> State:
    """Add the armies that almost never fight to the winner's armies."""
    if state.defenders:
        return State(state.attackers, state.defenders + theirs)
    return State(state.attackers + ours, 0)


def _compute_negligible_chance(win_chance: float) -> float:
    """Return the chance below which an outcome is negligible.

    win_chance: the total chance to win of the side that wins in this outcome.
    """
    return MIN_OUTCOME * win_chance if win_chance >= MIN_LEAP_CHANCE else inf


def _list_likely(window: Window, win_chance: float) -> Iterator[tuple[int, float]]:
    """Yield each number of armies in a window whose chance is not negligible, with this chance.

    win_chance: the chance of the side of the window to win.
    """
    (indices,) = np.nonzero(window.chances > _compute_negligible_chance(win_chance))
    return zip((indices + window.first).tolist(), window.chances[indices].tolist(), strict=True)


def _refuse_many(armies: int) -> None:
    outcomes = LIKELY_OUTCOMES * isqrt(armies)
    if outcomes * STEPS_PER_OUTCOME > MAX_KERNEL_STEPS:
        raise TooLargeError(
            f"a battle of {quote(armies)} armies has about {outcomes:.0e} likely outcomes, which "
            "would take more than half a minute to list; the chance to win alone has no such limit"
        )
