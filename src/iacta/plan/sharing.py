"""Several stacks: which of them takes what.

Stacks that take separate sets do not meet, so the chance of a share R = R_1 + R_2 + ... is the
product of F(v_i, n_i, R_i), each set connected to its stack. There are three ways to find a share:

`best_share` looks at all of them. The first territory of R must be some stack's; its sets with that
territory are tried in the order of their chances, until the chance alone is no better than the best
share: the other factors are at most 1.

`iacta.plan.shares` searches for one, with territories outside the goal where they are of use.

`forests` is for goals with more connected sets than can be counted: a continent has hundreds, a
board far more. The borders are thinned out first: each stack gets a tree of territories, the goal
among them, and goes from parent to child only. On a tree the recursion over sets is exact and has
few sets, so each forest has its best plan with its exact chance. A tree with few branches leaves
few armies behind, so it is grown as a walk that turns back only where it must, to the neighbour
with the fewest ways on.

Neither search proves anything: the bound of the plan says how much it may have missed.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from math import prod
from typing import NamedTuple

from iacta.errors import TooLargeError
from iacta.plan.one_stack import Reduced, StackChances, Tasks
from iacta.plan.problem import Borders, Problem, Stacks, bits

__all__ = [
    "NOTHING",
    "Share",
    "best_share",
    "forests",
    "has_few_sets",
    "ways_to",
]

LOSSES = (0.8, 0.0, 2.4)  # armies that a defender may cost: they only say which ways are tried
STARTS = 12
MOST_TRIED = 150
MOST_SETS = 6_000
MOST_FORKS = 12  # children of one territory, whose order is tried in all ways
MOST_VAIN = 50  # forests that may be grown in vain


class Share(NamedTuple):
    """Which stack takes what, in the order in which it is carried out, and the chance of it all."""

    chance: float
    tasks: Tasks


NOTHING = Share(0.0, ())


def best_share(
    chances: StackChances, stacks: Stacks, targets: int, reduced: Reduced = (), floor: float = 0.0
) -> Share:
    """Return the best share of a set among stacks, if its chance is above `floor`."""
    if not targets:
        return Share(1.0, ())
    borders = chances.problem.borders
    near = tuple(stack for stack in stacks if borders.out[stack[0]] & targets)
    if not near:
        return NOTHING
    if len(near) == 1:
        ((v, n),) = near
        if not borders.connects(v, targets):
            return NOTHING
        return Share(float(chances.chance(v, targets, reduced)[n]), ((v, n, targets),))
    first = targets & -targets
    parts = [
        (float(chances.chance(v, part, reduced)[n]), (v, n), part)
        for v, n in near
        for part in borders.connected_subsets(v, targets)
        if part & first
    ]
    best = NOTHING
    for chance, (v, n), part in sorted(parts, key=lambda each: -each[0]):
        if chance <= max(best.chance, floor):
            break
        others = tuple(stack for stack in near if stack[0] != v)
        least = max(best.chance, floor) / chance
        rest = best_share(chances, others, targets & ~part, reduced, least)
        if chance * rest.chance > best.chance:
            best = Share(chance * rest.chance, ((v, n, part), *rest.tasks))
    return best


# Extras.


def ways_to(problem: Problem, goal: int, field: int, start: int) -> set[int]:
    """Return sets by which a stack may take a goal: the goal and what connects it to the start.

    field: what may be attacked.
    """
    return {_connected(problem, goal, field, [start], loss) for loss in LOSSES} - {0}


def _connected(problem: Problem, goal: int, field: int, starts: list[int], loss: float) -> int:
    """Return a goal and what connects it to some territories, always the nearest target next.

    If no way leads to it, return 0. A defender may cost `loss` armies.
    """
    whole = goal
    while True:
        reached = problem.borders.reachable_from(starts, whole)
        missing = goal & ~reached
        if not missing:
            return whole & reached
        way = _cheapest_way(problem, [*starts, *bits(reached)], missing, field, loss)
        if not way:
            return 0
        whole |= way


def _cheapest_way(
    problem: Problem, starts: Iterable[int], missing: int, field: int, loss: float
) -> int:
    """Return the set of a cheapest way from any start to any missing territory, or 0."""
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


# Forests.


class Forest(NamedTuple):
    """A share along trees.

    chances: the chances of single stacks, for the problem with the borders of the trees alone.
    field: the territories of the trees.
    share: which stack takes what.
    """

    chances: StackChances
    field: int
    share: Share


def has_few_sets(problem: Problem, goal: int, field: int) -> bool:
    """Return whether the sets by which a goal may be taken can be counted.

    field: what may be attacked.
    """
    places = [v for v, _ in problem.stacks()]
    whole = _connected(problem, goal, field, places, LOSSES[0])
    return all(problem.borders.has_fewer_subsets(v, whole, MOST_SETS) for v in places)


def forests(problem: Problem, goal: int, field: int) -> Iterator[Forest]:
    """Yield an endless row of forests, the same each time.

    goal: the set to take, which the stacks can reach.
    field: what may be attacked.

    Goals are refused to which only trees with more than 12 branches at one territory lead.
    """
    battles = StackChances(problem, problem.most).battles
    places = [v for v, _ in problem.stacks()]
    found = False
    for turn in count():
        dice = random.Random(turn)  # noqa: S311 # no secret depends on it
        whole = _connected(problem, goal, field, places, LOSSES[turn % len(LOSSES)])
        children = _children(problem, whole, dice)
        if max(mask.bit_count() for mask in children) > MOST_FORKS:
            if turn > MOST_VAIN and not found:
                raise TooLargeError(
                    f"the goal must be reached by paths with at most {MOST_FORKS} dead ends, "
                    f"got {goal.bit_count()} territories"
                )
            continue
        found = True
        thinned = replace(problem, borders=Borders(children))
        chances = StackChances(thinned, thinned.most, battles)
        tasks = tuple(
            (v, n, part)
            for v, n in problem.stacks()
            if (part := thinned.borders.reachable(v, whole))
        )
        chance = prod(float(chances.chance(v, part)[n]) for v, n, part in tasks)
        yield Forest(chances, whole, Share(chance, tasks))


def _children(problem: Problem, whole: int, dice: random.Random) -> list[int]:
    """Return for each territory the set of its children, in trees that hold a whole set."""
    out = problem.borders.out
    children = [0] * len(out)
    walks = {v: [v] for v, _ in problem.stacks()}
    armies = {v: n - problem.garrisons[v] for v, n in problem.stacks()}
    left = whole
    while left and walks:
        v = max(walks, key=lambda each: (armies[each], -each))
        walk = walks[v]
        while walk and not out[walk[-1]] & left:
            walk.pop()
        if not walk:
            del walks[v]
            continue
        near = list(bits(out[walk[-1]] & left))
        c = min(near, key=lambda each: ((out[each] & left).bit_count(), dice.random()))
        if dice.random() < 0.2:
            c = dice.choice(near)
        children[walk[-1]] |= 1 << c
        left &= ~(1 << c)
        armies[v] -= problem.garrisons[c] + round(LOSSES[0] * problem.armies[c])
        walk.append(c)
    return children
