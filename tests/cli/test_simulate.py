"""`iacta simulate`: what it prints for people, as JSON and as CSV, and what it refuses."""

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from iacta import Campaign, IllegalError, Territory, simulate_campaign
from tests.cli.run import HANGING, STARTED, Run

UNFINISHED = "72 22 8 2 2 2 7 1 1 3 1 2 3 5 1"
WRONG = {
    "0 3": "attackers must be a whole number of at least 1, got 0",
    "12 3 -4": "defenders must be a whole number of at least 1, got -4",
    "12": "missing DEFENDERS; see iacta simulate --help",
    "12 3 --runs 0": "--runs must be a whole number of at least 1, got 0",
    "12 3 --runs -5": "--runs must be a whole number of at least 1, got -5",
    "12 3 --runs many": "--runs must be a whole number of at least 1, got 'many'",
    "12 3 --runs 1.5": "--runs must be a whole number of at least 1, got '1.5'",
    "12 3 --runs 1.5e0": "--runs must be a whole number of at least 1, got '1.5e0'",
    "12 3 --runs 1e-3": "--runs must be a whole number of at least 1, got '1e-3'",
    "12 3 --runs 1e9999": "--runs must be a whole number of at least 1, got '1e9999'",
    "12 3 --runs 10%": "--runs must be a whole number of at least 1, got '10%'",
    "12 3 --seed x": "--seed must be a whole number of at least 0, got 'x'",
    "12 3 --rules capitol": "unknown rules 'capitol'; did you mean 'capital'?",
    "12 3 --json --csv": "--json cannot be combined with --csv",
    "12 3 --exact": None,
}
TOO_LARGE = ["12 3 --runs 1e999", "12 3 --runs 1e12", "1000000000000 3", f"{10**40} 3"]


def test_it_begins_with_the_answer(run: Run) -> None:
    lines = run(f"simulate {UNFINISHED} --runs 1e4 --seed 1").stdout.splitlines()
    territories = [int(word) for word in UNFINISHED.split()[1:]]
    won = simulate_campaign(72, territories, runs=10_000, seed=1).won
    low, high = won.interval()
    assert lines[:5] == [
        f"72 armies took all 14 territories in {won.successes:,} of 10,000 games: "
        f"{float(100 * won.probability):.2f}%.",
        f"The 95% interval for the true chance: {100 * low:.2f}% to {100 * high:.2f}%.",
        "The exact chance is 81.05%, inside that interval.",
        "",
        "How it ended:",
    ]
    assert lines[5].startswith("all taken, ")
    assert lines[-1] == "To repeat these dice: --seed 1"


def test_one_territory_under_other_rules(run: Run) -> None:
    printed = run("simulate 9 4 --rules Capital --runs 1 --seed 1").stdout
    assert printed.startswith("9 armies took the territory in ")
    assert " of 1 game: " in printed.splitlines()[0]
    assert printed.splitlines()[0].endswith("% (capital).")


def test_what_no_method_computes_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> float:
        raise IllegalError("no method computes this")

    monkeypatch.setattr(Campaign, "win_probability", refuse)
    assert "exact" not in run("simulate 5 2 --runs 100").stdout
    record = json.loads(run("simulate 5 2 --runs 100 --json").stdout)
    assert record["computed_win_probability"] is None


def test_five_ones_can_be_simulated(run: Run) -> None:
    printed = run("simulate 5 2 --runs 2000 --seed 1").stdout
    with_gains = run("simulate 5 2 --runs 2000 --seed 1 --rules five-ones")
    assert (with_gains.code, with_gains.stderr) == (0, "")
    assert " (five ones)." in with_gains.stdout
    assert with_gains.stdout != printed


def test_a_seed_throws_the_same_dice_and_none_throws_others(run: Run) -> None:
    told = run("simulate 20 5 5 --runs 500").stdout
    seed = told.split()[-1]
    assert run(f"simulate 20 5 5 --runs 500 --seed {seed}").stdout == told
    assert len({run("simulate 20 5 5 --runs 500").stdout for _ in range(3)}) > 1


def test_too_few_armies_cannot_attack(run: Run) -> None:
    printed = run("simulate 2 3 --garrison 2 --runs 10").stdout
    assert printed == "2 armies cannot attack: 2 must stay behind.\n"


def test_json(run: Run) -> None:
    result = run("simulate 9 2 3:capital@2 1 --runs 300 --seed 4 --json")
    record = json.loads(result.stdout)
    assert list(record) == [
        "attackers",
        "rules",
        "territories",
        "runs",
        "seed",
        "won",
        "win_probability",
        "interval",
        "computed_win_probability",
        "outcomes",
    ]
    way = [Territory(2), Territory(3, "capital", 2), Territory(1)]
    simulated = simulate_campaign(9, way, runs=300, seed=4)
    low, high = simulated.won.interval()
    assert (record["attackers"], record["rules"]) == (9, "classic")
    assert [each["rules"] for each in record["territories"]] == ["classic", "capital", "classic"]
    assert (record["runs"], record["seed"], record["won"]) == (300, 4, simulated.won.successes)
    assert record["win_probability"] == float(simulated.won.probability)
    assert record["interval"] == {"level": 0.95, "low": low, "high": high}
    assert record["computed_win_probability"] == Campaign(9, way).win_probability()
    assert sum(end["count"] for end in record["outcomes"]) == 300
    assert {
        (end["conquered"], end["attackers"], end["defenders"]): end["probability"]
        for end in record["outcomes"]
    } == dict(simulated.outcomes.to_float())


def test_csv(run: Run) -> None:
    result = run("simulate 3 1 1 --runs 300 --seed 4 --csv")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["conquered", "attackers", "defenders", "count", "probability"]
    assert rows[1][0] == "2"
    assert sum(int(row[3]) for row in rows[1:]) == 300
    assert all(float(row[4]) == int(row[3]) / 300 for row in rows[1:])


@pytest.mark.parametrize(("text", "runs"), [("1e3", 1000), ("2.5E2", 250), ("1000", 1000)])
def test_runs_are_read_as_people_write_them(run: Run, text: str, runs: int) -> None:
    record = json.loads(run(f"simulate 3 1 --runs {text} --json").stdout)
    assert record["runs"] == runs


@pytest.mark.parametrize("line", WRONG)
def test_wrong_words_get_one_sentence(run: Run, line: str) -> None:
    result = run(f"simulate {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("iacta: ")
    assert result.stderr.count("\n") == 1
    if WRONG[line] is not None:
        assert result.stderr == f"iacta: {WRONG[line]}\n"


@pytest.mark.parametrize("line", TOO_LARGE, ids=lambda line: line[:20])
def test_what_is_too_large_is_refused(run: Run, line: str) -> None:
    result = run(f"simulate {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 400


def test_a_terminal_sees_the_progress_until_ctrl_c_ends_it_with_130() -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "iacta", "simulate", *UNFINISHED.split(), "--runs", "1e8"]
    window = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, env=window) as process:  # noqa: S603 # our own command
        os.close(theirs)
        shown = b""
        while b"Throwing dice; Ctrl-C stops it." not in shown and (chunk := read_terminal(ours)):
            shown += chunk
        process.send_signal(signal.SIGINT)
        while read_terminal(ours):
            pass
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 130


def read_terminal(terminal: int) -> bytes:
    """Return what the terminal has to read, nothing once the command has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


@pytest.mark.slow
def test_ctrl_c_ends_it_silently_where_no_terminal_sees_it() -> None:
    words = [sys.executable, "-c", STARTED, "simulate", *UNFINISHED.split(), "--runs", "1e8"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 # our own command
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(1.5)  # it works, or still loads on a slow machine
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGING)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")
