"""AIs for whole games: rows of about thirty weights, which the compiled core uses to play.

All values are in armies. The value of taking territory c from player q is a sum over the continents
k of c, with bonus b:

    value(c) = (territory + card + Σ (breaking · b + progress · b · share² + completing · b)
                + prizes + leader · (armies of q / mean armies - 1)) · (1 + growth · all armies).

The term `card` counts before the first conquest of the turn, `breaking` if q owns all of k, and
`completing` if c is the last missing territory of k. `share` is the share of k that the AI would
own afterwards.

A continent or an opponent is within reach if the AI's adjacent and new armies exceed a multiple of
the cost, which is the number of hostile armies plus hostile territories. The multiple is
`near_continent` or `near_player`. The prize of a goal within reach is divided among its
territories.

The value of an attack on c that succeeds with probability p is

    p · value(c) + killed · E(armies killed) - lost · E(armies lost) - (1 - p) · failed
        - bare · b,

where the expectations are over the whole battle. The last term counts if the attack weakens the
border of a continent that the AI owns. `lost` is reduced once the armies per territory exceed
`patience`. The AI attacks as long as the best value exceeds `threshold`.

A turn may have an aim, which changes the values. An AI with `samples` simulates the turn several
times with each of its aims, and chooses the aim with the highest mean value of V afterwards. If an
elimination nearly equals another aim, both are simulated three times as often. An aim that wins the
game is favoured by up to ten percentage points, in proportion to its wins in these simulations.
After an elimination, the AI chooses a new aim for the rest of the turn. An AI with `rounds`
compares its best three aims again: it simulates the turn and all following turns, in which every
player plays without samples and with half of the guards, until the AI is to move again. It does not
know the other players' cards and secret missions.

| kind | the turn |
|---|---|
| as liked | makes the attacks with the highest values |
| boldly, warily | the same with all values increased or reduced |
| hold | makes no attacks, and reinforces the weakest border |
| one card | takes one territory, the most valuable |
| safe card | takes one territory at the lowest cost, and guards the borders with new armies |
| pile | puts all new armies on the largest border stack, and takes one territory |
| continent, guard | takes a continent; `guard` makes no other attacks, and guards the borders |
| break, raid | breaks a continent; `raid` makes no other attacks, and advances few armies |
| chase | prefers to attack one player |
| eliminate | takes all territories of a player along the routes of `src/core/war/routes.hpp` |
| win | takes the territories that its victory condition still requires, along such routes |

Without a victory condition, the aim `win` requires all territories of at least two last opponents.
A mission to eliminate a player has the aim `eliminate` instead. If a player also wins with a number
of territories, the AI pursues this number if its territories cost fewer armies than the mission.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError

# The kinds of aims. `src/core/iacta.h` has a constant of the same name, such as `AIM_AS_LIKED`.
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
    WIN := "win",
)
CHOSEN_BY_AI = "chosen"  # the AI chooses its own aim


@dataclass(frozen=True)
class Player:
    """The weights of an AI.

    territory, card, breaking, progress, completing, leader, growth, killed, lost, failed, bare,
    threshold: the terms of the formulas in the docstring of this module.
    near_continent, near_player: the smallest ratio of armies to cost at which a continent or an
        opponent is within reach.
    continent_prize: the prize of a continent within reach, per army of its bonus.
    elimination: the prize for eliminating an opponent.
    their_cards: the weight of an opponent's cards, which are valued as a fraction of the next set.
    last_rival: an additional prize for eliminating the last opponent.
    behind: the armies that stay behind in an advance, per army of the largest threat.
    guard_share: the largest fraction of the new armies that guards the border of a continent.
    guard_level: the armies wanted on such a border, per army of the largest threat.
    joker: the cost of using a joker in a set, in armies.
    bold, wary: the factors that multiply all values in turns with the aims `boldly` and `warily`.
    aim: the additional value of each territory that belongs to the aim.
    near_aim: the smallest ratio of armies to cost at which a continent or an opponent becomes an
        aim.
    margin: the smallest increase of V for which the AI prefers an aim to `as liked`; at most a
        quarter of 1 - V.
    patience: the armies per territory on the whole board above which the AI stops waiting for
        better odds, and gives less weight to lost armies.
    samples: the number of simulations for each aim; 0 for an AI that does not simulate. A negative
        number is minus the fraction of turns with a random aim, for generating training data.
    sure: for turns without samples, the smallest ratio of armies to cost at which the aim is to
        win, to eliminate an opponent, to break a continent or to take a continent; 0 for no aims.
    giving_up: the smallest ratio of armies to cost at which the AI continues an aim with routes.
    guarding: the armies wanted on a border, per army of the largest threat. If it is 0, the AI
        does not divide armies between borders, and moves them to the front.
    rounds: for an AI with samples, the number of rounds that simulations of the best aims continue.
    trials: the number of simulations for each of the best aims.
    trading: for an AI with samples, whether simulations decide on a trade that is not forced. If it
        is 0, the AI trades if the new armies bring a prize within reach.
    aims: the kinds of aims that the AI may choose.
    preferred: the aim of an AI without samples if no other aim is within reach.
    value: a file with weights of V for comparing aims; `None` for `value.json`.
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
    rounds: float = 0.0
    trials: float = 0.0
    trading: float = 0.0
    aims: tuple[str, ...] = ()
    preferred: str = AS_LIKED
    value: Path | None = None


USUAL = Player(
    behind=0.0,
    failed=2.0,
    leader=0.3,
    continent_prize=3.0,
    aim=6.0,
    samples=8,
    guard_share=1.0,
    guard_level=2.0,
    guarding=2.0,
    trading=1.0,
    aims=AIMS,
)
# To add an AI, add a row. `benchmarks/opponents.py` contains the opponents of the benchmarks.
PLAYERS = {
    "usual": USUAL,
    # Completes and guards continents; breaks other players' continents; takes one card a turn.
    "keeper": Player(
        behind=0.0,
        failed=2.0,
        leader=0.3,
        continent_prize=4.0,
        completing=3.0,
        breaking=2.0,
        bare=1.0,
        guard_level=1.0,
        guarding=1.0,
        aim=6.0,
        samples=8,
        trading=1.0,
        aims=(AS_LIKED, HOLD, CONTINENT, BREAK, ELIMINATE, PILE, SAFE_CARD, RAID, GUARD, WIN),
    ),
    # Compares the usual AI's best three aims again, in simulations that continue for one round and
    # show the attacks of the opponents.
    "strong": replace(USUAL, sure=1.1, rounds=1, trials=64),
    "simple": Player(),
}


def find_player(name: str) -> Player:
    """Return an AI by name.

    >>> find_player("usual").samples
    8
    """
    if not isinstance(name, str) or name not in PLAYERS:
        raise IllegalError(
            f"player must be one of {', '.join(PLAYERS)}, or a policy, got {quote(name)}"
        )
    return PLAYERS[name]
