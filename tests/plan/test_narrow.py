"""Narrow problems: only stacks next to the targets attack."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from benchmarks.positions import play_position
from iacta.board import Position
from iacta.game import Advance, Attack, Turn
from iacta.native.deadline import Deadline
from iacta.plan import Goal, TakeAll, best_plan
from iacta.plan.planner import Planner
from iacta.plan.policy import Policy, best_policy
from iacta.plan.problem import pose_problem
from iacta.plan.search import Search
from tests.plan.boards import BLUE, GOALS, make_scattered_board, positions


@given(positions(4), GOALS)
@settings(max_examples=60, deadline=None)
def test_narrow_play_never_beats_optimal_play(position: Position, goal: Goal) -> None:
    problem = pose_problem(position, goal)
    narrow, best = problem.narrow(), best_policy(problem, Deadline())
    if narrow is None:
        return
    policy = best_policy(narrow, Deadline())
    assert best is not None
    assert policy is not None
    value = policy.decide(narrow.start).value
    assert value <= best.decide(problem.start).value + 1e-12
    report = policy.search.flow(Deadline())
    assert report is not None
    assert abs(report.value - value) < 1e-9


@given(positions(4), GOALS)
@settings(max_examples=60, deadline=None)
def test_coarse_play_has_fewer_choices(position: Position, goal: Goal) -> None:
    problem = pose_problem(position, goal)
    coarse, best = replace(problem, is_coarse=True), best_policy(problem, Deadline())
    policy = best_policy(coarse, Deadline())
    assert best is not None
    assert policy is not None
    value = policy.decide(problem.start).value
    assert value <= best.decide(problem.start).value + 1e-12
    assert not policy.is_best
    report = policy.search.flow(Deadline())
    assert report is not None
    assert abs(report.value - value) < 1e-9
    for turn, action, _ in Turn(position).play(policy, seed=1).moves:
        if isinstance(action, Attack):
            index = turn.setting.index
            dice = turn.list_attack_dice(index[action.start], index[action.to])
            assert action.dice in (1, max(dice))
        elif isinstance(action, Advance):
            armies = [each.armies for each in turn.actions() if isinstance(each, Advance)]
            assert action.armies in (min(armies), max(armies))


def test_targets_that_only_far_stacks_reach_leave_no_narrow_problem() -> None:
    targets = "Peru", "Madagascar", "Japan"
    assert pose_problem(make_scattered_board(), TakeAll(targets)).narrow() is None


@pytest.mark.parametrize(
    ("seed", "goal"),
    [
        (30000, "Africa"),
        (30014, "South America"),
        (30032, "Africa"),
        (30044, "South America"),
    ],
)
def test_lookahead_is_replaced_where_the_narrow_play_is_better(seed: int, goal: str) -> None:
    problem = pose_problem(play_position(seed), TakeAll(goal))
    narrow = problem.narrow()
    assert narrow is not None
    solution = Search(narrow).solve(Deadline())
    assert solution is not None
    planner = Planner(problem, Deadline())
    planner.work = planner.work._replace(states=20_000, games=64, values=1e3)
    *_, last = planner.run()
    assert last.value is not None
    assert planner.found is not None
    assert planner.found.value is not None
    assert planner.found.value < solution.value - 0.002
    assert last.value >= solution.value - 0.0005


def test_a_plan_is_at_least_as_good_as_the_narrow_play() -> None:
    problem = pose_problem(BLUE, TakeAll("South America"))
    narrow = problem.narrow()
    assert narrow is not None
    policy = best_policy(narrow, Deadline())
    assert policy is not None
    value = policy.decide(narrow.start).value
    *_, last = Planner(problem, Deadline(), budget=0.05).run()
    assert last.value is not None
    assert last.value >= value - 0.0005
    plan = best_plan(BLUE, TakeAll("South America"), budget=0.05, margin=0.0)
    assert plan.comparable_value == last.value
    assert plan.policy == Policy(narrow)
    assert plan.policy.decide(problem.start).value == pytest.approx(
        plan.comparable_value, abs=1e-12
    )
