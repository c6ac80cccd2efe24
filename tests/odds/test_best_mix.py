"""The best mix of rolls by hand and balanced blitz: published chances and slow twins."""

import math
import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from iacta import CLASSIC, Rules, best_mix, find_rules, win_probability, win_table
from iacta.rules.modes import BalancedBlitz
from tests import brute
from tests.odds.test_decision import RUNS, State, compute_dice, throw_dice


@pytest.mark.parametrize(
    ("battle", "chance"),
    [
        ((5, 5), 0.5830),
        ((10, 10), 0.6616),
        ((10, 12), 0.4841),
        ((20, 20), 0.7467),
        ((5, 8), 0.2540),
    ],
)
def test_the_best_mixes_of_hand_and_blitz(battle: State, chance: float) -> None:
    decision = best_mix(*battle, garrison=0)
    assert round(float(decision.win_probability), 4) == chance
    assert (decision.objective, decision.value_if_stopped) == ("conquest", 0.0)
    assert decision.error < 1e-11


def blitz_twin(able: int, defenders: int, rules: Rules) -> tuple[float, float]:
    """Compute the chance to win a balanced blitz and the expected armies left, step by step."""
    bare = {(a, d): float(p) for (a, d), p in brute.outcomes(able, defenders, rules).items()}
    won = [bare.get((able - i, 0), 0.0) for i in range(able)]
    lost = [bare.get((0, defenders - j), 0.0) for j in range(defenders)]
    high, low = sum(won), sum(lost)
    share = high**1.3 / (high**1.3 + low**1.3)
    share = 0.0 if high <= 0.05 else 1.0 if low <= 0.05 else share
    row = [x * share / high for x in won] + [x * (1 - share) / low for x in reversed(lost)]
    for order in (range(len(row)), range(len(row) - 1, -1, -1)):
        rest = 0.1
        for i in order:
            cut = min(rest, row[i])
            row[i], rest = row[i] - cut, rest - cut
    total = sum(row)
    share = sum(row[:able]) / total
    raised = [x**1.8 for x in row[:able]]
    mean = sum((able - i) * x for i, x in enumerate(raised)) / (sum(raised) or 1) * share
    return share, mean


@pytest.mark.parametrize("name", ["classic", "capital"])
def test_the_mix_is_the_best_of_hand_and_blitz_in_every_state(name: str) -> None:
    rules = find_rules(name, garrison=0)
    decision = best_mix(8, 8, rules)

    @cache
    def best(a: int, d: int) -> tuple[float, float]:
        if not a or not d:
            return float(not d), float(a)
        distribution = brute.roll_losses(*compute_dice(a, d, rules), rules)
        after = {losses: best(a - losses[0], d - losses[1]) for losses in distribution}
        by_hand = sum(float(p) * after[losses][0] for losses, p in distribution.items())
        blitz, left = blitz_twin(a, d, rules)
        assert decision.choose_best_action(a, d) == ("roll" if by_hand > blitz + 1e-12 else "blitz")
        if by_hand > blitz + 1e-12:
            return by_hand, sum(float(p) * after[losses][1] for losses, p in distribution.items())
        return blitz, left

    chance, left = best(8, 8)
    assert decision.win_probability == pytest.approx(chance, rel=1e-12)
    assert decision.expected_attackers_left == pytest.approx(left, rel=1e-10)


def test_the_mix_is_at_least_as_good_as_each_of_both() -> None:
    for battle in ((3, 1), (6, 6), (12, 10), (9, 15)):
        decision = best_mix(*battle)
        chance = float(decision.win_probability)
        able = battle[0] - 1
        assert chance >= win_probability(*battle) * (1 - 1e-12)
        assert chance >= blitz_twin(able, battle[1], Rules(garrison=0))[0] * (1 - 1e-12)


@pytest.mark.parametrize("name", ["classic", "capital", "fortification", "zombie defender"])
def test_no_hopeless_blitz_is_recommended_if_a_roll_can_win(name: str) -> None:
    decision = best_mix(60, 60, name)
    blitzes = find_rules(name)
    chances = win_table(60, 60, replace(blitzes, mode=BalancedBlitz()))
    for a, d in product(range(2, 61), range(1, 61)):
        if chances[a - 1, d - 1] == 0:
            assert decision.choose_best_action(a, d) == "roll"
    fewest = [each.attackers for each in decision.boundary]
    assert None not in fewest
    assert fewest == sorted(fewest)  # type: ignore[type-var]


def test_a_mix_with_little_chance_is_still_computed() -> None:
    decision = best_mix(2, 24)
    assert (decision.action, decision.error < 1e-25) == ("roll", True)
    assert decision.win_probability == pytest.approx(win_probability(2, 24), rel=1e-12)


def test_simulated_dice_and_blitzes_reach_the_chance_of_the_mix() -> None:
    decision, won = best_mix(11, 10), 0
    dice = random.Random(11)  # noqa: S311 # no secret depends on them
    blitz = cache(lambda a, d: blitz_twin(a, d, Rules(garrison=0))[0])
    for _ in range(RUNS):
        a, d = 11, 10
        while decision.choose_best_action(a, d) == "roll":
            ours, theirs = throw_dice(dice, *compute_dice(a, d, CLASSIC))
            a, d = a - ours, d - theirs
        won += dice.random() < blitz(a - 1, d) if a > 1 and d else not d
    chance = float(decision.win_probability)
    assert abs(won - chance * RUNS) < 3.5 * math.sqrt(RUNS * chance * (1 - chance))


def test_the_mix_stops_only_where_nobody_can_attack() -> None:
    decision = best_mix(1, 3)
    assert (decision.action, decision.win_probability, decision.expected_attackers_left) == (
        "stop",
        0,
        1,
    )
    assert {decision.choose_best_action(a, d) for a in range(2, 20) for d in range(1, 4)} == {
        "roll",
        "blitz",
    }
    assert best_mix(25, 10).win_probability == 1
    assert best_mix(12, 10, Rules(mode=BalancedBlitz())).value == best_mix(12, 10).value
