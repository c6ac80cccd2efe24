"""The geometry of a board: places of territories, the frame of the map, and lines for borders.

The layout of a board without places is computed from its borders. Let D_uv be the number of borders
on the shortest path between the territories u and v. The places x_u minimise the stress

    Σ over u < v of  (|x_u − x_v| − D_uv)² / D_uv².

In the initial layout, the two territories that are farthest apart are at the left and right ends,
and all other territories are placed between them by the law of cosines. Each step minimises a
quadratic upper bound that equals the stress at the current places. Therefore the stress never
increases.

The layout of a board is the same on every machine, even for symmetric boards. The order of the
territories breaks ties in the initial layout. A small spiral then shifts the territories away from
symmetric places, where rounding would decide the direction of the next step.

Source: Gansner, Koren and North, "Graph drawing by stress majorization" (2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import TooLargeError

if TYPE_CHECKING:  # a slow import
    from iacta.board import Board

Floats: TypeAlias = npt.NDArray[np.float64]
Point: TypeAlias = tuple[float, float]

MAX_DRAWN = 500  # a map with more territories would be unreadable
MAX_LAID_OUT = 300  # a layout of more territories would take seconds
STEPS = 60
BORDER_LENGTH = 100.0  # the typical length of a border in a computed layout
SPIRAL_RADIUS = 0.001  # the radius of the spiral, relative to the length of a border
GOLDEN_ANGLE = 2.4  # the angle between successive points of the spiral, in radians
MAX_ASPECT = 1.5  # the maximum ratio of height to width
MIN_ASPECT = 0.25
MARGIN = {True: 0.03, False: 0.09}  # relative to the width, for boards with and without outlines
OUTER_SHARE = 0.25  # a line between the left and the right quarter of the map wraps around
MIN_TERRITORIES_TO_WRAP = 8
EDGE_MARGIN = 0.04  # the distance from the outermost places to the edges, relative to the width


class Frame(NamedTuple):
    """The visible part of a board, in the units of its places.

    x, y: the coordinates of the upper left corner.
    width, height: the size of the visible part.
    """

    x: float
    y: float
    width: float
    height: float

    def contains(self, point: Point) -> bool:
        return 0 <= point[0] - self.x <= self.width and 0 <= point[1] - self.y <= self.height


@lru_cache(maxsize=8)
def choose_places(board: Board) -> tuple[Point, ...]:
    """Return the places of a board; compute them from the borders if the board has no places."""
    check_size(board)
    return board.places or tuple((float(x), float(y)) for x, y in _lay_out(board))


def is_drawable(board: Board) -> bool:
    """Return whether a board is small enough to be drawn."""
    return len(board.territories) <= _max_territories(board)


def check_size(board: Board) -> None:
    if not is_drawable(board):
        raise TooLargeError(
            f"a board must have at most {_max_territories(board)} territories to be drawn, "
            f"got {len(board.territories)}"
        )


def _max_territories(board: Board) -> int:
    return MAX_DRAWN if board.places else MAX_LAID_OUT


def _lay_out(board: Board) -> Floats:
    distances = _measure_distances(board)
    places = _place_on_line(distances)
    weights = np.divide(1.0, distances**2, out=np.zeros_like(distances), where=distances > 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1.0)  # acts as the pseudo-inverse on vectors with sum 0
    for _ in range(STEPS):
        drawn = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        ratio = np.divide(weights * distances, drawn, out=np.zeros_like(drawn), where=drawn > 1e-9)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return (BORDER_LENGTH * places).round(2) + 0.0  # converts -0.0 to 0.0


def _measure_distances(board: Board) -> Floats:
    """Return a matrix of distances between territories: the numbers of borders on shortest paths.

    Paths ignore the direction of borders. Territories that are not connected get a large distance.
    """
    size = len(board.territories)
    number = {name: t for t, name in enumerate(board.territories)}
    near = np.eye(size, dtype=bool)
    for start, to in board.borders:
        near[number[start], number[to]] = near[number[to], number[start]] = True
    distances, steps = near.copy(), np.where(near, 1.0, 0.0)
    np.fill_diagonal(steps, 0.0)
    for far in range(2, size):
        new = (distances @ near) & ~distances
        if not new.any():
            break
        steps[new] = far
        distances |= new
    return np.where(distances, steps, steps.max() / 2 + 1.5)


def _place_on_line(distances: Floats) -> Floats:
    size, squares = len(distances), distances**2
    left, right = divmod(int(distances.argmax()), size)
    x = (squares[left] - squares[right]) / (2.0 * max(distances[left, right], 1.0))
    rest = np.maximum(squares - (x[:, None] - x) ** 2, 0.0)  # squared distances perpendicular to x
    y = np.sqrt(rest[rest.argmax() // size])
    turns = GOLDEN_ANGLE * np.arange(size)
    return np.column_stack([x + SPIRAL_RADIUS * np.cos(turns), y + SPIRAL_RADIUS * np.sin(turns)])


def fit_frame(points: Iterable[Point], outlined: bool) -> Frame:
    """Return a frame around points, with a margin and a readable aspect ratio."""
    xs, ys = zip(*points, strict=True)
    margin = MARGIN[outlined]
    width = max(max(xs) - min(xs), (max(ys) - min(ys)) / MAX_ASPECT, 1.0) * (1 + 2 * margin)
    height = max(max(ys) - min(ys) + 2 * margin * width, MIN_ASPECT * width)
    return Frame((max(xs) + min(xs) - width) / 2, (max(ys) + min(ys) - height) / 2, width, height)


def list_sea_borders(board: Board) -> list[tuple[str, str]]:
    """Return the borders between territories whose outlines do not touch, each border only once."""
    ends = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    points = {name: {p for polygon in shape for p in polygon} for name, shape in ends.items()}
    known = set(board.borders)
    place = {name: number for number, name in enumerate(board.territories)}
    once = [(a, b) for a, b in board.borders if (b, a) not in known or place[a] < place[b]]
    return [(a, b) for a, b in once if len(points.get(a, set()) & points.get(b, set())) < 2]


def compute_edges(board: Board) -> tuple[float, float] | None:
    """Return the left and right edges where lines may wrap around, as on a map of the world.

    The result is `None` for a board without places or with few territories.
    """
    outlines = [x for shape in board.outlines for polygon in shape for x, _ in polygon]
    if outlines:
        return min(outlines), max(outlines)
    if len(board.places) < MIN_TERRITORIES_TO_WRAP:
        return None
    xs = [x for x, _ in board.places]
    beside = EDGE_MARGIN * (max(xs) - min(xs))
    return min(xs) - beside, max(xs) + beside


def wrap_line(
    start: Point, to: Point, edges: tuple[float, float] | None
) -> Sequence[tuple[Point, Point]]:
    """Return the line between two points; a line that wraps around the edges has two pieces."""
    if edges is None:
        return [(start, to)]
    left, right = edges
    outer = OUTER_SHARE * (right - left)
    if min(start[0], to[0]) - left >= outer or right - max(start[0], to[0]) >= outer:
        return [(start, to)]
    near, far = (left, right) if start[0] < to[0] else (right, left)
    ours, theirs = abs(start[0] - near), abs(to[0] - far)
    part = ours / (ours + theirs) if ours + theirs else 0.5
    middle = start[1] + part * (to[1] - start[1])
    return [(start, (near, middle)), ((far, middle), to)]
