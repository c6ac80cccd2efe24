"""How one battle ends, for all numbers of attackers at once.

With a attackers able to attack and d defenders, the battle ends with the probabilities

    W[a, b] = P(taken, b left able to move),      L[a, e] = P(not taken, e defenders left),

and each row of W and L together sums to 1. With true random dice all rows come from one pass of
`iacta.methods.lattice.run_many`, started from the identity; under balanced blitz all are reshaped
at once, and where the defender sees the attack first his replies are found once for all.
"""

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.methods import balanced_blitz, find_kernel, lattice
from iacta.rules.rules import Rules

__all__ = ["Transition", "Transitions"]

Floats: TypeAlias = npt.NDArray[np.float64]

MOST_ABLE = 2000


class Transition(NamedTuple):
    """How the battles against one number of defenders end.

    won: W, `[able, able left]`.
    lost: L, `[able, defenders left]`.
    """

    won: Floats
    lost: Floats


class Transitions:
    """W and L under some rules, for each number of defenders when it is first asked.

    rules: the rules; their garrison does not matter.
    able: the most attackers able to attack.

    >>> from iacta.rules.rules import CLASSIC
    >>> Transitions(CLASSIC, 2).of(1).won.round(4).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.4167, 0.0], [0.0, 0.1755, 0.5787]]
    """

    def __init__(self, rules: Rules, able: int) -> None:
        self.rules, self.able = rules, able
        self._known: dict[int, Transition] = {}
        if able > MOST_ABLE:
            raise TooLargeError(
                f"armies of a stack must be at most {MOST_ABLE} more than its garrison in a plan, "
                f"got {able} more"
            )

    def of(self, defenders: int) -> Transition:
        """Return W and L against a number of defenders, at least 1."""
        if defenders not in self._known:
            solve = self._by_lattice
            if self.rules.dice_mode == "balanced blitz":
                solve = self._by_blitz
            elif self.rules.defender_sees_first:
                solve = self._by_replies
            self._known[defenders] = solve(defenders) if self.able else _nobody(defenders)
        return self._known[defenders]

    def _by_lattice(self, defenders: int) -> Transition:
        lattice.refuse(self.able * self.able, defenders, self.rules)
        steps = lattice.steps_of(self.able, defenders, self.rules)
        won, lost = lattice.run_many(np.eye(self.able + 1), defenders, steps)
        ends = np.zeros((self.able + 1, defenders + 1))
        for left, chances in lost.items():
            ends[:, left] = chances
        won[0] = 0.0
        return Transition(np.ascontiguousarray(won.T), ends)

    def _by_blitz(self, defenders: int) -> Transition:
        size = self.able + 1
        bare = replace(self.rules, garrison=0)
        kept, held = np.eye(size), np.eye(defenders + 1)
        won = balanced_blitz.values(kept, np.zeros((defenders + 1, size)), defenders, bare)
        lost = balanced_blitz.values(np.zeros((size, defenders + 1)), held, defenders, bare)
        won[0], lost[0] = 0.0, held[defenders]
        # Certainty is exact: the last digits that are missing are given to the likeliest end.
        rows = np.arange(size)
        won[rows, won.argmax(axis=1)] += np.where(
            won.any(axis=1), 1 - (won.sum(1) + lost.sum(1)), 0
        )
        return Transition(won, lost)

    def _by_replies(self, defenders: int) -> Transition:
        return Transition(*find_kernel(self.rules).transitions(self.able, defenders))


def _nobody(defenders: int, able: int = 0) -> Transition:
    """Return W and L where nobody is able to attack."""
    won, lost = np.zeros((able + 1, able + 1)), np.zeros((able + 1, defenders + 1))
    lost[0, defenders] = 1.0
    return Transition(won, lost)
