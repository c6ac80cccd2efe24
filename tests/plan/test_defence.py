"""Hold without attacks: placements of new armies, fortifying moves and the armies needed."""

from itertools import combinations_with_replacement
from math import prod
from random import Random

import pytest

from iacta import Battle, ask
from iacta.board import Holding, Position
from iacta.game import Turn
from iacta.game.steps import take_step
from iacta.inputs.errors import IllegalError
from iacta.plan import (
    TakeAll,
    armies_needed_to_hold,
    best_plan,
    hold,
    hold_without_attack,
    place_armies,
)
from tests.plan.boards import make_board

AUSTRALIA = (
    "1;classic;red;Indonesia:red:6,New Guinea:red:1,Western Australia:red:1,"
    "Eastern Australia:red:1,Siam:blue:7,India:blue:3,China:blue:2"
)


def compute_hold_chance(defenders: int) -> float:
    """Return the chance that 7 armies and 3 new armies lose against some defenders."""
    return 1.0 - float(Battle(10, defenders).win_probability())


@pytest.mark.parametrize("new", [0, 1, 5, 12])
def test_one_entrance_is_held_as_often_as_one_battle_fails(new: int) -> None:
    turn = Turn.from_code(AUSTRALIA).with_options(place=new or None)
    found = hold_without_attack(turn, TakeAll("Australia"))
    assert found.hold.win_probability == pytest.approx(compute_hold_chance(6 + new), abs=1e-12)
    assert found.placement == ((("Indonesia", new),) if new else ())
    assert found.hold.proven
    assert found.without == (pytest.approx(compute_hold_chance(6), abs=1e-12) if new else None)


@pytest.mark.parametrize("chance", ["50%", "90%", "99%"])
def test_the_armies_needed_are_the_fewest(chance: str) -> None:
    found = armies_needed_to_hold(Turn.from_code(AUSTRALIA), TakeAll("Australia"), chance)
    assert found is not None
    wanted = float(chance.strip("%")) / 100
    fewest = next(n for n in range(100) if compute_hold_chance(6 + n) >= wanted)
    assert (found.armies, found.placement) == (fewest, (("Indonesia", fewest),))


def test_no_new_armies_are_needed_for_a_chance_that_is_reached() -> None:
    found = armies_needed_to_hold(Turn.from_code(AUSTRALIA), TakeAll("Australia"), "10%")
    assert found is not None
    assert (found.armies, found.placement) == (0, ())


@pytest.mark.parametrize("seed", range(6))
def test_no_other_placement_holds_more_often(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    board = make_board(
        "ring", [("a", "b"), ("b", "c"), ("a", "x"), ("b", "y"), ("c", "y")], "abcxy"
    )
    mine = [Holding("red", rng.randint(1, 4)) for _ in "abc"]
    position = Position(
        board, "red", (*mine, Holding("blue", rng.randint(2, 7)), Holding("green", 5))
    )
    goal, new = TakeAll(("a", "b")), 3
    found = hold_without_attack(Turn(position, place=new), goal)
    assert found.hold.win_probability is not None
    for row in combinations_with_replacement("abc", new):
        there = place_armies(position, [(name, row.count(name)) for name in {*row}])
        other = hold(best_plan(there, goal), ends=1)
        assert found.hold.win_probability >= (other.win_probability or 0.0) - 1e-9


def test_opponents_count_their_new_armies_and_the_player_fortifies() -> None:
    board = make_board("line", [("r", "t"), ("t", "b")], "rtb")
    holdings = Holding("red", 8), Holding("red", 1), Holding("blue", 4)
    turn = Turn(Position(board, "red", holdings))
    found = hold_without_attack(turn, TakeAll("t"), {"blue": 2}).hold
    assert found.win_probability == pytest.approx(
        1.0 - float(Battle(6, 8).win_probability()), abs=1e-12
    )
    assert found.unfortified == pytest.approx(
        1.0 - float(Battle(6, 1).win_probability()), abs=1e-12
    )
    assert found.moves == (("r", "t", 1.0, 7),)
    still = hold_without_attack(turn.with_options(fortify="none"), TakeAll("t"), 2).hold
    assert (still.win_probability, still.moves) == (found.unfortified, ())


def test_each_opponent_attacks_alone() -> None:
    board = make_board("star", [("t", "b"), ("t", "g")], "tbg")
    position = Position(board, "red", (Holding("red", 9), Holding("blue", 6), Holding("green", 4)))
    found = hold_without_attack(Turn(position), TakeAll("t"), 0).hold
    fails = [1.0 - float(Battle(armies, 9).win_probability()) for armies in (6, 4)]
    assert found.win_probability == pytest.approx(prod(fails), abs=1e-12)


def test_a_goal_that_is_not_reached_is_refused() -> None:
    turn = Turn.from_code(AUSTRALIA)
    with pytest.raises(IllegalError, match="reached already"):
        hold_without_attack(turn, TakeAll("Siam"))


def test_the_question_says_how_often_a_reached_goal_is_held() -> None:
    shown = ask("plan", position=AUSTRALIA, take="Australia", hold=True, reinforce=5, need="90%")
    record = shown.record()
    assert shown.sentence == (
        "With 5 new armies on Indonesia, you hold Australia until your next turn with a chance of "
        "60.01%."
    )
    assert (
        record["win_probability"]
        == record["value"]
        == pytest.approx(compute_hold_chance(11), abs=1e-12)
    )
    assert record["hold"]["placement"] == {"Indonesia": 5}
    assert record["need"] == {"chance": 0.9, "armies": 12, "placement": {"Indonesia": 12}}
    bare = ask("plan", position=AUSTRALIA, take="Australia", hold=True).record()
    assert bare["win_probability"] == pytest.approx(compute_hold_chance(6), abs=1e-12)
    assert bare["proven"]


def test_a_conquest_that_reaches_the_goal_is_held_after_the_advance() -> None:
    turn = Turn.from_code("1;classic;red;Brazil:red:9,Peru:blue:1,Argentina:blue:5")
    attack = {"do": "attack", "from": "Brazil", "to": "Peru", "left": 9, "their_left": 0}
    code = take_step(turn, attack)[0].to_code()
    shown = ask("plan", position=code, take="Peru", hold=True)
    assert shown.sentence.startswith("You hold Peru until your next turn with a chance of")
    assert "Best: move 5 armies in." in shown.record()["sentences"]
