"""Slow, independent implementations: enumerated rolls, and battles as dictionaries of fractions."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from iacta import Dice, Rules, StopRule
from iacta.rules.modes import ArmiesGrow, Fumble, TiesCost

Chances = dict[tuple[int, int], Fraction]


def die_faces(faces: int, reroll: tuple[int, ...]) -> list[int]:
    """Return the equally likely results of a die, as pairs (throw, throw after a reroll)."""
    if not any(face <= faces for face in reroll):
        return list(range(1, faces + 1))
    return [
        second if first in reroll else first
        for first, second in product(range(1, faces + 1), repeat=2)
    ]


def natural_throws(dice: Dice, armies: int) -> Iterator[tuple[int, ...]]:
    """Yield every equally likely throw of all dice, including spare dice."""
    spare = len(dice.faces) - dice.kept
    return product(*(die_faces(faces, dice.reroll) for faces in dice.faces[: armies + spare]))


def keep_dice(throw: tuple[int, ...], dice: Dice, armies: int) -> list[int]:
    """Return the kept dice of a throw with bonuses, in the order of comparison."""
    kept = sorted(throw, reverse=True)[:armies]
    for rank, bonus in enumerate(dice.bonus[:armies]):
        kept[rank] += bonus
    if dice.clamp is not None:
        lowest, highest = dice.clamp
        kept = [min(max(value, lowest), highest) for value in kept]
    return sorted(kept, reverse=True) if dice.sort_again else kept


def throws(dice: Dice, armies: int) -> Iterator[list[int]]:
    """Yield the kept dice of every equally likely throw, with bonuses, in order of comparison."""
    return (keep_dice(throw, dice, armies) for throw in natural_throws(dice, armies))


@cache
def equal_throws(dice: Dice, armies: int, ranks: int) -> Counter[tuple[tuple[int, ...], bool]]:
    """Count throws by their highest kept dice, and by whether all dice show one."""
    return Counter(
        (tuple(keep_dice(natural, dice, armies)[:ranks]), set(natural) == {1})
        for natural in natural_throws(dice, armies)
    )


@cache
def roll_losses(attack_dice: int, defence_dice: int, rules: Rules) -> Chances:
    """Return the distribution of (attackers lost, defenders lost); a gain is a negative loss."""
    attack, defence = rules.attack, rules.defence
    full = attack_dice == attack.kept and defence_dice == defence.kept
    if full:
        attack, defence = rules.full_attack or attack, rules.full_defence or defence
    counts: Counter[tuple[int, int]] = Counter()
    gain = rules.mode.gain if full and isinstance(rules.mode, ArmiesGrow) else 0
    ranks = min(attack_dice, defence_dice)
    defences = equal_throws(defence, defence_dice, ranks)
    for (ours, our_ones), weight in equal_throws(attack, attack_dice, ranks).items():
        for (theirs, their_ones), their_weight in defences.items():
            if gain and our_ones and their_ones:
                losses = -gain, -gain
            elif isinstance(rules.mode, Fumble) and our_ones:
                losses = attack_dice, 0
            else:
                won = sum(
                    y > z or (y == z and rules.ties == "attacker")
                    for y, z in zip(ours, theirs, strict=True)
                )
                losses = ranks - won, won
                if isinstance(rules.mode, TiesCost):
                    pairs = [*zip(ours, theirs, strict=True)]
                    tied = sum(y == z for y, z in pairs) * (rules.mode.sides != "nobody")
                    losses = (
                        sum(y < z for y, z in pairs) + tied,
                        sum(y > z for y, z in pairs) + tied,
                    )
            counts[losses] += weight * their_weight
    return {losses: Fraction(count, counts.total()) for losses, count in counts.items()}


def outcomes(attackers: int, defenders: int, rules: Rules) -> Chances:
    """Return the distribution of (attackers, defenders) left, garrison included."""
    current: Chances = {(attackers, defenders): Fraction(1)}
    ended: Chances = {}
    while current:
        following: Chances = {}
        for (a, d), chance in current.items():
            if a <= rules.garrison or not d:
                ended[a, d] = ended.get((a, d), Fraction(0)) + chance
                continue
            dice = min(a - rules.garrison, rules.attack.kept), min(d, rules.defence.kept)
            for (ours, theirs), p in roll_losses(*dice, rules).items():
                state = a - ours, d - theirs
                following[state] = following.get(state, Fraction(0)) + chance * p
        current = following
    return ended


def rolls_again(start: int, able: int, rolls: int, rules: Rules, stop: StopRule) -> bool:
    """Return whether attackers with a stop rule roll again."""
    fewer_dice = min(able, rules.attack.kept) < min(start, rules.attack.kept)
    enough_lost = stop.max_losses is not None and start - able >= stop.max_losses
    behind = rules.garrison + (stop.hold_back or 0)
    few_left = stop.stop_at is not None and able + behind <= stop.stop_at
    is_over = (stop.charge and fewer_dice) or enough_lost or few_left or rolls == stop.max_rolls
    return able > 0 and not is_over


def outcomes_with_stop(attackers: int, defenders: int, rules: Rules, stop: StopRule) -> Chances:
    """Return the distribution of (attackers, defenders) left when the attackers may stop."""
    behind = rules.garrison + (stop.hold_back or 0)
    start, rolls = attackers - behind, 0
    current: Chances = {(start, defenders): Fraction(1)}
    ended: Chances = {}
    while current:
        following: Chances = {}
        for (able, d), chance in current.items():
            if not d or not rolls_again(start, able, rolls, rules, stop):
                left = able + behind, d
                ended[left] = ended.get(left, Fraction(0)) + chance
                continue
            dice = min(able, rules.attack.kept), min(d, rules.defence.kept)
            for (ours, theirs), p in roll_losses(*dice, rules).items():
                if p:
                    state = able - ours, d - theirs
                    following[state] = following.get(state, Fraction(0)) + chance * p
        current, rolls = following, rolls + 1
    return ended


def win_probability(attackers: int, defenders: int, rules: Rules) -> Fraction:
    """Return the chance that no defender is left."""
    chances = outcomes(attackers, defenders, rules)
    return sum((p for (_, d), p in chances.items() if not d), Fraction(0))


def seen_losses(throw: tuple[int, ...], most: int, rules: Rules, attack_dice: int) -> list[Chances]:
    """Return the distributions of losses after a throw, for 1 to `most` defence dice."""
    distributions = []
    for j in range(1, most + 1):
        full = (attack_dice, j) == (rules.attack.kept, rules.defence.kept)
        dice = rules.full_defence if full and rules.full_defence else rules.defence
        counts: Counter[tuple[int, int]] = Counter()
        ranks = min(attack_dice, j)
        for (row, _), weight in equal_throws(dice, j, ranks).items():
            pairs = zip(throw[:ranks], row, strict=True)
            won = sum(y > z or (y == z and rules.ties == "attacker") for y, z in pairs)
            counts[ranks - won, won] += weight
        distributions.append({losses: Fraction(n, counts.total()) for losses, n in counts.items()})
    return distributions


@cache
def all_seen_losses(
    attack_dice: int, most: int, rules: Rules
) -> list[tuple[Fraction, list[Chances]]]:
    """Return the chance of every throw, with its `seen_losses`."""
    counts = Counter(map(tuple, throws(rules.attack, attack_dice)))
    return [
        (Fraction(count, counts.total()), seen_losses(throw, most, rules, attack_dice))
        for throw, count in counts.items()
    ]


@cache
def win_probability_if_seen(able: int, defenders: int, rules: Rules) -> Fraction:
    """Return the smallest chance to win against a defender who sees each throw first."""
    if not able or not defenders:
        return Fraction(not defenders)
    every = all_seen_losses(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)
    return sum(
        (
            chance * min(_after(able, defenders, chances, rules) for chances in distributions)
            for chance, distributions in every
        ),
        Fraction(0),
    )


def _after(able: int, defenders: int, chances: Chances, rules: Rules) -> Fraction:
    return sum(
        (
            p * win_probability_if_seen(able - x, defenders - y, rules)
            for (x, y), p in chances.items()
        ),
        Fraction(0),
    )


@cache
def seen_outcomes(able: int, defenders: int, rules: Rules) -> Chances:
    """Return the distribution of armies left; of equally good replies, most dice count."""
    if not able or not defenders:
        return {(able, defenders): Fraction(1)}
    every = all_seen_losses(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)
    ended: Chances = {}
    for chance, distributions in every:
        chances = min(
            reversed(distributions), key=lambda chances: _after(able, defenders, chances, rules)
        )
        for (x, y), p in chances.items():
            for end, q in seen_outcomes(able - x, defenders - y, rules).items():
                ended[end] = ended.get(end, Fraction(0)) + chance * p * q
    return ended
