"""`Campaign`: one stack that attacks a chain of territories."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import Battle, Campaign, CampaignOutcome, Dice, Rules, StopRule, Territory
from iacta.battle.territory import format_territory, parse_territory
from iacta.rules.modes import ArmiesGrow
from tests import brute
from tests.cases import for_each
from tests.published import read_rows

UNFINISHED = {row["quantity"]: row["value"] for row in read_rows("unfinished_game")}
WAY = [int(defenders) for defenders in UNFINISHED["territories"].split()]


def twin(campaign: Campaign) -> dict[CampaignOutcome, Fraction]:
    """Solve the battles one by one, with a dictionary of fractions."""
    stacks = {campaign.attackers: Fraction(1)}
    ended: Counter[CampaignOutcome] = Counter()
    garrison = campaign.rules.garrison
    for number, territory in enumerate(campaign.territories):
        own = iacta.find_rules(territory.rules or campaign.rules, garrison)
        following: Counter[int] = Counter()
        for attackers, chance in stacks.items():
            stop = campaign.stop if territory.stop is None else territory.stop
            outcomes = brute.outcomes_with_stop(attackers, territory.defenders, own, stop)
            for (left, held), p in outcomes.items():
                if held:
                    ended[CampaignOutcome(number, left, held)] += chance * p  # type: ignore[assignment] # a Counter adds fractions too
                else:
                    moved = min(left - garrison, own.most_advance or left)
                    following[moved] += chance * p  # type: ignore[assignment]
        stacks = dict(following)  # type: ignore[arg-type]
        garrison = campaign.rules.garrison if territory.garrison is None else territory.garrison
    for attackers, chance in stacks.items():
        ended[CampaignOutcome(len(campaign.territories), attackers, 0)] += chance  # type: ignore[assignment]
    return dict(ended)  # type: ignore[arg-type]


CAMPAIGNS = [
    Campaign(3, [1, 1]),
    Campaign(9, [2, 1, 3]),
    Campaign(8, [1, 3, 1, 2], "capital"),
    Campaign(8, [2, Territory(2, "capital"), 1]),
    Campaign(10, [2, Territory(1, garrison=3), 2]),
    Campaign(10, [Territory(2, "fortification", 0), Territory(1, garrison=2), 2], garrison=2),
    Campaign(7, [1, 1, 1, 1], garrison=0),
    Campaign(3, [1, 1, 1, 1]),
    Campaign(1, [2, 3]),
    Campaign(6, [Territory(1, garrison=50), 1]),
    Campaign(9, [2, 1, 3], Rules(most_advance=3)),
    Campaign(9, [2, Territory(1, Rules(most_advance=2), 2), 1, 1], garrison=0),
]
WITH_STOPS = [
    Campaign(9, [2, 1, 3], stop=StopRule(hold_back=2)),
    Campaign(9, [2, 1, 3], stop=StopRule(stop_at=3)),
    Campaign(9, [3, 1, 1], "capital", garrison=2, stop=StopRule(stop_at=4)),
    Campaign(9, [2, Territory(1, garrison=3), 1], garrison=0, stop=StopRule(stop_at=2)),
    Campaign(10, [2, Territory(2, stop=StopRule(stop_at=6)), 1], stop=StopRule(hold_back=2)),
    Campaign(10, [2, Territory(2, stop=StopRule(hold_back=1)), 1], stop=StopRule(stop_at=5)),
    Campaign(11, [3, 2, 1], stop=StopRule(hold_back=1, stop_at=4, max_rolls=4)),
    Campaign(9, [3, 2, 1], stop=StopRule(charge=True)),
    Campaign(10, [3, 1, 2], "capital", stop=StopRule(max_losses=2)),
    Campaign(10, [4, 2, 2], stop=StopRule(max_rolls=2)),
    Campaign(10, [2, Territory(2, stop=StopRule(max_losses=1)), 2]),
    Campaign(
        11,
        [Territory(3, "capital", 2, StopRule(hold_back=2, charge=True)), 2, 1],
        stop=StopRule(max_rolls=3),
    ),
    Campaign(
        11,
        [Territory(2, stop=StopRule()), Territory(3, stop=StopRule(hold_back=4)), 1],
        stop=StopRule(hold_back=3),
    ),
    Campaign(5, [2, 1], garrison=0, stop=StopRule(max_rolls=0)),
    Campaign(12, [2, 2, 2], stop=StopRule(max_losses=3, max_rolls=3)),
]
ALL = CAMPAIGNS + WITH_STOPS


@for_each("campaign", ALL)
def test_the_distribution_equals_successive_battles(campaign: Campaign) -> None:
    expected = twin(campaign)
    assert dict(campaign.outcomes(exact=True)) == expected
    floats = campaign.outcomes()
    assert set(floats) == set(expected)
    for end, probability in expected.items():
        assert abs(float(floats[end]) - float(probability)) <= 1e-13 * probability


@for_each("campaign", ALL)
def test_the_chances_of_each_territory_come_from_the_distribution(campaign: Campaign) -> None:
    outcomes = twin(campaign)
    odds = campaign.territory_odds(exact=True)
    assert len(odds) == len(campaign.territories)
    for number, each in enumerate(odds):
        conquered = sum(p for (taken, _, _), p in outcomes.items() if taken > number)
        assert each.conquer_probability == conquered
        reached = sum(p for (taken, _, _), p in outcomes.items() if taken >= number)
        assert each.reach_probability == reached
    assert campaign.win_probability(exact=True) == odds[-1].conquer_probability
    assert odds[0].expected_attackers == campaign.attackers


def test_expected_attackers_are_given_that_the_territory_is_reached() -> None:
    first, second = Campaign(5, [2, 3]).territory_odds(exact=True)
    battle = Battle(5, 2)
    assert second.expected_attackers == battle.attackers_left_if_won(exact=True).mean() - 1
    assert second.reach_probability == first.conquer_probability


@pytest.mark.parametrize(
    ("attackers", "way"), [(420, [820]), (420, [820, 1]), (500, [900, 3, 2]), (300, [300, 350])]
)
def test_rare_conquests_of_large_stacks_keep_their_digits(attackers: int, way: list[int]) -> None:
    campaign = Campaign(attackers, way)
    exact = campaign.territory_odds(exact=True)
    assert exact[-1].conquer_probability < 1e-10
    assert campaign.win_probability() == pytest.approx(
        float(exact[-1].conquer_probability), rel=1e-12
    )
    for found, expected in zip(campaign.territory_odds(), exact, strict=True):
        assert found == pytest.approx([float(each) for each in expected], rel=2e-12)


def test_rare_survivors_of_a_large_battle_count_in_the_next_one() -> None:
    campaign = Campaign(2600, [2000, 1500])
    table = np.minimum(campaign.stages()[0].kernel().win_table(2599, 1500), 1)
    left = Battle(2600, 2000).outcomes(method="lattice")
    chance = sum(p * table[a - 3, -1] for (a, d), p in left.items() if not d and a > 2)
    assert campaign.win_probability() == pytest.approx(chance, rel=1e-12)
    assert 1e-7 < chance < 1e-5


def test_at_most_three_armies_move_in() -> None:
    war = Campaign(20, [1, 1, 1], "war")
    assert war.win_probability() == pytest.approx(0.2411265, abs=1e-7)
    assert Campaign(10**6, [1, 1, 1], "war").win_probability() == pytest.approx(625 / 2592)
    with pytest.raises(iacta.IllegalError, match="chance must be below 625/2592, which no number"):
        iacta.armies_needed_for_campaign([1, 1, 1], 0.5, "war")
    with pytest.raises(iacta.IllegalError, match="keep must be at most 3, because no more armies"):
        iacta.armies_needed(1, 0.5, "war", keep=4)


def test_the_unfinished_game_agrees() -> None:
    campaign = Campaign(int(UNFINISHED["attackers"]), WAY)
    exact = Fraction(campaign.win_probability(exact=True))
    assert abs(exact - Fraction(UNFINISHED["win_probability"])) < Fraction(1, 10**15)
    assert abs(campaign.win_probability() - float(UNFINISHED["win_probability"])) < 1e-14
    score = campaign.score(exact=True)
    assert abs(Fraction(score.mean()) - Fraction(UNFINISHED["mean_score"])) < Fraction(1, 10**14)
    assert score.mode() == int(UNFINISHED["most_likely_left"])
    most_likely = float(score[score.mode()])
    assert abs(most_likely - float(UNFINISHED["probability_of_most_likely"])) < 1e-10
    assert sum(campaign.outcomes(exact=True).values()) == 1


def test_score_counts_the_defenders_not_yet_attacked() -> None:
    scores = Campaign(2, [1, 5]).score(exact=True)
    # The only attacking army takes the first territory with a chance of 5/12, and stays there.
    assert dict(scores) == {1 - 5: Fraction(5, 12), 1 - 6: Fraction(7, 12)}


def test_results_have_the_requested_type() -> None:
    campaign = Campaign(6, [2, 1])
    for method in ("auto", "lattice", "counting"):
        assert all(
            type(n) is float for each in campaign.territory_odds(method=method) for n in each
        )
        assert not campaign.outcomes(method=method).is_exact
    exact = campaign.territory_odds(exact=True)
    assert all(type(number) is Fraction for each in exact for number in each)
    assert campaign.outcomes(method="counting") == campaign.outcomes(exact=True).to_float()


@settings(max_examples=30)
@given(st.integers(1, 12), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2))
def test_any_campaign_agrees_with_the_twin(attackers: int, way: list[int], garrison: int) -> None:
    campaign = Campaign(attackers, way, garrison=garrison)
    assert dict(campaign.outcomes(exact=True)) == twin(campaign)


@for_each("campaign", WITH_STOPS)
def test_thrown_and_played_campaigns_stop_as_the_distribution_says(campaign: Campaign) -> None:
    distribution, runs = campaign.outcomes(), 2000
    thrown = iacta.simulate_campaign(
        campaign.attackers, campaign.territories, campaign.rules, stop=campaign.stop, runs=runs
    ).outcomes
    rng = np.random.default_rng(2)
    played: Counter[CampaignOutcome] = Counter(
        play_campaign(campaign, campaign.play(rng)) for _ in range(runs)
    )
    assert set(thrown) | set(played) <= set(distribution)
    for end, chance in distribution.items():
        near = 5 * (float(chance) * (1 - chance) / runs) ** 0.5
        assert abs(float(thrown[end]) - chance) <= near
        assert abs(played[end] / runs - chance) <= near


def play_campaign(campaign: Campaign, battles: Sequence[iacta.PlayedBattle]) -> CampaignOutcome:
    """Return the outcome of a campaign that was played."""
    last = battles[-1]
    if last.defenders_left:
        return CampaignOutcome(last.territory - 1, last.attackers_left, last.defenders_left)
    garrison = campaign.stages()[-1].rules.garrison
    return CampaignOutcome(last.territory, last.attackers_left - garrison, 0)


def test_armies_kept_out_of_a_fight_move_on_after_a_conquest() -> None:
    outcomes = Campaign(9, [1], stop=StopRule(hold_back=5)).outcomes(exact=True)
    assert max(end.attackers for end in outcomes if end.conquered) == 8
    assert {end.attackers for end in outcomes if not end.conquered} == {6}


def test_a_campaign_has_the_chance_that_attackers_stop() -> None:
    for campaign in ALL:
        way = campaign.stages()
        expected = sum(
            p
            for end, p in twin(campaign).items()
            if end.defenders and end.attackers > way[end.conquered].rules.garrison
        )
        assert campaign.stop_probability(exact=True) == expected
        if campaign in CAMPAIGNS:
            assert expected == 0


def test_endless_battles_can_be_played() -> None:
    many = Dice((6,) * 100, keep=1, reroll=(1,))
    battles = Campaign(9, [2], Rules(attack=many, defence=many)).play(np.random.default_rng(1))
    assert battles[0].attackers == 9


def test_the_same_seed_plays_the_same_campaign() -> None:
    campaign = Campaign(72, WAY)
    first = campaign.play(np.random.default_rng(1))
    assert first == campaign.play(np.random.default_rng(1))
    assert first != campaign.play(np.random.default_rng(2))


def test_repr_can_be_pasted_back() -> None:
    for campaign in ALL:
        assert eval(repr(campaign), vars(__import__("iacta"))) == campaign  # noqa: S307 # the claim


@pytest.mark.parametrize(
    "text",
    ["8", "8:capital", "8@3", "8:capital@3", "1@0", "8~5", "8~0", "8:capital~5", "8:capital@3~5"],
)
def test_a_territory_is_printed_as_it_is_read(text: str) -> None:
    assert format_territory(parse_territory(text)) == text


def test_the_rules_of_a_territory_apply_to_its_battle() -> None:
    ways: Sequence[tuple[list[Any], list[Any]]] = [
        ([3, Territory(3, "capital")], [3, 3]),
        ([Territory(3, "capital"), 3], [3, 3]),
    ]
    for mixed, plain in ways:
        chance = Campaign(12, mixed).win_probability()
        assert Campaign(12, plain, "capital").win_probability() < chance
        assert chance < Campaign(12, plain, Rules()).win_probability()


def test_armies_grow_in_a_played_campaign() -> None:
    rules = Rules(attack=Dice((3,)), defence=Dice((2,)), mode=ArmiesGrow())
    rng = np.random.default_rng(5)
    won = sum(not Campaign(7, [5], rules).play(rng)[0].defenders_left for _ in range(4000))
    chance = Campaign(7, [5], rules).win_probability()
    assert abs(won / 4000 - chance) < 4 * (chance * (1 - chance) / 4000) ** 0.5


def test_every_stack_has_a_chance_of_the_requested_type() -> None:
    for attackers, garrison in product(range(1, 6), range(4)):
        for stop in (
            StopRule(),
            StopRule(max_rolls=1),
            StopRule(hold_back=2),
            StopRule(charge=True),
        ):
            campaign = Campaign(attackers, [1, 4], garrison=garrison, stop=stop)
            exact = campaign.win_probability(exact=True)
            assert isinstance(exact, Fraction), campaign
            assert exact == campaign.territory_odds(exact=True)[-1].conquer_probability
            assert campaign.win_probability() == pytest.approx(float(exact), rel=1e-12)


def test_a_territory_may_be_written_as_on_the_command_line() -> None:
    written = Campaign(30, ["8:capital@3", 2, "2~5"])
    built: list[int | Territory] = [
        Territory(8, rules="capital", garrison=3),
        2,
        Territory(2, stop=StopRule(hold_back=5)),
    ]
    assert written == Campaign(30, built)
