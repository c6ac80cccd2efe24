"""The margin: how much chance a plan may give up to lose fewer armies.

A plan that only maximises the chance C would lose several armies for a hundredth of a point.
Therefore plans are compared by

    C − λL,

where L is the expected number of lost armies and λ the price of a lost army. Let C0 and L0 be the
chance and the losses of the plan with the greatest chance, and m the margin. The best plan for this
sum has C − λL ≥ C0 − λL0. It therefore sacrifices at most C0 − C ≤ λ(L0 − L). With λ = m / L0 the
sacrifice is at most m. A much larger price, λ = 8m / L0, is tried first, and kept if its sacrifice
is at most m, as usual. Otherwise, let L1 be its losses. A smaller price saves fewer armies, at most
L0 − L1, so λ = m / (L0 − L1) is safe, too.

The price is found once, where a goal begins, and stays the same for the turn. Sacrifices then do
not add up: from any later state on, the plan sacrifices at most the price times the armies that it
saves. The price never makes stopping better than an attack after which the goal can still be
reached.

The margin applies to goals whose value is a chance, and to goals in order. A `Worth` has a price of
its own.
"""

from iacta.plan.problem import Problem

MARGIN = 0.005  # the largest sacrifice by default, as a fraction of the largest payoff of a goal
MAX_SACRIFICED_SHARE = 0.01  # the largest sacrifice as a fraction of the value that is possible
FIRST_FACTOR = 8.0  # the first price to try, as a multiple of the price that is always safe
SAME_SACRIFICE = 1e-12  # a sacrifice may exceed the margin by this rounding error


def compute_largest_sacrifice(problem: Problem, value: float, margin: float = MARGIN) -> float:
    """Return the largest payoff that a plan may give up to lose fewer armies.

    problem: the problem, without a price.
    value: the greatest expected payoff.
    margin: the largest sacrifice as a fraction of the largest payoff of the goal.
    """
    if not problem.goal.has_margin:
        return 0.0
    return max(min(margin * problem.rewards.most, MAX_SACRIFICED_SHARE * value), 0.0)


def choose_price(sacrifice: float, losses: float, fewest: float | None = None) -> float:
    """Return the price of a lost army to try next; 0 if no price can save armies.

    sacrifice: the largest sacrifice that is allowed.
    losses: the expected number of armies lost by the plan with the greatest value.
    fewest: the losses of the plan for the first price, if its sacrifice was too large.
    """
    if sacrifice <= 0.0 or losses <= 0.0:
        return 0.0
    if fewest is None:
        return FIRST_FACTOR * sacrifice / losses
    return sacrifice / (losses - fewest) if fewest < losses else 0.0
