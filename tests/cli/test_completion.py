"""What a shell completes, asked of the shell where it is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iacta.cli.completion import SCRIPTS, completions
from tests.cli.run import Run


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ([""], {"battle", "plan", "chart", "--version"}),
        (["ba"], {"battle"}),
        (["battle", "12", "10", "--r"], {"--rules", "--rules-file"}),
        (["battle", "12", "10", "--rules", "cap"], {"capital"}),
        (["battle", "12", "10", "--plot", ""], set()),
        (["rules", "war"], {"war-god"}),
        (["chart", "del"], {"delta"}),
        (["chart", "delta", "x.svg", "--de"], {"--deltas"}),
        (["defend", "12", "--objective", "b"], {"break-through"}),
        (["completion", ""], {"bash", "fish", "zsh"}),
        (["nothing", ""], set()),
    ],
)
def test_a_word_is_completed_by_its_place(words: list[str], some: set[str]) -> None:
    found = completions(words)
    assert some <= {*found}
    assert bool(some) == bool(found)
    assert all(each.startswith(words[-1]) for each in found)


def test_an_option_is_offered_once() -> None:
    assert "--json" not in completions(["battle", "--json", "--"])


def test_every_shell_has_a_script(run: Run) -> None:
    for shell, script in SCRIPTS.items():
        assert run(f"completion {shell}") == (0, f"{script}\n", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(tmp_path: Path) -> None:
    started = tmp_path / "iacta"
    started.write_text(f'#!/bin/sh\nexec {sys.executable} -m iacta "$@"\n', encoding="utf-8")
    started.chmod(0o700)
    asked = (
        "source <(iacta completion bash); COMP_WORDS=(iacta battle 3 2 --rules zombie); "
        'COMP_CWORD=5; _iacta; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ended = subprocess.run(  # noqa: S603 # our own line
        ["bash", "-c", asked],  # noqa: S607 # whichever bash there is
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "zombie-attacker\nzombie-defender\n"
