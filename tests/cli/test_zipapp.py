"""The command works from a zip archive (a zipapp)."""

import sys
from pathlib import Path
from subprocess import run
from zipfile import ZipFile

import pytest

import iacta

SOURCE = Path(iacta.__file__).parents[1]
PACKAGES = ("iacta", "iacta_command", "iacta_literature")
KINDS = (".py", ".pyi", ".json")
COMMANDS = {
    "--help": "iacta battle 12 10",
    "battle 12 10": "65.38%",
    "rules": "classic",
    "board classic": "42 territories",
}


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a zip archive of the package that Python can run."""
    path = tmp_path_factory.mktemp("zipapp") / "iacta.pyz"
    with ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", "import iacta_command; iacta_command.main()")
        for file in SOURCE.rglob("*.*"):
            name = file.relative_to(SOURCE)
            if name.parts[0] in PACKAGES and file.suffix in KINDS:
                archive.write(file, name)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_from_a_zip_archive(archive: Path, command: str) -> None:
    words = [sys.executable, str(archive), *command.split()]
    done = run(words, capture_output=True, text=True)  # noqa: S603 # ours
    assert (done.returncode, done.stderr) == (0, "")
    assert COMMANDS[command] in done.stdout


def test_plans_from_a_zip_archive_name_the_missing_core(archive: Path) -> None:
    words = [sys.executable, str(archive), "plan", "1;classic;red;Peru:red:9,Brazil:blue:1"]
    done = run([*words, "--take", "Brazil"], capture_output=True, text=True)  # noqa: S603 # ours
    assert (done.returncode, done.stdout) == (2, "")
    assert "need the compiled core" in done.stderr
    assert done.stderr.count("\n") == 1
