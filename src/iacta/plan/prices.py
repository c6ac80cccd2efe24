"""Bounds on the worth of any legal play, from prices of defenders.

Give each territory c that may be attacked a price φ_c(d) ≥ 0 for each number d of its defenders,
φ_c(0) = 0, and split what each set pays among its territories, so that c pays ρ_c in all. Whoever
attacks c with d defenders pays φ_c(d), and gets back φ_c(d − x2) when x2 of them are left dead. At
these prices each stack plays for itself. With Ψ_v(n) ≥ 0 for n armies that may be lost or move on
from v, a for what a lost army costs, k_c for what must remain on c, and the losses x1 and x2 of a
roll with the chance p,

    Ψ_v(n) = max over c, d and rolls of
             −φ_c(d) + Σ_{x2<d} p · (Ψ_v(n − x1) + φ_c(d − x2) − a · x1)
                     + Σ_{x2=d} p · (ρ_c + max over advances m of
                                     Ψ_v(n − x1 − m) + Ψ_c(m − k_c) − a · x1).

Where the defender replies to a throw, he takes the least. Then

    worth of any play ≤ Σ_c φ_c(d_c) + Σ_v Ψ_v(n_v),      for any prices and any split.

Proof: let Φ be the right side in a state of the true game, summed over the territories c that are
not taken, and the player's v. By the equation no roll makes Φ, with what c pays, greater on average
than it is, and Φ ≥ 0 at the end. The territories of a set pay at least what it pays. It is the
approximate linear program of Adelman & Mersereau (Operations Research 56, 2008); the prices are the
multipliers of the constraint that no defender is killed more often than once, on average.

**Memory.** The armies on v may know which neighbours of v their own stack has taken, as far as that
is told by the way they came and by what was taken from v. They do not attack these again. So there
is a Ψ for each v and each set of neighbours that are known to be taken; the proof is the same.

**Chances.** A part of what a set pays may be left out of the split, if it is added to the bound
times a bound on the chance to take all of the set.

The bound is convex in the prices and the split. Its slope at a price is 1, where it counts at the
start, minus how often that price is paid on average, plus how often it is got back: one backward
pass finds Ψ, one forward pass the slopes. Steps against the slopes make it smaller; they are as
long as those of Polyak (1969), with a target below the best bound so far. It is true at every step.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.methods.kernel import Choice
from iacta.plan.compiled import IS_COMPILED, clock, compiled
from iacta.plan.goals import Rewards
from iacta.plan.problem import Problem, bits, union

__all__ = ["price_bounds"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

HUGE = 1e18
SAME = 1e-14
ROUNDING = 1e-11
MOST_SWEEPS = 300
MOST_REMEMBERED = 6  # neighbours of a territory
MOST_WORK = 10**7 if IS_COMPILED else 10**5  # for one backward pass
MOST_RESULTS = 10**6
MOST_ROLLS = 1_000
# Without and with memory: rounds of a moderate search, and how far the targets are.
STAGES = (
    (False, 600 if IS_COMPILED else 10, (0.3, 1e-3)),
    (True, 300 if IS_COMPILED else 0, (0.03, 1e-4)),
)
FEWEST_ROUNDS, MODERATE_WORK = 10, 2 * 10**9
MOST_BOUNDED = 200  # targets of which each is given a bound of its own
PATIENCE, SHRINK = 25, 0.6
MOST_ROUNDS = 10**5
MEMORY, STEP = 0.6, 0.7  # how much of the slopes before is kept; part of Polyak's step


class Tables(NamedTuple):
    """The stacks' games as arrays.

    A node is a territory, and what is known to be taken of its neighbours. An attack belongs to a
    node. Values of a node are for 0, 1, 2 ... armies that may be lost or move on.
    """

    most: Ints  # armies of each node
    values: Ints  # of each node, the place of its first value
    attack_first: Ints  # of each node
    target: Ints  # of each attack
    stay: Ints  # the node of the armies that stay, if it conquers
    move: Ints  # the node of those that advance
    remain: Ints  # how many of those must remain there
    row: Ints  # of the rolls
    splits: Ints  # of each attack, the place of its first best advance
    defenders: Ints  # of each target
    prices: Ints  # of each target, the place of its φ(0)
    roll_first: Ints  # [row, able, defenders]
    rolls: Ints  # by number
    least: Ints  # of each roll by number, how many must advance
    throw_first: Ints
    throw_chance: Floats
    option_first: Ints
    result_first: Ints
    result_chance: Floats
    result_attackers: Ints
    result_defenders: Ints
    advance: int  # the most that must advance
    is_free: bool  # whether nothing need remain on some target
    army: float


@compiled
def _least_option(
    t: Tables, throw: Any, worth: Floats, psi: Floats, prices: Floats, at: Any, n: Any, d: Any
) -> int:
    """Return the defender's best reply to a throw.

    worth: what a conquest is worth with 0, 1, 2 ... armies left.
    psi, prices: all values and prices.
    at: where those of the attacker and of the target begin.
    """
    best, least = t.option_first[throw], HUGE
    if t.option_first[throw + 1] == best + 1:
        return int(best)
    for option in range(t.option_first[throw], t.option_first[throw + 1]):
        mean = 0.0
        for e in range(t.result_first[option], t.result_first[option + 1]):
            x1, x2 = t.result_attackers[e], t.result_defenders[e]
            follows = worth[n - x1] if x2 == d else psi[at[0] + n - x1] + prices[at[1] + d - x2]
            mean += t.result_chance[e] * (follows - t.army * x1)
        if mean < least:
            best, least = option, mean
    return int(best)


@compiled
def _solve(
    t: Tables, prices: Floats, paid: Floats, psi: Floats, acts: Ints, best: Floats, advances: Ints
) -> bool:
    """Fill in all values, and return whether they are found.

    psi: filled with the values.
    acts: for each value the attack, the defenders and the roll that are best; attack -1 for none.
    best: for each attack, number of armies and least advance, the best of all advances.
    advances: that advance.
    """
    kinds = t.advance
    worth = np.zeros(t.most.max() + 1)
    psi[:] = 0.0
    acts[:] = -1
    best[:] = 0.0
    for n in range(1, t.most.max() + 1):
        for sweep in range(MOST_SWEEPS + 1):
            if sweep == MOST_SWEEPS:
                return False
            change = 0.0
            for v in range(len(t.most)):
                if n > t.most[v]:
                    continue
                place, found = t.values[v], psi[t.values[v] + n]
                for a in range(t.attack_first[v], t.attack_first[v + 1]):
                    c, stay, move = t.target[a], t.values[t.stay[a]], t.values[t.move[a]]
                    remain, split = t.remain[a], t.splits[a]
                    most, which = -1.0, 0
                    for m in range(n, 0, -1):
                        sum_ = psi[stay + n - m]
                        if m > remain:
                            sum_ += psi[move + m - remain]
                        if sum_ > most:
                            most, which = sum_, m
                        if m <= kinds:
                            best[split + n * kinds + m - 1] = most
                            advances[split + n * kinds + m - 1] = which
                    for k in range(n, kinds):  # fewer are left than must advance
                        best[split + n * kinds + k] = best[split + n * kinds + n - 1]
                        advances[split + n * kinds + k] = n
                    for d in range(1, t.defenders[c] + 1):
                        price = t.prices[c] + d
                        for h in range(
                            t.roll_first[t.row[a], n, d], t.roll_first[t.row[a], n, d + 1]
                        ):
                            roll = t.rolls[h]
                            column = split + t.least[roll] - 1
                            value, again = -prices[price], 0.0
                            for throw in range(t.throw_first[roll], t.throw_first[roll + 1]):
                                first = t.option_first[throw]
                                if t.option_first[throw + 1] > first + 1:
                                    for x in range(n + 1):
                                        worth[x] = paid[c] + best[column + x * kinds]
                                    psi[place + n] = found
                                    first = _least_option(
                                        t, throw, worth, psi, prices, (place, t.prices[c]), n, d
                                    )
                                for e in range(t.result_first[first], t.result_first[first + 1]):
                                    x1, x2 = t.result_attackers[e], t.result_defenders[e]
                                    chance = t.throw_chance[throw] * t.result_chance[e]
                                    if x2 == d:
                                        follows = paid[c] + best[column + (n - x1) * kinds]
                                    elif x1 == 0:
                                        follows = prices[price - x2]
                                        again += chance
                                    else:
                                        follows = psi[place + n - x1] + prices[price - x2]
                                    value += chance * (follows - t.army * x1)
                            if value <= 0.0:
                                continue
                            if again > 1.0 - 1e-9:
                                return False
                            value /= 1.0 - again
                            if value > found:
                                acts[place + n, 0], acts[place + n, 1] = a, d
                                acts[place + n, 2] = roll
                                change = max(change, value - found)
                                found = value
                psi[place + n] = found
            if not t.is_free or change <= SAME:
                break
    return True


@compiled
def _slopes(
    t: Tables,
    prices: Floats,
    paid: Floats,
    psi: Floats,
    acts: Ints,
    best: Floats,
    advances: Ints,
    weights: Floats,
    by_price: Floats,
    by_paid: Floats,
) -> None:
    """Add what happens on average if each value is used as often as its weight says.

    by_price: how often each price is got back, minus how often it is paid.
    by_paid: how often each target is conquered.
    """
    kinds = t.advance
    worth = np.zeros(t.most.max() + 1)
    for n in range(t.most.max(), 0, -1):
        for _ in range(MOST_SWEEPS):
            pending = 0.0
            for v in range(len(t.most)):
                if n > t.most[v]:
                    continue
                place = t.values[v]
                weight, a = weights[place + n], acts[place + n, 0]
                weights[place + n] = 0.0
                if weight <= 0.0 or a < 0:
                    continue
                d, roll, c = acts[place + n, 1], acts[place + n, 2], t.target[a]
                column, price = t.splits[a] + t.least[roll] - 1, t.prices[c] + d
                for x in range(n + 1):
                    worth[x] = paid[c] + best[column + x * kinds]
                again = 0.0
                for is_last in range(2):
                    if is_last:
                        weight /= 1.0 - again
                        by_price[price] -= weight
                    for throw in range(t.throw_first[roll], t.throw_first[roll + 1]):
                        option = _least_option(
                            t, throw, worth, psi, prices, (place, t.prices[c]), n, d
                        )
                        for e in range(t.result_first[option], t.result_first[option + 1]):
                            x1, x2 = t.result_attackers[e], t.result_defenders[e]
                            chance = t.throw_chance[throw] * t.result_chance[e]
                            if not is_last:
                                again += chance if x1 == 0 and x2 < d else 0.0
                            elif x2 < d:
                                by_price[price - x2] += weight * chance
                                if x1 > 0:
                                    weights[place + n - x1] += weight * chance
                            else:
                                by_paid[c] += weight * chance
                                left = n - x1
                                m = advances[column + left * kinds] if left else 0
                                if m < left:
                                    weights[t.values[t.stay[a]] + left - m] += weight * chance
                                if m > t.remain[a]:
                                    weights[t.values[t.move[a]] + m - t.remain[a]] += (
                                        weight * chance
                                    )
                                    if m - t.remain[a] == n:
                                        pending += weight * chance
            if pending < 1e-6:
                break


class _Game:
    """The stacks' games, at any prices.

    problem: the problem.
    field: what may be attacked.
    army: what a lost army costs.
    memory: whether armies know which of their neighbours are taken.
    """

    def __init__(self, problem: Problem, field: int, army: float, *, memory: bool) -> None:
        self.problem, self.field = problem, field
        self.targets = list(bits(field))
        self._remembered = [
            union(1 << c for c in list(bits(out & field))[:MOST_REMEMBERED]) if memory else 0
            for out in problem.borders.out
        ]
        self._nodes: dict[tuple[int, int], int] = {}
        self._most: list[int] = []
        self._find_nodes()
        self.tables = self._tables(army)
        t = self.tables
        size = int(t.values[-1] + t.most[-1] + 1)
        self.starts = [
            int(t.values[self._nodes[v, 0]] + t.most[self._nodes[v, 0]])
            for v, _ in problem.stacks()
        ]
        self._psi, self._acts = np.zeros(size), np.zeros((size, 3), np.int64)
        splits = int((t.most[self._owner] + 1).sum() * t.advance)
        self._best, self._advances = np.zeros(splits), np.zeros(splits, np.int64)
        self.whole = t.prices + t.defenders  # the prices that count at the start
        self.none = t.prices  # those of no defenders
        self.count = int(self.whole[-1] + 1)

    def _find_nodes(self) -> None:
        """Find all nodes, and the most armies that may come to each."""
        waiting: list[tuple[int, int, int]] = []
        for v, n in self.problem.stacks():
            waiting.append((v, 0, n - self.problem.garrisons[v]))
        work = 0
        while waiting:
            v, known, most = waiting.pop()
            node = self._nodes.setdefault((v, known), len(self._nodes))
            if node == len(self._most):
                self._most.append(0)
            if most <= self._most[node]:
                continue
            work += most * most * self.problem.borders.out[v].bit_count()
            if work > MOST_WORK:
                raise TooLargeError("stacks have too many ways for bounds from prices")
            self._most[node] = most
            for c in self._attacked(v, known):
                stay, move = self._after(v, known, c)
                waiting.append((*stay, most - 1))
                waiting.append((*move, most - self.problem.garrisons[c]))

    def _attacked(self, v: int, known: int) -> list[int]:
        return list(bits(self.problem.borders.out[v] & self.field & ~known))

    def _after(self, v: int, known: int, c: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the territory and what is known there, of the armies that stay and that move."""
        more = known | 1 << v
        return (v, (known | 1 << c) & self._remembered[v]), (c, more & self._remembered[c])

    def _tables(self, army: float) -> Tables:
        problem, most = self.problem, self._most
        place = {c: i for i, c in enumerate(self.targets)}
        first, attacks, rows = [0], [], dict[tuple[int, int], int]()
        self._owner: list[int] = []
        for (v, known), node in self._nodes.items():
            more = problem.garrisons[v] - problem.rules.garrison
            for c in self._attacked(v, known):
                stay, move = (self._nodes.get(each, node) for each in self._after(v, known, c))
                row = rows.setdefault((problem.kinds[c], more), len(rows))
                attacks.append((place[c], stay, move, problem.garrisons[c], row))
                self._owner.append(node)
            first.append(len(attacks))
        defenders = [problem.armies[c] for c in self.targets]
        choices, roll_first, rolls = self._rolls(rows, max(most), max(defenders))
        sizes = _ints([sum(len(o) for t in c.throws for o in t.options) for c in choices])
        sweeps = 1 if min(problem.garrisons[c] for c in self.targets) else 10
        self.work = sweeps * self._work(attacks, defenders, roll_first, sizes[rolls])
        throws = [throw for choice in choices for throw in choice.throws]
        options = [option for throw in throws for option in throw.options]
        results = [result for option in options for result in option]
        if len(results) > MOST_RESULTS:
            raise TooLargeError("battles have too many results for bounds from prices")
        advance = max(choice.least for choice in choices)
        lengths = [(most[node] + 1) * advance for node in self._owner]
        targets, stays, moves, remain, row_of = zip(*attacks, strict=True)
        return Tables(
            _ints(most),
            _starts([n + 1 for n in most]),
            _ints(first),
            _ints(targets),
            _ints(stays),
            _ints(moves),
            _ints(remain),
            _ints(row_of),
            _starts(lengths),
            _ints(defenders),
            _starts([d + 1 for d in defenders]),
            roll_first,
            rolls,
            _ints([choice.least for choice in choices]),
            _ints(np.cumsum([0, *(len(choice.throws) for choice in choices)])),
            np.array([throw.chance for throw in throws]),
            _ints(np.cumsum([0, *(len(throw.options) for throw in throws)])),
            _ints(np.cumsum([0, *map(len, options)])),
            np.array([result.chance for result in results]),
            _ints([result.attackers for result in results]),
            _ints([result.defenders for result in results]),
            advance,
            min(remain) == 0,
            army,
        )

    def _rolls(
        self, rows: dict[tuple[int, int], int], most: int, defenders: int
    ) -> tuple[list[Choice], Ints, Ints]:
        """Return all rolls, and the first one of each row, number able and number of defenders."""
        numbers: dict[Choice, int] = {}
        first = np.zeros((len(rows), most + 1, defenders + 2), np.int64)
        if first.size > MOST_RESULTS:
            raise TooLargeError("battles have too many results for bounds from prices")
        rolls: list[int] = []
        for (kind, more), row in rows.items():
            for n in range(1, most + 1):
                if len(rolls) * n > MOST_RESULTS and len(numbers) > MOST_ROLLS:  # whole battles
                    raise TooLargeError("battles are too large for bounds from prices")
                for d in range(1, defenders + 1):
                    first[row, n, d] = len(rolls)
                    choices = self.problem.kernels[kind].rolls(n + more, d, n)
                    rolls += [numbers.setdefault(each, len(numbers)) for each in choices]
                    first[row, n, d + 1] = len(rolls)
        return list(numbers), first, _ints(rolls)

    def _work(
        self,
        attacks: list[tuple[int, int, int, int, int]],
        defenders: list[int],
        roll_first: Ints,
        sizes: Ints,
    ) -> int:
        """Return how many results of rolls a backward pass looks at."""
        before = np.concatenate([[0], np.cumsum(sizes)])
        each = np.diff(before[roll_first], axis=2, append=0)
        each[:, :, -1] = 0
        each[:, 0] = 0
        upto = each.cumsum(1).cumsum(2)
        return sum(
            int(upto[attack[4], self._most[node], defenders[attack[0]]])
            for attack, node in zip(attacks, self._owner, strict=True)
        )

    def value(self, prices: Floats, paid: Floats) -> tuple[float, Floats, Floats]:
        """Return a bound, its slope at each price, and at what each target pays."""
        t = self.tables
        own = self._psi, self._acts, self._best, self._advances
        if not _solve(t, prices, paid, *own):
            return HUGE, np.zeros(len(prices)), np.zeros(len(paid))
        value = float(prices[self.whole].sum() + self._psi[self.starts].sum())
        weights = np.zeros(len(self._psi))
        weights[self.starts] = 1.0
        by_price, by_paid = np.zeros(len(prices)), np.zeros(len(paid))
        _slopes(t, prices, paid, *own, weights, by_price, by_paid)
        by_price[self.whole] += 1.0
        by_price[self.none] = 0.0
        return value, by_price, by_paid


def _ints(numbers: npt.ArrayLike) -> Ints:
    return np.array(numbers, np.int64)


def _starts(lengths: list[int]) -> Ints:
    return _ints(np.cumsum([0, *lengths[:-1]]))


class _Point(NamedTuple):
    """Prices, what each target pays by itself, and how what each set pays is split.

    The last part of each split is left out.
    """

    prices: Floats
    lands: Floats
    splits: tuple[Floats, ...]


class _Descent:
    """Steps to smaller and smaller bounds.

    rewards: what is paid.
    chance: a bound on the chance to take all of a set.
    """

    def __init__(
        self, targets: list[int], defenders: Ints, rewards: Rewards, chance: Callable[[int], float]
    ) -> None:
        place = {c: i for i, c in enumerate(targets)}
        sets = [(mask, paid) for mask, paid in rewards.continents if paid > 0]
        own = rewards.territories or (0.0,) * (targets[-1] + 1)
        self.lands = np.array([own[c] for c in targets])
        self.land_chances = np.array([chance(1 << c) if own[c] else 1.0 for c in targets])
        self.paid = [paid for _, paid in sets]
        self.members = [_ints([place[c] for c in bits(mask)]) for mask, _ in sets]
        self.chances = [chance(mask) for mask, _ in sets]
        splits = tuple(
            np.array([*(paid / len(each) for _ in each), 0.0])
            for paid, each in zip(self.paid, self.members, strict=True)
        )
        prices = np.zeros(int((defenders + 1).sum()))
        point = _Point(prices, self.lands, splits)
        for first, d, paid in zip(
            _starts((defenders + 1).tolist()), defenders, self._paid(point), strict=True
        ):
            prices[first + 1 : first + d + 1] = paid
        self.best_point, self.best = point, HUGE

    @property
    def crude(self) -> float:
        """The bound when everything is left out of the split."""
        sets = sum(p * chance for p, chance in zip(self.paid, self.chances, strict=True))
        return float(self.lands @ self.land_chances) + sets

    def _paid(self, point: _Point) -> Floats:
        """Return what each target pays."""
        paid = point.lands.copy()
        for each, split in zip(self.members, point.splits, strict=True):
            paid[each] += split[:-1]
        return paid

    def _value(self, game: _Game, point: _Point) -> tuple[float, _Point]:
        """Return the bound at a point, and its slopes."""
        value, by_price, by_paid = game.value(point.prices, self._paid(point))
        slopes = tuple(
            np.append(by_paid[each], chance)
            for each, chance in zip(self.members, self.chances, strict=True)
        )
        value += float((self.lands - point.lands) @ self.land_chances)
        for split, chance in zip(point.splits, self.chances, strict=True):
            value += float(split[-1]) * chance
        return value, _Point(by_price, 0.5 * (by_paid - self.land_chances), slopes)

    def run(
        self,
        game: _Game,
        rounds: int,
        late: Callable[[], bool],
        targets: tuple[float, float],
    ) -> None:
        """Step until the target is near, the rounds are over, or it is late.

        targets: how far below the best bound the target is at first, and at last, as parts of it.
        """
        point, way, target, waited = self.best_point, None, 0.0, 0
        for _ in range(rounds):
            if late() or 0.0 < target < targets[1] * self.best:
                return
            value, slopes = self._value(game, point)
            if value < self.best:
                waited = 0 if value < self.best - 0.1 * target else waited
                self.best, self.best_point = value, point
            if self.best >= HUGE:
                point = point._replace(prices=2.0 * point.prices)
                continue
            target, waited = target or targets[0] * self.best, waited + 1
            if waited > PATIENCE or value >= HUGE:
                point, way, target, waited = self.best_point, None, SHRINK * target, 0
                continue
            way = slopes if way is None else _mixed(way, slopes)
            length = float(way.prices @ way.prices) + 2.0 * float(way.lands @ way.lands)
            for each in way.splits:
                length += float(each @ each) - float(each.sum()) ** 2 / len(each)
            if not length > 0.0:
                return
            step = STEP * (value - self.best + target) / length
            prices = np.maximum(point.prices - step * way.prices, 0.0)
            prices[game.none] = 0.0
            lands = np.minimum(np.maximum(point.lands - step * way.lands, 0.0), self.lands)
            splits = tuple(
                _on_simplex(split - step * each, paid)
                for split, each, paid in zip(point.splits, way.splits, self.paid, strict=True)
            )
            point = _Point(prices, lands, splits)


def _mixed(before: _Point, now: _Point) -> _Point:
    """Return slopes that keep some of those before."""
    return _Point(
        MEMORY * before.prices + (1.0 - MEMORY) * now.prices,
        MEMORY * before.lands + (1.0 - MEMORY) * now.lands,
        tuple(
            MEMORY * a + (1.0 - MEMORY) * b for a, b in zip(before.splits, now.splits, strict=True)
        ),
    )


def _on_simplex(numbers: Floats, total: float) -> Floats:
    """Return the nearest numbers of at least 0 with some sum."""
    order = np.sort(numbers)[::-1]
    excess = np.cumsum(order) - total
    last = np.flatnonzero(order * np.arange(1, len(order) + 1) > excess)[-1]
    found: Floats = np.maximum(numbers - excess[last] / (last + 1), 0.0)
    return found


def price_bounds(
    problem: Problem,
    field: int,
    rewards: Rewards,
    chance: Callable[[int], float],
    seconds: float | None = None,
) -> Iterator[float]:
    """Yield smaller and smaller bounds on the worth of any play.

    problem: the problem.
    field: what may be of use to attack.
    rewards: what the goal pays, by territories and sets.
    chance: a bound on the chance to take all of a set.
    seconds: how long the search may take; `None` for a moderate search, the same each time.
    """
    end = None if seconds is None else clock() + seconds

    def late() -> bool:
        return end is not None and clock() >= end

    targets = list(bits(field))
    if not targets or not problem.stacks():
        yield 0.0
        return
    defenders = _ints([problem.armies[c] for c in targets])

    def known(mask: int) -> float:
        return 1.0 if len(targets) > MOST_BOUNDED or late() else chance(mask)

    descent = _Descent(targets, defenders, rewards, known)
    best = descent.crude
    yield best
    if not best:
        return
    for memory, rounds, reach in STAGES:
        if late() or not rounds:
            return
        try:
            game = _Game(problem, field, rewards.army, memory=memory)
        except TooLargeError:
            return
        if seconds is None:
            rounds = max(min(rounds, MODERATE_WORK // game.work), FEWEST_ROUNDS)
        else:
            rounds = MOST_ROUNDS
        descent.run(game, rounds, late, reach)
        found = descent.best + ROUNDING * (1.0 + descent.best)
        if found < best:
            best = found
            yield best
