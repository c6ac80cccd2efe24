"""New games of the board page: wishes, and the turn that is dealt."""

import re
from collections import Counter
from typing import Any

import pytest

from iacta import Capitals, IactaError, IllegalError, Missions, Turn, classic_board
from iacta.board.files import read_board
from iacta.game import EDITIONS, find_edition
from iacta.rules.variants import find_rules
from iacta.web.new_game import SETS, deal_game
from iacta.web.turns import read_setup
from iacta.web.ways_to_win import WAYS
from tests.cases import for_each
from tests.web.server import Server

BOARD = classic_board()
NAMES = ["red", "blue", "green"]
WISHES: dict[str, Any] = {"players": NAMES, "seats": ["person", "usual", "simple"]}


NOBODY, LATE, TOURNAMENT = "ties cost nobody", "second die from three", "risiko tournament"
HOUSE_RULES = (NOBODY, LATE, TOURNAMENT, "fourth die", "fumble")


def deal(**wishes: Any) -> Turn:
    found = deal_game({**WISHES, **wishes})
    assert found["ask"] is None
    return read_setup(found["setup"], BOARD)


@for_each("sets", [*SETS])
def test_a_game_has_the_cards_that_were_wished(sets: str) -> None:
    turn = deal(sets=sets, rules="risiko")
    assert (turn.cards is None, turn.trade.is_fixed) == (sets == "none", sets == "fixed")
    assert turn.rules.defence.faces == (6, 6, 6)


@for_each("by", [*WAYS])
def test_a_game_is_won_in_the_way_that_was_wished(by: str) -> None:
    turn = deal(victory={"by": by, "share": 60})
    assert turn.victory.word == by
    assert turn.winner is None
    assert turn.players == tuple(NAMES)


@for_each("name", [edition.name for edition in EDITIONS])
def test_a_game_of_an_edition_is_dealt_and_dealt_again(name: str) -> None:
    edition = find_edition(name)
    board = read_board(edition.board)
    number = max(edition.fewest, 2)
    wishes: dict[str, Any] = {
        "players": [*NAMES, "yellow"][:number],
        "seats": ["person", "usual", "simple", "strong"][:number],
        "board": board.to_record(),
        "edition": name,
    }
    found = deal_game(wishes)
    turn = read_setup(found["setup"], board)
    assert turn.rules == find_rules(edition.rules)
    assert turn.trade == edition.trade
    again = {key: wishes[key] for key in ("seats", "board")}
    repeated = read_setup(deal_game({**again, "again": found["setup"]})["setup"], board)
    assert sum(repeated.armies) == sum(turn.armies)
    assert repeated.trade == turn.trade
    assert repeated.victory.word == turn.victory.word
    assert {*repeated.owners} == {*turn.owners}
    if isinstance(turn.victory, Missions):
        assert isinstance(repeated.victory, Missions)
        assert repeated.victory.cards == turn.victory.cards
        assert repeated.victory.common == turn.victory.common


@for_each(
    "wishes, words",
    [
        ({"edition": "chess"}, "edition must be one of risk, secret mission"),
        ({"edition": "teg"}, "board must be 'teg' for teg, got 'classic'"),
        ({"edition": "two players"}, "'two players' is a game for 2 players, got 3"),
        ({"edition": "two players", "deal": "pick"}, "deal must be random for two players"),
        ({"edition": 3}, "edition must be text, got 3"),
    ],
)
def test_wrong_editions_are_refused(wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(IactaError, match=words):
        deal_game({**WISHES, **wishes})


def test_a_share_that_the_deal_gives_to_a_player_is_refused() -> None:
    words = "victory must leave the game open after the deal, but red has already won: they own 21"
    with pytest.raises(IllegalError, match=words):
        deal_game(
            {
                "players": NAMES[:2],
                "seats": ["person", "usual"],
                "victory": {"by": "share", "share": 50},
            }
        )


def test_capitals_defend_with_one_more_die_if_wished() -> None:
    turn = deal(victory={"by": "capitals", "dice": True})
    assert isinstance(turn.victory, Capitals)
    assert {*turn.rules_of} == {*turn.victory.capitals.values()}
    assert deal(victory={"by": "capitals", "dice": False}).rules_of == {}


def test_missions_are_dealt_chosen_secret_or_open() -> None:
    found = deal(victory={"by": "missions"}).victory
    assert isinstance(found, Missions)
    assert found.secret == tuple(NAMES)
    found = deal(victory={"by": "missions", "secret": False}).victory
    assert isinstance(found, Missions)
    assert found.secret == ()
    missions = {"red": "Asia, Africa", "blue": ""}
    found = deal(victory={"by": "missions", "missions": missions}).victory
    assert isinstance(found, Missions)
    assert found.secret == ("red", "blue", "green")
    assert found.format_texts()[1]["red"] == "secret Asia, Africa"


def test_persons_pick_territories_in_turn_with_computers() -> None:
    wishes = {**WISHES, "deal": "pick"}
    found = deal_game(wishes)
    assert found["ask"]["sentence"] == "Red picks 14 more territories: tap one."
    found = deal_game({**wishes, "order": [7]})
    assert found["order"][0] == 7
    assert len(found["order"]) == 3
    assert found["setup"]["owners"][7] == 0
    assert len(found["ask"]["territories"]) == 39
    whole = [t for t in range(42) if t not in found["order"]]
    end = deal(**{**wishes, "order": [*found["order"], *whole]})
    assert end.owners[7] == "red"


def test_persons_choose_their_capitals_among_their_territories() -> None:
    victory = {"by": "capitals", "choose": True}
    wishes = {**WISHES, "seats": ["person", "usual", "person"], "victory": victory}
    found = deal_game(wishes)
    assert found["ask"]["sentence"] == "Red chooses a capital: tap one of their territories."
    first, order = found["ask"]["territories"][3], found["order"]
    found = deal_game({**wishes, "order": order, "capitals": [first]})
    assert found["ask"]["player"] == 2
    assert found["ask"]["capitals"] == [{"territory": first, "player": "red", "dice": 3}]
    last = found["ask"]["territories"][0]
    turn = deal(**wishes, order=order, capitals=[first, last])
    assert isinstance(turn.victory, Capitals)
    assert turn.victory.capitals["red"] == BOARD.territories[first]
    assert turn.victory.capitals["green"] == BOARD.territories[last]
    assert turn.owners[first] == "red"


@for_each("by", [*WAYS])
def test_a_rematch_has_the_wishes_of_the_game_before(by: str) -> None:
    wishes = {**WISHES, "sets": "fixed", "rules": "risiko", "victory": {"by": by, "share": 60}}
    before = deal_game(wishes)["setup"]
    found = deal_game({"seats": WISHES["seats"], "again": before})["setup"]
    turns = [read_setup(setup, BOARD) for setup in (before, found)]
    assert turns[0].owners != turns[1].owners
    kept = [
        (turn.players, turn.rules, turn.trade, turn.victory.word, bool(turn.rules_of))
        for turn in turns
    ]
    assert kept[0] == kept[1]


@for_each(
    "wishes, words",
    [
        ({"seats": ["person"]}, "seats must be given for 3 players, got 1"),
        ({"seats": ["person", "hal", "usual"]}, "seats must be of person, .*, got 'hal'"),
        ({"rules": "five ones"}, "five ones|grow|gain"),
        ({"players": ["red", "Red", "blue"]}, "different names"),
        ({"order": [1, 1], "deal": "pick"}, "order must name each territory once"),
    ],
)
def test_impossible_wishes_are_refused(wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(IllegalError, match=words):
        deal_game({**WISHES, **wishes})


@for_each("name", HOUSE_RULES)
def test_games_are_dealt_under_house_rules_for_rolls(name: str) -> None:
    assert deal(rules=name).rules == find_rules(name)


def test_the_board_page_offers_the_rules_of_turns(server: Server) -> None:
    offered = re.findall(r'<option value="([^"]*)">', server.ask("/map").body.decode())
    assert {*HOUSE_RULES, "classic", "five ones"} <= {*offered}
    assert not {"ties cost both", "attack die again", "missile", "defence missile"} & {*offered}


def test_cards_picture_the_territories_of_the_board() -> None:
    symbols = deal().symbols
    assert Counter(symbols.values()) == {"infantry": 14, "cavalry": 14, "artillery": 14}
    assert symbols != deal().symbols
    assert not deal(sets="none").symbols


def test_an_eliminated_player_plays_a_rematch() -> None:
    setup = deal_game({**WISHES, "sets": "none"})["setup"]
    later = {**setup, "owners": [min(owner, 1) for owner in setup["owners"]]}
    found = deal_game({"seats": WISHES["seats"], "again": later})["setup"]
    assert found["players"] == NAMES
    assert {*found["owners"]} == {0, 1, 2}
