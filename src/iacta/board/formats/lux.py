"""Lux's XML: continents of countries, with polygons and the ids of neighbours.

```xml
<luxboard><title>Tiny</title><continent><continentname>Africa</continentname><bonus>3</bonus>
<country><id>0</id><name>Egypt</name><polygon>0,0 9,0 9,9</polygon><adjoining>1,2</adjoining>
</country></continent></luxboard>
```

Each border leads in one direction. A continent may contain other continents; it then includes their
countries. The place of a country is the centre of its largest polygon. A country without a name is
named after its id.
"""

import re
from collections.abc import Iterator

from iacta.board.board import MAX_BORDERS, Outline, Point, check_count
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import BoardText, Element, read_bonus, read_id
from iacta.inputs.errors import MalformedError

POINT = re.compile(r"(-?\d{1,7}(?:\.\d{1,9})?),(-?\d{1,7}(?:\.\d{1,9})?)", re.ASCII)
MIN_POINTS = 3


def _read_draft(source: BoardText, default_name: str) -> Draft | None:
    top = source.xml("luxboard")
    if top is None:
        return None
    adjoining = (
        element for country in _walk_countries(top) for element in country.find_all("adjoining")
    )
    check_count(sum(len(_split_ids(element)) for element in adjoining), MAX_BORDERS, "borders")
    title = top.find("title")
    return Draft(
        title.text if title is not None and title.text else default_name,
        [_read_territory(country) for country in _walk_countries(top)],
        [_read_continent(*entry) for entry in enumerate(_walk_continents(top), 1)],
    )


def _walk_continents(element: Element) -> Iterator[Element]:
    for part in element.find_all("continent"):
        yield part
        yield from _walk_continents(part)


def _walk_countries(element: Element) -> Iterator[Element]:
    for part in element.inner:
        if part.name == "country":
            yield part
        elif part.name == "continent":
            yield from _walk_countries(part)


def _read_territory(country: Element) -> DraftTerritory:
    outline = tuple(_read_polygon(polygon) for polygon in country.find_all("polygon"))
    neighbours = [
        Mention(read_id(word, element.line), element.line)
        for element in country.find_all("adjoining")
        for word in _split_ids(element)
    ]
    key, name = _read_id(country), country.find("name")
    spelled = name.text if name is not None and name.text else key
    return DraftTerritory(
        key, spelled, country.line, tuple(neighbours), _compute_middle(outline), outline or None
    )


def _read_id(country: Element) -> str:
    identifier = country.require("id")
    return read_id(identifier.text, identifier.line)


def _split_ids(element: Element) -> list[str]:
    return element.text.replace(",", " ").split()


def _read_polygon(element: Element) -> tuple[Point, ...]:
    matches = [POINT.fullmatch(word) for word in element.text.split()]
    points = [(float(point[1]), float(point[2])) for point in matches if point]
    if len(points) < max(MIN_POINTS, len(matches)):
        raise MalformedError(
            f"line {element.line}: polygon must be three points x,y or more, "
            f"got {element.text[:60]!r}"
        )
    return tuple(points)


def _compute_middle(outline: Outline) -> Point | None:
    boxes = []
    for polygon in outline:
        xs, ys = zip(*polygon, strict=True)
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
    if not boxes:
        return None
    left, top, right, bottom = max(boxes, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    return (left + right) / 2, (top + bottom) / 2


def _read_continent(number: int, element: Element) -> DraftContinent:
    title = element.find("continentname")
    name = title.text if title is not None and title.text else f"Continent {number}"
    bonus = element.find("bonus")
    worth = 0 if bonus is None else read_bonus(bonus.text, bonus.line)
    members = tuple(
        Mention(_read_id(country), country.line) for country in _walk_countries(element)
    )
    return DraftContinent(f"continent {number}", name, element.line, worth, members)


FORMAT = BoardFormat("Lux", ".luxb", _read_draft)
