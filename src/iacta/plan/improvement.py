"""Policy improvement: what a plan gains when a stack takes over where another has failed.

A share of a goal among stacks (`iacta.plan.sharing`) is lost with its first failure. Here the plan
looks at what happens battle by battle. For a state s let H(s) be the chance of the best share from
there, all stacks together. A battle v → c of a stack's set R_v has the action value

    Q(s, v → c) = Σ_b P(c taken, b left) · H(after the advance by A(v, c, R_v − c))
                + Σ_d P(d defenders left) · H(after the loss).

To unfold a state is to choose the battle with the greatest Q, if that is more than H(s). (Where
little is left, all battles are kept, those of idle stacks too, which can weaken a target for
another.) Then the states after it are unfolded, those first that are most likely to be visited and
have most to gain, and V(s) = max(H(s), max over battles of Σ P · V) is carried back to the start.
Each V is the chance of a plan that is known in all its parts, so it is exact, never falls, and the
search may be stopped at any time.

Where any territory of a set is enough, H(s) is the best way of one stack to one of them, and all
else is the same: the next stack meets what the last one has left.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import prod
from typing import NamedTuple

import numpy as np

from iacta.plan.game import Attack, Game, Move, State, tree_parts
from iacta.plan.one_stack import StackChances, Tasks
from iacta.plan.policy import Agenda, Policy
from iacta.plan.problem import bits
from iacta.plan.sharing import NOTHING, Share, best_share, ways_to

__all__ = ["Improvement"]

MOST_SHARED = 9
MOST_FREE = 6
MOST_ADVANCES = 6
SELDOM = 1e-9
OTHERS = 0.3  # how much sooner the best battle is followed than the others


class Action(NamedTuple):
    """A battle with its advances, and the states after it.

    move: the battle and its advances.
    after: (chance, state) of each way in which it can end.
    """

    move: Move
    after: tuple[tuple[float, State], ...]


class Improvement:
    """A policy that is improved state by state.

    game: the game; its field is what the plan may attack.
    chances: the chances of single stacks.
    tasks: the share at the start.
    """

    def __init__(self, game: Game, chances: StackChances, tasks: Tasks) -> None:
        self.game, self.chances = game, chances
        self.shares: dict[State, Share] = {}
        self.values: dict[State, float] = {}
        self.unfolded: dict[State, list[Action]] = {}
        self._shared_anew: set[State] = set()
        self._before: dict[State, set[State]] = {}
        self._queue: list[tuple[float, float, int, State]] = []
        self._known_ways: dict[tuple[int, int, int], set[int]] = {}
        self._counted = 0
        self.start = game.start()
        self._meet(self.start, self._valued(self.start, tasks))
        self._wait(self.start, 1.0)

    @property
    def value(self) -> float:
        """The exact chance of the policy as it is now."""
        return self.values[self.start]

    def policy(self) -> Policy:
        """Return the policy as it is now."""
        moves, agendas = {}, {}
        for state, actions in self.unfolded.items():
            if self.values[state] > self.shares[state].chance:
                moves[state] = max(actions, key=self._value_of).move
        for state, share in self.shares.items():
            if share.tasks and self.values[state] <= share.chance:
                agendas[state] = Agenda((share.tasks,), state.reduced)
        return Policy(self.game, self.chances, self.start, moves, agendas)

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

    def _wait(self, state: State, reach: float) -> None:
        """Let a state that is visited with a chance wait to be unfolded, if it can gain by that."""
        if state in self.unfolded or not self.shares[state].tasks:
            return
        places = tuple(v for v, _ in state.stacks)
        whole = self.game.rewards.all_of
        if whole and tree_parts(self.game.problem.borders, state.left, places) is not None:
            return
        weight = reach * (1.0 - self.values[state])
        if weight > SELDOM:
            self._counted += 1
            heappush(self._queue, (-weight, reach, self._counted, state))

    def _meet(self, state: State, share: Share) -> None:
        """Follow a share in a state if it is better than the best one known for it."""
        known = self.shares.get(state, NOTHING)
        self.shares[state] = share if share.chance > known.chance else known
        self._raise(state, self.shares[state].chance)

    def _meet_anew(self, state: State) -> None:
        """Share what is left in a state among all its stacks."""
        if state not in self._shared_anew:
            self._shared_anew.add(state)
            self._meet(state, self._shared(state))

    def _valued(self, state: State, tasks: Tasks) -> Share:
        if self.game.is_over(state):
            return Share(1.0, ())
        values = [float(self.chances.chance(v, r, state.reduced)[n]) for v, n, r in tasks]
        return Share(prod(values), tasks) if tasks else NOTHING

    def _shared(self, state: State) -> Share:
        """Return the best share of all that is left, or of what the goal needs of it."""
        if self.game.is_over(state):
            return Share(1.0, ())
        if self.game.is_hopeless(state):
            return NOTHING
        if self.game.rewards.any_of:
            return self._best_way(state)
        found = (
            best_share(self.chances, state.stacks, targets, state.reduced)
            for targets in {state.left, self._needed(state)}
            if targets.bit_count() <= MOST_SHARED
        )
        return max(found, key=lambda share: share.chance, default=NOTHING)

    def _best_way(self, state: State) -> Share:
        """Return the way of one stack to one territory with the greatest chance."""
        problem, goal = self.game.problem, self.game.rewards.any_of
        best = NOTHING
        for v, n in state.stacks:
            for t in bits(goal & problem.borders.reachable(v, state.left)):
                key = v, t, state.left & ~goal | 1 << t
                if key not in self._known_ways:
                    self._known_ways[key] = ways_to(problem, 1 << t, key[2], v)
                for way in self._known_ways[key]:
                    chance = float(self.chances.chance(v, way, state.reduced)[n])
                    best = max(best, Share(chance, ((v, n, way),)))
        return best

    def _needed(self, state: State) -> int:
        """Return what is left without the extras that the rest is connected without."""
        borders, places = self.game.problem.borders, [v for v, _ in state.stacks]
        targets = state.left
        extras = bits(state.left & ~self.game.rewards.all_of)
        for x in sorted(extras, key=lambda x: -self.game.problem.armies[x]):
            fewer = targets & ~(1 << x)
            if borders.reachable_from(places, fewer) == fewer:
                targets = fewer
        return targets

    def _unfold(self, state: State, reach: float) -> None:
        """Look at the battles of a state, and let the states after them wait."""
        actions = sorted(self._actions(state), key=self._value_of, reverse=True)
        if state.left.bit_count() > MOST_FREE:
            actions = actions[:1]
        self.unfolded[state] = actions
        for place, action in enumerate(actions):
            for chance, after in action.after:
                self._before.setdefault(after, set()).add(state)
                self._wait(after, reach * chance * (OTHERS if place else 1.0))
        self._raise(state, max(map(self._value_of, actions), default=0.0))

    def _actions(self, state: State) -> Iterator[Action]:
        """Yield battles of a state: the best of its tasks', and where little is left, all."""
        tasks = self.shares[state].tasks
        near = [
            (self._value_of_task(state, k, c), k, c)
            for k, (v, _, targets) in enumerate(tasks)
            for c in bits(targets & self.game.problem.borders.out[v])
        ]
        if near:
            _, k, c = max(near)
            yield self._by_task(state, k, c)
        if state.left.bit_count() <= MOST_FREE:
            for attack in self.game.attacks(state):
                yield self._free(state, attack)

    def _value_of_task(self, state: State, k: int, c: int) -> float:
        """Return Q of the k-th task's attack on c."""
        tasks = self.shares[state].tasks
        v, n, targets = tasks[k]
        others = self._valued(state, tasks[:k] + tasks[k + 1 :]).chance if tasks[1:] else 1.0
        value = others * self.chances.attack(v, c, targets & ~(1 << c), state.reduced)[n]
        return float(value + self._mean(self._lost(state, Attack(v, c))))

    def _by_task(self, state: State, k: int, c: int) -> Action:
        """Return the k-th task's attack on c, the stacks then following the rest of the share."""
        tasks = self.shares[state].tasks
        v, _, targets = tasks[k]
        attack, garrison = Attack(v, c), self.game.problem.garrisons[v]
        advance = self.chances.advance(v, c, targets & ~(1 << c), state.reduced)
        others = tasks[:k] + tasks[k + 1 :]
        won, after = [], self._lost(state, attack)
        for left, chance in self._won(state, attack):
            moved = int(advance.armies[left])
            ours = c, moved, advance.first[left]
            theirs = v, left + garrison - moved, advance.second[left]
            follower = self.game.after_win(state, attack, left, moved)
            tasks_then = (*(task for task in (ours, theirs) if task[2]), *others)
            self._meet(follower, self._valued(follower, tasks_then))
            won.append((left, moved, follower))
            after.append((chance, follower))
        return Action(Move(attack, tuple(won)), tuple(after))

    def _free(self, state: State, attack: Attack) -> Action:
        """Return an attack that need not be any task's, all that is left then being shared anew."""
        won, after = [], self._lost(state, attack)
        for left, chance in self._won(state, attack):
            moves = self.game.advances(attack, left)
            if len(moves) > MOST_ADVANCES:
                moves = moves[:: len(moves) - 1]
            states = [(self.game.after_win(state, attack, left, moved), moved) for moved in moves]
            for follower, _ in states:
                self._meet_anew(follower)
            follower, moved = max(states, key=lambda each: self.values[each[0]])
            won.append((left, moved, follower))
            after.append((chance, follower))
        return Action(Move(attack, tuple(won)), tuple(after))

    def _won(self, state: State, attack: Attack) -> Iterator[tuple[int, float]]:
        """Yield the armies that a conquest may leave able to move, and the chance of each."""
        defenders = self.game.defenders(state, attack.to)
        won = self.chances.battle(attack.to, defenders).won[self.game.able(state, attack)]
        for left in np.flatnonzero(won).tolist():
            yield left, float(won[left])

    def _lost(self, state: State, attack: Attack) -> list[tuple[float, State]]:
        """Return the states after a lost battle, each shared anew, and the chance of each."""
        defenders = self.game.defenders(state, attack.to)
        lost = self.chances.battle(attack.to, defenders).lost[self.game.able(state, attack)]
        after = []
        for left in range(1, defenders + 1):
            if lost[left]:
                follower = self.game.after_loss(state, attack, left)
                self._meet_anew(follower)
                after.append((float(lost[left]), follower))
        return after

    def _value_of(self, action: Action) -> float:
        return self._mean(action.after)

    def _mean(self, after: Iterable[tuple[float, State]]) -> float:
        return sum(chance * self.values[state] for chance, state in after)

    def _raise(self, state: State, value: float) -> None:
        """Set the value of a state if it grows, and carry it back."""
        if value <= self.values.get(state, -1.0):
            return
        self.values[state] = value
        for before in self._before.get(state, ()):
            self._raise(before, max(map(self._value_of, self.unfolded[before])))
