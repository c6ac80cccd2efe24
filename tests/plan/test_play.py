"""Following a plan: a turn that is played by the plan's policy."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from iacta.game import Advance, Attack, EndPhase, Turn
from iacta.methods import kernel
from iacta.methods.sees_first import AllBattles
from iacta.native.deadline import Deadline
from iacta.plan import Plan, TakeAll, best_plan
from iacta.plan.policy import Policy
from iacta.plan.search import Search
from iacta.rules.rules import Rules
from tests.plan.boards import make_board, make_position

ROW = make_position(make_board("row", [("s", "a"), ("a", "b")], "sab"), {"s": 6}, {"a": 2, "b": 1})


def find_chances_if_seen(attackers: int, defenders: int) -> dict[tuple[int, int], float]:
    """Return the results of a roll that the defender sees first, by enumerating all dice."""

    def results(mine: tuple[int, ...], j: int) -> dict[tuple[int, int], float]:
        found: dict[tuple[int, int], float] = {}
        for theirs in product(range(1, 7), repeat=j):
            pairs = [*zip(sorted(mine)[::-1], sorted(theirs)[::-1], strict=False)]
            killed = sum(one > other for one, other in pairs)
            losses = len(pairs) - killed, killed
            found[losses] = found.get(losses, 0.0) + 6.0**-j
        return found

    @cache
    def value(a: int, d: int) -> float:
        if a <= 1 or not d:
            return float(not d)
        most = min(a - 1, 3)
        return max(worth(a, d, k)[0] for k in range(1, most + 1))

    @cache
    def worth(a: int, d: int, k: int) -> tuple[float, dict[tuple[int, int], float]]:
        total, chances = 0.0, dict[tuple[int, int], float]()
        for mine in product(range(1, 7), repeat=k):
            replies = [results(mine, j) for j in range(min(d, 2), 0, -1)]
            values = [
                sum(p * value(a - lost, d - killed) for (lost, killed), p in each.items())
                for each in replies
            ]
            total += min(values) / 6**k
            for losses, p in replies[values.index(min(values))].items():
                chances[losses] = chances.get(losses, 0.0) + p / 6**k
        return total, chances

    return worth(attackers, defenders, min(attackers - 1, 3))[1]


@pytest.mark.parametrize(("attackers", "defenders"), [(6, 4), (4, 2), (3, 3), (7, 1)])
def test_a_defender_who_sees_the_attack_replies_as_the_plan_expects(
    attackers: int, defenders: int
) -> None:
    board = make_board("two", [("s", "a")], "sa")
    start = make_position(board, {"s": attackers}, {"a": defenders})
    plan = best_plan(Turn(start, "defender sees first"), TakeAll("a"))
    outcomes = plan.policy.decide(plan.problem.start).outcomes
    found = {(each.attackers, each.defenders): each.chance for each in outcomes}
    assert found == pytest.approx(find_chances_if_seen(attackers, defenders), abs=1e-12)


def test_a_careful_defender_solves_all_smaller_battles_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn = Turn.from_code(
        "1;classic;red;Peru:red:9,Brazil:blue:7;attack;rules=defender%20sees%20first"
    )
    attack = turn.actions()[0]
    throws, built, tables = (
        [*turn.results(attack)],
        list[object](),
        vars(AllBattles)["conquest_table"].func,
    )

    def count(battles: AllBattles) -> Any:
        built.append(battles)
        return tables(battles)

    monkeypatch.setattr(AllBattles, "conquest_table", property(count))
    kernel._win_table_after_roll.cache_clear()
    for throw in throws:
        turn.after(attack, throw).careful_defence()
    assert len(built) == 1


@pytest.mark.parametrize("rules", ["classic", "defender sees first"])
def test_following_a_plan_reaches_its_goal_as_often_as_predicted(rules: str) -> None:
    turn, runs = Turn(ROW, rules), 400
    plan = best_plan(turn, TakeAll("a,b"))
    won = sum(plan.goal.is_reached(turn.play(plan.policy, seed=seed).end) for seed in range(runs))
    chance = plan.comparable_value
    assert abs(won / runs - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


def reach_goal(plan: Plan, turn: Turn) -> float:
    """Return the chance that a plan reaches its goal, by enumerating all results."""
    action = plan.policy(turn)
    if plan.goal.is_reached(turn) or isinstance(action, EndPhase):
        return float(plan.goal.is_reached(turn))
    results = turn.results(action).items()
    return sum(float(p) * reach_goal(plan, turn.after(action, result)) for result, p in results)


@pytest.mark.parametrize("play", ["rolls", "battles"])
@pytest.mark.parametrize("goal", [TakeAll("a,b"), TakeAll("b"), TakeAll("a,b,c")])
@pytest.mark.parametrize("proven", [True, False])
def test_territories_that_all_armies_have_left_remain_the_player_s(
    goal: TakeAll, play: str, *, proven: bool
) -> None:
    board = make_board("row", [("s", "a"), ("a", "b"), ("s", "c"), ("b", "c")], "sabc")
    start = make_position(board, {"s": 5}, {"a": 1, "b": 2, "c": 1})
    turn = Turn(start, Rules(garrison=0), whole_battles=play == "battles")
    plan = best_plan(turn, goal)
    assert plan.proven
    if not proven:
        shares = Search(plan.problem).assign(Deadline(), 8)
        plan = replace(plan, policy=Policy(plan.problem, shares), proven=False)
    value, is_exact = plan.policy.value(turn)
    assert is_exact
    assert reach_goal(plan, turn) == pytest.approx(value, abs=1e-9)


def test_a_plan_goes_on_after_all_armies_moved_on() -> None:
    turn = Turn(ROW, Rules(garrison=0))
    plan = best_plan(turn, TakeAll("a,b"))
    policy = plan.policy
    turn = turn.after(policy(turn), (0, 2)).after(Advance(6))
    assert (turn.owner_of("s"), turn.armies_on("s")) == ("red", 0)
    turn = turn.after(policy(turn), (0, 1)).after(Advance(6))
    assert turn.armies == (0, 0, 6)
    assert plan.goal.is_reached(turn)


def test_the_armies_that_move_in_may_differ_from_the_plan() -> None:
    plan = best_plan(Turn(ROW), TakeAll("a,b"))
    won = plan.turn.after(plan.policy(plan.turn), (0, 2))
    assert plan.policy(won) == Advance(5)
    later = plan.policy(won.after(Advance(3)))
    assert later == Attack("a", "b", 2)


def test_a_plan_that_is_over_ends_the_attacks() -> None:
    plan = best_plan(Turn(ROW), TakeAll("a,b"))
    over = plan.turn.replace_armies(("red",) * 3, (1,) * 3)
    assert plan.policy(over) == EndPhase()
    assert plan.policy.value(over) == (1.0, True)
