"""Lattice: odds in floats, computed for a whole row or anti-diagonal of states at a time.

The states (a, d) of a attackers (garrison excluded) and d defenders form a lattice. If all attack
dice are rolled, the defenders lose 0 .. m armies with constant probabilities p_0 .. p_m, and the
attackers lose the rest of m armies. The chance to win satisfies

    P(a, d) = p_0 · P(a − m, d)  +  Σ_{k≥1}  p_k · P(a − m + k, d − k).

By rows. A row contains all a for one d. The sum comes from previous rows. The first term is a
recurrence within the row, equivalent to the series (1 + T + T² + ...) of T = p_0·S^m, where S
shifts the row by one attacker. It takes few vector steps, because

    1 + T + T² + ... = (1 + T)(1 + T²)(1 + T⁴) ...

The few states with fewer attack dice are computed one by one. The backward pass starts at the end
of the battle, the forward pass at its beginning with the opposite shift.

By anti-diagonals. As long as all dice of both sides are rolled, the m anti-diagonals a + d = t − m
.. t − 1 give the next m, by a product and a sum for each k. This is the fastest way to fill a
table. Only a band of each anti-diagonal has to be computed. If all P on the right-hand side are 1
within rounding, so is the left-hand side; if they are all below 1e-175, it is taken as 0. All cells
beyond one end of the band are therefore 1, and all beyond the other end are 0. Each step widens the
band by m cells, and the band is trimmed at intervals.

Error. The computation contains only sums and products of non-negative numbers. Relative errors
therefore add up, by at most u = 2⁻⁵³ for each rounding between a state and the end. `Lattice.error`
counts the roundings. (Probabilities below 1e-150 may lose digits, or become 0.)
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.counting import Ends, UnitKernel
from iacta.methods.diagonals import view_diagonals
from iacta.methods.kernel import (
    OUTCOME_BYTES,
    UNIT_ROUNDOFF,
    Error,
    Floats,
    RollKernel,
    State,
    Transitions,
    Values,
)
from iacta.rules.roll import loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules

Steps: TypeAlias = dict[tuple[int, int], tuple[float, ...]]

NEGLIGIBLE_CELL = 1e-200
CELLS_PER_ROW = 3000  # overhead of a row, in cells

MIN_LATTICE_CHANCE = 1e-175  # smallest chance that a table by anti-diagonals distinguishes from 0
CERTAIN = 1 - UNIT_ROUNDOFF
TRIM_INTERVAL = 8  # number of steps between two trims of the band
TRIM_WIDTH = 64  # upper bound on the attackers by which the band grows between two trims


class Lattice(UnitKernel, RollKernel):
    """A kernel in floats that computes a whole row or anti-diagonal of states at a time.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(Lattice(CLASSIC).win_probability(2, 1), 6)
    0.754244
    """

    name = "lattice"
    quick_states = 1e8
    is_vectorised = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `TooLargeError` for a battle with too many states."""
        self._refuse(attackers, defenders)

    def _refuse(
        self, attackers: int, defenders: int, *, memory: int = 0, battle_count: int = 1
    ) -> None:
        """Raise `TooLargeError` for a battle that takes too much time or memory.

        memory: the memory needed besides the rows, in bytes.
        battle_count: the number of battles to solve at the same time.
        """
        rows = 8 * battle_count * (attackers + 1) * (1 + self.rules.defence.kept) + 8 * defenders
        states = defenders * (battle_count * attackers + CELLS_PER_ROW)
        self.refuse_too_large(attackers, defenders, memory=rows + memory, states=states)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a bound on the relative error, from the number of roundings.

        A battle has at most attackers + defenders rolls and visits at most `defenders` rows. A roll
        has two roundings, in its probability and its product. A row has two roundings for each
        vector step of its series, and a rounding for each term of a sum. In a table by
        anti-diagonals a roll has two roundings, a rounding for each sum, and a rounding for chances
        that count as 1.
        """
        attack, defence = self.rules.full_roll
        most = min(attack, defence)
        armies = attackers + defenders
        row = 2 * attackers.bit_length() + (attack + 1) * (most + 1)
        by_rows = 2 * armies + defenders * row
        by_diagonals = (most + 3) * armies + min(defenders, defence) * row
        # A campaign adds at most eight roundings between two battles.
        roundings = max(by_rows, by_diagonals) + 8
        return Error(roundings * UNIT_ROUNDOFF * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def ends(self, able: dict[int, float], defenders: int) -> Ends:
        most = max(able)
        self._refuse(most, defenders, memory=(most + defenders) * OUTCOME_BYTES)
        return 1, compute_absorbing_states(
            able, defenders, compute_steps(most, defenders, self.rules)
        )

    def run_backward(self, values: Values) -> Iterator[Floats]:
        self.refuse(len(values.won) - 1, len(values.lost))
        yield from run_backward(values, self.rules)

    def win_probability(self, attackers: int, defenders: int) -> float:
        if not defenders or attackers <= 0:
            return float(not defenders)
        self.refuse(attackers, defenders)
        values = Values(np.ones(attackers + 1), np.zeros(defenders + 1))
        return min(float(self.value(values, defenders)[attackers]), 1.0)

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Floats:
        """Return the chances to win for all battles up to a size, by the faster algorithm."""
        self._refuse(attackers, defenders, memory=8 * (staying + attackers) * defenders)
        i, j = self.rules.full_roll
        if attackers >= i and defenders >= j and attackers + defenders <= 2 * min(i, j) * defenders:
            return self._fill_by_diagonals(attackers, defenders, staying).T
        table = np.zeros((defenders, staying + attackers))
        rows = self.run_backward(Values(np.ones(attackers + 1), np.zeros(defenders + 1)))
        for d, row in enumerate(rows):
            table[d, staying:] = np.minimum(row[1:], 1.0)
        return table.T

    def _fill_by_diagonals(self, attackers: int, defenders: int, staying: int) -> Floats:
        """Compute the chances to win by anti-diagonals.

        Entry `[d - 1, staying + a - 1]` is for a attackers against d defenders.
        """
        i, j = self.rules.full_roll
        steps = compute_steps(attackers, defenders, self.rules)
        few_attackers = _solve_few_attackers(i, defenders + min(i, j) - 1, steps)
        few_defenders = np.ones((j, attackers + 1))
        few_defenders[:, 0] = 0.0
        few_rows = self.run_backward(Values(np.ones(attackers + 1), np.zeros(j)))
        for few, row in zip(few_defenders[1:], few_rows, strict=True):
            few[:] = row
        before = max(staying - 1, 0)
        table = _build_chance_table(few_attackers, few_defenders, steps[i, j], before)
        return table[1 : defenders + 1, table.shape[1] - staying - attackers :]

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        """Return the probabilities of all ends, for all starts at once."""
        self._refuse(attackers, defenders, battle_count=attackers + 1)
        steps = compute_steps(attackers, defenders, self.rules)
        starts = np.eye(attackers + 1)[:, min_attackers:].copy()
        left, held = run_forward(starts, defenders, steps)
        won, lost = np.zeros((attackers + 1,) * 2), np.zeros((attackers + 1, defenders + 1))
        won[min_attackers:, 1:] = left[1:].T
        for d, probabilities in held.items():
            lost[min_attackers:, d] = probabilities[0]
        return Transitions(won, lost)


def compute_steps(attackers: int, defenders: int, rules: Rules) -> Steps:
    """For each (attack dice, defence dice), return the chances p_0 .. p_m to kill 0 .. m defenders.

    >>> from iacta.rules.rules import CLASSIC
    >>> compute_steps(1, 1, CLASSIC)
    {(1, 1): (0.5833333333333334, 0.4166666666666667)}
    """
    attack, defence = rules.full_roll
    return _compute_dice_steps(min(attackers, attack), min(defenders, defence), rules)


@lru_cache(maxsize=1024)
def _compute_dice_steps(attack_dice: int, defence_dice: int, rules: Rules) -> Steps:
    refuse_many_rolls(attack_dice, defence_dice, rules)
    steps = {}
    for i in range(1, attack_dice + 1):
        for j in range(1, defence_dice + 1):
            losses = loss_counts(i, j, rules)
            steps[i, j] = tuple(count / losses.total for count in losses.counts)  # nearest floats
    return steps


def _solve_few_attackers(attack_dice: int, defenders: int, steps: Steps) -> Floats:
    """Return the chances of 0 .. attack_dice − 1 attackers to beat 0 .. `defenders` defenders."""
    most = max(defence_dice for _, defence_dice in steps)
    chances = np.zeros((attack_dice, defenders + 1))
    chances[1:, 0] = 1.0
    columns = [[float(a > 0) for a in range(attack_dice)]]
    for d in range(1, defenders + 1):
        dice = min(d, most)
        column = [0.0]
        nearest = [column, *columns[: -dice - 1 : -1]]
        for a in range(1, attack_dice):
            column.append(_average_nearest(nearest, steps[a, dice], a))  # noqa: PERF401 # the last entry is an input
        columns.append(column)
        if max(max(each) for each in columns[-most:]) < NEGLIGIBLE_CELL:
            break  # all further chances are negligible and stay 0
    chances[:, : len(columns)] = np.transpose(columns)
    return chances


def _average_nearest(
    nearest: Sequence[Floats | list[float]], step: tuple[float, ...], a: int
) -> Any:
    """Return Σ_k p_k · P(a − m + k, d − k).

    nearest: `nearest[k]` is the row of P for d − k defenders.
    step: p_0 .. p_m.
    """
    first = a - len(step) + 1
    return sum(p * nearest[k][first + k] for k, p in enumerate(step))


def _fill_states_with_full_dice(
    row: Floats, rows_below: Sequence[Floats], kill_chances: tuple[float, ...], fewest: int
) -> None:
    """Compute the states of a row in which all attack dice are rolled.

    row: the row to fill.
    rows_below: the rows for 1, 2 ... fewer defenders.
    kill_chances: the chances p_0 .. p_m to kill 0 .. m defenders.
    fewest: the fewest attackers in these states. The entries below must already be filled.
    """
    taken = len(kill_chances) - 1
    first, count = fewest - taken, len(row) - fewest
    states = row[fewest:]
    states[:] = kill_chances[1] * rows_below[0][first + 1 : first + 1 + count]
    for k in range(2, taken + 1):
        states += kill_chances[k] * rows_below[k - 1][first + k : first + k + count]
    states[:taken] += kill_chances[0] * row[first : first + min(taken, count)]
    _sum_series(states, kill_chances[0], taken)


def run_backward(values: Values, rules: Rules, fewest: int = 1) -> Iterator[Floats]:
    """Yield the expected values, as `Kernel.run_backward` does.

    values: the value function.
    rules: the rules of the battles.
    fewest: the fewest attackers that still roll.
    """
    won, lost = values.won, values.lost
    most, most_defence = rules.full_roll
    steps = compute_steps(len(won) - 1, len(lost) - 1, rules)
    rows = {0: np.array(won, dtype=float)}
    for d in range(1, len(lost)):
        dice = min(d, most_defence)
        row = rows[d] = np.empty(rows[d - 1].shape)
        row[:fewest] = lost[d]
        nearest = [rows[d - k] for k in range(dice + 1)]
        for a in range(fewest, min(most, len(won))):
            row[a] = _average_nearest(nearest, steps[a, dice], a)
        if len(won) > max(most, fewest):
            _fill_states_with_full_dice(row, nearest[1:], steps[most, dice], max(most, fewest))
        yield row
        rows.pop(d - most_defence, None)


def compute_absorbing_states(
    able: dict[int, float], defenders: int, steps: Steps, fewest: int = 1
) -> Iterator[tuple[State, float, int]]:
    """Yield the final states, as `UnitKernel.ends` does.

    able: the probability of each number of attackers, garrison excluded.
    defenders, steps, fewest: as for `run_forward`.
    """
    top = max(able)
    start = np.zeros(top + 1)
    start[list(able)] = list(able.values())
    won, held = run_forward(start, defenders, steps, fewest)
    for d, row in {0: won, **held}.items():
        for a, p in enumerate(row.tolist()):
            yield State(a, d), p, top + defenders - a - d


def run_forward(
    start: Floats, defenders: int, steps: Steps, fewest: int = 1
) -> tuple[Floats, dict[int, Floats]]:
    """Return the distribution of the armies left, given a distribution of the attackers.

    start: `start[a]` is the probability of a = 0, 1 ... attackers, or `start[a, n]` in the n-th of
        several battles. The array is overwritten.
    defenders: armies on the defended territory.
    steps: p_0 .. p_m for each possible (attack dice, defence dice).
    fewest: the fewest attackers that still roll, at most the number of attack dice plus one.

    Return `won, held`: `won[a]` is the probability of a victory with a attackers left, and
    `held[d][a]` that of d defenders left against a = 0 .. fewest − 1 attackers.

    >>> won, held = run_forward(np.array([0.0, 1.0]), 1, {(1, 1): (0.25, 0.75)})
    >>> won.tolist(), held[1].tolist()
    ([0.0, 0.75], [0.25])
    """
    most, most_defence = (max(dice) for dice in zip(*steps, strict=True))
    rows = {defenders: start}
    held = {}
    for d in range(defenders, 0, -1):
        dice = min(d, most_defence)
        nearest = [rows.setdefault(d - k, np.zeros(start.shape)) for k in range(dice + 1)]
        if len(start) > most >= fewest:
            _carry_full_dice_forward(nearest, steps[most, dice], most)
        for a in range(min(most, len(start)) - 1, fewest - 1, -1):
            _carry_state_forward(nearest, steps[a, dice], a)
        held[d] = rows.pop(d)[:fewest].copy()  # a view would keep the whole row in memory
    return rows[0], held


def _carry_full_dice_forward(nearest: list[Floats], step: tuple[float, ...], maximum: int) -> None:
    """Carry the probabilities of a row forward out of the states that roll all attack dice."""
    row, taken = nearest[0], len(step) - 1
    states = row[maximum:]
    first, count = maximum - taken, len(states)
    _sum_series(states, step[0], -taken)
    row[first : first + min(taken, count)] += step[0] * states[:taken]
    for k in range(1, taken + 1):
        nearest[k][first + k : first + k + count] += step[k] * states


def _carry_state_forward(nearest: list[Floats], step: tuple[float, ...], a: int) -> None:
    chance = nearest[0][a]
    for k, p in enumerate(step):
        nearest[k][a - len(step) + 1 + k] += p * chance


def _sum_series(states: Floats, p: float, shift: int) -> None:
    """Multiply in place by 1 + T + T² + ..., where T shifts by `shift` states and scales by p."""
    while p > NEGLIGIBLE_CELL and abs(shift) < len(states):
        if shift > 0:
            states[shift:] += p * states[:-shift]
        else:
            states[:shift] += p * states[-shift:]
        p, shift = p * p, 2 * shift


def _build_chance_table(
    few_attackers: Floats, few_defenders: Floats, step: tuple[float, ...], before: int
) -> Floats:
    """Complete a table of the chances to win, given battles with too few armies for all dice.

    few_attackers: `few_attackers[a, d]` is the chance of a < i attackers against d = 0, 1, 2 ...
        defenders, where i is the number of attack dice.
    few_defenders: `few_defenders[d, a]` is the chance against d < j defenders, where j is the
        number of defence dice.
    step: p_0 .. p_m.
    before: the number of initial columns of zeros.

    Entry `[d, before + a]` of the result is for a attackers against d defenders. The last m − 1
    rows are not filled.
    """
    i, j = len(few_attackers), len(few_defenders)
    defenders, attackers = few_attackers.shape[1] - 1, few_defenders.shape[1] - 1
    table = np.zeros((defenders + 1, before + attackers + 1))
    slope = _compute_slope(step)
    for d in range(j, defenders + 1):  # the band overwrites these entries
        table[d, before + max(int(d * slope), i) :] = 1.0
    table[:, before : before + i] = few_attackers.T
    table[:j, before:] = few_defenders
    band = _Band(few_attackers, few_defenders, step, table[:, before:])
    for total in range(0, attackers + defenders + 1, len(step) - 1):
        band.advance(total, middle=int(total * slope / (1 + slope)))
    return table


def _compute_slope(step: tuple[float, ...]) -> float:
    defenders = sum(k * p for k, p in enumerate(step))
    return min((len(step) - 1 - defenders) / max(defenders, 1e-9), 1e9)


def _count_needed(needed: npt.NDArray[np.bool_]) -> int:
    """Return the number of cells up to the last needed cell."""
    return len(needed) - int(np.argmax(needed[::-1])) if needed.any() else 0


class _Band:
    """The range of attackers, on m consecutive anti-diagonals, whose chances are neither 0 nor 1.

    chances[(a + m) · m + r] is P(a, total + r − a) on anti-diagonal r = 0 .. m − 1. It is 0 for
    a < `low`, and 1 for a >= `high`.
    """

    def __init__(
        self, few_attackers: Floats, few_defenders: Floats, step: tuple[float, ...], table: Floats
    ) -> None:
        self.few_attackers, self.few_defenders = few_attackers, few_defenders
        self.step, self.diagonals = step, view_diagonals(table)
        self.taken = len(step) - 1
        self.attack_dice, self.defence_dice = len(few_attackers), len(few_defenders)
        self.attackers, self.defenders = few_defenders.shape[1] - 1, few_attackers.shape[1] - 1
        # With this many armies in total, a side with too few armies for all its dice always loses.
        self.hopeless = (
            _count_needed(few_attackers.max(axis=0) >= MIN_LATTICE_CHANCE) + self.attack_dice
        )
        # The recurrence gives 1 for few defenders only if it averages certain chances.
        certain_from = _count_needed(few_defenders.min(axis=0) < CERTAIN)
        self.hopeful = certain_from + self.taken + self.defence_dice
        self.chances = np.ones((self.attackers + 1 + self.taken) * self.taken)
        self.chances[: (self.taken + 1) * self.taken] = 0.0
        self.low, self.high = 0, 0
        self.sums, self.products = np.empty((2, len(self.chances)))

    def advance(self, total: int, middle: int) -> None:
        """Advance to the next anti-diagonals and write them into the table.

        total: the number of armies, able attackers and defenders, on the first new anti-diagonal.
        middle: a number of attackers that the band must contain.
        """
        taken, low, high = self.taken, self.low, self.high
        first = max(low, self.attack_dice, total + taken - 1 - self.defenders)
        end = min(high + taken, self.attackers + 1, total + taken - self.defence_dice)
        if first < end:
            self._fill(first * taken, end * taken)
        if low < first:
            self.chances[(low + taken) * taken : (first + taken) * taken] = 0.0
        if end < high + taken:
            self.chances[(max(end, 0) + taken) * taken : (high + 2 * taken) * taken] = 1.0
        self.low, self.high = first, end
        if total < self.hopeless:
            self._fill_few_attackers(total)
        if total < self.hopeful:
            self._fill_few_defenders(total)
        if first < end:
            self._write(total, max(first, self.low), min(end, self.high))
        if total // taken % TRIM_INTERVAL == 0:
            self._trim(total, middle - taken, middle + 2 * taken)

    def _fill(self, first: int, end: int) -> None:
        taken, chances = self.taken, self.chances
        sums, products = self.sums[: end - first], self.products[: end - first]
        np.multiply(chances[first:end], self.step[0], sums)
        for k in range(1, taken):
            np.multiply(chances[first + k * taken : end + k * taken], self.step[k], products)
            np.add(sums, products, sums)
        filled = chances[first + taken * taken : end + taken * taken]
        np.multiply(filled, self.step[taken], products)
        np.add(sums, products, filled)
        np.minimum(filled, 1.0, out=filled)

    def _fill_few_attackers(self, first_total: int) -> None:
        for r in range(self.taken):
            for a in range(min(self.attack_dice, first_total + r + 1)):
                if first_total + r - a <= self.defenders:
                    self.chances[(a + self.taken) * self.taken + r] = self.few_attackers[
                        a, first_total + r - a
                    ]
        self.low = 0

    def _fill_few_defenders(self, first_total: int) -> None:
        for r in range(self.taken):
            for d in range(min(self.defence_dice, first_total + r + 1)):
                if first_total + r - d <= self.attackers:
                    self.chances[(first_total + r - d + self.taken) * self.taken + r] = (
                        self.few_defenders[d, first_total + r - d]
                    )
        self.high = min(first_total + self.taken - 1, self.attackers) + 1

    def _trim(self, total: int, maximum: int, minimum: int) -> None:
        """Trim cells equal to 0 or 1 off the band, but keep most .. least − 1 attackers."""
        rows = self.chances.reshape(-1, self.taken)[self.taken :]
        if total >= self.hopeless and self.low < maximum:
            needed = (
                rows[self.low : min(maximum, self.low + TRIM_WIDTH)].max(1) >= MIN_LATTICE_CHANCE
            )
            skipped = int(np.argmax(needed)) if needed.any() else len(needed)
            rows[self.low : self.low + skipped] = 0.0
            self.low += skipped
        if total >= self.hopeful and self.high > minimum:
            first = max(minimum, self.high - TRIM_WIDTH)
            needed = rows[first : self.high].min(1) < CERTAIN
            rows[first + _count_needed(needed) : self.high] = 1.0
            self.high = first + _count_needed(needed)

    def _write(self, total: int, first: int, end: int) -> None:
        cells = self.chances[(first + self.taken) * self.taken : (end + self.taken) * self.taken]
        for r, filled in enumerate(cells.reshape(-1, self.taken)[::-1].T):
            self.diagonals[total + r, total + r - end + 1 : total + r - first + 1] = filled
