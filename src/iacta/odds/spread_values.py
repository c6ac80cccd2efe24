"""The value of an attack on a chain of territories, for every spread of its defenders.

A spread d_1 ... d_k puts d_i armies on the i-th territory of a chain. The payoff of t conquered
territories is w_t. Let T(n, m; d) be the probability that n attackers conquer a territory from d
defenders and m attackers move in, and S(n; d) the probability that they fail. For a stack of n
attackers that has conquered t territories and has e_1 ... e_l defenders ahead, the value function
is

    V_t(n; e_1 ... e_l) = S(n; e_1) · w_t  +  Σ_m T(n, m; e_1) · V_{t+1}(m; e_2 ... e_l),

and V_t = w_t if no territory is ahead. At the start, A attackers choose the territory i that they
attack first. After this conquest, when their losses are known, they choose a direction:

    E_i = S(A; d_i) · w_0  +  Σ_m T(A, m; d_i) · max(V_1(m; d_{i−1} ... d_1),
                                                    V_1(m; d_{i+1} ... d_k)).

The value of the spread is max_i E_i. `Model.compute_value` evaluates these equations for one
spread.

`compute_all_values` evaluates the equations for all spreads together, with floats. Spreads with the
same last territories share a vector V. Spreads with the same first territories share the
distribution of the attackers that continue after them. Therefore a few matrix products give E_1 of
all spreads: about k/2 first territories times the rest. If the attack starts inside the chain, E_i
combines the vectors of the left and the right side. E_i of a spread equals E_{k+1−i} of its mirror
image, and half of the starts are enough.

If the attackers' value is close to its maximum w_k, the program minimises the complement instead,
with the payoff w_k − w_t. The compared numbers are then small and have full precision.

Error. The equations contain only sums and products of non-negative numbers. Therefore relative
errors add up; `bound_value_error` computes their sum.

Source: backward induction as in Bellman, "Dynamic programming" (1957); the model is iacta's own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import TooLargeError
from iacta.methods.kernel import UNIT_ROUNDOFF, Error, Floats, Kernel, Values, value_victories

Spread: TypeAlias = tuple[int, ...]
Whole: TypeAlias = npt.NDArray[np.int16]
Vector: TypeAlias = npt.NDArray[Any]

MAX_OUTCOME_BYTES = 2**30  # the memory limit for the outcomes of all battles


class Payoff(NamedTuple):
    """The payoff of the attackers for each number of conquered territories.

    values: the payoffs w_0, ..., w_k of 0 to k conquered territories.
    sign: 1 if the attackers maximise the payoff, −1 if they minimise it.
    """

    values: tuple[int, ...]
    sign: int = 1

    def choose_best(self, one: Vector, other: Vector) -> Vector:
        """Return the better entry of two vectors at each index."""
        return np.asarray((np.maximum if self.sign > 0 else np.minimum)(one, other))

    def is_useful_start(self, start: int) -> bool:
        """Return whether an attack that starts at the territory with this index can pay at all."""
        longest = max(start + 1, len(self.values) - 1 - start)
        return self.values[longest] != self.values[0]

    def complement(self) -> "Payoff":
        """Return the payoff of the opposite objective: the largest payoff minus each payoff.

        >>> Payoff((0, 1, 2)).complement()
        Payoff(values=(2, 1, 0), sign=-1)
        """
        return Payoff(tuple(self.values[-1] - value for value in self.values), -self.sign)


@dataclass(frozen=True)
class Model:
    """The value of an attack on a chain, one spread at a time.

    attackers: the size A of the stack at the start, garrison included.
    payoff: the payoff of the attackers.
    backward: a function that returns the expected values of a battle for 0 to A attackers. Its
        arguments are the values of a victory for each number of attackers that move in, the value
        of a defeat, and the number of defenders.
    cache: the vectors V that have been computed so far.

    >>> from iacta.methods import choose_kernel
    >>> from iacta.rules.rules import CLASSIC
    >>> model = make_kernel_model(4, Payoff((0, 0, 1)), choose_kernel(CLASSIC, exact=True), 1)
    >>> model.compute_value((1, 1))
    Fraction(108175, 186624)
    """

    attackers: int
    payoff: Payoff
    backward: Callable[[Vector, int, int], Vector]
    cache: dict[tuple[Spread, int], Vector] = field(default_factory=dict)

    def compute_value(self, spread: Spread, *, from_first: bool = False) -> Any:
        """Return the value that optimal attackers gain from a spread.

        from_first: whether the attack must start at the first territory.
        """
        ends = range(1 if from_first else len(spread))
        starts = filter(self.payoff.is_useful_start, ends)
        return max(
            (self._compute_start_value(spread, i) for i in starts),
            key=lambda value: self.payoff.sign * value,
        )

    def _compute_start_value(self, spread: Spread, start: int) -> Any:
        """Return E_i, the value if territory i = `start` + 1 is attacked first."""
        left, right = spread[:start][::-1], spread[start + 1 :]
        onward = self._compute_vector(left or right, 1)
        if left and right:
            onward = self.payoff.choose_best(onward, self._compute_vector(right, 1))
        return self.backward(onward, self.payoff.values[0], spread[start])[self.attackers]

    def _compute_vector(self, rest: Spread, taken: int) -> Vector:
        """Return V_t for 0 to A attackers, where t = `taken`, with the defenders `rest` ahead."""
        vector = np.full(self.attackers + 1, self.payoff.values[taken + len(rest)])
        for index in reversed(range(len(rest))):
            key = rest[index:], taken + index
            if key not in self.cache:
                value = self.payoff.values[taken + index]
                self.cache[key] = self.backward(vector, value, rest[index])
            vector = self.cache[key]
        return vector


def make_kernel_model(attackers: int, payoff: Payoff, kernel: Kernel, garrison: int) -> Model:
    """Return a model that computes with a kernel, in floats or fractions; fast for few spreads."""
    able = max(attackers - garrison, 0)

    def backward(won: Vector, lost: int, defenders: int) -> Vector:
        moved = value_victories(won[: able + 1], kernel.rules)
        values = Values(moved.tolist(), [lost] * (defenders + 1))
        row = kernel.value(values, defenders)
        staying = np.full(attackers - able, row[0], dtype=object if kernel.exact else float)
        return np.concatenate([staying, row[np.arange(able + 1)]])

    return Model(attackers, payoff, backward)


class Battles(NamedTuple):
    """The outcomes of all battles up to a size, garrison included.

    won: `won[d, n, m]` is the probability that n attackers conquer a territory from d defenders and
        m attackers move in.
    lost: `lost[d, n]` is the probability that n attackers fail against d defenders.
    """

    won: Floats
    lost: Floats

    def make_model(self, payoff: Payoff) -> Model:
        """Return a model that computes with floats; fast for many spreads."""

        def backward(won: Vector, lost: int, defenders: int) -> Vector:
            through = self.won[defenders] @ won.astype(float)
            return np.asarray(through + self.lost[defenders] * lost)

        return Model(self.won.shape[1] - 1, payoff, backward)


def tabulate_battles(attackers: int, defenders: int, kernel: Kernel, garrison: int) -> Battles:
    """Return the outcomes of all battles up to a size.

    attackers: the size of the stack at the start of the attack, garrison included.
    defenders: the largest number of defenders on a territory.

    Raises `TooLargeError` for tables of more than a GiB.
    """
    if 8 * (defenders + 1) * (attackers + 1) ** 2 > MAX_OUTCOME_BYTES:
        raise TooLargeError(
            "attackers and armies must be at most about 500 each for a spread, "
            f"got {quote(attackers)} and up to {quote(defenders)} in one territory"
        )
    able = max(attackers - garrison, 0)
    won = value_victories(np.eye(able + 1, attackers + 2), kernel.rules)
    lost = np.zeros((defenders + 1, attackers + 2))
    lost[:, -1] = 1.0
    ends = np.zeros((defenders + 1, attackers + 1, attackers + 2))
    ends[:, : attackers - able, -1] = 1.0
    for d, row in enumerate(kernel.run_backward(Values(won, lost)), start=1):
        ends[d, attackers - able :] = row
    return Battles(ends[:, :, :-1], ends[:, :, -1])


def bound_value_error(
    attackers: int, armies: int, territories: int, payoff: Payoff, kernel: Kernel
) -> Error:
    """Return a bound on the error of the value of every spread of a number of armies.

    Each battle adds the error of its probabilities and the rounding error of a sum over its
    outcomes. The matrix product of first and last territories adds another rounding error. An
    absolute error of the probabilities is multiplied by the largest payoff. The bounds do not hold
    for values below 1e-130.
    """
    battle = kernel.for_question("table", attackers, armies).error(attackers, armies)
    rounding = (attackers + armies + 6) * UNIT_ROUNDOFF
    relative = (territories + 1) * (battle.relative + rounding) * 1.01
    if not battle.absolute:
        return Error(relative)
    error = max(payoff.values) * ((attackers + 2) * battle.absolute + rounding)
    return Error(relative, (territories + 1) * error * 1.01)


def list_compositions(armies: int, territories: int) -> Whole:
    """Return all spreads with at least one army on each territory, in lexicographic order.

    >>> list_compositions(4, 2).tolist()
    [[1, 3], [2, 2], [3, 1]]
    """
    count = comb(armies - 1, territories - 1)
    chosen = chain.from_iterable(combinations(range(1, armies), territories - 1))
    cuts = np.zeros((count, territories + 1), dtype=np.int16)
    cuts[:, 1:-1] = np.fromiter(chosen, np.int16, count * (territories - 1)).reshape(count, -1)
    cuts[:, -1] = armies
    return np.diff(cuts, axis=1)


def compute_all_values(
    armies: int, payoff: Payoff, battles: Battles, *, from_first: bool = False
) -> Floats:
    """Return the value of the attack on every spread, in the order of `list_compositions`.

    armies: all armies of the defence, fewer than 2^15.
    payoff: the payoff of the attackers. Its length determines the number of territories.
    battles: the outcomes of battles, as returned by `tabulate_battles`.
    from_first: whether the attack must start at the first territory.
    """
    search = _SpreadSearch(armies, payoff, battles)
    if from_first:
        return search.compute_start_values(0)
    mirror = np.lexsort(list_compositions(armies, search.territories).T)
    starts = [i for i in range((search.territories + 1) // 2) if payoff.is_useful_start(i)]
    best = reduce(payoff.choose_best, map(search.compute_start_values, starts))
    return payoff.choose_best(best, best[mirror])


# The results for some consecutive territories: an array with one spread over these territories in
# each row, and arrays with numbers for each row. For the first territories of a chain, the numbers
# are the expected payoff of attacks that fail there, and the probability of each number of
# attackers that continue. For the last territories, the numbers are V for each number of attackers.
_Segment: TypeAlias = tuple[npt.NDArray[Any], ...]

NO_ARMIES = np.zeros((1, 0), np.int16)


class _SpreadSearch(NamedTuple):
    """The computation of the values of all spreads."""

    armies: int
    payoff: Payoff
    battles: Battles

    @property
    def territories(self) -> int:
        return len(self.payoff.values) - 1

    def compute_start_values(self, start: int) -> Floats:
        """Return E_i of every spread for i = `start` + 1, in the order of `list_compositions`."""
        blocks = self._join_around_start(start) if start else self._join_from_end()
        spreads, values = map(np.concatenate, zip(*blocks, strict=True))
        return np.asarray(values[np.lexsort(spreads.T[::-1])])

    def _join_from_end(self) -> Iterator[tuple[Whole, Floats]]:
        half = (self.territories + 1) // 2
        ends = self._list_endings(self.territories - half, half)
        for total, (firsts, failed, stacks) in self._list_beginnings(half).items():
            if self.armies - total in ends:
                lasts, vectors = ends[self.armies - total]
                values = failed[:, np.newaxis] + stacks @ vectors.T
                yield _join_rows(firsts, lasts), values.reshape(-1)

    def _join_around_start(self, start: int) -> Iterator[tuple[Whole, Floats]]:
        lefts, rights = (
            self._list_endings(start, 1),
            self._list_endings(self.territories - 1 - start, 1),
        )
        firsts = self._list_beginnings(1)
        for left_total, (lefts_spreads, left) in lefts.items():
            for right_total, (rights_spreads, right) in rights.items():
                first = self.armies - left_total - right_total
                if first in firsts:
                    first_spreads, failed, (stack,) = firsts[first]
                    sides = [self.payoff.choose_best(vector, right) for vector in left]
                    before = _join_rows(lefts_spreads[:, ::-1], first_spreads)
                    values = [failed[0] + side @ stack for side in sides]
                    yield _join_rows(before, rights_spreads), np.concatenate(values)

    def _list_beginnings(self, length: int) -> dict[int, _Segment]:
        """Return a mapping from numbers of armies to the segments of the first territories."""

        def append(taken: int, armies: int, segment: _Segment) -> _Segment:
            spreads, failed, stacks = segment
            fail = stacks @ self.battles.lost[armies] * self.payoff.values[taken]
            return _join_rows(spreads, [[armies]]), failed + fail, stacks @ self.battles.won[armies]

        stack = np.eye(len(self.battles.lost[0]))[-1:]
        return self._extend_segments(length, (NO_ARMIES, np.zeros(1), stack), append)

    def _list_endings(self, length: int, taken: int) -> dict[int, _Segment]:
        """Return a mapping from numbers of armies to the segments of the last territories.

        length: the number of territories in the segment.
        taken: the number of territories that have been conquered before.
        """

        def prepend(rest: int, armies: int, segment: _Segment) -> _Segment:
            spreads, vectors = segment
            fail = self.battles.lost[armies] * self.payoff.values[taken + length - rest - 1]
            return _join_rows([[armies]], spreads), vectors @ self.battles.won[armies].T + fail

        value = np.full((1, len(self.battles.lost[0])), float(self.payoff.values[taken + length]))
        return self._extend_segments(length, (NO_ARMIES, value), prepend)

    def _extend_segments(
        self, length: int, empty: _Segment, add: Callable[[int, int, _Segment], _Segment]
    ) -> dict[int, _Segment]:
        """Return a mapping from numbers of armies to the segments of `length` territories.

        empty: the segment without territories.
        add: a function that adds a territory to a segment. Its arguments are the number of
            territories in the segment, the armies on the new territory, and the segment.
        """
        segments = {0: empty}
        for done in range(length):
            longer: dict[int, list[_Segment]] = {}
            for total, segment in sorted(segments.items(), key=lambda item: -item[0]):
                for armies in range(1, self.armies - self.territories + 2 - (total - done)):
                    longer.setdefault(total + armies, []).append(add(done, armies, segment))
            segments = {
                total: tuple(map(np.concatenate, zip(*added, strict=True)))
                for total, added in longer.items()
            }
        return segments


def _join_rows(firsts: Whole | list[list[int]], seconds: Whole | list[list[int]]) -> Whole:
    """Return all concatenations of a row of `firsts` with a row of `seconds`."""
    return np.hstack(
        [np.repeat(firsts, len(seconds), axis=0), np.tile(seconds, (len(firsts), 1))],
        dtype=np.int16,
    )
