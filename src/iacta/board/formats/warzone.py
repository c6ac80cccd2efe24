"""Warzone's JSON: territories with the ids of their neighbours, and bonuses that may overlap.

```text
{"map": {"territories": [{"id": "1", "name": "Egypt", "connectedTo": ["2"]}],
         "bonuses": [{"id": "7", "name": "Africa", "value": "3", "territoryIDs": ["1"]}]}}
```

Numbers may be strings. A territory without a name is named after its id. Each connection leads in
one direction. Therefore most connections are listed twice.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from iacta.board.board import MAX_BONUS, collapse_spaces
from iacta.board.formats.draft import (
    BoardFormat,
    Draft,
    DraftContinent,
    DraftTerritory,
    Line,
    Mention,
)
from iacta.board.formats.reading import MAX_ID, BoardText, FileTable, KeyPath
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IactaError


class _Object(NamedTuple):
    """A JSON object, and its path in the file."""

    table: FileTable
    path: KeyPath
    entries: Mapping[str, Any]

    @property
    def line_number(self) -> Line:
        return self.table.find_line(self.path)

    def read_text(self, key: str, default: str) -> str:
        """Return the string under a key, or the default for a missing, null or empty value."""
        value = self.entries.get(key)
        if not isinstance(value, str | None):
            self.table.refuse((*self.path, key), f"{key} must be a string, got {quote(value)}")
        return collapse_spaces(value or "") or default

    def read_number(self, key: str, minimum: int, maximum: int) -> int:
        return self._read_number(self.entries.get(key), (key,), key, minimum, maximum)

    def read_id(self) -> str:
        return str(self.read_number("id", 0, MAX_ID))

    def read_mentions(self, key: str) -> tuple[Mention, ...]:
        return tuple(
            Mention(
                str(self._read_number(entry, (key, index), "id", 0, MAX_ID)),
                self.table.find_line((*self.path, key, index)),
            )
            for index, entry in enumerate(self._read_list(key))
        )

    def read_objects(self, key: str) -> "list[_Object]":
        objects = []
        for index, entry in enumerate(self._read_list(key)):
            path = (*self.path, key, index)
            if not isinstance(entry, Mapping):
                self.table.refuse(path, f"{key} must be objects, got {quote(entry)}")
            objects.append(_Object(self.table, path, entry))
        return objects

    def _read_list(self, key: str) -> list[Any]:
        entries = self.entries.get(key, [])
        if not isinstance(entries, list):
            self.table.refuse((*self.path, key), f"{key} must be a list, got {quote(entries)}")
        return entries

    def _read_number(
        self, value: object, path: KeyPath, what: str, minimum: int, maximum: int
    ) -> int:
        counts = isinstance(value, int | str) and not isinstance(value, bool)
        try:
            return parse_int(str(value) if counts else "", what, minimum, maximum)
        except IactaError:
            sentence = (
                f"{what} must be a whole number from {minimum} to {maximum}, got {quote(value)}"
            )
            self.table.refuse((*self.path, *path), sentence)


def _read_draft(source: BoardText, default_name: str) -> Draft | None:
    table = source.json
    if table is None:
        return None
    inner: Mapping[str, Any] = table.entries
    path: KeyPath = ()
    if isinstance(inner.get("map"), Mapping):
        inner, path = inner["map"], ("map",)
    if not _is_warzone_map(inner):
        return None
    top = _Object(table, path, inner)
    return Draft(
        top.read_text("name", default_name),
        [
            DraftTerritory(
                territory.read_id(),
                territory.read_text("name", territory.read_id()),
                territory.line_number,
                territory.read_mentions("connectedTo"),
            )
            for territory in top.read_objects("territories")
        ],
        [
            DraftContinent(
                f"bonus {bonus.read_id()}",
                bonus.read_text("name", f"Bonus {bonus.read_id()}"),
                bonus.line_number,
                bonus.read_number("value", -MAX_BONUS, MAX_BONUS),
                bonus.read_mentions("territoryIDs"),
            )
            for bonus in top.read_objects("bonuses")
        ],
    )


def _is_warzone_map(entries: Mapping[str, Any]) -> bool:
    """Return whether JSON is a Warzone map: only in this format do territories have ids."""
    territories = entries.get("territories")
    return isinstance(territories, list) and any(
        isinstance(territory, Mapping)
        and "id" in territory
        and ("bonuses" in entries or "connectedTo" in territory)
        for territory in territories
    )


FORMAT = BoardFormat("Warzone", ".json", _read_draft)
