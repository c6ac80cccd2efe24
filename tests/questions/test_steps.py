"""The values of steps agree with plans, and luck is separate from cost."""

import json
from collections.abc import Iterator
from itertools import count, islice, pairwise
from typing import Any

import pytest

from benchmarks.positions import midgame
from iacta import IactaError, Turn, review
from iacta.game import Attack
from iacta.plan import TakeAll, best_plan
from iacta.plan.alternatives import list_first_attacks
from iacta.plan.judge import StateValue
from iacta.plan.margin import MARGIN
from iacta.plan.step_tree import StateSearch, StepTree
from iacta.questions import ask
from iacta.questions.steps import StepsAnswer, StepsQuestion
from tests.cases import for_each
from tests.tables import table

pytestmark = pytest.mark.usefixtures("core")

CODE = "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1,Venezuela:blue:2"
NAMES = [*Turn.from_code(CODE).board.territories]
PERU, BRAZIL, ARGENTINA = map(NAMES.index, ("Peru", "Brazil", "Argentina"))
STEPS: list[dict[str, Any]] = [
    {"after": 0, "do": "attack", "from": PERU, "to": BRAZIL, "left": 9, "their_left": 1, "dice": 3},
    {"after": 1, "do": "attack", "from": PERU, "to": BRAZIL, "left": 8, "their_left": 0},
    {"after": 2, "do": "advance", "armies": 3},
    {"after": 3, "do": "stop"},
    {"after": 0, "do": "attack", "from": PERU, "to": ARGENTINA, "left": 7, "their_left": 1},
    {"after": 4, "do": "stop"},
    {"after": 6, "do": "next"},
    {"after": 0, "do": "advance", "armies": 1},
]
ASKED = {"code": CODE, "steps": STEPS, "take": "Brazil, Argentina"}


def value_steps(asked: dict[str, Any]) -> Any:
    """Return the value of each turn."""
    return ask("steps", **asked).record()["values"]


def test_values_are_those_of_plans_and_luck_and_cost_make_up_the_change() -> None:
    rows = value_steps(ASKED)
    plan = best_plan(Turn.from_code(CODE).position, TakeAll("Brazil,Argentina"))
    assert rows[0]["value"] == pytest.approx(plan.value)
    assert rows[0]["figure"] == rows[0]["words"]
    for k, step in enumerate(STEPS[:6], 1):
        before, row = rows[step["after"]], rows[k]
        assert row["change"] == pytest.approx(row["value"] - before["value"])
        assert row["luck"] - row["cost"] == pytest.approx(row["change"])
        assert row["cost"] >= 0
    assert rows[1]["luck"] > 0  # the defenders lost two armies
    assert rows[1]["words"].startswith(f"{rows[1]['figure']}, dice +")
    assert (rows[4]["luck"], rows[4]["cost"]) == (0, pytest.approx(rows[3]["value"]))
    assert rows[4]["is_costly"]
    assert rows[5]["luck"] < 0
    armies = sum(rows[k]["luck_armies"] or 0.0 for k in (1, 2))
    luck, cost = (sum(rows[k][name] or 0.0 for k in range(1, 5)) for name in ("luck", "cost"))
    assert rows[4]["sum"] == (
        f"you were lucky by {armies:.1f} armies ({100 * luck:+.1f} points) "
        f"and your choices cost {100 * cost:.1f} points"
    )
    assert rows[7]["sum"] == ""  # the next player's turn begins
    assert rows[8] is None  # an advance without a conquest is impossible


def _attack(after: int, start: int, to: int, left: int, their_left: int, dice: int) -> Any:
    numbers = {"left": left, "their_left": their_left, "dice": dice}
    return {"after": after, "do": "attack", "from": start, "to": to, **numbers}


def test_exact_values_charge_a_wrong_attack_its_loss_and_the_best_ones_nothing() -> None:
    code = (
        CODE.replace("Brazil:blue:3", "Brazil:blue:1")
        .replace("blue:2", "blue:1")
        .replace("red:9", "red:4")
    )
    asked = {"code": code, "take": "Brazil, Argentina"}
    ways = ask("plan", position=code, take=asked["take"]).record()["moves"]
    steps = [
        _attack(0, NAMES.index(way["from"]), NAMES.index(way["to"]), 4, 0, dice["dice"])
        for way in ways
        for dice in way["by_dice"]
    ]
    losses = [dice["loss"] for way in ways for dice in way["by_dice"]]
    rows = value_steps({**asked, "steps": steps})
    assert [row["cost"] for row in rows[1:]] == pytest.approx(losses)
    assert 0.0 in losses
    assert max(losses) > 0.01
    assert [row["is_costly"] for row in rows[1:]] == [loss >= 0.0005 for loss in losses]


def test_luck_against_fewer_defence_dice_is_0_on_average_in_steps_and_reviews() -> None:
    turn = Turn.from_code(CODE)
    chances = {(0, 1): 855 / 1296, (1, 0): 441 / 1296}  # three dice against one
    steps = [
        {**_attack(0, PERU, BRAZIL, 9 - lost, 3 - killed, 3), "their_dice": 1}
        for lost, killed in chances
    ]
    rows = value_steps({"code": CODE, "take": "Brazil", "steps": steps})
    values = [
        best_plan(
            turn.apply_battle("Peru", "Brazil", 9 - lost, 3 - killed, 3, 1).position,
            TakeAll("Brazil"),
        ).comparable_value
        for lost, killed in chances
    ]
    mean = sum(p * value for p, value in zip(chances.values(), values, strict=True))
    assert [row["luck"] for row in rows[1:]] == pytest.approx([value - mean for value in values])
    assert [row["cost"] for row in rows[1:]] == [0, 0]
    assert rows[1]["change"] > rows[1]["luck"]  # the defender should throw two dice
    (only,) = value_steps({"code": CODE, "take": "Brazil", "steps": steps, "order": [1]})[1:2]
    assert only == rows[1]
    battle = {"from": "Peru", "to": "Brazil", "left": 9, "their_left": 2}
    line = {"turn": CODE, "goal": {"take": "Brazil"}, "stops": False}
    found = review(json.dumps({**line, "battles": [{**battle, "dice": 3, "their_dice": 1}]}))
    assert found.steps[0].luck == pytest.approx(rows[1]["luck"])
    assert found.steps[0].cost == 0
    spread = abs(values[0] - values[1]) * (chances[0, 1] * chances[1, 0]) ** 0.5
    assert found.steps[0].spread == pytest.approx(spread)


def _best_rolls() -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield mid-game turns with a goal, and a roll of the attack that a longer search prefers."""
    for seed in count(9):
        turn = Turn(midgame(seed), phase="attack")
        mine, continents = {*turn.position.list_territories("red")}, turn.board.continents
        wanted = [each for each in continents if len({*each.territories} - mine) in (4, 5)]
        for name in (each.name for each in wanted):
            plan = best_plan(turn.position, TakeAll(name), budget=0.05, threads=1)
            for best in list_first_attacks(plan)[:1]:
                losses = min(turn.list_losses(Attack(*best[:3])))
                left = turn.position.find_holding(best.start).armies - losses[0]
                their_left = turn.position.find_holding(best.to).armies - losses[1]
                start, to = map(NAMES.index, best[:2])
                roll = _attack(0, start, to, left, their_left, best.dice)
                yield {"code": turn.to_code(), "take": name}, [roll]


def test_the_best_decision_of_a_longer_plan_has_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iacta.plan.planner.MIN_VISITED", 1)
    monkeypatch.setattr("iacta.plan.planner.BATCH", 10)
    estimated = 0
    for asked, steps in islice(_best_rolls(), 10):
        row = value_steps({**asked, "steps": steps, "level": "quick"})[1]
        assert abs(row["cost"]) <= MARGIN
        assert not row["is_costly"]
        estimated += row["error"] > 0
    assert estimated > 5


def test_a_link_gives_the_same_numbers_at_any_time() -> None:
    asked, steps = next(_best_rolls())
    asked |= {"level": "quick"}
    found = value_steps({**asked, "steps": steps})
    assert value_steps({**asked, "steps": steps, "time_limit": 10**6}) == found
    for seconds in (0, 0.02, 0.1):
        fewer = value_steps({**asked, "steps": steps, "time_limit": seconds})
        pairs = zip(fewer, found, strict=True)
        assert all(row is None or row["value"] == each["value"] for row, each in pairs)
    assert value_steps({**asked, "steps": steps, "time_limit": 0}) == [None, None]


def test_the_value_of_a_turn_follows_from_its_successors() -> None:
    code = f"{CODE};place;place=3"
    place = {"after": 0, "do": "place", "on": [[PERU, 3]]}
    rolls = [_attack(1, PERU, BRAZIL, 12 - lost, 1 + lost, 3) for lost in (0, 1, 2)]
    asked = StepsQuestion(code=code, steps=(place, *rolls), take="Brazil, Argentina")
    tree = StepTree(asked.nodes)
    for k, value in enumerate((0.5, 0.6, 0.9, 0.8, 0.4)):
        turn = tree.nodes[k].turn
        assert turn is not None
        tree.add_value(StateSearch(turn, asked.goal, turn), StateValue(value))
    first, placed, *_ = StepsAnswer(asked, tree).record()["values"]
    mean = (0.9 * 2890 + 0.8 * 2611 + 0.4 * 2275) / 7776
    assert first["value"] == placed["value"] == pytest.approx(mean)


def test_requested_turns_come_first() -> None:
    seen: list[list[int]] = []

    def watch(doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None) -> None:
        assert isinstance(so_far, StepsAnswer)
        rows = so_far.record()["values"]
        seen.append([k for k, row in enumerate(rows) if row is not None])

    StepsQuestion(code=CODE, steps=tuple(STEPS), take="Brazil, Argentina", order=(2, 0)).answer(
        watch
    )
    assert {*seen[-1]} == {0, 1, 2, 7}  # the next player's turn has no goal to search for
    assert all({*before} <= {*after} for before, after in pairwise(seen))


def test_points_equal_a_worth() -> None:
    row = value_steps({"code": CODE, "steps": STEPS[:1], "worth": True})[1]
    assert row["figure"].endswith(" points")
    assert not row["is_chance"]


def test_steps_may_state_the_version_of_their_format() -> None:
    assert value_steps({**ASKED, "version": 1}) == value_steps(ASKED)


def test_equal_questions_have_equal_hashes() -> None:
    first = StepsQuestion(code=CODE, steps=tuple(STEPS), take="Brazil")
    turned = tuple(dict(reversed(step.items())) for step in STEPS)
    again = StepsQuestion(code=CODE, steps=turned, take="Brazil")
    assert first == again
    assert hash(first) == hash(again)


GOALS: list[dict[str, Any]] = [
    _attack(0, PERU, BRAZIL, 9, 1, 3),
    {"after": 1, "do": "goal", "goal": {"take": "Argentina"}},
    _attack(2, PERU, ARGENTINA, 9, 0, 3),
    {"after": 3, "do": "advance", "armies": 8},
    {"after": 4, "do": "stop"},
    {"after": 5, "do": "stop"},
    {"after": 6, "do": "next", "goal": {"take": "Peru"}},
]


def test_a_recorded_turn_keeps_the_goal_of_its_player() -> None:
    asked = {"code": CODE, "take": "Brazil, Argentina"}
    rows = value_steps({**asked, "steps": GOALS})
    red = value_steps({**asked, "steps": GOALS[:6]})
    assert rows[:7] == red
    assert 0 < rows[7]["value"] < 1  # blue's chance to take Peru
    other = [*GOALS[:6], {**GOALS[6], "goal": {"take": "Argentina, Peru"}}]
    assert value_steps({**asked, "steps": other})[:7] == red


def test_a_new_goal_only_judges_later_steps() -> None:
    before = value_steps({"code": CODE, "steps": GOALS[:1], "take": "Brazil, Argentina"})
    rows = value_steps({"code": CODE, "steps": GOALS[:3], "take": "Brazil, Argentina"})
    assert rows[:2] == before
    assert (rows[2]["luck"], rows[2]["cost"], rows[2]["change"]) == (None, None, None)
    own = Turn.from_code(CODE).apply_battle("Peru", "Brazil", 9, 1, 3)
    alone = value_steps(
        {"code": own.to_code(), "steps": [GOALS[2] | {"after": 0}], "take": "Argentina"}
    )
    assert rows[2]["value"] == alone[0]["value"]
    assert (rows[3]["luck"], rows[3]["cost"]) == (alone[1]["luck"], alone[1]["cost"])


def test_the_goal_of_a_step_counts_from_this_step_on() -> None:
    goal = {"take": "Argentina"}
    asked = {"code": CODE, "steps": [{**GOALS[0], "goal": goal}], "take": "Brazil"}
    rows = value_steps(asked)
    alone = value_steps({"code": CODE, "steps": GOALS[:1], **goal})
    assert rows[1] == alone[1]
    assert rows[0] == value_steps({**asked, "steps": []})[0]


def test_a_turn_without_a_goal_is_judged_in_armies_alone() -> None:
    first, roll = value_steps({"code": CODE, "steps": GOALS[:1]})
    assert (first["value"], first["words"], first["sum"]) == (None, "", "")
    assert (roll["value"], roll["luck"], roll["cost"]) == (None, None, None)
    assert roll["luck_armies"] == pytest.approx(1.8418, abs=5e-5)
    assert (roll["words"], roll["sum"]) == ("dice +1.8 armies", "you were lucky by 1.8 armies")
    assert "goal" not in str([*ask("steps", code=CODE, steps=GOALS[:1]).sections()])


def test_words_name_a_goal() -> None:
    steps = [{"after": 0, "do": "goal", "goal": goal} for goal in ({"worth": True}, None)]
    nodes = StepsQuestion(code=CODE, steps=(*steps, GOALS[1] | {"after": 0})).nodes
    assert [node.words for node in nodes[1:]] == ["Goal: worth", "No goal", "Goal: take Argentina"]


@for_each(*table(__file__, "invalid_steps"))
def test_invalid_steps_and_options_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(IactaError, match=words):
        value_steps({**ASKED, **more})
