"""Counting: exact odds, by counting weighted paths in whole numbers.

Let a be the attackers able to attack and d the defenders, and let a roll with the dice of that
state cost the attackers m − k and the defenders k armies in w_k of q equally likely cases. Taking
the last roll apart, the chance to win from (a, d) is

    P(a, d) = Σ_k  w_k / q · P(a − m + k, d − k),      P(a, 0) = 1,  P(0, d) = 0.

Each roll takes m armies. So let U be a whole number with q | U^m for the roll of every state
(432 for the classic rules: 7776 divides 432²), and write P(a, d) = N(a, d) / U^(a+d). Then

    N(a, d) = Σ_k  c_k · N(a − m + k, d − k),          c_k = w_k · U^m / q,

a recurrence in whole numbers with the few constant coefficients c_k: one denominator, and no
common divisor to look for on the way. The backward pass runs it, with any values in place of 1
and 0. The forward pass runs its mirror image: in

    X(a − m + k, d − k)  +=  c_k · X(a, d)

X(a, d) · U^(a+d), over one total, is the probability of visiting the state (a, d).

Sources: the recurrence in floats is Norvig's, "The Unfinished Game ... of Risk" (2020, `winP`);
in fractions it is Van Wijgerden's, "Let slip the dice of war", and took many hours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, repeat
from math import gcd, lcm
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods.kernel import OUTCOME_BYTES, Error, RollKernel, State, Values
from iacta.rules.roll import loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules

__all__ = ["Coefficients", "Counting", "ExactRow", "coefficients", "least_root", "powers_of"]

Row = list[int]

OPERATIONS = 8  # that a state takes


class Coefficients(NamedTuple):
    """The recurrence's constants for one set of rules.

    unit: U; a state with n armies in all is counted in units of U^n.
    steps: (c_0, c_1 ... c_m) for each (attack dice, defence dice).
    """

    unit: int
    steps: dict[tuple[int, int], tuple[int, ...]]


def coefficients(attackers: int, defenders: int, rules: Rules) -> Coefficients:
    """Return the least U, and the coefficients c_k of every roll that such a battle may have.

    >>> from iacta.rules.rules import CLASSIC
    >>> coefficients(9, 9, CLASSIC).unit, coefficients(9, 9, CLASSIC).steps[3, 2]
    (432, (54600, 62664, 69360))
    """
    return _coefficients(
        min(attackers, rules.attack.kept), min(defenders, rules.defence.kept), rules
    )


@lru_cache(maxsize=1024)
def _coefficients(attack_dice: int, defence_dice: int, rules: Rules) -> Coefficients:
    if attack_dice > 0 and defence_dice > 0:
        refuse_many_rolls(attack_dice, defence_dice, rules)
    losses = {
        (i, j): loss_counts(i, j, rules)
        for i in range(1, attack_dice + 1)
        for j in range(1, defence_dice + 1)
    }
    unit = lcm(
        *(least_root(each.total // gcd(*each.counts), each.compared) for each in losses.values())
    )
    return Coefficients(
        unit,
        {
            dice: tuple(count * unit**each.compared // each.total for count in each.counts)
            for dice, each in losses.items()
        },
    )


def least_root(number: int, power: int) -> int:
    """Return the least whole number r such that a number divides r**power.

    number: the number, at least 1.
    power: the exponent.

    >>> least_root(7776, 2)
    216
    """
    root, factor = 1, 2
    while number > 1:
        if factor * factor > number:
            factor = number
        exponent = 0
        while number % factor == 0:
            number //= factor
            exponent += 1
        root *= factor ** -(-exponent // power)
        factor += 1
    return root


def powers_of(unit: int, most: int) -> Row:
    """Return U^0, U^1 ... U^most.

    >>> powers_of(432, 2)
    [1, 432, 186624]
    """
    return list(accumulate(repeat(unit, most), mul, initial=1))


@dataclass(frozen=True)
class ExactRow:
    """The expected values against one number of defenders, as fractions that are made when asked.

    numerators: N(a, d) · scale for a = 0, 1, 2 ...
    powers: U^0, U^1, U^2 ...
    scale: what the values were multiplied by to be whole numbers.
    defenders: d.
    """

    numerators: Row
    powers: Row
    scale: int
    defenders: int

    def __getitem__(self, attackers: Any) -> Any:
        if isinstance(attackers, np.ndarray):
            found = {a: self[a] for a in set(attackers.tolist())}
            row = np.empty(attackers.shape, dtype=object)
            row[:] = [found[a] for a in attackers.tolist()]
            return row
        power = self.powers[attackers + self.defenders]
        return Fraction(self.numerators[attackers], self.scale * power)


class Counting(RollKernel):
    """The exact kernel, by one recurrence in whole numbers.

    >>> from iacta.rules.rules import CLASSIC
    >>> Counting(CLASSIC).win_probability(2, 1)
    Fraction(1955, 2592)
    """

    name = "counting"
    exact = True
    quick_states = 500_000
    by_rows = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle whose rows of whole numbers do not fit into memory or into an hour."""
        self._refuse(attackers, defenders, rows=1 + self.rules.defence.kept)

    def refuse_way(self, attackers: int, defended: Sequence[int]) -> None:
        """Refuse battles that take too long together: their numbers grow from each to the next."""
        armies = list(accumulate(attackers + defenders for defenders in defended))
        rows, defenders = 1 + self.rules.defence.kept, sum(defended)
        mean = sum(map(mul, armies, defended)) // defenders
        self._refuse(attackers, defenders, rows, mean, "campaign" if armies[1:] else "battle")

    def _refuse(
        self, attackers: int, defenders: int, rows: int, armies: int = 0, kind: str = "battle"
    ) -> None:
        """Refuse what is too large.

        rows: how many rows of numbers are held at once.
        armies: how many armies a number counts on average; 0 for all of them.
        kind: what is refused, for the message.
        """
        armies = armies or attackers + defenders
        unit = coefficients(attackers, defenders, self.rules).unit
        number_bytes = armies * unit.bit_length() // 8 + 50
        memory = (attackers + 1) * rows * number_bytes + armies * (number_bytes + OUTCOME_BYTES)
        self.refuse_too_large(
            attackers,
            defenders,
            memory=memory,
            number_bytes=number_bytes,
            states=OPERATIONS * attackers * defenders,
            kind=kind,
        )

    def error(self, attackers: int, defenders: int) -> Error:
        """Return 0: this kernel is exact."""
        return Error(0.0)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the exact distribution of the absorbing state."""
        weights, _ = start.weights()
        able = {a: weight for a, weight in weights.items() if a > 0}
        if not able or not defenders:
            return start.map(lambda attackers: State(attackers, defenders))
        most = max(able)
        self.refuse(most, defenders)
        powers = powers_of(coefficients(most, defenders, self.rules).unit, most + defenders)
        row = [able.get(a, 0) * powers[most - a] for a in range(most + 1)]
        won, lost = _run(row, defenders, self.rules)
        states = {State(a, 0): x * powers[a] for a, x in enumerate(won)}
        states |= {State(0, d): x * powers[d] for d, x in lost.items()}
        for a, weight in weights.items():
            if a <= 0:
                stays = State(a, defenders)
                states[stays] = states.get(stays, 0) + weight * powers[-1]
        return Distribution(states)

    def backward(self, values: Values) -> Iterator[ExactRow]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders."""
        won, lost = (np.asarray(each, object).tolist() for each in (values.won, values.lost))
        most, defenders = len(won) - 1, len(lost) - 1
        self.refuse(most, defenders)
        scale = lcm(*(Fraction(value).denominator for value in (*won, *lost)))
        powers = powers_of(coefficients(most, defenders, self.rules).unit, most + defenders)
        whole_won, whole_lost = (
            [int(value * scale) * power for value, power in zip(each, powers, strict=False)]
            for each in (won, lost)
        )
        for d, row in enumerate(_rows(whole_won, whole_lost, self.rules), start=1):
            yield ExactRow(row, powers, scale, d)

    def win_probability(self, attackers: int, defenders: int) -> Fraction:
        """Return the chance to take the territory."""
        if not defenders or attackers <= 0:
            return Fraction(not defenders)
        self.refuse(attackers, defenders)
        values = Values([1] * (attackers + 1), [0] * (defenders + 1))
        chance: Fraction = self.value(values, defenders)[attackers]
        return chance

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> npt.NDArray[Any]:
        """Return the chances to win all battles up to a size, if as many fractions fit."""
        self._refuse(attackers, defenders, rows=3 * defenders)
        return super().win_table(attackers, defenders, staying)


def _run(start: Row, defenders: int, rules: Rules) -> tuple[Row, dict[int, int]]:
    """Return X(a, 0) for every a, and X(0, d) for every d, from X(a, defenders)."""
    steps = coefficients(len(start) - 1, defenders, rules).steps
    most = min(len(start) - 1, rules.attack.kept)
    rows = {defenders: start}
    lost = {}
    for d in range(defenders, 0, -1):
        dice = min(d, rules.defence.kept)
        nearest = [rows.setdefault(d - k, [0] * len(start)) for k in range(dice + 1)]
        moves = [_moves(nearest, steps[i, dice]) for i in range(1, most + 1)]
        for a in range(len(start) - 1, 0, -1):
            weight = nearest[0][a]
            if weight:
                for c, row, attackers_lost in moves[a - 1 if a < most else -1]:
                    row[a - attackers_lost] += c * weight
        lost[d] = rows.pop(d)[0]
    return rows[0], lost


def _moves(nearest: list[Row], step: tuple[int, ...]) -> list[tuple[int, Row, int]]:
    """Return c_k, the row of k defenders fewer, and the attackers lost, for each k."""
    return [(c, nearest[k], len(step) - 1 - k) for k, c in enumerate(step)]


def _rows(won: Row, lost: Row, rules: Rules) -> Iterator[Row]:
    """Yield N(0, d), N(1, d) ... for d = 1, 2 ..., from N(a, 0) and N(0, d)."""
    steps = coefficients(len(won) - 1, len(lost) - 1, rules).steps
    rows = {0: won}
    for d in range(1, len(lost)):
        dice = min(d, rules.defence.kept)
        row = rows[d] = [lost[d]]
        nearest = [rows[d - k] for k in range(dice + 1)]
        for a in range(1, len(won)):
            step = steps[min(a, rules.attack.kept), dice]
            first = a - len(step) + 1
            total = 0
            for k, c in enumerate(step):
                total += c * nearest[k][first + k]
            row.append(total)
        yield row
        rows.pop(d - rules.defence.kept, None)
