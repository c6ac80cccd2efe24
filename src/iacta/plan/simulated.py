"""Simulations of a plan, and the states in which the plan ends.

The policy chooses every action. `simulate_plan` rolls random dice (`iacta.rules.thrown`), so its
result does not rely on the chances in the plan. If the dice mode resolves whole battles at once,
results of battles are drawn from the distribution that the plan uses; then the simulation checks
only how battles follow each other.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import TypeVar, overload

import numpy as np

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import MalformedError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.native.deadline import Deadline
from iacta.plan.plan import Plan
from iacta.plan.policy import Policy
from iacta.plan.problem import AttackResult, PolicyAction, SearchState
from iacta.probability.estimate import Estimate
from iacta.rules.stop import NEVER
from iacta.rules.thrown import RUNS, SEED, Seed, fight_until, throw_losses

MAX_PLAN_RUNS = 10_000_000  # maximum number of runs, which take an hour or more on a large board
# With a time limit, runs are simulated in parts: first this many, then twice as many, and so on.
FIRST_PART = 10

Weight = TypeVar("Weight", int, float)


@dataclass(frozen=True, repr=False)
class SimulatedPlan(PasteableMixin):
    """Statistics of the simulated runs of a plan.

    won: the fraction of runs that reached the goal; for a `Worth` or an `InOrder`, the fraction
        that gained anything.
    value: the mean value of the runs, in the unit of the plan's value.
    error: the standard error of the mean value.
    owned: for each territory of the board, the fraction of runs in which the player owned it at the
        end.
    """

    won: Estimate
    value: float
    error: float
    owned: tuple[Estimate, ...]

    def _summary(self) -> str:
        return f"{self.won.successes} of {self.won.runs} runs, value {self.value:.6g}"


@overload
def simulate_plan(
    plan: Plan, runs: int = RUNS, seed: Seed = SEED, *, time_limit: None = None
) -> SimulatedPlan: ...


@overload
def simulate_plan(
    plan: Plan, runs: int = RUNS, seed: Seed = SEED, *, time_limit: float | Fraction | None
) -> SimulatedPlan | None: ...


def simulate_plan(
    plan: Plan,
    runs: int = RUNS,
    seed: Seed = SEED,
    *,
    time_limit: float | Fraction | None = None,
) -> SimulatedPlan | None:
    """Simulate a plan many times with random dice.

    plan: the plan. If its dice mode resolves whole battles at once, results of battles are drawn
        from their distribution.
    runs: the number of runs, at most 10,000,000.
    seed: a whole number that makes the simulation repeatable, or a `numpy.random.Generator`.
    time_limit: the maximum time in seconds; `None` for no limit. After this time, the simulation
        stops with fewer runs.

    Return statistics of the runs, or `None` if there is no time for the first runs. For a
    `TakeAll`, `TakeAny` or `OwnAny`, `won.interval()` contains the `win_probability` of the plan in
    95% of simulations, if this probability is exact.

    >>> from iacta import TakeAll, Turn, best_plan
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3")
    >>> plan = best_plan(turn, TakeAll("Brazil"))
    >>> low, high = simulate_plan(plan, runs=10_000).won.interval()
    >>> low <= plan.win_probability <= high
    True
    """
    deadline = Deadline.from_time_limit(time_limit)
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
    count = read_int(runs, "runs", minimum=1)
    if count > MAX_PLAN_RUNS:
        raise TooLargeError(
            f"runs must be at most {MAX_PLAN_RUNS:,} for a plan, got {quote(count)}",
            parameter="runs",
        )
    number = seed if isinstance(seed, np.random.Generator) else read_int(seed, "seed")
    rng, policy = np.random.default_rng(number), plan.policy
    ended = _simulate(policy, count, rng, deadline)
    if not ended:
        return None
    count = sum(ended.values())
    problem, goal = plan.problem, plan.goal
    paid = {state: problem.sum_payoffs(state) for state in ended}
    mean = sum(ended[state] * paid[state] for state in ended) / count
    square = sum(ended[state] * (paid[state] - mean) ** 2 for state in ended) / count
    least = 0.5 if goal.is_chance and not problem.held else 0.0
    won = sum(ended[state] for state in ended if paid[state] > least)
    if goal.is_chance and problem.held:
        won = count  # the goal was already reached before the first attack
    owned = tuple(
        Estimate(count, sum(ended[state] for state in ended if state.owned >> t & 1))
        for t in range(len(problem.board.territories))
    )
    return SimulatedPlan(Estimate(count, won), mean + problem.held, sqrt(square / count), owned)


def _simulate(
    policy: Policy, runs: int, rng: "np.random.Generator", deadline: Deadline
) -> dict[SearchState, int]:
    """Simulate a policy many times; return how many runs ended in each final state.

    With a time limit, the runs are simulated in parts, and an unfinished part is discarded.
    """
    ended, part = dict[SearchState, int](), FIRST_PART if deadline.limited else runs
    done = 0
    while done < runs:
        part = min(part, runs - done)
        found = _follow(policy, part, lambda *attack: _draw_results(policy, rng, *attack), deadline)
        if found is None:
            break
        for state, number in found.items():
            ended[state] = ended.get(state, 0) + number
        done += part
        part *= 2
    return ended


def compute_final_states(policy: Policy, deadline: Deadline) -> dict[SearchState, float] | None:
    """Return the exact chance of each final state, in which a policy ends its turn.

    The result is `None` after the deadline.
    """
    return _follow(
        policy,
        1.0,
        lambda _, action, p: ((outcome, p * outcome.chance) for outcome in action.outcomes),
        deadline,
    )


def _follow(
    policy: Policy,
    whole: Weight,
    results: Callable[[SearchState, PolicyAction, Weight], Iterable[tuple[AttackResult, Weight]]],
    deadline: Deadline,
) -> dict[SearchState, Weight] | None:
    """Follow a policy from its start to all final states; return the weight of each final state.

    A weight is a chance or a number of runs. Every attack costs armies, so states are processed in
    descending order of armies. The result is `None` after the deadline.

    whole: the weight of the start: 1, or the number of runs.
    results: a function that distributes the weight of a state over the results of its attack.
    """
    ended, start = dict[SearchState, Weight](), policy.problem.start
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


def _draw_results(
    policy: Policy, rng: "np.random.Generator", state: SearchState, action: PolicyAction, runs: int
) -> Iterable[tuple[AttackResult, int]]:
    """Simulate an attack in several runs, and return the number of runs with each result."""
    problem, defenders = policy.problem, state.armies[action.to]
    able = state.armies[action.start] - problem.garrisons[action.start]
    kernel = problem.turn.setting.kernels[action.to]
    if not kernel.has_fixed_dice:
        chances = np.array([outcome.chance for outcome in action.outcomes])
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
    known = {(outcome.attackers, outcome.defenders): outcome for outcome in action.outcomes}

    def result(lost: int, killed: int) -> AttackResult:
        if (lost, killed) in known:
            return known[lost, killed]
        # The action of the policy does not list very rare results, so create such a result.
        moved, left = 0, able - lost
        if killed == defenders:
            moved = policy.advance(state, action.start, action.to, left, min(action.dice, left))
        return AttackResult(0.0, lost, killed, moved, 0.0)

    counted = Counter(zip(lost.tolist(), killed.tolist(), strict=True))
    return [(result(*pair), counted[pair]) for pair in sorted(counted)]


def play_games(
    policy: Policy, rng: "np.random.Generator", until: int = 0, deadline: Deadline | None = None
) -> Iterator[tuple[SearchState, float]]:
    """Simulate games of a policy without end; yield the final state and the luck of each game.

    The luck of a game is the sum of the changes of the policy's value that are due to the dice.

    rng: the random number generator.
    until: a set of territories; a game also ends when all are conquered. 0 for an empty set.
    deadline: when to stop playing; `None` for no limit.
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
