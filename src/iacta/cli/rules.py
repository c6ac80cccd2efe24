"""`iacta rules`: the rules that people play."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iacta.battle import Battle
from iacta.cli import options, show
from iacta.errors import IllegalError
from iacta.roll import Roll
from iacta.variants import RULE_SETS, RuleSet, find_rule_set

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["rules"]

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="The rules to explain.")]
SameName = Annotated[
    str | None, typer.Option("--rules", metavar="NAME", help="The same as the argument.")
]
EXAMPLE_ARMIES = 10


def rules(
    name: Name = None,
    rules: SameName = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """List the rules that people play, or explain those of one name.

    Example: iacta rules capital
    """
    chosen = options.output(as_json, as_csv)
    options.read_rules("classic", garrison)
    if name is not None and rules is not None:
        raise IllegalError(f"rules must be named once, got {name!r} and --rules {rules!r}")
    name = rules if name is None else name
    known = RULE_SETS if name is None else (find_rule_set(name),)
    show.emit(
        chosen,
        record=lambda: {"rules": [_record(each) for each in known]},
        rows=lambda: _rows(known),
        text=lambda console: (
            _list(console) if name is None else _explain(console, known[0], garrison, exact)
        ),
    )


def _record(known: RuleSet) -> dict[str, object]:
    return {
        "name": known.name,
        "aliases": list(known.aliases),
        "description": known.description,
        "source": known.source,
        "attack_dice": list(known.rules.attack.faces),
        "defence_dice": list(known.rules.defence.faces),
    }


def _rows(known: Sequence[RuleSet]) -> Iterator[Sequence[object]]:
    yield ("name", "aliases", "description", "source")
    for each in known:
        yield (each.name, "; ".join(each.aliases), each.description, each.source)


def _list(console: "Console") -> None:
    width = max(len(each.name) for each in RULE_SETS)
    show.say(console, "The rules that iacta knows; any can stand after --rules:")
    console.print()
    for each in RULE_SETS:
        show.say(console, f"{each.name:<{width}}  {each.description}")
    console.print()
    show.say(console, "More about one of them: iacta rules capital")


def _explain(console: "Console", known: RuleSet, garrison: str | None, exact: bool) -> None:
    show.say(console, f"{known.name}: {known.description}")
    show.say(console, f"Played in: {known.source}")
    if known.aliases:
        show.say(console, f"Also called: {', '.join(known.aliases)}")
    rules = options.read_rules(known.name, garrison)
    example = Battle(EXAMPLE_ARMIES, EXAMPLE_ARMIES, rules).win_probability(exact=exact)
    show.say(
        console,
        f"{EXAMPLE_ARMIES} armies beat {EXAMPLE_ARMIES} with a chance of {show.percent(example)}.",
    )
    show.say_exactly(console, example)
    show.heading(console, "What a roll costs you and them on average:")
    show.print_table(console, _columns(known), _rolls(known))


def _columns(known: RuleSet) -> Sequence[str]:
    return ("", *(f"against {dice}" for dice in range(1, known.rules.defence.kept + 1)))


def _rolls(known: RuleSet) -> Iterator[Sequence[str]]:
    for attack in range(1, known.rules.attack.kept + 1):
        cells = []
        for defence in range(1, known.rules.defence.kept + 1):
            attackers, defenders = Roll(attack, defence, known.rules).expected_losses()
            cells.append(f"{float(attackers):.4f}  {float(defenders):.4f}")
        yield (f"{attack} attack {'die' if attack == 1 else 'dice'}", *cells)
