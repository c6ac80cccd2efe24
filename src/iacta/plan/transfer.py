"""Transfer laws: how one battle ends, for all numbers of attackers at once.

With a attackers able to attack and d defenders, the battle ends with the chances

    W[a, b] = P(taken, b left able to move),      L[a, e] = P(not taken, e defenders left),

and each row of W and L together sums to 1. With true random dice all rows come from one pass of
`iacta.methods.lattice.run_many`, started from the identity; under other rules each is asked from
the method that solves them.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.methods import find_method, lattice
from iacta.rules import Rules

__all__ = ["Transfer", "Transfers"]

Floats: TypeAlias = npt.NDArray[np.float64]

MOST_ABLE = 2000


class Transfer(NamedTuple):
    """How the battles against one number of defenders end.

    won: W, `[able, able left]`.
    lost: L, `[able, defenders left]`.
    """

    won: Floats
    lost: Floats


class Transfers:
    """The transfer laws of some rules, each computed when it is first asked.

    rules: the rules; their garrison does not matter.
    able: the most attackers able to attack.

    >>> from iacta.rules import CLASSIC
    >>> Transfers(CLASSIC, 2).of(1).won.round(4).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.4167, 0.0], [0.0, 0.1755, 0.5787]]
    """

    def __init__(self, rules: Rules, able: int) -> None:
        self.rules, self.able = rules, able
        self._known: dict[int, Transfer] = {}
        if able > MOST_ABLE:
            raise TooLargeError(
                f"armies of a stack must be at most {MOST_ABLE} more than its garrison in a plan, "
                f"got {able} more"
            )

    def of(self, defenders: int) -> Transfer:
        """Return the laws against a number of defenders.

        defenders: armies on the defended territory, at least 1.
        """
        if defenders not in self._known:
            true_random = self.rules.dice_mode == "true random"
            by_dice = true_random and not self.rules.defender_sees_first
            solve = self._by_lattice if by_dice and self.able else self._by_method
            self._known[defenders] = solve(defenders)
        return self._known[defenders]

    def _by_lattice(self, defenders: int) -> Transfer:
        lattice.refuse(self.able * self.able, defenders, self.rules)
        steps = lattice.steps_of(self.able, defenders, self.rules)
        won, lost = lattice.run_many(np.eye(self.able + 1), defenders, steps)
        ends = np.zeros((self.able + 1, defenders + 1))
        for left, chances in lost.items():
            ends[:, left] = chances
        won[0] = 0.0
        return Transfer(np.ascontiguousarray(won.T), ends)

    def _by_method(self, defenders: int) -> Transfer:
        won = np.zeros((self.able + 1, self.able + 1))
        lost = np.zeros((self.able + 1, defenders + 1))
        lost[0, defenders] = 1.0
        garrison = self.rules.garrison
        for able in range(1, self.able + 1):
            stack = able + garrison
            method = find_method("auto", stack, defenders, self.rules, exact=False, question="law")
            law = method.outcomes(Distribution([stack]), defenders, self.rules)
            for end, chance in law.items():
                if end.defenders:
                    lost[able, end.defenders] += float(chance)
                else:
                    won[able, end.attackers - garrison] += float(chance)
        return Transfer(won, lost)
