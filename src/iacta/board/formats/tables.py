"""Tables and lists of borders: CSV or TSV of edges, 0/1 matrices, and adjacency lists.

```text
from,to                     ,Egypt,Peru             Egypt: Peru, East Africa
Egypt,Peru            Egypt,0,1                     Peru: Egypt
Peru,East Africa      Peru,1,0
```

The cells of a table are separated by tabs, semicolons or commas. A table of edges has two columns,
and perhaps a third one with weights, which are ignored; a first row such as `from,to` is a heading.
A matrix has one row and one column for each territory; a 1 is a border. Its names stand in the
first row, in the first column, in both or nowhere; without names, territories are numbered from 1.
Borders lead both ways unless a matrix is not symmetric. These files have no continents.
"""

import csv
import re
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from iacta.board.board import (
    MAX_BORDERS,
    MAX_TERRITORIES,
    check_count,
    collapse_spaces,
    fold_name,
)
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import BoardText, prefix_line, read_bonus
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError

HEADINGS = {
    ("from", "to"),
    ("source", "target"),
    ("territory", "neighbour"),
    ("territory", "neighbor"),
    ("territory1", "territory2"),
}
NUMBER = re.compile(r"-?\d*\.?\d+", re.ASCII)
ENTRY = re.compile(r"([^:,;=\[\]{}\t]+):([^\[\]{}]*)")
SYNTAX = re.compile(r"[:=\[\]{}]")  # marks of other formats
SEPARATORS = re.compile(r"[,;]")


class _TableRow(NamedTuple):
    """A row of a table, with its line in the file."""

    line: int
    cells: tuple[str, ...]


def _read_rows(text: str) -> list[_TableRow]:
    """Return the rows of a table that are not empty; an empty list for other text."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    marks = [mark for mark in "\t;," if mark in first]
    if not marks or first.lstrip().startswith(("[", "{")):
        return []
    lines = text.split("\n")
    reader = csv.reader(lines, delimiter=marks[0], skipinitialspace=True, strict=True)
    rows, line = list[_TableRow](), 0
    try:
        for cells in reader:
            line = reader.line_num
            if any(cell.strip() for cell in cells):
                rows.append(_TableRow(line, tuple(map(collapse_spaces, cells))))
    except csv.Error:
        if _is_heading(first.split(marks[0])):
            sentence = "quotes must be closed before the end of a cell"
            raise MalformedError(prefix_line(line + 1, sentence)) from None
        return []
    return rows


def _connect(
    name: str, edges: Sequence[tuple[str, str, int]], names: Sequence[str] = (), *, directed: bool
) -> Draft:
    """Return a draft with some edges, each with its line; nodes keep the order of their names."""
    check_count(len(edges), MAX_BORDERS, "borders")
    spelled = {fold_name(each): each for each in names}
    lines, beside = dict[str, int](), dict[str, dict[str, Mention]]()
    for start, end, line in edges:
        for each in (start, end):
            spelled.setdefault(fold_name(each), each)
            lines.setdefault(fold_name(each), line)
        beside.setdefault(fold_name(start), {}).setdefault(fold_name(end), Mention(end, line))
    check_count(len(spelled), MAX_TERRITORIES, "territories")
    territories = [
        DraftTerritory(each, each, lines.get(key), tuple(beside.get(key, {}).values()))
        for key, each in spelled.items()
    ]
    return Draft(name, territories, [], directed)


def _read_edges(source: BoardText, name: str) -> Draft | None:
    rows = _read_rows(source.plain)
    has_heading = bool(rows) and _is_heading(rows[0].cells)
    rows = rows[has_heading:]
    for row in rows:
        if not _is_edge(row.cells):
            # Without a heading, the first row shows whether this is a table of edges.
            first = rows[0].cells
            if not has_heading and (not _is_edge(first) or SYNTAX.search("".join(first))):
                return None
            sentence = (
                "an edge must have two territories, and perhaps a weight as a number, got "
                f"{quote(', '.join(row.cells))}"
            )
            raise MalformedError(prefix_line(row.line, sentence))
    if not rows:
        return None
    return _connect(name, [(*row.cells[:2], row.line) for row in rows], directed=False)  # type: ignore[misc]


def _is_heading(cells: Sequence[str]) -> bool:
    return tuple(cell.strip().lower() for cell in cells[:2]) in HEADINGS


def _is_edge(cells: Sequence[str]) -> bool:
    """Return whether the cells of a row are two territories, and perhaps a weight."""
    start, end, *more = (*cells, "", "")[: max(2, len(cells))]
    is_weight = len(more) <= 1 and all(NUMBER.fullmatch(cell) for cell in more if cell)
    return bool(start and end and is_weight)


def _read_matrix(source: BoardText, name: str) -> Draft | None:
    text = source.plain
    rows = _read_rows(text) or _read_bare_rows(text)
    columns, heading = tuple[str, ...](), 1
    if rows and not {*rows[0].cells[1:]} <= {"0", "1"}:
        (heading, columns), rows = rows[0], rows[1:]
    has_names = any(row.cells[0] not in {"0", "1"} for row in rows) or (
        bool(rows) and len(rows[0].cells) == len(rows) + 1
    )
    names = [row.cells[0] for row in rows] if has_names else []
    grid = [row.cells[1:] if has_names else row.cells for row in rows]
    if columns and not columns[0]:  # a table with names in the first row and in the first column
        _refuse_ragged(rows, len(columns))
    columns = columns[-len(rows) :] if columns else ()
    is_square = len(rows) > 2 and all(len(cells) == len(rows) for cells in grid)
    if is_square and all(NUMBER.fullmatch(cell) for cells in grid for cell in cells):
        for row, cells in zip(rows, grid, strict=True):
            for cell in cells:
                if cell not in ("0", "1"):
                    sentence = f"the cells of a matrix must be 0 or 1, got {quote(cell)}"
                    raise MalformedError(prefix_line(row.line, sentence))
    if len(rows) < 2 or any(len(cells) != len(rows) or {*cells} - {"0", "1"} for cells in grid):
        return None
    names = names or [*columns] or [str(k) for k in range(1, len(rows) + 1)]
    if columns and [*map(fold_name, columns)] != [*map(fold_name, names)]:
        raise MalformedError(
            prefix_line(heading, "the names in the first row and in the first column must be equal")
        )
    first = dict[str, int]()
    for row, each in zip(rows, names, strict=True):
        if (line := first.setdefault(fold_name(each), row.line)) != row.line:
            sentence = f"the matrix has {quote(each)} twice, first in line {line}"
            raise MalformedError(prefix_line(row.line, sentence))
    edges = [
        (names[k], names[n], rows[k].line)
        for k, cells in enumerate(grid)
        for n, cell in enumerate(cells)
        if cell == "1"
    ]
    is_symmetric = all(
        grid[n][k] == cell for k, row in enumerate(grid) for n, cell in enumerate(row)
    )
    return _connect(name, edges, names, directed=not is_symmetric)


def _refuse_ragged(rows: Sequence[_TableRow], width: int) -> None:
    """Raise an error if a row of a matrix has more or fewer cells than its first row."""
    for row in rows:
        if len(row.cells) != width and {*row.cells[1:]} <= {"0", "1"}:
            sentence = (
                f"each row of the matrix must have a name and {width - 1} cells, got "
                f"{len(row.cells) - 1} cells for {quote(row.cells[0])}"
            )
            raise MalformedError(prefix_line(row.line, sentence))


def _read_bare_rows(text: str) -> list[_TableRow]:
    """Return the rows of a table whose cells are separated by spaces."""
    numbered = zip(count(1), text.split("\n"), strict=False)
    return [_TableRow(line, tuple(row.split())) for line, row in numbered if row.strip()]


def _read_adjacency(source: BoardText, name: str) -> Draft | None:
    """Read lines such as "Egypt: Peru, East Africa"; a `#` begins a comment."""
    edges, names = list[tuple[str, str, int]](), list[str]()
    for line, text in enumerate(source.plain.split("\n"), 1):
        if not (bare := text.partition("#")[0].strip()):
            continue
        entry = ENTRY.fullmatch(bare)
        if entry is None and len(names) == len(edges) == 0:
            return None
        if entry is None:
            sentence = f"expected a territory, a colon and its neighbours, got {quote(bare)}"
            raise MalformedError(prefix_line(line, sentence))
        start = collapse_spaces(entry[1])
        names.append(start)
        ends = map(collapse_spaces, SEPARATORS.split(entry[2]))
        edges += [(start, end, line) for end in ends if end]
    return _connect(name, edges, names, directed=False) if edges else None


def read_continents(text: str) -> list[DraftContinent]:
    """Read a table of continents: in each row a name, a bonus, and the territories.

    text: the content of the file. A first row without a number as the bonus is a heading. A
        continent may have several rows.

    >>> read_continents("Africa,3,Egypt,Congo")[0].name
    'Africa'
    """
    rows = _read_rows(text)
    if rows and len(rows[0].cells) > 1 and not re.search(r"\d", rows[0].cells[1]):
        rows = rows[1:]
    if not rows:
        raise MalformedError("each line must have a continent, its bonus, and its territories")
    found: dict[str, DraftContinent] = {}
    for line, (continent, *more) in rows:
        bonus = read_bonus(more[0] if more else "", line)
        mentions = tuple(Mention(cell, line) for cell in more[1:] if cell)
        known = found.setdefault(
            fold_name(continent), DraftContinent(continent, continent, line, bonus, ())
        )
        if known.bonus != bonus:
            sentence = f"continent {quote(continent)} must have one bonus, got {known.bonus}"
            raise MalformedError(prefix_line(line, f"{sentence} and {bonus}"))
        found[fold_name(continent)] = known._replace(members=(*known.members, *mentions))
    return [*found.values()]


MATRIX = BoardFormat("matrix", ".csv", _read_matrix)
EDGES = BoardFormat("edges", ".csv", _read_edges)
ADJACENCY = BoardFormat("adjacency", ".txt", _read_adjacency)
