"""Makes the page of board formats from the formats themselves."""

import inspect
import sys

from iacta.board.formats import FORMATS
from iacta.board.formats.draft import BoardFormat


def formats_page() -> str:
    """Return a page with a table of all formats, and the docstring of each one's file."""
    parts = [
        "# Board formats",
        "`iacta board FILE` reads a board in any of these formats, which it recognises by the "
        "content of the file, not by its name. `--to FILE` writes a board in the format of the "
        "file's ending.",
        "\n".join(["| format | ending | |", "| --- | --- | --- |", *map(_row, FORMATS)]),
    ]
    modules = {each.name: sys.modules[each.read.__module__] for each in FORMATS}
    for name, module in modules.items():
        parts += [f"## {name}", inspect.getdoc(module) or ""]
    return "\n\n".join(parts) + "\n"


def _row(each: BoardFormat) -> str:
    use = "read and written" if each.write else "read"
    cards = "; cards are read from a file beside it" if each.cards else ""
    return f"| {each.name} | `{each.ending}` | {use}{cards} |"
