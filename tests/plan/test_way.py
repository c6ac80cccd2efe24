"""The main line of a plan, and the armies that stay behind."""

import pytest

from iacta import Plan, TakeAll, best_plan, eliminate, read_position
from iacta.game import Attack, Turn
from iacta.plan.report import list_main_line, list_rearguards
from tests.plan.boards import find_move

SPLIT = {
    "player": "red",
    "board": {"territories": {"A": ["B", "C"], "B": [], "C": []}},
    "territories": {
        "A": {"owner": "red", "armies": 20},
        "B": {"owner": "blue", "armies": 3},
        "C": {"owner": "blue", "armies": 5},
    },
}


@pytest.fixture(scope="module")
def asia() -> Plan:
    """Return a plan with many possible courses."""
    turn = Turn(read_position("examples/asia.toml"), whole_battles=True)
    return best_plan(turn, TakeAll("Asia"), budget=0.1)


def test_the_main_line_takes_every_territory_once(asia: Plan) -> None:
    way = [turn.step for turn in list_main_line(asia)]
    assert len(way) == 12
    assert {step.to for step in way} == {*asia.goal.names}
    assert way[0].start == "Ukraine"
    owned = {"Ukraine"}
    for step in way:
        assert step in asia.steps
        assert step.start in owned
        assert step.to in asia.position.board.neighbours(step.start)
        owned.add(step.to)


def test_at_least_the_garrison_stays_behind(asia: Plan) -> None:
    found = list_rearguards(asia)
    assert {(each.start, each.to) for each in found} <= {(s.start, s.to) for s in asia.steps}
    for each in found:
        assert each.garrison == 1 <= each.least <= each.usual <= each.most
    chances = {(step.start, step.to): step.conquer_probability for step in asia.steps}
    for each in found:
        assert each.probability == pytest.approx(chances[each.start, each.to], abs=1e-12)


def test_a_stack_that_goes_two_ways_keeps_armies_for_the_second() -> None:
    plan = best_plan(
        Turn(position := read_position(SPLIT), whole_battles=True), eliminate(position, "blue")
    )
    first, second = (turn.step for turn in list_main_line(plan))
    found = {each.to: each for each in list_rearguards(plan)}
    assert not found[first.to].is_all
    # By the official rule, as many armies move in as dice were rolled; more would not help here.
    move = find_move(plan)
    assert move is not None
    assert found[first.to].most == max(able - moved + 1 for able, moved in move.advance.items())
    assert found[second.to].start == "A"
    assert plan.goal.phrase(position) == "eliminate blue"


def test_the_main_line_follows_the_plan(asia: Plan) -> None:
    turn, policy = asia.turn, asia.policy
    first, second = list_main_line(asia)[:2]
    attack = policy(turn)
    assert isinstance(attack, Attack)
    assert attack.to == first.step.to
    armies = turn.armies_on(attack.start)
    others = {n: branch for branch in first.branches for n in branch.armies}
    for left in range(2, armies + 1):
        won = turn.apply_battle(attack.start, attack.to, left, 0)
        then = policy(won.after(policy(won)))
        border = (then.start, then.to) if isinstance(then, Attack) else None
        if left in others:
            assert border == (others[left].start, others[left].to)
        elif border is not None:
            assert border == (second.step.start, second.step.to)
        assert first.fewest is not None
        assert left >= first.fewest or border is None


def test_nothing_follows_the_last_battle(asia: Plan) -> None:
    last = list_main_line(asia)[-1]
    assert (last.fewest, last.branches) == (None, ())
