"""Pictures of tables, curves and requirements: their rows are the library's, their titles true."""

import json
import struct
import zlib
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from altair import Undefined

from iacta import (
    Battle,
    IactaError,
    Rules,
    armies_needed,
    charts,
    find_rule_set,
    spread_defenders,
    win_probability,
    win_table,
)
from iacta.break_even import break_even_line
from iacta.charts.comparison import Solved
from iacta.charts.converter import convert
from iacta.charts.lines import apart
from iacta.charts.theme import AnyChart, shades

OPEN = Rules(garrison=0)  # as the sources that leave the garrison out
CHARTS = {
    "map": charts.win_chance_map(win_table(6, 5)),
    "break even": charts.break_even(12, 12),
    "slices": charts.slices([3, 6], 12),
    "delta": charts.curves_by_delta([-1, 0, 2], 8),
    "match-ups": charts.curves_by_match_up([1, 5], 8),
    "advantage": charts.curves_by_advantage([0, 1], 8),
    "troops": charts.minimum_troops(9, ["50%", "95%"]),
    "troops for each": charts.minimum_troops(9, ["50%"], ["classic"], per_defender=True),
    "ratio": charts.minimum_troops_ratio(9, ["50%", "95%"]),
    "attackers": charts.chance_by_attackers([5, 2], 14, Fraction(19, 20), keep=2),
    "defenders": charts.chance_by_defenders(6, 8, Fraction(3, 4)),
    "spread": charts.best_spread(spread_defenders(10, 12, 3), 10),
    "rules": charts.rule_sets(),
    "roll": charts.full_roll(find_rule_set("capital")),
    "methods": charts.methods_compared(
        Battle(4, 3),
        [Solved("counting", 0.5, 0.0, True, 1e-4), Solved("leap", 0.5, None, False, 1e-5)],
    ),
}


def title(chart: AnyChart) -> str:
    assert chart.title is not Undefined
    return " ".join(chart.title.text)


def only(chart: AnyChart) -> list[dict[str, Any]]:
    (rows,) = charts.chart_tables(chart).values()
    return [dict(row) for row in rows]


@pytest.mark.parametrize("name", CHARTS)
def test_specifications_are_valid(name: str) -> None:
    CHARTS[name].to_dict()  # Altair checks it against the schema of Vega-Lite


def pixels(png: bytes) -> bytes:
    """Return the bytes of a picture's pixels, as its filters left them."""
    place, data = 8, b""
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += length + 12
    return zlib.decompress(data)


@pytest.mark.parametrize("name", CHARTS)
def test_pictures_are_not_blank(name: str) -> None:
    made = pixels(convert(json.dumps(charts.specification(CHARTS[name])), "png"))
    assert len(set(made)) > 50
    assert made.count(0) < len(made) * 0.999


@pytest.mark.parametrize("name", ["slices", "delta", "match-ups", "advantage"])
def test_curves_are_the_library_s_chances(name: str) -> None:
    rows = only(CHARTS[name])
    assert len(rows) >= 8
    for row in rows:
        chance = win_probability(row["attackers"], row["defenders"])
        assert row["win_probability"] == pytest.approx(chance, rel=1e-13, abs=0)


def test_the_break_even_line_is_the_one_that_was_published() -> None:
    line = break_even_line(50, garrison=0)
    assert (line.intercept, line.slope) == pytest.approx((1.22040816, 0.85253301), abs=1e-8)
    assert [line.attackers[d - 1] for d in (15, 25, 35)] == [14, 23, 31]
    assert "about 0.85 attackers" in title(charts.break_even(50, 50, OPEN))


def test_the_border_is_where_an_even_chance_begins() -> None:
    for row in only(CHARTS["break even"]):
        fewest, against = row["attackers"], row["defenders"]
        assert win_probability(fewest, against) >= 0.5 > win_probability(fewest - 1, against)


def test_slices_mark_the_fewest_favourites() -> None:
    chart = charts.slices([15, 25, 35], 50, OPEN)
    assert [row["attackers"] for row in only(chart) if row["is_fewest"]] == [31, 23, 14]
    assert title(chart).startswith("14, 23 and 31 attackers are enough")


def test_the_map_tells_from_where_on_equal_numbers_win() -> None:
    assert title(charts.win_chance_map(win_table(20, 20))).startswith("With 12 to 20 armies")
    assert title(charts.win_chance_map(win_table(10, 10, garrison=0))).startswith("With 5 to 10")
    assert "not worse off" in title(charts.win_chance_map(win_table(5, 5, "capital")))
    assert title(charts.win_chance_map(win_table(1, 1, "zombie defender", garrison=0))) == (
        "With 1 army on each side you are the favourite."
    )


def test_the_map_tells_its_rules_and_their_garrison() -> None:
    told = charts.win_chance_map(win_table(4, 4, "capital", garrison=0), Rules(garrison=0), "home")
    spec = json.dumps(charts.specification(told))
    assert "(home rules, garrison 0)" in told.description
    assert "attackers able to attack" in spec
    assert "garrison included" not in spec
    spec = json.dumps(charts.specification(CHARTS["map"]))
    assert "attackers, garrison included" in spec
    assert "(classic rules)" in CHARTS["map"].description


def test_a_lead_without_attackers_has_no_point() -> None:
    assert min(row["attackers"] for row in only(CHARTS["delta"])) == 1


def test_minimum_troops_are_the_armies_needed() -> None:
    for row in only(CHARTS["troops"]):
        needed = armies_needed(row["defenders"], str(row["chance"]), str(row["rules"]))
        assert row["attackers"] == needed
        assert row["attackers_per_defender"] == needed / row["defenders"]


def test_the_ratio_divides_capital_by_classic() -> None:
    for row in only(CHARTS["ratio"]):
        asked = row["defenders"], str(row["chance"])
        assert row["ratio"] == armies_needed(*asked, "capital") / armies_needed(*asked)


def test_the_answer_is_where_enough_begins() -> None:
    for name, side, enough in (("attackers", "attackers", 14), ("defenders", "defenders", 8)):
        rows = only(CHARTS[name])
        assert {row[side]: row["is_enough"] for row in rows}[enough]
        assert not {row[side]: row["is_enough"] for row in rows}[enough - 1]
    chances = {row["defenders"]: row["probability"] for row in only(CHARTS["defenders"])}
    assert chances[8] == pytest.approx(1 - win_probability(6, 8))


def test_the_spread_rules_and_roll_are_the_library_s() -> None:
    best = spread_defenders(10, 12, 3).spreads[0]
    assert tuple(row["defenders"] for row in only(CHARTS["spread"])) == best
    classic = next(row for row in only(CHARTS["rules"]) if row["rules"] == "classic")
    assert classic["win_probability"] == Battle(10, 10).win_probability()
    assert [row["ways"] for row in only(CHARTS["roll"])] == [17871, 12348, 10017, 6420]


def test_what_cannot_be_drawn_is_refused() -> None:
    refused: tuple[Callable[[], AnyChart], ...] = (
        lambda: charts.curves_by_delta([], 5),
        lambda: charts.curves_by_delta(range(21), 5),
        lambda: charts.curves_by_delta([-5], 5),
        lambda: charts.curves_by_advantage([8], 8),
        lambda: charts.break_even(5, 1),
        lambda: charts.minimum_troops(5, []),
        lambda: charts.win_chance_map(win_table(201, 201)),
        lambda: charts.full_roll(find_rule_set("defender sees first")),
        lambda: charts.methods_compared(Battle(2, 1), []),
    )
    for draw in refused:
        with pytest.raises(IactaError):
            draw()


def test_labels_keep_their_distance_and_their_order() -> None:
    placed = apart([0.5, 0.51, 0.5, 1.0, 0.99], 0.1, 0, 1)
    ordered = sorted(placed)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert ordered[-1] <= 1
    assert placed[1] > placed[0]


def test_shades_are_as_many_as_asked() -> None:
    assert len(set(shades(15))) == 15
