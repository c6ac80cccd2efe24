"""Pictures of boards: the numbers are right, and lines and labels are legible."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy._core._multiarray_umath import (  # type: ignore[import-not-found] # no stub
    __cpu_features__,
)

import iacta
from iacta import Board, Holding, Plan, Position, TakeAll, best_plan, charts, eliminate
from iacta.board.layout import choose_places, compute_edges, fit_frame, list_sea_borders, wrap_line
from iacta.board.scene import NARROW, WIDE, measure_text, shorten_name
from iacta.charts import Chart
from iacta.charts.board_layers import choose_digit_colour, format_short
from iacta.charts.boards import assign_owner_colours
from iacta.charts.saving import format_page
from iacta.charts.theme import (
    NAMED_COLOURS,
    PLAYER_COLOURS,
    WIDTH,
    choose_colours,
    compute_contrast,
)
from iacta.forms.percentages import percent, short_percent
from iacta.forms.sentences import join_phrases
from iacta.game import Turn
from iacta.plan import Goal
from iacta.plan.alternatives import list_first_attacks
from iacta.plan.report import list_main_line
from iacta.questions.plan.arrows import list_arrows
from tests.charts.checks import is_drawn

CLASSIC = iacta.classic_board()


def path(size: int, name: str = "chain") -> Board:
    """Return a board that is a chain of territories."""
    names = [f"T{n}" for n in range(size)]
    ways = [*pairwise(names), *((b, a) for a, b in pairwise(names))]
    return Board(name, tuple(names), tuple(ways))


def make_position(board: Board, *armies: int, player: str = "red", other: str = "blue") -> Position:
    """Return a position whose first territory belongs to the player to move."""
    holdings = [Holding(other, n) for n in armies[1:]]
    return Position(board, player, (Holding(player, armies[0]), *holdings))


@pytest.fixture(scope="module")
def asia() -> Plan:
    """Return a plan on the classic board."""
    return best_plan(iacta.read_position("examples/asia.toml"), TakeAll("Asia"), budget=0.02)


def layers(chart: Chart, name: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each layer that has data of a given name."""
    for layer in list_map_layers(chart):
        if layer["data"].get("name") == name and "values" in layer["data"]:
            yield layer["data"]["values"]


def list_map_layers(chart: Chart) -> list[dict[str, Any]]:
    """Return the layers of the map, without the tables below it."""
    found: list[dict[str, Any]] = chart.to_dict()["vconcat"][0]["layer"]
    return found


def both_sizes(chart: Chart) -> Iterator[tuple[float, list[dict[str, Any]]]]:
    """Yield the width and the parts of a map, for wide and narrow screens."""
    spec = chart.to_dict()
    for parts in (spec["vconcat"], spec["usermeta"]["narrow"]["vconcat"]):
        yield parts[0]["width"], parts


def values(part: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of the data with a given name, from the first layer that has them."""
    every = [part, *part.get("layer", [])]
    data = [each["data"] for each in every if each.get("data", {}).get("name") == name]
    return next((each["values"] for each in data if "values" in each), [])


def boxes(parts: list[dict[str, Any]], width: float) -> list[tuple[float, float, float, float]]:
    """Return the centres and half sizes of all labels and discs on a map, in pixels."""
    sizes = WIDE if width == WIDTH else NARROW
    projection = parts[0]["layer"][0]["projection"]
    scale, (left, top) = projection["scale"], projection["translate"]
    found = []
    for name in ("names", "numbers", "other numbers", "gains"):
        for row in values(parts[0], name):
            half = (sizes.disc, sizes.disc)
            if name in ("names", "gains"):
                half = (measure_text(row["text"]) * sizes.names / 2, 0.5 * sizes.names)
            found.append((row["x"] * scale + left, row["y"] * scale + top, *half))
    return found


def test_the_numbers_of_a_plan_equal_the_library_s(asia: Plan) -> None:
    chart = charts.plan_map(asia)
    for row, end in zip(chart.tables["territories"], asia.territories, strict=True):
        held = asia.position.find_holding(end.name)
        assert (row["territory"], row["own_probability"]) == (end.name, end.own_probability)
        assert (row["expected_armies"], row["armies"]) == (end.expected_armies, held.armies)
        assert row["owner"] == held.owner
    printed = {(row["from"], row["to"]): row for row in chart.tables["steps"]}
    for step in asia.steps:
        if step.reach_probability >= 0.005:
            row = printed.pop((step.start, step.to))
            assert row["reach_probability"] == step.reach_probability
            assert row["conquer_probability"] == step.conquer_probability
    assert not printed


def test_the_title_states_the_finding(asia: Plan) -> None:
    chance = percent(asia.comparable_value)  # its interval supports all digits
    assert charts.plan_map(asia).title.startswith(f"You take Asia with a chance of {chance}")
    start = make_position(path(3), 6, 2, 1)
    gone = best_plan(start, eliminate(start, "blue"))
    assert charts.plan_map(gone).title.startswith("You eliminate blue ")
    gains = best_plan(start, iacta.Worth())
    printed = charts.plan_map(gains).title
    assert printed.startswith(f"Attacking gains about {gains.comparable_value - 1:.1f} points")
    cannot = best_plan(make_position(path(3), 1, 2, 1), TakeAll("T1"))
    assert charts.plan_map(cannot).title.startswith("You cannot take T1: red has no stack that can")
    assert (
        charts.board_map(CLASSIC).title
        == "The board classic: 42 territories, 83 borders, 6 continents."
    )
    assert charts.board_map(start).title == ("It is red's turn, with 6 armies on 1 territory.")
    assert "To move: red; against: blue." in charts.board_map(start).subtitle


def test_a_board_without_outlines_is_drawn() -> None:
    chain = make_position(path(5), 9, 1, 2, 1, 1)
    assert is_drawn(charts.board_map(chain))
    assert is_drawn(charts.plan_map(best_plan(chain, eliminate(chain, "blue"))))


def test_lines_wrap_around_the_map() -> None:
    rows = charts.board_map(CLASSIC).tables["borders"]
    xs = [x for shape in CLASSIC.outlines for polygon in shape for x, _ in polygon]
    over = [row for row in rows if {row["from"], row["to"]} == {"Alaska", "Kamchatka"}]
    assert len(over) == 2
    assert {x for row in over for x in (row["x"], row["x2"])} >= {min(xs), max(xs)}
    assert max(abs(row["x"] - row["x2"]) for row in rows) < 0.3 * (max(xs) - min(xs))


def test_a_wrapped_line_keeps_its_height() -> None:
    (start, left), (right, end) = wrap_line((10.0, 0.0), (90.0, 40.0), (0.0, 100.0))
    assert (start, end) == ((10.0, 0.0), (90.0, 40.0))
    assert left == (0.0, 20.0)
    assert right == (100.0, 20.0)
    assert wrap_line((10.0, 0.0), (60.0, 40.0), (0.0, 100.0)) == [((10.0, 0.0), (60.0, 40.0))]
    assert compute_edges(path(9)) is None
    assert compute_edges(Board("two", ("A", "B"), (("A", "B"),), (), ((0, 0), (90, 0)))) is None


def test_a_wrapped_arrow_points_at_its_target() -> None:
    names = ("Kamchatka", "Alaska", *(f"between {n}" for n in range(6)))
    places = ((90, 5), (10, 5), *((20 + 10 * n, 9) for n in range(6)))
    board = Board("world", names, ((names[0], names[1]),), (), places)
    start = make_position(board, 9, *[1] * 7)
    chart = charts.plan_map(best_plan(start, TakeAll("Alaska")))
    heads = next(layers(chart, "heads"))
    assert len(heads) == 1
    assert heads[0]["x"] < 10  # the arrow enters at the left edge
    assert heads[0]["angle"] == pytest.approx(90)  # the arrow points to the right
    assert len(next(layers(chart, "shafts"))) == 2


def test_only_sea_borders_are_drawn_as_lines() -> None:
    drawn = {frozenset(pair) for pair in list_sea_borders(CLASSIC)}
    assert frozenset(("Brazil", "North Africa")) in drawn
    assert frozenset(("Siam", "Indonesia")) in drawn
    assert frozenset(("Brazil", "Peru")) not in drawn
    assert frozenset(("China", "India")) not in drawn
    assert len(list_sea_borders(path(9))) == 8


def test_one_way_borders_are_marked() -> None:
    board = Board("one way", ("A", "B", "C"), (("A", "B"), ("B", "C"), ("C", "B")))
    chart = charts.board_map(board)
    assert {row["from"]: row["one_way"] for row in chart.tables["borders"]} == {
        "A": True,
        "B": False,
    }
    (heads,) = layers(chart, "one way")
    assert len(heads) == 1


def test_a_chain_is_laid_out_from_left_to_right() -> None:
    places = choose_places(path(15))
    xs = [x for x, _ in places]
    assert xs in (sorted(xs), sorted(xs, reverse=True))
    assert max(abs(y) for _, y in places) < 1
    assert [math.dist(a, b) for a, b in pairwise(places)] == pytest.approx([100.0] * 14, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 14), st.data())
def test_any_board_is_laid_out_the_same_each_time_with_room(size: int, data: st.DataObject) -> None:
    names = [f"T{n}" for n in range(size)]
    pairs = list(combinations(names, 2))
    ways = data.draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    board = Board("any", tuple(names), tuple(ways))
    places = choose_places(board)
    assert places == choose_places(Board("again", board.territories, board.borders))
    assert len(places) == size
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places)
    if len(ways) < size:
        for a, b in combinations(places, 2):
            assert math.dist(a, b) > 15  # borders have length 100


SYMMETRIC = """
from itertools import combinations, product
from math import dist
from iacta import Board
from iacta.board.layout import choose_places

fields = [*product(range(4), range(4))]
grid = [(str(a), str(b)) for a, b in combinations(fields, 2) if dist(a, b) == 1]
for pairs in (
    [(f"T{n}", f"T{(n + 1) % 5}") for n in range(5)],
    [("middle", f"T{n}") for n in range(6)],
    [*combinations("ABCD", 2)],
    grid,
):
    print(choose_places(Board.from_edges("symmetric", pairs)))
"""


def test_symmetric_boards_look_the_same_on_every_processor() -> None:
    # OpenBLAS crashes if its settings select instructions that the processor lacks.
    needs = {"Nehalem": "SSE42", "Sandybridge": "AVX", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}
    types = ["", *(kind for kind, feature in needs.items() if __cpu_features__[feature])]
    said = {
        subprocess.run(  # noqa: S603 # our own lines
            [sys.executable, "-c", SYMMETRIC],
            capture_output=True,
            check=True,
            env={**os.environ, "OPENBLAS_CORETYPE": each},
            text=True,
        ).stdout
        for each in types
    }
    assert len(said) == 1


def test_a_board_s_own_places_are_kept() -> None:
    assert choose_places(CLASSIC) == CLASSIC.places


def test_a_frame_has_a_moderate_aspect_ratio() -> None:
    assert fit_frame([(0, 0), (100, 0)], False).height >= 0.2 * 100
    assert fit_frame([(0, 0), (0, 100)], False).width >= 60
    frame = fit_frame([(3, 4)], True)
    assert frame.contains((3, 4))
    assert frame.width > 0 < frame.height


def test_a_plan_in_a_corner_is_drawn_larger(asia: Plan) -> None:
    def scale(chart: Chart) -> float:
        return float(list_map_layers(chart)[0]["projection"]["scale"])

    whole = scale(charts.board_map(asia.position))
    assert scale(charts.plan_map(asia)) > 1.3 * whole
    blue = iacta.read_position("examples/eliminate-blue.json")
    apart = best_plan(Turn(blue, whole_battles=True), eliminate(blue, "blue"), time_limit=0)
    assert scale(charts.plan_map(apart)) == whole


def test_labels_keep_clear_of_each_other(asia: Plan) -> None:
    for chart in (charts.plan_map(asia), charts.board_map(CLASSIC)):
        for width, parts in both_sizes(chart):
            found = boxes(parts, width)
            assert len(found) > 10
            for (x, y, w, h), (x2, y2, w2, h2) in combinations(found, 2):
                assert abs(x - x2) >= w + w2 - 1e-6 or abs(y - y2) >= h + h2 - 1e-6


def test_each_arrow_has_its_number_and_its_chances(asia: Plan) -> None:
    chart = charts.plan_map(asia)
    steps = {row["number"]: row for row in chart.tables["steps"] if row["number"]}
    for _, (ground, below, *_) in both_sizes(chart):
        printed = {int(row["text"]): row for row in values(below, "lines")}
        numbers = [int(row["text"]) for row in values(ground, "numbers")]
        numbers += [int(row["text"]) for row in values(ground, "other numbers")]
        assert sorted(numbers) == sorted(printed) == sorted(steps)
        assert len(values(ground, "heads")) == len(steps)
        for number, row in printed.items():
            assert row["way"] == f"{steps[number]['from']} to {steps[number]['to']}"
            taken = percent(steps[number]["conquer_probability"], 0)
            assert row["taken"] == taken.replace("more than", ">").replace("less than", "<")
    line = [(each.step.start, each.step.to) for each in list_main_line(asia)]
    assert [(steps[n]["from"], steps[n]["to"]) for n in range(1, len(line) + 1)] == line


def test_each_visible_territory_has_a_name(asia: Plan) -> None:
    for chart in (
        charts.plan_map(asia),
        charts.board_map(asia.position),
        charts.board_map(CLASSIC),
    ):
        for width, (ground, *below) in both_sizes(chart):
            words = [row["text"] for row in values(ground, "names")]
            words += [row["text"] for part in below for row in values(part, "key")]
            words += [row["way"] for part in below for row in values(part, "lines")]
            printed = " ".join(words)
            seen = {row["territory"] for row in values(ground, "badges")} or CLASSIC.territories
            for name in seen:
                first, *rest = name.split()
                assert name in printed or (first in printed and rest[-1] in printed), (name, width)


def test_differing_chances_are_shown_beside_badges(
    asia: Plan,
) -> None:
    assert not [*layers(charts.plan_map(asia), "gains")]
    start = make_position(path(4), 6, 1, 1, 3)
    plan = best_plan(start, eliminate(start, "blue"))
    chart = charts.plan_map(plan)
    written = {row["text"] for row in next(layers(chart, "gains"))}
    ends = [territory.own_probability for territory in plan.territories[1:]]
    assert written == {short_percent(chance, 0) for chance in ends}
    land = next(each for each in list_map_layers(chart) if each["data"].get("name") == "discs")
    fills = [
        each["encoding"]["fill"] for each in list_map_layers(chart) if "fill" in each["encoding"]
    ]
    assert land
    assert fills[0]["scale"]["range"] == [NAMED_COLOURS["red"], NAMED_COLOURS["blue"]]


@pytest.mark.parametrize(
    ("file", "goal"),
    [
        ("asia.toml", TakeAll("Asia")),
        ("asia.toml", TakeAll("Africa")),
        ("break-off.json", iacta.Worth()),
        ("eliminate-blue.json", TakeAll("Venezuela, Peru")),
    ],
)
def test_the_first_arrow_is_the_best_attack_and_the_others_follow(file: str, goal: Goal) -> None:
    plan = best_plan(iacta.read_position(f"examples/{file}"), goal, budget=0.02)
    arrows = list_arrows(plan)
    names = plan.position.board.territories
    best = list_first_attacks(plan)[0]
    assert (names[arrows[0].start], names[arrows[0].to]) == best[:2]
    assert [arrow.number for arrow in arrows] == [*range(1, len(arrows) + 1)]
    looks = [arrow.look for arrow in arrows]
    line = len(list_main_line(plan))
    assert looks == ["next", *["main"] * (line - 1), *["rare"] * (len(arrows) - line)]


def test_digits_can_be_read_on_each_badge() -> None:
    for tone in (*PLAYER_COLOURS, *NAMED_COLOURS.values()):
        assert compute_contrast(tone, choose_digit_colour(tone)) >= 4.5


def test_a_board_shows_the_bonuses_of_its_continents() -> None:
    chart = charts.board_map(CLASSIC)
    assert {row["continent"]: row["bonus"] for row in chart.tables["territories"]} == {
        each.name: each.bonus for each in CLASSIC.continents
    }
    assert "Asia +7" in json.dumps(chart.to_dict())


def test_owners_differ_in_colour_and_shape() -> None:
    owners = ["black", "blue", "green", "red", "yellow", "white"]
    holdings = tuple(Holding(owner, 2) for owner in owners)
    chart = charts.board_map(Position(path(6), "black", holdings))
    badge = next(layer for layer in list_map_layers(chart) if "shape" in layer.get("encoding", {}))
    shapes = badge["encoding"]["shape"]["scale"]
    tones = badge["encoding"]["color"]["scale"]
    assert shapes["domain"] == tones["domain"] == owners
    assert len(set(shapes["range"])) == 6
    assert len(set(tones["range"])) == 6


def test_players_named_after_a_colour_get_that_colour() -> None:
    chart = charts.board_map(make_position(path(2), 3, 1, player="Red", other="blue"))
    spec = json.dumps(chart.to_dict())
    assert '"domain": ["Red", "blue"], "range": ["#c22f2f", "#1f6fab"]' in spec


def test_a_player_has_the_same_colour_in_every_picture() -> None:
    board = path(3)
    holdings = tuple(Holding(owner, 2) for owner in ("Ben", "red", "Ada"))
    tones = choose_colours(["Ada", "red", "Ben"])
    assert tones["red"] == NAMED_COLOURS["red"]
    assert len({*tones.values()}) == 3
    for mover in tones:
        assert assign_owner_colours(Position(board, mover, holdings)) == tones
    assert choose_colours(map(str, range(20))).keys() == {*map(str, range(20))}
    log = (
        '{"turn": "1;classic;{};Peru:blue:5,Brazil:red:9", "goal": {"worth": true}, "battles": []}'
    )
    reviewed = iacta.review("\n".join(log.replace("{}", name) for name in ("blue", "red")))
    drawn = json.dumps(charts.game_review(reviewed).to_dict())
    asked = [NAMED_COLOURS["blue"], NAMED_COLOURS["red"]]
    assert f'"domain": ["blue", "red"], "range": {json.dumps(asked)}' in drawn


def test_a_review_has_turns_on_its_axis_and_a_line_for_each_turn() -> None:
    chart = charts.game_review(iacta.review(Path("examples/game.jsonl")))
    assert chart.title == "Red was 16.3 points unlucky, blue was 10.7 points lucky."
    rows = chart.tables["steps"]
    drawn = chart.to_dict()["layer"]
    ticks = drawn[0]["encoding"]["x"]["axis"]["values"]
    assert [rows[step]["turn"] for step in ticks] == [1, 2, 3]
    assert [rows[step]["decision"] for step in ticks] == ["start"] * 3
    assert drawn[0]["encoding"]["y"]["title"] == "chance to reach the turn's goal"
    lines = [each for each in drawn if each["mark"]["type"] == "line"]
    assert lines
    assert all(each["encoding"]["detail"]["field"] == "turn" for each in lines)
    players = ["Ben", "Ada"]
    log = "player,attack_dice,defence_dice,attackers_lost\n" + "Ben,1,1,0\nAda,1,1,1\n" * 20
    luck = json.dumps(charts.dice_audit(iacta.audit(log)).to_dict())
    tones = choose_colours(players)
    assert (
        f'"domain": {json.dumps(players)}, "range": {json.dumps([tones[each] for each in players])}'
        in luck
    )


def test_fair_dice_are_drawn_as_a_band() -> None:
    evening = charts.dice_audit(iacta.audit(Path("examples/rolls.csv")))
    svg = evening.content("svg").decode()
    assert "band: range of 95 of 100 fair logs" in svg
    found = re.search(r'<svg[^>]* height="(\d+)"', svg)
    assert found
    assert int(found[1]) <= 700
    assert all(row["low"] <= row["off"] <= row["high"] for row in evening.tables["results"])


def test_territories_without_an_owner_show_no_armies() -> None:
    board = path(3)
    chart = charts.board_map(Position(board, "red", (Holding("red", 4), *[Holding("", 0)] * 2)))
    (row, *_) = layers(chart, "badges")
    assert [each["territory"] for each in row] == ["T0"]
    assert [row["owner"] for row in chart.tables["territories"]] == ["red", "nobody", "nobody"]


def test_untrusted_names_are_escaped_and_shortened() -> None:
    evil = "</script><script>alert(1)</script>"
    board = Board(evil, (evil, "B"), ((evil, "B"), ("B", evil)))
    chart = charts.board_map(make_position(board, 5, 2, player=f"{evil} I", other=f"{evil} II"))
    text = format_page(chart.to_dict(), "")
    assert "<script>alert" not in text
    assert len(shorten_name(evil)) == 24


def test_armies_fit_on_a_badge() -> None:
    assert max(len(format_short(10**k * n)) for k in range(9) for n in (1, 99, 123)) <= 4


def test_large_boards_are_refused() -> None:
    with pytest.raises(iacta.TooLargeError, match="at most 300 territories to be drawn, got 301"):
        charts.board_map(path(301))
    many = path(501)
    placed = Board("many", many.territories, many.borders, (), tuple((n, n) for n in range(501)))
    with pytest.raises(iacta.TooLargeError, match="at most 500 territories to be drawn, got 501"):
        charts.board_map(placed)


def test_values_other_than_boards_are_refused() -> None:
    with pytest.raises(
        iacta.MalformedError, match="board must be a Board or a Position or a Turn, got 'classic'"
    ):
        charts.board_map("classic")  # type: ignore[arg-type]
    with pytest.raises(iacta.MalformedError, match="plan must be a Plan, got 'classic'"):
        charts.plan_map("classic")  # type: ignore[arg-type]


def test_a_map_shows_where_new_armies_help() -> None:
    position = iacta.read_position("examples/eliminate-blue.json")
    found = iacta.reinforce(iacta.Turn(position, place=4), TakeAll("Venezuela,Peru"))
    chart = charts.reinforcement_map(found)
    rows = {row["territory"]: row for row in chart.tables["territories"]}
    assert {name: row["new"] for name, row in rows.items() if row["new"]} == dict(found.placement)
    before = found.before.comparable_value
    for each in found.marginals:
        assert rows[each.name]["gain"] == pytest.approx(max(each.all - before, 0.0))
    assert rows["Japan"]["gain"] == 0.0
    numbers = [f"{number} on {name}" for name, number in found.placement]
    placed = f", {join_phrases(numbers)}" if numbers[1:] else f" on {found.placement[0][0]}"
    assert chart.title.startswith(f"With 4 new armies{placed}, you take ")
    assert {(row["from"], row["to"]) for row in chart.tables["steps"]} <= {
        (step.start, step.to) for step in found.plan.steps
    }
    assert is_drawn(chart)
    small = iacta.read_position("examples/break-off.json")
    worth = charts.reinforcement_map(
        iacta.reinforce(iacta.Turn(small, place=1), iacta.Worth(), time_limit=0)
    )
    assert "becomes" in worth.subtitle
    with pytest.raises(iacta.MalformedError, match="reinforcement must be a Reinforcement"):
        charts.reinforcement_map("here")  # type: ignore[arg-type]
