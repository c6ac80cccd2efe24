"""Positions: read from JSON and TOML, checked, and matched with the board."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iacta import (
    Board,
    Holding,
    IactaError,
    Position,
    Turn,
    classic_board,
    read_position,
)
from iacta.game.moment import parse_moment, read_moment
from iacta.inputs.errors import IllegalError, MalformedError
from tests.tables import table

FILES = Path(__file__).parent / "files"
TINY = Board("tiny", ("A", "B", "C"), (("A", "B"), ("B", "A")))
TABLE: dict[str, Any] = {
    "board": "classic",
    "player": "red",
    "territories": {
        "Brazil": {"owner": "red", "armies": 72},
        "North Africa": {"owner": "blue", "armies": 22},
    },
}


def test_a_json_position_is_read() -> None:
    found = read_position(FILES / "position.json")
    assert found.board is classic_board()
    assert found.player == "red"
    assert found.find_holding("brazil") == Holding("red", 72)
    assert found.find_holding("North Africa") == Holding("blue", 22)


def test_the_spelling_of_owners_does_not_matter() -> None:
    found = read_position(FILES / "position.json")
    assert found.list_territories("BLUE") == ("North Africa", "Egypt")
    assert found.find_holding("Egypt").owner == "blue"


def test_a_toml_position_names_a_board_file_beside_it() -> None:
    found = read_position(FILES / "position.toml")
    assert found.board.name == "Two Coasts"
    assert found.player == "red"
    assert found.find_holding("Egypt") == Holding("blue", 8)


def test_unlisted_territories_have_no_owner_and_no_armies() -> None:
    found = read_position(TABLE)
    assert found.find_holding("Peru") == Holding("", 0)
    assert len(found.list_territories("")) == 40


def test_the_board_may_be_an_object_or_missing() -> None:
    board = {"territories": {"Brazil": ["North Africa"], "North Africa": []}}
    assert read_position({**TABLE, "board": board}).board.neighbours("North Africa") == ("Brazil",)
    left_out = {key: value for key, value in TABLE.items() if key != "board"}
    assert read_position(left_out) == read_position(TABLE)


def test_a_mistake_is_reported_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    text = (FILES / "position.json").read_text()
    for changed, line in (
        (text.replace("72", "-1"), 5),
        (text.replace("north-africa", "north-afrika"), 6),
        (text.replace('"red",\n', '"green",\n'), 3),
        (text.replace('"classic"', '{"territories": {"Brazil": ["Mars"]}}'), 2),
        (text[:90], 5),
    ):
        file.write_text(changed)
        with pytest.raises(IactaError, match=rf"^position file '.*p\.json': line {line}: "):
            read_position(file)
    toml = tmp_path / "p.toml"
    toml.write_text((FILES / "position.toml").read_text().replace("armies = 8", "armies = -1"))
    (tmp_path / "own.json").write_bytes((FILES / "own.json").read_bytes())
    with pytest.raises(IactaError, match=r"p\.toml': line 10: 'Egypt': armies must be"):
        read_position(toml)


def test_holdings_may_be_given_by_name_and_for_all_others() -> None:
    by_name: dict[str, Any] = {"a": ("red", 5), "C": Holding("green", 1)}
    found = Position(TINY, "red", by_name, others=("blue", 2))
    rows = (Holding("red", 5), Holding("blue", 2), Holding("green", 1))
    assert found == Position(TINY, "red", rows)
    alone = Position(TINY, "red", {"A": ("red", 5)})
    assert alone.find_holding("B") == alone.find_holding("C") == Holding("", 0)
    assert replace(found, player="blue").holdings == found.holdings


def test_a_file_may_give_the_owner_of_all_other_territories(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        'player = "red"\nothers = { owner = "blue", armies = 2 }\n'
        '[territories]\nUkraine = { owner = "red", armies = 42 }\n'
        'Peru = { owner = "", armies = 0 }\n'
    )
    found = read_position(file)
    by_name = {"Ukraine": ("red", 42), "Peru": ("", 0)}
    assert found == Position(classic_board(), "red", by_name, others=("blue", 2))
    assert len(found.list_territories("blue")) == 40
    file.write_text(file.read_text().replace("armies = 2", "army = 2"))
    with pytest.raises(IactaError, match=r"line 2: unknown key 'army' in others"):
        read_position(file)


@pytest.mark.parametrize(
    "position",
    [
        read_position("examples/asia.toml"),
        read_position("examples/unfinished-game.json"),
        read_position(FILES / "position.toml"),
        Position(TINY, 'r"ed', {"A": ('r"ed', 5)}),
    ],
    ids=lambda position: position.board.name,
)
def test_a_position_survives_toml(position: Position, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(position.to_toml(), encoding="utf-8")
    assert read_position(file) == position
    assert read_position(tomllib.loads(position.to_toml())) == position


def test_for_an_unknown_owner_a_similar_name_is_suggested() -> None:
    found = read_position(json.loads(json.dumps(TABLE)))
    with pytest.raises(IactaError, match=r"got 'blu'; did you mean 'blue'\?"):
        found.list_territories("blu")
    with pytest.raises(IactaError, match=r"did you mean 'Brazil'\?"):
        found.find_holding("Brasil")


@pytest.mark.parametrize(*table(__file__, "unquoted_toml"))
def test_toml_without_quotes_is_refused_with_a_correction(
    line: str, reason: str, tmp_path: Path
) -> None:
    file, line = tmp_path / "game.toml", line.replace("{blanks}", " " * 10**5)
    file.write_text(f'player = "red"\n[territories]\n{line}\n', encoding="utf-8")
    number = 3 + line.count("\n")
    with pytest.raises(MalformedError) as refused:
        read_position(file)
    said = f"position file {str(file)!r}: line {number}: invalid TOML: {reason}"
    assert str(refused.value) == said


@pytest.mark.parametrize(*table(__file__, "unquoted_json"))
def test_json_without_quotes_is_refused_with_a_correction(text: str, reason: str) -> None:
    with pytest.raises(MalformedError) as refused:
        parse_moment(text)
    assert str(refused.value) == f"line 1: invalid JSON: {reason}"


def test_an_unknown_player_is_refused_with_a_list_of_players() -> None:
    many = {name: (f"p{k}", 1) for k, name in enumerate(classic_board().territories[:10])}
    with pytest.raises(IllegalError) as refused:
        Position(classic_board(), "purple", many)
    listed = ", ".join(f"p{k}" for k in range(8))
    assert str(refused.value) == f"player must be one of {listed} and 2 more, got 'purple'"
    with pytest.raises(IllegalError, match=r"^owner must be red, got 'blu'$"):
        Position(TINY, "red", {"A": ("red", 1)}).list_territories("blu")
    with pytest.raises(
        IllegalError, match=r"^player must be a player with a territory, got 'red'$"
    ):
        Position(TINY, "red", {})


def test_a_board_is_refused_as_a_position(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text('name = "x"\n[territories]\nA = ["B"]\nB = []\n')
    with pytest.raises(MalformedError, match=": missing player, whose turn it is"):
        read_position(tmp_path / "board.toml")


def test_a_territory_without_armies_needs_rules_without_a_garrison() -> None:
    empty = "1;classic;red;Alaska:red:0,Alberta:red:5,Ontario:blue:2;attack"
    for code in (empty, empty.removesuffix(";attack")):
        with pytest.raises(
            IllegalError, match="Alaska must have at least 1 army, got 0; only rules"
        ):
            parse_moment(code)
    turn = Turn.from_code(f'{empty};rules={{"garrison"%3A0}}')
    assert (turn.owner_of("Alaska"), turn.armies_on("Alaska")) == ("red", 0)
    assert Turn.from_code(turn.to_code()) == turn
    assert parse_moment(turn.to_toml()) == turn
    assert turn.position.find_holding("Alaska") == Holding("red", 0)
    assert Turn(turn.position, turn.rules) == turn
    with pytest.raises(IllegalError, match="Alaska must have at least 1 army, got 0"):
        turn.with_options(rules="classic")


def test_a_position_keeps_the_owner_of_a_territory_without_armies(tmp_path: Path) -> None:
    position = Position(TINY, "red", {"A": ("red", 5), "B": ("blue", 0)}, others=("blue", 2))
    assert Position.from_code(position.to_code(), TINY) == position
    assert read_position(tomllib.loads(position.to_toml())) == position
    assert position.list_territories("blue") == TINY.territories[1:]
    file = tmp_path / "game.toml"
    file.write_text(position.to_toml(), encoding="utf-8")
    assert read_position(file) == position
    with pytest.raises(IllegalError, match=r"line \d+: B must have at least 1 army, got 0"):
        read_moment(file)
    assert read_moment(file, garrison=0).position == position
    with pytest.raises(IllegalError, match="line 3: Alaska must have at least 1 army, got 0"):
        parse_moment(
            'player = "red"\nterritories.Peru = { owner = "red", armies = 2 }\n'
            'others = { owner = "blue", armies = 0 }'
        )
