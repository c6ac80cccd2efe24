"""`Play`: following a plan move by move."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from iacta.board import Holding, Position
from iacta.game import Turn
from iacta.inputs.errors import IllegalError
from iacta.methods import kernel
from iacta.methods.sees_first import AllBattles
from iacta.native.deadline import Deadline
from iacta.plan import Play, TakeAll, best_plan
from iacta.plan.policy import Policy
from iacta.plan.search import Search
from tests.plan.boards import make_board, make_position

ROW = make_position(make_board("row", [("s", "a"), ("a", "b")], "sab"), {"s": 6}, {"a": 2, "b": 1})


def test_thrown_dice_follow_the_rules() -> None:
    play, rng = best_plan(ROW, TakeAll("a,b")).follow(), np.random.default_rng(1)
    runs = 3000
    thrown = [play.draw_losses(rng) for _ in range(runs)]
    for losses, weight in (((0, 2), 2890), ((1, 1), 2611), ((2, 0), 2275)):
        chance = weight / 7776
        assert abs(thrown.count(losses) / runs - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


def find_chances_if_seen(
    attackers: int, defenders: int, *, whole: bool
) -> dict[tuple[int, int], float]:
    """Return the results of a roll that the defender sees first, by enumerating all dice.

    whole: whether the attackers always go on with all dice. Otherwise they may stop or throw fewer.
    """

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
        return max(worth(a, d, k)[0] for k in ([most] if whole else range(1, most + 1)))

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


@pytest.mark.parametrize("play", ["rolls", "battles"])
@pytest.mark.parametrize(("attackers", "defenders"), [(6, 4), (4, 2), (3, 3), (7, 1)])
def test_a_defender_who_sees_the_attack_replies_as_the_plan_expects(
    attackers: int, defenders: int, play: str
) -> None:
    board = make_board("two", [("s", "a")], "sa")
    start = make_position(board, {"s": attackers}, {"a": defenders})
    found_play = best_plan(start, TakeAll("a"), "defender sees first", play=play).follow()
    found = {(lost, killed): chance for chance, lost, killed in found_play.loss_chances()}
    expected = find_chances_if_seen(attackers, defenders, whole=play == "battles")
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_chances_of_a_roll_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All results and all later calls share one table of smaller battles."""
    start = make_position(make_board("two", [("s", "a")], "sa"), {"s": 11}, {"a": 9})
    play = best_plan(start, TakeAll("a"), "defender sees first", play="battles").follow()
    assert play.move is not None
    built, values = list[object](), AllBattles._average_values

    def count(battles: AllBattles, *arguments: Any, **options: Any) -> Any:
        built.append(battles)
        return values(battles, *arguments, **options)

    monkeypatch.setattr(AllBattles, "_average_values", count)
    kernel._win_table_after_roll.cache_clear()
    chances, rng = play.loss_chances(), np.random.default_rng(3)
    assert len({id(each) for each in built}) == 1
    spans = len(built)
    for _ in range(20):
        play.draw_losses(rng)
    assert play.loss_chances() == chances
    assert len(built) == spans


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
    plan, rng = best_plan(ROW, TakeAll("a,b"), rules), np.random.default_rng(7)
    runs = won = 400
    for _ in range(runs):
        play = plan.follow()
        while play.move is not None:
            play = play.after(*play.draw_losses(rng))
        won -= play.position.find_holding("b").owner != "red"
    chance = plan.comparable_value
    assert abs(won / runs - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


def test_a_plan_that_fights_battles_to_their_end_goes_on_with_the_battle() -> None:
    plan = best_plan(ROW, TakeAll("a,b"), play="battles")
    play = plan.follow()
    while play.position.find_holding("s").armies > 2:
        assert play.move is not None
        assert (play.move.start, play.move.to) == ("s", "a")
        play = play.after(*min(play.results(), key=lambda each: each[1]))
    assert play.move is not None
    assert play.move.dice == 1
    assert play.after(1, 0).move is None


def reach_goal(play: Play) -> float:
    """Return the chance that a plan reaches its goal, by enumerating all results."""
    return float(play.is_reached) or sum(p * reach_goal(each) for each, p in play.list_successors())


@pytest.mark.parametrize("play", ["rolls", "battles"])
@pytest.mark.parametrize("goal", [TakeAll("a,b"), TakeAll("b"), TakeAll("a,b,c")])
@pytest.mark.parametrize("proven", [True, False])
def test_territories_that_all_armies_have_left_remain_the_player_s(
    goal: TakeAll, play: str, *, proven: bool
) -> None:
    """Without a garrison, the position shows these territories as unowned."""
    board = make_board("row", [("s", "a"), ("a", "b"), ("s", "c"), ("b", "c")], "sabc")
    start = make_position(board, {"s": 5}, {"a": 1, "b": 2, "c": 1})
    plan = best_plan(start, goal, garrison=0, play=play)
    if not proven:
        problem = plan.problem
        search = Search(problem)
        shares = search.assign(Deadline(), 8)
        plan = replace(plan, policy=Policy(problem, shares), proven=False)
        value = plan.policy.value(problem.start)[0]
    else:
        assert plan.proven
        value = plan.comparable_value
    assert reach_goal(plan.follow()) == pytest.approx(value, abs=1e-9)


def test_a_plan_goes_on_after_all_armies_moved_on() -> None:
    plan = best_plan(ROW, TakeAll("a,b"), garrison=0)
    play = plan.follow().after(0, 2, 6)
    assert play.position.find_holding("s") == Holding("", 0)
    assert play.move is not None
    last = play.after(0, 1, 6)
    assert [each.owner for each in last.position.holdings] == ["", "", "red"]
    assert last.is_reached


def test_more_armies_may_move_in_than_the_plan_says() -> None:
    play = best_plan(ROW, TakeAll("a,b")).follow()
    assert play.after(0, 2, 3).position.find_holding("s").armies == 3
    for moved in (2, 6):
        with pytest.raises(IllegalError, match="moved must be a whole number from 3 to 5"):
            play.after(0, 2, moved)
    with pytest.raises(IllegalError, match="losses must be one of 0-2, 1-1, 2-0, got 0-1"):
        play.after(0, 1)


def test_a_plan_by_battles_continues_its_battle() -> None:
    play = best_plan(ROW, TakeAll("a,b"), play="battles").follow()
    assert play.move == play.plan.next_move()
    later = play.after(1, 1)
    assert (later.move is not None, later.results()) == (True, ((0, 1), (1, 0)))
    assert later.after(0, 1).move == play.win_battle(4).move
    assert later.after(0, 1, 4).move is not None
    lost = later
    while lost.move is not None:
        lost = lost.after(1, 0)
    assert lost.position == play.lose_battle(1).position


def test_a_plan_that_is_over_has_no_next_move() -> None:
    play = best_plan(ROW, TakeAll("a,b")).follow()
    over = Position(ROW.board, "red", (Holding("red", 1),) * 3)
    done = play.plan.resume(over)
    assert done.move is None
    with pytest.raises(IllegalError, match="a plan that is over has no next move"):
        done.after(0, 1)
