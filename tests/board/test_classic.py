"""The classic board: its territories, its borders, and its world map."""

import math
from collections.abc import Iterator
from itertools import combinations

from iacta import classic_board
from iacta.board.board import Point
from tests.plan.boards import CLASSIC_BOARD

CLASSIC = classic_board()


def test_the_classic_board_has_42_territories_and_83_borders() -> None:
    assert len(set(CLASSIC.territories)) == 42
    assert len(CLASSIC.borders) == 2 * 83
    assert {(end, start) for start, end in CLASSIC.borders} == set(CLASSIC.borders)


def test_continents_are_connected_and_have_the_known_entries() -> None:
    entries = {}
    for each in CLASSIC.continents:
        inside = set(each.territories)
        assert all(inside & set(CLASSIC.neighbours(name)) for name in inside)
        entries[each.name] = sum(bool(set(CLASSIC.neighbours(n)) - inside) for n in inside)
    assert entries == {
        "North America": 3,
        "South America": 2,
        "Europe": 4,
        "Africa": 3,
        "Asia": 5,
        "Australia": 1,
    }


def polygons() -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Yield each polygon of the map."""
    for name, outline in zip(CLASSIC.territories, CLASSIC.outlines, strict=True):
        for polygon in outline:
            yield name, polygon


def list_sides(polygon: tuple[Point, ...]) -> Iterator[tuple[Point, Point]]:
    """Yield the sides of a polygon."""
    yield from zip(polygon, (*polygon[1:], polygon[0]), strict=True)


def is_inside(x: float, y: float, polygon: tuple[Point, ...]) -> bool:
    """Return whether a point is inside a polygon."""
    crossed = False
    for (x1, y1), (x2, y2) in list_sides(polygon):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            crossed = not crossed
    return crossed


def cross(first: tuple[Point, Point], second: tuple[Point, Point]) -> bool:
    """Return whether two line segments cross between their ends."""
    (a, b), (c, d) = first, second

    def turn(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return turn(a, b, c) * turn(a, b, d) < -1e-9 and turn(c, d, a) * turn(c, d, b) < -1e-9


def test_no_sides_of_the_outlines_cross() -> None:
    drawn = [side for _, polygon in polygons() for side in list_sides(polygon)]
    for first, second in combinations(drawn, 2):
        if max(first[0][0], first[1][0]) >= min(second[0][0], second[1][0]):
            assert not cross(first, second), (first, second)


def test_no_two_outlines_overlap() -> None:
    all_polygons = list(polygons())
    for column in range(0, 1000, 8):
        for row in range(0, 487, 8):
            x, y = column + 0.37, row + 0.41
            assert sum(is_inside(x, y, polygon) for _, polygon in all_polygons) <= 1, (x, y)


def test_armies_are_drawn_inside_the_outline_with_room_around_them() -> None:
    for (x, y), outline in zip(CLASSIC.places, CLASSIC.outlines, strict=True):
        for turn in range(8):
            angle = turn * math.pi / 4
            beside = (x + 4 * math.cos(angle), y + 4 * math.sin(angle))
            assert any(is_inside(*beside, polygon) for polygon in outline)


def test_the_map_has_its_documented_size() -> None:
    points = [point for _, polygon in polygons() for point in polygon]
    assert min(x for x, _ in points) >= 0
    assert max(x for x, _ in points) <= 1000
    assert min(y for _, y in points) >= 0
    assert max(y for _, y in points) <= 487


def test_the_classic_board_is_laid_out_like_the_world() -> None:
    place = dict(zip(CLASSIC.territories, CLASSIC.places, strict=True))
    west_to_east = ["Alaska", "Quebec", "Brazil", "Great Britain", "Egypt", "India", "Japan"]
    assert west_to_east == sorted(west_to_east, key=lambda name: place[name][0])
    north_to_south = [
        "Greenland",
        "Iceland",
        "Western Europe",
        "North Africa",
        "Congo",
        "Argentina",
    ]
    assert north_to_south == sorted(north_to_south, key=lambda name: place[name][1])


def test_the_classic_board_agrees_with_an_independent_board() -> None:
    other = CLASSIC_BOARD
    ours = classic_board()
    assert set(ours.territories) == set(other.territories)
    assert set(ours.borders) == set(other.borders)
    assert {(each.name, each.bonus, frozenset(each.territories)) for each in ours.continents} == {
        (each.name, each.bonus, frozenset(each.territories)) for each in other.continents
    }
