"""What is too large, or takes too long, is refused or ended before it costs anything."""

import tracemalloc
from typing import Any

import pytest

from iacta import (
    Battle,
    Board,
    Dice,
    Position,
    Rules,
    TakeAll,
    TakeAny,
    TooLargeError,
    best_plan,
    spread_defenders,
)
from iacta.plan import plan as plan_module
from iacta.plan import real_play
from iacta.plan.bound import Bound
from iacta.plan.problem import read_problem
from iacta.questions.needed import win_probability_keeping


def test_no_row_is_made_for_a_battle_that_is_refused() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(
            TooLargeError, match="a battle of 170716544 against 200000000 is too large"
        ):
            win_probability_keeping(170_716_544, [200_000_000], keep=0, exact=True)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("faces", [(10**6,) * 3, (1000, 1000)])
def test_dice_whose_full_roll_is_refused_are_refused_before_a_smaller_one(
    faces: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def thrown(*_: Any) -> None:
        raise AssertionError("a smaller roll was worked out first")

    monkeypatch.setattr("iacta.rules.roll._sorted_dice", thrown)
    rules = Rules(attack=Dice(faces), defence=Dice(faces[:2]))
    with pytest.raises(TooLargeError, match="comparisons, expected at most"):
        Battle(5, 3, rules).win_probability()


def position(armies: int, defenders: int) -> Position:
    """Return a stack before a chain of two territories."""
    board = Board.from_edges("chain", [("A", "B"), ("B", "C")])
    return Position(
        board, "red", {"A": ("red", armies), "B": ("blue", defenders), "C": ("blue", 9)}
    )


def test_a_bound_needs_no_deep_recursion() -> None:
    problem = read_problem(position(40, 400), Rules(), {}, ())
    assert 0.0 <= Bound(problem).chance(0b110, 0b110) < 1e-20


def test_no_play_roll_by_roll_is_begun_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(real_play, "Lookahead", lambda *_: begun.append(1))
    monkeypatch.setattr(real_play, "solve_turn", lambda *_: None)
    monkeypatch.setattr(real_play, "solve_chain", lambda *_: None)
    start, goal = position(30, 20), TakeAny(("B", "C"))
    assert best_plan(start, goal, time_limit=0).value > 0.5
    assert not begun


def test_fractions_of_thousands_of_digits_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*_: Any) -> None:
        raise AssertionError("spreads were compared in fractions")

    monkeypatch.setattr("iacta.questions.spread._Defence._exactly_best", compared)
    assert not spread_defenders(2000, 9, 3).is_exact
    with pytest.raises(AssertionError):
        spread_defenders(700, 9, 3)


def test_an_interrupt_after_the_search_does_not_lose_the_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, calls = plan_module._steps, list[None]()

    def interrupted(*args: Any) -> Any:
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return steps(*args)

    monkeypatch.setattr(plan_module, "_steps", interrupted)
    board = Board("two", ("A", "B"), (("A", "B"),))
    start = Position(board, "red", {"A": ("red", 5), "B": ("blue", 2)})
    assert best_plan(start, TakeAll("B")).proven
    assert len(calls) == 2
