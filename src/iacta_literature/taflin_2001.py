"""Taflin's equations (1)-(5) and (15)-(17): the chance to win a battle, by counting paths.

The notation of this file is the paper's. M and N, m and n are armies, the attackers' garrison of
one *included*; f_mn^i is the chance of the attackers losing i armies in a roll of m dice against
n; P_{m,n}(s) is the chance to be at the point (m, n) after s rolls; Q is the chance to win.

Far from the edges each roll takes two armies in one of three ways, so that P is a trinomial
coefficient, eq. (5). Close to them fewer dice are thrown, and `taflin_strips` has the chance
Q_b(m, n), eqs. (6)-(14). The free space is left once, at a point of first passage, which stitches
the two together, eqs. (15)-(17):

    Q(M, N)  =  Σ  P*(M, N, m, n) · Q_b(m, n).

A function is named for what its equation says, and takes the chances f either as fractions, and is
exact, or as floats, with the error of `float_error`.

Errata, all of them followed here:

- eq. (5): f_23 is f_32, where L < 0 the powers need |L|/2 for L/2, and the third factorial is that
  of the neutral rolls, (s − |L|/2 − 2k)!, for the printed (s − L/2 − k)!;
- eqs. (15)-(16): a path comes to the edge for the first time only from a point *inside*, with
  m ≥ 5 and n ≥ 3. Taken as printed the points of the corner are counted more than once, and the
  chances of first passage from (12, 10) sum to 1.1015;
- Q_b(4, n) and Q_b(m, 2), which eq. (17) needs, are not printed: `taflin_strips` derives them.

Source: Taflin, "The Probability Distribution of Risk Battles" (2001).
"""

from collections.abc import Iterator, Mapping
from math import comb
from typing import NamedTuple

from iacta.distribution import Probability
from iacta.errors import TooLargeError
from iacta_literature.taflin_strips import Point, RollChances, strip_win

__all__ = [
    "Ways",
    "advantage_and_rolls",
    "edge_passage",
    "equation_of_motion",
    "first_passage",
    "float_error",
    "free_space",
    "leap_passage",
    "path_chance",
    "relative_motion",
    "ways",
    "win",
]

MOST_FLOAT_ROLLS = 500
UNIT_ROUNDOFF = 2.0**-53


class Ways(NamedTuple):
    """How often each kind of roll occurs on a path.

    good: G, the rolls in which the defenders lose two armies.
    neutral: I, the rolls in which each side loses one.
    bad: B, the rolls in which the attackers lose two.
    """

    good: int
    neutral: int
    bad: int


def float_error(start: Point) -> float:
    """Return a bound on the absolute error of `win`, and of each equation, taken with floats.

    start: the point (M, N) of the battle.

    Let t = M + N, and count roundings of u = 2⁻⁵³ each. A strip's Q_b sums powers of at most t
    factors, each of which costs a rounded chance, a product and a sum, and at most three parts of
    it are subtracted: 9 t + 60 for numbers of at most 1. P of eq. (5) has at most t / 2 rolls, and
    as many terms: t + 20, relative, for chances that sum to 1. Summing them costs 2 t more.

    >>> float_error(Point(12, 10)) < 1e-13
    True
    """
    return (12 * sum(start) + 80) * UNIT_ROUNDOFF


def equation_of_motion(
    before: Mapping[Point, Probability], f: RollChances
) -> dict[Point, Probability]:
    """Return P_{m,n}(s) from P_{m,n}(s − 1), where all dice are thrown: eq. (1).

    before: the chances of the points after s − 1 rolls.
    f: the chances of the rolls.

    P_{m,n}(s) = f_32^0 P_{m,n+2}(s−1) + f_32^1 P_{m+1,n+1}(s−1) + f_32^2 P_{m+2,n}(s−1).

    >>> sorted(equation_of_motion({Point(9, 9): 1.0}, RollChances(*[(0.5, 0.25, 0.25)] * 6)))
    [Point(m=7, n=9), Point(m=8, n=8), Point(m=9, n=7)]
    """
    after: dict[Point, Probability] = {}
    for (m, n), chance in before.items():
        for lost, roll in enumerate(f.f32):
            point = Point(m - lost, n - 2 + lost)
            after[point] = after.get(point, 0 * roll) + roll * chance
    return after


def relative_motion(before: Mapping[int, Probability], f: RollChances) -> dict[int, Probability]:
    """Return R_k(s) from R_k(s − 1), where k = m − n and all dice are thrown: eq. (2).

    before: the chances of the differences k after s − 1 rolls.
    f: the chances of the rolls.

    R_k(s) = f_32^0 R_{k−2}(s−1) + f_32^1 R_k(s−1) + f_32^2 R_{k+2}(s−1).

    >>> relative_motion({0: 1.0}, RollChances(*[(0.5, 0.25, 0.25)] * 6))
    {2: 0.5, 0: 0.25, -2: 0.25}
    """
    after: dict[int, Probability] = {}
    for difference, chance in before.items():
        for lost, roll in enumerate(f.f32):
            k = difference + 2 - 2 * lost
            after[k] = after.get(k, 0 * roll) + roll * chance
    return after


def advantage_and_rolls(path: Ways) -> tuple[int, int]:
    """Return L, the advantage that the attackers pick up, and s, the rolls: eq. (3).

    path: how often each kind of roll occurs.

    L = 2 (G − B),  s = G + B + I.

    >>> advantage_and_rolls(Ways(good=7, neutral=0, bad=5))
    (4, 12)
    """
    return 2 * (path.good - path.bad), path.good + path.bad + path.neutral


def ways(advantage: int, rolls: int) -> Iterator[Ways]:
    """Yield all (G, I, B) with a given L and s: eq. (3), solved.

    advantage: L, even; no path has an odd one.
    rolls: s.

    >>> [tuple(path) for path in ways(4, 6)]
    [(2, 4, 0), (3, 2, 1), (4, 0, 2)]
    """
    half = abs(advantage) // 2
    for k in range((rolls - half) // 2 + 1 if not advantage % 2 else 0):
        good, bad = (half + k, k) if advantage >= 0 else (k, half + k)
        yield Ways(good, rolls - half - 2 * k, bad)


def path_chance(path: Ways, f: RollChances) -> Probability:
    """Return the chance of one path of given (G, I, B): eq. (4).

    path: how often each kind of roll occurs.
    f: the chances of the rolls.

    (f_32^0)^G (f_32^1)^I (f_32^2)^B.

    >>> path_chance(Ways(1, 1, 0), RollChances(*[(0.5, 0.25, 0.25)] * 6))
    0.125
    """
    good, neutral, bad = f.f32
    return good**path.good * neutral**path.neutral * bad**path.bad


def free_space(start: Point, point: Point, rolls: int, f: RollChances) -> Probability:
    """Return P_{m,n}(s) where all dice are thrown all the way: eq. (5).

    start: (M, N).
    point: (m, n).
    rolls: s; the chance is 0 unless m + n = M + N − 2 s.
    f: the chances of the rolls; more than 500 rolls are refused in floats, which they leave.

    The number of paths with (G, I, B) is s! / (G! I! B!), and their sum over `ways` is P. With
    k the lesser of G and B it is the paper's sum, but for the errata told at the top.

    >>> free_space(Point(9, 9), Point(8, 6), 2, RollChances(*[(0.5, 0.25, 0.25)] * 6))
    0.25
    """
    nothing = 0 * f.f32[0]
    if rolls < 0 or sum(point) != sum(start) - 2 * rolls:
        return nothing
    if rolls > MOST_FLOAT_ROLLS and isinstance(nothing, float):
        raise TooLargeError(
            f"rolls must be at most {MOST_FLOAT_ROLLS} for the equations in floats, got {rolls}"
        )
    advantage = (point.m - point.n) - (start.m - start.n)
    return sum(
        (_path_count(path) * path_chance(path, f) for path in ways(advantage, rolls)), nothing
    )


def _path_count(path: Ways) -> int:
    return comb(sum(path), path.neutral) * comb(path.good + path.bad, path.bad)


def edge_passage(start: Point, point: Point, f: RollChances) -> Probability:
    """Return P* for a point on the edge of the free space, m = 4 or n = 2: eq. (15).

    start: (M, N), inside: M ≥ 5 and N ≥ 3.
    point: (m, 2) with m ≥ 4, or (4, n) with n ≥ 2.
    f: the chances of the rolls.

    P*(m, 2) = f_32^1 P_{m+1,3} + f_32^0 P_{m,4},  P*(4, n) = f_32^1 P_{5,n+1} + f_32^2 P_{6,n},
    where P is 0 unless its point is inside.

    >>> from iacta_literature.taflin_strips import roll_chances
    >>> from iacta.rules.rules import CLASSIC
    >>> edge_passage(Point(5, 3), Point(4, 2), roll_chances(CLASSIC))
    Fraction(2611, 7776)
    """
    m, n = point
    beside = f.f32[1] * _inside(start, Point(m + 1, n + 1), f)
    if n == 2:
        return beside + f.f32[0] * _inside(start, Point(m, 4), f)
    return beside + f.f32[2] * _inside(start, Point(6, n), f)


def leap_passage(start: Point, point: Point, f: RollChances) -> Probability:
    """Return P* for a point that is reached by a leap over the edge, m = 3 or n = 1: eq. (16).

    start: (M, N), inside: M ≥ 5 and N ≥ 3.
    point: (m, 1) with m ≥ 5, or (3, n) with n ≥ 3.
    f: the chances of the rolls.

    P*(m, 1) = f_32^0 P_{m,3},  P*(3, n) = f_32^2 P_{5,n}, where P is 0 unless its point is inside.

    >>> from iacta_literature.taflin_strips import roll_chances
    >>> from iacta.rules.rules import CLASSIC
    >>> leap_passage(Point(5, 3), Point(5, 1), roll_chances(CLASSIC))
    Fraction(1445, 3888)
    """
    m, n = point
    if n == 1:
        return f.f32[0] * _inside(start, Point(m, 3), f)
    return f.f32[2] * _inside(start, Point(5, n), f)


def _inside(start: Point, point: Point, f: RollChances) -> Probability:
    """Return P at a point inside, at which free space is left behind only afterwards."""
    rolls, odd = divmod(sum(start) - sum(point), 2)
    if odd or point.m < 5 or point.n < 3:
        return 0 * f.f32[0]
    return free_space(start, point, rolls, f)


def first_passage(start: Point, f: RollChances) -> dict[Point, Probability]:
    """Return P* of every point at which the boundary can be first reached; they sum to 1.

    start: (M, N); one on the boundary has reached it.
    f: the chances of the rolls.

    >>> from iacta_literature.taflin_strips import roll_chances
    >>> from iacta.rules.rules import CLASSIC
    >>> sum(first_passage(Point(12, 10), roll_chances(CLASSIC)).values())
    Fraction(1, 1)
    """
    if start.m < 5 or start.n < 3:
        return {start: f.f32[0] ** 0}
    edge = [Point(m, 2) for m in range(4, start.m + 1)]
    edge += [Point(4, n) for n in range(3, start.n + 1)]
    leaps = [Point(m, 1) for m in range(5, start.m + 1)]
    leaps += [Point(3, n) for n in range(3, start.n + 1)]
    passages = {point: edge_passage(start, point, f) for point in edge}
    passages |= {point: leap_passage(start, point, f) for point in leaps}
    return {point: chance for point, chance in passages.items() if chance}


def win(start: Point, f: RollChances) -> Probability:
    """Return Q(M, N), the chance that the attackers win, from any point: eq. (17).

    start: (M, N), the attackers' garrison of one included.
    f: the chances of the rolls; with floats the absolute error is at most `float_error`.

    >>> from iacta_literature.taflin_strips import roll_chances
    >>> from iacta.rules.rules import CLASSIC
    >>> round(win(Point(12, 10), roll_chances(CLASSIC, exact=False)), 10)
    0.6538260548
    """
    passages = first_passage(start, f)
    return sum((p * strip_win(point, f) for point, p in passages.items()), 0 * f.f32[0])
