"""Policies are values: they act the same in every process and have the values of their plans."""

import json
import pickle
from itertools import islice
from random import Random

import pytest

from iacta import evaluate
from iacta.game import Attack, EndPhase
from iacta.plan import Plan, TakeAll, best_plan
from iacta.plan.policy import choose_policy
from iacta.plan.problem import Problem, SearchState, pose_problem
from iacta.plan.search import Style
from tests.cases import choose_seeds
from tests.plan.boards import BLUE, find_move, make_board, make_position, small_game
from tests.plan.test_search import make_state, walk
from tests.processes import run_python

SEEDS = choose_seeds(range(40))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_proven_plan_has_the_value_of_its_policy_in_the_game(seed: int) -> None:
    plan = small_game(seed).plan(play="battles" if seed % 4 == 1 else "rolls")
    assert plan.proven
    found = evaluate(plan.policy, plan.problem.turn, plan.goal)
    assert found.interval is None
    assert found.value == pytest.approx(plan.value, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_lookahead_reaches_its_reported_value(seed: int) -> None:
    problem = small_game(seed).problem("battles" if seed % 4 == 1 else "rolls")
    policy = choose_policy(problem, Style(1 + seed % 3), states=0)
    said, is_exact = policy.value(problem.turn)
    assert is_exact
    found = evaluate(policy, problem.turn, problem.goal)
    assert found.value == pytest.approx(said, abs=1e-9)


def list_states(problem: Problem, seed: int) -> list[SearchState]:
    """Return some states that are reachable from the start of a problem."""
    rng, found = Random(seed), list[SearchState]()  # noqa: S311 # draws states, no secrets
    for _ in range(4):
        found += [make_state(turn) for turn in islice(walk(problem.turn, rng), 12)]
    return found


@pytest.mark.parametrize("kind", ["best", "lookahead", "careful"])
def test_a_pickle_restores_the_same_decisions(kind: str) -> None:
    if kind == "best":
        policy = small_game(11).plan().policy
    else:
        style = Style(2, 0.01, "risk") if kind == "careful" else Style()
        policy = choose_policy(pose_problem(BLUE, TakeAll("South America")), style)
        assert not policy.is_best
    copied = pickle.loads(pickle.dumps(policy))  # noqa: S301 # just made
    assert copied == policy
    for state in list_states(policy.problem, 1):
        assert copied.decide(state) == policy.decide(state)


def quick_plan(**options: object) -> Plan:
    """Return a plan by lookahead from a search with a fixed budget."""
    return best_plan(BLUE, TakeAll("South America"), budget=0.05, **options)  # type: ignore[arg-type]


def facts(plan: Plan) -> dict[str, object]:
    """Return all reported numbers of a plan, to the last digit."""
    return {
        "value": plan.value,
        "bound": plan.upper_bound,
        "interval": plan.interval,
        "steps": [[*step.__dict__.values()] for step in plan.steps],
        "policy": [plan.policy.assignment, plan.policy.style],
    }


ELSEWHERE = """
import json
from tests.plan.test_policy import facts, quick_plan
print(json.dumps(facts(quick_plan(threads=1)), sort_keys=True))
"""


def test_the_same_work_finds_the_same_plan_anywhere() -> None:
    first = quick_plan()
    assert first == quick_plan()
    one, two = quick_plan(threads=1), quick_plan(threads=2)
    assert one == two == first
    there = run_python(ELSEWHERE)
    assert there.stdout.strip() == json.dumps(facts(first), sort_keys=True)


def test_the_same_work_finds_the_same_plan_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = quick_plan()
    ticks = iter(range(10**9))
    monkeypatch.setattr("iacta.native.deadline.monotonic", lambda: 1000.0 * next(ticks))
    assert quick_plan() == first


def test_a_policy_continues_in_known_states_and_plans_again_in_others() -> None:
    plan = quick_plan()
    move = find_move(plan)
    assert move is not None
    for name, armies in ((move.to, 1), (move.start, 2), (move.start, 200)):
        place = BLUE.board.territories.index(name)
        there = (*plan.turn.armies[:place], armies, *plan.turn.armies[place + 1 :])
        turn = plan.turn.replace_armies(plan.turn.owners, there)
        state = SearchState.from_turn(turn)
        assert plan.policy.covers(state) == (armies < 200)
        found = plan.policy(turn)
        if armies < 200 and not plan.policy.decide(state).dice:
            assert found == EndPhase()
        else:
            assert found in turn.actions()
            assert isinstance(found, Attack)


@pytest.mark.parametrize("order", [("x", "a", "b"), ("a", "b", "x"), ("b", "x", "a")])
def test_policies_do_not_depend_on_the_order_of_the_board(order: tuple[str, ...]) -> None:
    board = make_board("chain", [("x", "a"), ("a", "b")], order)
    problem = pose_problem(make_position(board, {"a": 9}, {"b": 2}), TakeAll("b"))
    policy = choose_policy(problem, states=0)

    def covers(armies: dict[str, int], *mine: str) -> bool:
        owned = sum(1 << place for place, name in enumerate(order) if name in mine)
        return policy.covers(SearchState(tuple(armies[name] for name in order), owned))

    assert covers({"x": 1, "a": 3, "b": 6}, "a", "b")
    assert not covers({"x": 1, "a": 3, "b": 6}, "a")
    assert not covers({"x": 2, "a": 3, "b": 2}, "a")


def test_in_other_phases_a_policy_stops() -> None:
    plan = small_game(3).plan()
    action = plan.policy(plan.problem.turn)
    decision = plan.policy.decide(plan.problem.start)
    names = plan.problem.name(decision.start), plan.problem.name(decision.to)
    assert action == Attack(*names, decision.dice)
