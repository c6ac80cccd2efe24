"""Shell completion, tested in every shell that is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iacta.cli.completion import SCRIPTS, complete_words
from tests.cases import for_each
from tests.cli.run import Run
from tests.tables import table


@for_each(*table(__file__, "completions"))
def test_completion_depends_on_the_position(words: list[str], some: list[str]) -> None:
    found = complete_words(words)
    assert {*some} <= {*found}
    assert bool(some) == bool(found)
    assert all(each.startswith(words[-1]) for each in found)


def test_a_word_after_a_separate_equals_sign_is_a_value() -> None:
    assert "capital" in complete_words(["battle", "12", "10", "--rules", "="])


def test_an_option_is_offered_once() -> None:
    assert "--json" not in complete_words(["battle", "--json", "--"])


def test_every_shell_has_a_script(run: Run) -> None:
    for shell, script in SCRIPTS.items():
        assert run(f"completion {shell}") == (0, f"{script}\n", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(tmp_path: Path) -> None:
    asked = (
        "source <(iacta completion bash); COMP_WORDS=(iacta battle 3 2 --rules zombie); "
        'COMP_CWORD=5; _iacta; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert _complete(["bash", "-c", asked], tmp_path) == "zombie-attacker\nzombie-defender\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    "load",
    [
        "compdef() {}; source <(iacta completion zsh)",
        "iacta completion zsh > _iacta; fpath=(. $fpath); autoload -U _iacta",
    ],
)
def test_zsh_completes_on_the_first_key(load: str, tmp_path: Path) -> None:
    asked = (
        f'cd {tmp_path}; {load}; compadd() {{ print -l -- "${{@[2,-1]}}" }}; '
        "words=(iacta battle 3 2 --rules zombie); CURRENT=6; _iacta"
    )
    assert _complete(["zsh", "-f", "-c", asked], tmp_path) == "zombie-attacker\nzombie-defender\n"


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path) -> None:
    asked = "iacta completion fish | source; complete -C 'iacta battle 3 2 --rules zombie'"
    assert _complete(["fish", "-c", asked], tmp_path) == "zombie-attacker\nzombie-defender\n"


def _complete(command: list[str], folder: Path) -> str:
    """Run a script in a shell with `iacta` on its path, and return the output."""
    started = folder / "iacta"
    started.write_text(f'#!/bin/sh\nexec {sys.executable} -m iacta "$@"\n', encoding="utf-8")
    started.chmod(0o700)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 # our own lines
        command,
        env={**os.environ, "PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
