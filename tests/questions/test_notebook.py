"""How notebooks display values and answers."""

import re
import sys
from itertools import pairwise
from typing import Any

import pytest

import iacta
from iacta import Battle
from iacta.questions import ask
from tests.cases import for_each

POSITION = iacta.read_position("examples/unfinished-game.json")
VALUES: dict[str, tuple[Any, str]] = {
    "battle": (Battle(12, 10), "12 armies beat 10 with a chance of 65.38%."),
    "stop": (Battle(12, 10, "capital", stop=iacta.StopRule(max_losses=3)), "and stop with"),
    "house rules": (Battle(12, 10, garrison=3), "12 armies beat 10"),
    "campaign": (
        iacta.Campaign(20, [5, iacta.Territory(3, "capital")]),
        "20 armies take all 2 territories",
    ),
    "distribution": (iacta.Roll(3, 2).losses(), "<td"),
    "decision": (iacta.when_to_stop(6, 4, prize=3), "Stop: with 6 armies against 4"),
    "mix": (iacta.best_mix(6, 4), "with 6 armies against 4"),
    "dice": (iacta.how_many_dice(6, 4), "Roll 3 dice"),
    "board": (iacta.classic_board(), '<td style="padding:1px 8px;text-align:left">Alaska</td>'),
    "position": (POSITION, "red"),
    "plan": (iacta.best_plan(POSITION, iacta.eliminate(POSITION, "blue")), "You eliminate blue"),
    "rewards": (iacta.best_plan(POSITION, iacta.Worth()), "Attacking gains"),
    "answer": (ask("battle", attackers=12, defenders=10), "12 armies beat 10"),
}


@for_each("name", VALUES)
@pytest.mark.slow
def test_a_value_shows_its_sentence_and_its_picture(name: str) -> None:
    value, part = VALUES[name]
    bundle = value._repr_mimebundle_()
    assert bundle["text/plain"] == repr(value)
    assert part in bundle["text/html"]
    assert re.search('<img alt="[^"]+" src="data:image/svg.xml;base64,', bundle["text/html"])


def test_an_answer_shows_its_sentence_in_a_terminal() -> None:
    assert repr(ask("battle", attackers=3, defenders=2)) == (
        "<BattleAnswer: 3 armies beat 2 with a chance of 36.27%.>"
    )


def test_without_the_extra_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = Battle(3, 2)._repr_mimebundle_()["text/html"]
    assert "3 armies beat 2" in shown
    assert "<img" not in shown


def test_names_are_escaped() -> None:
    board = iacta.Board("<b>", ("<script>", "B"), (("<script>", "B"), ("B", "<script>")))
    position = iacta.Position(board, "<i>", (iacta.Holding("<i>", 5), iacta.Holding("blue", 2)))
    for value in (board, position, iacta.Distribution(["<u>"])):
        shown = value._repr_mimebundle_()["text/html"].partition("<img")[0]
        assert not any(tag in shown for tag in ("<script", "<i>", "<b>&", "<u>"))


def test_a_board_that_is_too_large_to_draw_is_shown_as_a_table() -> None:
    names = tuple(f"territory {n}" for n in range(600))
    board = iacta.Board("large", names, tuple(pairwise(names)))
    shown = board._repr_mimebundle_()["text/html"]
    assert "territory 599" in shown
    assert "<img" not in shown


def test_a_long_distribution_is_cut() -> None:
    shown = iacta.Distribution(range(1000))._repr_mimebundle_()["text/html"]
    assert "The other 900 values are not shown." in shown
