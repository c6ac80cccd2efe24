"""Lux's XML: countries within continents, each with polygons and the ids of its neighbours.

```xml
<luxboard><title>Tiny</title><continent><continentname>Africa</continentname><bonus>3</bonus>
<country><id>0</id><name>Egypt</name><polygon>0,0 9,0 9,9</polygon><adjoining>1,2</adjoining>
</country></continent></luxboard>
```

A border leads one way. A continent may stand within another and then belongs to it. The place of a
country is the middle of its largest polygon.
"""

import re
from collections.abc import Iterable, Iterator

from iacta.board.board import MOST_BONUS, MOST_BORDERS, Outline, Point, refuse_count
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.text import read_number
from iacta.board.formats.xml_tree import Element
from iacta.errors import MalformedError

__all__ = ["read"]

POINT = re.compile(r"(-?\d{1,7}(?:\.\d{1,9})?),(-?\d{1,7}(?:\.\d{1,9})?)", re.ASCII)
LEAST_POINTS = 3


def read(top: Element, name: str) -> Draft:
    """Return what a board tells.

    top: the outermost element of the file.
    name: what the board is called if the file does not say.
    """
    adjoining = (each.text for country in _countries(top) for each in country.all("adjoining"))
    refuse_count(sum(len(_words(text)) for text in adjoining), MOST_BORDERS, "borders")
    title = top.first("title")
    continents = list(_continents(top))
    return Draft(
        title.text if title is not None and title.text else name,
        [_territory(each) for each in _countries(top)],
        [_continent(each) for each in continents],
    )


def _continents(element: Element) -> Iterator[Element]:
    for each in element.all("continent"):
        yield each
        yield from _continents(each)


def _countries(element: Element) -> Iterator[Element]:
    for each in element.inner:
        if each.name == "country":
            yield each
        elif each.name == "continent":
            yield from _countries(each)


def _territory(element: Element) -> DraftTerritory:
    outline = tuple(_polygon(each) for each in element.all("polygon"))
    adjoining = [each for found in element.all("adjoining") for each in _ids(found)]
    return DraftTerritory(
        _id(element), element.needed("name").text, element.line, tuple(adjoining),
        _middle(outline), outline,
    )  # fmt: skip


def _id(element: Element) -> str:
    found = element.needed("id")
    return str(read_number(found.text, "id", found.line, 0, 10**9))


def _ids(element: Element) -> Iterator[Mention]:
    for word in _words(element.text):
        yield Mention(str(read_number(word, "id", element.line, 0, 10**9)), element.line)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _polygon(element: Element) -> tuple[Point, ...]:
    found = [POINT.fullmatch(word) for word in element.text.split()]
    points = [(float(each[1]), float(each[2])) for each in found if each]
    if len(points) < max(LEAST_POINTS, len(found)):
        raise MalformedError(
            f"line {element.line}: polygon must be three points x,y or more, "
            f"got {element.text[:60]!r}"
        )
    return tuple(points)


def _middle(outline: Outline) -> Point | None:
    if not outline:
        return None
    points = max(outline, key=_size)
    return (_between(x for x, _ in points), _between(y for _, y in points))


def _size(points: Iterable[Point]) -> float:
    xs, ys = zip(*points, strict=True)
    return float((max(xs) - min(xs)) * (max(ys) - min(ys)))


def _between(numbers: Iterable[float]) -> float:
    found = list(numbers)
    return (min(found) + max(found)) / 2


def _continent(element: Element) -> DraftContinent:
    name = element.needed("continentname").text
    bonus = element.first("bonus")
    number = 0
    if bonus is not None:
        number = read_number(bonus.text, "bonus", bonus.line, -MOST_BONUS, MOST_BONUS)
    members = [Mention(_id(each), each.line) for each in _countries(element)]
    return DraftContinent(f"continent {name}", name, element.line, number, tuple(members))
