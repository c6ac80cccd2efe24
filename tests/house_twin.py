"""House rules for rolls, independent of the library, for twins of battles, plans, whole games."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from iacta import Dice, Rules
from iacta.rules.modes import Fumble, LastDieAtTwoToOne, LateDefenceDice, NeverFewerDice, TiesCost

THREE, FOUR = Dice((6, 6, 6)), Dice((6, 6, 6, 6))


class House(NamedTuple):
    """A house rule.

    defence: the largest number of defence dice.
    ties: who loses an army in a tie.
    late: the number of further defenders that the second defence die needs.
    is_equal: whether the attacker may not roll fewer dice than the defender.
    has_fourth: whether a fourth attack die needs two to one against at least three defenders.
    has_fumble: whether an attacker whose dice all show one loses an army for each die.
    """

    rules: Rules
    defence: int = 2
    ties: str = "defender"
    late: int = 0
    is_equal: bool = False
    has_fourth: bool = False
    has_fumble: bool = False

    def count_dice(self, able: int, defenders: int, garrison: int = 1) -> tuple[int, int]:
        """Return the largest numbers of dice; 0 attack dice if the attackers may not roll."""
        if able <= 0 or defenders <= 0:
            return 0, 0
        ours, theirs = min(able, 3), min(max(defenders - self.late, 1), self.defence)
        if self.has_fourth and defenders >= 3 and able + garrison >= 2 * defenders:
            ours = min(able, 4)
        return (0 if self.is_equal and ours < theirs else ours), theirs

    def list_losses(self, attack: int, defence: int) -> dict[tuple[int, int], Fraction]:
        """Return the chance of each pair of losses in a roll."""
        return enumerate_roll(attack, defence, self.ties, has_fumble=self.has_fumble)


HOUSES = {
    "nobody": House(Rules(mode=TiesCost("nobody")), ties="nobody"),
    "nobody, one die": House(Rules(defence=Dice((6,)), mode=TiesCost("nobody")), 1, "nobody"),
    "both": House(Rules(mode=TiesCost("both")), ties="both"),
    "both and taken": House(Rules(mode=TiesCost("both and taken")), ties="both and taken"),
    "late": House(Rules(mode=LateDefenceDice()), late=1),
    "later": House(Rules(defence=THREE, mode=LateDefenceDice(4)), 3, late=2),
    "never fewer": House(Rules(defence=THREE, mode=NeverFewerDice()), 3, is_equal=True),
    "fourth": House(Rules(FOUR, THREE, mode=LastDieAtTwoToOne()), 3, has_fourth=True),
    "fumble": House(Rules(mode=Fumble()), has_fumble=True),
}
# The house rules of turns, plans and whole games.
TURN_HOUSES = tuple(name for name in HOUSES if not name.startswith("both"))


def find_house(rules: Rules) -> House | None:
    """Return the house rule of rules, or `None`; the garrison and the advance do not matter."""
    for house in HOUSES.values():
        if (house.rules.mode, house.rules.defence) == (rules.mode, rules.defence):
            return house
    return None


@cache
def enumerate_roll(
    attack: int, defence: int, ties: str, *, has_fumble: bool = False
) -> dict[tuple[int, int], Fraction]:
    """Return the chance of each pair of losses, from all throws of the dice."""
    counts: Counter[tuple[int, int]] = Counter()
    for dice in product(range(1, 7), repeat=attack + defence):
        lost = killed = 0
        ours, theirs = sorted(dice[:attack])[::-1], sorted(dice[attack:])[::-1]
        for mine, other in zip(ours, theirs, strict=False):
            killed += mine > other or (mine == other and ties.startswith("both"))
            lost += mine < other or (mine == other and ties != "nobody")
        if has_fumble and {*dice[:attack]} == {1}:
            lost, killed = attack, 0
        counts[lost, killed] += 1
    return {losses: Fraction(n, counts.total()) for losses, n in counts.items()}
