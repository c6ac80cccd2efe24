"""The chance of each player to win the whole game, if everybody plays like a player of iacta.

The chance depends on who plays, so it is never *the* chance: what the usual player makes of a turn
is shown beside what the simple one does, and the two are never merged. Games of the usual player
are cut after some rounds and ended by V, which is learnt from games of that player; 3 points more
are reported apart as the allowance for that. Games of the simple player, and of a policy, are
played to their end.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import sqrt
from os import cpu_count
from threading import TIMEOUT_MAX, Lock
from typing import TypeAlias

import numpy as np

from iacta.game.turn import Turn
from iacta.inputs.checks import read_int, read_seconds
from iacta.native.deadline import Deadline
from iacta.probability.estimate import Estimate, Interval
from iacta.war.games import ANY, CUT, TOO_LONG, Aim, Floats, PlayedGames, War, check_war, list_seats
from iacta.war.players import PLAYERS
from iacta.war.tournament import MOST_GAMES, MOST_ROUNDS, Seat, name_of, played_out, read_seat
from iacta.war.value import weights_of

CUT_AFTER = 6  # rounds
ALLOWANCE = 0.03  # for cutting
GAMES = {"simple": 2000, "usual": 600}
GAMES_OF_A_POLICY = 40
Z = 1.96  # standard errors to either side of a mean
CHUNK = 20  # games that are played at once, so that a deadline and Ctrl-C wait for no more

Progress: TypeAlias = Callable[[int, int], None]  # how many have been played, of how many


@dataclass(frozen=True)
class WinChance:
    """A player's chance to win, as games of one kind of player estimate it.

    player: the player's name.
    chance: the mean of the games.
    interval: contains the mean of infinitely many such games with a confidence of 95%: Wilson's
        where all games were won, else 1.96 standard errors to either side; exact where nothing is
        left to play.
    """

    player: str
    chance: float
    interval: Interval


@dataclass(frozen=True)
class WinEstimate:
    """The chances to win if everybody plays like one player.

    by: the name of that player, or of the policy.
    chances: those of each player, in the order of play; they sum to 1.
    games: how many games were played.
    cut: how many of them were cut and ended by V.
    too_long: how many were not won after 200 rounds and were decided by V, too.
    allowance: what cutting may add to the error of each chance, besides its interval.
    """

    by: str
    chances: tuple[WinChance, ...]
    games: int
    cut: int
    too_long: int
    allowance: float

    def of(self, player: str) -> WinChance:
        """Return the chance of a player."""
        return next(each for each in self.chances if each.player == player)


@dataclass(frozen=True)
class WinChances:
    """The chances to win the whole game, under two players, which are not merged.

    chances: if everybody plays like the player that was asked for.
    under_simple: if everybody plays like iacta's simple player.
    """

    chances: WinEstimate
    under_simple: WinEstimate


def win_chances(
    turn: Turn,
    *,
    player: Seat = "usual",
    games: int | None = None,
    time_limit: float | Fraction | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> WinChances:
    """Return each player's chance to win the whole game if everybody plays like a player of iacta.

    turn: any moment of a turn, with cards or without. Cards that nobody has seen are dealt anew in
        each game.
    player: `"usual"`, `"simple"`, `"yardstick"`, or a policy: a function of a turn that returns a
        legal action. Games of the usual player are cut after six rounds.
    games: how many are played of each kind; `None` for 600 of the usual player, and 2,000 of the
        simple one; 40 of a policy.
    time_limit: in seconds; fewer games are played where it comes first.
    seed: of the dice. The same seed and number of games give the same answer on every processor,
        however many threads there are.
    progress: receives how many games of each kind have been played, and how many there are to play.

    A sole owner has a chance of exactly 1, and who owns nothing 0. Refused are more than six
    players, and rules whose battles can grow.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:red:9,Argentina:blue:1")
    >>> found = win_chances(turn, games=100)
    >>> [(each.player, round(each.chance)) for each in found.chances.chances]
    [('red', 1), ('blue', 0)]
    """
    seat = read_seat(player)
    check_war(turn)
    number = None if games is None else read_int(games, "games", least=2, most=MOST_GAMES)
    read_int(seed, "seed")
    seconds = None if time_limit is None else read_seconds(time_limit, "time_limit")
    if len(list_seats(turn)) == 1:
        return WinChances(*(_certain(turn, name_of(each)) for each in (seat, "simple")))
    found = []
    for share, each in ((0.8, seat), (0.2, "simple")):
        deadline = Deadline(None if seconds is None else float(seconds) * share)
        if isinstance(each, str):
            most = number or GAMES.get(each, 2000)
            found.append(_by_core(turn, each, most, seed, deadline, progress))
        else:
            most = number or GAMES_OF_A_POLICY
            found.append(_by_policy(turn, each, most, seed, deadline, progress))
    return WinChances(*found)


def cut_after(player: str) -> int:
    """Return after how many rounds a player's games are cut, 0 for never.

    Only those of a player from whose games V was learnt are.
    """
    return CUT_AFTER if player == "usual" else 0


def played(
    war: War,
    player: str,
    games: int,
    seed: int,
    deadline: Deadline,
    aim: Aim = ANY,
    progress: Progress | None = None,
) -> PlayedGames:
    """Return games of a player of the core, by as many threads as there are processors."""
    seats = (PLAYERS[player],) * len(war.seats)
    firsts = iter(range(0, games, CHUNK))  # which all threads share
    done, reporting = 0, Lock()

    def work() -> list[tuple[int, PlayedGames]]:
        nonlocal done
        found = []
        for first in firsts:
            chunk = war.games(
                seats,
                weights_of("choosing"),
                weights_of("ending"),
                games=min(CHUNK, games - first),
                first=first,
                seed=seed,
                aim=aim,
                cut=cut_after(player),
                most_rounds=MOST_ROUNDS,
                deadline=deadline,
            )
            found.append((first, chunk))
            with reporting:
                done += len(chunk.chances)
                if progress is not None:
                    progress(done, games)
            if deadline.is_over:
                break
        return found

    threads = cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        try:
            working = [pool.submit(work) for _ in range(threads)]
            rows = [each.result(TIMEOUT_MAX) for each in working]  # which Ctrl-C ends
        except BaseException:
            deadline.stop()
            raise
    # In the order of their numbers, whichever thread played them.
    parts = [chunk for _, chunk in sorted(chain(*rows), key=lambda row: row[0])]
    return PlayedGames(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _by_core(
    turn: Turn, player: str, games: int, seed: int, deadline: Deadline, progress: Progress | None
) -> WinEstimate:
    war = War(turn)
    found = played(war, player, games, seed, deadline, progress=progress)
    if len(found.chances) < 2:  # of one game there is no interval
        found = played(war, player, 2, seed, Deadline())
    ends = np.bincount(found.ended, minlength=TOO_LONG + 1)
    return _chances(turn, player, war.seats, found.chances, int(ends[CUT]), int(ends[TOO_LONG]))


def _by_policy(
    turn: Turn, policy: Seat, games: int, seed: int, deadline: Deadline, progress: Progress | None
) -> WinEstimate:
    seats = list_seats(turn)
    rows = []
    for number in range(games):
        winner = played_out(dict.fromkeys(seats, policy), turn, seed, number)
        # Nobody has learnt how such a game ends, so that all who are left count alike.
        rows.append([float(each == winner) if winner else 1 / len(seats) for each in seats])
        if progress is not None:
            progress(number + 1, games)
        if deadline.is_over and number:
            break
    chances = np.array(rows)
    too_long = sum(1.0 not in row for row in rows)
    return _chances(turn, name_of(policy), seats, chances, 0, too_long)


def _chances(
    turn: Turn, by: str, seats: Sequence[str], chances: Floats, cut: int, too_long: int
) -> WinEstimate:
    number, means = len(chances), dict(zip(seats, chances.mean(axis=0).tolist(), strict=True))
    rows = []
    for name in turn.players:
        if name not in means or name not in turn.owners:
            rows.append(WinChance(name, 0.0, Interval(0.0, 0.0)))
            continue
        column = chances[:, seats.index(name)]
        interval = interval_of(column, is_won=not cut and not too_long)
        rows.append(WinChance(name, means[name], interval))
    return WinEstimate(by, tuple(rows), number, cut, too_long, ALLOWANCE if cut else 0.0)


def interval_of(chances: Floats, *, is_won: bool) -> Interval:
    """Return the interval of the mean of games: Wilson's where all of them were won."""
    if is_won:
        return Estimate(len(chances), round(float(chances.sum()))).interval()
    mean, half = float(chances.mean()), Z * float(chances.std(ddof=1)) / sqrt(len(chances))
    return Interval(max(mean - half, 0.0), min(mean + half, 1.0))


def _certain(turn: Turn, by: str) -> WinEstimate:
    rows = (
        WinChance(name, float(name in turn.owners), Interval(*[float(name in turn.owners)] * 2))
        for name in turn.players
    )
    return WinEstimate(by, tuple(rows), 0, 0, 0, 0.0)
