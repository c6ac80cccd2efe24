"""A policy: what a plan does whatever the dice show, and how often it visits each battle, exactly.

A plan is at a `State` for which it has chosen a move, or it carries out an `Agenda`: tasks that do
not need each other, one stack and one set each, carried out one after another by the equations of
`iacta.plan.one_stack`. It is over when its goal is reached or out of reach.

How it goes is found by one forward pass from the start. Each state is visited with a probability;
each task, given by v and R, with a vector of probabilities over the armies on v. A task leads to
the next one with the chance that it succeeds (or fails, where the next is another try). All answers
are sums of these, without an estimate: the chances that a battle is fought and won, and what each
battle adds to the expected armies on its two territories.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from math import fsum
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan.game import Attack, Game, Move, State
from iacta.plan.goals import Rewards
from iacta.plan.one_stack import Advance, Reduced, StackChances, Tasks
from iacta.plan.problem import Remembers, bits, union

__all__ = ["Agenda", "Node", "Policy", "Visit", "Visits"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

SAME = 1e-13


class Agenda(NamedTuple):
    """Tasks that are carried out one after another.

    tries: tasks that belong together; when one of them fails, the next try begins.
    reduced: the defenders left where battles were lost before.
    """

    tries: tuple[Tasks, ...]
    reduced: Reduced = ()


# Where a plan is: a state, as a tuple or a whole number, or an agenda; `None` when it is over.
Node: TypeAlias = State | Agenda | int | None


class Visit(NamedTuple):
    """What happens at one border.

    reached: chance that this battle is fought.
    conquered: chance that it is fought and won.
    arrived: expected number of armies that advance, 0 counted where it is not won.
    ended: chance that the plan ends with it, without success.
    """

    reached: float
    conquered: float
    arrived: float
    ended: float


@dataclass
class Visits:
    """How a plan goes.

    battles: by border, in the order in which battles may first be fought.
    armies: what the plan adds to the expected number of the player's armies on each territory.
    advances: by border, for each number of armies left able to move, the chance of it, and the
        expected number of those that advance, 0 counted elsewhere.
    completed: by the number of a try and a continent, the chance that the try takes all of the
        continent that it is to take.
    """

    battles: dict[Attack, Visit] = field(default_factory=dict)
    armies: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    advances: dict[Attack, dict[int, tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    completed: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, attack: Attack, visit: Visit) -> None:
        """Add a visit to a battle."""
        before = self.battles.get(attack, Visit(0.0, 0.0, 0.0, 0.0))
        self.battles[attack] = Visit(*(a + b for a, b in zip(before, visit, strict=True)))

    def add_advance(self, attack: Attack, able: int, moved: int, chance: float) -> None:
        """Add the chance that `able` armies are left after a conquest and `moved` advance."""
        before = self.advances[attack].get(able, (0.0, 0.0))
        self.advances[attack][able] = before[0] + chance, before[1] + chance * moved
        self.armies[attack.to] += chance * moved


class Policy(Remembers):
    """What a plan does.

    game: the game it is made for.
    chances: the chances of single stacks.
    start: where it starts.
    moves: the states for which it has chosen a move.
    agendas: the states that it leaves to an agenda; in all other states it is over.
    """

    def __init__(
        self,
        game: Game,
        chances: StackChances,
        start: Node = None,
        moves: dict[State, Move] | None = None,
        agendas: dict[State, Agenda] | None = None,
    ) -> None:
        self.game, self.chances = game, chances
        self.moves, self.agendas = moves or {}, agendas or {}
        self.start = self.settled(start)
        self._remember()

    def _remember(self) -> None:
        self.choices = lru_cache(maxsize=None)(self._choices)
        self.advance = lru_cache(maxsize=None)(self._advance)

    def settled(self, node: Node) -> Node:
        """Return the state with a move or the agenda that a node amounts to."""
        if isinstance(node, State):
            if node in self.moves:
                return node
            node = self.agendas.get(node)
        return node if isinstance(node, Agenda) and node.tries else None

    def attack(self, node: Node) -> tuple[Attack, int, int]:
        """Return the next attack, the armies on the attacking territory, and the defenders."""
        if isinstance(node, State):
            attack = self.moves[node].attack
            armies = dict(node.stacks)[attack.start]
            return attack, armies, self.game.defenders(node, attack.to)
        node = _agenda(node)
        v, n, targets = node.tries[0][0]
        c = int(self.choices(v, targets, node.reduced)[n])
        return Attack(v, c), n, self.chances.defenders(c, node.reduced)

    def _choices(self, v: int, targets: int, reduced: Reduced) -> Ints:
        """Return what the stack on v attacks first to take a set, for each number of its armies."""
        near = list(bits(targets & self.game.problem.borders.out[v]))
        rows = np.array([self.chances.attack(v, c, targets & ~(1 << c), reduced) for c in near])
        # Where two are equally good but for rounding, a player is not sent to and fro between them.
        good = rows >= (1.0 - SAME) * rows.max(axis=0)
        return np.asarray(np.array(near)[good.argmax(axis=0)])

    def _advance(self, v: int, c: int, targets: int, reduced: Reduced) -> Advance:
        """Return what to do after the stack on v has taken c, its first of a set."""
        return self.chances.advance(v, c, targets & ~(1 << c), reduced)

    def after_win(self, node: Node, able: int) -> tuple[int, Node]:
        """Return how many of `able` armies left advance after a conquest, and the next node."""
        if isinstance(node, State):
            won = {left: (moved, after) for left, moved, after in self.moves[node].won}
            return won[able][0], self.settled(won[able][1])
        node = _agenda(node)
        (v, n, targets), *others = node.tries[0]
        c = int(self.choices(v, targets, node.reduced)[n])
        advance = self.advance(v, c, targets, node.reduced)
        moved, first, second = int(advance.armies[able]), advance.first[able], advance.second[able]
        stays = able + self.game.problem.garrisons[v] - moved
        tasks = tuple(task for task in ((c, moved, first), (v, stays, second)) if task[2])
        if not all(self.chances.chance(u, r, node.reduced)[m] for u, m, r in tasks):
            return moved, self.settled(Agenda(node.tries[1:], node.reduced))
        tasks = (*tasks, *others)
        if tasks:
            tries = (tasks, *node.tries[1:])
        else:  # the try has succeeded: a chance is won, a worth goes on growing
            tries = () if self.game.rewards.is_chance else node.tries[1:]
        return moved, self.settled(Agenda(tries, node.reduced))

    def after_loss(self, node: Node, defenders: int) -> Node:
        """Return the next node after a lost battle that leaves some defenders."""
        if isinstance(node, State):
            attack = self.moves[node].attack
            return self.settled(self.game.after_loss(node, attack, defenders))
        node = _agenda(node)
        return self.settled(Agenda(node.tries[1:], node.reduced))

    def for_rewards(self, rewards: Rewards) -> "Policy":
        """Return the same policy for a game that pays otherwise."""
        game = Game(self.game.problem, self.game.field, rewards)
        return Policy(game, self.chances, self.start, self.moves, self.agendas)

    def visits(self) -> Visits:
        """Return how the plan goes."""
        return _ForwardPass(self).run()


def _agenda(node: Node) -> Agenda:
    if not isinstance(node, Agenda):
        raise TypeError(f"a node of this policy is a state or an agenda, got {node!r}")
    return node


class _Task(NamedTuple):
    """A task that is visited with some numbers of armies.

    v: the territory of its stack.
    targets: the set to take.
    reduced: the defenders left where battles were lost before.
    rest: what the tasks after it, in the same try, are to take.
    turn: the number of the try.
    last: whether a failure ends the plan.
    """

    v: int
    targets: int
    reduced: Reduced
    rest: int
    turn: int
    last: bool


class _ForwardPass:
    """The probability of visiting each state, and each task with each number of armies."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.chances = policy, policy.chances
        self.garrisons = policy.game.problem.garrisons
        self.rewards = policy.game.rewards
        self.certain = any(kernel.certain for kernel in policy.game.problem.kernels)
        self.visits = Visits()
        self.states: dict[State, float] = {}
        self.queue: list[tuple[int, int, State]] = []
        self.tasks: dict[_Task, Floats] = {}

    def run(self) -> Visits:
        """Return how the plan goes: first through its states, then through its tasks."""
        self._visit(self.policy.start, 1.0)
        while self.queue:
            *_, state = heappop(self.queue)
            self._leave_state(state, self.states.pop(state))
        while self.tasks:
            most = max(task.targets.bit_count() for task in self.tasks)
            for task in [task for task in self.tasks if task.targets.bit_count() == most]:
                self._leave_task(task, self.tasks.pop(task))
        return self.visits

    def _visit(self, node: Node, chance: float) -> None:
        if isinstance(node, Agenda):
            self._begin(node, chance)
        elif isinstance(node, State):
            if node not in self.states:
                # Battles only take territories and stacks away: no state comes back.
                heappush(self.queue, (-node.left.bit_count(), -len(node.stacks), node))
            self.states[node] = self.states.get(node, 0.0) + chance

    def _begin(self, agenda: Agenda, chance: float) -> None:
        """Visit the tasks of an agenda."""
        for turn, tasks in enumerate(agenda.tries):
            success, rest = 1.0, union(targets for _, _, targets in tasks)
            for v, n, targets in tasks:
                rest &= ~targets
                last = turn + 1 == len(agenda.tries)
                task = _Task(v, targets, agenda.reduced, rest, turn, last)
                self._visit_task(task, n, chance * success)
                success *= float(self.chances.chance(v, targets, agenda.reduced)[n])
            if self.rewards.is_chance:
                chance *= 1.0 - success

    def _visit_task(self, task: _Task, armies: int, chance: float) -> None:
        if task not in self.tasks:
            self.tasks[task] = np.zeros(self.chances.most + 1)
        self.tasks[task][armies] += chance

    def _leave_state(self, state: State, chance: float) -> None:
        policy, game = self.policy, self.policy.game
        attack, armies, defenders = policy.attack(state)
        garrison = self.garrisons[attack.start]
        transition = self.chances.battle(attack.to, defenders)
        won, lost = transition.won[armies - garrison], transition.lost[armies - garrison]
        arrived = ended = stayed = 0.0
        for able, moved, after in policy.moves[state].won:
            part = chance * float(won[able])
            self.visits.add_advance(attack, able, moved, part)
            arrived += part * moved
            stayed += part * (able - moved)
            node = policy.settled(after)
            ended += part if node is None and not game.is_over(after) else 0.0
            self._visit(node, part)
        for left in range(1, defenders + 1):
            part, node = chance * float(lost[left]), policy.after_loss(state, left)
            ended += part if node is None else 0.0
            if part:
                self._visit(node, part)
        self.visits.armies[attack.start] += chance * (garrison - armies) + stayed
        self.visits.add(attack, Visit(chance, chance * float(won.sum()), arrived, ended))

    def _leave_task(self, task: _Task, weights: Floats) -> None:
        """Fight the first battles of a task, all numbers of armies with the same target at once."""
        choices = self.policy.choices(task.v, task.targets, task.reduced)
        for c in bits(task.targets):
            chosen = np.where(choices == c, weights, 0.0)
            if chosen.any():
                self._fight(task, c, chosen)

    def _fight(self, task: _Task, c: int, weights: Floats) -> None:
        attack, garrison = Attack(task.v, c), self.garrisons[task.v]
        transition = self.chances.battle(c, self.chances.defenders(c, task.reduced))
        able = np.arange(self.chances.most - garrison + 1)
        won = weights[garrison:] @ transition.won[: len(able), : len(able)]
        if self.certain and not (weights[garrison:] @ transition.lost[: len(able)]).any():
            # Certainty is exact: the last digits that are missing go to the likeliest end.
            won[won.argmax()] += fsum([*weights[garrison:].tolist(), *(-won).tolist()])
        advance = self.policy.advance(task.v, c, task.targets, task.reduced)
        reached, conquered = self._total(weights), self._total(won)
        moved = float(won @ advance.armies)
        before = float(weights @ np.arange(self.chances.most + 1))
        self.visits.armies[task.v] += reached * garrison - before + float(won @ able) - moved
        left = task.targets & ~(1 << c) | task.rest
        for mask in {mask for mask, _ in self.rewards.continents}:
            if mask >> c & 1 and not mask & left:  # c is the last of it that this try is to take
                self.visits.completed[task.turn, mask] += conquered
        ended = reached - conquered
        for b in np.flatnonzero(won):
            ended += self._move_in(task, c, int(b), float(won[b]), advance)
        self.visits.add(attack, Visit(reached, conquered, moved, task.last * ended))

    def _total(self, weights: Floats) -> float:
        return fsum(weights.tolist()) if self.certain else float(weights.sum())

    def _move_in(self, task: _Task, c: int, able: int, chance: float, advance: Advance) -> float:
        """Visit the tasks after a conquest; return its chance if too few armies are left."""
        moved, first, second = int(advance.armies[able]), advance.first[able], advance.second[able]
        self.visits.add_advance(Attack(task.v, c), able, moved, chance)
        if not advance.chances[able]:
            return chance
        ours = float(self.chances.chance(c, first, task.reduced)[moved])
        stays = able + self.garrisons[task.v] - moved
        if first:
            rest = task.rest | second
            self._visit_task(task._replace(v=c, targets=first, rest=rest), moved, chance)
        if second:
            self._visit_task(task._replace(targets=second), stays, chance * ours)
        return 0.0
