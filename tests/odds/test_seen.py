"""A defender who sees the attack: the chances are those of a slow twin, throw by throw."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import pytest

from iacta import CLASSIC, Dice, Rules, find_rules, win_probability, win_probability_if_seen
from iacta.methods import find_kernel
from iacta.rules.modes import DefenderSeesFirst
from tests import brute

State: TypeAlias = tuple[int, int]


@pytest.mark.parametrize(("battle", "chance"), [((10, 10), 0.4529), ((20, 20), 0.4668)])
def test_the_published_chances_against_one_who_sees_first(battle: State, chance: float) -> None:
    assert round(win_probability_if_seen(*battle, garrison=0), 4) == chance


def seen_twin(battle: State, rules: Rules, aim: str) -> Fraction:
    """Return the chance to win against a defender who sees each throw, throw by throw."""
    ties = rules.ties == "attacker"

    def distributions(throw: list[int], most: int) -> Iterator[dict[State, Fraction]]:
        for j in range(1, most + 1):
            rows = list(brute.throws(rules.defence, j))
            chances: dict[State, Fraction] = {}
            for row in rows:
                pairs = list(zip(throw, row, strict=False))
                won = sum(y > z or (ties and y == z) for y, z in pairs)
                losses = len(pairs) - won, won
                chances[losses] = chances.get(losses, Fraction(0)) + Fraction(1, len(rows))
            yield chances

    @cache
    def answers(i: int, most: int) -> list[list[dict[State, Fraction]]]:
        return [list(distributions(throw, most)) for throw in brute.throws(rules.attack, i)]

    @cache
    def play(a: int, d: int) -> tuple[Fraction, Fraction]:
        """Return the chance to win and the expected number of defenders lost."""
        if not a or not d:
            return Fraction(not d), Fraction(0)
        every = answers(min(a, rules.attack.kept), min(d, rules.defence.kept))
        total = [Fraction(0), Fraction(0)]
        for found in every:
            after = []
            for chances in found:
                ends = {(x, y): play(a - x, d - y) for x, y in chances}
                won = sum((p * ends[end][0] for end, p in chances.items()), Fraction(0))
                cost = sum((p * (end[1] + ends[end][1]) for end, p in chances.items()), Fraction(0))
                after.append((won, cost))
            wanted = 0 if aim == "conquest" else 1
            best = min(reversed(after), key=lambda end: end[wanted])
            total = [total[0] + best[0], total[1] + best[1]]
        return total[0] / len(every), total[1] / len(every)

    return play(*battle)[0]


@pytest.mark.parametrize("aim", ["conquest", "losses"])
@pytest.mark.parametrize("name", ["classic", "two faces", "ties to the attacker", "bunker"])
def test_seen_throws_are_answered_as_by_the_slow_twin(name: str, aim: str) -> None:
    rules = {
        "classic": CLASSIC,
        "two faces": Rules(attack=Dice((4, 3, 3)), defence=Dice((4, 4, 2))),
        "ties to the attacker": Rules(ties="attacker", attack=Dice((5, 5))),
        "bunker": find_rules("bunker"),
    }[name]
    kernel = find_kernel(replace(rules, mode=DefenderSeesFirst()))
    for battle in ((1, 1), (2, 2), (3, 4), (4, 2)):
        exact = seen_twin(battle, rules, aim)
        chance = win_probability_if_seen(*battle, rules, aim=aim, garrison=0)  # type: ignore[arg-type]
        bound = kernel.error(*battle).relative
        assert abs(Fraction(chance) - exact) <= Fraction(bound) * exact


def test_to_see_first_helps_and_to_spare_armies_helps_less() -> None:
    for battle in ((5, 5), (12, 10), (9, 14)):
        blind = win_probability(*battle)
        assert win_probability_if_seen(*battle) < blind
        sparing = win_probability_if_seen(*battle, aim="losses")
        assert win_probability_if_seen(*battle) < sparing < blind
    assert win_probability_if_seen(1, 3) == 0
