"""Corrections of the current position: steps of their own, without luck or cost."""

import json
from typing import Any

import pytest

from iacta import IactaError, review
from iacta.board import Holding
from iacta.game import Advance, Turn
from iacta.game.steps import read_tree, take_step
from iacta.questions import ask

CODE = "1;classic;red;Peru:red:6,Brazil:blue:2,Argentina:green:3"
ROLL = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 5, "their_left": 1, "dice": 3}
TAKEN = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 6, "their_left": 0, "dice": 3}


def correct(*rows: list[Any]) -> dict[str, Any]:
    return {"do": "correct", "on": [*rows]}


@pytest.mark.parametrize("options", ["attack", "place;place=3", "fortify", "over"])
def test_a_correction_is_the_same_turn_with_another_position(options: str) -> None:
    rows = ["Brazil", "blue", 4], ["Argentina", "red", 1], ["Venezuela", "blue", 2]
    after, words = take_step(Turn.from_code(f"{CODE};{options}"), correct(*rows))
    other = "1;classic;red;Peru:red:6,Brazil:blue:4,Argentina:red:1,Venezuela:blue:2"
    assert after == Turn.from_code(f"{other};{options};players=red,blue,green")
    assert words == ("Corrected: Brazil 2 → 4, Argentina green 3 → red 1, Venezuela empty → blue 2")
    assert Turn.from_code(after.to_code()) == after


def test_a_new_owner_needs_a_capital() -> None:
    win = "capitals:all,red:Peru,blue:Brazil,green:Argentina"
    turn = Turn.from_code(f"{CODE};attack;win={win}")
    with pytest.raises(IactaError, match="capital of pink is missing"):
        take_step(turn, correct(["Siam", "pink", 1]))
    after, _ = take_step(turn, correct(["Siam", "BLUE", 1]))
    assert Turn.from_code(after.to_code()) == after
    shared, _ = take_step(Turn.from_code(f"{CODE};attack"), correct(["Siam", "pink", 1]))
    assert shared.players == ("red", "blue", "green", "pink")


def test_a_correction_has_neither_luck_nor_cost() -> None:
    steps = [{**ROLL, "after": 0}, {**correct(["Brazil", "blue", 3]), "after": 1}]
    steps.append({**ROLL, "left": 4, "their_left": 2, "after": 2})
    rows = ask("steps", code=CODE, steps=steps, take="Brazil").record()["values"]
    assert [rows[2][key] for key in ("luck", "cost", "change", "luck_armies")] == [None] * 4
    fresh = CODE.replace("red:6", "red:5").replace("blue:2", "blue:3")
    last = {**steps[2], "after": 0}
    alone = ask("steps", code=fresh, steps=[last], take="Brazil").record()["values"]
    assert rows[2]["value"] == alone[0]["value"]
    assert rows[3]["luck"] == alone[1]["luck"]


def test_a_conquest_can_be_corrected_before_armies_move_in() -> None:
    taken, _ = take_step(Turn.from_code(CODE), TAKEN)
    after, _ = take_step(taken, correct(["Peru", "red", 9]))
    assert (after.phase, after.actions()[-1]) == ("advance", Advance(11))
    won = Turn.from_code(f"{CODE.replace('green:3', 'red:1')};attack;players=red,blue")
    again = take_step(take_step(won, TAKEN)[0], correct(["Argentina", "blue", 1]))[0]
    assert take_step(again, {"do": "advance", "armies": 3})[0].phase == "attack"
    with pytest.raises(IactaError, match=r"^move armies into Brazil before this"):
        take_step(taken, correct(["Brazil", "blue", 1]))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["Peru", "blue", 6]], "red must keep a territory, because it is their turn"),
        ([["Peru", "red", 6]], "a correction must change the position"),
        ([["Peru", "red", 0]], "Peru must have at least 1 army, got 0"),
        ([["Peru", "", 2]], "Peru must have an owner or no armies, got 2"),
        ([["Peru", 4]], "on must be a list of rows, each with a territory"),
    ],
)
def test_an_impossible_correction_is_refused(rows: list[Any], words: str) -> None:
    (_, node) = read_tree(Turn.from_code(CODE), [{**correct(*rows), "after": 0}])
    assert node.turn is None
    assert node.words.startswith(words)


def test_a_log_keeps_corrections_without_judging_them() -> None:
    turn = Turn.from_code(CODE)
    mended = turn.apply_battle("Peru", "Brazil", 5, 1).correct({"Brazil": Holding("blue", 3)})
    battle = {key: ROLL[key] for key in ROLL if key != "do"}
    lines: list[dict[str, Any]] = [{"turn": CODE, "battles": [battle], "stops": False}]
    lines.append({"turn": mended.to_code(), "corrected": [["Brazil", "blue", 3]]})
    found = review("\n".join(map(json.dumps, lines)))
    assert found.corrections == ("turn 1: Brazil blue 3",)
    assert [each.turn for each in found.steps] == [1, 1]
