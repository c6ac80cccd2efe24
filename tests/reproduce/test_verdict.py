"""When a published value agrees with ours, and when it is an erratum."""

from fractions import Fraction

import pytest

from iacta import MalformedError
from iacta_literature.verdict import Number, Published, compare

AGREEING: list[tuple[Number, Published]] = [
    (Fraction(5, 12), Published("0.417")),
    (Fraction(5, 12), Published("15/36")),
    (Fraction(1, 8), Published("0.12")),  # a tie, broken to even
    (Fraction(1, 8), Published("0.13")),  # and up
    (Fraction(9996, 10000), Published("1.000")),
    (Fraction(1, 10**6), Published("0.000")),
    (Fraction(9159, 10000), Published("91.5%", "truncated")),
    (Fraction(735, 1000), Published("73%")),
    (0.73, Published("73%")),
    (6, Published("6")),
    (Fraction(19, 10), Published("2", "about")),
    (0.7194339370737597, Published("0.7194339370737594", "float")),
    (0.719434, Published("0.7178", "simulated", runs=10_000)),
    (0.69, Published("0.65 to 0.75", "range")),
    (0.81, Published("0.8", "above")),
    (0.0, Published("0.001", "below")),
    ("0 and 2", Published("0 and 2", "text")),
]

DIFFERING: list[tuple[Number, Published]] = [
    (Fraction(5, 12), Published("0.416")),
    (Fraction(5, 12), Published("0.4167001")),
    (Fraction(5, 12), Published("14/36")),
    (Fraction(125, 1000), Published("0.124")),
    (Fraction(9160, 10000), Published("91.5%", "truncated")),
    (Fraction(9149, 10000), Published("91.5%", "truncated")),
    (Fraction(19, 10), Published("2")),
    (7, Published("6")),
    (0.719433937073, Published("0.7194339370737594", "float")),
    (0.719434, Published("0.7178", "simulated", runs=10_000_000)),
    (0.64, Published("0.65 to 0.75", "range")),
    (Fraction(4, 5), Published("0.8", "above")),
    ("0 and 2", Published("2 and 0", "text")),
]


@pytest.mark.parametrize(("ours", "published"), AGREEING)
def test_values_agree_at_the_digits_that_are_printed(ours: Number, published: Published) -> None:
    assert compare(ours, published).verdict == "agrees"


@pytest.mark.parametrize(("ours", "published"), DIFFERING)
def test_what_is_off_by_a_digit_differs(ours: Number, published: Published) -> None:
    assert compare(ours, published).verdict == "differs"


def test_an_erratum_must_be_wrong_and_our_value_right() -> None:
    hendel = Published("5", right="6", erratum="hendel")
    assert [compare(ours, hendel).verdict for ours in (5, 6, 7)] == [
        "differs",
        "erratum",
        "differs",
    ]


def test_the_difference_is_ours_less_the_published_value() -> None:
    assert compare(Fraction(1, 2), Published("0.25")).difference == 0.25
    assert compare(Fraction(1, 2), Published("0.65 to 0.75", "range")).difference is None
    assert compare("1 and 1", Published("1 and 1", "text")).difference is None


def test_our_value_is_written_as_the_published_one() -> None:
    assert compare(Fraction(5, 12), Published("15/36")).ours_text == "5/12"
    assert compare(Fraction(5, 12), Published("0.417")).ours_text == "0.4166666666666667"
    assert compare(Fraction(7776), Published("7776")).ours_text == "7776"


def test_a_simulated_value_is_labelled_so() -> None:
    simulated = compare(0.7194, Published("0.7178", "simulated", runs=10_000))
    assert simulated.how == "within the sampling interval (99.9%)"


@pytest.mark.parametrize("published", [Published("many"), Published("1/0"), Published("1", "odd")])
def test_a_value_that_cannot_be_read_is_refused(published: Published) -> None:
    with pytest.raises(MalformedError):
        compare(1, published)
