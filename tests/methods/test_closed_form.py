"""Taflin's closed form, an exact method based on his equations."""

from collections.abc import Callable
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, Battle, Dice, IllegalError, Rules
from iacta.methods import choose_kernel
from tests import brute
from tests.adapters import closed_form
from tests.cases import for_each
from tests.three_against_two import EDGES, SEVERAL_RULES

LONG = [*EDGES, (90, 7), (7, 90), (60, 61)]


def dice(keep: int) -> st.SearchStrategy[Dice]:
    """Draw dice with a given number of kept dice."""
    faces = st.lists(st.integers(1, 5), min_size=keep, max_size=keep + 1).map(tuple)
    bonus = st.lists(st.integers(-3, 3), max_size=keep).map(tuple)
    return st.builds(Dice, faces, st.just(keep), bonus=bonus)


@settings(max_examples=80)
@given(
    st.builds(
        Rules,
        attack=dice(3),
        defence=dice(2),
        full_attack=st.none() | dice(3),
        full_defence=st.none() | dice(2),
        ties=st.sampled_from(("attacker", "defender")),
        garrison=st.integers(0, 3),
    ),
    st.integers(1, 10),
    st.integers(1, 9),
)
def test_the_method_agrees_with_the_twin_under_any_rules(
    rules: Rules, attackers: int, defenders: int
) -> None:
    outcomes = closed_form.outcomes(iacta.Distribution([attackers]), defenders, rules)
    assert dict(outcomes) == brute.outcomes(attackers, defenders, rules)
    won = closed_form.win_probability(attackers, defenders, rules)
    assert won == brute.win_probability(attackers, defenders, rules)


@for_each("name", SEVERAL_RULES)
@for_each(
    ("attackers", "defenders"),
    [(1, [1]), (3, [1, 1]), (12, [10]), (12, [3, 1, 2]), (20, [1, 5, 2, 1, 4]), (9, [1] * 9)],
)
def test_a_sequence_is_a_campaign(name: str, attackers: int, defenders: list[int]) -> None:
    rules = SEVERAL_RULES[name]
    campaign = iacta.Campaign(attackers, defenders, rules)
    chance = closed_form.conquer_in_sequence(attackers, defenders, rules)
    assert chance == campaign.win_probability(exact=True, method="counting")
    assert chance == campaign.win_probability(exact=True, method="closed_form")


def test_values_that_are_not_sequences_are_refused() -> None:
    with pytest.raises(IllegalError, match="missing countries"):
        closed_form.conquer_in_sequence(3, [], CLASSIC)
    with pytest.raises(IllegalError, match=r"defenders must be .* at least 1, got 0"):
        closed_form.conquer_in_sequence(3, [1, 0], CLASSIC)
    with pytest.raises(IllegalError, match=r"attackers must be .* at least 1, got -3"):
        closed_form.conquer_in_sequence(-3, [1], CLASSIC)
    with pytest.raises(iacta.MalformedError, match="countries must be a list"):
        closed_form.conquer_in_sequence(3, 5, CLASSIC)
    with pytest.raises(iacta.TooLargeError):
        closed_form.conquer_in_sequence(10**6, [10**6, 10**6], CLASSIC)


def test_a_thousand_against_a_thousand_is_exact() -> None:
    exact = closed_form.win_probability(1000, 1000, CLASSIC)
    assert isclose(exact, Battle(1000, 1000).win_probability(), rel_tol=1e-11)
    assert Battle(100, 100).win_probability(exact=True, method="closed_form") == Battle(
        100, 100
    ).win_probability(exact=True, method="counting")


@pytest.mark.parametrize(
    "rules",
    [
        iacta.find_rules("capital"),
        Rules(attack=Dice((6, 6))),
        Rules(attack=Dice((6, 6, 6), keep=2)),
    ],
)
def test_other_dice_are_refused_and_left_to_counting(rules: Rules) -> None:
    sentence = r"rules must keep 3 attack dice and 2 defence dice .*'closed_form', got "
    stack = iacta.Distribution([9])
    asks: list[Callable[[], object]] = [
        lambda: closed_form.refuse(9, 5, rules),
        lambda: closed_form.win_probability(9, 5, rules),
        lambda: closed_form.outcomes(stack, 5, rules),
        lambda: closed_form.conquer_in_sequence(9, [5], rules),
    ]
    for ask in asks:
        with pytest.raises(IllegalError, match=sentence):
            ask()
    assert choose_kernel(rules, exact=True).for_question("chance", 8, 5).name == "counting"
    with pytest.raises(iacta.TooLargeError, match="'counting'"):  # the dice are not at fault
        choose_kernel(rules, exact=True).for_question("chance", 10**9, 10**9)


def test_single_chances_come_from_the_closed_form() -> None:
    assert choose_kernel(CLASSIC, exact=True).for_question("chance", 11, 10).name == "closed_form"
    assert (
        choose_kernel(CLASSIC, exact=True).for_question("distribution", 11, 10).name
        == "closed_form"
    )
    assert choose_kernel(CLASSIC, exact=True).for_question("stack", 11, 10).name == "counting"
    assert closed_form.relative_error(12, 10, CLASSIC) == 0
