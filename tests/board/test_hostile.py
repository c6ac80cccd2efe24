"""Hostile files: each is refused quickly, with a single sentence."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import Board, IactaError, read_board, read_position
from iacta.board.formats import read_text
from iacta.board.formats.draft import assemble
from tests.board.test_formats import CLUB, CONQUEST, DOMINATION, LUX, OWN, TOML, WARZONE
from tests.cases import for_each
from tests.tables import large_text, table

LAUGHS = "".join(
    f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' if n else '<!ENTITY lol0 "lol">' for n in range(10)
)
BOMBS = {
    "billion laughs": f"<?xml version='1.0'?><!DOCTYPE map [{LAUGHS}]><map>&lol9;</map>",
    "quadratic blowup": f'<!DOCTYPE map [<!ENTITY a "{"a" * 99_999}">]><map>{"&a;" * 9999}</map>',
    "an external entity": '<!DOCTYPE map [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<map><territory><name>&x;</name></territory></map>",
    "a parameter entity": '<!DOCTYPE map [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]><map/>',
    "an external document type": '<!DOCTYPE luxboard SYSTEM "http://localhost/x.dtd"><luxboard/>',
    "a document type without entities": "\n<!DOCTYPE map>\n<map/>",
    "a document type in UTF-16": f"<!DOCTYPE map [{LAUGHS}]><map>&lol9;</map>",
}


def refusal(folder: Path, content: bytes | str) -> str:
    """Return the message with which a file is refused."""
    file = folder / "board"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(IactaError) as refused:
        read_board(file)
    sentence = str(refused.value)
    assert len(sentence) < 1500
    assert "\n" not in sentence
    assert sentence.isprintable()
    return sentence


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_entity_is_expanded_and_no_document_type_read(bomb: str, tmp_path: Path) -> None:
    encoding = "utf-16" if "UTF-16" in bomb else "utf-8"
    sentence = refusal(tmp_path, BOMBS[bomb].encode(encoding))
    assert "document types and entities are not allowed in XML" in sentence


def test_an_undeclared_entity_is_not_xml(tmp_path: Path) -> None:
    assert "undefined entity" in refusal(tmp_path, "<map><name>&x;</name></map>")


def test_the_five_entities_of_xml_itself_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(CLUB.replace("Egypt", "Egypt &amp; Nile"))
    assert "Egypt & Nile" in read_board(tmp_path / "x").territories


# These files are small enough to be read, so other limits must refuse them.
@for_each(*table(__file__, "large"))
@pytest.mark.slow
def test_small_files_with_too_many_entries_are_refused(
    kind: str, head: str, repeated: str, times: int, tail: str, tmp_path: Path
) -> None:
    assert "bytes" not in refusal(tmp_path, large_text(head, repeated, times, tail)), kind


@pytest.mark.parametrize("last", [3000, 0], ids=["a chain", "a circle"])
@pytest.mark.slow
def test_very_deeply_nested_continents_are_refused(last: int, tmp_path: Path) -> None:
    territories: dict[str, list[str]] = {f"T{n}": [] for n in range(3000)}
    continents = {
        f"C{n}": {"bonus": 1, "territories": [f"T{n}", f"C{n + 1 if n < 2999 else last}"]}
        for n in range(3000)
    }
    board = {"territories": territories, "continents": continents}
    assert "bytes" not in refusal(tmp_path, json.dumps(board))


def test_a_file_of_100_megabytes_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "board"
    with file.open("wb") as opened:
        opened.truncate(100 * 10**6)
    with pytest.raises(IactaError, match="at most 4000000 bytes"):
        read_board(file)
    with pytest.raises(IactaError, match="at most 4000000 bytes"):
        read_position(file)


def test_the_cards_may_be_as_hostile_as_the_map(tmp_path: Path) -> None:
    (tmp_path / "x.map").write_text(DOMINATION.replace("crd coasts.cards", ""))
    with (tmp_path / "x.cards").open("wb") as opened:
        opened.truncate(100 * 10**6)
    assert len(read_board(tmp_path / "x.map").territories) == 5


@pytest.mark.parametrize("text", [DOMINATION, CONQUEST, CLUB, LUX, WARZONE, OWN, TOML])
def test_nul_bytes_are_refused_with_their_line(text: str, tmp_path: Path) -> None:
    at = text.index("Egypt")
    sentence = refusal(tmp_path, text[:at] + "\0" + text[at:])
    line = text.count("\n", 0, at) + 1
    assert f"line {line}: the text contains a NUL character" in sentence


@pytest.mark.parametrize("path", [None, 7, "", "/", "none.map", "x\0y", "x" * 9999])
def test_invalid_paths_are_refused(path: object) -> None:
    with pytest.raises(IactaError):
        read_board(path)  # type: ignore[arg-type]
    with pytest.raises(IactaError):
        read_position(path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["../own.json", "/etc/passwd", "pipe", "link.json", "inner/..", "."]
)
def test_a_position_opens_no_board_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(OWN)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "own.json")
    os.mkfifo(folder / "pipe")
    file = folder / "position.json"
    file.write_text(json.dumps({"board": name, "player": "red", "territories": {}}))
    with pytest.raises(IactaError, match="line 1: board must be 'classic', a table, or a file in"):
        read_position(file)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["territories", "continents", "bonus", "A", "B", "map", "id", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KEYS = ("name", "directed", "territories", "continents", "places", "outlines", "map", "player")


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_any_table_gives_a_board_or_an_error(table: dict[str, object]) -> None:
    for read in (read_board, read_position, lambda each: read_position({"board": each})):
        try:
            read(table)
        except IactaError as refused:
            assert "\n" not in str(refused)


@settings(max_examples=150)
@given(
    st.sampled_from([DOMINATION, CONQUEST, CLUB, LUX, WARZONE, OWN, TOML]),
    st.integers(0, 2000),
    st.integers(0, 40),
    st.text("<>[]{},;=\"'\n 19aEé&-", max_size=5),
)
def test_a_changed_file_gives_a_board_or_an_error(
    text: str, start: int, length: int, instead: str
) -> None:
    changed = text[:start] + instead + text[start + length :]
    try:
        board = assemble(read_text(changed, "any")[1]).board
    except IactaError as refused:
        assert "\n" not in str(refused)
    else:
        assert isinstance(board, Board)
