"""Position: who owns which territory of a board, with how many armies, and whose turn it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from iacta.board.board import Board, did_you_mean, folded, read_name
from iacta.board.files import read_board
from iacta.board.formats import own
from iacta.board.formats.draft import assemble
from iacta.board.formats.reading import KeyPath, Table, read_file, read_table
from iacta.checks import put, row_of, shown, whole_number
from iacta.display import Pasted
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.files import STREAM, named, read_path

__all__ = ["NOBODY", "Holding", "Position", "read_position"]

MOST_ARMIES = 10**9
KEYS = ("board", "player", "territories")
HOLDING_KEYS = ("owner", "armies")


@dataclass(frozen=True)
class Holding:
    """The owner of a territory, and the armies on it.

    owner: the player's name, such as `"red"`, or `""` if nobody owns it.
    armies: at least 1, or 0 if nobody owns it.

    >>> Holding("red", 72)
    Holding(owner='red', armies=72)
    """

    owner: str
    armies: int

    def __post_init__(self) -> None:
        if not (isinstance(self.owner, str) and self.owner == ""):
            put(self, "owner", read_name(self.owner, "owner"))
        least, most = (1, MOST_ARMIES) if self.owner else (0, 0)
        put(self, "armies", whole_number(self.armies, "armies", least, most))


NOBODY = Holding("", 0)


@dataclass(frozen=True, repr=False)
class Position(Pasted):
    """Who owns which territory of a board, and whose turn it is.

    board: the `Board`.
    player: the player whose turn it is, who must own a territory.
    holdings: for each territory of the board, in its order, its `Holding`. A territory without a
        known owner is `Holding("", 0)`; it can neither attack nor be entered.

    Case, spaces, hyphens and underscores do not distinguish owners; all take the spelling that
    comes first.

    >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> Position(tiny, "Red", (Holding("red", 5), Holding("blue", 2))).player
    'red'
    """

    board: Board
    player: str
    holdings: tuple[Holding, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.board, Board):
            raise MalformedError(f"board must be a Board, got {shown(self.board)}")
        rows = row_of(self.holdings, "holdings", "holdings")
        for each in rows:
            if not isinstance(each, Holding):
                raise MalformedError(f"holdings must each be a Holding, got {shown(each)}")
        if len(rows) != len(self.board.territories):
            raise IllegalError(
                f"holdings must be {len(self.board.territories)}, one for each territory of "
                f"{self.board.name!r}, got {len(rows)}"
            )
        spelling: dict[str, str] = {}
        for each in rows:
            spelling.setdefault(folded(each.owner), each.owner)
        put(self, "holdings", tuple(replace(h, owner=spelling[folded(h.owner)]) for h in rows))
        player = read_name(self.player, "player")
        if folded(player) not in spelling:
            hint = did_you_mean(player, filter(None, spelling.values()))
            raise IllegalError(f"player must own a territory, got {shown(self.player)}{hint}")
        put(self, "player", spelling[folded(player)])

    def _summary(self) -> str:
        owned = sum(each.armies > 0 for each in self.holdings)
        return f"on {self.board.name!r}, {self.player} to move, {owned} territories listed"

    def of(self, name: str) -> Holding:
        """Return who owns a territory, and with how many armies.

        name: the territory, found as by `Board.find`.

        >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> Position(tiny, "red", (Holding("red", 5), Holding("blue", 2))).of("b")
        Holding(owner='blue', armies=2)
        """
        return self._by_name[self.board.find(name)]

    def owned_by(self, owner: str) -> tuple[str, ...]:
        """Return the territories of an owner, in the order of the board.

        owner: the player's name in any spelling; `""` for the territories that nobody owns. A
            player without territories is refused, and the nearest owner suggested.

        >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> Position(tiny, "red", (Holding("red", 5), Holding("blue", 2))).owned_by("Blue")
        ('B',)
        """
        wanted = folded(owner) if isinstance(owner, str) else None
        found = tuple(name for name, held in self._by_name.items() if folded(held.owner) == wanted)
        if not found and wanted != "":
            owners = dict.fromkeys(each.owner for each in self.holdings if each.owner)
            hint = did_you_mean(owner, owners) if isinstance(owner, str) else ""
            raise IllegalError(f"owner must be a player with a territory, got {shown(owner)}{hint}")
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Holding]:
        return dict(zip(self.board.territories, self.holdings, strict=True))


def read_position(source: str | PathLike[str] | Mapping[str, Any]) -> Position:
    """Return the position in a JSON or TOML file or in a table.

    source: the path of the file, `-` for standard input, or a mapping such as a parsed JSON
        object. It has `player`, whose
        turn it is; `territories`, the `owner` and `armies` of each by its name; and `board`, which
        is `"classic"` if missing, or a board in iacta's own format, or, in a file only, the path
        of a board file in the folder of the position or below.

    Territories that are not listed belong to nobody and have no armies: they can neither attack nor
    be entered. What cannot be read is refused in one sentence that names the file and the line.

    >>> brazil = {"owner": "red", "armies": 72}
    >>> position = read_position({"player": "red", "territories": {"brazil": brazil}})
    >>> position.of("Brazil"), position.of("Peru")
    (Holding(owner='red', armies=72), Holding(owner='', armies=0))
    """
    if isinstance(source, Mapping):
        return _position(Table(source), None)
    file = read_path(source, "position")
    try:
        folder = None if str(file) == STREAM else file.parent
        return _position(read_table(read_file(file)), folder)
    except IactaError as error:
        raise type(error)(f"{named(file, 'position')}: {error}") from None


def _position(table: Table, folder: Path | None) -> Position:
    table.refuse_unknown(table.entries, KEYS)
    board = _board(table, folder)
    held: dict[str, Holding] = {}
    for key, entry in table.table("territories").items():
        path = ("territories", key)
        with _placed(table, path):
            name = board.find(key)
        if name in held:
            table.refuse(path, f"{name!r} must be there once, got it twice", IllegalError)
        held[name] = _holding(table, path, entry)
    holdings = tuple(held.get(name, NOBODY) for name in board.territories)
    if "player" not in table.entries:
        table.refuse((), "a position must say whose turn it is as player, got nobody")
    with _placed(table, ("player",)):
        return Position(board, table.entries["player"], holdings)


@contextmanager
def _placed(table: Table, path: KeyPath) -> Iterator[None]:
    """Give an error the line of an entry."""
    try:
        yield
    except IactaError as error:
        table.refuse(path, str(error), type(error))


def _holding(table: Table, path: tuple[str, str], entry: object) -> Holding:
    key = path[-1]
    if not isinstance(entry, Mapping):
        table.refuse(path, f"{key!r} must have an owner and armies, got {shown(entry)}")
    table.refuse_unknown(entry, HOLDING_KEYS, *path)
    for field in HOLDING_KEYS:
        if field not in entry:
            table.refuse(path, f"{key!r} must have an owner and armies, got no {field}")
    try:
        return Holding(entry["owner"], entry["armies"])
    except IactaError as error:
        field = str(error).split()[0]
        table.refuse((*path, field), f"{key!r}: {error}", type(error))


def _board(table: Table, folder: Path | None) -> Board:
    given = table.entries.get("board", "classic")
    if isinstance(given, Mapping):
        inner = Table(given, lambda path: table.line_of(("board", *path)))
        return assemble(own.read_board_table(inner, "board")).board
    if not isinstance(given, str):
        table.refuse(("board",), f"board must be a name, a path or a table, got {shown(given)}")
    if folded(given) == "classic":
        return read_board("classic")
    with _placed(table, ("board",)):
        return read_board(_within(given, folder))


def _within(name: str, folder: Path | None) -> Path:
    """Return the path of a board file in the folder of a position or below.

    Positions may come from strangers, and must open no other file, nor a pipe that never ends.
    """
    if folder is None:
        raise IllegalError(f"board must be 'classic' or a table, got {shown(name)}")
    pure = (PurePosixPath(name), PureWindowsPath(name))
    file = folder / name
    try:
        away = any(each.anchor or ".." in each.parts for each in pure)
        inside = not away and file.resolve().is_relative_to(folder.resolve()) and file.is_file()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise IllegalError(
            f"board must be 'classic', a table, or a file in the folder of the position, "
            f"got {shown(name)}"
        )
    return file
