"""`iacta chart`: the pictures that no other command draws, one command for each of them."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from typing import Annotated, Any

import typer

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.battle.territory import parse_territory
from iacta.charts.curves import CHANCES
from iacta.charts.registry import Chart, Option, charts
from iacta.checks import parse_chance
from iacta.cli import options, show
from iacta.cli.picture import Picture
from iacta.errors import IllegalError
from iacta.questions.simulated import running_estimates, simulate_campaign
from iacta.rules.stop import Stop
from iacta.rules.variants import RuleSet, find_rule_set

__all__ = ["COMMANDS", "chart"]

HELP = {"help_option_names": ["-h", "--help"]}
NUMBERS = {**HELP, "ignore_unknown_options": True}


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _option(name: str, help_text: str, metavar: str, default: Any) -> Parameter:
    flag = f"--{name.replace('_', '-')}"
    return _parameter(
        name, Annotated[str, typer.Option(flag, metavar=metavar, help=help_text)], default
    )


FILE = _parameter("file", options.PictureFile)
DARK = _parameter("dark", options.Dark, False)
SIZES = (
    _parameter("attackers", options.Attackers),
    _parameter("defenders", options.Defenders),
)
STACK_AND_WAY = (_parameter("attackers", options.Attackers), _parameter("way", options.Way))
RULES = (
    _parameter("rules", options.RulesName, None),
    _parameter("rules_file", options.RulesFile, None),
    _parameter("garrison", options.Garrison, None),
)
STOP = (
    _parameter("stop_at", options.StopAt, None),
    _parameter("charge", options.Charge, False),
    _parameter("max_losses", options.MaxLosses, None),
    _parameter("max_rolls", options.MaxRolls, None),
)
SEED = typer.Option("--seed", metavar="N", help="Throw the same dice again.")
DICE = (
    _option("runs", "How many games to play, such as 1e6.", "N", "100000"),
    _parameter("seed", Annotated[str | None, SEED], None),
)


@dataclass(frozen=True)
class Words:
    """The words of a command line, each read when the chart asks for it."""

    words: Mapping[str, Any]

    @cached_property
    def known(self) -> RuleSet:
        """Return the rules that the options name."""
        return options.read_rules(*(self.words[each.name] for each in RULES))

    @cached_property
    def stop(self) -> Stop:
        """Return when the attackers stop."""
        return options.read_stop(*(self.words[each.name] for each in STOP))

    @cached_property
    def seed(self) -> int:
        """Return the seed of the dice."""
        return options.seed(self.words["seed"])

    @cached_property
    def battle(self) -> Battle:
        """Return the battle."""
        rules, stop = self.known.rules, self.stop
        attackers = options.number(self.words["attackers"], "attackers", least=1)
        defenders = options.number(self.words["defenders"], "defenders", least=1)
        return Battle(attackers, defenders, rules, stop=stop)

    @cached_property
    def campaign(self) -> Campaign:
        """Return the campaign."""
        rules, stop = self.known.rules, self.stop
        attackers = options.number(self.words["attackers"], "attackers", least=1)
        way = [parse_territory(each) for each in self.words["way"]]
        return Campaign(attackers, way, rules, stop=stop)

    def simulated(self) -> object:
        """Return the campaign, played with random dice."""
        asked, count, seed = self.campaign, options.runs(self.words["runs"]), self.seed
        with show.progress("Throwing dice; Ctrl-C stops.", count) as progress:
            return simulate_campaign(
                asked.attackers,
                asked.territories,
                asked.rules,
                stop=asked.stop,
                runs=count,
                seed=seed,
                progress=progress,
            )

    def estimates(self) -> object:
        """Return the chance to win the campaign after more and more games."""
        asked, count, seed = self.campaign, options.runs(self.words["runs"]), self.seed
        with show.patience():
            return running_estimates(asked, runs=count, seed=seed)


# The arguments of charts that are asked for in a way of their own, by name: what the command line
# has for them, and how it is read. All others are whole numbers, or lists of them.
ASKED: dict[str, tuple[tuple[Parameter, ...], Callable[[Words], object]]] = {
    "battle": ((*SIZES, *RULES, *STOP), lambda words: words.battle),
    "campaign": ((*STACK_AND_WAY, *RULES, *STOP), lambda words: words.campaign),
    "asked": ((*STACK_AND_WAY, *RULES, *STOP), lambda words: words.campaign),
    "simulated": (DICE, lambda words: words.simulated()),
    "estimates": (DICE, lambda words: words.estimates()),
    "seed": ((), lambda words: words.seed),
    "rules": (RULES, lambda words: words.known.rules),
    "label": ((), lambda words: words.known.name),
}


def _command(drawn: Chart) -> Callable[..., None]:
    """Return a chart as a command, whose options are described by the chart's own arguments."""
    parameters = [
        each
        for each in inspect.signature(drawn.draw).parameters.values()
        if each.name in ASKED or each.name in drawn.options or each.default is each.empty
    ]
    # The rules come first, as what the other words are read for.
    read_first = sorted(parameters, key=lambda each: each.name != "rules")
    is_list = {each.name: "Sequence" in str(each.annotation) for each in parameters}

    def command(**given: Any) -> None:
        words = Words(given)
        picture = Picture(given["file"], given["dark"])
        values: dict[str, object] = {}
        for name in (each.name for each in read_first):
            if name in ASKED:
                values[name] = ASKED[name][1](words)
                continue
            least = drawn.options.get(name, Option("", least=1)).least
            read: Callable[..., object] = options.numbers if is_list[name] else options.number
            values[name] = read(given[name], name, least)
        picture.draw(lambda _: drawn.draw(**values))

    asked = {FILE.name: FILE}
    for each in parameters:
        asked |= {word.name: word for word in _words_of(each, drawn, is_list[each.name])}
    asked[DARK.name] = DARK
    # Arguments come before options, and those of one kind in the order of the chart.
    in_order = sorted(asked.values(), key=lambda word: word.default is not word.empty)
    command.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
    first, *_ = inspect.cleandoc(drawn.draw.__doc__ or "").split("\n")
    example = f"iacta chart {drawn.command} {drawn.command}.svg {drawn.example}".strip()
    command.__doc__ = f"{first.replace('Return', 'Draw', 1)}\n\nExample: {example}"
    return command


def _words_of(each: Parameter, drawn: Chart, is_list: bool) -> Iterator[Parameter]:
    """Yield what the command line has for an argument of a chart."""
    if each.name in ASKED:
        yield from ASKED[each.name][0]
    elif each.name in drawn.options:
        default = drawn.options[each.name].default
        yield _option(each.name, _help(drawn, each.name), "N,N..." if is_list else "N", default)
    else:
        yield from (word for word in SIZES if word.name == each.name)


def _help(drawn: Chart, name: str) -> str:
    """Return what the docstring of a chart says of an argument."""
    text = inspect.cleandoc(drawn.draw.__doc__ or "")
    found = re.search(rf"^{name}: (.*(?:\n    .*)*)", text, re.MULTILINE)
    line = " ".join(found[1].split()) if found else ""
    return line[:1].upper() + line[1:]


WANTED = ",".join(f"{100 * chance:g}%" for chance in CHANCES)


def minimum_troops(
    file: options.PictureFile,
    defenders: Annotated[
        str, typer.Option("--defenders", metavar="N", help="The most defenders.")
    ] = "200",
    chances: Annotated[
        str,
        typer.Option("--chances", metavar="P,P...", help="Wanted chances, such as 50%,95%."),
    ] = WANTED,
    rules: Annotated[
        str,
        typer.Option("--rules", metavar="NAME,NAME...", help="Rules to compare; see: iacta rules"),
    ] = "classic,capital",
    per_defender: Annotated[
        bool, typer.Option("--per-defender", help="Divide the attackers by the defenders.")
    ] = False,
    ratio: Annotated[
        bool, typer.Option("--ratio", help="Divide those of the last rules by those of the first.")
    ] = False,
    dark: options.Dark = False,
) -> None:
    """Draw the fewest attackers that chances take, by defenders, for several rules.

    Example: iacta chart minimum-troops minimum-troops.svg --defenders 50 --per-defender
    """
    picture = Picture(file, dark)
    names = [find_rule_set(name.strip()).name for name in rules.split(",")]
    if ratio and (per_defender or len(names) != 2):
        raise IllegalError(
            "--ratio must go with two rules and without --per-defender, "
            f"got {len(names)} {'with' if per_defender else 'without'} it"
        )
    wanted = [parse_chance(chance.strip()) for chance in chances.split(",")]
    most = options.number(defenders, "defenders", least=2)
    if ratio:
        base, above = names
        picture.draw(lambda charts: charts.minimum_troops_ratio(most, wanted, above, base))
    else:
        picture.draw(
            lambda charts: charts.minimum_troops(most, wanted, names, per_defender=per_defender)
        )


chart = typer.Typer(
    help="Draw one of the pictures that no other command draws.",
    no_args_is_help=True,
    context_settings=HELP,
)
_registered = {each.command: _command(each) for each in charts().values() if each.command}
# Two charts in one, which --ratio chooses from.
COMMANDS = dict(sorted({**_registered, "minimum-troops": minimum_troops}.items()))
for name, command in COMMANDS.items():
    chart.command(name, context_settings=NUMBERS)(command)
