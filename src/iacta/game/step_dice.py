"""The dice of recorded steps: rolls from a seed, faces that a player enters, and faces to show."""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from iacta.game.actions import Attack
from iacta.game.step_fields import Step, find_attack, read_border, read_losses
from iacta.game.turn import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.methods.kernel import Throw
from iacta.rules.dice import Dice, split_dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta.rules.thrown import compare_dice, throw_dice

BETWEEN_SIDES = re.compile(r"\s*(?:\bvs?\b\.?|\bagainst\b|[:;|])\s*", re.IGNORECASE)
MAX_STEP_ROLLS = 2_000  # the maximum number of rolls in a `roll` step
MAX_COURSES = 2_500  # maximum number of states of a battle whose last roll is drawn
MAX_THROWS = 1_000  # the maximum number of throws in search of faces with given losses
Faces: TypeAlias = tuple[list[int], list[int]]  # the dice of both sides, the highest first


class StepRoll(NamedTuple):
    """A roll in a step `roll`."""

    turn: Turn  # the turn before the roll
    dice: int  # the number of attack dice
    their_dice: int  # the number of defence dice
    losses: Losses
    after: Turn  # the turn after the roll


def list_rolls(turn: Turn, step: Step) -> list[StepRoll]:
    """Return the rolls of a step `roll`, which are the same for the same seed."""
    start, to = read_border(turn, step)
    legal, _ = turn.compute_dice_limits(start, to)  # raises an error if the attack is illegal
    dice = step.get("dice")
    if dice is not None and read_int(dice, "dice", minimum=1) not in legal:
        few = " or ".join(map(str, sorted(legal)))
        raise IllegalError(f"dice must be {few} from {start} to {to}, got {dice}")
    rng = np.random.default_rng(read_int(step.get("seed", 0), "seed"))
    is_single = step.get("once") or dice is not None
    most, rolls = 1 if is_single else MAX_STEP_ROLLS, list[StepRoll]()
    while len(rolls) < most and (attack := find_attack(turn, start, to)) is not None:
        attack = attack if dice is None else Attack(start, to, dice)
        their_dice = turn.compute_dice_limits(start, to)[1]
        (result,) = turn.results(attack).sample(1, rng)
        after = turn.after(attack, result)
        if isinstance(result, Throw):
            answer = after.careful_defence()
            their_dice = answer.dice
            (result,) = after.results(answer).sample(1, rng)
            after = after.after(answer, result)
        rolls.append(StepRoll(turn, attack.dice, their_dice, result, after))
        turn = after
    return rolls


def read_dice(turn: Turn, start: str, to: str, step: Step) -> tuple[list[int], list[int]]:
    """Read the dice of both sides of a roll; refuse an impossible roll."""
    legal, most = turn.compute_dice_limits(start, to)
    if not turn.has_single_rolls(to):
        raise IllegalError(f"enter the armies left: the battle for {to} has no single rolls")
    rules = turn.rules_of.get(to, turn.rules)
    mine_given, theirs_given = step.get("mine"), step.get("theirs")
    if isinstance(mine_given, str) and not theirs_given:
        sides = BETWEEN_SIDES.split(mine_given)  # the dice of both sides in one field
        mine_given, theirs_given = sides if len(sides) == 2 else (mine_given, theirs_given)
    mine = _read_faces(mine_given, "mine", "you", rules.attack, legal)
    theirs = _read_faces(theirs_given, "theirs", "they", rules.defence, range(most, 0, -1))
    return mine, theirs


def _read_faces(
    given: object, name: str, side: str, dice: Dice, numbers: Sequence[int]
) -> list[int]:
    """Read the faces of one side's dice; refuse impossible faces and numbers of dice.

    given: the faces, as a string or a list.
    name: the key of the faces in the step, for error messages.
    side: the pronoun for the side in error messages: `"you"` or `"they"`.
    dice: the dice of the side.
    numbers: the legal numbers of dice, in descending order.
    """
    most = max(dice.faces)
    if isinstance(given, str):
        faces = split_dice(given, most)
    else:
        faces = [read_int(face, name) for face in read_list(given, name, "numbers")]
    if not faces:
        raise MalformedError(f"enter the dice that {side} rolled, such as 6 4", parameter=name)
    wrong = next((face for face in faces if not 1 <= face <= most), None)
    if wrong is not None:
        raise IllegalError(f"a die shows 1 to {most}, got {quote(wrong)}", parameter=name)
    if len(faces) not in numbers:
        can = f"can roll at most {count_dice(numbers[0])}"
        if len(faces) < numbers[0]:
            can = f"must roll {' or '.join(map(str, sorted(numbers)))} dice"
        raise IllegalError(f"{side} {can}, got {len(faces)}", parameter=name)
    return faces


def throw_faces(turn: Turn, step: Step) -> Faces | None:
    """Return the dice of both sides in the last roll of a step `roll`, the highest first.

    turn: the turn before the step.
    step: the step. Its seed decides the losses; the faces are drawn among the throws with
        these losses, so that losses and faces together are distributed like thrown dice.

    Return `None` if the battle has no single rolls, or if the losses are too unlikely.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "roll", "from": "Peru", "to": "Brazil", "once": True, "seed": 4}
    >>> list_rolls(turn, step)[0].losses, throw_faces(turn, step)
    (Losses(attackers=2, defenders=0), ([5, 2, 1], [5, 4]))
    """
    to = read_border(turn, step)[1]
    rolls = list_rolls(turn, step)
    if not rolls or not turn.has_single_rolls(to):
        return None
    roll, rules = rolls[-1], turn.rules_of.get(to, turn.rules)
    rng = np.random.default_rng([read_int(step.get("seed", 0), "seed"), len(rolls)])
    return _throw_until(roll.losses, (roll.dice, roll.their_dice), rules, rng)


def _throw_until(
    losses: Losses, numbers: tuple[int, int], rules: Rules, rng: "np.random.Generator"
) -> Faces | None:
    """Return the first dice that cause the losses of a roll; `None` if they are too unlikely.

    numbers: the numbers of attack and defence dice.
    """
    sides = (
        throw_dice(dice, number, number, MAX_THROWS, rng)
        for dice, number in zip(rules.dice(*numbers), numbers, strict=True)
    )
    ours, theirs = (np.array(side, np.int64).T.tolist() for side in sides)
    for mine, yours in zip(ours, theirs, strict=True):
        if compare_dice(mine, yours, rules) == losses:
            return mine, yours
    return None


def throw_last_faces(turn: Turn, step: Step, seed: int) -> Faces | None:
    """Return dice of the last roll of a recorded battle, which only records all its losses.

    turn: the turn before the step.
    step: the step `attack`, in which both sides rolled as many dice as possible.
    seed: the seed of the dice. The last roll and its faces are drawn so that, together with the
        losses, they are distributed like the last roll of a battle.

    Return `None` for other steps, for battles without single rolls, and for very long battles.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 5, "their_left": 0}
    >>> mine, theirs = throw_last_faces(turn, step, seed=1)
    >>> compare_dice(mine, theirs, turn.rules).defenders > 0
    True
    """
    if step["do"] != "attack" or step.get("their_dice"):
        return None
    start, to = read_border(turn, step)
    ends, rules = read_losses(turn, step), turn.rules_of.get(to, turn.rules)
    too_long = (ends.attackers + 1) * (ends.defenders + 1) > MAX_COURSES
    if too_long or min(ends) < 0 or not turn.has_single_rolls(to):
        return None
    able = turn.armies_on(start) - turn.setting.garrisons[turn.setting.index[start]]
    reached = {(0, 0): 1.0}  # the chance of each number of losses of both sides
    lasts = list[tuple[float, Losses, tuple[int, int]]]()
    for lost in range(ends.attackers + 1):
        for killed in range(ends.defenders + 1):
            chance = reached.get((lost, killed), 0.0)
            left = able - lost, turn.armies_on(to) - killed
            if (lost, killed) == ends or not chance or min(left) < 1:
                continue
            numbers = (
                step.get("dice") or min(left[0], rules.attack.kept),
                min(left[1], rules.defence.kept),
            )
            for each, part in Roll(*numbers, rules).losses().items():
                after = lost + each.attackers, killed + each.defenders
                reached[after] = reached.get(after, 0.0) + chance * float(part)
                if after == ends:
                    lasts.append((chance * float(part), each, numbers))
    if not lasts:
        return None
    rng = np.random.default_rng(read_int(seed, "seed"))
    weights = np.array([weight for weight, *_ in lasts])
    _, losses, numbers = lasts[int(rng.choice(len(lasts), p=weights / weights.sum()))]
    return _throw_until(losses, numbers, rules, rng)


def count_dice(number: int) -> str:
    """Return a number of dice in words, such as "1 die"."""
    return f"{number} {'die' if number == 1 else 'dice'}"
