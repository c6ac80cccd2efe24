"""Curves and requirements from articles: their rows come from the library, their titles fit."""

import json
from collections.abc import Callable
from itertools import pairwise

import pytest

from iacta import IactaError, Rules, armies_needed, win_probability
from iacta.charts import Chart
from iacta.odds.needed import break_even_line
from iacta_literature import charts
from iacta_literature.charts.curves import spread_labels
from tests.charts.checks import get_only_table
from tests.charts.test_every_chart import example

OPEN = Rules(garrison=0)  # for sources that do not count the garrison


@pytest.mark.parametrize(
    "name", ["slices", "curves_by_delta", "curves_by_match_up", "curves_by_advantage"]
)
def test_curves_equal_the_library_s_chances(name: str) -> None:
    rows = get_only_table(example(name))
    assert len(rows) >= 8
    for row in rows:
        chance = win_probability(row["attackers"], row["defenders"])
        assert row["win_probability"] == pytest.approx(chance, rel=1e-13, abs=0)


def test_the_break_even_line_is_the_one_that_was_published() -> None:
    line = break_even_line(50, garrison=0)
    assert (line.intercept, line.slope) == pytest.approx((1.22040816, 0.85253301), abs=1e-8)
    assert [line.attackers[d - 1] for d in (15, 25, 35)] == [14, 23, 31]
    assert "about 0.85 attackers" in charts.break_even(50, 50, OPEN).title


def test_the_border_is_where_an_even_chance_begins() -> None:
    for row in get_only_table(example("break_even")):
        fewest, against = row["attackers"], row["defenders"]
        assert win_probability(fewest, against) >= 0.5 > win_probability(fewest - 1, against)


def test_slices_mark_the_fewest_favourites() -> None:
    chart = charts.slices([15, 25, 35], 50, OPEN)
    assert [row["attackers"] for row in get_only_table(chart) if row["is_fewest"]] == [31, 23, 14]
    assert chart.title.startswith("14, 23 and 31 attackers are enough")


def test_curves_by_delta_begin_with_one_attacker() -> None:
    assert min(row["attackers"] for row in get_only_table(example("curves_by_delta"))) == 1


def test_minimum_troops_are_the_armies_needed() -> None:
    for row in get_only_table(example("minimum_troops")):
        needed = armies_needed(row["defenders"], str(row["chance"]), str(row["rules"]))
        assert row["attackers"] == needed
        assert row["attackers_per_defender"] == needed / row["defenders"]


def test_the_ratio_divides_capital_by_classic() -> None:
    for row in get_only_table(example("minimum_troops_ratio")):
        asked = row["defenders"], str(row["chance"])
        assert row["ratio"] == armies_needed(*asked, "capital") / armies_needed(*asked)


def test_slices_name_no_one_who_lies_outside_the_picture() -> None:
    assert charts.slices([40], 20).title == "To be favourites, 20 are too few against 40 defenders."
    some = charts.slices([3, 40], 20).title
    assert some == (
        "5 attackers are enough to be favourites against 3 defenders; 20 are too few against 40."
    )
    assert charts.slices([1], 9).title.endswith("against 1 defender.")


def test_the_ratio_states_the_last_value_of_the_picture() -> None:
    last = [
        row["ratio"]
        for row in get_only_table(example("minimum_troops_ratio"))
        if row["defenders"] == 9
    ]
    assert (
        f"{min(last):.2f} to {max(last):.2f} times as many" in example("minimum_troops_ratio").title
    )
    assert "take 1.00 times as many" in charts.minimum_troops_ratio(2, ["50%"]).title


@pytest.mark.parametrize(
    "name", ["slices", "minimum_troops_ratio", "minimum_troops", "curves_by_delta"]
)
def test_each_line_has_its_label_at_its_end(name: str) -> None:
    spec = json.dumps(example(name).to_dict())
    lines = {
        row.get("chance", row.get("delta", row["defenders"]))
        for row in get_only_table(example(name))
    }
    assert '"legend": null' in spec
    assert len(lines) > 1
    assert '"text"' in spec


def test_labels_keep_their_distance_and_their_order() -> None:
    placed = spread_labels([0.5, 0.51, 0.5, 1.0, 0.99], 0.1, 0, 1)
    ordered = sorted(placed)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert ordered[-1] <= 1
    assert placed[1] > placed[0]


def test_impossible_drawings_are_refused() -> None:
    refused: tuple[Callable[[], Chart], ...] = (
        lambda: charts.curves_by_delta([], 5),
        lambda: charts.curves_by_delta(range(21), 5),
        lambda: charts.curves_by_delta([-5], 5),
        lambda: charts.curves_by_advantage([8], 8),
        lambda: charts.break_even(5, 1),
        lambda: charts.minimum_troops(5, []),
    )
    for draw in refused:
        with pytest.raises(IactaError):
            draw()
