"""Parsing of numbers and chances, and their format in messages."""

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import iacta.probability.distribution
from iacta import (
    Distribution,
    Hand,
    Position,
    classic_board,
    when_to_stop,
)
from iacta.inputs.checks import FrozenDict, parse_int, quote, read_int, read_int_array
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.probability.chances import read_chance, read_chances, read_fraction
from tests.cases import for_each

START = Position(classic_board(), "red", {"Ural": ("red", 3)}, others=("blue", 2))


@given(st.integers(-5, 10**30))
def test_whole_numbers_of_any_type_are_accepted(number: int) -> None:
    kinds: list[Any] = [number]
    if number < 2**63:
        kinds.append(np.int64(number))
    for value in kinds:
        if number >= 1:
            assert read_int(value, "armies", minimum=1) == number
        else:
            with pytest.raises(IllegalError):
                read_int(value, "armies", minimum=1)


@given(st.one_of(st.text(), st.floats(), st.none(), st.booleans(), st.lists(st.integers())))
def test_other_values_are_malformed(value: Any) -> None:
    with pytest.raises(MalformedError, match="armies must be a whole number of at least 1, got"):
        read_int(value, "armies", minimum=1)


@given(st.text())
def test_a_text_is_parsed_as_a_number_or_is_an_error(text: str) -> None:
    try:
        number = parse_int(text, "armies")
    except IactaError as error:
        assert str(error).startswith("armies must be a whole number of at least 0, got ")
    else:
        assert number == int(text)


@given(st.text())
def test_a_text_is_parsed_as_a_chance_or_is_an_error(text: str) -> None:
    try:
        assert 0 < read_chance(text) < 1
    except IactaError as error:
        sentences = "chance must lie between 0 and 1, both excluded, ", "nothing is certain: "
        assert str(error).startswith(sentences)


@for_each(
    ("text", "chance"),
    [
        *[("75", 75), ("75%", 75), ("0.75", 75), (" 3/4 ", 75), ("1", 1), ("7.5", Fraction(15, 2))],
        *[("1.0", 100), ("100", 100), ("100%", 100), ("0.01", 1), ("1%", 1), ("1/1", 100)],
    ],
)
def test_a_typed_number_is_a_percentage_unless_it_is_a_decimal_below_1(
    text: str, chance: Fraction
) -> None:
    assert 100 * read_chance(text, certain=True) == chance
    if chance == 100:
        with pytest.raises(IactaError, match=r"^nothing is certain: enter less than 100%, got"):
            read_chance(text)


@for_each(
    ("text", "certain", "impossible", "message"),
    [
        ("0", True, False, "between 0 and 1, 0 excluded, got '0'"),
        ("0%", True, False, "between 0% and 100%, 0% excluded, got '0%'"),
        ("-1%", False, True, "between 0% and 100%, 100% excluded, got '-1%'"),
        ("200%", True, True, "between 0% and 100%, got '200%'"),
        ("0%", False, False, "between 0% and 100%, both excluded, got '0%'"),
    ],
)
def test_the_message_for_a_refused_chance_states_the_excluded_ends(
    text: str, certain: bool, impossible: bool, message: str
) -> None:
    with pytest.raises(IactaError, match=f"^chance must lie {message}$"):
        read_chance(text, certain=certain, impossible=impossible)


@for_each("text", ["0", "0%", "0.0", "0.00%", "0/7"])
def test_a_chance_of_0_is_read_where_it_is_allowed(text: str) -> None:
    assert read_chance(text, impossible=True) == 0


@given(st.fractions(0, 1).filter(lambda chance: 0 < chance < 1))
def test_all_notations_of_a_chance_are_equal(chance: Fraction) -> None:
    assert read_chance(chance) == chance
    assert read_chance(f"{chance.numerator}/{chance.denominator}") == chance
    percent = 100 * chance
    assert read_chance(f" {percent.numerator}/{percent.denominator}% ") == chance


@given(st.floats(1e-6, 1, exclude_max=True))
def test_a_float_chance_becomes_its_shortest_decimal(chance: float) -> None:
    assert read_chance(chance) == read_chance(np.float64(chance)) == Fraction(repr(chance))
    assert read_chance(Decimal(repr(chance))) == Fraction(repr(chance))


@pytest.mark.parametrize(
    "kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_fractions_of_numpy_integers_become_python_fractions(kind: type[Any]) -> None:
    for value in (kind(3), Fraction(kind(3))):
        found = read_fraction(value, "prize", "be a number")
        assert found == 3
        assert type(found.numerator) is type(found.denominator) is int
    assert when_to_stop(12, 6, prize=kind(3), army_value=kind(1)).value == 12


def test_a_frozen_dict_cannot_be_changed() -> None:
    found = FrozenDict({1: 2})
    assert (found, hash(found)) == ({1: 2}, hash(FrozenDict({1: 2})))
    assert (repr(found), pickle.loads(pickle.dumps(found))) == ("{1: 2}", found)  # noqa: S301
    changes: list[Callable[[], object]] = [
        lambda: found.__setitem__(1, 3),
        lambda: found.__delitem__(1),
        lambda: found.__ior__({3: 4}),
        found.clear,
        found.popitem,
        lambda: found.pop(1),
        lambda: found.setdefault(5, 6),
        lambda: found.update({1: 3}),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="are immutable"):
            change()
    assert found == {1: 2}


def test_huge_exponents_are_refused_at_once() -> None:
    for wrong in ("1e-999999999", Decimal("1e-999999999"), "9" * 5000, "1e9999999999%"):
        with pytest.raises(IactaError):
            read_chance(wrong)


def test_chances_may_have_many_digits() -> None:
    assert read_chance("0." + "9" * 70) == 1 - Fraction(1, 10**70)
    assert read_chance(Decimal("1e-150")) == Fraction(1, 10**150)


def test_arrays_keep_their_shape() -> None:
    assert read_int_array([[1, 2], [3, 4]], "armies").shape == (2, 2)
    assert read_int_array(7, "armies").shape == ()
    assert read_int_array(np.uint64(7), "armies") == 7
    assert read_int_array([], "armies").shape == (0,)
    assert read_chances([["5%"], [0.5]]).tolist() == [[Fraction(1, 20)], [Fraction(1, 2)]]


def test_messages_shorten_long_values() -> None:
    assert len(quote("x" * 10_000)) == 60
    assert quote(10**10_000) == "a number with thousands of digits"
    assert quote(np.float64(2.5)) == "2.5"


def test_a_distribution_has_a_maximum_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iacta.probability.distribution, "MAX_VALUES", 1000)
    assert len(Distribution(range(1000))) == 1000
    for read in (Distribution, lambda values: Distribution.from_pairs((n, 1) for n in values)):
        with pytest.raises(TooLargeError, match="a distribution must have at most 1,000 values"):
            read(count())


def test_a_hand_survives_repr_pickle_and_arithmetic() -> None:
    hand = Hand(2, jokers=1, territories=["Peru"])
    assert tuple(hand) == (2, 0, 0, 1, 0, ("Peru",))
    assert eval(repr(hand)) == hand  # noqa: S307 # our own text
    assert pickle.loads(pickle.dumps(hand)) == hand  # noqa: S301 # our own bytes
    assert type(hand._replace(unknown=2)) is type(hand + hand) is Hand
