"""Threads that share plans, policies, boards and kernels agree with a single thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import pytest

from iacta import Turn
from iacta.board import Holding, Position
from iacta.plan import TakeAll
from iacta.plan.policy import choose_policy
from iacta.plan.problem import Problem, pose_problem
from tests.plan.boards import CLASSIC_BOARD, small_game
from tests.plan.test_search import walk

THREADS = 4

each_way = pytest.mark.parametrize("states", [0, 1_000_000], ids=["lookahead", "best play"])


def same_from_threads(ask: Callable[[int], object], wanted: Sequence[object]) -> None:
    """Compare results from several threads, in different orders, with results from one thread."""
    together = Barrier(THREADS)

    def answers(seed: int) -> list[tuple[int, object]]:
        order = [*range(len(wanted))] * 3
        Random(seed).shuffle(order)  # noqa: S311 # no secrets
        together.wait(60)
        return [(k, ask(k)) for k in order]

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(answers, range(THREADS)):
            for k, answer in found:
                assert answer == wanted[k]


def large_problem() -> Problem:
    """Return a problem for lookahead in which the player owns a fifth of the classic board."""
    names = CLASSIC_BOARD.territories
    held = {
        name: Holding("blue", 2 + k % 4) if k % 5 else Holding("red", 30)
        for k, name in enumerate(names)
    }
    goal = TakeAll(tuple(name for k, name in enumerate(names) if k % 5))
    return pose_problem(Position(CLASSIC_BOARD, "red", held), goal)


def list_turns(problem: Problem) -> list[Turn]:
    rng = Random(1)  # noqa: S311 # draws states, no secrets
    return [turn for _ in range(4) for turn in [*walk(problem.turn, rng)][:6]]


SEEDS = range(6)


@each_way
@pytest.mark.parametrize("seed", SEEDS)
def test_threads_that_share_a_policy_get_its_values(seed: int, states: int) -> None:
    problem = small_game(seed).problem("rolls")
    alone, shared = (choose_policy(problem, states=states) for _ in range(2))
    turns = list_turns(problem)
    same_from_threads(
        lambda k: (shared.value(turns[k]), shared(turns[k])),
        [(alone.value(each), alone(each)) for each in turns],
    )
