"""iacta answers as it did before the rebuild of November 2026."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from iacta import Plan, Position, best_plan
from tests.frozen.case import KINDS, answer, differences, read_cases

CASES = {
    f"{kind}: {asked}": (kind, asked, expected)
    for kind in KINDS
    for asked, expected in read_cases(kind).items()
}


@pytest.fixture(autouse=True, scope="module")
def _no_plan_twice() -> Iterator[None]:
    """Look once for a plan that is told as a text, as JSON and as CSV."""
    plans: dict[str, Plan] = {}

    def remembered(position: Position, goal: Any, **options: Any) -> Plan:
        asked = {name: each for name, each in options.items() if name != "progress"}
        key = repr((hash(position), goal.record(), asked))
        if key not in plans:
            plans[key] = best_plan(position, goal, **options)
        return plans[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iacta.questions.plan.best_plan", remembered)
        yield


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_it_answers_as_before(case: str) -> None:
    kind, asked, expected = CASES[case]
    found = islice(differences(answer(kind, asked), expected), 10)
    assert not (told := list(found)), "\n".join(told)


def test_what_is_refused_gets_one_short_sentence() -> None:
    for line, refused in read_cases("refusal").items():
        assert list(refused) == ["code", "stdout", "stderr"], f"{line} writes nothing"
        assert (refused["code"], refused["stdout"]) == (2, []), line
        assert refused["stderr"].startswith("iacta: "), line
        assert refused["stderr"].count("\n") == 1, line
        assert len(refused["stderr"]) < 400, line
