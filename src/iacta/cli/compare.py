"""`iacta compare`: one battle, solved by every method."""

import math
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from iacta.battle.battle import Battle
from iacta.cli import options, show
from iacta.cli.picture import read_picture
from iacta.distribution import Probability
from iacta.errors import IactaError, IllegalError
from iacta.methods import SEEN_METHODS, TRUE_RANDOM_METHODS, check_rules, load_method, refusal
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["compare"]

TABLE_COLUMNS = ("", "chance", "relative error", "at most", "time")

# What takes longer than some seconds is left out: states for those that visit each, else armies.
MOST_STATES = (
    ("counting", 500_000),
    ("lattice", 10**9),
    ("markov", 250_000),
    ("sees_first", 10**6),
    ("sees_first_exact", 20_000),
)
MOST_ARMIES = (("closed_form", 20_000), ("simulation", 2_000))

# Below these chances the stated bounds on the relative error do not hold.
LEAST_CHANCE = 1e-150
LEAST_CHANCE_OF_LEAP = 1e-15


def compare(
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Solve one battle by every method, and compare their answers.

    Example: iacta compare 12 10
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    fought = Battle(
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
        known.rules,
    )
    check_rules(fought.rules)
    _refuse_dice_mode(fought.rules)
    names = SEEN_METHODS if fought.rules.defender_sees_first else TRUE_RANDOM_METHODS
    with show.patience():
        answers = [_answer(name, fought) for name in names]
    comparison = _Comparison(fought, known.name, answers)
    show.emit(
        chosen,
        record=lambda: _record(comparison),
        rows=lambda: _rows(comparison),
        text=lambda console: _tell(console, comparison),
    )
    if picture:
        picture.draw(
            lambda charts: charts.methods_compared(
                fought, [charts.Solved(*told) for told in _solved(comparison)], known.name
            )
        )


def _refuse_dice_mode(rules: Rules) -> None:
    if rules.dice_mode != "true random":
        raise IllegalError(
            f"dice_mode must be 'true random' to be solved by several methods, got "
            f"{rules.dice_mode!r}"
        )


class _Answer(NamedTuple):
    """What one method says: a chance, its bound and the time of it, or why it cannot."""

    method: str
    chance: Probability | None
    bound: float | None
    seconds: float | None
    cannot: str | None


class _Comparison(NamedTuple):
    fought: Battle
    label: str
    answers: list[_Answer]

    @property
    def exact(self) -> Fraction | None:
        """The chance as a fraction, if a method tells it."""
        chances = (answer.chance for answer in self.answers)
        return next((chance for chance in chances if isinstance(chance, Fraction)), None)

    @property
    def best(self) -> Probability | None:
        """The chance with the least bound."""
        solved = [answer for answer in self.answers if answer.chance is not None]
        return min(solved, key=_looseness).chance if solved else None

    def error(self, answer: _Answer) -> float | None:
        """Return the relative error of an answer, if the exact chance is known."""
        if answer.chance is None or self.exact is None:
            return None
        difference = abs(Fraction(answer.chance) - self.exact)
        return float(difference / self.exact) if difference else 0.0


def _solved(comparison: _Comparison) -> Iterator[tuple[str, float, float | None, bool, float]]:
    """Yield what each method says that can solve it, as its picture shows it."""
    for answer in comparison.answers:
        if answer.chance is not None and answer.seconds is not None:
            is_exact = isinstance(answer.chance, Fraction)
            error = comparison.error(answer)
            yield answer.method, float(answer.chance), error, is_exact, answer.seconds


def _looseness(answer: _Answer) -> float:
    return math.inf if answer.bound is None else answer.bound


def _answer(name: str, fought: Battle) -> _Answer:
    method = load_method(name)
    battle = fought.attackers, fought.defenders, fought.rules
    error = refusal(method, *battle)
    if error is None and _is_slow(name, fought):
        return _Answer(
            name, None, None, None, "left out here: it would take more than some seconds"
        )
    try:
        if error is not None:
            raise error
        method.win_probability(*battle)  # the first time, some methods make tables
        start = time.perf_counter()
        chance = method.win_probability(*battle)
        seconds = time.perf_counter() - start
    except IactaError as refused:
        return _Answer(name, None, None, None, str(refused))
    least = LEAST_CHANCE_OF_LEAP if name == "leap" else LEAST_CHANCE
    bound = (
        method.relative_error(*battle) if isinstance(chance, Fraction) or chance > least else None
    )
    return _Answer(name, chance, bound, seconds, None)


def _is_slow(name: str, fought: Battle) -> bool:
    states, armies = fought.attackers * fought.defenders, fought.attackers + fought.defenders
    return states > dict(MOST_STATES).get(name, states) or armies > dict(MOST_ARMIES).get(
        name, armies
    )


def _record(comparison: _Comparison) -> dict[str, object]:
    fought = comparison.fought
    return {
        "attackers": fought.attackers,
        "defenders": fought.defenders,
        "garrison": fought.rules.garrison,
        "rules": comparison.label,
        "win_probability_exact": None
        if comparison.exact is None
        else show.exact_text(comparison.exact),
        "methods": [
            {
                "method": answer.method,
                "win_probability": None if answer.chance is None else float(answer.chance),
                "relative_error": comparison.error(answer),
                "bound": _finite(answer.bound),
                "seconds": answer.seconds,
                "cannot": answer.cannot,
            }
            for answer in comparison.answers
        ],
    }


def _finite(bound: float | None) -> float | None:
    return None if bound == math.inf else bound


def _rows(comparison: _Comparison) -> Iterator[Sequence[object]]:
    yield ("method", "win_probability", "relative_error", "bound", "seconds", "cannot")
    for answer in comparison.answers:
        chance = None if answer.chance is None else float(answer.chance)
        error, bound = comparison.error(answer), _finite(answer.bound)
        cells = (answer.method, chance, error, bound, answer.seconds, answer.cannot)
        yield ["" if cell is None else cell for cell in cells]


def _tell(console: "Console", comparison: _Comparison) -> None:
    fought, best = comparison.fought, comparison.best
    if best is not None:
        show.say(
            console,
            f"{fought.attackers} {show.armies(fought.attackers, 'beats', 'beat')} "
            f"{fought.defenders} with a chance of {show.percent(best)}"
            f"{show.under(comparison.label)}.",
        )
        console.print()
        show.print_table(console, TABLE_COLUMNS, _table(comparison))
    cannot = [answer for answer in comparison.answers if answer.cannot]
    if cannot and best is None:
        show.say(console, "No method can solve it:")
    elif cannot:
        show.heading(console, "What cannot solve it:")
    for answer in cannot:
        show.say(console, f"{answer.method}: {answer.cannot}")


def _table(comparison: _Comparison) -> Iterator[Sequence[str]]:
    for answer in comparison.answers:
        if answer.chance is not None and answer.seconds is not None:
            yield (
                answer.method,
                f"{float(answer.chance):.16g}",
                _error_text(answer, comparison.error(answer)),
                _bound_text(answer.bound),
                _time_text(answer.seconds),
            )


def _error_text(answer: _Answer, error: float | None) -> str:
    if isinstance(answer.chance, Fraction):
        return "exact"
    return "not known" if error is None else f"{error:.1e}"


def _bound_text(bound: float | None) -> str:
    if bound is None:
        return "too rare"
    if not bound:
        return ""
    return "chance" if bound == math.inf else f"{bound:.1e}"


def _time_text(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> _time_text(2.5e-6), _time_text(0.0123), _time_text(2.0)
    ('2.5 us', '12.3 ms', '2.0 s')
    """
    if seconds < 1e-3:
        return f"{1e6 * seconds:.1f} us"
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
