"""Closed form: exact odds by Taflin's counting of paths, without a table of states.

Let a be the attackers able to attack and d the defenders. Inside, where
a ≥ 3 and d ≥ 2, all dice are thrown, and each roll takes two armies. In the whole numbers of
`counting`, where a state of n armies is counted in units of U^n, the weight of all paths of s
rolls that cost the attackers l armies is one trinomial coefficient, Taflin's equation (5):

    X(s, l)  =  [x^l] (c_2 + c_1 x + c_0 x²)^s,        c_k for a roll that costs the defenders k.

Armies never grow, so that a path to a point inside has been inside all the way, and its last roll
leaves once. That is first passage, equations (15)-(16), with the boundary just outside: d ≤ 1, or
a ≤ 2. So the weight of the paths that win is equation (17),

    N(A, D)  =  Σ  X(s, l) · c_k · N(a, d)    over the states (a, d) first reached outside,

and N(a, d) outside is known: few dice are thrown there, equations (6)-(14).

The speed. Only the coefficients X(s, l) at two fixed neighbours l and l − 1 are asked, for
a = 3, 4, and their mirror images for d = 2, 3. Let T(s, l) = [x^l] p^s, p = p_0 + p_1 x + p_2 x².
Then p · (p^s)' = s p' p^s gives the recurrence

    (2s − l + 2) p_2 T(s, l−2)  =  l p_0 T(s, l)  −  (s − l + 1) p_1 T(s, l−1),

which carries such a pair from s to s + 1: each step multiplies and divides large numbers by small
ones only. The sum over s is Horner's, and so linear in the armies where a table is quadratic.

`iacta_literature.taflin` has the paper's equations themselves, to the letter. This file
shifts the boundary by one, which spares the strips at a = 3 and d = 2, and counts in whole
numbers.

Source: Taflin, "The Probability Distribution of Risk Battles" (2001). His last section, on
attacking several countries in sequence, is a title with nothing below it; `sequence` is ours.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb, prod
from typing import NamedTuple, TypeAlias

from iacta.inputs.checks import read_int, read_row
from iacta.inputs.errors import IllegalError
from iacta.methods.counting import Ends, UnitKernel, coefficients
from iacta.methods.kernel import OUTCOME_BYTES, Chances, RollKernel, State
from iacta.probability.distribution import Distribution
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

Step: TypeAlias = tuple[int, ...]
Steps: TypeAlias = dict[tuple[int, int], Step]
Weights: TypeAlias = dict[tuple[int, int], int]

STEPS_PER_STATE = 20


class ClosedForm(UnitKernel, RollKernel):
    """The exact kernel of three dice against two, by Taflin's equation (17).

    >>> from iacta.rules.rules import CLASSIC
    >>> ClosedForm(CLASSIC).win_probability(2, 1)
    Fraction(1955, 2592)
    """

    name = "closed_form"
    exact = True
    quick_armies = 20_000

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that is too large, or of other than three dice against two."""
        self._refuse(attackers, defenders, numbers=STEPS_PER_STATE)

    def refuse_dice(self) -> None:
        """Refuse rules under which other than three dice attack two."""
        if self.rules.full_roll != (3, 2):
            attack, defence = self.rules.full_roll
            raise IllegalError(
                "rules must keep 3 attack dice and 2 defence dice for the method 'closed_form', "
                f"got {attack} and {defence}"
            )

    def _refuse(self, attackers: int, defenders: int, numbers: int, battles: int = 1) -> None:
        self.refuse_dice()
        armies = attackers + defenders
        unit = coefficients(attackers, defenders, self.rules).unit
        number_bytes = armies * unit.bit_length() // 8 + 50
        self.refuse_too_large(
            attackers,
            defenders,
            memory=numbers * (number_bytes + OUTCOME_BYTES),
            number_bytes=number_bytes,
            states=STEPS_PER_STATE * battles * armies,
        )

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        self.refuse_dice()  # whoever can attack
        return super().forward(start, defenders)

    def ends(self, able: dict[int, int], defenders: int) -> Ends:
        top = max(able)
        armies = top + defenders
        self._refuse(top, defenders, numbers=3 * armies, battles=len(able))
        unit, steps = coefficients(top, defenders, self.rules)
        ends = _ends({(a, defenders): x * unit ** (top - a) for a, x in able.items()}, steps)
        return unit, ((State(*end), x, armies - sum(end)) for end, x in ends.items())

    def win_probability(self, attackers: int, defenders: int) -> Fraction:
        """Return the chance to take the territory, by equation (17) alone."""
        self.refuse(attackers, defenders)
        able = max(attackers, 0)
        unit, steps = coefficients(able, defenders, self.rules)
        return Fraction(_count_wins(able, defenders, unit, steps), unit ** (able + defenders))

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        if keep:
            return super().chances(attackers, defenders, keep)
        won = self.win_probability(attackers, defenders)
        return Chances(won, 1 - won)


def refuse_dice(rules: Rules) -> None:
    """Refuse rules under which other than three dice attack two, or armies grow."""
    ClosedForm(rules).refuse_dice()


def sequence(attackers: int, defenders: Iterable[int], rules: Rules | str = "classic") -> Fraction:
    """Return the exact chance to take several countries in sequence, each from the one before.

    attackers: armies on the territory from which the attack starts, garrison included.
    defenders: the defenders of each country, in the order of the attack, at least one country.
    rules: the rules of every battle; the garrison stays behind on each territory.

    The paper announces this and does not say how. It is the same counting: with the weights
    X_i(a) of all paths that take the i-th country with a armies left, garrison g left out, the
    stack moves in, leaves g behind, and is at (a − g, D_{i+1}); so that with k countries

        Q(A; D_1 ... D_k)  =  Σ_a  X_{k−1}(a) · N(a − g, D_k)  /  U^(A + D_1 + ... + D_k − (k−1) g).

    >>> from iacta.rules.rules import CLASSIC
    >>> sequence(3, [1, 1], CLASSIC)
    Fraction(625, 2592)

    Source: the title "Attacking Multiple Countries Sequentially" in Taflin (2001).
    """
    rules = find_rules(rules)
    able = read_int(attackers, "attackers", least=1) - rules.garrison
    way = [read_int(d, "defenders", least=1) for d in read_row(defenders, "countries", "defenders")]
    if not way:
        raise IllegalError("missing countries")
    kernel = ClosedForm(rules)
    armies = attackers + sum(way)
    kernel._refuse(able, sum(way), numbers=3 * armies, battles=attackers)
    unit, steps = coefficients(able, max(way), rules)
    weights = {able: 1} if able > 0 else {}
    for d in way[:-1]:
        ends = _ends({(a, d): weight for a, weight in weights.items()}, steps)
        taken = {a - rules.garrison: weight for (a, left), weight in ends.items() if not left}
        weights = {a: weight for a, weight in taken.items() if a > 0}
    wins = sum(weight * _count_wins(a, way[-1], unit, steps) for a, weight in weights.items())
    left_behind = rules.garrison * (len(way) - 1)
    return Fraction(wins, unit ** (able + sum(way) - left_behind)) if wins else Fraction(0)


class Crossing(NamedTuple):
    """The weights of the paths that leave the inside by one roll, near one of its two edges.

    armies: n = a + d before the roll.
    leap: paths from the line nearest to the edge, which lose both armies across it.
    step: paths that end one beside it, with one lost on each side, or both from the next line.
    """

    armies: int
    leap: int
    step: int


def _is_inside(able: int, defenders: int) -> bool:
    return able >= 3 and defenders >= 2


def _crossings(
    able: int, defenders: int, steps: Steps, weight: int = 1
) -> tuple[Iterator[Crossing], Iterator[Crossing]]:
    """Return the crossings to few defenders, d ≤ 1 with a ≥ 3, and those to few attackers, a ≤ 2.

    From d = 2 and 3 they lead to (n − 2, 0) and (n − 3, 1), and from a = 3 and 4 to (1, n − 3) and
    (2, n − 4). The state (2, 1), which both could reach from (3, 2), has few attackers.
    """
    full = steps[3, 2]
    armies = able + defenders
    down = _side(full, defenders - 2, armies, weight)
    left = _side(full[::-1], able - 3, armies, weight)
    return (Crossing(n, leap, step if n > 5 else 0) for n, leap, step in down), left


def _side(full: Step, lost: int, armies: int, weight: int) -> Iterator[Crossing]:
    """Yield the crossings near one edge, most armies first.

    full: `full[i]` is the coefficient of a full roll that takes i armies towards this edge.
    lost: the armies to lose to the line nearest to it.
    """
    for rolls, nearest, next_line in _pairs(full, lost, (armies - 5) // 2, weight):
        n = armies - 2 * rolls
        both = full[2] * next_line if n > 5 else 0  # with n = 5, the next line is outside
        yield Crossing(n, full[2] * nearest, full[1] * nearest + both)


def _pairs(p: Step, lost: int, most: int, weight: int) -> Iterator[tuple[int, int, int]]:
    """Yield s, T(s, lost) and T(s, lost − 1), times a weight, for all s ≤ most with such paths.

    T(s, l) is the coefficient of x^l in (p_0 + p_1 x + p_2 x²)^s.
    """
    if not p[2]:
        yield from _pairs_of_two(p, lost, most, weight)
        return
    s, odd = divmod(lost, 2)
    this = 0 if odd else weight * p[2] ** s
    last = weight * p[2] ** s if odd else this // p[2] * s * p[1]
    for rolls in range(s, most + 1):
        yield rolls, this, last
        taken = lost * p[0] * this - (rolls - lost + 1) * p[1] * last
        before = taken // ((2 * rolls - lost + 2) * p[2])  # T(s, lost − 2)
        this, last = (
            p[0] * this + p[1] * last + p[2] * before,
            (rolls + 1) * (2 * p[0] * last + p[1] * before) // (2 * rolls - lost + 3),
        )


def _pairs_of_two(p: Step, lost: int, most: int, weight: int) -> Iterator[tuple[int, int, int]]:
    """Yield the same for p_2 = 0, where the powers of p are binomial."""
    for rolls in range(max(lost - 1, 0), most + 1):
        this, last = (
            weight * comb(rolls, i) * p[0] ** (rolls - i) * p[1] ** i if 0 <= i <= rolls else 0
            for i in (lost, lost - 1)
        )
        yield rolls, this, last


def _count_wins(able: int, defenders: int, unit: int, steps: Steps) -> int:
    if not _is_inside(able, defenders):
        return _outside(able, defenders, unit, steps)
    down, left = _crossings(able, defenders, steps)
    last = 6 - (able + defenders) % 2  # the fewest armies inside, of the same parity
    return _count_wins_near_few_defenders(down, last, unit, steps) + _count_wins_near_few_attackers(
        left, last, unit, steps
    )


def _count_wins_near_few_defenders(
    crossings: Iterable[Crossing], last: int, unit: int, steps: Steps
) -> int:
    """Return Σ leap · N(n − 2, 0) + step · N(n − 3, 1), where the n fall by two to `last`.

    N(n − 2, 0) = U^(n−2), and N(n − 3, 1) is U^(n−2) less that of the one losing path.
    """
    all_paths = losing = 0
    unit_squared, r_squared = unit**2, steps[3, 1][0] ** 2
    for _, leap, step in crossings:
        all_paths = all_paths * unit_squared + leap + step
        losing = losing * r_squared + step
    losing *= _power(steps[3, 1][0], last - 5) * steps[2, 1][0] * steps[1, 1][0] * unit
    return all_paths * _power(unit, last - 2) - losing


def _count_wins_near_few_attackers(
    crossings: Iterable[Crossing], last: int, unit: int, steps: Steps
) -> int:
    """Return Σ leap · N(1, n − 3) + step · N(2, n − 4), where the n fall by two to `last`.

    With d = n − 4, the recurrences N(1, d+3) = q² N(1, d+1) and
    N(2, d+2) = c_2 N(2, d) + c_1 N(1, d+1) turn what is known of d + 2 into what is known of d.
    """
    one = two = 0
    q_squared = steps[1, 2][1] ** 2
    _, c_1, c_2 = steps[2, 2]
    for _, leap, step in crossings:
        one, two = q_squared * one + c_1 * two + leap, c_2 * two + step
    d = last - 4
    return one * _outside(1, d + 1, unit, steps) + two * _outside(2, d, unit, steps)


def _outside(able: int, defenders: int, unit: int, steps: Steps) -> int:
    """Return N(able, defenders) where a ≤ 2 or d ≤ 1: Taflin's equations (6)-(8) and (9)."""
    if not able or not defenders:
        return 0 if defenders else _power(unit, able)
    if defenders == 1:
        losing = prod(steps[i, 1][0] for i in range(1, min(able, 2) + 1))
        losing *= _power(steps[3, 1][0], able - 2) if able > 2 else 1
        return _power(unit, able + 1) - losing * unit
    if able == 1:
        return _power(steps[1, 2][1], defenders - 1) * steps[1, 1][1] * unit
    two = _outside(2, defenders % 2, unit, steps)
    one = _outside(1, defenders % 2 + 1, unit, steps)
    for _ in range(defenders // 2):
        one, two = steps[1, 2][1] ** 2 * one, steps[2, 2][2] * two + steps[2, 2][1] * one
    return two


def _power(base: int, exponent: int) -> int:
    power: int = base**exponent
    return power


def _first_passage(
    state: tuple[int, int], weight: int, steps: Steps
) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the states outside that are first reached, with the weight of the paths."""
    if not _is_inside(*state):
        yield state, weight
        return
    down, left = _crossings(*state, steps, weight)
    for n, leap, step in down:
        yield (n - 2, 0), leap
        yield (n - 3, 1), step
    for n, leap, step in left:
        yield (1, n - 3), leap
        yield (2, n - 4), step


def _ends(start: Weights, steps: Steps) -> Weights:
    weights: Weights = defaultdict(int)
    for state, weight in start.items():
        for reached, x in _first_passage(state, weight, steps):
            weights[reached] += x
    most = max((max(state) for state in start), default=0)
    outside = [(a, 1) for a in range(most, 2, -1)]
    outside += [(a, d) for a in (2, 1) for d in range(most, 0, -1)]
    for a, d in outside:
        x = weights.pop((a, d), 0)
        if x:
            step = steps[min(a, 3), min(d, 2)]
            for k, c in enumerate(step):
                weights[a - len(step) + 1 + k, d - k] += c * x
    return weights
