"""Cards: a turn that continues with the cards of an eliminated player.

A player who eliminates another player gets their cards. A player who then holds six or more cards
must immediately trade in sets until four or fewer cards are left (`iacta.game.traded_armies`), and
places the new armies in the same turn.

On a small board the whole turn is solved by backward induction. A state in which the first goal is
reached has the value of the best placement and play, averaged over the numbers of new armies. These
values determine the best play up to the first goal.

On larger boards the search compares several policies for the first part of the turn, so a better
turn may exist. The candidates are policies for several objectives: the first goal; all goals in
order; all goals in order with much more weight on the later goals; and, if exact search is fast
enough, the first goal with a small or a larger payoff for surviving armies.

Each policy is simulated until it reaches the first goal. The value of the new armies at that point
is computed as in `iacta.plan.placements`: exactly on a small board, otherwise by a quick
estimate. Sequential halving chooses a policy: each round drops the worse half of the policies and
doubles the number of games. New games then estimate the value of the chosen policy. Let x be the
result of a game and l its luck, measured by the policy's own values. Then x − βl has the same mean
as x, and β = cov(x, l) / var(l) minimises its variance.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import ChartLike, DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import Progress, make_best_reporter, make_plan
from iacta.plan.goals import Goal, InOrder, TakeAll, Worth
from iacta.plan.placements import Placements, QuickValues
from iacta.plan.plan import Plan
from iacta.plan.planner import Found, evaluate_policy
from iacta.plan.policy import STARTS, Policy, attach_search, best_policy
from iacta.plan.problem import Problem, SearchState, pose_problem, read_turn
from iacta.plan.search import Search
from iacta.plan.simulated import compute_final_states, play_games
from iacta.probability.distribution import Distribution
from iacta.probability.estimate import MIN_GAMES, NORMAL_QUANTILE, mean_error

CONTINUATION_ENDS = 128  # default number of simulated games for the estimate of the chosen policy
AFTER_INTERRUPT = 0.5  # time in seconds to evaluate the best policy after Ctrl-C
PILOT_DIVISOR = 8  # the first comparison plays 1 / 8 of the games of the final estimate
# Fractions of the remaining time to find the candidate policies, to compare them, and to estimate
# the value of the chosen policy.
FIRST_SHARE, PILOT_SHARE, LAST_SHARE = 0.2, 0.4, 0.7
REPORT_BUDGET = 0.5  # search budget for the statistics of the chosen policy; 1 is the default
LATER_WORTH = 20.0  # payoff of each later goal in one of the objectives; the first goal pays 1
ARMY_WORTHS = (0.01, 0.04)  # payoffs of a surviving army in two objectives; the first goal pays 1
MAX_FIRST_STATES = 50_000  # maximum number of states in an exact search for the first goal
MAX_LATER_STATES = 2_000  # maximum number of states in an exact search after the first goal
# Fraction of the time that may be spent on solving the whole turn exactly.
WHOLE_TURN_TIME_SHARE = 0.3
MAX_TURN_STATES = 6_000  # maximum number of states in an exact solution of the whole turn
MAX_ENDS = 1_000  # maximum number of states, in an exact solution, that reach the first goal
SAME_CONTINUATION = 1e-12


@dataclass(frozen=True, repr=False)
class Continuation(DisplayMixin):
    """The best turn found if the first goal brings new armies, which help to reach later goals.

    plan: the plan for the part of the turn up to the first goal.
    first: the chance to reach the first goal. All chances are `None` if there was no time for a
        single simulated game.
    armies: the distribution of the number of new armies after the first goal.
    win_probability: the chance to reach the first goal and all later goals; an estimate unless
        `ends` is 0.
    error: the standard error of `win_probability`; 0 if `ends` is 0. The error of an estimate is
        never 0, because the simulated games may have missed rare results.
    without: the chance to reach all goals without new armies.
    ends: the number of simulated games of the first plan; 0 if the chances are exact, if they are
        `None`, or if `first` is 0.
    proven: whether no better turn exists; in that case the chances are exact.
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
        """Plot the plan for the first goal; `context` is as for `DisplayMixin.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = self.plan.goal.phrase(self.plan.position)
        if self.win_probability is None:
            return f"{aim}, then all later goals, no estimate yet"
        return f"{aim}, then all later goals, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of `win_probability`; `None` if that is `None`."""
        if self.win_probability is None or self.first is None:
            return None
        if self.proven:
            return self.win_probability, self.win_probability
        low, high = (self.win_probability + s * NORMAL_QUANTILE * self.error for s in (-1, 1))
        return max(low, 0.0), min(high, self.first if self.plan.interval is None else 1.0)


def go_on(
    turn: Turn | Position,
    goal: InOrder,
    armies: Distribution[int] | Mapping[int, float],
    *,
    ends: int = CONTINUATION_ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Continuation:
    """Search for the best turn if reaching the first goal brings new armies.

    turn: the turn before the first attack, as for `best_plan`.
    goal: the goals in order. All goals after the first count as a single goal.
    armies: the distribution of the number of new armies, such as the result of `traded_armies`.
    ends: the number of simulated games for an estimate.
    seed: the random seed for the dice.
    time_limit: the maximum time in seconds; `None` for no limit.
    progress: a callback that receives the chance of the best turn so far, and 1 as its upper bound.

    On a small board the turn is solved exactly. On larger boards the search compares several plans
    for the first goal.

    >>> from iacta import TakeAll, Turn
    >>> turn = Turn.from_code("1;classic;red;Venezuela:red:9,Peru:blue:2,Brazil:blue:3")
    >>> goals = InOrder((TakeAll("Peru"), TakeAll("Brazil")))
    >>> found = go_on(turn, goals, {6: 1.0})  # Peru brings six armies
    >>> round(found.win_probability, 4), round(found.without, 4)
    (0.9677, 0.7636)
    """
    new = armies if isinstance(armies, Distribution) else Distribution(armies)
    number = read_int(ends, "ends", minimum=1)
    if not isinstance(goal, InOrder) or len(goal.goals) < 2:
        raise IllegalError(f"goal must be InOrder with at least two goals, got {quote(goal)}")
    deadline, report = Deadline.from_time_limit(time_limit), make_best_reporter(progress)
    start = read_turn(turn)
    first = pose_problem(start, goal.goals[0])
    names = chain(*(each.names for each in goal.resolve_names(start.board).goals[1:]))
    later = _Later(TakeAll(tuple(dict.fromkeys(names))), new)
    best = _solve_turn(first, pose_problem(start, goal), later, deadline)
    if best is not None:
        if best.win_probability is not None:
            report(best.win_probability, 1.0)
        return best
    policies = [*_list_policies(first, goal, deadline.take_share(FIRST_SHARE))]
    tried = [_SimulatedTurns(policy, policies[0], later, seed) for policy in policies]
    try:
        end, few = deadline.take_share(PILOT_SHARE), max(number // PILOT_DIVISOR, 2)
        while len(tried) > 1:
            for games in tried:
                games.sample_games(few, end.take_share(1 / (2 * len(tried))))
            tried.sort(key=lambda games: -games.value)
            report(tried[0].value, 1.0)
            tried, few = tried[: (len(tried) + 1) // 2], 2 * few
        # The games that selected the policy overestimate its value, so play new games.
        tried[0].begin(1)
        tried[0].sample_games(number, deadline.take_share(LAST_SHARE))
    except KeyboardInterrupt:
        deadline.stop()
        deadline = Deadline(AFTER_INTERRUPT)
    return tried[0].summarise_games(deadline)


class _Later(NamedTuple):
    """The goals after the first goal, and the distribution of the number of new armies."""

    goal: TakeAll
    armies: Distribution[int]


def _solve_turn(
    first: Problem, whole: Problem, later: _Later, deadline: Deadline
) -> Continuation | None:
    """Solve the whole turn exactly.

    The result is `None` if an exact solution needs too many states or too much time, or if the
    first goal is already reached.

    first: the problem of reaching the first goal.
    whole: the problem of reaching all goals in order.
    later: the later goals and the new armies.
    """
    until = make_mask(map(first.place, first.goal.names))
    part = deadline.take_share(WHOLE_TURN_TIME_SHARE)
    if not until & ~first.owned:
        return None
    known: dict[SearchState, _End] = {}

    def evaluate_state(state: SearchState) -> float | None:
        known[state] = _End(whole, state, later, part)
        value = known[state].mean()
        return value if known[state].proven else None

    search = Search(whole, deadline, until=until)
    value = search.solve_until(part, MAX_TURN_STATES, MAX_ENDS, evaluate_state)
    if value is None:
        return None
    policy = attach_search(Policy(whole), search)
    ends = compute_final_states(policy, deadline)
    if ends is None:
        return None
    reached = {s: p for s, p in ends.items() if not until & ~s.owned}
    chance = fsum(reached.values())
    without = fsum(p * known[state].worth(0) for state, p in reached.items())
    report, best = search.flow(deadline), best_policy(first, deadline)
    if report is None:
        return None
    bound = 1.0 if best is None else best.decide(first.start).value
    found = Found(policy, chance, None, chance, report, 0)
    plan = _cut_plan(make_plan(found, deadline.seconds), first.goal, chance, bound)
    return Continuation(plan, chance, later.armies, value, 0.0, without, 0, proven=True)


def _cut_plan(plan: Plan, goal: Goal, chance: float, bound: float) -> Plan:
    """Convert a plan for several goals to a plan for the first goal only.

    chance: the chance that the plan reaches the first goal.
    bound: an upper bound on the chance that any plan reaches the first goal.
    """
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
    """The value of the rest of a turn once its first goal is reached and new armies arrive.

    first: the problem of the first part of the turn, whose rules and constraints apply.
    state: a state in which the first goal has just been reached.
    end: when to stop searching.
    """

    def __init__(self, first: Problem, state: SearchState, later: _Later, end: Deadline) -> None:
        new = dict.fromkeys(bits(state.owned), max(later.armies))
        problem = first.at_state(state.add_armies(new), later.goal)
        problem.refuse_large()
        self._new = Placements(state, QuickValues(problem, end, MAX_LATER_STATES))
        self._armies, self.proven = later.armies, True

    def worth(self, armies: int) -> float:
        """Return the chance to reach the later goals with the given number of new armies.

        Set `proven` to false unless this chance is exact.
        """
        new = self._new
        value = new.value(new.rank_placements(armies)[0])
        self.proven &= new.values.proven and (new.has_tried_all or not new.places)
        return value

    def mean(self) -> float:
        return sum(float(p) * self.worth(n) for n, p in self._armies.items())


def _list_policies(first: Problem, goal: InOrder, deadline: Deadline) -> Iterator[Policy]:
    """Yield candidate policies for the part of the turn up to the first goal.

    The objectives of the candidates are listed in the docstring of this module.
    """
    one, *others = goal.goals
    goals: list[Goal] = [goal, InOrder(goal.goals, (1.0, *(LATER_WORTH for _ in others)))]
    if not first.held:
        goals += [Worth(0.0, bonus=0.0, army=army, prizes=((one, 1.0),)) for army in ARMY_WORTHS]
    problems = [first, *(pose_problem(first.turn, each) for each in goals)]
    for place, problem in enumerate(problems):
        part = deadline.take_share(1 / (len(problems) - place))
        best = best_policy(problem, part, MAX_FIRST_STATES)
        if best is not None:
            yield best
        elif problem.goal.is_chance or isinstance(problem.goal, InOrder):
            yield Policy(problem, Search(problem, part).assign(part, STARTS))


class _SimulatedTurns:
    """Simulated games of a turn in which a policy plays up to the first goal.

    policy: the policy.
    first: the policy for the first goal alone.
    later: the later goals and the new armies.
    """

    def __init__(self, policy: Policy, first: Policy, later: _Later, seed: int) -> None:
        self.policy, self.first, self.later, self.seed = policy, first, later, seed
        self._until = make_mask(map(first.problem.place, first.problem.goal.names))
        self._known: dict[SearchState, tuple[float, float]] = {}
        self.begin(0)

    def begin(self, part: int) -> None:
        """Discard all games and start a new sequence of random games.

        part: the number of the sequence, which determines its dice.
        """
        # For each game: the chance to reach the later goals with the armies that arrive after the
        # first goal, the same chance without these armies, and the luck of the game, whose effect
        # `_list_results_without_luck` removes.
        self._found: list[tuple[float, float, float]] = []
        rng = np.random.default_rng((self.seed, part))
        self._games = play_games(self.policy, rng, self._until)

    def sample_games(self, count: int, deadline: Deadline) -> None:
        """Simulate until there are `count` games or the deadline has passed."""
        while len(self._found) < count and not deadline.is_over:
            end, luck = next(self._games)
            if end not in self._known:
                values = self._evaluate_end(end, deadline)
                if deadline.is_over:
                    return  # do not use the last values, whose search may be unfinished
                self._known[end] = values
            self._found.append((*self._known[end], luck))

    def _evaluate_end(self, state: SearchState, deadline: Deadline) -> tuple[float, float]:
        if self._until & ~state.owned:
            return 0.0, 0.0
        end = _End(self.policy.problem, state, self.later, deadline)
        return end.mean(), end.worth(0)

    def _list_results_without_luck(self, column: int) -> list[float]:
        """Return the result of each game minus the estimated effect of its luck.

        column: 0 for the results with new armies, 1 for the results without new armies.
        """
        rows = np.array(self._found)
        values, luck = rows[:, column], rows[:, 2]
        spread = luck.var() if len(rows) >= MIN_GAMES else 0.0
        slope = (
            np.mean((values - values.mean()) * luck) / spread if spread > SAME_CONTINUATION else 0.0
        )
        found: list[float] = (values - slope * luck).tolist()
        return found

    @property
    def value(self) -> float:
        return max(float(np.mean(self._list_results_without_luck(0))), 0.0) if self._found else 0.0

    def summarise_games(self, deadline: Deadline) -> Continuation:
        (plan, chance), new = self._plan(deadline), self.later.armies
        if chance is None or (chance and not self._found):
            return Continuation(plan, None, new, None, 0.0, None, 0)
        if not chance:
            return Continuation(plan, chance, new, 0.0, 0.0, 0.0, 0)
        error = mean_error(self._list_results_without_luck(0))
        without = max(float(np.mean(self._list_results_without_luck(1))), 0.0)
        value = self.value
        if plan.interval is None:
            value = min(value, chance)
        first, without = max(chance, value), min(without, value)
        return Continuation(plan, first, new, value, error, without, len(self._found))

    def _plan(self, deadline: Deadline) -> tuple[Plan, float | None]:
        """Return the plan for the first goal and its chance of success."""
        found = evaluate_policy(self.policy, deadline, REPORT_BUDGET)
        plan = make_plan(found, deadline.seconds)
        if plan.value is None:
            return plan, None
        if plan.stages:
            return plan, plan.stages[0]
        if plan.goal.is_chance:
            return plan, plan.value
        # The goal of the policy may pay for surviving armies. Report only the first goal.
        chance, best = min(found.report.taken[0], 1.0), self.first
        bound = best.decide(best.problem.start).value if best.is_best else 1.0
        return _cut_plan(plan, best.problem.goal, chance, bound), chance
