"""Nuclear sets: each territory that a traded card pictures becomes neutral, with one army.

Sources: the players' guide and two forum answers of Conquer Club (conquerclub.com, topics 138573,
114742 and 141070).
"""

from itertools import permutations
from random import Random

import pytest

from iacta import Hand, IactaError, Turn
from iacta.game import Eliminate, EndPhase, Missions, Trade
from iacta.game.cards import NEUTRAL, Sets
from iacta.game.codes import format_sets, read_sets
from tests.game.positions import make_line_turn

NUCLEAR = Sets(is_nuclear=True)
SYMBOLS = dict.fromkeys("ABCDE", "infantry")
OWNERS = {"r": "red", "b": "blue", "g": "green", "n": NEUTRAL}


def make_turn(holdings: str, territories: str, **options: object) -> Turn:
    """Return a turn of red with a card for each territory; other infantry cards make a set."""
    hand = Hand(infantry=max(3, len(territories)), territories=tuple(territories))
    return make_line_turn(
        holdings,
        phase="trade",
        **{"cards": {"red": hand}, "symbols": SYMBOLS, "trade": NUCLEAR, "place": 3, **options},
    )


def trade(turn: Turn) -> Turn:
    (action,) = (each for each in turn.actions() if isinstance(each, Trade))
    return turn.after(action)


def strike_twin(holdings: str, territories: str) -> list[tuple[str, int]]:
    """Return owners and armies after a nuclear set of red, struck one territory at a time.

    The cards that picture territories of the others strike first. The strikes end when one player
    is left.
    """
    held = [(OWNERS[each[0]], int(each[1:])) for each in holdings.split()]
    places = sorted("ABCDE".index(t) for t in territories)
    for t in sorted(places, key=lambda t: held[t][0] == "red"):
        if held[t][0] == "red" and {owner for owner, _ in held} - {NEUTRAL} == {"red"}:
            break
        held[t] = NEUTRAL, 1
    return held


def test_all_pictured_territories_become_neutral_with_one_army() -> None:
    after = trade(make_turn("r5 b9 g4 r2 b3", "ABE"))
    assert after.owners == (NEUTRAL, NEUTRAL, "green", "red", NEUTRAL)
    assert after.armies == (1, 1, 4, 2, 1)
    assert (after.place, after.phase, after.hand.number) == (3, "place", 0)
    assert NEUTRAL not in after.players


def test_nuclear_sets_bring_no_armies_at_any_time() -> None:
    assert [NUCLEAR.nth(k) for k in range(9)] == [0] * 9
    assert NUCLEAR.next() == NUCLEAR
    turn = make_turn("r5 b9 r4", "AC")
    trades = [each for each in turn.actions() if isinstance(each, Trade)]
    assert [each.territory for each in trades] == [""]


@pytest.mark.parametrize("seed", range(60))
def test_strikes_agree_with_the_twin(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    letters = ["r", "b", *rng.choices("rbgn", k=3)]
    rng.shuffle(letters)
    holdings = " ".join(f"{letter}{rng.randint(1, 9)}" for letter in letters)
    struck = "".join(sorted(rng.sample("ABCDE", rng.randint(1, 3))))
    players = tuple(OWNERS[each] for each in "rbg" if each in letters)
    after = trade(make_turn(holdings, struck, players=players))
    held = list(zip(after.owners, after.armies, strict=True))
    assert held == strike_twin(holdings, struck)
    assert after.winner == (after.survivors[0] if len(after.survivors) == 1 else None)


def test_the_order_of_cards_does_not_matter() -> None:
    turns = (trade(make_turn("r5 b9 g4 r2 b1", "".join(each))) for each in permutations("ABC"))
    assert {turn.owners for turn in turns} == {(NEUTRAL, NEUTRAL, NEUTRAL, "red", "blue")}


def test_a_strike_that_eliminates_a_player_brings_their_cards() -> None:
    cards = {"red": Hand(infantry=3, territories=("B",)), "blue": 2, "green": 1}
    after = trade(make_turn("r5 b9 g4", "B", cards=cards))
    assert after.hand == Hand(unknown=2)
    assert after.survivors == ("red", "green")


def test_a_strike_on_the_last_rival_wins_before_own_territories_are_struck() -> None:
    after = trade(make_turn("r5 b9", "AB"))
    assert (after.winner, after.phase, after.owners[:2]) == ("red", "over", ("red", NEUTRAL))


def test_players_can_eliminate_themselves() -> None:
    turn = make_turn("r5 b9 g4", "A", cards={"red": Hand(infantry=3, territories=("A",))})
    after = trade(turn)
    assert (after.phase, after.place, after.winner) == ("over", 0, None)
    assert after.survivors == ("blue", "green")
    assert after.hand.number == 0
    assert after.next().player == "blue"
    assert Turn.from_code(after.to_code(), after.board) == after


def test_the_last_survivor_wins_if_a_player_eliminates_themselves() -> None:
    after = trade(make_turn("r5 b9", "A"))
    assert (after.winner, after.phase) == ("blue", "over")


def test_an_elimination_by_a_strike_fulfils_the_mission_to_eliminate() -> None:
    missions = Missions(
        {"red": Eliminate("blue"), "blue": "5 territories", "green": Eliminate("blue")}, 5
    )
    after = trade(make_turn("r5 b9 g4 r1", "B", victory=missions))
    assert after.winner == "red"


def test_a_player_without_five_cards_may_keep_a_nuclear_set() -> None:
    assert EndPhase() in make_turn("r5 b9", "A").actions()


def test_codes_name_nuclear_sets() -> None:
    for sets in (NUCLEAR, Sets(is_nuclear=True, must_trade=6, has_card_per_conquest=True)):
        assert read_sets(format_sets(sets)) == sets
    assert format_sets(NUCLEAR) == "nuclear"
    turn = make_turn("r5 b9 g4", "AB")
    assert Turn.from_code(turn.to_code(), turn.board) == turn


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": (10,)}, "must be left out if is_nuclear is True"),
        ({"pictured": 3}, "must be left out if is_nuclear is True"),
        ({"is_fixed": True}, "must be left out if is_nuclear is True"),
        ({"is_nuclear": 2}, "is_nuclear must be True or False"),
    ],
)
def test_contradicting_nuclear_sets_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(IactaError, match=message):
        Sets(**{"is_nuclear": True, **options})  # type: ignore[arg-type] # on purpose


def test_nuclear_sets_need_cards_that_picture_territories() -> None:
    with pytest.raises(IactaError, match="symbols must be given with nuclear sets"):
        make_line_turn("r5 b9", cards={"red": 3}, trade=NUCLEAR)
    with pytest.raises(IactaError, match="players must not include 'neutral'"):
        make_line_turn("r5 n9", cards={}, trade=NUCLEAR, symbols=SYMBOLS)


@pytest.mark.parametrize("text", ["nuclear,10", "nuclear,own3", "10,nuclear", "nuclear,nuclear"])
def test_wrong_texts_of_nuclear_sets_are_refused(text: str) -> None:
    with pytest.raises(IactaError):
        read_sets(text)
