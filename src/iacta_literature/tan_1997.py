"""WRONG ON PURPOSE: Tan's law of a roll, and how a simulation finds the mistake.

Do not use this law. It stands here as an example of an error that looks right, was printed, and
that a minute of rolling dice rejects.

With Y(1) ≥ Y(2) ≥ ... the attack dice and Z(1) ≥ Z(2) ≥ ... the defence dice in order, Tan (1997)
multiplied the chances of the ranks,

    P(Y(1) > Z(1), Y(2) > Z(2))  =  P(Y(1) > Z(1)) · P(Y(2) > Z(2)),            (wrong)

as if one rank told nothing of the other. It does: if the highest defence die is a one, so is the
second. Each factor is right by itself. With the cdf of the r-th highest of n dice of six faces,

    P(Y(r) ≤ y)  =  Σ_{k<r}  C(n, k) · (1 − y/6)^k · (y/6)^(n−k),

three dice against two have 0.4716 and 0.6075, which makes 0.2865 for two ranks won, where the
truth is 2890/7776 = 0.3717.

What Tan printed for three against two is (0.237, 0.504, 0.259) of 0, 1, 2 defenders lost. That is
not quite the product of the exact factors, (0.2074, 0.5061, 0.2865), so his second factor must be
off as well. The dice reject both. Where only one pair of dice is compared there is nothing to
multiply, and the law is right.

Sources: Tan, "Markov chains and the Risk board game" (Mathematics Magazine 70, 1997); the mistake
was found by Osborne (Mathematics Magazine 76, 2003); the numbers and the simulation that shows it
are discussed by Höhle (2025), appendices 1 and 2.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, inf
from typing import NamedTuple

import numpy as np

from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, MissingError
from iacta.methods.throws import throw_losses
from iacta.rules.roll import loss_law
from iacta.rules.rules import CLASSIC

__all__ = [
    "NAME",
    "PRINTED_3_AGAINST_2",
    "ChiSquare",
    "Trial",
    "chi_square",
    "right_law",
    "trial",
    "wrong_law",
]

NAME: str = "tan_1997"

PRINTED_3_AGAINST_2: tuple[float, float, float] = (0.237, 0.504, 0.259)

FACES = 6
MOST_ROLLS = 10**8
SUM_TOLERANCE = 1e-9


class ChiSquare(NamedTuple):
    """Pearson's test of a law against counts.

    statistic: Σ (count − expected)² / expected.
    p_value: the chance that counts of that law are as far from it, or farther.
    """

    statistic: float
    p_value: float


class Trial(NamedTuple):
    """Two laws, and the real dice that judge them.

    counts: in how many rolls the defenders lost 0, 1, 2 armies.
    wrong: the test of Tan's law.
    right: the test of the exact law.
    """

    counts: tuple[int, ...]
    wrong: ChiSquare
    right: ChiSquare


def wrong_law(attack_dice: int, defence_dice: int) -> tuple[Fraction, ...]:
    """Return the chances of 0, 1, 2 defenders lost as they would be if ranks were independent.

    attack_dice: attack dice, 1 to 3.
    defence_dice: defence dice, 1 or 2.

    Exact fractions of a law that is wrong for two defence dice against two or three.

    >>> [round(float(chance), 4) for chance in wrong_law(3, 2)]
    [0.2074, 0.5061, 0.2865]

    Source: Tan (1997); Höhle (2025), appendix 2.
    """
    attack, defence = _checked(attack_dice, defence_dice)
    law = [Fraction(1)]
    for rank in range(1, min(attack, defence) + 1):
        won = _rank_won(attack, defence, rank)
        shifted = zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)
        law = [same * (1 - won) + fewer * won for same, fewer in shifted]
    return tuple(law)


def right_law(attack_dice: int, defence_dice: int) -> tuple[Fraction, ...]:
    """Return the true chances of 0, 1, 2 defenders lost, exactly.

    attack_dice: attack dice, 1 to 3.
    defence_dice: defence dice, 1 or 2.

    >>> [round(float(chance), 4) for chance in right_law(3, 2)]
    [0.2926, 0.3358, 0.3717]
    """
    law = loss_law(*_checked(attack_dice, defence_dice), CLASSIC)
    return tuple(Fraction(count, law.total) for count in law.counts)


def trial(
    attack_dice: int = 3, defence_dice: int = 2, *, rolls: int = 10_000, seed: int = 1
) -> Trial:
    """Roll real dice, and test both laws against them.

    attack_dice: attack dice, 1 to 3.
    defence_dice: defence dice, 1 or 2.
    rolls: how many rolls.
    seed: a whole number; the same seed throws the same dice.

    A law whose p-value is next to nothing is rejected. (A right law has a p-value below 0.01 in
    one trial of a hundred.)

    >>> judged = trial()
    >>> judged.wrong.p_value < 1e-100
    True
    >>> judged.right.p_value > 0.01
    True
    """
    attack, defence = _checked(attack_dice, defence_dice)
    rng = np.random.default_rng(whole_number(seed, "seed"))
    thrown = whole_number(rolls, "rolls", least=1, most=MOST_ROLLS)
    lost = throw_losses(attack, defence, CLASSIC, thrown, rng).defenders
    counts = tuple(np.bincount(lost, minlength=min(attack, defence) + 1).tolist())
    return Trial(
        counts,
        chi_square(wrong_law(attack, defence), counts),
        chi_square(right_law(attack, defence), counts),
    )


def chi_square(law: Sequence[Fraction | float], counts: Sequence[int]) -> ChiSquare:
    """Return Pearson's chi-square test of a law against counts.

    law: the chance of each result; they sum to 1.
    counts: how often each result came.

    Floats. A result that came although the law forbids it makes the statistic infinite.

    >>> tested = chi_square([0.5, 0.5], [60, 40])
    >>> tested.statistic, round(tested.p_value, 4)
    (4.0, 0.0455)
    """
    try:
        from scipy.stats import chisquare
    except ImportError:
        raise MissingError(
            "the test 'chi_square' needs SciPy, which is not installed: pip install "
            "'iacta[methods]'"
        ) from None
    if len(law) != len(counts) or min(counts, default=0) < 0 or not sum(counts):
        raise IllegalError(
            f"counts must have one entry of at least 0 for each of the {len(law)} chances and not "
            f"all 0, got {shown(counts)}"
        )
    if min(law) < 0 or abs(float(sum(law)) - 1) > SUM_TOLERANCE:
        raise IllegalError(f"law must be chances that sum to 1, got {shown(law)}")
    possible = [(float(p), count) for p, count in zip(law, counts, strict=True) if p]
    total = sum(counts)
    if sum(count for _, count in possible) < total:
        return ChiSquare(inf, 0.0)
    if len(possible) == 1:
        return ChiSquare(0.0, 1.0)
    tested = chisquare([count for _, count in possible], [p * total for p, _ in possible])
    return ChiSquare(float(tested.statistic), float(tested.pvalue))


def _checked(attack_dice: int, defence_dice: int) -> tuple[int, int]:
    return (
        whole_number(attack_dice, "attack_dice", least=1, most=CLASSIC.attack.kept),
        whole_number(defence_dice, "defence_dice", least=1, most=CLASSIC.defence.kept),
    )


def _rank_won(attack: int, defence: int, rank: int) -> Fraction:
    """Return P(Y(r) > Z(r)), which is right."""
    below = [_cdf(defence, rank, face) for face in range(FACES)]
    reached = [_cdf(attack, rank, face) for face in range(FACES + 1)]
    shows = (upper - lower for lower, upper in pairwise(reached))
    return sum((p * q for p, q in zip(shows, below, strict=True)), start=Fraction(0))


def _cdf(dice: int, rank: int, face: int) -> Fraction:
    """Return P(Y(r) ≤ y) for the r-th highest of some dice of six faces."""
    chance = Fraction(face, FACES)
    return sum(
        (comb(dice, k) * (1 - chance) ** k * chance ** (dice - k) for k in range(rank)),
        start=Fraction(0),
    )
