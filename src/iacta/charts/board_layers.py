"""The layers of a map: the ground, the borders, the armies, the names and the way of a plan."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import altair as alt

from iacta.board import Board
from iacta.charts.board_layout import Frame, edges_of, lines, sea_borders
from iacta.charts.theme import GREY, WIDTH, Row, named
from iacta.charts.words import per_cent
from iacta.plan import Step

__all__ = ["BoardMap", "arrows", "badges", "border_rows", "chances", "cut", "ground", "names"]

Point: TypeAlias = tuple[float, float]

BADGE = 9.0  # pixels, on a picture of the usual width: half a badge
LETTER, LINE = 4.6, 9.0
LANE = 3.0
LONGEST_NAME = 24
START = {"longitude": "x:Q", "latitude": "y:Q"}
ENDS = {**START, "longitude2": "x2:Q", "latitude2": "y2:Q"}
ANGLE = alt.Angle("angle:Q").scale(None)
ALONG = ((0.5, 0), (0.62, 0), (0.38, 0), (0.5, -15), (0.5, 15), (0.74, 0))

# Shapes that leave room for a number, so that owners are told apart without colours too.
HOUSE = "M0,-1.1L1,-0.3L0.8,0.9L-0.8,0.9L-1,-0.3Z"
SHIELD = "M-1,-0.9L1,-0.9L0.85,0.4L0,1.1L-0.85,0.4Z"
DIAMOND = "M0,-1.25L1.25,0L0,1.25L-1.25,0Z"
SHAPES = ("circle", "square", DIAMOND, HOUSE, SHIELD, "cross")


class _Box(NamedTuple):
    """The pixels that something covers, on a picture of the usual width."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        """Tell whether it covers a pixel of another."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class BoardMap:
    """What is drawn of a board.

    board: the board.
    places: where its territories lie.
    frame: the part that is seen.
    taken: what is covered so far, in pixels; labels keep clear of it.
    """

    board: Board
    places: Mapping[str, Point]
    frame: Frame
    taken: list[_Box] = field(default_factory=list)

    def pixel(self, point: Point) -> Point:
        """Return where a point is on a picture of the usual width.

        point: the point.
        """
        scale = WIDTH / self.frame.width
        return (point[0] - self.frame.x) * scale, (point[1] - self.frame.y) * scale

    def point(self, pixel: Point) -> Point:
        """Return the point that is there on a picture of the usual width.

        pixel: the pixel.
        """
        scale = self.frame.width / WIDTH
        return self.frame.x + pixel[0] * scale, self.frame.y + pixel[1] * scale

    def seen(self) -> list[tuple[str, Point]]:
        """Return the territories within the frame, and their pixels."""
        inside = [(name, p) for name, p in self.places.items() if self.frame.holds(p)]
        return [(name, self.pixel(place)) for name, place in inside]

    def pieces(self, start: str, to: str) -> Sequence[tuple[Point, Point]]:
        """Return the line between two territories, which may go over the edges of a map.

        start, to: their names.
        """
        return lines(self.places[start], self.places[to], edges_of(self.board))

    def is_free(self, box: _Box) -> bool:
        """Tell whether a label has room, and take it if so.

        box: the room that it needs.
        """
        height = WIDTH * self.frame.height / self.frame.width
        inside = box.left >= 0 and box.right <= WIDTH and box.top >= 0 and box.bottom <= height
        free = inside and not any(map(box.meets, self.taken))
        if free:
            self.taken.append(box)
        return free


def ground(drawn: BoardMap, rows: Sequence[Row], **paint: Any) -> list[alt.Chart]:
    """Return the shapes of the territories, or a disc for each, and the lines between them.

    drawn: the map.
    rows: of each territory, in the order of the board.
    paint: the channels that colour them.
    """
    borders = _border_lines(drawn)
    tips = [alt.Tooltip(f"{key}:N") for key in rows[0] if key not in ("x", "y")]
    if not drawn.board.outlines:
        size = f"{(2.8 * BADGE) ** 2} * pow(max(0.62, min(1, width / {WIDTH})), 2)"
        paper = alt.Chart(named("territories")).mark_point(
            filled=True, size=alt.ExprRef(size), opacity=1, style="paper", stroke=GREY
        )
        discs = alt.Chart(named("territories")).mark_point(filled=True, size=alt.ExprRef(size))
        covered = _projected(drawn, paper.encode(**START))
        colours = _projected(drawn, discs.encode(**START, **paint, tooltip=tips))
        return [*borders, covered, colours]
    features = [
        {"type": "Feature", "geometry": _geometry(shape), **row}
        for row, shape in zip(rows, drawn.board.outlines, strict=True)
        if shape
    ]
    shapes = alt.Chart(alt.InlineData(values=features, name="outlines")).mark_geoshape(clip=True)
    edges = alt.Chart(named("outlines")).mark_geoshape(
        filled=False, stroke=GREY, strokeWidth=0.7, clip=True
    )
    return [
        _projected(drawn, shapes.encode(**paint, tooltip=tips)),
        _projected(drawn, edges),
        *borders,
    ]


def border_rows(drawn: BoardMap) -> list[Row]:
    """Return the lines for the borders that outlines do not show.

    drawn: the map.
    """
    ways = set(drawn.board.borders)
    return [
        {"from": start, "to": to, "one_way": (to, start) not in ways, **_line(a, b)}
        for start, to in sea_borders(drawn.board)
        for a, b in drawn.pieces(start, to)
    ]


def badges(drawn: BoardMap, rows: Sequence[Row], owners: Mapping[str, str]) -> list[alt.Chart]:
    """Return the armies on badges, in a colour and a shape for each owner.

    drawn: the map.
    rows: of each territory, with its place, `owner` and `armies`.
    owners: the colours.
    """
    seen = [row for row in rows if drawn.frame.holds((row["x"], row["y"])) and row["armies"]]
    labelled = [{**row, "label": _short(row["armies"])} for row in seen]
    for row in seen:
        x, y = drawn.pixel((row["x"], row["y"]))
        drawn.taken.append(_Box(x - BADGE, y - BADGE, x + BADGE, y + BADGE))
    shapes = [SHAPES[k % len(SHAPES)] for k in range(len(owners))]
    base = alt.Chart(alt.InlineData(values=labelled, name="badges"))
    base = base.encode(**START)
    size = f"{(2 * BADGE) ** 2} * pow(max(0.62, min(1, width / {WIDTH})), 2)"
    badge = base.mark_point(
        filled=True, opacity=1, size=alt.ExprRef(size), stroke="white", strokeWidth=0.8
    ).encode(
        color=_scaled(alt.Color("owner:N"), list(owners), list(owners.values())),
        shape=_scaled(alt.Shape("owner:N"), list(owners), shapes),
    )
    number = base.mark_text(
        color="white", fontWeight="bold", fontSize=_wide(9.5, 6.5), baseline="middle"
    ).encode(text="label:N")
    return [_projected(drawn, badge), _projected(drawn, number)]


def names(drawn: BoardMap, half: float = BADGE) -> list[alt.Chart]:
    """Return the names of the territories, as far as there is room for them.

    drawn: the map.
    half: the height in pixels of what stands at the place, from its middle.
    """
    rows = []
    for name, (x, y) in drawn.seen():
        for lower in (half + 6, -half - 6) if half else (0.0, LINE, -LINE):
            if drawn.is_free(_text_box(cut(name), x, y + lower)):
                rows.append({"text": cut(name), **_at(drawn.point((x, y + lower)))})
                break
    return _texts(drawn, rows, "names", fontSize=_wide(8.0, 5.5), halo=2)


def arrows(drawn: BoardMap, steps: Sequence[Step]) -> list[alt.Chart]:
    """Return an arrow for each step, the fainter the seldomer it is taken.

    drawn: the map.
    steps: the steps.
    """
    shafts: list[Row] = []
    heads: list[Row] = []
    for step, pieces in _ways(drawn, steps):
        seen = 0.3 + 0.7 * step.reach_probability
        shafts += [{**_line(drawn.point(a), drawn.point(b)), "strong": seen} for a, b in pieces]
        heads.append(
            {**_at(drawn.point(pieces[-1][1])), **_turn(_line(*pieces[-1])), "strong": seen}
        )
    if not shafts:
        return []
    strong = alt.Opacity("strong:Q").scale(None).legend(None)
    shaft = alt.Chart(alt.InlineData(values=shafts, name="shafts"))
    shaft = shaft.mark_rule(strokeWidth=_wide(2.2, 1.2), clip=True).encode(**ENDS, opacity=strong)
    head = alt.Chart(alt.InlineData(values=heads, name="heads")).mark_text(
        text="▲", fontSize=_wide(9.0, 6.0), baseline="middle"
    )
    head = head.encode(**START, angle=ANGLE, opacity=strong)
    return [_projected(drawn, shaft), _projected(drawn, head)]


def chances(drawn: BoardMap, steps: Sequence[Step]) -> list[alt.Chart]:
    """Return the chance of each arrow to take its territory, as far as there is room.

    drawn: the map.
    steps: the steps, the likeliest first.
    """
    rows = []
    for step, pieces in _ways(drawn, steps):
        text = per_cent(step.conquer_probability).replace("more than ", "> ")
        text = text.replace("less than ", "< ")
        (ax, ay), (bx, by) = pieces[-1]
        for part, lower in ALONG:
            x, y = ax + part * (bx - ax), ay + part * (by - ay) + lower
            if drawn.is_free(_text_box(text, x, y)):
                rows.append({"text": text, **_at(drawn.point((x, y)))})
                break
    return _texts(drawn, rows, "chances", fontSize=_wide(8.5, 6.0), halo=4, fontWeight="bold")


def cut(name: str) -> str:
    """Return a name that is not too long for a picture.

    name: the name.
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _ways(
    drawn: BoardMap, steps: Sequence[Step]
) -> Iterator[tuple[Step, list[tuple[Point, Point]]]]:
    """Yield the pieces of each step's arrow, in pixels; two that are opposite keep to the right."""
    both = {(step.start, step.to) for step in steps}
    for step in steps:
        pieces = [(drawn.pixel(a), drawn.pixel(b)) for a, b in drawn.pieces(step.start, step.to)]
        lane = LANE if (step.to, step.start) in both else 0.0
        last = len(pieces) - 1
        yield step, [_arrow(a, b, k == 0, k == last, lane) for k, (a, b) in enumerate(pieces)]


def _arrow(a: Point, b: Point, first: bool, last: bool, lane: float) -> tuple[Point, Point]:
    """Return a line in pixels that leaves room for the badges at its ends."""
    length = math.dist(a, b) or 1.0
    off = min(BADGE + 1, 0.3 * length)
    x, y = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    front, back = off * first, (off + 3) * last
    return (
        (a[0] + front * x - lane * y, a[1] + front * y + lane * x),
        (b[0] - back * x - lane * y, b[1] - back * y + lane * x),
    )


def _projected(drawn: BoardMap, mark: alt.Chart) -> alt.Chart:
    """Return a layer on the plane of the board, whatever the width of the picture."""
    frame = drawn.frame
    scale = f"width / {frame.width}"
    return mark.project(
        type="identity",
        scale=alt.ExprRef(scale),
        translate=alt.ExprRef(f"[{-frame.x} * {scale}, {-frame.y} * {scale}]"),
    )


def _wide(pixels: float, least: float) -> alt.ExprRef:
    """Return a length that shrinks with the picture, down to a least one."""
    return alt.ExprRef(f"max({least}, {pixels} * min(1, width / {WIDTH}))")


def _scaled(channel: Any, domain: list[str], values: list[str]) -> Any:
    return channel.scale(domain=domain, range=values).legend(title=None, orient="bottom")


def _texts(
    drawn: BoardMap, rows: Sequence[Row], name: str, *, halo: float, **look: Any
) -> list[alt.Chart]:
    """Return labels, and behind them the paper that keeps them readable."""
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows, name=name))
    base = base.encode(**START, text="text:N")
    behind = base.mark_text(
        style="outlined", strokeWidth=halo, opacity=0.7, baseline="middle", **look
    )
    return [
        _projected(drawn, behind),
        _projected(drawn, base.mark_text(baseline="middle", **look)),
    ]


def _border_lines(drawn: BoardMap) -> list[alt.Chart]:
    """Return the lines between territories, with a mark on those that lead one way only."""
    dashes = [3, 3] if drawn.board.outlines else [1, 0]
    rule = alt.Chart(named("borders")).mark_rule(
        color=GREY, strokeDash=dashes, strokeWidth=1.2, clip=True
    )
    heads = [
        {**_at(((row["x"] + 2 * row["x2"]) / 3, (row["y"] + 2 * row["y2"]) / 3)), **_turn(row)}
        for row in border_rows(drawn)
        if row["one_way"]
    ]
    layers = [_projected(drawn, rule.encode(**ENDS))]
    if heads:
        data = alt.InlineData(values=heads, name="one way")
        head = alt.Chart(data).mark_text(text="▲", color=GREY, fontSize=_wide(9.0, 6.0))
        layers.append(_projected(drawn, head.encode(**START, angle=ANGLE)))
    return layers


def _turn(line: Row) -> dict[str, float]:
    """Return the angle of an arrow head, in degrees from upwards."""
    return {"angle": math.degrees(math.atan2(line["y2"] - line["y"], line["x2"] - line["x"])) + 90}


def _geometry(shape: Sequence[Sequence[Point]]) -> dict[str, Any]:
    rings = [[list(point) for point in (*polygon, polygon[0])] for polygon in shape if polygon]
    return {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}


def _at(point: Point) -> dict[str, float]:
    return {"x": point[0], "y": point[1]}


def _line(a: Point, b: Point) -> dict[str, float]:
    return {**_at(a), "x2": b[0], "y2": b[1]}


def _text_box(text: str, x: float, y: float) -> _Box:
    half = len(text) * LETTER / 2
    return _Box(x - half, y - LINE / 2, x + half, y + LINE / 2)


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
