"""The functions of a method with the garrison included, until all ask the kernel."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from iacta.distribution import Distribution
from iacta.methods.kernel import Kernel, Outcome, Values
from iacta.rules.rules import Rules

__all__ = ["garrisoned"]


class _Row:
    def __init__(self, row: Any, lost: Any, garrison: int) -> None:
        self.row, self.lost, self.garrison = row, lost, garrison

    def worth(self, attackers: int) -> Any:
        return self.row[attackers - self.garrison] if attackers > self.garrison else self.lost

    def __getitem__(self, attackers: Any) -> Any:
        if isinstance(attackers, int | np.integer):
            return self.worth(int(attackers))
        return [self.worth(n) for n in attackers.tolist()]


def garrisoned(name: str, exact: bool = False) -> tuple[Callable[..., Any], ...]:
    """Return refuse, relative_error, outcomes, win_probability, values, value_rows, win_table."""

    def kernel(rules: Rules) -> Kernel:
        found: Kernel = import_module("iacta.methods").find_kernel(rules, method=name)
        return found

    def refuse(attackers: int, defenders: int, rules: Rules) -> None:
        kernel(rules).refuse(attackers - rules.garrison, defenders)

    def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
        error = kernel(rules).error(attackers, defenders)
        return error.relative or error.absolute

    def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Any:
        held = rules.garrison
        found = kernel(rules).forward(stack.map(lambda armies: armies - held), defenders)
        return found.map(lambda state: Outcome(state.attackers + held, state.defenders))

    def win_probability(attackers: int, defenders: int, rules: Rules) -> Any:
        return kernel(rules).win_probability(attackers - rules.garrison, defenders)

    def values(won: Any, lost: Any, defenders: int, rules: Rules) -> Any:
        *_, last = value_rows(won, lost[: defenders + 1], rules)
        return [last.worth(n) for n in range(len(won))] if exact else last

    def value_rows(won: Any, lost: Any, rules: Rules) -> Any:
        held = min(rules.garrison, len(won) - 1)
        rows = kernel(rules).backward(Values(won[: len(won) - held], lost))
        for d, row in enumerate(rows, start=1):
            if exact:
                yield _Row(row, lost[d], held)
            else:
                yield np.concatenate([np.full(held, float(lost[d])), row])

    def win_table(attackers: int, defenders: int, rules: Rules) -> Any:
        held = min(rules.garrison, attackers)
        return kernel(rules).win_table(attackers - held, defenders, held)

    return refuse, relative_error, outcomes, win_probability, values, value_rows, win_table
