"""Odds of many battles at once: functions over arrays that broadcast as NumPy's do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import broadcast, whole_number, whole_numbers
from iacta.distribution import Distribution, Probability
from iacta.methods import (
    Method,
    Question,
    TableMethod,
    balanced_blitz,
    check_method,
    find_method,
    find_table_method,
    lattice,
)
from iacta.rules.modes import TrueRandom
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["expected_attackers_left", "expected_defenders_left", "win_probability", "win_table"]

ROW_CELLS_FOR_A_CHANCE = 10**5
ROW_CELLS_FOR_A_LAW = 10**7
MODERATE = 1_000
MOST_CELLS = 4 * 10**6  # up to these, a table to look all battles up in is the faster way

Armies: TypeAlias = npt.ArrayLike
Whole: TypeAlias = npt.NDArray[np.int64]
Worth: TypeAlias = Callable[[int], int]
Answer: TypeAlias = Callable[[Method, int, int], Probability]


def win_probability(
    attackers: Armies,
    defenders: Armies,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Any:
    """Return the chances that attacks succeed.

    attackers: armies on the attacking territories, garrison included; a whole number or an
        array of them, of any shape.
    defenders: armies on the defended territories; the two shapes are broadcast.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.
    exact: whether to answer in fractions.
    method: one of `iacta.methods.METHODS`, or `"auto"`.

    A float for two numbers, else an array of the broadcast shape. The relative error is at most
    `iacta.methods.lattice.relative_error` of the largest battle; a few large battles are solved
    one by one, with the error that `Battle` tells. Under balanced blitz the error is absolute;
    where the defender sees the attack first it is that of `iacta.methods.sees_first`.

    Armies below 1 or not whole are refused.

    >>> win_probability([[5], [12]], [4, 10]).round(4)
    array([[0.4765, 0.0572],
           [0.972 , 0.6538]])
    >>> win_probability(3, 1, exact=True)
    Fraction(1955, 2592)
    """
    asked = _read(attackers, defenders, rules, garrison, exact, method)
    return _plain(asked.chances())


def expected_attackers_left(
    attackers: Armies,
    defenders: Armies,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Any:
    """Return the mean numbers of attackers left, garrison included.

    The arguments, shapes, errors and refusals are those of `win_probability`.

    >>> round(expected_attackers_left(12, 10), 4)
    4.4382
    """
    asked = _read(attackers, defenders, rules, garrison, exact, method)
    # Attackers no more than the garrison stay as they are, and the rest never falls below it.
    kept = min(asked.rules.garrison, _largest(asked.attackers))
    means = asked.means(won=lambda armies: armies + kept, lost=lambda _: kept)
    stay = asked.attackers <= kept
    means[stay] = [Fraction(n) for n in asked.attackers[stay].tolist()]
    return _plain(means)


def expected_defenders_left(
    attackers: Armies,
    defenders: Armies,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Any:
    """Return the mean numbers of defenders left.

    The arguments, shapes, errors and refusals are those of `win_probability`.

    >>> round(expected_defenders_left(12, 10), 4)
    1.3394
    """
    asked = _read(attackers, defenders, rules, garrison, exact, method)
    return _plain(asked.means(won=lambda _: 0, lost=lambda armies: armies))


def win_table(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> npt.NDArray[Any]:
    """Return the chances to win of all battles up to a size.

    attackers: the most armies on the attacking territory, garrison included.
    defenders: the most armies on the defended territory.
    rules, garrison, exact, method: as for `win_probability`.

    An array of shape (attackers, defenders): entry `[a - 1, d - 1]` is for a attackers against
    d defenders. The relative error is at most `iacta.methods.lattice.relative_error`; under
    balanced blitz it is absolute, and where the defender sees the attack first that of
    `iacta.methods.sees_first`.

    >>> win_table(3, 2, garrison=0).round(3)
    array([[0.417, 0.106],
           [0.754, 0.363],
           [0.916, 0.656]])
    """
    found = find_rules(rules, garrison)
    check_method(method, found, exact=exact)
    most_attackers = whole_number(attackers, "attackers", least=1)
    most_defenders = whole_number(defenders, "defenders", least=1)
    if found.dice_mode == "balanced blitz":
        balanced_blitz.refuse(most_attackers, most_defenders, found)
        true_rules = replace(found, mode=TrueRandom())
        return balanced_blitz.reshaped_chances(
            win_table(most_attackers, most_defenders, true_rules)
        )
    maker = _table_maker(method, most_attackers, most_defenders, found, exact)
    if maker is None:
        rows, columns = np.arange(1, most_attackers + 1), np.arange(1, most_defenders + 1)
        return _read(rows[:, np.newaxis], columns, found, None, exact, method).chances()
    table = maker(most_attackers, most_defenders, found)
    return np.asarray(table, dtype=object if exact else float)


def _table_maker(
    method: str, attackers: int, defenders: int, rules: Rules, exact: bool
) -> Callable[[int, int, Rules], Any] | None:
    """Return the function by which a method makes tables of chances, if it has one."""
    solver: Method | None = find_table_method(method, rules, exact=exact)
    if solver is None:
        solver = find_method(method, attackers, defenders, rules, exact=exact, question="chance")
    return getattr(solver, "win_table", None)


def _read(
    attackers: object,
    defenders: object,
    rules: Rules | str,
    garrison: int | None,
    exact: bool,
    method: str,
) -> "_Question":
    found = find_rules(rules, garrison)
    check_method(method, found, exact=exact)
    ours, theirs = broadcast(
        whole_numbers(attackers, "attackers", least=1),
        whole_numbers(defenders, "defenders", least=1),
    )
    return _Question(ours, theirs, found, method, exact)


class _Question(NamedTuple):
    attackers: Whole
    defenders: Whole
    rules: Rules
    method: str
    exact: bool

    def chances(self) -> npt.NDArray[Any]:
        """Return each battle's chance to win."""
        if self.rules.dice_mode == "balanced blitz":
            return self._balanced_chances()
        return self._in_two(_Question._chances)

    def _balanced_chances(self) -> npt.NDArray[Any]:
        balanced_blitz.refuse(_largest(self.attackers), _largest(self.defenders), self.rules)
        true_rules = replace(self.rules, mode=TrueRandom())
        asked = self._replace(rules=true_rules, method="auto")
        return balanced_blitz.reshaped_chances(asked.chances())

    def means(self, won: Worth, lost: Worth) -> npt.NDArray[Any]:
        """Return each battle's mean worth.

        won, lost: what it is worth that so many armies can move in, or hold.
        """
        return self._in_two(lambda asked: asked._means(won, lost))

    def _in_two(self, answer: "Callable[[_Question], npt.NDArray[Any]]") -> npt.NDArray[Any]:
        """Answer for moderate and for large battles apart: a large one would make many rows."""
        large = np.maximum(self.attackers, self.defenders) > MODERATE
        if self.method != "auto" or not large.any() or large.all():
            return answer(self)
        answers = np.empty(self.attackers.shape, dtype=object if self.exact else float)
        for part in (large, ~large):
            asked = self._replace(attackers=self.attackers[part], defenders=self.defenders[part])
            answers[part] = answer(asked)
        return answers

    def _chances(self) -> npt.NDArray[Any]:
        table_method = self._table_method(ROW_CELLS_FOR_A_CHANCE)
        if table_method is None:
            return self._chances_without_rows()
        return self._by_rows(table_method, won=lambda _: 1, lost=lambda _: 0)

    def _means(self, won: Worth, lost: Worth) -> npt.NDArray[Any]:
        table_method = self._table_method(ROW_CELLS_FOR_A_LAW)
        if table_method is not None:
            return self._by_rows(table_method, won, lost)
        garrison = self.rules.garrison

        def mean(solver: Method, attackers: int, defenders: int) -> Probability:
            """Return the mean worth of the end of one battle.

            solver: the method that solves it.
            attackers: armies on the attacking territory, garrison included.
            defenders: armies on the defended territory.
            """
            law = solver.outcomes(Distribution([attackers]), defenders, self.rules)
            return law.map(
                lambda end: lost(end.defenders) if end.defenders else won(end.attackers - garrison)
            ).mean()

        return self._one_by_one("law", mean)

    def _chances_without_rows(self) -> npt.NDArray[Any]:
        """Look the chances up in a table, or solve each battle by itself."""
        sizes = _largest(self.attackers), _largest(self.defenders)
        if self.attackers.size > 1 and sizes[0] * sizes[1] <= MOST_CELLS:
            maker = _table_maker(self.method, *sizes, self.rules, self.exact)
            if maker is not None:
                table = np.asarray(maker(*sizes, self.rules))
                return np.array(table[self.attackers - 1, self.defenders - 1])
        return self._one_by_one(
            "chance", lambda solver, a, d: solver.win_probability(a, d, self.rules)
        )

    def _table_method(self, cells_for_one: int) -> TableMethod | None:
        """Return the method that answers by rows; "auto" has none for a few large battles.

        Balanced battles are reshaped one by one.

        cells_for_one: the cells that rows fill in the time that a battle takes by itself.
        """
        if self.rules.dice_mode == "balanced blitz":
            return None
        cells = _largest(self.attackers) * _largest(self.defenders)
        if self.method == "auto" and cells > cells_for_one:
            different, _ = self._different()
            if cells > cells_for_one * different.shape[1]:
                return None
        return find_table_method(self.method, self.rules, exact=self.exact)

    def _by_rows(self, solver: TableMethod, won: Worth, lost: Worth) -> npt.NDArray[Any]:
        """Answer for all battles with as many defenders at once."""
        most_attackers, most_defenders = _largest(self.attackers), _largest(self.defenders)
        solver.refuse(most_attackers, most_defenders, self.rules)
        won_row = [won(n) for n in range(most_attackers + 1)]
        lost_row = [lost(n) for n in range(most_defenders + 1)]
        rows = solver.value_rows(won_row, lost_row, self.rules)
        if solver is lattice and most_attackers * most_defenders <= MOST_CELLS:
            return np.array(np.stack(list(rows))[self.defenders - 1, self.attackers])
        means = np.empty(self.attackers.shape, dtype=object if self.exact else float)
        flat, armies = means.reshape(-1), self.attackers.reshape(-1)
        groups = _in_groups(self.defenders.reshape(-1), most_defenders)
        for battles, row in zip(groups, rows, strict=True):
            flat[battles] = row[armies[battles]]
        return means

    def _different(self) -> tuple[Whole, Whole]:
        """Return the different battles, and which of them each battle is."""
        battles = np.stack([self.attackers.reshape(-1), self.defenders.reshape(-1)])
        return np.unique(battles, axis=1, return_inverse=True)

    def _one_by_one(self, question: Question, answer: Answer) -> npt.NDArray[Any]:
        """Answer for each different battle once."""
        different, places = self._different()
        answers = np.empty(different.shape[1], dtype=object if self.exact else float)
        for place, (attackers, defenders) in enumerate(different.T.tolist()):
            solver = find_method(
                self.method, attackers, defenders, self.rules, exact=self.exact, question=question
            )
            answers[place] = answer(solver, attackers, defenders)
        return answers[places].reshape(self.attackers.shape)


def _largest(armies: Whole) -> int:
    return int(armies.max(initial=1))


def _plain(means: npt.NDArray[Any]) -> Any:
    return means if means.ndim else means.item()


def _in_groups(numbers: Whole, most: int) -> Iterator[Whole]:
    """Yield the places of 1, of 2 ... of `most` among the numbers."""
    # NumPy sorts short integers by their digits, in linear time.
    short = numbers.astype(np.uint16) if most < 2**16 else numbers
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=most + 1))
    for number in range(1, most + 1):
        yield order[ends[number - 1] : ends[number]]
