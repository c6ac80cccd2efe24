"""A client that goes away: its answer is no longer computed."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import Request

from iacta.web.limits import QUICK_SECONDS

T = TypeVar("T")


class GoneError(Exception):
    """The client has gone away; nobody reads the answer."""


async def while_there(request: Request, job: Awaitable[T]) -> T:
    """Return the result of a job; cancel the job if the client disconnects.

    request: of the client, whose body has been read.
    job: such as `Work.run` returns.

    A quick job is not cancelled: while a user types, each key closes a request, and would end a
    process.
    """
    done = asyncio.ensure_future(job)
    await asyncio.wait((done,), timeout=QUICK_SECONDS)
    if done.done():
        return done.result()
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            return done.result()
        raise GoneError
    finally:
        gone.cancel()
        done.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
