"""The methods agree: with each other, and with battles counted state by state."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import (
    CLASSIC,
    Dice,
    Distribution,
    IllegalError,
    Outcome,
    Rules,
    TooLargeError,
    find_rules,
)
from iacta.methods import find_kernel
from iacta.methods.kernel import is_won
from tests import brute, strategies
from tests.asked import counting, lattice

TABLE_METHODS: dict[str, Any] = {"counting": counting, "lattice": lattice}
SEVERAL_RULES = {
    "classic": CLASSIC,
    "capital": find_rules("capital"),
    "garrison 0": Rules(garrison=0),
    "garrison 3": Rules(garrison=3),
    "one die each": Rules(attack=Dice((6,)), defence=Dice((6,))),
    "five against four": Rules(attack=Dice((4,) * 5), defence=Dice((4,) * 4)),
    "two against three": Rules(attack=Dice((6, 6)), defence=Dice((8, 6, 6)), ties="attacker"),
    "dominating12": find_rules("dominating12"),
    "attacker cannot lose": Rules(attack=Dice((6,), bonus=(6,)), defence=Dice((6,))),
    "attacker cannot win": Rules(defence=Dice((6, 6), bonus=(6, 6))),
}
EDGES = [*product((1, 2, 3, 4, 5), (1, 2, 3, 4)), (12, 3), (3, 12), (17, 17)]


@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.parametrize("battle", EDGES)
def test_counting_is_the_twin_exactly(name: str, battle: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    attackers, defenders = battle
    law = counting.outcomes(Distribution([attackers]), defenders, rules)
    assert dict(law) == brute.outcomes(attackers, defenders, rules)


@settings(max_examples=60)
@given(strategies.rules(), st.integers(1, 9), st.integers(1, 9))
def test_counting_is_the_twin_under_any_rules(rules: Rules, attackers: int, defenders: int) -> None:
    law = counting.outcomes(Distribution([attackers]), defenders, rules)
    assert dict(law) == brute.outcomes(attackers, defenders, rules)
    assert sum(law.values()) == 1


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_tables_values_and_outcomes_agree(name: str) -> None:
    rules = SEVERAL_RULES[name]
    table = counting.win_table(14, 12, rules)
    for defenders in (1, 2, 3, 7, 12):
        values = counting.values([1] * 15, [0] * 13, defenders, rules)
        for attackers in range(1, 15):
            law = counting.outcomes(Distribution([attackers]), defenders, rules)
            assert table[attackers - 1, defenders - 1] == law.prob(is_won) == values[attackers]


@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.parametrize("size", [(40, 40), (90, 7), (7, 90), (3, 2), (4, 4), (2, 9), (60, 30)])
def test_lattice_table_keeps_its_bound(name: str, size: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    exact, floats = counting.win_table(*size, rules), lattice.win_table(*size, rules)
    for a, d in product(range(size[0]), range(size[1])):
        bound = lattice.relative_error(a + 1, d + 1, rules)
        assert_within(floats[a, d], exact[a, d], bound)


@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.parametrize("battle", [*EDGES, (60, 60), (3, 60), (60, 2)])
def test_lattice_outcomes_keep_their_bound(name: str, battle: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    attackers, defenders = battle
    exact = counting.outcomes(Distribution([attackers]), defenders, rules)
    floats = lattice.outcomes(Distribution([attackers]), defenders, rules)
    assert set(floats) == set(exact)
    for outcome, probability in exact.items():
        bound = lattice.relative_error(attackers, defenders, rules)
        assert_within(float(floats[outcome]), Fraction(probability), bound)


@settings(max_examples=60)
@given(strategies.rules(), st.integers(1, 12), st.integers(1, 12))
def test_lattice_keeps_its_bound_under_any_rules(
    rules: Rules, attackers: int, defenders: int
) -> None:
    exact = counting.outcomes(Distribution([attackers]), defenders, rules)
    floats = lattice.outcomes(Distribution([attackers]), defenders, rules)
    bound = lattice.relative_error(attackers, defenders, rules)
    assert set(floats) == set(exact)
    for outcome, probability in exact.items():
        assert_within(float(floats[outcome]), Fraction(probability), bound)


def test_lattice_keeps_its_bound_in_large_battles() -> None:
    exact = counting.values([1] * 402, [0] * 401, 400, CLASSIC)[401]
    table = lattice.win_table(401, 400, CLASSIC)
    assert_within(table[400, 399], exact, lattice.relative_error(401, 400, CLASSIC))


def assert_within(value: float, exact: Fraction, bound: float) -> None:
    """Assert that a float is within a relative error of an exact value."""
    assert abs(Fraction(value) - exact) <= exact * Fraction(bound)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_a_law_of_attackers_is_a_mixture(method: str) -> None:
    rules = Rules(garrison=2)
    solver = TABLE_METHODS[method]
    stack = Distribution({1: 1, 2: 2, 3: 3, 9: 4})
    mixed = solver.outcomes(stack, 4, rules)
    parts = {n: solver.outcomes(Distribution([n]), 4, rules) for n in stack}
    for outcome in mixed:
        expected = sum(float(stack[n] * parts[n][outcome]) for n in stack)
        assert math.isclose(float(mixed[outcome]), expected, rel_tol=1e-13)
    assert mixed[Outcome(1, 4)] == pytest.approx(0.1)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_only_the_rolls_that_a_battle_may_have_are_solved(method: str) -> None:
    # A hundred dice against a hundred would take hours; one against one takes no time.
    rules = Rules(attack=Dice((6,) * 100), defence=Dice((6,) * 100))
    law = TABLE_METHODS[method].outcomes(Distribution([2]), 1, rules)
    assert float(law[Outcome(2, 0)]) == 15 / 36


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_no_defenders_are_no_battle(method: str) -> None:
    law = TABLE_METHODS[method].outcomes(Distribution([5, 1]), 0, CLASSIC)
    assert dict(law) == {Outcome(5, 0): 0.5, Outcome(1, 0): 0.5}


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_values_count_what_is_won_and_what_is_lost(method: str) -> None:
    rules = Rules(garrison=2)
    won, lost = [3, 1, 4, 1, 5, 9, 2, 6, 5], [0, 3, 5, 8]
    values = TABLE_METHODS[method].values(won, lost, 3, rules)
    for attackers in range(1, len(won)):
        law = brute.outcomes(attackers, 3, rules)
        mean = sum(p * (lost[d] if d else won[a - 2]) for (a, d), p in law.items())
        assert math.isclose(float(values[attackers]), float(mean), rel_tol=1e-13)


@given(st.integers(1, 10**9), st.integers(1, 6))
def test_root_is_the_least_number_whose_power_is_divisible(number: int, power: int) -> None:
    root = counting.least_root(number, power)
    assert pow(root, power, number) == 0
    primes = {p for p in (2, 3, 5, 7, 11, 13) if root % p == 0}
    assert all(pow(root // p, power, number) != 0 or number == 1 for p in primes)


def test_methods_are_found_by_what_is_asked() -> None:
    assert find_kernel(CLASSIC, exact=True).by("table", 9, 9).name == "counting"
    assert find_kernel(CLASSIC).by("table", 9, 9).name == "lattice"
    assert find_kernel(CLASSIC).by("distribution", 11, 10).name == "lattice"
    assert find_kernel(CLASSIC).by("chance", 10**9, 10**9).name == "leap"
    with pytest.raises(IllegalError, match="method must be an exact method"):
        find_kernel(CLASSIC, exact=True, method="lattice")
    with pytest.raises(IllegalError, match=r"method must be a method .* got 'abacus'"):
        find_kernel(CLASSIC, method="abacus")


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_battles_past_what_memory_allows_are_refused_at_once(method: str) -> None:
    solver = TABLE_METHODS[method]
    for attackers, defenders in ((10**12, 10**12), (10**9, 1), (2, 10**12), (10**30, 10**30)):
        with pytest.raises(TooLargeError):
            solver.outcomes(Distribution([attackers]), defenders, CLASSIC)
    with pytest.raises(TooLargeError):
        solver.win_table(10**6, 10**6, CLASSIC)
