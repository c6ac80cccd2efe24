"""The lines of a search: a slow client gets only the newest lines."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from iacta.web.question_page import write_page_as_json
from iacta.web.read_question import list_served_questions
from iacta.web.search_stream import answer_in_lines
from iacta.web.worker import Progress, answer_part


class Searching:
    """Work that reports all its results at once."""

    async def search(self, *args: Any, report: Any) -> bytes:
        """Report many results, and return the best."""
        for k in range(1000):
            await report(Progress(f"{k}", None, keeps=False, so_far=json.dumps({"value": k})))
        return json.dumps({"value": 1000}).encode()


def test_only_the_newest_lines_wait_for_a_client() -> None:
    async def read() -> list[Any]:
        work: Any = Searching()
        response = answer_in_lines(work, answer_part, "plan", b"{}", "record")
        return [json.loads(str(line)) async for line in response.body_iterator]

    lines = asyncio.run(read())
    assert len(lines) < 5
    assert lines[-1] == {"answer": {"value": 1000}}


def test_the_docs_name_every_search() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text("utf-8")
    (named,) = re.findall(r"\n\n(`/api/v1/[^.]*) are searches\. They answer a `POST`", page)
    searches = {name for name, form in list_served_questions().items() if form.is_search}
    assert {*re.findall(r"`/api/v1/(\w+)`", named)} == searches


def test_the_page_of_a_review_shows_results_as_they_come() -> None:
    battle = {"from": "Peru", "to": "Brazil", "left": 4, "their_left": 1, "dice": 3}
    line = json.dumps({"turn": "1;classic;red;Peru:red:5,Brazil:blue:2", "battles": [battle]})
    log, seen = "\n".join([line] * 3), list[tuple[float | None, str]]()

    def watch(doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None) -> None:
        del keeps
        assert doing == "Replaying 3 battles"
        seen.append((part, so_far.record()))

    final = json.loads(write_page_as_json("review", json.dumps({"log": log}).encode(), watch))
    # Two steps for each battle at each of two levels.
    parts = [battle / 6 for battle in range(1, 7) for _ in range(2)]
    assert [part for part, _ in seen] == pytest.approx(parts)
    assert "The review goes on: 2 rolls or battles are still to come." in seen[0][1]
    assert "The review goes on" not in final
    assert 'id="picture"' not in seen[0][1]
    assert 'id="picture"' in final
    wrong = json.loads(write_page_as_json("review", json.dumps({"log": "{}"}).encode(), watch))
    assert "line 1: turn must be the code of a turn" in wrong
