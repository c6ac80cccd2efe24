"""Figures: their numbers equal the published numbers."""

from fractions import Fraction
from typing import Any

import pytest

from iacta.charts.converter import convert
from iacta_literature import SOURCES
from iacta_literature.figures import NARROW, SHADES, darken, format_spec, shorten_svg
from iacta_literature.hoehle import ONE_ROLL
from iacta_literature.published import Compared, Number, Published, Row, read_rows

PRINTED = {f"{source.key}_{figure.name}": figure for source in SOURCES for figure in source.figures}


def rows(name: str, table: str = "") -> list[dict[str, Any]]:
    """Return the rows of a figure's table; the first table unless a name is given."""
    tables = PRINTED[name].draw().tables
    return [dict(row) for row in (tables[table] if table else next(iter(tables.values())))]


def agrees(ours: Number, published: str) -> bool:
    return Compared(ours, Published(published)).verdict == "agrees"


@pytest.mark.parametrize(
    ("name", "file", "by", "count"),
    [
        ("pracpred_win_chance_map", "pracpred_win_20x20", "defenders", 400),
        ("hoehle_win_chance_map", "hoehle_win_10x10", "defenders", 100),
        ("pracpred_curves_by_match_up", "pracpred_win_20x20", "defenders", 160),
        ("pracpred_curves_by_advantage", "pracpred_win_by_advantage", "advantage", 132),
    ],
)
def test_pictures_show_the_published_tables(name: str, file: str, by: str, count: int) -> None:
    shown = {(row["attackers"], row[by]): row["win_probability"] for row in rows(name)}
    drawn = {each for _, each in shown}
    printed = [row for row in read_rows(file) if int(row[by]) in drawn]
    assert len(shown) == len(printed) == count
    for row in printed:
        assert agrees(shown[int(row["attackers"]), int(row[by])], row["published"])


def test_the_slices_and_the_border_are_at_the_published_numbers() -> None:
    printed = {
        int(row["defenders"]): int(row["published"]) for row in read_rows("hoehle_break_even")
    }
    assert printed == {15: 14, 25: 23, 35: 31}
    slices = {
        row["defenders"]: row["attackers"] for row in rows("hoehle_slices") if row["is_fewest"]
    }
    assert slices == printed
    border = {row["defenders"]: row["attackers"] for row in rows("hoehle_break_even")}
    assert {d: border[d] for d in printed} == printed


def test_the_curves_by_delta_count_the_garrison() -> None:
    shown = {
        (row["attackers"], row["defenders"]): row["win_probability"]
        for row in rows("norvig_curves_by_delta")
    }
    printed = {(60, 60): "73%", (3, 1): "75%", (4, 2): "66%", (55, 60): "57%"}
    assert all(agrees(shown[battle], chance) for battle, chance in printed.items())
    assert shown[12, 12] >= 0.5 > shown[11, 11]


def test_the_states_leave_the_garrison_out() -> None:
    states = rows("van_wijgerden_probability_tree", "states")
    ends = {(row["attackers"], row["defenders"]): Fraction(row["exact"]) for row in states}
    for row in read_rows("van_wijgerden_outcomes"):
        if "/" in row["published"]:
            end = int(row["attackers_left"]), int(row["defenders_left"])
            assert ends[end] == Fraction(row["published"])
    paths = {row["path"]: Fraction(row["exact"]) for row in rows("van_wijgerden_paths")}
    for row in read_rows("van_wijgerden_paths"):
        assert paths[
            row["path"].replace(", ", ";").replace(" ", "v").replace(";", ", ")
        ] == Fraction(row["published"])


def test_the_trees_of_territories_and_capitals_have_the_published_chances() -> None:
    for place, rules in (("territory", "classic"), ("capital", "capital")):
        rolls = rows(f"van_wijgerden_state_space_of_a_{place}", "rolls")
        shown = {(row["from"], row["losses"]): Fraction(row["exact"]) for row in rolls}
        printed = [
            row
            for row in read_rows("van_wijgerden_roll_losses")
            if row["rules"] in ("classic", rules)
        ]
        for row in printed:
            assert shown.pop(_roll(row)) == Fraction(row["published"])
        defence = 2 if rules == "classic" else 3
        assert all(int(state[-1]) > defence for state, _ in shown)  # more defenders than dice


def _roll(row: Row) -> tuple[str, str]:
    state = f"{row['attack_dice']}v{row['defence_dice']}"
    return state, f"{row['attackers_lost']}, {row['defenders_lost']}"


def test_the_matrix_is_for_10_against_10_without_garrison() -> None:
    entries = rows("hoehle_transition_matrix")
    first = {row["to"]: row["probability"] for row in entries if row["from"] == "10v10"}
    printed = read_rows("hoehle_after_one_roll")
    assert len(first) == len(printed)
    for row in printed:
        after = f"{row['attackers_left']}v{row['defenders_left']}"
        assert agrees(first[after], row["published"])
    assert len({row["from"] for row in entries}) == 121 - 1  # all states except 0v0


def test_the_simulations_agree_with_the_sources() -> None:
    assert rows("norvig_convergence")[-1]["runs"] == 10_000
    (exact,) = rows("norvig_convergence", "exact")
    assert agrees(exact["exact"], "0.719433937074")
    assert rows("hoehle_convergence")[-1]["runs"] == 100_000
    assert ONE_ROLL.win_probability(exact=True) == Fraction(2890, 7776)
    shown = {row["defenders"]: row["count"] for row in rows("hoehle_roll_chances")}
    assert shown == {0: 2275, 1: 2611, 2: 2890}


@pytest.mark.parametrize(
    "name", ["van_wijgerden_state_space_of_1_against_1", "van_wijgerden_paths", "hoehle_slices"]
)
def test_a_picture_is_darkened_as_it_would_be_drawn(name: str) -> None:
    spec = PRINTED[name].draw().to_dict()
    light, dark = (format_spec(spec, NARROW, dark=dark) for dark in (False, True))
    assert not SHADES.search(light)
    assert darken(convert(light, "svg").decode()) == convert(dark, "svg").decode()


def test_shades_are_drawn_again() -> None:
    shaded = {
        name
        for name in ("hoehle_win_chance_map", "hoehle_transition_matrix", "hoehle_roll_chances")
        if SHADES.search(format_spec(PRINTED[name].draw().to_dict(), NARROW))
    }
    assert shaded == {"hoehle_win_chance_map", "hoehle_transition_matrix"}


def test_compact_pictures_keep_their_numbers() -> None:
    svg = (
        '<svg width="9"><g class="mark" role="x"><path d="" display="none"/>'
        '<text transform="translate(1.256,2)" font-family="sans-serif" opacity="1">37.17%</text>'
        '<path aria-hidden="true" d="M1.219,2.5L3,4" opacity="0.35"/></g></svg>'
    )
    assert shorten_svg(svg) == (
        '<svg font-family="sans-serif" width="9"><g>'
        '<text transform="translate(1.2,2)">37.17%</text>'
        '<path d="M1.2,2.5L3,4" opacity="0.35"/></g></svg>'
    )
