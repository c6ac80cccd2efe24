"""The compiler of inner loops: numba where it is installed; elsewhere they run as plain Python.

Compiled functions take arrays, whole numbers and floats, and sets as whole numbers of 64 bits. They
do the same uncompiled, some hundred times slower. Compiling takes about a minute, once on a
machine; a time limit does not count it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import numpy as np

__all__ = ["IS_COMPILED", "clock", "compiled", "while_compiling"]

F = TypeVar("F", bound=Callable[..., object])
_seconds = 0.0  # that compiling took
_functions = 0  # that are compiled when they are needed


def clock() -> float:
    """Return the seconds from some moment on, without those that compiling took."""
    return monotonic() - _seconds


@contextmanager
def while_compiling(tell: Callable[[float], object]) -> Iterator[None]:
    """Tell how far compiling has come, whenever a function is compiled while the block runs.

    tell: receives which part of all functions is compiled.
    """
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


_listeners: list[Callable[[float], object]] = []

try:
    from numba import njit
    from numba.core import event
except ImportError:  # the extra `plan` is not installed
    IS_COMPILED = False

    def compiled(function: F) -> F:
        """Return the function as it is, with hashes that overflow as compiled ones do."""
        return np.errstate(over="ignore")(function)

else:
    IS_COMPILED = True

    def compiled(function: F) -> F:
        """Return the function compiled when it is first called, and kept for the next process."""
        global _functions
        _functions += 1
        return njit(cache=True, error_model="numpy")(function)  # type: ignore[return-value] # as called

    class _Compiling(event.Listener):
        """Counts what is compiled, and how long that takes; a function may need another one."""

        def __init__(self) -> None:
            self.depth = self.done = 0
            self.begun = 0.0

        def on_start(self, _: object) -> None:
            if not self.depth:
                self.begun = monotonic()
            self.depth += 1
            for tell in _listeners:
                tell(min(self.done / _functions, 1.0))

        def on_end(self, _: object) -> None:
            global _seconds
            self.depth -= 1
            self.done += 1
            if not self.depth:
                _seconds += monotonic() - self.begun

    event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]
