"""The policy of one-step lookahead, roll by roll, compiled.

Let H(s) be what the best share that is known in a state s of real play still pays: to take all of a
set its chance (`iacta.plan.shares`), where conquests pay by themselves what its stacks gain
(`iacta.plan.gains`). That is exact for the policy that follows the share battle by battle. Sets
that contain each other have a share each; H is then the sum of their chances, each times what the
set pays, and no policy need reach it.

A roll of k dice from v against c has the action value

    Q(s, v, c, k) = Σ_z P(z | s, v, c, k) · (r(z) + H(z)),

where z goes over the losses, with the best advance that is found after a conquest, and r is what
they pay at once. In every state, also in the middle of a battle, the policy π takes the greatest Q,
and stops where none is above 0. Where H is what a share pays, it is never worse than the share:
V_π(s) ≥ Q(s, π(s)) ≥ H(s), by the policy improvement theorem.

V_π is estimated by playing. Along a game s_0, s_1 ... s_T let r_t be what a roll pays, and h_t the
H(s_t) that was used in the Q of the roll before, with h_0 = H(s_0). As the mean of r_t + h_{t+1}
given s_t is Q_t,

    V_π(s_0) = E Σ_t r_t = h_0 + E (Σ_t (Q_t − h_t) − h_T).

The terms of the sum are what each roll gains by lookahead; h_T is 0 where the goal is reached or
nothing can be done. They are small, so that some hundred games tell V_π to a fraction of a
percentage point: h is a control variate for what the game pays. It holds for any numbers h.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.plan.compiled import compiled
from iacta.plan.gains import MOST_OWN, gains_of, grow, keep_live
from iacta.plan.shares import chance_of, climb, live_stacks, repair
from iacta.plan.stack_rows import (
    ARMY,
    EMPTY,
    GARRISON,
    MOST_SPLITS,
    NONE,
    ONCE,
    OUT,
    PRODUCT,
    RULE,
    SUM,
    Rows,
    bit_index,
    due_of,
    due_within,
    reached,
    row_of,
    slot_of,
    splits_of,
)

__all__ = ["DEEP", "SAME", "Dice", "Memory", "decide"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SAME = 1e-6
DEEP = 3
# Not literals, for each of which functions are compiled once more.
OWN, STEPS = np.int64(MOST_OWN), np.int64(8)
QUICKLY, DEEPLY = np.False_, np.True_
FREE, FIELD, GOAL = range(3)
ATTACK, DEFENCE, OFFICIAL = range(3)
MOST_PAIRS = 400


class Dice(NamedTuple):
    """What a roll can do, and what the player may do.

    limits: the garrison of the rules, the set that may be attacked, and all that pays.
    rules: for each of the rules the most attack dice, the most defence dice, and whether as many
        armies must move in as dice were rolled.
    throws: `throws[r, k, j]` are the first of the attack throws of k dice when the defender may
        roll j, and their number.
    weights: for each attack throw its chance, the first of the defender's answers, and their
        number.
    answers: for each answer how many pairs are compared, and the chance that the defender loses 0,
        1, 2 ... armies.
    lost: L, where a whole battle is one roll; otherwise empty.
    start: the armies on each territory at the start of the turn.
    """

    limits: Ints
    rules: Ints
    throws: Ints
    weights: Floats
    answers: Floats
    lost: Floats
    start: Ints


class Memory(NamedTuple):
    """The decisions that were made.

    salt: random numbers of which the hashes are made, the last column for owned territories.
    keys, places: the hash table, and the record of each key.
    records: for each state, and each of the rolls that were compared there, v, c, k, the first of
        its results, and their number.
    values: Q of these rolls, 0 where there are fewer.
    best: the place of the best one.
    results: the losses of both sides, the advance, and the shares after it, one after another.
    chances: the chance of each result, and what it pays with the H that it leads to.
    used: how many records and results there are.
    """

    salt: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint64]
    places: Ints
    records: Ints
    values: Floats
    best: Ints
    results: Ints
    chances: Floats
    used: Ints


@compiled
def _best_advance(
    rows: Rows,
    armies: Ints,
    left: Any,
    v: Any,
    c: Any,
    mask: Any,
    able: Any,
    fewest: Any,
    most: Any,
    best: Ints,
) -> None:
    """Write how many advance, what they take, and what those take who stay.

    left: all that is left to take.
    mask: what the stack is still to take.
    able: how many are able to move.
    fewest, most: how many of them may.
    """
    firsts = np.empty(MOST_SPLITS, np.int64)
    times, plus = rows.terms[PRODUCT], rows.terms[SUM]
    due = due_of(rows, left, mask) if plus else EMPTY
    stay, top = able + rows.land[GARRISON, v], -1.0
    best[0], best[1], best[2] = most, 0, 0
    for i in range(splits_of(rows.land, v, c, mask, firsts)):
        first, second = firsts[i], mask & ~firsts[i]
        ours = rows.pool[row_of(rows, armies, c, NONE, first, due_within(rows, due, first, second))]
        theirs = rows.pool[
            row_of(rows, armies, v, NONE, second, due_within(rows, due, second, first))
        ]
        for m in range(fewest if second else most, (most if first else fewest) + 1):
            x, y = ours[m], theirs[stay - m]
            value = times * x * y + plus * (x + y)
            if value > top + 1e-15:
                top = value
                best[0], best[1], best[2] = m, first, second


@compiled
def paid_of(rows: Rows, left: Any, c: Any) -> Any:
    """Return what it pays to take c, where the rest of a set is then left."""
    paid = rows.paid[c]
    for i in range(rows.sets.shape[0]):
        if rows.sets[i] >> c & 1 and not rows.sets[i] & left:
            paid += rows.bonus[i]
    return paid


@compiled
def _shares_after(
    rows: Rows,
    dice: Dice,
    armies: Ints,
    mine: Any,
    left: Any,
    place: Any,
    parts: Ints,
    deep: Any,
) -> Any:
    """Return what a share still pays, repaired where its stacks cannot follow it any more.

    place: which of the shares it is.
    """
    if rows.terms[SUM]:
        keep_live(rows, armies, mine, left, parts)
        if deep:
            return grow(rows, armies, mine, left, dice.limits[GOAL], parts, OWN, STEPS)
        return gains_of(rows, armies, left, parts)
    goal = rows.sets[place]
    if not goal & left:
        parts[:] = 0
        return 0.0
    if not repair(rows, armies, mine, left, goal, parts):
        return 0.0
    value = chance_of(rows, armies, parts)
    if deep:
        value = climb(rows, armies, mine, left, goal, parts, value, STEPS)
    return value * rows.bonus[place]


@compiled
def _value_after(
    rows: Rows,
    dice: Dice,
    armies: Ints,
    mine: Any,
    parts: Ints,
    roll: Ints,
    losses: Ints,
    deep: Any,
    new: Ints,
    best: Ints,
) -> Any:
    """Return r + H after a roll, and write the advance into `losses` and the shares into `new`."""
    v, c, k = roll[0], roll[1], roll[2]
    shares, size = parts.shape
    able, held = armies[v], armies[c]
    stay, bit = able - losses[0], np.int64(1) << c
    is_won, is_sum = held <= losses[1], rows.terms[SUM] != 0.0
    left = dice.limits[FIELD] & ~mine
    losses[2] = 0
    paid = -rows.terms[ARMY] * losses[0]
    owned, ways, least, b = mine, 1, 0, 0
    moves = np.zeros(shares + 1, np.int64)
    if is_won:
        left &= ~bit
        owned = mine | bit
        gain = paid_of(rows, left, c)
        paid += gain
        b = stay - rows.land[GARRISON, v]
        least = min(k, b) if dice.rules[rows.land[RULE, c], OFFICIAL] else min(1, b)
        losses[2] = least
        if not left & dice.limits[GOAL] or (rows.terms[ONCE] and gain > 0.0):
            new[:] = 0
            return paid
        ways = 0
        for s in range(shares):
            mask = parts[s, v]
            if mask & bit and not (is_sum and mask == bit):
                _best_advance(rows, armies, left, v, c, mask ^ bit, b, least, b, best)
                moves[ways] = best[0]
                ways += 1
        if not ways:
            moves[0], moves[1] = b, least
            ways = 1 if b == least else 2
    top = -1.0
    for way in range(ways):
        m, share = moves[way], parts.copy()
        for s in range(shares if is_won else 0):
            if parts[s, v] & bit:
                _best_advance(rows, armies, left, v, c, parts[s, v] ^ bit, b, m, m, best)
                share[s, c], share[s, v] = best[1], best[2]
            elif is_sum and m == b:
                share[s, c], share[s, v] = reached(rows.land, c, parts[s, v]), 0
            for u in range(size):
                share[s, u] &= ~bit
        armies[v], armies[c] = stay - m, m if is_won else held - losses[1]
        value = 0.0
        for s in range(shares):
            value += _shares_after(rows, dice, armies, owned, left, s, share[s], deep)
        armies[v], armies[c] = able, held
        if value > top:
            top, losses[2] = value, m
            for s in range(shares):
                for u in range(size):
                    new[s * size + u] = share[s, u]
    return paid + top


@compiled
def _try_roll(
    rows: Rows,
    dice: Dice,
    armies: Ints,
    mine: Any,
    parts: Ints,
    roll: Ints,
    deep: Any,
    chances: Floats,
    results: Ints,
) -> tuple[Any, Any]:
    """Return Q of a roll and the number of its results, which are written."""
    v, c, k = roll[0], roll[1], roll[2]
    r, count, total = rows.land[RULE, c], 0, 0.0
    whole = dice.lost.shape[0] > 0
    j = min(armies[c], dice.rules[r, DEFENCE])
    place = np.full((k + 1, j + 1), -1)
    first, last = dice.throws[r, k, j, 0], dice.throws[r, k, j, 0] + dice.throws[r, k, j, 1]
    if whole:
        i, able = rows.table[c, armies[c]], armies[v] - rows.land[GARRISON, v]
        for left in range(-armies[c], able + 1):
            p = rows.won[i, able, left] if left > 0 else dice.lost[i, able, -left]
            if p > 0.0 and left:
                chances[count, 0] = p
                results[count, 0] = able - max(left, 0)
                results[count, 1] = armies[c] + min(left, 0)
                count += 1
    else:
        for x in range(first, last):
            first_reply, replies = int(dice.weights[x, 1]), int(dice.weights[x, 2])
            for y in range(first_reply, first_reply + replies):
                compared = int(dice.answers[y, 0])
                for killed in range(compared + 1):
                    if dice.answers[y, 1 + killed] > 0.0 and place[compared, killed] < 0:
                        place[compared, killed] = count
                        chances[count, 0] = 0.0
                        results[count, 0], results[count, 1] = compared - killed, killed
                        count += 1
    best = np.empty(3, np.int64)
    for n in range(count):
        chances[n, 1] = _value_after(
            rows, dice, armies, mine, parts, roll, results[n, :3], deep, results[n, 3:], best
        )
        total += chances[n, 0] * chances[n, 1]
    if whole:
        return total, count
    for x in range(first, last):  # the defender gives the answer that is worst for the plan
        least, answer = np.inf, 0
        first_reply, replies = int(dice.weights[x, 1]), int(dice.weights[x, 2])
        for y in range(first_reply, first_reply + replies):
            mean = 0.0
            for killed in range(int(dice.answers[y, 0]) + 1):
                p = dice.answers[y, 1 + killed]
                if p > 0.0:
                    mean += p * chances[place[int(dice.answers[y, 0]), killed], 1]
            if mean < least:
                least, answer = mean, y
        total += dice.weights[x, 0] * least
        for killed in range(int(dice.answers[answer, 0]) + 1):
            p = dice.answers[answer, 1 + killed]
            if p > 0.0:
                n = place[int(dice.answers[answer, 0]), killed]
                chances[n, 0] += dice.weights[x, 0] * p
    return total, count


@compiled
def _most_dice(rows: Rows, dice: Dice, armies: Ints, v: Any, c: Any) -> Any:
    """Return the most dice that v may roll at c so that no result can break its garrison."""
    r = rows.land[RULE, c]
    spare = armies[v] - rows.land[GARRISON, v]
    k = min(armies[v] - dice.limits[FREE], dice.rules[r, ATTACK])
    while k > 0:
        worst = min(k, min(armies[c], dice.rules[r, DEFENCE]))
        moved = k if dice.rules[r, OFFICIAL] else 1
        if worst <= spare and (armies[c] > worst or moved <= spare):
            return k
        k -= 1
    return 0


@compiled
def decide(rows: Rows, dice: Dice, memory: Memory, armies: Ints, mine: Any, parts: Ints) -> Any:
    """Return the record of a state; if the state is new, its best roll is chosen."""
    key, last = np.uint64(0), memory.salt.shape[1] - 1
    for t in range(armies.shape[0]):
        key ^= memory.salt[t, armies[t]]
        if mine >> t & 1:
            key ^= memory.salt[t, last]
    slot = slot_of(memory.keys, key)
    if memory.keys[slot]:
        return memory.places[slot]
    record, results = memory.used[0], memory.used[1]
    memory.keys[slot], memory.places[slot] = key, record
    most = 6
    if dice.lost.shape[0]:
        most = dice.lost.shape[1] + dice.lost.shape[2]
    chances = np.empty((most, 2))
    found = np.empty((most, 3 + parts.size), np.int64)
    rolls, values = np.zeros((MOST_PAIRS, 3), np.int64), np.full(MOST_PAIRS, -np.inf)
    left, count = dice.limits[FIELD] & ~mine, 0
    stacks = live_stacks(rows, armies, mine, left)
    while stacks:
        v = bit_index(stacks & -stacks)
        stacks &= stacks - 1
        near = rows.land[OUT, v] & left
        while near and count < MOST_PAIRS:
            c = bit_index(near & -near)
            near &= near - 1
            rolls[count, 0], rolls[count, 1] = v, c
            rolls[count, 2] = _most_dice(rows, dice, armies, v, c)
            count += rolls[count, 2] > 0
    memory.used[0] += 1
    memory.values[record] = 0.0
    memory.records[record] = 0
    memory.best[record] = 0
    for i in range(count):
        values[i], _ = _try_roll(rows, dice, armies, mine, parts, rolls[i], QUICKLY, chances, found)
        # Of equally good battles the one that is begun goes on; those of the share come next,
        # and then those of large stacks, which can be of more help.
        if armies[rolls[i, 1]] < dice.start[rolls[i, 1]]:
            values[i] *= 1.0 + SAME
        is_shared = False
        for s in range(parts.shape[0]):
            is_shared |= parts[s, rolls[i, 0]] >> rolls[i, 1] & 1 > 0
        if not is_shared:
            values[i] *= 1.0 - SAME * (1.0 + 1.0 / armies[rolls[i, 0]])
    # The best ones again, with fewer dice too, and the share improved after each result.
    for i in range(min(DEEP, count)):
        place: Any = np.argmax(values)
        if values[place] == -np.inf:
            break
        values[place] = -np.inf
        r, k = rows.land[RULE, rolls[place, 1]], rolls[place, 2]
        fewest = 1 if dice.rules[r, OFFICIAL] and not dice.lost.shape[0] else k
        while k >= fewest:
            rolls[place, 2] = k
            value, n = _try_roll(
                rows, dice, armies, mine, parts, rolls[place], DEEPLY, chances, found
            )
            if value > memory.values[record, i] * (1.0 + SAME):
                memory.values[record, i] = value
                # Loops are compiled much faster than assignments to a part of an array.
                for j in range(3):
                    memory.records[record, i, j] = rolls[place, j]
                memory.records[record, i, 3], memory.records[record, i, 4] = results, n
                for j in range(n):
                    for x in range(2):
                        memory.chances[results + j, x] = chances[j, x]
                    for x in range(found.shape[1]):
                        memory.results[results + j, x] = found[j, x]
            k -= 1
        results += memory.records[record, i, 4]
        if memory.values[record, i] > memory.values[record, memory.best[record]] * (1.0 + SAME):
            memory.best[record] = i
    memory.used[1] = results
    return record
