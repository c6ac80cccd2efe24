"""Spread: the best way to spread armies over a chain of territories."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest

from iacta import Battle, Campaign, Dice, Rules, StopRule, find_rules
from iacta.methods import choose_kernel
from iacta.methods.kernel import Kernel
from iacta.odds import spread_values
from iacta.odds.spread import (
    OBJECTIVES,
    PAYOFFS,
    Objective,
    simple_spreads,
    spread_defenders,
    spread_value,
)
from iacta.odds.spread_values import make_kernel_model
from tests import brute
from tests.balanced_twin import list_outcomes
from tests.cases import for_each
from tests.odds.test_requirement import STOPS

Fight: TypeAlias = Callable[[int, int, Rules], brute.Chances]


def exactly(rules: Rules) -> Kernel:
    """Return the exact kernel."""
    return choose_kernel(rules, exact=True)


COIN = Rules(attack=Dice((2,)), defence=Dice((1,)))
CASES = [
    (6, 5, 1, "classic", None),
    (9, 7, 2, "classic", None),
    (9, 7, 3, "classic", None),
    (8, 8, 4, "capital", None),
    (8, 7, 5, "classic", 0),
    (14, 6, 3, "capital", 3),
    (5, 4, 4, "classic", None),
    (24, 6, 3, "classic", None),
]


def enumerate_spreads(armies: int, territories: int) -> Iterator[tuple[int, ...]]:
    """Yield every spread with at least one army on each territory."""
    for cuts in combinations(range(1, armies), territories - 1):
        ends = (0, *cuts, armies)
        yield tuple(b - a for a, b in pairwise(ends))


def measure_unevenness(spread: tuple[int, ...]) -> tuple[int, ...]:
    """Return a measure of unevenness, which is smallest for the most even spreads."""
    return sum(n * n for n in spread), *spread


class Twin:
    """A slow twin of the attack that follows every outcome of every battle."""

    def __init__(self, rules: Rules, fight: Fight = brute.outcomes) -> None:
        self.rules = rules
        self.fight = fight
        self.known: dict[tuple[int, int], brute.Chances] = {}

    def ends(self, attackers: int, defenders: int) -> brute.Chances:
        """Return the distribution of a battle's outcome."""
        if (attackers, defenders) not in self.known:
            found = self.fight(attackers, defenders, self.rules)
            self.known[attackers, defenders] = found
        return self.known[attackers, defenders]

    def best(self, attackers: int, spread: tuple[int, ...], values: list[int]) -> Fraction:
        """Return the expected value of the best start."""
        return max(self.start(attackers, spread, i, values) for i in range(len(spread)))

    def start(self, attackers: int, spread: tuple[int, ...], i: int, values: list[int]) -> Fraction:
        """Return the expected value of starting at `spread[i]`, then attacking the better side."""
        left, right = spread[:i][::-1], spread[i + 1 :]
        mean = Fraction(0)
        for (a, d), p in self.ends(attackers, spread[i]).items():
            stack = a - self.rules.garrison
            if d:
                mean += p * values[0]
            else:
                mean += p * max(self.run(stack, side, 1, values) for side in (left, right))
        return mean

    def run(self, attackers: int, way: tuple[int, ...], taken: int, values: list[int]) -> Fraction:
        """Return the expected value of attacking a path after a number of conquests."""
        if not way:
            return Fraction(values[taken])
        mean = Fraction(0)
        for (a, d), p in self.ends(attackers, way[0]).items():
            stack = a - self.rules.garrison
            mean += p * (values[taken] if d else self.run(stack, way[1:], taken + 1, values))
        return mean


def list_values(objective: Objective, territories: int) -> list[int]:
    """Return the value of having taken 0, 1 ... all territories."""
    if objective == "territories":
        return list(range(territories + 1))
    return [0] * territories + [1]


def values_by_twin(twin: Twin, size: tuple[int, int, int], objective: Objective) -> Any:
    """Return the twin's value of every spread."""
    attackers, armies, territories = size
    goal = list_values(objective, territories)
    return {
        spread: twin.best(attackers, spread, goal)
        for spread in enumerate_spreads(armies, territories)
    }


@for_each(("attackers", "armies", "territories", "rules", "garrison"), CASES)
@for_each("objective", OBJECTIVES)
def test_the_result_is_the_best_that_the_twin_finds(
    attackers: int,
    armies: int,
    territories: int,
    rules: str,
    garrison: int | None,
    objective: Objective,
) -> None:
    twin = Twin(find_rules(rules, garrison))
    values = values_by_twin(twin, (attackers, armies, territories), objective)
    least = min(values.values())
    best = spread_defenders(
        attackers, armies, territories, rules, garrison=garrison, objective=objective, exact=True
    )
    assert best.is_exact
    assert best.value == least
    assert set(best.spreads) <= {each for each, value in values.items() if value == least}
    assert best.count == sum(value == least for value in values.values())
    if least:
        assert len(best.spreads) == best.count


@for_each("objective", OBJECTIVES)
@for_each("stop", STOPS)
def test_attackers_who_stop_agree_with_the_twin(stop: StopRule, objective: Objective) -> None:
    twin = Twin(
        find_rules("capital"),
        lambda attackers, defenders, rules: brute.outcomes_with_stop(
            attackers, defenders, rules, stop
        ),
    )
    values = values_by_twin(twin, (11, 6, 3), objective)
    best = spread_defenders(11, 6, 3, "capital", objective=objective, stop=stop, exact=True)
    assert best.is_exact
    assert best.value == min(values.values())
    assert {values[spread] for spread in best.spreads} == {best.value}
    assert best.count == list(values.values()).count(best.value)
    for spread, value in values.items():
        found = spread_value(11, spread, "capital", objective=objective, stop=stop)
        assert found == pytest.approx(float(value), rel=1e-13)


def fight_if_seen(attackers: int, defenders: int, rules: Rules) -> brute.Chances:
    """Fight against a defender who sees the attack first."""
    able = max(attackers - rules.garrison, 0)
    ends = brute.seen_outcomes(able, defenders, rules)
    return {(a + attackers - able, d): p for (a, d), p in ends.items()}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_spreads_with_a_defender_who_sees_the_attack_agree_with_the_twin(
    objective: Objective,
) -> None:
    rules = find_rules("defender sees first")
    values = values_by_twin(Twin(rules, fight_if_seen), (8, 6, 3), objective)
    best = spread_defenders(8, 6, 3, rules, objective=objective, exact=True)
    assert best.is_exact
    assert best.value == min(values.values())
    assert best.count == list(values.values()).count(best.value)
    for spread, value in values.items():
        assert spread_value(8, spread, rules, objective=objective, exact=True) == value


def fight_by_blitz(attackers: int, defenders: int, rules: Rules) -> brute.Chances:
    """Fight by balanced blitz."""
    if attackers <= rules.garrison:
        return {(attackers, defenders): Fraction(1)}
    ends = list_outcomes(attackers, defenders, rules)
    return {end: Fraction(float(probability)) for end, probability in ends.items()}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("attackers", [8, 12, 30])
def test_under_balanced_blitz_no_spread_of_the_twin_is_better(
    attackers: int, objective: Objective
) -> None:
    rules = find_rules("balanced blitz")
    values = values_by_twin(Twin(rules, fight_by_blitz), (attackers, 7, 3), objective)
    best = spread_defenders(attackers, 7, 3, rules, objective=objective)
    least = float(min(values.values()))
    assert best.value == pytest.approx(least, abs=1e-12)
    near = {spread for spread, value in values.items() if float(value) <= least + 1e-12}
    assert set(best.spreads) <= near
    if best.is_exact:
        assert near == set(best.spreads)
    for spread, value in values.items():
        found = spread_value(attackers, spread, rules, objective=objective)
        assert found == pytest.approx(float(value), abs=1e-12)


def test_results_without_fractions_are_exact_only_if_floats_decide() -> None:
    assert spread_defenders(12, 10, 3, "balanced blitz").is_exact
    certain = spread_defenders(90, 7, 3, "balanced blitz")
    assert (certain.value, certain.is_exact) == (1.0, False)


@for_each("spread", [(3,), (2, 5), (1, 4, 2), (5, 1, 1, 3)])
@for_each("rules", ["classic", "capital", "war", Rules(garrison=0, most_advance=2)])
@for_each("attackers", [1, 2, 3, 7, 12])
def test_breaking_through_equals_the_better_campaign(
    spread: tuple[int, ...], rules: str | Rules, attackers: int
) -> None:
    chance = max(
        Campaign(attackers, way, rules).win_probability(exact=True)
        for way in (spread, spread[::-1])
    )
    assert spread_value(attackers, spread, rules, exact=True) == chance
    assert spread_value(attackers, spread, rules) == pytest.approx(float(chance), rel=1e-13)


def test_a_campaign_of_one_territory_equals_the_battle() -> None:
    for objective in OBJECTIVES:
        best = spread_defenders(12, 10, 1, objective=objective, exact=True)
        assert best.spreads == ((10,),)
        assert best.value == Battle(12, 10).win_probability(exact=True)


def test_an_attack_from_inside_chooses_a_side_after_its_losses() -> None:
    # With few armies left, the single army to the right is the safer target. With many, the left
    # side is better, because it has more territories.
    twin, spread, goal = Twin(find_rules("classic")), (1, 1, 2, 2, 1, 5), list(range(7))
    left = {a - 1: p for (a, d), p in twin.ends(8, spread[3]).items() if not d}
    one_side = [
        sum((p * twin.run(stack, side, 1, goal) for stack, p in left.items()), Fraction(0))
        for side in (spread[:3][::-1], spread[4:])
    ]
    assert twin.start(8, spread, 3, goal) > max(one_side)
    exact = make_kernel_model(8, PAYOFFS["territories"](6), exactly(twin.rules), 1)
    assert exact.compute_value(spread) == twin.best(8, spread, goal)


@for_each(("attackers", "armies", "territories"), [(9, 9, 4), (40, 9, 4), (12, 8, 5)])
@for_each("objective", OBJECTIVES)
@for_each("complement", [False, True])
def test_results_for_all_starts_equal_single_results(
    attackers: int, armies: int, territories: int, objective: Objective, complement: bool
) -> None:
    rules = find_rules("classic")
    payoff = PAYOFFS[objective](territories)
    payoff = payoff.complement() if complement else payoff
    kernel = choose_kernel(rules)
    battles = spread_values.tabulate_battles(attackers, armies - territories + 1, kernel, 1)
    values = spread_values.compute_all_values(armies, payoff, battles)
    exact = make_kernel_model(attackers, payoff, exactly(rules), 1)
    rows = [tuple(row) for row in spread_values.list_compositions(armies, territories).tolist()]
    assert rows == list(enumerate_spreads(armies, territories))
    bound = Fraction(
        spread_values.bound_value_error(attackers, armies, territories, payoff, kernel).relative
    )
    for row, value in zip(rows, values.tolist(), strict=True):
        true = exact.compute_value(row)
        assert abs(Fraction(value) - true) <= bound * true
        for model in (battles.make_model(payoff), make_kernel_model(attackers, payoff, kernel, 1)):
            assert abs(Fraction(float(model.compute_value(row))) - true) <= bound * true


def test_a_value_and_its_complement_sum_to_the_largest_payoff() -> None:
    rules = find_rules("classic")
    for payoff in (spread_values.Payoff((0, 0, 0, 1)), spread_values.Payoff((0, 1, 2, 3))):
        gained = make_kernel_model(9, payoff, exactly(rules), 1).compute_value((2, 3, 1))
        missing = make_kernel_model(9, payoff.complement(), exactly(rules), 1).compute_value(
            (2, 3, 1)
        )
        assert gained + missing == payoff.values[-1]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_attackers_gain_more_and_more_defenders_leave_less(objective: Objective) -> None:
    by_attackers = [spread_defenders(a, 9, 3, objective=objective).value for a in range(1, 30)]
    assert by_attackers == sorted(by_attackers)
    by_armies = [spread_defenders(12, n, 3, objective=objective).value for n in range(3, 20)]
    assert by_armies == sorted(by_armies, reverse=True)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_mirror_image_is_as_good(objective: Objective) -> None:
    assert spread_value(9, (1, 4, 2), objective=objective, exact=True) == spread_value(
        9, (2, 4, 1), objective=objective, exact=True
    )
    for attackers in (8, 12, 17):
        best = spread_defenders(attackers, 11, 4, objective=objective)
        assert {each[::-1] for each in best.spreads} == set(best.spreads)


def test_spreads_that_differ_by_less_than_floats_can_tell_are_told_apart() -> None:
    # With so many attackers, every spread loses except for chances of about 1e-40.
    best = spread_defenders(150, 6, 3, exact=True)
    values = {each: spread_value(150, each, exact=True) for each in enumerate_spreads(6, 3)}
    assert len({float(value) for value in values.values()}) == 1
    assert best.is_exact
    assert set(best.spreads) == {
        each for each, value in values.items() if value == min(values.values())
    }


def test_a_certain_roll_makes_all_spreads_equal() -> None:
    sure = Rules(attack=Dice((6,), clamp=(6, 6)), defence=Dice((1,)))
    best = spread_defenders(9, 7, 3, sure, exact=True)
    assert (best.value, best.count, best.is_exact) == (1, 15, True)
    assert best.spreads[0] in ((2, 3, 2), (2, 2, 3))
    hopeless = spread_defenders(9, 7, 3, Rules(attack=Dice((1,))), exact=True)
    assert (hopeless.value, hopeless.count, hopeless.is_exact) == (0, 15, True)


@pytest.mark.parametrize(("armies", "territories"), [(8, 2), (5, 5), (9, 4), (7, 1), (12, 6)])
def test_all_spreads_are_listed_if_all_are_equally_good(armies: int, territories: int) -> None:
    spreads = sorted(enumerate_spreads(armies, territories), key=measure_unevenness)
    best = spread_defenders(1, armies, territories)
    assert best.count == len(spreads)
    assert best.spreads == tuple(spreads[:100])


def test_attackers_stopped_by_garrisons_gain_nothing() -> None:
    for attackers in (1, 2, 3):
        best = spread_defenders(attackers, 30, 3)
        assert (best.value, best.is_exact) == (0, True)
        assert best.count == 29 * 28 // 2
        assert best.spreads == tuple(sorted(enumerate_spreads(30, 3), key=measure_unevenness)[:100])
    assert spread_defenders(4, 4, 3).value > 0
    assert spread_defenders(2, 30, 3, objective="territories").value > 0
    assert spread_defenders(1, 30, 3, objective="territories").value == 0


def test_without_a_garrison_two_coins_are_even() -> None:
    # One attacker beats one defender with 1/2 and continues with all armies that are left.
    best = spread_defenders(1, 2, 2, COIN, garrison=0, exact=True)
    assert best.value == Fraction(1, 4)
    assert spread_defenders(
        1, 2, 2, COIN, garrison=0, objective="territories", exact=True
    ).value == (Fraction(3, 4))


def test_a_local_search_is_labelled_and_nearly_optimal() -> None:
    best = spread_defenders(60, 50, 9)
    assert not best.is_exact
    assert all(sum(each) == 50 and min(each) >= 1 and len(each) == 9 for each in best.spreads)
    value = spread_value(60, best.spreads[0])
    assert value == pytest.approx(float(best.value), rel=1e-12)
    for simple in simple_spreads(50, 9).values():
        assert value <= spread_value(60, simple)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("attackers", [8, 14, 25])
def test_the_search_finds_nearly_what_comparing_all_finds(
    objective: Objective, attackers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = spread_defenders(attackers, 14, 4, objective=objective)
    monkeypatch.setattr("iacta.odds.spread.MAX_SPREADS", 1)
    found = spread_defenders(attackers, 14, 4, objective=objective)
    assert (compared.is_exact, found.is_exact) == (True, False)
    assert compared.value <= found.value + 1e-13
    assert found.value <= compared.value * 1.01


def test_nearly_equal_divisions_are_not_called_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.odds.spread.MAX_EXACT_SPREAD_STEPS", 1)
    sure = Rules(attack=Dice((6,), clamp=(6, 6)), defence=Dice((1,)))
    assert not spread_defenders(9, 7, 3, sure).is_exact
    assert spread_defenders(9, 7, 3).is_exact


def test_simple_spreads_lay_out_all_armies() -> None:
    for armies, territories in ((1, 1), (5, 5), (9, 2), (10, 4), (30, 6), (31, 7)):
        for spread in simple_spreads(armies, territories).values():
            assert (sum(spread), len(spread)) == (armies, territories)
            assert min(spread) >= 1
    even = simple_spreads(31, 7)["even"]
    assert max(even) - min(even) == 1
    assert simple_spreads(11, 4) == {
        "even": (3, 3, 2, 3),
        "at both ends": (5, 1, 1, 4),
        "in the middle": (1, 5, 4, 1),
        "at one end": (8, 1, 1, 1),
    }
    assert simple_spreads(8, 5)["even"] == (2, 1, 2, 1, 2)


def test_numpy_numbers_are_numbers() -> None:
    assert spread_defenders(np.int64(9), np.int64(7), np.int64(3)) == spread_defenders(9, 7, 3)  # type: ignore[arg-type] # is the test
