"""The planner: it looks for the best policy, for what that is worth, and for a bound on any play.

1. *Exact.* The best play of all, by backward induction over the states that can occur
   (`src/core/exact.hpp`), where these are few enough. Then the value is the bound.
2. *Lookahead.* Elsewhere a policy looks ahead from an assignment of targets to stacks
   (`src/core/lookahead.hpp`). Several policies are compared, those that look more carefully and
   those with other assignments, by games with common random numbers; the best one is kept.
3. *Value.* Exact, by a forward pass, where the policy visits few states; else the mean of games,
   less the luck in them that the policy itself saw, with its interval. With h(s) what the policy
   sees in a state, Q its value of the attack that it chooses there, and T the end,

    V(s_0) = h(s_0) + E(Σ_t (Q(s_t) − h(s_t)) − h(s_T)).

4. *Bound.* The values of relaxed games, in which any play is easier (`src/core/relaxed.hpp`), one
   tighter than the other, as long as there is time.

The best so far is always there. Without a time limit the work is counted, in states and games, and
the result is the same each time.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from operator import add
from threading import Thread
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.estimate import FEWEST_GAMES, half_interval, standard_error
from iacta.plan.core import Assignment, Core, Report, Style
from iacta.plan.deadline import Deadline
from iacta.plan.policy import FEW_STATES, SEEN, STARTS, VISITED, Policy
from iacta.plan.problem import Problem

PROVEN = 1e-9  # values that differ by less are the same
GRACE = 2.0  # seconds for these, however short the time is
EXACT_PART = 0.25  # of the time, to solve the game
LARGE = 12  # territories; where more may be attacked, it can rarely be solved
LARGE_PART = 0.1  # of the time then
FIRST_PART = 0.2  # of the time, for the first policy
FRESH = 2**32  # number of the first game that no policy was compared by
NEAR_ENOUGH = 0.001  # half of an interval that needs no more games
ROUND = 64  # games at a time
MOST_REPORTS = 200  # of a policy, which are large; then they are put together
MOST_GAMES = 200_000  # a plan is compared by: its interval is small then


class Limits(NamedTuple):
    """How much work a search may do.

    states: states of the game that is solved exactly.
    games: games to estimate the value.
    trials: games in which each other policy is compared.
    values: values of relaxed games.
    """

    states: float
    games: int
    trials: int
    values: float

    def times(self, factor: float) -> "Limits":
        return Limits(
            self.states * factor,
            max(int(self.games * factor), FEWEST_GAMES),
            int(self.trials * factor),
            self.values * factor,
        )


USUAL = Limits(FEW_STATES, 300, 100, 1e6)
UNBOUNDED = Limits(inf, MOST_GAMES, 400, inf)

# Policies are compared with the best assignments first, and then the best one that looks deeper.
ASSIGNMENTS = 4
DEEPER: tuple[Style, ...] = (Style(depth=2), Style(depth=3))
FEW = 1  # of the deeper ones, where time is short


@dataclass(frozen=True)
class Found:
    """The best policy that was found.

    policy: the policy.
    value: what it is paid on average.
    interval: the interval at 95% for that, where it is estimated; else `None`.
    bound: no play is paid more on average.
    report: how it goes.
    games: from how many games value and report are estimated; 0 where they are exact.
    """

    policy: Policy
    value: float
    interval: tuple[float, float] | None
    bound: float
    report: Report
    games: int

    @property
    def is_proven(self) -> bool:
        return self.interval is None and self.bound - self.value <= PROVEN

    def below(self, bound: float) -> "Found":
        """Return the same with a bound that was found for any play."""
        value = min(self.value, bound)
        interval = self.interval and (min(self.interval[0], value), min(self.interval[1], bound))
        return replace(self, value=value, interval=interval, bound=bound)


class Planner:
    """A search for the best policy.

    problem: what is planned.
    deadline: when it must end.
    budget: how much work it may do, 1 for the usual; `None` for the usual without a time limit, and
        otherwise for as much as there is time.
    prove: once the gap between value and bound is at most this, the search ends; `None` for 0.
    threads: how many threads it may use; more than 2 are of no use.
    """

    def __init__(
        self,
        problem: Problem,
        deadline: Deadline,
        *,
        budget: float | None = None,
        prove: float | None = None,
        threads: int = 1,
    ) -> None:
        self.problem, self.deadline, self.threads = problem, deadline, threads
        self.prove = PROVEN if prove is None else max(prove, PROVEN)
        is_endless = budget is None and (deadline.limited or prove is not None)
        self.work = UNBOUNDED if is_endless else USUAL.times(1.0 if budget is None else budget)
        self.bound = max(problem.rewards.most, 0.0)
        self.found: Found | None = None

    def run(self) -> Iterator[Found]:
        """Yield the best policy so far, whenever it or the bound gets better."""
        if self._solve():
            yield self._best
            return
        core = Core(self.problem, self.deadline)
        assignments = core.assign(self.deadline.part(FIRST_PART), STARTS, ASSIGNMENTS)
        first = _Trial(Policy(self.problem, assignments[0]))
        first.begin(core, self.deadline)
        first.play(core, self.deadline.part(FIRST_PART), ROUND - FEWEST_GAMES)
        self.found = first.found
        yield self._best
        bounding = Thread(target=self._bound, args=(self.deadline,))
        if self.threads > 1:
            bounding.start()
        try:
            if self.threads <= 1:
                self._bound(self.deadline.part(0.4))
                yield self._best
            if not self._is_enough:
                for _ in self._improve(core, first, assignments[1:]):
                    yield self._best
            if self.threads > 1:
                bounding.join()
        except BaseException:
            self.deadline.stop()
            raise
        finally:
            if bounding.ident is not None:
                bounding.join()
        yield self._best

    @property
    def _best(self) -> Found:
        assert self.found is not None  # noqa: S101 # the first policy is always found
        return self.found.below(self.bound)

    @property
    def _is_enough(self) -> bool:
        return (
            self.deadline.is_over
            or (self.found is not None and self._best.is_proven)
            or (self.prove > PROVEN and self.bound - self._best.value <= self.prove)
        )

    def _solve(self) -> bool:
        search = Core(self.problem, self.deadline)
        share = EXACT_PART if self.problem.field.bit_count() <= LARGE else LARGE_PART
        value = search.solve(self.deadline.part(share), self.work.states)
        if value is None:
            return False
        report = search.flow(self.deadline.part(1.0))
        if report is None:
            return False
        policy = Policy(self.problem)
        vars(policy)["search"] = search
        self.bound = value
        self.found = Found(policy, value, None, value, report, 0)
        return True

    def _improve(self, core: Core, first: "_Trial", others: Sequence[Assignment]) -> Iterator[None]:
        """Compare policies, keep the best one, and estimate its value well."""
        deeper = DEEPER
        if self.work.games <= USUAL.games:  # whole battles have too many results to look deeper
            deeper = () if self.problem.turn.whole_battles else DEEPER[:FEW]
        best, count = first, 1 + len(others) + len(deeper)
        for number in range(count):
            if self._is_enough:
                return
            trial = first
            if 0 < number <= len(others):
                trial = _Trial(Policy(self.problem, others[number - 1]))
            elif number:
                style = deeper[number - 1 - len(others)]
                trial = _Trial(replace(best.policy, style=style))
            part = self.deadline.part(1.0 / (count + 2 - number))
            trial.play(core, part, self.work.trials - len(trial.gains))
            if trial is first or trial.is_better_than(best):
                best = trial
                self.found = best.found
                yield
        # The games of the comparison favour the winner; its value comes from games of its own.
        final = _Trial(best.policy, first=FRESH)
        while not self._is_enough and not best.is_known and len(final.gains) < self.work.games:
            more = min(max(4 * ROUND, len(final.gains)), self.work.games - len(final.gains))
            final.play(core, self.deadline, more)
            if final.half <= best.half:
                best = final
                self.found = best.found
                yield

    def _bound(self, deadline: Deadline) -> None:
        """Improve the bound, until memory is short."""
        core = Core(self.problem)
        with suppress(TooLargeError):
            for bound in core.bounds(deadline, self.work.values):
                self.bound = min(self.bound, bound)
                if self._is_enough or deadline.is_over:
                    return


class _Trial:
    """A policy that is tried: its exact value, or its games so far.

    policy: the policy.
    first: the number of its first game; games of the same number have the same dice.
    """

    def __init__(self, policy: Policy, first: int = 0) -> None:
        self.policy, self.first = policy, first
        self.gains: npt.NDArray[np.float64] = np.zeros(0)
        self.report: Report | None = None  # exact
        self.reports: list[tuple[int, Report]] = []  # of games, and of how many
        self.was_followed = False  # to all its ends, or to too many

    def begin(self, core: Core, deadline: Deadline) -> None:
        """Play the first games: some however short the time is, one where each takes very long."""
        grace = deadline.at_least(GRACE)
        if deadline.limited:
            self.play(core, deadline.without_limit(), 1)
        self.play(core, grace, FEWEST_GAMES - len(self.gains))

    def play(self, core: Core, deadline: Deadline, games: int) -> None:
        """Play more games; where they see few states, follow the policy to all its ends."""
        assert self.policy.assignment is not None  # noqa: S101 # the best play is not tried
        core.follow(self.policy.assignment, self.policy.style)
        while games > 0 and self.report is None and not deadline.is_over:
            number = min(games, ROUND)
            played = core.play(deadline, number, self.first + len(self.gains))
            self.reports.append((len(played.gains), played.report))
            if len(self.reports) == MOST_REPORTS:
                self.reports = [(sum(count for count, _ in self.reports), self._mean)]
            self.gains = np.concatenate([self.gains, played.gains])
            games -= number
            if len(self.gains) >= ROUND and not self.was_followed:
                self.was_followed = True
                if played.report.states < SEEN:
                    self.report = core.flow(deadline, VISITED)
            if len(played.gains) < number:
                return

    @property
    def value(self) -> float:
        if self.report is not None:
            return self.report.value
        return max(float(self.gains.mean()), 0.0) if len(self.gains) else 0.0

    @property
    def half(self) -> float:
        """Half of the interval for the value."""
        return 0.0 if self.report is not None else half_interval(self.gains)

    @property
    def is_known(self) -> bool:
        """Whether more games are of no use."""
        return self.half <= NEAR_ENOUGH * max(self.value, 1.0)

    def is_better_than(self, other: "_Trial") -> bool:
        """Return whether the games of both show that this policy is better."""
        if self.report is not None and other.report is not None:
            return self.value > other.value
        common = min(len(self.gains), len(other.gains))
        if common < FEWEST_GAMES:
            return False
        more = self.gains[:common] - other.gains[:common]  # with the same dice
        return float(more.mean()) > standard_error(more)

    @property
    def found(self) -> Found:
        if self.report is not None:
            return Found(self.policy, self.value, None, inf, self.report, 0)
        interval = max(self.value - self.half, 0.0), self.value + self.half
        return Found(self.policy, self.value, interval, inf, self._mean, len(self.gains))

    @property
    def _mean(self) -> Report:
        """The report of all games."""
        whole = sum(count for count, _ in self.reports)
        return reduce(add, (report * (count / whole) for count, report in self.reports))


def followed(policy: Policy, deadline: Deadline, budget: float) -> Found:
    """Return how a policy goes that is not to be improved, and a bound on any play.

    deadline: when it must end; some games are played in any case.
    budget: how much work it may do, 1 for the usual.
    """
    if policy.is_best:
        report = policy.search.flow(deadline.without_limit())
        assert report is not None  # noqa: S101 # nothing limits it
        return Found(policy, report.value, None, report.value, report, 0)
    work, most = USUAL.times(budget), policy.problem.rewards.most
    trial = _Trial(policy)
    trial.begin(policy.search, deadline)
    trial.play(policy.search, deadline, work.games - FEWEST_GAMES)
    with suppress(TooLargeError):
        most = min(most, *Core(policy.problem).bounds(deadline, work.values))
    return trial.found.below(most)
