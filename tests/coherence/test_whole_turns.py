"""Whole turns: all numbers about one position agree, at the level `quick`."""

import json
from collections import Counter

import pytest

from tests.cases import choose_seeds
from tests.cli.run import Run
from tests.coherence.checks import find_contradictions
from tests.coherence.play import analyse, play
from tests.coherence.positions import POSITIONS, draw_turn, read_board_turns

LEVEL, ROLLS = "quick", 2
TURNS = 6  # `make fuzz` plays all turns


@pytest.mark.parametrize("number", choose_seeds(range(POSITIONS), TURNS))
def test_the_numbers_of_a_whole_turn_agree(number: int) -> None:
    moments = [*play(draw_turn(number), LEVEL, number, ROLLS)]
    checked = Counter[str]()
    assert [*find_contradictions(moments, LEVEL, checked)] == []
    assert {"check_faces", "check_steps", "check_next_player", "check_win"} <= {*checked}


def test_the_command_line_gives_the_numbers_of_the_api(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(monkeypatch, capsys)
    for turn in read_board_turns()[:2]:
        printed = run(f"analysis {turn.to_code()} --level {LEVEL} --json")
        assert json.loads(printed.stdout) == analyse(turn, LEVEL)
