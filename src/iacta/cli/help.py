"""The help of each command, generated from its parameters."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, starmap
from textwrap import wrap

from iacta.cli.parse import HELP, VERSION, WIN_PAGE, format_argument
from iacta.forms.form import Example, Form, Outline, Parameter, Topic, format_option
from iacta.forms.parameter_kinds import Flag
from iacta.forms.question import QUESTIONS

ABOUT = "Exact odds for the board game Risk, plans for your turn, and tests of dice."
FOOT = (
    "iacta help COMMAND explains a command. Count your armies as you see them on the board, "
    "including the army that must stay behind. You can also name arguments: iacta battle "
    "--attackers 12 --defenders 10. As a file name, - means standard input. The environment "
    "variable IACTA_RULES sets your usual rules."
)
MIN_HELP_WIDTH = 40
MAX_WIDTH = 100
MAX_INDENT = 26  # descriptions start at this column or before
HELP_LINE = (", ".join(HELP), "Show this help.")


def format_form_help(forms: Sequence[type[Form]], command: str) -> str:
    parameters = [parameter for form in forms for parameter in form.parameters()]
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    options = [
        parameter
        for parameter in parameters
        if not parameter.is_argument and parameter.page in ("", parameter.name)
    ]
    usage = " ".join([command, "[OPTIONS]", *map(format_argument, arguments)])
    return "\n".join(
        [
            f"Usage: {usage}",
            "",
            *wrap(forms[0].summary(), _choose_width()),
            *_format_rows(
                "Arguments",
                ((format_argument(argument), _format_line(argument)) for argument in arguments),
            ),
            *_format_rows("Options", [*map(_format_option, options), HELP_LINE]),
            *chain.from_iterable(starmap(_annotate_lines, forms[0].help_sections.items())),
            *_format_examples(forms[0].examples),
        ]
    )


def format_win_page() -> str:
    """Return the help page on the options that state how the game is won."""
    from iacta.forms.moment import VictoryForm  # only needed here

    names = [form.name for form in QUESTIONS.load_all() if issubclass(form, VictoryForm)]
    rows = [
        (_name_option(parameter), _format_line(replace(parameter, page="")))
        for parameter in VictoryForm.parameters()
    ]
    return "\n".join(
        [
            f"Usage: iacta COMMAND --{WIN_PAGE} CONDITION [OPTIONS] ...",
            "",
            *wrap(f"{VictoryForm.summary()} The commands are {', '.join(names)}.", _choose_width()),
            *_format_rows("Options", rows),
            *_format_examples(VictoryForm.examples),
        ]
    )


def format_group_help(command: str, group: type[Form], members: Sequence[type[Form]]) -> str:
    lines = [f"Usage: {command} COMMAND [OPTIONS] ...", "", *wrap(group.summary(), _choose_width())]
    lines += _format_rows("Commands", ((form.name.split()[1], form.summary()) for form in members))
    lines += _format_rows("Options", [HELP_LINE])
    return "\n".join([*lines, *_format_examples(group.examples)])


def format_overview(forms: Sequence[Outline]) -> str:
    lines = ["Usage: iacta COMMAND [OPTIONS] ...", "", *wrap(ABOUT, _choose_width())]
    topics = {topic: [form for form in forms if form.topic is topic] for topic in Topic}
    for topic, about in topics.items():
        lines += _format_rows(topic.value, ((form.name, form.summary) for form in about))
    lines += _format_rows("Options", [(", ".join(VERSION), "Show the version."), HELP_LINE])
    lines += _format_examples([about[0].example for about in topics.values()])
    return "\n".join([*lines, "", *wrap(FOOT, _choose_width())])


def _choose_width() -> int:
    return min(max(shutil.get_terminal_size().columns, MIN_HELP_WIDTH), MAX_WIDTH)


def _format_option(parameter: Parameter) -> tuple[str, str]:
    return _name_option(parameter), _format_line(parameter)


def _name_option(parameter: Parameter) -> str:
    name, is_flag = format_option(parameter.name), isinstance(parameter.kind, Flag)
    return name if is_flag else f"{name} {parameter.value_name}"


def _format_line(parameter: Parameter) -> str:
    default = parameter.default_text.replace(",", ", ")  # the spaces allow long lists to wrap
    page = f" See iacta help {format_option(parameter.page)[2:]}." if parameter.page else ""
    return f"{parameter.help}{page}{f' [default: {default}]' if default else ''}"


def _format_rows(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    shown = list(rows)
    if not shown:
        return
    indent = min(max(len(name) for name, _ in shown) + 4, MAX_INDENT)
    yield from ("", f"{title}:")
    for name, line in shown:
        first, *others = wrap(line, _choose_width() - indent, break_on_hyphens=False)
        if len(name) + 4 > indent:
            yield f"  {name}"
            others, name = [first, *others], ""
        else:
            yield f"  {name:<{indent - 2}}{first}"
        yield from (" " * indent + other for other in others)


def _format_examples(examples: Sequence[Example]) -> Iterator[str]:
    title = "Examples" if len(examples) > 1 else "Example"
    return _annotate_lines(
        title, [(f"iacta {example.line}", example.words) for example in examples]
    )


def _annotate_lines(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield lines, each with its meaning beside it, or below it if there is no room."""
    if rows:
        yield from ("", f"{title}:")
    for line, meaning in rows:
        both = f"  {line}  # {meaning}" if meaning else f"  {line}"
        if not meaning or len(both) <= _choose_width():
            yield both
        else:
            yield f"  {line}"
            yield from (f"      {part}" for part in wrap(f"# {meaning}", _choose_width() - 6))
