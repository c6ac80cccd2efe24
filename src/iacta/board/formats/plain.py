"""Boards as iacta writes them, in JSON or TOML: territories with the names of their neighbours.

```text
{"name": "tiny", "directed": false,
 "territories": {"A": ["B"], "B": []},
 "continents": {"X": {"bonus": 2, "territories": ["A"]}},
 "places": {"A": [10, 20], "B": [30, 20]},
 "outlines": {"A": [[[0, 0], [20, 0], [10, 30]]], "B": [[[20, 0], [40, 0], [30, 30]]]}}
```

Only `territories` must be there. Each border leads both ways and may stand once or twice, unless
`directed` is true: then it leads from the territory under which it stands to the one named. A
continent may name continents for all of their territories.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from iacta.board.board import (
    MOST_BONUS,
    MOST_BORDERS,
    MOST_CONTINENTS,
    MOST_POINTS,
    MOST_TERRITORIES,
    Board,
    Outline,
    Point,
    refuse_count,
    refuse_more,
)
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.tables import Path, Table
from iacta.board.names import did_you_mean, folded, one_line
from iacta.checks import shown, whole_number
from iacta.errors import IactaError, IllegalError

__all__ = ["json_text", "read", "record", "toml_text"]

KEYS = ("name", "directed", "territories", "continents", "places", "outlines")
CONTINENT_KEYS = ("bonus", "territories")


def read(table: Table, name: str) -> Draft:
    """Return what a table in this format tells.

    table: what the text holds.
    name: what the board is called if the table does not say.
    """
    table.refuse_unknown(table.entries, KEYS)
    told, directed = table.entries.get("name", name), table.entries.get("directed", False)
    if not isinstance(told, str):
        table.refuse(("name",), f"name must be a text, got {shown(told)}")
    if not isinstance(directed, bool):
        table.refuse(("directed",), f"directed must be true or false, got {shown(directed)}")
    if "territories" not in table.entries:
        table.refuse((), "a board must have a table of territories, got none")
    refuse_more(table.table("territories"), MOST_TERRITORIES, "territories")
    refuse_more(table.table("continents"), MOST_CONTINENTS, "continents")
    refuse_count(sum(map(_length, table.table("territories").values())), MOST_BORDERS, "borders")
    refuse_count(_count_points(table.table("outlines")), MOST_POINTS, "points")
    places = _by_territory(table, "places")
    outlines = _by_territory(table, "outlines")
    territories = [
        DraftTerritory(
            one_line(key),
            one_line(key),
            table.line_of(("territories", key)),
            _mentions(table, ("territories", key), neighbours),
            _place(table, places, key),
            _outline(table, outlines, key),
        )
        for key, neighbours in table.table("territories").items()
    ]
    continents = [_continent(table, key, each) for key, each in table.table("continents").items()]
    return Draft(told, territories, continents, directed)


def _length(entry: object) -> int:
    return len(entry) if isinstance(entry, Sequence) else 0


def _count_points(outlines: Mapping[str, Any]) -> int:
    shapes = [shape for shape in outlines.values() if isinstance(shape, Sequence)]
    return sum(_length(polygon) for shape in shapes for polygon in shape)


def _by_territory(table: Table, key: str) -> Mapping[str, Any]:
    """Return a table by the folded names of territories; a name that is none of them is refused."""
    territories = table.table("territories")
    known = {folded(name) for name in territories}
    found = table.table(key)
    for name in found:
        if folded(name) not in known:
            hint = did_you_mean(name, territories)
            sentence = f"{key} must be of known territories, got {shown(name)}{hint}"
            table.refuse((key, name), sentence, IllegalError)
    return {folded(name): value for name, value in found.items()}


def _mentions(table: Table, path: Path, names: object) -> tuple[Mention, ...]:
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        sentence = f"{path[-1]!r} must have a list of names, got {shown(names)}"
        table.refuse(path, sentence)
    if isinstance(names, str):
        table.refuse(path, f"{path[-1]!r} must have a list of names, got {shown(names)}")
    return tuple(
        Mention(one_line(each), table.line_of((*path, index))) for index, each in enumerate(names)
    )


def _continent(table: Table, key: str, entry: object) -> DraftContinent:
    path: Path = ("continents", key)
    if not isinstance(entry, Mapping):
        table.refuse(path, f"continent must be a table, got {shown(entry)}")
    table.refuse_unknown(entry, CONTINENT_KEYS, "continents", key)
    try:
        bonus = whole_number(entry.get("bonus", 0), "bonus", -MOST_BONUS, MOST_BONUS)
    except IactaError as error:
        table.refuse((*path, "bonus"), str(error), type(error))
    members = _mentions(table, (*path, "territories"), entry.get("territories", ()))
    return DraftContinent(one_line(key), one_line(key), table.line_of(path), bonus, members)


def _place(table: Table, places: Mapping[str, Any], key: str) -> Point | None:
    found = places.get(folded(key))
    return None if found is None else _point(table, ("places", key), found)


def _outline(table: Table, outlines: Mapping[str, Any], key: str) -> Outline:
    path: Path = ("outlines", key)
    polygons = _list(table, path, outlines.get(folded(key), []), "polygons")
    return tuple(
        tuple(_point(table, path, point) for point in _list(table, path, polygon, "polygons"))
        for polygon in polygons
    )


def _list(table: Table, path: Path, rows: object, what: str) -> Sequence[object]:
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        table.refuse(path, f"{path[0]} must be a list of {what}, got {shown(rows)}")
    return rows


def _point(table: Table, path: Path, point: object) -> Point:
    numbers = _list(table, path, point, "numbers")
    sound = [each for each in numbers if isinstance(each, int | float) and abs(each) <= 1e9]
    if len(sound) != 2 or len(numbers) != 2 or True in [isinstance(n, bool) for n in sound]:
        table.refuse(path, f"{path[0]} must be points of two numbers, got {shown(point)}")
    return float(sound[0]), float(sound[1])


def record(board: Board) -> dict[str, Any]:
    """Return a board as a table in this format, which is read as the same board.

    board: the board.
    """
    ways = set(board.borders)
    directed = any((end, start) not in ways for start, end in board.borders)
    found: dict[str, Any] = {"name": board.name}
    if directed:
        found["directed"] = True
    found["territories"] = {name: list(board.neighbours(name)) for name in board.territories}
    found["continents"] = {
        each.name: {"bonus": each.bonus, "territories": list(each.territories)}
        for each in board.continents
    }
    if board.places:
        found["places"] = dict(zip(board.territories, map(_numbers, board.places), strict=True))
    if board.outlines:
        shapes = [[list(map(_numbers, piece)) for piece in shape] for shape in board.outlines]
        found["outlines"] = dict(zip(board.territories, shapes, strict=True))
    return found


def _numbers(point: Point) -> list[float]:
    return [int(number) if number == int(number) else number for number in point]


def json_text(board: Board) -> str:
    """Return the JSON text of a board, a line for each territory and continent.

    board: the board.
    """
    blocks = []
    for key, value in record(board).items():
        if isinstance(value, dict):
            lines = (f"    {_json(name)}: {_json(each)}" for name, each in value.items())
            blocks.append(f"  {_json(key)}: {{\n" + ",\n".join(lines) + "\n  }")
        else:
            blocks.append(f"  {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def toml_text(board: Board) -> str:
    """Return the TOML text of a board, a line for each territory and each number of a continent.

    board: the board.
    """
    found = record(board)
    lines = [f"{key} = {_json(found[key])}" for key in ("name", "directed") if key in found]
    for key in ("territories", "places", "outlines"):
        if key in found:
            lines += ["", f"[{key}]"]
            lines += [f"{_json(name)} = {_json(each)}" for name, each in found[key].items()]
    for name, continent in found["continents"].items():
        lines += ["", f"[continents.{_json(name)}]"]
        lines += [f"{key} = {_json(value)}" for key, value in continent.items()]
    return "\n".join(lines) + "\n"


def _json(value: object) -> str:
    """Return a value in JSON, which TOML writes alike where there are no tables."""
    return json.dumps(value, ensure_ascii=False)
