"""`iacta decide`: what it prints."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from iacta import best_mix, how_many_dice, when_to_stop
from tests.cli.run import Run

KEYS = [
    "attackers",
    "defenders",
    "rules",
    "objective",
    "action",
    "value",
    "value_exact",
    "win_probability",
    "win_probability_exact",
    "expected_attackers_left",
    "boundary",
]
WRONG = {
    "12 10 --prize -1": "--prize must be a number of at least 0, got '-1'",
    "12 10 --prize land": "--prize must be a number of at least 0, got 'land'",
    "12 10 --army-value -1/2": "--army-value must be a number of at least 0, got '-1/2'",
    "12 10 --kill-value nan": "--kill-value must be a number of at least 0, got 'nan'",
    "12 10 --prize 1e101": "--prize must be at most 1e+100, got '1e101'",
    "0 10": "attackers must be a whole number of at least 1, got 0",
    "12 10 --mix --prize 3": "--mix cannot be combined with --prize",
    "12 10 --mix --exact": "--mix cannot be combined with --exact",
    "12 10 --mix --dice": "--mix cannot be combined with --dice",
    "12 10 --rules balanced-blitz": "rules with balanced blitz cannot be used "
    "to decide roll by roll; best_mix, or iacta decide --mix, shows when to blitz",
    "12 10 --json --csv": "--json cannot be combined with --csv",
}


def read(run: Run, line: str) -> Any:
    """Run the command with --json, and return what it says."""
    result = run(f"decide {line} --json")
    assert (result.code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_it_begins_with_an_order(run: Run) -> None:
    first = [run(f"decide {line}").stdout.splitlines()[0] for line in ("20 10 --prize 10", "12 10")]
    assert first == [
        "Roll: 20 armies against 10 are worth 21.41 if you go on, 20.00 if you stop.",
        "Stop: 12 armies against 10 are worth 12.00 now, and no more if you roll.",
    ]
    assert run("decide 10 10 --mix").stdout.startswith("Roll: with 10 armies against 10, one roll")
    assert run("decide 14 10 --mix").stdout.startswith("Blitz: with 14 armies against 10, ")
    assert run("decide 1 10").stdout == "1 army cannot attack: 1 must stay behind.\n"


def test_the_boundary_is_told_against_each_number(run: Run) -> None:
    lines = run("decide 20 10 --prize 10").stdout.splitlines()
    assert "against 9       10" in lines
    assert "against 10      13" in lines
    assert "against 4    never" in run("decide 12 10").stdout.splitlines()
    many = run("decide 30 40 --prize 50").stdout.splitlines()
    assert sum(line.startswith("against") for line in many) == 20
    assert "--json prints those against fewer." in many


def test_json_of_when_to_stop(run: Run) -> None:
    record = read(run, "12 10 --prize 25/2 --army-value .5 --kill-value 0.25 --rules Capital")
    told = when_to_stop(12, 10, "capital", prize="25/2", army_value="1/2", kill_value="1/4")
    assert list(record) == KEYS
    assert [record[key] for key in KEYS[:-1]] == [
        12,
        10,
        "capital",
        "value",
        told.action,
        told.value,
        None,
        told.win_probability,
        None,
        told.expected_attackers_left,
    ]
    assert record["boundary"] == [each._asdict() for each in told.boundary]


def test_json_of_the_mix(run: Run) -> None:
    for attackers, action in ((1, "stop"), (11, "roll"), (14, "blitz")):
        record, told = read(run, f"{attackers} 10 --mix"), best_mix(attackers, 10)
        assert list(record) == KEYS
        assert (record["objective"], record["action"]) == ("conquest", action)
        assert record["value"] == record["win_probability"] == told.win_probability
        assert record["expected_attackers_left"] == told.expected_attackers_left
        assert record["boundary"] == [each._asdict() for each in told.boundary]


def test_exact_prints_the_fraction(run: Run) -> None:
    text = run("decide 3 1 --prize 2 --exact").stdout
    exact = when_to_stop(3, 1, prize=2, exact=True).value
    assert Fraction(text.splitlines()[2].removeprefix("Exactly: ")) == exact


@pytest.mark.parametrize("options", ["--prize 6", "--mix"])
def test_csv_is_the_whole_rule(run: Run, options: str) -> None:
    rows = list(csv.reader(io.StringIO(run(f"decide 6 4 {options} --csv").stdout)))
    told = best_mix(6, 4) if options == "--mix" else when_to_stop(6, 4, prize=6)
    assert rows[0] == ["attackers", "defenders", "action"]
    assert len(rows) == 1 + 6 * 4
    assert all(action == told.action_at(int(a), int(d)) for a, d, action in rows[1:])


@pytest.mark.parametrize("line", WRONG)
def test_wrong_words_get_one_sentence(run: Run, line: str) -> None:
    result = run(f"decide {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == f"iacta: {WRONG[line]}\n"


@pytest.mark.parametrize("line", [f"{10**9} {10**9}", f"{10**30} 3", "5000 5000 --exact"])
@pytest.mark.parametrize("mix", [False, True])
def test_what_is_too_large_is_refused(run: Run, line: str, mix: bool) -> None:
    if mix:
        line = line.replace("--exact", "").replace("5000", "500000") + " --mix"
    result = run(f"decide {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def test_it_tells_how_many_dice_to_throw(run: Run) -> None:
    lines = run("decide 12 10 --dice").stdout.splitlines()
    assert lines == [
        "Throw 3 dice; the best reply is 2 dice.",
        "If both sides choose best, you take the territory with a chance of 65.38%.",
        "On the way, neither side gains by rolling fewer dice.",
    ]
    assert run("decide 4 4 --dice --prize 3").stdout.startswith(
        "Stop: no number of dice is better."
    )
    told = read(run, "6 5 --dice --rules attack-commander --exact")
    assert (told["attack_dice"], told["objective"]) == (3, "conquest")
    assert told["fewer"] == [{"attackers": 3, "defenders": 2, "attack_dice": 1, "defence_dice": 2}]
    exact = how_many_dice(6, 5, "attack commander", exact=True)
    assert Fraction(told["win_probability_exact"]) == exact.win_probability
    rows = list(csv.DictReader(io.StringIO(run("decide 4 3 --dice --csv").stdout)))
    assert [row["attack_dice"] for row in rows if row["defenders"] == "1"] == ["1", "2", "3"]


def test_fractions_are_told_on_request(run: Run) -> None:
    told, exact = read(run, "3 1 --prize 2 --exact"), when_to_stop(3, 1, prize=2, exact=True)
    assert Fraction(told["value_exact"]) == exact.value
    assert Fraction(told["win_probability_exact"]) == exact.win_probability
    assert read(run, "3 1 --prize 2")["value_exact"] is None


def test_what_is_certain_is_called_so(run: Run) -> None:
    assert "a chance of 100%," in run("decide 21 10 --mix").stdout
    assert "a chance of more than 99.99%," in run("decide 100 2 --prize 50").stdout


def test_it_says_where_more_armies_make_it_right_to_stop_again(run: Run, tmp_path: Path) -> None:
    house = tmp_path / "house.toml"
    house.write_text("[attack]\nfaces = [20, 1]\n", encoding="utf-8")
    warned = "With more armies it can be right to stop again: --csv lists every state."
    assert run(f"decide 4 2 --prize 1 --rules-file {house}").stdout.splitlines().count(warned) == 1
    assert warned not in run("decide 12 10 --prize 10").stdout
