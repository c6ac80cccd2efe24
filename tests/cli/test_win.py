"""`iacta win` and `iacta goals`: sources of the turn, and errors."""

import json

import pytest

from iacta import Turn, ask, read_position
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from tests.cli.run import Run

pytestmark = pytest.mark.usefixtures("core")

CODE = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"


def test_a_file_may_hold_a_code_or_a_position(run: Run) -> None:
    said = run("win examples/who-wins.txt --games 4 --json")
    assert json.loads(said.stdout)["player"] == "red"
    position = read_position("examples/asia.toml")
    assert ask("win", position=position, games=4).record()["player"] == position.player


GROWS = Turn(read_position(CODE), Rules(mode=ArmiesGrow())).to_code()
OVER = "1;classic;red;Peru:red:9"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["win", GROWS], "whole game"),
        (["goals", GROWS], "whole game"),
        (["goals", OVER], "the game is over: red has won"),
        (["win", CODE, "--player", "best"], "--player must be simple, usual or yardstick, got"),
        (["win", CODE, "--games", "1"], "--games must be a whole number from 2 to 1000000, got 1"),
        (["win"], "missing position or --code"),
        (["win", CODE, "--code", CODE], "cannot be combined"),
        (["win", "no-such-file"], "cannot read 'no-such-file': no such file"),
    ],
)
def test_invalid_questions_get_one_sentence(words: list[str], sentence: str, run: Run) -> None:
    said = run.words(words)
    assert (said.code, said.stdout) == (2, "")
    assert sentence in said.stderr
    assert said.stderr.count("\n") == 1
