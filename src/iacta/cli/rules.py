"""`iacta rules`: the rules that people play, and what they do to the odds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

from iacta.battle.battle import Battle
from iacta.cli import options, show
from iacta.cli.dice_words import dice_words, rules_words
from iacta.cli.picture import read_picture
from iacta.distribution import Probability
from iacta.errors import IactaError, IllegalError
from iacta.questions.armies_needed import armies_needed
from iacta.rules.files import rules_record
from iacta.rules.modifiers import MODIFIERS
from iacta.rules.roll import LossLaw, Roll, break_even_ratio
from iacta.rules.rules import Rules
from iacta.rules.variants import RULE_SETS, RuleSet

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["rules"]

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="The rules to explain, such as capital+wall."),
]
SameName = Annotated[
    str | None, typer.Option("--rules", metavar="NAME", help="The same as the argument.")
]
EXAMPLE_ARMIES = 10
EVEN = Fraction(1, 2)
MOST_ROLLS = 30
CSV_COLUMNS = (
    "name",
    "aliases",
    "description",
    "source",
    "full_roll",
    "win_probability",
    "break_even_ratio",
    "break_even_attackers",
)

Told = TypeVar("Told")


def rules(
    name: Name = None,
    rules: SameName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """List the rules that people play with their odds, or explain those of one name or file.

    Example: iacta rules capital
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    if name is not None and rules is not None:
        raise IllegalError(f"rules must be named once, got {name!r} and --rules {rules!r}")
    name = rules if name is None else name
    one = options.read_rules(name, rules_file, garrison)
    listed = name is None and rules_file is None
    known = _all_with(one.rules.garrison) if listed else (one,)
    show.emit(
        chosen,
        record=lambda: {"rules": [_record(_Odds(each, exact)) for each in known]},
        rows=lambda: _rows(known, exact),
        text=lambda console: _list(console, known) if listed else _explain(console, one, exact),
    )
    if picture:
        picture.draw(lambda charts: charts.rule_sets(known) if listed else charts.full_roll(one))


def _all_with(garrison: int) -> tuple[RuleSet, ...]:
    return tuple(replace(each, rules=replace(each.rules, garrison=garrison)) for each in RULE_SETS)


def _or_error(ask: Callable[[], Told]) -> Told | IactaError:
    """Return an answer, or why the library cannot tell it."""
    try:
        return ask()
    except IactaError as error:
        return error


def _or_none(ask: Callable[[], Told]) -> Told | None:
    answer = _or_error(ask)
    return None if isinstance(answer, IactaError) else answer


class _Odds(NamedTuple):
    """What rules do to the odds; what the library cannot tell is `None`."""

    known: RuleSet
    exact: bool = False

    def ask_win_probability(self) -> Probability:
        """Return the chance to win the example's battle."""
        battle = Battle(EXAMPLE_ARMIES, EXAMPLE_ARMIES, self.known.rules)
        return battle.win_probability(exact=self.exact)

    def ask_attackers(self) -> int:
        """Return the fewest attackers with an even chance."""
        return int(armies_needed(EXAMPLE_ARMIES, EVEN, self.known.rules))

    def ratio(self) -> Fraction | str | None:
        """Return the break-even ratio, `"never"` if there is none."""
        found = _or_error(lambda: break_even_ratio(self.known.rules))
        if isinstance(found, IactaError):
            return None
        return "never" if found is None else found

    def full_roll(self) -> LossLaw | None:
        """Return the law of a roll with all dice, `None` if the dice are not chosen before it."""
        if self.known.rules.defender_sees_first or self.ratio() is None:
            return None
        return Roll(*self.known.rules.full_roll, self.known.rules).law()


def _record(odds: _Odds) -> dict[str, object]:
    known, ratio, won = odds.known, odds.ratio(), _or_none(odds.ask_win_probability)
    return {
        "name": known.name,
        "aliases": list(known.aliases),
        "description": known.description,
        "source": known.source,
        "attack_dice": list(known.rules.attack.faces),
        "defence_dice": list(known.rules.defence.faces),
        "fields": rules_record(known.rules),
        "full_roll": _losses(odds),
        "win_probability": None if won is None else float(won),
        "win_probability_exact": None if won is None else show.exact_text(won),
        "break_even_ratio": float(ratio) if isinstance(ratio, Fraction) else None,
        "break_even_ratio_exact": show.exact_text(ratio) if isinstance(ratio, Fraction) else None,
        "break_even_attackers": _or_none(odds.ask_attackers),
    }


def _losses(odds: _Odds) -> list[dict[str, object]] | None:
    law = odds.full_roll()
    if law is None:
        return None
    return [
        {
            "attackers": law.compared - lost,
            "defenders": lost,
            "count": law.counts[lost],
            "total": law.total,
            "probability": law.counts[lost] / law.total,
        }
        for lost in range(law.compared, -1, -1)
    ]


def _rows(known: Sequence[RuleSet], exact: bool) -> Iterator[Sequence[object]]:
    yield CSV_COLUMNS
    for each in known:
        odds = _Odds(each, exact)
        law, ratio, won = odds.full_roll(), odds.ratio(), _or_none(odds.ask_win_probability)
        yield (
            each.name,
            "; ".join(each.aliases),
            each.description,
            each.source,
            "" if law is None else "; ".join(_probabilities(law, exact)),
            "" if won is None else show.all_digits(won),
            _ratio_digits(ratio, exact),
            _or_none(odds.ask_attackers),
        )


def _probabilities(law: LossLaw, exact: bool) -> Iterator[str]:
    for count in reversed(law.counts):
        chance = Fraction(count, law.total)
        yield show.all_digits(chance if exact else float(chance))


def _ratio_digits(ratio: Fraction | str | None, exact: bool) -> str:
    if isinstance(ratio, Fraction):
        return show.all_digits(ratio if exact else float(ratio))
    return ratio or ""


def _list(console: "Console", known: Sequence[RuleSet]) -> None:
    show.say(console, "The rules that iacta knows; any can stand after --rules:")
    console.print()
    width = max(len(each.name) for each in known)
    for each in known:
        show.say(console, f"{each.name:<{width}}  {each.description}")
    garrison = known[0].rules.garrison
    show.heading(console, "Their odds:")
    for line in (
        "full roll   in per cent, the chances that a roll with all dice costs the defenders",
        "            as many armies as it can, one fewer, and so on down to none",
        f"10 v 10     the chance of 10 armies, {garrison} of which must stay behind, to beat 10",
        "break-even  the attackers for each defender with which a very large battle is even",
    ):
        show.say(console, line)
    console.print()
    show.print_table(
        console, ("", "full roll", "10 v 10", "break-even"), [_cells(_Odds(each)) for each in known]
    )
    console.print()
    show.say(console, f"These stack in any order: {', '.join(each.name for each in MODIFIERS)}.")
    show.say(console, "More about one of them, or a stack: iacta rules capital+wall")


def _cells(odds: _Odds) -> Sequence[str]:
    law, won = odds.full_roll(), _or_none(odds.ask_win_probability)
    return (
        odds.known.name,
        "-" if law is None else _law_text(law),
        "-" if won is None else show.short_percent(show.told(won, [odds.known.rules])),
        _ratio_text(odds.ratio()),
    )


def _law_text(law: LossLaw) -> str:
    return " / ".join(f"{100 * count / law.total:.1f}" for count in reversed(law.counts))


def _ratio_text(ratio: Fraction | str | None) -> str:
    return f"{float(ratio):.3f}" if isinstance(ratio, Fraction) else ratio or "-"


def _explain(console: "Console", known: RuleSet, exact: bool) -> None:
    show.say(console, f"{known.name}: {known.description}")
    show.say(console, f"Played in: {known.source}")
    if known.aliases:
        show.say(console, f"Also called: {', '.join(known.aliases)}")
    others = [each.name for each in MODIFIERS if each.name not in known.name.split("+")]
    if len(others) < len(MODIFIERS):
        show.say(console, f"Stacks with: {', '.join(others) or 'nothing more'}")
    console.print()
    for sentence in rules_words(known.rules):
        show.say(console, sentence)
    console.print()
    _say_odds(console, _Odds(known, exact))
    if _Odds(known).full_roll() is not None:
        _say_rolls(console, known.rules)


def _say_odds(console: "Console", odds: _Odds) -> None:
    won = _or_error(odds.ask_win_probability)
    if isinstance(won, IactaError):
        show.say(console, f"The odds of its battles cannot be told: {won}.")
    else:
        told = show.percent(show.told(won, [odds.known.rules]))
        show.say(
            console,
            f"{EXAMPLE_ARMIES} armies beat {EXAMPLE_ARMIES} with a chance of {told}.",
        )
        show.say_exactly(console, won)
        attackers = _or_error(odds.ask_attackers)
        if not isinstance(attackers, IactaError):
            show.say(
                console,
                f"{attackers} {show.armies(attackers, 'has', 'have')} an even chance or better "
                f"against {EXAMPLE_ARMIES}; one fewer has not.",
            )
    ratio = odds.ratio()
    if isinstance(ratio, Fraction):
        show.say(
            console,
            f"A very large battle is even with {_ratio_text(ratio)} attackers for each defender.",
        )
        if odds.exact:
            show.say_exactly(console, ratio)
    elif ratio is not None:
        show.say(console, "A very large battle is never even: on average the defenders lose none.")


def _say_rolls(console: "Console", rules: Rules) -> None:
    show.heading(console, "What a roll costs:")
    show.say(console, "chances    in per cent, that the defenders lose the most, down to none")
    show.say(console, "you, they  the armies that you and they lose on average")
    console.print()
    show.print_table(console, ("", "chances", "you", "they"), list(_rolls(rules)))


def _rolls(rules: Rules) -> Iterator[Sequence[str]]:
    most, their_most = rules.full_roll
    pairs = [(a, d) for a in range(1, most + 1) for d in range(1, their_most + 1)]
    for attack, defence in pairs if len(pairs) <= MOST_ROLLS else pairs[-1:]:
        thrown = Roll(attack, defence, rules)
        means = thrown.expected_losses()
        yield (
            f"{dice_words(attack)} against {defence}",
            _law_text(thrown.law()),
            *(f"{float(mean):.4f}" for mean in means),
        )
