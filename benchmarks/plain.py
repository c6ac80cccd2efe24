"""Rivals of iacta: the simplest program for each task."""

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

FACES = (1, 2, 3, 4, 5, 6)
CLASSIC_DEFENCE_DICE = 2

Counts = dict[int, int]
Memory = dict[tuple[int, int], float]


def loss_counts(attack_dice: int, defence_dice: int) -> Counts:
    """Return the number of rolls in which the defenders lose 0, 1 or 2 armies, by enumeration."""
    counts = dict.fromkeys(range(min(attack_dice, defence_dice) + 1), 0)
    for attack in product(FACES, repeat=attack_dice):
        for defence in product(FACES, repeat=defence_dice):
            counts[count_defenders_lost(attack, defence)] += 1
    return counts


def count_defenders_lost(attack: Sequence[int], defence: Sequence[int]) -> int:
    """Return the number of defenders lost in a roll."""
    ours, theirs = sorted(attack)[::-1], sorted(defence)[::-1]
    return sum(ours[rank] > theirs[rank] for rank in range(min(len(ours), len(theirs))))


LOSSES = {(i, j): loss_counts(i, j) for i in (1, 2, 3) for j in (1, 2)}
TOTALS = {dice: sum(counts.values()) for dice, counts in LOSSES.items()}


def recursive_win_probability(attackers: int, defenders: int, memory: Memory) -> float:
    """Return the chance to win, garrison included, by memoised recursion."""
    if defenders < 1 or attackers < 2:
        return float(defenders < 1)
    if (attackers, defenders) not in memory:
        dice = min(3, attackers - 1), min(CLASSIC_DEFENCE_DICE, defenders)
        taken, total = min(dice), 0.0
        for lost, count in LOSSES[dice].items():
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
            for lost, count in LOSSES[dice].items():
                chance += Fraction(count, TOTALS[dice]) * table[a - min(dice) + lost, d - lost]
            table[a, d] = chance
    return table


def linear_requirement(defenders: int, chance: float) -> int:
    """Return the fewest attackers with a required chance by trying 2, 3, 4 and so on."""
    memory: Memory = {}
    attackers = 2
    while recursive_win_probability(attackers, defenders, memory) < chance:
        attackers += 1
    return attackers


def stopping_values(able: int, defenders: int, prize: float) -> Memory:
    """Return the value of each battle with optimal stopping: the prize minus the armies lost."""
    gains: Memory = {}
    for a in range(able + 1):
        for d in range(defenders + 1):
            if not a or not d:
                gains[a, d] = 0.0 if d else prize
                continue
            dice = min(3, a), min(CLASSIC_DEFENCE_DICE, d)
            gain = 0.0
            for k, count in LOSSES[dice].items():
                lost = min(dice) - k
                gain += count * (gains[a - lost, d - k] - lost)
            gains[a, d] = max(0.0, gain / TOTALS[dice])
    return gains


def outcome_distribution(able: int, defenders: int) -> Memory:
    """Return the distribution of the ends of a battle, by a forward pass over its states."""
    visits: Memory = {(able, defenders): 1.0}
    for a in range(able, 0, -1):
        for d in range(defenders, 0, -1):
            chance = visits.pop((a, d), 0.0)
            dice = min(3, a), min(CLASSIC_DEFENCE_DICE, d)
            for k, count in LOSSES[dice].items():
                after = (a - min(dice) + k, d - k)
                visits[after] = visits.get(after, 0.0) + chance * count / TOTALS[dice]
    return visits


def drop_front(chances: list[float]) -> list[float]:
    """Remove the first 10% of a list of chances."""
    kept, over = list(chances), 0.0
    for place, chance in enumerate(chances):
        over += chance
        kept[place] = max(0.0, over - 0.1)
        if over >= 0.1:
            break
    return kept


def blitz_win_probability(able: int, defenders: int) -> float:
    """Return the chance to win a balanced blitz, computed from the distribution with true dice."""
    outcomes = outcome_distribution(able, defenders)
    won = [outcomes[a, 0] for a in range(able, 0, -1)]
    lost = [outcomes[0, d] for d in range(1, defenders + 1)]
    chance, other = sum(won), sum(lost)
    if min(chance, other) <= 0.05:
        return float(chance > other)
    power = chance**1.3 / (chance**1.3 + other**1.3)
    line = [p * power / chance for p in won] + [p * (1 - power) / other for p in lost]
    kept = drop_front(drop_front(line)[::-1])[::-1]
    return sum(kept[:able]) / sum(kept)


def mix_win_probabilities(able: int, defenders: int) -> Memory:
    """Return the chance to win each battle with the best mix of rolls by hand and a blitz."""
    chances: Memory = {}
    for a in range(able + 1):
        for d in range(defenders + 1):
            if not a or not d:
                chances[a, d] = float(not d)
                continue
            dice = min(3, a), min(CLASSIC_DEFENCE_DICE, d)
            by_hand = sum(
                count * chances[a - min(dice) + k, d - k] for k, count in LOSSES[dice].items()
            )
            chances[a, d] = max(blitz_win_probability(a, d), by_hand / TOTALS[dice])
    return chances


def campaign_run(attackers: int, territories: Sequence[int], rng: random.Random) -> bool:
    """Play one campaign roll by roll; return whether it takes all territories."""
    for defenders in territories:
        holding = defenders
        while holding and attackers > 1:
            attack = rng.choices(FACES, k=min(3, attackers - 1))
            defence = rng.choices(FACES, k=min(CLASSIC_DEFENCE_DICE, holding))
            lost = count_defenders_lost(attack, defence)
            holding -= lost
            attackers -= min(len(attack), len(defence)) - lost
        if holding:
            return False
        attackers -= 1
    return True
