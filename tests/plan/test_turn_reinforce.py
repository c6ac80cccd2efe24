"""New armies are placed where they help most."""

from dataclasses import replace
from itertools import combinations_with_replacement

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iacta import classic_board
from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.deadline import Deadline
from iacta.plan import TakeAll, TakeAny, Worth, best_plan, reinforce, reinforcements_needed
from iacta.plan.placements import Placements, QuickValues, pose_reinforced_problem
from iacta.plan.problem import SearchState
from iacta.plan.reinforcement import place_armies, rank_plans
from iacta.plan.search import Solution
from tests.plan.boards import (
    GOALS,
    make_board,
    make_position,
    make_scattered_board,
    parse_position,
    positions,
    small_game,
)

APART = make_position(
    make_board("apart", [("s", "a"), ("z", "b"), ("s", "z"), ("z", "y")], "szyab"),
    {"s": 4, "z": 3, "y": 9},
    {"a": 3, "b": 2},
)


def all_placements(position: Position, armies: int) -> list[list[tuple[str, int]]]:
    """Return every placement of new armies on the player's territories."""
    mine = position.list_territories(position.player)
    return [
        [(name, row.count(name)) for name in mine]
        for row in combinations_with_replacement(mine, armies)
    ]


@given(positions(3), GOALS)
@settings(max_examples=12, deadline=None)
def test_two_new_armies_are_placed_optimally(
    position: Position, goal: TakeAll | TakeAny | Worth
) -> None:
    found = reinforce(Turn(position, place=2), goal, margin=0.0)
    best = max(
        best_plan(place_armies(position, each), goal, margin=0.0).comparable_value
        for each in all_placements(position, 2)
    )
    assert found.plan.value == pytest.approx(best, abs=1e-9)
    assert found.plan.turn == place_armies(position, found.placement)
    assert sum(number for _, number in found.placement) == 2
    assert found.before.value == pytest.approx(
        best_plan(position, goal, margin=0.0).comparable_value
    )


def test_new_armies_are_divided_where_lookahead_would_not_divide_them() -> None:
    # The armies in Yakutsk make the board too large for exact play. Play that attacks only
    # Indonesia and Eastern Australia takes both in 41.21% of the games, and in 38.92% at most if
    # all new armies go to one territory. Lookahead prefers two new armies on New Guinea: 38.18%.
    armies = {
        **{"New Guinea": ("red", 3), "Western Australia": ("red", 2)},
        **{"Indonesia": ("blue", 3), "Eastern Australia": ("blue", 2)},
        "Yakutsk": ("red", 3),
    }
    position = Position(classic_board(), "red", armies, others=("white", 1))
    found = reinforce(Turn(position, place=3), TakeAll("Australia"))
    assert found.placement == (("Western Australia", 2), ("New Guinea", 1))
    assert found.plan.value == pytest.approx(0.4121, abs=1e-4)


# A plan of whole battles would place these armies elsewhere.
@pytest.mark.parametrize(("seed", "armies"), [(7, 4), (20, 3), (24, 5), (33, 6), (2, 4), (11, 3)])
def test_no_placement_on_a_small_board_is_better(seed: int, armies: int) -> None:
    game = small_game(seed)
    found = reinforce(game.turn().with_options(place=armies), game.goal, margin=0.0)
    best = max(
        best_plan(place_armies(game.turn(), each), game.goal, margin=0.0).comparable_value
        for each in all_placements(game.position, armies)
    )
    assert found.plan.value == pytest.approx(best, abs=1e-9)
    assert found.has_tried_all or found.plan.value in (0.0, 1.0)


def test_equal_placements_are_ordered_by_the_armies_left_then_by_rolls_then_by_stacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = QuickValues(pose_reinforced_problem(Turn(APART), TakeAll("a,b"), 3), Deadline(), 1000)
    found = Placements(SearchState.from_turn(Turn(APART)), values)
    rows = [(("s", 3),), (("s", 2), ("z", 1)), (("z", 2), ("s", 1)), (("z", 3),)]
    pairs = [(0.5, 2.0), (0.5, 1.0), (0.6, 3.0), (0.5, 1.0)]
    costs = {found.after(row): Solution(*pair) for row, pair in zip(rows, pairs, strict=True)}
    monkeypatch.setattr(values, "find", costs.__getitem__)
    assert found.rank_placements(3) == [rows[2], rows[3], rows[1], rows[0]]
    noise, roll = 1e-12, 1e-6
    costs[found.after(rows[0])] = Solution(0.6 + noise, 3.0 - roll)
    assert found.rank_placements(3)[:2] == [rows[0], rows[2]]


def test_among_nearly_equal_plans_the_most_armies_left_decide() -> None:
    plan = best_plan(place_armies(APART, [("s", 3)]), TakeAll("a,b"), margin=0.0)
    weak = replace(plan, territories=plan.territories[1:])
    rough = replace(weak, value=plan.comparable_value + 4e-4, interval=(0.0, 1.0))
    exact = replace(weak, value=plan.comparable_value + 1e-7)
    better = replace(rough, value=plan.comparable_value + 6e-4)
    one, other = (("s", 3),), (("z", 3),)
    assert next(iter(rank_plans({one: rough, other: plan}))) == other
    assert next(iter(rank_plans({one: exact, other: plan}))) == one
    assert next(iter(rank_plans({one: better, other: plan}))) == one


def test_the_best_of_all_placements_by_battles_is_found() -> None:
    goal = TakeAll("a,b")
    found = reinforce(Turn(APART, place=4, whole_battles=True), goal)
    tried = [
        best_plan(place_armies(Turn(APART, whole_battles=True), each), goal).comparable_value
        for each in all_placements(APART, 4)
    ]
    assert found.plan.comparable_value == pytest.approx(max(tried), abs=1e-9)


def test_armies_are_divided_where_two_stacks_need_them() -> None:
    goal = TakeAll("a,b")
    found = reinforce(Turn(APART, place=6), goal)
    assert dict(found.placement).keys() == {"s", "z"}
    tried = [
        best_plan(place_armies(APART, each), goal).comparable_value
        for each in all_placements(APART, 6)
    ]
    assert found.plan.comparable_value == pytest.approx(max(tried), abs=1e-9)
    assert found.plan.comparable_value > max(each.all for each in found.marginals)


def test_the_table_shows_what_one_army_and_all_are_worth() -> None:
    goal = TakeAll("a,b")
    found = reinforce(Turn(APART, place=3), goal)
    assert {each.name for each in found.marginals} == {"s", "z"}  # y has no enemy next to it
    for each in found.marginals:
        for number, value in ((1, each.one), (3, each.all)):
            plan = best_plan(place_armies(APART, [(each.name, number)]), goal)
            assert value == pytest.approx(plan.value)
            assert value > found.before.comparable_value
    assert [each.all for each in found.marginals] == sorted(
        (each.all for each in found.marginals), reverse=True
    )


def test_a_stack_that_may_not_attack_gets_no_armies() -> None:
    found = reinforce(Turn(APART, place=3, stay=["z"]), TakeAny("a,b"))
    assert found.placement == (("s", 3),)


def test_useless_armies_are_placed_on_the_largest_stack() -> None:
    found = reinforce(Turn(APART, place=2, stay=["s", "z"]), TakeAll("a"))
    assert (found.plan.value, found.placement, found.marginals) == (0.0, (("y", 2),), ())


@given(st.sampled_from(["30%", "75%", "99%"]), positions(3))
@settings(max_examples=6, deadline=None)
def test_the_fewest_new_armies_reach_the_chance_exactly(chance: str, position: Position) -> None:
    goal, wanted = TakeAll("t0"), float(chance[:-1]) / 100
    assume(best_plan(place_armies(position, [("s", 20), ("z", 20)]), goal).comparable_value)
    found = reinforcements_needed(position, goal, chance)
    assert found is not None
    assert found.plan.comparable_value >= wanted
    if found.armies:
        less = all_placements(position, found.armies - 1) if found.armies < 12 else []
        assert all(
            best_plan(place_armies(position, each), goal).comparable_value < wanted for each in less
        )
    else:
        assert found.placement == ()
        assert best_plan(position, goal).comparable_value >= wanted


def test_without_time_all_new_armies_are_placed() -> None:
    found = reinforce(Turn(make_scattered_board(), place=5), TakeAll("South America"), time_limit=0)
    assert sum(number for _, number in found.placement) == 5
    assert found.plan.comparable_value > 0.9


def test_impossible_placements_are_refused() -> None:
    goal = TakeAll("a")
    for armies in (0, 1001):
        with pytest.raises(
            IllegalError, match=r"^new armies must be a whole number from 1 to 1000"
        ):
            reinforce(Turn(APART, place=armies), goal)
    with pytest.raises(
        IllegalError, match="new armies must be placed on territories of red, got a"
    ):
        place_armies(APART, [("a", 1)])
    with pytest.raises(MalformedError, match="turn must be a Turn or a Position"):
        reinforce("here", goal)  # type: ignore[arg-type]
    with pytest.raises(IllegalError, match="new armies must be placed before a plan, got 2"):
        best_plan(Turn(APART, place=2), goal)
    with pytest.raises(IllegalError, match="goal must be TakeAll, TakeAny or OwnAny"):
        reinforcements_needed(APART, Worth(), "50%")
    with pytest.raises(IllegalError, match="1000 new armies do not reach a chance of"):
        reinforcements_needed(Turn(APART, stay=["s", "z"]), goal, "50%")


def test_new_armies_are_divided_if_one_front_needs_the_other() -> None:
    board = classic_board()
    americas = *board.find_set("North America"), *board.find_set("South America")
    held = dict.fromkeys(americas, ("green", 2)) | dict.fromkeys(("Ural", "China"), ("red", 1))
    held |= {"Egypt": ("green", 1), "North Africa": ("green", 2), "Southern Europe": ("blue", 3)}
    position = Position(board, "blue", held, others=("blue", 1))
    # Armies on Southern Europe alone do not help, because no stack can attack Ural.
    found = reinforce(Turn(position, place=10), TakeAll("Egypt, North Africa, Ural, China"))
    assert len(found.placement) > 1
    assert found.plan.comparable_value > 0.8


def test_on_seven_territories_all_placements_are_compared() -> None:
    borders = "a: b c; b: c d; c: e f; d: e f g; e: g; f: g"
    theirs = {"a": 3, "b": 2, "c": 1, "e": 4}
    position = parse_position({"d": 6, "f": 5, "g": 6}, theirs, borders)
    assert reinforce(Turn(position, place=5), TakeAll("a,b,c,e")).has_tried_all
