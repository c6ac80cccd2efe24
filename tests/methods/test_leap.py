"""Leaps are correct for armies of any size, compared with fractions and with 30 digits."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, Dice, Distribution, Outcome, Rules, find_rules
from iacta.methods import leap as leap_file
from iacta.methods.kernel import is_won
from iacta.methods.leap import compute_attackers_walk
from tests import adapters, strategies
from tests.adapters import closed_form, counting, lattice, leap
from tests.cases import for_each
from tests.published import read_rows
from tests.tables import table

REFUSED = ("two against three", "attacker cannot lose", "attacker cannot win")
SEVERAL_RULES = {name: each for name, each in adapters.SEVERAL_RULES.items() if name not in REFUSED}
SIZES = [(60, 70), (130, 120), (300, 300), (200, 320), (500, 300), (33, 320), (400, 33)]
EDGES = list(product((1, 2, 3, 4), (1, 2, 3)))
BOUND = Fraction(1, 10**12)
CERTAIN_ENOUGH = Fraction(1, 10**15)
MIN_TOLD = Fraction(1, 10**150)


def assert_within_bound(value: float, exact: Fraction, case: object = None) -> None:
    """Assert that the relative error is within its bound, for chances above 1e-150."""
    error = abs(Fraction(value) - exact)
    if exact > MIN_TOLD:
        assert error <= BOUND * exact, case
    else:
        assert value <= MIN_TOLD, case


@pytest.mark.parametrize("name", SEVERAL_RULES)
@pytest.mark.slow
def test_chances_agree_with_fractions(name: str) -> None:
    rules = SEVERAL_RULES[name]
    most_attackers, most_defenders = map(max, zip(*SIZES, strict=True))
    rows = counting.value_rows([1] * (most_attackers + 1), [0] * most_defenders, rules)
    for defenders, row in enumerate(rows, start=1):
        for attackers in (a for a, d in [*SIZES, *EDGES] if d == defenders):
            size, exact = (attackers, defenders), row[attackers]
            assert_within_bound(leap.win_probability(*size, rules), exact, size)
            for value, wanted in zip(
                leap.both_chances(*size, rules), (exact, 1 - exact), strict=True
            ):
                assert_within_bound(value, wanted, size)


@pytest.mark.parametrize(*table(__file__, "thousands"))
def test_thousands_of_armies_agree_with_the_closed_form(attackers: int, defenders: int) -> None:
    exact = closed_form.win_probability(attackers, defenders, CLASSIC)
    assert_within_bound(leap.win_probability(attackers, defenders, CLASSIC), exact)


@settings(max_examples=40, deadline=None)
@given(strategies.rules(), st.integers(1, 200), st.integers(1, 200))
def test_any_rules_are_solved_or_refused(rules: Rules, attackers: int, defenders: int) -> None:
    try:
        leap.refuse(attackers, defenders, rules)
    except iacta.IactaError:
        return
    table = lattice.win_probability(attackers, defenders, rules)
    value = leap.win_probability(attackers, defenders, rules)
    assert math.isclose(value, table, rel_tol=1e-12, abs_tol=1e-26)


def digits_of_chance(attackers: int, defenders: int, rules: Rules, near: int = 128) -> mpmath.mpf:
    """Return the chance to win to about 30 digits.

    The chances of the states with `near` armies left are fractions. They are weighted with the
    chances to reach these states, each an integral over a circle computed with 60 digits.
    """
    able = attackers - rules.garrison
    taken = min(rules.full_roll)
    rolls = (able + defenders - near) // taken
    near = able + defenders - taken * rolls
    walk = compute_attackers_walk(rules)
    with mpmath.workdps(60):
        mean = mpmath.mpf(sum(k * n for k, n in enumerate(walk.counts))) / walk.total
        steps = [k - mean for k in range(len(walk.counts))]
        chances = [mpmath.mpf(n) / walk.total for n in walk.counts]
        variance = sum(p * x * x for p, x in zip(chances, steps, strict=True))
        sigma = mpmath.sqrt(rolls * variance)
        beyond = able - rolls * mean
        rows = counting.value_rows([1] * (near + rules.garrison + 1), [0] * near, rules)
        values = [Fraction(0)] * near + [Fraction(1)]
        for d, row in enumerate(rows, start=1):
            values[near - d] = row[near - d + rules.garrison]
        series = [mpmath.mpf(v.numerator) / v.denominator for v in reversed(values)]
        tilt = min(-1 / sigma, beyond / sigma**2)  # near the saddle point
        step = 2 * mpmath.pi / (80 * sigma)
        total = mpmath.mpf(0)
        for number in range(int(12 / (sigma * step)) + 1):
            w = mpmath.mpc(tilt, number * step)
            moment = sum(p * mpmath.exp(w * x) for p, x in zip(chances, steps, strict=True))
            past = mpmath.exp(w * (near + 1)) / (1 - mpmath.exp(w))
            base, ending = mpmath.exp(w), mpmath.mpf(0)
            for value in series:
                ending = ending * base + value
            term = (mpmath.exp(rolls * mpmath.log(moment) - w * beyond) * (past + ending)).real
            total += term if number else term / 2
        return total * step / mpmath.pi


def test_the_extended_precision_is_correct() -> None:
    exact = counting.win_probability(500, 560, CLASSIC)
    with mpmath.workdps(60):
        difference = digits_of_chance(500, 560, CLASSIC) * exact.denominator / exact.numerator - 1
        assert abs(difference) < mpmath.mpf(10) ** -25


@pytest.mark.parametrize(*table(__file__, "thirty_digits"))
@pytest.mark.slow
def test_chances_agree_with_thirty_digits(rules: str, size: tuple[int, int]) -> None:
    exact = digits_of_chance(*size, SEVERAL_RULES[rules])
    with mpmath.workdps(60):
        assert mpmath.mpf(10) ** -15 < exact < 1 - mpmath.mpf(10) ** -15
        won, lost = leap.both_chances(*size, SEVERAL_RULES[rules])
        assert abs(won / exact - 1) < mpmath.mpf(10) ** -12
        assert abs(lost / (1 - exact) - 1) < mpmath.mpf(10) ** -12
    assert leap.win_probability(*size, SEVERAL_RULES[rules]) == pytest.approx(won, rel=1e-15)


@pytest.mark.parametrize(
    ("size", "power"),
    [((840_000, 10**6), -21), ((820_000, 10**6), -120), ((853_000_000, 10**9), -20)],
)
@pytest.mark.slow
def test_tiny_chances_agree_with_thirty_digits(size: tuple[int, int], power: int) -> None:
    exact = digits_of_chance(*size, CLASSIC, near=512)
    with mpmath.workdps(60):
        assert mpmath.mpf(10) ** power < exact < mpmath.mpf(10) ** (power + 1)
        assert abs(leap.win_probability(*size, CLASSIC) / exact - 1) < mpmath.mpf(10) ** -12


@pytest.mark.parametrize("row", read_rows("large_battles"), ids=lambda row: str(row["defenders"]))
def test_very_large_battles_agree_with_published_chances(row: dict[str, str]) -> None:
    chance = leap.win_probability(
        int(row["attackers"]), int(row["defenders"]), Rules(garrison=int(row["garrison"]))
    )
    assert round(chance, 8) == float(row["probability"])


@for_each("keep", [0, 1, 2, 3, 4, 10, 60])
@for_each("name", ["classic", "capital", "garrison 3"])
def test_armies_can_be_kept(name: str, keep: int) -> None:
    rules = SEVERAL_RULES[name]
    exact = counting.values([int(n >= keep) for n in range(301)], [0] * 151, 150, rules)
    for attackers in (40, 150, 230, 300):
        won, lost = leap.both_chances(attackers, 150, rules, keep)
        assert_within_bound(won, exact[attackers])
        assert_within_bound(lost, 1 - exact[attackers])


def test_too_few_armies_cannot_keep_the_required_number() -> None:
    assert leap.both_chances(6, 3, CLASSIC, 10) == (0, 1)
    assert leap.both_chances(6, 0, CLASSIC, 5) == (1, 0)
    assert leap.both_chances(1, 0, CLASSIC) == (1, 0)


def test_a_tiny_chance_of_a_moderate_battle_keeps_its_digits() -> None:
    for size in ((3, 100), (30, 250), (60, 256)):
        exact = closed_form.win_probability(*size, CLASSIC)
        assert Fraction(1, 10**150) < exact < CERTAIN_ENOUGH
        bound = lattice.relative_error(*size, CLASSIC)
        assert abs(Fraction(leap.win_probability(*size, CLASSIC)) - exact) <= exact * Fraction(
            bound
        )


def test_tiny_chances_of_large_battles_are_0() -> None:
    for size in ((2, 1000), (20, 900), (800_000, 10**6)):
        assert leap.win_probability(*size, CLASSIC) == 0


def test_more_attackers_win_more_often_at_any_size() -> None:
    for defenders in (10**4, 10**8, 10**12):
        even = round(0.853414372544 * defenders)
        chances = [leap.win_probability(even + n, defenders, CLASSIC) for n in range(-4, 5)]
        assert all(less < more for less, more in pairwise(chances))


@for_each("name", SEVERAL_RULES)
@for_each("size", [(300, 300), (700, 400), (400, 900), (1500, 20), (15, 900)])
@pytest.mark.slow
def test_survivors_agree_with_the_lattice(
    monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(leap_file, "MAX_FULL_STATES", 0)
    rules = SEVERAL_RULES[name]
    attackers, defenders = size
    expected = lattice.outcomes(Distribution([attackers]), defenders, rules)
    outcomes = leap.outcomes(Distribution([attackers]), defenders, rules)
    assert set(outcomes) <= set(expected)
    for outcome, chance in expected.items():
        if chance > 1e-15:
            assert math.isclose(outcomes[outcome], chance, rel_tol=1e-12)
        else:
            assert outcomes[outcome] <= 1.001e-15


@for_each("name", ["classic", "capital", "one die each", "dominating12"])
@for_each("size", [(420, 820), (900, 500), (600, 1400), (700, 330)])
def test_survivors_of_the_unlikely_winner_are_as_precise(
    monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    rules = SEVERAL_RULES[name]
    expected = lattice.outcomes(Distribution([size[0]]), size[1], rules)
    monkeypatch.setattr(leap_file, "MAX_FULL_STATES", 0)
    outcomes = leap.outcomes(Distribution([size[0]]), size[1], rules)
    for side in (is_won, lambda end: not is_won(end)):
        chance = expected.prob(side)
        if chance > 1e-149:
            assert math.isclose(outcomes.prob(side), chance, rel_tol=1e-12)
            left, other = outcomes.condition(side), expected.condition(side)
            number = lambda end: end.attackers + end.defenders  # noqa: E731 # once
            assert math.isclose(left.map(number).mean(), other.map(number).mean(), rel_tol=2e-12)
            for end, probability in other.items():
                if probability > 1e-15:
                    assert math.isclose(left[end], probability, rel_tol=2e-12)


@pytest.mark.parametrize("name", ["classic", "capital"])
def test_survivors_sum_to_the_chance(name: str) -> None:
    rules = SEVERAL_RULES[name]
    attackers = {"classic": 853_401, "capital": 1_710_400}[name]
    outcomes = leap.outcomes(Distribution([attackers]), 10**6, rules)
    assert math.isclose(sum(outcomes.values()), 1, rel_tol=1e-13)
    won = leap.win_probability(attackers, 10**6, rules)
    assert math.isclose(outcomes.prob(is_won), won, rel_tol=1e-12)


def test_only_likely_outcomes_are_computed() -> None:
    outcomes = leap.outcomes(Distribution([10**12]), 1000, CLASSIC)
    assert len(outcomes) < 1000
    lost = outcomes.map(lambda outcome: 10**12 - outcome.attackers)
    exact = lattice.outcomes(Distribution([3000]), 1000, CLASSIC)
    expected = exact.map(lambda outcome: 3000 - outcome.attackers)
    assert math.isclose(lost.mean(), expected.mean(), rel_tol=1e-9)
    held = leap.outcomes(Distribution([500]), 10**12, CLASSIC)
    assert not held.prob(is_won)
    assert len(held) < 1000


def test_a_distribution_of_attackers_is_a_mixture() -> None:
    outcomes = leap.outcomes(Distribution({1: 0.25, 2000: 0.5, 1800: 0.25}), 2000, CLASSIC)
    parts = {n: leap.outcomes(Distribution([n]), 2000, CLASSIC) for n in (2000, 1800)}
    assert outcomes[Outcome(1, 2000)] == pytest.approx(0.25)
    for outcome in (Outcome(300, 0), Outcome(1, 200)):
        mixed = 0.5 * parts[2000][outcome] + 0.25 * parts[1800][outcome]
        assert math.isclose(outcomes[outcome], mixed, rel_tol=1e-12)


@pytest.mark.parametrize("rules", [CLASSIC, find_rules("capital"), find_rules("dominating12")])
def test_a_walk_is_a_power_of_its_distribution(rules: Rules) -> None:
    for walk in (compute_attackers_walk(rules), leap_file.compute_defenders_walk(rules)):
        counts = [1]
        for rolls in range(1, 121):
            counts = [
                sum(
                    walk.counts[k] * counts[n - k]
                    for k in range(len(walk.counts))
                    if 0 <= n - k < len(counts)
                )
                for n in range(len(counts) + len(walk.counts) - 1)
            ]
            if rolls in (1, 2, 5, 40, 120):
                losses = np.arange(len(counts))
                found = leap_file.compute_probabilities(walk, np.full(len(counts), rolls), losses)
                for value, count in zip(found.tolist(), counts, strict=True):
                    exact = Fraction(count, walk.total**rolls)
                    if exact > Fraction(1, 10**30):
                        assert abs(Fraction(value) - exact) <= BOUND * exact


def test_an_excess_is_correctly_rounded() -> None:
    walk = compute_attackers_walk(CLASSIC)
    exact = 10**12 - Fraction(sum(k * n for k, n in enumerate(walk.counts)), walk.total) * 10**12
    assert leap_file.compute_excess(walk, 10**12, 10**12) == float(exact)


def test_many_faces_do_not_overflow() -> None:
    rules = Rules(attack=Dice((70, 70, 70)), defence=Dice((70, 70)))
    assert compute_attackers_walk(rules).total > 10**9
    for attackers in (260, 300):
        exact = counting.win_probability(attackers, 280, rules)
        assert_within_bound(leap.win_probability(attackers, 280, rules), exact)
    outcomes = leap.outcomes(Distribution([1200]), 1200, rules)
    won = lattice.win_probability(1200, 1200, rules)
    assert math.isclose(outcomes.prob(is_won), won, rel_tol=1e-11)


def test_spare_armies_do_not_matter() -> None:
    walk = compute_attackers_walk(CLASSIC)
    spare = leap_file.count_spare_armies(10**9, 50, walk, margin=128)
    enough = 10**9 - spare
    assert enough < 600
    assert closed_form.win_probability(enough + 1, 50, CLASSIC) > 1 - Fraction(1, 10**28)


def test_ends_of_a_tie_in_strength_hold_both_sides() -> None:
    left = leap_file.compute_ends(1000, 1150, CLASSIC, margin=128)
    total = left.attackers.chances.sum() + left.defenders.chances.sum()
    assert math.isclose(total, 1, rel_tol=1e-13)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (Rules(attack=Dice((6,), bonus=(6,)), defence=Dice((6,))), "more than one result"),
        (Rules(defence=Dice((6, 6), bonus=(6, 6))), "more than one result"),
        (Rules(attack=Dice((999, 6, 6))), "few armies almost never beat"),
        (find_rules("five ones"), "armies that grow when all dice show one cannot be used"),
    ],
)
def test_unsupported_rules_are_refused(rules: Rules, sentence: str) -> None:
    asks: list[Callable[[], object]] = [
        lambda: leap.win_probability(300, 300, rules),
        lambda: leap.outcomes(Distribution([300]), 300, rules),
        lambda: leap.both_chances(300, 300, rules),
    ]
    for ask in asks:
        with pytest.raises(iacta.IllegalError, match=sentence):
            ask()


def test_more_armies_than_floats_can_count_are_refused() -> None:
    with pytest.raises(iacta.TooLargeError, match=r"at most 10\^18"):
        leap.win_probability(10**19, 5, CLASSIC)
    with pytest.raises(iacta.TooLargeError, match="likely outcomes"):
        leap.outcomes(Distribution([8 * 10**11]), 10**12, CLASSIC)


RARE = {
    "hundred faces against two": Rules(attack=Dice((100,)), defence=Dice((2,))),
    "twenty against two": Rules(attack=Dice((20,)), defence=Dice((2,)), ties="attacker"),
    "two against fifty": Rules(attack=Dice((2,)), defence=Dice((50,))),
    "two against ten thousand": Rules(attack=Dice((2,)), defence=Dice((10_000,))),
    "ten thousand against three": Rules(attack=Dice((10_000,)), defence=Dice((3,))),
}


@for_each("name", RARE)
@for_each("size", [(2, 1000), (3, 600), (1000, 2), (1001, 5), (256, 4), (400, 4)])
def test_rare_losses_are_reported_as_well(name: str, size: tuple[int, int]) -> None:
    exact = counting.win_probability(*size, RARE[name])
    won, lost = leap.both_chances(*size, RARE[name])
    assert_within_bound(won, exact)
    assert_within_bound(lost, 1 - exact)


STRANGE = [
    Rules(
        attack=Dice((5, 5), keep=1, reroll=(1,), bonus=(-1,)),
        defence=Dice((4, 4, 4)),
        full_attack=Dice((4, 5), keep=1, reroll=(1,), bonus=(1,)),
        garrison=0,
    ),
    Rules(
        attack=Dice((5, 3, 4), reroll=(2, 5), bonus=(-1,)),
        defence=Dice((4,), reroll=(1, 4), bonus=(-1,)),
        full_defence=Dice((5,), clamp=(1, 6)),
        ties="attacker",
        garrison=0,
    ),
    Rules(
        attack=Dice((4, 3, 5)), defence=Dice((4, 3, 1), reroll=(3, 4)), ties="attacker", garrison=0
    ),
]


@for_each("size", [(283, 61), (50, 999), (2, 1087), (700, 2), (900, 300)])
@for_each("rules", STRANGE)
def test_small_strong_sides_are_not_left_out(
    monkeypatch: pytest.MonkeyPatch, rules: Rules, size: tuple[int, int]
) -> None:
    expected = lattice.outcomes(Distribution([size[0]]), size[1], rules)
    found = leap.both_chances(*size, rules)
    monkeypatch.setattr(leap_file, "MAX_FULL_STATES", 0)
    outcomes = leap.outcomes(Distribution([size[0]]), size[1], rules)
    for side, chance in zip((is_won, lambda end: not is_won(end)), found, strict=True):
        exact = expected.prob(side)
        if exact > 1e-149:
            assert math.isclose(chance, exact, rel_tol=1e-12)
            assert math.isclose(outcomes.prob(side), exact, rel_tol=1e-12)


@for_each("size", [(2, 1000), (3, 1300), (4, 1300), (5, 900), (1300, 2), (1300, 1)])
@for_each(
    "rules",
    [
        find_rules("zombie defender"),
        Rules(attack=Dice((6,)), defence=Dice((6, 6, 6))),
        Rules(attack=Dice((6, 6)), defence=Dice((6,) * 4)),
        Rules(attack=Dice((6, 6, 6), bonus=(2, 1))),
        Rules(defence=Dice((1, 1))),
    ],
)
def test_survivors_of_uneven_battles_are_correct(rules: Rules, size: tuple[int, int]) -> None:
    outcomes = leap.outcomes(Distribution([size[0]]), size[1], rules)
    expected = lattice.outcomes(Distribution([size[0]]), size[1], rules)
    assert math.isclose(sum(outcomes.values()), 1, rel_tol=1e-12)
    for outcome, chance in expected.items():
        if chance > 1e-15:
            assert math.isclose(outcomes[outcome], chance, rel_tol=1e-12)


@pytest.mark.parametrize("garrison", [10**7, 10**18, 2**63, 10**30])
def test_a_large_garrison_costs_nothing(garrison: int) -> None:
    rules = Rules(garrison=garrison)
    assert leap.win_probability(5, 3, rules) == 0
    if garrison < 10**18:
        assert leap.win_probability(garrison + 11, 10, rules) == leap.win_probability(
            12, 10, CLASSIC
        )
