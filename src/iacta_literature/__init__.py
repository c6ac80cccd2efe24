"""The literature on Risk, recomputed: every published value and figure beside iacta's.

Each of the five articles has a file with its computations. Its published values are data files in
`published/`, with the source in the first line. `taflin` contains Taflin's equations, and `hoehle`
contains Tan's error; `tree` and `chain` show the states of a battle. `reproduce` recomputes
everything and writes a report.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iacta_literature.run import SOURCES, Reproduced, check_packages, reproduce, steps

__all__ = ["SOURCES", "Reproduced", "check_packages", "reproduce", "steps"]


def __getattr__(name: str) -> Any:
    # Pictures import `tree` and `chain` without the other modules.
    if name in __all__:
        return getattr(import_module("iacta_literature.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
