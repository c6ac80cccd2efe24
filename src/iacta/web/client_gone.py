"""Cancels the computation of an answer if its client disconnects."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import Request

from iacta.web.limits import QUICK_SECONDS

T = TypeVar("T")


class GoneError(Exception):
    """The client has disconnected, so nobody will read the answer."""


async def run_while_connected(request: Request, job: Awaitable[T]) -> T:
    """Return the result of a job, but cancel the job if the client disconnects.

    request: the client's request; its body must have been read.
    job: an awaitable, such as a call of `Work.run`.

    During the first `QUICK_SECONDS` a job is not cancelled, because cancelling ends a process, and
    a user who types disconnects at every key.
    """
    done = asyncio.ensure_future(job)
    await asyncio.wait((done,), timeout=QUICK_SECONDS)
    if done.done():
        return done.result()
    gone = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            return done.result()
        raise GoneError
    finally:
        gone.cancel()
        done.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
