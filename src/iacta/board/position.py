"""Positions: the owner and armies of each territory, and the player whose turn it is."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

from iacta.board.board import (
    MAX_TERRITORIES,
    Board,
    did_you_mean,
    fold_name,
    format_json,
    read_name,
)
from iacta.board.built_in import BUILT_IN_BOARDS, find_built_in
from iacta.board.codes import (
    MAX_TERRITORY_ARMIES,
    is_code,
    read_code,
    write_code,
)
from iacta.board.files import read_board
from iacta.board.formats import own
from iacta.board.formats.draft import assemble
from iacta.board.formats.reading import FileTable, read_file, read_table
from iacta.inputs.checks import quote, read_int, read_list, set_field
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import STREAM, add_file_name, read_path
from iacta.inputs.reprs import PasteableMixin

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # TOML keys that need no quotes
POSITION_KEYS = ("board", "player", "others", "territories")
HOLDING_KEYS = ("owner", "armies")
MAX_NAMED_PLAYERS = 8  # the maximum number of players in a message


@dataclass(frozen=True)
class Holding:
    """The owner of a territory, and the armies on the territory.

    owner: the name of the player, such as `"red"`, or `""` for a territory without an owner.
    armies: the number of armies: 0 for a territory without an owner. Only under rules without a
        garrison may a territory with an owner have no armies.

    >>> Holding("red", 72)
    Holding(owner='red', armies=72)
    """

    owner: str
    armies: int

    def __post_init__(self) -> None:
        if not (isinstance(self.owner, str) and self.owner == ""):
            set_field(self, "owner", read_name(self.owner, "owner"))
        most = MAX_TERRITORY_ARMIES if self.owner else 0
        set_field(self, "armies", read_int(self.armies, "armies", 0, most))


NOBODY = Holding("", 0)
Held: TypeAlias = Holding | tuple[str, int]


@dataclass(frozen=True, init=False, repr=False)
class Position(PasteableMixin):
    """The owner and armies of each territory of a board, and the player whose turn it is.

    board: the board on which the game is played.
    player: the player whose turn it is; must own at least one territory.
    holdings: a `Holding` for each territory, in the order of the board; or a mapping from names of
        territories to holdings or to pairs such as `("red", 5)`. `Holding("", 0)` means a territory
        without a known owner, which can neither attack nor be attacked.
    others: the holding of all territories that the mapping omits; `None` for no owner.

    Names of owners that differ only in case, spaces, hyphens or underscores are treated as equal.
    The first spelling is kept.

    >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> Position(tiny, "Red", (Holding("red", 5), Holding("blue", 2))).player
    'red'
    >>> Position(tiny, "red", {"A": ("red", 5)}, others=("blue", 2)).find_holding("B")
    Holding(owner='blue', armies=2)
    """

    board: Board
    player: str
    holdings: tuple[Holding, ...]

    def __init__(
        self,
        board: Board,
        player: str,
        holdings: Iterable[Holding] | Mapping[str, Held],
        *,
        others: Held | None = None,
    ) -> None:
        if not isinstance(board, Board):
            raise MalformedError(f"board must be a Board, got {quote(board)}")
        if isinstance(holdings, Mapping):
            rows = _read_holdings(board, holdings, others)
        elif others is None:
            rows = read_list(holdings, "holdings", "holdings", MAX_TERRITORIES)
        else:
            raise IllegalError("others needs holdings by name, got a list of holdings")
        for row in rows:
            if not isinstance(row, Holding):
                raise MalformedError(f"holdings must each be a Holding, got {quote(row)}")
        if len(rows) != len(board.territories):
            raise IllegalError(
                f"holdings must be {len(board.territories)}, one for each territory of "
                f"{board.name!r}, got {len(rows)}"
            )
        set_field(self, "board", board)
        spelling: dict[str, str] = {}
        for row in rows:
            spelling.setdefault(fold_name(row.owner), row.owner)
        spelt = (replace(row, owner=spelling[fold_name(row.owner)]) for row in rows)
        set_field(self, "holdings", tuple(spelt))
        name = read_name(player, "player")
        set_field(self, "player", find_player(name, "player", spelling.values()))

    @classmethod
    def from_turn(cls, board: Board, player: str, holdings: tuple[Holding, ...]) -> "Position":
        """Return the position of a turn in progress, without validation.

        board, player, holdings: valid fields of a `Position`, except that the player may own no
            territory.
        """
        position = object.__new__(cls)
        vars(position).update(board=board, player=player, holdings=holdings)
        return position

    def to_toml(self) -> str:
        """Return the content of a TOML file, which `read_position` reads.

        The file includes the board, unless it is the classic board.

        >>> import tomllib
        >>> tiny = Board.from_edges("tiny", [("A", "B")])
        >>> position = Position(tiny, "red", {"A": ("red", 5)}, others=("blue", 2))
        >>> read_position(tomllib.loads(position.to_toml())) == position
        True
        """
        names = (name for name, make in BUILT_IN_BOARDS.items() if self.board == make())
        built_in = next(names, None)
        text = format_position_toml(self, built_in)
        return text if built_in else f"{text}\n[board]\n{self.board.to_toml('board.')}"

    def to_code(self) -> str:
        """Return the position as a one-line code, which `from_code` reads.

        >>> tiny = Board.from_edges("tiny", [("A", "B")])
        >>> Position(tiny, "red", {"A": ("red", 5)}, others=("blue", 2)).to_code()
        '1;#bf3955ce18fcdce2;red;A:red:5,B:blue:2'
        """
        owners, armies = zip(
            *((holding.owner, holding.armies) for holding in self.holdings), strict=True
        )
        return write_code(self.board, self.player, owners, armies)

    @classmethod
    def from_code(cls, text: str, board: Board | None = None) -> "Position":
        """Return the position in a code.

        text: the code, as returned by `to_code`.
        board: the board of the code; `None` for the classic board.

        Raises `IactaError` for invalid codes, and for codes of another board.

        >>> Position.from_code("1;classic;red;Alaska:blue:3,Alberta:red:2").find_holding("Alaska")
        Holding(owner='blue', armies=3)
        """
        code = read_code(text, board)
        if code.rest:
            raise MalformedError(
                f"code of a position must end with its territories, but {quote(code.rest[0])} "
                "follows them"
            )
        return cls(code.board, code.player, tuple(map(Holding, code.owners, code.armies)))

    def _summary(self) -> str:
        owned = sum(bool(holding.owner) for holding in self.holdings)
        noun = "territory" if owned == 1 else "territories"
        return f"on {self.board.name!r}, {self.player} to move, {owned} {noun} listed"

    def find_holding(self, name: str) -> Holding:
        """Return the owner and the armies of a territory.

        name: the territory, in any spelling.

        >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> Position(tiny, "red", (Holding("red", 5), Holding("blue", 2))).find_holding("b")
        Holding(owner='blue', armies=2)
        """
        return self._holdings_by_name[self.board.find(name)]

    def list_territories(self, owner: str) -> tuple[str, ...]:
        """Return the territories of a player, in the order of the board.

        owner: the name of the player in any spelling; `""` for the territories without an owner.

        Raises `IllegalError` for a player without territories, and suggests a similar name.

        >>> tiny = Board("tiny", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> Position(tiny, "red", (Holding("red", 5), Holding("blue", 2))).list_territories("Blue")
        ('B',)
        """
        wanted = fold_name(owner) if isinstance(owner, str) else None
        names = tuple(
            name
            for name, holding in self._holdings_by_name.items()
            if fold_name(holding.owner) == wanted
        )
        if not names and wanted != "":
            find_player(owner, "owner", (holding.owner for holding in self.holdings))
        return names

    @cached_property
    def _holdings_by_name(self) -> Mapping[str, Holding]:
        return dict(zip(self.board.territories, self.holdings, strict=True))


def check_position(value: object) -> None:
    if not isinstance(value, Position):
        hint = "; read_position reads a file or a code" if isinstance(value, str) else ""
        raise MalformedError(f"position must be a Position, got {quote(value)}{hint}")


def find_player(given: object, what: str, players: Iterable[str]) -> str:
    """Return a player's name with the spelling in `players`; raise an error for an unknown name.

    >>> find_player("Green", "owner", ["red", "green"])
    'green'
    >>> find_player("gren", "owner", ["red", "green"])
    Traceback (most recent call last):
        ...
    iacta.IllegalError: owner must be one of green, red, got 'gren'; did you mean 'green'?
    """
    spelling = {fold_name(player): player for player in sorted(players) if player}
    if isinstance(given, str) and fold_name(given) in spelling:
        return spelling[fold_name(given)]
    names = list(spelling.values())
    more = f" and {len(names) - MAX_NAMED_PLAYERS} more" if len(names) > MAX_NAMED_PLAYERS else ""
    listed = f"{'one of ' * (len(names) > 1)}{', '.join(names[:MAX_NAMED_PLAYERS])}{more}"
    wanted = listed or "a player with a territory"
    hint = did_you_mean(given, names) if isinstance(given, str) else ""
    raise IllegalError(f"{what} must be {wanted}, got {quote(given)}{hint}", parameter=what)


def _read_holdings(board: Board, named: Mapping[str, Held], others: Held | None) -> list[Holding]:
    by_name: dict[str, Holding] = {}
    for key, entry in named.items():
        name = board.find(key)
        if name in by_name:
            raise IllegalError(f"{name!r} appears twice")
        by_name[name] = _read_holding(entry, f"holding of {name}")
    rest = NOBODY if others is None else _read_holding(others, "others")
    return [by_name.get(name, rest) for name in board.territories]


def _read_holding(entry: object, what: str) -> Holding:
    if isinstance(entry, Holding):
        return entry
    if isinstance(entry, tuple | list) and len(entry) == 2:
        return Holding(*entry)
    raise MalformedError(
        f"{what} must be a Holding or a pair of an owner and armies, got {quote(entry)}"
    )


def format_position_toml(position: Position, board: str | None) -> str:
    """Format a position as TOML, without the territories that have no owner.

    board: the name or the path of the board in the file; `None` to omit the board.
    """
    lines = [] if board is None else [f"board = {format_json(board)}"]
    lines += [f"player = {format_json(position.player)}", "", "[territories]"]
    homes: dict[str, str] = {}
    for continent in reversed(position.board.continents):
        heading = f"# {continent.name}, bonus {continent.bonus}"
        homes |= dict.fromkeys(continent.territories, heading)
    headings = dict.fromkeys(homes.get(name, "") for name in position.board.territories)
    by_name = dict(zip(position.board.territories, position.holdings, strict=True))
    for heading in headings:
        lines += [heading] if heading else []
        lines += [
            f"{name if BARE_KEY.fullmatch(name) else format_json(name)} = "
            f"{{ owner = {format_json(holding.owner)}, armies = {holding.armies} }}"
            for name, holding in by_name.items()
            if holding.owner and homes.get(name, "") == heading
        ]
    return "\n".join(lines) + "\n"


def read_position(source: str | PathLike[str] | Mapping[str, Any]) -> Position:
    """Read a position from a JSON or TOML file, a mapping, or a code.

    source: the path of a file, `-` for standard input, a code as returned by `Position.to_code`, or
        a mapping such as a parsed JSON object.

    Files and mappings have these keys:

    player: the player whose turn it is.
    territories: a table with the `owner` and `armies` of each territory.
    others: the `owner` and `armies` of all territories that are not listed.
    board: `"classic"`, the default; a board in iacta's own format; or, in files only, the path of a
        board file in the same folder or in a subfolder.

    Without `others`, territories that are not listed have no owner and no armies, and can neither
    attack nor be attacked. Raises `IactaError` with the file and the line of a mistake.

    >>> brazil = {"owner": "red", "armies": 72}
    >>> position = read_position({"player": "red", "territories": {"brazil": brazil}})
    >>> position.find_holding("Brazil"), position.find_holding("Peru")
    (Holding(owner='red', armies=72), Holding(owner='', armies=0))
    """
    if isinstance(source, Mapping):
        return _read_plain_table(FileTable(source), None)
    if isinstance(source, str) and is_code(source):
        return Position.from_code(source)
    if isinstance(source, str) and find_built_in(source) is not None:
        raise IllegalError(f"position must be a file or a code, got the board {quote(source)}")
    file = read_path(source, "position")
    with add_file_name(file, "position"):
        folder = None if str(file) == STREAM else file.parent
        text = read_file(file).text
        return (
            Position.from_code(text)
            if is_code(text)
            else _read_plain_table(read_table(text), folder)
        )


def _read_plain_table(table: FileTable, folder: Path | None) -> Position:
    """Read a position from a table; refuse the additional keys of a turn."""
    if "player" not in table.entries and "territories" in table.entries:
        table.refuse((), "missing player, whose turn it is")
    table.refuse_unknown(table.entries, POSITION_KEYS)
    return read_position_table(table, folder)


def read_position_table(
    table: FileTable,
    folder: Path | None,
    given: Board | None = None,
    *,
    is_fallback: bool = False,
) -> Position:
    """Read a position from the table of a file.

    folder: the folder of board files; `None` if board files are not allowed.
    given: the board for a table that contains no board, or only the path of a board file.
    is_fallback: whether the table may contain a different board, which then replaces `given`.
    """
    if "player" not in table.entries and "territories" in table.entries:
        table.refuse((), "missing player, whose turn it is")
    board = _choose_board(table, folder, given, is_fallback=is_fallback)
    by_name: dict[str, Holding] = {}
    for key, entry in table.table("territories").items():
        path = ("territories", key)
        with table.add_line(path):
            name = board.find(key)
        if name in by_name:
            table.refuse(path, f"{name!r} appears twice", IllegalError)
        by_name[name] = _read_table_holding(table, path, entry)
    rest = table.entries.get("others")
    others = NOBODY if rest is None else _read_table_holding(table, ("others",), rest)
    holdings = tuple(by_name.get(name, others) for name in board.territories)
    if "player" not in table.entries:
        table.refuse((), "missing player, whose turn it is")
    with table.add_line(("player",)):
        return Position(board, table.entries["player"], holdings)


def _read_table_holding(table: FileTable, path: tuple[str, ...], entry: object) -> Holding:
    key = path[-1]
    if not isinstance(entry, Mapping):
        table.refuse(path, f"{key!r} must have an owner and armies, got {quote(entry)}")
    table.refuse_unknown(entry, HOLDING_KEYS, *path)
    for field in HOLDING_KEYS:
        if field not in entry:
            table.refuse(path, f"missing {field} of {key!r}")
    try:
        return Holding(entry["owner"], entry["armies"])
    except IactaError as error:
        field = str(error).split()[0]
        table.refuse((*path, field), f"{key!r}: {error}", type(error))


def _choose_board(
    table: FileTable, folder: Path | None, given: Board | None, *, is_fallback: bool
) -> Board:
    own_board = table.entries.get("board")
    if own_board is None:
        return given or read_board("classic")
    if isinstance(own_board, Mapping):
        inner = FileTable(own_board, lambda path: table.find_line(("board", *path)))
        read = assemble(own.read_board_table(inner, "board")).board
    elif not isinstance(own_board, str):
        table.refuse(("board",), f"board must be a name, a path or a table, got {quote(own_board)}")
    elif (built_in := find_built_in(own_board)) is not None:
        read = built_in
    else:
        if given is not None:
            return given
        with table.add_line(("board",)):
            return read_board(_resolve_inside(own_board, folder))
    if given is not None and given != read and not is_fallback:
        table.refuse(("board",), f"the position has the board {read.name!r}, got {given.name!r}")
    return read


def _resolve_inside(name: str, folder: Path | None) -> Path:
    """Return the path of a board file in the folder of a position or in a subfolder.

    Positions from untrusted sources must not open any other file or a pipe without an end.
    """
    if folder is None:
        raise IllegalError(f"board must be 'classic' or a table, got {quote(name)}")
    pure = (PurePosixPath(name), PureWindowsPath(name))
    file = folder / name
    try:
        away = any(path.anchor or ".." in path.parts for path in pure)
        inside = not away and file.resolve().is_relative_to(folder.resolve()) and file.is_file()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise IllegalError(
            f"board must be 'classic', a table, or a file in the folder of the position, "
            f"got {quote(name)}"
        )
    return file
