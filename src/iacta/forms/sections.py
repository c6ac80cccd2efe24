"""Sections: the content of an answer to display, as plain data that any interface can lay out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, TypeAlias

from iacta.probability.distribution import Probability


class Shaded(NamedTuple):
    """A table cell with a background between the defenders' and the attackers' colour.

    text: the text.
    level: the background, from 0 for the defenders' colour to 1 for the attackers'.
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
    """A table: columns with a heading are right-aligned, other columns left-aligned.

    columns: the headings; if all are empty, no headings are shown.
    rows: the cells.
    continued: a format string for the title of each part if the table is too wide and must be
        split; `{}` stands for the first and for the last heading of the part.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    continued: str = ""


class Bar(NamedTuple):
    """A chance displayed as a bar.

    label: the event.
    probability: the chance; the `Fraction` 0 or 1 if the outcome is certain.
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
    """Letters in numbered rows and columns.

    rows: the number and the letters of each row, the top row first.
    columns: the number of each column, displayed below the letters.
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
    """Return the sections to display for a value; each type registers its own function."""
    raise NotImplementedError
