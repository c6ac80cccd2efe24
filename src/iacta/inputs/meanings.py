"""The meanings and units of fields, stated once in the class that has the fields.

The docstring of a class describes each field on a line `name: meaning`, and annotations such as
`Count` and `Unit` restrict its values. Higher layers derive JSON, schemas and tables from these
meanings and units.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from typing import Annotated, Any, TypeAlias

# The first line of a description, up to the next description, blank line or end.
DESCRIPTION = re.compile(r"^([a-z]\w*): (.*(?:\n    .*)*)", re.MULTILINE)


@dataclass(frozen=True, eq=False, repr=False)  # a faster import
class SchemaExtra:
    """Keywords that extend the JSON schema of a type. Pydantic calls the method by its name."""

    keywords: tuple[tuple[str, object], ...]

    def __get_pydantic_json_schema__(
        self, core: Any, make: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        return {**make(core), **dict(self.keywords)}


Count: TypeAlias = Annotated[int, SchemaExtra((("minimum", 0),))]
Unit: TypeAlias = Annotated[float, SchemaExtra((("minimum", 0), ("maximum", 1)))]  # a chance


@cache
def read_meanings(kind: type) -> Mapping[str, str]:
    """Return the meaning of each field of a class, as a sentence from the class's docstring.

    A line that describes several fields at once, such as `start, to: ...`, is not read.

    >>> from iacta.probability.estimate import Interval
    >>> read_meanings(Interval)["low"]
    'The lower end.'
    """
    meanings: dict[str, str] = {}
    for level in reversed(kind.__mro__):
        for name, text in DESCRIPTION.findall(cleandoc(vars(level).get("__doc__") or "")):
            sentence = " ".join(text.split()).replace("`None`", "`null`")
            meanings[name] = sentence[:1].upper() + sentence[1:]
    return meanings
