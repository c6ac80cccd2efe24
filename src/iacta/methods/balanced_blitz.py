"""Balanced blitz: a dice mode of the official app that reshapes the outcomes of a battle.

With A attackers (garrison excluded) and D defenders, a battle with true random dice ends with the
probabilities

    al[i] = P(won, i attackers lost),     i = 0 .. A − 1,      W = Σ al[i],
    dl[j] = P(lost, j defenders lost),    j = 0 .. D − 1,      L = Σ dl[j] = 1 − W.

Four steps give the probabilities of a balanced battle:

1. If W ≤ .05 (the win-chance cut-off), al is set to 0 and dl is scaled to sum to 1. If L ≤ .05, the
   same is done with al and dl exchanged.
2. W becomes W₂ = W^1.3 / (W^1.3 + L^1.3) (1.3 is the win-chance power), L becomes 1 − W₂, and al
   and dl are scaled to these sums.
3. All outcomes form one list, from best to worst for the attackers: al[0] .. al[A − 1],
   dl[D − 1] .. dl[0]. A probability of .10 (the outcome cut-off) is removed from each end: whole
   entries, and part of the entry that crosses .10. The list is scaled to sum to 1. This step
   determines the final W and L.
4. Each entry is raised to the power 1.8 (the outcome power), and al and dl are scaled to the W and
   L of step 3.

Step 3 always removes .10 from each end, so the final chance to win depends only on W:

    W₃ = min(max((W₂ − .10) / .80, 0), 1).

It is exactly 1.0 for W ≥ 1 / (1 + 9^(−1/1.3)) = .84425, and exactly 0.0 for W ≤ .15575.

`Blitz` is the kernel. It applies the four steps to the kernel of the same rules with true random
dice.

Error. W, al and dl have a relative error δ. A cut-off subtracts, which preserves only a bound on
the absolute error, so only the absolute error of an answer is bounded (`Blitz.error`). If W or L
equals .05 within δ, the computation may take either side of the win-chance cut-off; the chance to
win is the same on both sides.

Source: the algorithm published in 2024 by the makers of RISK: Global Domination for version 3.3 of
    the app. They announced changes to the dice from version 3.20 (2025) on, without details, so the
    odds of a blitz may be different there.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.methods.counting import Ends, UnitKernel
from iacta.methods.kernel import (
    UNIT_ROUNDOFF,
    Chances,
    Choice,
    Error,
    Find,
    Floats,
    Kernel,
    State,
    Transitions,
    Values,
    refuse_too_large,
)
from iacta.probability.distribution import Distribution
from iacta.rules.modes import BalancedBlitz, TrueRandom
from iacta.rules.rules import Rules

BALANCED_BLITZ: str = "balanced_blitz"

WIN_CUT_OFF = Fraction("0.05")
WIN_POWER = Fraction("1.3")
OUTCOME_CUT_OFF = Fraction("0.10")
OUTCOME_POWER = Fraction("1.8")

MIN_TRUE_ERROR = 1e-12  # minimum relative error assumed for chances with true random dice
BELOW_ONE = 1 - UNIT_ROUNDOFF
MAX_TABLE_STATES = 250_000  # larger battles are solved faster without a table
MAX_TABLE_ATTACKERS = 2_000  # larger stacks are solved faster without a table
MAX_OUTCOMES = 10**6
VALUE_BYTES = 100
ROOT_DIGITS = 60


class Outcomes(NamedTuple):
    """The probabilities of all outcomes of a battle, from best to worst for the attackers.

    won: al[0], al[1] ... al[A − 1] along the last axis; other axes distinguish battles.
    lost: dl[D − 1] ... dl[1], dl[0].
    """

    won: Floats
    lost: Floats


def cut_off_rare_wins(outcomes: Outcomes) -> Outcomes:
    """Apply step 1: a chance to win or to lose of at most 5% becomes 0.

    outcomes: the probabilities with true random dice.

    >>> cut_off_rare_wins(Outcomes(np.array([0.01, 0.03]), np.array([0.48, 0.48])))
    Outcomes(won=array([0., 0.]), lost=array([0.5, 0.5]))
    """
    won, lost = _sum_sides(outcomes)
    never = won <= float(WIN_CUT_OFF)
    always = lost <= float(WIN_CUT_OFF)
    return _scale(outcomes, np.where(never, 0.0, np.where(always, 1.0, won)))


def favour_the_favourite(outcomes: Outcomes) -> Outcomes:
    """Apply step 2: the favourite becomes more likely to win.

    outcomes: the probabilities after step 1.

    >>> outcomes = favour_the_favourite(Outcomes(np.array([0.75]), np.array([0.25])))
    >>> round(float(outcomes.won[0]), 6)
    0.80662
    """
    won, lost = _sum_sides(outcomes)
    return _scale(outcomes, _favour(won, lost))


def cut_off_outcomes(outcomes: Outcomes) -> Outcomes:
    """Apply step 3: the best tenth and the worst tenth of the outcomes are removed.

    outcomes: the probabilities after step 2.

    >>> cut_off_outcomes(Outcomes(np.array([0.05, 0.45]), np.array([0.42, 0.08]))).won
    array([0. , 0.5])
    """
    line = np.concatenate(outcomes, axis=-1)
    for _ in range(2):  # cut the front, reverse the list, and repeat
        beyond = np.cumsum(line, axis=-1) - float(OUTCOME_CUT_OFF)
        line = np.clip(beyond, 0.0, line)[..., ::-1]
    line /= line.sum(axis=-1, keepdims=True)
    count = outcomes.won.shape[-1]
    return Outcomes(line[..., :count], line[..., count:])


def raise_outcomes(outcomes: Outcomes) -> Outcomes:
    """Apply step 4: likely outcomes of each winner become even likelier.

    outcomes: the probabilities after step 3.

    >>> raise_outcomes(Outcomes(np.array([0.5, 0.25]), np.array([0.25]))).won.round(6)
    array([0.582672, 0.167328])
    """
    won, _ = _sum_sides(outcomes)
    likelier = (_raise_power(side, OUTCOME_POWER) for side in outcomes)
    return _scale(Outcomes(*likelier), won)


def reshape(outcomes: Outcomes) -> Outcomes:
    """Apply steps 1 to 4, which gives the probabilities of balanced battles.

    outcomes: the probabilities with true random dice, for one battle or several.

    >>> two_against_one = Outcomes(np.array([125 / 216, 455 / 2592]), np.array([637 / 2592]))
    >>> round(float(reshape(two_against_one).won.sum()), 7)
    0.8889928
    """
    return raise_outcomes(cut_off_outcomes(favour_the_favourite(cut_off_rare_wins(outcomes))))


def _sum_sides(outcomes: Outcomes) -> tuple[Floats, Floats]:
    return outcomes.won.sum(axis=-1, keepdims=True), outcomes.lost.sum(axis=-1, keepdims=True)


def _scale(outcomes: Outcomes, won: Floats) -> Outcomes:
    """Scale the probabilities so that wins sum to `won` and losses to the rest."""
    return Outcomes(_scale_side(outcomes.won, won), _scale_side(outcomes.lost, 1.0 - won))


def _scale_side(side: Floats, total: Floats) -> Floats:
    sums = side.sum(axis=-1, keepdims=True)
    factors = np.divide(total, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(side * factors)


def _favour(won: Floats, lost: Floats) -> Floats:
    ours, theirs = _raise_power(won, WIN_POWER), _raise_power(lost, WIN_POWER)
    return np.asarray(ours / (ours + theirs))


def _raise_power(chances: Floats, exponent: Fraction) -> Floats:
    # The last digit of `chances ** exponent` depends on the processor and could decide between
    # equally good plans.
    return np.asarray(np.float_power(chances, float(exponent)))


def reshape_chances(chances: npt.ArrayLike) -> Floats:
    """Return W₃, the chances to win balanced battles, for each W.

    chances: W, the chances to win with true random dice; an array of any shape.

    Return floats of the same shape. An error δ in a chance causes an error of at most 1.7 δ.
    Certain results are exactly 1.0 or 0.0.

    >>> reshape_chances([0.15, 0.25, 0.5, 0.754244, 0.85]).round(6).tolist()
    [0.0, 0.116725, 0.5, 0.888993, 1.0]
    """
    won = np.asarray(chances, dtype=float)
    lost, cut = 1.0 - won, float(OUTCOME_CUT_OFF)
    kept = np.clip((_favour(won, lost) - cut) / (1 - 2 * cut), 0.0, 1.0)
    kept = np.where(won <= float(WIN_CUT_OFF), 0.0, kept)
    return np.where(lost <= float(WIN_CUT_OFF), 1.0, kept)


def compute_least_true_chance(chance: Fraction) -> Fraction:
    """Return the smallest chance W with true random dice for which W₃ reaches a given chance.

    chance: the required W₃, above 0 and at most 1.

    Return an exact fraction if W is rational, otherwise W rounded up at its 60th digit. With r = W₂
    / (1 − W₂), W = t / (1 + t) for t = r^(10/13).

    >>> compute_least_true_chance(Fraction(1, 2))
    Fraction(1, 2)
    >>> round(float(compute_least_true_chance(Fraction(1))), 6)
    0.844247
    """
    favoured = OUTCOME_CUT_OFF + (1 - 2 * OUTCOME_CUT_OFF) * chance
    ratio = favoured / (1 - favoured)
    down, up = WIN_POWER.as_integer_ratio()  # t^down = r^up
    n, d = ratio.numerator, ratio.denominator
    root = _round_root_up(n**up * d ** (down - up) * 10 ** (ROOT_DIGITS * down), down)
    t = Fraction(root, d * 10**ROOT_DIGITS)
    return t / (1 + t)


def _round_root_up(number: int, power: int) -> int:
    """Return the smallest whole number r with r**power ≥ number ≥ 1.

    >>> _round_root_up(8192, 13), _round_root_up(8193, 13)
    (2, 3)
    """
    root: int = 1 << -(-number.bit_length() // power)  # Newton's method, from above
    while True:
        below: int = ((power - 1) * root + number // root ** (power - 1)) // power
        if below >= root:
            return root + int(root**power < number)
        root = below


class Blitz(UnitKernel):
    """The kernel of balanced battles, in floats.

    true: the kernel of the same battles with true random dice.

    >>> from iacta.methods.lattice import Lattice
    >>> blitz = Blitz(Rules(mode=BalancedBlitz()), Lattice(Rules()))
    >>> round(blitz.win_probability(10, 10), 7), blitz.win_probability(20, 15)
    (0.6093774, 1.0)
    >>> ends = blitz.run_forward(Distribution([30]), 15)
    >>> min(ends), max(ends), ends[State(attackers=30, defenders=0)]
    (State(attackers=10, defenders=0), State(attackers=24, defenders=0), 0.0)
    """

    name = BALANCED_BLITZ
    modes = (BalancedBlitz,)

    def __init__(self, rules: Rules, true: Kernel) -> None:
        super().__init__(rules)
        self.true = true
        self._last: tuple[tuple[int, int, int], Outcomes] | None = None

    @classmethod
    def build(cls, rules: Rules, exact: bool, find: Find) -> Kernel:
        return cls(rules, find(replace(rules, mode=TrueRandom())))

    def choose_decider(self, chance: Fraction) -> tuple[Kernel, Fraction]:
        """Return the kernel with true random dice, and the chance to reach with it."""
        return self.true, compute_least_true_chance(chance)

    def rolls(self, able: int, defenders: int, spare: int | None = None) -> tuple[Choice, ...]:
        """Return the only choice: a whole battle with all `spare` armies."""
        fighting = able if spare is None else min(able, spare)
        return (self.battle(fighting, defenders),) if fighting > 0 else ()

    def refuse(self, attackers: int, defenders: int) -> None:
        self.true.refuse(attackers, defenders)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a bound on the absolute error.

        Let ε = δ + 2·n·u, for n outcomes whose running sums have rounding errors u. After step 2 an
        entry has a relative error of at most 5·ε. After step 3 an entry that crosses a cut-off has
        an absolute error of at most 6·ε. Step 4 turns the first error into 20·ε, and the second
        into 11·ε·c^.8·Σe / Σe^1.8 for a crossing entry c among the n entries e of its side, which
        is at most 11·ε·n^.45. This error occurs three times: in the entry, and twice in the sum,
        because both crossing entries contribute. The observed error is below 1e-14 for hundreds of
        armies.
        """
        count = min(attackers + defenders, MAX_OUTCOMES)
        large = _is_large(attackers, defenders)
        true = self.true.for_question("distribution" if large else "table", attackers, defenders)
        true_error = max(MIN_TRUE_ERROR, true.error(attackers, defenders).relative)
        error = true_error + 2 * count * UNIT_ROUNDOFF
        return Error(0.0, float((20 + 35 * count**0.45) * error))

    def win_probability(self, attackers: int, defenders: int) -> float:
        """Return the chance to conquer the territory. Exactly 1.0 or 0.0 means certainty."""
        return float(reshape_chances(float(self.true.win_probability(attackers, defenders))))

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Floats:
        return reshape_chances(self.true.win_table(attackers, defenders, staying))

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        """Return the chances to conquer the territory with enough armies left, and to fail.

        A certain result is exact: the chance to fail is a sum of probabilities, which is 0 only if
        all terms are 0.
        """
        if attackers <= 0 or not defenders:
            return super().chances(attackers, defenders, min_survivors)
        if not min_survivors:
            won = self.win_probability(attackers, defenders)
            return Chances(won, 1.0 - won)
        ends = self.run_forward(Distribution([attackers]), defenders)
        fails = float(ends.prob(lambda end: end.defenders > 0 or end.attackers < min_survivors))
        return Chances(1.0 if not fails else min(1.0 - fails, BELOW_ONE), fails)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the final state.

        If the number of attackers is random, the four steps apply to each number separately, as in
        the app. The probabilities sum to exactly 1.0. For a fixed number, the outcomes are sorted
        from best to worst for the attackers.
        """
        found = super().run_forward(start, defenders)  # raises an error if the sum is not near 1
        return Distribution.from_probabilities(_complete_sum(found))

    def ends(self, able: dict[int, float], defenders: int) -> Ends:
        return 1, ((end, p, 0) for end, p in self._list_ends(able, defenders))

    def _list_ends(self, able: dict[int, float], defenders: int) -> Iterator[tuple[State, float]]:
        most = max(able)
        if len(able) == 1 or _is_large(most, defenders):
            if len(able) > 1:
                states = len(able) * min(most * defenders, MAX_OUTCOMES)
                refuse_too_large(most, defenders, memory=0, method=BALANCED_BLITZ, states=states)
            for attackers in sorted(able, reverse=True):  # a battle that is too large fails at once
                for state, probability in self._list_single_ends(attackers, defenders):
                    yield state, able[attackers] * probability
            return
        fewest = min(able)
        rows = self._reshape_rows(most, defenders, fewest)
        weights = np.zeros(most + 1 - fewest)
        weights[[a - fewest for a in able]] = list(able.values())
        for lost, probability in enumerate((weights @ rows.won).tolist()):
            yield State(most - lost, 0), probability
        for before, probability in enumerate((weights @ rows.lost).tolist()):
            yield State(0, before + 1), probability

    def _list_single_ends(self, attackers: int, defenders: int) -> Iterator[tuple[State, float]]:
        ends = self.true.run_forward(Distribution([attackers]), defenders)
        best_first = sorted(ends, key=lambda end: (end.defenders, -end.attackers))
        count = sum(not end.defenders for end in best_first)
        line = np.array([float(ends[end]) for end in best_first])
        reshaped = np.concatenate(reshape(Outcomes(line[:count], line[count:])))
        yield from zip(best_first, reshaped.tolist(), strict=True)

    def _reshape_rows(self, attackers: int, defenders: int, min_attackers: int = 1) -> Outcomes:
        """Return a row of outcomes for each number of attackers from `min_attackers` on."""
        (most, *size), rows = self._last or ((0, 0, 0), None)
        if rows is None or most < attackers or size != [defenders, min_attackers]:
            memory = VALUE_BYTES * attackers * (attackers + defenders)
            states = attackers * attackers * defenders
            refuse_too_large(
                attackers, defenders, memory=memory, method=BALANCED_BLITZ, states=states
            )
            won, lost = self.true.compute_transitions(attackers, defenders, min_attackers)
            rows = reshape(Outcomes(won[min_attackers:, :0:-1], lost[min_attackers:, 1:]))
            most, self._last = attackers, ((attackers, defenders, min_attackers), rows)
        # The first rows of a larger cached table are the same.
        count, more = attackers + 1 - min_attackers, most - attackers
        return Outcomes(rows.won[:count, more:], rows.lost[:count])

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        won, lost = np.zeros((attackers + 1,) * 2), np.zeros((attackers + 1, defenders + 1))
        lost[0, defenders] = 1.0
        if attackers:
            first = max(min_attackers, 1)
            won[first:, :0:-1], lost[first:, 1:] = self._reshape_rows(attackers, defenders, first)
        # Certain results stay exact: the rounding error of the sum is added to the likeliest
        # outcome.
        each, missing = np.arange(attackers + 1), 1 - (won.sum(1) + lost.sum(1))
        won[each, won.argmax(axis=1)] += np.where(won.any(axis=1), missing, 0.0)
        return Transitions(won, lost)

    def run_backward(self, values: Values) -> Iterator[Floats]:
        for d in range(1, len(values.lost)):
            yield self.value(values, d)

    def value(self, values: Values, defenders: int) -> Floats:
        value_won = np.asarray(values.won, dtype=float)
        value_lost = np.asarray(values.lost, dtype=float)
        attackers = len(value_won) - 1
        row = np.broadcast_to(value_lost[defenders], value_won.shape).copy()
        if attackers:
            won, lost = self._reshape_rows(attackers, defenders)
            row[1:] = won @ value_won[:0:-1] + lost @ value_lost[1 : defenders + 1]
        return row

    def limit_of_attackers(self, defenders: int) -> Fraction:
        return _reshape_limit(self.true.limit_of_attackers(defenders))

    def limit_of_defenders(self, attackers: int) -> Fraction:
        return _reshape_limit(self.true.limit_of_defenders(attackers))


def _reshape_limit(chance: Fraction) -> Fraction:
    return Fraction(float(reshape_chances(float(chance))))


def _complete_sum(probabilities: Distribution[State]) -> dict[State, float]:
    """Add the rounding error of the sum to the likeliest state, so that certainty is exact."""
    weights = {state: float(probability) for state, probability in probabilities.items()}
    likeliest = probabilities.mode()
    missing = fsum([1.0, *(-probability for probability in weights.values())])
    return weights | {likeliest: weights[likeliest] + missing}


def _is_large(attackers: int, defenders: int) -> bool:
    """Return whether solving a single battle is faster than filling a table of transitions."""
    return attackers * defenders > MAX_TABLE_STATES or attackers > MAX_TABLE_ATTACKERS
