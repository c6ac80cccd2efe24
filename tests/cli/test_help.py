"""Help, and parsing of command lines."""

import pytest

from iacta.cli.parse import format_argument
from iacta.cli.print_answer import COMMANDS, OutputOptions
from iacta.forms.form import Form, Topic, format_option
from iacta.forms.moment import VictoryForm
from iacta.forms.question import QUESTIONS, Question
from tests.cases import for_each
from tests.cli.run import Run
from tests.processes import NUMPY_ONLY, run_python
from tests.tables import table

FORMS: list[type[Form]] = [*QUESTIONS.load_all(), *COMMANDS.load_all()]


def flat(text: str) -> str:
    """Return a string without its line breaks."""
    return " ".join(text.split())


def test_the_overview_lists_every_command_by_topic(run: Run) -> None:
    text = run("--help").stdout
    assert text == run("").stdout == run("-h").stdout
    places = [text.index(f"{topic.value}:") for topic in Topic]
    assert places == sorted(places)
    for form in FORMS:
        if " " not in form.name:
            assert f"  {form.name} " in text
            assert form.summary() in flat(text)


@for_each("form", FORMS)
def test_help_describes_each_parameter(run: Run, form: type[Form]) -> None:
    if form.name == "chart":
        return
    result = run(f"{form.name} --help")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: iacta {form.name} [OPTIONS]")
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = flat(result.stdout)
    assert form.summary() in text
    shown = OutputOptions.parameters() if issubclass(form, Question) else ()
    for parameter in (*form.parameters(), *shown):
        if parameter.page not in ("", parameter.name):
            continue
        name = parameter.name
        called = format_argument(parameter) if parameter.is_argument else format_option(name)
        assert f" {called} " in text
        assert parameter.help in text
        if parameter.default_text:
            assert f"[default: {parameter.default_text.replace(',', ', ')}]" in text
    assert len(form.examples) > 1 or form.name.startswith("chart ")
    for example in form.examples:
        assert f"iacta {example.line}" in text


def test_a_page_describes_the_ways_to_win(run: Run) -> None:
    result = run("help win-by")
    assert (result.code, result.stderr) == (0, "")
    assert result == run("win-by --help")
    for parameter in VictoryForm.parameters():
        assert parameter.page == "win_by"
        assert f" {format_option(parameter.name)} " in result.stdout
        assert parameter.help in flat(result.stdout)
    for example in VictoryForm.examples:
        assert f"iacta {example.line}" in result.stdout
        form = next(form for form in FORMS if form.name == example.line.split()[0])
        assert issubclass(form, VictoryForm)
        assert "See iacta help win-by." in flat(run(f"{form.name} --help").stdout)


@for_each("form", FORMS)
def test_help_has_at_most_sixty_lines(run: Run, form: type[Form]) -> None:
    assert len(run(f"{form.name} --help").stdout.splitlines()) <= 60


def test_help_needs_no_extra() -> None:
    lines = [f"help {form.name}" for form in FORMS] + ["help", "serve"]
    code = (
        f"{NUMPY_ONLY}from iacta.cli import main\n"
        f"for line in {lines}:\n"
        "    sys.argv = ['iacta', *line.split()]\n"
        "    try:\n        main()\n"
        "    except SystemExit as ended:\n        print(line, ended.code or 0, file=sys.stderr)\n"
    )
    *ended, said, last = run_python(code).stderr.splitlines()
    assert ended == [f"{line} 0" for line in lines[:-1]]
    assert said.startswith("iacta: the page needs fastapi, which is not installed: pip install ")
    assert last == "serve 2"


def test_help_and_version_have_short_and_long_options(run: Run) -> None:
    assert len(run("--help").stdout.splitlines()) <= 60
    assert run("help") == run("help help") == run("--help")
    assert run("help battle") == run("battle --help") == run("battle -h")
    assert run("help chart delta") == run("chart delta --help")
    assert run("-V") == run("--version")
    assert run("help batle").stderr == "iacta: unknown command batle; did you mean battle?\n"


def test_help_fits_its_window(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(map(len, run("campaign --help").stdout.splitlines())) <= columns


@pytest.mark.parametrize(*table(__file__, "same_lines"))
def test_options_and_arguments_may_come_in_any_order(run: Run, line: str, same: str) -> None:
    assert run(line) == run(same)
    assert run(line).code == 0


def test_the_version_is_shown(run: Run) -> None:
    assert run("--version").stdout == "iacta 0.1.0\n"
