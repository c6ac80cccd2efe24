"""The pictures of laws, states and simulations that no other command draws, as commands."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.battle.territory import parse_territory
from iacta.checks import parse_whole_number
from iacta.cli import options, show
from iacta.cli.picture import Picture
from iacta.questions.simulated import running_estimates, simulate_campaign
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop

__all__ = ["CHARTS"]

Rolls = Annotated[
    str, typer.Option("--rolls", metavar="N,...", help="After how many rolls, such as 0,1,2.")
]
Runs = Annotated[
    str, typer.Option("--runs", metavar="N", help="How many games to play, such as 1e6.")
]
Seed = Annotated[str | None, typer.Option("--seed", metavar="N", help="Throw the same dice again.")]


def difference(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    stop_at: options.StopAt = None,
    charge: options.Charge = False,
    max_losses: options.MaxLosses = None,
    max_rolls: options.MaxRolls = None,
    dark: options.Dark = False,
) -> None:
    """Draw the difference of the armies left: attackers less defenders.

    Example: iacta chart difference difference.svg 50 50 --garrison 0
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    stop = options.read_stop(stop_at, charge, max_losses, max_rolls)
    battle = Battle(*_sizes(attackers, defenders), known, stop=stop)
    picture.draw(lambda charts: charts.final_difference(battle))


def score(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Way,
    runs: Runs = "100000",
    seed: Seed = None,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    stop_at: options.StopAt = None,
    charge: options.Charge = False,
    max_losses: options.MaxLosses = None,
    max_rolls: options.MaxRolls = None,
    dark: options.Dark = False,
) -> None:
    """Draw the score of a campaign, played with random dice and exact.

    The score is the armies in the last territory, less the defenders left on the way.

    Example: iacta chart score score.svg 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    stop = options.read_stop(stop_at, charge, max_losses, max_rolls)
    led = _campaign(attackers, defenders, known, stop)
    count, chosen_seed = options.runs(runs), options.seed(seed)
    with show.progress("Throwing dice; Ctrl-C stops.", count) as progress:
        simulated = simulate_campaign(
            led.attackers,
            led.territories,
            led.rules,
            stop=led.stop,
            runs=count,
            seed=chosen_seed,
            progress=progress,
        )
    picture.draw(lambda charts: charts.campaign_score(led, simulated, seed=chosen_seed))


def states(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the states of a small battle, and the losses between them.

    Example: iacta chart states states.svg 4 2
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    sizes = _sizes(attackers, defenders)
    picture.draw(lambda charts: charts.state_space(*sizes, known))


def tree(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the states of a small battle, and the chances between them.

    Example: iacta chart tree tree.svg 4 2
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    sizes = _sizes(attackers, defenders)
    picture.draw(lambda charts: charts.probability_tree(*sizes, known))


def after_rolls(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rolls: Rolls = "0,1,2",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw where a battle stands after some rolls.

    Example: iacta chart after-rolls after.svg 12 10 --rolls 0,1,2,6
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    sizes = _sizes(attackers, defenders)
    counts = [parse_whole_number(each, "rolls", least=0) for each in rolls.split(",")]
    picture.draw(lambda charts: charts.after_rolls(*sizes, counts, known))


def boundary(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw where a battle first comes to the states with fewer dice.

    Example: iacta chart boundary boundary.svg 12 10
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    sizes = _sizes(attackers, defenders)
    picture.draw(lambda charts: charts.first_passages(*sizes, known))


def matrix(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    dark: options.Dark = False,
) -> None:
    """Draw the transition matrix of a battle as an image.

    Example: iacta chart matrix matrix.png 11 10
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    sizes = _sizes(attackers, defenders)
    picture.draw(lambda charts: charts.transition_matrix(*sizes, known))


def convergence(
    file: options.PictureFile,
    attackers: options.Attackers,
    defenders: options.Way,
    runs: Runs = "100000",
    seed: Seed = None,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    stop_at: options.StopAt = None,
    charge: options.Charge = False,
    max_losses: options.MaxLosses = None,
    max_rolls: options.MaxRolls = None,
    dark: options.Dark = False,
) -> None:
    """Draw how random dice come nearer to the exact chance, game by game.

    Example: iacta chart convergence convergence.svg 12 10 --runs 1e5
    """
    picture = Picture(file, dark)
    known = options.read_rules(rules, rules_file, garrison).rules
    stop = options.read_stop(stop_at, charge, max_losses, max_rolls)
    led = _campaign(attackers, defenders, known, stop)
    count, chosen_seed = options.runs(runs), options.seed(seed)
    with show.patience():
        estimates = running_estimates(led, runs=count, seed=chosen_seed)
    picture.draw(lambda charts: charts.convergence(estimates, led, seed=chosen_seed))


def _sizes(attackers: str, defenders: str) -> tuple[int, int]:
    return (
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
    )


def _campaign(attackers: str, way: Sequence[str], rules: Rules, stop: Stop) -> Campaign:
    return Campaign(
        options.number(attackers, "attackers", least=1),
        [parse_territory(each) for each in way],
        rules,
        stop=stop,
    )


CHARTS: dict[str, Callable[..., None]] = {
    "difference": difference,
    "score": score,
    "states": states,
    "tree": tree,
    "after-rolls": after_rolls,
    "boundary": boundary,
    "matrix": matrix,
    "convergence": convergence,
}
