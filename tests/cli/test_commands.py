"""Output of commands: text, JSON and CSV."""

import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.run import Run, read_terminal


def read_json(run: Run, line: str) -> Any:
    """Run a command with `--json` and parse the output."""
    result = run(f"{line} --json")
    assert (result.code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_narrate_without_a_seed_prints_the_seed(run: Run) -> None:
    said = run("campaign 20 5 5 --narrate").stdout
    seed = said.split()[-1]
    assert run(f"campaign 20 5 5 --narrate --seed {seed}").stdout == said


def test_terminals_show_colours() -> None:
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


@pytest.mark.parametrize("columns", [1, 20, 40, 60, 80, 200])
def test_a_narrow_window_does_not_truncate_numbers(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = run("battle 12 10").stdout
    assert "…" not in wide
    assert (
        "your armies left                4.44                  1        4               10" in wide
    )
    assert all("%" in line for line in wide.splitlines() if "of yours left" in line)
    assert "2@3           96.66%          94.24%" in run("campaign 30 8:capital 2@3 4").stdout


def test_fractions_of_thousands_of_digits_are_printed(run: Run) -> None:
    text = run("battle 1000 1000 --exact").stdout
    numerator, _, denominator = text.splitlines()[1].removeprefix("Exactly: ").partition("/")
    assert len(numerator) > 4300
    assert len(denominator) > 4300
    assert len(read_json(run, "battle 1000 1000 --exact")["win_probability_exact"]) > 8600


def test_large_battles_have_the_same_output_as_small_ones(run: Run) -> None:
    record = read_json(run, "battle 20001 20000")
    assert record["method"] == "leap"
    assert sum(end["probability"] for end in record["outcomes"]) == pytest.approx(1, abs=1e-12)
    assert record["win_probability"] == pytest.approx(1)


def test_a_table_against_one_defender_has_a_title_in_the_singular(run: Run) -> None:
    assert "\nagainst 1 defender\n" in run("table 3 1").stdout
    assert "\nagainst 1 to 2 defenders\n" in run("table 3 2").stdout


def test_a_roll_under_missiles_is_one_without_a_missile(run: Run) -> None:
    sentence = "This is a roll in which nobody uses missiles."
    assert sentence in run("roll 3 2 --rules missile").stdout
    assert sentence not in run("roll 3 2").stdout
