"""Pictures of distributions: their numbers are the library's, and their titles are true."""

import pytest

from iacta import Battle, Campaign, CampaignOutcome, Roll, Stop, charts, simulate_campaign
from iacta.charts.outcomes import FEW_BARS, HOLD, MOST_BARS, RARE, STOP, WIN
from iacta.errors import TooLargeError
from iacta.methods.kernel import is_won
from iacta.questions.words import percent
from tests.charts.look import subtitle, table, title

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])


def test_each_bar_of_a_battle_is_the_chance_of_its_end() -> None:
    outcomes = Battle(9, 7).outcomes()
    rows = table(charts.battle_outcomes(Battle(9, 7)), "outcomes")
    assert len(rows) == len(outcomes)
    for row in rows:
        assert row["least"] == row["most"]
        left = row["least"]
        end = (left, 0) if row["end"] == WIN else (1, -left)
        assert row["probability"] == outcomes[end]  # type: ignore[index]


def test_attackers_who_stop_have_bars_of_their_own() -> None:
    battle = Battle(12, 10, stop=Stop(max_losses=4))
    chart = charts.battle_outcomes(battle)
    rows = table(chart, "outcomes")
    stopped = sum(row["probability"] for row in rows if row["end"] == STOP)
    assert stopped == pytest.approx(battle.stop_probability(), abs=1e-14)
    assert "and stop with 4 lost" in subtitle(chart)
    assert {row["end"] for row in rows} == {WIN, STOP}


def test_attackers_who_stop_are_counted_by_their_own_armies() -> None:
    chart = charts.battle_outcomes(Battle(20, 18, stop=Stop(max_losses=5)))
    assert {row["least"] for row in table(chart, "outcomes") if row["end"] == STOP} == {14, 15}
    assert title(chart) == "You win 2% of the time, and stop 98%."


def test_no_number_of_armies_has_a_sign() -> None:
    axis = charts.specification(charts.battle_outcomes(Battle(9, 7)))["encoding"]["x"]["axis"]
    assert "abs(datum.value)" in axis["labelExpr"]
    won = charts.specification(charts.battle_outcomes(Battle(30, 2, "balanced blitz")))
    assert won["encoding"]["x"]["axis"]["labelExpr"].startswith("datum.value < 0 ? ''")
    difference = charts.specification(charts.final_difference(Battle(9, 7)))
    assert "abs" not in difference["encoding"]["x"]["axis"]["labelExpr"]


def test_titles_say_how_often_you_win() -> None:
    assert title(charts.battle_outcomes(Battle(12, 10))) == "You win 65% of the time."
    assert title(charts.battle_outcomes(Battle(1, 10))) == "You never win."
    assert title(charts.battle_outcomes(Battle(30, 20, "balanced blitz"))) == "You always win."
    assert title(charts.battle_outcomes(Battle(60, 30))) == "You win more than 99% of the time."
    few = Battle(12, 10, stop=Stop(max_rolls=2))
    assert title(charts.battle_outcomes(few)) == "You never win."


def test_titles_call_nothing_certain_that_floats_only_round_so() -> None:
    sure, lost = Battle(5000, 1000), Battle(300, 9000)
    assert title(charts.battle_outcomes(sure)) == "You win more than 99% of the time."
    assert title(charts.battle_outcomes(lost)) == "You win less than 1% of the time."
    campaign = Campaign(700, [1, 1])
    assert title(charts.survival(campaign)) == (
        "You take all 2 territories more than 99% of the time."
    )


def test_huge_distributions_are_joined_and_lose_no_more_than_their_tails() -> None:
    battle = Battle(1500, 1400)
    rows = table(charts.battle_outcomes(battle), "outcomes")
    assert FEW_BARS < len(rows) <= MOST_BARS + 2
    assert len({row["most"] - row["least"] for row in rows}) == 1
    assert 1 - 2 * RARE <= sum(row["probability"] for row in rows) <= 1 + 1e-12
    outcomes = battle.outcomes()
    middle = rows[len(rows) // 2]
    chance = outcomes.prob(
        lambda end: is_won(end) and middle["least"] <= end.attackers <= middle["most"]
    )
    assert middle["probability"] == pytest.approx(float(chance), rel=1e-12)


def test_a_battle_with_more_ends_than_can_be_listed_is_refused() -> None:
    with pytest.raises(TooLargeError, match="likely outcomes, which would take"):
        charts.battle_outcomes(Battle(10**12, 10**12))


def test_the_final_difference_is_höhle_s_sawtooth() -> None:
    chart = charts.final_difference(Battle(50, 50, garrison=0))
    rows = {row["least"]: row for row in table(chart, "differences")}
    outcomes = Battle(50, 50, garrison=0).outcomes()
    assert all(
        row["probability"] == outcomes[(d, 0) if d > 0 else (0, -d)]  # type: ignore[index]
        for d, row in rows.items()
    )
    won = sum(row["probability"] for row in rows.values() if row["end"] == WIN)
    assert round(won, 4) == 0.7355
    assert all(row["end"] == (WIN if d > 0 else HOLD) for d, row in rows.items())
    assert rows[8]["probability"] > rows[9]["probability"] < rows[10]["probability"]
    assert title(chart).startswith("You win 74% of the time. The likeliest single end leaves you 1")


@pytest.mark.parametrize(("dice", "rules"), [((3, 2), "classic"), ((3, 2), "five ones")])
def test_a_roll_shows_its_losses(dice: tuple[int, int], rules: str) -> None:
    roll = Roll(*dice, rules)
    rows = table(charts.roll_losses(roll), "losses")
    outcomes = {(row["attackers"], row["defenders"]): row["probability"] for row in rows}
    assert outcomes == {tuple(end): float(chance) for end, chance in roll.losses().items()}
    assert sum(row["count"] for row in rows) == rows[0]["total"] == 7776


def test_survival_shows_the_odds_of_each_territory() -> None:
    chart = charts.survival(UNFINISHED)
    odds = UNFINISHED.territory_odds()
    fates = table(chart, "territories")
    stacks = table(chart, "stacks")
    for number, each in enumerate(odds, start=1):
        here = {row["fate"]: row["probability"] for row in fates if row["territory"] == number}
        assert here["you take it"] == each.conquer_probability
        assert sum(here.values()) == pytest.approx(float(each.reach_probability), abs=1e-12)
        ours = [
            row["armies"] for row in stacks if (row["territory"], row["side"]) == (number, "yours")
        ]
        assert ours == [each.expected_attackers]
    assert (
        title(chart)
        == "You take all 14 territories 81% of the time; it fails most often at number 13."
    )


def test_survival_names_stops_and_of_what_is_never_reached() -> None:
    stopped = table(charts.survival(Campaign(20, [8, 3], stop=Stop(stop_at=4))), "territories")
    assert {row["fate"] for row in stopped} == {"you take it", "you stop there"}
    none = charts.survival(Campaign(1, [2, 2]))
    assert title(none) == "You never take all 2 territories."
    assert len([row for row in table(none, "stacks") if row["side"] == "yours"]) == 1
    with pytest.raises(TooLargeError, match="at most 100 territories, got 101"):
        charts.survival(Campaign(9, [1] * 101))


def test_the_score_is_norvig_s_with_a_spike_for_each_territory() -> None:
    exact = UNFINISHED.score()
    chart = charts.campaign_score(UNFINISHED)
    rows = table(chart, "scores")
    assert all(row["probability"] == pytest.approx(exact[row["least"]], rel=1e-12) for row in rows)
    spikes = {row["territory"]: row["score"] for row in table(chart, "spikes")}
    assert spikes == {11: -10, 12: -8, 13: -5, 14: 0}
    assert title(chart).endswith("and score 10.2 on average.")


def test_the_spikes_are_said_to_be_what_they_are() -> None:
    said = subtitle(charts.campaign_score(UNFINISHED))
    assert "as wide as there are defenders, and highest where all are left" in said
    outcomes = UNFINISHED.outcomes()
    for spike in table(charts.campaign_score(UNFINISHED), "spikes"):
        here = spike["territory"] - 1
        ends = {end.defenders: outcomes[end] for end in outcomes if end.conquered == here}
        whole = UNFINISHED.territories[here].defenders
        assert sorted(ends) == list(range(1, whole + 1))
        assert max(ends, key=lambda left: ends[left]) == whole
        assert min(ends, key=lambda left: ends[left]) == 1
        # Where the garrison is left alone, the territory is not even attacked.
        assert UNFINISHED.score_of(CampaignOutcome(here, 1, whole)) == spike["score"]
    only_one = charts.campaign_score(Campaign(4, [9]))
    assert "moves in" not in subtitle(only_one)


def test_teeth_are_explained_where_there_are_some() -> None:
    for battle in ((50, 50), (30, 30), (60, 50), (20, 20)):
        assert "hence the teeth" in subtitle(charts.final_difference(Battle(*battle)))
    for battle in ((1, 1), (1, 100), (3, 1), (100, 1), (4, 3), (2, 40), (200, 200)):
        assert "teeth" not in subtitle(charts.final_difference(Battle(*battle)))


def test_survival_shows_where_it_fails() -> None:
    panels = charts.specification(charts.survival(UNFINISHED))["vconcat"]
    assert len(panels) == 4
    bars = panels[0]["layer"][0]
    assert bars["encoding"]["x"]["scale"]["domain"] == list(range(1, 15))
    filtered = panels[0]["layer"][0].get("transform") or panels[0]["transform"]
    assert filtered == [{"filter": "datum.fate != 'you take it'"}]
    always = charts.survival(Campaign(30, [20], "balanced blitz"))
    assert len(charts.specification(always)["vconcat"]) == 3  # it never fails


def test_survival_draws_a_line_for_one_stack_and_bars_for_many_territories() -> None:
    chart = charts.survival(Campaign(5, [5]))
    assert [row["armies"] for row in table(chart, "stacks")] == [5, 5]
    theirs, *yours = charts.specification(chart)["vconcat"][2]["layer"]
    assert theirs["mark"]["type"] == "bar"
    assert [each["mark"]["type"] for each in yours] == ["line", "point"]


def test_what_is_left_at_the_end_of_a_campaign_is_the_library_s() -> None:
    outcomes = Campaign(12, [4, 3]).outcomes()
    for row in table(charts.survival(Campaign(12, [4, 3])), "left"):
        assert row["probability"] == outcomes[CampaignOutcome(2, row["least"], 0)]


def test_simulated_scores_lie_under_the_exact_ones() -> None:
    campaign = Campaign(12, [4, 3])
    simulated = simulate_campaign(12, [4, 3], runs=2000, seed=1)
    rows = table(charts.campaign_score(campaign, simulated), "observed")
    scores = simulated.outcomes.map(campaign.score_of)
    assert sum(row["probability"] for row in rows) == pytest.approx(1)
    assert all(row["probability"] == float(scores[row["least"]]) for row in rows)


def test_a_chance_is_never_called_certain_that_is_not() -> None:
    said = [percent(chance, 0) for chance in (0.995, 0.9949, 0.0051, 0.005, 0.0)]
    assert said == ["more than 99%", "99%", "1%", "less than 1%", "less than 1%"]
    assert percent(0.99996) == "more than 99.99%"
