"""The `.map` of 'Conquest': territories in lines of their own, with their neighbours by name.

```text
[Continents]
Africa=3
[Territories]
North Africa,100,50,Africa,Egypt,Brazil
```

A territory may stand without a continent, that field being empty. A border leads one way, so that
most stand there twice.
"""

import re

from iacta.board.board import (
    MOST_BONUS,
    MOST_BORDERS,
    MOST_TERRITORIES,
    Point,
    refuse_count,
    refuse_more,
)
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.text import Entry, entries, read_number
from iacta.board.names import did_you_mean, folded, one_line
from iacta.errors import IllegalError, MalformedError

__all__ = ["is_meant", "read"]

FARTHEST = 10**6
BEGINNING = re.compile(
    r"^[ \t]*\[territories\][ \t]*\n\s*[^=,\n\[]+,", re.IGNORECASE | re.MULTILINE
)
HEAD = re.compile(r"^[ \t]*\[map\][ \t]*$", re.IGNORECASE | re.MULTILINE)


def is_meant(text: str) -> bool:
    """Return whether a text is in this format.

    text: the text of the file.
    """
    return bool(HEAD.search(text) or BEGINNING.search(text))


def read(text: str, name: str) -> Draft:
    """Return what a `.map` tells.

    text: the text of the file.
    name: what the board is called, as the file does not say.
    """
    lines = entries(text)
    continents = [_continent(entry) for entry in lines if entry.section == "continents"]
    members: dict[str, list[Mention]] = {folded(each.key): [] for each in continents}
    drafted = []
    told = [entry for entry in lines if entry.section == "territories"]
    refuse_more(told, MOST_TERRITORIES, "territories")
    refuse_count(sum(max(e.text.count(",") - 3, 0) for e in told), MOST_BORDERS, "borders")
    for entry in told:
        territory, continent = _territory(entry)
        drafted.append(territory)
        if continent and folded(continent) not in members:
            hint = did_you_mean(continent, (each.name for each in continents))
            raise IllegalError(
                f"line {entry.line}: continent must be known, got {continent[:60]!r}{hint}"
            )
        if continent:
            members[folded(continent)].append(Mention(territory.key, entry.line))
    return Draft(
        name,
        drafted,
        [each._replace(members=tuple(members[folded(each.key)])) for each in continents],
    )


def _continent(entry: Entry) -> DraftContinent:
    name, equals, bonus = entry.text.rpartition("=")
    if not equals:
        raise MalformedError(f"line {entry.line}: expected name=bonus, got {entry.text[:60]!r}")
    plain = one_line(name)
    number = read_number(bonus, "bonus", entry.line, -MOST_BONUS, MOST_BONUS)
    return DraftContinent(plain, plain, entry.line, number, ())


def _territory(entry: Entry) -> tuple[DraftTerritory, str]:
    words = [one_line(word) for word in entry.text.split(",")]
    if len(words) < 4:
        raise MalformedError(
            f"line {entry.line}: expected name,x,y,continent,neighbours, got {entry.text[:60]!r}"
        )
    x, y = (read_number(word, "place", entry.line, -FARTHEST, FARTHEST) for word in words[1:3])
    place: Point = (float(x), float(y))
    neighbours = tuple(Mention(word, entry.line) for word in words[4:] if word)
    return DraftTerritory(words[0], words[0], entry.line, neighbours, place), words[3]
