"""Time limits: processor time used after the limit, and the consistency of reported chances.

    python -m benchmarks.limits

A deadline is a moment of wall-clock time, and a busy computer may do little work before it. The
benchmarks therefore count the processor time used after the deadline or after Ctrl-C.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from threading import Timer
from typing import TypeAlias
from urllib.parse import urlencode

import psutil

from benchmarks.load import ask_path, start_server
from benchmarks.measure import Measurement
from iacta import (
    IactaError,
    InOrder,
    Turn,
    ask,
    best_goals,
    best_plan,
    go_on,
    goals_in_reach,
    hold,
    reinforce,
    reinforcements_needed,
    simulate_plan,
    take_and_hold,
    threats,
    win_chances,
)
from iacta.board import Position
from iacta.plan import TakeAll
from tests.plan.test_deadlines import deal, make_grid
from tests.plan.test_threats import judge_last_move
from tests.test_coherence import draw_turn, find_disorder

LIMITS = 0.2, 1.0  # seconds
SLACK, SHARE = 0.2, 0.1  # allowed overrun: seconds, plus a share of the limit
MAX_AFTER_INTERRUPT = 1.0  # seconds
INTERRUPT_AFTER = 0.5  # seconds until Ctrl-C is pressed
POSITIONS, SMALL_BOARDS = 500, 200

Work: TypeAlias = Callable[[float | None], object]


def make_boards() -> Iterator[tuple[str, Position]]:
    """Yield boards of 42 to 1,000 territories with two to six players."""
    for armies in (3, 10, 43):
        yield f"six players with {armies} armies each", deal(armies)
    for players, width, height in ((2, 10, 10), (4, 10, 10), (4, 20, 15), (4, 40, 25)):
        yield f"grid of {width * height:,}, {players} players", make_grid(width, height, players)


def list_work(position: Position) -> Iterator[tuple[str, Work]]:
    """For each function with a time limit, yield its name and a call that takes only the limit."""
    turn, other = Turn(position), position.list_territories("blue")
    goal, later = TakeAll(tuple(other[:4])), TakeAll(tuple(other[4:6]))
    plan = best_plan(position, goal, time_limit=1)
    yield "best_plan", lambda limit: best_plan(position, goal, time_limit=limit)
    for new in (1, 9, 1000):
        yield f"reinforce {new:,}", partial(_reinforce, position, goal, new)
    yield (
        "reinforcements_needed",
        lambda limit: reinforcements_needed(position, goal, "90%", time_limit=limit),
    )
    yield (
        "go_on",
        lambda limit: go_on(position, InOrder((goal, later)), {4: 0.5, 8: 0.5}, time_limit=limit),
    )
    yield "hold", lambda limit: hold(plan, time_limit=limit)
    yield "take_and_hold", lambda limit: take_and_hold(plan, time_limit=limit)
    yield "simulate_plan", lambda limit: simulate_plan(plan, 10**7, time_limit=limit)
    yield "threats", lambda limit: threats(turn, time_limit=limit)
    yield "goals_in_reach", lambda limit: goals_in_reach(turn, time_limit=limit)
    yield "best_goals", lambda limit: best_goals(turn, time_limit=limit)
    yield "win_chances", lambda limit: win_chances(turn, time_limit=limit)
    yield (
        "plan with all extras",
        lambda limit: ask(
            "plan",
            position=position,
            take=",".join(goal.names),
            hold=True,
            check=10**7,
            alternatives=True,
            time_limit=limit,
        ),
    )


def _reinforce(position: Position, goal: TakeAll, new: int, limit: float | None) -> object:
    return reinforce(Turn(position, place=new), goal, time_limit=limit)


def measure_overrun(work: Work, limit: float) -> float:
    """Return the processor time in seconds that a function uses after its time limit."""
    at_limit = list[float]()
    timer = Timer(limit, lambda: at_limit.append(time.process_time()))
    timer.start()
    with suppress(IactaError):  # the limit may be too short for any result
        work(limit)
    timer.cancel()
    return time.process_time() - at_limit[0] if at_limit else 0.0


def measure_interrupt(work: Work) -> float:
    """Return the processor time in seconds that an unlimited function uses after Ctrl-C."""
    pressed = list[float]()

    def press() -> None:
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = Timer(INTERRUPT_AFTER, press)
    timer.start()
    with suppress(KeyboardInterrupt):
        work(None)
    timer.cancel()
    return time.process_time() - pressed[0] if pressed else 0.0


def measure_limits() -> Iterator[Measurement]:
    """Measure how long each function continues after its limit, and after Ctrl-C."""
    ask("goals", position=deal(3), win=True, time_limit=1)  # loads the libraries and weights
    for board, position in make_boards():
        for name, work in list_work(position):
            over = {limit: measure_overrun(work, limit) for limit in LIMITS}
            limit = max(over, key=lambda each: over[each] - SLACK - SHARE * each)
            claim = f"{name}, {board}: after {limit:g} s"
            yield Measurement(claim, over[limit], SLACK + SHARE * limit, False, len(over))
    for name, work in list_work(make_grid(40, 25)):
        after = measure_interrupt(work)
        yield Measurement(
            f"{name}, grid of 1,000: after Ctrl-C", after, MAX_AFTER_INTERRUPT, False, 1
        )


def measure_served_limits() -> Iterator[Measurement]:
    """Measure the processor time that a server uses after the time limit of a request."""
    code, goal = Turn(deal(43)).to_code(), "Africa"
    questions: dict[str, dict[str, object]] = {
        "threats": {"code": code},
        "goals": {"code": code, "win": "true"},
        "plan": {"position": code, "take": goal, "hold": "true", "check": 10**7},
    }
    with start_server() as (address, process):
        for name, more in questions.items():
            path = f"/api/v1/{name}?" + urlencode({"time_limit": 1, **more})
            at_limit = list[float]()
            timer = Timer(1.0, lambda to=at_limit: to.append(_count_seconds(process)))
            timer.start()
            status = ask_path(address, path)
            timer.join()
            after = _count_seconds(process) - at_limit[0]
            yield Measurement(f"{name} of a server: status", status, 200, False, 1)
            yield Measurement(f"{name} of a server: after 1 s", after, SLACK + SHARE, False, 1)


def _count_seconds(process: psutil.Process) -> float:
    """Return the processor time in seconds of a process and its children."""
    times = (each.cpu_times() for each in (process, *process.children(recursive=True)))
    return float(sum(each.user + each.system for each in times))


def measure_coherence() -> Iterator[Measurement]:
    """Count contradictory chances, and recommended moves that are not best or do harm."""
    wrong = sum(bool(find_disorder(draw_turn(seed))) for seed in range(POSITIONS))
    yield Measurement("positions with contradictory chances", wrong, 0, False, POSITIONS)
    helps, best, harmful = zip(*map(judge_last_move, range(SMALL_BOARDS)), strict=True)
    missed = sum(is_helped and not is_best for is_helped, is_best in zip(helps, best, strict=True))
    yield Measurement(
        "small boards on which the best fortifying move is missed", missed, 0, False, sum(helps)
    )
    yield Measurement(
        "small boards with a harmful fortifying move", sum(harmful), 0, False, SMALL_BOARDS
    )


MEASURES = measure_limits, measure_served_limits, measure_coherence


if __name__ == "__main__":
    for measure in MEASURES:
        for mark in measure():
            print("" if mark.is_met else "MISSED: ", mark, sep="", flush=True)
    sys.exit()
