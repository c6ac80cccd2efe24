"""The chance to win, or other means, for every battle up to a given size."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import OneOf
from iacta.forms.percentages import format_all_digits, mark_certain, short_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, RepeatedBattle, key
from iacta.forms.sections import Cell, Section, Shaded, Table
from iacta.forms.sentences import capitalise, note_rules
from iacta.forms.shared_parameters import ARMIES, ExactForm, RulesForm
from iacta.inputs.checks import quote
from iacta.inputs.errors import TooLargeError
from iacta.inputs.meanings import Unit
from iacta.odds.arrays import (
    expected_attackers_left,
    expected_defenders_left,
    expected_rolls,
    win_table,
)
from iacta.rules.rules import CLASSIC, Rules

Numbers: TypeAlias = list[list[float]]

ROW_HEADING = "attackers"
CONTINUED = "against {} to {} defenders"
ONE_DEFENDER = "against {} defender"
MEANS = {
    "expected_attackers_lost": "armies that you lose",
    "expected_defenders_lost": "armies that they lose",
    "expected_attackers_left": "armies that you have left",
    "expected_defenders_left": "armies that they have left",
    "expected_rolls": "rolls to the end",
}
MAX_SHEET_ARMIES = 20  # larger sheets would be unreadable on paper
MAX_JSON_CELLS = 5 * 10**6  # about 100 MB of text


@question(
    "table",
    Topic.STUDY,
    Example("table 20 20", "the chances of every battle up to 20 against 20"),
    Example("table 12 10 --show losses", "the armies that you lose on average"),
    Example("table 20 15 --show sheet", "a sheet of chances and losses to print"),
    Example("table 10 10 --garrison 0", "attackers without the garrison, as in the literature"),
)
class TableQuestion(RulesForm, ExactForm, Question):
    """List the odds of every battle up to a given size."""

    headline: ClassVar = "All battles on one page"

    attackers: int = parameter(
        ARMIES,
        "The largest number of attackers, including those that must stay behind.",
        is_argument=True,
    )
    defenders: int = parameter(ARMIES, "The largest number of defenders.", is_argument=True)
    show: str = parameter(
        OneOf(("chance", "losses", "left", "rolls", "sheet")),
        "The numbers to show: the chance to win, or the losses of both sides, the armies left or "
        "the number of rolls, on average; or a sheet to print with chances and your losses.",
        default="chance",
    )

    def answer(self, watch: Watch | None = None) -> "TableAnswer":
        return TableAnswer(self)

    def check_chart(self) -> None:
        if self.show == "sheet" and max(self.attackers, self.defenders) > MAX_SHEET_ARMIES:
            raise TooLargeError(
                f"a sheet must have at most {MAX_SHEET_ARMIES} armies on each side, got "
                f"{quote(self.attackers)} against {quote(self.defenders)}"
            )


class TableRecord(RepeatedBattle):
    """For every battle up to a given size, the chance to win and other means.

    Each table has a row for each number of attackers from 1, with a number for each number of
    defenders from 1.
    """

    win_probability: list[list[Unit]] = key("The chance to win.")
    expected_attackers_lost: Numbers = key(
        "With `--show losses` or `sheet`: the attackers lost on average.", default=OMITTED
    )
    expected_defenders_lost: Numbers = key(
        "With `--show losses`: the defenders lost on average.", default=OMITTED
    )
    expected_attackers_left: Numbers = key(
        "With `--show left`: the attackers left on average, garrison included.", default=OMITTED
    )
    expected_defenders_left: Numbers = key(
        "With `--show left`: the defenders left on average.", default=OMITTED
    )
    expected_rolls: Numbers = key(
        "With `--show rolls`: the rolls to the end on average.", default=OMITTED
    )


class TableAnswer(Answer):
    """The chance to win for every battle up to a given size, computed when first needed."""

    question: TableQuestion

    @cached_property
    def chances(self) -> npt.NDArray[Any]:
        """The chances to win: a row per number of attackers, a column per number of defenders."""
        question = self.question
        return win_table(
            question.attackers, question.defenders, question.rule_set.rules, exact=question.exact
        )

    @cached_property
    def averages(self) -> dict[str, npt.NDArray[Any]]:
        """The tables of means that `show` names, by JSON key, in the shape of `chances`."""
        question = self.question
        ours, theirs = np.ogrid[1 : question.attackers + 1, 1 : question.defenders + 1]
        rules, exact = question.rule_set.rules, question.exact
        if question.show == "rolls":
            return {"expected_rolls": expected_rolls(ours, theirs, rules, exact=exact)}
        if question.show == "chance":
            return {}
        our_left = expected_attackers_left(ours, theirs, rules, exact=exact)
        if question.show == "sheet":
            return {"expected_attackers_lost": ours - our_left}
        their_left = expected_defenders_left(ours, theirs, rules, exact=exact)
        if question.show == "left":
            return {"expected_attackers_left": our_left, "expected_defenders_left": their_left}
        return {
            "expected_attackers_lost": ours - our_left,
            "expected_defenders_lost": theirs - their_left,
        }

    @property
    def data(self) -> TableRecord:
        question = self.question
        if question.attackers * question.defenders > MAX_JSON_CELLS:
            raise TooLargeError(
                f"a table must have at most {MAX_JSON_CELLS:.0e} cells as JSON, "
                f"got {quote(question.attackers)} by {quote(question.defenders)}; "
                "--csv has no limit"
            )
        tables = {"win_probability": self.chances, **self.averages}
        return TableRecord.from_attributes(
            self,
            question,
            **{name: table.astype(float).tolist() for name, table in tables.items()},
        )

    def rows(self) -> Iterator[Sequence[object]]:
        if self.averages:
            yield from self._list_battles()
            return
        yield (ROW_HEADING, *range(1, self.chances.shape[1] + 1))
        for attackers, row in enumerate(self.chances, start=1):
            yield (attackers, *map(format_all_digits, row.tolist()))

    def _list_battles(self) -> Iterator[Sequence[object]]:
        tables = {"win_probability": self.chances, **self.averages}
        yield (ROW_HEADING, "defenders", *tables)
        for index in np.ndindex(self.chances.shape):
            yield (
                *(n + 1 for n in index),
                *(format_all_digits(x.item(*index)) for x in tables.values()),
            )

    def draw(self, charts: Charts) -> Any:
        rule_set, (attackers, defenders) = self.question.rule_set, self.chances.shape
        if self.question.show == "sheet":
            rules, name = rule_set.rules, rule_set.name
            return charts.cheat_sheet(rules, name, attackers=attackers, defenders=defenders)
        if self.averages:
            name, numbers = next(iter(self.averages.items()))
            return charts.average_map(numbers, MEANS[name], rule_set.rules, rule_set.name)
        return charts.win_chance_map(self.chances, rule_set.rules, rule_set.name)

    def sections(self) -> Iterator[Section]:
        note = note_rules(self.question.rule_set.name)
        columns = (ROW_HEADING, *map(str, range(1, self.chances.shape[1] + 1)))
        continued = CONTINUED if self.question.defenders > 1 else ONE_DEFENDER
        chances = self.chances.astype(float)
        if self.question.show in ("chance", "sheet"):
            yield Section([f"Chance to win in percent; the attackers include your garrison{note}:"])
            rows = _ShadedRows(chances, rules=self.question.rule_set.rules)
            yield Section([Table(columns, rows, continued=continued)])
        for name, numbers in self.averages.items():
            mean = capitalise(MEANS[name])
            yield Section([f"{mean}, on average; the attackers include your garrison{note}:"])
            shaded = _ShadedRows(chances, numbers.astype(float))
            yield Section([Table(columns, shaded, continued=continued)])
        if self.question.exact:
            yield Section(["--csv prints the exact fractions."])


class _ShadedRows(Sequence[Sequence[Cell]]):
    """Rows of a table, computed when needed, because a page shows only part of a large table.

    chances: the chances to win: one row per number of attackers, one column per number of
        defenders, both from 1.
    averages: numbers to show instead of the chances, which then only choose the colours.
    rules: the rules of the battles, which decide whether an outcome can be certain.
    """

    def __init__(
        self,
        chances: npt.NDArray[Any],
        averages: npt.NDArray[Any] | None = None,
        rules: Rules = CLASSIC,
    ) -> None:
        self._chances, self._averages, self._rules = chances, averages, rules

    def __len__(self) -> int:
        return len(self._chances)

    @overload
    def __getitem__(self, index: int) -> Sequence[Cell]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[Cell]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[Any]:
        if isinstance(index, slice):
            return [self[row] for row in range(len(self))[index]]
        chances = self._chances[index].tolist()
        attackers = range(1, len(self) + 1)[index]
        texts = [self._format_chance(attackers, chance) for chance in chances]
        if self._averages is not None:
            texts = [f"{number:.1f}" for number in self._averages[index].tolist()]
        return str(attackers), *map(Shaded, texts, chances)

    def _format_chance(self, attackers: int, chance: float) -> str:
        """Return a chance in percent; only an exact 0 or 1 is shown as 0 or 100."""
        if attackers <= self._rules.garrison:
            return "0"
        text = short_percent(mark_certain(chance, [self._rules]), 0)
        return text.removesuffix("%").replace(" ", "")
