"""Domination's `.map`: numbered countries and borders in sections, and cards in a file beside it.

```text
name Tiny
[continents]
Africa 3 yellow
[countries]
1 North_Africa 1 100 50
[borders]
1 2 3
```

A hyphen or an underscore in a name is a space. Continents are referred to by their position in the
list, from 1. A border leads one way, so most are listed twice.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NoReturn, TypeAlias

from iacta.board.board import MOST_BORDERS, Board, one_line, refuse_count
from iacta.board.formats.draft import (
    BoardFormat,
    Cards,
    Draft,
    DraftContinent,
    DraftTerritory,
    Mention,
    pixels,
)
from iacta.board.formats.reading import (
    COMMENT,
    BoardText,
    TextLine,
    entries,
    read_bonus,
    read_coordinate,
    read_file,
    read_id,
    read_number,
)
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

SECTIONS = re.compile(
    r"^[ \t]*\[(?:files|countries|borders)\][ \t]*$", re.IGNORECASE | re.MULTILINE
)
KINDS = ("infantry", "cavalry", "cannon", "artillery")

_Borders: TypeAlias = dict[str, tuple[Mention, tuple[Mention, ...]]]


def _read(source: BoardText, name: str) -> Draft | None:
    if not SECTIONS.search(source.plain):
        return None
    lines = entries(source.plain)
    continents = [
        _continent(entry, str(number))
        for number, entry in enumerate((e for e in lines if e.section == "continents"), 1)
    ]
    borders = _borders([entry for entry in lines if entry.section == "borders"])
    countries = [entry for entry in lines if entry.section == "countries"]
    territories, members = [], dict[str, list[Mention]]()
    for entry in countries:
        territory, continent = _territory(entry, borders, len(continents))
        territories.append(territory)
        members.setdefault(continent, []).append(Mention(territory.key, entry.line))
    titles = [entry.text[5:] for entry in lines if entry.text.lower().startswith("name ")]
    return Draft(
        _spaced(titles[0]) if titles else name,
        territories,
        [draft._replace(members=tuple(members.get(draft.key, ()))) for draft in continents],
        strays=tuple(country for country, _ in borders.values()),
    )


def _spaced(name: str) -> str:
    return one_line(name.replace("_", " ").replace("-", " "))


def _words(entry: TextLine, least: int, shape: str) -> list[str]:
    words = entry.text.split()
    if len(words) < least:
        raise MalformedError(f"line {entry.line}: expected {shape}, got {entry.text[:60]!r}")
    return words


def _continent(entry: TextLine, key: str) -> DraftContinent:
    name, bonus, *_ = _words(entry, 2, "a continent's name, bonus and colour")
    return DraftContinent(key, _spaced(name), entry.line, read_bonus(bonus, entry.line), ())


def _territory(entry: TextLine, borders: _Borders, continents: int) -> tuple[DraftTerritory, str]:
    number, name, home, x, y, *_ = _words(entry, 5, "a country's id, name, continent, x and y")
    key = read_id(number, entry.line)
    if continents == 0:
        raise IllegalError(f"line {entry.line}: the continents must come before the countries")
    continent = read_number(home, "continent", entry.line, 1, continents)
    place = read_coordinate(x, entry.line), read_coordinate(y, entry.line)
    _, neighbours = borders.get(key, (None, ()))
    return DraftTerritory(key, _spaced(name), entry.line, neighbours, place), str(continent)


def _borders(lines: Collection[TextLine]) -> _Borders:
    refuse_count(sum(len(entry.text.split()) - 1 for entry in lines), MOST_BORDERS, "borders")
    borders: _Borders = {}
    for entry in lines:
        words = _words(entry, 1, "ids")
        country, *neighbours = (Mention(read_id(word, entry.line), entry.line) for word in words)
        if country.key in borders:
            raise IllegalError(
                f"line {entry.line}: country {words[0]} has a second line of borders"
            )
        borders[country.key] = country, tuple(neighbours)
    return borders


def _cards(file: Path, text: str, draft: Draft) -> Cards | None:
    """Return the cards; a mistake in them is a remark, as it does not affect the board."""
    beside = file.with_name(_cards_name(text, f"{file.stem}.cards"))
    if not beside.is_file():
        return None
    try:
        return _read_cards(read_file(beside), draft)
    except IactaError as error:
        return Cards(0, 0, 0, ((0, str(error)),))


def _cards_name(text: str, default: str) -> str:
    r"""Return the name of the cards file that a map gives, which must be in the map's folder.

    >>> _cards_name("[files]\ncrd world.cards", "x.cards"), _cards_name("crd ../y.cards", "x.cards")
    ('world.cards', 'x.cards')
    """
    for entry in entries(text):
        words = entry.text.split()
        if len(words) == 2 and words[0].lower() == "crd" and words[1].endswith(".cards"):
            inside = not set(words[1]) & set("/\\:") and not words[1].startswith(".")
            return words[1] if inside else default
    return default


def _read_cards(text: str, draft: Draft) -> Cards:
    names = {territory.key: territory.name for territory in draft.territories}
    seen: set[str] = set()
    wildcards, missions = 0, 0
    remarks: list[tuple[int, str]] = []
    for entry in entries(text):
        words = entry.text.split()
        if entry.section == "missions":
            missions += 1
        elif entry.section == "cards" and words[0].lower() == "wildcard":
            wildcards += 1
        elif entry.section == "cards":
            remarks += _card(entry, words, names, seen)
    missing = [name for key, name in names.items() if key not in seen]
    if seen and missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        remarks.append((0, f"there is no card for {missing[0]!r}{more}"))
    return Cards(len(seen), wildcards, missions, tuple(remarks))


def _card(
    entry: TextLine, words: list[str], names: dict[str, str], seen: set[str]
) -> Iterator[tuple[int, str]]:
    if len(words) != 2 or words[0].lower() not in KINDS or words[1] not in names:
        yield entry.line, f"a card must be a kind and the id of a country, got {entry.text[:60]!r}"
        return
    if words[1] in seen:
        yield entry.line, f"there are two cards for {names[words[1]]!r}"
    seen.add(words[1])


def _write(board: Board) -> str:
    homes: dict[str, int] = {}
    for number, continent in enumerate(board.continents, 1):
        for name in continent.territories:
            if name in homes:
                _refuse_homes(name, "two")
            homes[name] = number
    for name in board.territories:
        if name not in homes:
            _refuse_homes(name, "none")
    numbers = {name: number for number, name in enumerate(board.territories, 1)}
    places = pixels(board, "a .map") or [(0, 0)] * len(numbers)
    for continent in board.continents:
        if continent.name.startswith(COMMENT):
            raise IllegalError(
                f"in a .map no continent's name may begin as comments do, got {continent.name!r}"
            )
    lines = [f"name {board.name}", "", "[continents]"]
    lines += [
        f"{_joined(continent.name)} {continent.bonus} white" for continent in board.continents
    ]
    lines += ["", "[countries]"]
    for (name, number), (x, y) in zip(numbers.items(), places, strict=True):
        lines.append(f"{number} {_joined(name)} {homes[name]} {x} {y}")
    lines += ["", "[borders]"]
    for name, number in numbers.items():
        others = (numbers[other] for other in board.neighbours(name))
        lines.append(" ".join(map(str, (number, *others))))
    return "\n".join(lines) + "\n"


def _refuse_homes(name: str, count: str) -> NoReturn:
    raise IllegalError(
        f"in a .map each territory must be in one continent, got {name!r} in {count}"
    )


def _joined(name: str) -> str:
    return name.replace(" ", "_")


FORMAT = BoardFormat("Domination", ".map", _read, _write, _cards)
