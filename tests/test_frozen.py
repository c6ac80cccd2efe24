"""Answers equal the recorded answers. After an intended change, record them again."""

from itertools import islice

import pytest

from tests.frozen.case import KINDS, answer, differences, read_cases
from tests.plan_cache import no_plan_twice

__all__ = ["no_plan_twice"]

CASES = {
    f"{kind}: {asked}": (kind, asked, expected)
    for kind in KINDS
    for asked, expected in read_cases(kind).items()
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_answers_equal_the_recorded_ones(case: str) -> None:
    kind, asked, expected = CASES[case]
    found = islice(differences(answer(kind, asked), expected), 10)
    assert not (said := list(found)), "\n".join(said)


def test_refusals_of_commands_are_one_short_sentence() -> None:
    for line, refused in read_cases("refusal").items():
        assert list(refused) == ["code", "stdout", "stderr"], f"{line} writes nothing"
        assert (refused["code"], refused["stdout"]) == (2, []), line
        assert refused["stderr"].startswith("iacta: "), line
        assert refused["stderr"].count("\n") == 1, line
        assert len(refused["stderr"]) < 400, line


def test_refusals_of_the_library_are_one_short_sentence() -> None:
    for asked, found in read_cases("value").items():
        if isinstance(found, dict) and "refused" in found:
            assert found["says"].isprintable(), asked
            assert len(found["says"]) < 400, asked
