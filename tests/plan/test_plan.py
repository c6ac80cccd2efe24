"""Plans from `best_plan`."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import Campaign, Rules
from iacta.board import Board, Holding, Position
from iacta.game import EndPhase, Turn
from iacta.inputs.errors import IllegalError
from iacta.plan import (
    Goal,
    Plan,
    TakeAll,
    TakeAny,
    Worth,
    armies_needed_for_plan,
    best_plan,
    eliminate,
    simulate_plan,
)
from iacta.plan.policy import choose_policy
from iacta.plan.problem import pose_problem
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from tests.plan.boards import (
    CLASSIC_BOARD,
    GOALS,
    chain,
    find_move,
    make_board,
    make_position,
    make_scattered_board,
    plan_policy,
    positions,
)

WAY = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
ASIA = CLASSIC_BOARD.continents[4].territories
TWOS_AND_THREES = {name: 2 + k % 2 for k, name in enumerate(ASIA)}
SCATTERED = ("Iceland", "Ural", "Japan", "Quebec", "Congo", "Peru", "Siam", "Madagascar")


def make_ring(armies: int, others: int = 4) -> Position:
    """Return two stacks on a ring of three territories."""
    names = ["s", "z", "a", "b", "c"]
    pairs = [("s", "a"), ("a", "b"), ("b", "z"), ("b", "c"), ("c", "s"), ("z", "c")]
    return make_position(
        make_board("ring", pairs, names), {"s": armies, "z": others}, {"a": 2, "b": 3, "c": 2}
    )


def test_the_unfinished_game_equals_its_campaign() -> None:
    plan = best_plan(chain(72, WAY), TakeAll(tuple(f"t{k}" for k in range(1, 15))), margin=0.0)
    campaign = Campaign(72, WAY)
    assert abs(plan.comparable_value - campaign.win_probability()) < 1e-12
    assert plan.proven
    assert plan.gap == 0.0
    # The plan stops if too few armies are left for the remaining territories; a campaign goes on.
    for step, odds in zip(plan.steps, campaign.territory_odds(), strict=True):
        assert step.reach_probability <= odds.reach_probability
        assert step.conquer_probability <= odds.conquer_probability + 1e-12
    assert plan.territories[-1].own_probability == pytest.approx(plan.win_probability, abs=1e-12)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(position=positions(), goal=GOALS, least_advance=st.booleans())
def test_small_plans_are_proven_and_described(
    position: Position, goal: Goal, least_advance: bool
) -> None:
    plan = best_plan(Turn(position, Rules(least_advance=least_advance)), goal)
    assert plan.proven
    assert_consistent(plan)


def assert_consistent(plan: Plan) -> None:
    """Check that the numbers of a plan are consistent."""
    position, board = plan.position, plan.position.board
    borders = {*board.borders}
    for step in plan.steps:
        assert (step.start, step.to) in borders
        assert position.find_holding(step.to).owner != position.player
        assert 0.0 <= step.conquer_probability <= step.reach_probability <= 1.0
        won = sum(chance for _, chance, _ in step.advances)
        assert won == pytest.approx(step.conquer_probability, abs=1e-9)
        assert all(moved <= able + 1e-9 for able, _, moved in step.advances)
    for end in plan.territories:
        owned = position.find_holding(end.name).owner == position.player
        taken = sum(step.conquer_probability for step in plan.steps if step.to == end.name)
        assert end.own_probability == pytest.approx(1.0 if owned else taken, abs=1e-9)
        assert end.expected_armies >= 0.0
    if plan.steps and not isinstance(plan.goal, Worth) and plan.interval is None:
        lost = sum(end.probability for end in plan.endings)
        assert lost + plan.comparable_value == pytest.approx(1.0, abs=1e-9)
    if isinstance(plan.goal, Worth) and not plan.goal.bonus:
        worth = sum(plan.goal.compute_worth(e.name) * e.own_probability for e in plan.territories)
        worth += plan.goal.army * sum(end.expected_armies for end in plan.territories)
        assert worth == pytest.approx(plan.value, abs=1e-9)


def test_a_plan_is_followed_within_the_rules() -> None:
    """`Turn.after` accepts only legal actions."""
    plan = best_plan(Turn(make_ring(9), whole_battles=True), TakeAll("a,b,c"))
    waiting, seen = [plan.turn], 0
    while waiting and seen < 2000:
        turn, seen = waiting.pop(), seen + 1
        action = plan.policy(turn)
        if turn.phase in ("attack", "advance") and not isinstance(action, EndPhase):
            waiting += (turn.after(action, result) for result in turn.results(action))
    assert seen > 50


def test_a_plan_can_be_followed_from_any_position() -> None:
    plan = best_plan(Turn(make_ring(9), whole_battles=True), TakeAll("a,b,c"))
    elsewhere = best_plan(Turn(make_ring(14), whole_battles=True), TakeAll("a,b,c"))
    assert elsewhere.comparable_value > 0.9
    assert find_move(plan, plan.position) == find_move(plan) != find_move(elsewhere)
    assert find_move(plan, make_ring(14)) == find_move(elsewhere)


def test_another_stack_takes_over_where_one_fails() -> None:
    position = make_position(
        make_board("two", [("s", "t"), ("z", "t")], ["s", "z", "t"]), {"s": 6, "z": 6}, {"t": 4}
    )
    alone = Campaign(6, [4]).win_probability()
    best = best_plan(position, TakeAll("t"))
    assert float(alone) + 0.15 < best.comparable_value
    found = plan_policy(choose_policy(pose_problem(position, TakeAll("t")), states=0))
    assert 0.999 * best.comparable_value <= found.comparable_value <= best.comparable_value
    assert {(step.start, step.to) for step in best.steps} == {("s", "t"), ("z", "t")}


def test_chances_grow_with_armies() -> None:
    chances = [
        best_plan(make_ring(armies), TakeAll("a,b,c")).comparable_value for armies in range(2, 14)
    ]
    assert chances == sorted(chances)
    assert chances[0] < chances[-1]


def test_asia_from_one_stack() -> None:
    plan = best_plan(
        make_position(CLASSIC_BOARD, {"Ukraine": 40}, TWOS_AND_THREES), TakeAll("Asia")
    )
    assert_consistent(plan)
    assert 0.70 < plan.comparable_value <= plan.upper_bound < 0.80
    simulated = simulate_plan(plan, runs=1000, seed=2)
    assert_agrees(plan, simulated.value, simulated.error)


def test_a_player_is_eliminated_by_three_stacks() -> None:
    plan = best_plan(
        Turn(make_scattered_board(), whole_battles=True), TakeAll(SCATTERED), budget=0.01
    )
    assert_consistent(plan)
    assert 0.65 < plan.comparable_value <= plan.upper_bound
    extras = {step.to for step in plan.steps} - {*SCATTERED}
    assert extras  # Peru and Madagascar have no stacks beside them
    runs = 400
    simulated = simulate_plan(plan, runs=runs, seed=3)
    games = plan.games or 10**9
    assert_agrees(plan, simulated.value, simulated.error)
    for end, estimate in zip(plan.territories, simulated.owned, strict=True):
        p = (end.own_probability * games + estimate.successes) / (games + runs)
        error = (p * (1 - p) * (1 / runs + 1 / games)) ** 0.5
        assert abs(float(estimate.probability) - end.own_probability) <= 5 * error + 1e-9


def test_eliminating_a_player_takes_all_their_territories() -> None:
    assert eliminate(make_ring(5), "blue") == TakeAll(("a", "b", "c"))
    with pytest.raises(IllegalError, match="owner must be blue, got 'green'"):
        eliminate(make_ring(5), "green")
    for mine in ("red", "Red", "R-E-D"):
        with pytest.raises(IllegalError, match=f"owner must be blue, got {mine!r}"):
            eliminate(make_ring(5), mine)


@pytest.mark.parametrize(
    "rules",
    [
        Rules(),
        Rules(garrison=0, least_advance=False),
        Rules(mode=BalancedBlitz()),
        Rules(mode=DefenderSeesFirst()),
    ],
    ids=["classic", "free", "blitz", "seen"],
)
@pytest.mark.parametrize(
    "goal", [TakeAll("a,b,c"), TakeAny("b,c"), Worth(2.0, army=0.5)], ids=["all", "any", "worth"]
)
def test_real_dice_agree(rules: Rules, goal: Goal) -> None:
    plan = best_plan(Turn(make_ring(7), rules), goal)
    simulated = simulate_plan(plan, runs=20_000, seed=1)
    assert_agrees(plan, simulated.value, simulated.error)


@pytest.mark.parametrize("goal", [TakeAll("a,b,c"), TakeAny("b,c"), Worth(2.0, army=0.5)])
def test_simulated_dice_agree_with_estimated_plans(goal: Goal) -> None:
    plan = plan_policy(choose_policy(pose_problem(make_ring(7), goal), states=0))
    assert_consistent(plan)
    simulated = simulate_plan(plan, runs=20_000, seed=1)
    assert_agrees(plan, simulated.value, simulated.error)


def assert_agrees(plan: Plan, value: float, error: float) -> None:
    low, high = plan.interval or (plan.comparable_value, plan.comparable_value)
    assert low - 5 * error - 1e-9 <= value <= high + 5 * error + 1e-9


def test_constraints_never_raise_chances() -> None:
    free = best_plan(make_ring(8), TakeAll("a,b,c")).comparable_value
    keeping = best_plan(Turn(make_ring(8), keep={"s": 3}), TakeAll("a,b,c"))
    resting = best_plan(Turn(make_ring(8), stay=["z"]), TakeAll("a,b,c"))
    assert keeping.comparable_value < free
    assert resting.comparable_value < free
    assert all(step.start != "z" for step in resting.steps)
    assert all(end.expected_armies >= 3.0 for end in keeping.territories if end.name == "s")


def test_armies_needed_are_the_fewest_that_reach_the_chance() -> None:
    position, goal = make_ring(1), TakeAll("a,b,c")
    needed = armies_needed_for_plan(position, goal, "80%", "s")
    assert needed is not None
    assert best_plan(make_ring(needed), goal).comparable_value >= 0.8
    assert best_plan(make_ring(needed - 1), goal).comparable_value < 0.8
    way = TakeAll(tuple(f"t{k}" for k in range(1, 15)))
    assert armies_needed_for_plan(chain(1, WAY), way, "95%", "start") == 82


def test_goals_may_be_reached_already_or_out_of_reach() -> None:
    mine = best_plan(make_ring(5), TakeAll("s"))
    assert (mine.win_probability, mine.proven, mine.steps) == (1.0, True, ())
    board = Board("apart", ("s", "t"), ())
    never = best_plan(make_position(board, {"s": 9}, {}), TakeAll("t"))
    assert (never.win_probability, never.proven, find_move(never)) == (0.0, True, None)


def test_the_minimum_advance_hurts_a_stack_that_must_divide() -> None:
    names = ["s", "a", "b", "c"]
    board = make_board("star", [("s", name) for name in names[1:]], names)
    position = make_position(board, {"s": 9}, {})
    bound = best_plan(position, TakeAll("a,b,c"))
    free = best_plan(Turn(position, Rules(least_advance=False)), TakeAll("a,b,c"))
    assert bound.comparable_value + 0.1 < free.comparable_value


def test_progress_is_reported_and_ctrl_c_leaves_the_best_plan() -> None:
    calls: list[tuple[float, float]] = []
    goal = TakeAll(SCATTERED)
    plan = best_plan(
        make_scattered_board(), goal, budget=0.02, progress=lambda *each: calls.append(each)
    )
    assert calls[-1] == (plan.value, plan.upper_bound)

    def interrupt(value: float, upper: float) -> None:
        if value > 0.0:  # before the first plan, Ctrl-C ends the search without a result
            raise KeyboardInterrupt

    early = best_plan(make_scattered_board(), goal, budget=0.02, progress=interrupt)
    assert early.win_probability == next(value for value, _ in calls if value > 0.0)


def test_more_time_finds_no_worse_a_plan() -> None:
    turn, goal = Turn(make_scattered_board(), whole_battles=True), TakeAll(SCATTERED)
    none, usual = (best_plan(turn, goal, budget=budget) for budget in (0.001, 0.05))
    assert none.interval is not None
    assert 0.0 < none.interval[0] <= usual.comparable_value
    patient = best_plan(make_ring(9), TakeAll("a,b,c"), budget=100)
    assert patient.proven


def test_territories_that_are_not_listed_are_entered_by_nobody() -> None:
    borders = tuple((a, b) for a, b in product("ABCD", repeat=2) if a != b)
    board = Board("four", tuple("ABCD"), borders)
    holdings = Holding("red", 20), Holding("blue", 2), Holding("", 0), Holding("blue", 1)
    position = Position(board, "red", holdings)
    plan = best_plan(position, TakeAll("B,D"))
    assert {step.to for step in plan.steps} == {"B", "D"}
    for goal in (TakeAll("B,C"), TakeAny("C")):
        with pytest.raises(IllegalError, match="must have an owner; C has none"):
            best_plan(position, goal)
