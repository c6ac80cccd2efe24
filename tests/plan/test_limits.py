"""What is too large, or takes too long, is refused or ended before it costs anything."""

import tracemalloc
from itertools import pairwise
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
    Worth,
    best_plan,
    spread_defenders,
)
from iacta.odds.spread import AttackedChain
from iacta.plan import planner
from tests.asked import win_probability_keeping
from tests.compiled import HAS_CORE, skip
from tests.plan.boards import CLASSIC_BOARD, needs_core, position_on


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


def test_fractions_of_thousands_of_digits_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AttackedChain._model

    def compared(chain: AttackedChain, *, exact: bool) -> Any:
        assert not exact, "spreads were compared in fractions"
        return model(chain, exact=exact)

    monkeypatch.setattr(AttackedChain, "_model", compared)
    assert not spread_defenders(2000, 9, 3).is_exact
    with pytest.raises(AssertionError, match="in fractions"):
        spread_defenders(700, 9, 3)


@pytest.mark.parametrize("armies", [2000, 2001, 10**9])
def test_stacks_of_thousands_are_refused(armies: int) -> None:
    start, goal = position(armies, 1), TakeAll("B")
    if armies <= 2000:
        if not HAS_CORE:
            skip()
        assert best_plan(start, goal).value == pytest.approx(1.0)
        return
    with pytest.raises(TooLargeError, match="armies on A must be at most 2,000 for a plan, got"):
        best_plan(start, goal)


def test_armies_that_do_not_matter_may_be_many() -> None:
    board = Board.from_edges("apart", [("A", "B"), ("B", "C")])
    start = Position(board, "red", {"A": ("red", 9), "B": ("blue", 2), "C": ("blue", 10**6)})
    assert best_plan(start, TakeAll("B")).proven


@needs_core
def test_a_search_with_no_time_has_a_plan() -> None:
    assert best_plan(position(30, 20), TakeAny(("B", "C")), time_limit=0).value > 0.5


@needs_core
def test_a_star_with_many_rays_is_planned() -> None:
    names = tuple(f"t{k}" for k in range(40))
    board = Board("star", names, tuple((names[0], name) for name in names[1:]))
    start = Position(board, "red", {"t0": ("red", 120), **dict.fromkeys(names[1:], ("blue", 1))})
    plan = best_plan(start, TakeAll(names[1:]), budget=0.02)
    assert 0.0 < plan.value <= plan.upper_bound


@needs_core
def test_boards_of_more_territories_than_a_word_has_bits_are_planned() -> None:
    names = [f"t{k}" for k in range(130)]
    board = Board.from_edges("ladder", [*pairwise(names), *zip(names, names[2:], strict=False)])
    theirs = {name: ("blue", 1 + k % 2) for k, name in enumerate(names[1:])}
    start = Position(board, "red", {"t0": ("red", 12), **theirs})
    for goal in (TakeAll(tuple(names[1:8])), TakeAny((names[-1], names[9])), Worth(1)):
        plan = best_plan(start, goal, time_limit=0)
        assert plan.problem.held < plan.value <= plan.upper_bound
        assert plan.next_move() is not None


@needs_core
def test_where_a_game_takes_long_one_is_played_and_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goal = TakeAll(tuple(name for name in CLASSIC_BOARD.territories if name != "Brazil"))
    start = position_on(CLASSIC_BOARD, {"Brazil": 65}, {})
    monkeypatch.setattr(planner, "GRACE", 0.0)
    plan = best_plan(start, goal, time_limit=0)
    assert (plan.games, plan.interval) == (1, (0.0, plan.upper_bound))


@needs_core
def test_a_whole_board_is_taken() -> None:
    goal = TakeAll(tuple(name for name in CLASSIC_BOARD.territories if name != "Brazil"))
    chances = []
    for armies in (65, 125):
        start = position_on(CLASSIC_BOARD, {"Brazil": armies}, {})
        chances.append(best_plan(start, goal, time_limit=0).win_probability)
    assert 0.1 < chances[0] < 0.9 < 0.999 < chances[1]
