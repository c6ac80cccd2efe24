"""Boards from graphs, tables and lists of borders."""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from iacta import (
    Board,
    IactaError,
    MissingError,
    ask,
    classic_board,
    read_board,
)
from iacta.board.files import add_continents, parse_board_text, read_board_file, write_board
from iacta.board.formats import FORMATS
from tests.cases import for_each

WRITTEN = [each.ending for each in FORMATS if each.write]


def read(text: str, name: str = "tiny") -> Board:
    return parse_board_text(text, name).board


def names_of(board: Board) -> set[frozenset[str]]:
    """Return the borders of a board as pairs of names without a direction."""
    return {frozenset(border) for border in board.borders}


@for_each("ending", WRITTEN)
def test_the_classic_board_survives_every_format_that_is_written(
    ending: str, tmp_path: Path
) -> None:
    board, file = classic_board(), tmp_path / f"classic{ending}"
    write_board(board, file)
    content = read_board_file(file)
    found = content.board
    assert (found.name, found.territories) == (board.name, board.territories)
    assert set(found.borders) == set(board.borders)
    assert (found.continents, found.places) == (board.continents, board.places)
    assert content.remarks == ()


@for_each("ending", [".gml", ".graphml", ".dot", ".node-link.json", ".yaml"])
def test_one_way_borders_and_several_continents_survive(ending: str, tmp_path: Path) -> None:
    given = {
        "directed": True,
        "territories": {'the "Cape"': ["B & C"], "B & C": ["Ö"], "Ö": ['the "Cape"', "B & C"]},
        "continents": {
            "East": {"bonus": 2, "territories": ["B & C", "Ö"]},
            "All": {"bonus": -3, "territories": ["B & C", 'the "Cape"']},
        },
    }
    board, file = read_board(given), tmp_path / f"odd{ending}"
    write_board(board, file)
    found = read_board(file)
    assert (found.territories, set(found.borders)) == (board.territories, set(board.borders))
    assert {(c.name, c.bonus, frozenset(c.territories)) for c in found.continents} == {
        (c.name, c.bonus, frozenset(c.territories)) for c in board.continents
    }


@for_each("ending", [".gml", ".graphml", ".node-link.json", ".dot"])
def test_a_random_graph_of_another_program_has_the_same_borders(
    ending: str, tmp_path: Path
) -> None:
    # The twin: NetworkX writes a graph, and its own edges are the borders.
    rng = np.random.default_rng(1)
    graph = nx.MultiGraph()  # without names, with repeated edges, loops and weights
    graph.add_nodes_from(range(500 if ending != ".dot" else 60))
    for start, end in rng.integers(len(graph), size=(3 * len(graph), 2)).tolist():
        graph.add_edge(start, end, weight=start / 7)
    file = tmp_path / f"graph{ending}"
    if ending == ".gml":
        nx.write_gml(graph, file)
    elif ending == ".graphml":
        nx.write_graphml(graph, file)
    elif ending == ".dot":
        nx.nx_pydot.write_dot(graph, file)
    else:
        file.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    board = read_board(file)
    assert len(board.territories) == len(graph)
    edges = {frozenset(map(str, edge)) for edge in graph.edges() if edge[0] != edge[1]}
    assert names_of(board) == edges


TEXTS = {
    "a list with colons": "# borders\nEgypt: Peru, East Africa\nPeru:\n",
    "edges": "Egypt,Peru\nEgypt,East Africa",
    "edges with a heading": "source\ttarget\tweight\nEgypt\tPeru\t2\nEast Africa\tEgypt\t.5",
    "edges in both directions": "Egypt;Peru\nPeru;Egypt\nEgypt;East Africa\nEgypt;Egypt",
    "quoted edges": '"Egypt","Peru"\n"Egypt","East Africa"\n',
    "a matrix": ",Egypt,Peru,East Africa\nEgypt,0,1,1\nPeru,1,0,0\nEast Africa,1,0,0\n",
    "a matrix with a heading only": "Egypt,Peru,East Africa\n0,1,1\n1,0,0\n1,0,0\n",
    "a matrix with names at the left": "Egypt\t0\t1\t1\nPeru\t1\t0\t0\nEast Africa\t1\t0\t0",
    "DOT": 'graph { Egypt -- Peru -- Egypt; "East Africa" -- Egypt }',
    "DOT without a name": "strict graph {\n  Egypt -- {Peru 'East Africa'}\n}".replace("'", '"'),
    "GML": (
        'Creator "x"\ngraph [ node [ id 1 label "Egypt" ] node [ id 2 label "Peru" ]'
        ' node [ id 3 label "East Africa" ]\n edge [ source 1 target 2 ]'
        " edge [ source 3 target 1 value 2.5 ] ]"
    ),
    "YAML": "territories:\n  Egypt: [Peru, East Africa]\n  Peru: []\n  East Africa:\n  - Egypt\n",
    "JSON with members": (
        '{"territories": {"Egypt": {"borders": ["Peru", "East Africa"]},'
        ' "Peru": {}, "East Africa": {"adjacent": ["Egypt"]}}}'
    ),
}


@for_each("kind", list(TEXTS))
def test_the_same_three_territories_are_read_from_every_kind_of_text(kind: str) -> None:
    board = read(TEXTS[kind])
    assert set(board.territories) == {"Egypt", "Peru", "East Africa"}
    both = {("Egypt", "Peru"), ("Egypt", "East Africa")}
    assert set(board.borders) == both | {(end, start) for start, end in both}


def test_a_matrix_without_names_numbers_its_territories() -> None:
    assert read("0 1 0\n1 0 1\n0 1 0").neighbours("2") == ("1", "3")


def test_a_matrix_that_is_not_symmetric_has_one_way_borders() -> None:
    assert read("0,1\n0,0").borders == (("1", "2"),)


def test_a_first_border_between_a_and_b_is_no_heading() -> None:
    assert len(read("A,B\nB,C\nA,C").borders) == 6


def test_a_digraph_has_one_way_borders() -> None:
    assert read("digraph { A -> B }").borders == (("A", "B"),)


def test_members_name_their_continent_without_a_list_of_continents() -> None:
    # After a public map file with continents of members, one of them not listed.
    board = read(
        '{"continents": {"Land": {"bonus": 2, "territories": ["Ash"]}}, "territories": {'
        '"Ash": {"continent": "Land", "neighbors": ["Birch"]},'
        '"Birch": {"continent": "Land", "neighbors": ["Ash", "Cedar"]},'
        '"Cedar": {"continent": "Sea", "neighbors": ["Birch"]}}}'
    )
    assert [(each.name, each.bonus, each.territories) for each in board.continents] == [
        ("Land", 2, ("Ash", "Birch")),
        ("Sea", 0, ("Cedar",)),
    ]


def test_names_of_yaml_stay_as_they_are_written() -> None:
    board = read("territories:\n  No: [1]\n  1: []\ncontinents:\n  Yes: {bonus: 3}\n")
    assert board.territories == ("No", "1")
    assert board.continents[0].bonus == 3


def test_a_second_file_has_the_continents(tmp_path: Path) -> None:
    edges, continents = tmp_path / "edges.tsv", tmp_path / "continents.csv"
    edges.write_text("Ash\tBirch\nBirch\tCedar\n")
    continents.write_text("continent,bonus,territories\nLand,2,ash,Birch\nSea,-1,Cedar\n")
    board = add_continents(read_board_file(edges), continents).board
    assert [(each.name, each.bonus, each.territories) for each in board.continents] == [
        ("Land", 2, ("Ash", "Birch")),
        ("Sea", -1, ("Cedar",)),
    ]
    continents.write_text("Land,2,Ash\nSea,1,Birhc\n")
    with pytest.raises(IactaError, match=r"line 2: unknown territory .*did you mean 'Birch'"):
        add_continents(read_board_file(edges), continents)
    continents.write_text("Land,2,Ash\n")
    remarks = add_continents(read_board_file(edges), continents).remarks
    assert [each.text for each in remarks] == [
        "'Birch' belongs to no continent",
        "'Cedar' belongs to no continent",
    ]


@for_each(
    "package, text", [("networkx", TEXTS["GML"]), ("pydot", TEXTS["DOT"]), ("yaml", TEXTS["YAML"])]
)
def test_a_missing_package_is_named(
    package: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingError, match="pip install networkx pydot pyyaml"):
        read(text)


def test_a_position_names_the_owners_of_whole_continents() -> None:
    answer = ask("board", file=Path(__file__).parents[2] / "examples" / "asia.toml")
    found = answer.record()["continents"]
    owned = [(each["owner"], each["name"], each["bonus"]) for each in found]
    assert owned == [
        ("blue", "North America", 5),
        ("blue", "South America", 2),
        ("red", "Europe", 5),
        ("green", "Africa", 3),
        ("green", "Australia", 2),
    ]
    lines = [str(line) for section in answer.sections() for line in section.parts]
    assert (
        "blue owns North America (+5) and South America (+2); red owns Europe (+5); "
        "green owns Africa (+3) and Australia (+2)."
    ) in lines


REFUSED = {
    "a node-link graph that is a list": (
        '{"graph": [], "nodes": [{"id": "A"}], "links": []}',
        "graph must be an object, got []",
    ),
    "an edge to no node": (
        '{"nodes": [{"id": "A"}],\n "links": [{"source": "A", "target": "Z"}]}',
        "line 2: an edge must have the source and the target of nodes",
    ),
    "a repeated id": ('{"nodes": [{"id": 1}, {"id": 1}], "edges": []}', "the id 1 appears twice"),
    "a word for a truth value": (
        '{"nodes": [], "edges": [], "directed": "no"}',
        "directed must be true or false, got 'no'",
    ),
    "two graphs in GraphML": (
        "<graphml><graph/><graph/></graphml>",
        "must contain one graph, got 2",
    ),
    "a repeated key in YAML": (
        "territories:\n  A: [B]\n  A: [C]\n  B: []\n  C: []\n",
        "line 3: the key 'A' appears twice",
    ),
    "an error in DOT": ("graph {\n  A -- \n}\n", "line "),
    "a matrix with a 2": (
        "0,1,1\n1,0,1\n1,1,2",
        "line 3: the cells of a matrix must be 0 or 1, got '2'",
    ),
    "a matrix with a repeated name": (
        ",A,A\nA,0,1\nA,1,0",
        "the matrix has 'A' twice, first in line 2",
    ),
    "lists in brackets": ("A: [B, C]\nB: [A]\n", "not a board in a known format"),
}


@for_each("kind", list(REFUSED))
def test_a_graph_that_would_be_misread_is_refused(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = REFUSED[kind]
    with pytest.raises(IactaError) as refused:
        read(text)
    assert said in str(refused.value)
    assert capsys.readouterr().out == ""


@for_each("ending", [".gml", ".graphml", ".dot", ".node-link.json"])
@for_each("name", ["&amp;", "node", 'a "b"', "G", "[x]", "//c"])
def test_odd_names_survive_graph_files(name: str, ending: str, tmp_path: Path) -> None:
    continents = {name.replace(";", ""): (2, [name])}
    board, file = (
        Board.from_edges(name, [(name, "B")], continents=continents),
        tmp_path / f"x{ending}",
    )
    write_board(board, file)
    found = read_board(file)
    assert (found.name, found.territories) == (board.name, board.territories)
    assert found.continents == board.continents


def test_graphml_in_another_encoding_is_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><graphml><graph edgedefault="undirected">'
    file = tmp_path / "x.graphml"
    xmlns = 'xmlns="http://graphml.graphdrawing.org/xmlns"'
    text = text.replace("<graphml>", f"<graphml {xmlns}>")
    file.write_bytes(f'{text}<node id="ä"/><node id="b"/></graph></graphml>'.encode("latin-1"))
    assert read_board(file).territories == ("ä", "b")


def list_remarks(text: str) -> list[str]:
    return [remark.text for remark in parse_board_text(text, "tiny").remarks]


DEFAULTS = """graph {
  First;
  node [continent=Asia, bonus=7];
  Siam;
  subgraph inner { node [continent=Europe, bonus=5]; Iceland; Ural [continent=Asia, bonus=7] }
  Siam -- Iceland; First -- Siam; India -- Siam; Ural -- Siam
}"""


def test_subgraphs_at_both_ends_of_an_edge_in_dot_are_read_with_their_edges() -> None:
    board = read('graph { A -- { B -- {C D}; subgraph x {E} } -- "G":n\n }')
    inner = {("B", "C"), ("B", "D")}
    outer = {(end, to) for end in "AG" for to in "BCDE"}
    assert {tuple(sorted(pair)) for pair in board.borders} == {
        tuple(sorted(pair)) for pair in inner | outer
    }


def test_default_attributes_in_dot_apply_to_the_nodes_after_them() -> None:
    continents = {
        each.name: (each.bonus, {*each.territories}) for each in read(DEFAULTS).continents
    }
    assert continents == {"Asia": (7, {"Siam", "India", "Ural"}), "Europe": (5, {"Iceland"})}


def test_default_attributes_in_graphml_apply_to_nodes_without_the_attribute() -> None:
    text = (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="c" for="node" '
        'attr.name="continent" attr.type="string"><default>Asia</default></key>'
        '<graph edgedefault="undirected"><node id="A"/><node id="B"><data key="c">Europe</data>'
        '</node><edge source="A" target="B"/></graph></graphml>'
    )
    assert [(each.name, each.territories) for each in read(text).continents] == [
        ("Asia", ("A",)),
        ("Europe", ("B",)),
    ]


def test_repeated_edges_and_loops_are_remarked() -> None:
    loop = "'C' borders on itself; this border is left out"
    for text in (
        "graph { A -- B; A -- B; B -- C; C -- C; B -- A }",
        json.dumps(
            {
                "multigraph": True,
                "directed": False,
                "nodes": [{"id": name} for name in "ABC"],
                "links": [
                    {"source": start, "target": end} for start, end in ("AB", "AB", "BC", "CC")
                ],
            }
        ),
    ):
        assert list_remarks(text) == ["the edge between 'A' and 'B' is repeated", loop]
        assert names_of(read(text)) == {frozenset("AB"), frozenset("BC")}
    assert list_remarks("graph { A--B; A--B; B--C; B--C; C--D }") == [
        "the edge between 'A' and 'B', and 1 more are repeated"
    ]
    assert list_remarks("from,to\nA,B\nB,C\nC,C\n") == [loop]


def test_unknown_keys_of_territories_and_continents_are_remarked() -> None:
    board = {
        "author": "me",
        "territories": {
            "A": {"continent": "X", "neighbors": ["B"], "pos": [1, 2]},
            "B": {"continent": "X", "pos": [3, 4]},
        },
        "continents": {"X": {"bonus": 3, "colour": "red"}},
    }
    remarks = parse_board_text(json.dumps(board, indent=1), "tiny").remarks
    assert [(remark.line, remark.text.split("'")[1]) for remark in remarks] == [
        (2, "author"),
        (9, "pos"),
        (25, "colour"),
    ]
    assert all(remark.text.endswith("is unknown and ignored") for remark in remarks)


def test_a_table_of_numbers_with_semicolons_is_no_code() -> None:
    assert names_of(read("1;2\n2;3\n")) == {frozenset("12"), frozenset("23")}
    assert names_of(read("0;1;0\n1;0;1\n0;1;0\n")) == {frozenset("12"), frozenset("23")}


def test_graphml_without_a_namespace_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.graphml"
    nodes = '<node id="A"/><node id="B"/><edge source="A" target="B"/>'
    file.write_text(f'<graphml><graph edgedefault="undirected">{nodes}</graph></graphml>')
    assert read_board(file).neighbours("A") == ("B",)
