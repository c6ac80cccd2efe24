"""iacta: the exact odds of battles and campaigns in the board game Risk.

A `Battle` is fought between two territories. A `Campaign` leads one stack through a chain of
territories. On a `Board`, `best_plan` finds the best way to a goal such as `TakeAll`.
`armies_needed` and `defenders_needed` return the fewest armies that reach a chance,
`spread_defenders` spreads defenders over a chain, and `when_to_stop` decides whether to roll on.
`Rules` contain everything that changes the odds, a `StopRule` tells when the attackers stop, a
`Roll` is one throw of the dice, and a `Distribution` is a finite probability distribution.
`simulate_battle` and `simulate_campaign` throw random dice instead of computing. `ask` answers all
questions of the command line, and `iacta.charts` draws the answers.

Conventions:

- Attackers are counted as a player sees them on the territory, garrison included. For tables that
  exclude the army that must stay behind, use `garrison=0`.
- Values are immutable. Values with the same content are equal. A short repr can be pasted back; a
  long value has a short description in angle brackets as its repr, and `to_text` returns its full
  text. Decisions and plans cannot be pasted back; compute them again.
- Answers are floats with a proven error bound, or fractions with `exact=True`.
- Bad input raises an `IactaError`, which is a `ValueError`, with a message of one sentence.
"""

import re as _re
from importlib import import_module as _import_module
from pkgutil import get_data as _get_data
from typing import Any as _Any

# The stub beside this file lists each public name with its file, for type checkers and for this
# module. A file is imported when one of its names is first used.
_STUB = (_get_data(__name__, "__init__.pyi") or b"").decode()  # works in a zip archive too
_FILES = {
    name: file for file, name in _re.findall(r"^from (\w[\w.]*) import (\w+) as", _STUB, _re.M)
}

# Constants first, then classes, then functions.
__all__ = sorted(_FILES, key=lambda name: (not name.isupper(), name[0].islower(), name))


def __getattr__(name: str) -> _Any:
    if name in _FILES:
        value = getattr(_import_module(_FILES[name]), name)
    elif name in ("batch", "charts"):
        value = _import_module(f"iacta.{name}")
    elif name == "__version__":
        value = _import_module("importlib.metadata").version("iacta")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "charts"])
