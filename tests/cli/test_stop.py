"""Stops on the command line: what is said, listed and refused."""

import csv
import json
from itertools import count
from pathlib import Path

import pytest

from iacta import Battle, Campaign, Stop, spread_defenders
from iacta.odds.spread import spread_value
from iacta.questions.percentages import bar_percent
from tests.cli.run import Run

STOPS = {
    "--stop-at 2": Stop(stop_at=2),
    "--charge": Stop(charge=True),
    "--max-losses 4": Stop(max_losses=4),
    "--max-rolls 3": Stop(max_rolls=3),
    "--stop-at 1 --max-rolls 4": Stop(stop_at=1, max_rolls=4),
}


@pytest.mark.parametrize("option", STOPS)
@pytest.mark.parametrize("way", [[2], [2, 1]], ids=["battle", "campaign"])
def test_the_fewest_attackers_who_may_stop_are_those_of_a_scan(
    run: Run, option: str, way: list[int], tmp_path: Path
) -> None:
    def won(attackers: int) -> float:
        return float(Campaign(attackers, way, stop=STOPS[option]).win_probability())

    line = f"need {' '.join(map(str, way))} --chance 30% {option}"
    record = json.loads(run(f"{line} --json").stdout)
    assert record["attackers"] == next(n for n in count(1) if won(n) >= 0.3)
    assert record["win_probability"] == pytest.approx(won(record["attackers"]), rel=1e-12)
    lines = run(line).stdout.splitlines()
    more = record["attackers"] + 1
    assert any(
        each.startswith(f"{more} armies") and bar_percent(won(more)) in each for each in lines
    )
    assert run(f"{line} --plot {tmp_path / 'drawn.csv'}").code == 0
    for point in drawn(tmp_path):
        assert float(point["probability"]) == pytest.approx(won(int(point["attackers"])))


@pytest.mark.parametrize("option", STOPS)
def test_armies_that_are_left_are_those_of_attackers_who_may_stop(run: Run, option: str) -> None:
    def kept(attackers: int) -> float:
        outcomes = Battle(attackers, 2, stop=STOPS[option]).outcomes()
        return float(outcomes.prob(lambda end: not end.defenders and end.attackers >= 4))

    record = json.loads(run(f"need 2 --chance 30% --keep 3 {option} --json").stdout)
    assert record["attackers"] == next(n for n in count(1) if kept(n) >= 0.3)
    assert record["win_probability"] == pytest.approx(kept(record["attackers"]), rel=1e-12)


@pytest.mark.parametrize("option", STOPS)
def test_the_fewest_defenders_against_who_may_stop_are_those_of_a_scan(
    run: Run, option: str, tmp_path: Path
) -> None:
    def held(defenders: int) -> float:
        return 1 - float(Battle(9, defenders, stop=STOPS[option]).win_probability())

    line = f"defend 9 --chance 90% {option}"
    record = json.loads(run(f"{line} --json").stdout)
    assert record["defenders"] == next(n for n in count(1) if held(n) >= 0.9)
    assert record["hold_probability"] == pytest.approx(held(record["defenders"]), rel=1e-12)
    lines = run(line).stdout.splitlines()
    more = record["defenders"] + 1
    assert any(
        each.startswith(f"{more} defenders") and bar_percent(held(more)) in each for each in lines
    )
    assert run(f"{line} --plot {tmp_path / 'drawn.csv'}").code == 0
    for point in drawn(tmp_path):
        assert float(point["probability"]) == pytest.approx(held(int(point["defenders"])))


@pytest.mark.parametrize("option", STOPS)
def test_the_best_spread_is_against_attackers_who_may_stop(run: Run, option: str) -> None:
    stop = STOPS[option]
    record = json.loads(run(f"defend 12 --armies 7 --territories 2 {option} --json").stdout)
    values = {(n, 7 - n): spread_value(12, (n, 7 - n), stop=stop) for n in range(1, 7)}
    best = spread_defenders(12, 7, 2, stop=stop)
    assert record["spreads"] == [list(spread) for spread in best.spreads]
    assert record["value"] == pytest.approx(min(values.values()), rel=1e-12)
    for other in record["others"]:
        assert other["value"] == pytest.approx(values[tuple(other["spread"])], rel=1e-12)


def drawn(folder: Path) -> list[dict[str, str]]:
    """Return the points of a picture that was written as CSV."""
    with (folder / "drawn.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
