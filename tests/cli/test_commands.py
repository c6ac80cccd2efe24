"""What the commands print: for people, as JSON and as CSV."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from iacta import Battle, Campaign, Territory, armies_needed, win_table
from tests.cli.run import Run

UNFINISHED = "72 22 8 2 2 2 7 1 1 3 1 2 3 5 1"


def read_json(run: Run, line: str) -> Any:
    """Run a command with --json, and return what it says."""
    result = run(f"{line} --json")
    assert (result.code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def read_csv(run: Run, line: str) -> list[list[str]]:
    """Run a command with --csv, and return its rows."""
    result = run(f"{line} --csv")
    assert (result.code, result.stderr) == (0, "")
    return list(csv.reader(io.StringIO(result.stdout)))


def test_battle_begins_with_the_answer(run: Run) -> None:
    lines = run("battle 12 10").stdout.splitlines()
    assert lines[0] == "12 armies beat 10 with a chance of 65.38%."
    assert "your armies left             4.44                  1       4               10" in lines


def test_battle_json(run: Run) -> None:
    record = read_json(run, "battle 12 10")
    assert list(record) == [
        "attackers",
        "defenders",
        "garrison",
        "rules",
        "method",
        "win_probability",
        "win_probability_exact",
        "expected_attackers_left",
        "expected_defenders_left",
        "expected_attackers_left_if_won",
        "outcomes",
    ]
    battle = Battle(12, 10)
    assert record["win_probability"] == battle.win_probability()
    assert record["expected_attackers_left"] == battle.attackers_left().mean()
    assert record["expected_defenders_left"] == battle.defenders_left().mean()
    assert record["expected_attackers_left_if_won"] == battle.attackers_left_if_won().mean()
    assert (record["garrison"], record["rules"], record["method"]) == (1, "classic", "lattice")
    assert record["win_probability_exact"] is None
    law = {(end["attackers"], end["defenders"]): end["probability"] for end in record["outcomes"]}
    assert law == dict(battle.outcomes())


def test_battle_json_exact(run: Run) -> None:
    record = read_json(run, "battle 3 1 --exact --rules Capital --garrison 0")
    exact = Battle(3, 1, "capital", garrison=0).win_probability(exact=True)
    assert Fraction(record["win_probability_exact"]) == exact
    assert (record["garrison"], record["rules"], record["method"]) == (0, "capital", "counting")


def test_battle_that_cannot_be_won(run: Run) -> None:
    record = read_json(run, "battle 1 5")
    assert record["win_probability"] == 0
    assert record["expected_attackers_left_if_won"] is None
    assert record["outcomes"] == [{"attackers": 1, "defenders": 5, "probability": 1.0}]
    assert run("battle 1 5").stdout == "1 army cannot attack: 1 must stay behind.\n"


def test_battle_csv(run: Run) -> None:
    rows = read_csv(run, "battle 3 2 --exact")
    assert rows[0] == ["attackers", "defenders", "probability"]
    assert rows[1:] == [
        ["3", "0", "295/1296"],
        ["2", "0", "175/1296"],
        ["1", "1", "245/1296"],
        ["1", "2", "581/1296"],
    ]


def test_campaign_begins_with_the_answer(run: Run) -> None:
    lines = run(f"campaign {UNFINISHED}").stdout.splitlines()
    assert lines[0] == "72 armies take all 14 territories with a chance of 81.05%."


def test_campaign_exact_prints_the_fraction(run: Run) -> None:
    lines = run(f"campaign {UNFINISHED} --exact").stdout.splitlines()
    territories = [int(word) for word in UNFINISHED.split()[1:]]
    exact = Campaign(72, territories).win_probability(exact=True)
    assert lines[1].startswith("Exactly: ")
    assert Fraction(lines[1].removeprefix("Exactly: ")) == exact


def test_campaign_json(run: Run) -> None:
    record = read_json(run, "campaign 9 2 3:capital@2 1 --exact")
    assert list(record) == [
        "attackers",
        "rules",
        "win_probability",
        "win_probability_exact",
        "territories",
        "outcomes",
    ]
    campaign = Campaign(9, [2, Territory(3, "capital", 2), 1])
    exact = campaign.win_probability(exact=True)
    assert Fraction(record["win_probability_exact"]) == exact
    assert record["win_probability"] == float(exact)
    assert record["territories"] == [
        {
            "defenders": territory.defenders,
            "rules": rules,
            "reach_probability": float(odds.reach_probability),
            "conquer_probability": float(odds.conquer_probability),
        }
        for territory, rules, odds in zip(
            campaign.territories,
            ("classic", "capital", "classic"),
            campaign.territory_odds(exact=True),
            strict=True,
        )
    ]
    law = {
        (end["conquered"], end["attackers"], end["defenders"]): end["probability"]
        for end in record["outcomes"]
    }
    assert law == dict(campaign.outcomes().items())


def test_campaign_csv(run: Run) -> None:
    rows = read_csv(run, "campaign 3 1 1 --exact")
    assert rows[0] == ["conquered", "attackers", "defenders", "probability"]
    assert ["2", "1", "0", "625/2592"] in rows
    assert sum(Fraction(row[-1]) for row in rows[1:]) == 1


def test_narrate_tells_the_run_that_the_seed_plays(run: Run) -> None:
    result = run(f"campaign {UNFINISHED} --narrate --seed 3")
    battles = Campaign(72, [int(word) for word in UNFINISHED.split()[1:]]).play(
        np.random.default_rng(3)
    )
    lines = result.stdout.splitlines()
    assert len(lines) == len(battles) + 1
    assert lines[0].startswith("Territory 1: 72 armies attack 22; ")
    assert result.stdout == run(f"campaign {UNFINISHED} --narrate --seed 3").stdout
    record = json.loads(run(f"campaign {UNFINISHED} --narrate --seed 3 --json").stdout)
    assert record["seed"] == 3
    assert record["battles"] == [battle._asdict() for battle in battles]


def test_narrate_without_a_seed_says_how_to_play_it_again(run: Run) -> None:
    told = run("campaign 20 5 5 --narrate").stdout
    seed = told.split()[-1]
    assert run(f"campaign 20 5 5 --narrate --seed {seed}").stdout == told


def test_need_begins_with_the_answer(run: Run) -> None:
    lines = run("need 10 --chance 95%").stdout.splitlines()
    assert lines[0] == (
        "You need 19 armies to beat 10 with a chance of at least 95%: with 19 it is 95.04%."
    )


@pytest.mark.parametrize("chance", ["95%", "0.95", "19/20"])
def test_need_json(run: Run, chance: str) -> None:
    record = read_json(run, f"need 10 --chance {chance} --rules capital --keep 2")
    assert record == {
        "defenders": 10,
        "chance": 0.95,
        "keep": 2,
        "rules": "capital",
        "attackers": armies_needed(10, 0.95, "capital", keep=2),
        "win_probability": record["win_probability"],
    }
    assert list(record) == [
        "defenders",
        "chance",
        "keep",
        "rules",
        "attackers",
        "win_probability",
    ]
    law = Battle(record["attackers"], 10, "capital").outcomes()
    kept = law.prob(lambda end: not end.defenders and end.attackers - 1 >= 2)
    assert record["win_probability"] == pytest.approx(float(kept), rel=1e-13)


def test_need_of_a_campaign(run: Run) -> None:
    record = read_json(run, "need 22 8:capital 2 --chance 90%")
    assert record["defenders"] == [22, 8, 2]
    way: list[int | Territory] = [22, Territory(8, "capital"), 2]
    assert Campaign(record["attackers"], way).win_probability() >= 0.9
    assert Campaign(record["attackers"] - 1, way).win_probability() < 0.9
    rows = read_csv(run, "need 3 2 --exact")
    assert rows[0] == ["defenders", "chance", "keep", "rules", "attackers", "win_probability"]
    exact = Campaign(int(rows[1][4]), [3, 2]).win_probability(exact=True)
    assert Fraction(rows[1][5]) == exact


def test_table_csv_has_all_digits(run: Run) -> None:
    rows = read_csv(run, "table 20 12 --rules capital")
    assert rows[0] == ["attackers", *map(str, range(1, 13))]
    assert [row[0] for row in rows[1:]] == [str(a) for a in range(1, 21)]
    printed = [[float(cell) for cell in row[1:]] for row in rows[1:]]
    assert printed == win_table(20, 12, "capital").tolist()
    exact = read_csv(run, "table 3 2 --exact")
    assert exact[1] == ["1", "0/1", "0/1"]
    assert exact[3] == ["3", "1955/2592", str(Battle(3, 2).win_probability(exact=True))]


def test_table_json(run: Run) -> None:
    record = read_json(run, "table 4 3 --garrison 0")
    assert record["win_probability"] == win_table(4, 3, garrison=0).tolist()
    assert (record["attackers"], record["defenders"], record["garrison"]) == (4, 3, 0)


def test_table_fits_the_terminal(run: Run) -> None:
    lines = run("table 30 30").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "against 15 to 28 defenders" in lines


def test_roll_tells_counts_and_means(run: Run) -> None:
    text = run("roll 3 2").stdout
    assert "costs you 0.9209 armies and them 1.0791." in text
    assert "you lose 0, they lose 2: 2890 of 7776 rolls" in text
    record = read_json(run, "roll 3 3 --rules capital")
    assert [loss["count"] for loss in record["losses"]] == [6420, 10017, 12348, 17871]
    assert read_csv(run, "roll 1 1 --exact")[1:] == [["0", "1", "5/12"], ["1", "0", "7/12"]]


def test_rules_are_listed_and_explained(run: Run) -> None:
    assert "\ncapital " in run("rules").stdout
    text = run("rules general").stdout
    assert text.startswith("attack leader: One is added to the highest attack die.\n")
    assert run("rules --rules general").stdout == text
    assert [each["name"] for each in read_json(run, "rules teg")["rules"]] == ["risiko"]
    assert read_csv(run, "rules")[0] == [
        "name",
        "aliases",
        "description",
        "source",
        "full_roll",
        "win_probability",
        "break_even_ratio",
        "break_even_attackers",
    ]


def test_iacta_alone_shows_help_with_examples(run: Run) -> None:
    result = run("")
    assert result.code == 0
    for command in ("battle", "defend", "board", "audit", "batch"):
        assert f"iacta {command}" in result.stdout


@pytest.mark.parametrize("line", ["-h", "--help", "battle -h", "need --help"])
def test_help_is_had_in_both_spellings(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stderr) == (0, "")
    assert "Usage: iacta" in result.stdout


def test_colour_only_on_a_terminal(run: Run) -> None:
    for line in ("battle 12 10", f"campaign {UNFINISHED}", "need 10", "table 9 9", "roll 3 2"):
        assert "\x1b" not in run(line).stdout


def test_colour_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "iacta", "battle", "12", "10"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=theirs, env=environment):  # noqa: S603 # our own command
        os.close(theirs)
        printed = b""
        while chunk := read_terminal(ours):
            printed += chunk
    os.close(ours)
    assert b"\x1b[32m" in printed


def read_terminal(terminal: int) -> bytes:
    """Return what the terminal has to read, nothing once the command has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


@pytest.mark.parametrize("columns", [1, 20, 40, 60, 80, 200])
def test_no_number_is_cut_in_a_narrow_window(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = run("battle 12 10").stdout
    assert "…" not in wide
    assert "your armies left             4.44                  1       4               10" in wide
    assert all("%" in line for line in wide.splitlines() if "of yours left" in line)
    assert "2@3           96.66%          94.24%" in run("campaign 30 8:capital 2@3 4").stdout


def test_answers_are_labelled_with_the_rules_that_were_asked(run: Run) -> None:
    assert "(bunker)" in run("battle 12 10 --rules bunker").stdout
    assert read_json(run, "battle 12 10 --rules TEG")["rules"] == "risiko"
    territories = read_json(run, "campaign 12 3:stronghold 2 --rules bunker")["territories"]
    assert [each["rules"] for each in territories] == ["defence leader", "bunker"]


def test_fractions_of_thousands_of_digits_are_printed(run: Run) -> None:
    text = run("battle 1000 1000 --exact").stdout
    numerator, _, denominator = text.splitlines()[1].removeprefix("Exactly: ").partition("/")
    assert len(numerator) > 4300
    assert len(denominator) > 4300
    assert len(read_json(run, "battle 1000 1000 --exact")["win_probability_exact"]) > 8600


def test_a_wanted_chance_is_said_with_all_its_digits(run: Run) -> None:
    assert "at least 99.99999999%:" in run("need 3 --chance 0.9999999999").stdout
    assert "at least 2/3:" in run("need 3 --chance 2/3").stdout


def test_one_army_is_singular(run: Run) -> None:
    assert run("battle 1 1 --garrison 0").stdout.startswith("1 army beats 1 with a chance")
    assert run("campaign 1 5").stdout == "1 army cannot attack: 1 must stay behind.\n"
    assert "a roll of 1 attack die against 1 costs" in run("roll 1 1").stdout


def test_bars_are_as_long_as_the_chances(run: Run) -> None:
    lines = [line for line in run("battle 12 10").stdout.splitlines() if "█" in line]
    assert max(map(len, lines)) <= 80
    chances = [float(line.split("%")[0].split()[-1]) for line in lines]
    lengths = [line.count("█") for line in lines]
    assert sorted(lengths) == [lengths[i] for i in np.argsort(chances, kind="stable")]
    assert sum(chances) == pytest.approx(100, abs=0.6)


def test_a_battle_too_large_to_list_has_its_chance(run: Run) -> None:
    line = "battle 853414372544 1000000000000"
    text = run(line).stdout.splitlines()
    assert text[0] == "853414372544 armies beat 1000000000000 with a chance of 50.00%."
    record = read_json(run, line)
    assert record["win_probability"] == pytest.approx(0.5, abs=1e-6)
    assert (record["method"], record["outcomes"]) == ("leap", [])
    assert record["expected_attackers_left"] is None
    assert run(f"{line} --csv").code == 2


def test_a_large_battle_is_told_as_a_small_one(run: Run) -> None:
    record = read_json(run, "battle 20001 20000")
    assert record["method"] == "leap"
    assert sum(end["probability"] for end in record["outcomes"]) == pytest.approx(1, abs=1e-12)
    assert record["win_probability"] == pytest.approx(1)


def test_balanced_blitz_can_be_certain(run: Run) -> None:
    certain = run("battle 21 15 --rules balanced-blitz").stdout
    assert certain.startswith("21 armies beat 15 with a chance of 100% (balanced blitz).")
    need = run("need 10 --chance 100% --rules balanced-blitz").stdout.splitlines()
    assert need[0] == (
        "You need 16 armies to beat 10 with a chance of at least 100%: with 16 it is 100% "
        "(balanced blitz)."
    )
    assert "15 armies    98.9%" in need[4]
    assert "16 armies   100.0%" in need[5]
    campaign = run("campaign 106 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --rules balanced-blitz").stdout
    assert "with a chance of more than 99.99%" in campaign
    campaign = run("campaign 107 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --rules balanced-blitz").stdout
    assert "with a chance of 100%" in campaign
    record = json.loads(run("battle 21 15 --rules balanced-blitz --json").stdout)
    assert (record["method"], record["win_probability"]) == ("balanced_blitz", 1.0)
    refused = run("need 10 --chance 100%")
    assert (
        refused.stderr == "iacta: --chance must be less than 1, as no win is certain, got '100%'\n"
    )


SEEN = "--rules defender-sees-first"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("battle 11 10", "11 armies beat 10 with a chance of 45.29% (defender sees first)."),
        ("battle 11 10 --stop-at 3", "a chance of 19.32%, and stop with 80.68%"),
        ("campaign 30 5 5 3", "30 armies take all 3 territories with a chance of 98.75%"),
        ("campaign 30 5 5 3 --narrate --seed 3", "Territory 1: 30 armies attack 5;"),
        ("need 10 --chance 90%", "You need 19 armies to beat 10"),
        ("need 10 5 --chance 50%", "You need 18 armies to take all 2 territories"),
        ("need 10 --chance 90% --keep 4", "You need 21 armies to beat 10 and keep 4"),
        ("defend 12 --chance 90%", "You need 18 defenders to hold against 12 armies"),
        ("defend 40 --armies 30 --territories 6", "Put 6 2 2 2 2 16 armies: 40 attackers then"),
        ("table 6 4", "        6  99  88  73  57"),
        ("rules --csv", "defender sees first,"),
    ],
)
def test_a_defender_who_sees_first_is_told_of(run: Run, line: str, part: str) -> None:
    result = run(line if line.startswith("rules") else f"{line} {SEEN}")
    assert (result.code, result.stderr) == (0, "")
    assert part in result.stdout


@pytest.mark.parametrize(
    "line",
    [
        "battle 11 10 --charge",
        "simulate 12 10",
        "decide 20 10 --prize 3",
        "decide 20 10 --mix",
    ],
)
def test_what_cannot_be_told_of_him_is_refused_in_a_sentence(run: Run, line: str) -> None:
    result = run(f"{line} {SEEN}")
    assert result.code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("iacta: ")
    assert result.stderr.count("\n") == 1
    assert "defender" in result.stderr
    assert "first" in result.stderr
