"""`--plot` of the commands that tell of chances and requirements, and the charts of their own."""

import json
from pathlib import Path

import pytest

from iacta import armies_needed, defenders_needed, win_probability
from tests.cli.run import Run

PLOTTED = {
    "need 5 --chance 90%": "beat 5 defenders",
    "need 3 2 --keep 1": "take all 2 territories, and keep 1",
    "defend 6 --chance 80%": "hold against 6 armies",
    "defend 10 --armies 9 --territories 3": "9 armies over 3 territories",
    "rules": "10 armies against 10 win",
    "rules capital": "3 dice against 3",
    "compare 4 3": "4 armies against 3",
    "table 4 3": "Chance to win each battle",
}


@pytest.mark.parametrize("line", PLOTTED)
def test_the_answer_is_drawn_and_still_told(run: Run, tmp_path: Path, line: str) -> None:
    file = tmp_path / "answer.json"
    ended = run(f"{line} --plot {file}")
    assert ended.code == 0
    assert ended.stdout == run(line).stdout or line.startswith("compare")  # its times differ
    assert PLOTTED[line] in json.loads(file.read_text(encoding="utf-8"))["description"]


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
