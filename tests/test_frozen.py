"""iacta answers as recorded, until an answer is changed on purpose."""

from itertools import islice

import pytest

from tests.frozen.case import KINDS, answer, differences, read_cases
from tests.once import no_plan_twice

__all__ = ["no_plan_twice"]

CASES = {
    f"{kind}: {asked}": (kind, asked, expected)
    for kind in KINDS
    for asked, expected in read_cases(kind).items()
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_it_answers_as_recorded(case: str) -> None:
    kind, asked, expected = CASES[case]
    found = islice(differences(answer(kind, asked), expected), 10)
    assert not (said := list(found)), "\n".join(said)


def test_what_is_refused_gets_one_short_sentence() -> None:
    for line, refused in read_cases("refusal").items():
        assert list(refused) == ["code", "stdout", "stderr"], f"{line} writes nothing"
        assert (refused["code"], refused["stdout"]) == (2, []), line
        assert refused["stderr"].startswith("iacta: "), line
        assert refused["stderr"].count("\n") == 1, line
        assert len(refused["stderr"]) < 400, line


def test_what_the_library_refuses_gets_one_short_sentence() -> None:
    for asked, found in read_cases("value").items():
        if isinstance(found, dict) and "refused" in found:
            assert found["says"].isprintable(), asked
            assert len(found["says"]) < 400, asked
