"""Whole games: AIs simulate games to estimate each player's chance to win.

`win_chances` simulates games from a turn and counts how often each player wins if one AI plays
every seat. `best_goals` compares goals for a turn by the chance to win the game afterwards.
`tournament` lets AIs and policies play against each other.

Chances in games between people can be different: even the estimates of two sensible AIs differ by 4
to 7 percentage points on average. Teams and hidden armies are not modelled.
"""

from iacta.war.chances import WinChance, WinChances, WinEstimate, win_chances
from iacta.war.game import Game
from iacta.war.goals import GoalChance, Goals, best_goals
from iacta.war.policy import AIPolicy, ai
from iacta.war.tournament import Standing, tournament

__all__ = [
    "AIPolicy",
    "Game",
    "GoalChance",
    "Goals",
    "Standing",
    "WinChance",
    "WinChances",
    "WinEstimate",
    "ai",
    "best_goals",
    "tournament",
    "win_chances",
]
