"""The published values: one data file for each table, whose first line names its source."""

import csv
from pathlib import Path
from typing import TypeAlias

from iacta.checks import shown
from iacta.errors import MalformedError

__all__ = ["FOLDER", "Row", "read_rows", "source_of"]

Row: TypeAlias = dict[str, str]

FOLDER = Path(__file__).parent / "published"


def read_rows(name: str, folder: Path = FOLDER) -> list[Row]:
    """Return the rows of a data file, as texts by column; a grid is read cell by cell.

    name: the file's name, without its ending.
    folder: where the data files are.

    A grid has a row for each number of attackers and a column for each number of defenders.

    >>> read_rows("pracpred_win_20x20")[1]
    {'attackers': '1', 'defenders': '2', 'published': '0.106'}
    """
    rows = list(csv.DictReader(_lines(name, folder)[1:]))
    if not rows or "1" not in rows[0]:
        return rows
    return [
        {"attackers": row["attackers"], "defenders": defenders, "published": cell}
        for row in rows
        for defenders, cell in row.items()
        if defenders != "attackers"
    ]


def source_of(name: str, folder: Path = FOLDER) -> str:
    """Return what the first line of a data file says of its source.

    name, folder: as for `read_rows`.
    """
    return _lines(name, folder)[0].removeprefix("# ")


def _lines(name: str, folder: Path) -> list[str]:
    lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith("# "):
        raise MalformedError(
            f"a file of published values must begin with its source, got {shown(name)}"
        )
    return lines
