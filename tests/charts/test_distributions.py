"""Pictures of distributions: correct numbers and titles."""

import pytest

from iacta import Battle, Campaign, CampaignOutcome, Roll, StopRule, charts
from iacta.charts.outcomes import MAX_BARS, MIN_BARS, RARE_CHANCE, STOP, WIN
from iacta.forms.percentages import percent
from iacta.inputs.errors import TooLargeError
from iacta.methods.kernel import is_won
from iacta_literature import charts as figures

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])


def test_each_bar_of_a_battle_has_the_chance_of_its_outcomes() -> None:
    outcomes = Battle(9, 7).outcomes()
    rows = charts.battle_outcomes(Battle(9, 7)).tables["outcomes"]
    assert len(rows) == len(outcomes)
    for row in rows:
        assert row["least"] == row["most"]
        left = row["least"]
        end = (left, 0) if row["end"] == WIN else (1, -left)
        assert row["probability"] == outcomes[end]  # type: ignore[index]


def test_attackers_who_stop_have_bars_of_their_own() -> None:
    battle = Battle(12, 10, stop=StopRule(max_losses=4))
    chart = charts.battle_outcomes(battle)
    rows = chart.tables["outcomes"]
    stopped = sum(row["probability"] for row in rows if row["end"] == STOP)
    assert stopped == pytest.approx(battle.stop_probability(), abs=1e-14)
    assert "and stop with 4 lost" in chart.subtitle
    assert {row["end"] for row in rows} == {WIN, STOP}


def test_attackers_who_stop_are_counted_by_their_own_armies() -> None:
    chart = charts.battle_outcomes(Battle(20, 18, stop=StopRule(max_losses=5)))
    assert {row["least"] for row in chart.tables["outcomes"] if row["end"] == STOP} == {14, 15}


def test_numbers_of_armies_have_no_sign() -> None:
    axis = charts.battle_outcomes(Battle(9, 7)).to_dict()["encoding"]["x"]["axis"]
    assert "abs(datum.value)" in axis["labelExpr"]
    won = charts.battle_outcomes(Battle(30, 2, "balanced blitz")).to_dict()
    assert won["encoding"]["x"]["axis"]["labelExpr"].startswith("datum.value < 0 ? ''")
    difference = figures.final_difference(Battle(9, 7)).to_dict()
    assert "abs" not in difference["encoding"]["x"]["axis"]["labelExpr"]


def test_huge_distributions_are_joined_and_lose_no_more_than_their_tails() -> None:
    battle = Battle(1500, 1400)
    rows = charts.battle_outcomes(battle).tables["outcomes"]
    assert MIN_BARS < len(rows) <= MAX_BARS + 2
    assert len({row["most"] - row["least"] for row in rows}) == 1
    assert 1 - 2 * RARE_CHANCE <= sum(row["probability"] for row in rows) <= 1 + 1e-12
    outcomes = battle.outcomes()
    middle = rows[len(rows) // 2]
    chance = outcomes.prob(
        lambda end: is_won(end) and middle["least"] <= end.attackers <= middle["most"]
    )
    assert middle["probability"] == pytest.approx(float(chance), rel=1e-12)


def test_a_battle_with_more_ends_than_can_be_listed_is_refused() -> None:
    with pytest.raises(TooLargeError, match="likely outcomes, which would take"):
        charts.battle_outcomes(Battle(10**12, 10**12))


@pytest.mark.parametrize(("dice", "rules"), [((3, 2), "classic"), ((3, 2), "five ones")])
def test_a_roll_shows_its_losses(dice: tuple[int, int], rules: str) -> None:
    roll = Roll(*dice, rules)
    rows = charts.roll_losses(roll).tables["losses"]
    outcomes = {(row["attackers"], row["defenders"]): row["probability"] for row in rows}
    assert outcomes == {tuple(end): float(chance) for end, chance in roll.losses().items()}
    assert sum(row["count"] for row in rows) == rows[0]["total"] == 7776


def test_survival_shows_the_odds_of_each_territory() -> None:
    chart = charts.survival(UNFINISHED)
    odds = UNFINISHED.territory_odds()
    fates = chart.tables["territories"]
    stacks = chart.tables["stacks"]
    for number, each in enumerate(odds, start=1):
        here = {row["fate"]: row["probability"] for row in fates if row["territory"] == number}
        assert here["you take it"] == each.conquer_probability
        assert sum(here.values()) == pytest.approx(float(each.reach_probability), abs=1e-12)
        ours = [
            row["armies"] for row in stacks if (row["territory"], row["side"]) == (number, "yours")
        ]
        assert ours == [each.expected_attackers]
    assert chart.title.endswith("with a chance of 81.05%. Most failures are at territory 13.")


def test_survival_shows_stops_and_omits_unreachable_stacks() -> None:
    stopped = charts.survival(Campaign(20, [8, 3], stop=StopRule(hold_back=4))).tables[
        "territories"
    ]
    assert {row["fate"] for row in stopped} == {"you take it", "you stop there"}
    none = charts.survival(Campaign(1, [2, 2]))
    assert none.title == "1 army cannot attack: 1 must stay behind."
    assert len([row for row in none.tables["stacks"] if row["side"] == "yours"]) == 1
    with pytest.raises(TooLargeError, match="at most 100 territories, got 101"):
        charts.survival(Campaign(9, [1] * 101))


def test_survival_shows_where_it_fails() -> None:
    panels = charts.survival(UNFINISHED).to_dict()["vconcat"]
    assert len(panels) == 4
    bars = panels[0]["layer"][0]
    assert bars["encoding"]["x"]["scale"]["domain"] == list(range(1, 15))
    filtered = panels[0]["layer"][0].get("transform") or panels[0]["transform"]
    assert filtered == [{"filter": "datum.fate != 'you take it'"}]
    always = charts.survival(Campaign(30, [20], "balanced blitz"))
    assert len(always.to_dict()["vconcat"]) == 3  # without a panel of failures


def test_survival_draws_a_line_for_one_stack_and_bars_for_many_territories() -> None:
    chart = charts.survival(Campaign(5, [5]))
    assert [row["armies"] for row in chart.tables["stacks"]] == [5, 5]
    theirs, *yours = chart.to_dict()["vconcat"][2]["layer"]
    assert theirs["mark"]["type"] == "bar"
    assert [each["mark"]["type"] for each in yours] == ["line", "point"]


def test_the_armies_left_after_a_campaign_equal_the_library_s() -> None:
    outcomes = Campaign(12, [4, 3]).outcomes()
    for row in charts.survival(Campaign(12, [4, 3])).tables["left"]:
        assert row["probability"] == outcomes[CampaignOutcome(2, row["least"], 0)]


def test_titles_never_call_an_uncertain_chance_certain() -> None:
    said = [percent(chance, 0) for chance in (0.995, 0.9949, 0.0051, 0.005, 0.0)]
    assert said == ["more than 99%", "99%", "1%", "less than 1%", "less than 1%"]
    assert percent(0.99996) == "more than 99.99%"
