"""Maps of decisions: each state agrees with the decision."""

import json
import re
from fractions import Fraction

import pytest

import iacta
from iacta import charts, when_to_stop


@pytest.mark.parametrize("decision", [when_to_stop(9, 8, prize=6), iacta.best_mix(9, 8)])
def test_the_map_shows_the_decision_in_each_state(decision: iacta.Decision) -> None:
    chart = charts.decision_map(decision)
    seen = set()
    for row in chart.tables["actions"]:
        for attackers in range(row["least"], row["most"] + 1):
            assert row["action"] == decision.choose_best_action(attackers, row["defenders"])
            seen.add((attackers, row["defenders"]))
    assert (9, 8) in seen
    assert len(seen) == 8 * max(attackers for attackers, _ in seen)
    said = [(row["defenders"], row["attackers"]) for row in chart.tables["boundary"]]
    assert said == [tuple(each) for each in decision.boundary if each.attackers is not None]


def test_the_title_names_the_prize() -> None:
    said = charts.decision_map(when_to_stop(12, 10, prize=10), Fraction(10)).title
    assert said.startswith("A territory worth 10: stop at 12 against 10.")


def test_each_region_has_its_label() -> None:
    decision = when_to_stop(12, 10, prize=10)
    regions = charts.decision_map(decision).tables["regions"]
    assert {row["action"] for row in regions} == {"roll", "stop"}
    for row in regions:
        assert (
            decision.choose_best_action(round(row["attackers"]), row["defenders"]) == row["action"]
        )


def test_spreads_are_compared() -> None:
    best = iacta.spread_defenders(10, 12, 3)
    others = [("even", (4, 4, 4), float(iacta.spread_value(10, (4, 4, 4))))]
    rows = charts.best_spread(best, 10, others=others).tables["values"]
    assert [row["name"] for row in rows] == ["best: 4, 2, 6", "even: 4, 4, 4"]
    assert rows[0]["value"] < rows[1]["value"]


def test_a_map_that_is_too_large_is_refused() -> None:
    with pytest.raises(
        iacta.TooLargeError, match="at most 100,000 states, got 600 attackers by 500"
    ):
        charts.decision_map(when_to_stop(600, 500, prize=3))
    with pytest.raises(iacta.TooLargeError, match="at most 100,000 states"):
        charts.dice_map(iacta.how_many_dice(600, 500))


def test_the_map_shows_the_dice_of_the_decision() -> None:
    decision = iacta.how_many_dice(6, 4, "attack commander")
    chart = charts.dice_map(decision)
    for name, policy in (("attack", decision.attack_policy), ("defence", decision.defence_policy)):
        for row in chart.tables[name]:
            for attackers in range(max(row["least"], 2), row["most"] + 1):
                assert row["dice"] == policy[row["defenders"], attackers - 1]
    assert chart.tables["battle"] == [{"attackers": 6, "defenders": 4}]
    assert chart.title == "Roll 3 dice; the best reply is 2 dice (rules: attack commander)."


def test_the_reached_chance_is_not_rounded_below_the_wanted_chance() -> None:
    chart = iacta.ask("need", territories=[3], chance="99.999999999999%").plot()
    assert "a chance of at least 99.999999999999%" in chart.title
    assert "; the goal is 99.999999999999%" in chart.subtitle


def test_small_differences_between_spreads_look_small() -> None:
    best = iacta.spread_defenders(20, 12, 3)
    others = [("even", (4, 4, 4), 0.89), ("at one end", (10, 1, 1), 0.912)]
    drawn = json.dumps(charts.best_spread(best, 20, others=others).to_dict())
    domains = [json.loads(found) for found in re.findall(r'"domain": (\[0\.[^]]*\])', drawn)]
    assert domains
    assert all(high - low > 0.2 for low, high in domains)
