"""Diagonals: views of all states that have the same total number of armies.

A roll of i attack dice against j defence dice takes m = min(i, j) armies in total. The states (a,
d) of a attackers and d defenders with a + d = t therefore only depend on states with a + d = t − m,
and a whole anti-diagonal of a table can be computed at once.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Numbers: TypeAlias = npt.NDArray[Any]  # an array of floats, or of whole numbers as objects


def view_diagonals(table: Numbers) -> Numbers:
    """Return a view `[a + d, ..., d]` of a table `[d, a, ...]`, which may have more axes.

    table: a number for each state, for d = 0, 1 ... defenders and a = 0, 1 ... attackers.

    Entries that correspond to no state contain the number of some other state.

    >>> view_diagonals(np.array([[0, 1, 2], [10, 11, 12]])).tolist()[1:3]
    [[1, 10], [2, 11]]
    """
    rows, columns, *rest = table.shape
    by_row, by_column, *others = table.strides
    shape = rows + columns - 1, *rest, rows
    return as_strided(table, shape, (by_column, *others, by_row - by_column))


def view_rows(diagonals: Numbers) -> Numbers:
    """Return a read-only view `[..., d, a]` of anti-diagonals `[a + d, ..., d]`.

    diagonals: the numbers of all states; more axes may be in the middle.

    >>> view_rows(np.array([[0, 9], [1, 10], [2, 11], [9, 12]])).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    totals, *rest, rows = diagonals.shape
    view_diagonals, *others, by_row = diagonals.strides
    shape = *rest, rows, totals - rows + 1
    strides = *others, view_diagonals + by_row, view_diagonals
    return as_strided(diagonals, shape, strides, writeable=False)


class Span(NamedTuple):
    """Consecutive states with the same total number of armies and the same numbers of dice.

    total: the total number of armies.
    first, stop: the range of the number of defenders; `stop` is excluded.
    dice: the largest numbers of attack dice and of defence dice.
    """

    total: int
    first: int
    stop: int
    dice: tuple[int, int]

    def view(self, diagonals: Numbers, taken: int = 0, lost: int = 0) -> Numbers:
        """Return a view of the states after a roll.

        diagonals: the numbers of all states, as from `view_diagonals`.
        taken: the total number of armies lost in the roll; 0 for the states before it.
        lost: the number of defenders lost in the roll.
        """
        view: Numbers = diagonals[self.total - taken, ..., self.first - lost : self.stop - lost]
        return view

    def after(self, diagonals: Numbers, taken: int) -> Numbers:
        """Return a copy of the states after a roll, `[k, state]`, where k defenders were lost.

        diagonals, taken: as for `view`.
        """
        return np.array([self.view(diagonals, taken, k) for k in range(taken + 1)])


def iterate_spans(able: int, defenders: int, full_roll: tuple[int, int]) -> Iterator[Span]:
    """Yield all states with armies on both sides; each span depends only on earlier spans.

    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.
    full_roll: the numbers of attack and defence dice of a full roll.

    >>> [(span.total, span.first, span.stop, span.dice) for span in iterate_spans(3, 2, (2, 1))]
    [(2, 1, 2, (1, 1)), (3, 1, 2, (2, 1)), (3, 2, 3, (1, 1)), (4, 1, 3, (2, 1)), (5, 2, 3, (2, 1))]
    """
    attack, defence = full_roll
    for total in range(2, able + defenders + 1):
        d, last = max(1, total - able), min(defenders, total - 1)
        while d <= last:
            dice = min(total - d, attack), min(d, defence)
            stop = min(last, total - attack) + 1 if dice == full_roll else d + 1
            yield Span(total, d, stop, dice)
            d = stop
