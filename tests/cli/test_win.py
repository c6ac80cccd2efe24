"""`iacta win` and `iacta goals`: sources of the turn, and errors."""

import json
from pathlib import Path

import pytest

from iacta import Turn, ask, read_position
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from tests.cases import for_each
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
        (
            ["win", CODE, "--player", "best"],
            "--player must be usual, keeper, strong or simple, got",
        ),
        (["win", CODE, "--games", "1"], "--games must be a whole number from 2 to 1000000, got 1"),
        (["win"], "missing position, --code or --from"),
        (["win", CODE, "--code", CODE], "cannot be combined"),
        (["win", "no-such-file"], "cannot read 'no-such-file': no such file"),
    ],
)
def test_invalid_questions_get_one_sentence(words: list[str], sentence: str, run: Run) -> None:
    said = run.words(words)
    assert (said.code, said.stdout) == (2, "")
    assert sentence in said.stderr
    assert said.stderr.count("\n") == 1


@for_each(
    ("options", "sentence"),
    [
        ("majority", "--win-by must be one of survivor, share, capitals, missions, got 'majority'"),
        ("survivor=3", "--win-by survivor must have no value, got '3'"),
        ("share", "--win-by share must be like 70%, or a number of territories, got ''"),
        ("share=170%", "--win-by share must be like 70%, or a number of territories, got '170%'"),
        ("share=0", "--win-by share must be a whole number of at least 1, got 0"),
        ("share=43", "--win-by share must be at most 42 territories, got 43; did you mean 43%?"),
        ("share=70% --capital red=Peru", "--capital also needs --win-by capitals"),
        ("share=70% --mission red=Asia", "--mission also needs --win-by missions"),
        ("capitals", "--capital must be given for each player, got none"),
        ("capitals --capital red=Peru", "--capital of blue is missing"),
        (
            "capitals=3 --capital red=Peru,blue=Brazil",
            "--win-by capitals must be a whole number from 1 to 2, got 3",
        ),
        (
            "capitals --capital red=Peru,blue=Mars",
            "--capital of blue: board 'classic' has no territory 'Mars'",
        ),
        (
            "capitals --capital red=Peru,blue=Alaska",
            "--capital of blue must be owned by a player, got Alaska",
        ),
        (
            "capitals --capital red=Peru,blue=Peru",
            "--capital must differ between players, got Peru twice",
        ),
        (
            "capitals --capital red=Peru,green=Brazil",
            "--capital must name each player of the game once (red, blue), got 'green'",
        ),
        (
            "capitals --capital red=Peru,red=Brazil",
            "--capital must name each player once, got 'red' twice",
        ),
        ("missions", "--mission must be given for each player, got none"),
        (
            "missions --mission red=Mars --mission blue=Asia",
            "--mission of red must name continents of the board (North America, South America, "
            "Europe, Africa, Asia, Australia), got 'Mars'",
        ),
        (
            "missions --mission red=hidden --mission red=Asia",
            "--mission must name each player once, got 'red' twice",
        ),
        (
            "missions=43 --mission red=Asia --mission blue=Africa",
            "--win-by missions must be at most 42, the number of territories, got 43",
        ),
    ],
)
@for_each("command", ["win", "plan"])
def test_an_unfit_condition_is_refused_in_one_sentence(
    run: Run, command: str, options: str, sentence: str
) -> None:
    end = "--win" if command == "plan" else ""
    result = run(f"{command} 1;classic;red;Peru:red:3,Brazil:blue:2 --win-by {options} {end}")
    assert (result.code, result.stdout, result.stderr) == (2, "", f"iacta: {sentence}\n")


@pytest.mark.parametrize(
    ("mission", "sentence"),
    [
        (
            "18 territories with x armies",
            "--mission of red must be like '24 territories' or '18 territories with 2 armies', "
            "got '18 territories with x armies'",
        ),
        (
            "0 territories",
            "--mission of red: number of territories must be a whole number of at least 1, got 0",
        ),
        (
            "hidden",
            "--mission-cards: a card must be like '24 territories' or "
            "'18 territories with 2 armies', got 'x territories'",
        ),
    ],
)
def test_a_malformed_mission_is_refused_with_the_form(
    run: Run, mission: str, sentence: str, tmp_path: Path
) -> None:
    cards = tmp_path / "cards.toml"
    cards.write_text('missions = ["x territories"]')
    end = ("--mission-cards", str(cards)) if mission == "hidden" else ()
    missions = (
        "--mission",
        f"red={mission}",
        "--mission",
        "blue=Asia",
        "--mission",
        "green=Africa",
        *end,
    )
    result = run.words(["win", CODE, "--win-by", "missions", *missions])
    assert (result.code, result.stdout, result.stderr) == (2, "", f"iacta: {sentence}\n")
