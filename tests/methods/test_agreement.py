"""The methods agree: with each other, and with battles counted state by state."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import CLASSIC, Dice, Distribution, IllegalError, Outcome, Rules, TooLargeError
from iacta.methods import find_kernel
from iacta.methods.kernel import is_won
from tests import brute
from tests.asked import SEVERAL_RULES, counting, lattice, markov

TABLE_METHODS: dict[str, Any] = {"counting": counting, "lattice": lattice}
EDGES = [*product((1, 2, 3, 4, 5), (1, 2, 3, 4)), (12, 3), (3, 12), (17, 17)]


@pytest.mark.parametrize("name", SEVERAL_RULES)
def test_tables_values_and_outcomes_agree(name: str) -> None:
    rules = SEVERAL_RULES[name]
    table = counting.win_table(14, 12, rules)
    for defenders in (1, 2, 3, 7, 12):
        values = counting.values([1] * 15, [0] * 13, defenders, rules)
        for attackers in range(1, 15):
            outcomes = counting.outcomes(Distribution([attackers]), defenders, rules)
            assert table[attackers - 1, defenders - 1] == outcomes.prob(is_won) == values[attackers]


@pytest.mark.parametrize("method", [lattice, markov], ids=["lattice", "markov"])
@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.parametrize("size", [(40, 40), (90, 7), (7, 90), (3, 2), (4, 4), (2, 9), (60, 30)])
def test_tables_keep_their_bound(method: Any, name: str, size: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    exact, floats = counting.win_table(*size, rules), method.win_table(*size, rules)
    for a, d in product(range(size[0]), range(size[1])):
        assert_within(floats[a, d], exact[a, d], method.relative_error(a + 1, d + 1, rules))


def test_lattice_keeps_its_bound_in_large_battles() -> None:
    exact = counting.values([1] * 402, [0] * 401, 400, CLASSIC)[401]
    table = lattice.win_table(401, 400, CLASSIC)
    assert_within(table[400, 399], exact, lattice.relative_error(401, 400, CLASSIC))


def assert_within(value: float, exact: Fraction, bound: float) -> None:
    """Assert that a float is within a relative error of an exact value."""
    assert abs(Fraction(value) - exact) <= exact * Fraction(bound)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_only_the_rolls_that_a_battle_may_have_are_solved(method: str) -> None:
    # A hundred dice against a hundred would take hours; one against one takes no time.
    rules = Rules(attack=Dice((6,) * 100), defence=Dice((6,) * 100))
    outcomes = TABLE_METHODS[method].outcomes(Distribution([2]), 1, rules)
    assert float(outcomes[Outcome(2, 0)]) == 15 / 36


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_values_count_what_is_won_and_what_is_lost(method: str) -> None:
    rules = Rules(garrison=2)
    won, lost = [3, 1, 4, 1, 5, 9, 2, 6, 5], [0, 3, 5, 8]
    values = TABLE_METHODS[method].values(won, lost, 3, rules)
    for attackers in range(1, len(won)):
        outcomes = brute.outcomes(attackers, 3, rules)
        mean = sum(p * (lost[d] if d else won[a - 2]) for (a, d), p in outcomes.items())
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
def test_tables_past_what_memory_allows_are_refused_at_once(method: str) -> None:
    with pytest.raises(TooLargeError):
        TABLE_METHODS[method].win_table(10**6, 10**6, CLASSIC)
