"""Luck with a plan: it adds up to the change of the chance, and its mean is 0."""

import itertools
import math

import pytest

from iacta.board import Board, Holding, Position
from iacta.game import Attack, Losses, Turn
from iacta.inputs.errors import IactaError
from iacta.plan import Plan, TakeAll, TakeAny, Worth, best_plan, measure_plan_luck
from iacta.plan.policy import choose_policy
from tests.plan.boards import plan_policy, small_game

RED, BLUE = Holding("red", 8), Holding("blue", 2)
EDGES = (*itertools.permutations("ABC", 2), ("C", "D"), ("D", "C"))
BOARD = Board("fork", ("A", "B", "C", "D"), EDGES)
START = Position(BOARD, "red", (RED, BLUE, BLUE, Holding("blue", 1)))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Return a plan to take all of a small board."""
    return best_plan(Turn(START, whole_battles=True), TakeAll("B,C,D"))


def small(play: str) -> Plan:
    """Return a plan with few possible games."""
    armies = 8 if play == "battles" else 6
    mine, others = Holding("red", armies), [Holding("blue", 2 if armies == 8 else 1)] * 2
    position = Position(BOARD, "red", (mine, *others, Holding("blue", 1)))
    return best_plan(
        Turn(position, whole_battles=play == "battles"), TakeAll("B,C,D" if armies == 8 else "B,D")
    )


@pytest.mark.parametrize("how", ["battles", "rolls"])
def test_luck_adds_up_and_is_0_on_average(how: str) -> None:
    plan = small(how)
    turns: list[tuple[tuple[tuple[int, int], ...], Turn, float]] = [((), plan.turn, 1.0)]
    mean, variance, ends = 0.0, 0.0, 0
    while turns:
        path, turn, chance = turns.pop()
        attack = plan.policy(turn)
        if not isinstance(attack, Attack):
            battles = measure_plan_luck(plan, path)
            total = sum(each.luck for each in battles)
            assert battles[0].before == pytest.approx(plan.value, abs=1e-9)
            assert total == pytest.approx(battles[-1].after - plan.comparable_value, abs=1e-9)
            assert battles[-1].after in (0.0, 1.0)
            mean += chance * total
            variance += chance * sum(each.spread**2 for each in battles)
            ends += 1
            continue
        mine, theirs = turn.armies_on(attack.start), turn.armies_on(attack.to)
        for losses, p in turn.results(attack).items():
            assert isinstance(losses, Losses)
            end = mine - losses.attackers, theirs - losses.defenders
            after = turn.after(attack, losses)
            if after.phase == "advance":
                after = after.after(plan.policy(after))
            turns.append(((*path, end), after, chance * p))
    assert ends > 10
    assert mean == pytest.approx(0.0, abs=1e-9)
    # The total variance of luck equals the variance of success.
    assert variance == pytest.approx(plan.comparable_value * (1 - plan.comparable_value), abs=1e-9)


def test_luck_begins_with_the_value_of_a_plan_where_the_defender_sees_the_dice() -> None:
    seen = 0
    for game in map(small_game, range(200)):
        if not game.replies or not game.goal.is_chance or not game.problem().field:
            continue
        plan = plan_policy(choose_policy(game.problem(), states=0))
        decision, start = plan.policy.decide(plan.problem.start), plan.problem.start
        if not decision.outcomes:
            continue
        first = decision.outcomes[0]
        mine, theirs = start.armies[decision.start], start.armies[decision.to]
        end = mine - first.attackers, theirs - first.defenders
        (battle,) = measure_plan_luck(plan, [end])
        assert battle.before == pytest.approx(plan.comparable_value, abs=1e-9)
        seen += 1
    assert seen > 10


def test_a_plan_for_any_target_ends_with_the_first_conquest() -> None:
    plan = best_plan(Turn(START, whole_battles=True), TakeAny("B,C"))
    (battle,) = measure_plan_luck(plan, [(8, 0)])
    assert battle.before == pytest.approx(plan.value)
    assert battle.after == 1.0
    assert math.isclose(battle.luck, 1 - plan.comparable_value)
    with pytest.raises(IactaError, match="ends must be at most 1, because the plan is over then"):
        measure_plan_luck(plan, [(8, 0), (7, 0)])


@pytest.mark.parametrize("ends", [[(9, 0)], [(1, 3)], [(1,)], ["x"], 5, [(1, 0)], [(3, -1)]])
def test_impossible_ends_are_refused(plan: Plan, ends: object) -> None:
    with pytest.raises(IactaError):
        measure_plan_luck(plan, ends)  # type: ignore[arg-type] # the claim


def test_worths_and_other_values_are_refused() -> None:
    with pytest.raises(IactaError, match="goal must be TakeAll, TakeAny or OwnAny"):
        measure_plan_luck(best_plan(Turn(START, whole_battles=True), Worth()), [])
    with pytest.raises(IactaError, match="plan must be a Plan, got 5"):
        measure_plan_luck(5, [])  # type: ignore[arg-type] # the claim
