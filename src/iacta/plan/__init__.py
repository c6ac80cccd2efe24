"""Plans: the best way to take several territories, and what it is worth.

A plan covers one attack phase of one player (`iacta.plan.turn`). After each roll he sees the
dice and chooses the next one: from where, against what, with how many dice. He may leave a battle
and come back. `iacta.plan.real_play` says which algorithms solve what.
"""

from iacta.plan.cards import Continuation, Trade, go_on, traded_armies
from iacta.plan.goals import Goal, InOrder, TakeAll, TakeAny, Worth, eliminate
from iacta.plan.hold import Fortified, Hold, Threat, hold, take_and_hold, usual_reinforcements
from iacta.plan.plan import (
    Ending,
    NextMove,
    Plan,
    Play,
    Step,
    TerritoryEnd,
    armies_needed_for_plan,
    best_plan,
)
from iacta.plan.reinforce import Marginal, Reinforcement, reinforce, reinforcements_needed
from iacta.plan.simulated import SimulatedPlan, simulate_plan

__all__ = [
    "Continuation",
    "Ending",
    "Fortified",
    "Goal",
    "Hold",
    "InOrder",
    "Marginal",
    "NextMove",
    "Plan",
    "Play",
    "Reinforcement",
    "SimulatedPlan",
    "Step",
    "TakeAll",
    "TakeAny",
    "TerritoryEnd",
    "Threat",
    "Trade",
    "Worth",
    "armies_needed_for_plan",
    "best_plan",
    "eliminate",
    "go_on",
    "hold",
    "reinforce",
    "reinforcements_needed",
    "simulate_plan",
    "take_and_hold",
    "traded_armies",
    "usual_reinforcements",
]
