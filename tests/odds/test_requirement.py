"""Requirement: the fewest armies for a required chance."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import (
    Battle,
    Campaign,
    Dice,
    StopRule,
    Territory,
    armies_needed,
    armies_needed_for_campaign,
)
from iacta.methods import choose_kernel
from iacta.odds import needed as needed_module
from tests import brute, strategies
from tests.adapters import win_probability_keeping
from tests.cases import for_each
from tests.published import read_rows

CHANCES = [Fraction(p, 100) for p in (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)]


@for_each("row", read_rows("armies_needed"))
def test_published_requirements_agree(row: dict[str, str]) -> None:
    needed = armies_needed(
        int(row["defenders"]), float(row["chance"]), row["rules"], garrison=int(row["garrison"])
    )
    assert needed == int(row["attackers"])


@pytest.mark.parametrize("rules", ["classic", "capital"])
def test_van_wijgerden_s_table_agrees_in_fractions(rules: str) -> None:
    size = 200
    needed = armies_needed(np.arange(1, size + 1)[:, np.newaxis], [CHANCES], rules)
    twin = exact_requirements(size, int(needed.max()), iacta.find_rules(rules))
    assert needed.tolist() == twin


def exact_requirements(defenders: int, attackers: int, rules: iacta.Rules) -> list[list[int]]:
    """Return the armies needed for each chance, computed with whole numbers.

    The chance P(a, d) is stored as P(a, d) · U^(a+d), where U is a common denominator.
    """
    unit = 432
    steps = {
        (i, j): [int(p * unit ** min(i, j)) for _, p in sorted(distribution.items(), reverse=True)]
        for i in range(1, 4)
        for j in range(1, rules.defence.kept + 1)
        for distribution in [brute.roll_losses(i, j, rules)]
    }
    powers = [unit**n for n in range(attackers + defenders + 1)]
    rows = [powers[:attackers]]
    table = []
    for d in range(1, defenders + 1):
        row = [0]
        dice = min(d, rules.defence.kept)
        for a in range(1, attackers):
            step = steps[min(a, 3), dice]
            first = a - len(step) + 1
            row.append(sum(c * (rows[d - k] if k else row)[first + k] for k, c in enumerate(step)))
        rows.append(row)
        table.append(
            [
                1
                + next(
                    a
                    for a in range(1, attackers)
                    if row[a] * chance.denominator >= chance.numerator * powers[a + d]
                )
                for chance in CHANCES
            ]
        )
    return table


@for_each("rules", ["classic", "capital", "zombie defender"])
@for_each("defenders", [1, 2, 3, 10, 60])
def test_a_chance_that_is_reached_exactly_counts(rules: str, defenders: int) -> None:
    attackers = defenders + 4
    chance = Battle(attackers, defenders, rules).win_probability(exact=True)
    assert isinstance(chance, Fraction)
    hair = Fraction(1, 10**40)
    assert armies_needed(defenders, chance, rules) == attackers
    assert armies_needed(defenders, chance - hair, rules) == attackers
    assert armies_needed(defenders, chance + hair, rules) == attackers + 1


def test_a_float_chance_is_the_decimal_that_shows_it() -> None:
    # With one die each, the attacker wins a roll with 1/2, so n able armies win with 1 - 2^-n.
    coin = iacta.Rules(attack=Dice((2,)), defence=Dice((1,)))
    assert armies_needed(1, 0.9375, coin) == 5
    assert armies_needed(1, 0.9, coin) == armies_needed(1, "90%", coin)
    # The float 0.3 is slightly less than 3/10, the exact chance with one die of ten faces.
    tenth = iacta.Rules(attack=Dice((10,)), defence=Dice((7,), clamp=(7, 7)))
    assert Battle(2, 1, tenth).win_probability(exact=True) == Fraction(3, 10)
    assert armies_needed(1, 0.3, tenth) == 2
    assert armies_needed(1, 0.30000000000000004, tenth) == 3


@settings(max_examples=40)
@given(strategies.rules(), st.integers(1, 6), st.fractions("1/1000", "999/1000"), st.integers(0, 4))
def test_the_result_is_the_first_number_that_the_twin_finds(
    rules: iacta.Rules, defenders: int, chance: Fraction, keep: int
) -> None:
    most = 25

    def success(attackers: int) -> Fraction:
        outcomes = brute.outcomes(attackers, defenders, rules)
        return sum(
            (p for (a, d), p in outcomes.items() if not d and a - rules.garrison >= keep),
            Fraction(0),
        )

    first = next((n for n in range(1, most + 1) if success(n) >= chance), None)
    try:
        needed = armies_needed(defenders, chance, rules, keep=keep)
    except iacta.IllegalError:
        assert first is None
    else:
        assert needed == first or (first is None and needed > most)


def test_armies_to_keep_stand_in_the_last_territory() -> None:
    for keep in (0, 1, 2, 5):
        needed = armies_needed(4, "80%", keep=keep)
        assert needed == armies_needed_for_campaign([4], "80%", keep=keep)
        for attackers, enough in ((needed, True), (needed - 1, False)):
            outcomes = Battle(attackers, 4).outcomes(exact=True)
            chance = sum(p for (a, d), p in outcomes.items() if not d and a - 1 >= keep)
            assert (chance >= Fraction(4, 5)) is enough
    assert armies_needed(4, "80%", keep=0) == armies_needed(4, "80%", keep=1)


def test_a_campaign_can_reach_a_chance_exactly() -> None:
    way = [5, 3, 2]
    chance = Campaign(17, way).win_probability(exact=True)
    assert isinstance(chance, Fraction)
    assert armies_needed_for_campaign(way, chance) == 17
    assert armies_needed_for_campaign(way, chance + Fraction(1, 10**50)) == 18


def test_win_probability_keeping_is_that_of_campaign() -> None:
    way = [5, 3, 2]
    outcomes = Campaign(20, way).outcomes(exact=True)
    for keep in (0, 1, 4):
        expected = sum(p for (n, a, _), p in outcomes.items() if n == 3 and a >= keep)
        assert win_probability_keeping(20, way, keep, exact=True) == expected
        assert abs(win_probability_keeping(20, way, keep) - float(expected)) < 1e-14


def test_shapes_broadcast() -> None:
    needed = armies_needed([[1], [2], [3]], [0.5, "95%"])
    assert needed.shape == (3, 2)
    assert needed.dtype == np.int64
    assert needed[2, 1] == armies_needed(3, Decimal("0.95"))
    assert type(armies_needed(3, 0.5)) is int
    assert armies_needed(np.zeros(0, int) + 1, 0.5).shape == (0,)


def test_very_high_and_very_low_chances_are_correct() -> None:
    high, low = Fraction(10**30 - 1, 10**30), Fraction(1, 10**30)
    table = iacta.win_table(200, 2, exact=True)[:, 1]
    assert armies_needed(2, high) == 1 + int(np.argmax(table >= high))
    assert armies_needed(2, low) == 2
    assert armies_needed(60, low) == 1 + int(
        np.argmax(iacta.win_table(40, 60, exact=True)[:, 59] >= low)
    )


def test_chances_too_small_for_a_float_are_decided_by_fractions() -> None:
    assert armies_needed(10, Fraction(1, 10**400)) == 2
    for defenders, power in ((600, 330), (600, 145), (300, 160)):
        chance = Fraction(1, 10**power)
        needed = armies_needed(defenders, chance)
        assert Battle(needed, defenders).win_probability(exact=True) >= chance
        assert Battle(needed - 1, defenders).win_probability(exact=True) < chance
        assert armies_needed_for_campaign([defenders], chance) == needed


def test_few_attackers_may_reach_a_chance_that_many_do_not() -> None:
    # All three dice show 1 and never win; two dice are normal.
    rules = iacta.Rules(full_attack=Dice((1, 1, 1)))
    assert armies_needed(2, 0.3, rules) == 3
    assert Battle(3, 2, rules).win_probability() > 0.3
    with pytest.raises(iacta.IllegalError, match="number of attackers reaches"):
        armies_needed(2, 0.5, rules)


def test_a_chance_equal_to_the_limit_is_refused() -> None:
    # Two defenders can only be lost in the same roll, because one defender alone always wins.
    rules = iacta.Rules(
        attack=Dice((6, 6)), defence=Dice((6, 6), clamp=(9, 9)), full_defence=Dice((6, 6))
    )
    limit = Fraction(295, 295 + 420)
    assert armies_needed(2, limit - Fraction(1, 100), rules) < 30
    with pytest.raises(iacta.IllegalError, match="number of attackers reaches"):
        armies_needed(2, limit, rules)


# Too many defenders for a table.


def chance_to_win(attackers: int, defenders: int, keep: int = 0) -> float:
    """Return the chance to win a large battle and keep `keep` armies and a garrison of 1."""
    return float(choose_kernel(iacta.CLASSIC).chances(attackers - 1, defenders, keep).won)


@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("keep", [0, 3, 20])
def test_one_battle_at_a_time_shows_what_tables_show(
    monkeypatch: pytest.MonkeyPatch, rules: str, keep: int
) -> None:
    asked = [[1], [10], [90], [200]], ["0.01", "0.5", "0.95", "0.999999"]
    by_tables = armies_needed(*asked, rules, keep=keep)
    monkeypatch.setattr(needed_module, "MAX_TABLE_ARMIES", 0)
    assert (armies_needed(*asked, rules, keep=keep) == by_tables).all()


@pytest.mark.parametrize("defenders", [2001, 5000])
@pytest.mark.parametrize("chance", ["1/4", "0.999", "1e-9"])
@pytest.mark.slow
def test_one_army_less_is_not_enough(defenders: int, chance: str) -> None:
    attackers, wanted = armies_needed(defenders, chance), Fraction(chance)
    assert Battle(attackers - 1, defenders).win_probability(exact=True) < wanted
    assert Battle(attackers, defenders).win_probability(exact=True) >= wanted


@pytest.mark.parametrize("defenders", [10**6, 10**9, 10**12])
def test_any_number_of_defenders_is_accepted(defenders: int) -> None:
    attackers = armies_needed(defenders, 0.95)
    assert chance_to_win(attackers - 1, defenders) < 0.95 <= chance_to_win(attackers, defenders)
    kept = armies_needed(defenders, 0.95, keep=defenders)
    assert chance_to_win(kept - 1, defenders, defenders) < 0.95
    assert chance_to_win(kept, defenders, defenders) >= 0.95


def test_small_and_large_defences_in_one_array() -> None:
    assert armies_needed([10, 10**6], 0.95).tolist() == [19, armies_needed(10**6, 0.95)]


def test_fractions_decide_where_floats_cannot() -> None:
    exact = Battle(2101, 2400).win_probability(exact=True)
    assert isinstance(exact, Fraction)
    assert armies_needed(2400, exact) == 2101
    assert armies_needed(2400, exact + Fraction(1, 10**40)) == 2102
    assert armies_needed(2001, "1e-20") > armies_needed(2001, "1e-21")


def test_chances_next_to_one_are_decided_by_the_chance_to_fail() -> None:
    assert armies_needed(1990, "0.9999999999") == 2136
    way: list[int | Territory] = [3, Territory(2, "balanced blitz")]
    for power, fewest in ((16, 70), (17, 74)):
        chance = 1 - Fraction(1, 10**power)
        assert armies_needed_for_campaign(way, chance) == fewest
        lost = 1 - choose_kernel(iacta.CLASSIC, exact=True).win_probability(fewest - 1, 3)
        assert lost < 1 - chance


def test_chances_too_small_for_large_battles_are_decided_by_tables() -> None:
    attackers = armies_needed(2400, "1e-20", "capital")
    for number, reaches in ((attackers, True), (attackers - 1, False)):
        (row,) = list(
            choose_kernel(iacta.find_rules("capital")).run_backward(values(number, 2400))
        )[-1:]
        assert (row[number - 1] >= 1e-20) == reaches


def values(attackers: int, defenders: int) -> Any:
    """Return values of 1 for a victory and 0 for a defeat."""
    from iacta.methods.kernel import Values

    return Values(np.ones(attackers), np.zeros(defenders + 1))


@pytest.mark.parametrize(
    "wanted", [Fraction(1, 10**20), 1 - Fraction(1, 10**20), Fraction(1, 10**130)], ids=str
)
def test_extreme_chances_of_large_battles_are_reported(wanted: Fraction) -> None:
    needed = armies_needed(2001, wanted)
    fewer, enough = (Battle(n, 2001).win_probability(exact=True) for n in (needed - 1, needed))
    assert fewer < wanted <= enough


# Attackers with a stop rule.

STOPS = [
    StopRule(stop_at=2),
    StopRule(stop_at=5),
    StopRule(hold_back=1, stop_at=4),
    StopRule(stop_at=3, max_rolls=3),
    StopRule(hold_back=2),
    StopRule(charge=True),
    StopRule(max_losses=3),
    StopRule(max_rolls=3),
    StopRule(hold_back=1, charge=True, max_losses=4, max_rolls=5),
]


@for_each("stop", STOPS)
@for_each("rules", ["classic", "capital"])
def test_with_a_stop_rule_the_result_is_the_first_number_of_a_scan(
    stop: StopRule, rules: str
) -> None:
    for defenders in (1, 2, 4):
        won = [Battle(n, defenders, rules, stop=stop) for n in range(1, 21)]
        scanned = [each.win_probability(exact=True) for each in won]
        for chance in (Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)):
            first = next((n for n, p in enumerate(scanned, start=1) if p >= chance), None)
            if first is None:
                with pytest.raises(iacta.IllegalError, match="number of attackers reaches"):
                    armies_needed(defenders, chance, rules, stop=stop)
            else:
                assert armies_needed(defenders, chance, rules, stop=stop) == first
                way = [Territory(defenders, stop=stop)]
                assert armies_needed_for_campaign(way, chance, rules) == first


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_defenders_hold_against_attackers_who_stop(stop: StopRule) -> None:
    for attackers in (2, 6, 9):
        held = [
            1 - Battle(attackers, d, stop=stop).win_probability(exact=True) for d in range(1, 20)
        ]
        for chance in (Fraction(1, 2), Fraction(95, 100)):
            first = next(d for d, p in enumerate(held, start=1) if p >= chance)
            assert iacta.defenders_needed(attackers, chance, stop=stop) == first


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_for_campaigns_with_a_stop_rule_the_result_is_the_first_of_a_scan(stop: StopRule) -> None:
    way: list[int | Territory] = [2, Territory(1, stop=stop), Territory(2, garrison=2)]
    scanned = [Campaign(n, way).win_probability(exact=True) for n in range(1, 18)]
    for chance in (Fraction(1, 10), Fraction(2, 5)):
        first = next(n for n, p in enumerate(scanned, start=1) if p >= chance)
        assert armies_needed_for_campaign(way, chance) == first
    assert win_probability_keeping(9, way, 0, exact=True) == scanned[8]
    outcomes = Campaign(9, way).outcomes(exact=True)
    kept = sum(p for (taken, left, _), p in outcomes.items() if taken == 3 and left >= 2)
    assert win_probability_keeping(9, way, 2, exact=True) == kept


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_attackers_who_stop_keep_some_armies(stop: StopRule) -> None:
    ends = [Battle(n, 2, stop=stop).outcomes(exact=True) for n in range(1, 16)]
    for keep in (2, 4):
        scanned = [
            sum(p for (a, d), p in distribution.items() if not d and a > keep)
            for distribution in ends
        ]
        for chance in (Fraction(1, 10), Fraction(2, 5)):
            first = next(n for n, p in enumerate(scanned, start=1) if p >= chance)
            assert armies_needed(2, chance, keep=keep, stop=stop) == first


def test_a_chance_equal_to_the_limit_of_a_stop_rule_is_reached() -> None:
    stop = StopRule(max_losses=2)
    limit = Battle(9, 2, stop=stop).win_probability(exact=True)
    assert limit == Battle(10, 2, stop=stop).win_probability(exact=True)
    assert isinstance(limit, Fraction)
    assert armies_needed(2, limit, stop=stop) <= 9
    with pytest.raises(iacta.IllegalError, match="number of attackers reaches"):
        armies_needed(2, limit + Fraction(1, 10**40), stop=stop)


def test_balanced_battles_keep_some_armies_back() -> None:
    rules, stop = iacta.find_rules("balanced blitz"), StopRule(hold_back=2)
    for chance in ("50%", "100%"):
        assert armies_needed(5, chance, rules, stop=stop) == armies_needed(5, chance, rules) + 2
        assert iacta.defenders_needed(9, chance, rules, stop=stop) == iacta.defenders_needed(
            7, chance, rules
        )


def test_garrisons_may_exceed_a_machine_word() -> None:
    huge = 10**24
    with_garrison = iacta.find_rules("classic", huge)
    assert armies_needed(10, "50%", with_garrison) == armies_needed(10, "50%", garrison=0) + huge
    with pytest.raises(iacta.TooLargeError, match="armies do not fit in an array"):
        armies_needed([10, 12], "50%", with_garrison)


def test_balanced_blitzes_one_after_the_other_can_be_certain() -> None:
    assert win_probability_keeping(60, [1, 1], 3, "balanced blitz") == 1.0
    assert win_probability_keeping(3, [1, 1], 3, "balanced blitz") == 0.0
    assert 0.5 < win_probability_keeping(30, [25, 1], 3, "balanced blitz") < 1.0
