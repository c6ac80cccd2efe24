"""`iacta battle`: the odds of one battle."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from iacta.battle.battle import Battle
from iacta.battle.stopped import method_name
from iacta.cli import options, show
from iacta.cli.picture import read_picture
from iacta.distribution import Distribution, Probability
from iacta.errors import TooLargeError
from iacta.methods.outcome import Outcome, is_won
from iacta.rules.stop import NEVER

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
    stop_at: options.StopAt = None,
    charge: options.Charge = False,
    max_losses: options.MaxLosses = None,
    max_rolls: options.MaxRolls = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell the odds of one battle, fought until one side cannot go on or the attackers stop.

    Example: iacta battle 12 10
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    fought = Battle(
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
        known.rules,
        stop=options.read_stop(stop_at, charge, max_losses, max_rolls),
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
    if picture:
        picture.draw(lambda charts: charts.battle_law(fought))


class _Answer(NamedTuple):
    """The chance to win, and the law of the outcome; empty where there are too many outcomes."""

    fought: Battle
    label: str
    won: Probability
    law: Mapping[Outcome, Probability]

    def stops(self, end: Outcome) -> bool:
        """Tell whether the attackers stop there: with defenders left, and armies to attack."""
        return not is_won(end) and end.attackers > self.fought.rules.garrison

    @property
    def stopped(self) -> Probability | None:
        """The chance that the attackers stop, and None where outcomes are too many to list."""
        return self.law.prob(self.stops) if isinstance(self.law, Distribution) else None


def _chance_and_law(
    fought: Battle, exact: bool, chosen: options.Output
) -> tuple[Probability, Mapping[Outcome, Probability]]:
    # Only CSV tells the outcomes' fractions, which may take long.
    in_floats = exact and chosen is not options.Output.CSV and fought.stop == NEVER
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
    stopped = {
        "stop_probability": None if answer.stopped is None else float(answer.stopped),
        "stop_probability_exact": show.exact_text(answer.stopped) if answer.stopped else None,
    }
    return {
        "attackers": fought.attackers,
        "defenders": fought.defenders,
        "garrison": fought.rules.garrison,
        "rules": answer.label,
        "method": _method(answer),
        "win_probability": float(answer.won),
        "win_probability_exact": show.exact_text(answer.won),
        **({} if fought.stop == NEVER else stopped),
        **_means(law),
        "outcomes": [{**end._asdict(), "probability": float(law[end])} for end in _best_first(law)],
    }


def _method(answer: _Answer) -> str:
    """Return the name of the method that told the outcomes, or else the chance."""
    fought = answer.fought
    return method_name(
        fought.attackers,
        fought.defenders,
        fought.rules,
        fought.stop,
        exact=isinstance(answer.won, Fraction),
        question="law" if answer.law else "chance",
    )


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
    if list(law) == [(fought.attackers, fought.defenders)]:
        show.say_does_not_attack(console, fought.attackers)
        return
    won = show.told(answer.won, [fought.rules])
    show.say(
        console,
        f"{fought.attackers} {show.armies(fought.attackers, 'beats', 'beat')} {fought.defenders} "
        f"with a chance of {show.percent(won)}{_undecided(answer)}"
        f"{show.under(answer.label)}.",
    )
    show.say_exactly(console, answer.won, *([answer.stopped] if answer.stopped else []))
    if not isinstance(law, Distribution):
        show.say(console, "How it ends has too many ways to be told one by one.")
        return
    console.print()
    show.print_table(console, TABLE_COLUMNS, _table(law))
    show.heading(console, "How it ends, your garrison included:")
    bars = _bars(answer)
    width = max(len("lost"), *(len(bar.kind) for bar in bars))
    show.bars(console, [_bar_row(bar, width) for bar in show.few_bars(bars)])


def _undecided(answer: _Answer) -> str:
    """Return how often the battle is lost, and how often nobody wins, if that can be."""
    if not answer.stopped or not isinstance(answer.law, Distribution):
        return ""
    one = answer.fought.attackers == 1
    lost = answer.law.prob(lambda end: not is_won(end) and not answer.stops(end))
    loses = f", {'loses' if one else 'lose'} with {show.percent(lost)}" if lost else ""
    return f"{loses}, and {'stops' if one else 'stop'} with {show.percent(answer.stopped)}"


def _table(law: Distribution[Outcome]) -> list[Sequence[str]]:
    """Return what is left; one time in twenty it is as bad, or as good, or beyond."""
    laws = {"your armies left": law.map(_attackers)}
    if law.prob(is_won):
        laws["your armies left if you win"] = law.condition(is_won).map(_attackers)
    rows = [_quantiles(name, left, (0.05, 0.5, 0.95)) for name, left in laws.items()]
    return [*rows, _quantiles("their armies left", law.map(_defenders), (0.95, 0.5, 0.05))]


def _quantiles(name: str, left: Distribution[int], levels: Sequence[float]) -> Sequence[str]:
    return (name, f"{float(left.mean()):.2f}", *(str(left.quantile(level)) for level in levels))


def _bars(answer: _Answer) -> list[show.Bar]:
    """Return the bars of the battles won, by attackers left, and of the others by defenders."""
    won: list[show.Bar] = []
    stopped: dict[int, float] = {}
    lost: dict[int, float] = {}
    for end in _best_first(answer.law):
        probability = float(answer.law[end])
        if is_won(end):
            won.append(show.Bar("won", end.attackers, end.attackers, probability, "green"))
        else:
            others = stopped if answer.stops(end) else lost
            others[end.defenders] = others.get(end.defenders, 0.0) + probability
    return [
        *won,
        *(show.Bar("stopped", d, d, p, "yellow") for d, p in stopped.items()),
        *(show.Bar("lost", d, d, p, "red") for d, p in lost.items()),
    ]


def _bar_row(bar: show.Bar, width: int) -> tuple[str, float, str]:
    verb = "of yours left" if bar.kind == "won" else "of theirs left"
    return f"{bar.kind:<{width}}  {bar.numbers} {verb}", bar.probability, bar.style
