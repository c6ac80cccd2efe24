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


MEANT = {
    # The command that is missing, or unknown.
    "12 10": "unknown command 12; did you mean iacta battle 12 10?",
    "12v10": "unknown command 12v10; did you mean iacta battle 12v10?",
    "30 8 2 4": "unknown command 30; did you mean iacta campaign 30 8 2 4?",
    "12 10 --prize 5": "unknown command 12; did you mean iacta decide 12 10 --prize 5?",
    "attack 12 10": "unknown command attack; did you mean iacta battle 12 10?",
    "12 10 --help": "unknown command 12; did you mean iacta battle 12 10?",
    "help attack": "unknown command attack; see iacta --help",
    "12": "unknown command 12; see iacta --help",
    "version": "unknown command version; did you mean --version?",
    # Numbers that are not written apart.
    "battle 12,10": "attackers must be a whole number of at least 1, got '12,10'; "
    "separate numbers by spaces: 12 10",
    "table 5x5": "attackers must be a whole number of at least 1, got '5x5'",
    "campaign 30 8,2,4": "defenders must be a whole number of at least 1, got '8,2,4'; "
    "separate territories by spaces: 8 2 4",
    "campaign 30 8, 2, 4": "defenders must be a whole number of at least 1, got '8,'; "
    "separate territories by spaces: 8 2 4",
    "need --territories 8,2": "defenders must be a whole number of at least 1, got '8,2'; "
    "separate territories by spaces: 8 2",
    "fronts 15:3,8 --armies 20": "territories must be a whole number of at least 1, got '3,8'; "
    "separate fronts by spaces: 15:3 8",
    # Options of other commands.
    "battle 12 10 --prize 5": "unknown option --prize; iacta decide has it",
    "battle 12 10 --chance 95%": "unknown option --chance; iacta defend and iacta need have it",
    "battle 12 10 --keep 3": "unknown option --keep; iacta need and iacta plan have it",
    "roll 3 2 --max-losses 3": "unknown option --max-losses; iacta battle and 5 others have it",
    "fronts 15 --attackers 12": "unknown option --attackers; iacta battle and 6 others have it",
    "battle 12 10 --prices 5": "unknown option --prices; see iacta battle --help",
    # What was meant as an option, or as its value.
    "battle 12 10 capital": "unexpected argument 'capital'; did you mean --rules capital?",
    "battle 12 10 --capital": "unknown option --capital; did you mean --rules capital?",
    "campaign 30 8 capital": "defenders must be a whole number of at least 1, got 'capital'; "
    "did you mean --rules capital?",
    "need 10 95%": "defenders must be a whole number of at least 1, got '95%'; "
    "did you mean --chance 95%?",
    "defend 12 90%": "unexpected argument '90%'; did you mean --chance 90%?",
    "battle 12 10 --csv out.csv": "--csv takes no value, got 'out.csv'",
    "battle 12 10 -stop-at 3": "unknown option -stop-at; did you mean --stop-at?",
    "battle 12 10 \u2014rules wall": "unknown option \u2014rules; did you mean --rules?",
    "battle -a 12 -d 10": "unknown option -a; see iacta battle --help",
    "battle attackers=12 defenders=10": "attackers must be a whole number of at least 1, "
    "got 'attackers=12'; did you mean --attackers=12?",
    "battle 12 armies 10": "defenders must be a whole number of at least 1, got 'armies'",
    "plan examples/asia.toml --stay North Africa": "text with spaces needs quotes: "
    '--stay "North Africa"',
    "need 8 2 --defenders 3": "territories is given twice: '8 2' and --territories '3'",
    # Values.
    "need 10 --chance 95": "--chance must lie between 0 and 1, 0 excluded, got '95'; "
    "did you mean 95%?",
    "need 10 --chance 0,95": "--chance must lie between 0 and 1, 0 excluded, got '0,95'; "
    "did you mean 0.95?",
    "decide 12 10 --prize 2,5": "--prize must be a number of at least 0, got '2,5'; "
    "did you mean 2.5?",
    "battle 12 10 --rules house.toml": "unknown rules 'house.toml'; "
    "--rules-file or read_rules_file reads a file",
    "audit": "missing file, --log or --power",
    "batch": "missing IN; see iacta batch --help",
    # Boards and positions.
    "plan classic --take Peru": "position must be a file or a code, got the board 'classic'",
    "board classic --odds": "--odds needs a position, got the board 'classic'",
    "board 2;classic;red;Peru:red:3": "code must begin with its version, '1;', "
    "got '2;classic;red;Peru:red:3'",
    "plan 1;risk;red;Peru:red:3 --take Peru": "code must have the board 'classic' or a hash, "
    "got 'risk'",
}


@pytest.mark.parametrize("line", MEANT)
def test_a_mistake_of_a_newcomer_is_answered_with_what_was_meant(run: Run, line: str) -> None:
    assert run(line) == (2, "", f"iacta: {MEANT[line]}\n")


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
