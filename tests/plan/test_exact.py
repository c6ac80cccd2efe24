"""Exact search: the core agrees with an independent twin."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from iacta import CLASSIC, Battle, Dice, Rules, TakeAll, TakeAny, best_plan
from iacta.board import Board, Position
from iacta.game import Turn
from iacta.native.bit_sets import bits
from iacta.native.deadline import Deadline
from iacta.plan.planner import Planner
from iacta.plan.problem import Problem, pose_problem
from iacta.plan.search import Search
from iacta.rules.variants import find_rules
from tests.cases import choose_seeds
from tests.house_twin import HOUSES, TURN_HOUSES
from tests.plan.boards import (
    BLOCKED,
    EVERY_RULES,
    FREE,
    THREE_STACKS,
    TWO_STACKS,
    WALLS,
    SmallGame,
    make_position,
    parse_position,
    small_game,
)
from tests.plan.twin import Play, battle_ends, collect_statistics

# These seeds draw every rule, goal and constraint.
SEEDS = choose_seeds(range(50))


def make_twin(game: SmallGame, *, battles: bool = False) -> Play:
    """Return the twin of a game."""
    goal = game.problem().goal
    return Play(game.position, goal, game.rules, **game.options, battles=battles)


def solve_game(problem: Problem) -> Search:
    """Solve a game exactly with the core."""
    core = Search(problem)
    assert core.solve(Deadline()) is not None
    return core


@pytest.mark.parametrize("seed", SEEDS)
def test_the_core_has_the_values_of_the_rules(seed: int) -> None:
    game = small_game(seed)
    problem = game.problem()
    best = solve_game(problem).decide(problem.start).value + problem.held
    assert best == pytest.approx(float(make_twin(game).value()), abs=1e-10)
    if seed % 2 and not game.replies:  # with replies, the value of a battle is that of its kernel
        battles = Search(game.problem("battles")).solve(Deadline())
        assert battles is not None
        expected = float(make_twin(game, battles=True).value())
        assert battles.value + problem.held == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("house", TURN_HOUSES)
def test_plans_under_house_rules_have_the_values_of_the_twin(house: str) -> None:
    seen = 0
    for seed in choose_seeds(range(1000, 1100), 60):
        rules = HOUSES[house].rules
        if seed % 5 == 4:
            rules = replace(rules, least_advance=False, garrison=2)
        game = small_game(seed, rules=rules, most_armies=12 if house == "fourth" else 9)
        play = "battles" if seed % 3 == 2 else "rolls"
        problem, twin = game.problem(play), make_twin(game, battles=play == "battles")
        best, expected = solve_game(problem), float(twin.value())
        value = best.decide(problem.start).value
        assert value + problem.held == pytest.approx(expected, abs=1e-10), seed
        report = best.flow(Deadline())
        assert report is not None
        assert report.value == pytest.approx(value, abs=1e-12)
        bounds = [*Search(problem).bounds(Deadline(), 1e5)]
        assert bounds[-1] >= value - 1e-10, seed
        seen += value > 1e-9
    assert seen > 30


def test_fewer_dice_can_be_better_where_the_fourth_die_needs_two_to_one() -> None:
    position = parse_position({"A": 16}, {"b": 10}, "A: b")
    play = Play(position, TakeAll("b"), HOUSES["fourth"].rules)
    plan = best_plan(Turn(position, "fourth die"), TakeAll("b"))
    assert plan.value == pytest.approx(play.value(), abs=1e-12)
    assert plan.comparable_value > 0.01 + Battle(16, 10, "fourth die").win_probability()


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_of_optimal_play_agree_with_enumeration(seed: int) -> None:
    problem = small_game(seed).problem("battles" if seed % 4 == 1 else "rolls")
    core = solve_game(problem)
    report, twin = core.flow(Deadline()), collect_statistics(core, problem)
    assert report is not None
    assert report.value == pytest.approx(core.decide(problem.start).value, abs=1e-12)
    assert report.owned == pytest.approx(twin.owned, abs=1e-11)
    assert report.taken == pytest.approx(twin.taken, abs=1e-11)
    for t in bits(problem.field | problem.stacks):  # armies elsewhere never change
        assert report.armies[t] == pytest.approx(twin.armies[t], abs=1e-11)
    assert {each[:2] for each in report.visits} == twin.visits.keys()
    for each in report.visits:
        assert each[2:6] == pytest.approx(twin.visits[each[:2]], abs=1e-11)
        advances = {able: (chance, moved) for able, chance, moved in each.advances}
        assert advances.keys() == twin.advances[each[:2]].keys()
        for able, sums in advances.items():
            assert sums == pytest.approx(twin.advances[each[:2]][able], abs=1e-11)


@pytest.mark.parametrize("seed", SEEDS[1::4])
def test_games_corrected_for_luck_equal_the_value(seed: int) -> None:
    core = solve_game(small_game(seed).problem())
    best = core.decide(core.problem.start).value
    assert core.play(Deadline(), 20).gains == pytest.approx(np.full(20, best), abs=1e-9)


TWO_SINGLE = parse_position({"A": 4}, {"c": 1, "d": 1}, "A: c d")
ONE = parse_position({"A": 6}, {"c": 1}, "A: c")
PAIR = parse_position({"A": 6, "B": 6}, {"c": 9}, "A: c; B: c")
CASES = {
    "two single defenders": (TWO_SINGLE, CLASSIC, {}, "rolls", 12925 / 31104),
    "four of six armies stay": (ONE, FREE, {"A": 4}, "rolls", 1 - (441 / 1296) ** 2),
    "two stacks": (TWO_STACKS, CLASSIC, {}, "rolls", 0.8013776318139583),
    "two stacks, battles": (TWO_STACKS, CLASSIC, {}, "battles", 0.6249318102162903),
    "walls": (WALLS, find_rules("capital+wall"), {}, "battles", 0.2365252),
    "three stacks": (THREE_STACKS, FREE, {}, "battles", 0.2870483),
    "a stack that blocks another": (BLOCKED, CLASSIC, {}, "battles", 0.3745919),
    "more defenders than a stack": (PAIR, CLASSIC, {}, "rolls", 0.5745202392442983),
}


@pytest.mark.parametrize("case", CASES)
def test_known_values_agree(case: str) -> None:
    position, rules, keep, play, value = CASES[case]
    problem = pose_problem(
        Turn(position, rules, whole_battles=play == "battles", keep=keep),
        TakeAll(enemies(position)),
    )
    solution = Search(problem).solve(Deadline())
    assert solution is not None
    assert solution.value == pytest.approx(value, abs=5e-8)


def enemies(position: Position) -> tuple[str, ...]:
    """Return the territories that the player does not own."""
    return tuple(position.list_territories("blue"))


def test_fewer_dice_make_two_single_defenders_possible() -> None:
    play = Play(TWO_SINGLE, TakeAll(("c", "d")), CLASSIC, number=Fraction)
    assert play.value() == Fraction(12925, 31104)


@pytest.mark.parametrize("first", choose_seeds(range(300, 700, 10), 10))
def test_no_bound_is_below_an_exact_value(first: int) -> None:
    for seed in range(first, first + 10):
        rng = Random(seed)  # noqa: S311 # draws numbers, no secrets
        game = small_game(seed, most_targets=5)
        problem = game.problem(rng.choice(("rolls", "rolls", "battles")))
        best = Search(problem).solve(Deadline())
        assert best is not None
        bounds = [*Search(problem).bounds(Deadline(), 1e5)]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] >= best.value - 1e-10


@pytest.mark.parametrize("seed", choose_seeds(range(40)))
def test_no_bound_for_many_targets_is_below_an_exact_value(seed: int) -> None:
    check_bounds_of_many_targets(seed)


@pytest.mark.parametrize("house", TURN_HOUSES)
def test_no_bound_under_house_rules_is_below_an_exact_value(house: str) -> None:
    for seed in choose_seeds(range(40), 4):
        check_bounds_of_many_targets(seed, HOUSES[house].rules)


def check_bounds_of_many_targets(seed: int, house_rules: Rules | None = None) -> None:
    """Check the bounds on a board with nine targets, of several defenders under house rules."""
    # The search first treats many targets as one item, then as more and more items.
    rng = Random(seed)  # noqa: S311 # draws numbers, no secrets
    names = [f"t{k}" for k in range(11)]
    pairs = [(names[rng.randrange(max(k - 3, 0), k)], names[k]) for k in range(1, len(names))]
    board = Board.from_edges("strip", pairs)
    drawn = rng.choice(EVERY_RULES)
    rules = house_rules or drawn
    stacks = {names[0]: rng.randint(12, 20) + rules.garrison, names[5]: rules.garrison + 3}
    targets = tuple(name for name in names if name not in stacks)
    goal = (TakeAll, TakeAny)[seed % 2](targets)
    theirs = {name: rng.randint(1, 4) for name in targets} if house_rules else {}
    problem = pose_problem(Turn(make_position(board, stacks, theirs), rules), goal)
    best = Search(problem).solve(Deadline(), 1e6)
    assert best is not None
    assert min(Search(problem).bounds(Deadline(), 2e5)) >= best.value - 1e-10


def test_relaxed_games_are_solved_in_order_of_their_work() -> None:
    # The size of a relaxed game is unknown before its solution. The search must postpone games that
    # turn out to be large; otherwise they use up the budget, and the bound is 0.33 (0.18 with a
    # budget of 1e6).
    names = [f"{row}{column}" for row in "ab" for column in range(6)]
    along = [(a, b) for a, b in pairwise(names) if a[0] == b[0]]
    board = Board.from_edges("two rows", [*along, *zip(names[:6], names[6:], strict=True)])
    mine = {"a3": 6, "b4": 7, "b5": 7}
    theirs = {"a0": 3, "a1": 3, "a2": 5, "a4": 3, "a5": 2, "b0": 1, "b1": 3, "b2": 3, "b3": 5}
    goal = TakeAll(("a0", "a1", "a2", "a4", "a5", "b0"))
    problem = pose_problem(make_position(board, mine, theirs), goal)
    assert min(Search(problem).bounds(Deadline(), 6e4)) < 0.09


def test_goals_beyond_the_spare_armies_are_impossible_at_once() -> None:
    names = [f"{row}{column}" for row in "abcdef" for column in range(7)]
    across = [(a, b) for a, b in pairwise(names) if a[0] == b[0]]
    down = list(zip(names, names[7:], strict=False))
    board = Board.from_edges("grid", [*across, *down])
    # The goal needs three spare armies, but a0 has only two, and the stack on f0 is too far away.
    mine = {"a0": 3, "f0": 6}
    theirs = dict.fromkeys(names, 9) | {"a1": 1, "a2": 1, "a3": 1}
    problem = pose_problem(make_position(board, mine, theirs), TakeAll("a3"))
    assert next(Search(problem).bounds(Deadline(), 1e5)) == 0.0
    plan = best_plan(make_position(board, mine, theirs), TakeAll("a3"), budget=0.01)
    assert (plan.value, plan.upper_bound, plan.proven) == (0.0, 0.0, True)


@pytest.mark.parametrize("case", CASES)
def test_no_bound_is_below_a_known_value(case: str) -> None:
    position, rules, keep, play, value = CASES[case]
    problem = pose_problem(
        Turn(position, rules, whole_battles=play == "battles", keep=keep),
        TakeAll(enemies(position)),
    )
    assert min(Search(problem).bounds(Deadline(), 1e6)) >= value - 5e-8


def test_too_many_states_and_a_deadline_end_it() -> None:
    problem = pose_problem(TWO_STACKS, TakeAll("c,d"))
    over = Deadline()
    over.stop()
    for deadline, states in ((Deadline(), 10), (over, 1e6), (Deadline(0.0), 1e6)):
        assert Search(problem).solve(deadline, states) is None


@pytest.mark.parametrize(
    "rules",
    [
        CLASSIC,
        Rules(attack=Dice((6,) * 4, keep=2)),
        Rules(defence=Dice((8, 8, 8)), ties="attacker"),
    ],
)
def test_the_winner_of_the_last_roll_loses_no_army_in_it(rules: Rules) -> None:
    for able in range(1, 9):
        for defenders in range(1, 6):
            for left, held, dice in battle_ends(able, defenders, rules):
                assert held or dice == min(left, rules.attack.kept)


def test_small_boards_need_no_time_limit() -> None:
    for seed in SEEDS[::5]:
        (found,) = Planner(small_game(seed).problem(), Deadline()).run()
        assert found.is_proven
