"""The commands, put together."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Abort, TyperException
from typer.main import get_command

from iacta.answers.question import QUESTIONS
from iacta.cli.command import COMMANDS as DESCRIBED
from iacta.errors import IllegalError, MalformedError

__all__ = ["COMMANDS", "main", "make_app"]

COMMANDS = (
    "battle",
    "campaign",
    "plan",
    "need",
    "decide",
    "defend",
    "simulate",
    "compare",
    "table",
    "chart",
    "reproduce",
    "roll",
    "rules",
    "board",
)

EXAMPLES = """Examples:

iacta battle 12 10 ... do 12 armies take a territory that 10 defend?

iacta campaign 72 22 8 2 ... how far do 72 armies come, one territory after the other?

iacta plan examples/asia.toml --take Asia ... which way should this stack go?

iacta need 10 --chance 95% ... how many armies does it take to be that sure?

iacta decide 20 10 --prize 10 ... attack or not, and when to stop?

iacta defend 12 --chance 90% ... how many defenders hold with that chance?

iacta simulate 72 22 8 2 --runs 1e6 ... what do a million games with random dice say?

iacta compare 12 10 ... what does every method of the literature say?

iacta table 20 20 ... the chances of every battle up to 20 against 20

iacta chart delta delta.svg ... how much does it help to be one army ahead?

iacta reproduce ... does the whole literature come out, number by number?

iacta roll 3 2 ... what does one roll of the dice cost?

iacta rules ... what are the rules that people play?

iacta board classic ... what is a board like, and is a file of one sound?

Attackers are counted on their territory, with the army that must stay behind."""

# A negative number is a wrong number, not an unknown option; the commands tell the two apart.
HELP = {"help_option_names": ["-h", "--help"]}
NUMBERS = {**HELP, "ignore_unknown_options": True}


def make_app(commands: tuple[str, ...] = COMMANDS) -> typer.Typer:
    """Return the command line with some commands; the others are not even loaded.

    commands: their names.
    """
    app = typer.Typer(
        add_completion=False,
        context_settings=HELP,
        invoke_without_command=True,
        epilog=EXAMPLES,
        pretty_exceptions_enable=False,
        callback=iacta,
    )
    for name in commands:
        found = [*QUESTIONS.find(name), *DESCRIBED.find(name)]
        if found:
            app.command(name, help=found[0].summary())(lambda: None)
            continue
        command = getattr(import_module(f"iacta.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(context_settings=NUMBERS)(command)
    return app


def iacta(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Tell the exact odds of battles and campaigns in the board game Risk."""
    if show_version:
        from importlib.metadata import version

        print(f"iacta {version('iacta')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> int:
    """Run a command that has no description yet."""
    try:
        asked = tuple(word for word in sys.argv[1:2] if word in COMMANDS)
        command = get_command(make_app(asked or COMMANDS))
        _refuse_unknown_options(getattr(command, "commands", {}), sys.argv[1:])
        return command(prog_name="iacta", standalone_mode=False) or 0
    except TyperException as error:
        message = error.format_message().rstrip(".?")
        if not message:
            return 2
        raise MalformedError(f"{message}; see iacta --help") from None
    except Abort:
        raise KeyboardInterrupt from None


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
