"""Shares of a goal among stacks, and how they are improved, compiled.

A share gives each stack v a set R_v that is connected to it; the sets are disjoint and hold the
goal. Its chance is Π F(v, n_v, R_v). A set may hold extras, territories outside the goal: the goal
may not be connected to the stack, and even where it is, one more territory can save armies, as a
stack that goes round in a ring need not split.

`repair` gives targets that no stack can take any more to others, each by a cheapest way, the best
one first. `climb` moves single targets between stacks, and adds and drops extras, as long as the
chance grows. A change is only solved if its bound allows a gain: the product of the chances that
each stack could pay what its set costs if all of it were next to it (`bound_of`).
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan.compiled import compiled
from iacta.plan.stack_rows import (
    EMPTY,
    GARRISON,
    INTO,
    NONE,
    OUT,
    Rows,
    bit_index,
    purse_of,
    reached,
    row_of,
)

__all__ = ["bound_of", "chance_of", "climb", "joined", "live_stacks", "moved", "repair"]

Ints: TypeAlias = npt.NDArray[np.int64]

GAIN = 1e-9
FAR = 1e9
LOSS = 0.8  # armies that a defender costs: it only says which ways are tried


@compiled
def live_stacks(rows: Rows, armies: Ints, mine: Any, left: Any) -> Any:
    """Return the set of the stacks that can attack something."""
    live = np.int64(0)
    while mine:
        low = mine & -mine
        mine ^= low
        v = bit_index(low)
        if armies[v] > rows.land[GARRISON, v] and rows.land[OUT, v] & left:
            live |= low
    return live


@compiled
def chance_of(rows: Rows, armies: Ints, parts: Ints) -> Any:
    """Return the chance of a share."""
    chance = 1.0
    for v in range(parts.shape[0]):
        if parts[v]:
            chance *= rows.pool[row_of(rows, armies, v, NONE, parts[v], EMPTY), armies[v]]
            if chance == 0.0:
                break
    return chance


@compiled
def bound_of(rows: Rows, armies: Ints, v: Any, part: Any) -> Any:
    """Return the chance that the stack on v takes a set, as if all were next to it."""
    if not part:
        return 1.0
    return rows.pool[purse_of(rows, armies, part), armies[v] - rows.land[GARRISON, v]]


@compiled
def joined(rows: Rows, armies: Ints, v: Any, part: Any, t: Any, free: Any) -> Any:
    """Return a stack's set with t, joined to it by a cheapest way through a free set, or 0."""
    ours = part | np.int64(1) << v
    bit = np.int64(1) << t
    if rows.land[INTO, t] & ours:
        return part | bit
    size = armies.shape[0]
    cost, before = np.full(size, FAR), np.full(size, -1)
    done = ours
    waiting = np.int64(0)
    rest = ours
    while rest:
        low = rest & -rest
        rest ^= low
        near = rows.land[OUT, bit_index(low)] & (free | bit) & ~ours
        while near:
            c = bit_index(near & -near)
            near &= near - 1
            cost[c] = rows.land[GARRISON, c] + LOSS * armies[c]
            waiting |= np.int64(1) << c
    while waiting:
        best, least, rest = -1, FAR, waiting
        while rest:
            c = bit_index(rest & -rest)
            rest &= rest - 1
            if cost[c] < least:
                best, least = c, cost[c]
        if best < 0:
            return np.int64(0)
        waiting &= ~(np.int64(1) << best)
        done |= np.int64(1) << best
        if best == t:
            way = part
            while best >= 0:
                way |= np.int64(1) << best
                best = before[best]
            return way
        near = rows.land[OUT, best] & (free | bit) & ~done
        while near:
            c = bit_index(near & -near)
            near &= near - 1
            price = least + rows.land[GARRISON, c] + LOSS * armies[c]
            if price < cost[c]:
                cost[c], before[c] = price, best
                waiting |= np.int64(1) << c
    return np.int64(0)


@compiled
def trimmed(rows: Rows, v: Any, part: Any, goal: Any) -> Any:
    """Return a stack's set without the extras that the rest is connected without."""
    rest = part & ~goal
    while rest:
        low = rest & -rest
        rest ^= low
        if reached(rows.land, v, part ^ low) == part ^ low:
            part ^= low
    return part


@compiled
def repair(rows: Rows, armies: Ints, mine: Any, left: Any, goal: Any, parts: Ints) -> Any:
    """Give each target that no stack can take any more to another stack; tell whether it worked.

    parts: for each territory the set that the stack there is to take, changed in place.
    """
    live = live_stacks(rows, armies, mine, left)
    homeless, taken = left & goal, np.int64(0)
    for v in range(parts.shape[0]):
        if parts[v]:
            part = parts[v] & left if live >> v & 1 else np.int64(0)
            part = reached(rows.land, v, part)
            parts[v] = part
            homeless &= ~part
            taken |= part
    if homeless:
        for v in range(parts.shape[0]):
            if parts[v] & ~goal:
                taken &= ~parts[v]
                parts[v] = trimmed(rows, v, parts[v], goal)
                taken |= parts[v]
    while homeless:
        best, chosen, whole = -1.0, -1, np.int64(0)
        targets = homeless
        while targets:  # the target whose best stack is best
            low = targets & -targets
            targets ^= low
            t = bit_index(low)
            stacks = live
            while stacks:
                v = bit_index(stacks & -stacks)
                stacks &= stacks - 1
                part = joined(rows, armies, v, parts[v], t, left & ~taken & ~homeless | low)
                if not part:
                    part = joined(rows, armies, v, parts[v], t, left & ~taken)
                if part:
                    before = bound_of(rows, armies, v, parts[v])
                    rank = bound_of(rows, armies, v, part) / before if before > 0.0 else 0.0
                    if rank > best:
                        best, chosen, whole = rank, v, part
        if chosen < 0:
            return False
        parts[chosen] = whole
        taken |= whole
        homeless &= ~whole
    return True


@compiled
def moved(
    rows: Rows,
    armies: Ints,
    left: Any,
    goal: Any,
    parts: Ints,
    taken: Any,
    v: Any,
    u: Any,
    t: Any,
    new: Ints,
) -> Any:
    """Write into `new` what v and u take when u takes t from v; tell whether it is possible."""
    ours = parts[v] & ~(np.int64(1) << t)
    kept = reached(rows.land, v, ours)
    lost = ours & ~kept & goal | np.int64(1) << t
    kept = trimmed(rows, v, kept, goal)
    free = left & ~taken | parts[v] & ~kept
    theirs = parts[u]
    rest = lost
    tries = 0
    while rest:
        low = rest & -rest
        t = bit_index(low)
        more = joined(rows, armies, u, theirs, t, free & ~theirs)
        if not more:
            return False
        theirs = more
        rest &= ~theirs
        tries += 1
    new[0], new[1] = kept, theirs
    return True


@compiled
def climb(
    rows: Rows, armies: Ints, mine: Any, left: Any, goal: Any, parts: Ints, chance: float, most: Any
) -> Any:
    """Improve a share by moving targets between stacks and adding extras; return its chance.

    most: how many improvements may be made.
    """
    live = live_stacks(rows, armies, mine, left)
    new = np.empty(2, np.int64)
    steps = 0
    better = True
    while better and steps < most:
        better = False
        taken = np.int64(0)
        for v in range(parts.shape[0]):
            taken |= parts[v]
        owners = live
        while owners and not better:
            v = bit_index(owners & -owners)
            owners &= owners - 1
            if not parts[v]:
                continue
            ours = rows.pool[row_of(rows, armies, v, NONE, parts[v], EMPTY), armies[v]]
            stacks = live & ~(np.int64(1) << v)
            while stacks and not better:
                u = bit_index(stacks & -stacks)
                stacks &= stacks - 1
                theirs = rows.pool[row_of(rows, armies, u, NONE, parts[u], EMPTY), armies[u]]
                targets = parts[v] & goal
                while targets and not better:
                    t = bit_index(targets & -targets)
                    targets &= targets - 1
                    if not moved(rows, armies, left, goal, parts, taken, v, u, t, new):
                        continue
                    bound = bound_of(rows, armies, v, new[0]) * bound_of(rows, armies, u, new[1])
                    if bound <= ours * theirs * (1.0 + GAIN):
                        continue
                    value = rows.pool[row_of(rows, armies, v, NONE, new[0], EMPTY), armies[v]]
                    if value <= ours * theirs:
                        continue
                    value *= rows.pool[row_of(rows, armies, u, NONE, new[1], EMPTY), armies[u]]
                    if value > ours * theirs * (1.0 + GAIN) + 1e-15:
                        chance = chance / (ours * theirs) * value if ours * theirs > 0.0 else value
                        parts[v], parts[u] = new[0], new[1]
                        better = True
            if not better:
                better = _extra(rows, armies, left & ~taken, goal, parts, v, ours)
                if better:
                    value = rows.pool[row_of(rows, armies, v, NONE, parts[v], EMPTY), armies[v]]
                    chance = chance / ours * value if ours > 0.0 else value
        if better:
            steps += 1
    return chance_of(rows, armies, parts) if steps else chance


@compiled
def _extra(rows: Rows, armies: Ints, free: Any, goal: Any, parts: Ints, v: Any, ours: float) -> Any:
    """Add or drop an extra of a stack if that raises its chance; tell whether it did."""
    once = twice = np.int64(0)
    rest = parts[v] | np.int64(1) << v
    while rest:
        near = rows.land[OUT, bit_index(rest & -rest)]
        rest &= rest - 1
        twice |= once & near
        once |= near
    ring = twice & free & ~goal
    while ring:
        low = ring & -ring
        ring ^= low
        if bound_of(rows, armies, v, parts[v] | low) > ours:
            value = rows.pool[row_of(rows, armies, v, NONE, parts[v] | low, EMPTY), armies[v]]
            if value > ours * (1.0 + GAIN):
                parts[v] |= low
                return True
    extras = parts[v] & ~goal
    while extras:
        low = extras & -extras
        extras ^= low
        if reached(rows.land, v, parts[v] ^ low) == parts[v] ^ low:
            value = rows.pool[row_of(rows, armies, v, NONE, parts[v] ^ low, EMPTY), armies[v]]
            if value > ours * (1.0 + GAIN):
                parts[v] ^= low
                return True
    return False
