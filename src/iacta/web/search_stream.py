"""Lines: a search answers as it improves, each line an object of JSON.

With `Accept: application/x-ndjson` the answer to a search begins at once. It has lines
`{"progress": {"doing", "part", "keeps"}}`, with the chance so far as `part`, and `{"answer": ...}`:
one after a short time, and better ones as long as there is time; or, where an answer has many
parts, those that are known so far. A search that cannot be begun or ended has `{"problem": ...}` as
its last line. Who has seen enough leaves; that ends the search.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from json import dumps
from typing import Any

from fastapi import Request
from starlette.responses import StreamingResponse

from iacta.web.limits import MOST_PLAN_SECONDS, USUAL_PLAN_SECONDS
from iacta.web.problems import problem_of
from iacta.web.process_pool import Work
from iacta.web.worker import Progress

LINES = "application/x-ndjson"
FIRST_SECONDS = 0.5  # of the first answer
LAST = ("is_proven", "proven", "is_complete")
LONGER = 4  # times as long as one before it takes each answer


def wants_lines(request: Request) -> bool:
    return LINES in request.headers.get("accept", "")


def answer_in_lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: Mapping[str, Any],
    first: float | None = FIRST_SECONDS,
) -> StreamingResponse:
    """Return the response that improves.

    work: what searches.
    function: what is searched, as `Work.search` takes it; an answer that is proven or complete is
        the last.
    body: its argument, with a `time_limit` for all answers together.
    first: how many seconds the first answer takes; `None` for a search that says what it has so
        far.
    """
    # A proxy that waits for the end of an answer would hold up its beginning.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_lines(work, function, body, first), media_type=LINES, headers=headers)


async def _lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: Mapping[str, Any],
    first: float | None,
) -> AsyncIterator[str]:
    lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def report(progress: Progress) -> None:
        line = progress._asdict()
        so_far = line.pop("so_far")
        lines.put_nowait({"progress": line})
        if so_far is not None:
            lines.put_nowait({"answer": so_far})

    async def search() -> None:
        try:
            limits = [{}] if first is None else _limits(body.get("time_limit"), first)
            for limit in limits:
                answer = await work.search(function, {**body, **limit}, report=report)
                lines.put_nowait({"answer": answer})
                if any(map(answer.get, LAST)):
                    break
        except Exception as error:
            lines.put_nowait({"problem": problem_of(error).record()})
        lines.put_nowait(None)

    task = asyncio.ensure_future(search())
    try:
        while (line := await lines.get()) is not None:
            yield f"{dumps(line)}\n"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _limits(given: Any, first: float) -> Iterator[dict[str, float]]:
    """Yield the time limit of each answer; what is no time is left to whoever reads it."""
    is_time = isinstance(given, int | float) and not isinstance(given, bool) and given >= 0
    if given is not None and not is_time:
        yield {}
        return
    left = min(USUAL_PLAN_SECONDS if given is None else given, MOST_PLAN_SECONDS)
    limit = first
    while LONGER * limit < left:
        yield {"time_limit": limit}
        left -= limit
        limit *= LONGER
    yield {"time_limit": left}
