"""The chance to win for every battle up to a given size."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, overload

import numpy.typing as npt

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.percentages import format_all_digits
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import RepeatedBattle, key
from iacta.forms.sections import Cell, Section, Shaded, Table
from iacta.forms.sentences import note_rules
from iacta.forms.shared_parameters import ARMIES, ExactForm, RulesForm
from iacta.inputs.checks import quote
from iacta.inputs.errors import TooLargeError
from iacta.inputs.meanings import Unit
from iacta.odds.arrays import win_table

ROW_HEADING = "attackers"
MAX_JSON_CELLS = 5 * 10**6  # about 100 MB of text


@question(
    "table",
    Topic.STUDY,
    Example("table 20 20", "the chances of every battle up to 20 against 20"),
    Example("table 10 10 --garrison 0", "attackers without the garrison, as in the literature"),
)
class TableQuestion(RulesForm, ExactForm, Question):
    """List the chance to win for every battle up to a given size."""

    headline: ClassVar = "All battles on one page"

    attackers: int = parameter(
        ARMIES,
        "The largest number of attackers, including those that must stay behind.",
        is_argument=True,
    )
    defenders: int = parameter(ARMIES, "The largest number of defenders.", is_argument=True)

    def answer(self, watch: Watch | None = None) -> "TableAnswer":
        return TableAnswer(self)


class TableRecord(RepeatedBattle):
    """For every battle up to a given size, the chance to win: `attackers` by `defenders`."""

    win_probability: list[list[Unit]] = key(
        "For each number of attackers from 1, a row with the chance against each number of "
        "defenders from 1."
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

    @property
    def data(self) -> TableRecord:
        question = self.question
        if question.attackers * question.defenders > MAX_JSON_CELLS:
            raise TooLargeError(
                f"a table must have at most {MAX_JSON_CELLS:.0e} cells as JSON, "
                f"got {quote(question.attackers)} by {quote(question.defenders)}; "
                "--csv has no limit"
            )
        chances = self.chances.astype(float).tolist()
        return TableRecord.from_attributes(self, question, win_probability=chances)

    def rows(self) -> Iterator[Sequence[object]]:
        yield (ROW_HEADING, *range(1, self.chances.shape[1] + 1))
        for attackers, row in enumerate(self.chances, start=1):
            yield (attackers, *map(format_all_digits, row.tolist()))

    def draw(self, charts: Charts) -> Any:
        rule_set = self.question.rule_set
        return charts.win_chance_map(self.chances, rule_set.rules, rule_set.name)

    def sections(self) -> Iterator[Section]:
        note = note_rules(self.question.rule_set.name)
        yield Section([f"Chance to win in percent; the attackers include your garrison{note}:"])
        columns = (ROW_HEADING, *map(str, range(1, self.chances.shape[1] + 1)))
        rows = _ShadedRows(self.chances.astype(float))
        yield Section([Table(columns, rows, continued="against {} to {} defenders")])
        if self.question.exact:
            yield Section(["--csv prints the exact fractions."])


class _ShadedRows(Sequence[Sequence[Cell]]):
    """Rows of a table, computed when needed, because a page shows only part of a large table.

    chances: the chances to win: one row per number of attackers, one column per number of
        defenders, both from 1.
    """

    def __init__(self, chances: npt.NDArray[Any]) -> None:
        self._chances = chances

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
        return str(attackers), *(Shaded(f"{100 * chance:.0f}", chance) for chance in chances)
