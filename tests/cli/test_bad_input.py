"""Bad input: one clear sentence on stderr, exit 2, nothing on stdout, no traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.run import HANGING, STARTED, Run

TOO_LARGE = [f"battle {'9' * digits} 3" for digits in (4000, 5000)]


@pytest.mark.parametrize("line", TOO_LARGE, ids=lambda line: line[:40])
def test_what_is_too_large_is_refused(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 400


@pytest.mark.parametrize("moment", [0.05, 0.08, 0.12])
def test_ctrl_c_while_it_is_still_loading(moment: float) -> None:
    command = [sys.executable, "-c", STARTED, "battle", "4000", "4000", "--exact", "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 # our own command
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGING)
    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.slow
def test_ctrl_c_ends_at_once_with_130() -> None:
    command = [sys.executable, "-c", STARTED, "battle", "4000", "4000", "--exact", "--csv"]
    process = subprocess.Popen(  # noqa: S603 # our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.read(1)
    time.sleep(2)  # it works, or still loads on a slow machine
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGING)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize("more", ["", " --dice"])
def test_a_refusal_names_the_battle_that_was_asked_for(run: Run, more: str) -> None:
    ended = run(f"decide 2 99999999999999999999 --garrison 1{more}")
    assert "a battle of 2 against 99999999999999999999 is too large" in ended.stderr


def test_work_that_takes_long_is_said_without_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.cli.terminal.SILENT_WAIT", 0.0)
    ended = run("battle 3000 3000 --exact")
    assert (ended.code, ended.stderr) == (0, "iacta: this is taking a while; Ctrl-C stops it\n")
    assert ended.stdout


def test_a_traceback_on_ctrl_c_can_only_be_pythons_own() -> None:
    code = "import sys; import iacta_command; print(*sys.modules)"
    loaded = subprocess.run(  # noqa: S603 # our own command
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # Before Ctrl-C is answered nothing is loaded that takes a moment.
    assert not {"enum", "typing", "signal", "re", "iacta"} & set(loaded)


def test_no_sentence_sends_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    from iacta.cli import _complain

    _complain("a\x1b[31m\nb\u202e")
    assert capsys.readouterr().err == "iacta: a\\x1b[31m\\nb\\u202e\n"
