"""Rules files: reads and writes rules as TOML and JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import STREAM, add_file_name, quote_path, read_bytes, read_path
from iacta.inputs.json_and_toml import parse_toml
from iacta.rules.dice import Dice
from iacta.rules.modes import mode_record, read_mode
from iacta.rules.rules import CLASSIC, Rules
from iacta.rules.variants import RuleSet, find_rule_set, find_rules

MAX_RULES_BYTES = 10**6  # maximum number of bytes in a rules file
DICE_KEYS = tuple(field.name for field in fields(Dice))
MODE_KEYS = tuple(mode_record(CLASSIC.mode))
RULES_KEYS = (*(field.name for field in fields(Rules) if field.name != "mode"), *MODE_KEYS)
SIDES = ("attack", "defence", "full_attack", "full_defence")
FILE_KEYS = ("name", "description", "base")


def read_rules_file(path: str | PathLike[str]) -> RuleSet:
    r"""Read rules and their name from a TOML file.

    path: the file, or `-` for standard input. Its keys are the fields of `Rules`; the tables
        `[attack]`, `[defence]`, `[full_attack]` and `[full_defence]` contain the fields of `Dice`.
        Missing fields are taken from the rules that the key `base` names, or from the classic
        rules. `name` and `description` are single lines; by default, the name is that of the file.

    A file that cannot be read, an unknown key or a wrong value raises `IactaError`. The message
    gives the file, the key and the expected value.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "house.toml"
    ...     _ = path.write_text('base = "capital"\n[attack]\nfaces = [8, 6, 6]')
    ...     house = read_rules_file(path)
    >>> house.name
    'house.toml'
    >>> house.rules
    Rules(attack=Dice((8, 6, 6)), defence=Dice((6, 6, 6)))
    """
    file = read_path(path, "rules")
    with add_file_name(file, "rules"):
        return _read_rule_set(read_toml(file), file)


def read_rules_record(record: Mapping[str, Any], base: Rules | str = "classic") -> Rules:
    """Read rules from a mapping, such as a parsed JSON object.

    record: the fields of `Rules`, with dice as mappings of the fields of `Dice`, as in the result
        of `rules_record`.
    base: the source of missing fields: a `Rules` object or the name of a rule set.

    Unknown fields and wrong values raise `IactaError`. The message names the field, such as
    `attack.keep`.

    >>> read_rules_record({"ties": "attacker", "defence": {"bonus": [1]}})
    Rules(defence=Dice((6, 6), bonus=(1,)), ties='attacker')
    >>> read_rules_record({"attack": {"faces": [6, 6], "keep": 3}})
    Traceback (most recent call last):
        ...
    iacta.IllegalError: attack.keep must be a whole number from 1 to 2, got 3
    """
    start = find_rules(base)
    if not isinstance(record, Mapping):
        raise MalformedError(f"rules must be a mapping of fields, got {quote(record)}")
    _refuse_unknown(record, RULES_KEYS)
    dice = {
        side: _read_dice(record[side], getattr(start, side), side)
        for side in SIDES
        if side in record
    }
    mode = read_mode({**mode_record(start.mode), **record})
    rest = {key: value for key, value in record.items() if key not in MODE_KEYS}
    return replace(start, **{**rest, **dice}, mode=mode)


def rules_record(rules: Rules | str) -> dict[str, Any]:
    """Return rules as a JSON object. Dice become mappings, and tuples become lists.

    rules: `Rules`, or the name of a rule set.

    >>> rules_record("zombie defender")["ties"]
    'attacker'
    >>> rules_record("capital")["defence"]["faces"]
    [6, 6, 6]
    """
    rules = find_rules(rules)
    record = asdict(
        rules,
        dict_factory=lambda pairs: {
            key: list(value) if isinstance(value, tuple) else value for key, value in pairs
        },
    )
    del record["mode"]
    return record | mode_record(rules.mode)


def rules_toml(rules: Rules | str, name: str | None = None) -> str:
    """Format rules as a TOML file with all fields, for `read_rules_file`.

    rules: `Rules`, or the name of a rule set.
    name: the name of the rules; `None` to use the name of the file. A name that other rules have
        raises `IllegalError`.

    >>> print(rules_toml("war god", "Mars"), end="")
    name = "Mars"
    ties = "attacker"
    garrison = 1
    least_advance = true
    territories_per_army = 3
    least_new_armies = 3
    dice_mode = "true random"
    defender_sees_first = false
    all_ones_gain = 0
    ties_cost = "one side"
    second_defence_die_from = 2
    never_fewer_dice = false
    last_attack_die_at_two_to_one = false
    fumble = false
    attack_die_again = false
    <BLANKLINE>
    [attack]
    faces = [6, 6, 6]
    reroll = []
    bonus = []
    sort_again = true
    <BLANKLINE>
    [defence]
    faces = [6, 6]
    reroll = []
    bonus = []
    sort_again = true
    """
    rules = find_rules(rules)
    top: dict[str, Any] = {} if name is None else {"name": _check_free_name(name, rules)}
    tables = {}
    for key, value in rules_record(rules).items():
        if isinstance(value, Mapping):
            tables[key] = value
        else:
            top[key] = value
    blocks = [
        _format_lines(top),
        *(f"[{key}]\n{_format_lines(table)}" for key, table in tables.items()),
    ]
    return "\n".join(blocks)


def read_toml(file: Path) -> dict[str, Any]:
    content = read_bytes(file, MAX_RULES_BYTES)
    try:
        return parse_toml(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedError(
            f"the text is not UTF-8: byte {content[error.start]:#04x} at position {error.start}"
        ) from None


def _read_rule_set(table: Mapping[str, Any], file: Path) -> RuleSet:
    _refuse_unknown(table, (*FILE_KEYS, *RULES_KEYS))
    record = {key: value for key, value in table.items() if key not in FILE_KEYS}
    base = _read_line(table.get("base", "classic"), "base")
    try:
        start = find_rules(base)
    except IllegalError as error:
        raise IllegalError(f"base: {error}") from None
    rules = read_rules_record(record, start)
    is_name = file.name.isprintable() and str(file) != STREAM
    file_name = file.name if is_name else "rules file"
    return RuleSet(
        _check_free_name(table.get("name", file_name), rules),
        rules,
        _read_line(table.get("description", "Rules read from a file."), "description"),
        quote_path(file, "rules"),
    )


def _check_free_name(name: object, rules: Rules) -> str:
    """Validate a name of rules; raise `IllegalError` if other rules have this name."""
    checked = _read_line(name, "name")
    try:
        known = find_rule_set(checked).rules
    except IllegalError:
        return checked
    if known != rules:
        raise IllegalError(f"name {quote(name)} is taken by other rules")
    return checked


def _read_line(text: object, key: str) -> str:
    if not isinstance(text, str) or not text.isprintable() or not text.strip():
        raise MalformedError(f"{key} must be a string on one line, got {quote(text)}")
    return text


def _refuse_unknown(keys: Mapping[str, Any], known: Sequence[str], table: str = "") -> None:
    for key in keys:
        if key not in known:
            import difflib  # a slow import, only needed for errors

            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(known)}"
            where = f" in {table}" if table else ""
            raise IllegalError(f"unknown key {quote(key)}{where}; {hint}")


def _read_dice(given: object, start: Dice | None, side: str) -> Dice | None:
    if given is None and side.startswith("full"):
        return None
    if not isinstance(given, Mapping):
        raise MalformedError(f"{side} must be a table of dice, got {quote(given)}")
    _refuse_unknown(given, DICE_KEYS, side)
    if start is None and "faces" not in given:
        raise IllegalError(f"missing {side}.faces")
    try:
        return replace(start or Dice(), **given)
    except IactaError as error:
        key = str(error).split()[0]
        prefix = f"{side}." if key in DICE_KEYS else f"{side}.faces: "
        raise type(error)(f"{prefix}{error}") from None


def _format_lines(table: Mapping[str, Any]) -> str:
    """Format a TOML table with values in the notation of JSON, without `None`."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in table.items()
        if value is not None
    )
