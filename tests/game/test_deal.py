"""Deals of the territories, armies and missions of a game."""

from collections import Counter

import pytest

from iacta import Capitals, IactaError, Missions, Turn, classic_board, deal
from iacta.game import Hidden
from iacta.game.deal import DEALT_VICTORIES
from tests.cases import for_each

BOARD = classic_board()
NAMES = ("red", "blue", "green", "black", "white", "pink")


def count_armies(turn: Turn, player: str) -> int:
    """Return the number of a player's armies on the map."""
    held = zip(turn.owners, turn.armies, strict=True)
    return sum(armies for owner, armies in held if owner == player)


@for_each("number, armies", [(2, 40), (3, 35), (4, 30), (5, 25), (6, 20)])
def test_each_player_gets_the_armies_of_the_box_and_an_equal_share_of_the_map(
    number: int, armies: int
) -> None:
    turn = deal(BOARD, NAMES[:number], seed=7)
    assert {count_armies(turn, name) for name in NAMES[:number]} == {armies}
    lands = Counter(turn.owners)
    assert {*lands} == {*NAMES[:number]}
    assert max(lands.values()) - min(lands.values()) <= 1
    assert min(turn.armies) == 1


def test_the_first_player_places_their_new_armies_first() -> None:
    turn = deal(BOARD, NAMES[:4], seed=2)
    assert (turn.player, turn.phase, turn.place) == ("red", "place", turn.new_armies())
    assert turn.players == NAMES[:4]
    assert turn.cards == {}
    assert deal(BOARD, NAMES[:4], seed=2, cards=False).cards is None


def test_a_seed_repeats_a_deal() -> None:
    codes = {deal(BOARD, NAMES[:3], seed=seed).to_code() for seed in (1, 1, 2, 3)}
    assert len(codes) == 3


def test_territories_are_dealt_uniformly() -> None:
    first = Counter(deal(BOARD, NAMES[:3], seed=seed).owners[0] for seed in range(300))
    assert min(first.values()) > 70  # 100 expected, standard deviation 8


@for_each("seed", range(5))
def test_each_player_starts_with_a_guarded_capital(seed: int) -> None:
    turn = deal(BOARD, NAMES[:4], seed=seed, victory="capitals")
    assert isinstance(turn.victory, Capitals)
    for name, capital in turn.victory.capitals.items():
        assert turn.owner_of(capital) == name
        assert turn.armies_on(capital) >= 1 + (30 - 11) * 2 // 5


def test_capitals_that_are_given_go_to_their_players() -> None:
    capitals = {"Green": "siam", "red": "Peru", "blue": "Iceland"}
    for seed in range(10):
        turn = deal(BOARD, NAMES[:3], seed=seed, victory=Capitals(capitals, 2))
        assert [turn.owner_of(each) for each in capitals.values()] == ["green", "red", "blue"]


def test_dealt_missions_are_secret_and_open_missions_stay_open() -> None:
    turn = deal(BOARD, NAMES[:3], seed=1, victory="missions")
    assert isinstance(turn.victory, Missions)
    assert turn.victory.secret == NAMES[:3]
    assert Hidden() not in turn.victory.missions.values()
    known = Missions({"red": "Asia, Africa", "blue": "hidden"})
    mixed = deal(BOARD, NAMES[:2], seed=1, victory=known).victory
    assert isinstance(mixed, Missions)
    assert mixed.secret == ("blue",)


@for_each(
    "options, words",
    [
        ({"players": ["red"]}, "players must be from 2 to 6 different names, got ['red']"),
        ({"players": ["red", "Red"]}, "players must be from 2 to 6 different names"),
        ({"victory": "most"}, f"one of {', '.join(DEALT_VICTORIES)}, got 'most'"),
        ({"armies": 0}, "armies must be"),
        ({"board": "classic"}, "board must be a Board, got 'classic'"),
        ({"victory": Capitals({"red": "Peru"})}, "capital of blue is missing"),
        ({"victory": Capitals({"red": "Peru", "blue": "Peru"})}, "capital must differ"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(
    options: dict[str, object], words: str
) -> None:
    given = {"board": BOARD, "players": ["red", "blue"], "seed": 1, **options}
    with pytest.raises(IactaError) as raised:
        deal(**given)  # type: ignore[arg-type] # wrong on purpose
    assert words in str(raised.value)
