"""The game, battle by battle: its states, and how battles lead from one to the next.

A state is what the player sees between two battles; stacks that can attack nothing are left out of
it, so that states which differ only in what no longer matters are one. An action is an attack
v → c, fought to its end; after a conquest the player also chooses the advance.

Where each connected component of what is left is a tree of territories next to one stack alone,
stacks cannot help each other, and the best chance to take all is the product of those of
`iacta.plan.one_stack.StackChances`.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from iacta.plan.goals import Rewards
from iacta.plan.one_stack import Reduced
from iacta.plan.problem import Borders, Problem, Remembers, Stacks, bits

__all__ = ["Attack", "Game", "Move", "State", "tree_parts"]


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


class Game(Remembers):
    """The states of a problem, and how battles lead from one to the next.

    problem: the problem.
    field: the set of the territories that may be attacked.
    rewards: what the goal pays.
    """

    def __init__(self, problem: Problem, field: int, rewards: Rewards) -> None:
        self.problem, self.field, self.rewards = problem, field, rewards
        self._remember()

    def _remember(self) -> None:
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
