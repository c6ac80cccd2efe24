"""One stack that takes a set of territories: its best chance, for all its armies at once.

With a attackers able to attack and d defenders, one battle ends with the probabilities

    W[a, b] = P(taken, b left able to move),      L[a, e] = P(not taken, e defenders left),

and each row of W and L together sums to 1. The kernel gives them for all a at once.

Let F(v, n, R) be the greatest chance that the stack of n armies on v takes all of R, and g the
garrison of v. After c is taken with b armies left able to move, m of which advance, what remains is
split into R1, for those that advance, and R2, for those that stay:

    A(v, c, Q)[b] = max over m, R1 + R2 = Q of   F(c, m, R1) · F(v, b + g − m, R2),
    F(v, n, R)    = max over c in R next to v of   Σ_b P(c taken, b left) · A(v, c, R − c)[b],

with n − g able at first, F(v, n, ∅) = 1, and m from the least advance to b. Each part must be
connected to its stack. The split is chosen after the dice are seen. On a tree of territories
nothing better is possible: below the root the branches never meet. Elsewhere one stack could help
another, which `iacta.plan.improvement` looks at.

F(v, ·, R) and A(v, c, Q) are vectors. The maximum over m is taken over shifted products, of F(c, m,
R1) along m and F(v, b + g − m, R2) along b − m, a view of a padded vector without a copy. Splits
whose best product cannot beat the best one so far are skipped, as F grows with n.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.errors import TooLargeError
from iacta.methods.kernel import Transitions
from iacta.plan.problem import Problem, Remembers, bits

__all__ = ["MOST_ABLE", "Advance", "Battles", "Reduced", "StackChances", "Tasks"]

MOST_ABLE = 2000
MOST_AT_ONCE = 60_000  # products that fit into a processor's cache

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
# W and L by the place of the rules in `Problem.all_rules`, and the number of defenders.
Battles: TypeAlias = Callable[[int, int], Transitions]
Reduced: TypeAlias = tuple[tuple[int, int], ...]  # (territory, defenders left) after lost battles
Tasks: TypeAlias = tuple[tuple[int, int, int], ...]  # (territory, armies, set to take) of stacks


class Advance(NamedTuple):
    """What to do after a conquest, for each number of armies left able to move.

    armies: how many advance.
    first, second: the sets for those that advance, and for those that stay.
    chances: the chance that both succeed.
    """

    armies: Ints
    first: list[int]
    second: list[int]
    chances: Floats


class StackChances(Remembers):
    """F and A of a problem, each vector computed when it is first asked.

    In its methods v is the territory of the stack, c the one that it attacks first, `rest` what
    remains when c is taken (Q), and `reduced` the defenders left where battles were lost before.

    problem: the problem.
    most: the most armies of a stack.
    battles: W and L, if they are known already.
    """

    def __init__(self, problem: Problem, most: int, battles: Battles | None = None) -> None:
        self.problem, self.most = problem, most
        able = max(most - min(problem.garrisons, default=0), 0)
        if able > MOST_ABLE:
            raise TooLargeError(
                f"a stack in a plan must have at most {MOST_ABLE} armies more than its garrison, "
                f"got {able} more"
            )
        self._able = able
        if battles is None:
            self._remember()
        else:
            self.battles = battles
        self._known: dict[tuple[int, int, Reduced], Floats] = {}
        self._after: dict[tuple[int, int, int, Reduced], Floats] = {}
        self._ones = np.ones(most + 1)
        self._ones.setflags(write=False)

    def _remember(self) -> None:
        self.battles = lru_cache(maxsize=None)(self._transitions)

    def _transitions(self, kind: int, defenders: int) -> Transitions:
        return self.problem.kernels[kind].transitions(self._able, defenders)

    def defenders(self, c: int, reduced: Reduced) -> int:
        """Return the defenders of a territory."""
        for territory, left in reduced:
            if territory == c:
                return left
        return self.problem.armies[c]

    def battle(self, c: int, defenders: int) -> Transitions:
        """Return W and L of the battles for a territory."""
        return self.battles(self.problem.kinds[c], defenders)

    def chance(self, v: int, targets: int, reduced: Reduced = ()) -> Floats:
        """Return F(v, n, R) for n = 0 .. `most`, R being `targets`."""
        if not targets:
            return self._ones
        key = (v, targets, _within(reduced, targets))
        found = self._known.get(key)
        if found is None:
            best = np.zeros(self.most + 1)
            if self.problem.borders.connects(v, targets):
                for c in bits(targets & self.problem.borders.out[v]):
                    np.maximum(best, self.attack(v, c, targets & ~(1 << c), key[2]), out=best)
            found = self._known[key] = best
        return found

    def attack(self, v: int, c: int, rest: int, reduced: Reduced) -> Floats:
        """Return the chance to take c and then the rest, for n = 0 .. `most` armies on v."""
        chances = np.zeros(self.most + 1)
        garrison = self.problem.garrisons[v]
        able = self.most - garrison
        if able > 0:
            won = self.battle(c, self.defenders(c, reduced)).won
            after = self.after(v, c, rest, reduced)
            chances[garrison:] = won[: able + 1, : able + 1] @ after
        return chances

    def after(self, v: int, c: int, rest: int, reduced: Reduced) -> Floats:
        """Return A(v, c, Q) for b = 0 .. `most` less the garrison of v."""
        key = (v, c, rest, _within(reduced, rest))
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self._best_split(*key)
        return found

    def _best_split(self, v: int, c: int, rest: int, reduced: Reduced) -> Floats:
        garrison = self.problem.garrisons[v]
        able = self.most - garrison
        best = np.zeros(able + 1)
        pairs = []
        for first, second in self.problem.borders.splits(c, v, rest):
            ours, theirs = self.chance(c, first, reduced), self.chance(v, second, reduced)
            if not first:
                best = np.maximum(best, self._stay(c, theirs, garrison))
            elif not second:
                best[1:] = np.maximum(best[1:], ours[1 : able + 1])
            else:
                pairs.append((ours, theirs))
        best[0] = 0.0
        if pairs:
            self._raise_to_products(c, best, pairs, garrison)
        return best

    def _stay(self, c: int, theirs: Floats, garrison: int) -> Floats:
        """Return F(v, b + g − m, R2) with m the least advance to c; F may be several rows."""
        left = np.arange(self.most - garrison + 1)
        return theirs[..., left + garrison - np.minimum(left, self.problem.dice(c))]

    def _raise_to_products(
        self, c: int, best: Floats, pairs: list[tuple[Floats, Floats]], garrison: int
    ) -> None:
        """Raise `best` to the greatest product of each of the pairs."""
        able = len(best) - 1
        ours = np.array([pair[0] for pair in pairs])[:, : able + 1]
        theirs = np.array([pair[1] for pair in pairs])
        bounds = ours * self._stay(c, theirs, garrison)
        order = np.argsort(-bounds.sum(axis=1))
        size = max(1, MOST_AT_ONCE // (able + 1) ** 2)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            batch = batch[(bounds[batch] > best).any(axis=1)]
            if len(batch):
                products = self._products(c, ours[batch], theirs[batch], garrison)
                np.maximum(best, products.max(axis=(0, 2)), out=best)

    def _products(self, c: int, ours: Floats, theirs: Floats, garrison: int) -> Floats:
        """Return F(c, m, R1) · F(v, b + g − m, R2) as `[split, b, m]`, 0 where m is not allowed.

        `ours` is F(c, m, R1) as `[split, m]`, `theirs` F(v, n, R2) as `[split, n]`, `garrison` g.
        """
        moving = ours.copy()
        moving[:, : self.problem.dice(c)] = 0.0  # fewer able, and none would be left to take R2
        rows, size = moving.shape
        padded = np.zeros((rows, 2 * size - 1))
        padded[:, size - 1 :] = theirs[:, garrison:]
        row, one = padded.strides
        shifted = as_strided(
            padded[:, size - 1 :], (rows, size, size), (row, one, -one), writeable=False
        )
        return np.asarray(shifted * moving[:, None, :])

    def advance(self, v: int, c: int, rest: int, reduced: Reduced) -> Advance:
        """Return what to do after a conquest, for b = 0 .. `most` less the garrison of v."""
        garrison = self.problem.garrisons[v]
        able = self.most - garrison
        left = np.arange(able + 1)
        fewest = np.minimum(left, self.problem.dice(c))
        splits = self.problem.borders.splits(c, v, rest)
        best, armies = np.full(able + 1, -1.0), fewest.copy()
        chosen = np.zeros(able + 1, dtype=int)
        for k, (first, second) in enumerate(splits):
            ours, theirs = self.chance(c, first, reduced), self.chance(v, second, reduced)
            if not second:
                moved, values = left, ours[: able + 1]
            elif not first:
                moved, values = fewest, self._stay(c, theirs, garrison)
            else:
                table = self._products(c, ours[None, : able + 1], theirs[None], garrison)[0]
                moved, values = np.maximum(table.argmax(axis=1), fewest), table.max(axis=1)
            better = values > best
            best[better], armies[better], chosen[better] = values[better], moved[better], k
        parts = [splits[k] if splits else (0, 0) for k in chosen.tolist()]
        return Advance(armies, [p[0] for p in parts], [p[1] for p in parts], np.maximum(best, 0.0))


def _within(reduced: Reduced, targets: int) -> Reduced:
    return tuple(pair for pair in reduced if targets >> pair[0] & 1) if reduced else reduced
