"""`iacta battle`: the odds of one battle."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from iacta.battle import Battle
from iacta.cli import options, show
from iacta.distribution import Distribution, Probability
from iacta.errors import TooLargeError
from iacta.methods import find_method
from iacta.outcome import Outcome, is_won

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["battle"]

TABLE_COLUMNS = ("", "mean", "unlucky (1 in 20)", "median", "lucky (1 in 20)")


def battle(
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
) -> None:
    """Tell the odds of one battle, fought until one side cannot go on.

    Example: iacta battle 12 10
    """
    chosen = options.output(as_json, as_csv)
    known = options.read_rules(rules, rules_file, garrison)
    fought = Battle(
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
        known.rules,
    )
    label = known.name
    with show.patience():
        answer = _Answer(fought, label, *_chance_and_law(fought, exact, chosen))
    show.emit(
        chosen,
        record=lambda: _record(answer),
        rows=lambda: _rows(answer.law),
        text=lambda console: _tell(console, answer),
    )


class _Answer(NamedTuple):
    """The chance to win, and the law of the outcome; empty where there are too many outcomes."""

    fought: Battle
    label: str
    won: Probability
    law: Mapping[Outcome, Probability]


def _chance_and_law(
    fought: Battle, exact: bool, chosen: options.Output
) -> tuple[Probability, Mapping[Outcome, Probability]]:
    # Only CSV tells the outcomes' fractions, which may take long.
    in_floats = exact and chosen is not options.Output.CSV
    chance = fought.win_probability(exact=True) if in_floats else None
    try:
        law = fought.outcomes(exact=exact and not in_floats)
    except TooLargeError:
        if chosen is options.Output.CSV:
            raise
        return fought.win_probability(exact=exact), {}
    return law.prob(is_won) if chance is None else chance, law


def _best_first(law: Mapping[Outcome, Probability]) -> list[Outcome]:
    return sorted(law, key=lambda end: (end.defenders, -end.attackers))


def _record(answer: _Answer) -> dict[str, object]:
    fought, law = answer.fought, answer.law
    return {
        "attackers": fought.attackers,
        "defenders": fought.defenders,
        "garrison": fought.rules.garrison,
        "rules": answer.label,
        "method": _method(answer),
        "win_probability": float(answer.won),
        "win_probability_exact": show.exact_text(answer.won),
        **_means(law),
        "outcomes": [{**end._asdict(), "probability": float(law[end])} for end in _best_first(law)],
    }


def _method(answer: _Answer) -> str:
    """Return the name of the method that told the outcomes, or else the chance."""
    fought = answer.fought
    return find_method(
        "auto",
        fought.attackers,
        fought.defenders,
        fought.rules,
        exact=isinstance(answer.won, Fraction),
        question="law" if answer.law else "chance",
    ).NAME


def _means(law: Mapping[Outcome, Probability]) -> dict[str, float | None]:
    ours = theirs = ours_if_won = None
    if isinstance(law, Distribution):
        ours, theirs = float(law.map(_attackers).mean()), float(law.map(_defenders).mean())
        if law.prob(is_won):
            ours_if_won = float(law.condition(is_won).map(_attackers).mean())
    return {
        "expected_attackers_left": ours,
        "expected_defenders_left": theirs,
        "expected_attackers_left_if_won": ours_if_won,
    }


def _rows(law: Mapping[Outcome, Probability]) -> Iterator[Sequence[object]]:
    yield (*Outcome._fields, "probability")
    for end in _best_first(law):
        yield (*end, show.all_digits(law[end]))


def _attackers(end: Outcome) -> int:
    return end.attackers


def _defenders(end: Outcome) -> int:
    return end.defenders


def _tell(console: "Console", answer: _Answer) -> None:
    fought, law = answer.fought, answer.law
    if fought.attackers <= fought.rules.garrison:
        show.say_cannot_attack(console, fought.attackers, fought.rules.garrison)
        return
    won = show.told(answer.won, [fought.rules])
    show.say(
        console,
        f"{fought.attackers} {show.armies(fought.attackers, 'beats', 'beat')} {fought.defenders} "
        f"with a chance of {show.percent(won)}{show.under(answer.label)}.",
    )
    show.say_exactly(console, answer.won)
    if not isinstance(law, Distribution):
        show.say(console, "How it ends has too many ways to be told one by one.")
        return
    console.print()
    show.print_table(console, TABLE_COLUMNS, _table(law))
    show.heading(console, "How it ends, your garrison included:")
    show.bars(console, [_bar_row(bar) for bar in show.few_bars(_bars(law))])


def _table(law: Distribution[Outcome]) -> list[Sequence[str]]:
    """Return what is left; one time in twenty it is as bad, or as good, or beyond."""
    laws = {"your armies left": law.map(_attackers)}
    if law.prob(is_won):
        laws["your armies left if you win"] = law.condition(is_won).map(_attackers)
    rows = [_quantiles(name, left, (0.05, 0.5, 0.95)) for name, left in laws.items()]
    return [*rows, _quantiles("their armies left", law.map(_defenders), (0.95, 0.5, 0.05))]


def _quantiles(name: str, left: Distribution[int], levels: Sequence[float]) -> Sequence[str]:
    return (name, f"{float(left.mean()):.2f}", *(str(left.quantile(level)) for level in levels))


def _bars(law: Distribution[Outcome]) -> list[show.Bar]:
    return [
        show.Bar("won ", end.attackers, end.attackers, float(law[end]), "green")
        if is_won(end)
        else show.Bar("lost", end.defenders, end.defenders, float(law[end]), "red")
        for end in _best_first(law)
    ]


def _bar_row(bar: show.Bar) -> tuple[str, float, str]:
    verb = "of yours left" if bar.style == "green" else "of theirs left"
    return f"{bar.kind}  {bar.numbers} {verb}", bar.probability, bar.style
