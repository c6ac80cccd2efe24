"""Balanced blitz."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import Battle, Rules, Territory, armies_needed, find_rules, win_probability, win_table
from iacta.methods import balanced_blitz, choose_kernel, leap, list_methods
from iacta.methods.kernel import is_won
from iacta.rules.modes import BalancedBlitz
from tests import strategies
from tests.adapters import SEVERAL_RULES, win_probability_keeping
from tests.balanced_twin import list_outcomes
from tests.cases import for_each
from tests.published import read_rows

BLITZ = Rules(mode=BalancedBlitz())
UNFINISHED = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
BATTLES = [*product((1, 2, 3, 4, 5), (1, 2, 3)), (9, 14), (14, 9), (25, 20), (20, 25), (30, 4)]


def blitz(rules: Rules) -> Rules:
    """Return the rules with balanced blitz."""
    return replace(rules, mode=BalancedBlitz())


@pytest.mark.parametrize("row", read_rows("balanced_blitz"), ids=lambda row: row["attackers"])
def test_published_chances_agree(row: dict[str, str]) -> None:
    battle = Battle(int(row["attackers"]) + 1, int(row["defenders"]), BLITZ)
    expected = float(row["probability"])
    for chance in (battle.win_probability(), battle.outcomes().prob(is_won)):
        assert chance == (1.0 if expected == 1 else pytest.approx(expected, abs=1e-7))


@pytest.mark.parametrize("row", read_rows("balanced_blitz_outcome"))
def test_published_outcomes_agree(row: dict[str, str]) -> None:
    rules, attackers = find_rules(row["rules"]), int(row["attackers"]) + 1
    end = iacta.Outcome(attackers - int(row["lost"]), 0)
    true = Battle(attackers, int(row["defenders"]), rules).outcomes()
    assert true[end] == pytest.approx(float(row["true_random"]), abs=1e-15)
    ends = Battle(attackers, int(row["defenders"]), blitz(rules)).outcomes()
    assert ends[end] == pytest.approx(float(row["balanced_blitz"]), abs=1e-15)


def test_published_fewest_attackers_with_certainty() -> None:
    rows = read_rows("balanced_blitz_certainty")
    defenders = [int(row["defenders"]) for row in rows]
    expected = [int(row["attackers"]) for row in rows]
    assert armies_needed(defenders, "100%", BLITZ, garrison=0).tolist() == expected
    assert [iacta.armies_needed_for_campaign([d], 1, BLITZ) - 1 for d in defenders] == expected


def test_certainty_begins_where_the_rules_say() -> None:
    assert round(float(balanced_blitz.compute_least_true_chance(Fraction(1))), 5) == 0.84425
    chances = balanced_blitz.reshape_chances([0.15575, 0.15576, 0.84424, 0.84425, 0.04, 0.96])
    assert ((chances == 0).tolist(), (chances == 1).tolist()) == (
        [True, False, False, False, True, False],
        [False, False, False, True, False, True],
    )


@for_each("name", SEVERAL_RULES)
def test_the_result_equals_the_twin_s(name: str) -> None:
    rules = SEVERAL_RULES[name]
    for attackers, defenders in BATTLES:
        if attackers > rules.garrison:
            assert_is_twin(attackers, defenders, rules)


@settings(max_examples=25)
@given(strategies.rules(), st.integers(1, 9), st.integers(1, 9))
def test_the_result_equals_the_twin_s_under_any_rules(
    rules: Rules, attackers: int, defenders: int
) -> None:
    if attackers > rules.garrison:
        assert_is_twin(attackers, defenders, rules)


def assert_is_twin(attackers: int, defenders: int, rules: Rules) -> None:
    """Assert that all outcomes agree with an independent computation to within 1e-13."""
    expected = list_outcomes(attackers, defenders, rules)
    battle = Battle(attackers, defenders, blitz(rules))
    ends, chance = battle.outcomes(), battle.win_probability()
    assert 1e-13 < choose_kernel(blitz(rules)).error(attackers, defenders).absolute < 1e-9
    for end in {*ends, *(iacta.Outcome(*key) for key in expected)}:
        assert ends[end] == pytest.approx(float(expected.get(end, 0)), abs=1e-13)
    twin = float(sum(p for (_, d), p in expected.items() if not d))
    assert chance == pytest.approx(twin, abs=1e-13)
    if twin in (0.0, 1.0):
        assert chance == ends.prob(is_won) == twin


@for_each("rules", SEVERAL_RULES.values())
def test_balanced_blitz_never_changes_the_favourite(rules: Rules) -> None:
    true, balanced_table = win_table(40, 40, rules), win_table(40, 40, blitz(rules))
    sure = abs(true - 0.5) > 1e-12
    assert ((balanced_table >= 0.5) == (true >= 0.5))[sure].all()
    assert balanced_table[~sure] == pytest.approx(0.5)
    order = np.argsort(true, axis=None)
    assert (np.diff(balanced_table.reshape(-1)[order]) >= 0).all()


@given(st.floats(0, 1), st.floats(0, 1))
def test_higher_chances_stay_higher(first: float, second: float) -> None:
    low, high = balanced_blitz.reshape_chances(np.sort([first, second]))
    assert 0 <= low <= high + 1e-15
    assert high <= 1
    assert (balanced_blitz.reshape_chances(first) >= 0.5) == (first >= 0.5)


@given(st.fractions(Fraction(1, 1000), 1))
def test_the_true_chance_is_the_smallest_sufficient_chance(chance: Fraction) -> None:
    needed = balanced_blitz.compute_least_true_chance(chance)
    assert balanced_blitz.reshape_chances(float(needed)) == pytest.approx(float(chance))
    ratio = (chance * 8 + 1) / (9 - chance * 8)
    assert (needed / (1 - needed)) ** 13 >= ratio**10
    less = needed - Fraction(1, 10**59)
    assert (less / (1 - less)) ** 13 < ratio**10


@pytest.mark.parametrize("size", [(31, 15), (501, 500), (2501, 2), (3, 2600), (1001, 1000)])
def test_probabilities_sum_to_one_and_their_wins_to_the_chance(size: tuple[int, int]) -> None:
    ends = Battle(*size, BLITZ).outcomes()
    assert ends.prob(lambda _: True) == 1.0
    assert ends.prob(is_won) == pytest.approx(Battle(*size, BLITZ).win_probability(), abs=1e-12)
    assert list(ends) == sorted(ends)


@pytest.mark.parametrize("size", [(330, 320), (320, 330), (700, 760)])
def test_leaps_and_rows_make_the_same_distribution(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_rows = Battle(*size, BLITZ).outcomes()
    monkeypatch.setattr(leap, "MAX_FULL_STATES", 0)
    monkeypatch.setattr(balanced_blitz, "MAX_TABLE_STATES", 0)
    leaped = Battle(*size, BLITZ).outcomes()
    assert set(by_rows) == set(leaped)
    assert all(leaped[end] == pytest.approx(by_rows[end], abs=1e-12) for end in by_rows)


def test_battles_of_any_size_agree() -> None:
    assert Battle(10**6, 10**6, BLITZ).win_probability() == 1.0
    near = Battle(853_400_001, 10**9, BLITZ).win_probability()
    true = float(Battle(853_400_001, 10**9).win_probability())
    assert near == balanced_blitz.reshape_chances(true)
    assert armies_needed(10**9, 0.5, BLITZ) == armies_needed(10**9, 0.5)


def test_arrays_and_tables_equal_single_battles() -> None:
    for rules in (BLITZ, blitz(find_rules("capital")), Rules(mode=BalancedBlitz(), garrison=0)):
        table = win_table(9, 7, rules)
        for a, d in product(range(1, 10), range(1, 8)):
            battle = Battle(a, d, rules)
            assert table[a - 1, d - 1] == pytest.approx(battle.win_probability(), abs=1e-14)
            assert win_probability(a, d, rules) == pytest.approx(table[a - 1, d - 1], abs=1e-14)
            assert iacta.expected_attackers_left(a, d, rules) == pytest.approx(
                battle.attackers_left().mean()
            )
            assert iacta.expected_defenders_left(a, d, rules) == pytest.approx(
                battle.defenders_left().mean()
            )
    grid = win_probability(np.arange(1, 10)[:, np.newaxis], np.arange(1, 8), BLITZ)
    assert grid == pytest.approx(win_table(9, 7, BLITZ), abs=1e-15)
    assert win_probability([[5]], [3], BLITZ, method="balanced_blitz").shape == (1, 1)


def test_balanced_blitz_applies_to_each_territory_of_a_campaign() -> None:
    for rules in (BLITZ, iacta.CLASSIC):
        capital = Territory(3, rules=blitz(find_rules("capital")), garrison=2)
        mixed = [Territory(5, rules="classic"), capital, Territory(4)]
        for attackers in range(1, 30):
            campaign = iacta.Campaign(attackers, mixed, rules)
            backwards = win_probability_keeping(attackers, mixed, 0, rules)
            assert campaign.win_probability() == pytest.approx(backwards, abs=1e-13)
            assert campaign.outcomes().prob(lambda end: end.conquered == 3) == pytest.approx(
                backwards, abs=1e-13
            )


@pytest.mark.parametrize("chance", ["5%", "50%", "95%", "100%"])
def test_requirements_are_the_first_that_reach_the_chance(chance: str) -> None:
    wanted = float(chance[:-1]) / 100
    for defenders in (1, 2, 5, 9):
        needed = armies_needed(defenders, chance, BLITZ)
        assert Battle(needed, defenders, BLITZ).win_probability() >= wanted
        assert Battle(needed - 1, defenders, BLITZ).win_probability() < wanted
        kept = armies_needed(defenders, chance, BLITZ, keep=2)
        assert win_probability_keeping(kept, [defenders], 2, BLITZ) >= wanted
        assert all(
            win_probability_keeping(n, [defenders], 2, BLITZ) < wanted for n in range(1, kept)
        )
    capital = find_rules("capital")
    way: list[int | Territory] = [
        3,
        Territory(2, rules=blitz(capital) if wanted == 1 else capital),
        4,
    ]
    needed = iacta.armies_needed_for_campaign(way, chance, BLITZ, keep=1)
    assert win_probability_keeping(needed, way, 1, BLITZ) >= wanted
    assert win_probability_keeping(needed - 1, way, 1, BLITZ) < wanted


def test_a_chance_of_one_half_is_met_exactly() -> None:
    even = Rules(attack=iacta.Dice((2,)), defence=iacta.Dice((3,)), ties="attacker", garrison=0)
    assert Battle(1, 1, even).win_probability(exact=True) == Fraction(1, 2)
    assert armies_needed(1, 0.5, blitz(even)) == 1
    assert armies_needed(1, Fraction(1, 2) + Fraction(1, 10**30), blitz(even)) == 2


def test_play_draws_from_the_distribution() -> None:
    rng, campaign = np.random.default_rng(5), iacta.Campaign(13, [8, 2], BLITZ)
    first = [campaign.play(rng)[0] for _ in range(800)]
    ends = Battle(13, 8, BLITZ).outcomes()
    for end, chance in ends.items():
        part = sum((each.attackers_left, each.defenders_left) == end for each in first) / 800
        assert abs(part - chance) < 4 * (chance * (1 - chance) / 800) ** 0.5 + 1e-3
    assert {(each.attackers_left, each.defenders_left) for each in first} <= set(ends)
    assert campaign.play(np.random.default_rng(1)) == campaign.play(np.random.default_rng(1))


def test_work_that_is_too_large_is_refused_at_once() -> None:
    for ask in (
        lambda: Battle(10**19, 10**19, BLITZ).win_probability(),
        lambda: Battle(10**30, 10**30, BLITZ).outcomes(),
        lambda: armies_needed(10**13, 0.5, BLITZ, keep=10**9),
        lambda: win_table(10**6, 10**6, BLITZ),
        lambda: choose_kernel(BLITZ).run_forward(iacta.Distribution({10**8: 1, 10**12: 1}), 10**12),
    ):
        with pytest.raises(iacta.TooLargeError):
            ask()


def test_armies_to_keep_are_counted_for_large_battles_too() -> None:
    few, many = (armies_needed(3_000, 0.9, BLITZ, keep=keep) for keep in (0, 40))
    assert few <= many
    for attackers, enough in ((many - 1, False), (many, True)):
        ends = Battle(attackers, 3_000, BLITZ).outcomes()
        kept = ends.prob(lambda end: not end.defenders and end.attackers > 40)
        assert (kept >= 0.9) == enough


@pytest.mark.parametrize("method", list_methods(iacta.CLASSIC))
def test_other_methods_are_refused_for_balanced_blitz(method: str) -> None:
    for ask in (win_probability, win_table, iacta.expected_attackers_left):
        with pytest.raises(iacta.IllegalError, match=f"cannot be used for the method '{method}'"):
            ask(5, 4, BLITZ, method=method)
    assert win_probability(5, 4, BLITZ, method="balanced_blitz") == win_probability(5, 4, BLITZ)
