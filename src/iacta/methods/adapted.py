"""The functions of a method with the garrison included, until all ask the kernel."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from iacta.distribution import Distribution, Probability
from iacta.methods.counting import ExactRow
from iacta.methods.kernel import Kernel, Outcome, Values
from iacta.rules.rules import Rules

__all__ = ["adapted"]


def adapted(kernel: Callable[[Rules], Kernel]) -> tuple[Any, ...]:
    """Return refuse, relative_error, win_probability, outcomes, value_rows, values, win_table."""

    def refuse(attackers: int, defenders: int, rules: Rules) -> None:
        """Refuse a battle that cannot be answered."""
        kernel(rules).refuse(attackers, defenders)

    def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
        """Return the relative error of the kernel."""
        return kernel(rules).error(attackers, defenders).relative

    def win_probability(attackers: int, defenders: int, rules: Rules) -> Probability:
        """Return the chance to win."""
        refuse(attackers, defenders, rules)
        return kernel(rules).win_probability(attackers - rules.garrison, defenders)

    def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
        """Return the distribution of the outcome."""
        refuse(max(stack), defenders, rules)
        held = rules.garrison
        found = kernel(rules).forward(stack.map(lambda armies: armies - held), defenders)
        return found.map(lambda state: Outcome(state.attackers + held, state.defenders))

    def value_rows(won: Any, lost: Any, rules: Rules) -> Iterator[Any]:
        """Yield the expected values for 1, 2 ... defenders."""
        held = min(rules.garrison, len(won) - 1)
        rows = kernel(rules).backward(Values(won[: len(won) - held], lost))
        for d, row in enumerate(rows, start=1):
            if isinstance(row, ExactRow):
                yield replace(row, garrison=held)
            else:
                yield np.concatenate([np.full(held, float(lost[d])), row])

    def values(won: Any, lost: Any, defenders: int, rules: Rules) -> Any:
        """Return the last of the rows."""
        *_, last = value_rows(won, lost[: defenders + 1], rules)
        if isinstance(last, ExactRow):
            return [last.worth(attackers) for attackers in range(len(won))]
        return last

    def win_table(attackers: int, defenders: int, rules: Rules) -> Any:
        """Return the chances to win of all battles up to a size."""
        refuse(attackers, defenders, rules)
        held = min(rules.garrison, attackers)
        return kernel(rules).win_table(attackers - held, defenders, held)

    return refuse, relative_error, win_probability, outcomes, value_rows, values, win_table
