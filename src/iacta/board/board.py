"""Boards: territories, the borders between them, and continents with a bonus."""

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NoReturn, TypeAlias

import numpy as np

from iacta.inputs.checks import (
    PickledByFields,
    check_choice,
    quote,
    read_int,
    read_list,
    set_field,
)
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.inputs.reprs import PasteableMixin, format_short_repr

# Limits on boards from untrusted sources. Larger boards would take minutes or gigabytes.
MAX_TERRITORIES = 10_000
MAX_CONTINENTS = 10_000
MAX_BORDERS = 100_000
MAX_MEMBERS = 100_000
MAX_OUTLINE_POINTS = 200_000
MAX_BONUS = 10**6
MAX_COORDINATE = 1e9
MAX_NAME_LENGTH = 100
MAX_EDGE_LENGTH = 100  # the maximum number of items in an edge: two territories and ignored data
MAX_LISTED_LENGTH = 100  # longer lists of continents are left out of error messages
MAX_COMPARED_NAMES = 2000  # the search for a similar spelling only compares this many names
MIN_NAME_SIMILARITY = 0.75  # the `difflib` ratio above which a message suggests a name
HYPHENS = "-_\u2010\u2011\u2012\u2013\u2014"

Border: TypeAlias = tuple[str, str]
Point: TypeAlias = tuple[float, float]
Outline: TypeAlias = tuple[tuple[Point, ...], ...]


@lru_cache(maxsize=1000)
def fold_name(name: str) -> str:
    """Return a name for comparisons: in lower case, and without spaces, hyphens or underscores.

    >>> fold_name("North-Africa") == fold_name("north africa") == fold_name("NORTH_AFRICA")
    True
    """
    name = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in name if letter not in HYPHENS and not letter.isspace())


def collapse_spaces(text: str) -> str:
    r"""Strip a string, and replace each run of white space in it by a single space.

    >>> collapse_spaces("  North\n Africa ")
    'North Africa'
    """
    return " ".join(text.split())


def read_name(name: object, what: str) -> str:
    """Validate a name, and return it with single spaces.

    what: a noun for error messages, such as `"territory"`.

    >>> read_name("Brazil", "territory")
    'Brazil'
    >>> read_name("--", "territory")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: territory must be a name on one line, got '--'
    """
    if isinstance(name, str) and name.isprintable():
        if len(name) > MAX_NAME_LENGTH:
            raise IllegalError(
                f"{what} must be a name of at most {MAX_NAME_LENGTH} letters, got {quote(name)}"
            )
        if fold_name(name):
            return collapse_spaces(name)
    raise MalformedError(f"{what} must be a name on one line, got {quote(name)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion of a similar name for an error message; empty if no name is similar.

    >>> did_you_mean("brasil", ["Brazil", "Peru"])
    "; did you mean 'Brazil'?"
    >>> did_you_mean("Narnia", ["Argentina", "Peru"])
    ''
    """
    import difflib  # a slow import

    spellings = {fold_name(name): name for name in islice(known, MAX_COMPARED_NAMES)}
    typed = fold_name(name[:MAX_NAME_LENGTH])
    swapped = [
        spelling for spelling in spellings if sorted(spelling) == sorted(typed)
    ]  # as in "rde" for "red"
    near = swapped or difflib.get_close_matches(typed, spellings, n=1, cutoff=MIN_NAME_SIMILARITY)
    return f"; did you mean {spellings[near[0]]!r}?" if near else ""


def check_count(count: int, maximum: int, what: str) -> None:
    """Raise `TooLargeError` if a board has too many territories, borders or continents.

    count: the number of territories, borders or continents on the board.
    maximum: the maximum number.
    what: a plural noun for the error message, such as `"territories"`.
    """
    if count > maximum:
        raise TooLargeError(f"a board must have at most {maximum} {what}, got {count}")


@dataclass(frozen=True)
class Continent:
    """A continent: territories that bring a bonus to a player who owns them all.

    name: the name of the continent.
    bonus: the number of armies that its owner receives at the start of a turn; may be negative.
    territories: the names of its territories, which may also belong to other continents. Nobody
        receives the bonus of a continent without territories.

    >>> Continent("Andes", 2, ["Venezuela", "Peru"])
    Continent(name='Andes', bonus=2, territories=('Venezuela', 'Peru'))
    """

    name: str
    bonus: int
    territories: tuple[str, ...]

    def __post_init__(self) -> None:
        set_field(self, "name", read_name(self.name, "continent"))
        set_field(self, "bonus", read_int(self.bonus, "bonus", -MAX_BONUS, MAX_BONUS))
        names = read_list(self.territories, "territories", "names")
        set_field(self, "territories", _read_names(names, "territories of a continent"))


@dataclass(frozen=True, repr=False)
class Board(PickledByFields, PasteableMixin):
    """A board: territories, the borders between them, and continents.

    name: the name of the board.
    territories: the names of the territories. Names that differ only in case, spaces, hyphens or
        underscores are treated as equal.
    borders: pairs of names (from, to), one for each direction in which armies may attack. A pair
        without the reverse pair is a one-way border. `Board.from_edges` adds all reverse pairs.
    continents: the continents, as `Continent` objects.
    places: for each territory, the point (x, y) at which its armies are drawn, where x increases to
        the right and y downwards; an empty tuple if there are no places.
    outlines: for each territory, a tuple of polygons, which are tuples of points; an empty tuple if
        there are no outlines.

    Borders and continents are stored with the spelling of `territories`, and borders in the order
    of the territories. Repeated borders are removed. Raises `IactaError` for unknown and repeated
    names.

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
        set_field(self, "name", read_name(self.name, "name"))
        names = read_list(self.territories, "territories", "names")
        if not names:
            raise IllegalError("a board must have at least one territory")
        set_field(self, "territories", _read_names(names, "territories"))
        set_field(self, "borders", self._read_borders())
        set_field(self, "continents", self._read_continents())
        places = read_list(self.places, "places", "points")
        set_field(self, "places", tuple(read_point(place, "places") for place in places))
        shapes = read_list(self.outlines, "outlines", "shapes")
        set_field(self, "outlines", tuple(map(read_outline, shapes)))
        corners = sum(len(polygon) for shape in self.outlines for polygon in shape)
        check_count(max(len(places), corners), MAX_OUTLINE_POINTS, "points")
        for field, rows in (("places", self.places), ("outlines", self.outlines)):
            if rows and len(rows) != len(self.territories):
                raise IllegalError(
                    f"{field} must be empty or {len(self.territories)}, one for each territory, "
                    f"got {len(rows)}"
                )

    def __copy__(self) -> "Board":
        return self

    def __deepcopy__(self, memo: object) -> "Board":
        return self

    @classmethod
    def from_edges(
        cls,
        name: str,
        edges: Iterable[Sequence[object]],
        *,
        directed: bool = False,
        continents: Iterable[Continent] | Mapping[str, tuple[int, Iterable[object]]] = (),
    ) -> "Board":
        """Build a board from its borders, such as the `edges` of a networkx graph.

        name: the name of the board.
        edges: pairs of neighbouring territories. Further items of an edge, such as its data, are
            ignored. Whole numbers are converted to names.
        directed: whether each border leads only from the first territory to the second.
        continents: `Continent` objects, or a mapping from names to pairs of a bonus and
            territories.

        The territories are in the order in which they first appear in the edges.

        >>> tiny = Board.from_edges("tiny", [("A", "B"), ("B", "C")])
        >>> tiny.territories, tiny.neighbours("B")
        (('A', 'B', 'C'), ('A', 'C'))
        >>> Board.from_edges("tiny", [(1, 2)], directed=True, continents={"X": (2, ["2"])})
        Board('tiny', territories=('1', '2'), borders=(('1', '2'),), \
continents=(Continent(name='X', bonus=2, territories=('2',)),))
        """
        check_choice(directed, (True, False), "directed")
        pairs = []
        for edge in read_list(edges, "edges", "pairs of names", MAX_BORDERS):
            ends = read_list(edge, "edge", "two names", MAX_EDGE_LENGTH)[:2]
            if len(ends) < 2:
                raise MalformedError(f"edge must be a list of two names, got {quote(edge)}")
            pairs.append((_read_node(ends[0]), _read_node(ends[1])))
        spelling: dict[str, str] = {}
        for end in (name for pair in pairs for name in pair):
            spelling.setdefault(fold_name(end), end)
        back = [] if directed else [(end, start) for start, end in pairs]
        if isinstance(continents, Mapping):
            continents = [_read_continent(*members) for members in continents.items()]
        rows = read_list(continents, "continents", "continents")
        return cls(name, tuple(spelling.values()), (*pairs, *back), tuple(rows))

    def to_record(self) -> dict[str, Any]:
        """Return the board as a dictionary in iacta's own format, which `read_board` reads.

        >>> Board.from_edges("tiny", [("A", "B")]).to_record()["territories"]
        {'A': ['B'], 'B': ['A']}
        """
        ways = set(self.borders)
        record: dict[str, Any] = {"name": self.name}
        if any((end, start) not in ways for start, end in self.borders):
            record["directed"] = True
        record["territories"] = {name: list(self.neighbours(name)) for name in self.territories}
        record["continents"] = {
            continent.name: {"bonus": continent.bonus, "territories": list(continent.territories)}
            for continent in self.continents
        }
        if self.places:
            record["places"] = dict(
                zip(self.territories, map(_format_point, self.places), strict=True)
            )
        if self.outlines:
            shapes = [
                [list(map(_format_point, piece)) for piece in shape] for shape in self.outlines
            ]
            record["outlines"] = dict(zip(self.territories, shapes, strict=True))
        return record

    def to_toml(self, table_prefix: str = "") -> str:
        """Return the content of a TOML file in iacta's own format, which `read_board` reads.

        table_prefix: a prefix for the names of tables, for a board inside a larger file.

        >>> import tomllib
        >>> from iacta.board.files import read_board
        >>> board = Board.from_edges("tiny", [("A", "B"), ("B", "C")])
        >>> read_board(tomllib.loads(board.to_toml())) == board
        True
        """
        record = self.to_record()
        lines = [
            f"{key} = {format_json(record[key])}" for key in ("name", "directed") if key in record
        ]
        for key in ("territories", "places", "outlines"):
            if key in record:
                lines += ["", f"[{table_prefix}{key}]"]
                lines += [
                    f"{format_json(name)} = {format_json(e)}" for name, e in record[key].items()
                ]
        for name, continent in record["continents"].items():
            lines += ["", f"[{table_prefix}continents.{format_json(name)}]"]
            lines += [f"{key} = {format_json(value)}" for key, value in continent.items()]
        return "\n".join(lines) + "\n"

    def to_text(self) -> str:
        """Return the board as a Python expression of any length."""
        return format_short_repr(self, first="name")

    def _summary(self) -> str:
        pairs = len({frozenset(pair) for pair in self.borders})
        return f"{self.name!r}, {len(self.territories)} territories, {pairs} borders"

    def find(self, name: str) -> str:
        """Return the name of a territory with the spelling of the board.

        name: the name in any spelling: case, spaces, hyphens and underscores do not matter.

        Raises `IllegalError` for an unknown name, and suggests a similar name if there is one.

        >>> nile = Board("Nile", ("North Africa", "Egypt"), ())
        >>> nile.find("north-africa")
        'North Africa'
        >>> nile.find("Egipt")
        Traceback (most recent call last):
            ...
        iacta.IllegalError: board 'Nile' has no territory 'Egipt'; did you mean 'Egypt'?
        """
        spelling = self._spellings.get(fold_name(name)) if isinstance(name, str) else None
        if spelling is None:
            self._refuse(name, "territory", self.territories)
        return spelling

    def find_set(self, text: str) -> tuple[str, ...]:
        """Return the territories that a string names, in the order of the string.

        text: names of territories and continents, separated by commas. A name of both a territory
            and a continent means the territory.

        >>> africa = Continent("Africa", 3, ("North Africa", "Egypt"))
        >>> tiny = Board("tiny", ("Brazil", "Egypt", "North Africa"), (), (africa,))
        >>> tiny.find_set("africa")
        ('North Africa', 'Egypt')
        >>> tiny.find_set("Egypt, Brazil")
        ('Egypt', 'Brazil')
        >>> Board("commas", ("A, B", "C"), ()).find_set("C, A, B")
        ('C', 'A, B')
        """
        if not isinstance(text, str):
            raise MalformedError(f"territories must be a string of their names, got {quote(text)}")
        groups = {fold_name(continent.name): continent.territories for continent in self.continents}
        groups |= {key: (name,) for key, name in self._spellings.items()}
        members: dict[str, None] = {}
        words = text.split(",")
        longest = 1 + max(key.count(",") for key in groups)  # names may contain commas
        while words:
            tried = (",".join(words[:number]) for number in range(longest, 0, -1))
            key = next((fold_name(name) for name in tried if fold_name(name) in groups), None)
            if key is None:
                self._refuse_name(words[0].strip())
            members |= dict.fromkeys(groups[key])
            del words[: 1 + key.count(",")]
        if not members:
            raise IllegalError(f"{quote(text)} has no territories")
        return tuple(members)

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the territories that a territory can attack, in the order of the board.

        name: the territory, in any spelling.

        >>> Board("tiny", ("A", "B", "C"), (("A", "C"), ("A", "B"))).neighbours("a")
        ('B', 'C')
        """
        return self._neighbours[self.find(name)]

    def _refuse(self, name: object, what: str, known: Iterable[str]) -> NoReturn:
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        raise IllegalError(f"board {self.name!r} has no {what} {quote(name)}{hint}")

    def _refuse_name(self, name: str) -> NoReturn:
        """Raise an error for an unknown territory or continent; name a few continents."""
        continents = [continent.name for continent in self.continents]
        names = (*self.territories, *continents)
        text = ", ".join(continents)
        if did_you_mean(name, names) or not text or len(text) > MAX_LISTED_LENGTH:
            self._refuse(name, "territory or continent", names)
        raise IllegalError(
            f"board {self.name!r} has no territory or continent {quote(name)}; its continents are "
            f"{text}"
        )

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        return {fold_name(name): name for name in self.territories}

    @cached_property
    def _neighbours(self) -> Mapping[str, tuple[str, ...]]:
        neighbours: dict[str, list[str]] = {name: [] for name in self.territories}
        for start, end in self.borders:
            neighbours[start].append(end)
        return {name: tuple(ends) for name, ends in neighbours.items()}

    def _read_borders(self) -> tuple[Border, ...]:
        rows = read_list(self.borders, "borders", "pairs of names")
        check_count(len(rows), MAX_BORDERS, "borders")
        pairs = set()
        for row in rows:
            names = read_list(row, "border", "two names")
            if len(names) != 2:
                raise MalformedError(f"border must be a list of two names, got {quote(row)}")
            start, end = map(self.find, names)
            if start == end:
                raise IllegalError(f"a border must be between two territories, got {start!r} twice")
            pairs.add((start, end))
        order = {name: index for index, name in enumerate(self.territories)}
        return tuple(sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]])))

    def _read_continents(self) -> tuple[Continent, ...]:
        rows = read_list(self.continents, "continents", "continents")
        check_count(len(rows), MAX_CONTINENTS, "continents")
        for row in rows:
            if not isinstance(row, Continent):
                raise MalformedError(f"continents must each be a Continent, got {quote(row)}")
        _refuse_repeated([row.name for row in rows], "continents")
        members = sum(len(row.territories) for row in rows)
        check_count(members, MAX_MEMBERS, "territories in continents")
        return tuple(
            Continent(row.name, row.bonus, tuple(map(self.find, row.territories))) for row in rows
        )


def _read_node(node: object) -> str:
    is_number = isinstance(node, int | np.integer) and not isinstance(node, bool)
    return read_name(str(node) if is_number else node, "territory")


def _read_continent(name: str, entry: object) -> Continent:
    parts = read_list(entry, f"continent {name}", "a bonus and territories")
    if len(parts) != 2:
        raise MalformedError(
            f"continent {name} must be a bonus and its territories, got {quote(entry)}"
        )
    territories = [_read_node(node) for node in read_list(parts[1], "territories", "names")]
    return Continent(name, parts[0], tuple(territories))


def _read_names(names: Collection[object], what: str) -> tuple[str, ...]:
    check_count(len(names), MAX_TERRITORIES, what)
    read = tuple(read_name(name, "territory") for name in names)
    _refuse_repeated(read, what)
    return read


def _refuse_repeated(names: Iterable[str], what: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        first = seen.get(fold_name(name))
        if first is not None:
            raise IllegalError(f"{what} must have different names, got {first!r} and {name!r}")
        seen[fold_name(name)] = name


def read_point(point: object, what: str) -> Point:
    """Validate a point, and return it as two floats.

    >>> read_point([3, 4.5], "places")
    (3.0, 4.5)
    """
    numbers = read_list(point, what, "numbers")
    near = [
        float(number)
        for number in numbers
        if isinstance(number, int | float)
        and not isinstance(number, bool)
        and abs(number) <= MAX_COORDINATE
    ]
    if len(numbers) != 2 or len(near) != 2:
        raise MalformedError(f"{what} must be points of two numbers, got {quote(point)}")
    return near[0], near[1]


def read_outline(shape: object) -> Outline:
    """Validate an outline, and return it as a tuple of polygons.

    >>> read_outline([[[0, 0], [9, 0], [9, 9]]])
    (((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)),)
    """
    return tuple(
        tuple(read_point(point, "outlines") for point in read_list(polygon, "outlines", "points"))
        for polygon in read_list(shape, "outlines", "polygons")
    )


def _format_point(point: Point) -> list[float]:
    return [int(number) if number == int(number) else number for number in point]


def format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
