"""All methods give the same answer or a one-sentence error."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, RULE_SETS, Battle, Chain, Distribution, IactaError, Outcome, Rules
from iacta.methods import EXACT_METHODS, METHODS, choose_kernel, closed_form, list_methods, markov
from iacta.methods.kernel import is_won
from iacta.rules.modes import ArmiesGrow, BalancedBlitz, DefenderSeesFirst
from iacta_literature import taflin
from iacta_literature.tree import paths, tree
from tests import brute, strategies
from tests.adapters import ASKED, SEVERAL_RULES, counting
from tests.cases import for_each

ROLLED = list_methods(CLASSIC)
SEEN = list_methods(Rules(mode=DefenderSeesFirst()))
COMPUTED = [name for name in ROLLED if name != "simulation"]
BATTLES = [
    *product((1, 2, 3, 4, 5), (0, 1, 2, 3, 4)),
    *[(12, 3), (3, 12), (17, 17), (9, 14), (14, 9), (25, 20), (4, 30), (30, 4)],
]
LARGE = [(60, 60), (3, 60), (60, 2)]
RUNS = 2000


def test_each_method_suits_a_mode() -> None:
    rules = [Rules(mode=mode) for mode in {known.rules.mode for known in RULE_SETS}]
    assert set(METHODS) == {name for each in rules for name in list_methods(each)}
    for name in METHODS:
        taken = [each for each in rules if find_refusal(name, each) is None]
        assert taken, name
        for each in taken:
            kernel = choose_kernel(each, method=name)
            assert (kernel.name, kernel.exact) == (name, name in EXACT_METHODS)


def find_refusal(
    name: str, rules: Rules, attackers: int = 5, defenders: int = 4
) -> IactaError | None:
    """Return the error of a method that cannot answer, or `None` if it can."""
    try:
        ASKED[name].refuse(attackers, defenders, rules)
    except IactaError as error:
        return error
    return None


@cache
def count_outcomes(attackers: int, defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the exact distribution of the outcome."""
    outcomes: Distribution[Outcome] = counting.outcomes(Distribution([attackers]), defenders, rules)
    return outcomes


@for_each("name", COMPUTED)
@for_each("rules", SEVERAL_RULES.values())
def test_every_method_agrees_with_counted_paths(name: str, rules: Rules) -> None:
    solved = 0
    for attackers, defenders in [*BATTLES, *LARGE]:
        error = find_refusal(name, rules, attackers, defenders)
        if error is not None:
            assert_sentence(error)
            continue
        solved += 1
        check_outcomes(
            name, rules, attackers, count_outcomes(attackers, defenders, rules), defenders
        )
    assert solved or name in ("closed_form", "leap")


def check_outcomes(
    name: str, rules: Rules, attackers: int, expected: Mapping[Any, Any], defenders: int
) -> None:
    """Assert that the outcomes of a method are within its error bound."""
    method = ASKED[name]
    bound = method.relative_error(attackers, defenders, rules)
    assert (bound == 0) == (name in EXACT_METHODS)
    won = Fraction(sum(p for (_, left), p in expected.items() if not left))
    assert_near(method.win_probability(attackers, defenders, rules), won, bound)
    distribution = method.outcomes(Distribution([attackers]), defenders, rules)
    assert set(distribution) == {Outcome(*end) for end in expected}
    for end, probability in expected.items():
        assert_near(distribution[Outcome(*end)], Fraction(probability), bound)
    assert math.isclose(sum(map(float, distribution.values())), 1, rel_tol=1e-12)


@pytest.mark.parametrize("name", ["counting", "lattice", "markov", "path_tree"])
@settings(max_examples=60)
@given(strategies.rules(), st.integers(1, 12), st.integers(1, 12))
def test_every_method_agrees_with_the_twin_under_any_rules(
    name: str, rules: Rules, attackers: int, defenders: int
) -> None:
    expected = brute.outcomes(attackers, defenders, rules)
    check_outcomes(name, rules, attackers, expected, defenders)


@for_each("name", [name for name in COMPUTED if name != "leap"])
@for_each("garrison", [0, 1, 2])
def test_a_distribution_of_attackers_is_a_mixture(name: str, garrison: int) -> None:
    rules, stack = Rules(garrison=garrison), Distribution({1: 1, 2: 2, 3: 3, 8: 5, 9: 4})
    for defenders in (0, 1, 2, 4, 7):
        mixed = ASKED[name].outcomes(stack, defenders, rules)
        for end in {*mixed, *(end for n in stack for end in count_outcomes(n, defenders, rules))}:
            expected = sum(stack[n] * count_outcomes(n, defenders, rules)[end] for n in stack)
            if name in EXACT_METHODS:
                assert mixed[end] == expected
            else:
                assert math.isclose(mixed[end], expected, rel_tol=1e-13, abs_tol=1e-16)


@for_each("name", SEEN)
@for_each("rules", [each for each in SEVERAL_RULES.values() if not each.full_attack])
def test_a_defender_who_sees_the_attack_agrees_with_the_twin(name: str, rules: Rules) -> None:
    method, seen = ASKED[name], replace(rules, mode=DefenderSeesFirst())
    for attackers, defenders in [*product((1, 2, 3, 4, 6), (0, 1, 2, 3)), (9, 6), (5, 9)]:
        able = max(attackers - rules.garrison, 0)
        expected = brute.seen_outcomes(able, defenders, seen)
        bound = method.relative_error(attackers, defenders, seen)
        assert (bound == 0) == (name in EXACT_METHODS)
        chance = method.win_probability(attackers, defenders, seen)
        assert_near(chance, brute.win_probability_if_seen(able, defenders, seen), bound)
        outcomes = method.outcomes(Distribution([attackers]), defenders, seen)
        for (left, against), probability in expected.items():
            assert_near(outcomes[Outcome(left + attackers - able, against)], probability, bound)
        assert math.isclose(sum(map(float, outcomes.values())), 1, rel_tol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_each_method_states_its_modes(name: str) -> None:
    for rules in (CLASSIC, Rules(mode=BalancedBlitz()), iacta.find_rules("defender sees first")):
        error = find_refusal(name, rules)
        assert (error is None) == (name in list_methods(rules))
        if error is not None:
            assert_sentence(error)
            assert name in str(error)
            with pytest.raises(IactaError, match=name):
                Battle(5, 4, rules).win_probability(method=name)


@for_each("rules", SEVERAL_RULES.values())
def test_counted_paths_agree_with_the_twin(rules: Rules) -> None:
    for attackers, defenders in BATTLES:
        expected = brute.outcomes(attackers, defenders, rules)
        assert dict(count_outcomes(attackers, defenders, rules)) == expected
        won = sum(p for (_, left), p in expected.items() if not left)
        assert counting.win_probability(attackers, defenders, rules) == won


def assert_near(value: object, exact: Fraction, bound: float) -> None:
    """Assert that an answer has the right type and is within its error bound."""
    if bound == 0:
        assert isinstance(value, int | Fraction)
        assert value == exact
    else:
        assert isinstance(value, float)
        assert abs(Fraction(value) - exact) <= Fraction(bound) * exact


def assert_sentence(error: IactaError) -> None:
    """Assert that an error message is one sentence."""
    text = str(error)
    assert text
    assert "\n" not in text
    assert not text.endswith(".")


@pytest.mark.parametrize("name", ROLLED)
def test_each_method_can_compute_a_battle(name: str) -> None:
    battle = Battle(9, 7)
    exact = battle.win_probability(exact=True)
    chance = battle.win_probability(method=name)
    assert isinstance(chance, float)
    assert chance == pytest.approx(float(exact), abs=0.01 if name == "simulation" else 1e-14)
    outcomes = battle.outcomes(method=name)
    assert outcomes.prob(is_won) == pytest.approx(chance)
    assert not outcomes.is_exact


@pytest.mark.parametrize("name", ROLLED)
def test_stacks_that_cannot_attack_stay(name: str) -> None:
    outcomes = ASKED[name].outcomes(Distribution({1: 1, 2: 1}), 3, Rules(garrison=2))
    assert float(outcomes[Outcome(1, 3)]) == pytest.approx(0.5, abs=0.01)
    assert float(outcomes[Outcome(2, 3)]) == pytest.approx(0.5, abs=0.01)
    assert ASKED[name].win_probability(1, 3, CLASSIC) == 0


@pytest.mark.parametrize("name", ROLLED)
def test_each_method_refuses_what_it_cannot_do(name: str) -> None:
    five_ones, huge = Rules(mode=ArmiesGrow()), 10**19
    grows = find_refusal(name, five_ones, 12, 10)
    assert (grows is None) == (name in ("markov", "simulation"))
    too_large = find_refusal(name, CLASSIC, huge, huge)
    assert too_large is not None
    for error in (grows, too_large):
        if error is not None:
            assert_sentence(error)
            assert name in str(error)
    with pytest.raises(type(too_large)):
        Battle(huge, huge).win_probability(method=name)


@pytest.mark.parametrize("name", [name for name in COMPUTED if name != "leap"])
def test_battles_that_need_too_much_memory_or_time_are_refused_at_once(name: str) -> None:
    for attackers, defenders in ((10**12, 10**12), (10**9, 1), (2, 10**12), (10**30, 10**30)):
        with pytest.raises(iacta.TooLargeError):
            ASKED[name].win_probability(attackers, defenders, CLASSIC)
        with pytest.raises(iacta.TooLargeError):
            ASKED[name].outcomes(Distribution([attackers]), defenders, CLASSIC)


DOORS: dict[str, Callable[..., object]] = {
    "chain": Chain,
    "bounded": markov.bound_win_probability,
    "tree": tree,
    "paths": paths,
    "path_count": lambda a, d, rules: Battle(a, d, rules).path_count(),
    "state_count": lambda a, d, rules: Battle(a, d, rules).state_count(),
    "sequence": lambda a, d, rules: closed_form.conquer_in_sequence(a, [d], rules),
    "roll_chances": lambda a, d, rules: taflin.roll_chances(rules),
}


@pytest.mark.parametrize("name", DOORS)
def test_entry_points_accept_names_and_refuse_wrong_values(name: str) -> None:
    door = DOORS[name]
    door(5, 4, "classic")
    wrong: list[tuple[object, object, object]] = [
        (5, 4, "clasic"),
        (5, 4, 3),
        (5, 4, Rules(mode=DefenderSeesFirst())),
    ]
    if name != "roll_chances":
        wrong += [(-5, 4, CLASSIC), (5, -4, CLASSIC), ("5", 4, CLASSIC), (5, 4.5, CLASSIC)]
    for attackers, defenders, rules in wrong:
        with pytest.raises(IactaError) as caught:
            door(attackers, defenders, rules)
        assert_sentence(caught.value)
