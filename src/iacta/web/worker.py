"""What a process of the server computes: the parts of an answer that were asked for."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from iacta import charts
from iacta.answers.question import Answer, Question, Watch
from iacta.charts.files import content
from iacta.charts.theme import sketched
from iacta.files import csv_rows

__all__ = ["PARTS", "Part", "Parts", "answered"]

Part: TypeAlias = Literal["record", "sections", "rows", "spec", "svg", "dark_svg"]
PARTS: tuple[Part, ...] = ("record", "sections", "rows", "spec", "svg", "dark_svg")
Parts: TypeAlias = dict[str, Any]


def answered(question: Question, parts: Sequence[Part], watch: Watch | None = None) -> Parts:
    """Return parts of the answer to a question, each as plain data that can be sent on.

    question: the question.
    parts: which parts: `"record"` as JSON, `"sections"` for people, `"rows"` as CSV, the picture as
        a Vega-Lite specification (`"spec"`, for a light page; a page gives it another theme) or as
        `"svg"`, or `"dark_svg"` on a dark ground.
    watch: receives progress.
    """
    if any(part in ("spec", "svg", "dark_svg") for part in parts):
        question.check_chart()
    answer = question.answer(watch)
    return {"is_whole": answer.is_whole} | {part: _part(answer, part) for part in parts}


def _part(answer: Answer, part: Part) -> Any:
    if part == "record":
        return json.dumps(answer.record())
    if part == "sections":
        return list(answer.sections())
    if part == "rows":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(csv_rows(answer.rows()))
        return text.getvalue()
    with sketched():
        chart = answer.draw(charts)
    kind = "json" if part == "spec" else "svg"
    return content(chart, kind, dark=part == "dark_svg").decode()
