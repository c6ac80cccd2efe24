"""Turns: placement, cards, eliminations, fortifying, and the next player."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest

from iacta import Hand, Rules, Sets, Turn, Worth, classic_board, find_rules, game, win_probability
from iacta.board import Board, Continent, Position
from iacta.game import (
    Advance,
    Attack,
    EndPhase,
    Fortify,
    Losses,
    Place,
    Reveal,
    Trade,
    list_border_odds,
)
from iacta.game.cards import list_card_sets, list_hands
from iacta.inputs.errors import IactaError
from iacta.rules.modes import ArmiesGrow, BalancedBlitz, DefenderSeesFirst
from tests.game.positions import make_line_turn

THREE = Hand(infantry=3)


def placements(turn: Turn) -> list[tuple[int, ...]]:
    """Return the armies on each territory after every possible placement."""
    if turn.phase != "place":
        return [turn.armies]
    return [end for action in turn.actions() for end in placements(turn.after(action))]


@pytest.mark.parametrize(("armies", "territories"), [(1, 3), (4, 2), (5, 3), (3, 4)])
def test_each_placement_is_reached_by_one_sequence(armies: int, territories: int) -> None:
    turn = make_line_turn(" ".join(["r1"] * territories + ["b1"]), place=armies)
    ends = placements(turn)
    assert len(ends) == len({*ends}) == comb(armies + territories - 1, armies)
    assert {sum(end) for end in ends} == {armies + territories + 1}


def test_a_turn_begins_in_the_first_phase_with_an_action() -> None:
    assert make_line_turn("r3 b1").phase == "attack"
    assert make_line_turn("r3 b1", place=2).phase == "place"
    assert make_line_turn("r3 b1", phase="trade", cards={"red": 3}).phase == "trade"
    assert make_line_turn("r3 b1", phase="trade", cards={"red": 2}).phase == "attack"
    assert make_line_turn("r3 b1", phase="over").actions()[:] == []


def test_known_cards_are_traded_for_armies_to_place() -> None:
    turn = make_line_turn("r3 b1", phase="trade", place=3, cards={"red": THREE}, trade=Sets((10,)))
    assert list(turn.actions()) == [Trade(THREE), EndPhase()]
    traded = turn.after(Trade(THREE))
    assert (traded.phase, traded.place, traded.cards, traded.trade) == (
        "place",
        13,
        {},
        Sets((12,)),
    )
    kept = turn.after(EndPhase())
    assert (kept.phase, kept.place, kept.cards) == ("place", 3, {"red": THREE})


def test_five_cards_must_be_traded_even_if_unknown() -> None:
    turn = make_line_turn("r3 b1", phase="trade", cards={"red": 5})
    assert list(turn.actions()) == [Reveal()]
    found = turn.results(Reveal())
    assert found.is_exact
    for hand in found:
        seen = turn.after(Reveal(), hand)
        assert seen.phase == "trade"
        assert EndPhase() not in seen.actions()
        assert seen.actions()


def test_unknown_cards_follow_the_deck() -> None:
    turn = make_line_turn("r3 b1", phase="trade", cards={"red": 3})
    brings = turn.results(Reveal()).map(lambda hand: turn.after(Reveal(), hand).phase == "trade")
    deals = [*list_hands(3)]
    sets = sum(ways for hand, ways in deals if list_card_sets(hand))
    assert brings[True] == Fraction(sets, sum(ways for _, ways in deals)) == Fraction(200, 473)
    # Cards that other players are known to hold cannot be drawn.
    known = Hand(infantry=13, cavalry=13, artillery=13, jokers=2)
    sure = make_line_turn("r3 b1", phase="trade", cards={"red": 3, "blue": known})
    assert dict(sure.results(Reveal())) == {Hand(1, 1, 1): 1}


@pytest.mark.parametrize(
    "values", [(4, 6, 8, 10, 12, 15), (10,), (12, 15), (7, 9), (7,), (5,), (3, 2)]
)
def test_the_value_of_a_set_follows_the_previous_set(values: tuple[int, ...]) -> None:
    later = sets = Sets(values)
    for k in range(12):
        assert later.nth(0) == sets.nth(k)
        later = later.next()


def test_fixed_sets_are_read_as_the_best_kind() -> None:
    fixed = Sets(is_fixed=True)
    worths = {Hand(3): 4, Hand(0, 3): 6, Hand(0, 0, 3): 8, Hand(1, 1, 1): 10}
    worths |= {Hand(2, 0, 0, 1): 4, Hand(1, 0, 1, 1): 10, Hand(0, 1, 0, 2): 10}
    assert {hand: fixed.worth(hand) for hand in worths} == worths


def win_battle(turn: Turn, start: str, to: str) -> Turn:
    """Return the turn after three dice killed the last defender of a territory."""
    return turn.after(Attack(start, to, 3), (0, 1))


def test_an_elimination_transfers_cards_that_are_traded_at_once() -> None:
    cards = {"red": Hand(infantry=2), "blue": Hand(infantry=3, unknown=1)}
    turn = win_battle(make_line_turn("r9 b1 g5", cards=cards), "A", "B")
    assert turn.cards == {"red": Hand(infantry=5, unknown=1)}
    trading = turn.after(Advance(4))
    assert trading.phase == "trade"
    assert list(trading.actions()) == [Reveal(), Trade(THREE)]
    placing = trading.after(Trade(THREE))
    assert (placing.phase, placing.place, placing.cards_due) == ("place", 4, True)
    assert placing.after(Place("B", 4)).phase == "attack"


@pytest.mark.parametrize("number", range(1, 6))
def test_with_fewer_than_six_cards_the_attack_goes_on(number: int) -> None:
    cards = {"red": number - 1, "blue": 1}
    turn = win_battle(make_line_turn("r9 b1 g5", cards=cards), "A", "B").after(Advance(4))
    assert (turn.phase, turn.cards) == ("attack", {"red": Hand(unknown=number)})


@pytest.mark.parametrize(("number", "left"), [(6, 3), (7, 4), (8, 2), (9, 3), (10, 4), (11, 2)])
def test_after_an_elimination_sets_are_traded_until_four_cards_or_fewer_are_left(
    number: int, left: int
) -> None:
    hand = Hand(infantry=number - 1)
    turn = win_battle(
        make_line_turn("r9 b1 g5", cards={"red": hand, "blue": Hand(infantry=1)}), "A", "B"
    )
    turn = turn.after(Advance(4))
    while turn.phase == "trade":
        assert not any(isinstance(each, EndPhase) for each in turn.actions())
        turn = turn.after(Trade(THREE))
    assert turn.cards == {"red": Hand(infantry=left)}
    assert turn.place == sum(Sets().nth(k) for k in range((number - left) // 3))
    assert game.traded_armies(number)[turn.place] == 1


def test_the_last_player_s_cards_go_to_the_winner() -> None:
    turn = win_battle(make_line_turn("r9 b1", cards={"red": 3, "blue": 4}), "A", "B").after(
        Advance(4)
    )
    assert (turn.phase, turn.cards) == ("over", {"red": Hand(unknown=7)})


def test_only_eliminated_players_with_cards_hand_them_over() -> None:
    cards = {"red": 2, "blue": 4}
    alive = win_battle(make_line_turn("r9 b1 b1 g5", cards=cards), "A", "B")
    assert alive.cards == {"red": Hand(unknown=2), "blue": Hand(unknown=4)}
    none = win_battle(make_line_turn("r9 b1 g5", cards={"red": 6}), "A", "B").after(Advance(4))
    assert (none.phase, none.cards) == ("attack", {"red": Hand(unknown=6)})


def test_a_conquest_draws_one_card_at_the_end() -> None:
    turn = make_line_turn("r9 b1 g1 g5", cards={}, fortify="none")
    for start, to in (("A", "B"), ("B", "C")):
        turn = win_battle(turn, start, to)
        turn = turn.after(turn.actions()[-1])
    assert turn.after(EndPhase()).cards == {"red": Hand(unknown=1)}
    assert make_line_turn("r9 b1", cards={}, fortify="none").after(EndPhase()).cards == {}
    full = make_line_turn("r9 b1 g1", cards={"green": 44}, fortify="none", cards_due=1)
    assert full.after(EndPhase()).cards == {"green": Hand(unknown=44)}


def test_the_last_opponent_ends_the_game() -> None:
    turn = win_battle(make_line_turn("r9 b1", cards={}), "A", "B").after(Advance(3))
    assert (turn.phase, turn.survivors) == ("over", ("red",))
    with pytest.raises(IactaError, match="the game is over"):
        turn.next()


def test_the_next_player_alive_gets_the_usual_armies() -> None:
    turn = make_line_turn("r1 n1 g1 g1 b1", players=("red", "blue", "green"), phase="over")
    assert [turn.player, turn.next().player, turn.next().place] == ["red", "blue", 3]
    out = make_line_turn("r1 n1 g1 g1 r1", players=("red", "blue", "green"), phase="over", stay="A")
    assert (out.next().player, out.next().stay) == ("green", ())
    with pytest.raises(IactaError, match="phase must be 'over'"):
        make_line_turn("r1 b1").next()


def test_constraints_do_not_apply_to_the_next_player() -> None:
    over = make_line_turn("r1 b5", keep={"B": 9}, phase="over", cards_due=1, cards={})
    assert over.actions()[:] == []
    after = over.next().after(Place("B", 3))
    assert (after.keep, after.cards_due) == ({}, False)
    assert after.actions()[0] == Attack("B", "A", 3)
    assert after.after(EndPhase()).cards == {}


def test_the_rules_set_the_territories_for_an_army() -> None:
    held = dict.fromkeys(classic_board().territories[:9], ("red", 1))
    position = Position(classic_board(), "red", held, others=("blue", 1))
    bonus = Turn(position).new_armies() - 3
    house = Rules(territories_per_army=4, least_new_armies=1)
    assert Turn(position, "war").new_armies() == 4 + bonus
    assert Turn(position, house).new_armies() == 2 + bonus
    others = sum(each.bonus for each in classic_board().continents[1:])  # blue owns these
    assert Turn(position, "war", phase="over").next().place == 33 // 2 + others
    assert Turn(position, house, phase="over").next().place == 33 // 4 + others


@pytest.mark.parametrize(
    ("territories", "armies"), [(1, 3), (9, 3), (11, 3), (12, 4), (14, 4), (15, 5)]
)
def test_three_territories_bring_an_army_and_continents_their_bonus(
    territories: int, armies: int
) -> None:
    names = [f"T{k}" for k in range(territories + 1)]
    row = Board.from_edges("row", pairwise(names))
    owned = [("red", 1), *[("blue", 1)] * territories]
    over = Turn(Position(row, "red", dict(zip(names, owned, strict=True))), phase="over")
    assert (over.next().player, over.next().place) == ("blue", armies)
    board = classic_board()
    africa = next(each for each in board.continents if each.name == "Africa")
    held = dict.fromkeys(africa.territories, ("red", 1))
    assert Turn(Position(board, "red", held)).new_armies() == 3 + africa.bonus
    bad = Board("bad", ("A", "B"), (("A", "B"),), (Continent("X", -9, ("B",)),))
    poor = Turn(Position(bad, "red", {"A": ("red", 1), "B": ("blue", 1)}), phase="over").next()
    assert (poor.place, poor.phase) == (0, "attack")


def test_a_continent_without_territories_pays_nobody() -> None:
    board = Board("two", ("A", "B"), (("A", "B"),), (Continent("E", 7, ()),))
    turn = Turn(Position(board, "red", {"A": ("red", 1), "B": ("blue", 1)}), phase="over")
    assert (turn.new_armies(), turn.next().place) == (3, 3)
    assert Worth(territories=0.0).worth(turn) == 0.0


def test_an_action_never_changes() -> None:
    for action in (Reveal(), Place("A", 3), Advance(2), Attack("A", "B", 3), EndPhase()):
        with pytest.raises(AttributeError):
            action.armies = 5  # type: ignore[union-attr, misc, unused-ignore] # that is the claim
        assert action in {action}


@pytest.mark.parametrize(
    ("fortify", "reached"), [("connected", "BC"), ("adjacent", "B"), ("none", "")]
)
def test_armies_fortify_as_far_as_the_rule_lets_them(fortify: str, reached: str) -> None:
    turn = make_line_turn("r3 r1 r1 b1 r1", fortify=fortify).after(EndPhase())
    moves = [each for each in turn.actions() if isinstance(each, Fortify)]
    assert [(each.start, each.to) for each in moves] == [("A", to) for to in reached for _ in "12"]
    if moves:
        ended = turn.after(Fortify("A", "B", 2))
        assert (ended.phase, ended.armies) == ("over", (1, 3, 1, 1, 1))
    else:
        assert turn.phase == "over"


def test_armies_that_stay_neither_attack_nor_move_and_keep_holds() -> None:
    turn = make_line_turn("r9 r5 b1", stay="B", keep={"A": 7})
    assert list(turn.actions()) == [EndPhase()]
    assert list_border_odds(turn) == ()
    assert list(turn.after(EndPhase()).actions()) == [
        Fortify("A", "B", 1),
        Fortify("A", "B", 2),
        EndPhase(),
    ]


def test_odds_exclude_armies_that_must_be_kept() -> None:
    (odds,) = list_border_odds(make_line_turn("r9 b4", keep={"A": 3}))
    assert odds[:4] == ("A", "B", 9, 4)
    assert odds.win_probability == pytest.approx(win_probability(7, 4))


def test_defenders_who_see_the_dice_reply() -> None:
    turn = make_line_turn("r5 b3", rules=Rules(mode=DefenderSeesFirst()))
    throws = turn.results(Attack("A", "B", 3))
    assert all(isinstance(throw, game.Throw) for throw in throws)
    answering = turn.after(Attack("A", "B", 3), list(throws)[-1])
    assert (answering.phase, answering.to_act, answering.player) == ("defend", "blue", "red")
    assert answering.careful_defence() in answering.actions()
    fought = answering.after(game.Defend(2), (1, 1))
    assert (fought.phase, fought.armies[:2]) == ("attack", (4, 2))
    again = Turn.from_code(answering.to_code(), answering.board)
    assert again == answering


@pytest.mark.parametrize(
    "options", [{"rules": Rules(mode=BalancedBlitz())}, {"whole_battles": True}], ids=str
)
def test_a_whole_battle_is_one_attack(options: dict[str, object]) -> None:
    turn = make_line_turn("r9 b7", **options)
    attack, stop = turn.actions()
    assert isinstance(attack, Attack)
    assert (attack, stop) == (Attack("A", "B", 3), EndPhase())
    found = turn.results(attack)
    (odds,) = list_border_odds(turn)
    assert found.prob(lambda losses: losses[1] == 7) == pytest.approx(odds.win_probability)
    lost = next(losses for losses in turn.list_losses(attack) if losses.defenders < 7)
    assert list(turn.after(attack, lost).actions()) == [EndPhase()]


def test_armies_can_grow() -> None:
    turn = make_line_turn("r4 b2", rules=Rules(mode=ArmiesGrow()))
    grown = turn.after(Attack("A", "B", 3), (-1, -1))
    assert grown.armies[:2] == (5, 3)
    assert turn.results(Attack("A", "B", 3))[Losses(-1, -1)] == pytest.approx(1 / 7776)


def test_a_territory_can_be_defended_by_its_own_rules() -> None:
    turn = make_line_turn("b2 r4 b2", rules_of={"c": "capital"})
    assert [odds.win_probability for odds in list_border_odds(turn)] == pytest.approx(
        [win_probability(4, 2), win_probability(4, 2, "capital")]
    )
    assert turn.rules_of == {"C": find_rules("capital")}


def test_a_battle_may_go_on_for_any_number_of_rolls() -> None:
    turn = make_line_turn("r9 b4 b1")
    one_by_one = turn.after(Attack("A", "B", 3), (1, 1)).after(Attack("A", "B", 3), (0, 2))
    assert turn.apply_battle("A", "B", 8, 1) == one_by_one
    assert turn.apply_battle("A", "B", 6, 0).actions()[0] == Advance(3)
    whole = Turn(turn.position, whole_battles=True)
    assert whole.apply_battle("A", "B", 6, 0).phase == "advance"
    for left, defenders, sentence in (
        (9, 4, "one side must lose an army, got all 9 left on A and all 4 on B"),
        (1, 0, "armies left on A must be more than 1 when B is taken, got 1"),
        (10, 2, "armies left on A must be a whole number from 1 to 9"),
        (5, 5, "armies left on B must be a whole number from 0 to 4"),
    ):
        with pytest.raises(IactaError, match=sentence):
            turn.apply_battle("A", "B", left, defenders)
    with pytest.raises(IactaError, match="A cannot attack C: no border leads there"):
        turn.apply_battle("A", "C", 5, 0)
    with pytest.raises(IactaError, match="result must be one of"):
        whole.apply_battle("A", "B", 5, 2)


def test_a_roll_states_its_dice() -> None:
    turn = make_line_turn("r5 b2 b1")
    assert turn.list_dice("A", "B", 0, 2) == turn.list_dice("A", "B", 1, 1) == (3, 2)
    assert turn.list_dice("A", "B", 1, 0) == (1,)
    assert turn.list_dice("A", "B", 2, 2) == ()
    with_two = turn.apply_battle("A", "B", 5, 0, 2)
    assert with_two == turn.after(Attack("A", "B", 2), (0, 2))
    assert with_two.actions()[0] == Advance(2)
    for left, defenders, dice, sentence in (
        (5, 1, 3, "dice must be 1 where A loses 0 and B 1, got 3"),
        (5, 0, 1, "dice must be 2 or 3 where A loses 0 and B 2, got 1"),
        (4, 0, 3, "dice must be left out, as for several rolls, where A loses 1 and B 2, got 3"),
        (5, 0, 4, "dice must be a whole number from 1 to 3, got 4"),
    ):
        with pytest.raises(IactaError, match=sentence):
            turn.apply_battle("A", "B", left, defenders, dice)


def test_a_player_without_a_garrison_may_lose_all_armies() -> None:
    position = Position.from_code("1;classic;red;Peru:red:1,Brazil:blue:1")
    start = Turn(position, Rules(garrison=0))
    lost = start.after(start.actions()[0], (1, 0))
    assert lost.position.player == "red"
    assert [each.owner for each in lost.position.holdings if each.owner] == ["red", "blue"]
    assert list(lost.actions()) == [EndPhase()]
    assert Turn.from_code(lost.to_code()) == lost
