"""The plain versions: what one writes first, without further thought."""

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

__all__ = [
    "campaign_run",
    "fraction_win_probability",
    "recursive_win_probability",
]

DIE = range(1, 7)
MOST_ATTACK_DICE = 3


def losses(attack: Sequence[int], defence: Sequence[int]) -> tuple[int, int]:
    """Return what a roll costs the attackers and the defenders."""
    pairs = zip(sorted(attack, reverse=True), sorted(defence, reverse=True), strict=False)
    won = [a > d for a, d in pairs]
    return len(won) - sum(won), sum(won)


@cache
def roll_law(attack_dice: int, defence_dice: int) -> tuple[tuple[int, int, int], ...]:
    """Return (attackers lost, defenders lost, count) by trying all the rolls."""
    counts = Counter(
        losses(dice[:attack_dice], dice[attack_dice:])
        for dice in product(DIE, repeat=attack_dice + defence_dice)
    )
    return tuple((*lost, count) for lost, count in counts.items())


@cache
def recursive_win_probability(attackers: int, defenders: int) -> float:
    """Return the chance to win, garrison included, by recursion with a cache."""
    if attackers <= 1:
        return 0.0
    if defenders <= 0:
        return 1.0
    law = roll_law(min(MOST_ATTACK_DICE, attackers - 1), min(2, defenders))
    total = sum(count for _, _, count in law)
    return (
        sum(
            count * recursive_win_probability(attackers - ours, defenders - theirs)
            for ours, theirs, count in law
        )
        / total
    )


def fraction_win_probability(
    attackers: int, defenders: int, most_defence_dice: int = 2
) -> Fraction:
    """Return the exact chance to win, garrison included, by a dictionary of fractions."""
    table: dict[tuple[int, int], Fraction] = {}
    for d in range(defenders + 1):
        for a in range(attackers):
            if not d or not a:
                table[a, d] = Fraction(int(not d and a > 0))
                continue
            law = roll_law(min(MOST_ATTACK_DICE, a), min(most_defence_dice, d))
            total = sum(count for _, _, count in law)
            table[a, d] = sum(
                (
                    Fraction(count, total) * table[a - ours, d - theirs]
                    for ours, theirs, count in law
                ),
                Fraction(0),
            )
    return table[attackers - 1, defenders]


def campaign_run(attackers: int, territories: Sequence[int], rng: random.Random) -> bool:
    """Play one campaign roll by roll, and tell whether it takes all territories."""
    for defenders in territories:
        left = defenders
        while attackers > 1 and left:
            attack = [rng.choice(DIE) for _ in range(min(MOST_ATTACK_DICE, attackers - 1))]
            defence = [rng.choice(DIE) for _ in range(min(2, left))]
            ours, theirs = losses(attack, defence)
            attackers, left = attackers - ours, left - theirs
        if left:
            return False
        attackers -= 1
    return True
