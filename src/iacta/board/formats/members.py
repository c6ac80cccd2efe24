"""JSON with a table for each territory: its continent and its neighbours.

```text
{"territories": {"Egypt": {"continent": "Africa", "neighbors": ["Peru"]}, "Peru": {}},
 "continents": {"Africa": {"bonus": 3, "territories": ["Egypt"]}}}
```

Neighbours are also called `neighbours`, `adjacent`, `borders` or `connections`. Continents may be
listed with their territories, with their bonus alone, or not at all. Borders lead both ways.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from iacta.board.board import MAX_BONUS, collapse_spaces, fold_name
from iacta.board.formats.draft import (
    BoardFormat,
    Draft,
    DraftContinent,
    DraftTerritory,
    Mention,
    Remark,
)
from iacta.board.formats.reading import BoardText, FileTable, KeyPath
from iacta.inputs.checks import quote, read_int

NEIGHBOURS = ("neighbors", "neighbours", "adjacent", "borders", "connections")
MEMBERS = ("territories", "members", "countries")
BONUSES = ("bonus", "value", "armies")


def _read_draft(source: BoardText, name: str) -> Draft | None:
    table = source.json
    entries = table.entries.get("territories") if table else None
    if table is None or not isinstance(entries, Mapping) or not entries:
        return None
    if "player" in table.entries or not all(_is_territory(entry) for entry in entries.values()):
        return None
    territories, homes = [], dict[str, list[Mention]]()
    for key, entry in entries.items():
        path: KeyPath = ("territories", key)
        spelled = collapse_spaces(key)
        named = [_read_names(table, (*path, each), entry.get(each, ())) for each in NEIGHBOURS]
        mentions = tuple(chain.from_iterable(named))
        territories.append(DraftTerritory(spelled, spelled, table.find_line(path), mentions))
        home = entry.get("continent")
        if home is not None and not isinstance(home, str):
            table.refuse((*path, "continent"), f"continent must be a name, got {quote(home)}")
        if home:
            mention = Mention(spelled, table.find_line((*path, "continent")))
            homes.setdefault(collapse_spaces(home), []).append(mention)
    title = table.entries.get("name", name)
    if not isinstance(title, str):
        table.refuse(("name",), f"name must be a string, got {quote(title)}")
    continents, remarks = _read_continents(table, homes), tuple(_list_remarks(table))
    return Draft(title, territories, continents, directed=False, remarks=remarks)


def _list_remarks(table: FileTable) -> Iterator[Remark]:
    """Yield a remark about each unknown key, at its first use."""
    known = {
        (): {"name", "territories", "continents"},
        ("territories",): {*NEIGHBOURS, "continent"},
        ("continents",): {*MEMBERS, *BONUSES},
    }
    for section, keys in known.items():
        entries = table.table(section[0]) if section else {"": table.entries}
        unknown: dict[str, KeyPath] = {}
        for name, entry in entries.items():
            path: KeyPath = (*section, name) if section else ()
            for key in entry if isinstance(entry, Mapping) else ():
                if key not in keys:
                    unknown.setdefault(key, (*path, key))
        for key, path in unknown.items():
            yield Remark(table.find_line(path), f"the key {quote(key)} is unknown and ignored")


def _is_territory(entry: object) -> bool:
    return isinstance(entry, Mapping) and not {"owner", "armies"} & entry.keys()


def _read_names(table: FileTable, path: KeyPath, names: object) -> tuple[Mention, ...]:
    listed: Sequence[Any] = names if isinstance(names, Sequence) else (None,)
    if isinstance(names, str) or not all(isinstance(each, str) for each in listed):
        table.refuse(path, f"{path[-1]} must be a list of names, got {quote(names)}")
    lines = (table.find_line((*path, k)) for k in range(len(listed)))
    return tuple(
        Mention(collapse_spaces(each), line) for each, line in zip(listed, lines, strict=True)
    )


def _read_continents(table: FileTable, homes: Mapping[str, list[Mention]]) -> list[DraftContinent]:
    """Return the listed continents, and the other continents that territories name."""
    found: dict[str, DraftContinent] = {}
    for key, entry in table.table("continents").items():
        path: KeyPath = ("continents", key)
        is_table = isinstance(entry, Mapping)
        fields: Mapping[str, Any] = entry if is_table else {"bonus": entry}
        worth = next((each for each in BONUSES if each in fields), "bonus")
        with table.add_line(path):
            bonus = read_int(fields.get(worth, 0), worth, -MAX_BONUS, MAX_BONUS)
        field = next((each for each in MEMBERS if each in fields), MEMBERS[0])
        mentions = _read_names(table, (*path, field), fields.get(field, ()))
        name = collapse_spaces(key)
        found[fold_name(name)] = DraftContinent(name, name, table.find_line(path), bonus, mentions)
    for name, named in homes.items():
        known = found.get(fold_name(name), DraftContinent(name, name, named[0].line, 0, ()))
        listed = {fold_name(each.key) for each in known.members}
        more = tuple(each for each in named if fold_name(each.key) not in listed)
        found[fold_name(name)] = known._replace(members=(*known.members, *more))
    return [*found.values()]


FORMAT = BoardFormat("members", ".json", _read_draft)
