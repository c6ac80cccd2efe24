"""`iacta plan` reads codes of positions and turns, and prints the code of its turn."""

import json
from pathlib import Path
from typing import Any

import pytest

from iacta import Position, Turn, ask, classic_board, read_board
from iacta.board.position import read_position
from iacta.game import Hand, Sets
from iacta.game.codes import write_turn_code
from iacta.game.state import TurnData
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


def test_the_code_of_a_turn_includes_rules_and_constraints() -> None:
    options: dict[str, Any] = {
        "keep": {"Peru": 2},
        "rules_of": {"Brazil": "capital"},
        "whole_battles": True,
    }
    turn = Turn(START, "zombie attacker", stay="Peru", place=3, **options)
    asked = PlanQuestion(turn.to_code(), take="Brazil")
    spelt_out = PlanQuestion(
        START,
        take="Brazil",
        rules=turn.rules,
        keep=(("Peru", 2),),
        rules_of=(("Brazil", "capital"),),
        stay="Peru",
        reinforce=3,
        play="battles",
    )
    assert asked.turn == spelt_out.turn == turn
    assert PlanQuestion(turn.to_code(), take="Brazil", reinforce=1).turn.place == 1
    classic = PlanQuestion(turn.to_code(), take="Brazil", rules="classic").turn
    assert classic == Turn(START, stay="Peru", place=3, **options)


def test_cards_of_a_code_count_where_a_player_is_eliminated() -> None:
    cards: dict[str, Hand | int] = {"red": 2, "blue": Hand(infantry=3)}
    code = Turn(START, cards=cards, trade=Sets((10,)), fortify="none").to_code()
    given = (("red", 2), ("blue", 3))
    spelt_out = PlanQuestion(START, eliminate="blue", cards=given, trade=Sets((10,)))
    brought = PlanQuestion(code, eliminate="blue").new_armies
    assert brought == spelt_out.new_armies
    assert brought is not None
    assert PlanQuestion(code, take="Brazil").new_armies is None
    assert PlanQuestion(code, take="Brazil", hold=True).turn.fortify == "none"


def test_a_code_of_another_board_needs_that_board(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[territories]\nA = ["B"]\nB = []\n', encoding="utf-8")
    text = Position(read_board(file), "red", {"A": ("red", 5), "B": ("blue", 2)}).to_code()
    assert run(f"plan {text} --board {file} --take B").code == 0
    assert "pass that board" in run(f"plan {text} --take B").stderr


def test_after_a_conquest_the_plan_states_the_number_of_armies_to_advance(run: Run) -> None:
    held = "Peru:red:2,Brazil:red:5,Argentina:blue:2"
    code = f"1;classic;red;{held};advance;attack=Peru:Brazil:3"
    record = json.loads(run(f"plan {code} --take Argentina --json").stdout)
    values = dict(record["move_in"]["values"])
    assert values[record["move_in"]["best"]] == max(values.values()) == record["value"]
    assert record["sentences"][0].startswith("Best: move ")


def test_a_file_may_hold_the_code_of_a_turn(run: Run, tmp_path: Path) -> None:
    code = Turn(START, "capital", keep={"Peru": 3}).to_code()
    file = tmp_path / "turn.txt"
    file.write_text(f"{code}\n", encoding="utf-8")
    said, again = (run(f"plan {each} --take Brazil").stdout for each in (code, str(file)))
    assert said == again != run(f"plan {START.to_code()} --take Brazil").stdout


def test_a_plan_writes_no_code_until_its_record_writes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[TurnData]()

    def count(turn: TurnData) -> str:
        written.append(turn)
        return write_turn_code(turn)

    monkeypatch.setattr("iacta.game.turn.write_turn_code", count)
    answer = ask("plan", position="examples/asia.toml", take="Asia", time_limit=1)
    assert len(written) == 0
    answer.record()
    assert len(written) == 1
