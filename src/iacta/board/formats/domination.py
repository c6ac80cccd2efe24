"""Domination's `.map`: numbered countries and borders in sections, cards in a file beside it.

```text
name Tiny
[continents]
Africa 3 yellow
[countries]
1 North_Africa 1 100 50
[borders]
1 2 3
```

A hyphen or an underscore in a name is a space, a continent is mentioned by its place in the list,
from 1, and a border leads one way, so that most stand there twice.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from iacta.board.board import (
    MOST_BONUS,
    MOST_BORDERS,
    MOST_TERRITORIES,
    Board,
    Point,
    refuse_count,
    refuse_more,
)
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.text import Entry, entries, read_number
from iacta.board.names import one_line
from iacta.errors import IllegalError, MalformedError

__all__ = ["Cards", "cards_name", "read", "read_cards", "write"]

KINDS = ("infantry", "cavalry", "cannon", "artillery")
FARTHEST = 10**6

_Borders: TypeAlias = dict[str, tuple[Mention, tuple[Mention, ...]]]


class Cards(NamedTuple):
    """The cards of a board: how many show a territory or none, the missions, and what is odd."""

    territories: int
    wildcards: int
    missions: int
    remarks: tuple[tuple[int, str], ...]


def read(text: str, name: str) -> Draft:
    """Return what a `.map` tells.

    text: the text of the file.
    name: what the board is called if the file does not say.
    """
    lines = entries(text)
    continents = [
        _continent(entry, str(number))
        for number, entry in enumerate(_section(lines, "continents"), 1)
    ]
    borders = _borders(_section(lines, "borders"))
    drafted, members = [], dict[str, list[Mention]]()
    countries = _section(lines, "countries")
    refuse_more(countries, MOST_TERRITORIES, "territories")
    for entry in countries:
        territory, continent = _territory(entry, borders, len(continents))
        drafted.append(territory)
        members.setdefault(continent, []).append(Mention(territory.key, entry.line))
    told = [entry.text[5:] for entry in lines if entry.text.lower().startswith("name ")]
    return Draft(
        _plain(told[0]) if told else name,
        drafted,
        [each._replace(members=tuple(members.get(each.key, ()))) for each in continents],
        strays=tuple(owner for owner, _ in borders.values()),
    )


def _section(lines: Iterable[Entry], section: str) -> list[Entry]:
    return [entry for entry in lines if entry.section == section]


def _plain(name: str) -> str:
    return one_line(name.replace("_", " ").replace("-", " "))


def _words(entry: Entry, least: int, shape: str) -> list[str]:
    words = entry.text.split()
    if len(words) < least:
        raise MalformedError(f"line {entry.line}: expected {shape}, got {entry.text[:60]!r}")
    return words


def _continent(entry: Entry, key: str) -> DraftContinent:
    name, bonus, *_ = _words(entry, 2, "a continent's name, bonus and colour")
    number = read_number(bonus, "bonus", entry.line, -MOST_BONUS, MOST_BONUS)
    return DraftContinent(key, _plain(name), entry.line, number, ())


def _territory(entry: Entry, borders: _Borders, continents: int) -> tuple[DraftTerritory, str]:
    words = _words(entry, 5, "a country's id, name, continent, x and y")
    key = str(read_number(words[0], "id", entry.line, 0, 10**9))
    if continents == 0:
        raise IllegalError(f"line {entry.line}: continents must come before countries, got none")
    continent = read_number(words[2], "continent", entry.line, 1, continents)
    x, y = (read_number(word, "place", entry.line, -FARTHEST, FARTHEST) for word in words[3:5])
    _, neighbours = borders.get(key, (None, ()))
    place: Point = (float(x), float(y))
    return DraftTerritory(key, _plain(words[1]), entry.line, neighbours, place), str(continent)


def _borders(lines: Collection[Entry]) -> _Borders:
    refuse_count(sum(len(entry.text.split()) - 1 for entry in lines), MOST_BORDERS, "borders")
    found: _Borders = {}
    for entry in lines:
        key, *others = _words(entry, 1, "ids")
        numbers = [str(read_number(word, "id", entry.line, 0, 10**9)) for word in (key, *others)]
        if numbers[0] in found:
            raise IllegalError(
                f"line {entry.line}: borders of a country must be in one line, got {key} twice"
            )
        owner, *neighbours = (Mention(number, entry.line) for number in numbers)
        found[owner.key] = owner, tuple(neighbours)
    return found


def cards_name(text: str, default: str) -> str:
    r"""Return the name of the cards file that a `.map` gives, if it is a plain one in its folder.

    >>> cards_name("[files]\ncrd world.cards", "x.cards"), cards_name("crd ../secret", "x.cards")
    ('world.cards', 'x.cards')
    """
    for entry in entries(text):
        words = entry.text.split()
        if len(words) == 2 and words[0].lower() == "crd" and words[1].endswith(".cards"):
            plain = not set(words[1]) & set("/\\:") and not words[1].startswith(".")
            return words[1] if plain else default
    return default


def read_cards(text: str, draft: Draft) -> Cards:
    """Return what a `.cards` tells of the cards for the countries of a `.map`.

    text: the text of the file.
    draft: what the `.map` tells.

    What is wrong with the cards is told as remarks: the board can be played on without.
    """
    names = {each.key: each.name for each in draft.territories}
    counts: dict[str, int] = {}
    wildcards, missions = 0, 0
    remarks: list[tuple[int, str]] = []
    for entry in entries(text):
        words = entry.text.split()
        if entry.section == "missions":
            missions += 1
        elif entry.section == "cards" and words[0].lower() == "wildcard":
            wildcards += 1
        elif entry.section == "cards":
            remarks += _card(entry, words, names, counts)
    missing = [name for key, name in names.items() if key not in counts]
    if counts and missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        remarks.append((0, f"there is no card for {missing[0]!r}{more}"))
    return Cards(len(counts), wildcards, missions, tuple(remarks))


def _card(
    entry: Entry, words: list[str], names: dict[str, str], counts: dict[str, int]
) -> Iterator[tuple[int, str]]:
    if len(words) != 2 or words[0].lower() not in KINDS or words[1] not in names:
        yield entry.line, f"a card must be a kind and the id of a country, got {entry.text[:60]!r}"
        return
    if words[1] in counts:
        yield entry.line, f"there are two cards for {names[words[1]]!r}"
    counts[words[1]] = 1


def write(board: Board) -> str:
    """Return the text of a `.map`, or refuse a board that this format cannot hold.

    board: the board; each territory must belong to one continent.
    """
    homes = _homes(board)
    numbers = {name: number for number, name in enumerate(board.territories, 1)}
    places = board.places or ((0.0, 0.0),) * len(numbers)
    lines = [f"name {board.name}", "", "[continents]"]
    lines += [f"{_joined(each.name)} {each.bonus} white" for each in board.continents]
    lines += ["", "[countries]"]
    for (name, number), (x, y) in zip(numbers.items(), places, strict=True):
        lines.append(f"{number} {_joined(name)} {homes[name]} {round(x)} {round(y)}")
    lines += ["", "[borders]"]
    for name, number in numbers.items():
        others = (str(numbers[other]) for other in board.neighbours(name))
        lines.append(" ".join([str(number), *others]))
    return "\n".join(lines) + "\n"


def _homes(board: Board) -> dict[str, int]:
    homes: dict[str, int] = {}
    for number, continent in enumerate(board.continents, 1):
        for name in continent.territories:
            if name in homes:
                raise IllegalError(
                    f"in a .map each territory must be in one continent, got {name!r} in two"
                )
            homes[name] = number
    for name in board.territories:
        if name not in homes:
            raise IllegalError(
                f"in a .map each territory must be in one continent, got {name!r} in none"
            )
    return homes


def _joined(name: str) -> str:
    return name.replace(" ", "_")
