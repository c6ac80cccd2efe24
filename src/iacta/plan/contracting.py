"""The search for a contraction (`iacta.plan.contracted`) whose value bounds a chance well.

A finer contraction has a smaller value and more states. So one wants items where a territory stands
in the way of stacks, and groups for the stacks that matter. Which those are is guessed from what
the cheapest ways to the goal cost, with and without a territory; a guess costs time, not truth.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import combinations, zip_longest

from iacta.errors import TooLargeError
from iacta.plan.compiled import IS_COMPILED, clock
from iacta.plan.contracted import (
    MOST_VALUES,
    ContractedGame,
    Contraction,
    able_of,
    reach_of,
    small_stacks,
)
from iacta.plan.problem import Problem, bits, union

__all__ = ["contracted_bounds"]

MOST_ITEMS = 12 if IS_COMPILED else 6
SECONDS_A_VALUE = 2.5e-7 if IS_COMPILED else 2e-4
ROUNDING = 1e-12
MODERATE_VALUES = 3_000_000 if IS_COMPILED else 10_000
MEASURED = 200_000 if IS_COMPILED else 500  # values that take so long that time can be told
LEAST_GAIN, RELATIVE_GAIN = 1e-4, 2e-3
MOST_LARGE, SMALL = 3, 4  # as many large stacks, with more than a fourth of the largest
FIRST_GOALS, FIRST_CHOKES = (8, 4) if IS_COMPILED else (3, 2)
CAPS = (2, 1), (4, 3), (8, 8)
FEW, ALL = 3, 10**6  # armies of small stacks that are one group
MOST_LIGHT = 24
MOST_EXTRAS = 10
KEPT, LOST = 0.7, 0.9  # armies: they only say which territories are tried as items
LONG, LONGER, DETOUR = 100.0, 8.0, 2.0
SLOWER = 4  # at most so many times slower than usual is a value, but for the first ones


def contracted_bounds(
    problem: Problem,
    goal: int,
    field: int,
    seconds: float | None = None,
    *,
    any_of: bool = False,
) -> Iterator[float]:
    """Yield smaller and smaller bounds on the chance to take a set, of any play.

    problem: the problem.
    goal: the set to take, none of it the player's.
    field: what may be of use to attack.
    seconds: how long the search may take; `None` for a moderate search, the same each time.
    any_of: whether any territory of the set is enough.

    It ends by itself when no contraction that it tries is better. A bound of 0 is exact.
    """
    yield from _Search(problem, goal, field, seconds, any_of=any_of).bounds()


class _Search:
    """A search for a contraction with a small value.

    For none, one, two and three large stacks as groups, contractions are put in a row from coarse
    to fine, of which the finest is solved that there is room for. From the best on, the first finer
    one with a smaller value is taken.
    """

    def __init__(
        self, problem: Problem, goal: int, field: int, seconds: float | None, *, any_of: bool
    ) -> None:
        self.problem, self.goal, self.field, self.any_of = problem, goal & field, field, any_of
        self.unreachable = goal & ~field and not any_of
        self.end = None if seconds is None else clock() + seconds
        self.values = MODERATE_VALUES if seconds is None else MOST_VALUES
        self.pace = SECONDS_A_VALUE
        self.tried: set[Contraction] = set()

    def bounds(self) -> Iterator[float]:
        """Yield smaller and smaller values."""
        strengths = self._strengths()
        if not strengths or self.unreachable:
            yield 0.0
            return
        strongest = sorted(strengths, key=lambda v: -strengths[v])[:MOST_LARGE]
        least = strengths[strongest[0]] / SMALL
        large = [1 << v for v in strongest if strengths[v] >= least]
        rows = [self._row(large[:count], large) for count in range(len(large) + 1)]
        best, how = 2.0, None
        # Single territories have few states where there is one way to go.
        singles = tuple(1 << c for c in bits(self.goal))
        if len(singles) <= MOST_ITEMS + 2 * (self.field == self.goal):
            for count in range(len(large) + 1):
                single = Contraction(tuple(large[:count]), singles, CAPS[1], FEW)
                value = self._value(single, self._room() // 10)
                if value is not None and value < best:
                    best, how = value, single
                    yield best
        for share in (50, 2):
            for row in rows[::-1]:
                finest = self._finest(row, self._room() // share // len(rows))
                value = None if finest is None else self._value(finest, self._room())
                if value is not None and value < best:
                    best, how = value, finest
                    yield best
        is_better = True
        while best and how is not None and is_better:
            is_better = False
            for finer in self._finer(how):
                if not self._room():
                    return
                value = self._value(finer, self._room() // 3)
                if value is not None and value < best - max(LEAST_GAIN, RELATIVE_GAIN * best):
                    best, how, is_better = value, finer, True
                    yield value
                    break

    def _strengths(self) -> dict[int, float]:
        """Return about how many armies stacks have left when they come next to the goal."""
        problem, field = self.problem, self.field
        price = self._price(field & ~self.goal)
        found = {}
        for v, _ in problem.stacks():
            if reach_of(problem, v, field, 0)[0] & self.goal:
                ways = self._prices(1 << v, price)
                costs = [cost for u, cost in ways.items() if problem.borders.out[u] & self.goal]
                is_near = bool(problem.borders.out[v] & self.goal)
                found[v] = able_of(problem, v) - (0 if is_near else min(costs))
        return found

    def _price(self, light: int) -> dict[int, float]:
        """Return about what light territories cost."""
        return {u: KEPT + LOST * self.problem.armies[u] for u in bits(light)}

    def _row(self, groups: list[int], large: list[int]) -> list[Contraction]:
        """Return contractions from coarse to fine."""
        goals = list(self.problem.borders.components(self.goal))
        while len(goals) > FIRST_GOALS:
            goals = self._merged(goals)
        extras = [1 << x for x in self._chokes(groups or large)[:FIRST_CHOKES]]
        row = [Contraction(tuple(groups), (*goals, *extras), caps, FEW) for caps in CAPS[:2]]
        coarse = list(goals)
        while len(coarse) > 1:
            coarse = self._merged(coarse)
            row.insert(0, Contraction(tuple(groups), (*coarse, *extras), CAPS[0], FEW))
        row.insert(0, Contraction(tuple(groups), tuple(coarse), CAPS[0], ALL))
        more = [0]
        while len(goals) + len(extras) < MOST_ITEMS and more:
            more = self._extras(row[-1])[:1]
            extras += [1 << x for x in more]
            row.append(Contraction(tuple(groups), (*goals, *extras), CAPS[1], FEW))
            largest = max(goals, key=int.bit_count)
            if largest.bit_count() > 1 and len(goals) + len(extras) < MOST_ITEMS:
                hardest = max(bits(largest), key=lambda c: self.problem.armies[c])
                goals.remove(largest)
                goals += [largest & ~(1 << hardest), 1 << hardest]
                row.append(Contraction(tuple(groups), (*goals, *extras), CAPS[1], FEW))
                more = [0]
        row.append(Contraction(tuple(groups), (*goals, *extras), CAPS[2], FEW))
        return row

    def _finest(self, ladder: list[Contraction], room: int) -> Contraction | None:
        """Return the finest of a ladder that there is room for."""
        low, high = 0, len(ladder)  # ladder[:low] has room
        while low < high:
            middle = (low + high) // 2
            if self._game(ladder[middle], room):
                low = middle + 1
            else:
                high = middle
        return ladder[low - 1] if low else None

    def _game(self, how: Contraction, room: int) -> ContractedGame | None:
        """Return a contracted game, if there is room for it."""
        try:
            game = ContractedGame(self.problem, self.field, self.goal, how, any_of=self.any_of)
        except TooLargeError:
            return None
        return game if game.fits(room) else None

    def _room(self) -> int:
        """Return how many values may still be found."""
        if self.end is None:
            return self.values
        return min(max(int((self.end - clock()) / self.pace), 0), MOST_VALUES)

    def _value(self, how: Contraction, room: int) -> float | None:
        """Return the value of a contraction, if there is room for it, and it is not yet tried."""
        if how in self.tried:
            return None
        self.tried.add(how)
        game = self._game(how, min(room, self._room()))
        if game is None:
            return None
        began = clock()
        value = game.value()
        self.values -= game.values
        if game.values > MEASURED:
            pace = 1.5 * (clock() - began) / game.values
            self.pace = min(pace, SLOWER * SECONDS_A_VALUE)
        return min(value + ROUNDING, 1.0) if value else 0.0

    def _able(self, places: int) -> int:
        return sum(able_of(self.problem, v) for v in bits(places))

    def _chokes(self, groups: list[int]) -> list[int]:
        """Return what a group must take to reach some of the goal, the hardest first."""
        borders, found = self.problem.borders, list[tuple[int, int]]()
        for x in bits(self.field & ~self.goal):
            without = self.field & ~(1 << x)
            held_up = sum(
                borders.reachable_from(bits(places), without) & self.goal
                != borders.reachable_from(bits(places), self.field) & self.goal
                for places in groups
            )
            if held_up:
                found.append((-held_up * (1 + self.problem.armies[x]), x))
        return [x for _, x in sorted(found)]

    def _merged(self, items: list[int]) -> list[int]:
        """Return items with two of them as one, those that are nearest to each other."""
        near = self.problem.borders.near
        around = {item: union(near[c] for c in bits(item)) for item in items}

        def closeness(pair: tuple[int, int]) -> tuple[bool, bool, int]:
            a, b = pair
            between = around[a] & around[b] & self.field
            return bool(around[a] & b), bool(between), -(a | b).bit_count()

        a, b = max(combinations(items, 2), key=closeness)
        return [a | b, *(item for item in items if item not in (a, b))]

    def _finer(self, how: Contraction) -> Iterator[Contraction]:
        """Yield contractions with more states."""
        groups, items, (light, lost), few = how
        if few == ALL:
            yield how._replace(few=FEW)
        if light < MOST_LIGHT:
            yield how._replace(caps=(2 * light, max(2 * lost, 2)))
        inside, room = union(items), MOST_ITEMS - len(items)
        extras = [1 << x for x in self._extras(how)[:MOST_EXTRAS]]
        yield from (how._replace(items=(*items, *extras[:n])) for n in (3, 2) if room >= n)
        for v in small_stacks(self.problem, how):
            if reach_of(self.problem, v, self.field, inside)[0] & inside:
                yield how._replace(groups=(*groups, 1 << v))
        yield from (how._replace(items=(*items, extra)) for extra in extras if room)
        for item in items if room else ():
            for x in bits(item) if item.bit_count() > 1 else ():
                others = (other for other in items if other != item)
                yield how._replace(items=(*others, item & ~(1 << x), 1 << x))

    def _extras(self, how: Contraction) -> list[int]:
        """Return light territories that may be worth an item of their own, the best first."""
        inside = union(how.items)
        chokes = [x for x in self._ranking if not inside >> x & 1]
        both = (x for pair in zip_longest(self._on_ways(how), chokes) for x in pair)
        return list(dict.fromkeys(x for x in both if x is not None))

    def _on_ways(self, how: Contraction) -> list[int]:
        """Return light territories on cheap ways to items, those that cost most first."""
        price = self._price(self.field & ~union(how.items))
        score = dict.fromkeys(price, 0.0)
        ways = {item: self._prices(item, price) for item in how.items}
        for v, strength in self._strengths().items():
            own = self._prices(1 << v, price)
            for item in how.items:
                whole = {u: own[u] + ways[item][u] - price[u] for u in own if u in ways[item]}
                if self.problem.borders.out[v] & item or not whole:
                    continue
                least = min(whole.values())
                for u, each in whole.items():
                    if each < least + DETOUR:
                        score[u] += max(strength, 1.0) * price[u] / (1 + each - least) / (1 + least)
        return sorted((u for u in score if score[u]), key=lambda u: -score[u])

    @cached_property
    def _ranking(self) -> list[int]:
        """Territories outside of the goal, those first without which ways to the goal are long."""
        borders, strengths = self.problem.borders, self._strengths()
        price = self._price(self.field & ~self.goal)
        score = dict.fromkeys(price, 0.0)
        free = price | dict.fromkeys(bits(self.goal), 0.0)
        for item in borders.components(self.goal):
            ways = self._prices(item, free)
            for x in price:
                without = self._prices(item, {u: each for u, each in free.items() if u != x})
                for v, strength in strengths.items():
                    out = [u for u in bits(borders.out[v]) if u in free]
                    if any(item >> u & 1 for u in out):
                        continue
                    least = min(ways.get(u, LONG) for u in out)
                    longer = (
                        min((without.get(u, LONG) for u in out if u != x), default=LONG) - least
                    )
                    near = 1.0 / (1.0 + ways.get(x, LONG))
                    score[x] += max(strength, 1.0) * (min(longer, LONGER) + near)
        return sorted(score, key=lambda x: -score[x])

    def _prices(self, places: int, price: Mapping[int, float]) -> dict[int, float]:
        """Return what the cheapest ways from some territories to each light one cost."""
        near = self.problem.borders.near
        queue = [(price[u], u) for v in bits(places) for u in bits(near[v]) if u in price]
        heapify(queue)
        found: dict[int, float] = {}
        while queue:
            cost, u = heappop(queue)
            if u not in found:
                found[u] = cost
                for w in bits(near[u]):
                    if w in price and w not in found:
                        heappush(queue, (cost + price[w], w))
        return found
