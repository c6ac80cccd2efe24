"""Cards that show territories, and games with a neutral player."""

from random import Random

import pytest

from iacta import Hand, IactaError, Turn, classic_board
from iacta.board import Position
from iacta.game import Advance, Attack, EndPhase, Reveal, Trade
from iacta.game.cards import DECK, Sets
from tests.game.positions import PLAYERS, at_random, make_line_turn, skip_to_end

SYMBOLS = {"A": "infantry", "B": "infantry", "C": "cavalry", "D": "artillery"}
EACH = Sets(has_card_per_conquest=True)
THREE = Hand(infantry=3, territories=("A", "B"))


def make_trading_turn(holdings: str, hand: Hand | int, **options: object) -> Turn:
    """Return a turn of red with cards to trade on a line of territories."""
    return make_line_turn(holdings, phase="trade", cards={"red": hand}, symbols=SYMBOLS, **options)


def test_a_pictured_territory_that_its_owner_trades_gets_two_armies_more() -> None:
    turn = make_trading_turn("r3 b1", THREE)
    assert list(turn.actions()) == [Trade(THREE, "A"), EndPhase()]
    after = turn.after(Trade(THREE, "A"))
    assert (after.armies[0], after.place, after.pictured) == (5, 4, True)
    assert after.cards == {}


def test_a_house_rule_gives_other_armies_for_a_pictured_territory() -> None:
    turn = make_trading_turn("r3 b1", THREE, trade=Sets(pictured=3))
    assert turn.after(Trade(THREE, "A")).armies[0] == 6


def test_a_house_rule_forces_the_trade_at_six_cards() -> None:
    trade = Sets(must_trade=6)
    for number, may_stop in ((5, True), (6, False)):
        turn = make_trading_turn("r3 b1", Hand(infantry=number), trade=trade)
        assert (EndPhase() in turn.actions()) == may_stop
    turn = make_trading_turn("r3 b1", Hand(infantry=6), trade=trade)
    once = turn.after(Trade(Hand(infantry=3)))
    assert (EndPhase() in once.actions(), once.trade.must_trade) == (True, 6)
    for wrong in (4, 10):
        with pytest.raises(
            IactaError, match=f"must_trade must be a whole number from 5 to 9, got {wrong}"
        ):
            Sets(must_trade=wrong)


@pytest.mark.parametrize(("trade", "cards"), [(Sets(), 1), (EACH, 2)])
def test_a_house_rule_brings_a_card_for_each_conquest(trade: Sets, cards: int) -> None:
    turn = make_line_turn("r9 b1 b1 g1", cards={}, trade=trade, fortify="none")
    for _ in range(2):
        attack = next(each for each in turn.actions() if isinstance(each, Attack))
        turn = turn.after(attack, max(turn.results(attack), key=lambda lost: lost[1]))
        turn = turn.after(max(turn.actions(), key=lambda each: getattr(each, "armies", 0)))
    assert turn.after(EndPhase()).hand_of("red").number == cards


def test_no_more_cards_are_drawn_than_the_deck_has_left() -> None:
    turn = make_line_turn("r9 b1 g1", cards={"green": 43}, trade=EACH, cards_due=3, fortify="none")
    assert turn.after(EndPhase()).hand_of("red").number == 1


def test_the_player_chooses_which_territory_gets_the_armies() -> None:
    turn = make_trading_turn("r3 r2 b1", THREE)
    assert list(turn.actions())[:2] == [Trade(THREE, "A"), Trade(THREE, "B")]


def test_two_extra_armies_come_once_per_turn() -> None:
    hand = THREE + Hand(artillery=3, territories=("D",))
    turn = make_trading_turn("r3 b1 g1 r1", hand)
    once = turn.after(Trade(THREE, "A"))
    rest = Hand(artillery=3, territories=("D",))
    assert Trade(rest) in once.actions()
    assert Trade(rest, "D") not in once.actions()
    assert not make_line_turn("r3 b1", phase="over", pictured=True).next().pictured


def test_territories_of_others_bring_nothing_more() -> None:
    hand = Hand(infantry=3, territories=("B",))
    assert list(make_trading_turn("r3 b1", hand).actions()) == [Trade(hand), EndPhase()]


def test_sets_differ_by_the_territories_on_them() -> None:
    turn = make_trading_turn("r3 r1 b1", Hand(infantry=4, territories=("A",)))
    named = Hand(infantry=3, territories=("A",))
    assert list(turn.actions())[:2] == [Trade(Hand(infantry=3)), Trade(named, "A")]


def test_unknown_cards_are_revealed_one_by_one_and_equally_likely() -> None:
    turn = make_trading_turn("r3 b1", 3)
    results = turn.results(Reveal())
    assert results[Hand(infantry=1, territories=("A",))] * 44 == 1
    assert results[Hand(infantry=1)] * 44 == DECK.infantry - 2
    assert results[Hand(jokers=1)] * 44 == DECK.jokers
    shown = turn.after(Reveal(), Hand(infantry=1, territories=("A",)))
    assert shown.cards == {"red": Hand(infantry=1, unknown=2, territories=("A",))}
    assert results.keys() - shown.results(Reveal()).keys() == {Hand(infantry=1, territories=("A",))}


def test_codes_contain_symbols_and_older_codes_stay_readable() -> None:
    hand = Hand(infantry=2, cavalry=1, jokers=1, unknown=1, territories=("B", "C"))
    turn = make_trading_turn("r3 b1", hand, pictured=True)
    code = turn.to_code()
    assert code.endswith(";symbols=iica-;named=B:red,C:red;pictured=1")
    assert Turn.from_code(code, turn.board) == turn
    plain = make_line_turn("r3 b1", phase="trade", cards={"red": Hand(infantry=3)})
    assert "symbols" not in plain.to_code()
    assert Turn.from_code(plain.to_code(), plain.board) == plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbols": {"A": "dragoons"}}, "symbol of A must be"),
        ({"symbols": {"A": "cavalry"}, "cards": {"red": THREE}}, "territories that have a symbol"),
        (
            {"symbols": SYMBOLS, "cards": {"red": THREE, "blue": THREE}},
            "each territory at most",
        ),
        ({"symbols": SYMBOLS, "cards": {"red": Hand(territories=("A",))}}, "include 1 to 13"),
        ({"symbols": SYMBOLS, "cards": {"red": Hand(cavalry=14)}}, "0 to 13 cavalry cards"),
        ({"symbols": "cavalry"}, "symbols must be a mapping"),
    ],
)
def test_impossible_cards_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(IactaError, match=message):
        make_line_turn("r3 b1 g1", **options)


def test_more_symbols_than_cards_are_refused() -> None:
    board = classic_board()
    position = Position(board, "red", {"Peru": ("red", 3)}, others=("blue", 1))
    with pytest.raises(IactaError, match="infantry at most 14 times, got 42"):
        Turn(position, symbols=dict.fromkeys(board.territories, "infantry"))


@pytest.mark.parametrize("text", ["symbols=iic", "symbols=xxxxx", "named=A:red"])
def test_damaged_codes_are_refused(text: str) -> None:
    code = f"{make_line_turn('r3 b1', cards={}).to_code()};{text}"
    with pytest.raises(IactaError):
        Turn.from_code(code, make_line_turn("r3 b1").board)


def test_games_with_pictured_cards_keep_the_deck_and_their_codes() -> None:
    board = classic_board()
    kinds = ("infantry", "cavalry", "artillery")
    symbols = {name: kinds[t % 3] for t, name in enumerate(board.territories)}
    rng = Random(5)  # noqa: S311 # plays games, no secrets
    holdings = {name: (PLAYERS[t % 3], 1 + t % 5) for t, name in enumerate(board.territories)}
    turn = Turn(
        Position(board, "red", holdings), phase="over", cards={"red": 4, "blue": 3}, symbols=symbols
    )
    extra = 0
    for _ in range(60):
        turn = turn.next()
        while turn.phase != "over":
            action = at_random(turn, rng)
            turn = turn.after(action, turn.results(action).sample(1, rng.randrange(10**6))[0])
            extra += isinstance(action, Trade) and action.territory != ""
        assert turn.cards is not None
        named = [t for hand in turn.cards.values() for t in hand.territories]
        assert len(named) == len({*named})
        assert Turn.from_code(turn.to_code()) == turn
        if turn.winner is not None:
            break
    assert extra > 3


def test_the_game_for_two_is_won_without_beating_the_neutral_player() -> None:
    turn = make_line_turn("r9 b1 n2", players=("red", "blue"))
    taken = turn.after(Attack("A", "B", 3), (0, 1))
    assert taken.winner == "red"
    assert taken.after(Advance(8)).phase == "over"
    assert turn.winner is None


def test_a_neutral_player_never_has_a_turn_and_hands_no_cards_over() -> None:
    turn = make_line_turn("r9 n1 b2", players=("red", "blue"), cards={"red": 4, "blue": 2})
    ended = turn.after(Attack("A", "B", 3), (0, 1)).after(Advance(8))
    assert ended.phase == "attack"
    assert ended.cards == turn.cards
    over = make_line_turn("r3 n1 b2", players=("red", "blue"), phase="over")
    assert over.next().player == "blue"
    assert skip_to_end(over.next()).next().player == "red"


def test_the_order_of_play_skips_eliminated_players() -> None:
    over = make_line_turn("r3 g1", players=("red", "blue", "green"), phase="over")
    assert over.survivors == ("red", "green")
    assert over.next().player == "green"
    assert skip_to_end(over.next()).next().player == "red"
