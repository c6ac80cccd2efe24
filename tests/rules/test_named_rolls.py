"""The named rule sets follow their games, compared with rolls enumerated here."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import pytest

from iacta import RULE_SETS, Battle, find_rules
from iacta.rules.modes import ArmiesGrow, BalancedBlitz, DefenderSeesFirst
from iacta.rules.roll import loss_counts
from tests.cases import for_each

D6, D8, D28, D130 = (list(range(1, faces + 1)) for faces in (6, 8, 28, 130))
ONES_AGAIN = D6 + [first for first in D6[1:] for _ in D6]  # 36 equally likely cases

Shown = list[int]


def keep_order(dice: Shown) -> Shown:
    """Return the dice unchanged."""
    return dice


def highest_plus_one(dice: Shown) -> Shown:
    """Add one to the highest die."""
    return [dice[0] + 1, *dice[1:]]


def highest_minus_one_at_least_one(dice: Shown) -> Shown:
    """Subtract one from the highest die, unless it is a one, and sort again."""
    return sorted([max(1, dice[0] - 1), *dice[1:]], reverse=True)


def all_plus_one(dice: Shown) -> Shown:
    """Add one to each die."""
    return [die + 1 for die in dice]


def without_lowest(dice: Shown) -> Shown:
    """Remove the lowest die."""
    return dice[:-1]


class Written(NamedTuple):
    """The numbers of dice in a full roll, and the change to the sorted dice."""

    attack: Sequence[list[int]] = (D6, D6, D6)
    defence: Sequence[list[int]] = (D6, D6)
    attack_change: Callable[[Shown], Shown] = keep_order
    defence_change: Callable[[Shown], Shown] = keep_order
    attacker_wins_ties: bool = False

    def defenders_lost(self) -> Counter[int]:
        """Count the rolls in which the defenders lose a given number of armies."""
        throws = [
            [change(sorted(dice, reverse=True)) for dice in product(*faces)]
            for faces, change in (
                (self.attack, self.attack_change),
                (self.defence, self.defence_change),
            )
        ]
        compared = min(len(throw) for throw, *_ in throws)
        ours, theirs = (Counter(tuple(dice[:compared]) for dice in side) for side in throws)
        counts: Counter[int] = Counter()
        for (y, n), (z, m) in product(ours.items(), theirs.items()):
            pairs = zip(y, z, strict=True)
            won = sum(a > d or (a == d and self.attacker_wins_ties) for a, d in pairs)
            counts[won] += n * m
        return counts


WRITTEN = {
    "classic": Written(),
    "capital": Written(defence=(D6, D6, D6)),
    "wall": Written(defence=(D6, D6, D6)),
    "zombie attacker": Written(attack=(D6, D6)),
    "zombie defender": Written(attacker_wins_ties=True),
    "balanced blitz": Written(),
    "risiko": Written(defence=(D6, D6, D6)),
    "war": Written(defence=(D6, D6, D6)),
    "attack leader": Written(attack_change=highest_plus_one),
    "defence leader": Written(defence_change=highest_plus_one),
    "attack commander": Written(attack=(D8, D6, D6)),
    "defence commander": Written(defence=(D8, D6)),
    "space station": Written(defence=(D8, D8)),
    "bunker": Written(defence_change=highest_plus_one),
    "ammo shortage": Written(defence_change=highest_minus_one_at_least_one),
    "fortification": Written(defence_change=all_plus_one),
    "war god": Written(attacker_wins_ties=True),
    "attack magic": Written(attack=(ONES_AGAIN, ONES_AGAIN, ONES_AGAIN)),
    "defence magic": Written(defence=(ONES_AGAIN, ONES_AGAIN)),
    "attack bonus die": Written(attack=(D6, D6, D6, D6), attack_change=without_lowest),
    "defence bonus die": Written(defence=(D6, D6, D6), defence_change=without_lowest),
    "dominating12": Written(attack=(D130, D6, D6), defence=(D28, D28)),
    "defender sees first": Written(),
    "one die first": Written(),
    "free advance": Written(),
    "second die from three": Written(),
    "risiko tournament": Written(defence=(D6, D6, D6)),
    "missile": Written(),
    "defence missile": Written(),
    "fourth die": Written(attack=(D6, D6, D6, D6), defence=(D6, D6, D6)),
}


def test_every_rule_set_is_written_out() -> None:
    others = {"five ones", "ties cost nobody", "ties cost both", "fumble", "attack die again"}
    assert {known.name for known in RULE_SETS} - set(WRITTEN) == others


@for_each("name", WRITTEN)
def test_full_rolls_follow_the_published_rules(name: str) -> None:
    rules, counts = find_rules(name), WRITTEN[name].defenders_lost()
    losses = loss_counts(*rules.full_roll, rules)
    scale = counts.total()
    assert [n * scale for n in losses.counts] == [
        counts[k] * losses.total for k in range(losses.pair_count + 1)
    ]


def test_battles_of_ammo_shortage_have_the_published_chances() -> None:
    """Players of Risk Legacy published two digits; an enumeration gave the other digits."""
    for name in ("ammo shortage", "ammo shortage clamped", "ammo clamped"):
        won = [
            float(Battle(*each, name).win_probability()) for each in ((10, 10), (20, 20), (5, 3))
        ]
        assert won == pytest.approx([0.8050972474609, 0.9341538356565, 0.8170160070283], abs=1e-13)


def test_other_fields_of_named_rules_follow_their_games() -> None:
    assert not find_rules("free advance").least_advance
    assert find_rules("official advance").least_advance
    assert find_rules("teg") == find_rules("war")
    assert not find_rules("war").least_advance
    assert find_rules("war").most_advance == 3
    assert [find_rules("war").count_new_armies(n) for n in (1, 7, 8, 21)] == [3, 3, 4, 10]
    assert find_rules("risiko").most_advance is None
    assert find_rules("defender sees first").mode == DefenderSeesFirst()
    assert find_rules("balanced blitz").mode == BalancedBlitz()
    assert find_rules("five ones").mode == ArmiesGrow(1)
    # If the commander's side throws only one die, it is the commander's.
    assert loss_counts(1, 1, find_rules("attack commander")).counts == (21, 27)
    assert loss_counts(1, 1, find_rules("defence commander")).counts == (33, 15)
