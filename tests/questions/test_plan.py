"""The answer of a plan: the cost of stopping."""

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
