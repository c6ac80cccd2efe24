"""The server of `examples/server.py`: clients see and change only what their player may."""

import asyncio
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from fastapi import HTTPException

from iacta import Board, IactaError, Turn, classic_board
from iacta.game import list_border_odds

SERVER = Path(__file__).parents[1] / "examples" / "server.py"
PLAYERS = ["red", "blue", "green"]
GAMES = 100
CELLS = [f"{row}{column}" for row in "ABC" for column in "123"]
SQUARE = Board.from_edges(
    "square",
    [
        (one, other)
        for one in CELLS
        for other in CELLS
        if one < other and abs(ord(one[0]) - ord(other[0])) + abs(int(one[1]) - int(other[1])) == 1
    ],
)
Record = dict[str, Any]
Functions = dict[str, Callable[..., Any]]

# Decisions that no player may make at any time.
HOSTILE: list[Record] = [
    {},
    {"do": "win"},
    {"do": "next"},
    {"do": "goal", "goal": {"take": "A1"}},
    {"do": "correct", "on": [["A1", "red", 99]]},
    {"do": "attack", "from": "A1", "to": "A2", "left": 9, "their_left": 0},
    {"do": "faces", "from": "A1", "to": "A2", "mine": "666", "theirs": "11"},
    {"do": "roll", "from": "A1", "to": "A2", "seed": 1},
    {"do": "roll", "from": "A1", "to": "A2", "dice": 99},
    {"do": "roll", "from": "A1", "to": "C3"},
    {"do": "roll", "from": -1, "to": 10**30},
    {"do": "place", "on": [["A1", -5], ["B2", 8]]},
    {"do": "place", "on": "everywhere"},
    {"do": "advance", "armies": 10**9},
    {"do": "fortify", "from": "A1", "to": "A1", "armies": 1},
    {"do": "trade", "cards": {"infantry": 9}},
    {"do": ["roll"]},
]


def start_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Functions:
    """Return the functions of the server, as in a new process."""
    monkeypatch.setenv("IACTA_GAMES", str(folder))
    return runpy.run_path(str(SERVER))


def ask(server: Functions, method: str, path: str, record: object = None) -> tuple[int, Any]:
    """Send a request over HTTP; return the status and the answer."""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(server["app"])
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, json=record)

    response = asyncio.run(send())
    return response.status_code, response.json()


def choose(seen: Record, board: Board, rng: Random) -> Record:
    """Return the decision of an aggressive client that knows only the answer of the server."""
    turn, legal = Turn.from_code(seen["turn"], board), seen["legal"]
    odds = list_border_odds(turn)
    if turn.phase == "place":
        stacks = [border.start for border in odds] or [pair[0]["on"][0][0] for pair in legal]
        return {"do": "place", "on": [[max(stacks, key=turn.armies_on), turn.place]]}
    likely = [border for border in odds if border.win_probability > 0.4]
    if turn.phase == "attack" and likely:
        best = max(likely, key=lambda border: border.win_probability)
        return {"do": "roll", "from": best.start, "to": best.to}
    last: list[Record] = [pair[-1] for pair in legal]
    if turn.phase == "trade":
        return rng.choice(last)
    return (
        max(last, key=lambda action: action.get("armies", 0))
        if turn.phase != "attack"
        else last[-1]
    )


def attack_server(server: Functions, token: str, others: str, rng: Random) -> None:
    """Send impossible decisions with a client's own token, and with wrong tokens."""
    for wrong in (others, f"{token}0", "", "../server", f"{others.partition('.')[0]}."):
        with pytest.raises(HTTPException):
            server["decide"](wrong, {"do": "stop"})
    for decision in rng.sample(HOSTILE, 3):
        with pytest.raises(IactaError) as error:
            server["decide"](token, decision)
        assert "\n" not in str(error.value)


def test_three_clients_play_a_hundred_games_although_one_is_hostile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, rng = start_server(tmp_path, monkeypatch), Random(1)  # noqa: S311 # no secrets
    monkeypatch.setitem(server["start"].__globals__, "classic_board", lambda: SQUARE)
    winners = set[str]()
    for _ in range(GAMES):
        tokens = server["start"](PLAYERS)
        seen = server["show"](tokens["red"])
        while player := seen["waits_for"]:
            token, other = tokens[player], tokens[rng.choice([*{*PLAYERS} - {player}])]
            seen = server["show"](token)
            if player == "green":
                attack_server(server, token, other, rng)
                assert server["show"](token) == seen
            assert server["show"](other)["legal"] == []
            seen = server["decide"](token, choose(seen, SQUARE, rng))
        winners.add(seen["winner"])
        assert {server["show"](token)["winner"] for token in tokens.values()} == {seen["winner"]}
    assert winners == {*PLAYERS}


def test_a_client_does_not_see_the_cards_of_others_and_plays_on_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, rng = start_server(tmp_path, monkeypatch), Random(3)  # noqa: S311 # no secrets
    _, tokens = ask(server, "POST", "/games", PLAYERS)
    for _ in range(60):
        _, seen = ask(server, "GET", f"/play/{tokens['red']}")
        path = f"/play/{tokens[seen['waits_for']]}"
        decision = choose(ask(server, "GET", path)[1], classic_board(), rng)
        assert ask(server, "POST", path, decision)[0] == 200, decision
    views = {player: ask(server, "GET", f"/play/{token}") for player, token in tokens.items()}
    for player, (_, view) in views.items():
        turn = Turn.from_code(view["turn"])
        others = [hand for name, hand in (turn.cards or {}).items() if name != player]
        assert any(hand.number for hand in others)
        assert all(hand.number == hand.unknown for hand in others)
    again = start_server(tmp_path, monkeypatch)
    assert {name: ask(again, "GET", f"/play/{token}") for name, token in tokens.items()} == views


def test_refusals_are_short_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = start_server(tmp_path, monkeypatch)
    assert ask(server, "POST", "/games", ["red"])[0] == 422
    assert ask(server, "POST", "/games", {"players": 3})[0] == 422
    _, tokens = ask(server, "POST", "/games", PLAYERS)
    assert ask(server, "GET", "/play/0.0")[0] == 404
    late = ask(server, "POST", f"/play/{tokens['blue']}", {"do": "stop"})
    assert late == (409, {"detail": "blue cannot decide now"})
    for decision in (*HOSTILE, [], "stop", 3):
        status, answer = ask(server, "POST", f"/play/{tokens['red']}", decision)
        assert status == 422
        assert "Traceback" not in json.dumps(answer)
