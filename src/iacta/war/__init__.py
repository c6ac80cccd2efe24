"""The whole game: played by players that are data, to say who would win it.

`win_chances` plays games from a turn on and says how often each player wins them if everybody plays
like a player of iacta; `best_goals` compares what a turn could be played for; `tournament` lets
players and policies play against each other. None of it is the chance of a game among people: two
sensible players differ by 4 to 7 points on average. Missions, teams and hidden armies are not
modelled.
"""

from iacta.war.chances import WinChance, WinChances, WinEstimate, win_chances
from iacta.war.goals import GoalChance, Goals, Reach, best_goals, goals_in_reach
from iacta.war.tournament import Standing, tournament

__all__ = [
    "GoalChance",
    "Goals",
    "Reach",
    "Standing",
    "WinChance",
    "WinChances",
    "WinEstimate",
    "best_goals",
    "goals_in_reach",
    "tournament",
    "win_chances",
]
