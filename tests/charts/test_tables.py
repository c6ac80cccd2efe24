"""Pictures of tables, curves and requirements: their rows are the library's, their titles true."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from iacta import (
    RULE_SETS,
    Battle,
    Campaign,
    IactaError,
    Rules,
    armies_needed,
    charts,
    find_rule_set,
    spread_defenders,
    win_probability,
    win_table,
)
from iacta.charts import Solved
from iacta.charts.converter import convert
from iacta.charts.curves import apart
from iacta.charts.theme import AnyChart, config, shades
from iacta.odds.needed import break_even_line
from tests.charts.look import title

OPEN = Rules(garrison=0)  # as the sources that leave the garrison out
SOLVED = [Solved("counting", 0.5, 0.0, True, 1e-4), Solved("leap", 0.49, None, False, 1e-5)]
CHARTS: dict[str, Callable[[], AnyChart]] = {
    "map": lambda: charts.win_chance_map(win_table(6, 5)),
    "break even": lambda: charts.break_even(12, 12),
    "slices": lambda: charts.slices([3, 6], 12),
    "delta": lambda: charts.curves_by_delta([-1, 0, 2], 8),
    "match-ups": lambda: charts.curves_by_match_up([1, 5], 8),
    "advantage": lambda: charts.curves_by_advantage([0, 1], 8),
    "troops": lambda: charts.minimum_troops(9, ["50%", "95%"]),
    "ratio": lambda: charts.minimum_troops_ratio(9, ["50%", "95%"]),
    "attackers": lambda: charts.chance_by_attackers([5, 2], 14, Fraction(19, 20), keep=2),
    "defenders": lambda: charts.chance_by_defenders(6, 8, Fraction(3, 4)),
    "spread": lambda: charts.best_spread(spread_defenders(10, 12, 3), 10),
    "rules": lambda: charts.rule_sets(),
    "roll": lambda: charts.full_roll(find_rule_set("capital")),
    "methods": lambda: charts.methods_compared(Battle(4, 3), SOLVED),
}


@cache
def drawn(name: str) -> AnyChart:
    return CHARTS[name]()


def only(chart: AnyChart) -> list[dict[str, Any]]:
    (rows,) = charts.chart_tables(chart).values()
    return [dict(row) for row in rows]


@pytest.mark.parametrize("name", ["slices", "delta", "match-ups", "advantage"])
def test_curves_are_the_library_s_chances(name: str) -> None:
    rows = only(drawn(name))
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
    for row in only(drawn("break even")):
        fewest, against = row["attackers"], row["defenders"]
        assert win_probability(fewest, against) >= 0.5 > win_probability(fewest - 1, against)


def test_slices_mark_the_fewest_favourites() -> None:
    chart = charts.slices([15, 25, 35], 50, OPEN)
    assert [row["attackers"] for row in only(chart) if row["is_fewest"]] == [31, 23, 14]
    assert title(chart).startswith("14, 23 and 31 attackers are enough")


def test_the_map_shows_from_where_on_equal_numbers_win() -> None:
    assert title(charts.win_chance_map(win_table(20, 20))).startswith("With 12 to 20 armies")
    assert title(charts.win_chance_map(win_table(10, 10, garrison=0))).startswith("With 5 to 10")
    assert "not worse off" in title(charts.win_chance_map(win_table(5, 5, "capital")))
    assert title(charts.win_chance_map(win_table(1, 1, "zombie defender", garrison=0))) == (
        "With 1 army on each side you are the favourite."
    )


def test_the_map_shows_its_rules_and_their_garrison() -> None:
    said = charts.win_chance_map(win_table(4, 4, "capital", garrison=0), Rules(garrison=0), "home")
    spec = json.dumps(charts.specification(said))
    assert "(home rules, garrison 0)" in said.description
    assert "attackers able to attack" in spec
    assert "garrison included" not in spec
    spec = json.dumps(charts.specification(drawn("map")))
    assert "attackers, garrison included" in spec
    assert "(classic rules)" in drawn("map").description


def test_a_lead_without_attackers_has_no_point() -> None:
    assert min(row["attackers"] for row in only(drawn("delta"))) == 1


def test_minimum_troops_are_the_armies_needed() -> None:
    for row in only(drawn("troops")):
        needed = armies_needed(row["defenders"], str(row["chance"]), str(row["rules"]))
        assert row["attackers"] == needed
        assert row["attackers_per_defender"] == needed / row["defenders"]


def test_the_ratio_divides_capital_by_classic() -> None:
    for row in only(drawn("ratio")):
        asked = row["defenders"], str(row["chance"])
        assert row["ratio"] == armies_needed(*asked, "capital") / armies_needed(*asked)


def test_the_answer_is_where_enough_begins() -> None:
    for name, side, enough in (("attackers", "attackers", 14), ("defenders", "defenders", 8)):
        rows = only(drawn(name))
        assert {row[side]: row["is_enough"] for row in rows}[enough]
        assert not {row[side]: row["is_enough"] for row in rows}[enough - 1]
    chances = {row["defenders"]: row["probability"] for row in only(drawn("defenders"))}
    assert chances[8] == pytest.approx(1 - win_probability(6, 8))


def test_the_spread_rules_and_roll_are_the_library_s() -> None:
    best = spread_defenders(10, 12, 3).spreads[0]
    assert tuple(row["defenders"] for row in only(drawn("spread"))) == best
    classic = next(row for row in only(drawn("rules")) if row["rules"] == "classic")
    assert classic["win_probability"] == Battle(10, 10).win_probability()
    assert [row["ways"] for row in only(drawn("roll"))] == [17871, 12348, 10017, 6420]


def test_each_rule_set_has_its_own_chance() -> None:
    rows = only(drawn("rules"))
    assert len(rows) == len(RULE_SETS)
    for row in rows:
        chance = Battle(10, 10, row["rules"]).win_probability()
        assert row["win_probability"] == chance
        assert row["favourite"] == ("more than half" if chance > 0.5 else "half or less")


def test_each_method_is_reported_as_it_solved_the_battle() -> None:
    said = {row["method"]: row for row in only(drawn("methods"))}
    assert list(said) == ["leap", "counting"]  # the fastest first
    for each in SOLVED:
        row = said[each.method]
        assert (row["win_probability"], row["relative_error"]) == (each.chance, each.error)
        assert row["seconds"] == each.seconds
    assert [row["answer"] for row in said.values()] == ["not known", "none: exact"]
    assert title(drawn("methods")) == (
        "4 armies beat 3 with a chance of 50%; leap is the fastest of 2 methods, with 10 µs."
    )
    alone = charts.methods_compared(Battle(1, 3), SOLVED[:1])
    assert title(alone).startswith("1 army beats 3 with a chance of 50%; only counting")


def test_the_chances_of_a_requirement_are_the_library_s() -> None:
    for row in only(drawn("attackers")):
        kept = Campaign(row["attackers"], [5, 2]).outcomes()
        chance = kept.prob(lambda end: end.conquered == 2 and end.attackers >= 2)
        assert row["probability"] == pytest.approx(float(chance), abs=1e-12)
    for row in only(charts.chance_by_attackers([5], 11, Fraction(19, 20))):
        chance = Battle(row["attackers"], 5).win_probability()
        assert row["probability"] == pytest.approx(chance, rel=1e-12)
    for row in only(drawn("defenders")):
        held = 1 - Battle(6, row["defenders"]).win_probability()
        assert row["probability"] == pytest.approx(held, abs=1e-14)


def test_slices_name_no_one_who_lies_outside_the_picture() -> None:
    assert (
        title(charts.slices([40], 20)) == "To be favourites, 20 are too few against 40 defenders."
    )
    some = title(charts.slices([3, 40], 20))
    assert some == (
        "5 attackers are enough to be favourites against 3 defenders; 20 are too few against 40."
    )
    assert title(charts.slices([1], 9)).endswith("against 1 defender.")


def test_the_ratio_says_what_the_picture_ends_with() -> None:
    last = [row["ratio"] for row in only(drawn("ratio")) if row["defenders"] == 9]
    assert f"{min(last):.2f} to {max(last):.2f} times as many" in title(drawn("ratio"))
    assert "take 1.00 times as many" in title(charts.minimum_troops_ratio(2, ["50%"]))


@pytest.mark.parametrize("name", ["slices", "ratio", "troops", "delta"])
def test_each_line_has_its_label_at_its_end(name: str) -> None:
    spec = json.dumps(charts.specification(drawn(name)))
    lines = {row.get("chance", row.get("delta", row["defenders"])) for row in only(drawn(name))}
    assert '"legend": null' in spec
    assert len(lines) > 1
    assert '"text"' in spec


@pytest.mark.parametrize("size", [10, 20, 60])
@pytest.mark.parametrize("width", [290, 600])
def test_the_cells_of_a_map_fill_its_plot(size: int, width: int) -> None:
    spec = charts.specification(charts.win_chance_map(win_table(size, size)))
    spec["config"] = config(width=width)
    svg = convert(json.dumps(spec), "svg").decode()
    cells = re.findall(r'd="M(-?[0-9.]+),(-?[0-9.]+)h([0-9.]+)v([0-9.]+)h-', svg)[-size * size :]
    assert len(cells) == size * size
    boxes = np.array(cells, dtype=float)
    low, high = boxes[:, :2].min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    assert (low <= 0.01).all()
    assert (high >= [width - 0.01, spec["height"] - 0.01]).all()


def test_the_numbers_of_a_map_stay_as_long_as_they_fit() -> None:
    def shown(size: int, width: int) -> bool:
        spec = charts.specification(charts.win_chance_map(win_table(size, size)))
        spec["config"] = config(width=width)
        svg = convert(json.dumps(spec), "svg").decode()
        (opacity,) = set(re.findall(r'font-size="8px" [^>]*opacity="([01])">[0-9]+<', svg))
        return bool(opacity == "1")

    assert shown(20, 290)
    assert not shown(20, 250)


def test_only_what_is_certain_is_written_as_0_or_100() -> None:
    def written(rules: str) -> set[str]:
        chart = charts.win_chance_map(win_table(20, 20, rules), rules)
        svg = convert(json.dumps(charts.specification(chart)), "svg").decode()
        return set(re.findall(r'font-size="11px"[^>]*>([^<]*)</text>', svg))

    assert {"&gt;99", "&lt;1", "0"} <= written("classic")  # 1 army never attacks
    assert "100" not in written("classic")
    assert {"100", "0"} <= written("balanced blitz")


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
