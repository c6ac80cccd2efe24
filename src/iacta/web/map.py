"""The map: boards and positions read for the browser that draws them, and plans followed there."""

from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from iacta.answers.following import LOOKED_AHEAD, is_reached, standing
from iacta.answers.form import Topic
from iacta.answers.plan import PlanAnswer, PlanQuestion
from iacta.answers.question import Watch
from iacta.answers.spoken import as_command, as_python
from iacta.answers.words import count
from iacta.board import Board, Position
from iacta.board.files import BUILT_IN, BoardFile, board_of_text, classic_board, read_board
from iacta.board.formats import own
from iacta.board.position import position_of_text, read_position
from iacta.charts.board_layout import check_size, edges_of, frame_of, lines, places_of, sea_borders
from iacta.charts.boards import TONES, TONES_BY_NAME
from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, MalformedError
from iacta.plan import TakeAll, TakeAny
from iacta.plan.live import Live
from iacta.plan.way import usual_way
from iacta.rules.variants import RULE_SETS
from iacta.web.api import read_body, while_there
from iacta.web.asked import read_record
from iacta.web.pages import template
from iacta.web.plans import pack, unpack
from iacta.web.work import Work
from iacta.web.worker import answer_to

__all__ = ["board_read", "follow_plan", "followed", "position_read", "router"]

MOST_ROLLS = 500  # thrown at a time
Schema: TypeAlias = dict[str, Any]
TAGS: list[str | Enum] = [Topic.BOARD.value]
TONED = {"named": TONES_BY_NAME, "tones": TONES}


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
FOLLOWED = _object_of(
    [],
    question={
        "type": "object",
        "description": "As for a plan, which is then searched; the answer names it as `plan`.",
    },
    plan={"type": "string", "description": "The name of a plan that was found; no question then."},
    position={
        "type": ["object", "null"],
        "description": "Who holds what before the next battle, on the board of the plan.",
    },
    attack={
        "anyOf": [
            {"type": "null"},
            _object_of(
                ["from", "to", "left", "their_left"],
                **{each: {"type": "string"} for each in ("from", "to")},
                left={"type": "integer", "minimum": 1},
                their_left={"type": "integer", "minimum": 0},
                moved={"type": ["integer", "null"], "minimum": 1},
            ),
        ],
        "description": "How the next battle ended, or is so far.",
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
        return HTMLResponse(template("map.html", path="/map", rules=RULE_SETS, tones=TONED))

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
    add("/api/position/read", position_read, "Read a position file", POSITION_TEXT)
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

    asked: the `text` of a file, and a `board` for the file that it may name.
    """
    _refuse_unknown(asked, *POSITION_TEXT["properties"])
    beside = None if asked.get("board") is None else _board(asked["board"])
    position = position_of_text(_text(asked, "text"), beside)
    board = position.board
    found = BoardFile(board, BUILT_IN if board == classic_board() else "iacta's own")
    return {**_drawn(found), "position": _position_record(position)}


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
    places, edges = places_of(board), edges_of(board)
    number = {name: t for t, name in enumerate(board.territories)}
    seas, ways = set(sea_borders(board)), set(board.borders)
    points = [point for shape in board.outlines for polygon in shape for point in polygon]
    return {
        "format": found.format,
        "remarks": [{"line": each.line, "text": each.text} for each in found.remarks],
        "board": "classic" if board == classic_board() else own.record(board),
        "name": board.name,
        "territories": list(board.territories),
        "continents": [
            {
                "name": each.name,
                "bonus": each.bonus,
                "territories": [number[name] for name in each.territories],
            }
            for each in board.continents
        ],
        "borders": [
            {
                "from": number[start],
                "to": number[to],
                "one_way": (to, start) not in ways,
                "is_drawn": (start, to) in seas,
                "lines": lines(places[number[start]], places[number[to]], edges),
            }
            for start, to in board.borders
            if (to, start) not in ways or number[start] < number[to]
        ],
        "places": places,
        "outlines": board.outlines,
        "frame": frame_of([*places, *points], bool(points)),
    }


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
    """Return what `followed` returns in another process, with the name of a plan it has found.

    work: what follows plans, and keeps them.
    asked: as `followed` takes it, with the name of a `plan` instead of a question.
    watched: `watch` and `interrupt`, as `Work.run` takes them.
    """
    packed = None
    if "plan" in asked:
        packed = work.plans.find(asked["plan"])
        asked = {name: value for name, value in asked.items() if name != "plan"}
    found: dict[str, Any] = await work.run(followed, asked, packed, is_long=True, **watched)
    if packed is None:
        found["plan"] = work.plans.keep(found["plan"])
    return found


def followed(
    asked: Mapping[str, Any], packed: bytes | None = None, watch: Watch | None = None
) -> dict[str, Any]:
    """Return where a plan is after a battle, and what it does next.

    asked: the `question`, as for a plan; the `position`, on the board of the question if it has no
        board of its own, before the next battle; what that has come to, as `attack`: its `from` and
        `to`, the armies `left` and `their_left`, and, if it is won, how many `moved` in; and, to go
        on with the dice rolled here, `roll`: with a `seed`, and `once` for one roll.
    packed: the plan, if it was found before; then there is no question, and nothing is searched.
    watch: receives the progress of the search.

    Without a position the plan is at its start; then the answer has its `record`, its sentences as
    `summary`, its most likely `way`, and the `command` and the `python` call that ask for it, too.
    A plan that was searched is there as `plan`, packed.
    """
    _refuse_unknown(asked, *FOLLOWED["properties"])
    if packed is None:
        searched = answer_to(
            read_record(PlanQuestion, _object(asked, "question")), (), watch, is_anew=True
        )
        assert isinstance(searched, PlanAnswer)  # noqa: S101 # the answer to such a question
        answer = searched
    elif "question" in asked:
        raise IllegalError("give a question or a plan, not both")
    else:
        answer = unpack(packed)
    question = answer.question
    plan = answer.plan
    began = before = Live(plan, _stands(asked, plan.position))
    live, told, rolls = before, [], []
    attack = None if asked.get("attack") is None else _object(asked, "attack")
    if attack is not None:
        live = _fought(before, attack)
    if asked.get("roll") is not None:
        began, live, rolls = live, *_rolled(live, _object(asked, "roll"))
        told.append(_happened(began, live, len(rolls)))
    found: dict[str, Any] = {
        "position": _position_record(live.position),
        "attack": None if live is before else _came_to(before, live),
        "rolls": rolls,
        "move": _move(live),
        "is_reached": is_reached(live),
        "value": live.value,
        "value_before": before.value if live is not before else None,
        "sentences": [
            *told,
            *standing(live, before.value if live is not before else None),
        ],
    }
    if packed is None:
        found["plan"] = pack(answer)
    if asked.get("position") is None:
        is_chance = isinstance(plan.goal, TakeAll | TakeAny)
        if plan.interval is not None and is_chance:
            found["sentences"].append(LOOKED_AHEAD)
        found["record"], found["is_whole"] = answer.record(), answer.is_whole
        found["summary"] = list(next(iter(answer.sections())).parts)
        found["command"], found["python"] = _as_command(question), as_python(question)
        found["way"] = [[each.step.start, each.step.to] for each in usual_way(plan)]
    return found


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
    return read_position({**given, "board": own.record(start.board)})


def _fought(live: Live, attack: Mapping[str, Any]) -> Live:
    """Return where a plan is after its next battle."""
    _refuse_unknown(attack, "from", "to", "left", "their_left", "moved")
    move = live.move
    if move is None:
        raise IllegalError("the plan is over; there is no attack")
    if (attack.get("from"), attack.get("to")) != (move.start, move.to):
        got = f"{shown(attack.get('from'))} to {shown(attack.get('to'))}"
        raise IllegalError(
            f"attack must be the plan's next, from {move.start} to {move.to}, got {got}"
        )
    there = live.position.of(move.to).armies
    their_left = whole_number(attack.get("their_left"), "their_left", most=there)
    moved = None if their_left else attack.get("moved")
    return live.fought(attack.get("left"), their_left, moved)  # type: ignore[arg-type] # checked


def _rolled(live: Live, roll: Mapping[str, Any]) -> tuple[Live, list[tuple[int, int]]]:
    """Return where a plan is when dice are rolled for as long as its battle goes on."""
    _refuse_unknown(roll, "seed", "once")
    rng = np.random.default_rng(whole_number(roll.get("seed", 0), "seed"))
    most = 1 if roll.get("once") else MOST_ROLLS
    move, rolls = live.move, list[tuple[int, int]]()
    if move is None:
        raise IllegalError("the plan is over; there is nothing to roll")
    while live.move is not None and len(rolls) < most:
        if (live.move.start, live.move.to) != (move.start, move.to):
            break
        lost = live.thrown(rng)
        rolls.append(lost)
        live = live.after(*lost)
    return live, rolls


def _came_to(before: Live, live: Live) -> dict[str, Any]:
    """Return how a battle ended, as it is sent again with what comes next."""
    move = before.move
    assert move is not None  # noqa: S101 # there was a battle
    start, to = live.position.of(move.start), live.position.of(move.to)
    is_won = to.owner == live.position.player
    found = {
        "from": move.start,
        "to": move.to,
        "left": start.armies + (to.armies if is_won else 0),
        "their_left": 0 if is_won else to.armies,
    }
    return {**found, "moved": to.armies} if is_won else found


def _happened(before: Live, live: Live, rolls: int) -> str:
    """Return what the dice have done, as a sentence."""
    old = before.position
    came = _came_to(before, live)
    lost = old.of(came["from"]).armies - came["left"]
    killed = old.of(came["to"]).armies - came["their_left"]
    said = f"{count(rolls, 'roll', 'rolls')}: you lose {lost}, they lose {killed}"
    return f"{said}. {came['to']} is taken." if "moved" in came else f"{said}."


def _move(live: Live) -> dict[str, Any] | None:
    """Return what to do next."""
    move = live.move
    if move is None:
        return None
    held = live.position.of
    return {
        "from": move.start,
        "to": move.to,
        "dice": move.dice,
        "armies": held(move.start).armies,
        "defenders": held(move.to).armies,
        "results": live.results(),
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
