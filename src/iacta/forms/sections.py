"""Sections: the displayed content of an answer, as plain data that any face can lay out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, TypeAlias

from iacta.probability.distribution import Probability


class Shaded(NamedTuple):
    """A table cell with a background between the defenders' and the attackers' colour.

    text: the text.
    level: the position of the background between the colours: 0 for the defenders', 1 for the
        attackers'.
    """

    text: str
    level: float


Cell: TypeAlias = str | Shaded


def cell_text(cell: Cell) -> str:
    """Return the text of a cell.

    >>> cell_text(Shaded("97", 0.97)), cell_text("12")
    ('97', '12')
    """
    return cell.text if isinstance(cell, Shaded) else cell


@dataclass(frozen=True)
class Table:
    """Rows of cells: columns with a heading are right-aligned, other columns left-aligned.

    columns: the headings; if all are empty, the table has no line of headings.
    rows: the cells.
    continued: the title of each part of a table that is too wide and is split into parts; a format
        string for the first and the last heading of the part.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    continued: str = ""


class Bar(NamedTuple):
    """A chance with its bar.

    label: the event.
    probability: the chance; a `Fraction` if it is certain.
    tone: `"good"`, `"bad"` or `"neutral"` for the reader.
    """

    label: str
    probability: Probability
    tone: str


@dataclass(frozen=True)
class Bars:
    """Bars whose lengths are proportional to their chances."""

    bars: Sequence[Bar]


class Letter(NamedTuple):
    """A cell of a grid.

    text: the letter.
    tone: the tone of a `Bar`, or `"other"`.
    is_marked: whether the cell is highlighted.
    """

    text: str
    tone: str
    is_marked: bool = False


@dataclass(frozen=True)
class Grid:
    """A map of letters with numbered rows and columns.

    rows: the number and the letters of each row, top row first.
    columns: the number of each column, shown below the letters.
    """

    rows: Sequence[tuple[int, Sequence[Letter]]]
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
    """Return the displayed sections of a value; the value's question registers them."""
    raise NotImplementedError
