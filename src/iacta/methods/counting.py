"""Counting: exact odds, by counting weighted paths in whole numbers.

Let a be the attackers able to attack (the garrison left out) and d the defenders, and let a roll
with the dice of that state cost the attackers m − k and the defenders k armies in w_k of q equally
likely cases. Taking the last roll apart, the chance to win from (a, d) is

    P(a, d) = Σ_k  w_k / q · P(a − m + k, d − k),      P(a, 0) = 1,  P(0, d) = 0.

Each roll takes m armies. So let U be a whole number with q | U^m for the roll of every state
(432 for the classic rules: 7776 divides 432²), and write P(a, d) = N(a, d) / U^(a+d). Then

    N(a, d) = Σ_k  c_k · N(a − m + k, d − k),          c_k = w_k · U^m / q,

a recurrence in whole numbers with the few constant coefficients c_k: one denominator, and no
common divisor to look for on the way. `values` and `win_table` run it. `outcomes` runs its mirror
image: in

    X(a − m + k, d − k)  +=  c_k · X(a, d)

X(a, d) · U^(a+d), over one total, is the chance that the battle comes by the state (a, d).

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
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods.kernel import Error, RollKernel, State, Values
from iacta.methods.limits import OUTCOME_BYTES, refuse_dice_mode, refuse_gains, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.rules.roll import loss_law
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Counting",
    "ExactRow",
    "least_root",
    "outcomes",
    "refuse",
    "relative_error",
    "value_rows",
    "values",
    "win_probability",
    "win_table",
]

NAME: str = "counting"

Row = list[int]
Exact: TypeAlias = int | Fraction


class Coefficients(NamedTuple):
    """The recurrence's constants for one set of rules.

    unit: U; a state with n armies in all is counted in units of U^n.
    steps: (c_0, c_1 ... c_m) for each (attack dice, defence dice).
    """

    unit: int
    steps: dict[tuple[int, int], tuple[int, ...]]


def coefficients(able: int, defenders: int, rules: Rules) -> Coefficients:
    """Return the least U, and the coefficients c_k of every roll that such a battle may have.

    >>> from iacta.rules.rules import CLASSIC
    >>> coefficients(9, 9, CLASSIC).unit, coefficients(9, 9, CLASSIC).steps[3, 2]
    (432, (54600, 62664, 69360))
    """
    return _coefficients(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)


@lru_cache(maxsize=1024)
def _coefficients(attack_dice: int, defence_dice: int, rules: Rules) -> Coefficients:
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    if attack_dice > 0 and defence_dice > 0:
        loss_law(attack_dice, defence_dice, rules)  # the one to refuse, if any is, comes first
    laws = {
        (i, j): loss_law(i, j, rules)
        for i in range(1, attack_dice + 1)
        for j in range(1, defence_dice + 1)
    }
    unit = lcm(*(least_root(law.total // gcd(*law.counts), law.compared) for law in laws.values()))
    return Coefficients(
        unit,
        {
            dice: tuple(count * unit**law.compared // law.total for count in law.counts)
            for dice, law in laws.items()
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


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the exact law of the outcome of a battle.

    stack: the exact law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> outcomes(Distribution([3]), 1, CLASSIC)[Outcome(attackers=3, defenders=0)]
    Fraction(125, 216)
    """
    weights, _ = stack.weights()
    able = {n - rules.garrison: weight for n, weight in weights.items() if n > rules.garrison}
    if not able or not defenders:
        return stack.map(lambda attackers: Outcome(attackers, defenders))
    strongest = max(able)
    _refuse(strongest, defenders, rules, rows=1 + rules.defence.kept)
    powers = _powers(coefficients(strongest, defenders, rules).unit, strongest + defenders)
    start = [able.get(a, 0) * powers[strongest - a] for a in range(strongest + 1)]
    won, lost = _run(start, defenders, rules)
    law = {Outcome(a + rules.garrison, 0): x * powers[a] for a, x in enumerate(won)}
    law |= {Outcome(rules.garrison, d): x * powers[d] for d, x in lost.items()}
    for n, weight in weights.items():
        if n <= rules.garrison:  # too few to attack
            law[Outcome(n, defenders)] = law.get(Outcome(n, defenders), 0) + weight * powers[-1]
    return Distribution(law)


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


@dataclass(frozen=True)
class ExactRow:
    """The mean worths for one number of defenders, as fractions that are made when asked for.

    numerators: N(a, d) · scale for a = 0, 1, 2 ...
    powers: U^0, U^1, U^2 ...
    scale: what the worths were multiplied with to be whole numbers.
    defenders: d.
    garrison: armies that must stay behind.
    """

    numerators: Row
    powers: Row
    scale: int
    defenders: int
    garrison: int

    def worth(self, attackers: int) -> Fraction:
        """Return the mean worth for so many attackers, garrison included."""
        able = max(attackers - self.garrison, 0)
        return Fraction(self.numerators[able], self.scale * self.powers[able + self.defenders])

    def __getitem__(self, attackers: Any) -> Any:
        if isinstance(attackers, int):
            return self.worth(attackers)
        worths = {n: self.worth(n) for n in set(attackers.tolist())}
        return [worths[n] for n in attackers.tolist()]


def value_rows(won: Sequence[Exact], lost: Sequence[Exact], rules: Rules) -> Iterator[ExactRow]:
    """Yield the rows of 1, 2 ... defenders, as many as `lost` has entries for.

    won: `won[n]` is what it is worth that n armies can move in.
    lost: `lost[d]` is what it is worth that d defenders hold; `lost[0]` does not matter.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> [row.worth(3) for row in value_rows([1, 1, 1, 1], [0, 0, 0], CLASSIC)]
    [Fraction(1955, 2592), Fraction(235, 648)]
    """
    able, defenders = max(len(won) - 1 - rules.garrison, 0), len(lost) - 1
    _refuse(able, defenders, rules, rows=1 + rules.defence.kept)
    scale = lcm(*(Fraction(worth).denominator for worth in (*won, *lost)))
    powers = _powers(coefficients(able, defenders, rules).unit, able + defenders)
    scaled_won = [
        int(worth * scale) * power for worth, power in zip(won[: able + 1], powers, strict=False)
    ]
    scaled_lost = [int(worth * scale) * power for worth, power in zip(lost, powers, strict=False)]
    for d, row in enumerate(_value_rows(scaled_won, scaled_lost, defenders, rules), start=1):
        yield ExactRow(row, powers, scale, d, rules.garrison)


def values(
    won: Sequence[Exact], lost: Sequence[Exact], defenders: int, rules: Rules
) -> list[Fraction]:
    """Return the exact mean worth of a battle, for every number of attackers at once.

    won, lost: as for `value_rows`.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Entry `[n]` of the result, as long as `won`, is for n attackers, garrison included.

    >>> from iacta.rules.rules import CLASSIC
    >>> values([1, 1, 1, 1], [0, 0], 1, CLASSIC)[3]
    Fraction(1955, 2592)
    """
    *_, last = value_rows(won, lost[: defenders + 1], rules)
    return [last.worth(attackers) for attackers in range(len(won))]


def win_table(attackers: int, defenders: int, rules: Rules) -> npt.NDArray[np.object_]:
    """Return the exact chances to win of all battles up to a size, as an array of `Fraction`.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules: the rules of the battle.

    Entry `[a - 1, d - 1]` is for a attackers against d defenders.

    >>> from iacta.rules.rules import CLASSIC
    >>> win_table(3, 1, CLASSIC)[2, 0]
    Fraction(1955, 2592)
    """
    _refuse(attackers, defenders, rules, rows=3 * defenders)
    table = np.empty((attackers, defenders), dtype=object)
    rows = value_rows([1] * (attackers + 1), [0] * (defenders + 1), rules)
    for column, row in enumerate(rows):
        table[:, column] = [row.worth(a) for a in range(1, attackers + 1)]
    return table


def _value_rows(won: Row, lost: Row, defenders: int, rules: Rules) -> Iterator[Row]:
    """Yield N(0, d), N(1, d) ... for d = 1 .. defenders, from N(a, 0) and N(0, d)."""
    steps = coefficients(len(won) - 1, defenders, rules).steps
    rows = {0: won}
    for d in range(1, defenders + 1):
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


def _powers(unit: int, most: int) -> Row:
    return list(accumulate(repeat(unit, most), mul, initial=1))


def win_probability(attackers: int, defenders: int, rules: Rules) -> Fraction:
    """Return the exact chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> win_probability(3, 1, CLASSIC)
    Fraction(1955, 2592)
    """
    if not defenders:
        return Fraction(1)
    *_, last = value_rows([1] * (attackers + 1), [0] * (defenders + 1), rules)
    return last.worth(attackers)


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return 0: this method is exact.

    attackers, defenders, rules: the battle.
    """
    return 0.0


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that is too large for this method, before anything is made of its size.

    attackers: armies on the attacking territory, garrison included or not: it does not matter.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    _refuse(attackers, defenders, rules, rows=1 + rules.defence.kept)


def _refuse(able: int, defenders: int, rules: Rules, rows: int) -> None:
    """Refuse what is too large, given how many rows of numbers are held at once."""
    unit_bits = coefficients(able, defenders, rules).unit.bit_length()
    number_bytes = (able + defenders) * unit_bits // 8 + 50
    memory = (able + 1) * rows * number_bytes + (able + defenders) * (number_bytes + OUTCOME_BYTES)
    refuse_too_large(able, defenders, memory=memory, method=NAME, number_bytes=number_bytes)


class Counting(RollKernel):
    """The exact kernel, by one recurrence in whole numbers.

    >>> from iacta.rules.rules import CLASSIC
    >>> Counting(CLASSIC).win_probability(2, 1)
    Fraction(1955, 2592)
    """

    name = NAME
    exact = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that is too large, and modes that are not truly random."""
        refuse(attackers, defenders, self.rules)

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
        _refuse(most, defenders, self.rules, rows=1 + self.rules.defence.kept)
        powers = _powers(coefficients(most, defenders, self.rules).unit, most + defenders)
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
        return value_rows(won, lost, self.rules)

    def win_probability(self, attackers: int, defenders: int) -> Fraction:
        """Return the chance to take the territory."""
        if not defenders or attackers <= 0:
            return Fraction(not defenders)
        return win_probability(attackers, defenders, self.rules)
