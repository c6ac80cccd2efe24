"""The README: each of its lines does what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def sessions() -> list[tuple[str, str]]:
    """Return the commands of the README's console blocks, each with what it shows."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def recipe(target: str) -> str:
    """Return the command that a target of the Makefile runs."""
    found = re.search(rf"^{target}:.*\n\t@(.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return found.group(1)


def real_command(command: str) -> str:
    """Return what the shell is given: for `make demo` its recipe, as all is installed."""
    if command == "make demo":
        command = recipe("demo").removeprefix("$(BIN)/")
    assert command.startswith("iacta ")
    return f"{sys.executable} -m {command}"


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=lambda text: text[:40])
def test_each_line_prints_what_the_readme_shows(command: str, shown: str) -> None:
    if command == "make test":
        assert "pytest" in recipe("test")  # these are the tests
        return
    if command == ". .venv/bin/activate":
        assert re.search(r"^VENV \?= \.venv$", MAKEFILE, re.MULTILINE)
        return
    window = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(  # noqa: S602 # the README's own commands
        real_command(command),
        shell=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=window,
        check=True,
        cwd=ROOT,
    )
    # Where the README shows three dots, such as for a time, anything may stand.
    pattern = re.escape(shown).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, ended.stdout), ended.stdout


def test_the_two_commands_stand_at_the_top() -> None:
    assert [command for command, _ in sessions()][:2] == ["make demo", "make test"]


def test_the_rules_file_is_the_one_that_is_shown() -> None:
    shown = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    assert shown == [(ROOT / "docs" / "house-rules.toml").read_text(encoding="utf-8")]


def test_the_documents_that_it_links_to_exist() -> None:
    links = re.findall(r"\]\(([^)h][^)]*)\)", README)
    assert links
    assert all((ROOT / link).exists() for link in links)
