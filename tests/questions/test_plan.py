"""Answers about plans: the cost of stopping, and the value after a conquest."""

from dataclasses import replace
from typing import Any

import pytest

from iacta import Turn, Worth
from iacta.forms.percentages import percent
from iacta.questions import ask
from iacta.questions.plan.question import PlanQuestion

pytestmark = pytest.mark.usefixtures("core")

CODE = "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1,Venezuela:blue:2"


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
    assert 0.8 < found["value"] == found["upper_bound"]
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
    assert found["figure"] == percent(found["hold"]["win_probability"])
    for record in (pending, found):
        assert all(move["words"].startswith("to take: ") for move in record["moves"])


def test_an_impossible_goal_has_the_chance_0() -> None:
    code = "1;classic;red;Peru:red:1,Brazil:blue:3,Argentina:red:1"
    found = ask("plan", position=code, take="Brazil").record()
    assert found["sentences"][0].startswith("You cannot take Brazil")
    assert found["figure"] == "0%"
    valued = ask("steps", position=code, take="Brazil", steps=[{"do": "stop", "after": 0}]).record()
    assert [each["figure"] for each in valued["values"]] == ["0%", "0%"]
