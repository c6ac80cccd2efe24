"""Logs of dice: what was rolled, read from texts, files and records in bounded memory.

A log has one row for each die, roll or battle. Lines of text repeat: there are only so many rolls.
So a line is parsed when it is first seen, and a log of a hundred million lines is read as blocks of
numbers, each the place of an `Entry` in the block's list.

Recordings of RiskGameRecorder are read too. They hold the armies on the map whenever these change,
from which some battles can be recognised, and some of their outcomes never: `recorded` says which,
and a battle from a recording is compared with the fair distribution given that its outcome is
recognisable.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.battle.territory import Territory, parse_territory
from iacta.checks import parse_whole_number, read_fraction, shown, whole_number
from iacta.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.fairness.recording import recorded
from iacta.fairness.trials import Entry, Notes, Trial, at, plainly, refuse_large
from iacta.files import parse_json, read_path
from iacta.rules.dice import Dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules
from iacta.tabular import Tabular, cells, column_name, text_of

__all__ = ["COLUMNS", "Block", "Log", "read_log"]

Log: TypeAlias = "str | bytes | PathLike[str] | Iterable[Any]"
Codes: TypeAlias = npt.NDArray[np.int64]

BLOCK = 2**17
REMARK = b"#"  # how lines begin that are skipped
MOST_ENTRIES = 2**18  # lines whose meaning is remembered
LONGEST_LINE = 10_000
MOST_COLUMNS = 100
MOST_COUNT = 10**12
MOST_FACES = 100
MOST_AHEAD = 50
MOST_DEFENDERS = 1000
LONGEST_NAME = 100
KINDS = {
    "dice": ("die", "faces"),
    "rolls": ("attack", "defence", "attack_dice", "defence_dice", "attackers_lost"),
    "battles": ("attackers_left", "defenders_left"),
}
COLUMNS = (
    *("die", "faces"),
    *("attack", "defence", "attack_dice", "defence_dice", "attackers_lost", "defenders_lost"),
    *("attackers", "defenders", "attackers_left", "defenders_left"),
    *("ahead", "chance_before", "chance_after"),
    *("player", "opponent", "rules", "count"),
)
WANTED = (
    "die; attack and defence; attack_dice, defence_dice and attackers_lost; or attackers, "
    "defenders, attackers_left and defenders_left"
)
DICE = re.compile(r"\[?\s*[0-9]+(?:[\s,;+/-]+[0-9]+)*\s*\]?")


class Block(NamedTuple):
    """A part of a log.

    entries: the different rows.
    codes: for each row, in order, the place of its entry.
    """

    entries: list[Entry]
    codes: Codes


def read_log(log: Log, rules: Rules, notes: Notes) -> Iterator[Block]:
    """Yield a log block by block.

    log: the path of a file; its content, as text or bytes; or rows, each a mapping from the names
        of columns, or the face of a die.
    rules: the rules of rows that name none.
    notes: receives everything that is not part of the blocks.
    """
    if not isinstance(log, str | bytes | PathLike):
        yield from _blocks(_rows(log), rules, notes)
        return
    source = read_path(log, "log") if isinstance(log, PathLike) else log
    with Tabular(source, LONGEST_LINE, REMARK) as table:
        if not table.is_text:
            yield from _blocks(table.records(), rules, notes)
        elif _is_document(table.head):
            yield from _document(table.document(), rules, notes)
        else:
            yield from _read_lines(table, rules, notes)


# Rows.


def _rows(log: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(log, Mapping):
        raise MalformedError(f"log must be a list of mappings or of dice, got {shown(log)}")
    try:
        rows = iter(log)
    except TypeError:
        raise MalformedError(f"log must be a text, a path or rows, got {shown(log)}") from None
    for row in rows:
        yield row if isinstance(row, Mapping) else {"die": row}


def _blocks(
    rows: Iterator[Mapping[str, Any]], rules: Rules, notes: Notes, place: str = "row"
) -> Iterator[Block]:
    """Yield rows as blocks; errors name the row."""
    number = 0
    while part := list(islice(rows, BLOCK)):
        entries: dict[Entry, int] = {}
        codes = []
        for row in part:
            number += 1
            with at(f"{place} {number}"):
                entry = _entry(row, rules, notes)
                codes.append(entries.setdefault(entry, len(entries)))
                notes.broken_off += entry.times * (entry.trial is None)
        yield Block(list(entries), np.array(codes, dtype=np.int64))


# Texts.


def _is_document(head: bytes) -> bool:
    """Return whether a log is one JSON text, such as a recording, and not a line per event."""
    start = head.lstrip()
    if start.startswith(b"["):
        return True
    first = start.split(b"\n", 1)[0].strip()
    return start.startswith(b"{") and (not first.endswith(b"}") or b'"roundInfo"' in start)


def _document(document: Any, rules: Rules, notes: Notes) -> Iterator[Block]:
    if isinstance(document, list):
        yield from _blocks(_rows(document), rules, notes, "entry")
    else:
        entries: dict[Entry, int] = {}
        codes = [entries.setdefault(each, len(entries)) for each in recorded(document, notes)]
        yield Block(list(entries), np.array(codes, dtype=np.int64))


def _read_lines(table: Tabular, rules: Rules, notes: Notes) -> Iterator[Block]:
    reader: _Reader | None = None
    waiting: list[int] = []
    for part in table.lines():
        found = [None] if reader is None else list(map(reader.known.get, part.lines))
        if None in found:
            for number, line in part.numbered():
                code = None if reader is None else reader.known.get(line)
                if code is None:
                    if not line.strip() or line.lstrip().startswith(REMARK):
                        continue
                    text = text_of(line, number).strip()
                    with at(f"line {number}"):
                        if reader is None:
                            reader = _Reader(text, table, rules, notes)
                            if reader.has_heading:
                                continue
                        code = reader.read(line, text)
                waiting.append(code)
        else:
            waiting += found  # type: ignore[arg-type] # there is no `None`
        if reader is not None and (len(waiting) >= BLOCK or len(reader.entries) > MOST_ENTRIES):
            yield _block(reader, waiting, notes)
            waiting = []
            if len(reader.entries) > MOST_ENTRIES:
                reader.forget()
    if waiting and reader is not None:
        yield _block(reader, waiting, notes)


def _block(reader: "_Reader", waiting: list[int], notes: Notes) -> Block:
    codes = np.array(waiting, dtype=np.int64)
    for code in reader.empty:
        notes.broken_off += int((codes == code).sum()) * reader.entries[code].times
    return Block(list(reader.entries), codes)


class _Reader:
    """Reads lines of one format, and remembers them.

    first: the first line.
    table: the table that it begins.
    """

    def __init__(self, first: str, table: Tabular, rules: Rules, notes: Notes) -> None:
        self.rules, self.notes, self.mark = rules, notes, table.mark
        self.known: dict[bytes, int] = {}
        self.entries: list[Entry] = []
        self.places: dict[Entry, int] = {}
        self.empty: list[int] = []
        self.is_json = table.format == "jsonl"
        self.columns: list[str] = ["die"]
        is_number = re.fullmatch(r"[0-9]{1,3}", first) is not None
        self.has_heading = not self.is_json and not is_number
        if self.has_heading:
            self.columns = [column_name(name) for name in cells(first, self.mark)]
            self._check_columns(first)

    def forget(self) -> None:
        """Forget the lines, so that a log without duplicates takes no more memory."""
        self.known, self.entries, self.places, self.empty = {}, [], {}, []

    def read(self, line: bytes, text: str) -> int:
        """Return the place of the entry of a line that was not seen before."""
        if self.is_json:
            row = _json_row(text)
        else:
            found = [cell.strip() for cell in cells(text, self.mark)]
            if len(found) != len(self.columns):
                raise MalformedError(
                    f"expected {len(self.columns)} cells, as in the heading, got {len(found)}"
                )
            row = dict(zip(self.columns, found, strict=True))
        entry = _entry(row, self.rules, self.notes)
        code = self.places.setdefault(entry, len(self.entries))
        if code == len(self.entries):
            self.entries.append(entry)
            if entry.trial is None:
                self.empty.append(code)
        if len(self.known) > MOST_ENTRIES:
            self.known.clear()
        self.known[line] = code
        return code

    def _check_columns(self, first: str) -> None:
        names = [name for name in self.columns if name in COLUMNS]
        if not {"die", "attack", "attack_dice", "attackers_left"} & {*names}:
            raise MalformedError(f"unknown columns {shown(first)}; a log has {WANTED}")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise MalformedError(f"the column {twice[0]} appears twice")


def _json_row(text: str) -> dict[str, Any]:
    try:
        row = parse_json(text)
    except IactaError as error:
        raise plainly(error)(str(error).removeprefix("line 1: ")) from None
    if not isinstance(row, dict):
        raise MalformedError(f"a line must be an object of JSON, as the first is, got {shown(row)}")
    return row


# The meaning of a row.


def _entry(row: Mapping[str, Any], usual: Rules, notes: Notes) -> Entry:
    """Return the entry of a row, or refuse it."""
    given: dict[str, Any] = {}
    for name, value in row.items():
        column = column_name(name) if isinstance(name, str) else ""
        if column not in COLUMNS:
            if len(notes.unread) < MOST_COLUMNS:
                notes.unread[str(name)[:LONGEST_NAME]] = None
        elif value is not None and not (isinstance(value, str) and not value):
            given[column] = value
    rules = _rules(given["rules"], usual.garrison) if "rules" in given else usual
    kinds = [kind for kind, names in KINDS.items() if any(name in given for name in names)]
    if len(kinds) != 1:
        got = " and ".join(f"some of {kind}" for kind in kinds) if kinds else shown(dict(row))
        raise MalformedError(f"a row must have {WANTED}; got {got}")
    entry = {"dice": _die, "rolls": _roll, "battles": _battle}[kinds[0]](given, rules)
    ahead = _ahead(given["ahead"]) if "ahead" in given else ()
    if entry.fought is not None:
        attackers, defenders = entry.fought
        refuse_large(attackers, defenders + sum(each.defenders for each in ahead))
    return entry._replace(
        ahead=ahead,
        chances=_chances(given) if "chance_before" in given or "chance_after" in given else None,
        player=_name(given, "player"),
        opponent=_name(given, "opponent"),
        times=_whole(given, "count", 1, MOST_COUNT) if "count" in given else 1,
    )


@lru_cache(maxsize=1024)
def _named_rules(name: str, garrison: int) -> Rules:
    return find_rules(name, garrison)


def _rules(name: object, garrison: int) -> Rules:
    if not isinstance(name, str):
        raise MalformedError(f"rules must be a name, got {shown(name)}")
    return _named_rules(name, garrison)


def _ahead(value: object) -> tuple[Territory, ...]:
    """Return the territories still to take: `3 8:capital`, or a list."""
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    if isinstance(parts, int) and not isinstance(parts, bool):
        parts = [parts]
    if not isinstance(parts, list | tuple) or not 1 <= len(parts) <= MOST_AHEAD:
        raise MalformedError(
            f"ahead must be the defenders of 1 to {MOST_AHEAD} territories, got {shown(value)}"
        )
    way = tuple(parse_territory(str(each)) for each in parts)
    if any(each.defenders > MOST_DEFENDERS or each.stop is not None for each in way):
        raise IllegalError(
            f"ahead must be territories of at most {MOST_DEFENDERS} defenders without a stop, got "
            f"{shown(value)}"
        )
    return way


def _chances(given: Mapping[str, Any]) -> tuple[float, float]:
    found = []
    for name in ("chance_before", "chance_after"):
        if name not in given:
            raise MalformedError(f"missing {name}")
        chance = read_fraction(given[name], name, "lie between 0 and 1")
        if not 0 <= chance <= 1:
            raise IllegalError(f"{name} must lie between 0 and 1, got {shown(given[name])}")
        found.append(float(chance))
    return found[0], found[1]


def _name(given: Mapping[str, Any], column: str) -> str:
    name = given.get(column, "")
    if not isinstance(name, str | int) or len(str(name)) > LONGEST_NAME:
        raise MalformedError(
            f"{column} must be a name of at most {LONGEST_NAME} letters, got {shown(name)}"
        )
    return str(name)


def _whole(given: Mapping[str, Any], name: str, least: int, most: int | None = None) -> int:
    if name not in given:
        raise MalformedError(f"missing {name}")
    value = given[name]
    if isinstance(value, str):
        return parse_whole_number(value, name, least, most)
    return whole_number(value, name, least, most)


def _die(given: Mapping[str, Any], rules: Rules) -> Entry:
    faces = _whole(given, "faces", 2, MOST_FACES) if "faces" in given else rules.attack.faces[0]
    if faces > MOST_FACES:
        raise TooLargeError(f"faces must be at most {MOST_FACES}, got {faces}")
    face = _whole(given, "die", 1, faces)
    return Entry(Trial("die", faces, 0, rules), (face, 0))


def _roll(given: Mapping[str, Any], rules: Rules) -> Entry:
    if not rules.mode.dice_chosen_first:
        raise rules.mode.unfit("to audit single rolls")
    attack = _dice(given, "attack", rules.attack) if "attack" in given else ()
    defence = _dice(given, "defence", rules.defence) if "defence" in given else ()
    if bool(attack) != bool(defence):
        missing = "defence" if attack else "attack"
        raise MalformedError(f"missing {missing}: give the dice of both sides")
    if attack:
        counts = [
            len(thrown) - len(dice.faces) + dice.kept
            for thrown, dice in ((attack, rules.attack), (defence, rules.defence))
        ]
    else:
        counts = [
            _whole(given, "attack_dice", 1, rules.attack.kept),
            _whole(given, "defence_dice", 1, rules.defence.kept),
        ]
    for name, count in zip(("attack_dice", "defence_dice"), counts, strict=True):
        if name in given and _whole(given, name, 1) != count:
            raise IllegalError(f"{name} must be {count} as the dice are, got {given[name]}")
    roll = Roll(counts[0], counts[1], rules)
    losses = _losses(given, roll)
    if attack:
        found = _compared(attack, defence, roll)
        if losses is not None and losses != found:
            raise IllegalError(
                f"the dice {_words(attack)} against {_words(defence)} cost the attackers "
                f"{found.attackers} and the defenders {found.defenders} under these rules, not "
                f"{losses.attackers} and {losses.defenders}"
            )
        losses = found
    if losses is None:
        raise MalformedError("missing attackers_lost: give the dice of both sides, or the losses")
    armies = None
    if "attackers" in given or "defenders" in given:
        ours = _whole(given, "attackers", counts[0] + rules.garrison)
        armies = ours, _whole(given, "defenders", counts[1])
    return Entry(
        Trial("roll", counts[0], counts[1], rules),
        (losses.attackers, losses.defenders),
        dice=attack + defence,
        armies=armies,
    )


def _dice(given: Mapping[str, Any], name: str, dice: Dice) -> tuple[int, ...]:
    """Return the dice of a cell: a list, `6 5 3`, `6-5-3` or `653`."""
    value = given[name]
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and len(value) < LONGEST_NAME and DICE.fullmatch(value.strip()):
        parts = re.findall("[0-9]+", value)
        faces = [int(part) for part in parts]
        if len(parts) == 1 and max(dice.faces) < 10:
            faces = [int(digit) for digit in parts[0]]
    elif isinstance(value, list | tuple):
        faces = [whole_number(each, name, 1) for each in value]
    else:
        raise MalformedError(f"{name} must be dice such as 6 5 3, got {shown(value)}")
    spare = len(dice.faces) - dice.kept
    if not spare < len(faces) <= len(dice.faces):
        raise IllegalError(
            f"{name} must be {spare + 1} to {len(dice.faces)} dice, got {shown(value)}"
        )
    if not all(1 <= face <= max(dice.faces) for face in faces):
        raise IllegalError(
            f"{name} must be dice that show 1 to {max(dice.faces)}, got {shown(value)}"
        )
    return tuple(faces)


def _words(dice: Iterable[int]) -> str:
    return " ".join(map(str, dice))


def _losses(given: Mapping[str, Any], roll: Roll) -> Losses | None:
    """Return the losses that a row states, `None` if it states none."""
    names = [name for name in ("attackers_lost", "defenders_lost") if name in given]
    if not names:
        return None
    least = -MOST_FACES if roll.rules.mode.grows else 0
    stated = {name: _whole(given, name, least) for name in names}
    for losses in _possible(roll):
        if all(getattr(losses, name.removesuffix("_lost")) == n for name, n in stated.items()):
            return losses
    got = " and ".join(f"{name} {number}" for name, number in stated.items())
    taken = min(roll.attack_dice, roll.defence_dice)
    raise IllegalError(
        f"a roll of {roll.attack_dice} against {roll.defence_dice} must take "
        f"{taken} {'army' if taken == 1 else 'armies'} in all, got {got}"
    )


@lru_cache(maxsize=1024)
def _possible(roll: Roll) -> tuple[Losses, ...]:
    return tuple(roll.losses())


def _compared(attack: tuple[int, ...], defence: tuple[int, ...], roll: Roll) -> Losses:
    """Return the losses that thrown dice cause."""
    rules = roll.rules
    is_full = (roll.attack_dice, roll.defence_dice) == rules.full_roll
    if rules.mode.grows and is_full and {*attack, *defence} == {1}:
        return min(_possible(roll))
    count = min(roll.attack_dice, roll.defence_dice)
    ours, theirs = (
        [_final(face, rank, dice) for rank, face in enumerate(sorted(thrown, reverse=True)[:count])]
        for thrown, dice in zip(
            (attack, defence), rules.dice(roll.attack_dice, roll.defence_dice), strict=True
        )
    )
    won = sum(
        a > d or (a == d and rules.ties == "attacker") for a, d in zip(ours, theirs, strict=True)
    )
    return Losses(count - won, won)


def _final(face: int, rank: int, dice: Dice) -> int:
    value = face + (dice.bonus[rank] if rank < len(dice.bonus) else 0)
    return value if dice.clamp is None else max(dice.clamp[0], min(value, dice.clamp[1]))


def _battle(given: Mapping[str, Any], rules: Rules) -> Entry:
    attackers, defenders = _whole(given, "attackers", 1), _whole(given, "defenders", 1)
    grows = rules.mode.grows
    ours = _whole(given, "attackers_left", 0, None if grows else attackers)
    theirs = _whole(given, "defenders_left", 0, None if grows else defenders)
    garrison = rules.garrison
    if attackers <= garrison:
        raise IllegalError(
            f"attackers must be more than the garrison of {garrison}, got {attackers}"
        )
    if ours < garrison or (not theirs and ours <= garrison):
        raise IllegalError(
            f"attackers_left must be at least {garrison + (not theirs)}, including those who "
            f"moved on, got {ours}"
        )
    lost = attackers - ours, defenders - theirs
    if theirs and ours > garrison:
        return Entry(None, lost)
    return Entry(Trial("battle", attackers, defenders, rules), lost)
