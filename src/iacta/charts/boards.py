"""Charts of boards and plans: maps with owners, armies, borders and a plan's arrows.

Each map is laid out twice, for wide and for narrow screens.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from iacta.board.scene import NARROW, WIDE, Arrow, Scene, Sizes, build_scene, shorten_name
from iacta.charts.axes_and_labels import value_scale
from iacta.charts.board_layers import (
    MAX_LEGEND_COLUMNS,
    NOBODY,
    NOTHING,
    draw_arrows,
    draw_badges,
    draw_ground,
    draw_labels,
    draw_names_table,
    draw_owned_ground,
    draw_steps_table,
    list_borders,
)
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import describe_rules, format_count, format_signed
from iacta.charts.theme import AMBER, BLUE, DEEP, GREEN, GREY, PURPLE, RED, WIDTH, choose_colours
from iacta.charts.vega import Row, View, field, layer, vconcat
from iacta.forms.percentages import percent
from iacta.forms.sentences import capitalise, join_phrases
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError

if TYPE_CHECKING:  # slow to import, and only needed for types
    from iacta.board import Board, Holding, Position
    from iacta.game import Turn
    from iacta.plan import Plan, Reinforcement

CONTINENT_TONES = (AMBER, RED, BLUE, GREEN, PURPLE, GREY)
MIN_STEP_PROBABILITY = 0.005  # less likely battles are left out of tables
NARROW_WIDTH = 320


@register_chart(default_for="Board Position Turn")
def board_map(board: Turn | Position | Board) -> Chart:
    """Draw a map of a board, or of a position with owners and armies.

    board: a board, a position, or a turn, which is drawn as its position.

    The table `territories` has the columns `territory`, `x` and `y` (its coordinates), and either
    `owner` and `armies` for a position or `continent` and `bonus` for a board. The table `borders`
    has the borders drawn as lines. A board without coordinates is laid out automatically. More than
    500 territories, or more than 300 without coordinates, raise `IactaError`.
    """
    from iacta.board import Board, Position
    from iacta.game import Turn

    board = board.position if isinstance(board, Turn) else board
    if isinstance(board, Position):
        return _draw_position(board)
    if not isinstance(board, Board):
        raise MalformedError(f"board must be a Board or a Position, got {quote(board)}")
    continents = dict.fromkeys(board.territories, (NOBODY, 0))
    for continent in board.continents:
        continents |= dict.fromkeys(continent.territories, (continent.name, continent.bonus))
    bonuses = {
        continent.name: continent.bonus for continent in board.continents if continent.territories
    }
    tones = [CONTINENT_TONES[k % len(CONTINENT_TONES)] for k in range(len(bonuses))]
    labels = {
        name: f"{shorten_name(name)} {format_signed(bonus, plus=True)}"
        for name, bonus in bonuses.items()
    }
    label = f"{json.dumps(labels)}[datum.label]"
    legend = {"title": None, "values": list(bonuses), "labelExpr": label} if bonuses else None
    scale = value_scale({**dict(zip(bonuses, tones, strict=True)), NOBODY: NOTHING})
    borders = len({frozenset(pair) for pair in board.borders})
    note = " Beside each continent: its bonus." if any(bonuses.values()) else ""
    return _build_chart(
        _build_scenes(board, has_badges=False),
        [{"continent": name, "bonus": bonus} for name, bonus in continents.values()],
        f"The board {shorten_name(board.name)}: "
        f"{format_count(len(board.territories), 'territory', 'territories')}, "
        f"{format_count(borders, 'border')}, {format_count(len(board.continents), 'continent')}.",
        ("Dashed lines are also borders." if board.outlines else "Lines are borders.") + note,
        paint={
            "fill": field("continent:N", scale=scale, legend=legend),
            "opacity": {"value": 0.45},
        },
    )


def _draw_position(position: Position) -> Chart:
    mine = [holding.armies for holding in position.holdings if holding.owner == position.player]
    return _build_chart(
        _build_scenes(position.board),
        [_describe_holding(position.find_holding(name)) for name in position.board.territories],
        f"It is {shorten_name(position.player)}'s turn, with {format_count(sum(mine))} on "
        f"{format_count(len(mine), 'territory', 'territories')}.",
        _name_players(position),
        owners=assign_owner_colours(position),
    )


@register_chart(default_for="Plan")
def plan_map(plan: Plan) -> Chart:
    """Draw a map of a plan, with its battles as arrows and the chances of owning territories.

    plan: the plan.

    The arrows are numbered along the main line, which is the most likely course of the plan, and
    listed below the map. Unlikely battles have no arrow. If the chances of owning the attacked
    territories differ, the map shows them beside the armies.

    The table `territories` has the columns `territory`, `x` and `y` (its coordinates), `owner` and
    `armies` before the first battle, and `own_probability` and `expected_armies` at the end of the
    plan. The table `steps` has one row per battle, with the `number` of its arrow, its
    `reach_probability` and its `conquer_probability`; very unlikely battles are left out. The table
    `borders` has the borders drawn as lines.
    """
    from iacta.questions.plan import plan_answer  # slow to import
    from iacta.questions.plan.arrows import label_chances, list_arrows

    arrows, position = list_arrows(plan), plan.position
    chances = label_chances(plan, arrows)
    own = " Beside badges: the chance to own the territory at the end." if chances else ""
    return _build_chart(
        _build_scenes(position.board, arrows, chances, is_close=True),
        [
            {
                **_describe_holding(position.find_holding(territory.name)),
                "own_probability": territory.own_probability,
                "expected_armies": territory.expected_armies,
            }
            for territory in plan.territories
        ],
        plan_answer(plan).sentence,
        f"{_name_players(position)} {describe_rules(plan.turn.rules).capitalize()}."
        f"{_describe_arrows(plan, arrows)}{own}",
        owners=assign_owner_colours(position),
        steps=_list_steps(plan, arrows),
    )


def _describe_arrows(plan: Plan, arrows: Sequence[Arrow]) -> str:
    if not arrows:
        return ""
    words = " Arrows: the main line, in order"
    if any(arrow.look == "rare" for arrow in arrows):
        words += "; pale arrows are fought only sometimes"
    left = sum(step.reach_probability >= MIN_STEP_PROBABILITY for step in plan.steps) - len(arrows)
    rarer = f" {format_count(left, 'rarer battle')} {'is' if left == 1 else 'are'} not drawn."
    return f"{words}." + (rarer if left > 0 else "")


@register_chart(default_for="Reinforcement")
def reinforcement_map(reinforcement: Reinforcement) -> Chart:
    """Draw a map of new armies with their gains, and with the battles of the plan as arrows.

    reinforcement: the best placement of new armies, with its plan.

    The table `territories` has the columns `territory`, `x` and `y` (its coordinates), `owner` and
    `armies` before the placement, `new` (the new armies) and `gain` (a quick estimate of the gain
    from placing all new armies there). The tables `steps` and `borders` are as in `plan_map`.
    """
    from iacta.questions.plan import plan_answer  # slow to import
    from iacta.questions.plan.arrows import list_arrows

    before = reinforcement.before
    position, board = before.position, before.position.board
    gains = {
        marginal.name: max(marginal.all - (before.value or 0.0), 0.0)
        for marginal in reinforcement.marginals
    }
    new = dict(reinforcement.placement)
    arrows, is_chance = list_arrows(reinforcement.plan), before.goal.is_chance
    words = {
        board.territories.index(name): f"{format_signed(100 * gain, 1, plus=True)}%"
        if is_chance
        else format_signed(gain, 2, plus=True)
        for name, gain in gains.items()
        if gain
    }
    figures = [
        "no estimate"
        if plan.value is None
        else percent(plan.value, 0)
        if is_chance
        else format_signed(plan.value, 2)
        for plan in (reinforcement.before, reinforcement.plan)
    ]
    change = f"{figures[0]} becomes {figures[1]}"
    change = f"{capitalise(change)}. Numbers at territories: the gain if all new armies go there."
    return _build_chart(
        _build_scenes(board, arrows, words),
        [
            {
                **_describe_holding(position.find_holding(name)),
                "new": new.get(name, 0),
                "gain": gains.get(name, 0.0),
            }
            for name in board.territories
        ],
        plan_answer(reinforcement.plan, new=reinforcement).sentence,
        change + _describe_arrows(reinforcement.plan, arrows),
        owners=assign_owner_colours(position),
        steps=_list_steps(reinforcement.plan, arrows),
    )


def _list_steps(plan: Plan, arrows: Sequence[Arrow]) -> list[Row]:
    names = plan.position.board.territories
    numbers = {(names[arrow.start], names[arrow.to]): arrow.number for arrow in arrows}
    rows = [
        {
            "number": numbers.get((step.start, step.to)),
            "from": step.start,
            "to": step.to,
            "reach_probability": step.reach_probability,
            "conquer_probability": step.conquer_probability,
        }
        for step in plan.steps
        if step.reach_probability >= MIN_STEP_PROBABILITY or (step.start, step.to) in numbers
    ]
    return sorted(rows, key=lambda row: row["number"] or math.inf)


def _build_scenes(
    board: Board,
    arrows: Sequence[Arrow] = (),
    values: Mapping[int, str] | None = None,
    *,
    is_close: bool = False,
    has_badges: bool = True,
) -> tuple[Scene, Scene]:
    """Lay out a map for a wide and for a narrow screen."""

    def build(width: float, sizes: Sizes) -> Scene:
        sizes = sizes if has_badges else sizes._replace(badge=0.0)
        return build_scene(board, arrows, values, width=width, sizes=sizes, is_close=is_close)

    return build(WIDTH, WIDE), build(NARROW_WIDTH, NARROW)


def _build_chart(
    scenes: tuple[Scene, Scene],
    properties: Sequence[Row],
    title: str,
    subtitle: str,
    *,
    owners: Mapping[str, str] | None = None,
    paint: Mapping[str, Any] | None = None,
    **more: Sequence[Row],
) -> Chart:
    """Return a map in two sizes, with lists of arrows and names below it.

    properties: the data of each territory, such as its owner.
    owners: the colour of each owner.
    paint: encoding channels for the colours of territories on a map without owners.
    more: additional tables of the chart.
    """
    territories = zip(scenes[0].territories, properties, scenes[0].badges, strict=True)
    rows = [{"territory": name, **row, "x": at.x, "y": at.y} for name, row, at in territories]
    wide, narrow = (_draw_map(scene, rows, owners or {}, paint) for scene in scenes)
    tables = {"territories": rows, **more, "borders": list_borders(scenes[0])}
    return Chart(wide, title, subtitle, tables, {"vconcat": narrow["vconcat"]})


def _draw_map(
    scene: Scene, rows: Sequence[Row], owners: Mapping[str, str], paint: Mapping[str, Any] | None
) -> View:
    """Return a map in one size, with lists of arrows and names below it."""
    ground = draw_ground(scene, rows, **paint) if paint else draw_owned_ground(scene, rows, owners)
    shafts, heads = draw_arrows(scene)
    badges = draw_badges(scene, rows, owners) if owners else []
    map_view = layer(*ground, *shafts, *badges, *heads, *draw_labels(scene))
    map_view = map_view.properties(width=scene.width, height=scene.height)
    map_view = map_view.independent("color", "fill", "shape")
    below = [draw_steps_table(scene)] if scene.arrows else []
    below += [table] if (table := draw_names_table(scene)) else []
    sized = vconcat(map_view, *below, spacing=14)
    return sized.independent("color", "fill", "opacity", "shape")


def _describe_holding(holding: Holding) -> dict[str, Any]:
    return {"owner": holding.owner or NOBODY, "armies": holding.armies}


def assign_owner_colours(position: Position) -> dict[str, str]:
    """Assign a colour to each owner, starting with the player to move."""
    owners = dict.fromkeys([position.player, *(holding.owner for holding in position.holdings)])
    has_nobody = owners.pop("", NOBODY) != NOBODY
    tones = choose_colours(owners)
    ordered = {owner: tones[owner] for owner in owners}
    return {**ordered, **({NOBODY: DEEP[GREY]} if has_nobody else {})}


def _name_players(position: Position) -> str:
    player, *others = [
        shorten_name(owner) for owner in assign_owner_colours(position) if owner != NOBODY
    ]
    against = (
        join_phrases(others)
        if 0 < len(others) <= MAX_LEGEND_COLUMNS
        else format_count(len(others), "other")
    )
    return f"Badges are armies at the start. To move: {player}; against: {against}."
