"""Lookahead on an assignment: it plays by the rules, near the best, and is paid what it says."""

from itertools import pairwise
from math import sqrt
from statistics import fmean

import numpy as np
import pytest

from benchmarks.positions import hard_positions
from iacta import evaluate
from iacta.estimate import half_interval
from iacta.plan import TakeAll, best_plan
from iacta.plan.core import Core, Style
from iacta.plan.deadline import Deadline
from iacta.plan.planner import Planner
from iacta.plan.policy import Policy, policy_for
from iacta.plan.problem import read_problem
from tests.plan.boards import (
    BLITZ,
    BLUE,
    CLASSIC_BOARD,
    ROLLED,
    SmallGame,
    planned,
    position_on,
    small_game,
)
from tests.plan.test_exact import twin_of

CAREFUL = Style(depth=2)
NEAR = position_on(CLASSIC_BOARD, {"Siam": 9, "China": 7}, {"India": 2})
AROUND = ("India", "Indonesia", "New Guinea", "Eastern Australia", "Western Australia", "Mongolia")
SEEDS = [seed for seed in range(72) if small_game(seed).problem().field]


USUAL = Style()


def looking(game: SmallGame, play: str = "rolls", style: Style = USUAL) -> Policy:
    """Return lookahead for a small game that could be solved."""
    return policy_for(game.problem(play), style, states=0)


def core_of(policy: Policy) -> Core:
    """Return the search of a policy."""
    assert isinstance(policy.search, Core)
    return policy.search


def best_value(game: SmallGame, play: str = "rolls") -> float:
    """Return what the best play gains."""
    found = Core(game.problem(play)).solve(Deadline())
    assert found is not None
    return found


# A position holds no territory of a player without armies, so that its garrison is at least 1.
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if small_game(seed).rules.garrison])
def test_its_exact_value_is_what_its_moves_are_paid(seed: int) -> None:
    game = small_game(seed)
    style = CAREFUL if seed % 2 else USUAL
    plan = planned(looking(game, style=style))
    paid = float(twin_of(game).followed(plan.next_move))
    assert plan.value == pytest.approx(paid, abs=1e-9)
    assert plan.value - plan.problem.held <= best_value(game) + 1e-9


@pytest.mark.parametrize("play", ["rolls", "battles"])
def test_it_comes_near_to_the_best_play(play: str) -> None:
    short = []
    for seed in SEEDS:
        game = small_game(seed)
        report = looking(game, play).search.flow(Deadline())
        assert report is not None
        best = best_value(game, play)
        assert report.value <= best + 1e-9
        short.append((best - report.value) / max(best, 0.1))
    assert fmean(short) < 0.03
    assert sorted(short)[len(short) * 3 // 4] < 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_of_games_hold_the_exact_value(seed: int) -> None:
    policy = looking(small_game(seed))
    exact, games = policy.search.flow(Deadline()), core_of(policy).play(Deadline(), 400)
    assert exact is not None
    # 95% lie within it; none of these lies beyond one and a half of it, as one in 300 would.
    assert abs(games.gains.mean() - exact.value) <= 1.5 * half_interval(games.gains) + 1e-9


def test_games_of_the_same_number_have_the_same_dice() -> None:
    policy = looking(small_game(11))
    first = core_of(policy).play(Deadline(), 40).gains
    parts = [core_of(policy).play(Deadline(), 10, start).gains for start in (0, 10, 20, 30)]
    assert np.array_equal(first, np.concatenate(parts))
    assert not np.array_equal(first, core_of(policy).play(Deadline(), 40, 1000).gains)


def test_an_interval_is_what_games_of_the_turn_with_other_dice_give() -> None:
    policy = policy_for(read_problem(NEAR, TakeAll(AROUND)), states=0)
    turn, goal = policy.problem.turn, policy.problem.goal
    games = core_of(policy).play(Deadline(), 400)
    mean, half = games.gains.mean(), half_interval(games.gains)
    played = evaluate(policy, turn, goal, games=400, most_states=0, seed=5)
    error = sqrt(played.value * (1 - played.value) / 400)
    assert abs(played.value - mean) <= 3 * error + half


@pytest.mark.parametrize("rules", [*ROLLED, BLITZ], ids=repr)
def test_every_rule_can_be_planned_where_states_are_too_many(rules: object) -> None:
    plan = best_plan(BLUE, TakeAll("South America"), rules, budget=0.02)  # type: ignore[arg-type]
    assert 0.0 < plan.value <= plan.upper_bound + 1e-9
    assert plan.next_move() is not None


def test_hard_positions_have_a_plan_before_anything_is_searched() -> None:
    for each in hard_positions():
        plan = best_plan(each.position, each.goal, time_limit=0)
        assert 0.0 < plan.win_probability <= plan.upper_bound
        assert plan.next_move() is not None


def test_the_best_so_far_is_always_there_and_never_gets_worse() -> None:
    for each in [*hard_positions()][:4]:
        problem = read_problem(each.position, each.goal)
        seen = [*Planner(problem, Deadline(), budget=0.03).run()]
        for before, after in pairwise(seen):
            assert after.bound <= before.bound
            assert after.value <= after.bound
            # An estimate may be corrected, within its interval.
            low = before.value if before.interval is None else before.interval[0]
            assert after.value >= low
