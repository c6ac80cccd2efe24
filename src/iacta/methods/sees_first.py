"""Sees first: the defender chooses the number of dice after seeing the attack roll.

Let a be the number of attackers excluding the garrison and d the number of defenders. The i attack
dice show y with the probability P(y). Then the defender chooses j dice, and loses k armies with the
probability p_k(j | y). The defender minimises the attackers' chance to win, which is

    P(a, d) = Σ_y min_j Σ_k  c_k(j, y) · P(a − m + k, d − k),    c_k(j, y) = P(y) · p_k(j | y),

with m = min(i, j), P(a, 0) = 1 and P(0, d) = 0. The chance to hold, H = 1 − P, is the same
sum with the maximum in place of the minimum. The reply to y is the j of this minimum, or of equally
good replies the one with the most dice. This choice affects the distribution of the armies left,
but never P. In a campaign each defender considers only their own territory.

If the defender throws one die first, y stands for the attack roll together with the first defence
die, and j is 1 or 2.

A defender who minimises losses chooses the j that minimises Σ_k c_k(j, y) · (k + L), with the L of
the next state. The sum over y is L(a, d), the expected number of defenders lost.

Given the replies, a battle is a Markov chain: `AllBattles.compute_values` runs it backward, and
`AllBattles.run_forward` runs it forward. States with a + d = t armies depend only on states with
fewer, so a whole anti-diagonal is computed at once. Throws with the same distributions of losses
are merged into one y: the 56 throws of three dice become 21.

Fractions are represented by whole numbers. With a U that makes all c_k(j, y) · U^m whole,
P(a, d) · U^(a+d) and the other sums are whole numbers. U is 1296 for the classic rules, and 1 for
floats.

Error. In floats there are only sums and products of non-negative numbers, and minima and maxima,
which preserve a relative error. A roll has a rounding in its chance, a rounding in its product, and
the roundings of its sums; sums over throws are pairwise (`AllBattles.error`). Replies
whose values differ by less than this error count as equally good. The smaller of P and H decides
between replies, because it has the better precision. If it is below 1e-290, all replies count as
equally good. With the classic dice and up to 60 armies on each side, this rule never merges
different replies and never changes the distribution (`tests/methods/test_sees_first.py`).

Source: players of the board game have published this variant, but not its odds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from iacta.methods.counting import (
    Ends,
    ExactRow,
    UnitKernel,
    compute_least_root,
    list_powers,
    scale_to_integers,
)
from iacta.methods.diagonals import Numbers, Span, iterate_spans, view_diagonals
from iacta.methods.kernel import (
    OUTCOME_BYTES,
    UNIT_ROUNDOFF,
    Chances,
    Choice,
    Error,
    Find,
    Kernel,
    State,
    Throw,
    Transitions,
    Values,
    list_choices,
    list_results,
    make_table,
    refuse_too_large,
)
from iacta.probability.distribution import Probability
from iacta.rules.modes import DefenderSeesFirst, OneDieFirst
from iacta.rules.roll import count_losses_by_throw, refuse_many_rolls
from iacta.rules.rules import Rules

SEES_FIRST: str = "sees_first"
SEES_FIRST_EXACT: str = "sees_first_exact"

Aim = Literal["conquest", "losses"]

MIN_COMPARABLE = 1e-290  # minimum value that is precise enough for comparing replies
TABLES = 3  # number of tables: P, H and the requested table


class SeesFirst(UnitKernel):
    """The kernel for battles in which the defender sees the attack roll first.

    exact: whether the results are fractions.

    >>> from iacta.probability.distribution import Distribution
    >>> rules = Rules(mode=DefenderSeesFirst())
    >>> round(SeesFirst(rules, exact=False).win_probability(10, 10), 4)
    0.4529
    >>> exact = SeesFirst(rules, exact=True)
    >>> exact.win_probability(2, 1)
    Fraction(1955, 2592)
    >>> exact.run_forward(Distribution([2]), 2)[State(attackers=2, defenders=0)]
    Fraction(2375, 11664)
    """

    modes = (DefenderSeesFirst, OneDieFirst)
    is_vectorised = True

    def __init__(self, rules: Rules, *, exact: bool) -> None:
        self.exact, self.name = exact, SEES_FIRST_EXACT if exact else SEES_FIRST
        self.quick_states = 20_000 if exact else 1e6
        super().__init__(rules)

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        return cls(rules, exact=exact)

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the rolls that the attacker may choose; the defender then chooses a reply."""
        return list_choices(
            self.rules, able, defenders, able if spare is None else spare, _list_throws
        )

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` if the battle is too large, or if replies change the attack dice."""
        refuse_many_rolls(*self.rules.full_roll, self.rules)
        throws = len(count_losses_by_throw(*self.rules.full_roll, self.rules))
        number_bytes = 8
        if self.exact:
            number_bytes = (attackers + defenders) * compute_unit(self.rules).bit_length() // 8 + 50
        work = self.rules.defence.kept * throws * number_bytes
        memory = TABLES * (attackers + 1) * (defenders + 1) * number_bytes
        memory += (attackers + defenders) * (work + OUTCOME_BYTES)
        self.refuse_too_large(attackers, defenders, memory=memory, number_bytes=work)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a bound on the relative error, given the replies."""
        return Error(AllBattles(attackers, defenders, self.rules, self.exact).error)

    def _solve_battles(self, attackers: int, defenders: int, aim: Aim = "conquest") -> "AllBattles":
        self.refuse(attackers, defenders)
        return AllBattles(attackers, defenders, self.rules, self.exact, aim)

    def chance(self, attackers: int, defenders: int, aim: Aim) -> float:
        """Return the chance to win against a defender with the given aim, as a float."""
        return float(self._solve_battles(attackers, defenders, aim).conquest_table[-1, -1])

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        if attackers <= 0 or not defenders:
            return self.number(not defenders)
        battles = self._solve_battles(attackers, defenders)
        return battles.probability(battles.conquest_table)

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        if min_survivors or attackers <= 0 or not defenders:
            return super().chances(attackers, defenders, min_survivors)
        battles = self._solve_battles(attackers, defenders)
        won = battles.probability(battles.conquest_table)
        if self.exact or won <= 0.5:
            return Chances(won, 1 - won)
        lost = battles.probability(battles.hold_table)
        return Chances(1 - lost, lost)

    def ends(self, able: dict[int, Any], defenders: int) -> Ends:
        most = max(able)
        battles = self._solve_battles(most, defenders)
        start: Numbers = np.zeros(most + 1, battles.kind)
        for a, weight in able.items():
            start[a] = weight * battles.unit ** (most - a)
        won, held = (each.tolist() for each in battles.run_forward(start))
        found = [(State(a, 0), x) for a, x in enumerate(won)]
        found += [(State(0, d), x) for d, x in enumerate(held)]
        return battles.unit, ((end, x, most + defenders - sum(end)) for end, x in found)

    def run_backward(self, values: Values) -> Iterator[Any]:
        """Yield rows of expected values against a defender who minimises the chance to win."""
        *sides, scale = scale_to_integers(values) if self.exact else (*values, 1)
        won, lost = (np.asarray(side, object if self.exact else float) for side in sides)
        battles = self._solve_battles(len(won) - 1, len(lost) - 1)
        if battles.able and (won == 1).all() and not lost.any():
            table = battles.conquest_table
        elif battles.able and not won.any() and (lost[1:] == 1).all():
            table = battles.hold_table
        else:
            table = battles.compute_values(won, lost)
        powers = battles.powers.tolist()
        for d, row in enumerate(table[1:], start=1):
            yield ExactRow(row.tolist(), powers, scale, d) if self.exact else row

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        if self.exact or not attackers:
            return super().compute_transitions(attackers, defenders, min_attackers)
        memory = 8 * (attackers + 1) ** 2 * (defenders + 1)
        refuse_too_large(attackers, defenders, memory=memory, method=self.name)
        start = np.eye(attackers + 1)
        start[0, 0] = 0.0
        won, lost = self._solve_battles(attackers, defenders).run_forward(start)
        won[0], lost[0] = 0.0, 0.0
        lost[defenders, 0] = 1.0
        return Transitions(np.ascontiguousarray(won.T), np.ascontiguousarray(lost.T))

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        battles = self._solve_battles(attackers, defenders)
        moves: dict[tuple[int, int], Numbers] = {}
        for span in battles.iterate_spans():
            for move in battles.compute_moves(span):
                taken = len(move) - 1
                for k, chance in enumerate(move):
                    table = moves.setdefault(
                        (taken - k, k), make_table((attackers, defenders), exact=self.exact)
                    )
                    here = span.view(view_diagonals(table))
                    here += chance * self.number(1) / battles.unit**taken
        return moves

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows.

        It is 0 if, for some number of defenders, every throw has a reply that costs no army.
        Otherwise every roll may cost armies, all defenders are lost in the end, and the limit is 1.
        """
        for most_dice in range(1, min(defenders, self.rules.defence.kept) + 1):
            losses = count_losses_by_throw(self.rules.attack.kept, most_dice, self.rules)
            if all(any(not any(each.counts[1:]) for each in row) for row in losses):
                return Fraction(0)
        return Fraction(1)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the limit of the chance not to win as the number of defenders grows.

        It is 0 if the attackers have a number of dice against which no reply costs them an army.
        """
        for dice in range(1, min(attackers, self.rules.attack.kept) + 1):
            losses = count_losses_by_throw(dice, self.rules.defence.kept, self.rules)
            if not any(any(each.counts[:-1]) for row in losses for each in row):
                return Fraction(0)
        return Fraction(1)


def _list_throws(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Throw, ...]:
    throws = count_losses_by_throw(attack_dice, defence_dice, rules)
    total = sum(throws.values())
    return tuple(
        Throw(count / total, tuple(dict.fromkeys(map(list_results, replies))))
        for replies, count in throws.items()
    )


@dataclass(frozen=True)
class AllBattles:
    """All battles up to a size, solved together.

    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.
    rules: the rules of the battles.
    exact: whether to compute in whole numbers instead of floats.
    aim: the quantity that the defender minimises, as for `optimal_play.compute_chance_if_seen`.

    Tables have entries `[d, a]` for a attackers against d defenders, in units of U^(a+d).

    >>> AllBattles(2, 1, Rules()).conquest_table.round(4).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.4167, 0.7542]]
    """

    able: int
    defenders: int
    rules: Rules
    exact: bool = False
    aim: Aim = "conquest"

    @property
    def kind(self) -> type:
        return object if self.exact else float

    @property
    def unit(self) -> int:
        return compute_unit(self.rules) if self.exact else 1

    @cached_property
    def powers(self) -> Numbers:
        """U^0, U^1 ... U^(able + defenders)."""
        return np.array(list_powers(self.unit, self.able + self.defenders), self.kind)

    @property
    def error(self) -> float:
        """A bound on the relative error of every entry of the tables.

        >>> AllBattles(250, 250, Rules()).error < 1e-12
        True
        """
        if self.exact:
            return 0.0
        attack, defence = self.rules.full_roll
        throws = len(count_losses_by_throw(attack, defence, self.rules))
        terms = sum(min(attack, j) + 1 for j in range(1, defence + 1))
        roundings = (self.able + self.defenders) * (throws.bit_length() + terms + 2)
        # A campaign adds at most eight roundings between two battles.
        return (roundings + 8) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u; n u < 0.001

    def probability(self, table: Numbers) -> Probability:
        """Return the last entry of a table as a probability."""
        entry = table[-1, -1]
        return Fraction(entry, self.powers[-1]) if self.exact else min(float(entry), 1.0)

    def iterate_spans(self) -> Iterator[Span]:
        """Yield all states with armies on both sides; each span depends only on earlier spans."""
        return iterate_spans(self.able, self.defenders, self.rules.full_roll)

    def _tabulate_replies(self, span: Span) -> tuple[Numbers, ...]:
        return tabulate_replies(*span.dice, self.rules, self.exact)

    @cached_property
    def conquest_table(self) -> Numbers:
        """The table of P, the attackers' chances to win, as `[d, a]`."""
        if self.aim == "losses":
            return self.compute_values(np.ones(self.able + 1), np.zeros(self.defenders + 1))
        table = self._make_table()
        table[0] = self.powers[: self.able + 1]
        return self._fill(table, np.minimum)

    @cached_property
    def hold_table(self) -> Numbers:
        """The table of H, the defenders' chances to hold the territory, as `[d, a]`."""
        table = self._make_table()
        table[1:, 0] = self.powers[1 : self.defenders + 1]
        return self._fill(table, np.maximum)

    @cached_property
    def expected_losses_table(self) -> Numbers:
        """The table of L, the expected numbers of defenders lost, as `[d, a]`."""
        return self._fill(self._make_table(), np.minimum, adds_losses=True)

    def _make_table(self) -> Numbers:
        return np.zeros((self.defenders + 1, self.able + 1), self.kind)

    def _fill(self, table: Numbers, combine: np.ufunc, *, adds_losses: bool = False) -> Numbers:
        diagonals = view_diagonals(table)
        for span in self.iterate_spans():
            values = self._average_values(span, diagonals, adds_losses=adds_losses)
            span.view(diagonals)[:] = _sum_by_halves(combine.reduce(values, axis=0))
        return table

    def _average_values(
        self, span: Span, diagonals: Numbers, *, adds_losses: bool = False
    ) -> list[Numbers]:
        """For each reply j, return the expected value after each throw y, `[y, state]`.

        adds_losses: whether to add the number of defenders lost to the value of the next state.
        """
        values = []
        for step in self._tabulate_replies(span):
            taken = step.shape[1] - 1
            value = step @ span.after(diagonals, taken)
            if adds_losses:
                killed = step @ np.arange(taken + 1) * self.powers[span.total - taken]
                value += killed[:, np.newaxis]
            values.append(value)
        return values

    def compute_replies(self, span: Span) -> npt.NDArray[np.bool_]:
        """Return whether the defender answers throw y with j dice, as an array `[j − 1, y, state]`.

        >>> battles = AllBattles(2, 2, Rules(), exact=True)
        >>> *_, span = battles.iterate_spans()
        >>> battles.compute_replies(span).sum(axis=(1, 2)).tolist()  # replies of one die, of two
        [6, 15]
        """
        sparing = self.aim == "losses"
        table = view_diagonals(self.expected_losses_table if sparing else self.conquest_table)
        values = np.stack(self._average_values(span, table, adds_losses=sparing))
        least = values.min(axis=0)
        if self.exact:
            good = values == least
        else:
            margin = 3 * self.error
            good = values <= np.maximum(least * (1 + margin), MIN_COMPARABLE)
            if not sparing:
                values = np.stack(self._average_values(span, view_diagonals(self.hold_table)))
                most = values.max(axis=0)
                holds = values >= np.where(most > MIN_COMPARABLE, most * (1 - margin), 0.0)
                good = np.where(span.view(table) <= 0.5, good, holds)
        most_dice = len(good) - 1 - good[::-1].argmax(axis=0)
        return np.asarray(np.arange(len(good))[:, np.newaxis, np.newaxis] == most_dice)

    def compute_moves(self, span: Span) -> list[Numbers]:
        """For each j, return the chances of a reply with j dice and a loss of k, `[k, state]`."""
        return [
            _sum_by_halves(step[:, :, np.newaxis] * chosen[:, np.newaxis, :])
            for step, chosen in zip(
                self._tabulate_replies(span), self.compute_replies(span), strict=True
            )
        ]

    def compute_values(self, won: Numbers, lost: Numbers) -> Numbers:
        """Return the table of expected values.

        won: `won[a]` is the value of a victory with a attackers left, garrison excluded.
        lost: `lost[d]` is the value of a defeat with d defenders left; `lost[0]` is ignored.

        `won` and `lost` may have a second axis, which the result keeps.

        >>> battles = AllBattles(2, 1, Rules())
        >>> round(float(battles.compute_values(np.arange(3), np.zeros(2))[1, 2]), 4)
        1.3329
        """
        powers = self.powers.reshape(-1, *[1] * (won.ndim - 1))
        table = np.zeros((self.defenders + 1, *won.shape), self.kind)
        table[:, 0] = lost * powers[: self.defenders + 1]
        table[0] = won * powers[: self.able + 1]
        diagonals = view_diagonals(table)
        for span in self.iterate_spans():
            here = span.view(diagonals)
            for move in self.compute_moves(span):
                for k, chance in enumerate(move):
                    here += chance * span.view(diagonals, len(move) - 1, k)
        return table

    def run_forward(self, start: Numbers) -> tuple[Numbers, Numbers]:
        """Return the distribution of the armies left, for the largest number of defenders.

        start: `start[a]` is the probability of a attackers, garrison excluded; further axes
            distinguish distributions.

        Returns `won, held`: `won[a]` is the probability of a victory with a attackers left, and
        `held[d]` of a defeat with d defenders left. If exact, a probability of a and d armies is in
        units of U^(a+d−A−D), for the largest numbers A and D.

        >>> won, held = AllBattles(2, 1, Rules()).run_forward(np.array([0.0, 0.0, 1.0]))
        >>> won.round(4).tolist(), held.round(4).tolist()
        ([0.0, 0.1755, 0.5787], [0.0, 0.2458])
        """
        table = np.zeros((self.defenders + 1, *start.shape), start.dtype)
        table[-1] = start
        diagonals = view_diagonals(table)
        for span in reversed([*self.iterate_spans()]):
            here = span.view(diagonals)
            for move in self.compute_moves(span):
                for k, chance in enumerate(move):
                    span.view(diagonals, len(move) - 1, k)[:] += chance * here
        return table[0], table[:, 0]


@lru_cache(maxsize=256)
def tabulate_replies(
    attack_dice: int, defence_dice: int, rules: Rules, exact: bool
) -> tuple[Numbers, ...]:
    """Return c_k(j, y) as an array `[y, k]` for each number j of reply dice.

    attack_dice: the number of attack dice.
    defence_dice: the largest number of reply dice.
    rules: the rules of the battles.
    exact: whether to return the whole numbers c_k(j, y) · U^m.

    >>> one, two = tabulate_replies(1, 2, Rules(), exact=False)
    >>> one[-1].round(3).tolist(), two[-1].round(3).tolist()  # against a six
    ([0.028, 0.139], [0.051, 0.116])
    """
    unit = compute_unit(rules) if exact else 1
    steps = []
    for ways, total in _count_ways(attack_dice, defence_dice, rules):
        taken = ways.shape[1] - 1
        steps.append(ways * unit**taken // total if exact else (ways / total).astype(float))
    return tuple(steps)


def _count_ways(attack_dice: int, defence_dice: int, rules: Rules) -> Iterator[tuple[Numbers, int]]:
    """For each reply of j dice, yield c_k(j, y) as counts `[y, k]` and their common total."""
    losses = count_losses_by_throw(attack_dice, defence_dice, rules)
    thrown = sum(losses.values())
    for replies in zip(*losses, strict=True):
        ways = [
            [weight * n for n in reply.counts]
            for reply, weight in zip(replies, losses.values(), strict=True)
        ]
        yield np.array(ways, object), thrown * replies[0].total


@lru_cache(maxsize=256)
def compute_unit(rules: Rules) -> int:
    """Return the smallest U that makes all c_k(j, y) · U^m whole numbers.

    rules: the rules of the battles.

    >>> compute_unit(Rules())
    1296
    """
    return lcm(
        *(
            compute_least_root(total // gcd(total, *ways.ravel()), ways.shape[1] - 1)
            for i in range(1, rules.attack.kept + 1)
            for ways, total in _count_ways(i, rules.defence.kept, rules)
        )
    )


def _sum_by_halves(rows: Numbers) -> Numbers:
    """Return the sum over the first axis. Pairwise summation needs few roundings."""
    while len(rows) > 1:
        half = (len(rows) + 1) // 2
        folded = rows[:half].copy()
        folded[: len(rows) - half] += rows[half:]
        rows = folded
    return np.asarray(rows[0])
