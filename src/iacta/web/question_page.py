"""The page of a question: the form, the answer, links and copies. Worker processes write it."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from string import Formatter
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.form import (
    ClashError,
    Example,
    Form,
    Parameter,
    format_error,
    format_option,
)
from iacta.forms.parameter_kinds import Chance, Flag, Number, OneOf, RulesName, Source, Whole
from iacta.forms.question import Answer, Question, Watch
from iacta.forms.sections import Section
from iacta.forms.shared_parameters import draw_seed
from iacta.inputs.checks import split_words
from iacta.inputs.errors import IactaError
from iacta.rules.variants import MODIFIERS, RULE_SETS, RuleSet, find_rule_set
from iacta.web.limits import MAX_QUERY_BYTES
from iacta.web.read_question import list_parameters, read_address, write_query
from iacta.web.templates import name_on_page, render_template, replace_options_by_labels
from iacta.web.worker import (
    FORMS,
    Given,
    Page,
    answer_within_limits,
    parse_body,
    write_part,
)

NAMED_FILE = re.compile(r"\.(toml|jsonl?|csv)\b")
UNLISTED = (Source,)  # kinds of parameters whose values do not fit into a URL


@dataclass(frozen=True)
class Field:
    """An input field of a form.

    parameter: the parameter of the question.
    value: the text in the field.
    problem: the problem with this text; empty if there is none.
    is_main: whether the field is always visible; other fields are collapsed.
    """

    parameter: Parameter
    value: str
    problem: str
    is_main: bool

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def kind(self) -> str:
        kind = self.parameter.kind
        if kind.is_list:
            return "row"
        if self.parameter.metavar == "TEXT":
            return "lines"
        looks = {Flag: "flag", RulesName: "rules", OneOf: "choice"}
        looks |= {Whole: "whole", Chance: "chance", Number: "number"}
        return next((look for known, look in looks.items() if type(kind) is known), "text")

    @property
    def help(self) -> str:
        return replace_options_by_labels(self.parameter.help)

    @property
    def is_open(self) -> bool:
        """Whether to show the field: it has a problem or a value that is not the default."""
        if self.name == "code":  # the menu fills in the code of the board
            return bool(self.problem)
        usual = "" if self.parameter.default is None else self.parameter.default_text
        return bool(self.problem) or self.value not in ("", usual)

    @property
    def is_on(self) -> bool:
        return self.value.casefold() in ("true", "1", "on")

    @property
    def has_steps(self) -> bool:
        return self.kind in ("whole", "number", "chance") and self.name != "seed"

    @property
    def first_faulty_index(self) -> int | None:
        """The index of the first invalid entry; `None` if no single entry is to blame."""
        if not self.problem or not self.parameter.kind.is_list:
            return None
        for index, entry in enumerate(split_words(self.value)):
            try:
                self.parameter.read([entry])
            except IactaError:
                return index
        return None

    @property
    def reading(self) -> str:
        """The chance as a percentage, such as "= 50%"; empty if the text is this percentage."""
        if self.kind != "chance" or not self.value or self.problem:
            return ""
        try:
            chance = self.parameter.read(self.value, is_text=True)
        except IactaError:
            return ""
        text = f"{float(100 * chance):.4g}%"
        return "" if text == self.value.strip() else f"= {text}"

    @property
    def input_mode(self) -> str:
        return {"whole": "numeric", "number": "decimal", "chance": "decimal"}.get(self.kind, "text")

    @property
    def least(self) -> int:
        kind = self.parameter.kind
        return (kind.minimum if isinstance(kind, Whole | Number) else None) or 0

    @property
    def options(self) -> list[tuple[str, str]]:
        """The value and the label of each choice."""
        kind = self.parameter.kind
        words = kind.words if isinstance(kind, OneOf) else ()
        usual = self.parameter.default is None
        return [
            ("" if usual and kind.format(word) == self.parameter.usual else kind.format(word), word)
            for word in words
        ]

    @property
    def selected_value(self) -> str:
        """The value to select in the form; empty for the default of an optional field."""
        is_usual = self.parameter.default is None and self.value == self.parameter.usual
        return "" if is_usual else self.value

    @property
    def rule_sets(self) -> list[tuple[str, list[RuleSet]]]:
        games: dict[str, list[RuleSet]] = {}
        for rule_set in RULE_SETS:
            games.setdefault(re.split(r"[,;(]", rule_set.source)[0].strip(), []).append(rule_set)
        return [*games.items(), ("Stacked", _combine_modifiers())]

    @property
    def rule_set(self) -> RuleSet | None:
        try:
            return find_rule_set(self.value or self.parameter.usual)
        except IactaError:
            return None


@cache
def _combine_modifiers() -> list[RuleSet]:
    names = [modifier.name for modifier in MODIFIERS]
    return [
        find_rule_set("+".join(some))
        for count in range(2, len(names) + 1)
        for some in combinations(names, count)
    ]


def list_inputs(form: type[Form]) -> list[Parameter]:
    """Return the parameters that have a field in the form."""
    return [
        parameter for parameter in list_parameters(form) if not isinstance(parameter.kind, UNLISTED)
    ]


def _list_fields(
    form: type[Question], texts: Mapping[str, str], problems: Mapping[str, str]
) -> list[Field]:
    """Return the fields of a form, the main fields first."""
    words = form.examples[0].line
    fields = []
    for parameter in list_inputs(form):
        is_used = f"{format_option(parameter.name)} " in f"{words} "
        is_main = (
            parameter.is_argument
            or parameter.is_required
            or is_used
            or (parameter.name in form.first_texts and parameter.name != "code")
            or parameter.name == "rules"
        )
        usual = "" if parameter.default is None else parameter.default_text
        is_flag = isinstance(parameter.kind, Flag)
        text = texts.get(parameter.name, "" if is_flag else usual)
        fields.append(Field(parameter, text, problems.get(parameter.name, ""), is_main))
    return sorted(fields, key=lambda field: not field.is_main)


def _join_texts(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the text of each parameter in a query; join the texts of repeated parameters."""
    texts: dict[str, str] = {}
    for name, text in pairs:
        texts[name] = f"{texts[name]} {text}" if name in texts else text
    return texts


def _make_first_question(form: type[Question]) -> Question:
    if form.first_texts:
        return form.parse(form.first_texts)
    return _read_example(form, form.examples[0])


def _read_example(form: type[Question], example: Example) -> Question:
    known = {
        parameter.name.rstrip("_").replace("_", "-"): parameter for parameter in form.parameters()
    }
    free = [parameter for parameter in form.parameters() if parameter.is_argument]
    texts: dict[str, Any] = {}
    words = iter(shlex.split(example.line)[1:])
    for word in words:
        if word.startswith("--"):
            parameter = known[word.removeprefix("--")]
            texts[parameter.name] = True if isinstance(parameter.kind, Flag) else next(words)
        elif free[0].kind.is_list:
            texts.setdefault(free[0].name, []).append(word)
        else:
            texts[free.pop(0).name] = word
    return form.parse(texts)


def _add_seed(question: Question) -> Question:
    """Set the seed of a question, so that its links and picture show the same answer."""
    if getattr(question, "seed", 0) is not None:
        return question
    try:
        return replace(question, seed=draw_seed())  # type: ignore[call-arg] # has a seed
    except IactaError:
        return question  # the question uses no random numbers


def _place_problem(error: IactaError, form: type[Question]) -> dict[str, str]:
    """Return a mapping from the parameter of an error, or `""`, to the error message."""
    sentence = format_error(error, form, name_on_page)
    names = [parameter.name for parameter in list_inputs(form)]
    if isinstance(error, ClashError):
        sentence = error.on_page or sentence
        parts = Formatter().parse(error.sentence)
        about = [name for _, name, _, _ in parts if name in names]
    else:
        about = [form.find_faulty_parameter(error) or ""]
    return {next((name for name in about if name in names), ""): sentence}


@dataclass(frozen=True)
class Elsewhere:
    """Links to the same answer in other forms.

    link: the URL of the page; a log that is too long for a URL is omitted.
    api: the URL of the record.
    query: the query string for the API.
    has_picture: whether the answer has a picture.
    is_sheet: whether the picture fills a printed page.
    chart: the specification of the picture, if the question is too long for a URL.
    copies: the question as a command and as Python code; empty if it is too long.
    """

    link: str
    api: str
    query: str
    has_picture: bool
    is_sheet: bool
    chart: str
    copies: list[tuple[str, str]]


def _has_picture(question: Question) -> bool:
    try:
        question.check_chart()
    except IactaError:
        return False
    return True


def _make_links(question: Question, chart: str) -> Elsewhere:
    query, name, has_picture = write_query(question), question.name, _has_picture(question)
    if len(query) <= MAX_QUERY_BYTES:
        copies = [("Command", format_command(question)), ("Python", format_python_call(question))]
    else:
        copies, query = [], urlencode([pair for pair in parse_qsl(query) if pair[0] != "log"])
    is_sheet = getattr(question, "show", "") == "sheet"
    return Elsewhere(
        f"{name}?{query}", f"api/v1/{name}", query, has_picture, is_sheet, chart, copies
    )


def _render_question(
    form: type[Question],
    texts: Mapping[str, str],
    problems: Mapping[str, str],
    sections: Iterable[Section] = (),
    elsewhere: Elsewhere | None = None,
    **more: Any,
) -> str:
    """Return the page of a question as HTML.

    form: the class of the question.
    texts: the text of each field, by parameter.
    problems: the problem of each field, by parameter.
    sections: the sections of the answer.
    elsewhere: links to the answer in other forms.
    more: further variables of the template.
    """
    return render_template(
        "question.html",
        path=form.name,
        name=form.name,
        summary=form.summary(),
        fields=_list_fields(form, texts, problems),
        problem=problems.get("", ""),
        is_live=form.is_live,
        sections=sections,
        others=_list_examples(form),
        elsewhere=elsewhere,
        **{"has_log": False, "is_example": False, **more},
    )


class _PageSoFar(NamedTuple):
    """The page with the best answer of an unfinished search."""

    question: Question
    answer: Answer
    texts: Mapping[str, str]

    def record(self) -> str:
        return _fill_page(self.question, self.answer, self.texts, is_final=False)


def write_page(name: str, given: Given, *, watch: Watch | None = None) -> Page:
    """Return the page of a question with its answer, or with the problem of the request.

    name: the name of the question.
    given: the names and values of a query, or a JSON object; empty for the initial example. The
        page of a JSON object, whose link may be too long, contains the specification of the chart.
    watch: a callback for progress, and for pages with the answer so far.
    """
    form, pairs = FORMS[name], _read_pairs(given)
    texts = _join_texts(pairs)
    try:
        question = _add_seed(read_address(form, pairs)) if pairs else _make_first_question(form)
        shown = texts or _format_texts(question)

        def report(
            doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None
        ) -> None:
            if watch is not None:
                page = None if so_far is None else _PageSoFar(question, so_far, shown)
                watch(doing, part, keeps=keeps, so_far=page)

        answer = answer_within_limits(question, report)
        has_chart = isinstance(given, bytes)
        page = _fill_page(question, answer, shown, has_chart=has_chart, is_example=not pairs)
        return Page(page.encode())
    except IactaError as error:
        return write_problem(name, given, error)


def write_problem(name: str, given: Given, error: IactaError) -> Page:
    """Return the page of a question with a problem instead of an answer.

    name, given: the same as for `write_page`.
    error: the problem.
    """
    form = FORMS[name]
    problems = _place_problem(error, form)
    return Page(_render_question(form, _join_texts(_read_pairs(given)), problems).encode(), 422)


def write_page_as_json(name: str, body: bytes, watch: Watch) -> bytes:
    """Return the page of a question as a JSON string; see `write_page`."""
    return json.dumps(write_page(name, body, watch=watch).body.decode()).encode()


def _read_pairs(given: Given) -> Sequence[tuple[str, str]]:
    if isinstance(given, bytes):
        return [(name, str(text)) for name, text in parse_body(given).items()]
    return given


def _fill_page(
    question: Question,
    answer: Answer,
    texts: Mapping[str, str],
    *,
    has_chart: bool = False,
    is_example: bool = False,
    is_final: bool = True,
) -> str:
    """Return the page of an answer. An unfinished answer has no picture."""
    chart = write_part(answer, "spec") if has_chart and _has_picture(question) else ""
    links = _make_links(question, chart)
    return _render_question(
        type(question),
        texts,
        {},
        [*answer.sections()],
        links if is_final else replace(links, has_picture=False),
        has_log=bool(getattr(question, "log", None)),
        is_example=is_example,
    )


def _format_texts(question: Question) -> dict[str, str]:
    """Return the text of each parameter of a question."""
    parameters = list_inputs(type(question))
    values = [(parameter, getattr(question, parameter.name)) for parameter in parameters]
    return {
        parameter.name: parameter.kind.format(value)
        for parameter, value in values
        if value not in (None, False)
    }


def _list_examples(form: type[Question]) -> list[tuple[str, str]]:
    """Return the examples without files, as pairs of a URL and the question in words."""
    examples = [
        (_read_example(form, example), example.words)
        for example in form.examples
        if not NAMED_FILE.search(example.line)
    ]
    names = [
        parameter.name for parameter in form.parameters() if parameter not in list_inputs(form)
    ]
    return [
        (f"{form.name}?{write_query(question)}", words)
        for question, words in examples
        if all(getattr(question, name) is None for name in names)
    ]
