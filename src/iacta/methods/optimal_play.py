"""Optimal play: the best action in every state of a battle, by backward induction.

Let a be the number of attackers excluding the garrison and d the number of defenders. A roll of i
attack dice against j defence dice compares m = min(i, j) pairs. With the probability p_k(i, j) the
defenders lose k armies and the attackers m − k. The attacker maximises a sum of rewards: `prize`
for the territory, `army_value` for each army left, and `kill_value` for each destroyed defender.
The value function G(a, d) is the expected change in value from this state on:

    G(a, 0) = prize,        G(0, d) = 0,
    Q_ij(a, d) = Σ_k  p_k(i, j) · (kill_value · k − army_value · (m − k) + G(a − m + k, d − k)),
    G(a, d) = max(S(a, d), Q_ij(a, d)).

This is Bellman's equation. S is the value of stopping: 0, or the value of an alternative such as a
blitz. If all dice must be rolled, i and j are fixed. If the players choose them, the attacker
chooses first and the defender replies: max_i min_j Q_ij. A defender who sees the attack roll y
chooses j for each y. With the c_k(j, y) of `sees_first.py`, the inner minimum becomes

    Q_i(a, d) = Σ_y min_j Σ_k  c_k(j, y) · (r_k + G(a − m + k, d − k)),

where r_k = kill_value · k − army_value · (m − k).

The chance to win and the expected losses of the optimal policy follow from the same sums without
the maximum and the minimum.

Each anti-diagonal is computed as a whole (`diagonals.py`). Exact results are whole numbers over
U^(a+d), as in the method `counting`; for floats, U is 1.

Error. Each sum of floats has an error bound: the bounds of its terms, plus 2⁻⁵³ of their size for
each rounding. If the error bounds of two actions overlap, the first action is chosen (stopping
before rolling, more dice before fewer), and its bound is widened by the possible advantage of the
other action. The true G is therefore within `errors` of `values`, and a roll is chosen only if it
is proven to be better.

Source: R. Bellman, Dynamic Programming (1957), chapter III. "Analyzing the Board Game Risk"
(pracpred) ends by asking when to stop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.methods.counting import Coefficients, compute_coefficients, list_powers
from iacta.methods.diagonals import Numbers, Span, iterate_spans, view_rows
from iacta.methods.kernel import OUTCOME_BYTES, UNIT_ROUNDOFF, Floats, refuse_too_large
from iacta.methods.sees_first import Aim as Aim  # re-exported
from iacta.methods.sees_first import SeesFirst, compute_unit, tabulate_replies
from iacta.rules.modes import DefenderSeesFirst, TrueRandom
from iacta.rules.roll import refuse_many_rolls
from iacta.rules.rules import Rules

OPTIMAL_PLAY: str = "optimal_play"

Dice: TypeAlias = tuple[int, int]

QUANTITIES = 6  # value, error, chance to win, losses, attack dice, defence dice
SUMMED = 4  # the first four are sums over the results of a roll
MAX_REPLIED_STATES = 1_000_000  # about 10 s if the defender replies to the dice
JUDGED = 2  # replies are compared by the first two quantities
VALUE, ERROR, WIN, LOST, ATTACK, DEFENCE = range(QUANTITIES)


class Reward(NamedTuple):
    """The rewards of the attacker, all in the same unit.

    prize: the value of the territory.
    army_value: the value of each attacking army left.
    kill_value: the value of each defender destroyed.
    """

    prize: Fraction
    army_value: Fraction
    kill_value: Fraction


class Choices(NamedTuple):
    """The choices that the rules leave to the players.

    stop: whether the attacker may stop.
    attack_dice: whether the attacker may roll fewer dice than allowed.
    defence_dice: whether the defender, who sees the number of attack dice, may roll fewer dice. If
        the defender sees the attack roll, they always may.
    """

    stop: bool = True
    attack_dice: bool = False
    defence_dice: bool = False


MAY_STOP = Choices()
TO_THE_END = Choices(stop=False)


@dataclass(frozen=True, eq=False)
class OptimalPlay:
    """The value function and the optimal policy, as tables indexed by `[defenders, attackers]`.

    values: the attacker's expected gain from each state on.
    errors: bounds on the errors of the values; 0 if exact.
    win_probabilities: the chances to conquer the territory.
    lost: the expected numbers of attackers lost.
    attack_dice: the numbers of attack dice, 0 for no roll.
    defence_dice: the numbers of defence dice; 0 if the defender sees the attack roll.
    """

    values: npt.NDArray[Any]
    errors: npt.NDArray[Any]
    win_probabilities: npt.NDArray[Any]
    lost: npt.NDArray[Any]
    attack_dice: npt.NDArray[np.int64]
    defence_dice: npt.NDArray[np.int64]


class StopValue(NamedTuple):
    """The value of stopping, as tables indexed by `[defenders, attackers]`.

    values: S for a prize of 1, which is also the chance to conquer the territory.
    errors: bounds on the absolute errors of `values`.
    """

    values: Floats
    errors: Floats


class _Roll(NamedTuple):
    """A roll with given numbers of dice.

    step: c_0 .. c_m, the weights of the results with 0 .. m defenders lost; if the defender sees
        the attack roll, a row for each attack roll.
    reward: the values of `VALUE`, `ERROR`, `WIN` and `LOST` for the roll itself, in the unit of the
        weights, `[quantity, 1]` or `[quantity, attack roll, 1]`.
    dice: the numbers of dice of both sides, in the shape of `reward`.
    """

    step: Numbers
    reward: Numbers
    dice: Numbers

    @property
    def taken(self) -> int:
        return int(self.step.shape[-1]) - 1


def solve(
    able: int,
    defenders: int,
    rules: Rules,
    reward: Reward,
    choices: Choices = MAY_STOP,
    stop_value: StopValue | None = None,
) -> OptimalPlay:
    """Return the value function and optimal policy of all battles up to a size, in floats.

    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.
    rules: the rules of the battles.
    reward: the rewards of the attacker.
    choices: the choices of the players.
    stop_value: the value of stopping; `None` for 0.

    Battles that are too large, and rules without single rolls, raise `IactaError`.

    >>> from iacta.rules.rules import CLASSIC
    >>> found = solve(2, 1, CLASSIC, Reward(Fraction(2), Fraction(1), Fraction(0)))
    >>> found.values.round(4).tolist()
    [[2.0, 2.0, 2.0], [0.0, 0.25, 0.8414]]
    """
    refuse(able, defenders, rules)
    found = _choose_induction(rules)(able, defenders, rules, reward, choices, stop_value).solve()
    return OptimalPlay(*found[:SUMMED], *found[SUMMED:].astype(np.int64))


def refuse_rules(rules: Rules) -> None:
    """Raise `IllegalError` for rules without single rolls or under which a battle may never end.

    rules: the rules of a battle.
    """
    mode = rules.mode
    if not mode.rolls:
        error = mode.make_unfit_error("to decide roll by roll")
        raise IllegalError(f"{error}; best_mix, or iacta decide --mix, shows when to blitz")
    if not mode.has_plain_rolls and mode.dice_chosen_first:
        raise mode.make_unfit_error("to decide when to stop, or with how many dice to roll")
    if mode.grows:
        raise mode.make_unfit_error("to decide roll by roll")


def refuse(able: int, defenders: int, rules: Rules) -> None:
    """Raise `IactaError` if `solve` cannot compute a battle, before any large allocation.

    able: attackers excluding the garrison.
    defenders: armies on the defended territory.
    rules: the rules of the battles.
    """
    refuse_rules(rules)
    memory = 8 * QUANTITIES * (able + defenders + 1) * (defenders + 1)
    if not rules.mode.dice_chosen_first:
        if able * defenders > MAX_REPLIED_STATES:
            raise TooLargeError(
                f"a battle of {quote(able + rules.garrison)} against {quote(defenders)} is too "
                "large to decide roll by roll if the defender replies to the dice; the armies that "
                f"can attack times the defenders must be at most {MAX_REPLIED_STATES:,}"
            )
        SeesFirst(rules, exact=False).refuse(able, defenders)
        throws = len(tabulate_replies(*rules.full_roll, rules, exact=True)[0])
        memory += 8 * QUANTITIES * throws * rules.defence.kept * (defenders + 1)
    refuse_too_large(
        able, defenders, memory=memory, method=OPTIMAL_PLAY, number_bytes=8 * QUANTITIES
    )


def solve_exactly(
    able: int, defenders: int, rules: Rules, reward: Reward, choices: Choices = MAY_STOP
) -> OptimalPlay:
    """Return the value function and optimal policy of all battles up to a size, as fractions.

    able, defenders, rules, reward, choices: as for `solve`.

    Returns arrays of `Fraction`. Exceptions are as for `solve`.

    >>> from iacta.rules.rules import CLASSIC
    >>> solve_exactly(1, 1, CLASSIC, Reward(Fraction(2), Fraction(1), Fraction(0))).values[1, 1]
    Fraction(1, 4)
    """
    refuse_rules(rules)
    if not rules.mode.dice_chosen_first:
        SeesFirst(rules, exact=True).refuse(able, defenders)
    induction = _choose_induction(rules)(able, defenders, rules, reward, choices, exact=True)
    unit = induction.coefficients.unit
    number_bytes = SUMMED * ((able + defenders) * unit.bit_length() // 8 + OUTCOME_BYTES)
    memory = (able + 1) * (defenders + 1) * number_bytes
    refuse_too_large(able, defenders, memory=memory, method=OPTIMAL_PLAY, number_bytes=number_bytes)
    found = induction.solve()
    armies = np.add.outer(range(defenders + 1), range(able + 1))
    powers = np.array(induction.powers, object)[armies]
    units = induction.scale * powers, np.ones_like(powers), powers, powers
    fractions = np.frompyfunc(Fraction, 2, 1)(found[:SUMMED], np.array(units))
    return OptimalPlay(*fractions, *found[SUMMED:].astype(np.int64))


def is_rolling_best_in_the_limit(
    defenders: int, rules: Rules, reward: Reward
) -> npt.NDArray[np.bool_]:
    """For each number of defenders, return whether a very large stack should roll.

    defenders: the largest number of defenders.
    rules: the rules of the battles.
    reward: the rewards of the attacker.

    Entry `[d]` is for d defenders; `[0]` is false. In the limit only d matters:
    G(d) = max(0, x) with x = r + p_0 · x + Σ_{k≥1} p_k · G(d − k), where r is the mean reward of a
    roll. If the defender sees the attack roll, r and p_k depend on their replies, which minimise
    the right side. The minimum is a concave function of x, so Newton's method finds x.

    >>> from iacta.rules.rules import CLASSIC
    >>> reward = Reward(Fraction(5), Fraction(1), Fraction(0))
    >>> is_rolling_best_in_the_limit(8, CLASSIC, reward).tolist()
    [False, True, True, True, True, True, True, False, False]
    """
    dice = rules.attack.kept
    rolls = _choose_induction(rules)(dice, defenders, rules, reward, MAY_STOP).rolls
    values = [float(reward.prize)]
    for d in range(1, defenders + 1):
        replies = rolls[dice, min(d, rules.defence.kept)][0]
        stays = np.array([roll.step[..., 0] for roll in replies])
        ends = np.array(
            [
                roll.reward[VALUE, ..., 0]
                + sum(roll.step[..., k] * values[d - k] for k in range(1, roll.taken + 1))
                for roll in replies
            ]
        )
        values.append(_find_limit(stays, ends))
    return np.array([False, *(value > 0 for value in values[1:])])


def _find_limit(stays: Floats, ends: Floats) -> float:
    """Return the larger of 0 and the x that solves x = Σ min (ends + stays · x).

    stays: the chances that no defender is lost, for each reply and, if the defender sees the attack
        roll, for each attack roll.
    ends: the expected rewards of the roll, plus the expected values of all other results.
    """
    value = 0.0
    while True:  # ends because `value` rises, and there are finitely many choices of replies
        best = (ends + stays * value).argmin(axis=0)[np.newaxis]
        end = float(np.take_along_axis(ends, best, axis=0).sum())
        stay = float(np.take_along_axis(stays, best, axis=0).sum())
        if stay >= 1 or end / (1 - stay) <= value:
            return value
        value = end / (1 - stay)


def _list_numbers(maximum: int, may_choose: bool) -> range:
    return range(maximum, 0 if may_choose else maximum - 1, -1)


@dataclass(frozen=True)
class _Induction:
    """Backward induction. The fields are the arguments of `solve` and `solve_exactly`."""

    able: int
    defenders: int
    rules: Rules
    reward: Reward
    choices: Choices
    stop_value: StopValue | None = None
    exact: bool = False

    @cached_property
    def coefficients(self) -> Coefficients:
        return compute_coefficients(max(self.able, 1), max(self.defenders, 1), self.rules)

    @property
    def kind(self) -> type:
        return object if self.exact else float

    @cached_property
    def powers(self) -> list[int]:
        return list_powers(self.coefficients.unit if self.exact else 1, self.able + self.defenders)

    @cached_property
    def scale(self) -> int:
        """The factor that makes all values whole numbers."""
        return lcm(*(value.denominator for value in self.reward)) if self.exact else 1

    @property
    def sums(self) -> int:
        """The largest number of sums in the value of a roll."""
        return min(self.rules.full_roll)

    @cached_property
    def term_error(self) -> float:
        """The relative error of a term of the sums.

        There are two roundings for each product, one for each sum and for the reward, and as many
        again in the error bound itself.
        """
        return 0 if self.exact else 2 * (self.sums + 4) * UNIT_ROUNDOFF

    @cached_property
    def rolls(self) -> dict[Dice, list[list[_Roll]]]:
        """The possible rolls, indexed by the largest numbers of attack and defence dice.

        Each inner list contains the defender's replies to one number of attack dice.
        """
        roll = {dice: self._make_roll(dice, step) for dice, step in self.coefficients.steps.items()}
        return {
            (i, j): [
                [roll[ours, theirs] for theirs in _list_numbers(j, self.choices.defence_dice)]
                for ours in _list_numbers(i, self.choices.attack_dice)
            ]
            for i, j in roll
        }

    def _make_roll(self, dice: Dice, step: Sequence[int] | Numbers) -> _Roll:
        taken, weights = min(dice), np.array(step, object)
        killed = np.arange(taken + 1).astype(object)
        lost, kills = weights @ killed[::-1], weights @ killed
        reward = self.reward.kill_value * kills - self.reward.army_value * lost
        number = np.frompyfunc(int if self.exact else float, 1, 1)
        cases = 1 if self.exact else self.coefficients.unit**taken
        value = number(reward * self.scale / cases)
        chances, loss = (number(each * Fraction(1, cases)) for each in (weights, lost))
        found: Numbers = np.array([value, self.term_error * abs(value), 0 * value, loss], self.kind)
        numbers = np.array(dice).reshape(-1, *[1] * weights.ndim)
        return _Roll(chances.astype(self.kind), found[..., np.newaxis], numbers)

    def solve(self) -> Numbers:
        """Return all quantities of all states, `[quantity, d, a]`. Sums are in units of U^(a+d)."""
        size = self.able + self.defenders + 1, QUANTITIES, self.defenders + 1
        diagonals: Numbers = np.zeros(size, self.kind)
        won = diagonals[: self.able + 1, :, 0]
        won[:, WIN] = self.powers[: self.able + 1]
        prize = self.reward.prize * self.scale
        won[:, VALUE] = won[:, WIN] * (int(prize) if self.exact else float(prize))
        # An error includes the rounding errors of later sums that use the value.
        won[:, ERROR] = won[:, VALUE] * self.term_error
        for span in iterate_spans(self.able, self.defenders, self.rules.full_roll):
            states = self._choose_best(span, diagonals[:, :SUMMED])
            states[ERROR] += self.term_error * abs(states[VALUE])
            span.view(diagonals)[:] = states
        return view_rows(diagonals)

    def _choose_best(self, span: Span, diagonals: Numbers) -> Numbers:
        """Return all quantities of the states of a span, `[quantity, state]`."""
        after = {m: span.after(diagonals, m) for m in range(1, min(span.dice) + 1)}
        found = [self._evaluate_stop(span)] if self.choices.stop else []
        found += [self._evaluate_replies(span, after, each) for each in self.rolls[span.dice]]
        return reduce(_choose_better, found)

    def _evaluate_replies(
        self, span: Span, after: dict[int, Numbers], replies: list[_Roll]
    ) -> Numbers:
        rolled = [self._evaluate_roll(span, after[roll.taken], roll) for roll in replies]
        return reduce(_worse, rolled)

    def _evaluate_stop(self, span: Span) -> Numbers:
        states: Numbers = np.zeros((QUANTITIES, span.stop - span.first), self.kind)
        if self.stop_value is not None:
            d = np.arange(span.first, span.stop)
            states[VALUE] = states[WIN] = self.stop_value.values[d, span.total - d]
            states[ERROR] = self.stop_value.errors[d, span.total - d]
        return states

    def _evaluate_roll(self, span: Span, after: Numbers, roll: _Roll) -> Numbers:
        """Return all quantities after a roll, `[quantity, state]`, with the axes of `reward`."""
        rows = roll.step.shape[:-1]
        states: Numbers = np.empty((QUANTITIES, *rows, after.shape[-1]), self.kind)
        sums = np.dot(roll.step, after.reshape(len(after), -1)).reshape(*rows, SUMMED, -1)
        sums = np.moveaxis(sums, -2, 0)
        np.add(sums, roll.reward * self.powers[span.total - roll.taken], out=states[:SUMMED])
        states[SUMMED:] = roll.dice
        return states


class _SeenInduction(_Induction):
    """Backward induction against a defender who sees the attack roll."""

    @cached_property
    def coefficients(self) -> Coefficients:
        return Coefficients(compute_unit(self.rules), {})

    @property
    def sums(self) -> int:
        throws = tabulate_replies(*self.rules.full_roll, self.rules, exact=True)[0]
        return super().sums + len(throws)

    @cached_property
    def rolls(self) -> dict[Dice, list[list[_Roll]]]:
        attack, defence = self.rules.full_roll
        refuse_many_rolls(attack, defence, self.rules)

        def list_replies(i: int, most: int) -> list[_Roll]:
            steps = tabulate_replies(i, most, self.rules, exact=True)
            return [self._make_roll((i, j), steps[j - 1]) for j in _list_numbers(most, True)]

        return {
            (i, j): [list_replies(ours, j) for ours in _list_numbers(i, self.choices.attack_dice)]
            for i in range(1, min(max(self.able, 1), attack) + 1)
            for j in range(1, min(max(self.defenders, 1), defence) + 1)
        }

    def _evaluate_replies(
        self, span: Span, after: dict[int, Numbers], replies: list[_Roll]
    ) -> Numbers:
        powers = [self.powers[span.total - roll.taken] for roll in replies]
        # The array `best` has the value and the error of the best reply so far, with the shape
        # [quantity, attack roll, state].
        best = self._judge_reply(after, replies[0], powers[0])
        chosen = np.zeros(best.shape[1:], np.int64)
        for number, (roll, power) in enumerate(zip(replies[1:], powers[1:], strict=True), 1):
            found = self._judge_reply(after, roll, power)
            less = best[VALUE] - found[VALUE]
            is_better = less > best[ERROR] + found[ERROR]
            np.maximum(best[ERROR], less + found[ERROR], out=best[ERROR])
            np.copyto(best, found, where=is_better)
            chosen[is_better] = number
        states: Numbers = np.zeros((QUANTITIES, span.stop - span.first), self.kind)
        states[:JUDGED] = best.sum(axis=1)
        for number, (roll, power) in enumerate(zip(replies, powers, strict=True)):
            weights: Numbers = (chosen == number).astype(self.kind)  # [attack roll, state]
            chances = roll.step.T @ weights  # [defenders lost, state]
            for lost, chance in zip(after[roll.taken], chances, strict=True):
                states[JUDGED:SUMMED] += chance * lost[JUDGED:]
            states[JUDGED:SUMMED] += roll.reward[JUDGED:, :, 0] @ weights * power
        states[ATTACK] = replies[0].dice.flat[0]
        return states

    def _judge_reply(self, after: dict[int, Numbers], roll: _Roll, power: Any) -> Numbers:
        """Return the value after a reply and its error, `[quantity, attack roll, state]`."""
        judged = after[roll.taken][:, :JUDGED]
        sums: Numbers = np.dot(roll.step, judged.reshape(len(judged), -1))
        values = np.moveaxis(sums.reshape(len(roll.step), JUDGED, -1), 1, 0)
        values += roll.reward[:JUDGED] * power
        return values


def _choose_induction(rules: Rules) -> type[_Induction]:
    return _Induction if rules.mode.dice_chosen_first else _SeenInduction


def _choose_better(first: Numbers, second: Numbers, sign: int = 1) -> Numbers:
    """For each state, choose the second action if it is proven to be better, otherwise the first.

    sign: 1 if larger values are better, −1 if smaller values are.
    """
    more = sign * (second[VALUE] - first[VALUE])
    better = more > first[ERROR] + second[ERROR]
    np.maximum(first[ERROR], more + second[ERROR], out=first[ERROR])
    return np.where(better, second, first)


_worse = partial(_choose_better, sign=-1)


def compute_chance_if_seen(
    attackers: int, defenders: int, rules: Rules, aim: Aim = "conquest"
) -> float:
    """Return the chance to win against a defender who sees the attack roll.

    attackers: attackers excluding the garrison.
    defenders: armies on the defended territory.
    rules: the rules of the battle, in any mode with single rolls.
    aim: the quantity that the defender minimises: `"conquest"` for the attackers' chance to win, or
        `"losses"` for the expected number of defenders lost in the battle.

    Return a float with the error of `SeesFirst`. Exceptions are as for `SeesFirst`; modes without
    attack rolls also raise `IllegalError`.

    >>> round(compute_chance_if_seen(10, 10, Rules(), "losses"), 4)
    0.454
    """
    mode = rules.mode
    if not isinstance(mode, TrueRandom | DefenderSeesFirst):
        raise IllegalError(
            f"{mode.key} must be {mode.off!r} if the defender sees the attack first, "
            f"got {quote(mode.format_value())}"
        )
    if isinstance(mode, TrueRandom):
        rules = replace(rules, mode=DefenderSeesFirst())
    kernel = SeesFirst(rules, exact=False)
    return kernel.chance(attackers, defenders, aim) if attackers > 0 else 0.0
