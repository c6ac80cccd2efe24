"""The start page: a battle as two numbers, a plan that plays itself, and links."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from iacta.board.scene import SHAPES, Anchor, Arrow, Scene, build_scene
from iacta.charts.board_layers import choose_digit_colour
from iacta.charts.boards import assign_owner_colours
from iacta.forms.percentages import percent
from iacta.game import Advance, Turn
from iacta.game.moment import parse_moment
from iacta.plan import Plan, TakeAll, best_plan
from iacta.web.read_question import list_served_questions
from iacta.web.templates import render_template
from iacta.web.worker import answer_within_limits

EXAMPLE = Path(__file__).parent / "static" / "examples" / "asia.toml"
CONTINENT = "Asia"
EXAMPLE_SEED = 5  # a turn that nearly fails before it succeeds
EXAMPLE_BUDGET = 0.4  # enough for the plan of the default budget, in 0.6 of its time
QUICK = {"attackers": "8", "defenders": "5"}  # the first battle
SIZE = {"width": 400, "height": 255}  # pixels


class Still(NamedTuple):
    """The state of the game after a conquest.

    words: the conquest and the chance to reach the goal afterwards, in words.
    owners, armies: for each territory, the number of its owner and its armies.
    """

    words: str
    owners: list[int]
    armies: list[int]


class ExampleGame(NamedTuple):
    """A turn played by a plan.

    scene: the map, with an arrow for each conquest.
    tones, digits: for each owner, the colour of the badges and of the digits on them.
    stills: the initial state, and the state after each conquest.
    """

    scene: Scene
    tones: list[str]
    digits: list[str]
    stills: list[Still]


@cache
def play_example() -> ExampleGame:
    """Play a turn by the best plan to take a continent, with random dice."""
    turn = parse_moment(EXAMPLE.read_text(encoding="utf-8"))
    board, tones = turn.board, assign_owner_colours(turn.position)
    plan = best_plan(turn, TakeAll(CONTINENT), budget=EXAMPLE_BUDGET)
    number, owners = {name: t for t, name in enumerate(board.territories)}, [*tones]
    begins = f"Red attacks {CONTINENT} with {turn.armies_on('Ukraine')} armies. "
    stills, arrows = [_make_still(begins, plan, turn, owners)], list[Arrow]()
    for move in turn.play(plan.policy, seed=EXAMPLE_SEED).moves:
        if isinstance(move.action, Advance) and (attack := move.turn.pending):
            words, after = f"{attack.start} takes {attack.to}. ", move.turn.after(move.action)
            stills.append(_make_still(words, plan, after, owners))
            border = number[attack.start], number[attack.to]
            arrows.append(Arrow(len(stills) - 1, *border, "main", f"{attack.start} to {attack.to}"))
    scene = build_scene(board, arrows, width=SIZE["width"], is_close=True)
    return ExampleGame(
        scene, [*tones.values()], [*map(choose_digit_colour, tones.values())], stills
    )


def _make_still(words: str, plan: Plan, turn: Turn, owners: list[str]) -> Still:
    chance = percent(1 if plan.goal.is_reached(turn) else plan.policy.value(turn)[0])
    seats = [owners.index(owner) for owner in turn.owners]
    return Still(f"{words}Chance of {CONTINENT}: {chance}", seats, [*turn.armies])


def draw_game() -> dict[str, Any]:
    """Return the variables of the picture's template, with coordinates in pixels."""
    played = play_example()
    scene, start = played.scene, played.stills[0]

    def at(anchor: Anchor) -> tuple[float, float]:
        x, y = anchor.locate(scene.scale)
        left, top = scene.frame.x, scene.frame.y
        return round((x - left) * scene.scale, 1), round((y - top) * scene.scale, 1)

    def line(points: list[tuple[float, float]]) -> str:
        return "L".join(f"{x:g},{y:g}" for x, y in points)

    outlines = [
        "".join(f"M{line([at(Anchor(*point)) for point in polygon])}Z" for polygon in polygons)
        for polygons in scene.outlines
    ]
    badges = [at(badge) for badge in scene.badges]
    seas = [
        f"M{line([at(Anchor(*a)), at(Anchor(*b))])}"
        for border in scene.borders
        if border.is_drawn
        for a, b in border.pieces
    ]
    return {
        **SIZE,
        "half": scene.sizes.badge,
        "disc_size": scene.sizes.disc,
        "words": start.words,
        "shapes": SHAPES[: len(played.tones)],
        "tones": played.tones,
        "digits": played.digits,
        "seas": "".join(seas),
        "territories": list(zip(outlines, badges, start.owners, start.armies, strict=True)),
        "arrows": [
            ("".join(f"M{line([at(one) for one in path])}" for path in arrow.paths), at(arrow.disc))
            for arrow in scene.arrows
        ],
        "stills": json.dumps([still._asdict() for still in played.stills], separators=(",", ":")),
    }


def write_start() -> bytes:
    """Return the start page."""
    answer = answer_within_limits(list_served_questions()["battle"].parse(QUICK))
    lead = next(iter(answer.sections())).parts[0]
    return render_template("start.html", path="", lead=lead, **QUICK, **SIZE).encode()


def write_game() -> bytes:
    """Return a picture of a turn played by a plan, as SVG."""
    return render_template("game.svg", **draw_game()).encode()
