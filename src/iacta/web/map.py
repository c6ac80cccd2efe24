"""The board page: converts boards and positions for the browser, which draws them."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any, TypeAlias

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from iacta.board.built_in import classic_board, find_built_in
from iacta.board.codes import MAX_TERRITORY_ARMIES, identify_board, is_code
from iacta.board.files import BUILT_IN, BoardFile, parse_board_text
from iacta.board.formats.reading import normalize_text
from iacta.board.layout import check_size
from iacta.board.scene import build_scene, shorten_name
from iacta.forms.form import Topic
from iacta.game import Turn
from iacta.game.editions import EDITIONS
from iacta.game.moment import parse_moment
from iacta.game.setup import MAX_NEW_ARMIES
from iacta.inputs.checks import refuse_unknown_keys
from iacta.inputs.errors import IllegalError
from iacta.questions.steps import STEP_SCHEMA, StepList
from iacta.rules.variants import RULE_SETS
from iacta.war.game import MAX_ROUNDS, PERSON
from iacta.war.players import PLAYERS
from iacta.web.api import JSON, read_json_body
from iacta.web.client_gone import run_while_connected
from iacta.web.judge import judge_last_decision, judge_turn
from iacta.web.labels import describe_labels
from iacta.web.limits import MAX_QR_LETTERS
from iacta.web.new_game import DEALS, SEATS, SETS, deal_game
from iacta.web.picture import draw_game
from iacta.web.process_pool import Work
from iacta.web.read_question import read_sent_board, read_text
from iacta.web.templates import render_template
from iacta.web.turns import (
    MAX_LOGGED_STEPS,
    NAMES,
    deal_territories,
    describe_setup,
    play_turn,
    replay_turns,
    step_turn,
    write_log,
    write_position_file,
)
from iacta.web.ways_to_win import WAYS, choose_way_to_win
from iacta.web.worker import answer_json

HAS_PLAYER = re.compile(r"""^\s*["']?player["']?\s*[:=]|[{,]\s*"player"\s*:""", re.MULTILINE)
Schema: TypeAlias = dict[str, Any]
TAGS: list[str | Enum] = [Topic.BOARD.value]
LOOK = {
    "names": NAMES,
    "coded": MAX_QR_LETTERS,
    "armies": MAX_TERRITORY_ARMIES,
    "fresh": MAX_NEW_ARMIES,
    "seats": SEATS,
    "ways": WAYS,
    "sets": SETS,
    "deals": DEALS,
    "editions": {each.name: [each.description, each.board] for each in EDITIONS},
    "rounds": MAX_ROUNDS,
}

SVG = {"image/svg+xml": {"schema": {"type": "string"}}}
CODED = {
    "name": "text",
    "in": "query",
    "required": True,
    "description": "The text in the QR code.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QR_LETTERS},
}


def _describe_object(required: list[str], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_TEXT = {"type": "string", "description": "The text of the file."}
_BOARD = {
    "description": "The board; the classic board if left out.",
    "anyOf": [{"enum": ["classic"]}, {"type": "object"}, {"type": "null"}],
}
BOARD_TEXT = _describe_object(
    ["text"],
    text=_TEXT,
    name={"type": "string", "description": "The name of the file."},
    board={**_BOARD, "description": "The board of a position without its own board."},
)
_CODE = {"type": "string", "description": "The code of a turn."}
_PLAYERS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "The names of all owners, for their numbers in short texts of steps.",
}
_SETUP = {"type": "object", "description": "The turn that the page sets up, instead of a code."}
_STEPS = {
    **StepList().schema(),
    "items": {"type": "object"},
    "description": "The steps; `after` gives the number of the step before, 0 for the start.",
}
STEPPED = _describe_object(
    ["code", "step"], code=_CODE, board=_BOARD, step=STEP_SCHEMA, players=_PLAYERS
)
PLAYED = _describe_object(
    ["code", "ai"],
    code=_CODE,
    board=_BOARD,
    ai={"enum": [*PLAYERS], "description": "The name of the AI."},
    seed={"type": "integer", "minimum": 0, "description": "The seed; random if left out."},
    players=_PLAYERS,
)
REPLAYED = _describe_object(
    [],
    version={
        "type": "integer",
        "minimum": 1,
        "maximum": 1,
        "description": "The version of the steps; it may be left out.",
    },
    code=_CODE,
    setup=_SETUP,
    board=_BOARD,
    steps=_STEPS,
    players=_PLAYERS,
    computers={**_PLAYERS, "description": "The players whose steps name both players."},
    shown={
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
        "description": "The steps whose turns have odds, legal moves and hands; by default all.",
    },
)
_TEXTS = {"type": "array", "items": {"type": "string"}}
SENT_TURN = _describe_object(
    ["code"],
    code=_CODE,
    board=_BOARD,
    texts={**_TEXTS, "description": "The steps of the turn to judge, as short texts."},
    done={"type": "integer", "minimum": 0, "description": "The number of steps judged earlier."},
    players=_PLAYERS,
)
SENT_DECISION = _describe_object(
    ["code", "texts"],
    code=_CODE,
    board=_BOARD,
    texts={
        **_TEXTS,
        "minItems": 1,
        "description": "The steps of the turn up to the decision, as short texts.",
    },
    players=_PLAYERS,
)
FINISHED = _describe_object(
    ["code", "sentence"],
    code=_CODE,
    board=_BOARD,
    wins={
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"type": "number"}},
        "description": "Each player's chance to win at the start of each turn.",
    },
    sentence={"type": "string", "description": "The sentence above the map."},
    players=_PLAYERS,
)
LOGGED = _describe_object(
    ["code", "line"],
    code=_CODE,
    board=_BOARD,
    steps={**_STEPS, "maxItems": MAX_LOGGED_STEPS},
    players=_PLAYERS,
    goal={"type": ["object", "null"], "description": "The goal of the first turn."},
    line={"type": "array", "items": {"type": "integer"}, "description": "The steps to write."},
)
DRAWN = _describe_object(
    ["code"],
    code=_CODE,
    board=_BOARD,
    is_dark={"type": "boolean", "description": "Whether the background is dark."},
)
WON = _describe_object(
    ["setup"],
    setup=_SETUP,
    board=_BOARD,
    victory={"type": "object", "description": "The way to win to set; none to describe it."},
)
SAVED = _describe_object(["setup"], setup=_SETUP, board=_BOARD)
DEALT = _describe_object(
    ["players", "territories"],
    players={"type": "integer", "minimum": 1, "description": "The number of players."},
    territories={"type": "integer", "minimum": 1, "description": "The number of territories."},
    armies={
        "type": "integer",
        "minimum": 1,
        "description": "The armies of each player; by the rule book if left out.",
    },
)
_NUMBERS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
BEGUN = _describe_object(
    ["seats"],
    board=_BOARD,
    players={**_PLAYERS, "description": "The players in the order of play."},
    seats={
        "type": "array",
        "items": {"enum": [PERSON, *PLAYERS]},
        "description": "Who plays each player: a person, or the AI with this name.",
    },
    rules={"type": "string", "description": "The rules; classic if left out."},
    sets={"enum": [*SETS], "description": "The armies for sets of cards."},
    victory={
        "type": "object",
        "description": "The way to win, `by`; `share` in percent; for capitals, whether persons "
        "`choose` them and whether they defend with more `dice`; `missions` by player, whether "
        "they are `secret`, and with how many territories any player also wins, `common`.",
    },
    edition={
        "type": "string",
        "description": "An edition, which replaces rules, sets and victory: "
        f"{', '.join(each.name for each in EDITIONS)}.",
    },
    deal={"enum": [*DEALS], "description": "Whether persons pick territories."},
    order={**_NUMBERS, "description": "The territories that were dealt so far, in order."},
    capitals={**_NUMBERS, "description": "The capitals that persons have chosen, in order."},
    again={"type": "object", "description": "The setup of a game whose wishes apply again."},
)
LABELLED = _describe_object(
    ["players"],
    players=_PLAYERS,
    goals={
        "type": "array",
        "items": {"type": ["string", "object"]},
        "description": "Goals, as short texts or as parameters of `plan`.",
    },
    board=_BOARD,
)


def make_router(work: Work, public_url: str = "") -> APIRouter:
    """Return the routes of the board page and of its requests.

    work: the worker processes that read boards and take steps.
    public_url: the URL at which other devices can open the pages; empty if unknown.
    """
    routes = APIRouter()
    drawn_board = b""

    @routes.get("/map", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> HTMLResponse:
        rules = [each for each in RULE_SETS if each.rules.mode.fits_turns]
        values = {"rules": rules, "look": LOOK, "public_url": public_url}
        return HTMLResponse(render_template("map.html", path="map", **values))

    @routes.get("/board", include_in_schema=False)
    async def board() -> RedirectResponse:
        return RedirectResponse("map")

    @routes.get(
        "/api/v1/board",
        summary="Return the classic board with the shapes of its map",
        tags=TAGS,
        operation_id="get_board",
    )
    async def classic() -> Response:
        nonlocal drawn_board
        drawn_board = drawn_board or await work.run(write_classic_board)
        return Response(drawn_board, media_type=JSON)

    @routes.get(
        "/api/v1/qr.svg",
        summary="Return a string, such as the code of a position, as a QR code",
        tags=TAGS,
        response_class=Response,
        operation_id="get_qr_svg",
        openapi_extra={"parameters": [CODED], "responses": {"200": {"content": SVG}}},
    )
    async def qr(request: Request) -> Response:
        drawn = await work.run(_draw_qr_code, request.query_params.get("text", ""))
        return Response(drawn, media_type="image/svg+xml")

    def add(address: str, function: Any, summary: str, schema: Schema, run: Any = work.run) -> None:
        async def answer(request: Request) -> Response:
            body = await read_json_body(request)
            answered = await run_while_connected(request, run(answer_json, function, body))
            return Response(answered, media_type=JSON)

        content = {"application/json": {"schema": schema}}
        extra = {"requestBody": {"required": True, "content": content}}
        routes.add_api_route(
            address,
            answer,
            methods=["POST"],
            summary=summary,
            tags=TAGS,
            operation_id="post_" + address.removeprefix("/api/v1/").replace("/", "_"),
            openapi_extra=extra,
        )

    add("/api/v1/board/read", read_board_text, "Read a board, a position or a code", BOARD_TEXT)
    add("/api/v1/board/labels", describe_labels, "Return colours and goals in words", LABELLED)
    add("/api/v1/board/deal", deal_territories, "Deal territories and armies", DEALT)
    add("/api/v1/game/deal", deal_game, "Deal a new game", BEGUN)
    add("/api/v1/position/victory", choose_way_to_win, "Choose the way to win", WON)
    add("/api/v1/position/write", write_position_file, "Write a position file", SAVED)
    add("/api/v1/position/draw", draw_position, "Draw a position as a picture", DRAWN)
    add("/api/v1/turn/step", step_turn, "Take a step in a turn", STEPPED)
    add("/api/v1/turn/play", play_turn, "Let an AI play the rest of a turn", PLAYED)
    add("/api/v1/turn/replay", replay_turns, "Take many steps from a turn", REPLAYED)
    add("/api/v1/turn/judge", judge_turn, "Judge the decisions of a turn", SENT_TURN, work.search)
    add(
        "/api/v1/decision/judge",
        judge_last_decision,
        "Measure the cost of a decision",
        SENT_DECISION,
        work.search,
    )
    add("/api/v1/turn/log", write_log, "Write steps as a log for a review", LOGGED)
    add("/api/v1/game/draw", draw_game, "Draw a finished game as a picture", FINISHED, work.draw)
    return routes


def write_classic_board() -> bytes:
    """Return the classic board and its map as JSON."""
    return json.dumps(_describe_board(BoardFile(classic_board(), BUILT_IN))).encode()


def read_board_text(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a board and its map, and the turn of a text with a position.

    body: the request, with the `text` of a file in any format, a code or the name of a built-in
        board; its `name`, and the `board` of a position without its own board.
    """
    refuse_unknown_keys(body, [*BOARD_TEXT["properties"]])
    text = normalize_text(read_text(body, "text"))
    if (built_in := find_built_in(text)) is not None:
        return _describe_board(BoardFile(built_in, BUILT_IN))
    if is_code(text) or HAS_PLAYER.search(text):
        turn = parse_moment(text, read_sent_board(body), is_fallback=True)
        board = turn.board
        file = BoardFile(board, BUILT_IN if board == classic_board() else "iacta's own")
        return {**_describe_board(file), "setup": describe_setup(turn)}
    return _describe_board(parse_board_text(text, read_text(body, "name", "board")))


def _describe_board(board_file: BoardFile) -> dict[str, Any]:
    """Return a board and its map as JSON values."""
    board = board_file.board
    check_size(board)
    number = {name: t for t, name in enumerate(board.territories)}
    return {
        "format": board_file.format,
        "remarks": [{"line": remark.line, "text": remark.text} for remark in board_file.remarks],
        "board": "classic" if board == classic_board() else board.to_record(),
        "name": board.name,
        "short_name": shorten_name(board.name),
        "code": identify_board(board),
        "territories": list(board.territories),
        "short": [shorten_name(name) for name in board.territories],
        "continents": [
            {
                "name": continent.name,
                "bonus": continent.bonus,
                "territories": [number[name] for name in continent.territories],
            }
            for continent in board.continents
        ],
        "scene": asdict(build_scene(board)),
    }


def draw_position(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a picture of the position of a turn, as SVG.

    body: the request, with the `code` of the turn, `is_dark` for a dark background, and the `board`
        unless it is the classic board.
    """
    from iacta.charts import board_map  # only needed for pictures

    refuse_unknown_keys(body, [*DRAWN["properties"]])
    turn = Turn.from_code(read_text(body, "code"), read_sent_board(body))
    picture = board_map(turn.position).content("svg", dark=body.get("is_dark") is True)
    return {"svg": picture.decode()}


def _draw_qr_code(text: str) -> str:
    """Return a QR code as SVG.

    text: the text to encode, of 1 to `MAX_QR_LETTERS` letters.

    >>> _draw_qr_code("1;classic;red;Peru:red:3").startswith("<svg")
    True
    """
    from segno import DataOverflowError, make_qr  # only needed for QR codes

    if not 1 <= len(text) <= MAX_QR_LETTERS:
        raise IllegalError(f"text must have 1 to {MAX_QR_LETTERS:,} letters, got {len(text):,}")
    try:
        code = make_qr(text, error="L")
    except DataOverflowError:  # some characters take several bytes
        size = len(text.encode())
        raise IllegalError(f"text must fit into a QR code, got {size:,} bytes") from None
    made: str = code.svg_inline(border=2, light="white", scale=2)
    return made.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
