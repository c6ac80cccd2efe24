"""Benchmarks of whole games: their speed, and the quality of the AIs and of the estimates.

`python -m benchmarks.record_war` records slow measurements once: the results of complete games from
recorded positions, and the value of each goal of a turn. `make bench GROUP=war` measures the rest.
The last number of each row is the number of samples.
"""

import json
import time
from collections.abc import Iterator
from functools import cache
from math import hypot
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.deals import NAMES, draw_board, make_finished_game
from benchmarks.measure import Measurement
from benchmarks.opponents import count_capital_wins, count_match_wins, find_row
from iacta import (
    Board,
    Missions,
    Position,
    Sets,
    Share,
    Turn,
    best_goals,
    classic_board,
    tournament,
)
from iacta.game import Action
from iacta.probability.estimate import NORMAL_QUANTILE, Estimate
from iacta.war.chances import CUT_ROUNDS, ESTIMATE_GAMES, compute_interval_of_results
from iacta.war.games import PlayedGames, War
from iacta.war.goals import DEFAULT_GAMES
from iacta.war.players import PLAYERS
from iacta.war.value import load_weights

REFERENCE = Path(__file__).with_name("war_reference.json")
SEED = 5  # recorded games and games cut short have the same dice
REPEATS, GAMES_OF_A_REPEAT = 1000, 100
STRONGER, GAMES_OF_STRONGER = 200, 40
OF_A_LENGTH = 250  # number of games for each number of players and each kind of card sets
SMALL_BOARDS, OF_A_SMALL_BOARD = 20, 40
RANDOM_GAMES = 300
OF_A_WAY_TO_WIN = 200
RENAMED, RENAMED_GAMES = 50, 1000
ONE_IN_A_THOUSAND = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52}  # critical values of χ²
TENTHS = 10
GAMES_OF_A_START = 5  # games from each start when calibration is measured


class Recorded(NamedTuple):
    """A recorded position and the results of many games from it.

    seed: the seed of the random board; `None` for the classic board.
    code: the code of the turn.
    winners: for each complete game of the usual AI, the number of the seat that won.
    wins: for each goal and each way to play the goal, the mover's chance to win the game.
    """

    seed: int | None
    code: str
    winners: str
    wins: dict[str, float]

    @property
    def turn(self) -> Turn:
        """The turn."""
        board = classic_board() if self.seed is None else draw_board(Random(self.seed))
        return Turn.from_code(self.code, board)


@cache
def read_recorded() -> dict[str, list[Recorded]]:
    """Return the recorded positions by group: `classic`, `fixed`, `unseen` and `goals`."""
    record: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return {
        name: [Recorded(**each) for each in record[name]]
        for name in ("classic", "fixed", "unseen", "goals")
    }


def start_games(
    turn: Turn, names: list[str], games: int, seed: int, **more: int | bool
) -> PlayedGames:
    """Return games of the named AIs that start from a turn."""
    return War(turn).play_games(
        tuple(find_row(each) for each in names),
        games=games,
        seed=seed,
        **more,  # type: ignore[arg-type] # cut and is_dealt
    )


def play_to_middle(board: Board, players: int, seed: int, trade: Sets | None = None) -> Turn:
    """Return a turn after a few rounds of a game of simple AIs."""
    turn = make_finished_game(board, players, trade)
    rng = Random(seed)
    held = list(turn.owners)
    rng.shuffle(held)
    turn = turn.replace_armies(tuple(held), turn.armies).next()
    for _ in range(rng.randint(players, 4 * players)):
        after = War(turn).play_turn(PLAYERS["simple"], rng.getrandbits(60)).end
        if after.winner is not None:
            break
        turn = after.next()
    return turn


def measure_speed() -> Iterator[Measurement]:
    """Measure the time per turn, and the time to estimate chances to within 2 points."""
    start = make_finished_game(classic_board(), 4, None)
    for name, games, asked in (("simple", 400, 10.0), ("usual", 40, 100.0)):
        micro = list[float]()
        for _ in range(5):
            begun = time.process_time()
            found = start_games(start, [name] * 4, games, 1, is_dealt=True)
            micro.append(1e6 * (time.process_time() - begun) / _estimate_turns(start, found))
        claim = f"a turn of {name}, microseconds, fastest of 5"
        yield Measurement(claim, min(micro), asked, False, _estimate_turns(start, found))
    needed = list[float]()
    for seed in range(8):
        turn = play_to_middle(classic_board(), 4, seed)
        number = len(War(turn).seats)
        begun = time.process_time()
        found = start_games(turn, ["usual"] * number, 100, 1, cut=CUT_ROUNDS)
        each = (time.process_time() - begun) / 100
        needed.append(
            each * (NORMAL_QUANTILE * float(found.chances.std(axis=0, ddof=1).max()) / 0.02) ** 2
        )
    yield Measurement("four players to +-2 points, seconds, mean", fmean(needed), 1.0, False, 8)
    yield Measurement("the same, worst", max(needed), None, False, 8)


def _estimate_turns(start: Turn, found: PlayedGames) -> int:
    """Estimate the number of turns in some games, assuming evenly spaced eliminations."""
    players = len(start.players)
    return int((found.rounds + 1).sum() * (players + 2) / 2)


def measure_players() -> Iterator[Measurement]:
    """Measure how often each AI wins from random deals, with rotating seats."""
    for one, other, players, games, asked in (
        ("usual", "simple", 4, 2400, 0.55),
        ("yardstick", "simple", 6, 30_000, 0.25),
        ("usual", "yardstick", 6, 2400, 0.30),
    ):
        start = make_finished_game(classic_board(), players, None)
        wins = 0.0
        for seat in range(players):
            names = [other] * players
            names[seat] = one
            found = start_games(start, names, games // players, 50 + seat, is_dealt=True)
            wins += float((found.chances[:, seat] == 1).sum())
        claim = f"{one} among {players - 1} of {other}, share of games won"
        yield Measurement(claim, wins / games, asked, True, games)
    rng = Random(4)

    def at_random(turn: Turn) -> Action:
        actions = turn.actions()
        return actions[rng.randrange(len(actions))]

    start = make_finished_game(classic_board(), 4, None).next()
    first, *_ = tournament(["simple", *[at_random] * 3], start, games=RANDOM_GAMES, seed=1)
    claim = "simple among three random, share of games won"
    yield Measurement(claim, first.wins / RANDOM_GAMES, 0.9, True, RANDOM_GAMES)


def measure_strong() -> Iterator[Measurement]:
    """Measure how often the strong AI wins among usual AIs, for each way to win."""
    strong, usual, seed = PLAYERS["strong"], PLAYERS["usual"], 480
    for way, victory in (
        ("by survival", None),
        ("by 70% of the map", Share("70%")),
        ("by hidden missions", Missions(dict.fromkeys(NAMES[:4], "hidden"))),
    ):
        wins = count_match_wins(strong, usual, 4, None, OF_A_WAY_TO_WIN, seed, victory)
        claim = f"strong among 3 of usual, share of games won {way}"
        yield Measurement(claim, wins / OF_A_WAY_TO_WIN, 0.3, True, OF_A_WAY_TO_WIN)
    wins = count_capital_wins(strong, usual, 4, None, OF_A_WAY_TO_WIN, seed)
    claim = "strong among 3 of usual, share of games won by capitals"
    yield Measurement(claim, wins / OF_A_WAY_TO_WIN, 0.3, True, OF_A_WAY_TO_WIN)


def measure_long_games() -> Iterator[Measurement]:
    """Measure the share of games that are not over after 200 rounds."""
    long = games = 0
    for players in range(2, 7):
        for trade in (None, Sets(is_fixed=True)):
            start = make_finished_game(classic_board(), players, trade)
            found = start_games(start, ["usual"] * players, OF_A_LENGTH, 9, is_dealt=True)
            long += int(found.is_too_long.sum())
            games += OF_A_LENGTH
    yield Measurement("usual games over 200 rounds, share", long / games, 0.001, False, games)
    for name in ("usual", "simple"):
        long = games = 0
        for seed in range(SMALL_BOARDS):
            start = make_finished_game(
                small_board(4 + seed % 5, seed), 2, None, with_cards=seed % 2 == 0
            )
            found = start_games(start, [name] * 2, OF_A_SMALL_BOARD, 9, is_dealt=True)
            long += int(found.is_too_long.sum())
            games += OF_A_SMALL_BOARD
        claim = f"{name} games over 200 rounds on 4 to 8 territories"
        yield Measurement(claim, long / games, 0.001, False, games)


def small_board(territories: int, seed: int) -> Board:
    """Return a ring of territories in two continents or, for every fourth seed, a line."""
    ring = [(f"T{t}", f"T{(t + 1) % territories}") for t in range(territories)]
    names = [name for name, _ in ring]
    half = territories // 2
    continents = {"A": (2, names[:half]), "B": (2, names[half:])}
    return Board.from_edges("small", ring if seed % 4 else ring[:-1], continents=continents)


def measure_cuts() -> Iterator[Measurement]:
    """Compare games of an estimate with complete games with the same dice.

    The last rows count how often the interval of an estimate contains the result of complete games
    with other dice, whose noise is added to the interval.
    """
    within = list[bool]()
    for name, words, asked in (
        ("classic", "classic board", 0.04),
        ("fixed", "fixed sets", 0.045),
        ("unseen", "boards not seen in training", 0.05),
    ):
        apart, noise = list[float](), list[float]()
        for each in read_recorded()[name]:
            turn, games = each.turn, len(each.winners)
            seats = range(len(War(turn).seats))
            won = np.array([[winner == str(seat) for seat in seats] for winner in each.winners])
            cut = start_games(turn, ["usual"] * len(seats), games, SEED, cut=CUT_ROUNDS).chances
            apart += (cut - won).mean(axis=0).tolist()
            noise += ((cut - won).var(axis=0) / games).tolist()
            first = start_games(
                turn, ["usual"] * len(seats), ESTIMATE_GAMES, SEED + 1, cut=CUT_ROUNDS
            )
            for seat, results in enumerate(first.chances.T):
                low, high = compute_interval_of_results(results, int(first.is_cut.sum()))
                wins = float(won[:, seat].mean())
                half = hypot((high - low) / 2, NORMAL_QUANTILE * (wins * (1 - wins) / games) ** 0.5)
                within.append(abs(wins - (low + high) / 2) <= half)
        number, squares = len(read_recorded()[name]), float(np.square(apart).mean())
        rms, worst = max(squares - fmean(noise), 0.0) ** 0.5, float(np.abs(apart).max())
        yield Measurement(f"cut against complete, {words}, rms", rms, asked, False, number)
        yield Measurement("the same, worst, with noise", worst, None, False, number)
        yield Measurement("the noise, rms", fmean(noise) ** 0.5, None, False, number)
    claim = "intervals of estimates cover complete games"
    yield Measurement(claim, fmean(within), 0.95, True, len(within))


def measure_calibration() -> Iterator[Measurement]:
    """Measure the calibration of V on new games, for each tenth of its values."""
    rng = Random(77)
    for name, player, number, trade in (
        ("choosing", "simple", 600, None),
        ("ending", "usual", 900, None),
        ("ending", "usual", 900, Sets(is_fixed=True)),
    ):
        found, happened, games = list[float](), list[float](), list[int]()
        for k in range(number):
            if k % GAMES_OF_A_START == 0:
                players = 2 + k // GAMES_OF_A_START % 5
                war = War(make_finished_game(classic_board(), players, trade))
            row = (PLAYERS[player],) * len(war.seats)
            seen, ends = war.record_game(row, sample_chance=0.1, seed=rng.getrandbits(60))
            for position in seen:
                alive = position.any(axis=1)
                found += _softmax(position, alive, name)[alive].tolist()
                happened += ends[alive].tolist()
                games += [k] * int(alive.sum())
        chances, wins, game = np.array(found), np.array(happened), np.array(games)
        tenths = np.minimum((chances * TENTHS).astype(int), TENTHS - 1)
        over = 0.0
        for inside in (tenths == tenth for tenth in range(TENTHS) if tenth in tenths):
            apart = abs(float((wins - chances)[inside].mean()))
            # Count games, because the positions of a game share its result. Use the variance that V
            # predicts, because a few results may all be equal.
            variance = float((chances * (1 - chances))[inside].mean())
            error = (variance / len(np.unique(game[inside]))) ** 0.5
            over = max(over, apart / max(0.02, 2 * error))
        sets = "fixed" if trade else "rising"
        claim = f"V {name}, {sets} sets, worst tenth: error / (2 points or 2 standard errors)"
        yield Measurement(claim, over, 1.0, False, len(found))


def _softmax(row: np.ndarray, alive: np.ndarray, name: str) -> np.ndarray:
    weights = load_weights(name)
    first = weights[: row.shape[1] * 32].reshape(row.shape[1], 32)
    bias, second = weights[row.shape[1] * 32 :].reshape(2, 32)
    scores = np.where(alive, np.maximum(row @ first + bias, 0) @ second, -np.inf)
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def measure_intervals() -> Iterator[Measurement]:
    """Measure the coverage of intervals, and how often additional armies lower a chance."""
    turn = play_to_middle(classic_board(), 3, 21)
    names = ["simple"] * len(War(turn).seats)
    number = REPEATS * GAMES_OF_A_REPEAT
    won = start_games(turn, names, number, 3).chances[:, 0] == 1
    chance = float(won.mean())
    covered = 0
    for part in won.reshape(REPEATS, -1):
        low, high = Estimate(len(part), int(part.sum())).interval()
        covered += low <= chance <= high
    yield Measurement(
        "95% intervals of complete games cover", covered / REPEATS, 0.93, True, REPEATS
    )
    yield Measurement("the same, at most", covered / REPEATS, 0.97, False, REPEATS)
    lower = 0
    for k in range(STRONGER):
        turn = play_to_middle(classic_board(), 2 + k % 5, 300 + k)
        more = list(turn.armies)
        more[turn.owners.index(turn.player)] += 10
        seats, games = War(turn).seats, GAMES_OF_STRONGER
        usual, mover = ["usual"] * len(seats), seats.index(turn.player)
        before = start_games(turn, usual, games, 2, cut=CUT_ROUNDS).chances[:, mover]
        after = start_games(
            turn.replace_armies(turn.owners, tuple(more)), usual, games, 2, cut=CUT_ROUNDS
        )
        gained = after.chances[:, mover] - before
        lower += gained.mean() + NORMAL_QUANTILE * gained.std(ddof=1) / np.sqrt(games) < 0
    claim = "ten more armies make the chance clearly lower, share"
    yield Measurement(claim, lower / STRONGER, 0.025, False, STRONGER)


def list_next_names(turn: Turn) -> dict[str, str]:
    """For each player, return the name of the next player."""
    return dict(zip(turn.players, (*turn.players[1:], turn.players[0]), strict=True))


def rename_players(turn: Turn) -> Turn:
    """Return the start of a turn in which every player has the next player's name."""
    other = list_next_names(turn)
    rows = zip(turn.board.territories, turn.owners, turn.armies, strict=True)
    return Turn(
        Position(turn.board, other[turn.player], {t: (other[o], n) for t, o, n in rows}),
        place=turn.place,
        phase="trade" if turn.phase == "trade" else None,
        cards={other[name]: hand for name, hand in (turn.cards or {}).items()},
        trade=turn.trade,
        players=turn.players,
    )


def measure_renamed() -> Iterator[Measurement]:
    """Measure how much the names and numbers of players influence V and wins."""
    apart, ending = 0.0, load_weights("ending")
    for k in range(RENAMED):
        turn = play_to_middle(classic_board(), 2 + k % 5, 700 + k)
        other, one, again = list_next_names(turn), War(turn), War(rename_players(turn))
        wanted = dict(zip(map(other.get, one.seats), one.judge(ending)[0].tolist(), strict=True))
        for name, chance in zip(again.seats, again.judge(ending)[0].tolist(), strict=True):
            apart = max(apart, abs(wanted[name] - chance))
    yield Measurement("V of renamed players, largest difference", apart, 1e-12, False, RENAMED)
    turn = play_to_middle(classic_board(), 4, 7)
    other, again = list_next_names(turn), War(rename_players(turn))
    for name in ("simple", "usual"):
        usual = [name] * len(again.seats)
        before = (start_games(turn, usual, RENAMED_GAMES, 0).chances == 1).sum(axis=0)
        after = (start_games(again.turn, usual, RENAMED_GAMES, 1).chances == 1).sum(axis=0)
        places = [again.seats.index(other[each]) for each in War(turn).seats]
        wins = np.array([before, after[places]], dtype=float)
        wins = wins[:, wins.any(axis=0)]
        expected = wins.mean(axis=0)
        found = float((np.square(wins - expected) / expected).sum())
        most = ONE_IN_A_THOUSAND[wins.shape[1] - 1]
        claim = f"games of renamed players, {name}, chi-square"
        yield Measurement(claim, found, most, False, 2 * RENAMED_GAMES)


def measure_goals() -> Iterator[Measurement]:
    """Measure how often the recommended goal is within a point of the best recorded goal."""
    fit = near = 0
    positions = read_recorded()["goals"]
    for seed, each in enumerate(positions):
        found = best_goals(each.turn, games=DEFAULT_GAMES, seed=seed)
        best, wins = found.best, each.wins
        most = max(wins.values())
        unclear = {row.goal for row in found.unclear}
        is_near = wins[f"{best.goal}, {best.how}"] > most - 0.01
        near += is_near
        fit += is_near or any(
            way.rpartition(", ")[0] in unclear for way, win in wins.items() if win == most
        )
    claim = "best goals within a point of the best, or unclear"
    yield Measurement(claim, fit / len(positions), 1.0, True, len(positions))
    yield Measurement("of these within a point", near / len(positions), None, True, len(positions))


MEASURES = (
    measure_speed,
    measure_players,
    measure_strong,
    measure_long_games,
    measure_cuts,
    measure_calibration,
    measure_intervals,
    measure_renamed,
    measure_goals,
)
