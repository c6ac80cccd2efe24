"""Charts of battles as processes: states, rolls, paths, transition matrices and boundaries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from iacta.battle.battle import Battle
from iacta.battle.chain import BEYOND, Chain
from iacta.charts.axes_and_labels import (
    ATTACKERS,
    axis,
    categories,
    draw_chance_labels,
    exact_field,
    value_scale,
    whole_axis,
)
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_size, format_battle, format_count
from iacta.charts.theme import BLUE, CATEGORIES, DEEP, GREY, PURPLE, RED
from iacta.charts.vega import Channel, Row, View, field, layer, table_view
from iacta.forms.percentages import percent
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError
from iacta.methods import choose_kernel
from iacta.methods.kernel import Outcome, is_won, read_battle
from iacta.probability.distribution import Distribution
from iacta.rules.rules import Rules
from iacta_literature.taflin import Point, first_passage, roll_chances
from iacta_literature.tree import Node, nodes, paths, tree

NO_ROLL = "No roll can be made."
GOES_ON, WON, LOST = "goes on", "you win", "they hold"
KINDS = {GOES_ON: DEEP[GREY], WON: DEEP[BLUE], LOST: DEEP[RED]}

MAX_NODES = 15  # a chart with more states would be unreadable
LAYER = 95  # the distance in pixels between two layers of states
BEND = 0.5  # how far a line bends sideways to avoid a state, for each layer that it crosses
HALF = 0.5  # the usual distance of a label from the upper state, in layers
APART = {3: (0.4, 0.55, 0.65), 4: (0.35, 0.75, 0.55, 0.35)}
OVAL = "M-1,0A1,0.6,0,1,0,1,0A1,0.6,0,1,0,-1,0Z"
OVAL_SIZE = 1000  # the area of a label's background, for up to five characters

MAX_PATHS = 30  # the maximum number of rows in a chart of paths
PATH_HEIGHT = 34

CIRCLE = 1600
ABOVE = f"-7 - sqrt(datum.probability * {CIRCLE} / PI)"  # vertical offset of a label
MAX_STAGES = len(CATEGORIES)  # each number of rolls has its own colour
MAX_NUMBERS = 30  # a chart with more chances has no labels

MAX_MATRIX_STATES = 300  # the cells of a larger matrix would be too small to see
SIDE = 560

EDGE, PAST = "on the edge", "past the edge"
PLACES = {EDGE: BLUE, PAST: PURPLE}
INSIDE = Point(5, 3)  # the smallest state outside the boundary region
MAX_STATES_CHART_ARMIES = 40  # a chart with more armies would be unreadable
BOUNDARY_HEIGHT = 460


def state_space(
    attackers: int, defenders: int, rules: Rules | str = "classic", *, every: bool = False
) -> Chart:
    """Draw the possible states of a small battle, and the losses in the rolls between them.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    every: whether to show all states with at most these armies, including states that the battle
        cannot visit.

    The table `rolls` has the states before and after each roll, the armies that both sides lose,
    and the chance. The table `states` has `attackers`, `defenders`, the kind of the state (`is`),
    and the probability of visiting the state. Both tables also have exact fractions. Raises
    `IactaError` for more than 15 states.

    Source: Van Wijgerden, "Let slip the dice of war", where states exclude the garrison.
    """
    return _draw_graph(attackers, defenders, rules, "losses", every)


def probability_tree(
    attackers: int, defenders: int, rules: Rules | str = "classic", *, every: bool = False
) -> Chart:
    """Draw the possible states of a small battle, and the chances of the rolls between them.

    attackers, defenders, rules, every: the same as for `state_space`.

    The tables and the exceptions are the same as for `state_space`.

    Source: Van Wijgerden, "Creating a probability tree".
    """
    return _draw_graph(attackers, defenders, rules, "chance", every)


def _draw_graph(
    attackers: int, defenders: int, rules: Rules | str, label: str, every: bool
) -> Chart:
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    count = Battle(attackers, defenders, rules).state_count()
    if every:
        count = (max(attackers - rules.garrison, 0) + 1) * (defenders + 1) - 1
    rule = "a chart of the states of a battle must have at most {} states"
    check_size(
        count, MAX_NODES, rule, f"{_format_battle(attackers, defenders)} with {quote(count)}"
    )
    drawn = list(nodes(tree(attackers, defenders, rules)))
    if every:
        drawn += _list_unvisited(drawn, rules)
    layers = _compute_layers(drawn, every)
    ways = Battle(attackers, defenders, rules).path_count()
    words = "the armies that you and they lose" if label == "losses" else "their chances"
    return Chart(
        _make_graph_view(label).properties(height=LAYER * (max(layers.values()) + 1)),
        f"{format_count(count, 'state')}, and {format_count(ways, 'way')} to the end."
        if count > 1
        else NO_ROLL,
        format_battle(attackers, defenders, rules)
        + f" 3v2: 3 attackers, garrison included, and 2 defenders left; at the rolls: {words}."
        + (" Smaller battles that this one cannot reach are shown too." if every else ""),
        {
            "rolls": [row for node in drawn for row in _list_rolls(node, layers, every)],
            "states": [
                {
                    "state": _format_state(node.state),
                    **node.state._asdict(),
                    "is": _classify_state(node.state, rules),
                    "probability": float(node.probability),
                    "exact": str(node.probability),
                    **dict(zip("xy", _place_state(node.state, layers), strict=True)),
                }
                for node in drawn
            ],
        },
    )


def _format_battle(attackers: int, defenders: int) -> str:
    return f"{quote(attackers)} against {quote(defenders)}"


def _list_unvisited(drawn: Sequence[Node], rules: Rules) -> list[Node]:
    known = {node.state for node in drawn}
    most, against = drawn[0].state
    others: dict[Outcome, Node] = {}
    for start in product(range(rules.garrison + 1, most + 1), range(1, against + 1)):
        for node in nodes(tree(*start, rules)):
            if node.state not in known:
                others[node.state] = Node(node.state, Fraction(0), node.branches)
    return list(others.values())


def _compute_layers(nodes: Sequence[Node], has_all_states: bool) -> dict[Outcome, int]:
    """Return the layer of each state: the length of the longest path to the state, in rolls.

    If `has_all_states` is true, the layer is the number of armies lost. Then no two states overlap.
    """
    if has_all_states:
        most = sum(nodes[0].state)
        return {node.state: most - sum(node.state) for node in nodes}
    layers = {nodes[0].state: 0}
    for node in nodes:  # in descending order of the number of armies
        for branch in node.branches:
            state = branch.node.state
            layers[state] = max(layers.get(state, 0), layers[node.state] + 1)
    return layers


def _format_state(state: Outcome) -> str:
    return "more" if state == BEYOND else f"{state.attackers}v{state.defenders}"


def _place_state(state: Outcome, layers: Mapping[Outcome, int]) -> tuple[int, int]:
    return state.attackers - state.defenders, -layers[state]


def _list_rolls(node: Node, layers: Mapping[Outcome, int], has_all_states: bool) -> Iterator[Row]:
    """Yield a line for each possible roll in a state; labels are placed without overlap."""
    x, y = _place_state(node.state, layers)
    heights = (APART if has_all_states else {}).get(
        len(node.branches), (HALF,) * len(node.branches)
    )
    for branch, height in zip(node.branches, heights, strict=True):
        x2, y2 = _place_state(branch.node.state, layers)
        # A line that would cross another state bends around this state.
        between = {(x + (x2 - x) * k / (y - y2), y - k) for k in range(1, y - y2)}
        bend = 0.0
        if between & {_place_state(state, layers) for state in layers}:
            bend = BEND * len(between) * (1 if x2 >= x else -1)
        yield {
            "from": _format_state(node.state),
            "to": _format_state(branch.node.state),
            "losses": f"{branch.losses.attackers}, {branch.losses.defenders}",
            "chance": f"{float(branch.probability):.0%}",
            "probability": float(branch.probability),
            "exact": str(branch.probability),
            **{"x": x, "y": y, "x2": x2, "y2": y2, "bend": bend},
            "along": 2 * height / (y - y2),
        }


def _classify_state(state: Outcome, rules: Rules) -> str:
    if not state.defenders:
        return WON
    return GOES_ON if state.attackers > rules.garrison else LOST


def _make_exact_fields() -> list[Channel]:
    return [exact_field("probability", "chance"), field("exact:N", title="exactly")]


def _make_graph_view(label: str) -> View:
    """Return the view that draws states and rolls.

    label: the column with the labels of rolls: `losses` or `chance`.

    A roll is drawn as two straight lines that meet at (`mx`, `my`), with a label at (`lx`, `ly`).
    """
    hidden: dict[str, Any] = {
        "x": field("x:Q", axis=None, scale={"zero": False, "nice": False, "padding": 24}),
        "y": field("y:Q", axis=None, scale={"nice": False, "padding": 36}),
    }
    losses = field("losses:N", title="you lose, they lose")
    rolls = table_view(
        "rolls",
        mx="(datum.x + datum.x2) / 2 + datum.bend",
        my="(datum.y + datum.y2) / 2",
        lx="datum.x + datum.along * (datum.mx - datum.x)",
        ly="datum.y + datum.along * (datum.my - datum.y)",
    ).encode(**hidden, tooltip=["from:N", "to:N", losses, *_make_exact_fields()])
    line = rolls.mark("rule", opacity=0.35, strokeWidth=1.5)
    labels = rolls.encode(x=field("lx:Q", axis=None), y=field("ly:Q", axis=None), text=f"{label}:N")
    states = table_view("states").encode(
        **hidden, tooltip=["state:N", "is:N", *_make_exact_fields()]
    )
    return layer(
        line.encode(x2="mx", y2="my"),
        line.encode(x=field("mx:Q", axis=None), y=field("my:Q", axis=None), x2="x2", y2="y2"),
        labels.mark("point", shape=OVAL, size=OVAL_SIZE, filled=True, opacity=1, style="halo"),
        labels.mark("text", fontSize=11),
        states.mark("point", filled=True, size=900, opacity=1).encode(
            color=categories("is", KINDS)
        ),
        states.mark("text", fontSize=11, fontWeight="bold", color="white").encode(text="state:N"),
        draw_chance_labels(states.filter(f"datum.is != '{GOES_ON}'"), dy=25, fontSize=11),
    )


def path_chances(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chart:
    """Draw the chance of each path through a small battle, the likeliest path first.

    attackers, defenders, rules: the same as for `state_space`.

    The table `paths` has the states of each `path`, its end (`ends`), its `probability`, and the
    probability as a fraction (`exact`). Raises `IactaError` for more than 30 paths.

    Source: Van Wijgerden, "Let slip the dice of war", where the seven paths exclude the garrison.
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    count = Battle(attackers, defenders, rules).path_count()
    rule = "a chart of the paths of a battle must have at most {} paths"
    check_size(
        count, MAX_PATHS, rule, f"{_format_battle(attackers, defenders)} with {quote(count)}"
    )
    routes = paths(attackers, defenders, rules)
    rows: list[Row] = [
        {
            "path": ", ".join(map(_format_state, path.states)),
            "ends": WON if is_won(path.states[-1]) else LOST,
            "probability": float(path.probability),
            "exact": str(path.probability),
        }
        for path in sorted(routes, key=lambda path: -path.probability)
    ]
    winning = sum(row["ends"] == WON for row in rows)
    verb = "wins" if winning == 1 else "win"
    likeliest = f"{percent(rows[0]['probability'], 0)} of the time"
    title = f"{winning} of {len(rows)} paths {verb}; the likeliest of all comes {likeliest}."
    base = table_view("paths").encode(
        y=field("path:N", sort=[row["path"] for row in rows], axis=None),
        tooltip=["path:N", "ends:N", *_make_exact_fields()],
    )
    bars = base.mark("bar", height=8, yOffset=8).encode(
        x=axis("probability:Q", "chance", format="~%", tickCount=5),
        color=categories("ends", {WON: BLUE, LOST: RED}, rows),
    )
    label = "datum.path + ':  ' + format(100 * datum.probability, '.1f') + '%'"
    names = base.calculate(label=label).mark("text", align="left", fontSize=11, dx=3, dy=-6)
    placed = names.encode(x={"datum": 0, "type": "quantitative"}, text="label:N")
    return Chart(
        layer(bars, placed).properties(height=PATH_HEIGHT * len(rows)),
        title if len(rows) > 1 else "There is one way to the end.",
        format_battle(attackers, defenders, rules)
        + " Each way to the end, by the attackers and defenders that are left, and its chance.",
        {"paths": rows},
    )


def after_rolls(
    attackers: int, defenders: int, rolls: Sequence[int] = (0, 1, 2), rules: Rules | str = "classic"
) -> Chart:
    """Draw the chances of the states of a battle after given numbers of rolls.

    attackers, defenders, rules: the same as for `state_space`.
    rolls: up to six different numbers of rolls.

    The table `states` has the `probability` of each state after each number of `rolls`. A battle
    that is over keeps its state. The exceptions are the same as for `iacta.Chain`.

    Source: Taflin (2001), figure 1, for one and two rolls.
    """
    counts = sorted({read_int(count, "rolls", minimum=0) for count in rolls})
    if not 1 <= len(counts) <= MAX_STAGES:
        raise IllegalError(f"rolls must be 1 to {MAX_STAGES} different numbers, got {len(counts)}")
    chain = Chain(attackers, defenders, rules)
    after = {count: chain.after(count) for count in counts}
    rows: list[Row] = [
        {"rolls": count, **state._asdict(), "probability": float(chance)}
        for count, states in after.items()
        for state, chance in states.items()
        if state != BEYOND
    ]
    scale = {"zero": False, "nice": False, "padding": 36}
    ticks = {side: whole_axis(row[side] for row in rows) for side in ("attackers", "defenders")}
    base = table_view("states").encode(
        x=axis("attackers:Q", ATTACKERS, scale, **ticks["attackers"]),
        y=axis("defenders:Q", "defenders", scale, **ticks["defenders"]),
        tooltip=["rolls:Q", "attackers:Q", "defenders:Q", exact_field("probability", "chance")],
    )
    tones = value_scale(dict(zip(counts, CATEGORIES, strict=False)))
    color = field("rolls:O", title="rolls", scale=tones)
    size = field("probability:Q", legend=None, scale={"domain": [0, 1], "range": [0, CIRCLE]})
    layers = [base.mark("point", filled=True, opacity=0.75).encode(color=color, size=size)]
    if len(rows) <= MAX_NUMBERS:
        layers.append(draw_chance_labels(base, fontSize=10, dy={"expr": ABOVE}))
    return Chart(
        layer(*layers),
        _format_title(after[counts[-1]], counts[-1], chain),
        format_battle(attackers, defenders, chain.rules)
        + " The states after each number of rolls; the area of a circle is its probability.",
        {"states": rows},
    )


def _format_title(states: Distribution[Outcome], count: int, chain: Chain) -> str:
    if not chain.transient:
        return NO_ROLL
    likeliest = states.mode()
    stands = f"most often {likeliest.attackers} against {likeliest.defenders}"
    if likeliest == BEYOND:
        stands = "most often more armies than are drawn"
    chance = "always" if len(states) == 1 else f"{percent(states[likeliest], 0)} of the time"
    if all(state != BEYOND and _classify_state(state, chain.rules) != GOES_ON for state in states):
        return f"After {format_count(count, 'roll')} it is over, {stands}: {chance}."
    return f"After {format_count(count, 'roll')} it is {stands}: {chance}."


def transition_matrix(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chart:
    """Draw the transition matrix of a battle's Markov chain as an image.

    attackers, defenders, rules: the same as for `state_space`.

    The table `entries` has the positive entries: the `probability` of moving `from` one state `to`
    another in one roll, and the indices of the states, `row` and `column`. The table `bounds` has
    the index of the line that separates transient states from absorbing states. Raises `IactaError`
    for more than 300 states.

    Source: Höhle (2025), where the chain excludes the garrison.
    """
    chain = Chain(attackers, defenders, rules)
    names = [_format_state(state) for state in chain.states]
    count = len(names)
    rule = "a chart of a matrix must have at most {} states"
    check_size(
        count,
        MAX_MATRIX_STATES,
        rule,
        f"{_format_battle(attackers, defenders)} with {quote(count)}",
    )
    entries: list[Row] = [
        {
            "from": names[i],
            "to": names[j],
            "row": i,
            "column": j,
            "probability": float(chain.P[i, j]),
        }
        for i, j in zip(*(part.tolist() for part in chain.P.nonzero()), strict=True)
    ]
    transient = len(chain.transient)
    label = f"{json.dumps(names)}[datum.value]"
    scale: dict[str, Any] = {"domain": [-0.5, count - 0.5], "nice": False}
    look = {"labelExpr": f"datum.value % 1 ? '' : {label}", "tickMinStep": 1, "grid": False}
    across = {"x": "datum.column - 0.5", "x2": "datum.column + 0.5"}
    down = {"y": "datum.row - 0.5", "y2": "datum.row + 0.5"}
    legend = {"format": "%", "gradientLength": 200, "values": [0, 0.1, 0.4, 1]}
    tones = {"type": "sqrt", "domain": [0, 1], "range": "ramp"}
    colour = field("probability:Q", title="chance", scale=tones, legend=legend)
    cells = table_view("entries", **across, **down).encode(
        x=axis("x:Q", "to", scale, **look),
        x2="x2",
        y=axis("y:Q", "from", {**scale, "reverse": True}, **look),
        y2="y2",
        color=colour,
        tooltip=["from:N", "to:N", exact_field("probability")],
    )
    bounds = table_view("bounds").mark("rule", opacity=0.5, strokeDash=[4, 3])
    layers = (cells.mark("rect"), bounds.encode(x="at:Q"), bounds.encode(y="at:Q"))
    return Chart(
        layer(*layers).properties(height=SIDE),
        f"Each roll leads to few states: of {count * count:,} entries {len(entries):,} are not 0."
        if transient
        else NO_ROLL,
        format_battle(attackers, defenders, chain.rules)
        + " The probability of one roll from the state of the row to that of the column; beyond "
        "the lines the battle is over.",
        {"entries": entries, "bounds": [{"at": transient - 0.5}]},
    )


def first_passages(attackers: int, defenders: int, rules: Rules | str = "classic") -> Chart:
    """Draw the states at which a battle first has too few armies for all dice.

    attackers, defenders, rules: the same as for `state_space`, but the rules must have three attack
        dice and two defence dice.

    Taflin calls these states the boundary region. The table `points` has `attackers`, `defenders`,
    the `place` of the state (on the edge of the region or past the edge), and the `probability`
    that the battle enters the region in this state. The probabilities sum to 1. The table `rolls`
    has the rolls that enter the region. Raises `IactaError` for other dice, for more than 40 armies
    on a side, and for battles that start in the region.

    Source: Taflin (2001), figure 2 and equations (15)-(16).
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    choose_kernel(rules, method="closed_form").refuse(1, 1)
    behind = rules.garrison - 1  # the garrison in excess of the one army that a `Point` includes
    start, battle = Point(attackers - behind, defenders), _format_battle(attackers, defenders)
    if start.m < INSIDE.m or start.n < INSIDE.n:
        raise IllegalError(
            f"a battle that reaches the boundary must start with at least {INSIDE.m + behind} "
            f"attackers against {INSIDE.n} defenders, got {battle}"
        )
    rule = "a chart of the boundary must have at most {} armies on a side"
    check_size(max(start), MAX_STATES_CHART_ARMIES, rule, battle)
    passages = first_passage(start, roll_chances(rules))
    points = [
        {
            "attackers": m + behind,
            "defenders": n,
            "place": EDGE if m >= INSIDE.m - 1 and n >= INSIDE.n - 1 else PAST,
            "probability": float(chance),
            "exact": str(chance),
        }
        for (m, n), chance in passages.items()
    ]
    rolls = [
        {
            "from": f"{before.m + behind}v{before.n}",
            "to": f"{m + behind}v{n}",
            **{"x": before.m + behind, "y": before.n, "x2": m + behind, "y2": n},
        }
        for m, n in passages
        for before in (Point(m + lost, n + 2 - lost) for lost in (0, 1, 2))
        if INSIDE.m <= before.m <= start.m and INSIDE.n <= before.n <= start.n
    ]
    likeliest = max(passages, key=lambda point: passages[point])
    largest = 500 * min(1, 12 / max(start))
    return Chart(
        _make_boundary_view(largest, attackers, defenders),
        f"Most often it leaves the free space at {likeliest.m + behind} against {likeliest.n}: "
        f"{percent(passages[likeliest], 0)} of the time.",
        format_battle(attackers, defenders, rules)
        + " In the free space (grey points) both sides have more armies than all their dice "
        "need. Lines: the rolls that lead out of it; the area of a circle is its probability.",
        {
            "points": points,
            "rolls": rolls,
            "starts": [{"attackers": attackers, "defenders": defenders}],
        },
    )


def _make_boundary_view(largest: float, attackers: int, defenders: int) -> View:
    scale = {"zero": False, "nice": False, "padding": 24}
    x = axis("attackers:Q", ATTACKERS, scale, **whole_axis((0, attackers)))
    y = axis("defenders:Q", "defenders", scale, **whole_axis((0, defenders)))
    lines = table_view("rolls").mark("rule", opacity=0.35)
    free = table_view("rolls").mark("point", filled=True, opacity=1, color=GREY, size=25)
    points = table_view("points").mark("point", filled=True, opacity=0.85)
    start = table_view("starts").encode(x=x, y=y)
    name = start.mark("text", text="start", dx=-20, fontSize=11, fontWeight="bold")
    dot = start.mark("text", text="●", fontSize=14)
    return layer(
        lines.encode(x="x:Q", y="y:Q", x2="x2", y2="y2", tooltip=["from:N", "to:N"]),
        free.encode(x="x:Q", y="y:Q"),
        points.encode(
            x=x,
            y=y,
            color=categories("place", PLACES),
            size=field("probability:Q", legend=None, scale={"range": [0, largest]}),
            tooltip=["attackers:Q", "defenders:Q", *_make_exact_fields()],
        ),
        dot,
        name,
    ).properties(height=BOUNDARY_HEIGHT)
