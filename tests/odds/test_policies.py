"""Recommended policies, played with real dice and compared with every other policy."""

import math
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import pytest

from iacta import (
    CLASSIC,
    DiceDecision,
    Rules,
    best_mix,
    find_rules,
    how_many_dice,
    spread_defenders,
)
from tests import brute
from tests.odds.test_best_mix import blitz_twin
from tests.odds.test_decision import State, dice_of

RUNS = 8_000


def within(won: int, chance: float) -> bool:
    """Return whether this number of wins is within what chance allows."""
    return abs(won - RUNS * chance) < 3.5 * math.sqrt(RUNS * chance * (1 - chance))


def fought(dice: random.Random, attack: int, defence: int, rules: Rules) -> State:
    """Roll real dice, and return the armies that both sides lose."""
    ours = sorted((dice.randint(1, face) for face in rules.attack.faces[:attack]), reverse=True)
    theirs = sorted((dice.randint(1, face) for face in rules.defence.faces[:defence]), reverse=True)
    won = sum(y > z for y, z in zip(ours, theirs, strict=False))
    return min(attack, defence) - won, won


def states(start: State, garrison: int) -> list[State]:
    """Return the states up to a battle in which armies can attack."""
    return [(a, d) for a in range(garrison + 1, start[0] + 1) for d in range(1, start[1] + 1)]


# How many dice.


def dice_at(said: DiceDecision, a: int, d: int) -> tuple[int, int]:
    """Return the dice that both sides should roll."""
    able = a - said.rules.garrison
    return int(said.attack_policy[d, able]), int(said.defence_policy[d, able])


@pytest.mark.parametrize("name", ["classic", "attack commander", "defence commander"])
def test_real_dice_win_as_often_as_the_recommended_numbers_of_dice(name: str) -> None:
    rules, start = find_rules(name), (6, 5)
    said = how_many_dice(*start, rules)
    dice = random.Random(3)  # noqa: S311 # no secret depends on them
    won = 0
    for _ in range(RUNS):
        a, d = start
        while a > 1 and d:
            ours, theirs = fought(dice, *dice_at(said, a, d), rules)
            a, d = a - ours, d - theirs
        won += not d
    assert within(won, float(said.win_probability))


@pytest.mark.parametrize("name", ["classic", "attack commander"])
def test_no_other_way_to_choose_the_attack_dice_is_better(name: str) -> None:
    rules, start = find_rules(name), (4, 2)
    places = states(start, 1)
    most = [range(1, dice_of(a, d, rules)[0] + 1) for a, d in places]
    said = how_many_dice(*start, rules, chooser="attacker", exact=True)

    def chance(chosen: dict[State, int]) -> object:
        @cache
        def won(a: int, d: int) -> object:
            if not d or a == 1:
                return int(not d)
            losses = brute.roll_losses(chosen[a, d], dice_of(a, d, rules)[1], rules)
            return sum(p * won(a - x, d - y) for (x, y), p in losses.items())  # type: ignore[operator]

        return won(*start)

    all_chances = [chance(dict(zip(places, each, strict=True))) for each in product(*most)]
    assert max(all_chances) == said.win_probability  # type: ignore[type-var]


# By hand or blitz.


def chance_of_mix(start: State, rolls: Callable[[int, int], bool]) -> float:
    """Return the chance to win of a policy that rolls in some states and else blitzes."""

    @cache
    def won(a: int, d: int) -> float:
        if not d or a == 1:
            return float(not d)
        if not rolls(a, d):
            return blitz_twin(a - 1, d, Rules(garrison=0))[0]
        losses = brute.roll_losses(*dice_of(a, d, CLASSIC), CLASSIC)
        return sum(float(p) * won(a - x, d - y) for (x, y), p in losses.items())

    return won(*start)


def _chosen(rolls: dict[State, bool], a: int, d: int) -> bool:
    return rolls[a, d]


@pytest.mark.parametrize("start", [(3, 2), (4, 3), (5, 2)])
def test_no_mix_at_all_is_better(start: State) -> None:
    places = states(start, 1)
    chances = [
        chance_of_mix(start, partial(_chosen, dict(zip(places, each, strict=True))))
        for each in product((False, True), repeat=len(places))
    ]
    assert max(chances) == pytest.approx(float(best_mix(*start).win_probability), rel=1e-12)


def thresholds() -> Iterator[Callable[[int, int], bool]]:
    """Yield policies that blitz from a number of attackers, or a lead over the defenders, on."""
    yield from (partial(lambda n, a, d: a < n, fewest) for fewest in range(2, 14))
    yield from (partial(lambda n, a, d: a - d < n, lead) for lead in range(-8, 9))


@pytest.mark.parametrize("start", [(6, 6), (9, 8), (8, 10)])
def test_no_fixed_threshold_of_a_mix_is_better(start: State) -> None:
    best = float(best_mix(*start).win_probability)
    assert all(chance_of_mix(start, rolls) <= best * (1 + 1e-12) for rolls in thresholds())


# The attack on a spread.


def test_real_dice_break_through_the_best_spread_as_often_as_predicted() -> None:
    best = spread_defenders(14, 9, 3)
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
                    ours, theirs = fought(dice, *dice_of(a, d, CLASSIC), CLASSIC)
                    a, d = a - ours, d - theirs
                stack = 0 if d else a - 1
                if d:
                    break
            won += bool(stack)
        counts.append(won)
    assert within(max(counts), float(best.value))
