"""The command `iacta`: a thin face over the answers, which describe themselves."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from iacta.answers.form import Form, named_by
from iacta.answers.question import Question, find_question
from iacta.cli.ask import Shown, ask
from iacta.cli.help import form_help
from iacta.cli.parse import HELP, spelt
from iacta.errors import IactaError

__all__ = ["main"]

NOT_WRITTEN = 1
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line, and end with 0, with 2 on bad input or 130 on Ctrl-C."""
    form: type[Form] = Form
    try:
        found = find_question(sys.argv[1]) if len(sys.argv) > 1 else None
        if found is None:
            from iacta.cli.app import main as old_main

            code = old_main()
        else:
            form = found
            code = _run(found, sys.argv[2:])
        if sys.stdout is not None:  # as it is when the shell has closed it
            sys.stdout.flush()
    except IactaError as error:
        code = _complain(named_by(error, form, lambda name: spelt(form, name)))
    except MemoryError:
        code = _complain("these numbers need more memory than there is")
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has what it wants: nothing more can be written there.
        _write_no_more()
        code = BROKEN_PIPE
    except OSError as error:
        _write_no_more()
        print(f"iacta: the answer cannot be written: {error.strerror}", file=sys.stderr)
        code = NOT_WRITTEN
    sys.exit(code)


def _run(form: type[Question], words: Sequence[str]) -> int:
    """Run one command, or show its help."""
    command = f"iacta {form.name}"
    if any(word in HELP for word in words):
        print(form_help([form, Shown], command))
    else:
        ask(form, words, command)
    return 0


def _write_no_more() -> None:
    """Send what is still to be written nowhere, so that Python's end does not try it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str) -> int:
    print(f"iacta: {sentence}", file=sys.stderr)
    return BAD_INPUT
