"""The best play of a turn, exactly: one backward pass over all states, in order of their armies.

A roll only takes armies, and an advance only moves them. So with t(s), the number of armies on all
territories, the states that can follow s have fewer, and V (`iacta.plan.turn`) is found for t = 0,
1, 2 ... in a single pass, all states with the same t at once. A forward pass from the start finds
these states before: those that some play can lead to, and from which more can be paid.
`iacta.plan.turn_codes` says how states are written, and which are one.

Conquests are kept apart, for each border, from the states: their value is that of the best advance,
and the same conquest ends many rolls.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from iacta.plan.turn import BestRoll, Turn, TurnState
from iacta.plan.turn_codes import (
    SAME,
    Advances,
    Block,
    Fight,
    Floats,
    Ints,
    Layout,
    Loss,
    Move,
    Option,
    advances_after,
    count_of,
    find,
    in_parts,
    merged,
    read_layout,
)

__all__ = ["AT_ONCE", "ExactTurn", "Worths", "best_roll", "chances_of", "solve_turn", "worth_of"]

MOST_STATES = 10**6
AT_ONCE = 2**15  # states that are computed together fit into a processor's cache

Worths: TypeAlias = dict[tuple[int, int], Floats]  # by the loss, and the least advance


def solve_turn(
    turn: Turn,
    most_states: int = MOST_STATES,
    late: Callable[[], bool] = lambda: False,
    starts: Iterable[TurnState] | None = None,
) -> "ExactTurn | None":
    """Return the best play of a turn; `None` if it has too many states, or the time is over.

    turn: the turn.
    most_states: how many states may be kept.
    late: tells whether the time is over.
    starts: the states to start from, each with at most the armies of the turn's own start on each
        territory; `None` for that start alone.
    """
    layout = read_layout(turn)
    if layout is None:
        return None
    solver = ExactTurn(layout)
    begun = [turn.start()] if starts is None else [*starts]
    return solver if solver._explore(begun, most_states, late) and solver._solve(late) else None


class ExactTurn:
    """The best play of a turn, from all states that it can come to.

    `solve_turn` makes it.

    codes: all states, in order.
    values: V of each.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout, self.turn = layout, layout.turn
        self.codes = np.empty(0, dtype=np.int64)
        self.values = np.empty(0)
        self._layers: list[tuple[int, int]] = []  # from which to before which state
        borders = len(layout.borders)
        self._conquests: list[dict[int, Ints]] = [{} for _ in range(borders)]  # by t
        self._known: list[Ints] = [np.empty(0, dtype=np.int64) for _ in range(borders)]
        self._after: list[dict[int, Floats]] = [{} for _ in range(borders)]

    @property
    def value(self) -> float:
        """V at the start."""
        return self.value_of(self.turn.start()) or 0.0

    def value_of(self, state: TurnState) -> float | None:
        """Return V of a state; `None` for one that the turn cannot come to."""
        if self.turn.is_over(state):
            return 0.0
        code = self.layout.encode(state)
        if code is None:
            return None
        codes = self.layout.in_order(np.array([code]))
        places, hit = find(self.codes, codes)
        if hit[0]:
            return float(self.values[places[0]])
        return None if Block(self.layout, codes).hopes()[0] else 0.0

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return the best roll of a state; `None` if it is best to stop.

        state: one that the turn can come to.
        """
        return best_roll(self.turn, state, lambda after: self.value_of(after) or 0.0)

    # The forward pass, which finds the states.

    def _explore(self, starts: list[TurnState], most_states: int, late: Callable[[], bool]) -> bool:
        """Find all states; return whether that could be done."""
        layout = self.layout
        waiting: dict[int, list[Ints]] = defaultdict(list)
        conquests: list[dict[int, list[Ints]]] = [defaultdict(list) for _ in layout.borders]
        for start in starts:
            code = layout.encode(start)
            if code is not None and not self.turn.is_over(start):
                waiting[code // layout.whole].append(layout.in_order(np.array([code])))
        layers: list[Ints] = []
        found = 0
        for total in range(max(waiting, default=-1), -1, -1):
            for number, row in enumerate(conquests):
                if total in row:
                    known = self._conquests[number][total] = merged(row.pop(total))
                    for part in in_parts(known, AT_ONCE // 8):
                        if late():
                            return False
                        advances = advances_after(layout, number, part)
                        after = layout.in_order(advances.codes[advances.allowed])
                        self._split(merged([after]), waiting)
            if total in waiting:
                codes = merged(waiting.pop(total))
                kept = []
                for part in in_parts(codes, AT_ONCE):
                    if late():
                        return False
                    block = Block(layout, part)
                    hopes = block.hopes()
                    if not hopes.all():
                        block = Block(layout, part[hopes])
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
        block: Block,
        waiting: dict[int, list[Ints]],
        conquests: list[dict[int, list[Ints]]],
    ) -> None:
        """Put what can follow some states to what waits."""
        layout = self.layout
        followers: list[Ints] = []
        taken: dict[int, list[Ints]] = defaultdict(list)
        slack = block.spare() - count_of(block.left & layout.goal) if layout.costly else None
        for each in block.fights():
            for loss in each.group.losses:
                fight = each
                if loss.possible is not None:
                    fight = each.of(loss.possible[each.armies, each.held])
                useful = np.ones(len(fight.rows), dtype=bool)
                if slack is not None:
                    useful &= slack[fight.rows] >= fight.lost(loss.attackers)
                if loss.conquers:
                    c = layout.borders[fight.number].to
                    useful &= ~layout.paid(c, block.left[fight.rows])[1]
                if not useful.all():
                    fight = fight.of(useful)
                after = block.after(fight, loss)
                if loss.conquers:
                    taken[fight.number].append(after)
                else:
                    followers.append(layout.in_order(after))
        if followers:
            self._split(merged(followers), waiting)
        for number, parts in taken.items():
            self._split(merged(parts), conquests[number])

    def _split(self, codes: Ints, by_total: dict[int, list[Ints]]) -> None:
        """Share out sorted states by t."""
        if len(codes):
            whole = self.layout.whole
            first, last = int(codes[0]) // whole, int(codes[-1]) // whole
            ends = np.searchsorted(codes, np.arange(first, last + 2) * whole).tolist()
            for total, low, high in zip(range(first, last + 1), ends[:-1], ends[1:], strict=True):
                if low < high:
                    by_total[total].append(codes[low:high])

    # The backward pass, which finds V.

    def _solve(self, late: Callable[[], bool]) -> bool:
        """Find V of all states; return whether there was time."""
        layout = self.layout
        self.values = np.zeros(len(self.codes))
        for number, row in enumerate(self._conquests):
            if row:
                self._known[number] = np.concatenate([row[total] for total in sorted(row)])
            for least in layout.borders[number].leasts:
                self._after[number][least] = np.zeros(len(self._known[number]))
        filled = [0] * len(layout.borders)
        lowest = [low for low, _ in self._layers]
        totals = {int(self.codes[low]) // layout.whole: k for k, low in enumerate(lowest)}
        last = max(totals, default=-1)
        for total in range(last + 1):
            if total in totals:
                low, high = self._layers[totals[total]]
                for part in in_parts(self.codes[low:high], AT_ONCE):
                    if late():
                        return False
                    block = Block(layout, part)
                    best = np.zeros(len(part))
                    for fight in block.fights():
                        worths = self.worths(block, fight)
                        for move in fight.group.moves:
                            worth = worth_of(move, fight, worths)
                            best[fight.rows] = np.maximum(best[fight.rows], worth)
                    self.values[low : low + len(part)] = best
                    low += len(part)
            for number, row in enumerate(self._conquests):
                if total in row:
                    for part in in_parts(row[total], AT_ONCE // 8):
                        if late():
                            return False
                        here = slice(filled[number], filled[number] + len(part))
                        self._fill_conquests(number, part, here)
                        filled[number] += len(part)
        return True

    def _fill_conquests(self, number: int, conquests: Ints, here: slice) -> None:
        """Find what the best advance after conquests is worth, for each that may be forced."""
        advances = advances_after(self.layout, number, conquests)
        worths = self.worths_of_advances(advances)
        best = np.maximum.accumulate(worths[::-1], axis=0)[::-1]
        rows = np.arange(len(conquests))
        for least, values in self._after[number].items():
            values[here] = best[np.minimum(least, advances.spare) - 1, rows]

    def worths_of_advances(self, advances: Advances) -> Floats:
        """Return V after each advance, as `[m, conquest]`."""
        worths = np.zeros(advances.allowed.shape)
        worths[advances.allowed] = self.values_at(advances.codes[advances.allowed])
        return worths

    def worths(self, block: Block, fight: Fight) -> Worths:
        """Return what each loss and all that follows is worth."""
        found: Worths = {}
        leasts = {move.least for move in fight.group.moves}
        for k, loss in enumerate(fight.group.losses):
            if loss.possible is None:
                found |= {(k, least): w for least, w in self._follows(block, fight, loss, leasts)}
                continue
            here = np.flatnonzero(loss.possible[fight.armies, fight.held])
            for least, worth in self._follows(block, fight.of(here), loss, leasts):
                found[k, least] = np.zeros(len(fight.rows))
                found[k, least][here] = worth
        return found

    def _follows(
        self, block: Block, fight: Fight, loss: Loss, leasts: set[int]
    ) -> Iterator[tuple[int, Floats]]:
        """Yield what a loss and all that follows is worth, for each least advance."""
        after = block.after(fight, loss)
        cost = self.turn.rewards.army * fight.lost(loss.attackers)
        if not loss.conquers:
            worth = self.values_at(after) - cost
            yield from ((least, worth) for least in leasts)
            return
        c = self.layout.borders[fight.number].to
        paid, over = self.layout.paid(c, block.left[fight.rows])
        goes_on = np.flatnonzero(~over)
        for least, follows in self._worths_of_conquests(fight.number, after[goes_on], leasts):
            worth = paid - cost
            worth[goes_on] += follows
            yield least, worth

    def _worths_of_conquests(
        self, number: int, conquests: Ints, leasts: set[int]
    ) -> Iterator[tuple[int, Floats]]:
        """Yield what the best advances are worth, for each number that may be forced."""
        places, hit = find(self._known[number], conquests)
        if not hit.all() and self.layout.twins:
            # The conquests known are those of states whose territories are in order.
            advances = advances_after(self.layout, number, conquests)
            worths = self.worths_of_advances(advances)
            yield from ((least, advances.best(worths, least)[1]) for least in leasts)
            return
        for least in leasts:
            follows = self._after[number][least]
            yield least, np.where(hit, follows[places], 0.0) if len(follows) else np.zeros(len(hit))

    def values_at(self, codes: Ints) -> Floats:
        """Return V of states, 0 for those that are not kept."""
        if not len(self.codes):
            return np.zeros(len(codes))
        places, hit = find(self.codes, self.layout.in_order(codes))
        return np.where(hit, self.values[places], 0.0)


def best_roll(turn: Turn, state: TurnState, value: Callable[[TurnState], float]) -> BestRoll | None:
    """Return the best roll of a state; `None` if it is best to stop.

    turn: the turn.
    state: the state.
    value: V of all states that may follow.
    """
    best, best_worth = None, 0.0
    for roll in turn.rolls(state):
        worth = turn.worth(state, roll, value)
        if worth > best_worth * (1.0 + SAME):
            best, best_worth = roll, worth
    if best is None:
        return None
    choice, advance = turn.choice(state, best), {}
    results = {
        result[1:]: result
        for throw in choice.throws
        for option in throw.options
        for result in option
    }
    for result in results.values():
        after = turn.after(state, best, result)
        worths = {
            moved: value(turn.after_advance(after, best, moved))
            for moved in turn.advances(after, best, choice.least)
        }
        if worths:
            most = max(worths.values()) * (1.0 - SAME)
            good = [moved for moved, worth in worths.items() if worth >= most]
            left = turn.problem.borders.out[best.to] & turn.left(after)
            onward = left or turn.is_over(after)
            advance[turn.spare(after, best.start)] = max(good) if onward else min(good)
    return BestRoll(best, best_worth, advance)


def worth_of(move: Move, fight: Fight, worths: Worths) -> Floats:
    """Return what a roll is worth, if the defender chooses the worst for the attacker."""
    total: Floats = np.zeros(len(fight.rows))
    for chance, options in move.throws:
        worst = _worths_of_options(move, options, fight, worths)
        total += chance * (worst[0] if len(worst) == 1 else np.minimum.reduce(worst))
    return total


def chances_of(move: Move, fight: Fight, worths: Worths) -> dict[int, Floats]:
    """Return how likely each loss is, by its place."""
    found: dict[int, Floats] = defaultdict(lambda: np.zeros(len(fight.rows)))
    for chance, options in move.throws:
        chosen = np.argmin(_worths_of_options(move, options, fight, worths), axis=0)
        for number, option in enumerate(options):
            for each, k in zip(option.chances, option.losses, strict=True):
                found[k] += chance * fight.chance(each) * (chosen == number)
    return found


def _worths_of_options(
    move: Move, options: tuple[Option, ...], fight: Fight, worths: Worths
) -> list[Floats]:
    return [
        sum(
            (
                fight.chance(chance) * worths[k, move.least]
                for chance, k in zip(option.chances, option.losses, strict=True)
            ),
            start=np.zeros(len(fight.rows)),
        )
        for option in options
    ]
