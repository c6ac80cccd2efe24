"""iacta's own format in JSON, TOML or YAML: territories with the names of their neighbours.

```text
{"name": "tiny", "directed": false,
 "territories": {"A": ["B"], "B": []},
 "continents": {"X": {"bonus": 2, "territories": ["A"]}},
 "places": {"A": [10, 20], "B": [30, 20]},
 "outlines": {"A": [[[0, 0], [20, 0], [10, 30]]], "B": [[[20, 0], [40, 0], [30, 30]]]}}
```

Only `territories` is required. Borders lead in both directions and may be listed once or twice. If
`directed` is true, a border leads only from the key to the territory in the list. A continent that
lists another continent includes all territories of that continent.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from iacta.board.board import (
    MAX_BONUS,
    Board,
    collapse_spaces,
    did_you_mean,
    fold_name,
    format_json,
    read_outline,
    read_point,
)
from iacta.board.formats.draft import BoardFormat, Draft, DraftContinent, DraftTerritory, Mention
from iacta.board.formats.reading import BoardText, FileTable, KeyPath, prefix_line, read_toml
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError, missing_error

KEYS = ("name", "directed", "territories", "continents", "places", "outlines")
CONTINENT_KEYS = ("bonus", "territories")
TABLES = ("territories", "continents")
# The number of keys that are compared with known keys; more would take seconds.
MAX_COMPARED_KEYS = 20
YAML_TABLE = re.compile(r"^territories[ \t]*:", re.MULTILINE)
NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d{1,20})?", re.ASCII)
MAX_YAML_BYTES = 10**6
MIN_KEY_SIMILARITY = 0.8  # the `difflib` ratio above which a key counts as a misspelling
TOML_TABLE = re.compile(
    r"""^[ \t]*+\[?+[ \t]*+["']?([\w-]++)["']?[ \t]*+(?:[].]|=[ \t]*+\{)""", re.MULTILINE
)


def read_board_table(table: FileTable, name: str) -> Draft:
    if "player" in table.entries:
        table.refuse((), "this is a position, not a board")
    table.refuse_unknown(table.entries, KEYS)
    title, directed = table.entries.get("name", name), table.entries.get("directed", False)
    if not isinstance(title, str):
        table.refuse(("name",), f"name must be a string, got {quote(title)}")
    if not isinstance(directed, bool):
        table.refuse(("directed",), f"directed must be true or false, got {quote(directed)}")
    if "territories" not in table.entries:
        table.refuse((), "missing the table territories")
    places, outlines = _index_by_territory(table, "places"), _index_by_territory(table, "outlines")
    territories = []
    for key, names in table.table("territories").items():
        path: KeyPath = ("territories", key)
        mentions = _read_mentions(table, path, names)
        place, shape = places.get(fold_name(key)), outlines.get(fold_name(key))
        with table.add_line(("places", key)):
            point = None if place is None else read_point(place, "places")
        with table.add_line(("outlines", key)):
            outline = None if shape is None else read_outline(shape)
        spelled, line = collapse_spaces(key), table.find_line(path)
        territories.append(DraftTerritory(spelled, spelled, line, mentions, point, outline))
    continents = [_read_continent(table, *entry) for entry in table.table("continents").items()]
    return Draft(title, territories, continents, directed, has_real_places=True)


def _index_by_territory(table: FileTable, key: str) -> Mapping[str, Any]:
    """Return the entries of a table by folded name; raise an error for unknown territories."""
    territories = table.table("territories")
    known = {fold_name(name) for name in territories}
    entries = table.table(key)
    for name in entries:
        if fold_name(name) not in known:
            hint = did_you_mean(name, territories)
            sentence = f"unknown territory {quote(name)} in {key}{hint}"
            table.refuse((key, name), sentence, IllegalError)
    return {fold_name(name): value for name, value in entries.items()}


def _read_mentions(table: FileTable, path: KeyPath, names: object) -> tuple[Mention, ...]:
    listed: Sequence[Any] = names if isinstance(names, Sequence) else (None,)
    if isinstance(names, str) or not all(isinstance(entry, str) for entry in listed):
        table.refuse(path, f"{path[-1]!r} must have a list of names, got {quote(names)}")
    return tuple(
        Mention(collapse_spaces(entry), table.find_line((*path, index)))
        for index, entry in enumerate(listed)
    )


def _read_continent(table: FileTable, key: str, entry: object) -> DraftContinent:
    path: KeyPath = ("continents", key)
    if not isinstance(entry, Mapping):
        table.refuse(path, f"continent must be a table, got {quote(entry)}")
    table.refuse_unknown(entry, CONTINENT_KEYS, "continents", key)
    with table.add_line((*path, "bonus")):
        bonus = read_int(entry.get("bonus", 0), "bonus", -MAX_BONUS, MAX_BONUS)
    members = _read_mentions(table, (*path, "territories"), entry.get("territories", ()))
    return DraftContinent(
        collapse_spaces(key), collapse_spaces(key), table.find_line(path), bonus, members
    )


def _write_json(board: Board) -> str:
    blocks = []
    for key, value in board.to_record().items():
        if isinstance(value, dict):
            lines = (
                f"    {format_json(name)}: {format_json(part)}" for name, part in value.items()
            )
            blocks.append(f"  {format_json(key)}: {{\n" + ",\n".join(lines) + "\n  }")
        else:
            blocks.append(f"  {format_json(key)}: {format_json(value)}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _read_json(source: BoardText, name: str) -> Draft | None:
    if source.json is None or not _is_own([*source.json.entries]):
        return None
    if isinstance(source.json.entries.get("territories"), list):
        return None  # this is JSON of another program
    return read_board_table(source.json, name)


def _read_toml(source: BoardText, name: str) -> Draft | None:
    # Other languages, such as DOT, also contain lines like `name = "risk"`, but no tables.
    keys = TOML_TABLE.findall(source.plain)
    return read_board_table(read_toml(source.plain), name) if _is_own(keys) else None


def _read_yaml(source: BoardText, name: str) -> Draft | None:
    if not YAML_TABLE.search(source.plain):
        return None
    yaml, text = _load_yaml(), source.plain
    if len(text.encode()) > MAX_YAML_BYTES:
        raise TooLargeError(f"YAML must be at most {MAX_YAML_BYTES} bytes")
    # This loader reads all values as strings, so that the name "No" is not a truth value.
    loader = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
    try:
        # References could describe more data than fits in the memory.
        for token in yaml.scan(text, loader):
            if isinstance(token, yaml.AliasToken):
                line = token.start_mark.line + 1
                raise MalformedError(prefix_line(line, "references are not allowed in YAML"))
        _refuse_repeated_keys(yaml.compose(text, loader))
        entries = yaml.load(text, loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it is nested too deeply"
        line = mark.line + 1 if mark else None
        raise MalformedError(prefix_line(line, f"the text is not YAML: {reason}")) from None
    if not isinstance(entries, dict):
        raise MalformedError(f"the YAML must be a table, got {quote(entries)}")
    return read_board_table(FileTable(_read_values(entries)), name)


def _refuse_repeated_keys(node: Any) -> None:
    """Refuse a repeated key in YAML, whose first value would be lost."""
    if node is None or node.id == "scalar":
        return
    seen = set()
    for part in node.value:
        if node.id == "mapping":
            key, part = part
            if str(key.value) in seen:
                sentence = f"the key {quote(key.value)} appears twice"
                raise MalformedError(prefix_line(key.start_mark.line + 1, sentence))
            seen.add(str(key.value))
        _refuse_repeated_keys(part)


def _load_yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise missing_error("YAML needs PyYAML, which is not installed", "graphs") from None
    return yaml


def _read_values(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a YAML file, with the values that are not names as JSON has them."""
    found = dict(entries)
    if "directed" in found:
        found["directed"] = {"true": True, "false": False}.get(found["directed"], found["directed"])
    if isinstance(continents := found.get("continents"), dict):
        found["continents"] = {
            name: {**entry, "bonus": _read_value(entry["bonus"])}
            if isinstance(entry, dict) and "bonus" in entry
            else entry
            for name, entry in continents.items()
        }
    return found | {key: _read_value(found[key]) for key in ("places", "outlines") if key in found}


def _read_value(value: Any) -> Any:
    """Return numbers in a value of YAML as numbers.

    >>> _read_value({"Peru": ["10", "2.5"]})
    {'Peru': [10, 2.5]}
    """
    if isinstance(value, dict):
        return {key: _read_value(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_read_value(part) for part in value]
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def _write_yaml(board: Board) -> str:
    text: str = _load_yaml().safe_dump(board.to_record(), allow_unicode=True, sort_keys=False)
    return text


def _is_own(keys: Sequence[str]) -> bool:
    """Return whether keys resemble the keys of a board or a position; tolerate misspellings."""
    import difflib  # a slow import

    near = [
        key
        for key in keys[:MAX_COMPARED_KEYS]
        if difflib.get_close_matches(fold_name(key), TABLES, cutoff=MIN_KEY_SIMILARITY)
    ]
    return (
        bool(near)
        or not {*TABLES, "player", "others"}.isdisjoint(keys)
        or (len(keys) > 0 and set(keys) <= set(KEYS))
    )


JSON = BoardFormat("iacta's own", ".json", _read_json, _write_json)
TOML = BoardFormat("iacta's own", ".toml", _read_toml, Board.to_toml)
YAML = BoardFormat("iacta's own", ".yaml", _read_yaml, _write_yaml)
