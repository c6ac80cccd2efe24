"""Finds the reader of a board file by what the file holds, whatever it is called, and the writer.

Two formats share `.map`, and two each XML and JSON, so that the name of a file tells nothing.
"""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board.board import Board
from iacta.board.classic import classic_board
from iacta.board.formats import conquer_club, conquest, domination, lux, plain, warzone
from iacta.board.formats.draft import Draft, Remark, assemble
from iacta.board.formats.tables import Table, nowhere, read_json, read_table
from iacta.board.formats.text import decode, read_bytes, read_path
from iacta.board.formats.xml_tree import read_xml
from iacta.board.names import folded, read_name
from iacta.errors import IactaError, IllegalError, MalformedError

__all__ = ["BoardFile", "board_text", "read_board", "read_board_file", "write_board"]

SECTIONS_OF_DOMINATION = re.compile(
    r"^[ \t]*\[(?:files|countries|borders)\][ \t]*$", re.IGNORECASE | re.MULTILINE
)
KEY = re.compile(r"^[ \t]*(?:\[[^\[\]\n]+\]|[^\s=#;][^=\n]*=)", re.MULTILINE)
WRITERS: dict[str, Callable[[Board], str]] = {
    ".json": plain.json_text,
    ".toml": plain.toml_text,
    ".map": domination.write,
    ".xml": conquer_club.write,
}


class BoardFile(NamedTuple):
    """A board as a file held it.

    board: the board.
    format: the name of the file's format.
    remarks: what is odd about it, each with its line.
    cards: its cards, where a file of them stands beside it.
    """

    board: Board
    format: str
    remarks: tuple[Remark, ...] = ()
    cards: domination.Cards | None = None


def read_board(source: str | PathLike[str] | Mapping[str, Any]) -> Board:
    """Return a board: the classic one, that of a file, or that of a table.

    source: `"classic"`; or the path of a file in any format that is known; or a mapping such as a
        parsed JSON object, with the neighbours of each territory in `territories`.

    Formats are Domination, Conquer Club, Lux, Warzone, 'Conquest', and JSON and TOML as iacta
    writes them. A file that cannot be read, unknown and double names and continents that contain
    themselves are refused by a sentence that names the lines; what is only odd, such as a border
    that leads one way, is not.

    >>> read_board("classic").name
    'classic'
    >>> board = read_board({"territories": {"A": ["B"], "B": ["C"], "C": []}})
    >>> board.neighbours("B")
    ('A', 'C')
    """
    if isinstance(source, Mapping):
        return assemble(plain.read(Table(source, nowhere), "board")).board
    return read_board_file(source).board


def read_board_file(path: str | PathLike[str]) -> BoardFile:
    """Return what a file tells of a board, with the name of its format and remarks.

    path: the path, or `"classic"`.
    """
    if isinstance(path, str) and folded(path) == "classic":
        return BoardFile(classic_board(), "built in")
    file = read_path(path, "board")
    try:
        text = decode(read_bytes(file))
        name, draft = _read(text, _stem(file))
        board, remarks = assemble(draft)
    except IactaError as error:
        raise type(error)(f"board file {str(file)!r}: {error}") from None
    cards = _cards(file, text, draft) if name == "Domination" else None
    return BoardFile(board, name, remarks, cards)


def _stem(file: Path) -> str:
    try:
        return read_name(file.stem, "name")
    except IactaError:
        return "board"


def _read(text: str, name: str) -> tuple[str, Draft]:
    """Return the name of the format that a text is in, and what it tells."""
    start = text.lstrip()[:1]
    if start == "<":
        return _read_xml(text, name)
    if start == "{":
        table = read_json(text)
        if warzone.is_meant(table):
            return "Warzone", warzone.read(table, name)
        return "iacta's own", plain.read(table, name)
    if SECTIONS_OF_DOMINATION.search(text):
        return "Domination", domination.read(text, name)
    if conquest.is_meant(text):
        return "Conquest", conquest.read(text, name)
    if KEY.search(text):
        return "iacta's own", plain.read(read_table(text), name)
    raise MalformedError("the text must be a board in a format that is known, got another")


def _read_xml(text: str, name: str) -> tuple[str, Draft]:
    top = read_xml(text)
    if top.name == "map":
        return "Conquer Club", conquer_club.read(top, name)
    if top.name == "luxboard":
        return "Lux", lux.read(top, name)
    raise MalformedError(
        f"line {top.line}: the XML must be a <map> or a <luxboard>, got <{top.name[:40]}>"
    )


def _cards(file: Path, text: str, draft: Draft) -> domination.Cards | None:
    """Return what the cards file in the same folder tells; what is wrong with it are remarks."""
    beside = file.with_name(domination.cards_name(text, f"{file.stem}.cards"))
    if not beside.is_file():
        return None
    try:
        return domination.read_cards(decode(read_bytes(beside)), draft)
    except IactaError as error:
        return domination.Cards(0, 0, 0, ((0, str(error)),))


def board_text(board: Board, name: str) -> str:
    """Return the text of a file with a board, in the format that the file's name asks for.

    board: the board.
    name: the file's name: `.json` and `.toml` are iacta's own formats, `.map` is Domination's and
        `.xml` Conquer Club's.
    """
    writer = WRITERS.get(Path(name).suffix.lower())
    if writer is None:
        raise IllegalError(f"the file must end in {', '.join(WRITERS)}, got {name!r}")
    return writer(board)


def write_board(board: Board, path: str | PathLike[str]) -> None:
    """Write a board to a file, in the format that its name asks for.

    board: the board.
    path: the file, which appears complete or not at all.
    """
    file = read_path(path, "board")
    content = board_text(board, file.name).encode()
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with beside.open("xb") as opened:
            opened.write(content)
        beside.replace(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IllegalError(
            f"board file {str(file)!r}: the file must be one that can be written, got: {reason}"
        ) from None
    finally:
        with suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)
