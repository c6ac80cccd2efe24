"""The lines of a search: a client that reads slowly gets the newest ones."""

import asyncio
import json
from typing import Any

from iacta.web.search_stream import answer_in_lines
from iacta.web.worker import SearchAnswer, Progress


class Searching:
    """Work that reports at once all that it ever finds."""

    async def run(self, function: Any, *args: Any) -> None:
        """Find no time limit."""

    async def search(self, *args: Any, report: Any) -> SearchAnswer:
        """Report much, and return the best."""
        for k in range(1000):
            await report(Progress(f"{k}", None, keeps=False, so_far=json.dumps({"value": k})))
        return SearchAnswer(json.dumps({"value": 1000}), is_last=True)


def test_only_the_newest_lines_wait_for_a_client() -> None:
    async def read() -> list[Any]:
        work: Any = Searching()
        response = await answer_in_lines(work, dict, b"{}", None)
        return [json.loads(str(line)) async for line in response.body_iterator]

    lines = asyncio.run(read())
    assert len(lines) < 5
    assert lines[-1] == {"answer": {"value": 1000}}
