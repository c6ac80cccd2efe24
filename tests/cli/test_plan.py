"""`iacta plan`: answers equal the library's, and errors are one sentence."""

import io
import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import iacta
from iacta import TakeAll, best_plan, read_position
from iacta.cli.terminal import show_progress
from iacta.game import Turn
from iacta.questions import ask
from iacta.questions.plan import PlanAnswer, PlanQuestion
from iacta.questions.plan import question as asked
from tests.cli.run import Result, Run
from tests.tables import table

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
ASIA = EXAMPLES / "asia.toml"

SMALL = Path(__file__).with_name("small.toml").read_text("utf-8")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the file of a small position."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    return file


def record(result: Result) -> dict[str, Any]:
    """Parse the output of `--json`."""
    assert (result.code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_need_answers_when_no_attack_is_possible(run: Run, small: Path) -> None:
    small.write_text(SMALL.replace("armies = 9", "armies = 1"), encoding="utf-8")
    printed = run(f"plan {small} --take East --need 50%").stdout
    assert printed.startswith("You cannot take East: red has no stack that can attack: ")
    assert printed.splitlines()[1].startswith("For a chance of at least 50% you need ")


def test_the_position_may_come_from_standard_input(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert run("plan - --take East").stdout.startswith("You take East with a chance of ")


def test_the_position_may_be_a_value(small: Path) -> None:
    position, table = read_position(small), tomllib.loads(SMALL)
    for given in (small, str(small), position, table):
        found = ask("plan", position=given, take="East", keep={"B": 2}).record()
        assert (
            found["win_probability"]
            == best_plan(Turn(position, keep={"B": 2}), TakeAll("East")).value
        )


def test_the_progress_callback_receives_the_best_plan_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed: list[str] = []

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
    ) -> None:
        assert (part, keeps) == (None, True)
        printed.append(doing)

    def search(*_: object, progress: Callable[[float, float], None], **__: object) -> None:
        progress(0.5, 0.75)
        raise KeyboardInterrupt

    monkeypatch.setattr(asked, "best_plan", search)
    for question in (
        PlanQuestion(str(ASIA), take="Asia", prove=Fraction(1, 100)),
        PlanQuestion(str(ASIA), worth=True, prove=Fraction(1, 100)),
    ):
        with pytest.raises(KeyboardInterrupt):
            question.answer(watch)
    assert printed == [
        "Planning; best so far 50.00%",
        "Planning; best so far 0.50 more than now",
    ]


def test_without_time_for_the_fewest_armies_the_plan_is_still_shown(run: Run) -> None:
    line = f"plan {ASIA} --take Asia --need 90% --time-limit 0"
    ended = run(line)
    assert ended.code == 0
    assert "There was no time to find the fewest armies." in ended.stdout.splitlines()
    assert "need" not in json.loads(run(f"{line} --json").stdout)


def test_a_terminal_shows_progress_and_the_effect_of_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iacta.cli.terminal.PROGRESS_DELAY", 0.0)
    monkeypatch.setattr("iacta.cli.terminal.REFRESH_INTERVAL", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with show_progress() as watch:
        watch("Planning", None, keeps=True)
        watch("Throwing dice", 0.5)
    printed = capsys.readouterr().err.split("\r\x1b[K")
    assert "Planning; Ctrl-C keeps the best so far." in printed
    assert "Throwing dice; Ctrl-C stops it. 50% done, 0 s left." in printed
    assert printed[-1] == "", "the line is wiped at the end"


@pytest.mark.parametrize(*table(__file__, "wrong_positions"))
def test_wrong_files_get_one_sentence_with_their_name(
    run: Run, tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text, encoding="utf-8")
    result = run(f"plan {file} --take Peru")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert f"position file '{file}': " in result.stderr
    assert words in result.stderr


def test_an_unreachable_territory_is_named(run: Run, small: Path) -> None:
    small.write_text(SMALL.replace('B = ["D"]', "B = []"), encoding="utf-8")
    ended = run(f"plan {small} --take East")
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout == "You cannot take East: no path leads to D.\n"
    found = record(run(f"plan {small} --take East --json"))
    assert (found["win_probability"], found["why"]) == (0.0, "no path leads to D")
    printed = run(f"plan {small} --take East --then C").stdout
    assert printed == "You cannot take East, then take C: no path leads to D.\n"


def test_a_failed_search_does_not_claim_impossibility(small: Path) -> None:
    plan = replace(best_plan(read_position(small), TakeAll("East")), win_probability=0.0, value=0.0)
    for bound, printed in (
        (0.25, "The search found no plan to take East; no plan can have a chance above 25.00%."),
        (1.0, "The search found no plan to take East; one may exist."),
    ):
        answer = PlanAnswer(
            PlanQuestion(str(small), take="East"), replace(plan, upper_bound=bound, proven=False)
        )
        assert answer.sentence == printed
        assert answer.record()["why"] is None


def test_a_worth_may_pay_for_goals(run: Run, small: Path) -> None:
    position = read_position(small)
    prizes = (TakeAll("C"), 3.0), (iacta.eliminate(position, "blue"), 0.5)
    found = ask(
        "plan", position=small, worth=True, prizes={"C": 3, "eliminate blue": "1/2"}
    ).record()
    assert found["value"] == best_plan(position, iacta.Worth(prizes=prizes)).value
    printed = record(run(f"plan {small} --worth --prizes C:3;B,D:1/2 --json"))
    assert printed["value"] == found["value"]
    assert [each["worth"] for each in found["goal"]["prizes"]] == [3.0, 0.5]
    assert found["value"] > record(run(f"plan {small} --worth --json"))["value"]


def test_too_many_runs_are_refused_before_planning(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "best_plan", None)
    result = run(f"plan {ASIA} --take Asia --check 1e30")
    assert result.stderr.startswith("iacta: --check must be a whole number from 1 to 10000000, ")
    assert result.code == 2


@pytest.mark.parametrize("stopped", ["armies_needed_for_plan", "simulate_plan"])
def test_ctrl_c_prints_the_best_plan_so_far(
    run: Run, small: Path, monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    plain = run(f"plan {small} --take East")

    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    option = "--need 95%" if stopped == "armies_needed_for_plan" else "--check 100"
    monkeypatch.setattr(asked, stopped, interrupted)
    result = run(f"plan {small} --take East {option}")
    assert (result.code, result.stdout, result.stderr) == (130, plain.stdout, "")


def test_certain_success_is_100_percent_under_balanced_blitz(
    run: Run, small: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "blitz.toml"
    rules.write_text('dice_mode = "balanced blitz"\n', encoding="utf-8")
    small.write_text(SMALL.replace("armies = 9", "armies = 90"), encoding="utf-8")
    line = f"plan {small} --take East"
    assert run(line).stdout.startswith("You take East with a chance of more than 99.99%")
    printed = run(f"{line} --rules-file {rules}").stdout
    assert printed.startswith("You take East with a chance of 100%")
    assert "99.99" not in printed
    checked = run(f"{line} --rules-file {rules} --check 100").stdout.splitlines()[1]
    assert checked.startswith("In 100 games with simulated battles the plan succeeded in ")


def test_a_board_too_large_to_be_drawn_is_refused_before_planning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{k}" for k in range(501)]
    board = {
        "name": "long",
        "territories": dict(zip(names, [[n] for n in names[1:]] + [[]], strict=True)),
    }
    holdings = {n: {"owner": "red" if n == "t0" else "blue", "armies": 3} for n in names}
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"board": board, "player": "red", "territories": holdings}))
    monkeypatch.setattr(asked, "best_plan", None)
    result = run(f"plan {file} --take t1 --plot {tmp_path / 'long-map.json'}")
    assert result.code == 2
    assert result.stderr.startswith("iacta: a board must have at most ")
    assert result.stderr.endswith(" territories to be drawn, got 501\n")


def test_a_worth_is_reported_with_its_interval(small: Path) -> None:
    plan = best_plan(read_position(small), iacta.Worth())
    guessed = replace(plan, value=4.5, interval=(4.25, 4.75), upper_bound=6.0, proven=False)
    found = next(PlanAnswer(PlanQuestion(str(small), worth=True), guessed).sections())
    first, reason, unit = found.parts
    assert first == ("Attacking gains about 3.5 points (3.25 to 3.75); a better plan may exist.")
    assert "territories more" in str(reason)
    assert unit == (
        "Points count at the end of your turn, even if others take territories back: 1 for a "
        "territory and 1 for each army of a bonus."
    )
    none = replace(guessed, steps=())
    assert PlanAnswer(PlanQuestion(str(small), worth=True), none).sentence == (
        "The search found no attack that pays; a better plan may exist."
    )


def test_an_estimate_is_reported_with_the_digits_that_its_interval_supports(small: Path) -> None:
    plan = best_plan(read_position(small), TakeAll("East"))
    guessed = replace(plan, win_probability=0.62, value=0.62, interval=(0.61, 0.63), proven=False)
    for bound, said in (
        (0.625, "; no plan is more than 0.5 points better."),
        (0.7, "; a better plan may exist."),
        (0.98, "; a better plan may exist."),
    ):
        found = replace(guessed, upper_bound=bound)
        answer = PlanAnswer(PlanQuestion(str(small), take="East"), found)
        assert answer.sentence == f"You take East with a chance of 62%{said}"
        assert answer.record()["interval"] == {"level": 0.95, "low": 0.61, "high": 0.63}
        last = [*answer.sections()][-1].parts[-1]
        assert (last == "No plan has a chance above 70.00%.") == (bound == 0.7)
    rough = replace(guessed, interval=(0.5, 0.7))
    answer = PlanAnswer(PlanQuestion(str(small), take="East"), rough)
    assert answer.sentence.startswith("You take East with a chance that is not known yet")


def test_a_stack_may_be_placed_on_a_custom_board() -> None:
    board = iacta.Board.from_edges("tiny", [("A", "B"), ("B", "C")])
    for given in (board, {"territories": {"A": ["B"], "B": ["C"], "C": []}}):
        found = ask("plan", board=given, from_={"A": 7}, others={"B": 2, "C": 1}, take="B,C")
        assert found.record()["win_probability"] == pytest.approx(0.839586, abs=1e-6)
    for_all = ask("plan", board=board, from_={"A": 7}, others=2, take="B,C")
    assert for_all.record()["win_probability"] < found.record()["win_probability"]


def test_a_turn_continues_after_all_armies_left_a_territory(run: Run) -> None:
    code = (
        "1;classic;red;Peru:red:9,Brazil:blue:1,Argentina:blue:1,"
        "Venezuela:green:2,Central%20America:green:1"
    )
    goals = ["--eliminate", "blue", "--cards", "blue=4,red=2", "--then", "eliminate green"]
    found = record(run.words(["plan", code, *goals, "--garrison", "0", "--json"]))
    ends = {each["name"]: each for each in found["territories"]}
    assert ends["Peru"]["own_probability"] == 1.0
    assert ends["Peru"]["expected_armies"] == 0.0
