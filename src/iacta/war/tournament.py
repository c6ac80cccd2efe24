"""Tournaments: who wins how often where several players play whole games against each other.

A seat is taken by one of the core's players, by name, or by a policy: any function from a turn to
an action. Games between the core's players are played in the core. Where a policy takes part, turns
go through `Turn`, which refuses what is illegal; the core's players play whole turns of theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from iacta.game.turn import Policy, Turn
from iacta.inputs.checks import quote, read_int, read_row
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.probability.estimate import Estimate, Interval
from iacta.war.games import War, check_war, list_seats
from iacta.war.players import PLAYERS, find_player_named
from iacta.war.value import weights_of

MOST_ROUNDS = 200  # after which a game is too long
MOST_GAMES = 10**6

Seat: TypeAlias = str | Policy


@dataclass(frozen=True)
class Standing:
    """How often a player of a tournament won.

    name: the name of the player, or of the policy.
    games: how many games they played.
    wins: how many of them they won.
    interval: Wilson's interval of the chance to win, at 95%.
    """

    name: str
    games: int
    wins: int
    interval: Interval


def read_seat(player: object) -> Seat:
    """Return a player by name, or a policy, or refuse it."""
    if isinstance(player, str):
        find_player_named(player)
        return player
    if not callable(player):
        raise MalformedError(
            f"player must be one of {', '.join(PLAYERS)}, or a policy, got {quote(player)}"
        )
    return player


def name_of(player: Seat) -> str:
    """Return the name of a player or a policy."""
    if isinstance(player, str):
        return player
    return str(getattr(player, "__name__", type(player).__name__))


def tournament(
    players: Sequence[Seat], turn: Turn, *, games: int = 100, seed: int = 0
) -> tuple[Standing, ...]:
    """Return who wins how often, from one moment of a game on.

    players: who plays: names of the core's players (`"simple"`, `"usual"`, `"yardstick"`), or
        policies, one for each player of the turn.
    turn: where each game begins.
    games: how many games are played. From one to the next the players change seats, so that each
        has each seat equally often if `games` is a multiple of their number.
    seed: of the dice, the cards that nobody has seen, and the players' choices.

    Games that are not won after 200 rounds count as won by nobody. Refused are as many players as
    do not fit the turn, and rules whose battles can grow.

    >>> from iacta import Position, Turn, classic_board
    >>> names = classic_board().territories
    >>> held = {t: (("red", "blue")[k % 2], 3) for k, t in enumerate(names)}
    >>> start = Turn(Position(classic_board(), "red", held), place=7)
    >>> def idle(turn):
    ...     return turn.actions()[-1]
    >>> [(each.name, each.wins) for each in tournament([idle, "simple"], start, games=4)]
    [('idle', 0), ('simple', 4)]
    """
    seats = list_seats(check_war(turn))
    entrants = [read_seat(each) for each in read_row(players, "players", "players")]
    if len(entrants) != len(seats):
        raise IllegalError(f"players must be {len(seats)}, one for each seat, got {len(entrants)}")
    number = read_int(games, "games", least=1, most=MOST_GAMES)
    read_int(seed, "seed")
    wins = [0] * len(seats)
    for shift in range(min(len(seats), number)):
        order = [entrants[(i + shift) % len(seats)] for i in range(len(seats))]
        numbers = range(shift, number, len(seats))
        for seat, won in enumerate(wins_of(order, turn, numbers, seed)):
            wins[(seat + shift) % len(seats)] += won
    return tuple(
        Standing(name_of(each), number, won, Estimate(number, won).interval())
        for each, won in zip(entrants, wins, strict=True)
    )


def wins_of(order: Sequence[Seat], turn: Turn, numbers: Sequence[int], seed: int) -> list[int]:
    """Return how many of some games each seat wins, played to their end."""
    won = [0] * len(order)
    if all(isinstance(each, str) for each in order):
        war = War(turn)
        core = tuple(PLAYERS[str(each)] for each in order)
        for number in numbers:
            played = war.games(
                core,
                weights_of("choosing"),
                weights_of("ending"),
                games=1,
                first=number,
                seed=seed,
                most_rounds=MOST_ROUNDS,
            )
            for seat, chance in enumerate(played.chances[0].tolist()):
                won[seat] += chance == 1
        return won
    seats = list_seats(turn)
    for number in numbers:
        winner = played_out(dict(zip(seats, order, strict=True)), turn, seed, number)
        if winner is not None:
            won[seats.index(winner)] += 1
    return won


def played_out(
    by_name: dict[str, Seat],
    turn: Turn,
    seed: int,
    number: int,
    *,
    after_turn: Callable[[Turn], None] | None = None,
) -> str | None:
    """Return who wins a game that goes through `Turn`, `None` where it is too long.

    after_turn: is called with the end of each turn.
    """
    rng = np.random.default_rng([seed, number])
    turns = 0
    while turn.winner is None and turns < MOST_ROUNDS * len(by_name):
        seat, dice = by_name[turn.player], int(rng.integers(2**62))
        if turn.phase != "over":
            if isinstance(seat, str):
                player = PLAYERS[seat]
                turn = War(turn).play_turn(player, weights_of("choosing"), dice).end
            else:
                turn = turn.play(seat, seed=dice).end
        if after_turn is not None:
            after_turn(turn)
        turn = turn if turn.winner is not None else turn.next()
        turns += 1
    return turn.winner
