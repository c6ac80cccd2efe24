"""The answer of a plan: the cost of stopping, and the value after a conquest."""

import pytest

from iacta import Turn, Worth
from iacta.questions import ask

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
