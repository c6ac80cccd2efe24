"""`iacta campaign`: how far one stack comes through a chain of territories."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import typer

from iacta.battle.campaign import Campaign, CampaignOutcome, PlayedBattle, TerritoryOdds
from iacta.battle.territory import own_numbers, parse_territory, stages
from iacta.cli import endings, options, show
from iacta.cli.picture import read_picture
from iacta.distribution import Distribution, Probability
from iacta.errors import IllegalError
from iacta.methods.outcome import Stage
from iacta.rules.stop import NEVER

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["campaign"]

TABLE_COLUMNS = ("territory", "defenders", "chance to reach", "chance to take", "your armies")

Narrate = Annotated[bool, typer.Option("--narrate", help="Play it once, with random dice.")]
Seed = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="With --narrate: play the same again.")
]


def campaign(
    attackers: options.Attackers,
    defenders: options.Way,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    stop_at: options.StopAt = None,
    charge: options.Charge = False,
    max_losses: options.MaxLosses = None,
    max_rolls: options.MaxRolls = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
    narrate: Narrate = False,
    seed: Seed = None,
) -> None:
    """Tell how far one stack comes through a chain of territories.

    Example: iacta campaign 72 22 8 2 2 2 7 1 1 3 1 2 3 5 1
    """
    chosen = options.output(as_json, as_csv)
    if narrate and plot is not None:
        raise IllegalError(f"--plot must stand without --narrate, got --plot {plot} with it")
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    led = Campaign(
        options.number(attackers, "attackers", least=1),
        [parse_territory(each) for each in defenders],
        known.rules,
        stop=options.read_stop(stop_at, charge, max_losses, max_rolls),
    )
    if narrate:
        _narrate(led, seed, chosen)
        return
    if seed is not None:
        raise IllegalError(f"--seed must stand with --narrate, got --seed {seed} alone")
    with show.patience():
        answer = _Answer(
            led,
            known.name,
            [options.territory_rules(each) for each in defenders],
            led.outcomes(exact=exact),
            led.territory_odds(exact=exact),
        )
    show.emit(
        chosen,
        record=lambda: _record(answer),
        rows=lambda: _rows(answer),
        text=lambda console: _tell(console, answer),
    )
    if picture:
        picture.draw(lambda charts: charts.survival(led))


class _Answer(NamedTuple):
    led: Campaign
    label: str
    own_rules: list[str | None]
    law: Distribution[CampaignOutcome]
    odds: tuple[TerritoryOdds, ...]

    @property
    def win_probability(self) -> Probability:
        """Return the chance that all territories are taken."""
        return self.odds[-1].conquer_probability

    def told(self, probability: Probability, count: int) -> Probability:
        """Return the chance to take the first `count` territories as it is told."""
        if probability == 1 and any(end.conquered < count for end in self.law):
            return probability  # a float of what is nearly 1
        way = list(stages(self.led.territories, self.led.rules))[:count]
        return show.told(probability, (stage.rules for stage in way))

    @property
    def stopped(self) -> Probability | None:
        """The chance that the attackers stop on the way, and None where no battle has a stop."""
        way = self.led.stages()
        if all(stage.stop == NEVER for stage in way):
            return None
        return self.law.prob(lambda end: endings.stops(end, way))


def _record(answer: _Answer) -> dict[str, object]:
    return {
        "attackers": answer.led.attackers,
        "rules": answer.label,
        "win_probability": float(answer.win_probability),
        "win_probability_exact": show.exact_text(answer.win_probability),
        **_stopped(answer.stopped),
        "territories": [
            {
                "defenders": territory.defenders,
                "rules": own_rules or answer.label,
                "reach_probability": float(odds.reach_probability),
                "conquer_probability": float(odds.conquer_probability),
            }
            for territory, own_rules, odds in zip(
                answer.led.territories, answer.own_rules, answer.odds, strict=True
            )
        ],
        "outcomes": [
            {**end._asdict(), "probability": float(answer.law[end])}
            for end in endings.best_first(answer.law)
        ],
    }


def _stopped(probability: Probability | None) -> dict[str, object]:
    if probability is None:
        return {}
    return {
        "stop_probability": float(probability),
        "stop_probability_exact": show.exact_text(probability),
    }


def _rows(answer: _Answer) -> Iterator[Sequence[object]]:
    yield (*CampaignOutcome._fields, "probability")
    for end in endings.best_first(answer.law):
        yield (*end, show.all_digits(answer.law[end]))


def _tell(console: "Console", answer: _Answer) -> None:
    led, count = answer.led, len(answer.led.territories)
    if led.attackers <= led.rules.garrison:
        show.say_cannot_attack(console, led.attackers, led.rules.garrison)
        return
    if list(answer.law) == [(0, led.attackers, led.territories[0].defenders)]:
        show.say_does_not_attack(console, led.attackers)
        return
    verb = "leaves off" if led.attackers == 1 else "leave off"
    stopped = f", and {verb} with {show.percent(answer.stopped)}" if answer.stopped else ""
    show.say(
        console,
        f"{led.attackers} {show.armies(led.attackers, 'takes', 'take')} "
        f"{'the territory' if count == 1 else f'all {count} territories'} with a chance of "
        f"{show.percent(answer.told(answer.win_probability, count))}{stopped}"
        f"{show.under(answer.label)}.",
    )
    show.say_exactly(console, answer.win_probability, *([answer.stopped] if answer.stopped else []))
    console.print()
    show.print_table(console, TABLE_COLUMNS, _table(answer))
    show.heading(console, "How it ends:")
    show.bars(console, endings.bar_rows(answer.law, led.stages()))


def _table(answer: _Answer) -> Iterator[Sequence[str]]:
    for index, (territory, own_rules) in enumerate(
        zip(answer.led.territories, answer.own_rules, strict=True)
    ):
        odds = answer.odds[index]
        yield (
            str(index + 1),
            f"{territory.defenders}{f':{own_rules}' if own_rules else ''}{own_numbers(territory)}",
            show.short_percent(answer.told(odds.reach_probability, index)) if index else "100 %",
            show.short_percent(answer.told(odds.conquer_probability, index + 1)),
            f"{float(odds.expected_attackers):.1f}",
        )


def _narrate(led: Campaign, seed: str | None, chosen: options.Output) -> None:
    chosen_seed = options.seed(seed)
    battles = led.play(np.random.default_rng(chosen_seed))
    show.emit(
        chosen,
        record=lambda: {"seed": chosen_seed, "battles": [each._asdict() for each in battles]},
        rows=lambda: [PlayedBattle._fields, *battles],
        text=lambda console: _tell_story(console, led, battles, chosen_seed),
    )


def _tell_story(
    console: "Console", led: Campaign, battles: Sequence[PlayedBattle], seed: int
) -> None:
    way = led.stages()
    for battle in battles:
        show.say(
            console,
            f"Territory {battle.territory}: {battle.attackers} "
            f"{show.armies(battle.attackers, 'attacks', 'attack')} {battle.defenders}; "
            f"{_ending(battle, way[battle.territory - 1])}.",
        )
    taken = sum(not battle.defenders_left for battle in battles)
    show.say(
        console,
        f"{taken} of {len(led.territories)} "
        f"{'territory' if len(led.territories) == 1 else 'territories'} taken. "
        f"To play the same dice again: --seed {seed}",
    )


def _ending(battle: PlayedBattle, stage: Stage) -> str:
    if battle.defenders_left and battle.attackers_left > stage.rules.garrison:
        return f"{battle.attackers_left} left, and leave off against {battle.defenders_left}"
    if battle.defenders_left:
        return f"{battle.attackers_left} left, stopped by {battle.defenders_left}"
    return f"{battle.attackers_left} left, taken"
