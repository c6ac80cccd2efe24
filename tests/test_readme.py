"""The README: commands print the output shown."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.cli.run import Run
from tools.docs.pictures import list_texts
from tools.docs.sessions import Session, find_sessions

__all__ = ["run"]

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SHOWN = find_sessions(README)
NOT_RUN = {
    "make test",  # would run the tests
    "make plot",  # installs packages
    ". .venv/bin/activate",  # a shell command
    "iacta reproduce",  # tested in `tests/literature/`
}


def recipe(target: str) -> str:
    """Return the command that a target of the Makefile runs."""
    found = re.search(rf"^{target}:.*\n\t@(.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return found.group(1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the files for the commands in the README."""
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "house-rules.toml", tmp_path / "docs")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("session", SHOWN, ids=lambda session: session.command[:40])
@pytest.mark.usefixtures("here")
def test_each_command_prints_the_output_in_the_readme(run: Run, session: Session) -> None:
    if session.command in NOT_RUN:
        return
    command = session.command
    if command == "make demo":
        command = recipe("demo").removeprefix("$(BIN)/")  # everything is installed already
    assert command.startswith("iacta ")
    ended = run(command.removeprefix("iacta "))
    assert ended.code == 0
    assert session.shows(ended.stdout + ended.stderr), ended


def test_commands_that_are_not_run_exist() -> None:
    assert "pytest" in recipe("test")
    assert re.search(r"^VENV \?= \.venv$", MAKEFILE, re.MULTILINE)


def test_the_two_commands_stand_at_the_top() -> None:
    assert [session.command for session in SHOWN][:2] == ["make demo", "make test"]


def test_the_first_screen_has_a_picture() -> None:
    assert README.index("<picture>") < README.index("```")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 250


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_of_the_readme_are_current(run: Run, here: Path, dark: bool) -> None:
    drawn = here / "docs" / "pictures" / "campaign.svg"
    session = next(each for each in SHOWN if each.picture == "docs/pictures/campaign.svg")
    command = session.command.removeprefix("iacta ") + (" --dark" if dark else "")
    assert run(command).code == 0
    name = f"campaign{'-dark' if dark else ''}.svg"
    shown = ROOT / "docs" / "pictures" / name
    assert f'"docs/pictures/{name}"' in README
    assert shown.stat().st_size < 150_000
    assert list_texts(shown.read_text("utf-8")) == list_texts(drawn.read_text("utf-8"))
    assert len(list_texts(shown.read_text("utf-8"))) > 100
    title = re.search(r'campaign.svg" alt="(.*)">', README)
    assert title is not None
    assert title[1] in " ".join(list_texts(shown.read_text("utf-8")))


def test_the_map_of_the_readme_shows_the_plan() -> None:
    title = re.search(r'map.png" alt="(.*?) A map', README)
    assert title is not None
    assert README.count(title[1]) == 2
    for name in ("map.png", "map-dark.png"):
        assert f'"docs/pictures/{name}"' in README
        assert (ROOT / "docs" / "pictures" / name).stat().st_size < 300_000


def test_the_rules_file_equals_the_one_in_the_readme() -> None:
    shown = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    assert shown == [(ROOT / "docs" / "house-rules.toml").read_text(encoding="utf-8")]


def test_linked_documents_exist() -> None:
    links = re.findall(r"\]\(([^)h][^)]*)\)", README)
    assert links
    assert all((ROOT / link).exists() for link in links)
