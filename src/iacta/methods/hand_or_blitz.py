"""By hand or blitz: the best mix of rolls by hand and one balanced blitz.

In the official app a player may roll once by hand, with true dice, or blitz: fight to the end at
once, by a chance to win that the app reshapes from the true one. Let W be the true chance of a
attackers able to attack against d defenders, and L = 1 − W. A balanced blitz takes the territory
with the chance B(a, d):

    W' = 0 if W ≤ 0.05,  1 if L ≤ 0.05,  else  W^1.3 / (W^1.3 + L^1.3),
    B  = (W' − 0.10) / 0.80,  but not below 0 nor above 1.

So the best chance to take it, and with it what to do in each state, follow from Bellman's equation

    V(a, d) = max( B(a, d),  Σ_k p_k · V(a − m + k, d − k) ),     V(a, 0) = 1,  V(0, d) = 0.

Whether a blitz may keep some armies out of the fight, to go on by hand after it, makes no
difference that can be seen in four digits. Stopping is worth nothing as long as anyone can attack.

The armies left after a blitz follow the whole reshaped law: after W' all ways to win and to lose
are scaled to W' and 1 − W' and laid in a row from the best for the attacker to the worst; a tenth
of the chance is cut off at either end, and the rest scaled to 1, which makes B; then each is raised
to the power 1.8, and the two sides scaled to B and 1 − B again.

Source: the rules of RISK: Global Domination as its makers published them in 2024; the constants are
theirs, the best mix was never published.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods import lattice
from iacta.methods.optimal_play import Instead, Play, Worth, play, refuse
from iacta.rules import Rules

__all__ = ["NAME", "blitz_law", "blitz_win_probability", "expected_left", "mix"]

NAME: str = "hand_or_blitz"

Floats: TypeAlias = npt.NDArray[np.float64]

WIN_CUT_OFF = 0.05
WIN_POWER = 1.3
OUTCOME_CUT_OFF = 0.10
OUTCOME_POWER = 1.8
CONQUEST = Worth(Fraction(1), Fraction(0), Fraction(0))


def mix(able: int, defenders: int, rules: Rules) -> Play:
    """Return the best mix of rolls by hand and a balanced blitz, for all battles up to a size.

    able: the most attackers able to attack, garrison left out.
    defenders: the most armies on the defended territory.
    rules: the rules of a roll by hand; their `dice_mode` does not matter.

    Floats: `gains` are the chances to take the territory, each within its entry of `errors`; where
    `attack_dice` is 0 and armies can attack, a blitz is at least as good as a roll. The same is
    refused as by `optimal_play.play`.

    >>> from iacta.rules import CLASSIC
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
    # No slope of B is above 1.3 / 0.8, and its own roundings are a dozen.
    error = 2 * lattice.relative_error(able, defenders, bare) + 1e-14
    stretched = _stretched(chances)
    low, middle, high = (_clipped(stretched + shift) for shift in (-error, 0.0, error))
    return Instead(middle, np.maximum(high - middle, middle - low))


def _bare(rules: Rules) -> Rules:
    """Return the rules of a roll by hand, for armies able to attack."""
    return replace(rules, garrison=0, dice_mode="true random")


def blitz_win_probability(chances: Floats) -> Floats:
    """Return B, the chances of a balanced blitz to take the territory.

    chances: W, the true chances, of any shape.

    >>> blitz_win_probability(np.array([0.1, 0.5, 0.75424383, 0.9])).round(4).tolist()
    [0.0, 0.5, 0.889, 1.0]
    """
    return _clipped(_stretched(chances))


def _stretched(chances: Floats) -> Floats:
    """Return B before it is kept between 0 and 1."""
    won, lost = chances**WIN_POWER, (1 - chances) ** WIN_POWER
    reshaped = np.where(chances <= WIN_CUT_OFF, 0.0, won / (won + lost))
    reshaped = np.where(1 - chances <= WIN_CUT_OFF, 1.0, reshaped)
    return (reshaped - OUTCOME_CUT_OFF) / (1 - 2 * OUTCOME_CUT_OFF)


def _clipped(stretched: Floats) -> Floats:
    return np.clip(stretched, 0.0, 1.0)


def blitz_law(won: Floats, lost: Floats) -> tuple[Floats, Floats]:
    """Return the reshaped law of a battle.

    won: `won[i]` is the true chance to win having lost i armies.
    lost: `lost[j]` is the true chance to lose having destroyed j armies.

    The same chances after a balanced blitz.

    >>> won, lost = blitz_law(np.array([0.5, 0.25]), np.array([0.25]))
    >>> won.round(4).tolist(), lost.round(4).tolist()
    ([0.6238, 0.2594], [0.1167])
    """
    low, high = float(won.sum()), float(lost.sum())
    if low <= WIN_CUT_OFF or high <= WIN_CUT_OFF:
        share = float(low > WIN_CUT_OFF)
    else:
        share = low**WIN_POWER / (low**WIN_POWER + high**WIN_POWER)
    row = np.concatenate((_scaled(won, share), _scaled(lost, 1 - share)[::-1]))
    row = _cut(_cut(row)[::-1])[::-1]
    row /= row.sum()
    share = float(row[: len(won)].sum())
    raised = row**OUTCOME_POWER
    return _scaled(raised[: len(won)], share), _scaled(raised[len(won) :], 1 - share)[::-1]


def _scaled(chances: Floats, total: float) -> Floats:
    """Return the chances with another sum."""
    now = chances.sum()
    return chances * (total / now) if now else chances


def _cut(row: Floats) -> Floats:
    """Take the cut-off from the front of a row."""
    beyond = np.maximum(np.cumsum(row) - OUTCOME_CUT_OFF, 0.0)
    return np.diff(beyond, prepend=0.0)


def expected_left(able: int, defenders: int, rules: Rules, found: Play) -> float:
    """Return the mean number of attackers left of those able to attack, under the best mix.

    able: attackers able to attack, garrison left out.
    defenders: armies on the defended territory.
    rules: the rules of a roll by hand.
    found: the answer of `mix` for battles up to this size, or a larger one.

    >>> from iacta.rules import CLASSIC
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
    law = lattice.outcomes(Distribution([able]), defenders, bare)
    won, lost = np.zeros(able), np.zeros(defenders)
    for outcome, probability in law.items():
        if outcome.defenders:
            lost[defenders - outcome.defenders] = probability
        else:
            won[able - outcome.attackers] = probability
    return float(blitz_law(won, lost)[0] @ np.arange(able, 0, -1))
