"""Layouts: recognise how the lines of a log write down dice, rolls and battles.

A log may have no heading, or a heading whose names differ from the documentation, such as `a1` or
`Attack Dice`. The first lines (the sample) determine the layout of all lines:

- A line with a roll has two groups of dice, one for each side. The separator between the groups
  occurs once, and all other separators in the line are the same. The groups must be separated in
  the same way in every line.
- A group belongs to the attackers if its number of dice is possible for attackers in all lines. If
  both groups are possible for attackers, the log is rejected, because the attacker is unknown.

Each accepted log therefore has only one possible interpretation. A remark in the answer states it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, MalformedError, add_place
from iacta.inputs.tabular import normalise_column, split_row
from iacta.rules.dice import Dice, split_dice
from iacta.rules.rules import Rules

Row: TypeAlias = Mapping[str, Any]
Numbered: TypeAlias = tuple[int, str]  # the number of a line in the log, and the text of the line


class AcceptedLayout(NamedTuple):
    """An example of a log that `audit` can read, for help texts.

    heading: the heading of the log, with the column names; empty for a log without a heading.
    line: an example of a line after the heading.
    meaning: a description of the line, such as `a roll`.
    """

    heading: str
    line: str
    meaning: str

    @property
    def text(self) -> str:
        """The heading (if the log has one) and the example line, as one string."""
        return f"{self.heading}: {self.line}" if self.heading else self.line


EXAMPLES = (
    AcceptedLayout("die", "5", "a single die"),
    AcceptedLayout("attack,defence", "6 4 1,5 3", "a roll"),
    AcceptedLayout("Attack Dice,Defense Dice", "6 4 1,5 3", "a roll"),
    AcceptedLayout("a1,a2,a3,d1,d2", "6,4,1,5,3", "a roll"),
    AcceptedLayout(
        "attack_dice,defence_dice,attackers_lost", "3,2,1", "a roll whose dice are unknown"
    ),
    AcceptedLayout(
        "rolls,attack_dice,defence_dice,attackers_lost,defenders_lost",
        "100,3,2,92,108",
        "the losses of many rolls in total",
    ),
    AcceptedLayout("attackers,defenders,attackers_left,defenders_left", "9,4,6,0", "a battle"),
    AcceptedLayout("attackers,defenders,won", "6,1,no", "a battle where only the winner is known"),
    AcceptedLayout(
        "chance_before,chance_after",
        "0.9,0",
        "your chance of success before a roll or battle, and after it",
    ),
    AcceptedLayout("", "5", "a single die"),
    AcceptedLayout("", "6 4 1,5 3", "a roll"),
    AcceptedLayout("", "6 4 1 vs 5 3", "a roll"),
    AcceptedLayout("", "641-53", "a roll"),
    AcceptedLayout("", "[6, 4, 1] [5, 3]", "a roll"),
    AcceptedLayout("", "attack 6 4 1 defence 5 3", "a roll"),
    AcceptedLayout(
        "",
        "100 rolls 3 v 2: attackers lost 92, defenders 108",
        "the losses of many rolls in total",
    ),
    AcceptedLayout("", "6 v 1 lost", "a battle where only the winner is known"),
    AcceptedLayout("", "5 3 6 1 2 2 4", "single dice, too many for one roll"),
)
ACCEPTED = (
    "a log has a heading and lines, such as attack,defence: 6 4 1,5 3 or attackers,defenders,won: "
    "6,1,no, or lines without a heading, such as 6 4 1 vs 5 3; see iacta audit --help"
)


class Layout(NamedTuple):
    """The way to read the lines of a log.

    read: a function that parses a line. It returns a mapping from column names to values for each
        die, roll or battle in the line.
    remark: a sentence that tells the user how lines are read; empty for a log with a heading, with
        JSON lines, or with one die per line.
    """

    read: Callable[[str], Sequence[Row]]
    remark: str


def find_layout(sample: Sequence[Numbered], delimiter: str, rules: Rules, place: str) -> Layout:
    """Return the layout of a log without a heading.

    sample: the first lines, at least one.
    delimiter: the separator of cells in lines with quotation marks, such as `"6,4,1","5,3"`.
    rules: the rules of all rolls.
    place: the word for a line in error messages, such as `line` or `row`.

    Raises `MalformedError` if no layout fits, or if several layouts fit.

    >>> layout = find_layout([(1, "641-53"), (2, "6-5")], ",", Rules(), "line")
    >>> layout.read("6-5")
    [{'attack': '6', 'defence': '5'}]
    """
    number, first = sample[0]
    with add_place(f"{place} {number}"):
        for layout in (
            _find_totals_layout(first),
            _find_winner_layout(first),
            _find_dice_layout(first, rules),
        ):
            if layout is not None:
                return layout
        if not _find_readings(first, delimiter):
            what = "unknown columns" if re.search("[A-Za-z]{2}", first) else "unknown layout"
            raise MalformedError(f"{what} {quote(first)}; {ACCEPTED}")
    return _find_roll_layout(sample, delimiter, rules, place)


VERSUS = re.compile(r"\s*\b(?:v|vs|versus|against)\b\.?\s*|\s*(?<=[0-9])vs?(?=[0-9])\s*")
DICE_LINE = re.compile(r"[0-9]+(?:(?:\s*[-,;:|/]\s*|\s+)[0-9]+)+")
MARK = re.compile(r"\s*[-,;:|/]\s*|\s+")
GROUP = r"([0-9][0-9\s,;+/-]*?)"
TWO_GROUPS = rf"[\[(]\s*{GROUP}\s*[\])]\s*[-,;:|/]?\s*[\[(]\s*{GROUP}\s*[\])]"
BRACKETS = re.compile(rf"{TWO_GROUPS}|\[\s*{TWO_GROUPS}\s*\]")
THROWN = r"(?:\s*(?:dice|die|rolls?|rolled|throws?|threw))?\s*[:=]?\s*"
ATTACKER = rf"(?:a|att|atk|attack|attackers?){THROWN}"
DEFENDER = rf"(?:d|def|defence|defense|defenders?){THROWN}"
NAMED = tuple(
    re.compile(rf"{one}[\[(]?{GROUP}[\])]?\s*[-,;:|/]?\s*{other}[\[(]?{GROUP}[\])]?")
    for one, other in ((ATTACKER, DEFENDER), (DEFENDER, ATTACKER))
)
IN_BRACKETS, BY_NAME = "brackets", "names"
SIDES = ("attack", "defence")
MAX_GROUP_DICE = 20  # maximum length of a list with the dice of one side of a roll
MAX_EVENT_LENGTH = 300  # maximum length of a line that states one roll or the totals of many rolls


def _find_readings(line: str, delimiter: str) -> dict[str, tuple[str, str]]:
    """Divide a line with a roll into the dice of its two sides, in every possible way.

    The result maps each separator that may stand between the sides to two groups of dice. If the
    line names the sides, the attackers' group comes first.

    >>> _find_readings("6,4 5", ","), _find_readings("6 4 1 v 5 3", ",")
    ({',': ('6', '4 5'), ' ': ('6,4', '5')}, {'|': ('6 4 1', '5 3')})
    """
    if len(line) > MAX_EVENT_LENGTH:
        return {}
    if '"' in line:
        try:
            line = "|".join(split_row(line, delimiter))
        except IactaError:
            return {}
    text = VERSUS.sub("|", line.strip().casefold())
    for pattern, order in zip(NAMED, ((1, 2), (2, 1)), strict=True):
        if found := pattern.fullmatch(text):
            return {BY_NAME: (found[order[0]], found[order[1]])}
    if found := BRACKETS.fullmatch(text):
        return {IN_BRACKETS: (found[1] or found[3], found[2] or found[4])}
    if not DICE_LINE.fullmatch(text):
        return {}
    marks = [found[0].strip() or found[0][0].replace("\t", "tab") for found in MARK.finditer(text)]
    readings = {}
    for each in dict.fromkeys(marks):
        others = {*marks} - {each}
        if marks.count(each) == 1 and len(others) < 2:
            place = list(MARK.finditer(text))[marks.index(each)]
            readings[each] = text[: place.start()], text[place.end() :]
    return readings


def _is_possible_group(group: str, dice: Dice) -> bool:
    most = max(dice.faces)
    spare = len(dice.faces) - dice.kept
    faces = split_dice(group, most)
    return spare < len(faces) <= len(dice.faces) and all(1 <= face <= most for face in faces)


def _find_roll_layout(
    sample: Sequence[Numbered], delimiter: str, rules: Rules, place: str
) -> Layout:
    number, first = sample[0]
    as_first = f"as in {place} {number}, {quote(first)}"
    # The layouts that fit all lines so far. A layout is a pair: the separator between the dice of
    # the two sides, and whether the attackers' dice come first.
    possible = {
        (divider, is_attack_first)
        for divider in _find_readings(first, delimiter)
        for is_attack_first in (True, False)
        if is_attack_first or divider != BY_NAME
    }
    for number, line in sample:
        groups = _find_readings(line, delimiter)
        left = {
            (divider, is_attack_first)
            for divider, is_attack_first in possible
            if divider in groups
            and all(
                map(
                    _is_possible_group,
                    groups[divider],
                    _order_sides(rules, is_attack_first=is_attack_first),
                )
            )
        }
        if not left:
            most = [len(dice.faces) for dice in (rules.attack, rules.defence)]
            raise MalformedError(
                f"{place} {number}: expected the dice of both sides, at most {most[0]} in attack "
                f"and {most[1]} in defence{'' if line == first else f', {as_first}'}, got "
                f"{quote(line)}; {ACCEPTED}"
            )
        possible = left
    if len(possible) > 1:
        is_mark = len({divider for divider, _ in possible}) > 1
        what = "which dice belong together" if is_mark else "which side attacked"
        raise MalformedError(
            f"{place} {sample[0][0]}: {what} is not clear from {quote(first)} and the next lines; "
            f"{ACCEPTED}"
        )
    ((divider, is_attack_first),) = possible
    names = SIDES if is_attack_first else SIDES[::-1]

    def read(line: str) -> list[Row]:
        groups = _find_readings(line, delimiter)
        if divider not in groups:
            raise MalformedError(f"expected the dice of both sides, {as_first}, got {quote(line)}")
        return [dict(zip(names, groups[divider], strict=True))]

    shown_groups = dict(zip(names, _find_readings(first, delimiter)[divider], strict=True))
    why = (
        "because the lines name the sides"
        if divider == BY_NAME
        else "because the reverse would give one side too many dice"
    )
    return Layout(
        read,
        f"The log has no heading: {place} {sample[0][0]}, {quote(first)}, was read as "
        f"{shown_groups['attack']} in attack against {shown_groups['defence']} in defence, {why}.",
    )


def _order_sides(rules: Rules, *, is_attack_first: bool) -> tuple[Dice, Dice]:
    sides = rules.attack, rules.defence
    return sides if is_attack_first else sides[::-1]


NUMBER = r"(?P<{}>[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)"
ROLLS = NUMBER.format("rolls")
DICE_NUMBERS = (
    r"(?P<attack_dice>[0-9])\s*(?:v|vs\.?|versus|against|-)\s*(?P<defence_dice>[0-9])(?:\s*dice)?"
)
HEADS = (  # patterns for text such as `100 rolls 3 v 2`, and for text such as `3 v 2: 100 rolls`
    rf"{ROLLS}\s*(?:rolls?|throws?|times)?\s*(?:of|at|with)?\s+{DICE_NUMBERS}",
    rf"{DICE_NUMBERS}\s*[:,;-]?\s*(?:in\s+)?{ROLLS}\s*(?:rolls?|throws?|times)",
)
LOST_BY = {
    side: (rf"(?:the\s+)?{side}s?", rf"{NUMBER.format(f'{side}s_lost')}(?:\s+arm(?:y|ies))?")
    for side in ("attacker", "defender")
}
HAVE_LOST = r"(?:have\s+)?(?:lost|lose)"
LOSSES = tuple(  # patterns for text such as `attackers lost 92, defenders 108`
    rf"{LOST_BY[one][0]}\s+{HAVE_LOST}\s+{LOST_BY[one][1]}"
    rf"(?:\s*[,;]?\s*(?:and\s+)?{LOST_BY[other][0]}\s+(?:{HAVE_LOST}\s+)?{LOST_BY[other][1]})?"
    for one, other in (("attacker", "defender"), ("defender", "attacker"))
)
TOTALS_LINES = tuple(
    re.compile(rf"{head}\s*[:,;-]?\s*{losses}\s*\.?", re.IGNORECASE)
    for head in HEADS
    for losses in LOSSES
)
WORDS_WON = ("won", "win", "wins", "w", "yes", "y", "true", "victory", "conquered", "taken")
WORDS_LOST = ("lost", "lose", "loss", "l", "no", "n", "false", "defeat", "failed", "repelled")
WINNERS = {
    **dict.fromkeys((*WORDS_WON, "attacker", "attackers", "attack", "1"), True),
    **dict.fromkeys((*WORDS_LOST, "defender", "defenders", "defence", "defense", "0"), False),
}
ENDED = "|".join(word for word in (*WORDS_WON, *WORDS_LOST) if len(word) > 2)
# The following patterns can match the same text in only a few ways, because a regular expression
# that has to try many ways is slow for long lines.
ARMIES = r"(?<![0-9])([0-9]{1,18})(?![0-9])"
ARMY_NUMBERS = rf"{ARMIES}\s*(?:v|vs\.?|versus|against|on|-|,|;|\t)\s*{ARMIES}"
SEPARATOR = r"(?:\s*[:,;=])?"
BATTLE = re.compile(
    rf"{ARMY_NUMBERS}{SEPARATOR}\s*\b({ENDED}|w|l)\b|\b({ENDED}){SEPARATOR}\s+{ARMY_NUMBERS}",
    re.IGNORECASE,
)
BETWEEN = re.compile(r"[\s,;.]*(?:and\s+)?", re.IGNORECASE)


def is_won(value: object) -> bool | None:
    """Return whether a word such as `won` or `defender` says that the attackers won.

    The result is `None` if the word does not name a winner.

    >>> is_won("Won"), is_won("defender"), is_won(1), is_won("perhaps")
    (True, False, True, None)
    """
    if isinstance(value, bool | str | int):
        return WINNERS.get(str(value).strip().casefold())
    return None


def _find_totals_layout(first: str) -> Layout | None:
    def read(line: str) -> list[Row]:
        row = _read_totals(line)
        if row is None:
            raise MalformedError(f"expected totals such as {quote(first)}, got {quote(line)}")
        return [row]

    if _read_totals(first) is None:
        return None
    return Layout(read, "The log has no heading: its lines were read as the losses of many rolls.")


def _read_totals(line: str) -> Row | None:
    """Parse a line with the total losses of many rolls; return `None` if the line has other text.

    >>> _read_totals("3 v 2: 100 rolls, defenders lost 108")
    {'attack_dice': '3', 'defence_dice': '2', 'rolls': '100', 'defenders_lost': '108'}
    """
    text = line.strip()[:MAX_EVENT_LENGTH]
    for pattern in TOTALS_LINES:
        if found := pattern.fullmatch(text):
            return {name: value for name, value in found.groupdict().items() if value}
    return None


def _find_winner_layout(first: str) -> Layout | None:
    def read(line: str) -> list[Row]:
        if rows := _parse_winners(line):
            return rows
        raise MalformedError(f"expected battles such as 6 v 1 lost, got {quote(line)}")

    rows = _parse_winners(first)
    if not rows:
        return None
    row = rows[0]
    return Layout(
        read,
        f"The log has no heading: the first battle was read as an attack of {row['attackers']} "
        f"armies, the garrison included, on {row['defenders']}, which "
        f"{'succeeded' if is_won(row['won']) else 'failed'}.",
    )


def _parse_winners(line: str) -> list[Row]:
    """Parse a line that lists battles and their winners; return an empty list for any other line.

    >>> [row["won"] for row in _parse_winners("6 v 1 lost, 9 v 3 lost and won 7 v 2.")]
    ['lost', 'lost', 'won']
    """
    rows: list[Row] = []
    end = 0
    for found in BATTLE.finditer(line):
        if BETWEEN.fullmatch(line, end, found.start()) is None:
            return []
        attackers, defenders, word = found.group(1, 2, 3) if found[3] else found.group(5, 6, 4)
        rows.append({"attackers": attackers, "defenders": defenders, "won": word})
        end = found.end()
    return rows if BETWEEN.fullmatch(line, end) else []


def _find_dice_layout(first: str, rules: Rules) -> Layout | None:
    """Return the layout of a log of single dice.

    The result is `None` if the first line does not have more numbers than a roll has dice.
    """
    faces = max(rules.attack.faces)

    def read(line: str) -> list[Row]:
        marks, dice = _read_faces(line)
        has_faces = bool(dice) and all(1 <= int(face) <= faces for face in dice)
        if not has_faces or not marks <= first_marks:
            raise MalformedError(f"expected single dice that show 1 to {faces}, got {quote(line)}")
        return [{"die": face} for face in dice]

    first_marks, numbers = _read_faces(first)
    if len(numbers) <= len(rules.attack.faces + rules.defence.faces):
        return None
    return Layout(read, "The log has no heading: its lines were read as single dice.")


def _read_faces(line: str) -> tuple[set[str], list[str]]:
    """Split a line of single dice: return the separators between its numbers, and the numbers.

    If the separators differ, or the line contains other text, the list of numbers is empty.

    >>> _read_faces("5, 3, 6,")
    ({','}, ['5', '3', '6'])
    """
    text = line.strip().rstrip(",; ")
    marks = {found[0].strip() for found in MARK.finditer(text)}
    is_list = DICE_LINE.fullmatch(text) or (text.isascii() and text.isdecimal())
    numbers = re.findall("[0-9]+", text)
    is_clear = is_list and len(marks) < 2 and max(map(len, numbers)) < 4
    return marks, numbers if is_clear else []


SIDE_NAMES = {
    "attack": r"(?:a|att|atk|attack|attacker|attackers)",
    "defence": r"(?:d|def|defence|defender|defenders)",
}
DIE = r"(?:_?(?:die|dice|roll))?_?([1-9])"
DIE_COLUMN = {side: re.compile(name + DIE) for side, name in SIDE_NAMES.items()}
SIDE_COLUMN = {
    side: re.compile(rf"{name}(|_?(?:dice|die|rolls?))") for side, name in SIDE_NAMES.items()
}
NO_DIE = (None, "", "-", 0, "0")
SEVERAL = re.compile(r"\[?\s*[1-9][0-9]*(?:[\s,;+/-]+[1-9][0-9]*)+\s*\]?")
JOINED = re.compile(r"[1-9]{2,}")
HEADING = {  # every heading with documented column names contains at least one of these names
    *("die", "face", "attack", "attack_dice", "attackers_left", "won"),
    *("chance_before", "chance_after"),
}
WINNER_COLUMNS = ("win", "result", "outcome", "winner", "victory")


class Columns(NamedTuple):
    """The columns of a log that have other names than in the documentation.

    names: the documented name of each column, by its name in the log.
    dice: for each side, the names of the columns that contain one die each, such as `a1`.
    remark: a sentence that lists the columns for the user; empty if all names are documented.
    """

    names: Mapping[str, str]
    dice: Mapping[str, Sequence[str]]
    remark: str

    def rename(self, row: Row) -> Row:
        """Return a row of the log in which each column has its documented name."""
        if not self.remark:
            return row
        cells = {
            normalise_column(name) if isinstance(name, str) else name: value
            for name, value in row.items()
        }
        single = {name for names in self.dice.values() for name in names}
        renamed = {
            self.names.get(name, name): value for name, value in cells.items() if name not in single
        }
        for side, names in self.dice.items():
            faces = [cells[name] for name in names if cells.get(name) not in NO_DIE]
            if faces:
                renamed[side] = " ".join(map(str, faces))
        return renamed


def is_heading(names: Iterable[str]) -> bool:
    """Return whether the cells of a line are column names, so that the line is a heading.

    >>> is_heading(["Attack Dice", "Defense Dice"]), is_heading(["6 4 1", "5 3"])
    (True, False)
    """
    columns = {normalise_column(name): [None] for name in names}
    pairs = _find_side_pairs(columns)
    return bool(
        HEADING & {*columns} or _find_die_columns(columns) or pairs or _find_winner_columns(columns)
    )


def is_column(name: str) -> bool:
    """Return whether a column name suggests dice, losses or a winner, such as `a1` or `winner`.

    >>> is_column("a1"), is_column("attack_dice"), is_column("winner"), is_column("time")
    (True, True, True, False)
    """
    patterns = (*DIE_COLUMN.values(), *SIDE_COLUMN.values())
    is_side = any(pattern.fullmatch(name) for pattern in patterns)
    return is_side or name in HEADING or name in WINNER_COLUMNS


def find_columns(sample: Iterable[Row]) -> Columns:
    """Recognise the columns that have other names than in the documentation.

    sample: the first rows of the log.

    >>> columns = find_columns([{"a1": 6, "a2": 4, "d1": 5}])
    >>> columns.rename({"a1": 6, "a2": 4, "d1": 5})
    {'attack': '6 4', 'defence': '5'}
    """
    values: dict[str, list[object]] = {}
    for row in sample:
        for name, value in row.items():
            if isinstance(name, str):
                values.setdefault(normalise_column(name), []).append(value)
    names: dict[str, str] = {}
    remarks = []
    dice = _find_die_columns(values)
    if dice:
        remarks.append(
            " and ".join(f"the dice in {side} are in {', '.join(dice[side])}" for side in SIDES)
        )
    else:
        names |= _find_side_columns(values)
        remarks += [f"the dice in {side} are in {name}" for name, side in names.items()]
    winners = _find_winner_columns(values)
    if len(winners) == 1 and all(is_won(value) is not None for value in values[winners[0]]):
        names[winners[0]] = "won"
        remarks.append(f"the winner is in {winners[0]}")
    if "face" in values and "die" not in values:
        names["face"] = "die"
        remarks.append("the die is in face")
    remark = f"Columns were read by their names: {'; '.join(remarks)}." if remarks else ""
    return Columns(names, dice, remark)


def _find_die_columns(values: Mapping[str, object]) -> dict[str, list[str]]:
    """Return, for each side, the columns with one die each, such as `a1` and `a2`.

    The result is empty unless both sides have such columns.
    """
    found = {
        side: sorted(
            (name for name in values if pattern.fullmatch(name)), key=lambda name: name[-1]
        )
        for side, pattern in DIE_COLUMN.items()
    }
    are_known = any(side in values for side in SIDES)
    are_clear = all(
        names and len({name[-1] for name in names}) == len(names) for names in found.values()
    )
    return found if are_clear and not are_known else {}


def _find_winner_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that may name the winner of a battle.

    The result is empty unless the log has the columns `attackers` and `defenders`, or if it has the
    documented column `won`.
    """
    names = {*columns}
    if "won" in names or not {"attackers", "defenders"} <= names:
        return []
    return [name for name in WINNER_COLUMNS if name in names]


def _find_side_pairs(values: Mapping[str, object]) -> list[dict[str, str]]:
    """Return pairs of columns whose names differ only in the side, such as `a_dice` and `d_dice`.

    Each pair is a mapping from the column name to the side.
    """
    if any(side in values for side in SIDES):
        return []
    # Columns with their sides, by the part of the name after the side, such as `_dice`.
    by_suffix: dict[str, list[tuple[str, str]]] = {}
    for side, pattern in SIDE_COLUMN.items():
        for name in values:
            if found := pattern.fullmatch(name):
                by_suffix.setdefault(found[1], []).append((name, side))
    return [dict(pair) for pair in by_suffix.values() if [side for _, side in pair] == [*SIDES]]


def _find_side_columns(values: Mapping[str, list[object]]) -> dict[str, str]:
    """Find the two columns that contain several dice of a side; return the side of each column.

    The result is empty unless exactly one pair of columns qualifies.
    """
    pairs = [
        pair
        for pair in _find_side_pairs(values)
        if any(any(map(_make_dice_test(name), values[name])) for name in pair)
    ]
    return pairs[0] if len(pairs) == 1 else {}


def _make_dice_test(name: str) -> Callable[[object], bool]:
    """Return a function that checks whether a cell of the column `name` contains several dice."""
    are_armies = name in ("attackers", "defenders")

    def has_dice(value: object) -> bool:
        if isinstance(value, list | tuple):
            return True
        if isinstance(value, bool) or not isinstance(value, str | int):
            return False
        text = str(value).strip()[:100]
        return bool(SEVERAL.fullmatch(text) or (not are_armies and JOINED.fullmatch(text)))

    return has_dice


def format_line(row: object) -> str | None:
    """Format an element of a list as a line of a log: a string, or the dice of both sides.

    The result is `None` for other values, such as a single die.

    >>> format_line("641-53"), format_line(([6, 4], [5])), format_line(6)
    ('641-53', '6 4|5', None)
    """
    if isinstance(row, str):
        return row
    if not isinstance(row, list | tuple) or len(row) != 2:
        return None
    groups = []
    for group in row:
        if isinstance(group, list | tuple) and 0 < len(group) <= MAX_GROUP_DICE:
            group = " ".join(map(str, group))
        if not isinstance(group, str):
            return None
        groups.append(group)
    return "|".join(groups)
