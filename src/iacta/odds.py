"""Odds of many battles at once: functions over arrays that broadcast as NumPy's do."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods import find_method, lattice
from iacta.numbers import broadcast, whole_number, whole_numbers
from iacta.rules import Rules
from iacta.variants import find_rules

__all__ = ["expected_attackers_left", "expected_defenders_left", "win_probability", "win_table"]

Armies: TypeAlias = npt.ArrayLike
Whole: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Worth: TypeAlias = Callable[[Floats], Floats]


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
    method: `"counting"` (exact), `"lattice"` (float) or `"auto"`.

    A float for two numbers, else an array of the broadcast shape. The relative error is at most
    `iacta.methods.lattice.relative_error` of the largest battle.

    Armies below 1 or not whole are refused.

    >>> win_probability([[5], [12]], [4, 10]).round(4)
    array([[0.4765, 0.0572],
           [0.972 , 0.6538]])
    >>> win_probability(3, 1, exact=True)
    Fraction(1955, 2592)
    """
    found = find_rules(rules, garrison)
    solver = find_method(method, found, exact=exact)
    pair = _broadcast(attackers, defenders)
    if solver.NAME == lattice.NAME:
        return _plain(_means(*pair, found, won=np.ones_like, lost=np.zeros_like))
    chances = solver.win_table(*_largest(*pair), found)[pair[0] - 1, pair[1] - 1]
    return chances if exact else _plain(np.asarray(chances, dtype=float))


def expected_attackers_left(
    attackers: Armies,
    defenders: Armies,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
) -> Any:
    """Return the mean numbers of attackers left, garrison included.

    The arguments, shapes and errors are those of `win_probability`.

    >>> round(expected_attackers_left(12, 10), 4)
    4.4382
    """
    found = find_rules(rules, garrison)
    find_method("lattice", found, exact=False)
    pair = _broadcast(attackers, defenders)
    means = _means(
        *pair,
        found,
        won=lambda armies: armies + found.garrison,
        lost=lambda armies: np.full_like(armies, found.garrison),
    )
    return _plain(np.where(pair[0] <= found.garrison, pair[0], means))


def expected_defenders_left(
    attackers: Armies,
    defenders: Armies,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
) -> Any:
    """Return the mean numbers of defenders left.

    The arguments, shapes and errors are those of `win_probability`.

    >>> round(expected_defenders_left(12, 10), 4)
    1.3394
    """
    found = find_rules(rules, garrison)
    find_method("lattice", found, exact=False)
    pair = _broadcast(attackers, defenders)
    return _plain(_means(*pair, found, won=np.zeros_like, lost=np.copy))


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
    d defenders. The relative error is at most `iacta.methods.lattice.relative_error`.

    >>> win_table(3, 2, garrison=0).round(3)
    array([[0.417, 0.106],
           [0.754, 0.363],
           [0.916, 0.656]])
    """
    found = find_rules(rules, garrison)
    solver = find_method(method, found, exact=exact)
    most_attackers = whole_number(attackers, "attackers", least=1)
    most_defenders = whole_number(defenders, "defenders", least=1)
    table = solver.win_table(most_attackers, most_defenders, found)
    return np.asarray(table, dtype=object if exact else float)


def _broadcast(attackers: object, defenders: object) -> tuple[Whole, Whole]:
    ours = whole_numbers(attackers, "attackers", least=1)
    theirs = whole_numbers(defenders, "defenders", least=1)
    first, second = broadcast(ours, theirs)
    return first, second


def _largest(attackers: Whole, defenders: Whole) -> tuple[int, int]:
    return int(attackers.max(initial=1)), int(defenders.max(initial=1))


def _means(attackers: Whole, defenders: Whole, rules: Rules, won: Worth, lost: Worth) -> Floats:
    """Return each battle's mean worth, without a loop over the battles.

    won, lost: what it is worth that 0, 1, 2 ... armies can move in, or hold.
    """
    most_attackers, most_defenders = _largest(attackers, defenders)
    lattice.refuse(most_attackers, most_defenders, rules)
    rows = lattice.value_rows(
        won(np.arange(most_attackers + 1.0)), lost(np.arange(most_defenders + 1.0)), rules
    )
    means = np.empty(attackers.shape)
    flat, armies = means.reshape(-1), attackers.reshape(-1)
    by_defenders = _in_groups(defenders.reshape(-1), most_defenders)
    for battles, row in zip(by_defenders, rows, strict=True):
        flat[battles] = row[armies[battles]]
    return means


def _in_groups(numbers: Whole, most: int) -> Iterator[Whole]:
    """Yield the places of 1, of 2 ... of `most` among the numbers."""
    # NumPy sorts short integers by their digits, in linear time.
    short = numbers.astype(np.uint16) if most < 2**16 else numbers
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=most + 1))
    for number in range(1, most + 1):
        yield order[ends[number - 1] : ends[number]]


def _plain(numbers: Floats) -> float | Floats:
    return float(numbers) if numbers.ndim == 0 else numbers
