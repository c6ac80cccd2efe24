"""The defender who sees the attack first: he chooses his dice after the attacker's are thrown.

He plays to keep the territory: of the numbers of dice that he may throw he takes the one that makes
the conquest of it as unlikely as can be. `iacta.methods.replies` has his replies and their
equations; here they are solved in floats, in `iacta.methods.sees_first_exact` in fractions. A
number for the end of each battle follows from P, H and the replies: the law of who is left by a
pass from the start, a mean worth by a pass from the end.

In a campaign he plays for his own territory, whatever stands behind it.

Error. There are only sums and products of numbers that are not negative, and least and greatest
ones, which keep a relative error as it is. A roll costs a rounding in its chance, one in its
product, and those of its sums; a sum over throws is made by halves.

The law belongs to the replies that floats can tell to be the best, and of those that they cannot
tell apart, the ones with the most dice. With the classic dice no two replies are that near to each
other without being equal, nor is the law another one, where both sides have up to 60 armies
(`tests/methods/test_sees_first.py`).
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods.limits import OUTCOME_BYTES, refuse_gains, refuse_not_seen, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.methods.replies import Aim, Battles, Replies, carry, chances, worths
from iacta.rules.roll import seen_loss_laws
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "chance_table",
    "outcomes",
    "refuse",
    "relative_error",
    "value_rows",
    "values",
    "win_probability",
    "win_table",
]

NAME: str = "sees_first"

Floats: TypeAlias = npt.NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
TABLES = 3  # P, H, and the one that they are needed for


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of every number that this method gives for a battle.

    attackers: armies on the attacking territory, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> relative_error(250, 250, Rules(mode=DefenderSeesFirst())) < 1e-12
    True
    """
    attack, defence = rules.full_roll
    throws = len(seen_loss_laws(attack, defence, rules))
    terms = sum(min(attack, j) + 1 for j in range(1, defence + 1))
    roundings = (attackers + defenders) * (throws.bit_length() + terms + 2)
    # A campaign weighs the law that one battle leaves before the next: eight roundings at most.
    return (roundings + 8) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u while n u < 0.001


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that this method cannot solve, before anything is made of its size.

    attackers: armies on the attacking territory, garrison included or not: it does not matter.
    defenders: armies on the defended territory.
    rules: the rules of the battle. Those are refused under which the defender does not see the
        attack first, armies grow, battles are blitzed, or the attack dice depend on the answer.
    """
    refuse_not_seen(rules, NAME)
    _refuse(attackers, defenders, rules)


def _refuse(attackers: int, defenders: int, rules: Rules) -> None:
    refuse_gains(rules, NAME)
    work = 8 * rules.defence.kept * len(seen_loss_laws(*rules.full_roll, rules))
    memory = 8 * TABLES * (attackers + 1) * (defenders + 1)
    memory += (attackers + defenders) * (work + OUTCOME_BYTES)
    refuse_too_large(attackers, defenders, memory=memory, method=NAME, number_bytes=work)


def win_probability(attackers: int, defenders: int, rules: Rules) -> float:
    """Return the chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Its relative error is at most `relative_error`.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> round(win_probability(11, 10, Rules(mode=DefenderSeesFirst())), 4)
    0.4529
    """
    refuse(attackers, defenders, rules)
    able = max(attackers - rules.garrison, 0)
    return min(float(chance_table(able, defenders, rules)[defenders, able]), 1.0)


def chance_table(able: int, defenders: int, rules: Rules, aim: Aim = "conquest") -> Floats:
    """Return the chances to win against a defender who sees the attack, up to a size.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of the battles; the defender sees the attack whatever they say.
    aim: `"conquest"`: the defender keeps the chance to win as low as can be; `"losses"`: he keeps
        the mean number of his armies lost in the battle as low as can be.

    Floats, entry `[defenders, able]`, with a relative error of at most `relative_error`; the same
    is refused as by `refuse`.

    >>> round(float(chance_table(10, 10, Rules(), aim="losses")[10, 10]), 4)
    0.454
    """
    _refuse(able, defenders, rules)
    if not able:
        none = np.zeros((defenders + 1, 1))
        none[0] = 1.0
        return none
    margin = 3 * relative_error(able, defenders, rules)
    return np.asarray(chances(Battles(able, defenders, rules, margin=margin), aim))


def _replies(able: int, defenders: int, rules: Rules) -> Replies:
    refuse(able, defenders, rules)
    margin = 3 * relative_error(able, defenders, rules)
    return Replies(Battles(able, defenders, rules, margin=margin))


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the float law of the outcome of a battle.

    stack: the law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    The relative error of each probability is at most `relative_error` of the largest stack, given
    the replies.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> law = outcomes(Distribution([3]), 2, Rules(mode=DefenderSeesFirst()))
    >>> round(law[Outcome(attackers=3, defenders=0)], 6)
    0.203618
    """
    weights = {n: float(probability) for n, probability in stack.items()}
    strongest = max(weights) - rules.garrison
    refuse(max(weights), defenders, rules)
    if strongest <= 0 or not defenders:
        return stack.to_float().map(lambda attackers: Outcome(attackers, defenders))
    start = np.zeros(strongest + 1)
    law = {}
    for attackers, probability in weights.items():
        if attackers > rules.garrison:
            start[attackers - rules.garrison] = probability
        else:
            law[Outcome(attackers, defenders)] = probability
    ends = carry(_replies(strongest, defenders, rules), start)
    for a, p in enumerate(ends.won.tolist()[1:], start=1):
        law[Outcome(a + rules.garrison, 0)] = p
    for d, p in enumerate(ends.lost.tolist()[1:], start=1):
        law[Outcome(rules.garrison, d)] = law.get(Outcome(rules.garrison, d), 0.0) + p
    return Distribution.from_probabilities(law)


def values(
    won: Sequence[float] | Floats, lost: Sequence[float] | Floats, defenders: int, rules: Rules
) -> Floats:
    """Return the mean worth of a battle, for every number of attackers at once.

    won: `won[n]`, at least 0, is what it is worth that n armies can move in.
    lost: `lost[d]`, at least 0, is what it is worth that d defenders hold; `lost[0]` does not
        matter.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Entry `[n]` of the result, as long as `won`, is for n attackers, garrison included. The worths
    do not change how the defender plays. Given his replies, the relative error is at most
    `relative_error`, and that of `won` and `lost`.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> values([1, 1, 1, 1], [0, 0], 1, Rules(mode=DefenderSeesFirst())).round(6).tolist()
    [0.0, 0.0, 0.416667, 0.754244]
    """
    *_, last = value_rows(won, lost[: defenders + 1], rules)
    return last


def value_rows(
    won: Sequence[float] | Floats, lost: Sequence[float] | Floats, rules: Rules
) -> Iterator[Floats]:
    """Yield what `values` returns, for 1, 2 ... defenders, as many as `lost` has entries for.

    won, lost, rules: as for `values`.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> seen = Rules(mode=DefenderSeesFirst())
    >>> [row.round(4).tolist() for row in value_rows([1, 1, 1], [0, 0, 0], seen)]
    [[0.0, 0.0, 0.4167], [0.0, 0.0, 0.1061]]
    """
    garrison = min(rules.garrison, len(won) - 1)
    able, defenders = len(won) - 1 - garrison, len(lost) - 1
    refuse(able, defenders, rules)
    table = np.zeros((defenders + 1, 1))
    if able and all(each == 1 for each in won) and not any(lost):
        table = chance_table(able, defenders, rules)
    elif able:
        ends = np.array(won[: able + 1], dtype=float), np.array(lost, dtype=float)
        table = worths(_replies(able, defenders, rules), *ends)
    for d in range(1, defenders + 1):
        yield np.concatenate([np.full(garrison + 1, float(lost[d])), table[d, 1:]])


def win_table(attackers: int, defenders: int, rules: Rules) -> Floats:
    """Return the chances to win of all battles up to a size.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules: the rules of the battle.

    Entry `[a - 1, d - 1]` is for a attackers against d defenders; its relative error is at most
    `relative_error` of that battle.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> win_table(3, 1, Rules(mode=DefenderSeesFirst())).round(6).tolist()
    [[0.0], [0.416667], [0.754244]]
    """
    refuse(attackers, defenders, rules)
    rows = value_rows(np.ones(attackers + 1), np.zeros(defenders + 1), rules)
    return np.minimum(np.stack([row[1:] for row in rows], axis=1), 1.0)
