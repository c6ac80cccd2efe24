"""Where a board is drawn: the places of its territories, the frame around them, the lines.

A board without places is laid out by its borders alone: with D the number of borders between two
territories, the places x minimise the stress

    Σ over u < v of  (|x_u − x_v| − D_uv)² / D_uv²,

starting with the two territories that are farthest apart at the left and at the right, and the
others between them by the law of cosines. Each step minimises a quadratic function that lies above
the stress and touches it, so that the stress never grows.

The same board looks the same on every machine, however symmetric it is: the start is worked out
number by number, with ties broken by the order of the territories, and a small spiral leads away
from symmetric places, where the direction of the next step would depend on rounding.

Source: Gansner, Koren and North, "Graph drawing by stress majorization" (2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import TooLargeError

if TYPE_CHECKING:  # takes time to import
    from iacta.board import Board

Floats: TypeAlias = npt.NDArray[np.float64]
Point: TypeAlias = tuple[float, float]

MAX_DRAWN = 500  # territories; more cannot be told apart
MAX_LAID_OUT = 300  # territories; more take seconds
STEPS = 60
BORDER_LENGTH = 100.0  # the length of a border on a board without places of its own
SPIRAL = 0.001  # how far from its place a territory starts
GOLDEN_ANGLE = 2.4  # the angle between two territories on the spiral, in radians
MAX_ASPECT = 1.5  # the most height of a frame for its width
MIN_ASPECT = 0.25
MARGIN = {True: 0.03, False: 0.09}  # wider without outlines, where names stand out
OUTER_PART = 0.25  # a line wraps if both ends are in the outer parts of the map's width
MIN_TERRITORIES_TO_WRAP = 8
EDGE_MARGIN = 0.04


class Frame(NamedTuple):
    """The part of a board that is drawn.

    x, y: its upper left corner.
    width, height: its size, in the units of the places.
    """

    x: float
    y: float
    width: float
    height: float

    def holds(self, point: Point) -> bool:
        return 0 <= point[0] - self.x <= self.width and 0 <= point[1] - self.y <= self.height


@lru_cache(maxsize=8)
def find_places(board: Board) -> tuple[Point, ...]:
    check_size(board)
    return board.places or tuple((float(x), float(y)) for x, y in _lay_out(board))


def is_drawn(board: Board) -> bool:
    return len(board.territories) <= _max_territories(board)


def check_size(board: Board) -> None:
    if not is_drawn(board):
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
    inverse = np.linalg.inv(laplacian + 1.0)  # the same on vectors that sum to 0
    for _ in range(STEPS):
        drawn = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        ratio = np.divide(weights * distances, drawn, out=np.zeros_like(drawn), where=drawn > 1e-9)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return (BORDER_LENGTH * places).round(2) + 0.0  # never -0.0


def _measure_distances(board: Board) -> Floats:
    """Return the number of borders between each two territories, in either direction."""
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
    return np.where(distances, steps, steps.max() / 2 + 1.5)  # for parts that are not connected


def _place_on_line(distances: Floats) -> Floats:
    size, squares = len(distances), distances**2
    left, right = divmod(int(distances.argmax()), size)
    x = (squares[left] - squares[right]) / (2.0 * max(distances[left, right], 1.0))
    rest = np.maximum(squares - (x[:, None] - x) ** 2, 0.0)  # what x does not explain
    y = np.sqrt(rest[rest.argmax() // size])
    turns = GOLDEN_ANGLE * np.arange(size)
    return np.column_stack([x + SPIRAL * np.cos(turns), y + SPIRAL * np.sin(turns)])


def fit_frame(points: Iterable[Point], outlined: bool) -> Frame:
    xs, ys = zip(*points, strict=True)
    margin = MARGIN[outlined]
    width = max(max(xs) - min(xs), (max(ys) - min(ys)) / MAX_ASPECT, 1.0) * (1 + 2 * margin)
    height = max(max(ys) - min(ys) + 2 * margin * width, MIN_ASPECT * width)
    return Frame((max(xs) + min(xs) - width) / 2, (max(ys) + min(ys) - height) / 2, width, height)


def find_sea_borders(board: Board) -> list[tuple[str, str]]:
    """Return the borders, each once, between territories whose outlines do not touch."""
    ends = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    points = {name: {p for polygon in shape for p in polygon} for name, shape in ends.items()}
    known = set(board.borders)
    place = {name: number for number, name in enumerate(board.territories)}
    once = [(a, b) for a, b in board.borders if (b, a) not in known or place[a] < place[b]]
    return [(a, b) for a, b in once if len(points.get(a, set()) & points.get(b, set())) < 2]


def find_edges(board: Board) -> tuple[float, float] | None:
    """Return the left and right edges around which lines may wrap, if it is a map of the world.

    A board without places of its own, or with only a few territories, is not.
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
    """Return the line between two points, in two pieces if it wraps around the edges of the map."""
    if edges is None:
        return [(start, to)]
    left, right = edges
    outer = OUTER_PART * (right - left)
    if min(start[0], to[0]) - left >= outer or right - max(start[0], to[0]) >= outer:
        return [(start, to)]
    near, far = (left, right) if start[0] < to[0] else (right, left)
    ours, theirs = abs(start[0] - near), abs(to[0] - far)
    part = ours / (ours + theirs) if ours + theirs else 0.5
    middle = start[1] + part * (to[1] - start[1])
    return [(start, (near, middle)), ((far, middle), to)]
