"""Odds of arrays: arguments broadcast, and each element equals the answer for its battle."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import iacta
from iacta import (
    expected_attackers_left,
    expected_defenders_left,
    expected_rolls,
    win_probability,
    win_table,
)
from tests.adapters import lattice


@pytest.mark.parametrize(
    "rules", ["classic", "capital", iacta.Rules(garrison=0), iacta.Rules(garrison=3)]
)
def test_each_element_belongs_to_its_battle(rules: iacta.Rules | str) -> None:
    attackers = np.array([[1, 2, 3, 4], [30, 5, 17, 9]])
    defenders = np.array([[1], [12]])
    chances = win_probability(attackers, defenders, rules)
    ours = expected_attackers_left(attackers, defenders, rules)
    theirs = expected_defenders_left(attackers, defenders, rules)
    assert chances.shape == ours.shape == theirs.shape == (2, 4)
    for index in np.ndindex(2, 4):
        battle = iacta.Battle(int(attackers[index]), int(defenders[index[0], 0]), rules)
        bound = 2 * lattice.relative_error(30, 12, iacta.find_rules(rules))
        for value, exact in (
            (chances[index], battle.win_probability(exact=True)),
            (ours[index], battle.attackers_left(exact=True).mean()),
            (theirs[index], battle.defenders_left(exact=True).mean()),
        ):
            assert abs(value - float(exact)) <= bound * float(exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "rules", ["classic", "capital", "defender sees first", iacta.Rules(garrison=0)]
)
def test_expected_rolls_are_the_means_of_the_rolls(exact: bool, rules: iacta.Rules | str) -> None:
    attackers, defenders = np.array([[1, 2, 5, 9]]), np.array([[1], [7]])
    means = expected_rolls(attackers, defenders, rules, exact=exact)
    for i, j in np.ndindex(2, 4):
        battle = iacta.Battle(int(attackers[0, j]), int(defenders[i, 0]), rules)
        mean = battle.rolls(exact=exact).mean()
        assert means[i, j] == (mean if exact else pytest.approx(mean, rel=1e-13))


def test_expected_rolls_include_rolls_that_cost_nobody() -> None:
    for rules in ("ties cost nobody", "second die from three", "fourth die"):
        means = expected_rolls([[5], [9]], [1, 6], rules)
        for i, j in np.ndindex(2, 2):
            rolls = iacta.Battle((5, 9)[i], (1, 6)[j], rules).rolls()
            assert means[i, j] == pytest.approx(rolls.mean(), rel=1e-12)


def test_expected_rolls_are_those_of_the_chain() -> None:
    chain = iacta.Chain(12, 10)
    ours, theirs = np.array(chain.transient).T
    assert expected_rolls(ours, theirs) == pytest.approx(chain.t, rel=1e-13)


def test_expected_rolls_without_rolls_are_refused() -> None:
    for rules in ("balanced blitz", "five ones"):
        with pytest.raises(iacta.IllegalError, match="cannot be used"):
            expected_rolls(12, 10, rules)


def test_two_numbers_give_a_number() -> None:
    assert type(win_probability(12, 10)) is float
    assert type(expected_attackers_left(12, 10)) is float
    assert type(win_probability(12, 10, exact=True)) is Fraction
    assert type(win_probability(12, 10, method="counting")) is float


def test_shapes_broadcast_as_a_ufunc_s() -> None:
    assert win_probability([1, 2, 3], [[1], [2]]).shape == (2, 3)
    assert win_probability(np.zeros((0, 3), int) + 1, 1).shape == (0, 3)
    assert win_probability(np.ones((2, 1, 3), int), np.ones((4, 1), int)).shape == (2, 4, 3)


def test_exact_arrays_hold_fractions() -> None:
    chances = win_probability([2, 3], [1, 1], exact=True)
    assert chances.tolist() == [Fraction(5, 12), Fraction(1955, 2592)]


@pytest.mark.parametrize("garrison", [0, 1, 3])
def test_exact_means_are_computed_for_arrays(garrison: int) -> None:
    attackers, defenders = np.array([[1, 2, 3, 9]]), np.array([[1], [4]])
    ours = expected_attackers_left(attackers, defenders, garrison=garrison, exact=True)
    theirs = expected_defenders_left(attackers, defenders, garrison=garrison, exact=True)
    for i, j in np.ndindex(2, 4):
        battle = iacta.Battle(int(attackers[0, j]), int(defenders[i, 0]), garrison=garrison)
        assert ours[i, j] == battle.attackers_left(exact=True).mean()
        assert theirs[i, j] == battle.defenders_left(exact=True).mean()
        assert isinstance(ours[i, j], Fraction)
    counted = expected_attackers_left(attackers, defenders, garrison=garrison, method="counting")
    assert counted.dtype == float
    assert (counted == ours.astype(float)).all()


def test_a_garrison_may_exceed_all_armies() -> None:
    assert expected_attackers_left(5, 5, garrison=10**99) == 5
    assert expected_defenders_left(5, 5, garrison=10**99) == 5
    assert win_probability(5, 5, garrison=10**99) == 0
    for garrison in (3, 4, 5, 10**99):
        table = win_table(4, 3, garrison=garrison)
        assert table.shape == (4, 3)
        assert table[3].tolist() == ([0.0] * 3 if garrison > 3 else win_table(2, 3)[1].tolist())
        assert not table[:3].any()


def test_a_table_equals_the_array_of_its_battles() -> None:
    table = win_table(30, 20, "capital")
    attackers, defenders = np.arange(1, 31)[:, np.newaxis], np.arange(1, 21)
    assert table.shape == (30, 20)
    broadcast = win_probability(attackers, defenders, "capital")
    assert np.allclose(table, broadcast, rtol=1e-13, atol=0)
    exact = win_table(30, 20, "capital", exact=True)
    assert np.allclose(table, exact.astype(float), rtol=1e-13, atol=0)
    assert np.allclose(table, win_table(30, 20, "capital", method="counting"), rtol=1e-13, atol=0)


def test_very_many_defenders_are_sorted_as_well() -> None:
    assert win_probability([3, 2], [70_000, 1])[1] == win_probability(2, 1)


def test_garrison_is_one_parameter() -> None:
    assert (win_table(9, 9, garrison=0) == win_table(10, 9)[1:]).all()


@pytest.mark.parametrize("method", ["leap", "closed_form"])
def test_single_battles_equal_the_rows_of_a_table(method: str) -> None:
    attackers, defenders = [[1, 2, 12], [40, 40, 9]], [3, 10, 10]
    for function in (win_probability, expected_attackers_left, expected_defenders_left):
        rows = function(attackers, defenders, method="lattice")
        alone = function(attackers, defenders, method=method)
        assert rows.shape == alone.shape == (2, 3)
        assert np.allclose(alone, rows, rtol=1e-12, atol=0)
    table = win_table(4, 3, method=method)
    assert np.allclose(table, win_table(4, 3), rtol=1e-12, atol=0)


def test_few_large_battles_do_not_fill_a_table() -> None:
    chances = win_probability([853_401, 853_401, 10**6], [10**6, 10**9, 10**3])
    assert np.allclose(chances, [0.49583673, 0, 1], rtol=0, atol=1e-8)
    left = expected_attackers_left([10**9, 5], [10**3, 5])
    assert left[1] == pytest.approx(expected_attackers_left(5, 5), rel=1e-12)
    lost = 3000 - expected_attackers_left(3000, 10**3)
    assert 10**9 - left[0] == pytest.approx(lost, rel=1e-9)
    exact = win_probability(1001, 1000, exact=True)
    assert float(exact) == pytest.approx(win_probability(1001, 1000), rel=1e-12)


def test_large_battles_are_computed_among_small_battles() -> None:
    attackers = np.full(100_001, 5)
    attackers[[7, -1]] = 10**5, 10**9
    chances = win_probability(attackers, attackers)
    assert chances[7] == chances[-1] == 1
    assert (np.delete(chances, [7, 100_000]) == win_probability(5, 5)).all()


def test_no_chance_is_above_one() -> None:
    for rules in ("classic", iacta.Rules(attack=iacta.Dice((6,)), defence=iacta.Dice((6,)))):
        assert win_table(400, 300, rules).max() == 1
        assert win_table(3000, 3, rules).max() == 1


FUNCTIONS: dict[str, Any] = {
    "win_probability": win_probability,
    "expected_attackers_left": expected_attackers_left,
    "expected_defenders_left": expected_defenders_left,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("exact", [False, True])
def test_rules_broadcast(name: str, exact: bool) -> None:
    function, rules = FUNCTIONS[name], ["classic", "capital", iacta.find_rules("capital")]
    attackers, defenders = [[[5]], [[9]]], [[1], [4]]
    found = function(attackers, defenders, rules, exact=exact)
    assert found.shape == (2, 2, 3)
    for place, each in enumerate(rules):
        alone = function(attackers, defenders, each, exact=exact)
        assert np.array_equal(found[..., place], alone[..., 0])
    assert function(5, 4, rules, garrison=2).tolist() == [
        function(5, 4, each, garrison=2) for each in rules
    ]
    assert function(5, 4, np.array(["classic", "capital"])).shape == (2,)


def test_fewest_armies_broadcast_over_rules() -> None:
    rules = [["classic"], ["capital"]]
    assert iacta.armies_needed([1, 10], ["50%", 0.95], rules).tolist() == [
        iacta.armies_needed([1, 10], ["50%", 0.95], each).tolist() for (each,) in rules
    ]
    assert iacta.defenders_needed([5, 12], 0.9, rules).tolist() == [
        iacta.defenders_needed([5, 12], 0.9, each).tolist() for (each,) in rules
    ]
    assert iacta.armies_needed(10, Fraction(19, 20), ("classic", "capital"), keep=5).tolist() == [
        iacta.armies_needed(10, "95%", each, keep=5) for each in ("classic", "capital")
    ]


def test_there_is_a_table_for_each_rule_set() -> None:
    found = win_table(3, 4, [["classic", "capital"]])
    assert found.shape == (1, 2, 3, 4)
    assert np.array_equal(found[0, 1], win_table(3, 4, "capital"))
    assert win_table(2, 1, ["classic"], exact=True).tolist() == [
        win_table(2, 1, exact=True).tolist()
    ]


def test_whole_numbers_may_be_stored_as_floats() -> None:
    frame = pd.DataFrame({"ours": [12.0, 8.0, 2.0**31], "theirs": [10.0, 10.0, 5.0]})
    found = win_probability(frame["ours"], frame["theirs"])
    assert found.tolist() == win_probability([12, 8, 2**31], [10, 10, 5]).tolist()
