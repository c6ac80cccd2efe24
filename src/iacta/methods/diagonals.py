"""Diagonals: the chances to win of all battles up to a size, m anti-diagonals at a time.

Let a be the attackers able to attack and d the defenders. While all dice of both sides are thrown,
a roll takes m armies and costs the defenders k of them with the constant chance p_k, so

    P(a, d) = Σ_k  p_k · P(a − m + k, d − k)

leads from the m anti-diagonals a + d = t − m .. t − 1 to the next m, by a product and a sum for
each k.

Only a band of them needs that. Where all P on the right are 1 but for a rounding, so is the left,
and where they are all below 1e-175, so is the left. So beyond the one end of the band all cells are
1, and beyond the other 0; each step widens the band by m cells, and now and then it is trimmed.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["chance_table"]

Floats: TypeAlias = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-175
CERTAIN = 1 - 2.0**-53
TRIMMED_EACH = 8  # steps
TRIMMED_AT_ONCE = 64  # attackers: the band grows by less from one time to the next


def chance_table(
    few_attackers: Floats, few_defenders: Floats, step: tuple[float, ...], before: int
) -> Floats:
    """Return the chances to win, given those of the battles in which not all dice are thrown.

    few_attackers: `few_attackers[a, d]` is the chance of a < i attackers able to attack against
        d = 0, 1, 2 ... defenders, where i are the attack dice.
    few_defenders: `few_defenders[d, a]` is the chance against d < j defenders, where j are the
        defence dice.
    step: p_0 .. p_m.
    before: columns of zeros to put before the first.

    Entry `[d, before + a]` of the result is for a attackers able to attack against d defenders.
    The last m − 1 rows are not filled.
    """
    i, j = len(few_attackers), len(few_defenders)
    defenders, attackers = few_attackers.shape[1] - 1, few_defenders.shape[1] - 1
    table = np.zeros((defenders + 1, before + attackers + 1))
    slope = _slope(step)
    for d in range(j, defenders + 1):  # the band is written upon these
        table[d, before + max(int(d * slope), i) :] = 1.0
    table[:, before : before + i] = few_attackers.T
    table[:j, before:] = few_defenders
    band = _Band(few_attackers, few_defenders, step, table)
    for total in range(0, attackers + defenders + 1, len(step) - 1):
        band.advance(total, middle=int(total * slope / (1 + slope)))
    return table


def _slope(step: tuple[float, ...]) -> float:
    """Return the attackers lost for each defender lost."""
    defenders = sum(k * p for k, p in enumerate(step))
    return min((len(step) - 1 - defenders) / max(defenders, 1e-9), 1e9)


def _length(needed: npt.NDArray[np.bool_]) -> int:
    """Return how many cells it takes to hold all that are needed."""
    return len(needed) - int(np.argmax(needed[::-1])) if needed.any() else 0


def _by_total(few_attackers: Floats, taken: int) -> Floats:
    """Return the cells with few attackers of each m anti-diagonals, in the order of a band."""
    i, count = few_attackers.shape
    blocks = -(-(count + i) // taken)
    cells = np.zeros((blocks, i, taken))
    for a in range(i):
        sheared = np.zeros(blocks * taken)
        sheared[a : a + count] = few_attackers[a]
        cells[:, a] = sheared.reshape(blocks, taken)
    return cells.reshape(blocks, i * taken)


class _Band:
    """The part of m anti-diagonals that is neither 0 nor 1.

    chances[(a + m) · m + r] is P(a, total + r − a), r = 0 .. m − 1: the anti-diagonals next to
    each other. It is 0 where a < `low`, and 1 where a >= `high`.
    """

    def __init__(
        self, few_attackers: Floats, few_defenders: Floats, step: tuple[float, ...], table: Floats
    ) -> None:
        self.few_defenders, self.step, self.table = few_defenders, step, table
        self.taken = len(step) - 1
        self.attack_dice, self.defence_dice = len(few_attackers), len(few_defenders)
        self.attackers, self.defenders = few_defenders.shape[1] - 1, few_attackers.shape[1] - 1
        self.few_attackers = _by_total(few_attackers, self.taken)
        # From these totals on, the cells with few dice on one side are all 0, or all 1.
        self.hopeless = _length(few_attackers.max(axis=0) >= NEGLIGIBLE) + self.attack_dice
        self.hopeful = _length(few_defenders.min(axis=0) < CERTAIN) + self.defence_dice
        self.chances = np.ones((self.attackers + 1 + self.taken) * self.taken)
        self.chances[: (self.taken + 1) * self.taken] = 0.0
        self.low, self.high = 0, 0
        self.sums, self.products = np.empty((2, len(self.chances)))

    def advance(self, total: int, middle: int) -> None:
        """Go on to the next anti-diagonals, and write them into the table.

        total: attackers able to attack and defenders together on the first of them.
        middle: a number of attackers that the band must hold.
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
            self._set_few_attackers(total)
        if total < self.hopeful:
            self._set_few_defenders(total)
        if first < end:
            self._write(total, max(first, self.low), min(end, self.high))
        if total // taken % TRIMMED_EACH == 0:
            self._trim(total, middle - taken, middle + 2 * taken)

    def _fill(self, first: int, end: int) -> None:
        """Apply the recurrence to all cells from the one to the other."""
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

    def _set_few_attackers(self, total: int) -> None:
        """Set the cells with fewer attackers than attack dice, which begin the anti-diagonals."""
        if total // self.taken < len(self.few_attackers):
            cells = self.few_attackers[total // self.taken]
            self.chances[self.taken * self.taken :][: len(cells)] = cells
        self.low = 0

    def _set_few_defenders(self, total: int) -> None:
        """Set the cells with fewer defenders than defence dice, which end the anti-diagonals."""
        for r in range(self.taken):
            for d in range(min(self.defence_dice, total + r + 1)):
                a = total + r - d
                if a <= self.attackers:
                    self.chances[(a + self.taken) * self.taken + r] = self.few_defenders[d, a]
        self.high = min(total + self.taken - 1, self.attackers) + 1

    def _trim(self, total: int, most: int, least: int) -> None:
        """Leave out what is as good as 0 and 1, but for the attackers most .. least − 1."""
        rows = self.chances.reshape(-1, self.taken)[self.taken :]
        if total >= self.hopeless and self.low < most:
            needed = rows[self.low : min(most, self.low + TRIMMED_AT_ONCE)].max(1) >= NEGLIGIBLE
            skipped = int(np.argmax(needed)) if needed.any() else len(needed)
            rows[self.low : self.low + skipped] = 0.0
            self.low += skipped
        if total >= self.hopeful and self.high > least:
            first = max(least, self.high - TRIMMED_AT_ONCE)
            needed = rows[first : self.high].min(1) < CERTAIN
            rows[first + _length(needed) : self.high] = 1.0
            self.high = first + _length(needed)

    def _write(self, total: int, first: int, end: int) -> None:
        """Write the attackers first .. end − 1 into the table."""
        width, size, taken = self.table.shape[1], self.table.itemsize, self.taken
        start = (total - first) * width + width - self.attackers - 1 + first
        # In a view along the anti-diagonals they lie as in the band.
        cells = np.ndarray(
            (end - first, taken),
            buffer=self.table,
            offset=start * size,
            strides=((1 - width) * size, width * size),
        )
        filled = self.chances[(first + taken) * taken : (end + taken) * taken]
        cells[:] = filled.reshape(-1, taken)
