"""Lines: a search answers as it improves, each line an object of JSON.

With `Accept: application/x-ndjson` the answer to a search begins at once. It has lines
`{"progress": {"doing", "part", "keeps"}}` and `{"answer": ...}`: the answer so far whenever the
search has improved it, and the final answer in the last line. A search that fails has
`{"problem": ...}` as its last line. Closing the connection ends the search.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from json import dumps
from typing import Any

from fastapi import Request
from starlette.responses import StreamingResponse

from iacta.web.problems import problem_of
from iacta.web.process_pool import Work
from iacta.web.worker import Progress

LINES = "application/x-ndjson"


def wants_lines(request: Request) -> bool:
    return LINES in request.headers.get("accept", "")


def answer_in_lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: Mapping[str, Any],
) -> StreamingResponse:
    """Return the response that improves.

    work: what searches.
    function: the search, as `Work.search` takes it.
    body: its argument.
    """
    # A proxy that waits for the end of an answer would hold up its beginning.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_lines(work, function, body), media_type=LINES, headers=headers)


async def _lines(
    work: Work,
    function: Callable[..., Mapping[str, Any]],
    body: Mapping[str, Any],
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
            answer = await work.search(function, body, report=report)
            lines.put_nowait({"answer": answer})
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
