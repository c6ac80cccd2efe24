"""By hand or blitz: the best mix of rolls by hand and one balanced blitz.

In the official app a player may roll once by hand, with true dice, or blitz: fight to the end at
once, by a chance to win B(a, d) that the app reshapes from the true one (see
`iacta.methods.balanced_blitz`). So the best chance to take the territory, and with it what to do in
each state, follow from Bellman's equation

    V(a, d) = max( B(a, d),  Σ_k p_k · V(a − m + k, d − k) ),     V(a, 0) = 1,  V(0, d) = 0.

Whether a blitz may keep some armies out of the fight, to go on by hand after it, makes no
difference that can be seen in four digits. Stopping is worth nothing as long as anyone can attack.

Source: the rules of RISK: Global Domination as its makers published them in 2024; the best mix was
never published.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods import balanced_blitz, lattice
from iacta.methods.balanced_blitz import reshaped_chances
from iacta.methods.optimal_play import Instead, Play, Worth, play, refuse
from iacta.rules.modes import BalancedBlitz, TrueRandom
from iacta.rules.rules import Rules

__all__ = ["NAME", "blitz_rules", "expected_left", "mix"]

NAME: str = "hand_or_blitz"

Floats: TypeAlias = npt.NDArray[np.float64]

ROUNDING = 1e-14
CONQUEST = Worth(Fraction(1), Fraction(0), Fraction(0))


def mix(able: int, defenders: int, rules: Rules) -> Play:
    """Return the best mix of rolls by hand and a balanced blitz, for all battles up to a size.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of a roll by hand; their `dice_mode` does not matter.

    Floats: `gains` are the chances to take the territory, each within its entry of `errors`; where
    `attack_dice` is 0 and armies can attack, a blitz is at least as good as a roll. The same is
    refused as by `optimal_play.play`.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(float(mix(10, 10, CLASSIC).gains[10, 10]), 4)
    0.6616
    """
    bare = _bare(rules)
    refuse(able, defenders, bare)
    chances = np.zeros((defenders + 1, able + 1))
    chances[0] = 1.0
    if able:
        chances[1:, 1:] = lattice.win_table(able, defenders, bare).T
    return play(able, defenders, bare, CONQUEST, instead=_blitz(chances, able, defenders, bare))


def _blitz(chances: Floats, able: int, defenders: int, bare: Rules) -> Instead:
    """Return what a blitz gains, and how far that may be from the truth."""
    # B rises with W: what W may be from its own error bounds what B may be.
    error = chances * lattice.relative_error(able, defenders, bare) + ROUNDING
    shifted = (np.clip(chances + shift, 0.0, 1.0) for shift in (-error, 0.0, error))
    low, middle, high = map(reshaped_chances, shifted)
    # Certainty is exact: beside a blitz that must fail, a roll is better with any chance at all.
    certain = (low == high) & ((middle == 0) | (middle == 1))
    rounding = np.where(certain, 0.0, ROUNDING)
    return Instead(middle, np.maximum(high - middle, middle - low) + rounding)


def blitz_rules(rules: Rules) -> Rules:
    """Return the rules of a blitz.

    rules: the rules of a roll by hand.
    """
    return replace(rules, mode=BalancedBlitz())


def _bare(rules: Rules) -> Rules:
    """Return the rules of a roll by hand, for armies able to attack."""
    return replace(rules, garrison=0, mode=TrueRandom())


def expected_left(able: int, defenders: int, rules: Rules, found: Play) -> float:
    """Return the mean number of attackers left of those able to attack, under the best mix.

    able: attackers able to attack, garrison left out.
    defenders: armies on the defended territory.
    rules: the rules of a roll by hand.
    found: the answer of `mix` for battles up to this size, or a larger one.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(expected_left(2, 1, CLASSIC, mix(2, 1, CLASSIC)), 4)
    1.6553
    """
    bare = _bare(rules)
    steps = lattice.steps_of(able, defenders, bare) if able else {}
    visits: defaultdict[tuple[int, int], float] = defaultdict(float, {(able, defenders): 1.0})
    mean = 0.0
    for total in range(able + defenders, 0, -1):
        for a in range(min(able, total), max(total - defenders, 0) - 1, -1):
            d, chance = total - a, visits.pop((a, total - a), 0.0)
            dice = int(found.attack_dice[d, a])
            if not chance or not a:
                continue
            if not d or not dice:
                mean += chance * (a if not d else _left_after_blitz(a, d, bare))
                continue
            step = steps[dice, int(found.defence_dice[d, a])]
            for k, p in enumerate(step):
                visits[a - len(step) + 1 + k, d - k] += chance * p
    return mean


def _left_after_blitz(able: int, defenders: int, bare: Rules) -> float:
    """Return the mean number of attackers left after a blitz."""
    rules = blitz_rules(bare)
    law = balanced_blitz.outcomes(Distribution([able]), defenders, rules)
    return float(law.map(lambda outcome: outcome.attackers).mean())
