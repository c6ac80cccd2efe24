"""Layers of a map: territories, borders, badges, arrows and labels; also the tables below it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from iacta.board.scene import NARROW, Anchor, Arrow, Kind, Scene, shorten_name
from iacta.charts.axes_and_labels import value_scale
from iacta.charts.theme import GREY, WIDTH, choose_shapes, compute_contrast
from iacta.charts.vega import Channel, Row, View, field, layer, table_view

Point: TypeAlias = tuple[float, float]

DARK_DIGITS, LIGHT_DIGITS = "#1f2328", "#ffffff"
NOBODY = "nobody"
NOTHING = "transparent"
MAX_LEGEND_COLUMNS = 6
DIGIT_SCALE = 1.2  # font size on a badge, relative to its radius
MAX_SINGLE_COLUMN = 5  # tables with more rows have two columns
ROW = 16.0  # height of a table row in pixels
PALE_OPACITY = 0.45
START = {"longitude": "x:Q", "latitude": "y:Q"}
ENDS = {**START, "longitude2": "x2", "latitude2": "y2"}


def draw_owned_ground(scene: Scene, rows: Sequence[Row], owners: Mapping[str, str]) -> list[View]:
    """Draw the territories in the colours of their owners."""
    tones = {owner: NOTHING if owner == NOBODY else tone for owner, tone in owners.items()}
    fill = field("owner:N", scale=value_scale(tones), legend=None)
    return draw_ground(scene, rows, fill=fill, opacity={"value": 0.3})


def draw_ground(scene: Scene, rows: Sequence[Row], **paint: Any) -> list[View]:
    """Draw the territories as shapes or discs, with the borders between them.

    rows: a row for each territory, in the order of the board.
    paint: encoding channels for the colour; by default, territories have the colour of text.
    """
    borders = _draw_borders(scene)
    tips = [field(f"{key}:N") for key in rows[0] if key not in ("x", "y")]
    if not scene.outlines:
        size = (2.8 * max(scene.sizes.badge, 8.0)) ** 2
        placed = [
            {**row, **_locate(scene, badge)} for row, badge in zip(rows, scene.badges, strict=True)
        ]
        base = _place_points(scene, "discs", placed)
        paper = base.mark("point", filled=True, size=size, opacity=1, style="paper", stroke=GREY)
        discs = base.mark("point", filled=True, size=size, style="inked")
        return [*borders, paper, discs.encode(**paint, tooltip=tips)]
    features = []
    for row, shape in zip(rows, scene.outlines, strict=True):
        if shape:
            rings = [[[list(p) for p in (*polygon, polygon[0])]] for polygon in shape if polygon]
            geometry = {"type": "MultiPolygon", "coordinates": rings}
            features.append({"type": "Feature", "geometry": geometry, **row})
    shapes = _project(scene, _inline_view("outlines", features))
    shapes = shapes.mark("geoshape", clip=True, style="inked").encode(**paint, tooltip=tips)
    edges = _project(scene, table_view("outlines"))
    edges = edges.mark("geoshape", filled=False, stroke=GREY, strokeWidth=0.7, clip=True)
    lines = {
        "type": "MultiLineString",
        "coordinates": [[list(p) for p in rim] for rim in scene.rims],
    }
    rims = _project(scene, _inline_view("rims", [{"type": "Feature", "geometry": lines}]))
    rims = rims.mark("geoshape", filled=False, stroke=GREY, strokeWidth=2, clip=True)
    return [shapes, edges, *([rims] if scene.rims else []), *borders]


def list_borders(scene: Scene) -> list[Row]:
    """List the borders to draw as lines: those between territories whose shapes do not touch."""
    names = scene.territories
    return [
        {
            "from": names[one.start],
            "to": names[one.to],
            "one_way": one.is_one_way,
            **_make_line(a, b),
        }
        for one in scene.borders
        if one.is_drawn
        for a, b in one.pieces
    ]


def _draw_borders(scene: Scene) -> list[View]:
    """Draw the lines between territories, with arrow heads on one-way borders."""
    lines = _project(scene, table_view("borders")).encode(**ENDS)
    dashes = [2, 3] if scene.outlines else [1, 0]
    layers = [lines.mark("rule", color=GREY, strokeDash=dashes, strokeWidth=1, clip=True)]
    heads = [
        {
            "x": (row["x"] + 2 * row["x2"]) / 3,
            "y": (row["y"] + 2 * row["y2"]) / 3,
            **_compute_angle((row["x"], row["y"]), (row["x2"], row["y2"])),
        }
        for row in list_borders(scene)
        if row["one_way"]
    ]
    if heads:
        head = _place_points(scene, "one way", heads).encode(angle=_make_angle_channel())
        layers.append(head.mark("text", text="▲", color=GREY, fontSize=scene.sizes.names))
    return layers


def draw_badges(scene: Scene, rows: Sequence[Row], owners: Mapping[str, str]) -> list[View]:
    """Draw badges with numbers of armies, in the colour and shape of each owner.

    rows: a row for each territory, with the columns `owner` and `armies`.
    owners: the colour of each owner.
    """
    labelled = [
        {**row, **_locate(scene, badge), "label": format_short(row["armies"])}
        for row, badge in zip(rows, scene.badges, strict=True)
        if row["armies"] and scene.frame.contains((badge.x, badge.y))
    ]
    base, half = _place_points(scene, "badges", labelled), scene.sizes.badge
    is_narrow = scene.sizes is NARROW

    def encode_owner(values: Iterable[str]) -> Channel:
        columns, orient = (3, "bottom") if is_narrow else (MAX_LEGEND_COLUMNS, "top")
        legend = {"title": None, "orient": orient, "columns": columns}
        return field(
            "owner:N", scale=value_scale(dict(zip(owners, values, strict=True))), legend=legend
        )

    shapes = choose_shapes(owners)
    badge = base.encode(
        color=encode_owner(owners.values()),
        shape=encode_owner(shapes[owner] for owner in owners),
    )
    edge: dict[str, Any] = {"stroke": "white", "strokeWidth": 0.8}
    digits = {owner: choose_digit_colour(tone) for owner, tone in owners.items()}
    fill = field("owner:N", legend=None, scale=value_scale(digits))
    number = base.encode(text="label:N", fill=fill)
    look: dict[str, Any] = {"fontWeight": "bold", "baseline": "middle"}
    return [
        badge.mark("point", filled=True, opacity=1, size=(2 * half) ** 2, **edge),
        number.mark("text", fontSize=DIGIT_SCALE * half, **look),
    ]


def choose_digit_colour(tone: str) -> str:
    """Return a readable colour for digits on a badge: white on dark, dark on light.

    tone: the colour of the badge.

    >>> choose_digit_colour("#1f6fab"), choose_digit_colour("#f0c020")
    ('#ffffff', '#1f2328')
    """
    light, dark = compute_contrast(tone, LIGHT_DIGITS), compute_contrast(tone, DARK_DIGITS)
    return LIGHT_DIGITS if light > dark else DARK_DIGITS


def format_short(count: int) -> str:
    """Format a number of armies to fit on a badge.

    >>> format_short(72), format_short(1500), format_short(2_000_000)
    ('72', '1.5k', '2m')
    """
    for size, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= size:
            is_short = count < 100 * size
            return f"{count / size:.2g}{letter}" if is_short else f"{count // size}{letter}"
    return str(count)


def draw_arrows(scene: Scene) -> tuple[list[View], list[View]]:
    """Draw arrows in two groups of layers: shafts below the badges, heads and numbers above."""
    if not scene.arrows:
        return [], []
    shafts: list[Row] = []
    heads: list[Row] = []
    for arrow in scene.arrows:
        strong = {"strong": PALE_OPACITY if arrow.look == "rare" else 1.0}
        paths = [[one.locate(scene.scale) for one in path] for path in arrow.paths]
        shafts += [{**_make_line(a, b), **strong} for path in paths for a, b in pairwise(path)]
        before, tip = paths[-1][-2:]
        heads.append({**_locate(scene, arrow.tip), **_compute_angle(before, tip), **strong})
    opacity = field("strong:Q", scale=None, legend=None)
    line = _project(scene, _inline_view("shafts", shafts)).encode(**ENDS)
    head = _place_points(scene, "heads", heads).encode(angle=_make_angle_channel())
    size: dict[str, Any] = {"text": "▲", "fontSize": 10, "baseline": "middle"}
    discs = [{**_number_row(arrow), **_locate(scene, arrow.disc)} for arrow in scene.arrows]
    return [
        line.mark("rule", strokeWidth=4.5, opacity=0.8, style="halo"),
        line.mark("rule", strokeWidth=2, clip=True).encode(opacity=opacity),
    ], [
        head.mark("text", style="outlined", strokeWidth=2.5, **size),
        head.mark("text", **size).encode(opacity=opacity),
        *(_project(scene, disc).encode(**START) for disc in _draw_discs(discs, scene.sizes.disc)),
    ]


def _number_row(arrow: Arrow) -> Row:
    return {"text": str(arrow.number), "usual": arrow.look != "rare"}


def _draw_discs(rows: Sequence[Row], radius: float, table: str = "numbers") -> list[View]:
    """Draw numbers on discs. Discs on a plan's main line are dark; the others are pale."""
    layers = []
    for is_main, disc, digits in ((True, "inked", "paper"), (False, "paper", "ink")):
        chosen = [row for row in rows if row["usual"] == is_main]
        if chosen:
            name = table if is_main else f"other {table}"
            base = _inline_view(name, chosen)
            look: dict[str, Any] = {"style": disc, "filled": True, "opacity": 1, "stroke": GREY}
            words: dict[str, Any] = {"fontWeight": "bold", "baseline": "middle"}
            text = base.mark("text", style=digits, fontSize=1.45 * radius, **words)
            layers += [
                base.mark("point", size=(2 * radius) ** 2, strokeWidth=0.8, **look),
                text.encode(text="text:N"),
            ]
    return layers


def draw_labels(scene: Scene) -> list[View]:
    """Draw the labels that are visible, with a halo to make them readable."""
    notes = _draw_texts(scene, "gains", ("value",), halo=4, fontWeight="bold")
    continents = _draw_texts(scene, "continents", ("continent",), halo=2.5, fontStyle="italic")
    return [*notes, *_draw_texts(scene, "names", ("name", "key"), halo=2.5), *continents]


def _draw_texts(
    scene: Scene, name: str, kinds: Sequence[Kind], *, halo: float, **look: Any
) -> list[View]:
    rows: list[Row] = []
    for label in (label for label in scene.list_shown_labels() if label.kind in kinds):
        for k, line in enumerate(label.lines):
            down = (k - (len(label.lines) - 1) / 2) * scene.sizes.line
            at = label.middle._replace(dy=label.middle.dy + down)
            rows.append({"text": line, **_locate(scene, at)})
    if not rows:
        return []
    base = _place_points(scene, name, rows).encode(text="text:N")
    look = {"baseline": "middle", "fontSize": scene.sizes.names, **look}
    behind = base.mark("text", style="outlined", strokeWidth=halo, opacity=0.8, **look)
    return [behind, base.mark("text", **look)]


def draw_steps_table(scene: Scene) -> View:
    """Draw a table of arrows: number, territories, and the chances to attack and to conquer."""
    columns = 2 if scene.width == WIDTH and len(scene.arrows) > MAX_SINGLE_COLUMN else 1
    height = -(-len(scene.arrows) // columns)
    width = scene.width / columns if scene.width < WIDTH else WIDTH / 2
    rows = [
        {
            **_number_row(arrow),
            "way": arrow.words,
            "fought": arrow.fought,
            "taken": arrow.taken,
            "x": k // height * width,
            "y": k % height + 1,
        }
        for k, arrow in enumerate(scene.arrows)
    ]
    heads = [{"x": k * width, "y": 0, "fought": "fought", "taken": "taken"} for k in range(columns)]
    grid = _make_grid(scene, height + 1)
    right: dict[str, Any] = {"align": "right", "fontSize": 10.5}
    body = _inline_view("lines", rows).encode(**grid)
    head = _inline_view("columns", heads).encode(**grid)
    numbered = [{**row, "x": row["x"] + 8} for row in rows]
    discs = [disc.encode(**grid) for disc in _draw_discs(numbered, 6.5, "line numbers")]
    chances = [
        part.mark("text", dx=width - 14 - back, **right).encode(text=f"{column}:N")
        for column, back in (("fought", 44), ("taken", 0))
        for part in (body, head)
    ]
    way = body.mark("text", align="left", dx=20, fontSize=10).encode(text="way:N")
    return _fit_table_to_scene(scene, layer(*discs, way, *chances), height + 1)


def draw_names_table(scene: Scene) -> View | None:
    """Draw a legend for the letters on the map, or return `None` for a map without letters."""
    columns = 2 if scene.sizes is NARROW else 4
    keys = [label for label in scene.list_shown_labels() if label.kind == "key"]
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
    names = _inline_view("key", rows).encode(**_make_grid(scene, height), text="text:N")
    return _fit_table_to_scene(scene, names.mark("text", align="left", dx=2, fontSize=10.5), height)


def _make_grid(scene: Scene, row_count: int) -> dict[str, Any]:
    y = {"domain": [row_count - 0.5, -0.5], "nice": False, "zero": False}
    return {
        "x": field("x:Q", axis=None, scale={"domain": [0, scene.width], "nice": False}),
        "y": field("y:Q", axis=None, scale=y),
    }


def _fit_table_to_scene(scene: Scene, table: View, row_count: int) -> View:
    return table.properties(width=scene.width, height=round(ROW * row_count), view={"stroke": None})


def _inline_view(name: str, rows: Sequence[Row]) -> View:
    return View(data={"values": rows, "name": name})


def _project(scene: Scene, base: View) -> View:
    """Apply the map projection of the board to a view."""
    scale = scene.scale
    corner = [-scene.frame.x * scale, -scene.frame.y * scale]
    return base.properties(projection={"type": "identity", "scale": scale, "translate": corner})


def _place_points(scene: Scene, name: str, rows: Sequence[Row]) -> View:
    return _project(scene, _inline_view(name, rows)).encode(**START)


def _make_angle_channel() -> Channel:
    return field("angle:Q", scale=None)


def _compute_angle(a: Point, b: Point) -> dict[str, float]:
    """Return the angle of an arrow from a to b, in degrees clockwise from up."""
    return {"angle": math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])) + 90}


def _locate(scene: Scene, anchor: Anchor) -> dict[str, float]:
    return dict(zip("xy", anchor.locate(scene.scale), strict=True))


def _make_line(a: Point, b: Point) -> dict[str, float]:
    return {"x": a[0], "y": a[1], "x2": b[0], "y2": b[1]}
