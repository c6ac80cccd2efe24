"""The search for a plan: of all ways to play, and a bound on what any play is worth.

1. Where a turn has few states, the best play of all is found (`iacta.plan.exact_turn`); it is its
   own bound.
2. A plan that fights each battle to its end is searched (`iacta.plan.search`).
3. A share of the goal among stacks is improved by lookahead, roll by roll
   (`iacta.plan.roll_by_roll`). What that policy is worth is estimated from games, and told with an
   interval; all else is exact.
4. A bound on what any play is worth is found (`iacta.plan.bound`).
"""

from collections.abc import Callable, Iterator, Mapping
from math import inf, sqrt
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.plan.bound import play_bounds
from iacta.plan.chain import solve_chain
from iacta.plan.compiled import IS_COMPILED, clock
from iacta.plan.exact_policy import BestPlay
from iacta.plan.exact_policy import visits_of as visits_of_best
from iacta.plan.exact_turn import solve_turn
from iacta.plan.games import Drawn, Game, RollPolicy, visits_of
from iacta.plan.goals import Goal, InOrder, Rewards, TakeAll, TakeAny, Worth, worth_rewards
from iacta.plan.one_stack import Tasks
from iacta.plan.policy import Agenda, Visits
from iacta.plan.prizes import most_prizes
from iacta.plan.problem import Problem, mask_of
from iacta.plan.roll_by_roll import Lookahead, is_too_large
from iacta.plan.search import (
    Candidate,
    Effort,
    effort_of,
    most_worth,
    reachable,
    take_all,
    take_any,
    useful_field,
)
from iacta.plan.sharing import has_few_sets
from iacta.plan.turn import Turn

__all__ = ["Clock", "RealPlay", "Search", "battle_plans", "policy_anew"]

SEED = 0
LEVEL = 1.96  # the quantile of the normal distribution for an interval at 95%
FEWEST_GAMES = 5  # that tell anything
LEAST_GAIN = 1e-4
NEAR_ENOUGH = 0.001  # of the half of an interval, in parts of a worth above 1
LEAST_GAMES = 60
MOST_GAMES = 2000
MOST_DECISIONS = 6_000
MOST_SLOW_DECISIONS = 200  # where the inner loops are not compiled
AT_ONCE = 20
MOST_STATES = 50_000
MANY_STATES = 10**6
FEW_STATES = 3_000
LEAST_BOUND_SECONDS = 1.0  # with less, only the bound that is found at once is looked at


class RealPlay(NamedTuple):
    """A policy of real play.

    policy: what it does in each state.
    value: what it pays on average.
    interval: where the value is estimated, the interval for it at 95%.
    visits: how it goes.
    games: the games from which it is estimated.
    chances: the chances of sets that are to be taken in order, where they are estimated.
    """

    policy: RollPolicy
    value: float
    interval: tuple[float, float] | None
    visits: Visits
    games: tuple[Game, ...] = ()
    chances: Mapping[int, float] = MappingProxyType({})


class Clock:
    """The time that a search has.

    limit: in seconds; `None` for a moderate search, which is the same each time.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit, self._start = limit, clock()

    @property
    def seconds(self) -> float:
        """The seconds that have passed."""
        return clock() - self._start

    def late(self, part: float = 1.0) -> bool:
        """Return whether a part of the time is over."""
        return self.limit is not None and self.seconds >= part * self.limit

    def effort(self, part: float) -> Effort:
        """Return the effort for a search that may take a part of the time that is left."""
        if self.limit is None:
            return effort_of(None)
        return effort_of(part * max(self.limit - self.seconds, 0.0))


class Search:
    """The search for a plan.

    problem: the problem.
    goal: the goal, with the names of the board.
    play: `"rolls"`, or `"battles"` for a plan that fights each battle to its end.
    clock: the time there is.
    prove: the gap at which the search for a bound may end; `None` for a moderate search.
    """

    def __init__(
        self, problem: Problem, goal: Goal, play: str, clock: Clock, prove: float | None = None
    ) -> None:
        self.problem, self.goal, self.play, self.clock = problem, goal, play, clock
        self.prove = prove
        self.turn = Turn(problem, *_field_and_rewards(problem, goal))
        self.battles: Candidate | None = None
        self.rolls: RealPlay | None = None
        self.upper_bound = self.turn.rewards.most

    @property
    def value(self) -> float:
        """What the best plan so far is worth, without what the player has at the start."""
        values = [each.value for each in (self.rolls, self.battles) if each is not None]
        return max(values[:1] if self.play == "rolls" else values[-1:], default=0.0)

    @property
    def is_by_rolls(self) -> bool:
        """Whether the best plan plays roll by roll.

        Where that gains nothing that games can show, the plan that fights each battle to its end is
        simpler, and all that is told of it is exact.
        """
        if self.play != "rolls" or self.rolls is None or self.battles is None:
            return self.play == "rolls" and self.rolls is not None
        if self.rolls.interval is None:
            is_certain = self.turn.rewards.is_chance and self.battles.value >= 1.0
            return not is_certain  # what is certain is told as such
        if not self.turn.rewards.all_of and self.rolls.interval[0] < self.battles.value:
            return False  # only a share of the whole is never better than lookahead on it
        return self.rolls.value > self.battles.value + LEAST_GAIN * max(self.battles.value, 1.0)

    def run(self) -> Iterator[None]:
        """Search, and pause whenever something better is found."""
        if isinstance(self.goal, TakeAll) and not self.turn.rewards.all_of:
            self.upper_bound = 1.0  # the goal is reached
            yield from self._search_battles(None)
            return
        exact = self._solved()
        lookahead: Lookahead | None = None
        if exact is None and not self.clock.late() and _has_few_sets(self.turn):
            lookahead = _lookahead(self.turn, lambda: self.clock.late(0.2))
        yield from self._search_battles(lookahead)
        if exact is not None:
            self.rolls, self.upper_bound = exact, exact.value
        else:
            yield from self._search_bound()
            if lookahead is None and self.battles is not None and not self.clock.late():
                game = self.battles.policy.game  # along trees, if there are very many sets
                lookahead = _lookahead(Turn(game.problem, game.field, game.rewards))
            if self.play == "rolls" and lookahead is not None:
                yield from self._search_rolls(lookahead)
        if self.battles is not None:
            self.upper_bound = max(self.upper_bound, self.battles.value)
        yield

    def _solved(self) -> RealPlay | None:
        """Return the best play of all, where there are few enough states."""
        most = MOST_STATES if self.clock.limit is None else MANY_STATES
        chain = solve_chain(self.turn, most, lambda: self.clock.late(0.3))
        if chain is not None:
            return RealPlay(chain, chain.value, None, chain.visits)
        exact = solve_turn(self.turn, most, lambda: self.clock.late(0.3))
        return (
            None
            if exact is None
            else RealPlay(BestPlay(exact), exact.value, None, visits_of_best(exact))
        )

    def _search_battles(self, lookahead: Lookahead | None) -> Iterator[None]:
        """Search a plan that fights each battle to its end."""
        part = 0.8 if self.play == "battles" else 0.2
        for found in battle_plans(self.problem, self.goal, self.clock.effort(part), lookahead):
            if self.battles is None or found.is_better(self.battles):
                self.battles = found
            yield

    def _search_bound(self) -> Iterator[None]:
        """Search a bound on what any play is worth."""
        turn, limit = self.turn, self.clock.limit
        part = 0.3 if self.prove is None else 0.6
        seconds = None if limit is None else part * max(limit - self.clock.seconds, 0.0)
        for bound in play_bounds(self.problem, turn.field, turn.rewards, seconds):
            self.upper_bound = bound
            yield
            is_late = seconds is not None and seconds < LEAST_BOUND_SECONDS
            if is_late or bound - self.value <= (self.prove or 0.0):
                return

    def _search_rolls(self, policy: Lookahead) -> Iterator[None]:
        """Play a policy of lookahead, so that its chance is better and better known."""
        policy.begin_with(_tasks_of(self.battles))
        if not policy.value:
            return
        games: list[Game] = []
        most = MOST_DECISIONS if IS_COMPILED else MOST_SLOW_DECISIONS
        for game in policy.games(Drawn(SEED), self.clock.late):
            games.append(game)
            if len(games) % AT_ONCE and game.is_whole:
                continue
            if not games[0].is_whole or (len(games) < FEWEST_GAMES and self.battles is not None):
                return  # so few games say nothing about the value
            gains = np.array([each.gain for each in games])
            half = _half_interval(gains)
            # No play is worth more than the bound, whatever a sample of games says.
            top = self.upper_bound
            value = min(max(policy.value + float(gains.mean()), 0.0), top)
            interval = max(value - half, 0.0), min(value + half, top)
            whole = [each for each in games if each.is_whole]
            visits = visits_of(whole, policy.turn)
            chances = np.clip(np.mean([each.chances for each in games], axis=0), 0.0, 1.0)
            sets = dict(zip(policy.payments.shares, chances.tolist(), strict=False))
            self.rolls = RealPlay(policy, value, interval, visits, (*whole,), sets)
            yield
            is_known = half <= NEAR_ENOUGH * max(value, 1.0) or len(games) >= MOST_GAMES
            if not game.is_whole or is_known:
                return
            if self.clock.limit is None and policy.decisions > most and len(games) >= LEAST_GAMES:
                return


def _half_interval(gains: npt.NDArray[np.float64]) -> float:
    """Return half of the interval at 95% for a mean: Student's t times the standard error.

    gains: what each game has gained.

    The quantile of t is expanded about that of the normal distribution (Abramowitz & Stegun,
    26.7.5); a handful of games tells nothing.

    >>> round(_half_interval(np.array([0.0, 1.0] * 5)), 2)
    0.38
    """
    n = len(gains)
    if n < FEWEST_GAMES:
        return inf
    z, freedom = LEVEL, n - 1
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return t * float(gains.std(ddof=1)) / sqrt(n)


def battle_plans(
    problem: Problem, goal: Goal, effort: Effort, lookahead: Lookahead | None = None
) -> Iterator[Candidate]:
    """Yield plans that fight each battle to its end, not each one better than the one before.

    lookahead: the policy of real play for the goal, if there is one.
    """
    if isinstance(goal, Worth) and not goal.prizes:
        return most_worth(problem, goal, effort)
    if isinstance(goal, Worth | InOrder):
        return most_prizes(problem, goal, effort)
    mask = _targets(problem, goal)
    if isinstance(goal, TakeAll):
        return take_all(problem, mask & problem.enemy, effort, lookahead)
    return take_any(problem, mask, effort)


def policy_anew(problem: Problem, goal: Goal) -> RollPolicy | None:
    """Return a policy of real play for a position, at once; `None` where there is none."""
    turn = Turn(problem, *_field_and_rewards(problem, goal))
    if turn.is_over(turn.start()):
        return None
    chain = solve_chain(turn, FEW_STATES)
    if chain is not None:
        return chain
    exact = solve_turn(turn, FEW_STATES)
    if exact is not None:
        return BestPlay(exact)
    return _lookahead(turn) if _has_few_sets(turn) else None


def _has_few_sets(turn: Turn) -> bool:
    """Return whether the shares of what is to be taken as a whole can be searched."""
    rewards = turn.rewards
    wholes = (rewards.all_of, *(mask for mask, _ in rewards.continents))
    return all(has_few_sets(turn.problem, mask, turn.field) for mask in wholes)


def _lookahead(turn: Turn, late: Callable[[], bool] = lambda: False) -> Lookahead | None:
    """Return a policy of lookahead, if the size of the turn allows one."""
    return None if is_too_large(turn) else Lookahead(turn, late)


def _field_and_rewards(problem: Problem, goal: Goal) -> tuple[int, Rewards]:
    """Return what can be of use to attack for a goal, and what the goal pays."""
    field = reachable(problem)
    if isinstance(goal, Worth | InOrder):
        return field, worth_rewards(problem, goal, field)
    mask = _targets(problem, goal)
    if isinstance(goal, TakeAny):
        return field, Rewards(any_of=mask)
    mask &= problem.enemy
    return useful_field(problem, mask) | mask, Rewards(all_of=mask)


def _targets(problem: Problem, goal: TakeAll | TakeAny) -> int:
    numbers = {name: t for t, name in enumerate(problem.board.territories)}
    return mask_of(numbers[name] for name in goal.territories)


def _tasks_of(found: Candidate | None) -> Tasks:
    """Return the share with which a plan starts, if it is one."""
    start = found.policy.start if found is not None else None
    if not isinstance(start, Agenda) or start.reduced:
        return ()
    return tuple(task for tasks in start.tries for task in tasks)
