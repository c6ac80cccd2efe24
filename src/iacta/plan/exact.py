"""The best play of all, by Bellman's equation over a dictionary of states.

With z the results of an attack, r(z) what they pay at once, and the defender's answer that is worst
for the player where the dice leave one,

    Q(s, attack) = Σ_y P(y) · min over answers j of Σ_z P(z | y, j) · (r(z) + V'(s after z)),
    V(s)         = max(0, max over attacks of Q(s, attack)),

where V' is V, or after a conquest the maximum of V over all advances. Each attack takes armies, so
the recursion ends. States that differ only in what cannot matter any more count as one.

The compiled core does the same, some fifty times faster. This is its twin, and takes its place on
small boards where iacta was installed without it.
"""

from collections import defaultdict
from collections.abc import Iterator
from math import inf
from typing import TypeAlias

from iacta.errors import IactaError
from iacta.methods.kernel import Choice
from iacta.plan.core import NO_CORE, AttackResult, PolicyAction, Report, Visit
from iacta.plan.deadline import Deadline
from iacta.plan.masks import bits, mask_of, reached
from iacta.plan.problem import Problem, TurnState
from iacta.rules.roll import refuse_many_rolls

_Key: TypeAlias = tuple[tuple[int, ...], int, int]

SAME = 1e-12  # values that differ by less count as the same; then the first attack is taken
MOST_ARMIES = 250  # the recursion is as deep
MOST_STATES = 15_000  # in Python: some seconds


class ExactPlay:
    """The best play for one problem, with the same methods as `iacta.plan.core.Core`.

    problem: the problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._active = (problem.field | problem.stacks) & ~problem.resting
        rewards = problem.rewards
        paying = mask_of(t for t, paid in enumerate(rewards.lands) if paid)
        for mask, _ in () if rewards.once else rewards.sets:
            paying |= mask
        self._paying = paying & problem.field
        self._values: dict[_Key, float] = {}
        self._matters: dict[tuple[int, int], tuple[int, ...]] = {}
        self._deadline: Deadline | None = None
        self._most = inf

    def solve(
        self, deadline: Deadline, states: float = inf, start: TurnState | None = None
    ) -> float | None:
        """Return the value of the best play; `None` where that takes too much."""
        start = start or self.problem.start
        armies = sum(start.armies[t] for t in bits(self._active))
        if armies > MOST_ARMIES or not self._are_dice_ready_in(deadline.left()):
            return None
        self._deadline, self._most = deadline, min(states, MOST_STATES)
        try:
            return self.value(start)
        except TooManyError:
            return None
        finally:
            self._deadline, self._most = None, inf

    def _are_dice_ready_in(self, seconds: float) -> bool:
        for kernel in {*self.problem.kernels}:
            try:
                refuse_many_rolls(*kernel.rules.full_roll, kernel.rules, seconds)
            except IactaError:
                return False
        return True

    def value(self, state: TurnState) -> float:
        key = self._key(state)
        if key not in self._values:
            if len(self._values) >= self._most or (self._deadline and self._deadline.is_over):
                raise TooManyError
            self._values[key] = max((q for *_, q in self._rolls(state)), default=0.0)
        return max(self._values[key], 0.0)

    def _key(self, state: TurnState) -> _Key:
        problem, left = self.problem, self.problem.field & ~state.owned
        live = 0
        for v in bits(state.owned & self._active):
            if state.armies[v] > problem.garrisons[v] and problem.out[v] & left:
                live |= 1 << v
        if (live, left) not in self._matters:
            self._matters[live, left] = (*bits(live | reached(problem.out, live, left)),)
        armies = tuple([state.armies[t] for t in self._matters[live, left]])
        return armies, live, left

    def _is_over(self, state: TurnState) -> bool:
        if self.problem.rewards.once:
            return bool(self._paying & state.owned)
        return not self._paying & ~state.owned

    def _worth_at_end(self, state: TurnState) -> float:  # a part of a turn overrides it
        return 0.0

    def _paid(self, territory: int, state: TurnState) -> float:
        return self.problem.rewards.of(territory, ~state.owned)

    def _rolls(self, state: TurnState) -> Iterator[tuple[int, int, Choice, float]]:
        """Yield all legal attacks with their values Q."""
        problem, turn = self.problem, self.problem.turn
        if self._is_over(state):
            return
        for v in bits(state.owned & self._active):
            spare = state.armies[v] - problem.garrisons[v]
            for c in bits(problem.out[v] & problem.field & ~state.owned) if spare > 0 else ():
                kernel, defenders = problem.kernels[c], state.armies[c]
                choices: tuple[Choice, ...]
                if turn.whole_battles or not kernel.by_rolls:
                    choices = (kernel.battle(spare, defenders),)
                else:
                    able = state.armies[v] - turn.rules.garrison
                    choices = kernel.rolls(able, defenders, spare)
                for choice in choices:
                    outcomes = self._outcomes(state, v, c, choice)
                    yield v, c, choice, sum(each.chance * each.value for each in outcomes)

    def _outcomes(self, state: TurnState, v: int, c: int, choice: Choice) -> list[AttackResult]:
        """Return the results of an attack, with the answers that are worst for the player."""
        found: dict[tuple[int, int], AttackResult] = {}
        for throw in choice.throws:
            answers = []
            for option in throw.options:
                outcomes = [
                    AttackResult(p, x, y, *self._after(state, v, c, choice.least, x, y))
                    for p, x, y in option
                ]
                answers.append((sum(each.chance * each.value for each in outcomes), outcomes))
            least = min(value for value, _ in answers)
            worst = next(outcomes for value, outcomes in answers if value <= least + SAME)
            for each in worst:
                key, chance = (each.attackers, each.defenders), throw.chance * each.chance
                before = found[key].chance if key in found else 0.0
                found[key] = each._replace(chance=before + chance)
        return [*found.values()]

    def _after(
        self, state: TurnState, v: int, c: int, least: int, lost: int, killed: int
    ) -> tuple[int, float]:
        """Return the best advance after a result, and what it is worth in all."""
        rewards = self.problem.rewards
        armies = [*state.armies]
        armies[v] -= lost
        armies[c] -= killed
        paid = -rewards.price * lost
        if armies[c]:
            return 0, paid + self.value(TurnState(tuple(armies), state.owned))
        paid += self._paid(c, state)
        owned, spare = state.owned | 1 << c, armies[v] - self.problem.garrisons[v]
        best, moved = -inf, spare
        for number in range(spare, min(least, spare) - 1, -1):
            after = [*armies]
            after[v], after[c] = armies[v] - number, number
            there = TurnState(tuple(after), owned)
            value = self._worth_at_end(there) if self._is_over(there) else self.value(there)
            if value > best + SAME:
                best, moved = value, number
        return moved, paid + best

    def decide(self, state: TurnState) -> PolicyAction:
        best, value = None, 0.0
        for v, c, choice, q in self._rolls(state):
            if q > value + SAME * max(1.0, value):
                best, value = (v, c, choice), q
        if best is None:
            return PolicyAction(-1, -1, 0, 0.0, ())
        v, c, choice = best
        return PolicyAction(v, c, choice.dice, value, tuple(self._outcomes(state, v, c, choice)))

    def judge(self, state: TurnState, start: int, to: int, dice: int = 0) -> PolicyAction:
        """Return what an attack is worth in a state, with the best play after it.

        dice: the attack dice, 0 for as many as are allowed.
        """
        for v, c, choice, q in self._rolls(state):
            if (v, c) == (start, to) and dice in (0, choice.dice):
                return PolicyAction(
                    v, c, choice.dice, q, tuple(self._outcomes(state, v, c, choice))
                )
        return PolicyAction(-1, -1, 0, 0.0, ())

    def advance(self, state: TurnState, start: int, to: int, least: int) -> int:
        """Return how many armies the best play moves in when the last defender has fallen.

        state: the state before that, with the armies that are left on the attacking territory.
        """
        return self._after(state, start, to, least, 0, state.armies[to])[0]

    def flow(
        self, deadline: Deadline, states: float = inf, start: TurnState | None = None
    ) -> Report | None:
        """Return how the best play goes, by a forward pass over the states that it visits.

        Each state also carries, for each border, the chance to come to it without having attacked
        over that border.
        """
        problem = self.problem
        lands = len(problem.board.territories)
        waiting: dict[int, dict[TurnState, tuple[float, dict[tuple[int, int], float]]]]
        waiting = defaultdict(dict)
        start = start or problem.start
        waiting[sum(start.armies)][start] = (1.0, {})
        visits: dict[tuple[int, int], list[float]] = {}
        advances: dict[tuple[int, int], dict[int, list[float]]] = {}
        owned, armies = [0.0] * lands, [0.0] * lands
        taken = [0.0] * len(problem.rewards.sets)
        value, count = 0.0, 0
        while waiting:
            layer = waiting.pop(max(waiting))
            for state, (chance, fresh) in layer.items():
                count += 1
                if deadline.is_over or count > states:
                    return None
                decision = self.decide(state)
                if not decision.dice:
                    for t in bits(state.owned):
                        owned[t] += chance
                        armies[t] += chance * state.armies[t]
                    for i, (mask, _) in enumerate(problem.rewards.sets):
                        taken[i] += chance * (not mask & ~state.owned)
                    continue
                v = decision.start
                border = v, decision.to
                visit = visits.setdefault(border, [0.0] * 4)
                rows = advances.setdefault(border, {})
                visit[0] += fresh.get(border, chance)
                for each in decision.outcomes:
                    p = chance * each.chance
                    after, paid = self._applied(state, decision, each)
                    value += p * paid
                    if after.owned != state.owned:
                        visit[1] += p
                        visit[2] += p * each.moved
                        able = state.armies[v] - problem.garrisons[v] - each.attackers
                        row = rows.setdefault(able, [0.0, 0.0])
                        row[0] += p
                        row[1] += p * each.moved
                    if not self._is_over(after) and not self.decide(after).dice:
                        visit[3] += p
                    carried = {b: x * each.chance for b, x in fresh.items()} | {border: 0.0}
                    there = waiting[sum(after.armies)]
                    before, old = there.get(after, (0.0, {}))
                    both = {*carried, *old}
                    there[after] = (
                        before + p,
                        {b: carried.get(b, p) + old.get(b, before) for b in both},
                    )
        found = []
        for border, (reach, conquest, arrived, ended) in visits.items():
            moves = tuple((able, p, moved) for able, (p, moved) in sorted(advances[border].items()))
            found.append(Visit(*border, reach, conquest, arrived, ended, moves))
        return Report(value, count, tuple(found), tuple(owned), tuple(armies), tuple(taken))

    def _applied(
        self, state: TurnState, decision: PolicyAction, outcome: AttackResult
    ) -> tuple[TurnState, float]:
        rewards, v, c = self.problem.rewards, decision.start, decision.to
        armies = [*state.armies]
        armies[v] -= outcome.attackers + outcome.moved
        armies[c] -= outcome.defenders
        paid = -rewards.price * outcome.attackers
        if armies[c]:
            return TurnState(tuple(armies), state.owned), paid
        armies[c] = outcome.moved
        return TurnState(tuple(armies), state.owned | 1 << c), paid + self._paid(c, state)


class TooManyError(IactaError):
    """Ends a search that looks at too many states."""

    def __init__(self) -> None:
        super().__init__(NO_CORE)
