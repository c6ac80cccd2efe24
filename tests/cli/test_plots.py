"""The pictures that commands draw beside their answers, and those that only `iacta chart` draws."""

import json
from pathlib import Path

import pytest

from iacta import armies_needed, defenders_needed, win_probability
from tests.cli.run import Run

OWNED = {
    "need 5 --chance 90%": "to beat 5 with a chance of at least 90%",
    "need 3 2 --keep 1": "take all 2 territories and keep 1",
    "defend 6 --chance 80%": "hold against 6 armies",
    "defend 10 --armies 9 --territories 3": "9 armies over 3 territories",
    "rules": "10 armies against 10 win",
    "rules capital": "3 dice against 3",
    "compare 4 3": "4 armies against 3",
    "table 4 3": "Chance to win each battle",
    "battle 9 7": "9 armies beat 7 with a chance of 64.29%.",
    "campaign 12 4 3": "12 armies take all 2 territories",
    "roll 3 2": "costs you 0.9209 armies and them 1.0791.",
    "simulate 9 7 --runs 100 --seed 1": "Won in ",
    "decide 12 10 --mix": "Roll now. To blitz against 10 takes at least 14 armies.",
    "decide 12 4 --prize 5": "A territory worth 5: roll at 12 against 4. To roll against 4 takes "
    "at least 5 armies.",
}
OTHERS = {
    "difference {} 9 7 --garrison 0": "The likeliest single end",
    "score {} 12 4 3 --runs 100 --seed 1": "on average.",
    "states {} 4 2": "9 states, and 7 ways to the end.",
    "tree {} 4 3 --rules capital": "10 states, and 8 ways to the end.",
    "after-rolls {} 12 10 --rolls 1,2": "After 2 rolls it is most often 10 against 8",
    "boundary {} 12 10": "Most often it leaves the free space at 6 against 2",
    "matrix {} 11 10": "of 14,400 entries 301 are not 0.",
    "convergence {} 9 7 --runs 100 --seed 1": "of 100 games; the exact chance is",
}


@pytest.mark.parametrize("line", OWNED)
def test_an_answer_is_printed_and_drawn(run: Run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    plain, drawn = run(line), run(f"{line} --plot {file} --dark")
    assert (drawn.code, drawn.stderr) == (0, f"iacta: wrote {file}\n")
    assert drawn.stdout == plain.stdout or line.startswith("compare")  # its times differ
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert OWNED[line] in spec["description"]


@pytest.mark.parametrize("line", OTHERS)
def test_what_no_command_owns_is_drawn_by_chart(run: Run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "chart.json"
    result = run(f"chart {line.format(file)}")
    assert result == (0, "", f"iacta: wrote {file}\n")
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert OTHERS[line] in spec["description"]


def test_the_pictures_mark_the_answer(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.csv"
    run(f"need 5 --chance 90% --plot {file}")
    enough = [row for row in file.read_text(encoding="utf-8").splitlines() if "True" in row]
    assert int(enough[0].split(",")[0]) == armies_needed(5, "90%")
    run(f"defend 6 --chance 80% --plot {file}")
    enough = [row for row in file.read_text(encoding="utf-8").splitlines() if "True" in row]
    assert int(enough[0].split(",")[0]) == defenders_needed(6, "80%")


def test_the_garrison_and_the_rules_reach_the_chart(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chart.csv"
    run(f"chart match-ups {file} --defenders 2 --attackers 3 --rules capital --garrison 0")
    last = file.read_text(encoding="utf-8").splitlines()[-1]
    assert float(last.split(",")[-1]) == win_probability(3, 2, "capital", garrison=0)


def test_a_table_is_coloured_on_a_terminal_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("table 3 3").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("table 3 3").stdout
