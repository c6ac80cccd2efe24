"""Take and hold: the chance that conquests are still held at the next turn."""

from dataclasses import replace
from itertools import combinations_with_replacement, count
from math import prod
from random import Random

import numpy as np
import pytest

from iacta import Battle
from iacta.board import Holding, Position
from iacta.game import Turn
from iacta.inputs.errors import IllegalError
from iacta.plan import Plan, TakeAll, TakeAny, best_plan, hold, take_and_hold
from iacta.plan.defence import hold_without_attack
from iacta.plan.opponents import list_opponents
from iacta.plan.reinforcement import place_armies
from iacta.questions.plan.armies_cards_hold import describe_hold
from iacta.rules.rules import CLASSIC
from tests.plan.boards import BLUE, assert_known, draw_ends, make_board, small_game
from tests.plan.whole_turn import draw_turn, find_threat, list_last_turns, pay_conquest


def wall(own: int, blue: int, green: int = 1, rear: int = 1) -> Position:
    """Return red next to a territory with one army; blue is behind it and green far away."""
    pairs = [("s", "t"), ("s", "r"), ("t", "b"), ("g", "b")]
    board = make_board("wall", pairs, "srtbg")
    red = Holding("red", own), Holding("red", rear)
    others = Holding("blue", 1), Holding("blue", blue), Holding("green", green)
    return Position(board, "red", (*red, *others))


def test_one_battle_decides_whether_one_territory_is_held() -> None:
    position = wall(30, 9)
    plan = best_plan(Turn(position, fortify="none"), TakeAll("t"))
    found = hold(plan, {"blue": 3, "green": 0}, ends=400)
    exact = 0.0
    for _, chance, moved in plan.steps[0].advances:
        exact += chance * (1.0 - Battle(12, round(moved)).win_probability())
    assert found.ends == 400
    assert abs(assert_known(found.win_probability) - exact) < 4 * found.error + 1e-3
    assert found.unfortified == found.win_probability
    assert [each.player for each in found.threats] == ["blue", "green"]
    blue, green = found.threats
    assert (blue.armies, green) == (3.0, ("green", 0.0, 0.0, 0.0))
    assert found.win_probability == pytest.approx(
        plan.comparable_value * (1.0 - blue.chance), abs=1e-9
    )


def small_end(seed: int) -> tuple[Plan, int, Position]:
    """Return a plan on a small board, the opponents' new armies, and a position at its end."""
    game, rng = small_game(seed, most_targets=5), Random(seed)  # noqa: S311 # no secrets
    holdings = tuple(
        Holding("red", each.armies + 6)
        if each.owner == "red"
        else Holding(rng.choice(("blue", "green")), each.armies + rng.choice((0, 0, 3, 5)))
        for each in game.position.holdings
    )
    targets = [name for name in game.position.board.territories if name.startswith("t")]
    goal = TakeAll(tuple(rng.sample(targets, rng.randint(1, len(targets) - 1))))
    position = replace(game.position, holdings=holdings)
    plan = best_plan(Turn(position, game.rules, fortify="none"), goal)
    ends = draw_ends(plan, np.random.default_rng(1))
    reached = (
        e for e in ends if all(e.find_holding(name).owner == "red" for name in goal.territories)
    )
    return plan, rng.randint(0, 5), next(reached)


# With most of these seeds, the opponents' quick plans are not optimal.
@pytest.mark.parametrize("seed", [8, 4, 7, 17, 30])
def test_opponents_play_optimally_or_a_bound_is_reported(seed: int) -> None:
    plan, new, end = small_end(seed)
    found = hold(plan, new, ends=1, seed=1)
    best = 1.0
    for threat in found.threats:
        theirs = replace(end, player=threat.player)
        mine = theirs.list_territories(threat.player)
        goal = TakeAny(plan.goal.names)
        rows = combinations_with_replacement(mine, new)
        chance = max(
            best_plan(
                place_armies(Turn(theirs, plan.turn.rules), [(n, row.count(n)) for n in mine]),
                goal,
                margin=0.0,
            ).comparable_value
            for row in rows
        )
        assert threat.chance - 1e-9 <= chance <= threat.at_most + 1e-9
        best *= 1.0 - chance
    best *= plan.comparable_value
    assert found.at_least - 1e-9 <= best <= assert_known(found.win_probability) + 1e-9
    if found.proven:
        assert found.win_probability == pytest.approx(best, abs=1e-9)


def test_a_large_board_shows_the_chance_to_hold_as_the_most() -> None:
    found = hold(best_plan(BLUE, TakeAll("South America"), budget=0.1), ends=2)
    assert not found.proven
    assert found.at_least < assert_known(found.win_probability)
    assert any(each.at_most > each.chance for each in found.threats)


def test_a_plan_is_chosen_to_hold_what_it_takes() -> None:
    # The best plan for the conquest leaves only one army on t, next to blue.
    pairs = [("s", "t"), ("t", "u"), ("t", "b")]
    red, blue = Holding("red", 14), Holding("blue", 5)
    holdings = red, Holding("blue", 1), Holding("blue", 2), blue
    position = Position(make_board("gap", pairs, "stub"), "red", holdings)
    plan = best_plan(Turn(position, fortify="none"), TakeAll("t,u"))
    found = take_and_hold(plan, 1, seed=1)
    assert found.otherwise is not None
    assert found.otherwise.plan is plan
    assert assert_known(found.win_probability) > assert_known(found.otherwise.win_probability) + 0.1
    assert found.plan.comparable_value <= plan.comparable_value + 1e-9
    assert found.plan.upper_bound == plan.upper_bound
    assert take_and_hold(plan, 0, ends=8).plan.goal == plan.goal


def test_armies_behind_the_front_are_moved_up() -> None:
    plan = best_plan(wall(12, 16, rear=9), TakeAll("t"))
    bare = hold(best_plan(Turn(wall(12, 16, rear=9), fortify="none"), TakeAll("t")), 3)
    kept = hold(best_plan(Turn(wall(12, 16, rear=9), keep={"r": 9}), TakeAll("t")), 3)
    moved = hold(plan, 3)
    assert bare.moves == (("", "", 1.0, 0.0),)
    assert kept.win_probability == pytest.approx(bare.win_probability)
    assert assert_known(moved.win_probability) > assert_known(moved.unfortified) + 0.2
    assert moved.unfortified == pytest.approx(bare.win_probability)
    (move,) = moved.moves
    assert (move.start, move.to, move.part, move.armies) == ("r", "t", 1.0, 8.0)


def test_armies_move_through_own_territories_unless_the_rule_forbids_it() -> None:
    pairs = [("s", "m"), ("m", "t"), ("t", "b"), ("t", "n"), ("n", "b")]
    board = make_board("long", pairs, "smtnb")
    red = [Holding("red", number) for number in (20, 1, 16)]
    position = Position(board, "red", (*red, Holding("blue", 1), Holding("blue", 14)))
    plan = best_plan(position, TakeAll("n"))
    far = hold(plan, 0)
    near = hold(best_plan(Turn(position, fortify="adjacent"), TakeAll("n")), 0)
    assert assert_known(far.win_probability) >= assert_known(near.win_probability)
    assert all(move.start != "s" for move in near.moves)
    assert all(move.to in ("n", "t") for move in far.moves if move.to)


def test_opponents_get_the_stated_or_the_usual_new_armies() -> None:
    plan = best_plan(BLUE, TakeAll("South America"), budget=0.1)
    usual = hold(plan, ends=4)
    said = hold(plan, {"Green": 20}, ends=4)
    more = hold(plan, 20, ends=4)
    armies = {each.player: each.armies for each in usual.threats}
    assert {each.player: each.armies for each in said.threats} == {**armies, "green": 20.0}
    assert {each.armies for each in more.threats} == {20.0}
    assert (
        assert_known(usual.win_probability)
        > assert_known(said.win_probability)
        >= assert_known(more.win_probability)
    )
    assert usual.win_probability == hold(plan, ends=4).win_probability
    chances = [each.chance for each in usual.threats]
    assert chances == sorted(chances, reverse=True)
    assert assert_known(usual.win_probability) <= 1.0 - max(chances) + 1e-9
    # Threats depend on the same final position, so they are positively correlated.
    assert assert_known(usual.win_probability) >= prod(1 - c for c in chances) - 0.05


def test_territories_that_cannot_be_taken_cannot_be_held() -> None:
    position = wall(1, 5)
    found = hold(best_plan(position, TakeAll("t")), 3)
    assert (found.win_probability, found.ends, found.threats) == (0.0, 0, ())


def test_without_a_garrison_nothing_is_held() -> None:
    plan = best_plan(Turn(wall(9, 2), replace(CLASSIC, garrison=0)), TakeAll("t"))
    with pytest.raises(IllegalError, match="garrison must be at least 1 to hold conquests"):
        hold(plan)


def test_too_few_games_give_no_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = best_plan(wall(30, 9), TakeAll("t"))
    full = hold(plan, 3)
    assert full.ends == 100
    assert full.win_probability is not None
    now = count()
    monkeypatch.setattr("iacta.native.deadline.monotonic", lambda: float(next(now)))
    for found in (hold(plan, 3, time_limit=60), take_and_hold(plan, 3, time_limit=60)):
        assert found.ends < 100
        assert (found.win_probability, found.unfortified, found.interval) == (None, None, None)
        assert "no estimate yet" in repr(found)
        (sentence,) = describe_hold(found)
        assert sentence.startswith("Not enough games to estimate the chance to hold it: ")
        assert f" {found.ends} game" in sentence


def test_a_chance_to_hold_does_not_depend_on_the_time_that_is_left() -> None:
    plan = best_plan(wall(30, 9), TakeAll("t"))
    assert hold(plan, 3, time_limit=1e6) == hold(plan, 3)


def test_neutral_owners_never_take_back_a_conquest() -> None:
    code = (
        "1;classic;red;Brazil:red:12,Peru:blue:1,Argentina:blue:1,North%20Africa:grey:9,Siam:blue:1"
    )
    neutral, opponent = (
        Turn.from_code(f"{code};attack;players={names}") for names in ("red,blue", "red,blue,grey")
    )
    goal = TakeAll("Peru,Argentina")
    found = hold(best_plan(neutral, goal))
    assert found.win_probability == pytest.approx(best_plan(neutral, goal).value)
    assert {each.player for each in found.threats} == {"blue"}
    assert {each.player for each in hold(best_plan(opponent, goal)).threats} == {"blue", "grey"}


def find_best_hold_chance(turn: Turn, held: tuple[str, ...]) -> float:
    """Return the greatest Π (1 − p) after any last move, by the slow twin of whole turns."""
    payoff = pay_conquest(held, is_any=True)
    return max(
        1.0
        if end.winner == turn.player
        else prod(1.0 - find_threat(end, player, payoff) for player in list_opponents(turn))
        for end in list_last_turns(turn)
    )


@pytest.mark.parametrize("seed", range(24))
def test_the_best_last_move_is_found_on_small_boards(seed: int) -> None:
    turn = draw_turn(seed, most_lands=5, most_armies=6).with_options(place=0)
    mine = turn.position.list_territories("red")
    rng = Random(seed)  # noqa: S311 # no secrets
    held = tuple(rng.sample(mine, rng.randint(1, len(mine))))
    found = hold_without_attack(turn, TakeAll(held)).hold
    assert found.proven
    assert found.win_probability == pytest.approx(find_best_hold_chance(turn, held), abs=1e-9)


# Green reaches Peru and Argentina only through Brazil, which red owns.
INNER = "1;classic;red;Brazil:red:12,Peru:blue:1,Argentina:blue:1,North%20Africa:green:3"


def test_the_way_through_own_territories_is_protected() -> None:
    found = hold(best_plan(Turn.from_code(INNER), TakeAll("Peru,Argentina")))
    assert [(move.start, move.to) for move in found.moves[:1]] == [("Argentina", "Brazil")]
    assert assert_known(found.win_probability) > 0.85
    assert assert_known(found.unfortified) < 0.1


def test_the_model_of_large_boards_protects_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = best_plan(Turn.from_code(INNER), TakeAll("Peru,Argentina"))
    exact = hold(plan)
    monkeypatch.setattr("iacta.plan.placements.SMALL_BOARD", 0)
    found = hold(plan)
    assert [(move.start, move.to) for move in found.moves[:1]] == [("Argentina", "Brazil")]
    assert assert_known(found.win_probability) > assert_known(exact.win_probability) - 0.01
