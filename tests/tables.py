"""Reads tables of test cases from JSON files."""

import json
from pathlib import Path
from typing import Any


def table(test: str, name: str) -> tuple[list[str], list[Any]]:
    """Return the column names and the rows of a file. The first line has the names."""
    columns, *rows = json.loads((Path(test).parent / f"{name}.json").read_text("utf-8"))
    return columns, rows


def large_text(head: str, repeated: str, times: int, tail: str) -> str:
    """Return a text repeated many times, with the number of each repetition in place of `{n}`."""
    return head + "".join(repeated.replace("{n}", str(n)) for n in range(times)) + tail
