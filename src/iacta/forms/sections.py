"""Sections: what an answer shows to people, as plain data that any face can lay out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, TypeAlias

from iacta.probability.distribution import Probability


class Shaded(NamedTuple):
    """A cell on a ground that goes from the defenders' colour to the attackers'.

    text: its text.
    level: how far the ground has gone, from 0 to 1.
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
    """Rows of cells, numbers to the right; columns without a heading, such as names, to the left.

    columns: the headings; if none of them has a text, there is no line of headings.
    rows: the cells.
    continued: the title of each part where the columns do not fit beside each other and go on
        below; a format with the first and the last heading of the part.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    continued: str = ""


class Bar(NamedTuple):
    """A chance with its bar.

    label: what has the chance.
    probability: the chance; certainty as a `Fraction`.
    tone: `"good"`, `"bad"` or `"neutral"` for who asks.
    """

    label: str
    probability: Probability
    tone: str


@dataclass(frozen=True)
class Bars:
    """Bars, as long as their chances."""

    bars: Sequence[Bar]


class Letter(NamedTuple):
    """A place of a grid.

    text: the letter.
    tone: as that of a bar, or `"other"`.
    is_marked: whether it stands out.
    """

    text: str
    tone: str
    is_marked: bool = False


@dataclass(frozen=True)
class Grid:
    """Letters over two numbers.

    rows: a number and its letters, the highest first.
    columns: the number of each column, which is shown below it.
    """

    rows: Sequence[tuple[int, Sequence[Letter]]]
    columns: Sequence[int]


Part: TypeAlias = str | Table | Bars | Grid


@dataclass(frozen=True)
class Section:
    """A part of an answer that stands by itself.

    parts: sentences, tables, bars and grids.
    title: its heading, if any.
    """

    parts: Sequence[Part]
    title: str = ""


@singledispatch
def make_sections(value: Any) -> Iterable[Section]:
    """Return what people are shown of a value.

    value: the value; the file of the question that answers it says how.
    """
    raise NotImplementedError
