"""Read and write board files."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board.board import Board, did_you_mean, read_name
from iacta.board.built_in import BUILT_IN_BOARDS, find_built_in
from iacta.board.formats import format_board, own, read_text
from iacta.board.formats.draft import Cards, Remark, assemble
from iacta.board.formats.reading import (
    FileTable,
    FileText,
    normalize_text,
    read_file,
)
from iacta.board.formats.tables import read_continents
from iacta.inputs.errors import IactaError
from iacta.inputs.files import (
    UnreadableError,
    add_file_name,
    read_path,
    write_atomically,
)

BUILT_IN = "built in"


class BoardFile(NamedTuple):
    """A board that was read from a file.

    board: the board in the file.
    format: the name of the format of the file.
    remarks: remarks about oddities of the board, such as one-way borders.
    cards: the cards of the board, from a file in the same folder; `None` without such a file.
    """

    board: Board
    format: str
    remarks: tuple[Remark, ...] = ()
    cards: Cards | None = None


def read_board(source: str | PathLike[str] | Mapping[str, Any]) -> Board:
    """Return a built-in board, or a board from a file or a mapping.

    source: the name of a built-in board, such as `"classic"`; the path of a file in any of the
        formats on the page "Boards"; or a mapping in iacta's own format, such as a parsed JSON
        object.

    Raises `IactaError`, with line numbers, for unreadable files, unknown or repeated names, and
    continents that contain themselves. Oddities such as one-way borders are allowed.

    >>> read_board("classic").name
    'classic'
    >>> board = read_board({"territories": {"A": ["B"], "B": ["C"], "C": []}})
    >>> board.neighbours("B")
    ('A', 'C')
    """
    if isinstance(source, Mapping):
        return assemble(own.read_board_table(FileTable(source), "board")).board
    return read_board_file(source).board


def read_board_file(path: str | PathLike[str]) -> BoardFile:
    """Return the board in a file, with its format and remarks.

    path: the path of the file; the name of a built-in board; `-` for standard input.
    """
    if isinstance(path, str) and (board := find_built_in(path)) is not None:
        return BoardFile(board, BUILT_IN)
    file = read_path(path, "board")
    return parse_board_file(file, read_board_text(file))


def read_board_text(file: Path) -> FileText:
    with add_file_name(file, "board"):
        try:
            return read_file(file)
        except UnreadableError as error:
            hint = did_you_mean(str(file), [*BUILT_IN_BOARDS])
            raise UnreadableError(file, f"{error.reason}{hint}") from None


def parse_board_file(file: Path, content: FileText) -> BoardFile:
    with add_file_name(file, "board"):
        drawn, draft = read_text(content.text, _stem(file))
        board, remarks = assemble(draft)
    if content.guessed is not None:
        text = "this is not UTF-8, so the file is read as Windows-1252"
        remarks = (Remark(content.guessed, text), *remarks)
    cards = drawn.cards(file, content.text, draft) if drawn.cards else None
    return BoardFile(board, drawn.name, remarks, cards)


def parse_board_text(text: str, name: str = "board") -> BoardFile:
    """Parse the content of a board file in any known format.

    text: the content of the file.
    name: the default name of the board.

    >>> parse_board_text('{"territories": {"A": ["B"], "B": []}}', "tiny.json").board.name
    'tiny'
    """
    drawn, draft = read_text(normalize_text(text), _stem(Path(name)))
    board, remarks = assemble(draft)
    return BoardFile(board, drawn.name, remarks)


def add_continents(content: BoardFile, path: str | PathLike[str]) -> BoardFile:
    """Return a board with the continents of a second file.

    content: the board; its own continents are replaced.
    path: the path of a table with a continent, its bonus and its territories in each line.

    Raises `IactaError`, with line numbers, for unknown territories and unreadable tables.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> tiny = parse_board_text("Egypt,Congo")
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "continents.csv")
    ...     _ = file.write_text("Africa,3,Egypt,Congo")
    ...     add_continents(tiny, file).board.continents
    (Continent(name='Africa', bonus=3, territories=('Egypt', 'Congo')),)
    """
    file = read_path(path, "continents")
    draft = own.read_board_table(FileTable(content.board.to_record()), content.board.name)
    with add_file_name(file, "continents"):
        board, remarks = assemble(draft._replace(continents=read_continents(read_file(file).text)))
    # The lines of these remarks are lines of the second file.
    known = {remark.text for remark in content.remarks}
    more = (Remark(None, remark.text) for remark in remarks if remark.text not in known)
    return content._replace(board=board, remarks=(*content.remarks, *more))


def _stem(file: Path) -> str:
    try:
        return read_name(file.stem, "name")
    except IactaError:
        return "board"


def write_board(board: Board, path: str | PathLike[str]) -> None:
    """Write a board to a file.

    board: the board to write.
    path: the path of the file. The ending of the path determines the format.

    An error leaves no partially written file.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from iacta.board.built_in import classic_board
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "map.toml")
    ...     write_board(classic_board(), file)
    ...     read_board(file) == classic_board()
    True
    """
    file = read_path(path, "board")
    write_atomically(file, format_board(board, file.name).encode())
