"""Rescue: what a plan gains when a stack takes over where another has failed.

The share of a goal among stacks (`iacta.plan.sharing`) is lost with its first failure. Here the
plan looks at what happens battle by battle. For a state s let H(s) be the best share from there,
all stacks together, and let a battle v → c of a stack's set R_v be worth

    Q(s, v → c) = Σ_b P(c taken, b left) · H(after the advance by A(v, c, R_v − c))
                + Σ_d P(d defenders left) · H(after the loss).

The state is unfolded: it takes the battle with the greatest Q, if that is more than H(s). (Where
little is left, all battles are kept, those of idle stacks too, which can weaken a target for
another.) Then the states after it are unfolded, first the one that is likeliest to be reached and
has most to gain, and V(s) = max(H(s), max over battles of Σ P · V) is carried back to the start.
Each V is the chance of a plan that is known in all its parts, so it is
exact, never falls, and may be stopped at any time.

Where any territory of a set is enough, H(s) is the best way of one stack to one of them, and all
else is the same: the next stack meets what the last one has left.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import prod
from typing import NamedTuple

import numpy as np

from iacta.plan.exact import Move, tree_parts
from iacta.plan.extras import LOSSES, connected
from iacta.plan.policy import Errand
from iacta.plan.sets import bits
from iacta.plan.sharing import Share, Tasks, best_share
from iacta.plan.stack import StackChances
from iacta.plan.states import Attack, State, World

__all__ = ["Rescue"]

MOST_SHARED = 9
MOST_FREE = 6
MOST_ADVANCES = 6
NOTHING = Share(0.0, ())
SELDOM = 1e-9
OTHERS = 0.3  # how much sooner the best battle is followed than the others


class Unfolded(NamedTuple):
    """A battle and the states after it.

    move: the battle and its advances.
    after: (chance, state) of each way in which it can end.
    """

    move: Move
    after: tuple[tuple[float, State], ...]


class Rescue:
    """A plan that is improved state by state.

    world: the world; its field is what the plan may attack.
    chances: the chances of single stacks.
    tasks: the share at the start.
    """

    def __init__(self, world: World, chances: StackChances, tasks: Tasks) -> None:
        self.world, self.chances = world, chances
        self.shares: dict[State, Share] = {}
        self.values: dict[State, float] = {}
        self.unfolded: dict[State, list[Unfolded]] = {}
        self._shared_anew: set[State] = set()
        self._before: dict[State, set[State]] = {}
        self._queue: list[tuple[float, float, int, State]] = []
        self._known_ways: dict[tuple[int, int, int], set[int]] = {}
        self._counted = 0
        self.start = world.start()
        self._meet(self.start, tasks)
        self._wait(self.start, 1.0)

    @property
    def value(self) -> float:
        """The exact chance of the plan as it is now."""
        return self.values[self.start]

    def improve(self, most: int, at_once: int, late: Callable[[], bool]) -> bool:
        """Unfold some states, and tell whether there were any that can gain.

        most: how many may be unfolded in all.
        at_once: how many of them now.
        late: tells whether the time is over.
        """
        before = len(self.unfolded)
        most = min(most, before + at_once)
        while self._queue and len(self.unfolded) < most and not late():
            _, reach, _, state = heappop(self._queue)
            if state not in self.unfolded and self.values[state] < 1.0:
                self._meet_anew(state)
                self._unfold(state, reach)
        return len(self.unfolded) > before

    def moves(self) -> dict[State, Move]:
        """Return the moves of the states that gain by being unfolded."""
        return {
            state: max(battles, key=self._mean).move
            for state, battles in self.unfolded.items()
            if self.values[state] > self.shares[state].chance
        }

    def errands(self) -> dict[State, Errand]:
        """Return what the plan does in the other states."""
        return {
            state: Errand((share.tasks,), state.reduced)
            for state, share in self.shares.items()
            if share.tasks and self.values[state] <= share.chance
        }

    def _wait(self, state: State, reach: float) -> None:
        """Let a state wait to be unfolded, if it can gain by that."""
        if state in self.unfolded or not self.shares[state].tasks:
            return
        places = tuple(v for v, _ in state.stacks)
        whole = self.world.rewards.all_of
        if whole and tree_parts(self.world.problem.borders, state.left, places) is not None:
            return
        weight = reach * (1.0 - self.values[state])
        if weight > SELDOM:
            self._counted += 1
            heappush(self._queue, (-weight, reach, self._counted, state))

    def _meet(self, state: State, tasks: Tasks) -> None:
        """Go on with some tasks in a state, if that is better than what is known for it."""
        ongoing, known = self._valued(state, tasks), self.shares.get(state, NOTHING)
        self.shares[state] = ongoing if ongoing.chance > known.chance else known
        self._raise(state, self.shares[state].chance)

    def _meet_anew(self, state: State) -> None:
        """Share what is left in a state among all its stacks."""
        if state not in self._shared_anew:
            self._shared_anew.add(state)
            share, known = self._shared(state), self.shares.get(state, NOTHING)
            self.shares[state] = share if share.chance > known.chance else known
            self._raise(state, self.shares[state].chance)

    def _valued(self, state: State, tasks: Tasks) -> Share:
        if self.world.is_over(state):
            return Share(1.0, ())
        values = [float(self.chances.chance(v, r, state.reduced)[n]) for v, n, r in tasks]
        return Share(prod(values), tasks) if tasks else NOTHING

    def _shared(self, state: State) -> Share:
        """Return the best share of all that is left, or of what the goal needs of it."""
        if self.world.is_over(state):
            return Share(1.0, ())
        if self.world.is_hopeless(state):
            return NOTHING
        if self.world.rewards.any_of:
            return self._best_way(state)
        found = (
            best_share(self.chances, state.stacks, targets, state.reduced)
            for targets in {state.left, self._needed(state)}
            if targets.bit_count() <= MOST_SHARED
        )
        return max(found, key=lambda share: share.chance, default=NOTHING)

    def _best_way(self, state: State) -> Share:
        """Return the way of one stack to one territory with the greatest chance."""
        problem, goal = self.world.problem, self.world.rewards.any_of
        best = NOTHING
        for v, n in state.stacks:
            for t in bits(goal & problem.borders.reached(v, state.left)):
                for way in self._ways(v, t, state.left & ~goal | 1 << t):
                    chance = float(self.chances.chance(v, way, state.reduced)[n])
                    best = max(best, Share(chance, ((v, n, way),)))
        return best

    def _ways(self, v: int, t: int, free: int) -> set[int]:
        """Return sets by which a stack may come to a territory and take it."""
        key = v, t, free
        if key not in self._known_ways:
            problem = self.world.problem
            sets = {connected(problem, 1 << t, free, v, loss) for loss in LOSSES}
            self._known_ways[key] = sets - {0}
        return self._known_ways[key]

    def _needed(self, state: State) -> int:
        """Return what is left without the extras that the rest hangs together without."""
        places, targets = [v for v, _ in state.stacks], state.left
        extras = bits(state.left & ~self.world.rewards.all_of)
        for x in sorted(extras, key=lambda x: -self.world.problem.armies[x]):
            fewer, reached = targets & ~(1 << x), 0
            for v in places:
                reached |= self.world.problem.borders.reached(v, fewer)
            if fewer & ~reached == 0:
                targets = fewer
        return targets

    def _unfold(self, state: State, reach: float) -> None:
        """Look at the battles of a state, and let the states after them wait."""
        battles = sorted(self._battles(state), key=self._mean, reverse=True)
        if state.left.bit_count() > MOST_FREE:
            battles = battles[:1]
        self.unfolded[state] = battles
        for place, battle in enumerate(battles):
            for chance, after in battle.after:
                self._before.setdefault(after, set()).add(state)
                self._wait(after, reach * chance * (OTHERS if place else 1.0))
        self._raise(state, max(map(self._mean, battles), default=0.0))

    def _battles(self, state: State) -> Iterator[Unfolded]:
        """Yield battles of a state: the best of its tasks', and where little is left, all."""
        tasks = self.shares[state].tasks
        near = [
            (self._worth(state, k, c), k, c)
            for k, (v, _, targets) in enumerate(tasks)
            for c in bits(targets & self.world.problem.borders.out[v])
        ]
        if near:
            _, k, c = max(near)
            yield self._fought(state, k, c)
        if state.left.bit_count() <= MOST_FREE:
            for attack in self.world.attacks(state):
                yield self._free(state, attack)

    def _worth(self, state: State, k: int, c: int) -> float:
        """Return Q of the k-th task's attack on c."""
        tasks = self.shares[state].tasks
        v, n, targets = tasks[k]
        others = self._valued(state, tasks[:k] + tasks[k + 1 :]).chance if tasks[1:] else 1.0
        value = others * self.chances.attack(v, c, targets & ~(1 << c), state.reduced)[n]
        return float(value + self._mean_of(self._lost(state, Attack(v, c), n)))

    def _lost(self, state: State, attack: Attack, armies: int) -> list[tuple[float, State]]:
        """Return the states after a lost battle, each shared anew."""
        world, after = self.world, []
        able = armies - world.problem.garrisons[attack.start]
        law = self.chances.transfers.of(world.defenders(state, attack.to)).lost[able]
        for left in range(1, len(law)):
            if law[left]:
                follower = world.after_loss(state, attack, left)
                self._meet_anew(follower)
                after.append((float(law[left]), follower))
        return after

    def _fought(self, state: State, k: int, c: int) -> Unfolded:
        """Return the k-th task's attack on c, and the states after it."""
        world, tasks = self.world, self.shares[state].tasks
        v, n, targets = tasks[k]
        attack, garrison = Attack(v, c), world.problem.garrisons[v]
        law = self.chances.transfers.of(world.defenders(state, c)).won[n - garrison]
        advance = self.chances.advance(v, c, targets & ~(1 << c), state.reduced)
        won, after = [], self._lost(state, attack, n)
        for left in np.flatnonzero(law).tolist():
            moved = int(advance.armies[left])
            new = (
                (c, moved, advance.first[left]),
                (v, left + garrison - moved, advance.second[left]),
            )
            follower = world.after_win(state, attack, left, moved)
            others = tasks[:k] + tasks[k + 1 :]
            self._meet(follower, (*(task for task in new if task[2]), *others))
            won.append((left, moved, follower))
            after.append((float(law[left]), follower))
        return Unfolded(Move(attack, tuple(won)), tuple(after))

    def _free(self, state: State, attack: Attack) -> Unfolded:
        """Return an attack that need not be any task's, and the states after it, shared anew."""
        armies = dict(state.stacks)[attack.start]
        able = armies - self.world.problem.garrisons[attack.start]
        law = self.chances.transfers.of(self.world.defenders(state, attack.to)).won[able]
        won, after = [], self._lost(state, attack, armies)
        for left in np.flatnonzero(law).tolist():
            moves = self.world.advances(state, attack, left)
            if len(moves) > MOST_ADVANCES:
                moves = moves[:: len(moves) - 1]
            states = [(self.world.after_win(state, attack, left, moved), moved) for moved in moves]
            for follower, _ in states:
                self._meet_anew(follower)
            follower, moved = max(states, key=lambda each: self.values[each[0]])
            won.append((left, moved, follower))
            after.append((float(law[left]), follower))
        return Unfolded(Move(attack, tuple(won)), tuple(after))

    def _mean(self, unfolded: Unfolded) -> float:
        return self._mean_of(unfolded.after)

    def _mean_of(self, after: Iterable[tuple[float, State]]) -> float:
        return sum(chance * self.values[state] for chance, state in after)

    def _raise(self, state: State, value: float) -> None:
        """Set the value of a state if it grows, and carry it back."""
        if value <= self.values.get(state, -1.0):
            return
        self.values[state] = value
        for before in self._before.get(state, ()):
            self._raise(before, max(map(self._mean, self.unfolded[before])))
