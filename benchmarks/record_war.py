"""Records what the benchmarks of the whole game are measured against.

    python -m benchmarks.record_war [positions] [goals] [rows]

writes `benchmarks/war_reference.json`: the ends of complete games from 40 positions of the classic
board and 20 of five boards that V has not seen, what each goal of 20 turns is worth by 2,000 games,
and the rows of `make bench GROUP=war`. It takes about an hour; with words, only these parts.
"""

import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

from benchmarks.train_war import random_board
from benchmarks.war import MEASURES, REFERENCE, SEED, Recorded, games_of, middle_of, recorded
from iacta import Turn, best_goals, classic_board
from iacta.plan.deadline import Deadline
from iacta.war.chances import CUT_AFTER
from iacta.war.core import War
from iacta.war.goals import GAMES, _by_plans, words_of
from iacta.war.players import PLAYERS
from iacta.war.value import weights_of

POSITIONS, GAMES_OF_A_POSITION = 40, 1500
UNSEEN, POSITIONS_OF_A_BOARD, GAMES_OF_UNSEEN = range(900, 905), 4, 800
GOAL_POSITIONS, GAMES_OF_A_GOAL, GAMES_OF_A_PLAN = 20, 2000, 400
MADE_BY = "python -m benchmarks.record_war"


def complete(turn: Turn, seed: int | None, games: int) -> Recorded:
    """Return a position with who won complete games of the usual player."""
    found = games_of(turn, ["usual"] * len(War(turn).seats), games, SEED).chances
    # A game that was too long has no winner.
    winners = (str(row.argmax()) if row.max() == 1 else "-" for row in found)
    return Recorded(seed, turn.to_code(), "".join(winners), {})


def classic_positions() -> Iterator[Recorded]:
    """Yield positions of the classic board."""
    for k in range(POSITIONS):
        yield complete(middle_of(classic_board(), 2 + k % 5, 100 + k), None, GAMES_OF_A_POSITION)


def unseen_positions() -> Iterator[Recorded]:
    """Yield positions of random boards with which V was not trained."""
    for seed in UNSEEN:
        board = random_board(Random(seed))
        for k in range(POSITIONS_OF_A_BOARD):
            yield complete(middle_of(board, 2 + (seed + k) % 5, seed + k), seed, GAMES_OF_UNSEEN)


def goal_positions() -> Iterator[Recorded]:
    """Yield turns with what each goal is worth, by tactics and by the plans that are shown."""
    for seed in range(GOAL_POSITIONS):
        turn = middle_of(classic_board(), 3 + seed % 3, 40 + seed)
        war, usual = War(turn), PLAYERS["usual"]
        mover, wins = war.seats.index(turn.player), dict[str, float]()
        shown = {(each.goal, each.how) for each in best_goals(turn, games=GAMES, seed=seed).goals}
        for aim in war.aims(usual):
            found = war.games(
                (usual,) * len(war.seats),
                weights_of("choosing"),
                weights_of("ending"),
                games=GAMES_OF_A_GOAL,
                seed=1000 + seed,
                aim=aim,
                cut=CUT_AFTER,
            )
            wins[f"{words_of(war, aim)}, tactics"] = float(found.chances[:, mover].mean())
            if shown & {(words_of(war, aim), how) for how in ("plan", "worth")}:
                for each in _by_plans(war, aim, GAMES_OF_A_PLAN, 1000 + seed, Deadline()):
                    if (each.words, each.how) in shown:
                        wins[f"{each.words}, {each.how}"] = float(each.wins.mean())
        yield Recorded(None, turn.to_code(), "", {way: round(p, 5) for way, p in wins.items()})


def rows() -> Iterator[dict[str, Any]]:
    """Yield the rows of the benchmark."""
    for measure in MEASURES:
        for row in measure():
            print(row, flush=True)
            yield row._asdict()


def main(words: list[str]) -> None:
    """Record all parts, or those that are named."""
    made = json.loads(REFERENCE.read_text(encoding="utf-8")) if REFERENCE.exists() else {}
    made["made by"] = MADE_BY
    for word, name, found in (
        ("positions", "classic", classic_positions()),
        ("positions", "unseen", unseen_positions()),
        ("goals", "goals", goal_positions()),
        ("rows", "rows", rows()),
    ):
        if words and word not in words:
            continue
        made[name] = [each._asdict() if isinstance(each, Recorded) else each for each in found]
        REFERENCE.write_text(_text_of(made), encoding="utf-8")
        recorded.cache_clear()
        print(f"{name}: {len(made[name])}", flush=True)


def _text_of(made: dict[str, Any]) -> str:
    """Return a record as JSON, with a line for each position and row."""
    parts = []
    for name, value in made.items():
        lines = ",\n".join(f"  {json.dumps(each)}" for each in value)
        text = f"[\n{lines}\n ]" if isinstance(value, list) else json.dumps(value)
        parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
