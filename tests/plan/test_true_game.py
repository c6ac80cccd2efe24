"""The game as it is played: the twin on cases whose value is known, and plans against the twin."""

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from iacta import CLASSIC, Rules
from iacta.board import Position
from iacta.plan import Goal, InOrder, Plan, TakeAll, TakeAny, Worth, best_plan
from iacta.plan.exact_turn import solve_turn
from iacta.plan.goals import Rewards, held_worth, worth_rewards
from iacta.plan.problem import Problem, mask_of, read_problem
from iacta.plan.turn import Turn
from iacta.rules.variants import find_rules
from tests.plan.boards import (
    BLOCKED,
    CLASSIC_BOARD,
    FREE,
    THREE_STACKS,
    TWO_STACKS,
    WALLS,
    SmallGame,
    position_of,
    position_on,
    small_game,
)
from tests.plan.twin import Action, Play, State


class AllDice(Play):
    """A game in which each roll is made with as many dice as there can be."""

    def actions(self, state: State) -> Iterator[Action]:
        """Yield the attacks with the most dice."""
        every = list(super().actions(state))
        most = {(start, to): dice for start, to, dice in every}
        return (each for each in every if each.dice == most[each.start, each.to])


def test_breaking_off_and_fewer_dice_are_worth_something() -> None:
    goal = TakeAll(("c", "d"))
    assert Play(TWO_STACKS, goal, CLASSIC, battles=True).value() == pytest.approx(0.6249, abs=5e-5)
    assert AllDice(TWO_STACKS, goal, CLASSIC).value() == pytest.approx(0.7849, abs=5e-5)
    assert Play(TWO_STACKS, goal, CLASSIC).value() == pytest.approx(0.8014, abs=5e-5)


def test_fewer_dice_make_two_single_defenders_possible() -> None:
    position = position_of({"A": 4}, {"c": 1, "d": 1}, "A: c d")
    play = Play(position, TakeAll(("c", "d")), CLASSIC, number=Fraction)
    assert play.value() == Fraction(12925, 31104)


def test_three_dice_may_keep_four_of_six_armies() -> None:
    position = position_of({"A": 6}, {"c": 1}, "A: c")
    play = Play(position, TakeAll(("c",)), FREE, keep={"A": 4}, number=Fraction)
    assert play.value() == 1 - Fraction(441, 1296) ** 2


def test_a_stack_that_conquers_may_block_another() -> None:
    play = Play(BLOCKED, TakeAll(("c", "x", "e")), CLASSIC, battles=True)
    assert play.value() == pytest.approx(0.3746, abs=5e-5)


@pytest.mark.parametrize(
    ("position", "rules", "chance"),
    [(WALLS, find_rules("capital+wall"), 0.2365252), (THREE_STACKS, FREE, 0.2870483)],
    ids=["walls", "three stacks"],
)
def test_what_was_once_proven_wrongly(position: Position, rules: Rules, chance: float) -> None:
    goal = TakeAll(position.owned_by("blue"))
    plan = best_plan(position, goal, rules, play="battles")
    assert plan.value == pytest.approx(chance, abs=5e-8)
    assert plan.upper_bound > plan.value + 0.001
    assert not plan.proven


@cache
def best_value(seed: int, *, battles: bool = False) -> float:
    """Return what a small game is worth at best, as the twin finds."""
    return float(twin_of(small_game(seed), battles=battles).value())


def twin_of(game: SmallGame, *, battles: bool = False) -> Play:
    """Return the twin of a game."""
    return Play(game.position, game.goal, game.rules, **game.options, battles=battles)


def problem_of(game: SmallGame) -> Problem:
    """Return the problem of a game."""
    return read_problem(game.position, game.rules, game.keep, game.may_not_move, game.rules_of)


def rewards_of(problem: Problem, goal: Goal) -> Rewards:
    """Return what a goal pays."""
    if isinstance(goal, Worth | InOrder):
        return worth_rewards(problem, goal, problem.enemy)
    goal_set = mask_of(problem.board.territories.index(name) for name in goal.territories)
    if isinstance(goal, TakeAny):
        return Rewards(any_of=goal_set)
    return Rewards(all_of=goal_set & problem.enemy)


@pytest.mark.parametrize("seed", range(60))
def test_the_exact_search_is_worth_what_the_twin_is(seed: int) -> None:
    game = small_game(seed)
    problem = problem_of(game)
    turn = Turn(problem, problem.enemy, rewards_of(problem, game.goal))
    exact = solve_turn(turn)
    assert exact is not None
    value = exact.value + held_worth(problem, game.goal)
    assert value == pytest.approx(best_value(seed), abs=1e-10)


# A position holds no territory of a player without armies, so that its garrison is at least 1.
SEEDS = tuple(seed for seed in range(48) if small_game(seed).rules.garrison)


def plan_of(game: SmallGame, **options: Any) -> Plan:
    """Return a plan for a game."""
    return best_plan(game.position, game.goal, game.rules, **game.options, **options)


def replies(game: SmallGame) -> bool:
    """Return whether a defender chooses his dice after the attack is thrown."""
    return not all(each.mode.dice_chosen_first for each in (game.rules, *game.rules_of.values()))


# In each of these a part of the goal is out of reach.
@pytest.mark.parametrize("seed", [4, 7, 50, 59, 167, 182])
def test_a_goal_of_which_a_part_is_out_of_reach_has_no_chance(seed: int) -> None:
    game = small_game(seed, most_armies=8)
    plan = plan_of(game)
    assert isinstance(game.goal, TakeAll)
    assert (plan.value, plan.upper_bound, plan.proven) == (0.0, 0.0, True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_of_few_states_is_the_best_and_is_followed_move_by_move(seed: int) -> None:
    game, best = small_game(seed), best_value(seed)
    plan = plan_of(game)
    assert plan.value == pytest.approx(best, abs=1e-9)
    assert plan.upper_bound == pytest.approx(best, abs=1e-9)
    assert (plan.proven, plan.interval) == (True, None)
    assert twin_of(game).followed(plan.next_move) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_battles_are_worth_no_more_than_rolls(seed: int) -> None:
    game, best = small_game(seed), best_value(seed)
    plan = plan_of(game, play="battles")
    if not replies(game):  # to a defender who replies, battles are worth what their kernel says
        assert plan.value == pytest.approx(best_value(seed, battles=True), abs=1e-9)
    assert plan.value <= best + 1e-9 <= plan.upper_bound + 2e-9
    assert not plan.proven or plan.value == pytest.approx(best, abs=1e-8)


def test_more_defenders_than_any_stack_has_armies_count() -> None:
    mine = dict.fromkeys(("Middle East", "Afghanistan", "Ural", "Mongolia"), 7)
    goal = TakeAll(("India", "China", "Siam", "Indonesia"))
    few, many = (
        best_plan(position_on(CLASSIC_BOARD, mine, {"India": defenders}), goal, time_limit=0)
        for defenders in (7, 14)
    )
    assert many.value < few.value - 0.1


WITHOUT_COMPILER = """
import sys
sys.modules["numba"] = None
from iacta.plan import TakeAll, best_plan
from tests.plan.boards import CLASSIC_BOARD, position_on
mine = {"Middle East": 20, "Alaska": 15, "Brazil": 12}
plan = best_plan(position_on(CLASSIC_BOARD, mine, {}), TakeAll("Asia"), time_limit=0)
assert 0.0 < plan.value <= plan.upper_bound
assert plan.next_move() is not None
"""


def test_plans_are_made_without_the_compiler_too() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT_COMPILER], check=True)  # noqa: S603
