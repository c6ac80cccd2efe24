"""Draft: what a reader found in a file, with the lines, and how a board is made of it.

A reader only tells what stands in the file. Whether the names that are mentioned are there, and
there once, whether a border leads both ways and every territory can be reached is looked at here,
for all formats alike.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from iacta.board.board import (
    MOST_BORDERS,
    MOST_CONTINENTS,
    MOST_MEMBERS,
    MOST_TERRITORIES,
    Board,
    Border,
    Continent,
    Outline,
    Point,
    refuse_count,
    refuse_more,
)
from iacta.board.names import did_you_mean, folded, read_name
from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, TooLargeError

__all__ = [
    "Draft",
    "DraftContinent",
    "DraftTerritory",
    "Line",
    "Mention",
    "Remark",
    "assemble",
    "at",
]

MOST_TOLD = 10

Line: TypeAlias = int | None


class Mention(NamedTuple):
    """A territory or continent mentioned by its key, and in which line."""

    key: str
    line: Line


class DraftTerritory(NamedTuple):
    """A territory as a file tells it; `key` is how others mention it, such as its number."""

    key: str
    name: str
    line: Line
    neighbours: tuple[Mention, ...]
    place: Point | None = None
    outline: Outline = ()


class DraftContinent(NamedTuple):
    """A continent as a file tells it; its members are territories, or whole continents."""

    key: str
    name: str
    line: Line
    bonus: int
    members: tuple[Mention, ...]


class Draft(NamedTuple):
    """What a file tells of a board; without `directed` each border leads both ways.

    `strays` are mentions of territories with which nothing is done but to look whether they exist.
    """

    name: str
    territories: list[DraftTerritory]
    continents: list[DraftContinent]
    directed: bool = True
    strays: tuple[Mention, ...] = ()


class Remark(NamedTuple):
    """Something odd about a board that can be played on all the same, and its line."""

    line: Line
    text: str


class Assembled(NamedTuple):
    """A board, and what is odd about it."""

    board: Board
    remarks: tuple[Remark, ...]


def at(line: Line, sentence: str) -> str:
    """Return a sentence with its line in front.

    >>> at(3, "bonus must be a whole number"), at(None, "no line")
    ('line 3: bonus must be a whole number', 'no line')
    """
    return sentence if line is None else f"line {line}: {sentence}"


class _Faults:
    """The mistakes for which a board is refused: the first few in full, the others counted."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.count = 0

    def add(self, line: Line, sentence: str) -> None:
        """Note a mistake.

        line: where it is, if that is known.
        sentence: what is wrong.
        """
        self.count += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(at(line, sentence))

    def unknown(self, mention: Mention, what: str, known: Iterable[str]) -> None:
        """Note a mention of what there is not, with the nearest name that there is.

        mention: what is mentioned, and where.
        what: what the mention should name.
        known: the names that there are.
        """
        # The nearest name is looked for only as long as it is told.
        named = len(self.told) < MOST_TOLD and not mention.key.isdigit()
        hint = did_you_mean(mention.key, known) if named else ""
        self.add(mention.line, f"{what} must be known, got {shown(mention.key)}{hint}")

    def refuse(self) -> None:
        """Refuse the board if a mistake was noted."""
        if self.count == 1:
            raise IllegalError(self.told[0])
        if self.count:
            more = self.count - len(self.told)
            rest = [f"and {more} more"] if more else []
            raise IllegalError(f"{self.count} mistakes: {'; '.join([*self.told, *rest])}")


def assemble(draft: Draft) -> Assembled:
    """Return the board of a draft with remarks, or refuse it with all its mistakes.

    draft: what was found in a file.

    >>> b = Mention("B", 1)
    >>> drafted = [DraftTerritory("A", "A", 1, (b,)), DraftTerritory("B", "B", 2, ())]
    >>> assemble(Draft("tiny", drafted, [])).remarks
    (Remark(line=1, text="the border from 'A' to 'B' leads one way only"),)
    """
    refuse_more(draft.territories, MOST_TERRITORIES, "territories")
    refuse_more(draft.continents, MOST_CONTINENTS, "continents")
    _refuse_more_mentions(draft)
    faults = _Faults()
    lines = _register(draft.territories, "territory", faults)
    grouped = _register(draft.continents, "continent", faults)
    remarks: list[Remark] = []
    borders = _borders(draft, lines, faults, remarks)
    for mention in draft.strays:
        if folded(mention.key) not in lines:
            faults.unknown(mention, "territory with borders", ())
    members = _Members(lines, grouped, faults).all_of(draft.continents)
    faults.refuse()
    board = Board(
        draft.name,
        tuple(each.name for each in draft.territories),
        _both_ways(borders, draft.directed),
        tuple(Continent(c.name, c.bonus, members[c.key]) for c in draft.continents),
        _places(draft.territories),
        tuple(each.outline for each in draft.territories) if _drawn(draft) else (),
    )
    remarks += _remarks(board, draft, borders)
    return Assembled(board, tuple(sorted(remarks, key=lambda remark: remark.line or 0)))


def _refuse_more_mentions(draft: Draft) -> None:
    borders = sum(len(each.neighbours) for each in draft.territories)
    members = sum(len(each.members) for each in draft.continents)
    refuse_count(borders, MOST_BORDERS, "borders")
    refuse_count(members, MOST_MEMBERS, "territories in continents")


def _register(
    entries: "Iterable[DraftTerritory] | Iterable[DraftContinent]", what: str, faults: _Faults
) -> dict[str, "DraftTerritory | DraftContinent"]:
    """Return the entries by their folded keys; wrong and double names are faults."""
    by_key: dict[str, DraftTerritory | DraftContinent] = {}
    by_name: dict[str, DraftTerritory | DraftContinent] = {}
    for each in entries:
        try:
            name = folded(read_name(each.name, what))
        except IactaError as error:
            faults.add(each.line, str(error))
            continue
        first = by_name.setdefault(name, each)
        by_key.setdefault(folded(each.key), each)
        if first is not each:
            faults.add(each.line, _twice(what, each.name, first))
        elif by_key[folded(each.key)] is not each:
            faults.add(each.line, _twice(f"id of a {what}", each.key, by_key[folded(each.key)]))
    return by_key


def _twice(what: str, name: str, first: DraftTerritory | DraftContinent) -> str:
    place = "" if first.line is None else f", first in line {first.line}"
    return f"{what} must be there once, got {shown(name)} twice{place}"


def _borders(
    draft: Draft,
    known: Mapping[str, DraftTerritory | DraftContinent],
    faults: _Faults,
    remarks: list[Remark],
) -> dict[Border, Line]:
    """Return the borders with their lines; unknown neighbours are faults."""
    found: dict[Border, Line] = {}
    for each in draft.territories:
        for mention in each.neighbours:
            other = known.get(folded(mention.key))
            if other is None:
                names = (entry.key for entry in draft.territories)
                faults.unknown(mention, f"neighbour of {each.name!r}", names)
            elif other is each:
                remarks.append(Remark(mention.line, f"{each.name!r} is its own neighbour"))
            elif (each.name, other.name) in found:
                remarks.append(
                    Remark(mention.line, f"{each.name!r} has the neighbour {other.name!r} twice")
                )
            else:
                found[each.name, other.name] = mention.line
    return found


class _Members:
    """Finds the territories of continents, some of whose members are continents."""

    def __init__(
        self,
        territories: Mapping[str, "DraftTerritory | DraftContinent"],
        continents: Mapping[str, "DraftTerritory | DraftContinent"],
        faults: _Faults,
    ) -> None:
        self.territories = territories
        self.continents = continents
        self.faults = faults
        self.count = 0
        self.found: dict[str, tuple[str, ...]] = {}

    def all_of(self, continents: Iterable[DraftContinent]) -> dict[str, tuple[str, ...]]:
        """Return for the key of each continent its territories."""
        for each in continents:
            self._resolve(each)
        return self.found

    def _resolve(self, first: DraftContinent) -> None:
        """Resolve a continent after those within it; recursion is what a file could exhaust."""
        if first.key in self.found:
            return
        waiting = [(first, self._within(first))]
        open_keys = {first.key}
        while waiting:
            here, rest = waiting[-1]
            inner = next(rest, None)
            if inner is None:
                self.found[here.key] = self._territories_of(here)
                open_keys.discard(waiting.pop()[0].key)
            elif inner.key in open_keys:
                self.faults.add(here.line, f"continent {here.name!r} must not contain itself")
                self.found |= {each.key: () for each, _ in waiting}
                return
            elif inner.key not in self.found:
                waiting.append((inner, self._within(inner)))
                open_keys.add(inner.key)

    def _within(self, continent: DraftContinent) -> Iterator[DraftContinent]:
        for mention in continent.members:
            key = folded(mention.key)
            inner = self.continents.get(key)
            if key not in self.territories and isinstance(inner, DraftContinent):
                yield inner

    def _territories_of(self, continent: DraftContinent) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for mention in continent.members:
            key = folded(mention.key)
            inner = self.continents.get(key)
            if key in self.territories:
                names[self.territories[key].name] = None
            elif inner is not None:
                names |= dict.fromkeys(self.found[inner.key])
            else:
                what = f"territory of continent {continent.name!r}"
                self.faults.unknown(mention, what, (t.key for t in self.territories.values()))
        self.count += len(names)
        if self.count > MOST_MEMBERS:
            raise TooLargeError(
                f"a board must have at most {MOST_MEMBERS} territories in continents, got more"
            )
        return tuple(names)


def _both_ways(borders: Iterable[Border], directed: bool) -> tuple[Border, ...]:
    if directed:
        return tuple(borders)
    return tuple(dict.fromkeys(way for a, b in borders for way in ((a, b), (b, a))))


def _places(territories: Iterable[DraftTerritory]) -> tuple[Point, ...]:
    """Return the places, unless some are missing or all the same, as in files without any."""
    places = [each.place for each in territories]
    known = tuple(place for place in places if place is not None)
    same = len(places) > 1 and len(set(known)) == 1
    return () if len(known) < len(places) or same else known


def _drawn(draft: Draft) -> bool:
    return all(each.outline for each in draft.territories)


def _remarks(board: Board, draft: Draft, borders: Mapping[Border, Line]) -> Iterator[Remark]:
    lines = {each.name: each.line for each in draft.territories}
    ways = set(board.borders)
    for start, end in board.borders:
        if (end, start) not in ways:
            text = f"the border from {start!r} to {end!r} leads one way only"
            yield Remark(borders[start, end], text)
    for name, root in _unreachable(board):
        yield Remark(lines[name], f"{name!r} cannot be reached from {root!r}")
    for each in draft.continents:
        if not each.members:
            yield Remark(each.line, f"continent {each.name!r} has no territories")
    inside = {name for each in board.continents for name in each.territories}
    for name in board.territories if board.continents else ():
        if name not in inside:
            yield Remark(lines[name], f"{name!r} belongs to no continent")


def _unreachable(board: Board) -> Iterator[tuple[str, str]]:
    """Yield each territory that cannot be reached from where most others can, and that place."""
    seen: set[str] = set()
    sizes: dict[str, int] = {}
    for name in board.territories:
        if name not in seen:
            fresh = _reached(board, name, seen)
            sizes[name] = len(fresh)
            seen |= fresh
    root = max(sizes, key=sizes.__getitem__)
    reached = _reached(board, root, set())
    for name in board.territories:
        if name not in reached:
            yield name, root


def _reached(board: Board, start: str, without: set[str]) -> set[str]:
    found, waiting = {start}, deque([start])
    while waiting:
        for name in board.neighbours(waiting.popleft()):
            if name not in found and name not in without:
                found.add(name)
                waiting.append(name)
    return found
