"""Makefile targets that do not need the core work without a compiler."""

import os
import shutil
import sys
from pathlib import Path
from subprocess import run
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = (
    "plans and whole games do not work, as the core was not compiled; "
    "`make core` shows the reason\n"
)
# Compilers that fail, that write no library, that write nothing at all, or that are missing.
COMPILERS = {
    "false": "#!/bin/sh\nexit 1\n",
    "garbage": """#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && echo garbage >"$2"
    shift
done
""",
    "silent": "#!/bin/sh\n",
    "missing": None,
}


class Ended(NamedTuple):
    """The exit code and the output of `make`."""

    code: int
    stdout: str
    stderr: str


class Checkout:
    """A copy of the files that build the core."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, folder)
        shutil.copytree(ROOT / "cmake", folder / "cmake")
        shutil.copytree(ROOT / "src" / "core", folder / "src" / "core")

    def make(self, *words: str) -> Ended:
        """Run `make` with arguments."""
        given = ("MAKE", "MFLAGS", "VENV")  # `make test` sets these variables
        usual = {k: v for k, v in os.environ.items() if not k.startswith(given)}
        command = ["make", f"PYTHON={sys.executable}", *words]
        ended = run(command, cwd=self.folder, env=usual, capture_output=True, text=True)  # noqa: S603
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def compiler(self, name: str) -> str:
        """Write a fake compiler; return the setting that makes `make` use it."""
        path, text = self.folder / name, COMPILERS[name]
        if text is not None:
            path.write_text(text)
            path.chmod(0o755)
        return f"CXX={path}"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a copy of the files that build the core."""
    return Checkout(tmp_path)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_make_core_fails_without_a_compiler_that_works(checkout: Checkout, compiler: str) -> None:
    ended = checkout.make("core", checkout.compiler(compiler))
    assert ended.code != 0
    assert ended.stderr
    assert not [*(checkout.folder / "src" / "iacta").rglob("*")]


def test_without_a_compiler_make_says_what_to_install(checkout: Checkout) -> None:
    folder = checkout.folder / "bin"  # the only folder in which make looks for programs
    folder.mkdir()
    for name in ("sh", "bash", "make", "uname", "cksum", "getconf", "echo"):
        (folder / name).symlink_to(shutil.which(name) or "")
    command = [str(folder / "make"), "core"]
    env = {"PATH": str(folder)}
    ended = run(command, cwd=checkout.folder, env=env, capture_output=True, text=True)  # noqa: S603
    assert ended.returncode != 0
    assert ended.stderr.splitlines()[0] == "no C++ compiler found; on Debian: apt install g++"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_other_targets_continue_with_a_one_line_message(checkout: Checkout, compiler: str) -> None:
    ended = checkout.make("try-core", checkout.compiler(compiler))
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.endswith(WITHOUT)
    assert ended.stdout.removesuffix(WITHOUT).count("\n") <= 1  # it may print the duration
    assert not [*(checkout.folder / "src" / "iacta").rglob("*")]


def test_the_demo_needs_no_core_unlike_plans(checkout: Checkout) -> None:
    planned = {target: checkout.make("-n", target).stdout for target in ("demo", "plot", "test")}
    assert "core" not in planned["demo"]
    assert WITHOUT.strip() in planned["plot"].replace("\\", "")
    assert WITHOUT.strip() not in planned["test"].replace("\\", "")
    assert "compiling the core" in planned["test"]


def test_a_python_that_is_too_old_is_refused_in_one_sentence(checkout: Checkout) -> None:
    old = checkout.folder / "python3.10"
    run_it = (
        "import sys; sys.version_info = (3, 10, 0); sys.version = '3.10.0 (old)'; exec(sys.argv[2])"
    )
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{run_it}" "$@"\n')
    old.chmod(0o755)
    ended = checkout.make("demo", f"PYTHON={old}")
    assert ended.code != 0
    assert ended.stderr.splitlines()[0] == "iacta needs Python 3.11 or later, got 3.10.0"
    assert not (checkout.folder / ".venv").exists()


def test_a_virtual_environment_without_python_is_created_again(checkout: Checkout) -> None:
    python = checkout.folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nonexistent/python3")
    (checkout.folder / ".venv" / "pyvenv.cfg").write_text("")
    (checkout.folder / ".venv" / "demo").write_text("")  # an installed program
    planned = checkout.make("-n", "demo").stdout
    assert "recreating it" in planned
    assert planned.index("-m venv .venv") < planned.index("pip install") < planned.index("campaign")


def test_clean_deletes_the_library_with_its_hash_and_its_header(checkout: Checkout) -> None:
    library = checkout.folder / "src" / "iacta" / "native" / "library"
    library.mkdir(parents=True)
    for name in ("core.so", "core.so.sha256", "iacta.h"):
        (library / name).write_text("")
    assert checkout.make("clean").code == 0
    assert not library.exists()
