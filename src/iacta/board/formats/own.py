"""iacta's own format, in JSON or TOML: territories with the names of their neighbours.

```text
{"name": "tiny", "directed": false,
 "territories": {"A": ["B"], "B": []},
 "continents": {"X": {"bonus": 2, "territories": ["A"]}},
 "places": {"A": [10, 20], "B": [30, 20]},
 "outlines": {"A": [[[0, 0], [20, 0], [10, 30]]], "B": [[[20, 0], [40, 0], [30, 30]]]}}
```

Only `territories` is required. Each border leads both ways and may be listed once or twice. With
`directed` it leads from the territory under which it is listed to the one named. A continent may
name other continents for all of their territories.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from iacta.board.board import (
    FARTHEST,
    MOST_BONUS,
    MOST_BORDERS,
    MOST_CONTINENTS,
    MOST_POINTS,
    MOST_TERRITORIES,
    Board,
    Outline,
    Point,
    did_you_mean,
    folded,
    json_text,
    one_line,
    refuse_count,
)
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import BoardText, FileTable, KeyPath, read_toml
from iacta.checks import shown, whole_number
from iacta.errors import IactaError, IllegalError

__all__ = ["JSON", "TOML", "read_board_table"]

KEYS = ("name", "directed", "territories", "continents", "places", "outlines")
CONTINENT_KEYS = ("bonus", "territories")
TOML_KEY = re.compile(r"^[ \t]*(?:\[[^\[\]\n]+\]|[^\s=#;][^=\n]*=)", re.MULTILINE)


def read_board_table(table: FileTable, name: str) -> Draft:
    """Return what a table in this format says.

    table: the table.
    name: what the board is called if the table does not name it.
    """
    if "player" in table.entries and "board" in table.entries:
        table.refuse((), "this is a position, not a board; iacta plan reads it")
    table.refuse_unknown(table.entries, KEYS)
    title, directed = table.entries.get("name", name), table.entries.get("directed", False)
    if not isinstance(title, str):
        table.refuse(("name",), f"name must be a text, got {shown(title)}")
    if not isinstance(directed, bool):
        table.refuse(("directed",), f"directed must be true or false, got {shown(directed)}")
    if "territories" not in table.entries:
        table.refuse((), "missing the table territories")
    neighbours, continents = table.table("territories"), table.table("continents")
    refuse_count(len(neighbours), MOST_TERRITORIES, "territories")
    refuse_count(len(continents), MOST_CONTINENTS, "continents")
    refuse_count(sum(map(_length, neighbours.values())), MOST_BORDERS, "borders")
    shapes = [each for each in table.table("outlines").values() if isinstance(each, Sequence)]
    refuse_count(sum(_length(polygon) for s in shapes for polygon in s), MOST_POINTS, "points")
    places, outlines = _by_territory(table, "places"), _by_territory(table, "outlines")
    territories = []
    for key, names in neighbours.items():
        path: KeyPath = ("territories", key)
        mentions = _mentions(table, path, names)
        place = places.get(folded(key))
        point = None if place is None else _point(table, ("places", key), place)
        shape: KeyPath = ("outlines", key)
        polygons = outlines.get(folded(key))
        outline = None if polygons is None else _outline(table, shape, polygons)
        spelled, line = one_line(key), table.line_of(path)
        territories.append(DraftTerritory(spelled, spelled, line, mentions, point, outline))
    drafted = [_continent(table, key, entry) for key, entry in continents.items()]
    return Draft(title, territories, drafted, directed, places_count=True)


def _outline(table: FileTable, path: KeyPath, polygons: object) -> Outline:
    return tuple(
        tuple(_point(table, path, each) for each in _list(table, path, polygon, "polygons"))
        for polygon in _list(table, path, polygons, "polygons")
    )


def _length(entry: object) -> int:
    return len(entry) if isinstance(entry, Sequence) else 0


def _by_territory(table: FileTable, key: str) -> Mapping[str, Any]:
    """Return the table under a key by the folded names of its territories; others are refused."""
    territories = table.table("territories")
    known = {folded(name) for name in territories}
    found = table.table(key)
    for name in found:
        if folded(name) not in known:
            hint = did_you_mean(name, territories)
            sentence = f"unknown territory {shown(name)} in {key}{hint}"
            table.refuse((key, name), sentence, IllegalError)
    return {folded(name): value for name, value in found.items()}


def _mentions(table: FileTable, path: KeyPath, names: object) -> tuple[Mention, ...]:
    listed: Sequence[Any] = names if isinstance(names, Sequence) else (None,)
    if isinstance(names, str) or not all(isinstance(each, str) for each in listed):
        table.refuse(path, f"{path[-1]!r} must have a list of names, got {shown(names)}")
    return tuple(
        Mention(one_line(each), table.line_of((*path, index))) for index, each in enumerate(listed)
    )


def _list(table: FileTable, path: KeyPath, rows: object, what: str) -> Sequence[object]:
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        table.refuse(path, f"{path[0]} must be a list of {what}, got {shown(rows)}")
    return rows


def _point(table: FileTable, path: KeyPath, point: object) -> Point:
    numbers = _list(table, path, point, "numbers")
    near = [
        each
        for each in numbers
        if isinstance(each, int | float) and not isinstance(each, bool) and abs(each) <= FARTHEST
    ]
    if len(numbers) != 2 or len(near) != 2:
        table.refuse(path, f"{path[0]} must be points of two numbers, got {shown(point)}")
    return float(near[0]), float(near[1])


def _continent(table: FileTable, key: str, entry: object) -> DraftContinent:
    path: KeyPath = ("continents", key)
    if not isinstance(entry, Mapping):
        table.refuse(path, f"continent must be a table, got {shown(entry)}")
    table.refuse_unknown(entry, CONTINENT_KEYS, "continents", key)
    try:
        bonus = whole_number(entry.get("bonus", 0), "bonus", -MOST_BONUS, MOST_BONUS)
    except IactaError as error:
        table.refuse((*path, "bonus"), str(error), type(error))
    members = _mentions(table, (*path, "territories"), entry.get("territories", ()))
    return DraftContinent(one_line(key), one_line(key), table.line_of(path), bonus, members)


def _write_json(board: Board) -> str:
    blocks = []
    for key, value in board.to_record().items():
        if isinstance(value, dict):
            lines = (f"    {json_text(name)}: {json_text(each)}" for name, each in value.items())
            blocks.append(f"  {json_text(key)}: {{\n" + ",\n".join(lines) + "\n  }")
        else:
            blocks.append(f"  {json_text(key)}: {json_text(value)}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _read_json(source: BoardText, name: str) -> Draft | None:
    return None if source.json is None else read_board_table(source.json, name)


def _read_toml(source: BoardText, name: str) -> Draft | None:
    found = TOML_KEY.search(source.plain)
    return read_board_table(read_toml(source.plain), name) if found else None


JSON = BoardFormat("iacta's own", ".json", _read_json, _write_json)
TOML = BoardFormat("iacta's own", ".toml", _read_toml, Board.to_toml)
