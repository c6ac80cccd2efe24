"""Hostile files: each is refused in one sentence, at little cost."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import Board, IactaError, read_board, read_position
from iacta.board.formats import read_text
from iacta.board.formats.draft import assemble
from tests.board.test_formats import CLUB, CONQUEST, DOMINATION, LUX, OWN, TOML, WARZONE

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
    """Return the sentence with which a file is refused."""
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


# All within the bounds on bytes, so other bounds must refuse them.
LARGE: dict[str, Callable[[], str]] = {
    "Domination": lambda: (
        "[continents]\nA 1 red\n[countries]\n" + "".join(f"{n} T{n} 1 0 0\n" for n in range(20_000))
    ),
    "one line of ids": lambda: (
        "[continents]\nA 1 red\n[countries]\n1 A 1 0 0\n[borders]\n1 " + "1 " * 1_900_000
    ),
    "Conquest": lambda: (
        "[Continents]\nA=1\n[Territories]\n" + "".join(f"T{n},0,0,A\n" for n in range(20_000))
    ),
    "neighbours": lambda: "[Map]\n[Territories]\nA,0,0,," + "A," * 1_900_000,
    "Conquer Club": lambda: (
        "<map>"
        + "".join(f"<territory><name>T{n}</name></territory>" for n in range(20_000))
        + "</map>"
    ),
    "Lux": lambda: (
        "<luxboard>"
        + "".join(f"<country><id>{n}</id><name>T{n}</name></country>" for n in range(20_000))
        + "</luxboard>"
    ),
    "elements": lambda: "<map>" + "<a/>" * 900_000 + "</map>",
    "adjoining": lambda: (
        "<luxboard><country><id>1</id><name>A</name><adjoining>"
        + "1," * 1_900_000
        + "</adjoining></country></luxboard>"
    ),
    "Warzone": lambda: (
        '{"map":{"territories":['
        + ",".join(f'{{"id":{n},"name":"T{n}"}}' for n in range(20_000))
        + "]}}"
    ),
    "own": lambda: json.dumps({"territories": {f"T{n}": [] for n in range(20_000)}}),
    "own borders": lambda: json.dumps({"territories": {"A": ["A"] * 600_000}}),
    "own points": lambda: (
        '{"territories":{"A":[]},"outlines":{"A":[[' + "[1,2]," * 600_000 + "[1,2]]]}}"
    ),
    "unknown names": lambda: json.dumps(
        {"territories": {f"T{n}": [f"U{n}"] for n in range(9_999)}}
    ),
    "own TOML": lambda: "[territories]\n" + "".join(f"T{n}=[]\n" for n in range(20_000)),
    "deep lists": lambda: '{"territories":' + "[" * 1_000_000,
    "deep objects": lambda: '{"a":' * 700_000,
    "deep TOML": lambda: "a = " + "[" * 900_000,
    "deep XML": lambda: "<map>" * 700_000,
    "a long key in TOML": lambda: ".".join("a" * 400_000) + " = 1",
    "a long heading in TOML": lambda: "[" + ".".join("a" * 400_000) + "]",
    "a long key within TOML": lambda: "a = {" + ".".join("a" * 400_000) + " = 1}",
    "a hidden key in TOML": lambda: '"#".' + ".".join("a" * 400_000) + " = 1",
    "long digits": lambda: '{"territories": ' + "9" * 1_000_000 + "}",
    "long digits in Domination": lambda: "[borders]\n[continents]\nA " + "9" * 1_000_000 + " red",
    "a long name": lambda: "[Map]\n[Territories]\n" + "A" * 1_000_000 + ",0,0,",
    "a chain of continents": lambda: json.dumps(
        {
            "territories": {f"T{n}": [] for n in range(9_000)},
            "continents": {
                f"C{n}": {"bonus": 1, "territories": [f"T{n}", f"C{n + 1}"]} for n in range(8_990)
            },
        }
    ),
    "a circle of continents": lambda: json.dumps(
        {
            "territories": {"A": []},
            "continents": {
                f"C{n}": {"bonus": 1, "territories": [f"C{(n + 1) % 9000}"]} for n in range(9_000)
            },
        }
    ),
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.slow
def test_what_fits_into_a_file_is_refused_for_what_it_is(kind: str, tmp_path: Path) -> None:
    assert "bytes" not in refusal(tmp_path, LARGE[kind]())


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
def test_what_is_not_a_file_is_refused(path: object) -> None:
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


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_any_table_is_a_board_or_a_sentence(table: dict[str, object]) -> None:
    for read in (read_board, read_position, lambda each: read_position({"board": each})):
        try:
            read(table)
        except IactaError as refused:
            assert "\n" not in str(refused)


@settings(max_examples=300)
@given(
    st.sampled_from([DOMINATION, CONQUEST, CLUB, LUX, WARZONE, OWN, TOML]),
    st.integers(0, 2000),
    st.integers(0, 40),
    st.text("<>[]{},;=\"'\n 19aEé&-", max_size=5),
)
def test_any_change_to_a_file_gives_a_board_or_a_sentence(
    text: str, start: int, length: int, instead: str
) -> None:
    changed = text[:start] + instead + text[start + length :]
    try:
        board = assemble(read_text(changed, "any")[1]).board
    except IactaError as refused:
        assert "\n" not in str(refused)
    else:
        assert isinstance(board, Board)
