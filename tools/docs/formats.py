"""Generates the page about board formats."""

import inspect
import sys

from iacta.board.formats import FORMATS
from iacta.board.formats.draft import BoardFormat


def make_formats_page() -> str:
    """Return a page with a table of all formats and the docstrings of their modules."""
    parts = [
        "# Board formats",
        "`iacta board FILE` reads a board in any of these formats, and detects the format from the "
        "content of the file. `--to FILE` writes a board in the format of the file's suffix.",
        "\n".join(["| format | suffix | |", "| --- | --- | --- |", *map(_format_row, FORMATS)]),
    ]
    modules = {each.name: sys.modules[each.read.__module__] for each in FORMATS}
    for name, module in modules.items():
        parts += [f"## {name}", inspect.getdoc(module) or ""]
    return "\n\n".join(parts) + "\n"


def _format_row(each: BoardFormat) -> str:
    use = "read and written" if each.write else "read"
    cards = "; cards are read from a second file" if each.cards else ""
    return f"| {each.name} | `{each.ending}` | {use}{cards} |"
