"""Each kind of source gives the same moment or log."""

import io
import re
import sys
from pathlib import Path

import pytest

from iacta import ask, read_position
from tests.cases import for_each
from tests.cli.run import Run

pytestmark = pytest.mark.usefixtures("core")

HELD = "Peru:red:6,Brazil:blue:2,Argentina:blue:1,Venezuela:green:2"
CODES = {
    "position": f"1;classic;red;{HELD}",
    "turn": f"1;classic;red;{HELD};place;place=3;keep=Peru:2;players=red,blue,green",
}
LOG = (
    '{"turn": "1;classic;red;Peru:red:5,Brazil:blue:2", "goal": {"take": "Brazil"}, '
    '"battles": [{"from": "Peru", "to": "Brazil", "left": 4, "their_left": 1, "dice": 3}]}\n'
)
LINES = (
    "plan {} --take Brazil --json",
    "goals {} --json",
    "win {} --games 4 --json",
    "threats {} --json",
    "board {} --odds --json",
)


@pytest.mark.parametrize("kind", CODES)
@for_each("line", LINES)
def test_each_source_gives_the_same_moment(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, line: str
) -> None:
    file = tmp_path / "moment.txt"
    file.write_text(f"{CODES[kind]}\n", encoding="utf-8")
    toml = tmp_path / "moment.toml"
    toml.write_text(run(f"board {file} --template").stdout, encoding="utf-8")
    answers = [run(line.format(source)).stdout for source in (CODES[kind], file, toml)]
    for text in (CODES[kind], toml.read_text(encoding="utf-8")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        answers.append(run(line.format("-")).stdout)
    steady = {re.sub(r'^.*"seconds".*$', "", text, flags=re.MULTILINE) for text in answers}
    assert len(steady) == 1
    assert steady != {""}


def test_a_moment_may_be_a_position_or_armies_without_a_file(run: Run) -> None:
    position = read_position("examples/asia.toml")
    assert ask("win", position=position, games=4).record()["player"] == position.player
    for question in ("goals", "threats", "win", "plan --take Peru"):
        assert run(f"{question} --from Brazil=9 --others 1 --time-limit 1").code == 0


def test_each_source_gives_the_same_log(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(LOG, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    answers = {
        run.words(["review", *words]).stdout for words in ((str(file),), ("-",), ("--log", LOG))
    }
    assert len(answers) == 1
    assert "Red was" in answers.pop()
