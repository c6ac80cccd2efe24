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
WRONG = {
    "chart states {} 12 10": "a battle whose states are drawn must have at most 15 of them, got "
    "12 against 10 with 85",
    "chart after-rolls {} 12 10 --rolls 1,x": "--rolls must be a whole number of at least 0, got "
    "'x'",
    "chart boundary {} 3 1": "a battle that comes to its boundary must start with at least 5 "
    "attackers against 3 defenders, got 3 against 1",
    "chart matrix {} 0 3": "attackers must be a whole number of at least 1, got 0",
    "chart score {} 12 4 --runs 0": "--runs must be a whole number of at least 1, got 0",
    "chart convergence {} 12 4 --seed -1": "--seed must be a whole number of at least 0, got -1",
    "chart difference {} 12 4 --rules capitol": "unknown rules 'capitol'; did you mean 'capital'?",
    "campaign 12 4 --narrate --plot {}": "--plot cannot be combined with --narrate",
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


@pytest.mark.parametrize("line", WRONG)
def test_wrong_words_get_one_sentence(run: Run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "chart.json"
    result = run(line.format(file))
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == f"iacta: {WRONG[line]}\n"
    assert not file.exists()


def test_decide_draws_its_map_in_letters(run: Run) -> None:
    lines = run("decide 5 4 --prize 5").stdout.splitlines()
    start = lines.index("The map (R roll, . stop), attackers upwards, defenders to the right:")
    assert lines[start + 1 :] == [
        "7  R  R  R  R",
        "6  R  R  R  R",
        "5  R  R  R [R]",
        "4  R  R  R  .",
        "3  R  R  .  .",
        "2  R  .  .  .",
        "1  .  .  .  .",
        "   1  2  3  4",
    ]


def test_a_large_map_is_thinned_and_keeps_its_battle(run: Run) -> None:
    lines = run("decide 301 203 --prize 150").stdout.split("The map")[1].splitlines()[1:]
    assert len(lines) <= 21
    assert lines[-1].split()[-1] == "203"
    assert [line.split()[0] for line in lines if "[" in line] == ["301"]
    assert max(map(len, lines)) <= 90
