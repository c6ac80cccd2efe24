"""Train the weights of both V on games of self-play.

    python -m benchmarks.train_war [SECONDS]

This takes SECONDS (default 600) on one processor core and writes `src/iacta/war/value.json`. Games
of 2 to 6 players are dealt on random boards and on the classic board, with sets that rise, with
fixed sets, with a house table and without cards. The first V learns from the usual player's tactics
with random aims in some turns, so that it sees the effect of each aim; the AIs choose aims by this
V. The second V learns from games of the usual AI and of the keeper, and scores games that are cut.
In some games of both, other opponents take some of the seats. A V trained on games of its own
choices would teach the player to wait.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import iacta
from iacta import Board, Continent, Holding, Position, Sets, Turn, classic_board
from iacta.native.core_library import load_library
from iacta.war.games import War
from iacta.war.players import PLAYERS, Player
from iacta.war.value import FEATURES_OF_PLAYERS, HIDDEN

FEATURES = len(FEATURES_OF_PLAYERS)
MAX_PLAYERS = load_library("the training of V").constant("MAX_PLAYERS")
GAMES_SHARE = 0.55  # the most time for games; the rest is for learning
TURNS_SHARE = 0.12  # the share of turns that are recorded
MOST_POSITIONS = 240_000
HOUSE_SETS = Sets((5, 7, 9, 11, 13, 15))
MIXED_SHARE = 0.3  # the share of games with other opponents in some seats
AIMED_SHARE = 0.4  # the share of turns with a random aim, for the first V
SAMPLES = 3  # fewer than the AIs have, for more games in the same time
HELD_OUT = 0.1
BATCH, RATE, DECAY = 1024, 2e-3, 1e-4
WEIGHTS_FILE = Path(iacta.__file__).parent / "war" / "value.json"
NAMES = ("red", "blue", "green", "black", "white", "pink")
SOURCES = (
    "benchmarks/train_war.py",
    "src/core/war/rules.hpp",
    "src/core/war/borders.hpp",
    "src/core/war/routes.hpp",
    "src/core/war/player.hpp",
    "benchmarks/opponents.py",
    "src/core/war/value.hpp",
    "src/core/war/games.hpp",
    "src/iacta/war/players.py",
)


def random_board(rng: Random, name: str = "random") -> Board:
    """Return a board of 12 to 60 territories in the plane, with continents of neighbours."""
    number = rng.randint(12, 60)
    points = [(rng.random(), rng.random()) for _ in range(number)]

    def apart(i: int, j: int) -> float:
        (a, b), (c, d) = points[i], points[j]
        return (a - c) ** 2 + (b - d) ** 2

    edges = set()
    for i in range(number):
        near = sorted((j for j in range(number) if j != i), key=lambda j: apart(i, j))
        edges |= {(min(i, j), max(i, j)) for j in near[: rng.choice((2, 3, 3))]}
    joined = {0}
    while len(joined) < number:
        joined |= {t for pair in edges if joined & {*pair} for t in pair}
        if len(joined) < number and not any(len(joined & {*pair}) == 1 for pair in edges):
            rest = [t for t in range(number) if t not in joined]
            pairs = ((i, j) for i in sorted(joined) for j in rest)
            i, j = min(pairs, key=lambda pair: apart(*pair))
            edges.add((min(i, j), max(i, j)))
    seeds = rng.sample(range(number), max(2, number // rng.randint(5, 9)))
    homes = [min(seeds, key=lambda seed: apart(t, seed)) for t in range(number)]
    continents = []
    for seed in seeds:
        lands = {t for t in range(number) if homes[t] == seed}
        border = {t for pair in edges if len(lands & {*pair}) == 1 for t in lands & {*pair}}
        bonus = max(1, round(len(lands) / 3 + len(border) / 3))
        continents.append(Continent(f"C{seed}", bonus, tuple(f"T{t}" for t in sorted(lands))))
    territories = tuple(f"T{t}" for t in range(number))
    borders = tuple((f"T{i}", f"T{j}") for pair in sorted(edges) for i, j in (pair, pair[::-1]))
    return Board(name, territories, borders, tuple(continents))


def start_of(board: Board, players: int, trade: Sets | None, *, has_cards: bool = True) -> Turn:
    """Return the end of a turn in a game of some players, as a start for dealing."""
    names = NAMES[:players]
    rows = [Holding(names[t % players], 3) for t in range(len(board.territories))]
    cards: dict[str, int] | None = {} if has_cards else None
    position = Position(board, names[0], rows)
    return Turn(position, phase="over", cards=cards, trade=trade, players=names)


def random_start(rng: Random) -> Turn:
    """Return a game on a random or the classic board, with a random kind of cards or without."""
    board = classic_board() if rng.random() < 0.4 else random_board(rng)
    trade = rng.choice((None, None, Sets(is_fixed=True), Sets(is_fixed=True), HOUSE_SETS))
    return start_of(board, rng.randint(2, 6), trade, has_cards=rng.random() < 0.85)


class Positions(NamedTuple):
    """Positions with the ends of their games.

    seen: the features of each player, 0 for eliminated and absent players.
    alive: whether each player is in the game.
    chances: the chances of each player at the end of the game.
    """

    seen: npt.NDArray[np.float32]
    alive: npt.NDArray[np.bool_]
    chances: npt.NDArray[np.float32]

    def part(self, rows: Any) -> "Positions":
        """Return some of the positions."""
        return Positions(self.seen[rows], self.alive[rows], self.chances[rows])


def played(player: Player, others: Sequence[Player], seconds: float, seed: int) -> Positions:
    """Return positions from some seconds of games of a player, in part against others."""
    rng, seen, chances = Random(seed), [], []
    ended = time.process_time() + seconds
    count = 0
    while time.process_time() < ended and count < MOST_POSITIONS:
        war = War(random_start(rng))
        number = len(war.seats)
        for _ in range(12):
            is_mixed = rng.random() < MIXED_SHARE
            seats = (
                rng.choice(others) if is_mixed and rng.random() < 0.5 else player
                for _ in range(number)
            )
            row, end = war.record_game(tuple(seats), share=TURNS_SHARE, seed=rng.getrandbits(63))
            seen.append(np.pad(row, ((0, 0), (0, MAX_PLAYERS - number), (0, 0))))
            padded = np.pad(end, (0, MAX_PLAYERS - number)).astype(np.float32)
            chances.append(np.broadcast_to(padded, (len(row), MAX_PLAYERS)))
            count += len(row)
    features = np.concatenate(seen)
    return Positions(features, np.any(features != 0, axis=2), np.concatenate(chances))


class Layers(NamedTuple):
    """The weights of V, as matrices."""

    first: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]
    second: npt.NDArray[np.float32]


def chances_of(
    layers: Layers, seen: npt.NDArray[np.float32], alive: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return V of positions, and the output of the hidden layer."""
    hidden = np.maximum(seen @ layers.first + layers.bias, 0)
    scores = np.where(alive, hidden @ layers.second, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), hidden


def learnt(positions: Positions, seconds: float, seed: int) -> tuple[Layers, float, float]:
    """Return weights by Adam, and their loss and that of equal chances on games left out."""
    rng = np.random.default_rng(seed)
    number = len(positions.seen)
    held = int(number * (1 - HELD_OUT))  # games are in order, so no game is in both parts
    layers = Layers(
        (rng.standard_normal((FEATURES, HIDDEN)) / np.sqrt(FEATURES)).astype(np.float32),
        np.zeros(HIDDEN, np.float32),
        (rng.standard_normal(HIDDEN) / np.sqrt(HIDDEN)).astype(np.float32),
    )
    means = [np.zeros_like(each) for each in layers]
    squares = [np.zeros_like(each) for each in layers]
    started, step, progress = time.process_time(), 0, 0.0
    while progress < 1:
        for rows in np.array_split(rng.permutation(held), max(held // BATCH, 1)):
            seen, alive, wanted = positions.part(rows)
            found, hidden = chances_of(layers, seen, alive)
            error = (found - wanted) / len(rows)
            back = error[:, :, np.newaxis] * layers.second * (hidden > 0)
            slopes = (
                np.einsum("npf,nph->fh", seen, back, optimize=True),
                back.sum(axis=(0, 1)),
                np.einsum("np,nph->h", error, hidden, optimize=True),
            )
            step += 1
            rate = RATE * (1 - progress) + 1e-5
            for weight, slope, mean, square in zip(layers, slopes, means, squares, strict=True):
                slope = slope + DECAY * weight
                mean += 0.1 * (slope - mean)
                square += 0.001 * (slope**2 - square)
                weight -= (
                    rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
                )
            progress = (time.process_time() - started) / seconds
            if progress >= 1:
                break
    seen, alive, wanted = positions.part(slice(held, None))
    found, _ = chances_of(layers, seen, alive)
    equal = alive / alive.sum(axis=1, keepdims=True)
    return layers, _loss(found, wanted), _loss(equal, wanted)


def _loss(found: npt.NDArray[np.float32], wanted: npt.NDArray[np.float32]) -> float:
    return float(-(wanted * np.log(np.maximum(found, 1e-9))).sum(axis=1).mean())


def main(seconds: float = 600.0) -> None:
    """Train both V, and write their weights with the settings of the training."""
    root = Path(__file__).parent.parent
    from benchmarks.opponents import OPPONENTS

    weights: dict[str, list[float]] = {}
    bots = [*OPPONENTS.values()]
    learner = Path(tempfile.mkdtemp()) / "value.json"
    usual, keeper = (
        replace(PLAYERS[each], samples=SAMPLES, value=learner) for each in ("usual", "keeper")
    )
    explorer = replace(usual, samples=-AIMED_SHARE, value=None)
    for seed, (name, player, others) in enumerate(
        (("choosing", explorer, bots), ("ending", usual, [keeper, keeper, *bots]))
    ):
        ended = time.process_time() + seconds * (0.4, 0.6)[seed]
        positions = played(player, others, (ended - time.process_time()) * GAMES_SHARE, seed)
        layers, loss, equal = learnt(positions, ended - time.process_time(), seed)
        flat = np.concatenate([each.ravel() for each in layers])
        weights[name] = [float(f"{each:.5g}") for each in flat]
        learner.write_text(json.dumps({"weights": weights}), encoding="utf-8")
        print(f"{name}: {len(positions.seen):,} positions, loss {loss:.4f}, if equal {equal:.4f}")
    made_by = hashlib.sha256(b"".join((root / each).read_bytes() for each in SOURCES))
    record = {
        "made by": f"python -m benchmarks.train_war {seconds:g}",
        "SHA-256 of what made it": made_by.hexdigest(),
        "features": FEATURES_OF_PLAYERS,
        "weights": weights,
    }
    WEIGHTS_FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
