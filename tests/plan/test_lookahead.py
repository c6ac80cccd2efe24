"""Tests for plans of real play by lookahead on shares, where states are too many to search all."""

import random
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from benchmarks.positions import hard_positions
from iacta import Rules
from iacta.board import Holding
from iacta.plan import TakeAll, Worth, best_plan
from iacta.plan.exact_turn import solve_turn
from iacta.plan.games import Drawn, RollMade, Thrown, paid_in
from iacta.plan.goals import Rewards
from iacta.plan.one_stack import StackChances
from iacta.plan.problem import Problem, bits, mask_of, read_problem
from iacta.plan.roll_by_roll import Lookahead
from iacta.plan.stack_rows import row_of
from iacta.plan.turn import Turn, TurnState
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from iacta.rules.rules import CLASSIC
from tests.plan.boards import BLUE, CLASSIC_BOARD, board_of, plan_against_blue, position_on

ALL_RULES = [
    CLASSIC,
    Rules(least_advance=False),
    Rules(ties="attacker"),
    Rules(mode=BalancedBlitz()),
    Rules(mode=DefenderSeesFirst()),
]


def small_turn(seed: int, rules: Rules = CLASSIC) -> Turn:
    """Return a turn on a random board of two stacks and three to five targets."""
    dice = random.Random(seed)  # noqa: S311 # no secret depends on it
    names = ["s", "z", *(f"t{k}" for k in range(dice.randint(3, 5)))]
    pairs = {("s", "t0"), ("z", names[-1])}
    pairs |= {(names[dice.randrange(2, k)], names[k]) for k in range(3, len(names))}
    for _ in range(2):
        first, second = sorted(dice.sample(names[2:], 2))
        pairs.add((first, second))
    mine = {"s": dice.randint(3, 8), "z": dice.randint(2, 6)}
    theirs = {name: dice.randint(1, 3) for name in names[2:]}
    position = position_on(board_of("small", pairs, names), mine, theirs)
    problem = read_problem(position, rules, {}, ())
    goal = mask_of(names.index(name) for name in names[2:])
    return Turn(problem, goal, Rewards(all_of=goal))


@pytest.mark.parametrize("seed", range(6))
def test_compiled_rows_are_those_of_one_stack(seed: int) -> None:
    turn = small_turn(seed)
    policy, problem = Lookahead(turn), turn.problem
    chances = StackChances(problem, problem.most)
    armies, _ = policy.start
    for v, _ in problem.stacks():
        for targets in problem.borders.connected_subsets(v, turn.field):
            row = policy.rows.pool[
                row_of(policy.rows, armies, policy.numbers[v], -1, _local(policy, targets), 0)
            ]
            np.testing.assert_allclose(row, chances.chance(v, targets)[: len(row)], atol=1e-12)


def _local(policy: Lookahead, mask: int) -> int:
    return mask_of(policy.numbers[t] for t in bits(mask))


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("seed", range(2))
def test_lookahead_is_no_worse_than_its_share_and_no_better_than_the_best_play(
    seed: int, rules: Rules
) -> None:
    turn = small_turn(seed, rules)
    best = solve_turn(turn)
    assert best is not None
    policy = Lookahead(turn)
    games = [*islice(policy.games(Drawn(1)), 400)]
    gains = np.array([game.gain for game in games])
    error = float(gains.std()) / 20
    value = policy.value + float(gains.mean())
    assert value >= policy.value - 1e-12
    if rules.mode.dice_chosen_first:  # else the defender's replies are the best he can give there
        assert policy.value <= best.value + 1e-12
        assert value <= best.value + 4 * error + 1e-9


def test_lookahead_comes_near_to_the_best_play() -> None:
    short = []
    for seed in range(8):
        turn = small_turn(100 + seed)
        best = solve_turn(turn)
        assert best is not None
        policy = Lookahead(turn)
        gains = [game.gain for game in islice(policy.games(Drawn(1)), 200)]
        short.append(best.value - policy.value - float(np.mean(gains)))
    assert np.mean(short) < 0.003
    assert max(short) < 0.03


@pytest.mark.parametrize("seed", range(2))
def test_games_with_real_dice_are_won_as_often_as_is_told(seed: int) -> None:
    turn = small_turn(200 + seed)
    policy = Lookahead(turn)
    gains = np.array([game.gain for game in islice(policy.games(Drawn(2)), 500)])
    told, error = policy.value + float(gains.mean()), float(gains.std()) / 500**0.5
    won = [turn.is_over(game.last) for game in islice(policy.games(Thrown(turn.problem, 3)), 3000)]
    spread = (told * (1 - told) / 3000) ** 0.5
    assert abs(np.mean(won) - told) <= 4.5 * (spread + error) + 1e-9


def paying_turn(kind: str, seed: int, rules: Rules = CLASSIC) -> Turn:
    """Return a small turn whose goal pays otherwise than for all of a set."""
    turn, dice = small_turn(seed, rules), random.Random(seed)  # noqa: S311 # as above
    targets = [*bits(turn.field)]
    dice.shuffle(targets)
    cut = dice.randint(1, len(targets) - 1)
    some, size = mask_of(targets[:cut]), len(turn.problem.armies)
    rewards = {
        "any": Rewards(any_of=mask_of(targets[:2])),
        "order": Rewards(territories=(0.0,) * size, continents=((some, 1.0), (turn.field, 0.5))),
        "worth": Rewards(
            territories=tuple(float(dice.randint(0, 2)) for _ in range(size)),
            continents=((some, 2.0),),
            army=dice.choice((0.0, 0.5)),
        ),
    }
    return Turn(turn.problem, turn.field, rewards[kind])


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("kind", ["any", "order", "worth"])
def test_other_goals_come_near_to_the_best_play_too(kind: str, rules: Rules) -> None:
    short = []
    for seed in range(3):
        turn = paying_turn(kind, seed, rules)
        best = solve_turn(turn)
        assert best is not None
        policy = Lookahead(turn)
        gains = np.array([game.gain for game in islice(policy.games(Drawn(1)), 200)])
        error, value = float(gains.std()) / 200**0.5, policy.value + float(gains.mean())
        short.append((best.value - value) / max(best.value, 1.0))
        if rules.mode.dice_chosen_first:  # else the replies are not the best that could be given
            assert value <= best.value + 4 * error + 1e-9
            assert kind == "order" or policy.value <= best.value + 1e-12
    assert np.mean(short) < 0.02
    assert max(short) < 0.1


@pytest.mark.parametrize("kind", ["any", "order", "worth"])
def test_games_with_real_dice_pay_as_much_as_is_told(kind: str) -> None:
    for seed in range(2):
        turn = paying_turn(kind, 200 + seed)
        policy = Lookahead(turn)
        gains = np.array([game.gain for game in islice(policy.games(Drawn(2)), 500)])
        told, error = policy.value + float(gains.mean()), float(gains.std()) / 500**0.5
        thrown = islice(policy.games(Thrown(turn.problem, 3)), 3000)
        paid = np.array([paid_in(game, turn) for game in thrown])
        spread = (float(paid.std()) + 0.01) / 3000**0.5
        assert abs(paid.mean() - told) <= 4.5 * (spread + error)


def test_a_move_follows_in_any_state_that_play_comes_to() -> None:
    turn = small_turn(7)
    policy = Lookahead(turn)
    for game in islice(policy.games(Drawn(5)), 20):
        state = turn.start()
        for made in game.rolls:
            assert policy.covers(state)
            best = policy.best_roll(state)
            assert best is not None
            assert best.roll in [*turn.rolls(state)]
            result = next(
                each
                for each in policy.results(state, best.roll)
                if turn.after(state, best.roll, each).armies
            )
            after = turn.after(state, best.roll, result)
            if not after.armies[best.roll.to]:
                assert best.advance[turn.spare(after, best.roll.start)] >= 1
            state = _replayed(turn, state, made)


def _replayed(turn: Turn, state: TurnState, made: RollMade) -> TurnState:
    roll, lost, killed, moved = made
    armies = list(state.armies)
    armies[roll.start] -= lost + moved
    armies[roll.to] -= killed
    owned = state.owned
    if not armies[roll.to]:
        armies[roll.to], owned = moved, owned | 1 << roll.to
    return TurnState(tuple(armies), owned)


def test_the_middle_of_a_battle_and_other_armies_have_a_next_move() -> None:
    plan = plan_against_blue()
    first = plan.next_move()
    assert first is not None
    for name, armies in ((first.to, 1), ("Brazil", 19), ("Brazil", 45)):
        place = BLUE.board.territories.index(name)
        holdings = list(BLUE.holdings)
        holdings[place] = Holding(holdings[place].owner, armies)
        there = replace(BLUE, holdings=tuple(holdings))
        move = plan.next_move(there)
        assert move is not None
        assert move.to in there.board.neighbours(move.start)
        assert there.of(move.start).owner == "red" != there.of(move.to).owner
        assert 1 <= move.dice <= 3


def test_hard_positions_have_a_plan_before_anything_is_searched() -> None:
    for each in hard_positions():
        plan = best_plan(each.position, each.goal, time_limit=0)
        assert 0.0 < plan.win_probability <= plan.upper_bound


def test_play_by_rolls_is_no_worse_than_by_battles() -> None:
    plan = plan_against_blue()
    simple = best_plan(BLUE, plan.goal, play="battles")
    assert (simple.play, simple.interval) == ("battles", None)
    assert simple.win_probability <= simple.upper_bound
    assert (plan.play, plan.has_tried_rolls) == ("rolls", True)
    assert plan.interval is not None
    assert plan.battles_value is not None
    low, high = plan.interval
    assert low <= plan.win_probability <= high
    assert simple.win_probability - 0.01 <= plan.win_probability <= plan.upper_bound
    assert plan.battles_value <= plan.win_probability


def test_a_goal_that_cannot_be_reached_has_no_chance_and_is_proven() -> None:
    board = board_of("two", [("s", "a")], ["s", "a", "b"])
    plan = best_plan(position_on(board, {"s": 9}, {"a": 1, "b": 1}), TakeAll("a,b"))
    assert (plan.win_probability, plan.upper_bound, plan.proven) == (0.0, 0.0, True)


def test_a_stack_of_thousands_is_planned() -> None:
    position = position_on(CLASSIC_BOARD, {"Siam": 3000}, {"Indonesia": 4})
    problem: Problem = read_problem(position, CLASSIC, {}, ())
    assert problem.most == 3000
    plan = best_plan(position, TakeAll("Australia"))
    assert plan.win_probability > 0.999


def test_a_plan_says_that_play_by_rolls_was_not_looked_at() -> None:
    names = [f"t{k}" for k in range(71)]
    board = board_of("ladder", [*pairwise(names), *zip(names, names[2:], strict=False)], names)
    large = best_plan(position_on(board, {"t0": 20}, dict.fromkeys(names[1:], 2)), Worth(1))
    assert (large.play, large.has_tried_rolls) == ("battles", False)
