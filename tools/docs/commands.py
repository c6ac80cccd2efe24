"""Generates the pages about commands and charts."""

from collections.abc import Iterable, Iterator

from iacta.cli.parse import format_argument
from iacta.cli.print_answer import COMMANDS, OutputOptions
from iacta.forms.form import Form, Parameter, Topic, format_option
from iacta.forms.parameter_kinds import Flag
from iacta.forms.question import QUESTIONS, Question
from tools.docs.reference import make_anchor

HEAD = (
    "`--help` prints the same information. Attackers include the army that must stay behind. You "
    "can also name arguments: `iacta battle --attackers 12 --defenders 10`. "
    "You can [set your usual rules](rules.md#named-rules) once, and let "
    "[your shell](index.md#make-yourself-at-home) complete commands, options and names."
)
WROTE = "iacta: wrote"


def make_commands_page() -> str:
    """Return a page with the arguments and options of every command."""
    forms: list[type[Form]] = [*QUESTIONS.load_all(), *COMMANDS.load_all()]
    parts = ["# Commands", HEAD]
    for topic in Topic:
        about = [form for form in forms if form.topic is topic and " " not in form.name]
        rows = [
            (f"[`iacta {form.name}`](#{make_anchor(f'iacta {form.name}')})", form.summary())
            for form in about
        ]
        parts += [f"**{topic.value}**", _format_table("command", rows)]
    for topic in Topic:
        for form in forms:
            if form.topic is topic:
                parts += _describe_command(form)
    return "\n\n".join(parts) + "\n"


def _describe_command(form: type[Form]) -> Iterator[str]:
    """Yield the summary, arguments, options and examples of a command."""
    parts: list[type[Form]] = [form] + [OutputOptions] * issubclass(form, Question)
    parameters = [each for part in parts for each in part.parameters()]
    arguments = [each for each in parameters if each.is_argument]
    options = [each for each in parameters if not each.is_argument]
    yield f"## `iacta {form.name}`"
    yield form.summary()
    if arguments:
        yield _format_table(
            "argument",
            [(f"`{format_argument(each)}`", _format_help_text(each)) for each in arguments],
        )
    if options:
        yield _format_table(
            "option",
            [
                (f"`{_format_option_with_metavar(each)}`", _format_help_text(each))
                for each in options
            ],
        )
    yield "\n".join(f"- `iacta {each.line}`: {each.words}" for each in form.examples)


def _format_table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a Markdown table of names and meanings."""
    lines = (f"| {name} | {text} |" for name, text in rows)
    return "\n".join([f"| {head} | |", "| --- | --- |", *lines])


def _format_option_with_metavar(parameter: Parameter) -> str:
    metavar = (
        "" if isinstance(parameter.kind, Flag) else parameter.metavar or parameter.kind.metavar
    )
    return f"{format_option(parameter.name)} {metavar}".strip()


def _format_help_text(parameter: Parameter) -> str:
    text = parameter.help.replace("|", r"\|").replace("*", r"\*")
    default = parameter.default_text
    return f"{text} Default: {default}." if default else text


def make_gallery_page() -> str:
    """Return a page with a picture for each `iacta chart` command, drawn by its example."""
    parts = [
        "# Pictures",
        "Most commands draw their answer with `--plot`; these pictures come from `iacta chart`. "
        "The suffix of the file selects the format: an image (`.svg`, `.png`, `.pdf`), a page with "
        "tooltips (`.html`), the Vega-Lite specification (`.json`) or the data (`.csv`). "
        "[Charts in Python](../charts.md).",
    ]
    for form in COMMANDS.find("chart")[1:]:  # the first form is the command `chart` itself
        command, summary = f"iacta {form.examples[0].line}", form.summary()
        file = command.split()[3]
        parts += [
            f"## `iacta {form.name}`",
            summary,
            f"```console\n$ {command}\n{WROTE} {file}\n```",
        ]
        parts.append(f"![{summary}]({file})")
    return "\n\n".join(parts) + "\n"
