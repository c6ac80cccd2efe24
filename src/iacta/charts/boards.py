"""Charts of boards and plans: maps with owners, armies, borders and the arrows of a plan.

A map has two sizes, for wide and for narrow screens. The places of its labels are computed for
each: labels keep clear of badges, of arrows and of each other. What has no room on the map stands
in a table below it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from iacta.charts.board_layout import Frame, edges_of, frame_of, lines, places_of, sea_borders
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    BLUE,
    DEEP,
    GREEN,
    GREY,
    PURPLE,
    RED,
    WIDTH,
    AnyChart,
    Row,
    alt,
    armies,
    contrast,
    expect,
    finish,
    joined,
    named,
    per_cent,
    rules_words,
    signed,
)
from iacta.checks import shown
from iacta.errors import MalformedError

if TYPE_CHECKING:  # both take time to import
    from iacta.board import Board, Holding, Position
    from iacta.plan import Plan, Reinforcement, Step

Point: TypeAlias = tuple[float, float]

TONES = ("#1f6fab", "#c22f2f", "#007a59", "#9a4c82", "#b84f00", "#8a6500")
TONES_BY_NAME = {  # of players named after a colour
    "blue": "#1f6fab",
    "red": "#c22f2f",
    "orange": "#b84f00",
    "green": "#007a59",
    "yellow": "#f0c020",
    "amber": "#f0c020",
    "purple": "#9a4c82",
    "pink": "#e79ac4",
    "violet": "#9a4c82",
    "black": "#3b3f45",
    "grey": "#8f8f8f",
    "white": "#f7f7f7",
}
CONTINENT_TONES = (AMBER, RED, BLUE, GREEN, PURPLE, GREY)
DARK_DIGITS, LIGHT_DIGITS = "#1f2328", "#ffffff"
# Shapes with room for a number, so that owners can be told apart without colours too.
HOUSE = "M0,-1.1L1,-0.3L0.8,0.9L-0.8,0.9L-1,-0.3Z"
SHIELD = "M-1,-0.9L1,-0.9L0.85,0.4L0,1.1L-0.85,0.4Z"
DIAMOND = "M0,-1.25L1.25,0L0,1.25L-1.25,0Z"
SHAPES = ("circle", "square", DIAMOND, HOUSE, SHIELD, "cross")
NOBODY = "nobody"
NOTHING = "transparent"

RARE_STEP = 0.005  # steps less likely than this are in no table
SELDOM = 0.1  # battles fought less often have no arrow, unless they are on the usual way
MOST_ARROWS = 30
DIFFERS = 0.1  # chances that differ by less are not shaded
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
    is_usual: whether it is on the usual way.
    """

    number: int
    step: Step
    is_usual: bool


@chart(of="Board Position")
def board_map(board: Position | Board) -> AnyChart:
    """Return a board as a map; of a position with owners and armies.

    board: the board, or a position on one.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, and the `owner`
    and the `armies` of a position, or the `continent` of a board with its `bonus`; and a table
    `borders` of the lines that are drawn. A board whose file has no places is laid out by its
    borders. Boards of more than 500 territories are refused, and of more than 300 if they must be
    laid out.
    """
    from iacta.board import Board, Position

    if isinstance(board, Position):
        return _position_map(board)
    if not isinstance(board, Board):
        raise MalformedError(f"board must be a Board or a Position, got {shown(board)}")
    continents = dict.fromkeys(board.territories, (NOBODY, 0))
    for each in board.continents:
        continents |= dict.fromkeys(each.territories, (each.name, each.bonus))
    whole = _whole(board)
    rows = [
        {"territory": name, "continent": continent, "bonus": bonus, **_at(whole.places[name])}
        for name, (continent, bonus) in continents.items()
    ]
    known = {each.name: each.bonus for each in board.continents if each.territories}
    tones = [CONTINENT_TONES[k % len(CONTINENT_TONES)] for k in range(len(known))]
    fill = alt.Fill("continent:N").scale(domain=[*known, NOBODY], range=[*tones, NOTHING])
    labels = {name: f"{cut(name)} {signed(bonus, plus=True)}" for name, bonus in known.items()}
    legend = alt.Legend(
        title=None, values=list(known), labelExpr=f"{json.dumps(labels)}[datum.label]"
    )
    fill = fill.legend(legend) if known else fill.legend(None)
    borders = len({frozenset(pair) for pair in board.borders})

    def layers(drawn: BoardMap) -> list[alt.Chart]:
        ground = _ground(drawn, rows, fill=fill, opacity=alt.value(0.45))
        return [*ground, *_names(drawn, 0.0)]

    bonuses = " With each continent: the armies that it pays." if any(known.values()) else ""
    return _finished(
        whole,
        layers,
        rows,
        f"The board {cut(board.name)}: {armies(len(board.territories), 'territory', 'territories')}"
        f", {armies(borders, 'border')}, {armies(len(board.continents), 'continent')}.",
        ("Dashed lines are borders too." if board.outlines else "Lines are borders.") + bonuses,
    )


def _position_map(position: Position) -> AnyChart:
    whole, owners = _whole(position.board), _owners(position)
    rows = [
        {"territory": name, **_held(position.of(name)), **_at(whole.places[name])}
        for name in position.board.territories
    ]
    mine = [each.armies for each in position.holdings if each.owner == position.player]

    def layers(drawn: BoardMap) -> list[alt.Chart]:
        return [*_owned(drawn, rows, owners), *_badges(drawn, rows, owners), *_names(drawn)]

    return _finished(
        whole,
        layers,
        rows,
        f"It is the turn of {cut(position.player)}, with {armies(sum(mine))} on "
        f"{armies(len(mine), 'territory', 'territories')}.",
        _who(position),
    )


@chart(of="Plan")
def plan_map(plan: Plan) -> AnyChart:
    """Return a plan on its board: its battles as numbered arrows, and what is owned at the end.

    plan: the plan.

    The arrows are numbered as the battles are usually fought, and below the map there is a line for
    each; battles that are seldom fought have no arrow. Territories are shaded by the chance to own
    them at the end where these chances differ.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, its `owner` and
    `armies` before the first battle, and `own_probability` and `expected_armies` at the end; a
    table `steps` of the battles with the `number` of their arrow, `reach_probability` and
    `conquer_probability`, without those that are almost never fought; and a table `borders` of the
    lines that are drawn.
    """
    from iacta.plan import Plan

    expect(plan, Plan, "plan")
    arrows = _arrows_of(plan)
    position, owners = plan.position, _owners(plan.position)
    whole = _close_up(position.board, [each.step for each in arrows])
    rows = [
        {
            "territory": each.name,
            **_held(position.of(each.name)),
            "own_probability": each.own_probability,
            "expected_armies": each.expected_armies,
            **_at(whole.places[each.name]),
        }
        for each in plan.territories
    ]
    attacked = {each.step.to for each in arrows}
    ends = [row["own_probability"] for row in rows if row["territory"] in attacked]
    is_shaded = bool(ends) and max(ends) - min(ends) > DIFFERS
    shade = alt.Opacity("own_probability:Q").scale(domain=[0, 1], range=[0.03, 0.35])
    legend = alt.Legend(
        title="chance to own it at the end",
        values=[0, 0.25, 0.5, 0.75, 1],
        format=".0%",
        symbolType="square",
        symbolFillColor=GREY,
        symbolSize=180,
        columns=5,
    )

    def layers(drawn: BoardMap) -> list[alt.Chart]:
        ground = _owned(drawn, rows, owners)
        if is_shaded:
            ground = _ground(drawn, rows, opacity=shade.legend(legend))
        return [*ground, *_with_arrows(drawn, rows, owners, arrows)]

    return _finished(
        whole,
        layers,
        rows,
        _plan_title(plan),
        f"{_who(position)} {rules_words(plan.rules).capitalize()}.{_arrow_words(plan, arrows)}",
        arrows=arrows,
        steps=_step_rows(plan, arrows),
    )


def _arrows_of(plan: Plan) -> list[Arrow]:
    """Return the battles that have an arrow: the usual way, and others that are often fought."""
    from iacta.plan.way import usual_way

    usual = [each.step for each in usual_way(plan)]
    known = {(step.start, step.to) for step in usual}
    others = [
        step
        for step in plan.steps
        if (step.start, step.to) not in known and step.reach_probability >= SELDOM
    ]
    drawn = [*usual, *others][: max(MOST_ARROWS, len(usual))]
    return [Arrow(n, step, n <= len(usual)) for n, step in enumerate(drawn, start=1)]


def _arrow_words(plan: Plan, arrows: Sequence[Arrow]) -> str:
    if not arrows:
        return ""
    words = " Arrows: the battles in their usual order"
    if not all(each.is_usual for each in arrows):
        words += ", pale those that are fought only sometimes"
    left = sum(step.reach_probability >= RARE_STEP for step in plan.steps) - len(arrows)
    rarer = f" {armies(left, 'rarer battle')} {'is' if left == 1 else 'are'} not drawn."
    return f"{words}." + (rarer if left > 0 else "")


@chart(of="Reinforcement")
def reinforcement_map(reinforcement: Reinforcement) -> AnyChart:
    """Return where new armies help, and the battles of the plan that follows as numbered arrows.

    reinforcement: the placement.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, its `owner` and
    `armies` before, how many `new` armies it gets, and by quick plans the `gain` with all of them
    there; a table `steps` as `plan_map` has it; and a table `borders` of the lines that are drawn.
    """
    from iacta.plan import Reinforcement, TakeAll, TakeAny

    expect(reinforcement, Reinforcement, "reinforcement")
    found, before = reinforcement, reinforcement.before
    whole, owners = _whole(before.position.board), _owners(before.position)
    gains = {each.territory: max(each.all - found.quick, 0.0) for each in found.marginals}
    new = dict(found.placement)
    rows = [
        {
            "territory": name,
            **_held(before.position.of(name)),
            "new": new.get(name, 0),
            "gain": gains.get(name, 0.0),
            **_at(whole.places[name]),
        }
        for name in before.position.board.territories
    ]
    arrows = _arrows_of(found.plan)
    is_chance = isinstance(before.goal, TakeAll | TakeAny)

    def layers(drawn: BoardMap) -> list[alt.Chart]:
        return [
            *_owned(drawn, rows, owners),
            *_with_arrows(drawn, rows, owners, arrows, _gain_words(gains, is_chance)),
        ]

    places = joined([f"{number} on {cut(name)}" for name, number in found.placement])
    title = f"Place {armies(found.armies, 'new army', 'new armies')}: {places}."
    values = [found.before.value, found.plan.value]
    told = [per_cent(value) if is_chance else signed(value, 2) for value in values]
    change = f"{told[0]} becomes {told[1]}"
    words = (
        f"{change[:1].upper()}{change[1:]}. Numbers at territories: the gain with all armies there."
    )
    return _finished(
        whole,
        layers,
        rows,
        title,
        words + _arrow_words(found.plan, arrows),
        arrows=arrows,
        steps=_step_rows(found.plan, arrows),
    )


def _gain_words(gains: Mapping[str, float], is_chance: bool) -> dict[str, str]:
    """Return the gain at each territory that has one."""
    return {
        name: f"{signed(100 * gain, 1, plus=True)}%" if is_chance else signed(gain, 2, plus=True)
        for name, gain in gains.items()
        if gain
    }


def _step_rows(plan: Plan, arrows: Sequence[Arrow]) -> list[Row]:
    numbers = {(each.step.start, each.step.to): each.number for each in arrows}
    rows = [
        {
            "number": numbers.get((step.start, step.to)),
            "from": step.start,
            "to": step.to,
            "reach_probability": step.reach_probability,
            "conquer_probability": step.conquer_probability,
        }
        for step in plan.steps
        if step.reach_probability >= RARE_STEP or (step.start, step.to) in numbers
    ]
    return sorted(rows, key=lambda row: row["number"] or math.inf)


def _plan_title(plan: Plan) -> str:
    from iacta.plan import Worth
    from iacta.plan.goals import deed

    if isinstance(plan.goal, Worth):
        worth = signed(plan.value, 2)
        return f"The best plan that was found is worth {worth} on average."
    what = deed(plan.position, plan.goal)
    if not plan.steps:
        return f"You cannot {what}."
    return f"You {what} {per_cent(plan.win_probability)} of the time."


def _finished(
    whole: BoardMap,
    layers: Callable[[BoardMap], list[alt.Chart]],
    rows: Sequence[Row],
    title: str,
    subtitle: str,
    *,
    arrows: Sequence[Arrow] = (),
    **more: Sequence[Row],
) -> AnyChart:
    """Return a map in its two sizes, with a line below for each arrow, and the names left over."""
    wide, narrow = (
        _sized(replace(whole, sizes=sizes, taken=[], lines=[], left=[]), layers, arrows)
        for sizes in (WIDE_SIZES, NARROW_SIZES)
    )
    tables = {"territories": rows, **more, "borders": _border_rows(whole)}
    finished = finish(wide, title, subtitle, tables)
    other: dict[str, Any] = narrow.to_dict(validate=False)
    finished.usermeta["fixed"] = True
    finished.usermeta["narrow"]["vconcat"] = other["vconcat"]
    return finished


def _sized(
    drawn: BoardMap, layers: Callable[[BoardMap], list[alt.Chart]], arrows: Sequence[Arrow]
) -> AnyChart:
    """Return a map of one size with what stands below it."""
    on_map = alt.layer(*layers(drawn)).properties(width=drawn.sizes.width, height=drawn.height)
    on_map = on_map.resolve_scale(color="independent", fill="independent", shape="independent")
    below = [_steps_table(drawn, arrows)] if arrows else []
    below += [_key(drawn)] if drawn.left else []
    sized: AnyChart = alt.vconcat(on_map, *below, spacing=14).resolve_scale(
        color="independent", fill="independent", opacity="independent", shape="independent"
    )
    return sized


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
    return {**tones, **({NOBODY: DEEP[GREY]} if has_nobody else {})}


def _who(position: Position) -> str:
    player, *others = [cut(owner) for owner in _owners(position) if owner != NOBODY]
    against = joined(others) if 0 < len(others) <= MOST_NAMED else armies(len(others), "other")
    return f"Badges are armies at the start. To move: {player}; against: {against}."


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


def _owned(drawn: BoardMap, rows: Sequence[Row], owners: Mapping[str, str]) -> list[alt.Chart]:
    """Return the territories in the colours of their owners."""
    tones = [NOTHING if owner == NOBODY else tone for owner, tone in owners.items()]
    fill = alt.Fill("owner:N").scale(domain=list(owners), range=tones).legend(None)
    return _ground(drawn, rows, fill=fill, opacity=alt.value(0.3))


def _ground(drawn: BoardMap, rows: Sequence[Row], **paint: Any) -> list[alt.Chart]:
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
    dashes = [2, 3] if drawn.board.outlines else [1, 0]
    rule = alt.Chart(named("borders")).mark_rule(
        color=GREY, strokeDash=dashes, strokeWidth=1, clip=True
    )
    heads = [
        {**_at(((row["x"] + 2 * row["x2"]) / 3, (row["y"] + 2 * row["y2"]) / 3)), **_turn(row)}
        for row in _border_rows(drawn)
        if row["one_way"]
    ]
    layers = [_projected(drawn, rule.encode(**ENDS))]
    if heads:
        data = alt.InlineData(values=heads, name="one way")
        head = alt.Chart(data).mark_text(text="▲", color=GREY, fontSize=drawn.sizes.names)
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


def _with_arrows(
    drawn: BoardMap,
    rows: Sequence[Row],
    owners: Mapping[str, str],
    arrows: Sequence[Arrow],
    labels: Mapping[str, str] | None = None,
) -> list[alt.Chart]:
    """Return the arrows of a plan, the badges, the labels of territories, and their names."""
    badges = _badges(drawn, rows, owners)
    pieces = dict(zip([each.number for each in arrows], _pieces(drawn, arrows), strict=True))
    drawn.lines.extend(piece for each in pieces.values() for piece in each)
    shafts, heads = _arrows(drawn, arrows, pieces)
    numbers = _numbers(drawn, arrows, pieces)
    told = _labels(drawn, labels or {})
    involved = {name for each in arrows for name in (each.step.start, each.step.to)}
    names = _names(drawn, drawn.sizes.badge, involved)
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
        strong = {"strong": 1.0 if each.is_usual else FAINT_ARROW}
        ends = pieces[each.number]
        shafts += [{**_line(drawn.point(a), drawn.point(b)), **strong} for a, b in ends]
        tip = ends[-1][1]
        heads.append({**_at(drawn.point(tip)), **_turn(_line(*ends[-1])), **strong})
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
            told = {"text": str(each.number), "usual": each.is_usual}
            rows.append({**told, **_at(drawn.point(best[1]))})
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
    """Return numbers on discs, full ones for the usual way."""
    if not rows:
        return []
    layers = []
    for is_usual, disc, digits in ((True, "inked", "paper"), (False, "paper", "ink")):
        chosen = [row for row in rows if row["usual"] == is_usual]
        if chosen:
            name = table if is_usual else f"other {table}"
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


def _names(
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
                rows.append({"text": each, **_at(drawn.point(at))})
            return True
    return False


def _steps_table(drawn: BoardMap, arrows: Sequence[Arrow]) -> AnyChart:
    """Return a line for each arrow: its number, from where to where, and its two chances."""
    columns = 2 if drawn.sizes.width == WIDTH and len(arrows) > FEW_ROWS else 1
    height = -(-len(arrows) // columns)
    width = WIDTH / 2 if columns == 2 or drawn.sizes.width == WIDTH else drawn.sizes.width
    rows = [
        {
            "text": str(each.number),
            "usual": each.is_usual,
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


def _key(drawn: BoardMap) -> AnyChart:
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


def _at(point: Point) -> dict[str, float]:
    return {"x": point[0], "y": point[1]}


def _line(a: Point, b: Point) -> dict[str, float]:
    return {**_at(a), "x2": b[0], "y2": b[1]}
