"""Leap: the odds of armies of any size, in one step and a small table.

While all dice are thrown, a roll takes m armies: X from the attackers and the rest from the
defenders. After s such rolls the attackers have lost L = X_1 + ... + X_s, and all the states
(a − L, d − m·s + L) have n = a + d − m·s armies together. Choose s so that n is about 128. Armies
never grow, so a walk that stands on this diagonal with both sides strong enough for all their dice
has had all dice all the way; and one that has passed an end of the diagonal has left a side with
almost nothing against n others, which almost surely loses. With V(x), the chance to win with x
attackers against n − x defenders, and V(x) = 1 for x > n,

    P(a, d) = Σ_l  P(L = l) · V(a − l),

up to the chance of that almost nothing against n, below 1e-30 (n is doubled until it is).

The distribution of L is an integral (see `iacta.methods.walk`), and so is the whole sum. With
G(w) = Σ_x V(x) · e^(w·x), whose terms past the end of the diagonal are a geometric series if τ < 0,

    P(a, d) = 1 / 2π · ∫ M(w)^s · e^(−w·(a − s·μ)) · G(w) dθ,        w = τ + iθ.

The trapezoidal rule takes about 70 nodes, whatever s is. τ is where the integrand is smallest on
the real axis. The smaller of the chances to win and to lose is computed; the defenders' is the same
sum, with their own losses and their own table.

Error: at most 1e-12, relative, where the chance is between 1e-15 and 1 − 1e-15 (seen is 5e-14,
compared with fractions up to some thousand armies, and with 60 digits up to 10^12). A smaller
chance is right to 1e-27, and is 0 below 1e-25. Up to 256 armies on each side, chances are looked up
in a table of `lattice`, and have its relative error down to 1e-150.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil, pi, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import IllegalError, TooLargeError
from iacta.methods.garrisoned import garrisoned
from iacta.methods.kernel import Chances, Error, Floats, RollKernel, State, Values
from iacta.methods.lattice import Lattice
from iacta.methods.survivors import Window, ends, spare_armies
from iacta.methods.walk import (
    Walk,
    attackers_walk,
    defenders_walk,
    excess,
    log_generating,
    tilted_variance,
)
from iacta.rules.rules import Rules

__all__ = ["Leap"]

NAME = "leap"

Complex: TypeAlias = npt.NDArray[np.complex128]

RELATIVE_ERROR = 1e-12
LEAST_CHANCE = 1e-25
TABLE_SIZE = 256
MOST_LATTICE_ERROR = RELATIVE_ERROR  # below it, the distribution is left to `lattice`
LEAST_SIGMA = 12.0  # below it, the integrand is not yet close to a bell
MOST_WITH_OUTCOMES = 10**10
LEAST_OUTCOME = 1e-18
DIAGONALS = (128, 256, 512, 1024)
NEGLIGIBLE = 1e-30
LOG_OF_NEGLIGIBLE = -70.0
STEPS_OF_SIGMA = 9.0  # copies of the bell at this distance weigh less than e^(−9² / 2) = 3e-18
STEPS_OF_POLE = 37.0  # copies of the geometric series weigh less than e^−37 = 1e-16
WIDTH = 8.7  # beyond this many 1/σ the integrand is below e^(−8.7² / 2) = 4e-17
TILTS: Floats = -np.geomspace(1e-9, 40, 500)
MOST_ARMIES = 10**18


class Leap(RollKernel):
    """The kernel of battles of any size, in floats.

    >>> from iacta.rules.rules import CLASSIC
    >>> leap = Leap(CLASSIC)
    >>> round(leap.win_probability(853_400_000, 10**9), 12)
    0.376738111582
    >>> won, lost = leap.chances(87_000, 100_000)
    >>> round(won, 6), f"{lost:.11e}"
    (0.999844, '1.55887520756e-04')
    """

    name = NAME
    least_chance = 1e-15

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse more than 10^18 armies, and rules under which leaping is not accurate.

        These are rules under which a few armies can beat a thousand others, or under which a roll
        with all dice always ends the same way.
        """
        if max(attackers, defenders) > MOST_ARMIES:
            raise TooLargeError(f"armies must be at most 10^18 for the method {NAME!r}")
        _near(self.rules)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return 1e-12, for chances between 1e-15 and 1 − 1e-15."""
        return Error(RELATIVE_ERROR)

    def win_probability(self, attackers: int, defenders: int) -> float:
        """Return the chance to take the territory, looked up in a table where it is small."""
        self.refuse(attackers, defenders)
        if max(attackers, defenders) <= TABLE_SIZE and min(attackers, defenders) > 0:
            return float(_table(self.rules)[attackers - 1, defenders - 1])
        won, lost = self.chances(attackers, defenders)
        if won < LEAST_CHANCE:
            return 0.0
        return float(won if won < lost else 1 - lost)

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        """Return the chances to take the territory with enough armies left, and not to.

        The relative error of each is at most 1e-12 where it is above 1e-15.
        """
        self.refuse(attackers, defenders)
        if attackers <= 0 or attackers < keep or not defenders:
            won = not defenders and max(attackers, 0) >= keep
            return Chances(float(won), float(not won))
        # To keep more armies than are thrown dice is as if they stood aside and never fought.
        spare = max(keep - self.rules.attack.kept, 0)
        return _chances(attackers - spare, defenders, self.rules, keep - spare)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state, at a cost that grows as its likely ones.

        The relative error is at most 1e-12 for states with a probability above 1e-15; those below
        1e-18 may be left out. More than some million likely states, as battles of more than 10^10
        armies have if both sides may win, are refused: they would not fit into memory.
        """
        self.refuse(max(start), defenders)
        states: dict[State, float] = {}
        for attackers, weight in start.items():
            for state, probability in self._absorbed(attackers, defenders):
                states[state] = states.get(state, 0.0) + float(weight) * probability
        return Distribution.from_probabilities(states)

    def _absorbed(self, attackers: int, defenders: int) -> Iterator[tuple[State, float]]:
        """Yield the states in which a battle may end, and their probabilities."""
        if attackers <= 0 or not defenders:
            yield State(attackers, defenders), 1.0
            return
        near = _near(self.rules)
        ours = spare_armies(attackers, defenders, attackers_walk(self.rules), near)
        theirs = spare_armies(defenders, attackers, defenders_walk(self.rules), near)
        fighting, against = attackers - ours, defenders - theirs
        i, j = self.rules.full_roll
        lattice = Lattice(self.rules)
        error = lattice.error(fighting, against).relative
        if fighting < i or against < j or error <= MOST_LATTICE_ERROR:
            for state, chance in lattice.forward(Distribution([fighting]), against).items():
                if chance > LEAST_OUTCOME or not (ours or theirs):
                    yield _with_spare(state, ours, theirs), float(chance)
            return
        _refuse_many(fighting + against)
        left = ends(fighting, against, self.rules, near)
        for x, chance in _likely(left.attackers):
            yield State(x + ours, 0), chance
        for y, chance in _likely(left.defenders):
            yield State(0, y + theirs), chance


@lru_cache(maxsize=16)
def _table(rules: Rules) -> Floats:
    return Lattice(rules).win_table(TABLE_SIZE, TABLE_SIZE)


def _chances(able: int, defenders: int, rules: Rules, keep: int) -> Chances:
    taken = min(rules.full_roll)
    rolls = max((able + defenders - _near(rules)) // taken, 0)
    near = able + defenders - taken * rolls
    won, lost = _diagonal(near, rules, keep)
    if not rolls:
        return Chances(float(won.values[able]), float(lost.values[defenders]))
    middle = able - rolls * attackers_walk(rules).mean
    if won.values[round(min(max(middle, 0), near))] < 0.5:
        chance = _integral(won, attackers_walk(rules), able, rolls)
        return Chances(chance, 1.0 - chance)
    chance = _integral(lost, defenders_walk(rules), defenders, rolls)
    return Chances(1.0 - chance, chance)


class _Side(NamedTuple):
    """One side's chances on the diagonal.

    values: V(x), for x = 0 .. n armies of this side.
    log_values: their logarithms.
    log_series: log G(τ) at the `TILTS`.
    """

    values: Floats
    log_values: Floats
    log_series: Floats


@lru_cache(maxsize=64)
def _diagonal(armies: int, rules: Rules, keep: int) -> tuple[_Side, _Side]:
    """Return the attackers' and the defenders' chances where so many armies are left together."""
    won, lost = np.zeros((2, armies + 1))
    won[armies], lost[armies] = 1.0, 1.0
    enough = np.arange(armies + 1) >= keep
    lattice = Lattice(rules)
    wins = lattice.backward(Values(enough.astype(float), np.zeros(armies)))
    losses = lattice.backward(Values((~enough).astype(float), np.ones(armies)))
    for d, (winning, losing) in enumerate(zip(wins, losses, strict=True), start=1):
        won[armies - d] = winning[armies - d]
        lost[d] = losing[armies - d]
    return _side(won), _side(lost)


def _side(values: Floats) -> _Side:
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    exponents = np.outer(TILTS, np.arange(len(values))) + log_values
    past = TILTS * len(values) - np.log(-np.expm1(TILTS))
    series = np.logaddexp(np.logaddexp.reduce(exponents, axis=1), past)
    return _Side(values, log_values, series)


@lru_cache(maxsize=64)
def _near(rules: Rules) -> int:
    """Return how many armies to leap to: so many that a few of them almost surely lose."""
    if not attackers_walk(rules).variance:
        raise IllegalError(
            f"rules must let a roll with all dice end in more ways than one for the method "
            f"{NAME!r}, got {rules!r}"
        )
    for armies in DIAGONALS:
        won, lost = _diagonal(armies, rules, 0)
        few = won.values[rules.attack.kept - 1], lost.values[rules.defence.kept - 1]
        if max(few) < NEGLIGIBLE:
            return armies
    raise IllegalError(
        f"rules must let few armies as good as lose against {DIAGONALS[-1]} for the method "
        f"{NAME!r}, got {rules!r}"
    )


@lru_cache(maxsize=64)
def _log_at_tilts(walk: Walk) -> Floats:
    """Return log M(τ) at the `TILTS`."""
    return log_generating(walk, TILTS, np.zeros(1))[:, 0].real


def _integral(side: _Side, walk: Walk, armies: int, rolls: int) -> float:
    """Return Σ_l P(L = l) · V(armies − l)."""
    beyond = excess(walk, armies, rolls)
    heights = rolls * _log_at_tilts(walk) - TILTS * beyond + side.log_series
    best = int(np.argmin(heights))
    if heights[best] < LOG_OF_NEGLIGIBLE:  # P is at most the integrand there
        return 0.0
    tilt = float(TILTS[best])
    angles, step = _angles(walk, rolls, tilt, len(side.values))
    nodes = np.asarray(tilt + 1j * angles, dtype=complex)
    exponents = rolls * log_generating(walk, np.array([tilt]), angles)[0] - nodes * beyond
    scale = float(side.log_series[best])
    terms = (np.exp(exponents + scale) * _series(side, nodes, scale)).real
    terms[0] /= 2
    if angles[-1] > pi - step / 2:  # the last node is its own mirror image
        terms[-1] /= 2
    return float(terms.sum() * step / pi)


def _angles(walk: Walk, rolls: int, tilt: float, width: int) -> tuple[Floats, float]:
    """Return the nodes of half the circle, as far as the integrand matters, and their distance.

    The tilted law decides how far that is, and the wider of the two how dense they must be.
    """
    sigma = sqrt(rolls * walk.variance)
    tilted = sqrt(rolls * tilted_variance(walk, tilt))
    step = 2 * pi / max(STEPS_OF_SIGMA * max(sigma, tilted) - STEPS_OF_POLE / tilt, 2.0 * width)
    whole = ceil(pi / step)
    is_bell = min(sigma, tilted) > LEAST_SIGMA
    count = ceil(WIDTH / (min(sigma, tilted) * step)) if is_bell else whole
    if count >= whole:
        count, step = whole, pi / whole
    return step * np.arange(count + 1.0), step


def _series(side: _Side, nodes: Complex, scale: float) -> Complex:
    """Return G(w) · e^(−scale) for each node w; all have one real part."""
    tilt, length = nodes[0].real, len(side.values)
    weights = np.exp(side.log_values + tilt * np.arange(length) - scale)
    turns = np.empty((len(nodes), length), dtype=complex)
    turns[:, 0] = 1.0
    turns[:, 1:] = np.exp(1j * nodes.imag)[:, np.newaxis]
    np.multiply.accumulate(turns, axis=1, out=turns)
    past = np.exp(nodes * length - scale) / -np.expm1(nodes)
    # einsum works on one core: many for so little would only wait for each other.
    return np.asarray(np.einsum("ij,j->i", turns, weights) + past)


def _with_spare(state: State, ours: int, theirs: int) -> State:
    """Add the armies that almost never fight to those of the side that won."""
    if state.defenders:
        return State(state.attackers, state.defenders + theirs)
    return State(state.attackers + ours, 0)


def _likely(window: Window) -> Iterator[tuple[int, float]]:
    """Yield the numbers of a window whose chance is not negligible."""
    (places,) = np.nonzero(window.chances > LEAST_OUTCOME)
    return zip((places + window.first).tolist(), window.chances[places].tolist(), strict=True)


def _refuse_many(armies: int) -> None:
    if armies > MOST_WITH_OUTCOMES:
        raise TooLargeError(
            f"a battle in which {armies} armies matter must have at most {MOST_WITH_OUTCOMES:.0e} "
            f"of them for its outcomes one by one; its chance to win is had for any size"
        )


refuse, relative_error, outcomes, win_probability, values, value_rows, win_table = garrisoned(NAME)


def both_chances(attackers: int, defenders: int, rules: Rules, keep: int = 0) -> Chances:
    """Kept until nothing asks for it."""
    return Leap(rules).chances(attackers - rules.garrison, defenders, keep)
