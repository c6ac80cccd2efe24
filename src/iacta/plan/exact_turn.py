"""The best play of a turn, exactly: one backward pass over all states, in order of their armies.

A roll only takes armies, and an advance only moves them. So with t(s), the number of armies on all
territories, the states that can follow s have fewer, and V (`iacta.plan.turn`) is found for t = 0,
1, 2 ... in a single pass, all states with the same t at once. A forward pass from the start finds
these states before: those that some play can lead to, and no others.

What cannot matter any more is left out of a state, so that states which differ only in that are
one: armies that cannot attack again, because none may be spared or no neighbour is left to attack.
Territories with the same neighbours, rewards and rules are interchangeable: their armies are put in
order. States in which the goal is reached or out of reach have no successors, and are not kept:

    all of the goal must be reachable from stacks that can attack, through what is left to attack;
    with Φ the spare armies of these stacks, each conquest takes at least one from Φ (it stays
    behind, if each territory must keep one), and needs one: Φ ≥ the number of territories to take.

If rolls are made with so many dice as the player chooses, more armies on a territory never harm, as
he may play as if they were not there. So after a conquest no army more than the rules force
advances to where nothing is left to attack, and all do that may from where nothing is. Where whole
battles are decided at once this is not so, and all advances are tried.

A state is one whole number, its digits being what is on each territory: defenders less 1, or on a
territory of the player's as many as it ever has defenders, plus his armies; the digit before them
is t. A result changes it by the same number in all states, so a sorted array of states leads to a
sorted array of followers, which are found by bisection.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Choice, Result
from iacta.plan.exact import Attack
from iacta.plan.policy import Visit, Visits
from iacta.plan.problem import bits, mask_of
from iacta.plan.turn import Roll, Turn, TurnState

__all__ = ["BestRoll", "ExactTurn", "solve_turn"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

MOST_STATES = 10**6
MOST_CODE = 2**62
MOST_FIELD = 16  # what is paid is tabulated for all sets of so many territories
MOST_COMPARED = 10  # in fields of so many territories symmetries are looked for
AT_ONCE = 2**15  # states that are computed together fit into a processor's cache
SAME = 1e-13


class BestRoll(NamedTuple):
    """The best roll of a state.

    roll: what to roll.
    worth: what is still paid on average, with this roll and the best play after it.
    advance: for each number of armies that may be left able to move if the roll conquers, how many
        of them move in.
    """

    roll: Roll
    worth: float
    advance: dict[int, int]


def solve_turn(
    turn: Turn, most_states: int = MOST_STATES, late: Callable[[], bool] = lambda: False
) -> "ExactTurn | None":
    """Return the best play of a turn; `None` if it has too many states, or the time is over.

    turn: the turn.
    most_states: how many states may be kept.
    late: tells whether the time is over.
    """
    layout = _layout(turn)
    if layout is None:
        return None
    solver = ExactTurn(layout)
    return solver if solver._explore(most_states, late) and solver._solve(late) else None


class _Group(NamedTuple):
    """Battles in which the rolls are the same.

    choices: the rolls.
    held: the number of defenders if a roll can take them all, otherwise -1.
    results: the losses that rolls may cost.
    """

    choices: tuple[Choice, ...]
    held: int
    results: tuple[tuple[int, int], ...]


class _Border(NamedTuple):
    """A border over which may be attacked.

    start, to: the places of the two territories.
    groups: all groups of battles.
    table: the place in `groups` for each number of armies and defenders.
    leasts: what conquests may force to advance.
    """

    start: int
    to: int
    groups: list[_Group]
    table: Ints
    leasts: tuple[int, ...]


class _Layout:
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
        self.borders = [
            self._border(i, stacks + j) for i, mask in enumerate(self.near) for j in bits(mask)
        ]
        self.nested = not turn.whole_battles and all(
            kernel.rules.mode.rolls for kernel in problem.kernels
        )
        sets = 2 ** (len(places) - stacks)
        self._known = np.zeros(sets, dtype=bool)
        self._paid = np.zeros((len(places), sets))
        self._over = np.zeros((len(places), sets), dtype=bool)

    def _border(self, i: int, c: int) -> _Border:
        """Return a border with the rolls for each number of armies and defenders."""
        v, to = self.places[i], self.places[c]
        groups: list[_Group] = []
        known: dict[tuple[int, ...], int] = {}
        table = np.zeros((self.most[i] + 1, self.defenders[c] + 1), dtype=np.int64)
        for n in range(self.garrisons[i] + 1, self.most[i] + 1):
            for d in range(1, self.defenders[c] + 1):
                choices = self.turn.choices(v, to, n, d)
                results = _results(choices)
                held = d if any(y == d for _, y in results) else -1
                key = id(choices[0]) if choices else 0, held, len(choices)
                if key not in known:
                    known[key] = len(groups)
                    groups.append(_Group(choices, held, results))
                table[n, d] = known[key]
        leasts = {choice.least for group in groups if group.held for choice in group.choices}
        return _Border(i, c, groups, table, tuple(sorted(leasts)))

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


def _results(choices: tuple[Choice, ...]) -> tuple[tuple[int, int], ...]:
    """Return the losses that any of some rolls may cost."""
    return tuple(
        dict.fromkeys(
            (result.attackers, result.defenders)
            for choice in choices
            for throw in choice.throws
            for option in throw.options
            for result in option
        )
    )


def _layout(turn: Turn) -> _Layout | None:
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
    return _Layout(turn, places, len(stacks), most, defenders, twins)


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


class _Fight(NamedTuple):
    """Battles over one border, of one group, in some states of a block.

    number: the number of the border.
    group: the rolls.
    rows: the states.
    armies: the armies of the attacking territory in each.
    """

    number: int
    group: _Group
    rows: Ints
    armies: Ints


class _Block:
    """Some states, taken apart into their digits.

    layout: the layout.
    codes: the states.
    armies: for each place the player's armies on it, below 0 where it is not his.
    left: the set of the field that is not taken.
    """

    def __init__(self, layout: _Layout, codes: Ints) -> None:
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
        needed = np.maximum(_count(wanted), 1) if layout.costly else 1
        return np.asarray((spare >= needed) & (wanted & ~reached == 0) & (not layout.is_lost))

    def fights(self) -> Iterator[_Fight]:
        """Yield all battles of the states."""
        for number, border in enumerate(self.layout.borders):
            ours, theirs = self.armies[border.start], self.armies[border.to]
            rows = np.flatnonzero((ours > 0) & (theirs < 0))
            if not len(rows):
                continue
            armies = ours[rows]
            held = theirs[rows] + self.layout.defenders[border.to] + 1
            which = border.table[armies, held]
            present = np.flatnonzero(np.bincount(which))
            for k in present.tolist():
                here = slice(None) if len(present) == 1 else which == k
                if border.groups[k].choices:
                    yield _Fight(number, border.groups[k], rows[here], armies[here])

    def after(self, fight: _Fight, attackers: int, defenders: int) -> Ints:
        """Return the states after some losses; after a conquest, before the advance."""
        layout, border = self.layout, self.layout.borders[fight.number]
        i, c = border.start, border.to
        codes = self.codes[fight.rows] - attackers * layout.steps[i]
        if defenders == fight.group.held:
            codes += (layout.defenders[c] + 1) * layout.strides[c]
            return np.asarray(codes - defenders * layout.steps[c])
        codes -= defenders * layout.steps[c]
        rest = fight.armies - attackers
        stuck = rest <= layout.garrisons[i]
        if stuck.any():
            codes -= np.where(stuck, rest, 0) * layout.steps[i]
        return codes


def _count(masks: Ints) -> Ints:
    """Return the sizes of sets."""
    count = np.zeros_like(masks)
    for j in range(MOST_FIELD):
        count += masks >> j & 1
    return count


class _Advances(NamedTuple):
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


def _advances(layout: _Layout, number: int, codes: Ints) -> _Advances:
    """Return all advances after some conquests over a border."""
    border = layout.borders[number]
    i, c = border.start, border.to
    block = _Block(layout, codes)
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
    return _Advances(moved, allowed, after, spare, theirs)


class ExactTurn:
    """The best play of a turn, from all states that it can come to.

    `solve_turn` makes it.

    codes: all states, in order.
    values: V of each.
    """

    def __init__(self, layout: _Layout) -> None:
        self._layout, self.turn = layout, layout.turn
        self.codes = np.empty(0, dtype=np.int64)
        self.values = np.empty(0)
        self._layers: list[tuple[int, int]] = []  # from which to before which state
        borders = len(layout.borders)
        self._conquests: list[dict[int, Ints]] = [{} for _ in range(borders)]  # by t
        self._known: list[Ints] = [np.empty(0, dtype=np.int64) for _ in range(borders)]
        self._follows: list[dict[int, Floats]] = [{} for _ in range(borders)]

    @property
    def value(self) -> float:
        """V at the start."""
        return self.value_of(self.turn.start()) or 0.0

    def value_of(self, state: TurnState) -> float | None:
        """Return V of a state; `None` for one that the turn cannot come to."""
        if self.turn.is_over(state):
            return 0.0
        code = self._layout.encode(state)
        if code is None:
            return None
        codes = self._layout.in_order(np.array([code]))
        places, hit = _find(self.codes, codes)
        if hit[0]:
            return float(self.values[places[0]])
        return None if _Block(self._layout, codes).hopes()[0] else 0.0

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return the best roll of a state; `None` if it is best to stop.

        state: one that the turn can come to.
        """

        def value(after: TurnState) -> float:
            return self.value_of(after) or 0.0

        best, best_worth = None, 0.0
        for roll in self.turn.rolls(state):
            worth = self.turn.worth(state, roll, value)
            if worth > best_worth * (1.0 + SAME):
                best, best_worth = roll, worth
        if best is None:
            return None
        choice, advance = self.turn.choice(state, best), {}
        for attackers, defenders in _results((choice,)):
            after = self.turn.after(state, best, Result(1.0, attackers, defenders))
            worths = {
                moved: value(self.turn.after_advance(after, best, moved))
                for moved in self.turn.advances(after, best, choice.least)
            }
            if worths:
                most = max(worths.values()) * (1.0 - SAME)
                good = [moved for moved, worth in worths.items() if worth >= most]
                left = self.turn.problem.borders.out[best.to] & self.turn.left(after)
                onward = left or self.turn.is_over(after)
                advance[self.turn.spare(after, best.start)] = max(good) if onward else min(good)
        return BestRoll(best, best_worth, advance)

    # The forward pass, which finds the states.

    def _explore(self, most_states: int, late: Callable[[], bool]) -> bool:
        """Find all states; return whether that could be done."""
        layout, start = self._layout, self.turn.start()
        code = layout.encode(start)
        waiting: dict[int, list[Ints]] = defaultdict(list)
        conquests: list[dict[int, list[Ints]]] = [defaultdict(list) for _ in layout.borders]
        if code is not None and not self.turn.is_over(start):
            waiting[code // layout.whole].append(layout.in_order(np.array([code])))
        layers: list[Ints] = []
        found = 0
        for total in range(max(waiting, default=-1), -1, -1):
            for number, row in enumerate(conquests):
                if total in row:
                    known = self._conquests[number][total] = _merged(row.pop(total))
                    for part in _parts(known, AT_ONCE // 8):
                        if late():
                            return False
                        advances = _advances(layout, number, part)
                        after = layout.in_order(advances.codes[advances.allowed])
                        self._split(_merged([after]), waiting)
            if total in waiting:
                codes = _merged(waiting.pop(total))
                kept = []
                for part in _parts(codes, AT_ONCE):
                    if late():
                        return False
                    block = _Block(layout, part)
                    hopes = block.hopes()
                    if not hopes.all():
                        block = _Block(layout, part[hopes])
                    self._spread(block, waiting, conquests)
                    kept.append(block.codes)
                if any(map(len, kept)):
                    layers.append(np.concatenate(kept))
                    found += len(layers[-1])
                if found > most_states:
                    return False
        layers.reverse()
        self.codes = np.concatenate(layers) if layers else self.codes
        ends = np.cumsum([0, *map(len, layers)]).tolist()
        self._layers = list(pairwise(ends))
        return True

    def _spread(
        self,
        block: _Block,
        waiting: dict[int, list[Ints]],
        conquests: list[dict[int, list[Ints]]],
    ) -> None:
        """Put what can follow some states to what waits."""
        layout = self._layout
        followers: list[Ints] = []
        taken: dict[int, list[Ints]] = defaultdict(list)
        slack = block.spare() - _count(block.left & layout.goal) if layout.costly else None
        for fight in block.fights():
            held, c = fight.group.held, layout.borders[fight.number].to
            for attackers, defenders in fight.group.results:
                after = block.after(fight, attackers, defenders)
                useful = None if slack is None else slack[fight.rows] >= attackers
                if defenders == held:
                    _, over = layout.paid(c, block.left[fight.rows])
                    useful = ~over if useful is None else useful & ~over
                if useful is not None and not useful.all():
                    after = after[useful]
                if defenders == held:
                    taken[fight.number].append(after)
                else:
                    followers.append(layout.in_order(after))
        if followers:
            self._split(_merged(followers), waiting)
        for number, parts in taken.items():
            self._split(_merged(parts), conquests[number])

    def _split(self, codes: Ints, by_total: dict[int, list[Ints]]) -> None:
        """Share out sorted states by t."""
        if len(codes):
            whole = self._layout.whole
            first, last = int(codes[0]) // whole, int(codes[-1]) // whole
            ends = np.searchsorted(codes, np.arange(first, last + 2) * whole).tolist()
            for total, low, high in zip(range(first, last + 1), ends[:-1], ends[1:], strict=True):
                if low < high:
                    by_total[total].append(codes[low:high])

    # The backward pass, which finds V.

    def _solve(self, late: Callable[[], bool]) -> bool:
        """Find V of all states; return whether there was time."""
        layout = self._layout
        self.values = np.zeros(len(self.codes))
        for number, row in enumerate(self._conquests):
            if row:
                self._known[number] = np.concatenate([row[total] for total in sorted(row)])
            for least in layout.borders[number].leasts:
                self._follows[number][least] = np.zeros(len(self._known[number]))
        filled = [0] * len(layout.borders)
        lowest = [low for low, _ in self._layers]
        totals = {int(self.codes[low]) // layout.whole: k for k, low in enumerate(lowest)}
        last = max(totals, default=-1)
        for total in range(last + 1):
            if total in totals:
                low, high = self._layers[totals[total]]
                for part in _parts(self.codes[low:high], AT_ONCE):
                    if late():
                        return False
                    block = _Block(layout, part)
                    best = np.zeros(len(part))
                    for fight in block.fights():
                        for worth in self._worths(block, fight):
                            best[fight.rows] = np.maximum(best[fight.rows], worth)
                    self.values[low : low + len(part)] = best
                    low += len(part)
            for number, row in enumerate(self._conquests):
                if total in row:
                    for part in _parts(row[total], AT_ONCE // 8):
                        if late():
                            return False
                        here = slice(filled[number], filled[number] + len(part))
                        self._fill_follows(number, part, here)
                        filled[number] += len(part)
        return True

    def _fill_follows(self, number: int, conquests: Ints, here: slice) -> None:
        """Find what the best advance after conquests is worth, for each that may be forced."""
        advances = _advances(self._layout, number, conquests)
        worths = self._worths_of_advances(advances)
        best = np.maximum.accumulate(worths[::-1], axis=0)[::-1]
        rows = np.arange(len(conquests))
        for least, values in self._follows[number].items():
            values[here] = best[np.minimum(least, advances.spare) - 1, rows]

    def _worths_of_advances(self, advances: _Advances) -> Floats:
        """Return V after each advance, as `[m, conquest]`."""
        worths = np.zeros(advances.allowed.shape)
        worths[advances.allowed] = self._values_at(advances.codes[advances.allowed])
        return worths

    def _worths(self, block: _Block, fight: _Fight) -> Iterator[Floats]:
        """Yield what each roll of some battles is worth."""
        worths = self._worths_of_results(block, fight)
        for choice in fight.group.choices:
            total: Floats = np.zeros(len(fight.rows))
            for throw in choice.throws:
                options = [
                    sum(chance * worths[x, y, choice.least] for chance, x, y in option)
                    for option in throw.options
                ]
                worst = options[0]
                for option in options[1:]:
                    worst = np.minimum(worst, option)
                total = total + throw.chance * worst
            yield total

    def _worths_of_results(
        self, block: _Block, fight: _Fight
    ) -> dict[tuple[int, int, int], Floats]:
        """Return what each result and all that follows is worth, by losses and least advance."""
        layout, (number, group, rows, _) = self._layout, fight
        found: dict[tuple[int, int, int], Floats] = {}
        leasts = {choice.least for choice in group.choices}
        for attackers, defenders in group.results:
            after = block.after(fight, attackers, defenders)
            cost = self.turn.rewards.army * attackers
            if defenders != group.held:
                worth = self._values_at(after)
                if cost:
                    worth = worth - cost
                for least in leasts:
                    found[attackers, defenders, least] = worth
                continue
            paid, over = layout.paid(layout.borders[number].to, block.left[rows])
            goes_on = np.flatnonzero(~over)
            for least, follows in self._worths_of_conquests(number, after[goes_on], leasts):
                worth = paid - cost
                worth[goes_on] += follows
                found[attackers, defenders, least] = worth
        return found

    def _worths_of_conquests(
        self, number: int, conquests: Ints, leasts: set[int]
    ) -> Iterator[tuple[int, Floats]]:
        """Yield what the best advances are worth, for each number that may be forced."""
        places, hit = _find(self._known[number], conquests)
        if not hit.all() and self._layout.twins:
            # The conquests known are those of states whose territories are in order.
            advances = _advances(self._layout, number, conquests)
            worths = self._worths_of_advances(advances)
            yield from ((least, advances.best(worths, least)[1]) for least in leasts)
            return
        for least in leasts:
            follows = self._follows[number][least]
            yield least, np.where(hit, follows[places], 0.0) if len(follows) else np.zeros(len(hit))

    def _values_at(self, codes: Ints) -> Floats:
        """Return V of states, 0 for those that are not kept."""
        if not len(self.codes):
            return np.zeros(len(codes))
        places, hit = _find(self.codes, self._layout.in_order(codes))
        return np.where(hit, self.values[places], 0.0)

    # How the best play goes, by a forward pass through the states that it visits.

    def visits(self) -> Visits:
        """Return how the best play goes."""
        return _Flow(self).run()


def _merged(parts: list[Ints]) -> Ints:
    """Return the states of some arrays in order, each once."""
    codes = np.concatenate(parts)
    codes.sort(kind="stable")  # quick where the arrays are in order already
    if not len(codes):
        return codes
    new = np.empty(len(codes), dtype=bool)
    new[0] = True
    np.not_equal(codes[1:], codes[:-1], out=new[1:])
    return codes[new]


def _parts(codes: Ints, size: int) -> Iterator[Ints]:
    for low in range(0, len(codes), size):
        yield codes[low : low + size]


def _find(known: Ints, codes: Ints) -> tuple[Ints, Bools]:
    """Return where some states are among those known, and which of them are there at all."""
    if not len(known):
        return np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=bool)
    places = np.searchsorted(known, codes)
    np.minimum(places, len(known) - 1, out=places)
    return places, known[places] == codes


class _Mass(NamedTuple):
    """States with the probability of visiting each.

    codes: the states, their territories as they are.
    chances: the probability of visiting each, as `[state, 0]`; and as `[state, 1 + k]`, that of
        visiting it without having rolled over border k before.
    """

    codes: Ints
    chances: Floats

    def of(self, rows: Ints | Bools) -> "_Mass":
        """Return some of the states."""
        return _Mass(self.codes[rows], self.chances[rows])


class _Flow:
    """The probability of visiting each state, if every roll and every advance is the best."""

    def __init__(self, exact: ExactTurn) -> None:
        self.exact, self.layout, self.turn = exact, exact._layout, exact.turn
        self.visits = Visits()
        self.waiting: dict[int, list[_Mass]] = defaultdict(list)
        # By t, and then by border and the least advance.
        self.taken: dict[int, dict[tuple[int, int], list[_Mass]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def run(self) -> Visits:
        """Return how it goes."""
        start = self.turn.start()
        code = self.layout.encode(start)
        if code is None or not self.exact.value > 0.0:
            return self.visits
        borders = len(self.layout.borders)
        self._wait(_Mass(np.array([code]), np.ones((1, 1 + borders))))
        for total in range(code // self.layout.whole, -1, -1):
            for (number, least), parts in self.taken.pop(total, {}).items():
                self._advance(number, least, _summed(parts))
            if total in self.waiting:
                mass = _summed(self.waiting.pop(total))
                for low in range(0, len(mass.codes), AT_ONCE):
                    self._leave(mass.of(np.arange(low, min(low + AT_ONCE, len(mass.codes)))))
        return self.visits

    def _attack(self, number: int) -> Attack:
        border = self.layout.borders[number]
        return Attack(self.layout.places[border.start], self.layout.places[border.to])

    def _wait(self, mass: _Mass) -> float:
        """Put states to those that wait; return the chance of those in which it is best to stop."""
        going = self.exact._values_at(mass.codes) > 0.0
        stopped = float(mass.chances[~going, 0].sum())
        mass = mass.of(going)
        totals = mass.codes // self.layout.whole
        for total in np.flatnonzero(np.bincount(totals)).tolist():
            self.waiting[total].append(mass.of(totals == total))
        return stopped

    def _leave(self, mass: _Mass) -> None:
        """Make the best roll of some states."""
        block = _Block(self.layout, mass.codes)
        best = np.zeros(len(mass.codes))
        chosen = np.full(len(mass.codes), -1)
        rolls: list[tuple[_Fight, Choice, dict[tuple[int, int, int], Floats]]] = []
        for fight in block.fights():
            worths = self.exact._worths_of_results(block, fight)
            for choice in fight.group.choices:
                worth, _ = _mean(choice, worths)
                better = worth > best[fight.rows] * (1.0 + SAME)
                rows = fight.rows[better]
                best[rows], chosen[rows] = worth[better], len(rolls)
                rolls.append((fight, choice, worths))
        for k, (fight, choice, worths) in enumerate(rolls):
            here = np.flatnonzero(chosen[fight.rows] == k)
            if len(here):
                few = {key: worth[here] for key, worth in worths.items()}
                some = fight._replace(rows=fight.rows[here], armies=fight.armies[here])
                self._roll(block, some, choice, few, mass)

    def _roll(
        self,
        block: _Block,
        fight: _Fight,
        choice: Choice,
        worths: dict[tuple[int, int, int], Floats],
        mass: _Mass,
    ) -> None:
        """Make a roll in some states."""
        number, group, rows, armies = fight
        border, attack = self.layout.borders[number], self._attack(number)
        before = mass.chances[rows].copy()
        reached, ended = float(before[:, 1 + number].sum()), 0.0
        before[:, 1 + number] = 0.0
        self.visits.add(attack, Visit(reached, 0.0, 0.0, 0.0))
        _, chances = _mean(choice, worths)
        for (attackers, defenders), chance in chances.items():
            after = _Mass(block.after(fight, attackers, defenders), before * chance[:, None])
            self.visits.armies[attack.start] -= attackers * float(after.chances[:, 0].sum())
            if defenders != group.held:
                ended += self._wait(after)
                continue
            _, over = self.layout.paid(border.to, block.left[rows])
            spare = armies - attackers - self.layout.garrisons[border.start]
            self._arrive(number, spare[over], spare[over], after.chances[over, 0])
            after = after.of(~over)
            totals = after.codes // self.layout.whole
            for total in np.flatnonzero(np.bincount(totals)).tolist():
                self.taken[total][number, choice.least].append(after.of(totals == total))
        self.visits.add(attack, Visit(0.0, 0.0, 0.0, ended))

    def _advance(self, number: int, least: int, mass: _Mass) -> None:
        """Make the best advance after some conquests."""
        advances = _advances(self.layout, number, mass.codes)
        worths = self.exact._worths_of_advances(advances)
        moved, _ = advances.best(worths, least)
        self._arrive(number, advances.spare, moved, mass.chances[:, 0])
        codes = advances.codes[moved - 1, np.arange(len(moved))]
        stopped = self._wait(_Mass(codes, mass.chances))
        self.visits.add(self._attack(number), Visit(0.0, 0.0, 0.0, stopped))

    def _arrive(self, number: int, able: Ints, moved: Ints, chances: Floats) -> None:
        """Count conquests and advances."""
        attack = self._attack(number)
        arrived = float((moved * chances).sum())
        self.visits.armies[attack.start] -= arrived
        self.visits.add(attack, Visit(0.0, float(chances.sum()), arrived, 0.0))
        for (left, go), k in _places_of(able, moved).items():
            self.visits.add_advance(attack, left, go, float(chances[k].sum()))


def _mean(
    choice: Choice, worths: dict[tuple[int, int, int], Floats]
) -> tuple[Floats, dict[tuple[int, int], Floats]]:
    """Return what a roll is worth in some states, and the chance of each result.

    worths: what each result is worth, by losses and least advance.
    """
    size = len(next(iter(worths.values())))
    total = np.zeros(size)
    chances: dict[tuple[int, int], Floats] = defaultdict(lambda: np.zeros(size))
    for throw in choice.throws:
        options = np.stack(
            [
                sum(chance * worths[x, y, choice.least] for chance, x, y in option)
                for option in throw.options
            ]
        )
        worst = options.argmin(axis=0)
        total += throw.chance * options.min(axis=0)
        for k, option in enumerate(throw.options):
            for chance, x, y in option:
                chances[x, y] += throw.chance * chance * (worst == k)
    return total, dict(chances)


def _summed(parts: list[_Mass]) -> _Mass:
    """Return the states of some masses, each once."""
    codes = np.concatenate([part.codes for part in parts])
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    chances = np.concatenate([part.chances for part in parts])[order]
    return _Mass(codes[first], np.add.reduceat(chances, first, axis=0))


def _places_of(*rows: Ints) -> dict[tuple[int, ...], Ints]:
    """Return where each combination of numbers stands."""
    if not len(rows[0]):
        return {}
    order = np.lexsort(rows)
    columns = [row[order] for row in rows]
    new = np.any([np.diff(column, prepend=-1) != 0 for column in columns], axis=0)
    first = np.flatnonzero(new)
    parts = np.split(order, first[1:])
    return {
        tuple(int(column[k]) for column in columns): part
        for k, part in zip(first, parts, strict=True)
    }
