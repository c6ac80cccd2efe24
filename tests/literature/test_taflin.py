"""Taflin's equations, each compared with a battle or with other equations."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import Dice, IllegalError, Rules, TooLargeError, find_rules, win_table
from iacta.probability.distribution import Probability
from iacta_literature import taflin
from iacta_literature.taflin import Point, RollChances, Ways, roll_chances
from tests.three_against_two import EDGES, SEVERAL_RULES


def test_several_rules_have_a_chance_of_zero() -> None:
    full_rolls = {name: roll_chances(rules).f32 for name, rules in SEVERAL_RULES.items()}
    zeros = {name: [not chance for chance in full_rolls[name]] for name in full_rolls}
    assert zeros["never lose two"] == [False, False, True]
    assert zeros["never take two"] == [True, False, False]
    assert zeros["always one each"] == [True, False, True]
    assert zeros["attacker cannot lose"] == [False, True, True]
    assert zeros["attacker cannot win"] == [True, True, False]


# Free space: equations (1)-(5).


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_free_space_follows_from_the_equation_of_motion(name: str) -> None:
    f, start = roll_chances(SEVERAL_RULES[name]), Point(30, 30)
    chances: dict[Point, Probability] = {start: Fraction(1)}
    differences: dict[int, Probability] = {0: Fraction(1)}
    for rolls in range(8):
        for m, n in product(range(14, 31), repeat=2):
            reached = chances.get(Point(m, n), 0)
            assert taflin.free_space(start, Point(m, n), rolls, f) == reached
            if m + n == 60 - 2 * rolls:
                assert differences.get(m - n, 0) == reached
        chances = taflin.equation_of_motion(chances, f)
        differences = taflin.relative_motion(differences, f)


def test_all_paths_of_an_advantage_are_counted() -> None:
    published = [(7, 0, 5), (6, 2, 4), (5, 4, 3), (4, 6, 2), (3, 8, 1), (2, 10, 0)]
    assert sorted(taflin.ways(4, 12), reverse=True) == published
    for advantage, rolls in product(range(-9, 10), range(6)):
        found = set(taflin.ways(advantage, rolls))
        every = {
            (g, i, rolls - g - i)
            for g, i in product(range(rolls + 1), repeat=2)
            if g + i <= rolls and 2 * (g - (rolls - g - i)) == advantage
        }
        assert found == every
        assert all(taflin.advantage_and_rolls(way) == (advantage, rolls) for way in found)


def test_path_chance_is_a_product_of_rolls() -> None:
    f = roll_chances()
    good, neutral, bad = f.f32
    assert taflin.path_chance(Ways(2, 1, 3), f) == good * good * neutral * bad * bad * bad


# Strips: equations (6)-(14), and the two that the paper leaves out.


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_strips_agree_with_the_chances_of_battles(name: str) -> None:
    rules = replace(SEVERAL_RULES[name], garrison=1)
    f = roll_chances(rules)
    table = win_table(40, 40, rules, exact=True)
    assert taflin.win_two_against_one(f) == table[1, 0]
    for n in range(1, 41):
        assert taflin.win_with_two(n, f) == table[1, n - 1]
        assert taflin.win_with_three(n, f) == table[2, n - 1]
        assert taflin.win_with_four(n, f) == table[3, n - 1]
    for m in range(2, 41):
        assert taflin.win_against_two(m, f) == table[m - 1, 1]
        assert taflin.win_against_one(max(m, 3), f) == table[max(m, 3) - 1, 0]


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_strip_of_three_follows_from_the_equation_of_motion(name: str) -> None:
    f = roll_chances(SEVERAL_RULES[name])
    for n in range(3, 30):
        before, now = taflin.win_with_three(n - 2, f), taflin.win_with_three(n, f)
        assert taflin.win_three_by_motion(taflin.win_with_two(n - 1, f), before, f) == now
        assert taflin.win_three_by_step(before, n, f) == now


def test_the_substitution_sums_the_strip_of_three() -> None:
    for rules in (
        SEVERAL_RULES["classic"],
        SEVERAL_RULES["attacker cannot lose"],
        SEVERAL_RULES["uneven dice"],
    ):
        f = roll_chances(rules)
        for n in range(4, 30):
            y = taflin.sum_substituted(n, f)
            stepped = taflin.step_substituted(
                taflin.sum_substituted(n - 2, f), n, taflin.substitution(f)
            )
            assert isclose(y, stepped, rel_tol=1e-13)
            assert isclose(y, taflin.substitute(taflin.win_with_three(n, f), n, f), rel_tol=1e-13)


def test_the_substitution_refuses_to_divide_by_zero() -> None:
    f = roll_chances(SEVERAL_RULES["attacker cannot win"])
    with pytest.raises(IllegalError, match=r"f_22\^0 must be above 0"):
        taflin.substitution(f)


def test_the_strips_hold_where_the_paper_divides_by_zero() -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    # C² = 1 in equation (14), and in the strips derived from it.
    f = RollChances(
        f11=(half, half),
        f12=(half, half),
        f21=(half, half),
        f22=(quarter, half, quarter),
        f31=(half, half),
        f32=(quarter, half, quarter),
    )
    assert f.f22[0] == f.f12[0] ** 2
    two, three, four = ({0: Fraction(1), 1: taflin.win_on_strip(Point(m, 1), f)} for m in (2, 3, 4))
    for n in range(2, 20):
        two[n] = half * two[n - 1]
        three[n] = quarter * three[n - 2] + half * two[n - 1]
        four[n] = quarter * four[n - 2] + half * three[n - 1] + quarter * two[n]
        assert taflin.win_with_three(n, f) == three[n]
        assert taflin.win_with_four(n, f) == four[n]


@given(st.integers(0, 6), st.lists(st.integers(-5, 5), min_size=1, max_size=3))
def test_all_products_of_a_degree_are_listed(degree: int, factors: list[int]) -> None:
    total = 0
    for powers in product(range(degree + 1), repeat=len(factors)):
        if sum(powers) == degree:
            term = 1
            for factor, power in zip(factors, powers, strict=True):
                term *= factor**power
            total += term
    assert taflin.products_of_degree(degree, *map(Fraction, factors)) == total


# First passage and the comprehensive solution: equations (15)-(17).


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_first_passage_happens_once(name: str) -> None:
    f = roll_chances(SEVERAL_RULES[name])
    for m, n in [*EDGES, (12, 10)]:
        assert sum(taflin.first_passage(Point(m, n), f).values()) == 1


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_comprehensive_solution_agrees_with_counting(name: str) -> None:
    rules = replace(SEVERAL_RULES[name], garrison=1)
    f, table = roll_chances(rules), win_table(19, 19, rules, exact=True)
    for m, n in EDGES:
        assert taflin.win(Point(m, n), f) == table[m - 1, n - 1]


def test_the_comprehensive_solution_agrees_with_counting_in_larger_battles() -> None:
    f, table = roll_chances(), win_table(40, 40, "classic", exact=True)
    for m, n in [(40, 40), (40, 3), (5, 40), (39, 40), (40, 39), (25, 33), (33, 26), (6, 39)]:
        assert taflin.win(Point(m, n), f) == table[m - 1, n - 1]


@pytest.mark.parametrize("name", ["classic", "uneven dice", "never lose two"])
def test_in_floats_the_equations_keep_their_error(name: str) -> None:
    rules = SEVERAL_RULES[name]
    f, table = roll_chances(rules, exact=False), win_table(40, 40, rules, exact=True)
    for m, n in product(range(1, 41), (1, 2, 3, 4, 5, 9, 16, 23, 32, 39, 40)):
        error = abs(Fraction(taflin.win(Point(m, n), f)) - table[m - 1, n - 1])
        assert error <= taflin.float_error(Point(m, n))


def test_floats_refuse_too_many_rolls() -> None:
    f = roll_chances(exact=False)
    at_most = taflin.free_space(Point(900, 900), Point(400, 400), 500, f)
    exact = taflin.free_space(Point(900, 900), Point(400, 400), 500, roll_chances())
    assert isclose(at_most, exact, rel_tol=1e-12)
    with pytest.raises(TooLargeError, match="rolls must be at most 500"):
        taflin.free_space(Point(900, 900), Point(399, 399), 501, f)


@pytest.mark.parametrize("rules", [find_rules("capital"), Rules(attack=Dice((6, 6, 6), keep=2))])
def test_other_dice_are_refused(rules: Rules) -> None:
    with pytest.raises(IllegalError, match="rules must keep 3 attack dice and 2 defence dice"):
        roll_chances(rules)


def test_growing_armies_are_refused() -> None:
    with pytest.raises(IllegalError, match="with armies that grow when all dice"):
        roll_chances("five ones")
