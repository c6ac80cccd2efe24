"""Warzone's JSON: territories by id with what they connect to, and bonuses, which may overlap.

```text
{"map": {"territories": [{"id": "1", "name": "Egypt", "connectedTo": ["2"]}],
         "bonuses": [{"id": "7", "name": "Africa", "value": "3", "territoryIDs": ["1"]}]}}
```

Numbers may come as texts. A connection leads one way, so that each stands there twice.
"""

from collections.abc import Mapping
from typing import Any

from iacta.board.board import MOST_BONUS, MOST_TERRITORIES, refuse_more
from iacta.board.formats.draft import Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.tables import Path, Table
from iacta.board.names import one_line
from iacta.checks import parse_whole_number, shown
from iacta.errors import IactaError

__all__ = ["is_meant", "read"]


def is_meant(table: Table) -> bool:
    """Return whether a table is in this format.

    table: what the JSON text holds.
    """
    return isinstance(table.entries.get("map"), Mapping) or isinstance(
        table.entries.get("territories"), list
    )


def read(table: Table, name: str) -> Draft:
    """Return what a map tells.

    table: what the JSON text holds.
    name: what the board is called if the file does not say.
    """
    inner = isinstance(table.entries.get("map"), Mapping)
    path: Path = ("map",) if inner else ()
    reader = _Reader(table, path, table.entries["map"] if inner else table.entries)
    told = reader.top.get("name", name)
    if not isinstance(told, str):
        table.refuse((*path, "name"), f"name must be a text, got {shown(told)}")
    return Draft(one_line(told) or name, reader.territories(), reader.bonuses())


class _Reader:
    def __init__(self, table: Table, path: Path, top: Mapping[str, Any]) -> None:
        self.table = table
        self.path = path
        self.top = top

    def territories(self) -> list[DraftTerritory]:
        """Return the territories, each with those that it can attack."""
        found = []
        for path, entry in self.rows(self.path, self.top, "territories"):
            key, name = self.identity(path, entry), self.text(path, entry, "name")
            neighbours = self.mentions(path, entry, "connectedTo")
            found.append(DraftTerritory(key, name, self.table.line_of(path), neighbours))
        return found

    def bonuses(self) -> list[DraftContinent]:
        """Return the bonuses as continents."""
        found = []
        for path, entry in self.rows(self.path, self.top, "bonuses"):
            key, name = f"bonus {self.identity(path, entry)}", self.text(path, entry, "name")
            bonus = self.number(
                (*path, "value"), entry.get("value"), "value", -MOST_BONUS, MOST_BONUS
            )
            members = self.mentions(path, entry, "territoryIDs")
            found.append(DraftContinent(key, name, self.table.line_of(path), bonus, members))
        return found

    def rows(
        self, path: Path, entry: Mapping[str, Any], key: str
    ) -> list[tuple[Path, Mapping[str, Any]]]:
        """Return the objects of a list, each with where it is.

        path: where the object is in the file.
        entry: the object that holds the list.
        key: the list's key in the object.
        """
        found = []
        refuse_more(self.row(path, entry, key), MOST_TERRITORIES, key)
        for index, each in enumerate(self.row(path, entry, key)):
            if not isinstance(each, Mapping):
                self.table.refuse((*path, key, index), f"{key} must be objects, got {shown(each)}")
            found.append(((*path, key, index), each))
        return found

    def row(self, path: Path, entry: Mapping[str, Any], key: str) -> list[Any]:
        """Return a list, empty if there is none.

        path: where the object is in the file.
        entry: the object that holds the list.
        key: the list's key in the object.
        """
        found = entry.get(key, [])
        if not isinstance(found, list):
            self.table.refuse((*path, key), f"{key} must be a list, got {shown(found)}")
        return found

    def identity(self, path: Path, entry: Mapping[str, Any]) -> str:
        """Return the id of an object.

        path: where the object is in the file.
        entry: the object.
        """
        return str(self.number((*path, "id"), entry.get("id"), "id", 0, 10**9))

    def text(self, path: Path, entry: Mapping[str, Any], key: str) -> str:
        """Return a text of an object, on one line.

        path: where the object is in the file.
        entry: the object.
        key: the text's key in the object.
        """
        found = entry.get(key)
        if not isinstance(found, str):
            self.table.refuse((*path, key), f"{key} must be a text, got {shown(found)}")
        return one_line(found)

    def mentions(self, path: Path, entry: Mapping[str, Any], key: str) -> tuple[Mention, ...]:
        """Return the ids of a list, each with its line.

        path: where the object is in the file.
        entry: the object that holds the list.
        key: the list's key in the object.
        """
        return tuple(
            Mention(
                str(self.number((*path, key, index), each, "id", 0, 10**9)),
                self.table.line_of((*path, key, index)),
            )
            for index, each in enumerate(self.row(path, entry, key))
        )

    def number(self, path: Path, value: object, what: str, least: int, most: int) -> int:
        """Return a whole number, which may stand in quotes.

        path: where it is in the file.
        value: what the file has there.
        what: what the number is called.
        least: the least that it may be.
        most: the most that it may be.
        """
        try:
            return parse_whole_number(str(value) if _counts(value) else "", what, least, most)
        except IactaError:
            sentence = f"{what} must be a whole number from {least} to {most}, got {shown(value)}"
            self.table.refuse(path, sentence)


def _counts(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)
