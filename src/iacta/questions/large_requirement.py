"""The fewest armies for a wanted chance, against more than a table could hold."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, sqrt

from iacta.methods import closed_form, leap, refusal
from iacta.methods.leap import attackers_walk
from iacta.rules.rules import Rules

__all__ = ["fewest_attackers", "fewest_defenders", "has_chance"]

MARGIN = Fraction(1, 10**12)
LEAST = Fraction(1, 10**15)
MOST_ARMIES_EXACTLY = 20_000


def fewest_attackers(defenders: int, chance: Fraction, rules: Rules, keep: int) -> int | None:
    """Return the fewest attackers, garrison included, that win with at least a wanted chance.

    defenders: armies on the defended territory.
    chance: the wanted chance.
    rules: the rules of the battle; those that `iacta.methods.leap` refuses are refused.
    keep: armies that must be left at the end to move into the territory.

    More attackers are taken to win with a higher chance, so that it can be searched by halves. The
    comparison is exact: `None` comes back where no method can tell a chance from the wanted one.

    >>> from iacta.rules.rules import CLASSIC
    >>> fewest_attackers(10**9, Fraction(1, 2), CLASSIC, keep=0)
    853414375
    """

    def reaches(attackers: int) -> bool:
        """Tell whether so many win with the wanted chance.

        attackers: how many, garrison included.
        """
        decided = has_chance(attackers, defenders, chance, rules, keep)
        if decided is None:
            raise _UndecidedError
        return decided

    guess = _guess(defenders, chance, rules) + keep
    try:
        return _first(reaches, guess)
    except _UndecidedError:
        return None


def fewest_defenders(attackers: int, chance: Fraction, rules: Rules) -> int | None:
    """Return the fewest defenders that hold with at least a wanted chance.

    attackers: armies on the attacking territory, garrison included, more than the garrison.
    chance: the wanted chance.
    rules: the rules of the battle; those that `iacta.methods.leap` refuses are refused.

    More defenders are taken to hold with a higher chance. The comparison is exact: `None` comes
    back where no method can tell a chance from the wanted one.

    >>> from iacta.rules.rules import CLASSIC
    >>> fewest_defenders(853_414_375, Fraction(1, 2), CLASSIC)
    1000000001
    """

    def holds(defenders: int) -> bool:
        """Tell whether so many hold with the wanted chance.

        defenders: how many.
        """
        sign = _compared(attackers, defenders, 1 - chance, rules, keep=0)
        if sign is None:
            raise _UndecidedError
        return sign <= 0

    walk = attackers_walk(rules)
    lost = walk.mean / (len(walk.counts) - 1)  # the attackers' share of the armies that fall
    try:
        return _first(holds, max(round((attackers - rules.garrison) * (1 - lost) / lost), 1))
    except _UndecidedError:
        return None


class _UndecidedError(Exception):
    """Floats cannot tell a chance from the wanted one."""


def _first(reaches: Callable[[int], bool], guess: int) -> int:
    """Return the least number that reaches what is wanted; all above it do, and 0 does not."""
    low, high, width = guess, guess, 1
    while low and reaches(low):
        low, high, width = max(low - width, 0), low, 2 * width
    while not reaches(high):
        low, high, width = high, high + width, 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        if reaches(middle):
            high = middle
        else:
            low = middle
    return high


def _guess(defenders: int, chance: Fraction, rules: Rules) -> int:
    """Return about how many attackers it takes, as if the losses of a roll were normal."""
    from statistics import NormalDist  # slow to import, and only needed here

    walk = attackers_walk(rules)
    share = walk.mean / (len(walk.counts) - 1)  # of the armies that a roll takes
    rolls = defenders / (len(walk.counts) - 1) / (1 - share)
    deviations = NormalDist().inv_cdf(float(min(max(chance, LEAST), 1 - LEAST)))
    mean = defenders * share / (1 - share)
    spread = sqrt(rolls * walk.variance) / (1 - share)
    return max(ceil(mean + deviations * spread) + rules.garrison, 1)


def has_chance(
    attackers: int, defenders: int, chance: Fraction, rules: Rules, keep: int
) -> bool | None:
    """Tell whether a battle is won with at least a chance, or `None` where no method can tell.

    attackers: armies on the attacking territory, garrison included.
    defenders, chance, rules, keep: as for `fewest_attackers`.

    >>> from iacta.rules.rules import CLASSIC
    >>> has_chance(853_401, 10**6, Fraction(1, 2), CLASSIC, keep=0)
    False
    """
    sign = _compared(attackers, defenders, chance, rules, keep)
    return None if sign is None else sign >= 0


def _compared(
    attackers: int, defenders: int, chance: Fraction, rules: Rules, keep: int
) -> int | None:
    """Return the sign of the chance to win less a chance, or `None` where no method can tell."""
    won, lost = map(Fraction, leap.both_chances(attackers, defenders, rules, keep))
    # The smaller of the two has its digits.
    ours, wanted = (won, chance) if won < lost else (1 - chance, lost)
    if max(ours, wanted) >= LEAST and abs(ours - wanted) > MARGIN * max(ours, wanted):
        return 1 if ours > wanted else -1
    exactly_told = not keep and refusal(closed_form, attackers, defenders, rules) is None
    if exactly_told and attackers + defenders <= MOST_ARMIES_EXACTLY:
        exact = closed_form.win_probability(attackers, defenders, rules)
        return (exact > chance) - (exact < chance)
    return None
