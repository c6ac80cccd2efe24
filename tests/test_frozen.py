"""iacta answers as it did before the rebuild of November 2026."""

from itertools import islice

import pytest

from tests.frozen.case import KINDS, answer, differences, read_cases

CASES = {
    f"{kind}: {asked}": (kind, asked, expected)
    for kind in KINDS
    for asked, expected in read_cases(kind).items()
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_it_answers_as_before(case: str) -> None:
    kind, asked, expected = CASES[case]
    found = islice(differences(answer(kind, asked), expected), 10)
    assert not (told := list(found)), "\n".join(told)
