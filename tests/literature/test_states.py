"""Pictures of states: nodes, chances and matrices come from the library."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from iacta import Chain, IllegalError, TooLargeError, find_rules
from iacta.charts import Chart
from iacta.charts.vega import Row
from iacta_literature import charts
from iacta_literature.taflin import Point, first_passage, roll_chances
from iacta_literature.tree import nodes, paths, tree

SMALL = [(3, 3), (4, 2), (4, 3), (4, 4), (5, 3), (8, 1), (2, 7), (7, 1)]
WIDTH, NODE, LETTERS = 540, 18, (26, 11)  # width of the plot, half a node, and a label, in pixels


def test_the_tree_has_the_nodes_and_the_chances_of_the_library() -> None:
    chart = charts.probability_tree(4, 2)
    found = list(nodes(tree(4, 2)))
    states = {(row["attackers"], row["defenders"]): row for row in chart.tables["states"]}
    assert set(states) == {tuple(node.state) for node in found}
    assert all(Fraction(states[node.state]["exact"]) == node.probability for node in found)
    rolls = {(row["from"], row["to"]): row["exact"] for row in chart.tables["rolls"]}
    assert rolls["4v2", "2v2"] == "2275/7776"
    assert len(rolls) == sum(len(node.branches) for node in found)
    assert chart.title == "9 states, and 7 ways to the end."


def test_the_state_space_has_the_same_states() -> None:
    tables = [draw(4, 3).tables for draw in (charts.state_space, charts.probability_tree)]
    assert tables[0] == tables[1]


def test_the_paths_equal_the_library_s() -> None:
    chart = charts.path_chances(3, 2, find_rules("classic", 0))
    said = {row["path"]: Fraction(row["exact"]) for row in chart.tables["paths"]}
    assert list(said.values()) == sorted(said.values(), reverse=True)
    assert said == {
        ", ".join(f"{a}v{d}" for a, d in path.states): path.probability
        for path in paths(3, 2, find_rules("classic", 0))
    }
    assert chart.title == "4 of 7 paths win; the likeliest of all comes 37% of the time."
    assert charts.path_chances(1, 1).title == "There is one way to the end."
    with pytest.raises(TooLargeError, match="at most 30 paths, got 12 against 10 with"):
        charts.path_chances(12, 10)


def test_a_larger_tree_is_refused() -> None:
    with pytest.raises(TooLargeError, match="at most 15 states, got 4 against 4 with 19"):
        charts.state_space(4, 4, every=True)
    with pytest.raises(TooLargeError, match="at most 15 states, got 12 against 10 with 85"):
        charts.state_space(12, 10)


@pytest.mark.parametrize("battle", SMALL, ids=str)
@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("garrison", [0, 1])
def test_no_roll_of_a_tree_overlaps_other_states(
    battle: tuple[int, int], rules: str, garrison: int
) -> None:
    try:
        chart = charts.probability_tree(*battle, find_rules(rules, garrison))
    except TooLargeError:
        return
    _keeps_apart(chart)


@pytest.mark.parametrize("rules", ["classic", "capital"])
@pytest.mark.parametrize("draw", [charts.probability_tree, charts.state_space])
def test_every_state_up_to_a_battle_is_shown(draw: Any, rules: str) -> None:
    found = find_rules(rules, 0)
    chart = draw(3, 3, found, every=True)
    states = {(row["attackers"], row["defenders"]): row for row in chart.tables["states"]}
    assert set(states) == set(product(range(4), repeat=2)) - {(0, 0)}
    come_by = {tuple(node.state) for node in nodes(tree(3, 3, found))}
    assert {state for state, row in states.items() if row["probability"]} == come_by
    rolls = {(row["from"], row["to"]): row["exact"] for row in chart.tables["rolls"]}
    for a, d in product(range(1, 4), repeat=2):
        for branch in tree(a, d, found).branches:
            after = branch.node.state
            assert rolls.pop((f"{a}v{d}", f"{after.attackers}v{after.defenders}")) == str(
                branch.probability
            )
    assert not rolls
    _keeps_apart(chart)


def _keeps_apart(chart: Chart) -> None:
    """Check that labels of rolls do not overlap and that no arrow crosses a state."""
    place = _places(chart)
    labels = [_label(row, place) for row in chart.tables["rolls"]]
    for number, (x, y) in enumerate(labels):
        assert not any(
            abs(x - u) < LETTERS[0] and abs(y - v) < LETTERS[1] for u, v in labels[:number]
        )
    for roll in chart.tables["rolls"]:
        for state in chart.tables["states"]:
            if state["state"] not in (roll["from"], roll["to"]):
                assert _gap(roll, state, place) > NODE


def _places(chart: Chart) -> Any:
    """Return a function from the coordinates of a tree to pixels, at the width of a page."""
    states = chart.tables["states"]
    across = [state["x"] for state in states]
    layers = max(-state["y"] for state in states)
    wide, high = max(max(across) - min(across), 1), max(layers, 1)
    return lambda x, y: (x * WIDTH / wide, y * (95 * (layers + 1) - 72) / high)


def _middle(roll: Row) -> tuple[float, float]:
    return (roll["x"] + roll["x2"]) / 2 + roll["bend"], (roll["y"] + roll["y2"]) / 2


def _label(roll: Row, place: Any) -> tuple[float, float]:
    x, y = _middle(roll)
    along = roll["along"]
    found: tuple[float, float] = place(
        roll["x"] + along * (x - roll["x"]), roll["y"] + along * (y - roll["y"])
    )
    return found


def _gap(roll: Row, state: Row, place: Any) -> float:
    """Return the distance between an arrow and a state."""
    node, middle = place(state["x"], state["y"]), place(*_middle(roll))
    ends = place(roll["x"], roll["y"]), place(roll["x2"], roll["y2"])
    return min(_distance(node, end, middle) for end in ends)


def _distance(
    point: tuple[float, float], start: tuple[float, float], end: tuple[float, float]
) -> float:
    """Return the distance of a point from the line through two points."""
    along = [e - s for s, e in zip(start, end, strict=True)]
    part = sum((p - s) * a for p, s, a in zip(point, start, along, strict=True))
    part = max(0.0, min(1.0, part / sum(a * a for a in along)))
    return math.dist(point, [s + part * a for s, a in zip(start, along, strict=True)])


def test_after_rolls_is_the_distribution_of_the_chain() -> None:
    chart = charts.after_rolls(12, 10, [1, 2])
    for count in (1, 2):
        states = Chain(12, 10).after(count)
        rows = [row for row in chart.tables["states"] if row["rolls"] == count]
        said = {(row["attackers"], row["defenders"]): row["probability"] for row in rows}
        assert said == dict(states)
    assert chart.title == "After 2 rolls it is most often 10 against 8: 33% of the time."
    with pytest.raises(IllegalError, match="1 to 6 different numbers, got 7"):
        charts.after_rolls(12, 10, range(7))


def test_after_rolls_never_rounds_rare_states_to_0() -> None:
    drawn = charts.after_rolls(12, 10, [6]).content("svg").decode()
    assert ">&lt; 1%<" in drawn
    assert ">0%<" not in drawn


def test_battles_without_a_roll_cannot_be_drawn() -> None:
    for draw in (
        charts.state_space,
        charts.probability_tree,
        charts.transition_matrix,
        charts.after_rolls,
    ):
        assert draw(1, 1).title == "No roll can be made."
    assert charts.after_rolls(2, 1).title == (
        "After 2 rolls it is over, most often 1 against 1: 58% of the time."
    )


def test_axes_show_only_possible_armies() -> None:
    encoding = charts.after_rolls(12, 10, [0, 1, 2, 6]).to_dict()["layer"][0]["encoding"]
    assert encoding["x"]["axis"]["values"] == list(range(1, 13))
    assert encoding["y"]["axis"]["values"] == list(range(11))
    edge = charts.first_passages(40, 30).to_dict()["layer"]
    axes = [layer["encoding"] for layer in edge if "axis" in layer["encoding"]["x"]]
    assert axes[0]["x"]["axis"]["values"][:3] == [0, 3, 6]
    assert max(axes[0]["y"]["axis"]["values"]) <= 30


def test_free_space_is_explained() -> None:
    assert (
        "both sides have more armies than all their dice need"
        in charts.first_passages(12, 10).subtitle
    )


@pytest.mark.parametrize("garrison", [0, 1, 3])
def test_first_passages_agree_with_taflin(garrison: int) -> None:
    rows = charts.first_passages(11 + garrison, 10, find_rules("classic", garrison)).tables[
        "points"
    ]
    passages = first_passage(Point(12, 10), roll_chances())
    said = {
        (row["attackers"] - garrison + 1, row["defenders"]): Fraction(row["exact"]) for row in rows
    }
    assert said == passages
    assert sum(said.values()) == 1


def test_every_path_to_the_boundary_starts_inside() -> None:
    chart = charts.first_passages(12, 10)
    rolls = chart.tables["rolls"]
    assert all(row["x"] >= 5 and row["y"] >= 3 for row in rolls)
    assert {row["to"] for row in rolls} == {
        f"{row['attackers']}v{row['defenders']}" for row in chart.tables["points"]
    }


def test_battles_unsuitable_for_first_passages_are_refused() -> None:
    with pytest.raises(
        IllegalError, match="at least 5 attackers against 3 defenders, got 4 against"
    ):
        charts.first_passages(4, 9)
    with pytest.raises(TooLargeError, match="at most 40 armies on a side, got 60 against 9"):
        charts.first_passages(60, 9)
    with pytest.raises(IllegalError, match="3 attack dice and 2 defence dice"):
        charts.first_passages(12, 10, "capital")


def test_the_matrix_equals_the_chain_s() -> None:
    chart = charts.transition_matrix(6, 4)
    matrix = Chain(6, 4).P
    rows = chart.tables["entries"]
    assert len(rows) == (matrix > 0).sum()
    assert all(row["probability"] == matrix[row["row"], row["column"]] for row in rows)
    assert chart.tables["bounds"] == [{"at": len(Chain(6, 4).transient) - 0.5}]
    with pytest.raises(TooLargeError, match="at most 300 states, got 30 against 30 with 929"):
        charts.transition_matrix(30, 30)
