"""`iacta plan` reads codes of positions and turns, and says the code of what it was asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from iacta import Position, Turn, classic_board, read_board
from iacta.board.position import read_position
from iacta.game import Hand, Sets
from iacta.questions.plan import PlanQuestion
from tests.cli.run import Run

HELD = {"Peru": ("red", 6), "Brazil": ("blue", 2), "Argentina": ("blue", 1)}
START = Position(classic_board(), "red", HELD)


def test_a_code_is_a_position(run: Run, tmp_path: Path) -> None:
    code = START.to_code()
    assert read_position(code) == START
    file = tmp_path / "start.txt"
    file.write_text(f"{code}\n", encoding="utf-8")
    assert read_position(file) == START
    answers = {run(f"plan {each} --take Brazil").stdout for each in (code, str(file))}
    assert len(answers) == 1
    assert "You take Brazil" in answers.pop()


def test_an_answer_has_the_code_of_its_turn(run: Run) -> None:
    words = "--take Brazil,Argentina --keep Peru:2 --rules capital --json"
    first = json.loads(run(f"plan {START.to_code()} {words}").stdout)
    again = json.loads(run(f"plan {first['code']} --take Brazil,Argentina --json").stdout)
    assert Turn.from_code(first["code"]).keep["Peru"] == 2
    assert {**again, "seconds": 0} == {**first, "seconds": 0}


def test_the_code_of_a_turn_says_its_rules_and_constraints() -> None:
    options: dict[str, Any] = {
        "keep": {"Peru": 2},
        "rules_of": {"Brazil": "capital"},
        "whole_battles": True,
    }
    turn = Turn(START, "zombie attacker", stay="Peru", place=3, **options)
    asked = PlanQuestion(turn.to_code(), take="Brazil")
    assert asked == PlanQuestion(
        START,
        take="Brazil",
        rules=turn.rules,
        keep=(("Peru", 2),),
        rules_of=(("Brazil", "capital"),),
        stay="Peru",
        reinforce=3,
        play="battles",
    )
    assert PlanQuestion(turn.to_code(), take="Brazil", reinforce=1).reinforce == 1
    assert PlanQuestion(turn.to_code(), take="Brazil", rules="classic").rules == "classic"


def test_cards_of_a_code_count_where_a_player_is_eliminated() -> None:
    cards: dict[str, Hand | int] = {"red": 2, "blue": Hand(infantry=3)}
    code = Turn(START, cards=cards, trade=Sets((10,)), fortify="none").to_code()
    asked = PlanQuestion(code, eliminate="blue")
    assert dict(asked.cards or ()) == {"red": 2, "blue": 3}
    assert asked.trade == Sets((10,))
    assert (asked.fortify, PlanQuestion(code, take="Brazil").cards) == (None, None)
    assert PlanQuestion(code, take="Brazil", hold=True).fortify == "none"


def test_a_code_of_another_board_needs_that_board(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[territories]\nA = ["B"]\nB = []\n', encoding="utf-8")
    text = Position(read_board(file), "red", {"A": ("red", 5), "B": ("blue", 2)}).to_code()
    assert run(f"plan {text} --board {file} --take B").code == 0
    assert "pass that board" in run(f"plan {text} --take B").stderr


@pytest.mark.parametrize("phase", ["fortify", "over"])
def test_a_turn_whose_attacks_are_over_is_refused(run: Run, phase: str) -> None:
    ended = run(f"plan {START.to_code()};{phase} --take Brazil")
    assert (ended.code, ended.stdout) == (2, "")
    assert f"got one in the phase '{phase}'" in ended.stderr


def test_a_file_may_hold_the_code_of_a_turn(run: Run, tmp_path: Path) -> None:
    code = Turn(START, "capital", keep={"Peru": 3}).to_code()
    file = tmp_path / "turn.txt"
    file.write_text(f"{code}\n", encoding="utf-8")
    said, again = (run(f"plan {each} --take Brazil").stdout for each in (code, str(file)))
    assert said == again != run(f"plan {START.to_code()} --take Brazil").stdout
