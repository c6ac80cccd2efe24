"""The faces of rolled dice: they cause the losses of the roll, and are distributed like dice."""

from collections import Counter

import pytest

from iacta.game import Turn
from iacta.game.steps import list_rolls, throw_faces
from iacta.rules.thrown import compare_dice
from iacta.rules.variants import RULE_SETS

CODE = "1;classic;red;Peru:red:9,Brazil:blue:4,Argentina:blue:1"
BORDER = {"do": "roll", "from": "Peru", "to": "Brazil"}
NAMES = [variant.name for variant in RULE_SETS if not variant.rules.mode.grows]
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
