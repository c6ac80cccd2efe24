"""Invalid plans, goals, positions and results of battles raise one-sentence errors."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from iacta.board import Holding, Position
from iacta.game import Turn
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.plan import (
    TakeAll,
    Worth,
    armies_needed_for_plan,
    best_plan,
    eliminate,
    reinforce,
    simulate_plan,
)
from tests.plan.boards import find_move, make_board, make_position

SMALL = make_position(
    make_board("two", [("s", "a"), ("z", "s")], "saz"), {"s": 5, "z": 2}, {"a": 2}
)
PLAN = best_plan(Turn(SMALL, whole_battles=True), TakeAll("a"))
ANY: dict[str, object] = {"nothing": None, "a number": 5, "numpy": np.array(["s", "a"])}


@pytest.mark.parametrize("value", ANY.values(), ids=ANY)
def test_wrong_types_get_one_sentence(value: object) -> None:
    wrong: dict[str, Callable[[Any], object]] = {
        "position must be a Position, got": lambda v: eliminate(v, "blue"),
        "owner must be a player's name, got": lambda v: eliminate(SMALL, v),
        "turn must be a Turn or a Position, got": lambda v: armies_needed_for_plan(
            v, TakeAll("a"), "50%", "s"
        ),
        "board 'two' has no territory": lambda v: armies_needed_for_plan(
            SMALL, TakeAll("a"), "50%", v
        ),
        "plan must be a Plan, got": simulate_plan,
        "runs must be a whole number.*, got": lambda v: simulate_plan(PLAN, [v]),  # type: ignore[call-overload]
        "bonus must be a number, got": lambda v: Worth(bonus=[v]),  # type: ignore[arg-type]
        "territories must be a number.*, got": lambda v: Worth((v,)),
    }
    for sentence, ask in wrong.items():
        with pytest.raises(IactaError, match=f"^{sentence} "):
            ask(value)


def test_constraints_are_given_as_a_mapping_and_a_list() -> None:
    for keep in (5, np.array([1, 2])):
        with pytest.raises(MalformedError, match=r"^keep must be a mapping from names to armies"):
            Turn(SMALL, keep=keep)  # type: ignore[arg-type] # the claim
    with pytest.raises(MalformedError, match=r"^stay must be a list of names"):
        Turn(SMALL, stay=5)  # type: ignore[arg-type] # the claim


@pytest.mark.parametrize("worth", [10**9 + 1, 10**400, 1e308])
def test_worths_are_at_most_a_thousand_million(worth: float) -> None:
    for ask in (
        Worth,
        lambda v: Worth({"A": v}),
        lambda v: Worth(bonus=v),
        lambda v: Worth(army=v),
    ):
        with pytest.raises(TooLargeError, match=r"must be at most 1e\+09, got 1"):
            ask(worth)
    assert Worth(10**9, bonus=1e9, army=1e9).compute_worth("A") == 1e9
    for endless in (float("inf"), float("nan")):
        with pytest.raises(MalformedError, match="must be a number"):
            Worth(endless)


def test_runs_are_at_most_ten_million() -> None:
    with pytest.raises(TooLargeError, match=r"^runs must be at most 10,000,000 for a plan, got 1"):
        simulate_plan(PLAN, 10**30)
    with pytest.raises(IllegalError, match=r"^runs must be a whole number of at least 1, got 0"):
        simulate_plan(PLAN, 0)


def test_in_a_position_without_the_goal_a_plan_makes_no_attack() -> None:
    for play in ("rolls", "battles"):
        plan = best_plan(Turn(SMALL, whole_battles=play == "battles"), TakeAll("a"))
        unlisted = Position(
            SMALL.board, "red", (Holding("red", 5), Holding("", 0), Holding("red", 2))
        )
        assert find_move(plan, unlisted) is None


def test_unlisted_territories_are_not_attacked() -> None:
    chain = make_position(
        make_board("chain", [("s", "a"), ("a", "b")], "sab"), {"s": 9}, {"a": 1, "b": 1}
    )
    unlisted = Position(chain.board, "red", (Holding("red", 9), Holding("", 0), Holding("blue", 1)))
    for play in ("rolls", "battles"):
        plan = best_plan(Turn(chain, whole_battles=play == "battles"), TakeAll("b"))
        assert find_move(plan, unlisted) is None


def test_the_chance_is_shown_as_entered() -> None:
    position = make_position(make_board("apart", [("z", "a")], "saz"), {"s": 5}, {"a": 2, "z": 1})
    for chance, text in ((Fraction(1, 2), "1/2"), ("50%", "50%"), (0.5, "0.5")):
        with pytest.raises(
            IllegalError, match=f"1000 armies on s do not reach a chance of {text}$"
        ):
            armies_needed_for_plan(position, TakeAll("a"), chance, "s")


def test_armies_are_needed_only_where_they_may_attack() -> None:
    with pytest.raises(IllegalError, match=r"^source must be a territory that may attack, got s$"):
        armies_needed_for_plan(Turn(SMALL, stay=["s"]), TakeAll("a"), "50%", "S")


def test_ctrl_c_ends_the_search_for_armies_rather_than_reporting_a_wrong_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    pairs = [("s", "a"), ("a", "b"), ("b", "s")]
    position = make_position(make_board("ring", pairs, "sab"), {"s": 6}, {"a": 2, "b": 2})
    monkeypatch.setattr("iacta.plan.planner.Planner._solve", interrupt)
    with pytest.raises(KeyboardInterrupt):
        armies_needed_for_plan(position, TakeAll(("a", "b")), "90%", "s")


def test_without_the_core_plans_are_refused_on_small_boards_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.native.core_library.find_library", lambda: None)
    for ask in (best_plan, lambda position, goal: reinforce(Turn(position, place=3), goal)):
        with pytest.raises(IactaError, match=r"^plans need the compiled core of iacta; `make"):
            ask(SMALL, TakeAll("a"))
