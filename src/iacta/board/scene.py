"""Scenes: drawings of a board as plain data, for pictures and for the analysis board.

A map can have any size. Territories, borders and places scale with the map, whereas badges, arrow
heads and letters have a fixed size. An `Anchor` therefore consists of a point of the board and an
offset in units, such as pixels, that do not depend on the size of the map.

The layout does not depend on the size of the map either. Each label has a fixed anchor and a
minimum width of the map. On maps of at least this width, the label does not overlap any badge, any
arrow or any earlier label. A renderer only has to omit the labels for which the map is too small.
An item with the anchor (p, u) is drawn at p z + u on a map of scale z. Two items overlap at the
scales z at which several linear functions of z are all negative. These scales form an interval,
which is computed exactly.

Source: Been, Daiches and Yap, "Dynamic map labeling" (2006).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.board.layout import (
    Frame,
    choose_places,
    compute_edges,
    fit_frame,
    list_sea_borders,
    wrap_line,
)

if TYPE_CHECKING:  # a slow import
    from iacta.board import Board

Floats: TypeAlias = npt.NDArray[np.float64]
Point: TypeAlias = tuple[float, float]
Kind: TypeAlias = Literal["value", "name", "key", "continent"]
Look: TypeAlias = Literal["main", "rare", "next"]

# The shapes of badges, which distinguish owners for readers who cannot distinguish the colours.
SHAPES = (
    "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z",
    "M-.92,-.92L.92,-.92L.92,.92L-.92,.92Z",
    "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",
    "M0,-1.15L1.05,-.3L.85,.95L-.85,.95L-1.05,-.3Z",
    "M-1,-.9L1,-.9L.9,.4L0,1.15L-.9,.4Z",
    "M-.6,-1.05L.6,-1.05L1.15,0L.6,1.05L-.6,1.05L-1.15,0Z",
    "M-.45,-1.05L.45,-1.05L1.05,-.45L1.05,.45L.45,1.05L-.45,1.05L-1.05,.45L-1.05,-.45Z",
    "M-1.15,-.85L1.15,-.85L.75,.95L-.75,.95Z",
)

MAX_CLOSE_UP = 0.7  # the largest fraction of the board's width in a close-up
TERRITORY_SPACING = 66.0  # the mean distance between territories at the default width, in units
MIN_BADGE_SPACING = 3.25  # the minimum distance of badges, relative to half the size of a badge
SPREAD_ROUNDS = 60
GOLDEN_ANGLE = 2.4  # radians
MAX_SHORT_NAME_LENGTH = 24
LETTERS = {0.25: "fijlrtI.,:;'|!()[]-/ ", 0.7: "ABCDEFGHKLNOPQRSTUVXYZwJ", 0.88: "mMW@%"}
LETTER_WIDTHS = {letter: width for width, some in LETTERS.items() for letter in some}
LETTER_WIDTH = 0.56  # the width of other letters, relative to the font size
LANE_OFFSET = 3.0  # the distance of two opposite arrows from their centre line, in units
HEAD_SIZE = 4.0  # half the size of an arrow head, in units
BENDS = (0.0, 9.0, -9.0, 15.0, -15.0, 22.0, -22.0)  # candidate bends of an arrow, in units
BEND_PIECES = 8  # the number of straight segments in a bent arrow
BADGE_CLEARANCE = 3.0  # the minimum distance between an arrow and other badges, in units
DISC_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)  # fractions of the arrow, best first
MAX_KEY_DISTANCE = 40  # the maximum distance between a badge and its key, in units
CONTINENT_GRID = 16  # the number of rows and columns of candidate places for a continent's name
CONTINENT_BATCH = 32  # the number of candidate places that are checked together
MIN_SLOPE = 1e-12  # slopes below this fraction of the largest slope are treated as 0


class Sizes(NamedTuple):
    """The sizes of items on a map, in units.

    badge: half the size of a badge.
    names: the font size of names.
    line: the line height of names.
    disc: half the size of the disc that contains the number of an arrow.
    """

    badge: float
    names: float
    line: float
    disc: float


WIDE = Sizes(8.0, 9.0, 10.4, 6.5)
NARROW = Sizes(6.0, 9.0, 10.4, 5.5)


class Anchor(NamedTuple):
    """The place of an item on maps of any size: a point of the board and an offset in units.

    x, y: the coordinates of the point of the board.
    dx, dy: the offset in units.
    """

    x: float
    y: float
    dx: float = 0.0
    dy: float = 0.0

    def locate(self, scale: float) -> Point:
        """Return the place of the anchor in coordinates of the board.

        scale: the scale of the map, in units for one coordinate unit of the board.
        """
        return self.x + self.dx / scale, self.y + self.dy / scale


ORIGIN = Anchor(0.0, 0.0)


@dataclass(frozen=True)
class Border:
    """A border between two territories.

    start, to: the indices of the territories.
    is_one_way: whether armies can only attack from `start` to `to`.
    is_drawn: whether the map shows a line for the border; outlines that touch need no line.
    pieces: the line; it has two pieces if it wraps around the edges of the map.
    """

    start: int
    to: int
    is_one_way: bool
    is_drawn: bool
    pieces: Sequence[tuple[Point, Point]]


@dataclass(frozen=True)
class Arrow:
    """The arrow for a battle of a plan.

    number: the number of the battle in the usual order of battles, counted from 1.
    start, to: the indices of the territories.
    look: the style of the arrow: `"main"` for battles on the most likely course of the plan,
        `"rare"` for other battles, `"next"` for the next battle.
    words: a description of the battle.
    fought, taken: the chances that the battle is fought and that it is won, as text.
    paths: the line, with the head at its end; it has two pieces if it wraps around the edges of the
        map.
    disc: the place of the number.
    """

    number: int
    start: int
    to: int
    look: Look
    words: str
    fought: str = ""
    taken: str = ""
    paths: tuple[tuple[Anchor, ...], ...] = ()
    disc: Anchor = ORIGIN

    @property
    def tip(self) -> Anchor:
        """The place of the tip of the arrow."""
        return self.paths[-1][-1]


@dataclass(frozen=True)
class Label:
    """A text on the map.

    kind: `"name"` and `"continent"` for names, `"key"` for a letter that the list beside the map
        explains, `"value"` for a chance or a gain.
    territory: the index of the territory; for a continent, the index of its first territory.
    lines: the lines of the text.
    middle: the place of the centre of the text.
    least, most: the label is shown on maps with least <= width < most, in units. If `most` is
        `None`, there is no upper limit.
    """

    kind: Kind
    territory: int
    lines: Sequence[str]
    middle: Anchor
    least: float
    most: float | None = None

    def is_shown(self, map_width: float) -> bool:
        """Return whether the label is shown on a map with this width in units."""
        return self.least <= map_width and (self.most is None or map_width < self.most)


@dataclass(frozen=True)
class Scene:
    """The drawing of a board.

    frame: the visible part of the board.
    width: the minimum width of the map, in units.
    sizes: the sizes of badges, letters and discs.
    territories: the names of the territories.
    outlines: the polygons of each territory; empty if territories are drawn as discs.
    rims: the lines around continents.
    borders: the borders, each border only once.
    badges: the places of the badges, which show the armies of territories.
    arrows: the arrows for the battles of a plan.
    labels: the texts on the map, most important first.
    """

    frame: Frame
    width: float
    sizes: Sizes
    territories: tuple[str, ...]
    outlines: Sequence[Sequence[Sequence[Point]]]
    rims: Sequence[Sequence[Point]]
    borders: tuple[Border, ...]
    badges: tuple[Anchor, ...]
    arrows: tuple[Arrow, ...] = ()
    labels: tuple[Label, ...] = ()

    @property
    def scale(self) -> float:
        """Drawing units per coordinate unit in a map of the minimum width."""
        return self.width / self.frame.width

    @property
    def height(self) -> int:
        return round(self.frame.height * self.scale)

    def list_shown_labels(self) -> list[Label]:
        return [label for label in self.labels if label.is_shown(self.width)]


def shorten_name(name: str, maximum: int = MAX_SHORT_NAME_LENGTH) -> str:
    """Shorten a name that is too long for a picture, after a word if possible.

    >>> shorten_name("Lands beyond the Mountains"), shorten_name(30 * "a")
    ('Lands beyond the…', 'aaaaaaaaaaaaaaaaaaaaaaa…')
    """
    if len(name) <= maximum:
        return name
    words = name[:maximum].rpartition(" ")[0].rstrip(" ,")
    return f"{words or name[: maximum - 1]}…"


def build_scene(
    board: Board,
    arrows: Sequence[Arrow] = (),
    values: Mapping[int, str] | None = None,
    *,
    width: float | None = None,
    sizes: Sizes = WIDE,
    is_close: bool = False,
) -> Scene:
    """Return the drawing of a board.

    board: the board to draw.
    arrows: the arrows for the battles of a plan; their places are set by this function.
    values: a mapping from territories to chances or gains, as text. These labels have priority over
        names.
    width: the minimum width of the map, in units. The default has enough room for all territories.
    sizes: the sizes of badges, letters and discs. If the size of badges is 0, names replace badges.
    is_close: whether to show only the part of the board with the arrows, if this part is small.

    Raises `TooLargeError` for boards that are too large to draw.
    """
    places, number = choose_places(board), {name: t for t, name in enumerate(board.territories)}
    edges, seas, ways = compute_edges(board), set(list_sea_borders(board)), set(board.borders)
    borders = tuple(
        Border(
            number[start],
            number[to],
            (to, start) not in ways,
            (start, to) in seas,
            wrap_line(places[number[start]], places[number[to]], edges),
        )
        for start, to in board.borders
        if (to, start) not in ways or number[start] < number[to]
    )
    frame = _fit_frame(board, places, range(len(places)))
    close = _fit_frame(board, places, {t for arrow in arrows for t in (arrow.start, arrow.to)})
    if is_close and close and frame and close.width <= MAX_CLOSE_UP * frame.width:
        frame = close
    assert frame is not None  # noqa: S101 # a board has territories
    if width is None:
        width = TERRITORY_SPACING * math.sqrt(len(places) * frame.width / frame.height)
    badges = _spread_badges(places, width / frame.width, sizes.badge)
    bare = Scene(
        frame,
        width,
        sizes,
        board.territories,
        board.outlines,
        tuple(_list_rims(board)),
        borders,
        badges,
    )
    continents = {
        f"{shorten_name(continent.name)} {continent.bonus:+}": [
            number[name] for name in continent.territories
        ]
        for continent in board.continents
        if continent.territories
    }
    return _Layout(bare).lay_out(arrows, values or {}, continents)


def _list_rims(board: Board) -> Iterator[Sequence[Point]]:
    """Yield the outline of each continent: the sides that belong to only one of its polygons."""
    shapes = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    for continent in board.continents:
        polygons = [polygon for name in continent.territories for polygon in shapes.get(name, ())]
        sides = [[*pairwise([*polygon, polygon[0]])] for polygon in polygons if polygon]
        known = Counter(frozenset(side) for each in sides for side in each)
        for each in sides:
            for is_rim, some in groupby(each, key=lambda side: known[frozenset(side)] == 1):
                if is_rim:
                    line = [*some]
                    yield (line[0][0], *(end for _, end in line))


def _fit_frame(board: Board, places: Sequence[Point], chosen: Iterable[int]) -> Frame | None:
    points = [places[t] for t in chosen]
    if board.outlines:
        points += [p for t in chosen for polygon in board.outlines[t] for p in polygon]
    return fit_frame(points, any(map(bool, board.outlines))) if points else None


def _spread_badges(places: Sequence[Point], scale: float, half: float) -> tuple[Anchor, ...]:
    """Return the places of badges; badges that would overlap are moved apart."""
    start = np.array(places, dtype=float) * scale
    moved, least = start.copy(), MIN_BADGE_SPACING * half
    turns = GOLDEN_ANGLE * np.arange(len(places))
    for _ in range(SPREAD_ROUNDS):
        way = moved[:, None] - moved[None]
        far = np.hypot(*way.transpose(2, 0, 1))
        np.fill_diagonal(far, np.inf)
        if far.min(initial=np.inf) >= least - 0.01:
            break
        if far.min() < 0.01:
            moved += 0.1 * np.column_stack([np.cos(turns), np.sin(turns)])
            continue
        moved += (way * (np.maximum(least - far, 0.0) / far / 2)[..., None]).sum(axis=1)
    offs = (moved - start).round(2) + 0.0  # converts -0.0 to 0.0
    return tuple(Anchor(*at, *map(float, by)) for at, by in zip(places, offs, strict=True))


def measure_text(text: str) -> float:
    """Return the width of a string in a font like Arial, relative to the font size.

    >>> round(measure_text("India"), 2)
    2.18
    """
    return sum(LETTER_WIDTHS.get(letter, LETTER_WIDTH) for letter in text)


def _format_key(number: int) -> str:
    """Return the letters of the key that stands for a name on the map.

    >>> _format_key(0), _format_key(25), _format_key(26), _format_key(27)
    ('a', 'z', 'aa', 'bb')
    """
    return chr(ord("a") + number % 26) * (number // 26 + 1)


def _list_label_places(
    half: float, width: float, height: float, may_be_far: bool
) -> Iterator[Point]:
    """Yield candidate offsets of a label from its badge, the best offset first.

    half: half the size of the badge.
    width, height: half the width and half the height of the label.
    may_be_far: whether to include offsets at a distance from the badge.
    """
    below, aside = half + height + 1, 1.3 * half + width + 1  # 1.3 is for diamonds, which are wide
    if not half:
        yield 0.0, 0.0
    yield from ((0, below), (0, -below), (aside, 0), (-aside, 0))
    yield from ((x * aside * 0.8, y * below) for y in (1, -1) for x in (1, -1))
    yield from ((x * width * 0.6, y * below) for y in (1, -1) for x in (1, -1))
    yield from ((0, below + 4), (0, -below - 4), (aside + 4, 0), (-aside - 4, 0))
    if may_be_far:
        turns = [turn * math.pi / 6 for turn in range(12)]
        for away in range(6, MAX_KEY_DISTANCE, 2):
            yield from ((away * math.cos(turn), away * math.sin(turn)) for turn in turns)


class _Obstacle(NamedTuple):
    """An item that labels must not overlap: a box around a line between two anchors.

    start, end: the ends of the line.
    width, height: the margins around the line, in units.
    least, most: the item is shown on maps whose scale lies between these scales.
    """

    start: Anchor
    end: Anchor
    width: float
    height: float
    least: float = 0.0
    most: float = math.inf


class _Layout:
    """Places arrows and labels one after another without overlap."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.half = scene, scene.sizes.badge
        x, y, width, height = scene.frame
        left, right, top, bottom = x, x + width, y, y + height
        far = 1e3 * width
        self.obstacles = [  # labels must not overlap four boxes around the frame
            _Obstacle(Anchor(left - far, top), Anchor(left, top), 0.0, far),
            _Obstacle(Anchor(right, top), Anchor(right + far, top), 0.0, far),
            _Obstacle(Anchor(left, top - far), Anchor(left, top), far, 0.0),
            _Obstacle(Anchor(left, bottom), Anchor(left, bottom + far), far, 0.0),
        ]
        if self.half:
            self.obstacles += [
                _Obstacle(badge, badge, self.half, self.half) for badge in scene.badges
            ]

    def lay_out(
        self,
        arrows: Sequence[Arrow],
        values: Mapping[int, str],
        continents: Mapping[str, Sequence[int]],
    ) -> Scene:
        scene, drawn = self.scene, self._lay_out_arrows(arrows)
        first = {t for arrow in arrows for t in (arrow.start, arrow.to)}
        seen = [t for t, at in enumerate(scene.badges) if scene.frame.contains((at.x, at.y))]
        seen.sort(key=lambda t: t not in first)
        labels = [self._find_label("value", t, [[text]]) for t, text in values.items()]
        placed = [label for label in labels if label]
        least = dict.fromkeys(seen, math.inf)
        for t in seen:
            words = shorten_name(scene.territories[t]).split() or [""]
            forms = [[" ".join(words)]]
            forms += [[" ".join(words[:k]), " ".join(words[k:])] for k in range(1, len(words))]
            if name := self._find_label("name", t, forms):
                placed.append(name)
                least[t] = name.least
        keys = 0
        for t in (t for t in seen if least[t] > scene.width):
            if key := self._find_label("key", t, [[_format_key(keys)]], least[t]):
                placed.append(key)
                keys += 1
        if self.half:
            some = (self._label_continent(text, members) for text, members in continents.items())
            placed += [label for label in some if label]
        return replace(scene, arrows=drawn, labels=tuple(placed))

    # Arrows.

    def _lay_out_arrows(self, arrows: Sequence[Arrow]) -> tuple[Arrow, ...]:
        """Return the arrows with their places; opposite arrows are shifted apart, to the right."""
        both = {(arrow.start, arrow.to) for arrow in arrows}
        drawn = []
        for arrow in arrows:
            lane = LANE_OFFSET if (arrow.to, arrow.start) in both else 0.0
            drawn.append(replace(arrow, paths=tuple(self._route_arrow(arrow, lane))))
        lines = {
            arrow.number: [
                _Obstacle(a, b, 1.0, 1.0) for path in arrow.paths for a, b in pairwise(path)
            ]
            for arrow in drawn
        }
        self.obstacles += [_Obstacle(arrow.tip, arrow.tip, HEAD_SIZE, HEAD_SIZE) for arrow in drawn]
        scale = self.scene.scale
        # Short arrows come first because they have the least room for their numbers.
        for k in sorted(range(len(drawn)), key=lambda k: _find_longest_path(drawn[k], scale)[1]):
            arrow = drawn[k]
            others = [one for number in lines if number != arrow.number for one in lines[number]]
            disc = self._place_disc(arrow, others)
            drawn[k] = replace(arrow, disc=disc)
            self.obstacles.append(_Obstacle(disc, disc, *[self.scene.sizes.disc] * 2))
        self.obstacles += [one for some in lines.values() for one in some]
        return tuple(drawn)

    def _route_arrow(self, arrow: Arrow, lane: float) -> Iterator[tuple[Anchor, ...]]:
        """Yield the pieces of an arrow's line, which bends around badges."""
        badges = self.scene.badges
        start, to = badges[arrow.start], badges[arrow.to]
        ends = next(
            border.pieces
            if border.start == arrow.start
            else [(b, a) for a, b in border.pieces[::-1]]
            for border in self.scene.borders
            if {border.start, border.to} == {arrow.start, arrow.to}
        )
        if len(ends) > 1:
            (_, a), (b, _) = ends
            yield self._bend_line(start, Anchor(*a), lane, 0.0, 0.0)
            yield self._bend_line(Anchor(*b), to, lane, 0.0, self.half + HEAD_SIZE)
            return
        others = [badge for t, badge in enumerate(badges) if t not in (arrow.start, arrow.to)]
        paths = [self._bend_line(start, to, lane, bend, self.half + HEAD_SIZE) for bend in BENDS]
        yield min(paths, key=lambda path: self._count_covered_badges(path, others))

    def _bend_line(
        self, start: Anchor, to: Anchor, lane: float, bend: float, back: float
    ) -> tuple[Anchor, ...]:
        """Return a bent line between two anchors. All distances are in units.

        start, to: the anchors.
        lane: the distance by which the whole line is shifted to the right.
        bend: the distance by which the middle of the line is shifted to the left.
        back: the distance between the end of the line and the second anchor.
        """
        (x, y), length = _measure_way(start, to, self.scene.scale)
        ending = math.hypot(length, 4 * bend)
        tip = (
            -back * (length * x + 4 * bend * y) / ending,
            -back * (length * y - 4 * bend * x) / ending,
        )
        count = BEND_PIECES if bend else 1
        points = []
        for part in (k / count for k in range(count + 1)):
            side = lane - 4 * bend * part * (1 - part)
            off = (
                start.dx + part * (to.dx - start.dx + tip[0]) - side * y,
                start.dy + part * (to.dy - start.dy + tip[1]) + side * x,
            )
            place = start.x + part * (to.x - start.x), start.y + part * (to.y - start.y)
            points.append(Anchor(*place, *off))
        return tuple(points)

    def _count_covered_badges(self, path: Sequence[Anchor], badges: Sequence[Anchor]) -> int:
        if not badges:
            return 0
        scale = self.scene.scale
        at = np.array([point.locate(scale) for point in path]) * scale
        parts = np.linspace(0.0, 1.0, 33 if len(at) == 2 else 5)[:, None, None]
        line = (at[:-1] + parts * (at[1:] - at[:-1])).reshape(-1, 2)
        way = np.array([badge.locate(scale) for badge in badges])[:, None] * scale - line
        return int(
            (np.hypot(*way.transpose(2, 0, 1)).min(axis=1) < self.half + BADGE_CLEARANCE).sum()
        )

    def _place_disc(self, arrow: Arrow, others: Sequence[_Obstacle]) -> Anchor:
        """Return the place of an arrow's number: on a long arrow, or beside a short arrow."""
        half, scale = self.scene.sizes.disc, self.scene.scale
        path, length = _find_longest_path(arrow, scale)
        x, y = _measure_way(path[0], path[-1], scale)[0]
        hidden = min(self.half / length, 0.9)  # the fraction of the arrow below its first badge
        offs = [0.0] if (1 - hidden) * length >= 2 * half + 8 else []
        offs += [side * far for far in (half + 3, half + 8, half + 14) for side in (1, -1)]
        middles = [_interpolate(path, hidden + (1 - hidden) * part) for part in DISC_PLACES]
        tried = [
            at._replace(dx=at.dx - off * y, dy=at.dy + off * x) for off in offs for at in middles
        ]
        for obstacles, most in (
            ([*self.obstacles, *others], math.inf),
            (self.obstacles, math.inf),
            (self.obstacles, 1.001 * scale),  # allow overlaps on larger maps
        ):
            least = _compute_clear_scales(tried, half, half, obstacles, scale, most)
            if least.min() <= scale:
                return tried[int((least <= scale).argmax())]
        return tried[0]

    # Labels.

    def _find_label(
        self, kind: Kind, t: int, forms: Sequence[Sequence[str]], maximum: float = math.inf
    ) -> Label | None:
        """Return a label at the first candidate place with enough room, or `None`.

        kind: the kind of the label.
        t: the index of the territory.
        forms: the possible line breaks, as sequences of lines.
        maximum: the map width above which the label is not needed.
        """
        at, size = self.scene.badges[t], self.scene.sizes.names
        best: _Obstacle | None = None
        lines: Sequence[str] = ()
        for form in forms:
            width = max(map(measure_text, form)) * size / 2
            height = self.scene.sizes.line * len(form) / 2
            tried = [
                at._replace(dx=at.dx + x, dy=at.dy + y)
                for x, y in _list_label_places(self.half, width, height, kind == "key")
            ]
            box = self._find_box(tried, width, height, maximum)
            if best is None or (best.least > self.scene.scale and box.least < best.least):
                best, lines = box, form
        return None if best is None else self._place_label(kind, t, lines, best)

    def _label_continent(self, text: str, members: Sequence[int]) -> Label | None:
        """Return the label of a continent, as close as possible to the continent's centre."""
        places = np.array([self.scene.badges[t][:2] for t in members])
        middle, low, high = places.mean(axis=0), places.min(axis=0), places.max(axis=0)
        beside = 0.3 * (high - low) + 2 * self.half / self.scene.scale
        rows = [
            np.linspace(low[k] - beside[k], high[k] + beside[k], CONTINENT_GRID) for k in (0, 1)
        ]
        tried = sorted(
            (Anchor(float(x), float(y)) for x in rows[0] for y in rows[1]),
            key=lambda at: math.dist(at[:2], middle),
        )
        if not self.scene.frame.contains((middle[0], middle[1])):
            return None
        size, boxes = self.scene.sizes, list[_Obstacle]()
        half = measure_text(text) * size.names / 2, size.line / 2
        for k in range(0, len(tried), CONTINENT_BATCH):
            boxes.append(self._find_box(tried[k : k + CONTINENT_BATCH], *half, math.inf))
            if boxes[-1].least <= self.scene.scale:
                break
        return self._place_label(
            "continent", members[0], [text], min(boxes, key=lambda box: box.least)
        )

    def _find_box(
        self, tried: Sequence[Anchor], width: float, height: float, maximum: float
    ) -> _Obstacle:
        """Return a box at the first candidate place with enough room.

        If no place has enough room, the result is the place that has room on the smallest map.
        """
        scale, top = self.scene.scale, maximum / self.scene.frame.width
        least = _compute_clear_scales(tried, width, height, self.obstacles, scale, top)
        good = least <= scale
        k = int(good.argmax() if good.any() else least.argmin())
        return _Obstacle(tried[k], tried[k], width, height, float(least[k]), top)

    def _place_label(
        self, kind: Kind, t: int, lines: Sequence[str], box: _Obstacle
    ) -> Label | None:
        """Return a label in a given box, and add the box to the obstacles for later labels."""
        if math.isinf(box.least):
            return None
        self.obstacles.append(box)
        wide = self.scene.frame.width
        until = None if math.isinf(box.most) else box.most * wide
        return Label(kind, t, lines, box.start, box.least * wide, until)


def _measure_way(start: Anchor, to: Anchor, scale: float) -> tuple[Point, float]:
    """Return the direction from one anchor to another, and their distance in units."""
    (ax, ay), (bx, by) = start.locate(scale), to.locate(scale)
    length = math.hypot(bx - ax, by - ay) * scale or 1.0
    return ((bx - ax) * scale / length, (by - ay) * scale / length), length


def _find_longest_path(arrow: Arrow, scale: float) -> tuple[Sequence[Anchor], float]:
    long = [_measure_way(path[0], path[-1], scale)[1] for path in arrow.paths]
    return arrow.paths[long.index(max(long))], max(long)


def _interpolate(path: Sequence[Anchor], part: float) -> Anchor:
    k = min(int(part * (len(path) - 1)), len(path) - 2)
    rest = part * (len(path) - 1) - k
    return Anchor(*(a + rest * (b - a) for a, b in zip(path[k], path[k + 1], strict=True)))


def _compute_clear_scales(
    tried: Sequence[Anchor],
    width: float,
    height: float,
    obstacles: Sequence[_Obstacle],
    scale: float,
    maximum: float = math.inf,
) -> Floats:
    """Return, for each candidate place, the smallest scale above which a box overlaps no obstacle.

    tried: the candidate centres of the box.
    width, height: half the width and half the height of the box.
    obstacles: the items that the box must not overlap.
    scale: the smallest scale of the map.
    maximum: the scale above which the box is not drawn. The result is infinite for a place without
        room below this scale.

    By the separating axis theorem, the box and an obstacle overlap if and only if their projections
    overlap on the two axes and on the normal of the obstacle. At a scale z, each of these overlaps
    consists of two conditions of the form r z + c < 0. Therefore the scales of an overlap form an
    interval.
    """
    start, end = (np.array([obstacle[k] for obstacle in obstacles]) for k in (0, 1))
    size, there = (np.array([obstacle[k : k + 2] for obstacle in obstacles]) for k in (2, 4))
    box = np.array(tried)[:, None]
    chord = end[:, :2] - start[:, :2]
    length = np.hypot(*chord.T)[:, None]
    across = chord[:, ::-1] * [-1.0, 1.0]
    normal = np.where(length > 0, across / np.maximum(length, 1e-300), [1.0, 0.0])
    low = np.full((len(tried), len(obstacles)), 0.0)
    high = np.full_like(low, np.inf)
    for axis in (np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), normal):
        reach = (np.abs(axis) * np.add(size, (width, height))).sum(axis=1)
        ends = [
            [((end[..., part] - box[..., part]) * axis).sum(axis=-1) for end in (start, end)]
            for part in (slice(0, 2), slice(2, 4))
        ]
        (slope, slope2), (shift, shift2) = ends
        is_turned = slope2 * scale + shift2 < slope * scale + shift
        least = np.where(is_turned, slope2, slope), np.where(is_turned, shift2, shift) - reach
        other = np.where(is_turned, -slope, -slope2), np.where(is_turned, -shift, -shift2) - reach
        for rise, at_0 in (least, other):
            rise = np.where(np.abs(rise) < MIN_SLOPE * np.abs(rise).max(), 0.0, rise)
            root = np.divide(-at_0, rise, out=np.where(at_0 < 0, np.inf, -np.inf), where=rise != 0)
            low = np.where(rise < 0, np.maximum(low, root), low)
            high = np.where(rise >= 0, np.minimum(high, root), high)
    low = np.maximum(low, there[:, 0])
    high = np.minimum(high, np.minimum(there[:, 1], maximum))
    scales: Floats = np.where(low < high, high, 0.0).max(axis=1)
    scales[scales >= maximum] = np.inf
    return scales
