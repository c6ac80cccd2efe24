"""Pictures of boards: who holds what, and the way of a plan over the borders."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from iacta.board import Board, Holding, Position
from iacta.charts.board_layers import (
    BoardMap,
    arrows,
    badges,
    border_rows,
    chances,
    cut,
    ground,
    names,
)
from iacta.charts.board_layout import frame_of, places_of
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
    finish,
)
from iacta.charts.words import armies, joined, per_cent, rules_words
from iacta.checks import shown
from iacta.errors import MalformedError
from iacta.plan import Plan, Step, Worth
from iacta.plan.goals import deed

__all__ = ["board_map", "plan_map"]

COLOURS = (BLUE, RED, GREEN, AMBER, PURPLE)
OWN_COLOURS = {  # of players who are called by a colour
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
CONTINENT_COLOURS = (AMBER, RED, BLUE, GREEN, PURPLE, GREY)
NOBODY = "nobody"
NOTHING = "transparent"

SELDOM = 0.005
MOST_NAMED = 6
CLOSE_UP = 0.7  # a plan that needs less of the board's width is drawn larger


def board_map(board: Position | Board) -> AnyChart:
    """Return a board as a map; of a position with owners and armies.

    board: the board, or a position on one.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, and the `owner`
    and the `armies` of a position, or the `continent` of a board; and a table `borders` of the
    lines that are drawn. A board that does not say where its territories lie is laid out by its
    borders. Boards of more than 500 territories are refused, and of more than 300 if they must be
    laid out.
    """
    if isinstance(board, Position):
        return _position_map(board)
    if not isinstance(board, Board):
        raise MalformedError(f"board must be a Board or a Position, got {shown(board)}")
    drawn = _whole(board)
    rows = [
        {"territory": name, "continent": continent, **_place(drawn, name)}
        for name, continent in _continents(board).items()
    ]
    known = [each.name for each in board.continents if each.territories]
    tones = [CONTINENT_COLOURS[k % len(CONTINENT_COLOURS)] for k in range(len(known))]
    fill = alt.Fill("continent:N").scale(domain=[*known, NOBODY], range=[*tones, NOTHING])
    fill = fill.legend(title=None, values=known) if known else fill.legend(None)
    layers = [*ground(drawn, rows, fill=fill, opacity=alt.value(0.45)), *names(drawn, 0.0)]
    words = "Dashed lines are borders too." if board.outlines else "Lines are borders."
    return _finished(drawn, layers, rows, _board_title(board), words, {})


def plan_map(plan: Plan) -> AnyChart:
    """Return a plan on its board: the way as arrows, and what is owned at the end.

    plan: the plan.

    The chart has a table `territories`: for each `territory` its place `x`, `y`, its `owner` and
    `armies` before the first battle, and `own_probability` and `expected_armies` at the end; a
    table `steps` of the arrows with `reach_probability` and `conquer_probability`, without those
    that are hardly ever taken; and a table `borders` of the lines that are drawn.
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    steps = [each for each in plan.steps if each.reach_probability >= SELDOM]
    drawn = _close_up(plan.position.board, steps)
    rows = [
        {
            "territory": each.name,
            **_held(plan.position.of(each.name)),
            "own_probability": each.own_probability,
            "expected_armies": each.expected_armies,
            **_place(drawn, each.name),
        }
        for each in plan.territories
    ]
    owners = _owners(plan.position)
    # The shade of the player's colour, not a colour of its own: it is the same on a dark ground.
    shade = alt.Opacity("own_probability:Q").scale(domain=[0, 1], range=[0.04, 0.8])
    legend = alt.Legend(
        title="chance to own it at the end",
        values=[0, 0.25, 0.5, 0.75, 1],
        format=".0%",
        symbolType="square",
        symbolFillColor=owners[plan.position.player],
        columns=5,
    )
    own = alt.value(owners[plan.position.player])
    layers = [
        *ground(drawn, rows, fill=own, opacity=shade.legend(legend)),
        *arrows(drawn, steps),
        *badges(drawn, rows, owners),
        *names(drawn),
        *chances(drawn, steps),
    ]
    words = f"{_who(plan.position)} {rules_words(plan.rules).capitalize()}."
    return _finished(
        drawn, layers, rows, _plan_title(plan), words, {"steps": list(map(_step_row, steps))}
    )


def _position_map(position: Position) -> AnyChart:
    drawn, owners = _whole(position.board), _owners(position)
    rows = [
        {"territory": name, **_held(position.of(name)), **_place(drawn, name)}
        for name in position.board.territories
    ]
    tones = [NOTHING if owner == NOBODY else tone for owner, tone in owners.items()]
    fill = alt.Fill("owner:N").scale(domain=list(owners), range=tones).legend(None)
    layers = [
        *ground(drawn, rows, fill=fill, opacity=alt.value(0.4)),
        *badges(drawn, rows, owners),
        *names(drawn),
    ]
    return _finished(drawn, layers, rows, _position_title(position), _who(position), {})


def _finished(
    drawn: BoardMap,
    layers: Sequence[alt.Chart],
    rows: Sequence[Row],
    title: str,
    subtitle: str,
    more: Mapping[str, Sequence[Row]],
) -> AnyChart:
    part = drawn.frame.height / drawn.frame.width
    chart = alt.layer(*layers).properties(height=round(WIDTH * part))
    chart = chart.resolve_scale(color="independent", fill="independent", shape="independent")
    tables = {"territories": rows, **more, "borders": border_rows(drawn)}
    finished = finish(chart, title, subtitle, tables)
    finished.usermeta = {"height_by_width": part}
    return finished


def _whole(board: Board) -> BoardMap:
    places = dict(zip(board.territories, places_of(board), strict=True))
    points = [p for shape in board.outlines for polygon in shape for p in polygon]
    return BoardMap(board, places, frame_of([*places.values(), *points], bool(points)))


def _close_up(board: Board, steps: Sequence[Step]) -> BoardMap:
    """Return the part of a board where a plan is carried out, if the rest can be left out."""
    whole = _whole(board)
    involved = {name for step in steps for name in (step.start, step.to)}
    shapes = dict(zip(board.territories, board.outlines, strict=True)) if board.outlines else {}
    points = [whole.places[name] for name in involved]
    points += [p for name in involved for polygon in shapes.get(name, ()) for p in polygon]
    frame = frame_of(points, bool(shapes)) if points else whole.frame
    if frame.width > CLOSE_UP * whole.frame.width:
        return whole
    return BoardMap(board, whole.places, frame)


def _place(drawn: BoardMap, name: str) -> dict[str, float]:
    x, y = drawn.places[name]
    return {"x": x, "y": y}


def _held(holding: Holding) -> dict[str, Any]:
    return {"owner": holding.owner or NOBODY, "armies": holding.armies}


def _step_row(step: Step) -> Row:
    return {
        "from": step.start,
        "to": step.to,
        "reach_probability": step.reach_probability,
        "conquer_probability": step.conquer_probability,
    }


def _owners(position: Position) -> dict[str, str]:
    """Return each owner's colour, the player first: that of his name if it is one."""
    owners = dict.fromkeys([position.player, *(each.owner for each in position.holdings)])
    nobody = owners.pop("", NOBODY) != NOBODY
    own = {owner: OWN_COLOURS.get(owner.lower()) for owner in owners}
    free = [tone for tone in COLOURS if tone not in own.values()] or list(COLOURS)
    tones: dict[str, str] = {}
    for owner, tone in own.items():
        if tone is None or tone in tones.values():
            tone = free[0]
            free = [*free[1:], tone]
        tones[owner] = tone
    return {**tones, **({NOBODY: GREY} if nobody else {})}


def _continents(board: Board) -> dict[str, str]:
    """Return the continent of each territory, the last that has it."""
    found = dict.fromkeys(board.territories, NOBODY)
    for each in board.continents:
        found |= dict.fromkeys(each.territories, each.name)
    return found


def _board_title(board: Board) -> str:
    borders = len({frozenset(pair) for pair in board.borders})
    territories = armies(len(board.territories), "territory", "territories")
    return (
        f"The board {cut(board.name)}: {territories}, "
        f"{armies(borders, 'border')}, {armies(len(board.continents), 'continent')}."
    )


def _position_title(position: Position) -> str:
    mine = [each.armies for each in position.holdings if each.owner == position.player]
    return (
        f"It is the turn of {cut(position.player)}, with {armies(sum(mine))} on "
        f"{armies(len(mine), 'territory', 'territories')}."
    )


def _who(position: Position) -> str:
    player, *others = [cut(owner) for owner in _owners(position) if owner != NOBODY]
    against = joined(others) if 0 < len(others) <= MOST_NAMED else armies(len(others), "other")
    return f"Badges are armies at the start. To move: {player}; against: {against}."


def _plan_title(plan: Plan) -> str:
    if isinstance(plan.goal, Worth):
        return f"The best way that was found is worth {plan.value:.2f} in the mean."
    what = deed(plan.position, plan.goal)
    if not plan.steps:
        return f"You cannot {what}."
    return f"You {what} {per_cent(plan.win_probability)} of the time."
