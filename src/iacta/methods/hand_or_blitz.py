"""Hand or blitz: the best mix of rolling by hand and ending with a balanced blitz.

In the official app a player may roll once by hand, with fair dice, or blitz. A blitz fights to the
end at once: with a attackers (garrison excluded) against d defenders, it wins with chance B(a, d)
(`iacta.methods.balanced_blitz`). A blitz takes the place of stopping, so Bellman's equation gives
the best chance to conquer the territory:

    V(a, d) = max(B(a, d), Σ_k p_k · V(a − m + k, d − k)),     V(a, 0) = 1,  V(0, d) = 0,

where p_k is the chance that the defenders lose k of the m armies lost in a roll. Holding back
armies in the blitz in order to continue by hand would not change the first four digits of any
chance.

Source: the rules of RISK: Global Domination as its makers published them in 2024; the best mix was
never published.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np

from iacta.methods.balanced_blitz import Blitz, reshape_chances
from iacta.methods.counting import compute_coefficients
from iacta.methods.kernel import Floats, drop_garrison
from iacta.methods.lattice import Lattice
from iacta.methods.optimal_play import OptimalPlay, Reward, StopValue, refuse, refuse_rules, solve
from iacta.probability.distribution import Distribution
from iacta.rules.modes import BalancedBlitz, TrueRandom
from iacta.rules.rules import Rules

HAND_OR_BLITZ: str = "hand_or_blitz"

BLITZ_ROUNDING = 1e-14
CONQUEST = Reward(Fraction(1), Fraction(0), Fraction(0))


def make_hand_rules(rules: Rules) -> Rules:
    """Return the rules for rolling by hand; raise `IllegalError` if there are no single rolls.

    rules: the rules for rolling by hand, or for a blitz.
    """
    if isinstance(rules.mode, BalancedBlitz):
        return replace(rules, mode=TrueRandom())
    refuse_rules(rules)
    if not rules.mode.dice_chosen_first:
        raise rules.mode.make_unfit_error("to mix rolls by hand with a blitz")
    return rules


def make_blitz_rules(rules: Rules) -> Rules:
    """Return the rules with balanced blitz as the dice mode.

    rules: the rules for rolling by hand.
    """
    return replace(rules, mode=BalancedBlitz())


def compute_best_mix(able: int, defenders: int, rules: Rules) -> OptimalPlay:
    """For all battles up to a size, return the best mix of rolls by hand and a balanced blitz.

    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.
    rules: the rules for rolling by hand, or for a blitz.

    Returns a solution in floats: `values` are the chances to conquer the territory, and `errors`
    bound their errors. `attack_dice` is 0 where a blitz is at least as good as a roll, or where no
    attack is possible. Exceptions are as for `optimal_play.solve`.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(float(compute_best_mix(10, 10, CLASSIC).values[10, 10]), 4)
    0.6616
    """
    bare = drop_garrison(make_hand_rules(rules))
    refuse(able, defenders, bare)
    true = Lattice(bare)
    chances = np.zeros((defenders + 1, able + 1))
    chances[0] = 1.0
    if able:
        chances[1:, 1:] = true.win_table(able, defenders).T
    blitz = _evaluate_blitz(chances, true.error(able, defenders).relative)
    return solve(able, defenders, bare, CONQUEST, stop_value=blitz)


def _evaluate_blitz(chances: Floats, relative_error: float) -> StopValue:
    # B increases with W, so bounds on W give bounds on B.
    error = chances * relative_error + BLITZ_ROUNDING
    shifted = (np.clip(chances + shift, 0.0, 1.0) for shift in (-error, 0.0, error))
    low, middle, high = map(reshape_chances, shifted)
    # A certain result has no error, so any roll with a positive chance beats a hopeless blitz.
    certain = (low == high) & ((middle == 0) | (middle == 1))
    rounding = np.where(certain, 0.0, BLITZ_ROUNDING)
    return StopValue(middle, np.maximum(high - middle, middle - low) + rounding)


def compute_expected_left(able: int, defenders: int, rules: Rules, found: OptimalPlay) -> float:
    """Return the expected number of attackers left under the best mix, garrison excluded.

    able: attackers excluding the garrison.
    defenders: armies on the defended territory.
    rules: the rules for rolling by hand, or for a blitz.
    found: the result of `compute_best_mix` for battles of at least this size.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(compute_expected_left(2, 1, CLASSIC, compute_best_mix(2, 1, CLASSIC)), 4)
    1.6553
    """
    bare = drop_garrison(make_hand_rules(rules))
    blitz = Blitz(make_blitz_rules(bare), Lattice(bare))
    unit, steps = compute_coefficients(max(able, 1), defenders, bare)
    rolls = {dice: [c / unit ** (len(step) - 1) for c in step] for dice, step in steps.items()}
    visits: defaultdict[tuple[int, int], float] = defaultdict(float, {(able, defenders): 1.0})
    left = 0.0
    for total in range(able + defenders, 0, -1):
        for a in range(min(able, total), max(total - defenders, 0) - 1, -1):
            d, probability = total - a, visits.pop((a, total - a), 0.0)
            dice = int(found.attack_dice[d, a])
            if not probability or not a:
                continue
            if not d:
                left += probability * a
            elif dice:
                roll = rolls[dice, int(found.defence_dice[d, a])]
                for k, p in enumerate(roll):
                    visits[a - len(roll) + 1 + k, d - k] += probability * p
            else:
                ends = blitz.run_forward(Distribution([a]), d)
                left += probability * float(ends.map(lambda state: state.attackers).mean())
    return left
