"""Simulations of a plan, and the positions at its end.

The policy chooses each action; `simulate_plan` rolls random dice (`iacta.rules.thrown`), so the
result does not depend on the chances that the plan reports. A battle whose dice are not chosen
before each roll ends by the distribution behind the plan; there the simulation checks only the
sequence of the battles.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import TypeVar

import numpy as np

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.native.deadline import Deadline
from iacta.plan.plan import Plan
from iacta.plan.policy import Policy
from iacta.plan.problem import AttackResult, PolicyAction, TurnState
from iacta.probability.estimate import Estimate
from iacta.rules.stop import NEVER
from iacta.rules.thrown import RUNS, SEED, Seed, fight_until, throw_losses

MOST_RUNS = 10_000_000  # an hour or more, on a large board
FIRST_PART = 10  # runs of the first part of a simulation with a time limit

Weight = TypeVar("Weight", int, float)


@dataclass(frozen=True, repr=False)
class SimulatedPlan(PasteableMixin):
    """Statistics of the simulated runs of a plan.

    won: how often the goal was reached; for a `Worth`, how often the player gained anything.
    value: the mean value, as `Plan.value`.
    error: the standard error of the mean value.
    owned: how often the player owned each territory of the board at the end.
    """

    won: Estimate
    value: float
    error: float
    owned: tuple[Estimate, ...]

    def _summary(self) -> str:
        return f"{self.won.successes} of {self.won.runs} runs, value {self.value:.6g}"


def simulate_plan(
    plan: Plan,
    runs: int = RUNS,
    seed: Seed = SEED,
    *,
    time_limit: float | Fraction | None = None,
) -> SimulatedPlan:
    """Carry out a plan many times, roll by roll with real dice where there are any.

    plan: the plan; under rules whose battles are not rolled with dice chosen before each roll, the
        ends of battles are drawn from their distribution.
    runs: how many times; more than 10,000,000 are refused.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.
    time_limit: the most seconds that the simulation may take: it stops after fewer runs. A limit
        that ends before the first runs is refused. `None` for no limit.

    A `SimulatedPlan`: how often each territory was owned, and the goal reached. `won.interval()`
    holds the plan's `win_probability` in 95% of all simulations.
    """
    found = simulate_within(plan, runs, seed, Deadline.from_time_limit(time_limit))
    if found is None:
        raise IllegalError(
            f"time_limit must be more for the first runs, got {time_limit} seconds",
            parameter="time_limit",
        )
    return found


def simulate_within(plan: Plan, runs: int, seed: Seed, deadline: Deadline) -> SimulatedPlan | None:
    """Return the result of `simulate_plan`, `None` where there is no time for the first runs."""
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
    count = read_int(runs, "runs", least=1)
    if count > MOST_RUNS:
        raise TooLargeError(
            f"runs must be at most {MOST_RUNS:,} of a plan, got {quote(count)}", parameter="runs"
        )
    number = seed if isinstance(seed, np.random.Generator) else read_int(seed, "seed")
    rng, policy = np.random.default_rng(number), plan.policy
    ended = _simulate(policy, count, rng, deadline)
    if not ended:
        return None
    count = sum(ended.values())
    problem, goal = plan.problem, plan.goal
    paid = {state: problem.paid(state) for state in ended}
    mean = sum(ended[state] * paid[state] for state in ended) / count
    square = sum(ended[state] * (paid[state] - mean) ** 2 for state in ended) / count
    least = 0.5 if goal.is_chance and not problem.held else 0.0
    won = sum(ended[state] for state in ended if paid[state] > least)
    if goal.is_chance and problem.held:  # the goal was reached before
        won = count
    owned = tuple(
        Estimate(count, sum(ended[state] for state in ended if state.owned >> t & 1))
        for t in range(len(problem.board.territories))
    )
    return SimulatedPlan(Estimate(count, won), mean + problem.held, sqrt(square / count), owned)


def _simulate(
    policy: Policy, runs: int, rng: "np.random.Generator", deadline: Deadline
) -> dict[TurnState, int]:
    """Return the final states of as many runs as there is time for, with their numbers.

    With a time limit the runs are simulated in parts; complete parts count at its end.
    """
    ended, part = dict[TurnState, int](), FIRST_PART if deadline.limited else runs
    done = 0
    while done < runs:
        part = min(part, runs - done)
        found = _follow(policy, part, lambda *attack: _thrown(policy, rng, *attack), deadline)
        if found is None:
            break
        for state, number in found.items():
            ended[state] = ended.get(state, 0) + number
        done += part
        part *= 2
    return ended


def final_states(policy: Policy, deadline: Deadline) -> dict[TurnState, float] | None:
    """Return the states in which a turn with a policy ends, with their chances.

    The result is `None` where the deadline comes first.
    """
    return _follow(
        policy,
        1.0,
        lambda _, action, p: ((each, p * each.chance) for each in action.outcomes),
        deadline,
    )


def _follow(
    policy: Policy,
    whole: Weight,
    results: Callable[[TurnState, PolicyAction, Weight], Iterable[tuple[AttackResult, Weight]]],
    deadline: Deadline,
) -> dict[TurnState, Weight] | None:
    """Return the states in which a turn with a policy ends, with their weights.

    results: the results of an attack in a state of some weight, with their weights.

    Each attack costs armies, so that the states with the most armies come first. The result is
    `None` where the deadline comes first.
    """
    ended, start = dict[TurnState, Weight](), policy.problem.start
    waiting = {sum(start.armies): {start: whole}}
    while waiting:
        for state, weight in waiting.pop(max(waiting)).items():
            if deadline.is_over:
                return None
            action = policy.decide(state)
            if not action.dice:
                ended[state] = weight
                continue
            for result, part in results(state, action, weight):
                after = state.after(action, result)
                layer = waiting.setdefault(sum(after.armies), {})
                layer[after] = layer.get(after, 0) + part
    return ended


def _thrown(
    policy: Policy, rng: "np.random.Generator", state: TurnState, action: PolicyAction, runs: int
) -> Iterable[tuple[AttackResult, int]]:
    """Return the results of an attack in some runs, and in how many of them."""
    problem, defenders = policy.problem, state.armies[action.to]
    able = state.armies[action.start] - problem.garrisons[action.start]
    kernel = problem.kernels[action.to]
    if not kernel.has_fixed_dice:
        chances = np.array([each.chance for each in action.outcomes])
        counts = rng.multinomial(runs, chances / chances.sum()).tolist()
        return [pair for pair in zip(action.outcomes, counts, strict=True) if pair[1]]
    if problem.turn.whole_battles:
        left, against = fight_until(
            np.full(runs, able), np.full(runs, defenders), kernel.rules, NEVER, rng
        )
        lost, killed = able - left, defenders - against
    else:
        answered = min(defenders, kernel.rules.defence.kept)
        thrown = throw_losses(action.dice, answered, kernel.rules, runs, rng)
        lost, killed = (each.astype(np.int64) for each in thrown)
    known = {(each.attackers, each.defenders): each for each in action.outcomes}

    def result(lost: int, killed: int) -> AttackResult:  # some are too rare to be known
        if (lost, killed) in known:
            return known[lost, killed]
        moved, left = 0, able - lost
        if killed == defenders:
            moved = policy.advance(state, action.start, action.to, left, min(action.dice, left))
        return AttackResult(0.0, lost, killed, moved, 0.0)

    counted = Counter(zip(lost.tolist(), killed.tolist(), strict=True))
    return [(result(*pair), counted[pair]) for pair in sorted(counted)]


def games(
    policy: Policy, rng: "np.random.Generator", until: int = 0, deadline: Deadline | None = None
) -> Iterator[tuple[TurnState, float]]:
    """Yield the ends of games of a policy, with the luck that it saw in them, 0 on average.

    rng: random numbers.
    until: a set of territories; a game ends when all of them are taken. 0 for no such set.
    deadline: after it there are no more games; `None` for no limit.
    """
    decide = cache(policy.decide)

    while True:
        state, luck = policy.problem.start, 0.0
        while not until or until & ~state.owned:
            if deadline is not None and deadline.is_over:
                return
            decision = decide(state)
            outcomes = decision.outcomes
            if not outcomes:
                break
            point, place = rng.random(), 0
            while place + 1 < len(outcomes) and point >= outcomes[place].chance:
                point -= outcomes[place].chance
                place += 1
            luck += outcomes[place].value - decision.value
            state = state.after(decision, outcomes[place])
        yield state, luck
