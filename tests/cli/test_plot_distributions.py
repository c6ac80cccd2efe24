"""The pictures of distributions, states and decisions, as commands."""

import json
from pathlib import Path

import pytest

from tests.cli.run import Run

OWNED = {
    "battle 9 7": "You win 64% of the time.",
    "campaign 12 4 3": "You take all 2 territories",
    "roll 3 2": "A roll costs you 0.92 and them 1.08 armies on average.",
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
    assert drawn == plain._replace(stderr=f"iacta: wrote {file}\n")
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert OWNED[line] in spec["description"]


@pytest.mark.parametrize("line", OTHERS)
def test_what_no_command_owns_is_drawn_by_chart(run: Run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "chart.json"
    result = run(f"chart {line.format(file)}")
    assert result == (0, "", f"iacta: wrote {file}\n")
    spec = json.loads(file.read_text(encoding="utf-8"))
    assert OTHERS[line] in spec["description"]
