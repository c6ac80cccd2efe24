"""The arguments and options that the commands share, and how they are read."""

from enum import Enum
from typing import Annotated, TypeAlias

import typer

from iacta.errors import IllegalError
from iacta.numbers import parse_whole_number
from iacta.rules import Rules
from iacta.variants import find_rule_set, find_rules

__all__ = [
    "Attackers",
    "Csv",
    "Defenders",
    "Exact",
    "Garrison",
    "Json",
    "Output",
    "RulesName",
    "number",
    "output",
    "read_rules",
    "rules_label",
    "seed",
    "territory_rules",
]

Attackers: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ATTACKERS", help="Armies on the attacking territory, garrison included."
    ),
]
Defenders: TypeAlias = Annotated[
    str, typer.Argument(metavar="DEFENDERS", help="Armies on the defended territory.")
]
RulesName: TypeAlias = Annotated[
    str, typer.Option("--rules", metavar="NAME", help="Rules to play by; see: iacta rules")
]
Garrison: TypeAlias = Annotated[
    str | None,
    typer.Option("--garrison", metavar="N", help="Armies that must stay behind; usually 1."),
]
Exact: TypeAlias = Annotated[bool, typer.Option("--exact", help="Count in exact fractions.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv: TypeAlias = Annotated[bool, typer.Option("--csv", help="Print CSV.")]


class Output(Enum):
    """What a command prints."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


def output(as_json: bool, as_csv: bool) -> Output:
    """Return what the options ask for; both at once are refused."""
    if as_json and as_csv:
        raise IllegalError("output must be --json or --csv, got both")
    if as_json:
        return Output.JSON
    return Output.CSV if as_csv else Output.TEXT


def number(text: str, name: str, least: int) -> int:
    """Return the whole number of an argument."""
    return parse_whole_number(text, name, least)


def seed(text: str) -> int:
    """Return the seed of the dice."""
    return parse_whole_number(text, "seed", least=0)


def read_rules(name: str, garrison: str | None) -> Rules:
    """Return the rules that the options name, with the garrison that they give."""
    return find_rules(
        name, None if garrison is None else parse_whole_number(garrison, "garrison", least=0)
    )


def rules_label(name: str) -> str:
    """Return the name of the rules as the list of rules spells it."""
    return find_rule_set(name).name


def territory_rules(text: str) -> str | None:
    """Return the name of the rules of its own that a territory's argument gives, if any."""
    _, colon, rules = text.partition("@")[0].partition(":")
    return rules_label(rules) if colon else None
