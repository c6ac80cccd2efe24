"""`iacta simulate`: a campaign led many times with random dice."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.battle.territory import parse_territory
from iacta.cli import endings, options, show
from iacta.cli.picture import read_picture
from iacta.errors import IactaError
from iacta.estimate import Interval
from iacta.questions.simulated import Simulated, simulate_campaign

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["simulate"]

LEVEL = 0.95

Runs = Annotated[
    str, typer.Option("--runs", metavar="N", help="How many games to play, such as 1e6.")
]
Seed = Annotated[str | None, typer.Option("--seed", metavar="N", help="Throw the same dice again.")]


def simulate(
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
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Play a campaign many times with random dice, and compare with its exact odds.

    Example: iacta simulate 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --runs 1e6
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    led = Campaign(
        options.number(attackers, "attackers", least=1),
        [parse_territory(each) for each in defenders],
        known.rules,
        stop=options.read_stop(stop_at, charge, max_losses, max_rolls),
    )
    own_rules = [options.territory_rules(each) for each in defenders]
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
    answer = _Answer(led, known.name, own_rules, chosen_seed, simulated, _exact_chance(led))
    show.emit(
        chosen,
        record=lambda: _record(answer),
        rows=lambda: _rows(answer),
        text=lambda console: _tell(console, answer),
    )
    if picture:
        picture.draw(lambda charts: charts.simulated_outcomes(simulated, led, seed=chosen_seed))


class _Answer(NamedTuple):
    led: Campaign
    label: str
    own_rules: list[str | None]
    seed: int
    simulated: Simulated[CampaignOutcome]
    exact_chance: float | None

    @property
    def interval(self) -> Interval:
        """Return the interval for the chance that all territories are taken."""
        return self.simulated.won.interval(LEVEL)


def _exact_chance(led: Campaign) -> float | None:
    """Return the chance that a method computes, and None where all refuse."""
    try:
        with show.patience():
            return float(led.win_probability())
    except IactaError:
        return None


def _record(answer: _Answer) -> dict[str, object]:
    led, won, interval = answer.led, answer.simulated.won, answer.interval
    return {
        "attackers": led.attackers,
        "rules": answer.label,
        "territories": [
            {"defenders": territory.defenders, "rules": own_rules or answer.label}
            for territory, own_rules in zip(led.territories, answer.own_rules, strict=True)
        ],
        "runs": won.runs,
        "seed": answer.seed,
        "won": won.successes,
        "win_probability": float(won.probability),
        "interval": {"level": LEVEL, "low": interval.low, "high": interval.high},
        "computed_win_probability": answer.exact_chance,
        "outcomes": [
            {**end._asdict(), "count": count, "probability": count / won.runs}
            for end, count in _counts(answer)
        ],
    }


def _counts(answer: _Answer) -> Iterator[tuple[CampaignOutcome, int]]:
    """Yield the outcomes, best first, each with the number of runs that ended so."""
    law = answer.simulated.outcomes
    for end in endings.best_first(law):
        yield end, int(law[end] * answer.simulated.won.runs)


def _rows(answer: _Answer) -> Iterator[Sequence[object]]:
    yield (*CampaignOutcome._fields, "count", "probability")
    for end, count in _counts(answer):
        yield (*end, count, count / answer.simulated.won.runs)


def _tell(console: "Console", answer: _Answer) -> None:
    led, won, count = answer.led, answer.simulated.won, len(answer.led.territories)
    if led.attackers <= led.rules.garrison:
        show.say_cannot_attack(console, led.attackers, led.rules.garrison)
        return
    show.say(
        console,
        f"{led.attackers} {show.armies(led.attackers)} took "
        f"{'the territory' if count == 1 else f'all {count} territories'} in {won.successes:,} of "
        f"{won.runs:,} {'game' if won.runs == 1 else 'games'}: "
        f"{_percent(won.probability)}{show.under(answer.label)}.",
    )
    low, high = map(_percent, answer.interval)
    show.say(console, f"The 95 % interval for the true chance: {low} to {high}.")
    if answer.exact_chance is not None:
        show.say(console, _comparison(answer.exact_chance, answer.interval))
    show.heading(console, "How it ended:")
    show.bars(console, endings.bar_rows(answer.simulated.outcomes, led.stages()))
    show.say(console)
    show.say(console, f"To throw the same dice again: --seed {answer.seed}")


def _percent(part: float | Fraction) -> str:
    """Return a part of the runs; all and none are said to be so, for they are counted.

    >>> _percent(Fraction(81, 100)), _percent(1.0), _percent(0.0)
    ('81.00 %', '100 %', '0 %')
    """
    return show.percent(Fraction(part))


def _comparison(chance: float, interval: Interval) -> str:
    """Return a sentence on the computed chance and the interval.

    >>> _comparison(0.8105, Interval(0.8, 0.82))
    'The exact chance is 81.05 %, inside that interval.'
    >>> _comparison(0.7, Interval(0.8, 0.82))
    'The exact chance is 70.00 %, outside that interval, as happens in 1 of 20 simulations.'
    """
    if interval.low <= chance <= interval.high:
        return f"The exact chance is {show.percent(chance)}, inside that interval."
    return (
        f"The exact chance is {show.percent(chance)}, outside that interval, as happens in 1 of "
        "20 simulations."
    )
