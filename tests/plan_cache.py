"""A cache of plans that several tests need."""

from collections.abc import Iterator
from typing import Any

import pytest

from iacta import Plan, Turn, best_plan

FOUND: dict[str, Plan] = {}
REPORTS = ("progress", "improved")  # callbacks that do not affect the result


@pytest.fixture(autouse=True, scope="module")
def no_plan_twice() -> Iterator[None]:
    """Cache plans, so that tests of text, JSON, CSV and pages share a search."""

    def remembered(turn: Turn, goal: Any, **options: Any) -> Plan:
        asked = {name: each for name, each in options.items() if name not in REPORTS}
        key = repr((hash(turn.board), turn.to_code(), goal.record(), asked))
        if key not in FOUND:
            FOUND[key] = best_plan(turn, goal, **options)
        return FOUND[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iacta.questions.plan.question.best_plan", remembered)
        yield
