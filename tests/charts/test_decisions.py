"""Maps of what to do: each state as the decision has it."""

import pytest

from iacta import Decision, TooLargeError, best_mix, charts, how_many_dice, when_to_stop
from tests.charts.look import table, title


@pytest.mark.parametrize("decision", [when_to_stop(9, 8, prize=6), best_mix(9, 8)])
def test_each_state_of_the_map_is_the_decision_s(decision: Decision) -> None:
    chart = charts.decision_map(decision)
    seen = set()
    for row in table(chart, "actions"):
        for attackers in range(row["least"], row["most"] + 1):
            assert row["action"] == decision.action_at(attackers, row["defenders"])
            seen.add((attackers, row["defenders"]))
    assert (9, 8) in seen
    assert len(seen) == 8 * max(attackers for attackers, _ in seen)
    told = [(row["defenders"], row["attackers"]) for row in table(chart, "boundary")]
    assert told == [tuple(each) for each in decision.boundary if each.attackers is not None]


def test_the_title_says_what_to_do() -> None:
    mix = charts.decision_map(best_mix(12, 10))
    assert title(mix) == "Roll now. To blitz against 10 takes at least 14 armies."
    never = charts.decision_map(when_to_stop(12, 10, prize=3))
    assert title(never) == "Stop now: against 10 it is never best to roll."


def test_a_map_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLargeError, match="at most 100,000 states, got 600 attackers by 500"):
        charts.decision_map(when_to_stop(600, 500, prize=3))
    with pytest.raises(TooLargeError, match="at most 100,000 states"):
        charts.dice_map(how_many_dice(600, 500))


def test_the_dice_are_the_decision_s() -> None:
    decision = how_many_dice(6, 4, "attack commander")
    chart = charts.dice_map(decision)
    for name, policy in (("attack", decision.attack_policy), ("defence", decision.defence_policy)):
        for row in table(chart, name):
            for attackers in range(max(row["least"], 2), row["most"] + 1):
                assert row["dice"] == policy[row["defenders"], attackers - 1]
    assert table(chart, "battle") == [{"attackers": 6, "defenders": 4}]
    assert title(chart) == "Throw 3 dice now, and expect 2 dice."
