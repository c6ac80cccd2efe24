"""Record the reference values for the benchmarks of whole games.

    python -m benchmarks.record_war [classic] [fixed] [unseen] [goals]

This writes `benchmarks/war_reference.json`: the winners of complete games from 40 positions on the
classic board, from 20 of its positions with fixed sets, and from 20 positions on five boards on
which V was not trained; and the values of goals in 20 turns, from 1,000 games each. Words on the
command line select parts. To record a part again after a change of the usual AI, delete its rows
first. Recording the file takes about half an hour on one core. An interrupted run can be continued.
"""

import json
import sys
from random import Random
from typing import Any

from benchmarks.deals import draw_board
from benchmarks.war import REFERENCE, SEED, Recorded, play_to_middle, start_games
from iacta import Sets, Turn, best_goals, classic_board
from iacta.native.deadline import Deadline
from iacta.war.chances import CUT_ROUNDS
from iacta.war.games import War, choose_best_aim_per_goal, describe_aim
from iacta.war.goals import DEFAULT_GAMES, _try_plans
from iacta.war.players import PLAYERS

POSITIONS, GAMES_OF_A_POSITION = 40, 200
FIXED, GAMES_OF_FIXED = 20, 200
FIRST_UNSEEN, UNSEEN_BOARDS, UNSEEN, GAMES_OF_UNSEEN = 900, 5, 20, 100
GOAL_POSITIONS, GAMES_OF_A_GOAL, GAMES_OF_A_PLAN = 20, 1000, 100
MADE_BY = "python -m benchmarks.record_war"


def make_record(turn: Turn, seed: int | None, games: int) -> Recorded:
    """Return a position with the winners of complete games of the usual AI."""
    found = start_games(turn, ["usual"] * len(War(turn).seats), games, SEED).chances
    # A game that took too long has no winner.
    winners = (str(row.argmax()) if row.max() == 1 else "-" for row in found)
    return Recorded(seed, turn.to_code(), "".join(winners), {})


def classic_position(k: int) -> Recorded:
    """Return a position of the classic board."""
    return make_record(
        play_to_middle(classic_board(), 2 + k % 5, 100 + k), None, GAMES_OF_A_POSITION
    )


def fixed_position(k: int) -> Recorded:
    """Return a position of the classic board in a game with fixed sets."""
    turn = play_to_middle(classic_board(), 2 + k % 5, 500 + k, Sets(is_fixed=True))
    return make_record(turn, None, GAMES_OF_FIXED)


def draw_unseen_position(k: int) -> Recorded:
    """Return a position on a random board with which V was not trained."""
    seed = FIRST_UNSEEN + k % UNSEEN_BOARDS
    turn = play_to_middle(draw_board(Random(seed)), 2 + k // UNSEEN_BOARDS % 5, 100 + k)
    return make_record(turn, seed, GAMES_OF_UNSEEN)


def goal_position(seed: int) -> Recorded:
    """Return a turn with the value of each goal, played by tactics or by the plan for it."""
    turn = play_to_middle(classic_board(), 3 + seed % 3, 40 + seed)
    war, usual = War(turn), PLAYERS["usual"]
    mover, wins = war.seats.index(turn.player), dict[str, float]()
    shown = {
        (each.goal, each.how) for each in best_goals(turn, games=DEFAULT_GAMES, seed=seed).goals
    }
    for aim, _ in choose_best_aim_per_goal(war, usual, seed):
        found = war.play_games(
            (usual,) * len(war.seats),
            games=GAMES_OF_A_GOAL,
            seed=1000 + seed,
            aim=aim,
            cut=CUT_ROUNDS,
        )
        wins[f"{describe_aim(war, aim)}, tactics"] = float(found.chances[:, mover].mean())
        if shown & {(describe_aim(war, aim), how) for how in ("plan", "worth")}:
            for each in _try_plans(war, aim, GAMES_OF_A_PLAN, 1000 + seed, Deadline()):
                if (each.words, each.how) in shown:
                    wins[f"{each.words}, {each.how}"] = float(each.wins.mean())
    return Recorded(None, turn.to_code(), "", {way: round(p, 5) for way, p in wins.items()})


def main(words: list[str]) -> None:
    """Record all parts, or those named on the command line."""
    parts = (
        ("classic", classic_position, POSITIONS),
        ("fixed", fixed_position, FIXED),
        ("unseen", draw_unseen_position, UNSEEN),
        ("goals", goal_position, GOAL_POSITIONS),
    )
    made: dict[str, Any] = {"made by": {}, **{name: [] for name, *_ in parts}}
    if REFERENCE.exists():
        made |= json.loads(REFERENCE.read_text(encoding="utf-8"))
    for name, record, number in parts:
        rows = made[name]
        while (not words or name in words) and len(rows) < number:
            rows.append(record(len(rows))._asdict())
            made["made by"][name] = f"{MADE_BY} {name}"
            write_down(made)


def write_down(records: dict[str, Any]) -> None:
    """Write the records as JSON, with one line for each position."""
    parts = []
    for name, value in records.items():
        lines = ",\n".join(f"  {json.dumps(each)}" for each in value)
        text = f"[\n{lines}\n ]" if isinstance(value, list) else json.dumps(value)
        parts.append(f" {json.dumps(name)}: {text}")
    REFERENCE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
