"""The map: boards and positions read for the browser that draws them, and plans followed there."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from iacta.board import Board, Position
from iacta.board.codes import board_code, is_code
from iacta.board.files import BUILT_IN, BoardFile, board_of_text, classic_board, read_board
from iacta.board.layout import check_size, is_drawn
from iacta.board.position import position_of_text, read_position
from iacta.charts.board_layers import digits_on
from iacta.charts.boards import TONES, TONES_BY_NAME, arrows_of, differ
from iacta.charts.scene import SHAPES, Arrow, Look, Scene, scene_of
from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.game import Turn
from iacta.plan import Plan, Play, Policy
from iacta.plan.deadline import Deadline
from iacta.plan.policy import best_policy
from iacta.plan.problem import PLAYS, read_problem
from iacta.plan.report import main_line
from iacta.questions.following import standing
from iacta.questions.form import Topic
from iacta.questions.plan import PlanAnswer, PlanQuestion
from iacta.questions.plan_words import share, valued
from iacta.questions.question import Watch
from iacta.questions.sections import Part, Table, text_of
from iacta.questions.spoken import as_command, as_python
from iacta.questions.words import count, short_percent
from iacta.rules.variants import RULE_SETS, rules_name
from iacta.web.api import key_of, read_body, while_there
from iacta.web.asked import read_record
from iacta.web.pages import template
from iacta.web.work import Work
from iacta.web.worker import MOST_SECONDS, answer_to

__all__ = ["board_read", "follow_plan", "followed", "position_read", "router"]

MOST_ROLLS = 500  # thrown at a time
MOST_PLANS = 4  # that a process remembers
Schema: TypeAlias = dict[str, Any]
TAGS: list[str | Enum] = [Topic.BOARD.value]
LOOK = {
    "named": TONES_BY_NAME,
    "tones": TONES,
    "digits": {tone: digits_on(tone) for tone in (*TONES, *TONES_BY_NAME.values())},
    "shapes": SHAPES,
}


def _object_of(required: list[str], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_text_of = {"type": "string", "description": "The text of the file."}
BOARD_TEXT = _object_of(
    ["text"], text=_text_of, name={"type": "string", "description": "The name of the file."}
)
POSITION_TEXT = _object_of(
    ["text"],
    text=_text_of,
    board={
        "description": "The board to use where the position names a board file.",
        "anyOf": [{"enum": ["classic"]}, {"type": "object"}, {"type": "null"}],
    },
)
FOUND = _object_of(
    ["policy", "value"],
    policy={"type": "object"},
    value={"type": "number"},
    is_exact={"type": "boolean"},
    way={"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
)
BATTLE = _object_of(
    ["from", "to", "left", "their_left"],
    **{each: {"type": "string"} for each in ("from", "to")},
    left={"type": "integer", "minimum": 1},
    their_left={"type": "integer", "minimum": 0},
    moved={"type": ["integer", "null"], "minimum": 1},
)
FOLLOWED = _object_of(
    ["question"],
    question={"type": "object", "description": "As for a plan."},
    plan={
        "anyOf": [{"type": "null"}, FOUND],
        "description": "The plan as the first answer has it; without it, one is searched.",
    },
    position={
        "type": ["object", "null"],
        "description": "Who holds what before the next battle, on the board of the plan.",
    },
    attack={
        "anyOf": [
            {"type": "null"},
            BATTLE,
        ],
        "description": "How the next battle ended, or is so far.",
    },
    course={
        "type": "array",
        "items": BATTLE,
        "description": "The battles before, which are returned in words.",
    },
    roll={
        "anyOf": [
            {"type": "null"},
            _object_of([], seed={"type": "integer", "minimum": 0}, once={"type": "boolean"}),
        ],
        "description": "Roll the dice of the next battle here, to its end or once.",
    },
)


def router(work: Work) -> APIRouter:
    """Return the addresses of the map.

    work: what reads boards and follows plans.
    """
    found = APIRouter()

    @found.get("/map", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(template("map.html", path="/map", rules=RULE_SETS, look=LOOK))

    @found.get(
        "/api/board", summary="Return the classic board, as maps are drawn from it", tags=TAGS
    )
    async def classic() -> JSONResponse:
        return JSONResponse(_drawn(BoardFile(classic_board(), BUILT_IN)))

    async def follow(asked: dict[str, Any]) -> dict[str, Any]:
        return await follow_plan(work, asked)

    def add(address: str, function: Any, summary: str, body: Schema) -> None:
        async def answer(request: Request) -> JSONResponse:
            asked = await read_body(request)
            job = follow(asked) if function is followed else work.run(function, asked)
            return JSONResponse(await while_there(request, job))

        content = {"application/json": {"schema": body}}
        extra = {"requestBody": {"required": True, "content": content}}
        found.add_api_route(
            address, answer, methods=["POST"], summary=summary, tags=TAGS, openapi_extra=extra
        )

    add("/api/board/read", board_read, "Read the text of a board file", BOARD_TEXT)
    add("/api/position/read", position_read, "Read a position file or a code", POSITION_TEXT)
    add("/api/plan/follow", followed, "Follow a plan: where it is, and what it does next", FOLLOWED)
    return found


# Boards and positions.


def board_read(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a map of a board is drawn from, and the board as it is sent back with questions.

    asked: the `text` of a file in any of the formats, and its `name`.
    """
    _refuse_unknown(asked, *BOARD_TEXT["properties"])
    return _drawn(board_of_text(_text(asked, "text"), _text(asked, "name", "board")))


def position_read(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a position, and the board that it is on as `board_read` does.

    asked: the `text` of a file or a code, and a `board` for the file that it may name or the code.

    Of a turn's code, what the map can show is returned as `rules`, `keep`, `stay` and `fresh`.
    """
    _refuse_unknown(asked, *POSITION_TEXT["properties"])
    beside = None if asked.get("board") is None else _board(asked["board"])
    text = _text(asked, "text")
    turn = Turn.from_code(text, beside) if is_code(text) else None
    position = position_of_text(text, beside) if turn is None else turn.position
    board = position.board
    found = BoardFile(board, BUILT_IN if board == classic_board() else "iacta's own")
    return {**_drawn(found), "position": _position_record(position), **_constraints(turn)}


def _constraints(turn: Turn | None) -> dict[str, Any]:
    """Return what a map can show of a turn beside its position."""
    if turn is None:
        return {}
    name, places = rules_name(turn.rules), turn.board.territories
    if name not in {each.name for each in RULE_SETS} or turn.rules_of:
        raise IllegalError("the map has no house rules and no rules of territories; the code has")
    return {
        "rules": name,
        "keep": {places.index(each): number for each, number in turn.keep.items()},
        "stay": [places.index(each) for each in turn.stay],
        "fresh": turn.place,
    }


def _board(given: object) -> Board:
    if given == "classic":
        return classic_board()
    if isinstance(given, Mapping):
        return read_board(given)
    raise MalformedError(f"board must be 'classic' or an object, got {shown(given)}")


def _drawn(found: BoardFile) -> dict[str, Any]:
    """Return a board as it is sent, and what its map is drawn from."""
    board = found.board
    check_size(board)
    number = {name: t for t, name in enumerate(board.territories)}
    return {
        "format": found.format,
        "remarks": [{"line": each.line, "text": each.text} for each in found.remarks],
        "board": "classic" if board == classic_board() else board.to_record(),
        "name": board.name,
        "code": board_code(board),
        "territories": list(board.territories),
        "continents": [
            {
                "name": each.name,
                "bonus": each.bonus,
                "territories": [number[name] for name in each.territories],
            }
            for each in board.continents
        ],
        "scene": asdict(scene_of(board)),
    }


def _moving(scene: Scene) -> dict[str, Any]:
    """Return what a plan adds to the map of its board."""
    return {name: asdict(scene)[name] for name in ("arrows", "labels", "close")}


def _position_record(position: Position) -> dict[str, Any]:
    return {
        "player": position.player,
        "territories": {
            name: {"owner": held.owner, "armies": held.armies}
            for name, held in zip(position.board.territories, position.holdings, strict=True)
            if held.armies
        },
    }


# Plans.


async def follow_plan(work: Work, asked: Mapping[str, Any], **watched: Any) -> dict[str, Any]:
    """Return what `followed` returns in another process, if it can in the one that did so before.

    work: what follows plans.
    asked: as `followed` takes it.
    watched: `watch` and `interrupt`, as `Work.run` takes them.
    """
    key = key_of({"followed": asked.get("question")})
    found: dict[str, Any] = await work.run(followed, asked, key=key, is_long=True, **watched)
    return found


def followed(asked: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
    """Return where a plan is after a battle, and what it does next.

    asked: the `question`, as for a plan; the `plan` as it was found, for which nothing is searched;
        the `position`, on the board of the question if it has no board of its own, before the next
        battle; what that has come to, as `attack`: its `from` and `to`, the armies `left` and
        `their_left`, and, if it is won, how many `moved` in; and, to go on with the dice rolled
        here, `roll`: with a `seed`, and `once` for one roll. The battles before it, as `course`,
        come back in words.
    watch: receives the progress of the search.

    Where the plan is searched, the answer has it as `plan`, to be sent back, its `record`, what the
    page shows of it as `shown`, and the `command` and the `python` call that ask for it. Without a
    position the plan is at its start.
    """
    _refuse_unknown(asked, *FOLLOWED["properties"])
    question = read_record(PlanQuestion, _object(asked, "question"))
    assert isinstance(question, PlanQuestion)  # noqa: S101 # as the form says
    more: dict[str, Any] = {}
    if asked.get("plan") is not None:
        plan = _brought(question, asked)
    else:
        answer = answer_to(question, (), watch, is_anew=True)
        assert isinstance(answer, PlanAnswer)  # noqa: S101 # the answer to such a question
        plan, more = answer.plan, _found(answer)
        _remember(_key(asked["question"], more["plan"]), plan)
    began = before = plan.reached(_stands(asked, plan.position))
    play, said, rolls = before, [], []
    attack = None if asked.get("attack") is None else _object(asked, "attack")
    if attack is not None:
        play = _fought(before, attack)
    if asked.get("roll") is not None:
        began, play, rolls = play, *_rolled(play, _object(asked, "roll"))
        said.append(_happened(began, play, len(rolls)))
    value_before = before.value if play is not before else None
    came_to = None if play is before else _came_to(before, play)
    fought = [_battle(each) for each in asked.get("course") or ()]
    way = (more or asked)["plan"]
    return {
        "position": _position_record(play.position),
        "attack": came_to,
        "course": [_battle_words(each) for each in (*fought, *([came_to] if came_to else ()))],
        "scene": _rest(play, way.get("way", ()) if way else ()),
        "rolls": rolls,
        "move": _move(play),
        "is_reached": play.is_reached,
        "value": play.value,
        "value_before": value_before,
        "sentences": [*said, *standing(play, value_before)],
        **more,
    }


def _found(answer: PlanAnswer) -> dict[str, Any]:
    """Return what the page shows of a plan that was searched, and the plan to be sent back."""
    plan, question = answer.plan, answer.question
    same = plan.problem.goal == question.goal.read(plan.position.board)
    return {
        "plan": {
            "policy": plan.policy.to_record(),
            "value": plan.value,
            "is_exact": plan.interval is None,
            "way": [[each.step.start, each.step.to] for each in main_line(plan)],
        }
        if same  # where a turn goes on with new cards, its first plan may be for another goal
        else None,
        "record": answer.record(),
        "shown": _shown(answer),
        "is_whole": answer.is_whole,
        "command": _as_command(question),
        "python": as_python(question),
    }


def _shown(answer: PlanAnswer) -> dict[str, Any]:
    """Return what the page shows of a plan: words, tables, chances, and how the map is drawn.

    Battles that have an arrow have its number in the tables.
    """
    plan, position = answer.plan, answer.plan.position
    summary, *others = answer.sections()
    owned = [position.of(each.name).owner == position.player for each in plan.territories]
    chances = [
        1.0 if is_mine else each.own_probability
        for each, is_mine in zip(plan.territories, owned, strict=True)
    ]
    shown: dict[str, Any] = {
        "figure": valued(plan, plan.value),
        "sentences": list(summary.parts),
        "owned": [
            "100%" if is_mine else share(plan, chance)
            for chance, is_mine in zip(chances, owned, strict=True)
        ],
        "chances": None,
        "scene": None,
    }
    numbers: dict[str, int] = {}
    if is_drawn(position.board):
        arrows = arrows_of(plan)
        names, values = position.board.territories, {}
        numbers = {f"{names[each.start]} to {names[each.to]}": each.number for each in arrows}
        if differ(plan, arrows):
            shown["chances"] = chances
            fought = sorted({each.to for each in arrows})
            values = {t: short_percent(chances[t], 0) for t in fought if not owned[t]}
        shown["scene"] = _moving(scene_of(position.board, arrows, values))
    tables = [
        {
            "title": section.title.rstrip(":"),
            "parts": [_part(part, numbers) for part in section.parts],
        }
        for section in others
    ]
    return {**shown, "sections": tables}


def _part(part: Part, numbers: Mapping[str, int]) -> object:
    """Return a part of a section: a sentence, or the columns and the rows of a table."""
    if not isinstance(part, Table):
        return part
    rows = [[text_of(cell) for cell in row] for row in part.rows]
    numbered = [
        [f"{numbers[row[0]]}. {row[0]}", *row[1:]] if row[0] in numbers else row for row in rows
    ]
    return {"columns": list(part.columns), "rows": numbered}


def _rest(play: Play, way: Sequence[Sequence[str]]) -> dict[str, Any] | None:
    """Return how the map is drawn while a plan is followed: its next battle, and the main line."""
    board, player, move = play.position.board, play.position.player, play.move
    if not is_drawn(board):
        return None
    number = {name: t for t, name in enumerate(board.territories)}
    rest = [(start, to) for start, to in way if play.position.of(to).owner != player]
    if move is not None:
        following = (move.start, move.to)
        rest = [following, *(pair for pair in rest if pair != following)]
    first: Look = "rare" if move is None else "next"
    arrows = [
        Arrow(n, number[start], number[to], "rare" if n > 1 else first, f"{start} to {to}")
        for n, (start, to) in enumerate(rest, start=1)
    ]
    return _moving(scene_of(board, arrows))


def _brought(question: PlanQuestion, asked: Mapping[str, Any]) -> Plan:
    """Return the plan that a client sends back, with what following it needs."""
    given = _object(asked, "plan")
    key = _key(asked["question"], given)
    if key in _plans:
        _plans.move_to_end(key)
        return _plans[key]
    _refuse_unknown(given, *FOUND["properties"])
    record = _object(given, "policy")
    start = question.start
    _way(given, start.board)
    turn = Turn.from_code(_text(record, "turn"), start.board)
    owners = tuple(each.owner for each in start.holdings)
    if (turn.player, turn.owners) != (start.player, owners):
        raise IllegalError("plan must be for the position of its question, got one for another")
    problem = read_problem(
        turn.position,
        question.goal,
        turn.rules,
        play=PLAYS[turn.whole_battles],
        rules_of=turn.rules_of,
        keep=turn.keep,
        stay=turn.stay,
    )
    value = given.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(f"value must be a number, got {shown(value)}")
    policy = Policy.from_record(record, problem)
    if policy.is_best:  # which the record does not have: it is found anew
        found = best_policy(problem, Deadline(float(MOST_SECONDS)))
        if found is None:
            raise IllegalError("plan must have an assignment, as its best play takes too long here")
        policy = found
    plan = Plan(
        problem.position,
        problem.goal,
        turn.rules,
        win_probability=0.0,
        value=float(value),
        upper_bound=float("inf"),
        proven=False,
        steps=(),
        territories=(),
        endings=(),
        seconds=0.0,
        policy=policy,
        play=problem.play,
        interval=None if given.get("is_exact") is True else (float(value), float(value)),
    )
    _remember(key, plan)
    return plan


_plans: OrderedDict[str, Plan] = OrderedDict()  # those followed last, as their searches take time


def _remember(key: str, plan: Plan) -> None:
    _plans[key] = plan
    if len(_plans) > MOST_PLANS:
        _plans.popitem(last=False)


def _key(question: object, plan: object) -> str:
    return key_of({"question": question, "plan": plan})


def _way(given: Mapping[str, Any], board: Board) -> None:
    """Refuse a main line that does not lead over borders of the board."""
    way, borders = given.get("way", []), set(board.borders)
    if not isinstance(way, list) or not all(
        isinstance(each, list) and tuple(map(str, each)) in borders for each in way
    ):
        raise MalformedError(f"way must be a list of borders, got {shown(way)}")


def _as_command(question: PlanQuestion) -> str | None:
    """Return the command that asks for a plan, if there is one."""
    with suppress(IllegalError):
        return as_command(question)
    return None


def _stands(asked: Mapping[str, Any], start: Position) -> Position:
    if asked.get("position") is None:
        return start
    given = _object(asked, "position")
    if "board" in given:
        return read_position(given)
    return read_position({**given, "board": start.board.to_record()})


def _fought(play: Play, attack: Mapping[str, Any]) -> Play:
    """Return where a plan is after its next battle."""
    _refuse_unknown(attack, *BATTLE["properties"])
    move = play.move
    if move is None:
        raise IllegalError("the plan is over; there is no attack")
    if (attack.get("from"), attack.get("to")) != (move.start, move.to):
        got = f"{shown(attack.get('from'))} to {shown(attack.get('to'))}"
        raise IllegalError(
            f"attack must be the plan's next, from {move.start} to {move.to}, got {got}"
        )
    there = play.position.of(move.to).armies
    their_left = whole_number(attack.get("their_left"), "their_left", most=there)
    moved = None if their_left else attack.get("moved")
    return play.fought(attack.get("left"), their_left, moved)  # type: ignore[arg-type] # checked


def _rolled(play: Play, roll: Mapping[str, Any]) -> tuple[Play, list[tuple[int, int]]]:
    """Return where a plan is when dice are rolled for as long as its battle goes on."""
    _refuse_unknown(roll, "seed", "once")
    rng = np.random.default_rng(whole_number(roll.get("seed", 0), "seed"))
    most = 1 if roll.get("once") else MOST_ROLLS
    move, rolls = play.move, list[tuple[int, int]]()
    if move is None:
        raise IllegalError("the plan is over; there is nothing to roll")
    while play.move is not None and len(rolls) < most:
        if (play.move.start, play.move.to) != (move.start, move.to):
            break
        lost = play.thrown(rng)
        rolls.append(lost)
        play = play.after(*lost)
    return play, rolls


def _came_to(before: Play, play: Play) -> dict[str, Any]:
    """Return how a battle ended, as it is sent again with what comes next."""
    move = before.move
    assert move is not None  # noqa: S101 # there was a battle
    start, to = play.position.of(move.start), play.position.of(move.to)
    is_won = to.owner == play.position.player
    found = {
        "from": move.start,
        "to": move.to,
        "left": start.armies + (to.armies if is_won else 0),
        "their_left": 0 if is_won else to.armies,
    }
    return {**found, "moved": to.armies} if is_won else found


def _happened(before: Play, play: Play, rolls: int) -> str:
    """Return what the dice have done, as a sentence."""
    old = before.position
    came = _came_to(before, play)
    lost = old.of(came["from"]).armies - came["left"]
    killed = old.of(came["to"]).armies - came["their_left"]
    said = f"{count(rolls, 'roll', 'rolls')}: you lose {lost}, they lose {killed}"
    return f"{said}. {came['to']} is taken." if "moved" in came else f"{said}."


def _battle(given: object) -> Mapping[str, Any]:
    """Return a battle of the course as it was sent."""
    found = _object({"course": given}, "course")
    _refuse_unknown(found, *BATTLE["properties"])
    return {
        **{name: _text(found, name) for name in ("from", "to")},
        **{
            name: whole_number(found.get(name) or 0, name)
            for name in ("left", "their_left", "moved")
        },
    }


def _battle_words(battle: Mapping[str, Any]) -> str:
    """Return how a battle ended."""
    way, left = f"{battle['from']} to {battle['to']}", f"{battle['left']:,} left"
    if battle["their_left"]:
        return f"{way}: {left} against {battle['their_left']:,}"
    return f"{way}: taken with {left}, {battle['moved']:,} moved in"


def _move(play: Play) -> dict[str, Any] | None:
    """Return what to do next."""
    move = play.move
    if move is None:
        return None
    held = play.position.of
    return {
        "from": move.start,
        "to": move.to,
        "dice": move.dice,
        "armies": held(move.start).armies,
        "defenders": held(move.to).armies,
        "asked": [
            f"Your armies left on {move.start}, of {held(move.start).armies:,}",
            f"Their armies left on {move.to}, of {held(move.to).armies:,}",
        ],
        "results": play.results(),
    }


# What is asked.


def _refuse_unknown(asked: Mapping[str, Any], *known: str) -> None:
    for name in asked:
        if name not in known:
            raise IllegalError(f"unknown key {shown(name)}; the keys are {', '.join(known)}")


def _text(asked: Mapping[str, Any], name: str, usual: str | None = None) -> str:
    value = asked.get(name, usual)
    if not isinstance(value, str):
        raise MalformedError(f"{name} must be text, got {shown(value)}")
    return value


def _object(asked: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = asked.get(name)
    if not isinstance(value, Mapping):
        raise MalformedError(f"{name} must be an object, got {shown(value)}")
    return value
