"""Every question describes all its parameters and keys."""

import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from iacta import Dice, IactaError, IllegalError, MalformedError, Rules, Territory
from iacta.cli.print_answer import COMMANDS
from iacta.forms import parameter_kinds, record
from iacta.forms.form import ClashError, Form, Parameter, format_error, parameter
from iacta.forms.parameter_kinds import Pairs, RulesName, Whole
from iacta.forms.question import Question
from iacta.forms.record import KeyedRecord, list_keys
from iacta.forms.sections import Table
from iacta.methods.kernel import Outcome
from iacta.plan.review import ReviewedStep
from iacta.questions import QUESTIONS, ask, find_question
from iacta.questions.battle import BattleQuestion
from iacta.rules.modes import ArmiesGrow
from tests.cases import for_each
from tests.processes import run_python

FORMS: list[type[Form]] = [*QUESTIONS.load_all(), *COMMANDS.load_all()]
DESCRIBED = [(form, parameter) for form in FORMS for parameter in form.parameters()]


@for_each("form", FORMS)
def test_each_form_has_a_summary_a_topic_and_known_parameters(form: type[Form]) -> None:
    assert form.summary().endswith(".")
    assert form.topic
    assert all(example.line.startswith(form.name) for example in form.examples)
    known = {each.name for each in form.parameters()}
    assert known == {field.name for field in fields(form)}
    conditions = [*form.one_of]
    for each in form.parameters():
        conditions += filter(None, [each.needs, each.excludes])
    assert known >= {name for each in conditions for name in re.split(" or | and ", each)}


def test_outlines_agree_with_the_forms_without_importing_them() -> None:
    outlines = [*QUESTIONS.read_outlines(), *COMMANDS.read_outlines()]
    forms = [form for form in FORMS if " " not in form.name]
    assert outlines == [(form.name, form.topic, form.examples[0], form.summary()) for form in forms]
    code = (
        "import sys\n"
        "from iacta.forms.question import QUESTIONS\n"
        "QUESTIONS.read_outlines()\n"
        "print(*sorted(sys.modules))"
    )
    loaded = run_python(code).stdout.split()
    assert not [name for name in loaded if name.startswith("iacta.questions.")]


@for_each(("form", "parameter"), DESCRIBED)
def test_each_parameter_is_described(form: type[Form], parameter: Parameter) -> None:
    assert parameter.help.endswith(".")
    assert "\n" not in parameter.help
    json.dumps(parameter.schema())
    default = parameter.default
    if not parameter.is_required and default is not None:
        kind = parameter.kind
        assert parameter.read(default) == default
        assert parameter.read(kind.to_json(default)) == default
        assert kind.parse(kind.format(default), parameter.name) == default


@for_each("form", QUESTIONS.load_all())
def test_each_key_of_an_answer_is_described(form: type[Question]) -> None:
    described = list(form.records())
    for kind in described:
        assert (kind.__doc__ or "").partition("\n")[0].endswith("."), kind
        for key in list_keys(kind):
            assert key.meaning.endswith("."), (kind, key)
            assert "\n" not in key.meaning
            described += [part for part in key.parts if part not in described]
    assert KeyedRecord not in described


def test_no_record_is_filled_by_position() -> None:
    source = Path(record.__file__).parent.parent
    filled = [
        (file.name, line)
        for file in source.rglob("*.py")
        for line in re.findall(r".*Record\(\*[^*].*", file.read_text("utf-8"))
    ]
    assert not filled
    with pytest.raises(TypeError, match="positional argument"):
        record.IntervalRecord(0.95, 0.8, 0.9)  # type: ignore[call-arg] # that is the claim


def test_a_key_of_a_domain_value_has_the_meaning_in_its_docstring() -> None:
    keys = {key.name: key for key in list_keys(ReviewedStep)}
    assert keys["start"].meaning == "The attacking territory; empty if the player stopped."
    assert keys["before"].meaning.endswith("before the step; `null` without a goal.")
    step = ReviewedStep(2, "red", "Peru", "Brazil", lost=1, killed=2, moved=3)
    assert {**record.json_value(step), "from": "Peru", "dice": None} == record.json_value(step)


def test_a_record_reads_the_meanings_that_it_does_not_state() -> None:
    class PairRecord(KeyedRecord, of=Outcome):
        """A pair."""

        attackers: int
        defenders: int = record.key("The other side.")

    first, second = list_keys(PairRecord)
    assert first.meaning.startswith("Armies on the attacking territory")
    assert second.meaning == "The other side."
    left = PairRecord.from_attributes(Outcome(3, 2))
    assert left.to_json() == {"attackers": 3, "defenders": 2}


@for_each(
    ("kind", "text", "value"),
    [
        (Whole(minimum=1), "12", 12),
        (Whole(minimum=None), "-3", -3),
        (Whole(minimum=1), "1e3", 1000),
        (parameter_kinds.Number(), "5/2", Fraction(5, 2)),
        (parameter_kinds.Chance(), "95%", Fraction(19, 20)),
        (parameter_kinds.Chance(), "1/3", Fraction(1, 3)),
        (parameter_kinds.Chance(impossible=True), "0%", Fraction(0)),
        (parameter_kinds.Flag(), "true", True),
        (parameter_kinds.OneOf(("break through", "territories")), "break-through", "break through"),
        (parameter_kinds.Name(), "house.toml", "house.toml"),
        (RulesName(), "Wall+Capital", "capital+wall"),
        (parameter_kinds.Way(), "22 8:capital@3~5", ("22", "8:capital@3~5")),
        (parameter_kinds.CommaList(Whole(minimum=None)), "-2,0,5", (-2, 0, 5)),
        (Pairs(Whole(), "Brazil:3"), "Brazil:3,Egypt:2", (("Brazil", 3), ("Egypt", 2))),
    ],
)
def test_a_value_survives_writing_and_reading(kind: Any, text: str, value: Any) -> None:
    assert kind.parse(text, "it") == value
    assert kind.check(value, "it") == value
    assert kind.parse(kind.format(value), "it") == value
    assert kind.check(json.loads(json.dumps(kind.to_json(value))), "it") == value


def test_house_rules_are_read_from_json() -> None:
    house = Rules(defence=Dice((8, 6)), garrison=2, mode=ArmiesGrow())
    assert RulesName().check(json.loads(json.dumps(RulesName().to_json(house))), "rules") == house
    question: Any = BattleQuestion(9, 8, rules={"garrison": 3})  # type: ignore[arg-type]
    assert question.rule_set.rules == Rules(garrison=3)


def test_questions_accept_python_values() -> None:
    asked = find_question("campaign")
    assert asked is not None
    question: Any = asked(  # type: ignore[call-arg]
        attackers=20, territories=[5, "3:bunker", Territory(2, stop=None)], rules=Rules(garrison=2)
    )
    assert question.campaign.attackers == 20
    assert question.own_rules == (None, "bunker", None)
    assert question.rule_set.rules.garrison == 2


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"attackers": "12", "defenders": 10}, "attackers must be a whole number of at least 1"),
        ({"attackers": True, "defenders": 10}, "attackers must be a whole number of at least 1"),
        ({"attackers": 12, "defenders": 10, "charge": 1}, "charge must be True or False, got 1"),
        ({"attackers": 12, "defenders": 10, "max_rolls": -1}, "max_rolls must be a whole number"),
        ({"attackers": 12, "defenders": 10, "rules": 5}, "rules must be a name or Rules, got 5"),
    ],
)
def test_invalid_values_are_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IactaError, match=sentence) as refused:
        ask("battle", **values)
    assert refused.value.parameter == sentence.split()[0]


def test_a_missing_parameter_is_refused() -> None:
    asked = find_question("battle")
    assert asked is not None
    with pytest.raises(MalformedError, match="missing defenders"):
        asked.parse({"attackers": "12"})


class Duel(Form):
    """Fight a duel."""

    first_shot: bool = parameter(parameter_kinds.Flag(), "Who shoots first.", default=False)
    seed: int | None = parameter(Whole(), "The seed.", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first_shot and self.seed is not None:
            raise ClashError("{first_shot} must stand without {seed}, got {seed} {0}", self.seed)


def test_errors_name_parameters_as_the_interface_does() -> None:
    def option(name: str) -> str:
        return f"--{name.rstrip('_').replace('_', '-')}"

    with pytest.raises(
        ClashError, match=r"^first_shot must stand without seed, got seed 3$"
    ) as clash:
        Duel(first_shot=True, seed=3)
    said = format_error(clash.value, Duel, option)
    assert said == "--first-shot must stand without --seed, got --seed 3"
    late = IllegalError("seed must be lucky, got 13", parameter="seed")
    assert format_error(late, Duel, option) == "--seed must be lucky, got 13"
    part = IllegalError("seed of both must be lucky, got 13", parameter="seed")
    assert format_error(part, Duel, option) == "--seed of both must be lucky, got 13"
    other = IllegalError("garrison must be small, got 9", parameter="garrison")
    assert format_error(other, Duel, option) == str(other)
    late.parameter = "first_shot"  # the message is about a part of the value
    assert format_error(late, Duel, option) == "seed must be lucky, got 13"


def test_a_question_loads_no_other_question_and_no_picture() -> None:
    code = (
        "import sys\n"
        "from iacta.questions import find_question\n"
        "find_question('battle')(3, 2).answer().record()\n"
        "print(*sorted(sys.modules))"
    )
    ended = run_python(code)
    loaded = set(ended.stdout.split())
    others = {f"iacta.questions.{each.name}" for each in QUESTIONS.load_all()} - {
        "iacta.questions.battle"
    }
    assert not loaded & {*others, "iacta.charts", "iacta.cli", "vl_convert", "rich"}


LONG_WORK: dict[str, dict[str, Any]] = {
    "plan": {"position": "1;classic;red;Peru:red:9,Brazil:blue:3", "take": "Brazil"},
    "simulate": {"attackers": 9, "territories": ["5"], "runs": 1000},
    "threats": {"code": "1;classic;red;Peru:red:3,Brazil:blue:9"},
    "win": {"code": "1;classic;red;Peru:red:3,Brazil:blue:9", "games": 10},
    "goals": {"code": "1;classic;red;Peru:red:9,Brazil:blue:2", "games": 10},
}


@pytest.mark.parametrize("name", LONG_WORK)
def test_progress_goes_to_a_function_of_two_arguments(name: str) -> None:
    seen = list[tuple[str, float | None]]()
    ask(name, watch=lambda doing, part: seen.append((doing, part)), **LONG_WORK[name])
    assert seen
    assert all(doing and (part is None or 0 <= part <= 1) for doing, part in seen)


def test_a_watch_must_be_a_function() -> None:
    with pytest.raises(MalformedError, match="watch must be a function, got 'loud'"):
        ask("battle", attackers=3, defenders=2, watch="loud")  # type: ignore[arg-type] # that is the claim


@pytest.mark.parametrize("rules", ["classic", "five ones", "capital"])
def test_losses_and_armies_left_add_up_to_the_armies_of_the_battle(rules: str) -> None:
    tables = [
        part
        for section in ask("battle", attackers=9, defenders=6, rules=rules).sections()
        for part in section.parts
        if isinstance(part, Table)
    ]
    rows = {str(row[0]): [float(str(cell)) for cell in row[1:]] for row in tables[0].rows}
    for who, armies in (("your", 9), ("their", 6)):
        lost, left = rows[f"{who} losses"], rows[f"{who} armies left"]
        sums = [one + other for one, other in zip(lost, left, strict=True)]
        assert sums == pytest.approx([armies] * 4, abs=0.011)  # rounded to two decimals
    (_, unlucky, _, lucky), theirs = rows["your losses"], rows["their losses"]
    assert unlucky > lucky
    assert theirs[1] < theirs[3]
