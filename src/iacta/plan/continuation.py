"""Cards: how a turn goes on with what an eliminated player's cards bring.

Who eliminates a player gets their cards. With six or more in hand they trade in sets at once, until
four or fewer are left (`iacta.game.traded_armies`), and place the new armies, in the same turn.

What comes after the first goal depends on where armies are then. On a small board the whole turn is
solved backward: from the best play after each placement of the new armies, over what the cards may
bring, to the best play until then.

Elsewhere a better turn may exist. Several policies are tried for its first part: those that are
best to reach the first goal, or all goals in order, also with the later goals worth far more, and
those that are paid for armies left as well.

Games of a policy are drawn at random until the first goal is reached. What the new armies are worth
there is asked as in `iacta.plan.reinforcement`: on a small board they are placed as is best, and
the turn goes on as well as can be; elsewhere both go by a quick look. A few games say which
policies are the better half, twice as many which half of these, and so on; others say what the best
is worth. With x what a game came to, and l the luck that the policy saw in it, the mean of x − βl
is that of x, and β = cov(x, l) / var(l) makes its variance the least.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from math import fsum
from typing import Any, NamedTuple, Unpack

import numpy as np

from iacta.board import Position
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import ChartLike, DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import Progress, plan_of, rising
from iacta.plan.goals import Goal, InOrder, TakeAll, Worth
from iacta.plan.plan import Plan
from iacta.plan.planner import Found, followed
from iacta.plan.policy import STARTS, Policy, attach_search, best_policy
from iacta.plan.problem import Problem, TurnState, read_problem
from iacta.plan.reinforcement import Placements, PlanOptions, QuickValues
from iacta.plan.search import Search
from iacta.plan.simulated import final_states, games
from iacta.probability.distribution import Distribution
from iacta.probability.estimate import MIN_GAMES, NORMAL_QUANTILE, mean_error

ENDS = 128
PILOT = 8  # of the games, this part says how good a policy is
FIRST, PILOTED, LAST = 0.2, 0.4, 0.7  # parts of the time that is left
WORK = 0.5  # of the usual, to say how the policy goes that is chosen
LATER = 20.0  # what later goals are worth, next to the first, in a policy that is tried
ARMY = (0.01, 0.04)  # what an army left is worth, next to the first goal, in other policies
FEW_STATES = 50_000  # of the first part of the turn, for the best play
MOST_STATES = 2_000  # of what follows an end, for the best play
EXACT = 0.3  # of the time may go into the search for the best turn of all
MOST_TURN_STATES = 6_000  # until the first goal is reached, for the best turn of all
MOST_ENDS = 1_000  # at which it is reached
SAME = 1e-12


@dataclass(frozen=True, repr=False)
class Continuation(DisplayMixin):
    """A turn that goes on with new armies when the first goal is reached.

    plan: the plan that is followed until the first goal is reached.
    first: the chance that it is reached; `None`, as the two other chances, where there was no time
        for a single game of the plan.
    armies: the distribution of the new armies, once it is reached.
    win_probability: the chance that the first goal and the next one are reached, or an estimate.
    error: the standard error of an estimate, which is never 0, as rare ends may not have been seen.
    without: the same without new armies, after the same plan, from the same games.
    ends: from how many games of the first plan they are estimated, 0 where they are exact.
    proven: whether the turn is the best of all, and its chances are exact.
    """

    plan: Plan
    first: float | None
    armies: Distribution[int]
    win_probability: float | None
    error: float
    without: float | None
    ends: int
    proven: bool = False

    def plot(self, *context: Any) -> ChartLike:
        """Return the picture of the plan; `context` is as for `DisplayMixin.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = self.plan.goal.phrase(self.plan.position)
        if self.win_probability is None:
            return f"{aim} and go on, no estimate yet"
        return f"{aim} and go on, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float] | None:
        """An interval that has the chance in 95% of all cases; `None` where there is no chance."""
        if self.win_probability is None or self.first is None:
            return None
        if self.proven:
            return self.win_probability, self.win_probability
        low, high = (self.win_probability + s * NORMAL_QUANTILE * self.error for s in (-1, 1))
        return max(low, 0.0), min(high, self.first if self.plan.interval is None else 1.0)


def go_on(
    position: Position,
    goal: InOrder,
    armies: Distribution[int] | Mapping[int, float],
    *,
    ends: int = ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[PlanOptions],
) -> Continuation:
    """Return the best turn that is found when reaching the first of two goals brings new armies.

    position: who holds what.
    goal: the goals in order; where there are more than two, the second is to reach all the others.
    armies: the distribution of the new armies, such as that of `traded_armies`.
    ends: from how many games of the first plan the chance is estimated.
    seed: of their dice.
    time_limit: the most seconds that it may take; `None` for no limit.
    progress: called with the chance of the best turn so far, and with 1.
    options: as for `reinforce`.

    On a small board the turn is the best of all. Elsewhere several plans are tried that begin it;
    all of them end as soon as the first goal is reached.
    """
    new = armies if isinstance(armies, Distribution) else Distribution(armies)
    number = read_int(ends, "ends", least=1)
    if not isinstance(goal, InOrder) or len(goal.goals) < 2:
        raise IllegalError(f"goal must be at least two goals in order, got {quote(goal)}")
    deadline, show = Deadline.of(time_limit), rising(progress)
    first = read_problem(position, goal.goals[0], **options)
    names = chain(*(each.names for each in goal.read(position.board).goals[1:]))
    later = _Later(TakeAll(tuple(dict.fromkeys(names))), new)
    best = _best_turn(first, read_problem(position, goal, **options), later, deadline)
    if best is not None:
        if best.win_probability is not None:
            show(best.win_probability, 1.0)
        return best
    policies = [*_policies(first, goal, deadline.part(FIRST), options)]
    tried = [_Turn(policy, policies[0], later, seed) for policy in policies]
    with suppress(KeyboardInterrupt):
        end, few = deadline.part(PILOTED), max(number // PILOT, 2)
        while len(tried) > 1:
            for turn in tried:
                turn.look_at(few, end.part(1 / (2 * len(tried))))
            tried.sort(key=lambda turn: -turn.value)
            show(tried[0].value, 1.0)
            tried, few = tried[: (len(tried) + 1) // 2], 2 * few
        tried[0].begin(1)  # the games by which it was chosen favour it
        tried[0].look_at(number, deadline.part(LAST))
    return tried[0].continuation(deadline)


class _Later(NamedTuple):
    """What comes after the first goal."""

    goal: TakeAll
    armies: Distribution[int]


def _best_turn(
    first: Problem, whole: Problem, later: _Later, deadline: Deadline
) -> Continuation | None:
    """Return the best turn of all; `None` where finding it takes too much.

    first, whole: the problems of the first goal, and of all in order.
    """
    until, part = make_mask(map(first.place, first.goal.names)), deadline.part(EXACT)
    if not until & ~first.owned:
        return None
    known: dict[TurnState, _End] = {}

    def worth(state: TurnState) -> float | None:
        known[state] = _End(whole, state, later, part)
        value = known[state].mean()
        return value if known[state].proven else None

    search = Search(whole, deadline, until=until)
    value = search.solve_until(part, MOST_TURN_STATES, MOST_ENDS, worth)
    if value is None:
        return None
    policy = attach_search(Policy(whole), search)
    reached = {s: p for s, p in final_states(policy).items() if not until & ~s.owned}
    chance = fsum(reached.values())
    without = fsum(p * known[state].worth(0) for state, p in reached.items())
    report, best = search.flow(deadline), best_policy(first, deadline)
    if report is None:
        return None
    bound = 1.0 if best is None else best.decide(first.start).value
    found = Found(policy, chance, None, chance, report, 0)
    plan = _plan_until(plan_of(found, deadline.seconds), first.goal, chance, bound)
    return Continuation(plan, chance, later.armies, value, 0.0, without, 0, proven=True)


def _plan_until(plan: Plan, goal: Goal, chance: float, bound: float) -> Plan:
    """Return a plan that does more than reach a goal as one that is to reach it."""
    return replace(
        plan,
        goal=goal,
        win_probability=chance,
        value=chance,
        upper_bound=max(bound, chance),
        proven=False,
        battles_value=None,
        stages=(),
    )


class _End:
    """The value of a turn once the first goal is reached.

    first: the problem of the goal that is reached.
    state: a state in which it is.
    end: when the search must end.
    """

    def __init__(self, first: Problem, state: TurnState, later: _Later, end: Deadline) -> None:
        new = dict.fromkeys(bits(state.owned), max(later.armies))
        problem = first.at_state(state.add_armies(new), later.goal)
        problem.refuse_large()
        self._new = Placements(state, QuickValues(problem, end, MOST_STATES), end)
        self._armies, self.proven = later.armies, True

    def worth(self, armies: int) -> float:
        """Return the chance to reach the later goals with some new armies.

        It is that of the best play as long as `proven` says so.
        """
        new = self._new
        value = new.value(new.compared(armies)[0])
        self.proven &= new.values.proven and (new.has_tried_all or not new.places)
        return value

    def mean(self) -> float:
        return sum(float(p) * self.worth(n) for n, p in self._armies.items())


def _policies(
    first: Problem, goal: InOrder, deadline: Deadline, options: PlanOptions
) -> Iterator[Policy]:
    """Yield policies that may begin the turn, each for the first goal or for all in order."""
    one, *others = goal.goals
    goals: list[Goal] = [goal, InOrder(goal.goals, (1.0, *(LATER for _ in others)))]
    if not first.held:
        goals += [Worth(0.0, bonus=0.0, army=army, prizes=((one, 1.0),)) for army in ARMY]
    problems = [first, *(read_problem(first.position, each, **options) for each in goals)]
    for place, problem in enumerate(problems):
        part = deadline.part(1 / (len(problems) - place))
        best = best_policy(problem, part, FEW_STATES)
        if best is not None:
            yield best
        elif problem.goal.is_chance or isinstance(problem.goal, InOrder):
            yield Policy(problem, Search(problem).assign(part, STARTS))


class _Turn:
    """A turn that begins with a policy, as far as its games have been looked at."""

    def __init__(self, policy: Policy, first: Policy, later: _Later, seed: int) -> None:
        self.policy, self.first, self.later, self.seed = policy, first, later, seed
        self._until = make_mask(map(first.problem.place, first.problem.goal.names))
        self._known: dict[TurnState, tuple[float, float]] = {}
        self.begin(0)

    def begin(self, part: int) -> None:
        """Look at other games than before from now on."""
        self._found: list[tuple[float, float, float]] = []  # with new armies, without, and the luck
        rng = np.random.default_rng((self.seed, part))
        self._games = games(self.policy, rng, self._until)

    def look_at(self, count: int, deadline: Deadline) -> None:
        """Look at games, until there are enough or the time is over."""
        while len(self._found) < count and not (self._found and deadline.is_over):
            end, luck = next(self._games)
            if end not in self._known:
                self._known[end] = self._values_of(end, deadline)
            self._found.append((*self._known[end], luck))

    def _values_of(self, state: TurnState, deadline: Deadline) -> tuple[float, float]:
        if self._until & ~state.owned:
            return 0.0, 0.0
        end = _End(self.policy.problem, state, self.later, deadline)
        return end.mean(), end.worth(0)

    def _without_luck(self, column: int) -> list[float]:
        """Return what games have come to, less what luck has added."""
        rows = np.array(self._found)
        values, luck = rows[:, column], rows[:, 2]
        spread = luck.var() if len(rows) >= MIN_GAMES else 0.0
        slope = np.mean((values - values.mean()) * luck) / spread if spread > SAME else 0.0
        found: list[float] = (values - slope * luck).tolist()
        return found

    @property
    def value(self) -> float:
        return max(float(np.mean(self._without_luck(0))), 0.0) if self._found else 0.0

    def continuation(self, deadline: Deadline) -> Continuation:
        (plan, chance), new = self._plan(deadline), self.later.armies
        if chance is None:
            return Continuation(plan, None, new, None, 0.0, None, 0)
        if not chance or not self._found:
            return Continuation(plan, chance, new, 0.0, 0.0, 0.0, 0)
        error = mean_error(self._without_luck(0))
        without = max(float(np.mean(self._without_luck(1))), 0.0)
        value = self.value
        if plan.interval is None:
            value = min(value, chance)
        first, without = max(chance, value), min(without, value)
        return Continuation(plan, first, new, value, error, without, len(self._found))

    def _plan(self, deadline: Deadline) -> tuple[Plan, float | None]:
        """Return the plan until the first goal is reached, and the chance of that."""
        found = followed(self.policy, deadline, WORK)
        plan = plan_of(found, deadline.seconds)
        if plan.value is None:
            return plan, None
        if plan.stages:
            return plan, plan.stages[0]
        if plan.goal.is_chance:
            return plan, plan.value
        # It is paid for armies left as well, but what counts is the first goal.
        chance, best = min(found.report.taken[0], 1.0), self.first
        bound = best.decide(best.problem.start).value if best.is_best else 1.0
        return _plan_until(plan, best.problem.goal, chance, bound), chance
