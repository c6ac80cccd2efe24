"""Fixed opponents for measuring AIs, and matches of one AI against copies of another.

Never change a row, because the strength of later AIs is measured against these opponents.

    python -m benchmarks.opponents ONE OTHER [GAMES]

This prints the share of games that ONE wins if OTHER plays all other seats, for 2 to 6 players with
rising and with fixed sets.
"""

import sys
from pathlib import Path
from random import Random

from benchmarks.deals import NAMES, make_finished_game
from iacta import Capitals, Sets, Victory, classic_board
from iacta.probability.estimate import Estimate
from iacta.war.games import War
from iacta.war.players import (
    AIMS,
    AS_LIKED,
    BOLDLY,
    BREAK,
    CHASE,
    CONTINENT,
    ELIMINATE,
    GUARD,
    HOLD,
    ONE_CARD,
    PILE,
    PLAYERS,
    RAID,
    SAFE_CARD,
    WARILY,
    Player,
)

V_BEFORE = Path(__file__).with_name("usual_before.json")
USUAL_BEFORE = Player(
    behind=0.0,
    failed=2.0,
    leader=0.3,
    continent_prize=3.0,
    aim=6.0,
    margin=0.01,
    samples=2,
    aims=(AS_LIKED, BOLDLY, WARILY, HOLD, ONE_CARD, CONTINENT, BREAK, CHASE),
    value=V_BEFORE,
)
OPPONENTS = {
    "usual before": USUAL_BEFORE,
    # Holds its sets back, and guards its borders less than the usual AI.
    "usual with few guards": Player(
        behind=0.0,
        failed=2.0,
        leader=0.3,
        continent_prize=3.0,
        aim=6.0,
        samples=8,
        guarding=1.0,
        aims=AIMS,
    ),
    # Hunts for cards without sampling its turns.
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
    # Puts all new armies on the largest border stack; takes one card a turn; eliminates players
    # within reach.
    "pile": Player(sure=1.1, aims=(ELIMINATE,), preferred=PILE, failed=2.0),
    # Puts new armies on the weakest borders; eliminates players within reach.
    "turtle": Player(
        sure=1.1,
        aims=(ELIMINATE,),
        preferred=WARILY,
        guarding=1.0,
        guard_share=1.0,
        guard_level=1.0,
        behind=0.0,
        failed=2.0,
    ),
    # Completes and guards continents; breaks other players' continents and retreats; takes one card
    # a turn.
    "keeper of continents": Player(
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
        samples=3,
        aims=(AS_LIKED, HOLD, CONTINENT, BREAK, ELIMINATE, PILE, SAFE_CARD, RAID, GUARD),
        value=V_BEFORE,
    ),
    # Eliminates players who have many cards; takes one card a turn.
    "hunter of cards": Player(
        their_cards=2.0,
        elimination=8.0,
        failed=2.0,
        behind=0.0,
        aim=6.0,
        samples=3,
        aims=(AS_LIKED, BOLDLY, ONE_CARD, PILE, CHASE, ELIMINATE),
        value=V_BEFORE,
    ),
}


CAPITAL_CHOICES = 10  # the number of random choices of capitals in a match
SEED = 480_000  # the seed of the program's games


def find_row(name: str) -> Player:
    """Return the row of an AI or of an opponent."""
    return OPPONENTS[name] if name in OPPONENTS else PLAYERS[name]


def count_match_wins(
    one: Player,
    other: Player,
    players: int,
    trade: Sets | None,
    games: int,
    seed: int,
    victory: Victory | None = None,
) -> int:
    """Count the wins of one AI against copies of another in new games with rotating seats."""
    start, wins = make_finished_game(classic_board(), players, trade), 0
    war = War(start.with_options(victory=victory) if victory else start)
    for seat in range(players):
        row = [other] * players
        row[seat] = one
        found = war.play_games(tuple(row), games=games // players, seed=seed + seat, is_dealt=True)
        wins += int((found.chances[:, seat] == 1).sum())
    return wins


def count_capital_wins(
    one: Player, other: Player, players: int, trade: Sets | None, games: int, seed: int
) -> int:
    """Count the wins in games for all capitals, which are random territories."""
    wins, names = 0, NAMES[:players]
    for number in range(CAPITAL_CHOICES):
        homes = Random(seed + number).sample(classic_board().territories, players)
        victory = Capitals(dict(zip(names, homes, strict=True)))
        games_each, first = games // CAPITAL_CHOICES, seed + players * number
        wins += count_match_wins(one, other, players, trade, games_each, first, victory)
    return wins


def main(one: str, other: str, games: str = "400") -> None:
    """Print the share of games that one AI wins, by the number of players and the sets."""
    for trade, sets in ((None, "rising"), (Sets(is_fixed=True), "fixed")):
        for players in range(2, 7):
            number = int(games) // players * players
            wins = count_match_wins(
                find_row(one), find_row(other), players, trade, number, SEED + players
            )
            low, high = Estimate(number, wins).interval()
            found = f"{wins / number:.1%} ({low:.1%} to {high:.1%}) of {number}"
            print(f"{sets} sets, {players} players: {found}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
