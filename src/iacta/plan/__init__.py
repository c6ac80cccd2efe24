"""Plans: the best attacks of a turn for a goal, with their win chance or value.

A plan is a policy for the attacks of one turn of `iacta.game`: a function from states to actions.
The planner (`iacta.plan.planner`) searches for the policy. All reported numbers come from querying
the policy and from playing the game.
"""

from iacta.plan.best import armies_needed_for_plan, best_plan
from iacta.plan.continuation import Continuation, go_on
from iacta.plan.defence import Defence, armies_needed_to_hold, hold_without_attack
from iacta.plan.goals import Goal, InOrder, OwnAny, TakeAll, TakeAny, Worth, eliminate
from iacta.plan.hold import Fortified, Hold, Threat, hold, take_and_hold
from iacta.plan.luck import LuckOfBattle, measure_plan_luck
from iacta.plan.plan import Ending, Plan, Step, TerritoryEnd
from iacta.plan.policy import Policy
from iacta.plan.reinforcement import (
    Marginal,
    Reinforcement,
    place_armies,
    reinforce,
    reinforcements_needed,
)
from iacta.plan.simulated import SimulatedPlan, simulate_plan

__all__ = [
    "Continuation",
    "Defence",
    "Ending",
    "Fortified",
    "Goal",
    "Hold",
    "InOrder",
    "LuckOfBattle",
    "Marginal",
    "OwnAny",
    "Plan",
    "Policy",
    "Reinforcement",
    "SimulatedPlan",
    "Step",
    "TakeAll",
    "TakeAny",
    "TerritoryEnd",
    "Threat",
    "Worth",
    "armies_needed_for_plan",
    "armies_needed_to_hold",
    "best_plan",
    "eliminate",
    "go_on",
    "hold",
    "hold_without_attack",
    "measure_plan_luck",
    "place_armies",
    "reinforce",
    "reinforcements_needed",
    "simulate_plan",
    "take_and_hold",
]
