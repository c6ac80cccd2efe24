"""Trees, sets and the search of all states against slow twins."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import CLASSIC, Campaign, Dice, Rules
from iacta.board import Board
from iacta.methods import find_kernel
from iacta.plan import TakeAll, best_plan
from iacta.plan.bound import Bound
from iacta.plan.exact_turn import solve_turn
from iacta.plan.goals import Rewards
from iacta.plan.one_stack import StackChances
from iacta.plan.problem import Borders, Problem, bits, read_problem
from iacta.plan.sharing import best_share
from iacta.plan.turn import Turn
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from tests.plan.boards import board_of, chain, position_on
from tests.plan.twin import battle_ends, best_chance

SMALL_RULES = st.builds(
    Rules, garrison=st.integers(0, 2), least_advance=st.booleans(), ties=st.just("defender")
)
Pairs = list[tuple[str, str]]


@st.composite
def trees(draw: st.DrawFn, most: int = 4) -> tuple[list[str], Pairs]:
    """Draw a tree of territories whose root is `s`."""
    count = draw(st.integers(1, most))
    names = ["s", *(f"t{k}" for k in range(count))]
    pairs = [(names[draw(st.integers(0, k))], names[k + 1]) for k in range(count)]
    return names, pairs


@st.composite
def graphs(draw: st.DrawFn, most: int = 3) -> tuple[list[str], Pairs]:
    """Draw territories of which `s` and `z` are the player's, with any borders."""
    count = draw(st.integers(1, most))
    names = ["s", "z", *(f"t{k}" for k in range(count))]
    every = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    return names, [pair for pair in every if draw(st.booleans())]


def neighbours(names: Iterable[str], pairs: Pairs) -> dict[str, tuple[str, ...]]:
    both = [*pairs, *((b, a) for a, b in pairs)]
    return {name: tuple(to for start, to in both if start == name) for name in names}


def problem_of(
    names: list[str], pairs: Pairs, mine: dict[str, int], theirs: dict[str, int], rules: Rules
) -> Problem:
    position = position_on(board_of("small", pairs, names), mine, theirs)
    return read_problem(position, rules, {}, ())


def exact_value(problem: Problem, goal: int) -> float:
    exact = solve_turn(Turn(problem, problem.enemy, Rewards(all_of=goal), whole_battles=True))
    assert exact is not None
    return exact.value


@settings(max_examples=60, derandomize=True, deadline=None)
@given(tree=trees(), armies=st.integers(1, 9), rules=SMALL_RULES, data=st.data())
def test_trees_equal_the_search_of_all_states(
    tree: tuple[list[str], Pairs], armies: int, rules: Rules, data: st.DataObject
) -> None:
    names, pairs = tree
    theirs = {name: data.draw(st.integers(1, 3)) for name in names[1:]}
    problem = problem_of(names, pairs, {"s": armies}, theirs, rules)
    chances = StackChances(problem, max(problem.most, armies))
    chance = chances.chance(0, problem.enemy)[armies]
    assert chance == pytest.approx(exact_value(problem, problem.enemy), abs=1e-13)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(graph=graphs(), armies=st.integers(1, 6), rules=SMALL_RULES, data=st.data())
def test_the_search_equals_a_recursion_in_fractions_that_knows_the_last_roll(
    graph: tuple[list[str], Pairs], armies: int, rules: Rules, data: st.DataObject
) -> None:
    names, pairs = graph
    mine = {"s": armies, "z": data.draw(st.integers(1, 4))}
    theirs = {name: data.draw(st.integers(1, 2)) for name in names[2:]}
    wanted = data.draw(st.sets(st.sampled_from(names[2:]), min_size=1))
    problem = problem_of(names, pairs, mine, theirs, rules)
    goal = sum(1 << names.index(name) for name in wanted)
    twin = best_chance(mine, theirs, neighbours(names, pairs), frozenset(wanted), rules)
    assert exact_value(problem, goal) == pytest.approx(float(twin), abs=1e-13)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(graph=graphs(), armies=st.integers(1, 6), data=st.data())
def test_borders_may_be_one_way(
    graph: tuple[list[str], Pairs], armies: int, data: st.DataObject
) -> None:
    names, pairs = graph
    both = [*pairs, *((b, a) for a, b in pairs)]
    ways = [pair for pair in both if data.draw(st.integers(0, 3))]
    board = Board("one-way", tuple(names), tuple(sorted(ways)))
    theirs = {name: data.draw(st.integers(1, 2)) for name in names[2:]}
    problem = read_problem(position_on(board, {"s": armies, "z": 3}, theirs), CLASSIC, {}, ())
    near = {name: tuple(to for start, to in ways if start == name) for name in names}
    goal = frozenset(names[2:])
    twin = best_chance({"s": armies, "z": 3}, theirs, near, goal, CLASSIC)
    found = exact_value(problem, problem.enemy)
    assert found == pytest.approx(float(twin), abs=1e-13)
    bound = Bound(problem)
    assert found <= bound.chance(problem.enemy, problem.enemy) + 1e-12


@settings(max_examples=40, derandomize=True, deadline=None)
@given(graph=graphs(4), armies=st.integers(1, 8), rules=SMALL_RULES, data=st.data())
def test_no_share_beats_the_optimum_and_the_optimum_no_bound(
    graph: tuple[list[str], Pairs], armies: int, rules: Rules, data: st.DataObject
) -> None:
    names, pairs = graph
    mine = {"s": armies, "z": data.draw(st.integers(1, 3))}
    theirs = {name: data.draw(st.integers(1, 3)) for name in names[2:]}
    problem = problem_of(names, pairs, mine, theirs, rules)
    chances = StackChances(problem, problem.most)
    best = exact_value(problem, problem.enemy)
    share = best_share(chances, problem.stacks(), problem.enemy)
    bound = Bound(problem)
    assert share.chance <= best + 1e-12
    assert best <= bound.chance(problem.enemy, problem.enemy) + 1e-12
    for v, n in problem.stacks():
        alone = chances.chance(v, problem.enemy)[n]
        assert alone <= bound.alone(v, n, problem.enemy) + 1e-12


@pytest.mark.parametrize(
    "rules",
    [
        CLASSIC,
        Rules(attack=Dice((6,) * 4, keep=2)),
        Rules(defence=Dice((8, 8, 8)), ties="attacker"),
    ],
)
def test_who_wins_the_last_roll_loses_nobody_in_it(rules: Rules) -> None:
    for able in range(1, 9):
        for defenders in range(1, 6):
            for left, held, dice in battle_ends(able, defenders, rules):
                assert held or dice == min(left, rules.attack.kept)


@pytest.mark.parametrize(
    "rules",
    [CLASSIC, Rules(mode=BalancedBlitz()), Rules(mode=DefenderSeesFirst())],
)
def test_transitions_are_those_of_a_battle(rules: Rules) -> None:
    won, lost = find_kernel(rules).transitions(7, 3)
    np.testing.assert_allclose(won.sum(axis=1) + lost.sum(axis=1), 1.0, rtol=1e-12)
    for able in range(1, 8):
        chance = Campaign(able + 1, [3], rules).win_probability()
        assert won[able].sum() == pytest.approx(chance, rel=1e-12)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(graph=graphs(4), armies=st.integers(1, 7), data=st.data())
def test_a_plan_by_battles_is_the_best_of_all_that_attack_anything(
    graph: tuple[list[str], Pairs], armies: int, data: st.DataObject
) -> None:
    names, pairs = graph
    mine = {"s": armies, "z": data.draw(st.integers(1, 4))}
    theirs = {name: data.draw(st.integers(1, 3)) for name in names[2:]}
    wanted = data.draw(st.sets(st.sampled_from(names[2:]), min_size=1))
    position = position_on(board_of("small", pairs, names), mine, theirs)
    plan = best_plan(position, TakeAll(tuple(sorted(wanted))), play="battles")
    goal = sum(1 << names.index(name) for name in wanted)
    everything = exact_value(read_problem(position, CLASSIC, {}, ()), goal)
    assert plan.win_probability == pytest.approx(everything, abs=1e-12)
    assert plan.upper_bound >= plan.win_probability


def test_chances_grow_with_armies() -> None:
    names = [*"sabcdef"]
    pairs = [("s", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("s", "e"), ("e", "f")]
    problem = problem_of(names, pairs, {"s": 30}, dict.fromkeys(names[1:], 2), CLASSIC)
    chances = StackChances(problem, 30).chance(0, problem.enemy)
    assert (np.diff(chances) >= -1e-15).all()
    assert chances[0] == 0.0
    assert 0.5 < chances[30] < 1.0


def test_the_unfinished_game_is_a_tree() -> None:
    way = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
    problem = read_problem(chain(72, way), CLASSIC, {}, ())
    chance = StackChances(problem, 72).chance(0, problem.enemy)[72]
    assert abs(chance - Campaign(72, way).win_probability()) < 1e-12


@settings(max_examples=60, derandomize=True, deadline=None)
@given(graph=graphs(4))
def test_splits_are_all_ways_to_split(graph: tuple[list[str], Pairs]) -> None:
    names, pairs = graph
    near = neighbours(names, pairs)
    borders = Borders([sum(1 << names.index(to) for to in near[name]) for name in names])
    rest = (1 << len(names)) - 4
    both = [(x, rest & ~x) for x in range(rest + 1) if x & ~rest == 0]
    right = {pair for pair in both if borders.connects(0, pair[0]) and borders.connects(1, pair[1])}
    splits = borders.splits(0, 1, rest)
    assert set(splits) == right
    assert len(splits) == len(right)
    assert all(sum(1 << t for t in bits(first)) == first for first, _ in splits)
