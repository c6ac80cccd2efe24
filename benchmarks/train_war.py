"""Train a set of weights of the value function V on games of self-play.

    python -m benchmarks.train_war SECONDS NAME

This trains the weights NAME (`choosing`, `missions` or `ending`) for SECONDS on one processor core,
and writes them into `src/iacta/war/value.json`; train `choosing` before `ending`. Games of 2 to 6
players are dealt on random boards and on the classic board, with rising sets, fixed sets, house
rules for sets, or no cards. In four of ten games, a share of the territories, capitals or missions
win. `choosing` and `missions` are learnt from the tactics of the usual AI with random aims in some
turns, so that V sees the effect of each aim. `ending` is learnt from games of the usual AI and of
the keeper. In some games, other opponents take some of the seats. If V were trained on games in
which it made the choices, it would teach the AI to wait. With some seeds it does so anyway:
compare the length of games before you replace `choosing`.
"""

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import iacta
from benchmarks.deals import draw_finished_game
from benchmarks.opponents import OPPONENTS
from iacta.native.core_library import load_library
from iacta.war.games import War
from iacta.war.players import PLAYERS, Player
from iacta.war.value import FEATURES_OF_PLAYERS, HIDDEN

FEATURES = len(FEATURES_OF_PLAYERS)
MAX_PLAYERS = load_library("the training of V").constant("MAX_PLAYERS")
# The seeds of the games and of the first weights.
SEEDS = {"choosing": 0, "missions": 0, "ending": 1}
GAMES_SHARE = 0.55  # fraction of the time for games; the rest is for learning
TURNS_SHARE = 0.12  # fraction of turns that are recorded
MAX_POSITIONS = 900_000
MIXED_SHARE = 0.3  # fraction of games with other opponents in some seats
AIMED_SHARE = 0.4  # fraction of turns with a random aim, for the first V
SAMPLES = 3  # fewer samples than in other games, to train on more games
HELD_OUT = 0.1
BATCH, RATE, DECAY = 1024, 2e-3, 1e-4
WEIGHTS_FILE = Path(iacta.__file__).parent / "war" / "value.json"
SOURCES = (
    "benchmarks/train_war.py",
    "benchmarks/deals.py",
    "src/core/war/rules.hpp",
    "src/core/war/borders.hpp",
    "src/core/war/routes.hpp",
    "src/core/war/player.hpp",
    "benchmarks/opponents.py",
    "src/core/war/value.hpp",
    "src/core/war/games.hpp",
    "src/iacta/war/players.py",
)


class Positions(NamedTuple):
    """Positions and the results of their games.

    seen: the features of each player; 0 for eliminated and absent players.
    alive: whether each player is in the game.
    chances: the chance of each player at the end of the game.
    """

    seen: npt.NDArray[np.float32]
    alive: npt.NDArray[np.bool_]
    chances: npt.NDArray[np.float32]

    def part(self, rows: Any) -> "Positions":
        """Return the selected positions."""
        return Positions(self.seen[rows], self.alive[rows], self.chances[rows])


def collect_positions(
    player: Player, others: Sequence[Player], seconds: float, seed: int
) -> Positions:
    """Return positions from games of an AI; some games are against other opponents."""
    rng, seen, chances = Random(seed), [], []
    ended = time.process_time() + seconds
    count = 0
    while time.process_time() < ended and count < MAX_POSITIONS:
        war = War(draw_finished_game(rng))
        number = len(war.seats)
        for _ in range(12):
            is_mixed = rng.random() < MIXED_SHARE
            seats = (
                rng.choice(others) if is_mixed and rng.random() < 0.5 else player
                for _ in range(number)
            )
            row, end = war.record_game(
                tuple(seats), sample_chance=TURNS_SHARE, seed=rng.getrandbits(63)
            )
            seen.append(np.pad(row, ((0, 0), (0, MAX_PLAYERS - number), (0, 0))))
            padded = np.pad(end, (0, MAX_PLAYERS - number)).astype(np.float32)
            chances.append(np.broadcast_to(padded, (len(row), MAX_PLAYERS)))
            count += len(row)
    features = np.concatenate(seen)
    return Positions(features, np.any(features != 0, axis=2), np.concatenate(chances))


class Layers(NamedTuple):
    """The weights of V as matrices."""

    first: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]
    second: npt.NDArray[np.float32]


def compute_chances(
    layers: Layers, seen: npt.NDArray[np.float32], alive: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return V of some positions, and the output of the hidden layer."""
    hidden = np.maximum(seen @ layers.first + layers.bias, 0)
    scores = np.where(alive, hidden @ layers.second, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), hidden


def train_layers(positions: Positions, seconds: float, seed: int) -> tuple[Layers, float, float]:
    """Train weights with Adam.

    Return the weights, their loss on held-out games, and the loss of equal chances on these games.
    """
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
            found, hidden = compute_chances(layers, seen, alive)
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
    found, _ = compute_chances(layers, seen, alive)
    equal = alive / alive.sum(axis=1, keepdims=True)
    return layers, _loss(found, wanted), _loss(equal, wanted)


def _loss(found: npt.NDArray[np.float32], wanted: npt.NDArray[np.float32]) -> float:
    return float(-(wanted * np.log(np.maximum(found, 1e-9))).sum(axis=1).mean())


def main(seconds: float, name: str) -> None:
    """Train one of the value functions, and write its weights with the settings of the training."""
    root = Path(__file__).parent.parent
    record = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    weights: dict[str, list[float]] = record["weights"]
    bots = [*OPPONENTS.values()]
    usual, keeper = (replace(PLAYERS[each], samples=SAMPLES) for each in ("usual", "keeper"))
    player = usual if name == "ending" else replace(usual, samples=-AIMED_SHARE)
    others = [keeper, keeper, *bots] if name == "ending" else bots
    ended = time.process_time() + seconds
    positions = collect_positions(player, others, seconds * GAMES_SHARE, SEEDS[name])
    layers, loss, equal = train_layers(positions, ended - time.process_time(), SEEDS[name])
    weights[name] = [
        float(f"{each:.5g}") for each in np.concatenate([layer.ravel() for layer in layers])
    ]
    lost = f"loss {loss:.4f}, with equal chances {equal:.4f}"
    print(f"{name}: {len(positions.seen):,} positions, {lost}")
    made_by = hashlib.sha256(b"".join((root / each).read_bytes() for each in SOURCES)).hexdigest()
    record = {
        "made by": record["made by"] | {name: f"python -m benchmarks.train_war {seconds:g} {name}"},
        "SHA-256 of what made it": record["SHA-256 of what made it"] | {name: made_by},
        "features": FEATURES_OF_PLAYERS,
        "weights": weights,
    }
    WEIGHTS_FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
