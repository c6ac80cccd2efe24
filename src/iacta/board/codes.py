"""Position codes: positions as a line of text that is short enough for a message or a URL.

    1;classic;red;Alaska:blue:3,Alberta:red:2

The fields are the version, the board, the player whose turn it is, and the owner and the armies of
each owned territory. A board other than `classic` is identified by a hash of its territories and
borders; to read such a code, the board itself is needed. White space and separators in names are
percent-encoded. The code of a turn (`iacta.game`) has further fields.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

from iacta.board.board import Board
from iacta.board.built_in import BUILT_IN_BOARDS
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError

CODE_VERSION = "1"
FIELDS = 4
HASH_DIGITS = 16
MAX_LENGTH = 10**6
MAX_TERRITORY_ARMIES = 10**9  # all sums then fit in 64 bits
CODE = re.compile(r"\s*[0-9]+;(?![^:\n]*\n\s*\S)")  # a table has rows without colons
SEPARATORS = re.compile(r"[%,:;=\s]")


class Code(NamedTuple):
    """The content of a code.

    board: the board of the position.
    player: the player whose turn it is.
    owners, armies: the owner and the armies of each territory, in the order of the board; `""` and
        0 for a territory without an owner.
    rest: the fields after the position.
    """

    board: Board
    player: str
    owners: tuple[str, ...]
    armies: tuple[int, ...]
    rest: tuple[str, ...]


def is_code(text: object) -> bool:
    r"""Return whether a string is a code, and not a table or the path of a file.

    >>> is_code("1;classic;red;Alaska:red:3"), is_code("game.toml"), is_code("1;2\n2;3")
    (True, False, False)
    """
    return isinstance(text, str) and CODE.match(text) is not None


def escape_name(name: str) -> str:
    """Percent-encode the white space and the separators in a name.

    >>> escape_name("North Africa: 50%"), unescape_name("North%20Africa")
    ('North%20Africa%3A%2050%25', 'North Africa')
    """
    return SEPARATORS.sub(lambda match: percent_encode(match[0]), name)


def unescape_name(text: str) -> str:
    return unquote(text)


def identify_board(board: Board) -> str:
    """Return the board field of a code: the name of a built-in board, or a hash of the board.

    The hash depends on the territories and the borders.

    >>> from iacta.board.built_in import classic_board
    >>> identify_board(classic_board()), identify_board(Board.from_edges("two", [("A", "B")]))
    ('classic', '#bf3955ce18fcdce2')
    """
    for name, make_board in BUILT_IN_BOARDS.items():
        if board is make_board() or board == make_board():
            return name
    from hashlib import sha256  # a slow import

    text = json.dumps([board.territories, board.borders])
    return f"#{sha256(text.encode()).hexdigest()[:HASH_DIGITS]}"


def write_code(
    board: Board, player: str, owners: Iterable[str], armies: Iterable[int], *rest: str
) -> str:
    holdings = ",".join(
        f"{escape_name(name)}:{escape_name(owner)}:{number}"
        for name, owner, number in zip(board.territories, owners, armies, strict=True)
        if owner
    )
    return ";".join((CODE_VERSION, identify_board(board), escape_name(player), holdings, *rest))


def read_code(text: str, board: Board | None = None) -> Code:
    """Parse a code; raise `IactaError` if it is invalid.

    text: the code.
    board: the board of the code; `None` for the classic board.
    """
    if not isinstance(text, str):
        raise MalformedError(f"code must be a string, got {quote(text)}")
    if len(text) > MAX_LENGTH:
        raise TooLargeError(f"code must be at most {MAX_LENGTH} letters long, got {len(text)}")
    version, *fields = text.strip().split(";")
    if version != CODE_VERSION:
        raise MalformedError(
            f"code must begin with its version, '{CODE_VERSION};', got {quote(text.strip())}"
        )
    if len(fields) < FIELDS - 1:
        raise MalformedError(
            "code must have a version, a board, a player and territories, separated by ';', "
            f"got {quote(text.strip())}"
        )
    name, player, holdings, *rest = fields
    coded = _choose_board(name, board)
    index = {territory: t for t, territory in enumerate(coded.territories)}
    owners, armies = [""] * len(index), [0] * len(index)
    for entry in filter(None, holdings.split(",")):
        parts = entry.split(":")
        if len(parts) != 3 or not parts[1]:
            raise MalformedError(
                f"territory must be written as name:owner:armies, got {quote(entry)}"
            )
        t = index[coded.find(unescape_name(parts[0]))]
        if owners[t]:
            raise IllegalError(f"{coded.territories[t]!r} appears twice")
        owners[t] = unescape_name(parts[1])
        armies[t] = parse_int(
            parts[2], f"armies on {coded.territories[t]}", 0, MAX_TERRITORY_ARMIES
        )
    return Code(coded, unescape_name(player), tuple(owners), tuple(armies), tuple(rest))


def _choose_board(name: str, given: Board | None) -> Board:
    if given is not None and not isinstance(given, Board):
        raise MalformedError(f"board must be a Board, got {quote(given)}")
    if name in BUILT_IN_BOARDS:
        return BUILT_IN_BOARDS[name]()
    if not name.startswith("#"):
        raise MalformedError(f"code must name the board 'classic' or a hash, got {quote(name)}")
    if given is None:
        raise IllegalError(f"the code is for a board with the hash {quote(name)}: pass that board")
    if identify_board(given) != name:
        raise IllegalError(
            f"the code is for a board with the hash {quote(name)}, "
            f"got {given.name!r} with {identify_board(given)!r}"
        )
    return given
