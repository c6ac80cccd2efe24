"""Decisions of persons, compared with the usual AI by the chance to win the game."""

import pytest

from iacta import Turn
from iacta.game import play_step
from iacta.game.steps import Step
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline
from iacta.war.decisions import estimate_wins, is_decision, judge_decision

# Red will probably win now, but blue gets three armies if red stops.
WINNING = Turn.from_code("1;classic;red;Peru:red:4,Brazil:blue:1")
ATTACK = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 4, "their_left": 0, "dice": 3}


def test_to_stop_instead_of_winning_is_clearly_worse() -> None:
    found = judge_decision(WINNING, {"do": "stop"})
    assert found is not None
    assert found.is_clear
    assert found.better["do"] == "attack"
    assert 0.05 < found.cost == pytest.approx((found.interval.low + found.interval.high) / 2)


@pytest.mark.parametrize(
    "step", [ATTACK, {**ATTACK, "left": 2, "their_left": 1, "dice": 2}, {"do": "stop"}]
)
def test_the_decision_of_the_ai_has_no_cost(step: Step) -> None:
    found = judge_decision(WINNING, step)
    assert found is not None
    again = judge_decision(WINNING, found.better)
    assert again is not None
    assert (again.cost, again.better, again.is_clear) == (0.0, found.better, False)


def test_the_same_seed_gives_the_same_cost_at_any_time_limit() -> None:
    first = judge_decision(WINNING, {"do": "stop"})
    assert first == judge_decision(WINNING, {"do": "stop"}, deadline=Deadline(300))


def test_cards_of_others_do_not_change_the_judgement() -> None:
    code = "1;classic;red;Peru:red:9,Brazil:blue:5,Siam:green:5;attack;cards=blue:"
    hands = [Turn.from_code(f"{code}{hand}") for hand in ("3.0.0.0.0", "0.2.1.0.0")]
    found = [judge_decision(turn, {"do": "stop"}) for turn in hands]
    assert found[0] == found[1] is not None


def test_without_time_there_is_no_judgement() -> None:
    deadline = Deadline()
    deadline.stop()
    assert judge_decision(WINNING, {"do": "stop"}, deadline=deadline) is None
    assert estimate_wins(WINNING, deadline=deadline) is None


def test_an_impossible_step_is_refused() -> None:
    with pytest.raises(IactaError):
        judge_decision(WINNING, {"do": "advance", "armies": 1})


def test_only_steps_with_an_alternative_are_decisions() -> None:
    assert is_decision(play_step(WINNING, {"do": "stop"}))
    over = Turn.from_code("1;classic;red;Peru:red:4,Brazil:blue:1;over")
    assert not is_decision(play_step(over, {"do": "next"}))


def test_the_chances_to_win_sum_to_one_and_are_certain_at_the_end() -> None:
    found = estimate_wins(WINNING)
    assert found is not None
    assert sum(found.values()) == pytest.approx(1)
    assert max(found, key=found.__getitem__) == "red"
    won = Turn.from_code("1;classic;red;Peru:red:4,Brazil:red:1;attack;players=red,blue")
    assert estimate_wins(won) == {"red": 1.0}
