"""The command `iacta`: a thin face over the answers, which describe themselves."""

import errno
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from iacta.cli.parse import HELP, VERSION, check_arguments, check_known, read_words, spelt
from iacta.cli.print_answer import COMMANDS, Command, Shown, ask
from iacta.cli.rules_from_environment import know_rules_files, with_usual_rules
from iacta.forms.form import Form, Outline, format_error
from iacta.forms.question import QUESTIONS, Question
from iacta.inputs.checks import MAX_VALUE_LENGTH
from iacta.inputs.errors import IactaError

__all__ = ["main"]

NOT_WRITTEN = 1
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line, and end with 0, with 2 on bad input or 130 on Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where the shell has closed it
            stream.reconfigure(errors="backslashreplace")  # for names that it cannot encode
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except IactaError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain("these numbers need more memory than this machine has")
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has ended: nothing more can be written.
        _write_no_more()
        code = BROKEN_PIPE
    except OSError as error:
        _write_no_more()
        code = _complain(f"cannot write the answer: {error.strerror}", NOT_WRITTEN)
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    if words[:1] == ["help"]:
        words = [*filter("help".__ne__, words), HELP[1]]
    if not words or words[0] in HELP:
        from iacta.cli.help import overview  # only needed here

        print(overview(_outlines()))
        return 0
    if words[0] in VERSION:
        from importlib.metadata import version  # slow to import, and only needed here

        print(f"iacta {version('iacta')}")
        return 0
    first, *rest = words
    if [first, *rest[:1]] == ["completion", "words"]:  # asked by a shell, not by people
        from iacta.cli.completion import completions  # only needed here

        print("\n".join(completions(rest[1:])))
        return 0
    forms: Sequence[type[Form]] = QUESTIONS.find(first) or COMMANDS.find(first)
    if not forms and first.startswith("-"):
        check_known("option", first, [*VERSION, *HELP], "iacta")
    if not forms:
        names = [*(outline.name for outline in _outlines()), *VERSION, *HELP]
        check_known("command", first, names, "iacta", lambda _: _meant_by(words))
    form, *members = forms
    if not members:
        return _run_form(form, rest)
    if not rest or rest[0] in HELP:
        from iacta.cli.help import group_help  # only needed here

        print(group_help(f"iacta {first}", form, members))
        return 0
    names = [member.name.split()[1] for member in members]
    check_known("command", rest[0], names, f"iacta {first}")
    return _run_form(members[names.index(rest[0])], rest[1:])


def _meant_by(words: Sequence[str]) -> str:
    """Return which question words without a command, or with an unknown one, may ask."""
    named = [word for word in words if word not in HELP]
    for some in (named, named[1:]):
        line = shlex.join(some)
        for form in QUESTIONS.all() if len(line) <= MAX_VALUE_LENGTH else ():
            parameters = [*form.parameters(), *Shown.parameters()]
            if sum(parameter.is_required and parameter.is_argument for parameter in parameters) > 1:
                with suppress(IactaError):
                    form.parse(read_words(parameters, some, ""))
                    return f"did you mean iacta {form.name} {line}?"
    return ""


def _outlines() -> list[Outline]:
    return [*QUESTIONS.outlines(), *COMMANDS.outlines()]


def _run_form(form: type[Form], words: Sequence[str]) -> int:
    if issubclass(form, Command):
        form = form.for_words(words)
    forms: list[type[Form]] = [form, Shown] if issubclass(form, Question) else [form]
    command = f"iacta {form.name}"
    if any(word in HELP for word in words):
        from iacta.cli.help import form_help  # only needed here

        print(form_help(forms, command))
        return 0
    try:
        texts = read_words(
            [parameter for part in forms for parameter in part.parameters()], words, command
        )
        know_rules_files(form, texts)
        check_arguments(form.parameters(), texts)
        filled = form.parse(with_usual_rules(form, texts))
        if isinstance(filled, Command):
            return filled.run()
        if isinstance(filled, Question):
            ask(filled, Shown.parse(texts))
    except IactaError as error:
        raise IactaError(format_error(error, form, lambda name: spelt(form, name))) from error
    return 0


def _write_no_more() -> None:
    """Discard buffered output, so that Python does not try to write it when it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in sentence)
    if sys.stderr is not None:
        with suppress(OSError):  # its reader may have ended
            print(f"iacta: {line}", file=sys.stderr, flush=True)
    return code
