"""Boards, positions and turns as the server sends them to the board page, without a browser."""

import re
from pathlib import Path
from typing import Any

import pytest

import iacta
from iacta.board.files import read_board
from iacta.board.position import read_position
from iacta.game import list_border_odds
from iacta.inputs.errors import IactaError
from iacta.plan import TakeAll, best_plan
from iacta.questions import ask
from iacta.rules.variants import find_rules
from iacta.web.map import read_board_text
from iacta.web.turns import read_setup, replay_turns, step_turn
from tests.tables import table
from tests.web.board_page import EXAMPLES, FILES, HELD, POSITION, TINY, TURN, plan_of_tiny

SCRIPTS = Path(__file__).parents[2] / "src" / "iacta" / "web" / "static"
SHIPPED = SCRIPTS / "examples"


def taking(**step: Any) -> dict[str, Any]:
    return {"code": TURN, "board": TINY, "step": step}


def test_the_page_ships_the_examples_of_the_repository() -> None:
    for each in SHIPPED.iterdir():
        assert each.read_text() == (EXAMPLES / each.name).read_text()


@pytest.mark.parametrize("file", sorted(FILES.glob("*.*")), ids=lambda file: file.name)
def test_every_format_is_read_from_its_text(file: Path) -> None:
    text = file.read_text()
    if file.stem == "position":
        position = read_position(file)
        found = read_board_text({"text": text, "board": position.board.to_record()})
        assert read_setup(found["setup"], position.board).position == position
    elif file.suffix != ".cards":
        board = read_board(file)
        found = read_board_text({"text": text, "name": file.name})
        assert found["territories"] == list(board.territories)
        assert read_board(found["board"]).borders == board.borders
        ends = {(each["start"], each["to"]) for each in found["scene"]["borders"]}
        assert len(ends) == len({frozenset(pair) for pair in board.borders})


READERS: dict[str, Any] = {
    each.__name__: each for each in (read_board_text, replay_turns, step_turn)
}


@pytest.mark.parametrize(*table(__file__, "unreadable"))
def test_unreadable_input_is_refused_in_a_sentence(
    function: str, is_of_the_turn: bool, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(IactaError) as refused:
        READERS[function]({"code": TURN, "board": TINY} | asked if is_of_the_turn else asked)
    assert str(refused.value).startswith(sentence)


def test_dice_that_a_server_rolls_are_those_of_its_seed() -> None:
    asked = taking(do="roll", seed=3, **{"from": 0, "to": 1})
    assert step_turn(asked) == step_turn(asked)
    once = step_turn(taking(do="roll", seed=3, once=True, **{"from": 0, "to": 1}))
    assert "in 1 roll" in once["words"]


def test_steps_agree_with_the_game() -> None:
    turn = iacta.Turn(read_position(POSITION))
    after = turn.apply_battle("A", "B", 8, 0).after(iacta.game.Advance(5))
    steps = [
        {"after": 0, "do": "attack", "from": 0, "to": 1, "left": 8, "their_left": 0},
        {"after": 1, "do": "advance", "armies": 5},
        {"after": 2, "do": "attack", "from": 1, "to": 2, "left": 5, "their_left": 1},
        {"after": 2, "do": "get", "armies": 2},
        {"after": 4, "do": "place", "on": [[0, 1], [1, 1]]},
        {"after": 0, "do": "advance", "armies": 5},
        {"after": 6, "do": "stop"},
    ]
    turns = replay_turns({"code": turn.to_code(), "board": TINY, "steps": steps})["turns"]
    assert turns[0]["armies"] == [9, 1, 2, 1]
    assert turns[1]["advance"] == {"from": 0, "to": 1, "least": 3, "most": 7}
    assert turns[2]["code"] == after.to_code()
    assert turns[2]["odds"][0]["chance"] == list_border_odds(after)[0].win_probability
    assert turns[3]["code"] == after.apply_battle("B", "C", 5, 1).to_code()
    assert turns[5]["armies"] == [4, 6, 2, 1]
    assert "no territory has just been taken" in turns[6]["problem"]
    assert turns[7]["problem"] == "an earlier step is impossible"


def test_an_analysis_agrees_with_optimal_play() -> None:
    turn = iacta.Turn(read_position(POSITION))
    best = plan_of_tiny()
    found = ask("plan", position=turn, take="East").record()
    assert found["value"] == found["upper_bound"] == best.value
    assert [each["loss"] for each in found["moves"]] == [0.0]
    after = turn.apply_battle("A", "B", 8, 0)
    found = ask("plan", position=after, take="East").record()
    for armies, value in found["move_in"]["values"]:
        there = after.after(iacta.game.Advance(armies)).position
        assert value == pytest.approx(best_plan(there, TakeAll("East")).value)
    assert found["move_in"]["best"] == 7


def test_chances_in_a_hold_plan_are_chances_to_conquer() -> None:
    asked: dict[str, Any] = {"position": TURN, "board": TINY, "take": "East"}
    free, held = (ask("plan", **asked, hold=hold).record() for hold in (False, True))
    assert [each["figure"] for each in held["moves"]] == [each["figure"] for each in free["moves"]]
    assert "and hold it until your next turn" in held["sentences"][0]
    assert "stop" not in held


def test_a_code_is_read_with_the_state_of_its_turn() -> None:
    position = read_position(POSITION)
    setup = read_board_text({"text": position.to_code(), "board": TINY})["setup"]
    assert read_setup(setup, position.board) == iacta.Turn(position)
    turn = iacta.Turn(position, "capital", place=3, keep={"C": 4}, stay="A")
    setup = read_board_text({"text": turn.to_code(), "board": TINY})["setup"]
    asked = [setup[key] for key in ("rules", "keep", "stay", "fresh")]
    assert asked == ["capital", {2: 4}, [0], 3]
    house = find_rules("capital", garrison=2)
    players, victory = ["blue", "red"], iacta.game.Share(3)
    turn = iacta.Turn(
        position, house, rules_of={"B": "capital"}, fortify="none", cards={"red": 3},
        players=players, victory=victory,
    )  # fmt: skip
    setup = read_board_text({"text": turn.to_code(), "board": TINY})["setup"]
    assert setup["players"] == players
    assert read_setup(setup, position.board) == turn


def test_thrown_dice_are_recorded_by_their_result() -> None:
    border = {"from": 0, "to": 1}
    attack = {"do": "attack", **border, "left": 8, "their_left": 1}
    position = {**POSITION, "territories": HELD | {"B": {"owner": "blue", "armies": 2}}}
    asked = {"code": iacta.Turn(read_position(position)).to_code(), "board": TINY}
    pasted = [("6 1 vs 5 4", ""), ("6-1 v. 5-4", ""), ("61: 54", "")]
    for mine, theirs in (("6 1", "5 4"), ("61", "54"), ([6, 1], [5, 4]), *pasted):
        step = {"do": "faces", **border, "mine": mine, "theirs": theirs}
        assert step_turn({**asked, "step": step})["step"] == {**attack, "dice": 2}
    fewer = step_turn({**asked, "step": {"do": "faces", **border, "mine": "6 1", "theirs": "5"}})
    assert fewer["step"] == {**attack, "left": 9, "dice": 2, "their_dice": 1}
    assert step_turn({**asked, "step": fewer["step"]})["code"] == fewer["code"]
    rolled = step_turn({**asked, "step": {"do": "roll", **border, "seed": 3, "once": True}})
    assert rolled["step"]["dice"] == 3
    again = step_turn({**asked, "step": rolled["step"]})
    assert again["code"] == rolled["code"]
    to_the_end = step_turn({**asked, "step": {"do": "roll", **border, "seed": 3}})
    assert "dice" not in to_the_end["step"]
    assert step_turn({**asked, "step": to_the_end["step"]})["code"] == to_the_end["code"]


def test_rolls_have_their_losses_and_chances_in_words() -> None:
    (border,) = replay_turns({"code": TURN, "board": TINY})["turns"][0]["odds"]
    assert border["rolls"] == [
        [0, 1, "I lose 0, they 1", "I lose 0, they lose 1 with 3 dice: 66.0%"],
        [1, 0, "I lose 1, they 0", "I lose 1, they lose 0 with 3 dice: 34.0%"],
    ]


# A chance as text, or a number with a fixed number of digits and a percent sign.
FORMATTED_CHANCE = re.compile(r"toFixed\(\d\)\}%|Math\.round\([^)]*\)\}%|toLocaleString|Intl\.")


def test_no_script_formats_a_chance() -> None:
    for script in SCRIPTS.glob("*.js"):
        text = script.read_text()
        assert not FORMATTED_CHANCE.search(text), script.name
        assert "}%`" not in text, script.name
