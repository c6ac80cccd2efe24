"""The value of an attack on a chain of territories, for every spread of its armies.

A spread d_1 ... d_k puts d_i armies on the i-th territory of a chain. To have taken t territories
in all is worth w_t to the attackers. Let T(n, m; d) be the probability that n attackers take a
territory from d defenders and m move in, and S(n; d) that they do not take it. For a stack of n
that continues through territories with e_1 ... e_l defenders, having taken t so far, the value
function is

    V_t(n; e_1 ... e_l) = S(n; e_1) · w_t  +  Σ_m T(n, m; e_1) · V_{t+1}(m; e_2 ... e_l),

and V_t(n; nothing) = w_t. The attackers, A in all, choose where they start, and after their first
conquest, when they know what it has cost them, on which side they continue:

    E_i = S(A; d_i) · w_0  +  Σ_m T(A, m; d_i) · max{ V_1(m; d_{i−1} ... d_1),
                                                      V_1(m; d_{i+1} ... d_k) },

and the value of the spread is max_i E_i. `Model.value` is these equations, one spread at a time.

`every_value` is the same for all spreads at once, in floats. All spreads with the same end share
its vector V, and all with the same beginning share the distribution of the stack that comes through
it, so that E_1 of all is a few products of matrices: each beginning of about k/2 territories with
each end. For the starts inside, E_i pairs the vectors of the left and the right side. E_i of a
spread is E_{k+1−i} of its mirror image, so half of the starts are enough.

Where the attackers have nearly all that they can have, the same is done with w_k − w_t, and they
want the least: the numbers that decide between spreads are then small ones with all their digits.

Error. There are only sums and products of numbers that are not negative, so errors add up;
`error_of_values` counts them.

Source: backward induction as in Bellman, "Dynamic programming" (1957); the model is our own.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown
from iacta.errors import TooLargeError
from iacta.methods.kernel import Error, Floats, Kernel, Values

__all__ = [
    "Battles",
    "Model",
    "Payoff",
    "Spread",
    "Whole",
    "battles_up_to",
    "compositions",
    "error_of_values",
    "every_value",
    "kernel_model",
    "table_model",
]

Spread: TypeAlias = tuple[int, ...]
Whole: TypeAlias = npt.NDArray[np.int16]
Vector: TypeAlias = npt.NDArray[Any]
Backward: TypeAlias = Callable[[Vector, int, int], Vector]

MOST_BYTES = 2**30
UNIT_ROUNDOFF = 2.0**-53


class Payoff(NamedTuple):
    """What the attackers want.

    values: w_0 ... w_k, the value of having taken 0 ... k territories.
    maximized: whether they want the most of it, or the least.
    """

    values: tuple[int, ...]
    maximized: bool = True

    def best(self, one: Vector, other: Vector) -> Vector:
        """Return what the attackers choose, entry by entry."""
        return np.asarray((np.maximum if self.maximized else np.minimum)(one, other))

    def can_gain_from(self, start: int) -> bool:
        """Return whether a start there, 0 for the first territory, can bring anything."""
        longest = max(start + 1, len(self.values) - 1 - start)
        return self.values[longest] != self.values[0]

    def complement(self) -> "Payoff":
        """Return the same payoff, measured by what is missing.

        >>> Payoff((0, 1, 2)).complement()
        Payoff(values=(2, 1, 0), maximized=False)
        """
        return Payoff(tuple(self.values[-1] - value for value in self.values), not self.maximized)


class Model:
    """The attack on a chain, one spread at a time, in whatever numbers `backward` works with.

    attackers: A, garrison included.
    payoff: what they want.
    backward: of a battle's values when won, for each number that moves in, its value when lost, and
        the defenders, its expected value for 0 ... A attackers.

    >>> from iacta.methods import find_kernel
    >>> from iacta.rules.rules import CLASSIC
    >>> kernel_model(4, Payoff((0, 0, 1)), find_kernel(CLASSIC, exact=True), 1).value((1, 1))
    Fraction(108175, 186624)
    """

    def __init__(self, attackers: int, payoff: Payoff, backward: Backward) -> None:
        self.attackers = attackers
        self.payoff = payoff
        self.backward = backward
        self.known: dict[tuple[Spread, int], Vector] = {}

    def value(self, spread: Spread, *, from_first: bool = False) -> Any:
        """Return the value of the attack on a spread to attackers who choose best.

        from_first: whether they must start at the first territory.
        """
        places = range(1 if from_first else len(spread))
        starts = [i for i in places if self.payoff.can_gain_from(i)]
        return (max if self.payoff.maximized else min)(self._from(spread, i) for i in starts)

    def _from(self, spread: Spread, start: int) -> Any:
        """Return E_i."""
        left, right = spread[:start][::-1], spread[start + 1 :]
        onward = self._run(left or right, 1)
        if left and right:
            onward = self.payoff.best(onward, self._run(right, 1))
        return self.backward(onward, self.payoff.values[0], spread[start])[self.attackers]

    def _run(self, rest: Spread, taken: int) -> Vector:
        """Return V_t for 0 ... A attackers."""
        vector = np.full(self.attackers + 1, self.payoff.values[taken + len(rest)])
        for place in reversed(range(len(rest))):
            key = rest[place:], taken + place
            if key not in self.known:
                value = self.payoff.values[taken + place]
                self.known[key] = self.backward(vector, value, rest[place])
            vector = self.known[key]
        return vector


def kernel_model(attackers: int, payoff: Payoff, kernel: Kernel, garrison: int) -> Model:
    """Return the model for a few spreads, in the numbers of a kernel.

    attackers: armies with which the attack starts, garrison included.
    payoff: what the attackers want.
    kernel: that of every battle.
    garrison: armies that must stay behind on each territory.
    """
    able = max(attackers - garrison, 0)

    def backward(won: Vector, lost: int, defenders: int) -> Vector:
        """Return the expected value of a battle for 0 ... A attackers."""
        values = Values(won[: able + 1].tolist(), [lost] * (defenders + 1))
        row = kernel.value(values, defenders)
        staying = np.full(attackers - able, row[0], dtype=object if kernel.exact else float)
        return np.concatenate([staying, row[np.arange(able + 1)]])

    return Model(attackers, payoff, backward)


class Battles(NamedTuple):
    """How the battles of every stack against every number of defenders end.

    won: T(n, m; d), at `[d, n, m]`.
    lost: S(n; d), at `[d, n]`.
    """

    won: Floats
    lost: Floats


def battles_up_to(attackers: int, defenders: int, kernel: Kernel, garrison: int) -> Battles:
    """Return how every battle ends that a stack can have on its way.

    attackers: the most armies of the stack, garrison included.
    defenders: the most defenders of a territory.
    kernel: that of every battle.
    garrison: armies that must stay behind on each territory.

    Refused are battles that would take more than a GiB.
    """
    if 8 * (defenders + 1) * (attackers + 1) ** 2 > MOST_BYTES:
        raise TooLargeError(
            "attackers and armies must be at most some 500 each for a spread, "
            f"got {shown(attackers)} and up to {shown(defenders)} in one territory"
        )
    able = max(attackers - garrison, 0)
    won, lost = np.eye(able + 1, attackers + 2), np.zeros((defenders + 1, attackers + 2))
    lost[:, -1] = 1.0
    ends = np.zeros((defenders + 1, attackers + 1, attackers + 2))
    ends[:, : attackers - able, -1] = 1.0
    for d, row in enumerate(kernel.backward(Values(won, lost)), start=1):
        ends[d, attackers - able :] = row
    return Battles(ends[:, :, :-1], ends[:, :, -1])


def table_model(attackers: int, payoff: Payoff, battles: Battles) -> Model:
    """Return the model in floats for many spreads.

    attackers: armies with which the attack starts, garrison included.
    payoff: what the attackers want.
    battles: how their battles end.
    """

    def backward(won: Vector, lost: int, defenders: int) -> Vector:
        """Return the expected value of a battle for 0 ... A attackers."""
        through = battles.won[defenders] @ won.astype(float)
        return np.asarray(through + battles.lost[defenders] * lost)

    return Model(attackers, payoff, backward)


def error_of_values(
    attackers: int, armies: int, territories: int, payoff: Payoff, kernel: Kernel
) -> Error:
    """Return bounds on the error of the value of any spread.

    attackers: armies with which the attack starts, garrison included.
    armies: armies of the defence in all.
    territories: the length of the chain.
    payoff: what the attackers want.
    kernel: that of every battle.

    Each battle has the error of its probabilities, and of sums of as many products as it has
    outcomes; one product of that kind joins a beginning and an end. Where the probabilities only
    have an absolute error, that of each comes in with the greatest value. Values below 1e-130 may
    be wrong.
    """
    battle = kernel.by("table", attackers, armies).error(attackers, armies)
    rounding = (attackers + armies + 6) * UNIT_ROUNDOFF
    relative = (territories + 1) * (battle.relative + rounding) * 1.01
    if not battle.absolute:
        return Error(relative)
    each = max(payoff.values) * ((attackers + 2) * battle.absolute + rounding)
    return Error(relative, (territories + 1) * each * 1.01)


def compositions(armies: int, territories: int) -> Whole:
    """Return every spread of armies, at least one on each territory, in lexicographic order.

    armies: how many in all.
    territories: over how many they are spread.

    >>> compositions(4, 2).tolist()
    [[1, 3], [2, 2], [3, 1]]
    """
    count = comb(armies - 1, territories - 1)
    places = chain.from_iterable(combinations(range(1, armies), territories - 1))
    cuts = np.zeros((count, territories + 1), dtype=np.int16)
    cuts[:, 1:-1] = np.fromiter(places, np.int16, count * (territories - 1)).reshape(count, -1)
    cuts[:, -1] = armies
    return np.diff(cuts, axis=1)


def every_value(
    armies: int, attackers: int, payoff: Payoff, battles: Battles, *, from_first: bool = False
) -> Floats:
    """Return the value of the attack on every spread, in the order of `compositions`.

    armies: armies of the defence in all, below 2^15.
    attackers: armies with which the attack starts, garrison included.
    payoff: what the attackers want, for as many territories as there are.
    battles: how their battles end.
    from_first: whether the attackers must start at the first territory.
    """
    search = _Search(armies, attackers, payoff, battles)
    if from_first:
        return search.values_from(0)
    territories = len(payoff.values) - 1
    mirror = np.lexsort(compositions(armies, territories).T)
    starts = [i for i in range((territories + 1) // 2) if payoff.can_gain_from(i)]
    values = [search.values_from(start) for start in starts]
    best = reduce(payoff.best, values)
    return payoff.best(best, best[mirror])


class _Begun(NamedTuple):
    """What has become of the stack after some first territories.

    spreads: the armies on them, a row for each spread.
    values: the value of the attacks that failed there, times their probability.
    stacks: the probability of each number of attackers that continues.
    """

    spreads: Whole
    values: Floats
    stacks: Floats


class _Ended(NamedTuple):
    """The value of continuing through some last territories.

    spreads: the armies on them, in the order of attack, a row for each spread.
    vectors: V for each number of attackers.
    """

    spreads: Whole
    vectors: Floats


Block: TypeAlias = tuple[Whole, Floats]


class _Search(NamedTuple):
    armies: int
    attackers: int
    payoff: Payoff
    battles: Battles

    def values_from(self, start: int) -> Floats:
        """Return E_i of every spread, in the order of `compositions`."""
        blocks = list(self._from_inside(start) if start else self._from_the_end())
        spreads = np.concatenate([spreads for spreads, _ in blocks])
        values = np.concatenate([values for _, values in blocks])
        return np.asarray(values[np.lexsort(spreads.T[::-1])])

    def _from_the_end(self) -> Iterator[Block]:
        territories = len(self.payoff.values) - 1
        half = (territories + 1) // 2
        ends = self._ended(territories - half, half)
        for total, begun in self._begun(half, self.armies - territories + half).items():
            if self.armies - total in ends:
                end = ends[self.armies - total]
                values = begun.values[:, np.newaxis] + begun.stacks @ end.vectors.T
                yield _paired(begun.spreads, end.spreads), values.reshape(-1)

    def _from_inside(self, start: int) -> Iterator[Block]:
        territories = len(self.payoff.values) - 1
        lefts = self._ended(start, 1)
        rights = self._ended(territories - 1 - start, 1)
        firsts = self._begun(1, self.armies - territories + 1)
        for left_total, left in lefts.items():
            for right_total, right in rights.items():
                first = firsts.get(self.armies - left_total - right_total)
                if first is not None:
                    sides = [self.payoff.best(vector, right.vectors) for vector in left.vectors]
                    values = [first.values[0] + side @ first.stacks[0] for side in sides]
                    before = _paired(left.spreads[:, ::-1], first.spreads)
                    yield _paired(before, right.spreads), np.concatenate(values)

    def _begun(self, length: int, most: int) -> dict[int, _Begun]:
        """Return what has become of the stack after so many first territories, by their armies."""
        stack = np.zeros((1, self.attackers + 1))
        stack[0, self.attackers] = 1
        begun = {0: _Begun(np.zeros((1, 0), np.int16), np.zeros(1), stack)}
        for taken in range(length):
            begun = {
                total: self._began(begun, total, taken)
                for total in range(taken + 1, most - length + taken + 2)
            }
        return begun

    def _began(self, before: dict[int, _Begun], total: int, taken: int) -> _Begun:
        parts = []
        for d in range(1, total + 1):
            if total - d in before:
                spreads, values, stacks = before[total - d]
                failed = stacks @ self.battles.lost[d] * self.payoff.values[taken]
                parts.append(
                    _Begun(
                        _paired(spreads, np.array([[d]], np.int16)),
                        values + failed,
                        stacks @ self.battles.won[d],
                    )
                )
        return _Begun(*map(np.concatenate, zip(*parts, strict=True)))

    def _ended(self, length: int, taken: int) -> dict[int, _Ended]:
        """Return V of all runs of that length to the end, `taken` before, by their armies."""
        most = self.armies - (len(self.payoff.values) - 1) + length
        value = np.full((1, self.attackers + 1), float(self.payoff.values[taken + length]))
        ended = {0: _Ended(np.zeros((1, 0), np.int16), value)}
        for rest in range(1, length + 1):
            lost = self.payoff.values[taken + length - rest]
            ended = {
                total: self._continued(ended, total, lost)
                for total in range(rest, most - length + rest + 1)
            }
        return ended

    def _continued(self, after: dict[int, _Ended], total: int, lost: int) -> _Ended:
        parts = []
        for d in range(1, total + 1):
            if total - d in after:
                spreads, vectors = after[total - d]
                through = vectors @ self.battles.won[d].T + self.battles.lost[d] * lost
                parts.append(_Ended(_paired(np.array([[d]], np.int16), spreads), through))
        return _Ended(*map(np.concatenate, zip(*parts, strict=True)))


def _paired(firsts: Whole, seconds: Whole) -> Whole:
    """Return each row of the one followed by each row of the other."""
    return np.hstack(
        [np.repeat(firsts, len(seconds), axis=0), np.tile(seconds, (len(firsts), 1))],
        dtype=np.int16,
    )
