"""The odds of many battles: functions of arrays, with NumPy's broadcasting."""

from __future__ import annotations  # signatures then show the names of types

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
from iacta.methods import choose_kernel
from iacta.methods.kernel import Floats, Kernel, Values
from iacta.methods.roll_counts import tabulate_expected_rolls
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

CELLS_PER_CHANCE = 10**5  # the number of table cells that take as long to compute as one chance
CELLS_PER_DISTRIBUTION = 10**7  # the number of table cells that take as long as one distribution
MAX_MODERATE_ARMIES = 1_000
MAX_LOOKUP_CELLS = 4 * 10**6  # the largest lookup table
HALF = Fraction(1, 2)

Army: TypeAlias = int | np.integer[Any]
Armies: TypeAlias = npt.ArrayLike
Fractions: TypeAlias = npt.NDArray[np.object_]
Numbers: TypeAlias = float | Fraction | Floats | Fractions
RuleSets: TypeAlias = Rules | str | list[Any] | tuple[Any, ...] | npt.NDArray[Any]
Whole: TypeAlias = npt.NDArray[np.int64]
ValueFunction: TypeAlias = Callable[[int], int]
Computation: TypeAlias = Callable[["_Battles"], npt.NDArray[Any]]


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
    """The type of a function that computes a number for each battle, given arrays of armies."""

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
    @overload
    def __call__(
        self,
        attackers: Armies,
        defenders: Armies,
        rules: RuleSets = ...,
        **options: Unpack[_Either],
    ) -> Floats | Fractions: ...


def _take_arrays(computation: Computation) -> BattleFunction:
    """Make a function of arrays of armies from a computation for battles under one rule set.

    The new function has the name and the docstring of the computation.
    """

    def compute(
        attackers: Armies,
        defenders: Armies,
        rules: RuleSets = "classic",
        *,
        garrison: int | None = None,
        exact: bool = False,
        method: str = "auto",
    ) -> Numbers:
        def compute_for_rules(
            attackers: Armies, defenders: Armies, rules: Rules | str
        ) -> npt.NDArray[Any]:
            battles = _read_battles(attackers, defenders, rules, garrison, exact, method)
            return battles.compute(computation)

        if isinstance(rules, list | tuple | np.ndarray):
            return broadcast_rules(compute_for_rules, rules, attackers, defenders)
        numbers = compute_for_rules(attackers, defenders, rules)
        if numbers.ndim:
            return numbers
        number: float | Fraction = numbers.item()
        return number

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(compute, name, getattr(computation, name))
    return cast(BattleFunction, compute)


@_take_arrays
def win_probability(battles: _Battles) -> npt.NDArray[Any]:
    """Return the chance to win of one battle, or of each battle in arrays.

    attackers: armies on the attacking territories, garrison included; a whole number, or an array
        of whole numbers of any shape.
    defenders: armies on the defended territories, in a shape that broadcasts with `attackers`.
    rules: `Rules`, the name of a rule set, or an array of these, which is also broadcast.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    exact: whether to return fractions instead of floats.
    method: a name in `iacta.methods.METHODS`, or `"auto"`.

    Returns a float for a single battle, otherwise an array of the broadcast shape. The relative
    error is at most 1e-12 up to 250 armies on each side. For larger battles, the bound is the error
    of `Battle`, or of a table of this size if many battles are computed together. Under balanced
    blitz, the bounds are for the absolute error.

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
    return battles.compute_chances()


@_take_arrays
def expected_attackers_left(battles: _Battles) -> npt.NDArray[Any]:
    """Return the expected number of surviving attackers in each battle, garrison included.

    The arguments, shapes, errors and exceptions are the same as for `win_probability`.

    >>> round(expected_attackers_left(12, 10), 4)
    4.4382
    """
    return battles.compute_attackers_left()


@_take_arrays
def expected_defenders_left(battles: _Battles) -> npt.NDArray[Any]:
    """Return the expected number of surviving defenders in each battle.

    The arguments, shapes, errors and exceptions are the same as for `win_probability`.

    >>> round(expected_defenders_left(12, 10), 4)
    1.3394
    """
    return battles.compute_defenders_left()


@_take_arrays
def expected_rolls(battles: _Battles) -> npt.NDArray[Any]:
    """Return the expected number of rolls of each battle.

    The arguments, shapes and errors are the same as for `win_probability`. Raises `IactaError` for
    rules under which armies can grow, or battles are not decided roll by roll.

    >>> expected_rolls([[5], [12]], [4, 10]).round(4)
    array([[3.0065, 4.0569],
           [4.0267, 8.5848]])
    """
    return battles.compute_rolls()


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
    """Return a table of the chances to win every battle up to a given size.

    attackers: the largest number of armies on the attacking territory, garrison included.
    defenders: the largest number of armies on the defended territory.
    rules, garrison, exact, method: the same as for `win_probability`.

    Returns an array of shape (attackers, defenders). The entry `[a - 1, d - 1]` is the chance of
    `a` attackers against `d` defenders. If `rules` is an array, its axes come first. The error is
    that of `win_probability`.

    >>> win_table(3, 2, garrison=0).round(3)
    array([[0.417, 0.106],
           [0.754, 0.363],
           [0.916, 0.656]])
    """
    if isinstance(rules, list | tuple | np.ndarray):
        rule_sets = _read_rule_sets(rules)
        tables = [
            win_table(attackers, defenders, each, garrison=garrison, exact=exact, method=method)
            for each in rule_sets.flat
        ]
        return np.reshape(tables, (*rule_sets.shape, *np.shape(tables)[1:]))
    rules = find_rules(rules, garrison)
    kernel = choose_kernel(rules, exact=exact, method=method)
    max_attackers = read_int(attackers, "attackers", minimum=1)
    max_defenders = read_int(defenders, "defenders", minimum=1)
    staying = min(rules.garrison, max_attackers - 1)
    if not _has_tables(kernel):
        rows, columns = np.arange(1, max_attackers + 1), np.arange(1, max_defenders + 1)
        battles = _read_battles(rows[:, np.newaxis], columns, rules, None, exact, method)
        return battles.compute(_Battles.compute_chances)
    table = kernel.win_table(max_attackers - staying, max_defenders, staying)
    if rules.garrison > staying:
        table[-1:] = kernel.number(0)
    return np.asarray(table, dtype=object if exact else float)


def _read_rule_sets(rules: list[Any] | tuple[Any, ...] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    given = read_array(rules, "rules", "rules", object)
    if not given.size:
        raise IllegalError("missing rules")
    rule_sets: npt.NDArray[Any] = np.empty(given.shape, dtype=object)
    rule_sets.reshape(-1)[:] = [find_rules(value) for value in given.flat]
    return rule_sets


def broadcast_rules(
    function: Callable[..., Any],
    rules: list[Any] | tuple[Any, ...] | npt.NDArray[Any],
    *arrays: object,
    **options: Any,
) -> npt.NDArray[Any]:
    """Call a function once for each different rule set, and return the results as one array.

    function: a function that takes the arrays, the rules and the options.
    rules: an array of rules, which is broadcast against the arrays.
    arrays: arrays of numbers.
    options: keyword arguments for the function.
    """
    rule_sets = _read_rule_sets(rules)
    indices: dict[Rules, int] = {}
    numbers = [indices.setdefault(value, len(indices)) for value in rule_sets.flat]
    others = (read_array(each, "arrays", "numbers") for each in arrays)
    index_array, *given = broadcast_arrays(np.reshape(numbers, rule_sets.shape), *others)
    results = []
    for each_rules, index in indices.items():
        mask = index_array == index
        results.append((mask, function(*(array[mask] for array in given), each_rules, **options)))
    joined = np.empty(index_array.shape, dtype=np.result_type(*(part for _, part in results)))
    for mask, part in results:
        joined[mask] = part
    return joined


def _has_tables(kernel: Kernel) -> bool:
    """Return whether a kernel, or the kernel from which it takes chances, computes whole rows."""
    return kernel.is_vectorised or kernel.choose_decider(HALF)[0].is_vectorised


def _read_battles(
    attackers: object,
    defenders: object,
    rules: Rules | str,
    garrison: int | None,
    exact: bool,
    method: str,
) -> _Battles:
    rules = find_rules(rules, garrison)
    kernel = choose_kernel(rules, exact=exact, method=method)
    attacker_array, defender_array = broadcast_arrays(
        read_int_array(attackers, "attackers", minimum=1),
        read_int_array(defenders, "defenders", minimum=1),
        maximum=MAX_ROW_LENGTH if exact else MAX_ARRAY_SIZE,
    )
    staying = min(rules.garrison, int(attacker_array.max(initial=1)))
    split = method == "auto"
    return _Battles(kernel, attacker_array, defender_array, staying, exact, split)


@dataclass(frozen=True)
class _Battles:
    """Arrays of battles under the same rules.

    kernel: the kernel of these rules.
    attackers, defenders: the armies in each battle, garrison included.
    staying: the number of attackers that must stay behind.
    exact: whether to compute with fractions.
    split: whether large battles are computed separately.
    """

    kernel: Kernel
    attackers: Whole
    defenders: Whole
    staying: int
    exact: bool
    split: bool

    def compute(self, computation: Computation) -> npt.NDArray[Any]:
        """Compute a number for each battle; compute large battles singly, to keep tables small."""
        large = np.maximum(self.attackers, self.defenders) > MAX_MODERATE_ARMIES
        if not self.split or not large.any() or large.all():
            return computation(self)
        numbers = self._make_empty_array(self.attackers.shape)
        for mask in (large, ~large):
            numbers[mask] = computation(
                replace(self, attackers=self.attackers[mask], defenders=self.defenders[mask])
            )
        return numbers

    def compute_chances(self) -> npt.NDArray[Any]:
        able, defenders = self._sizes
        several = self.attackers.size > 1
        moderate = several and able * defenders <= MAX_LOOKUP_CELLS
        if moderate and not self.kernel.exact and _has_tables(self.kernel):
            table = self.kernel.win_table(able, defenders, self.staying + 1)
            return np.array(table[self.attackers, self.defenders - 1])
        if several and self.kernel.is_vectorised and self._are_rows_faster(CELLS_PER_CHANCE):
            chances = self._compute_by_rows(won=lambda _: 1, lost=lambda _: 0)
            return chances if self.exact else np.minimum(chances, 1.0)
        return self._compute_one_by_one(self.kernel.win_probability)

    def compute_attackers_left(self) -> npt.NDArray[Any]:
        means = self._compute_means(
            won=lambda able: able + self.staying, lost=lambda _: self.staying
        )
        no_attack = self.attackers <= self.staying
        means[no_attack] = [Fraction(n) for n in self.attackers[no_attack].tolist()]
        return means

    def compute_defenders_left(self) -> npt.NDArray[Any]:
        return self._compute_means(won=lambda _: 0, lost=lambda armies: armies)

    def compute_rolls(self) -> npt.NDArray[Any]:
        table = tabulate_expected_rolls(self.kernel, *self._sizes)
        return np.asarray(table[self.defenders, np.maximum(self.attackers - self.staying, 0)])

    def _make_empty_array(self, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return np.empty(shape, dtype=object if self.exact else float)

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The largest numbers of attackers (garrison excluded, at least 1) and of defenders."""
        able = int(self.attackers.max(initial=1)) - self.staying
        return max(able, 1), int(self.defenders.max(initial=1))

    def _compute_means(self, won: ValueFunction, lost: ValueFunction) -> npt.NDArray[Any]:
        """Return the expected value of each battle.

        won: a function of the surviving able attackers that returns the value of a victory.
        lost: a function of the surviving defenders that returns the value of a defeat.
        """
        finite = self.kernel.most_left(*self._sizes) == self._sizes
        if self.kernel.is_vectorised and finite and self._are_rows_faster(CELLS_PER_DISTRIBUTION):
            return self._compute_by_rows(won, lost)

        def compute_mean(able: int, defenders: int) -> Probability:
            ends = self.kernel.run_forward(Distribution([able]), defenders)
            return ends.map(
                lambda end: lost(end.defenders) if end.defenders else won(end.attackers)
            ).mean()

        return self._compute_one_by_one(compute_mean)

    def _are_rows_faster(self, cells_per_battle: int) -> bool:
        """Return whether it is faster to compute one table than to compute each battle separately.

        cells_per_battle: the number of table cells that take as long to compute as one battle.
        """
        able, defenders = self._sizes
        if not self.split or able * defenders <= cells_per_battle:
            return True
        different, _ = self._list_different()
        return able * defenders <= cells_per_battle * len(different[0])

    def _compute_by_rows(self, won: ValueFunction, lost: ValueFunction) -> npt.NDArray[Any]:
        """Compute the battles row by row; a row has all battles with one number of defenders."""
        sizes = self._sizes
        self.kernel.for_question("table", *sizes).refuse(*sizes)
        values = Values([*map(won, range(sizes[0] + 1))], [*map(lost, range(sizes[1] + 1))])
        rows = self.kernel.run_backward(values)
        if not self.kernel.exact and sizes[0] * sizes[1] <= MAX_LOOKUP_CELLS:
            table = np.empty((sizes[1], self.staying + sizes[0] + 1))
            for d, row in enumerate(rows, start=1):
                table[d - 1, : self.staying], table[d - 1, self.staying :] = values.lost[d], row
            return np.array(table[self.defenders - 1, self.attackers])
        means = self._make_empty_array(self.attackers.shape)
        flat, able = means.reshape(-1), np.maximum(self.attackers - self.staying, 0).reshape(-1)
        groups = _group_indices(self.defenders.reshape(-1), sizes[1])
        for battles, row in zip(groups, rows, strict=True):
            flat[battles] = row[able[battles]]
        return means

    def _list_different(self) -> tuple[Whole, Whole]:
        """Return the different battles, and for each battle its index in this list."""
        battles = np.stack([self.attackers.reshape(-1), self.defenders.reshape(-1)])
        return np.unique(battles, axis=1, return_inverse=True)

    def _compute_one_by_one(self, compute: Callable[[int, int], Probability]) -> npt.NDArray[Any]:
        different, indices = self._list_different()
        numbers = self._make_empty_array((different.shape[1],))
        for index, (attackers, defenders) in enumerate(different.T.tolist()):
            numbers[index] = compute(attackers - self.staying, defenders)
        return numbers[indices].reshape(self.attackers.shape)


def _group_indices(numbers: Whole, maximum: int) -> Iterator[Whole]:
    """Yield the indices of all ones in an array, then of all twos, and so on up to `maximum`."""
    # NumPy sorts 16-bit integers in linear time.
    short = numbers.astype(np.uint16) if maximum < 2**16 else numbers
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=maximum + 1))
    for number in range(1, maximum + 1):
        yield order[ends[number - 1] : ends[number]]
