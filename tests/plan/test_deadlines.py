"""Deadlines end every phase of each function that has a time limit.

The clock of these tests advances by one step at each reading. A phase that continues after the
deadline reads the clock many times, or gives the core more time than is left.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from iacta import (
    IactaError,
    InOrder,
    Turn,
    armies_needed_for_plan,
    best_goals,
    best_plan,
    classic_board,
    go_on,
    goals_in_reach,
    hold,
    reinforce,
    reinforcements_needed,
    review,
    simulate_plan,
    take_and_hold,
    threats,
    win_chances,
)
from iacta.board import Board, Holding, Position
from iacta.native import calls, deadline
from iacta.native.deadline import Deadline
from iacta.plan import Plan, TakeAll, continuation, planner, search
from iacta.plan.alternatives import alternatives
from iacta.questions import ask
from iacta.war import games

STEP = 0.01  # seconds by which each reading advances the clock
MAX_LOOKS_AFTER = 250  # limit on readings after the deadline, usually in the interrupted phase
MAX_GRACE = 0.2  # seconds that the core may use after a deadline, for its first two games
PLAYERS = "red", "blue", "green", "yellow", "black", "pink"


def deal(armies: int) -> Position:
    """Return the classic board, dealt to six players in turn."""
    holdings = tuple(Holding(PLAYERS[t % 6], armies) for t in range(42))
    return Position(classic_board(), "red", holdings)


def make_grid(width: int, height: int, players: int = 4) -> Position:
    """Return a position on a grid in which each player's territories are scattered."""
    names = [f"{x},{y}" for y in range(height) for x in range(width)]
    pairs = [
        (f"{x},{y}", f"{p},{q}")
        for y in range(height)
        for x in range(width)
        for p, q in ((x + 1, y), (x, y + 1))
        if p < width and q < height
    ]
    board = Board.from_edges("grid", pairs)
    places = {name: t for t, name in enumerate(names)}
    holdings = (
        Holding(PLAYERS[places[name] * 7 % players], 3 + places[name] % 3)
        for name in board.territories
    )
    return Position(board, "red", tuple(holdings))


class Clock:
    """A clock that advances by one step at each reading and counts readings after a deadline.

    late: the number of readings after the deadline.
    given: the time limits in seconds of calls of the core after the deadline. Calls that decide
        about a single state are short, have no limit, and are left out.
    """

    def __init__(self, patch: pytest.MonkeyPatch, limit: float) -> None:
        self.now, self.end, self.late, self.given = 0.0, limit, 0, list[float]()
        call_core, make_budget = calls.call_core, calls.make_budget

        def call_search(library: Any, function: Any, end: Deadline, *more: Any, **how: Any) -> int:
            if self.now > self.end and not how.get("is_short"):
                self.given.append(end.measure_seconds_left())
            return call_core(library, function, end, *more, **how)

        def make_counted_budget(library: Any, end: Deadline, states: float) -> Any:
            if self.now > self.end:
                self.given.append(end.measure_seconds_left())
            return make_budget(library, end, states)

        patch.setattr(deadline, "monotonic", self.look)
        patch.setattr(search, "call_core", call_search)
        patch.setattr(games, "make_budget", make_counted_budget)

    def look(self) -> float:
        self.now += STEP
        self.late += self.now > self.end
        return self.now


LARGE, SIX = make_grid(10, 10), deal(10)
GOAL = TakeAll("Africa")
LOG = (
    '{"turn": "1;classic;red;Peru:red:5,Brazil:blue:2,Argentina:blue:1", "battles": ['
    '{"from": "Peru", "to": "Brazil", "left": 3, "their_left": 2}]}'
)
PLAN: dict[str, Plan] = {}


def plan_six() -> Plan:
    """Return a plan made without a time limit."""
    if not PLAN:
        PLAN["six"] = best_plan(SIX, GOAL, budget=0.05)
    return PLAN["six"]


def grid_goal() -> TakeAll:
    return TakeAll(LARGE.list_territories("blue")[:5])


FUNCTIONS: dict[str, Callable[[float], object]] = {
    "best_plan": lambda limit: best_plan(SIX, GOAL, time_limit=limit),
    "best_plan, one thread": lambda limit: best_plan(SIX, GOAL, time_limit=limit, threads=1),
    "best_plan, grid": lambda limit: best_plan(LARGE, grid_goal(), time_limit=limit),
    "armies_needed_for_plan": lambda limit: armies_needed_for_plan(
        SIX, GOAL, "90%", "Alaska", time_limit=limit
    ),
    "reinforce": lambda limit: reinforce(Turn(SIX, place=9), GOAL, time_limit=limit),
    "reinforce 1000": lambda limit: reinforce(
        Turn(LARGE, place=1000), grid_goal(), time_limit=limit
    ),
    "reinforcements_needed": lambda limit: reinforcements_needed(
        SIX, GOAL, "90%", time_limit=limit
    ),
    "hold": lambda limit: hold(plan_six(), time_limit=limit),
    "take_and_hold": lambda limit: take_and_hold(plan_six(), time_limit=limit),
    "go_on": lambda limit: go_on(
        SIX, InOrder((GOAL, TakeAll("Brazil,Peru"))), {3: 0.5, 6: 0.5}, time_limit=limit
    ),
    "simulate_plan": lambda limit: simulate_plan(plan_six(), 10**7, time_limit=limit),
    "alternatives": lambda limit: alternatives(plan_six(), Deadline(limit)),
    "review": lambda limit: review(LOG, time_limit=limit),
    "threats": lambda limit: threats(Turn(SIX), time_limit=limit),
    "threats, grid": lambda limit: threats(Turn(LARGE), time_limit=limit),
    "goals_in_reach": lambda limit: goals_in_reach(Turn(SIX), time_limit=limit),
    "goals_in_reach, grid": lambda limit: goals_in_reach(Turn(LARGE), time_limit=limit),
    "best_goals": lambda limit: best_goals(Turn(SIX), time_limit=limit),
    "win_chances": lambda limit: win_chances(Turn(SIX), time_limit=limit),
    "plan, all extras": lambda limit: ask(
        "plan", position=SIX, take="Africa", hold=True, check=10**7, alternatives=True,
        time_limit=limit,
    ),
    "goals --win": lambda limit: ask("goals", position=SIX, win=True, time_limit=limit),
}  # fmt: skip


@pytest.mark.parametrize("limit", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_phase_goes_on_after_the_deadline(
    name: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_six()
    clock = Clock(monkeypatch, limit)
    try:
        FUNCTIONS[name](limit)
    except IactaError as error:
        assert re.search("within the time limit", str(error))
    assert clock.late <= MAX_LOOKS_AFTER
    assert sum(clock.given) <= MAX_GRACE


def test_ctrl_c_leaves_a_turn_with_cards_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[float]()
    evaluate = planner.evaluate_policy

    def note(policy: Any, end: Deadline, *more: Any) -> Any:
        given.append(end.measure_seconds_left())
        return evaluate(policy, end, *more)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(continuation, "evaluate_policy", note)
    monkeypatch.setattr(continuation._SimulatedTurns, "sample_games", interrupt)
    goal = InOrder((GOAL, TakeAll("Brazil,Peru")))
    assert go_on(SIX, goal, {3: 0.5, 6: 0.5}).ends == 0
    assert len(given) == 1
    assert given[0] <= 0.5
