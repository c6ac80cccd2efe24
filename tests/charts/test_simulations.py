"""Charts of simulations next to exact chances."""

import pytest

import iacta
from iacta import Battle, Campaign, charts, simulate_campaign
from iacta.charts.outcomes import HOLD, STOP, WIN
from iacta.methods.kernel import is_won
from iacta.odds.simulation import running_estimates
from iacta_literature import charts as figures


def test_each_simulated_outcome_has_its_exact_chance() -> None:
    battle, simulated = Battle(6, 4), iacta.simulate_battle(6, 4, runs=2000, seed=1)
    outcomes = battle.outcomes()
    chart = charts.simulated_outcomes(simulated, battle)
    for row in chart.tables["outcomes"]:
        left = row["least"]
        end = (left, 0) if row["end"] == WIN else (1, -left)
        seen = iacta.Estimate(2000, int(simulated.outcomes.get(end, 0) * 2000))  # type: ignore[call-overload]
        assert row["exact"] == pytest.approx(outcomes[end])  # type: ignore[index]
        assert row["probability"] == float(seen.probability)
        assert (row["low"], row["high"]) == seen.interval()
    exact = f"{100 * float(outcomes.prob(is_won)):.2f}%"
    assert chart.title.endswith(f"% of 2,000 games; the exact chance is {exact}.")


def test_a_campaign_of_one_territory_is_drawn_as_its_battle() -> None:
    battle, campaign = Battle(12, 10), Campaign(12, [10])
    simulated = simulate_campaign(12, [10], runs=500, seed=1)
    rows = charts.simulated_outcomes(simulated, campaign).tables["outcomes"]
    ends = charts.battle_outcomes(battle).tables["outcomes"]
    said = {(row["end"], row["least"]): row["exact"] for row in rows}
    assert said == {
        (row["end"], row["least"]): pytest.approx(row["probability"], rel=1e-12) for row in ends
    }
    spec = charts.simulated_outcomes(simulated, campaign).to_dict()
    alone = charts.battle_outcomes(battle).to_dict()
    assert spec["layer"][0]["encoding"]["x"]["title"] == alone["encoding"]["x"]["title"]


def test_subtitles_name_the_defenders_and_the_dice() -> None:
    one, several = Campaign(12, [10]), Campaign(12, [4, 3])
    estimates = running_estimates(one, runs=20, seed=5)
    said = figures.convergence(estimates, one, seed=5).subtitle
    assert said.startswith("12 armies attack 10 (classic rules).")
    assert "(seed 5)" in said
    assert "seed" not in figures.convergence(estimates, one).subtitle
    simulated = simulate_campaign(12, [4, 3], runs=20, seed=6)
    said = charts.simulated_outcomes(simulated, several, seed=6).subtitle
    assert said.startswith("12 armies against all 2 territories, held by 4 and 3 (classic rules).")
    assert "games with dice (seed 6)" in said
    assert "(seed 6)" in figures.campaign_score(several, simulated, seed=6).subtitle


def test_a_campaign_counts_the_territories_not_taken() -> None:
    campaign = Campaign(12, [5, 3], stop=iacta.StopRule(max_losses=5))
    simulated = simulate_campaign(12, [5, 3], stop=iacta.StopRule(max_losses=5), runs=500, seed=1)
    rows = charts.simulated_outcomes(simulated, campaign).tables["outcomes"]
    first = simulated.estimate(lambda end: end.conquered == 0)
    said = [row["probability"] for row in rows if row["least"] == -2]
    assert sum(said) == pytest.approx(float(first.probability))
    assert {row["end"] for row in rows} == {WIN, STOP, HOLD}


def test_without_a_method_only_the_simulation_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise iacta.IactaError("no method")

    simulated = iacta.simulate_battle(6, 4, runs=100, seed=1)
    estimates = running_estimates(Battle(6, 4), runs=20, seed=1)
    monkeypatch.setattr(Battle, "outcomes", refuse)
    monkeypatch.setattr(Battle, "win_probability", refuse)
    chart = charts.simulated_outcomes(simulated, Battle(6, 4))
    assert {row["exact"] for row in chart.tables["outcomes"]} == {None}
    assert chart.title.endswith("% of 100 games.")
    assert "exact" not in figures.convergence(estimates, Battle(6, 4)).tables


def test_running_estimates_converge() -> None:
    for asked in (Battle(6, 4), Campaign(6, [2, 2])):
        estimates = running_estimates(asked, runs=4000, seed=3)
        sizes = [each.runs for each in estimates]
        assert sizes == sorted(set(sizes))
        assert (sizes[0], sizes[-1]) == (10, 4000)
        won = [each.successes for each in estimates]
        assert won == sorted(won)
        low, high = estimates[-1].interval("99.99%")
        assert low < asked.win_probability() < high
        assert estimates == running_estimates(asked, runs=4000, seed=3)
    assert running_estimates(Battle(1, 4), runs=3) == (iacta.Estimate(3, 0),)
    with pytest.raises(iacta.IactaError, match="seed must be a whole number of at least 0, got -1"):
        running_estimates(Battle(6, 4), seed=-1)
