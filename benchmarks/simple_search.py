"""A simple search that plans are measured against: one step of lookahead after every roll.

A share gives each territory to take, and what lies on the way, to one stack. Its chance is the
product over the stacks: a stack takes its part one territory after the other and moves on with all
it has, which is exact for a chain; each dead end costs an army more. Shares are found greedily, the
territories in random orders, and in each the cheapest way counts: the mean of what taking c costs a
stack that never runs out. Before each roll the search tries all first attacks of the share, and
rolls the one with the best expected chance afterwards; now and then better shares are found.

Its chance is estimated by games with real dice, classic rules and the official advance.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit

from iacta.board import Position
from iacta.rules.roll import loss_counts
from iacta.rules.rules import CLASSIC

__all__ = ["Searched", "simple_search"]

MOST_DEFENDERS = 32
MOST_ARMIES = 80
ORDERS = 12  # greedy shares after a conquest
FEW_ORDERS = 4  # the same after any other roll
DEAD_END = 0.7  # armies that a dead end costs, as dice that conquer must advance

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return a function compiled for this machine."""
    fast: Any = njit(cache=True)(function)
    return cast("Function", fast)


class Searched(NamedTuple):
    """The chance that a simple search reaches a goal, and its standard error."""

    chance: float
    error: float
    games: int


def _rolls() -> Any:
    """Return the chances of 0, 1, 2 defenders lost, by attack dice, defence dice and losses."""
    steps = np.zeros((4, 3, 3))
    for i in (1, 2, 3):
        for j in (1, 2):
            found = loss_counts(i, j, CLASSIC)
            steps[i, j, : len(found.counts)] = [n / found.total for n in found.counts]
    return steps


def _costs(steps: Any) -> Any:
    """Return the mean and variance of the armies that d defenders cost a large stack."""
    mean, square = np.zeros(MOST_DEFENDERS), np.zeros(MOST_DEFENDERS)
    for d in range(1, MOST_DEFENDERS):
        j = min(d, 2)
        for k in range(j + 1):
            # If no defender falls, j armies do, and all begins again.
            if k:
                p, lost = steps[3, j, k] / (1 - steps[3, j, 0]), j - k
                mean[d] += p * (lost + mean[d - k])
        again = j * steps[3, j, 0] / (1 - steps[3, j, 0])
        for k in range(1, j + 1):
            p, lost = steps[3, j, k] / (1 - steps[3, j, 0]), j - k
            square[d] += p * (lost**2 + 2 * lost * mean[d - k] + square[d - k])
        rounds = steps[3, j, 0] / (1 - steps[3, j, 0]) ** 2 * j**2
        square[d] += rounds + again**2 + 2 * again * mean[d]
        mean[d] += again
    return np.stack([mean, square - mean**2])


def _battles(steps: Any) -> Any:
    """Return the chances that a of the attackers are left of n when d defenders fall: [d, n, a]."""
    won = np.zeros((MOST_DEFENDERS, MOST_ARMIES, MOST_ARMIES))
    won[0] = np.eye(MOST_ARMIES)
    for d in range(1, MOST_DEFENDERS):
        for n in range(1, MOST_ARMIES):
            i, j = min(n, 3), min(d, 2)
            lost = min(i, j)
            for k in range(lost + 1):
                won[d, n] += steps[i, j, k] * won[d - k, n - (lost - k)]
    return won


STEPS = _rolls()
COSTS = _costs(STEPS)
BATTLES = _battles(STEPS)


class _Field(NamedTuple):
    """What stays the same in all games: the goal, who is beside whom, and what battles do.

    goal: whether each territory is to be taken.
    near: the neighbours of each territory, and -1 after them.
    steps, costs, battles: as `_rolls`, `_costs` and `_battles` return them.
    """

    goal: Any
    near: Any
    steps: Any = STEPS
    costs: Any = COSTS
    battles: Any = BATTLES


@compiled
def _log_chance(able: float, mean: float, variance: float) -> float:
    if mean == 0.0:
        return 0.0
    z = (able + 0.5 - mean) / math.sqrt(variance + 0.05)
    return math.log(max(0.5 * math.erfc(-z / math.sqrt(2.0)), 1e-300))


@compiled
def _greedy(field: _Field, armies: Any, owned: Any, part: Any) -> float:
    """Fill `part` with the stack that takes each territory, and return its chance."""
    count = len(armies)
    part[:] = -1
    mean, variance = np.zeros(count), np.zeros(count)
    ways_on = np.zeros((count, count), np.bool_)  # whether a stack goes on from a territory
    distance, before = np.empty((count, count)), np.empty((count, count), np.int64)
    for t in np.random.permutation(count):
        if not field.goal[t] or owned[t] or part[t] >= 0:
            continue
        best, chosen = -np.inf, -1
        for v in range(count):
            if not owned[v] or armies[v] < 2:
                continue
            # The cheapest way to it from the stack, or from what the stack takes anyway.
            far, done = distance[v], np.zeros(count, np.bool_)
            far[:] = np.inf
            for x in range(count):
                if x == v or part[x] == v:
                    far[x], before[v, x] = DEAD_END * ways_on[v, x], -1
            while True:
                u, least = -1, np.inf
                for x in range(count):
                    if not done[x] and far[x] < least:
                        u, least = x, far[x]
                if u < 0 or u == t:
                    break
                done[u] = True
                for c in field.near[u]:
                    if c < 0:
                        break
                    if not owned[c] and part[c] < 0:
                        through = least + field.costs[0, armies[c]] + 1.0
                        if through < far[c]:
                            far[c], before[v, c] = through, u
            if far[t] == np.inf:
                continue
            more, x = 0.0, t
            while before[v, x] >= 0:
                more += field.costs[1, armies[x]]
                x = before[v, x]
            able = armies[v] - 1.0
            gain = _log_chance(able, mean[v] + far[t], variance[v] + more)
            gain -= _log_chance(able, mean[v], variance[v])
            if gain > best:
                best, chosen = gain, v
        if chosen < 0:
            return -1.0
        mean[chosen] += distance[chosen, t]
        x = t
        while before[chosen, x] >= 0:
            part[x] = chosen
            variance[chosen] += field.costs[1, armies[x]]
            x = before[chosen, x]
            ways_on[chosen, x] = True
    return _worth(field, armies, owned, part)


@compiled
def _row(field: _Field, armies: Any, owned: Any, part: Any, v: int, without: int, row: Any) -> int:
    """Fill `row[a]` with the chance that a able armies take the part of v; return its size.

    without: a territory that is taken already.
    """
    most = min(armies[v], MOST_ARMIES)
    seen, waiting = np.zeros(len(armies), np.bool_), np.empty(len(armies), np.int64)
    waiting[0], first, after, ends = v, 0, 1, 0
    while first < after:
        u = waiting[first]
        first += 1
        here = after
        for c in field.near[u]:
            if c < 0:
                break
            if part[c] == v and not owned[c] and not seen[c]:
                seen[c] = True
                waiting[after] = c
                after += 1
        ends += here == after
    row[:most] = 1.0
    extra, other = max(ends - 1, 0), np.empty(most)
    for place in range(after - 1, 0, -1):
        c = waiting[place]
        if c == without:
            continue
        shift = 1 + (extra > 0)
        extra -= extra > 0
        for n in range(most):
            total = 0.0
            for left in range(shift, n + 1):
                total += field.battles[armies[c], n, left] * row[left - shift]
            other[n] = total
        row[:most] = other
    return after - 1


@compiled
def _worth(field: _Field, armies: Any, owned: Any, part: Any) -> float:
    """Return the chance of a share, or -1 if a stack does not come to all its part."""
    chance, taken, row = 1.0, 0, np.empty(MOST_ARMIES)
    for v in range(len(armies)):
        if owned[v] and np.any(part == v):
            taken += _row(field, armies, owned, part, v, -1, row)
            chance *= row[min(armies[v], MOST_ARMIES) - 1]
    for x in range(len(armies)):
        taken -= part[x] >= 0 and not owned[x]
    return chance if taken == 0 else -1.0


@compiled
def _improve(field: _Field, armies: Any, owned: Any, part: Any, tries: int) -> float:
    """Replace `part` by the best of some greedy shares if it is better; return its chance."""
    best, other = _worth(field, armies, owned, part), part.copy()
    for x in range(len(field.goal)):
        if field.goal[x] and not owned[x] and part[x] < 0:
            best = -1.0
    for _ in range(tries):
        value = _greedy(field, armies, owned, other)
        if value > best:
            best = value
            part[:] = other
    return best


@compiled
def _conquer(
    field: _Field, armies: Any, owned: Any, part: Any, v: int, c: int, least: int, tries: int
) -> float:
    """Move in with the best number of armies, and return the chance then."""
    total, best, chosen = armies[v], -2.0, least
    owned[c] = True
    # What was the stack's is that of the conquered territory, as far as it is reached from there.
    follows, found, trial = part.copy(), part.copy(), part.copy()
    follows[c] = -1
    follows[follows == v] = -2
    waiting, first, after = np.full(len(part), c), 0, 1
    while first < after:
        for x in field.near[waiting[first]]:
            if x < 0:
                break
            if follows[x] == -2 and not owned[x]:
                follows[x] = c
                waiting[after] = x
                after += 1
        first += 1
    follows[follows == -2] = v
    stays = follows.copy()
    for x in field.near[v]:
        if x >= 0 and follows[x] == c:
            stays[x] = v  # or what is next to the stack stays with it
    step = max(1, (total - 1 - least) // (6 if tries > 1 else 2))
    m = least
    while m <= total - 1:
        armies[v], armies[c] = total - m, m
        for kind in range(2):
            trial[:] = follows if kind else stays
            value = _improve(field, armies, owned, trial, tries * kind)
            if value > best:
                best, chosen = value, m
                found[:] = trial
        m = total - 1 if m < total - 1 < m + step else m + step
    armies[v], armies[c] = total - chosen, chosen
    part[:] = found
    return best


@compiled
def _expected(
    field: _Field, armies: Any, owned: Any, part: Any, v: int, c: int, i: int, now: float
) -> float:
    """Return the expected chance after a roll with i dice; `now` is that of the share."""
    j, expected, trial, row = min(armies[c], 2), 0.0, part.copy(), np.empty(MOST_ARMIES)
    ours, theirs = armies[v], armies[c]
    _row(field, armies, owned, part, v, -1, row)
    others = now / max(row[ours - 1], 1e-300)
    _row(field, armies, owned, part, v, c, row)
    for k in range(min(i, j) + 1):
        armies[v], armies[c] = ours - (min(i, j) - k), theirs - k
        if armies[c]:
            value = 0.0
            for left in range(1, armies[v]):
                value += field.battles[armies[c], armies[v] - 1, left] * row[left - 1]
            value *= others
        else:
            trial[:] = part
            value = _conquer(field, armies, owned, trial, v, c, i, 0)
            owned[c] = False
        expected += field.steps[i, j, k] * max(value, 0.0)
    armies[v], armies[c] = ours, theirs
    return expected


@compiled
def _game(field: _Field, armies: Any, owned: Any, part: Any) -> bool:
    """Play one game to its end, and return whether the goal is reached."""
    while np.any(field.goal & ~owned):
        now = _improve(field, armies, owned, part, FEW_ORDERS)
        best, start, to, dice = 1e-9, -1, -1, 0
        for v in range(len(armies)):
            if not owned[v] or armies[v] < 2:
                continue
            for c in field.near[v]:
                if c < 0:
                    break
                if owned[c] or part[c] != v:
                    continue
                most = min(armies[v] - 1, 3)
                for i in range(1 if armies[c] <= 2 else most, most + 1):
                    value = _expected(field, armies, owned, part, v, c, i, now)
                    if value > best:
                        best, start, to, dice = value, v, c, i
        if start < 0:
            return False
        j = min(armies[to], 2)
        drawn, killed = np.random.random(), 0
        while killed < min(dice, j) and drawn >= field.steps[dice, j, killed]:
            drawn -= field.steps[dice, j, killed]
            killed += 1
        armies[start] -= min(dice, j) - killed
        armies[to] -= killed
        if not armies[to]:
            _conquer(field, armies, owned, part, start, to, dice, ORDERS)
    return True


@compiled
def _games(field: _Field, armies: Any, owned: Any, games: int, seed: int) -> int:
    np.random.seed(seed)
    part = np.full(len(armies), -1)
    if _improve(field, armies, owned, part, 40 * ORDERS) <= 0.0:
        return 0
    won = 0
    for _ in range(games):
        won += _game(field, armies.copy(), owned.copy(), part.copy())
    return won


def simple_search(position: Position, targets: tuple[str, ...], games: int, seed: int) -> Searched:
    """Return how often a simple search takes all of some territories.

    position: who holds what; classic rules.
    targets: the names of the territories.
    games: how many games are played.
    seed: a whole number; the same seed throws the same dice.
    """
    names = position.board.territories
    armies = np.array([each.armies for each in position.holdings])
    owned = np.array([each.owner == position.player for each in position.holdings])
    ways: list[list[int]] = [[] for _ in names]
    for start, to in position.board.borders:
        ways[names.index(start)].append(names.index(to))
    near = np.full((len(names), max(map(len, ways)) + 1), -1)
    for row, others in zip(near, ways, strict=True):
        row[: len(others)] = others
    goal = np.array([name in targets for name in names])
    won = _games(_Field(goal, near), armies, owned, games, seed)
    chance = won / games
    return Searched(chance, math.sqrt(max(chance * (1 - chance), 1 / games) / games), games)
