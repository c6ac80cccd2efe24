"""The choice of the way to win of a position on the board page."""

from typing import Any

import pytest

from iacta import IllegalError, Missions, classic_board, deal
from iacta.board.files import read_board
from iacta.web.turns import describe_setup, read_setup
from iacta.web.ways_to_win import choose_way_to_win, list_cards
from tests.cases import for_each

BOARD = classic_board()
SETUP = describe_setup(deal(BOARD, ["red", "blue"], seed=1))
CAPITAL_DICE = {"by": "capitals", "dice": True, "capitals": {"red": "Ural", "blue": "Alberta"}}


@for_each(
    "victory",
    [
        {"by": "survivor"},
        {"by": "share", "share": 55},
        CAPITAL_DICE,
        {**CAPITAL_DICE, "dice": False},
        {"by": "missions", "missions": {"red": "Asia, Africa"}, "secret": True, "common": None},
        {"by": "missions", "missions": {"red": "24 territories"}, "secret": False, "common": 30},
    ],
)
def test_a_way_to_win_is_set_and_described_in_the_same_form(victory: dict[str, Any]) -> None:
    before = choose_way_to_win({"setup": SETUP, "victory": CAPITAL_DICE})
    found = choose_way_to_win({"setup": {**SETUP, "fields": before["fields"]}, "victory": victory})
    assert found["victory"] == victory
    setup = {**SETUP, "fields": found["fields"]}
    assert choose_way_to_win({"setup": setup}) == found
    turn = read_setup(setup, BOARD)
    assert turn.victory.word == victory["by"]
    assert {*turn.rules_of} == ({"Ural", "Alberta"} if victory is CAPITAL_DICE else set())


def test_the_largest_stacks_are_the_first_capitals() -> None:
    found = choose_way_to_win({"setup": SETUP, "victory": {"by": "capitals"}})
    turn = read_setup(SETUP, BOARD)
    for name, capital in found["victory"]["capitals"].items():
        own = [turn.armies_on(place) for place in turn.position.list_territories(name)]
        assert turn.owner_of(capital) == name
        assert turn.armies_on(capital) == max(own)
    assert [mark["dice"] for mark in found["capitals"]] == [3, 3]


@for_each(
    "victory, words",
    [
        ({"by": "luck"}, "by must be 'survivor' or .*got 'luck'"),
        ({"by": "share", "share": 0}, "share must be .* got 0"),
        ({"by": "missions", "missions": {"red": "Atlantis"}}, "continents of the board"),
        (
            {"by": "missions", "common": 43},
            "number of territories must be .* from 1 to 42, got .?43",
        ),
        ({"by": "capitals", "capitals": {"red": "Ural", "blue": "Ural"}}, "capital must differ"),
    ],
)
def test_an_impossible_way_to_win_is_refused(victory: dict[str, Any], words: str) -> None:
    with pytest.raises(IllegalError, match=words):
        choose_way_to_win({"setup": SETUP, "victory": victory})


def test_a_change_of_a_mission_keeps_the_other_rules_of_missions() -> None:
    mission = Missions({"red": "hidden", "blue": "hidden"}, 24, at_end=True, cards=("Asia", "any"))
    setup = describe_setup(deal(BOARD, ["red", "blue"], seed=1, victory=mission))
    wish = {"by": "missions", "missions": {"red": "Asia, Africa"}, "common": 30}
    changed = choose_way_to_win({"setup": setup, "victory": wish})
    victory = read_setup({**setup, "fields": changed["fields"]}, BOARD).victory
    assert isinstance(victory, Missions)
    assert (victory.instead, victory.at_end, victory.common) == (24, True, 30)
    assert victory.format_texts()[1]["cards"] == "Asia/any"


def test_boards_without_the_continents_of_the_game_have_missions_of_their_own() -> None:
    territories = {f"L{k}": [f"L{k + 1}"] if k < 11 else [] for k in range(12)}
    continents = {
        f"C{k}": {"bonus": 2, "territories": [f"L{t}" for t in range(3 * k, 3 * k + 3)]}
        for k in range(4)
    }
    board = read_board({"name": "line", "territories": territories, "continents": continents})
    assert len(list_cards(board, ["red", "blue"])) == 2 + 6 + 2
    turn = deal(
        board,
        ["red", "blue"],
        seed=1,
        victory=Missions({"red": "hidden"}, cards=list_cards(board, ["red", "blue"])),
    )
    assert turn.winner is None
