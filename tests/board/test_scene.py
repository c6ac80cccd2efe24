"""Drawings of boards: labels overlap nothing on maps of any size."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations, pairwise, product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import Board, classic_board
from iacta.board.scene import NARROW, WIDE, Anchor, Arrow, Scene, Sizes, build_scene, measure_text

Box: TypeAlias = tuple[float, float, float, float]
Point: TypeAlias = tuple[float, float]

CLASSIC = classic_board()
WAYS = [
    ("Ukraine", "Ural"),
    ("Ural", "Ukraine"),
    ("Ural", "China"),
    ("China", "Siam"),
    ("Siam", "Indonesia"),
    ("Kamchatka", "Alaska"),
    ("Brazil", "North Africa"),
]
SLACK = 1e-6


def arrows(board: Board, ways: Sequence[tuple[str, str]]) -> list[Arrow]:
    number = board.territories.index
    return [Arrow(n, number(a), number(b), "main", "") for n, (a, b) in enumerate(ways, start=1)]


def find_point(scene: Scene, anchor: Anchor, width: float) -> Point:
    """Return the coordinates of an anchor on a map whose width is given in units."""
    scale = width / scene.frame.width
    x, y = anchor.locate(scale)
    return (x - scene.frame.x) * scale, (y - scene.frame.y) * scale


def around(middle: Point, across: float, down: float) -> Box:
    return middle[0] - across, middle[1] - down, middle[0] + across, middle[1] + down


def meet(a: Box, b: Box) -> bool:
    across = a[0] < b[2] - SLACK and b[0] < a[2] - SLACK
    return across and a[1] < b[3] - SLACK and b[1] < a[3] - SLACK


def labels(scene: Scene, width: float) -> Iterator[tuple[str, Box]]:
    size = scene.sizes.names
    for each in scene.labels:
        if each.is_shown(width):
            across = max(map(measure_text, each.lines)) * size / 2
            down = scene.sizes.line * len(each.lines) / 2
            yield " ".join(each.lines), around(find_point(scene, each.middle, width), across, down)


def is_free(scene: Scene, width: float) -> None:
    """Return whether no two items overlap on a map of a given width."""
    words = dict(labels(scene, width))
    badge, disc = scene.sizes.badge, scene.sizes.disc
    others = [
        around(find_point(scene, each, width), badge, badge) for each in scene.badges if badge
    ]
    others += [around(find_point(scene, each.disc, width), disc, disc) for each in scene.arrows]
    for (name, box), (other, more) in combinations(words.items(), 2):
        assert not meet(box, more), (name, other, width)
    for (name, box), thing in product(words.items(), others):
        assert not meet(box, thing), (name, width)
    for (name, box), arrow in product(words.items(), scene.arrows):
        for path in arrow.paths:
            for a, b in pairwise(find_point(scene, each, width) for each in path):
                points = [
                    (a[0] + k / 200 * (b[0] - a[0]), a[1] + k / 200 * (b[1] - a[1]))
                    for k in range(201)
                ]
                assert not any(meet(box, (*point, *point)) for point in points), (name, width)
    high = scene.frame.height * width / scene.frame.width
    for name, (left, top, right, bottom) in words.items():
        assert min(left, top) >= -SLACK, name
        assert max(right - width, bottom - high) <= SLACK, name


@pytest.mark.parametrize("sizes", [WIDE, NARROW, WIDE._replace(badge=0.0)])
@pytest.mark.parametrize("ways", [[], WAYS])
def test_labels_are_clear_on_maps_of_every_size(sizes: Sizes, ways: list[tuple[str, str]]) -> None:
    scene = build_scene(CLASSIC, arrows(CLASSIC, ways), {3: "+12.5%"}, width=320.0, sizes=sizes)
    for width in (200, 320, 333, 401, 500, 640, 777, 1000, 1500, 4000):
        is_free(scene, float(width))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.data())
def test_labels_are_clear_on_any_board(size: int, data: st.DataObject) -> None:
    names = [f"Land {n} of {size}" for n in range(size)]
    pairs = data.draw(st.lists(st.sampled_from([*combinations(names, 2)]), min_size=1, max_size=20))
    board = Board.from_edges("any", pairs)
    scene = build_scene(board, arrows(board, [*dict.fromkeys(pairs)][:4]))
    for factor in (0.7, 1.0, 1.3, 2.0, 5.0):
        is_free(scene, factor * scene.width)


def test_a_map_of_the_usual_size_names_every_territory_and_continent() -> None:
    shown = build_scene(CLASSIC).list_shown_labels()
    assert {each.kind for each in shown} == {"name", "continent"}
    assert {each.territory for each in shown if each.kind == "name"} == {*range(42)}
    continents = {" ".join(each.lines) for each in shown if each.kind == "continent"}
    assert continents == {f"{each.name} +{each.bonus}" for each in CLASSIC.continents}


def test_a_line_is_around_each_continent_and_not_within_it() -> None:
    def sides(shape: Sequence[Sequence[Point]]) -> set[frozenset[Point]]:
        return {frozenset(side) for polygon in shape for side in pairwise([*polygon, polygon[0]])}

    drawn = {frozenset(side) for rim in build_scene(CLASSIC).rims for side in pairwise(rim)}
    of = dict(zip(CLASSIC.territories, map(sides, CLASSIC.outlines), strict=True))
    inside = of["Peru"] & of["Brazil"]
    assert inside
    assert not inside & drawn
    between = of["Ukraine"] & of["Ural"]
    assert between
    assert between <= drawn
    coast = of["Madagascar"]
    assert coast <= drawn


def test_letters_stand_for_names_until_these_have_room() -> None:
    scene = build_scene(CLASSIC, width=320.0, sizes=NARROW)
    keys = {each.territory: each for each in scene.labels if each.kind == "key"}
    assert keys
    for each in scene.labels:
        if each.kind == "name" and each.territory in keys:
            assert each.least == keys[each.territory].most
    assert {each.territory for each in scene.list_shown_labels()} == {*range(42)}


def test_badges_do_not_cover_each_other() -> None:
    places = ((0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (100.0, 80.0), (50.0, 40.0))
    names = tuple("ABCDE")
    board = Board(
        "near", names, (*pairwise(names), *((b, a) for a, b in pairwise(names))), (), places
    )
    scene = build_scene(board, width=200.0)
    for width in (200.0, 300.0, 1000.0):
        for a, b in combinations([find_point(scene, each, width) for each in scene.badges], 2):
            assert math.dist(a, b) > 3 * WIDE.badge


def test_an_arrow_passes_the_badges_in_its_way() -> None:
    places = ((0.0, 0.0), (50.0, 1.0), (100.0, 0.0), (50.0, 60.0))
    board = Board(
        "through", tuple("ABCD"), (("A", "C"), ("C", "A"), ("A", "B"), ("C", "D")), (), places
    )
    scene = build_scene(board, arrows(board, [("A", "C")]), width=300.0)
    (path,) = scene.arrows[0].paths
    for width in (300.0, 700.0):
        badge = find_point(scene, scene.badges[1], width)
        line = [find_point(scene, each, width) for each in path]
        assert min(math.dist(badge, at) for at in line) > WIDE.badge
    straight = build_scene(board, arrows(board, [("C", "D")]), width=300.0)
    assert len(straight.arrows[0].paths[0]) == 2


def test_a_scene_is_plain_data() -> None:
    scene = build_scene(CLASSIC, arrows(CLASSIC, WAYS))
    assert json.loads(json.dumps(asdict(scene)))["arrows"][0]["number"] == 1
    assert scene == build_scene(CLASSIC, arrows(CLASSIC, WAYS))
