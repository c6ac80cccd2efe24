"""Stops on the command line: what is said, listed and refused."""

import json

import pytest

from iacta import Battle, Campaign, Stop, Territory, simulate_campaign
from tests.cli.run import Run

WRONG = {
    "battle 12 10 --stop-at -1": "--stop-at must be a whole number of at least 0, got -1",
    "battle 12 10 --max-losses x": "--max-losses must be a whole number of at least 0, got 'x'",
    "battle 12 10 --max-rolls 2.5": "--max-rolls must be a whole number of at least 0, got '2.5'",
    "campaign 12 3~": "stop_at must be a whole number of at least 0, got ''",
    "campaign 12 3~x": "stop_at must be a whole number of at least 0, got 'x'",
    "simulate 12 3 --max-rolls -2": "--max-rolls must be a whole number of at least 0, got -2",
    "battle 12 10 --rules five-ones --charge": "all_ones_gain must be 0 for a battle that stops by "
    "charge, max_losses or max_rolls, got 1",
}


def percent(chance: object) -> str:
    """Return a chance as it is printed."""
    return f"{100 * float(str(chance)):.2f} %"


@pytest.mark.parametrize("line", WRONG)
def test_wrong_stops_get_one_sentence(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == f"iacta: {WRONG[line]}\n"


def test_a_battle_says_how_often_nobody_wins(run: Run) -> None:
    battle = Battle(12, 10, stop=Stop(max_rolls=6))
    won, stopped = battle.win_probability(), battle.stop_probability()
    lines = run("battle 12 10 --max-rolls 6").stdout.splitlines()
    assert lines[0] == (
        f"12 armies beat 10 with a chance of {percent(won)}, lose with "
        f"{percent(1 - won - stopped)}, and stop with {percent(stopped)}."
    )
    assert any(line.startswith("stopped  ") for line in lines)
    assert any(line.startswith("lost     ") for line in lines)


def test_a_battle_that_cannot_be_lost_says_nothing_of_it(run: Run) -> None:
    lines = run("battle 4 2 --max-rolls 1 --exact --rules Capital").stdout.splitlines()
    assert lines[0].endswith(" %, and stop with 62.83 % (capital).")
    assert lines[1] == "Exactly: 1445/3888 and 2443/3888"


def test_who_stops_before_the_first_roll_does_not_attack(run: Run) -> None:
    sentence = "12 armies do not attack: they stop before the first roll.\n"
    for line in ("battle 12 10 --max-rolls 0", "battle 12 10 --stop-at 11", "campaign 12 3~11 2"):
        assert run(line).stdout == sentence
    assert run("battle 1 5 --charge").stdout == "1 army cannot attack: 1 must stay behind.\n"


def test_json_tells_the_chance_to_stop_only_where_there_is_a_stop(run: Run) -> None:
    record = json.loads(run("battle 12 10 --charge --stop-at 2 --json").stdout)
    battle = Battle(12, 10, stop=Stop(stop_at=2, charge=True))
    assert record["stop_probability"] == battle.stop_probability()
    assert (record["garrison"], record["method"]) == (1, "stopping")
    law = {(end["attackers"], end["defenders"]): end["probability"] for end in record["outcomes"]}
    assert law == dict(battle.outcomes())
    for line in ("battle 12 10 --json", "campaign 12 10 --json"):
        assert "stop_probability" not in json.loads(run(line).stdout)


def test_a_territory_s_own_stop_takes_the_place_of_the_command_s(run: Run) -> None:
    line = "campaign 20 8:capital@2~5 3 --max-losses 4 --json"
    way = [Territory(8, "capital", 2, Stop(stop_at=5)), Territory(3)]
    campaign = Campaign(20, way, stop=Stop(max_losses=4))
    record = json.loads(run(line).stdout)
    assert record["win_probability"] == pytest.approx(campaign.win_probability(), rel=1e-14)
    assert record["stop_probability"] == campaign.stop_probability()
    assert record["territories"][0]["rules"] == "capital"


def test_a_campaign_says_how_often_its_attackers_stop(run: Run) -> None:
    campaign = Campaign(20, [Territory(8, stop=Stop(stop_at=5)), 3])
    lines = run("campaign 20 8~5 3").stdout.splitlines()
    assert lines[0] == (
        f"20 armies take all 2 territories with a chance of {percent(campaign.win_probability())}, "
        f"and stop with {percent(campaign.stop_probability())}."
    )
    assert "        1        8~5" in lines[3]
    assert any(line.startswith("stopped at territory 1 ") for line in lines)
    assert any(line.startswith("lost at territory 2 ") for line in lines)


def test_a_played_campaign_tells_who_stops(run: Run) -> None:
    for seed in range(20):
        lines = run(f"campaign 20 8 --max-rolls 1 --narrate --seed {seed}").stdout.splitlines()
        assert " left, who stop against " in lines[0]


def test_simulated_campaigns_stop(run: Run) -> None:
    record = json.loads(run("simulate 12 4 3 --max-losses 2 --runs 500 --seed 1 --json").stdout)
    stop = Stop(max_losses=2)
    simulated = simulate_campaign(12, [4, 3], stop=stop, runs=500, seed=1)
    assert record["won"] == simulated.won.successes
    assert record["computed_win_probability"] == Campaign(12, [4, 3], stop=stop).win_probability()
    text = run("simulate 12 4 3 --max-losses 2 --runs 500 --seed 1").stdout
    assert "stopped at territory 1" in text
