"""The faces of rolled dice: they cause the losses of the roll, and are distributed like dice."""

from collections import Counter

import pytest

from iacta.game import Losses, Turn
from iacta.game.step_dice import list_rolls, throw_faces, throw_last_faces
from iacta.game.step_fields import read_losses
from iacta.game.steps import record_step
from iacta.rules.thrown import compare_dice
from iacta.rules.variants import RULE_SETS

CODE = "1;classic;red;Peru:red:9,Brazil:blue:4,Argentina:blue:1"
BORDER = {"do": "roll", "from": "Peru", "to": "Brazil"}
NAMES = [
    each.name for each in RULE_SETS if not each.rules.mode.grows and each.rules.mode.fits_turns
]
ROLLED = [
    name
    for name in NAMES
    if Turn.from_code(CODE).with_options(rules=name).has_single_rolls("Brazil")
]


@pytest.mark.parametrize("name", ROLLED)
@pytest.mark.parametrize("is_single", [True, False])
def test_the_faces_cause_the_losses_of_the_last_roll(name: str, is_single: bool) -> None:
    turn = Turn.from_code(CODE).with_options(rules=name)
    for seed in range(20):
        step = {**BORDER, "once": is_single, "seed": seed}
        faces, last = throw_faces(turn, step), list_rolls(turn, step)[-1]
        assert faces is not None
        mine, theirs = faces
        assert (len(mine), len(theirs)) == (last.dice, last.their_dice)
        assert mine == sorted(mine, reverse=True)
        assert compare_dice(mine, theirs, turn.rules) == last.losses


def test_the_faces_are_distributed_like_thrown_dice() -> None:
    turn = Turn.from_code(CODE)
    found = [throw_faces(turn, {**BORDER, "once": True, "seed": seed}) for seed in range(2_000)]
    highest = Counter(faces[0][0] for faces in found if faces is not None)
    for face in range(1, 7):
        chance = (face**3 - (face - 1) ** 3) / 216
        error = 5 * (2_000 * chance * (1 - chance)) ** 0.5
        assert abs(highest[face] - 2_000 * chance) < error


def test_a_whole_battle_has_no_faces() -> None:
    turn = Turn.from_code(CODE).with_options(whole_battles=True)
    assert throw_faces(turn, {**BORDER, "seed": 1}) is None


@pytest.mark.parametrize("name", ROLLED)
def test_the_last_dice_of_a_recorded_battle_may_cause_its_losses(name: str) -> None:
    turn = Turn.from_code(CODE).with_options(rules=name)
    for seed in range(10):
        step = record_step(
            turn, {**BORDER, "seed": seed}, list_rolls(turn, {**BORDER, "seed": seed})[-1].after
        )
        faces, losses = throw_last_faces(turn, step, seed), read_losses(turn, step)
        if faces is None:
            continue  # armies were gained
        last = compare_dice(*faces, turn.rules)
        assert last.attackers <= losses.attackers
        assert last.defenders <= losses.defenders


def test_the_last_dice_of_a_single_roll_cause_its_losses() -> None:
    turn = Turn.from_code(CODE)
    step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 8, "their_left": 3, "dice": 3}
    faces = throw_last_faces(turn, step, 1)
    assert faces is not None
    assert [len(dice) for dice in faces] == [3, 2]
    assert compare_dice(*faces, turn.rules) == (1, 1)
    assert throw_last_faces(turn, {"do": "stop"}, 1) is None
    assert throw_last_faces(turn.with_options(whole_battles=True), step, 1) is None


def test_the_last_roll_is_distributed_like_the_last_roll_of_battles() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2,Argentina:blue:1")
    step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 4, "their_left": 0}
    drawn = Counter[Losses]()
    for seed in range(400):
        faces = throw_last_faces(turn, step, seed)
        assert faces is not None
        drawn[compare_dice(*faces, turn.rules)] += 1
    battles = Counter[Losses]()
    for seed in range(2_000):
        rolls = list_rolls(turn, {**BORDER, "seed": seed})
        is_taken = rolls[-1].after.owner_of("Brazil") == "red"
        if is_taken and sum(roll.losses.attackers for roll in rolls) == 2:
            battles[rolls[-1].losses] += 1
    assert {*drawn} == {*battles} == {Losses(0, 1), Losses(0, 2)}
    shares = [found[Losses(0, 1)] / found.total() for found in (drawn, battles)]
    assert abs(shares[0] - shares[1]) < 0.15
