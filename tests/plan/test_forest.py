"""Goals of so many territories that their sets cannot be counted."""

from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta.board import Board, Holding, Position
from iacta.errors import TooLargeError
from iacta.plan import Plan, TakeAll, best_plan, simulate_plan
from iacta.plan.problem import Borders, mask_of, read_problem
from iacta.plan.search import useful_field
from iacta.plan.sharing import forests, has_few_sets
from iacta.rules.rules import CLASSIC
from tests.plan.boards import CLASSIC_BOARD, position_on


def whole_board(armies: int, time_limit: float | None = None) -> Plan:
    """Return the plan of one stack that takes the whole board."""
    theirs = dict.fromkeys(CLASSIC_BOARD.territories, 3)
    position = position_on(CLASSIC_BOARD, {"Brazil": armies}, theirs)
    goal = TakeAll(tuple(name for name in CLASSIC_BOARD.territories if name != "Brazil"))
    return best_plan(position, goal, time_limit=time_limit)


@pytest.mark.parametrize("limit", [None, 0])
def test_a_whole_board_is_taken_along_trees(limit: float | None) -> None:
    plan = whole_board(130, limit)
    assert 0.1 < plan.win_probability <= plan.upper_bound < 0.9
    simulated = simulate_plan(plan, runs=4000, seed=1)
    p = plan.win_probability
    assert abs(float(simulated.won.probability) - p) < 5 * (p * (1 - p) / 4000) ** 0.5


def test_more_armies_take_a_board_more_often() -> None:
    chances = [whole_board(armies, 0).win_probability for armies in (130, 250)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.999


def test_the_best_tree_is_nearly_as_good_as_all_sets() -> None:
    position = position_on(CLASSIC_BOARD, {"Siam": 9}, {})
    problem = read_problem(position, CLASSIC, {}, ())
    names = {name: t for t, name in enumerate(CLASSIC_BOARD.territories)}
    mask = mask_of([names[name] for name in CLASSIC_BOARD.find_set("Australia")])
    field = useful_field(problem, mask)
    assert has_few_sets(problem, mask, field)
    best = max(forest.share.chance for forest in islice(forests(problem, mask, field), 40))
    plan = best_plan(position, TakeAll("Australia"), play="battles")
    assert 0.99 * plan.win_probability <= best <= plan.upper_bound + 1e-12


@given(st.lists(st.integers(0, 127), min_size=7, max_size=7), st.integers(1, 60))
def test_sets_are_counted_no_further_than_asked(out: list[int], most: int) -> None:
    borders = Borders([mask & ~(1 << v) for v, mask in enumerate(out)])
    count = len(borders.connected_subsets(0, 0b1111110))
    assert borders.has_fewer_subsets(0, 0b1111110, most) == (count < most)


def test_a_star_with_too_many_rays_is_refused() -> None:
    names = tuple(f"t{k}" for k in range(40))
    board = Board("star", names, tuple(product(names[:1], names[1:])))
    holdings = Holding("red", 80), *(Holding("blue", 1) for _ in names[1:])
    with pytest.raises(TooLargeError, match="at most 12 dead ends"):
        best_plan(Position(board, "red", holdings), TakeAll(names[1:]))
