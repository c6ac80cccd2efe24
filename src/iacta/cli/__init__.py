"""The command `iacta`: a thin layer over questions and their answers."""

import errno
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from iacta.cli.parse import (
    HELP,
    VERSION,
    WIN_PAGE,
    check_known,
    check_positional_arguments,
    read_words,
    spell_parameter,
)
from iacta.cli.print_answer import COMMANDS, Command, OutputOptions, ask
from iacta.cli.rules_from_environment import add_usual_rules, read_rules_files
from iacta.forms.form import Form, Outline, format_error
from iacta.forms.question import QUESTIONS, Question
from iacta.inputs.checks import MAX_VALUE_LENGTH
from iacta.inputs.errors import IactaError

__all__ = ["main"]

EXIT_NOT_WRITTEN = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line. Exit with 0, with 2 for bad input, or with 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None if the stream is closed
            stream.reconfigure(errors="backslashreplace")  # the encoding may lack characters
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except IactaError as error:
        code = _print_error(str(error))
    except MemoryError:
        code = _print_error("these numbers need more memory than this machine has")
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # the reader, such as `head`, has exited
        code = EXIT_BROKEN_PIPE
    except OSError as error:
        _discard_output()
        code = _print_error(f"cannot write the answer: {error.strerror}", EXIT_NOT_WRITTEN)
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    if words[:1] == ["help"]:
        words = [*filter("help".__ne__, words), HELP[1]]
    if not words or words[0] in HELP:
        from iacta.cli.help import format_overview  # only needed here

        print(format_overview(_list_outlines()))
        return 0
    if words[0] in VERSION:
        from importlib.metadata import version  # slow to import, and only needed here

        print(f"iacta {version('iacta')}")
        return 0
    first, *rest = words
    if [first, *rest[:1]] == ["completion", "words"]:  # called by completion scripts
        from iacta.cli.completion import complete_words  # only needed here

        print("\n".join(complete_words(rest[1:])))
        return 0
    if [first, *rest] == [WIN_PAGE, HELP[1]]:
        from iacta.cli.help import format_win_page  # only needed here

        print(format_win_page())
        return 0
    forms: Sequence[type[Form]] = QUESTIONS.find(first) or COMMANDS.find(first)
    if not forms and first.startswith("-"):
        check_known("option", first, [*VERSION, *HELP], "iacta")
    if not forms:
        names = [*(outline.name for outline in _list_outlines()), *VERSION, *HELP]
        check_known("command", first, names, "iacta", lambda _: _suggest_command(words))
    form, *members = forms
    if not members:
        return _run_form(form, rest)
    if not rest or rest[0] in HELP:
        from iacta.cli.help import format_group_help  # only needed here

        print(format_group_help(f"iacta {first}", form, members))
        return 0
    names = [member.name.split()[1] for member in members]
    check_known("command", rest[0], names, f"iacta {first}")
    return _run_form(members[names.index(rest[0])], rest[1:])


def _suggest_command(words: Sequence[str]) -> str:
    """Suggest a question if the words contain no known command."""
    named = [word for word in words if word not in HELP]
    for some in (named, named[1:]):
        line = shlex.join(some)
        for form in QUESTIONS.load_all() if len(line) <= MAX_VALUE_LENGTH else ():
            parameters = [*form.parameters(), *OutputOptions.parameters()]
            if sum(parameter.is_required and parameter.is_argument for parameter in parameters) > 1:
                with suppress(IactaError):
                    form.parse(read_words(parameters, some, ""))
                    return f"did you mean iacta {form.name} {line}?"
    return ""


def _list_outlines() -> list[Outline]:
    return [*QUESTIONS.read_outlines(), *COMMANDS.read_outlines()]


def _run_form(form: type[Form], words: Sequence[str]) -> int:
    if issubclass(form, Command):
        form = form.for_words(words)
    forms: list[type[Form]] = [form, OutputOptions] if issubclass(form, Question) else [form]
    command = f"iacta {form.name}"
    if any(word in HELP for word in words):
        from iacta.cli.help import format_form_help  # only needed here

        print(format_form_help(forms, command))
        return 0
    try:
        texts = read_words(
            [parameter for part in forms for parameter in part.parameters()],
            words,
            command,
            form.surplus,
        )
        read_rules_files(form, texts)
        check_positional_arguments(form.parameters(), texts)
        filled = form.parse(add_usual_rules(form, texts))
        if isinstance(filled, Command):
            return filled.run()
        if isinstance(filled, Question):
            ask(filled, OutputOptions.parse(texts))
    except IactaError as error:
        raise IactaError(
            format_error(error, form, lambda name: spell_parameter(form, name))
        ) from error
    return 0


def _discard_output() -> None:
    """Discard buffered output, so that Python does not write it at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(sentence: str, code: int = EXIT_BAD_INPUT) -> int:
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in sentence)
    if sys.stderr is not None:
        with suppress(OSError):  # the reader may have exited
            print(f"iacta: {line}", file=sys.stderr, flush=True)
    return code
