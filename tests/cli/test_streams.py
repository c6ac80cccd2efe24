"""Closed streams, and streams with limited encodings."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from tests.cli.run import HANGING, Run


class Ended(NamedTuple):
    """The exit code and the output of a shell command."""

    code: int
    out: str
    err: str


def shell(line: str, extra: Mapping[str, str] = MappingProxyType({})) -> Ended:
    """Run a shell command in which `$iacta` stands for the command."""
    environment = {**os.environ, "iacta": f"{sys.executable} -m iacta", **extra}
    done = subprocess.run(  # noqa: S603 # our own lines
        ["/bin/sh", "-c", line], env=environment, capture_output=True, timeout=HANGING
    )
    return Ended(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@cache
def find_answer() -> str:
    """Return the answer that a terminal shows."""
    return shell("$iacta battle 5 3").out


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "2>&- <&-"])
def test_an_answer_needs_neither_stdin_nor_stderr(closed: str) -> None:
    assert shell(f"$iacta battle 5 3 {closed}") == (0, find_answer(), "")


@pytest.mark.parametrize(
    ("closed", "reason"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_an_unwritable_answer_is_an_error(closed: str, reason: str) -> None:
    said = f"iacta: cannot write the answer: {reason}\n"
    assert shell(f"$iacta battle 5 3 {closed}") == (1, "", said)


@pytest.mark.parametrize(
    ("closed", "ended"),
    [
        (">/dev/full", (1, "", "iacta: cannot write the answer: No space left on device\n")),
        ("| true", (0, "", "")),
    ],
)
def test_a_server_that_cannot_print_its_url_ends(closed: str, ended: tuple[int, str, str]) -> None:
    pytest.importorskip("uvicorn")
    assert shell(f"$iacta serve --port 0 {closed}") == ended


def test_bad_input_exits_with_2_without_stderr() -> None:
    assert shell("$iacta battle 5 x 2>&-") == (2, "", "")


def test_a_closed_pipe_is_not_an_error() -> None:
    ended = shell("{ $iacta table 300 300 --csv; echo $? >&2; } | head -1")
    assert ended.out.startswith("attackers,1,2,3,")
    assert ended.err == "141\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_name_that_cannot_be_encoded_is_escaped(tmp_path: Path, encoding: str) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('name = "Ωmega"\n', encoding="utf-8")
    ended = shell(f"$iacta battle 5 3 --rules-file {rules}", {"PYTHONIOENCODING": encoding})
    assert ended.code == 0
    assert "(rules: \\u03a9mega)" in ended.out


def test_a_window_of_width_0_still_shows_output() -> None:
    assert shell("$iacta battle 5 3", {"COLUMNS": "0"}).out == find_answer()


@pytest.mark.slow
def test_a_picture_goes_to_a_pipe_instead_of_the_answer(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "battle.svg"
    printed = shell("$iacta battle 5 3 --plot -")
    assert run(f"battle 5 3 --plot {file}").stdout == find_answer()
    assert printed == (0, file.read_text(encoding="utf-8") + "\n", "")
    assert shell("$iacta chart delta -").out.startswith("<svg ")
