"""`iacta simulate`: output as text, JSON and CSV, and errors."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from iacta import Campaign, IllegalError
from tests.cli.run import Run, interrupt_command, read_terminal

UNFINISHED = "72 22 8 2 2 2 7 1 1 3 1 2 3 5 1"


def test_chances_that_no_method_computes_are_left_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> float:
        raise IllegalError("no method computes this")

    monkeypatch.setattr(Campaign, "win_probability", refuse)
    assert "exact" not in run("simulate 5 2 --runs 100").stdout
    record = json.loads(run("simulate 5 2 --runs 100 --json").stdout)
    assert record["computed_win_probability"] is None


def test_a_seed_repeats_the_dice(run: Run) -> None:
    said = run("simulate 20 5 5 --runs 500").stdout
    seed = said.split()[-1]
    assert run(f"simulate 20 5 5 --runs 500 --seed {seed}").stdout == said
    assert len({run("simulate 20 5 5 --runs 500").stdout for _ in range(3)}) > 1


def test_ctrl_c_ends_the_progress_with_130() -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "iacta", "simulate", *UNFINISHED.split(), "--runs", "1e8"]
    window = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, env=window) as process:  # noqa: S603 # our own command
        os.close(theirs)
        shown = b""
        while b"Throwing dice; Ctrl-C stops it." not in shown and (chunk := read_terminal(ours)):
            shown += chunk
        process.send_signal(signal.SIGINT)
        while read_terminal(ours):
            pass
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 130


@pytest.mark.slow
def test_ctrl_c_is_silent_without_a_terminal() -> None:
    # The command is running, or still loading on a slow machine.
    assert interrupt_command(f"simulate {UNFINISHED} --runs 1e8", 1.5) == (130, b"", b"")
