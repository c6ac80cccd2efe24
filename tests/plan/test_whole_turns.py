"""Plans for whole turns on small boards, compared with all placements, attacks and last moves."""

from random import Random

import pytest

from iacta import Turn
from iacta.analysis import goals_in_reach, threats
from iacta.game import Attack, Fortify
from iacta.native.deadline import Deadline
from iacta.plan import Plan, TakeAll, judge
from iacta.plan.best import plan_within
from iacta.plan.goal_plan import plan_goal
from iacta.plan.goals import WinGame
from iacta.plan.levels import QUICK
from iacta.plan.named_goals import read_goal
from iacta.plan.problem import pose_problem
from iacta.plan.reinforcement import reinforce
from iacta.questions.plan import PlanAnswer, PlanQuestion
from tests.cases import choose_seeds
from tests.plan.whole_turn import (
    WholeTurn,
    draw_turn,
    find_threat,
    find_win_fault,
    pay_conquest,
    pay_win,
)

SEEDS = choose_seeds(range(30), 15)
LOOKAHEAD = 1e-7  # a search budget that is too small for exact play

AUSTRALIA = (
    "1;classic;red;Indonesia:red:9,New%20Guinea:green:1,Western%20Australia:blue:1,"
    "Eastern%20Australia:blue:1;attack;players=red,blue,green;"
    "win=missions:,red:Australia,blue:eliminate%20green,green:24%20territories"
)
IN_BETWEEN = (
    "1;classic;red;Brazil:red:10,Venezuela:blue:1,Central%20America:green:1;attack;"
    "players=red,blue,green;"
    "win=missions:,red:eliminate%20green,blue:24%20territories,green:eliminate%20blue"
)
CAPITALS = (
    "1;classic;red;Brazil:red:5,Venezuela:red:5,Argentina:red:2,North%20Africa:blue:3,"
    "Central%20America:green:2,Egypt:green:2;attack;"
    "win=capitals:2,red:Argentina,blue:North%20Africa,green:Central%20America"
)


def plan_win(turn: Turn) -> Plan:
    """Return the plan that answers how to win in this turn."""
    answer = PlanQuestion(position=turn, win=True).answer()
    assert isinstance(answer, PlanAnswer)
    return answer.plan


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_to_win_is_worth_as_much_as_the_best_whole_turn(seed: int) -> None:
    assert find_win_fault(draw_turn(seed)) == ""


@pytest.mark.parametrize("seed", SEEDS)
def test_lookahead_never_claims_more_than_the_best_whole_turn(seed: int) -> None:
    turn = draw_turn(seed).with_options(place=0)
    best = WholeTurn(pay_win).compute_state_value(turn)
    goal = None if best <= 0.0 else read_goal(turn, "win")
    if goal is None or goal.is_reached(turn):
        return
    plan = plan_within(pose_problem(turn, goal), Deadline(), budget=LOOKAHEAD)
    low = plan.comparable_value if plan.interval is None else plan.interval[0]
    assert low <= best + 1e-9
    assert plan.upper_bound >= best - 1e-9
    assert not plan.proven or plan.comparable_value >= best - 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_for_conquests_counts_nothing_if_a_rival_wins(seed: int) -> None:
    turn, rng = draw_turn(seed).with_options(place=0), Random(seed)  # noqa: S311 # no secrets
    others = [n for n, o in zip(turn.board.territories, turn.owners, strict=True) if o != "red"]
    names = tuple(rng.sample(others, min(len(others), 2)))
    plan = plan_within(pose_problem(turn, TakeAll(names)), Deadline())
    pay = pay_conquest(names)
    # The plan goes on if the player has already won the game by other conquests.
    most = WholeTurn(lambda end: max(pay(end), pay_win(end))).compute_state_value(turn)
    assert WholeTurn(pay).compute_state_value(turn) - 1e-9 <= plan.comparable_value <= most + 1e-9


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_the_threat_to_win_is_the_value_of_the_opponents_whole_turn(seed: int) -> None:
    turn = draw_turn(seed, most_lands=5, most_armies=5).with_options(place=0)
    found = {each.player: each for each in threats(turn).threats if each.kind == "win"}
    for player in set(turn.survivors) - {"red"}:
        best = find_threat(turn, player, pay_win)
        chance = found[player].chance if player in found else 0.0
        assert chance == pytest.approx(best, abs=1e-9), (turn.to_code(), player)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_opponent_who_has_won_takes_no_more_territories(seed: int) -> None:
    turn = draw_turn(seed, most_lands=5, most_armies=5).with_options(place=0)
    found = {(each.player, each.name): each for each in threats(turn).threats}
    for player in set(turn.survivors) - {"red"}:
        for name in turn.position.list_territories("red"):
            best = find_threat(turn, player, pay_conquest((name,)))
            chance = found[player, name].chance if (player, name) in found else 0.0
            assert chance == pytest.approx(best, abs=1e-9), (turn.to_code(), player, name)


def test_the_order_of_conquests_keeps_a_rival_from_winning() -> None:
    turn = Turn.from_code(AUSTRALIA)
    plan = plan_win(turn)
    assert plan.value == pytest.approx(0.9632, abs=5e-5)
    first = plan.policy(turn)
    assert isinstance(first, Attack)
    assert first.to == "Western Australia"
    assert plan.proven
    (win,) = (each for each in goals_in_reach(turn) if each.words == "win now")
    assert win.value == pytest.approx(plan.value)


def test_a_win_on_the_way_of_a_rival_is_impossible() -> None:
    plan = plan_win(Turn.from_code(IN_BETWEEN))
    assert (plan.value, plan.upper_bound) == (0.0, 0.0)


def test_the_roll_that_lets_a_rival_win_is_a_mistake() -> None:
    turn = Turn.from_code(AUSTRALIA)
    goal = read_goal(turn, "win")
    before = judge.value_goal(plan_goal(turn, goal, QUICK, Deadline()))
    taken = turn.apply_battle("Indonesia", "New Guinea", 9, 0, 3)
    after = judge.value_goal(plan_goal(taken, goal, QUICK, Deadline()))
    assert before.value == pytest.approx(0.9632, abs=5e-5)
    assert after.value == 0.0
    judged = judge.judge_attack(before, after, ("Indonesia", "New Guinea"), [3])
    assert judged.cost is not None
    assert judged.cost > 0.3
    assert judged.luck == pytest.approx(after.value - before.value + judged.cost)


def test_one_of_two_capitals_is_enough() -> None:
    plan = plan_win(Turn.from_code(CAPITALS))
    assert isinstance(plan.goal, WinGame)
    assert plan.value == pytest.approx(0.9231, abs=5e-5)
    assert plan.proven
    quick = plan_within(plan.problem, Deadline(), budget=LOOKAHEAD)
    assert quick.comparable_value == pytest.approx(0.9231, abs=0.02)
    assert 0.92 < quick.upper_bound <= 1.0


def test_the_last_move_that_completes_a_win_belongs_to_the_policy() -> None:
    code = "1;classic;red;Peru:red:4,Brazil:blue:1,Egypt:blue:30;attack;"
    mission = "win=missions:,red:2%20territories%20with%202%20armies,blue:40%20territories"
    turn = Turn.from_code(code + mission)
    plan = plan_win(turn)
    record = next(
        record
        for seed in range(20)
        if (record := turn.play(plan.policy, seed=seed)).end.owners.count("red") == 2
    )
    assert record.end.winner == "red"
    assert isinstance(record.moves[-1].action, Fortify)


def test_new_armies_and_the_last_move_win_together() -> None:
    turn = draw_turn(8)
    goal = read_goal(turn, "win")
    assert goal is not None
    found = reinforce(turn, goal)
    assert found.plan.comparable_value == pytest.approx(
        WholeTurn(pay_win).compute_state_value(turn)
    )
