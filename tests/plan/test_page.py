"""The docs page about plans: its position files are valid."""

import json
import re
from pathlib import Path

import pytest

from iacta import read_position

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(each for each in (ROOT / "examples").iterdir() if each.suffix in (".toml", ".json"))
PAGE = (ROOT / "docs" / "questions" / "which-way.md").read_text(encoding="utf-8")


def test_the_position_that_is_shown_can_be_read() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    position = read_position(json.loads(shown))
    assert position.list_territories("red") == ("Start",)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_example_is_read_and_worked_through(file: Path) -> None:
    assert f"examples/{file.name}" in PAGE
    position = read_position(file)
    assert position.player == "red"
    assert all(each.armies for each in position.holdings)
