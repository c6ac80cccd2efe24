"""The commands, put together."""

from importlib import import_module
from typing import Annotated

import typer

__all__ = ["COMMANDS", "make_app"]

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
