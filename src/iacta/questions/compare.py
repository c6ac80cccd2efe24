"""One battle computed by every applicable method."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from iacta.battle.battle import Battle
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.percentages import format_if_exact, percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import ExactText, KeyedRecord, RepeatedBattle, key, list_keys
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import name_armies, note_rules
from iacta.forms.shared_parameters import ATTACKERS, DEFENDERS, RulesForm
from iacta.inputs.errors import IactaError
from iacta.inputs.meanings import Unit
from iacta.methods import choose_kernel, list_methods
from iacta.probability.distribution import Probability

SLOW = "left out: it would take more than a few seconds"


@question(
    "compare",
    Topic.STUDY,
    Example("compare 12 10", "do all methods agree?"),
    Example("compare 100 100 --rules capital", "and in a large battle under other rules?"),
)
class CompareQuestion(RulesForm, Question):
    """Solve one battle by every method, and compare the results."""

    headline: ClassVar = "Do all methods agree?"

    attackers: int = parameter(*ATTACKERS, is_argument=True)
    defenders: int = parameter(*DEFENDERS, is_argument=True)

    @cached_property
    def battle(self) -> Battle:
        return Battle(self.attackers, self.defenders, self.rule_set.rules)

    def answer(self, watch: Watch | None = None) -> "CompareAnswer":
        battle = self.battle
        names = list_methods(battle.rules)
        if len(names) == 1:
            raise battle.rules.mode.make_unfit_error("to compare methods")
        return CompareAnswer(self, [_solve_battle(name, battle) for name in names])


class MethodAnswer(NamedTuple):
    """The result of one method for a battle.

    method: the name of the method.
    chance: the chance to win. `chance`, `bound` and `seconds` are `None` if the method failed.
    bound: an upper bound on the relative error, or on the absolute error if only that is known;
        infinite for a simulation, `None` if the chance is too small for the bound.
    seconds: the duration of a second run, after the tables of the method have been filled.
    cannot: the reason why the method failed; empty if it did not.
    """

    method: str
    chance: Probability | None = None
    bound: float | None = None
    seconds: float | None = None
    cannot: str | None = None


def _solve_battle(name: str, battle: Battle) -> MethodAnswer:
    size = max(battle.attackers - battle.rules.garrison, 0), battle.defenders
    try:
        kernel = choose_kernel(battle.rules, method=name)
        kernel.refuse(*size)
        if kernel.is_slow(*size):
            return MethodAnswer(name, cannot=SLOW)
        kernel.win_probability(*size)  # warm up: fill the tables of some methods
        start = time.perf_counter()
        chance = kernel.win_probability(*size)
        seconds = time.perf_counter() - start
    except IactaError as error:
        return MethodAnswer(name, cannot=str(error))
    is_bounded = kernel.exact or chance > kernel.least_chance
    return MethodAnswer(name, chance, max(kernel.error(*size)) if is_bounded else None, seconds)


class MethodRecord(KeyedRecord):
    """The result of one method for a battle."""

    method: str = key("The name of the method.")
    win_probability: Unit | None = key("The chance to win; `null` if the method fails.")
    relative_error: float | None = key(
        "The error relative to the exact chance; `null` if not known."
    )
    bound: float | None = key(
        "The upper bound on that error; `null` for a simulation, or if the chance is too small "
        "for a bound."
    )
    seconds: float | None = key("The time of the second run.")
    cannot: str | None = key("The reason if the method fails, else `null`.")


class CompareRecord(RepeatedBattle):
    """The results of all methods that apply to the rules."""

    win_probability_exact: ExactText = key(
        'The chance to win as `"n/d"`; `null` if no method is exact.'
    )
    methods: tuple[MethodRecord, ...] = key("The result of each method.")


class CompareAnswer(Answer):
    """The results of all methods for one battle.

    methods: one result for each method.
    """

    question: CompareQuestion
    methods: Sequence[MethodAnswer]

    @property
    def exact(self) -> Fraction | None:
        """The chance as a fraction, if some method is exact."""
        chances = (solution.chance for solution in self.methods)
        return next((chance for chance in chances if isinstance(chance, Fraction)), None)

    @property
    def best(self) -> Probability | None:
        """The chance with the smallest error bound, or `None` if every method failed."""
        solved = [solution for solution in self.methods if solution.chance is not None]
        bounds = [math.inf if solution.bound is None else solution.bound for solution in solved]
        return solved[bounds.index(min(bounds))].chance if solved else None

    def error(self, chance: Probability | None) -> float | None:
        """Return the relative error of a chance, or `None` if no method is exact."""
        if chance is None or self.exact is None:
            return None
        difference = abs(Fraction(chance) - self.exact)
        return float(difference / self.exact) if difference else 0.0

    @property
    def data(self) -> CompareRecord:
        return CompareRecord.from_attributes(
            self,
            self.question,
            win_probability_exact=format_if_exact(self.exact),
            methods=tuple(
                MethodRecord.from_attributes(
                    solution,
                    win_probability=None if solution.chance is None else float(solution.chance),
                    relative_error=self.error(solution.chance),
                    bound=None if solution.bound == math.inf else solution.bound,
                )
                for solution in self.methods
            ),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield [key.name for key in list_keys(MethodRecord)]
        for solution in self.data.methods:
            yield ["" if value is None else value for value in astuple(solution)]

    def draw(self, charts: Charts) -> Any:
        return charts.method_comparison(self)

    def sections(self) -> Iterator[Section]:
        question, best = self.question, self.best
        cannot = [
            f"{solution.method}: {solution.cannot}" for solution in self.methods if solution.cannot
        ]
        if best is None:
            yield Section(["No method can solve this battle:", *cannot])
            return
        yield Section(
            [
                f"{name_armies(question.attackers, 'beats', 'beat')} {question.defenders} "
                f"with a chance of {percent(best)}{note_rules(question.rule_set.name)}."
            ]
        )
        columns = ("", "chance", "relative error", "at most", "time")
        yield Section([Table(columns, list(self._list_rows()))])
        if cannot:
            yield Section(cannot, title="Methods that cannot solve this battle:")

    def _list_rows(self) -> Iterator[Sequence[str]]:
        for solution in self.methods:
            if solution.chance is not None and solution.seconds is not None:
                error = self.error(solution.chance)
                text = "not known" if error is None else f"{error:.1e}"
                yield (
                    solution.method,
                    f"{float(solution.chance):.16g}",
                    "exact" if isinstance(solution.chance, Fraction) else text,
                    _format_bound(solution.bound),
                    format_duration(solution.seconds),
                )


def _format_bound(bound: float | None) -> str:
    if bound is None:
        return "too rare"
    if not bound:
        return ""
    return "chance" if bound == math.inf else f"{bound:.1e}"


def format_duration(seconds: float) -> str:
    """Return a time in words: in seconds, milliseconds or microseconds.

    >>> format_duration(2.5e-6), format_duration(0.0123), format_duration(2.0)
    ('2.5 µs', '12.3 ms', '2.0 s')
    """
    if seconds < 1e-3:
        return f"{1e6 * seconds:.1f} µs"
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
