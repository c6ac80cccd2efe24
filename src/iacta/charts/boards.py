"""Charts of boards and plans: maps with owners, armies, borders and the arrows of a plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from iacta.charts.board_layout import Frame, edges_of, frame_of, lines, places_of, sea_borders
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    RED,
    WIDTH,
    AnyChart,
    Row,
    alt,
    armies,
    expect,
    finish,
    joined,
    named,
    per_cent,
    rules_words,
)
from iacta.checks import shown
from iacta.errors import MalformedError

if TYPE_CHECKING:  # both take time to import
    from iacta.board import Board, Holding, Position
    from iacta.plan import Plan, Reinforcement, Step

Point: TypeAlias = tuple[float, float]

TONES = (BLUE, RED, GREEN, AMBER, PURPLE)
TONES_BY_NAME = {  # of players named after a colour
    "blue": BLUE,
    "red": RED,
    "orange": RED,
    "green": GREEN,
    "yellow": AMBER,
    "amber": AMBER,
    "purple": PURPLE,
    "pink": PURPLE,
    "violet": PURPLE,
    "black": GREY,
    "grey": GREY,
    "white": GREY,
}
CONTINENT_TONES = (AMBER, RED, BLUE, GREEN, PURPLE, GREY)
# Shapes with room for a number, so that owners can be told apart without colours too.
HOUSE = "M0,-1.1L1,-0.3L0.8,0.9L-0.8,0.9L-1,-0.3Z"
SHIELD = "M-1,-0.9L1,-0.9L0.85,0.4L0,1.1L-0.85,0.4Z"
DIAMOND = "M0,-1.25L1.25,0L0,1.25L-1.25,0Z"
SHAPES = ("circle", "square", DIAMOND, HOUSE, SHIELD, "cross")
NOBODY = "nobody"
NOTHING = "transparent"

RARE_STEP = 0.005  # steps less likely than this have no arrow
MOST_NAMED = 6
CLOSE_UP = 0.7  # a plan that needs less of the board's width is enlarged
BADGE = 9.0  # half a badge, in pixels on a picture of the usual width
LETTER, LETTER_HEIGHT = 4.6, 9.0
LANE = 3.0
LONGEST_NAME = 24
START = {"longitude": "x:Q", "latitude": "y:Q"}
ENDS = {**START, "longitude2": "x2:Q", "latitude2": "y2:Q"}
ALONG = ((0.5, 0), (0.62, 0), (0.38, 0), (0.5, -15), (0.5, 15), (0.74, 0))  # where a chance fits


@chart(of="Board Position")
def board_map(board: Position | Board) -> AnyChart:
    """Return a board as a map; of a position with owners and armies.

    board: the board, or a position on one.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, and the `owner`
    and the `armies` of a position, or the `continent` of a board; and a table `borders` of the
    lines that are drawn. A board whose file has no places is laid out by its borders. Boards of
    more than 500 territories are refused, and of more than 300 if they must be laid out.
    """
    from iacta.board import Board, Position

    if isinstance(board, Position):
        return _position_map(board)
    if not isinstance(board, Board):
        raise MalformedError(f"board must be a Board or a Position, got {shown(board)}")
    drawn = _whole(board)
    continents = dict.fromkeys(board.territories, NOBODY)
    for each in board.continents:
        continents |= dict.fromkeys(each.territories, each.name)
    rows = [
        {"territory": name, "continent": continent, **_at(drawn.places[name])}
        for name, continent in continents.items()
    ]
    known = [each.name for each in board.continents if each.territories]
    tones = [CONTINENT_TONES[k % len(CONTINENT_TONES)] for k in range(len(known))]
    fill = alt.Fill("continent:N").scale(domain=[*known, NOBODY], range=[*tones, NOTHING])
    fill = fill.legend(title=None, values=known) if known else fill.legend(None)
    borders = len({frozenset(pair) for pair in board.borders})
    return _finished(
        drawn,
        [*_ground(drawn, rows, fill=fill, opacity=alt.value(0.45)), *_names(drawn, 0.0)],
        rows,
        f"The board {cut(board.name)}: {armies(len(board.territories), 'territory', 'territories')}"
        f", {armies(borders, 'border')}, {armies(len(board.continents), 'continent')}.",
        "Dashed lines are borders too." if board.outlines else "Lines are borders.",
    )


def _position_map(position: Position) -> AnyChart:
    drawn, owners = _whole(position.board), _owners(position)
    rows = [
        {"territory": name, **_held(position.of(name)), **_at(drawn.places[name])}
        for name in position.board.territories
    ]
    tones = [NOTHING if owner == NOBODY else tone for owner, tone in owners.items()]
    fill = alt.Fill("owner:N").scale(domain=list(owners), range=tones).legend(None)
    mine = [each.armies for each in position.holdings if each.owner == position.player]
    return _finished(
        drawn,
        [
            *_ground(drawn, rows, fill=fill, opacity=alt.value(0.4)),
            *_badges(drawn, rows, owners),
            *_names(drawn),
        ],
        rows,
        f"It is the turn of {cut(position.player)}, with {armies(sum(mine))} on "
        f"{armies(len(mine), 'territory', 'territories')}.",
        _who(position),
    )


@chart(of="Plan")
def plan_map(plan: Plan) -> AnyChart:
    """Return a plan on its board: its steps as arrows, and what is owned at the end.

    plan: the plan.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, its `owner` and
    `armies` before the first battle, and `own_probability` and `expected_armies` at the end; a
    table `steps` of the arrows with `reach_probability` and `conquer_probability`, without those
    that are almost never taken; and a table `borders` of the lines that are drawn.
    """
    from iacta.plan import Plan

    expect(plan, Plan, "plan")
    steps = [each for each in plan.steps if each.reach_probability >= RARE_STEP]
    drawn = _close_up(plan.position.board, steps)
    rows = [
        {
            "territory": each.name,
            **_held(plan.position.of(each.name)),
            "own_probability": each.own_probability,
            "expected_armies": each.expected_armies,
            **_at(drawn.places[each.name]),
        }
        for each in plan.territories
    ]
    owners = _owners(plan.position)
    tone = owners[plan.position.player]
    # Chances are shades of the player's colour: opacity works on light and dark grounds alike.
    shade = alt.Opacity("own_probability:Q").scale(domain=[0, 1], range=[0.04, 0.8])
    legend = alt.Legend(
        title="chance to own it at the end",
        values=[0, 0.25, 0.5, 0.75, 1],
        format=".0%",
        symbolType="square",
        symbolFillColor=tone,
        columns=5,
    )
    layers = [
        *_ground(drawn, rows, fill=alt.value(tone), opacity=shade.legend(legend)),
        *_arrows(drawn, steps),
        *_badges(drawn, rows, owners),
        *_names(drawn),
        *_chances(drawn, steps),
    ]
    words = f"{_who(plan.position)} {rules_words(plan.rules).capitalize()}."
    return _finished(drawn, layers, rows, _plan_title(plan), words, steps=_step_rows(steps))


@chart(of="Reinforcement")
def reinforcement_map(reinforcement: Reinforcement) -> AnyChart:
    """Return where new armies help, and the steps of the plan that follows as arrows.

    reinforcement: the placement.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, its `owner` and
    `armies` before, how many `new` armies it gets, and by quick plans the `gain` with all of them
    there; a table `steps` as `plan_map` has it; and a table `borders` of the lines that are drawn.
    """
    from iacta.plan import Reinforcement, TakeAll, TakeAny

    expect(reinforcement, Reinforcement, "reinforcement")
    found, before = reinforcement, reinforcement.before
    drawn, owners = _whole(before.position.board), _owners(before.position)
    gains = {each.territory: max(each.all - found.quick, 0.0) for each in found.marginals}
    new = dict(found.placement)
    rows = [
        {
            "territory": name,
            **_held(before.position.of(name)),
            "new": new.get(name, 0),
            "gain": gains.get(name, 0.0),
            **_at(drawn.places[name]),
        }
        for name in before.position.board.territories
    ]
    most = max([*gains.values(), 0.0]) or 1.0
    shade = alt.Opacity("gain:Q").scale(domain=[0, most], range=[0.04, 0.8]).legend(None)
    tone = owners[before.position.player]
    steps = [each for each in found.plan.steps if each.reach_probability >= RARE_STEP]
    layers = [
        *_ground(drawn, rows, fill=alt.value(tone), opacity=shade),
        *_arrows(drawn, steps),
        *_badges(drawn, rows, owners),
        *_gains(drawn, gains, isinstance(before.goal, TakeAll | TakeAny)),
        *_names(drawn),
    ]
    places = joined([f"{number} on {cut(name)}" for name, number in found.placement])
    title = f"Place {armies(found.armies, 'new army', 'new armies')}: {places}."
    values = [found.before.value, found.plan.value]
    is_chance = isinstance(before.goal, TakeAll | TakeAny)
    told = [per_cent(value) if is_chance else f"{value:.2f}" for value in values]
    words = f"{told[0]} becomes {told[1]}. Numbers at territories: the gain with all armies there."
    return _finished(drawn, layers, rows, title, words, steps=_step_rows(steps))


def _gains(drawn: BoardMap, gains: Mapping[str, float], is_chance: bool) -> list[alt.Chart]:
    """Return the gains as labels above the badges, where there is room."""
    rows = []
    for name, gain in gains.items():
        text = f"+{100 * gain:.1f}%" if is_chance else f"+{gain:.2f}"
        x, y = drawn.pixel(drawn.places[name])
        for lower in (-BADGE - 6, BADGE + 6):
            if gain and drawn.take(_text_box(text, x, y + lower)):
                rows.append({"text": text, **_at(drawn.point((x, y + lower)))})
                break
    return _texts(drawn, rows, "gains", fontSize=_shrinking(8.5, 6.0), halo=4, fontWeight="bold")


def _step_rows(steps: Sequence[Step]) -> list[Row]:
    return [
        {
            "from": step.start,
            "to": step.to,
            "reach_probability": step.reach_probability,
            "conquer_probability": step.conquer_probability,
        }
        for step in steps
    ]


def _plan_title(plan: Plan) -> str:
    from iacta.plan import Worth
    from iacta.plan.goals import deed

    if isinstance(plan.goal, Worth):
        return f"The best plan that was found is worth {plan.value:.2f} on average."
    what = deed(plan.position, plan.goal)
    if not plan.steps:
        return f"You cannot {what}."
    return f"You {what} {per_cent(plan.win_probability)} of the time."


def _finished(
    drawn: BoardMap,
    layers: Sequence[alt.Chart],
    rows: Sequence[Row],
    title: str,
    subtitle: str,
    **more: Sequence[Row],
) -> AnyChart:
    shape = drawn.frame.height / drawn.frame.width
    chart = alt.layer(*layers).properties(height=round(WIDTH * shape))
    chart = chart.resolve_scale(color="independent", fill="independent", shape="independent")
    tables = {"territories": rows, **more, "borders": _border_rows(drawn)}
    finished = finish(chart, title, subtitle, tables)
    finished.usermeta = {"height_by_width": shape}
    return finished


def _held(holding: Holding) -> dict[str, Any]:
    return {"owner": holding.owner or NOBODY, "armies": holding.armies}


def _owners(position: Position) -> dict[str, str]:
    """Return each owner's colour, the player first; owners named after a colour have it."""
    owners = dict.fromkeys([position.player, *(each.owner for each in position.holdings)])
    has_nobody = owners.pop("", NOBODY) != NOBODY
    own = {owner: TONES_BY_NAME.get(owner.lower()) for owner in owners}
    free = [tone for tone in TONES if tone not in own.values()] or list(TONES)
    tones: dict[str, str] = {}
    for owner, tone in own.items():
        if tone is None or tone in tones.values():
            tone = free[0]
            free = [*free[1:], tone]
        tones[owner] = tone
    return {**tones, **({NOBODY: GREY} if has_nobody else {})}


def _who(position: Position) -> str:
    player, *others = [cut(owner) for owner in _owners(position) if owner != NOBODY]
    against = joined(others) if 0 < len(others) <= MOST_NAMED else armies(len(others), "other")
    return f"Badges are armies at the start. To move: {player}; against: {against}."


def cut(name: str) -> str:
    """Return a name, shortened if it is too long for a picture."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


class _Box(NamedTuple):
    """The pixels that something covers, on a picture of the usual width."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class BoardMap:
    """The part of a board that is drawn.

    board: the board.
    places: where its territories lie.
    frame: the part that can be seen.
    taken: what is covered so far, in pixels; labels keep clear of it.
    """

    board: Board
    places: Mapping[str, Point]
    frame: Frame
    taken: list[_Box] = field(default_factory=list)

    def pixel(self, point: Point) -> Point:
        """Return where a point is on a picture of the usual width."""
        scale = WIDTH / self.frame.width
        return (point[0] - self.frame.x) * scale, (point[1] - self.frame.y) * scale

    def point(self, pixel: Point) -> Point:
        """Return the point at a pixel of a picture of the usual width."""
        scale = self.frame.width / WIDTH
        return self.frame.x + pixel[0] * scale, self.frame.y + pixel[1] * scale

    def pieces(self, start: str, to: str) -> Sequence[tuple[Point, Point]]:
        """Return the line between two territories, which may wrap around the edges of a map."""
        return lines(self.places[start], self.places[to], edges_of(self.board))

    def take(self, box: _Box) -> bool:
        """Return whether a label has room, and reserve it if so."""
        height = WIDTH * self.frame.height / self.frame.width
        inside = box.left >= 0 and box.right <= WIDTH and box.top >= 0 and box.bottom <= height
        free = inside and not any(map(box.meets, self.taken))
        if free:
            self.taken.append(box)
        return free


def _whole(board: Board) -> BoardMap:
    places = dict(zip(board.territories, places_of(board), strict=True))
    points = [p for shape in board.outlines for polygon in shape for p in polygon]
    return BoardMap(board, places, frame_of([*places.values(), *points], bool(points)))


def _close_up(board: Board, steps: Sequence[Step]) -> BoardMap:
    """Return the part of a board where a plan takes place, if it is small enough to enlarge."""
    whole = _whole(board)
    involved = {name for step in steps for name in (step.start, step.to)}
    shapes = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    points = [whole.places[name] for name in involved]
    points += [p for name in involved for polygon in shapes.get(name, ()) for p in polygon]
    frame = frame_of(points, bool(shapes)) if points else whole.frame
    if frame.width > CLOSE_UP * whole.frame.width:
        return whole
    return BoardMap(board, whole.places, frame)


def _ground(drawn: BoardMap, rows: Sequence[Row], **paint: Any) -> list[alt.Chart]:
    """Return the territories, as shapes or as discs, and the lines between them.

    drawn: the map.
    rows: of each territory, in the order of the board.
    paint: the channels that colour them.
    """
    borders = _border_lines(drawn)
    tips = [alt.Tooltip(f"{key}:N") for key in rows[0] if key not in ("x", "y")]
    if not drawn.board.outlines:
        size = alt.ExprRef(_shrinking_area(2.8 * BADGE))
        paper = alt.Chart(named("territories")).mark_point(
            filled=True, size=size, opacity=1, style="paper", stroke=GREY
        )
        discs = alt.Chart(named("territories")).mark_point(filled=True, size=size)
        covered = _projected(drawn, paper.encode(**START))
        colours = _projected(drawn, discs.encode(**START, **paint, tooltip=tips))
        return [*borders, covered, colours]
    features = []
    for row, shape in zip(rows, drawn.board.outlines, strict=True):
        if shape:
            rings = [[[list(p) for p in (*polygon, polygon[0])]] for polygon in shape if polygon]
            geometry = {"type": "MultiPolygon", "coordinates": rings}
            features.append({"type": "Feature", "geometry": geometry, **row})
    shapes = alt.Chart(alt.InlineData(values=features, name="outlines")).mark_geoshape(clip=True)
    edges = alt.Chart(named("outlines")).mark_geoshape(
        filled=False, stroke=GREY, strokeWidth=0.7, clip=True
    )
    return [
        _projected(drawn, shapes.encode(**paint, tooltip=tips)),
        _projected(drawn, edges),
        *borders,
    ]


def _border_rows(drawn: BoardMap) -> list[Row]:
    """Return the lines for the borders that outlines do not show."""
    known = set(drawn.board.borders)
    return [
        {"from": start, "to": to, "one_way": (to, start) not in known, **_line(a, b)}
        for start, to in sea_borders(drawn.board)
        for a, b in drawn.pieces(start, to)
    ]


def _border_lines(drawn: BoardMap) -> list[alt.Chart]:
    """Return the lines between territories, with an arrow head on one-way borders."""
    dashes = [3, 3] if drawn.board.outlines else [1, 0]
    rule = alt.Chart(named("borders")).mark_rule(
        color=GREY, strokeDash=dashes, strokeWidth=1.2, clip=True
    )
    heads = [
        {**_at(((row["x"] + 2 * row["x2"]) / 3, (row["y"] + 2 * row["y2"]) / 3)), **_turn(row)}
        for row in _border_rows(drawn)
        if row["one_way"]
    ]
    layers = [_projected(drawn, rule.encode(**ENDS))]
    if heads:
        data = alt.InlineData(values=heads, name="one way")
        head = alt.Chart(data).mark_text(text="▲", color=GREY, fontSize=_shrinking(9.0, 6.0))
        layers.append(_projected(drawn, head.encode(**START, angle=_angle())))
    return layers


def _badges(drawn: BoardMap, rows: Sequence[Row], owners: Mapping[str, str]) -> list[alt.Chart]:
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
    base = alt.Chart(alt.InlineData(values=labelled, name="badges")).encode(**START)

    def by_owner(channel: Any, values: Sequence[str]) -> Any:
        scaled = channel.scale(domain=list(owners), range=values)
        return scaled.legend(title=None, orient="bottom")

    badge = base.mark_point(
        filled=True,
        opacity=1,
        size=alt.ExprRef(_shrinking_area(2 * BADGE)),
        stroke="white",
        strokeWidth=0.8,
    ).encode(
        color=by_owner(alt.Color("owner:N"), list(owners.values())),
        shape=by_owner(alt.Shape("owner:N"), [SHAPES[k % len(SHAPES)] for k in range(len(owners))]),
    )
    number = base.mark_text(
        color="white", fontWeight="bold", fontSize=_shrinking(9.5, 6.5), baseline="middle"
    ).encode(text="label:N")
    return [_projected(drawn, badge), _projected(drawn, number)]


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


def _names(drawn: BoardMap, half: float = BADGE) -> list[alt.Chart]:
    """Return the names of the territories that have room.

    drawn: the map.
    half: the height in pixels of what stands at the place, from its middle.
    """
    rows = []
    for name, place in drawn.places.items():
        if not drawn.frame.holds(place):
            continue
        x, y = drawn.pixel(place)
        for lower in (half + 6, -half - 6) if half else (0.0, LETTER_HEIGHT, -LETTER_HEIGHT):
            if drawn.take(_text_box(cut(name), x, y + lower)):
                rows.append({"text": cut(name), **_at(drawn.point((x, y + lower)))})
                break
    return _texts(drawn, rows, "names", fontSize=_shrinking(8.0, 5.5), halo=2)


def _arrows(drawn: BoardMap, steps: Sequence[Step]) -> list[alt.Chart]:
    """Return one arrow per step; rarer steps are fainter."""
    shafts: list[Row] = []
    heads: list[Row] = []
    for step, pieces in _arrow_pieces(drawn, steps):
        strong = 0.3 + 0.7 * step.reach_probability
        shafts += [{**_line(drawn.point(a), drawn.point(b)), "strong": strong} for a, b in pieces]
        tip = _at(drawn.point(pieces[-1][1]))
        heads.append({**tip, **_turn(_line(*pieces[-1])), "strong": strong})
    if not shafts:
        return []
    opacity = alt.Opacity("strong:Q").scale(None).legend(None)
    shaft = alt.Chart(alt.InlineData(values=shafts, name="shafts"))
    shaft = shaft.mark_rule(strokeWidth=_shrinking(2.2, 1.2), clip=True)
    head = alt.Chart(alt.InlineData(values=heads, name="heads")).mark_text(
        text="▲", fontSize=_shrinking(9.0, 6.0), baseline="middle"
    )
    return [
        _projected(drawn, shaft.encode(**ENDS, opacity=opacity)),
        _projected(drawn, head.encode(**START, angle=_angle(), opacity=opacity)),
    ]


def _chances(drawn: BoardMap, steps: Sequence[Step]) -> list[alt.Chart]:
    """Return the chance of each arrow to take its territory, where there is room."""
    rows = []
    for step, pieces in _arrow_pieces(drawn, steps):
        text = per_cent(step.conquer_probability).replace("more than ", "> ")
        text = text.replace("less than ", "< ")
        (ax, ay), (bx, by) = pieces[-1]
        for part, lower in ALONG:
            x, y = ax + part * (bx - ax), ay + part * (by - ay) + lower
            if drawn.take(_text_box(text, x, y)):
                rows.append({"text": text, **_at(drawn.point((x, y)))})
                break
    return _texts(drawn, rows, "chances", fontSize=_shrinking(8.5, 6.0), halo=4, fontWeight="bold")


def _arrow_pieces(
    drawn: BoardMap, steps: Sequence[Step]
) -> Iterator[tuple[Step, list[tuple[Point, Point]]]]:
    """Yield each step with the pieces of its arrow in pixels; opposite arrows keep to the right."""
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


def _texts(
    drawn: BoardMap, rows: Sequence[Row], name: str, *, halo: float, **look: Any
) -> list[alt.Chart]:
    """Return labels, and behind them the paper that keeps them readable."""
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows, name=name)).encode(**START, text="text:N")
    behind = base.mark_text(
        style="outlined", strokeWidth=halo, opacity=0.7, baseline="middle", **look
    )
    return [
        _projected(drawn, behind),
        _projected(drawn, base.mark_text(baseline="middle", **look)),
    ]


def _text_box(text: str, x: float, y: float) -> _Box:
    half = len(text) * LETTER / 2
    return _Box(x - half, y - LETTER_HEIGHT / 2, x + half, y + LETTER_HEIGHT / 2)


def _projected(drawn: BoardMap, mark: alt.Chart) -> alt.Chart:
    """Return a layer on the plane of the board, whatever the width of the picture."""
    frame = drawn.frame
    scale = f"width / {frame.width}"
    return mark.project(
        type="identity",
        scale=alt.ExprRef(scale),
        translate=alt.ExprRef(f"[{-frame.x} * {scale}, {-frame.y} * {scale}]"),
    )


def _shrinking(pixels: float, least: float) -> alt.ExprRef:
    """Return a length that shrinks with the picture, down to a least one."""
    return alt.ExprRef(f"max({least}, {pixels} * min(1, width / {WIDTH}))")


def _shrinking_area(pixels: float) -> str:
    """Return the area of a mark of that width, which shrinks with the picture."""
    return f"{pixels**2} * pow(max(0.62, min(1, width / {WIDTH})), 2)"


def _angle() -> alt.Angle:
    return alt.Angle("angle:Q").scale(None)


def _turn(line: Row) -> dict[str, float]:
    """Return the angle of an arrow head, in degrees from upwards."""
    return {"angle": math.degrees(math.atan2(line["y2"] - line["y"], line["x2"] - line["x"])) + 90}


def _at(point: Point) -> dict[str, float]:
    return {"x": point[0], "y": point[1]}


def _line(a: Point, b: Point) -> dict[str, float]:
    return {**_at(a), "x2": b[0], "y2": b[1]}
