"""Rules: the odds of a battle and the new armies of a turn, as plain data."""

from dataclasses import dataclass
from typing import Literal

from iacta.inputs.checks import check_choice, quote, read_int, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.reprs import format_short_repr
from iacta.rules.dice import Dice
from iacta.rules.modes import Mode, TrueRandom

THREE_D6 = Dice((6, 6, 6))
TWO_D6 = Dice((6, 6))
TRUE_RANDOM = TrueRandom()
MAX_TERRITORIES_PER_ARMY = 1000
MAX_LEAST_NEW_ARMIES = 10**6


@dataclass(frozen=True, repr=False)
class Rules:
    """Everything that determines the odds of a battle, and the new armies of a turn.

    attack, defence: the `Dice` of the two sides.
    full_attack, full_defence: the dice of a full roll, in which both sides roll all their dice;
        `None` if these are `attack` and `defence`. They must keep the same numbers of dice.
    ties: the side that wins a tie, `"attacker"` or `"defender"`.
    garrison: the number of armies that must stay behind on the attacking territory.
    least_advance: whether the number of attack dice in the last roll is the minimum number of
        armies that must move in after a conquest (the official rule). Campaigns always obey this
        rule, because as many armies as possible move on.
    most_advance: the maximum number of armies that may move in after a conquest, at least 1; `None`
        for no maximum.
    territories_per_army: the number of territories that bring one new army at the start of a turn.
    least_new_armies: the minimum number of new armies for territories.
    mode: the dice mode, such as `TrueRandom()`.

    Impossible rules raise `IactaError`.

    >>> Rules(defence=Dice((6, 6, 6)), garrison=0)
    Rules(defence=Dice((6, 6, 6)), garrison=0)
    >>> Rules(ties="nobody")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: ties must be 'attacker' or 'defender', got 'nobody'
    """

    attack: Dice = THREE_D6
    defence: Dice = TWO_D6
    full_attack: Dice | None = None
    full_defence: Dice | None = None
    ties: Literal["attacker", "defender"] = "defender"
    garrison: int = 1
    least_advance: bool = True
    most_advance: int | None = None
    territories_per_army: int = 3
    least_new_armies: int = 3
    mode: Mode = TRUE_RANDOM

    def __post_init__(self) -> None:
        set_field(self, "full_attack", _read_full(self.full_attack, self.attack, "attack"))
        set_field(self, "full_defence", _read_full(self.full_defence, self.defence, "defence"))
        check_choice(self.ties, ("attacker", "defender"), "ties")
        set_field(self, "garrison", read_int(self.garrison, "garrison", minimum=0))
        check_choice(self.least_advance, (True, False), "least_advance")
        if self.most_advance is not None:
            set_field(self, "most_advance", read_int(self.most_advance, "most_advance", minimum=1))
        for name, minimum, maximum in (
            ("territories_per_army", 1, MAX_TERRITORIES_PER_ARMY),
            ("least_new_armies", 0, MAX_LEAST_NEW_ARMIES),
        ):
            set_field(self, name, read_int(getattr(self, name), name, minimum, maximum))
        if not isinstance(self.mode, Mode):
            raise MalformedError(f"mode must be a Mode, got {quote(self.mode)}")

    @property
    def full_roll(self) -> tuple[int, int]:
        """The numbers of attack and defence dice that count in a full roll."""
        return self.attack.kept, self.defence.kept

    def count_required(self, attack_dice: int) -> int:
        """Return how many armies must move in after a conquest, if that many are left.

        attack_dice: the number of attack dice in the last roll.

        >>> Rules().count_required(3), Rules(most_advance=2).count_required(3)
        (3, 2)
        """
        return self.limit_advance(attack_dice if self.least_advance else 1)

    def limit_advance(self, armies: int) -> int:
        """Return how many of a number of armies may move in after a conquest.

        >>> Rules().limit_advance(9), Rules(most_advance=3).limit_advance(9)
        (9, 3)
        """
        return armies if self.most_advance is None else min(armies, self.most_advance)

    def count_new_armies(self, territories: int) -> int:
        """Return how many new armies a number of territories brings at the start of a turn.

        >>> Rules().count_new_armies(20), Rules(territories_per_army=2).count_new_armies(20)
        (6, 10)
        """
        return max(territories // self.territories_per_army, self.least_new_armies)

    def dice(self, attack_dice: int, defence_dice: int) -> tuple[Dice, Dice]:
        """Return the dice of both sides for a roll.

        attack_dice, defence_dice: the numbers of dice that count in the roll.

        >>> Rules().dice(3, 2)
        (Dice((6, 6, 6)), Dice((6, 6)))
        """
        if (attack_dice, defence_dice) == self.full_roll:
            return self.full_attack or self.attack, self.full_defence or self.defence
        return self.attack, self.defence

    def __repr__(self) -> str:
        return format_short_repr(self)


def _read_full(full: Dice | None, usual: Dice, name: str) -> Dice | None:
    for label, dice in ((name, usual), (f"full_{name}", full)):
        if not isinstance(dice, Dice | None) or (dice is None and label == name):
            hint = f"; find_rules({quote(dice)}) finds rules" if isinstance(dice, str) else ""
            raise MalformedError(f"{label} must be Dice, got {quote(dice)}{hint}")
    if full is not None and full.kept != usual.kept:
        raise IllegalError(
            f"full_{name} must keep {usual.kept} dice as {name} does, got {quote(full)}"
        )
    return None if full == usual else full


CLASSIC = Rules()
