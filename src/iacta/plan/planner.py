"""The planner: searches for the best policy, with its value and an upper bound on any play.

1. *Exact search.* Backward induction over the reachable states (`src/core/search/exact.hpp`), if
   there are few enough. The value is then also the bound.
2. *Lookahead.* Otherwise a policy looks ahead from an assignment of targets to stacks
   (`src/core/search/lookahead.hpp`). Several styles of lookahead compete by sequential halving
   (Karnin, Koren and Somekh, 2013): all play games with common random numbers, the better half
   plays on, and so on until one style is left. A problem that is too large for exact search may
   contain a small one: the targets and the stacks next to them (`Problem.narrow`). An exact
   solution of this narrow problem is another candidate, and its assignment another starting point.
   A coarse version of the narrow problem (`Problem.is_coarse`) is solved before it.
   Lookahead without an assignment, as in quick estimates, also competes.
3. *Value.* If the policy visits few states, a forward pass gives its exact value. Otherwise the
   value is the mean of new games, with the luck removed and with an interval. Let h(s) be the
   policy's estimate of a state, Q(s) its value of the attack that it chooses there, s_t the visited
   states and T the end. Then

    V(s_0) = h(s_0) + E(Σ_t (Q(s_t) − h(s_t)) − h(s_T)).

4. *Bound.* The smallest value of several relaxed games (`src/core/search/relaxed.hpp`), which are
   solved one after another as time permits.

The best result so far is available at any time. Without a time limit the search counts states and
games instead of seconds, which makes the result reproducible.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from threading import Thread
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import TooLargeError
from iacta.native.deadline import Deadline
from iacta.native.heartbeat import join_thread
from iacta.plan.goals import WinGame
from iacta.plan.margin import SAME_SACRIFICE, choose_price, compute_largest_sacrifice
from iacta.plan.own_any import MAX_LOOKAHEAD_WAYS, choose_goal
from iacta.plan.policy import (
    MAX_STATES_BY_DEFAULT,
    QUICK_STYLE,
    SEEN_SHARE,
    STARTS,
    VISITED,
    Policy,
    attach_search,
)
from iacta.plan.problem import Problem
from iacta.plan.search import Report, Search, Style
from iacta.probability.estimate import (
    MIN_GAMES,
    NORMAL_QUANTILE,
    compute_half_width,
    compute_interval_of_skewed,
)

NEGLIGIBLE_GAIN = 1e-4  # a quick search ends when the value is this close to its upper bound
PROVEN_GAP = 1e-9  # a plan is proven if its upper bound exceeds its value by at most this much
LARGE = 12  # a field (see `Problem.field`) is large if it has more territories than this
EXACT_TIME_SHARE = 0.25  # fraction of the time for the exact search, if the field is not large
LARGE_TIME_SHARE = 0.05  # fraction of the time for the exact search, if the field is large
BOUND_TIME_SHARE = 0.4  # fraction of the time for upper bounds, if there is only one thread
NARROW_TIME_SHARE = 0.25  # fraction of the time for the narrow problem, if there is only one thread
NARROW_THREAD_SHARE = 0.7  # fraction of the time for the narrow problem, if there are two threads
SET_TIME_SHARE = 0.2  # fraction of the time to choose the territories to take for an `OwnAny` goal
SET_BOUND_TIME_SHARE = 0.1  # fraction of the time for an upper bound on all sets of territories
EQUAL = 0.0005  # policies whose values differ by less are ranked by the armies that they leave
MIN_SAVED_ARMIES = 0.5  # an estimated policy must save this many to replace an exact one
PRICE_TIME_SHARE = 0.5  # fraction of the time after this comparison for trying prices
STYLE_COMPARISON_SHARE = 0.7  # fraction of the time and of the games for comparing lookahead styles
STYLE_COMPARISON_SHARE_WITH_PRICE = 0.45  # fraction of the time for the same, if prices follow
# The number of a game determines its dice. The final estimate begins with this number, so it does
# not repeat any game of the comparison.
FRESH = 2**32
SMALL_HALF_INTERVAL = 0.001  # simulated games stop when the interval has this half width
MIN_VISITED = 700  # smallest `Limits.visited` under any budget; such a pass takes about 0.1 s
BATCH = 16  # number of games that are simulated together; an estimate needs at least this many
FIRST_STATES = 2_000  # maximum number of states without a bound; visiting them takes about 0.1 s
MAX_PLAN_GAMES = 200_000  # maximum number of games; more games would hardly narrow the interval
STYLES = Style(), Style(idle=0.0), Style(idle=0.01), Style(order="risk")
DEEPER = (2, 3)  # the depths of lookahead beyond 1, which are tried with the best style
DEEPER_SECONDS = 4.0  # larger depths are tried only if at least this much time is left


class Limits(NamedTuple):
    """Limits on the work of a search.

    states: the maximum number of states in an exact search.
    games: the number of simulated games that compare styles of lookahead and estimate the value.
    values: the maximum number of values to compute in relaxed games, for the upper bound.
    visited: the maximum number of states that a forward pass for an exact value may visit.
    """

    states: float
    games: int
    values: float
    visited: int

    def scale(self, factor: float) -> "Limits":
        games = max(int(self.games * factor), MIN_GAMES)
        visited = max(int(self.visited * factor), MIN_VISITED)
        return Limits(self.states * factor, games, self.values * factor, visited)


DEFAULT = Limits(MAX_STATES_BY_DEFAULT, 1000, 1e6, VISITED)
UNBOUNDED = Limits(inf, MAX_PLAN_GAMES, inf, VISITED)


@dataclass(frozen=True)
class Found:
    """The result of a search: a policy with its value and an upper bound on any play.

    policy: the policy.
    value: the policy's expected payoff; `None` before the first game.
    interval: the 95% interval of an estimated value; `None` for an exact value, or without a value.
    bound: an upper bound on the expected payoff of any play.
    report: statistics of the policy.
    games: the number of simulated games; 0 if the value and statistics are exact, or without a
        value.
    price: the price of a lost army by which policies are compared (see `iacta.plan.margin`).
    greatest: the result with the greatest value, if this policy gives up value to lose fewer
        armies; otherwise `None`.
    """

    policy: Policy
    value: float | None
    interval: tuple[float, float] | None
    bound: float
    report: Report
    games: int
    price: float = 0.0
    greatest: "Found | None" = None

    @property
    def is_proven(self) -> bool:
        """Whether the greatest value of any policy is known."""
        best = self.greatest or self
        return best.interval is None and self.gap <= PROVEN_GAP

    def is_above(self, other: "Found") -> bool:
        """Return whether the value is clearly greater than the exact value of another policy.

        The value must be greater by more than `EQUAL` plus one standard error.
        """
        if self.value is None or other.value is None:
            return self.value is not None
        return self.cautious_value > other.value + EQUAL

    @property
    def cautious_value(self) -> float:
        """The value less one standard error; minus infinity without a value."""
        if self.value is None:
            return -inf
        low, high = self.interval or (self.value, self.value)
        return self.value - (high - low) / (2 * NORMAL_QUANTILE)

    @property
    def gap(self) -> float:
        """The upper bound minus the greatest value."""
        best = self.greatest or self
        return inf if best.value is None else self.bound - best.value

    def is_close_to(self, bound: float) -> bool:
        """Return whether a better policy could add at most `NEGLIGIBLE_GAIN` to the value."""
        return self.value is not None and bound - self.value <= NEGLIGIBLE_GAIN

    def cap(self, bound: float) -> "Found":
        """Return a copy with another upper bound; reduce its value and interval to the bound."""
        value = 0.0 if bound <= 0.0 else self.value and min(self.value, bound)
        interval = self.interval and (min(self.interval[0], bound), min(self.interval[1], bound))
        greatest = self.greatest and self.greatest.cap(bound)
        return replace(self, value=value, interval=interval, bound=bound, greatest=greatest)


class Planner:
    """A search for the best policy for a problem.

    problem: the problem (a turn with a goal).
    deadline: when to stop searching.
    budget: the amount of work, relative to the default. `None` means the default amount, or
        unlimited work if there is a time limit.
    prove: stop as soon as the value is this close to its upper bound; `None` for 0.
    bound: whether to improve the policy and to compute an upper bound. Otherwise the search ends
        with the better of its first two policies.
    threads: the number of threads; using more than 2 does not help.
    margin: the largest value to give up to lose fewer armies (see `iacta.plan.margin`). If the
        problem has a price already, the price applies instead.
    narrow: a solution of the coarse version of the narrow problem, if known.
    """

    def __init__(
        self,
        problem: Problem,
        deadline: Deadline,
        *,
        budget: float | None = None,
        prove: float | None = None,
        bound: bool = True,
        threads: int = 1,
        margin: float = 0.0,
        narrow: Found | None = None,
    ) -> None:
        self.problem = replace(problem, price=0.0) if problem.price else problem
        self.price, self.margin = problem.price, margin
        self.deadline, self.threads = deadline, threads
        self.prove = PROVEN_GAP if prove is None else max(prove, PROVEN_GAP)
        is_endless = budget is None and deadline.limited
        self.work = UNBOUNDED if is_endless else DEFAULT.scale(1.0 if budget is None else budget)
        if not bound:
            self.work = self.work._replace(states=FIRST_STATES, visited=FIRST_STATES)
        # Lookahead over several whole battles is too slow, because a battle has many results.
        has_time = not deadline.is_divided or deadline.measure_seconds_left() >= DEEPER_SECONDS
        is_long = has_time and self.work.games > DEFAULT.games
        self.deeper = DEEPER if is_long and not problem.turn.whole_battles else ()
        self.bound = max(problem.rewards.most, 0.0)
        self.has_bound = bound
        self.found: Found | None = None
        self.narrow = narrow

    def run(self) -> Iterator[Found]:
        """Yield the best policy so far each time the policy or the bound improves."""
        if self.has_bound and self._solve():
            yield self._best
            return
        if not self.has_bound:
            small = self._solve_exactly(self.problem, self.deadline)
            if small is not None:
                yield small.cap(self.bound)
                return
        if self.problem.rewards.ways and (planner := self._make_set_planner()) is not None:
            for found in planner.run():
                self.found = found
                yield self._best
            return
        core = Search(self.problem, self.deadline)
        unassigned = ((0,) * core.lands,) * core.goals
        plain = _Trial(Policy(self.problem, unassigned, QUICK_STYLE), core)
        if not self.has_bound:
            yield self._try_quickly(plain).cap(self.bound)
            return
        first = _Trial(Policy(self.problem, core.assign(self.deadline, STARTS)), core)
        first.play(self.deadline, BATCH)
        self.found, starts = first.found, [first]
        yield self._best
        narrow = self.problem.narrow() or (
            self.problem.choose_battles() if self._has_price else None
        )
        proving = Thread(target=self._improve_proof, args=(narrow,))
        if self.threads > 1:
            proving.start()
        try:
            if self.threads <= 1:
                self._solve_narrow(narrow, NARROW_TIME_SHARE)
                yield self._best
                self._tighten_bound(self.deadline.take_share(BOUND_TIME_SHARE))
            starts.append(plain)
            if narrow is not None:
                starts += self._make_narrow_trials(narrow, core)
            for found in self._compare_styles(starts):
                self.found = found
                yield self._best
            if self.threads > 1:
                join_thread(proving)
        except BaseException:
            self.deadline.stop()
            raise
        finally:
            if proving.ident is not None:
                proving.join()
        yield self._best

    def _try_quickly(self, plain: "_Trial") -> Found:
        """Return the better of two policies after a few games.

        plain: the policy without an assignment. This policy is tried first, because it is faster,
            and better for a stack that is much larger than necessary.
        """
        plain.play(self.deadline, MIN_GAMES)
        if plain.is_known and plain.found.is_close_to(self.bound):
            return plain.found
        core = plain.core
        first = _Trial(Policy(self.problem, core.assign(self.deadline, STARTS)), core)
        first.play(self.deadline, MIN_GAMES)
        best = max(first, plain, key=lambda trial: trial.found.value or 0.0)
        if not best.is_known:
            best.follow(self.deadline, self.work.visited)
        return best.found

    @property
    def _best(self) -> Found:
        assert self.found is not None  # noqa: S101 # the first policy is always found
        found, narrow = self.found, self.narrow
        if self._has_price:
            found = self._choose_by_price(found, narrow)
        elif narrow is not None and not found.is_above(narrow):
            found = narrow
        return found.cap(self.bound)

    @property
    def _has_price(self) -> bool:
        """Whether plans are compared by their losses, too."""
        return self.price > 0.0 or self.margin > 0.0

    def _choose_by_price(self, found: Found, narrow: Found | None) -> Found:
        """Return the better of two results by the sum of value and price, within the margin.

        An estimate must be clearly better than the narrow problem, or save `MIN_SAVED_ARMIES`.
        """

        def rank(each: Found) -> float:
            losses = each.report.losses
            saved = 0.0 if narrow is None else narrow.report.losses - losses
            value = each.value if saved >= MIN_SAVED_ARMIES else each.cautious_value
            return (value or 0.0) - price * losses

        results = [each for each in (found, narrow) if each is not None and each.value is not None]
        results += [result.greatest for result in results if result.greatest is not None]
        if not results:
            return found
        greatest = max(results, key=lambda each: each.cautious_value)
        known = (
            result.price for result in results if greatest is result or greatest is result.greatest
        )
        most = self._compute_most(greatest)
        price = self.price or max(known, default=0.0) or choose_price(most, greatest.report.losses)
        least = -inf if self.price > 0.0 else (greatest.value or 0.0) - most
        best = max((each for each in results if (each.value or 0.0) >= least), key=rank)
        return replace(best, price=price, greatest=None if best is greatest else greatest)

    @property
    def _is_enough(self) -> bool:
        if self.deadline.is_over or self.found is None:
            return self.deadline.is_over
        found = self._best
        return found.is_proven or (self.prove > PROVEN_GAP and found.gap <= self.prove)

    def _solve(self) -> bool:
        share = EXACT_TIME_SHARE if self.problem.field.bit_count() <= LARGE else LARGE_TIME_SHARE
        best = self._solve_exactly(self.problem, self.deadline.take_share(share))
        if best is None or best.value is None:
            return False
        goal = self.problem.goal
        if not isinstance(goal, WinGame) or goal.is_complete:
            self.bound = best.value
        self.narrow = None  # no play of the narrow problem is better
        self.found = best
        self.found = self._apply_margin(best)
        return True

    def _apply_margin(self, best: Found) -> Found:
        """Return the exact solution that loses fewer armies, if there is one within the margin.

        best: the exact solution with the greatest value.
        """

        def solve(price: float) -> Found | None:
            problem = replace(best.policy.problem, price=price)
            return self._solve_exactly(problem, self.deadline)

        priced = self._find_price(best, solve)
        return best if priced is None else replace(priced, greatest=best)

    def _find_price(self, best: Found, solve: Callable[[float], Found | None]) -> Found | None:
        """Return the plan for the best price of a lost army; `None` if no price is known to help.

        best: the plan with the greatest value.
        solve: a function that returns the plan for a price, or `None` after the deadline.
        """
        if self.price > 0.0:
            return solve(self.price)
        most, value = self._compute_most(best), best.value or 0.0
        price = choose_price(most, best.report.losses)
        priced = solve(price) if price else None
        if priced is None or priced.value is None:
            return None
        if priced.value < value - most - SAME_SACRIFICE:
            price = choose_price(most, best.report.losses, priced.report.losses)
            priced = solve(price) if price else None
        is_kept = priced is not None and (priced.value or 0.0) >= value - most - SAME_SACRIFICE
        return priced if is_kept else None

    def _compute_most(self, best: Found) -> float:
        """Return the largest value to give up, compared with the greatest value."""
        return compute_largest_sacrifice(self.problem, best.value or 0.0, self.margin)

    def _solve_exactly(self, problem: Problem, deadline: Deadline) -> Found | None:
        """Return the exact solution of a problem; `None` beyond a limit on time or states."""
        return solve_exactly(problem, deadline, self.work.states, self.deadline)

    def _make_set_planner(self) -> "Planner | None":
        """Return a planner for a goal that names the territories to take for an `OwnAny` or a win.

        Return `None` if `choose_goal` finds no such goal.
        """
        problem = self.problem
        if all(way.lands for way in problem.rewards.ways[: MAX_LOOKAHEAD_WAYS + 1]):
            return None
        if self.has_bound:
            self._tighten_bound(self.deadline.take_share(SET_BOUND_TIME_SHARE))
        part = self.deadline.take_share(SET_TIME_SHARE)
        goal = choose_goal(problem, problem.start, 0, part)
        if goal is None:
            return None
        problem = replace(problem, goal=goal, price=self.price)
        planner = Planner(problem, self.deadline, threads=self.threads, margin=self.margin)
        planner.work, planner.prove, planner.deeper = self.work, self.prove, self.deeper
        planner.has_bound = self.has_bound
        return planner

    def _improve_proof(self, narrow: Problem | None) -> None:
        """Solve the narrow problem, then improve the upper bound."""
        self._solve_narrow(narrow, NARROW_THREAD_SHARE)
        self._tighten_bound(self.deadline)

    def _solve_narrow(self, narrow: Problem | None, share: float) -> None:
        """Solve the narrow problem (see `Problem.narrow`) exactly if it is small enough.

        The coarse version comes first, because it is solved faster.

        narrow: the narrow problem; `None` if there is none.
        share: the fraction of the remaining time to use, if the field is not large.
        """
        if narrow is None:
            return
        is_large = narrow.field.bit_count() > LARGE
        deadline = self.deadline.take_share(LARGE_TIME_SHARE if is_large else share)
        best = self.narrow
        with suppress(TooLargeError):
            for is_coarse in (True, False) if best is None else (False,):
                posed = replace(narrow, is_coarse=is_coarse)
                found = self._solve_exactly(posed, deadline)
                if found is None:
                    break
                self.narrow = best = found
            if best is not None:
                self.narrow = self._apply_margin(best)

    def _make_narrow_trials(self, narrow: Problem, core: Search) -> list["_Trial"]:
        """Return a list with a trial that assigns targets to stacks as in the narrow problem.

        The list is empty if the assignment does not fit the whole problem or the time is over.
        """
        search = Search(narrow, self.deadline)
        if search.goals != core.goals or self.deadline.is_over:
            return []
        assignment = search.assign(self.deadline, STARTS)
        return [_Trial(Policy(self.problem, assignment), core)]

    def _compare_styles(self, starts: list["_Trial"]) -> Iterator[Found]:
        """Find the best style of lookahead, then estimate its value from new games.

        starts: trials of different assignments with their usual styles. The other styles are tried
            with the assignment of the first trial if the budget has enough games for all trials.
        """
        share = STYLE_COMPARISON_SHARE_WITH_PRICE if self._has_price else STYLE_COMPARISON_SHARE
        deadline = self.deadline.take_share(share)
        games = int(STYLE_COMPARISON_SHARE * self.work.games)
        stages = 2 if self.deeper else 1
        styles = STYLES[1:] if games >= BATCH * (len(starts) + len(STYLES) - 1) else ()
        others = [starts[0].with_style(style) for style in styles]
        best, trials = starts[0], [*starts, *others]
        for stage in range(stages, 0, -1):
            for best in self._halve_trials(trials, deadline.take_share(1 / stage), games // stages):
                yield best.found
            style = best.policy.style
            trials = [best, *(best.with_style(style._replace(depth=each)) for each in self.deeper)]
        tried = [best, *starts, *others] if others else [best]
        policies = [*dict.fromkeys(each.policy for each in tried)]
        part = self.deadline.take_share(PRICE_TIME_SHARE)
        chosen = self._try_prices(best, policies, part, games)
        # The games that selected a policy overestimate its value, so play new games.
        finals = [_Trial(each.policy, each.core, FRESH) for each in chosen]
        final, games = finals[0], max(self.work.games - games, BATCH)
        while not self._is_enough and not final.is_known and len(final.gains) < games:
            more = min(max(4 * BATCH, len(final.gains)), games - len(final.gains))
            for each in finals:
                each.play(self.deadline, more)
                each.follow(self.deadline, self.work.visited)
            if final.half_width <= best.half_width:
                yield _combine_trials(finals)
        if all(len(each.gains) >= BATCH for each in finals):
            yield _combine_trials(finals)

    def _try_prices(
        self, best: "_Trial", policies: list[Policy], deadline: Deadline, games: int
    ) -> list["_Trial"]:
        """Return the policy that is best with a price for lost armies, then the given policy.

        The list has only the given policy if no price makes another policy better. All policies
        play the same games.

        best: the trial of the policy with the greatest value.
        policies: the policies to try with each price.
        games: the total number of games with each price.
        """
        winners = list[_Trial]()

        def solve(price: float) -> Found | None:
            problem, part = replace(self.problem, price=price), deadline.take_share(1 / 2)
            core = Search(problem, self.deadline)
            trials = [_Trial(replace(each, problem=problem), core) for each in policies]
            for winner in self._halve_trials(trials, part, games):
                winners[:] = [winner]
            common = min(len(winner.gains), len(best.gains))
            if common < BATCH:
                return None
            gain = float(winner.gains[:common].mean() - best.gains[:common].mean())
            return replace(winner.found, value=(best.found.value or 0.0) + gain)

        priced = self._find_price(best.found, solve) if len(best.gains) >= BATCH else None
        if priced is None or priced.value is None or best.found.value is None:
            return [best]
        saved = best.found.report.losses - priced.report.losses
        is_better = priced.value + priced.price * saved > best.found.value
        return [*winners, best] if is_better else [best]

    def _halve_trials(
        self, trials: list["_Trial"], deadline: Deadline, games: int
    ) -> Iterator["_Trial"]:
        """Repeatedly drop the worse half of the trials, and yield the best trial each time.

        games: the total number of games of all trials.
        """
        rounds = max((len(trials) - 1).bit_length(), 1)
        for left in range(rounds, 0, -1):
            part, most = deadline.take_share(1 / left), max(games // rounds // len(trials), BATCH)
            for first in range(0, most, BATCH):
                if part.is_over or self._is_enough or all(each.is_known for each in trials):
                    break
                for trial in trials:
                    trial.play(part, min(BATCH, most - first))
            common = min(len(each.gains) for each in trials)
            if common >= BATCH:
                trials = _rank_trials(trials, common)
            trials = trials[: (len(trials) + 1) // 2]
            yield trials[0]

    def _tighten_bound(self, deadline: Deadline) -> None:
        """Lower the upper bound until the deadline, another limit, or a good enough value."""
        goal = self.problem.goal
        if isinstance(goal, WinGame) and not goal.is_complete:
            return
        with suppress(TooLargeError):
            for bound in Search(self.problem, deadline).bounds(deadline, self.work.values):
                self.bound = min(self.bound, bound)
                if self._is_enough or deadline.is_over:
                    return


def _rank_trials(trials: list["_Trial"], games: int) -> list["_Trial"]:
    """Sort trials from best to worst by mean payoff, or by the armies left if nearly equal.

    With a price, trials are sorted by their mean payoff less the price of their losses.

    games: the number of games of each trial that are compared.
    """
    means = {id(trial): float(trial.gains[:games].mean()) for trial in trials}
    price = trials[0].policy.problem.price
    if price > 0.0:
        return sorted(trials, key=lambda each: price * each.losses - means[id(each)])
    ranked = sorted(trials, key=lambda each: -means[id(each)])
    top = means[id(ranked[0])]
    equal = [each for each in ranked if means[id(each)] >= top - EQUAL]
    equal.sort(key=lambda each: -each.armies_left)
    return [*equal, *ranked[len(equal) :]]


def _combine_trials(finals: list["_Trial"]) -> Found:
    """Return the result of the first trial; the last trial has the greatest value.

    An estimate replaces an exact result only if it saves at least `MIN_SAVED_ARMIES`.
    """
    found, greatest = finals[0].found, finals[-1].found
    if len(finals) < 2:
        return found
    saved = greatest.report.losses - found.report.losses
    is_less_exact = found.interval is not None and greatest.interval is None
    if is_less_exact and saved < MIN_SAVED_ARMIES:
        return replace(greatest, price=found.price)
    return replace(found, greatest=greatest)


class _Trial:
    """A candidate for the best policy, with the games simulated so far.

    policy: the policy.
    core: the search of the compiled core that plays the policy.
    first: the number of the first game. The number of a game determines its dice.
    """

    def __init__(self, policy: Policy, core: Search, first: int = 0) -> None:
        self.policy, self.core, self.first = policy, core, first
        self.gains: npt.NDArray[np.float64] = np.zeros(0)
        self.games: Report | None = None  # statistics of the games so far
        self.exact: Report | None = None  # exact statistics, if computed
        self.was_followed = False

    def with_style(self, style: Style) -> "_Trial":
        """Return a new trial with the same assignment, another style, and no games yet."""
        return _Trial(replace(self.policy, style=style), self.core)

    def play(self, deadline: Deadline, games: int) -> None:
        """Simulate more games and add them to the trial."""
        self._load_policy()
        played = self.core.play(deadline, games, self.first + len(self.gains))
        report = played.report * len(played.gains)
        self.games = report if self.games is None else self.games + report
        self.gains = np.concatenate([self.gains, played.gains])

    def follow(self, deadline: Deadline, states: int) -> None:
        """Compute the exact value of the policy once, if its games have visited few states.

        states: the maximum number of states for this computation.
        """
        seen = inf if self.games is None else self.games.states
        if not self.was_followed and seen < SEEN_SHARE * states:
            self._load_policy()
            self.exact = self.core.flow(deadline, states)
        self.was_followed = True

    def _load_policy(self) -> None:
        if self.policy.assignment is not None:
            self.core.follow(self.policy.assignment, self.policy.style)

    @property
    def armies_left(self) -> float:
        """The mean number of the player's armies at the end of the games."""
        assert self.games is not None  # noqa: S101 # the games are played first
        return float(sum(self.games.armies)) / max(len(self.gains), 1)

    @property
    def losses(self) -> float:
        """The mean number of armies lost in the games."""
        assert self.games is not None  # noqa: S101 # the games are played first
        return (self.games * (1 / max(len(self.gains), 1))).losses

    @property
    def half_width(self) -> float:
        """Half the width of the 95% interval of the value; 0 if the value is exact."""
        return 0.0 if self.exact is not None else compute_half_width(self.gains)

    @property
    def is_known(self) -> bool:
        """Whether the value is so precise that no more games are needed."""
        scale = max(1.0, float(self.gains.mean())) if len(self.gains) else 1.0
        return self.half_width <= SMALL_HALF_INTERVAL * scale

    @property
    def found(self) -> Found:
        price = self.policy.problem.price
        if self.exact is not None:
            return Found(self.policy, self.exact.value, None, inf, self.exact, 0, price)
        assert self.games is not None  # noqa: S101 # the games are played first
        games = len(self.gains)
        if not games:
            return Found(self.policy, None, None, inf, self.games, 0, price)
        value = max(float(self.gains.mean()), 0.0)
        low, high = compute_interval_of_skewed(self.gains)
        interval = min(max(low, 0.0), value), max(high, value)
        report = self.games * (1 / games)
        return Found(self.policy, value, interval, inf, report, games, price)


def solve_exactly(
    problem: Problem, deadline: Deadline, states: float, report_deadline: Deadline
) -> Found | None:
    """Return the exact solution of a problem; `None` beyond a limit on time or states.

    deadline, states: the limits of the exact search.
    report_deadline: when to stop preparing the search, and computing the statistics of the
        solution.
    """
    search = Search(problem, report_deadline)
    solution = search.solve(deadline, states)
    report = None if solution is None else search.flow(report_deadline)
    if solution is None or report is None:
        return None
    policy = attach_search(Policy(problem), search)
    return Found(policy, solution.value, None, inf, report, 0, problem.price)


def evaluate_policy(policy: Policy, deadline: Deadline, budget: float) -> Found:
    """Compute the value of a given policy, and an upper bound on the value of any play.

    deadline: when to stop evaluating.
    budget: the amount of work, relative to the default.
    """
    work, most = DEFAULT.scale(budget), policy.problem.rewards.most
    trial = _Trial(policy, policy.search)
    if policy.is_best:
        trial.exact, most = policy.search.flow(deadline), policy.decide(policy.problem.start).value
    if trial.exact is None:
        trial.play(deadline, work.games)
    if not policy.is_best:
        trial.follow(deadline, work.visited)
        with suppress(TooLargeError):
            most = min(most, *Search(policy.problem).bounds(deadline, work.values))
    return trial.found.cap(most)
