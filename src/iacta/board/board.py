"""Board: territories, the borders between them, and the continents that pay a bonus."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, TypeAlias

from iacta.board.names import did_you_mean, folded, read_name
from iacta.checks import put, row_of, short_repr, shown, whole_number
from iacta.errors import IllegalError, MalformedError, TooLargeError

__all__ = ["Board", "Border", "Continent", "Outline", "Point", "refuse_count", "refuse_more"]

MOST_TERRITORIES = 10_000
MOST_CONTINENTS = 10_000
MOST_BORDERS = 100_000
MOST_MEMBERS = 100_000
MOST_POINTS = 200_000
MOST_BONUS = 10**6
FARTHEST = 1e9

Border: TypeAlias = tuple[str, str]
Point: TypeAlias = tuple[float, float]
Outline: TypeAlias = tuple[tuple[Point, ...], ...]


@dataclass(frozen=True)
class Continent:
    """Territories that pay a bonus to whoever owns them all.

    name: what it is called.
    bonus: armies that it pays at the start of a turn; it may be negative.
    territories: the names of its territories. They may belong to other continents too.

    >>> Continent("Andes", 2, ["Venezuela", "Peru"])
    Continent(name='Andes', bonus=2, territories=('Venezuela', 'Peru'))
    """

    name: str
    bonus: int
    territories: tuple[str, ...]

    def __post_init__(self) -> None:
        put(self, "name", read_name(self.name, "continent"))
        put(self, "bonus", whole_number(self.bonus, "bonus", -MOST_BONUS, MOST_BONUS))
        names = row_of(self.territories, "territories", "names")
        refuse_more(names, MOST_TERRITORIES, "territories of a continent")
        put(self, "territories", tuple(read_name(name, "territory") for name in names))
        _unique(self.territories, "territories of a continent")


@dataclass(frozen=True, repr=False)
class Board:
    """A board: which territory borders on which, and which continents they make up.

    name: what the board is called.
    territories: the names of the territories. No two may be the same without regard to case,
        spaces, hyphens and underscores.
    borders: pairs of names (from, to), one for each direction in which armies may attack.
    continents: each a `Continent`.
    places: for each territory in order the point (x, y) at which its armies are drawn, x to the
        right and y down; or empty.
    outlines: for each territory in order its shape, a row of polygons, each a row of points; or
        empty.

    Names are brought to the spelling of `territories`, borders to their order; a border that
    stands twice counts once. Unknown and double names are refused.

    >>> Board("tiny", ("A", "B", "C"), (("b", "a"), ("a", "b"), ("B", "C")))
    Board('tiny', territories=('A', 'B', 'C'), borders=(('A', 'B'), ('B', 'A'), ('B', 'C')))
    """

    name: str
    territories: tuple[str, ...]
    borders: tuple[Border, ...]
    continents: tuple[Continent, ...] = ()
    places: tuple[Point, ...] = ()
    outlines: tuple[Outline, ...] = ()

    def __post_init__(self) -> None:
        put(self, "name", read_name(self.name, "name"))
        put(self, "territories", _names(self.territories))
        put(self, "borders", self._read_borders())
        put(self, "continents", self._read_continents())
        put(self, "places", _points(self.places, "places"))
        put(self, "outlines", _outlines(self.outlines))
        for field, rows in (("places", self.places), ("outlines", self.outlines)):
            if rows and len(rows) != len(self.territories):
                raise IllegalError(
                    f"{field} must be empty or {len(self.territories)}, one for each territory, "
                    f"got {len(rows)}"
                )

    def __repr__(self) -> str:
        return short_repr(self, first="name")

    def find(self, name: str) -> str:
        """Return the name of a territory as the board spells it.

        name: the name, without regard to case, spaces, hyphens and underscores.

        An unknown one is refused, with the nearest suggested.

        >>> nile = Board("Nile", ("North Africa", "Egypt"), ())
        >>> nile.find("north-africa")
        'North Africa'
        >>> nile.find("Egipt")
        Traceback (most recent call last):
            ...
        iacta.errors.IllegalError: territory must be on 'Nile', got 'Egipt'; did you mean 'Egypt'?
        """
        found = self._spelling.get(folded(name)) if isinstance(name, str) else None
        if found is None:
            self._refuse(name, "territory", self.territories)
        return found

    def find_set(self, text: str) -> tuple[str, ...]:
        """Return the territories that a text names, each once, in the order of the text.

        text: names of territories and continents, joined by commas. Where a territory and a
            continent are called the same, the territory is meant.

        >>> africa = Continent("Africa", 3, ("North Africa", "Egypt"))
        >>> tiny = Board("tiny", ("Brazil", "Egypt", "North Africa"), (), (africa,))
        >>> tiny.find_set("africa")
        ('North Africa', 'Egypt')
        >>> tiny.find_set("Egypt, Brazil")
        ('Egypt', 'Brazil')
        """
        if not isinstance(text, str):
            raise MalformedError(f"territories must be named in a text, got {shown(text)}")
        known = folded(text) in self._spelling or folded(text) in self._continent
        words = [text] if known else text.split(",")
        found = [name for word in words for name in self._named(word.strip())]
        if not found:
            raise IllegalError(
                f"territories must be at least one, got {shown(text)}, which has none"
            )
        return tuple(dict.fromkeys(found))

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the territories that can be attacked from one, in the order of the board.

        name: its name, found as `find` does.

        >>> Board("tiny", ("A", "B", "C"), (("A", "C"), ("A", "B"))).neighbours("a")
        ('B', 'C')
        """
        return self._next_to[self.find(name)]

    def _named(self, word: str) -> tuple[str, ...]:
        if folded(word) in self._spelling:
            return (self.find(word),)
        if folded(word) not in self._continent:
            names = (*self.territories, *(each.name for each in self.continents))
            self._refuse(word, "territory or continent", names)
        return self._continent[folded(word)].territories

    def _refuse(self, name: object, what: str, known: Iterable[str]) -> NoReturn:
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        raise IllegalError(f"{what} must be on {self.name!r}, got {shown(name)}{hint}")

    @cached_property
    def _spelling(self) -> Mapping[str, str]:
        return {folded(name): name for name in self.territories}

    @cached_property
    def _continent(self) -> Mapping[str, Continent]:
        return {folded(each.name): each for each in self.continents}

    @cached_property
    def _next_to(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {name: [] for name in self.territories}
        for start, end in self.borders:
            found[start].append(end)
        return {name: tuple(ends) for name, ends in found.items()}

    def _read_borders(self) -> tuple[Border, ...]:
        rows = row_of(self.borders, "borders", "pairs of names")
        refuse_more(rows, MOST_BORDERS, "borders")
        order = {name: index for index, name in enumerate(self.territories)}
        pairs = {self._read_border(row) for row in rows}
        return tuple(sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]])))

    def _read_border(self, row: object) -> Border:
        names = row_of(row, "border", "two names")
        if len(names) != 2:
            raise MalformedError(f"border must be a row of two names, got {shown(row)}")
        start, end = self.find(names[0]), self.find(names[1])
        if start == end:
            raise IllegalError(f"border must be between two territories, got {start!r} twice")
        return start, end

    def _read_continents(self) -> tuple[Continent, ...]:
        rows = row_of(self.continents, "continents", "continents")
        refuse_more(rows, MOST_CONTINENTS, "continents")
        for each in rows:
            if not isinstance(each, Continent):
                raise MalformedError(f"continents must each be a Continent, got {shown(each)}")
        _unique([each.name for each in rows], "continents")
        members = [name for each in rows for name in each.territories]
        refuse_more(members, MOST_MEMBERS, "territories in continents")
        return tuple(
            Continent(each.name, each.bonus, tuple(map(self.find, each.territories)))
            for each in rows
        )


def refuse_more(rows: Collection[object], most: int, what: str) -> None:
    """Refuse a row with more entries than a board may have."""
    refuse_count(len(rows), most, what)


def refuse_count(count: int, most: int, what: str) -> None:
    """Refuse more of something than a board may have."""
    if count > most:
        raise TooLargeError(f"a board must have at most {most} {what}, got {count}")


def _names(names: object) -> tuple[str, ...]:
    rows = row_of(names, "territories", "names")
    if not rows:
        raise IllegalError("a board must have at least one territory, got none")
    refuse_more(rows, MOST_TERRITORIES, "territories")
    read = tuple(read_name(name, "territory") for name in rows)
    _unique(read, "territories")
    return read


def _unique(names: Iterable[str], what: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        first = seen.get(folded(name))
        if first is not None:
            raise IllegalError(f"{what} must have different names, got {first!r} and {name!r}")
        seen[folded(name)] = name


def _points(points: object, what: str) -> tuple[Point, ...]:
    rows = row_of(points, what, "points")
    refuse_more(rows, MOST_POINTS, "points")
    return tuple(_point(each, what) for each in rows)


def _point(point: object, what: str) -> Point:
    numbers = row_of(point, what, "points")
    sound = [each for each in numbers if isinstance(each, int | float) and abs(each) <= FARTHEST]
    if len(numbers) != 2 or len(sound) != 2 or not all(map(math.isfinite, sound)):
        raise MalformedError(f"{what} must be points of two numbers, got {shown(point)}")
    return float(sound[0]), float(sound[1])


def _outlines(outlines: object) -> tuple[Outline, ...]:
    shapes = [
        [_points(polygon, "outlines") for polygon in row_of(each, "outlines", "polygons")]
        for each in row_of(outlines, "outlines", "shapes")
    ]
    points = [point for shape in shapes for polygon in shape for point in polygon]
    refuse_more(points, MOST_POINTS, "points")
    return tuple(map(tuple, shapes))
