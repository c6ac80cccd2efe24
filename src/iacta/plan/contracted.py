"""A contracted game, whose value no legal play of the true game exceeds.

The true game (`iacta.plan.turn`) has far too many states. Here it is contracted to a smaller one in
which each step is easier for the player. Its value is found exactly, so it is a bound on the chance
to take all of a set, whatever is rolled, with how many dice, by whom, and however many advance.

**Purses.** The stacks are put into groups, most of a single stack. All armies of a group that are
able to attack, wherever they stand, are one purse: a group may attack with all of them from any of
its territories. A conquest takes the armies that must remain out of the purse, and where nothing is
left to attack from the territory, all those that the dice force to advance.

**Items.** Some territories, the goal among them, are put into items, most of a single territory. Of
an item it is known how many defenders its territories have, and which groups own some of it. A
territory belongs to the group that conquers it, and stands in the way of the others, unless it is
in an item of several.

**Light territories** are all others. Of them it is only known how many each group has conquered,
n_i, and how many defenders were lost there apart from the last one of each territory, D, all groups
together. A group with the items Q can only attack an item c if its territories and c are connected.
Let N, E and K be the fewest light territories by which the starts of the group and the items Q + c
can be connected, the least sum of their defenders but one each, and the least sum of all their
defenders. These are node-weighted Steiner trees (Dreyfus & Wagner 1971). So the group may only
attack c if

    n_i ≥ N_i(Q_i + c),   D ≥ E_i(Q_i + c) + Σ_{j≠i} E_j(Q_j),
    n_i + D − Σ_{j≠i} E_j(Q_j) ≥ K_i(Q_i + c).

A light territory may be attacked by any group at any time, as if it had 1, 2, 3 ... defenders,
whichever number occurs.

**Why it is a bound.** Map a state of the true game to the state of the contracted game that is
described by the same words. A roll of the true game is then a roll of the contracted game with the
same distribution, allowed as above: the light territories of a group are disjoint from those of all
others, and connect what it owns. Its results are mapped to the results there, with no more armies
in a purse and no lower counts: those in the contracted game are at least as good, as its value does
not fall with a purse or a count. So by induction over the armies that are left, the value of the
contracted game is at least that of the true one. Counts may stop at a cap, which then counts as any
number, and small stacks may be left out if they can reach no item, when the light territories that
they can reach count as if they had one defender.

The states are found from the start, and their values in one backward pass, for all purses at once.
How coarse the contraction is, is a matter of time: `bounds` begins with few items and refines them.
"""

from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import combinations
from time import monotonic
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.methods.kernel import Choice
from iacta.plan.compiled import IS_COMPILED, compiled
from iacta.plan.goals import Rewards
from iacta.plan.problem import Problem, bits, mask_of, union

__all__ = ["Contraction", "contracted_bounds", "contraction_value"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Class: TypeAlias = tuple[int, int, int]  # kind of battle, defenders, what must remain
Multiset: TypeAlias = tuple[Class, ...]
Multisets: TypeAlias = list[list[tuple[Class, list[int]]]]

FAR = 9_999  # more than any number of light territories and of their defenders
MOST_ITEMS = 12 if IS_COMPILED else 6
MOST_NUMBERED = 2**62
MOST_ACTIONS = 4_096
SECONDS_A_VALUE = 2.5e-7 if IS_COMPILED else 2e-4
MOST_VALUES = 60_000_000
ROUNDING = 1e-12
MODERATE_VALUES = 3_000_000 if IS_COMPILED else 10_000
FIRST_VALUES = 300_000 if IS_COMPILED else 2_000
MEASURED = 200_000 if IS_COMPILED else 500  # values that take so long that time can be told
LEAST_GAIN, RELATIVE_GAIN = 1e-4, 2e-3
MOST_LARGE = 3  # stacks of at least `SMALL` armies that are groups of their own at first
SMALL = 5
FIRST_ITEMS, FIRST_CAPS = 8 if IS_COMPILED else 4, (4, 4)
MOST_LIGHT = 24
MOST_EXTRAS = 10
KEPT, LOST, DETOUR = 0.7, 0.9, 2.0  # armies: they only say which territories are tried as items


class Group(NamedTuple):
    """Some stacks whose armies are one purse.

    places: the set of their territories.
    able: their armies able to attack.
    reach: the set of the territories that they may come to attack.
    """

    places: int
    able: int
    reach: int


class Tables(NamedTuple):
    """A contracted game as arrays.

    A state is a whole number, whose digits have the radices `radix` and the places `place`. For
    each item they are the number of its defenders' multiset, 0 for none, and the set of the groups
    that own none of it; then, for each group, how many light territories it may still count, and
    how many lost defenders of light territories may still be counted.
    """

    groups: int
    items: int
    step: int  # the most defenders that a roll can cost
    any_of: bool  # whether any of the goal is enough
    radix: Ints
    place: Ints
    caps: Ints  # of n for each group, and of D
    able: Ints
    nodes: Ints  # N, [group, set of items]
    spare: Ints  # E
    whole: Ints  # K
    useful: Ints  # the most light territories that a group with these items can make use of
    light_rows: Ints  # the light territories' kinds of battles and defenders, [row, defenders]
    light_kept: int  # what must remain there
    light_least: int  # what their conquest takes out of a purse at least
    item_least: Ints  # the same for each item
    goal: Bools
    beyond: Ints  # for a single territory, the items next to it
    is_open: Bools  # whether there may always be more to attack from an item
    first: Ints  # of each item's multiset, the first of its classes of territories
    class_row: Ints
    class_defenders: Ints
    class_kept: Ints
    class_next: Ints  # the multiset after 0, 1, 2 ... defenders are lost, [class, lost]
    roll_first: Ints  # [0, row, able], the first of all rolls; with 1 of those that may be best
    rolls: Ints  # the rolls, by number
    throw_first: Ints
    throw_chance: Floats
    option_first: Ints
    result_first: Ints
    result_chance: Floats
    result_attackers: Ints
    result_defenders: Ints
    result_advance: Ints  # how many must advance if it conquers, at least


@compiled
def _items_of(t: Tables, code: int, group: int) -> int:
    """Return the set of the items of which a group owns some."""
    owned = 0
    for item in range(t.items):
        outside = code // t.place[2 * item + 1] % t.radix[2 * item + 1]
        if not outside >> group & 1:
            owned |= 1 << item
    return owned


@compiled
def _is_won(t: Tables, code: int) -> bool:
    """Return whether nothing of the goal is left, or any of it is taken, if that is enough."""
    everyone = (1 << t.groups) - 1
    for item in range(t.items):
        if t.goal[item]:
            if t.any_of:
                if code // t.place[2 * item + 1] % t.radix[2 * item + 1] != everyone:
                    return True
            elif code // t.place[2 * item] % t.radix[2 * item] > 0:
                return False
    return not t.any_of


@compiled
def _most_able(t: Tables, code: int, group: int) -> int:
    """Return a bound on what is in a group's purse."""
    light = t.caps[group] - code // t.place[2 * t.items + group] % t.radix[2 * t.items + group]
    purse: int = t.able[group] - light * t.light_least
    owned = _items_of(t, code, group)
    for item in range(t.items):
        if owned >> item & 1:
            purse -= t.item_least[item]
    return purse if purse > 0 else 0


@compiled
def _is_dead_end(t: Tables, code: int, item: int) -> bool:
    """Return whether nothing is left to attack from a single territory."""
    if t.is_open[item]:
        return False
    for other in range(t.items):
        if t.beyond[item] >> other & 1 and code // t.place[2 * other] % t.radix[2 * other] > 0:
            return False
    return True


@compiled
def _attacks(t: Tables, code: int, attacks: Ints, after: Ints) -> int:
    """Find what may be attacked in a state, and return how much that is.

    attacks: filled with (group, row, defenders, what must remain, whether it is a dead end).
    after: filled with the states after 0, 1, 2 ... defenders are lost.
    """
    count = 0
    pool = t.groups + 2 * t.items  # the digit of D
    damage = t.caps[t.groups] - code // t.place[pool] % t.radix[pool]
    spent = 0
    for group in range(t.groups):
        spent += t.spare[group, _items_of(t, code, group)]
    for group in range(t.groups):
        if _most_able(t, code, group) == 0:
            continue
        owned = _items_of(t, code, group)
        digit = 2 * t.items + group
        left = code // t.place[digit] % t.radix[digit]
        light = t.caps[group] - left
        others = spent - t.spare[group, owned]
        wanted = left > 0 and light < t.useful[group, owned]
        for n in range(len(t.light_rows)):
            row, defenders = t.light_rows[n, 0], t.light_rows[n, 1]
            is_useful = False
            after[count, 0] = code
            for lost in range(1, min(defenders, t.step) + 1):
                counted = min(lost, defenders - 1, t.caps[t.groups] - damage)
                state = code - counted * t.place[pool]
                if lost == defenders and wanted:
                    state -= t.place[digit]
                after[count, lost] = state
                is_useful = is_useful or state != code
            if is_useful:
                attacks[count, 0], attacks[count, 1], attacks[count, 2] = group, row, defenders
                attacks[count, 3], attacks[count, 4] = t.light_kept, 0
                count += 1
        for item in range(t.items):
            digit = 2 * item
            multiset = code // t.place[digit] % t.radix[digit]
            more = owned | 1 << item
            if multiset == 0 or t.nodes[group, more] >= FAR:
                continue
            cap = t.caps[group]
            if light < min(t.nodes[group, more], cap):
                continue
            if damage < t.caps[t.groups] and (
                damage < t.spare[group, more] + others
                or light < min(t.whole[group, more] + others - damage, cap)
            ):
                continue
            is_dead_end = _is_dead_end(t, code, item)
            for c in range(t.first[item, multiset], t.first[item, multiset + 1]):
                defenders = t.class_defenders[c]
                attacks[count, 0], attacks[count, 1] = group, t.class_row[c]
                attacks[count, 2], attacks[count, 3] = defenders, t.class_kept[c]
                attacks[count, 4] = is_dead_end
                after[count, 0] = code
                for lost in range(1, min(defenders, t.step) + 1):
                    state = code - (multiset - t.class_next[c, lost]) * t.place[digit]
                    if lost == defenders and not owned >> item & 1:
                        state -= (1 << group) * t.place[digit + 1]
                    after[count, lost] = state
                count += 1
    return count


@compiled
def _explored(t: Tables, start: int, most: int) -> tuple[Ints, int]:
    """Return all states in ascending order, each after those that follow it, and their values.

    most: so many values at most; where there are more, no states are returned.
    """
    seen = {start: True}
    waiting = [start]
    attacks = np.zeros((MOST_ACTIONS, 5), np.int64)
    after = np.zeros((MOST_ACTIONS, t.step + 1), np.int64)
    values = 0
    while len(waiting) > 0:
        code = waiting.pop()
        size = 1
        for group in range(t.groups):
            size *= _most_able(t, code, group) + 1
        values += size
        if values > most:
            return np.zeros(0, np.int64), values
        if _is_won(t, code):
            continue
        for attack in range(_attacks(t, code, attacks, after)):
            for lost in range(1, min(attacks[attack, 2], t.step) + 1):
                state = after[attack, lost]
                if state not in seen:
                    seen[state] = True
                    waiting.append(state)
    states = np.zeros(len(seen), np.int64)
    for place, code in enumerate(seen):
        states[place] = code
    states.sort()
    return states, values


@compiled
def _solved(t: Tables, states: Ints, count: int) -> float:
    """Return the value of the last of all states, with full purses.

    The values of a state are lines along the purse of the last group.
    """
    last = t.groups - 1
    values = np.zeros(count)
    begin = np.zeros(len(states) + 1, np.int64)
    size = np.zeros((len(states), t.groups), np.int64)
    stride = np.zeros((len(states), t.groups), np.int64)
    number = {states[0]: 0}
    for r in range(len(states)):
        number[states[r]] = r
        width = 1
        for group in range(last, -1, -1):
            size[r, group], stride[r, group] = _most_able(t, states[r], group) + 1, width
            width *= size[r, group]
        begin[r + 1] = begin[r] + width
    attacks = np.zeros((MOST_ACTIONS, 5), np.int64)
    after = np.zeros((MOST_ACTIONS, t.step + 1), np.int64)
    base = np.zeros((MOST_ACTIONS, t.step + 1), np.int64)
    purses = np.zeros(t.groups, np.int64)
    longest = size[:, last].max()
    means, worst, mixed = np.zeros(longest), np.zeros(longest), np.zeros(longest)
    for r in range(len(states)):
        if _is_won(t, states[r]):
            values[begin[r] : begin[r + 1]] = 1.0
            continue
        found = _attacks(t, states[r], attacks, after)
        for a in range(found):
            for lost in range(min(attacks[a, 2], t.step) + 1):
                after[a, lost] = number[after[a, lost]]
        purses[:] = 0
        width = size[r, last]
        for line in range(begin[r], begin[r + 1], width):
            for group in range(last):  # more armies are not worth less
                if purses[group] > 0:
                    for x in range(width):
                        fewer = values[line + x - stride[r, group]]
                        values[line + x] = max(values[line + x], fewer)
            for a in range(found):
                group, row, defenders = attacks[a, 0], attacks[a, 1], attacks[a, 2]
                kept, is_dead_end, able = attacks[a, 3], attacks[a, 4], purses[group]
                for lost in range(min(defenders, t.step) + 1):
                    base[a, lost] = begin[after[a, lost]]
                    for each in range(last):
                        base[a, lost] += purses[each] * stride[after[a, lost], each]
                if group == last:
                    continue
                plain = int(kept <= 1 and not is_dead_end)
                for h in range(t.roll_first[plain, row, able], t.roll_first[plain, row, able + 1]):
                    roll = t.rolls[h]
                    mixed[:width] = 0.0
                    for throw in range(t.throw_first[roll], t.throw_first[roll + 1]):
                        worst[:width] = 2.0
                        for option in range(t.option_first[throw], t.option_first[throw + 1]):
                            means[:width] = 0.0
                            for e in range(t.result_first[option], t.result_first[option + 1]):
                                lost, gone = t.result_defenders[e], t.result_attackers[e]
                                if lost == defenders:
                                    stays = t.result_advance[e]
                                    gone += stays if is_dead_end else min(stays, kept)
                                to = base[a, lost] - gone * stride[after[a, lost], group]
                                chance = t.result_chance[e]
                                for x in range(width):
                                    means[x] += chance * values[to + x]
                            for x in range(width):
                                worst[x] = min(worst[x], means[x])
                        chance = t.throw_chance[throw]
                        for x in range(width):
                            mixed[x] += chance * worst[x]
                    for x in range(width):
                        values[line + x] = max(values[line + x], mixed[x])
            for x in range(1, width):
                best = max(values[line + x], values[line + x - 1])
                for a in range(found):
                    group, row, defenders = attacks[a, 0], attacks[a, 1], attacks[a, 2]
                    kept, is_dead_end = attacks[a, 3], attacks[a, 4]
                    if group != last:
                        continue
                    plain = int(kept <= 1 and not is_dead_end)
                    for h in range(t.roll_first[plain, row, x], t.roll_first[plain, row, x + 1]):
                        roll = t.rolls[h]
                        value = 0.0
                        for throw in range(t.throw_first[roll], t.throw_first[roll + 1]):
                            least = 2.0
                            for option in range(t.option_first[throw], t.option_first[throw + 1]):
                                mean = 0.0
                                for e in range(t.result_first[option], t.result_first[option + 1]):
                                    lost, gone = t.result_defenders[e], t.result_attackers[e]
                                    if lost == defenders:
                                        stays = t.result_advance[e]
                                        gone += stays if is_dead_end else min(stays, kept)
                                    mean += t.result_chance[e] * values[base[a, lost] + x - gone]
                                least = min(least, mean)
                            value += t.throw_chance[throw] * least
                        best = max(best, value)
                values[line + x] = best
            each = last - 1
            while each >= 0:
                purses[each] += 1
                if purses[each] < size[r, each]:
                    break
                purses[each] = 0
                each -= 1
    start: float = values[count - 1]
    return start


@compiled
def _connecting(weights: Ints, light: Bools, joins: Bools, meets: Bools, starts: Bools) -> Ints:
    """Return for each set of items the least weight of light territories that connect it.

    weights: of the light territories.
    light: which of them are next to which.
    joins: which of them are next to which item.
    meets: which items are next to which.
    starts: which of the items, and then of the light territories, are next to the start.

    By Dreyfus and Wagner: a tree that holds a light territory or an item, and a set of items, is
    two trees that meet there, or a tree that holds a neighbour, and itself. Items outside of the
    set are no way.
    """
    items, count = len(meets), len(weights)
    sets = 1 << items
    of_light = np.full((sets, count), FAR, np.int64)  # with the light territory
    of_item = np.full((sets, items), FAR, np.int64)  # with the item, which is in the set
    found = np.full(sets, FAR, np.int64)
    found[0] = 0
    of_light[0] = weights
    for whole in range(1, sets):
        for i in range(items):
            rest = whole & ~(1 << i)
            if rest == whole:
                continue
            best = FAR if rest else 0
            low, part = rest & -rest, (rest - 1) & rest
            while part > 0:
                if part & low:
                    both = of_item[part | 1 << i, i] + of_item[rest ^ part | 1 << i, i]
                    best = min(best, both)
                part = (part - 1) & rest
            for j in range(items):
                if rest >> j & 1 and meets[i, j]:
                    best = min(best, of_item[rest, j])
            for u in range(count):
                if joins[u, i]:
                    best = min(best, of_light[rest, u] if rest else 0)
            of_item[whole, i] = best
        low = whole & -whole
        for u in range(count):
            best = FAR
            part = (whole - 1) & whole
            while part > 0:
                if part & low:
                    best = min(best, of_light[part, u] + of_light[whole ^ part, u] - weights[u])
                part = (part - 1) & whole
            for i in range(items):
                if whole >> i & 1 and joins[u, i]:
                    best = min(best, of_item[whole, i] + weights[u])
            of_light[whole, u] = best
        is_better = True
        while is_better:
            is_better = False
            for u in range(count):
                for v in range(count):
                    if light[u, v] and of_light[whole, v] + weights[u] < of_light[whole, u]:
                        of_light[whole, u] = of_light[whole, v] + weights[u]
                        is_better = True
        best = FAR
        part = (whole - 1) & whole
        while part > 0:
            if part & low:
                best = min(best, found[part] + found[whole ^ part])
            part = (part - 1) & whole
        for i in range(items):
            if starts[i] and whole >> i & 1:
                best = min(best, of_item[whole, i])
        for u in range(count):
            if starts[items + u]:
                best = min(best, of_light[whole, u])
        found[whole] = best
    return found


class Contraction(NamedTuple):
    """How a problem is contracted.

    groups: disjoint sets of the places of stacks. Those left out that can reach an item are one
        more group.
    items: disjoint sets of territories. Together they hold the goal, and one of several territories
        holds nothing else.
    caps: where the counts of light territories of a group, and of their lost defenders, stop.
    """

    groups: tuple[int, ...]
    items: tuple[int, ...]
    caps: tuple[int, int]


class _Rolls:
    """The rolls of all battles of a problem, as arrays."""

    def __init__(self, problem: Problem, most: int) -> None:
        self.problem, self.most = problem, most
        # With armies that must remain, more may roll than may be lost.
        self.more = max(problem.garrisons) - problem.rules.garrison
        self.row: dict[tuple[int, int], int] = {}  # by kind of battle and defenders
        self.lists: list[list[list[int]]] = []  # of each row and number able, the rolls
        self._numbers: dict[tuple[Choice, int], int] = {}  # by the fewest able that may choose it

    def row_of(self, kind: int, defenders: int) -> int:
        """Return the row of a kind of battle and a number of defenders."""
        key = kind, defenders
        if key not in self.row:
            self.row[key] = len(self.row)
            found: dict[Choice, int] = {}
            lists: list[list[int]] = [[]]
            for able in range(1, self.most + 1):
                # The armies of a purse may stand in several places: any number may fight.
                choices = self.problem.kernels[kind].rolls(able + self.more, defenders, able)
                for choice in choices:
                    if choice not in found:
                        number = self._numbers.setdefault((choice, able), len(self._numbers))
                        found[choice] = number
                lists.append(list(found.values()))
            self.lists.append(lists)
        return self.row[key]

    def _best(self, numbers: list[int]) -> list[int]:
        """Return the one roll that is best where the advance does not matter, or all rolls.

        If each costs a single army on one side, it is the one most likely to conquer.
        """
        chances = {}
        choices = [choice for choice, _ in self._numbers]
        for number in numbers:
            throws = choices[number].throws
            if len(throws) > 1 or len(throws[0].options) > 1:
                return numbers
            results = {result[1:]: result.chance for result in throws[0].options[0]}
            if not results.keys() <= {(1, 0), (0, 1)}:
                return numbers
            chances[number] = results.get((0, 1), 0.0)
        return [max(chances, key=lambda number: chances[number])] if chances else []

    def step(self) -> int:
        """Return the most defenders that a roll can cost."""
        results = (r for c, _ in self._numbers for t in c.throws for o in t.options for r in o)
        return max((result.defenders for result in results), default=0)

    def arrays(
        self,
    ) -> tuple[Ints, Ints, Ints, Floats, Ints, Ints, Floats, Ints, Ints, Ints]:
        """Return the last ten arrays of `Tables`."""
        throws = [throw for choice, _ in self._numbers for throw in choice.throws]
        options = [option for throw in throws for option in throw.options]
        results = [result for option in options for result in option]
        rolls: list[int] = []
        first = np.zeros((2, len(self.row), self.most + 2), np.int64)
        for plain, row, able in np.ndindex(2, len(self.row), self.most + 1):
            numbers = self.lists[row][able]
            first[plain, row, able] = len(rolls)
            rolls += self._best(numbers) if plain else numbers
            first[plain, row, able + 1] = len(rolls)
        return (
            first,
            _ints(rolls),
            _ints(np.cumsum([0, *(len(choice.throws) for choice, _ in self._numbers)])),
            np.array([throw.chance for throw in throws]),
            _ints(np.cumsum([0, *(len(throw.options) for throw in throws)])),
            _ints(np.cumsum([0, *map(len, options)])),
            np.array([result.chance for result in results]),
            _ints([result.attackers for result in results]),
            _ints([result.defenders for result in results]),
            _ints(
                [
                    min(choice.least, able - result.attackers)
                    for choice, able in self._numbers
                    for throw in choice.throws
                    for option in throw.options
                    for result in option
                ]
            ),
        )


def _ints(numbers: npt.ArrayLike) -> Ints:
    return np.array(numbers, np.int64)


def _tables(
    problem: Problem, field: int, goal: int, how: Contraction, *, any_of: bool = False
) -> tuple[Tables, int]:
    """Return a contracted game as arrays, and its start."""
    groups = _groups(problem, field, how)
    items, borders = how.items, problem.borders
    light = tuple(bits(field & ~union(items)))
    armies = _light_armies(problem, field, groups, light)
    kinds = [problem.kinds[u] for u in light]
    rolls = _Rolls(problem, max(group.able for group in groups))
    for c, held in [*zip(light, armies, strict=True), *((c, 0) for c in bits(union(items)))]:
        for defenders in range(1, (held or problem.armies[c]) + 1):
            rolls.row_of(problem.kinds[c], defenders)
    step = rolls.step()
    light_rows = [
        (rolls.row_of(kind, defenders), defenders)
        for kind in dict.fromkeys(kinds)
        for defenders in range(
            1, min(max(n for n, k in zip(armies, kinds, strict=True) if k == kind), step + 1) + 1
        )
    ]
    multisets = [_multisets(problem, item, step) for item in items]
    first = np.zeros((len(items), max(map(len, multisets)) + 1), np.int64)
    classes: list[tuple[int, int, int, list[int]]] = []
    for i, states in enumerate(multisets):
        for n, found in enumerate(states):
            first[i, n] = len(classes)
            for (kind, defenders, kept), following in found:
                classes.append((rolls.row_of(kind, defenders), defenders, kept, following))
        first[i, len(states)] = len(classes)
    weights = _ints(armies).reshape(-1)
    near = [union(borders.near[c] for c in bits(item)) for item in items]
    needed = [
        _needed(problem, each, groups, items, light)
        for each in (weights * 0 + 1, weights - 1, weights)
    ]
    nodes, spare, whole = needed
    useful = np.minimum(np.where(nodes < FAR, np.maximum(nodes, whole), 0), how.caps[0])
    for i in range(len(items)):
        sets = np.arange(1 << len(items))
        np.maximum(useful, useful[:, sets | 1 << i], out=useful)
    caps = [*useful[:, 0].tolist(), min(how.caps[1], int((weights - 1).sum()))]
    garrisons = problem.garrisons
    radix: list[int] = []
    for states in multisets:
        radix += [len(states), 1 << len(groups)]
    radix += [cap + 1 for cap in caps]
    place = [1]
    for each in radix:
        place.append(place[-1] * each)
    if place[-1] > MOST_NUMBERED:
        raise TooLargeError(f"a contracted game must have at most 2^62 states, got {place[-1]:.0e}")
    tables = Tables(
        len(groups),
        len(items),
        step,
        any_of,
        _ints(radix),
        _ints(place[:-1]),
        _ints(caps),
        _ints([group.able for group in groups]),
        nodes,
        spare,
        whole,
        useful,
        _ints(light_rows).reshape(-1, 2),
        min((garrisons[u] for u in light), default=0),
        min((min(garrisons[u], 1) for u in light), default=0),
        _ints([min(min(garrisons[c], 1) for c in bits(item)) for item in items]),
        np.array([bool(item & goal) for item in items]),
        _ints(
            [
                mask_of(k for k in range(len(items)) if k != i and near[i] & items[k])
                for i in range(len(items))
            ]
        ),
        np.array(
            [item.bit_count() > 1 or bool(mask_of(light) & near[i]) for i, item in enumerate(items)]
        ),
        first,
        _ints([row for row, *_ in classes]),
        _ints([defenders for _, defenders, *_ in classes]),
        _ints([kept for _, _, kept, _ in classes]),
        _ints([following for *_, following in classes]),
        *rolls.arrays(),
    )
    return tables, place[-1] - 1


def _groups(problem: Problem, field: int, how: Contraction) -> tuple[Group, ...]:
    """Return the groups of a contraction, that with the most armies last."""
    inside, left_out = union(how.items), 0
    for v, _ in problem.stacks():
        if not union(how.groups) >> v & 1 and _reach(problem, v, field) & inside:
            left_out |= 1 << v
    groups = [
        Group(
            places,
            sum(problem.armies[v] - problem.garrisons[v] for v in bits(places)),
            union(_reach(problem, v, field) for v in bits(places)),
        )
        for places in (*how.groups, left_out)
        if places
    ]
    return tuple(sorted(groups, key=lambda group: group.able))


def _light_armies(
    problem: Problem, field: int, groups: tuple[Group, ...], light: tuple[int, ...]
) -> list[int]:
    """Return as how many the defenders of light territories count."""
    grouped = union(group.places for group in groups)
    touched = union(_reach(problem, v, field) for v, _ in problem.stacks() if not grouped >> v & 1)
    return [1 if touched >> u & 1 else problem.armies[u] for u in light]


def _multisets(problem: Problem, item: int, step: int) -> Multisets:
    """Return what defenders an item may have, the empty multiset first.

    For each multiset its classes of territories, equal in the kind of battle, the defenders and
    what must remain there, and the multisets after one of them has lost 0, 1, 2 ... defenders.
    """
    start = tuple(
        sorted((problem.kinds[c], problem.armies[c], problem.garrisons[c]) for c in bits(item))
    )

    def without(multiset: Multiset, each: Class, lost: int) -> Multiset:
        kind, defenders, kept = each
        rest = list(multiset)
        rest.remove(each)
        if lost < defenders:
            rest.append((kind, defenders - lost, kept))
        return tuple(sorted(rest))

    found, waiting = {start}, [start]
    while waiting:
        multiset = waiting.pop()
        for each in set(multiset):
            for lost in range(1, min(each[1], step) + 1):
                smaller = without(multiset, each, lost)
                if smaller not in found:
                    found.add(smaller)
                    waiting.append(smaller)
    order = sorted(found, key=lambda multiset: sum(each[1] for each in multiset))
    number = {multiset: n for n, multiset in enumerate(order)}
    return [
        [
            (
                each,
                [number[without(multiset, each, min(lost, each[1]))] for lost in range(step + 1)],
            )
            for each in sorted(set(multiset))
        ]
        for multiset in order
    ]


def _needed(
    problem: Problem,
    weights: Ints,
    groups: tuple[Group, ...],
    items: tuple[int, ...],
    light: tuple[int, ...],
) -> Ints:
    """Return for each group and set of items the least weight that connects them."""
    near = problem.borders.near
    around = [union(near[c] for c in bits(item)) for item in items]
    needed = np.full((len(groups), 1 << len(items)), FAR, np.int64)
    for i, group in enumerate(groups):
        out = union(problem.borders.out[v] for v in bits(group.places))
        needed[i] = _connecting(
            weights,
            np.array([[near[u] >> w & 1 for w in light] for u in light], bool).reshape(
                len(light), len(light)
            ),
            np.array([[bool(near[u] & item) for item in items] for u in light], bool).reshape(
                len(light), len(items)
            ),
            np.array(
                [
                    [i != k and bool(around[i] & item) for k, item in enumerate(items)]
                    for i in range(len(items))
                ]
            ),
            np.array([*(bool(out & item) for item in items), *(out >> u & 1 for u in light)], bool),
        )
        beyond = mask_of(k for k, item in enumerate(items) if not item & group.reach)
        needed[i, (np.arange(1 << len(items)) & beyond) != 0] = FAR
    return needed


def _reach(problem: Problem, v: int, field: int) -> int:
    """Return what the stack on v may come to attack before its armies are used up."""
    borders = problem.borders
    if min((problem.garrisons[c] for c in bits(field)), default=1) < 1:
        return borders.reachable(v, field)
    reach = borders.out[v] & field
    for _ in range(problem.armies[v] - problem.garrisons[v] - 1):
        reach |= union(borders.out[c] for c in bits(reach)) & field
    return reach


def contraction_value(problem: Problem, field: int, rewards: Rewards, how: Contraction) -> float:
    """Return the value of a contracted game.

    problem: the problem.
    field: what may be of use to attack.
    rewards: what the goal pays, all or any of a set.
    how: how it is contracted.
    """
    goal = rewards.all_of or rewards.any_of
    tables, start = _tables(problem, field, goal, how, any_of=not rewards.all_of)
    states, count = _explored(tables, start, MOST_VALUES)
    if not len(states):
        raise TooLargeError(f"a contracted game must have at most {MOST_VALUES} values")
    return float(_solved(tables, states, count))


# The search for a good contraction.


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
    """A search for a contraction with a small value, from coarse to fine.

    From a coarse one on, the first finer one with a smaller value is taken.
    """

    def __init__(
        self, problem: Problem, goal: int, field: int, seconds: float | None, *, any_of: bool
    ) -> None:
        self.problem, self.goal, self.field, self.any_of = problem, goal & field, field, any_of
        self.end = None if seconds is None else monotonic() + seconds
        self.values = MODERATE_VALUES if seconds is None else MOST_VALUES
        self.pace = SECONDS_A_VALUE
        self.tried: set[Contraction] = set()

    def bounds(self) -> Iterator[float]:
        """Yield smaller and smaller values."""
        coarse = self._coarse()
        if coarse is None:
            yield 0.0
            return
        best, how = 1.0, coarse
        for share in (40, 3):
            fitting = self._finest(self._ladder(coarse), self._room() // share)
            if fitting is not None:
                value = self._value(fitting, self._room())
                if value is not None and (value < best or how is coarse):
                    best, how = min(value, best), fitting
                    yield best
        is_better = True
        while best and is_better:
            is_better = False
            for other in self._others(how):
                if not self._room():
                    return
                value = self._value(other, self._room() // 3)
                if value is not None and value < best - max(LEAST_GAIN, RELATIVE_GAIN * best):
                    best, how, is_better = value, other, True
                    yield value
                    break

    def _ladder(self, how: Contraction) -> list[Contraction]:
        """Return contractions from coarse to fine."""
        up = [how]
        groups, items, _ = how
        while (coarser := self._coarser(up[-1])) is not None:
            up.append(coarser)
        up.reverse()
        goals = [item for item in items if item & self.goal]
        others = [item for item in items if not item & self.goal]
        while len(items) < MOST_ITEMS and any(item.bit_count() > 1 for item in goals):
            largest = max(goals, key=int.bit_count)
            x = max(bits(largest), key=lambda c: self.problem.armies[c])
            goals.remove(largest)
            goals += [largest & ~(1 << x), 1 << x]
            items = (*goals, *others)
            up.append(Contraction(groups, items, FIRST_CAPS))
        up.append(Contraction(groups, items, (8, 8)))
        for x in self._extras(up[-1])[: max(MOST_ITEMS - len(items), 0)]:
            items = (*items, 1 << x)
            up.append(Contraction(groups, items, (8, 8)))
        return up

    def _finest(self, ladder: list[Contraction], room: int) -> Contraction | None:
        """Return the finest of a ladder that there is room for."""
        low, high = 0, len(ladder)  # ladder[:low] has room
        while low < high:
            middle = (low + high) // 2
            if self._fits(ladder[middle], room):
                low = middle + 1
            else:
                high = middle
        return ladder[low - 1] if low else None

    def _fits(self, how: Contraction, room: int) -> bool:
        try:
            tables, start = _tables(self.problem, self.field, self.goal, how, any_of=self.any_of)
        except TooLargeError:
            return False
        states, _ = _explored(tables, start, room)
        return len(states) > 0

    def _room(self) -> int:
        """Return how many values may still be found."""
        if self.end is None:
            return self.values
        return min(max(int((self.end - monotonic()) / self.pace), 0), MOST_VALUES)

    def _value(self, how: Contraction, room: int) -> float | None:
        """Return the value of a contraction, if there is room for it, and it is not yet tried."""
        if how in self.tried:
            return None
        self.tried.add(how)
        try:
            tables, start = _tables(self.problem, self.field, self.goal, how, any_of=self.any_of)
        except TooLargeError:
            return None
        states, count = _explored(tables, start, min(room, self._room()))
        if not len(states):
            return None
        began = monotonic()
        value = float(_solved(tables, states, count))
        self.values -= count
        if count > MEASURED:
            self.pace = 1.5 * (monotonic() - began) / count
        return min(value + ROUNDING, 1.0) if value else 0.0

    def _coarse(self) -> Contraction | None:
        """Return a coarse contraction to begin with, or `None` if no stack comes near the goal."""
        problem = self.problem
        stacks = sorted(problem.stacks(), key=lambda stack: -stack[1])
        near = [(v, n) for v, n in stacks if self._reach(v) & self.goal]
        if not near:
            return None
        large = [1 << v for v, n in near[:MOST_LARGE] if n - problem.garrisons[v] >= SMALL]
        items = list(problem.borders.components(self.goal))
        items += [1 << x for x in self._chokes(large)[: max(FIRST_ITEMS - len(items), 0)]]
        while len(items) > FIRST_ITEMS:
            items = self._merged(items)
        inside = union(items)
        groups = list(large)
        for v, _ in stacks:
            if union(large) >> v & 1 or not self._reach(v) & inside:
                continue
            places = 1 << v
            for other in groups[len(large) :]:  # small stacks with an item in common are one group
                if any(self._reach(w) & self._reach(v) & inside for w in bits(other)):
                    groups.remove(other)
                    places |= other
            groups.append(places)
        return Contraction(tuple(groups), tuple(items), FIRST_CAPS)

    def _reach(self, v: int) -> int:
        return _reach(self.problem, v, self.field)

    def _able(self, places: int) -> int:
        return sum(self.problem.armies[v] - self.problem.garrisons[v] for v in bits(places))

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
        """Return the items with two of the goal's as one, the nearest, or without the last."""
        near = self.problem.borders.near
        goals = [item for item in items if item & self.goal]
        if len(goals) < 2:
            return items[:-1]
        around = {item: union(near[c] for c in bits(item)) for item in goals}

        def closeness(pair: tuple[int, int]) -> tuple[bool, bool, int]:
            a, b = pair
            between = around[a] & around[b] & self.field
            return bool(around[a] & b), bool(between), -(a | b).bit_count()

        a, b = max(combinations(goals, 2), key=closeness)
        return [a | b, *(item for item in items if item not in (a, b))]

    def _coarser(self, how: Contraction) -> Contraction | None:
        """Return a contraction with fewer states, or `None` if there is none."""
        groups, items, (light, lost) = how
        if light > 1 or lost:
            return Contraction(groups, items, ((light + 1) // 2, lost // 2))
        if len(groups) > 2:
            *others, a, b = sorted(groups, key=lambda places: -self._able(places))
            return Contraction((*others, a | b), items, (light, lost))
        if len(items) > 1:
            return Contraction(groups, tuple(self._merged(list(items))), (light, lost))
        if len(groups) > 1:
            return Contraction((union(groups),), items, (light, lost))
        return None

    def _others(self, how: Contraction) -> Iterator[Contraction]:
        """Yield contractions with more states."""
        groups, items, (light, lost) = how
        if light < MOST_LIGHT:
            yield Contraction(groups, items, (2 * light, max(2 * lost, 2)))
        for places in groups:
            for v in bits(places) if places.bit_count() > 1 else ():
                others = (other for other in groups if other != places)
                parts = places & ~(1 << v), 1 << v
                yield Contraction((*others, *parts), items, (light, lost))
        if len(items) >= MOST_ITEMS:
            return
        for x in self._extras(how)[:MOST_EXTRAS]:
            yield Contraction(groups, (*items, 1 << x), (light, lost))
        for item in items:
            for x in bits(item) if item.bit_count() > 1 else ():
                others = (other for other in items if other != item)
                yield Contraction(groups, (*others, item & ~(1 << x), 1 << x), (light, lost))

    def _extras(self, how: Contraction) -> list[int]:
        """Return light territories that are on cheap ways, those that cost most first."""
        light = self.field & ~union(how.items)
        price = {u: KEPT + LOST * self.problem.armies[u] for u in bits(light)}
        score = dict.fromkeys(price, 0.0)
        ways = {item: self._prices(item, price) for item in how.items}
        for places in how.groups:
            own, able = self._prices(places, price), self._able(places)
            for item in how.items:
                if union(self.problem.borders.out[v] for v in bits(places)) & item:
                    continue
                whole = {u: own[u] + ways[item][u] - price[u] for u in own if u in ways[item]}
                least = min(whole.values(), default=0.0)
                for u, each in whole.items():
                    if each < min(least + DETOUR, able):
                        score[u] += able * price[u] / (1 + each - least) / (1 + least)
        return sorted((u for u in score if score[u]), key=lambda u: -score[u])

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
