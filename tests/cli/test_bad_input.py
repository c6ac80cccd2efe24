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


@pytest.mark.parametrize(
    ("rules", "meant"),
    [("capital wall", "capital+wall"), ("wall, zombie-attacker", "wall+zombie attacker")],
)
def test_rules_without_a_plus_are_joined_by_one(run: Run, rules: str, meant: str) -> None:
    ended = run.words(["rules", rules])
    assert ended.stderr == f"iacta: unknown rules {rules!r}; did you mean {meant!r}?\n"


@pytest.mark.parametrize("numbers", ["12v10", "12 v 10", "12 vs 10", "12 VS. 10", "12 v10"])
@pytest.mark.parametrize("command", ["battle", "decide", "table"])
def test_two_numbers_may_stand_against_each_other(run: Run, command: str, numbers: str) -> None:
    assert run(f"{command} {numbers}") == run(f"{command} 12 10")


def test_so_may_dice_and_campaigns(run: Run) -> None:
    assert run("roll 3v2") == run("roll 3 2")
    assert run("campaign 30 vs 8 2 4") == run("campaign 30 8 2 4")
    assert run("campaign 8,200v8,200 2") == run("campaign 8200 8200 2")


def test_an_argument_is_given_by_the_name_that_help_shows(run: Run) -> None:
    assert run("need --defenders 10") == run("need 10")
    assert run("campaign --attackers 30 --defenders 8,200") == run("campaign 30 8200")
    assert run.words(["campaign", "30", "--defenders", "8 2"]) == run("campaign 30 8 2")
    assert run("board --file classic") == run("board classic")


def test_help_of_help_is_the_overview(run: Run) -> None:
    assert run("help help") == run("help")
