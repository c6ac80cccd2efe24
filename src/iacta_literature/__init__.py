"""The literature on Risk, recomputed: every published value and figure beside iacta's.

Each of the five articles has a module with its computations. Its published values are data files in
`published/`, with the source in the first line. `taflin` contains Taflin's equations. `hoehle`
discusses an error that Tan published. `tree` and `chain` compute the states of a battle.
`reproduce` recomputes everything and writes a report.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iacta_literature.run import SOURCES, Reproduced, check_packages, count_steps, reproduce

__all__ = ["SOURCES", "Reproduced", "check_packages", "count_steps", "reproduce"]


def __getattr__(name: str) -> Any:
    # The charts need only `tree` and `chain`, so the other modules are not imported here.
    if name in __all__:
        return getattr(import_module("iacta_literature.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
