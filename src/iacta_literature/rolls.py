"""What several sources print of the dice: laws of a roll, and rolls as examples."""

from fractions import Fraction

from iacta.rules.dice import Dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta_literature.data import Row

__all__ = ["dice_of", "example_losses", "roll_chance"]


def roll_chance(row: Row) -> Fraction:
    """Return the chance of the losses that a row of a law of rolls is about.

    row: has `attack_dice`, `defence_dice`, `attackers_lost` and `defenders_lost`, and may have
        `rules`.
    """
    roll = Roll(int(row["attack_dice"]), int(row["defence_dice"]), row.get("rules", "classic"))
    lost = Losses(int(row["attackers_lost"]), int(row["defenders_lost"]))
    return Fraction(roll.losses()[lost])


def example_losses(row: Row) -> str:
    """Return the armies that attackers and defenders lose by the dice of a row.

    row: has `attack_dice` and `defence_dice`, what they show.

    >>> example_losses({"attack_dice": "6 4 2", "defence_dice": "5 2"})
    '0 and 2'
    """
    attack, defence = (_fixed(dice_of(row[side])) for side in ("attack_dice", "defence_dice"))
    roll = Roll(attack.kept, defence.kept, Rules(attack=attack, defence=defence))
    (lost,) = roll.losses()
    return f"{lost.attackers} and {lost.defenders}"


def dice_of(text: str) -> tuple[int, ...]:
    """Return what dice show, highest first.

    text: the faces, such as `"2 6 4"`.
    """
    return tuple(sorted(map(int, text.split()), reverse=True))


def _fixed(shown: tuple[int, ...]) -> Dice:
    """Return dice that always show the same: one face each, raised by a bonus."""
    return Dice((1,) * len(shown), bonus=tuple(face - 1 for face in shown))
