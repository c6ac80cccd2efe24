"""Other goals: to take any of some territories, and the greatest worth that can be expected.

Where the states are few, all are searched (`iacta.plan.exact`), which proves the plan. Elsewhere a
plan is a row of tries, each of one stack and one set R_i, all disjoint.

Any of a set T: each try takes one target and what lies on the way, and the plan is over with the
first that succeeds. With p_i = F(v_i, n_i, R_i) the chance is 1 − Π (1 − p_i). The tries are chosen
one after another, the greatest p_i first. No chance exceeds the sum over T of the bounds of its
territories, as a plan that takes any takes one of them. `iacta.plan.rescue` lets each try meet what
the one before has left.

A worth: each try goes as far as it comes, and the next begins whatever became of it. Its worth is
the sum, over all territories, of what they pay times the chance to be conquered, and of the
continents times the product of the chances that each try takes its part, less what the lost armies
cost. A try grows by one territory at a time, as long as it gains. No worth exceeds the sum of all
that is paid, each times its bound.
"""

from collections.abc import Iterator

from iacta.plan.bound import Bound
from iacta.plan.extras import LOSSES, connected
from iacta.plan.goal import Worth
from iacta.plan.policy import Errand, Policy
from iacta.plan.problem import Problem
from iacta.plan.rescue import Rescue
from iacta.plan.search import UNFOLDED_AT_ONCE, Effort, Found, reachable, searched
from iacta.plan.sets import bits, mask_of
from iacta.plan.sharing import Tasks
from iacta.plan.stack import StackChances
from iacta.plan.states import Rewards, World

__all__ = ["most_worth", "take_any"]

MOST_GROWTH = 12
MOST_BOUNDED = 200  # territories of which each is given a bound of its own


def take_any(problem: Problem, goal: int, effort: Effort) -> Iterator[Found]:
    """Yield better and better plans that take any of a set.

    problem: the problem.
    goal: the set, with no territory of the player's.
    effort: how long the search may go on.
    """
    chances = StackChances(problem, problem.most)
    bound = Bound(problem, chances.transfers)
    field = reachable(problem)
    upper = min(1.0, sum(bound.chance(1 << t, field) for t in bits(goal)))
    world = World(problem, field, Rewards(any_of=goal))
    tries = tuple(_tries(chances, goal, field))
    missed = 1.0
    for ((v, n, targets),) in tries:
        missed *= 1.0 - float(chances.chance(v, targets)[n])
    chance = 1.0 - missed
    yield Found(Policy(world, chances, Errand(tries) if tries else None, {}, {}), chance, upper)
    value = chance
    for found in _searched(world, chances, upper, chance, effort, goal):
        yield found
        value, upper = found.value, found.upper_bound
    if tries and value < upper:
        rescue = Rescue(world, chances, tries[0])
        while rescue.improve(effort.unfolded_more, UNFOLDED_AT_ONCE, effort.late):
            policy = Policy(world, chances, rescue.start, rescue.moves(), rescue.errands())
            yield Found(policy, rescue.value, upper)


def _tries(chances: StackChances, goal: int, field: int) -> Iterator[Tasks]:
    """Yield tries, each with the greatest chance that is left."""
    problem = chances.problem
    stacks, free = list(problem.stacks()), field
    while stacks:
        ways = [
            (float(chances.chance(v, way)[n]), v, n, way)
            for v, n in stacks
            for t in bits(goal & free)
            for way in {
                connected(problem, 1 << t, free & ~goal | 1 << t, v, loss) for loss in LOSSES
            }
            if way
        ]
        chance, v, n, way = max(ways, default=(0.0, 0, 0, 0))
        if not chance:
            return
        yield ((v, n, way),)
        stacks.remove((v, n))
        free &= ~way


def _searched(
    world: World,
    chances: StackChances,
    upper: float,
    value: float,
    effort: Effort,
    near: int,
) -> Iterator[Found]:
    """Yield the plans of a search of all states, first with few territories, then with all."""
    for field in dict.fromkeys((near & world.field, world.field)):
        if effort.late():
            return
        for found in searched(World(world.problem, field, world.rewards), chances, effort):
            whole = field == world.field
            if whole or found.value > value:
                yield Found(found.policy, found.value, found.value if whole else upper)


def most_worth(problem: Problem, goal: Worth, effort: Effort) -> Iterator[Found]:
    """Yield plans of more and more worth, what the player has at the start left out.

    problem: the problem.
    goal: what all is worth.
    effort: how long the search may go on.
    """
    chances = StackChances(problem, problem.most)
    field = reachable(problem)
    world = World(problem, field, _rewards(problem, goal, field))
    tries: tuple[Tasks, ...] = ()
    best = 0.0
    stay = Policy(world, chances, None, {}, {})
    yield Found(stay, 0.0, _most(world, None, effort))
    upper = _most(world, Bound(problem, chances.transfers), effort)
    yield Found(stay, 0.0, upper)
    for v, n in sorted(problem.stacks(), key=lambda stack: -stack[1]):
        used = mask_of([t for ((_, _, targets),) in tries for t in bits(targets)])
        grown, value = _grown(world, chances, tries, (v, n), field & ~used, effort)
        if value > best:
            tries, best = grown, value
            yield Found(Policy(world, chances, Errand(tries), {}, {}), best, upper)
    yield from _searched(world, chances, upper, best, effort, field)


def _rewards(problem: Problem, goal: Worth, field: int) -> Rewards:
    names = problem.board.territories
    numbers = {name: t for t, name in enumerate(names)}
    continents = []
    for each in problem.board.continents:
        missing = mask_of([numbers[name] for name in each.territories]) & problem.enemy
        if missing and not missing & ~field and goal.bonus * each.bonus:
            continents.append((missing, goal.bonus * each.bonus))
    paid = tuple(goal.of(name) for name in names)
    return Rewards(territories=paid, continents=tuple(continents), army=goal.army)


def _most(world: World, bound: Bound | None, effort: Effort) -> float:
    """Return a bound on what any plan gains: all that is paid, each times its bound.

    Where no bound is given, the time is over, or there are too many territories, it is 1.
    """
    rewards, field = world.rewards, world.field

    def chance(mask: int) -> float:
        """Return the bound of a set."""
        far = bound is None or field.bit_count() > MOST_BOUNDED or effort.late()
        return 1.0 if bound is None or far else bound.chance(mask, field)

    lands = sum(rewards.territories[t] * chance(1 << t) for t in bits(field))
    return lands + sum(max(paid, 0.0) * chance(mask) for mask, paid in rewards.continents)


def _grown(
    world: World,
    chances: StackChances,
    tries: tuple[Tasks, ...],
    stack: tuple[int, int],
    free: int,
    effort: Effort,
) -> tuple[tuple[Tasks, ...], float]:
    """Return the tries with one more of a stack, and what they gain."""
    v, n = stack
    best, best_value, targets = tries, tries_worth(world, chances, tries), 0
    while targets.bit_count() < MOST_GROWTH and not effort.late():
        edge = world.problem.borders.out[v]
        for u in bits(targets):
            edge |= world.problem.borders.out[u]
        wider = [(*tries, ((v, n, targets | 1 << x),)) for x in bits(edge & free & ~targets)]
        wider += [
            (*tries, ((v, n, targets | mask & free),))
            for mask, _ in world.rewards.continents
            if mask & free & ~targets
            and world.problem.borders.holds(v, targets | mask & free)
            and (targets | mask & free).bit_count() <= MOST_GROWTH
        ]
        values = [(tries_worth(world, chances, each), each) for each in wider]
        value, found = max(values, default=(0.0, tries))
        if value <= best_value:
            break
        best, best_value = found, value
        targets = found[-1][0][2]
    return best, best_value


def tries_worth(world: World, chances: StackChances, tries: tuple[Tasks, ...]) -> float:
    """Return what some tries gain in the mean.

    world: the world.
    chances: the chances of single stacks.
    tries: one stack and one set each.
    """
    if not tries:
        return 0.0
    rewards = world.rewards
    flow = Policy(world, chances, Errand(tries), {}, {}).flow()
    gained = sum(each.conquered * rewards.territories[a.to] for a, each in flow.passages.items())
    gained += rewards.army * sum(flow.armies.values())
    for mask, paid in rewards.continents:
        chance, missing = paid, mask
        for turn, ((_, _, targets),) in enumerate(tries):
            if targets & mask:
                chance *= flow.completed[turn, mask]
                missing &= ~targets
        gained += 0.0 if missing else chance
    return float(gained)
