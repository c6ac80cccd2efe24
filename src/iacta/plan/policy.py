"""Policy: what a plan does whatever the dice show, and how it goes, exactly.

A plan stands at a `State` for which it has chosen a move, or it is on an `Errand`: tasks that do
not need each other, one stack and one set each, which are carried out one after another by the
equations of `iacta.plan.stack`. A plan whose goal is out of reach, or reached, is over.

How it goes is found by one pass from the start. What flows through the states is a chance for each;
through the tasks, for each (v, R), a vector of chances over the armies on v. A task flows into the
next one by the chance that it succeeds (or fails, where the next is another try). All answers are
sums of these, without an estimate: chances to be reached and to be conquered, and what each battle
adds to the mean armies of its two territories.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan.exact import Move
from iacta.plan.sets import bits
from iacta.plan.sharing import Tasks
from iacta.plan.stack import Advance, Reduced, StackChances
from iacta.plan.states import Attack, State, World

__all__ = ["Errand", "Flow", "Passage", "Policy", "Standing"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

SAME = 1e-13


class Errand(NamedTuple):
    """Tasks that are carried out one after another.

    tries: tasks that belong together; when one of them fails, the next try begins.
    reduced: what lost battles had left before.
    """

    tries: tuple[Tasks, ...]
    reduced: Reduced = ()


Standing: TypeAlias = State | Errand | None


class Passage(NamedTuple):
    """What happens at one border.

    reached: chance that this battle is fought.
    conquered: chance that it is fought and won.
    arrived: armies that move in, times the chance.
    ended: chance that the plan ends with it, without success.
    """

    reached: float = 0.0
    conquered: float = 0.0
    arrived: float = 0.0
    ended: float = 0.0

    def plus(self, other: "Passage") -> "Passage":
        """Return the sum with another part of the same.

        other: the other part.
        """
        return Passage(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass
class Flow:
    """How a plan goes.

    passages: by border, in the order in which battles first may happen.
    armies: what the plan adds to the mean of the player's armies on each territory.
    advances: by border, for each number of armies left able to move, the chance of it and the
        mean of how many move in, times the chance.
    completed: by the number of a try and a continent, the chance that the try takes all of it
        that it is to take.
    """

    passages: dict[Attack, Passage] = field(default_factory=dict)
    armies: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    advances: dict[Attack, dict[int, tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    completed: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, attack: Attack, passage: Passage) -> None:
        """Add a part of what happens at a border.

        attack: the border.
        passage: the part.
        """
        self.passages[attack] = self.passages.get(attack, Passage()).plus(passage)

    def advance(self, attack: Attack, able: int, moved: int, chance: float) -> None:
        """Add a conquest.

        attack: the battle.
        able: armies left able to move.
        moved: those that moved in.
        chance: how likely it is.
        """
        before = self.advances[attack].get(able, (0.0, 0.0))
        self.advances[attack][able] = before[0] + chance, before[1] + chance * moved
        self.armies[attack.to] += chance * moved

    def owned(self, territory: int) -> float:
        """Return the chance that a territory is conquered.

        territory: the territory.
        """
        return sum(p.conquered for attack, p in self.passages.items() if attack.to == territory)


class Policy:
    """What a plan does.

    world: the world it is made for.
    chances: the chances of single stacks.
    start: where it starts.
    moves: the states for which it has chosen a move.
    errands: the states that it leaves to an errand; in all other states it is over.
    """

    def __init__(
        self,
        world: World,
        chances: StackChances,
        start: Standing,
        moves: dict[State, Move],
        errands: dict[State, Errand],
    ) -> None:
        self.world, self.chances, self.start = world, chances, start
        self.moves, self.errands = moves, errands
        self._choices: dict[tuple[int, int, Reduced], Ints] = {}
        self._advances: dict[tuple[int, int, int, Reduced], Advance] = {}

    def settled(self, standing: Standing) -> Standing:
        """Return the state that has a move, or the errand, that a standing amounts to.

        standing: where the plan stands; `None` when it is over.
        """
        if isinstance(standing, State):
            if standing in self.moves:
                return standing
            standing = self.errands.get(standing)
        return standing if standing is not None and standing.tries else None

    def attack(self, standing: State | Errand) -> tuple[Attack, int, int]:
        """Return the next attack, the armies on the attacking territory, and the defenders.

        standing: where the plan stands, settled.
        """
        if isinstance(standing, State):
            attack = self.moves[standing].attack
            armies = dict(standing.stacks)[attack.start]
            return attack, armies, self.world.defenders(standing, attack.to)
        v, n, targets = standing.tries[0][0]
        c = int(self.choices(v, targets, standing.reduced)[n])
        return Attack(v, c), n, self.chances.defenders(c, standing.reduced)

    def choices(self, v: int, targets: int, reduced: Reduced) -> Ints:
        """Return what the stack on v attacks first to take a set, for each number of its armies.

        v: its territory.
        targets: the set.
        reduced: what lost battles have left.
        """
        key = v, targets, reduced
        if key not in self._choices:
            near = list(bits(targets & self.world.problem.borders.out[v]))
            rows = np.array([self.chances.attack(v, c, targets & ~(1 << c), reduced) for c in near])
            # Where two are as good but for rounding, a player is not sent to and fro between them.
            good = rows >= (1.0 - SAME) * rows.max(axis=0)
            self._choices[key] = np.array(near)[good.argmax(axis=0)]
        return self._choices[key]

    def after_win(self, standing: State | Errand, able: int) -> tuple[int, Standing]:
        """Return how many armies move in after a conquest, and where the plan stands then.

        standing: where it stood, settled.
        able: the armies left able to move.
        """
        if isinstance(standing, State):
            won = {left: (moved, after) for left, moved, after in self.moves[standing].won}
            return won[able][0], self.settled(won[able][1])
        (v, n, targets), *others = standing.tries[0]
        c = int(self.choices(v, targets, standing.reduced)[n])
        advance = self.advance(v, c, targets, standing.reduced)
        moved, first, second = int(advance.armies[able]), advance.first[able], advance.second[able]
        stays = able + self.world.problem.garrisons[v] - moved
        tasks = tuple(task for task in ((c, moved, first), (v, stays, second)) if task[2])
        if not all(self.chances.chance(u, r, standing.reduced)[m] for u, m, r in tasks):
            return moved, self.settled(Errand(standing.tries[1:], standing.reduced))
        tasks = (*tasks, *others)
        tries = (tasks, *standing.tries[1:]) if tasks else self._after_try(standing.tries)
        return moved, self.settled(Errand(tries, standing.reduced))

    def _after_try(self, tries: tuple[Tasks, ...]) -> tuple[Tasks, ...]:
        return () if self.world.rewards.is_chance else tries[1:]

    def after_loss(self, standing: State | Errand, defenders: int) -> Standing:
        """Return where the plan stands after a lost battle.

        standing: where it stood, settled.
        defenders: those left.
        """
        if isinstance(standing, State):
            attack = self.moves[standing].attack
            return self.settled(self.world.after_loss(standing, attack, defenders))
        return self.settled(Errand(standing.tries[1:], standing.reduced))

    def advance(self, v: int, c: int, targets: int, reduced: Reduced) -> Advance:
        """Return what to do after the stack on v has taken c, its first of a set.

        v, targets, reduced: as for `choices`.
        c: the territory.
        """
        key = v, c, targets, reduced
        if key not in self._advances:
            self._advances[key] = self.chances.advance(v, c, targets & ~(1 << c), reduced)
        return self._advances[key]

    def flow(self) -> Flow:
        """Return how the plan goes."""
        flow = Flow()
        tasks = _TaskFlow(self, flow)
        weights: dict[State, float] = {}
        queue: list[tuple[int, int, State]] = []
        self._pour(self.settled(self.start), 1.0, weights, queue, tasks)
        while queue:
            *_, state = heappop(queue)
            self._fight(state, weights.pop(state), flow, tasks, weights, queue)
        tasks.run()
        return flow

    def _pour(
        self,
        standing: Standing,
        chance: float,
        weights: dict[State, float],
        queue: list[tuple[int, int, State]],
        tasks: "_TaskFlow",
    ) -> None:
        if isinstance(standing, Errand):
            tasks.pour(standing, chance)
        elif standing is not None:
            if standing not in weights:
                heappush(queue, (-standing.left.bit_count(), -len(standing.stacks), standing))
            weights[standing] = weights.get(standing, 0.0) + chance

    def _fight(
        self,
        state: State,
        chance: float,
        flow: Flow,
        tasks: "_TaskFlow",
        weights: dict[State, float],
        queue: list[tuple[int, int, State]],
    ) -> None:
        attack, armies, defenders = self.attack(state)
        garrison = self.world.problem.garrisons[attack.start]
        law = self.chances.transfers.of(defenders)
        won, lost = law.won[armies - garrison], law.lost[armies - garrison]
        arrived = ended = stayed = 0.0
        for able, moved, after in self.moves[state].won:
            part = chance * float(won[able])
            flow.advance(attack, able, moved, part)
            arrived += part * moved
            stayed += part * (able - moved)
            follower = self.settled(after)
            ended += part if follower is None and not self.world.is_over(after) else 0.0
            self._pour(follower, part, weights, queue, tasks)
        for left in range(1, defenders + 1):
            part, follower = chance * float(lost[left]), self.after_loss(state, left)
            ended += part if follower is None else 0.0
            if part:
                self._pour(follower, part, weights, queue, tasks)
        flow.armies[attack.start] += chance * (garrison - armies) + stayed
        flow.add(attack, Passage(chance, chance * float(won.sum()), arrived, ended))


class _Part(NamedTuple):
    """A task as it flows.

    v: the territory of its stack.
    targets: the set to take.
    reduced: what lost battles had left before.
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


class _TaskFlow:
    """What flows through tasks, for all armies of a stack at once."""

    def __init__(self, policy: Policy, flow: Flow) -> None:
        self.policy, self.flow, self.chances = policy, flow, policy.chances
        self.garrisons = policy.world.problem.garrisons
        self.weights: dict[_Part, Floats] = {}

    def pour(self, errand: Errand, chance: float) -> None:
        """Let an errand begin.

        errand: the errand.
        chance: how likely it is.
        """
        for turn, tasks in enumerate(errand.tries):
            success, rest = 1.0, 0
            for _, _, targets in tasks:
                rest |= targets
            for v, n, targets in tasks:
                rest &= ~targets
                last = turn + 1 == len(errand.tries)
                part = _Part(v, targets, errand.reduced, rest, turn, last)
                self._add(part, n, chance * success)
                success *= float(self.chances.chance(v, targets, errand.reduced)[n])
            if self.policy.world.rewards.is_chance:
                chance *= 1.0 - success

    def _add(self, part: _Part, armies: int, chance: float) -> None:
        if part not in self.weights:
            self.weights[part] = np.zeros(self.chances.most + 1)
        self.weights[part][armies] += chance

    def run(self) -> None:
        """Let all flow to the end, the largest sets first."""
        while self.weights:
            most = max(part.targets.bit_count() for part in self.weights)
            for part in [part for part in self.weights if part.targets.bit_count() == most]:
                self._fight(part, self.weights.pop(part))

    def _fight(self, part: _Part, weight: Floats) -> None:
        choices = self.policy.choices(part.v, part.targets, part.reduced)
        for c in bits(part.targets):
            chosen = np.where(choices == c, weight, 0.0)
            if chosen.any():
                self._attack(part, c, chosen)

    def _attack(self, part: _Part, c: int, weight: Floats) -> None:
        attack, garrison = Attack(part.v, c), self.garrisons[part.v]
        law = self.chances.transfers.of(self.chances.defenders(c, part.reduced))
        able = np.arange(self.chances.most - garrison + 1)
        won = weight[garrison:] @ law.won[: len(able), : len(able)]
        advance = self.policy.advance(part.v, c, part.targets, part.reduced)
        reached, conquered = float(weight.sum()), float(won.sum())
        moved = float(won @ advance.armies)
        before = float(weight @ np.arange(self.chances.most + 1))
        self.flow.armies[part.v] += reached * garrison - before + float(won @ able) - moved
        self._complete(part, c, conquered)
        ended = reached - conquered
        for b in np.flatnonzero(won):
            ended += self._move_in(part, c, int(b), float(won[b]), advance)
        self.flow.add(attack, Passage(reached, conquered, moved, part.last * ended))

    def _complete(self, part: _Part, c: int, conquered: float) -> None:
        """Count the continents of which a conquest is the last that this try is to take."""
        left = part.targets & ~(1 << c) | part.rest
        for mask in {mask for mask, _ in self.policy.world.rewards.continents}:
            if mask >> c & 1 and not mask & left:
                self.flow.completed[part.turn, mask] += conquered

    def _move_in(self, part: _Part, c: int, able: int, chance: float, advance: Advance) -> float:
        """Let a conquest flow on, and return its chance if too few armies are left for that."""
        moved, first, second = int(advance.armies[able]), advance.first[able], advance.second[able]
        self.flow.advance(Attack(part.v, c), able, moved, chance)
        if not advance.chances[able]:
            return chance
        ours = float(self.chances.chance(c, first, part.reduced)[moved])
        stays = able + self.garrisons[part.v] - moved
        if first:
            self._add(part._replace(v=c, targets=first, rest=part.rest | second), moved, chance)
        if second:
            self._add(part._replace(targets=second), stays, chance * ours)
        return 0.0
