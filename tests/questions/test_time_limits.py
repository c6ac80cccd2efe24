"""No time limit is too short for a valid question: the answer then says what is not known yet."""

import json
from pathlib import Path
from typing import Any

import pytest

from iacta import Turn, reinforcements_needed, review, simulate_plan
from iacta.forms.question import Question
from iacta.plan import TakeAll, armies_needed_for_plan, armies_needed_to_hold, best_plan
from iacta.questions import QUESTIONS, ask
from iacta.war import best_goals


def list_names(form: type[Question]) -> list[str]:
    return [parameter.name for parameter in form.parameters()]


CODE = "1;classic;{};" + ",".join(
    f"{name}:{owner}:{armies}"
    for owner, armies, names in (
        ("red", 9, "Venezuela Peru Siam"),
        ("blue", 3, "Brazil Argentina Egypt Congo Indonesia China"),
        ("green", 4, "India Alaska Alberta Ontario Ukraine"),
    )
    for name in names.split()
)
ATTACKS, PLACING, HELD = (
    CODE.format("red") + ";attack",
    CODE.format("red") + ";place;place=7",
    "Siam",
)
LOG = Path(__file__).parents[2] / "examples" / "game.jsonl"
NO_GOAL = json.dumps(
    {
        "turn": "1;classic;red;Peru:red:5,Brazil:blue:2,Argentina:blue:1",
        "battles": [{"from": "Peru", "to": "Brazil", "left": 3, "their_left": 2}],
    }
)
STEP = {
    **{"after": 0, "do": "attack", "from": "Peru", "to": "Brazil"},
    **{"left": 8, "their_left": 2, "dice": 3},
}
LARGE_BLITZ = Turn(
    Turn.from_code(
        "1;classic;red;Peru:red:400,Brazil:blue:150,Argentina:blue:150,Venezuela:blue:120"
    ).position,
    "balanced blitz",
    phase="attack",
).to_code()
LARGE = "1;classic;red;Peru:red:400,Brazil:blue:150,Argentina:blue:150,Venezuela:blue:120;attack"
# Any question with a time limit is asked about a turn; these questions are asked in more ways.
MORE: dict[str, list[dict[str, Any]]] = {
    "plan": [
        {"position": ATTACKS, "take": "South America", "need": "90%"},
        {"position": ATTACKS, "take": "South America", "hold": True, "need": "50%"},
        {"position": ATTACKS, "take": HELD, "hold": True, "need": "99%"},
        {"position": ATTACKS, "take": "South America", "check": 1000, "alternatives": True},
        {"position": ATTACKS, "eliminate": "blue", "then": "India", "cards": {"blue": 4}},
        {"position": PLACING, "take": "South America", "need": "90%"},
        {"position": PLACING, "take": "Brazil", "hold": True},
        {"position": PLACING, "worth": True},
        {"position": ATTACKS, "win": True},
        {"position": ATTACKS, "own_any": 3},
        {"position": LARGE, "take": "South America"},
        {"position": LARGE_BLITZ, "take": "South America"},
        {"position": LARGE_BLITZ, "worth": True},
        {"position": ATTACKS, "take": "South America", "play": "battles"},
    ],
    "review": [
        {"file": str(LOG)},
        {"file": str(LOG), "worth": True, "win": True},
        {"log": NO_GOAL, "win": True},
    ],
    "steps": [{"code": ATTACKS, "take": "Brazil", "steps": [STEP]}],
    "goals": [{"code": ATTACKS, "win": True}, {"code": PLACING, "win": True}],
    "win": [
        {"code": ATTACKS, "player": player, "turn_": True}
        for player in ("usual", "keeper", "strong", "simple")
    ],
}
LIMITED = [form for form in QUESTIONS.load_all() if "time_limit" in list_names(form)]


@pytest.mark.parametrize("form", LIMITED)
def test_no_time_limit_is_too_short(form: type[Question]) -> None:
    asked = MORE.get(form.name, [])
    if "code" in list_names(form):
        asked = [{"code": CODE.format("red")}, {"code": LARGE_BLITZ}, *asked]
    assert asked
    for parameters in asked:
        for limit in (0, 0.001):
            answer = ask(form.name, **parameters, time_limit=limit)
            assert answer.sentence
            assert json.dumps(answer.record())
            assert [*answer.rows()]


def test_threats_without_time_are_not_called_none() -> None:
    for limit in (0, 0.05):  # long before the tables of a large battle are ready
        answer = ask("threats", code=LARGE_BLITZ, time_limit=limit)
        assert answer.sentence == "The threats to red are not known yet; allow more time."


def test_functions_say_that_there_was_no_time() -> None:
    turn, goal = Turn.from_code(ATTACKS), TakeAll("South America")
    assert armies_needed_for_plan(turn, goal, "99%", "Peru", time_limit=0) is None
    assert reinforcements_needed(turn, goal, "99%", time_limit=0) is None
    assert armies_needed_to_hold(turn, TakeAll(HELD), "99.9%", time_limit=0) is None
    assert simulate_plan(best_plan(turn, TakeAll("Brazil")), time_limit=0) is None
    assert best_goals(turn, time_limit=0).player == "red"


def test_a_review_without_time_measures_luck_in_armies() -> None:
    whole, found = review(LOG), review(LOG, time_limit=0)
    assert [each.luck_armies for each in found.steps] == [each.luck_armies for each in whole.steps]
    assert {each.cost for each in found.steps} == {None}
    battles = sum(bool(each.to) for each in whole.steps)
    assert (found.missed, found.pending, whole.missed) == (battles, 0, 0)
    text = str([*ask("review", file=str(LOG), time_limit=0).sections()])
    assert f"There was no time to judge {battles} rolls or battles; allow more time." in text
