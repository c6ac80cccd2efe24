"""Threads that share plans, policies, boards and kernels agree with a single thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from ctypes import c_uint8
from random import Random
from threading import Barrier, Lock, Thread

import pytest

from iacta import Battle, Turn
from iacta.board import Holding, Position
from iacta.methods import _kernel, find_kernel
from iacta.native.calls import SHORT_CALL_SECONDS, make_budget
from iacta.native.core_library import CoreData
from iacta.native.deadline import Deadline
from iacta.plan import Plan, TakeAll
from iacta.plan.plan import Play
from iacta.plan.policy import find_policy
from iacta.plan.problem import Problem, TurnState, read_problem
from iacta.plan.search import Search, Style
from iacta.rules.variants import find_rules
from tests.plan.boards import CLASSIC_BOARD, make_board, plan_policy, small_game
from tests.plan.test_search import make_state, walk
from tests.processes import press_ctrl_c_after

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
    return read_problem(Position(CLASSIC_BOARD, "red", held), goal)


def list_states(problem: Problem) -> list[TurnState]:
    rng = Random(1)  # noqa: S311 # draws states, no secrets
    found = {make_state(turn) for _ in range(4) for turn in [*walk(problem.turn, rng)][:6]}
    return sorted(found)


SEEDS = range(6)


@each_way
@pytest.mark.parametrize("seed", SEEDS)
def test_threads_that_share_a_policy_get_its_values(seed: int, states: int) -> None:
    problem = small_game(seed).problem("rolls")
    alone, shared = (find_policy(problem, states=states) for _ in range(2))
    positions = list_states(problem)
    same_from_threads(
        lambda k: (shared.value(positions[k]), shared.decide(positions[k])),
        [(alone.value(each), alone.decide(each)) for each in positions],
    )


@each_way
def test_threads_that_share_a_plan_agree_with_one_thread(states: int) -> None:
    problem = small_game(7).problem("rolls")
    alone, shared = (plan_policy(find_policy(problem, states=states)) for _ in range(2))
    start = alone.follow()
    positions = [start.position, *(play.position for play, _ in start.list_successors())]
    assert len(positions) > 2

    def asked(plan: Plan, position: Position) -> object:
        play = Play(plan, position)  # a new `Play` has empty caches
        return play.value, play.is_exact, play.move, None if play.is_over else play.loss_chances()

    same_from_threads(
        lambda k: asked(shared, positions[k]), [asked(alone, each) for each in positions]
    )


def test_threads_may_share_a_core() -> None:
    problem = large_problem()
    alone, shared = Search(problem), Search(problem)
    assignment = alone.assign(Deadline())
    for core in (alone, shared):
        core.follow(assignment, Style(1))
    first = alone.decide(problem.start)
    asked: list[Callable[[Search], object]] = [
        lambda core: core.decide(problem.start),
        lambda core: core.evaluate_attack(problem.start, first.start, first.to),
        lambda core: core.play(Deadline(), 4).gains.tolist(),
        lambda core: core.play(Deadline(), 4, 4).report.value,
        lambda core: core.play(Deadline(), 4).report.visits,
    ]
    same_from_threads(lambda k: asked[k](shared), [ask(alone) for ask in asked])


@pytest.mark.parametrize("name", ["classic", "zombie-defender", "dominating12"])
def test_threads_that_share_a_new_kernel_get_its_chances(name: str) -> None:
    rules = find_rules(name)

    def ask(k: int) -> object:
        if k < 6:
            return find_kernel(rules).rolls(9, k + 1)
        return Battle(10 + k, 30 - k, rules=rules).win_probability()

    wanted = [ask(k) for k in range(20)]
    for _ in range(10):
        _kernel.cache_clear()  # makes the threads share a kernel with empty caches
        same_from_threads(ask, wanted)


def test_threads_that_share_a_new_board_get_its_borders() -> None:
    def new() -> Turn:
        board = make_board("row", [("A", "B"), ("B", "C"), ("C", "D")], "ABCD")
        held = {name: Holding("red" if name < "C" else "blue", 5) for name in "ABCD"}
        return Turn(Position(board, "red", held))

    def known(turn: Turn) -> object:
        return turn.board.borders, [*turn.actions()], turn.odds(), turn.to_code()

    wanted, shared, together = known(new()), new(), Barrier(THREADS)

    def answers(_: int) -> object:
        together.wait(60)
        return known(shared)

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(answers, range(THREADS)):
            assert found == wanted


def test_ctrl_c_stops_a_long_decision_and_the_policy_stays_as_it_was() -> None:
    problem = large_problem()
    core = Search(problem)
    assignment = core.assign(Deadline())
    core.follow(assignment, Style(1))
    before = core.decide(problem.start)

    core.follow(assignment, Style(core.max_depth))  # a search that would take minutes
    with press_ctrl_c_after(4 * SHORT_CALL_SECONDS), pytest.raises(KeyboardInterrupt):
        core.decide(problem.start)
    core.follow(assignment, Style(1))
    assert core.decide(problem.start) == before


@pytest.mark.parametrize("name", ["decide", "judge", "advance"])
def test_ctrl_c_stops_a_call_that_waits_for_another_one(name: str) -> None:
    core = Search(large_problem())
    assignment = core.assign(Deadline())
    core.follow(assignment, Style(1))
    start = core.problem.start
    found = core.decide(start)
    asked: dict[str, Callable[[], object]] = {
        "decide": lambda: core.decide(start),
        "judge": lambda: core.evaluate_attack(start, found.start, found.to),
        "advance": lambda: core.advance(start, found.start, found.to, 1),
    }
    wanted = asked[name]()
    with core._lock, press_ctrl_c_after(SHORT_CALL_SECONDS), pytest.raises(KeyboardInterrupt):
        asked[name]()
    assert asked[name]() == wanted


def test_a_call_waits_for_an_interrupted_call_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = large_problem()
    core = Search(problem)
    assignment = core.assign(Deadline())
    core.follow(assignment, Style(1))
    before, deadline = core.decide(problem.start), Deadline()
    other = copy(core)
    other._lock = Lock()  # as if the other call had released its lock
    playing = Thread(target=other.play, args=(deadline, 10**6))
    library, none = core._library, (c_uint8 * 1)()
    unsound, budget = CoreData(library, "style"), make_budget(library, Deadline(), 1)
    playing.start()
    follow, busy = library.functions.iacta_follow, library.constant("BUSY")
    while follow(core._search, budget, unsound.reference, none) != busy:
        pass  # depth 0 is refused and changes nothing
    monkeypatch.setattr("iacta.native.calls.sleep", lambda _: deadline.stop())
    assert core.decide(problem.start) == before
    playing.join()
    other._search = None  # the search must be closed only once
