"""Domination's `.map`: sections with countries and borders, and a cards file in the same folder.

```text
name Tiny
[continents]
Africa 3 yellow
[countries]
1 North_Africa 1 100 50
[borders]
1 2 3
```

A hyphen or an underscore in a name means a space. A country refers to its continent by position in
the list, counted from 1, by the number before the name of the continent, or by the name. Each
border leads in one direction. Therefore most borders are listed twice. Borders may use names
instead of ids. The coordinates x and y may be omitted.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeAlias

from iacta.board.board import MAX_BORDERS, Board, Point, check_count, collapse_spaces, fold_name
from iacta.board.formats.draft import (
    BoardFormat,
    Cards,
    Draft,
    DraftContinent,
    DraftTerritory,
    Mention,
    round_places,
)
from iacta.board.formats.reading import (
    COMMENT_MARKS,
    BoardText,
    TextLine,
    read_bonus,
    read_file,
    read_id,
    read_place,
    read_section_lines,
)
from iacta.inputs.checks import WHOLE, quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

SECTIONS = re.compile(
    r"^[ \t]*\[(files|continents|countries|borders)\][ \t]*$", re.IGNORECASE | re.MULTILINE
)
DIGITS = re.compile("[0-9]{1,9}")
ONE_WORD_HINT = "; a name is one word, with _ for a space"
KINDS = ("infantry", "cavalry", "cannon", "artillery")

_Borders: TypeAlias = dict[str, tuple[Mention, tuple[Mention, ...]]]


def _read_draft(source: BoardText, default_name: str) -> Draft | None:
    sections = {section.lower() for section in SECTIONS.findall(source.plain)}
    if sections.isdisjoint({"countries", "borders"}) and sections != {"files", "continents"}:
        return None
    for section in ("continents", "countries"):
        if section not in sections:
            raise MalformedError(f"missing the section [{section}]")
    lines = read_section_lines(source.plain)
    continents = _read_continents([entry for entry in lines if entry.section == "continents"])
    countries = _read_countries([entry for entry in lines if entry.section == "countries"])
    borders = _read_borders([entry for entry in lines if entry.section == "borders"], countries)
    members = {continent.key: list[Mention]() for continent in continents}
    by_name: dict[str, list[str]] = {}
    for continent in continents:
        by_name.setdefault(fold_name(continent.name), []).append(continent.key)
    territories = []
    for country in countries:
        home = _find_continent(country, members, by_name)
        members[home].append(Mention(country.key, country.line))
        _, neighbours = borders.get(country.key, (None, ()))
        territories.append(
            DraftTerritory(country.key, country.name, country.line, neighbours, country.place)
        )
    titles = [entry.text[5:] for entry in lines if entry.text.lower().startswith("name ")]
    return Draft(
        _restore_spaces(titles[0]) if titles else default_name,
        territories,
        [continent._replace(members=tuple(members[continent.key])) for continent in continents],
        references=tuple(country for country, _ in borders.values()),
    )


def _restore_spaces(name: str) -> str:
    return collapse_spaces(name.replace("_", " ").replace("-", " "))


def _split_words(entry: TextLine, minimum: int, shape: str) -> list[str]:
    words = entry.text.split()
    if len(words) < minimum:
        raise MalformedError(f"line {entry.line}: expected {shape}, got {entry.text[:60]!r}")
    return words


def _has_number(row: Sequence[str]) -> bool:
    """Return whether the line of a continent begins with an ID, such as `1 Africa 3 red`.

    >>> _has_number(["1", "Africa", "3"]), _has_number(["Africa", "3", "red"])
    (True, False)
    >>> _has_number(["1", "2", "3", "red"]), _has_number(["1", "2", "red"])
    (True, False)
    """
    are_whole = [WHOLE.fullmatch(word) is not None for word in row]
    has_name = len(row) > 2 and not are_whole[1]
    return are_whole[0] and (has_name or (len(row) > 3 and are_whole[2]))


def _read_continents(lines: Sequence[TextLine]) -> list[DraftContinent]:
    rows = [_split_words(entry, 2, "a continent's name, bonus and colour") for entry in lines]
    is_numbered = all(map(_has_number, rows))
    continents = []
    for position, (entry, row) in enumerate(zip(lines, rows, strict=True), 1):
        key = read_id(row.pop(0), entry.line) if is_numbered else str(position)
        try:
            bonus = read_bonus(row[1], entry.line)
        except MalformedError as error:
            raise MalformedError(f"{error}{ONE_WORD_HINT}") from None
        continents.append(DraftContinent(key, _restore_spaces(row[0]), entry.line, bonus, ()))
    return continents


class _Country(NamedTuple):
    """A line of the section [countries].

    home: the number or the name of the continent of the country.
    words: the number of words on the line.
    """

    key: str
    name: str
    line: int
    home: str
    place: Point | None
    words: int


def _read_countries(lines: Iterable[TextLine]) -> list[_Country]:
    countries = []
    for entry in lines:
        least = 5 if len(entry.text.split()) == 4 else 3  # four words would be an x without a y
        words = _split_words(entry, least, "a country's id, name, continent, x and y")
        number, name, home, x, y, *_ = (*words, "", "")
        key = read_id(number, entry.line)
        place = read_place(x, y, entry.line)
        countries.append(_Country(key, _restore_spaces(name), entry.line, home, place, len(words)))
    return countries


def _find_continent(
    country: _Country, keys: Collection[str], by_name: Mapping[str, Sequence[str]]
) -> str:
    """Return the key of the continent of a country.

    country: the country, with the number or the name of its continent.
    keys: the keys of all continents, in order.
    by_name: a mapping from names to the keys of the continents with this name.
    """
    is_number = DIGITS.fullmatch(country.home) is not None
    if is_number and str(int(country.home)) in keys:
        return str(int(country.home))
    named = by_name.get(fold_name(country.home), ())
    # If there are more than five words, the name of the country probably contains a space.
    if len(named) == 1 and country.words <= 5:
        return named[0]
    numbers = list(map(int, keys))
    span = f"from {min(numbers)} to {max(numbers)}" if numbers else "which is empty"
    raise IllegalError(
        f"line {country.line}: continent must be the number of an entry in [continents], {span}, "
        f"got {quote(country.home)}{'' if is_number else ONE_WORD_HINT}"
    )


def _read_borders(lines: Collection[TextLine], countries: Iterable[_Country]) -> _Borders:
    check_count(sum(len(entry.text.split()) - 1 for entry in lines), MAX_BORDERS, "borders")
    by_name: dict[str, list[_Country]] = {}
    for country in countries:
        by_name.setdefault(fold_name(country.name), []).append(country)
    borders: _Borders = {}
    for entry in lines:
        words = entry.text.split()
        start, *neighbours = (_read_mention(word, entry.line, by_name) for word in words)
        if start.key in borders:
            raise IllegalError(
                f"line {entry.line}: country {quote(words[0])} has a second line of borders"
            )
        borders[start.key] = start, tuple(neighbours)
    return borders


def _read_mention(word: str, line: int, by_name: Mapping[str, Sequence[_Country]]) -> Mention:
    """Return a reference to a country by its id or name."""
    if word.isdecimal():
        return Mention(read_id(word, line), line)
    named = by_name.get(fold_name(word), ())
    if len(named) > 1:
        lines = " and ".join(str(country.line) for country in named[:2])
        raise IllegalError(
            f"line {line}: borders must use ids where names repeat, got {quote(word)}, the name of "
            f"the countries in lines {lines}"
        )
    return Mention(named[0].key if named else word, line)


def _read_cards_file(file: Path, text: str, draft: Draft) -> Cards | None:
    """Read the cards file of a map; return mistakes in the file as remarks."""
    beside = file.with_name(_read_cards_name(text, f"{file.stem}.cards"))
    if not beside.is_file():
        return None
    try:
        return _read_cards(read_file(beside).text, draft)
    except IactaError as error:
        return Cards(0, 0, 0, ((0, str(error)),))


def _read_cards_name(text: str, default: str) -> str:
    r"""Return the name of the cards file of a map.

    text: the content of the map.
    default: the result if the map names no cards file, or a file in another folder.

    >>> _read_cards_name("[files]\ncrd world.cards", "x.cards")
    'world.cards'
    >>> _read_cards_name("crd ../y.cards", "x.cards")
    'x.cards'
    """
    for entry in read_section_lines(text):
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
    for entry in read_section_lines(text):
        words = entry.text.split()
        if entry.section == "missions":
            missions += 1
        elif entry.section == "cards" and words[0].lower() == "wildcard":
            wildcards += 1
        elif entry.section == "cards":
            remarks += _check_card(entry, words, names, seen)
    missing = [name for key, name in names.items() if key not in seen]
    if seen and missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        remarks.append((0, f"there is no card for {missing[0]!r}{more}"))
    return Cards(len(seen), wildcards, missions, tuple(remarks))


def _check_card(
    entry: TextLine, words: list[str], names: dict[str, str], seen: set[str]
) -> Iterator[tuple[int, str]]:
    if len(words) != 2 or words[0].lower() not in KINDS or words[1] not in names:
        yield entry.line, f"a card must be a type and the id of a country, got {entry.text[:60]!r}"
        return
    if words[1] in seen:
        yield entry.line, f"there are two cards for {names[words[1]]!r}"
    seen.add(words[1])


def _format_board(board: Board) -> str:
    homes: dict[str, int] = {}
    for number, continent in enumerate(board.continents, 1):
        for name in continent.territories:
            if name in homes:
                _refuse_continent_count(name, "two")
            homes[name] = number
    for name in board.territories:
        if name not in homes:
            _refuse_continent_count(name, "none")
    numbers = {name: number for number, name in enumerate(board.territories, 1)}
    places = round_places(board, "a .map") or [(0, 0)] * len(numbers)
    for continent in board.continents:
        if continent.name.startswith(COMMENT_MARKS):
            raise IllegalError(
                f"in a .map a continent's name must not begin with ; or #, got {continent.name!r}"
            )
    lines = [f"name {board.name}", "", "[continents]"]
    lines += [
        f"{_join_words(continent.name)} {continent.bonus} white" for continent in board.continents
    ]
    lines += ["", "[countries]"]
    for (name, number), (x, y) in zip(numbers.items(), places, strict=True):
        lines.append(f"{number} {_join_words(name)} {homes[name]} {x} {y}")
    lines += ["", "[borders]"]
    for name, number in numbers.items():
        others = (numbers[other] for other in board.neighbours(name))
        lines.append(" ".join(map(str, (number, *others))))
    return "\n".join(lines) + "\n"


def _refuse_continent_count(name: str, count: str) -> NoReturn:
    raise IllegalError(
        f"in a .map each territory must be in one continent, got {name!r} in {count}"
    )


def _join_words(name: str) -> str:
    return name.replace(" ", "_")


FORMAT = BoardFormat("Domination", ".map", _read_draft, _format_board, _read_cards_file)
