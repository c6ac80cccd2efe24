"""The game, battle by battle, and the exact search over all its states.

A state is what the player sees between two battles; stacks that can attack nothing are left out of
it, so that states which differ only in what no longer matters are one. An action is an attack
v → c, fought to its end; after a conquest the player also chooses the advance. Let V(s) be the
value function, what is still paid on average from the state s on, r(c) the reward for taking c, and
l the cost of a lost army. Bellman's equation is

    V(s) = max(0, max over attacks v → c of
               Σ_b P(c taken, b left) · (r(c) − l · losses + max over m of V(s after m advance))
             + Σ_d P(d defenders left) · (− l · losses + V(s after the loss))).

It assumes no independence and needs no bound: all stacks are seen together, and each may help
another. Where each connected component of what is left is a tree of territories next to one stack
alone, stacks cannot help each other, and V is the product of `iacta.plan.one_stack.StackChances`.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from iacta.plan.goals import Rewards
from iacta.plan.one_stack import Reduced, StackChances, Tasks
from iacta.plan.problem import Borders, Problem, Stacks, bits

__all__ = ["Attack", "Exact", "Game", "Move", "State", "TooManyError", "tree_parts"]


class State(NamedTuple):
    """What a player sees between two battles.

    stacks: (territory, armies) of those that can attack, by territory.
    left: the set of the territories that may be attacked and are not taken.
    reduced: (territory, defenders) of those that have lost some, by territory.
    """

    stacks: Stacks
    left: int
    reduced: Reduced


class Attack(NamedTuple):
    """The attacking territory, and the one that is attacked."""

    start: int
    to: int


class Move(NamedTuple):
    """What a policy does in a state.

    attack: the battle to fight.
    won: for each number of armies that can be left able to move, how many advance, and the state
        after that.
    """

    attack: Attack
    won: tuple[tuple[int, int, State], ...]


class Game:
    """The states of a problem, and how battles lead from one to the next.

    problem: the problem.
    field: the set of the territories that may be attacked.
    rewards: what the goal pays.
    """

    def __init__(self, problem: Problem, field: int, rewards: Rewards) -> None:
        self.problem, self.field, self.rewards = problem, field, rewards
        self._useful = lru_cache(maxsize=None)(self._can_reach_goal)

    def start(self) -> State:
        """Return the state before the first battle."""
        return self._state(dict(self.problem.stacks()), self.field, ())

    def _state(self, stacks: dict[int, int], left: int, reduced: Reduced) -> State:
        """Return a state without the stacks that can attack nothing."""
        if self.rewards.is_over(left, self.field & ~left):
            return State((), left, ())
        garrisons, out = self.problem.garrisons, self.problem.borders.out
        live = sorted((v, n) for v, n in stacks.items() if n > garrisons[v] and out[v] & left)
        return State(tuple(live), left, reduced)

    def is_over(self, state: State) -> bool:
        """Return whether all that can be paid is paid."""
        return self.rewards.is_over(state.left, self.field & ~state.left)

    def is_hopeless(self, state: State) -> bool:
        """Return whether nothing more can be paid, whatever the dice show."""
        if not state.stacks:
            return True
        return not self._useful(state.left, tuple(v for v, _ in state.stacks))

    def _can_reach_goal(self, left: int, places: tuple[int, ...]) -> bool:
        if not self.rewards.all_of:
            return bool(places)
        return not left & self.rewards.all_of & ~self.problem.borders.reachable_from(places, left)

    def attacks(self, state: State) -> Iterator[Attack]:
        """Yield all attacks of a state."""
        for v, _ in state.stacks:
            for c in bits(self.problem.borders.out[v] & state.left):
                yield Attack(v, c)

    def able(self, state: State, attack: Attack) -> int:
        """Return the armies that are able to attack."""
        return dict(state.stacks)[attack.start] - self.problem.garrisons[attack.start]

    def defenders(self, state: State, c: int) -> int:
        """Return the defenders of a territory."""
        return dict(state.reduced).get(c, self.problem.armies[c])

    def after_win(self, state: State, attack: Attack, able: int, moved: int) -> State:
        """Return the state after a conquest with `able` armies left, of which `moved` advance."""
        stacks = dict(state.stacks)
        stacks[attack.start] = able + self.problem.garrisons[attack.start] - moved
        if not self.problem.resting >> attack.to & 1:
            stacks[attack.to] = moved
        reduced = tuple(pair for pair in state.reduced if pair[0] != attack.to)
        return self._state(stacks, state.left & ~(1 << attack.to), reduced)

    def after_loss(self, state: State, attack: Attack, defenders: int) -> State:
        """Return the state after a lost battle that leaves some defenders."""
        stacks = dict(state.stacks)
        del stacks[attack.start]
        reduced = dict(state.reduced)
        if defenders != self.problem.armies[attack.to]:
            reduced[attack.to] = defenders
        return self._state(stacks, state.left, tuple(sorted(reduced.items())))

    def advances(self, attack: Attack, able: int) -> range:
        """Return how many of `able` armies left may advance, the most first.

        All of them can make a difference, even where one of the two territories has nothing more to
        attack: a battle is fought to its end, so a stack with more armies may conquer what another
        would have needed to go on.
        """
        return range(able, self.problem.least_advance(attack.to, able) - 1, -1)


class TooManyError(Exception):
    """More states than were allowed."""


class Exact:
    """V of a game by backward induction, each state computed when it is first asked.

    game: the game.
    chances: the chances of single stacks.
    most_states: how many states may be looked at; more raise `TooManyError`.
    late: tells whether the time is over; then that is raised too.
    by_trees: whether trees are left to `chances`.
    """

    def __init__(
        self,
        game: Game,
        chances: StackChances,
        most_states: int,
        late: Callable[[], bool] = lambda: False,
        *,
        by_trees: bool = True,
    ) -> None:
        self.game, self.chances = game, chances
        self.most_states, self.late = most_states, late
        self.by_trees = by_trees and bool(game.rewards.all_of)
        self.values: dict[State, float] = {}
        self.moves: dict[State, Move] = {}
        self.tasks: dict[State, Tasks] = {}
        self._parts: dict[tuple[int, tuple[int, ...]], tuple[int, ...] | None] = {}

    def value(self, state: State) -> float:
        """Return V of a state."""
        known = self.values.get(state)
        if known is not None:
            return known
        if len(self.values) >= self.most_states or self.late():
            raise TooManyError
        value = self._value_by_trees(state) if self.by_trees else None
        if value is None:
            value = 0.0 if self.game.is_hopeless(state) else self._best(state)
        self.values[state] = value
        return value

    def _best(self, state: State) -> float:
        best = 0.0
        for attack in self.game.attacks(state):
            value, move = self._value_of(state, attack)
            if value > best:
                best, self.moves[state] = value, move
        return best

    def _value_of(self, state: State, attack: Attack) -> tuple[float, Move]:
        """Return what an attack is worth, and the best advances after it."""
        game, able = self.game, self.game.able(state, attack)
        won, lost = self.chances.battle(attack.to, game.defenders(state, attack.to))
        reward, cost = game.rewards.of(attack.to, state.left), game.rewards.army
        total, advances = 0.0, []
        for left, chance in enumerate(won[able].tolist()):
            if chance:
                value, moved, after = self._best_advance(state, attack, left)
                total += chance * (reward - cost * (able - left) + value)
                advances.append((left, moved, after))
        for left, chance in enumerate(lost[able].tolist()):
            if chance:
                after = game.after_loss(state, attack, left)
                total += chance * (self.value(after) - cost * able)
        return total, Move(attack, tuple(advances))

    def _best_advance(self, state: State, attack: Attack, able: int) -> tuple[float, int, State]:
        best = -1.0, 0, state
        for moved in self.game.advances(attack, able):
            after = self.game.after_win(state, attack, able, moved)
            value = self.value(after)
            if value > best[0]:
                best = value, moved, after
        return best

    def _value_by_trees(self, state: State) -> float | None:
        """Return V where each part of what is left is a tree of one stack; `None` elsewhere."""
        if not state.stacks or state.left & ~self.game.rewards.all_of:
            return None
        places = tuple(v for v, _ in state.stacks)
        key = state.left, places
        if key not in self._parts:
            self._parts[key] = tree_parts(self.game.problem.borders, *key)
        parts = self._parts[key]
        if parts is None:
            return None
        tasks = tuple((v, n, part) for (v, n), part in zip(state.stacks, parts, strict=True))
        value = 1.0
        for v, n, part in tasks:
            value *= float(self.chances.chance(v, part, state.reduced)[n])
        self.tasks[state] = tasks
        return value


def tree_parts(borders: Borders, left: int, places: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return what each stack takes of `left` where all of it is trees, each next to one stack.

    Elsewhere return `None`.
    """
    parts = tuple(borders.reachable(v, left) for v in places)
    if borders.reachable_from(places, left) != left:
        return None
    doors = sum((borders.out[v] & left).bit_count() for v in places)
    inner = sum((borders.near[c] & left).bit_count() for c in bits(left)) // 2
    return parts if doors + inner == left.bit_count() else None
