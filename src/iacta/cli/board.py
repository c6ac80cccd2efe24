"""`iacta board`: what a board is like, what is odd about it, and the same in other formats."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iacta.board.board import Board, Continent
from iacta.board.files import BoardFile, read_board_file, write_board
from iacta.board.formats import FORMATS
from iacta.board.formats.draft import Remark
from iacta.cli import options, show
from iacta.cli.picture import read_picture

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["board"]

CSV_COLUMNS = ("territory", "continents", "neighbours", "x", "y")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The board: classic, or a file in one of these formats: "
        + ", ".join(dict.fromkeys(each.name for each in FORMATS))
        + ".",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FILE",
        help="Write the board to a file, whose ending chooses the format: "
        + ", ".join(f"{each.ending} ({each.name})" for each in FORMATS if each.write)
        + ".",
    ),
]


def board(
    file: File,
    to: To = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Show a board, check its file, or convert it.

    Example: iacta board classic
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    found = read_board_file(file)
    if to is not None:
        write_board(found.board, to)
    show.emit(
        chosen,
        record=lambda: _record(found),
        rows=lambda: _rows(found.board),
        text=lambda console: _tell(console, found, to),
    )
    if picture:
        picture.draw(lambda charts: charts.board_map(found.board))


def _remarks(found: BoardFile) -> list[tuple[str, Remark]]:
    """Return what is odd about the board and about its cards, with where it stands."""
    cards = found.cards.remarks if found.cards else ()
    return [
        *(("board", remark) for remark in found.remarks),
        *(("cards", Remark(line or None, text)) for line, text in cards),
    ]


def _homes(board: Board) -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {name: [] for name in board.territories}
    for continent in board.continents:
        for name in continent.territories:
            homes[name].append(continent.name)
    return homes


def _one_way(board: Board) -> int:
    ways = set(board.borders)
    return sum((end, start) not in ways for start, end in ways)


def _border_count(board: Board) -> int:
    """Return how many pairs of territories share a border, one way or both."""
    return (len(board.borders) + _one_way(board)) // 2


def _entries(board: Board, continent: Continent) -> list[str]:
    """Return the territories of a continent that can be attacked from without."""
    inside = set(continent.territories)
    entered = {end for start, end in board.borders if start not in inside}
    return [name for name in continent.territories if name in entered]


def _record(found: BoardFile) -> dict[str, object]:
    board, homes = found.board, _homes(found.board)
    places = board.places or (None,) * len(board.territories)
    return {
        "name": board.name,
        "format": found.format,
        "border_count": _border_count(board),
        "one_way_count": _one_way(board),
        "territories": [
            {
                "name": name,
                "continents": homes[name],
                "neighbours": list(board.neighbours(name)),
                "place": None if place is None else list(place),
            }
            for name, place in zip(board.territories, places, strict=True)
        ],
        "continents": [
            {
                "name": each.name,
                "bonus": each.bonus,
                "territories": list(each.territories),
                "entries": _entries(board, each),
            }
            for each in board.continents
        ],
        "cards": None
        if found.cards is None
        else {
            "territories": found.cards.territories,
            "wildcards": found.cards.wildcards,
            "missions": found.cards.missions,
        },
        "remarks": [
            {"file": file, "line": remark.line, "text": remark.text}
            for file, remark in _remarks(found)
        ],
    }


def _rows(board: Board) -> Iterator[Sequence[object]]:
    homes = _homes(board)
    places: Sequence[Sequence[object]] = board.places or (("", ""),) * len(board.territories)
    yield CSV_COLUMNS
    for name, (x, y) in zip(board.territories, places, strict=True):
        yield (name, "; ".join(homes[name]), "; ".join(board.neighbours(name)), x, y)


def _tell(console: "Console", found: BoardFile, to: str | None) -> None:
    board = found.board
    counts = [
        _count(len(board.territories), "territory", "territories"),
        _count(_border_count(board), "border", "borders"),
        _count(len(board.continents), "continent", "continents"),
    ]
    show.say(console, f"{board.name}: {counts[0]}, {counts[1]}, {counts[2]} ({found.format}).")
    if found.cards:
        show.say(console, _cards(found))
    _tell_remarks(console, found)
    if board.continents:
        show.heading(console, "Continents, with the territories through which they are entered:")
        show.print_table(
            console, ("", "bonus", "territories", "entered through"), list(_cells(board))
        )
    show.heading(console, "Territories, with those that they can attack:")
    width = max(map(len, board.territories))
    for name in board.territories:
        show.say(console, f"{name:<{width}}  {', '.join(board.neighbours(name)) or '-'}")
    if to is not None:
        console.print()
        show.say(console, f"Written to {to}.")


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _cards(found: BoardFile) -> str:
    cards = found.cards
    if cards is None:
        return ""
    return (
        f"Cards: {_count(cards.territories, 'territory', 'territories')}, "
        f"{_count(cards.wildcards, 'wildcard', 'wildcards')}, "
        f"{_count(cards.missions, 'mission', 'missions')}."
    )


def _tell_remarks(console: "Console", found: BoardFile) -> None:
    remarks = _remarks(found)
    if not remarks:
        show.say(console, "All borders lead both ways, and every territory can be reached.")
        return
    kinds = Counter(file for file, _ in remarks)
    show.heading(console, f"{_count(len(remarks), 'oddity', 'oddities')}:")
    for file, remark in remarks:
        line = "" if remark.line is None else f"line {remark.line}: "
        which = f"{file}, " if len(kinds) > 1 or file == "cards" else ""
        show.say(console, f"{which}{line}{remark.text}")


def _cells(board: Board) -> Iterator[Sequence[str]]:
    for each in board.continents:
        through = _entries(board, each)
        named = ", ".join(through) if len(through) <= 8 else f"{len(through)} of them"
        yield (each.name, str(each.bonus), str(len(each.territories)), named or "-")
