"""Spreads: what an attack on a chain of territories is worth, for every spread of its armies.

A spread d_1 ... d_k lays d_i armies on the i-th territory of a chain. It is worth w_t to the
attackers to have taken t territories in all. Let T(n, m; d) be the chance that n attackers take a
territory from d defenders and m move in, and S(n; d) the chance that they are stopped. For a stack
of n that goes on through territories with e_1 ... e_l defenders, having taken t so far,

    V_t(n; e_1 ... e_l) = S(n; e_1) · w_t  +  Σ_m T(n, m; e_1) · V_{t+1}(m; e_2 ... e_l),

and V_t(n; nothing) = w_t. The attackers, A in all, choose where they start, and after their first
conquest, when they know what it has cost them, to which side they go on:

    E_i = S(A; d_i) · w_0  +  Σ_m T(A, m; d_i) · max{ V_1(m; d_{i−1} ... d_1),
                                                      V_1(m; d_{i+1} ... d_k) },

and the spread is worth max_i E_i. `Model.value` is these equations, one spread at a time.

`every_value` is the same for all spreads at once, in floats. All spreads with the same end share
its vector V, and all with the same beginning share the law of the stack that comes through it, so
that E_1 of all is a few products of matrices: each beginning of about k/2 territories with each
end. For the starts inside, E_i pairs the vectors of the left and the right side. E_i of a spread is
E_{k+1−i} of its mirror image, so half of the starts are enough.

Where the attackers have nearly all that they can have, the same is done with w_k − w_t, and they
want the least: the numbers that tell the spreads apart are then small ones with all their digits.

Error. There are only sums and products of numbers that are not negative, so errors are relative and
add up; `relative_error` counts them.

Source: backward induction as in Bellman, "Dynamic programming" (1957); the model is our own.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown
from iacta.errors import TooLargeError
from iacta.methods import counting, lattice
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Aim",
    "Model",
    "Passages",
    "compositions",
    "every_value",
    "exact_model",
    "float_model",
    "lattice_model",
    "make_passages",
    "relative_error",
]

NAME: str = "spreads"

Spread: TypeAlias = tuple[int, ...]
Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int16]
Vector: TypeAlias = npt.NDArray[Any]
Step: TypeAlias = Callable[[Vector, int, int], Vector]

MOST_BYTES = 2**30


class Aim(NamedTuple):
    """What the attackers want.

    worths: w_0 ... w_k, what it is worth to have taken 0 ... k territories.
    wants_most: whether they want the most of it, or the least.
    """

    worths: tuple[int, ...]
    wants_most: bool = True

    def best(self, one: Vector, other: Vector) -> Vector:
        """Return what the attackers choose, entry by entry."""
        return np.asarray((np.maximum if self.wants_most else np.minimum)(one, other))

    def is_met_from(self, start: int) -> bool:
        """Tell whether a start there, 0 for the first territory, can bring anything."""
        longest = max(start + 1, len(self.worths) - 1 - start)
        return self.worths[longest] != self.worths[0]

    def complement(self) -> "Aim":
        """Return the same aim, told by what is missing.

        >>> Aim((0, 1, 2)).complement()
        Aim(worths=(2, 1, 0), wants_most=False)
        """
        return Aim(tuple(self.worths[-1] - worth for worth in self.worths), not self.wants_most)


class Model:
    """The attack on a chain, one spread at a time, in whatever numbers `step` works with.

    attackers: A, garrison included.
    aim: what they want.
    step: of a battle's worth when won, for each number that moves in, when lost, and the
        defenders, its mean worth for 0 ... A attackers.

    >>> from iacta.rules.rules import CLASSIC
    >>> exact_model(4, Aim((0, 0, 1)), CLASSIC).value((1, 1))
    Fraction(108175, 186624)
    """

    def __init__(self, attackers: int, aim: Aim, step: Step) -> None:
        self.attackers = attackers
        self.aim = aim
        self.step = step
        self.known: dict[tuple[Spread, int], Vector] = {}

    def value(self, spread: Spread) -> Any:
        """Return what the attack on a spread is worth to attackers who choose best."""
        starts = [i for i in range(len(spread)) if self.aim.is_met_from(i)]
        return (max if self.aim.wants_most else min)(self._from(spread, i) for i in starts)

    def _from(self, spread: Spread, start: int) -> Any:
        """Return E_i."""
        left, right = spread[:start][::-1], spread[start + 1 :]
        onward = self._run(left or right, 1)
        if left and right:
            onward = self.aim.best(onward, self._run(right, 1))
        return self.step(onward, self.aim.worths[0], spread[start])[self.attackers]

    def _run(self, rest: Spread, taken: int) -> Vector:
        """Return V_t for 0 ... A attackers."""
        vector = np.full(self.attackers + 1, self.aim.worths[taken + len(rest)])
        for place in reversed(range(len(rest))):
            key = rest[place:], taken + place
            if key not in self.known:
                worth = self.aim.worths[taken + place]
                self.known[key] = self.step(vector, worth, rest[place])
            vector = self.known[key]
        return vector


def exact_model(attackers: int, aim: Aim, rules: Rules) -> Model:
    """Return the model in fractions.

    attackers: armies with which the attack starts, garrison included.
    aim: what the attackers want.
    rules: the rules of every battle.
    """

    def step(won: Vector, lost: int, defenders: int) -> Vector:
        """Return a battle's mean worth for 0 ... A attackers, as fractions.

        won: its worth when won, for each number that moves in.
        lost: its worth when lost.
        defenders: armies that defend it.
        """
        stopped = [lost] * (defenders + 1)
        return np.array(counting.values(won.tolist(), stopped, defenders, rules), dtype=object)

    return Model(attackers, aim, step)


def lattice_model(attackers: int, aim: Aim, rules: Rules) -> Model:
    """Return the model in floats for a few spreads, with the error of `relative_error`.

    attackers: armies with which the attack starts, garrison included.
    aim: what the attackers want.
    rules: the rules of every battle.
    """

    def step(won: Vector, lost: int, defenders: int) -> Vector:
        """Return a battle's mean worth for 0 ... A attackers, by the lattice.

        won: its worth when won, for each number that moves in.
        lost: its worth when lost.
        defenders: armies that defend it.
        """
        return lattice.values(won, np.full(defenders + 1, lost), defenders, rules)

    return Model(attackers, aim, step)


class Passages(NamedTuple):
    """What becomes of every stack at every number of defenders.

    taken: T(n, m; d), at `[d, n, m]`.
    stopped: S(n; d), at `[d, n]`.
    """

    taken: Floats
    stopped: Floats


def make_passages(attackers: int, defenders: int, rules: Rules) -> Passages:
    """Return the chances of every battle that a stack can have on its way.

    attackers: the most armies of the stack, garrison included.
    defenders: the most defenders of a territory.
    rules: the rules of every battle.

    The relative error of each is at most that of `iacta.methods.lattice`; too large ones, which
    would take more than a GiB, are refused.
    """
    if 8 * (defenders + 1) * (attackers + 1) ** 2 > MOST_BYTES:
        raise TooLargeError(
            "attackers and armies must be at most some 500 each for a spread, "
            f"got {shown(attackers)} and up to {shown(defenders)} in one territory"
        )
    taken = np.zeros((defenders + 1, attackers + 1, attackers + 1))
    stopped = np.zeros((defenders + 1, attackers + 1))
    none = np.zeros(defenders + 1)
    for moved_in, worth in enumerate(np.identity(attackers + 1)):
        for d, row in enumerate(lattice.value_rows(worth, none, rules), start=1):
            taken[d, :, moved_in] = row
    lost_rows = lattice.value_rows(np.zeros(attackers + 1), none + 1, rules)
    for d, row in enumerate(lost_rows, start=1):
        stopped[d] = row
    return Passages(taken, stopped)


def float_model(attackers: int, aim: Aim, passages: Passages) -> Model:
    """Return the model in floats for many spreads, with the error of `relative_error`.

    attackers: armies with which the attack starts, garrison included.
    aim: what the attackers want.
    passages: the chances of their battles.
    """

    def step(won: Vector, lost: int, defenders: int) -> Vector:
        """Return a battle's mean worth for 0 ... A attackers, by its passages.

        won: its worth when won, for each number that moves in.
        lost: its worth when lost.
        defenders: armies that defend it.
        """
        through = passages.taken[defenders] @ won.astype(float)
        return np.asarray(through + passages.stopped[defenders] * lost)

    return Model(attackers, aim, step)


def relative_error(attackers: int, armies: int, territories: int, rules: Rules) -> float:
    """Return a bound on the relative error of the worth of any spread.

    attackers: armies with which the attack starts, garrison included.
    armies: armies of the defence in all.
    territories: the length of the chain.
    rules: the rules of every battle.

    Each battle has the error of its chances, and of a sum of attackers + 1 products and one more;
    one product of that kind joins a beginning and an end. Worths below 1e-130 may be wrong.
    """
    battle = lattice.relative_error(attackers, armies, rules)
    return (territories + 1) * (battle + (attackers + 6) * lattice.UNIT_ROUNDOFF) * 1.01


def compositions(armies: int, territories: int) -> Whole:
    """Return every spread of armies, at least one on each territory, in the order of a lexicon.

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


def every_value(armies: int, attackers: int, aim: Aim, passages: Passages) -> Floats:
    """Return what the attack is worth on every spread, in the order of `compositions`.

    armies: armies of the defence in all, below 2^15.
    attackers: armies with which the attack starts, garrison included.
    aim: what the attackers want; it tells how many territories there are.
    passages: the chances of their battles.

    The relative error is at most `relative_error`.
    """
    search = _Search(armies, attackers, aim, passages)
    territories = len(aim.worths) - 1
    mirror = np.lexsort(compositions(armies, territories).T)
    starts = [i for i in range((territories + 1) // 2) if aim.is_met_from(i)]
    values = [search.values_from(start) for start in starts]
    worth = values[0]
    for each in values[1:]:
        worth = aim.best(worth, each)
    return aim.best(worth, worth[mirror])


class _Begun(NamedTuple):
    """What has become of the stack after some first territories.

    spreads: the armies on them, a row for each spread.
    worths: what the attacks are worth that were stopped there, times their chance.
    laws: the chance of each number of attackers that goes on.
    """

    spreads: Whole
    worths: Floats
    laws: Floats


class _Ended(NamedTuple):
    """What it is worth to go on through some last territories.

    spreads: the armies on them, in the order of attack, a row for each spread.
    vectors: V for each number of attackers.
    """

    spreads: Whole
    vectors: Floats


Block: TypeAlias = tuple[Whole, Floats]


class _Search(NamedTuple):
    armies: int
    attackers: int
    aim: Aim
    passages: Passages

    def values_from(self, start: int) -> Floats:
        """Return E_i of every spread, in the order of `compositions`."""
        blocks = list(self._from_inside(start) if start else self._from_the_end())
        spreads = np.concatenate([spreads for spreads, _ in blocks])
        values = np.concatenate([values for _, values in blocks])
        return np.asarray(values[np.lexsort(spreads.T[::-1])])

    def _from_the_end(self) -> Iterator[Block]:
        territories = len(self.aim.worths) - 1
        half = (territories + 1) // 2
        ends = self._ended(territories - half, half)
        for total, begun in self._begun(half, self.armies - territories + half).items():
            if self.armies - total in ends:
                end = ends[self.armies - total]
                values = begun.worths[:, np.newaxis] + begun.laws @ end.vectors.T
                yield _paired(begun.spreads, end.spreads), values.reshape(-1)

    def _from_inside(self, start: int) -> Iterator[Block]:
        territories = len(self.aim.worths) - 1
        lefts = self._ended(start, 1)
        rights = self._ended(territories - 1 - start, 1)
        firsts = self._begun(1, self.armies - territories + 1)
        for left_total, left in lefts.items():
            for right_total, right in rights.items():
                first = firsts.get(self.armies - left_total - right_total)
                if first is not None:
                    sides = [self.aim.best(vector, right.vectors) for vector in left.vectors]
                    values = [first.worths[0] + side @ first.laws[0] for side in sides]
                    before = _paired(left.spreads[:, ::-1], first.spreads)
                    yield _paired(before, right.spreads), np.concatenate(values)

    def _begun(self, length: int, most: int) -> dict[int, _Begun]:
        """Return what follows from all first territories, by the armies on them, `most` at most."""
        law = np.zeros((1, self.attackers + 1))
        law[0, self.attackers] = 1
        begun = {0: _Begun(np.zeros((1, 0), np.int16), np.zeros(1), law)}
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
                spreads, worths, laws = before[total - d]
                stopped = laws @ self.passages.stopped[d] * self.aim.worths[taken]
                parts.append(
                    _Begun(
                        _paired(spreads, np.array([[d]], np.int16)),
                        worths + stopped,
                        laws @ self.passages.taken[d],
                    )
                )
        return _Begun(*map(np.concatenate, zip(*parts, strict=True)))

    def _ended(self, length: int, taken: int) -> dict[int, _Ended]:
        """Return V of all runs of that length to the end, `taken` before, by their armies."""
        most = self.armies - (len(self.aim.worths) - 1) + length
        worth = np.full((1, self.attackers + 1), float(self.aim.worths[taken + length]))
        ended = {0: _Ended(np.zeros((1, 0), np.int16), worth)}
        for rest in range(1, length + 1):
            lost = self.aim.worths[taken + length - rest]
            ended = {
                total: self._go_on(ended, total, lost)
                for total in range(rest, most - length + rest + 1)
            }
        return ended

    def _go_on(self, after: dict[int, _Ended], total: int, lost: int) -> _Ended:
        parts = []
        for d in range(1, total + 1):
            if total - d in after:
                spreads, vectors = after[total - d]
                through = vectors @ self.passages.taken[d].T + self.passages.stopped[d] * lost
                parts.append(_Ended(_paired(np.array([[d]], np.int16), spreads), through))
        return _Ended(*map(np.concatenate, zip(*parts, strict=True)))


def _paired(firsts: Whole, seconds: Whole) -> Whole:
    """Return each row of the one followed by each row of the other."""
    return np.hstack(
        [np.repeat(firsts, len(seconds), axis=0), np.tile(seconds, (len(firsts), 1))],
        dtype=np.int16,
    )
