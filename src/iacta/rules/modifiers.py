"""Modifiers: the changes to the rules that the official app lets its players stack."""

from dataclasses import dataclass, replace

from iacta.rules.dice import Dice
from iacta.rules.modes import BalancedBlitz, Mode
from iacta.rules.rules import Rules, Side

__all__ = ["MODIFIERS", "Modifier"]


@dataclass(frozen=True)
class Modifier:
    """A change that can be made to any rules; the order of several changes does not matter.

    name, aliases: any of them finds it, as for a `RuleSet`.
    description: what it changes, in one line.
    source: the game that has it.
    attack_dice: dice that the attacker throws more, or fewer if negative; one always stays.
    defence_dice: the same for the defender.
    ties: the side that wins a tie; `None` changes nothing.
    mode: the mode; `None` changes nothing.
    """

    name: str
    description: str
    source: str
    aliases: tuple[str, ...] = ()
    attack_dice: int = 0
    defence_dice: int = 0
    ties: Side | None = None
    mode: Mode | None = None

    def apply(self, rules: Rules) -> Rules:
        """Return the rules with the change.

        rules: the `Rules` to start from. A die more is like the last one listed, and the die
            fewer is that one; dice of full rolls change likewise.

        >>> from iacta import CLASSIC
        >>> capital, wall, *_ = MODIFIERS
        >>> wall.apply(capital.apply(CLASSIC))
        Rules(defence=Dice((6, 6, 6, 6)))
        """
        return replace(
            rules,
            attack=_with_dice(rules.attack, self.attack_dice),
            full_attack=rules.full_attack and _with_dice(rules.full_attack, self.attack_dice),
            defence=_with_dice(rules.defence, self.defence_dice),
            full_defence=rules.full_defence and _with_dice(rules.full_defence, self.defence_dice),
            ties=self.ties or rules.ties,
            mode=self.mode or rules.mode,
        )


# In this order their names are joined.
MODIFIERS: tuple[Modifier, ...] = (
    Modifier(
        "capital",
        "The defender throws one die more.",
        "RISK: Global Domination, capitals",
        ("capitals",),
        defence_dice=1,
    ),
    Modifier(
        "wall",
        "The defender throws one die more.",
        "RISK: Global Domination, walls",
        ("walls",),
        defence_dice=1,
    ),
    Modifier(
        "zombie attacker",
        "The attacker throws one die fewer, but at least one.",
        "RISK: Global Domination, zombies",
        ("zombies attacking",),
        attack_dice=-1,
    ),
    Modifier(
        "zombie defender",
        "Ties go to the attacker.",
        "RISK: Global Domination, zombies",
        ("zombies defending",),
        ties="attacker",
    ),
    Modifier(
        "balanced blitz",
        "A whole battle is decided at once, and with less luck (2024 rules).",
        "RISK: Global Domination, dice modes",
        ("balanced", "balanced blitz (2024 rules)"),
        mode=BalancedBlitz(),
    ),
)


def _with_dice(dice: Dice, more: int) -> Dice:
    """Return the dice with some more of them kept, or fewer, and as many spare ones as before."""
    more = max(more, 1 - dice.kept)
    kept, faces = dice.kept + more, (*dice.faces, *dice.faces[-1:] * more)
    faces = faces[: len(dice.faces) + more]
    return replace(
        dice,
        faces=faces,
        keep=kept,
        reroll=tuple(face for face in dice.reroll if face <= max(faces)),
        bonus=dice.bonus[:kept],
    )
