"""Drafts: boards as described by files, before validation.

The reader of a `BoardFormat` returns a `Draft`, which may contain mistakes. `assemble` converts a
draft to a board. It refuses unknown and repeated names, and adds remarks about oddities such as
one-way borders and unreachable territories.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from iacta.board.board import (
    MAX_BORDERS,
    MAX_CONTINENTS,
    MAX_MEMBERS,
    MAX_NAME_LENGTH,
    MAX_TERRITORIES,
    Board,
    Border,
    Continent,
    Outline,
    Point,
    check_count,
    did_you_mean,
    fold_name,
    read_name,
)
from iacta.board.formats.reading import MAX_PLACE, BoardText, prefix_line
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, TooLargeError

MAX_LISTED_MISTAKES = 10  # the maximum number of mistakes or names in a message
MAX_STEM_LENGTH = MAX_NAME_LENGTH - 12  # characters; leaves room for a number in parentheses

Line: TypeAlias = int | None


class Mention(NamedTuple):
    """A reference to a territory or continent by its key, with the line in the file."""

    key: str
    line: Line


class DraftTerritory(NamedTuple):
    """A territory in a file. A `Mention` refers to the territory by its `key`, such as a number."""

    key: str
    name: str
    line: Line
    neighbours: tuple[Mention, ...]
    place: Point | None = None
    outline: Outline | None = None


class DraftContinent(NamedTuple):
    """A continent in a file. Its members are territories or other continents."""

    key: str
    name: str
    line: Line
    bonus: int
    members: tuple[Mention, ...]


class Remark(NamedTuple):
    """A remark about an oddity of a valid board.

    line: the number of the line in the file; `None` for a remark about the whole file.
    text: the remark in words.
    """

    line: Line
    text: str


class Draft(NamedTuple):
    """The content of a board file.

    directed: whether each border leads in only one direction.
    references: other mentions of territories; `assemble` checks that these territories exist.
    has_real_places: whether places are kept if they are all equal; otherwise equal places are
        treated as placeholders.
    remarks: remarks from the reader of the file.
    """

    name: str
    territories: list[DraftTerritory]
    continents: list[DraftContinent]
    directed: bool = True
    references: tuple[Mention, ...] = ()
    has_real_places: bool = False
    remarks: tuple[Remark, ...] = ()


class Cards(NamedTuple):
    """The cards of a board.

    territories: the number of cards with a territory.
    wildcards: the number of wildcards.
    missions: the number of mission cards.
    remarks: pairs of the number of a line, or 0, and a remark on it.
    """

    territories: int
    wildcards: int
    missions: int
    remarks: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class BoardFormat:
    """A file format for boards.

    ending: the usual file extension, which also selects the format for writing a board.
    read: a function from the content of a file and a default name to a draft; the result is `None`
        for a file in another format.
    write: a function from a board to the content of a file.
    cards: a function from the path, the content and the draft of a board file to the cards from a
        file in the same folder.
    """

    name: str
    ending: str
    read: Callable[[BoardText, str], Draft | None]
    write: Callable[[Board], str] | None = None
    cards: Callable[[Path, str, Draft], Cards | None] | None = None


class Assembled(NamedTuple):
    """A board, and remarks about the board."""

    board: Board
    remarks: tuple[Remark, ...]


class _Faults:
    """The mistakes in a draft: a list of the first mistakes, and the total number of mistakes."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self.count = 0

    def add(self, line: Line, sentence: str) -> None:
        self.count += 1
        if len(self.listed) < MAX_LISTED_MISTAKES:
            self.listed.append(prefix_line(line, sentence))

    def add_unknown(self, mention: Mention, what: str, known: Iterable[str]) -> None:
        # Finding a similar name is slow, so only the mistakes that the message lists get a
        # suggestion.
        suggest = len(self.listed) < MAX_LISTED_MISTAKES and not mention.key.isdigit()
        hint = did_you_mean(mention.key, known) if suggest else ""
        self.add(mention.line, f"unknown {what}: {quote(mention.key)}{hint}")

    def refuse(self) -> None:
        if self.count == 1:
            raise IllegalError(self.listed[0])
        if self.count:
            more = self.count - len(self.listed)
            rest = [f"and {more} more"] if more else []
            raise IllegalError(f"{self.count} mistakes: {'; '.join([*self.listed, *rest])}")


def assemble(draft: Draft) -> Assembled:
    """Convert a draft to a board with remarks, or raise `IactaError` with a list of mistakes.

    >>> b = Mention("B", 1)
    >>> territories = [DraftTerritory("A", "A", 1, (b,)), DraftTerritory("B", "B", 2, ())]
    >>> assemble(Draft("tiny", territories, [])).remarks
    (Remark(line=1, text="the border from 'A' to 'B' leads one way only"),)
    """
    check_count(len(draft.territories), MAX_TERRITORIES, "territories")
    check_count(len(draft.continents), MAX_CONTINENTS, "continents")
    neighbours = sum(len(territory.neighbours) for territory in draft.territories)
    check_count(neighbours, MAX_BORDERS, "borders")
    members = sum(len(continent.members) for continent in draft.continents)
    check_count(members, MAX_MEMBERS, "territories in continents")

    faults = _Faults()
    remarks = list(draft.remarks)
    territories = _index_by_key(draft.territories, "territory", faults)
    continents = _index_by_key(draft.continents, "continent", faults)
    borders = _read_borders(draft, territories, faults, remarks)
    for mention in draft.references:
        if fold_name(mention.key) not in territories:
            faults.add_unknown(mention, "territory with borders", _list_spellings(draft))
    inside = _collect_members(draft.continents, territories, continents, faults)
    faults.refuse()

    both_ways = [way for a, b in borders for way in ((a, b), (b, a))]
    outlines = [
        territory.outline for territory in draft.territories if territory.outline is not None
    ]
    board = Board(
        draft.name,
        tuple(territory.name for territory in draft.territories),
        tuple(borders if draft.directed else dict.fromkeys(both_ways)),
        tuple(
            Continent(continent.name, continent.bonus, inside[continent.key])
            for continent in draft.continents
        ),
        _choose_places(draft),
        tuple(outlines) if len(outlines) == len(draft.territories) else (),
    )
    remarks += _list_remarks(board, draft, borders)
    return Assembled(board, tuple(sorted(remarks, key=lambda remark: remark.line or 0)))


_Entry = TypeVar("_Entry", DraftTerritory, DraftContinent)


def make_names_unique(draft: Draft) -> Draft:
    """Extend repeated names in a draft, so that entries with different keys have different names.

    A repeated name of a territory is extended by the name of its continent in parentheses, or by a
    number if the territories are in the same continent. A repeated name of a continent is extended
    by a number. A remark lists the new names. Entries with equal keys do not change; `assemble`
    refuses these entries.

    >>> territories = [DraftTerritory("1", "Port", 1, ()), DraftTerritory("2", "Port", 2, ())]
    >>> east = DraftContinent("1", "East", 3, 4, (Mention("1", 1),))
    >>> draft = make_names_unique(Draft("tiny", territories, [east]))
    >>> [territory.name for territory in draft.territories]
    ['Port (East)', 'Port (1)']
    """
    continents, remarks = _rename(draft.continents, "continents", {})
    homes: dict[str, str] = {}  # the smallest continent of each territory
    for continent in sorted(continents, key=lambda continent: len(continent.members)):
        for mention in continent.members:
            homes.setdefault(fold_name(mention.key), continent.name)
    territories, more = _rename(draft.territories, "territories", homes)
    return draft._replace(
        territories=territories,
        continents=continents,
        remarks=(*draft.remarks, *remarks, *more),
    )


def _rename(
    entries: list[_Entry], what: str, homes: Mapping[str, str]
) -> tuple[list[_Entry], list[Remark]]:
    """Extend the repeated names of entries; return the entries and a remark for each such name."""
    namesakes: dict[str, list[_Entry]] = {}
    for entry in entries:
        namesakes.setdefault(fold_name(entry.name), []).append(entry)
    taken, names, remarks = set(namesakes), dict[str, str](), list[Remark]()
    for spelling, same in namesakes.items():
        keys = [fold_name(entry.key) for entry in same]
        if not spelling or len(same) == 1 or len(set(keys)) < len(same):
            continue
        shares = Counter(homes.get(key) for key in keys)
        numbers = map(str, count(1))
        for key, entry in zip(keys, same, strict=True):
            home = homes.get(key)
            words = numbers if home is None or shares[home] > 1 else chain([home], numbers)
            longer = (f"{entry.name[:MAX_STEM_LENGTH]} ({word})" for word in words)
            names[key] = next(
                name
                for name in longer
                if fold_name(name) not in taken and len(name) <= MAX_NAME_LENGTH
            )
            taken.add(fold_name(names[key]))
        listed = _list_names([names[key] for key in keys])
        text = f"{len(same)} {what} are named {quote(same[0].name)}; iacta calls them {listed}"
        remarks.append(Remark(same[1].line, text))
    renamed = [
        entry._replace(name=names.get(fold_name(entry.key), entry.name)) for entry in entries
    ]
    return renamed, remarks


def _index_by_key(entries: Iterable[_Entry], what: str, faults: _Faults) -> dict[str, _Entry]:
    by_key: dict[str, _Entry] = {}
    by_name: dict[str, _Entry] = {}

    def describe_repeat(what: str, name: str, first: _Entry) -> str:
        place = "" if first.line is None else f", first in line {first.line}"
        return f"{what} {quote(name)} appears twice{place}"

    for entry in entries:
        # Register the keys of all entries, even of invalid entries.
        same_key = by_key.setdefault(fold_name(entry.key), entry)
        try:
            name = fold_name(read_name(entry.name, what))
        except IactaError as error:
            faults.add(entry.line, str(error))
            continue
        same_name = by_name.setdefault(name, entry)
        if same_name is not entry:
            faults.add(entry.line, describe_repeat(what, entry.name, same_name))
        elif same_key is not entry:
            faults.add(entry.line, describe_repeat(f"{what} id", entry.key, same_key))
    return by_key


def _list_spellings(draft: Draft) -> Iterator[str]:
    return (
        word
        for territory in draft.territories
        for word in dict.fromkeys((territory.key, territory.name))
    )


def _read_borders(
    draft: Draft,
    territories: Mapping[str, DraftTerritory],
    faults: _Faults,
    remarks: list[Remark],
) -> dict[Border, Line]:
    borders: dict[Border, Line] = {}
    loops: dict[str, Line] = {}
    for territory in draft.territories:
        for mention in territory.neighbours:
            other = territories.get(fold_name(mention.key))
            if other is None:
                faults.add_unknown(
                    mention, f"neighbour of {territory.name!r}", _list_spellings(draft)
                )
            elif other is territory:
                loops.setdefault(territory.name, mention.line)
            elif (territory.name, other.name) in borders:
                text = f"{territory.name!r} has the neighbour {other.name!r} twice"
                remarks.append(Remark(mention.line, text))
            else:
                borders[territory.name, other.name] = mention.line
    if loops:
        verb, left = "borders on itself", "this border is"
        if len(loops) > 1:
            verb, left = "border on themselves", "these borders are"
        text = f"{_list_names(list(loops))} {verb}; {left} left out"
        remarks.append(Remark(next(iter(loops.values())), text))
    return borders


def _list_names(names: Sequence[str]) -> str:
    more = (
        f" and {len(names) - MAX_LISTED_MISTAKES} more" if len(names) > MAX_LISTED_MISTAKES else ""
    )
    return f"{', '.join(map(quote, names[:MAX_LISTED_MISTAKES]))}{more}"


def _collect_members(
    entries: Iterable[DraftContinent],
    territories: Mapping[str, DraftTerritory],
    continents: Mapping[str, DraftContinent],
    faults: _Faults,
) -> dict[str, tuple[str, ...]]:
    """Return a mapping from keys of continents to territories, including nested continents."""
    members: dict[str, tuple[str, ...]] = {}
    count = 0

    def within(continent: DraftContinent) -> Iterator[DraftContinent]:
        for mention in continent.members:
            key = fold_name(mention.key)
            if key not in territories and key in continents:
                yield continents[key]

    def list_names(continent: DraftContinent) -> Iterator[str]:
        for mention in continent.members:
            key = fold_name(mention.key)
            if key in territories:
                yield territories[key].name
            elif key in continents:
                yield from members[continents[key].key]
            else:
                known = (territory.key for territory in territories.values())
                faults.add_unknown(mention, f"territory of continent {continent.name!r}", known)

    for first in entries:
        if first.key in members:
            continue
        # Nested continents come first. An explicit stack avoids recursion errors for deep nesting.
        stack = [(first, within(first))]
        open_keys = {first.key}
        while stack:
            here, rest = stack[-1]
            inner = next(rest, None)
            if inner is None:
                members[here.key] = tuple(dict.fromkeys(list_names(here)))
                count += len(members[here.key])
                if count > MAX_MEMBERS:
                    raise TooLargeError(
                        f"a board must have at most {MAX_MEMBERS} territories in continents"
                    )
                stack.pop()
                open_keys.discard(here.key)
            elif inner.key in open_keys:
                faults.add(here.line, f"continent {here.name!r} must not contain itself")
                members |= {continent.key: () for continent, _ in stack}
                stack = []
            elif inner.key not in members:
                stack.append((inner, within(inner)))
                open_keys.add(inner.key)
    return members


def _choose_places(draft: Draft) -> tuple[Point, ...]:
    """Return the places, or an empty tuple if places are missing or are only placeholders."""
    places = tuple(
        territory.place for territory in draft.territories if territory.place is not None
    )
    is_whole = len(places) == len(draft.territories)
    return places if is_whole and (draft.has_real_places or not _are_all_same(places)) else ()


def _are_all_same(places: Sequence[Point]) -> bool:
    return len(set(places)) == 1 and (len(places) > 1 or not any(places[0]))


def round_places(board: Board, ending: str) -> list[tuple[int, int]]:
    """Round the places to whole pixels; raise `IactaError` for places that programs cannot read."""
    places = [(round(x), round(y)) for x, y in board.places]
    for name, (x, y) in zip(board.territories, places, strict=bool(places)):
        if max(abs(x), abs(y)) > MAX_PLACE:
            raise IllegalError(
                f"in {ending} places must lie within {MAX_PLACE}, got {x}, {y} for {name!r}"
            )
    if _are_all_same(places):
        raise IllegalError(
            f"in {ending} places must not all be equal, got {places[0]} for each territory"
        )
    return places


def _list_remarks(board: Board, draft: Draft, borders: Mapping[Border, Line]) -> Iterator[Remark]:
    lines = {territory.name: territory.line for territory in draft.territories}
    ways = set(board.borders)
    for start, end in board.borders:
        if (end, start) not in ways:
            text = f"the border from {start!r} to {end!r} leads one way only"
            yield Remark(borders[start, end], text)
    for name, root in _find_unreachable(board):
        yield Remark(lines[name], f"{name!r} cannot be reached from {root!r}")
    for continent in draft.continents:
        if not continent.members:
            yield Remark(continent.line, f"continent {continent.name!r} has no territories")
    yield from _remark_on_parts(board, draft)
    yield from _remark_on_places(draft)
    inside = {name for continent in board.continents for name in continent.territories}
    for name in board.territories if board.continents else ():
        if name not in inside:
            yield Remark(lines[name], f"{name!r} belongs to no continent")


def _remark_on_parts(board: Board, draft: Draft) -> Iterator[Remark]:
    """Yield a remark about each continent whose territories are not connected."""
    beside: dict[str, set[str]] = {name: set() for name in board.territories}
    for start, end in board.borders:
        beside[start].add(end)
        beside[end].add(start)
    for drawn, continent in zip(draft.continents, board.continents, strict=True):
        rest, parts = dict.fromkeys(continent.territories), list[list[str]]()
        while rest:
            part = [next(iter(rest))]
            for name in part:  # the loop appends to `part`
                rest.pop(name, None)
                part += (near := beside[name] & rest.keys())
                for other in near:
                    del rest[other]
            parts.append(part)
        if len(parts) > 1:
            smallest, *_, largest = sorted(parts, key=len)
            text = (
                f"continent {continent.name!r} is in {len(parts)} parts: no path inside it "
                f"connects {smallest[0]!r} and {largest[0]!r}"
            )
            yield Remark(drawn.line, text)


def _remark_on_places(draft: Draft) -> Iterator[Remark]:
    """Yield a remark if only some territories have places, and another remark for outlines."""
    territories = draft.territories
    for what, missing in (
        ("place", [territory for territory in territories if territory.place is None]),
        ("outline", [territory for territory in territories if territory.outline is None]),
    ):
        if 0 < len(missing) < len(territories):
            more = f" and {len(missing) - 1} more have" if len(missing) > 1 else " has"
            text = f"the {what}s are not used, because {missing[0].name!r}{more} no {what}"
            yield Remark(missing[0].line, text)


def _find_unreachable(board: Board) -> Iterator[tuple[str, str]]:
    """Yield each unreachable territory, with the territory from which the search started.

    The search starts from the territory that reaches the most territories.
    """
    seen: set[str] = set()
    sizes: dict[str, int] = {}
    for name in board.territories:
        if name not in seen:
            fresh = _find_reached(board, name, seen)
            sizes[name] = len(fresh)
            seen |= fresh
    root = max(sizes, key=sizes.__getitem__)
    reached = _find_reached(board, root, set())
    for name in board.territories:
        if name not in reached:
            yield name, root


def _find_reached(board: Board, start: str, without: set[str]) -> set[str]:
    reached, waiting = {start}, deque([start])
    while waiting:
        for name in board.neighbours(waiting.popleft()):
            if name not in reached and name not in without:
                reached.add(name)
                waiting.append(name)
    return reached
