"""States: what a player sees between two battles, and how the next battle changes it.

A state has the stacks that can still attack, the territories not taken, and which of these have
lost defenders. Stacks that can attack nothing are left out, so that states which differ only in
what no longer matters are one.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from iacta.plan.problem import Problem, Stacks
from iacta.plan.sets import bits
from iacta.plan.stack import Reduced

__all__ = ["Attack", "Rewards", "State", "World"]


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
    """A battle to be fought.

    start, to: from where, and what is attacked.
    """

    start: int
    to: int


class Rewards(NamedTuple):
    """What a goal pays: a plan is worth what it pays in the mean, from its start on.

    all_of: a set that pays 1 when all of it is taken, and that ends the plan; 0 for none.
    any_of: a set that pays 1 when any of it is taken, and that ends the plan; 0 for none.
    territories: what each territory pays when it is taken.
    continents: sets, and what each pays when it is taken.
    army: what each army costs that is lost.
    """

    all_of: int = 0
    any_of: int = 0
    territories: tuple[float, ...] = ()
    continents: tuple[tuple[int, float], ...] = ()
    army: float = 0.0

    @property
    def is_chance(self) -> bool:
        """Whether what is paid is the chance of a goal."""
        return bool(self.all_of or self.any_of)

    def of(self, c: int, left: int) -> float:
        """Return what it pays to take a territory.

        c: the territory.
        left: what is not taken before.
        """
        after = left & ~(1 << c)
        if self.all_of:
            return float(not after & self.all_of)
        if self.any_of:
            return float(bool(self.any_of >> c & 1))
        paid = self.territories[c] if self.territories else 0.0
        return paid + sum(w for mask, w in self.continents if mask >> c & 1 and not after & mask)

    def is_over(self, left: int, taken: int) -> bool:
        """Tell whether nothing more can be paid.

        left: what is not taken.
        taken: what the plan has taken.
        """
        if self.all_of:
            return not left & self.all_of
        return bool(taken & self.any_of)


class World:
    """The states of a problem, and how battles lead from one to the next.

    problem: the problem.
    field: the set of the territories that may be attacked.
    rewards: what the goal pays.
    """

    def __init__(self, problem: Problem, field: int, rewards: Rewards) -> None:
        self.problem, self.field, self.rewards = problem, field, rewards
        self.useful = lru_cache(maxsize=None)(self._useful)

    def start(self) -> State:
        """Return the state before the first battle."""
        return self.state(dict(self.problem.stacks()), self.field, ())

    def state(self, stacks: dict[int, int], left: int, reduced: Reduced) -> State:
        """Return a state without the stacks that can attack nothing.

        stacks: armies by territory.
        left: what is not taken.
        reduced: what lost battles have left.
        """
        garrisons = self.problem.garrisons
        reach = self.problem.borders.out
        live = tuple(
            sorted((v, n) for v, n in stacks.items() if n > garrisons[v] and reach[v] & left)
        )
        if self.rewards.is_over(left, self.field & ~left):
            return State((), left, ())
        return State(live, left, reduced)

    def _useful(self, left: int, places: tuple[int, ...]) -> bool:
        """Tell whether the goal can still be reached, whatever the dice show."""
        if not self.rewards.all_of:
            return bool(places)
        reached = 0
        for v in places:
            reached |= self.problem.borders.reached(v, left)
        return not left & self.rewards.all_of & ~reached

    def is_over(self, state: State) -> bool:
        """Tell whether nothing more is paid from a state on because all is.

        state: the state.
        """
        return self.rewards.is_over(state.left, self.field & ~state.left)

    def is_hopeless(self, state: State) -> bool:
        """Tell whether nothing more can be paid from a state on.

        state: the state.
        """
        if not state.stacks:
            return True
        return not self.useful(state.left, tuple(v for v, _ in state.stacks))

    def attacks(self, state: State) -> Iterator[Attack]:
        """Yield all attacks of a state.

        state: the state.
        """
        for v, _ in state.stacks:
            for c in bits(self.problem.borders.out[v] & state.left):
                yield Attack(v, c)

    def defenders(self, state: State, c: int) -> int:
        """Return the defenders of a territory in a state.

        state: the state.
        c: the territory.
        """
        return dict(state.reduced).get(c, self.problem.armies[c])

    def after_win(self, state: State, attack: Attack, able: int, moved: int) -> State:
        """Return the state after a conquest.

        state: the state before the battle.
        attack: the battle.
        able: armies left that may move in.
        moved: those that do.
        """
        stacks = dict(state.stacks)
        stacks[attack.start] = able + self.problem.garrisons[attack.start] - moved
        if not self.problem.resting >> attack.to & 1:
            stacks[attack.to] = moved
        reduced = tuple(pair for pair in state.reduced if pair[0] != attack.to)
        return self.state(stacks, state.left & ~(1 << attack.to), reduced)

    def after_loss(self, state: State, attack: Attack, defenders: int) -> State:
        """Return the state after a lost battle.

        state: the state before it.
        attack: the battle.
        defenders: those left.
        """
        stacks = dict(state.stacks)
        del stacks[attack.start]
        reduced = dict(state.reduced)
        if defenders != self.problem.armies[attack.to]:
            reduced[attack.to] = defenders
        return self.state(stacks, state.left, tuple(sorted(reduced.items())))

    def advances(self, state: State, attack: Attack, able: int) -> range:
        """Return how many armies may move in after a conquest, as far as it makes a difference.

        state: the state before the battle.
        attack: the battle.
        able: armies left that may move in.

        Where one of the two territories has nothing more to attack, the other gets all it can: more
        armies never lose more. Under balanced blitz they may, which matters where armies are worth
        something.
        """
        least = self.problem.least_advance(able)
        if self.rewards.army and self.problem.rules.dice_mode != "true random":
            return range(able, least - 1, -1)
        left = state.left & ~(1 << attack.to)
        reach = self.problem.borders.out
        if not reach[attack.to] & left:
            return range(least, least + 1)
        if not reach[attack.start] & left:
            return range(able, able + 1)
        return range(able, least - 1, -1)
