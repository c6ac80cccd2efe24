"""What maps are made of: the ground, badges, arrows and names, each in its place.

Labels keep clear of badges, of arrows and of each other. What has no room on the map stands in a
table below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from iacta.charts.board_layout import Frame, edges_of, frame_of, lines, places_of, sea_borders
from iacta.charts.theme import (
    GREY,
    WIDTH,
    AnyChart,
    Row,
    alt,
    contrast,
    named,
    per_cent,
)

if TYPE_CHECKING:  # both take time to import
    from iacta.board import Board
    from iacta.plan import Step

__all__ = [
    "MOST_NAMED",
    "NARROW_SIZES",
    "NOBODY",
    "NOTHING",
    "WIDE_SIZES",
    "Arrow",
    "BoardMap",
    "arrow_layers",
    "at_point",
    "badge_layers",
    "border_rows",
    "close_up",
    "cut",
    "digits_on",
    "ground_layers",
    "name_layers",
    "names_table",
    "owned_ground",
    "steps_table",
    "whole_map",
]

Point: TypeAlias = tuple[float, float]

DARK_DIGITS, LIGHT_DIGITS = "#1f2328", "#ffffff"
# Shapes with room for a number, so that owners can be told apart without colours too.
HOUSE = "M0,-1.1L1,-0.3L0.8,0.9L-0.8,0.9L-1,-0.3Z"
SHIELD = "M-1,-0.9L1,-0.9L0.85,0.4L0,1.1L-0.85,0.4Z"
DIAMOND = "M0,-1.25L1.25,0L0,1.25L-1.25,0Z"
SHAPES = ("circle", "square", DIAMOND, HOUSE, SHIELD, "cross")
NOBODY = "nobody"
NOTHING = "transparent"

MOST_NAMED = 6
CLOSE_UP = 0.7  # a plan that needs less of the board's width is enlarged
NARROW = 320  # pixels, where others have `WIDTH`
LETTER, LETTER_HEIGHT = 0.56, 1.15  # as parts of the size of the letters
LANE = 3.0
FARTHEST = 40  # pixels from a place to the letters that stand for its name
LONGEST_NAME = 24
FEW_ROWS = 5  # of a table, which then has one column
ROW = 16.0  # pixels
FAINT_ARROW = 0.45
START = {"longitude": "x:Q", "latitude": "y:Q"}
ENDS = {**START, "longitude2": "x2:Q", "latitude2": "y2:Q"}
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)  # where on an arrow its number may stand


class Sizes(NamedTuple):
    """How large things are on a map of a size, in pixels.

    width: of the map.
    badge: half a badge.
    digits: the armies on it.
    names: the letters of names.
    disc: half the disc with the number of a step.
    """

    width: int
    badge: float
    digits: float
    names: float
    disc: float


WIDE_SIZES = Sizes(WIDTH, 8.0, 9.5, 9.0, 6.5)
NARROW_SIZES = Sizes(NARROW, 6.0, 8.0, 9.0, 5.5)


class Arrow(NamedTuple):
    """A battle of a plan as it is drawn.

    number: its place in the order in which the battles are usually fought.
    step: the battle.
    is_main: whether it is on the main line.
    """

    number: int
    step: Step
    is_main: bool


def cut(name: str) -> str:
    """Return a name, shortened if it is too long for a picture."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


class _Box(NamedTuple):
    """The pixels that something covers."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def is_crossed(self, line: tuple[Point, Point]) -> bool:
        """Return whether a line has a part inside, as Liang and Barsky clip it."""
        (x, y), (x2, y2) = line
        first, last = 0.0, 1.0
        for start, way, low, high in (
            (x, x2 - x, self.left, self.right),
            (y, y2 - y, self.top, self.bottom),
        ):
            if not way:
                if not low < start < high:
                    return False
                continue
            near, far = sorted(((low - start) / way, (high - start) / way))
            first, last = max(first, near), min(last, far)
        return first < last


def _around(x: float, y: float, half_width: float, half_height: float) -> _Box:
    return _Box(x - half_width, y - half_height, x + half_width, y + half_height)


@dataclass(frozen=True)
class BoardMap:
    """The part of a board that is drawn.

    board: the board.
    places: where its territories lie.
    frame: the part that can be seen.
    sizes: how large it is drawn.
    taken: what is covered so far, in pixels; labels keep clear of it.
    lines: the arrows, of which they keep clear too.
    left: the territories whose names have no room, each with the letters that stand for it.
    """

    board: Board
    places: Mapping[str, Point]
    frame: Frame
    sizes: Sizes = WIDE_SIZES
    taken: list[_Box] = field(default_factory=list)
    lines: list[tuple[Point, Point]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)

    @property
    def scale(self) -> float:
        """How many pixels a unit of the board is."""
        return self.sizes.width / self.frame.width

    @property
    def height(self) -> int:
        """The height of the map in pixels."""
        return round(self.frame.height * self.scale)

    def pixel(self, point: Point) -> Point:
        """Return where a point is on the picture."""
        return (point[0] - self.frame.x) * self.scale, (point[1] - self.frame.y) * self.scale

    def point(self, pixel: Point) -> Point:
        """Return the point at a pixel of the picture."""
        return self.frame.x + pixel[0] / self.scale, self.frame.y + pixel[1] / self.scale

    def pieces(self, start: str, to: str) -> Sequence[tuple[Point, Point]]:
        """Return the line between two territories, which may wrap around the edges of a map."""
        return lines(self.places[start], self.places[to], edges_of(self.board))

    def is_free(self, box: _Box) -> bool:
        """Return whether a label has room."""
        inside = box.left >= 0 and box.right <= self.sizes.width
        inside = inside and box.top >= 0 and box.bottom <= self.height
        return (
            inside
            and not any(map(box.meets, self.taken))
            and not any(map(box.is_crossed, self.lines))
        )

    def seen(self) -> dict[str, Point]:
        """Return the pixels of the territories that can be seen."""
        inside = {name: at for name, at in self.places.items() if self.frame.holds(at)}
        return {name: self.pixel(at) for name, at in inside.items()}


def whole_map(board: Board) -> BoardMap:
    """Return a board on which all can be seen."""
    places = dict(zip(board.territories, places_of(board), strict=True))
    points = [p for shape in board.outlines for polygon in shape for p in polygon]
    return BoardMap(board, places, frame_of([*places.values(), *points], bool(points)))


def close_up(board: Board, steps: Sequence[Step]) -> BoardMap:
    """Return the part of a board where a plan takes place, if it is small enough to enlarge."""
    whole = whole_map(board)
    involved = {name for step in steps for name in (step.start, step.to)}
    shapes = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    points = [whole.places[name] for name in involved]
    points += [p for name in involved for polygon in shapes.get(name, ()) for p in polygon]
    frame = frame_of(points, bool(shapes)) if points else whole.frame
    if frame.width > CLOSE_UP * whole.frame.width:
        return whole
    return BoardMap(board, whole.places, frame)


def owned_ground(
    drawn: BoardMap, rows: Sequence[Row], owners: Mapping[str, str]
) -> list[alt.Chart]:
    """Return the territories in the colours of their owners."""
    tones = [NOTHING if owner == NOBODY else tone for owner, tone in owners.items()]
    fill = alt.Fill("owner:N").scale(domain=list(owners), range=tones).legend(None)
    return ground_layers(drawn, rows, fill=fill, opacity=alt.value(0.3))


def ground_layers(drawn: BoardMap, rows: Sequence[Row], **paint: Any) -> list[alt.Chart]:
    """Return the territories, as shapes or as discs, and the lines between them.

    drawn: the map.
    rows: of each territory, in the order of the board.
    paint: the channels that colour them; without a fill they have the colour of ink.
    """
    borders = _border_lines(drawn)
    tips = [alt.Tooltip(f"{key}:N") for key in rows[0] if key not in ("x", "y")]
    if not drawn.board.outlines:
        size = (2.8 * drawn.sizes.badge) ** 2
        paper = alt.Chart(named("territories")).mark_point(
            filled=True, size=size, opacity=1, style="paper", stroke=GREY
        )
        discs = alt.Chart(named("territories")).mark_point(filled=True, size=size, style="inked")
        covered = _projected(drawn, paper.encode(**START))
        colours = _projected(drawn, discs.encode(**START, **paint, tooltip=tips))
        return [*borders, covered, colours]
    features = []
    for row, shape in zip(rows, drawn.board.outlines, strict=True):
        if shape:
            rings = [[[list(p) for p in (*polygon, polygon[0])]] for polygon in shape if polygon]
            geometry = {"type": "MultiPolygon", "coordinates": rings}
            features.append({"type": "Feature", "geometry": geometry, **row})
    data = alt.InlineData(values=features, name="outlines")
    shapes = alt.Chart(data).mark_geoshape(clip=True, style="inked")
    edges = alt.Chart(named("outlines")).mark_geoshape(
        filled=False, stroke=GREY, strokeWidth=0.7, clip=True
    )
    return [
        _projected(drawn, shapes.encode(**paint, tooltip=tips)),
        _projected(drawn, edges),
        *borders,
    ]


def border_rows(drawn: BoardMap) -> list[Row]:
    """Return the lines for the borders that outlines do not show."""
    known = set(drawn.board.borders)
    return [
        {"from": start, "to": to, "one_way": (to, start) not in known, **_line(a, b)}
        for start, to in sea_borders(drawn.board)
        for a, b in drawn.pieces(start, to)
    ]


def _border_lines(drawn: BoardMap) -> list[alt.Chart]:
    """Return the lines between territories, with an arrow head on one-way borders."""
    dashes = [2, 3] if drawn.board.outlines else [1, 0]
    rule = alt.Chart(named("borders")).mark_rule(
        color=GREY, strokeDash=dashes, strokeWidth=1, clip=True
    )
    heads = [
        {**at_point(((row["x"] + 2 * row["x2"]) / 3, (row["y"] + 2 * row["y2"]) / 3)), **_turn(row)}
        for row in border_rows(drawn)
        if row["one_way"]
    ]
    layers = [_projected(drawn, rule.encode(**ENDS))]
    if heads:
        data = alt.InlineData(values=heads, name="one way")
        head = alt.Chart(data).mark_text(text="▲", color=GREY, fontSize=drawn.sizes.names)
        layers.append(_projected(drawn, head.encode(**START, angle=_angle())))
    return layers


def badge_layers(
    drawn: BoardMap, rows: Sequence[Row], owners: Mapping[str, str]
) -> list[alt.Chart]:
    """Return the armies on badges, in a colour and a shape for each owner.

    drawn: the map.
    rows: of each territory, with its place, `owner` and `armies`.
    owners: the colours.
    """
    seen = [row for row in rows if drawn.frame.holds((row["x"], row["y"])) and row["armies"]]
    labelled = [{**row, "label": _short(row["armies"])} for row in seen]
    for row in seen:
        drawn.taken.append(_around(*drawn.pixel((row["x"], row["y"])), *[drawn.sizes.badge] * 2))
    base = alt.Chart(alt.InlineData(values=labelled, name="badges")).encode(**START)

    def by_owner(channel: Any, values: Sequence[str]) -> Any:
        scaled = channel.scale(domain=list(owners), range=values)
        is_wide = drawn.sizes is WIDE_SIZES
        columns = MOST_NAMED if is_wide else 3
        return scaled.legend(title=None, orient="top" if is_wide else "bottom", columns=columns)

    badge = base.mark_point(
        filled=True,
        opacity=1,
        size=(2 * drawn.sizes.badge) ** 2,
        stroke="white",
        strokeWidth=0.8,
    ).encode(
        color=by_owner(alt.Color("owner:N"), list(owners.values())),
        shape=by_owner(alt.Shape("owner:N"), [SHAPES[k % len(SHAPES)] for k in range(len(owners))]),
    )
    digits = alt.Fill("owner:N").legend(None)
    number = base.mark_text(
        fontWeight="bold", fontSize=drawn.sizes.digits, baseline="middle"
    ).encode(
        text="label:N",
        fill=digits.scale(domain=list(owners), range=[digits_on(tone) for tone in owners.values()]),
    )
    return [_projected(drawn, badge), _projected(drawn, number)]


def digits_on(tone: str) -> str:
    """Return the colour of digits on a badge: white, or that of ink on badges that are light.

    >>> digits_on("#1f6fab"), digits_on("#f0c020")
    ('#ffffff', '#1f2328')
    """
    light, dark = contrast(tone, LIGHT_DIGITS), contrast(tone, DARK_DIGITS)
    return LIGHT_DIGITS if light > dark else DARK_DIGITS


def _short(count: int) -> str:
    """Return a number of armies that fits on a badge.

    >>> _short(72), _short(1500), _short(2_000_000)
    ('72', '1.5k', '2m')
    """
    for size, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= size:
            few = count < 100 * size
            return f"{count / size:.2g}{letter}" if few else f"{count // size}{letter}"
    return str(count)


def arrow_layers(
    drawn: BoardMap,
    rows: Sequence[Row],
    owners: Mapping[str, str],
    arrows: Sequence[Arrow],
    labels: Mapping[str, str] | None = None,
) -> list[alt.Chart]:
    """Return the arrows of a plan, the badges, the labels of territories, and their names."""
    badges = badge_layers(drawn, rows, owners)
    pieces = dict(zip([each.number for each in arrows], _pieces(drawn, arrows), strict=True))
    drawn.lines.extend(piece for each in pieces.values() for piece in each)
    shafts, heads = _arrows(drawn, arrows, pieces)
    numbers = _numbers(drawn, arrows, pieces)
    told = _labels(drawn, labels or {})
    involved = {name for each in arrows for name in (each.step.start, each.step.to)}
    names = name_layers(drawn, drawn.sizes.badge, involved)
    return [*shafts, *badges, *heads, *numbers, *told, *names]


def _pieces(drawn: BoardMap, arrows: Sequence[Arrow]) -> Iterator[list[tuple[Point, Point]]]:
    """Yield the pieces of each arrow in pixels; opposite arrows keep to the right."""
    both = {(each.step.start, each.step.to) for each in arrows}
    for _, step, _ in arrows:
        ends = [(drawn.pixel(a), drawn.pixel(b)) for a, b in drawn.pieces(step.start, step.to)]
        lane = LANE if (step.to, step.start) in both else 0.0
        last, off = len(ends) - 1, drawn.sizes.badge
        yield [_arrow(a, b, k == 0, k == last, lane, off) for k, (a, b) in enumerate(ends)]


def _arrow(
    a: Point, b: Point, first: bool, last: bool, lane: float, off: float
) -> tuple[Point, Point]:
    """Return a line in pixels that leaves room for the badges at its ends.

    Where badges are so close that nothing would be left, the line begins under the first.
    """
    length = math.dist(a, b) or 1.0
    x, y = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    back = (off + 4) * last
    front = min(off + 1, max(length - back - 6, 0.0)) * first
    return (
        (a[0] + front * x - lane * y, a[1] + front * y + lane * x),
        (b[0] - back * x - lane * y, b[1] - back * y + lane * x),
    )


def _arrows(
    drawn: BoardMap, arrows: Sequence[Arrow], pieces: Mapping[int, Sequence[tuple[Point, Point]]]
) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """Return the shafts of arrows and their heads; those of rare battles are pale."""
    shafts: list[Row] = []
    heads: list[Row] = []
    for each in arrows:
        strong = {"strong": 1.0 if each.is_main else FAINT_ARROW}
        ends = pieces[each.number]
        shafts += [{**_line(drawn.point(a), drawn.point(b)), **strong} for a, b in ends]
        tip = ends[-1][1]
        heads.append({**at_point(drawn.point(tip)), **_turn(_line(*ends[-1])), **strong})
        drawn.taken.append(_around(*tip, 4.0, 4.0))
    if not shafts:
        return [], []
    opacity = alt.Opacity("strong:Q").scale(None).legend(None)
    line = alt.Chart(alt.InlineData(values=shafts, name="shafts")).encode(**ENDS)
    head = alt.Chart(alt.InlineData(values=heads, name="heads")).encode(**START, angle=_angle())
    size: dict[str, Any] = {"text": "▲", "fontSize": 10, "baseline": "middle"}
    return [
        _projected(drawn, line.mark_rule(strokeWidth=4.5, opacity=0.8, style="halo")),
        _projected(drawn, line.mark_rule(strokeWidth=2, clip=True).encode(opacity=opacity)),
    ], [
        _projected(drawn, head.mark_text(style="outlined", strokeWidth=2.5, **size)),
        _projected(drawn, head.mark_text(**size).encode(opacity=opacity)),
    ]


def _numbers(
    drawn: BoardMap, arrows: Sequence[Arrow], pieces: Mapping[int, Sequence[tuple[Point, Point]]]
) -> list[alt.Chart]:
    """Return the number of each arrow on a disc, on the arrow or, if that is short, beside it."""
    rows: list[Row] = []
    half = drawn.sizes.disc
    for each in arrows:
        mine = pieces[each.number]
        others = [line for number, more in pieces.items() if number != each.number for line in more]
        best: tuple[float, Point] | None = None
        for rank, (x, y) in enumerate(_beside(mine, half)):
            box = _around(x, y, half, half)
            at_rim = box.left < 0 or box.right > drawn.sizes.width or box.top < 0
            at_rim = at_rim or box.bottom > drawn.height
            hits = sum(map(box.meets, drawn.taken)) + at_rim
            crossed = sum(map(box.is_crossed, others))
            cost = 1000.0 * hits + 10.0 * crossed + rank
            if best is None or cost < best[0]:
                best = cost, (x, y)
        if best is not None:
            drawn.taken.append(_around(*best[1], half, half))
            told = {"text": str(each.number), "usual": each.is_main}
            rows.append({**told, **at_point(drawn.point(best[1]))})
    return [_projected(drawn, layer.encode(**START)) for layer in _discs(rows, half, "numbers")]


def _beside(mine: Sequence[tuple[Point, Point]], half: float) -> Iterator[Point]:
    """Yield the places for the number of an arrow, the best first."""
    (ax, ay), (bx, by) = max(mine, key=lambda piece: math.dist(*piece))
    length = math.dist((ax, ay), (bx, by)) or 1.0
    x, y = (bx - ax) / length, (by - ay) / length
    offs = [0.0] if length >= 2 * half + 8 else []
    offs += [side * far for far in (half + 3, half + 8, half + 14) for side in (1, -1)]
    for off in offs:
        for part in ALONG:
            yield ax + part * (bx - ax) - off * y, ay + part * (by - ay) + off * x


def _discs(rows: Sequence[Row], half: float, table: str) -> list[alt.Chart]:
    """Return numbers on discs, full ones for the main line."""
    if not rows:
        return []
    layers = []
    for is_main, disc, digits in ((True, "inked", "paper"), (False, "paper", "ink")):
        chosen = [row for row in rows if row["usual"] == is_main]
        if chosen:
            name = table if is_main else f"other {table}"
            base = alt.Chart(alt.InlineData(values=chosen, name=name))
            look: dict[str, Any] = {"style": disc, "filled": True, "opacity": 1, "stroke": GREY}
            size = (2 * half) ** 2
            layers.append(base.mark_point(size=size, strokeWidth=0.8, **look))
            text = base.mark_text(
                style=digits, fontSize=1.45 * half, fontWeight="bold", baseline="middle"
            )
            layers.append(text.encode(text="text:N"))
    return layers


def _labels(drawn: BoardMap, labels: Mapping[str, str]) -> list[alt.Chart]:
    """Return words at territories, where there is room."""
    rows: list[Row] = []
    for name, text in labels.items():
        _place(drawn, rows, [text], drawn.pixel(drawn.places[name]), drawn.sizes.badge)
    return _texts(drawn, rows, "gains", halo=4, fontWeight="bold")


def name_layers(
    drawn: BoardMap, half: float = WIDE_SIZES.badge, involved: set[str] | None = None
) -> list[alt.Chart]:
    """Return the names of territories; letters stand for those that have no room.

    drawn: the map.
    half: half of what stands at the place, in pixels.
    involved: the territories of a plan, which come first; the table of its battles has their
        names, so that they need no letters on a narrow map, where there are many.
    """
    rows: list[Row] = []
    first = involved or set()
    for name, pixel in sorted(drawn.seen().items(), key=lambda item: item[0] not in first):
        words = cut(name).split()
        forms = [[cut(name)]]
        forms += [[" ".join(words[:k]), " ".join(words[k:])] for k in range(1, len(words))]
        if any(_place(drawn, rows, form, pixel, half) for form in forms):
            continue
        if name in first and drawn.sizes is NARROW_SIZES:
            continue
        key = _letters(len(drawn.left))
        _place(drawn, rows, [key], pixel, half, is_needed=True)
        drawn.left.append((key, name))
    return _texts(drawn, rows, "names", halo=2.5)


def _letters(number: int) -> str:
    """Return letters that stand for a name.

    >>> _letters(0), _letters(25), _letters(26)
    ('a', 'z', 'aa')
    """
    letter = chr(ord("a") + number % 26)
    return letter * (number // 26 + 1)


def _place(
    drawn: BoardMap,
    rows: list[Row],
    text: Sequence[str],
    pixel: Point,
    half: float,
    *,
    is_needed: bool = False,
) -> bool:
    """Add a label near a place if there is room, and return whether there is.

    drawn: the map.
    rows: to which its lines are added.
    text: its lines.
    pixel: the place.
    half: half of what stands there.
    is_needed: whether it is added even without room.
    """
    size = drawn.sizes.names
    half_width = max(map(len, text)) * LETTER * size / 2
    line = LETTER_HEIGHT * size
    half_height = line * len(text) / 2
    below, aside = half + half_height + 1, half + half_width + 1
    near = [(0.0, 0.0)] if not half else []
    near += [(0, below), (0, -below), (aside, 0), (-aside, 0)]
    near += [(x * aside * 0.8, y * below) for y in (1, -1) for x in (1, -1)]
    near += [(x * half_width * 0.6, y * below) for y in (1, -1) for x in (1, -1)]
    if drawn.sizes is WIDE_SIZES or is_needed:  # where territories are small, it might be another's
        near += [(0, below + 4), (0, -below - 4), (aside + 4, 0), (-aside - 4, 0)]
        near += [(x * (aside + 8), y * 7) for x in (1, -1) for y in (1, -1)]
    turns = [(math.cos(turn * math.pi / 6), math.sin(turn * math.pi / 6)) for turn in range(12)]
    far = [(x * away, y * away) for away in range(6, FARTHEST, 2) for x, y in turns]
    last = far[-1]
    for x, y in [*near, *far] if is_needed else near:
        box = _around(pixel[0] + x, pixel[1] + y, half_width, half_height)
        if drawn.is_free(box) or (is_needed and (x, y) == last):
            drawn.taken.append(box)
            for k, each in enumerate(text):
                at = (pixel[0] + x, box.top + line * (k + 0.5))
                rows.append({"text": each, **at_point(drawn.point(at))})
            return True
    return False


def steps_table(drawn: BoardMap, arrows: Sequence[Arrow]) -> AnyChart:
    """Return a line for each arrow: its number, from where to where, and its two chances."""
    columns = 2 if drawn.sizes.width == WIDTH and len(arrows) > FEW_ROWS else 1
    height = -(-len(arrows) // columns)
    width = WIDTH / 2 if columns == 2 or drawn.sizes.width == WIDTH else drawn.sizes.width
    rows = [
        {
            "text": str(each.number),
            "usual": each.is_main,
            "way": f"{cut(each.step.start)} to {cut(each.step.to)}",
            "fought": _brief(each.step.reach_probability),
            "taken": _brief(each.step.conquer_probability),
            "x": k // height * width,
            "y": k % height + 1,
        }
        for k, each in enumerate(arrows)
    ]
    heads = [{"x": k * width, "y": 0, "fought": "fought", "taken": "taken"} for k in range(columns)]
    return _table(drawn, rows, heads, height + 1, width)


def _table(
    drawn: BoardMap, rows: Sequence[Row], heads: Sequence[Row], lines: int, width: float
) -> AnyChart:
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, drawn.sizes.width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False, zero=False))
    place: dict[str, Any] = {"x": x, "y": y}
    right: dict[str, Any] = {"align": "right", "fontSize": 10.5}
    body = alt.Chart(alt.InlineData(values=list(rows), name="lines")).encode(**place)
    head = alt.Chart(alt.InlineData(values=list(heads), name="columns")).encode(**place)
    numbered = [{**row, "x": row["x"] + 8} for row in rows]
    discs = [each.encode(**place) for each in _discs(numbered, WIDE_SIZES.disc, "line numbers")]
    columns = [
        each.mark_text(dx=width - 14 - back, **right).encode(text=f"{column}:N")
        for column, back in (("fought", 44), ("taken", 0))
        for each in (body, head)
    ]
    way = body.mark_text(align="left", dx=20, fontSize=10).encode(text="way:N")
    table = alt.layer(*discs, way, *columns)
    return table.properties(
        width=drawn.sizes.width, height=round(ROW * lines), view=alt.ViewBackground(stroke=None)
    )


def names_table(drawn: BoardMap) -> AnyChart:
    """Return the names for which letters stand on the map."""
    columns = 4 if drawn.sizes.width == WIDTH else 2
    height = -(-len(drawn.left) // columns)
    rows = [
        {
            "text": f"{key}  {cut(name)}",
            "x": k // height * drawn.sizes.width / columns,
            "y": k % height,
        }
        for k, (key, name) in enumerate(drawn.left)
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, drawn.sizes.width], nice=False))
    y = alt.Y(
        "y:Q", axis=None, scale=alt.Scale(domain=[height - 0.5, -0.5], nice=False, zero=False)
    )
    names = alt.Chart(alt.InlineData(values=rows, name="key")).encode(x=x, y=y, text="text:N")
    key: AnyChart = names.mark_text(align="left", dx=2, fontSize=10.5).properties(
        width=drawn.sizes.width,
        height=round(ROW * height),
        view=alt.ViewBackground(stroke=None),
    )
    return key


def _brief(chance: float) -> str:
    """Return a chance as a table has it.

    >>> _brief(0.9999), _brief(0.25), _brief(1e-9)
    ('> 99%', '25%', '< 1%')
    """
    return per_cent(chance).replace("more than", ">").replace("less than", "<")


def _texts(
    drawn: BoardMap, rows: Sequence[Row], name: str, *, halo: float, **look: Any
) -> list[alt.Chart]:
    """Return labels, and behind them the paper that keeps them readable."""
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows, name=name)).encode(**START, text="text:N")
    look = {"baseline": "middle", "fontSize": drawn.sizes.names, **look}
    behind = base.mark_text(style="outlined", strokeWidth=halo, opacity=0.8, **look)
    return [_projected(drawn, behind), _projected(drawn, base.mark_text(**look))]


def _projected(drawn: BoardMap, mark: alt.Chart) -> alt.Chart:
    """Return a layer on the plane of the board."""
    scale = drawn.scale
    return mark.project(
        type="identity",
        scale=scale,
        translate=[-drawn.frame.x * scale, -drawn.frame.y * scale],
    )


def _angle() -> alt.Angle:
    return alt.Angle("angle:Q").scale(None)


def _turn(line: Row) -> dict[str, float]:
    """Return the angle of an arrow head, in degrees from upwards."""
    return {"angle": math.degrees(math.atan2(line["y2"] - line["y"], line["x2"] - line["x"])) + 90}


def at_point(point: Point) -> dict[str, float]:
    """Return a point as rows have it."""
    return {"x": point[0], "y": point[1]}


def _line(a: Point, b: Point) -> dict[str, float]:
    return {**at_point(a), "x2": b[0], "y2": b[1]}
