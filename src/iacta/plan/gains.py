"""What stacks gain, each within a set of its own, and how the sets are improved, compiled.

Where conquests pay by themselves, a share gives each stack v a set R_v that is connected to it; the
sets are disjoint, and need not hold all that pays. Each stack gains F(v, n_v, R_v)
(`iacta.plan.stack_rows`), which is a sum over the stacks where all conquests pay, and where any
target is enough, the chance that one of them takes one.

`grow` adds territories to sets, from those that are free or from other sets, one that gains the
most at a time; or all that a set that pays still lacks, with the way there.
"""

from math import log
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan.compiled import compiled
from iacta.plan.shares import joined, live_stacks
from iacta.plan.stack_rows import (
    NONE,
    OUT,
    PRODUCT,
    SUM,
    Rows,
    bit_index,
    due_of,
    reached,
    row_of,
)

__all__ = ["MOST_OWN", "gain_of", "gains_of", "grow", "keep_live"]

Ints: TypeAlias = npt.NDArray[np.int64]

MOST_OWN = 9  # territories up to which a stack's set grows in play
GAIN = 1e-9


@compiled
def gain_of(rows: Rows, armies: Ints, left: Any, v: Any, part: Any) -> Any:
    """Return what a stack gains within its set."""
    return rows.pool[row_of(rows, armies, v, NONE, part, due_of(rows, left, part)), armies[v]]


@compiled
def gains_of(rows: Rows, armies: Ints, left: Any, parts: Ints) -> Any:
    """Return what all stacks gain, each within its set."""
    total = 0.0
    for v in range(parts.shape[0]):
        if parts[v]:
            gain = gain_of(rows, armies, left, v, parts[v])
            total = rows.terms[PRODUCT] * total * gain + rows.terms[SUM] * (total + gain)
    return total


@compiled
def keep_live(rows: Rows, armies: Ints, mine: Any, left: Any, parts: Ints) -> None:
    """Leave to each stack what it can still come to of its set."""
    live = live_stacks(rows, armies, mine, left)
    for v in range(parts.shape[0]):
        if parts[v]:
            parts[v] = reached(rows.land, v, parts[v] & left) if live >> v & 1 else 0


@compiled
def _score(rows: Rows, gain: float) -> float:
    """Return a number for a gain so that the best share has the greatest sum of them."""
    return -log(max(1.0 - gain, 1e-15)) if rows.terms[PRODUCT] else gain


@compiled
def _size(part: Any) -> Any:
    count = 0
    while part:
        part &= part - 1
        count += 1
    return count


@compiled
def _with_all(rows: Rows, armies: Ints, v: Any, part: Any, more: Any, free: Any) -> Any:
    """Return a stack's set with some territories and the ways to them; 0 if there is no way."""
    while more:
        part = joined(rows, armies, v, part, bit_index(more & -more), free & ~part)
        if not part:
            break
        more &= ~part
    return part


@compiled
def grow(
    rows: Rows, armies: Ints, mine: Any, left: Any, goal: Any, parts: Ints, size: Any, most: Any
) -> Any:
    """Improve a share by adding to sets what gains the most; return what it gains then.

    goal: all that pays.
    size: how many territories a set may have.
    most: how many improvements may be made.
    """
    live = live_stacks(rows, armies, mine, left)
    lands, sets = armies.shape[0], rows.sets.shape[0]
    step = 0
    while step < most:
        step += 1
        best, winner, chosen = GAIN, -1, np.int64(0)
        taken = np.int64(0)
        for v in range(lands):
            taken |= parts[v]
        stacks = live
        while stacks:
            v = bit_index(stacks & -stacks)
            stacks &= stacks - 1
            part, others = parts[v], taken & ~parts[v]
            now = _score(rows, gain_of(rows, armies, left, v, part))
            edge, rest = rows.land[OUT, v], part
            while rest:
                edge |= rows.land[OUT, bit_index(rest & -rest)]
                rest &= rest - 1
            edge &= left & ~part
            far = goal & left & ~edge & ~taken
            for i in range(sets + 2 * lands):
                # One territory at the edge, one that is farther, or all that a set lacks.
                new = np.int64(0)
                if i < lands:
                    new = part | np.int64(1) << i if edge >> i & 1 else np.int64(0)
                elif i < 2 * lands:
                    t = i - lands
                    if far >> t & 1:
                        new = joined(rows, armies, v, part, t, left & ~taken)
                        if new & ~part & goal != np.int64(1) << t:
                            new = np.int64(0)  # what lies on the way pays by itself
                else:
                    missing = rows.sets[i - 2 * lands] & left & ~part
                    if missing & (missing - 1) and _size(part | missing) <= size:
                        free = left & ~others | missing
                        new = _with_all(rows, armies, v, part, missing, free)
                if not new or new == part or _size(new) > size:
                    continue
                gain = _score(rows, gain_of(rows, armies, left, v, new)) - now
                if gain <= best:
                    continue
                if new & others:
                    for u in range(lands):
                        if u != v and parts[u] & new:
                            kept = reached(rows.land, u, parts[u] & ~new)
                            gain -= _score(rows, gain_of(rows, armies, left, u, parts[u]))
                            gain += _score(rows, gain_of(rows, armies, left, u, kept))
                if gain > best:
                    best, winner, chosen = gain, v, new
        if winner < 0:
            break
        for u in range(lands):
            if u != winner and parts[u] & chosen:
                parts[u] = reached(rows.land, u, parts[u] & ~chosen)
        parts[winner] = chosen
    return gains_of(rows, armies, left, parts)
