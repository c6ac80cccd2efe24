"""A turn is a setting and a state: changes are typed and checked, pickles small, boards shared."""

import pickle
from copy import copy, deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from iacta import (
    Board,
    Hand,
    IactaError,
    IllegalError,
    Missions,
    Position,
    Rules,
    Share,
    Turn,
    classic_board,
)
from iacta.game import Advance, Attack, Place, Survivor, codes
from iacta.game.moment import read_moment
from iacta.rules.modes import DefenderSeesFirst
from tests.game.positions import classic_turn, make_line_turn

STARTS: dict[str, dict[str, Any]] = {
    "trade": {"phase": "trade", "place": 2, "cards": {"red": 5, "blue": 1}},
    "place": {"place": 4, "keep": {"A": 3}, "stay": ["B"]},
    "attack": {"fortify": "adjacent", "rules_of": {"C": "capital"}, "cards_due": 1},
    "over": {"phase": "over", "whole_battles": True},
}
CHANGES: dict[str, dict[str, Any]] = {
    "rules": {"rules": Rules(mode=DefenderSeesFirst())},
    "a larger garrison": {"rules": Rules(garrison=3)},
    "rules of territories": {"rules_of": {"D": "wall"}},
    "keep": {"keep": {"b": 2, "A": 1}},
    "stay": {"stay": ["a"]},
    "fortify": {"fortify": "none"},
    "whole battles": {"whole_battles": True},
    "victory": {"victory": Share("60%")},
    "everything": {
        "rules": "capital",
        "rules_of": {},
        "keep": {},
        "stay": (),
        "fortify": "connected",
        "whole_battles": False,
        "victory": Survivor(),
    },
}


@pytest.mark.parametrize(("start", "change"), [*product(STARTS, CHANGES)])
def test_a_changed_turn_equals_a_turn_made_with_the_new_options(start: str, change: str) -> None:
    holdings, options, new = "r5 r3 b2 g1", STARTS[start], CHANGES[change]
    changed = make_line_turn(holdings, **options).with_options(**new)
    assert changed == make_line_turn(holdings, **{**options, **new})
    assert list(changed.actions()) == list(
        Turn.from_code(changed.to_code(), changed.board).actions()
    )


def test_new_armies_can_be_changed_before_and_between_attacks() -> None:
    turn = make_line_turn("r3 r1 r2 b1", place=5).after(Place("A", 2))
    assert turn.with_options(place=9).actions()[0] == Place("B", 1)  # A already has its armies
    assert turn.with_options(place=0) == turn.after(Place("B", 3)).replace_armies(
        turn.owners, turn.armies
    )
    assert make_line_turn("r3 b1").with_options(place=2).phase == "place"
    with pytest.raises(IllegalError, match="new armies come before or between attacks"):
        make_line_turn("r3 b1", phase="over").with_options(place=2)


def test_a_setting_that_contradicts_the_state_is_refused() -> None:
    empty = make_line_turn("r3 b1 g1", rules=Rules(garrison=0)).after(Attack("A", "B", 3), (0, 1))
    empty = empty.after(Advance(3))
    with pytest.raises(IllegalError, match="A must have at least 1 army, got 0"):
        empty.with_options(rules="classic")
    sees_first = make_line_turn("r9 b2", rules=Rules(mode=DefenderSeesFirst()))
    attack = Attack("A", "B", 3)
    defence = sees_first.after(attack, next(iter(sees_first.results(attack))))
    assert defence.with_options(keep={"A": 2}).throw == defence.throw
    with pytest.raises(IllegalError, match="before the defender has chosen dice"):
        defence.with_options(rules="classic")
    won = make_line_turn("r9 b1 g1").after(Attack("A", "B", 3), (0, 1))
    assert won.with_options(keep={"A": 4}).actions() != won.actions()
    with pytest.raises(IllegalError, match="attack must be a conquest"):
        won.with_options(keep={"A": 9})


def test_dataclasses_replace_names_the_methods_that_change_a_turn() -> None:
    with pytest.raises(TypeError, match="with_options for rules"):
        replace(make_line_turn("r3 b1"), place=4)  # type: ignore[call-arg] # that is the claim


def test_actions_keep_the_setting_and_the_next_turn_frees_the_armies() -> None:
    turn = make_line_turn("r9 b1 g1", keep={"A": 2}, stay="A", fortify="none")
    won = turn.after(Attack("A", "B", 3), (0, 1)) if turn.actions()[:-1] else turn
    over = won.after(won.actions()[-1])
    assert over.setting is turn.setting
    following = over.next()
    assert (following.keep, following.stay, following.fortify) == ({}, (), "none")
    free = make_line_turn("r9 b1 g1", phase="over")
    assert free.next().setting is free.setting


def test_no_code_is_made_to_change_a_turn_or_to_read_and_write_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a code was made")

    turn = make_line_turn("r5 b2 g1", place=3, cards={"red": 2})
    for name in ("write_code", "read_code"):
        monkeypatch.setattr(codes, name, refuse)
    with pytest.raises(AssertionError):
        turn.to_code()
    turn.with_options(rules="capital", victory=Share("70%"))
    assert "place = 3" in turn.to_toml()
    table = {"player": "red", "territories": {"Peru": {"owner": "red", "armies": 3}}, "place": 5}
    assert read_moment(table).place == 5


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_turn_has_no_caches_and_names_the_classic_board(protocol: int) -> None:
    turn = classic_turn(classic_board(), 3)
    fresh = len(pickle.dumps(turn, protocol))
    (
        turn.setting.kernels,
        turn.setting.borders,
        turn.setting.garrisons,
        turn.actions(),
    )  # caches them
    pickled = pickle.dumps(turn, protocol)
    again = pickle.loads(pickled)  # noqa: S301 # our own bytes
    assert again == turn
    assert again.board is classic_board()
    assert again.actions()[0] == turn.actions()[0]
    assert len(pickled) == fresh < 1500 + 1000 * (protocol < 2)


def test_other_boards_are_pickled_whole() -> None:
    renamed = replace(classic_board(), name="other")
    changed = replace(classic_board(), continents=())
    for board in (renamed, changed):
        assert pickle.loads(pickle.dumps(board)) == board  # noqa: S301 # our own bytes


def test_copies_share_the_board() -> None:
    turn = classic_turn(classic_board(), 3)
    assert deepcopy(turn) == copy(turn) == turn
    assert deepcopy(turn).board is deepcopy(turn.board) is copy(turn.board) is turn.board
    own = Board.from_edges("own", [("A", "B")])
    assert deepcopy({"board": own})["board"] is own


BOARD = classic_board()
START = Position(BOARD, "red", {"Peru": ("red", 6), "Brazil": ("blue", 2)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules", "capitol"),
        ("phase", "sleep"),
        ("place", -1),
        ("cards", {"purple": 1}),
        ("trade", 3),
        ("keep", {"Narnia": 1}),
        ("rules_of", {"Peru": "capitol"}),
        ("stay", "Brazil"),
        ("fortify", "far"),
        ("whole_battles", 1),
        ("players", ["blue"]),
        ("cards_due", "yes"),
        ("symbols", {"Peru": "horse"}),
        ("pictured", 2),
        ("victory", Missions({"red": "eliminate pink", "blue": "hidden"})),
    ],
)
def test_the_error_of_a_wrong_argument_has_its_name(name: str, value: object) -> None:
    with pytest.raises(IactaError) as caught:
        Turn(START, **{name: value})  # type: ignore[arg-type] # that is the claim
    assert caught.value.parameter == name


def test_names_in_codes_may_contain_separators() -> None:
    players = ("big: red", "blue, 2")
    held = {"Peru": (players[0], 6), "Brazil": (players[1], 2)}
    turn = Turn(
        Position(BOARD, players[0], held),
        cards={players[0]: Hand(infantry=1, territories=("North Africa",))},
        symbols={"North Africa": "infantry"},
        victory=Missions({players[0]: "Asia, Africa", players[1]: f"eliminate {players[0]}"}),
    )
    assert Turn.from_code(turn.to_code()) == turn
