"""Optimal play: the best action in every state of a battle, by backward induction.

Let a be the attackers able to attack (the garrison left out) and d the defenders. A roll with i
attack dice against j compares m = min(i, j) pairs and costs the defenders k armies, and the
attackers m − k, with the probability p_k(i, j). What an attacker wants is a sum of rewards: `prize`
for the territory, `army_value` for each army that is left, `kill_value` for each that is
destroyed. The armies of now are owned already, so let the value function G(a, d) be what is gained
from here on:

    G(a, 0) = prize,        G(0, d) = 0,
    Q_ij(a, d) = Σ_k  p_k(i, j) · ( kill_value · k − army_value · (m − k) + G(a − m + k, d − k) ),
    G(a, d) = max( S(a, d),  Q_ij(a, d) ),

Bellman's equation, where S is the value of stopping: 0, or what a player gains who stops to do
something else, such as a blitz. With all dice thrown, i and j are fixed. Where the players choose
them, the attacker names a number first and the defender answers: max_i min_j Q_ij. The chance to
win and the expected losses of the optimal policy follow by the same sums, without a maximum.

All a + d = t depend on t − 1, t − 2 ..., so a whole anti-diagonal is computed at once; only where
fewer armies are left than dice are the states taken one by one. Exact answers count in whole
numbers over U^(a+d), as the method `counting` does, state by state.

Error. Each sum of floats carries a bound on its error along with it: that of its terms, and some
2⁻⁵³ of their size for each rounding. Of two actions whose bounds overlap the first is taken (stop
before roll, more dice before fewer), and the bound is widened by as much as the other might be
better. So the true G is within `errors` of `values`, and rolling is called better only where that
is proven.

Source: R. Bellman, Dynamic Programming (1957), chapter III; the question when to stop is left open
at the end of "Analyzing the Board Game Risk" (pracpred).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.checks import shown
from iacta.errors import IllegalError
from iacta.methods.counting import coefficients
from iacta.methods.kernel import OUTCOME_BYTES, UNIT_ROUNDOFF, Floats, refuse_too_large
from iacta.methods.sees_first import Aim as Aim  # a kind of play of these functions, too
from iacta.methods.sees_first import SeesFirst
from iacta.rules.modes import DefenderSeesFirst, TrueRandom
from iacta.rules.rules import Rules

NAME: str = "optimal_play"

Number: TypeAlias = Any  # int where exact, else float
Entry: TypeAlias = tuple[Number, Number, Number, Number, int, int]
Entries: TypeAlias = dict[tuple[int, int], Entry]

PARTS = 6  # value, error, win, lost, attack dice, defence dice
SUMMED = 4
VALUE, ERROR, WIN, LOST, ATTACK, DEFENCE = range(PARTS)


class Reward(NamedTuple):
    """What the attacker is rewarded for, all in one currency.

    prize: what the territory is worth.
    army_value: what each attacking army is worth.
    kill_value: what each destroyed defender is worth.
    """

    prize: Fraction
    army_value: Fraction
    kill_value: Fraction


class Choices(NamedTuple):
    """What the players may choose.

    stop: whether the attacker may stop.
    attack_dice: whether the attacker may throw fewer dice than allowed.
    defence_dice: whether the defender may, knowing how many the attacker throws.
    """

    stop: bool = True
    attack_dice: bool = False
    defence_dice: bool = False


MAY_STOP = Choices()


@dataclass(frozen=True, eq=False)
class Solution:
    """The value function and the optimal policy: tables `[defenders, able]`.

    values: what the attacker is expected to gain from there on.
    errors: how far a value may be from the true one; 0 if exact.
    win_probabilities: the chance to take the territory.
    lost: the expected number of attackers lost.
    attack_dice: how many dice the attacker throws, 0 for no roll.
    defence_dice: how many dice the defender throws.
    """

    values: npt.NDArray[Any]
    errors: npt.NDArray[Any]
    win_probabilities: npt.NDArray[Any]
    lost: npt.NDArray[Any]
    attack_dice: npt.NDArray[np.int64]
    defence_dice: npt.NDArray[np.int64]


class StopValue(NamedTuple):
    """The value of stopping where it is not 0: tables `[defenders, able]`.

    values: S, for a prize of 1, so that it is the chance to take the territory too.
    errors: how far each entry may be from the true one.
    """

    values: Floats
    errors: Floats


class _Roll(NamedTuple):
    """One roll: c_0 .. c_m, and in the same unit its expected reward and attackers lost."""

    attack_dice: int
    defence_dice: int
    step: tuple[Number, ...]
    reward: Number
    lost: Number

    @property
    def taken(self) -> int:
        return len(self.step) - 1


def solve(
    able: int,
    defenders: int,
    rules: Rules,
    reward: Reward,
    choices: Choices = MAY_STOP,
    stop_value: StopValue | None = None,
) -> Solution:
    """Return the value function of all battles up to a size, in floats.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    reward: what the attacker wants.
    choices: what the players may choose.
    stop_value: the value of stopping; `None` for 0.

    Each value is within its entry of `errors`. Battles too large for memory are refused, and rules
    under which battles are not decided roll by roll.

    >>> from iacta.rules.rules import CLASSIC
    >>> found = solve(2, 1, CLASSIC, Reward(Fraction(2), Fraction(1), Fraction(0)))
    >>> found.values.round(4).tolist()
    [[2.0, 2.0, 2.0], [0.0, 0.25, 0.8414]]
    """
    refuse(able, defenders, rules)
    rolls = _rolls(able, defenders, rules, reward, choices, exact=False)
    induction = _Induction(rolls, choices, rules, 1, UNIT_ROUNDOFF, stop_value)
    sheared = np.zeros((able + defenders + 1, PARTS, defenders + 1))
    _put(sheared, induction.entries(able, defenders, float(reward.prize), every=False))
    for total in range(sum(rules.full_roll), able + defenders + 1):
        first = max(rules.defence.kept, total - able)
        end = min(defenders, total - rules.attack.kept) + 1
        if first < end:
            induction.fill(sheared, total, slice(first, end))
    return _tables(sheared, able, defenders)


def refuse_rules(rules: Rules) -> None:
    """Refuse rules under which a battle is not decided roll by roll, or need not end.

    rules: the rules of a battle.
    """
    mode = rules.mode
    if not mode.rolls:
        error = mode.unfit("to decide roll by roll")
        raise IllegalError(f"{error}; best_mix, or iacta decide --mix, shows when to blitz")
    if not mode.dice_chosen_first:
        raise mode.unfit("to decide when to stop, or with how many dice to roll")
    if mode.grows:
        raise mode.unfit("to decide roll by roll")


def refuse(able: int, defenders: int, rules: Rules) -> None:
    """Refuse what `solve` cannot answer, before allocating anything of its size.

    able: attackers able to attack, garrison left out.
    defenders: armies on the defended territory.
    rules: the rules of the battles.
    """
    refuse_rules(rules)
    memory = 8 * PARTS * (able + defenders + 1) * (defenders + 1)
    refuse_too_large(able, defenders, memory=memory, method=NAME, number_bytes=8 * PARTS)


def solve_exactly(
    able: int, defenders: int, rules: Rules, reward: Reward, choices: Choices = MAY_STOP
) -> Solution:
    """Return the value function of all battles up to a size, in fractions.

    able, defenders, rules, reward, choices: as for `solve`.

    Arrays of `Fraction`; equally good actions are decided as in `solve`. The same is refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> solve_exactly(1, 1, CLASSIC, Reward(Fraction(2), Fraction(1), Fraction(0))).values[1, 1]
    Fraction(1, 4)
    """
    refuse_rules(rules)
    unit = coefficients(max(able, 1), max(defenders, 1), rules).unit
    scale = lcm(*(value.denominator for value in reward))
    number_bytes = SUMMED * ((able + defenders) * unit.bit_length() // 8 + OUTCOME_BYTES)
    memory = (able + 1) * (defenders + 1) * number_bytes
    refuse_too_large(able, defenders, memory=memory, method=NAME, number_bytes=number_bytes)
    rolls = _rolls(able, defenders, rules, reward, choices, exact=True)
    induction = _Induction(rolls, choices, rules, unit, 0, None)
    entries = induction.entries(able, defenders, int(reward.prize * scale), every=True)
    tables = np.empty((PARTS, defenders + 1, able + 1), dtype=object)
    for (a, d), entry in entries.items():
        power = unit ** (a + d)
        tables[:SUMMED, d, a] = [
            Fraction(entry[VALUE], scale * power),
            Fraction(0),
            Fraction(entry[WIN], power),
            Fraction(entry[LOST], power),
        ]
        tables[SUMMED:, d, a] = entry[SUMMED:]
    return Solution(*tables[:SUMMED], *tables[SUMMED:].astype(np.int64))


def rolling_pays_in_the_limit(
    defenders: int, rules: Rules, reward: Reward
) -> npt.NDArray[np.bool_]:
    """Return against which numbers of defenders rolling pays as the attackers grow without end.

    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    reward: what the attacker wants.

    Entry `[d]` is for d defenders; `[0]` is false. With so many attackers only d matters:
    G(d) = max(0, (r + Σ_{k≥1} p_k · G(d − k)) / (1 − p_0)), where r is the reward of a roll itself.

    >>> from iacta.rules.rules import CLASSIC
    >>> reward = Reward(Fraction(5), Fraction(1), Fraction(0))
    >>> rolling_pays_in_the_limit(8, CLASSIC, reward).tolist()
    [False, True, True, True, True, True, True, False, False]
    """
    dice = rules.attack.kept
    rolls = _rolls(dice, defenders, rules, reward, MAY_STOP, exact=False)
    values = [float(reward.prize)]
    for d in range(1, defenders + 1):
        roll = rolls[dice, min(d, rules.defence.kept)][0][0]
        later = sum(p * values[d - k] for k, p in enumerate(roll.step) if k)
        value = roll.reward + later
        values.append(value / (1 - roll.step[0]) if value > 0 else 0.0)
    return np.array([False, *(value > 0 for value in values[1:])])


def _rolls(
    able: int, defenders: int, rules: Rules, reward: Reward, choices: Choices, *, exact: bool
) -> dict[tuple[int, int], list[list[_Roll]]]:
    """Return the rolls to choose from, for each number of armies of both sides up to all dice.

    Each inner list holds the defender's replies to one number of attack dice.
    """
    unit, steps = coefficients(max(able, 1), max(defenders, 1), rules)
    scale = lcm(*(value.denominator for value in reward)) if exact else 1
    roll = {dice: _roll(dice, step, reward, unit, scale, exact) for dice, step in steps.items()}
    return {
        (i, j): [
            [roll[ours, theirs] for theirs in _numbers(j, choices.defence_dice)]
            for ours in _numbers(i, choices.attack_dice)
        ]
        for i, j in steps
    }


def _numbers(most: int, may_choose: bool) -> range:
    return range(most, 0 if may_choose else most - 1, -1)


def _roll(
    dice: tuple[int, int], step: tuple[int, ...], reward: Reward, unit: int, scale: int, exact: bool
) -> _Roll:
    taken = len(step) - 1
    lost = sum(c * (taken - k) for k, c in enumerate(step))
    killed = sum(c * k for k, c in enumerate(step))
    total = reward.kill_value * killed - reward.army_value * lost
    if exact:
        return _Roll(*dice, step, int(total * scale), lost)
    cases = unit**taken
    probabilities = tuple(c / cases for c in step)  # nearest floats
    return _Roll(*dice, probabilities, float(total / cases), lost / cases)


@dataclass(frozen=True)
class _Induction:
    """Backward induction.

    rolls: the rolls to choose from.
    choices: what the players may choose.
    rules: the rules.
    unit: U; 1 for floats.
    roundoff: the largest relative error of one rounding; 0 if exact.
    stop_value: S; `None` for 0.
    """

    rolls: dict[tuple[int, int], list[list[_Roll]]]
    choices: Choices
    rules: Rules
    unit: int
    roundoff: float
    stop_value: StopValue | None

    def entries(self, able: int, defenders: int, prize: Number, *, every: bool) -> Entries:
        """Return the states one by one: every one, or only those in which dice are left."""
        powers = [self.unit**n for n in range(able + defenders + 1)]
        error = self.roundoff * prize
        entries: Entries = {
            (a, 0): (prize * powers[a], error, powers[a], 0, 0, 0) for a in range(able + 1)
        }
        for d in range(1, defenders + 1):
            entries[0, d] = (0, 0, 0, 0, 0, 0)
            few = d < self.rules.defence.kept
            last = able if every or few else min(self.rules.attack.kept - 1, able)
            for a in range(1, last + 1):
                entries[a, d] = self._entry(entries, a, d, powers)
        return entries

    def _entry(self, entries: Entries, a: int, d: int, powers: list[int]) -> Entry:
        dice = min(a, self.rules.attack.kept), min(d, self.rules.defence.kept)
        found = [self._stopped(a, d)] if self.choices.stop else []
        for replies in self.rolls[dice]:
            rolled = [self._rolled(entries, a, d, roll, powers) for roll in replies]
            found.append(reduce(_worse, rolled))
        return reduce(_better, found)

    def _stopped(self, a: int, d: int) -> Entry:
        if self.stop_value is None:
            return (0, 0, 0, 0, 0, 0)
        value = float(self.stop_value.values[d, a])
        return (value, float(self.stop_value.errors[d, a]), value, 0, 0, 0)

    def _rolled(self, entries: Entries, a: int, d: int, roll: _Roll, powers: list[int]) -> Entry:
        before = powers[a + d - roll.taken]
        reward, lost = roll.reward * before, roll.lost * before
        later = size = error = win = 0
        for k, c in enumerate(roll.step):
            after = entries[a - roll.taken + k, d - k]
            later += c * after[VALUE]
            size += c * abs(after[VALUE])
            error += c * after[ERROR]
            win += c * after[WIN]
            lost += c * after[LOST]
        if self.roundoff:
            error += self._rounding(roll) * (abs(reward) + size)
        return (reward + later, error, win, lost, roll.attack_dice, roll.defence_dice)

    def _rounding(self, roll: _Roll) -> float:
        # Two roundings for each product, one for each sum, and as many again in the error's own.
        return (2 * roll.taken + 8) * self.roundoff

    def fill(self, sheared: Floats, total: int, defenders: slice) -> None:
        """Compute the states of an anti-diagonal in which all dice can be thrown.

        sheared: the parts of state (a, d) are `[a + d, :, d]`.
        total: a + d.
        defenders: their numbers.
        """
        found = [self._stopped_row(total, defenders)] if self.choices.stop else []
        for replies in self.rolls[self.rules.full_roll]:
            rows = [self._rolled_row(sheared, total, defenders, roll) for roll in replies]
            found.append(reduce(_worse_row, rows))
        sheared[total, :, defenders] = reduce(_better_row, found)

    def _stopped_row(self, total: int, defenders: slice) -> Floats:
        row = np.zeros((PARTS, defenders.stop - defenders.start))
        if self.stop_value is not None:
            d = np.arange(defenders.start, defenders.stop)
            row[VALUE] = row[WIN] = self.stop_value.values[d, total - d]
            row[ERROR] = self.stop_value.errors[d, total - d]
        return row

    def _rolled_row(self, sheared: Floats, total: int, defenders: slice, roll: _Roll) -> Floats:
        before = sheared[total - roll.taken, :SUMMED]
        row = np.empty((PARTS, defenders.stop - defenders.start))
        summed = row[:SUMMED]
        np.multiply(before[:, defenders], roll.step[0], summed)
        size = abs(summed[VALUE])
        for k in range(1, len(roll.step)):
            terms = roll.step[k] * before[:, defenders.start - k : defenders.stop - k]
            summed += terms
            size += abs(terms[VALUE])
        row[ERROR] += self._rounding(roll) * (abs(roll.reward) + size)
        row[VALUE] += roll.reward
        row[LOST] += roll.lost
        row[ATTACK], row[DEFENCE] = roll.attack_dice, roll.defence_dice
        return row


def _better(first: Entry, second: Entry, sign: int = 1) -> Entry:
    """Return the second if it is proven to be better, else the first, which then may be worse."""
    more = sign * (second[VALUE] - first[VALUE])
    if more > first[ERROR] + second[ERROR]:
        return second
    value, error, win, lost, attack_dice, defence_dice = first
    return (value, max(error, more + second[ERROR]), win, lost, attack_dice, defence_dice)


_worse = partial(_better, sign=-1)


def _better_row(first: Floats, second: Floats, sign: int = 1) -> Floats:
    more = sign * (second[VALUE] - first[VALUE])
    better = more > first[ERROR] + second[ERROR]
    np.maximum(first[ERROR], more + second[ERROR], out=first[ERROR])
    return np.where(better, second, first)


_worse_row = partial(_better_row, sign=-1)


def _put(sheared: Floats, entries: Entries) -> None:
    a, d = np.array(list(entries)).T
    sheared[a + d, :, d] = np.array(list(entries.values()))


def _tables(sheared: Floats, able: int, defenders: int) -> Solution:
    """Return the anti-diagonals as tables, without a copy but for the dice."""
    by_total, by_part, by_defenders = sheared.strides
    parts = as_strided(
        sheared,
        (PARTS, defenders + 1, able + 1),
        (by_part, by_total + by_defenders, by_total),
        writeable=False,
    )
    return Solution(*parts[:SUMMED], *parts[SUMMED:].astype(np.int64))


def chance_if_seen(attackers: int, defenders: int, rules: Rules, aim: Aim = "conquest") -> float:
    """Return the chance to win against a defender who sees the attack, whatever the rules say.

    attackers: attackers able to attack, garrison left out.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    aim: what the defender minimises: `"conquest"`, the chance to win; or `"losses"`,
        the expected number of defenders lost in the battle.

    A float with the error of `SeesFirst`, which refuses the same battles. Modes in which no attack
    is seen are refused.

    >>> round(chance_if_seen(10, 10, Rules(), "losses"), 4)
    0.454
    """
    mode = rules.mode
    if not isinstance(mode, TrueRandom | DefenderSeesFirst):
        raise IllegalError(
            f"{mode.key} must be {mode.off!r} where the defender sees the attack first, "
            f"got {shown(mode.setting())}"
        )
    kernel = SeesFirst(replace(rules, mode=DefenderSeesFirst()), exact=False)
    return kernel.chance(attackers, defenders, aim) if attackers > 0 else 0.0
