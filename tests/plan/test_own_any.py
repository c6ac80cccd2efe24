"""Owning any n more territories: exact on small boards, the best set of territories on others."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise
from random import Random
from typing import Any

import pytest

from iacta import ask, classic_board
from iacta.analysis import goals_in_reach, threats
from iacta.board import Board, Holding, Position
from iacta.game import Fortify, Missions, Turn
from iacta.game.moment import read_moment
from iacta.game.victory import WayToWin
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.methods import choose_kernel
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan import (
    Goal,
    OwnAny,
    TakeAll,
    best_plan,
    own_any,
    place_armies,
    reinforce,
    simulate_plan,
)
from iacta.plan.goal_plan import plan_goal
from iacta.plan.goals import WinGame, make_owned_mask
from iacta.plan.levels import QUICK, USUAL
from iacta.plan.named_goals import read_goal
from iacta.plan.own_any import MAX_VALUED_SETS, _SetSearch, choose_goal, choose_territories
from iacta.plan.problem import Problem, pose_problem
from iacta.plan.search import Search
from iacta.plan.tables import compute_dice
from iacta.plan.winning import Win, find_win
from iacta.rules.rules import CLASSIC, Rules
from tests.game.positions import make_line_turn
from tests.plan.twin import Play

pytestmark = pytest.mark.usefixtures("core")
BOARDS = 12
EMPIRES = read_moment("examples/three-empires.txt").position


def draw_case(seed: int) -> tuple[Position, OwnAny]:
    """Return a random board of 3 to 7 territories, with a goal that is not yet reached."""
    rng = Random(seed)  # noqa: S311 # deals games, no secrets
    size = rng.randint(3, 7)
    names = [f"t{t}" for t in range(size)]
    pairs = {(names[rng.randrange(t)], names[t]) for t in range(1, size)}
    pairs |= {(a, b) for a, b in combinations(names, 2) if rng.random() < 0.2}
    board = Board("small", tuple(names), tuple(way for a, b in pairs for way in ((a, b), (b, a))))
    mine = rng.randint(1, min(3, size - 1))
    rows = [Holding("red", rng.randint(1, 6)) for _ in range(mine)]
    rows += [Holding("blue", rng.randint(1, 2)) for _ in range(size - mine)]
    rng.shuffle(rows)
    position, armies = Position(board, "red", tuple(rows)), rng.choice((1, 1, 2))
    held = OwnAny(1, armies).count_held(make_owned_mask(Turn(position)), Turn(position).armies)
    return position, OwnAny(rng.randint(held + 1, size), armies)


@pytest.mark.parametrize("seed", range(BOARDS))
def test_a_number_of_territories_on_a_small_board_is_exact(seed: int) -> None:
    position, goal = draw_case(seed)
    plan = best_plan(position, goal, margin=0)
    expected = Play(position, goal, CLASSIC).value()
    assert plan.comparable_value == pytest.approx(expected, abs=1e-9)
    assert plan.win_probability == plan.value
    assert plan.proven
    if expected:
        simulated = simulate_plan(plan, 400, seed)
        assert simulated.won.interval(0.999)[0] <= expected <= simulated.won.interval(0.999)[1]


def test_the_best_set_and_the_bound_enclose_the_exact_chance() -> None:
    gaps = []
    for seed in range(3 * BOARDS):
        position, goal = draw_case(seed)
        problem, exact = pose_problem(position, goal), best_plan(position, goal).comparable_value
        if problem.rewards.most:
            assert exact <= next(Search(problem).bounds(Deadline(), 1000)) + 1e-9
        chosen = choose_territories(problem, problem.start, 0, Deadline())
        if chosen is not None:
            gaps.append(exact - best_plan(position, chosen).comparable_value)
    assert min(gaps) >= -1e-9
    assert sum(gaps) / len(gaps) < 0.01


@pytest.mark.parametrize("goal", [OwnAny(22), OwnAny(9, armies=2)])
def test_a_plan_on_a_large_board_takes_the_best_set(goal: OwnAny) -> None:
    plan = best_plan(EMPIRES, goal, budget=0.2)
    assert isinstance(plan.goal, TakeAll)
    assert 0.7 < plan.comparable_value <= plan.upper_bound
    low = plan.comparable_value if plan.interval is None else plan.interval[0]
    turn, games = Turn(EMPIRES, phase="attack"), 60
    reached = sum(goal.is_reached(turn.play(plan.policy, seed=seed).end) for seed in range(games))
    assert reached >= games * low - 4 * (games / 4) ** 0.5


def test_new_armies_and_levels_know_the_goal() -> None:
    position, goal = draw_case(1)
    found = reinforce(Turn(position, place=2), goal)
    look = plan_goal(Turn(position, place=2), goal, USUAL, Deadline())
    assert look.value == pytest.approx(found.plan.comparable_value, abs=1e-9)
    assert look.value is not None
    assert look.value > best_plan(position, goal).comparable_value
    large = plan_goal(Turn(EMPIRES, place=6), OwnAny(24), QUICK, Deadline())
    assert large.value is not None
    assert 0.8 < large.value <= large.upper_bound


def draw_strong_empire(weak: int) -> Position:
    """Return a position of the classic board in which red owns two armies on most territories.

    weak: the number of red territories with one army.
    """
    board = classic_board()
    red = *board.find_set("Africa"), *board.find_set("Asia")
    held = dict.fromkeys(red, ("red", 2)) | dict.fromkeys(red[:weak], ("red", 1))
    held |= {"Kamchatka": ("red", 9), "Irkutsk": ("red", 9)}
    return Position(board, "red", held, others=("blue", 2))


def test_new_armies_strengthen_own_territories_before_conquests() -> None:
    position, goal = draw_strong_empire(3), OwnAny(19, armies=2)
    found = plan_goal(Turn(position, place=3), goal, QUICK, Deadline())
    placed = dict(found.placement)
    assert sum(placed.values()) == 3
    assert all(position.find_holding(name).armies == 1 for name in placed)
    assert found.value is not None
    assert 0.9 < found.value <= found.upper_bound
    reinforced = reinforce(Turn(position, place=3), goal)
    assert dict(reinforced.placement) == placed
    assert reinforced.plan.comparable_value > 0.9


def test_new_armies_alone_reach_a_number_of_strong_territories() -> None:
    found = reinforce(Turn(draw_strong_empire(3), place=3), OwnAny(18, armies=2))
    assert found.plan.value == 1


@pytest.mark.parametrize("play", ["rolls", "battles"])
def test_a_territory_without_enemies_counts_with_its_own_armies(play: str) -> None:
    edges = [("A", "B"), ("B", "C"), ("B", "D"), ("C", "D")]
    held = {"A": ("red", 1), "B": ("red", 4), "C": ("blue", 2), "D": ("blue", 1)}
    position = Position(Board.from_edges("four", edges), "red", held)
    goal = OwnAny(3, armies=2)
    plans = [
        best_plan(
            place_armies(Turn(position, whole_battles=play == "battles"), [("A", 2 - n), ("B", n)]),
            goal,
        )
        for n in range(3)
    ]
    best = max(plan.comparable_value for plan in plans)
    found = reinforce(Turn(position, place=2, whole_battles=play == "battles"), goal)
    assert dict(found.placement) == {"A": 1, "B": 1}
    assert found.plan.value == pytest.approx(best)
    start = Turn(position, place=2, whole_battles=play == "battles")
    look = plan_goal(start, goal, QUICK, Deadline())
    assert look.value == pytest.approx(best)


def test_the_fortifying_move_may_win() -> None:
    missions = Missions({"red": "18 territories with 2 armies", "blue": "24 territories"})

    def find(weak: int, **options: Any) -> Win | None:
        turn = Turn(draw_strong_empire(weak), victory=missions, phase="attack", **options)
        return find_win(turn)

    win = find(1)
    assert win is not None
    assert win.move is not None
    assert (win.placement, win.move.to, win.move.armies) == ((), "North Africa", 1)
    for other in (find(2), find(1, fortify="none")):
        assert other is None or other.placement is None


def test_new_armies_add_to_the_fortifying_move() -> None:
    missions = Missions({"red": "2 territories with 3 armies", "blue": "3 territories"})
    turn = make_line_turn("r1 r4 b9", place=1, victory=missions)
    win = find_win(turn)
    assert win is not None
    assert (win.placement, win.move) == ((("A", 1),), Fortify("B", "A", 1))
    assert "place 1 new army on A, then move 1 army from B to A" in str(
        ask("plan", position=turn, win=True)
    )


def has_win_without_attacks(turn: Turn) -> bool:
    """Return whether some placement, with or without a fortifying move, wins."""
    own = turn.position.list_territories("red")
    for places in combinations_with_replacement(own, turn.place):
        position = place_armies(turn, [*Counter(places).items()]).position
        last = Turn(position, victory=turn.victory, phase="fortify", fortify=turn.fortify)
        if last.winner == "red" or any(last.after(each).winner == "red" for each in last.actions()):
            return True
    return False


@pytest.mark.parametrize("fortify", ["adjacent", "connected"])
def test_every_win_by_new_armies_with_a_fortifying_move_is_found(fortify: Any) -> None:
    rng, wins = Random(5), 0  # noqa: S311 # draws positions, no secrets
    for _ in range(150):
        armies = [rng.randint(1, 5) for _ in range(4)]
        mission = f"{rng.randint(2, 4)} territories with {rng.randint(2, 5)} armies"
        victory = Missions({"red": mission, "blue": "5 territories"})
        line = " ".join(f"r{number}" for number in armies)
        place = rng.randint(1, 3)
        turn = make_line_turn(f"{line} b99", place=place, victory=victory, fortify=fortify)
        if turn.winner is not None:
            continue
        win = find_win(turn)
        is_found = win is not None and win.placement is not None
        assert is_found == has_win_without_attacks(turn), (turn.to_code(), win)
        if win is None or win.placement is None:
            continue
        wins += 1
        assert sum(number for _, number in win.placement) <= place
        end = Turn(
            place_armies(turn, win.placement).position,
            victory=victory,
            phase="fortify",
            fortify=fortify,
        )
        assert (end if win.move is None else end.after(win.move)).winner == "red"
    assert wins > 20


def test_a_fulfilled_mission_wins_at_the_end_of_the_turn() -> None:
    missions = {"red": "12 territories", "blue": "12 territories with 2 armies"}
    victory = Missions(missions, at_end=True)
    turn = Turn(draw_strong_empire(3), victory=victory, phase="attack", place=0)
    win = find_win(turn)
    assert win is not None
    assert (win.placement, win.move) == ((), None)
    found = ask("plan", position=turn, win=True)
    assert found.record()["value"] == 1
    assert "You win the game at the end of your turn" in str(found)
    first = goals_in_reach(turn)[0]
    assert (first.words, first.value) == ("win now", 1)
    wins = [each for each in threats(turn, "quick").threats if each.kind == "win"]
    assert [each.chance for each in wins] == [1]


def test_the_fortifying_move_of_an_opponent_does_not_depend_on_the_phase() -> None:
    missions = Missions({"red": "5 territories", "blue": "2 territories with 5 armies"})
    for phase in ("attack", "fortify", "over"):
        turn = make_line_turn("r2 b9 b1", phase=phase, victory=missions)
        win = find_win(turn, "blue")
        assert win is not None, phase
        assert win.move == Fortify("B", "C", 4), phase


def test_a_reached_goal_is_certain() -> None:
    assert best_plan(EMPIRES, OwnAny(19)).value == 1
    assert best_plan(EMPIRES, OwnAny(42), budget=0.05).comparable_value < 0.1


def test_own_any_counts_additional_territories() -> None:
    turn = Turn(EMPIRES)
    assert read_goal(turn, "own_any", "3") == OwnAny(22)
    assert read_goal(turn, "own_any", "1 with 2 armies") == OwnAny(6, armies=2)
    with pytest.raises(
        MalformedError, match="own_any must be a number of territories, such as '3'"
    ):
        read_goal(turn, "own_any", "three")
    with pytest.raises(IllegalError, match="number must be at most 42 territories, got 43"):
        best_plan(EMPIRES, OwnAny(43))


def test_a_plan_to_win_uses_the_fortifying_move_after_attacks() -> None:
    missions = Missions({"red": "2 territories with 2 armies", "blue": "3 territories"})
    turn = make_line_turn("r4 b1 b30", phase="attack", victory=missions)
    roll = Fraction(855, 1296)  # three dice win, three armies move in, and one moves back
    (win,) = (each for each in goals_in_reach(turn) if each.words == "win now")
    assert win.value == pytest.approx(float(roll)) == win.upper_bound
    assert "65.97%; no plan is better" in str(ask("plan", position=turn, win=True))
    none = turn.with_options(fortify="none")
    (win,) = (each for each in goals_in_reach(none) if each.words == "win now")
    assert win.value == pytest.approx(win.upper_bound)
    assert win.value is not None
    assert win.value < roll


def make_grid_problem(columns: int, rows: int, number: int) -> Problem:
    """Return the problem to own a number of territories of a grid, of which red owns a third."""
    names = [f"t{t}" for t in range(columns * rows)]
    pairs = [(a, b) for t, (a, b) in enumerate(pairwise(names), 1) if t % columns]
    pairs += zip(names, names[columns:], strict=False)
    owners = ("red", "blue", "green")
    holdings = tuple(Holding(owners[t % 3], 1 + 7 * t % 9) for t in range(len(names)))
    position = Position(Board.from_edges("grid", pairs), "red", holdings)
    return pose_problem(position, OwnAny(number))


def test_exchanges_of_territories_begin_with_the_fewest_defenders() -> None:
    problem = make_grid_problem(10, 9, 50)
    search = _SetSearch(problem, problem.start, 0, Deadline())
    (chosen, *_) = search.list_sets([*bits(problem.field)], 20)
    beside = make_mask(t for v in bits(problem.owned | chosen) for t in bits(problem.out[v]))
    others = [*bits(beside & problem.field & ~chosen)]
    pairs = ((old, new) for old in bits(chosen) for new in others)
    exchanged = [chosen & ~(1 << old) | 1 << new for old, new in pairs]
    armies = problem.start.armies
    ranked = sorted(exchanged, key=lambda each: (sum(armies[t] for t in bits(each)), each))
    found = [*search._exchange(chosen)]
    assert len(found) >= 2 * MAX_VALUED_SETS
    assert found == ranked[: len(found)]


def test_after_the_deadline_no_more_sets_of_territories_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, grown = make_grid_problem(32, 32, 700), list[int]()
    grow = _SetSearch._grow

    def count(search: _SetSearch, start: int, need: int) -> int:
        grown.append(start)
        return grow(search, start, need)

    monkeypatch.setattr(_SetSearch, "_grow", count)
    search = _SetSearch(problem, problem.start, 0, Deadline(0))
    need = 700 - problem.owned.bit_count()
    (chosen,) = search.list_sets([*bits(problem.field)], need)
    assert chosen.bit_count() == need
    assert grown == [problem.owned]


def test_a_few_dice_need_no_time_that_is_left() -> None:
    attack, defence, rolls = compute_dice(choose_kernel(Rules(garrison=3)), False, Deadline(0))
    assert (attack, defence, len(rolls)) == (3, 2, 6)


def test_after_the_deadline_no_more_ways_to_win_are_valued(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, valued = make_grid_problem(10, 9, 50), list[Goal]()
    names = [problem.name(t) for t in bits(problem.field)]
    ways = tuple(WayToWin(names) for names in combinations(names[:10], 3))
    win = replace(problem, goal=WinGame(ways))

    def count(_problem: Problem, goal: Goal, *_: object) -> float:
        valued.append(goal)
        return 0.0

    monkeypatch.setattr(own_any, "_compute_goal_value", count)
    assert choose_goal(win, win.start, 0, Deadline(0)) == TakeAll(ways[0].territories)
    assert len(valued) == 1
