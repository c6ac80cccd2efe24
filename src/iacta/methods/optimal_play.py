"""Optimal play: the best choice in every state of a battle, by backward induction.

Let a be the attackers able to attack (the garrison left out) and d the defenders. A roll with i
attack dice against j compares m = min(i, j) pairs and costs the defenders k armies, and the
attackers m − k, with the chance p_k(i, j). What an attacker wants may be told as a sum of money:
`prize` for the territory, `army_value` for each army that he keeps, `kill_value` for each that he
destroys. What he owns now he owns anyway, so let G(a, d) be what he gains from here on:

    G(a, 0) = prize,        G(0, d) = 0,
    R_ij(a, d) = Σ_k  p_k(i, j) · ( kill_value · k − army_value · (m − k) + G(a − m + k, d − k) ),
    G(a, d) = max( S(a, d),  R_ij(a, d) ),

Bellman's equation, where S is what he gains if he does not roll: 0 if he stops. With all dice
thrown, i and j are fixed. Where the players choose them, the attacker names his number first and
the defender answers: max_i min_j R_ij. The chance to win and the armies lost on the way follow by
the same sums, without a maximum, along the choices made.

All a + d = t come from t − 1, t − 2 ..., so a whole anti-diagonal is computed at once; only where
fewer armies are left than dice are the states taken one by one. Exact answers count in whole
numbers over U^(a+d), as the method `counting` does, state by state.

Error. Each sum of floats carries a bound on its error, running along with it: that of its terms,
and some 2⁻⁵³ of their size for each rounding. Of two choices whose bounds overlap the first is
taken (stop before roll, more dice before fewer), and the bound is widened by what the other might
be better. So the true G is within `errors` of the one told, and rolling is called better only
where it is proven to be.

Source: R. Bellman, Dynamic Programming (1957), chapter III; the question when to stop is left open
at the end of "Analyzing the Board Game Risk" (pracpred).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.methods.counting import coefficients
from iacta.methods.limits import OUTCOME_BYTES, refuse_gains, refuse_too_large
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "STOP",
    "Choices",
    "Instead",
    "Play",
    "Worth",
    "pays_in_the_end",
    "play",
    "play_exactly",
    "refuse",
]

NAME: str = "optimal_play"

Floats: TypeAlias = npt.NDArray[np.float64]
Number: TypeAlias = Any  # int where exact, else float
Cell: TypeAlias = tuple[Number, Number, Number, Number, int, int]
Cells: TypeAlias = dict[tuple[int, int], Cell]

PARTS = 6  # gain, error, win, lost, attack dice, defence dice
SUMMED = 4
GAIN, ERROR, WIN, LOST, ATTACK, DEFENCE = range(PARTS)
UNIT_ROUNDOFF = 2.0**-53


class Worth(NamedTuple):
    """What the attacker wants, all in one currency.

    prize: what the territory is worth.
    army_value: what each of his armies is worth.
    kill_value: what each destroyed defender is worth.
    """

    prize: Fraction
    army_value: Fraction
    kill_value: Fraction


class Choices(NamedTuple):
    """What is left to choose.

    stop: whether the attacker may stop.
    attack_dice: whether he may throw fewer dice than he is allowed.
    defence_dice: whether the defender may, once he knows how many the attacker throws.
    """

    stop: bool = True
    attack_dice: bool = False
    defence_dice: bool = False


@dataclass(frozen=True, eq=False)
class Play:
    """The best choice in every state, and what it is worth: tables `[defenders, able]`.

    gains: what the attacker gains from there on.
    errors: how far a gain may be from the true one; 0 if exact.
    win_probabilities: the chance to take the territory.
    lost: the mean number of attackers lost.
    attack_dice: how many dice the attacker throws, 0 if he does not roll.
    defence_dice: how many dice the defender throws.
    """

    gains: npt.NDArray[Any]
    errors: npt.NDArray[Any]
    win_probabilities: npt.NDArray[Any]
    lost: npt.NDArray[Any]
    attack_dice: npt.NDArray[np.int64]
    defence_dice: npt.NDArray[np.int64]


STOP = Choices()


class Instead(NamedTuple):
    """What not rolling gains: tables `[defenders, able]`.

    gains: S, of a prize of 1: so it is the chance to take the territory too.
    errors: how far each entry may be from the true one.
    """

    gains: Floats
    errors: Floats


class _Option(NamedTuple):
    """One roll: c_0 .. c_m, and in the same unit the mean gain and the attackers lost in it."""

    attack_dice: int
    defence_dice: int
    step: tuple[Number, ...]
    gain: Number
    lost: Number

    @property
    def taken(self) -> int:
        """The armies that the roll takes."""
        return len(self.step) - 1


def play(
    able: int,
    defenders: int,
    rules: Rules,
    worth: Worth,
    choices: Choices = STOP,
    instead: Instead | None = None,
) -> Play:
    """Return the best play of all battles up to a size, in floats.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    worth: what the attacker wants.
    choices: what the players may choose.
    instead: what not rolling gains; `None` for nothing, as stopping does.

    Floats, each gain within its entry of `errors`. Battles too large for memory are refused, and
    rules under which armies grow.

    >>> from iacta.rules.rules import CLASSIC
    >>> found = play(2, 1, CLASSIC, Worth(Fraction(2), Fraction(1), Fraction(0)))
    >>> found.gains.round(4).tolist()
    [[2.0, 2.0, 2.0], [0.0, 0.25, 0.8414]]
    """
    refuse(able, defenders, rules)
    options = _options(able, defenders, rules, worth, choices, exact=False)
    solver = _Solver(options, choices, rules, 1, UNIT_ROUNDOFF, instead)
    sheared = np.zeros((able + defenders + 1, PARTS, defenders + 1))
    _put(sheared, solver.cells(able, defenders, float(worth.prize), every=False))
    for total in range(sum(rules.full_roll), able + defenders + 1):
        first = max(rules.defence.kept, total - able)
        end = min(defenders, total - rules.attack.kept) + 1
        if first < end:
            solver.fill(sheared, total, slice(first, end))
    return _tables(sheared, able, defenders)


def refuse(able: int, defenders: int, rules: Rules) -> None:
    """Refuse battles that `play` cannot solve, before anything is made of their size.

    able: attackers able to attack, garrison left out.
    defenders: armies on the defended territory.
    rules: the rules of the battles.
    """
    refuse_gains(rules, NAME)
    memory = 8 * PARTS * (able + defenders + 1) * (defenders + 1)
    refuse_too_large(able, defenders, memory=memory, method=NAME, number_bytes=8 * PARTS)


def play_exactly(
    able: int, defenders: int, rules: Rules, worth: Worth, choices: Choices = STOP
) -> Play:
    """Return the best play of all battles up to a size, in fractions.

    able, defenders, rules, worth, choices: as for `play`.

    Arrays of `Fraction`; equally good choices are decided as in `play`. The same is refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> play_exactly(1, 1, CLASSIC, Worth(Fraction(2), Fraction(1), Fraction(0))).gains[1, 1]
    Fraction(1, 4)
    """
    refuse_gains(rules, NAME)
    unit = coefficients(max(able, 1), max(defenders, 1), rules).unit
    scale = lcm(*(value.denominator for value in worth))
    number_bytes = SUMMED * ((able + defenders) * unit.bit_length() // 8 + OUTCOME_BYTES)
    memory = (able + 1) * (defenders + 1) * number_bytes
    refuse_too_large(able, defenders, memory=memory, method=NAME, number_bytes=number_bytes)
    options = _options(able, defenders, rules, worth, choices, exact=True)
    solver = _Solver(options, choices, rules, unit, 0, None)
    cells = solver.cells(able, defenders, int(worth.prize * scale), every=True)
    tables = np.empty((PARTS, defenders + 1, able + 1), dtype=object)
    for (a, d), cell in cells.items():
        power = unit ** (a + d)
        tables[:SUMMED, d, a] = [
            Fraction(cell[GAIN], scale * power),
            Fraction(0),
            Fraction(cell[WIN], power),
            Fraction(cell[LOST], power),
        ]
        tables[SUMMED:, d, a] = cell[SUMMED:]
    return Play(*tables[:SUMMED], *tables[SUMMED:].astype(np.int64))


def pays_in_the_end(defenders: int, rules: Rules, worth: Worth) -> npt.NDArray[np.bool_]:
    """Return against which numbers of defenders rolling pays with attackers without end.

    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    worth: what the attacker wants.

    Entry `[d]` is for d defenders; `[0]` is false. With so many attackers only d matters:
    G(d) = max(0, (r + Σ_{k≥1} p_k · G(d − k)) / (1 − p_0)), where r is what a roll itself gains.

    >>> from iacta.rules.rules import CLASSIC
    >>> pays_in_the_end(8, CLASSIC, Worth(Fraction(5), Fraction(1), Fraction(0))).tolist()
    [False, True, True, True, True, True, True, False, False]
    """
    dice = rules.attack.kept
    options = _options(dice, defenders, rules, worth, STOP, exact=False)
    gains = [float(worth.prize)]
    for d in range(1, defenders + 1):
        option = options[dice, min(d, rules.defence.kept)][0][0]
        later = sum(p * gains[d - k] for k, p in enumerate(option.step) if k)
        gain = option.gain + later
        gains.append(gain / (1 - option.step[0]) if gain > 0 else 0.0)
    return np.array([False, *(gain > 0 for gain in gains[1:])])


def _options(
    able: int, defenders: int, rules: Rules, worth: Worth, choices: Choices, *, exact: bool
) -> dict[tuple[int, int], list[list[_Option]]]:
    """Return the rolls to choose from, for each number of armies of both sides up to all dice.

    Each inner list holds the defender's answers to one number of attack dice.
    """
    unit, steps = coefficients(max(able, 1), max(defenders, 1), rules)
    scale = lcm(*(value.denominator for value in worth)) if exact else 1
    option = {dice: _option(dice, step, worth, unit, scale, exact) for dice, step in steps.items()}
    return {
        (i, j): [
            [option[ours, theirs] for theirs in _numbers(j, choices.defence_dice)]
            for ours in _numbers(i, choices.attack_dice)
        ]
        for i, j in steps
    }


def _numbers(most: int, may_choose: bool) -> range:
    return range(most, 0 if may_choose else most - 1, -1)


def _option(
    dice: tuple[int, int], step: tuple[int, ...], worth: Worth, unit: int, scale: int, exact: bool
) -> _Option:
    taken = len(step) - 1
    lost = sum(c * (taken - k) for k, c in enumerate(step))
    killed = sum(c * k for k, c in enumerate(step))
    gain = worth.kill_value * killed - worth.army_value * lost
    if exact:
        return _Option(*dice, step, int(gain * scale), lost)
    total = unit**taken
    chances = tuple(c / total for c in step)  # nearest floats
    return _Option(*dice, chances, float(gain / total), lost / total)


@dataclass(frozen=True)
class _Solver:
    """Backward induction.

    options: the rolls to choose from.
    choices: what the players may choose.
    rules: the rules.
    unit: U; 1 for floats.
    roundoff: the largest relative error of one rounding; 0 if exact.
    instead: S; `None` for 0.
    """

    options: dict[tuple[int, int], list[list[_Option]]]
    choices: Choices
    rules: Rules
    unit: int
    roundoff: float
    instead: Instead | None

    def cells(self, able: int, defenders: int, prize: Number, *, every: bool) -> Cells:
        """Return the states one by one: every one, or only those in which dice are left."""
        powers = [self.unit**n for n in range(able + defenders + 1)]
        error = self.roundoff * prize
        cells: Cells = {
            (a, 0): (prize * powers[a], error, powers[a], 0, 0, 0) for a in range(able + 1)
        }
        for d in range(1, defenders + 1):
            cells[0, d] = (0, 0, 0, 0, 0, 0)
            few = d < self.rules.defence.kept
            last = able if every or few else min(self.rules.attack.kept - 1, able)
            for a in range(1, last + 1):
                cells[a, d] = self._cell(cells, a, d, powers)
        return cells

    def _cell(self, cells: Cells, a: int, d: int, powers: list[int]) -> Cell:
        dice = min(a, self.rules.attack.kept), min(d, self.rules.defence.kept)
        best = self._stay(a, d) if self.choices.stop else None
        for answers in self.options[dice]:
            worst = None
            for option in answers:
                found = self._roll(cells, a, d, option, powers)
                worst = found if worst is None else _choose(worst, found, -1)
            assert worst is not None  # noqa: S101 # a defender has a die
            best = worst if best is None else _choose(best, worst, 1)
        assert best is not None  # noqa: S101 # an attacker has a die
        return best

    def _stay(self, a: int, d: int) -> Cell:
        if self.instead is None:
            return (0, 0, 0, 0, 0, 0)
        gain = float(self.instead.gains[d, a])
        return (gain, float(self.instead.errors[d, a]), gain, 0, 0, 0)

    def _roll(self, cells: Cells, a: int, d: int, option: _Option, powers: list[int]) -> Cell:
        before = powers[a + d - option.taken]
        gain, lost = option.gain * before, option.lost * before
        later = size = error = win = 0
        for k, c in enumerate(option.step):
            cell = cells[a - option.taken + k, d - k]
            later += c * cell[GAIN]
            size += c * abs(cell[GAIN])
            error += c * cell[ERROR]
            win += c * cell[WIN]
            lost += c * cell[LOST]
        if self.roundoff:
            error += self._rounding(option) * (abs(gain) + size)
        return (gain + later, error, win, lost, option.attack_dice, option.defence_dice)

    def _rounding(self, option: _Option) -> float:
        # Two roundings for each product, one for each sum, and as many again in the error's own.
        return (2 * option.taken + 8) * self.roundoff

    def fill(self, sheared: Floats, total: int, defenders: slice) -> None:
        """Compute the states of an anti-diagonal in which all dice can be thrown.

        sheared: the parts of state (a, d) are `[a + d, :, d]`.
        total: a + d.
        defenders: their numbers.
        """
        best = self._stay_row(total, defenders) if self.choices.stop else None
        for answers in self.options[self.rules.full_roll]:
            worst = None
            for option in answers:
                found = self._roll_row(sheared, total, defenders, option)
                worst = found if worst is None else _choose_row(worst, found, -1)
            assert worst is not None  # noqa: S101 # a defender has a die
            best = worst if best is None else _choose_row(best, worst, 1)
        sheared[total, :, defenders] = best

    def _stay_row(self, total: int, defenders: slice) -> Floats:
        row = np.zeros((PARTS, defenders.stop - defenders.start))
        if self.instead is not None:
            d = np.arange(defenders.start, defenders.stop)
            row[GAIN] = row[WIN] = self.instead.gains[d, total - d]
            row[ERROR] = self.instead.errors[d, total - d]
        return row

    def _roll_row(self, sheared: Floats, total: int, defenders: slice, option: _Option) -> Floats:
        before = sheared[total - option.taken, :SUMMED]
        row = np.empty((PARTS, defenders.stop - defenders.start))
        summed = row[:SUMMED]
        np.multiply(before[:, defenders], option.step[0], summed)
        size = abs(summed[GAIN])
        for k in range(1, len(option.step)):
            terms = option.step[k] * before[:, defenders.start - k : defenders.stop - k]
            summed += terms
            size += abs(terms[GAIN])
        row[ERROR] += self._rounding(option) * (abs(option.gain) + size)
        row[GAIN] += option.gain
        row[LOST] += option.lost
        row[ATTACK], row[DEFENCE] = option.attack_dice, option.defence_dice
        return row


def _choose(first: Cell, second: Cell, sign: int) -> Cell:
    """Return the second if it is proven to be better, else the first, which then may be worse."""
    more = sign * (second[GAIN] - first[GAIN])
    if more > first[ERROR] + second[ERROR]:
        return second
    gain, error, win, lost, attack_dice, defence_dice = first
    return (gain, max(error, more + second[ERROR]), win, lost, attack_dice, defence_dice)


def _choose_row(first: Floats, second: Floats, sign: int) -> Floats:
    """Do as `_choose` for each column."""
    more = sign * (second[GAIN] - first[GAIN])
    better = more > first[ERROR] + second[ERROR]
    np.maximum(first[ERROR], more + second[ERROR], out=first[ERROR])
    return np.where(better, second, first)


def _put(sheared: Floats, cells: Cells) -> None:
    """Write states into the array of anti-diagonals."""
    a, d = np.array(list(cells)).T
    sheared[a + d, :, d] = np.array(list(cells.values()))


def _tables(sheared: Floats, able: int, defenders: int) -> Play:
    """Return the anti-diagonals as tables, without a copy but for the dice."""
    by_total, by_part, by_defenders = sheared.strides
    parts = as_strided(
        sheared,
        (PARTS, defenders + 1, able + 1),
        (by_part, by_total + by_defenders, by_total),
        writeable=False,
    )
    return Play(*parts[:SUMMED], *parts[SUMMED:].astype(np.int64))
