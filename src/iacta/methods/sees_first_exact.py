"""The defender who sees the attack first, in fractions.

The equations are those of `iacta.methods.replies`, in whole numbers: P(a, d) · U^(a+d) is one, and
in the pass from the start so is the chance to come by (a, d), times U^(A+D−a−d). U is 1296 for the
classic rules. Replies are compared exactly, and of equal ones the defender throws the most dice.

What floats say (`iacta.methods.sees_first`) is held to this in the tests.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods.counting import ExactRow
from iacta.methods.limits import OUTCOME_BYTES, refuse_gains, refuse_not_seen, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.methods.replies import Battles, Replies, carry, chances, unit_of, worths
from iacta.rules.roll import seen_loss_laws
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "outcomes",
    "refuse",
    "relative_error",
    "value_rows",
    "values",
    "win_probability",
    "win_table",
]

NAME: str = "sees_first_exact"

Exact: TypeAlias = int | Fraction
Whole: TypeAlias = npt.NDArray[Any]  # of whole numbers of any size, as objects

TABLES = 2


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return 0: this method is exact.

    attackers, defenders, rules: the battle.
    """
    return 0.0


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that this method cannot solve, before anything is made of its size.

    attackers: armies on the attacking territory, garrison included or not: it does not matter.
    defenders: armies on the defended territory.
    rules: the rules of the battle; the same are refused as by `iacta.methods.sees_first`.
    """
    refuse_not_seen(rules, NAME)
    refuse_gains(rules, NAME)
    number_bytes = (attackers + defenders) * unit_of(rules).bit_length() // 8 + 50
    work = rules.defence.kept * len(seen_loss_laws(*rules.full_roll, rules)) * number_bytes
    memory = TABLES * (attackers + 1) * (defenders + 1) * number_bytes
    memory += (attackers + defenders) * (work + OUTCOME_BYTES)
    refuse_too_large(attackers, defenders, memory=memory, method=NAME, number_bytes=work)


def _battles(able: int, defenders: int, rules: Rules) -> Battles:
    return Battles(able, defenders, rules, unit_of(rules))


def win_probability(attackers: int, defenders: int, rules: Rules) -> Fraction:
    """Return the exact chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> win_probability(3, 1, Rules(mode=DefenderSeesFirst()))
    Fraction(1955, 2592)
    """
    refuse(attackers, defenders, rules)
    able = attackers - rules.garrison
    if able <= 0 or not defenders:
        return Fraction(not defenders)
    battles = _battles(able, defenders, rules)
    whole = chances(battles)[defenders, able]
    return Fraction(whole, unit_of(rules) ** (able + defenders))


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the exact law of the outcome of a battle.

    stack: the exact law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> law = outcomes(Distribution([3]), 2, Rules(mode=DefenderSeesFirst()))
    >>> law[Outcome(attackers=3, defenders=0)]
    Fraction(2375, 11664)
    """
    weights, _ = stack.weights()
    strongest = max(weights) - rules.garrison
    refuse(max(weights), defenders, rules)
    if strongest <= 0 or not defenders:
        return stack.map(lambda attackers: Outcome(attackers, defenders))
    battles = _battles(strongest, defenders, rules)
    powers = battles.powers(strongest + defenders).tolist()
    start = np.zeros(strongest + 1, dtype=object)
    law: dict[Outcome, int] = {}
    for n, weight in weights.items():
        if n > rules.garrison:
            start[n - rules.garrison] = weight * powers[strongest + rules.garrison - n]
        else:
            law[Outcome(n, defenders)] = weight * powers[-1]
    ends = carry(Replies(battles), start)
    for a in range(1, strongest + 1):
        law[Outcome(a + rules.garrison, 0)] = ends.won[a] * powers[a]
    for d in range(1, defenders + 1):
        end = Outcome(rules.garrison, d)
        law[end] = law.get(end, 0) + ends.lost[d] * powers[d]
    return Distribution(law)


def value_rows(won: Sequence[Exact], lost: Sequence[Exact], rules: Rules) -> Iterator[ExactRow]:
    """Yield the rows of 1, 2 ... defenders, as many as `lost` has entries for.

    won: `won[n]` is what it is worth that n armies can move in.
    lost: `lost[d]` is what it is worth that d defenders hold; `lost[0]` does not matter.
    rules: the rules of the battle.

    The worths do not change how the defender plays.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> seen = Rules(mode=DefenderSeesFirst())
    >>> [row.worth(3) for row in value_rows([1, 1, 1, 1], [0, 0, 0], seen)]
    [Fraction(1955, 2592), Fraction(32035, 93312)]
    """
    able, defenders = max(len(won) - 1 - rules.garrison, 0), len(lost) - 1
    refuse(able, defenders, rules)
    scale = lcm(*(Fraction(worth).denominator for worth in (*won, *lost)))
    powers = _battles(1, 1, rules).powers(able + defenders)
    table = _whole_worths(
        np.array([int(worth * scale) for worth in won[: able + 1]], dtype=object),
        np.array([int(worth * scale) for worth in lost], dtype=object),
        rules,
    )
    for d in range(1, defenders + 1):
        yield ExactRow(table[d].tolist(), powers.tolist(), scale, d, rules.garrison)


def _whole_worths(won: Whole, lost: Whole, rules: Rules) -> Whole:
    """Return the worths, `[d, a]`, in units of U^(a+d)."""
    able, defenders = len(won) - 1, len(lost) - 1
    if not able:
        return np.asarray((lost * _battles(1, 1, rules).powers(defenders))[:, np.newaxis])
    battles = _battles(able, defenders, rules)
    if all(won == 1) and not any(lost):
        return chances(battles)
    return worths(Replies(battles), won, lost)


def values(
    won: Sequence[Exact], lost: Sequence[Exact], defenders: int, rules: Rules
) -> list[Fraction]:
    """Return the exact mean worth of a battle, for every number of attackers at once.

    won, lost: as for `value_rows`.
    defenders: armies on the defended territory, at least 1.
    rules: the rules of the battle.

    Entry `[n]` of the result, as long as `won`, is for n attackers, garrison included.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> values([1, 1, 1, 1], [0, 0], 1, Rules(mode=DefenderSeesFirst()))[3]
    Fraction(1955, 2592)
    """
    *_, last = value_rows(won, lost[: defenders + 1], rules)
    return [last.worth(attackers) for attackers in range(len(won))]


def win_table(attackers: int, defenders: int, rules: Rules) -> npt.NDArray[np.object_]:
    """Return the exact chances to win of all battles up to a size, as an array of `Fraction`.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules: the rules of the battle.

    Entry `[a - 1, d - 1]` is for a attackers against d defenders.

    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> win_table(3, 1, Rules(mode=DefenderSeesFirst()))[2, 0]
    Fraction(1955, 2592)
    """
    refuse(attackers, defenders, rules)
    table = np.empty((attackers, defenders), dtype=object)
    rows = value_rows([1] * (attackers + 1), [0] * (defenders + 1), rules)
    for column, row in enumerate(rows):
        table[:, column] = [row.worth(a) for a in range(1, attackers + 1)]
    return table
