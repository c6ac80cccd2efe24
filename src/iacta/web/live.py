"""A turn over a WebSocket: the search shows progress, and can be stopped with what it has found.

The client sends what `/api/v1/turn/analyse` takes as JSON, and later perhaps `{"stop": true}`. It
receives `{"progress": {"doing", "part", "keeps"}}` several times, with the chance so far as `part`,
then `{"answer": {...}}`, or `{"problem": {...}}`. If it goes away, the search ends.
"""

import asyncio
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from iacta.errors import IactaError, MalformedError
from iacta.web.api import parsed
from iacta.web.limits import HEAD_SECONDS
from iacta.web.problems import problem_of
from iacta.web.turns import analysed
from iacta.web.work import Work
from iacta.web.worker import Progress

__all__ = ["router"]


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
                async with asyncio.timeout(HEAD_SECONDS):
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
    stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def report(progress: Progress) -> None:
        await socket.send_json({"progress": progress._asdict()})

    async def search() -> None:
        try:
            answer = await work.search(analysed, asked, report=report, stop=stop)
        except Exception as error:
            await socket.send_json({"problem": problem_of(error).record()})
        else:
            await socket.send_json({"answer": answer})

    async def listen() -> None:
        with suppress(WebSocketDisconnect, IactaError):
            while True:
                if (await _received(socket)).get("stop") is True and not stop.done():
                    stop.set_result(None)

    tasks = [asyncio.ensure_future(each()) for each in (search, listen)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _received(socket: WebSocket) -> dict[str, Any]:
    """Return the JSON object that a client sends."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"])
    return parsed(message.get("bytes") or (message.get("text") or "").encode())
