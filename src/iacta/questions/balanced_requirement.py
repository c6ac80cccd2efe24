"""What a requirement asks of a way on which territories are fought for by balanced blitz.

There are no fractions to decide what floats cannot. Only certainty is exact: beside the chance to
succeed, that to fail is computed, a sum of numbers that are not negative, and 0 if nothing fails.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods import balanced_blitz, float_table_method
from iacta.methods.kernel import Stage

__all__ = [
    "chance_to_keep",
    "chances_to_take",
    "fewest_keeping",
    "first_reaching",
    "has_balanced_blitz",
    "is_certain_possible",
]

Floats: TypeAlias = npt.NDArray[np.float64]

BELOW_ONE = 1 - 2.0**-53


def has_balanced_blitz(way: Sequence[Stage]) -> bool:
    """Tell whether a battle of a way is a balanced one.

    way: the battles.
    """
    return any(stage.rules.dice_mode == "balanced blitz" for stage in way)


def is_certain_possible(way: Sequence[Stage]) -> bool:
    """Tell whether a way can be certain to be taken: whether all its battles are balanced.

    way: the battles.
    """
    return all(stage.rules.dice_mode == "balanced blitz" for stage in way)


def chance_to_keep(attackers: int, stage: Stage, keep: int) -> float:
    """Return the chance to win a balanced battle and to have at least `keep` armies to move in.

    attackers: armies on the attacking territory, garrison included.
    stage: the battle.
    keep: armies that must be left.

    >>> from iacta.rules.rules import Rules
    >>> from iacta.rules.modes import BalancedBlitz
    >>> chance_to_keep(21, Stage(15, Rules(mode=BalancedBlitz())), keep=2)
    1.0
    """
    defenders, rules, _ = stage
    balanced_blitz.refuse(attackers, defenders, rules)
    if not keep:
        return balanced_blitz.win_probability(attackers, defenders, rules)
    least = keep + rules.garrison
    law = balanced_blitz.outcomes(Distribution([attackers]), defenders, rules)
    fails = law.prob(lambda end: end.defenders > 0 or end.attackers < least)
    return 1.0 if not fails else min(float(1 - fails), BELOW_ONE)


def fewest_keeping(fewest: int, stage: Stage, chance: Fraction, keep: int) -> int:
    """Return the fewest attackers that win a balanced battle with a chance and keep some.

    fewest: attackers, garrison included, than which fewer do not even win with that chance.
    stage: the battle.
    chance: the wanted chance, one that attackers enough have.
    keep: armies that must be left to move into the territory, at least 1.

    >>> from iacta.rules.rules import Rules
    >>> from iacta.rules.modes import BalancedBlitz
    >>> fewest_keeping(16, Stage(10, Rules(mode=BalancedBlitz())), Fraction(1), keep=5)
    19
    """
    attackers = max(fewest, keep + stage.rules.garrison)
    while chance_to_keep(attackers, stage, keep) < float(chance):
        attackers += 1
    return attackers


def chances_to_take(way: Sequence[Stage], keep: int, most: int) -> Floats:
    """Return the chances to take a whole way, for 0 .. most attackers; only certainty is 1.

    way: the battles, balanced or not.
    keep: armies that must be left on the last territory.
    most: the most armies on the territory from which it starts, garrison included.

    >>> from iacta.rules.rules import Rules
    >>> from iacta.rules.modes import BalancedBlitz
    >>> balanced = Rules(mode=BalancedBlitz())
    >>> chances_to_take([Stage(1, balanced), Stage(1, balanced)], 0, 5).round(4).tolist()
    [0.0, 0.0, 0.0, 0.28, 0.8204, 0.9833]
    """
    for stage in way:
        if is_certain_possible([stage]):
            balanced_blitz.refuse_values(most, stage.defenders, stage.rules)
        else:
            float_table_method(stage.rules).refuse(most, stage.defenders, stage.rules)
    enough = np.arange(most + 1) >= keep
    succeeds, fails = enough.astype(float), (~enough).astype(float)
    for stage in reversed(way):
        succeeds, fails = _before(stage, succeeds, fails)
    return np.where(fails == 0, 1.0, np.minimum(succeeds, BELOW_ONE))


def _before(stage: Stage, succeeds: Floats, fails: Floats) -> tuple[Floats, Floats]:
    """Return the chances to succeed and to fail before a battle, from those after it is won."""
    defenders, rules, _ = stage
    never, always = np.zeros(defenders + 1), np.ones(defenders + 1)
    if is_certain_possible([stage]):
        won, lost = np.stack([succeeds, fails], axis=-1), np.stack([never, always], axis=-1)
        both = balanced_blitz.values(won, lost, defenders, rules)
        return both[:, 0], both[:, 1]
    solver = float_table_method(rules)
    return (
        solver.values(succeeds, never, defenders, rules),
        solver.values(fails, always, defenders, rules),
    )


def first_reaching(chance: Fraction, chances: Floats) -> int | None:
    """Return the first n of at least 1 whose chance is at least `chance`, or None.

    chance: the wanted chance.
    chances: the chances for 0, 1, 2 ... attackers.

    >>> first_reaching(Fraction(1, 2), np.array([0.0, 0.0, 0.4, 0.9]))
    3
    """
    reaching = np.flatnonzero(chances[1:] >= float(chance))
    return int(reaching[0]) + 1 if len(reaching) else None
