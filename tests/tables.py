"""Tables of test cases in JSON files."""

import json
from pathlib import Path
from typing import Any


def table(test: str, name: str) -> tuple[list[str], list[Any]]:
    """Return the column names and the rows of a file. The first line has the names."""
    columns, *rows = json.loads((Path(test).parent / f"{name}.json").read_text("utf-8"))
    return columns, rows


def large_text(head: str, repeated: str, times: int, tail: str) -> str:
    """Return a part repeated many times, with `{n}` replaced by the number of the repetition."""
    return head + "".join(repeated.replace("{n}", str(n)) for n in range(times)) + tail
