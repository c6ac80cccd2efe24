"""Search: the least number of armies whose chance reaches a target.

The comparison is exact. Floats decide if their error bound allows it. They give both the chance and
its complement, as the smaller number has the better precision. If floats cannot decide, fractions
decide. `Curve` contains the chances of 0, 1, 2 ... armies in tables. Beyond tables, `find_least`
bisects, one battle at a time.
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
Tables: TypeAlias = Callable[[int, Sequence[Key]], "Iterable[tuple[Key, Curve]]"]

MIN_FLOAT_CHANCE = Fraction(1, 10**140)  # the error bound of floats holds down to 1e-150
ROUNDING = Fraction(1, 2**50)  # relative error of the comparison itself


@dataclass(eq=False)
class Curve:
    """The chance of 0, 1, 2 ... armies.

    pro: the chances in floats.
    error: a bound on the error of a chance and of its complement.
    con: returns the complements of the chances in floats.
    exact: returns the chances of 0, 1, 2 ... up to some number of armies as fractions, or `None`
        under rules without fractions, so that floats alone decide.

    >>> thirds = 3.0 ** -np.arange(9)
    >>> curve = Curve(1 - thirds, Error(1e-9), lambda: thirds, lambda most: [
    ...     1 - Fraction(1, 3**n) for n in range(most + 1)])
    >>> curve.find_first([Fraction(26, 27), Fraction(27, 28), Fraction(1)])
    [3, 4, None]
    """

    pro: Floats
    error: Error
    con: Callable[[], Floats]
    exact: Callable[[int], Fractions | None]
    _fractions: Fractions | None = field(default=(), init=False)

    @cached_property
    def _con(self) -> Floats:
        return self.con()

    def find_first(self, wanted: Sequence[Fraction]) -> list[int | None]:
        """Return the first number that reaches each target, `None` if no number reaches it.

        wanted: the target chances.
        """
        relative, absolute = self.error.relative + float(ROUNDING), self.error.absolute
        chances = np.array([float(chance) for chance in wanted])
        low = chances * (1 - relative) - absolute
        low[[chance < MIN_FLOAT_CHANCE for chance in wanted]] = -np.inf
        high = np.maximum(chances * (1 + relative) + absolute, float(MIN_FLOAT_CHANCE))
        possibly, surely = self.pro >= low[:, np.newaxis], self.pro >= high[:, np.newaxis]
        firsts: list[int | None] = []
        for chance, possible, sure in zip(wanted, possibly, surely, strict=True):
            first_sure = int(sure.argmax()) if sure.any() else None
            unsure = np.flatnonzero(possible[:first_sure]).tolist()
            firsts.append(next((n for n in unsure if self._reaches(n, chance)), first_sure))
        return firsts

    def _reaches(self, armies: int, wanted: Fraction) -> bool:
        chances = Chances(float(self.pro[armies]), float(self._con[armies]))
        reaches = compare_chance(chances, wanted, self.error)
        if reaches is not None:
            return reaches
        if self._fractions is not None and armies >= len(self._fractions):
            self._fractions = self.exact(min(armies + armies // 4 + 8, len(self.pro) - 1))
        if self._fractions is None:
            return compare_floats(chances, wanted)
        return bool(self._fractions[armies] >= wanted)


def compare_chance(
    chances: Chances, wanted: Fraction, error: Error, least: Fraction = MIN_FLOAT_CHANCE
) -> bool | None:
    """Return whether a chance reaches a target, or `None` if floats cannot decide.

    chances: the chance and its complement.
    wanted: the target.
    error: a bound on the error of both chances.
    least: the least chance for which that bound holds.
    """
    relative, absolute = Fraction(error.relative) + ROUNDING, Fraction(error.absolute)
    for chance, other, is_pro in ((chances.won, wanted, True), (chances.lost, 1 - wanted, False)):
        number = Fraction(chance)
        larger = max(number, other)
        if larger >= least and abs(number - other) > relative * larger + absolute:
            return (number > other) is is_pro
    return None


def compare_floats(chances: Chances, wanted: Fraction) -> bool:
    """Return whether a chance reaches a target, by the smaller of the chance and its complement."""
    if 2 * wanted > 1:
        return chances.lost <= float(1 - wanted)
    return chances.won >= float(wanted)


def find_least(
    reaches: Callable[[int], bool], guess: int, step: int = 1, most: int | None = None
) -> int | None:
    """Return the least number of at least 1 for which a monotone condition holds.

    reaches: the condition; if it holds for a number, it holds for all larger numbers.
    guess: the start of the search.
    step: the length of the first step; each further step is twice as long.
    most: the limit of the search; if the condition does not hold there, the result is `None`.

    >>> find_least(lambda n: n * n >= 50, guess=3)
    8
    >>> find_least(lambda n: n * n >= 50, guess=1, most=4) is None
    True
    """
    low, high = 0, guess
    if reaches(guess):
        while (below := high - step) > 0 and reaches(below):
            high, step = below, 2 * step
        low = max(below, 0)
    else:
        while True:
            if high == most:
                return None
            low, high = high, high + step if most is None else min(high + step, most)
            step *= 2
            if reaches(high):
                break
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def find_least_in_tables(
    wanted: Mapping[Key, Sequence[Fraction]],
    tables: "Tables[Key]",
    most: int,
    refuse: Callable[[Key, Fraction], None],
) -> dict[tuple[Key, Fraction], int]:
    """Return the fewest armies that reach each target, from tables of doubling size.

    wanted: the targets of each curve.
    tables: a function that yields curves up to some number of armies.
    most: the number of armies in the first table.
    refuse: a function that raises an exception if no number reaches a target. It is called after
        each table for targets that are still missing.
    """
    firsts: dict[tuple[Key, Fraction], int] = {}
    missing = {key: list(dict.fromkeys(chances)) for key, chances in wanted.items() if chances}
    while missing:
        left: dict[Key, list[Fraction]] = {}
        for key, curve in tables(most, list(missing)):
            numbers = curve.find_first(missing[key])
            for chance, number in zip(missing[key], numbers, strict=True):
                if number is None:
                    left.setdefault(key, []).append(chance)
                else:
                    firsts[key, chance] = number
        for key, chances in left.items():
            for chance in chances:
                refuse(key, chance)
        missing, most = left, 2 * most
    return firsts
