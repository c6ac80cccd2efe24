"""The plain versions: what one writes first, without further thought."""

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

__all__ = [
    "campaign_run",
    "fraction_win_table",
    "linear_requirement",
    "loss_counts",
    "recursive_win_probability",
]

FACES = (1, 2, 3, 4, 5, 6)
CLASSIC_DEFENCE_DICE = 2

Counts = dict[int, int]
Memory = dict[tuple[int, int], float]


def loss_counts(attack_dice: int, defence_dice: int) -> Counts:
    """Return how many rolls cost the defenders 0, 1, 2 armies, by trying each of them."""
    counts = dict.fromkeys(range(min(attack_dice, defence_dice) + 1), 0)
    for attack in product(FACES, repeat=attack_dice):
        for defence in product(FACES, repeat=defence_dice):
            counts[defenders_lost(attack, defence)] += 1
    return counts


def defenders_lost(attack: Sequence[int], defence: Sequence[int]) -> int:
    """Return how many pairs of dice the attackers win."""
    ours, theirs = sorted(attack)[::-1], sorted(defence)[::-1]
    return sum(ours[rank] > theirs[rank] for rank in range(min(len(ours), len(theirs))))


LAWS = {(i, j): loss_counts(i, j) for i in (1, 2, 3) for j in (1, 2)}
TOTALS = {dice: sum(counts.values()) for dice, counts in LAWS.items()}


def recursive_win_probability(attackers: int, defenders: int, memory: Memory) -> float:
    """Return the chance to win, garrison included, by recursion that remembers its answers."""
    if defenders < 1 or attackers < 2:
        return float(defenders < 1)
    if (attackers, defenders) not in memory:
        dice = min(3, attackers - 1), min(CLASSIC_DEFENCE_DICE, defenders)
        taken, total = min(dice), 0.0
        for lost, count in LAWS[dice].items():
            total += count * recursive_win_probability(
                attackers - taken + lost, defenders - lost, memory
            )
        memory[attackers, defenders] = total / TOTALS[dice]
    return memory[attackers, defenders]


def fraction_win_table(attackers: int, defenders: int) -> dict[tuple[int, int], Fraction]:
    """Return all chances to win up to a size, garrison included, as fractions in a dictionary."""
    table = {(a, 0): Fraction(1) for a in range(2, attackers + 1)}
    table |= {(1, d): Fraction(0) for d in range(defenders + 1)}
    for a in range(2, attackers + 1):
        for d in range(1, defenders + 1):
            dice = min(3, a - 1), min(CLASSIC_DEFENCE_DICE, d)
            chance = Fraction(0)
            for lost, count in LAWS[dice].items():
                chance += Fraction(count, TOTALS[dice]) * table[a - min(dice) + lost, d - lost]
            table[a, d] = chance
    return table


def linear_requirement(defenders: int, chance: float) -> int:
    """Return the fewest attackers, trying 2, 3, 4 ... one after the other."""
    memory: Memory = {}
    attackers = 2
    while recursive_win_probability(attackers, defenders, memory) < chance:
        attackers += 1
    return attackers


def campaign_run(attackers: int, territories: Sequence[int], rng: random.Random) -> bool:
    """Play one campaign roll by roll, and tell whether it takes all territories."""
    for defenders in territories:
        holding = defenders
        while holding and attackers > 1:
            attack = rng.choices(FACES, k=min(3, attackers - 1))
            defence = rng.choices(FACES, k=min(CLASSIC_DEFENCE_DICE, holding))
            lost = defenders_lost(attack, defence)
            holding -= lost
            attackers -= min(len(attack), len(defence)) - lost
        if holding:
            return False
        attackers -= 1
    return True
