"""A rival of iacta: a brute-force loop over all states, compiled by Numba."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from iacta.rules.roll import loss_counts
from iacta.rules.rules import CLASSIC


def _step_table() -> npt.NDArray[np.float64]:
    """Return the chances of losses, indexed by attack dice, defence dice and defenders lost."""
    steps = np.zeros((4, 3, 3))
    for i in (1, 2, 3):
        for j in (1, 2):
            losses = loss_counts(i, j, CLASSIC)
            steps[i, j, : len(losses.counts)] = [count / losses.total for count in losses.counts]
    return steps


def _fill(able: int, defenders: int, steps: Any) -> Any:
    """Return the win probabilities, indexed by attackers (without garrison) and defenders."""
    table = np.empty((able + 1, defenders + 1))
    table[:, 0] = 1.0
    table[0, 1:] = 0.0
    for a in range(1, able + 1):
        i = min(a, 3)
        for d in range(1, defenders + 1):
            j = min(d, 2)
            taken = min(i, j)
            chance = 0.0
            for k in range(taken + 1):
                chance += steps[i, j, k] * table[a - taken + k, d - k]
            table[a, d] = chance
    return table


STEPS = _step_table()
_compiled = njit(_fill)


def win_table(able: int, defenders: int) -> npt.NDArray[np.float64]:
    """Return the win probabilities of all battles up to a size under classic rules.

    able: the largest number of attackers, without the garrison.
    """
    table: npt.NDArray[np.float64] = _compiled(able, defenders, STEPS)
    return table
