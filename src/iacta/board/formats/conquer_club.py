"""Conquer Club's XML: territories with their borders by name, and continents.

```xml
<map><territory><name>North Africa</name><borders><border>Egypt</border></borders></territory>
<continent><name>Africa</name><bonus>3</bonus>
<components><territory>North Africa</territory></components></continent></map>
```

A border leads one way. A territory with a bonus of its own becomes a continent of one. A component
may be a continent too. If a continent has several bonuses, the largest is the one for all of it.
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
    pixels,
)
from iacta.board.formats.reading import BoardText, Element, read_bonus, read_place


def _read(source: BoardText, name: str) -> Draft | None:
    top = source.xml("map")
    if top is None or top.first("territory", "name") is None:
        return None  # another program's XML with the root <map>
    territories = [_territory(element) for element in top.all("territory")]
    own = [bonus for territory in top.all("territory") for bonus in _own_bonus(territory)]
    return Draft(name, territories, [*map(_continent, top.all("continent")), *own])


def _territory(element: Element) -> DraftTerritory:
    name = element.needed("name").text
    borders = tuple(
        Mention(border.text, border.line) for border in element.all("borders", "border")
    )
    return DraftTerritory(name, name, element.line, borders, _place(element))


def _place(element: Element) -> Point | None:
    for size in ("large", "small"):
        x, y = (element.first("coordinates", f"{size}{axis}") for axis in "xy")
        if x is not None and y is not None and (x.text or y.text):
            return read_place(x.text, y.text, x.line)
    return None


def _own_bonus(element: Element) -> Iterator[DraftContinent]:
    if element.first("bonus") is not None:
        name = element.needed("name")
        key = f"{name.text} (its own bonus)"
        members = (Mention(name.text, name.line),)
        yield DraftContinent(key, key, element.line, _bonus(element), members)


def _continent(element: Element) -> DraftContinent:
    name = element.needed("name").text
    members = tuple(
        Mention(component.text, component.line)
        for components in element.all("components")
        for component in components.inner
        if component.name in ("territory", "continent")
    )
    return DraftContinent(name, name, element.line, _bonus(element), members)


def _bonus(element: Element) -> int:
    element.needed("bonus")
    return max(read_bonus(bonus.text, bonus.line) for bonus in element.all("bonus"))


def _write(board: Board) -> str:
    places: Sequence[tuple[int, int] | None] = pixels(board, "an .xml")
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


FORMAT = BoardFormat("Conquer Club", ".xml", _read, _write)
