"""Defence: the fewest defenders that hold a territory with a required chance."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, Battle, Dice, IllegalError, Rules, defenders_needed
from iacta.odds import needed
from iacta.probability.chances import read_chance
from tests import brute, strategies
from tests.adapters import closed_form, leap
from tests.cases import for_each

CHANCES = [Fraction(p, 100) for p in (1, 10, 50, 75, 90, 95, 99)]


@pytest.mark.parametrize("rules", ["classic", "capital", "zombie attacker", "risiko"])
def test_the_result_is_the_first_number_of_a_scan_in_fractions(rules: str) -> None:
    lost = iacta.win_table(25, 70, rules, exact=True)
    scanned = [
        [next(d for d in range(1, 71) if 1 - row[d - 1] >= chance) for chance in CHANCES]
        for row in lost
    ]
    assert defenders_needed(np.arange(1, 26)[:, np.newaxis], [CHANCES], rules).tolist() == scanned


@settings(max_examples=40)
@given(strategies.rules(), st.integers(1, 6), st.fractions("1/1000", "999/1000"))
def test_the_result_is_the_first_number_that_the_twin_finds(
    rules: Rules, attackers: int, chance: Fraction
) -> None:
    most = 16
    first = next(
        (d for d in range(1, most + 1) if 1 - brute.win_probability(attackers, d, rules) >= chance),
        None,
    )
    try:
        needed = defenders_needed(attackers, chance, rules)
    except IllegalError:
        assert first is None
    else:
        assert needed == first or (first is None and needed > most)


@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("defenders", [1, 2, 3, 10, 60])
def test_a_chance_that_is_reached_exactly_counts(rules: str, defenders: int) -> None:
    attackers = defenders + 4
    won = Battle(attackers, defenders, rules).win_probability(exact=True)
    assert isinstance(won, Fraction)
    hair = Fraction(1, 10**40)
    assert defenders_needed(attackers, 1 - won, rules) == defenders
    assert defenders_needed(attackers, 1 - won - hair, rules) == defenders
    assert defenders_needed(attackers, 1 - won + hair, rules) == defenders + 1


@for_each("attackers", [2, 9, 40, 200])
@for_each("chance", ["1%", "50%", "95%", "0.999999"])
def test_both_sides_of_the_table_agree(attackers: int, chance: str) -> None:
    defenders = defenders_needed(attackers, chance)
    lost = 1 - read_chance(chance)
    # The attackers win with a chance of at most `lost`, and with more if one fewer defends.
    assert Battle(attackers, defenders).win_probability(exact=True) <= lost
    assert iacta.armies_needed(defenders, lost) >= attackers
    if defenders > 1:
        assert iacta.armies_needed(defenders - 1, lost) <= attackers


def test_attackers_who_cannot_attack_need_one_defender() -> None:
    assert defenders_needed(1, 0.999) == 1
    assert defenders_needed([1, 2, 3, 4], 0.999, garrison=3).tolist()[:3] == [1, 1, 1]
    assert defenders_needed(1, 0.5, garrison=0) == 1
    assert defenders_needed(1, 0.9, garrison=0) > 1


def test_chances_very_close_to_one_are_correct() -> None:
    for power in (30, 139, 141, 180):
        chance = 1 - Fraction(1, 10**power)
        defenders = defenders_needed(12, chance)
        assert 1 - Battle(12, defenders).win_probability(exact=True) >= chance
        assert 1 - Battle(12, defenders - 1).win_probability(exact=True) < chance


def test_shapes_broadcast() -> None:
    needed = defenders_needed([[5], [10], [20]], [0.5, "95%"])
    assert needed.shape == (3, 2)
    assert needed.dtype == np.int64
    assert needed[2, 1] == defenders_needed(20, Fraction(19, 20))
    assert type(defenders_needed(5, 0.5)) is int
    assert defenders_needed(np.zeros(0, int) + 1, 0.5).shape == (0,)


@for_each("rules", ["classic", "capital"])
@for_each("attackers", [2, 10, 90, 200])
@for_each("chance", ["0.01", "0.5", "0.95", "0.999999"])
def test_searches_by_leaps_and_by_tables_agree(
    monkeypatch: pytest.MonkeyPatch, rules: str, attackers: int, chance: str
) -> None:
    by_tables = defenders_needed(attackers, chance, rules)
    monkeypatch.setattr(needed, "MAX_TABLE_ARMIES", 0)
    assert defenders_needed(attackers, chance, rules) == by_tables


@pytest.mark.parametrize("attackers", [2001])
@pytest.mark.parametrize("chance", ["1/4", "0.999", "0.999999999"])
def test_one_defender_less_is_not_enough(attackers: int, chance: str) -> None:
    needed = defenders_needed(attackers, chance)
    assert closed_form.win_probability(attackers, needed - 1, CLASSIC) > 1 - Fraction(chance)
    assert closed_form.win_probability(attackers, needed, CLASSIC) <= 1 - Fraction(chance)


@pytest.mark.parametrize("attackers", [10**6, 10**9, 10**12])
def test_any_number_of_attackers_is_accepted(attackers: int) -> None:
    needed = defenders_needed(attackers, 0.95)
    assert leap.both_chances(attackers, needed, CLASSIC)[1] >= 0.95
    assert leap.both_chances(attackers, needed - 1, CLASSIC)[1] < 0.95
    assert defenders_needed([10, attackers], 0.95).tolist() == [defenders_needed(10, 0.95), needed]


def test_fractions_decide_where_floats_cannot_or_nothing_is_claimed() -> None:
    won = closed_form.win_probability(2101, 2400, CLASSIC)
    assert defenders_needed(2101, 1 - won) == 2400
    assert defenders_needed(2101, 1 - won + Fraction(1, 10**40)) == 2401


def test_a_chance_that_no_number_of_defenders_reaches_is_refused() -> None:
    sure = Rules(attack=Dice((6,), clamp=(6, 6)), defence=Dice((1,)))
    with pytest.raises(IllegalError, match="no number of defenders reaches that chance, got '50%'"):
        defenders_needed(3, 0.5, sure)
    # Each roll is a coin toss, so one attacker beats n defenders with a chance of 2^-n.
    coin = Rules(attack=Dice((2,)), defence=Dice((1,)), garrison=0)
    assert defenders_needed(1, Fraction(15, 16), coin) == 4
    # Three dice always win against two, so nine attackers beat any even number of defenders.
    three = Rules(full_attack=Dice((6, 6, 6), bonus=(9, 9, 9)))
    with pytest.raises(IllegalError, match="no number of defenders reaches that chance"):
        defenders_needed(9, 0.5, three)


@pytest.mark.parametrize("rules", ["balanced blitz", "capital+balanced blitz"])
def test_with_balanced_blitz_the_result_is_the_first_in_the_table(rules: str) -> None:
    lost = iacta.win_table(25, 90, rules)
    for chance in (0.1, 0.5, 0.9, 0.99):
        scanned = [next(d for d in range(1, 91) if 1 - row[d - 1] >= chance) for row in lost]
        assert defenders_needed(np.arange(1, 26), chance, rules).tolist() == scanned
    certain = [next(d for d in range(1, 91) if row[d - 1] == 0) for row in lost]
    assert defenders_needed(np.arange(1, 26), "100%", rules).tolist() == certain
