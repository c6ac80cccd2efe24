"""Taflin's equations (1)-(17): the chance to win a battle, by counting paths.

This module uses the notation of the paper, even for the parameters of its functions:

- M and m are attackers *including* a garrison of one, N and n defenders. A `Point` is (m, n), and
  `start` is (M, N).
- f_mn^i is the chance that the attackers lose i armies in a roll of m dice against n. Each argument
  `f` is a `RollChances` of fractions or of floats. The results have the type of `f`; `float_error`
  bounds the error of floats.
- P_{m,n}(s) is the chance to be at the point (m, n) after s rolls.
- Q is the chance to win, and Q_b is Q in the boundary region.

Far from the edges each roll costs two armies, with three possible results. Therefore P is a
trinomial coefficient times powers of chances: eqs. (1)-(5). Near the edges fewer dice are rolled.
The strips m = 2, 3, 4 and n = 1, 2 are solved one after another, each by a recurrence that uses
earlier strips:

    Q_b(2, n) and Q_b(m, 1), each from the chance of a single path, eqs. (6)-(8);
    Q_b(3, n) = f_22^1 Q_b(2, n−1) + f_22^0 Q_b(3, n−2), eqs. (9)-(14);
    Q_b(4, n) and Q_b(m, 2), which eq. (17) needs but the paper omits.

In the free space all dice are rolled. A battle leaves the free space exactly once, at a point of
first passage. With the chance P* of each such point, eqs. (15)-(17) give

    Q(M, N)  =  Σ  P*(M, N, m, n) · Q_b(m, n).

Errata. This module contains the corrected equations; `iacta_literature.taflin_tables` contains the
printed equations.

- eq. (5): f_23 should be f_32. If L < 0, replace L/2 by |L|/2 in the powers, in the factorial
  (L/2 + k)! and in the limit of the sum. The third factorial should be (s − |L|/2 − 2k)!, with the
  number of neutral rolls, instead of (s − L/2 − k)!;
- eqs. (15)-(16): a path reaches the edge for the first time only from a point *inside*, with
  m ≥ 5 and n ≥ 3. The printed equations count a path along the corner several times. As a result,
  the chances of first passage from (12, 10) sum to 1.1015 instead of 1;
- Q_b(4, n) and Q_b(m, 2), which eq. (17) needs, are not printed; this module derives them.

Geometric sums. The quotient (x^k − y^k) / (x − y) in the paper is a sum of k products, which
`products_of_degree` computes. The sum is also valid for x = y, and accurate if x is close to y.

Source: Daniel C. Taflin, "The Probability Distribution of Risk Battles" (2001).
"""

from collections.abc import Iterator, Mapping
from math import comb, sqrt
from typing import NamedTuple

from iacta import IllegalError, Losses, Roll, Rules, TooLargeError, find_rules
from iacta.methods.closed_form import refuse_dice
from iacta.probability.distribution import Probability

MAX_FLOAT_ROLLS = 500  # more rolls would underflow the powers of chances
UNIT_ROUNDOFF = 2.0**-53


class Point(NamedTuple):
    """A state of the battle in the notation of the paper.

    m: attackers, including a garrison of one.
    n: defenders.
    """

    m: int
    n: int


class RollChances(NamedTuple):
    """The chances f_mn^i of all rolls. For example, `f32[1]` is f_32^1, a fraction or a float.

    f11, f12, f21, f22, f31, f32: the chances that the attackers lose 0, 1, ... armies, where the
        digits in the name are the numbers of attack dice and of defence dice.
    """

    f11: tuple[Probability, ...]
    f12: tuple[Probability, ...]
    f21: tuple[Probability, ...]
    f22: tuple[Probability, ...]
    f31: tuple[Probability, ...]
    f32: tuple[Probability, ...]


def roll_chances(rules: Rules | str = "classic", *, exact: bool = True) -> RollChances:
    """Return the chances f_mn^i under given rules (Taflin 2001, table 1).

    rules: rules with three attack dice and two defence dice.
    exact: whether to return fractions instead of floats.

    Raises `IllegalError` for rules with other numbers of dice.

    >>> roll_chances().f11
    (Fraction(5, 12), Fraction(7, 12))
    """
    rules = find_rules(rules)
    refuse_dice(rules)
    chances = []
    for m in (1, 2, 3):
        for n in (1, 2):
            losses, compared = Roll(m, n, rules).losses(), min(m, n)
            f = (losses[Losses(i, compared - i)] for i in range(compared + 1))
            chances.append(tuple(chance if exact else float(chance) for chance in f))
    return RollChances(*chances)


def float_error(start: Point) -> float:
    """Return a bound on the absolute error of `win`, and of each equation, with floats.

    Let t = M + N, and count rounding errors of u = 2⁻⁵³ each. On a strip, Q_b is a sum of powers
    with at most t factors. Each factor costs one rounded chance, one product and one sum, and at
    most three terms are subtracted. This gives 9t + 60 rounding errors for numbers of at most 1.
    In eq. (5), P has at most t / 2 rolls and terms. This gives t + 20 relative rounding errors for
    chances that sum to 1. The final sum adds 2t rounding errors.

    >>> float_error(Point(12, 10)) < 1e-13
    True
    """
    return (12 * sum(start) + 80) * UNIT_ROUNDOFF


# --- Free space, in which all dice are rolled: equations (1)-(5)


def equation_of_motion(
    before: Mapping[Point, Probability], f: RollChances
) -> dict[Point, Probability]:
    """Return the chances of all points after one more roll: eq. (1).

    before: the chances P_{m,n}(s − 1) of the points after s − 1 rolls.

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
    """Return the chances of all differences k = m − n after one more roll: eq. (2).

    before: the chances R_k(s − 1) of the differences k after s − 1 rolls.

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


class Ways(NamedTuple):
    """The number of rolls of each kind on a path.

    good: the number G of rolls in which the defenders lose two armies.
    neutral: the number I of rolls in which each side loses one army.
    bad: the number B of rolls in which the attackers lose two armies.
    """

    good: int
    neutral: int
    bad: int


def advantage_and_rolls(path: Ways) -> tuple[int, int]:
    """Return the change L of m − n on a path, and its number of rolls s: eq. (3).

    L = 2 (G − B),  s = G + B + I.

    >>> advantage_and_rolls(Ways(good=7, neutral=0, bad=5))
    (4, 12)
    """
    return 2 * (path.good - path.bad), path.good + path.bad + path.neutral


def ways(advantage: int, rolls: int) -> Iterator[Ways]:
    """Yield all solutions (G, I, B) of eq. (3).

    advantage: the change L of m − n, an even number.
    rolls: the number of rolls s.

    >>> [tuple(path) for path in ways(4, 6)]
    [(2, 4, 0), (3, 2, 1), (4, 0, 2)]
    """
    half = abs(advantage) // 2
    for k in range((rolls - half) // 2 + 1 if not advantage % 2 else 0):
        good, bad = (half + k, k) if advantage >= 0 else (k, half + k)
        yield Ways(good, rolls - half - 2 * k, bad)


def path_chance(path: Ways, f: RollChances) -> Probability:
    """Return the chance of one path, (f_32^0)^G (f_32^1)^I (f_32^2)^B: eq. (4).

    >>> path_chance(Ways(1, 1, 0), RollChances(*[(0.5, 0.25, 0.25)] * 6))
    0.125
    """
    good, neutral, bad = f.f32
    return good**path.good * neutral**path.neutral * bad**path.bad


def free_space(start: Point, point: Point, rolls: int, f: RollChances) -> Probability:
    """Return P_{m,n}(s) if all rolls are made with all dice: eq. (5).

    point: the point (m, n).
    rolls: the number of rolls s; the chance is 0 unless m + n = M + N − 2 s.

    There are s! / (G! I! B!) paths with (G, I, B), and P is the sum over `ways`. Apart from the
    errata above, this equals the paper's sum with k = min(G, B). Raises `TooLargeError` for more
    than 500 rolls with floats, because powers would underflow.

    >>> free_space(Point(9, 9), Point(8, 6), 2, RollChances(*[(0.5, 0.25, 0.25)] * 6))
    0.25
    """
    total = 0 * f.f32[0]
    if rolls < 0 or sum(point) != sum(start) - 2 * rolls:
        return total
    if rolls > MAX_FLOAT_ROLLS and isinstance(total, float):
        raise TooLargeError(
            f"rolls must be at most {MAX_FLOAT_ROLLS} for the equations in floats, got {rolls}"
        )
    for path in ways((point.m - point.n) - (start.m - start.n), rolls):
        paths = comb(rolls, path.neutral) * comb(path.good + path.bad, path.bad)
        total += paths * path_chance(path, f)
    return total


# --- The strips, in which fewer dice are rolled: equations (6)-(14)


def win_two_against_one(f: RollChances) -> Probability:
    """Return Q_b(2, 1) = f_11^0: eq. (6).

    >>> win_two_against_one(roll_chances())
    Fraction(5, 12)
    """
    return f.f11[0]


def win_against_one(m: int, f: RollChances) -> Probability:
    """Return Q_b(m, 1) for m ≥ 3: eq. (7). The attackers lose only if they lose every roll.

    Q_b(m, 1) = 1 − (f_31^1)^(m−3) f_21^1 f_11^1.

    >>> win_against_one(3, roll_chances())
    Fraction(1955, 2592)
    """
    return 1 - f.f31[1] ** (m - 3) * f.f21[1] * f.f11[1]


def win_with_two(n: int, f: RollChances) -> Probability:
    """Return Q_b(2, n) for n ≥ 1: eq. (8). The attackers win only if they win every roll.

    Q_b(2, n) = (f_12^0)^(n−1) f_11^0.

    >>> win_with_two(2, roll_chances())
    Fraction(275, 2592)
    """
    return f.f12[0] ** (n - 1) * f.f11[0]


def win_three_by_motion(two: Probability, three: Probability, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 2 from neighbouring points: eq. (9).

    two: Q_b(2, n − 1).
    three: Q_b(3, n − 2).

    Q_b(3, n) = f_22^1 Q_b(2, n−1) + f_22^0 Q_b(3, n−2).

    >>> f = roll_chances()
    >>> now = win_three_by_motion(win_with_two(8, f), win_with_three(7, f), f)
    >>> now == win_with_three(9, f)
    True
    """
    return f.f22[1] * two + f.f22[0] * three


def win_three_by_step(three: Probability, n: int, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 2 from Q_b(3, n − 2): eq. (10), which is (9) with (8) inserted.

    three: Q_b(3, n − 2).

    Q_b(3, n) = f_22^0 Q_b(3, n−2) + f_22^1 (f_12^0)^(n−2) f_11^0.

    >>> f = roll_chances()
    >>> win_three_by_step(win_with_three(7, f), 9, f) == win_with_three(9, f)
    True
    """
    return f.f22[0] * three + f.f22[1] * f.f12[0] ** (n - 2) * f.f11[0]


class Substitution(NamedTuple):
    """The constants of eq. (12).

    k: f_22^1 · f_11^0 / f_22^0.
    c: f_12^0 / √f_22^0.
    """

    k: float
    c: float


def step_substituted(y: float, n: int, constants: Substitution) -> float:
    """Return y_n = y_{n−2} + k C^(n−2): eq. (11).

    y: y_{n−2}.
    constants: k and C.

    >>> step_substituted(1.0, 4, Substitution(k=0.5, c=2.0))
    3.0
    """
    return y + constants.k * constants.c ** (n - 2)


def substitution(f: RollChances) -> Substitution:
    """Return the constants k and C of eq. (12), as floats because C contains a square root.

    Raises `IllegalError` if f_22^0 is 0, because both constants are divided by it.

    >>> round(substitution(roll_chances()).c, 6)
    0.533704
    """
    if not f.f22[0]:
        raise IllegalError("f_22^0 must be above 0 for the substitution of equation (12), got 0")
    k, c = f.f22[1] * f.f11[0] / f.f22[0], float(f.f12[0]) / sqrt(f.f22[0])
    return Substitution(float(k), c)


def substitute(three: Probability, n: int, f: RollChances) -> float:
    """Return y_n = Q_b(3, n) / (f_22^0)^(n/2): eq. (12).

    three: Q_b(3, n).

    >>> substitute(0.5, 2, roll_chances())  # 0.5 · 1296/295
    2.1966101694915254
    """
    return float(three) / pow(sqrt(f.f22[0]), n)


def sum_substituted(n: int, f: RollChances) -> float:
    """Return y_n for n ≥ 2 as a geometric sum: eq. (13).

    y_n = y_2 + k (C² − C^n) / (1 − C²) for even n, y_3 + k (C³ − C^n) / (1 − C²) for odd n.

    >>> round(sum_substituted(9, roll_chances()), 6)
    2.020685
    """
    k, c = substitution(f)
    first = 2 + n % 2
    y = substitute(win_with_three(first, f), first, f)
    return y + k * c**first * float(products_of_degree((n - first) // 2 - 1, 1.0, c * c))


def win_with_three(n: int, f: RollChances) -> Probability:
    """Return Q_b(3, n) for n ≥ 1: eq. (14).

    With x = f_22^0 and y = (f_12^0)²:

        Q_b(3, 2j)    =  x^j             +  f_22^1 f_11^0 (x^j − y^j) / (x − y),
        Q_b(3, 2j+1)  =  x^j Q_b(3, 1)   +  f_22^1 f_12^0 f_11^0 (x^j − y^j) / (x − y).

    The paper writes Q_b(3, 1) as a bracket, f_21^0 + f_21^1 f_11^0. It equals eq. (7).

    >>> win_with_three(2, roll_chances())
    Fraction(235, 648)
    """
    j, odd = divmod(n, 2)
    x, y = f.f22[0], f.f12[0] ** 2
    begun = f.f21[0] + f.f21[1] * f.f11[0] if odd else 1
    crossed = f.f22[1] * f.f12[0] ** odd * f.f11[0]
    return x**j * begun + crossed * products_of_degree(j - 1, x, y)


def products_of_degree(degree: int, *factors: Probability) -> Probability:
    """Return the sum of all products of `degree` factors; factors may occur repeatedly.

    degree: the number of factors in each product. If it is negative, the sum is 0.
    factors: the numbers from which the factors are taken.

    For two numbers x and y, the sum equals (x^(degree+1) − y^(degree+1)) / (x − y), but this
    function is accurate even for x ≈ y.

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


# --- The two strips that the paper omits


def win_with_four(n: int, f: RollChances) -> Probability:
    """Return Q_b(4, n) for n ≥ 1.

    The equation of motion is Q_b(4, n) = f_32^0 Q_b(4, n−2) + f_32^1 Q_b(3, n−1) + f_32^2 Q_b(2, n)
    for n ≥ 2, with Q_b(4, 0) = 1. Inserting it j times into itself gives, for n = 2j or 2j + 1,

        Q_b(4, n)  =  z^j Q_b(4, n−2j)
                      + Σ_{i<j} z^i [f_32^1 Q_b(3, n−1−2i) + f_32^2 Q_b(2, n−2i)],    z = f_32^0.

    By (14) and (8) the brackets are sums of powers of x = f_22^0 and y = (f_12^0)². Let h_d(x, y,
    ...) be the sum of all products of d factors. Then Σ z^i x^(j−1−i) = h_{j−1}(z, x) and Σ z^i
    h_{j−2−i}(x, y) = h_{j−2}(z, x, y). For even and for odd n this gives

        Q_b(4, 2j)    =  z^j
                         +  f_32^1 [Q_b(3, 1) h_{j−1}(z, x) + f_22^1 f_12^0 f_11^0 h_{j−2}(z, x, y)]
                         +  f_32^2 f_12^0 f_11^0 h_{j−1}(z, y),
        Q_b(4, 2j+1)  =  z^j Q_b(4, 1)
                         +  f_32^1 [x h_{j−1}(z, x) + f_22^1 f_11^0 h_{j−1}(z, x, y)]
                         +  f_32^2 y f_11^0 h_{j−1}(z, y).

    >>> win_with_four(2, roll_chances())
    Fraction(6610505, 10077696)
    """
    j, odd = divmod(n, 2)
    x, y, z = f.f22[0], f.f12[0] ** 2, f.f32[0]
    begun = win_against_one(4, f) if odd else 1
    threes = x if odd else win_with_three(1, f)
    crossed = f.f22[1] * f.f11[0] * (1 if odd else f.f12[0])
    twos = f.f11[0] * (y if odd else f.f12[0])
    met = threes * products_of_degree(j - 1, z, x)
    met += crossed * products_of_degree(j - 2 + odd, z, x, y)
    return z**j * begun + f.f32[1] * met + f.f32[2] * twos * products_of_degree(j - 1, z, y)


def win_against_two(m: int, f: RollChances) -> Probability:
    """Return Q_b(m, 2) for m ≥ 2. In the paper n = 2 is "not technically" an edge.

    The equation of motion is Q_b(m, 2) = f_32^0 + f_32^1 Q_b(m−1, 1) + f_32^2 Q_b(m−2, 2) for
    m ≥ 4. Let m = e + 2j with e = 2 or 3, z = f_32^2 and g = f_31^1. Inserting the equation j times
    into itself, with Q_b(m−1, 1) from eq. (7) and f_32^0 + f_32^1 = 1 − z, gives

        Q_b(m, 2)  =  z^j Q_b(e, 2)  +  (1 − z^j)
                      − f_32^1 f_21^1 f_11^1 g^(e−2) (z^j − g^(2j)) / (z − g²).

    >>> win_against_two(4, roll_chances())
    Fraction(6610505, 10077696)
    """
    e = 2 + m % 2
    j = (m - e) // 2
    z, g = f.f32[2], f.f31[1]
    begun = win_with_three(2, f) if e == 3 else win_with_two(2, f)
    lost = f.f32[1] * f.f21[1] * f.f11[1] * g ** (e - 2) * products_of_degree(j - 1, z, g**2)
    return z**j * begun + (1 - z**j) - lost


def win_on_strip(point: Point, f: RollChances) -> Probability:
    """Return Q_b(m, n) for a point on any strip (m ≤ 4 or n ≤ 2), or for a finished battle.

    >>> win_on_strip(Point(4, 2), roll_chances())
    Fraction(6610505, 10077696)
    """
    m, n = point
    if m < 2 or n == 0:
        return f.f11[0] ** 0 * (n == 0)
    if m <= 4:
        return {2: win_with_two, 3: win_with_three, 4: win_with_four}[m](n, f)
    return {1: win_against_one, 2: win_against_two}[n](m, f)


# --- First passage and the comprehensive solution: equations (15)-(17)


def edge_passage(start: Point, point: Point, f: RollChances) -> Probability:
    """Return the chance P* of first passage at a point on the edge, m = 4 or n = 2: eq. (15).

    start: a point inside: M ≥ 5 and N ≥ 3.
    point: (m, 2) with m ≥ 4, or (4, n) with n ≥ 2.

        P*(m, 2) = f_32^1 P_{m+1,3} + f_32^0 P_{m,4},  P*(4, n) = f_32^1 P_{5,n+1} + f_32^2 P_{6,n},

    where P_{m,n} is 0 unless (m, n) is inside.

    >>> edge_passage(Point(5, 3), Point(4, 2), roll_chances())
    Fraction(2611, 7776)
    """
    m, n = point
    beside = f.f32[1] * _compute_inside_chance(start, Point(m + 1, n + 1), f)
    if n == 2:
        return beside + f.f32[0] * _compute_inside_chance(start, Point(m, 4), f)
    return beside + f.f32[2] * _compute_inside_chance(start, Point(6, n), f)


def leap_passage(start: Point, point: Point, f: RollChances) -> Probability:
    """Return the chance P* of first passage at a point past the edge, m = 3 or n = 1: eq. (16).

    start: a point inside: M ≥ 5 and N ≥ 3.
    point: (m, 1) with m ≥ 5, or (3, n) with n ≥ 3.

        P*(m, 1) = f_32^0 P_{m,3},  P*(3, n) = f_32^2 P_{5,n},

    where P_{m,n} is 0 unless (m, n) is inside.

    >>> leap_passage(Point(5, 3), Point(5, 1), roll_chances())
    Fraction(1445, 3888)
    """
    m, n = point
    if n == 1:
        return f.f32[0] * _compute_inside_chance(start, Point(m, 3), f)
    return f.f32[2] * _compute_inside_chance(start, Point(5, n), f)


def _compute_inside_chance(start: Point, point: Point, f: RollChances) -> Probability:
    """Return P_{m,n}, or 0 for a point outside free space or of the wrong parity."""
    rolls, odd = divmod(sum(start) - sum(point), 2)
    if odd or point.m < 5 or point.n < 3:
        return 0 * f.f32[0]
    return free_space(start, point, rolls, f)


def first_passage(start: Point, f: RollChances) -> dict[Point, Probability]:
    """Return the chance P* of every possible point of first passage; the chances sum to 1.

    start: the point (M, N). A start on the boundary is its own point of first passage.

    >>> sum(first_passage(Point(12, 10), roll_chances()).values())
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
    """Return the chance Q(M, N) that the attackers win from a given point: eq. (17).

    >>> round(win(Point(12, 10), roll_chances(exact=False)), 10)
    0.6538260548
    """
    passages = first_passage(start, f)
    return sum((p * win_on_strip(point, f) for point, p in passages.items()), 0 * f.f32[0])
