"""A server of games over HTTP: each client plays one player, with a secret token.

    IACTA_GAMES=games uvicorn server:app

`POST /games` with a list of players starts a game, and returns a token for each player. With a
token, a client reads what its player may see and which actions are legal (`GET /play/TOKEN`), and
decides (`POST /play/TOKEN`): an action, a `roll` without `dice` to fight to the end of a battle, or
a `place` of all new armies. The server rolls the dice, rejects all other input, and saves each game
after each decision.
"""

import json
import os
from pathlib import Path
from secrets import randbits, token_hex
from threading import Lock
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

from iacta import Game, IactaError, classic_board, deal
from iacta.game import record_action

Record = dict[str, Any]
FOLDER = Path(os.environ.get("IACTA_GAMES", "games"))
GAMES: dict[str, tuple[dict[str, str], Game]] = {}  # the players by their secrets, and the game
LOCK = Lock()  # one decision at a time
app = FastAPI()


@app.exception_handler(IactaError)
def reject(_request: Request, error: IactaError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 422)


@app.post("/games")
def start(players: list[str]) -> dict[str, str]:
    turn = deal(classic_board(), players, seed=randbits(62))
    game = Game(turn, dict.fromkeys(turn.players, "person")).play()
    name, tokens = token_hex(8), {token_hex(16): player for player in turn.players}
    FOLDER.mkdir(exist_ok=True)
    save(name, tokens, game)
    return {player: f"{name}.{secret}" for secret, player in tokens.items()}


@app.get("/play/{token}")
def show(token: str) -> Record:
    _, _, player, game = load(token)
    return describe(game, player)


@app.post("/play/{token}")
def decide(token: str, decision: Annotated[Record, Body()]) -> Record:
    with LOCK:
        name, tokens, player, game = load(token)
        if game.waits_for != player:
            raise HTTPException(409, f"{player} cannot decide now")
        game = game.decide(decision).play()
        save(name, tokens, game)
    return describe(game, player)


def describe(game: Game, player: str) -> Record:
    """Return a game as a player sees it, with the first and the last action of each range."""
    parts = game.turn.actions().parts if game.waits_for == player else []
    legal = [[record_action(part[0]), record_action(part[-1])] for part in parts]
    code = game.turn.seen_by(player).to_code()
    return {"turn": code, "waits_for": game.waits_for, "winner": game.winner, "legal": legal}


def load(token: str) -> tuple[str, dict[str, str], str, Game]:
    """Return the name of a game, the players by their secrets, the player, and the game."""
    name, _, secret = token.partition(".")
    file = FOLDER / f"{name}.json"
    if name not in GAMES and name.isalnum() and file.exists():  # after a restart
        saved = json.loads(file.read_text())
        GAMES[name] = saved["tokens"], Game.from_record(saved["game"])
    tokens, game = GAMES.get(name, ({}, None))
    if game is None or secret not in tokens:
        raise HTTPException(404, "no game has this token")
    return name, tokens, tokens[secret], game


def save(name: str, tokens: dict[str, str], game: Game) -> None:
    new = FOLDER / f"{name}.new"
    new.write_text(json.dumps({"tokens": tokens, "game": game.to_record()}))
    new.replace(FOLDER / f"{name}.json")  # the file is never half-written
    GAMES[name] = tokens, game
