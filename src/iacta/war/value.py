"""V: the chance of each player to win, learnt from games; it ends games that are cut.

V sees 48 features of each player at the start of a turn, the same for all: `FEATURES_OF_PLAYERS`.
One network with a hidden layer makes a score of them, and V is the softmax of the scores of those
alive. `value.json` has the weights of two V, what each feature means, and the hash of what made
them: `choosing`, by which the usual player chooses its aims, and `ending`, which ends cut games.
"""

import json
from functools import cache

import numpy as np

from iacta.inputs.files import read_package_file
from iacta.war.games import Weights

HIDDEN = 32

# In the order in which the core sees them. Those called relative are divided by the mean of the
# players alive; a ratio r counts as (r - 1) / (r + 1); a set as s / (s + mean armies).
FEATURES_OF_PLAYERS = {
    "armies": "relative, less 1, at most 3",
    "armies with new ones": "relative, as a ratio",
    "territories": "relative, less 1",
    "share of territories": "of all on the board",
    "income": "new armies a turn, relative, less 1",
    "income for armies": "income / armies, at most 2",
    "share of income": "of all players",
    "cards": "/ 5",
    "hand": "the chance that it has a set, times the next set",
    "cards for sets": "cards / 3, times the next set",
    "seat 0": "whether the turn is theirs",
    "seat 1": "whether they are next",
    "seat 2": "whether they are second",
    "seat 3": "whether they are third",
    "seat 4": "whether they are fourth",
    "seat 5": "whether they are fifth",
    "new armies": "to be placed, as a set",
    "stack for armies": "the largest stack / armies",
    "stack": "the largest, relative, as a ratio",
    "inside": "the share of armies without an enemy beside",
    "front": "the share of armies with one",
    "border": "the share of territories with one",
    "outnumbered": "by how much the largest enemies beside exceed, / armies, at most 3",
    "outnumbering": "by how much they are exceeded, / armies",
    "own edges": "the share of borders between own territories",
    "bonus": "of continents owned, / mean income",
    "bonus by armies": "sum of bonus x share of armies squared, / mean income",
    "best bonus by armies": "the largest of these",
    "bonus by territories": "sum of bonus x share of territories squared, / mean income",
    "bonus in danger": "sum of bonus x the best chance of a neighbour, / mean income",
    "continents": "owned, / 3",
    "in reach": "armies beside and new ones of who is to move / what it takes, at most 3",
    "within reach": "whether that is above 1.2",
    "best reach": "of who is to move, over all others",
    "best cards in reach": "of who is to move, / 5",
    "danger": "the largest excess of an enemy beside, relative",
    "armies for rival's": "as a ratio to the strongest rival",
    "income for rival's": "as a ratio to the richest rival",
    "first": "whether nobody has more armies",
    "two alive": "players",
    "three alive": "players",
    "more alive": "players",
    "next set": "as a set",
    "all armies": "n / (n + 100)",
    "fixed sets": "whether sets bring the same at any time",
    "cards are played": "whether they are",
    "neutral": "the share of territories without a player",
    "players for territories": "alive / territories",
}


@cache
def weights_of(name: str) -> Weights:
    """Return the weights of a V.

    name: `"choosing"` or `"ending"`.

    >>> weights_of("ending").shape
    (1600,)
    """
    record = json.loads(read_package_file("iacta.war", "value.json"))
    return np.array(record["weights"][name], dtype=np.float32)
