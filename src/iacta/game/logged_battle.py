"""Replays of the battles in the log of a game."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from iacta.game.actions import Advance, Attack
from iacta.game.step_fields import list_advances, read_border, read_losses
from iacta.game.turn import Turn
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError


class LoggedBattle(NamedTuple):
    """A battle in a log: an attack, and the armies that move in after a conquest."""

    start: str  # the attacking territory
    to: str  # the attacked territory
    lost: int  # the armies that the attacker lost
    killed: int  # the armies that the defender lost
    moved: int  # the armies that moved into the conquered territory
    # Pairs of a possible number of attack dice in the first roll, in descending order, and the turn
    # after the battle, before armies move in.
    ways: tuple[tuple[int, Turn], ...]
    after: Turn  # the turn after the battle, and after armies have moved in
    is_roll: bool  # whether a single roll can explain the losses
    is_assumed: bool  # whether the log omits the number of dice although several are possible
    dice: int | None  # the number of attack dice in the log, or `None`
    their_dice: int | None  # the number of defence dice in the log, or `None`


BATTLE_KEYS = ("from", "to", "left", "their_left", "moved", "dice", "their_dice")


def fight_battle(turn: Turn, record: Mapping[str, Any]) -> LoggedBattle:
    """Replay the battle in an entry of a log.

    turn: the turn before the battle.
    record: the entry, with the keys `BATTLE_KEYS`: the keys of a step `attack`, and `moved`, the
        number of armies that move in. An entry without `dice` may describe several rolls.

    Raises `IactaError` for an illegal battle.
    """
    start, to = read_border(turn, record)
    lost, killed = read_losses(turn, record)
    left, against = record["left"], record["their_left"]
    dice, their_dice = record.get("dice"), record.get("their_dice")
    moved, armies = record.get("moved"), 0
    ends = [turn.apply_battle(start, to, left, against, dice, their_dice)]
    after = ends[0]
    legal = [
        action.dice
        for action in turn.actions()
        if isinstance(action, Attack) and (action.start, action.to) == (start, to)
    ]
    is_assumed = dice is None and len(legal) > 1
    fit = turn.list_dice(start, to, lost, killed) if dice is None else (dice,)
    ways = [
        (number, turn.apply_battle(start, to, left, against, number, their_dice)) for number in fit
    ]
    if after.phase == "advance":
        if is_assumed:  # the number of dice in the last roll is the minimum that must move in
            last = turn.apply_battle(start, to, left, 1) if lost or killed > 1 else turn
            numbers = last.list_dice(start, to, 0, 1)
            ends += [last.apply_battle(start, to, left, 0, number) for number in numbers]
        armies = _read_moved(moved, list_advances(ends[0]), list_advances(ends[-1]))
        ways = [way for way in ways if armies in list_advances(way[1])]
        ends = [end for end in ends if armies in list_advances(end)]
        after = ends[0].after(Advance(armies))
    elif moved:
        raise IllegalError(f"moved must be 0 without a conquest, got {quote(moved)}")
    several = [(number, ends[0]) for number in legal]
    return LoggedBattle(
        start,
        to,
        lost,
        killed,
        armies,
        tuple(ways or several),
        after,
        bool(ways),
        is_assumed,
        dice,
        their_dice,
    )


def _read_moved(moved: object, usual: list[int], possible: list[int]) -> int:
    """Read the number of armies that moved in; refuse a number that contradicts the dice.

    moved: the number in the log, or `None`.
    usual: the possible numbers for the dice in the log, by default for the most dice.
    possible: the possible numbers for any legal dice.
    """
    if moved is None and len(usual) > 1:
        raise MalformedError(f"moved must be given, from {possible[0]} to {possible[-1]}")
    number = usual[0] if moved is None else read_int(moved, "moved")
    if number not in possible:
        raise IllegalError(f"moved must be from {possible[0]} to {possible[-1]}, got {number}")
    return number
