"""`iacta chart`: the pictures that no other command draws, one command each."""

import typer

from iacta.cli import chart_curves, chart_laws

__all__ = ["chart"]

HELP = {"help_option_names": ["-h", "--help"]}
NUMBERS = {**HELP, "ignore_unknown_options": True}

chart = typer.Typer(
    help="Draw one of the pictures that no other command draws.",
    no_args_is_help=True,
    context_settings=HELP,
)
for name, command in (chart_curves.CHARTS | chart_laws.CHARTS).items():
    chart.command(name, context_settings=NUMBERS)(command)
