"""Plans that tests of several files ask for, found once."""

from collections.abc import Iterator
from typing import Any

import pytest

from iacta import Plan, Position, best_plan

FOUND: dict[str, Plan] = {}
REPORTS = ("progress", "improved")  # callbacks, which change no plan


@pytest.fixture(autouse=True, scope="module")
def no_plan_twice() -> Iterator[None]:
    """Look once for a plan that is shown as a text, as JSON and as CSV, and on a page."""

    def remembered(position: Position, goal: Any, **options: Any) -> Plan:
        asked = {name: each for name, each in options.items() if name not in REPORTS}
        key = repr((hash(position), goal.record(), asked))
        if key not in FOUND:
            FOUND[key] = best_plan(position, goal, **options)
        return FOUND[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iacta.questions.plan.question.best_plan", remembered)
        yield
