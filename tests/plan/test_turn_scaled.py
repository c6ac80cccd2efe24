"""Stacks of many thousands are planned in steps, and the answer says so."""

from itertools import islice

import numpy as np
import pytest

from iacta import Battle, Campaign
from iacta.answers.plan import PlanQuestion
from iacta.answers.plan_words import other_play
from iacta.board import Position
from iacta.errors import IllegalError
from iacta.plan import TakeAll, best_plan, simulate_plan
from iacta.plan.ends import drawn_ends
from iacta.plan.scaled import ScaledKernel
from iacta.plan.way import rearguards, usual_way
from iacta.rules.rules import CLASSIC
from tests.plan.boards import board_of, chain, position_on


def all_of(position: Position) -> TakeAll:
    """Return the goal to take all that blue has."""
    return TakeAll(position.owned_by("blue"))


@pytest.mark.parametrize(
    ("armies", "defenders", "step_most"),
    [
        (5000, [3000], 6),
        (5000, [5800], 6),
        (2600, [3000], 3),
        (14000, [5000, 5000, 6000], 11),
        (13600, [5000, 5000, 6000], 11),
        (10000, [1, 5000, 1, 1, 3000, 1, 3400], 9),
        (5000, [1, 5000, 30, 1000], 6),
    ],
)
def test_a_chain_has_nearly_the_chance_of_the_campaign(
    armies: int, defenders: list[int], step_most: int
) -> None:
    position = chain(armies, defenders)
    plan = best_plan(position, all_of(position))
    exact = float(Campaign(armies, defenders).win_probability())
    assert 1 < plan.step <= step_most, plan.step
    assert plan.win_probability == pytest.approx(exact, abs=0.012)
    assert plan.win_probability <= plan.upper_bound
    assert not plan.proven
    last = plan.steps[-1]
    assert last.conquer_probability == pytest.approx(plan.win_probability, abs=1e-9)


def test_what_cannot_be_taken_is_not_called_impossible() -> None:
    position = chain(100_000, [60_000] * 3)
    plan = best_plan(position, all_of(position))
    assert plan.win_probability < 1e-9
    assert plan.upper_bound == 1.0
    away = position_on(board_of("away", [("s", "a"), ("a", "s")], "sab"), {"s": 9000}, {"a": 5000})
    assert best_plan(away, TakeAll("a,b")).upper_bound == 0.0


@pytest.mark.parametrize("defenders", [8000, 11_600, 11_750])
def test_two_giant_stacks_attack_together(defenders: int) -> None:
    position = position_on(
        board_of("pair", [("A", "c"), ("B", "c")], "ABc"),
        {"A": 5000, "B": 5000},
        {"c": defenders},
    )
    plan = best_plan(position, TakeAll("c"))
    # One after the other they are as good as one stack, but for the dice of the last two armies.
    together = float(Battle(9999, defenders).win_probability())
    assert plan.win_probability == pytest.approx(together, abs=0.03)


def test_two_giant_stacks_share_what_none_could_take_alone() -> None:
    position = position_on(
        board_of("fork", [("A", "c"), ("B", "c"), ("B", "d")], "ABcd"),
        {"A": 50_000, "B": 40_000},
        {"c": 50_000, "d": 30_000},
    )
    plan = best_plan(position, TakeAll("c,d"))
    assert plan.win_probability > 0.999
    assert {(step.start, step.to) for step in plan.steps} >= {("A", "c"), ("B", "d")}


def test_armies_are_told_in_armies() -> None:
    position = chain(100_000, [20_000] * 3)
    plan = best_plan(position, all_of(position))
    first, *_, last = plan.steps
    assert first.expected_armies == pytest.approx(100_000 - 20_000 * 0.8539, rel=0.005)
    assert last.expected_armies == pytest.approx(100_000 - 60_000 * 0.8539, rel=0.005)
    assert plan.win_probability == pytest.approx(1.0)
    assert sum(each.expected_armies for each in plan.territories) == pytest.approx(
        last.expected_armies, rel=0.01
    )
    (end,) = islice(drawn_ends(position, plan.policy, np.random.default_rng(1)), 1)
    assert end.of("t3").owner == "red"
    assert end.of("t3").armies == pytest.approx(last.expected_armies, rel=0.05)
    assert [battle.step.to for battle in usual_way(plan)] == ["t1", "t2", "t3"]
    assert all(each.is_all for each in rearguards(plan))


def test_the_next_move_is_told_from_any_position() -> None:
    position = chain(50_000, [20_000, 5000])
    plan = best_plan(position, all_of(position))
    move = plan.next_move()
    assert move is not None
    assert (move.start, move.to, move.dice, move.advance) == ("start", "t1", 3, {})
    near = plan.next_move(chain(40_000, [1, 5000]))
    assert near is not None
    assert near.advance == {39_999: 39_999}
    assert near.worth is not None
    assert near.worth > 0.99
    few = plan.next_move(chain(9, [3, 1]))
    assert few is not None
    assert few.worth == pytest.approx(best_plan(chain(9, [3, 1]), TakeAll("t1,t2")).value)


def test_the_answer_says_that_the_plan_is_scaled() -> None:
    position = chain(5000, [3000])
    (told,) = other_play(PlanQuestion(position, take="t1").answer().plan, "rolls")
    assert "the plan is scaled: it counts them in steps of 6" in told
    with pytest.raises(IllegalError, match="plan must count each army to be played with dice"):
        simulate_plan(best_plan(position, TakeAll("t1")), 10)


def test_few_defenders_are_planned_army_by_army() -> None:
    plan = best_plan(chain(5000, [3, 2]), TakeAll("t1,t2"), play="battles")
    assert plan.step == 1
    assert plan.win_probability == pytest.approx(1.0)


def test_scaled_battles_have_the_means_of_true_ones() -> None:
    kernel = ScaledKernel(CLASSIC, 5, (0, 1, 200, 400), stays=1)
    won, lost = kernel.transitions(120, 3)
    assert won.sum(axis=1) + lost.sum(axis=1) == pytest.approx(np.ones(121))
    for units in (60, 70, 80, 120):
        battle = Battle(5 * units + 1, 400)
        assert won[units].sum() == pytest.approx(float(battle.win_probability()), abs=0.01)
    mean = 5 * float(won[120] @ np.arange(121)) + 1
    alive = sum(end.attackers * float(p) for end, p in Battle(601, 400).outcomes().items())
    assert mean == pytest.approx(alive - 1, abs=0.5)
