"""The compiled core's search for one problem, as a Python class."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import TooLargeError
from iacta.native.bit_sets import bits, make_mask
from iacta.native.calls import call_core
from iacta.native.core_library import CoreData, load_library, make_pointer
from iacta.native.deadline import Deadline
from iacta.plan.problem import (
    AttackResult,
    PolicyAction,
    Problem,
    SearchState,
    refuse_large_board,
)
from iacta.plan.tables import Floats, make_tables

# For each goal of lookahead, the set of targets of each stack. The goals are the sets of
# territories with a payoff, or all rewarded territories together (see `iacta.plan.policy.Policy`).
Assignment: TypeAlias = tuple[tuple[int, ...], ...]

NOT_ATTACKED = 2**31 - 1  # the entry in `Report.order` of a border over which there was no attack
STOP = PolicyAction(-1, -1, 0, 0.0, ())

ORDERS = ("value", "risk")


class Style(NamedTuple):
    """The parameters of a lookahead policy, as documented in `src/core/iacta.h`."""

    depth: int = 1  # the number of attacks to look ahead if the values of attacks are close
    # The bonus for each idle army near the targets of another stack, as a fraction of the value.
    idle: float = 0.002
    order: str = ORDERS[0]  # the rule that chooses between attacks of nearly equal value


class Visit(NamedTuple):
    """Statistics of a policy's attacks over one border."""

    start: int  # the attacking territory
    to: int  # the attacked territory
    reached: float  # the chance that the policy attacks over this border
    conquered: float  # the chance that it conquers the territory over this border
    arrived: float  # the mean number of armies that move in, counted as 0 without a conquest
    # The chance that the last attack of the turn goes over this border and the goal is not reached.
    ended: float
    # For each number n of armies that are able to move after a conquest: n, the chance of such a
    # conquest, and this chance times the mean number of armies that move in.
    advances: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, eq=False)
class Report:
    """Statistics of a policy, exact or from games. Reports can be weighted and added."""

    problem: Problem
    states: int  # the number of visited states
    order: npt.NDArray[np.int64]  # the rank of each border by the time of its first attack, from 0
    numbers: Floats  # all statistics in one array, in the order documented in `src/core/iacta.h`

    def __add__(self, other: "Report") -> "Report":
        """Add the statistics of more games of the same policy, played later."""
        later = self.order[self.order < NOT_ATTACKED].max(initial=-1) + 1
        order = np.minimum(self.order, other.order + later)
        states, numbers = max(self.states, other.states), self.numbers + other.numbers
        return Report(self.problem, states, order, numbers)

    def __mul__(self, weight: float) -> "Report":
        return replace(self, numbers=weight * self.numbers)

    @property
    def value(self) -> float:
        """The expected payoff of the policy."""
        return float(self.numbers[0])

    @property
    def owned(self) -> tuple[float, ...]:
        """For each territory, the chance that the player owns it at the end."""
        return tuple(self._parts[0].tolist())

    @property
    def armies(self) -> tuple[float, ...]:
        """For each territory, the mean number of the player's armies on it at the end."""
        return tuple(self._parts[1].tolist())

    @property
    def losses(self) -> float:
        """The mean number of armies that the player loses."""
        problem, active = self.problem, self.problem.stacks | self.problem.field
        before = sum(problem.turn.armies[t] for t in bits(active & problem.owned))
        return before - float(self._parts[1][[*bits(active)]].sum())

    @property
    def taken(self) -> tuple[float, ...]:
        """For each set of territories with a payoff, the chance to own the whole set at the end."""
        return tuple(self._parts[2].tolist())

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """The statistics of each border with attacks, in the order of their first attacks."""
        borders = [(v, c) for v, mask in enumerate(self.problem.out) for c in bits(mask)]
        chances = self._parts[3].reshape(len(borders), 4).tolist()
        advances = self._parts[4].reshape(len(borders), -1, 2) if borders else self._parts[4]
        found = []
        for k in np.argsort(self.order, kind="stable").tolist():
            if self.order[k] < NOT_ATTACKED:
                able = np.flatnonzero(advances[k, :, 0]).tolist()
                rows = tuple((a, *advances[k, a].tolist()) for a in able)
                found.append(Visit._make((*borders[k], *chances[k], rows)))
        return tuple(found)

    @cached_property
    def _parts(self) -> list[Floats]:
        lands, sets = len(self.problem.out), len(self.problem.rewards.sets)
        lengths = (1, lands, lands, sets, 4 * len(self.order))
        return np.split(self.numbers, np.cumsum(lengths))[1:]


class Solution(NamedTuple):
    """The value and the cost of an optimal policy that starts in a state."""

    value: float  # the expected payoff
    cost: float  # the expected number of armies lost, plus 1e-6 for each expected roll


class Games(NamedTuple):
    """The results of simulated games of a policy."""

    # The payoff of each game, reduced by the luck of its dice. The mean estimates the value of the
    # policy.
    gains: Floats
    report: Report  # the statistics of the policy in these games


class Search:
    """A search in the compiled core for one problem.

    problem: the problem.
    deadline: the time limit for preparing the tables of dice and battles; `None` for no limit.
    until: a set of territories, for `solve_until`: the turn ends when all are conquered. 0 for an
        empty set.

    In all methods, `states` is the maximum number of states to store, and `start` is the state to
    begin with, `None` for the start of the problem. A missing core, or tables that take too long,
    raise an error.
    """

    def __init__(
        self, problem: Problem, deadline: Deadline | None = None, *, until: int = 0
    ) -> None:
        self._search = None
        self._lock = Lock()  # makes sure that only one thread uses this search of the core
        self._library = load_library("plans")
        refuse_large_board(problem.board, "plans")
        max_sets = self._library.constant("MAX_SETS")
        if len(problem.rewards.sets) > max_sets:
            raise TooLargeError(
                f"a goal must pay for at most {max_sets:,} continents and other sets of "
                f"territories, got {len(problem.rewards.sets):,} "
                f"on board {quote(problem.board.name)}"
            )
        tables = make_tables(self._library, problem, until, deadline or Deadline())
        self.problem, self.lands = problem, tables.data.lands
        self._search = self._library.open_handle("open", tables.reference)
        self._able = tables.data.able
        self._armies = tables.arrays["armies"]
        active = problem.stacks | problem.field
        self._is_active = [active >> t & 1 == 1 for t in range(self.lands)]
        self.goals: int = self._library.functions.iacta_count_goals(self._search)
        self.max_depth = self._library.constant("MAX_DEPTH")  # largest `Style.depth`

    def __del__(self) -> None:
        if self._search:
            self._library.functions.iacta_close(self._search)

    def _call(self, name: str, deadline: Deadline, *arguments: Any, **how: Any) -> int:
        """Call a function of the compiled core by name; `how` is passed to `call_core`."""
        function = getattr(self._library.functions, f"iacta_{name}")
        return call_core(
            self._library,
            lambda budget: int(function(self._search, budget, *arguments)),
            deadline,
            self._lock,
            **how,
        )

    def solve(
        self,
        deadline: Deadline,
        states: float = inf,
        start: SearchState | None = None,
        *,
        is_short: bool = False,
    ) -> Solution | None:
        """Solve the problem exactly, and use the solution as the policy of this search.

        is_short: whether the call is expected to take only milliseconds.

        The result is `None` if a limit on states or time is exceeded.
        """
        return self._solve(deadline, start, states, None, is_short=is_short)

    def _solve(
        self,
        deadline: Deadline,
        start: SearchState | None,
        states: float,
        ends: Any,
        *,
        is_short: bool = False,
    ) -> Solution | None:
        value, cost, seen = np.zeros(1), np.zeros(1), np.zeros(1, np.int64)
        more = map(make_pointer, (value, cost, seen))
        code = self._ask("solve", deadline, start, ends, *more, states=states, is_short=is_short)
        is_done = code == self._library.constant("DONE")
        return Solution(value.item(), cost.item()) if is_done else None

    def solve_until(
        self,
        deadline: Deadline,
        states: float,
        maximum: int,
        value_of: Callable[[SearchState], float | None],
    ) -> float | None:
        """Return the exact value of a turn whose attacks end when the set `until` is conquered.

        maximum: the maximum number of states in which the set is just conquered.
        value_of: a function that returns the value of such a state, or `None` if it exceeds a
            limit.

        The result is `None` if a limit on states or time is exceeded.
        """
        armies = np.zeros((maximum, self.lands), dtype=np.int32)
        mine, values = np.zeros((maximum, self.lands), dtype=np.uint8), np.zeros(maximum)
        record = CoreData(
            self._library, "ends", room=maximum, armies=armies, mine=mine, values=values
        )
        ends = record.data
        # The first call lists the states in which the set is conquered. The second call, below,
        # uses their values.
        if self._solve(deadline, None, states, record.reference) is None:
            return None
        for k in range(ends.count):
            # The core caps the armies of territories that take no part, so use the actual armies.
            there = np.where(self._is_active, armies[k], self.problem.start.armies)
            owned = make_mask(np.flatnonzero(mine[k]).tolist())
            known = value_of(SearchState(tuple(there.tolist()), owned))
            if known is None:
                return None
            values[k] = known
        solution = self._solve(deadline, None, states, record.reference)
        return None if solution is None else solution.value

    def assign(self, deadline: Deadline, starts: int = 1) -> Assignment:
        """Search for the best assignment of targets to stacks, and use it as the policy.

        starts: the number of assignments with which the search starts.
        """
        sets = np.zeros((self.goals, self.lands, self.lands), dtype=np.uint8)
        self._call("assign", deadline, starts, make_pointer(sets))
        return tuple(
            tuple(make_mask(np.flatnonzero(part).tolist()) for part in parts) for parts in sets
        )

    def follow(self, assignment: Assignment | None, style: Style) -> None:
        """Use lookahead with an assignment of targets to stacks as the policy.

        assignment: the assignment; `None` for an empty assignment.

        A style that the core does not support raises an error.
        """
        sets = np.zeros((self.goals, self.lands, self.lands), dtype=np.uint8)
        for goal, parts in enumerate(assignment or ()):
            for v, part in enumerate(parts):
                sets[goal, v, [*bits(part)]] = 1
        given = CoreData(
            self._library,
            "style",
            idle=style.idle,
            depth=style.depth,
            order=ORDERS.index(style.order),
        )
        unsound = (
            f"style must have a depth from 1 to {self.max_depth} and a bonus for idle armies "
            f"from 0 to 1, got {style}"
        )
        more = given.reference, make_pointer(sets)
        self._call("follow", Deadline(), *more, is_short=True, unsound=unsound)

    def decide(self, state: SearchState) -> PolicyAction:
        return self._ask_decision("decide", state)

    def compute_state_value(self, state: SearchState, deadline: Deadline) -> float | None:
        """Return the policy's value of a state, or `None` after the deadline."""
        # The structure has no array for the results of the attack, because only the value is used.
        found = CoreData(self._library, "decision")
        code = self._ask("decide", deadline, state, found.reference, is_short=True)
        return float(found.data.value) if code == self._library.constant("DONE") else None

    def evaluate_attack(
        self,
        state: SearchState,
        start: int,
        to: int,
        dice: int = 0,
        deadline: Deadline | None = None,
    ) -> PolicyAction:
        """Return an attack with its value; with `dice` 0, the attack uses as many dice as possible.

        After the deadline, the result is a stop.
        """
        return self._ask_decision("evaluate_attack", state, start, to, dice, deadline=deadline)

    def advance(self, state: SearchState, start: int, to: int, least: int) -> int:
        """Return the number of armies that the policy moves in after a conquest.

        state: a state with the attackers that are left and, on the target, one defender.
        """
        moved = np.zeros(1, np.int32)
        more = start, to, least, make_pointer(moved)
        self._ask("choose_advance", Deadline(), state, *more, is_short=True)
        return int(moved.item())

    def _ask_decision(
        self, name: str, state: SearchState, *roll: int, deadline: Deadline | None = None
    ) -> PolicyAction:
        decision, end = CoreData(self._library, "decision", room=64), deadline or Deadline()
        found = decision.data
        while True:
            found.outcomes = self._library.make_rows("outcome", found.room)
            code = self._ask(name, end, state, *roll, decision.reference, is_short=True)
            if code != self._library.constant("DONE"):
                return STOP
            if found.count <= found.room:
                break
            found.room = found.count
        rows = (
            AttackResult._make(getattr(outcome, field) for field in AttackResult._fields)
            for outcome in found.outcomes[: found.count]
        )
        return PolicyAction(found.start, found.to, found.dice, found.value, tuple(rows))

    def _ask(
        self, name: str, deadline: Deadline, state: SearchState | None, *more: Any, **how: Any
    ) -> int:
        """Call a function of the core by name for a state.

        state: the state; `None` for the start of the problem.
        """
        armies, owned = self.problem.start if state is None else state
        mine = np.array([owned >> t & 1 for t in range(self.lands)], dtype=np.uint8)
        idle = self._armies
        if self.problem.counted_armies > 1:
            # The goal requires armies on each territory, so pass the actual number, up to the cap.
            idle = np.minimum(armies, idle)
        counted = np.where(self._is_active, armies, idle).astype(np.int32)
        record = CoreData(self._library, "state", armies=counted, mine=mine)
        unsound = "position must be reachable from the start of the plan"
        return self._call(name, deadline, record.data, *more, unsound=unsound, **how)

    def flow(
        self, deadline: Deadline, states: float = inf, start: SearchState | None = None
    ) -> Report | None:
        """Compute exact statistics of the policy; return `None` if a limit is exceeded."""
        code, report = self._report("evaluate_policy", deadline, start, states=states)
        return report if code == self._library.constant("DONE") else None

    def play(
        self,
        deadline: Deadline,
        games: int,
        first: int = 0,
        seed: int = 0,
        start: SearchState | None = None,
    ) -> Games:
        """Simulate games of the policy.

        deadline: when to stop; fewer games are then played.
        games: the maximum number of games.
        first: the number of the first game. The number of a game and `seed` determine its dice.
        """
        gains, count = np.zeros(games), np.zeros(1, np.int32)
        more = seed, first, games, make_pointer(gains), make_pointer(count)
        _, report = self._report("play_games", deadline, start, *more)
        played = int(count.item())
        return Games(gains[:played], report * (games / max(played, 1)))

    def _report(
        self, name: str, deadline: Deadline, start: SearchState | None, *more: Any, **how: Any
    ) -> tuple[int, Report]:
        """Call a function of the core that computes statistics; return its code and the report."""
        borders = sum(mask.bit_count() for mask in self.problem.out)
        sets = len(self.problem.rewards.sets)
        room = 1 + 2 * self.lands + sets + borders * (6 + 2 * self._able)
        order, numbers = np.full(borders, NOT_ATTACKED, dtype=np.int32), np.zeros(room)
        report = CoreData(
            self._library, "report", borders=borders, room=room, order=order, numbers=numbers
        )
        code = self._ask(name, deadline, start, *more, report.reference, **how)
        return code, Report(self.problem, report.data.states, order.astype(np.int64), numbers)

    def bounds(self, deadline: Deadline, values: float = inf) -> Iterator[float]:
        """Yield upper bounds on the value of any play, which never increase.

        values: the maximum number of values to compute in all relaxed games (easier games)
            together.
        """
        more = self._library.constant("MORE")
        bound, code = np.full(1, inf), more
        while code == more:
            code = self._call("improve_bound", deadline, make_pointer(bound), states=values)
            yield float(bound.item())
