"""`iacta need`: the fewest armies for a wanted chance."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from iacta.battle.territory import Territory, parse_territory, stages
from iacta.checks import parse_chance
from iacta.cli import options, show
from iacta.cli.picture import read_picture
from iacta.distribution import Probability
from iacta.questions.armies_needed import armies_needed_for_campaign, win_probability_keeping
from iacta.questions.balanced_requirement import is_certain_possible
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["need"]

NEIGHBOURS = 3

Way = Annotated[
    list[str],
    typer.Argument(
        metavar="DEFENDERS...",
        help="Armies on the defended territory, or on each territory of a campaign.",
    ),
]
WantedChance = Annotated[
    str, typer.Option("--chance", metavar="P", help="The wanted chance: 95%, 0.95 or 19/20.")
]
Keep = Annotated[
    str, typer.Option("--keep", metavar="N", help="Armies that must be left in the last territory.")
]


def need(
    defenders: Way,
    chance: WantedChance = "95%",
    keep: Keep = "0",
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell how many armies a wanted chance takes, for a battle or a whole campaign.

    Example: iacta need 10 --chance 95%
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    way = [parse_territory(each) for each in defenders]
    question = _Question(
        way,
        parse_chance(chance, certain=is_certain_possible(list(stages(way, known.rules)))),
        options.number(keep, "keep", least=0),
        known.rules,
        known.name,
    )
    with show.patience():
        attackers = question.answer()
        won = question.win_probability(attackers, exact=exact)
    show.emit(
        chosen,
        record=lambda: _record(question, attackers, won),
        rows=lambda: _rows(question, attackers, won),
        text=lambda console: _tell(console, question, attackers, won),
    )
    if picture:
        picture.draw(
            lambda charts: charts.chance_by_attackers(
                way, attackers, question.chance, known.rules, keep=question.keep, label=known.name
            )
        )


class _Question(NamedTuple):
    way: list[Territory]
    chance: Fraction
    keep: int
    rules: Rules
    label: str

    def answer(self) -> int:
        """Return the fewest attackers."""
        return armies_needed_for_campaign(self.way, self.chance, self.rules, keep=self.keep)

    def win_probability(self, attackers: int, *, exact: bool = False) -> Probability:
        """Return the chance of so many attackers to win and to keep what is asked."""
        return win_probability_keeping(attackers, self.way, self.keep, self.rules, exact=exact)

    def told(self, chance: Probability) -> Probability:
        """Return a chance as it is told: certainty as a fraction."""
        return show.told(chance, (stage.rules for stage in stages(self.way, self.rules)))

    def defenders(self) -> int | list[int]:
        """Return the defenders of a battle, or a list of them for a campaign."""
        numbers = [territory.defenders for territory in self.way]
        return numbers[0] if len(numbers) == 1 else numbers


def _record(question: _Question, attackers: int, won: Probability) -> dict[str, object]:
    return {
        "defenders": question.defenders(),
        "chance": float(question.chance),
        "keep": question.keep,
        "rules": question.label,
        "attackers": attackers,
        "win_probability": float(won),
    }


def _rows(question: _Question, attackers: int, won: Probability) -> Iterator[Sequence[object]]:
    record = _record(question, attackers, won)
    record["defenders"] = " ".join(str(territory.defenders) for territory in question.way)
    record["win_probability"] = show.all_digits(won)
    yield tuple(record)
    yield tuple(record.values())


def _tell(console: "Console", question: _Question, attackers: int, won: Probability) -> None:
    count = len(question.way)
    goal = f"beat {question.way[0].defenders}" if count == 1 else f"take all {count} territories"
    keeping = f" and keep {question.keep}" if question.keep else ""
    show.say(
        console,
        f"You need {attackers} {show.armies(attackers)} to {goal}{keeping} with a chance of at "
        f"least {show.plain_percent(question.chance)}: with {attackers} it is "
        f"{show.percent(question.told(won))}{show.under(question.label)}.",
    )
    show.say_exactly(console, won)
    console.print()
    show.bars(
        console,
        [
            (
                f"{n} {show.armies(n)}",
                question.told(question.win_probability(n)),
                "green" if n >= attackers else "red",
            )
            for n in range(max(1, attackers - NEIGHBOURS), attackers + NEIGHBOURS + 1)
        ],
    )
