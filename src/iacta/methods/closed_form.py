"""Closed form: exact odds by Taflin's way of counting paths, without a table of states.

Let a be the number of attackers (garrison excluded) and d the number of defenders. The states with
a ≥ 3 and d ≥ 2 are called the inside. There, all dice are rolled and each roll takes two armies. As
in `counting`, a state with n armies is counted in units of U^n. The total weight of all paths of s
rolls in which the attackers lose l armies is a trinomial coefficient, Taflin's equation (5):

    X(s, l)  =  [x^l] (c_2 + c_1 x + c_0 x²)^s,        c_k for a roll with k defenders lost.

Armies never grow, so a path that ends inside has been inside from the start, and a path leaves the
inside only once. Equations (15)-(16) describe this first passage, here to the states just outside,
with d ≤ 1 or a ≤ 2. The weight of the paths to victory is equation (17),

    N(A, D)  =  Σ  X(s, l) · c_k · N(a, d)    over the first states (a, d) outside.

Equations (6)-(14) give N(a, d) outside, where fewer dice are rolled.

Speed. The sum only needs the coefficients X(s, l) for two neighbours l and l − 1, for a = 3, 4, and
their mirror images for d = 2, 3. Let T(s, l) = [x^l] p^s with p = p_0 + p_1 x + p_2 x². Then p ·
(p^s)' = s p' p^s gives the recurrence

    (2s − l + 2) p_2 T(s, l−2)  =  l p_0 T(s, l)  −  (s − l + 1) p_1 T(s, l−1).

This recurrence takes such a pair from s to s + 1, and only multiplies or divides large numbers by
small numbers. The sum over s uses Horner's method. The work grows linearly with the armies, whereas
a table would grow quadratically.

`iacta_literature.taflin` contains the equations exactly as in the paper. This file shifts the
boundary by one, which avoids the strips at a = 3 and d = 2, and counts in whole numbers.

Source: Taflin, "The Probability Distribution of Risk Battles" (2001). The last section of the
    paper, on attacking several countries in sequence, consists of a title only;
    `conquer_in_sequence` is our own result.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb, prod
from typing import NamedTuple, TypeAlias

from iacta.inputs.checks import read_int, read_list
from iacta.inputs.errors import IllegalError
from iacta.methods.counting import Ends, UnitKernel, compute_coefficients
from iacta.methods.kernel import OUTCOME_BYTES, Chances, RollKernel, State
from iacta.probability.distribution import Distribution
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

Step: TypeAlias = tuple[int, ...]
Steps: TypeAlias = dict[tuple[int, int], Step]
Weights: TypeAlias = dict[tuple[int, int], int]

STEPS_PER_STATE = 20


class ClosedForm(UnitKernel, RollKernel):
    """The exact kernel for three attack dice against two defence dice, by Taflin's equations.

    >>> from iacta.rules.rules import CLASSIC
    >>> ClosedForm(CLASSIC).win_probability(2, 1)
    Fraction(1955, 2592)
    """

    name = "closed_form"
    exact = True
    quick_armies = 20_000

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` if the battle is too large or the dice are not three against two."""
        self._refuse(attackers, defenders, numbers=STEPS_PER_STATE)

    def refuse_dice(self) -> None:
        """Raise `IllegalError` unless the dice are three against two."""
        if self.rules.full_roll != (3, 2):
            attack, defence = self.rules.full_roll
            raise IllegalError(
                "rules must keep 3 attack dice and 2 defence dice for the method 'closed_form', "
                f"got {attack} and {defence}"
            )

    def _refuse(self, attackers: int, defenders: int, numbers: int, battles: int = 1) -> None:
        self.refuse_dice()
        armies = attackers + defenders
        unit = compute_coefficients(attackers, defenders, self.rules).unit
        number_bytes = armies * unit.bit_length() // 8 + 50
        self.refuse_too_large(
            attackers,
            defenders,
            memory=numbers * (number_bytes + OUTCOME_BYTES),
            number_bytes=number_bytes,
            states=STEPS_PER_STATE * battles * armies,
        )

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        self.refuse_dice()  # super() skips this check if no stack can attack
        return super().run_forward(start, defenders)

    def ends(self, able: dict[int, int], defenders: int) -> Ends:
        top = max(able)
        armies = top + defenders
        self._refuse(top, defenders, numbers=3 * armies, battles=len(able))
        unit, steps = compute_coefficients(top, defenders, self.rules)
        ends = _compute_ends(
            {(a, defenders): x * unit ** (top - a) for a, x in able.items()}, steps
        )
        return unit, ((State(*end), x, armies - sum(end)) for end, x in ends.items())

    def win_probability(self, attackers: int, defenders: int) -> Fraction:
        """Return the chance to conquer the territory, from equation (17)."""
        self.refuse(attackers, defenders)
        able = max(attackers, 0)
        unit, steps = compute_coefficients(able, defenders, self.rules)
        return Fraction(_count_wins(able, defenders, unit, steps), unit ** (able + defenders))

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        if min_survivors:
            return super().chances(attackers, defenders, min_survivors)
        won = self.win_probability(attackers, defenders)
        return Chances(won, 1 - won)


def refuse_dice(rules: Rules) -> None:
    """Raise `IllegalError` unless the dice are three against two and armies cannot grow."""
    ClosedForm(rules).refuse_dice()


def conquer_in_sequence(
    attackers: int, defenders: Iterable[int], rules: Rules | str = "classic"
) -> Fraction:
    """Return the exact chance that one stack conquers several countries in sequence.

    attackers: the armies on the first attacking territory, garrison included.
    defenders: the defenders of each country, in the order of attack; at least one country.
    rules: the rules of every battle; the garrison stays behind on each territory.

    The paper announces this result without a formula. Let A be the attackers excluding the garrison
    g, and D_i the defenders of country i. Let X_i(a) be the weight of all paths that conquer
    country i with a attackers left, garrison excluded. The stack moves in, leaves g armies behind,
    and continues at (a − g, D_{i+1}). With k countries, the chance is

        P(A; D_1 ... D_k)  =  Σ_a  X_{k−1}(a) · N(a − g, D_k)  /  U^(A + D_1 + ... + D_k − (k−1) g).

    >>> from iacta.rules.rules import CLASSIC
    >>> conquer_in_sequence(3, [1, 1], CLASSIC)
    Fraction(625, 2592)

    Source: the title "Attacking Multiple Countries Sequentially" in Taflin (2001).
    """
    rules = find_rules(rules)
    able = read_int(attackers, "attackers", minimum=1) - rules.garrison
    way = [
        read_int(d, "defenders", minimum=1) for d in read_list(defenders, "countries", "defenders")
    ]
    if not way:
        raise IllegalError("missing countries")
    kernel = ClosedForm(rules)
    armies = attackers + sum(way)
    kernel._refuse(able, sum(way), numbers=3 * armies, battles=attackers)
    unit, steps = compute_coefficients(able, max(way), rules)
    weights = {able: 1} if able > 0 else {}
    for d in way[:-1]:
        ends = _compute_ends({(a, d): weight for a, weight in weights.items()}, steps)
        taken = {a - rules.garrison: weight for (a, left), weight in ends.items() if not left}
        weights = {a: weight for a, weight in taken.items() if a > 0}
    wins = sum(weight * _count_wins(a, way[-1], unit, steps) for a, weight in weights.items())
    left_behind = rules.garrison * (len(way) - 1)
    return Fraction(wins, unit ** (able + sum(way) - left_behind)) if wins else Fraction(0)


class Crossing(NamedTuple):
    """The weights of the paths that leave the inside across one edge in one roll.

    armies: the total number of armies n = a + d before this roll.
    leap: the weight of the paths to the second line outside. They start from the line nearest to
        the edge, and the roll takes two armies across the edge.
    step: the weight of the paths to the first line outside. From the nearest line, the roll takes
        one army from each side; from the next line, it takes two armies across the edge.
    """

    armies: int
    leap: int
    step: int


def _is_inside(able: int, defenders: int) -> bool:
    return able >= 3 and defenders >= 2


def _list_crossings(
    able: int, defenders: int, steps: Steps, weight: int = 1
) -> tuple[Iterator[Crossing], Iterator[Crossing]]:
    """Return the crossings to d ≤ 1 (few defenders) and to a ≤ 2 (few attackers).

    Crossings from d = 2 and 3 lead to (n − 2, 0) and (n − 3, 1). Crossings from a = 3 and 4 lead to
    (1, n − 3) and (2, n − 4). The state (2, 1) after (3, 2) counts as few attackers.
    """
    full = steps[3, 2]
    armies = able + defenders
    down = _cross_edge(full, defenders - 2, armies, weight)
    left = _cross_edge(full[::-1], able - 3, armies, weight)
    return (Crossing(n, leap, step if n > 5 else 0) for n, leap, step in down), left


def _cross_edge(full: Step, lost: int, armies: int, weight: int) -> Iterator[Crossing]:
    """Yield the crossings of one edge, in descending order of armies.

    full: `full[i]` is the coefficient of a full roll that takes i armies in the direction of this
        edge.
    lost: the armies lost in this direction between the start and the line nearest to the edge.
    """
    for rolls, nearest, next_line in _iterate_pairs(full, lost, (armies - 5) // 2, weight):
        n = armies - 2 * rolls
        both = (
            full[2] * next_line if n > 5 else 0
        )  # with n = 5, the next line is beyond the last state
        yield Crossing(n, full[2] * nearest, full[1] * nearest + both)


def _iterate_pairs(p: Step, lost: int, maximum: int, weight: int) -> Iterator[tuple[int, int, int]]:
    """Yield s, T(s, lost) and T(s, lost − 1), times a weight, for all possible s ≤ most.

    T(s, l) is the coefficient of x^l in (p_0 + p_1 x + p_2 x²)^s.
    """
    if not p[2]:
        yield from _iterate_binomial_pairs(p, lost, maximum, weight)
        return
    s, odd = divmod(lost, 2)
    this = 0 if odd else weight * p[2] ** s
    last = weight * p[2] ** s if odd else this // p[2] * s * p[1]
    for rolls in range(s, maximum + 1):
        yield rolls, this, last
        taken = lost * p[0] * this - (rolls - lost + 1) * p[1] * last
        before = taken // ((2 * rolls - lost + 2) * p[2])  # T(s, lost − 2)
        this, last = (
            p[0] * this + p[1] * last + p[2] * before,
            (rolls + 1) * (2 * p[0] * last + p[1] * before) // (2 * rolls - lost + 3),
        )


def _iterate_binomial_pairs(
    p: Step, lost: int, maximum: int, weight: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the same values as `_iterate_pairs` for p_2 = 0, using binomial coefficients."""
    for rolls in range(max(lost - 1, 0), maximum + 1):
        this, last = (
            weight * comb(rolls, i) * p[0] ** (rolls - i) * p[1] ** i if 0 <= i <= rolls else 0
            for i in (lost, lost - 1)
        )
        yield rolls, this, last


def _count_wins(able: int, defenders: int, unit: int, steps: Steps) -> int:
    if not _is_inside(able, defenders):
        return _count_outside(able, defenders, unit, steps)
    down, left = _list_crossings(able, defenders, steps)
    last = (
        6 - (able + defenders) % 2
    )  # the fewest armies of a state inside, with the parity of the start
    return _count_wins_near_few_defenders(down, last, unit, steps) + _count_wins_near_few_attackers(
        left, last, unit, steps
    )


def _count_wins_near_few_defenders(
    crossings: Iterable[Crossing], last: int, unit: int, steps: Steps
) -> int:
    """Return the weight of the paths to victory that leave the inside towards few defenders.

    crossings: crossings with n = ..., last + 2, last armies.

    The weight is Σ leap · N(n − 2, 0) + step · N(n − 3, 1). Here N(n − 2, 0) = U^(n−2), and
    N(n − 3, 1) is U^(n−2) minus the weight of the only losing path.
    """
    all_paths = losing = 0
    unit_squared, r_squared = unit**2, steps[3, 1][0] ** 2
    for _, leap, step in crossings:
        all_paths = all_paths * unit_squared + leap + step
        losing = losing * r_squared + step
    losing *= _raise_power(steps[3, 1][0], last - 5) * steps[2, 1][0] * steps[1, 1][0] * unit
    return all_paths * _raise_power(unit, last - 2) - losing


def _count_wins_near_few_attackers(
    crossings: Iterable[Crossing], last: int, unit: int, steps: Steps
) -> int:
    """Return the weight of the paths to victory that leave the inside towards few attackers.

    crossings: crossings with n = ..., last + 2, last armies.

    The weight is Σ leap · N(1, n − 3) + step · N(2, n − 4). With d = n − 4, it is reduced from
    d + 2 to d by N(1, d+3) = q² N(1, d+1) and N(2, d+2) = c_2 N(2, d) + c_1 N(1, d+1).
    """
    one = two = 0
    q_squared = steps[1, 2][1] ** 2
    _, c_1, c_2 = steps[2, 2]
    for _, leap, step in crossings:
        one, two = q_squared * one + c_1 * two + leap, c_2 * two + step
    d = last - 4
    return one * _count_outside(1, d + 1, unit, steps) + two * _count_outside(2, d, unit, steps)


def _count_outside(able: int, defenders: int, unit: int, steps: Steps) -> int:
    """Return N(able, defenders) for able ≤ 2 or defenders ≤ 1, by Taflin's equations (6)-(9)."""
    if not able or not defenders:
        return 0 if defenders else _raise_power(unit, able)
    if defenders == 1:
        losing = prod(steps[i, 1][0] for i in range(1, min(able, 2) + 1))
        losing *= _raise_power(steps[3, 1][0], able - 2) if able > 2 else 1
        return _raise_power(unit, able + 1) - losing * unit
    if able == 1:
        return _raise_power(steps[1, 2][1], defenders - 1) * steps[1, 1][1] * unit
    two = _count_outside(2, defenders % 2, unit, steps)
    one = _count_outside(1, defenders % 2 + 1, unit, steps)
    for _ in range(defenders // 2):
        one, two = steps[1, 2][1] ** 2 * one, steps[2, 2][2] * two + steps[2, 2][1] * one
    return two


def _raise_power(base: int, exponent: int) -> int:
    power: int = base**exponent
    return power


def _compute_first_passage(
    state: tuple[int, int], weight: int, steps: Steps
) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the first states outside a region that paths reach, with the weight of these paths."""
    if not _is_inside(*state):
        yield state, weight
        return
    down, left = _list_crossings(*state, steps, weight)
    for n, leap, step in down:
        yield (n - 2, 0), leap
        yield (n - 3, 1), step
    for n, leap, step in left:
        yield (1, n - 3), leap
        yield (2, n - 4), step


def _compute_ends(start: Weights, steps: Steps) -> Weights:
    weights: Weights = defaultdict(int)
    for state, weight in start.items():
        for reached, x in _compute_first_passage(state, weight, steps):
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
