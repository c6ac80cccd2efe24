"""Budgets: work that exceeds them is refused before it starts; other work is done."""

import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import iacta
from iacta import Dice, Rules, Territory, TooLargeError
from iacta.methods import choose_kernel
from iacta.methods.kernel import Values
from iacta.odds.needed import win_probabilities_keeping
from iacta.rules.roll import refuse_many_rolls
from tests.adapters import win_probability_keeping
from tests.cases import for_each

SIX_OF_TWENTY = Rules(attack=Dice((20,) * 6, bonus=(1,)), defence=Dice((20,) * 6))
HOUSE = Rules(attack=Dice((20,) * 3), defence=Dice((20,) * 3))


def test_values_are_computed_with_few_rows_in_memory() -> None:
    attackers, defenders = 4_000, 400
    kernel = choose_kernel(Rules())
    values = Values(np.ones(attackers + 1), np.zeros(defenders + 1))
    tracemalloc.start()
    kernel.value(values, defenders)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * attackers * defenders / 4


def test_transitions_release_the_memory_of_rows() -> None:
    attackers, defenders = 200, 60
    tracemalloc.start()
    choose_kernel(Rules(), method="lattice").compute_transitions(attackers, defenders)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * attackers**2 * defenders / 4


@for_each(
    "way",
    [
        [1],
        [1, 1],
        [2, 9],
        [9, 2],
        [1, 12, 1],
        [5, Territory(3, "capital")],
        [1, Territory(2, garrison=4), 2],
        [3, Territory(2, Rules(most_advance=11)), 1],
        [Territory(2, Rules(most_advance=30)), Territory(2, Rules(most_advance=25)), 2],
    ],
)
@for_each("keep", [0, 4])
def test_the_fewest_armies_for_a_campaign_agree_with_trying_each_number(
    way: list[int | Territory], keep: int
) -> None:
    for chance in (Fraction(1, 10**9), Fraction(1, 20), Fraction(1, 2), Fraction(99, 100)):
        needed = iacta.armies_needed_for_campaign(way, chance, keep=keep)
        few, enough = (
            iacta.Campaign(n, way)
            .outcomes(exact=True)
            .prob(lambda end: end.conquered == len(way) and end.attackers >= keep)
            if n
            else 0
            for n in (needed - 1, needed)
        )
        assert few < chance <= enough


@pytest.mark.parametrize("rules", ["classic", "balanced blitz", "defender sees first"])
def test_chances_of_many_stacks_equal_single_chances(rules: str) -> None:
    counts = [1, 2, 3, 17, 9]
    way: list[int | Territory] = [3, Territory(2, garrison=2), 4]
    found = win_probabilities_keeping(counts, way, 2, rules)
    alone = [win_probability_keeping(n, way, 2, rules) for n in counts]
    assert found == pytest.approx(alone, rel=1e-12, abs=1e-12)


def test_balanced_battles_are_looked_up_in_a_larger_table() -> None:
    rules, defenders = iacta.find_rules("balanced blitz"), 12
    shared = choose_kernel(rules)
    for attackers in (30, 29, 11, 1, 35):
        values = Values(np.linspace(1, 2, attackers + 1), np.linspace(0, 0.5, defenders + 1))
        alone = type(shared).build(rules, False, choose_kernel).value(values, defenders)
        assert shared.value(values, defenders) == pytest.approx(alone, rel=1e-12)


def test_only_rolls_with_too_many_throws_are_refused() -> None:
    refuse_many_rolls(3, 3, HOUSE)
    for ours, theirs in product((1, 6), repeat=2):
        if (ours, theirs) == (6, 6):
            with pytest.raises(TooLargeError):
                refuse_many_rolls(ours, theirs, SIX_OF_TWENTY)
        else:
            refuse_many_rolls(ours, theirs, SIX_OF_TWENTY)
