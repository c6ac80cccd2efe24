"""Bad input: one clear sentence on stderr, exit 2, nothing on stdout, no traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.run import HANGING, STARTED, Run

ARMIES = "must be a whole number of at least 1, got"
WRONG = {
    "battle -3 10": f"attackers {ARMIES} -3",
    "battle 0 10": f"attackers {ARMIES} 0",
    "battle 12 0": f"defenders {ARMIES} 0",
    "battle 2.5 10": f"attackers {ARMIES} '2.5'",
    "battle nan 10": f"attackers {ARMIES} 'nan'",
    "battle 1_2 10": f"attackers {ARMIES} '1_2'",
    "battle 10,00 10": f"attackers {ARMIES} '10,00'",
    "battle 007 10": f"attackers {ARMIES} '007'",
    "battle 1.5e0 10": f"attackers {ARMIES} '1.5e0'",
    "battle \u0661\u0662 10": f"attackers {ARMIES} '\u0661\u0662'",
    "battle twelve 10": f"attackers {ARMIES} 'twelve'",
    "battle 12 -x": f"defenders {ARMIES} '-x'",
    "battle 12 10 --garrison -1": "--garrison must be a whole number of at least 0, got -1",
    "battle 12 10 --garrison x": "--garrison must be a whole number of at least 0, got 'x'",
    "battle 12 10 --rules capitol": "unknown rules 'capitol'; did you mean 'capital'?",
    "battle 12 10 --rules risiko+wall": "'risiko' cannot be joined by +; only capital, wall, "
    "zombie attacker, zombie defender and balanced blitz can",
    "battle 12 10 --rules capital+capital": "rules joined by + name 'capital' twice",
    "battle 12 10 --rules-file": None,
    "battle 12 10 --rules-file none.toml": "cannot read 'none.toml': no such file",
    "battle 12 10 --rules-file /": "cannot read '/': it is a folder",
    "battle 12 10 --json --csv": "--json cannot be combined with --csv",
    "battle 12 10 --jsn": "unknown option --jsn; did you mean --json?",
    "battle 12": "missing DEFENDERS; see iacta battle --help",
    "battle 12 10 8": "unexpected argument '8'; see iacta battle --help",
    "batle 12 10": None,
    "campaign 12": "missing DEFENDERS; see iacta campaign --help",
    "campaign 12 3 0": f"defenders {ARMIES} 0",
    "campaign 12 3 -4": f"defenders {ARMIES} -4",
    "campaign 12 3:": "unknown rules ''; see iacta rules",
    "campaign 12 3@": "garrison must be a whole number of at least 0, got ''",
    "campaign 12 3 --seed 1": "--seed also needs --narrate",
    "campaign 12 3 --narrate --seed x": "--seed must be a whole number of at least 0, got 'x'",
    "need 10 --chance 0": "--chance must lie between 0 and 1, 0 excluded, got '0'",
    "need 10 --chance 1": "--chance must be less than 1, as no win is certain, got '1'",
    "need 10 --chance 120%": "--chance must lie between 0 and 1, 0 excluded, got '120%'",
    "need 10 --chance 95": "--chance must lie between 0 and 1, 0 excluded, got '95'; "
    "did you mean 95%?",
    "need 10 --chance 1e-9999": "--chance must have an exponent from -999 to 999, got '1e-9999'",
    "need 10 --chance likely": "--chance must lie between 0 and 1, 0 excluded, got 'likely'",
    "need 10 --keep -1": "--keep must be a whole number of at least 0, got -1",
    "need 0": f"defenders {ARMIES} 0",
    "need": "missing DEFENDERS; see iacta need --help",
    "table 0 5": f"attackers {ARMIES} 0",
    "table 5 x": f"defenders {ARMIES} 'x'",
    "roll 4 2": "attack_dice must be a whole number from 1 to 3, got 4",
    "roll 3 3": "defence_dice must be a whole number from 1 to 2, got 3",
    "rules classic --rules capital": "rules is given twice: 'classic' and --rules 'capital'",
    "rules xyzzy": "unknown rules 'xyzzy'; see iacta rules",
}
TOO_LARGE = [
    f"battle {10**40} 3",
    f"battle 3 {10**40}",
    f"battle {'9' * 4000} 3",
    f"battle {'9' * 5000} 3",
    "battle 1000000 1000000 --exact",
    f"campaign {10**30} 4",
    f"need {10**20}",
    "need 1000000000000 2",
    "table 1000000 1000000",
    f"table {10**30} 2",
]


@pytest.mark.parametrize("line", WRONG)
def test_wrong_words_get_one_sentence(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("iacta: ")
    assert result.stderr.count("\n") == 1
    sentence = WRONG[line]
    if sentence is not None:
        assert result.stderr == f"iacta: {sentence}\n"


@pytest.mark.parametrize("line", TOO_LARGE, ids=lambda line: line[:40])
def test_what_is_too_large_is_refused(run: Run, line: str) -> None:
    result = run(line)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 400


WORDS = st.one_of(
    st.integers(-5, 12).map(str),
    st.sampled_from(["nan", "1e3", "--exact", "--json", "--csv", "--rules", "capital", "--x", "-"]),
    st.text(
        st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs", "Z", "C"]), max_size=5
    ),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["battle", "campaign", "need", "decide", "table", "roll", "rules"]),
    st.lists(WORDS, max_size=5),
)
def test_any_words_get_an_answer_or_a_sentence(run: Run, command: str, words: list[str]) -> None:
    result = run(" ".join([command, *words]))
    assert result.code in (0, 2)
    if result.code == 0:
        assert result.stderr == ""
        assert result.stdout
    else:
        assert result.stdout == ""
        assert result.stderr.startswith("iacta: ")
        assert result.stderr.count("\n") == 1


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


@pytest.mark.parametrize("line", ["battle 12 10", "battle 12 10 --json", "table 9 9 --csv"])
def test_a_full_disk_is_said(line: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(  # noqa: S603 # our own command
            [sys.executable, "-m", "iacta", *line.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == "iacta: cannot write the answer: No space left on device\n"


def test_a_closed_output_is_no_traceback() -> None:
    ended = subprocess.run(  # noqa: S602 # our own command
        f"{sys.executable} -m iacta battle 12 10 >&-",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stderr


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = f"{sys.executable} -m iacta table 300 300 --csv | head -n 1"
    ended = subprocess.run(  # noqa: S602 # our own command
        command, shell=True, capture_output=True, text=True, check=True, env=os.environ
    )
    assert ended.stdout.startswith("attackers,1,2,")
    assert ended.stderr == ""


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
