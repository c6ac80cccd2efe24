"""The literature's tables, as data files; the first line of each names its source."""

import csv
from pathlib import Path

__all__ = ["read_grid", "read_rows"]

FOLDER = Path(__file__).parent


def read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table, as texts by column."""
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    return list(csv.DictReader(lines[1:]))


def read_grid(name: str) -> dict[tuple[int, int], float]:
    """Return a table of attackers by defenders."""
    return {
        (int(row["attackers"]), int(defenders)): float(cell)
        for row in read_rows(name)
        for defenders, cell in row.items()
        if defenders != "attackers"
    }
