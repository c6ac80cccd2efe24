"""The page on plans: each command prints what it shows, and each example can be read."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from iacta import read_position
from tests.test_readme import real_command

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"```console\n\$ ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=lambda text: text[:60])
def test_each_command_prints_what_the_page_shows(command: str, shown: str) -> None:
    ended = subprocess.run(  # noqa: S602 # the page's own commands
        real_command(command),
        shell=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        check=True,
        cwd=ROOT,
    )
    assert ended.stdout == shown


def test_the_position_that_is_shown_can_be_read() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    position = read_position(json.loads(shown))
    assert position.owned_by("red") == ("Start",)


@pytest.mark.parametrize("file", sorted((ROOT / "examples").iterdir()), ids=lambda file: file.name)
def test_each_example_is_read_and_worked_through(file: Path) -> None:
    assert f"examples/{file.name}" in PAGE
    position = read_position(file)
    assert position.player == "red"
    assert all(each.armies for each in position.holdings)
