"""A simple search that plans are measured against: one step of lookahead after every roll.

A share gives each territory to take, and what lies on the way, to one stack. A stack of n armies
able to attack takes its part if what that costs, one army left behind on each territory included,
is at most n; the cost is taken to be normal, with the mean and the variance that taking c costs a
stack that never runs out. So a share has the chance Π Φ((n + ½ − mean) / deviation). Shares are
found greedily, the territories in random orders. Before each roll the search tries all first
attacks of the share, and rolls the one with the best expected chance of the best share afterwards.

Its chance is estimated by games with real dice, classic rules and the official advance.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from iacta.board import Position
from iacta.rules.roll import loss_counts
from iacta.rules.rules import CLASSIC

__all__ = ["Searched", "simple_search"]

MOST_DEFENDERS = 64
ORDERS = 6  # greedy shares after a conquest
FEW_ORDERS = 2  # the same after any other roll


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


STEPS = _rolls()
COSTS = _costs(STEPS)


@njit(cache=True)
def _log_chance(able: float, mean: float, variance: float) -> float:
    if mean == 0.0:
        return 0.0
    z = (able + 0.5 - mean) / math.sqrt(variance + 0.05)
    return math.log(max(0.5 * math.erfc(-z / math.sqrt(2.0)), 1e-300))


@njit(cache=True)
def _greedy(armies: Any, owned: Any, goal: Any, near: Any, costs: Any, part: Any) -> float:
    """Fill `part` with the stack that takes each territory, and return the log of the chance."""
    count = len(armies)
    part[:] = -1
    mean, variance = np.zeros(count), np.zeros(count)
    distance, before = np.empty((count, count)), np.empty((count, count), np.int64)
    order = np.random.permutation(count)
    for _ in range(count):
        # The next territory of the order that is still to be taken.
        t = -1
        for x in order:
            if goal[x] and not owned[x] and part[x] < 0:
                t = x
                break
        if t < 0:
            break
        best, chosen = -np.inf, -1
        for v in range(count):
            if not owned[v] or armies[v] < 2:
                continue
            # The cheapest way to it from the stack, or from what the stack takes anyway.
            far, done = distance[v], np.zeros(count, np.bool_)
            far[:] = np.inf
            for x in range(count):
                if x == v or part[x] == v:
                    far[x], before[v, x] = 0.0, -1
            while True:
                u, least = -1, np.inf
                for x in range(count):
                    if not done[x] and far[x] < least:
                        u, least = x, far[x]
                if u < 0 or u == t:
                    break
                done[u] = True
                for c in near[u]:
                    if c < 0:
                        break
                    if not owned[c] and part[c] < 0:
                        through = least + costs[0, armies[c]] + 1.0
                        if through < far[c]:
                            far[c], before[v, c] = through, u
            if far[t] == np.inf:
                continue
            able = armies[v] - 1.0
            more = 0.0
            x = t
            while before[v, x] >= 0:
                more += costs[1, armies[x]]
                x = before[v, x]
            gain = _log_chance(able, mean[v] + far[t], variance[v] + more) - _log_chance(
                able, mean[v], variance[v]
            )
            if gain > best:
                best, chosen = gain, v
        if chosen < 0:
            return -np.inf
        x = t
        while before[chosen, x] >= 0:
            part[x] = chosen
            mean[chosen] += costs[0, armies[x]] + 1.0
            variance[chosen] += costs[1, armies[x]]
            x = before[chosen, x]
    return _worth(armies, owned, costs, part)


@njit(cache=True)
def _worth(armies: Any, owned: Any, costs: Any, part: Any) -> float:
    """Return the log of the chance of a share."""
    count = len(armies)
    mean, variance = np.zeros(count), np.zeros(count)
    for x in range(count):
        if part[x] >= 0 and not owned[x]:
            mean[part[x]] += costs[0, armies[x]] + 1.0
            variance[part[x]] += costs[1, armies[x]]
    total = 0.0
    for v in range(count):
        total += _log_chance(armies[v] - 1.0, mean[v], variance[v])
    return total


@njit(cache=True)
def _share(
    armies: Any, owned: Any, goal: Any, near: Any, costs: Any, part: Any, tries: int
) -> float:
    """Improve `part` by some greedy shares, and return the log of its chance."""
    best, other = _worth(armies, owned, costs, part) if tries < ORDERS else -np.inf, part.copy()
    for _ in range(tries):
        value = _greedy(armies, owned, goal, near, costs, other)
        if value > best:
            best = value
            part[:] = other
    return best


@njit(cache=True)
def _conquer(
    armies: Any, owned: Any, goal: Any, near: Any, costs: Any, part: Any, v: int, c: int, dice: int
) -> float:
    """Move in with the best number of armies; return the chance of the best share then."""
    total, best, chosen = armies[v], -np.inf, dice
    found, trial = part.copy(), part.copy()
    owned[c] = True
    step = max(1, (total - 1 - dice) // 6)
    m = dice
    while m <= total - 1:
        armies[v], armies[c] = total - m, m
        value = _share(armies, owned, goal, near, costs, trial, ORDERS)
        if value > best:
            best, chosen = value, m
            found[:] = trial
        m = total - 1 if m < total - 1 < m + step else m + step
    armies[v], armies[c] = total - chosen, chosen
    part[:] = found
    return best


@njit(cache=True)
def _game(armies: Any, owned: Any, goal: Any, near: Any, steps: Any, costs: Any, part: Any) -> bool:
    """Play one game to its end, and return whether the goal is reached."""
    trial = part.copy()
    while True:
        if not np.any(goal & ~owned):
            return True
        if _share(armies, owned, goal, near, costs, part, FEW_ORDERS) == -np.inf:
            return False
        best, start, to = -1.0, -1, -1
        for v in range(len(armies)):
            if not owned[v] or armies[v] < 2:
                continue
            i = min(armies[v] - 1, 3)
            for c in near[v]:
                if c < 0:
                    break
                if owned[c] or part[c] != v:
                    continue
                j = min(armies[c], 2)
                expected, lost = 0.0, min(i, j)
                for k in range(lost + 1):
                    armies[v] -= lost - k
                    armies[c] -= k
                    owned[c] = armies[c] == 0
                    trial[:] = part
                    if owned[c]:
                        armies[v] -= 1
                        value = _worth(armies, owned, costs, trial)
                        armies[v] += 1
                    else:
                        value = _share(armies, owned, goal, near, costs, trial, 1)
                    expected += steps[i, j, k] * math.exp(value)
                    owned[c] = False
                    armies[v] += lost - k
                    armies[c] += k
                if expected > best:
                    best, start, to = expected, v, c
        if start < 0:
            return False
        i, j = min(armies[start] - 1, 3), min(armies[to], 2)
        drawn, killed = np.random.random(), 0
        while killed < min(i, j) and drawn >= steps[i, j, killed]:
            drawn -= steps[i, j, killed]
            killed += 1
        armies[start] -= min(i, j) - killed
        armies[to] -= killed
        if not armies[to]:
            _conquer(armies, owned, goal, near, costs, part, start, to, i)


@njit(cache=True)
def _games(
    armies: Any, owned: Any, goal: Any, near: Any, steps: Any, costs: Any, games: int, seed: int
) -> int:
    np.random.seed(seed)
    part = np.full(len(armies), -1)
    first = _share(armies, owned, goal, near, costs, part, 40 * ORDERS)
    if first == -np.inf:
        return 0
    won = 0
    for _ in range(games):
        won += _game(armies.copy(), owned.copy(), goal, near, steps, costs, part.copy())
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
    won = _games(armies, owned, goal, near, STEPS, COSTS, games, seed)
    chance = won / games
    return Searched(chance, math.sqrt(max(chance * (1 - chance), 1 / games) / games), games)
