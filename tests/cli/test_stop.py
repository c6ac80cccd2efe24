"""Stops on the command line: what is said, listed and refused."""

import csv
import json
from itertools import count
from pathlib import Path

import pytest

from iacta import Battle, Campaign, Stop, Territory, simulate_campaign, spread_defenders
from iacta.odds.spread import spread_value
from iacta.questions.words import bar_percent
from tests.cli.run import Run

STOPS = {
    "--stop-at 2": Stop(stop_at=2),
    "--charge": Stop(charge=True),
    "--max-losses 4": Stop(max_losses=4),
    "--max-rolls 3": Stop(max_rolls=3),
    "--stop-at 1 --max-rolls 4": Stop(stop_at=1, max_rolls=4),
}

BLITZ = (
    "rules with balanced blitz cannot be used for a battle that stops by charge, "
    "max_losses or max_rolls"
)
WRONG = {
    "battle 12 10 --stop-at -1": "--stop-at must be a whole number of at least 0, got -1",
    "battle 12 10 --max-losses x": "--max-losses must be a whole number of at least 0, got 'x'",
    "battle 12 10 --max-rolls 2.5": "--max-rolls must be a whole number of at least 0, got '2.5'",
    "campaign 12 3~": "stop_at must be a whole number of at least 0, got ''",
    "campaign 12 3~x": "stop_at must be a whole number of at least 0, got 'x'",
    "simulate 12 3 --max-rolls -2": "--max-rolls must be a whole number of at least 0, got -2",
    "battle 12 10 --rules five-ones --charge": "rules with armies that grow when all dice show "
    "one cannot be used for a battle that stops by charge, max_losses or max_rolls",
    "need 10 --stop-at -1": "--stop-at must be a whole number of at least 0, got -1",
    "need 3 --chance 100% --charge": "--chance must be less than 1, as no win is certain, "
    "got '100%'",
    "need 1 --max-rolls 1": "--chance must be at most 95/144, the most that any number of "
    "attackers reaches, got '19/20'",
    "defend 12 --max-losses x": "--max-losses must be a whole number of at least 0, got 'x'",
    "defend 9 --rules balanced-blitz --charge": BLITZ,
    "need 5 --rules balanced-blitz --max-rolls 3": BLITZ,
}


def percent(chance: object) -> str:
    """Return a chance as it is printed."""
    return f"{100 * float(str(chance)):.2f}%"


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
    assert lines[0].endswith("%, and stop with 62.83% (capital).")
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


@pytest.mark.parametrize("option", STOPS)
@pytest.mark.parametrize("way", [[2], [2, 1]], ids=["battle", "campaign"])
def test_the_fewest_attackers_who_may_stop_are_those_of_a_scan(
    run: Run, option: str, way: list[int], tmp_path: Path
) -> None:
    def won(attackers: int) -> float:
        return float(Campaign(attackers, way, stop=STOPS[option]).win_probability())

    line = f"need {' '.join(map(str, way))} --chance 30% {option}"
    record = json.loads(run(f"{line} --json").stdout)
    assert record["attackers"] == next(n for n in count(1) if won(n) >= 0.3)
    assert record["win_probability"] == pytest.approx(won(record["attackers"]), rel=1e-12)
    lines = run(line).stdout.splitlines()
    more = record["attackers"] + 1
    assert any(
        each.startswith(f"{more} armies") and bar_percent(won(more)) in each for each in lines
    )
    assert run(f"{line} --plot {tmp_path / 'drawn.csv'}").code == 0
    for point in drawn(tmp_path):
        assert float(point["probability"]) == pytest.approx(won(int(point["attackers"])))


@pytest.mark.parametrize("option", STOPS)
def test_armies_that_are_left_are_those_of_attackers_who_may_stop(run: Run, option: str) -> None:
    def kept(attackers: int) -> float:
        outcomes = Battle(attackers, 2, stop=STOPS[option]).outcomes()
        return float(outcomes.prob(lambda end: not end.defenders and end.attackers >= 4))

    record = json.loads(run(f"need 2 --chance 30% --keep 3 {option} --json").stdout)
    assert record["attackers"] == next(n for n in count(1) if kept(n) >= 0.3)
    assert record["win_probability"] == pytest.approx(kept(record["attackers"]), rel=1e-12)


@pytest.mark.parametrize("option", STOPS)
def test_the_fewest_defenders_against_who_may_stop_are_those_of_a_scan(
    run: Run, option: str, tmp_path: Path
) -> None:
    def held(defenders: int) -> float:
        return 1 - float(Battle(9, defenders, stop=STOPS[option]).win_probability())

    line = f"defend 9 --chance 90% {option}"
    record = json.loads(run(f"{line} --json").stdout)
    assert record["defenders"] == next(n for n in count(1) if held(n) >= 0.9)
    assert record["hold_probability"] == pytest.approx(held(record["defenders"]), rel=1e-12)
    lines = run(line).stdout.splitlines()
    more = record["defenders"] + 1
    assert any(
        each.startswith(f"{more} defenders") and bar_percent(held(more)) in each for each in lines
    )
    assert run(f"{line} --plot {tmp_path / 'drawn.csv'}").code == 0
    for point in drawn(tmp_path):
        assert float(point["probability"]) == pytest.approx(held(int(point["defenders"])))


@pytest.mark.parametrize("option", STOPS)
def test_the_best_spread_is_against_attackers_who_may_stop(run: Run, option: str) -> None:
    stop = STOPS[option]
    record = json.loads(run(f"defend 12 --armies 7 --territories 2 {option} --json").stdout)
    values = {(n, 7 - n): spread_value(12, (n, 7 - n), stop=stop) for n in range(1, 7)}
    best = spread_defenders(12, 7, 2, stop=stop)
    assert record["spreads"] == [list(spread) for spread in best.spreads]
    assert record["value"] == pytest.approx(min(values.values()), rel=1e-12)
    for other in record["others"]:
        assert other["value"] == pytest.approx(values[tuple(other["spread"])], rel=1e-12)


def test_the_picture_of_a_territory_with_its_own_stop_shows_it(run: Run, tmp_path: Path) -> None:
    assert run(f"need 4~3 --chance 50% --plot {tmp_path / 'drawn.csv'}").code == 0
    for point in drawn(tmp_path):
        battle = Battle(int(point["attackers"]), 4, stop=Stop(stop_at=3))
        assert float(point["probability"]) == pytest.approx(battle.win_probability())


def drawn(folder: Path) -> list[dict[str, str]]:
    """Return the points of a picture that was written as CSV."""
    with (folder / "drawn.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_spread_that_holds_is_not_said_to_hold_however_the_armies_are_spread(run: Run) -> None:
    asked = "defend 12 --armies 9 --territories 3"
    text = run(f"{asked} --max-rolls 3").stdout
    assert text.startswith("Put 1 1 7 armies: 12 attackers then cannot break through.\n")
    even = Campaign(12, [3, 3, 3], stop=Stop(max_rolls=3)).win_probability()
    assert f"even           3 3 3    {100 * even:.1f}%" in text
    assert run("defend 3 --armies 9 --territories 3").stdout == (
        "3 attackers cannot break through, however the armies are spread.\n"
    )
