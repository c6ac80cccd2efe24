"""Graph files, read and written through NetworkX: GML, GraphML, DOT and node-link JSON.

```text
graph tiny {
  subgraph cluster_x { label="Africa"; bonus=3; Egypt; "East Africa" }
  Egypt -- "East Africa";
  Peru -- Egypt;
}
```

A node is a territory, and an edge is a border, which leads both ways unless the graph is directed.
The attributes of a node are optional:

- `name` or `label`: the name of the territory; by default the identifier of the node
- `continent` and `bonus`: its continent, and the bonus of the continent; lists separated by
  semicolons for a territory in several continents
- `x` and `y`: its place

In DOT, a cluster with a label is a continent too. Weights and other attributes are ignored.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from itertools import chain, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from iacta.board.board import (
    MAX_BONUS,
    MAX_BORDERS,
    MAX_TERRITORIES,
    Board,
    check_count,
    collapse_spaces,
    read_point,
)
from iacta.board.formats.draft import (
    BoardFormat,
    Draft,
    DraftContinent,
    DraftTerritory,
    Mention,
    Remark,
)
from iacta.board.formats.reading import BoardText, Element, FileTable, prefix_line
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, missing_error

if TYPE_CHECKING:
    import networkx as nx
    import pydot

QUOTED = r'"(?:[^"\\]|\\.)*+"'
COMMENT = re.compile(rf"({QUOTED})|//[^\n]*|^[ \t]*#[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
DOT = re.compile(rf"\s*(?:strict\s+)?(?:di)?graph\b\s*(?:{QUOTED}|[^\[{{\"]*)\s*\{{", re.IGNORECASE)
XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
DOT_GRAPH = re.compile(r"^[ \t]*(?:strict\s+)?(?:di)?graph\b", re.MULTILINE | re.IGNORECASE)
DOT_NAME = re.compile(rf"{QUOTED}|[\w.-]+")
GML_BLOCK = re.compile(r'"[^"]*"|#[^\n]*|\b(node|edge)\s*\[')
GML_PLACE = re.compile(r"at \((\d+), \d+\)")
GML_PART = re.compile(r"(node|edge) #(\d+) ")
GML_TWICE = re.compile(r"node id (.*) is duplicated")
SYNTAX_LINE = re.compile(r"\(line:(\d+)")
GML = re.compile(r"(?:\s*(?!graph\b)\w+\s[^\n\[]*\n)*\s*graph\s*\[", re.IGNORECASE)
CONTINENT_MARK = ";"  # separates the continents of a territory
# The exceptions that NetworkX raises for wrong files, besides its own.
MISTAKES = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError)
KEYS = ("name", "label", "title")
KEYWORDS = ("node", "edge", "graph")  # without quotes, they set defaults in DOT


def _load_networkx() -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise missing_error("graph files need NetworkX, which is not installed", "graphs") from None
    return nx


# Reading.


def _read_gml(source: BoardText, name: str) -> Draft | None:
    if not GML.match(COMMENT.sub(r"\1", source.plain)):
        return None
    nx, text = _load_networkx(), source.plain
    # Without this flag, NetworkX refuses repeated edges.
    if (start := GML.match(text)) and "multigraph" not in text:
        text = f"{start[0]} multigraph 1 {text[start.end() :]}"
    lines = _find_gml_lines(text)
    try:
        graph = nx.parse_gml(text, label="id")
    except (*MISTAKES, nx.NetworkXError) as error:
        sentence = f"the text is not GML: {_say(error)}"
        line = _find_gml_fault(str(error), text, lines)
        raise MalformedError(prefix_line(line, sentence)) from None
    return _make_draft(graph, name, dict(zip(graph, lines["node"], strict=False)))


def _find_gml_lines(text: str) -> dict[str, list[int]]:
    """Return the line of each node and of each edge in GML, in the order of the text."""
    lines: dict[str, list[int]] = {"node": [], "edge": []}
    line, end = 1, 0
    for found in GML_BLOCK.finditer(text):
        line, end = line + text.count("\n", end, found.start()), found.start()
        if found[1]:
            lines[found[1]].append(line)
    return lines


def _find_gml_fault(message: str, text: str, lines: Mapping[str, Sequence[int]]) -> int | None:
    """Return the line of the mistake that an error message of NetworkX describes, or `None`.

    message: the error message.
    text: the text in GML.
    lines: the lines of nodes and edges, from `_find_gml_lines`.
    """
    if twice := GML_TWICE.match(message):
        found = [*re.finditer(rf"\bid\s+{re.escape(twice[1])}(?!\w)", text)]
        return text.count("\n", 0, found[1].start()) + 1 if len(found) > 1 else None
    if place := GML_PLACE.search(message):
        return min(int(place[1]), text.rstrip().count("\n") + 1)  # at the end, the line after it
    if (part := GML_PART.match(message)) and int(part[2]) < len(lines[part[1]]):
        return lines[part[1]][int(part[2])]
    return None


def _read_graphml(source: BoardText, name: str) -> Draft | None:
    top = source.xml("graphml")
    if top is None:
        return None
    graphs = [*top.find_all("graph")]
    if len(graphs) != 1:
        line = graphs[1].line if graphs else top.line
        sentence = f"the text must contain one graph, got {len(graphs)}"
        raise MalformedError(prefix_line(line, sentence))
    lines = _check_graphml(graphs[0])
    nx = _load_networkx()
    try:
        graph = nx.parse_graphml(XML_DECLARATION.sub("", source.text))
    except (
        nx.NetworkXError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        SyntaxError,
    ) as error:
        values = (
            data.line
            for part in graphs[0].inner
            for data in part.find_all("data")
            if data.text and quote(data.text) in str(error)
        )
        sentence = f"the text is not GraphML: {_say(error)}"
        raise MalformedError(prefix_line(next(values, None), sentence)) from None
    for _, given in graph.nodes(data=True):
        for key, value in graph.graph.get("node_default", {}).items():
            given.setdefault(key, value)
    return _make_draft(graph, name, lines)


def _check_graphml(graph: Element) -> dict[str, int]:
    """Return the line of each node of GraphML.

    Raises `MalformedError` for a node without an id, for repeated ids, and for edges without nodes.
    """
    lines: dict[str, int] = {}
    for node in graph.find_all("node"):
        key = node.attributes.get("id")
        if key is None:
            raise MalformedError(f"line {node.line}: a node must have an id")
        if key in lines:
            raise MalformedError(f"line {node.line}: the id {quote(key)} appears twice")
        lines[key] = node.line
    for edge in graph.find_all("edge"):
        ends = edge.attributes.get("source"), edge.attributes.get("target")
        if not {*ends} <= lines.keys():
            raise MalformedError(
                f"line {edge.line}: an edge must have the source and the target of nodes, got "
                f"{quote(ends[0])} and {quote(ends[1])}"
            )
    return lines


def _read_node_link(source: BoardText, name: str) -> Draft | None:
    table = source.json
    entries = table.entries if table else {}
    links = next((key for key in ("links", "edges") if isinstance(entries.get(key), list)), None)
    if table is None or links is None or not isinstance(entries.get("nodes"), list):
        return None
    _check_node_link(table, links)
    nx = _load_networkx()
    try:
        graph = nx.node_link_graph(dict(entries), edges=links)
    except (*MISTAKES, nx.NetworkXError) as error:
        raise MalformedError(f"the JSON is not a node-link graph: {_say(error)}") from None
    lines = (table.find_line(("nodes", k)) for k in range(len(entries["nodes"])))
    return _make_draft(graph, name, dict(zip(graph, lines, strict=False)))


def _check_node_link(table: FileTable, links: str) -> None:
    """Refuse JSON in which NetworkX would add or lose nodes."""
    entries, known = table.entries, set[str]()
    for key, kind, what in (("graph", Mapping, "an object"), ("directed", bool, "true or false")):
        if key in entries and not isinstance(entries[key], kind):
            table.refuse((key,), f"{key} must be {what}, got {quote(entries[key])}")
    for k, node in enumerate(entries["nodes"]):
        if not isinstance(node, Mapping) or not isinstance(node.get("id"), str | int):
            table.refuse(("nodes", k), f"a node must be an object with an id, got {quote(node)}")
        if str(node["id"]) in known:
            table.refuse(("nodes", k), f"the id {quote(node['id'])} appears twice")
        known.add(str(node["id"]))
    for k, link in enumerate(entries[links]):
        ends = [
            link.get(key) if isinstance(link, Mapping) else None for key in ("source", "target")
        ]
        if any(str(end) not in known for end in ends):
            table.refuse(
                (links, k),
                f"an edge must have the source and the target of nodes, got {quote(link)}",
            )


def _read_dot(source: BoardText, name: str) -> Draft | None:
    if not DOT.match(COMMENT.sub(r"\1", source.plain)):
        return None
    nx = _load_networkx()
    try:
        import pydot
    except ImportError:
        raise missing_error("DOT files need pydot, which is not installed", "graphs") from None
    printed = io.StringIO()  # pydot prints a syntax error and returns nothing
    try:
        with redirect_stdout(printed):
            found = pydot.graph_from_dot_data(source.plain)
    except Exception as error:  # the parser of pydot documents no exceptions
        raise MalformedError(f"the text is not DOT: {_say(error)}") from None
    if not found:
        line = SYNTAX_LINE.search(printed.getvalue())
        sentence = "the text is not DOT: it has a syntax error"
        raise MalformedError(prefix_line(int(line[1]) if line else None, sentence))
    if len(found) > 1:
        starts = [*DOT_GRAPH.finditer(source.plain)]
        second = source.plain.count("\n", 0, starts[1].start()) + 1 if len(starts) > 1 else None
        sentence = f"the text must contain one DOT graph, got {len(found)}"
        raise MalformedError(prefix_line(second, sentence))
    top = found[0]
    graph = nx.MultiDiGraph() if top.get_type() == "digraph" else nx.MultiGraph()
    if top.get_name() != "G":  # the name that pydot gives to a graph without a name
        graph.graph["name"] = _unquote(str(top.get_name()))
    mentions: list[tuple[tuple[int, ...], str, dict[str, str]]] = []
    for part, place, inherited in _walk_graphs(top):

        def mention(key: str, by: Any) -> None:
            defaults = inherited | _read_defaults(part, before=by)  # noqa: B023 # called at once
            mentions.append(((*place, by.get_sequence()), key, defaults))  # noqa: B023

        cluster = _read_attributes(part) if part is not top else {}
        for node in part.get_nodes():
            key = str(node.get_name())
            if key not in KEYWORDS:
                _add_node(graph, _unquote(key), _read_attributes(node), cluster)
                mention(_unquote(key), node)
        for edge in part.get_edges():
            ends = [_read_end(end) for end in (edge.get_source(), edge.get_destination())]
            for key in (key for nodes, _ in ends for key in nodes):
                _add_node(graph, key, {}, cluster)
                mention(key, edge)
            graph.add_edges_from(product(ends[0][0], ends[1][0]))
            # In a chain of edges, a subgraph is the end of two edges.
            inside = (pair for _, edges in ends for pair in edges)
            graph.add_edges_from([pair for pair in inside if not graph.has_edge(*pair)])
    _set_defaults(graph, mentions)
    return _make_draft(graph, name, _find_dot_lines(source.plain, graph))


def _find_dot_lines(text: str, graph: "nx.Graph[Any]") -> dict[Any, int]:
    """Return the line at which each node of DOT is mentioned first."""
    lines: dict[str, int] = {}
    line, end = 1, 0
    for found in DOT_NAME.finditer(text):
        line, end = line + text.count("\n", end, found.start()), found.start()
        lines.setdefault(_unquote(found[0]), line)
    return {node: lines[node] for node in graph if node in lines}


def _add_node(
    graph: "nx.Graph[Any]", key: str, attributes: Mapping[str, str], cluster: Mapping[str, str]
) -> None:
    """Add a node of DOT, with the continent of its cluster."""
    home = {}
    if "label" in cluster:
        home = {"continent": cluster["label"], "bonus": cluster.get("bonus", "0")}
    graph.add_node(key, **home | dict(attributes))


def _set_defaults(
    graph: "nx.Graph[Any]", mentions: Iterable[tuple[tuple[int, ...], str, Mapping[str, str]]]
) -> None:
    """Give each node of DOT the defaults of its first mention.

    mentions: the place of each mention in the file, the node, and the defaults at this place.
    """
    seen = set[str]()
    for _, key, defaults in sorted(mentions, key=itemgetter(0)):
        if key not in seen:
            seen.add(key)
            for name, value in defaults.items():
                graph.nodes[key].setdefault(name, value)


def _read_defaults(part: "pydot.Graph", *, before: Any) -> dict[str, str]:
    """Return the attributes that `node [...]` sets for the nodes after it.

    before: the part of the graph that follows the defaults.
    """
    found: dict[str, str] = {}
    for node in part.get_nodes():
        if node.get_name() == "node" and node.get_sequence() < before.get_sequence():
            found |= _read_attributes(node)
    return found


def _walk_graphs(
    graph: "pydot.Graph",
) -> "Iterator[tuple[pydot.Graph, tuple[int, ...], dict[str, str]]]":
    """Yield a graph and all graphs inside it, with their places and the defaults of their nodes."""
    waiting: list[tuple[pydot.Graph, tuple[int, ...], dict[str, str]]] = [(graph, (), {})]
    while waiting:
        part, place, inherited = waiting.pop(0)
        yield part, place, inherited
        waiting += [
            (
                inner,
                (*place, inner.get_sequence() or 0),
                inherited | _read_defaults(part, before=inner),
            )
            for inner in part.get_subgraphs()
        ]


def _read_end(end: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the nodes and the edges at an end of an edge, which is a node or a subgraph."""
    if isinstance(end, str):  # a node may have a port
        quoted = re.match(QUOTED, end)
        return [_unquote(quoted[0] if quoted else end.partition(":")[0])], []
    parts = end if isinstance(end, Mapping) else end.obj_dict
    nodes, edges = [_unquote(name) for name in parts.get("nodes", {})], list[tuple[str, str]]()
    pairs = [[*map(_read_end, ends)] for ends in parts.get("edges", {})]
    groups = [_read_end(each) for group in parts.get("subgraphs", {}).values() for each in group]
    for more_nodes, more_edges in (*chain.from_iterable(pairs), *groups):
        nodes += more_nodes
        edges += more_edges
    edges += (pair for start, end in pairs for pair in product(start[0], end[0]))
    return [*dict.fromkeys(nodes)], edges


def _read_attributes(part: Any) -> dict[str, str]:
    return {key: _unquote(str(value)) for key, value in part.get_attributes().items()}


def _unquote(text: str) -> str:
    r"""Return the text of a DOT identifier.

    >>> _unquote('"the \\"Cape\\""'), _unquote("Peru")
    ('the "Cape"', 'Peru')
    """
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"')
    return text


def _make_draft(graph: "nx.Graph[Any]", name: str, lines: Mapping[Any, int | None]) -> Draft:
    """Convert a graph to a draft.

    lines: the line of each node in the file, where it is known.
    """
    check_count(graph.number_of_nodes(), MAX_TERRITORIES, "territories")
    check_count(graph.number_of_edges(), MAX_BORDERS, "borders")
    if None in graph:
        raise MalformedError("each node must have an id, and each edge two nodes")
    beside: dict[Any, dict[Any, None]] = {node: {} for node in graph}
    edges = Counter((start, end) for start, end, *_ in graph.edges())
    for start, end in edges:
        beside[start][end] = None
    territories = [
        DraftTerritory(
            str(node),
            _find_name(node, given),
            lines.get(node),
            tuple(Mention(str(end), lines.get(node)) for end in beside[node]),
            _find_place(given, lines.get(node)),
        )
        for node, given in graph.nodes(data=True)
    ]
    title = graph.graph.get("name") or graph.graph.get("label")
    title = collapse_spaces(str(title)) if title else name
    continents, remarks = _list_continents(graph, lines), tuple(_list_remarks(edges))
    return Draft(title, territories, continents, graph.is_directed(), remarks=remarks)


def _list_remarks(edges: Mapping[tuple[Any, Any], int]) -> Iterator[Remark]:
    """Yield a remark if some edges are repeated."""
    repeated = [ends for ends, n in edges.items() if n > 1]
    if repeated:
        start, end = (quote(str(node)) for node in repeated[0])
        others = f", and {len(repeated) - 1} more are" if len(repeated) > 1 else " is"
        yield Remark(None, f"the edge between {start} and {end}{others} repeated")


def _find_name(node: object, given: Mapping[str, Any]) -> str:
    texts = (str(given[key]) for key in KEYS if given.get(key) not in (None, ""))
    name = collapse_spaces(next(texts, "").replace("\\n", " "))
    return collapse_spaces(str(node)) if name in ("", r"\N") else name


def _find_place(given: Mapping[str, Any], line: int | None) -> tuple[float, float] | None:
    if "x" not in given or "y" not in given:
        return None
    x, y = (str(given[key]) for key in ("x", "y"))
    try:
        return read_point([float(x), float(y)], "x and y")
    except ValueError:
        sentence = f"x and y must be numbers, got {quote(x)} and {quote(y)}"
        raise MalformedError(prefix_line(line, sentence)) from None


def _list_continents(
    graph: "nx.Graph[Any]", lines: Mapping[Any, int | None]
) -> list[DraftContinent]:
    """Return the continents that the nodes name, in the order of their first nodes.

    lines: the line of each node in the file, where it is known.
    """
    members: dict[str, list[Mention]] = {}
    worth_of: dict[str, int] = {}
    for node, given in graph.nodes(data=True):
        names = _split(given.get("continent", ""))
        worth = _split(given.get("bonus", "")) or ["0"] * len(names)
        if len(worth) not in (1, len(names)):
            sentence = (
                f"node {quote(str(node))} must have as many bonuses as continents, got "
                f"{quote(given['bonus'])} for {quote(given['continent'])}"
            )
            raise MalformedError(prefix_line(lines.get(node), sentence))
        for continent, bonus in zip(names, worth * len(names), strict=False):
            members.setdefault(continent, []).append(Mention(str(node), lines.get(node)))
            known = worth_of.get(continent, 0)
            worth_of[continent] = _choose_bonus(continent, known, bonus, lines.get(node))
    return [
        DraftContinent(
            name,
            name,
            mentions[0].line,
            worth_of[name],
            tuple(mentions),
        )
        for name, mentions in members.items()
    ]


def _split(value: object) -> list[str]:
    parts = value if isinstance(value, list) else str(value).split(CONTINENT_MARK)
    return [part for each in parts if (part := collapse_spaces(str(each)))]


def _choose_bonus(continent: str, known: int, text: str, line: int | None) -> int:
    """Return the bonus of a continent, which one of its nodes states; 0 counts as no bonus.

    known: the bonus of the nodes before.
    text: the bonus of a node.
    line: the line of the node in the file.
    """
    try:
        bonus = parse_int(text, f"bonus of {quote(continent)}", -MAX_BONUS, MAX_BONUS)
    except IactaError as error:
        raise type(error)(prefix_line(line, str(error))) from None
    if bonus and known and bonus != known:
        sentence = f"continent {quote(continent)} must have one bonus, got {known} and {bonus}"
        raise IllegalError(prefix_line(line, sentence))
    return bonus or known


def _say(error: Exception) -> str:
    """Return the first line of the message of another library's exception."""
    return quote(collapse_spaces(str(error).partition("\n")[0]) or type(error).__name__)


# Writing.


def _make_graph(board: Board) -> "nx.Graph[str]":
    """Convert a board to a graph; raise `IactaError` if the graph cannot name its continents."""
    nx = _load_networkx()
    ways = set(board.borders)
    is_directed = any((end, start) not in ways for start, end in board.borders)
    graph = nx.DiGraph(name=board.name) if is_directed else nx.Graph(name=board.name)
    for name in board.territories:
        homes = [each for each in board.continents if name in each.territories]
        worth = {
            "continent": CONTINENT_MARK.join(each.name for each in homes),
            "bonus": CONTINENT_MARK.join(str(each.bonus) for each in homes),
        }
        graph.add_node(name, **(worth if homes else {}))
    for continent in board.continents:
        if CONTINENT_MARK in continent.name:
            wrong = "the name of a continent must have no semicolon"
        elif not continent.territories:
            wrong = "a continent must have territories"
        else:
            continue
        raise IllegalError(f"in graph files {wrong}, got {quote(continent.name)}")
    for name, (x, y) in zip(board.territories, board.places, strict=bool(board.places)):
        graph.add_node(name, x=x, y=y)
    graph.add_edges_from(board.borders)
    return graph


def _write_gml(board: Board) -> str:
    return "\n".join(_load_networkx().generate_gml(_make_graph(board))) + "\n"


def _write_graphml(board: Board) -> str:
    return "\n".join(_load_networkx().generate_graphml(_make_graph(board))) + "\n"


def _write_node_link(board: Board) -> str:
    record = _load_networkx().node_link_data(_make_graph(board), edges="links")
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _write_dot(board: Board) -> str:
    graph = _make_graph(board)
    kind, arrow = ("digraph", "->") if graph.is_directed() else ("graph", "--")
    nodes = (f"  {_quote(node)}{_format_attributes(given)};" for node, given in graph.nodes.data())
    edges = (f"  {_quote(start)} {arrow} {_quote(end)};" for start, end in graph.edges())
    return "\n".join([f"{kind} {_quote(board.name)} {{", *nodes, *edges, "}\n"])


def _format_attributes(given: Mapping[str, Any]) -> str:
    parts = ", ".join(f"{key}={_quote(str(value))}" for key, value in given.items())
    return f" [{parts}]" if parts else ""


def _quote(text: str) -> str:
    if "\\" in text:
        raise IllegalError(f"in DOT a name must have no backslash, got {quote(text)}")
    return '"' + text.replace('"', '\\"') + '"'


FORMATS: Iterable[BoardFormat] = (
    BoardFormat("GML", ".gml", _read_gml, _write_gml),
    BoardFormat("GraphML", ".graphml", _read_graphml, _write_graphml),
    BoardFormat("DOT", ".dot", _read_dot, _write_dot),
    BoardFormat("node-link", ".node-link.json", _read_node_link, _write_node_link),
)
