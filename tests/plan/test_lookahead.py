"""Lookahead with an assignment: legal play, near the optimum, with the reported value."""

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import sqrt
from statistics import fmean

import numpy as np
import pytest

from benchmarks.positions import hard_positions
from iacta import Battle, Board, Position, classic_board, evaluate
from iacta.game import Turn
from iacta.inputs.errors import TooLargeError
from iacta.native.deadline import Deadline
from iacta.plan import InOrder, OwnAny, TakeAll, best_plan, go_on, take_and_hold
from iacta.plan.alternatives import alternatives, list_first_attacks
from iacta.plan.best import make_plan
from iacta.plan.planner import STYLES, Planner, evaluate_policy
from iacta.plan.policy import STARTS, Policy, choose_policy
from iacta.plan.problem import SearchState, pose_problem
from iacta.plan.report import list_main_line
from iacta.plan.search import Search, Style
from iacta.probability.estimate import compute_half_width
from iacta.questions import ask
from iacta.questions.plan import PlanAnswer, PlanQuestion, plan_answer
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.rules import Rules
from tests.cases import choose_seeds
from tests.house_twin import HOUSES, TURN_HOUSES
from tests.plan.boards import (
    BLITZ,
    BLUE,
    CLASSIC_BOARD,
    ROLLED,
    SmallGame,
    find_move,
    make_board,
    make_position,
    parse_position,
    plan_policy,
    small_game,
)
from tests.plan.test_exact import make_twin

CAREFUL = Style(depth=2)
NEAR = make_position(CLASSIC_BOARD, {"Siam": 9, "China": 7}, {"India": 2})
AROUND = ("India", "Indonesia", "New Guinea", "Eastern Australia", "Western Australia", "Mongolia")
SIZES = ((6, 9), (9, 6), (80, 90))  # pairs of attackers and defenders
SEEDS = choose_seeds([seed for seed in range(72) if small_game(seed).problem().field])


USUAL = Style()


def make_lookahead(game: SmallGame, play: str = "rolls", style: Style = USUAL) -> Policy:
    """Return lookahead for a small game that could also be solved exactly."""
    return choose_policy(game.problem(play), style, states=0)


def find_core(policy: Policy) -> Search:
    """Return the search of a policy."""
    assert isinstance(policy.search, Search)
    return policy.search


def best_value(game: SmallGame, play: str = "rolls") -> float:
    """Return the value of an exact search."""
    found = Search(game.problem(play)).solve(Deadline())
    assert found is not None
    return found.value


# A position does not store the owner of an empty territory, so the garrison must be at least 1.
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if small_game(seed).rules.garrison])
def test_the_exact_value_equals_the_payoff_of_the_moves(seed: int) -> None:
    game = small_game(seed)
    style = CAREFUL if seed % 2 else USUAL
    plan = plan_policy(make_lookahead(game, style=style))
    paid = float(make_twin(game).evaluate_policy(partial(find_move, plan)))
    assert plan.value == pytest.approx(paid, abs=1e-9)
    assert plan.comparable_value - plan.problem.held <= best_value(game) + 1e-9


@pytest.mark.parametrize("house", TURN_HOUSES)
def test_plans_under_house_rules_have_the_payoff_of_their_moves(house: str) -> None:
    short = []
    for seed in choose_seeds(range(200, 260), 15):
        game = small_game(seed, rules=HOUSES[house].rules, most_armies=12)
        if not game.problem().field:
            continue
        plan = plan_policy(make_lookahead(game, style=CAREFUL if seed % 2 else USUAL))
        paid = float(make_twin(game).evaluate_policy(partial(find_move, plan)))
        assert plan.value == pytest.approx(paid, abs=1e-9)
        best, held = best_value(game), plan.problem.held
        assert plan.comparable_value - held <= best + 1e-9
        short.append((best - plan.comparable_value + held) / max(best, 0.1))
    assert sorted(short)[len(short) * 3 // 4] < 0.03


@pytest.mark.parametrize("play", ["rolls", "battles"])
def test_the_result_is_close_to_optimal_play(play: str) -> None:
    short = []
    for seed in SEEDS:
        game = small_game(seed)
        report = make_lookahead(game, play).search.flow(Deadline())
        assert report is not None
        best = best_value(game, play)
        assert report.value <= best + 1e-9
        short.append((best - report.value) / max(best, 0.1))
    assert fmean(short) < 0.03
    assert sorted(short)[len(short) * 3 // 4] < 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_of_games_hold_the_exact_value(seed: int) -> None:
    policy = make_lookahead(small_game(seed))
    exact, games = policy.search.flow(Deadline()), find_core(policy).play(Deadline(), 400)
    assert exact is not None
    # 95% of means lie within the interval, and 1 in 300 is more than 1.5 half widths off.
    assert abs(games.gains.mean() - exact.value) <= 1.5 * compute_half_width(games.gains) + 1e-9


@pytest.mark.parametrize("lands", range(1, 6))
def test_a_stack_may_take_as_many_territories_as_it_has_armies_to_leave(lands: int) -> None:
    names = tuple(f"t{k}" for k in range(8))
    position = make_position(make_board("chain", pairwise(names), names), {"t0": 1 + lands}, {})
    for taken in range(1, 8):
        goal = TakeAll(names[taken : taken + 1])  # the path leads over all earlier ones
        problem = pose_problem(position, goal)
        report = choose_policy(problem, states=0).search.flow(Deadline())
        best = Search(problem).solve(Deadline())
        assert report is not None
        assert best is not None
        assert (report.value > 0) == (best.value > 0) == (taken <= lands)
        assert report.value == pytest.approx(best.value, abs=1e-12)


def test_games_of_the_same_number_have_the_same_dice() -> None:
    policy = make_lookahead(small_game(3))
    first = find_core(policy).play(Deadline(), 40).gains
    parts = [find_core(policy).play(Deadline(), 10, start).gains for start in (0, 10, 20, 30)]
    assert np.array_equal(first, np.concatenate(parts))
    assert not np.array_equal(first, find_core(policy).play(Deadline(), 40, 1000).gains)


def test_games_of_the_core_agree_with_games_of_the_turn() -> None:
    policy = choose_policy(pose_problem(NEAR, TakeAll(AROUND)), states=0)
    turn, goal = policy.problem.turn, policy.problem.goal
    games = find_core(policy).play(Deadline(), 400)
    mean, half = games.gains.mean(), compute_half_width(games.gains)
    played = evaluate(policy, turn, goal, games=400, max_states=0, seed=5)
    error = sqrt(played.value * (1 - played.value) / 400)
    assert abs(played.value - mean) <= 3 * error + half


@pytest.mark.parametrize("rules", [*ROLLED, BLITZ], ids=repr)
def test_every_rule_can_be_planned_where_states_are_too_many(rules: object) -> None:
    plan = best_plan(Turn(BLUE, rules), TakeAll("South America"), budget=0.02)  # type: ignore[arg-type]
    assert 0.0 < plan.comparable_value <= plan.upper_bound + 1e-9
    assert find_move(plan) is not None


def test_hard_positions_have_a_plan_before_a_game_is_played_and_no_value() -> None:
    for each in hard_positions():
        plan = best_plan(each.position, each.goal, time_limit=0)
        assert (plan.value, plan.win_probability, plan.interval) == (None, None, None)
        assert (plan.games, plan.proven, plan.steps) == (0, False, ())
        assert find_move(plan) is not None
        assert "no estimate yet" in repr(plan)


@pytest.mark.parametrize("style", STYLES)
def test_unplanned_positions_are_played_in_the_style_of_the_plan(style: Style) -> None:
    policy = choose_policy(pose_problem(NEAR, TakeAll(AROUND)), style, states=0)
    other = make_position(CLASSIC_BOARD, {"Siam": 19, "China": 17}, {"India": 2})
    state = SearchState.from_turn(Turn(other))
    assert not policy.covers(state)
    fresh = choose_policy(policy.problem.at_state(state), style)
    assert not fresh.is_best
    assert policy(Turn(other)) == fresh(Turn(other))


def test_every_interface_states_that_there_is_no_value() -> None:
    each = list(hard_positions())[2]
    take = ",".join(each.goal.territories)
    asked = PlanQuestion(
        each.position, take=take, alternatives=True, reinforce=3, time_limit=Fraction(0)
    )
    answer = asked.answer()
    assert isinstance(answer, PlanAnswer)
    record = answer.record()
    assert (record["value"], record["win_probability"], record["interval"]) == (None, None, None)
    assert record["reinforce"]["value_without"] is None
    assert "alternatives" not in record
    assert answer.sentence.endswith("no estimate yet: at most 100%.")
    assert "Without the 3 new armies there is no estimate yet." in next(answer.sections()).parts
    assert answer.new is not None
    assert repr(answer.new).count("no estimate") == 2
    assert "No estimate becomes no estimate." in str(answer.plot().subtitle)
    turn = answer.plan.problem.turn
    for hold in (False, True):
        shown = ask("plan", position=turn, take=take, time_limit=0, hold=hold).record()
        assert (shown["value"], shown["interval"]) == (None, None)
        assert (shown["figure"], shown["upper_bound"]) == ("", 1.0)
        assert shown.get("stop") is None
        assert shown["sentences"] == ["No estimate yet: at most 100%."]
        move = find_move(answer.plan)
        assert move is not None
        first = shown["moves"][0]
        assert (first["from"], first["to"]) == (move.start, move.to)
        assert first["figure"] == "no estimate yet"


def test_results_of_a_plan_without_a_value_have_no_value() -> None:
    each = next(hard_positions())
    plan = best_plan(each.position, each.goal, time_limit=0)
    held = take_and_hold(plan, time_limit=0)
    assert (held.win_probability, held.unfortified, held.interval, held.ends) == (
        None,
        None,
        None,
        0,
    )
    assert "no estimate yet" in repr(held)
    assert plan_answer(plan, held=held).record()["hold"]["win_probability"] is None
    goal = InOrder((each.goal, TakeAll(each.position.board.continents[0].territories)))
    follows = go_on(each.position, goal, {2: 1.0}, time_limit=0)
    assert (follows.first, follows.win_probability, follows.interval) == (None, None, None)
    assert "no estimate yet" in repr(follows)


def test_a_game_that_the_deadline_cuts_is_not_counted() -> None:
    each = next(hard_positions())
    core = Search(pose_problem(each.position, each.goal))
    core.follow(core.assign(Deadline(), STARTS), USUAL)
    cut = core.play(Deadline(0.1), 100_000)
    assert len(cut.gains) < 100_000
    assert np.array_equal(cut.gains, core.play(Deadline(), len(cut.gains)).gains)


@pytest.mark.parametrize(
    ("attackers", "defenders", "rules"),
    [
        *((*sizes, rules) for sizes in SIZES for rules in (*ROLLED, BLITZ)),
        *((2000, 2000, rules) for rules in ROLLED if rules.mode.dice_chosen_first),
        (700, 700, Rules(mode=DefenderSeesFirst())),
    ],
    ids=repr,
)
def test_the_value_of_one_battle_is_the_chance_to_win(
    attackers: int, defenders: int, rules: Rules
) -> None:
    board = Board.from_edges("two", [("A", "B")])
    start = Position(board, "red", {"A": ("red", attackers), "B": ("blue", defenders)})
    core = Search(pose_problem(Turn(start, rules), TakeAll("B")))
    seen = core.decide(core.problem.start).value
    exact = float(Battle(attackers, defenders, rules).win_probability())
    if rules.mode != DefenderSeesFirst():
        assert seen == pytest.approx(exact, rel=1e-9, abs=1e-15)
        return
    # In lookahead, a defender who sees the dice first chooses by the same rule in all states.
    assert exact - 1e-12 <= seen <= 1.03 * exact


def test_whole_battles_of_thousands_of_armies_are_too_large() -> None:
    board = Board.from_edges("two", [("A", "B")])
    start = Position(board, "red", {"A": ("red", 2000), "B": ("blue", 2000)})
    with pytest.raises(TooLargeError, match="2,000 armies against up to 2,000 takes too much"):
        Search(pose_problem(Turn(start, BLITZ), TakeAll("B")))


@pytest.mark.parametrize("style", STYLES)
def test_a_style_has_the_mean_value_of_its_games(style: Style) -> None:
    for seed in (3, 11, 40):
        policy = make_lookahead(small_game(seed), style=style)
        exact, games = policy.search.flow(Deadline()), policy.search.play(Deadline(), 400)
        assert exact is not None
        assert abs(games.gains.mean() - exact.value) <= 1.5 * compute_half_width(games.gains) + 1e-9


def test_styles_are_halved_by_games_with_the_same_dice() -> None:
    each = list(hard_positions())[2]
    found = [*Planner(pose_problem(each.position, each.goal), Deadline(), budget=0.3).run()]
    best = found[-1].policy
    assert best.style in STYLES
    core = Search(best.problem)

    def value(style: Style) -> float:
        core.follow(best.assignment, style)
        return float(core.play(Deadline(), 400, first=10**6).gains.mean())

    # The style may be at most two standard errors below the best style.
    assert value(best.style) > max(map(value, STYLES)) - 0.012


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each call of `Search.play` adds its number of games."""
    found = list[int]()
    play = Search.play

    def count(search: Search, deadline: Deadline, games: int, first: int) -> object:
        found.append(games)
        return play(search, deadline, games, first)

    monkeypatch.setattr(Search, "play", count)
    return found


@pytest.mark.parametrize(("budget", "most"), [(0.02, 10), (0.05, 12)])
def test_a_small_budget_plays_few_games(budget: float, most: int, batches: list[int]) -> None:
    for hard in list(hard_positions())[:3]:
        batches.clear()
        best_plan(hard.position, hard.goal, threads=1, budget=budget)
        assert 4 <= len(batches) <= most, batches


def test_a_plan_without_a_bound_is_one_of_two_policies(batches: list[int]) -> None:
    for hard in list(hard_positions())[:3]:
        batches.clear()
        plan = best_plan(hard.position, hard.goal, bound=False)
        assert len(batches) <= 2
        assert (plan.upper_bound, plan.price) == (1.0, 0.0)
        assert plan.value is not None
        assert plan.value > hard.reached - 0.1
        assert plan.steps
    small = parse_position({"A": 6, "B": 5}, {"c": 1, "d": 4}, "A: c; B: d")
    for goal in (TakeAll("c"), TakeAll("c,d"), OwnAny(3)):
        first, best = (best_plan(small, goal, bound=each, margin=0.0) for each in (False, True))
        assert first.value == pytest.approx(best.value, abs=1e-12)


def test_more_armies_do_not_harm_a_plan_without_a_bound() -> None:
    chances = []
    for armies in (30, 42, 60, 80, 100):
        held = {"Ukraine": ("red", armies)}
        position = Position(classic_board(), "red", held, others=("blue", 2))
        chances.append(best_plan(position, TakeAll("Asia"), bound=False).win_probability or 0.0)
    assert chances == sorted(chances)
    assert chances[-1] > 0.9999


def test_a_proof_never_searches_more_than_the_default() -> None:
    hard = next(hard_positions())
    problem = pose_problem(hard.position, hard.goal)
    proving = Planner(problem, Deadline(), prove=0.001)
    assert proving.work == Planner(problem, Deadline()).work


def test_list_and_main_line_begin_with_what_the_policy_does() -> None:
    for each in [*hard_positions()][::3]:
        problem = pose_problem(each.position, each.goal)
        for style in STYLES:
            plan = make_plan(
                evaluate_policy(choose_policy(problem, style, states=0), Deadline(), 0.05), 0.0
            )
            move = find_move(plan)
            assert move is not None
            first = move.start, move.to
            assert alternatives(plan)[0][:2] == list_first_attacks(plan)[0][:2] == first
            line = list_main_line(plan)[0].step
            assert (line.start, line.to) == first


def test_the_best_plan_so_far_never_gets_worse() -> None:
    for each in [*hard_positions()][:4]:
        problem = pose_problem(each.position, each.goal)
        seen = [*Planner(problem, Deadline(), budget=0.03).run()]
        for before, after in pairwise(seen):
            assert after.bound <= before.bound
            assert before.value is not None
            assert after.value is not None
            assert after.value <= after.bound
            # An estimate may fall, but not below its interval.
            low = before.value if before.interval is None else before.interval[0]
            assert after.value >= low
