"""`Board` and `Continent`: their fields, finding names, and refused input."""

import tomllib
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iacta import Board, Continent, classic_board, read_board
from iacta.board.board import fold_name

AFRICA = Continent("Africa", 3, ("north africa", "Egypt"))
BOARD = Board(
    "small",
    ("Brazil", "North Africa", "Egypt"),
    (("north-africa", "EGYPT"), ("Egypt", "North_Africa"), ("Brazil", "NorthAfrica")),
    (AFRICA,),
)


def test_names_and_borders_take_the_spelling_and_order_of_the_territories() -> None:
    assert BOARD.borders == (
        ("Brazil", "North Africa"),
        ("North Africa", "Egypt"),
        ("Egypt", "North Africa"),
    )
    assert BOARD.continents[0].territories == ("North Africa", "Egypt")


def test_a_border_leads_one_way_unless_both_are_given() -> None:
    assert BOARD.neighbours("Brazil") == ("North Africa",)
    assert BOARD.neighbours("north africa") == ("Egypt",)


@given(st.sampled_from(BOARD.territories), st.randoms(use_true_random=False))
def test_a_name_is_found_without_regard_to_case_spaces_and_hyphens(
    name: str, random: Random
) -> None:
    spelled = "".join(
        random.choice([letter.lower(), letter.upper()])
        if letter != " "
        else random.choice(["", " ", "-", "_", "  "])
        for letter in name
    )
    assert BOARD.find(spelled) == name


def test_sets_are_described_by_territories_and_continents() -> None:
    assert BOARD.find_set("AFRICA") == ("North Africa", "Egypt")
    assert BOARD.find_set("egypt, brazil, Egypt") == ("Egypt", "Brazil")
    assert BOARD.find_set("Brazil,Africa") == ("Brazil", "North Africa", "Egypt")


def test_a_name_with_a_comma_is_found_as_a_whole() -> None:
    board = Board("x", ("Washington, D. C.", "Maine"), ())
    assert board.find_set("washington, d. c.") == ("Washington, D. C.",)


def test_edges_lead_both_ways_by_default() -> None:
    edges = [("A", "B"), ("B", "C")]
    both = Board.from_edges("tiny", edges)
    assert both == Board("tiny", ("A", "B", "C"), (*edges, ("B", "A"), ("C", "B")))
    one_way = Board.from_edges("tiny", edges, directed=True)
    assert one_way == Board("tiny", ("A", "B", "C"), tuple(edges))


def test_edges_of_a_graph_may_have_numbers_data_and_keys() -> None:
    weighted = [(0, 1, {"weight": 3}), (1, np.int64(2), {})]  # as in NetworkX graphs
    found = Board.from_edges("grid", weighted, continents={"X": (2, [0, 1])})
    assert found.territories == ("0", "1", "2")
    assert found.neighbours("1") == ("0", "2")
    assert found.continents == (Continent("X", 2, ("0", "1")),)
    same = Board.from_edges("grid", weighted, continents=[Continent("X", 2, ("0", "1"))])
    assert found == same


def test_spellings_of_a_territory_in_edges_are_one() -> None:
    found = Board.from_edges("nile", [("North Africa", "Egypt"), ("north-africa", "Congo")])
    assert found.territories == ("North Africa", "Egypt", "Congo")


@given(
    st.lists(st.tuples(*[st.sampled_from(["A", "b c", 'd"e', "東 京", "#x", "C, D"])] * 2)).filter(
        lambda edges: edges and all(start != end for start, end in edges)
    ),
    st.booleans(),
)
def test_a_board_survives_toml(edges: list[tuple[str, str]], directed: bool) -> None:
    continents = {"[X].y": (3, [edges[0][0]])}
    board = Board.from_edges("a = [b]", edges, directed=directed, continents=continents)
    assert read_board(tomllib.loads(board.to_toml())) == board


def test_the_classic_board_survives_toml() -> None:
    board = classic_board()
    assert read_board(tomllib.loads(board.to_toml())) == board


LATIN = st.text(st.characters(max_codepoint=0x24F), max_size=20)


@given(LATIN, LATIN)
def test_folding_is_stable_and_ignores_case(first: str, second: str) -> None:
    assert fold_name(fold_name(first)) == fold_name(first)
    assert fold_name(first + " -_" + second) == fold_name(first + second)
