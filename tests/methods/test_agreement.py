"""The methods agree with each other, and with battles computed state by state."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import CLASSIC, Dice, Distribution, IllegalError, Outcome, Rules
from iacta.methods import choose_kernel
from tests.adapters import SEVERAL_RULES, counting, lattice, markov
from tests.cases import for_each

TABLE_METHODS: dict[str, Any] = {"counting": counting, "lattice": lattice}
EDGES = [*product((1, 2, 3, 4, 5), (1, 2, 3, 4)), (12, 3), (3, 12), (17, 17)]


@for_each("method", [lattice, markov])
@for_each("name", SEVERAL_RULES)
@for_each("size", [(40, 40), (90, 7), (7, 90), (3, 2), (4, 4), (2, 9), (60, 30)])
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
    # A hundred dice against a hundred would take hours, one against one takes no time.
    rules = Rules(attack=Dice((6,) * 100), defence=Dice((6,) * 100))
    outcomes = TABLE_METHODS[method].outcomes(Distribution([2]), 1, rules)
    assert float(outcomes[Outcome(2, 0)]) == 15 / 36


@given(st.integers(1, 10**9), st.integers(1, 6))
def test_root_is_the_least_number_whose_power_is_divisible(number: int, power: int) -> None:
    root = counting.compute_least_root(number, power)
    assert pow(root, power, number) == 0
    primes = {p for p in (2, 3, 5, 7, 11, 13) if root % p == 0}
    assert all(pow(root // p, power, number) != 0 or number == 1 for p in primes)


def test_methods_are_chosen_by_the_question() -> None:
    assert choose_kernel(CLASSIC, exact=True).for_question("table", 9, 9).name == "counting"
    assert choose_kernel(CLASSIC).for_question("table", 9, 9).name == "lattice"
    assert choose_kernel(CLASSIC).for_question("distribution", 11, 10).name == "lattice"
    assert choose_kernel(CLASSIC).for_question("chance", 10**9, 10**9).name == "leap"
    with pytest.raises(IllegalError, match="method must be an exact method"):
        choose_kernel(CLASSIC, exact=True, method="lattice")
    with pytest.raises(IllegalError, match=r"method must be a method .* got 'abacus'"):
        choose_kernel(CLASSIC, method="abacus")
