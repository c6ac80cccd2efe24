"""The compiler of inner loops: numba where it is installed; elsewhere they run as plain Python.

Compiled functions take arrays, whole numbers and floats, and sets as whole numbers of 64 bits. They
do the same uncompiled, some hundred times slower.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["IS_COMPILED", "compiled"]

F = TypeVar("F", bound=Callable[..., object])

try:
    from numba import njit
except ImportError:  # the extra `plan` is not installed
    IS_COMPILED = False

    def compiled(function: F) -> F:
        """Return the function as it is, with hashes that overflow as compiled ones do."""
        return np.errstate(over="ignore")(function)

else:
    IS_COMPILED = True

    def compiled(function: F) -> F:
        """Return the function compiled when it is first called, and kept for the next process."""
        return njit(cache=True, error_model="numpy")(function)  # type: ignore[return-value] # as called
