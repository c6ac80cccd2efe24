"""Alternatives: each first attack has the value of the best play after it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from iacta import Turn
from iacta.board import Position
from iacta.game import Attack
from iacta.native.deadline import Deadline
from iacta.plan import Goal, Plan, TakeAll, TakeAny, Worth, best_plan, eliminate
from iacta.plan.alternatives import alternatives, list_first_attacks
from iacta.plan.policy import best_policy
from iacta.plan.problem import pose_problem
from iacta.rules.rules import CLASSIC
from tests.plan.boards import (
    BLUE,
    GOALS,
    find_move,
    make_scattered_board,
    parse_position,
    positions,
    small_game,
)
from tests.plan.twin import Action, Play


def can_only_cost(twin: Play, action: Action) -> bool:
    """Return whether the defender can ensure that no result raises the value."""
    at = twin.start, action
    most = float(twin.value()) + 1e-9
    return all(
        any(
            all(twin.value(after) <= most for end in reply for after in twin.after(*at, end))
            for reply in replies
        )
        for _, replies in twin.throws(*at)
    )


def check_beginnings(plan: Plan, twin: Play) -> None:
    """Compare all first attacks of a plan with the twin."""
    found = alternatives(plan)
    for each in found:
        pair = twin.place[each.start], twin.place[each.to]
        worths = {
            action.dice: twin.find_action_value(twin.start, action)
            for action in twin.actions(twin.start)
            if (action.start, action.to) == pair
        }
        assert each.value == pytest.approx(float(worths[each.dice]), abs=1e-9)
        assert each.value == pytest.approx(float(max(worths.values())), abs=1e-9)
    problem = plan.problem
    listed, targets = {(each.start, each.to) for each in found}, {*problem.goal.names}
    for action in twin.actions(twin.start):
        border = twin.names[action.start], twin.names[action.to]
        if not problem.field >> problem.place(border[1]) & 1:
            assert border not in listed
        elif border[1] in targets or not problem.goal.is_chance:
            assert border in listed
        elif border not in listed:
            assert can_only_cost(twin, action)
    if plan.steps:
        assert found[0].value == pytest.approx(plan.value, abs=1e-9)


@given(positions(3), GOALS)
@settings(max_examples=20, deadline=None)
def test_on_small_boards_first_attacks_agree_with_the_twin(position: Position, goal: Goal) -> None:
    plan = best_plan(position, goal, margin=0.0)
    check_beginnings(plan, Play(position, plan.goal, CLASSIC))


def test_the_best_number_of_dice_is_listed_even_if_it_can_only_cost_armies() -> None:
    position = parse_position({"z": 5}, {"t0": 1, "t1": 2, "t2": 3}, "z: t1 t2; t2: t0")
    plan = best_plan(position, TakeAny("t0,t1"))
    assert [(each.to, each.dice) for each in alternatives(plan)] == [("t1", 3), ("t2", 1)]
    check_beginnings(plan, Play(position, plan.goal, CLASSIC))


# In these games, the best advance after the first roll is neither the smallest nor the largest.
@pytest.mark.parametrize("seed", [14, 15, 21])
def test_first_attacks_count_the_best_advance(seed: int) -> None:
    game = small_game(seed)
    plan = game.plan(margin=0.0)
    check_beginnings(plan, Play(game.position, game.goal, game.rules, **game.options))


def test_on_large_boards_the_plan_s_first_attack_is_among_the_best() -> None:
    plan = best_plan(BLUE, eliminate(BLUE, "blue"), budget=0.05)
    found, move = alternatives(plan), find_move(plan)
    assert move is not None
    own = next(each for each in found if (each.start, each.to) == (move.start, move.to))
    assert own.value == pytest.approx(found[0].value, abs=0.02)
    assert found[-1].value < found[0].value
    first, *others = (each.value for each in found)
    assert others == sorted(others, reverse=True)
    assert first >= max(others) - plan.margin - 1e-12


def test_plans_by_battles_have_alternatives() -> None:
    plan = best_plan(Turn(BLUE, whole_battles=True), TakeAll("South America"), budget=0.05)
    found = alternatives(plan)
    assert {(each.start, each.to) for each in found} >= {
        ("Brazil", "Argentina"),
        ("Brazil", "Venezuela"),
    }
    assert found[0].value == pytest.approx(plan.value, abs=0.01)


def test_a_worth_counts_territories_that_are_held() -> None:
    plan = best_plan(BLUE, Worth(), budget=0.01)
    assert alternatives(plan, Deadline(0.0))[0].value > 10


def test_without_time_only_the_attack_of_the_plan_is_listed() -> None:
    plan = best_plan(make_scattered_board(), TakeAll("South America"), budget=0.01)
    (only,) = list_first_attacks(plan, Deadline(0.0))
    first = list_first_attacks(plan)[0]
    assert only[:3] == first[:3]


def test_attacks_without_any_gain_are_not_listed() -> None:
    code = (
        "1;classic;red;Venezuela:red:9,Brazil:blue:4,Peru:blue:2,Argentina:blue:1,"
        "North%20Africa:blue:7,Southern%20Europe:red:2,Western%20Europe:blue:1"
    )
    turn, goal = Turn.from_code(code), TakeAll("South America")
    plan = best_plan(turn.position, goal, margin=0.0)
    assert [each.to for each in alternatives(plan)] == ["Brazil", "Peru"]
    hidden = [each for each in list_first_attacks(plan) if each.is_detour]
    assert {each.to for each in hidden} == {"Western Europe", "North Africa"}
    for way in hidden:
        attack = Attack(way.start, way.to, way.dice)
        results = (turn.after(attack, each) for each in turn.results(attack))
        ends = (each for each in results if each.phase == "attack")  # results without a conquest
        assert (
            max(best_plan(each.position, goal, margin=0.0).comparable_value for each in ends)
            < plan.comparable_value + 1e-9
        )


def test_an_attack_outside_of_the_focus_of_a_plan_has_a_cost() -> None:
    code = (
        "1;classic;red;North%20Africa:red:8,Egypt:blue:3,Western%20Europe:blue:5,Congo:red:1,"
        "East%20Africa:red:1,South%20Africa:red:1,Madagascar:red:1,Southern%20Europe:blue:1"
    )
    turn = Turn.from_code(code)
    problem = pose_problem(turn, TakeAll("Africa"))
    narrow = problem.narrow()
    assert narrow is not None
    policy = best_policy(narrow, Deadline())
    assert policy is not None
    plan = replace(best_plan(turn.position, TakeAll("Africa")), policy=policy)
    ways = {(each.to, each.dice): each for each in list_first_attacks(plan)}
    assert not ways["Egypt", 3].is_detour
    assert ways["Western Europe", 3].is_detour
    assert ways["Western Europe", 3].value < ways["Egypt", 3].value - 0.001
