"""Recomputation of five articles about Risk: every published value and figure, and iacta's own.

Each article has a module with its computations. The published values are data files in
`published/`, which name their source in the first line. `taflin` contains Taflin's equations.
`hoehle` discusses an error that Tan published. `tree` computes the states of a battle.
`reproduce` recomputes everything and writes a report.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iacta_literature.run import SOURCES, Reproduced, check_packages, count_steps, reproduce

__all__ = ["SOURCES", "Reproduced", "check_packages", "count_steps", "reproduce"]


def __getattr__(name: str) -> Any:
    # Modules are imported when they are used, because the charts need only `tree`.
    if name in __all__:
        return getattr(import_module("iacta_literature.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
