"""The command `iacta`: a thin face over the library, one file a command."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from typer import Abort, TyperException
from typer.main import get_command

from iacta.cli.app import COMMANDS, make_app
from iacta.errors import IactaError, IllegalError

__all__ = ["main"]

NOT_WRITTEN = 1
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command line, and end with 0, with 2 on bad input or 130 on Ctrl-C."""
    try:
        asked = tuple(word for word in sys.argv[1:2] if word in COMMANDS)
        command = get_command(make_app(asked or COMMANDS))
        _refuse_unknown_options(getattr(command, "commands", {}), sys.argv[1:])
        code = command(prog_name="iacta", standalone_mode=False) or 0
        if sys.stdout is not None:  # as it is when the shell has closed it
            sys.stdout.flush()
    except IactaError as error:
        code = _complain(str(error))
    except TyperException as error:
        message = error.format_message().rstrip(".?")
        code = _complain(f"{message}; see iacta --help") if message else BAD_INPUT
    except MemoryError:
        code = _complain("these numbers need more memory than there is")
    except (KeyboardInterrupt, Abort):
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


def _write_no_more() -> None:
    """Send what is still to be written nowhere, so that Python's end does not try it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str) -> int:
    print(f"iacta: {sentence}", file=sys.stderr)
    return BAD_INPUT


def _refuse_unknown_options(commands: Mapping[str, Any], words: Sequence[str]) -> None:
    """Refuse a mistyped option.

    The commands take words that begin with a hyphen as arguments, so that a negative number is
    refused as a number; so they would take a mistyped option as one too.
    """
    command = _asked(commands, words)
    if command is None:
        return
    known = ["--help", *(name for parameter in command.params for name in parameter.opts)]
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and name != "--" and name not in known:
            from difflib import get_close_matches  # slow to import, and only needed here

            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"see {_path(commands, words)} --help"
            raise IllegalError(f"options must be known ones, got {name!r}; {hint}")


def _path(commands: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return how the command that the words name is called."""
    inner = getattr(commands.get(words[0]), "commands", {}) if words else {}
    return " ".join(["iacta", *words[: 2 if inner else 1]])


def _asked(commands: Mapping[str, Any], words: Sequence[str]) -> Any:
    """Return the command that the words name; within a group, the one of the group."""
    command = commands.get(next((word for word in words if word in commands), ""))
    inner = getattr(command, "commands", None)
    return _asked(inner, words[1:]) if inner else command
