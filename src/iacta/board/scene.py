"""One drawing of a board, as plain data: pictures draw it, and so does the page with the map.

A map can be drawn in any size. Land, borders and places grow with it; badges, arrow heads and
letters do not. So each thing is held by an anchor: a point of the board, and how far from it the
thing is drawn, in units that are the same in every size of the map.

A label has its one place beside its anchor, and a least width of the map: from that width on it
covers no badge, no arrow and no label before it, however large the map grows. So whoever draws the
scene only leaves out the labels for which the map is too small, and lays out nothing. A thing at
the anchor (p, u) is at p z + u in a map of scale z; two obstacles overlap where each of some linear
functions of z is negative, which is an interval of scales that is computed exactly.

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
    find_edges,
    find_places,
    find_sea_borders,
    fit_frame,
    wrap_line,
)

if TYPE_CHECKING:  # takes time to import
    from iacta.board import Board

Floats: TypeAlias = npt.NDArray[np.float64]
Point: TypeAlias = tuple[float, float]
Kind: TypeAlias = Literal["value", "name", "key", "continent"]
Look: TypeAlias = Literal["main", "rare", "next"]

# Shapes with room for a number, so that owners can be told apart without colours too.
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

MAX_CLOSE_UP = 0.7  # a plan that needs less of the board's width is enlarged
TERRITORY_SPACING = 66.0  # units between territories of a map that is as wide as it should be
BADGE_SPACING = 3.25  # halves of a badge from the middle of one to that of the next, at least
SPREAD_ROUNDS = 60  # in which badges are moved apart
GOLDEN_ANGLE = 2.4  # the angle between the ways of two badges that are at one place, in radians
MAX_NAME_LENGTH = 24
LETTERS = {0.25: "fijlrtI.,:;'|!()[]-/ ", 0.7: "ABCDEFGHKLNOPQRSTUVXYZwJ", 0.88: "mMW@%"}
LETTER_WIDTHS = {letter: width for width, some in LETTERS.items() for letter in some}
LETTER_WIDTH = 0.56
LANE_OFFSET = 3.0
HEAD_SIZE = 4.0  # half of the head of an arrow
BENDS = (0.0, 9.0, -9.0, 15.0, -15.0, 22.0, -22.0)  # how far the middle of an arrow may give way
BEND_PIECES = 8  # of a bent arrow
BADGE_CLEARANCE = 3.0  # units between an arrow and a badge that it passes
DISC_PARTS = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)  # where on an arrow its number may be
MAX_KEY_DISTANCE = 40  # units from a place to the key of its name
CONTINENT_GRID = 16  # places in a row in which the name of a continent is tried
CONTINENT_BATCH = 32  # of these places, tried at once
MIN_SLOPE = 1e-12  # smaller slopes, as parts of the largest, are none


class Sizes(NamedTuple):
    """How large obstacles are, in units.

    badge: half a badge.
    names: the letters of names.
    line: from a line of a name to the next.
    disc: half the disc with the number of an arrow.
    """

    badge: float
    names: float
    line: float
    disc: float


WIDE = Sizes(8.0, 9.0, 10.4, 6.5)
NARROW = Sizes(6.0, 9.0, 10.4, 5.5)


class Anchor(NamedTuple):
    """Where something is drawn: a point of the board, and how many units from it.

    x, y: the point.
    dx, dy: the units.
    """

    x: float
    y: float
    dx: float = 0.0
    dy: float = 0.0

    def at(self, scale: float) -> Point:
        """Return the point of the board that it is in a map with so many units to one of it."""
        return self.x + self.dx / scale, self.y + self.dy / scale


ORIGIN = Anchor(0.0, 0.0)


@dataclass(frozen=True)
class Border:
    """A border between two territories.

    start, to: the numbers of the territories.
    is_one_way: whether it leads only from the first to the second.
    is_drawn: whether a line shows it; where outlines touch, they do.
    pieces: the line, in two pieces if it wraps around the edges of the map.
    """

    start: int
    to: int
    is_one_way: bool
    is_drawn: bool
    pieces: Sequence[tuple[Point, Point]]


@dataclass(frozen=True)
class Arrow:
    """A battle of a plan.

    number: its place in the order in which the battles are usually fought.
    start, to: the numbers of the territories.
    look: whether it is on the main line, fought only sometimes, or to be fought next.
    words: what is fought.
    fought, taken: the chances of the battle and of the conquest, in words.
    paths: the line, in two pieces if it wraps around the edges of the map; the head is at its end.
    disc: where its number is drawn.
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
        """Where its head is."""
        return self.paths[-1][-1]


@dataclass(frozen=True)
class Label:
    """Words at a territory.

    kind: a name, the key of a name in the list beside the map, a continent's name, or other words.
    territory: its number; of a continent the first one.
    lines: the words.
    middle: of them all.
    least, most: how wide the map must be at least, and must be less than, in units.
    """

    kind: Kind
    territory: int
    lines: Sequence[str]
    middle: Anchor
    least: float
    most: float | None = None

    def is_shown(self, width: float) -> bool:
        """Return whether it has room on a map that is so many units wide."""
        return self.least <= width and (self.most is None or width < self.most)


@dataclass(frozen=True)
class Scene:
    """A board as it is drawn.

    frame: the part of the board that can be seen.
    width: how wide the map should be at least, in units.
    sizes: of badges, letters and discs, in units.
    territories: their names.
    outlines: of each territory its polygons; none where it is a disc around its badge.
    rims: the lines around continents.
    borders: the borders, each once.
    badges: where the armies of each territory are.
    arrows: the battles of a plan.
    labels: the words on the map, those first that matter most.
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
        """How many units are one of the board, in a map of that width."""
        return self.width / self.frame.width

    @property
    def height(self) -> int:
        return round(self.frame.height * self.scale)

    def shown(self) -> list[Label]:
        return [label for label in self.labels if label.is_shown(self.width)]


def shorten_name(name: str, most: int = MAX_NAME_LENGTH) -> str:
    """Return a name, shortened if it is too long for a picture."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def build_scene(
    board: Board,
    arrows: Sequence[Arrow] = (),
    values: Mapping[int, str] | None = None,
    *,
    width: float | None = None,
    sizes: Sizes = WIDE,
    is_close: bool = False,
) -> Scene:
    """Return a board as it is drawn.

    board: the board.
    arrows: the battles of a plan, which get their places here.
    values: chances or gains at territories, in words; they matter more than names.
    width: how wide the map is at least, in units; if it is not given, so wide that there is room
        for each territory.
    sizes: of badges, letters and discs. Without badges, names are where they would be.
    is_close: whether only the part with the arrows can be seen, if it is small enough to enlarge.

    Boards that are too large to be seen are refused.
    """
    places, number = find_places(board), {name: t for t, name in enumerate(board.territories)}
    edges, seas, ways = find_edges(board), set(find_sea_borders(board)), set(board.borders)
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
    frame = _find_frame(board, places, range(len(places)))
    close = _find_frame(board, places, {t for arrow in arrows for t in (arrow.start, arrow.to)})
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
        tuple(_find_rims(board)),
        borders,
        badges,
    )
    continents = {
        f"{shorten_name(each.name)} {each.bonus:+}": [number[name] for name in each.territories]
        for each in board.continents
        if each.territories
    }
    return _Layout(bare).lay_out(arrows, values or {}, continents)


def _find_rims(board: Board) -> Iterator[Sequence[Point]]:
    """Yield the lines along which a continent ends: those that only one of its territories has."""
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


def _find_frame(board: Board, places: Sequence[Point], chosen: Iterable[int]) -> Frame | None:
    points = [places[t] for t in chosen]
    if board.outlines:
        points += [p for t in chosen for polygon in board.outlines[t] for p in polygon]
    return fit_frame(points, any(map(bool, board.outlines))) if points else None


def _spread_badges(places: Sequence[Point], scale: float, half: float) -> tuple[Anchor, ...]:
    """Return the places of badges, moved as far as they would cover each other."""
    start = np.array(places, dtype=float) * scale
    moved, least = start.copy(), BADGE_SPACING * half
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
    offs = (moved - start).round(2) + 0.0  # never -0.0
    return tuple(Anchor(*at, *map(float, by)) for at, by in zip(places, offs, strict=True))


def measure_text(text: str) -> float:
    """Return how wide a text is in a font such as Arial, as a multiple of the size of its letters.

    >>> round(measure_text("India"), 2)
    2.18
    """
    return sum(LETTER_WIDTHS.get(letter, LETTER_WIDTH) for letter in text)


def _format_key(number: int) -> str:
    """Return the key of a name in the list beside the map.

    >>> _format_key(0), _format_key(25), _format_key(26), _format_key(27)
    ('a', 'z', 'aa', 'bb')
    """
    return chr(ord("a") + number % 26) * (number // 26 + 1)


def _list_label_places(
    half: float, width: float, height: float, is_far_too: bool
) -> Iterator[Point]:
    """Yield the places of a label around a badge, the best first.

    half: half of the badge.
    width, height: half of the label.
    is_far_too: whether it may also be farther away.
    """
    below, aside = half + height + 1, 1.3 * half + width + 1  # as a diamond is wide
    if not half:
        yield 0.0, 0.0
    yield from ((0, below), (0, -below), (aside, 0), (-aside, 0))
    yield from ((x * aside * 0.8, y * below) for y in (1, -1) for x in (1, -1))
    yield from ((x * width * 0.6, y * below) for y in (1, -1) for x in (1, -1))
    yield from ((0, below + 4), (0, -below - 4), (aside + 4, 0), (-aside - 4, 0))
    if is_far_too:
        turns = [turn * math.pi / 6 for turn in range(12)]
        for away in range(6, MAX_KEY_DISTANCE, 2):
            yield from ((away * math.cos(turn), away * math.sin(turn)) for turn in turns)


class _Obstacle(NamedTuple):
    """What covers the ground between two anchors, with a margin."""

    start: Anchor
    end: Anchor
    width: float
    height: float
    least: float = 0.0
    most: float = math.inf


class _Layout:
    """Finds places for what is drawn, each clear of what has its place already."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.half = scene, scene.sizes.badge
        x, y, width, height = scene.frame
        left, right, top, bottom = x, x + width, y, y + height
        far = 1e3 * width
        self.obstacles = [  # a label may not reach over the edges
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
        seen = [t for t, at in enumerate(scene.badges) if scene.frame.holds((at.x, at.y))]
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
        """Return the arrows in their places; opposite ones keep to the right."""
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
        # Short arrows first, as they have the least room.
        for k in sorted(range(len(drawn)), key=lambda k: _find_longest_path(drawn[k], scale)[1]):
            arrow = drawn[k]
            others = [one for number in lines if number != arrow.number for one in lines[number]]
            disc = self._place_disc(arrow, others)
            drawn[k] = replace(arrow, disc=disc)
            self.obstacles.append(_Obstacle(disc, disc, *[self.scene.sizes.disc] * 2))
        self.obstacles += [one for some in lines.values() for one in some]
        return tuple(drawn)

    def _route_arrow(self, arrow: Arrow, lane: float) -> Iterator[tuple[Anchor, ...]]:
        """Yield the line of an arrow, bent where a badge is in its way."""
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
        yield min(paths, key=lambda path: self._count_hits(path, others))

    def _bend_line(
        self, start: Anchor, to: Anchor, lane: float, bend: float, back: float
    ) -> tuple[Anchor, ...]:
        """Return a line between two anchors.

        lane: how far it is at the right of them.
        bend: how much farther its middle is at the left.
        back: how far from the second anchor it ends.
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

    def _count_hits(self, path: Sequence[Anchor], badges: Sequence[Anchor]) -> int:
        if not badges:
            return 0
        scale = self.scene.scale
        at = np.array([point.at(scale) for point in path]) * scale
        parts = np.linspace(0.0, 1.0, 33 if len(at) == 2 else 5)[:, None, None]
        line = (at[:-1] + parts * (at[1:] - at[:-1])).reshape(-1, 2)
        way = np.array([badge.at(scale) for badge in badges])[:, None] * scale - line
        return int(
            (np.hypot(*way.transpose(2, 0, 1)).min(axis=1) < self.half + BADGE_CLEARANCE).sum()
        )

    def _place_disc(self, arrow: Arrow, others: Sequence[_Obstacle]) -> Anchor:
        """Return the place of the number of an arrow: on it or, if that is short, beside it."""
        half, scale = self.scene.sizes.disc, self.scene.scale
        path, length = _find_longest_path(arrow, scale)
        x, y = _measure_way(path[0], path[-1], scale)[0]
        hidden = min(self.half / length, 0.9)  # the part below the first badge
        offs = [0.0] if (1 - hidden) * length >= 2 * half + 8 else []
        offs += [side * far for far in (half + 3, half + 8, half + 14) for side in (1, -1)]
        middles = [_interpolate(path, hidden + (1 - hidden) * part) for part in DISC_PARTS]
        tried = [
            at._replace(dx=at.dx - off * y, dy=at.dy + off * x) for off in offs for at in middles
        ]
        for obstacles, most in (
            ([*self.obstacles, *others], math.inf),
            (self.obstacles, math.inf),
            (self.obstacles, 1.001 * scale),  # on larger maps, it may be in the way
        ):
            least = _find_clear_scales(tried, half, half, obstacles, scale, most)
            if least.min() <= scale:
                return tried[int((least <= scale).argmax())]
        return tried[0]

    # Labels.

    def _find_label(
        self, kind: Kind, t: int, forms: Sequence[Sequence[str]], most: float = math.inf
    ) -> Label | None:
        """Return words at a territory in the first place with room, if there is any.

        forms: the words in lines, in each way in which they can be written.
        most: the map on which the label is not shown any more, as that has its name.
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
            box = self._find_box(tried, width, height, most)
            if best is None or (best.least > self.scene.scale and box.least < best.least):
                best, lines = box, form
        return None if best is None else self._place_label(kind, t, lines, best)

    def _label_continent(self, text: str, members: Sequence[int]) -> Label | None:
        """Return the name of a continent, as near to its middle as there is room."""
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
        if not self.scene.frame.holds((middle[0], middle[1])):
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
        self, tried: Sequence[Anchor], width: float, height: float, most: float
    ) -> _Obstacle:
        """Return a box in the first place with room, or else in the one that needs the least."""
        scale, top = self.scene.scale, most / self.scene.frame.width
        least = _find_clear_scales(tried, width, height, self.obstacles, scale, top)
        good = least <= scale
        k = int(good.argmax() if good.any() else least.argmin())
        return _Obstacle(tried[k], tried[k], width, height, float(least[k]), top)

    def _place_label(
        self, kind: Kind, t: int, lines: Sequence[str], box: _Obstacle
    ) -> Label | None:
        """Return the label of a box, which is in the way of those that follow."""
        if math.isinf(box.least):
            return None
        self.obstacles.append(box)
        wide = self.scene.frame.width
        until = None if math.isinf(box.most) else box.most * wide
        return Label(kind, t, lines, box.start, box.least * wide, until)


def _measure_way(start: Anchor, to: Anchor, scale: float) -> tuple[Point, float]:
    """Return the direction from an anchor to another, and how many units they are apart."""
    (ax, ay), (bx, by) = start.at(scale), to.at(scale)
    length = math.hypot(bx - ax, by - ay) * scale or 1.0
    return ((bx - ax) * scale / length, (by - ay) * scale / length), length


def _find_longest_path(arrow: Arrow, scale: float) -> tuple[Sequence[Anchor], float]:
    long = [_measure_way(path[0], path[-1], scale)[1] for path in arrow.paths]
    return arrow.paths[long.index(max(long))], max(long)


def _interpolate(path: Sequence[Anchor], part: float) -> Anchor:
    k = min(int(part * (len(path) - 1)), len(path) - 2)
    rest = part * (len(path) - 1) - k
    return Anchor(*(a + rest * (b - a) for a, b in zip(path[k], path[k + 1], strict=True)))


def _find_clear_scales(
    tried: Sequence[Anchor],
    width: float,
    height: float,
    obstacles: Sequence[_Obstacle],
    scale: float,
    most: float = math.inf,
) -> Floats:
    """Return from which scale on a box is clear of all obstacles, for each place that is tried.

    tried: the middles of the box.
    width, height: half its size.
    obstacles: what it must keep clear of while it is there itself.
    scale: the least scale for which that matters.
    most: the scale at which the box is not drawn any more; one that is never clear before has
        infinity.

    At a scale z, box and thing overlap if their shadows do on both axes and on the normal of the
    thing. Each of these is two conditions of the form r z + c < 0, so that they overlap in one
    interval of scales.
    """
    start, end = (np.array([thing[k] for thing in obstacles]) for k in (0, 1))
    size, there = (np.array([thing[k : k + 2] for thing in obstacles]) for k in (2, 4))
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
    high = np.minimum(high, np.minimum(there[:, 1], most))
    scales: Floats = np.where(low < high, high, 0.0).max(axis=1)
    scales[scales >= most] = np.inf
    return scales
