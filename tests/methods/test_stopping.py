"""Battles that attackers may stop: exact, in floats, and with simulated dice."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import (
    CLASSIC,
    Battle,
    Distribution,
    IactaError,
    Outcome,
    Rules,
    StopRule,
)
from iacta.inputs.errors import IllegalError
from iacta.methods import choose_kernel, list_methods
from iacta.methods.stopping import Stopping
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from iacta.rules.thrown import fight_until
from tests import brute, strategies
from tests.adapters import SEVERAL_RULES, counting, lattice, outcomes
from tests.cases import for_each

STOPS = [
    StopRule(charge=True),
    *(StopRule(max_losses=k) for k in (0, 1, 2, 3, 5, 30)),
    *(StopRule(max_rolls=k) for k in (0, 1, 2, 4, 11, 60)),
    StopRule(hold_back=2, charge=True),
    *(StopRule(stop_at=k) for k in (1, 2, 3, 4, 8, 15)),
    StopRule(hold_back=2, stop_at=2),
    StopRule(hold_back=2, stop_at=6),
    StopRule(stop_at=3, charge=True),
    StopRule(stop_at=7, max_losses=4),
    StopRule(stop_at=3, max_rolls=2),
    StopRule(stop_at=8, max_rolls=2),
    StopRule(hold_back=1, stop_at=4, charge=True, max_losses=4, max_rolls=5),
    StopRule(max_losses=4, max_rolls=3),
    StopRule(charge=True, max_losses=3),
    StopRule(hold_back=1, charge=True, max_losses=4, max_rolls=5),
]
BATTLES = [*product((1, 2, 3, 4, 5), (1, 2, 3)), (9, 14), (14, 9), (4, 20), (20, 4)]
FULL = StopRule(charge=True)


def solve_battle(
    attackers: int, defenders: int, rules: Rules, stop: StopRule, exact: bool = True
) -> Distribution[Outcome]:
    """Return the distribution of one battle."""
    return find_distribution(Distribution([attackers]), defenders, rules, stop, exact=exact)


def find_distribution(
    stack: Distribution[int], defenders: int, rules: Rules, stop: StopRule, *, exact: bool
) -> Distribution[Outcome]:
    """Return the distribution of a stack according to `Stopping`, for any stop rule."""
    kept = stop.add_to_garrison(rules).garrison
    fight = replace(stop, hold_back=None).subtract_garrison(kept)
    kernel = Stopping(rules, fight, exact=exact)
    return outcomes(kernel, stack, defenders, kept)


def find_bound(attackers: int, defenders: int, rules: Rules) -> Fraction:
    """Return the bound on the relative error of floats."""
    kernel = choose_kernel(rules, StopRule(charge=True))
    return Fraction(kernel.error(attackers, defenders).relative)


@for_each("rules", SEVERAL_RULES.values())
@for_each("stop", STOPS)
def test_exact_distributions_agree_with_the_twin(rules: Rules, stop: StopRule) -> None:
    for attackers, defenders in BATTLES:
        expected = brute.outcomes_with_stop(attackers, defenders, rules, stop)
        outcomes = solve_battle(attackers, defenders, rules, stop)
        assert dict(outcomes) == {Outcome(*end): p for end, p in expected.items()}
        floats = solve_battle(attackers, defenders, rules, stop, exact=False)
        assert set(floats) == set(outcomes)
        bound = find_bound(attackers, defenders, rules)
        for end, probability in outcomes.items():
            assert type(floats[end]) is float
            assert abs(Fraction(floats[end]) - Fraction(probability)) <= bound * probability


@for_each("stop", [FULL, StopRule(stop_at=20), StopRule(max_losses=30), StopRule(max_rolls=40)])
@for_each("battle", [(90, 70), (70, 90), (250, 40)])
def test_floats_stay_within_their_bound_in_larger_battles(
    stop: StopRule, battle: tuple[int, int]
) -> None:
    exact, floats = (solve_battle(*battle, CLASSIC, stop, exact) for exact in (True, False))
    bound = find_bound(*battle, CLASSIC)
    assert bound < 1e-12
    for end, probability in exact.items():
        if probability > 1e-150:
            assert abs(Fraction(floats[end]) - Fraction(probability)) <= bound * probability


@settings(max_examples=60)
@given(
    strategies.rules(),
    st.integers(1, 9),
    st.integers(1, 6),
    st.booleans(),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 4),
    st.none() | st.integers(0, 9),
)
def test_any_battle_agrees_with_the_twin(
    rules: Rules,
    attackers: int,
    defenders: int,
    charge: bool,
    max_losses: int | None,
    max_rolls: int | None,
    hold_back: int | None,
    stop_at: int | None,
) -> None:
    stop = StopRule(
        hold_back=hold_back,
        stop_at=stop_at,
        charge=charge,
        max_losses=max_losses,
        max_rolls=max_rolls,
    )
    expected = brute.outcomes_with_stop(attackers, defenders, rules, stop)
    outcomes = Battle(attackers, defenders, rules, stop=stop).outcomes(exact=True)
    assert dict(outcomes) == {Outcome(*end): p for end, p in expected.items() if p}


@pytest.mark.parametrize("battle", [(12, 10), (10, 12), (3, 1), (1, 3)])
def test_armies_held_back_act_like_a_larger_garrison(battle: tuple[int, int]) -> None:
    for kept in (0, 1, 4, 20):
        ours = Battle(*battle, stop=StopRule(hold_back=kept))
        larger = Battle(*battle, garrison=1 + kept)
        assert ours.outcomes(exact=True) == larger.outcomes(exact=True)
        assert ours.win_probability() == larger.win_probability()
        charging = Battle(*battle, stop=StopRule(hold_back=kept, charge=True))
        larger_charging = Battle(*battle, garrison=1 + kept, stop=FULL)
        assert charging.outcomes(exact=True) == larger_charging.outcomes(exact=True)


@for_each("rules", SEVERAL_RULES.values())
def test_a_charge_never_rolls_fewer_dice(rules: Rules) -> None:
    for attackers, defenders in BATTLES:
        able = attackers - rules.garrison
        if able <= 0:
            continue
        dice = min(able, rules.attack.kept)
        for end in solve_battle(attackers, defenders, rules, FULL):
            # The attackers threw `dice` dice until the last roll, which costs at most one army for
            # each pair of dice.
            lowest = dice - min(dice, rules.defence.kept)
            assert end.attackers - rules.garrison >= lowest
            assert not end.defenders or end.attackers - rules.garrison < dice


def test_two_against_one_agrees_with_hand_calculation() -> None:
    # Two dice beat one with a chance of 125/216; after a loss, one die beats one with 5/12.
    chance = Fraction(125, 216)
    for stop in (FULL, StopRule(max_losses=1), StopRule(max_rolls=1)):
        outcomes = Battle(3, 1, stop=stop).outcomes(exact=True)
        assert dict(outcomes) == {Outcome(3, 0): chance, Outcome(2, 1): 1 - chance}


def test_simulated_dice_keep_the_order_of_the_battles() -> None:
    rng = np.random.default_rng(3)
    attackers, defenders = np.array([1, 9, 4, 12]), np.array([5, 0, 7, 2])
    left, against = fight_until(attackers, defenders, CLASSIC, StopRule(max_rolls=1), rng)
    assert (left[0], against[0], left[1], against[1]) == (1, 5, 9, 0)
    assert (attackers - left + defenders - against).tolist() == [0, 0, 2, 2]


def test_methods_without_stop_rules_are_refused_in_one_sentence() -> None:
    battle = Battle(9, 7, stop=FULL)
    for name in list_methods(CLASSIC):
        if name == "simulation":
            assert battle.win_probability(method=name) == pytest.approx(
                battle.win_probability(), abs=0.01
            )
            continue
        with pytest.raises(IllegalError) as caught:
            battle.win_probability(method=name)
        assert str(caught.value) == (
            "method must be 'auto', 'stopping' or 'simulation' for a battle that stops by stop_at, "
            f"charge, max_losses, max_rolls or leave, got {name!r}"
        )
    assert battle.outcomes(method="stopping") == battle.outcomes()
    for name in list_methods(CLASSIC):
        kept = Battle(9, 7, stop=StopRule(hold_back=2))
        error = 0.01 if name == "simulation" else 1e-13
        assert kept.win_probability(method=name) == pytest.approx(kept.win_probability(), abs=error)


@pytest.mark.parametrize("method", ["auto", "simulation"])
def test_growing_armies_are_refused_with_stop_rules_except_hold_back(method: str) -> None:
    for stop in (FULL, StopRule(stop_at=3), StopRule(max_losses=3), StopRule(max_rolls=3)):
        with pytest.raises(
            IllegalError,
            match="armies that grow when all dice show one cannot be used for a battle",
        ):
            Battle(9, 7, "five ones", stop=stop).outcomes(method=method)
    kept = Battle(9, 7, "five ones", stop=StopRule(hold_back=2)).win_probability()
    assert kept == Battle(9, 7, "five ones", garrison=3).win_probability()


@pytest.mark.parametrize("rules", [Rules(mode=BalancedBlitz()), Rules(mode=DefenderSeesFirst())])
def test_rules_without_this_method_are_refused(rules: Rules) -> None:
    with pytest.raises(IllegalError):
        find_distribution(Distribution([9]), 7, rules, FULL, exact=False)
    with pytest.raises(IactaError):
        Battle(9, 7, rules, stop=FULL).outcomes()


def test_strict_stop_rules_are_fast_for_any_size() -> None:
    small, huge = Battle(1000, 900), Battle(10**12, 900)
    for stop in (StopRule(max_losses=5), StopRule(max_rolls=5)):
        few = Battle(small.attackers, 900, stop=stop).attackers_lost(exact=True)
        assert Battle(huge.attackers, 900, stop=stop).attackers_lost(exact=True) == few
    rolled = Battle(10**12, 10**12, stop=StopRule(max_rolls=5)).defenders_lost(exact=True)
    assert rolled == Battle(99, 99, stop=StopRule(max_rolls=5)).defenders_lost(exact=True)


def test_without_a_stop_rule_the_method_agrees_with_the_others() -> None:
    for attackers, defenders in BATTLES:
        stack = Distribution([attackers])
        expected = counting.outcomes(stack, defenders, CLASSIC)
        assert solve_battle(attackers, defenders, CLASSIC, StopRule()) == expected
        floats = lattice.outcomes(stack, defenders, CLASSIC)
        for end, p in solve_battle(attackers, defenders, CLASSIC, StopRule(), exact=False).items():
            assert math.isclose(p, floats[end], rel_tol=1e-13)


def test_a_battle_needs_defenders() -> None:
    stack = Distribution({3: 1, 5: 1})
    outcomes = find_distribution(stack, 0, CLASSIC, FULL, exact=True)
    assert dict(outcomes) == {Outcome(3, 0): Fraction(1, 2), Outcome(5, 0): Fraction(1, 2)}
