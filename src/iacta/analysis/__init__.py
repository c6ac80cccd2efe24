"""The analysis of a position: the plans for all goals of a turn, and the threats of opponents.

An `Analysis` belongs to one canonical turn and improves by levels of fixed work
(`iacta.plan.levels`). Lists, plans, threats, steps and reviews are views of it, so one event has
the same number everywhere. `goals_in_reach` and `threats` return parts of it.
"""

from iacta.analysis.analysis import Analysis, GoalAnalysis, analyse, goals_in_reach
from iacta.analysis.threats import HelpfulMove, Threatened, Threats, threats

__all__ = [
    "Analysis",
    "GoalAnalysis",
    "HelpfulMove",
    "Threatened",
    "Threats",
    "analyse",
    "goals_in_reach",
    "threats",
]
