"""Conquer Club's XML: territories with their borders by name, and continents.

```xml
<map><territory><name>North Africa</name><borders><border>Egypt</border></borders></territory>
<continent><name>Africa</name><bonus>3</bonus>
<components><territory>North Africa</territory></components></continent></map>
```

A border leads one way. A territory that pays a bonus of its own becomes a continent of one. A
component may be a continent too. Of several bonuses of a continent the largest is that for all of
it.
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from iacta.board.board import MOST_BONUS, Board, Point
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.text import read_number
from iacta.board.formats.xml_tree import Element

__all__ = ["read", "write"]

FARTHEST = 10**6


def read(top: Element, name: str) -> Draft:
    """Return what a map tells.

    top: the outermost element of the file.
    name: what the board is called, as the file does not say.
    """
    territories = [_territory(each) for each in top.all("territory")]
    own = [each for territory in top.all("territory") for each in _own_bonus(territory)]
    return Draft(name, territories, [*map(_continent, top.all("continent")), *own])


def _territory(element: Element) -> DraftTerritory:
    name = element.needed("name").text
    borders = (Mention(each.text, each.line) for each in element.all("borders", "border"))
    return DraftTerritory(name, name, element.line, tuple(borders), _place(element))


def _place(element: Element) -> Point | None:
    for size in ("large", "small"):
        x, y = (element.first("coordinates", f"{size}{axis}") for axis in "xy")
        if x is not None and y is not None:
            return (
                float(read_number(x.text, "place", x.line, -FARTHEST, FARTHEST)),
                float(read_number(y.text, "place", y.line, -FARTHEST, FARTHEST)),
            )
    return None


def _own_bonus(element: Element) -> Iterator[DraftContinent]:
    if element.first("bonus") is not None:
        name = element.needed("name")
        called = f"{name.text} (its own bonus)"
        members = (Mention(name.text, name.line),)
        yield DraftContinent(called, called, element.line, _bonus(element), members)


def _continent(element: Element) -> DraftContinent:
    name = element.needed("name").text
    members = tuple(
        Mention(each.text, each.line)
        for components in element.all("components")
        for each in components.inner
        if each.name in ("territory", "continent")
    )
    return DraftContinent(name, name, element.line, _bonus(element), members)


def _bonus(element: Element) -> int:
    element.needed("bonus")
    return max(
        read_number(each.text, "bonus", each.line, -MOST_BONUS, MOST_BONUS)
        for each in element.all("bonus")
    )


def write(board: Board) -> str:
    """Return the text of a map.

    board: the board.
    """
    places = board.places or (None,) * len(board.territories)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<map>"]
    for name, place in zip(board.territories, places, strict=True):
        lines += ["  <territory>", f"    <name>{escape(name)}</name>", "    <borders>"]
        lines += [f"      <border>{escape(each)}</border>" for each in board.neighbours(name)]
        lines += ["    </borders>", *_coordinates(place), "  </territory>"]
    for continent in board.continents:
        lines += ["  <continent>", f"    <name>{escape(continent.name)}</name>"]
        lines += [f"    <bonus>{continent.bonus}</bonus>", "    <components>"]
        lines += [f"      <territory>{escape(each)}</territory>" for each in continent.territories]
        lines += ["    </components>", "  </continent>"]
    return "\n".join([*lines, "</map>"]) + "\n"


def _coordinates(place: Point | None) -> list[str]:
    if place is None:
        return []
    x, y = map(round, place)
    numbers = "".join(
        f"<{size}x>{x}</{size}x><{size}y>{y}</{size}y>" for size in ("small", "large")
    )
    return [f"    <coordinates>{numbers}</coordinates>"]
