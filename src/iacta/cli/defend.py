"""`iacta defend`: the fewest defenders for a wanted chance, and the best spread over a chain."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from iacta.battle.battle import Battle
from iacta.checks import parse_chance
from iacta.cli import options, show
from iacta.cli.picture import Picture, read_picture
from iacta.distribution import Probability
from iacta.errors import IllegalError
from iacta.questions.defence import defenders_needed
from iacta.questions.spread import (
    BestSpread,
    Objective,
    simple_spreads,
    spread_defenders,
    spread_value,
)
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["defend"]

NEIGHBOURS = 3
USUAL_CHANCE = "95%"
OBJECTIVES: dict[str, Objective] = {
    "break-through": "break through",
    "break through": "break through",
    "territories": "territories",
}

Chance = Annotated[
    str | None,
    typer.Option("--chance", metavar="P", help="The wanted chance to hold: 90%; usually 95%."),
]
Armies = Annotated[
    str | None, typer.Option("--armies", metavar="N", help="Armies to spread over a chain.")
]
Territories = Annotated[
    str | None, typer.Option("--territories", metavar="K", help="Territories of the chain.")
]
Goal = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="WHAT",
        help="What the attackers want: break-through, all of the chain, or territories, as many "
        "as they can; usually break-through.",
    ),
]


def defend(
    attackers: options.Attackers,
    chance: Chance = None,
    armies: Armies = None,
    territories: Territories = None,
    objective: Goal = None,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell how many defenders hold, or how to spread armies over a chain of territories.

    Examples: iacta defend 12 --chance 90%; iacta defend 40 --armies 30 --territories 6
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    asked = _Asked(
        options.number(attackers, "attackers", least=1),
        known.rules,
        known.name,
        exact,
    )
    if armies is None and territories is None and objective is None:
        balanced = known.rules.dice_mode == "balanced blitz"
        wanted_chance = parse_chance(USUAL_CHANCE if chance is None else chance, certain=balanced)
        _hold(asked, wanted_chance, chosen, picture)
        return
    if chance is not None or armies is None or territories is None:
        raise IllegalError(
            "options must be --chance alone, or --armies and --territories, got "
            + " and ".join(_given(chance=chance, armies=armies, territories=territories))
        )
    wanted = _Wanted(
        options.number(armies, "armies", least=1),
        options.number(territories, "territories", least=1),
        _read_objective(objective),
    )
    _spread(asked, wanted, chosen, picture)


def _given(**values: str | None) -> list[str]:
    """Return the options that were given."""
    return [f"--{name}" for name, value in values.items() if value is not None] or ["--objective"]


def _read_objective(objective: str | None) -> Objective:
    if objective is None:
        return "break through"
    if objective not in OBJECTIVES:
        raise IllegalError(f"objective must be break-through or territories, got {objective!r}")
    return OBJECTIVES[objective]


class _Asked(NamedTuple):
    attackers: int
    rules: Rules
    label: str
    exact: bool

    def held(self, defenders: int, *, exact: bool = False) -> Probability:
        """Return the chance that so many defenders hold."""
        battle = Battle(self.attackers, defenders, self.rules)
        return 1 - battle.win_probability(exact=exact)


def _hold(asked: _Asked, chance: Fraction, chosen: options.Output, picture: Picture | None) -> None:
    """Answer with the fewest defenders."""
    with show.patience():
        defenders = defenders_needed(asked.attackers, chance, asked.rules)
        held = asked.held(defenders, exact=asked.exact)
    record = {
        "attackers": asked.attackers,
        "chance": float(chance),
        "garrison": asked.rules.garrison,
        "rules": asked.label,
        "defenders": defenders,
        "hold_probability": float(held),
    }
    row = {**record, "hold_probability": show.all_digits(held)}
    show.emit(
        chosen,
        record=lambda: {**record, "hold_probability_exact": show.exact_text(held)},
        rows=lambda: [tuple(row), tuple(row.values())],
        text=lambda console: _tell_hold(console, asked, chance, defenders, held),
    )
    if picture:
        picture.draw(
            lambda charts: charts.chance_by_defenders(
                asked.attackers, defenders, chance, asked.rules, asked.label
            )
        )


def _tell_hold(
    console: "Console", asked: _Asked, chance: Fraction, defenders: int, held: Probability
) -> None:
    if asked.attackers <= asked.rules.garrison:
        show.say_cannot_attack(console, asked.attackers, asked.rules.garrison)
        return
    told = show.told(held, [asked.rules])
    show.say(
        console,
        f"You need {defenders} {_defenders(defenders)} to hold against {asked.attackers} "
        f"{show.armies(asked.attackers)} with a chance of at least {show.plain_percent(chance)}: "
        f"with {defenders} it is {show.percent(told)}{show.under(asked.label)}.",
    )
    show.say_exactly(console, held)
    console.print()
    show.bars(
        console,
        [
            (
                f"{n} {_defenders(n)}",
                show.told(asked.held(n), [asked.rules]),
                "green" if n >= defenders else "red",
            )
            for n in range(max(1, defenders - NEIGHBOURS), defenders + NEIGHBOURS + 1)
        ],
    )


def _defenders(count: int) -> str:
    return "defender" if count == 1 else "defenders"


class _Wanted(NamedTuple):
    armies: int
    territories: int
    objective: Objective

    def others(self, asked: _Asked) -> Iterator[tuple[str, Sequence[int], float]]:
        """Yield the spreads that come to mind first, each once, with its name and value."""
        named = simple_spreads(self.armies, self.territories)
        first_names = {spread: name for name, spread in reversed(named.items())}
        for spread, name in reversed(first_names.items()):
            value = spread_value(asked.attackers, spread, asked.rules, objective=self.objective)
            yield name, spread, float(value)


def _spread(
    asked: _Asked, wanted: _Wanted, chosen: options.Output, picture: Picture | None
) -> None:
    """Answer with the best spread."""
    with show.patience():
        best = spread_defenders(
            asked.attackers,
            wanted.armies,
            wanted.territories,
            asked.rules,
            objective=wanted.objective,
            exact=asked.exact,
        )
        others = list(wanted.others(asked))
    show.emit(
        chosen,
        record=lambda: _record(asked, wanted, best, others),
        rows=lambda: [
            ("spread", "value"),
            *((_text(spread), show.all_digits(best.value)) for spread in best.spreads),
        ],
        text=lambda console: _tell_spread(console, asked, wanted, best, others),
    )
    if picture:
        picture.draw(
            lambda charts: charts.best_spread(
                best, asked.attackers, wanted.objective, asked.rules, asked.label
            )
        )


Others = Sequence[tuple[str, Sequence[int], float]]


def _record(asked: _Asked, wanted: _Wanted, best: BestSpread, others: Others) -> dict[str, object]:
    return {
        "attackers": asked.attackers,
        "armies": wanted.armies,
        "territories": wanted.territories,
        "objective": wanted.objective,
        "garrison": asked.rules.garrison,
        "rules": asked.label,
        "spreads": [list(spread) for spread in best.spreads],
        "count": best.count,
        "value": float(best.value),
        "value_exact": show.exact_text(best.value),
        "is_exact": best.is_exact,
        "others": [
            {"name": name, "spread": list(spread), "value": value} for name, spread, value in others
        ],
    }


def _tell_spread(
    console: "Console", asked: _Asked, wanted: _Wanted, best: BestSpread, others: Others
) -> None:
    spread = best.spreads[0]
    if not best.value and best.is_exact:
        show.say(console, _hopeless(asked, wanted))
        return
    show.say(
        console,
        f"Put {_text(spread)} {show.armies(wanted.armies)}: {asked.attackers} "
        f"{'attacker' if asked.attackers == 1 else 'attackers'} then "
        f"{_done(asked, wanted, best.value)} at best{show.under(asked.label)}.",
    )
    show.say_exactly(console, best.value)
    if wanted.territories in (1, wanted.armies):
        show.say(console, "There is no other spread.")
        return
    show.say(console, _certainty(best))
    show.say(
        console,
        "The attackers, one stack, start where they like and go on from neighbour to neighbour.",
    )
    show.heading(console, HEADINGS[wanted.objective])
    most = wanted.territories if wanted.objective == "territories" else 1
    rows = [("best", spread, float(best.value)), *others]
    width = max(len(name) for name, _, _ in rows)
    show.bars(
        console,
        [
            (f"{name:<{width}}  {_text(each)}", value / most, "red" if number else "green")
            for number, (name, each, value) in enumerate(rows)
        ],
    )


HEADINGS: dict[Objective, str] = {
    "break through": "Their chance to break through, against this and other spreads:",
    "territories": "The part of the territories that they take on average:",
}


def _done(asked: _Asked, wanted: _Wanted, value: Probability) -> str:
    """Return what the attackers do."""
    verb = "s" if asked.attackers == 1 else ""
    if wanted.objective == "break through":
        return f"break{verb} through with a chance of {show.percent(value)}"
    of_all = f"{wanted.territories} {'territory' if wanted.territories == 1 else 'territories'}"
    return f"take{verb} {_mean(value, wanted.territories)} of {of_all} on average"


def _mean(value: Probability, most: int) -> str:
    """Return a mean number of territories; what is not quite all is not called so.

    >>> _mean(5.72025, 6), _mean(5.9999, 6), _mean(0.0001, 6)
    ('5.72', 'more than 5.99', 'less than 0.01')
    """
    if value >= most - 0.005:
        return f"more than {most - 0.01:.2f}"
    return f"{float(value):.2f}" if value >= 0.005 else "less than 0.01"


def _hopeless(asked: _Asked, wanted: _Wanted) -> str:
    """Return what is said of attackers who have no chance, however the armies stand."""
    count = "1 attacker" if asked.attackers == 1 else f"{asked.attackers} attackers"
    goal = "take a territory" if wanted.objective == "territories" else "break through"
    return f"{count} cannot {goal}, however the armies are spread{show.under(asked.label)}."


def _certainty(best: BestSpread) -> str:
    """Return how sure it is that the spread is the best, and which are as good."""
    if not best.is_exact:
        return "It is the best that a search has found; there are too many to compare all."
    if best.count == 1:
        return "No other spread is as good."
    if best.count == 2 and len(best.spreads) == 2:
        return f"As good is only {_text(best.spreads[1])}."
    return f"{best.count - 1} other spreads are as good, and none is better."


def _text(spread: Sequence[int]) -> str:
    return " ".join(map(str, spread))
