"""The pages: a page for each question, with a form and its answer, and a page about iacta."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from string import Formatter
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import iacta
from iacta.charts.saving import FIT
from iacta.charts.theme import SIZES, make_config
from iacta.forms.command_and_call import format_command, format_python_call
from iacta.forms.form import (
    ClashError,
    Example,
    Form,
    Parameter,
    Topic,
    format_error,
    format_option,
)
from iacta.forms.parameter_kinds import Chance, Flag, Number, OneOf, RulesName, Source, Whole
from iacta.forms.percentages import bar_percent
from iacta.forms.question import Answer, Question, Watch
from iacta.forms.sections import Section, Shaded, Table, format_cell
from iacta.forms.shared_parameters import draw_seed
from iacta.inputs.checks import split_words
from iacta.inputs.errors import IactaError
from iacta.methods import METHODS
from iacta.rules.variants import MODIFIERS, RULE_SETS, RuleSet, find_rule_set
from iacta.web.api import read_json_body
from iacta.web.client_gone import run_while_connected
from iacta.web.limits import MAX_CELLS, MAX_QUERY_BYTES
from iacta.web.process_pool import Work
from iacta.web.read_question import (
    list_parameters,
    list_served_questions,
    read_address,
    write_query,
)
from iacta.web.search_stream import answer_in_lines, wants_lines
from iacta.web.start import SIZE, draw_game
from iacta.web.worker import answer_within_limits, parse_body, write_part

QUICK = {"attackers": "8", "defenders": "5"}  # the first battle on the start page
FIRST = {"simulate": 1}  # index of the example that a form shows first; 0 for other questions
TURN = (
    "1;classic;red;Venezuela:red:5,Peru:red:3,Brazil:red:9,Argentina:blue:2,North%20Africa:blue:4,"
    "Central%20America:green:6,Egypt:green:3;place;place=4"
)
PASTED = {  # texts that replace the files in examples
    "audit": "attack,defence\n5 6 3,4 2\n4 1 4,3 6\n2 6 1,5 5\n5 3 3,1 3\n6 6 2,2 6\n3 4,5\n",
    "review": '{"turn": "1;classic;red;Venezuela:red:9,Brazil:blue:4,Peru:blue:2", '
    '"goal": {"take": "Brazil, Peru"}, "battles": ['
    '{"from": "Venezuela", "to": "Peru", "left": 8, "their_left": 0, "moved": 3}, '
    '{"from": "Venezuela", "to": "Brazil", "left": 1, "their_left": 2}]}\n',
    "goals": TURN,
    "steps": TURN,
    "threats": TURN,
    "win": TURN,
}
MORE = {"steps": {"take": "South America"}}  # further parameters for examples with these texts
NAMED_FILE = re.compile(r"\.(toml|jsonl?|csv)\b")
WORDS = {  # each question in a player's words
    "goals": "What can this turn reach?",
    "steps": "What did each step change?",
    "threats": "What can they do to me?",
    "win": "Who is winning?",
    "battle": "Will this attack succeed?",
    "campaign": "How far does this stack get?",
    "decide": "Roll again, or stop?",
    "need": "How many armies does it take?",
    "defend": "How many armies hold it?",
    "fronts": "Where do my new armies go?",
    "audit": "Are these dice fair?",
    "compare": "Do all methods agree?",
    "review": "Was it luck, or my mistakes?",
    "roll": "How costly is one roll?",
    "rules": "How do other rules differ?",
    "simulate": "What do a million games say?",
    "table": "All battles on one page",
}
UNLISTED = (Source,)  # kinds of parameters whose values do not fit into a URL
STEADY = ("plan",)  # questions that are too slow to answer while the user types
SHADES = 10
Pairs: TypeAlias = Sequence[tuple[str, str]]


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("iacta.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": format_label,
        "shade": _choose_shade,
        "bar": bar_percent,
        "cell": format_cell,
        "said": _replace_options_by_labels,
        "ticked": _mark_code,
    }
    environment.globals |= {"menu": list_menu, "takes_code": list_code_pages, "cut": _cut_table}
    environment.globals["kind"] = lambda part: type(part).__name__
    environment.globals["version"] = iacta.__version__
    # The relative path from a page to the root. Only the paths of error pages contain folders.
    environment.globals["up"] = ""
    return environment


def load_templates() -> None:
    """Compile all templates."""
    for name in _make_environment().list_templates():
        _make_environment().get_template(name)


def render_template(file: str, /, **values: Any) -> str:
    """Render a template as HTML.

    file: the name of the template.
    values: the variables of the template.
    """
    return _make_environment().get_template(file).render(values)


def list_menu() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield each topic with its pages: path, name, and the question in words."""
    forms = list_served_questions()
    # The board comes first because players use it most.
    for topic in sorted(Topic, key=lambda topic: topic is not Topic.BOARD):
        names = [name for name, form in forms.items() if form.topic is topic and name != "plan"]
        pages = [
            (name, format_label(name), WORDS.get(name, forms[name].summary())) for name in names
        ]
        pages = (
            [("map", "Board", "Play a turn on the map"), *pages] if topic is Topic.BOARD else pages
        )
        if pages:
            yield topic.value, pages
    yield "More", [("about", "About", "How it is computed"), ("docs", "API", "For programs")]


@cache
def list_code_pages() -> list[str]:
    """Return the pages of questions that accept the code of a turn."""
    forms = list_served_questions().items()
    return [name for name, form in forms if "code" in {each.name for each in form.parameters()}]


def format_label(name: str) -> str:
    """Return the label of a parameter or a question on pages.

    >>> format_label("max_rolls"), format_label("from_"), format_label("mix")
    ('Max rolls', 'Your armies', 'Roll or blitz')
    """
    return _name_on_page(name).capitalize()


def _name_on_page(name: str) -> str:
    return _list_labels().get(name) or name.rstrip("_").replace("_", " ")


@cache
def _list_labels() -> dict[str, str]:
    forms = list_served_questions().values()
    return {
        parameter.name: parameter.label
        for form in forms
        for parameter in form.parameters()
        if parameter.label
    }


def _replace_options_by_labels(text: str) -> str:
    """Replace command-line options in a text by the labels of parameters on pages.

    >>> _replace_options_by_labels("The same dice again: --max-rolls 7")
    'The same dice again: “Max rolls” 7'
    """
    return re.sub(
        r"--([a-z][a-z-]*)", lambda match: f"“{format_label(match[1].replace('-', '_'))}”", text
    )


def _mark_code(text: str) -> Markup:
    """Convert a text to HTML, with code elements for the parts in backticks.

    >>> str(_mark_code("as with `--json`, if x < y"))
    'as with <code>--json</code>, if x &lt; y'
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 # escaped


def _choose_shade(cell: Shaded) -> int:
    return round(cell.level * SHADES)


def _cut_table(table: Table) -> Table:
    """Truncate a table to about `MAX_CELLS` cells, which a browser can show quickly."""
    columns = min(len(table.columns), MAX_CELLS // 50)
    rows = MAX_CELLS // max(columns, 1)
    return Table(table.columns[:columns], [row[:columns] for row in table.rows[:rows]])


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
        return _replace_options_by_labels(self.parameter.help)

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
        return (kind.least if isinstance(kind, Whole | Number) else None) or 0

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
    words = form.examples[FIRST.get(form.name, 0)].line
    fields = []
    for parameter in list_inputs(form):
        is_used = f"{format_option(parameter.name)} " in f"{words} "
        is_main = (
            parameter.is_argument
            or parameter.is_required
            or is_used
            or parameter.name in ("log", "rules")
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
    if form.name in PASTED:
        (parameter,) = (each.name for each in form.parameters() if each.name in ("log", "code"))
        return form.parse({parameter: PASTED[form.name], **MORE.get(form.name, {})})
    return _read_example(form, form.examples[FIRST.get(form.name, 0)])


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
    sentence = format_error(error, form, _name_on_page)
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
    chart: the specification of the picture, if the question is too long for a URL.
    copies: the question as a command and as Python code; empty if it is too long.
    """

    link: str
    api: str
    query: str
    has_picture: bool
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
    return Elsewhere(f"{name}?{query}", f"api/v1/{name}", query, has_picture, chart, copies)


def make_problem_page(path: str, status: int, title: str, sentence: str) -> HTMLResponse:
    """Return the error page for a problem.

    path: the requested path, which determines the relative links to the root.
    status: the HTTP status.
    title: the problem in a few words.
    sentence: the problem in one sentence.
    """
    up = "../" * (path.count("/") - 1)
    return HTMLResponse(
        render_template("problem.html", title=title, sentence=sentence, path="", up=up), status
    )


def make_router(work: Work) -> APIRouter:
    """Return the routes of the pages.

    work: the worker processes that compute answers.
    """
    routes = APIRouter(include_in_schema=False)

    drawn = told = b""

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(await run_while_connected(request, work.run(write_start)))

    async def game(request: Request) -> Response:
        nonlocal drawn
        drawn = drawn or await work.search(write_game)
        return Response(drawn, media_type="image/svg+xml")

    async def about() -> HTMLResponse:
        nonlocal told
        told = told or await work.run(write_about)
        return HTMLResponse(told)

    async def theme() -> JSONResponse:
        return JSONResponse(
            {"light": make_config(dark=False), "dark": make_config(dark=True), **SIZES}
        )

    async def fit() -> FileResponse:
        return FileResponse(FIT, media_type="text/javascript; charset=utf-8")

    routes.add_api_route("/", home)
    routes.add_api_route("/game.svg", game)
    routes.add_api_route("/about", about)
    routes.add_api_route("/theme.json", theme)
    routes.add_api_route("/static/fit.js", fit)
    for name, form in list_served_questions().items():
        has_log = "log" in (parameter.name for parameter in form.parameters())
        methods = ["GET", "POST"] if has_log else ["GET"]  # a log may be too long for a URL
        routes.add_api_route(f"/{name}", _make_page(work, name), methods=methods)
    return routes


def _make_page(work: Work, name: str) -> Any:
    async def page(request: Request) -> Response:
        return await _answer_page(work, request, name)

    return page


async def _answer_page(work: Work, request: Request, name: str) -> Response:
    """Return the page of a question with the answer to a request."""
    form, is_posted = list_served_questions()[name], request.method == "POST"
    pairs = request.query_params.multi_items()
    if is_posted:
        body = await read_json_body(request)
        if wants_lines(request):
            return answer_in_lines(work, write_page, name, body)
        pairs = await work.run(read_pairs, body)
    texts = _join_texts(pairs)
    try:
        question = _add_seed(read_address(form, pairs)) if pairs else _make_first_question(form)
        run = work.search if form.is_search else work.run
        text = texts or _format_texts(question)
        page = run(write_answer, question, text, is_posted, not pairs)
        return HTMLResponse(await run_while_connected(request, page))
    except IactaError as error:
        return HTMLResponse(_render_question(form, texts, _place_problem(error, form)), 422)


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
        is_live=form.name not in STEADY,
        sections=sections,
        others=_list_examples(form),
        elsewhere=elsewhere,
        **{"has_log": False, "is_example": False, **more},
    )


def read_pairs(body: bytes) -> list[tuple[str, str]]:
    """Return the keys and values of a JSON object as pairs of strings."""
    return [(name, str(text)) for name, text in parse_body(body).items()]


class _PageSoFar(NamedTuple):
    """The page with the best answer of an unfinished search."""

    question: Question
    answer: Answer
    texts: Mapping[str, str]

    def record(self) -> str:
        return _fill_page(self.question, self.answer, self.texts, is_final=False)


def write_page(name: str, body: bytes, watch: Watch) -> bytes:
    """Return the page of a question with its answer or its problem, as a JSON string.

    name: the name of the question.
    body: the question as JSON.
    watch: a callback for progress, and for pages with the answer so far.
    """
    form, pairs = list_served_questions()[name], read_pairs(body)
    texts = _join_texts(pairs)
    try:
        question = _add_seed(read_address(form, pairs))

        def report(
            doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None
        ) -> None:
            page = None if so_far is None else _PageSoFar(question, so_far, texts)
            watch(doing, part, keeps=keeps, so_far=page)

        answer = answer_within_limits(question, report)
        page = _fill_page(question, answer, texts, has_chart=True)
    except IactaError as error:
        page = _render_question(form, texts, _place_problem(error, form))
    return json.dumps(page).encode()


def write_answer(
    question: Question, texts: Mapping[str, str], has_chart: bool, is_example: bool
) -> bytes:
    """Return the page of a question with its answer.

    question: the question.
    texts: the text of each field, by parameter.
    has_chart: whether the page contains the specification of the chart.
    is_example: whether the question is the initial example of the page.
    """
    answer = answer_within_limits(question)
    options = {"has_chart": has_chart, "is_example": is_example}
    return _fill_page(question, answer, texts, **options).encode()


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


def write_start() -> bytes:
    """Return the start page."""
    answer = answer_within_limits(list_served_questions()["battle"].parse(QUICK))
    lead = next(iter(answer.sections())).parts[0]
    return render_template("start.html", path="", lead=lead, **QUICK, **SIZE).encode()


def write_game() -> bytes:
    """Return a picture of a turn played by a plan, as SVG."""
    return render_template("game.svg", **draw_game()).encode()


def write_about() -> bytes:
    """Return the page about iacta."""
    return render_template("about.html", path="about", **_describe_iacta()).encode()


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


@dataclass(frozen=True)
class Article:
    """An article whose results iacta recomputes.

    name: the authors and the title.
    values, figures: the number of recomputed values and of recomputed figures.
    errata: the place and the description of each mistake in the article.
    """

    name: str
    values: int
    figures: int
    errata: list[tuple[str, str]]


@cache
def _describe_iacta() -> dict[str, Any]:
    """Return the methods and articles for the page about iacta."""
    from iacta_literature.published import read_rows  # a slow import
    from iacta_literature.run import SOURCES

    errata = read_rows("errata")
    sources = [
        Article(
            source.name,
            sum(len(read_rows(f"{source.key}_{table}")) for table in source.tables),
            len(source.figures),
            [(row["where"], row["sentence"]) for row in errata if row["source"] == source.key],
        )
        for source in SOURCES
    ]
    files = [f"iacta.methods.{name}" for name in METHODS]
    docs = [import_module(file).__doc__ or "" for file in files if find_spec(file)]
    return {
        "methods": [_split_title(doc) for doc in docs],
        "sources": sources,
        "values": sum(source.values for source in sources),
    }


def _split_title(doc: str) -> tuple[str, str]:
    """Return the title and the summary in the first paragraph of a docstring.

    >>> _split_title("Closed form: exact odds, by counting paths.")
    ('Closed form', 'exact odds, by counting paths')
    """
    begins = doc.partition("\n\n")[0].replace("`", "")
    title, _, rest = " ".join(begins.split()).partition(": ")
    return title, rest.rstrip(".")
