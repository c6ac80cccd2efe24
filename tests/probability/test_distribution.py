"""Distribution: exact or in floats, moments, quantiles, combinations, and refused input."""

import math
import pickle
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import Battle, Distribution, MalformedError, MissingError
from tests.cases import for_each

D6 = Distribution(range(1, 7))

exact_weights = st.dictionaries(st.integers(-9, 9), st.integers(0, 50), min_size=1).filter(
    lambda weights: any(weights.values())
)
float_weights = st.dictionaries(st.integers(-9, 9), st.floats(1e-6, 1e6), min_size=1)


def test_weights_pairs_and_values_give_the_same_distribution() -> None:
    found = Distribution({"win": 2, "lose": 4})
    assert found == Distribution(["lose", "win", "lose"])
    assert found == Distribution({"win": Fraction(1, 3), "lose": Fraction(2, 3)})
    halves = [("win", Fraction(1)), ("lose", Fraction(1, 2)), ("lose", Fraction(3, 2))]
    assert found == Distribution.from_pairs(halves)
    assert not Distribution({"win": 2, "lose": 4.0}).is_exact


def test_a_distribution_is_a_mapping_with_probability_0_for_missing_values() -> None:
    assert dict(D6) == dict.fromkeys(range(1, 7), Fraction(1, 6))
    assert D6[7] == 0
    assert 7 not in D6
    assert 6 in D6
    assert len(Distribution({"win": 1, "never": 0})) == 1


@given(float_weights)
def test_no_probability_is_above_1_and_certainty_is_exactly_1(weights: dict[int, float]) -> None:
    total = math.fsum(weights.values())
    rounded = {value: weight / total * (1 + 2e-15) for value, weight in weights.items()}
    found = Distribution.from_probabilities(rounded)
    assert found.prob(lambda _: True) == 1.0
    assert all(0 < p <= 1 for p in found.values())
    assert found.prob(lambda value: value > 0) <= 1


@given(exact_weights)
def test_exact_probabilities_sum_to_exactly_one(weights: dict[int, int]) -> None:
    found = Distribution(weights)
    assert found.is_exact
    assert sum(found.values()) == 1
    assert all(type(p) is Fraction and p > 0 for p in found.values())


@given(float_weights)
def test_float_probabilities_sum_to_one(weights: dict[int, float]) -> None:
    found = Distribution(weights)
    assert not found.is_exact
    assert math.isclose(math.fsum(map(float, found.values())), 1)


@given(exact_weights | float_weights)
def test_the_text_can_be_pasted_back(weights: dict[int, Any]) -> None:
    found = Distribution(weights)
    pasted = eval(found.to_text())  # noqa: S307 # the claim is that it can be evaluated
    assert (pasted, hash(pasted)) == (found, hash(found))
    assert repr(found) == found.to_text() or len(repr(found)) < 100 < 200 < len(found.to_text())


def test_the_repr_is_one_line() -> None:
    assert repr(D6) == "Distribution({1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1})"
    many = Distribution(range(100))
    assert repr(many) == "<Distribution: 100 values from 0 to 99, mean 49.5, exact>"
    names = Distribution(map(str, range(100))).to_float()
    assert repr(names) == "<Distribution: 100 values from '0' to '99', in floats>"
    large = repr(Distribution({10**400: 1}))  # its mean is too large for a float
    assert large == f"<Distribution: 1 value, {10**56}..., exact>"


@given(exact_weights | float_weights, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_distributions_can_be_pickled_by_every_protocol(
    weights: dict[int, Any], protocol: int
) -> None:
    found = Distribution(weights)
    again = pickle.loads(pickle.dumps(found, protocol))  # noqa: S301 # our own bytes
    assert (again, repr(again)) == (found, repr(found))


@given(exact_weights | float_weights)
def test_iteration_is_in_the_order_of_the_values(weights: dict[int, Any]) -> None:
    found = Distribution(weights)
    assert list(found) == sorted(found) == list(found.map(lambda x: -x).map(lambda x: -x))
    assert [p for _, p in found.items()] == [found[x] for x in sorted(found)]


def test_values_without_an_order_stay_as_they_were_given() -> None:
    assert list(Distribution([2, "a", 1])) == [2, "a", 1]


@given(exact_weights, exact_weights | float_weights)
def test_a_sum_is_of_independent_values(one: dict[int, Any], two: dict[int, Any]) -> None:
    first, second = Distribution(one), Distribution(two)
    pairs = first.product(second).map(sum)
    found = first + second
    assert found.is_exact == second.is_exact
    assert list(found) == list(pairs)
    assert all(found[x] == pytest.approx(pairs[x]) for x in pairs)
    assert not found.is_exact or found == pairs
    assert second + first == found


def test_a_number_is_added_to_each_value() -> None:
    assert D6 + 10 == 10 + D6 == Distribution(range(11, 17))
    assert D6 + np.int8(127) == Distribution(range(128, 134))
    assert sum([D6, D6]) == D6.repeat(2).map(sum)
    with pytest.raises(TypeError):
        D6 + "x"


@given(exact_weights | float_weights, st.integers(-9, 9))
def test_tails_complement_the_cdf(weights: dict[int, Any], value: int) -> None:
    found = Distribution(weights)
    assert found.sf(value) == pytest.approx(1 - found.cdf(value), abs=1e-12)
    assert found.at_least(value) == pytest.approx(found.sf(value) + found[value], abs=1e-12)
    assert found.median() == found.quantile(0.5)


@for_each("tail", ["cdf", "sf", "at_least"])
@for_each("value", [math.nan, Decimal("nan"), "many", None, np.array([1, 2])])
def test_values_without_an_order_have_no_tail(tail: str, value: Any) -> None:
    with pytest.raises(MalformedError, match="the values must have an order, got"):
        getattr(Distribution({1: 1, 2: 3}), tail)(value)


def test_a_table_has_a_row_for_each_value() -> None:
    frame = D6.to_frame()
    assert frame["value"].tolist() == list(D6)
    assert frame["probability"].tolist() == list(D6.values())
    ends = Battle(3, 1).outcomes().to_frame()
    assert ends.columns.tolist() == ["attackers", "defenders", "probability"]
    assert ends["attackers"].tolist() == [1, 2, 3]


def test_a_table_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingError, match=r"pip install pandas$"):
        D6.to_frame()


@given(exact_weights)
def test_equality_ignores_the_scale_of_weights(weights: dict[int, int]) -> None:
    tripled = Distribution({value: 3 * weight for value, weight in weights.items()})
    assert Distribution(weights) == tripled
    assert Distribution(weights) != Distribution(weights).to_float()


@given(exact_weights)
def test_moments_agree_with_the_definition(weights: dict[int, int]) -> None:
    found = Distribution(weights)
    mean = sum((p * x for x, p in found.items()), Fraction(0))
    assert found.mean() == mean
    assert found.variance() == sum((p * (x - mean) ** 2 for x, p in found.items()), Fraction(0))
    assert found.standard_deviation() == math.sqrt(found.variance())


@given(exact_weights, st.fractions(0, 1))
def test_quantile_is_the_least_value_that_reaches_the_level(
    weights: dict[int, int], level: Fraction
) -> None:
    found = Distribution(weights)
    quantile = found.quantile(level)
    assert found.cdf(quantile) >= level
    assert all(found.cdf(x) < level for x in found if x < quantile)


def test_a_float_level_is_the_decimal_that_shows_it() -> None:
    tenths = Distribution(range(10))
    assert [tenths.quantile(k / 10) for k in range(1, 11)] == list(range(10))


def test_mode_is_the_most_likely_value() -> None:
    assert Distribution({1: 2, 2: 3, 3: 1}).mode() == 2


def test_product_and_copies_are_independent() -> None:
    coin = Distribution("HT")
    assert D6.product(coin)[6, "H"] == Fraction(1, 12)
    assert D6.repeat(2) == D6.product(D6)
    assert D6.repeat(0) == Distribution([()])
    assert D6.product(coin.to_float())[6, "H"] == pytest.approx(1 / 12)


def test_conditioning_follows_bayes_rule() -> None:
    even = D6.condition(lambda face: face % 2 == 0)
    assert even[2] == Fraction(1, 3)
    floats = D6.to_float().condition(lambda face: face % 2 == 0)
    assert floats[2] == pytest.approx(1 / 3)


def test_map_adds_equal_results_and_keeps_floats_as_they_are() -> None:
    assert D6.map(lambda face: face > 4)[True] == Fraction(1, 3)
    quarter = Distribution.from_probabilities({1: 0.25, 2: 0.25, 3: 0.5})
    assert dict(quarter.map(lambda face: face > 2)) == {False: 0.5, True: 0.5}


def test_samples_follow_the_distribution() -> None:
    found = Distribution({"win": 3, "lose": 1})
    sample = found.sample(40_000, np.random.default_rng(3))
    # Six standard deviations of a binomial variable with 40,000 draws are 0.013.
    assert abs(sample.count("win") / 40_000 - 0.75) < 0.013
    assert sample == found.sample(40_000, np.random.default_rng(3))
    assert found.sample(0, np.random.default_rng(3)) == []
    assert sample == found.sample(40_000, 3) == found.sample(40_000, int(np.uint8(3)))
    # Equal distributions draw the same values, whatever the order in which they were given.
    assert sample == Distribution({"lose": 1, "win": 3}).sample(40_000, 3)


def test_to_float_gives_the_nearest_float_for_numbers_of_any_size() -> None:
    huge = Distribution({"win": 10**400, "lose": 2 * 10**400 + 1})
    assert huge.to_float()["win"] == float(huge["win"])


def test_a_float_quantile_is_the_least_value_whose_cdf_reaches_the_level() -> None:
    tenths = Distribution(dict.fromkeys(range(10), 0.1))
    for k in range(1, 11):
        quantile = tenths.quantile(k / 10)
        assert tenths.cdf(quantile) >= k / 10
        assert quantile == 0 or tenths.cdf(quantile - 1) < k / 10


def test_fractions_of_thousands_of_digits_are_written_out() -> None:
    huge = Distribution({"win": 10**5000, "lose": 10**5000 + 1})
    assert len(huge.to_text()) > 10_000
    assert repr(huge) == "<Distribution: 2 values from 'lose' to 'win', exact>"
    assert len(huge.markdown()) > 20_000


def test_numpy_s_numbers_do_not_overflow() -> None:
    assert Distribution(np.array([100, 127], np.int8)).mean() == Fraction(227, 2)
    assert Distribution(np.array([200, 100], np.uint8)).variance() == 2500


def test_markdown_escapes_the_bar() -> None:
    assert (
        Distribution(["a|b"]).markdown()
        == "| value | probability |\n| --- | --- |\n| a\\|b | 1/1 |"
    )
