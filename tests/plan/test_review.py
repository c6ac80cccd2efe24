"""Reviews of games: costs and luck agree with a slow twin, and add up over each turn."""

import json
import math
from typing import Any

import numpy as np
import pytest

from iacta import IactaError, Rules, review
from iacta.board import Board, Holding, Position
from iacta.game import Advance, Attack, Turn
from iacta.plan import Goal, TakeAll, Worth
from iacta.questions.review import ReviewQuestion
from tests.plan import twin

BORDERS = [(v, c) for v in "ABCD" for c in "ABCD" if v != c and {v, c} != {"A", "D"}]
BOARD = Board("square", tuple("ABCD"), tuple(BORDERS))
HELD = Holding("red", 5), Holding("red", 3), Holding("blue", 2), Holding("blue", 2)
START = Position(BOARD, "red", HELD)
GOALS: dict[str, tuple[dict[str, Any], Goal]] = {
    "take": ({"take": "D"}, TakeAll(("D",))),
    "worth": ({"worth": True}, Worth()),
}


def log_of(goal: dict[str, Any], battles: list[dict[str, Any]], *, whole: bool = False) -> str:
    """Return a log of one turn."""
    code = Turn(START, whole_battles=whole, phase="attack").to_code()
    turn = {"turn": code, "board": BOARD.to_record(), "goal": goal, "battles": battles}
    return json.dumps(turn)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("seed", range(6))
def test_a_turn_agrees_with_its_slow_twin(kind: str, seed: int, whole: bool) -> None:
    record, goal = GOALS[kind]
    slow = twin.Play(START, goal, Rules(), battles=whole)
    rng = np.random.default_rng(seed)
    turn, battles = Turn(START, whole_battles=whole, phase="attack"), list[dict[str, Any]]()
    expected = []  # luck and cost
    while len(battles) < 8 and not slow.is_over(slow.state(turn.position)):
        attacks: dict[tuple[str, str], Attack] = {}
        for each in turn.actions():
            if isinstance(each, Attack):
                attacks.setdefault((each.start, each.to), each)  # with the most dice
        if not attacks:
            break
        attack = [*attacks.values()][rng.integers(len(attacks))]
        before = turn.position
        state = slow.state(before)
        chosen = next(
            each
            for each in sorted(slow.actions(state), key=lambda each: -each.dice)
            if (slow.names[each.start], slow.names[each.to]) == (attack.start, attack.to)
        )
        (result,) = turn.results(attack).sample(1, rng)
        turn = turn.after(attack, result)
        left = before.of(attack.start).armies - result.attackers
        against = before.of(attack.to).armies - result.defenders
        entry = {"from": attack.start, "to": attack.to, "left": left, "their_left": against}
        best = None
        if turn.phase == "advance":
            advances = [each for each in turn.actions() if isinstance(each, Advance)]
            best = max(slow.value(slow.state(turn.after(each).position)) for each in advances)
            advance = advances[rng.integers(len(advances))]
            turn, entry["moved"] = turn.after(advance), advance.armies
        battles.append(entry)
        after = slow.value(slow.state(turn.position))
        best = after if best is None else best
        worth = slow.worth_of(state, chosen)
        expected.append((best - worth, slow.value(state) - worth + best - after))
    found = review(log_of(record, battles, whole=whole))
    *steps, stop = found.steps
    assert found.is_exact
    assert len(steps) == len(expected)
    for step, (luck, cost) in zip(steps, expected, strict=True):
        assert (step.luck, step.cost) == pytest.approx((luck, cost), abs=1e-9), step
    assert stop.cost == pytest.approx(stop.before - slow.paid(slow.state(turn.position)), abs=1e-9)
    gained = found.steps[-1].after - found.steps[0].before
    costs = math.fsum(each.cost for each in found.steps)
    assert math.fsum(each.luck for each in found.steps) == pytest.approx(gained + costs, abs=1e-9)


def test_the_costliest_decisions_name_what_is_better() -> None:
    wrong = {"from": "A", "to": "B", "left": 4, "their_left": 3}
    with pytest.raises(IactaError, match=r"line 1: battle 1: attack must be legal now, got A to B"):
        review(log_of({"take": "D"}, [wrong]))
    found = review(log_of({"take": "D"}, []))
    assert [each.name for each in found.costliest] == ["stop"]
    assert found.costliest[0].better
    assert found.players[0].cost == found.steps[0].before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"left": 9}, "line 1: battle 1: left must be"),
        ({"their_left": 0}, "line 1: battle 1: moved must be given, from 3 to 4"),
        ({"their_left": 0, "moved": 5}, "line 1: battle 1: moved must be from 3 to 4, got 5"),
        ({"moved": 1}, "line 1: battle 1: moved must be 0 where nothing is taken, got 1"),
        ({"to": "Mars"}, "line 1: battle 1: "),
        ({"dice": 3}, "line 1: battle 1: unknown key 'dice'"),
        ({"from": 3}, "line 1: battle 1: from must be a territory, got 3"),
    ],
)
def test_impossible_battles_are_refused(change: dict[str, Any], sentence: str) -> None:
    battle = {"from": "A", "to": "C", "left": 5, "their_left": 1} | change
    with pytest.raises(IactaError) as caught:
        review(log_of({"take": "D"}, [battle]))
    assert str(caught.value).startswith(sentence)


def test_a_turn_without_battles_is_watched_too() -> None:
    parts: list[float | None] = []

    def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
        parts.append(part)

    found = ReviewQuestion(log=log_of({"take": "D"}, [])).answer(watch)
    assert found.reviewed.players[0].battles == 0
    assert parts == [0.0]


def test_a_turn_may_go_on_in_the_next_line() -> None:
    parts = [json.loads(log_of({"take_any": "C, D"}, [])) for _ in range(3)]
    parts[0]["stops"] = False
    found = review("\n".join(map(json.dumps, parts)))
    assert [(each.turn, each.name) for each in found.steps] == [(1, "stop"), (2, "stop")]
    parts[0]["stops"] = "no"
    with pytest.raises(IactaError, match="line 1: stops must be"):
        review(json.dumps(parts[0]))


def test_goals_of_two_kinds_are_refused() -> None:
    lines = [log_of(GOALS[kind][0], []) for kind in GOALS]
    with pytest.raises(IactaError, match="goals must all be chances, or all worths, got both"):
        review("\n".join(lines))


def test_a_useless_attack_has_no_luck() -> None:
    borders = ("A", "B"), ("B", "A"), ("A", "C"), ("C", "A")
    board = Board("fork", ("A", "B", "C"), borders)
    held = Holding("red", 5), Holding("blue", 2), Holding("blue", 2)
    code = Turn(Position(board, "red", held), phase="attack").to_code()
    battle = {"from": "A", "to": "B", "left": 3, "their_left": 2}
    turn = {"turn": code, "board": board.to_record(), "goal": {"take": "C"}, "battles": [battle]}
    step, _ = review(json.dumps(turn)).steps
    assert (step.is_useful, step.luck, step.better) == (False, 0.0, "A to C")
    assert step.cost == pytest.approx(step.before - step.after)
