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
number.

**Small stacks** take light territories without any loss: what must remain on the fewest that they
need, for what they own or for more, is taken out of their purse with each conquest, and at once for
those on the way to the nearest item. Those that can come to no item are left out. The light
territories that small stacks can reach count as if they had one defender.

The states are found from the start, and their values in one backward pass, for all purses at once.
How coarse the contraction is, is a matter of time (`iacta.plan.contracting`).
"""

from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.methods.kernel import Choice
from iacta.plan.compiled import compiled
from iacta.plan.goals import Rewards
from iacta.plan.problem import Problem, bits, mask_of, union

__all__ = [
    "MOST_VALUES",
    "ContractedGame",
    "Contraction",
    "able_of",
    "contraction_value",
    "reach_of",
    "small_stacks",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Class: TypeAlias = tuple[int, int, int]  # kind of battle, defenders, what must remain
Multiset: TypeAlias = tuple[Class, ...]

FAR = 9_999  # more than any number of light territories and of their defenders
MOST_NUMBERED = 2**62
MOST_ACTIONS = 4_096
MOST_VALUES = 60_000_000


class Group(NamedTuple):
    """Some stacks whose armies are one purse.

    places: the set of their territories.
    able: their armies able to attack; of small ones, those with which they may come to an item.
    reach: the set of the territories that they may come to attack.
    is_small: whether they take light territories without any loss.
    paid: what is already taken off for the ways of small stacks to the nearest item.
    ways: for each of them, what it has left without any loss, and how many territories it takes.
    """

    places: int
    able: int
    reach: int
    is_small: bool = False
    paid: int = 0
    ways: tuple[tuple[int, int], ...] = ()

    @property
    def most(self) -> int:
        """The most armies with which one of its small stacks may come to an item."""
        return max((able for able, _ in self.ways), default=0)


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
    is_small: Bools  # of each group
    nodes: Ints  # N, [group, set of items]
    spare: Ints  # E
    whole: Ints  # K
    toll: Ints  # what a small group must have paid with these items
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
    purse -= t.toll[group, owned]
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

    attacks: filled with (group, row, defenders, what must remain, whether it is a dead end, toll).
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
        for n in range(0 if t.is_small[group] else len(t.light_rows)):
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
                attacks[count, 3], attacks[count, 4], attacks[count, 5] = t.light_kept, 0, 0
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
                attacks[count, 5] = t.toll[group, more] - t.toll[group, owned]
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
    attacks = np.zeros((MOST_ACTIONS, 6), np.int64)
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
def _solved(t: Tables, states: Ints, count: int) -> Floats:
    """Return the values of the last of all states, for all purses.

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
    attacks = np.zeros((MOST_ACTIONS, 6), np.int64)
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
                kept, is_dead_end, toll = attacks[a, 3], attacks[a, 4], attacks[a, 5]
                able = max(purses[group] - toll, 0)
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
                                    gone += toll + (stays if is_dead_end else min(stays, kept))
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
                    kept, is_dead_end, toll = attacks[a, 3], attacks[a, 4], attacks[a, 5]
                    if group != last or x <= toll:
                        continue
                    able = x - toll
                    plain = int(kept <= 1 and not is_dead_end)
                    for h in range(
                        t.roll_first[plain, row, able], t.roll_first[plain, row, able + 1]
                    ):
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
                                        gone += toll + (stays if is_dead_end else min(stays, kept))
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
    return values[begin[len(states) - 1] :]


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
    for u in range(count):  # compiled much faster than an assignment to the whole row
        of_light[0, u] = weights[u]
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

    groups: disjoint sets of the places of stacks; those left out are small.
    items: disjoint sets of territories. Together they hold the goal, and one of several territories
        holds nothing else.
    caps: where the counts of light territories of a group, and of their lost defenders, stop.
    few: small stacks that may come to an item with at most so many armies are one group.
    """

    groups: tuple[int, ...]
    items: tuple[int, ...]
    caps: tuple[int, int]
    few: int = 0


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
    armies = _light_armies(problem, field, how, light)
    kinds = [problem.kinds[u] for u in light]
    rolls = _Rolls(problem, max((group.able for group in groups), default=0))
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
    starts = [
        sorted((problem.kinds[c], problem.armies[c], problem.garrisons[c]) for c in bits(item))
        for item in items
    ]
    multisets = [_multisets(tuple(each), step) for each in starts]
    first = np.zeros((len(items), max(len(each.first) for each in multisets)), np.int64)
    begin = 0
    for i, each in enumerate(multisets):
        first[i, : len(each.first)] = begin + each.first
        begin += len(each.classes)
    class_kind, class_defenders, class_kept = np.concatenate([m.classes for m in multisets]).T
    rows = np.zeros((len(problem.kernels), max(problem.armies) + 1), np.int64)
    for (kind, defenders), row in rolls.row.items():
        rows[kind, defenders] = row
    weights = _ints(armies).reshape(-1)
    near = [union(borders.near[c] for c in bits(item)) for item in items]
    needed = [
        _needed(problem, each, groups, items, light)
        for each in (weights * 0 + 1, weights - 1, weights)
    ]
    for weighed in needed:
        for i, group in enumerate(groups):
            if group.is_small:
                weighed[i, weighed[i] < FAR] = 0
    nodes, spare, whole = needed
    useful = np.minimum(np.where(nodes < FAR, np.maximum(nodes, whole), 0), how.caps[0])
    is_small = np.array([group.is_small for group in groups])
    toll = _tolls(problem, field, groups, items, light)
    for i in range(len(items)):
        sets = np.arange(1 << len(items))
        np.maximum(useful, useful[:, sets | 1 << i], out=useful)
    caps = [*useful[:, 0].tolist(), min(how.caps[1], int((weights - 1).sum()))]
    garrisons = problem.garrisons
    radix: list[int] = []
    for each in multisets:
        radix += [len(each.first) - 1, 1 << len(groups)]
    radix += [cap + 1 for cap in caps]
    place = [1]
    for count in radix:
        place.append(place[-1] * count)
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
        is_small,
        nodes,
        spare,
        whole,
        toll,
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
        rows[class_kind, class_defenders],
        class_defenders.copy(),
        class_kept.copy(),
        np.concatenate([each.following for each in multisets]),
        *rolls.arrays(),
    )
    return tables, place[-1] - 1


def _groups(problem: Problem, field: int, how: Contraction) -> tuple[Group, ...]:
    """Return the groups of a contraction, that with the most armies last.

    Small stacks of few armies are one group.
    """
    groups = [
        Group(places, sum(able_of(problem, v) for v in bits(places)), problem.enemy)
        for places in how.groups
    ]
    inside, small = union(how.items), list[Group]()
    for v in small_stacks(problem, how):
        reach, steps = reach_of(problem, v, field, inside)
        if not reach & inside:
            continue
        group = Group(
            1 << v,
            able_of(problem, v) - steps,
            reach,
            is_small=True,
            paid=steps,
            ways=((able_of(problem, v) - steps, steps),),
        )
        together = [each for each in small if max(each.most, group.most) <= how.few]
        for other in together:
            small.remove(other)
            group = Group(
                group.places | other.places,
                group.able + other.able,
                group.reach | other.reach,
                is_small=True,
                paid=group.paid + other.paid,
                ways=group.ways + other.ways,
            )
        small.append(group)
    return tuple(sorted([*groups, *small], key=lambda group: group.able))


def small_stacks(problem: Problem, how: Contraction) -> list[int]:
    """Return the places of the stacks that are in no group."""
    return [v for v, _ in problem.stacks() if not union(how.groups) >> v & 1]


def able_of(problem: Problem, v: int) -> int:
    """Return how many armies of a stack may be lost or move on."""
    return problem.armies[v] - problem.garrisons[v]


def _light_armies(
    problem: Problem, field: int, how: Contraction, light: tuple[int, ...]
) -> list[int]:
    """Return the defenders of each light territory, 1 where a small stack can reach it."""
    touched = union(reach_of(problem, v, field, 0)[0] for v in small_stacks(problem, how))
    return [1 if touched >> u & 1 else problem.armies[u] for u in light]


class Multisets(NamedTuple):
    """What defenders an item may have, the empty multiset first.

    first: for each multiset the number of its first class; their number at the end.
    classes: of each multiset its classes, which are equal in the kind of battle, the defenders and
        what must remain there.
    following: for each class the multisets after it has lost 0, 1, 2 ... defenders.
    """

    first: Ints
    classes: Ints
    following: Ints


@lru_cache(maxsize=32)
def _multisets(start: Multiset, step: int) -> Multisets:
    """Return what defenders an item may have that begins with some.

    step: the most defenders that a roll can cost.
    """
    after: dict[Multiset, list[tuple[Class, list[Multiset]]]] = {}
    waiting = [start]
    while waiting:
        multiset = waiting.pop()
        if multiset in after:
            continue
        after[multiset] = classes = []
        for each in dict.fromkeys(multiset):
            place, (kind, defenders, kept) = multiset.index(each), each
            rest, following = multiset[:place] + multiset[place + 1 :], [multiset]
            for left in range(defenders - 1, max(defenders - step, 1) - 1, -1):
                smaller = (kind, left, kept)
                place = bisect_left(rest, smaller)
                following.append((*rest[:place], smaller, *rest[place:]))
            following += [rest] * (step + 1 - len(following))
            classes.append((each, following))
            waiting += following[1:]
    order = sorted(after, key=lambda multiset: sum(each[1] for each in multiset))
    number = {multiset: n for n, multiset in enumerate(order)}
    found = [each for multiset in order for each in after[multiset]]
    return Multisets(
        np.cumsum([0, *(len(after[multiset]) for multiset in order)]),
        _ints([each for each, _ in found]).reshape(-1, 3),
        _ints([[number[each] for each in following] for _, following in found]).reshape(
            -1, step + 1
        ),
    )


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


def _purse(problem: Problem, light: int, group: Group) -> Floats:
    """Return the distribution of what is in a purse when its stacks come next to an item.

    What they lose on their ways is drawn at the start, as if all defenders there were single.
    """
    if not group.is_small:
        full: Floats = np.eye(1, group.able + 1, group.able)[0]
        return full
    more = max(problem.garrisons) - problem.rules.garrison
    most = max(problem.armies[v] for v in bits(group.places))
    choices = {
        choice
        for kind in {problem.kinds[u] for u in bits(light)}
        for able in range(1, most + 1)
        for choice in problem.kernels[kind].rolls(able + more, 1, able)
    }
    conquered = np.zeros(group.able + 1)  # at a loss of at most x
    for x in range(group.able + 1):
        for choice in choices:
            chance = 0.0
            for throw in choice.throws:
                chance += throw.chance * min(
                    sum(
                        each.chance * (1.0 if each.defenders else conquered[x - each.attackers])
                        for each in option
                        if each.attackers <= x
                    )
                    for option in throw.options
                )
            conquered[x] = max(conquered[x], chance)
    loss = np.diff(conquered, prepend=0.0)
    purse = np.ones(1)
    for able, steps in group.ways:
        lost = np.eye(1, able + 1)[0]
        for _ in range(steps):
            lost = np.convolve(lost, loss)[: able + 1]
        left = lost[::-1].copy()
        left[0] += 1.0 - lost.sum()
        purse = np.convolve(purse, left)
    return purse


def _tolls(
    problem: Problem,
    field: int,
    groups: tuple[Group, ...],
    items: tuple[int, ...],
    light: tuple[int, ...],
) -> Ints:
    """Return for each small group what remains on light territories that sets of items need.

    What remains on the way to the nearest item is already taken off.
    """
    least = min((min(problem.garrisons[u], 1) for u in light), default=0)
    nodes = _needed(problem, _ints([least] * len(light)), groups, items, light)
    sets = np.arange(1 << len(items))
    for i in range(len(items)):  # the least of any larger set
        np.minimum(nodes, nodes[:, sets | 1 << i], out=nodes)
    for i, group in enumerate(groups):
        nodes[i] = np.maximum(nodes[i] - group.paid, 0) if group.is_small else 0
    return nodes


def reach_of(problem: Problem, v: int, field: int, items: int) -> tuple[int, int]:
    """Return what the stack on v may come to attack before its armies are used up.

    Returned, too, is how many of them remain on territories that it must take before it comes next
    to any of the items.
    """
    borders = problem.borders
    if min((problem.garrisons[c] for c in bits(field)), default=1) < 1:
        return borders.reachable(v, field), 0
    reach, steps = borders.out[v] & field, 0
    for taken in range(1, able_of(problem, v)):
        if not reach & items:
            steps = taken
        reach |= union(borders.out[c] for c in bits(reach)) & field
    return reach, steps


class ContractedGame:
    """A contracted game.

    problem: the problem.
    field: what may be of use to attack.
    goal: the set to take.
    how: how it is contracted.
    any_of: whether any territory of the goal is enough.

    One with more than 2^62 states is refused.
    """

    def __init__(
        self, problem: Problem, field: int, goal: int, how: Contraction, *, any_of: bool = False
    ) -> None:
        self._tables, self._start = _tables(problem, field, goal, how, any_of=any_of)
        light = field & ~union(how.items)
        self._purses = [_purse(problem, light, each) for each in _groups(problem, field, how)]
        self._states = np.zeros(0, np.int64)
        self.values = 0

    def fits(self, most: int) -> bool:
        """Return whether the states of the game have at most so many values."""
        self._states, self.values = _explored(self._tables, self._start, most)
        return len(self._states) > 0

    def value(self) -> float:
        """Return the value of a game that fits, at the start."""
        values = _solved(self._tables, self._states, self.values)
        values = values.reshape([len(purse) for purse in self._purses])
        for purse in self._purses:
            values = np.tensordot(purse, values, 1)
        return float(values)


def contraction_value(problem: Problem, field: int, rewards: Rewards, how: Contraction) -> float:
    """Return the value of a contracted game.

    problem: the problem.
    field: what may be of use to attack.
    rewards: what the goal pays, all or any of a set.
    how: how it is contracted.
    """
    goal = rewards.all_of or rewards.any_of
    game = ContractedGame(problem, field, goal, how, any_of=not rewards.all_of)
    if not game.fits(MOST_VALUES):
        raise TooLargeError(f"a contracted game must have at most {MOST_VALUES} values")
    return game.value()
