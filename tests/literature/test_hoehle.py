"""Tan's distribution is wrong: simulated dice reject it but do not reject the correct one."""

import builtins
import math
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest

from iacta import CLASSIC, IllegalError, MissingError, win_table
from iacta_literature import hoehle
from iacta_literature.hoehle import chi_square, run_trial, wrong_distribution
from iacta_literature.pracpred import ABLE
from tests import brute

PAIRS = list(product((1, 2, 3), (1, 2)))
WRONG = [(2, 2), (3, 2)]


def rank_chances(attack_dice: int, defence_dice: int) -> list[Fraction]:
    """Return the chance that the attackers win each rank, by enumeration."""
    rolls = 6 ** (attack_dice + defence_dice)
    ranks = min(attack_dice, defence_dice)
    won = [0] * ranks
    for dice in product(range(1, 7), repeat=attack_dice + defence_dice):
        ours = sorted(dice[:attack_dice], reverse=True)
        theirs = sorted(dice[attack_dice:], reverse=True)
        for rank in range(ranks):
            won[rank] += ours[rank] > theirs[rank]
    return [Fraction(count, rolls) for count in won]


def independent_ranks(attack_dice: int, defence_dice: int) -> list[Fraction]:
    """Multiply the chances of the ranks."""
    ranks = rank_chances(attack_dice, defence_dice)
    chances = [Fraction(0)] * (len(ranks) + 1)
    for wins in product((0, 1), repeat=len(ranks)):
        chance = prod(
            (rank if win else 1 - rank for rank, win in zip(ranks, wins, strict=True)),
            start=Fraction(1),
        )
        chances[sum(wins)] += chance
    return chances


@pytest.mark.parametrize("dice", PAIRS)
def test_the_wrong_distribution_multiplies_the_ranks(dice: tuple[int, int]) -> None:
    assert list(wrong_distribution(*dice)) == independent_ranks(*dice)
    assert sum(wrong_distribution(*dice)) == 1


@pytest.mark.parametrize("dice", PAIRS)
def test_the_wrong_distribution_differs_only_for_two_pairs(dice: tuple[int, int]) -> None:
    counted = brute.roll_losses(*dice, CLASSIC)
    compared = min(dice)
    assert hoehle.right_distribution(*dice) == tuple(
        counted[compared - k, k] for k in range(compared + 1)
    )
    assert (wrong_distribution(*dice) != hoehle.right_distribution(*dice)) == (dice in WRONG)


def test_the_wrong_distribution_equals_hoehle_s_table() -> None:
    # Höhle (2025), appendix 2, column prob_indep: the chances to lose both ranks, to win one rank
    # (in two ways) and to win both ranks.
    lost, one, won = map(float, wrong_distribution(3, 2))
    assert (round(lost, 3), round(won, 3)) == (0.207, 0.286)
    assert abs(one - (0.321 + 0.185)) < 0.001


def test_no_second_factor_explains_the_printed_factor() -> None:
    lost, _, won = wrong_distribution(3, 2)
    first, _ = rank_chances(3, 2)
    assert (1 - first) * (1 - won / first) == lost
    half = Fraction(1, 2000)  # half a unit of the last printed digit
    none, _, both = (Fraction(str(chance)) for chance in hoehle.PRINTED_3_AGAINST_2)
    assert (both + half) / first < 1 - (none + half) / (1 - first)


@pytest.mark.parametrize("dice", WRONG)
def test_real_dice_reject_the_wrong_distribution_but_not_the_right_one(
    dice: tuple[int, int],
) -> None:
    for seed in range(20):
        tested = run_trial(*dice, seed=seed)
        assert sum(tested.counts) == 10_000
        assert tested.wrong.p_value < 1e-50
        assert tested.right.p_value > 1e-6
    assert sum(run_trial(*dice, seed=seed).right.p_value < 0.05 for seed in range(200)) in range(
        1, 24
    )


def test_real_dice_reject_what_was_printed() -> None:
    counts = run_trial().counts
    assert chi_square(hoehle.PRINTED_3_AGAINST_2, counts).p_value < 1e-50
    assert chi_square([0.2926, 0.3358, 0.3716], counts).p_value > 0.001


@pytest.mark.parametrize("dice", [pair for pair in PAIRS if pair not in WRONG])
def test_equal_distributions_give_equal_tests(dice: tuple[int, int]) -> None:
    tested = run_trial(*dice)
    assert tested.wrong == tested.right
    assert tested.right.p_value > 1e-6


def test_the_statistic_is_pearson_s() -> None:
    distribution, counts = [0.2, 0.3, 0.5], [25, 25, 50]
    tested = chi_square(distribution, counts)
    expected = [p * 100 for p in distribution]
    statistic = sum((n - e) ** 2 / e for n, e in zip(counts, expected, strict=True))
    assert math.isclose(tested.statistic, statistic)
    # With two degrees of freedom, the tail of the distribution is exp(−x/2).
    assert math.isclose(tested.p_value, math.exp(-statistic / 2))


def test_an_impossible_result_raises_an_alarm() -> None:
    assert chi_square([0, 1], [1, 99]) == (math.inf, 0.0)
    assert chi_square([0, 1], [0, 99]) == (0.0, 1.0)
    assert chi_square([0, 0.5, 0.5], [0, 50, 50]) == (0.0, 1.0)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(IllegalError, match="attack_dice must be a whole number from 1 to 3, got 4"):
        wrong_distribution(4, 2)
    with pytest.raises(IllegalError, match="defence_dice must be a whole number from 1 to 2"):
        run_trial(3, 3)
    with pytest.raises(IllegalError, match="rolls must be a whole number from 1"):
        run_trial(rolls=0)
    for counts in ([1], [0, 0]):
        with pytest.raises(IllegalError, match="counts must be"):
            chi_square([0.5, 0.5], counts)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_scipy(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_scipy)
    with pytest.raises(MissingError, match=r"needs SciPy, .* pip install scipy$"):
        run_trial()


# Errata of a definition and of a piece of advice, for which the source prints no value.


def test_the_printed_line_rejects_24_favourable_battles() -> None:
    start, slope = Fraction("1.2204"), Fraction("0.8525")
    table = win_table(50, 50, ABLE, exact=True)
    refused = {
        (attackers, defenders)
        for attackers, defenders in product(range(5, 51), range(1, 51))
        if table[attackers - 1, defenders - 1] > Fraction(1, 2)
        and attackers < start + slope * defenders
    }
    assert len(refused) == 24
    assert (5, 5) in refused
