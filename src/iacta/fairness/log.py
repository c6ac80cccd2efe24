"""Reads logs of dice from strings, files and lists in limited memory.

A log usually has one line for each die, roll or battle. There are few different rolls, so most
lines of a long log are repetitions. The reader usually parses each different line only once, into
an `Entry`. It yields blocks of lines: a list of the different entries, and for each line the index
of its entry.

A recording of a game by RiskGameRecorder is also a log. It shows the armies on the map after each
change, and `recover_battles` deduces battles from these numbers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, islice
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from iacta.battle.territory import Territory, parse_territory
from iacta.fairness.e_values import Ints
from iacta.fairness.layouts import (
    BRACKETS,
    Columns,
    Layout,
    Numbered,
    Row,
    find_layout,
    format_line,
    is_column,
    is_empty,
    is_heading,
    is_log_of_one_side,
    is_won,
    recognise_columns,
)
from iacta.fairness.recording import recover_battles
from iacta.fairness.totals import compute_attackers_lost
from iacta.fairness.trials import LOST, MAX_NAME_LENGTH, WON, Entry, Notes, Trial, refuse_large
from iacta.inputs.checks import parse_int, quote, read_int, split_words
from iacta.inputs.errors import (
    IactaError,
    IllegalError,
    MalformedError,
    TooLargeError,
    add_location,
    choose_error_class,
)
from iacta.inputs.files import read_path
from iacta.inputs.json_and_toml import parse_json
from iacta.inputs.tabular import (
    HEAD_BYTES,
    LineBlock,
    Tabular,
    choose_delimiter,
    decode_line,
    normalise_column,
    split_row,
)
from iacta.probability.chances import read_fraction
from iacta.rules.dice import Dice, split_dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta.rules.thrown import compare_dice
from iacta.rules.variants import find_rules

Log: TypeAlias = "str | bytes | PathLike[str] | Iterable[Any]"

BLOCK = 2**17  # number of lines that are processed together
SAMPLE = 1000  # the layout of a list is determined from this many elements at its start
REMARK = b"#"  # a line that starts with this character is a comment and is skipped
MAX_CACHED_LINES = 2**18  # maximum number of lines in the cache of parsed lines
MAX_LINE_LENGTH = 10_000  # maximum number of characters in a line of a log
MAX_IGNORED_COLUMNS = 100  # maximum number of ignored columns that an audit lists
MAX_COUNT = 10**12  # maximum number of repetitions of a line; sums of such counts are exact floats
MAX_LOG_FACES = 100
MAX_AHEAD = 50  # maximum number of territories in the column `ahead`
MAX_DEFENDERS_AHEAD = 1000  # maximum number of defenders per territory in the column `ahead`
KINDS = {
    "dice": ("die", "faces"),
    "rolls": ("attack", "defence", "attack_dice", "defence_dice", "attackers_lost"),
    "battles": ("attackers_left", "defenders_left"),
    "totals": ("rolls",),
}
COLUMNS = (
    *chain.from_iterable(KINDS.values()),
    *("defenders_lost", "attackers", "defenders", "ahead", "chance_before", "chance_after"),
    *("player", "opponent", "rules", "count", "won"),
)
WANTED = (
    "die; attack, defence; attack_dice, defence_dice, attackers_lost (and rolls for totals); "
    "attackers, defenders, attackers_left, defenders_left; attackers, defenders, won; "
    "or chance_before and chance_after"
)
LABEL = re.compile(r"\[[^\[\]\"]*\]\s*[^\s\[(,]|\[\s*[A-Za-z]")  # text such as `[attack] 6 4 1`
DICE = re.compile(r"\[?\s*[0-9]+(?:[\s,;+/-]+[0-9]+)*\s*\]?")


class Block(NamedTuple):
    """Consecutive parsed lines of a log, in which repeated lines are stored only once.

    entries: the different entries (parsed lines).
    codes: for each line, in the order of the log, the index of its entry.
    """

    entries: list[Entry]
    codes: Ints


def read_log(log: Log, rules: Rules, notes: Notes) -> Iterator[Block]:
    """Parse a log, and yield its lines block by block.

    log: the path of a file, the log as a string or bytes, or a list with one element per line: a
        mapping from columns to values, the face of a die, a line of text, or the dice of both
        sides. A file or text may also be a recording.
    rules: the default for lines that do not name any rules.
    notes: an object to which remarks, ignored columns and skipped attacks are added.
    """
    read = partial(_read_entry, usual=rules, notes=notes)
    if not isinstance(log, str | bytes | PathLike):
        yield from _read_list(log, "row", read, rules, notes)
        return
    source = read_path(log, "log") if isinstance(log, PathLike) else log
    with Tabular(source, MAX_LINE_LENGTH, REMARK) as table:
        table.has_heading = is_heading
        if not table.is_text:
            yield from _read_list(_read_table(table), "row", read, rules, notes)
        elif not _is_document(table.head):
            # Text that is not JSONL, such as `6 4 1 vs 5 3`, is read like CSV.
            table.format = "jsonl" if table.format == "jsonl" else "csv"
            lines = _Lines(table.read_lines(), _list_first_lines(table.head), "line", table.format)
            yield from _Reader(lines, read, rules, notes).blocks()
        elif isinstance(document := table.read_document(), list):
            yield from _read_list(document, "entry", read, rules, notes)
        else:
            yield from _make_blocks(recover_battles(document, notes))


def _is_document(head: bytes) -> bool:
    """Return whether a log is one JSON document, such as a recording, instead of lines.

    head: the first bytes of the log.
    """
    start = head.lstrip()
    first = start.split(b"\n", 1)[0].strip()
    if start.startswith(b"["):
        line = first[:MAX_LINE_LENGTH].decode(errors="replace")
        return not BRACKETS.fullmatch(line) and not LABEL.match(line)
    return start.startswith(b"{") and (not first.endswith(b"}") or b'"roundInfo"' in start)


def _read_table(table: Tabular) -> Iterator[Row | str]:
    """Yield the rows of a table file: mappings if it has a heading, otherwise lines of text."""
    for row in table.read_records(
        lambda name: not table.is_headed or name in COLUMNS or is_column(name)
    ):
        if table.is_headed:
            yield row
        else:
            cells_of_row = ("" if value is None else str(value) for value in row.values())
            yield "\t".join(cells_of_row).rstrip("\t")


def _read_list(
    log: Any, unit: str, read: Callable[[Row], Entry], rules: Rules, notes: Notes
) -> Iterator[Block]:
    """Yield the blocks of a log that is a list of Python values.

    log: a list of mappings, single dice, strings, or pairs of the dice of both sides.
    unit: the word for an element in error messages, such as `entry`.
    """
    if isinstance(log, Mapping):
        raise MalformedError(f"log must be a list of mappings or of dice, got {quote(log)}")
    try:
        rows = iter(log)
    except TypeError:
        raise MalformedError(f"log must be text, a path or rows, got {quote(log)}") from None
    sample = list(islice(rows, SAMPLE))
    rows = chain(sample, rows)
    lines = [format_line(row) for row in sample]
    if sample and None not in lines:
        numbered = [(n, line) for n, line in enumerate(lines, 1) if line is not None]
        is_json = numbered[0][1].lstrip().startswith("{")
        given = _Lines(_make_line_blocks(rows, unit), numbered, unit, "jsonl" if is_json else "csv")
        yield from _Reader(given, read, rules, notes).blocks()
        return
    columns = recognise_columns(row for row in sample if isinstance(row, Mapping))
    _add_remark(notes, columns.remark)
    mappings = (columns.rename(row) if isinstance(row, Mapping) else {"die": row} for row in rows)
    yield from _make_blocks(_read_entries(mappings, unit, read))


def _make_line_blocks(rows: Iterator[object], unit: str) -> Iterator[LineBlock]:
    """Convert a list to blocks of text lines; an element is a string or the dice of both sides."""
    number = 1
    while part := list(islice(rows, BLOCK)):
        lines = []
        for offset, row in enumerate(part):
            line = format_line(row)
            with add_location(f"{unit} {number + offset}"):
                if line is None:
                    raise MalformedError(
                        f"a row must be a string or the dice of both sides, got {quote(row)}"
                    )
                if len(line) > MAX_LINE_LENGTH:
                    raise TooLargeError(
                        f"a line must have at most {MAX_LINE_LENGTH} characters, got more"
                    )
            lines.append(" ".join(line.split("\n")).encode(errors="surrogatepass"))
        yield LineBlock(number, lines)
        number += len(part)


def _read_entries(rows: Iterable[Row], unit: str, read: Callable[[Row], Entry]) -> Iterator[Entry]:
    for number, row in enumerate(rows, 1):
        with add_location(f"{unit} {number}"):
            entry = read(row)
        yield entry


def _make_blocks(entries: Iterator[Entry]) -> Iterator[Block]:
    while part := list(islice(entries, BLOCK)):
        numbers: dict[Entry, int] = {}
        codes = [numbers.setdefault(entry, len(numbers)) for entry in part]
        yield Block(list(numbers), np.array(codes))


def _add_remark(notes: Notes, remark: str) -> None:
    if remark:
        notes.remarks[remark] = None


class _Lines(NamedTuple):
    """The lines of a log before they are parsed.

    blocks: all lines, divided into blocks of consecutive lines.
    sample: the first lines, with their line numbers; they determine the layout.
    unit: the word for a line in error messages, such as `line` or `row`.
    format: the file format of the lines, `csv` or `jsonl`.
    """

    blocks: Iterator[LineBlock]
    sample: Sequence[Numbered]
    unit: str
    format: str


def _list_first_lines(head: bytes) -> list[Numbered]:
    """Split the first bytes of a log into numbered lines, and drop an incomplete last line."""
    lines = head.decode(errors="replace").split("\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()
    return [(number, line.strip()) for number, line in enumerate(lines, 1)]


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(REMARK.decode())


class _Reader:
    """Parses the lines of a log, each different line usually only once.

    cache: for each different line with a single entry (the parsed line), the index of the entry.
    indices: for each different entry, its index in the next block.
    """

    def __init__(
        self, lines: _Lines, read: Callable[[Row], Entry], rules: Rules, notes: Notes
    ) -> None:
        self.lines, self.read, self.rules, self.notes = lines, read, rules, notes
        self.sample = [(number, line) for number, line in lines.sample if _is_row(line)]
        self.heading: list[str] = []
        self.delimiter = ","
        self.columns = Columns({}, {}, "")
        self.layout: Layout | None = None
        self.cache: dict[bytes, int] = {}
        self.indices: dict[Entry, int] = {}

    def blocks(self) -> Iterator[Block]:
        waiting: list[int] = []
        for lines in self.lines.blocks:
            cached = [code for code in map(self.cache.get, lines.lines) if code is not None]
            waiting += cached if len(cached) == len(lines.lines) else self._read(lines)
            is_full = len(self.indices) > MAX_CACHED_LINES
            if is_full or len(waiting) >= BLOCK:
                yield Block(list(self.indices), np.array(waiting))
                waiting = []
            if is_full:  # empty the caches, so that a log of different lines needs little memory
                self.cache, self.indices = {}, {}
        if waiting:
            yield Block(list(self.indices), np.array(waiting))

    def _read(self, lines: LineBlock) -> Iterator[int]:
        is_first = self.layout is None
        for number, line in lines.number_lines():
            if line not in self.cache:
                if not line.strip() or line.lstrip().startswith(REMARK):
                    continue
                text = decode_line(line, number, self.lines.unit).strip(" \r")
                if is_first:
                    is_first = False
                    if self._choose_layout(text.strip(), number):
                        continue
                with add_location(f"{self.lines.unit} {number}"):
                    entries = [self.read(row) for row in self._read_rows(text)]
                if len(entries) > 1:
                    yield from (
                        self.indices.setdefault(entry, len(self.indices)) for entry in entries
                    )
                    continue
                if len(self.cache) > MAX_CACHED_LINES:
                    self.cache.clear()
                self.cache[line] = self.indices.setdefault(entries[0], len(self.indices))
            yield self.cache[line]

    def _choose_layout(self, first: str, number: int) -> bool:
        """Choose the layout of all lines; return whether the first line is a heading."""
        sample = self.sample or [(number, first)]
        if self.lines.format == "jsonl":
            self.layout = Layout(lambda text: [_parse_json_row(text)], "")
            self._recognise_columns(line for _, line in sample)
            return False
        self.delimiter = choose_delimiter(first)
        with add_location(f"{self.lines.unit} {number}"):
            is_number = re.fullmatch(r"[0-9]{1,3}", first) is not None
            is_die = is_number and not is_log_of_one_side(sample, self.rules)
            heading = (
                ["die"]
                if is_die
                else [normalise_column(name) for name in split_row(first, self.delimiter)]
            )
            if is_die or is_heading(heading):
                self.layout, self.heading = Layout(self._read_cells, ""), heading
                self._recognise_columns(line for _, line in sample[1:])
                names = [self.columns.names.get(name, name) for name in heading]
                for name in names:
                    is_known = name in (*COLUMNS, *chain(*self.columns.dice.values()))
                    if is_known and names.count(name) > 1:
                        raise MalformedError(f"the column {name} appears twice")
                return not is_die
        self.layout = find_layout(sample, self.rules, self.lines.unit)
        self.notes.has_order &= self.layout.is_ordered
        _add_remark(self.notes, self.layout.remark)
        return False

    def _recognise_columns(self, sample_lines: Iterable[str]) -> None:
        """Recognise undocumented column names; ignore invalid sample lines."""
        rows: list[Row] = []
        for line in sample_lines:
            with suppress(IactaError):
                rows += self._read_rows(line)
        self.columns = recognise_columns(rows or [dict.fromkeys(self.heading)])
        _add_remark(self.notes, self.columns.remark)

    def _read_rows(self, text: str) -> Sequence[Row]:
        if self.layout is None:
            raise ValueError("the layout is not known yet")
        return [self.columns.rename(row) for row in self.layout.read(text)]

    def _read_cells(self, text: str) -> Sequence[Row]:
        row = [cell.strip() for cell in split_row(text, self.delimiter)]
        # A line may end with extra separators, which add empty cells.
        while len(row) > len(self.heading) and not row[-1]:
            row.pop()
        if len(row) != len(self.heading):
            raise MalformedError(
                f"expected {len(self.heading)} cells, as in the heading, got {len(row)}"
            )
        return [dict(zip(self.heading, row, strict=True))]


def _parse_json_row(text: str) -> dict[str, Any]:
    try:
        row = parse_json(text)
    except IactaError as error:
        raise choose_error_class(error)(str(error).removeprefix("line 1: ")) from None
    if not isinstance(row, dict):
        raise MalformedError(f"a line must be a JSON object, like the first line, got {quote(row)}")
    return row


_find_rules_cached = lru_cache(maxsize=2**10)(find_rules)
_list_possible_losses = lru_cache(maxsize=2**10)(Roll.losses)
_compute_losses = lru_cache(maxsize=2**14)(compare_dice)


def _read_entry(row: Row, usual: Rules, notes: Notes) -> Entry:
    """Convert a row (a mapping from column names to values) to an `Entry`.

    usual: the rules if the row does not name any rules.

    Raises `IactaError` if the row is invalid.
    """
    given: dict[str, Any] = {}
    for name, value in row.items():
        column = normalise_column(name) if isinstance(name, str) else ""
        if column not in COLUMNS:
            if len(notes.unread) < MAX_IGNORED_COLUMNS:
                notes.unread[str(name)[:MAX_NAME_LENGTH]] = None
        elif not is_empty(value):
            given[column] = value
    rules = _read_rules(given["rules"], usual.garrison) if "rules" in given else usual
    kinds = [kind for kind, names in KINDS.items() if any(name in given for name in names)]
    has_chances = "chance_before" in given or "chance_after" in given
    chances = _read_chances(given) if has_chances else None
    if kinds == ["rolls", "totals"] and not {"attack", "defence"} & {*given}:
        kinds = ["totals"]
    elif len(kinds) == 2 and "totals" in kinds:
        # The row has a die, a roll or a battle, so `rolls` is probably the number of the line.
        kinds.remove("totals")
        notes.unread["rolls"] = None
    if not kinds and "won" in given and ("attackers" in given or chances is None):
        kinds = ["won"]
    elif not kinds and chances is not None:
        kinds = ["chances"]
    if "won" in given and kinds not in (["won"], ["battles"]):
        notes.unread["won"] = None
    if kinds == ["rolls"] and _are_totals(given):
        given["rolls"] = given.pop("count")
        kinds = ["totals"]
        notes.remarks["Losses were read as totals over all rolls of a line."] = None
    if len(kinds) != 1:
        got = " and ".join(f"some of {kind}" for kind in kinds) if kinds else quote(dict(row))
        raise MalformedError(f"a line must have {WANTED}; got {got}")
    if chances is not None and kinds[0] in ("totals", "won"):
        # Ignore stated chances: several rolls have no single chance, and the chance to win a battle
        # is computed from its armies.
        chances = None
        notes.unread |= dict.fromkeys(("chance_before", "chance_after"))
    readers = {
        "dice": _read_die,
        "rolls": _read_roll,
        "battles": _read_battle,
        "totals": _read_total,
        "won": _read_battle_winner,
        "chances": _read_chance,
    }
    entry = readers[kinds[0]](given, rules)
    ahead = _read_ahead(given["ahead"]) if "ahead" in given else ()
    if entry.fought is not None:
        attackers, defenders = entry.fought
        refuse_large(attackers, defenders + sum(territory.defenders for territory in ahead))
    return entry._replace(
        ahead=ahead,
        chances=chances,
        player=_read_name(given, "player"),
        opponent=_read_name(given, "opponent"),
        times=_read_whole(given, "count", 1, MAX_COUNT) if "count" in given else entry.times,
    )


def _read_rules(name: object, garrison: int) -> Rules:
    if not isinstance(name, str):
        raise MalformedError(f"rules must be a name, got {quote(name)}")
    return _find_rules_cached(name, garrison)


def _read_ahead(value: object) -> tuple[Territory, ...]:
    """Parse the column `ahead`: the next territories as text, such as `3 8:capital`, or a list."""
    parts = split_words(value) if isinstance(value, str) else value
    if isinstance(parts, int) and not isinstance(parts, bool):
        parts = [parts]
    if not isinstance(parts, list | tuple) or not 1 <= len(parts) <= MAX_AHEAD:
        raise MalformedError(
            f"ahead must be the defenders of 1 to {MAX_AHEAD} territories, got {quote(value)}"
        )
    way = tuple(parse_territory(str(part)) for part in parts)
    if any(
        territory.defenders > MAX_DEFENDERS_AHEAD or territory.stop is not None for territory in way
    ):
        raise IllegalError(
            f"ahead must be territories with at most {MAX_DEFENDERS_AHEAD} defenders and no stop "
            f"rule, got {quote(value)}"
        )
    return way


def _read_chances(given: Row) -> tuple[float, float]:
    chances = []
    for name in ("chance_before", "chance_after"):
        if name not in given:
            raise MalformedError(f"missing {name}")
        chance = read_fraction(given[name], name, "lie between 0 and 1")
        if not 0 <= chance <= 1:
            raise IllegalError(f"{name} must lie between 0 and 1, got {quote(given[name])}")
        chances.append(float(chance))
    return chances[0], chances[1]


def _read_chance(given: Row, rules: Rules) -> Entry:
    """Return the entry of a line that states only the chances before and after an attack."""
    before, after = _read_chances(given)
    is_decided = after in (0, 1)
    outcome = (WON if after else LOST) if is_decided else (0, 0)
    return Entry(Trial("chance", 0, 0, rules, chance=before, is_decided=is_decided), outcome)


def _read_name(given: Row, column: str) -> str:
    name = given.get(column, "")
    if not isinstance(name, str | int) or len(str(name)) > MAX_NAME_LENGTH:
        raise MalformedError(
            f"{column} must be a name of at most {MAX_NAME_LENGTH} letters, got {quote(name)}"
        )
    return str(name)


def _read_whole(given: Row, name: str, minimum: int, maximum: int | None = None) -> int:
    if name not in given:
        raise MalformedError(f"missing {name}")
    value = given[name]
    if isinstance(value, str):
        return parse_int(value, name, minimum, maximum)
    return read_int(value, name, minimum, maximum)


def _read_die(given: Row, rules: Rules) -> Entry:
    faces = (
        _read_whole(given, "faces", 2, MAX_LOG_FACES) if "faces" in given else rules.attack.faces[0]
    )
    if faces > MAX_LOG_FACES:
        raise TooLargeError(f"faces must be at most {MAX_LOG_FACES}, got {faces}")
    face = _read_whole(given, "die", 1, faces)
    return Entry(Trial("die", faces, 0, rules), (face, 0))


def _read_roll(given: Row, rules: Rules) -> Entry:
    if not rules.mode.has_plain_rolls:
        raise rules.mode.make_unfit_error("to audit single rolls")
    sides = {"attack": rules.attack, "defence": rules.defence}
    thrown = {
        name: _read_dice(given[name], name, dice) for name, dice in sides.items() if name in given
    }
    if len(thrown) == 1:
        (missing,) = sides.keys() - thrown.keys()
        raise MalformedError(f"missing {missing}: enter the dice of both sides")
    counts = [
        len(thrown[name]) - len(dice.faces) + dice.kept
        if thrown
        else _read_whole(given, f"{name}_dice", 1, dice.kept)
        for name, dice in sides.items()
    ]
    first, second = counts
    for name, count in (("attack_dice", first), ("defence_dice", second)):
        if name in given and _read_whole(given, name, 1) != count:
            raise IllegalError(f"{name} must be {count} to match the dice, got {given[name]}")
    losses = _read_losses(given, Roll(first, second, rules))
    if thrown:
        attack, defence = (tuple(sorted(faces, reverse=True)) for faces in thrown.values())
        lost = _compute_losses(attack[:first], defence[:second], rules)
        if losses is not None and losses != lost:
            words = (" ".join(map(str, faces)) for faces in thrown.values())
            raise IllegalError(
                f"the dice {' against '.join(words)} cost the attackers {lost.attackers} and the "
                f"defenders {lost.defenders} under these rules, not {losses.attackers} and "
                f"{losses.defenders}"
            )
        losses = lost
    if losses is None:
        raise MalformedError("missing attackers_lost: enter the dice of both sides, or the losses")
    armies = None
    if "attackers" in given or "defenders" in given:
        armies = (
            _read_whole(given, "attackers", first + rules.garrison),
            _read_whole(given, "defenders", second),
        )
    return Entry(
        Trial("roll", first, second, rules),
        (losses.attackers, losses.defenders),
        dice=sum(thrown.values(), ()),
        armies=armies,
    )


def _read_dice(value: object, name: str, dice: Dice) -> tuple[int, ...]:
    """Parse a cell with the dice of one side: a list, or text such as `6 5 3` or `653`."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and len(value) < MAX_NAME_LENGTH and DICE.fullmatch(value.strip()):
        faces = split_dice(value, max(dice.faces))
    elif isinstance(value, list | tuple):
        faces = [read_int(face, name, 1) for face in value]
    else:
        raise MalformedError(f"{name} must be dice such as 6 5 3, got {quote(value)}")
    spare = len(dice.faces) - dice.kept
    if not spare < len(faces) <= len(dice.faces):
        raise IllegalError(
            f"{name} must be {spare + 1} to {len(dice.faces)} dice, got {quote(value)}"
        )
    if not all(1 <= face <= max(dice.faces) for face in faces):
        raise IllegalError(
            f"{name} must be dice that show 1 to {max(dice.faces)}, got {quote(value)}"
        )
    return tuple(faces)


def _read_losses(given: Row, roll: Roll) -> Losses | None:
    """Return the losses that a line states for a roll, or `None` if it states no losses."""
    names = [name for name in ("attackers_lost", "defenders_lost") if name in given]
    if not names:
        return None
    least = -MAX_LOG_FACES if roll.rules.mode.grows else 0
    stated = {name: _read_whole(given, name, least) for name in names}
    for losses in _list_possible_losses(roll):
        if all(getattr(losses, name.removesuffix("_lost")) == n for name, n in stated.items()):
            return losses
    got = " and ".join(f"{name} {number}" for name, number in stated.items())
    taken = min(roll.attack_dice, roll.defence_dice)
    raise IllegalError(
        f"a roll of {roll.attack_dice} against {roll.defence_dice} must take "
        f"{taken} {'army' if taken == 1 else 'armies'} in all, got {got}"
    )


def _read_battle(given: Row, rules: Rules) -> Entry:
    attackers, defenders = _read_whole(given, "attackers", 1), _read_whole(given, "defenders", 1)
    grows = rules.mode.grows
    ours = _read_whole(given, "attackers_left", 0, None if grows else attackers)
    theirs = _read_whole(given, "defenders_left", 0, None if grows else defenders)
    garrison = rules.garrison
    _check_attackers(attackers, garrison)
    if ours < garrison or (not theirs and ours <= garrison):
        raise IllegalError(
            f"attackers_left must be at least {garrison + (not theirs)}, including the armies that "
            f"moved in, got {ours}"
        )
    if "won" in given and _read_won(given) != (not theirs):
        raise IllegalError(
            f"won must be {'no' if theirs else 'yes'} as defenders_left is {theirs}, got "
            f"{quote(given['won'])}"
        )
    lost = attackers - ours, defenders - theirs
    if theirs and ours > garrison:
        return Entry(None, lost)
    return Entry(Trial("battle", attackers, defenders, rules), lost)


def _check_attackers(attackers: int, garrison: int) -> None:
    if attackers <= garrison:
        raise IllegalError(
            f"attackers must be at least {garrison + 1}, because {garrison} must stay behind, "
            f"got {attackers}"
        )


def _read_battle_winner(given: Row, rules: Rules) -> Entry:
    """Return the entry of a battle for which the line states the winner but no losses."""
    attackers, defenders = _read_whole(given, "attackers", 1), _read_whole(given, "defenders", 1)
    _check_attackers(attackers, rules.garrison)
    if "ahead" in given:
        raise MalformedError("missing attackers_left, which column 'ahead' requires")
    outcome = WON if _read_won(given) else LOST
    return Entry(Trial("battle", attackers, defenders, rules, has_only_winner=True), outcome)


def _read_won(given: Row) -> bool:
    won = is_won(given["won"])
    if won is None:
        raise MalformedError(
            f"won must be a word such as yes, no, won or lost, got {quote(given['won'])}"
        )
    return won


def _are_totals(given: Row) -> bool:
    """Return whether a line states the total losses of `count` rolls, not the losses per roll.

    This is the case if the losses add up to the armies that all rolls take together.
    """
    names = ("count", "attack_dice", "defence_dice", "attackers_lost", "defenders_lost")
    if any(name not in given for name in names):
        return False
    count, first, second, ours, theirs = (_read_whole(given, name, 0, MAX_COUNT) for name in names)
    return count > 1 and ours + theirs == count * min(first, second)


def _read_total(given: Row, rules: Rules) -> Entry:
    """Return the entry of a line that states the total losses of several rolls."""
    if not rules.mode.has_plain_rolls:
        raise rules.mode.make_unfit_error("to audit single rolls")
    if "count" in given:
        raise MalformedError("a line must have rolls or count, got both")
    rolls = _read_whole(given, "rolls", 1, MAX_COUNT)
    first = _read_whole(given, "attack_dice", 1, rules.attack.kept)
    second = _read_whole(given, "defence_dice", 1, rules.defence.kept)
    most = rolls * min(first, second)
    names = [name for name in ("attackers_lost", "defenders_lost") if name in given]
    if not names:
        raise MalformedError("missing attackers_lost: enter the armies lost in all rolls")
    lost = {name: _read_whole(given, name, 0, most) for name in names}
    ours = lost.get("attackers_lost", most - lost.get("defenders_lost", 0))
    theirs = lost.get("defenders_lost", most - ours)
    if ours + theirs != most:
        raise IllegalError(
            f"{rolls:,} rolls of {first} against {second} must take {most:,} armies in all, got "
            f"attackers_lost {ours:,} and defenders_lost {theirs:,}"
        )
    trial = Trial("total", first, second, rules)
    # This call raises an error if one side's losses do not determine the other side's losses.
    compute_attackers_lost(trial)
    return Entry(trial, (ours, theirs), times=rolls)
