"""Plans for stacks of many thousands, whose armies are counted in steps.

With a step of k armies a stack of n armies on v has ⌊(n − g) / k⌋ units, g being what must remain
on v. The tables of `iacta.plan.one_stack` then hold units, and so do all plans. Only W and L are
found from true battles, with all their armies. Let X_d be what it costs, all dice being rolled, to
take a territory from d defenders, which does not depend on how many attackers stand behind those
that fight (`iacta.methods.leap`). A stack of a units wins if X_d < a·k − 1, and is left with

    a − (X_d + g) / k   units,

g armies remaining on what it has taken. Where that is no whole number, its probability is shared
between the two nearest ones, so that its mean is right, which is as if values were interpolated.
A stack that is lost has taken K_A defenders with its A = a·k armies, of whom by the renewal theorem

    E K_A ≈ A · (m / μ − 1),        Var K_A ≈ A · m² · σ² / μ³,

where a roll takes m armies, X ~ (μ, σ²) of them the attacker's. K_A is taken to be normal, and the
defenders left are the nearest of some `levels`.

So the chance of a plan is that of a model. It leaves out what is left of a stack beside its units,
and its last army, which rolls few dice.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from heapq import heappush
from itertools import islice
from math import ceil, erfc, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import IactaError
from iacta.methods import find_kernel
from iacta.methods.kernel import Transitions, bare_rules
from iacta.methods.leap import Leap, attackers_walk
from iacta.plan.game import Game, State
from iacta.plan.goals import Rewards
from iacta.plan.improvement import Improvement
from iacta.plan.one_stack import MOST_ABLE, StackChances
from iacta.plan.policy import Agenda, Policy, Visit, Visits
from iacta.plan.problem import Problem, bits
from iacta.plan.search import Candidate, useful_field
from iacta.plan.sharing import NOTHING, best_share, forests
from iacta.plan.turn import Roll, Turn
from iacta.rules.rules import Rules

__all__ = ["ScaledProblem", "in_armies", "is_giant", "next_roll", "scaled_plan"]

Floats: TypeAlias = npt.NDArray[np.float64]

UNITS, FEWER_UNITS = 1600, 700  # of the largest stack: if it is alone, and if there are others
LEVELS, FEWER_LEVELS = 300, 50
MANY = 1000  # defenders of all targets: against fewer, 2000 armies of a stack decide
MOST_ALONE, MOST_SHARED = 13, 9  # targets that are shared in all ways
MOST_FORESTS = 6
UNFOLDED = 40
LAST = 1  # armies of a stack that roll so few dice that they almost never decide
FAR = 12.0  # standard deviations


def _normal(x: Floats) -> Floats:
    """Return the distribution function of the standard normal distribution."""
    # Beyond FAR nothing is left to tell, and most entries lie there.
    found = (x > 0.0).astype(float)
    near = np.abs(x) < FAR
    found[near] = [erfc(-each / sqrt(2.0)) / 2.0 for each in x[near].tolist()]
    return found


class _Together(Improvement):
    """An improvement in which stacks may also attack together what none could take alone."""

    def _wait(self, state: State, reach: float) -> None:
        if self.shares[state].tasks or len(state.stacks) < 2 or self.game.is_hopeless(state):
            super()._wait(state, reach)
        elif state not in self.unfolded:
            self._counted += 1
            heappush(self._queue, (-reach, reach, self._counted, state))


class ScaledKernel:
    """The battles of one kind of rules, in steps of many armies.

    rules: the rules.
    step: k.
    levels: by its place, each number of defenders that is told apart; 0 is the first.
    stays: the armies that remain on what is taken.
    """

    certain = False
    rolled = True

    def __init__(self, rules: Rules, step: int, levels: tuple[int, ...], stays: int) -> None:
        self.rules, self.step, self.levels, self.stays = bare_rules(rules), step, levels, stays
        walk = attackers_walk(self.rules)
        taken = len(walk.counts) - 1
        self._killed = taken / walk.mean - 1.0  # defenders for each attacker, on average
        self._spread = taken * sqrt(walk.variance / walk.mean**3)

    def transitions(self, able: int, level: int) -> Transitions:
        """Return W and L against the defenders of a level, for all units up to `able`."""
        defenders, most = self.levels[level], able * self.step
        won = np.zeros((able + 1, able + 1))
        wins = np.zeros(able + 1)
        least = defenders / self._killed
        if least - FAR * sqrt(least) * self._spread / self._killed <= most:
            lost, chances = self._cost(defenders)
            reached = np.maximum(np.arange(able + 1) * self.step - LAST, 0)
            wins = np.concatenate([[0.0], chances.cumsum()])[np.searchsorted(lost, reached)]
            units = (lost + self.stays) / self.step
            whole = units.astype(int)
            part, size = units - whole, max(int(whole[-1]) + 2, able + 1)
            after = np.bincount(whole, chances * (1.0 - part), size)
            after += np.bincount(whole + 1, chances * part, size)
            for a in range(1, able + 1):
                won[a, 1 : a + 1] = after[:a][::-1]
            total = won.sum(axis=1)
            won[1:, 1] += np.maximum(wins - total, 0.0)[1:]
            scale = np.divide(wins, total, out=np.ones(able + 1), where=total > wins)
            won *= scale[:, np.newaxis]
        left = self._left(able, level) * (1.0 - won.sum(axis=1))[:, np.newaxis]
        return Transitions(won, left)

    def _cost(self, defenders: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return the armies that a conquest may cost, in order, and the chance of each."""
        many = 2 * ceil(defenders / self._killed) + ceil(100 * sqrt(defenders)) + 400
        ends = Leap(self.rules).forward(Distribution([many]), defenders)
        costs = sorted((many - end.attackers, float(p)) for end, p in ends.items() if p)
        costs = [pair for pair in costs if pair[0] < many]
        chances = np.array([p for _, p in costs])
        return np.array([cost for cost, _ in costs]), chances / chances.sum()

    def _left(self, able: int, level: int) -> Floats:
        """Return the distribution of the level that is left when all armies are lost."""
        armies = np.arange(able + 1)[:, np.newaxis] * float(self.step)
        levels = np.array(self.levels[: level + 1], dtype=float)
        edges = (levels[1:] + levels[:-1]) / 2
        edges[0] = 0.0
        left = self.levels[level] - armies * self._killed
        spread = np.sqrt(np.maximum(armies, 1.0)) * self._spread
        below = np.zeros((able + 1, level + 1))
        below[:, :-1] = _normal((edges[np.newaxis, :] - left) / spread)
        below[:, -1] = 1.0
        parts = np.diff(below, axis=1)
        total = parts.sum(axis=1, keepdims=True)
        found = np.zeros((able + 1, level + 1))
        found[:, 1:] = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0.0)
        found[total[:, 0] <= 0.0, 1] = 1.0
        return found


@dataclass(frozen=True)
class ScaledProblem(Problem):
    """A problem whose armies are units, and whose defenders are places in a row of levels.

    step: the armies of a unit.
    levels: the defenders of each level.
    stays: the armies that remain on what is taken.
    real: the problem itself.
    """

    step: int = 1
    levels: tuple[int, ...] = ()
    stays: int = 0
    real: Problem | None = field(default=None, compare=False, repr=False)

    @cached_property
    def kernels(self) -> tuple[ScaledKernel, ...]:  # type: ignore[override] # all that plans ask
        """The kernel of each of `all_rules`."""
        return tuple(
            ScaledKernel(rules, self.step, self.levels, self.stays) for rules in self.all_rules
        )

    def dice(self, territory: int) -> int:
        """Return 0: less than a unit is forced to advance."""
        return 0

    def armies_of(self, units: int) -> int:
        """Return the armies of a territory with some units, and what remains there."""
        return units * self.step + self.stays

    def defenders_of(self, level: int) -> int:
        """Return the defenders of a level."""
        return self.levels[level]


def is_giant(problem: Problem, goal: int) -> bool:
    """Return whether a plan to take all of a set must count armies in steps.

    problem: the problem.
    goal: the set.
    """
    able = max((n - problem.garrisons[v] for v, n in problem.stacks()), default=0)
    if able <= MOST_ABLE or sum(problem.armies[c] for c in bits(goal)) < MANY:
        return False
    return all(_leaps(rules) for rules in problem.all_rules)


@lru_cache(maxsize=64)
def _leaps(rules: Rules) -> bool:
    """Return whether `iacta.methods.leap` has these rules."""
    try:
        find_kernel(bare_rules(rules), method=Leap.name).refuse(1, 1)
    except IactaError:
        return False
    return True


def next_roll(problem: Problem, goal: int) -> tuple[Roll, float, dict[int, int]] | None:
    """Return what to roll next, by a plan in steps; `None` if there is nothing to do.

    problem: one that `is_giant`, in which a battle may have begun.
    goal: the set to take.

    The roll, the chance of the plan, and how many move in for each number that may be left able to
    move if the roll conquers.
    """
    found = scaled_plan(problem, goal & problem.enemy)
    policy, scaled = found.policy, found.policy.game.problem
    if policy.start is None or not isinstance(scaled, ScaledProblem):
        return None
    attack, *_ = policy.attack(policy.start)
    turn = Turn(problem, goal, Rewards(all_of=goal))
    state = turn.start()
    dice = max(r.dice for r in turn.rolls(state) if (r.start, r.to) == attack)
    roll, advance = Roll(attack.start, attack.to, dice), dict[int, int]()
    choice = turn.choice(state, roll)
    for result in (r for throw in choice.throws for option in throw.options for r in option):
        after = turn.after(state, roll, result)
        moves = turn.advances(after, roll, choice.least)
        if moves:
            left = turn.spare(after, roll.start)
            moved, _ = policy.after_win(policy.start, max(left // scaled.step, 1))
            wanted = left if moved * scaled.step >= left - scaled.step else moved * scaled.step
            advance[left] = min(max(wanted, moves[0]), moves[-1])
    return roll, found.value, advance


def scaled_plan(problem: Problem, goal: int, late: Callable[[], bool] = lambda: False) -> Candidate:
    """Return a plan to take all of a set, in steps of many armies.

    problem: one that `is_giant`.
    goal: the set, none of it the player's.
    late: tells whether the time is over.
    """
    scaled = _scaled(problem, useful_field(problem, goal))
    chances = StackChances(scaled, scaled.most)
    reached = useful_field(scaled, goal)
    game = Game(scaled, reached, Rewards(all_of=goal))
    if goal & ~useful_field(problem, goal):
        return Candidate(Policy(game, chances), 0.0, 0.0)
    if goal & ~reached:
        return Candidate(Policy(game, chances), 0.0, 1.0)
    share = NOTHING
    near = [v for v, _ in scaled.stacks() if scaled.borders.out[v] & goal]
    few = MOST_ALONE if len(near) == 1 else MOST_SHARED
    if goal.bit_count() <= few and scaled.borders.reachable_from(near, goal) == goal:
        share = best_share(chances, scaled.stacks(), goal)
    found = Policy(game, chances, Agenda((share.tasks,)) if share.tasks else None)
    if reached != goal or not share.chance:
        for forest in islice(forests(scaled, goal, reached), MOST_FORESTS):
            if forest.share.chance > share.chance:
                share = forest.share
                along = Game(forest.chances.problem, forest.field, game.rewards)
                found = Policy(along, forest.chances, Agenda((share.tasks,)))
            if late():
                break
    if len(scaled.stacks()) > 1 and not late():
        improvement = _Together(game, chances, share.tasks)
        improvement.improve(UNFOLDED, UNFOLDED, late)
        if improvement.value > share.chance:
            return Candidate(improvement.policy(), min(improvement.value, 1.0), 1.0)
    return Candidate(found, min(share.chance, 1.0), 1.0)


def _scaled(problem: Problem, useful: int) -> ScaledProblem:
    """Return a problem in steps."""
    able = {v: n - problem.garrisons[v] for v, n in problem.stacks()}
    is_alone = len(able) == 1
    fewest = ceil(max(able.values()) / (UNITS if is_alone else FEWER_UNITS))
    # Of the steps that are small enough, the one that leaves out the fewest armies.
    step = min(
        range(fewest, fewest + fewest // 4 + 2),
        key=lambda k: sum(n % k for n in able.values()),
    )
    held = {problem.armies[c] for c in bits(problem.enemy & useful)}
    most, count = max(held, default=1), LEVELS if is_alone else FEWER_LEVELS
    grid = np.linspace(1, most, min(count, most)).round().astype(int).tolist()
    levels = sorted({0, 1, *held, *grid})
    armies = tuple(
        able.get(t, 0) // step if problem.owned >> t & 1 else bisect_left(levels, n)
        for t, n in enumerate(problem.armies)
    )
    return ScaledProblem(
        problem.board,
        problem.rules,
        tuple(
            min(n, len(levels) - 1) if problem.enemy >> t & 1 else n for t, n in enumerate(armies)
        ),
        problem.owned,
        (0,) * len(armies),
        problem.resting,
        problem.borders,
        problem.special,
        step,
        tuple(levels),
        max((problem.garrisons[c] for c in bits(problem.enemy & useful)), default=0),
        problem,
    )


def in_armies(visits: Visits, step: int, stays: int) -> Visits:
    """Return how a plan in steps goes, its units counted as armies.

    visits: how it goes in units.
    step: the armies of a unit.
    stays: the armies that remain on what is taken.
    """
    found = Visits(completed=visits.completed)
    for t, units in visits.armies.items():
        found.armies[t] += units * step
    for attack, visit in visits.battles.items():
        arrived = visit.arrived * step + visit.conquered * stays
        found.battles[attack] = Visit(visit.reached, visit.conquered, arrived, visit.ended)
        found.armies[attack.to] += visit.conquered * stays
    for attack, rows in visits.advances.items():
        found.advances[attack] = {
            able * step + stays: (chance, moved * step + chance * stays)
            for able, (chance, moved) in rows.items()
        }
    return found
