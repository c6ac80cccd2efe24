"""Pictures drawn by `--plot` and by `iacta chart`."""

import json
from pathlib import Path

import pytest

from iacta import armies_needed, defenders_needed, win_probability
from tests.cases import for_each
from tests.cli.run import Run
from tests.tables import table


@for_each(*table(__file__, "plots_of_answers"))
def test_an_answer_is_printed_and_drawn(run: Run, line: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    plain, drawn = run(line), run(f"{line} --plot {file} --dark")
    assert (drawn.code, drawn.stderr) == (0, f"iacta: wrote {file}\n")
    assert drawn.stdout == plain.stdout or line.startswith("compare")  # times vary
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert words in spec["description"]


@pytest.mark.parametrize(*table(__file__, "plots_of_charts"))
def test_the_command_chart_draws_more_figures(
    run: Run, line: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "chart.json"
    result = run(f"chart {line.format(file)}")
    assert result == (0, "", f"iacta: wrote {file}\n")
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert words in spec["description"]


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


def test_tables_are_coloured_only_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("table 3 3").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("table 3 3").stdout
