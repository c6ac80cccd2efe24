"""Strips: the edges of a battle, where fewer dice are thrown, by Taflin's equations (6)-(14).

The notation of this file is the paper's. m and n are armies, the attackers' garrison of one
*included*; f_mn^i is the chance of the attackers losing i armies in a roll of m dice against n;
Q_b(m, n) is the chance to win from a point of the boundary. The strips m = 2, 3, 4 and n = 1, 2
are solved one after the other, each as a recurrence whose other terms are the strips before it:

    Q_b(2, n) and Q_b(m, 1), which one path alone decides, eqs. (6)-(8);
    Q_b(3, n) = f_22^1 Q_b(2, n−1) + f_22^0 Q_b(3, n−2), eqs. (9)-(14);
    Q_b(4, n) and Q_b(m, 2), which the paper needs for eq. (17) but leaves out.

A function is named for what its equation says, and takes the chances f either as fractions, and is
exact, or as floats.

Geometric sums. Where the paper writes (x^k − y^k) / (x − y), this file sums the k products that
the quotient stands for, `products_of_degree`: it holds for x = y too, and loses no digits near it.

Source: Taflin, "The Probability Distribution of Risk Battles" (2001).
"""

from fractions import Fraction
from math import sqrt
from operator import truediv
from typing import NamedTuple

from iacta.distribution import Probability
from iacta.errors import IllegalError
from iacta.methods.closed_form import refuse_dice
from iacta.methods.limits import read_rules
from iacta.rules.roll import loss_law
from iacta.rules.rules import Rules

__all__ = [
    "Point",
    "RollChances",
    "Substitution",
    "against_one",
    "against_two",
    "four_against",
    "products_of_degree",
    "roll_chances",
    "strip_win",
    "substituted",
    "substituted_step",
    "substituted_sum",
    "substitution",
    "three_against",
    "three_against_motion",
    "three_against_step",
    "two_against",
    "two_against_one",
]


class Point(NamedTuple):
    """A state of the battle, as the paper counts it.

    m: attackers on the territory, the garrison of one included.
    n: defenders.
    """

    m: int
    n: int


class RollChances(NamedTuple):
    """The chances f_mn^i of all rolls: `f32[1]` is f_32^1, fractions or floats.

    f11, f12, f21, f22, f31, f32: for m attack dice against n defence dice, the chances of the
        attackers losing 0, 1 ... armies.
    """

    f11: tuple[Probability, ...]
    f12: tuple[Probability, ...]
    f21: tuple[Probability, ...]
    f22: tuple[Probability, ...]
    f31: tuple[Probability, ...]
    f32: tuple[Probability, ...]


class Substitution(NamedTuple):
    """The constants of eq. (12).

    k: f_22^1 · f_11^0 / f_22^0.
    c: f_12^0 / √f_22^0.
    """

    k: float
    c: float


def roll_chances(rules: Rules | str = "classic", *, exact: bool = True) -> RollChances:
    """Return the chances f_mn^i under some rules (Taflin 2001, table 1).

    rules: rules that keep three attack dice and two defence dice; others are refused.
    exact: whether the chances are fractions, or else the nearest floats.

    >>> from iacta.rules.rules import CLASSIC
    >>> roll_chances(CLASSIC).f11
    (Fraction(5, 12), Fraction(7, 12))
    """
    rules = read_rules(rules)
    refuse_dice(rules)
    laws = [loss_law(m, n, rules) for m in (1, 2, 3) for n in (1, 2)]
    kind = Fraction if exact else truediv  # both divide to the nearest number of their kind
    return RollChances(*(tuple(kind(n, law.total) for n in law.counts[::-1]) for law in laws))


def products_of_degree(degree: int, *factors: Probability) -> Probability:
    """Return the sum of all products of so many factors, each taken any number of times.

    degree: how many factors a product has; below 0 there is none.
    factors: what they are taken from.

    For two of them it is (x^(degree+1) − y^(degree+1)) / (x − y), without the difference.

    >>> products_of_degree(2, 2.0, 3.0)
    19.0
    """
    one = factors[0] ** 0
    if degree < 0:
        return 0 * one
    sums = [one] + [0 * one] * degree
    for factor in factors:
        for i in range(degree):
            sums[i + 1] += factor * sums[i]
    return sums[degree]


def two_against_one(f: RollChances) -> Probability:
    """Return Q_b(2, 1) = f_11^0: eq. (6).

    f: the chances of the rolls.

    >>> from iacta.rules.rules import CLASSIC
    >>> two_against_one(roll_chances(CLASSIC))
    Fraction(5, 12)
    """
    return f.f11[0]


def against_one(m: int, f: RollChances) -> Probability:
    """Return Q_b(m, 1) for m ≥ 3: eq. (7). Only losing every roll loses the battle.

    m: attackers, garrison included.
    f: the chances of the rolls.

    Q_b(m, 1) = 1 − (f_31^1)^(m−3) f_21^1 f_11^1.

    >>> from iacta.rules.rules import CLASSIC
    >>> against_one(3, roll_chances(CLASSIC))
    Fraction(1955, 2592)
    """
    return 1 - f.f31[1] ** (m - 3) * f.f21[1] * f.f11[1]


def two_against(n: int, f: RollChances) -> Probability:
    """Return Q_b(2, n) for n ≥ 1: eq. (8). Only winning every roll wins the battle.

    n: defenders.
    f: the chances of the rolls.

    Q_b(2, n) = (f_12^0)^(n−1) f_11^0.

    >>> from iacta.rules.rules import CLASSIC
    >>> two_against(2, roll_chances(CLASSIC))
    Fraction(275, 2592)
    """
    return f.f12[0] ** (n - 1) * f.f11[0]


def three_against_motion(two: Probability, three: Probability, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 2 from its neighbours: eq. (9).

    two: Q_b(2, n − 1).
    three: Q_b(3, n − 2).
    f: the chances of the rolls.

    Q_b(3, n) = f_22^1 Q_b(2, n−1) + f_22^0 Q_b(3, n−2).

    >>> from iacta.rules.rules import CLASSIC
    >>> f = roll_chances(CLASSIC)
    >>> three_against_motion(two_against(8, f), three_against(7, f), f) == three_against(9, f)
    True
    """
    return f.f22[1] * two + f.f22[0] * three


def three_against_step(three: Probability, n: int, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 2 from the strip itself: eq. (10), which is (8) put into (9).

    three: Q_b(3, n − 2).
    n: defenders.
    f: the chances of the rolls.

    Q_b(3, n) = f_22^0 Q_b(3, n−2) + f_22^1 (f_12^0)^(n−2) f_11^0.

    >>> from iacta.rules.rules import CLASSIC
    >>> f = roll_chances(CLASSIC)
    >>> three_against_step(three_against(7, f), 9, f) == three_against(9, f)
    True
    """
    return f.f22[0] * three + f.f22[1] * f.f12[0] ** (n - 2) * f.f11[0]


def substituted_step(y: float, n: int, constants: Substitution) -> float:
    """Return y_n = y_{n−2} + k C^(n−2): eq. (11).

    y: y_{n−2}.
    n: defenders.
    constants: k and C.

    >>> substituted_step(1.0, 4, Substitution(k=0.5, c=2.0))
    3.0
    """
    return y + constants.k * constants.c ** (n - 2)


def substitution(f: RollChances) -> Substitution:
    """Return the constants k and C of eq. (12), in floats, as it takes a square root.

    f: the chances of the rolls; f_22^0 = 0 is refused, by which the equation divides.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(substitution(roll_chances(CLASSIC)).c, 6)
    0.533704
    """
    if not f.f22[0]:
        raise IllegalError("f_22^0 must be above 0 for the substitution of equation (12), got 0")
    k, c = f.f22[1] * f.f11[0] / f.f22[0], float(f.f12[0]) / sqrt(f.f22[0])
    return Substitution(float(k), c)


def substituted(three: Probability, n: int, f: RollChances) -> float:
    """Return y_n = Q_b(3, n) / (f_22^0)^(n/2): eq. (12).

    three: Q_b(3, n).
    n: defenders.
    f: the chances of the rolls.

    >>> from iacta.rules.rules import CLASSIC
    >>> substituted(0.5, 2, roll_chances(CLASSIC))  # 0.5 · 1296/295
    2.1966101694915254
    """
    return float(three) / pow(sqrt(f.f22[0]), n)


def substituted_sum(n: int, f: RollChances) -> float:
    """Return y_n for n ≥ 2, summed: eq. (13).

    n: defenders.
    f: the chances of the rolls.

    y_n = y_2 + k (C² − C^n) / (1 − C²) for even n, y_3 + k (C³ − C^n) / (1 − C²) for odd n.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(substituted_sum(9, roll_chances(CLASSIC)), 6)
    2.020685
    """
    k, c = substitution(f)
    first = 2 + n % 2
    y = substituted(three_against(first, f), first, f)
    return y + k * c**first * float(products_of_degree((n - first) // 2 - 1, 1.0, c * c))


def three_against(n: int, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 1: eq. (14).

    n: defenders.
    f: the chances of the rolls.

    With x = f_22^0 and y = (f_12^0)²:

        Q_b(3, 2j)    =  x^j             +  f_22^1       f_11^0 (x^j − y^j) / (x − y),
        Q_b(3, 2j+1)  =  x^j Q_b(3, 1)   +  f_22^1 f_12^0 f_11^0 (x^j − y^j) / (x − y).

    Q_b(3, 1) = f_21^0 + f_21^1 f_11^0 is the paper's bracket, and equal to eq. (7).

    >>> from iacta.rules.rules import CLASSIC
    >>> three_against(2, roll_chances(CLASSIC))
    Fraction(235, 648)
    """
    j, odd = divmod(n, 2)
    x, y = f.f22[0], f.f12[0] ** 2
    begun = f.f21[0] + f.f21[1] * f.f11[0] if odd else 1
    crossed = f.f22[1] * f.f12[0] ** odd * f.f11[0]
    return x**j * begun + crossed * products_of_degree(j - 1, x, y)


def four_against(n: int, f: RollChances) -> Probability:
    """Return Q_b(4, n) for n ≥ 1, which the paper leaves out.

    n: defenders.
    f: the chances of the rolls.

    The equation of motion is Q_b(4, n) = f_32^0 Q_b(4, n−2) + f_32^1 Q_b(3, n−1) + f_32^2 Q_b(2, n)
    for n ≥ 2, with Q_b(4, 0) = 1. Put into itself j times, n = 2j or 2j + 1, it gives

        Q_b(4, n)  =  z^j Q_b(4, n−2j)
                      + Σ_{i<j} z^i [f_32^1 Q_b(3, n−1−2i) + f_32^2 Q_b(2, n−2i)],    z = f_32^0.

    By (14) and (8) the brackets are powers of x = f_22^0 and of y = (f_12^0)². Let h_d(x, y ...)
    be the sum of all products of d factors, so that Σ z^i x^(j−1−i) = h_{j−1}(z, x) and
    Σ z^i h_{j−2−i}(x, y) = h_{j−2}(z, x, y). For even and for odd n:

        Q_b(4, 2j)    =  z^j
                         +  f_32^1 [Q_b(3, 1) h_{j−1}(z, x) + f_22^1 f_12^0 f_11^0 h_{j−2}(z, x, y)]
                         +  f_32^2 f_12^0 f_11^0 h_{j−1}(z, y),
        Q_b(4, 2j+1)  =  z^j Q_b(4, 1)
                         +  f_32^1 [x h_{j−1}(z, x) + f_22^1 f_11^0 h_{j−1}(z, x, y)]
                         +  f_32^2 y f_11^0 h_{j−1}(z, y).

    >>> from iacta.rules.rules import CLASSIC
    >>> four_against(2, roll_chances(CLASSIC))
    Fraction(6610505, 10077696)
    """
    j, odd = divmod(n, 2)
    x, y, z = f.f22[0], f.f12[0] ** 2, f.f32[0]
    begun = against_one(4, f) if odd else 1
    threes = x if odd else three_against(1, f)
    crossed = f.f22[1] * f.f11[0] * (1 if odd else f.f12[0])
    twos = f.f11[0] * (y if odd else f.f12[0])
    met = threes * products_of_degree(j - 1, z, x)
    met += crossed * products_of_degree(j - 2 + odd, z, x, y)
    return z**j * begun + f.f32[1] * met + f.f32[2] * twos * products_of_degree(j - 1, z, y)


def against_two(m: int, f: RollChances) -> Probability:
    """Return Q_b(m, 2) for m ≥ 2, which the paper leaves out, "not technically" an edge.

    m: attackers, garrison included.
    f: the chances of the rolls.

    The equation of motion is Q_b(m, 2) = f_32^0 + f_32^1 Q_b(m−1, 1) + f_32^2 Q_b(m−2, 2) for
    m ≥ 4. Let m = e + 2j with e = 2 or 3, z = f_32^2 and g = f_31^1. Put into itself j times, with
    Q_b(m−1, 1) from eq. (7) and f_32^0 + f_32^1 = 1 − z, it gives

        Q_b(m, 2)  =  z^j Q_b(e, 2)  +  (1 − z^j)
                      − f_32^1 f_21^1 f_11^1 g^(e−2) (z^j − g^(2j)) / (z − g²).

    >>> from iacta.rules.rules import CLASSIC
    >>> against_two(4, roll_chances(CLASSIC))
    Fraction(6610505, 10077696)
    """
    e = 2 + m % 2
    j = (m - e) // 2
    z, g = f.f32[2], f.f31[1]
    begun = three_against(2, f) if e == 3 else two_against(2, f)
    lost = f.f32[1] * f.f21[1] * f.f11[1] * g ** (e - 2) * products_of_degree(j - 1, z, g**2)
    return z**j * begun + (1 - z**j) - lost


def strip_win(point: Point, f: RollChances) -> Probability:
    """Return Q_b(m, n) on a strip, m ≤ 4 or n ≤ 2, or where the battle is over.

    point: (m, n).
    f: the chances of the rolls.

    >>> from iacta.rules.rules import CLASSIC
    >>> strip_win(Point(4, 2), roll_chances(CLASSIC))
    Fraction(6610505, 10077696)
    """
    m, n = point
    if m < 2 or n == 0:
        return f.f11[0] ** 0 * (n == 0)
    strips = {(2, 1): two_against_one(f), (3, 1): three_against(1, f)}
    if point in strips:
        return strips[point]
    if n <= 2:
        return against_one(m, f) if n == 1 and m > 2 else against_two(m, f)
    return {2: two_against, 3: three_against, 4: four_against}[m](n, f)
