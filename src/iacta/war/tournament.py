"""Tournaments of whole games between AIs and policies.

An entrant is the name of an AI or a policy, that is, a function from a turn to an action. Games
without policies run in the core. Games with a policy run through `Turn`, which checks that every
action is legal; in such games the core plays the turns of its AIs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iacta.game.turn import Turn
from iacta.inputs.checks import read_int, read_list
from iacta.inputs.errors import IllegalError
from iacta.probability.estimate import Estimate, Interval
from iacta.war.game import MAX_ROUNDS, Game, Seat, get_seat_name, read_seat
from iacta.war.games import War, check_war, list_seats
from iacta.war.players import PLAYERS

MAX_TOURNAMENT_GAMES = 10**6


@dataclass(frozen=True)
class Standing:
    """The result of one entrant in a tournament.

    name: the name of the AI or policy.
    games: the number of games.
    wins: the number of games won.
    interval: Wilson's 95% interval of the chance to win.
    """

    name: str
    games: int
    wins: int
    interval: Interval


def tournament(
    players: Sequence[Seat], turn: Turn, *, games: int = 100, seed: int = 0
) -> tuple[Standing, ...]:
    """Play games from one turn, and count the wins of each entrant.

    players: the entrants, one for each player of the turn. An entrant is the name of an AI
        (`"usual"`, `"keeper"`, `"strong"`, `"simple"`) or a policy.
    turn: the turn from which each game starts.
    games: the number of games. After each game, every entrant moves to the next seat. If `games` is
        a multiple of the number of seats, every entrant plays every seat equally often.
    seed: the seed of the dice, the unknown cards and the AIs' random choices.

    Nobody wins a game that lasts more than 200 rounds. Raises `IactaError` for a wrong number of
    entrants, and for rules under which a battle can gain armies.

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
    entrants = [read_seat(each) for each in read_list(players, "players", "players")]
    if len(entrants) != len(seats):
        raise IllegalError(f"players must be {len(seats)}, one for each seat, got {len(entrants)}")
    number = read_int(games, "games", minimum=1, maximum=MAX_TOURNAMENT_GAMES)
    read_int(seed, "seed")
    wins = [0] * len(seats)
    for shift in range(min(len(seats), number)):
        order = [entrants[(i + shift) % len(seats)] for i in range(len(seats))]
        numbers = range(shift, number, len(seats))
        for seat, won in enumerate(count_wins(order, turn, numbers, seed)):
            wins[(seat + shift) % len(seats)] += won
    return tuple(
        Standing(get_seat_name(entrant), number, won, Estimate(number, won).interval())
        for entrant, won in zip(entrants, wins, strict=True)
    )


def count_wins(
    order: Sequence[Seat], turn: Turn, game_indices: Sequence[int], seed: int
) -> list[int]:
    """Play complete games with the given indices, and count the wins of each seat."""
    won = [0] * len(order)
    if all(isinstance(each, str) for each in order):
        war = War(turn)
        core = tuple(PLAYERS[str(each)] for each in order)
        for number in game_indices:
            played = war.play_games(
                core,
                games=1,
                first=number,
                seed=seed,
                most_rounds=MAX_ROUNDS,
            )
            for seat, chance in enumerate(played.chances[0].tolist()):
                won[seat] += chance == 1
        return won
    seats = list_seats(turn)
    for number in game_indices:
        winner = play_game(dict(zip(seats, order, strict=True)), turn, seed, number)
        if winner is not None:
            won[seats.index(winner)] += 1
    return won


def play_game(seats: Mapping[str, Seat], turn: Turn, seed: int, game_index: int) -> str | None:
    """Play a game through `Turn`; return the winner, or `None` after `MAX_ROUNDS` rounds.

    seats: a mapping from players to the AIs or policies that play for them.
    turn: the turn from which the game starts.
    seed: the seed of all games.
    game_index: the index of the game, which has its own dice.
    """
    dice = int(np.random.default_rng([seed, game_index]).integers(2**62))
    end = turn
    for step in Game(turn, seats, dice):
        end = step.after
    return end.winner
