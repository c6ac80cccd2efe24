"""The value function V: an estimate, learnt from games, of each player's chance to win.

The input of V consists of 55 features for each player at the start of a turn:
`FEATURES_OF_PLAYERS`. A neural network with one hidden layer maps the features of a player to a
score. V is the softmax of the scores of the surviving players.

`value.json` contains three sets of weights. The AIs compare their aims with `choosing`, and with
`missions` in games with capitals or missions. `ending` scores games that are stopped early;
`missions` also scores such games with capitals or missions. An earlier version of the training
program trained `choosing` and `ending` on games without victory conditions; their weights of the
features of missions are 0. The file also contains the commands of the training, the meaning of each
feature, and a hash of the training program.

Seven features describe the missions of the players; a share of the territories and the capitals are
also missions here. When a player compares aims, missions that this player does not know have no
features.
"""

import json
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.files import read_package_file

HIDDEN = 32

Weights: TypeAlias = npt.NDArray[np.float32]

# The features in the order of the core. A "relative" feature is divided by its mean over surviving
# players. "As a ratio": r is mapped to (r - 1) / (r + 1). "As a set": s armies are mapped to
# s / (s + mean armies).
FEATURES_OF_PLAYERS = {
    "armies": "relative, minus 1, at most 3",
    "armies with new ones": "relative, as a ratio",
    "territories": "relative, minus 1",
    "share of territories": "share of the board",
    "income": "new armies per turn, relative, minus 1",
    "income for armies": "income / armies, at most 2",
    "share of income": "share of all players' income",
    "cards": "cards / 5",
    "hand": "the chance that the hand has a set, times the armies of the next set",
    "cards for sets": "cards / 3, times the armies of the next set",
    "seat 0": "whether the player is to move",
    "seat 1": "whether the player is next to move",
    "seat 2": "whether the player moves two turns from now",
    "seat 3": "whether the player moves three turns from now",
    "seat 4": "whether the player moves four turns from now",
    "seat 5": "whether the player moves five turns from now",
    "new armies": "armies to place, as a set",
    "stack for armies": "the largest stack / armies",
    "stack": "the largest stack, relative, as a ratio",
    "inside": "share of armies without an adjacent enemy",
    "front": "share of armies with an adjacent enemy",
    "border": "share of territories with an adjacent enemy",
    "outnumbered": "excess of the largest adjacent enemies, summed, / armies, at most 3",
    "outnumbering": "excess over the largest adjacent enemies, summed, / armies",
    "own edges": "share of edges that join own territories",
    "bonus": "bonus of owned continents / mean income",
    "bonus by armies": "sum of bonus x share of armies squared, / mean income",
    "best bonus by armies": "the largest term of bonus by armies",
    "bonus by territories": "sum of bonus x share of territories squared, / mean income",
    "bonus in danger": "sum of bonus x the best chance of a neighbour to break it, / mean income",
    "continents": "owned continents / 3",
    "in reach": "(armies of the mover that can attack, plus new armies) / cost of eliminating "
    "this player, at most 3",
    "within reach": "whether 'in reach' exceeds 1.2",
    "best reach": "for the mover: the largest 'in reach' of any opponent",
    "best cards in reach": "for the mover: the most cards of an opponent 'within reach' / 5",
    "danger": "largest excess of an adjacent enemy, relative",
    "armies for rival's": "ratio to the strongest rival",
    "income for rival's": "ratio to the richest rival",
    "first": "whether no player has more armies",
    "two alive": "whether two players survive",
    "three alive": "whether three players survive",
    "more alive": "whether more than three players survive",
    "next set": "armies of the next set, as a set",
    "all armies": "n / (n + 100)",
    "fixed sets": "whether every set brings the same number of armies",
    "cards are played": "whether the game has cards",
    "neutral": "share of territories without a player",
    "players for territories": "surviving players / territories",
    "best rival's mission": "the largest 'progress' of another player",
    "mission of territories": "whether the player must own a number or share of territories",
    "mission of continents": "whether the player must own continents",
    "mission of capitals": "whether the player must own capitals",
    "mission to eliminate": "whether the player must eliminate another player",
    "missing": "territories that the mission still requires / territories",
    "progress": "armies / (armies + cost of the missing territories)",
}


@cache
def load_weights(name: str, file: Path | None = None) -> Weights:
    """Load the weights of V.

    name: the name of a set of weights: `"choosing"`, `"missions"` or `"ending"`.
    file: a file in the format of `value.json`; `None` for `value.json`.

    >>> load_weights("ending").shape
    (1824,)
    """
    text = read_package_file("iacta.war", "value.json") if file is None else file.read_text("utf-8")
    record = json.loads(text)
    return np.array(record["weights"][name], dtype=np.float32)
