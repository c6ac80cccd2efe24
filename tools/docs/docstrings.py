"""Converts docstrings to Markdown: doctests become code, arguments become a list."""

import re
from typing import Any

import griffe

SESSION = re.compile(r"^>>>.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
ARGUMENTS = re.compile(r"(?<=\n\n)[a-z]\w*(?:, \w+)*: .*?(?=\n\n|\Z)", re.DOTALL)
ARGUMENT = re.compile(r"^([a-z]\w*(?:, \w+)*): ", re.MULTILINE)


class Docstrings(griffe.Extension):
    """An extension that converts docstrings to Markdown before mkdocstrings renders them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of an object."""
        if obj.docstring:
            listed = ARGUMENTS.sub(
                lambda found: ARGUMENT.sub(r"- `\1`: ", found[0]), obj.docstring.value
            )
            obj.docstring.value = SESSION.sub(r"```pycon\n\g<0>\n```", listed)
