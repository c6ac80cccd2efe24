"""The literature on Risk, recomputed: every published value and figure beside ours.

Each of the five articles has a file, which says what is recomputed of it and how; its published
values are data files in `published/`, each with its source in its first line. `taflin` has Taflin's
equations, `hoehle` Tan's error; `tree` and `chain` show the states of a battle. `reproduce`
recomputes everything and writes a report.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iacta_literature.run import SOURCES, Reproduced, check_packages, reproduce, steps

__all__ = ["SOURCES", "Reproduced", "check_packages", "reproduce", "steps"]


def __getattr__(name: str) -> Any:
    # Pictures use `tree` and `chain` without all the rest.
    if name in __all__:
        return getattr(import_module("iacta_literature.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
