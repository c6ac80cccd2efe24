"""The review of a game by the server: rough costs, measured costs, chances to win."""

from typing import Any

import pytest

from iacta import IactaError
from iacta.web.judge import judge_last_decision, judge_turn

# Red can win at once. The step `s` stops attacking.
WINNING = {"code": "1;classic;red;Peru:red:4,Brazil:blue:1", "players": ["red", "blue"]}


def test_the_rough_costs_of_a_turn_name_the_decision_that_gave_up_the_win() -> None:
    found = judge_turn({**WINNING, "texts": ["s"]})
    assert [each["step"] for each in found["costs"]] == [0]
    assert (found["wins"], found["missed"], found["done"]) == (None, 0, 1)
    assert judge_turn({**WINNING, "texts": ["s"], "done": 1})["costs"] == []


def test_without_texts_the_chances_to_win_are_estimated() -> None:
    found = judge_turn({**WINNING, "texts": []})
    assert sum(found["wins"].values()) == pytest.approx(1)
    assert found["costs"] == []


def test_a_clearly_worse_decision_is_described_with_the_better_one() -> None:
    found = judge_last_decision({**WINNING, "texts": ["s"]})
    assert found["missed"] is False
    moment = found["moment"]
    assert moment["words"] == "attack Brazil from Peru rather than stop attacking"
    assert moment["figure"] == f"{round(100 * moment['cost'])} points"
    assert moment["better"]["do"] == "attack"


def test_the_decision_of_the_computer_is_no_moment() -> None:
    code = "1;classic;red;Peru:red:4,Brazil:blue:90,Siam:blue:1;attack"
    found = judge_last_decision({"code": code, "players": ["red", "blue"], "texts": ["s"]})
    assert found == {"moment": None, "missed": False}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"texts": []}, "texts must end with a decision"),
        ({"texts": ["n"]}, "texts must end with a decision"),
        ({"texts": ["s", "s", "n", "n"]}, "texts must end with a decision"),
        ({"texts": "s"}, "texts must be"),
        ({"texts": [1]}, "text"),
        ({"texts": ["s"], "done": 1}, "unknown key 'done'"),
        ({"texts": ["s"], "code": "x"}, "code"),
    ],
)
def test_a_request_without_a_decision_is_refused(body: dict[str, Any], words: str) -> None:
    with pytest.raises(IactaError, match=words):
        judge_last_decision({**WINNING, **body})
