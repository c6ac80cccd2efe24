"""Published values, read from data files and compared with iacta's values.

A `PrintedSource` lists the recomputed parts of an article: tables, figures and run times. Each
table is a file in the folder `published`. The first line of the file names the source of the
values. The second line has the title of the table, and a template for the name of each row's
quantity, with names of columns in braces. A published value agrees if it equals iacta's value after
rounding to the printed digits. A published value that is known to be wrong is an erratum; the file
then also has the correct value.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from iacta import Dice, Distribution, Estimate, Losses, MalformedError, Roll, Rules
from iacta.charts import Chart
from iacta.inputs.checks import format_fraction, quote

Row: TypeAlias = dict[str, str]
Number: TypeAlias = int | float | Fraction | str

FOLDER = Path(__file__).parent / "published"
FLOAT_ERROR = Fraction(1, 10**15)  # the relative rounding error allowed in published floats
SAMPLING_LEVEL = "99.9%"

AGREES, ERRATUM, DIFFERS = "agrees", "erratum", "differs"


# --- The data files


def read_rows(name: str, folder: Path | None = None) -> list[Row]:
    """Return the rows of a data file, as mappings from columns to strings.

    name: the name of the file without its extension.
    folder: the folder of the data files; `None` for `FOLDER`.

    A file may also be a grid with one row for each number of attackers and one column for each
    number of defenders. Each cell of a grid becomes a row of the result.

    >>> read_rows("pracpred_win_20x20")[1]
    {'attackers': '1', 'defenders': '2', 'published': '0.106'}
    """
    rows = list(
        csv.DictReader(line for line in _read_lines(name, folder) if not line.startswith("# "))
    )
    if not rows or "1" not in rows[0]:
        return rows
    return [
        {"attackers": row["attackers"], "defenders": defenders, "published": cell}
        for row in rows
        for defenders, cell in row.items()
        if defenders != "attackers"
    ]


def _read_lines(name: str, folder: Path | None = None) -> list[str]:
    lines = ((folder or FOLDER) / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith("# "):
        raise MalformedError(
            f"a file of published values must start with its source, got {quote(name)}"
        )
    return lines


# --- Comparisons of published values


class Published(NamedTuple):
    """A value as printed in a source.

    text: the printed text: a whole number, a fraction, a decimal, a percentage or words.
    kind: the kind of comparison. `""`: whole numbers and fractions are exact, other numbers are
        rounded to the printed digits. `about`: rounded, even if it is a whole number. `truncated`:
        cut off after the printed digits. `float`: all digits of a float. `simulated`: an estimate.
        `range`: two limits, written `low to high`. `above` or `below`: one limit. `text`: words.
    runs: the number of simulated games behind the value; only for the kind `simulated`.
    right: the correct value if the printed value is an erratum, otherwise empty.
    erratum: the name of the erratum in the data file `errata`, otherwise empty.
    """

    text: str
    kind: str = ""
    runs: int = 0
    right: str = ""
    erratum: str = ""


HOW = {
    "truncated": "truncated to its digits",
    "about": "rounded",
    "float": "to the last digit of a float",
    "simulated": f"within the sampling interval ({SAMPLING_LEVEL})",
    "range": "within the range",
    "above": "above the limit",
    "below": "below the limit",
    "text": "in words",
}


@dataclass(frozen=True)
class Compared:
    """A published value and iacta's value of the same quantity.

    ours: iacta's value.
    published: the printed value.
    table: the title of the table that contains the value.
    quantity: the name of the quantity, such as the chance of a certain roll.

    >>> Compared(Fraction(5, 12), Published("0.417")).verdict
    'agrees'
    >>> Compared(6, Published("5", right="6", erratum="hendel")).verdict
    'erratum'
    """

    ours: Number
    published: Published
    table: str = ""
    quantity: str = ""

    @cached_property
    def verdict(self) -> str:
        """`agrees`, `erratum` (iacta agrees with the known correct value), or `differs`."""
        agrees = _agrees(self.ours, self.published)
        if not self.published.erratum:
            return AGREES if agrees else DIFFERS
        is_mended = _agrees(self.ours, Published(self.published.right))
        return ERRATUM if is_mended and not agrees else DIFFERS

    @property
    def difference(self) -> float | None:
        if isinstance(self.ours, str) or self.published.kind in ("range", "above", "below"):
            return None
        return float(Fraction(self.ours) - _read(self.published.text)[0])

    @property
    def ours_text(self) -> str:
        """Iacta's value with all digits; a fraction if the published value is a fraction."""
        if isinstance(self.ours, str):
            return self.ours
        if isinstance(self.ours, Fraction) and "/" in self.published.text:
            return format_fraction(self.ours)
        is_whole = Fraction(self.ours).denominator == 1
        return str(int(self.ours)) if is_whole else repr(float(self.ours))

    @property
    def how(self) -> str:
        """A phrase that states how the values were compared."""
        if self.published.erratum:
            return f"right is {self.published.right}"
        if self.published.kind or isinstance(self.ours, str):
            return HOW[self.published.kind or "text"]
        return "rounded to its digits" if _read(self.published.text)[1] else "exactly"


def _agrees(ours: Number, published: Published) -> bool:
    text, kind = published.text, published.kind
    if isinstance(ours, str):
        return ours == text
    number = Fraction(ours)
    if kind == "range":
        low, _, high = text.partition(" to ")
        return _read(low)[0] <= number <= _read(high)[0]
    value, unit = _read(text)
    if kind == "simulated":
        runs = published.runs
        lowest, highest = Estimate(runs, round(value * runs)).interval(SAMPLING_LEVEL)
        return lowest - unit / 2 <= number <= highest + unit / 2
    rules: dict[str, Callable[[], bool]] = {
        # Rounding rules differ: a value halfway between two printed values agrees with both.
        "": lambda: abs(number - value) <= unit / 2,
        "about": lambda: abs(number - value) <= (unit or 1) / 2,
        "truncated": lambda: value <= number < value + (unit or 1),
        "float": lambda: abs(number - value) <= FLOAT_ERROR * abs(value),
        "above": lambda: number > value,
        "below": lambda: number < value,
    }
    if kind not in rules:
        raise MalformedError(f"unknown kind of published value {quote(kind)}")
    return rules[kind]()


def _read(text: str) -> tuple[Fraction, Fraction]:
    """Return a printed number, and the unit of its last digit (0 for an exact number).

    >>> _read("73.6%") == (Fraction(736, 1000), Fraction(1, 1000))
    True
    >>> _read("15/36")[1]
    Fraction(0, 1)
    """
    is_percentage = text.endswith("%")
    bare = text.removesuffix("%")
    try:
        value = Fraction(bare)
    except (ValueError, ZeroDivisionError):
        raise MalformedError(f"a published value must be a number, got {quote(text)}") from None
    digits = len(bare.partition(".")[2])
    unit = Fraction(1, 10**digits) if digits or is_percentage else Fraction(0)
    return (value / 100, unit / 100) if is_percentage else (value, unit)


# --- Sources: their tables, figures and run times


class EquationResult(NamedTuple):
    """The result of a printed equation, used as the published value.

    result: the result of the printed equation for a row of the table.
    ours: iacta's value for the row.
    """

    result: Number
    ours: Number


class Figure(NamedTuple):
    """A figure of a source.

    name: the name of the file without the key of the source.
    what: a description of the printed figure.
    draw: a function that returns iacta's chart.
    """

    name: str
    what: str
    draw: Callable[[], Chart]


class Timing(NamedTuple):
    """A computation with a published run time.

    what: a description of the computation.
    published: the run time in the words of the source.
    ours: a function that performs the computation with iacta.
    """

    what: str
    published: str
    ours: Callable[[], object]


class PrintedSource(NamedTuple):
    """An article and its recomputed parts.

    key: the short name of the article, with which the names of its files begin.
    name: the author and the title.
    tables: a mapping from the names of data files, without the key, to functions that return
        iacta's value for a row.
    figures: the figures of the article.
    timings: the computations with a published run time.
    """

    key: str
    name: str
    tables: Mapping[str, Callable[[Row], Number | EquationResult]]
    figures: tuple[Figure, ...] = ()
    timings: tuple[Timing, ...] = ()


def compare_table(source: PrintedSource, table: str) -> Iterator[Compared]:
    """Compare all values of a table with iacta's values.

    source: the article.
    table: the name of a table of the article.
    """
    file = f"{source.key}_{table}"
    title, _, label = _read_lines(file)[1].removeprefix("# ").partition(" | ")
    for row in read_rows(file):
        ours = source.tables[table](row)
        if isinstance(ours, EquationResult):
            result, ours = ours
            published = Published(str(result), "float" if isinstance(result, float) else "")
        else:
            kind, runs = row.get("kind", ""), int(row.get("runs") or 0)
            right, erratum = row.get("right", ""), row.get("erratum", "")
            published = Published(row["published"], kind, runs, right, erratum)
        yield Compared(ours, published, title, label.format(**row))


# --- Computations for several sources


def compute_roll_chance(row: Row) -> Fraction:
    """Return the probability of the losses in a row of a table of rolls.

    row: a row with the columns `attack_dice`, `defence_dice`, `attackers_lost`, `defenders_lost`
        and optionally `rules`.
    """
    roll = Roll(int(row["attack_dice"]), int(row["defence_dice"]), row.get("rules", "classic"))
    lost = Losses(int(row["attackers_lost"]), int(row["defenders_lost"]))
    return Fraction(roll.losses()[lost])


def compare_example_dice(row: Row) -> str:
    """Return the armies that attackers and defenders lose with the dice in a row.

    row: a row with the columns `attack_dice` and `defence_dice`: the faces of the dice.

    >>> compare_example_dice({"attack_dice": "6 4 2", "defence_dice": "5 2"})
    '0 and 2'
    """
    attack, defence = (
        # A die with one face and a bonus always shows the same value.
        Dice((1,) * len(faces), bonus=tuple(face - 1 for face in faces))
        for faces in (read_dice(row["attack_dice"]), read_dice(row["defence_dice"]))
    )
    roll = Roll(attack.kept, defence.kept, Rules(attack=attack, defence=defence))
    (lost,) = roll.losses()
    return f"{lost.attackers} and {lost.defenders}"


def read_dice(text: str) -> tuple[int, ...]:
    """Return the faces of dice as numbers, highest first.

    text: the faces, such as `"2 6 4"`.
    """
    return tuple(sorted(map(int, text.split()), reverse=True))


def count_rolls_of_five_dice() -> int:
    """Return the number of equally likely results of rolling five dice."""
    return len(Distribution(range(1, 7)).repeat(5))
