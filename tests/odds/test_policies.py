"""Recommended policies, played with random dice and compared with all other policies."""

import math
import random
from functools import cache
from itertools import product

import pytest

import iacta
from iacta import CLASSIC
from tests import brute
from tests.odds.test_decision import State, compute_dice, throw_dice

RUNS = 8_000


def within(won: int, chance: float) -> bool:
    """Return whether a number of wins is compatible with chance."""
    return abs(won - RUNS * chance) < 3.5 * math.sqrt(RUNS * chance * (1 - chance))


def states(start: State, garrison: int) -> list[State]:
    """Return the states of a battle in which the attackers can attack."""
    return [(a, d) for a in range(garrison + 1, start[0] + 1) for d in range(1, start[1] + 1)]


def dice_at(said: iacta.DiceDecision, a: int, d: int) -> tuple[int, int]:
    """Return the recommended dice of both sides."""
    able = a - said.rules.garrison
    return int(said.attack_policy[d, able]), int(said.defence_policy[d, able])


@pytest.mark.parametrize("name", ["classic", "attack commander", "defence commander"])
def test_real_dice_win_as_often_as_the_recommended_numbers_of_dice(name: str) -> None:
    rules, start = iacta.find_rules(name), (6, 5)
    said = iacta.how_many_dice(*start, rules)
    dice = random.Random(3)  # noqa: S311 # no secret depends on them
    won = 0
    for _ in range(RUNS):
        a, d = start
        while a > 1 and d:
            ours, theirs = throw_dice(dice, *dice_at(said, a, d), rules)
            a, d = a - ours, d - theirs
        won += not d
    assert within(won, float(said.win_probability))


@pytest.mark.parametrize("name", ["classic", "attack commander"])
def test_no_other_way_to_choose_the_attack_dice_is_better(name: str) -> None:
    rules, start = iacta.find_rules(name), (4, 2)
    places = states(start, 1)
    most = [range(1, compute_dice(a, d, rules)[0] + 1) for a, d in places]
    said = iacta.how_many_dice(*start, rules, chooser="attacker", exact=True)

    def chance(chosen: dict[State, int]) -> object:
        @cache
        def won(a: int, d: int) -> object:
            if not d or a == 1:
                return int(not d)
            losses = brute.roll_losses(chosen[a, d], compute_dice(a, d, rules)[1], rules)
            return sum(p * won(a - x, d - y) for (x, y), p in losses.items())  # type: ignore[operator]

        return won(*start)

    all_chances = [chance(dict(zip(places, each, strict=True))) for each in product(*most)]
    assert max(all_chances) == said.win_probability  # type: ignore[type-var]


def test_real_dice_break_through_the_best_spread_as_often_as_predicted() -> None:
    best = iacta.spread_defenders(14, 9, 3)
    spread = best.spreads[0]
    dice = random.Random(5)  # noqa: S311 # no secret depends on them
    counts = []
    for way in (spread, spread[::-1]):
        won = 0
        for _ in range(RUNS):
            stack = 14
            for defenders in way:
                a, d = stack, defenders
                while a > 1 and d:
                    ours, theirs = throw_dice(dice, *compute_dice(a, d, CLASSIC), CLASSIC)
                    a, d = a - ours, d - theirs
                stack = 0 if d else a - 1
                if d:
                    break
            won += bool(stack)
        counts.append(won)
    assert within(max(counts), float(best.value))
