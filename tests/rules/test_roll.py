"""The distribution of losses in one roll."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iacta import CLASSIC, Dice, Losses, Roll, Rules, TooLargeError
from iacta.rules import roll as rolls
from iacta.rules.modes import ArmiesGrow, DefenderSeesFirst
from iacta.rules.roll import count_losses_by_throw, loss_counts, refuse_many_rolls
from iacta.rules.thrown import compare_dice
from iacta.rules.variants import find_rules
from tests import brute, strategies
from tests.cases import for_each


@given(strategies.rules(), st.data())
def test_the_distribution_agrees_with_enumeration(rules: Rules, data: st.DataObject) -> None:
    attack_dice = data.draw(st.integers(1, rules.attack.kept))
    defence_dice = data.draw(st.integers(1, rules.defence.kept))
    assert dict(Roll(attack_dice, defence_dice, rules).losses()) == brute.roll_losses(
        attack_dice, defence_dice, rules
    )


@given(strategies.rules(), st.data())
def test_rolls_counted_by_value_equal_rolls_counted_by_row(
    rules: Rules, data: st.DataObject
) -> None:
    kept = rules.attack.kept, rules.defence.kept
    ours, theirs = (data.draw(st.integers(1, most)) for most in kept)
    dice = ours, theirs, *rules.dice(ours, theirs)
    assume(rolls._estimate_value_steps(*dice) < inf)
    counts = rolls._count_by_value(*dice, rules.ties)
    assert counts == rolls._count_by_row(*dice, rules.ties)


@for_each("attack_dice", range(1, 5))
@for_each("defence_dice", range(1, 5))
def test_distributions_agree_in_both_size_orders(attack_dice: int, defence_dice: int) -> None:
    rules = Rules(attack=Dice((4,) * 4, bonus=(1,)), defence=Dice((5, 4, 3, 2), bonus=(0, 1)))
    losses = dict(Roll(attack_dice, defence_dice, rules).losses())
    assert losses == brute.roll_losses(attack_dice, defence_dice, rules)


CHANGES = {
    "-1 on the highest": (-1, 0, 0),
    "+1 on the lowest": (0, 0, 1),
    "-1 on the highest, +1 on the lowest": (-1, 0, 1),
    "+2 on the second": (0, 2),
}


def count_by_hand(bonus: tuple[int, ...], *, sort_again: bool) -> Counter[int]:
    """Count the rolls of three dice against two by the number of defenders lost."""
    counts: Counter[int] = Counter()
    for a, b, c, y, z in product(range(1, 7), repeat=5):
        ours = [die + more for die, more in zip(sorted((a, b, c))[::-1], (*bonus, 0), strict=False)]
        if sort_again:
            ours = sorted(ours)[::-1]
        counts[(ours[0] > max(y, z)) + (ours[1] > min(y, z))] += 1
    return counts


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("sort_again", [True, False])
def test_dice_are_sorted_again_after_a_bonus_unless_the_rules_say_otherwise(
    name: str, *, sort_again: bool
) -> None:
    dice = Dice((6, 6, 6), bonus=CHANGES[name], sort_again=sort_again)
    rules = Rules(attack=dice)
    counts = count_by_hand(CHANGES[name], sort_again=sort_again)
    assert loss_counts(3, 2, rules).counts == (counts[0], counts[1], counts[2])
    seen = Counter(
        compare_dice(each[:3], each[3:], rules).defenders for each in product(range(1, 7), repeat=5)
    )
    assert seen == counts


def test_the_order_of_a_bonus_matters_where_dice_are_sorted_again() -> None:
    """A die outside the compared dice can become one of the highest."""
    lowest = Rules(attack=Dice((6, 6, 6), bonus=(0, 0, 3)))
    kept = Rules(attack=Dice((6, 6, 6), bonus=(0, 0, 3), sort_again=False))
    assert loss_counts(3, 1, kept) == loss_counts(3, 1, CLASSIC)
    assert loss_counts(3, 1, lowest).counts != loss_counts(3, 1, CLASSIC).counts
    assert dict(Roll(3, 1, lowest).losses()) == brute.roll_losses(3, 1, lowest)


def test_many_dice_are_sorted_again() -> None:
    dice = Dice((6,) * 30, bonus=(-1,))
    rules = Rules(attack=dice)
    found = loss_counts(30, 2, rules)
    assert sum(found.counts) == found.total == 6**32


GAINS = {
    "capital": Rules(defence=Dice((6, 6, 6)), mode=ArmiesGrow()),
    "two gained": Rules(mode=ArmiesGrow(2)),
    "ties to the attacker": Rules(ties="attacker", mode=ArmiesGrow()),
    "ones thrown again": Rules(
        attack=Dice((4, 3), reroll=(1,)), defence=Dice((5, 2), reroll=(1, 2)), mode=ArmiesGrow()
    ),
    "spare dice": Rules(
        attack=Dice((4, 4, 4), keep=2), defence=Dice((3, 3), keep=1, bonus=(2,)), mode=ArmiesGrow(3)
    ),
    "bonus on the lowest": Rules(
        attack=Dice((4, 4), bonus=(0, 2)), defence=Dice((3, 3), bonus=(-1, 1)), mode=ArmiesGrow()
    ),
    "other full dice": Rules(
        attack=Dice((6, 6)), defence=Dice((6,)), full_attack=Dice((9, 3)), mode=ArmiesGrow()
    ),
}


@pytest.mark.parametrize("name", GAINS)
def test_gains_are_the_full_rolls_in_which_all_natural_dice_show_one(name: str) -> None:
    rules = GAINS[name]
    attack_dice, defence_dice = rules.full_roll
    assert isinstance(rules.mode, ArmiesGrow)
    gain = Losses(-rules.mode.gain, -rules.mode.gain)
    full = dict(Roll(attack_dice, defence_dice, rules).losses())
    assert full == brute.roll_losses(attack_dice, defence_dice, rules)
    assert full[gain] > 0
    for dice in ((1, defence_dice), (attack_dice - 1, 1)):
        assert gain not in Roll(*dice, rules).losses()
        assert dict(Roll(*dice, rules).losses()) == brute.roll_losses(*dice, rules)


def test_fewer_dice_are_the_first_dice_in_the_list() -> None:
    rules = Rules(attack=Dice((8, 6, 6)))
    assert loss_counts(1, 1, rules).total == 48
    assert Roll(2, 1, rules).best_attack_dice(1)[8,] == Fraction(1, 8)


def test_few_armies_also_throw_spare_dice() -> None:
    rules = Rules(defence=Dice((6, 6, 6), keep=2))
    assert loss_counts(1, 1, rules).total == 216
    assert Roll(1, 1, rules).best_defence_dice()[6,] == Fraction(11, 36)


def test_the_joint_distribution_of_a_side_equals_sorted_throws() -> None:
    dice = Roll(3, 2).best_attack_dice()
    twin = [tuple(throw) for throw in brute.throws(CLASSIC.attack, 3)]
    assert all(dice[row] == Fraction(twin.count(row), 216) for row in set(twin))
    assert sum(dice.values()) == 1


def test_joint_distribution_of_both_sides_gives_the_losses() -> None:
    roll = Roll(3, 2, "capital")
    joint = roll.compared_dice()

    def losses(dice: tuple[tuple[int, ...], tuple[int, ...]]) -> Losses:
        won = sum(y > z for y, z in zip(*dice, strict=True))
        return Losses(2 - won, won)

    assert joint.map(losses) == roll.losses()


def test_a_die_may_have_130_faces() -> None:
    rules = Rules(attack=Dice((130, 130)), defence=Dice((130,)))
    losses = loss_counts(1, 1, rules)
    assert losses.counts == (130 * 131 // 2, 130 * 129 // 2)


def test_ten_dice_against_ten() -> None:
    found = loss_counts(10, 10, Rules(attack=Dice((6,) * 10), defence=Dice((6,) * 10)))
    assert sum(found.counts) == found.total == 6**20


def test_seven_dice_of_twenty_faces_against_six() -> None:
    rules = Rules(attack=Dice((20,) * 7), defence=Dice((20,) * 6))
    refuse_many_rolls(7, 6, rules, seconds=1)
    found = loss_counts(7, 6, rules)
    assert sum(found.counts) == found.total == 20**13
    few = Rules(attack=Dice((20,) * 4), defence=Dice((20,) * 3))
    assert loss_counts(4, 3, few).counts == rolls._count_by_row(4, 3, *few.dice(4, 3), few.ties)


SEEN = Rules(attack=Dice((6,) * 5), defence=Dice((6,) * 4), mode=DefenderSeesFirst())


def test_rows_are_compared_no_more_often_than_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dice are refused if this count is too large, so it must be an upper bound."""
    compared, after_rank = 0, rolls._compare_rank

    def counted(highest: int, defence: Any) -> Any:
        nonlocal compared
        compared += len(defence)
        return after_rank(highest, defence)

    monkeypatch.setattr(rolls, "_compare_rank", counted)
    count_losses_by_throw.__wrapped__(5, 4, SEEN)
    assert 0 < compared <= rolls._estimate_seen_steps(5, 4, SEEN)


def test_too_many_seen_throws_are_refused() -> None:
    rules = replace(SEEN, attack=Dice((20,) * 7), defence=Dice((20,) * 2))
    for refused in (
        lambda: refuse_many_rolls(7, 2, rules),
        lambda: count_losses_by_throw(7, 2, rules),
    ):
        with pytest.raises(TooLargeError, match="7 attack dice of up to 20 faces against 2"):
            refused()


def test_all_ranks_lost_by_a_side_are_won_by_the_other_that_wins_ties() -> None:
    dice = Dice((6,) * 7)
    found, mirrored = (
        loss_counts(7, 7, Rules(attack=dice, defence=dice, ties=ties))
        for ties in ("defender", "attacker")
    )
    assert found.counts == mirrored.counts[::-1]


def test_too_many_dice_are_refused_at_once() -> None:
    rules = Rules(attack=Dice((1000,) * 50), defence=Dice((1000,) * 50))
    with pytest.raises(TooLargeError):
        loss_counts(50, 50, rules)
    with pytest.raises(TooLargeError):
        Roll(50, 1, rules).best_attack_dice()
    with pytest.raises(TooLargeError):
        loss_counts(1, 1, Rules(attack=Dice((10**6,)), defence=Dice((10**6,))))
    many = Rules(attack=Dice((130,) * 2), defence=Dice((130,) * 2))
    with pytest.raises(TooLargeError):
        Roll(2, 2, many).compared_dice()


@pytest.mark.parametrize(
    "rules", ["classic", "capital", "zombie attacker", "five ones", "ammo shortage"]
)
def test_losses_against_seen_dice_follow_the_distribution(rules: str) -> None:
    found = find_rules(rules)
    for ours, theirs in product(range(1, found.attack.kept + 1), range(1, found.defence.kept + 1)):
        if ours + theirs > 5:
            continue
        dice = product(range(1, 7), repeat=ours + theirs)
        seen = Counter(compare_dice(each[:ours], each[ours:], found) for each in dice)
        shares = {each: Fraction(n, 6 ** (ours + theirs)) for each, n in seen.items()}
        assert shares == dict(Roll(ours, theirs, found).losses().items())


def test_a_defender_who_sees_the_dice_loses_as_in_an_enumeration() -> None:
    found = find_rules("defender sees first")
    for ours, most in ((1, 2), (2, 2), (3, 2), (3, 1)):
        expected = [Fraction(0), Fraction(0)]
        for mine in product(range(1, 7), repeat=ours):
            replies = []
            for dice in range(1, most + 1):
                lost = [
                    compare_dice(mine, yours, found) for yours in product(range(1, 7), repeat=dice)
                ]
                means = [Fraction(sum(side), len(lost)) for side in zip(*lost, strict=True)]
                replies.append((means[0] - means[1], dice, means))
            best = max(replies)[2]
            expected = [total + mean / 6**ours for total, mean in zip(expected, best, strict=True)]
        assert Roll(ours, most, found).expected_losses_if_seen() == tuple(expected)
