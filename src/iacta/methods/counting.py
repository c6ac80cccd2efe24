"""Counting: exact odds by counting weighted paths in whole numbers.

Let a be the number of attackers (garrison excluded) and d the number of defenders. In a roll with
the dice of this state, the defenders lose k armies and the attackers m − k with chance w_k / q,
where q is the least common denominator. The chance to win from (a, d) is a sum over the results of
the first roll,

    P(a, d) = Σ_k  w_k / q · P(a − m + k, d − k),      P(a, 0) = 1,  P(0, d) = 0.

Each roll takes m armies. Let U be a whole number such that q divides U^m for every roll (432 for
the classic rules: 7776 divides 432²), and write P(a, d) = N(a, d) / U^(a+d). Then

    N(a, d) = Σ_k  c_k · N(a − m + k, d − k),          c_k = w_k · U^m / q.

This is a recurrence in whole numbers with few constant coefficients c_k. It needs a single
denominator and never reduces a fraction. The backward pass runs this recurrence, with any values in
place of 1 and 0. The forward pass runs its mirror image,

    X(a − m + k, d − k)  +=  c_k · X(a, d).

Then X(a, d) · U^(a+d), divided by a constant, is the probability of visiting the state (a, d).

Sources: Norvig, "The Unfinished Game ... of Risk" (2020, `winP`), for the recurrence in floats; Van
    Wijgerden, "Let slip the dice of war", for the recurrence in fractions, which ran for many
    hours.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, repeat
from math import gcd, lcm
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import OUTCOME_BYTES, Kernel, RollKernel, State, Values
from iacta.probability.distribution import Distribution
from iacta.rules.roll import loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules

Row: TypeAlias = list[int]
Steps: TypeAlias = dict[tuple[int, int], tuple[int, ...]]
Ends: TypeAlias = tuple[int, Iterable[tuple[State, Any, int]]]

COUNTING_STEPS_PER_STATE = 8


class Coefficients(NamedTuple):
    """The constants of the recurrence for given rules.

    unit: U. The number of a state with n armies in total is in units of U^n.
    steps: (c_0, c_1 ... c_m) for each (attack dice, defence dice).
    """

    unit: int
    steps: Steps


def compute_coefficients(attackers: int, defenders: int, rules: Rules) -> Coefficients:
    """Return the smallest U, and the coefficients c_k for every possible roll of a battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> compute_coefficients(9, 9, CLASSIC).unit, compute_coefficients(9, 9, CLASSIC).steps[3, 2]
    (432, (54600, 62664, 69360))
    """
    return _compute_coefficients(
        min(attackers, rules.attack.kept), min(defenders, rules.defence.kept), rules
    )


@lru_cache(maxsize=1024)
def _compute_coefficients(attack_dice: int, defence_dice: int, rules: Rules) -> Coefficients:
    if attack_dice > 0 and defence_dice > 0:
        refuse_many_rolls(attack_dice, defence_dice, rules)
    losses = {
        (i, j): loss_counts(i, j, rules)
        for i in range(1, attack_dice + 1)
        for j in range(1, defence_dice + 1)
    }
    unit = lcm(
        *(
            compute_least_root(each.total // gcd(*each.counts), each.pair_count)
            for each in losses.values()
        )
    )
    return Coefficients(
        unit,
        {
            dice: tuple(count * unit**each.pair_count // each.total for count in each.counts)
            for dice, each in losses.items()
        },
    )


def compute_least_root(number: int, power: int) -> int:
    """Return the smallest whole number r for which `number` divides r**power.

    number: the number, at least 1.
    power: the exponent.

    >>> compute_least_root(7776, 2)
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


def list_powers(unit: int, maximum: int) -> Row:
    """Return U^0, U^1 ... U^most.

    >>> list_powers(432, 2)
    [1, 432, 186624]
    """
    return list(accumulate(repeat(unit, maximum), mul, initial=1))


@dataclass(frozen=True)
class ExactRow:
    """Expected values by number of attackers, as fractions that are computed when needed.

    numerators: N(a, d) · scale for a = 0, 1, 2 ...
    powers: U^0, U^1, U^2 ...
    scale: the factor by which the values were multiplied to make them whole numbers.
    defenders: d, the number of defenders in this row.
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


def scale_to_integers(values: Values) -> tuple[Row, Row, int]:
    """Multiply `won` and `lost` by a factor that makes them whole numbers; also return the factor.

    >>> scale_to_integers(Values([0, Fraction(1, 2)], [Fraction(1, 3), 1]))
    ([0, 3], [2, 6], 6)
    """
    won, lost = (np.asarray(each, object).tolist() for each in values)
    scale = lcm(*(Fraction(value).denominator for value in (*won, *lost)))
    return [int(value * scale) for value in won], [int(value * scale) for value in lost], scale


class UnitKernel(Kernel):
    """A kernel that counts states with n armies in units of U^n; for floats, U is 1."""

    @abstractmethod
    def ends(self, able: dict[int, Any], defenders: int) -> Ends:
        """Return U and the final states, or raise `IactaError`.

        able: the weight of each number of attackers, garrison excluded.
        defenders: armies on the defended territory, at least 1.

        Each state comes with its X in units of U^−n and the number n of armies lost. Kernels in
        floats ignore n.
        """

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        exact = self.exact
        weights = start.weights()[0] if exact else {a: float(p) for a, p in start.items()}
        able = {a: weight for a, weight in weights.items() if a > 0 and defenders}
        found = [(State(a, defenders), w, 0) for a, w in weights.items() if a not in able]
        unit = 1
        if able:
            unit, ends = self.ends(able, defenders)
            found += ends
        most = max(lost for _, _, lost in found) if exact else 0
        powers = list_powers(unit, most)
        states: dict[State, Any] = {}
        for state, weight, lost in found:
            x = weight * powers[most - lost] if exact else weight
            states[state] = states.get(state, 0) + x
        return Distribution(states) if exact else Distribution.from_probabilities(states)


class Counting(UnitKernel, RollKernel):
    """The exact kernel, computed by one recurrence in whole numbers.

    >>> from iacta.rules.rules import CLASSIC
    >>> Counting(CLASSIC).win_probability(2, 1)
    Fraction(1955, 2592)
    """

    name = "counting"
    exact = True
    quick_states = 500_000
    is_vectorised = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `TooLargeError` for a battle that takes too much time or memory."""
        self._refuse(attackers, defenders, row_count=1 + self.rules.defence.kept)

    def refuse_way(self, attackers: int, defended: Sequence[int]) -> None:
        """Raise `TooLargeError` if a sequence of battles takes too long.

        The numbers get longer with each battle.
        """
        armies = list(accumulate(attackers + defenders for defenders in defended))
        rows, defenders = 1 + self.rules.defence.kept, sum(defended)
        mean = sum(map(mul, armies, defended)) // defenders
        self._refuse(attackers, defenders, rows, mean, "campaign" if armies[1:] else "battle")

    def _refuse(
        self, attackers: int, defenders: int, row_count: int, armies: int = 0, kind: str = "battle"
    ) -> None:
        """Raise `TooLargeError` for a battle that takes too much time or memory.

        row_count: the number of rows kept in memory at the same time.
        armies: the average exponent of the unit U in the numbers; 0 for the total number of armies.
        kind: the noun for the battle in the message.
        """
        armies = armies or attackers + defenders
        unit = compute_coefficients(attackers, defenders, self.rules).unit
        number_bytes = armies * unit.bit_length() // 8 + 50
        memory = (attackers + 1) * row_count * number_bytes + armies * (
            number_bytes + OUTCOME_BYTES
        )
        self.refuse_too_large(
            attackers,
            defenders,
            memory=memory,
            number_bytes=number_bytes,
            states=COUNTING_STEPS_PER_STATE * attackers * defenders,
            kind=kind,
        )

    def ends(self, able: dict[int, Any], defenders: int) -> Ends:
        self.refuse(max(able), defenders)
        unit, steps = compute_coefficients(max(able), defenders, self.rules)
        return unit, compute_absorbing_states(able, defenders, unit, steps)

    def run_backward(self, values: Values) -> Iterator[ExactRow]:
        self.refuse(len(values.won) - 1, len(values.lost) - 1)
        yield from run_backward(values, self.rules)

    def win_probability(self, attackers: int, defenders: int) -> Fraction:
        if not defenders or attackers <= 0:
            return Fraction(not defenders)
        self.refuse(attackers, defenders)
        values = Values([1] * (attackers + 1), [0] * (defenders + 1))
        chance: Fraction = self.value(values, defenders)[attackers]
        return chance

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> npt.NDArray[Any]:
        """Return the chances to win for all battles up to a size, if memory permits."""
        self._refuse(attackers, defenders, row_count=3 * defenders)
        return super().win_table(attackers, defenders, staying)


def run_backward(values: Values, rules: Rules, fewest: int = 1) -> Iterator[ExactRow]:
    """Yield the expected values, as `Kernel.run_backward` does.

    values: the value function.
    rules: the rules of the battles.
    fewest: the fewest attackers that still roll.
    """
    most, defenders = len(values.won) - 1, len(values.lost) - 1
    won, lost, scale = scale_to_integers(values)
    unit, steps = compute_coefficients(most, defenders, rules)
    powers = list_powers(unit, most + defenders)
    rows = {0: list(map(mul, won, powers))}
    for d in range(1, defenders + 1):
        dice = min(d, rules.defence.kept)
        row = rows[d] = [lost[d] * power for power in powers[d : d + min(fewest, most + 1)]]
        nearest = [rows[d - k] for k in range(dice + 1)]
        for a in range(fewest, most + 1):
            step = steps[min(a, rules.attack.kept), dice]
            first = a - len(step) + 1
            total = 0
            for k, c in enumerate(step):
                total += c * nearest[k][first + k]
            row.append(total)
        yield ExactRow(row, powers, scale, d)
        rows.pop(d - rules.defence.kept, None)


def compute_absorbing_states(
    able: dict[int, int], defenders: int, unit: int, steps: Steps, fewest: int = 1
) -> Iterator[tuple[State, int, int]]:
    """Yield the final states, as `UnitKernel.ends` does.

    able: the weight of each number of attackers, garrison excluded.
    defenders: armies on the defended territory.
    unit: U.
    steps: the coefficients of every possible roll.
    fewest: the fewest attackers that still roll.
    """
    top = max(able)
    most, most_defence = max(steps)
    start = [able[a] * unit ** (top - a) if a in able else 0 for a in range(top + 1)]
    rows = {defenders: start}
    for d in range(defenders, 0, -1):
        dice = min(d, most_defence)
        nearest = [rows.setdefault(d - k, [0] * len(start)) for k in range(dice + 1)]
        moves = [
            [(c, nearest[k], len(step) - 1 - k) for k, c in enumerate(step)]
            for step in (steps[i, dice] for i in range(1, most + 1))
        ]
        for a in range(top, fewest - 1, -1):
            weight = nearest[0][a]
            if weight:
                for c, row, attackers_lost in moves[a - 1 if a < most else -1]:
                    row[a - attackers_lost] += c * weight
        for a, x in enumerate(rows.pop(d)[:fewest]):
            yield State(a, d), x, top + defenders - a - d
    for a, x in enumerate(rows[0]):
        yield State(a, 0), x, top + defenders - a
