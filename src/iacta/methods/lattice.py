"""Lattice: float64 odds, a whole row of states at a time.

The states (a, d), attackers able to attack and defenders, form a lattice. A row holds all a for
one d. Where all attack dice are thrown, a roll has constant chances p_0 .. p_m of costing the
defenders 0 .. m armies, and the attackers the rest, so the chance to win satisfies

    P(a, d) = p_0 · P(a − m, d)  +  Σ_{k≥1}  p_k · P(a − m + k, d − k).

The sum comes from rows already known. What is left is a recurrence within the row, the series
(1 + T + T² + ...) of its shift T = p_0·S^m. It is summed in few vector steps, because

    1 + T + T² + ... = (1 + T)(1 + T²)(1 + T⁴) ...

The few states where fewer attack dice are thrown are computed one by one. `values` and
`value_rows` run this from the end of the battle, `outcomes` runs it from the start, with the
shift the other way.

Error. There are only sums and products of numbers that are not negative, so errors are relative
and merely add up, at most u = 2⁻⁵³ for each rounding on the way from a state to the end.
`relative_error` counts them. (Probabilities below 1e-150 may lose
digits, or become 0.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods.diagonals import chance_table
from iacta.methods.kernel import Error, RollKernel, State, Transitions, Values
from iacta.methods.limits import OUTCOME_BYTES, refuse_dice_mode, refuse_gains, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.rules.roll import loss_law
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Lattice",
    "outcomes",
    "refuse",
    "relative_error",
    "run",
    "run_many",
    "steps_of",
    "value_rows",
    "values",
    "win_probability",
    "win_table",
]

NAME: str = "lattice"

Floats: TypeAlias = npt.NDArray[np.float64]
Steps: TypeAlias = dict[tuple[int, int], tuple[float, ...]]

UNIT_ROUNDOFF = 2.0**-53
NEGLIGIBLE = 1e-200


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of every number that this method gives for a battle.

    attackers: armies on the attacking territory, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    A battle has at most attackers + defenders rolls and comes by at most `defenders` rows. A roll
    costs two roundings, in its chance and its product. A row costs two for each of the vector
    steps of its series, and one for each of the terms that are added to a state. In a table made
    by anti-diagonals a roll costs two, one for each sum, and one for what counts as 1.

    >>> from iacta.rules.rules import CLASSIC
    >>> relative_error(100, 100, CLASSIC) < 1e-12
    True
    """
    most = min(rules.attack.kept, rules.defence.kept)
    terms = (rules.attack.kept + 1) * (most + 1)
    armies, row = attackers + defenders, 2 * attackers.bit_length() + terms
    by_rows = 2 * armies + defenders * row
    by_diagonals = (most + 3) * armies + min(defenders, rules.defence.kept) * row
    roundings = max(by_rows, by_diagonals)
    # A campaign weighs the law that one battle leaves before the next: eight roundings at most.
    return (roundings + 8) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u while n u < 0.001


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that is too large for this method, before anything is made of its size.

    attackers: armies on the attacking territory, garrison included or not: it does not matter.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    memory = 8 * (attackers + 1) * (1 + rules.defence.kept) + 8 * defenders
    refuse_too_large(attackers, defenders, memory=memory, method=NAME)


def steps_of(able: int, defenders: int, rules: Rules) -> Steps:
    """Return p_0 .. p_m for each (attack dice, defence dice) that such a battle may have.

    able: attackers able to attack, without the garrison.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> steps_of(1, 1, CLASSIC)
    {(1, 1): (0.5833333333333334, 0.4166666666666667)}
    """
    return _steps_of_dice(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)


@lru_cache(maxsize=1024)
def _steps_of_dice(attack_dice: int, defence_dice: int, rules: Rules) -> Steps:
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    steps = {}
    for i in range(1, attack_dice + 1):
        for j in range(1, defence_dice + 1):
            law = loss_law(i, j, rules)
            steps[i, j] = tuple(count / law.total for count in law.counts)  # nearest floats
    return steps


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the float law of the outcome of a battle.

    stack: the law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    The relative error of each probability is at most `relative_error` of the largest stack.

    >>> from iacta.rules.rules import CLASSIC
    >>> law = outcomes(Distribution([3]), 1, CLASSIC)
    >>> round(law[Outcome(attackers=3, defenders=0)], 6)
    0.578704
    """
    weights = {n: float(probability) for n, probability in stack.items()}
    strongest = max(weights) - rules.garrison
    if strongest <= 0 or not defenders:
        return stack.to_float().map(lambda attackers: Outcome(attackers, defenders))
    memory = (strongest + defenders) * OUTCOME_BYTES
    refuse_too_large(strongest, defenders, memory=memory, method=NAME)
    start = np.zeros(strongest + 1)
    law = {}
    for attackers, probability in weights.items():
        if attackers > rules.garrison:
            start[attackers - rules.garrison] = probability
        else:
            law[Outcome(attackers, defenders)] = probability
    won, lost = run(start, defenders, steps_of(strongest, defenders, rules))
    for a, p in enumerate(won.tolist()):
        law[Outcome(a + rules.garrison, 0)] = p
    for d, p in lost.items():
        law[Outcome(rules.garrison, d)] = law.get(Outcome(rules.garrison, d), 0.0) + p
    return Distribution.from_probabilities(law)


def win_probability(attackers: int, defenders: int, rules: Rules) -> float:
    """Return the chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Its relative error is at most `relative_error`.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(win_probability(3, 1, CLASSIC), 6)
    0.754244
    """
    if not defenders:
        return 1.0
    *_, last = value_rows(np.ones(attackers + 1), np.zeros(defenders + 1), rules)
    return min(float(last[attackers]), 1.0)


def values(
    won: Sequence[float] | Floats, lost: Sequence[float] | Floats, defenders: int, rules: Rules
) -> Floats:
    """Return the mean worth of a battle, for every number of attackers at once.

    won: `won[n]`, at least 0, is what it is worth that n armies can move in.
    lost: `lost[d]`, at least 0, is what it is worth that d defenders hold; `lost[0]` does not
        matter.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Entry `[n]` of the result, as long as `won`, is for n attackers, garrison included. Its
    relative error is at most `relative_error`, and that of `won` and `lost`.

    >>> from iacta.rules.rules import CLASSIC
    >>> values([1, 1, 1, 1], [0, 0], 1, CLASSIC).round(6).tolist()
    [0.0, 0.0, 0.416667, 0.754244]
    """
    *_, last = value_rows(won, lost[: defenders + 1], rules)
    return last


def win_table(attackers: int, defenders: int, rules: Rules) -> Floats:
    """Return the chances to win of all battles up to a size.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules: the rules of the battle.

    Entry `[a - 1, d - 1]` is for a attackers against d defenders; its relative error is at most
    `relative_error` of that battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> win_table(3, 1, CLASSIC).round(6).tolist()
    [[0.0], [0.416667], [0.754244]]
    """
    refuse_too_large(attackers, defenders, memory=8 * attackers * defenders, method=NAME)
    able, (i, j) = attackers - rules.garrison, rules.full_roll
    if able >= i and defenders >= j and able + defenders <= 2 * min(i, j) * defenders:
        return _table_by_diagonals(attackers, defenders, rules).T
    table = np.empty((defenders, attackers))
    rows = value_rows(np.ones(attackers + 1), np.zeros(defenders + 1), rules)
    for d, row in enumerate(rows):
        table[d] = np.minimum(row[1:], 1.0)
    return table.T


def _table_by_diagonals(attackers: int, defenders: int, rules: Rules) -> Floats:
    """Return the chances to win, `[defenders - 1, attackers - 1]`."""
    able, (i, j) = attackers - rules.garrison, rules.full_roll
    steps = steps_of(able, defenders, rules)
    few_attackers = _few_attackers(i, defenders + min(i, j) - 1, steps)
    few_defenders = np.ones((j, able + 1))
    few_defenders[:, 0] = 0.0
    few_rows = value_rows(np.ones(attackers + 1), np.zeros(j), rules)
    for few, row in zip(few_defenders[1:], few_rows, strict=True):
        few[:] = row[rules.garrison :]
    before = max(rules.garrison - 1, 0)
    table = chance_table(few_attackers, few_defenders, steps[i, j], before)
    return table[1 : defenders + 1, -attackers:]


def _few_attackers(attack_dice: int, defenders: int, steps: Steps) -> Floats:
    """Return the chances of 0 .. attack_dice − 1 attackers against 0 .. defenders."""
    most = max(defence_dice for _, defence_dice in steps)
    chances = np.zeros((attack_dice, defenders + 1))
    chances[1:, 0] = 1.0
    columns = [[float(a > 0) for a in range(attack_dice)]]
    for d in range(1, defenders + 1):
        dice = min(d, most)
        column = [0.0]
        nearest = [column, *columns[: -dice - 1 : -1]]
        for a in range(1, attack_dice):
            column.append(_mean(nearest, steps[a, dice], a))  # noqa: PERF401 # needs the last
        columns.append(column)
        if max(max(each) for each in columns[-most:]) < NEGLIGIBLE:
            break  # and so are all beyond
    chances[:, : len(columns)] = np.transpose(columns)
    return chances


def value_rows(
    won: Sequence[float] | Floats, lost: Sequence[float] | Floats, rules: Rules
) -> Iterator[Floats]:
    """Yield what `values` returns, for 1, 2 ... defenders, as many as `lost` has entries for.

    won, lost, rules: as for `values`.

    >>> from iacta.rules.rules import CLASSIC
    >>> [row.round(4).tolist() for row in value_rows([1, 1, 1], [0, 0, 0], CLASSIC)]
    [[0.0, 0.0, 0.4167], [0.0, 0.0, 0.1061]]
    """
    garrison = min(rules.garrison, len(won) - 1)
    able = len(won) - 1 - garrison
    refuse(able, len(lost), rules)
    steps, most = steps_of(able, len(lost) - 1, rules), rules.attack.kept
    rows = {0: np.array(won[: able + 1], dtype=float)}
    for d in range(1, len(lost)):
        dice = min(d, rules.defence.kept)
        worth = np.empty(len(won))
        worth[: garrison + 1] = lost[d]
        rows[d] = worth[garrison:]
        nearest = [rows[d - k] for k in range(dice + 1)]
        for a in range(1, min(most, able + 1)):
            rows[d][a] = _mean(nearest, steps[a, dice], a)
        if able >= most:
            _fill_full_dice(nearest, steps[most, dice], most)
        yield worth
        rows.pop(d - rules.defence.kept, None)


def _mean(nearest: Sequence[Floats | list[float]], step: tuple[float, ...], a: int) -> float:
    """Return Σ p_k · P(a − m + k, d − k), with the row of d − k in `nearest[k]`."""
    first = a - len(step) + 1
    return sum(p * float(nearest[k][first + k]) for k, p in enumerate(step))


def _fill_full_dice(nearest: list[Floats], step: tuple[float, ...], most: int) -> None:
    """Compute the states of a row in which all attack dice are thrown.

    nearest: the row, and those of 1, 2 ... defenders fewer.
    step: p_0 .. p_m.
    most: the attack dice.
    """
    row, taken = nearest[0], len(step) - 1
    first, count = most - taken, len(row) - most
    states = row[most:]
    states[:] = step[1] * nearest[1][first + 1 : first + 1 + count]
    for k in range(2, taken + 1):
        states += step[k] * nearest[k][first + k : first + k + count]
    states[:taken] += step[0] * row[first : first + min(taken, count)]
    _sum_series(states, step[0], taken)


def run(start: Floats, defenders: int, steps: Steps) -> tuple[Floats, dict[int, float]]:
    """Return the chances to end with a attackers, for every a, and with d defenders.

    start: the chance of each number of attackers able to attack, from 0 on; it is used up.
    defenders: armies on the defended territory.
    steps: p_0 .. p_m for each (attack dice, defence dice) that the battle may have.

    >>> won, lost = run(np.array([0.0, 1.0]), 1, {(1, 1): (0.25, 0.75)})
    >>> won.tolist(), lost
    ([0.0, 0.75], {1: 0.25})
    """
    won, lost = run_many(start, defenders, steps)
    return won, {d: float(chance) for d, chance in lost.items()}


def run_many(start: Floats, defenders: int, steps: Steps) -> tuple[Floats, dict[int, Floats]]:
    """Return the same as `run`, for many battles at once.

    start: `[a, n]`, the chance of a attackers in battle n; it is used up.
    defenders, steps: as for `run`.

    >>> won, lost = run_many(np.array([[0.0, 0.0], [1.0, 0.5]]), 1, {(1, 1): (0.25, 0.75)})
    >>> won.tolist(), lost[1].tolist()
    ([[0.0, 0.0], [0.75, 0.375]], [0.25, 0.125])
    """
    most, most_defence = (max(dice) for dice in zip(*steps, strict=True))
    rows = {defenders: start}
    lost = {}
    for d in range(defenders, 0, -1):
        dice = min(d, most_defence)
        nearest = [rows.setdefault(d - k, np.zeros(start.shape)) for k in range(dice + 1)]
        if len(start) > most:
            _leave_full_dice(nearest, steps[most, dice], most)
        for a in range(min(most, len(start)) - 1, 0, -1):
            _leave_state(nearest, steps[a, dice], a)
        lost[d] = rows.pop(d)[0]
    return rows[0], lost


def _leave_full_dice(nearest: list[Floats], step: tuple[float, ...], most: int) -> None:
    """Carry on the chances of the states of a row in which all attack dice are thrown."""
    row, taken = nearest[0], len(step) - 1
    states = row[most:]
    first, count = most - taken, len(states)
    _sum_series(states, step[0], -taken)
    row[first : first + min(taken, count)] += step[0] * states[:taken]
    for k in range(1, taken + 1):
        nearest[k][first + k : first + k + count] += step[k] * states


def _leave_state(nearest: list[Floats], step: tuple[float, ...], a: int) -> None:
    """Carry on the chance of one state by one roll."""
    chance = nearest[0][a]
    for k, p in enumerate(step):
        nearest[k][a - len(step) + 1 + k] += p * chance


def _sum_series(states: Floats, p: float, shift: int) -> None:
    """Multiply, in place, by 1 + T + T² + ..., where T moves by `shift` states and weighs by p."""
    while p > NEGLIGIBLE and abs(shift) < len(states):
        if shift > 0:
            states[shift:] += p * states[:-shift]
        else:
            states[:shift] += p * states[-shift:]
        p, shift = p * p, 2 * shift


class Lattice(RollKernel):
    """The kernel in floats, a whole row of states at a time.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(Lattice(CLASSIC).win_probability(2, 1), 6)
    0.754244
    """

    name = NAME

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that is too large, and modes that are not truly random."""
        refuse(attackers, defenders, self.rules)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return `relative_error`."""
        return Error(relative_error(attackers, defenders, self.rules))

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state."""
        weights = {a: float(probability) for a, probability in start.items()}
        most = max(weights)
        if most <= 0 or not defenders:
            return start.to_float().map(lambda attackers: State(attackers, defenders))
        memory = (most + defenders) * OUTCOME_BYTES
        refuse_too_large(most, defenders, memory=memory, method=NAME)
        vector = np.zeros(most + 1)
        states = {}
        for attackers, probability in weights.items():
            if attackers > 0:
                vector[attackers] = probability
            else:
                states[State(attackers, defenders)] = probability
        won, lost = run(vector, defenders, steps_of(most, defenders, self.rules))
        for a, probability in enumerate(won.tolist()):
            states[State(a, 0)] = probability
        for d, probability in lost.items():
            states[State(0, d)] = states.get(State(0, d), 0.0) + probability
        return Distribution.from_probabilities(states)

    def backward(self, values: Values) -> Iterator[Floats]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders."""
        return value_rows(values.won, values.lost, self.rules)

    def win_probability(self, attackers: int, defenders: int) -> float:
        """Return the chance to take the territory."""
        if not defenders or attackers <= 0:
            return float(not defenders)
        *_, last = value_rows(np.ones(attackers + 1), np.zeros(defenders + 1), self.rules)
        return min(float(last[attackers]), 1.0)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Floats:
        """Return the chances to win all battles up to a size."""
        return win_table(staying + attackers, defenders, replace(self.rules, garrison=staying))

    def transitions(self, attackers: int, defenders: int) -> Transitions:
        """Return how battles of up to so many attackers are absorbed."""
        self.refuse(attackers * attackers, defenders)
        steps = steps_of(attackers, defenders, self.rules)
        won, lost = run_many(np.eye(attackers + 1), defenders, steps)
        ends = np.zeros((attackers + 1, defenders + 1))
        for left, chances in lost.items():
            ends[:, left] = chances
        won[0] = 0.0
        return Transitions(np.ascontiguousarray(won.T), ends)
