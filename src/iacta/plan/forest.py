"""Forests: plans for goals of so many territories that their sets cannot be counted.

The recursion over sets (`iacta.plan.stack`) takes one step for each set that hangs together, and a
continent has hundreds of them, a whole board more than can ever be counted. Here the borders are
thinned out first: each stack gets a tree of territories, the goal among them, and goes along its
borders only, from parent to child. On a tree the recursion is exact and has few sets; so each
forest has its best plan and that plan's exact chance, and the best of many forests is taken. A tree
that branches seldom leaves few armies behind, so a tree is grown as a walk that turns back only
where it must, to the neighbour from which fewest ways lead on.

The search proves nothing: the bound of the plan says how much it may have missed.
"""

import random
from collections.abc import Iterator
from itertools import count
from math import prod
from typing import NamedTuple

from iacta.errors import TooLargeError
from iacta.plan.extras import LOSSES, cheapest_way
from iacta.plan.policy import Errand, Policy
from iacta.plan.problem import Problem
from iacta.plan.sets import Borders, bits
from iacta.plan.stack import StackChances
from iacta.plan.states import Rewards, World

__all__ = ["Grown", "forest_plans", "has_few_sets"]

MOST_SETS = 6_000
MOST_FORKS = 12  # children of one territory, whose order is tried in all ways
MOST_VAIN = 50  # forests that may be grown in vain


class Grown(NamedTuple):
    """A plan along a forest, and its chance."""

    policy: Policy
    chance: float


def has_few_sets(problem: Problem, goal: int, field: int) -> bool:
    """Tell whether the sets by which a goal may be taken can be counted.

    problem: the problem.
    goal: the set to take.
    field: what may be attacked.
    """
    whole = _whole(problem, goal, field, LOSSES[0])
    return all(problem.borders.has_growths_below(v, whole, MOST_SETS) for v, _ in problem.stacks())


def forest_plans(problem: Problem, goal: int, field: int) -> Iterator[Grown]:
    """Yield a plan for each of an endless row of forests, the same each time.

    problem: the problem.
    goal: the set to take, in the reach of the stacks.
    field: what may be attacked.

    Goals are refused to which only trees with more than 12 branches at one territory lead.
    """
    transfers = StackChances(problem, problem.most).transfers
    found = False
    for turn in count():
        dice = random.Random(turn)  # noqa: S311 # no secret depends on it
        whole = _whole(problem, goal, field, LOSSES[turn % len(LOSSES)])
        children = _forest(problem, whole, dice)
        if max(mask.bit_count() for mask in children) > MOST_FORKS:
            if turn > MOST_VAIN and not found:
                raise TooLargeError(
                    f"the goal must be one to which no way has more than {MOST_FORKS} dead ends, "
                    f"got {goal.bit_count()} territories"
                )
            continue
        found = True
        thinned = _thinned(problem, children)
        chances = StackChances(thinned, thinned.most, transfers)
        tasks = tuple(
            (v, n, part) for v, n in problem.stacks() if (part := thinned.borders.reached(v, whole))
        )
        chance = prod(float(chances.chance(v, part)[n]) for v, n, part in tasks)
        if any(n <= problem.garrisons[v] for v, n, _ in tasks):
            chance = 0.0
        world = World(thinned, whole, Rewards(all_of=goal))
        yield Grown(Policy(world, chances, Errand((tasks,)), {}, {}), chance)


def _whole(problem: Problem, goal: int, field: int, loss: float) -> int:
    """Return a goal and what connects it to the stacks, always the nearest target next."""
    starts = [v for v, _ in problem.stacks()]
    whole, reached = goal, _reached(problem, starts, goal)
    while goal & ~reached:
        way = cheapest_way(problem, [*starts, *bits(reached)], goal & ~reached, field, loss)
        if not way:
            break
        whole |= way
        reached = _reached(problem, starts, whole)
    return whole


def _reached(problem: Problem, starts: list[int], mask: int) -> int:
    found = 0
    for v in starts:
        found |= problem.borders.reached(v, mask)
    return found


def _forest(problem: Problem, whole: int, dice: random.Random) -> list[int]:
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


def _thinned(problem: Problem, children: list[int]) -> Problem:
    return Problem(
        problem.board,
        problem.rules,
        problem.armies,
        problem.owned,
        problem.garrisons,
        problem.resting,
        Borders(children),
    )
