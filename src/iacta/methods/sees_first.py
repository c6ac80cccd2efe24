"""The defender who sees the attack first, and chooses the dice after the attacker's are thrown.

Let a be the attackers able to attack and d the defenders. The i attack dice fall as y with the
probability P(y); then the defender chooses j dice, and loses k armies with the probability
p_k(j | y). The defender plays to keep the territory and makes its conquest as unlikely as possible,
so the attackers win with the chance

    P(a, d) = Σ_y min_j Σ_k  c_k(j, y) · P(a − m + k, d − k),    c_k(j, y) = P(y) · p_k(j | y),

with m = min(i, j), P(a, 0) = 1 and P(0, d) = 0. The chance to hold, H = 1 − P, is the same
sum with the maximum in place of the minimum. The reply to y is the j of that minimum; of equally
good replies, the one with the most dice. Only the distribution of who is left depends on that,
never P. In a campaign each defender plays for their own territory, whatever is behind it.

A defender who would rather lose few armies takes the j that minimizes Σ_k c_k(j, y) · (k + L), with
the L of the state that follows; summed over y, these are L(a, d), the defenders expected to
be lost.

Given the replies, a battle is a Markov chain like any other: `expected_values` runs it backward,
`carry` forward. All states with a + d = t armies depend on t − 1, t − 2 ..., so a whole
anti-diagonal is computed at once. Throws after which all losses have the same distribution are one
y: of the 56 of three dice, 21 are left.

Fractions are whole numbers here. With a U that makes all c_k(j, y) · U^m whole, P(a, d) · U^(a+d)
is a whole number, and so are the other sums. For the classic rules U is 1296.

Error. In floats there are only sums and products of numbers that are not negative, and minima and
maxima, which keep a relative error as it is. A roll costs a rounding in its chance, one in its
product, and those of its sums; a sum over throws is made by halves (`SeesFirst.error`). Replies
that are nearer to each other than that count as equally good. P tells them apart where it is below
a half, H elsewhere: the smaller of the two has the digits. Where even that is below 1e-290, all
replies count as equally good. With the classic dice and up to 60 armies on both sides, no two
replies are that near to each other without being equal, nor does the distribution change
(`tests/methods/test_sees_first.py`).

Source: this rule is among the variants that players of the board game have published; nobody has
published its odds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.distribution import Distribution, Probability
from iacta.methods.counting import ExactRow, least_root
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
    choices_of,
    refuse_too_large,
    results_of,
)
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.roll import seen_loss_counts
from iacta.rules.rules import Rules

__all__ = [
    "EXACT_NAME",
    "NAME",
    "Aim",
    "Battles",
    "Replies",
    "SeesFirst",
    "Span",
    "carry",
    "chances",
    "chances_to_hold",
    "expected_values",
    "unit_of",
]

NAME: str = "sees_first"
EXACT_NAME: str = "sees_first_exact"

Aim = Literal["conquest", "losses"]
Numbers: TypeAlias = npt.NDArray[Any]  # of floats, or of whole numbers as objects
Steps: TypeAlias = tuple[Numbers, ...]

LEAST_TOLD = 1e-290
TABLES = 3  # P, H, and the one that they are needed for


class SeesFirst(Kernel):
    """The kernel of battles in which the defender sees the attack first.

    exact: whether the answers are fractions.

    >>> rules = Rules(mode=DefenderSeesFirst())
    >>> round(SeesFirst(rules, exact=False).win_probability(10, 10), 4)
    0.4529
    >>> exact = SeesFirst(rules, exact=True)
    >>> exact.win_probability(2, 1)
    Fraction(1955, 2592)
    >>> exact.forward(Distribution([2]), 2)[State(attackers=2, defenders=0)]
    Fraction(2375, 11664)
    """

    modes = (DefenderSeesFirst,)
    by_rows = True

    def __init__(self, rules: Rules, *, exact: bool) -> None:
        self.exact, self.name = exact, EXACT_NAME if exact else NAME
        self.quick_states = 20_000 if exact else 1e6
        super().__init__(rules)

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        """Return the kernel for some rules."""
        return cls(rules, exact=exact)

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the rolls of the attacker, in each of which the defender chooses after a throw."""
        return choices_of(self.rules, able, defenders, able if spare is None else spare, _throws)

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that is too large, and attack dice that depend on the reply."""
        throws = len(seen_loss_counts(*self.rules.full_roll, self.rules))
        number_bytes = 8
        if self.exact:
            number_bytes = (attackers + defenders) * unit_of(self.rules).bit_length() // 8 + 50
        work = self.rules.defence.kept * throws * number_bytes
        memory = TABLES * (attackers + 1) * (defenders + 1) * number_bytes
        memory += (attackers + defenders) * (work + OUTCOME_BYTES)
        self.refuse_too_large(attackers, defenders, memory=memory, number_bytes=work)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return the bound on the relative error, given the replies."""
        return Error(0.0 if self.exact else _relative_error(attackers, defenders, self.rules))

    def _battles(self, attackers: int, defenders: int) -> "Battles":
        self.refuse(attackers, defenders)
        if self.exact:
            return Battles(attackers, defenders, self.rules, unit_of(self.rules))
        margin = 3 * _relative_error(attackers, defenders, self.rules)
        return Battles(attackers, defenders, self.rules, margin=margin)

    def chance(self, attackers: int, defenders: int, aim: Aim) -> float:
        """Return the chance to win against a defender who plays for an aim, in floats."""
        return float(chances(self._battles(attackers, defenders), aim)[defenders, attackers])

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        """Return the chance to take the territory."""
        if attackers <= 0 or not defenders:
            return self.number(not defenders)
        battles = self._battles(attackers, defenders)
        return battles.probability(chances(battles), attackers, defenders)

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        """Return the chances to take the territory with enough armies left, and not to."""
        if keep or attackers <= 0 or not defenders:
            return super().chances(attackers, defenders, keep)
        won = self.win_probability(attackers, defenders)
        if self.exact or won <= 0.5:
            return Chances(won, 1 - won)
        battles = self._battles(attackers, defenders)
        lost = battles.probability(chances_to_hold(battles), attackers, defenders)
        return Chances(1 - lost, lost)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state."""
        most = max(start)
        self.refuse(max(most, 0), defenders)
        if most <= 0 or not defenders:
            known = start if self.exact else start.to_float()
            return known.map(lambda attackers: State(attackers, defenders))
        battles = self._battles(most, defenders)
        powers = battles.powers(most + defenders)
        weights = start.weights()[0] if self.exact else start.to_float()
        row, states = battles.empty_table()[0], {}
        for attackers, weight in weights.items():
            if attackers > 0:
                row[attackers] = weight * powers[most - attackers]
            else:
                states[State(attackers, defenders)] = weight * powers[-1]
        won, lost = carry(Replies(battles), row)
        for a in range(1, most + 1):
            states[State(a, 0)] = won[a] * powers[a]
        for d in range(1, defenders + 1):
            states[State(0, d)] = states.get(State(0, d), 0) + lost[d] * powers[d]
        return Distribution(states) if self.exact else Distribution.from_probabilities(states)

    def backward(self, values: Values) -> Iterator[Any]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders.

        The values do not change how the defender plays.
        """
        scale = 1
        won, lost = (np.asarray(each, object if self.exact else float) for each in values[:2])
        if self.exact:
            scale = lcm(*(Fraction(value).denominator for value in (*won.tolist(), *lost.tolist())))
            won, lost = (
                np.array([int(value * scale) for value in each], object) for each in (won, lost)
            )
        attackers, defenders = len(won) - 1, len(lost) - 1
        battles = self._battles(attackers, defenders)
        if attackers and (won == 1).all() and not lost.any():
            table = chances(battles)
        elif attackers and not won.any() and (lost[1:] == 1).all():
            table = chances_to_hold(battles)
        else:
            table = expected_values(Replies(battles), won, lost)
        if self.exact:
            powers = battles.powers(attackers + defenders).tolist()
            for d in range(1, defenders + 1):
                yield ExactRow(table[d].tolist(), powers, scale, d)
        else:
            yield from table[1:]

    def transitions(self, attackers: int, defenders: int, fewest: int = 0) -> Transitions:
        """Return how battles of up to so many attackers are absorbed."""
        if self.exact or not attackers:
            return super().transitions(attackers, defenders, fewest)
        memory = 8 * (attackers + 1) ** 2 * (defenders + 1)
        refuse_too_large(attackers, defenders, memory=memory, method=self.name)
        start = np.eye(attackers + 1)
        start[0, 0] = 0.0
        won, lost = carry(Replies(self._battles(attackers, defenders)), start)
        won[0], lost[0] = 0.0, 0.0
        lost[defenders, 0] = 1.0
        return Transitions(np.ascontiguousarray(won.T), np.ascontiguousarray(lost.T))

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the chance to win as the attackers grow without end.

        It is 0 if with some number of dice the defender has a reply to each throw that surely
        costs none, and can give it for ever. Otherwise each roll may cost some, and all are lost in
        the end.
        """
        for most_dice in range(1, min(defenders, self.rules.defence.kept) + 1):
            losses = seen_loss_counts(self.rules.attack.kept, most_dice, self.rules)
            if all(any(not any(each.counts[1:]) for each in row) for row in losses):
                return Fraction(0)
        return Fraction(1)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the chance not to win as the defenders grow without end.

        It is 0 if the attackers have a number of dice to which no reply ever costs them one.
        """
        for dice in range(1, min(attackers, self.rules.attack.kept) + 1):
            losses = seen_loss_counts(dice, self.rules.defence.kept, self.rules)
            if not any(any(each.counts[:-1]) for row in losses for each in row):
                return Fraction(0)
        return Fraction(1)


def _throws(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[Throw, ...]:
    """Return what the attack dice may show, with the replies of up to so many defence dice."""
    throws = seen_loss_counts(attack_dice, defence_dice, rules)
    total = sum(throws.values())
    return tuple(
        Throw(count / total, tuple(dict.fromkeys(map(results_of, replies))))
        for replies, count in throws.items()
    )


def _relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of every number in floats.

    >>> _relative_error(250, 250, Rules()) < 1e-12
    True
    """
    attack, defence = rules.full_roll
    throws = len(seen_loss_counts(attack, defence, rules))
    terms = sum(min(attack, j) + 1 for j in range(1, defence + 1))
    roundings = (attackers + defenders) * (throws.bit_length() + terms + 2)
    # A campaign weighs the outcomes of one battle before the next: eight roundings at most.
    return (roundings + 8) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u while n u < 0.001


@dataclass(frozen=True)
class Battles:
    """All battles up to a size, and the numbers in which they are solved.

    able: the most attackers able to attack, garrison left out.
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

    @property
    def kind(self) -> type:
        """What an array holds: floats, or whole numbers as objects."""
        return float if self.unit is None else object

    def empty_table(self) -> Numbers:
        """Return a table of zeros, `[defenders, able]`."""
        return np.zeros((self.defenders + 1, self.able + 1), dtype=self.kind)

    def powers(self, most: int) -> Numbers:
        """Return U^0, U^1 ... U^most; in floats, ones.

        most: the largest exponent.
        """
        if self.unit is None:
            return np.ones(most + 1)
        return np.array([self.unit**n for n in range(most + 1)], dtype=object)

    def probability(self, table: Numbers, attackers: int, defenders: int) -> Probability:
        """Return an entry of a table as a probability."""
        entry = table[defenders, attackers]
        if self.unit is None:
            return min(float(entry), 1.0)
        return Fraction(entry, self.unit ** (attackers + defenders))

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

        table: the numbers of all states, `[d, a]`; further axes are kept.
        taken: the armies that the roll takes of both sides together.
        lost: those of them that are defenders.

        In a table by rows, the states of an anti-diagonal are `able` entries apart.
        """
        able = table.shape[1] - 1
        start, stop = (self.total - taken + (d - lost) * able for d in (self.first, self.stop - 1))
        return table.reshape(-1, *table.shape[2:])[start : stop + 1 : able]

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


@lru_cache(maxsize=256)
def _steps(attack_dice: int, defence_dice: int, rules: Rules, unit: int | None) -> Steps:
    losses = seen_loss_counts(attack_dice, defence_dice, rules)
    thrown = sum(losses.values())
    steps = []
    for j in range(1, defence_dice + 1):
        taken = min(attack_dice, j)
        rows = [
            [_coefficient(weight * n, thrown * row[j - 1].total, unit, taken) for n in counts]
            for row, weight in losses.items()
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
        losses = seen_loss_counts(i, rules.defence.kept, rules)
        thrown = sum(losses.values())
        for j in range(1, rules.defence.kept + 1):
            ways = (w * n for row, w in losses.items() for n in row[j - 1].counts)
            total = thrown * next(iter(losses))[j - 1].total
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
    aim: what the defender minimises, as for `optimal_play.chance_if_seen`.

    Entry `[d, a]` is for a attackers able to attack against d defenders.

    >>> chances(Battles(2, 1, Rules())).round(4).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.4167, 0.7542]]
    """
    table = battles.empty_table()
    table[0] = battles.powers(battles.able)
    if aim == "losses":
        return _fill_sparingly(table, battles)
    return _fill(table, battles, np.minimum)


def chances_to_hold(battles: Battles) -> Numbers:
    """Return H, in units of U^(a+d), for all battles up to a size."""
    table = battles.empty_table()
    table[1:, 0] = battles.powers(battles.defenders)[1:]
    return _fill(table, battles, np.maximum)


def _fill(table: Numbers, battles: Battles, combine: np.ufunc) -> Numbers:
    """Fill a table whose ends are known; `combine` chooses among the replies."""
    for total in range(2, battles.able + battles.defenders + 1):
        for span in battles.spans(total):
            values = [span.after(table, step) for step in battles.steps(span)]
            span.of(table)[:] = _sum(combine.reduce(values, axis=0))
    return table


def _fill_sparingly(table: Numbers, battles: Battles) -> Numbers:
    """Fill a table with P for the replies with which the defender is expected to lose fewest."""
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
    """Return which of the good replies, `[j − 1, y, state]`, has the most dice."""
    most_dice = len(good) - 1 - good[::-1].argmax(axis=0)
    answers = np.arange(len(good))[:, np.newaxis, np.newaxis]
    return np.asarray(answers == most_dice)


class Replies:
    """The replies of the defender who makes the conquest as unlikely as can be.

    battles: the battles.

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
        return chances_to_hold(self.battles)

    def chosen(self, span: Span) -> npt.NDArray[np.bool_]:
        """Return whether y is answered with j dice, `[j − 1, y, state]`.

        span: the states.
        """
        good = self._good(span, self.conquest, least=True)
        if self.battles.unit is None:
            unlikely = span.of(self.conquest) <= 0.5
            good = np.where(unlikely, good, self._good(span, self.held, least=False))
        return _most_dice(good)

    def _good(self, span: Span, table: Numbers, *, least: bool) -> npt.NDArray[np.bool_]:
        """Return which replies are as good as the best."""
        steps, margin = self.battles.steps(span), self.battles.margin
        values = np.stack([span.after(table, step) for step in steps])
        if self.battles.unit is not None:
            return np.asarray(values == values.min(axis=0), dtype=bool)
        if least:
            return np.asarray(values <= np.maximum(values.min(axis=0) * (1 + margin), LEAST_TOLD))
        most = values.max(axis=0)
        return np.asarray(values >= np.where(most > LEAST_TOLD, most * (1 - margin), 0.0))

    def moves(self, span: Span) -> list[Numbers]:
        """Return how likely j dice answer and k armies are lost, `[k, state]` for each j.

        span: the states.
        """
        return [
            _sum(step[:, :, np.newaxis] * chosen[:, np.newaxis, :])
            for step, chosen in zip(self.battles.steps(span), self.chosen(span), strict=True)
        ]


def expected_values(replies: Replies, won: Numbers, lost: Numbers) -> Numbers:
    """Return the expected value of all battles up to a size, in units of U^(a+d).

    replies: how the defender plays.
    won: `won[a]` is the value of a victory with a attackers able to attack left.
    lost: `lost[d]` is the value of d defenders that hold; `lost[0]` does not matter.

    Entry `[d, a]` is for a attackers able to attack against d defenders. A further axis of `won`
    and `lost` is kept.

    >>> replies = Replies(Battles(2, 1, Rules()))
    >>> round(float(expected_values(replies, np.arange(3), np.zeros(2))[1, 2]), 4)
    1.3329
    """
    battles = replies.battles
    table = np.zeros((battles.defenders + 1, *won.shape), dtype=battles.kind)
    table[:, 0] = lost * _along(battles.powers(battles.defenders), lost)
    table[0] = won * _along(battles.powers(battles.able), won)
    for total in range(2, battles.able + battles.defenders + 1):
        for span in battles.spans(total):
            here = span.of(table)
            for move in replies.moves(span):
                for killed, probability in enumerate(move):
                    here += _along(probability, here) * span.of(table, len(move) - 1, killed)
    return table


def _along(numbers: Numbers, table: Numbers) -> Numbers:
    """Return numbers that go along the first axis of a table."""
    return numbers.reshape(-1, *[1] * (table.ndim - 1))


def carry(replies: Replies, start: Numbers) -> tuple[Numbers, Numbers]:
    """Return the probabilities of all ends of battles against the most defenders.

    replies: how the defender plays.
    start: `start[a]` is the probability of a attackers able to attack; in whole numbers, those of a
        and d armies are in units of U^(A+D−a−d), for the most A and D. Further axes are further
        distributions.

    Entry `[a]` of the first is the probability that the territory is taken with a attackers left,
    `[d]` of the second that no attacker is left who can attack, and d defenders are.

    >>> won, lost = carry(Replies(Battles(2, 1, Rules())), np.array([0.0, 0.0, 1.0]))
    >>> won.round(4).tolist(), lost.round(4).tolist()
    ([0.0, 0.1755, 0.5787], [0.0, 0.2458])
    """
    battles = replies.battles
    table = np.zeros((battles.defenders + 1, *start.shape), dtype=start.dtype)
    table[-1] = start
    for total in range(battles.able + battles.defenders, 1, -1):
        for span in battles.spans(total):
            here = span.of(table)
            for move in replies.moves(span):
                for killed, probability in enumerate(move):
                    span.of(table, len(move) - 1, killed)[:] += _along(probability, here) * here
    return table[0], table[:, 0]
