"""What is reproduced of a source: its tables, each recomputed row by row."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from iacta_literature.data import FOLDER, Row, read_rows
from iacta_literature.verdict import Compared, Number, Published, compare

__all__ = ["Entry", "Source", "Table", "Timing", "compare_table"]


class Table(NamedTuple):
    """A table of published values.

    file: the name of its data file.
    title: what it holds.
    label: what a row is about, with the names of its columns in braces.
    ours: returns our value for a row.
    printed: for equations, returns the value that they give for a row; the data file has none.
    """

    file: str
    title: str
    label: str
    ours: Callable[[Row], Number]
    printed: Callable[[Row], Number] | None = None


class Timing(NamedTuple):
    """Something whose run time a source tells.

    what: what took so long.
    published: how long, in the words of the source.
    ours: does the same.
    """

    what: str
    published: str
    ours: Callable[[], object]


class Source(NamedTuple):
    """One of the five sources.

    key: its short name, which begins the names of its files.
    name: who wrote it, and what it is called.
    tables: its tables.
    timings: what it tells the run time of.
    """

    key: str
    name: str
    tables: tuple[Table, ...]
    timings: tuple[Timing, ...] = ()


class Entry(NamedTuple):
    """A published value of a table, beside ours.

    table: the title of the table.
    quantity: what the value is.
    compared: the two values and the verdict.
    """

    table: str
    quantity: str
    compared: Compared


def compare_table(table: Table, folder: Path = FOLDER) -> Iterator[Entry]:
    """Yield all values of a table, each compared with ours.

    table: the table.
    folder: where the data files are.
    """
    for row in read_rows(table.file, folder):
        yield Entry(
            table.title, table.label.format(**row), compare(table.ours(row), _published(table, row))
        )


def _published(table: Table, row: Row) -> Published:
    if table.printed is not None:
        value = table.printed(row)
        return Published(str(value), "float" if isinstance(value, float) else "")
    kind, runs = row.get("kind", ""), int(row.get("runs") or 0)
    return Published(row["published"], kind, runs, row.get("right", ""), row.get("erratum", ""))
