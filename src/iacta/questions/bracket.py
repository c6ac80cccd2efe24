"""Bracket: chances compared exactly, by floats where their bound lets them, else by fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bracket"]

Floats: TypeAlias = npt.NDArray[np.float64]

LEAST_FLOAT_CHANCE = Fraction(1, 10**140)  # the floats' bound holds down to 1e-150


class Bracket:
    """Chances in floats for 0, 1, 2 ... armies, and in fractions where floats cannot tell.

    floats: the chances.
    error: a bound on their relative error.
    exact: returns the true chances up to some number of armies.

    >>> thirds = Bracket(3.0 ** -np.arange(9), 1e-9, lambda most: [
    ...     Fraction(1, 3**n) for n in range(most + 1)])
    >>> thirds.first_at_most(Fraction(1, 27)), thirds.first_at_most(Fraction(1, 28))
    (3, 4)
    """

    def __init__(
        self, floats: Floats, error: float, exact: Callable[[int], Sequence[Fraction]]
    ) -> None:
        self.floats = floats
        self.margin = error + 2.0**-50
        self.exact = exact
        self.fractions: Sequence[Fraction] = ()

    def first_reaching(self, chance: Fraction) -> int | None:
        """Return the first n of at least 1 whose true chance is at least `chance`, or None."""
        if chance < LEAST_FLOAT_CHANCE:
            possible, surely = np.ones(len(self.floats), bool), np.zeros(len(self.floats), bool)
        else:
            possible = self.floats >= float(chance) * (1 - self.margin)
            surely = self.floats >= float(chance) * (1 + self.margin)
        for n in np.flatnonzero(possible).tolist():
            if n and (surely[n] or self._exactly(n) >= chance):
                return int(n)
        return None

    def first_at_most(self, chance: Fraction) -> int | None:
        """Return the first n of at least 1 whose true chance is at most `chance`, or None."""
        told = chance >= LEAST_FLOAT_CHANCE
        least = float(max(chance, LEAST_FLOAT_CHANCE))
        possible = self.floats <= least * (1 + self.margin)
        surely = told & (self.floats <= least * (1 - self.margin))
        for n in np.flatnonzero(possible).tolist():
            if n and (surely[n] or self._exactly(n) <= chance):
                return int(n)
        return None

    def _exactly(self, n: int) -> Fraction:
        if n >= len(self.fractions):
            self.fractions = self.exact(min(n + n // 4 + 8, len(self.floats) - 1))
        return self.fractions[n]
