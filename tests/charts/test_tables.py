"""Pictures of tables and requirements: correct rows and titles."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import iacta
from iacta import Battle, ask, charts, win_table
from iacta.charts.converter import convert
from iacta.charts.theme import list_shades, make_config
from iacta.questions.compare import CompareAnswer, CompareQuestion, MethodAnswer
from tests.charts.checks import get_only_table
from tests.charts.test_every_chart import draw_example, make_argument


def test_the_title_states_from_which_equal_numbers_attackers_are_favourites() -> None:
    assert charts.win_chance_map(win_table(20, 20)).title.startswith("With 12 to 20 armies")
    assert charts.win_chance_map(win_table(10, 10, garrison=0)).title.startswith("With 5 to 10")
    assert "never the favourite" in charts.win_chance_map(win_table(5, 5, "capital")).title
    assert charts.win_chance_map(win_table(1, 1, "zombie defender", garrison=0)).title == (
        "With 1 army on each side you are the favourite."
    )


def test_the_map_shows_its_rules_and_their_garrison() -> None:
    said = charts.win_chance_map(
        win_table(4, 4, "capital", garrison=0), iacta.Rules(garrison=0), "home"
    )
    spec = json.dumps(said.to_dict())
    assert "(home rules, garrison 0)" in said.description
    assert "attackers able to attack" in spec
    assert "garrison included" not in spec
    spec = json.dumps(draw_example("win_chance_map").to_dict())
    assert "attackers, garrison included" in spec
    assert "(classic rules)" in draw_example("win_chance_map").description


def test_the_sheet_is_one_page_with_the_numbers_of_the_library() -> None:
    sheet = charts.cheat_sheet("capital", attackers=9, defenders=6)
    page = sheet.content("pdf")
    assert b"/MediaBox [0 0 595 842]" in page
    assert len(re.findall(rb"/Type /Page\b", page)) == 1
    for row in sheet.tables["chances"]:
        battle = Battle(row["attackers"], row["defenders"], "capital")
        assert row["win_probability"] == pytest.approx(battle.win_probability(), abs=1e-12)
    for row in sheet.tables["losses"]:
        battle = Battle(row["attackers"], row["defenders"], "capital")
        assert row["average"] == pytest.approx(battle.attackers_lost().mean(), abs=1e-12)
    svg = sheet.content("svg").decode()
    assert svg.count("<text") > 9 * 6 * 2  # all numbers are written
    with pytest.raises(iacta.IllegalError, match="attackers must be a whole number from 1 to 20"):
        charts.cheat_sheet(attackers=30)


@pytest.mark.parametrize("show", ["losses", "left", "rolls"])
def test_a_table_shows_the_means_of_each_battle(show: str) -> None:
    record = ask("table", attackers=6, defenders=4, rules="capital", show=show).data.to_json()
    for a, d in np.ndindex(6, 4):
        battle = Battle(a + 1, d + 1, "capital")
        means = {
            "losses": {
                "expected_attackers_lost": battle.attackers_lost().mean(),
                "expected_defenders_lost": battle.defenders_lost().mean(),
            },
            "left": {
                "expected_attackers_left": battle.attackers_left().mean(),
                "expected_defenders_left": battle.defenders_left().mean(),
            },
            "rolls": {"expected_rolls": battle.rolls().mean()},
        }[show]
        assert {key for key in record if key.startswith("expected")} == means.keys()
        for key, mean in means.items():
            assert record[key][a][d] == pytest.approx(float(mean), abs=1e-12)


def test_the_answer_is_the_first_sufficient_number() -> None:
    for side, enough in (("attackers", 17), ("defenders", 8)):
        rows = get_only_table(draw_example(f"chance_by_{side}"))
        assert {row[side]: row["is_enough"] for row in rows}[enough]
        assert not {row[side]: row["is_enough"] for row in rows}[enough - 1]
    chances = {
        row["defenders"]: row["probability"]
        for row in get_only_table(draw_example("chance_by_defenders"))
    }
    assert chances[8] == pytest.approx(1 - iacta.win_probability(6, 8))


def test_spread_rules_and_roll_equal_the_library_s() -> None:
    best = iacta.spread_defenders(10, 12, 3).spreads[0]
    assert (
        tuple(
            row["defenders"]
            for row in get_only_table(charts.best_spread(make_argument("best"), 10))
        )
        == best
    )
    classic = next(
        row for row in get_only_table(draw_example("rule_sets")) if row["rules"] == "classic"
    )
    assert classic["win_probability"] == Battle(10, 10).win_probability()
    assert [row["ways"] for row in get_only_table(draw_example("full_roll"))] == [
        17871,
        12348,
        10017,
        6420,
    ]


def test_each_rule_set_has_its_own_chance() -> None:
    rows = get_only_table(draw_example("rule_sets"))
    assert len(rows) == len(iacta.RULE_SETS)
    for row in rows:
        chance = Battle(10, 10, row["rules"]).win_probability()
        assert row["win_probability"] == chance
        assert row["favourite"] == ("more than half" if chance > 0.5 else "half or less")


def test_each_method_is_shown_with_its_time_and_error() -> None:
    counting = MethodAnswer("counting", Fraction(1, 2), 0.0, 1e-4)
    asked = CompareQuestion(4, 3)
    answer = CompareAnswer(asked, [counting, MethodAnswer("leap", 0.49, 1e-9, 1e-5)])
    leap, exact = get_only_table(answer.plot())  # fastest first
    assert (leap["method"], leap["answer"], leap["seconds"]) == ("leap", "as measured", 1e-5)
    assert (exact["answer"], exact["relative_error"]) == ("none: exact", 0.0)
    assert leap["relative_error"] == pytest.approx(0.02)
    assert answer.plot().title == (
        f"{answer.sentence} leap is the fastest of 2 methods, at 10.0 µs."
    )
    alone = replace(answer, methods=[counting, MethodAnswer("leap", cannot="too large")])
    assert alone.plot().title == f"{alone.sentence} Only counting solves the battle, in 100.0 µs."
    with pytest.raises(iacta.IllegalError, match="at least one method that solves"):
        replace(answer, methods=[MethodAnswer("leap", cannot="too large")]).plot()


def test_chances_of_requirements_equal_the_library_s() -> None:
    for row in get_only_table(draw_example("chance_by_attackers")):
        kept = iacta.Campaign(row["attackers"], [5, 2]).outcomes()
        chance = kept.prob(lambda end: end.conquered == 2 and end.attackers >= 2)
        assert row["probability"] == pytest.approx(float(chance), abs=1e-12)
    for row in get_only_table(ask("need", territories=[5]).plot()):
        chance = Battle(row["attackers"], 5).win_probability()
        assert row["probability"] == pytest.approx(chance, rel=1e-12)
    for row in get_only_table(draw_example("chance_by_defenders")):
        held = 1 - Battle(6, row["defenders"]).win_probability()
        assert row["probability"] == pytest.approx(held, abs=1e-14)


@pytest.mark.parametrize("size", [10, 20, 60])
@pytest.mark.parametrize("width", [290, 600])
def test_the_cells_of_a_map_fill_its_plot(size: int, width: int) -> None:
    spec = charts.win_chance_map(win_table(size, size)).to_dict()
    spec["config"] = make_config(width=width)
    svg = convert(json.dumps(spec), "svg").decode()
    cells = re.findall(r'd="M(-?[0-9.]+),(-?[0-9.]+)h([0-9.]+)v([0-9.]+)h-', svg)[-size * size :]
    assert len(cells) == size * size
    boxes = np.array(cells, dtype=float)
    low, high = boxes[:, :2].min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    assert (low <= 0.01).all()
    assert (high >= [width - 0.01, spec["height"] - 0.01]).all()


def test_numbers_of_a_map_are_shown_while_they_fit() -> None:
    def shown(size: int, width: int) -> bool:
        spec = charts.win_chance_map(win_table(size, size)).to_dict()
        spec["config"] = make_config(width=width)
        svg = convert(json.dumps(spec), "svg").decode()
        (opacity,) = set(re.findall(r'font-size="8px" [^>]*opacity="([01])">[0-9]+<', svg))
        return bool(opacity == "1")

    assert shown(20, 290)
    assert not shown(20, 250)


def test_only_certain_chances_are_shown_as_0_or_100() -> None:
    def written(rules: str) -> set[str]:
        chart = charts.win_chance_map(win_table(20, 20, rules), rules)
        svg = convert(json.dumps(chart.to_dict()), "svg").decode()
        return set(re.findall(r'font-size="11px"[^>]*>([^<]*)</text>', svg))

    assert {"&gt;99", "&lt;1", "0"} <= written("classic")  # a single army never attacks
    assert "100" not in written("classic")
    assert {"100", "0"} <= written("balanced blitz")


def test_impossible_charts_are_refused() -> None:
    with pytest.raises(iacta.IactaError):
        charts.win_chance_map(win_table(201, 201))
    with pytest.raises(iacta.IactaError):
        charts.full_roll(iacta.find_rule_set("defender sees first"))


def test_list_shades_returns_the_requested_number() -> None:
    assert len(set(list_shades(15))) == 15
