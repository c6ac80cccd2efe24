"""Help, made from the descriptions of what can be asked."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from iacta.answers.form import Example, Form, Parameter
from iacta.answers.kinds import Flag
from iacta.cli.parse import HELP, argument_name, option_name

__all__ = ["commands_help", "form_help"]

NARROWEST = 40
WIDEST = 100
MOST_INDENT = 24
HELP_LINE = (", ".join(HELP), "Show this help.")


def form_help(forms: Sequence[type[Form]], command: str) -> str:
    """Return the help of a command.

    forms: what it takes; the first has its summary and its examples.
    command: how it is called, as `iacta battle`.
    """
    parameters = [parameter for form in forms for parameter in form.parameters()]
    arguments = [each for each in parameters if each.is_argument]
    options = [each for each in parameters if not each.is_argument]
    usage = " ".join([command, "[OPTIONS]", *map(argument_name, arguments)])
    return "\n".join(
        [
            f"Usage: {usage}",
            "",
            *wrap(forms[0].summary(), _width()),
            *_listed("Arguments", ((argument_name(each), _line(each)) for each in arguments)),
            *_listed("Options", [*map(_option, options), HELP_LINE]),
            *_examples(forms[0].examples),
        ]
    )


def commands_help(
    command: str, summary: str, groups: Iterable[tuple[str, Sequence[type[Form]]]], foot: str = ""
) -> str:
    """Return the help of a command that has others below it.

    command: how it is called.
    summary: what it does.
    groups: the titles of the groups, and the commands in them.
    foot: what stands at the end.
    """
    shown = [(title, list(forms)) for title, forms in groups]
    lines = [f"Usage: {command} COMMAND ...", "", *wrap(summary, _width())]
    for title, forms in shown:
        lines += _listed(title, ((form.name.split()[-1], form.summary()) for form in forms))
    examples = [form.examples[0] for _, forms in shown for form in forms if form.examples]
    lines += _examples(examples)
    return "\n".join([*lines, *(["", *wrap(foot, _width())] if foot else [])])


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def _option(parameter: Parameter) -> tuple[str, str]:
    metavar = parameter.metavar or parameter.kind.metavar
    is_flag = isinstance(parameter.kind, Flag)
    name = option_name(parameter.name)
    return (name if is_flag else f"{name} {metavar}"), _line(parameter)


def _line(parameter: Parameter) -> str:
    default = parameter.default_text
    return f"{parameter.help} [default: {default}]" if default else parameter.help


def _listed(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a title, and below it names with their lines beside them."""
    shown = list(rows)
    if not shown:
        return
    indent = min(max(len(name) for name, _ in shown) + 4, MOST_INDENT)
    yield from ("", f"{title}:")
    for name, line in shown:
        first, *others = wrap(line, _width() - indent)
        if len(name) + 4 > indent:
            yield f"  {name}"
            others, name = [first, *others], ""
        else:
            yield f"  {name:<{indent - 2}}{first}"
        yield from (" " * indent + other for other in others)


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    if not examples:
        return
    yield from ("", "Examples:" if len(examples) > 1 else "Example:")
    for example in examples:
        yield f"  iacta {example.line}"
        yield from (f"      {line}" for line in wrap(example.words, _width() - 6))
