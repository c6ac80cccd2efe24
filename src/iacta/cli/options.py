"""The arguments and options that the commands share, and how they are read."""

import re
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from typing import Annotated, TypeAlias

import typer

from iacta.checks import parse_whole_number, whole_number
from iacta.errors import IllegalError
from iacta.rules.stop import Stop
from iacta.rules.variants import RuleSet, find_rule_set

__all__ = [
    "Attackers",
    "Charge",
    "Csv",
    "Dark",
    "Defenders",
    "Exact",
    "Garrison",
    "Json",
    "MaxLosses",
    "MaxRolls",
    "Output",
    "PictureFile",
    "Plot",
    "RulesFile",
    "RulesName",
    "StopAt",
    "Way",
    "number",
    "numbers",
    "output",
    "read_rules",
    "read_stop",
    "runs",
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
Way: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="DEFENDERS...",
        help="Armies on each territory of the way; 8:capital for a territory with rules of its "
        "own, 8@3 for one on which 3 armies must stay, 8~5 for one against which 5 armies are kept "
        "out of the fight.",
    ),
]
RulesName: TypeAlias = Annotated[
    str | None,
    typer.Option("--rules", metavar="NAME", help="Rules to play by, such as capital+wall."),
]
RulesFile: TypeAlias = Annotated[
    str | None,
    typer.Option("--rules-file", metavar="FILE", help="House rules to play by, a TOML file."),
]
Garrison: TypeAlias = Annotated[
    str | None,
    typer.Option("--garrison", metavar="N", help="Armies that must stay behind; usually 1."),
]
StopAt: TypeAlias = Annotated[
    str | None,
    typer.Option("--stop-at", metavar="N", help="Armies kept out of the fight; they do not roll."),
]
Charge: TypeAlias = Annotated[
    bool, typer.Option("--charge", help="Stop as soon as fewer dice would be rolled than at first.")
]
MaxLosses: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-losses", metavar="N", help="Stop a battle once so many armies are lost."),
]
MaxRolls: TypeAlias = Annotated[
    str | None, typer.Option("--max-rolls", metavar="N", help="Stop a battle after so many rolls.")
]
Exact: TypeAlias = Annotated[bool, typer.Option("--exact", help="Count in exact fractions.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plot: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the answer too; FILE ends in .svg, .png, .pdf, .html, .json or .csv.",
    ),
]
PictureFile: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Where to; .svg, .png, .pdf, .html, .json or .csv."),
]
Dark: TypeAlias = Annotated[bool, typer.Option("--dark", help="Draw on a dark ground.")]
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


def numbers(text: str, name: str, least: int | None = None) -> list[int]:
    """Return the whole numbers of a list such as `-2,0,5`.

    >>> numbers("-2,0,5", "deltas")
    [-2, 0, 5]
    """
    return [_whole(part.strip(), name, least) for part in text.split(",")]


def _whole(text: str, name: str, least: int | None) -> int:
    """Return a whole number, which may be negative if there is no least one."""
    if least is not None:
        return parse_whole_number(text, name, least)
    if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
        raise IllegalError(f"{name} must be whole numbers such as -2,0,5, got {text!r}")
    return int(text)


def seed(text: str | None) -> int:
    """Return the seed of the dice, a fresh one if none is given."""
    if text is not None:
        return parse_whole_number(text, "seed", least=0)
    import numpy as np

    return int(np.random.default_rng().integers(10**6))


def runs(text: str) -> int:
    """Return how many runs a text such as `250000` or `1e6` asks for.

    >>> runs("1e6"), runs("2.5e3")
    (1000000, 2500)
    """
    if re.fullmatch(r"\d{1,40}(\.\d{1,40})?[eE]\+?\d{1,3}", text, re.ASCII):
        number = Fraction(text)
        return whole_number(int(number) if number.denominator == 1 else text, "runs", least=1)
    return parse_whole_number(text, "runs", least=1)


def read_rules(name: str | None, file: str | None, garrison: str | None) -> RuleSet:
    """Return the rules that the options name, or a file holds, with the garrison that they give."""
    if name is not None and file is not None:
        raise IllegalError(
            f"rules must be named or read from a file, got --rules {name!r} and "
            f"--rules-file {file!r}"
        )
    found = find_rule_set("classic" if name is None else name) if file is None else _read_file(file)
    if garrison is None:
        return found
    armies = parse_whole_number(garrison, "garrison", least=0)
    return replace(found, rules=replace(found.rules, garrison=armies))


def _read_file(file: str) -> RuleSet:
    from iacta.rules.files import read_rules_file  # only needed here

    return read_rules_file(file)


def read_stop(
    stop_at: str | None, charge: bool, max_losses: str | None, max_rolls: str | None
) -> Stop:
    """Return the stop that the options give, which is never if there are none.

    >>> read_stop("5", True, None, None)
    Stop(stop_at=5, charge=True)
    """
    return Stop(
        _limit(stop_at, "stop_at"),
        charge,
        _limit(max_losses, "max_losses"),
        _limit(max_rolls, "max_rolls"),
    )


def _limit(text: str | None, name: str) -> int | None:
    return None if text is None else parse_whole_number(text, name, least=0)


def territory_rules(text: str) -> str | None:
    """Return the name of the rules of its own that a territory's argument gives, if any."""
    _, colon, rules = text.partition("~")[0].partition("@")[0].partition(":")
    return find_rule_set(rules).name if colon else None
