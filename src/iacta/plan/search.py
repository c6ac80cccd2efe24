"""The search for plans that fight each battle to its end, from exact algorithms to the best effort.

To take all of a set:

1. Where each part of the goal is a tree of territories next to one stack alone, and nothing else
   is of any use to attack, the equations of `iacta.plan.one_stack` are exact.
2. Where few states can occur, all of them are searched (`iacta.plan.exact_turn`).
3. Elsewhere the goal is shared among the stacks (`iacta.plan.shares`), and the plan improved where
   others can take over after a lost battle (`iacta.plan.improvement`). `iacta.plan.bound` says how
   much better another plan may be.
4. Goals with more sets than can be counted are taken along trees (`iacta.plan.sharing`).

For the other goals too, all states are searched where they are few, which proves the plan.
Elsewhere a plan is a row of tries, each of one stack and one set R_i, all disjoint.

To take any of a set T, each try takes one target and what lies on the way, and the first success
ends the plan. With p_i = F(v_i, n_i, R_i) the chance is 1 − Π (1 − p_i). The tries are chosen one
after another, the greatest p_i first. No chance exceeds the sum over T of the bounds of its
territories, as a plan that takes any takes one of them. Improvement lets each try meet what the one
before has left.

For a worth, each try goes as far as it can, and the next begins whatever became of it. Its worth is
the sum, over all territories, of what they pay times the chance to be conquered, and of the
continents times the product of the chances that each try takes its part, minus the cost of the lost
armies. A try grows by one territory at a time, as long as it gains. No worth exceeds the sum of all
that is paid, each times its bound.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from iacta.plan.bound import Bound
from iacta.plan.compiled import clock
from iacta.plan.exact_policy import ExactPolicy
from iacta.plan.exact_turn import solve_turn
from iacta.plan.game import Game, tree_parts
from iacta.plan.goals import InOrder, Rewards, Worth, worth_rewards
from iacta.plan.improvement import Improvement
from iacta.plan.one_stack import StackChances, Tasks
from iacta.plan.policy import Agenda, Policy
from iacta.plan.problem import Problem, bits, mask_of, union
from iacta.plan.roll_by_roll import Lookahead, is_too_large
from iacta.plan.sharing import (
    NOTHING,
    Share,
    best_share,
    forests,
    has_few_sets,
    ways_to,
)
from iacta.plan.turn import Turn

__all__ = [
    "PROVEN",
    "Candidate",
    "Effort",
    "effort_of",
    "most_worth",
    "reachable",
    "take_all",
    "take_any",
    "useful_field",
]

SAME = 1e-13
PROVEN = 1e-9
MOST_FIELD = 8  # a search of all states is tried with so many territories to attack
MOST_OF_ONE = 13
UNFOLDED_AT_ONCE = 60
MOST_GROWTH = 12
MOST_BOUNDED = 200  # territories of which each is given a bound of its own
MANY = 10**6


class Effort(NamedTuple):
    """How long a search may go on.

    armies: how many armies, able to attack, a search of all states is tried with.
    states: how many states it may look at.
    shared: how many territories are shared among several stacks in all ways.
    unfolded: how many states are unfolded to improve a policy.
    unfolded_more: the same, where there are few territories or several stacks.
    forests: how many forests are tried for a goal of very many territories.
    late: tells whether the time is over.
    late_for_all: tells whether the time to search all states is over.
    """

    armies: int = 30
    states: int = 100_000
    shared: int = 9
    unfolded: int = 60
    unfolded_more: int = 300
    forests: int = 40
    late: Callable[[], bool] = lambda: False
    late_for_all: Callable[[], bool] = lambda: False


def effort_of(seconds: float | None) -> Effort:
    """Return the effort for a time: moderate without one, otherwise all that the time allows."""
    if seconds is None:
        return Effort()
    start, limit = clock(), seconds

    def late(part: float) -> bool:
        return clock() >= start + part * limit

    return Effort(60, MANY, 13, MANY, MANY, MANY, partial(late, 1.0), partial(late, 0.5))


@dataclass(frozen=True)
class Candidate:
    """A policy, its value, and a bound on the value of every policy."""

    policy: Policy
    value: float
    upper_bound: float

    def is_better(self, other: "Candidate") -> bool:
        """Return whether this is worth more than another, or as much with a better bound."""
        if abs(self.value - other.value) <= SAME:
            return self.upper_bound <= other.upper_bound
        return self.value > other.value


def reachable(problem: Problem) -> int:
    """Return all that the player's stacks could come to attack."""
    return problem.borders.reachable_from((v for v, _ in problem.stacks()), problem.enemy)


def _searched(game: Game, chances: StackChances, effort: Effort) -> tuple[Policy, float] | None:
    """Return the best policy of all and its value, where its states are few enough to try."""
    problem = game.problem
    armies = sum(n - problem.garrisons[v] for v, n in problem.stacks())
    if game.field.bit_count() > MOST_FIELD or armies > effort.armies:
        return None
    turn = Turn(problem, game.field, game.rewards, whole_battles=True)
    exact = solve_turn(turn, effort.states, effort.late_for_all)
    return None if exact is None else (ExactPolicy(game, chances, exact), exact.value)


def _improved(
    game: Game, chances: StackChances, tasks: Tasks, upper: float, most: int, effort: Effort
) -> Iterator[Candidate]:
    """Yield the policy of some tasks, improved where another stack can take over."""
    improvement = Improvement(game, chances, tasks)
    while improvement.improve(most, UNFOLDED_AT_ONCE, effort.late):
        yield Candidate(improvement.policy(), improvement.value, upper)


# To take all of a set.


def useful_field(problem: Problem, goal: int) -> int:
    """Return what can be of use to attack for a goal.

    Each part of what is left out has a single neighbour: whoever went in could only come out where
    he went in, on his own territory.
    """
    field = reachable(problem)
    stacks = mask_of(v for v, _ in problem.stacks())
    for part in problem.borders.components(field & ~goal):
        near = union(problem.borders.near[x] for x in bits(part))
        if (near & (goal & field | stacks)).bit_count() <= 1:
            field &= ~part
    return field


def take_all(
    problem: Problem, goal: int, effort: Effort, lookahead: Lookahead | None = None
) -> Iterator[Candidate]:
    """Yield better and better plans that take all of a set, none of it the player's.

    lookahead: the policy of real play for the goal, if there is one: it knows a good share.
    """
    chances = StackChances(problem, problem.most)
    field = useful_field(problem, goal)
    game = Game(problem, field, Rewards(all_of=goal))
    places = tuple(v for v, _ in problem.stacks())
    if not goal:
        yield Candidate(Policy(game, chances), 1.0, 1.0)
    elif goal & ~field:
        yield Candidate(Policy(game, chances), 0.0, 0.0)
    elif not has_few_sets(problem, goal, field):
        yield from _take_along_trees(problem, goal, field, effort)
    elif field == goal and tree_parts(problem.borders, field, places) is not None:
        share = best_share(chances, problem.stacks(), goal)
        yield _candidate(game, chances, share, share.chance)
    else:
        yield from _take_graph(game, chances, effort, lookahead)


def _candidate(game: Game, chances: StackChances, share: Share, upper: float) -> Candidate:
    start = Agenda((share.tasks,)) if share.tasks else None
    return Candidate(Policy(game, chances, start), share.chance, upper)


def _take_along_trees(
    problem: Problem, goal: int, field: int, effort: Effort
) -> Iterator[Candidate]:
    """Yield better and better plans that take all of a set of very many territories."""
    best, upper = -1.0, 1.0
    for tried, (chances, trees, share) in enumerate(forests(problem, goal, field), start=1):
        game = Game(chances.problem, trees, Rewards(all_of=goal))
        candidate = _candidate(game, chances, share, upper)
        if share.chance > best:
            best = share.chance
            yield candidate
        if tried == 1 and not effort.late():
            upper = Bound(problem).chance(goal, field)
            yield Candidate(candidate.policy, best, upper)
        if effort.late() or tried >= effort.forests or upper - best <= PROVEN:
            return


def _take_graph(
    game: Game, chances: StackChances, effort: Effort, lookahead: Lookahead | None
) -> Iterator[Candidate]:
    """Yield better and better plans that take all of a set that is no tree."""
    problem, field, goal = game.problem, game.field, game.rewards.all_of
    upper = Bound(problem).chance(goal, field)
    share = NOTHING
    near = [v for v, _ in problem.stacks() if problem.borders.out[v] & goal]
    if (
        goal.bit_count() <= (effort.shared if len(near) > 1 else MOST_OF_ONE)
        and problem.borders.reachable_from(near, goal) == goal
    ):  # in all ways, without extras
        share = best_share(chances, problem.stacks(), goal)
        yield _candidate(game, chances, share, upper)
    if found := _searched(game, chances, effort):
        policy, value = found
        yield Candidate(policy, value, value)
        return
    if lookahead is None:
        turn = Turn(problem, field, game.rewards)
        lookahead = None if is_too_large(turn) else Lookahead(turn, effort.late)
    if lookahead is not None and lookahead.value > share.chance:
        share = Share(lookahead.value, lookahead.tasks)
    yield _candidate(game, chances, share, upper)
    if share.tasks and not effort.late():
        yield from _improved_share(game, chances, share, upper, effort)


def _improved_share(
    game: Game, chances: StackChances, share: Share, upper: float, effort: Effort
) -> Iterator[Candidate]:
    """Yield better plans with what a share takes alone, where the game has many territories."""
    field = game.field
    if field.bit_count() > MOST_FIELD:
        field = union(targets for _, _, targets in share.tasks) | game.rewards.all_of
    small = Game(game.problem, field, game.rewards)
    if found := _searched(small, chances, effort):
        policy, value = found
        yield Candidate(policy, value, upper)
        return
    more = field.bit_count() <= MOST_FIELD or len(game.problem.stacks()) > 1
    most = effort.unfolded_more if more else effort.unfolded
    yield from _improved(small, chances, share.tasks, upper, most, effort)


# To take any of a set.


def take_any(problem: Problem, goal: int, effort: Effort) -> Iterator[Candidate]:
    """Yield better and better plans that take any of a set, none of it the player's."""
    chances = StackChances(problem, problem.most)
    bound = Bound(problem)
    field = reachable(problem)
    upper = min(1.0, sum(bound.chance(1 << t, field) for t in bits(goal)))
    game = Game(problem, field, Rewards(any_of=goal))
    tries = tuple(_tries(chances, goal, field))
    missed = 1.0
    for ((v, n, targets),) in tries:
        missed *= 1.0 - float(chances.chance(v, targets)[n])
    value = 1.0 - missed
    yield Candidate(Policy(game, chances, Agenda(tries)), value, upper)
    for found in _searched_in_turn(game, chances, upper, value, effort, goal):
        yield found
        value, upper = found.value, found.upper_bound
    if tries and value < upper:
        yield from _improved(game, chances, tries[0], upper, effort.unfolded_more, effort)


def _tries(chances: StackChances, goal: int, field: int) -> Iterator[Tasks]:
    """Yield tries, each with the greatest chance that is left."""
    problem = chances.problem
    stacks, free = list(problem.stacks()), field
    while stacks:
        ways = [
            (float(chances.chance(v, way)[n]), v, n, way)
            for v, n in stacks
            for t in bits(goal & free)
            for way in ways_to(problem, 1 << t, free & ~goal | 1 << t, v)
        ]
        chance, v, n, way = max(ways, default=(0.0, 0, 0, 0))
        if not chance:
            return
        yield ((v, n, way),)
        stacks.remove((v, n))
        free &= ~way


def _searched_in_turn(
    game: Game, chances: StackChances, upper: float, value: float, effort: Effort, near: int
) -> Iterator[Candidate]:
    """Yield the plans of a search of all states, first with few territories, then with all."""
    for field in dict.fromkeys((near & game.field, game.field)):
        if effort.late():
            return
        if found := _searched(Game(game.problem, field, game.rewards), chances, effort):
            policy, worth = found
            whole = field == game.field
            if whole or worth > value:
                yield Candidate(policy, worth, worth if whole else upper)


# To gain the most.


def most_worth(problem: Problem, goal: Worth | InOrder, effort: Effort) -> Iterator[Candidate]:
    """Yield plans of more and more worth, not counting what the player has at the start."""
    chances = StackChances(problem, problem.most)
    field = reachable(problem)
    game = Game(problem, field, worth_rewards(problem, goal, field))
    tries: tuple[Tasks, ...] = ()
    best = 0.0
    stay = Policy(game, chances)
    yield Candidate(stay, 0.0, _most(game, None, effort))
    upper = _most(game, Bound(problem), effort)
    yield Candidate(stay, 0.0, upper)
    for v, n in sorted(problem.stacks(), key=lambda stack: -stack[1]):
        used = union(targets for ((_, _, targets),) in tries)
        grown, value = _grown(game, chances, tries, (v, n), field & ~used, effort)
        if value > best:
            tries, best = grown, value
            yield Candidate(Policy(game, chances, Agenda(tries)), best, upper)
    yield from _searched_in_turn(game, chances, upper, best, effort, field)


def _most(game: Game, bound: Bound | None, effort: Effort) -> float:
    """Return a bound on what any plan gains: all that is paid, each times its bound.

    Where no bound is given, the time is over, or there are too many territories, that bound is 1.
    """
    rewards, field = game.rewards, game.field

    def chance(mask: int) -> float:
        if bound is None or field.bit_count() > MOST_BOUNDED or effort.late():
            return 1.0
        return bound.chance(mask, field)

    lands = sum(rewards.territories[t] * chance(1 << t) for t in bits(field))
    return lands + sum(max(paid, 0.0) * chance(mask) for mask, paid in rewards.continents)


def _grown(
    game: Game,
    chances: StackChances,
    tries: tuple[Tasks, ...],
    stack: tuple[int, int],
    free: int,
    effort: Effort,
) -> tuple[tuple[Tasks, ...], float]:
    """Return the tries with one more of a stack, and what they gain."""
    v, n = stack
    borders = game.problem.borders
    best, best_value, targets = tries, _value_of(game, chances, tries), 0
    # A first step is tried in any case: to stay is no advice where nothing else was looked at.
    while targets.bit_count() < MOST_GROWTH and not (targets and effort.late()):
        edge = union(borders.out[u] for u in (v, *bits(targets)))
        wider = [targets | 1 << x for x in bits(edge & free & ~targets)]
        wider += [
            whole
            for whole in (targets | mask & free for mask, _ in game.rewards.continents)
            if whole != targets and borders.connects(v, whole) and whole.bit_count() <= MOST_GROWTH
        ]
        options = [(*tries, ((v, n, each),)) for each in wider]
        values = [(_value_of(game, chances, option), option) for option in options]
        value, found = max(values, default=(0.0, tries))
        if value <= best_value:
            break
        best, best_value = found, value
        targets = found[-1][0][2]
    return best, best_value


def _value_of(game: Game, chances: StackChances, tries: tuple[Tasks, ...]) -> float:
    """Return what some tries, one stack and one set each, gain on average."""
    if not tries:
        return 0.0
    rewards = game.rewards
    visits = Policy(game, chances, Agenda(tries)).visits()
    gained = sum(
        visit.conquered * rewards.territories[attack.to] for attack, visit in visits.battles.items()
    )
    gained += rewards.army * sum(visits.armies.values())
    for mask, paid in rewards.continents:
        chance, missing = paid, mask
        for turn, ((_, _, targets),) in enumerate(tries):
            if targets & mask:
                chance *= visits.completed[turn, mask]
                missing &= ~targets
        gained += 0.0 if missing else chance
    return float(gained)
