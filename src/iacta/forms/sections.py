"""The sections of a displayed answer, as plain data that each interface lays out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, TypeAlias

from iacta.probability.distribution import Probability


class Shaded(NamedTuple):
    """A table cell whose background colour lies between the defenders' and the attackers' colour.

    text: the text of the cell.
    level: the colour, from 0 for the defenders' colour to 1 for the attackers' colour.
    """

    text: str
    level: float


Cell: TypeAlias = str | Shaded


def format_cell(cell: Cell) -> str:
    """Return the text of a cell.

    >>> format_cell(Shaded("97", 0.97)), format_cell("12")
    ('97', '12')
    """
    return cell.text if isinstance(cell, Shaded) else cell


@dataclass(frozen=True)
class Table:
    """A table. Columns with a heading are right-aligned, and other columns left-aligned.

    columns: the headings. If all headings are empty, the table has no row of headings.
    rows: the cells.
    continued: a format string for the titles of the parts if the table is too wide and must be
        split. The two `{}` stand for the first and the last heading of a part.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    continued: str = ""


class Bar(NamedTuple):
    """A chance displayed as a bar.

    label: a description of the event.
    probability: the chance of the event; the `Fraction` 0 or 1 for certainty.
    tone: whether the event is `"good"`, `"bad"` or `"neutral"` for the reader.
    """

    label: str
    probability: Probability
    tone: str


@dataclass(frozen=True)
class Bars:
    """Bars whose lengths are proportional to their chances."""

    bars: Sequence[Bar]


class Letter(NamedTuple):
    """A cell of a `Grid`.

    text: the letter.
    tone: the tone of a `Bar`, or `"other"`.
    is_marked: whether the cell is highlighted.
    """

    text: str
    tone: str
    is_marked: bool = False


@dataclass(frozen=True)
class Grid:
    """A grid of letters with labelled rows and numbered columns.

    rows: the label and the letters of each row, from top to bottom.
    columns: the numbers of the columns, which are displayed below the letters.
    """

    rows: Sequence[tuple[int | str, Sequence[Letter]]]
    columns: Sequence[int]


Part: TypeAlias = str | Table | Bars | Grid


@dataclass(frozen=True)
class Section:
    """A section of an answer.

    parts: sentences, tables, bars and grids.
    title: the heading; empty for no heading.
    """

    parts: Sequence[Part]
    title: str = ""


@singledispatch
def make_sections(value: Any) -> Iterable[Section]:
    """Return the sections that display a value. Each type registers its own function."""
    raise NotImplementedError
