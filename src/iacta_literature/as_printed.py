"""WRONG ON PURPOSE: Taflin's equations (5) and (15)-(16) to the letter, errata included.

They stand here to show what the printed equations give; the right ones are in
`iacta_literature.taflin_2001`.
"""

from fractions import Fraction
from math import factorial

from iacta_literature.taflin_2001 import free_space
from iacta_literature.taflin_strips import Point, RollChances, strip_win

__all__ = ["first_passage", "free_space_mass", "win"]


def first_passage(start: Point, f: RollChances) -> dict[Point, Fraction]:
    """Return P* of every point of the boundary as equations (15)-(17) have it in print.

    start: (M, N), with M ≥ 5 and N ≥ 3.
    f: the chances of the rolls, as fractions.

    The paths are not confined to the inside, so that those along the corner count twice.
    """

    def p(m: int, n: int) -> Fraction:
        """Return the chance to come to a point on paths that are not confined.

        m: M of the point.
        n: N of the point.
        """
        rolls, odd = divmod(sum(start) - m - n, 2)
        return Fraction(0) if odd else Fraction(free_space(start, Point(m, n), rolls, f))

    good, neutral, bad = (Fraction(chance) for chance in f.f32)
    passage = {Point(m, 1): good * p(m, 3) for m in range(3, start.m + 1)}
    passage |= {Point(m, 2): neutral * p(m + 1, 3) + good * p(m, 4) for m in range(3, start.m + 1)}
    passage |= {Point(3, n): bad * p(5, n) for n in range(2, start.n + 1)}
    passage |= {Point(4, n): neutral * p(5, n + 1) + bad * p(6, n) for n in range(2, start.n + 1)}
    return passage


def win(start: Point, f: RollChances) -> Fraction:
    """Return what equation (17) makes of `first_passage`.

    start, f: as for `first_passage`.
    """
    passages = first_passage(start, f).items()
    return sum((Fraction(p * strip_win(point, f)) for point, p in passages), Fraction(0))


def free_space_mass(rolls: int, f: RollChances) -> Fraction:
    """Return the sum of equation (5) over all points after so many rolls, as it is printed.

    rolls: s.
    f: the chances of the rolls, as fractions.

    The factorial of a negative number stands for an infinite one, so that its term is 0.
    """
    return sum((_free_space(half, rolls, f) for half in range(-rolls, rolls + 1)), Fraction(0))


def _free_space(half: int, s: int, f: RollChances) -> Fraction:
    """Return the sum of eq. (5) for L / 2."""
    good, neutral, bad = (Fraction(chance) for chance in f.f32)
    total = Fraction(0)
    for k in range((s - half) // 2 + 1):
        if half + k >= 0 and s - half - k >= 0:
            ways = Fraction(
                factorial(s), factorial(k) * factorial(half + k) * factorial(s - half - k)
            )
            more, fewer = (good, bad) if half >= 0 else (bad, good)
            total += ways * more ** (half + k) * neutral ** (s - half - 2 * k) * fewer**k
    return total
