"""Decisions: policies are optimal, and their values are correct."""

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, IactaError, Roll, Rules, ask, find_rules, how_many_dice, when_to_stop
from iacta.methods.optimal_play import Choices, Reward, solve, solve_exactly
from iacta.odds.decisions import Decision, best_mix, compute_prize_to_roll
from tests import adapters, brute, strategies
from tests.cases import for_each

BLITZ, GARRISON = find_rules("balanced blitz"), Rules(garrison=2)
LEFT_OUT = ("two against three", "ties to the attacker", "fortification", "dominating12")
SEVERAL_RULES = {
    **{name: rules for name, rules in adapters.SEVERAL_RULES.items() if name not in LEFT_OUT},
    **{name: find_rules(name) for name in ("ammo shortage", "attack commander")},
}
REWARDS = {
    "a prize": Reward(Fraction(5), Fraction(1), Fraction(0)),
    "a fraction": Reward(Fraction(7, 3), Fraction(1), Fraction(1, 2)),
    "kills": Reward(Fraction(0), Fraction(1), Fraction(1)),
    "conquest": Reward(Fraction(1), Fraction(0), Fraction(0)),
    "a tie": Reward(Fraction(7, 5), Fraction(1), Fraction(0)),
    "nothing": Reward(Fraction(0), Fraction(0), Fraction(0)),
}
RUNS = 6_000

State = tuple[int, int]
Policy = Callable[[int, int], bool]


def compute_dice(attackers: int, defenders: int, rules: Rules) -> tuple[int, int]:
    """Return the maximum numbers of dice of both sides."""
    able = attackers - rules.garrison
    return min(able, rules.attack.kept), min(defenders, rules.defence.kept)


def value_of_policy(
    start: State, rolls: Policy, rules: Rules, reward: Reward
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the value of a policy, its chance to win, and the mean number of attackers left."""

    @cache
    def from_state(a: int, d: int) -> tuple[Fraction, Fraction, Fraction]:
        if not d:
            return reward.prize + reward.army_value * a, Fraction(1), Fraction(a)
        if a <= rules.garrison or not rolls(a, d):
            return reward.army_value * a, Fraction(0), Fraction(a)
        value = won = left = Fraction(0)
        for (ours, theirs), p in brute.roll_losses(*compute_dice(a, d, rules), rules).items():
            after = from_state(a - ours, d - theirs)
            value += p * (reward.kill_value * theirs + after[0])
            won += p * after[1]
            left += p * after[2]
        return value, won, left

    return from_state(*start)


def all_policies(start: State, rules: Rules) -> Iterator[Policy]:
    """Yield every policy: each combination of rolling and stopping in the reachable states."""
    seen, new = set(), {start}
    while new:
        a, d = new.pop()
        if (a, d) in seen or not d or a <= rules.garrison:
            continue
        seen.add((a, d))
        losses = brute.roll_losses(*compute_dice(a, d, rules), rules)
        new |= {(a - ours, d - theirs) for ours, theirs in losses}
    for answers in product((False, True), repeat=len(seen)):
        chosen = dict(zip(seen, answers, strict=True))
        yield partial(lambda chosen, a, d: chosen[a, d], chosen)


def follow_decision(decision: iacta.Decision) -> Policy:
    """Return the policy that rolls wherever the decision says so."""
    return lambda a, d: decision.choose_best_action(a, d) == "roll"


def at_least(fewest: int) -> Policy:
    """Return the policy that rolls with at least a number of attackers."""
    return lambda a, d: a >= fewest


def roll_if_ahead(fewest: int) -> Policy:
    """Return the policy that rolls if attackers outnumber defenders by a given number."""
    return lambda a, d: a - d >= fewest


def decide(start: State, rules: Rules, reward: Reward, *, exact: bool = False) -> iacta.Decision:
    """Decide when to stop."""
    return when_to_stop(
        *start,
        rules,
        prize=reward.prize,
        army_value=reward.army_value,
        kill_value=reward.kill_value,
        exact=exact,
    )


@for_each("rules", ["classic", "capital", "ammo shortage", "zombie defender"])
@for_each("reward", REWARDS.values())
@for_each("start", [(1, 2), (2, 1), (3, 2), (5, 2), (4, 3), (3, 5)])
def test_no_policy_at_all_is_better(start: State, reward: Reward, rules: str) -> None:
    found = find_rules(rules)
    best = max(
        value_of_policy(start, policy, found, reward)[0] for policy in all_policies(start, found)
    )
    assert decide(start, found, reward, exact=True).value == best


@for_each("name", SEVERAL_RULES)
@for_each("reward", REWARDS.values())
def test_the_policy_has_the_reported_value(name: str, reward: Reward) -> None:
    rules = SEVERAL_RULES[name]
    for start in ((1, 1), (2, 2), (3, 1), (9, 6), (5, 11), (14, 14)):
        decision = decide(start, rules, reward, exact=True)
        value, won, left = value_of_policy(start, follow_decision(decision), rules, reward)
        assert (decision.value, decision.win_probability) == (value, won)
        assert decision.expected_attackers_left == left
        assert decision.value >= decision.value_if_stopped == reward.army_value * start[0]
        assert (decision.action == "roll") == (decision.value > decision.value_if_stopped)
        floats = decide(start, rules, reward)
        assert abs(Fraction(floats.value) - value) <= Fraction(floats.error) < Fraction(1, 10**11)
        assert floats.win_probability == pytest.approx(float(won), abs=1e-13)
        assert floats.expected_attackers_left == pytest.approx(float(left), abs=1e-12)
        assert floats.boundary == decision.boundary


@for_each("name", ["classic", "garrison 0", "garrison 3", "one die each"])
@for_each("reward", REWARDS.values())
def test_the_value_function_is_the_value_of_the_policy_in_each_state(
    name: str, reward: Reward
) -> None:
    rules = SEVERAL_RULES[name]
    decision, floats = (decide((6, 4), rules, reward, exact=exact) for exact in (True, False))
    assert decision.values.shape == decision.rolls.shape
    for d, able in product(range(5), range(7)):
        value, _, _ = value_of_policy(
            (able + rules.garrison, d), follow_decision(decision), rules, reward
        )
        assert decision.values[d, able] == value
        assert floats.values[d, able] == pytest.approx(float(value), abs=1e-12)


def test_the_value_function_of_a_mix_is_the_chance_of_each_battle() -> None:
    values = best_mix(6, 4).values
    for attackers, defenders in product(range(2, 7), range(1, 5)):
        chance = best_mix(attackers, defenders).win_probability
        assert values[defenders, attackers - 1] == pytest.approx(float(chance), abs=1e-12)


@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("prize", [2, 6, 12, 40])
def test_no_fixed_threshold_is_better(rules: str, prize: int) -> None:
    found, reward = find_rules(rules), Reward(Fraction(prize), Fraction(1), Fraction(1, 4))
    value = decide((12, 9), found, reward, exact=True).value
    fewest = [value_of_policy((12, 9), at_least(n), found, reward)[0] for n in range(2, 14)]
    ahead = [value_of_policy((12, 9), roll_if_ahead(n), found, reward)[0] for n in range(-9, 13)]
    assert value >= max(fewest + ahead)


@pytest.mark.parametrize(
    ("start", "rules", "prize"),
    [((12, 10), "classic", 12), ((8, 12), "classic", 30), ((16, 8), "capital", 20)],
)
def test_simulated_dice_reach_the_value(start: State, rules: str, prize: int) -> None:
    decision = when_to_stop(*start, rules, prize=prize, kill_value="1/2")
    dice = random.Random(7)  # noqa: S311 # no secret depends on them
    found = find_rules(rules)
    values, won, left = np.empty(RUNS), 0, 0
    for run in range(RUNS):
        a, d = start
        while decision.choose_best_action(a, d) == "roll":
            ours, theirs = throw_dice(dice, *compute_dice(a, d, found), found)
            a, d = a - ours, d - theirs
        values[run] = a + (0 if d else prize) + (start[1] - d) / 2
        won, left = won + (not d), left + a
    assert abs(values.mean() - decision.value) < 3.5 * values.std() / math.sqrt(RUNS)
    chance = float(decision.win_probability)
    assert abs(won / RUNS - chance) < 3.5 * math.sqrt(chance * (1 - chance) / RUNS)
    assert left / RUNS == pytest.approx(float(decision.expected_attackers_left), abs=0.25)


def throw_dice(dice: random.Random, attack: int, defence: int, rules: Rules = CLASSIC) -> State:
    """Roll random dice; return the armies lost by each side."""
    ours = sorted((dice.randint(1, face) for face in rules.attack.faces[:attack]), reverse=True)
    theirs = sorted((dice.randint(1, face) for face in rules.defence.faces[:defence]), reverse=True)
    won = sum(y > z for y, z in zip(ours, theirs, strict=False))
    return min(attack, defence) - won, won


@pytest.mark.parametrize("start", [(2, 1), (30, 1), (12, 10), (9, 30)])
def test_for_no_prize_nobody_risks_priceless_armies(start: State) -> None:
    decision = when_to_stop(*start, prize=0, army_value=10**9, kill_value=1)
    assert (decision.action, decision.win_probability) == ("stop", 0)
    assert decision.expected_attackers_left == start[0]
    assert {each.attackers for each in decision.boundary} == {None}
    assert decision.value == decision.value_if_stopped == start[0] * 10**9


@pytest.mark.parametrize("start", [(2, 1), (30, 1), (12, 10), (9, 30)])
@pytest.mark.parametrize("exact", [False, True])
def test_for_an_infinite_prize_nobody_stops(start: State, exact: bool) -> None:
    decision = when_to_stop(*start, prize=10**60, exact=exact)
    assert {each.attackers for each in decision.boundary} == {2}
    assert decision.rolls[1:, 1:].all()
    assert decision.win_probability == pytest.approx(iacta.win_probability(*start), rel=1e-12)


def test_actions_without_a_gain_are_not_taken() -> None:
    tie = {"prize": "7/5", "army_value": 1}  # with one die each: 5/12 · 7/5 = 7/12 · 1
    for exact in (False, True):
        assert when_to_stop(2, 1, exact=exact, **tie).action == "stop"  # type: ignore[arg-type]
    assert when_to_stop(2, 1, prize="1.4000001").action == "roll"
    assert when_to_stop(2, 1, prize="1.3999999").action == "stop"


def test_the_boundary_is_where_rolling_begins() -> None:
    decision = when_to_stop(5, 10, prize=8)
    assert decision.action == "stop"
    for defenders, attackers in decision.boundary:
        if attackers is None:
            assert not decision.rolls[defenders].any()
        else:
            assert decision.choose_best_action(attackers, defenders) == "roll"
            assert all(
                decision.choose_best_action(a, defenders) == "stop" for a in range(1, attackers)
            )
            assert when_to_stop(attackers, defenders, prize=8).action == "roll"
    assert [each.attackers is None for each in decision.boundary] == [False] * 9 + [True]


@pytest.mark.parametrize(
    "decision",
    [when_to_stop(9, 7, prize=3), best_mix(6, 5, BLITZ), when_to_stop(3, 2, GARRISON, prize=3)],
)
def test_the_list_of_actions_contains_every_action(decision: Decision) -> None:
    numbers = range(1, decision.attackers + 1), range(1, decision.defenders + 1)
    wanted = [[decision.choose_best_action(a, d) for d in numbers[1]] for a in numbers[0]]
    assert list(decision.list_actions()) == wanted


def test_more_armies_change_stop_to_roll_and_never_back() -> None:
    for rules in ("classic", "capital", "zombie attacker", "zombie defender", "fortification"):
        for reward in REWARDS.values():
            rolls = solve(60, 40, find_rules(rules), reward).attack_dice > 0
            assert (np.diff(rolls[1:].astype(int)) >= 0).all()


def test_the_garrison_shifts_everything_except_the_decision() -> None:
    bare = when_to_stop(7, 5, prize=6, garrison=0)
    for garrison in (1, 3, 40):
        decision = when_to_stop(7 + garrison, 5, prize=6, garrison=garrison)
        assert decision.action == bare.action
        assert decision.value == pytest.approx(bare.value + garrison)
        assert [each.attackers for each in decision.boundary] == [
            each.attackers and each.attackers + garrison for each in bare.boundary
        ]
    stay = when_to_stop(3, 5, prize=10**6, garrison=3)
    assert (stay.action, stay.value, stay.expected_attackers_left) == ("stop", 3, 3)
    assert stay.choose_best_action(2, 1) == stay.choose_best_action(3, 5) == "stop"


@for_each("name", SEVERAL_RULES)
@for_each("reward", REWARDS.values())
@for_each("choices", [Choices(), Choices(False, True, True)])
def test_anti_diagonals_keep_their_bound(name: str, reward: Reward, choices: Choices) -> None:
    for size in ((17, 14), (3, 20), (20, 3), (0, 2), (1, 1)):
        floats = solve(*size, SEVERAL_RULES[name], reward, choices)
        exact = solve_exactly(*size, SEVERAL_RULES[name], reward, choices)
        away = abs(np.vectorize(Fraction)(floats.values) - exact.values)
        assert (away <= floats.errors).all()
        assert floats.errors.max() < 1e-11
        for ours, theirs in zip(vars(floats).values(), vars(exact).values(), strict=True):
            assert np.allclose(ours.astype(float), theirs.astype(float), rtol=1e-11, atol=1e-11)


@settings(max_examples=25, deadline=None)
@given(strategies.rules(), st.integers(1, 6), st.integers(1, 4), st.integers(0, 9))
def test_under_any_rules_the_policy_has_the_reported_value(
    rules: Rules, attackers: int, defenders: int, prize: int
) -> None:
    reward = Reward(Fraction(prize), Fraction(1), Fraction(1, 3))
    decision = decide((attackers, defenders), rules, reward, exact=True)
    value, *_ = value_of_policy((attackers, defenders), follow_decision(decision), rules, reward)
    assert decision.value == value
    always, *_ = value_of_policy((attackers, defenders), lambda a, d: True, rules, reward)
    assert value >= always
    assert value >= attackers


@pytest.mark.parametrize("chooser", ["attacker", "defender", "both"])
def test_fewer_dice_never_help_to_conquer_or_to_hold(chooser: str) -> None:
    conquest = REWARDS["conquest"]
    usual = solve_exactly(30, 30, CLASSIC, conquest, Choices(stop=False))
    free = Choices(False, chooser != "defender", chooser != "attacker")
    chosen = solve_exactly(30, 30, CLASSIC, conquest, free)
    assert (usual.values == chosen.values).all()
    assert (usual.attack_dice == chosen.attack_dice).all()
    assert (usual.defence_dice == chosen.defence_dice).all()
    assert usual.values[10, 10] == iacta.Battle(11, 10).win_probability(exact=True)


@pytest.mark.parametrize("rules", ["classic", "capital", "zombie attacker", "zombie defender"])
@pytest.mark.parametrize("stop", [False, True])
def test_with_equal_dice_fewer_dice_never_help(rules: str, stop: bool) -> None:
    found = find_rules(rules)
    rewards = [*REWARDS.values(), Reward(Fraction(0), Fraction(1), Fraction(0))]
    for reward in [*rewards, Reward(Fraction(20), Fraction(1), Fraction(5))]:
        usual = solve_exactly(9, 9, found, reward, Choices(stop))
        assert (
            solve_exactly(9, 9, found, reward, Choices(stop, True)).values == usual.values
        ).all()
        free = solve_exactly(9, 9, found, reward, Choices(stop, False, True))
        assert (free.values == usual.values).all()


def test_fewer_dice_help_if_one_die_is_better() -> None:
    few = how_many_dice(3, 2, "attack commander", chooser="attacker", exact=True)
    all_dice = how_many_dice(3, 2, "attack commander", chooser="nobody", exact=True)
    assert (few.attack_dice, all_dice.attack_dice) == (1, 2)
    assert few.win_probability > all_dice.win_probability
    for rules in ("defence commander", "defence bonus die"):
        few = how_many_dice(3, 3, rules, chooser="defender")
        all_dice = how_many_dice(3, 3, rules, chooser="nobody")
        assert (few.defence_dice, all_dice.defence_dice) == (1, 2)
        assert few.win_probability < all_dice.win_probability


def test_a_single_die_risks_the_least_in_one_roll() -> None:
    # A defender who only cares about the losses in one roll throws a single die.
    ours, theirs = 0, 1
    assert min(range(1, 4), key=lambda n: Roll(n, 2).expected_losses()[ours]) == 1
    assert Roll(3, 1).expected_losses()[theirs] < Roll(3, 2).expected_losses()[theirs]


@pytest.mark.parametrize("rules", ["classic", "attack commander", "defence commander"])
def test_the_best_dice_agree_with_the_slow_twin(rules: str) -> None:
    found = find_rules(rules, garrison=0)

    @cache
    def chance(a: int, d: int) -> Fraction:
        if not a or not d:
            return Fraction(not d)
        return max(
            min(
                sum(
                    (
                        p * chance(a - x, d - y)
                        for (x, y), p in brute.roll_losses(i, j, found).items()
                    ),
                    Fraction(0),
                )
                for j in range(1, min(d, 2) + 1)
            )
            for i in range(1, min(a, 3) + 1)
        )

    for battle in ((1, 1), (2, 2), (3, 4), (6, 5), (4, 7)):
        assert how_many_dice(*battle, found, exact=True).win_probability == chance(*battle)


@pytest.mark.parametrize("battle", [(7, 5), (12, 10), (3, 20), (2, 1), (30, 35)])
@pytest.mark.parametrize("kill_value", [0, 0.5])
def test_rolling_pays_from_the_prize_to_roll(battle: tuple[int, int], kill_value: float) -> None:
    prize = compute_prize_to_roll(*battle, kill_value=kill_value)
    assert prize is not None
    for factor, action in ((1.0001, "roll"), (0.9999, "stop")):
        decision = when_to_stop(*battle, prize=factor * prize, kill_value=kill_value)
        assert decision.action == action or prize == 0.0


@for_each("rules", ["defender sees first", "one die first"])
@for_each("battle", [(7, 5), (20, 30), (9, 9), (3, 12), (50, 50)])
def test_rolling_pays_from_the_prize_to_roll_against_replies(
    battle: tuple[int, int], rules: str
) -> None:
    prize = compute_prize_to_roll(*battle, rules)
    assert prize is not None
    for factor, action in ((1 + 1e-7, "roll"), (1 - 1e-7, "stop")):
        assert when_to_stop(*battle, rules, prize=factor * prize).action == action


def test_a_large_battle_with_replies_is_refused_at_once() -> None:
    with pytest.raises(IactaError, match=r"3000 against 3000 is too large .* at most 1,000,000"):
        when_to_stop(3000, 3000, "one die first", prize=1)
    with pytest.raises(IactaError, match=r"3000 against 3000 is too large .* at most 1,000,000"):
        compute_prize_to_roll(3000, 3000, "defender sees first")


def test_no_prize_makes_an_army_roll_that_must_stay() -> None:
    assert compute_prize_to_roll(1, 5) is None


def test_an_answer_to_stop_names_its_prize_and_the_prize_to_roll() -> None:
    found = ask("decide", attackers=7, defenders=5)
    first, chance, prize = next(found.sections()).parts
    assert first == (
        "Stop: with 7 armies against 5, stopping is worth 7.00 armies to you, and rolling on is "
        "worth no more, with a prize of 3 armies for the territory."
    )
    assert chance == "An attack to the end takes the territory with a chance of 63.77%."
    assert prize == "Rolling pays from a prize of 4.83 armies."
    record = found.record()
    assert record["prize"] == 3.0
    assert record["prize_to_roll"] == pytest.approx(4.825190634364344, abs=1e-12)
    assert "prize_to_roll" not in ask("decide", attackers=7, defenders=5, prize=5).record()
    assert "prize" not in ask("decide", attackers=7, defenders=5, mix=True).record()
