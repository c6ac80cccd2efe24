"""Bounds: no play of a small game is worth more, whatever is contracted."""

from itertools import pairwise
from random import Random

import pytest

from iacta import CLASSIC
from iacta.plan import InOrder, TakeAll, TakeAny, Worth
from iacta.plan.bound import play_bounds
from iacta.plan.contracted import Contraction, contraction_value
from iacta.plan.exact_turn import solve_turn
from iacta.plan.goals import worth_rewards
from iacta.plan.problem import Problem, bits
from iacta.plan.search import reachable, useful_field
from iacta.plan.turn import Turn
from tests.plan.boards import SmallGame, chain, small_game
from tests.plan.test_true_game import problem_of, rewards_of

SAME = 1e-10


def games(first: int) -> list[SmallGame]:
    """Return eight small games of a chance, drawn by seeds from `first` on."""
    drawn = (small_game(seed, most_targets=5) for seed in range(first, first + 40))
    return [game for game in drawn if isinstance(game.goal, TakeAll | TakeAny)][:8]


def best_chance(problem: Problem, game: SmallGame) -> float:
    """Return the greatest chance, or worth, of any play."""
    exact = solve_turn(Turn(problem, problem.enemy, rewards_of(problem, game.goal)))
    assert exact is not None
    return exact.value


def worths(first: int, count: int) -> list[SmallGame]:
    """Return small games of a worth or of goals in order, drawn by seeds from `first` on."""
    drawn = (small_game(seed, most_targets=5) for seed in range(first, first + 10 * count))
    return [game for game in drawn if isinstance(game.goal, Worth | InOrder)][:count]


def contraction(rng: Random, problem: Problem, field: int, goal: int) -> Contraction:
    """Return a contraction that is drawn at random."""
    groups: list[int] = []
    for v, _ in problem.stacks():
        if groups and rng.random() < 0.25:
            groups[-1] |= 1 << v
        else:
            groups.append(1 << v)
    items: list[int] = []
    for c in bits(goal):
        if items and rng.random() < 0.4:
            items[rng.randrange(len(items))] |= 1 << c
        else:
            items.append(1 << c)
    items += [1 << x for x in bits(field & ~goal) if rng.random() < 0.5]
    kept = tuple(places for places in groups if rng.random() < 0.8)
    caps = rng.randint(0, 4), rng.randint(0, 5)
    return Contraction(kept, tuple(items), caps, rng.choice((0, 3, 99)))


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_no_play_is_worth_more_than_a_contracted_game(first: int) -> None:
    for game in games(first):
        problem = problem_of(game)
        rewards = rewards_of(problem, game.goal)
        goal = rewards.all_of or rewards.any_of
        field = useful_field(problem, goal) if rewards.all_of else problem.enemy
        if not goal or goal & ~field or not problem.stacks():
            continue
        how = contraction(Random(first), problem, field, goal)  # noqa: S311 # draws games
        value = contraction_value(problem, field, rewards, how)
        assert value >= best_chance(problem, game) - SAME


@pytest.mark.parametrize("first", range(1000, 1400, 100))
def test_no_play_is_worth_more_than_any_bound(first: int) -> None:
    for game in games(first):
        problem = problem_of(game)
        rewards = rewards_of(problem, game.goal)
        field = useful_field(problem, rewards.all_of) if rewards.all_of else problem.enemy
        chance = best_chance(problem, game)
        bounds = list(play_bounds(problem, field, rewards))
        assert all(after < before for before, after in pairwise(bounds))
        assert bounds[-1] >= chance - SAME


@pytest.mark.parametrize("first", range(2000, 6000, 1000))
def test_no_play_is_worth_more_than_prices_say(first: int) -> None:
    for game in worths(first, 20):
        problem = problem_of(game)
        field = reachable(problem)
        assert isinstance(game.goal, Worth | InOrder)
        rewards = worth_rewards(problem, game.goal, field)
        bounds = list(play_bounds(problem, field, rewards))
        assert all(after < before for before, after in pairwise(bounds))
        assert bounds[-1] >= best_chance(problem, game) - SAME


def test_prices_are_nearly_exact_for_one_stack_before_single_defenders() -> None:
    game = SmallGame(chain(6, (1, 1, 1)), Worth({"t1": 1, "t3": 4}, army=0.25), CLASSIC)
    problem = problem_of(game)
    rewards = rewards_of(problem, game.goal)
    bound = list(play_bounds(problem, problem.enemy, rewards))[-1]
    assert bound == pytest.approx(best_chance(problem, game), rel=1e-2)


def test_a_chain_contracted_to_its_territories_is_the_game_itself() -> None:
    game = SmallGame(chain(12, (2, 3, 1)), TakeAll(("t1", "t2", "t3")), CLASSIC)
    problem = problem_of(game)
    how = Contraction((1,), (2, 4, 8), (0, 0))
    value = contraction_value(problem, problem.enemy, rewards_of(problem, game.goal), how)
    assert value == pytest.approx(best_chance(problem, game), abs=SAME)
