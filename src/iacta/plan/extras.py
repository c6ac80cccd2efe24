"""Extras: territories outside the goal that are worth taking on the way.

A goal may not hang together with the stacks, and even where it does, one more territory can save
armies: a stack that goes round in a ring need not split. So each stack i is given a part T_i of the
goal and takes a set R_i that holds T_i and hangs together with the stack; the chance is the product
of F(v_i, n_i, R_i) (`iacta.plan.stack`). Their number is beyond all counting, so they are searched:

1. R_i is T_i connected by cheapest ways. Of each share T_1, T_2 ... the bounds of the chances
   (`iacta.plan.bound`, for R_i and stack i alone) are multiplied; from shares made by adding one
   target after another, single targets are moved between stacks as long as that product grows.
2. The shares are taken by their bounds, the best first. Each is solved, until the bound is no
   better than the best chance.
3. From the best on, targets are moved, and extras added and left out, as long as the chance
   grows.

The search proves nothing: the bound of the plan says how much it may have missed.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import product
from math import prod

from iacta.plan.bound import Bound, reached_from
from iacta.plan.problem import Problem, Stacks
from iacta.plan.sets import bits
from iacta.plan.sharing import Share
from iacta.plan.stack import StackChances

__all__ = ["LOSSES", "Shares", "cheapest_way", "connected", "hangs_together", "union"]

LOSSES = (0.8, 0.0, 2.4)  # armies that a defender may cost: they only say which ways are tried
STARTS = 12
MOST_SOLVED = 12
MOST_TRIED = 150

Parts = tuple[int, ...]  # T_i of each stack


def connected(problem: Problem, goal: int, field: int, start: int, loss: float) -> int:
    """Return a goal and what connects it to a territory, always the nearest target next, or 0.

    problem: the problem.
    goal: the set to take.
    field: what may be attacked.
    start: the territory.
    loss: armies that a defender may cost.
    """
    whole = goal
    while True:
        reached = problem.borders.reached(start, whole)
        missing = goal & ~reached
        if not missing:
            return whole & reached
        way = cheapest_way(problem, [start, *bits(reached)], missing, field, loss)
        if not way:
            return 0
        whole |= way


def cheapest_way(problem: Problem, starts: list[int], missing: int, field: int, loss: float) -> int:
    """Return the set of a cheapest way from any start to any missing territory, or 0.

    problem: the problem.
    starts: territories that are reached.
    missing: the set that is not.
    field: what may be attacked.
    loss: armies that a defender may cost.
    """
    queue = [(0.0, 0, v) for v in starts]
    done = 0
    while queue:
        cost, way, v = heappop(queue)
        if missing >> v & 1:
            return way
        if done >> v & 1:
            continue
        done |= 1 << v
        for c in bits(problem.borders.out[v] & field & ~done):
            price = problem.garrisons[c] + loss * problem.armies[c]
            heappush(queue, (cost + price, way | 1 << c, c))
    return 0


class Shares:
    """Shares of a goal among stacks, with extras.

    chances: the chances of single stacks.
    bound: the bounds of the problem.
    goal: the set to take.
    field: what may be attacked.
    """

    def __init__(self, chances: StackChances, bound: Bound, goal: int, field: int) -> None:
        self.chances, self.bound, self.goal, self.field = chances, bound, goal, field
        self.problem = chances.problem
        self.stacks: Stacks = self.problem.stacks()
        self._ways: dict[tuple[int, int, int], int] = {}
        self._seen: set[Parts] = set()

    def best(self) -> Share:
        """Return the best share that the search finds."""
        shares = {self._climbed(self._made(start)) for start in range(STARTS)}
        ranked = sorted((-self._bound(parts), parts) for parts in shares if self._bound(parts))
        best = Share(0.0, ())
        for bound, parts in ranked[:MOST_SOLVED]:
            if -bound > best.chance:
                best = max(best, self._improved(self._settled(parts)))
        return best

    def _settled(self, parts: Parts) -> Share:
        """Return the share after moving single targets, as long as the true chance grows."""
        best, better = self._solved(self._sets(parts)), True
        while better:
            better = False
            for other in {each for t in bits(self.goal) for each in self._with(parts, t)}:
                if self._bound(other) > best.chance * (1 + 1e-9) and other not in self._seen:
                    self._seen.add(other)
                    share = self._solved(self._sets(other))
                    if share.chance > best.chance:
                        best, parts, better = share, other, True
        return best

    def _sets(self, parts: Parts) -> list[int]:
        """Return sets by which all stacks take their targets, none in the way of another."""
        found: list[tuple[float, list[int]]] = []
        for first in range(len(parts)):
            sets, used = [0] * len(parts), 0
            for i in (*range(first, len(parts)), *range(first)):
                targets, free = parts[i] & ~used, self.field & ~used
                if targets:
                    # Another's target is only a way where there is no other.
                    sets[i] = self._way_through(i, targets, free & ~self.goal)
                    sets[i] = sets[i] or self._way_through(i, targets, free)
                    used |= sets[i]
            if not self.goal & ~used:
                found.append((self._bound_of(sets), sets))
        return max(found, default=(0.0, [0] * len(parts)))[1]

    def _solved(self, sets: list[int]) -> Share:
        """Return a share with its chance."""
        if not any(sets):
            return Share(0.0, ())
        tasks = tuple((v, n, r) for (v, n), r in zip(self.stacks, sets, strict=True) if r)
        values = [float(self.chances.chance(v, r)[n]) for v, n, r in tasks]
        return Share(prod(values), tasks)

    def _way_through(self, i: int, targets: int, free: int) -> int:
        """Return the set with the best bound by which stack i takes some targets, or 0."""
        key = i, targets, free
        if key not in self._ways:
            v, n = self.stacks[i]
            sets = {connected(self.problem, targets, free | targets, v, loss) for loss in LOSSES}
            found = [(self.bound.alone(v, n, each), each) for each in sets if each]
            self._ways[key] = max(found, default=(0.0, 0))[1]
        return self._ways[key]

    def _way(self, i: int, targets: int) -> float:
        """Return the bound of that set where no other stack is in the way."""
        if not targets:
            return 1.0
        targets_and_way = self._way_through(i, targets, self.field)
        return self.bound.alone(*self.stacks[i], targets_and_way) if targets_and_way else 0.0

    def _bound(self, parts: Parts) -> float:
        return prod(self._way(i, targets) for i, targets in enumerate(parts))

    def _rank(self, parts: Parts) -> tuple[int, float]:
        """Return how good a share looks: fewer targets that no way leads to, then the bound."""
        free = 0
        reached = (self.problem.borders.reached(v, self.field) for v, _ in self.stacks)
        for targets, each in zip(parts, reached, strict=True):
            free += (targets & ~each).bit_count()
        return -free, self._bound(parts)

    def _made(self, start: int) -> Parts:
        """Return a share made by adding one target after another, in an order that `start` says."""
        targets = list(bits(self.goal))
        turn = start * len(targets) // STARTS
        targets = targets[turn:] + targets[:turn]
        parts: Parts = (0,) * len(self.stacks)
        for t in reversed(targets) if start % 2 else targets:
            parts = max(self._with(parts, t), key=self._rank)
        return parts

    def _with(self, parts: Parts, target: int) -> Iterator[Parts]:
        """Yield the shares in which a target is each stack's."""
        bare = [part & ~(1 << target) for part in parts]
        for i in range(len(parts)):
            yield tuple(part | (i == k) << target for k, part in enumerate(bare))

    def _climbed(self, parts: Parts) -> Parts:
        """Return the share after moving single targets, as long as it looks better."""
        while True:
            moved = (each for t in bits(self.goal) for each in self._with(parts, t))
            better = max(moved, key=self._rank)
            if self._rank(better) <= self._rank(parts):
                return parts
            parts = better

    def _improved(self, share: Share) -> Share:
        """Return the share after small changes, as long as its chance grows."""
        tried: set[tuple[int, ...]] = set()
        better = bool(share.tasks)
        while better:
            better = False
            for sets in self._changes(share):
                if tuple(sets) in tried or len(tried) >= MOST_TRIED:
                    continue
                tried.add(tuple(sets))
                if self._bound_of(sets) > share.chance:
                    other = self._solved(sets)
                    if other.chance > share.chance * (1 + 1e-9):
                        share, better = other, True
                        break
        return share

    def _bound_of(self, sets: list[int]) -> float:
        pairs = zip(self.stacks, sets, strict=True)
        return prod(self.bound.alone(v, n, each) for (v, n), each in pairs if each)

    def _changes(self, share: Share) -> Iterator[list[int]]:
        """Yield the sets of shares near to one: a territory moved, added or left out."""
        by_place = {v: r for v, _, r in share.tasks}
        sets = [by_place.get(v, 0) for v, _ in self.stacks]
        taken = 0
        for each in sets:
            taken |= each
        for i, x in product(range(len(sets)), bits(taken)):
            without = [each & ~(1 << x) for each in sets]
            if not self.goal >> x & 1 and i == 0 and self._hold(without):
                yield without
            without[i] |= 1 << x
            if self._hold(without) and without != sets:
                yield without
        for i, (v, _) in enumerate(self.stacks):
            for x in bits(self._ring(v, sets[i]) & self.field & ~taken):
                yield [each | (k == i) << x for k, each in enumerate(sets)]

    def _hold(self, sets: list[int]) -> bool:
        pairs = zip(self.stacks, sets, strict=True)
        return all(self.problem.borders.holds(v, each) for (v, _), each in pairs)

    def _ring(self, v: int, targets: int) -> int:
        """Return what is next to at least two of a stack's territories.

        Into a territory with one neighbour alone a stack would go, and not come out.
        """
        once = twice = 0
        for u in bits(targets | 1 << v):
            twice |= once & self.problem.borders.out[u]
            once |= self.problem.borders.out[u]
        return twice & ~targets


def union(share: Share) -> int:
    """Return all that a share takes.

    share: the share.
    """
    taken = 0
    for _, _, targets in share.tasks:
        taken |= targets
    return taken


def hangs_together(problem: Problem, targets: int) -> bool:
    """Tell whether a set hangs together with the stacks.

    problem: the problem.
    targets: the set.
    """
    places = tuple(v for v, _ in problem.stacks())
    return reached_from(problem.borders, places, targets) == targets
