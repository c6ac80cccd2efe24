"""Auto: the kernel that chooses the fastest accurate method for each question and size.

The kernel tries the methods in order of speed. It chooses the first method that accepts the battle
with a relative error of at most 1e-12. Without such a method, it chooses the first method that
accepts the battle.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy.typing as npt

from iacta.inputs.errors import IactaError, IllegalError
from iacta.methods.kernel import (
    Chances,
    Error,
    Find,
    Kernel,
    RollKernel,
    State,
    Transitions,
    Values,
)
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules

STATED_ERROR = 1e-12

# The methods for each kind of question, fastest first.
METHOD_ORDER = {
    (False, "chance"): ("leap", "lattice"),
    (False, "distribution"): ("lattice", "leap"),
    (False, "stack"): ("lattice",),
    (False, "table"): ("lattice",),
    (True, "chance"): ("closed_form", "counting"),
    (True, "distribution"): ("closed_form", "counting"),
    (True, "stack"): ("counting",),
    (True, "table"): ("counting",),
}


class Auto(RollKernel):
    """A kernel for true random dice that delegates to the fastest method.

    exact: whether the results are fractions.
    find: the function `iacta.methods.choose_kernel`.
    """

    name = "auto"
    is_vectorised = True

    def __init__(self, rules: Rules, exact: bool, find: Find) -> None:
        super().__init__(rules)
        self.exact = exact
        self._load = lru_cache(lambda name: find(rules, exact=exact, method=name))

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        return cls(rules, exact, find)

    def for_question(self, question: str, attackers: int, defenders: int) -> Kernel:
        """Return the kernel of the fastest method that accepts the battle."""
        refused: list[IactaError] = []
        accepted: list[Kernel] = []
        for name in METHOD_ORDER[self.exact, question]:
            kernel = self._load(name)
            error = kernel.refusal(attackers, defenders)
            if error is not None:
                refused.append(error)
            elif kernel.error(attackers, defenders).relative <= STATED_ERROR:
                return kernel
            else:
                accepted.append(kernel)
        if accepted:
            return accepted[0]
        # Prefer an error about the size of the battle to an error about the rules.
        raise next((error for error in refused if not isinstance(error, IllegalError)), refused[0])

    def refuse(self, attackers: int, defenders: int) -> None:
        self.for_question("chance", attackers, defenders)

    def error(self, attackers: int, defenders: int) -> Error:
        return self.for_question("chance", attackers, defenders).error(attackers, defenders)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        question = "distribution" if len(start) == 1 else "stack"
        return self.for_question(question, max(start), defenders).run_forward(start, defenders)

    def run_backward(self, values: Values) -> Iterator[Any]:
        return self.for_question("table", len(values.won) - 1, len(values.lost) - 1).run_backward(
            values
        )

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        return self.for_question("chance", attackers, defenders).win_probability(
            attackers, defenders
        )

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        question = "table" if min_survivors and self.exact else "chance"
        return self.for_question(question, attackers, defenders).chances(
            attackers, defenders, min_survivors
        )

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> npt.NDArray[Any]:
        kernel = self.for_question("table", attackers, defenders)
        return kernel.win_table(attackers, defenders, staying)

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        return self.for_question("table", attackers, defenders).compute_transitions(
            attackers, defenders, min_attackers
        )
