"""Stop rules: how they work, which input is refused, and battles with a stop rule."""

from fractions import Fraction

import pytest

from iacta import Battle, IactaError, Outcome, StopRule, Territory, simulate_battle
from tests import brute

STOPS = [
    StopRule(),
    StopRule(hold_back=5),
    StopRule(stop_at=4),
    StopRule(stop_at=9),
    StopRule(hold_back=2, stop_at=5),
    StopRule(stop_at=3, charge=True, max_losses=4, max_rolls=6),
    StopRule(charge=True),
    StopRule(max_losses=0),
    StopRule(max_rolls=3),
    StopRule(hold_back=1, charge=True, max_losses=2, max_rolls=3),
]


def test_repr_can_be_pasted_back() -> None:
    for stop in STOPS:
        for each in (stop, Battle(9, 7, stop=stop), Territory(8, stop=stop)):
            assert eval(repr(each), vars(__import__("iacta"))) == each  # noqa: S307 # the claim
    assert len({Battle(9, 7, stop=stop) for stop in STOPS}) == len(STOPS)


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_every_answer_comes_from_the_stopped_distribution(stop: StopRule) -> None:
    battle, garrison = Battle(9, 6, stop=stop), 1
    outcomes = brute.outcomes_with_stop(9, 6, battle.rules, stop)
    won = sum(p for (_, d), p in outcomes.items() if not d)
    assert battle.win_probability(exact=True) == won
    assert battle.win_probability() == pytest.approx(float(won), rel=1e-13)
    stopped = sum(p for (a, d), p in outcomes.items() if d and a > garrison)
    assert battle.stop_probability(exact=True) == stopped
    assert battle.attackers_left(exact=True).mean() == sum(a * p for (a, _), p in outcomes.items())
    assert battle.defenders_lost(exact=True).mean() == sum(
        6 * p - d * p for (_, d), p in outcomes.items()
    )
    if won:
        mean = sum(a * p for (a, d), p in outcomes.items() if not d) / won
        assert battle.attackers_left_if_won(exact=True).mean() == mean
    else:
        with pytest.raises(IactaError, match="a win must have a chance above 0"):
            battle.attackers_left_if_won()


def test_a_battle_without_a_stop_has_no_chance_to_stop() -> None:
    assert Battle(10**12, 10**12).stop_probability() == 0
    assert Battle(9, 7).stop_probability(exact=True) == Fraction(0)
    assert Battle(1, 7, stop=StopRule(max_rolls=3)).stop_probability() == 0


def test_simulated_battles_stop_too() -> None:
    simulated = simulate_battle(4, 2, stop=StopRule(max_rolls=1), runs=2000)
    assert set(simulated.outcomes) == {Outcome(4, 0), Outcome(3, 1), Outcome(2, 2)}
    assert abs(float(simulated.won.probability) - 1445 / 3888) < 0.05


def test_trees_are_counted_only_for_armies_held_back() -> None:
    kept = Battle(9, 6, stop=StopRule(hold_back=2))
    assert kept.state_count() == Battle(9, 6, garrison=3).state_count()
    assert kept.path_count() == Battle(9, 6, garrison=3).path_count()
    charging = Battle(9, 6, stop=StopRule(charge=True))
    for count in (charging.state_count, charging.path_count):
        with pytest.raises(
            IactaError, match="can be counted only if hold_back is the only stop condition"
        ):
            count()
