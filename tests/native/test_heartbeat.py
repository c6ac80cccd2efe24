"""Watching and ending long work: the callback runs regularly, and its exception ends the work."""

from threading import Event, Thread
from typing import Any

import pytest

from iacta import TakeAll, Turn, best_plan, read_position
from iacta.native.heartbeat import beat, beat_during, get_pause, join_thread, wait_for_event
from iacta.questions import ask
from tests.cases import for_each

ASIA = "examples/asia.toml"
LONG: list[tuple[str, dict[str, Any]]] = [
    ("plan", {"position": ASIA, "take": "Asia"}),
    ("analysis", {"position": ASIA, "level": "long"}),
    ("goals", {"position": "examples/eliminate-blue.json"}),
    ("threats", {"position": "examples/eliminate-blue.json"}),
    ("win", {"position": ASIA, "games": 100_000}),
    ("simulate", {"attackers": 400, "territories": [90, 90, 90], "runs": 10**7}),
    ("review", {"file": "examples/game.jsonl"}),
]


class StopError(Exception):
    """The exception of a callback that ends the work."""


@for_each(("name", "parameters"), LONG)
def test_an_exception_of_the_callback_ends_the_work(name: str, parameters: dict[str, Any]) -> None:
    calls = list[str]()

    def watch(doing: str, part: float | None) -> None:
        assert part is None or 0.0 <= part <= 1.0
        calls.append(doing)
        if len(calls) == 3:
            raise StopError

    with pytest.raises(StopError):
        ask(name, watch=watch, **parameters)
    assert len(calls) == 3
    assert all(calls)


def test_the_progress_of_a_plan_never_falls_and_ends_with_its_value() -> None:
    turn = Turn(read_position(ASIA))
    rows = list[tuple[float, float]]()
    plan = best_plan(turn, TakeAll("Asia"), progress=lambda *row: rows.append(row))
    assert rows[0][0] == 0.0  # before the first plan
    bounds = [bound for _, bound in rows]
    assert bounds == sorted(bounds, reverse=True)
    assert (
        rows[-1] == ((plan.greatest or plan).value, plan.upper_bound) or rows[-1][0] == plan.value
    )

    def stop(*_: float) -> None:
        raise StopError

    with pytest.raises(StopError):
        best_plan(turn, TakeAll("Asia"), progress=stop)


def test_waits_call_the_function_of_their_thread() -> None:
    calls = list[int]()
    done = Event()

    def count() -> None:
        calls.append(1)
        if len(calls) == 5:
            done.set()

    with beat_during(count):
        wait_for_event(done)
        assert len(calls) == 5
        others = Thread(target=beat)  # another thread has no callback
        others.start()
        join_thread(others)
    before = len(calls)
    beat()
    assert len(calls) == before
    assert get_pause() > 1000
