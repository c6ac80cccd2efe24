"""Answers about plans: the cost of stopping, and the value after a conquest."""

from dataclasses import replace
from typing import Any

import pytest

from iacta import Board, Position, Turn, Worth
from iacta.forms.percentages import format_estimate
from iacta.plan.report import list_main_line
from iacta.questions import ask
from iacta.questions.plan.answer import PlanAnswer
from iacta.questions.plan.question import PlanQuestion
from iacta.questions.plan.sentences import OTHER_WAYS

pytestmark = pytest.mark.usefixtures("core")

CODE = "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1,Venezuela:blue:2"
TWO_STACKS = "1;classic;red;Brazil:red:9,Venezuela:red:9,North%20Africa:blue:2,"


@pytest.mark.parametrize("play", ["rolls", "battles"])
def test_stopping_gives_up_the_whole_chance(play: str) -> None:
    found = ask("plan", position=CODE, take="Brazil, Argentina", play=play).record()
    assert 0.1 < found["value"] < 0.9999
    assert found["stop"] == {
        "loss": found["value"],
        "words": f"gives up {100 * found['value']:.1f} points",
    }


def test_stopping_gives_up_the_points_that_attacks_gain() -> None:
    found = ask("plan", position=CODE, worth=True).record()
    gain = found["value"] - Worth().worth(Turn.from_code(CODE))
    assert gain > 0.1
    assert found["stop"] == {"loss": pytest.approx(gain), "words": f"gives up {gain:.2f} points"}


@pytest.mark.parametrize(
    ("position", "goal", "is_rising"),
    [
        (f"{TWO_STACKS}Peru:blue:4,Argentina:blue:4", "Peru, Argentina", True),
        (CODE, "Brazil, Argentina", False),
    ],
)
def test_a_main_line_says_why_a_later_battle_is_likelier(
    position: str, goal: str, is_rising: bool
) -> None:
    answer = ask("plan", position=position, take=goal)
    assert isinstance(answer, PlanAnswer)
    line = list_main_line(answer.plan)
    chances = [battle.step.conquer_probability for battle in line]
    assert (sorted(chances, reverse=True) != chances) is is_rising
    [shown] = [each for each in answer.sections() if each.title == "The main line:"]
    assert ("because other ways lead to it" in str(shown.parts[-1])) is is_rising
    [sent] = [each for each in answer.record()["tables"] if each["title"] == "The main line"]
    assert (OTHER_WAYS in sent["parts"]) is is_rising


def test_a_conquest_that_completes_the_goal_makes_it_certain() -> None:
    found = ask("plan", position=CODE, take="Argentina").record()
    completing = [each for each in found["moves"] if each["to"] == "Argentina"]
    assert completing
    assert all(each["success"].startswith("100% once it is taken") for each in completing)
    both = ask("plan", position=CODE, take="Brazil, Argentina").record()
    assert not any(each["success"].startswith("100%") for each in both["moves"])


@pytest.mark.parametrize(
    ("condition", "in_code"),
    [
        ({"win_by": "share=4"}, "share:4"),
        (
            {"win_by": "capitals", "capital": (("red", "Peru"), ("blue", "Argentina"))},
            "capitals:all,red:Peru,blue:Argentina",
        ),
        (
            {"win_by": "missions", "mission": (("red", "South America"), ("blue", "hidden"))},
            "missions:,red:South%20America,blue:hidden",
        ),
    ],
)
def test_a_plan_wins_by_the_stated_condition(condition: dict[str, Any], in_code: str) -> None:
    found = ask("plan", position=CODE, win=True, **condition).record()
    by_code = ask("plan", position=f"{CODE};attack;win={in_code}", win=True).record()
    assert found["value"] == by_code["value"] > 0.5
    assert found["command"] == by_code["command"]
    assert f";win={in_code.partition(':')[0]}:" in found["command"]
    assert "--win-by" not in found["command"]


@pytest.mark.parametrize("more", [{"own_any": 2}, {"own_any": 1, "armies": 2}])
def test_a_plan_owns_more_territories(more: dict[str, Any]) -> None:
    found = ask("plan", position=CODE, **more).record()
    assert found["goal"] == {
        "kind": "own any",
        "number": 1 + more["own_any"],
        "armies": more.get("armies", 1),
    }
    assert 0.8 < found["value"] + found["sacrifice"] == found["upper_bound"]
    assert found["command"].endswith(f"--own-any {' --armies '.join(map(str, more.values()))}")


def test_a_plan_shows_no_chance_until_the_chance_to_hold_is_known() -> None:
    shown = list[dict[str, Any]]()

    def watch(*_: object, so_far: Any = None, **__: object) -> None:
        if so_far is not None:
            shown.append(so_far.record())

    found = ask("plan", position=CODE, take="Brazil, Argentina", hold=True, watch=watch).record()
    first = ask("plan", position=CODE, take="Brazil, Argentina")
    asked = PlanQuestion(position=CODE, take="Brazil, Argentina", hold=True)
    pending = replace(first, question=asked).record()
    for record in (pending, *shown):
        assert record["figure"] == ""
    interval = found["hold"]["interval"]
    ends = interval["low"], interval["high"]
    assert found["figure"] == format_estimate(found["hold"]["win_probability"], ends)
    for record in (pending, found):
        assert all(move["words"].startswith("to take: ") for move in record["moves"])


def test_an_impossible_goal_has_the_chance_0() -> None:
    code = "1;classic;red;Peru:red:1,Brazil:blue:3,Argentina:red:1"
    found = ask("plan", position=code, take="Brazil").record()
    assert found["sentences"][0].startswith("You cannot take Brazil")
    assert found["figure"] == "0%"
    valued = ask("steps", position=code, take="Brazil", steps=[{"do": "stop", "after": 0}]).record()
    assert [each["figure"] for each in valued["values"]] == ["0%", "0%"]


# Southern Europe takes Egypt almost as likely alone as with the help of Western Europe.
BREAK_AFRICA: dict[str, Any] = {
    "from_": {"Southern Europe": 8, "Western Europe": 3},
    "others": {"": 30, "Egypt": 2, "North Africa": 3},
    "take_any": "Egypt, North Africa",
}


def test_a_sentence_says_how_the_most_likely_plan_differs() -> None:
    plan = ask("plan", **BREAK_AFRICA)
    first, second, *_ = plan.record()["sentences"]
    assert first == (
        "You take Egypt or North Africa with a chance of 97.59%; "
        "no plan is more likely to succeed by more than 0.2 points."
    )
    assert second == (
        "97.69% if you attack North Africa from Western Europe more often, for 1.0 armies more."
    )


def test_no_move_has_a_greater_chance_than_the_bound() -> None:
    found = ask("plan", **BREAK_AFRICA).record()
    values = [found["value"] - each["loss"] for each in found["moves"]]
    assert max(values) > found["value"]  # the margin prefers another move
    assert max(values) <= found["upper_bound"] + 1e-12


def test_the_record_has_the_price_and_the_sacrifice_of_the_margin() -> None:
    found = ask("plan", **BREAK_AFRICA).record()
    greatest = ask("plan", **BREAK_AFRICA, margin=0).record()
    assert (greatest["price"], greatest["sacrifice"]) == (0.0, 0.0)
    assert found["proven"]
    assert found["sacrifice"] == pytest.approx(greatest["value"] - found["value"], abs=1e-12)
    assert found["moves"][0]["words"] == "best"
    as_good = {move["from"]: move["words"] for move in found["moves"]}
    assert as_good["Western Europe"] == "as good"
    again = ask("plan", **BREAK_AFRICA, price=found["price"]).record()
    assert (again["value"], again["price"]) == (found["value"], found["price"])


@pytest.mark.parametrize("more", [{"hold": True}, {"need": "99%"}])
def test_plans_that_hold_or_need_armies_have_no_margin(more: dict[str, Any]) -> None:
    code = "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1"
    take: dict[str, Any] = {"take": "Brazil, Argentina"}
    assert ask("plan", position=code, **take).record()["price"] > 0.0
    assert ask("plan", position=code, **take, **more).record()["price"] == 0.0


def find_africa_code(stack: int, defenders: int) -> str:
    """Return the code of a position with armies in Southern Europe and in Egypt."""
    mine = f"Southern%20Europe:red:{stack},Western%20Europe:red:3"
    return f"1;classic;red;{mine},Egypt:blue:{defenders},North%20Africa:blue:3"


def test_the_steps_of_a_turn_keep_the_price_of_its_start() -> None:
    code = find_africa_code(8, 2)
    goal: dict[str, Any] = {"take_any": "Egypt, North Africa"}
    start = ask("plan", position=code, **goal).record()
    roll: dict[str, Any] = {
        "do": "attack",
        "after": 0,
        "from": "Southern Europe",
        "to": "Egypt",
        "dice": 3,
    }
    steps = [
        {**roll, "left": left, "their_left": their} for left, their in ((8, 0), (7, 1), (6, 2))
    ]
    rows = ask("steps", code=code, **goal, steps=steps).record()["values"]
    assert [row["price"] for row in rows[2:]] == [start["price"]] * 2
    assert rows[0]["value"] == pytest.approx(start["value"], abs=1e-12)
    for row, step in zip(rows[2:], steps[1:], strict=True):
        later = find_africa_code(step["left"], step["their_left"])
        found = ask("plan", position=later, **goal, price=start["price"]).record()
        assert row["value"] == pytest.approx(found["value"], abs=1e-12)
    mean = sum(
        chance * row["value"]
        for chance, row in zip((2890 / 7776, 2611 / 7776, 2275 / 7776), rows[1:], strict=True)
    )
    assert rows[0]["value"] == pytest.approx(mean, abs=1e-12)
    assert [row["cost"] for row in rows[1:]] == [0.0, 0.0, 0.0]


def test_an_attack_that_helps_for_some_rolls_only_says_so() -> None:
    board = Board.from_edges("way", [("A", "C"), ("B", "C"), ("C", "D")])
    mine = {"A": ("red", 2), "B": ("red", 5)}
    # Armies that advance from A to C cannot take D, and block the way of the armies in B.
    position = Position(board, "red", {**mine, "C": ("blue", 2)}, others=("blue", 1))
    moves = ask("plan", position=position, take="C, D").record()["moves"]
    found = {move["from"]: (move["is_single_roll"], move["success"]) for move in moves}
    is_single, said = found["A"]
    assert is_single
    assert said.startswith("roll once, then plan again; ")
    assert not found["B"][0]
