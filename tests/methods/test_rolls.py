"""The rolls that a kernel offers to attackers agree with the battles that it solves."""

from functools import cache

import pytest

from iacta import CLASSIC, Dice, Roll, Rules
from iacta.methods import choose_kernel
from iacta.rules.modes import ArmiesGrow, BalancedBlitz, DefenderSeesFirst

RULES = [
    CLASSIC,
    Rules(defence=Dice((6, 6, 6)), ties="attacker"),
    Rules(mode=DefenderSeesFirst()),
    Rules(defence=Dice((6, 6, 6)), mode=DefenderSeesFirst()),
    Rules(mode=BalancedBlitz()),
]


@pytest.mark.parametrize("rules", RULES)
def test_rolls_with_all_dice_make_up_a_battle(rules: Rules) -> None:
    kernel = choose_kernel(rules)

    @cache
    def chance(able: int, defenders: int) -> float:
        if not able or not defenders:
            return float(not defenders)
        return sum(
            throw.chance
            * min(
                sum(
                    each.chance * chance(able - each.attackers, defenders - each.defenders)
                    for each in option
                )
                for option in throw.options
            )
            for throw in kernel.rolls(able, defenders)[0].throws
        )

    for able in range(1, 9):
        for defenders in range(1, 7):
            known = float(kernel.win_probability(able, defenders))
            assert chance(able, defenders) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("rules", RULES)
def test_probabilities_sum_to_one(rules: Rules) -> None:
    kernel = choose_kernel(rules)
    for able in range(1, 5):
        for defenders in range(1, 5):
            for choice in (*kernel.rolls(able, defenders), kernel.battle(able, defenders)):
                assert sum(throw.chance for throw in choice.throws) == pytest.approx(1.0)
                for throw in choice.throws:
                    for option in throw.options:
                        assert sum(each.chance for each in option) == pytest.approx(1.0)


def test_no_roll_can_cost_more_than_can_be_spared() -> None:
    official, free = choose_kernel(CLASSIC), choose_kernel(Rules(least_advance=False))
    assert [choice.dice for choice in official.rolls(5, 1, 2)] == [2, 1]
    assert [choice.dice for choice in free.rolls(5, 1, 2)] == [3, 2, 1]
    assert [choice.dice for choice in official.rolls(5, 2, 1)] == [1]
    assert official.rolls(5, 3, 2)[0].dice == 3
    assert official.rolls(5, 3, 0) == ()
    blitz = choose_kernel(Rules(mode=BalancedBlitz()))
    assert blitz.rolls(5, 3, 2) == (blitz.battle(2, 3),)
    assert blitz.rolls(5, 3, 0) == ()


@pytest.mark.parametrize("gain", [1, 3])
@pytest.mark.parametrize(("able", "defenders"), [(3, 2), (5, 4), (2, 2), (3, 1)])
def test_growth_of_armies_is_a_result_of_a_roll(able: int, defenders: int, gain: int) -> None:
    rules = Rules(mode=ArmiesGrow(gain=gain))
    for choice in choose_kernel(rules).rolls(able, defenders):
        ((chance, (results,)),) = choice.throws
        wanted = Roll(choice.dice, min(defenders, 2), rules).losses()
        assert chance == 1
        assert {tuple(losses): p for p, *losses in results} == {
            tuple(losses): float(p) for losses, p in wanted.items()
        }
