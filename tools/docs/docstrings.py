"""Converts docstrings: doctests become code, arguments a list, and equations MathML."""

import re
from typing import Any

import griffe

from tools.docs.equations import typeset_equations, typeset_formulas

SESSION = re.compile(r"^>>>.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
ARGUMENTS = re.compile(r"(?<=\n\n)[a-z]\w*(?:, \w+)*: .*?(?=\n\n|\Z)", re.DOTALL)
ARGUMENT = re.compile(r"^([a-z]\w*(?:, \w+)*): ", re.MULTILINE)

# Packages in which single letters are variables.
MATHEMATICS = ("iacta.methods", "iacta.plan", "iacta.rules.thrown", "iacta_literature")


class Docstrings(griffe.Extension):
    """An extension that converts docstrings to Markdown before mkdocstrings renders them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of an object."""
        if obj.docstring:
            listed = ARGUMENTS.sub(
                lambda found: ARGUMENT.sub(r"- `\1`: ", found[0]), obj.docstring.value
            )
            written = SESSION.sub(r"```pycon\n\g<0>\n```", listed)
            typeset = typeset_equations(written)
            is_mathematics = obj.path.startswith(MATHEMATICS)
            obj.docstring.value = typeset_formulas(typeset) if is_mathematics else typeset
