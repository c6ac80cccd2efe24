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
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain, islice
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from iacta.battle.territory import Territory, parse_territory
from iacta.fairness.e_values import Ints
from iacta.fairness.recording import recorded
from iacta.fairness.trials import LONGEST_NAME, LOST, WON, Entry, Notes, Trial, refuse_large
from iacta.inputs.checks import parse_whole_number, shown, whole_number, words_of
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError, at, plainly
from iacta.inputs.files import read_path
from iacta.inputs.json_and_toml import parse_json
from iacta.inputs.tabular import LineBlock, Tabular, cells, column_name, line_text
from iacta.probability.chances import read_fraction
from iacta.rules.dice import Dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta.rules.thrown import shown_losses
from iacta.rules.variants import find_rules

Log: TypeAlias = "str | bytes | PathLike[str] | Iterable[Any]"
Row: TypeAlias = Mapping[str, Any]

BLOCK = 2**17
REMARK = b"#"  # how lines begin that are skipped
MOST_ENTRIES = 2**18  # lines whose meaning is remembered
LONGEST_LINE = 10_000
MOST_COLUMNS = 100  # of a log; only those above are read
MOST_COUNT = 10**12  # floats hold the sums of such counts
MOST_FACES = 100  # of a die, each of which is counted
MOST_AHEAD = 50  # territories behind the one attacked
MOST_DEFENDERS = 1000  # on each of these; more take long
KINDS = {
    "dice": ("die", "faces"),
    "rolls": ("attack", "defence", "attack_dice", "defence_dice", "attackers_lost"),
    "battles": ("attackers_left", "defenders_left"),
}
COLUMNS = (
    *chain.from_iterable(KINDS.values()),
    *("defenders_lost", "attackers", "defenders", "ahead", "chance_before", "chance_after"),
    *("player", "opponent", "rules", "count"),
)
WANTED = (
    "die; attack and defence; attack_dice, defence_dice and attackers_lost; attackers, "
    "defenders, attackers_left and defenders_left; or chance_before and chance_after"
)
DICE = re.compile(r"\[?\s*[0-9]+(?:[\s,;+/-]+[0-9]+)*\s*\]?")


class Block(NamedTuple):
    """A part of a log.

    entries: the different rows.
    codes: for each row, in order, the place of its entry.
    """

    entries: list[Entry]
    codes: Ints


def read_log(log: Log, rules: Rules, notes: Notes) -> Iterator[Block]:
    """Yield a log block by block.

    log: the path of a file; its content, as text or bytes; or rows, each a mapping from the names
        of columns, or the face of a die.
    rules: the rules of rows that name none.
    notes: receives everything that is not part of the blocks.
    """
    read = partial(_entry, usual=rules, notes=notes)
    if not isinstance(log, str | bytes | PathLike):
        yield from _blocks(_entries(_rows(log), "row", read))
        return
    source = read_path(log, "log") if isinstance(log, PathLike) else log
    with Tabular(source, LONGEST_LINE, REMARK) as table:
        if not table.is_text:
            yield from _blocks(_entries(table.records(COLUMNS), "row", read))
        elif not _is_document(table.head):
            yield from _Reader(table, read).blocks()
        elif isinstance(document := table.document(), list):
            yield from _blocks(_entries(_rows(document), "entry", read))
        else:
            yield from _blocks(recorded(document, notes))


def _is_document(head: bytes) -> bool:
    """Return whether a log is one JSON text, such as a recording, and not a line per event."""
    start = head.lstrip()
    first = start.split(b"\n", 1)[0].strip()
    is_object = start.startswith(b"{") and (not first.endswith(b"}") or b'"roundInfo"' in start)
    return is_object or start.startswith(b"[")


# Rows.


def _rows(log: Any) -> Iterator[Row]:
    if isinstance(log, Mapping):
        raise MalformedError(f"log must be a list of mappings or of dice, got {shown(log)}")
    try:
        rows = iter(log)
    except TypeError:
        raise MalformedError(f"log must be a text, a path or rows, got {shown(log)}") from None
    for row in rows:
        yield row if isinstance(row, Mapping) else {"die": row}


def _entries(rows: Iterable[Row], place: str, read: Callable[[Row], Entry]) -> Iterator[Entry]:
    for number, row in enumerate(rows, 1):
        with at(f"{place} {number}"):
            entry = read(row)
        yield entry


def _blocks(entries: Iterator[Entry]) -> Iterator[Block]:
    while part := list(islice(entries, BLOCK)):
        places: dict[Entry, int] = {}
        codes = [places.setdefault(entry, len(places)) for entry in part]
        yield Block(list(places), np.array(codes))


# Lines.


class _Reader:
    """Reads the lines of a table, and remembers what they say.

    known: the place of the entry of each line.
    places: the entries, with their places.
    """

    def __init__(self, table: Tabular, read: Callable[[Row], Entry]) -> None:
        self.table, self.read = table, read
        self.columns: list[str] = []
        self.known: dict[bytes, int] = {}
        self.places: dict[Entry, int] = {}

    def blocks(self) -> Iterator[Block]:
        waiting: list[int] = []
        for lines in self.table.lines():
            known = [code for code in map(self.known.get, lines.lines) if code is not None]
            waiting += known if len(known) == len(lines.lines) else self._read(lines)
            is_full = len(self.places) > MOST_ENTRIES
            if is_full or len(waiting) >= BLOCK:
                yield Block(list(self.places), np.array(waiting))
                waiting = []
            if is_full:  # a log without duplicates takes no more memory
                self.known, self.places = {}, {}
        if waiting:
            yield Block(list(self.places), np.array(waiting))

    def _read(self, lines: LineBlock) -> Iterator[int]:
        for number, line in lines.numbered():
            if line not in self.known:
                if not line.strip() or line.lstrip().startswith(REMARK):
                    continue
                text = line_text(line, number).strip()
                with at(f"line {number}"):
                    if self._is_heading(text):
                        continue
                    entry = self.read(self._row(text))
                if len(self.known) > MOST_ENTRIES:
                    self.known.clear()
                self.known[line] = self.places.setdefault(entry, len(self.places))
            yield self.known[line]

    def _is_heading(self, first: str) -> bool:
        """Take the first line as a heading, unless it is a row of JSON or a die."""
        if self.table.format == "jsonl" or self.columns:
            return False
        if re.fullmatch(r"[0-9]{1,3}", first):
            self.columns = ["die"]
            return False
        self.columns = [column_name(name) for name in cells(first, self.table.mark)]
        names = [name for name in self.columns if name in COLUMNS]
        if not {"die", "attack", "attack_dice", "attackers_left", "chance_before"} & {*names}:
            what = (
                "unknown columns" if re.search("[A-Za-z]{2}", first) else "missing heading before"
            )
            raise MalformedError(f"{what} {shown(first)}; a log has {WANTED}")
        for name in names:
            if names.count(name) > 1:
                raise MalformedError(f"the column {name} appears twice")
        return True

    def _row(self, text: str) -> Row:
        if self.table.format == "jsonl":
            return _json_row(text)
        row = [cell.strip() for cell in cells(text, self.table.mark)]
        if len(row) != len(self.columns):
            raise MalformedError(
                f"expected {len(self.columns)} cells, as in the heading, got {len(row)}"
            )
        return dict(zip(self.columns, row, strict=True))


def _json_row(text: str) -> dict[str, Any]:
    try:
        row = parse_json(text)
    except IactaError as error:
        raise plainly(error)(str(error).removeprefix("line 1: ")) from None
    if not isinstance(row, dict):
        raise MalformedError(f"a line must be an object of JSON, as the first is, got {shown(row)}")
    return row


# The meaning of a row.

_found_rules = lru_cache(maxsize=2**10)(find_rules)
_possible_losses = lru_cache(maxsize=2**10)(Roll.losses)
_shown_losses = lru_cache(maxsize=2**14)(shown_losses)


def _entry(row: Row, usual: Rules, notes: Notes) -> Entry:
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
    has_chances = "chance_before" in given or "chance_after" in given
    chances = _chances(given) if has_chances else None
    if len(kinds) > 1 or not (kinds or has_chances):
        got = " and ".join(f"some of {kind}" for kind in kinds) if kinds else shown(dict(row))
        raise MalformedError(f"a row must have {WANTED}; got {got}")
    if not kinds and chances is not None:
        entry = _chance(rules, *chances)
    else:
        entry = {"dice": _die, "rolls": _roll, "battles": _battle}[kinds[0]](given, rules)
    ahead = _ahead(given["ahead"]) if "ahead" in given else ()
    if entry.fought is not None:
        attackers, defenders = entry.fought
        refuse_large(attackers, defenders + sum(territory.defenders for territory in ahead))
    return entry._replace(
        ahead=ahead,
        chances=chances,
        player=_name(given, "player"),
        opponent=_name(given, "opponent"),
        times=_whole(given, "count", 1, MOST_COUNT) if "count" in given else 1,
    )


def _rules(name: object, garrison: int) -> Rules:
    if not isinstance(name, str):
        raise MalformedError(f"rules must be a name, got {shown(name)}")
    return _found_rules(name, garrison)


def _ahead(value: object) -> tuple[Territory, ...]:
    """Return the territories still to take: `3 8:capital`, or a list."""
    parts = words_of(value) if isinstance(value, str) else value
    if isinstance(parts, int) and not isinstance(parts, bool):
        parts = [parts]
    if not isinstance(parts, list | tuple) or not 1 <= len(parts) <= MOST_AHEAD:
        raise MalformedError(
            f"ahead must be the defenders of 1 to {MOST_AHEAD} territories, got {shown(value)}"
        )
    way = tuple(parse_territory(str(part)) for part in parts)
    if any(territory.defenders > MOST_DEFENDERS or territory.stop is not None for territory in way):
        raise IllegalError(
            f"ahead must be territories of at most {MOST_DEFENDERS} defenders without a stop, got "
            f"{shown(value)}"
        )
    return way


def _chances(given: Row) -> tuple[float, float]:
    chances = []
    for name in ("chance_before", "chance_after"):
        if name not in given:
            raise MalformedError(f"missing {name}")
        chance = read_fraction(given[name], name, "lie between 0 and 1")
        if not 0 <= chance <= 1:
            raise IllegalError(f"{name} must lie between 0 and 1, got {shown(given[name])}")
        chances.append(float(chance))
    return chances[0], chances[1]


def _chance(rules: Rules, before: float, after: float) -> Entry:
    """Return the entry of a line that has nothing but the chance to succeed."""
    is_decided = after in (0, 1)
    outcome = (WON if after else LOST) if is_decided else (0, 0)
    return Entry(Trial("chance", 0, 0, rules, chance=before, is_decided=is_decided), outcome)


def _name(given: Row, column: str) -> str:
    name = given.get(column, "")
    if not isinstance(name, str | int) or len(str(name)) > LONGEST_NAME:
        raise MalformedError(
            f"{column} must be a name of at most {LONGEST_NAME} letters, got {shown(name)}"
        )
    return str(name)


def _whole(given: Row, name: str, least: int, most: int | None = None) -> int:
    if name not in given:
        raise MalformedError(f"missing {name}")
    value = given[name]
    if isinstance(value, str):
        return parse_whole_number(value, name, least, most)
    return whole_number(value, name, least, most)


def _die(given: Row, rules: Rules) -> Entry:
    faces = _whole(given, "faces", 2, MOST_FACES) if "faces" in given else rules.attack.faces[0]
    if faces > MOST_FACES:
        raise TooLargeError(f"faces must be at most {MOST_FACES}, got {faces}")
    face = _whole(given, "die", 1, faces)
    return Entry(Trial("die", faces, 0, rules), (face, 0))


def _roll(given: Row, rules: Rules) -> Entry:
    if not rules.mode.dice_chosen_first:
        raise rules.mode.unfit("to audit single rolls")
    sides = {"attack": rules.attack, "defence": rules.defence}
    thrown = {name: _dice(given[name], name, dice) for name, dice in sides.items() if name in given}
    if len(thrown) == 1:
        (missing,) = sides.keys() - thrown.keys()
        raise MalformedError(f"missing {missing}: give the dice of both sides")
    counts = [
        len(thrown[name]) - len(dice.faces) + dice.kept
        if thrown
        else _whole(given, f"{name}_dice", 1, dice.kept)
        for name, dice in sides.items()
    ]
    first, second = counts
    for name, count in (("attack_dice", first), ("defence_dice", second)):
        if name in given and _whole(given, name, 1) != count:
            raise IllegalError(f"{name} must be {count} as the dice are, got {given[name]}")
    losses = _losses(given, Roll(first, second, rules))
    if thrown:
        attack, defence = (tuple(sorted(faces, reverse=True)) for faces in thrown.values())
        lost = _shown_losses(attack[:first], defence[:second], rules)
        if losses is not None and losses != lost:
            words = (" ".join(map(str, faces)) for faces in thrown.values())
            raise IllegalError(
                f"the dice {' against '.join(words)} cost the attackers {lost.attackers} and the "
                f"defenders {lost.defenders} under these rules, not {losses.attackers} and "
                f"{losses.defenders}"
            )
        losses = lost
    if losses is None:
        raise MalformedError("missing attackers_lost: give the dice of both sides, or the losses")
    armies = None
    if "attackers" in given or "defenders" in given:
        armies = (
            _whole(given, "attackers", first + rules.garrison),
            _whole(given, "defenders", second),
        )
    return Entry(
        Trial("roll", first, second, rules),
        (losses.attackers, losses.defenders),
        dice=sum(thrown.values(), ()),
        armies=armies,
    )


def _dice(value: object, name: str, dice: Dice) -> tuple[int, ...]:
    """Return the dice of a cell: a list, `6 5 3`, `6-5-3` or `653`."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and len(value) < LONGEST_NAME and DICE.fullmatch(value.strip()):
        parts = re.findall("[0-9]+", value)
        is_joined = len(parts) == 1 and max(dice.faces) < 10
        faces = [int(face) for face in (parts[0] if is_joined else parts)]
    elif isinstance(value, list | tuple):
        faces = [whole_number(face, name, 1) for face in value]
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


def _losses(given: Row, roll: Roll) -> Losses | None:
    """Return the losses that a row states, `None` if it states none."""
    names = [name for name in ("attackers_lost", "defenders_lost") if name in given]
    if not names:
        return None
    least = -MOST_FACES if roll.rules.mode.grows else 0
    stated = {name: _whole(given, name, least) for name in names}
    for losses in _possible_losses(roll):
        if all(getattr(losses, name.removesuffix("_lost")) == n for name, n in stated.items()):
            return losses
    got = " and ".join(f"{name} {number}" for name, number in stated.items())
    taken = min(roll.attack_dice, roll.defence_dice)
    raise IllegalError(
        f"a roll of {roll.attack_dice} against {roll.defence_dice} must take "
        f"{taken} {'army' if taken == 1 else 'armies'} in all, got {got}"
    )


def _battle(given: Row, rules: Rules) -> Entry:
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
