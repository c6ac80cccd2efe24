"""Requirements against more defenders than a table could hold."""

from fractions import Fraction

import pytest

from iacta import CLASSIC, TooLargeError, armies_needed, find_rules
from iacta.methods import closed_form, leap
from iacta.questions.large_requirement import fewest_attackers, has_chance


@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("defenders", [1, 10, 90, 200])
@pytest.mark.parametrize("chance", ["0.01", "0.5", "0.95", "0.999999"])
@pytest.mark.parametrize("keep", [0, 3, 20])
def test_it_is_the_one_of_tables(rules: str, defenders: int, chance: str, keep: int) -> None:
    found = fewest_attackers(defenders, Fraction(chance), find_rules(rules), keep)
    assert found == armies_needed(defenders, chance, rules, keep=keep)


@pytest.mark.parametrize("defenders", [2001, 5000])
@pytest.mark.parametrize("chance", ["1/4", "99.9%", "1e-9"])
def test_one_army_fewer_is_too_few(defenders: int, chance: str) -> None:
    wanted = Fraction(chance) if "%" not in chance else Fraction(999, 1000)
    needed = armies_needed(defenders, chance)
    assert closed_form.win_probability(needed - 1, defenders, CLASSIC) < wanted
    assert closed_form.win_probability(needed, defenders, CLASSIC) >= wanted


@pytest.mark.parametrize("defenders", [10**6, 10**9, 10**12])
def test_any_number_of_defenders(defenders: int) -> None:
    needed = armies_needed(defenders, 0.95)
    assert leap.win_probability(needed - 1, defenders, CLASSIC) < 0.95
    assert leap.win_probability(needed, defenders, CLASSIC) >= 0.95
    kept = armies_needed(defenders, 0.95, keep=defenders)
    assert leap.both_chances(kept, defenders, CLASSIC, defenders)[0] >= 0.95
    assert leap.both_chances(kept - 1, defenders, CLASSIC, defenders)[0] < 0.95


def test_small_and_large_defences_in_one_array() -> None:
    assert armies_needed([10, 10**6], 0.95).tolist() == [19, armies_needed(10**6, 0.95)]


def test_what_floats_cannot_tell_is_decided_exactly() -> None:
    exact = closed_form.win_probability(2101, 2400, CLASSIC)
    assert has_chance(2101, 2400, exact, CLASSIC, keep=0) is True
    assert fewest_attackers(2400, exact, CLASSIC, keep=0) == 2101
    assert armies_needed(2400, exact + Fraction(1, 10**40)) == 2102
    assert armies_needed(3000, "1e-20") > armies_needed(3000, "1e-21")


def test_what_no_method_can_tell_is_not_guessed() -> None:
    capital = find_rules("capital")
    chance = Fraction(leap.both_chances(4100, 2400, capital)[0])
    assert has_chance(4100, 2400, chance, capital, keep=0) is None
    for defenders, wanted in ((10**12, "1e-20"), (10**9, "99.99999999999999999%")):
        with pytest.raises(TooLargeError, match="chance must be one that can be told"):
            armies_needed(defenders, wanted)
