"""Searches that stream improving answers, one JSON object per line.

The response to a request with `Accept: application/x-ndjson` begins immediately. Its lines are
`{"progress": {"doing", "part", "keeps"}}` and, after each improvement, `{"answer": ...}`. The last
line is the final answer, or `{"problem": ...}` if the search fails. Closing the connection ends the
search.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from json import dumps

from fastapi import Request
from starlette.responses import StreamingResponse

from iacta.web.problems import describe_problem
from iacta.web.process_pool import Work
from iacta.web.worker import Progress

LINES = "application/x-ndjson"


def wants_lines(request: Request) -> bool:
    return LINES in request.headers.get("accept", "")


def answer_in_lines(work: Work, function: Callable[..., bytes], *args: object) -> StreamingResponse:
    """Return a response that streams the answer to a search.

    work: the worker processes.
    function: a function that returns the answer as JSON and reports progress to its argument
        `watch`.
    args: the other arguments of the function.
    """
    # This header prevents nginx from buffering the response.
    headers = {"X-Accel-Buffering": "no"}
    lines = _write_lines(work, function, *args)
    return StreamingResponse(lines, media_type=LINES, headers=headers)


async def _write_lines(
    work: Work, function: Callable[..., bytes], *args: object
) -> AsyncIterator[str]:
    # The newest unsent line of each kind. A slow client does not get older lines.
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
            answer = await work.search(function, *args, report=report)
            tell("answer", answer.decode())
        except Exception as error:
            tell("problem", dumps(describe_problem(error).record()))
        unsent.pop("progress", None)  # the final answer or the problem replaces progress
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
