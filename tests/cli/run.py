"""Runs commands in this process, as the installed command would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from iacta.cli import main

HANGING = 300  # seconds after which a command on the slowest machine must have ended
STARTED = "import iacta_command; print(end='.', flush=True); iacta_command.main()"


class Result(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    stdout: str
    stderr: str


class Run:
    """A function that runs command lines and captures their output."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.patch = patch
        self.capture = capture

    def __call__(self, line: str) -> Result:
        """Run `iacta` with the words of a line."""
        return self.words(line.split())

    def words(self, words: Sequence[str]) -> Result:
        """Run `iacta` with words that may be empty or contain spaces."""
        self.patch.setattr(sys, "argv", ["iacta", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = self.capture.readouterr()
        return Result(int(ended.value.code or 0), printed.out, printed.err)


def read_terminal(terminal: int) -> bytes:
    """Read from the terminal; return nothing once the command has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def interrupt_command(line: str, moment: float) -> tuple[int, bytes, bytes]:
    """Press Ctrl-C after a few seconds; return the result of the command."""
    command = [sys.executable, "-c", STARTED, *line.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 # our own command
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGING)
    return process.returncode, out, err
