"""Players of the whole game, as data: some thirty numbers each, which the core plays by.

All is counted in armies. Taking a territory c from player q, on continents k with a bonus b, pays

    worth(c) = (territory + card + Σ breaking · b + progress · b · share² + completing · b + prizes
                + leader · (armies of q / mean armies - 1)) · (1 + growth · all armies),

where a card counts if none is due yet, breaking if q owns all of k, and completing if c is the last
one; share is that of k after it. A prize is a share of a goal within reach: a continent whose cost
(armies on it, and one for each territory) is below what could attack it by a factor `near_...`, or
a player. An attack is worth

    p · worth(c) + killed · E(killed) - lost · E(lost) - (1 - p) · failed - bare · b,

p and E being those of the whole battle; lost counts less where the board is fuller than the player
has patience; b counts where it leaves the border of an own continent
bare. The best one is rolled while it is above the threshold.
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError


@dataclass(frozen=True)
class Player:
    """A player of the whole game.

    territory, card, breaking, progress, completing, leader, growth, killed, lost, failed, bare,
    threshold: as above.
    near_continent, near_player: how many times the cost must be there.
    continent_prize: for a continent within reach, times its bonus.
    elimination, their_cards, last_rival: for a player within reach; their cards count as the share
        of the next set that they are, and the last rival counts more.
    behind: the share of a threat that stays behind when armies advance.
    guard_share: the share of new armies that at most guards an own continent.
    guard_level: the share of a threat up to which they do.
    joker: what a joker in a set costs.
    bold, wary: what worths are multiplied by, in turns of that kind.
    aim: what a territory of an aim is worth besides.
    near_aim: how many times the cost must be there for a goal to be tried.
    margin: by how much an aim must be better than what the player likes.
    patience: how many armies there may be for each territory that is owned while the player waits;
        with more it plays as it likes, and lost armies count the less the more there are.
    samples: how often each aim is played before one is chosen; 0 to play as the player likes, and
        below 0 the share of turns with an aim at random, for positions from which to learn.
    """

    territory: float = 0.6
    card: float = 3.0
    breaking: float = 1.0
    progress: float = 0.5
    completing: float = 1.5
    leader: float = 1.0
    growth: float = 0.005
    killed: float = 0.5
    lost: float = 1.0
    failed: float = 1.0
    bare: float = 0.5
    threshold: float = 0.35
    near_continent: float = 1.2
    near_player: float = 1.3
    continent_prize: float = 1.5
    elimination: float = 3.0
    their_cards: float = 0.5
    last_rival: float = 10.0
    behind: float = 0.3
    guard_share: float = 0.5
    guard_level: float = 0.7
    joker: float = 1.5
    bold: float = 1.7
    wary: float = 0.6
    aim: float = 3.0
    near_aim: float = 0.6
    margin: float = 0.01
    patience: float = 15.0
    samples: float = 0.0

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The numbers in the order of the fields, as the core reads them."""
        return np.array([getattr(self, each.name) for each in fields(self)], dtype=np.float64)


# To add a player, add a row. `yardstick` is no better for being changed: what others are measured
# by stays as it is.
PLAYERS = {
    "simple": Player(),
    "usual": Player(
        behind=0.0, failed=2.0, leader=0.3, continent_prize=3.0, aim=6.0, margin=0.01, samples=2
    ),
    "yardstick": Player(
        card=5.0,
        breaking=0.3,
        progress=0.0,
        leader=0.0,
        killed=0.8,
        lost=1.2,
        failed=2.0,
        threshold=1.0,
        near_player=1.0,
        continent_prize=2.0,
        elimination=8.0,
        their_cards=2.0,
        behind=0.0,
        patience=1e6,
    ),
}


def find_player_named(name: str) -> Player:
    """Return a player by name, or refuse it.

    >>> find_player_named("usual").samples
    2
    """
    if name not in PLAYERS:
        raise IllegalError(
            f"player must be one of {', '.join(PLAYERS)}, or a policy, got {quote(name)}"
        )
    return PLAYERS[name]
