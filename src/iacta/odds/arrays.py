"""Odds of many battles at once: functions over arrays, with NumPy's broadcasting."""

from __future__ import annotations  # for signatures that show the names of types

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import (
    MAX_ARRAY_SIZE,
    MAX_ROW_LENGTH,
    broadcast_arrays,
    read_array,
    read_int,
    read_int_array,
)
from iacta.inputs.errors import IllegalError
from iacta.methods import find_kernel
from iacta.methods.kernel import Floats, Kernel, Values
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

CELLS_PER_CHANCE = 10**5  # cells of a table that take as long as one chance
CELLS_PER_DISTRIBUTION = 10**7  # cells of a table that take as long as one distribution
MAX_MODERATE_ARMIES = 1_000
MAX_CELLS = 4 * 10**6  # size limit of a lookup table
HALF = Fraction(1, 2)

Army: TypeAlias = int | np.integer[Any]
Armies: TypeAlias = npt.ArrayLike
Fractions: TypeAlias = npt.NDArray[np.object_]
Numbers: TypeAlias = float | Fraction | Floats | Fractions
RuleSets: TypeAlias = Rules | str | list[Any] | tuple[Any, ...] | npt.NDArray[Any]
Whole: TypeAlias = npt.NDArray[np.int64]
Worth: TypeAlias = Callable[[int], int]
Answer: TypeAlias = Callable[["_Battles"], npt.NDArray[Any]]


class _Options(TypedDict, total=False):
    garrison: int | None
    method: str


class _Float(_Options, total=False):
    exact: Literal[False]


class _Exact(_Options):
    exact: Literal[True]


class _Either(_Options):
    exact: bool


class BattleFunction(Protocol):
    """The type of a function over arrays of battles."""

    @overload
    def __call__(
        self, attackers: Army, defenders: Army, rules: Rules | str = ..., **options: Unpack[_Float]
    ) -> float: ...
    @overload
    def __call__(
        self, attackers: Army, defenders: Army, rules: Rules | str = ..., **options: Unpack[_Exact]
    ) -> Fraction: ...
    @overload
    def __call__(
        self, attackers: Armies, defenders: Armies, rules: RuleSets = ..., **options: Unpack[_Float]
    ) -> Floats: ...
    @overload
    def __call__(
        self, attackers: Armies, defenders: Armies, rules: RuleSets = ..., **options: Unpack[_Exact]
    ) -> Fractions: ...


def _type_as_battles(function: Callable[..., Numbers]) -> BattleFunction:
    return cast(BattleFunction, function)


@_type_as_battles
def win_probability(
    attackers: Armies,
    defenders: Armies,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Numbers:
    """Return the chances that attacks succeed.

    attackers: armies on the attacking territories, garrison included; a whole number, or an array
        of whole numbers of any shape.
    defenders: armies on the defended territories; the shapes are broadcast.
    rules: `Rules`, the name of a rule set, or an array of rules, whose shape is broadcast too.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    exact: whether to answer in fractions.
    method: a name in `iacta.methods.METHODS`, or `"auto"`.

    Returns a float for two numbers, otherwise an array of the broadcast shape. The relative error
    is at most 1e-12 up to 250 armies on each side. Larger battles have the error of a table of that
    size or, if they are few, the error that `Battle` states. Under balanced blitz the error is
    absolute.

    Raises `IactaError` for armies that are not whole numbers of at least 1.

    >>> win_probability([[5], [12]], [4, 10]).round(4)
    array([[0.4765, 0.0572],
           [0.972 , 0.6538]])
    >>> win_probability(12, [8, 10], [["classic"], ["capital"]]).round(4)
    array([[0.7941, 0.6538],
           [0.4031, 0.2375]])
    >>> win_probability(3, 1, exact=True)
    Fraction(1955, 2592)
    """
    return _answer(_Battles.chances, attackers, defenders, rules, garrison, exact, method)


@_type_as_battles
def expected_attackers_left(
    attackers: Armies,
    defenders: Armies,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Numbers:
    """Return the expected numbers of surviving attackers, garrison included.

    The arguments, shapes, errors and exceptions are as for `win_probability`.

    >>> round(expected_attackers_left(12, 10), 4)
    4.4382
    """
    return _answer(_Battles.attackers_left, attackers, defenders, rules, garrison, exact, method)


@_type_as_battles
def expected_defenders_left(
    attackers: Armies,
    defenders: Armies,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Numbers:
    """Return the expected numbers of surviving defenders.

    The arguments, shapes, errors and exceptions are as for `win_probability`.

    >>> round(expected_defenders_left(12, 10), 4)
    1.3394
    """
    return _answer(_Battles.defenders_left, attackers, defenders, rules, garrison, exact, method)


@overload
def win_table(
    attackers: int, defenders: int, rules: RuleSets = ..., **options: Unpack[_Float]
) -> Floats: ...
@overload
def win_table(
    attackers: int, defenders: int, rules: RuleSets = ..., **options: Unpack[_Exact]
) -> Fractions: ...
@overload
def win_table(
    attackers: int, defenders: int, rules: RuleSets = ..., **options: Unpack[_Either]
) -> Floats | Fractions: ...
def win_table(
    attackers: int,
    defenders: int,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
    method: str = "auto",
) -> Floats | Fractions:
    """Return the chances to win all battles up to a size.

    attackers: the largest number of armies on the attacking territory, garrison included.
    defenders: the largest number of armies on the defended territory.
    rules, garrison, exact, method: as for `win_probability`.

    Returns an array of shape (attackers, defenders), whose entry `[a - 1, d - 1]` is for a
    attackers against d defenders. An array of rules adds its shape in front. The error is as for
    `win_probability`.

    >>> win_table(3, 2, garrison=0).round(3)
    array([[0.417, 0.106],
           [0.754, 0.363],
           [0.916, 0.656]])
    """
    if isinstance(rules, list | tuple | np.ndarray):
        row = _read_rule_sets(rules)
        tables = [
            win_table(attackers, defenders, value, garrison=garrison, exact=exact, method=method)
            for value in row.flat
        ]
        return np.reshape(tables, (*row.shape, *np.shape(tables)[1:]))
    rules = find_rules(rules, garrison)
    kernel = find_kernel(rules, exact=exact, method=method)
    most_attackers = read_int(attackers, "attackers", least=1)
    most_defenders = read_int(defenders, "defenders", least=1)
    staying = min(rules.garrison, most_attackers - 1)
    if not _has_tables(kernel):
        rows, columns = np.arange(1, most_attackers + 1), np.arange(1, most_defenders + 1)
        return _read(rows[:, np.newaxis], columns, rules, None, exact, method).answer_all(
            _Battles.chances
        )
    table = kernel.win_table(most_attackers - staying, most_defenders, staying)
    if rules.garrison > staying:
        table[-1:] = kernel.number(0)
    return np.asarray(table, dtype=object if exact else float)


def _read_rule_sets(rules: list[Any] | tuple[Any, ...] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    row = read_array(rules, "rules", "rules", object)
    if not row.size:
        raise IllegalError("missing rules")
    array: npt.NDArray[Any] = np.empty(row.shape, dtype=object)
    array.reshape(-1)[:] = [find_rules(value) for value in row.flat]
    return array


def broadcast_rules(
    function: Callable[..., Any],
    rules: list[Any] | tuple[Any, ...] | npt.NDArray[Any],
    *arrays: object,
    **options: Any,
) -> npt.NDArray[Any]:
    """Call a function once for each different rule set, and return the broadcast answers.

    function: a function of the arrays, the rules and the options.
    rules: an array of rules; its shape is broadcast with the shapes of the arrays.
    arrays: arrays of numbers.
    options: further arguments of the function.
    """
    row = _read_rule_sets(rules)
    places: dict[Rules, int] = {}
    numbers = [places.setdefault(value, len(places)) for value in row.flat]
    others = (read_array(each, "arrays", "numbers") for each in arrays)
    which, *given = broadcast_arrays(np.reshape(numbers, row.shape), *others)
    answers = [
        (
            which == place,
            function(*(array[which == place] for array in given), each_rules, **options),
        )
        for each_rules, place in places.items()
    ]
    joined = np.empty(which.shape, dtype=np.result_type(*(answer for _, answer in answers)))
    for mask, answer in answers:
        joined[mask] = answer
    return joined


def _has_tables(kernel: Kernel) -> bool:
    """Return whether a kernel, or the kernel that decides its chances, answers in rows."""
    return kernel.is_vectorised or kernel.find_decider(HALF)[0].is_vectorised


def _answer(
    answer: Answer, attackers: Armies, defenders: Armies, rules: RuleSets, *options: Any
) -> Numbers:
    """Answer for battles under one or several rules, with a number for a single battle."""
    if isinstance(rules, list | tuple | np.ndarray):

        def under(ours: Armies, theirs: Armies, rules: Rules) -> npt.NDArray[Any]:
            return _read(ours, theirs, rules, *options).answer_all(answer)

        return broadcast_rules(under, rules, attackers, defenders)
    answers = _read(attackers, defenders, rules, *options).answer_all(answer)
    if answers.ndim:
        return answers
    one: float | Fraction = answers.item()
    return one


def _read(
    attackers: object,
    defenders: object,
    rules: Rules | str,
    garrison: int | None,
    exact: bool,
    method: str,
) -> _Battles:
    rules = find_rules(rules, garrison)
    kernel = find_kernel(rules, exact=exact, method=method)
    ours, theirs = broadcast_arrays(
        read_int_array(attackers, "attackers", least=1),
        read_int_array(defenders, "defenders", least=1),
        most=MAX_ROW_LENGTH if exact else MAX_ARRAY_SIZE,
    )
    staying = min(rules.garrison, int(ours.max(initial=1)))
    return _Battles(kernel, ours, theirs, staying, exact, split=method == "auto")


@dataclass(frozen=True)
class _Battles:
    """Battles of one kernel.

    attackers, defenders: the armies of each battle.
    staying: attackers that must stay behind and cannot attack.
    exact: whether to answer in fractions.
    split: whether to answer for large battles separately.
    """

    kernel: Kernel
    attackers: Whole
    defenders: Whole
    staying: int
    exact: bool
    split: bool

    def answer_all(self, answer: Answer) -> npt.NDArray[Any]:
        """Answer for moderate and large battles separately, so that tables stay small."""
        large = np.maximum(self.attackers, self.defenders) > MAX_MODERATE_ARMIES
        if not self.split or not large.any() or large.all():
            return answer(self)
        answers = self._empty(self.attackers.shape)
        for part in (large, ~large):
            answers[part] = answer(
                replace(self, attackers=self.attackers[part], defenders=self.defenders[part])
            )
        return answers

    def chances(self) -> npt.NDArray[Any]:
        able, defenders = self._sizes
        several = self.attackers.size > 1
        moderate = several and able * defenders <= MAX_CELLS
        if moderate and not self.kernel.exact and _has_tables(self.kernel):
            table = self.kernel.win_table(able, defenders, self.staying + 1)
            return np.array(table[self.attackers, self.defenders - 1])
        if several and self.kernel.is_vectorised and self._are_rows_faster(CELLS_PER_CHANCE):
            chances = self._answer_by_rows(won=lambda _: 1, lost=lambda _: 0)
            return chances if self.exact else np.minimum(chances, 1.0)
        return self._one_by_one(self.kernel.win_probability)

    def attackers_left(self) -> npt.NDArray[Any]:
        means = self._means(won=lambda able: able + self.staying, lost=lambda _: self.staying)
        stay = self.attackers <= self.staying  # nobody can attack
        means[stay] = [Fraction(n) for n in self.attackers[stay].tolist()]
        return means

    def defenders_left(self) -> npt.NDArray[Any]:
        return self._means(won=lambda _: 0, lost=lambda armies: armies)

    def _empty(self, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return np.empty(shape, dtype=object if self.exact else float)

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The largest number of able attackers, at least 1, and of defenders."""
        able = int(self.attackers.max(initial=1)) - self.staying
        return max(able, 1), int(self.defenders.max(initial=1))

    def _means(self, won: Worth, lost: Worth) -> npt.NDArray[Any]:
        """Return each battle's expected value.

        won: the value of a victory, as a function of the armies that can move in.
        lost: the value of a defeat, as a function of the defenders left.
        """
        finite = self.kernel.most_left(*self._sizes) == self._sizes
        if self.kernel.is_vectorised and finite and self._are_rows_faster(CELLS_PER_DISTRIBUTION):
            return self._answer_by_rows(won, lost)

        def mean(able: int, defenders: int) -> Probability:
            ends = self.kernel.forward(Distribution([able]), defenders)
            return ends.map(
                lambda end: lost(end.defenders) if end.defenders else won(end.attackers)
            ).mean()

        return self._one_by_one(mean)

    def _are_rows_faster(self, cells_for_one: int) -> bool:
        """Return whether a table of all battles is faster than each different battle by itself.

        cells_for_one: the number of table cells that take as long as one battle.
        """
        able, defenders = self._sizes
        if not self.split or able * defenders <= cells_for_one:
            return True
        different, _ = self._find_different()
        return able * defenders <= cells_for_one * len(different[0])

    def _answer_by_rows(self, won: Worth, lost: Worth) -> npt.NDArray[Any]:
        """Answer row by row, for all battles with the same number of defenders at once."""
        sizes = self._sizes
        self.kernel.for_question("table", *sizes).refuse(*sizes)
        values = Values([*map(won, range(sizes[0] + 1))], [*map(lost, range(sizes[1] + 1))])
        rows = self.kernel.backward(values)
        if not self.kernel.exact and sizes[0] * sizes[1] <= MAX_CELLS:
            table = np.empty((sizes[1], self.staying + sizes[0] + 1))
            for d, row in enumerate(rows, start=1):
                table[d - 1, : self.staying], table[d - 1, self.staying :] = values.lost[d], row
            return np.array(table[self.defenders - 1, self.attackers])
        means = self._empty(self.attackers.shape)
        flat, able = means.reshape(-1), np.maximum(self.attackers - self.staying, 0).reshape(-1)
        groups = _group_indices(self.defenders.reshape(-1), sizes[1])
        for battles, row in zip(groups, rows, strict=True):
            flat[battles] = row[able[battles]]
        return means

    def _find_different(self) -> tuple[Whole, Whole]:
        """Return the different battles, and for each battle its index among them."""
        battles = np.stack([self.attackers.reshape(-1), self.defenders.reshape(-1)])
        return np.unique(battles, axis=1, return_inverse=True)

    def _one_by_one(self, answer: Callable[[int, int], Probability]) -> npt.NDArray[Any]:
        different, places = self._find_different()
        answers = self._empty((different.shape[1],))
        for place, (attackers, defenders) in enumerate(different.T.tolist()):
            answers[place] = answer(attackers - self.staying, defenders)
        return answers[places].reshape(self.attackers.shape)


def _group_indices(numbers: Whole, most: int) -> Iterator[Whole]:
    """Yield the indices of 1, of 2 ... and of `most` among the numbers."""
    # NumPy sorts short integers by their digits, in linear time.
    short = numbers.astype(np.uint16) if most < 2**16 else numbers
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=most + 1))
    for number in range(1, most + 1):
        yield order[ends[number - 1] : ends[number]]
