"""Simulations roll random dice; they agree with the distributions but do not use them."""

import ast
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import CLASSIC, Dice, Estimate, Rules, Territory, simulate_battle, simulate_campaign
from iacta.methods.kernel import is_won
from iacta.probability.distribution import Probability
from iacta.rules import thrown
from iacta.rules.modes import ArmiesGrow
from iacta.rules.thrown import End
from iacta_literature.hoehle import chi_square
from tests import adapters, brute, strategies
from tests.adapters import SEVERAL_RULES, counting
from tests.cases import for_each

UNFINISHED = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
COIN = Dice((2, 2))
FIVE_ONES_OFTEN = Rules(attack=Dice((2, 2)), defence=Dice((2,)), mode=ArmiesGrow())
MORE_RULES = SEVERAL_RULES | {
    "reroll ones": Rules(attack=Dice((6, 6), reroll=(1,)), defence=Dice((6, 5))),
    "other full dice": Rules(full_attack=Dice((9, 4, 2)), full_defence=Dice((7, 7))),
    "reroll more than one face": Rules(defence=Dice((6, 4), reroll=(1, 2, 6))),
    "bonus on ranks": Rules(
        attack=Dice((6, 6, 6), bonus=(1, -2)), defence=Dice((6, 6), bonus=(1,))
    ),
    "bonus on the lowest": Rules(attack=Dice((6, 6, 6), bonus=(-1, 0, 1))),
    "bonus in the old order": Rules(attack=Dice((6, 6, 6), bonus=(-1, 0, 1), sort_again=False)),
    "keep two of three": Rules(defence=Dice((6, 6, 6), keep=2)),
    "clamp": Rules(attack=Dice((6, 6, 6), bonus=(1,), clamp=(1, 6))),
    "malus, clamped": Rules(defence=Dice((6, 6), bonus=(-1,), clamp=(1, 6))),
    "wide dice": Rules(attack=Dice((300, 6)), defence=Dice((6, 6))),
    "bonus past a byte": Rules(attack=Dice((250,), bonus=(6,)), defence=Dice((256,))),
}
FALSE_ALARM_RATE = 1e-6  # the chance that a test of correct code fails with another seed


@for_each("name", MORE_RULES)
def test_thrown_losses_have_the_distribution_of_every_roll(name: str) -> None:
    rules = MORE_RULES[name]
    rng = np.random.default_rng(7)
    for i in range(1, rules.attack.kept + 1):
        for j in range(1, rules.defence.kept + 1):
            # Rolling these dice one by one would take a minute.
            slow = name in ("dominating12", "five against four")
            losses = (
                dict(iacta.Roll(i, j, rules).losses()) if slow else brute.roll_losses(i, j, rules)
            )
            assert_distribution_of_throws(losses, i, j, rules, rng)


@settings(max_examples=25)
@given(strategies.rules(), st.integers(0, 99))
def test_thrown_losses_have_the_distribution_of_any_rules(rules: Rules, seed: int) -> None:
    i, j = rules.full_roll
    losses = brute.roll_losses(i, j, rules)
    assert_distribution_of_throws(losses, i, j, rules, np.random.default_rng(seed))


def assert_distribution_of_throws(
    distribution: Mapping[Any, Probability], i: int, j: int, rules: Rules, rng: np.random.Generator
) -> None:
    """Assert that simulated dice do not reject a distribution of losses."""
    rolls = 20_000
    lost = thrown.throw_losses(i, j, rules, rolls, rng)
    assert (lost.attackers + lost.defenders == min(i, j)).all()
    counts = np.bincount(lost.defenders, minlength=min(i, j) + 1).tolist()
    chances = [Fraction(distribution.get((min(i, j) - k, k), 0)) for k in range(min(i, j) + 1)]
    assert chi_square(chances, counts).p_value > FALSE_ALARM_RATE, (counts, chances)


@pytest.mark.parametrize(
    ("attack", "defence"),
    [
        (COIN, Dice((2,))),
        (Dice((2, 2), reroll=(1,)), Dice((2,))),
        (Dice((3, 2), reroll=(2,)), Dice((2,))),
        (Dice((2, 2), keep=1), Dice((2, 1))),
        (Dice((2, 2), bonus=(1,)), Dice((2,), bonus=(3,))),
    ],
)
def test_all_ones_come_as_often_as_computed(attack: Dice, defence: Dice) -> None:
    rules = Rules(attack=attack, defence=defence, mode=ArmiesGrow())
    chance = thrown.all_ones_probability(rules)
    assert chance == chance_of_all_ones(rules)
    i, j = rules.full_roll
    lost = thrown.throw_losses(i, j, rules, 40_000, np.random.default_rng(3))
    gained = (lost.attackers == -1) & (lost.defenders == -1)
    assert ((lost.attackers + lost.defenders)[~gained] == min(i, j)).all()
    low, high = Estimate(40_000, int(gained.sum())).interval(1 - FALSE_ALARM_RATE)
    assert low <= chance <= high


def chance_of_all_ones(rules: Rules) -> Fraction:
    """Return the chance that all dice show one after rerolls, by enumeration."""
    chance = Fraction(1)
    for dice in (rules.attack, rules.defence):
        for faces in dice.faces:
            shown = brute.die_faces(faces, dice.reroll)
            chance *= Fraction(shown.count(1), len(shown))
    return chance


def test_rolling_fewer_dice_never_gains() -> None:
    rules = Rules(attack=COIN, defence=Dice((2,)), mode=ArmiesGrow(50))
    lost = thrown.throw_losses(1, 1, rules, 1000, np.random.default_rng(1))
    assert lost.attackers.min() == lost.defenders.min() == 0


def test_the_simulation_uses_no_computed_distribution() -> None:
    computed = ("counting", "lattice", "battle", "arrays", "campaign", "path_tree")
    source = Path(str(thrown.__file__)).read_text(encoding="utf-8")
    imported = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert any(name.startswith("iacta.rules.rules") for name in imported)
    for name in imported:
        assert not set(name.split(".")) & {*computed, "loss_counts"}, name


EDGES = [(1, 1), (2, 1), (3, 2), (4, 1), (3, 3), (9, 2), (2, 7), (12, 10)]


@for_each("name", SEVERAL_RULES)
def test_battles_end_as_counted(name: str) -> None:
    rules = SEVERAL_RULES[name]
    for attackers, defenders in EDGES:
        outcomes = counting.outcomes(iacta.Distribution([attackers]), defenders, rules)
        simulated = simulate_battle(attackers, defenders, rules, runs=4000)
        counts = [int(simulated.outcomes[iacta.Outcome(*end)] * 4000) for end in outcomes]
        assert sum(counts) == 4000
        assert find_p_value([Fraction(p) for p in outcomes.values()], counts) > FALSE_ALARM_RATE


def find_p_value(chances: list[Fraction], counts: list[int]) -> float:
    """Return the p-value of a chi-square test, merging cells with expected counts below 5."""
    total = sum(counts)
    often = [(p, n) for p, n in zip(chances, counts, strict=True) if p * total >= 5]
    rest = 1 - sum((p for p, _ in often), Fraction(0))
    missed = total - sum(n for _, n in often)
    return chi_square([p for p, _ in often] + [rest], [n for _, n in often] + [missed]).p_value


def test_campaigns_end_as_computed() -> None:
    way: list[int | Territory] = [
        3,
        Territory(2, "capital", garrison=2),
        Territory(1, garrison=5),
        2,
    ]
    campaign = iacta.Campaign(14, way, garrison=2)
    outcomes = campaign.outcomes(exact=True)
    simulated = simulate_campaign(14, way, garrison=2, runs=30_000)
    counts = [int(simulated.outcomes[end] * 30_000) for end in outcomes]
    assert sum(counts) == 30_000
    assert find_p_value([Fraction(p) for p in outcomes.values()], counts) > FALSE_ALARM_RATE
    taken = simulated.estimate(lambda end: end.conquered == 4)
    assert taken == simulated.won


def fight_with_growing_armies(
    attackers: int, defenders: int, dice: random.Random
) -> tuple[int, int]:
    """Fight one battle die by die; both sides gain an army if all dice show one."""
    while attackers > 1 and defenders:
        ours = sorted((dice.randint(1, 2) for _ in range(min(2, attackers - 1))), reverse=True)
        theirs = [dice.randint(1, 2)]
        if len(ours) == 2 and ours == [1, 1] and theirs == [1]:
            attackers, defenders = attackers + 1, defenders + 1
        elif ours[0] > theirs[0]:
            defenders -= 1
        else:
            attackers -= 1
    return attackers, defenders


def test_five_ones_end_as_battles_rolled_one_by_one() -> None:
    dice = random.Random(5)  # noqa: S311 # no secret depends on it
    slow = [fight_with_growing_armies(4, 3, dice) for _ in range(20_000)]
    simulated = simulate_battle(4, 3, FIVE_ONES_OFTEN, runs=20_000)
    assert max(end.attackers for end in simulated.outcomes) > 4
    for event in (is_won, lambda end: end[0] == 4, lambda end: end[0] > 4, lambda end: end[1] > 3):
        ours = simulated.estimate(event)
        theirs = Estimate(20_000, sum(bool(event(iacta.Outcome(*end))) for end in slow))
        assert abs(deviations_between(ours, theirs)) < 5


def deviations_between(first: Estimate, second: Estimate) -> float:
    """Return the difference of two estimates from equally many runs, in standard deviations."""
    middle = float(first.probability + second.probability) / 2
    deviation = math.sqrt(2 * middle * (1 - middle) / first.runs)
    return float(first.probability - second.probability) / deviation


def test_five_ones_are_rare_with_real_dice() -> None:
    five_ones = simulate_battle(30, 30, "five ones", runs=20_000)
    classic = simulate_battle(30, 30, runs=20_000, seed=2)
    assert abs(deviations_between(five_ones.won, classic.won)) < 5
    assert five_ones.estimate(lambda end: end.attackers > 30).runs == 20_000


def test_battles_that_might_never_end_are_refused() -> None:
    endless = Rules(attack=Dice((1,)), defence=Dice((1,)), mode=ArmiesGrow())
    growing = Rules(attack=COIN, defence=COIN, mode=ArmiesGrow(16))
    for rules in (endless, growing):
        with pytest.raises(iacta.IllegalError, match="battles may never end, got"):
            adapters.simulation.refuse(5, 5, rules)
        with pytest.raises(iacta.IllegalError):
            simulate_battle(5, 5, rules)


def test_the_interval_covers_at_the_stated_rate() -> None:
    chance = iacta.Battle(6, 4).win_probability()
    for level in (0.5, 0.95):
        covered = 0
        for seed in range(400):
            low, high = simulate_battle(6, 4, runs=300, seed=seed).won.interval(level)
            covered += low <= chance <= high
        # The coverage of Wilson's interval differs from its level by at most 2%. The tolerance adds
        # 4 standard deviations of 400 runs.
        tolerance = 400 * 0.02 + 4 * math.sqrt(400 * level * (1 - level))
        assert abs(covered - 400 * level) < tolerance


@given(st.integers(1, 10**6), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999999]))
def test_the_ends_of_wilson_s_interval_solve_his_equation(
    runs: int, part: float, level: float
) -> None:
    estimate = Estimate(runs, int(part * runs))
    z, seen = NormalDist().inv_cdf((1 + level) / 2), float(estimate.probability)
    low, high = estimate.interval(level)
    assert 0 <= low <= seen <= high <= 1 or math.isclose(low, seen) or math.isclose(high, seen)
    for end in (low, high):
        left, right = (seen - end) ** 2, z * z * end * (1 - end) / runs
        assert math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-13)


def test_wilson_s_interval_agrees_with_published_values() -> None:
    # Newcombe (Statistics in Medicine 17, 1998), table I, method 3.
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (successes, runs), ends in published.items():
        assert Estimate(runs, successes).interval() == pytest.approx(ends, abs=5e-5)


def pools() -> list[Callable[[], Executor]]:
    """Return functions that start pools: one thread, three threads, two processes."""
    context = get_context("spawn")
    return [
        lambda: ThreadPoolExecutor(1),
        lambda: ThreadPoolExecutor(3),
        lambda: ProcessPoolExecutor(2, mp_context=context),
    ]


def test_results_do_not_depend_on_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrown, "RUNS_PER_BLOCK", 100)
    way: list[int | Territory] = [4, Territory(3, "capital")]
    alone = simulate_campaign(15, way, runs=1050, seed=9)
    for pool in pools():
        with pool() as executor:
            spread = simulate_campaign(15, way, runs=1050, seed=9, executor=executor)
        assert spread == alone
        assert list(spread.outcomes) == list(alone.outcomes)


def test_few_blocks_are_pending_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrown, "RUNS_PER_BLOCK", 10)
    monkeypatch.setattr(thrown, "MAX_PENDING", 3)
    alone = simulate_battle(5, 4, runs=205)
    with ThreadPoolExecutor(2) as executor:
        assert simulate_battle(5, 4, runs=205, executor=executor) == alone


def test_the_same_seed_throws_the_same_dice() -> None:
    first, again, other = (simulate_battle(12, 10, runs=2000, seed=seed) for seed in (4, 4, 5))
    assert first == again
    assert first != other
    given = [simulate_battle(12, 10, runs=2000, seed=np.random.default_rng(4)) for _ in range(2)]
    assert given[0] == given[1]
    rng = np.random.default_rng(4)
    following = [simulate_battle(12, 10, runs=2000, seed=rng) for _ in range(2)]
    assert following[0] == given[0]
    assert following[1] != given[0]


def test_blocks_throw_different_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrown, "RUNS_PER_BLOCK", 500)
    seen: list[int] = []
    counts = [
        simulate_battle(12, 10, runs=runs, progress=seen.append).won.successes
        for runs in (500, 1000)
    ]
    assert counts[1] != 2 * counts[0]
    assert seen == [500, 500, 1000]


class Recorder:
    """An executor that records calls. The first call ends at once; the others never start."""

    def __init__(self, first: Counter[End] | BaseException) -> None:
        self.first = first
        self.futures: list[Future[Counter[End]]] = []

    def submit(self, *_: object) -> Future[Counter[End]]:
        """Record a call."""
        future: Future[Counter[End]] = Future()
        self.futures.append(future)
        if len(self.futures) > 1:
            return future
        if isinstance(self.first, BaseException):
            future.set_exception(self.first)
        else:
            future.set_result(self.first)
        return future


def interrupt(done: int) -> None:
    """Raise `KeyboardInterrupt`."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("first", [KeyboardInterrupt(), Counter({End(1, 11, 0): 10})])
def test_ctrl_c_cancels_pending_work(
    monkeypatch: pytest.MonkeyPatch, first: Counter[End] | BaseException
) -> None:
    monkeypatch.setattr(thrown, "RUNS_PER_BLOCK", 10)
    recorder = Recorder(first)
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate_battle(12, 10, runs=50, executor=cast(Executor, recorder), progress=interrupt)
    assert len(recorder.futures) == 5
    assert all(future.cancelled() for future in recorder.futures[1:])
    assert caught.value.__traceback__ is not None  # its frames keep open objects alive


def test_edges() -> None:
    assert simulate_battle(1, 5, runs=10).outcomes == iacta.Distribution([iacta.Outcome(1, 5)])
    assert simulate_battle(2, 1, garrison=2, runs=10).won.successes == 0
    assert simulate_battle(2, 1, garrison=10**30, runs=10).won.successes == 0
    one = simulate_campaign(3, [1, 1], runs=1)
    assert one.won.runs == 1
    assert sum(one.outcomes.values()) == 1
    stopped = simulate_campaign(2, [1, 7], runs=5000).outcomes
    assert set(stopped) == {iacta.CampaignOutcome(0, 1, 1), iacta.CampaignOutcome(1, 1, 7)}


def test_campaigns_can_be_computed() -> None:
    campaign = iacta.Campaign(9, [2, 3])
    simulated = float(campaign.win_probability(method="simulation"))
    assert 0 < abs(simulated - float(campaign.win_probability())) < 0.01
    assert adapters.simulation.relative_error(6, 4, CLASSIC) == math.inf


def test_the_stack_of_each_run_is_drawn_from_its_distribution() -> None:
    stack = iacta.Distribution({1: 1, 2: 2, 3: 3, 9: 4})
    rules = Rules(garrison=2)
    outcomes = adapters.simulation.outcomes(stack, 4, rules)
    for end, p in outcomes.items():
        chance = sum(
            float(stack[n]) * float(brute.outcomes(n, 4, rules).get(end, Fraction(0)))
            for n in stack
        )
        assert abs(float(p) - chance) < 5 * math.sqrt(chance * (1 - chance) / thrown.RUNS)
    assert dict(adapters.simulation.outcomes(stack, 0, rules))[iacta.Outcome(9, 0)] == 0.4


def test_equal_battles_of_a_campaign_throw_different_dice() -> None:
    # Five against three each time, on territories with smaller and smaller garrisons.
    won = [
        adapters.simulation.win_probability(5 + garrison, 3, Rules(garrison=garrison), runs=1000)
        for garrison in (3, 2, 1)
    ]
    assert len(set(won)) > 1
    assert won[2] == adapters.simulation.win_probability(6, 3, CLASSIC, runs=1000)
    assert won[2] != adapters.simulation.win_probability(6, 3, CLASSIC, runs=1000, seed=2)


def test_each_battle_is_fought_from_its_own_armies() -> None:
    rng = np.random.default_rng(1)
    left, against = thrown.fight(np.array([5, 1, 9]), np.array([3, 4, 0]), CLASSIC, rng)
    ends = sorted(zip(left.tolist(), against.tolist(), strict=True))
    assert (1, 4) in ends
    assert (9, 0) in ends
    assert len(ends) == 3


@pytest.mark.parametrize(
    ("attackers", "defenders"), [(10**12, 10**12), (2, 10**12), (10**30, 1), (10**90, 10**90)]
)
def test_work_of_more_than_an_hour_is_refused_at_once(attackers: int, defenders: int) -> None:
    with pytest.raises(iacta.TooLargeError, match="needs an hour"):
        adapters.simulation.refuse(attackers, defenders, CLASSIC)
    with pytest.raises(iacta.TooLargeError):
        simulate_battle(attackers, defenders)
    with pytest.raises(iacta.TooLargeError):
        simulate_battle(attackers, defenders, runs=1)


class NoFutures(Executor):
    """An invalid executor, whose `submit` returns `None`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return `None`, although the type promises a future."""
        return None  # type: ignore[return-value] # the fault


def test_results_come_in_the_order_of_the_pieces() -> None:
    pieces = range(thrown.MAX_PENDING + 20)
    with ThreadPoolExecutor(3) as executor:
        assert list(thrown.map_in_order(abs, pieces, executor)) == list(pieces)


def test_executors_that_do_not_work_are_refused() -> None:
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    faults: list[tuple[Any, str]] = [
        (ThreadPoolExecutor, "executor must be a concurrent.futures.Executor"),
        (3, "executor must be a concurrent.futures.Executor, got 3"),
        (closed, "executor must accept work"),
        (NoFutures(), "executor must return futures, got None"),
    ]
    for executor, sentence in faults:
        with pytest.raises(iacta.IactaError, match=sentence):
            simulate_battle(5, 3, runs=10, executor=executor)
