"""Conquer Club's XML: territories with the names of their neighbours, and continents.

```xml
<map><territory><name>North Africa</name><borders><border>Egypt</border></borders></territory>
<continent><name>Africa</name><bonus>3</bonus>
<components><territory>North Africa</territory></components></continent></map>
```

Each border leads in one direction. A territory with its own bonus becomes a continent with a single
territory. The components of a continent may be continents. If a continent has several bonuses, the
largest bonus is for the whole continent.
"""

from collections.abc import Iterator, Sequence
from html import escape

from iacta.board.board import Board, Point
from iacta.board.formats.draft import (
    BoardFormat,
    Draft,
    DraftContinent,
    DraftTerritory,
    Mention,
    round_places,
)
from iacta.board.formats.reading import BoardText, Element, read_bonus, read_place


def _read_draft(source: BoardText, default_name: str) -> Draft | None:
    top = source.xml("map")
    if top is None or top.find("territory", "name") is None:
        return None  # this is XML of another program, with the same root <map>
    territories = [_read_territory(element) for element in top.find_all("territory")]
    own = [bonus for territory in top.find_all("territory") for bonus in _read_own_bonus(territory)]
    return Draft(
        default_name, territories, [*map(_read_continent, top.find_all("continent")), *own]
    )


def _read_territory(element: Element) -> DraftTerritory:
    name = element.require("name").text
    borders = tuple(
        Mention(border.text, border.line) for border in element.find_all("borders", "border")
    )
    return DraftTerritory(name, name, element.line, borders, _read_place(element))


def _read_place(element: Element) -> Point | None:
    for size in ("large", "small"):
        x, y = (element.find("coordinates", f"{size}{axis}") for axis in "xy")
        if x is not None and y is not None and (x.text or y.text):
            return read_place(x.text, y.text, x.line)
    return None


def _read_own_bonus(element: Element) -> Iterator[DraftContinent]:
    if element.find("bonus") is not None:
        name = element.require("name")
        key = f"{name.text} (its own bonus)"
        members = (Mention(name.text, name.line),)
        yield DraftContinent(key, key, element.line, _read_largest_bonus(element), members)


def _read_continent(element: Element) -> DraftContinent:
    name = element.require("name").text
    members = tuple(
        Mention(component.text, component.line)
        for components in element.find_all("components")
        for component in components.inner
        if component.name in ("territory", "continent")
    )
    return DraftContinent(name, name, element.line, _read_largest_bonus(element), members)


def _read_largest_bonus(element: Element) -> int:
    element.require("bonus")
    return max(read_bonus(bonus.text, bonus.line) for bonus in element.find_all("bonus"))


def _format_board(board: Board) -> str:
    places: Sequence[tuple[int, int] | None] = round_places(board, "an .xml")
    places = places or [None] * len(board.territories)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<map>"]
    for name, place in zip(board.territories, places, strict=True):
        lines += ["  <territory>", f"    <name>{escape(name, quote=False)}</name>", "    <borders>"]
        lines += [
            f"      <border>{escape(neighbour, quote=False)}</border>"
            for neighbour in board.neighbours(name)
        ]
        lines.append("    </borders>")
        if place is not None:
            x, y = place
            small, large = (f"<{s}x>{x}</{s}x><{s}y>{y}</{s}y>" for s in ("small", "large"))
            lines.append(f"    <coordinates>{small}{large}</coordinates>")
        lines.append("  </territory>")
    for continent in board.continents:
        lines += ["  <continent>", f"    <name>{escape(continent.name, quote=False)}</name>"]
        lines += [f"    <bonus>{continent.bonus}</bonus>", "    <components>"]
        lines += [
            f"      <territory>{escape(territory, quote=False)}</territory>"
            for territory in continent.territories
        ]
        lines += ["    </components>", "  </continent>"]
    return "\n".join([*lines, "</map>"]) + "\n"


FORMAT = BoardFormat("Conquer Club", ".xml", _read_draft, _format_board)
