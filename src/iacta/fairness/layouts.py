"""Layouts: recognise how the lines of a log write down dice, rolls and battles.

A log may have no heading, or a heading whose names differ from the documentation, such as `a1` or
`Attack Dice`. The first lines (the sample) determine the layout of all lines: the first row of
`LAYOUTS` that fits every line of the sample.

A line with a roll has two groups of dice, one for each side. The separator between the groups
occurs once, and all other separators in the line are the same. A group belongs to the attackers if
its number of dice is possible for attackers in all lines. If both groups are possible for
attackers, the log is rejected, because the attacker is unknown.

Each accepted log therefore has only one possible interpretation. A remark in the answer states it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError
from iacta.inputs.tabular import normalise_column
from iacta.rules.dice import split_dice
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
    AcceptedLayout("", "6 6 5", "the dice of one side"),
    AcceptedLayout("", "12 sixes in 36 dice", "how often one number came up"),
)
ACCEPTED = (
    "a log has a heading and lines, such as attack,defence: 6 4 1,5 3 or attackers,defenders,won: "
    "6,1,no, or lines without a heading, such as 6 4 1 vs 5 3; see iacta audit --help"
)
SIDES = ("attack", "defence")
MAX_GROUP_DICE = 20  # maximum length of a list with the dice of one side of a roll
MAX_EVENT_LENGTH = 300  # maximum length of a line that states one roll or the totals of many rolls
EMPTY_CELLS = frozenset(("", "-", "NULL", "null", "None", "none", "NaN", "nan", "N/A", "NA", "\\N"))


def is_empty(value: object) -> bool:
    """Return whether a cell has no value, such as `None`, `NULL` in a database export, or NaN.

    >>> is_empty("NULL"), is_empty(""), is_empty(float("nan")), is_empty(0)
    (True, True, True, False)
    """
    if isinstance(value, str):
        return value in EMPTY_CELLS
    return value is None or (isinstance(value, float) and value != value)


# Logs without a heading.


class Layout(NamedTuple):
    """The way to read the lines of a log.

    read: a function that parses a line. It returns a mapping from column names to values for each
        die, roll or battle in the line.
    remark: a sentence that tells the user how lines are read; empty for a log with a heading, with
        JSON lines, or with one die per line.
    is_ordered: whether the lines show the order of the throws.
    """

    read: Callable[[str], Sequence[Row]]
    remark: str
    is_ordered: bool = True


# A way to read a line: the separator between the parts of the line, and the column of the first
# part. A line may have several ways; all lines of a log are read in the same way.
Way: TypeAlias = tuple[str, str]
Rows: TypeAlias = Sequence[Row]


class LineLayout(NamedTuple):
    """A row of the table of layouts of lines without a heading.

    expected: the contents of a line, for error messages.
    split: a function that returns the rows of a line by each possible way to read it; the mapping
        is empty for a line of another layout.
    is_possible: a function that checks whether the dice in the rows are possible under the rules;
        its last argument says whether the line is the first of the log.
    remark: the sentence that tells the user how lines are read, with gaps for the first line and
        its first row.
    is_ordered: whether the lines show the order of the throws.
    """

    expected: str
    split: Callable[[str], Mapping[Way, Rows]]
    is_possible: Callable[[Rows, Rules, bool], bool]
    remark: str
    is_ordered: bool = True

    def find_ways(self, sample: Sequence[Numbered], rules: Rules) -> tuple[list[Way], int | None]:
        """Return the ways to read all lines of a sample.

        If the sample has a line that no way fits, the index of this line is the second value.
        """
        ways: list[Way] = list(self.split(sample[0][1]))
        if not ways:
            return [], None
        for index, (_, line) in enumerate(sample):
            rows = self.split(line)
            ways = [
                way for way in ways if way in rows and self.is_possible(rows[way], rules, not index)
            ]
            if not ways:
                return [], index
        return ways, None


def find_layout(sample: Sequence[Numbered], rules: Rules, unit: str) -> Layout:
    """Return the layout of a log without a heading.

    sample: the first lines, at least one.
    rules: the rules of all rolls.
    unit: the word for a line in error messages, such as `line` or `row`.

    Raises `MalformedError` if no layout fits, or if the lines can be read in several ways.

    >>> layout = find_layout([(1, "641-53"), (2, "6-5")], Rules(), "line")
    >>> layout.read("6-5")
    [{'attack': '6', 'defence': '5'}]
    """
    number, first = sample[0]
    most = f"{len(rules.attack.faces)} in attack and {len(rules.defence.faces)} in defence"
    as_first = f"as in {unit} {number}, {quote(first)}"
    failures: list[tuple[int, LineLayout]] = []
    for layout in LAYOUTS:
        ways, failed = layout.find_ways(sample, rules)
        if failed is not None:
            failures.append((failed, layout))
        if len(ways) > 1:
            is_mark = len({mark for mark, _ in ways}) > 1
            what = "which dice belong together" if is_mark else "which side attacked"
            raise MalformedError(
                f"{unit} {number}: {what} is not clear from {quote(first)} and the next lines; "
                f"{ACCEPTED}"
            )
        if ways:
            return _make_layout(layout, ways[0], f"{unit} {number}, {quote(first)},", first)
    if not failures:
        what = "layout" if re.search("[0-9]", first) else "columns"
        raise MalformedError(f"{unit} {number}: unknown {what} {quote(first)}; {ACCEPTED}")
    index, layout = max(failures, key=lambda failure: failure[0])
    number, line = sample[index]
    expected = layout.expected.format(most=most, faces=max(rules.attack.faces))
    raise MalformedError(
        f"{unit} {number}: expected {expected}"
        f"{f', {as_first}' if index else ''}, got {quote(line)}; {ACCEPTED}"
    )


def _make_layout(layout: LineLayout, way: Way, location: str, first: str) -> Layout:
    def read(line: str) -> Rows:
        rows = layout.split(line).get(way)
        if rows is None:
            raise MalformedError(f"expected a line like {quote(first)}, got {quote(line)}")
        return rows

    row = layout.split(first)[way][0]
    why = (
        "because the lines name the sides"
        if way[0] == BY_NAME
        else "because the reverse would give one side too many dice"
    )
    end = "succeeded" if is_won(row.get("won")) else "failed"
    remark = layout.remark.format(location=location, why=why, end=end, **row)
    return Layout(read, f"The log has no header row: {remark}.", layout.is_ordered)


TOTALS_PARTS: dict[
    tuple[str, ...], str
] = {  # patterns for the parts of `100 rolls 3 v 2: attackers lost 92, defenders 108`
    ("attack_dice", "defence_dice"): (
        r"(?<![0-9,])([0-9])\s*(?:v|vs\.?|versus|against|-)\s*([0-9])(?!,?[0-9])(?:\s*dice\b)?"
    ),
    ("rolls",): r"(?<!\S)([0-9][0-9,]*)\s*(?:rolls?|throws?|times)\b(?:\s*(?:of|at|with)\b)?",
    **{
        (f"{side}s_lost",): rf"(?:the\s+)?{side}s?\s+(?:(?:have\s+)?(?:lost|lose)\s+)?"
        r"([0-9]+(?:,[0-9]{3})*)(?:\s+arm(?:y|ies)\b)?"
        for side in ("attacker", "defender")
    },
}


def _split_totals(line: str) -> dict[Way, Rows]:
    """Parse a line with the total losses of many rolls.

    >>> _split_totals("3 v 2: 100 rolls, defenders lost 108")
    {('', ''): [{'attack_dice': '3', 'defence_dice': '2', 'rolls': '100', 'defenders_lost': '108'}]}
    """
    rest, row = line, dict[str, str]()
    for names, pattern in TOTALS_PARTS.items():
        if len(line) <= MAX_EVENT_LENGTH and (found := re.search(pattern, rest, re.IGNORECASE)):
            row |= zip(names, found.groups(), strict=True)
            rest = rest[: found.start()] + rest[found.end() :]
    is_whole = re.fullmatch(r"(?:[\s,;:.-]|\b(?:and|in)\b)*", rest) and re.search("los[et]", line)
    return {("", ""): [row]} if is_whole and {"attack_dice", "rolls"} <= {*row} else {}


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


def _split_winners(line: str) -> dict[Way, Rows]:
    """Parse a line that lists battles and their winners.

    >>> rows = _split_winners("6 v 1 lost, 9 v 3 lost and won 7 v 2.")["", ""]
    >>> [row["won"] for row in rows]
    ['lost', 'lost', 'won']
    """
    rows: list[Row] = []
    end = 0
    for found in BATTLE.finditer(line):
        if BETWEEN.fullmatch(line, end, found.start()) is None:
            return {}
        attackers, defenders, word = found.group(1, 2, 3) if found[3] else found.group(5, 6, 4)
        rows.append({"attackers": attackers, "defenders": defenders, "won": word})
        end = found.end()
    return {("", ""): rows} if rows and BETWEEN.fullmatch(line, end) else {}


FACE_NAMES = ("one", "two", "three", "four", "five", "six")
COUNT_LINE = re.compile(
    rf"(?P<hits>[0-9]{{1,12}})\s*(?:x\s*)?(?:{'|'.join(f'{n}(?:e?s)?' for n in FACE_NAMES)}|"
    r"[1-6]'?s)\s*(?:in|of|out\s+of|from|with|/)\s*(?P<dice>[0-9]{1,12})"
    r"(?:\s*(?:dice|die|rolls?|throws?))?\s*\.?",
    re.IGNORECASE,
)


def _split_counts(line: str) -> dict[Way, Rows]:
    """Parse a line that says how often a number came up: each die is a chance of 1/6.

    >>> _split_counts("2 sixes in 3 dice")["", ""][0]
    {'chance_before': '1/6', 'chance_after': 1, 'count': 2}
    """
    found = COUNT_LINE.fullmatch(line.strip())
    if not found or int(found["hits"]) > int(found["dice"]) or not int(found["dice"]):
        return {}
    hits, dice = int(found["hits"]), int(found["dice"])
    rows: list[Row] = [
        {"chance_before": "1/6", "chance_after": after, "count": count}
        for after, count in ((1, hits), (0, dice - hits))
        if count
    ]
    return {("", ""): rows}


VERSUS = re.compile(r"\s*\b(?:v|vs|versus|against)\b\.?\s*|\s*(?<=[0-9])vs?(?=[0-9])\s*")
QUOTED = re.compile(r'\s*"([^"]*)"\s*[,;\t]\s*"([^"]*)"\s*')
GROUP = r"([0-9][0-9\s,;+/-]*?)"
TWO_GROUPS = rf"[\[(]\s*{GROUP}\s*[\])]\s*[-,;:|/]?\s*[\[(]\s*{GROUP}\s*[\])]"
BRACKETS = re.compile(rf"{TWO_GROUPS}|\[\s*{TWO_GROUPS}\s*\]")
THROWN = r"(?:\s*(?:dice|die|rolls?|rolled|throws?|threw))?\s*[:=]?\s*"
ATTACKER = rf"(?:a|att|atk|attack|attackers?){THROWN}"
DEFENDER = rf"(?:d|def|defend|defence|defense|defenders?){THROWN}"
NAMED = tuple(
    re.compile(rf"{one}[\[(]?{GROUP}[\])]?\s*[-,;:|/]?\s*{other}[\[(]?{GROUP}[\])]?")
    for one, other in ((ATTACKER, DEFENDER), (DEFENDER, ATTACKER))
)
IN_BRACKETS, BY_NAME = "brackets", "names"
MARKS = "-,;:|/\t "
NUMBERS = re.compile(rf"[0-9]+(?:[{MARKS}][0-9]+)*")


def _list_marks(line: str) -> tuple[str, str]:
    """Return a line of numbers with one character between them, and these characters.

    The text is empty if the line has other contents.

    >>> _list_marks("6, 4  - 5"), _list_marks("six")
    (('6,4-5', ',-'), ('', ''))
    """
    text = re.sub(" +", " ", re.sub(r" *([-,;:|/\t]) *", r"\1", line.strip()))
    return (text, re.sub("[0-9]", "", text)) if NUMBERS.fullmatch(text) else ("", "")


def _split_roll(line: str) -> dict[Way, Rows]:
    """Divide a line with a roll into the dice of its two sides, in every possible way.

    >>> [mark for mark, first in _split_roll("6,4 5") if first == "attack"]
    [',', ' ']
    """
    if len(line) > MAX_EVENT_LENGTH:
        return {}
    line = line.strip().casefold()
    for pattern, sides in zip(NAMED, (SIDES, SIDES[::-1]), strict=True):
        if found := pattern.fullmatch(line):
            return {(BY_NAME, sides[0]): [dict(sorted(zip(sides, found.groups(), strict=True)))]}
    line = VERSUS.sub("|", QUOTED.sub(r"\1|\2", line))
    if found := BRACKETS.fullmatch(line):
        groups = {IN_BRACKETS: [group for group in found.groups() if group]}
    else:
        text, marks = _list_marks(line)
        groups = {
            mark: text.split(mark)
            for mark in dict.fromkeys(marks)
            if marks.count(mark) == 1 and len({*marks}) < 3
        }
    return {
        (mark, sides[0]): [{side: pair[sides.index(side)] for side in SIDES}]
        for mark, pair in groups.items()
        for sides in (SIDES, SIDES[::-1])
    }


def _are_roll_dice(rows: Rows, rules: Rules, _: bool) -> bool:
    for side, dice in zip(SIDES, (rules.attack, rules.defence), strict=True):
        most = max(dice.faces)
        faces = split_dice(rows[0][side], most)
        spare = len(dice.faces) - dice.kept
        are_faces = all(1 <= face <= most for face in faces)
        if not are_faces or not spare < len(faces) <= len(dice.faces):
            return False
    return True


def _split_dice(line: str) -> dict[Way, Rows]:
    """Split a line of dice that does not say whose dice they are.

    >>> _split_dice("5, 3,"), _split_dice("53")
    ({(',', ''): [{'die': '5'}, {'die': '3'}]}, {('', ''): [{'die': '5'}, {'die': '3'}]})
    """
    text, marks = _list_marks(line.strip().rstrip(",; "))
    if not text or len({*marks}) > 1:
        return {}
    rows = [{"die": face} for face in (re.split("[^0-9]", text) if marks else text)]
    if len(rows) == 1:  # a single die fits lines with any separator
        return dict.fromkeys(((mark, "") for mark in ("", *MARKS)), rows)
    return {(marks[:1], ""): rows}


def _are_faces(rows: Rows, rules: Rules) -> bool:
    most = max(rules.attack.faces)
    return all(len(row["die"]) < 4 and 1 <= int(row["die"]) <= most for row in rows)


def _are_single_dice(rows: Rows, rules: Rules, is_first: bool) -> bool:
    dice = len(rules.attack.faces + rules.defence.faces)
    return _are_faces(rows, rules) and (len(rows) > dice or not is_first)


def _are_dice_of_one_side(rows: Rows, rules: Rules, _: bool) -> bool:
    dice = max(len(rules.attack.faces), len(rules.defence.faces))
    return _are_faces(rows, rules) and len(rows) <= dice


ROLL_EXPECTED = "the dice of both sides, at most {most}"
DICE_EXPECTED = "dice that show 1 to {faces}: of one side, or more than one roll has"
ONE_SIDE = LineLayout(
    DICE_EXPECTED,
    _split_dice,
    _are_dice_of_one_side,
    "{location} was read as the dice of one side in any order",
    is_ordered=False,
)
LAYOUTS = (
    LineLayout(
        "totals such as 100 rolls 3 v 2: attackers lost 92",
        _split_totals,
        lambda *_: True,
        "its lines were read as the losses of many rolls",
    ),
    LineLayout(
        "battles such as 6 v 1 lost",
        _split_winners,
        lambda *_: True,
        "the first battle was read as an attack of {attackers} armies, the garrison included, on "
        "{defenders}, which {end}",
    ),
    LineLayout(
        "counts such as 12 sixes in 36 dice",
        _split_counts,
        lambda *_: True,
        "{location} was read as chances of 1 in 6, where a chance is won if the number came up",
    ),
    LineLayout(
        ROLL_EXPECTED,
        _split_roll,
        _are_roll_dice,
        "{location} was read as {attack} in attack against {defence} in defence, {why}",
    ),
    LineLayout(DICE_EXPECTED, _split_dice, _are_single_dice, "its lines were read as single dice"),
    ONE_SIDE,
)


def is_log_of_one_side(sample: Sequence[Numbered], rules: Rules) -> bool:
    """Return whether lines have the dice of one side, and at least one line has several dice.

    >>> is_log_of_one_side([(1, "6"), (2, "6 5")], Rules()), is_log_of_one_side([(1, "6")], Rules())
    (True, False)
    """
    ways, _ = ONE_SIDE.find_ways(sample, rules)
    return any(len(_split_dice(line)[way]) > 1 for way in ways for _, line in sample)


# Logs with a heading.

SIDE_NAMES = {
    "attack": r"(?:a|att|atk|attack|attacker|attackers)",
    "defence": r"(?:d|def|defend|defence|defender|defenders)",
}
DIE = r"(?:_?(?:die|dice|roll))?_?([1-9])"
DIE_COLUMN = {side: re.compile(name + DIE) for side, name in SIDE_NAMES.items()}
SIDE_COLUMN = {
    side: re.compile(rf"{name}(|_?(?:dice|die|rolls?))") for side, name in SIDE_NAMES.items()
}
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
            values = [cells.get(name) for name in names]
            faces = [value for value in values if not is_empty(value) and value not in (0, "0")]
            if faces:
                renamed[side] = " ".join(map(str, faces))
        return renamed


def is_heading(names: Iterable[str]) -> bool:
    """Return whether the cells of a line are column names, so that the line is a heading.

    >>> is_heading(["Attack Dice", "Defense Dice"]), is_heading(["6 4 1", "5 3"])
    (True, False)
    """
    columns = {normalise_column(name) for name in names}
    return bool(
        HEADING & columns
        or _list_die_columns(columns)
        or _list_side_pairs(columns)
        or _list_winner_columns(columns)
    )


def is_column(name: str) -> bool:
    """Return whether a column name suggests dice, losses or a winner, such as `a1` or `winner`.

    >>> is_column("a1"), is_column("attack_dice"), is_column("winner"), is_column("time")
    (True, True, True, False)
    """
    patterns = (*DIE_COLUMN.values(), *SIDE_COLUMN.values())
    is_side = any(pattern.fullmatch(name) for pattern in patterns)
    return is_side or name in HEADING or name in WINNER_COLUMNS


def recognise_columns(sample: Iterable[Row]) -> Columns:
    """Recognise the columns that have other names than in the documentation.

    sample: the first rows of the log.

    >>> columns = recognise_columns([{"a1": 6, "a2": 4, "d1": 5}])
    >>> columns.rename({"a1": 6, "a2": 4, "d1": 5})
    {'attack': '6 4', 'defence': '5'}
    """
    values: dict[str, list[object]] = {}
    for row in sample:
        for name, value in row.items():
            if isinstance(name, str):
                values.setdefault(normalise_column(name), []).append(value)
    dice = _list_die_columns(values)
    pairs = [
        pair
        for pair in _list_side_pairs(values)
        if not dice and any(has_dice(name, value) for name in pair for value in values[name])
    ]
    names = pairs[0] if len(pairs) == 1 else {}
    remarks = [f"the dice in {side} are in {name}" for name, side in names.items()]
    if dice:
        remarks.append(
            " and ".join(f"the dice in {side} are in {', '.join(dice[side])}" for side in SIDES)
        )
    winners = _list_winner_columns(values)
    if len(winners) == 1 and all(is_won(value) is not None for value in values[winners[0]]):
        names[winners[0]] = "won"
        remarks.append(f"the winner is in {winners[0]}")
    if "face" in values and "die" not in values:
        names["face"] = "die"
        remarks.append("the die is in face")
    remark = f"Columns were read by their names: {'; '.join(remarks)}." if remarks else ""
    return Columns(names, dice, remark)


def _list_die_columns(columns: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each side, the columns with one die each, such as `a1` and `a2`.

    The result is empty unless both sides have such columns.
    """
    names = {*columns}
    found = {
        side: sorted(filter(pattern.fullmatch, names), key=lambda name: name[-1])
        for side, pattern in DIE_COLUMN.items()
    }
    are_clear = all(
        dice and len({name[-1] for name in dice}) == len(dice) for dice in found.values()
    )
    return found if are_clear and names.isdisjoint(SIDES) else {}


def _list_winner_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that may name the winner of a battle.

    The result is empty unless the log has the columns `attackers` and `defenders`, or if it has the
    documented column `won`.
    """
    names = {*columns}
    if "won" in names or not {"attackers", "defenders"} <= names:
        return []
    return [name for name in WINNER_COLUMNS if name in names]


def _list_side_pairs(columns: Iterable[str]) -> list[dict[str, str]]:
    """Return pairs of columns whose names differ only in the side, such as `a_dice` and `d_dice`.

    Each pair is a mapping from the column name to the side.
    """
    names = list(columns)
    if {*SIDES} <= {*names}:
        return []
    # Columns with their sides, by the part of the name after the side, such as `_dice`.
    by_suffix: dict[str, list[tuple[str, str]]] = {}
    for side, pattern in SIDE_COLUMN.items():
        for name in names:
            if found := pattern.fullmatch(name):
                by_suffix.setdefault(found[1], []).append((name, side))
    return [dict(pair) for pair in by_suffix.values() if [side for _, side in pair] == [*SIDES]]


def has_dice(column: str, value: object) -> bool:
    """Return whether a cell contains several dice, or its column is documented as dice.

    >>> has_dice("defender", "5 3"), has_dice("defenders", "53"), has_dice("attack", "6")
    (True, False, True)
    """
    if column in SIDES or isinstance(value, list | tuple):
        return True
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    text = str(value).strip()[:100]
    are_armies = column in ("attackers", "defenders")
    return bool(SEVERAL.fullmatch(text) or (not are_armies and JOINED.fullmatch(text)))


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
