"""A quick look at a goal and new armies: what a first plan reaches, and what none can exceed."""

from typing import NamedTuple

from iacta.board import Position
from iacta.plan.best import plan_within
from iacta.plan.core import Core
from iacta.plan.deadline import Deadline
from iacta.plan.goals import Goal
from iacta.plan.problem import read_problem
from iacta.plan.reinforcement import (
    Placement,
    Placements,
    PlanOptions,
    QuickValues,
    everywhere,
    placed,
)

BUDGET = 0.05  # of the usual work, for a plan
MOST_STATES = 1_000  # for the best play of all
NEAR = 0.001  # a gap below it needs no plan
BOUND_VALUES = 20_000  # of relaxed games, for one bound


class Look(NamedTuple):
    """What a quick look at a goal found.

    chance: the chance of the play that was found.
    interval: its interval at 95% where it is estimated from games; else `None`.
    at_most: no play has a greater chance, wherever the new armies are placed.
    placement: where they are placed.
    left: the player's armies after the attacks, on average.
    """

    chance: float
    interval: tuple[float, float] | None
    at_most: float
    placement: Placement
    left: float = 0.0

    @property
    def low(self) -> float:
        """The lower end of what the play that was found may be worth."""
        return self.chance if self.interval is None else self.interval[0]


NONE = Look(0.0, None, 0.0, ())  # of what cannot be reached


def quick_look(
    position: Position, goal: Goal, armies: int, options: PlanOptions, deadline: Deadline
) -> Look:
    """Return what a first play reaches, with the new armies where they help most.

    position: who holds what before they are placed.
    goal: `TakeAll` or `TakeAny`.
    armies: how many new armies there are.
    """
    problem = everywhere(position, goal, armies, options)
    if problem.rewards.most <= 0.0:
        return NONE
    values = QuickValues(problem, deadline, MOST_STATES)
    placements = Placements(position, values, deadline)
    best = placements.compared(armies)[0] if armies else ()
    chance, interval, left = values.reached(placements.after(best))
    if values.proven and (placements.has_tried_all or not armies):
        chance = min(placements.value(best), 1.0)
        return Look(chance, None, chance, best, left)
    at_most = min(next(Core(problem).bounds(deadline, BOUND_VALUES), 1.0), 1.0)
    if interval is not None:  # games have luck, by which their mean may exceed what can be
        chance = min(chance, at_most)
        interval = min(interval[0], at_most), min(interval[1], at_most)
    return Look(chance, interval, max(at_most, chance), best, left)


def quick_plan(
    position: Position, goal: Goal, options: PlanOptions, look: Look, deadline: Deadline
) -> Look:
    """Return the better of a look and a plan with the same placement, if that can gain much."""
    if look.at_most - look.low <= NEAR:
        return look
    problem = read_problem(placed(position, look.placement), goal, **options)
    plan = plan_within(problem, deadline, budget=BUDGET)
    if plan.value is None or plan.value <= look.chance:
        return look
    at_most = max(look.at_most, plan.value)
    left = sum(each.expected_armies for each in plan.territories)
    return Look(plan.value, plan.interval, at_most, look.placement, left)
