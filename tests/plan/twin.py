"""Slow twins: plans by plain recursion over rolls or battles, in fractions, without any vectors."""

from fractions import Fraction
from functools import cache

from iacta import Rules
from iacta.rules.roll import loss_counts

Armies = tuple[int, ...]


def battle_ends(able: int, defenders: int, rules: Rules) -> dict[tuple[int, int, int], Fraction]:
    """Return the distribution of (able left, defenders left, dice of the last roll)."""
    if not able or not defenders:
        return {(able, defenders, 0): Fraction(1)}
    dice = min(able, rules.attack.kept)
    losses = loss_counts(dice, min(defenders, rules.defence.kept), rules)
    ends: dict[tuple[int, int, int], Fraction] = {}
    for killed, rolls in enumerate(losses.counts):
        after = able - (losses.compared - killed), defenders - killed
        for (a, d, last), chance in battle_ends(*after, rules).items():
            key = a, d, last or dice
            ends[key] = ends.get(key, Fraction(0)) + chance * Fraction(rolls, losses.total)
    return ends


def best_chance(
    start: dict[str, int],
    defenders: dict[str, int],
    neighbours: dict[str, tuple[str, ...]],
    goal: frozenset[str],
    rules: Rules,
) -> Fraction:
    """Return the best chance to take all of a goal, by looking at everything that can happen."""
    names = tuple(sorted({*start, *defenders}))
    ends = cache(lambda able, held: battle_ends(able, held, rules))

    @cache
    def value(armies: Armies, owned: tuple[bool, ...]) -> Fraction:
        if all(own for name, own in zip(names, owned, strict=True) if name in goal):
            return Fraction(1)
        best = Fraction(0)
        for u, name in enumerate(names):
            if owned[u] and armies[u] > rules.garrison:
                for to in neighbours[name]:
                    c = names.index(to)
                    if not owned[c]:
                        best = max(best, fought(armies, owned, u, c))
        return best

    def fought(armies: Armies, owned: tuple[bool, ...], u: int, c: int) -> Fraction:
        total = Fraction(0)
        for (able, held, dice), chance in ends(armies[u] - rules.garrison, armies[c]).items():
            if held:
                after = _with(_with(armies, u, rules.garrison), c, held)
                total += chance * value(after, owned)
                continue
            least = min(dice, able) if rules.least_advance else 1
            taken = tuple(own or k == c for k, own in enumerate(owned))
            total += chance * max(
                value(_with(_with(armies, u, able + rules.garrison - m), c, m), taken)
                for m in range(least, able + 1)
            )
        return total

    armies = tuple(start.get(name) or defenders[name] for name in names)
    return value(armies, tuple(name in start for name in names))


def _with(armies: Armies, place: int, number: int) -> Armies:
    return (*armies[:place], number, *armies[place + 1 :])
