"""The defender who sees the attack first: he chooses his dice after the attacker's are thrown.

Let a be the attackers able to attack and d the defenders. The i attack dice fall as y with the
chance P(y); then the defender chooses j, and loses k armies with the chance p_k(j | y). If he
plays to keep the territory, the chance to win is

    P(a, d) = Σ_y P(y) · min_j Σ_k  p_k(j | y) · P(a − m + k, d − k),    m = min(i, j),

with P(a, 0) = 1 and P(0, d) = 0. If he looks no further than the roll, he takes the j that costs
him the fewest armies in it, Σ_k k · p_k(j | y), and of equal ones the largest; then P is the same
sum for that j.

Throws after which all laws are the same are one y: 21 are left of the 56 of three dice. All
a + d = t come from t − 1, t − 2 ..., so a whole anti-diagonal is computed at once.

Error. There are only sums and products of numbers that are not negative, and least ones, which
keep a relative error as it is. A roll costs four roundings and one for each term of its two sums.

Source: this rule is among the variants that players of the board game have published; nobody has
published its odds.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from iacta.methods.limits import refuse_gains, refuse_too_large
from iacta.roll import LossLaw, seen_loss_laws
from iacta.rules import Rules

__all__ = ["NAME", "Aim", "relative_error", "win_table"]

NAME: str = "sees_first"

Aim = Literal["conquest", "losses"]
Floats: TypeAlias = npt.NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53


class _Answer(NamedTuple):
    """One number of defence dice.

    taken: m.
    weights: the chances P(y) of the throws that he answers with it, 0 for the others.
    chances: p_k(j | y), a row for each y.
    """

    taken: int
    weights: Floats
    chances: Floats


class _Span(NamedTuple):
    """States of one anti-diagonal in which the same dice can be thrown."""

    defenders: slice
    attack_dice: int
    defence_dice: int


def win_table(able: int, defenders: int, rules: Rules, aim: Aim = "conquest") -> Floats:
    """Return the chances to win against a defender who sees the attack, up to a size.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles.
    aim: `"conquest"`: the defender keeps the chance to win as low as can be; `"losses"`: he keeps
        his own losses in each roll as low as can be.

    Floats, entry `[defenders, able]`, with a relative error of at most `relative_error`. Refused
    are battles too large for memory, and rules under which armies grow or the attack dice depend
    on the answer.

    >>> from iacta.rules import CLASSIC
    >>> round(float(win_table(10, 10, CLASSIC)[10, 10]), 4)
    0.4529
    """
    refuse_gains(rules, NAME)
    memory = 8 * (able + defenders + 1) * (defenders + 1)
    refuse_too_large(able, defenders, memory=memory, method=NAME)
    sheared = np.zeros((able + defenders + 1, defenders + 1))  # P(a, d) is [a + d, d]
    sheared[:, 0] = 1.0
    for total in range(2, able + defenders + 1):
        for span in _spans(total, able, defenders, rules):
            answers = _answers(span.attack_dice, span.defence_dice, rules, aim)
            sheared[total, span.defenders] = _chances(sheared, total, span.defenders, answers, aim)
    by_total, by_defenders = sheared.strides
    table = as_strided(
        sheared, (defenders + 1, able + 1), (by_total + by_defenders, by_total), writeable=False
    )
    table = table.copy()
    table[0, 0] = 1.0
    return table


def _spans(total: int, able: int, defenders: int, rules: Rules) -> Iterator[_Span]:
    """Yield the states of an anti-diagonal, those with the same dice together."""
    attack, defence = rules.full_roll
    first, last = max(1, total - able), min(defenders, total - 1)
    d = first
    while d <= last:
        i, j = min(total - d, attack), min(d, defence)
        full = i == attack and j == defence
        end = min(last, total - attack) + 1 if full else d + 1
        yield _Span(slice(d, end), i, j)
        d = end


@lru_cache(maxsize=256)
def _answers(attack_dice: int, defence_dice: int, rules: Rules, aim: Aim) -> list[_Answer]:
    """Return what the defender may answer."""
    laws = seen_loss_laws(attack_dice, defence_dice, rules)
    total = sum(laws.values())
    weights = np.array([weight / total for weight in laws.values()])
    answers = []
    for j in range(1, defence_dice + 1):
        chances = np.array([[c / row[j - 1].total for c in row[j - 1].counts] for row in laws])
        answers.append(_Answer(min(attack_dice, j), weights, chances))
    if aim == "conquest":
        return answers
    least = [_least_costly(row) for row in laws]
    return [
        answer._replace(weights=weights * (np.array(least) == j))
        for j, answer in enumerate(answers, start=1)
    ]


def _least_costly(laws: tuple[LossLaw, ...]) -> int:
    """Return how many dice cost the defender the fewest armies, the most if several do."""
    costs = [
        Fraction(sum(k * count for k, count in enumerate(law.counts)), law.total) for law in laws
    ]
    return max(j for j, cost in enumerate(costs, start=1) if cost == min(costs))


def _chances(
    sheared: Floats, total: int, defenders: slice, answers: list[_Answer], aim: Aim
) -> Floats:
    """Return the chances to win of some states of an anti-diagonal."""
    after = [_after(sheared, total, defenders, answer) for answer in answers]
    if aim == "conquest":
        best = np.minimum.reduce([a.chances @ row for a, row in zip(answers, after, strict=True)])
        return np.asarray(answers[0].weights @ best)
    parts = [(a.weights @ a.chances) @ row for a, row in zip(answers, after, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _after(sheared: Floats, total: int, defenders: slice, answer: _Answer) -> Floats:
    """Return the chances after a roll that costs the defender k armies, a row for each k."""
    rows = sheared[total - answer.taken]
    return np.array(
        [rows[defenders.start - k : defenders.stop - k] for k in range(answer.taken + 1)]
    )


def relative_error(able: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of the chances of `win_table`.

    able: attackers able to attack, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    attack, defence = rules.full_roll
    throws = len(seen_loss_laws(attack, defence, rules))
    roundings = throws * defence + min(attack, defence) + 6
    return (able + defenders) * roundings * UNIT_ROUNDOFF * 1.001
