"""Scores, differences and simulations from articles: their numbers come from the library."""

import pytest

from iacta import Battle, Campaign, CampaignOutcome, simulate_campaign
from iacta.charts.outcomes import HOLD, WIN
from iacta.odds.simulation import running_estimates
from iacta_literature import charts
from iacta_literature.norvig import UNFINISHED


def test_the_final_difference_is_höhle_s_sawtooth() -> None:
    chart = charts.final_difference(Battle(50, 50, garrison=0))
    rows = {row["least"]: row for row in chart.tables["differences"]}
    outcomes = Battle(50, 50, garrison=0).outcomes()
    assert all(
        row["probability"] == outcomes[(d, 0) if d > 0 else (0, -d)]  # type: ignore[index]
        for d, row in rows.items()
    )
    won = sum(row["probability"] for row in rows.values() if row["end"] == WIN)
    assert round(won, 4) == 0.7355
    assert all(row["end"] == (WIN if d > 0 else HOLD) for d, row in rows.items())
    assert rows[8]["probability"] > rows[9]["probability"] < rows[10]["probability"]
    assert chart.title.endswith(
        "a chance of 73.55%. The likeliest single outcome leaves you 10 armies."
    )


def test_the_score_is_norvig_s_with_a_spike_for_each_territory() -> None:
    exact = UNFINISHED.score()
    chart = charts.campaign_score(UNFINISHED)
    rows = chart.tables["scores"]
    assert all(row["probability"] == pytest.approx(exact[row["least"]], rel=1e-12) for row in rows)
    spikes = {row["territory"]: row["score"] for row in chart.tables["spikes"]}
    assert spikes == {11: -10, 12: -8, 13: -5, 14: 0}
    assert chart.title.endswith(" The score is 10.2 on average.")


def test_the_spikes_are_explained() -> None:
    said = charts.campaign_score(UNFINISHED).subtitle
    assert "At its peak, all defenders are left" in said
    outcomes = UNFINISHED.outcomes()
    for spike in charts.campaign_score(UNFINISHED).tables["spikes"]:
        here = spike["territory"] - 1
        ends = {end.defenders: outcomes[end] for end in outcomes if end.conquered == here}
        whole = UNFINISHED.territories[here].defenders
        assert sorted(ends) == list(range(1, whole + 1))
        assert max(ends, key=lambda left: ends[left]) == whole
        assert min(ends, key=lambda left: ends[left]) == 1
        # If only the garrison is left, the next territory is not attacked.
        assert UNFINISHED.compute_score(CampaignOutcome(here, 1, whole)) == spike["score"]
    only_one = charts.campaign_score(Campaign(4, [9]))
    assert "moves in" not in only_one.subtitle


def test_the_teeth_of_a_chart_are_explained() -> None:
    for battle in ((50, 50), (30, 30), (60, 50), (20, 20)):
        assert "hence the sawtooth" in charts.final_difference(Battle(*battle)).subtitle
    for battle in ((1, 1), (1, 100), (3, 1), (100, 1), (4, 3), (2, 40), (200, 200)):
        assert "teeth" not in charts.final_difference(Battle(*battle)).subtitle


def test_simulated_scores_lie_under_the_exact_ones() -> None:
    campaign = Campaign(12, [4, 3])
    simulated = simulate_campaign(12, [4, 3], runs=2000, seed=1)
    rows = charts.campaign_score(campaign, simulated).tables["observed"]
    scores = simulated.outcomes.map(campaign.compute_score)
    assert sum(row["probability"] for row in rows) == pytest.approx(1)
    assert all(row["probability"] == float(scores[row["least"]]) for row in rows)


def test_convergence_shows_each_estimate_with_its_interval() -> None:
    battle = Battle(6, 4)
    estimates = running_estimates(battle, runs=200, seed=3)
    chart = charts.convergence(estimates, battle)
    for row, each in zip(chart.tables["estimates"], estimates, strict=True):
        assert row["runs"] == each.runs
        assert row["estimate"] == float(each.probability)
        assert (row["low"], row["high"]) == each.interval()
    assert chart.tables["exact"] == [{"exact": battle.win_probability()}]
