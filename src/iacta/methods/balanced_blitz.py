"""Balanced blitz: the dice mode of the official app that reshapes how one battle ends.

With A attackers able to attack and D defenders, a battle with true random dice ends with the
chances

    al[i] = P(won, i attackers lost),     i = 0 .. A − 1,      W = Σ al[i],
    dl[j] = P(lost, j defenders lost),    j = 0 .. D − 1,      L = Σ dl[j] = 1 − W.

Four steps turn them into the chances of a balanced battle:

1. If W ≤ .05 (the win-chance cut-off), al becomes 0 and dl is scaled to the sum 1; if L ≤ .05,
   the other way round.
2. W becomes W₂ = W^1.3 / (W^1.3 + L^1.3) (1.3 is the win-chance power), L becomes 1 − W₂, and al
   and dl are scaled to these sums.
3. All outcomes stand in one line, the best for the attackers first: al[0] .. al[A − 1],
   dl[D − 1] .. dl[0]. From each of its ends .10 (the outcome cut-off) is taken away: whole entries,
   and of the entry that crosses .10 as much as is missing. The line is scaled to the sum 1. This
   fixes the W and L that players meet.
4. Each entry is raised to 1.8 (the outcome power), and al and dl are scaled to the W and L of
   step 3.

Step 3 takes .10 from each end whatever the entries are, so the chance to win depends on W alone:

    W₃ = min(max((W₂ − .10) / .80, 0), 1).

It is exactly 1.0 from W = 1 / (1 + 9^(−1/1.3)) = .84425 up, and 0.0 from .15575 down: certain.

Error. W and al, dl come from `lattice` or `leap`, with a relative error δ. A cut leaves a
difference, of which only the absolute error is bounded; hence, so is that of each answer here
(`relative_error`). Where W or L cannot be told from .05 itself within δ, the steps might take
either side of that cut-off; the chance to win is the same on both.

Source: the rules of RISK: Global Domination, as published by its makers in 2024.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import fsum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import IllegalError
from iacta.methods import lattice
from iacta.methods.limits import refuse_gains, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.rules.modes import TrueRandom
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Ends",
    "cut_off_outcomes",
    "cut_off_rare_wins",
    "favour_the_favourite",
    "outcomes",
    "raise_outcomes",
    "refuse",
    "refuse_values",
    "relative_error",
    "reshape",
    "reshaped_chances",
    "true_chance",
    "values",
    "win_probability",
]

NAME: str = "balanced_blitz"

WIN_CUT_OFF = Fraction("0.05")
WIN_POWER = Fraction("1.3")
OUTCOME_CUT_OFF = Fraction("0.10")
OUTCOME_POWER = Fraction("1.8")

LEAP_ERROR = 1e-12
MOST_STATES_ROW_BY_ROW = 250_000
MOST_ABLE_ROW_BY_ROW = 2_000
MOST_OUTCOMES = 10**6
VALUE_BYTES = 100
ROOT_DIGITS = 60

Floats: TypeAlias = npt.NDArray[np.float64]


class Ends(NamedTuple):
    """The chances of all outcomes of a battle, the best for the attackers first.

    won: al[0], al[1] ... al[A − 1], along the last axis; other axes are other battles.
    lost: dl[D − 1] ... dl[1], dl[0].
    """

    won: Floats
    lost: Floats


def cut_off_rare_wins(ends: Ends) -> Ends:
    """Return the chances after step 1: a side that wins at most one time in twenty never does.

    ends: the chances with true random dice.

    >>> cut_off_rare_wins(Ends(np.array([0.01, 0.03]), np.array([0.48, 0.48])))
    Ends(won=array([0., 0.]), lost=array([0.5, 0.5]))
    """
    won, lost = _sums(ends)
    never = won <= float(WIN_CUT_OFF)
    always = lost <= float(WIN_CUT_OFF)
    return _scaled(ends, np.where(never, 0.0, np.where(always, 1.0, won)))


def favour_the_favourite(ends: Ends) -> Ends:
    """Return the chances after step 2: the favourite's chance to win grows.

    ends: the chances after step 1.

    >>> ends = favour_the_favourite(Ends(np.array([0.75]), np.array([0.25])))
    >>> round(float(ends.won[0]), 6)
    0.80662
    """
    won, lost = _sums(ends)
    return _scaled(ends, _favoured(won, lost))


def cut_off_outcomes(ends: Ends) -> Ends:
    """Return the chances after step 3: the best tenth and the worst tenth are left out.

    ends: the chances after step 2.

    >>> cut_off_outcomes(Ends(np.array([0.05, 0.45]), np.array([0.42, 0.08]))).won
    array([0. , 0.5])
    """
    line = np.concatenate(ends, axis=-1)
    for _ in range(2):  # from the front, and turned round, from the back
        beyond = np.cumsum(line, axis=-1) - float(OUTCOME_CUT_OFF)
        line = np.clip(beyond, 0.0, line)[..., ::-1]
    line /= line.sum(axis=-1, keepdims=True)
    count = ends.won.shape[-1]
    return Ends(line[..., :count], line[..., count:])


def raise_outcomes(ends: Ends) -> Ends:
    """Return the chances after step 4: likely outcomes become likelier, as many battles are won.

    ends: the chances after step 3.

    >>> raise_outcomes(Ends(np.array([0.5, 0.25]), np.array([0.25]))).won.round(6)
    array([0.582672, 0.167328])
    """
    won, _ = _sums(ends)
    power = float(OUTCOME_POWER)
    return _scaled(Ends(ends.won**power, ends.lost**power), won)


def reshape(ends: Ends) -> Ends:
    """Return the chances of balanced battles: steps 1 to 4, one after the other.

    ends: the chances with true random dice, of one battle or of many.

    >>> two_against_one = Ends(np.array([125 / 216, 455 / 2592]), np.array([637 / 2592]))
    >>> round(float(reshape(two_against_one).won.sum()), 7)
    0.8889928
    """
    return raise_outcomes(cut_off_outcomes(favour_the_favourite(cut_off_rare_wins(ends))))


def _sums(ends: Ends) -> tuple[Floats, Floats]:
    """Return W and L, with the axes of the chances."""
    return ends.won.sum(axis=-1, keepdims=True), ends.lost.sum(axis=-1, keepdims=True)


def _scaled(ends: Ends, won: Floats) -> Ends:
    """Return the chances scaled so that all wins sum to `won`, and all losses to the rest."""
    return Ends(_scaled_side(ends.won, won), _scaled_side(ends.lost, 1.0 - won))


def _scaled_side(side: Floats, total: Floats) -> Floats:
    sums = side.sum(axis=-1, keepdims=True)
    factors = np.divide(total, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(side * factors)


def _favoured(won: Floats, lost: Floats) -> Floats:
    """Return W₂."""
    ours, theirs = won ** float(WIN_POWER), lost ** float(WIN_POWER)
    return np.asarray(ours / (ours + theirs))


def reshaped_chances(chances: npt.ArrayLike) -> Floats:
    """Return the chances to win balanced battles, W₃ of each W.

    chances: W, the chances to win with true random dice; an array of any shape.

    Floats of the same shape; an error of at most δ in a chance is one of at most 1.7 δ in the
    result. Certainty is exactly 1.0 and 0.0.

    >>> reshaped_chances([0.15, 0.25, 0.5, 0.754244, 0.85]).round(6).tolist()
    [0.0, 0.116725, 0.5, 0.888993, 1.0]
    """
    won = np.asarray(chances, dtype=float)
    lost, cut = 1.0 - won, float(OUTCOME_CUT_OFF)
    kept = np.clip((_favoured(won, lost) - cut) / (1 - 2 * cut), 0.0, 1.0)
    kept = np.where(won <= float(WIN_CUT_OFF), 0.0, kept)
    return np.where(lost <= float(WIN_CUT_OFF), 1.0, kept)


def true_chance(chance: Fraction) -> Fraction:
    """Return the least W, with true random dice, that becomes at least a chance in a balanced one.

    chance: the wanted W₃, above 0 and at most 1.

    An exact fraction where W is one, else W rounded up in its 60th digit. With r = W₂ / (1 − W₂),
    it is W = t / (1 + t) for t = r^(10/13).

    >>> true_chance(Fraction(1, 2))
    Fraction(1, 2)
    >>> round(float(true_chance(Fraction(1))), 6)
    0.844247
    """
    favoured = OUTCOME_CUT_OFF + (1 - 2 * OUTCOME_CUT_OFF) * chance
    ratio = favoured / (1 - favoured)
    down, up = WIN_POWER.as_integer_ratio()  # t^down = r^up
    n, d = ratio.numerator, ratio.denominator
    root = _root_rounded_up(n**up * d ** (down - up) * 10 ** (ROOT_DIGITS * down), down)
    t = Fraction(root, d * 10**ROOT_DIGITS)
    return t / (1 + t)


def _root_rounded_up(number: int, power: int) -> int:
    """Return the least whole number r with r**power ≥ number ≥ 1.

    >>> _root_rounded_up(8192, 13), _root_rounded_up(8193, 13)
    (2, 3)
    """
    root: int = 1 << -(-number.bit_length() // power)  # at least the root, and Newton only falls
    while True:
        below: int = ((power - 1) * root + number // root ** (power - 1)) // power
        if below >= root:
            return root + int(root**power < number)
        root = below


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the absolute error of every number that this method gives for a battle.

    attackers: armies on the attacking territory, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    With ε = δ + 2·n·u, for n outcomes whose running sums are rounded by u each, an entry has a
    relative error of at most 5·ε after step 2, and one that crosses a cut-off an absolute one of
    6·ε after step 3. The power and the scaling make 20·ε of the first. Of the second they make
    11·ε·c^.8·Σe / Σe^1.8 for a crossing entry c among the n entries e of its side, at most
    11·ε·n^.45, three times: in the entry, and in the sum that both crossing entries are part of.

    Seen is less than 1e-14 for hundreds of armies.

    >>> from iacta.rules.modes import BalancedBlitz
    >>> relative_error(31, 15, Rules(mode=BalancedBlitz())) < 1e-9
    True
    """
    count = min(attackers + defenders, MOST_OUTCOMES)
    true_error = LEAP_ERROR
    if not (_is_large(attackers, defenders) and _leaps(attackers, defenders, _true_random(rules))):
        true_error = max(LEAP_ERROR, lattice.relative_error(attackers, defenders, rules))
    error = true_error + 2 * count * lattice.UNIT_ROUNDOFF
    return float((20 + 35 * count**0.45) * error)


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse other dice modes, and battles that are too large with true random dice.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle; those under which armies can grow are refused.
    """
    true_rules = _true_random(rules)
    if not _leaps(attackers, defenders, true_rules):
        lattice.refuse(attackers, defenders, true_rules)


def _true_random(rules: Rules) -> Rules:
    """Return the rules with true random dice."""
    if rules.dice_mode != "balanced blitz":
        raise IllegalError(
            f"dice_mode must be 'balanced blitz' for the method {NAME!r}, got {rules.dice_mode!r}"
        )
    refuse_gains(rules, NAME)
    return replace(rules, mode=TrueRandom())


def _leaps(attackers: int, defenders: int, true_rules: Rules) -> bool:
    """Tell whether `leap` takes on the rules; too many armies are refused."""
    from iacta.methods import leap  # slow to import, and not always needed

    try:
        leap.refuse(attackers, defenders, true_rules)
    except IllegalError:
        return False
    return True


def _is_large(able: int, defenders: int) -> bool:
    """Tell whether a law is better left to `leap`."""
    return able * defenders > MOST_STATES_ROW_BY_ROW or able > MOST_ABLE_ROW_BY_ROW


def win_probability(attackers: int, defenders: int, rules: Rules) -> float:
    """Return the chance that the territory is taken in a balanced battle.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    A float, with the error of the chance with true random dice; 1.0 and 0.0 are certainty.

    >>> from iacta.rules.modes import BalancedBlitz
    >>> rules = Rules(mode=BalancedBlitz())
    >>> round(win_probability(11, 10, rules), 7), win_probability(21, 15, rules)
    (0.6093774, 1.0)
    """
    true_rules = _true_random(rules)
    if _leaps(attackers, defenders, true_rules):
        from iacta.methods import leap  # slow to import, and not always needed

        return float(reshaped_chances(leap.win_probability(attackers, defenders, true_rules)))
    return float(reshaped_chances(lattice.win_probability(attackers, defenders, true_rules)))


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the law of the outcome of a balanced battle, the best first for a certain stack.

    stack: the law of the number of attackers on the territory, garrison included; the battle is
        reshaped for each number by itself, as the app does when the number is known to it.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Floats that sum to exactly 1.0; each has at most the error that `relative_error` tells.

    >>> from iacta.rules.modes import BalancedBlitz
    >>> law = outcomes(Distribution([31]), 15, Rules(mode=BalancedBlitz()))
    >>> min(law), max(law), law[Outcome(attackers=31, defenders=0)]
    (Outcome(attackers=11, defenders=0), Outcome(attackers=25, defenders=0), 0.0)
    """
    true_rules = _true_random(rules)
    weights = {n: float(probability) for n, probability in stack.items()}
    able = {n - rules.garrison: p for n, p in weights.items() if n > rules.garrison}
    if not able or not defenders:
        return stack.to_float().map(lambda attackers: Outcome(attackers, defenders))
    too_few = ((Outcome(n, defenders), p) for n, p in weights.items() if n <= rules.garrison)
    law: dict[Outcome, float] = {}
    for outcome, probability in chain(_mixed(able, defenders, true_rules), too_few):
        law[outcome] = law.get(outcome, 0.0) + probability
    return Distribution.from_probabilities(
        _summing_to_one(Distribution.from_probabilities(law))  # the inner one checks the sum
    )


def _summing_to_one(probabilities: Distribution[Outcome]) -> dict[Outcome, float]:
    """Give the last digits that are missing to the likeliest outcome, so that all is certain."""
    law = {outcome: float(probability) for outcome, probability in probabilities.items()}
    likeliest = probabilities.mode()
    missing = fsum([1.0, *(-probability for probability in law.values())])
    return law | {likeliest: law[likeliest] + missing}


def _mixed(able: dict[int, float], defenders: int, rules: Rules) -> Iterator[tuple[Outcome, float]]:
    """Yield outcomes of balanced battles and their chances, given the chances of those able."""
    most = max(able)
    if _is_large(most, defenders) and _leaps(most, defenders, rules):
        for number in sorted(able, reverse=True):  # what is too large is refused at once
            yield from _leaped(number, able[number], defenders, rules)
        return
    ends = reshape(_true_ends(list(able), defenders, rules))
    weights = np.array(list(able.values()))
    for lost, chance in enumerate((weights @ ends.won).tolist()):
        yield Outcome(most - lost + rules.garrison, 0), chance
    for before, chance in enumerate((weights @ ends.lost).tolist()):
        yield Outcome(rules.garrison, before + 1), chance


def _leaped(
    able: int, weight: float, defenders: int, rules: Rules
) -> Iterator[tuple[Outcome, float]]:
    """Yield the outcomes of one large balanced battle, and their chances times its own."""
    from iacta.methods import leap  # slow to import, and not always needed

    law = leap.outcomes(Distribution([able + rules.garrison]), defenders, rules)
    best_first = sorted(law, key=lambda end: (end.defenders, -end.attackers))
    count = sum(not end.defenders for end in best_first)
    chances = np.array([float(law[end]) for end in best_first])
    line = np.concatenate(reshape(Ends(chances[:count], chances[count:])))
    yield from zip(best_first, (weight * line).tolist(), strict=True)


def _true_ends(able: Sequence[int], defenders: int, rules: Rules) -> Ends:
    """Return the chances with true random dice, one row for each number of attackers able.

    In each row they stand for as many attackers left as the strongest has, and down to 1.
    """
    most = max(able)
    memory = VALUE_BYTES * len(able) * (most + defenders)
    states = len(able) * most * defenders
    refuse_too_large(most, defenders, memory=memory, method=NAME, states=states)
    start = np.zeros((most + 1, len(able)))
    start[list(able), np.arange(len(able))] = 1.0
    if len(able) == 1:
        start = start[:, 0]  # a single column is slow
    won, lost = lattice.run_many(start, defenders, lattice.steps_of(most, defenders, rules))
    held = np.array([lost[d] for d in range(1, defenders + 1)])
    return Ends(np.atleast_2d(won[:0:-1].T), np.atleast_2d(held.T))


def refuse_values(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse what `values` cannot answer, before anything is made of its size.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    _true_random(rules)
    memory = VALUE_BYTES * attackers * (attackers + defenders)
    states = attackers * attackers * defenders
    refuse_too_large(attackers, defenders, memory=memory, method=NAME, states=states)


def values(won: Any, lost: Any, defenders: int, rules: Rules) -> Floats:
    """Return the mean worth of a balanced battle, for every number of attackers at once.

    won: `won[n]`, at least 0, is what it is worth that n armies can move in; further axes are
        further worths.
    lost: `lost[d]`, at least 0, is what it is worth that d defenders hold; `lost[0]` does not
        matter.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Entry `[n]` of the result, as long as `won`, is for n attackers, garrison included. Its error
    is at most what `relative_error` tells, for each of the outcomes that are worth something.

    >>> from iacta.rules.modes import BalancedBlitz
    >>> rules = Rules(mode=BalancedBlitz())
    >>> values([1, 1, 1, 1], [0, 0], 1, rules).round(6).tolist()
    [0.0, 0.0, 0.365447, 0.888993]
    """
    true_rules, worth = _true_random(rules), np.asarray(won, dtype=float)
    refuse_values(len(worth), defenders, rules)
    held = np.asarray(lost, dtype=float)[1 : defenders + 1]
    means = np.broadcast_to(held[-1], worth.shape).copy()
    most = len(worth) - 1 - rules.garrison
    if most > 0:
        ends = reshape(_true_ends(range(1, most + 1), defenders, true_rules))
        means[rules.garrison + 1 :] = ends.won @ worth[most:0:-1] + ends.lost @ held
    return means
