"""Makes pages of the commands: what they take, and what `iacta chart` draws."""

from collections.abc import Iterable, Iterator

from iacta.cli.parse import format_argument
from iacta.cli.print_answer import COMMANDS, OutputOptions
from iacta.forms.form import Form, Parameter, Topic, option_name
from iacta.forms.parameter_kinds import Flag
from iacta.forms.question import QUESTIONS, Question
from tools.docs.reference import anchor

HEAD = (
    "Each command prints the same with `--help`. Attackers include the army that must stay behind. "
    "Arguments also have names: `iacta battle --attackers 12 --defenders 10`. "
    "[Your usual rules](rules.md#rules-with-a-name) can be set once, and "
    "[a shell](index.md#make-yourself-at-home) completes commands, options and names."
)
DRAWN_INTO = "iacta: wrote"


def commands_page() -> str:
    """Return a page with what every command takes, as tables."""
    forms: list[type[Form]] = [*QUESTIONS.load_all(), *COMMANDS.load_all()]
    parts = ["# Commands", HEAD]
    for topic in Topic:
        about = [form for form in forms if form.topic is topic and " " not in form.name]
        rows = [
            (f"[`iacta {form.name}`](#{anchor(f'iacta {form.name}')})", form.summary())
            for form in about
        ]
        parts += [f"**{topic.value}**", _table("command", rows)]
    for topic in Topic:
        for form in forms:
            if form.topic is topic:
                parts += _command(form)
    return "\n\n".join(parts) + "\n"


def _command(form: type[Form]) -> Iterator[str]:
    """Yield what a command is for, what it takes, and how it is used."""
    parts: list[type[Form]] = [form] + [OutputOptions] * issubclass(form, Question)
    parameters = [each for part in parts for each in part.parameters()]
    arguments = [each for each in parameters if each.is_argument]
    options = [each for each in parameters if not each.is_argument]
    yield f"## `iacta {form.name}`"
    yield form.summary()
    if arguments:
        yield _table(
            "argument", [(f"`{format_argument(each)}`", _line(each)) for each in arguments]
        )
    if options:
        yield _table("option", [(f"`{_option(each)}`", _line(each)) for each in options])
    yield "\n".join(f"- `iacta {each.line}`: {each.words}" for each in form.examples)


def _table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a Markdown table of names and what they mean."""
    lines = (f"| {name} | {text} |" for name, text in rows)
    return "\n".join([f"| {head} | |", "| --- | --- |", *lines])


def _option(parameter: Parameter) -> str:
    metavar = (
        "" if isinstance(parameter.kind, Flag) else parameter.metavar or parameter.kind.metavar
    )
    return f"{option_name(parameter.name)} {metavar}".strip()


def _line(parameter: Parameter) -> str:
    text = parameter.help.replace("|", r"\|").replace("*", r"\*")
    default = parameter.default_text
    return f"{text} Default: {default}." if default else text


def gallery_page() -> str:
    """Return a page with each picture of `iacta chart`, drawn by the example of its help."""
    parts = [
        "# Pictures",
        "Most commands draw their answer with `--plot`; these pictures come from `iacta chart`. "
        "The ending of the file says what it will be: `.svg`, `.png` or `.pdf` a picture, `.html` "
        "a page that shows the exact values under the mouse, `.json` the Vega-Lite specification, "
        "`.csv` the numbers. [The same from Python](../charts.md).",
    ]
    for form in COMMANDS.find("chart")[1:]:  # the first is the group
        command, summary = f"iacta {form.examples[0].line}", form.summary()
        file = command.split()[3]
        parts += [
            f"## `iacta {form.name}`",
            summary,
            f"```console\n$ {command}\n{DRAWN_INTO} {file}\n```",
        ]
        parts.append(f"![{summary}]({file})")
    return "\n\n".join(parts) + "\n"
