"""The `.map` of 'Conquest': a line for each territory, with its neighbours by name.

```text
[Continents]
Africa=3
[Territories]
North Africa,100,50,Africa,Egypt,Brazil
```

The place and the continent of a territory may be left empty. A border leads one way, so most are
listed twice.
"""

import re

from iacta.board.board import MOST_BORDERS, did_you_mean, folded, one_line, refuse_count
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import (
    BoardText,
    TextLine,
    entries,
    read_bonus,
    read_place,
)
from iacta.inputs.errors import IllegalError, MalformedError

BEGINNING = re.compile(
    # A name in quotes would be a key of TOML.
    r"^[ \t]*\[territories\][ \t]*\n(?:\s*+[;#][^\n]*+\n)*+\s*+(?![\"'])[^=,\n\[]++,",
    re.IGNORECASE | re.MULTILINE,
)
HEADS = [
    re.compile(rf"^[ \t]*\[{name}\][ \t]*$", re.IGNORECASE | re.MULTILINE)
    for name in ("map", "(?:territories|continents)")
]


def _read(source: BoardText, name: str) -> Draft | None:
    is_headed = all(head.search(source.plain) for head in HEADS)
    if not is_headed and not BEGINNING.search(source.plain):
        return None
    lines = entries(source.plain)
    continents = [_continent(entry) for entry in lines if entry.section == "continents"]
    rows = [entry for entry in lines if entry.section == "territories"]
    neighbours = sum(max(entry.text.count(",") - 3, 0) for entry in rows)
    refuse_count(neighbours, MOST_BORDERS, "borders")
    members: dict[str, list[Mention]] = {folded(draft.key): [] for draft in continents}
    territories = []
    for entry in rows:
        territory, continent = _territory(entry)
        territories.append(territory)
        if continent and folded(continent) not in members:
            hint = did_you_mean(continent, (draft.name for draft in continents))
            raise IllegalError(f"line {entry.line}: unknown continent {continent[:60]!r}{hint}")
        if continent:
            members[folded(continent)].append(Mention(territory.key, entry.line))
    return Draft(
        name,
        territories,
        [draft._replace(members=tuple(members[folded(draft.key)])) for draft in continents],
    )


def _continent(entry: TextLine) -> DraftContinent:
    text, equals, bonus = entry.text.rpartition("=")
    if not equals:
        raise MalformedError(f"line {entry.line}: expected name=bonus, got {entry.text[:60]!r}")
    name = one_line(text)
    return DraftContinent(name, name, entry.line, read_bonus(bonus, entry.line), ())


def _territory(entry: TextLine) -> tuple[DraftTerritory, str]:
    words = [one_line(word) for word in entry.text.split(",")]
    if len(words) < 4:
        raise MalformedError(
            f"line {entry.line}: expected name,x,y,continent,neighbours, got {entry.text[:60]!r}"
        )
    name, x, y, continent, *others = words
    neighbours = tuple(Mention(other, entry.line) for other in others if other)
    place = read_place(x, y, entry.line)
    return DraftTerritory(name, name, entry.line, neighbours, place), continent


FORMAT = BoardFormat("Conquest", ".map", _read)
