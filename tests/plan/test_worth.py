"""Regression tests of the goal `Worth`."""

import pytest

from iacta.board import Board, Continent, Holding, Position
from iacta.game import Turn
from iacta.plan import Worth, best_plan, simulate_plan
from iacta.rules.variants import find_rules


def chain(armies: tuple[int, int, int], continents: tuple[Continent, ...] = ()) -> Position:
    """Return a row of three territories: the first is red's, the others are blue's."""
    borders = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")
    board = Board("chain", tuple("ABC"), borders, continents)
    red, *blue = armies
    return Position(board, "red", (Holding("red", red), *(Holding("blue", n) for n in blue)))


def test_continents_completed_by_the_same_territory_each_pay_once() -> None:
    continents = Continent("small", 2, ("B",)), Continent("big", 3, ("A", "B"))
    plan = best_plan(chain((4, 1, 9), continents), Worth(0))
    assert plan.value == pytest.approx(5 * 342035 / 373248, rel=1e-12)  # 3 armies beat 1
    simulated = simulate_plan(plan, runs=20_000, seed=1)
    assert abs(simulated.value - plan.comparable_value) < 5 * simulated.error
    assert plan.comparable_value <= plan.upper_bound <= 5


def test_under_balanced_blitz_fewer_armies_may_lose_fewer() -> None:
    goal = Worth({"A": 1, "B": 0, "C": 3}, bonus=0, army=1)
    plan = best_plan(Turn(chain((6, 2, 2)), find_rules("balanced blitz", 0)), goal)
    assert plan.value == pytest.approx(8.133123, abs=1e-6)
    assert plan.upper_bound >= plan.comparable_value
