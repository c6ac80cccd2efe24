"""A defender who sees the attack: chances equal those of a slow twin, throw by throw."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import pytest

from iacta import CLASSIC, Dice, Rules, find_rules, win_probability, win_probability_if_seen
from iacta.methods import choose_kernel
from iacta.rules.modes import DefenderSeesFirst
from tests import brute

State: TypeAlias = tuple[int, int]


def find_win_if_seen(battle: State, rules: Rules, aim: str) -> Fraction:
    """Return the chance to win against a defender who sees each throw, throw by throw."""

    @cache
    def play(a: int, d: int) -> tuple[Fraction, Fraction]:
        """Return the chance to win and the expected number of defenders lost."""
        if not a or not d:
            return Fraction(not d), Fraction(0)
        won = lost = Fraction(0)
        dice = min(a, rules.attack.kept), min(d, rules.defence.kept)
        for throw, replies in brute.all_seen_losses(*dice, rules):
            after = []
            for losses in replies:
                ends = [(p, y, play(a - x, d - y)) for (x, y), p in losses.items()]
                after.append(
                    (sum(p * w for p, _, (w, _) in ends), sum(p * (y + k) for p, y, (_, k) in ends))
                )
            best = min(reversed(after), key=lambda end: end[aim == "losses"])
            won, lost = won + throw * best[0], lost + throw * best[1]
        return won, lost

    return play(*battle)[0]


@pytest.mark.parametrize("aim", ["conquest", "losses"])
@pytest.mark.parametrize("name", ["classic", "two faces", "ties to the attacker", "bunker"])
def test_replies_to_seen_throws_agree_with_the_slow_twin(name: str, aim: str) -> None:
    rules = {
        "classic": CLASSIC,
        "two faces": Rules(attack=Dice((4, 3, 3)), defence=Dice((4, 4, 2))),
        "ties to the attacker": Rules(ties="attacker", attack=Dice((5, 5))),
        "bunker": find_rules("bunker"),
    }[name]
    kernel = choose_kernel(replace(rules, mode=DefenderSeesFirst()))
    for battle in ((1, 1), (2, 2), (3, 4), (4, 2)):
        exact = find_win_if_seen(battle, rules, aim)
        chance = win_probability_if_seen(*battle, rules, aim=aim, garrison=0)  # type: ignore[arg-type]
        bound = kernel.error(*battle).relative
        assert abs(Fraction(chance) - exact) <= Fraction(bound) * exact


def test_seeing_the_attack_helps_and_saving_armies_helps_less() -> None:
    for battle in ((5, 5), (12, 10), (9, 14)):
        blind = win_probability(*battle)
        assert win_probability_if_seen(*battle) < blind
        sparing = win_probability_if_seen(*battle, aim="losses")
        assert win_probability_if_seen(*battle) < sparing < blind
    assert win_probability_if_seen(1, 3) == 0
