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
from iacta.web.worker import Progress, read_time_limit, search_once

LINES = "application/x-ndjson"
FIRST_SECONDS = 0.5  # of the first answer
LONGER = 4  # times as long as one before it takes each answer


def wants_lines(request: Request) -> bool:
    return LINES in request.headers.get("accept", "")


async def answer_in_lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: bytes,
    first: float | None = FIRST_SECONDS,
) -> StreamingResponse:
    """Return the response that improves.

    work: what searches.
    function: the search, as `search_once` takes it; a proven or complete answer is the last.
    body: its argument as JSON, with a `time_limit` for all answers together.
    first: how many seconds the first answer takes; `None` for a search that says what it has so
        far.
    """
    given = await work.run(read_time_limit, body)
    limits: list[float | None] = [None] if first is None else [*_limits(given, first)]
    # A proxy that waits for the end of an answer would hold up its beginning.
    headers = {"X-Accel-Buffering": "no"}
    lines = _lines(work, function, body, limits)
    return StreamingResponse(lines, media_type=LINES, headers=headers)


async def _lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: bytes,
    limits: list[float | None],
) -> AsyncIterator[str]:
    # The newest line of each kind: a slow client misses older lines.
    unsent: dict[str, str] = {}
    has_news, is_over = asyncio.Event(), False

    def tell(kind: str, text: str) -> None:
        unsent[kind] = text
        has_news.set()

    async def report(progress: Progress) -> None:
        line = progress._asdict()
        so_far = line.pop("so_far")
        tell("progress", dumps(line))
        if so_far is not None:
            tell("answer", so_far)

    async def search() -> None:
        nonlocal is_over
        try:
            for limit in limits:
                found = await work.search(search_once, function, body, limit, report=report)
                tell("answer", found.answer)
                if found.is_last:
                    break
        except Exception as error:
            tell("problem", dumps(problem_of(error).record()))
        unsent.pop("progress", None)  # the last line has an answer or a problem
        is_over = True
        has_news.set()

    task = asyncio.ensure_future(search())
    try:
        while not is_over:
            await has_news.wait()
            has_news.clear()
            while unsent:
                kind = next(iter(unsent))
                yield f'{{"{kind}": {unsent.pop(kind)}}}\n'
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _limits(given: float | None, first: float) -> Iterator[float]:
    """Yield the time limit of each answer."""
    left = min(USUAL_PLAN_SECONDS if given is None else given, MOST_PLAN_SECONDS)
    limit = first
    while LONGER * limit < left:
        yield limit
        left -= limit
        limit *= LONGER
    yield left
