"""Long tables of tests, each in a file of its own beside them."""

import json
from pathlib import Path
from typing import Any


def table(test: str, name: str) -> tuple[list[str], list[Any]]:
    """Return the names of the columns, which are the first line of the file, and the rows."""
    columns, *rows = json.loads((Path(test).parent / f"{name}.json").read_text("utf-8"))
    return columns, rows


def large_text(head: str, repeated: str, times: int, tail: str) -> str:
    """Return a text in which a part stands very often, each time with its number for `{n}`."""
    return head + "".join(repeated.replace("{n}", str(n)) for n in range(times)) + tail
