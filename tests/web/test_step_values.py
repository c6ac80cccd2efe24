"""What the steps of a tree were worth: the same as plans say, dice and choices apart."""

from itertools import pairwise
from typing import Any

import pytest

from iacta import IactaError, Turn
from iacta.plan import TakeAll, best_plan
from iacta.web.map_turns import analysed, read_tree, replayed
from iacta.web.step_values import Tree, Value, step_values

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


def test_values_are_those_of_plans_and_luck_and_cost_make_up_the_change() -> None:
    rows = step_values(ASKED)["values"]
    plan = best_plan(Turn.from_code(CODE).position, TakeAll("Brazil,Argentina"))
    assert rows[0]["value"] == pytest.approx(plan.value)
    assert rows[0]["figure"] == rows[0]["words"]
    for k, step in enumerate(STEPS[:6], 1):
        before, row = rows[step["after"]], rows[k]
        assert row["change"] == pytest.approx(row["value"] - before["value"])
        assert row["luck"] - row["cost"] == pytest.approx(row["change"])
        assert row["cost"] >= 0
    assert rows[1]["luck"] > 0  # the defenders lost two
    assert rows[1]["words"].startswith(f"{rows[1]['figure']}, dice +")
    assert (rows[4]["luck"], rows[4]["cost"]) == (0, pytest.approx(rows[3]["value"]))
    assert rows[4]["is_costly"]
    assert rows[5]["luck"] < 0
    luck = sum(rows[k]["luck"] for k in (1, 2, 3, 4))
    cost = sum(rows[k]["cost"] for k in (1, 2, 3, 4))
    assert rows[4]["sum"] == f"dice {100 * luck:+.1f}, choices {-100 * cost:+.1f}"
    assert rows[7]["sum"] == ""  # the next player's turn begins
    assert rows[8] is None  # an advance without a conquest is not possible


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
    ways = analysed(asked)["moves"]
    steps = [
        _attack(0, way["from"], way["to"], 4, 0, dice["dice"])
        for way in ways
        for dice in way["by_dice"]
    ]
    losses = [dice["loss"] for way in ways for dice in way["by_dice"]]
    rows = step_values({**asked, "steps": steps})["values"]
    assert [row["cost"] for row in rows[1:]] == pytest.approx(losses)
    assert 0.0 in losses
    assert max(losses) > 0.01
    assert [row["is_costly"] for row in rows[1:]] == [loss >= 0.0005 for loss in losses]


def test_estimated_values_charge_nothing_for_what_a_longer_plan_calls_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.web.step_values.BUDGET", 0.05)
    board = Turn.from_code(CODE).board
    wanted = [name for each in board.continents[:2] for name in each.territories]
    lands = [
        f"{name.replace(' ', '%20')}:{'blue:4' if t % 8 else 'red:19'}"
        for t, name in enumerate(wanted)
    ]
    asked = {"code": f"1;classic;red;{','.join(lands)}", "take": ", ".join(wanted)}
    best = analysed({**asked, "time_limit": 1})["moves"][0]
    steps = [_attack(0, best["from"], best["to"], 17, 4, best["dice"])]
    first, row = step_values({**asked, "steps": steps})["values"]
    assert row["error"] > 0
    assert (row["cost"], row["is_costly"]) == (0.0, False)
    again = step_values({**asked, "steps": steps, "order": [0]})["values"]
    assert again[0] == first  # the same link has the same numbers


def test_a_turn_is_worth_what_the_turns_after_it_prove() -> None:
    code = f"{CODE};place;place=3"
    place = {"after": 0, "do": "place", "on": [[PERU, 3]]}
    rolls = [_attack(1, PERU, BRAZIL, 12 - lost, 1 + lost, 3) for lost in (0, 1, 2)]
    sent = {"code": code, "steps": [place, *rolls], "take": "Brazil, Argentina"}
    tree = Tree(read_tree(sent, "take"), is_chance=True)
    for k, value in enumerate((0.5, 0.6, 0.9, 0.8, 0.4)):
        turn = tree.nodes[k].turn
        assert turn is not None
        tree.values[turn.to_code()] = Value(value)
    first, placed, *_ = tree.record()["values"]
    mean = (0.9 * 2890 + 0.8 * 2611 + 0.4 * 2275) / 7776
    assert first["value"] == placed["value"] == pytest.approx(mean)


def test_turns_that_are_wanted_come_first_with_what_their_steps_need() -> None:
    seen: list[list[int]] = []

    def watch(doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None) -> None:
        assert isinstance(so_far, Tree)
        rows = so_far.record()["values"]
        seen.append([k for k, row in enumerate(rows) if row is not None])

    step_values({**ASKED, "order": [2, 0]}, watch)
    assert {*seen[-1]} == {0, 1, 2}
    assert all({*before} <= {*after} for before, after in pairwise(seen))


def test_points_are_those_of_a_worth() -> None:
    row = step_values({"code": CODE, "steps": STEPS[:1], "worth": True})["values"][1]
    assert row["figure"].endswith(" points")
    assert not row["is_chance"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"order": [99]}, "order must be a whole number"),
        ({"time_limit": -1}, "time_limit must be seconds"),
        ({"steps": [{"do": "stop", "after": 5}]}, "after must be"),
        ({"of": 1}, "unknown key 'of'"),
    ],
)
def test_what_cannot_be_read_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(IactaError, match=words):
        step_values({**ASKED, **more})


def test_to_stop_has_its_cost_and_each_roll_its_words() -> None:
    found = analysed({"code": CODE, "take": "Brazil, Argentina"})
    assert found["stop"] == {
        "loss": pytest.approx(found["value"]),
        "words": f"{100 * found['value']:.1f} points less",
    }
    held = analysed({"code": CODE, "take": "Brazil", "hold": True, "time_limit": 1})
    assert "and hold it until your next turn" in held["sentences"][0]
    (start,) = replayed({"code": CODE})["turns"]
    assert start["usual"] == 3
    for border in start["odds"]:
        for lost, killed, _, words in border["rolls"]:
            assert words == f"I lose {lost}, they {killed}"
