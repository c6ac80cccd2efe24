"""Recorded turns in which a plan wins or eliminates a player, and recorded complete games."""

import pytest

from benchmarks.eliminations import (
    CONDITIONS,
    COUNTS,
    ELIMINATION,
    KINDS,
    MIN_CHANCES,
    MIN_GAIN,
    WIN,
    read_opportunities,
)
from benchmarks.war import SEED, read_recorded, start_games
from iacta import Missions
from iacta.war.games import CHOSEN_AIM, Aim, War
from iacta.war.players import ELIMINATE, PLAYERS

pytestmark = pytest.mark.usefixtures("core")
USUAL = PLAYERS["usual"]


def test_the_ai_wins_at_once_if_a_plan_surely_wins() -> None:
    # V gives some other turns more than 0.99.
    sure = [each for each in read_opportunities(WIN) if each.chance > 0.999][:6]
    assert len(sure) == 6
    for each in sure:
        war = War(each.turn)
        wins = sum(each.is_taken(war.play_turn(USUAL, seed).end) for seed in range(10))
        assert wins >= 9


@pytest.mark.parametrize("kind", CONDITIONS)
def test_the_ai_wins_at_once_under_any_victory_condition(kind: str) -> None:
    # The AI wins about nine tenths as often as the plans; without the aim to win, six tenths.
    found = read_opportunities(kind)
    wins = sum(
        each.is_taken(War(each.turn).play_turn(USUAL, seed).end)
        for each in found
        for seed in range(4)
    )
    assert wins >= 0.8 * 4 * sum(each.chance for each in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_turns_have_the_stated_chances(kind: str) -> None:
    found = read_opportunities(kind)
    assert len(found) == COUNTS[kind]
    for each in found:
        assert MIN_CHANCES[kind] <= each.chance <= 1
        assert each.gain >= MIN_GAIN if kind == ELIMINATION else not each.gain
        assert {*each.victims} <= {*each.turn.survivors} - {each.turn.player}
        assert bool(each.victims) == (kind == ELIMINATION)
        assert each.turn.phase in ("trade", "place")


def make_mission_war(index: int) -> War:
    """Return the game of a recorded elimination that is also the mission of the mover."""
    opportunity = read_opportunities(ELIMINATION)[index]
    mover = opportunity.turn.player
    missions = dict.fromkeys(opportunity.turn.players, "42 territories")
    missions[mover] = f"eliminate {opportunity.victims[0]}"
    return War(opportunity.turn.with_options(victory=Missions(missions)))


def count_wins(war: War, aim: Aim = CHOSEN_AIM) -> int:
    """Return how many of 40 turns the mover wins."""
    ends = (war.play_turn(USUAL, seed, aim).end for seed in range(40))
    return sum(end.winner == war.turn.player for end in ends)


@pytest.mark.parametrize("index", [34, 52])
def test_two_samples_do_not_reject_a_mission_to_eliminate(index: int) -> None:
    # The plan succeeds in 99% or 95% of turns. Few of the other aims lead to different turns.
    assert count_wins(make_mission_war(index)) >= 38


@pytest.mark.parametrize(("index", "least"), [(3, 15), (14, 39)])
def test_new_armies_follow_the_routes_to_the_target_of_a_mission(index: int, least: int) -> None:
    war, victim = make_mission_war(index), read_opportunities(ELIMINATION)[index].victims[0]
    aim = Aim(ELIMINATE, war.seats.index(victim))
    assert count_wins(war, aim=aim) >= least


@pytest.mark.parametrize("part", ["classic", "fixed", "unseen"])
def test_recorded_games_are_games_of_the_present_usual_ai(part: str) -> None:
    games = 12
    for recorded in read_recorded()[part][:3]:
        turn = recorded.turn
        found = start_games(turn, ["usual"] * len(War(turn).seats), games, SEED)
        winners = [str(row.argmax()) if row.max() == 1 else "-" for row in found.chances]
        assert recorded.winners.startswith("".join(winners))
