"""Beginnings are worth what the best play after them gains."""

import pytest
from hypothesis import given, settings

from iacta.board import Position
from iacta.plan import Goal, Plan, TakeAll, Worth, best_plan
from iacta.plan.alternatives import alternatives
from iacta.rules.rules import CLASSIC
from tests.plan.boards import BLUE, plan_against_blue, small_game
from tests.plan.test_plan import GOALS, positions
from tests.plan.test_true_game import plan_of, twin_of
from tests.plan.twin import Play


def check_beginnings(plan: Plan, twin: Play) -> None:
    """Hold all beginnings of a plan to what the twin says."""
    found = alternatives(plan)
    for each in found:
        pair = twin.place[each.start], twin.place[each.to]
        worths = {
            action.dice: twin.worth_of(twin.start, action)
            for action in twin.actions(twin.start)
            if (action.start, action.to) == pair
        }
        assert each.value == pytest.approx(float(worths[each.dice]), abs=1e-9)
    assert {(each.start, each.to) for each in found} == {
        (twin.names[action.start], twin.names[action.to]) for action in twin.actions(twin.start)
    }
    if plan.steps:
        assert found[0].value == pytest.approx(plan.value, abs=1e-9)


@given(positions(3), GOALS)
@settings(max_examples=20, deadline=None)
def test_on_small_boards_beginnings_have_the_values_of_the_twin(
    position: Position, goal: Goal
) -> None:
    plan = best_plan(position, goal)
    check_beginnings(plan, Play(position, plan.goal, CLASSIC))


# In each of these the best advance after the first roll is neither the least nor the most.
@pytest.mark.parametrize("seed", [14, 15, 21])
def test_beginnings_count_the_best_of_all_advances(seed: int) -> None:
    game = small_game(seed)
    check_beginnings(plan_of(game), twin_of(game))


def test_on_large_boards_the_plan_s_own_beginning_is_among_the_best() -> None:
    plan = plan_against_blue()
    found, move = alternatives(plan), plan.next_move()
    assert move is not None
    own = next(each for each in found if (each.start, each.to) == (move.start, move.to))
    assert own.value == pytest.approx(found[0].value, abs=0.02)
    assert found[-1].value < found[0].value
    values = [each.value for each in found]
    assert values == sorted(values, reverse=True)


def test_plans_by_battles_have_alternatives_too() -> None:
    plan = best_plan(BLUE, TakeAll("South America"), play="battles")
    found = alternatives(plan)
    assert {each.start for each in found} >= {"Brazil", "Egypt"}
    assert found[0].value == pytest.approx(plan.value, abs=0.01)


def test_a_worth_counts_what_is_held() -> None:
    plan = best_plan(BLUE, Worth(), time_limit=0)
    assert alternatives(plan, late=lambda: True)[0].value > 10
