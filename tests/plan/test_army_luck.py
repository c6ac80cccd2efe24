"""Luck in armies: equal to an enumeration of all dice, 0 on average, and the same for all goals."""

import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest

from iacta import review
from iacta.game import Turn
from iacta.questions import ask

Losses = tuple[int, int]


@cache
def count_rolls(attack_dice: int, defence_dice: int) -> dict[Losses, Fraction]:
    """Return the distribution of both sides' losses, by enumerating all dice."""
    found = Counter[Losses]()
    for dice in product(range(1, 7), repeat=attack_dice + defence_dice):
        pairs = zip(
            sorted(dice[:attack_dice], reverse=True),
            sorted(dice[attack_dice:], reverse=True),
            strict=False,
        )
        lost = sum(mine <= theirs for mine, theirs in pairs)
        found[lost, min(attack_dice, defence_dice) - lost] += 1
    total = 6 ** (attack_dice + defence_dice)
    return {losses: Fraction(number, total) for losses, number in found.items()}


def find_ends(
    attackers: int, defenders: int, is_stop: Callable[[int, int], bool]
) -> dict[Losses, Fraction]:
    """Return the chance of each end of a battle, by the armies left on both sides.

    attackers: the armies on the attacking territory, one of which stays behind.
    is_stop: whether the attackers stop.
    """
    if attackers == 1 or defenders == 0 or is_stop(attackers, defenders):
        return {(attackers, defenders): Fraction(1)}
    found: dict[Losses, Fraction] = {}
    rolls = count_rolls(min(3, attackers - 1), min(2, defenders))
    for (lost, killed), chance in rolls.items():
        for end, then in find_ends(attackers - lost, defenders - killed, is_stop).items():
            found[end] = found.get(end, Fraction(0)) + chance * then
    return found


def fight_on(attackers: int, defenders: int) -> bool:
    return False


def expect_losses(attackers: int, defenders: int) -> tuple[Fraction, Fraction]:
    """Return the expected losses of both sides in a battle to the end."""
    ends = find_ends(attackers, defenders, fight_on)
    return (
        sum((p * (attackers - left) for (left, _), p in ends.items()), Fraction(0)),
        sum((p * (defenders - left) for (_, left), p in ends.items()), Fraction(0)),
    )


def measure(attackers: int, defenders: int, left: int, their_left: int, **more: Any) -> float:
    """Return the luck in armies; assert that a review and the steps of a turn agree."""
    turn = Turn.from_code(f"1;classic;red;Peru:red:{attackers},Brazil:blue:{defenders}")
    dice: dict[str, int] = {key: more[key] for key in ("dice", "their_dice") if key in more}
    goal = {"goal": more["goal"]} if "goal" in more else {}
    battle = {"from": "Peru", "to": "Brazil", "left": left, "their_left": their_left, **dice}
    moved = {"moved": left - 1} if not their_left else {}
    line = {"turn": turn.to_code(), "battles": [battle | moved], **goal, "stops": False}
    found = review(json.dumps(line))
    step = {"do": "attack", "after": 0, **battle, **goal}
    row = ask("steps", code=turn.to_code(), steps=[step]).record()["values"][1]
    luck = found.steps[0].luck_armies
    assert luck is not None
    assert row["luck_armies"] == luck == found.players[0].luck_armies
    return luck


@pytest.mark.parametrize(("attackers", "defenders"), [(9, 4), (3, 1), (2, 3), (3, 3)])
def test_the_luck_of_a_roll_agrees_with_all_dice(attackers: int, defenders: int) -> None:
    dice = min(3, attackers - 1)
    rolls = count_rolls(dice, min(2, defenders))
    expected = [sum(p * losses[side] for losses, p in rolls.items()) for side in (0, 1)]
    total = 0.0
    for (lost, killed), chance in rolls.items():
        luck = measure(attackers, defenders, attackers - lost, defenders - killed, dice=dice)
        assert luck == pytest.approx(float((expected[0] - lost) + (killed - expected[1])))
        total += float(chance) * luck
    assert total == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("dice", [3, 2, 1])
def test_luck_against_fewer_defence_dice_uses_the_rolled_dice(dice: int) -> None:
    rolls = count_rolls(dice, 1)
    lost, killed = (sum(p * losses[side] for losses, p in rolls.items()) for side in (0, 1))
    for loss, kill in rolls:
        luck = measure(9, 4, 9 - loss, 4 - kill, dice=dice, their_dice=1)
        assert luck == pytest.approx(float((lost - loss) + (kill - killed)))


@pytest.mark.parametrize(("attackers", "defenders"), [(6, 4), (3, 2), (2, 2), (4, 1)])
def test_the_luck_of_a_battle_agrees_with_all_dice(attackers: int, defenders: int) -> None:
    mine, theirs = expect_losses(attackers, defenders)
    total = 0.0
    for (left, their_left), chance in find_ends(attackers, defenders, fight_on).items():
        luck = measure(attackers, defenders, left, their_left)
        expected = (mine - (attackers - left)) + ((defenders - their_left) - theirs)
        assert luck == pytest.approx(float(expected))
        total += float(chance) * luck
    assert total == pytest.approx(0.0, abs=1e-12)


STOPS: dict[str, Callable[[int, int], bool]] = {
    "with three attackers": lambda attackers, _: attackers <= 3,
    "after the first loss": lambda attackers, _: attackers < 6,
    "while ahead": lambda attackers, defenders: attackers > defenders + 3,
}


@pytest.mark.parametrize("stop", STOPS)
def test_the_luck_of_a_battle_that_stops_early_is_0_on_average(stop: str) -> None:
    ends = find_ends(6, 4, STOPS[stop])
    lucks = [float(p) * measure(6, 4, *end) for end, p in ends.items()]
    assert any(abs(luck) > 0.01 for luck in lucks)
    assert math.fsum(lucks) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"goal": None},
        {"goal": {"take": "Brazil"}},
        {"goal": {"take": "Peru"}},
        {"goal": {"worth": True}},
    ],
)
def test_luck_in_armies_is_the_same_for_every_goal(more: dict[str, Any]) -> None:
    assert measure(9, 4, 6, 2, **more) == measure(9, 4, 6, 2)


def test_heavy_losses_after_the_goal_is_reached_are_bad_luck_in_armies() -> None:
    turn = "1;classic;red;Peru:red:9,Brazil:blue:2"
    battle = {"from": "Peru", "to": "Brazil", "left": 6, "their_left": 0, "moved": 5}
    line = {"turn": turn, "goal": {"take": "Peru"}, "battles": [battle]}
    step, _ = review(json.dumps(line)).steps
    assert (step.luck, step.cost) == (0.0, 0.0)
    assert step.luck_armies is not None
    assert step.luck_armies < -1


def test_battles_that_are_too_large_have_no_luck_in_armies() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:900000,Brazil:blue:900000")
    battle = {"from": "Peru", "to": "Brazil", "left": 899_000, "their_left": 899_000}
    found = review(json.dumps({"turn": turn.to_code(), "battles": [battle]}))
    assert [each.luck_armies for each in found.steps] == [None, None]
    assert found.players[0].luck_armies is None
