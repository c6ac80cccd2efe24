"""Moments: files support all options of codes, and invalid files raise one-sentence errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from iacta import Board, IactaError, Turn, read_position
from iacta.board.built_in import BUILT_IN_BOARDS
from iacta.board.files import BoardFile
from iacta.game.moment import parse_moment, read_board_or_moment, read_moment
from tests.cases import for_each
from tests.tables import table

HELD = {"Peru": ("red", 6), "Brazil": ("blue", 2), "Argentina": ("blue", 1)}
TABLE: dict[str, Any] = {
    "player": "red",
    "territories": {name: {"owner": o, "armies": n} for name, (o, n) in HELD.items()},
}
START = "1;classic;red;Peru:red:6,Brazil:blue:2,Argentina:blue:1"


@for_each(*table(__file__, "keys_of_codes"))
def test_a_file_has_the_keys_of_a_code(keys: dict[str, Any], code: str | None) -> None:
    turn = read_moment({**TABLE, **keys})
    if code is not None:
        assert turn == Turn.from_code(f"{START};{code}")
    assert Turn.from_code(turn.to_code()) == turn


def test_a_turn_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "turn.toml"
    for code in (
        f"{START};place;rules=capital;place=4;cards=red:2;keep=Peru:2;fortify=adjacent;whole=1",
        "1;classic;red;Peru:red:2,Brazil:red:5,Argentina:blue:2;advance;attack=Peru:Brazil:3",
    ):
        turn = Turn.from_code(code)
        file.write_text(turn.to_toml(), encoding="utf-8")
        assert read_moment(file) == read_board_or_moment(str(file)) == turn


@for_each(*table(__file__, "wrong_keys"))
def test_a_wrong_key_is_refused_in_one_sentence_with_its_line(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    file = tmp_path / "turn.json"
    rows = json.dumps({**TABLE, **keys}, indent=1).splitlines()
    file.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(IactaError) as caught:
        read_moment(file)
    assert message in str(caught.value)
    line = next(n for n, row in enumerate(rows, 1) if row.startswith(f' "{next(iter(keys))}":'))
    assert str(caught.value).startswith(f"position file '{file}': line {line}: ")
    assert "\n" not in str(caught.value)


def test_the_board_in_a_text_replaces_a_fallback_board() -> None:
    own = Board("own", ("A", "B"), (("A", "B"), ("B", "A")))
    other = Board("other", ("A", "B"), (("A", "B"),))
    held = {"A": {"owner": "red", "armies": 3}, "B": {"owner": "blue", "armies": 1}}
    text = json.dumps({"board": own.to_record(), "player": "red", "territories": held})
    assert parse_moment(text, other, is_fallback=True).board == own
    with pytest.raises(IactaError, match="the position has the board 'own', got 'other'"):
        parse_moment(text, other)
    without = json.dumps({"player": "red", "territories": held})
    assert parse_moment(without, other, is_fallback=True).board == other


def test_a_built_in_board_is_read_by_its_name() -> None:
    for name, make_board in BUILT_IN_BOARDS.items():
        found = read_board_or_moment(name.upper())
        assert isinstance(found, BoardFile)
        assert found.board == make_board()
        for read in (read_moment, read_position):
            with pytest.raises(IactaError, match=f"file or a code, got the board '{name}'"):
                read(name)
