"""Help, made from the descriptions of what can be asked."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, starmap
from textwrap import wrap

from iacta.cli.parse import HELP, VERSION, argument_name
from iacta.forms.form import Example, Form, Outline, Parameter, Topic, option_name
from iacta.forms.parameter_kinds import Flag

ABOUT = "The exact odds of battles and campaigns in the board game Risk."
FOOT = (
    "Attackers include the army that must stay behind. Arguments can also be given by name: "
    "iacta battle --attackers 12 --defenders 10. IACTA_RULES=capital in the environment "
    "sets your usual rules. iacta help COMMAND shows the options of a command."
)
NARROWEST = 40
WIDEST = 100
MOST_INDENT = 24  # columns, before the words of help
HELP_LINE = (", ".join(HELP), "Show this help.")


def form_help(forms: Sequence[type[Form]], command: str) -> str:
    parameters = [parameter for form in forms for parameter in form.parameters()]
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    options = [parameter for parameter in parameters if not parameter.is_argument]
    usage = " ".join([command, "[OPTIONS]", *map(argument_name, arguments)])
    return "\n".join(
        [
            f"Usage: {usage}",
            "",
            *wrap(forms[0].summary(), _width()),
            *_listed(
                "Arguments", ((argument_name(argument), _line(argument)) for argument in arguments)
            ),
            *_listed("Options", [*map(_option, options), HELP_LINE]),
            *chain.from_iterable(starmap(_lines_with_meanings, forms[0].help_sections.items())),
            *_examples(forms[0].examples),
        ]
    )


def group_help(command: str, group: type[Form], members: Sequence[type[Form]]) -> str:
    lines = [f"Usage: {command} COMMAND [OPTIONS] ...", "", *wrap(group.summary(), _width())]
    lines += _listed("Commands", ((form.name.split()[1], form.summary()) for form in members))
    lines += _listed("Options", [HELP_LINE])
    return "\n".join([*lines, *_examples(group.examples)])


def overview(forms: Sequence[Outline]) -> str:
    lines = ["Usage: iacta COMMAND [OPTIONS] ...", "", *wrap(ABOUT, _width())]
    topics = {topic: [form for form in forms if form.topic is topic] for topic in Topic}
    for topic, about in topics.items():
        lines += _listed(topic.value, ((form.name, form.summary) for form in about))
    lines += _listed("Options", [(", ".join(VERSION), "Show the version."), HELP_LINE])
    lines += _examples([about[0].example for about in topics.values()])
    return "\n".join([*lines, "", *wrap(FOOT, _width())])


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def _option(parameter: Parameter) -> tuple[str, str]:
    is_flag = isinstance(parameter.kind, Flag)
    name = option_name(parameter.name)
    return (name if is_flag else f"{name} {parameter.value_name}"), _line(parameter)


def _line(parameter: Parameter) -> str:
    default = parameter.default_text.replace(",", ", ")  # so that they wrap
    return f"{parameter.help} [default: {default}]" if default else parameter.help


def _listed(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    shown = list(rows)
    if not shown:
        return
    indent = min(max(len(name) for name, _ in shown) + 4, MOST_INDENT)
    yield from ("", f"{title}:")
    for name, line in shown:
        first, *others = wrap(line, _width() - indent, break_on_hyphens=False)
        if len(name) + 4 > indent:
            yield f"  {name}"
            others, name = [first, *others], ""
        else:
            yield f"  {name:<{indent - 2}}{first}"
        yield from (" " * indent + other for other in others)


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    title = "Examples" if len(examples) > 1 else "Example"
    return _lines_with_meanings(title, [(f"iacta {each.line}", each.words) for each in examples])


def _lines_with_meanings(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield lines, each with its meaning behind it or, where there is no room, below it."""
    if rows:
        yield from ("", f"{title}:")
    for line, meaning in rows:
        both = f"  {line}  # {meaning}" if meaning else f"  {line}"
        if not meaning or len(both) <= _width():
            yield both
        else:
            yield f"  {line}"
            yield from (f"      {part}" for part in wrap(f"# {meaning}", _width() - 6))
