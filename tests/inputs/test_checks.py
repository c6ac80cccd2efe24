"""The numbers and chances that a user gives, and how messages show them."""

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import Position, classic_board, when_to_stop
from iacta.inputs.checks import FrozenDict, parse_whole_number, shown, whole_number, whole_numbers
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.probability.chances import read_chance, read_chances, read_fraction

START = Position(classic_board(), "red", {"Ural": ("red", 3)}, others=("blue", 2))


@given(st.integers(-5, 10**30))
def test_whole_numbers_of_any_kind_are_taken(number: int) -> None:
    kinds: list[Any] = [number]
    if number < 2**63:
        kinds.append(np.int64(number))
    for value in kinds:
        if number >= 1:
            assert whole_number(value, "armies", least=1) == number
        else:
            with pytest.raises(IllegalError):
                whole_number(value, "armies", least=1)


@given(st.one_of(st.text(), st.floats(), st.none(), st.booleans(), st.lists(st.integers())))
def test_what_is_no_whole_number_is_malformed(value: Any) -> None:
    with pytest.raises(MalformedError, match="armies must be a whole number of at least 1, got"):
        whole_number(value, "armies", least=1)


@given(st.text())
def test_a_text_is_a_number_or_an_error(text: str) -> None:
    try:
        number = parse_whole_number(text, "armies")
    except IactaError as error:
        assert str(error).startswith("armies must be a whole number of at least 0, got ")
    else:
        assert number == int(text)


@given(st.text())
def test_a_text_is_a_chance_or_an_error(text: str) -> None:
    try:
        assert 0 < read_chance(text) < 1
    except IactaError as error:
        assert str(error).startswith("chance must lie between 0 and 1, both excluded, got ")


@given(st.fractions(0, 1).filter(lambda chance: 0 < chance < 1))
def test_every_way_to_write_a_chance_is_the_same(chance: Fraction) -> None:
    assert read_chance(chance) == chance
    assert read_chance(f"{chance.numerator}/{chance.denominator}") == chance
    percent = 100 * chance
    assert read_chance(f" {percent.numerator}/{percent.denominator}% ") == chance


@given(st.floats(1e-6, 1, exclude_max=True))
def test_a_float_chance_is_the_shortest_decimal_that_shows_it(chance: float) -> None:
    assert read_chance(chance) == read_chance(np.float64(chance)) == Fraction(repr(chance))
    assert read_chance(Decimal(repr(chance))) == Fraction(repr(chance))


@pytest.mark.parametrize(
    "kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_numpy_s_whole_numbers_do_not_stay_inside_fractions(kind: type[Any]) -> None:
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
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert found == {1: 2}


def test_exponents_that_would_fill_the_memory_are_refused_at_once() -> None:
    for wrong in ("1e-999999999", Decimal("1e-999999999"), "9" * 5000, "1e9999999999%"):
        with pytest.raises(IactaError):
            read_chance(wrong)


def test_chances_of_many_digits_are_read() -> None:
    assert read_chance("0." + "9" * 70) == 1 - Fraction(1, 10**70)
    assert read_chance(Decimal("1e-150")) == Fraction(1, 10**150)


def test_arrays_keep_their_shape() -> None:
    assert whole_numbers([[1, 2], [3, 4]], "armies").shape == (2, 2)
    assert whole_numbers(7, "armies").shape == ()
    assert whole_numbers(np.uint64(7), "armies") == 7
    assert whole_numbers([], "armies").shape == (0,)
    assert read_chances([["5%"], [0.5]]).tolist() == [[Fraction(1, 20)], [Fraction(1, 2)]]


def test_long_values_are_cut_in_messages() -> None:
    assert len(shown("x" * 10_000)) == 60
    assert shown(10**10_000) == "a number of thousands of digits"
    assert shown(np.float64(2.5)) == "2.5"
