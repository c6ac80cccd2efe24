"""Chances as text: the digits that an interval supports, at all edges."""

import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import iacta
from iacta.forms.percentages import (
    NOT_KNOWN,
    format_best_found,
    format_estimate,
    format_goal_value,
    format_related,
)

CHANCES = 0.0, 1e-9, 0.00004, 0.0042, 0.0251, 0.3333, 0.5, 0.65382, 0.975, 0.99991, 1.0
ERRORS = 1e-7, 0.00004, 0.0001, 0.0007, 0.001, 0.004, 0.01, 0.03, 0.05, 0.2, 1.0


@pytest.mark.parametrize(
    ("chance", "interval", "text"),
    [
        (Fraction(0), None, "0%"),
        (Fraction(1), None, "100%"),
        (Fraction(2, 3), None, "66.67%"),
        (0.0, None, "less than 0.01%"),
        (1.0, None, "more than 99.99%"),
        (0.65382, (0.65382, 0.65382), "65.38%"),
        (0.65382, (0.65372, 0.65392), "65.38%"),
        (0.65382, (0.65371, 0.65392), "65.4%"),
        (0.65382, (0.65282, 0.65482), "65.4%"),
        (0.65382, (0.65281, 0.65482), "65%"),
        (0.65382, (0.64382, 0.66382), "65%"),
        (0.65382, (0.64381, 0.66382), "about 65%"),
        (0.67382, (0.64882, 0.69882), "about 67%"),
        (0.67382, (0.64881, 0.69882), "about 65%"),
        (0.67382, (0.62382, 0.72382), "about 65%"),
        (0.65382, (0.60381, 0.70382), NOT_KNOWN),
        (0.65382, (0.65382, 0.95), NOT_KNOWN),  # one end is far away
        (1e-6, (0.0, 2e-6), "less than 0.01%"),
        (0.0001, (0.0, 0.0176), "less than 2%"),
        (0.0001, (0.0, 0.0076), "less than 1%"),
        (0.004, (0.0, 0.012), "less than 2%"),
        (0.0, (0.0, 0.04), "less than 5%"),
        (0.0, (0.0, 0.3), NOT_KNOWN),
        (0.03, (0.0, 0.07), "about 5%"),
        (0.999, (0.99, 1.0), "more than 99%"),
        (0.995, (0.985, 1.0), "more than 98%"),
        (1.0, (0.97, 1.0), "more than 95%"),
        (0.999999, (0.99999, 1.0), "more than 99.99%"),
        (0.95, (0.93, 1.0), "about 95%"),
    ],
)
def test_a_chance_has_the_digits_that_its_interval_supports(
    chance: float, interval: tuple[float, float] | None, text: str
) -> None:
    assert format_estimate(chance, interval) == text


@pytest.mark.parametrize("chance", CHANCES)
def test_the_text_is_never_further_from_the_chance_than_its_unit(chance: float) -> None:
    lengths = []
    for error in ERRORS:
        low, high = max(chance - error, 0.0), min(chance + error, 1.0)
        text = format_estimate(chance, (low, high))
        assert text == NOT_KNOWN or re.fullmatch(
            r"(about |less than |more than )?\d+(\.\d{1,2})?%", text
        )
        if text == NOT_KNOWN:
            assert error > 0.05
            lengths.append(-1)
            continue
        number = float(re.findall(r"[\d.]+", text)[0]) / 100
        digits = len(text.partition(".")[2].rstrip("%"))
        lengths.append(digits if "about" not in text else 0)
        unit = 0.05 if "about" in text and error > 0.025 else 0.01 * 10.0**-digits
        if text.startswith("less"):
            assert chance <= high <= number + 1e-9 or error <= unit
        elif text.startswith("more"):
            assert number - 1e-9 <= low or error <= unit
        else:
            assert abs(number - chance) <= unit / 2 + 1e-9
    assert all(first >= second for first, second in pairwise(lengths)), lengths


@pytest.mark.parametrize(
    ("chance", "interval", "bound", "text"),
    [
        (0.93, None, 1.0, "at least 93%"),
        (0.95, None, 1.0, "95.00%"),  # exactly at the limit
        (0.40999, None, 0.95, "at least 40%"),
        (0.39, (0.39, 0.39), 1.0, "at least 39%"),
        (0.41, (0.3951, 0.4249), 1.0, "at least 39%"),
        (0.41, (0.409, 0.411), 0.42, "41.0%"),
        (0.41, (0.38, 0.44), 0.44, "about 40%"),
        (0.41, (0.39, 0.43), 0.44, "about 41%"),
        (0.009, None, 1.0, NOT_KNOWN),
        (0.02, (0.0, 0.04), 0.95, NOT_KNOWN),
        (0.0, None, 1.0, NOT_KNOWN),
        (0.0, None, 0.0, "less than 0.01%"),
        (Fraction(0), None, 0.0, "0%"),
        (Fraction(1), None, 1.0, "100%"),
    ],
)
def test_a_chance_far_below_its_bound_is_a_lower_bound(
    chance: float, interval: tuple[float, float] | None, bound: float, text: str
) -> None:
    assert format_best_found(chance, interval, bound) == text


def test_a_related_chance_has_the_same_digits() -> None:
    assert format_related(0.51234, 0.62, (0.6195, 0.6205)) == "51.2%"
    assert format_related(0.0001, 0.62, (0.61, 0.63)) == "less than 2%"
    assert format_related(Fraction(1), 0.62, None) == "100%"


def test_points_have_no_percent_sign() -> None:
    assert format_goal_value(3.25, (3.0, 3.5), is_chance=False) == "3.25 points"
    assert format_goal_value(0.00001, (0.0, 0.00002), is_chance=True) == "< 0.01%"


@pytest.mark.parametrize(
    ("stop", "sentence"),
    [
        ({"leave": 3, "max_rolls": 2}, "at most 3 of 10 defenders with a chance of 0%."),
        ({"max_rolls": 2}, "20 armies beat 10 with a chance of 0%, and stop with 100%."),
        ({"max_rolls": 5}, "with a chance of 0.71%, and stop with 99.29%."),
    ],
)
def test_an_end_that_takes_too_many_rolls_is_impossible(
    stop: dict[str, Any], sentence: str
) -> None:
    answer = iacta.ask("battle", attackers=20, defenders=10, **stop)
    assert answer.sentence.endswith(sentence)
