"""Tests of `iacta compare`."""

import json
from fractions import Fraction

import pytest

from iacta import Battle
from iacta.methods import list_methods
from iacta.rules.variants import find_rules
from tests.cli.run import Run

ROLLED = list(list_methods(find_rules("classic")))


@pytest.mark.parametrize("line", ["compare 30 20", "compare 12 10 --rules capital --garrison 0"])
def test_errors_are_relative_to_the_exact_chance(run: Run, line: str) -> None:
    record = json.loads(run(f"{line} --json").stdout)
    battle = Battle(
        record["attackers"], record["defenders"], record["rules"], garrison=record["garrison"]
    )
    exact = battle.win_probability(exact=True)
    assert Fraction(record["win_probability_exact"]) == exact
    assert [answer["method"] for answer in record["methods"]] == ROLLED
    for answer in record["methods"]:
        assert list(answer) == [
            "method",
            "win_probability",
            "relative_error",
            "bound",
            "seconds",
            "cannot",
        ]
        if answer["cannot"]:
            assert answer["win_probability"] is answer["seconds"] is None
        elif answer["bound"] is not None:
            assert answer["seconds"] > 0
            assert answer["relative_error"] <= answer["bound"]
            error = abs(Fraction(answer["win_probability"]) / Fraction(exact) - 1)
            assert float(error) == pytest.approx(answer["relative_error"], abs=2e-16)
