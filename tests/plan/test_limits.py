"""Limits: work that is too large is refused or ended in time."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from iacta import (
    Battle,
    Board,
    Dice,
    Holding,
    InOrder,
    Position,
    Rules,
    TakeAll,
    TakeAny,
    TooLargeError,
    Turn,
    Worth,
    best_goals,
    best_plan,
    goals_in_reach,
    spread_defenders,
    threats,
    tournament,
    win_chances,
)
from iacta.native.deadline import Deadline
from iacta.odds.spread import AttackedChain
from iacta.plan.continuation import go_on
from iacta.plan.problem import Problem, SearchState, pose_problem
from iacta.plan.search import Search, Style
from iacta.rules import roll
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.variants import find_rules
from tests.adapters import win_probability_keeping
from tests.plan.boards import CLASSIC_BOARD, find_move, make_position


def test_no_row_is_made_for_a_battle_that_is_refused() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(
            TooLargeError, match="a battle of 170716544 against 200000000 is too large"
        ):
            win_probability_keeping(170_716_544, [200_000_000], keep=0, exact=True)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


@pytest.fixture
def without_rolls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a roll is computed."""

    def counted(*_: Any) -> None:
        raise AssertionError("a roll was computed")

    for name in ("_count_losses", "_count_wins", "_weigh_ranks_won"):
        monkeypatch.setattr(roll, name, counted)


SEEN = Rules(attack=Dice((20,) * 4), defence=Dice((20,) * 4), mode=DefenderSeesFirst())


@pytest.mark.parametrize(
    "rules",
    [
        Rules(attack=Dice((10**6,) * 3), defence=Dice((10**6,) * 2)),
        Rules(attack=Dice((1000, 1000), bonus=(1,)), defence=Dice((1000, 1000))),
        replace(SEEN, attack=Dice((20,) * 7)),
    ],
    ids=["many faces", "bonus", "seen first"],
)
@pytest.mark.usefixtures("without_rolls")
def test_too_many_dice_are_refused_before_any_computation(rules: Rules) -> None:
    with pytest.raises(TooLargeError, match="steps, expected at most"):
        Battle(5, 3, rules).win_probability()


@pytest.mark.usefixtures("without_rolls")
@pytest.mark.parametrize("play", ["rolls", "battles"])
def test_dice_that_take_longer_than_the_time_limit_are_refused(play: str) -> None:
    start, goal = position(9, 2), TakeAll("B")
    with pytest.raises(TooLargeError, match=r"4 attack dice .* within the time limit"):
        best_plan(Turn(start, SEEN, whole_battles=play == "battles"), goal, time_limit=1)
    with pytest.raises(TooLargeError, match="within the time limit"):
        go_on(
            Turn(start, SEEN, whole_battles=play == "battles"),
            InOrder((goal, TakeAll("C"))),
            {1: 1.0},
            time_limit=1,
        )


def test_prepared_dice_need_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll, "STEPS_PER_SECOND", 0.01)
    start, goal, rules = position(9, 2), TakeAll("B"), Rules(attack=Dice((7, 7, 7)))
    with pytest.raises(TooLargeError, match="within the time limit"):
        best_plan(Turn(start, rules), goal, time_limit=1000)
    plan = best_plan(Turn(start, rules), goal)
    assert best_plan(Turn(start, rules), goal, time_limit=1000).comparable_value == plan.value


def position(armies: int, defenders: int) -> Position:
    """Return a stack in front of a chain of two territories."""
    board = Board.from_edges("chain", [("A", "B"), ("B", "C")])
    return Position(
        board, "red", {"A": ("red", armies), "B": ("blue", defenders), "C": ("blue", 9)}
    )


def test_fractions_of_thousands_of_digits_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AttackedChain._make_model

    def compared(chain: AttackedChain, *, exact: bool) -> Any:
        assert not exact, "spreads were compared in fractions"
        return model(chain, exact=exact)

    monkeypatch.setattr(AttackedChain, "_make_model", compared)
    assert not spread_defenders(2000, 9, 3).is_exact
    with pytest.raises(AssertionError, match="in fractions"):
        spread_defenders(700, 9, 3)


@pytest.mark.parametrize("armies", [2000, 2001, 10**9])
def test_stacks_of_thousands_are_refused(armies: int) -> None:
    start, goal = position(armies, 1), TakeAll("B")
    if armies <= 2000:
        assert best_plan(start, goal).comparable_value == pytest.approx(1.0)
        return
    with pytest.raises(TooLargeError, match="armies on A must be at most 2,000 for a plan, got"):
        best_plan(start, goal)


def test_irrelevant_armies_may_be_many() -> None:
    board = Board.from_edges("apart", [("A", "B"), ("B", "C")])
    start = Position(board, "red", {"A": ("red", 9), "B": ("blue", 2), "C": ("blue", 10**6)})
    assert best_plan(start, TakeAll("B")).proven


def test_a_search_with_no_time_has_a_plan_and_no_value() -> None:
    plan = best_plan(position(30, 20), TakeAny(("B", "C")), time_limit=0)
    assert plan.value is None
    assert find_move(plan) is not None


def test_a_star_with_many_rays_is_planned() -> None:
    names = tuple(f"t{k}" for k in range(40))
    board = Board("star", names, tuple((names[0], name) for name in names[1:]))
    start = Position(board, "red", {"t0": ("red", 120), **dict.fromkeys(names[1:], ("blue", 1))})
    plan = best_plan(start, TakeAll(names[1:]), budget=0.02)
    assert 0.0 < plan.comparable_value <= plan.upper_bound


def test_boards_of_more_territories_than_a_word_has_bits_are_planned() -> None:
    names = [f"t{k}" for k in range(130)]
    board = Board.from_edges("ladder", [*pairwise(names), *zip(names, names[2:], strict=False)])
    theirs = {name: ("blue", 1 + k % 2) for k, name in enumerate(names[1:])}
    start = Position(board, "red", {"t0": ("red", 12), **theirs})
    for goal in (TakeAll(tuple(names[1:8])), TakeAny((names[-1], names[9])), Worth(1)):
        plan = best_plan(start, goal, budget=0.02)
        assert plan.problem.held < plan.comparable_value <= plan.upper_bound
        assert find_move(plan) is not None


def test_a_whole_board_is_taken() -> None:
    goal = TakeAll(tuple(name for name in CLASSIC_BOARD.territories if name != "Brazil"))
    chances = []
    for armies in (65, 125):
        start = make_position(CLASSIC_BOARD, {"Brazil": armies}, {})
        chances.append(best_plan(start, goal, budget=0.01).comparable_value)
    assert 0.1 < chances[0] < 0.9 < 0.999 < chances[1]


@pytest.mark.parametrize("lands", [3, 70], ids=["one word", "many words"])
@pytest.mark.parametrize("rules", ["classic", "defender sees first"])
def test_the_deepest_search_fits_its_stack(lands: int, rules: str) -> None:
    names = [f"t{k}" for k in range(lands)]
    board = Board.from_edges("chain", pairwise(names))
    held = {"t0": ("red", 400), "t1": ("blue", 350), **dict.fromkeys(names[2:], ("blue", 1))}
    problem = pose_problem(Turn(Position(board, "red", held), rules), TakeAll("t1"))
    assert Search(problem).solve(Deadline(), 5_000) is None  # the first path has about 500 states


def test_a_turn_that_ends_early_is_solved_within_its_bounds() -> None:
    problem = pose_problem(position(6, 2), InOrder((TakeAll("B"), TakeAll("C"))))
    core, ends = Search(problem, until=0b010), list[SearchState]()

    def value_of(end: SearchState) -> float:
        ends.append(end)
        return 0.5

    alone = Search(pose_problem(position(6, 2), TakeAll("B"))).solve(Deadline())
    assert alone is not None
    half = pytest.approx(0.5 * alone.value, abs=1e-12)
    assert core.solve_until(Deadline(), 1e6, 100, value_of) == half
    assert len({*ends}) == len(ends) > 3
    assert all(end.owned == 0b011 for end in ends)
    over = Deadline()
    over.stop()
    for deadline, states, most in (
        (Deadline(), 1e6, len(ends) - 1),
        (Deadline(), 3, 100),
        (over, 1e6, 100),
    ):
        assert core.solve_until(deadline, states, most, value_of) is None
    assert core.solve_until(Deadline(), 1e6, len(ends), value_of) is not None
    assert core.solve_until(Deadline(), 1e6, 100, lambda _: None) is None


def test_a_policy_is_followed_within_its_bounds_of_states() -> None:
    core = Search(pose_problem(position(9, 3), TakeAll(("B", "C"))))
    assert core.solve(Deadline()) is not None
    report = core.flow(Deadline())
    assert report is not None
    assert core.flow(Deadline(), report.states) is not None
    assert core.flow(Deadline(), report.states - 1) is None


def test_reports_of_parts_add_up_to_the_report_of_all_games() -> None:
    problem = pose_problem(position(30, 20), TakeAll(("B", "C")))
    core = Search(problem)
    core.follow(core.assign(Deadline()), Style())
    whole = core.play(Deadline(), 30).report
    thirds = [core.play(Deadline(), 10, first).report * (1 / 3) for first in (0, 10, 20)]
    parts = thirds[0] + thirds[1] + thirds[2]
    np.testing.assert_allclose(parts.numbers, whole.numbers, rtol=1e-12, atol=1e-12)
    assert [each[:2] for each in parts.visits] == [each[:2] for each in whole.visits]


def position_of_many(number: int, continents: dict[str, tuple[int, list[str]]]) -> Position:
    """Return a position on a line of territories, the first of which is red's."""
    edges = [(f"T{n}", f"T{n + 1}") for n in range(number - 1)]
    board = Board.from_edges("line", edges, continents=continents)
    return Position(board, "red", {"T0": ("red", 9)}, others=("blue", 1))


MANY = position_of_many(1025, {"X": (2, ["T0", "T1"])})


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda: best_plan(MANY, TakeAll("T1")), "plans"),
        (lambda: Search(Problem(Turn(MANY, phase="attack"), TakeAll("T1"))), "plans"),
        (lambda: threats(Turn(MANY)), "threats"),
        (lambda: win_chances(Turn(MANY)), "whole games"),
        (lambda: best_goals(Turn(MANY)), "whole games"),
        (lambda: goals_in_reach(Turn(MANY)), "plans"),
        (lambda: tournament(["usual", "simple"], Turn(MANY)), "whole games"),
    ],
)
def test_a_board_with_too_many_territories_is_named_with_the_limit(
    ask: Callable[[], object], what: str
) -> None:
    said = f"board 'line' must have at most 1,024 territories for {what}, got 1,025"
    with pytest.raises(TooLargeError, match=f"^{said}$"):
        ask()


def test_a_board_with_the_most_territories_is_planned() -> None:
    position = position_of_many(1024, {})
    assert best_plan(position, TakeAll("T1"), budget=0.01).comparable_value > 0.99


def test_a_plan_with_too_many_continents_is_refused() -> None:
    pairs = [(f"T{n % 40 + 1}", f"T{n // 40 + 1}") for n in range(1100)]
    continents = {f"C{n}": (1, [*{*pair}]) for n, pair in enumerate(pairs)}
    position = position_of_many(41, continents)
    said = r"at most 1,024 continents and other sets of territories, got .* 'line'"
    with pytest.raises(TooLargeError, match=said):
        best_plan(position, Worth(), time_limit=2)


@pytest.mark.parametrize("armies", [2**20 + 1, 2**31, 10**18])
def test_a_garrison_of_any_size_is_planned(armies: int) -> None:
    position = position_of_many(3, {})
    assert best_plan(Turn(position, find_rules("classic", armies)), TakeAll("T1")).value == 0
    assert best_plan(Turn(position, keep={"T0": armies}), TakeAll("T1")).value == 0
    kept = win_chances(Turn(position, keep={"T0": armies}), games=4)
    assert [each.player for each in kept.chances.chances] == ["red", "blue"]


def test_too_many_armies_for_whole_games_are_refused_with_their_number() -> None:
    holdings = [Holding("red", 10**6), Holding("blue", 10**5)]
    position = Position(Board.from_edges("two", [("A", "B")]), "red", holdings)
    said = "armies must be at most 1,048,576 in total for whole games, got 1,100,000"
    with pytest.raises(TooLargeError, match=f"^{said}$"):
        win_chances(Turn(position))
