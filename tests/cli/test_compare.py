"""The claims about `iacta compare`."""

import csv
import io
import json
from fractions import Fraction

import pytest

from iacta import Battle
from iacta.methods import methods_of
from iacta.rules.variants import find_rules
from tests.cli.run import Run

ROLLED = list(methods_of(find_rules("classic")))


def test_it_begins_with_the_answer(run: Run) -> None:
    lines = run("compare 12 10").stdout.splitlines()
    assert lines[0] == "12 armies beat 10 with a chance of 65.38%."
    assert [line.split()[0] for line in lines[3:]] == ROLLED
    assert lines[3].split()[1:3] == ["0.6538260547697077", "exact"]


def test_who_sees_first_is_solved_by_two_methods(run: Run) -> None:
    lines = run("compare 11 10 --rules defender-sees-first").stdout.splitlines()
    assert lines[0] == "11 armies beat 10 with a chance of 45.29% (defender sees first)."
    assert [line.split()[0] for line in lines[3:]] == list(
        methods_of(find_rules("defender sees first"))
    )


def test_what_cannot_solve_it_says_why(run: Run) -> None:
    text = run("compare 12 10 --rules capital").stdout
    assert "Methods that cannot solve it:" in text
    assert "closed_form: rules must keep 3 attack dice and 2 defence dice" in text


@pytest.mark.parametrize("line", ["compare 30 20", "compare 12 10 --rules capital --garrison 0"])
def test_errors_are_those_against_the_exact_chance(run: Run, line: str) -> None:
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


def test_csv_has_a_line_for_each_method(run: Run) -> None:
    rows = list(csv.reader(io.StringIO(run("compare 3 1 --csv").stdout)))
    heading = ["method", "win_probability", "relative_error", "bound", "seconds", "cannot"]
    assert rows[0] == heading
    assert [row[0] for row in rows[1:]] == ROLLED
    assert rows[1][1] == repr(1955 / 2592)


def test_armies_that_can_grow(run: Run) -> None:
    lines = run("compare 12 10 --rules five-ones").stdout.splitlines()
    assert lines[0] == "12 armies beat 10 with a chance of 65.40% (five ones)."
    solved = [line.split()[0] for line in lines[3:5]]
    assert solved == ["markov", "simulation"]


@pytest.mark.slow
def test_any_size(run: Run) -> None:
    text = run("compare 853400001 1000000000").stdout
    assert text.startswith("853400001 armies beat 1000000000 with a chance of 37.67%.")
    assert "not known" in text
    slow = run("compare 1000 1000").stdout
    assert "counting: left out: it would take more than a few seconds" in slow


def test_too_few_to_attack_and_too_many_for_all(run: Run) -> None:
    assert run("compare 1 5").stdout.startswith("1 army beats 5 with a chance of 0%.")
    text = run(f"compare {10**20} {10**20}").stdout
    assert text.startswith("No method can solve it:")


def test_balanced_blitz_is_solved_by_one_method_alone(run: Run) -> None:
    refused = run("compare 12 10 --rules balanced-blitz")
    assert refused.code == 2
    assert refused.stderr == (
        "iacta: rules with balanced blitz cannot be used to compare methods\n"
    )
