"""Search: which of the algorithms solve a goal, from the exact ones to the best effort.

1. Where each part of the goal is a tree of territories next to one stack alone, and nothing else
   can be attacked to any use, the equations of `iacta.plan.stack` are exact.
2. Where few states can occur, all of them are searched (`iacta.plan.exact`).
3. Else the goal is shared among the stacks (`sharing`, `extras`), and the plan improved where a
   lost battle leaves others that can take over (`rescue`); its bound comes from `bound`.
4. Goals with more sets than can be counted are taken along trees (`forest`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import NamedTuple

from iacta.plan.bound import Bound
from iacta.plan.exact import Exact, TooManyError, tree_parts
from iacta.plan.extras import Shares, hangs_together, union
from iacta.plan.forest import forest_plans, has_few_sets
from iacta.plan.policy import Errand, Policy
from iacta.plan.problem import Problem
from iacta.plan.rescue import Rescue
from iacta.plan.sets import bits
from iacta.plan.sharing import Share, best_share
from iacta.plan.stack import StackChances
from iacta.plan.states import Rewards, World

__all__ = [
    "UNFOLDED_AT_ONCE",
    "Effort",
    "Found",
    "effort_of",
    "reachable",
    "searched",
    "take_all",
    "useful_field",
]

SAME = 1e-13
PROVEN = 1e-9
MOST_FIELD = 8  # a search of all states is tried with so many territories to attack
MOST_OF_ONE = 13
UNFOLDED_AT_ONCE = 60


class Effort(NamedTuple):
    """How long a search may go on.

    armies: how many armies, able to attack, a search of all states is tried with.
    states: how many states it may look at.
    shared: how many territories are shared among several stacks in all ways.
    unfolded: how many states are unfolded to find rescues.
    unfolded_more: the same, where there are few territories or several stacks.
    forests: how many forests are tried for a goal of very many territories.
    late: tells whether the time is over.
    late_for_all: tells whether the time to search all states is over.
    """

    armies: int = 30
    states: int = 20_000
    shared: int = 9
    unfolded: int = 60
    unfolded_more: int = 300
    forests: int = 40
    late: Callable[[], bool] = lambda: False
    late_for_all: Callable[[], bool] = lambda: False


def effort_of(seconds: float | None) -> Effort:
    """Return the effort for a time: moderate without one, else all that the time allows.

    seconds: how long the search may take, or `None`.
    """
    if seconds is None:
        return Effort()
    start = monotonic()

    def late(part: float) -> bool:
        """Tell whether a part of the time is over.

        part: the part, from 0 to 1.
        """
        return monotonic() >= start + part * seconds

    return Effort(60, MANY, 13, MANY, MANY, MANY, partial(late, 1.0), partial(late, 0.5))


MANY = 10**6


@dataclass(frozen=True)
class Found:
    """A policy, what it is worth, and a bound on what any is worth."""

    policy: Policy
    value: float
    upper_bound: float

    def is_better(self, other: "Found") -> bool:
        """Tell whether this is worth more, or worth as much with a better bound.

        other: another one.
        """
        if abs(self.value - other.value) <= SAME:
            return self.upper_bound <= other.upper_bound
        return self.value > other.value


def reachable(problem: Problem) -> int:
    """Return all that the player's stacks could come to attack.

    problem: the problem.
    """
    found = 0
    for v, _ in problem.stacks():
        found |= problem.borders.reached(v, problem.enemy)
    return found


def useful_field(problem: Problem, goal: int) -> int:
    """Return what can be of use to attack for a goal.

    problem: the problem.
    goal: the set to take.

    Of what is left out, each part has one neighbour alone: whoever went in could come out only
    where he went in, on his own territory.
    """
    field = reachable(problem)
    stacks = 0
    for v, _ in problem.stacks():
        stacks |= 1 << v
    for part in problem.borders.parts(field & ~goal):
        near = 0
        for x in bits(part):
            near |= problem.borders.near[x]
        if (near & (goal & field | stacks)).bit_count() <= 1:
            field &= ~part
    return field


def take_all(problem: Problem, goal: int, effort: Effort) -> Iterator[Found]:
    """Yield better and better plans that take all of a set.

    problem: the problem.
    goal: the set, with no territory of the player's.
    effort: how long the search may go on.
    """
    chances = StackChances(problem, problem.most)
    field = useful_field(problem, goal)
    world = World(problem, field, Rewards(all_of=goal))
    stacks = problem.stacks()
    parts = tree_parts(problem.borders, field, tuple(v for v, _ in stacks))
    if not goal:
        yield Found(Policy(world, chances, None, {}, {}), 1.0, 1.0)
    elif goal & ~field:
        yield Found(Policy(world, chances, None, {}, {}), 0.0, 0.0)
    elif not has_few_sets(problem, goal, field):
        yield from _take_along_trees(problem, goal, field, effort)
    elif parts is not None and field == goal:
        share = best_share(chances, stacks, goal)
        yield _of_share(world, chances, share, share.chance)
    else:
        yield from _take_graph(world, chances, effort)


def _take_along_trees(problem: Problem, goal: int, field: int, effort: Effort) -> Iterator[Found]:
    """Yield better and better plans that take all of a set of very many territories."""
    best, upper = -1.0, 1.0
    for tried, grown in enumerate(forest_plans(problem, goal, field), start=1):
        if grown.chance > best:
            best = grown.chance
            yield Found(grown.policy, best, upper)
        if tried == 1 and not effort.late():
            upper = Bound(problem, grown.policy.chances.transfers).chance(goal, field)
            yield Found(grown.policy, best, upper)
        if effort.late() or tried >= effort.forests or upper - best <= PROVEN:
            return


def _take_graph(world: World, chances: StackChances, effort: Effort) -> Iterator[Found]:
    """Yield better and better plans that take all of a set that is no tree."""
    problem, field, goal = world.problem, world.field, world.rewards.all_of
    bound = Bound(problem, chances.transfers)
    upper = bound.chance(goal, field)
    share = Share(0.0, ())
    shares_all = is_shareable(problem, goal, effort)
    if shares_all:
        share = best_share(chances, problem.stacks(), goal)
        yield _of_share(world, chances, share, upper)
    if not shares_all or (field & ~goal and not effort.late()):
        share = max(share, Shares(chances, bound, goal, field).best())
        yield _of_share(world, chances, share, upper)
    for found in searched(world, chances, effort):
        yield found
        return
    if share.tasks and not effort.late():
        yield from _rescued(world, chances, share, upper, effort)


def is_shareable(problem: Problem, goal: int, effort: Effort) -> bool:
    """Tell whether all shares of a goal, without extras, can be looked at.

    problem: the problem.
    goal: the set to take.
    effort: how long the search may go on.
    """
    near = sum(bool(problem.borders.out[v] & goal) for v, _ in problem.stacks())
    few = goal.bit_count() <= (effort.shared if near > 1 else MOST_OF_ONE)
    return few and hangs_together(problem, goal)


def searched(world: World, chances: StackChances, effort: Effort) -> Iterator[Found]:
    """Yield the best plan of all, where its states are few enough to try.

    world: the world.
    chances: the chances of single stacks.
    effort: how long the search may go on.
    """
    problem, start = world.problem, world.start()
    armies = sum(n - problem.garrisons[v] for v, n in problem.stacks())
    if world.field.bit_count() > MOST_FIELD or armies > effort.armies:
        return
    exact = Exact(world, chances, effort.states, effort.late_for_all)
    try:
        value = exact.value(start)
    except TooManyError:
        return
    errands = {
        state: Errand((tasks,), state.reduced) for state, tasks in exact.tasks.items() if tasks
    }
    yield Found(Policy(world, chances, start, exact.moves, errands), value, value)


def _rescued(
    world: World, chances: StackChances, share: Share, upper: float, effort: Effort
) -> Iterator[Found]:
    """Yield the plan of a share, improved where another stack can take over."""
    few = world.field.bit_count() <= MOST_FIELD
    field = world.field if few else union(share) | world.rewards.all_of
    near = World(world.problem, field, world.rewards)
    for found in searched(near, chances, effort):
        yield Found(found.policy, found.value, upper)
        return
    rescue = Rescue(near, chances, share.tasks)
    more = field.bit_count() <= MOST_FIELD or len(world.problem.stacks()) > 1
    most = effort.unfolded_more if more else effort.unfolded
    while rescue.improve(most, UNFOLDED_AT_ONCE, effort.late):
        policy = Policy(near, chances, rescue.start, rescue.moves(), rescue.errands())
        yield Found(policy, rescue.value, upper)


def _of_share(world: World, chances: StackChances, share: Share, upper: float) -> Found:
    start = Errand((share.tasks,)) if share.tasks else None
    return Found(Policy(world, chances, start, {}, {}), share.chance, upper)
