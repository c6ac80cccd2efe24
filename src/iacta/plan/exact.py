"""Exact search: the best play of all, battle by battle, where the states are few enough.

With V(s) the mean of what is still paid from a state s on, r(c) what it pays to take c, and l what
a lost army costs,

    V(s) = max(0, max over attacks v → c of
               Σ_b P(c taken, b left able) · (r(c) − l · losses + max over m of V(s after m move))
             + Σ_d P(d defenders left)     · (− l · losses + V(s after the loss))).

There is no independence in it and no bound: all stacks are seen together, and each may come to
another's help. Where each part of what is left is a tree of territories next to one stack alone,
stacks cannot help each other, and V is the product of `iacta.plan.stack.StackChances`.
"""

from collections.abc import Callable
from typing import NamedTuple

from iacta.plan.sets import Borders, bits
from iacta.plan.sharing import Tasks
from iacta.plan.stack import StackChances
from iacta.plan.states import Attack, State, World

__all__ = ["Exact", "Move", "TooManyError", "tree_parts"]


class TooManyError(Exception):
    """More states than were allowed."""


class Move(NamedTuple):
    """What a plan does in a state.

    attack: the battle to be fought.
    won: for each number of armies left able to move that can come, how many move in, and the state
        after that.
    """

    attack: Attack
    won: tuple[tuple[int, int, State], ...]


class Exact:
    """V of a world, each state computed when it is first asked.

    world: the world.
    chances: the chances of single stacks.
    most_states: how many states may be looked at; more raise `TooManyError`.
    late: tells whether the time is over; then that is raised too.
    by_trees: whether trees are left to `chances`.
    """

    def __init__(
        self,
        world: World,
        chances: StackChances,
        most_states: int,
        late: Callable[[], bool] = lambda: False,
        *,
        by_trees: bool = True,
    ) -> None:
        self.world, self.chances = world, chances
        self.most_states, self.late = most_states, late
        self.by_trees = by_trees and bool(world.rewards.all_of)
        self.values: dict[State, float] = {}
        self.moves: dict[State, Move] = {}
        self.tasks: dict[State, Tasks] = {}
        self._parts: dict[tuple[int, tuple[int, ...]], tuple[int, ...] | None] = {}

    def value(self, state: State) -> float:
        """Return V of a state.

        state: the state.
        """
        known = self.values.get(state)
        if known is not None:
            return known
        if len(self.values) >= self.most_states or self.late():
            raise TooManyError
        value = self._by_trees(state) if self.by_trees else None
        if value is None:
            value = 0.0 if self.world.is_hopeless(state) else self._best(state)
        self.values[state] = value
        return value

    def _best(self, state: State) -> float:
        best = 0.0
        for attack in self.world.attacks(state):
            value, move = self._fight(state, attack)
            if value > best:
                best, self.moves[state] = value, move
        return best

    def _fight(self, state: State, attack: Attack) -> tuple[float, Move]:
        world = self.world
        able = dict(state.stacks)[attack.start] - world.problem.garrisons[attack.start]
        law = self.chances.transfers.of(world.defenders(state, attack.to))
        paid, cost = world.rewards.of(attack.to, state.left), world.rewards.army
        total, won = 0.0, []
        for left, chance in enumerate(law.won[able].tolist()):
            if chance:
                value, moved, after = self._advance(state, attack, left)
                total += chance * (paid - cost * (able - left) + value)
                won.append((left, moved, after))
        for left, chance in enumerate(law.lost[able].tolist()):
            if chance:
                after = world.after_loss(state, attack, left)
                total += chance * (self.value(after) - cost * able)
        return total, Move(attack, tuple(won))

    def _advance(self, state: State, attack: Attack, able: int) -> tuple[float, int, State]:
        best = -1.0, 0, state
        for moved in self.world.advances(state, attack, able):
            after = self.world.after_win(state, attack, able, moved)
            value = self.value(after)
            if value > best[0]:
                best = value, moved, after
        return best

    def _by_trees(self, state: State) -> float | None:
        """Return V where each part of what is left is a tree of one stack; `None` elsewhere."""
        if not state.stacks or state.left & ~self.world.rewards.all_of:
            return None
        places = tuple(v for v, _ in state.stacks)
        key = state.left, places
        if key not in self._parts:
            self._parts[key] = tree_parts(self.world.problem.borders, *key)
        parts = self._parts[key]
        if parts is None:
            return None
        value = 1.0
        for (v, n), part in zip(state.stacks, parts, strict=True):
            value *= float(self.chances.chance(v, part, state.reduced)[n])
        self.tasks[state] = tuple(
            (v, n, part) for (v, n), part in zip(state.stacks, parts, strict=True)
        )
        return value


def tree_parts(borders: Borders, left: int, places: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return what each stack takes where all hang from one stack each as trees, else `None`.

    borders: who can attack whom.
    left: what is not taken.
    places: where the stacks stand.
    """
    parts, together = [], 0
    for v in places:
        parts.append(borders.reached(v, left))
        together |= parts[-1]
    if together != left:
        return None
    doors = sum((borders.out[v] & left).bit_count() for v in places)
    inner = sum((borders.near[c] & left).bit_count() for c in bits(left)) // 2
    return tuple(parts) if doors + inner == left.bit_count() else None
