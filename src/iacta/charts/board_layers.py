"""A scene as a chart: the ground, borders, badges, arrows and labels, and the tables below them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from iacta.board.scene import NARROW, SHAPES, Anchor, Arrow, Kind, Scene, shorten_name
from iacta.charts.axes_and_labels import mapped
from iacta.charts.theme import GREY, WIDTH, contrast
from iacta.charts.vega import Channel, Row, View, field, layer, rows_of

Point: TypeAlias = tuple[float, float]

DARK_DIGITS, LIGHT_DIGITS = "#1f2328", "#ffffff"
NOBODY = "nobody"
NOTHING = "transparent"
MOST_NAMED = 6  # players in a row of the legend
DIGITS = 1.2  # the size of the armies on a badge, as a part of half the badge
FEW_ROWS = 5  # of a table, which then has one column
ROW = 16.0  # pixels
PALE = 0.45
START = {"longitude": "x:Q", "latitude": "y:Q"}
ENDS = {**START, "longitude2": "x2", "latitude2": "y2"}


def owned_ground(scene: Scene, rows: Sequence[Row], owners: Mapping[str, str]) -> list[View]:
    """Return the territories in the colours of their owners."""
    tones = {owner: NOTHING if owner == NOBODY else tone for owner, tone in owners.items()}
    fill = field("owner:N", scale=mapped(tones), legend=None)
    return ground_layers(scene, rows, fill=fill, opacity={"value": 0.3})


def ground_layers(scene: Scene, rows: Sequence[Row], **paint: Any) -> list[View]:
    """Return the territories, as shapes or as discs, and the lines between them.

    scene: the scene.
    rows: of each territory, in the order of the board.
    paint: the channels that colour them; without a fill they have the colour of ink.
    """
    borders = _border_lines(scene)
    tips = [field(f"{key}:N") for key in rows[0] if key not in ("x", "y")]
    if not scene.outlines:
        size = (2.8 * max(scene.sizes.badge, 8.0)) ** 2
        placed = [
            {**row, **_at(scene, badge)} for row, badge in zip(rows, scene.badges, strict=True)
        ]
        base = _points(scene, "discs", placed)
        paper = base.mark("point", filled=True, size=size, opacity=1, style="paper", stroke=GREY)
        discs = base.mark("point", filled=True, size=size, style="inked")
        return [*borders, paper, discs.encode(**paint, tooltip=tips)]
    features = []
    for row, shape in zip(rows, scene.outlines, strict=True):
        if shape:
            rings = [[[list(p) for p in (*polygon, polygon[0])]] for polygon in shape if polygon]
            geometry = {"type": "MultiPolygon", "coordinates": rings}
            features.append({"type": "Feature", "geometry": geometry, **row})
    shapes = _projected(scene, _inline("outlines", features))
    shapes = shapes.mark("geoshape", clip=True, style="inked").encode(**paint, tooltip=tips)
    edges = _projected(scene, rows_of("outlines"))
    edges = edges.mark("geoshape", filled=False, stroke=GREY, strokeWidth=0.7, clip=True)
    lines = {
        "type": "MultiLineString",
        "coordinates": [[list(p) for p in rim] for rim in scene.rims],
    }
    rims = _projected(scene, _inline("rims", [{"type": "Feature", "geometry": lines}]))
    rims = rims.mark("geoshape", filled=False, stroke=GREY, strokeWidth=2, clip=True)
    return [shapes, edges, *([rims] if scene.rims else []), *borders]


def border_rows(scene: Scene) -> list[Row]:
    """Return the lines for the borders that outlines do not show."""
    names = scene.territories
    return [
        {"from": names[one.start], "to": names[one.to], "one_way": one.is_one_way, **_line(a, b)}
        for one in scene.borders
        if one.is_drawn
        for a, b in one.pieces
    ]


def _border_lines(scene: Scene) -> list[View]:
    """Return the lines between territories, with an arrow head on one-way borders."""
    lines = _projected(scene, rows_of("borders")).encode(**ENDS)
    dashes = [2, 3] if scene.outlines else [1, 0]
    layers = [lines.mark("rule", color=GREY, strokeDash=dashes, strokeWidth=1, clip=True)]
    heads = [
        {
            "x": (row["x"] + 2 * row["x2"]) / 3,
            "y": (row["y"] + 2 * row["y2"]) / 3,
            **_turn((row["x"], row["y"]), (row["x2"], row["y2"])),
        }
        for row in border_rows(scene)
        if row["one_way"]
    ]
    if heads:
        head = _points(scene, "one way", heads).encode(angle=_angle())
        layers.append(head.mark("text", text="▲", color=GREY, fontSize=scene.sizes.names))
    return layers


def badge_layers(scene: Scene, rows: Sequence[Row], owners: Mapping[str, str]) -> list[View]:
    """Return the armies on badges, in a colour and a shape for each owner.

    scene: the scene.
    rows: of each territory, with its `owner` and `armies`.
    owners: the colours.
    """
    labelled = [
        {**row, **_at(scene, badge), "label": short(row["armies"])}
        for row, badge in zip(rows, scene.badges, strict=True)
        if row["armies"] and scene.frame.holds((badge.x, badge.y))
    ]
    base, half = _points(scene, "badges", labelled), scene.sizes.badge
    is_narrow = scene.sizes is NARROW

    def by_owner(values: Iterable[str]) -> Channel:
        columns, orient = (3, "bottom") if is_narrow else (MOST_NAMED, "top")
        legend = {"title": None, "orient": orient, "columns": columns}
        return field("owner:N", scale=mapped(dict(zip(owners, values, strict=True))), legend=legend)

    shapes = [f"{SHAPES[k % len(SHAPES)]}" for k in range(len(owners))]
    badge = base.encode(
        color=by_owner(owners.values()),
        shape=by_owner(shapes),
    )
    edge: dict[str, Any] = {"stroke": "white", "strokeWidth": 0.8}
    digits = {owner: digits_on(tone) for owner, tone in owners.items()}
    fill = field("owner:N", legend=None, scale=mapped(digits))
    number = base.encode(text="label:N", fill=fill)
    look: dict[str, Any] = {"fontWeight": "bold", "baseline": "middle"}
    return [
        badge.mark("point", filled=True, opacity=1, size=(2 * half) ** 2, **edge),
        number.mark("text", fontSize=DIGITS * half, **look),
    ]


def digits_on(tone: str) -> str:
    """Return the colour of digits on a badge: white, or that of ink on badges that are light.

    >>> digits_on("#1f6fab"), digits_on("#f0c020")
    ('#ffffff', '#1f2328')
    """
    light, dark = contrast(tone, LIGHT_DIGITS), contrast(tone, DARK_DIGITS)
    return LIGHT_DIGITS if light > dark else DARK_DIGITS


def short(count: int) -> str:
    """Return a number of armies that fits on a badge.

    >>> short(72), short(1500), short(2_000_000)
    ('72', '1.5k', '2m')
    """
    for size, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= size:
            few = count < 100 * size
            return f"{count / size:.2g}{letter}" if few else f"{count // size}{letter}"
    return str(count)


def arrow_layers(scene: Scene) -> tuple[list[View], list[View]]:
    """Return the shafts of arrows, which are below badges, and their heads and numbers."""
    if not scene.arrows:
        return [], []
    shafts: list[Row] = []
    heads: list[Row] = []
    for arrow in scene.arrows:
        strong = {"strong": PALE if arrow.look == "rare" else 1.0}
        paths = [[one.at(scene.scale) for one in path] for path in arrow.paths]
        shafts += [{**_line(a, b), **strong} for path in paths for a, b in pairwise(path)]
        before, tip = paths[-1][-2:]
        heads.append({**_at(scene, arrow.tip), **_turn(before, tip), **strong})
    opacity = field("strong:Q", scale=None, legend=None)
    line = _projected(scene, _inline("shafts", shafts)).encode(**ENDS)
    head = _points(scene, "heads", heads).encode(angle=_angle())
    size: dict[str, Any] = {"text": "▲", "fontSize": 10, "baseline": "middle"}
    discs = [{**_numbered(arrow), **_at(scene, arrow.disc)} for arrow in scene.arrows]
    return [
        line.mark("rule", strokeWidth=4.5, opacity=0.8, style="halo"),
        line.mark("rule", strokeWidth=2, clip=True).encode(opacity=opacity),
    ], [
        head.mark("text", style="outlined", strokeWidth=2.5, **size),
        head.mark("text", **size).encode(opacity=opacity),
        *(_projected(scene, disc).encode(**START) for disc in _discs(discs, scene.sizes.disc)),
    ]


def _numbered(arrow: Arrow) -> Row:
    return {"text": str(arrow.number), "usual": arrow.look != "rare"}


def _discs(rows: Sequence[Row], half: float, table: str = "numbers") -> list[View]:
    """Return numbers on discs, full ones for the main line."""
    layers = []
    for is_main, disc, digits in ((True, "inked", "paper"), (False, "paper", "ink")):
        chosen = [row for row in rows if row["usual"] == is_main]
        if chosen:
            name = table if is_main else f"other {table}"
            base = _inline(name, chosen)
            look: dict[str, Any] = {"style": disc, "filled": True, "opacity": 1, "stroke": GREY}
            words: dict[str, Any] = {"fontWeight": "bold", "baseline": "middle"}
            text = base.mark("text", style=digits, fontSize=1.45 * half, **words)
            layers += [
                base.mark("point", size=(2 * half) ** 2, strokeWidth=0.8, **look),
                text.encode(text="text:N"),
            ]
    return layers


def label_layers(scene: Scene) -> list[View]:
    """Return the labels that have room, and behind them the paper that keeps them readable."""
    notes = _texts(scene, "gains", ("value",), halo=4, fontWeight="bold")
    continents = _texts(scene, "continents", ("continent",), halo=2.5, fontStyle="italic")
    return [*notes, *_texts(scene, "names", ("name", "key"), halo=2.5), *continents]


def _texts(
    scene: Scene, name: str, kinds: Sequence[Kind], *, halo: float, **look: Any
) -> list[View]:
    rows: list[Row] = []
    for label in (label for label in scene.shown() if label.kind in kinds):
        for k, line in enumerate(label.lines):
            down = (k - (len(label.lines) - 1) / 2) * scene.sizes.line
            at = label.middle._replace(dy=label.middle.dy + down)
            rows.append({"text": line, **_at(scene, at)})
    if not rows:
        return []
    base = _points(scene, name, rows).encode(text="text:N")
    look = {"baseline": "middle", "fontSize": scene.sizes.names, **look}
    behind = base.mark("text", style="outlined", strokeWidth=halo, opacity=0.8, **look)
    return [behind, base.mark("text", **look)]


def steps_table(scene: Scene) -> View:
    """Return a line for each arrow: its number, from where to where, and its two chances."""
    columns = 2 if scene.width == WIDTH and len(scene.arrows) > FEW_ROWS else 1
    height = -(-len(scene.arrows) // columns)
    width = scene.width / columns if scene.width < WIDTH else WIDTH / 2
    rows = [
        {
            **_numbered(arrow),
            "way": arrow.words,
            "fought": arrow.fought,
            "taken": arrow.taken,
            "x": k // height * width,
            "y": k % height + 1,
        }
        for k, arrow in enumerate(scene.arrows)
    ]
    heads = [{"x": k * width, "y": 0, "fought": "fought", "taken": "taken"} for k in range(columns)]
    place = _grid(scene, height + 1)
    right: dict[str, Any] = {"align": "right", "fontSize": 10.5}
    body = _inline("lines", rows).encode(**place)
    head = _inline("columns", heads).encode(**place)
    numbered = [{**row, "x": row["x"] + 8} for row in rows]
    discs = [disc.encode(**place) for disc in _discs(numbered, 6.5, "line numbers")]
    chances = [
        part.mark("text", dx=width - 14 - back, **right).encode(text=f"{column}:N")
        for column, back in (("fought", 44), ("taken", 0))
        for part in (body, head)
    ]
    way = body.mark("text", align="left", dx=20, fontSize=10).encode(text="way:N")
    return _below(scene, layer(*discs, way, *chances), height + 1)


def names_table(scene: Scene) -> View | None:
    """Return the names for which letters stand on the map, if there are any."""
    columns = 2 if scene.sizes is NARROW else 4
    keys = [label for label in scene.shown() if label.kind == "key"]
    height = -(-len(keys) // columns)
    rows = [
        {
            "text": f"{key.lines[0]}  {shorten_name(scene.territories[key.territory])}",
            "x": k // height * scene.width / columns,
            "y": k % height,
        }
        for k, key in enumerate(keys)
    ]
    if not rows:
        return None
    names = _inline("key", rows).encode(**_grid(scene, height), text="text:N")
    return _below(scene, names.mark("text", align="left", dx=2, fontSize=10.5), height)


def _grid(scene: Scene, lines: int) -> dict[str, Any]:
    y = {"domain": [lines - 0.5, -0.5], "nice": False, "zero": False}
    return {
        "x": field("x:Q", axis=None, scale={"domain": [0, scene.width], "nice": False}),
        "y": field("y:Q", axis=None, scale=y),
    }


def _below(scene: Scene, table: View, lines: int) -> View:
    return table.properties(width=scene.width, height=round(ROW * lines), view={"stroke": None})


def _inline(name: str, rows: Sequence[Row]) -> View:
    return View(data={"values": rows, "name": name})


def _projected(scene: Scene, base: View) -> View:
    """Return a chart on the plane of the board."""
    scale = scene.scale
    corner = [-scene.frame.x * scale, -scene.frame.y * scale]
    return base.properties(projection={"type": "identity", "scale": scale, "translate": corner})


def _points(scene: Scene, name: str, rows: Sequence[Row]) -> View:
    return _projected(scene, _inline(name, rows)).encode(**START)


def _angle() -> Channel:
    return field("angle:Q", scale=None)


def _turn(a: Point, b: Point) -> dict[str, float]:
    """Return the angle of an arrow head, in degrees from upwards."""
    return {"angle": math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])) + 90}


def _at(scene: Scene, anchor: Anchor) -> dict[str, float]:
    return dict(zip("xy", anchor.at(scene.scale), strict=True))


def _line(a: Point, b: Point) -> dict[str, float]:
    return {"x": a[0], "y": a[1], "x2": b[0], "y2": b[1]}
