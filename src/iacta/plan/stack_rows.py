"""F and A of `iacta.plan.one_stack` as rows of tables, for any defenders left, compiled.

A row is F(v, ·, R), A(v, c, Q), or the distribution function of what a set costs; it is a vector
over the armies. Rows are computed when they are first asked, and found again by a hash of all that
they depend on: v, c, the set, and the defenders of each of its territories. Sets are whole numbers
of 64 bits, so a problem has at most 62 territories here.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.plan.compiled import compiled

__all__ = [
    "GARRISON",
    "INTO",
    "LEAST",
    "MOST_SPLITS",
    "OUT",
    "RULE",
    "Rows",
    "bit_index",
    "purse_of",
    "reached",
    "row_of",
    "slot_of",
    "splits_of",
]

OUT, INTO, GARRISON, LEAST, RULE = range(5)  # the lines of `Rows.land`
MOST_SPLITS = 4096
MOST_WAITING = 20_000


class Rows(NamedTuple):
    """The tables of a problem, and its rows.

    land: for each territory the set of those that it can attack, and of those that can attack it;
        the armies that must stay behind; those that must move in, if so many are left; and the
        number of the rules of battles against it.
    table: `table[t, d]` is the number of the battles against d defenders on t.
    won: `won[i, a, b]` is W of battles i.
    cost: `cost[i, x]` is the chance that battles i take x armies off a stack of any size, with the
        one that must stay on the territory.
    salt: random numbers of which the hashes are made.
    keys, places: the hash table, and the row of each key.
    pool: the rows; the first is 1 everywhere, the second 0.
    used: how many rows there are.
    """

    land: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    won: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    salt: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int64]
    pool: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]


@compiled
def bit_index(low: Any) -> Any:
    """Return the number of the only territory of a set."""
    index = 0
    for half in (32, 16, 8, 4, 2, 1):
        if low >> half:
            index += half
            low >>= half
    return index


@compiled
def reached(land: npt.NDArray[np.int64], v: Any, mask: Any) -> Any:
    """Return the part of a set that can be reached from v through it."""
    seen = land[OUT, v] & mask
    new = seen
    while new:
        more = land[OUT, bit_index(new & -new)] & mask & ~seen
        new &= new - 1
        seen |= more
        new |= more
    return seen


@compiled
def slot_of(keys: npt.NDArray[np.uint64], key: Any) -> Any:
    """Return where a key is in a hash table, or where it may be put."""
    size = keys.shape[0]
    place: Any = np.int64(key % np.uint64(size))
    while keys[place] != 0 and keys[place] != key:
        place = place + 1 if place + 1 < size else 0
    return place


@compiled
def _key(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any) -> Any:
    """Return the hash of F(v, ·, R), with c = −1, or of A(v, c, Q)."""
    size = armies.shape[0]
    key = rows.salt[size, v]
    if c >= 0:
        key ^= rows.salt[size + 1, c]
    while mask:
        t = bit_index(mask & -mask)
        mask &= mask - 1
        key ^= rows.salt[t, armies[t]]
    return key


@compiled
def _slot(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any) -> Any:
    return slot_of(rows.keys, _key(rows, armies, v, c, mask))


@compiled
def splits_of(
    land: npt.NDArray[np.int64], v: Any, c: Any, mask: Any, firsts: npt.NDArray[np.int64]
) -> Any:
    """Write the subsets connected to c that leave a rest connected to v; return how many."""
    frontier, grown = np.empty(MOST_SPLITS, np.int64), np.empty(MOST_SPLITS, np.int64)
    allowed = np.empty(MOST_SPLITS, np.int64)
    frontier[0], grown[0], allowed[0] = land[OUT, c] & mask, 0, mask
    waiting, count = 1, 0
    while waiting:
        waiting -= 1
        edge, first, free = frontier[waiting], grown[waiting], allowed[waiting]
        if count < MOST_SPLITS and reached(land, v, mask & ~first) == mask & ~first:
            firsts[count] = first
            count += 1
        while edge and waiting < MOST_SPLITS:
            low = edge & -edge
            edge ^= low
            free &= ~low  # from now on it is in the set for good, or out for good
            frontier[waiting] = edge | land[OUT, bit_index(low)] & free
            grown[waiting], allowed[waiting] = first | low, free
            waiting += 1
    return count


@compiled
def row_of(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any) -> Any:
    """Return the row of F(v, ·, R) with c = −1, or that of A(v, c, Q)."""
    if c < 0 and not mask:
        return 0
    slot = _slot(rows, armies, v, c, mask)
    if rows.keys[slot]:
        return rows.places[slot]
    land, pool = rows.land, rows.pool
    waits = np.empty((MOST_WAITING, 3), np.int64)
    firsts = np.empty(MOST_SPLITS, np.int64)
    waits[0, 0], waits[0, 1], waits[0, 2] = v, c, mask
    waiting, place = 1, 0
    while waiting:
        v, c, mask = waits[waiting - 1, 0], waits[waiting - 1, 1], waits[waiting - 1, 2]
        slot = _slot(rows, armies, v, c, mask)
        if rows.keys[slot]:
            waiting -= 1
            continue
        if rows.used[0] == pool.shape[0] or waiting + 2 * MOST_SPLITS > MOST_WAITING:
            return 1
        # The rows that it depends on: A for each territory next to v, or F for each split.
        count = 0
        if c >= 0:
            count = splits_of(land, v, c, mask, firsts)
        elif reached(land, v, mask) == mask:
            near = land[OUT, v] & mask
            while near:
                firsts[count] = near & -near
                near &= near - 1
                count += 1
        before = waiting
        for i in range(count):
            for second in range(2 if c >= 0 else 1):
                if c < 0:
                    u, b, part = v, bit_index(firsts[i]), mask ^ firsts[i]
                else:
                    u, b, part = v if second else c, -1, firsts[i]
                    if second:
                        part = mask & ~firsts[i]
                if (part or c < 0) and not rows.keys[_slot(rows, armies, u, b, part)]:
                    waits[waiting, 0], waits[waiting, 1], waits[waiting, 2] = u, b, part
                    waiting += 1
        if waiting > before:
            continue
        place = rows.used[0]
        rows.used[0] += 1
        best, garrison = pool[place], land[GARRISON, v]
        best[:] = 0.0
        able = pool.shape[1] - 1 - garrison
        for i in range(count):
            if c < 0:
                b = bit_index(firsts[i])
                won = rows.won[rows.table[b, armies[b]]]
                after = pool[rows.places[_slot(rows, armies, v, b, mask ^ firsts[i])]]
                for a in range(1, able + 1):
                    total = 0.0
                    for left in range(1, a + 1):
                        total += won[a, left] * after[left]
                    best[a + garrison] = max(best[a + garrison], total)
                continue
            first, second = firsts[i], mask & ~firsts[i]
            ours = pool[rows.places[_slot(rows, armies, c, -1, first)] if first else 0]
            theirs = pool[rows.places[_slot(rows, armies, v, -1, second)] if second else 0]
            for b in range(1, able + 1):
                low = high = min(land[LEAST, c], b)
                if first:
                    high = b
                if not second:
                    low = high
                stay = b + garrison
                if ours[high] * theirs[stay - low] > best[b]:
                    for m in range(low, high + 1):
                        best[b] = max(best[b], ours[m] * theirs[stay - m])
        slot = _slot(rows, armies, v, c, mask)
        rows.keys[slot], rows.places[slot] = _key(rows, armies, v, c, mask), place
        waiting -= 1
    return place


@compiled
def purse_of(rows: Rows, armies: npt.NDArray[np.int64], mask: Any) -> Any:
    """Return the row of the distribution function of what a set costs, losses and garrisons."""
    key, place = np.uint64(0), 0
    while mask:
        t = bit_index(mask & -mask)
        mask &= mask - 1
        battles = rows.table[t, armies[t]]
        key += rows.salt[armies.shape[0] + 2, battles]
        slot = slot_of(rows.keys, key)
        if not rows.keys[slot]:
            if rows.used[0] == rows.pool.shape[0]:
                return place
            new = rows.used[0]
            rows.used[0] += 1
            for x in range(rows.pool.shape[1]):
                total = 0.0
                for y in range(x + 1):
                    total += rows.cost[battles, y] * rows.pool[place, x - y]
                rows.pool[new, x] = total
            rows.keys[slot], rows.places[slot] = key, new
        place = rows.places[slot]
    return place
