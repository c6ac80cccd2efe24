"""A turn over a WebSocket: the search shows progress, and can be stopped with what it has found.

The client sends what `/api/turn/analyse` takes as JSON, and later perhaps `{"stop": true}`. It
receives `{"progress": {"doing", "part", "keeps"}}` several times, with the chance so far as `part`,
then `{"answer": {...}}`, or `{"problem": {...}}`. If it goes away, the search ends.
"""

import asyncio
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from iacta.errors import IactaError, MalformedError
from iacta.web.api import parsed
from iacta.web.problems import problem_of
from iacta.web.turns import analysed
from iacta.web.work import Interrupt, Work

__all__ = ["router"]

MOST_SILENT_SECONDS = 10.0  # until the question is sent


def router(work: Work) -> APIRouter:
    """Return the address of live turns.

    work: what searches.
    """
    found = APIRouter()

    @found.websocket("/live/turn")
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):  # the client has gone away
            try:
                async with asyncio.timeout(MOST_SILENT_SECONDS):
                    question = await _received(socket)
            except TimeoutError:
                late = MalformedError("the question did not arrive in time")
                await socket.send_json({"problem": problem_of(late).record()})
            except IactaError as error:
                await socket.send_json({"problem": problem_of(error).record()})
            else:
                await _search(socket, work, question)
            await socket.close()

    return found


async def _search(socket: WebSocket, work: Work, asked: dict[str, Any]) -> None:
    """Look at a turn while the client listens."""
    interrupt = Interrupt()
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
        told.put_nowait({"progress": {"doing": doing, "part": part, "keeps": keeps}})

    async def search() -> None:
        try:
            job = work.run(analysed, asked, is_long=True, watch=watch, interrupt=interrupt)
            told.put_nowait({"answer": await job})
        except Exception as error:
            told.put_nowait({"problem": problem_of(error).record()})

    async def listen() -> None:
        with suppress(WebSocketDisconnect, IactaError):
            while True:
                if (await _received(socket)).get("stop") is True:
                    interrupt.now()

    async def tell() -> None:
        message: dict[str, Any] = {"progress": None}
        while "progress" in message:
            message = await told.get()
            await socket.send_json(message)

    searching, listening, telling = (
        asyncio.ensure_future(each()) for each in (search, listen, tell)
    )
    try:
        await asyncio.wait((listening, telling), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (searching, listening, telling):
            task.cancel()
        await asyncio.gather(searching, listening, telling, return_exceptions=True)


async def _received(socket: WebSocket) -> dict[str, Any]:
    """Return the JSON object that a client sends."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"])
    return parsed(message.get("bytes") or (message.get("text") or "").encode())
