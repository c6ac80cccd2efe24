"""The command and the Python call shown with an answer give the same record."""

import io
import json
import shlex
import tomllib
from types import SimpleNamespace

import pytest

import iacta
from iacta import Board, Dice, IllegalError, Position, Rules, read_position
from iacta.cli.parse import read_words
from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.question import QUESTIONS, Question
from iacta.questions.battle import BattleQuestion
from iacta.questions.campaign import CampaignQuestion
from iacta.questions.plan import PlanQuestion
from tests.cases import for_each
from tests.cli.run import Run

HOUSE = Rules(attack=Dice((8, 6, 6)), ties="attacker")
TINY = Board.from_edges("tiny", [("A", "Bad Ems"), ("Bad Ems", "C")])
POSITION = Position(TINY, "red", {"A": ("red", 9)}, others=("blue", 2))


SLOW = "analysis", "board", "compare", "goals", "plan", "steps", "threats", "win"


def list_questions() -> list[Question]:
    """Return fast examples, and questions with values that need quotes."""
    found = [
        form.parse(read_words(form.parameters(), shlex.split(each.line)[1:], form.name))
        for form in QUESTIONS.load_all()
        for each in form.examples
        if form.name not in SLOW and not {"rolls.csv", "game.jsonl"} & {*each.line.split()}
        if "narrate" not in each.line and "1e6" not in each.line
    ]
    return [
        *found,
        CampaignQuestion(("5", "8:zombie attacker@2"), attackers=20, narrate=True, seed=3),
        CampaignQuestion(("5",), attackers=7, garrison=2, rules="zombie defender", charge=True),
    ]


@for_each("question", list_questions())
def test_the_command_and_the_python_call_give_the_same_record(question: Question, run: Run) -> None:
    record = json.loads(json.dumps(question.answer().record()))
    printed = run.words([*shlex.split(format_command(question))[1:], "--json"])
    assert json.loads(printed.stdout) == record
    called = eval(format_python_call(question), {"iacta": iacta})  # noqa: S307 # as who copies it does
    assert json.loads(json.dumps(called.record())) == record


def test_house_rules_follow_as_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    question = BattleQuestion(5, 3, rules=HOUSE)
    command, _, handed = format_command(question).partition(" <<'END'\n")
    stream = io.TextIOWrapper(io.BytesIO(handed.removesuffix("END").encode()))
    monkeypatch.setattr("sys.stdin", stream)
    printed = run.words([*shlex.split(command)[1:], "--json"])
    called = eval(format_python_call(question), {"iacta": iacta})  # noqa: S307 # as above
    chance = question.answer().record()["win_probability"]
    assert json.loads(printed.stdout)["win_probability"] == chance
    assert called.record()["win_probability"] == chance


def test_position_follows_as_input() -> None:
    question = PlanQuestion(POSITION, take="Bad Ems", keep=(("A", 2),))
    command, _, handed = format_command(question).partition(" <<'END'\n")
    assert command == "iacta plan - --take 'Bad Ems' --keep A:2"
    assert read_position(tomllib.loads(handed.removesuffix("END"))) == POSITION
    asking = SimpleNamespace(ask=lambda name, **given: (name, PlanQuestion(**given)))
    assert eval(format_python_call(question), {"iacta": asking}) == ("plan", question)  # noqa: S307 # as above


def test_two_files_on_standard_input_are_refused() -> None:
    with pytest.raises(IllegalError, match="can read either a position"):
        format_command(PlanQuestion(POSITION, take="C", rules=HOUSE))
    with pytest.raises(IllegalError, match="a board cannot be part of a command"):
        format_command(PlanQuestion(board=TINY, from_=(("A", 9),), others=2, take="C"))  # type: ignore[arg-type]
