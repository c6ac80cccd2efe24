"""Bounds on what any legal play is worth: roll by roll, with any dice, breaking off at any time.

Pool the armies of all stacks in one purse, from which each roll may be made with all dice, from
anywhere. What it takes to conquer c is then a random cost: the armies lost there, and those that c
keeps for good, which are min(k, l) after a roll that forces l to advance: k is what must remain on
c, or without limit where nothing can be attacked from c once it is taken. Let a roll cost the
attacker x1 and the defender x2 armies with the chance p. The greatest chance to take c from d
defenders at a cost of at most x is

    v_d(x) = max over rolls of  Σ_{x2<d} p · v_{d−x2}(x − x1)  +  Σ_{x2=d} p · [x1 + min(k, l) ≤ x].

Where the defender replies to a throw, he takes the least. As a function of x this is the
distribution function of a cost X_c. Let T be territories that must be taken, and A the armies able
to attack, all stacks together. Then

    chance of any play ≤ P(Σ_{c in T} X_c ≤ A),      X_c independent.

Proof: the right side, as a function of the purse and of the defenders left, does not grow on
average in any roll against any c: average the inequality that defines v_d over the other costs.
Hence neither the order of battles nor leaving one and coming back can beat it.

T holds the goal, and each territory without which some of the goal cannot be reached. From A are
subtracted, for each stack, the armies that it must leave behind to come next to any territory of T.

This bound is found at once. That of `iacta.plan.contracted`, which sees who can go where, is far
smaller, and takes longer.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Choice, Result
from iacta.plan.contracting import contracted_bounds
from iacta.plan.goals import Rewards
from iacta.plan.prices import price_bounds
from iacta.plan.problem import Borders, Problem, bits

__all__ = ["Bound", "play_bounds"]

Floats: TypeAlias = npt.NDArray[np.float64]
Cost: TypeAlias = tuple[int, int, int]  # the place of its rules, d and k


class Bound:
    """The bounds of a problem, each computed when it is first asked.

    problem: the problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        able = [n - problem.garrisons[v] for v, n in problem.stacks()]
        self.purse, self.most = sum(able), max(able, default=0)
        self._alone: dict[tuple[int, int], tuple[Cost, ...]] = {}
        self._costs: dict[Cost, Floats] = {}
        self._sums: dict[tuple[Cost, ...], Floats] = {(): np.ones(self.purse + 1)}

    def chance(self, goal: int, field: int) -> float:
        """Return a bound on the chance to take all of a set when `field` may be attacked.

        It is the least of the bounds for all the goal and, for each group of stacks, for those
        territories of the goal that no other stack can reach.
        """
        stacks = self.problem.stacks()
        reached = [self.problem.borders.reachable(v, field) for v, _ in stacks]
        groups = {tuple(r >> t & 1 for r in reached) for t in bits(goal)}
        everything = [stack for stack, r in zip(stacks, reached, strict=True) if r & goal]
        bounds = [1.0, self._together(everything, goal, field)]
        for group in groups:
            alone = goal
            for others, inside in zip(reached, group, strict=True):
                alone &= -1 if inside else ~others
            members = [stack for stack, inside in zip(stacks, group, strict=True) if inside]
            bounds.append(self._together(members, alone, field))
        return min(bounds)

    def _together(self, stacks: list[tuple[int, int]], goal: int, field: int) -> float:
        """Return a bound on the chance that some stacks take all of a set."""
        borders, places = self.problem.borders, tuple(v for v, _ in stacks)
        if goal & ~borders.reachable_from(places, field):
            return 0.0
        needed = _forced(borders, places, field, goal)
        costs = sorted(self._cost_of(c, places, field) for c in bits(needed))
        purse = 0
        for v, n in stacks:
            purse += max(n - self.problem.garrisons[v] - self._way(v, needed, field), 0)
        return float(self._sum(tuple(costs))[purse])

    def _way(self, v: int, needed: int, field: int) -> int:
        """Return how many armies a stack must leave behind to come next to what is needed.

        That is 1 for each territory that it must take on the way, as no other stack's armies can
        pass where it has passed.
        """
        away, seen, edge = 0, 1 << v, self.problem.borders.out[v]
        while not edge & needed:
            beyond = 0
            for x in bits(edge & field & ~seen):
                beyond |= self.problem.borders.out[x]
            if not edge & field & ~seen:
                return self.most + 1  # it never comes there
            seen |= edge
            edge, away = beyond, away + min(self.problem.rules.garrison, 1)
        return away

    def alone(self, v: int, armies: int, targets: int) -> float:
        """Return a bound on the chance that the stack on v takes all of a set, and nothing else."""
        key = v, targets
        if key not in self._alone:
            costs = (self._cost_of(c, (v,), targets) for c in bits(targets))
            self._alone[key] = tuple(sorted(costs))
        able = armies - self.problem.garrisons[v]
        return min(float(self._sum(self._alone[key])[able]), 1.0)

    def _cost_of(self, c: int, places: tuple[int, ...], field: int) -> Cost:
        return self.problem.kinds[c], self.problem.armies[c], self._kept(c, places, field)

    def _kept(self, c: int, places: tuple[int, ...], field: int) -> int:
        """Return k: how many armies c keeps for good, if there are that many."""
        borders, dice = self.problem.borders, self.problem.dice(c)
        for y in bits(borders.out[c] & field):
            if borders.reachable_from(places, field & ~(1 << y)) >> c & 1:
                return min(self.problem.garrisons[c], dice)  # c can be taken before y
        return dice

    def _sum(self, costs: tuple[Cost, ...]) -> Floats:
        """Return the distribution function of a sum of costs, at 0 .. A."""
        if costs not in self._sums:
            rest, last = self._sum(costs[:-1]), self._cost(*costs[-1])
            steps = np.diff(last, prepend=0.0)
            self._sums[costs] = np.convolve(rest, steps)[: self.purse + 1]
        return self._sums[costs]

    def _cost(self, kind: int, defenders: int, kept: int) -> Floats:
        """Return v_d at 0 .. A."""
        for d in range(1, defenders + 1):  # from few to many, as each asks for those below it
            if (kind, d, kept) not in self._costs:
                self._costs[kind, d, kept] = self._solve(kind, d, kept)
        return self._costs[kind, defenders, kept]

    def _solve(self, kind: int, defenders: int, kept: int) -> Floats:
        """Return v_d, from the roll after which fewer defenders are left and from itself."""
        found = np.zeros(self.purse + 1)
        rolls = [
            [
                (
                    throw.chance,
                    [self._option(o, able, choice, kind, defenders, kept) for o in throw.options],
                )
                for throw in choice.throws
            ]
            for choice, able in self._choices(kind, defenders).items()
        ]
        for x in range(self.purse + 1):
            for throws in rolls:
                chance = 0.0
                for weight, options in throws:
                    chance += weight * min(
                        known[x] + sum(p * found[x - lost] for p, lost in again if lost <= x)
                        for known, again in options
                    )
                found[x] = max(found[x], chance)
        return found

    def _choices(self, kind: int, defenders: int) -> dict[Choice, int]:
        """Return the rolls that any stack may come to choose, and how many able it takes."""
        kernel, found = self.problem.kernels[kind], dict[Choice, int]()
        more = max(self.problem.garrisons) - self.problem.rules.garrison
        for able in range(1, self.most + 1):
            for choice in kernel.rolls(able + more, defenders, able):
                found.setdefault(choice, able)
        return found

    def _option(
        self,
        results: tuple[Result, ...],
        able: int,
        choice: Choice,
        kind: int,
        defenders: int,
        kept: int,
    ) -> tuple[Floats, list[tuple[float, int]]]:
        """Return the chance to win at a cost of at most x after a roll that costs defenders.

        The others are returned as (chance, armies lost).
        """
        known, again = np.zeros(self.purse + 1), []
        for chance, lost, killed in results:
            if not killed:
                again.append((chance, lost))
            elif killed < defenders:
                after = self._cost(kind, defenders - killed, kept)
                known[lost:] += chance * after[: max(self.purse + 1 - lost, 0)]
            else:
                known[lost + min(choice.least, able - lost, kept) :] += chance
        return known, again


def play_bounds(
    problem: Problem, field: int, rewards: Rewards, seconds: float | None = None
) -> Iterator[float]:
    """Yield smaller and smaller bounds on what any play is worth.

    problem: the problem.
    field: what may be of use to attack.
    rewards: what the goal pays.
    seconds: how long the search may take; `None` for a moderate search, the same each time.
    """
    bound = Bound(problem)
    if not rewards.is_chance:
        yield from price_bounds(
            problem, field, rewards, lambda mask: bound.chance(mask, field), seconds
        )
        return
    if rewards.all_of:
        best = bound.chance(rewards.all_of, field)
        goal = rewards.all_of
    else:
        goal = rewards.any_of & field
        best = min(1.0, sum(bound.chance(1 << t, field) for t in bits(goal)))
    yield best
    if not best or goal & ~field:
        return
    for each in contracted_bounds(problem, goal, field, seconds, any_of=not rewards.all_of):
        if each < best:
            best = each
            yield best


def _forced(borders: Borders, places: tuple[int, ...], field: int, goal: int) -> int:
    """Return the territories of `field` that must be taken to take the goal, which is included."""
    found = goal
    for x in bits(field & ~goal):
        if goal & ~borders.reachable_from(places, field & ~(1 << x)):
            found |= 1 << x
    return found
