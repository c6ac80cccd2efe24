"""Taflin's closed form: each equation, their errata, and the exact method that is made of them."""

from fractions import Fraction
from itertools import product
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import (
    CLASSIC,
    Battle,
    Campaign,
    Dice,
    Distribution,
    IllegalError,
    MalformedError,
    Outcome,
    Rules,
    TooLargeError,
    find_rules,
)
from iacta.distribution import Probability
from iacta.methods import closed_form, counting, find_method
from iacta_literature import taflin_2001 as taflin
from iacta_literature import taflin_strips as strips
from iacta_literature.taflin_strips import Point, RollChances, roll_chances
from tests import brute

UP = Dice((6, 6, 6), bonus=(6, 6, 6))
SEVERAL_RULES = {
    "classic": CLASSIC,
    "attacker wins ties": Rules(ties="attacker"),
    "garrison 0": Rules(garrison=0),
    "garrison 3": Rules(garrison=3),
    "dominating12": find_rules("dominating12"),
    "uneven dice": Rules(attack=Dice((8, 6, 4)), defence=Dice((10, 4), reroll=(1,))),
    "attacker cannot lose": Rules(attack=UP),
    "attacker cannot win": Rules(defence=Dice((6, 6), bonus=(6, 6))),
    "never lose two": Rules(full_attack=Dice((6, 6, 6), bonus=(6, 0))),
    "never take two": Rules(full_defence=Dice((6, 6), bonus=(6, 0))),
    "always one each": Rules(full_attack=Dice((6, 6, 6), bonus=(6, -6))),
}
EDGES = [*product((1, 2, 3, 4, 5, 6), (1, 2, 3, 4)), (12, 3), (3, 12), (17, 17), (18, 17), (4, 19)]
LONG = [*EDGES, (90, 7), (7, 90), (60, 61)]


def test_several_rules_hold_the_laws_in_which_a_chance_is_zero() -> None:
    full_rolls = {name: roll_chances(rules).f32 for name, rules in SEVERAL_RULES.items()}
    zeros = {name: [not chance for chance in full_rolls[name]] for name in full_rolls}
    assert zeros["never lose two"] == [False, False, True]
    assert zeros["never take two"] == [True, False, False]
    assert zeros["always one each"] == [True, False, True]
    assert zeros["attacker cannot lose"] == [False, True, True]
    assert zeros["attacker cannot win"] == [True, True, False]


# --- free space: equations (1)-(5)


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_free_space_is_the_equation_of_motion_repeated(name: str) -> None:
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


def test_ways_are_all_paths_of_an_advantage() -> None:
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
    f = roll_chances(CLASSIC)
    good, neutral, bad = f.f32
    assert taflin.path_chance(taflin.Ways(2, 1, 3), f) == good * good * neutral * bad * bad * bad


# --- strips: equations (6)-(14), and the two that the paper leaves out


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_strips_are_the_chances_of_battles(name: str) -> None:
    rules = Rules(**{**vars(SEVERAL_RULES[name]), "garrison": 1})
    f = roll_chances(rules)
    table = counting.win_table(40, 40, rules)
    assert strips.two_against_one(f) == table[1, 0]
    for n in range(1, 41):
        assert strips.two_against(n, f) == table[1, n - 1]
        assert strips.three_against(n, f) == table[2, n - 1]
        assert strips.four_against(n, f) == table[3, n - 1]
    for m in range(2, 41):
        assert strips.against_two(m, f) == table[m - 1, 1]
        assert strips.against_one(max(m, 3), f) == table[max(m, 3) - 1, 0]


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_strip_of_three_is_its_motion_repeated(name: str) -> None:
    f = roll_chances(SEVERAL_RULES[name])
    for n in range(3, 30):
        before, now = strips.three_against(n - 2, f), strips.three_against(n, f)
        assert strips.three_against_motion(strips.two_against(n - 1, f), before, f) == now
        assert strips.three_against_step(before, n, f) == now


def test_the_substitution_sums_the_strip_of_three() -> None:
    for rules in (CLASSIC, SEVERAL_RULES["attacker cannot lose"], SEVERAL_RULES["uneven dice"]):
        f = roll_chances(rules)
        for n in range(4, 30):
            y = strips.substituted_sum(n, f)
            stepped = strips.substituted_step(
                strips.substituted_sum(n - 2, f), n, strips.substitution(f)
            )
            assert isclose(y, stepped, rel_tol=1e-13)
            assert isclose(y, strips.substituted(strips.three_against(n, f), n, f), rel_tol=1e-13)


def test_the_substitution_refuses_to_divide_by_zero() -> None:
    f = roll_chances(SEVERAL_RULES["attacker cannot win"])
    with pytest.raises(IllegalError, match=r"f_22\^0 must be above 0"):
        strips.substitution(f)


def test_the_strips_hold_where_the_paper_divides_by_zero() -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    # C² = 1 in equation (14), and the same in the strips that are derived from it
    f = RollChances(
        f11=(half, half),
        f12=(half, half),
        f21=(half, half),
        f22=(quarter, half, quarter),
        f31=(half, half),
        f32=(quarter, half, quarter),
    )
    assert f.f22[0] == f.f12[0] ** 2
    two, three, four = ({0: Fraction(1), 1: strips.strip_win(Point(m, 1), f)} for m in (2, 3, 4))
    for n in range(2, 20):
        two[n] = half * two[n - 1]
        three[n] = quarter * three[n - 2] + half * two[n - 1]
        four[n] = quarter * four[n - 2] + half * three[n - 1] + quarter * two[n]
        assert strips.three_against(n, f) == three[n]
        assert strips.four_against(n, f) == four[n]


@given(st.integers(0, 6), st.lists(st.integers(-5, 5), min_size=1, max_size=3))
def test_products_of_degree_are_all_products(degree: int, factors: list[int]) -> None:
    total = 0
    for powers in product(range(degree + 1), repeat=len(factors)):
        if sum(powers) == degree:
            term = 1
            for factor, power in zip(factors, powers, strict=True):
                term *= factor**power
            total += term
    assert strips.products_of_degree(degree, *map(Fraction, factors)) == total


# --- first passage and the comprehensive solution: equations (15)-(17)


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_first_passage_happens_once(name: str) -> None:
    f = roll_chances(SEVERAL_RULES[name])
    for m, n in [*EDGES, (12, 10)]:
        assert sum(taflin.first_passage(Point(m, n), f).values()) == 1


def test_first_passage_as_printed_counts_the_corner_more_than_once() -> None:
    f, start = roll_chances(CLASSIC), Point(12, 10)

    def anywhere(m: int, n: int) -> Fraction:
        rolls, odd = divmod(sum(start) - m - n, 2)
        return Fraction(0) if odd else Fraction(taflin.free_space(start, Point(m, n), rolls, f))

    printed = {}
    for m in range(3, 13):
        printed[m, 1] = f.f32[0] * anywhere(m, 3)
        printed[m, 2] = f.f32[1] * anywhere(m + 1, 3) + f.f32[0] * anywhere(m, 4)
    for n in range(2, 11):
        printed[3, n] = f.f32[2] * anywhere(5, n)
        printed[4, n] = f.f32[1] * anywhere(5, n + 1) + f.f32[2] * anywhere(6, n)
    assert round(float(sum(printed.values())), 4) == 1.1015


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_comprehensive_solution_is_counting(name: str) -> None:
    rules = Rules(**{**vars(SEVERAL_RULES[name]), "garrison": 1})
    f, table = roll_chances(rules), counting.win_table(19, 19, rules)
    for m, n in EDGES:
        assert taflin.win(Point(m, n), f) == table[m - 1, n - 1]


def test_the_comprehensive_solution_is_counting_in_larger_battles() -> None:
    f, table = roll_chances(CLASSIC), counting.win_table(40, 40, CLASSIC)
    for m, n in [(40, 40), (40, 3), (5, 40), (39, 40), (40, 39), (25, 33), (33, 26), (6, 39)]:
        assert taflin.win(Point(m, n), f) == table[m - 1, n - 1]


@pytest.mark.parametrize("name", ["classic", "uneven dice", "never lose two"])
def test_in_floats_the_equations_keep_their_error(name: str) -> None:
    rules = SEVERAL_RULES[name]
    f, table = roll_chances(rules, exact=False), counting.win_table(40, 40, rules)
    for m, n in product(range(1, 41), repeat=2):
        error = abs(Fraction(taflin.win(Point(m, n), f)) - table[m - 1, n - 1])
        assert error <= taflin.float_error(Point(m, n))


def test_floats_refuse_more_rolls_than_they_hold() -> None:
    f = roll_chances(CLASSIC, exact=False)
    at_most = taflin.free_space(Point(900, 900), Point(400, 400), 500, f)
    exact = taflin.free_space(Point(900, 900), Point(400, 400), 500, roll_chances(CLASSIC))
    assert isclose(at_most, exact, rel_tol=1e-12)
    with pytest.raises(TooLargeError, match="rolls must be at most 500"):
        taflin.free_space(Point(900, 900), Point(399, 399), 501, f)


# --- the method


@pytest.mark.parametrize("name", ["classic", "garrison 3", "uneven dice"])
def test_the_chance_to_win_is_counting_to_40_against_40(name: str) -> None:
    rules = SEVERAL_RULES[name]
    table = counting.win_table(40, 40, rules)
    for m, n in product(range(1, 41), repeat=2):
        assert closed_form.win_probability(m, n, rules) == table[m - 1, n - 1]


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_chance_to_win_is_counting_under_several_rules(name: str) -> None:
    rules = SEVERAL_RULES[name]
    for attackers, defenders in LONG:
        expected = counting.win_probability(attackers, defenders, rules)
        assert closed_form.win_probability(attackers, defenders, rules) == expected


def test_the_method_is_the_paper_s_comprehensive_solution() -> None:
    rules = Rules(garrison=3)
    f = roll_chances(rules)
    for attackers, defenders in EDGES:
        able = max(attackers - 3, 0)
        won = closed_form.win_probability(attackers, defenders, rules)
        assert won == taflin.win(Point(able + 1, defenders), f)


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_the_law_of_who_is_left_is_counting(name: str) -> None:
    rules = SEVERAL_RULES[name]
    for attackers, defenders in [*EDGES, (1, 0), (5, 0), (40, 9)]:
        law = closed_form.outcomes(Distribution([attackers]), defenders, rules)
        assert law == counting.outcomes(Distribution([attackers]), defenders, rules)
        assert sum(law.values()) == 1


def dice(keep: int) -> st.SearchStrategy[Dice]:
    """Draw dice of which so many are kept."""
    faces = st.lists(st.integers(1, 5), min_size=keep, max_size=keep + 1).map(tuple)
    bonus = st.lists(st.integers(-3, 3), max_size=keep).map(tuple)
    return st.builds(Dice, faces, st.just(keep), bonus=bonus)


@settings(max_examples=80)
@given(
    st.builds(
        Rules,
        attack=dice(3),
        defence=dice(2),
        full_attack=st.none() | dice(3),
        full_defence=st.none() | dice(2),
        ties=st.sampled_from(("attacker", "defender")),
        garrison=st.integers(0, 3),
    ),
    st.integers(1, 10),
    st.integers(1, 9),
)
def test_the_method_is_the_twin_under_any_rules(
    rules: Rules, attackers: int, defenders: int
) -> None:
    law = closed_form.outcomes(Distribution([attackers]), defenders, rules)
    assert dict(law) == brute.outcomes(attackers, defenders, rules)
    won = closed_form.win_probability(attackers, defenders, rules)
    assert won == brute.win_probability(attackers, defenders, rules)


@pytest.mark.parametrize("garrison", [0, 1, 2])
def test_a_law_of_attackers_goes_in(garrison: int) -> None:
    rules = Rules(garrison=garrison)
    stack = Distribution({1: 1, 2: 2, 3: 3, 8: 5, 9: 4})
    for defenders in (0, 1, 2, 7):
        law = closed_form.outcomes(stack, defenders, rules)
        assert law == counting.outcomes(stack, defenders, rules)


@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.parametrize(
    ("attackers", "defenders"),
    [(1, [1]), (3, [1, 1]), (12, [10]), (12, [3, 1, 2]), (20, [1, 5, 2, 1, 4]), (9, [1] * 9)],
)
def test_a_sequence_is_a_campaign(name: str, attackers: int, defenders: list[int]) -> None:
    rules = SEVERAL_RULES[name]
    campaign = Campaign(attackers, defenders, rules)
    chance = closed_form.sequence(attackers, defenders, rules)
    assert chance == campaign.win_probability(exact=True, method="counting")
    assert chance == campaign.win_probability(exact=True, method="closed_form")


def test_the_unfinished_game_is_a_sequence() -> None:
    # Norvig (2020) has it in floats.
    way = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
    chance = closed_form.sequence(72, iter(way), CLASSIC)
    assert isclose(chance, 0.8105485936352178, rel_tol=1e-14)
    assert chance == Campaign(72, way).win_probability(exact=True, method="counting")


def test_a_sequence_that_is_none_is_refused() -> None:
    with pytest.raises(IllegalError, match="countries must have at least one entry"):
        closed_form.sequence(3, [], CLASSIC)
    with pytest.raises(IllegalError, match=r"defenders must be .* at least 1, got 0"):
        closed_form.sequence(3, [1, 0], CLASSIC)
    with pytest.raises(IllegalError, match=r"attackers must be .* at least 1, got -3"):
        closed_form.sequence(-3, [1], CLASSIC)
    with pytest.raises(MalformedError, match="countries must be a row"):
        closed_form.sequence(3, 5, CLASSIC)  # type: ignore[arg-type] # a user may
    with pytest.raises(TooLargeError):
        closed_form.sequence(10**6, [10**6, 10**6], CLASSIC)


def test_a_thousand_against_a_thousand_is_exact() -> None:
    exact = closed_form.win_probability(1000, 1000, CLASSIC)
    assert isclose(exact, Battle(1000, 1000).win_probability(), rel_tol=1e-11)
    assert Battle(100, 100).win_probability(exact=True, method="closed_form") == Battle(
        100, 100
    ).win_probability(exact=True, method="counting")


@pytest.mark.parametrize(
    "rules",
    [find_rules("capital"), Rules(attack=Dice((6, 6))), Rules(attack=Dice((6, 6, 6), keep=2))],
)
def test_other_dice_are_refused_and_left_to_counting(rules: Rules) -> None:
    sentence = r"rules must keep 3 attack dice and 2 defence dice .*'closed_form', got "
    stack = Distribution([9])
    for ask in (
        lambda: closed_form.refuse(9, 5, rules),
        lambda: closed_form.win_probability(9, 5, rules),
        lambda: closed_form.outcomes(stack, 5, rules),
        lambda: closed_form.sequence(9, [5], rules),
        lambda: roll_chances(rules),
    ):
        with pytest.raises(IllegalError, match=sentence):
            ask()
    assert find_method("auto", 9, 5, rules, exact=True, question="chance").NAME == "counting"
    with pytest.raises(TooLargeError, match="'counting'"):  # not a word about dice
        find_method("auto", 10**9, 10**9, rules, exact=True, question="chance")


def test_growing_armies_are_refused() -> None:
    rules = find_rules("five ones")
    with pytest.raises(IllegalError, match="'closed_form', which cannot let armies grow"):
        closed_form.win_probability(9, 5, rules)
    with pytest.raises(IllegalError, match="cannot let armies grow"):
        roll_chances(rules)


def test_battles_past_an_hour_are_refused_at_once() -> None:
    for attackers, defenders in ((10**12, 10**12), (10**9, 1), (2, 10**12), (10**30, 10**30)):
        with pytest.raises(TooLargeError):
            closed_form.win_probability(attackers, defenders, CLASSIC)
        with pytest.raises(TooLargeError):
            closed_form.outcomes(Distribution([attackers]), defenders, CLASSIC)


def test_one_chance_is_asked_of_the_closed_form() -> None:
    assert find_method("auto", 12, 10, CLASSIC, exact=True, question="chance").NAME == "closed_form"
    assert find_method("auto", 12, 10, CLASSIC, exact=True, question="law").NAME == "closed_form"
    assert find_method("auto", 12, 10, CLASSIC, exact=True, question="stack").NAME == "counting"
    assert closed_form.relative_error(12, 10, CLASSIC) == 0
    law = Battle(12, 10).outcomes(exact=True, method="counting")
    assert law[Outcome(12, 0)] == Battle(12, 10).outcomes(exact=True)[Outcome(12, 0)]
