"""A plan that is carried out many times, and the positions in which it ends.

In each state the policy says what to do; what it costs falls by chance. `simulate_plan` throws real
dice (`iacta.rules.thrown`), so that nothing depends on the chances that the plan reports of
itself. Where a battle is not rolled with dice chosen before each roll, its end is drawn from the
distribution that the plan is computed with, and only the sequence of the battles is checked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from iacta.board import Position
from iacta.checks import shown, whole_number
from iacta.errors import MalformedError, TooLargeError
from iacta.estimate import Estimate
from iacta.plan.core import PolicyAction
from iacta.plan.plan import Plan
from iacta.plan.policy import Policy
from iacta.plan.problem import TurnState
from iacta.reprs import Pasted
from iacta.rules.stop import NEVER
from iacta.rules.thrown import RUNS, SEED, Seed, fight_until, throw_losses

MOST_RUNS = 10_000_000  # an hour or more, on a large board


@dataclass(frozen=True, repr=False)
class SimulatedPlan(Pasted):
    """How many runs of a plan ended.

    won: how often the goal was reached; for a `Worth`, how often anything was gained.
    value: what the plan was worth on average, as `Plan.value`.
    error: the standard error of that average.
    owned: for each territory of the board, in its order, how often the player owned it at the end.
    """

    won: Estimate
    value: float
    error: float
    owned: tuple[Estimate, ...]

    def _summary(self) -> str:
        return f"{self.won.successes} of {self.won.runs} runs, value {self.value:.6g}"


def simulate_plan(plan: Plan, runs: int = RUNS, seed: Seed = SEED) -> SimulatedPlan:
    """Carry out a plan many times, roll by roll with real dice where there are any.

    plan: the plan; under rules whose battles are not rolled with dice chosen before each roll, the
        ends of battles are drawn from their distribution.
    runs: how many times; more than 10,000,000 are refused.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.

    A `SimulatedPlan`: how often each territory was owned, and the goal reached. `won.interval()`
    holds the plan's `win_probability` in 95% of all simulations.
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    count = whole_number(runs, "runs", least=1)
    if count > MOST_RUNS:
        raise TooLargeError(
            f"runs must be at most {MOST_RUNS:,} of a plan, got {shown(count)}", parameter="runs"
        )
    number = seed if isinstance(seed, np.random.Generator) else whole_number(seed, "seed")
    found = _simulated(plan.policy, count, np.random.default_rng(number))
    problem, goal = plan.problem, plan.goal
    paid = {state: problem.paid(state) for state in found}
    mean = sum(found[state] * paid[state] for state in found) / count
    square = sum(found[state] * (paid[state] - mean) ** 2 for state in found) / count
    least = 0.5 if goal.is_chance and not problem.held else 0.0
    won = sum(found[state] for state in found if paid[state] > least)
    if goal.is_chance and problem.held:  # the goal was reached before
        won = count
    owned = tuple(
        Estimate(count, sum(found[state] for state in found if state.owned >> t & 1))
        for t in range(len(problem.board.territories))
    )
    return SimulatedPlan(Estimate(count, won), mean + problem.held, sqrt(square / count), owned)


def _simulated(policy: Policy, runs: int, rng: "np.random.Generator") -> Counter[TurnState]:
    """Return in which states runs end, and how often.

    Runs in the same state go on together. Each attack costs armies, so that the states with the
    most armies come first.
    """
    ended = Counter[TurnState]()
    waiting: dict[int, Counter[TurnState]] = {}
    waiting[sum(policy.problem.start.armies)] = Counter({policy.problem.start: runs})
    while waiting:
        for state, count in waiting.pop(max(waiting)).items():
            decision = policy.decide(state)
            if not decision.dice:
                ended[state] += count
                continue
            for lost, killed, number in _thrown(policy, state, decision, count, rng):
                after = after_attack(policy, state, decision, lost, killed)
                waiting.setdefault(sum(after.armies), Counter())[after] += number
    return ended


def _thrown(
    policy: Policy, state: TurnState, decision: PolicyAction, runs: int, rng: "np.random.Generator"
) -> Iterable[tuple[int, int, int]]:
    """Return what an attack costs both sides in some runs, and in how many of them."""
    problem, defenders = policy.problem, state.armies[decision.to]
    kernel = problem.kernels[decision.to]
    if not kernel.rolled:
        chances = np.array([each.chance for each in decision.outcomes])
        counts = rng.multinomial(runs, chances / chances.sum()).tolist()
        pairs = zip(decision.outcomes, counts, strict=True)
        return [(each.attackers, each.defenders, n) for each, n in pairs if n]
    if problem.turn.whole_battles:
        able = state.armies[decision.start] - problem.garrisons[decision.start]
        left, against = fight_until(
            np.full(runs, able), np.full(runs, defenders), kernel.rules, NEVER, rng
        )
        lost, killed = able - left, defenders - against
    else:
        answered = min(defenders, kernel.rules.defence.kept)
        thrown = throw_losses(decision.dice, answered, kernel.rules, runs, rng)
        lost, killed = (each.astype(np.int64) for each in thrown)
    counted = Counter(zip(lost.tolist(), killed.tolist(), strict=True))
    return [(*pair, counted[pair]) for pair in sorted(counted)]


def after_attack(
    policy: Policy, state: TurnState, decision: PolicyAction, lost: int, killed: int
) -> TurnState:
    """Return the state after an attack, with as many armies moved in as the policy says.

    state, decision: a state, and what the policy does there.
    lost, killed: the armies that the attack costs the player and the defender.
    """
    v, c = decision.start, decision.to
    armies, owned, moved = [*state.armies], state.owned, 0
    if killed == armies[c]:
        known = {each[1:3]: each.moved for each in decision.outcomes}
        able = armies[v] - policy.problem.garrisons[v] - lost
        moved = known.get((lost, killed)) or policy.advance(
            state, v, c, able, min(decision.dice, able)
        )
        owned |= 1 << c
    armies[v] -= lost + moved
    armies[c] += moved - killed
    return TurnState(tuple(armies), owned)


def ends(plan: Plan, rng: "np.random.Generator", until: int = 0) -> Iterator[Position]:
    """Yield the position at the end of a plan, again and again, with random results.

    plan: the plan.
    rng: random numbers.
    until: a set; the plan ends as soon as all of it is taken. 0 for none.
    """
    return (plan.problem.position_of(end) for end, _ in games(plan.policy, rng, until))


def games(
    policy: Policy, rng: "np.random.Generator", until: int = 0
) -> Iterator[tuple[TurnState, float]]:
    """Yield where games of a policy end, and how much luck it saw in them, which is 0 on average.

    policy, rng, until: as for `ends`.
    """
    decide = cache(policy.decide)

    @cache
    def after(state: TurnState, place: int) -> TurnState:
        outcome = decide(state).outcomes[place]
        return after_attack(policy, state, decide(state), outcome.attackers, outcome.defenders)

    while True:
        state, luck = policy.problem.start, 0.0
        while not until or until & ~state.owned:
            decision = decide(state)
            outcomes = decision.outcomes
            if not outcomes:
                break
            point, place = rng.random(), 0
            while place + 1 < len(outcomes) and point >= outcomes[place].chance:
                point -= outcomes[place].chance
                place += 1
            luck += outcomes[place].value - decision.value
            state = after(state, place)
        yield state, luck
