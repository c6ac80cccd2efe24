"""`iacta fronts`: how armies are divided among fronts."""

import csv
import io
import json
from pathlib import Path

import pytest

from iacta import Front, defend_fronts
from tests.cli.run import Run


def test_it_begins_with_the_division(run: Run) -> None:
    lines = run("fronts 15:3 8 --armies 20").stdout.splitlines()
    assert lines[:2] == [
        "Put 4, 2 and 6 against the 15 armies and 8 against the 8 armies: a front falls with a "
        "chance of 78.85%.",
        "No other division is better.",
    ]
    assert lines[3] == "The chance that each front falls:"
    assert lines[4].startswith("15 attackers, 3 in a row  4 2 6    61.9%")
    assert run("fronts 1 --armies 3").stdout.startswith(
        "Put 3 against the 1 army: the front holds."
    )


def test_the_other_objective_counts_territories(run: Run) -> None:
    lines = run("fronts 12:2 9:any2 --armies 12 --objective territories").stdout.splitlines()
    fronts = [Front(12, 2), Front(9, 2, "any")]
    best = defend_fronts(12, fronts, objective="territories")
    assert f": {best.value:.2f} of at most 3 territories are lost on average." in lines[0]
    assert lines[3] == "The share of the territories that each takes on average:"


def test_armies_that_are_there_stay(run: Run) -> None:
    lines = run("fronts 9/4 9/4 20/8/3/2:end --armies 10").stdout.splitlines()
    assert lines[0] == (
        "Put 4 more (8 in total) against the 9 armies; 4 more (8 in total) against the 9 armies; "
        "and 0, 0 and 2 more (8, 3 and 4 in total) against the 20 armies: a front falls "
        "with a chance of 95.09%."
    )


def test_a_front_has_rules_from_a_file(run: Run, tmp_path: Path) -> None:
    house = tmp_path / "house.toml"
    house.write_text("[defence]\nfaces = [6, 6, 6]\n")
    line = "fronts 9:1:{} 5 --armies 10 --json"
    record = json.loads(run(line.format(house)).stdout)
    assert record["fronts"][0].pop("rules") == "capital"
    expected = json.loads(run(line.format("capital")).stdout)
    assert record["fronts"][0].pop("value") == expected["fronts"][0]["value"]
    refused = run(line.format("none.toml"))
    assert refused == (2, "", "iacta: cannot read 'none.toml': no such file\n")


def test_fronts_for_programs(run: Run) -> None:
    line = "fronts 9:2 5:1:capital --armies 10 --garrison 2 --exact"
    fronts = [Front(9, 2), Front(5, rules="capital")]
    best = defend_fronts(10, fronts, garrison=2, exact=True)
    record = json.loads(run(f"{line} --json").stdout)
    assert record == {
        "armies": 10,
        "objective": "break through",
        "garrison": 2,
        "rules": "classic",
        "fronts": [
            {
                "attackers": each.front.attackers,
                "territories": each.front.territories,
                "shape": "chain",
                "rules": rules,
                "held": [],
                "spread": list(each.spread),
                "value": float(each.value),
                "value_exact": str(each.value),
            }
            for each, rules in zip(best.fronts, ("classic", "capital"), strict=True)
        ],
        "value": float(best.value),
        "value_exact": str(best.value),
        "is_exact": True,
    }
    rows = list(csv.reader(io.StringIO(run(f"{line} --csv").stdout)))
    assert rows[0] == ["front", "spread", "value"]
    assert [row[0] for row in rows[1:]] == ["9:2", "5:1:capital"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("8", "missing --armies"),
        ("--armies 5", "missing FRONT"),
        (
            "8:2 --armies 1",
            "--armies must be at least one for each of 2 territories without any, got 1",
        ),
        ("8:x --armies 3", "territories must be a whole number of at least 1, got 'x'"),
        ("8 --armies 3 --objective glory", "--objective must be break-through or territories"),
        ("8/3:2 --armies 3", "held must have one number for each of 2 territories, got (3,)"),
        ("8/x --armies 3", "held must be a whole number of at least 0, got 'x'"),
    ],
)
def test_wrong_questions_are_refused(run: Run, line: str, sentence: str) -> None:
    result = run(f"fronts {line}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"iacta: {sentence}")
