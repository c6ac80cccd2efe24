"""The search for the smallest number of armies whose chance reaches a target.

The comparison is exact. It uses floats if their error bound allows it, and compares both the chance
and its complement, because the smaller number is more precise. If floats cannot decide, fractions
do. `Curve` searches a table with the chances of 0, 1, 2, ... armies. For battles that are too large
for a table, `find_smallest` bisects and computes one battle in each step.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Chances, Error, Floats

Key = TypeVar("Key", bound=Hashable)
Fractions: TypeAlias = Sequence[Fraction] | npt.NDArray[np.object_]
Tabulate: TypeAlias = Callable[[int, Sequence[Key]], "Iterable[tuple[Key, Curve]]"]

MIN_FLOAT_CHANCE = Fraction(1, 10**140)  # the error bound of floats holds down to 1e-150
ROUNDING = Fraction(1, 2**50)  # the relative error of the comparison itself


@dataclass(eq=False)
class Curve:
    """The chance as a function of the number of armies.

    chances: the chances of 0, 1, 2, ... armies as floats.
    error: a bound on the error of each chance and of its complement.
    compute_complements: a function that returns the complements of the chances as floats.
    compute_fractions: a function that takes a number n and returns the chances of 0 to n armies as
        fractions, or `None` for rules without fractions. Without fractions, floats decide.

    >>> thirds = 3.0 ** -np.arange(9)
    >>> curve = Curve(1 - thirds, Error(1e-9), lambda: thirds, lambda most: [
    ...     1 - Fraction(1, 3**n) for n in range(most + 1)])
    >>> curve.find_first([Fraction(26, 27), Fraction(27, 28), Fraction(1)])
    [3, 4, None]
    """

    chances: Floats
    error: Error
    compute_complements: Callable[[], Floats]
    compute_fractions: Callable[[int], Fractions | None]
    _fractions: Fractions | None = field(default=(), init=False)

    @cached_property
    def _complements(self) -> Floats:
        return self.compute_complements()

    def find_first(self, wanted: Sequence[Fraction]) -> list[int | None]:
        """Return, for each target, the smallest number of armies that reaches it, or `None`.

        wanted: the target chances.
        """
        relative, absolute = self.error.relative + float(ROUNDING), self.error.absolute
        targets = np.array([float(chance) for chance in wanted])
        low = targets * (1 - relative) - absolute
        low[[chance < MIN_FLOAT_CHANCE for chance in wanted]] = -np.inf
        high = np.maximum(targets * (1 + relative) + absolute, float(MIN_FLOAT_CHANCE))
        possibly, surely = self.chances >= low[:, np.newaxis], self.chances >= high[:, np.newaxis]
        firsts: list[int | None] = []
        for chance, possible, sure in zip(wanted, possibly, surely, strict=True):
            first_sure = int(sure.argmax()) if sure.any() else None
            unsure = np.flatnonzero(possible[:first_sure]).tolist()
            firsts.append(next((n for n in unsure if self._is_enough(n, chance)), first_sure))
        return firsts

    def _is_enough(self, armies: int, wanted: Fraction) -> bool:
        chances = Chances(float(self.chances[armies]), float(self._complements[armies]))
        reaches = compare_chance(chances, wanted, self.error)
        if reaches is not None:
            return reaches
        if self._fractions is not None and armies >= len(self._fractions):
            most = min(armies + armies // 4 + 8, len(self.chances) - 1)
            self._fractions = self.compute_fractions(most)
        if self._fractions is None:
            return is_reached_by_floats(chances, wanted)
        return bool(self._fractions[armies] >= wanted)


def compare_chance(
    chances: Chances, wanted: Fraction, error: Error, minimum: Fraction = MIN_FLOAT_CHANCE
) -> bool | None:
    """Return whether a chance reaches a target, or `None` if floats cannot decide.

    chances: the chance and its complement.
    wanted: the target.
    error: a bound on the error of the chance and of its complement.
    minimum: the smallest chance for which the error bound holds.
    """
    relative, absolute = Fraction(error.relative) + ROUNDING, Fraction(error.absolute)
    for chance, target, is_won in ((chances.won, wanted, True), (chances.lost, 1 - wanted, False)):
        number = Fraction(chance)
        larger = max(number, target)
        if larger >= minimum and abs(number - target) > relative * larger + absolute:
            return (number > target) is is_won
    return None


def is_reached_by_floats(chances: Chances, wanted: Fraction) -> bool:
    """Return whether a chance reaches a target, according to floats.

    If the target is above 1/2, the complements are compared, because they are more precise.
    """
    if 2 * wanted > 1:
        return chances.lost <= float(1 - wanted)
    return chances.won >= float(wanted)


def find_smallest(
    reaches: Callable[[int], bool], guess: int, step: int = 1, maximum: int | None = None
) -> int | None:
    """Return the smallest positive integer for which a monotone condition holds.

    reaches: the condition. If it holds for a number, it must hold for all larger numbers.
    guess: the number at which the search starts.
    step: the length of the first step; each later step is twice as long.
    maximum: the largest number to try, or `None` for no limit. If the condition does not hold for
        this number, the result is `None`.

    >>> find_smallest(lambda n: n * n >= 50, guess=3)
    8
    >>> find_smallest(lambda n: n * n >= 50, guess=1, maximum=4) is None
    True
    """
    low, high = 0, guess
    if reaches(guess):
        while (below := high - step) > 0 and reaches(below):
            high, step = below, 2 * step
        low = max(below, 0)
    else:
        while True:
            if high == maximum:
                return None
            low, high = high, high + step if maximum is None else min(high + step, maximum)
            step *= 2
            if reaches(high):
                break
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def find_smallest_in_tables(
    wanted: Mapping[Key, Sequence[Fraction]],
    tabulate: "Tabulate[Key]",
    maximum: int,
    refuse: Callable[[Key, Fraction], None],
) -> dict[tuple[Key, Fraction], int]:
    """Return the fewest armies that reach each target, found in tables of doubling size.

    wanted: the target chances for each key.
    tabulate: a function that takes a number of armies and some keys, and yields the curve of each
        key up to this number.
    maximum: the number of armies in the first table.
    refuse: a function that raises an exception if no number of armies reaches a target. It is
        called after each table for every target that is not reached yet.
    """
    firsts: dict[tuple[Key, Fraction], int] = {}
    missing = {key: list(dict.fromkeys(chances)) for key, chances in wanted.items() if chances}
    while missing:
        left: dict[Key, list[Fraction]] = {}
        for key, curve in tabulate(maximum, list(missing)):
            numbers = curve.find_first(missing[key])
            for chance, number in zip(missing[key], numbers, strict=True):
                if number is None:
                    left.setdefault(key, []).append(chance)
                else:
                    firsts[key, chance] = number
        for key, chances in left.items():
            for chance in chances:
                refuse(key, chance)
        missing, maximum = left, 2 * maximum
    return firsts
