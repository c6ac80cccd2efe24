"""The pictures of chances as curves, as commands."""

from typing import Annotated

import typer

from iacta.cli import options
from iacta.cli.picture import Picture

__all__ = ["CHARTS"]

Most = Annotated[str, typer.Option("--defenders", metavar="N", help="The most defenders.")]
Deltas = Annotated[
    str, typer.Option("--deltas", metavar="N...", help="Leads of the attackers, such as 0,1,2.")
]


def delta(
    file: options.PictureFile,
    defenders: Most = "60",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    dark: options.Dark = False,
) -> None:
    """Draw the chance to win by defenders, a curve for each lead of the attackers.

    Example: iacta chart delta delta.svg
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, None)
    most = options.number(defenders, "defenders", least=1)
    picture.draw(lambda charts: charts.curves_by_delta(range(-2, 3), most, known.rules))


CHARTS = {"delta": delta}
