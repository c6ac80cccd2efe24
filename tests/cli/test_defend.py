"""`iacta defend`: the fewest defenders, and the best spread over a chain."""

import csv
import io
import json
from fractions import Fraction

import pytest

from iacta import Battle, defenders_needed, spread_defenders
from iacta.odds.spread import spread_value
from tests.cli.run import Run


def test_it_begins_with_the_fewest_defenders(run: Run) -> None:
    lines = run("defend 12 --chance 90%").stdout.splitlines()
    assert lines[0] == (
        "You need 21 defenders to hold against 12 armies with a chance of at least 90%: "
        "with 21 it is 91.35%."
    )
    assert lines[2].startswith("18 defenders    82.7%")
    assert run("defend 12").stdout == run("defend 12 --chance 95%").stdout
    assert run("defend 1").stdout == "1 army cannot attack: 1 must stay behind.\n"


def test_the_fewest_defenders_for_programs(run: Run) -> None:
    line = "defend 12 --chance 4/5 --rules capital --garrison 2 --exact"
    record = json.loads(run(f"{line} --json").stdout)
    defenders = defenders_needed(12, 0.8, "capital", garrison=2)
    won = Battle(12, defenders, "capital", garrison=2).win_probability(exact=True)
    assert record == {
        "attackers": 12,
        "chance": 0.8,
        "garrison": 2,
        "rules": "capital",
        "defenders": defenders,
        "hold_probability": float(1 - won),
        "hold_probability_exact": str(1 - won),
    }
    heading, row = csv.reader(io.StringIO(run(f"{line} --csv").stdout))
    assert heading == ["attackers", "chance", "garrison", "rules", "defenders", "hold_probability"]
    assert Fraction(row[-1]) == 1 - won


def test_it_begins_with_the_best_spread(run: Run) -> None:
    lines = run("defend 40 --armies 30 --territories 6").stdout.splitlines()
    assert lines[0] == (
        "Put 10 2 2 2 2 12 armies: 40 attackers then break through with a chance of 85.46% at best."
    )
    assert lines[1] == "Only 12 2 2 2 2 10 is as good."
    assert any(line.startswith("even           5 5 5 5 5 5      86.2%") for line in lines)


def test_the_other_objective_counts_territories(run: Run) -> None:
    lines = run("defend 20 --armies 12 --territories 4 --objective territories").stdout.splitlines()
    best = spread_defenders(20, 12, 4, objective="territories")
    assert f"take {best.value:.2f} of 4 territories on average at best." in lines[0]
    through = "defend 20 --armies 12 --territories 4 --objective break-through"
    assert run(through).stdout == run(through.rpartition(" --")[0]).stdout


def test_the_best_spread_for_programs(run: Run) -> None:
    line = "defend 12 --armies 12 --territories 3 --exact"
    record = json.loads(run(f"{line} --json").stdout)
    best = spread_defenders(12, 12, 3, exact=True)
    others = record.pop("others")
    assert record == {
        "attackers": 12,
        "armies": 12,
        "territories": 3,
        "objective": "break through",
        "garrison": 1,
        "rules": "classic",
        "spreads": [list(spread) for spread in best.spreads],
        "count": 2,
        "value": float(best.value),
        "value_exact": str(best.value),
        "is_exact": True,
    }
    assert others[0]["name"] == "even"
    for other in others:
        assert other["value"] == spread_value(12, other["spread"])
    rows = list(csv.reader(io.StringIO(run(f"{line} --csv").stdout)))
    assert rows == [["spread", "value"], ["4 2 6", str(best.value)], ["6 2 4", str(best.value)]]


def test_a_search_says_that_it_is_one(run: Run) -> None:
    lines = run("defend 30 --armies 40 --territories 9").stdout.splitlines()
    assert lines[1] == ("No better spread was found, but this one is not proven to be the best.")


def test_attackers_without_a_chance_are_told_so(run: Run) -> None:
    assert run("defend 3 --armies 12 --territories 3").stdout == (
        "3 attackers cannot break through, however the armies are spread.\n"
    )
    told = run("defend 1 --armies 12 --territories 3 --objective territories").stdout
    assert told == "1 attacker cannot take a territory, however the armies are spread.\n"


def test_where_there_is_but_one_spread_none_is_compared(run: Run) -> None:
    for line in ("9 --armies 4 --territories 1", "9 --armies 4 --territories 4"):
        lines = run(f"defend {line}").stdout.splitlines()
        assert lines[1:] == ["There is no other spread."]
    others = json.loads(run("defend 9 --armies 4 --territories 2 --json").stdout)["others"]
    assert [other["spread"] for other in others] == [[2, 2], [3, 1]]
    assert [other["name"] for other in others] == ["even", "at one end"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "12 --armies 3",
            "--armies also needs --territories\n",
        ),
        (
            "12 --territories 3",
            "--territories also needs --armies\n",
        ),
        ("12 --objective territories", "--objective also needs --armies\n"),
        ("12 --chance 50% --armies 3 --territories 2", "--chance cannot be combined with"),
        ("12 --armies 9 --territories 3 --objective glory", "--objective must be break-through or"),
        (
            "12 --armies 2 --territories 3",
            "--armies must be at least one for each of the 3 territories",
        ),
        ("12 --armies many --territories 3", "--armies must be a whole number of at least 1"),
        ("0", "attackers must be a whole number of at least 1, got 0"),
        ("12 --chance 100%", "--chance must lie between 0 and 1, both excluded, got '100%'"),
    ],
)
def test_wrong_questions_are_refused(run: Run, line: str, sentence: str) -> None:
    result = run(f"defend {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"iacta: {sentence}")
