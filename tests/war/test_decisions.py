"""Decisions of persons, compared with the usual AI by the chance to win the game."""

import numpy as np
import pytest

from iacta import Missions, Turn
from iacta.game import Attack, play_step
from iacta.game.step_fields import Step
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline
from iacta.war.decisions import (
    MIN_COST,
    STAGE_GAMES,
    estimate_rough_cost,
    estimate_wins,
    is_decision,
    judge_decision,
)
from iacta.war.games import War
from iacta.war.players import PLAYERS

# Red will probably win now, but blue gets three armies if red stops.
WINNING = Turn.from_code("1;classic;red;Peru:red:4,Brazil:blue:1")
ATTACK = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 4, "their_left": 0, "dice": 3}


def test_to_stop_instead_of_winning_is_clearly_worse() -> None:
    found = judge_decision(WINNING, {"do": "stop"})
    assert found is not None
    assert found.is_clear
    assert found.better["do"] == "attack"
    assert 0.05 < found.cost == pytest.approx((found.interval.low + found.interval.high) / 2)


def test_only_a_decision_that_seems_costly_has_a_rough_cost() -> None:
    rough = estimate_rough_cost(WINNING, {"do": "stop"})
    assert rough is not None
    assert rough > MIN_COST
    assert estimate_rough_cost(WINNING, ATTACK) == 0.0


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_cost_with_missions_is_counted_in_complete_games(is_hidden: bool) -> None:
    code = "1;classic;red;Peru:red:7,Venezuela:red:1,Brazil:red:1,Argentina:blue:4,Siam:green:9"
    own, other = "South America", "hidden" if is_hidden else "eliminate red"
    missions = Missions({"red": own, "blue": other, "green": other}, secret=("red", "blue"))
    turn = Turn.from_code(code).with_options(victory=missions)
    soon = Deadline()
    soon.stop()
    found = judge_decision(turn, {"do": "stop"}, soon=soon)
    assert found is not None
    assert found.better["do"] == "attack"
    seen = turn.seen_by("red")

    def count_wins(after: Turn) -> np.ndarray:
        start = after.next() if after.phase == "over" else after
        war = War(start)
        played = war.play_games((PLAYERS["usual"],) * len(war.seats), games=STAGE_GAMES, seed=0)
        assert not played.is_cut.any()
        return played.chances[:, war.seats.index("red")]

    attack = Attack(found.better["from"], found.better["to"], 3)
    attacked = sum(
        float(chance) * count_wins(seen.after(attack, result))
        for result, chance in seen.results(attack).items()
    )
    apart = attacked - count_wins(play_step(seen, {"do": "stop"}).after)
    assert found.cost == pytest.approx(apart.mean())
    half = (found.interval.high - found.interval.low) / 2
    assert found.cost > 0.0
    assert half >= 1.95 * apart.std(ddof=1) / STAGE_GAMES**0.5


def test_more_time_makes_the_interval_narrower() -> None:
    soon = Deadline()
    soon.stop()
    first, whole = (
        judge_decision(WINNING, {"do": "stop"}, soon=each) for each in (soon, Deadline())
    )
    assert first is not None
    assert whole is not None
    assert whole.interval.high - whole.interval.low < first.interval.high - first.interval.low


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
    assert estimate_rough_cost(WINNING, {"do": "stop"}, deadline=deadline) is None
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
