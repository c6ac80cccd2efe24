"""Plans for goals that have worths, in order or as prizes: each goal's own plan, if it gains most.

A plan that takes all of one goal may take other goals on its way, and territories that pay. Its
gain is what the territories pay times the chance to take each, plus what the sets pay times the
chance to take all of each, minus the cost of the lost armies. Where nothing but sets pays, no plan
gains more than what they pay times the bounds of their chances.
"""

from collections.abc import Iterator

from iacta.plan.ends import set_chances
from iacta.plan.goals import InOrder, Worth, worth_rewards
from iacta.plan.policy import Policy
from iacta.plan.problem import Problem
from iacta.plan.search import Candidate, Effort, most_worth, take_all

__all__ = ["most_prizes"]


def most_prizes(problem: Problem, goal: InOrder | Worth, effort: Effort) -> Iterator[Candidate]:
    """Yield plans that gain more and more, not counting what the player has at the start."""
    rewards = worth_rewards(problem, goal, problem.enemy)
    sets = rewards.continents
    bounds = dict.fromkeys((mask for mask, _ in sets), 1.0)
    best: Candidate | None = None
    for mask in bounds:
        for found in take_all(problem, mask, effort):
            bounds[mask] = min(bounds[mask], found.upper_bound)
        policy = found.policy.for_rewards(rewards)
        value = _gain(policy)
        if best is None or value > best.value:
            best = Candidate(policy, value, float("inf"))
    upper = sum(paid * bounds[mask] for mask, paid in sets)
    if any(rewards.territories):
        upper = float("inf")
    for found in most_worth(problem, goal, effort):
        upper = min(upper, found.upper_bound)
        if best is not None:
            yield Candidate(best.policy, best.value, upper)
        yield Candidate(found.policy, found.value, upper)


def _gain(policy: Policy) -> float:
    """Return what a policy gains on average."""
    rewards, visits = policy.game.rewards, policy.visits()
    lands = sum(
        visit.conquered * rewards.territories[attack.to] for attack, visit in visits.battles.items()
    )
    chances = set_chances(policy, [mask for mask, _ in rewards.continents])
    sets = sum(paid * chance for (_, paid), chance in zip(rewards.continents, chances, strict=True))
    return float(lands + sets + rewards.army * sum(visits.armies.values()))
