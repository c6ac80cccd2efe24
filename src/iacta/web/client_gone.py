"""Cancellation of the computation if the client disconnects."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import Request

from iacta.web.limits import QUICK_SECONDS

T = TypeVar("T")


class GoneError(Exception):
    """Raised if the client has disconnected."""


async def run_while_connected(request: Request, job: Awaitable[T]) -> T:
    """Return the result of a job; cancel the job if the client disconnects.

    request: the client's request; its body must have been read.
    job: an awaitable, such as a call of `Work.run`.

    A job is not cancelled during its first `QUICK_SECONDS`. Cancelling ends a process, and a page
    disconnects at every key while the user types.
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
