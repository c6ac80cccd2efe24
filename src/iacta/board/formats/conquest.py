"""Conquest's `.map`: one line for each territory, with the names of its neighbours.

```text
[Continents]
Africa=3
[Territories]
North Africa,100,50,Africa,Egypt,Brazil
```

The place and the continent of a territory may be empty. Each border leads in one direction.
Therefore most borders are listed twice.
"""

import re

from iacta.board.board import MAX_BORDERS, check_count, collapse_spaces, did_you_mean, fold_name
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import (
    BoardText,
    TextLine,
    read_bonus,
    read_place,
    read_section_lines,
)
from iacta.inputs.errors import IllegalError, MalformedError

BEGINNING = re.compile(
    # If the name were in quotes, it would be a TOML key.
    r"^[ \t]*\[territories\][ \t]*\n(?:\s*+[;#][^\n]*+\n)*+\s*+(?![\"'])[^=,\n\[]++,",
    re.IGNORECASE | re.MULTILINE,
)
HEADS = [
    re.compile(rf"^[ \t]*\[{name}\][ \t]*$", re.IGNORECASE | re.MULTILINE)
    for name in ("map", "(?:territories|continents)")
]


def _read_draft(source: BoardText, default_name: str) -> Draft | None:
    is_headed = all(head.search(source.plain) for head in HEADS)
    if not is_headed and not BEGINNING.search(source.plain):
        return None
    lines = read_section_lines(source.plain)
    continents = [_read_continent(entry) for entry in lines if entry.section == "continents"]
    rows = [entry for entry in lines if entry.section == "territories"]
    neighbours = sum(max(entry.text.count(",") - 3, 0) for entry in rows)
    check_count(neighbours, MAX_BORDERS, "borders")
    members: dict[str, list[Mention]] = {fold_name(draft.key): [] for draft in continents}
    territories = []
    for entry in rows:
        territory, continent = _read_territory(entry)
        territories.append(territory)
        if continent and fold_name(continent) not in members:
            hint = did_you_mean(continent, (draft.name for draft in continents))
            raise IllegalError(f"line {entry.line}: unknown continent {continent[:60]!r}{hint}")
        if continent:
            members[fold_name(continent)].append(Mention(territory.key, entry.line))
    return Draft(
        default_name,
        territories,
        [draft._replace(members=tuple(members[fold_name(draft.key)])) for draft in continents],
    )


def _read_continent(entry: TextLine) -> DraftContinent:
    text, equals, bonus = entry.text.rpartition("=")
    if not equals:
        raise MalformedError(f"line {entry.line}: expected name=bonus, got {entry.text[:60]!r}")
    name = collapse_spaces(text)
    return DraftContinent(name, name, entry.line, read_bonus(bonus, entry.line), ())


def _read_territory(entry: TextLine) -> tuple[DraftTerritory, str]:
    words = [collapse_spaces(word) for word in entry.text.split(",")]
    if len(words) < 4:
        raise MalformedError(
            f"line {entry.line}: expected name,x,y,continent,neighbours, got {entry.text[:60]!r}"
        )
    name, x, y, continent, *others = words
    neighbours = tuple(Mention(other, entry.line) for other in others if other)
    place = read_place(x, y, entry.line)
    return DraftTerritory(name, name, entry.line, neighbours, place), continent


FORMAT = BoardFormat("Conquest", ".map", _read_draft)
