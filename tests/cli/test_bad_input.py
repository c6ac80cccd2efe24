"""Bad input: one clear sentence on stderr, exit code 2, nothing on stdout, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.cli.run import Run, interrupt_command


@pytest.mark.parametrize("digits", [4000, 5000])
def test_input_that_is_too_large_is_refused(run: Run, digits: int) -> None:
    result = run(f"battle {'9' * digits} 3")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 400


LONG = "battle 4000 4000 --exact --csv"


@pytest.mark.parametrize("moment", [0.05, 0.08, 0.12])
def test_ctrl_c_during_imports(moment: float) -> None:
    code, _, err = interrupt_command(LONG, moment)
    assert code == 130
    assert b"Traceback" not in err


PRESSED = """
import signal

class Descriptor:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Owner:
    descriptor = Descriptor()
"""
SWALLOWED = """
import signal

try:
    signal.raise_signal(signal.SIGINT)
except BaseException:
    pass
"""
LOST = """
import signal

class Deleted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

Deleted()
"""


@pytest.mark.parametrize("code", [PRESSED, SWALLOWED, LOST], ids=["class", "except", "delete"])
def test_ctrl_c_inside_an_import_ends_with_130(code: str, tmp_path: Path) -> None:
    (tmp_path / "polars.py").write_text(code)
    ended = subprocess.run(  # in a new process, which imports the file `polars.py`
        [sys.executable, "-m", "iacta", "batch", "in.csv", "out.csv"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.slow
def test_ctrl_c_ends_at_once_with_130() -> None:
    code, out, err = interrupt_command(LONG, 2)  # the command may still be loading
    assert (code, out) == (130, b"")
    assert b"Traceback" not in err


def test_long_work_is_announced_without_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.cli.terminal.SILENT_DELAY", 0.0)
    ended = run("battle 3000 3000 --exact")
    assert (ended.code, ended.stderr) == (0, "iacta: this is taking a while; Ctrl-C stops it\n")
    assert ended.stdout


def test_ctrl_c_is_handled_before_slow_imports() -> None:
    code = "import sys; import iacta_command; print(*sys.modules)"
    loaded = subprocess.run(  # noqa: S603 # our own command
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # Ctrl-C must be handled before any slow module is imported.
    assert not {"enum", "typing", "signal", "re", "iacta"} & set(loaded)


def test_messages_escape_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    from iacta.cli import _print_error

    _print_error("a\x1b[31m\nb\u202e")
    assert capsys.readouterr().err == "iacta: a\\x1b[31m\\nb\\u202e\n"


def test_a_suggested_command_works(run: Run) -> None:
    for line in ("campaign 12 10 5", "battle 12 7 --rules capital", "decide 12 10 --prize 5"):
        assert run(line).code == 0


def test_a_probable_chance_gets_a_hint(run: Run) -> None:
    hint = "If 95 is the chance and not a territory, ask: iacta need 10 --chance 95%.\n"
    assert hint in run("need 10 95").stdout
    for line in ("need 10 12", "need 10", "need 10 8 95", "need 60 95"):
        assert "is the chance" not in run(line).stdout


@for_each("numbers", ["12v10", "12 v 10", "12 vs 10", "12 VS. 10", "12 v10"])
@for_each("command", ["battle", "decide", "table"])
def test_two_numbers_may_be_separated_by_versus(run: Run, command: str, numbers: str) -> None:
    assert run(f"{command} {numbers}") == run(f"{command} 12 10")


def test_dice_and_campaigns_may_be_separated_by_versus(run: Run) -> None:
    assert run("roll 3v2") == run("roll 3 2")
    assert run("campaign 30 vs 8 2 4") == run("campaign 30 8 2 4")
    assert run("campaign 8,200v8,200 2") == run("campaign 8200 8200 2")


def test_an_argument_may_be_given_by_its_name_in_help(run: Run) -> None:
    assert run("need --defenders 10") == run("need 10")
    assert run("campaign --attackers 30 --defenders 8,200") == run("campaign 30 8200")
    assert run.words(["campaign", "30", "--defenders", "8 2"]) == run("campaign 30 8 2")
    assert run("board --file classic") == run("board classic")
