"""AIs for whole games, as rows of about thirty weights that the compiled core plays by.

All values are in armies. Taking territory c from player q, on continents k with bonus b, has the
value

    value(c) = (territory + card + Σ (breaking · b + progress · b · share² + completing · b)
                + prizes + leader · (armies of q / mean armies - 1)) · (1 + growth · all armies).

Here `card` counts until the first conquest of the turn, `breaking` if q owns all of k, and
`completing` if c is the last missing territory of k. `share` is the AI's share of k afterwards.

A continent or an opponent is within reach if the armies that could attack exceed a multiple of the
cost, which is the number of defending armies plus territories. The multiple is `near_continent` or
`near_player`. The prize of a goal within reach is divided among its territories.

An attack on c with probability p of success has the value

    p · value(c) + killed · E(armies killed) - lost · E(armies lost) - (1 - p) · failed
        - bare · b,

where the expectations are over the whole battle, and the last term counts if the attack leaves the
border of an own continent undefended. `lost` is reduced once the armies per territory exceed
`patience`. The AI attacks as long as the best value exceeds `threshold`.

A turn may have an aim, which changes the values. An AI with `samples` plays the turn several times
with each of its aims, and chooses the aim after which V judges its chances best:

| kind | the turn |
|---|---|
| as liked, boldly, warily | attacks by value; values count for more or less |
| hold | attacks nothing, and reinforces the weakest border |
| one card | takes one territory, the one of most value |
| safe card | takes one territory with the least losses; new armies guard the borders |
| pile | puts all new armies on the largest border stack, and takes one territory |
| continent, guard | takes a continent; `guard` also divides the armies among its borders |
| break, raid | breaks an opponent's continent; `raid` attacks nothing else and stays at home |
| chase | attacks a player by value |
| eliminate | takes all territories of a player along the routes of `src/core/war/routes.hpp` |
"""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError

# The kinds of an aim. The index of each kind is its number in `src/core/iacta.h`.
AIMS = (
    AS_LIKED := "as liked",
    HOLD := "hold",
    ONE_CARD := "one card",
    CONTINENT := "continent",
    BREAK := "break",
    CHASE := "chase",
    BOLDLY := "boldly",
    WARILY := "warily",
    ELIMINATE := "eliminate",
    PILE := "pile",
    SAFE_CARD := "safe card",
    RAID := "raid",
    GUARD := "guard",
)
CHOSEN = "chosen"  # the AI chooses one of its aims


@dataclass(frozen=True)
class Player:
    """The weights of an AI.

    territory, card, breaking, progress, completing, leader, growth, killed, lost, failed, bare,
    threshold: see above.
    near_continent, near_player: minimum ratio of attacking armies to cost for a goal in reach.
    continent_prize: the prize of a continent, per army of its bonus.
    elimination: the prize of eliminating an opponent.
    their_cards: weight of the cards of an opponent, which count as a share of the next set.
    last_rival: an additional prize for the last opponent.
    behind: armies left behind when advancing, per army of the largest threat.
    guard_share: the largest share of new armies used to guard an own continent.
    guard_level: armies wanted on a guarded border, per army of the largest threat.
    joker: the cost of using a joker in a set.
    bold, wary: factors on all values in bold and in wary turns.
    aim: additional value of each territory of the turn's aim.
    near_aim: minimum ratio of attacking armies to cost for an aim to be tried.
    margin: minimum gain in the chance to win over a turn without an aim.
    patience: armies per owned territory up to which the AI may wait for better odds. Beyond this
        number it no longer waits, and lost armies count for less.
    samples: games played per aim before choosing an aim; 0 for turns without aims. A negative
        number is the share of turns with a random aim, for training positions.
    sure: for an AI that does not sample: minimum ratio of armies to cost at which it eliminates an
        opponent, breaks a continent or takes one; 0 for an AI without aims.
    giving_up: minimum ratio of armies to cost at which an elimination goes on.
    guarding: armies wanted on a border, per army of the largest threat, when armies are divided
        between borders; 0 for armies that move to the front only.
    aims: the kinds of aims that the AI may choose.
    preferred: the aim of an AI that does not sample, if no other aim is within reach.
    value: a file with the weights of V by which the AI judges its aims; `None` for `value.json`.
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
    sure: float = 0.0
    giving_up: float = 0.55
    guarding: float = 0.0
    aims: tuple[str, ...] = ()
    preferred: str = AS_LIKED
    value: Path | None = None

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The weights as an array, in the order of the fields, as the core expects."""
        numbers = [getattr(self, each.name) for each in fields(self) if each.type is float]
        allowed = sum(1 << AIMS.index(kind) for kind in {*self.aims})
        return np.array([*numbers, allowed, AIMS.index(self.preferred)], dtype=np.float64)


# To add an AI, add a row. Never change `yardstick`: it measures the progress of the other AIs.
PLAYERS = {
    "simple": Player(),
    "usual": Player(
        behind=0.0,
        failed=2.0,
        leader=0.3,
        continent_prize=3.0,
        aim=6.0,
        margin=0.01,
        samples=2,
        aims=(AS_LIKED, HOLD, ONE_CARD, CONTINENT, BREAK, CHASE, BOLDLY, WARILY),
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


def find_player(name: str) -> Player:
    """Return an AI by name.

    >>> find_player("usual").samples
    2
    """
    if name not in PLAYERS:
        raise IllegalError(
            f"player must be one of {', '.join(PLAYERS)}, or a policy, got {quote(name)}"
        )
    return PLAYERS[name]
