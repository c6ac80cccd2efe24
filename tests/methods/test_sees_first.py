"""Defenders who choose their dice after seeing the attack."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import iacta
from iacta import Battle, Campaign, Dice, IllegalError, Rules, Territory, armies_needed, win_table
from iacta.methods import choose_kernel
from iacta.methods.kernel import State, is_won
from iacta.methods.sees_first import AllBattles
from iacta.rules.modes import DefenderSeesFirst, TrueRandom
from iacta.rules.roll import count_losses_by_throw
from tests import brute
from tests.adapters import win_probability_keeping

SEEN = iacta.find_rules("defender sees first")
NO_GARRISON = replace(SEEN, garrison=0)
CAPITAL = replace(iacta.find_rules("capital"), mode=DefenderSeesFirst())
TWO_FACES = replace(SEEN, attack=Dice((4, 3, 3)), defence=Dice((4, 4, 2)))
OTHER_FULL = replace(SEEN, full_defence=Dice((8, 8)))
LEADER = replace(iacta.find_rules("attack leader"), mode=DefenderSeesFirst())
SEVERAL = [SEEN, CAPITAL, TWO_FACES, OTHER_FULL, LEADER, replace(SEEN, ties="attacker")]
NEVER_LOSES = replace(SEEN, defence=Dice((6, 6), bonus=(6, 6)))
NEVER_WINS = replace(SEEN, attack=Dice((6,), bonus=(6,)), defence=Dice((6,)))


def error(size: tuple[int, int], rules: Rules) -> float:
    """Return the bound on the relative error of floats."""
    return choose_kernel(rules).error(*size).relative


@pytest.mark.parametrize(("armies", "chance"), [(10, 0.4529), (20, 0.4668)])
def test_known_chances_agree(armies: int, chance: float) -> None:
    assert round(Battle(armies, armies, NO_GARRISON).win_probability(), 4) == chance
    assert round(Battle(armies + 1, armies, SEEN).win_probability(), 4) == chance
    assert round(iacta.win_probability_if_seen(armies + 1, armies), 4) == chance


@pytest.mark.parametrize("rules", [OTHER_FULL, TWO_FACES, LEADER])
def test_distributions_agree_with_the_twin(rules: Rules) -> None:
    for attackers, defenders in ((2, 1), (4, 2), (5, 6), (8, 4)):
        ends = Battle(attackers, defenders, rules).outcomes(exact=True)
        twin = brute.seen_outcomes(attackers - 1, defenders, rules)
        assert dict(ends) == {iacta.Outcome(a + 1, d): p for (a, d), p in twin.items() if p}


def replies(able: int, defenders: int, rules: Rules, *, exact: bool) -> list[list[bool]]:
    """Return the defender's replies in every state up to a size."""
    battles = AllBattles(able, defenders, rules, exact)
    return [battles.compute_replies(span).ravel().tolist() for span in battles.iterate_spans()]


@pytest.mark.parametrize("size", [(60, 60), (120, 6), (6, 60)])
def test_replies_in_floats_agree_with_fractions(size: tuple[int, int]) -> None:
    assert replies(*size, SEEN, exact=False) == replies(*size, SEEN, exact=True)


@pytest.mark.parametrize("rules", [*SEVERAL, NEVER_LOSES, NEVER_WINS])
def test_replies_in_floats_agree_with_fractions_under_other_rules(rules: Rules) -> None:
    assert replies(16, 14, rules, exact=False) == replies(16, 14, rules, exact=True)


def assert_near(value: object, exact: object, bound: float) -> None:
    assert isinstance(value, float)
    assert isinstance(exact, Fraction)
    assert abs(Fraction(value) - exact) <= Fraction(bound) * exact


@pytest.mark.parametrize("size", [(41, 40), (60, 12), (12, 60), (3, 80)])
@pytest.mark.parametrize("rules", [SEEN, CAPITAL])
def test_floats_are_within_their_bound(size: tuple[int, int], rules: Rules) -> None:
    battle, bound = Battle(*size, rules), error(size, rules)
    exact = battle.outcomes(exact=True)
    ends = battle.outcomes()
    for outcome, probability in exact.items():
        assert_near(ends[outcome], Fraction(probability), bound)
    assert_near(battle.win_probability(), battle.win_probability(exact=True), bound)
    assert exact.prob(is_won) == battle.win_probability(exact=True)
    assert sum(map(float, ends.values())) == pytest.approx(1, abs=1e-12)


def test_the_wins_of_a_distribution_are_the_chance_to_win() -> None:
    for size in ((250, 250), (400, 100), (30, 300)):
        bound = error(size, SEEN)
        won = float(Battle(*size, SEEN).outcomes().prob(is_won))
        assert won == pytest.approx(Battle(*size, SEEN).win_probability(), rel=2 * bound)
    assert error((250, 250), SEEN) < 1e-12


def test_equally_good_replies_use_the_most_dice() -> None:
    lost = Battle(3, 3, NEVER_LOSES).attackers_lost(exact=True)
    assert lost[2] == 1
    battles = AllBattles(2, 2, NEVER_LOSES)
    *_, last = battles.iterate_spans()
    after = battles.compute_replies(last)
    assert after[-1].all()
    assert not after[:-1].any()


def test_edges() -> None:
    for exact in (False, True):
        kernel = choose_kernel(SEEN, exact=exact)
        assert kernel.win_probability(2, 0) == 1
        assert dict(kernel.run_forward(iacta.Distribution([4]), 0)) == {State(4, 0): 1}
    # A single defender has no choice.
    for attackers in (1, 2, 3, 9):
        blind = Battle(attackers, 1).outcomes(exact=True)
        assert Battle(attackers, 1, SEEN).outcomes(exact=True) == blind


def test_arrays_equal_single_battles() -> None:
    armies = np.array([[5], [12]]), np.array([4, 10])
    assert iacta.win_probability(*armies, SEEN)[1, 1] == pytest.approx(0.5397, abs=1e-4)
    for exactly in (False, True):
        left = iacta.expected_attackers_left(*armies, SEEN, exact=exactly)
        kept = iacta.expected_defenders_left(*armies, SEEN, exact=exactly)
        ends = Battle(12, 10, SEEN).outcomes(exact=True)
        assert float(left[1, 1]) == pytest.approx(float(ends.map(lambda end: end.attackers).mean()))
        assert float(kept[1, 1]) == pytest.approx(float(ends.map(lambda end: end.defenders).mean()))


def test_seeing_the_attack_never_hurts() -> None:
    assert (win_table(40, 40, SEEN) <= win_table(40, 40) * (1 + 1e-12)).all()
    assert win_table(40, 40, SEEN)[39, 39] < win_table(40, 40)[39, 39]


def test_a_campaign_with_several_rules_agrees_with_the_twin() -> None:
    campaign = Campaign(7, [3, Territory(2, rules="classic"), 1], SEEN)
    expected = Fraction(0)
    for (a, d), p in brute.seen_outcomes(6, 3, SEEN).items():
        if not d:
            for (b, e), q in brute.outcomes(a, 2, iacta.CLASSIC).items():
                if not e and b > 1:
                    expected += p * q * brute.win_probability_if_seen(b - 2, 1, SEEN)
    assert campaign.win_probability(exact=True) == expected
    assert campaign.win_probability() == pytest.approx(float(expected), rel=1e-13)
    kept = win_probability_keeping(7, [3, Territory(2, rules="classic"), 1], 0, SEEN, exact=True)
    assert kept == expected
    both = Campaign(9, [3, Territory(2, rules="balanced blitz")], SEEN).win_probability()
    assert 0 < both < 1


def test_a_campaign_is_played_by_its_distribution() -> None:
    campaign, rng = Campaign(6, [3, 1], SEEN), np.random.default_rng(4)
    runs = 200
    reaching = sum(campaign.play(rng)[-1].territory == 2 for _ in range(runs))
    reached = float(campaign.territory_odds()[1].reach_probability)
    assert abs(reaching / runs - reached) <= 5 * sqrt(reached * (1 - reached) / runs)


@pytest.mark.parametrize("keep", [0, 3])
@pytest.mark.parametrize("rules", [SEEN, CAPITAL])
def test_armies_needed_are_the_first_that_reach_the_chance(keep: int, rules: Rules) -> None:
    for defenders, chance in ((1, Fraction(1, 2)), (6, Fraction(9, 10)), (9, Fraction(1, 100))):
        needed = armies_needed(defenders, chance, rules, keep=keep)
        assert win_probability_keeping(needed, [defenders], keep, rules, exact=True) >= chance
        for fewer in range(1, needed):
            kept = win_probability_keeping(fewer, [defenders], keep, rules, exact=True)
            assert kept < chance
    reached = Battle(9, 6, rules).win_probability(exact=True)
    assert armies_needed(6, reached, rules) == 9
    assert armies_needed(6, reached + Fraction(1, 10**30), rules) == 10


def test_armies_needed_for_a_campaign_are_the_first_that_reach_the_chance() -> None:
    way: list[int | Territory] = [4, Territory(3, rules="classic"), 2]
    needed = iacta.armies_needed_for_campaign(way, "80%", SEEN)
    chances = [Campaign(n, way, SEEN).win_probability(exact=True) for n in (needed - 1, needed)]
    assert chances[0] < Fraction(4, 5) <= chances[1]
    blitzed: list[int | Territory] = [4, Territory(3, rules="balanced blitz")]
    needed = iacta.armies_needed_for_campaign(blitzed, "80%", SEEN)
    assert Campaign(needed, blitzed, SEEN).win_probability() >= 0.8
    assert Campaign(needed - 1, blitzed, SEEN).win_probability() < 0.8


def test_defenders_needed_are_the_first_that_hold() -> None:
    for attackers, chance in ((2, Fraction(1, 2)), (9, Fraction(9, 10)), (20, Fraction(1, 2))):
        needed = iacta.defenders_needed(attackers, chance, SEEN)
        assert 1 - Battle(attackers, needed, SEEN).win_probability(exact=True) >= chance
        if needed > 1:
            assert 1 - Battle(attackers, needed - 1, SEEN).win_probability(exact=True) < chance


@pytest.mark.parametrize("rules", SEVERAL)
def test_no_replies_have_a_greater_ratio_of_losses_than_break_even(rules: Rules) -> None:
    ratio = iacta.break_even_ratio(rules)
    assert ratio is not None
    best = sum(
        chance
        * max(
            sum(p * (x - ratio * y) for (x, y), p in distribution.items())
            for distribution in losses
        )
        for chance, losses in brute.all_seen_losses(*rules.full_roll, rules)
    )
    assert best == 0


@pytest.mark.parametrize("rules", [SEEN, CAPITAL])
def test_large_battles_tip_at_the_break_even_ratio(rules: Rules) -> None:
    ratio = iacta.break_even_ratio(rules)
    assert ratio is not None
    chances = [
        Battle(round(part * ratio * 600), 600, rules).win_probability() for part in (0.85, 1, 1.15)
    ]
    assert chances[0] < 0.03
    assert 0.45 < chances[1] < 0.55
    assert chances[2] > 0.97


def test_methods_are_chosen_and_named() -> None:
    assert choose_kernel(SEEN).name == "sees_first"
    assert choose_kernel(SEEN, exact=True).name == "sees_first_exact"
    battle = Battle(9, 7, SEEN)
    exact_chance = battle.win_probability(exact=True)
    assert battle.win_probability(method="sees_first_exact") == float(exact_chance)
    assert win_table(9, 7, SEEN, method="sees_first")[8, 6] == battle.win_probability()
    with pytest.raises(IllegalError, match="cannot be used for the method 'lattice'"):
        iacta.win_probability([9, 8], 7, SEEN, method="lattice")


def test_stop_rules_act_like_a_larger_garrison_or_are_refused() -> None:
    stopped = Battle(9, 7, SEEN, stop=iacta.StopRule(hold_back=2)).win_probability(exact=True)
    assert stopped == Battle(9, 7, SEEN, garrison=3).win_probability(exact=True)
    for stop in (
        iacta.StopRule(charge=True),
        iacta.StopRule(max_losses=3),
        iacta.StopRule(max_rolls=3),
    ):
        with pytest.raises(IllegalError, match="cannot be used for a battle that stops by stop_at"):
            Battle(9, 7, SEEN, stop=stop).outcomes()


def test_unanswerable_questions_are_refused_in_a_sentence() -> None:
    dominating = replace(iacta.find_rules("dominating12"), mode=DefenderSeesFirst())
    for ask, sentence in (
        (lambda: iacta.simulate_battle(9, 7, SEEN), "for the method 'simulation'"),
        (lambda: iacta.when_to_stop(9, 7, dominating, prize=3), "full_attack must be None"),
        (lambda: iacta.how_many_dice(9, 7, dominating), "full_attack must be None"),
        (lambda: iacta.best_mix(9, 7, SEEN), "to mix rolls by hand with a blitz"),
        (lambda: Battle(9, 7, SEEN).path_count(), "for the method 'path_tree'"),
        (lambda: Battle(9, 7, dominating).win_probability(), "full_attack must be None"),
        (lambda: armies_needed(9, 0.5, dominating), "full_attack must be None"),
    ):
        with pytest.raises(iacta.IactaError, match=sentence):
            ask()


def test_every_throw_is_counted_once() -> None:
    for rules in SEVERAL:
        for i in range(1, rules.attack.kept + 1):
            losses = count_losses_by_throw(i, rules.defence.kept, rules)
            for j in range(1, rules.defence.kept + 1):
                mean = sum(
                    Fraction(weight * sum(k * n for k, n in enumerate(row[j - 1].counts)))
                    / row[j - 1].total
                    for row, weight in losses.items()
                ) / sum(losses.values())
                twin = brute.roll_losses(i, j, rules)
                assert mean == sum(y * p for (_, y), p in twin.items())


def test_one_die_each_leaves_nothing_to_choose() -> None:
    one = Rules(attack=Dice((6,)), defence=Dice((6,)), mode=DefenderSeesFirst())
    blind = replace(one, mode=TrueRandom())
    for attackers, defenders in ((3, 3), (8, 12)):
        ends, expected = (
            choose_kernel(rules, exact=True).run_forward(iacta.Distribution([attackers]), defenders)
            for rules in (one, blind)
        )
        assert ends == expected
