"""Replies: what a defender who sees the attack answers, in every state of a battle.

Let a be the attackers able to attack and d the defenders. The i attack dice fall as y with the
chance P(y); then the defender chooses j dice, and loses k armies with the chance p_k(j | y). The
one who makes the conquest as unlikely as can be leaves the attackers the chance

    P(a, d) = Σ_y min_j Σ_k  c_k(j, y) · P(a − m + k, d − k),    c_k(j, y) = P(y) · p_k(j | y),

with m = min(i, j), P(a, 0) = 1 and P(0, d) = 0. The chance that he holds, H = 1 − P, is the same
sum with the greatest in place of the least. His reply to y is the j of that least. Of replies that
are as good as each other he gives the one with the most dice; only the law of who is left depends
on that, never P.

A defender who would rather lose few armies takes the j of the least Σ_k c_k(j, y) · (k + L), with
the L of the state that follows; summed over y, these are L(a, d), the mean number that he loses.

Given the replies, a battle is a chain as any other: `worths` runs it from the end, `carry` from the
start. All states with a + d = t armies come from t − 1, t − 2 ..., so that a whole anti-diagonal is
computed at once. Throws after which all laws are the same are one y: 21 are left of the 56 of three
dice.

Fractions are whole numbers here. With a U that makes all c_k(j, y) · U^m whole, P(a, d) · U^(a+d)
is a whole number, and so it is in the other sums.

Floats have a relative error (`iacta.methods.sees_first.relative_error`), so that they cannot tell
replies that are nearer to each other. Such replies count as equally good. P tells them apart where
it is below a half, H elsewhere: the smaller of the two has the digits. Where even that is below
1e-290, all replies count as equally good.

Source: this rule is among the variants that players of the board game have published; nobody has
published its odds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.methods.counting import least_root
from iacta.rules.roll import seen_loss_laws
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Aim",
    "Battles",
    "Ends",
    "Replies",
    "Span",
    "carry",
    "chances",
    "unit_of",
    "worths",
]

NAME: str = "replies"

Aim = Literal["conquest", "losses"]
Numbers: TypeAlias = npt.NDArray[Any]  # of floats, or of whole numbers as objects
Steps: TypeAlias = tuple[Numbers, ...]

LEAST_TOLD = 1e-290


@dataclass(frozen=True)
class Battles:
    """All battles up to a size, and the numbers in which they are solved.

    able: the most attackers able to attack, garrison left out; at least 1.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    unit: U for whole numbers, `None` for floats.
    margin: how near to each other, relative to them, chances count as equal.
    """

    able: int
    defenders: int
    rules: Rules
    unit: int | None = None
    margin: float = 0.0

    def empty_table(self) -> Numbers:
        """Return a table of zeros, `[defenders, able]`."""
        shape = self.defenders + 1, self.able + 1
        return np.zeros(shape, dtype=float if self.unit is None else object)

    def powers(self, most: int) -> Numbers:
        """Return U^0, U^1 ... U^most; in floats, ones.

        most: the largest exponent.
        """
        if self.unit is None:
            return np.ones(most + 1)
        return np.array([self.unit**n for n in range(most + 1)], dtype=object)

    def spans(self, total: int) -> Iterator["Span"]:
        """Yield the states of an anti-diagonal, those with the same dice together.

        total: the armies of both sides.
        """
        attack, defence = self.rules.full_roll
        d, last = max(1, total - self.able), min(self.defenders, total - 1)
        while d <= last:
            i, j = min(total - d, attack), min(d, defence)
            full = i == attack and j == defence
            end = min(last, total - attack) + 1 if full else d + 1
            yield Span(total, d, end, i, j)
            d = end

    def steps(self, span: "Span") -> Steps:
        """Return c_k(j, y) for the states of a span, `[y, k]` for each j.

        span: the states.
        """
        return _steps(span.attack_dice, span.defence_dice, self.rules, self.unit)


class Span(NamedTuple):
    """States with the same armies in all in which the same dice can be thrown.

    total: the armies of both sides.
    first, stop: the fewest defenders, and one more than the most.
    attack_dice, defence_dice: the most dice of each side.
    """

    total: int
    first: int
    stop: int
    attack_dice: int
    defence_dice: int

    def of(self, table: Numbers, taken: int = 0, lost: int = 0) -> Numbers:
        """Return a view of the states after a roll, or of those before it.

        table: the numbers of all states, `[d, a]`.
        taken: the armies that the roll takes of both sides together.
        lost: those of them that are defenders.

        In a table by rows, the states of an anti-diagonal are `able` entries apart.
        """
        able = table.shape[1] - 1
        start, stop = (self.total - taken + (d - lost) * able for d in (self.first, self.stop - 1))
        return table.reshape(-1)[start : stop + 1 : able]

    def after(self, table: Numbers, step: Numbers) -> Numbers:
        """Return Σ_k c_k(j, y) · table(a − m + k, d − k) for one j, `[y, state]`.

        table: as for `of`.
        step: c_k(j, y), `[y, k]`.
        """
        taken = step.shape[1] - 1
        here = self.of(table, taken)
        by_state = (table.shape[1] - 1) * table.itemsize
        shape = taken + 1, self.stop - self.first
        rows = as_strided(here, shape, (-by_state, by_state), writeable=False)
        return np.asarray(step @ rows)


class Ends(NamedTuple):
    """The chances of all ends of battles.

    won: `won[a]`, that the territory is taken with a attackers able to attack left.
    lost: `lost[d]`, that no attacker is left who can attack, and d defenders are.
    """

    won: Numbers
    lost: Numbers


@lru_cache(maxsize=256)
def _steps(attack_dice: int, defence_dice: int, rules: Rules, unit: int | None) -> Steps:
    laws = seen_loss_laws(attack_dice, defence_dice, rules)
    thrown = sum(laws.values())
    steps = []
    for j in range(1, defence_dice + 1):
        taken = min(attack_dice, j)
        rows = [
            [_coefficient(weight * n, thrown * row[j - 1].total, unit, taken) for n in counts]
            for row, weight in laws.items()
            for counts in [row[j - 1].counts]
        ]
        steps.append(np.array(rows, dtype=float if unit is None else object))
    return tuple(steps)


def _coefficient(ways: int, total: int, unit: int | None, taken: int) -> int | float:
    return ways / total if unit is None else ways * unit**taken // total


@lru_cache(maxsize=256)
def unit_of(rules: Rules) -> int:
    """Return the least U with which all c_k(j, y) · U^m are whole numbers.

    rules: the rules of the battles.

    >>> unit_of(Rules())
    1296
    """
    roots = []
    for i in range(1, rules.attack.kept + 1):
        laws = seen_loss_laws(i, rules.defence.kept, rules)
        thrown = sum(laws.values())
        for j in range(1, rules.defence.kept + 1):
            ways = (w * n for row, w in laws.items() for n in row[j - 1].counts)
            total = thrown * next(iter(laws))[j - 1].total
            roots.append(least_root(total // gcd(total, *ways), min(i, j)))
    return lcm(*roots)


def _sum(rows: Numbers) -> Numbers:
    """Return the sum over the first axis, by halves: few roundings."""
    while len(rows) > 1:
        half = (len(rows) + 1) // 2
        folded = rows[:half].copy()
        folded[: len(rows) - half] += rows[half:]
        rows = folded
    return np.asarray(rows[0])


def chances(battles: Battles, aim: Aim = "conquest") -> Numbers:
    """Return P, in units of U^(a+d), for all battles up to a size.

    battles: the battles.
    aim: `"conquest"`: the defender keeps the chance to win as low as can be; `"losses"`: he keeps
        the mean number of his armies lost in the battle as low as can be.

    Entry `[d, a]` is for a attackers able to attack against d defenders.

    >>> chances(Battles(2, 1, Rules())).round(4).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.4167, 0.7542]]
    """
    table = battles.empty_table()
    table[0] = battles.powers(battles.able)
    if aim == "losses":
        return _fill_sparingly(table, battles)
    return _fill(table, battles, np.minimum)


def _held(battles: Battles) -> Numbers:
    """Return H."""
    table = battles.empty_table()
    table[1:, 0] = battles.powers(battles.defenders)[1:]
    return _fill(table, battles, np.maximum)


def _fill(table: Numbers, battles: Battles, combine: np.ufunc) -> Numbers:
    """Fill a table whose ends are known: of the replies, `combine` makes one."""
    for total in range(2, battles.able + battles.defenders + 1):
        for span in battles.spans(total):
            values = [span.after(table, step) for step in battles.steps(span)]
            span.of(table)[:] = _sum(combine.reduce(values, axis=0))
    return table


def _fill_sparingly(table: Numbers, battles: Battles) -> Numbers:
    """Fill a table with P for the replies that cost the defender the fewest armies in the mean."""
    lost = battles.empty_table()
    powers = battles.powers(battles.able + battles.defenders)
    for total in range(2, battles.able + battles.defenders + 1):
        for span in battles.spans(total):
            steps = battles.steps(span)
            costs = np.stack([_cost(span, lost, step, powers) for step in steps])
            least = costs.min(axis=0)
            chosen = _most_dice(
                costs <= (least * (1 + battles.margin) if battles.margin else least)
            )
            after = np.stack([span.after(table, step) for step in steps])
            span.of(lost)[:] = _sum((costs * chosen).sum(axis=0))
            span.of(table)[:] = _sum((after * chosen).sum(axis=0))
    return table


def _cost(span: Span, lost: Numbers, step: Numbers, powers: Numbers) -> Numbers:
    """Return Σ_k c_k(j, y) · (k + L(a − m + k, d − k)) for one j, `[y, state]`."""
    taken = step.shape[1] - 1
    now = step @ np.arange(taken + 1) * powers[span.total - taken]
    return np.asarray(span.after(lost, step) + now[:, np.newaxis])


def _most_dice(good: Numbers) -> npt.NDArray[np.bool_]:
    """Return, of the good replies `[j − 1, y, state]`, the one with the most dice."""
    most_dice = len(good) - 1 - good[::-1].argmax(axis=0)
    answers = np.arange(len(good))[:, np.newaxis, np.newaxis]
    return np.asarray(answers == most_dice)


class Replies:
    """The replies of the defender who makes the conquest as unlikely as can be.

    battles: the battles that he fights.

    >>> replies = Replies(Battles(2, 2, Rules(), unit_of(Rules())))
    >>> span, *_ = replies.battles.spans(4)
    >>> replies.chosen(span).sum(axis=(1, 2)).tolist()  # throws answered with one die, with two
    [6, 15]
    """

    def __init__(self, battles: Battles) -> None:
        self.battles = battles
        self.conquest = chances(battles)

    @cached_property
    def held(self) -> Numbers:
        """H, which floats need beside P."""
        return _held(self.battles)

    def chosen(self, span: Span) -> npt.NDArray[np.bool_]:
        """Return whether he answers y with j dice, `[j − 1, y, state]`.

        span: the states.
        """
        good = self._good(span, self.conquest, least=True)
        if self.battles.unit is None:
            unlikely = span.of(self.conquest) <= 0.5
            good = np.where(unlikely, good, self._good(span, self.held, least=False))
        return _most_dice(good)

    def _good(self, span: Span, table: Numbers, *, least: bool) -> npt.NDArray[np.bool_]:
        """Tell which replies are as good as the best."""
        steps, margin = self.battles.steps(span), self.battles.margin
        values = np.stack([span.after(table, step) for step in steps])
        if self.battles.unit is not None:
            return np.asarray(values == values.min(axis=0), dtype=bool)
        if least:
            return np.asarray(values <= np.maximum(values.min(axis=0) * (1 + margin), LEAST_TOLD))
        most = values.max(axis=0)
        return np.asarray(values >= np.where(most > LEAST_TOLD, most * (1 - margin), 0.0))


def worths(
    replies: Replies, won: Sequence[Any] | Numbers, lost: Sequence[Any] | Numbers
) -> Numbers:
    """Return the mean worth of all battles up to a size, in units of U^(a+d).

    replies: how the defender plays.
    won: `won[a]` is what it is worth that a attackers able to attack are left.
    lost: `lost[d]` is what it is worth that d defenders hold; `lost[0]` does not matter.

    Entry `[d, a]` is for a attackers able to attack against d defenders.

    >>> replies = Replies(Battles(2, 1, Rules()))
    >>> round(float(worths(replies, [0, 1, 2], [0, 0])[1, 2]), 4)
    1.3329
    """
    battles = replies.battles
    table = battles.empty_table()
    table[:, 0] = lost * battles.powers(battles.defenders)
    table[0] = won * battles.powers(battles.able)
    for total in range(2, battles.able + battles.defenders + 1):
        for span in battles.spans(total):
            values = np.stack([span.after(table, step) for step in battles.steps(span)])
            span.of(table)[:] = _sum((values * replies.chosen(span)).sum(axis=0))
    return table


def carry(replies: Replies, start: Sequence[Any] | Numbers) -> Ends:
    """Return the chances of all ends of a battle against the most defenders.

    replies: how the defender plays.
    start: `start[a]` is the chance of a attackers able to attack; in whole numbers, those of a and
        d armies are in units of U^(A+D−a−d), for the most A and D.

    >>> ends = carry(Replies(Battles(2, 1, Rules())), [0.0, 0.0, 1.0])
    >>> ends.won.round(4).tolist(), ends.lost.round(4).tolist()
    ([0.0, 0.1755, 0.5787], [0.0, 0.2458])
    """
    battles = replies.battles
    table = battles.empty_table()
    table[-1] = start
    for total in range(battles.able + battles.defenders, 1, -1):
        for span in battles.spans(total):
            here, chosen = span.of(table), replies.chosen(span)
            for step, answered in zip(battles.steps(span), chosen, strict=True):
                moves = _sum(step[:, :, np.newaxis] * answered[:, np.newaxis, :])
                for lost, move in enumerate(moves):
                    span.of(table, len(moves) - 1, lost)[:] += move * here
    return Ends(table[0], table[:, 0])
