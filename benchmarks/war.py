"""The whole game: how fast it is played, how good the players and the estimates are.

What takes hours with many games is measured with few of them here, and the noise of the few is
taken off where that can be done: the number at the end of each row says how many there were.
"""

import time
from collections.abc import Iterator
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.measure import Mark
from benchmarks.train_war import random_board, start_of
from iacta import Board, Sets, Turn, best_goals, classic_board, tournament
from iacta.estimate import Estimate
from iacta.game import Action
from iacta.war.chances import CUT_AFTER, Z
from iacta.war.core import TOO_LONG, PlayedGames, War
from iacta.war.goals import GAMES, words_of
from iacta.war.players import PLAYERS
from iacta.war.value import weights_of

POSITIONS, FEW_POSITIONS, COMPLETE, CUT_GAMES = 20, 10, 400, 800
REPEATS, GAMES_OF_A_REPEAT = 300, 100
TENTHS = 10
GOAL_POSITIONS, GAMES_OF_A_GOAL = 4, 600


def games_of(
    turn: Turn, names: list[str], games: int, seed: int, **more: int | bool
) -> PlayedGames:
    """Return games of named players from a turn on."""
    return War(turn).games(
        tuple(PLAYERS[each] for each in names),
        weights_of("choosing"),
        weights_of("ending"),
        games=games,
        seed=seed,
        **more,  # type: ignore[arg-type] # cut and is_dealt
    )


def middle_of(board: Board, players: int, seed: int) -> Turn:
    """Return a turn some rounds into a game of simple players."""
    turn = start_of(board, players, None)
    rng = Random(seed)
    held = list(turn.owners)
    rng.shuffle(held)
    turn = turn._changed(owners=tuple(held)).next()
    for _ in range(rng.randint(players, 4 * players)):
        after = War(turn).play_turn(PLAYERS["simple"], None, rng.getrandbits(60)).end
        if after.winner is not None:
            break
        turn = after.next()
    return turn


def speed_lines() -> Iterator[Mark]:
    """Measure turns, and the time that four players take to +-2 points."""
    start = start_of(classic_board(), 4, None)
    for name, games, asked in (("simple", 400, 10.0), ("usual", 60, 100.0)):
        begun = time.process_time()
        found = games_of(start, [name] * 4, games, 1, is_dealt=True)
        turns = _turns(start, found)
        micro = 1e6 * (time.process_time() - begun) / turns
        yield Mark(f"a turn of {name}, microseconds", micro, asked, False, turns)
    needed = list[float]()
    for seed in range(8):
        turn = middle_of(classic_board(), 4, seed)
        number = len(War(turn).seats)
        begun = time.process_time()
        found = games_of(turn, ["usual"] * number, 100, 1, cut=CUT_AFTER)
        each = (time.process_time() - begun) / 100
        needed.append(each * (Z * float(found.chances.std(axis=0, ddof=1).max()) / 0.02) ** 2)
    yield Mark("four players to +-2 points, seconds, mean", fmean(needed), 1.0, False, 8)
    yield Mark("the same, worst", max(needed), None, False, 8)


def _turns(start: Turn, found: PlayedGames) -> int:
    """Return about how many turns games took: players are eliminated at even distances."""
    players = len(start.players)
    return int((found.rounds + 1).sum() * (players + 2) / 2)


def player_lines() -> Iterator[Mark]:
    """Measure who wins how often, dealt anew and seats in turn."""
    for one, other, players, games, asked in (
        ("usual", "simple", 4, 1200, 0.55),
        ("yardstick", "simple", 6, 9000, 0.25),
        ("usual", "yardstick", 6, 1200, 0.30),
    ):
        start = start_of(classic_board(), players, None)
        wins = 0.0
        for seat in range(players):
            names = [other] * players
            names[seat] = one
            found = games_of(start, names, games // players, 50 + seat, is_dealt=True)
            wins += float((found.chances[:, seat] == 1).sum())
        claim = f"{one} among {players - 1} of {other}, share of games won"
        yield Mark(claim, wins / games, asked, True, games)
    rng = Random(4)

    def at_random(turn: Turn) -> Action:
        actions = turn.actions()
        return actions[rng.randrange(len(actions))]

    start = start_of(classic_board(), 4, None).next()
    first, *_ = tournament(["simple", *[at_random] * 3], start, games=8, seed=1)
    yield Mark("simple among three random, share of games won", first.wins / 8, 0.9, True, 8)


def length_lines() -> Iterator[Mark]:
    """Measure how many games of the usual player are not over after 200 rounds."""
    long = games = 0
    for players in range(2, 7):
        for trade in (None, Sets(is_fixed=True)):
            start = start_of(classic_board(), players, trade)
            found = games_of(start, ["usual"] * players, 40, 9, is_dealt=True)
            long += int((found.ended == TOO_LONG).sum())
            games += 40
    yield Mark("usual games over 200 rounds, share", long / games, 0.001, False, games)


def cut_lines() -> Iterator[Mark]:
    """Measure how far games that are cut are from complete ones of the same player."""
    rng = Random(8)
    for words, boards, positions, asked in (
        ("classic board", [classic_board()], POSITIONS, 0.03),
        ("boards not seen", [random_board(rng) for _ in range(5)], FEW_POSITIONS, 0.04),
    ):
        apart, noise, worst = list[float](), list[float](), 0.0
        for k in range(positions):
            turn = middle_of(boards[k % len(boards)], 2 + k % 5, 100 + k)
            names = ["usual"] * len(War(turn).seats)
            whole = games_of(turn, names, COMPLETE, 5).chances
            cut = games_of(turn, names, CUT_GAMES, 6, cut=CUT_AFTER).chances
            difference = cut.mean(axis=0) - whole.mean(axis=0)
            apart += (difference**2).tolist()
            noise += (whole.var(axis=0) / COMPLETE + cut.var(axis=0) / CUT_GAMES).tolist()
            worst = max(worst, float(np.abs(difference).max()))
        rms = max(fmean(apart) - fmean(noise), 0.0) ** 0.5
        yield Mark(f"cut against complete, {words}, rms", rms, asked, False, positions)
        yield Mark(
            f"the same with noise, {words}, rms",
            float(np.sqrt(np.mean(apart))),
            None,
            False,
            positions,
        )
        yield Mark(f"the same with noise, {words}, worst", worst, None, False, positions)


def calibration_lines() -> Iterator[Mark]:
    """Measure V on new games, tenth by tenth."""
    rng = Random(77)
    for name, player, games in (("choosing", "simple", 600), ("ending", "usual", 150)):
        found, happened = [], []
        for k in range(games // 5):
            turn = start_of(classic_board(), 2 + k % 5, None)
            war = War(turn)
            for _ in range(5):
                rows, ends = war.record(
                    (PLAYERS[player],) * len(war.seats),
                    weights_of("choosing"),
                    share=0.1,
                    seed=rng.getrandbits(60),
                )
                for row in rows:
                    alive = row.any(axis=1)
                    chances = _softmax(row, alive, name)
                    found += chances[alive].tolist()
                    happened += ends[alive].tolist()
        tenths = np.minimum((np.array(found) * TENTHS).astype(int), TENTHS - 1)
        over = 0.0
        for tenth in range(TENTHS):
            inside = tenths == tenth
            if inside.sum() > 1:
                wanted, got = np.array(found)[inside], np.array(happened)[inside]
                apart = abs(float(got.mean() - wanted.mean()))
                # About ten positions of a game share its end.
                error = float(got.std()) / np.sqrt(max(inside.sum() / 10, 1))
                over = max(over, apart / max(0.02, 2 * error))
        claim = f"V {name}, worst tenth, of 2 points or 2 standard errors"
        yield Mark(claim, over, 1.0, False, len(found))


def _softmax(row: np.ndarray, alive: np.ndarray, name: str) -> np.ndarray:
    weights = weights_of(name)
    first = weights[: row.shape[1] * 32].reshape(row.shape[1], 32)
    bias, second = weights[row.shape[1] * 32 :].reshape(2, 32)
    scores = np.where(alive, np.maximum(row @ first + bias, 0) @ second, -np.inf)
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def interval_lines() -> Iterator[Mark]:
    """Measure how often the intervals of complete games cover the chance, and what armies do."""
    turn = middle_of(classic_board(), 3, 21)
    names = ["simple"] * len(War(turn).seats)
    number = REPEATS * GAMES_OF_A_REPEAT
    won = games_of(turn, names, number, 3).chances[:, 0] == 1
    chance = float(won.mean())
    covered = 0
    for part in won.reshape(REPEATS, -1):
        low, high = Estimate(len(part), int(part.sum())).interval()
        covered += low <= chance <= high
    yield Mark("95% intervals of complete games cover", covered / REPEATS, 0.93, True, REPEATS)
    yield Mark("the same, at most", covered / REPEATS, 0.97, False, REPEATS)
    lower = 0
    for k in range(POSITIONS):
        turn = middle_of(classic_board(), 2 + k % 5, 300 + k)
        more = list(turn.armies)
        more[turn.owners.index(turn.player)] += 10
        seats = War(turn).seats
        usual, mover = ["usual"] * len(seats), seats.index(turn.player)
        before = games_of(turn, usual, 150, 2, cut=CUT_AFTER).chances[:, mover]
        after = games_of(turn._changed(armies=tuple(more)), usual, 150, 2, cut=CUT_AFTER)
        gained = after.chances[:, mover] - before
        lower += gained.mean() + Z * gained.std(ddof=1) / np.sqrt(len(gained)) < 0
    yield Mark(
        "ten more armies make the chance clearly lower", lower / POSITIONS, 0.05, False, POSITIONS
    )


def goal_lines() -> Iterator[Mark]:
    """Measure how far the best of some goals is from the best by many more games."""
    fit = 0
    for seed in range(GOAL_POSITIONS):
        turn = middle_of(classic_board(), 4, 40 + seed)
        found = best_goals(turn, games=GAMES, seed=seed)
        war = War(turn)
        mover, usual = war.seats.index(turn.player), PLAYERS["usual"]
        wins = {}
        for aim in war.aims(usual):
            games = war.games(
                (usual,) * len(war.seats),
                weights_of("choosing"),
                weights_of("ending"),
                games=GAMES_OF_A_GOAL,
                seed=1000 + seed,
                aim=aim,
                cut=CUT_AFTER,
            )
            wins[words_of(war, aim)] = float(games.chances[:, mover].mean())
        is_near = wins[found.best.goal] > max(wins.values()) - 0.01
        fit += is_near or any(wins[each.goal] == max(wins.values()) for each in found.unclear)
    claim = "best goals within a point of the best, or unclear"
    yield Mark(claim, fit / GOAL_POSITIONS, 1.0, True, GOAL_POSITIONS)


MEASURES = (
    speed_lines,
    player_lines,
    length_lines,
    cut_lines,
    calibration_lines,
    interval_lines,
    goal_lines,
)
