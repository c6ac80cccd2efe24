"""The lines of a search: a client that reads slowly gets the newest ones."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from iacta.web.read_question import list_served_questions
from iacta.web.search_stream import answer_in_lines
from iacta.web.worker import Progress


class Searching:
    """Work that reports at once all that it ever finds."""

    async def search(self, *args: Any, report: Any) -> bytes:
        """Report much, and return the best."""
        for k in range(1000):
            await report(Progress(f"{k}", None, keeps=False, so_far=json.dumps({"value": k})))
        return json.dumps({"value": 1000}).encode()


def test_only_the_newest_lines_wait_for_a_client() -> None:
    async def read() -> list[Any]:
        work: Any = Searching()
        response = answer_in_lines(work, "plan", b"{}")
        return [json.loads(str(line)) async for line in response.body_iterator]

    lines = asyncio.run(read())
    assert len(lines) < 5
    assert lines[-1] == {"answer": {"value": 1000}}


def test_the_docs_name_every_search() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text("utf-8")
    (named,) = re.findall(r"\n\n(`/api/v1/[^.]*) are searches\. They answer a `POST`", page)
    searches = {name for name, form in list_served_questions().items() if form.is_search}
    assert {*re.findall(r"`/api/v1/(\w+)`", named)} == searches
