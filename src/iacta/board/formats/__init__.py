"""The file formats of boards: iacta's own formats and those of other programs, each in a module.

To add a format, write a module with a `BoardFormat` and list it in `FORMATS`.
"""

from iacta.board.board import Board
from iacta.board.formats import (
    conquer_club,
    conquest,
    domination,
    graph,
    lux,
    members,
    own,
    tables,
    warzone,
)
from iacta.board.formats.draft import BoardFormat, Draft, make_names_unique
from iacta.board.formats.reading import BoardText
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.files import quote_path

__all__ = ["FORMATS", "board_text", "read_text"]

FORMATS = (
    own.JSON,
    own.TOML,
    domination.FORMAT,
    conquer_club.FORMAT,
    lux.FORMAT,
    warzone.FORMAT,
    conquest.FORMAT,
    *graph.FORMATS,
    members.FORMAT,
    own.YAML,
    tables.MATRIX,
    tables.ADJACENCY,
    tables.EDGES,
)
# These formats are tried last, because they accept any table that resembles a board.
TOLERANT = (own.JSON, own.TOML, own.YAML, tables.MATRIX, tables.ADJACENCY, tables.EDGES)


def read_text(text: str, name: str) -> tuple[BoardFormat, Draft]:
    """Return the format of a board file, and a draft of the board.

    text: the content of the file.
    name: the default name of the board.

    The content determines the format, because several formats use the same endings, such as `.map`.
    """
    source = BoardText(text)
    for board_format in sorted(FORMATS, key=lambda board_format: board_format in TOLERANT):
        draft = board_format.read(source, name)
        if draft is not None:
            return board_format, make_names_unique(draft)
    kind = f", but {source.kind}" if source.kind else ""
    raise MalformedError(f"not a board in a known format{kind}; known: {_list_formats()}")


def _list_formats() -> str:
    return ", ".join(dict.fromkeys(board_format.name for board_format in FORMATS))


def format_board(board: Board, name: str) -> str:
    writers = {
        board_format.ending: board_format.write for board_format in FORMATS if board_format.write
    }
    fitting = [ending for ending in writers if name.lower().endswith(ending)]
    if not fitting:
        *most, last = writers
        raise IllegalError(
            f"the file must end in {', '.join(most)} or {last}, got {quote_path(name)}"
        )
    return writers[max(fitting, key=len)](board)
