"""The measured claims about plans."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise

from benchmarks.measure import Line, seconds
from iacta.board import Board, Holding, Position
from iacta.board.files import classic_board
from iacta.plan import Goal, TakeAll, best_plan, simulate_plan

__all__ = ["MEASURES"]

UNFINISHED = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
SCATTERED = ("Iceland", "Ural", "Japan", "Quebec", "Congo", "Peru", "Siam", "Madagascar")
RUNS = 10_000


def _chain() -> Position:
    names = tuple(f"territory {k}" for k in range(len(UNFINISHED) + 1))
    board = Board("chain", names, tuple(pairwise(names)))
    holdings = [Holding("red", 72), *(Holding("blue", armies) for armies in UNFINISHED)]
    return Position(board, "red", tuple(holdings))


def _classic(mine: Mapping[str, int]) -> Position:
    """Return a position in which red holds some territories, and blue has 1, 2 or 3 elsewhere."""
    board = classic_board()
    return Position(
        board,
        "red",
        tuple(
            Holding("red", mine[name]) if name in mine else Holding("blue", 1 + k % 3)
            for k, name in enumerate(board.territories)
        ),
    )


def plan_lines() -> Iterator[Line]:
    """Measure the search of plans."""
    chain = _chain()
    cases: list[tuple[str, Position, Goal, float]] = [
        ("the unfinished game as a plan", chain, TakeAll(chain.board.territories), 0.05),
        ("Asia, 12 territories, from 60 armies", _classic({"Ukraine": 60}), TakeAll("Asia"), 0.5),
        (
            "8 scattered territories from 3 stacks",
            _classic({"Ukraine": 25, "Brazil": 20, "Alaska": 22, "Argentina": 1}),
            TakeAll(SCATTERED),
            5,
        ),
    ]
    for claim, position, goal, most in cases:
        plan = best_plan(position, goal)
        simulated = seconds(partial(simulate_plan, plan, runs=RUNS, seed=1), 1)
        yield Line(
            claim,
            seconds(partial(best_plan, position, goal), 3),
            f"to follow the plan {RUNS:,} times with real dice",
            simulated,
            0,
            most,
        )


MEASURES = (plan_lines,)
