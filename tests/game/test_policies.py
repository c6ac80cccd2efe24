"""Values of policies: exact values, estimates with intervals, and simple policies."""

from random import Random
from typing import Any

import pytest

import iacta
from iacta import IactaError, Rules, Turn, evaluate, evaluate_battle, win_probability
from iacta.game import Action, Attack, EndPhase, Place
from iacta.rules.modes import ArmiesGrow, DefenderSeesFirst
from tests.game.positions import at_random, classic_turn, make_line_turn


class Own:
    """The goal to own a territory."""

    def __init__(self, name: str) -> None:
        self.name = name

    def worth(self, turn: Turn) -> float:
        """Return 1 if the player owns the territory, 0 otherwise."""
        return float(turn.position.find_holding(self.name).owner == turn.player)


class Armies:
    """The goal to have armies."""

    def worth(self, turn: Turn) -> float:
        """Return the number of the player's armies."""
        rows = zip(turn.armies, turn.owners, strict=True)
        return float(sum(n for n, owner in rows if owner == turn.player))


def always(turn: Turn) -> Action:
    """Attack over the first border with as many dice as possible, and advance with all armies."""
    return turn.actions()[0] if turn.phase == "attack" else turn.actions()[-1]


@pytest.mark.parametrize("rules", ["classic", "capital", "zombie defender"])
def test_always_attacking_has_the_value_of_the_chance_to_win(rules: str) -> None:
    found = evaluate(always, make_line_turn("r9 b5", rules=rules, fortify="none"), Own("B"))
    assert found.value == pytest.approx(win_probability(9, 5, rules), abs=1e-12)
    assert (found.interval, found.games) == (None, 0)
    assert found.states > 20


def test_the_worst_defence_agrees_with_the_kernel() -> None:
    turn = make_line_turn("r7 b4", rules=Rules(mode=DefenderSeesFirst()), fortify="none")
    worst = evaluate(always, turn, Own("B"))
    assert worst.value == pytest.approx(win_probability(7, 4, turn.rules), abs=1e-12)
    careful = evaluate(always, turn, Own("B"), defender=Turn.careful_defence)
    assert careful.value == pytest.approx(worst.value, abs=1e-12)
    rash = evaluate(always, turn, Own("B"), defender=lambda now: now.actions()[-1])
    assert rash.value > worst.value


@pytest.mark.parametrize("goal", [Own("C"), Armies()])
def test_games_agree_with_the_exact_value(goal: Any) -> None:
    turn = make_line_turn("r8 b2 g2")
    exact = evaluate(always, turn, goal)
    played = evaluate(always, turn, goal, games=400, seed=3, max_states=0)
    assert (played.games, played.states) == (400, 0)
    assert played.interval is not None
    assert played.interval.low < exact.value < played.interval.high
    assert played == evaluate(always, turn, goal, games=400, seed=3, max_states=0)


def test_if_armies_can_grow_games_are_simulated() -> None:
    turn = make_line_turn("r6 b3", rules=Rules(mode=ArmiesGrow()))
    found = evaluate(always, turn, Own("B"), games=300)
    assert found.interval is not None
    assert found.interval.low < win_probability(6, 3, turn.rules) < found.interval.high


def test_a_goal_that_is_reached_ends_the_play() -> None:
    class Once(Own):
        def is_reached(self, turn: Turn) -> bool:
            """Return whether the player owns the territory."""
            return self.worth(turn) == 1

    turn = make_line_turn("r9 b1 b9")
    assert evaluate(always, turn, Once("B")).states < evaluate(always, turn, Own("B")).states


def test_illegal_actions_are_refused() -> None:
    with pytest.raises(IactaError, match="action must be legal in the phase 'attack'"):
        evaluate(lambda turn: Place("A", 1), make_line_turn("r4 b1"), Own("B"))
    with pytest.raises(IactaError, match="worth of the goal must be a function"):
        evaluate(always, make_line_turn("r4 b1"), "B")  # type: ignore[arg-type] # that is the claim
    with pytest.raises(IactaError, match="policy must be a function"):
        evaluate("always", make_line_turn("r4 b1"), Own("B"))  # type: ignore[arg-type]
    with pytest.raises(IactaError, match="games must be a whole number of at least 2, got 1"):
        evaluate(always, make_line_turn("r4 b1"), Own("B"), games=1)
    with pytest.raises(IactaError, match="turn must be a Turn"):
        evaluate(always, "r4 b1", Own("B"))  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", ["classic", "capital", Rules(garrison=3)], ids=str)
def test_the_best_rule_of_thumb_has_the_value_of_when_to_stop(rules: Any) -> None:
    values: dict[str, Any] = {"prize": 6, "army_value": "1/2", "kill_value": 0.25}
    best = iacta.when_to_stop(12, 8, rules, **values)
    found = evaluate_battle(
        lambda a, d: 3 if best.choose_best_action(a, d) == "roll" else None, 12, 8, rules, **values
    )
    assert found.value == pytest.approx(float(best.value), abs=1e-11)
    assert (found.interval, found.games) == (None, 0)
    for thumb in (lambda a, d: 3, lambda a, d: 0, lambda a, d: a > d, lambda a, d: 1):
        assert evaluate_battle(thumb, 12, 8, rules, **values).value <= found.value + 1e-11


def test_a_large_battle_is_exact_too() -> None:
    found = evaluate_battle(lambda a, d: 3, 60, 40, prize=1, army_value=0)
    assert found.value == pytest.approx(win_probability(60, 40), abs=1e-12)


def test_a_game_that_is_played_is_a_record_of_legal_moves() -> None:
    rng = Random(4)  # noqa: S311 # plays games, no secrets
    turn = classic_turn(iacta.classic_board(), 4)
    record = turn.play(lambda now: at_random(now, rng), seed=9)
    here = turn
    for before, action, result in record.moves:
        assert before == here
        here = here.after(action, result)
    assert here == record.end
    assert record.end.phase == "over"
    again = make_line_turn("r9 b5").play(always, seed=2)
    assert again == make_line_turn("r9 b5").play(always, seed=2)
    assert again.moves[0].action == Attack("A", "B", 3)
    assert isinstance(again.moves[0].result, iacta.Losses)
    assert make_line_turn("r1 b5").play(always, seed=2).moves[0].action == EndPhase()
