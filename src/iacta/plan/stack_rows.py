"""What a stack can do alone as rows of tables, for any defenders left, compiled.

A row is F(v, ·, R), A(v, c, Q), or the distribution function of what a set costs; it is a vector
over the armies. To take all of R, F and A are those of `iacta.plan.one_stack`. Where a conquest
pays by itself they are what the stack gains on average if it attacks within R, each battle to its
end, and stops when that is best:

    F(v, n, R)     = max(0, max over c next to v of
                         Σ_b P(c taken, b left) · (paid + A(v, c, R − c)(b)) − cost · E[lost]),
    A(v, c, Q)(b)  = max over splits Q = Q_1 + Q_2, and m that move in, of
                         F(c, m, Q_1) ∘ F(v, b + g − m, Q_2).

Both parts pay where x ∘ y = x + y; where any target is enough, x ∘ y = 1 − (1 − x)(1 − y) is the
chance that one of them is taken. A set of territories pays with the last of them, if the stack can
still take all that is left of it alone: these sets are due. One that a split divides is not.

Rows are computed when they are first asked, and found again by a hash of all that they depend on:
v, c, the set, the defenders of each of its territories, and the sets that are due. Sets are whole
numbers of 64 bits, so a problem has at most 62 territories here.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.plan.compiled import compiled

__all__ = [
    "EMPTY",
    "GARRISON",
    "INTO",
    "LEAST",
    "MOST_SPLITS",
    "NONE",
    "ONCE",
    "OUT",
    "PRODUCT",
    "RULE",
    "SUM",
    "Rows",
    "bit_index",
    "due_of",
    "purse_of",
    "reached",
    "row_of",
    "slot_of",
    "splits_of",
]

OUT, INTO, GARRISON, LEAST, RULE = range(5)  # the lines of `Rows.land`
PRODUCT, SUM, ARMY, ONCE = range(4)  # the places in `Rows.terms`
MOST_SPLITS = 4096
MOST_WAITING = 20_000
# No territory, and no sets: not literals, for each of which functions are compiled once more.
NONE, EMPTY = np.int64(-1), np.int64(0)


class Rows(NamedTuple):
    """The tables of a problem, and its rows.

    land: for each territory the set of those that it can attack, and of those that can attack it;
        the armies that must stay behind; those that must move in, if so many are left; and the
        number of the rules of battles against it.
    table: `table[t, d]` is the number of the battles against d defenders on t.
    won: `won[i, a, b]` is W of battles i.
    cost: `cost[i, x]` is the chance that battles i take x armies off a stack of any size, with the
        one that must stay on the territory.
    terms: x ∘ y is `terms[PRODUCT]`·x·y + `terms[SUM]`·(x + y); what a lost army costs; and whether
        the first territory that pays ends the plan.
    paid: what each territory pays.
    sets, bonus: the sets that pay, and what each of them pays.
    salt: random numbers of which the hashes are made.
    keys, places: the hash table, and the row of each key.
    pool: the rows; the first is 1 everywhere, the second 0.
    used: how many rows there are.
    """

    land: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    won: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    terms: npt.NDArray[np.float64]
    paid: npt.NDArray[np.float64]
    sets: npt.NDArray[np.int64]
    bonus: npt.NDArray[np.float64]
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
def due_of(rows: Rows, left: Any, part: Any) -> Any:
    """Return which sets pay when a part of the territories left is taken."""
    due = np.int64(0)
    for i in range(rows.sets.shape[0]):
        missing = rows.sets[i] & left
        if missing and not missing & ~part:
            due |= np.int64(1) << i
    return due


@compiled
def due_after(rows: Rows, due: Any, c: Any, part: Any) -> tuple[Any, Any]:
    """Return what taking c pays, and which sets are due in the part that is then left."""
    paid, after = rows.paid[c], np.int64(0)
    while due:
        low = due & -due
        due ^= low
        i = bit_index(low)
        if rows.sets[i] & part:
            after |= low
        elif rows.sets[i] >> c & 1:
            paid += rows.bonus[i]
    return paid, after


@compiled
def due_within(rows: Rows, due: Any, part: Any, rest: Any) -> Any:
    """Return which of the sets that are due lie within a part, with nothing of them in the rest."""
    within = np.int64(0)
    while due:
        low = due & -due
        due ^= low
        i = bit_index(low)
        if rows.sets[i] & part and not rows.sets[i] & rest:
            within |= low
    return within


@compiled
def _key(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any, due: Any) -> Any:
    """Return the hash of F(v, ·, R), with c = −1, or of A(v, c, Q)."""
    size = armies.shape[0]
    key = rows.salt[size, v]
    if c >= 0:
        key ^= rows.salt[size + 1, c]
    while mask:
        t = bit_index(mask & -mask)
        mask &= mask - 1
        key ^= rows.salt[t, armies[t]]
    while due:
        key ^= rows.salt[size + 3, bit_index(due & -due)]
        due &= due - 1
    return key


@compiled
def _slot(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any, due: Any) -> Any:
    return slot_of(rows.keys, _key(rows, armies, v, c, mask, due))


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
def row_of(rows: Rows, armies: npt.NDArray[np.int64], v: Any, c: Any, mask: Any, due: Any) -> Any:
    """Return the row of F(v, ·, R) with c = −1, or that of A(v, c, Q).

    mask: R or Q, connected to v, or to v and c.
    due: the sets that pay when all of it is taken.
    """
    terms = rows.terms
    times, plus, price = terms[PRODUCT], terms[SUM], terms[ARMY]
    is_whole, nothing = plus == 0.0, 0 if plus == 0.0 else 1
    if c < 0 and not mask:
        return nothing
    slot = _slot(rows, armies, v, c, mask, due)
    if rows.keys[slot]:
        return rows.places[slot]
    land, pool = rows.land, rows.pool
    waits = np.empty((MOST_WAITING, 4), np.int64)
    firsts = np.empty(MOST_SPLITS, np.int64)
    waits[0, 0], waits[0, 1], waits[0, 2], waits[0, 3] = v, c, mask, due
    waiting, place = 1, 0
    while waiting:
        v, c, mask = waits[waiting - 1, 0], waits[waiting - 1, 1], waits[waiting - 1, 2]
        due = waits[waiting - 1, 3]
        slot = _slot(rows, armies, v, c, mask, due)
        if rows.keys[slot]:
            waiting -= 1
            continue
        if rows.used[0] == pool.shape[0] or waiting + 2 * MOST_SPLITS > MOST_WAITING:
            return 1
        # The rows that it depends on: A for each territory next to v, or F for each split.
        count = 0
        if c >= 0:
            count = splits_of(land, v, c, mask, firsts)
        elif not is_whole or reached(land, v, mask) == mask:
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
                    paid, then = due_after(rows, due, b, part)
                    if terms[ONCE] and paid:
                        continue
                else:
                    u, b, part = v if second else c, -1, firsts[i]
                    if second:
                        part = mask & ~firsts[i]
                    then = due_within(rows, due, part, mask & ~part)
                if part and not rows.keys[_slot(rows, armies, u, b, part, then)]:
                    waits[waiting, 0], waits[waiting, 1], waits[waiting, 2] = u, b, part
                    waits[waiting, 3] = then
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
                b, part = bit_index(firsts[i]), mask ^ firsts[i]
                won = rows.won[rows.table[b, armies[b]]]
                paid, then = due_after(rows, due, b, part)
                after = pool[nothing]
                if part and not (terms[ONCE] and paid):
                    after = pool[rows.places[_slot(rows, armies, v, b, part, then)]]
                for a in range(1, able + 1):
                    total = -price * a
                    for left in range(1, a + 1):
                        total += won[a, left] * (after[left] + paid + price * left)
                    best[a + garrison] = max(best[a + garrison], total)
                continue
            first, second = firsts[i], mask & ~firsts[i]
            ours = theirs = pool[nothing]
            if first:
                then = due_within(rows, due, first, second)
                ours = pool[rows.places[_slot(rows, armies, c, NONE, first, then)]]
            if second:
                then = due_within(rows, due, second, first)
                theirs = pool[rows.places[_slot(rows, armies, v, NONE, second, then)]]
            for b in range(1, able + 1):
                low = high = min(land[LEAST, c], b)
                if first:
                    high = b
                if not second:
                    low = high
                stay = b + garrison
                x, y = ours[high], theirs[stay - low]
                if times * x * y + plus * (x + y) > best[b]:
                    for m in range(low, high + 1):
                        x, y = ours[m], theirs[stay - m]
                        best[b] = max(best[b], times * x * y + plus * (x + y))
        slot = _slot(rows, armies, v, c, mask, due)
        rows.keys[slot], rows.places[slot] = _key(rows, armies, v, c, mask, due), place
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
