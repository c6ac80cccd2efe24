"""Pictures of the states that a battle comes by, and of the rolls between them."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import altair as alt

from iacta.charts.state_layers import GOES_ON, HELD, WON, graph
from iacta.charts.theme import (
    CATEGORIES,
    AnyChart,
    Row,
    finish,
    named,
    whole_axis,
)
from iacta.charts.words import fight, per_cent
from iacta.checks import shown, whole_number
from iacta.distribution import Distribution
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import path_tree
from iacta.methods.chain import BEYOND, Chain
from iacta.methods.limits import read_battle
from iacta.methods.markov import chain
from iacta.methods.outcome import Outcome
from iacta.methods.path_tree import Branch, Node
from iacta.rules.rules import Rules

__all__ = ["after_rolls", "probability_tree", "state_space", "transition_matrix"]

NO_ROLL = "No roll can be made."

MOST_NODES = 15
LAYER = 95
BEND = 0.5  # of a roll past a state that it does not come by
HALF = 0.5  # of a layer
APART = {3: (0.4, 0.55, 0.65), 4: (0.35, 0.75, 0.55, 0.35)}  # where rolls cross each other

CIRCLE = 1600
ABOVE = f"-7 - sqrt(datum.probability * {CIRCLE} / PI)"  # its circle

MOST_STAGES = len(CATEGORIES)
MOST_NUMBERS = 30  # of more chances, none is written
MOST_MATRIX_STATES = 300
SIDE = 560


def state_space(
    attackers: int, defenders: int, rules: Rules | str = "classic", *, every: bool = False
) -> AnyChart:
    """Return the states that a small battle can come by, and the losses that lead to them.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    every: whether to show every state with at most so many armies, also those that the battle does
        not come by.

    The chart has a table `rolls`: from which state to which, the armies that both sides lose, and
    the chance; and a table `states`: `attackers`, `defenders`, what the state `is`, and the chance
    to come by it. Both tell exact chances too. More than 15 states are refused.

    Source: Van Wijgerden, "Let slip the dice of war", whose states leave out the garrison.
    """
    return _graph(attackers, defenders, rules, "losses", every)


def probability_tree(
    attackers: int, defenders: int, rules: Rules | str = "classic", *, every: bool = False
) -> AnyChart:
    """Return the states that a small battle can come by, and the chances of the rolls between.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    every: as for `state_space`.

    The tables are those of `state_space`, and the same is refused.

    Source: Van Wijgerden, "Creating a probability tree".
    """
    return _graph(attackers, defenders, rules, "chance", every)


def _graph(attackers: int, defenders: int, rules: Rules | str, label: str, every: bool) -> AnyChart:
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    count = _state_count(attackers, defenders, rules, every)
    if count > MOST_NODES:
        raise TooLargeError(
            f"a battle whose states are drawn must have at most {MOST_NODES} of them, got "
            f"{shown(attackers)} against {shown(defenders)} with {shown(count)}"
        )
    nodes = list(path_tree.nodes(path_tree.tree(attackers, defenders, rules)))
    nodes += _others(nodes, rules) if every else []
    layers = _by_armies(nodes) if every else _layers(nodes)
    paths = path_tree.path_count(attackers, defenders, rules)
    words = "the armies that you and they lose" if label == "losses" else "their chances"
    return finish(
        graph(label).properties(height=LAYER * (max(layers.values()) + 1)),
        f"{_counted(count, 'state')}, and {_counted(paths, 'way')} to the end."
        if count > 1
        else NO_ROLL,
        fight(attackers, defenders, rules)
        + f" 3v2: 3 attackers, garrison included, and 2 defenders left; at the rolls: {words}."
        + (" Smaller battles that this one does not come by are shown too." if every else ""),
        {
            "rolls": [
                _roll(node, branch, layers, label_at)
                for node in nodes
                for branch, label_at in zip(
                    node.branches, _label_places(len(node.branches), every), strict=True
                )
            ],
            "states": [_state(node, layers, rules) for node in nodes],
        },
    )


def _state_count(attackers: int, defenders: int, rules: Rules, every: bool) -> int:
    if every:
        return (max(attackers - rules.garrison, 0) + 1) * (defenders + 1) - 1
    return path_tree.state_count(attackers, defenders, rules)


def _others(nodes: Sequence[Node], rules: Rules) -> list[Node]:
    """Return the nodes of smaller battles that a battle does not come by."""
    known = {node.state for node in nodes}
    most, against = nodes[0].state
    others: dict[Outcome, Node] = {}
    for start in product(range(rules.garrison + 1, most + 1), range(1, against + 1)):
        for node in path_tree.nodes(path_tree.tree(*start, rules)):
            if node.state not in known:
                others[node.state] = Node(node.state, Fraction(0), node.branches)
    return list(others.values())


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _layers(nodes: Sequence[Node]) -> dict[Outcome, int]:
    """Return for each state the most rolls that lead to it: its place from the top."""
    layers = {nodes[0].state: 0}
    for node in nodes:  # those with more armies come first
        for branch in node.branches:
            state = branch.node.state
            layers[state] = max(layers.get(state, 0), layers[node.state] + 1)
    return layers


def _by_armies(nodes: Sequence[Node]) -> dict[Outcome, int]:
    """Return for each state the armies lost: its place from the top, which no other shares."""
    most = sum(nodes[0].state)
    return {node.state: most - sum(node.state) for node in nodes}


def _label_places(count: int, every: bool) -> Sequence[float]:
    """Return how many layers below a state its rolls have their numbers."""
    return APART.get(count, (HALF,) * count) if every else (HALF,) * count


def _name(state: Outcome) -> str:
    return "more" if state == BEYOND else f"{state.attackers}v{state.defenders}"


def _place(state: Outcome, layers: dict[Outcome, int]) -> tuple[int, int]:
    return state.attackers - state.defenders, -layers[state]


def _roll(node: Node, branch: Branch, layers: dict[Outcome, int], label_at: float) -> Row:
    (x, y), (x2, y2) = _place(node.state, layers), _place(branch.node.state, layers)
    lost = branch.losses
    return {
        "from": _name(node.state),
        "to": _name(branch.node.state),
        "losses": f"{lost.attackers}, {lost.defenders}",
        "chance": f"{float(branch.probability):.0%}",
        "probability": float(branch.probability),
        "exact": str(branch.probability),
        **{"x": x, "y": y, "x2": x2, "y2": y2, "bend": _bend((x, y), (x2, y2), layers)},
        "along": 2 * label_at / (y - y2),
    }


def _bend(start: tuple[int, int], end: tuple[int, int], layers: dict[Outcome, int]) -> float:
    """Return how far a roll must keep aside so as not to seem to lead to a state between."""
    (x, y), (x2, y2) = start, end
    between = {(x + (x2 - x) * k / (y - y2), y - k) for k in range(1, y - y2)}
    if not between & {_place(state, layers) for state in layers}:
        return 0.0
    return BEND * len(between) * (1 if x2 >= x else -1)


def _state(node: Node, layers: dict[Outcome, int], rules: Rules) -> Row:
    x, y = _place(node.state, layers)
    return {
        "state": _name(node.state),
        **node.state._asdict(),
        "is": _kind(node.state, rules),
        "probability": float(node.probability),
        "exact": str(node.probability),
        **{"x": x, "y": y},
    }


def _kind(state: Outcome, rules: Rules) -> str:
    if not state.defenders:
        return WON
    return GOES_ON if state.attackers > rules.garrison else HELD


def after_rolls(
    attackers: int, defenders: int, rolls: Sequence[int] = (0, 1, 2), rules: Rules | str = "classic"
) -> AnyChart:
    """Return where a battle stands after some rolls.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rolls: after how many rolls, up to six different numbers.
    rules: `Rules`, or the name of a rule set.

    The chart has a table `states`: after so many `rolls` the `probability` of each state. A battle
    that is over stays where it ended. Refused is what `iacta.methods.markov` refuses.

    Source: Taflin (2001), figure 1, for one and two rolls.
    """
    told = sorted({whole_number(count, "rolls", least=0) for count in rolls})
    if not 1 <= len(told) <= MOST_STAGES:
        raise IllegalError(
            f"rolls must have from 1 to {MOST_STAGES} different numbers, got {len(told)}"
        )
    battle = chain(attackers, defenders, rules)
    laws = {count: battle.after(count) for count in told}
    rows: list[Row] = [
        {"rolls": count, **state._asdict(), "probability": float(chance)}
        for count, law in laws.items()
        for state, chance in law.items()
        if state != BEYOND
    ]
    return finish(
        _after_chart(rows),
        _after_title(laws[told[-1]], told[-1], battle),
        fight(attackers, defenders, battle.rules)
        + " Where it stands after so many rolls; the area of a circle is its chance.",
        {"states": rows},
    )


def _after_title(law: Distribution[Outcome], count: int, battle: Chain) -> str:
    """Return where it most often stands after the last rolls."""
    if not battle.canonical().transient:
        return NO_ROLL
    likeliest = law.mode()
    stands = f"most often {likeliest.attackers} against {likeliest.defenders}"
    if likeliest == BEYOND:
        stands = "most often more armies than are drawn"
    chance = "always" if len(law) == 1 else f"{per_cent(law[likeliest])} of the time"
    if all(state != BEYOND and _kind(state, battle.rules) != GOES_ON for state in law):
        return f"After {_counted(count, 'roll')} it is over, {stands}: {chance}."
    return f"After {_counted(count, 'roll')} it is {stands}: {chance}."


def _after_chart(rows: Sequence[Row]) -> AnyChart:
    told = sorted({row["rolls"] for row in rows})
    base = alt.Chart(named("states")).encode(
        x=alt.X(
            "attackers:Q",
            title="attackers, garrison included",
            axis=whole_axis(row["attackers"] for row in rows),
            scale=alt.Scale(zero=False, nice=False, padding=36),
        ),
        y=alt.Y(
            "defenders:Q",
            title="defenders",
            axis=whole_axis(row["defenders"] for row in rows),
            scale=alt.Scale(zero=False, nice=False, padding=36),
        ),
        tooltip=[
            "rolls:Q",
            "attackers:Q",
            "defenders:Q",
            alt.Tooltip("probability:Q", title="chance", format=".16~g"),
        ],
    )
    color = alt.Color(
        "rolls:O",
        title="rolls",
        scale=alt.Scale(domain=told, range=list(CATEGORIES[: len(told)])),
    )
    size = alt.Size("probability:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0, CIRCLE]))
    dots = base.mark_point(filled=True, opacity=0.75).encode(color=color, size=size)
    if len(rows) > MOST_NUMBERS:
        return alt.layer(dots)
    text = base.mark_text(fontSize=10, dy=alt.ExprRef(ABOVE)).encode(
        text=alt.Text("probability:Q", format=".0%")
    )
    return alt.layer(dots, text)


def transition_matrix(attackers: int, defenders: int, rules: Rules | str = "classic") -> AnyChart:
    """Return the transition matrix of a battle's Markov chain as an image.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.

    The chart has a table `entries` of those that are not 0: the `probability` to come `from` one
    state `to` another in one roll, and their numbers `row` and `column`. A line, at
    the number in the table `bounds`, parts the states in which the battle goes on from those in
    which it is over. More than 300 states are refused.

    Source: Höhle (2025), whose chain leaves out the garrison.
    """
    battle = chain(attackers, defenders, rules)
    count = len(battle.states)
    if count > MOST_MATRIX_STATES:
        raise TooLargeError(
            f"a matrix that is drawn must have at most {MOST_MATRIX_STATES} states, got "
            f"{shown(attackers)} against {shown(defenders)} with {shown(count)}"
        )
    entries = list(_entries(battle))
    over = len(battle.canonical().transient)
    return finish(
        _matrix_chart([_name(state) for state in battle.states]),
        f"Each roll leads to few states: of {count * count:,} entries {len(entries):,} are not 0."
        if over
        else NO_ROLL,
        fight(attackers, defenders, battle.rules)
        + " From the state of the row to that of the column by one roll; past the lines it is "
        "over.",
        {"entries": entries, "bounds": [{"at": over - 0.5}]},
    )


def _entries(battle: Chain) -> Iterable[Row]:
    matrix = battle.matrix.tocoo()
    names = [_name(state) for state in battle.states]
    for i, j, chance in zip(
        matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True
    ):
        yield {"from": names[i], "to": names[j], "row": i, "column": j, "probability": chance}


def _matrix_chart(names: Sequence[str]) -> AnyChart:
    label = f"{json.dumps(list(names))}[datum.value]"
    scale: dict[str, Any] = {"domain": [-0.5, len(names) - 0.5], "nice": False}
    axis = alt.Axis(labelExpr=f"datum.value % 1 ? '' : {label}", tickMinStep=1, grid=False)
    x = alt.X("x:Q", title="to", scale=alt.Scale(**scale), axis=axis)
    y = alt.Y("y:Q", title="from", scale=alt.Scale(**scale, reverse=True), axis=axis)
    cells = (
        alt.Chart(named("entries"))
        .transform_calculate(
            x="datum.column - 0.5",
            x2="datum.column + 0.5",
            y="datum.row - 0.5",
            y2="datum.row + 0.5",
        )
        .mark_rect()
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            color=alt.Color(
                "probability:Q",
                title="chance",
                scale=alt.Scale(type="sqrt", domain=[0, 1], range="ramp"),
                legend=alt.Legend(format="%", gradientLength=200, values=[0, 0.1, 0.4, 1]),
            ),
            tooltip=["from:N", "to:N", alt.Tooltip("probability:Q", format=".16~g")],
        )
    )
    bounds = alt.Chart(named("bounds")).mark_rule(opacity=0.5, strokeDash=[4, 3])
    return alt.layer(cells, bounds.encode(x="at:Q"), bounds.encode(y="at:Q")).properties(
        height=SIDE
    )
