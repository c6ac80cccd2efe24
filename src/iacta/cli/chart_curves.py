"""The pictures of chances as curves, and of the fewest attackers, as commands."""

from collections.abc import Callable
from typing import Annotated

import typer

from iacta.checks import parse_chance
from iacta.cli import options
from iacta.cli.picture import Picture
from iacta.errors import IllegalError
from iacta.rules.variants import find_rule_set

__all__ = ["CHARTS"]

MostAttackers = Annotated[
    str, typer.Option("--attackers", metavar="N", help="The most attackers, garrison included.")
]
MostDefenders = Annotated[str, typer.Option("--defenders", metavar="N", help="The most defenders.")]
Deltas = Annotated[
    str, typer.Option("--deltas", metavar="N,N...", help="Leads of the attackers, such as -2,0,5.")
]
Defended = Annotated[
    str, typer.Option("--defenders", metavar="N,N...", help="Armies of the defence, such as 1,5.")
]
Advantages = Annotated[
    str, typer.Option("--advantages", metavar="N,N...", help="Attackers less defenders, as 0,1,2.")
]
Chances = Annotated[
    str, typer.Option("--chances", metavar="P,P...", help="Wanted chances, such as 50%,95%.")
]
RulesNames = Annotated[
    str, typer.Option("--rules", metavar="NAME,NAME...", help="Rules to compare; see: iacta rules")
]
PerDefender = Annotated[
    bool, typer.Option("--per-defender", help="Divide the attackers by the defenders.")
]
Ratio = Annotated[
    bool, typer.Option("--ratio", help="Divide those of the last rules by those of the first.")
]


def delta(
    file: options.PictureFile,
    deltas: Deltas = "-5,-2,-1,0,1,2,5,10",
    defenders: MostDefenders = "60",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the chance to win by defenders, a curve for each lead of the attackers.

    Example: iacta chart delta delta.svg
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison)
    leads = options.numbers(deltas, "deltas")
    most = options.number(defenders, "defenders", least=1)
    picture.draw(lambda charts: charts.curves_by_delta(leads, most, known.rules, known.name))


def match_ups(
    file: options.PictureFile,
    defenders: Defended = "1,2,3,4,5,10,15,20",
    attackers: MostAttackers = "20",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the chance to win by attackers, a curve for each number of defenders.

    Example: iacta chart match-ups match-ups.svg
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison)
    defended = options.numbers(defenders, "defenders", least=1)
    most = options.number(attackers, "attackers", least=1)
    picture.draw(lambda charts: charts.curves_by_match_up(defended, most, known.rules, known.name))


def advantage(
    file: options.PictureFile,
    advantages: Advantages = "0,1,2,3,4,5,6,7",
    attackers: MostAttackers = "20",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the chance to win by attackers, a curve for each advantage over the defenders.

    Example: iacta chart advantage advantage.svg
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison)
    leads = options.numbers(advantages, "advantages")
    most = options.number(attackers, "attackers", least=2)
    picture.draw(lambda charts: charts.curves_by_advantage(leads, most, known.rules, known.name))


def break_even(
    file: options.PictureFile,
    attackers: MostAttackers = "50",
    defenders: MostDefenders = "50",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw where the attackers are favourites, and the straight line nearest to that border.

    Example: iacta chart break-even break-even.svg
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison)
    most = options.number(attackers, "attackers", least=1)
    against = options.number(defenders, "defenders", least=2)
    picture.draw(lambda charts: charts.break_even(most, against, known.rules, known.name))


def slices(
    file: options.PictureFile,
    defenders: Defended = "15,25,35",
    attackers: MostAttackers = "50",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the chance to win by attackers for some defenders, the first favourites marked.

    Example: iacta chart slices slices.svg --garrison 0
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison)
    defended = options.numbers(defenders, "defenders", least=1)
    most = options.number(attackers, "attackers", least=1)
    picture.draw(lambda charts: charts.slices(defended, most, known.rules, known.name))


def minimum_troops(
    file: options.PictureFile,
    defenders: MostDefenders = "200",
    chances: Chances = "1%,5%,10%,20%,25%,30%,40%,50%,60%,70%,75%,80%,90%,95%,99%",
    rules: RulesNames = "classic,capital",
    per_defender: PerDefender = False,
    ratio: Ratio = False,
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


CHARTS: dict[str, Callable[..., None]] = {
    "advantage": advantage,
    "break-even": break_even,
    "delta": delta,
    "match-ups": match_ups,
    "minimum-troops": minimum_troops,
    "slices": slices,
}
