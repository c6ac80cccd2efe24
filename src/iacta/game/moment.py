"""Read moments. A moment is a position or a turn in any phase.

Users supply a moment as a file (JSON, TOML, or a code), on standard input, as a code, or as a
mapping. A position is read as a turn without new armies.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from iacta.board import Board, Position
from iacta.board.built_in import find_built_in
from iacta.board.codes import Code, is_code
from iacta.board.files import BoardFile, parse_board_file, read_board_file, read_board_text
from iacta.board.formats.reading import FileTable, normalize_text, read_file, read_table
from iacta.board.position import POSITION_KEYS, read_position_table
from iacta.game.codes import KEYS, OPTIONS, Value, make_turn, read_fields, read_turn_code
from iacta.game.setup import find_empty_territory, refuse_empty_territories
from iacta.game.turn import Turn
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import STREAM, add_file_name, read_path

TURN_KEYS = ("phase", *OPTIONS)  # the keys that a turn has and a position does not
LIKE_POSITION = re.compile(rf"""^[\[{{\s"']*({"|".join(POSITION_KEYS)})\b""", re.MULTILINE)


def read_moment(
    source: Turn | Position | str | PathLike[str] | Mapping[str, Any],
    board: Board | None = None,
    garrison: int | None = None,
) -> Turn:
    """Read a turn from a file, a mapping or a code.

    source: the path of a file; `-` for standard input; the code of a position or a turn; a mapping
        such as a parsed JSON object; or a position or a turn. A file or a mapping has the keys of a
        position (see `read_position`), and may have the keys of a turn's code: `phase`, `place`,
        `cards`, `sets`, `keep`, `players` and so on. Their values are strings as in a code, or
        numbers, lists or tables.
    board: the board of a code, or of a file that does not name its board.
    garrison: the garrison of the rules of a code or a file; `None` for its own garrison.

    Raises `IactaError` for an invalid source, with the file and the line.

    >>> peru = {"owner": "red", "armies": 3}
    >>> turn = read_moment({"player": "red", "territories": {"Peru": peru}, "place": 5})
    >>> turn.phase, turn.place
    ('place', 5)
    """
    if isinstance(source, Turn):
        return source
    if isinstance(source, Position):
        return Turn(source)
    if isinstance(source, Mapping):
        return _read_table(FileTable(source), None, board)
    if isinstance(source, str):
        if is_code(source):
            return _read_code(source, board, garrison)
        if find_built_in(source) is not None:
            raise IllegalError(f"position must be a file or a code, got the board {quote(source)}")
    file = read_path(source, "position")
    with add_file_name(file, "position"):
        return _read_text(read_file(file).text, _choose_folder(file), board, garrison=garrison)


def parse_moment(text: str, board: Board | None = None, *, is_fallback: bool = False) -> Turn:
    """Read a turn from a string: a code, or the content of a JSON or TOML file.

    text: the string.
    board: the board of a code, or of a text that does not contain its board.
    is_fallback: whether `board` is used only if the text does not contain its own board.

    Raises `IactaError` for an invalid text, with the line.

    >>> text = '{"player": "red", "territories": {"Peru": {"owner": "red", "armies": 2}}}'
    >>> parse_moment(text).position.player
    'red'
    """
    return _read_text(normalize_text(text), None, board, is_fallback=is_fallback)


def read_board_or_moment(source: str) -> BoardFile | Turn:
    """Read a board or a turn.

    source: the path of a file; `-` for standard input; the name of a built-in board; or a code.

    >>> read_board_or_moment("1;classic;red;Peru:red:3").phase
    'attack'
    """
    if is_code(source):
        return Turn.from_code(source)
    if find_built_in(source) is not None:
        return read_board_file(source)
    file = read_path(source, "board")
    content = read_board_text(file)
    if is_code(content.text):
        with add_file_name(file, "position"):
            return Turn.from_code(content.text)
    try:
        table = read_table(content.text)
    except IactaError:
        return parse_board_file(file, content)
    if "player" not in table.entries:
        return parse_board_file(file, content)
    with add_file_name(file, "position"):
        return _read_table(table, _choose_folder(file), None)


def _choose_folder(file: Path) -> Path | None:
    return None if str(file) == STREAM else file.parent


def _read_code(text: str, board: Board | None, garrison: int | None) -> Turn:
    coded = read_turn_code(text, board)
    return make_turn(Turn, coded.code, coded.fields.replace_garrison(garrison))


def _read_text(
    text: str,
    folder: Path | None,
    board: Board | None,
    *,
    is_fallback: bool = False,
    garrison: int | None = None,
) -> Turn:
    if is_code(text):
        return _read_code(text, board, garrison)
    try:
        table = read_table(text)
    except MalformedError:
        if LIKE_POSITION.search(text):
            raise
        raise MalformedError(
            "a position must be a code, or TOML or JSON with the keys player and territories, got "
            f"{quote(text)}"
        ) from None
    return _read_table(table, folder, board, is_fallback=is_fallback, garrison=garrison)


def _read_table(
    table: FileTable,
    folder: Path | None,
    board: Board | None,
    *,
    is_fallback: bool = False,
    garrison: int | None = None,
) -> Turn:
    table.refuse_unknown(table.entries, (*POSITION_KEYS, *TURN_KEYS))
    position = read_position_table(table, folder, board, is_fallback=is_fallback)
    values: dict[str, Value] = {}
    for key in OPTIONS:
        if key in table.entries:
            with table.add_line((key,)):
                value = _read_value(key, table.entries[key])
            if value is not None:
                values[key] = value
    phase = table.entries.get("phase", "attack")
    if not isinstance(phase, str):
        table.refuse(("phase",), f"phase must be text, got {quote(phase)}")
    fields = read_fields(phase, FileTable(values, table.find_line), position.board)
    fields = fields.replace_garrison(garrison)
    if "phase" not in table.entries and fields.options.get("place"):
        fields = replace(fields, phase="place")
    owners = tuple(holding.owner for holding in position.holdings)
    armies = tuple(holding.armies for holding in position.holdings)
    empty = find_empty_territory(position.board, owners, armies)
    with table.add_line(_find_holding_path(table, position.board, empty)):
        refuse_empty_territories(position.board, owners, armies, fields.rules)
    try:
        return make_turn(Turn, Code(position.board, position.player, owners, armies, ()), fields)
    except IactaError as error:
        name = KEYS.get(error.parameter or "", error.parameter or "")
        path = next(((key,) for key in (name, "phase") if key in table.entries), ())
        table.refuse(path, str(error), type(error))


def _find_holding_path(table: FileTable, board: Board, name: str | None) -> tuple[str, ...]:
    """Return the path of a territory's holding in the table of a position."""
    keys = (key for key in table.table("territories") if board.find(key) == name)
    key = next(keys, None)
    return ("others",) if key is None else ("territories", key)


def _read_value(key: str, value: object) -> Value | None:
    """Check the type of a value; return `None` for false, because false options are omitted."""
    if isinstance(value, bool):
        return "1" if value else None
    if isinstance(value, str | int):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return value
    if isinstance(value, Mapping) and all(
        isinstance(each, str | int | float) and not isinstance(each, bool)
        for each in value.values()
    ):
        return value
    raise MalformedError(
        f"{key} must be a number, a string, a list, or a table of numbers or strings by name, "
        f"got {quote(value)}"
    )
