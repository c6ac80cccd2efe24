"""The states of a turn as whole numbers, many at once.

A state is one whole number, its digits being what is on each territory: defenders less 1, or on a
territory of the player's as many as it ever has defenders, plus his armies. The digit before them
is t, the number of all armies. A result changes it by the same number in all states, so a sorted
array of states leads to a sorted array of followers, which are found by bisection.

What cannot matter any more is left out of a state, so that states which differ only in that are
one: armies that cannot attack again, because none may be spared or no neighbour is left to attack.
Territories with the same neighbours, rewards and rules are interchangeable: their armies are put in
order. States in which nothing more can be paid are recognised:

- what pays must be reachable from stacks that can attack, through what is left to attack, and to
  take all of a set, all of it;
- with Φ the spare armies of these stacks, each conquest takes at least one from Φ (it stays behind,
  if each territory must keep one), and needs one: Φ ≥ the number of territories to take.

If who has more armies may make all the rolls that he may make with fewer, then more armies on a
territory never harm: he may play as if they were not there. So after a conquest no army more than
the rules force advances to where nothing is left to attack, and all do that may from where nothing
is. Where whole battles are decided at once this is not so, and all advances are tried.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Choice, Result
from iacta.plan.problem import bits, mask_of
from iacta.plan.turn import Turn, TurnState

__all__ = [
    "SAME",
    "Advances",
    "Block",
    "Border",
    "Fight",
    "Layout",
    "advances_after",
    "find",
    "in_parts",
    "merged",
    "read_layout",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

MOST_CODE = 2**62
MOST_FIELD = 16  # what is paid is tabulated for all sets of so many territories
MOST_COMPARED = 10  # in fields of so many territories symmetries are looked for
SAME = 1e-13


class Loss(NamedTuple):
    """What a roll may cost.

    attackers, defenders: armies lost; tables by the armies and the defenders before, where they
        differ.
    conquers: whether no defender is left.
    possible: where it is possible, as such a table; `None` for everywhere.
    """

    attackers: int | Ints
    defenders: int | Ints
    conquers: bool
    possible: Bools | None = None


class Option(NamedTuple):
    """A distribution of the losses that the defender may choose.

    chances: the chance of each, a table where they differ.
    losses: their places in `Group.losses`.
    """

    chances: tuple[float | Floats, ...]
    losses: tuple[int, ...]


class Move(NamedTuple):
    """A roll, as `iacta.methods.kernel.Choice` with its losses by their places.

    least: what a conquest forces to advance.
    throws: the chance of each attack throw, and what the defender may choose then.
    """

    least: int
    throws: tuple[tuple[float, tuple[Option, ...]], ...]


class Group(NamedTuple):
    """Battles in which the rolls are the same.

    moves: the rolls.
    losses: what they may cost.
    """

    moves: tuple[Move, ...]
    losses: tuple[Loss, ...]


class Border(NamedTuple):
    """A border over which may be attacked.

    start, to: the places of the two territories.
    groups: all groups of battles.
    table: the place in `groups` for each number of armies and defenders.
    leasts: what conquests may force to advance, in order.
    """

    start: int
    to: int
    groups: list[Group]
    table: Ints
    leasts: tuple[int, ...]


class Fight(NamedTuple):
    """Battles over one border, of one group, in some states of a block.

    number: the number of the border.
    group: the rolls.
    rows: the states.
    armies, held: the armies on the two territories in each.
    """

    number: int
    group: Group
    rows: Ints
    armies: Ints
    held: Ints

    def of(self, rows: Ints | Bools) -> "Fight":
        """Return some of the battles."""
        return self._replace(rows=self.rows[rows], armies=self.armies[rows], held=self.held[rows])

    def lost(self, armies: int | Ints) -> int | Ints:
        """Return how many armies are lost in each battle."""
        return armies[self.armies, self.held] if isinstance(armies, np.ndarray) else armies

    def chance(self, chance: float | Floats) -> float | Floats:
        """Return how likely something is in each battle."""
        return chance[self.armies, self.held] if isinstance(chance, np.ndarray) else chance


class Layout:
    """How the states of a turn are written as whole numbers.

    Place i stands for the territory `places[i]`: first the stacks, then the field.

    turn: the turn.
    places: the territories.
    stacks: how many of the places are stacks at the start.
    most: for each place the most armies of the player on it.
    defenders: for each place the most defenders of it; 0 for a stack.
    twins: groups of interchangeable places.
    """

    def __init__(
        self,
        turn: Turn,
        places: Sequence[int],
        stacks: int,
        most: Sequence[int],
        defenders: Sequence[int],
        twins: list[list[int]],
    ) -> None:
        problem = turn.problem
        self.turn, self.places, self.stacks = turn, tuple(places), stacks
        self.defenders, self.twins = tuple(defenders), twins
        self.radix = [d + n + 1 for n, d in zip(most, defenders, strict=True)]
        self.strides = [prod(self.radix[:i]) for i in range(len(places))]
        self.whole = prod(self.radix)  # the stride of t
        self.steps = [stride + self.whole for stride in self.strides]
        self.garrisons = [problem.garrisons[t] for t in places]
        targets = {c: j for j, c in enumerate(places[stacks:])}
        self.goal = mask_of(targets[c] for c in bits(turn.rewards.all_of) if c in targets)
        self.near = [
            mask_of(targets[c] for c in bits(problem.borders.out[t]) if c in targets)
            for t in places
        ]
        self.paying = mask_of(targets[c] for c in bits(turn.rewards.paying) if c in targets)
        self.beyond = turn.left(turn.start()) & ~mask_of(places)  # what no stack can reach
        self.is_lost = bool(self.beyond & turn.rewards.all_of)
        # Whether each conquest takes an army from those to spare.
        self.costly = bool(self.goal) and all(self.garrisons[stacks:])
        self.most = most
        self.nested = True
        self.borders = [
            self._border(i, stacks + j) for i, mask in enumerate(self.near) for j in bits(mask)
        ]
        sets = 2 ** (len(places) - stacks)
        self._known = np.zeros(sets, dtype=bool)
        self._paid = np.zeros((len(places), sets))
        self._over = np.zeros((len(places), sets), dtype=bool)

    def _border(self, i: int, c: int) -> Border:
        """Return a border with the rolls for each number of armies and defenders."""
        v, to = self.places[i], self.places[c]
        by_size = {
            (n, d): self.turn.choices(v, to, n, d)
            for n in range(self.garrisons[i] + 1, self.most[i] + 1)
            for d in range(1, self.defenders[c] + 1)
        }
        groups, table = _groups(by_size, (self.most[i] + 1, self.defenders[c] + 1))
        # With more armies on the territory, there are all the rolls that there are with fewer.
        self.nested &= all(
            {*choices} <= {*by_size.get((n + 1, d), choices)} for (n, d), choices in by_size.items()
        )
        leasts = {move.least for group in groups for move in group.moves}
        return Border(i, c, groups, table, tuple(sorted(leasts)))

    def encode(self, state: TurnState) -> int | None:
        """Return the number of a state, its territories as they are; `None` for one too large."""
        left = self.turn.left(state)
        code = total = 0
        others = state.owned & ~self.turn.problem.resting & ~mask_of(self.places)
        if any(self._is_live(state, t, left) for t in bits(others)):
            return None
        for i, t in enumerate(self.places):
            if state.owned >> t & 1:
                n = state.armies[t] if self._is_live(state, t, left) else 0
                digit = self.defenders[i] + n
            else:
                n = state.armies[t]
                digit = n - 1
                if i < self.stacks or not 0 <= digit < self.defenders[i]:
                    return None
            if digit >= self.radix[i]:
                return None
            code, total = code + digit * self.strides[i], total + n
        return code + total * self.whole

    def _is_live(self, state: TurnState, t: int, left: int) -> bool:
        problem = self.turn.problem
        return state.armies[t] > problem.garrisons[t] and bool(problem.borders.out[t] & left)

    def in_order(self, codes: Ints) -> Ints:
        """Return the states with interchangeable territories in order."""
        for group in self.twins:
            digits = [codes // self.strides[i] % self.radix[i] for i in group]
            ordered = np.sort(np.stack(digits), axis=0)
            codes = codes.copy()
            for i, before, after in zip(group, digits, ordered, strict=True):
                codes += (after - before) * self.strides[i]
        return codes

    def paid(self, c: int, left: Ints) -> tuple[Floats, Bools]:
        """Return what the conquest of a place pays when `left` is left, and whether it ends all."""
        if not self._known[left].all():
            for mask in set(left[~self._known[left]].tolist()):
                self._fill(mask)
        return self._paid[c, left], self._over[c, left]

    def _fill(self, mask: int) -> None:
        self._known[mask] = True
        field, rewards = self.turn.field, self.turn.rewards
        left = self.beyond | mask_of(self.places[self.stacks + j] for j in bits(mask))
        for j in bits(mask):
            c = self.places[self.stacks + j]
            after = left & ~(1 << c)
            self._paid[self.stacks + j, mask] = rewards.of(c, left)
            self._over[self.stacks + j, mask] = rewards.is_over(after, field & ~after)


def read_layout(turn: Turn) -> Layout | None:
    """Return the layout of a turn; `None` if its states are too large for a whole number."""
    problem, start = turn.problem, turn.start()
    stacks = [v for v, _ in problem.stacks() if problem.borders.out[v] & turn.left(start)]
    field = list(bits(problem.borders.reachable_from(stacks, turn.left(start))))
    if len(field) > MOST_FIELD:
        return None
    places = [*stacks, *field]
    most_moved = max((turn.spare(start, v) for v in stacks), default=0)
    most = [*(problem.armies[v] for v in stacks), *(most_moved for _ in field)]
    defenders = [*(0 for _ in stacks), *(problem.armies[c] for c in field)]
    twins = _twins(turn, places, len(stacks))
    for group in twins:
        for row in (most, defenders):
            for i in group:
                row[i] = max(row[k] for k in group)
    total = sum(problem.armies[t] for t in places)
    if prod(d + n + 1 for n, d in zip(most, defenders, strict=True)) * (total + 1) >= MOST_CODE:
        return None
    return Layout(turn, places, len(stacks), most, defenders, twins)


def _twins(turn: Turn, places: list[int], stacks: int) -> list[list[int]]:
    """Return groups of places that are interchangeable."""
    if len(places) - stacks > MOST_COMPARED:
        return []
    groups: list[list[int]] = []
    for i, t in enumerate(places):
        for group in groups:
            if (group[0] < stacks) == (i < stacks) and _are_twins(turn, places[group[0]], t):
                group.append(i)
                break
        else:
            groups.append([i])
    return [group for group in groups if len(group) > 1]


def _are_twins(turn: Turn, t: int, u: int) -> bool:
    """Return whether nothing but their armies tells two territories apart."""
    problem, rewards, field = turn.problem, turn.rewards, turn.field
    both = 1 << t | 1 << u
    owned = problem.owned >> t & 1

    def swapped(mask: int) -> int:
        return mask ^ both if (mask & both).bit_count() == 1 else mask

    def attacked(mask: int) -> int:
        return mask & field

    out = problem.borders.out
    if problem.garrisons[t] != problem.garrisons[u] or problem.kinds[t] != problem.kinds[u]:
        return False
    if any(
        attacked(out[swapped(1 << w).bit_length() - 1]) != swapped(attacked(out[w]))
        for w in range(len(out))
        if not problem.owned >> w & 1 or w in (t, u) or not owned
    ):
        return False
    if owned:
        return True
    others = list(bits(field & ~problem.owned))
    return all(
        rewards.of(c, left) == rewards.of(swapped(1 << c).bit_length() - 1, swapped(left))
        and rewards.is_over(left, field & ~left)
        == rewards.is_over(swapped(left), field & ~swapped(left))
        for size in range(1, len(others) + 1)
        for some in combinations(others, size)
        for left in (mask_of(some),)
        for c in some
    )


def _groups(
    by_size: dict[tuple[int, int], tuple[Choice, ...]], shape: tuple[int, int]
) -> tuple[list[Group], Ints]:
    """Return groups of battles, and the place of each battle's group.

    by_size: the rolls for each number of armies and of defenders.
    shape: how many such numbers there are.
    """
    table = np.zeros(shape, dtype=np.int64)
    if not by_size:
        return [Group((), ())], table
    if all(len(choices) == 1 and _is_simple(choices[0]) for choices in by_size.values()):
        return [_simple_group(by_size, shape)], table
    groups: list[Group] = []
    known: dict[tuple[int, ...], int] = {}
    for (n, d), choices in by_size.items():
        results = [option for each in choices for throw in each.throws for option in throw.options]
        losses = list(dict.fromkeys(result[1:] for option in results for result in option))
        held = d if any(y == d for _, y in losses) else 0
        key = (id(choices[0]) if choices else 0), held, len(choices)
        if key not in known:
            known[key] = len(groups)
            moves = tuple(
                Move(
                    choice.least,
                    tuple(
                        (throw.chance, tuple(_option(each, losses) for each in throw.options))
                        for throw in choice.throws
                    ),
                )
                for choice in choices
            )
            groups.append(Group(moves, tuple(Loss(x, y, y == held > 0) for x, y in losses)))
        table[n, d] = known[key]
    return groups, table


def _option(results: tuple[Result, ...], losses: list[tuple[int, int]]) -> Option:
    return Option(
        tuple(result.chance for result in results),
        tuple(losses.index(result[1:]) for result in results),
    )


def _is_simple(choice: Choice) -> bool:
    """Return whether nobody has anything to choose, as in a whole battle."""
    return len(choice.throws) == 1 and len(choice.throws[0].options) == 1


def _simple_group(
    by_size: dict[tuple[int, int], tuple[Choice, ...]], shape: tuple[int, int]
) -> Group:
    """Return all battles as one group, if there is one roll in each and nothing to choose."""
    ends: dict[tuple[bool, int], list[tuple[int, int, Result]]] = {}
    for (n, d), (choice,) in by_size.items():
        places = {True: 0, False: 0}
        for result in choice.throws[0].options[0]:
            conquers = result.defenders == d
            ends.setdefault((conquers, places[conquers]), []).append((n, d, result))
            places[conquers] += 1
    losses, chances = [], []
    for (conquers, _), rows in ends.items():
        attackers, defenders = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        chance = np.zeros(shape)
        for n, d, result in rows:
            chance[n, d], attackers[n, d], defenders[n, d] = result
        losses.append(Loss(attackers, defenders, conquers, chance > 0.0))
        chances.append(chance)
    (choice,) = next(iter(by_size.values()))
    option = Option(tuple(chances), tuple(range(len(losses))))
    return Group((Move(choice.least, ((1.0, (option,)),)),), tuple(losses))


class Block:
    """Some states, taken apart into their digits.

    layout: the layout.
    codes: the states.
    armies: for each place the player's armies on it, below 0 where it is not his.
    left: the set of the field that is not taken.
    """

    def __init__(self, layout: Layout, codes: Ints) -> None:
        self.layout, self.codes = layout, codes
        rest = codes % layout.whole
        self.armies: list[Ints] = []
        for radix, defenders in zip(layout.radix, layout.defenders, strict=True):
            above = rest // radix
            self.armies.append(rest - above * radix - defenders)
            rest = above
        self.left = np.zeros(len(codes), dtype=np.int64)
        for j, armies in enumerate(self.armies[layout.stacks :]):
            self.left |= (armies < 0).astype(np.int64) << j

    def spare(self) -> Ints:
        """Return Φ, how many armies may be lost or move on."""
        total = np.zeros(len(self.codes), dtype=np.int64)
        for armies, garrison in zip(self.armies, self.layout.garrisons, strict=True):
            total += np.maximum(armies - garrison, 0)
        return total

    def hopes(self) -> Bools:
        """Return in which states more may be paid."""
        layout, spare = self.layout, self.spare()
        reached = np.zeros(len(self.codes), dtype=np.int64)
        for armies, near in zip(self.armies, layout.near, strict=True):
            reached |= np.where(armies > 0, near, 0)
        reached &= self.left
        while True:
            before = reached.copy()
            for j, near in enumerate(layout.near[layout.stacks :]):
                reached |= np.where(reached >> j & 1, near, 0) & self.left
            if (reached == before).all():
                break
        if not layout.goal:
            return np.asarray((spare > 0) & (reached & layout.paying != 0))
        wanted = self.left & layout.goal
        needed = np.maximum(count_of(wanted), 1) if layout.costly else 1
        return np.asarray((spare >= needed) & (wanted & ~reached == 0) & (not layout.is_lost))

    def fights(self) -> Iterator[Fight]:
        """Yield all battles of the states."""
        for number, border in enumerate(self.layout.borders):
            ours, theirs = self.armies[border.start], self.armies[border.to]
            rows = np.flatnonzero((ours > 0) & (theirs < 0))
            if not len(rows):
                continue
            armies = ours[rows]
            held = theirs[rows] + self.layout.defenders[border.to] + 1
            fight = Fight(number, border.groups[0], rows, armies, held)
            if len(border.groups) == 1:
                yield fight
                continue
            which = border.table[armies, held]
            for k in np.flatnonzero(np.bincount(which)).tolist():
                if border.groups[k].moves:
                    yield fight._replace(group=border.groups[k]).of(which == k)

    def after(self, fight: Fight, loss: Loss) -> Ints:
        """Return the states after a loss; after a conquest, before the advance."""
        layout, border = self.layout, self.layout.borders[fight.number]
        i, c = border.start, border.to
        attackers, defenders = fight.lost(loss.attackers), fight.lost(loss.defenders)
        codes = self.codes[fight.rows] - attackers * layout.steps[i] - defenders * layout.steps[c]
        if loss.conquers:
            return np.asarray(codes + (layout.defenders[c] + 1) * layout.strides[c])
        rest = fight.armies - attackers
        stuck = rest <= layout.garrisons[i]
        if stuck.any():
            codes -= np.where(stuck, rest, 0) * layout.steps[i]
        return np.asarray(codes)


def count_of(masks: Ints) -> Ints:
    """Return the sizes of sets."""
    count = np.zeros_like(masks)
    for j in range(MOST_FIELD):
        count += masks >> j & 1
    return count


class Advances(NamedTuple):
    """All advances after some conquests.

    moved: how many armies advance, as `[m, 1]`.
    allowed: whether they may, and whether it makes a difference, as `[m, conquest]`.
    codes: the states after it, as `[m, conquest]`.
    spare: how many armies were able to move, of each conquest.
    onward: whether the conquered territory has any left to attack, of each conquest.
    """

    moved: Ints
    allowed: Bools
    codes: Ints
    spare: Ints
    onward: Bools

    def best(self, worths: Floats, least: int) -> tuple[Ints, Floats]:
        """Return how many armies advance at best, and what that is worth, of each conquest.

        worths: V after each advance, as `[m, conquest]`.
        least: what the rules force.

        Where it makes no difference, as many advance as may, unless nothing is left to attack.
        """
        allowed = self.allowed & (self.moved >= np.minimum(least, self.spare))
        most = np.where(allowed, worths, 0.0).max(axis=0)
        good = allowed & (worths >= most * (1.0 - SAME))
        last = len(good) - good[::-1].argmax(axis=0)
        return np.where(self.onward, last, good.argmax(axis=0) + 1), most


def advances_after(layout: Layout, number: int, codes: Ints) -> Advances:
    """Return all advances after some conquests over a border."""
    border = layout.borders[number]
    i, c = border.start, border.to
    block = Block(layout, codes)
    base = block.codes - block.armies[i] * layout.steps[i]
    for u, near in enumerate(layout.near):
        if u not in (i, c) and near >> c - layout.stacks & 1:
            stuck = (near & block.left == 0) & (block.armies[u] > 0)
            if stuck.any():
                base = base - np.where(stuck, block.armies[u], 0) * layout.steps[u]
    armies = block.armies[i]
    spare = armies - layout.garrisons[i]
    ours, theirs = (layout.near[place] & block.left != 0 for place in (i, c))
    least, most = np.minimum(border.leasts[0], spare), spare
    if layout.nested:
        most = np.where(theirs, most, np.minimum(border.leasts[-1], spare))
        least = np.where(theirs & ~ours, spare, least)
    moved = np.arange(1, int(spare.max()) + 1)[:, None]
    allowed = (moved >= least) & (moved <= most)
    stay = np.where(ours & (moved < spare), armies - moved, 0)
    go = np.where(theirs & (moved > layout.garrisons[c]), moved, 0)
    after = base + stay * layout.steps[i] + go * layout.steps[c]
    return Advances(moved, allowed, after, spare, theirs)


def merged(parts: list[Ints]) -> Ints:
    """Return the states of some arrays in order, each once."""
    codes = np.concatenate(parts)
    codes.sort(kind="stable")  # quick where the arrays are in order already
    if not len(codes):
        return codes
    new = np.empty(len(codes), dtype=bool)
    new[0] = True
    np.not_equal(codes[1:], codes[:-1], out=new[1:])
    return codes[new]


def in_parts(codes: Ints, size: int) -> Iterator[Ints]:
    """Yield the states in parts of some size."""
    for low in range(0, len(codes), size):
        yield codes[low : low + size]


def find(known: Ints, codes: Ints) -> tuple[Ints, Bools]:
    """Return where some states are among those known, and which of them are there at all."""
    if not len(known):
        return np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=bool)
    places = np.searchsorted(known, codes)
    np.minimum(places, len(known) - 1, out=places)
    return places, known[places] == codes
