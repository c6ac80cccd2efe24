"""Charts of decisions: when to stop, how many dice to roll, armies needed, and defence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import cycle, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from iacta.charts.axes_and_labels import (
    ATTACKERS,
    COUNT_LABELS,
    axis,
    categories,
    draw_level,
    exact_field,
    row_axis,
    value_scale,
)
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_size, format_battle, format_count, format_rules
from iacta.charts.theme import AMBER, BLUE, GREEN, GREY, RED
from iacta.charts.vega import Row, View, field, layer, table_view, vconcat
from iacta.forms.percentages import percent, plain_percent
from iacta.forms.sentences import add_noun
from iacta.inputs.checks import quote
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

if TYPE_CHECKING:  # slow to import, and only needed for types
    from iacta.odds.decisions import Decision, DiceDecision
    from iacta.odds.spread import BestSpread, Objective
    from iacta.questions.defend import HoldAnswer
    from iacta.questions.fronts import FrontsAnswer
    from iacta.questions.need import NeedAnswer

Chances: TypeAlias = Callable[[Sequence[int]], Sequence[Probability]]

ACTIONS = {"roll": BLUE, "blitz": GREEN, "stop": AMBER}
PALE_CELL_OPACITY = 0.35  # pale enough to keep text on top readable
MAX_DRAWN_STATES = 10**5  # cells of larger maps would be too small to see
DICE_LABELS = "datum.dice == 1 ? '1 die' : datum.dice ? datum.dice + ' dice' : 'none'"
LABEL_SIZE = "width < 450 ? 11 : 14"
SHOWN_MARGIN = 3  # attackers to show beyond the boundary
MAP_HEIGHT = 440
SPREAD_HEIGHT = 240
MIN_AXIS_WIDTH = 0.2  # minimum width of the axis that compares spreads, relative to the whole
MAX_NUMBERED_CHAIN = 20  # numbers of longer chains would be unreadable on a phone
MAX_LABEL_TERRITORIES = 8  # maximum number of territories to list in the label of a spread
MAX_CURVE_POINTS = 60
MIN_DRAWN_CHANCE = 0.02


@register_chart(default_for="Decision")
def decision_map(decision: Decision, prize: Fraction | None = None) -> Chart:
    """Draw a map of the best action in every state of a battle.

    decision: the result of `when_to_stop` or `best_mix`, with at most 100,000 states.
    prize: the value of the territory, to be shown in the title, or `None`.

    The table `actions` has, for each number of `defenders`, the best `action` for a range of
    attackers from `least` to `most`. The table `boundary` is `decision.boundary`, and the table
    `battle` has the current state.
    """
    boundary = [point for point in decision.boundary if point.attackers is not None]
    fewest = [point.attackers for point in boundary if point.attackers is not None]
    decided = int(decision.rolls.shape[1]) - 1 + decision.rules.garrison
    top = min(max(decision.attackers, *fewest, 1) + SHOWN_MARGIN, decided)
    _check_states(top, decision.defenders)
    battle = {"attackers": decision.attackers, "defenders": decision.defenders}
    is_mix = decision.objective == "conquest"
    aim = "to take the territory" if is_mix else "for the value of territory and armies"
    actions = _list_runs(decision.choose_best_action, top, decision.defenders, "action")
    tones = {name: tone for name, tone in ACTIONS.items() if is_mix or name != "blitz"}
    runs = [field("least:Q", title="attackers from"), field("most:Q", title="to")]
    cells = _draw_cells("actions").encode(
        color=categories("action", tones, legend=None),
        opacity={"value": PALE_CELL_OPACITY},
        tooltip=["defenders:Q", "action:N", *runs],
    )
    layers = [cells, _draw_region_labels("regions", "datum.action"), _draw_battle("action:N")]
    if boundary:
        least = field("attackers:Q", title="at least")
        line = _make_state_view("boundary", low="datum.attackers - 0.5").mark(
            "rule", strokeWidth=2.5
        )
        layers.insert(1, line.encode(tooltip=["defenders:Q", least]))
    return Chart(
        layer(*layers).properties(height=MAP_HEIGHT),
        _format_title(decision, prize),
        format_battle(decision.attackers, decision.defenders, decision.rules)
        + f" The best action {aim}, for every number of armies; the dot is this battle.",
        {
            "actions": actions,
            "regions": _list_regions(actions, "action"),
            **({"boundary": [point._asdict() for point in boundary]} if boundary else {}),
            "battle": [{**battle, "action": decision.action}],
        },
    )


def _check_states(attackers: int, defenders: int) -> None:
    got = f"{quote(attackers)} attackers by {quote(defenders)} defenders"
    rule = "a chart of a decision must have at most {:,} states"
    check_size(attackers * defenders, MAX_DRAWN_STATES, rule, got)


def _format_title(decision: Decision, prize: Fraction | None) -> str:
    last = decision.boundary[-1]
    word = "blitz" if decision.objective == "conquest" else "roll"
    now = f"{decision.action.capitalize()} now"
    if prize is not None:
        now = (
            f"A territory worth {float(prize):g}: {decision.action} at {decision.attackers:,} "
            f"against {decision.defenders:,}"
        )
    if last.attackers is None:
        return f"{now}: against {last.defenders} it is never best to {word}."
    return (
        f"{now}. To {word} against {last.defenders} takes at least {format_count(last.attackers)}."
    )


def _list_runs(
    choose_best_action: Callable[[int, int], object], top: int, defenders: int, name: str
) -> list[Row]:
    """For each number of defenders, return the ranges of attackers with the same best action.

    choose_best_action: the best action as a function of the numbers of attackers and defenders.
    top: the largest number of attackers to include.
    name: the name of the column for the action.
    """
    rows: list[Row] = []
    for d in range(1, defenders + 1):
        for action, same in groupby(range(1, top + 1), key=lambda a: choose_best_action(a, d)):
            run = list(same)
            rows.append({"defenders": d, name: action, "least": run[0], "most": run[-1]})
    return rows


def _list_regions(runs: Sequence[Row], name: str) -> list[Row]:
    """Return a point for the label of each action: the middle of its longest column."""
    regions: dict[object, list[Row]] = {}
    for row in runs:
        regions.setdefault(row[name], []).append(row)
    labels: list[Row] = []
    for action, rows in regions.items():
        # If several columns are almost the longest, take the middle one.
        longest = max(row["most"] - row["least"] for row in rows)
        wide = [row for row in rows if row["most"] - row["least"] >= 0.6 * longest]
        middle = wide[len(wide) // 2]
        height = (middle["least"] + middle["most"]) / 2
        labels.append({name: action, "defenders": middle["defenders"], "attackers": height})
    return labels


def _draw_region_labels(table: str, words: str) -> View:
    placed = table_view(table, word=words).encode(x="defenders:Q", y="attackers:Q", text="word:N")
    return placed.mark("text", fontSize={"expr": LABEL_SIZE}, fontWeight="bold")


def _make_state_view(table: str, **edges: str) -> View:
    """Return a view with axes for attackers and defenders.

    edges: Vega expressions for the columns `low` and `high`, the ends of each mark.
    """
    whole = {"format": "d", "tickMinStep": 1, "labelExpr": COUNT_LABELS, "grid": False}
    scale = {"zero": False, "nice": False}
    sides = {"left": "datum.defenders - 0.5", "right": "datum.defenders + 0.5"}
    return table_view(table, **sides, **edges).encode(
        x=axis("left:Q", "defenders", scale, **whole),
        x2="right",
        y=axis("low:Q", ATTACKERS, scale, **whole),
    )


def _draw_cells(table: str) -> View:
    edges = {"low": "datum.least - 0.5", "high": "datum.most + 0.5"}
    return _make_state_view(table, **edges).mark("rect").encode(y2="high")


def _draw_battle(*tooltip: str) -> View:
    sides = ["attackers:Q", "defenders:Q"]
    battle = table_view("battle").encode(
        x="defenders:Q", y="attackers:Q", tooltip=[*sides, *tooltip]
    )
    return battle.mark("text", text="●", fontSize=16)


@register_chart(default_for="DiceDecision")
def dice_map(decision: DiceDecision) -> Chart:
    """Draw maps of the best number of dice for each side in every state of a battle.

    decision: the result of `how_many_dice`, with at most 100,000 states.

    If the defender sees the attack roll, the chart shows the best reply to each roll instead. Its
    table `replies` has the columns `across` (the highest attack die, or the first defence die),
    `down` (the other attack dice, or all attack dice), `dice`, and `values` (after each number of
    dice).

    The tables `attack` and `defence` have, for each number of `defenders`, the best number of
    `dice` for a range of attackers from `least` to `most`. The table `battle` has the current
    state.
    """
    from iacta.questions.decide import dice_answer  # slow to import

    if decision.replies:
        return _draw_replies(decision, dice_answer(decision).sentence)
    _check_states(decision.attackers, decision.defenders)
    garrison = decision.rules.garrison

    def list_dice(policy: Any) -> list[Row]:
        def compute_dice(a: int, d: int) -> int:  # the policy counts attackers without the garrison
            return int(policy[d, a - garrison]) if a > garrison else 0

        return _list_runs(compute_dice, decision.attackers, decision.defenders, "dice")

    tables = {
        "attack": list_dice(decision.attack_policy),
        "defence": list_dice(decision.defence_policy),
    }
    most = max(row["dice"] for rows in tables.values() for row in rows)
    names = {name: f"{name} regions" for name in tables}
    scale = {"domain": [0, max(most, 1)], "range": [0.04, 0.6]}
    depth = field("dice:Q", scale=scale, legend=None)
    tooltip = ["defenders:Q", "dice:O", "least:Q", "most:Q"]
    panels = [
        layer(
            _draw_cells(name).encode(color={"value": BLUE}, opacity=depth, tooltip=tooltip),
            _draw_region_labels(names[name], DICE_LABELS),
            _draw_battle(),
        ).properties(height=MAP_HEIGHT // 2, title={"text": f"dice of the {name}", "fontSize": 12})
        for name in tables
    ]
    return Chart(
        vconcat(*panels),
        dice_answer(decision).sentence,
        format_battle(decision.attackers, decision.defenders, decision.rules)
        + " The best number of dice for each side, for every number of armies; the dot is this "
        "battle.",
        {
            **tables,
            **{names[name]: _list_regions(rows, "dice") for name, rows in tables.items()},
            "battle": [{"attackers": decision.attackers, "defenders": decision.defenders}],
        },
    )


def _draw_replies(decision: DiceDecision, title: str) -> Chart:
    """Draw the defender's best number of dice after each roll of the best number of dice."""
    from iacta.questions.decide import format_throw  # slow to import

    ours = decision.attack_dice or decision.replies[0].attack_dice
    is_one_first = decision.replies[0].first_die is not None
    across, down = "highest attack die", "other attack dice that count"
    if is_one_first:
        across, down = "first defence die", "attack dice that count"
    rows = [
        {
            "across": reply.first_die if is_one_first else reply.attack[0],
            "down": format_throw(reply.attack if is_one_first else reply.attack[1:]) or "any",
            "dice": reply.defence_dice,
            "values": ", ".join(
                f"{value:.4f} with {add_noun(j, 'die', 'dice')}"
                for j, value in enumerate(map(float, reply.values), 1)
            ),
        }
        for reply in decision.replies
        if reply.attack_dice == ours
    ]
    tones = zip(range(1, decision.rules.defence.kept + 1), cycle((AMBER, BLUE, GREEN)))
    colour = categories("dice", dict(tones), rows, legend=None)
    worth = field("values:N", title="value for the attacker")
    cells = table_view("replies").encode(
        x=axis("across:O", across, labelAngle=0),
        y=row_axis("down", sorted(rows, key=itemgetter("down"), reverse=True), down),
        tooltip=[field("dice:O", title="defence dice"), worth],
    )
    return Chart(
        layer(
            cells.mark("rect").encode(color=colour, opacity={"value": PALE_CELL_OPACITY}),
            cells.calculate(word=DICE_LABELS).mark("text", fontWeight="bold").encode(text="word:N"),
        ).properties(height=MAP_HEIGHT),
        title,
        format_battle(decision.attackers, decision.defenders, decision.rules)
        + " The defender's best number of dice after each attack roll.",
        {"replies": rows},
    )


@register_chart(default_for="NeedAnswer")
def chance_by_attackers(answer: NeedAnswer) -> Chart:
    """Draw the chance to win by number of attackers, and mark the number needed.

    answer: the answer of `iacta.ask("need", ...)`.
    """
    question, rule_set = answer.question, answer.question.rule_set
    return Chart(
        _draw_chances("attackers", answer.attackers, question.chance, ATTACKERS, "chance to win"),
        answer.sentence,
        f"Chance to win by number of attackers; the goal is {plain_percent(question.chance)} "
        f"({format_rules(rule_set.rules, rule_set.name)}).",
        {"chances": _list_chances("attackers", answer.attackers, question.win_probabilities)},
    )


@register_chart(default_for="HoldAnswer")
def chance_by_defenders(answer: HoldAnswer) -> Chart:
    """Draw the chance to hold by number of defenders, and mark the number needed.

    answer: the answer of `iacta.ask("defend", ...)` without territories.
    """
    question, rule_set = answer.question, answer.question.rule_set

    def compute_chances(counts: Sequence[int]) -> list[Probability]:
        return [question.hold_probability(n) for n in counts]

    return Chart(
        _draw_chances("defenders", answer.defenders, answer.chance, "defenders", "chance to hold"),
        answer.sentence,
        f"Chance to hold by number of defenders; the goal is {plain_percent(answer.chance)} "
        f"({format_rules(rule_set.rules, rule_set.name)}).",
        {"chances": _list_chances("defenders", answer.defenders, compute_chances)},
    )


def _list_chances(column: str, number_needed: int, probabilities: Chances) -> list[Row]:
    """Return the chances for about sixty numbers of armies around the number needed.

    column: the name of the column for the numbers.
    number_needed: the number needed.
    """
    reach = 2
    while reach < number_needed and probabilities([number_needed - reach])[0] > MIN_DRAWN_CHANCE:
        reach *= 2
    least, most = max(number_needed - reach, 1), number_needed + max(min(reach, number_needed), 4)
    step = -(-(most - least + 1) // MAX_CURVE_POINTS)
    numbers = sorted({*range(least, most + 1, step), max(number_needed - 1, 1), number_needed})
    return [
        {column: n, "probability": float(chance), "is_enough": n >= number_needed}
        for n, chance in zip(numbers, probabilities(numbers), strict=True)
    ]


def _draw_chances(
    column: str, number_needed: int, chance: Fraction, x_title: str, y_title: str
) -> View:
    """Return a plot of the chances, with lines at the required chance and the number needed."""
    scale = {"zero": False, "nice": False, "padding": 8}
    base = table_view("chances").encode(
        x=axis(f"{column}:Q", x_title, scale, format=",d", tickMinStep=1),
        y=axis("probability:Q", y_title, {"domain": [0, 1]}, format="%"),
        tooltip=[field(f"{column}:Q", title=x_title), exact_field("probability", y_title)],
    )
    colour = field(
        "is_enough:N",
        title=None,
        scale=value_scale({True: BLUE, False: RED}),
        legend={"labelExpr": "datum.value ? 'enough' : 'too few'"},
    )
    answer = base.filter(f"datum.{column} == {number_needed}")
    return layer(
        base.mark("line", color=GREY, strokeWidth=1),
        draw_level("chances", "y", float(chance), color=AMBER, strokeDash=[6, 4]),
        base.mark("point", filled=True, size=36, opacity=1).encode(color=colour),
        answer.mark("point", filled=True, size=140, color=BLUE, opacity=1),
        answer.mark("text", align="right", dx=-8, dy=-9, fontSize=13, fontWeight="bold").encode(
            text=field(f"{column}:Q", format=",d")
        ),
    )


@register_chart(default_for="BestSpread")
def best_spread(
    best: BestSpread,
    attackers: int,
    objective: Objective = "break through",
    rules: Rules | str = "classic",
    label: str = "",
    *,
    others: Sequence[tuple[str, Sequence[int], float]] = (),
) -> Chart:
    """Draw the best way to spread armies over a chain, and compare it with simpler ways.

    best: the result of `spread_defenders`.
    attackers: the armies of the attacking stack, garrison included.
    objective: the quantity that the attackers maximise.
    rules, label: see `win_chance_map`.
    others: other ways to spread the armies: name, armies, and value against the best attack.

    The table `spread` has the armies on each territory in the best spread. If there are `others`,
    the table `values` has the `value` of each spread to the attackers.
    """
    rules = find_rules(rules)
    spread = best.spreads[0]
    scale = {"domain": [0, 1.08 * max(spread)], "nice": False}  # leave space for numbers
    base = table_view("spread").encode(
        x=axis("territory:O", "territory of the chain", labelAngle=0),
        y=axis("defenders:Q", "defenders", scale, format=",d", tickMinStep=1),
        tooltip=["territory:O", "defenders:Q"],
    )
    bars = base.mark("bar", color=RED)
    if len(spread) <= MAX_NUMBERED_CHAIN:
        bars = layer(bars, base.mark("text", dy=-7).encode(text="defenders:Q"))
    proof = "no spread is better" if best.is_exact else "the best found by a search"
    stack, s = add_noun(attackers, "attacker", "attackers"), "s" if attackers == 1 else ""
    if objective == "break through":
        title = f"{stack} break{s} through {percent(float(best.value), 0)} of the time at best."
    else:
        of_all = format_count(len(spread), "territory", "territories")
        title = f"{stack} take{s} {float(best.value):.2f} of {of_all} on average, at best."
    tables: dict[str, list[Row]] = {
        "spread": [
            {"territory": number, "defenders": held} for number, held in enumerate(spread, start=1)
        ]
    }
    if others:
        tables["values"] = [
            {
                "name": f"{name}: {', '.join(map(str, armies[:MAX_LABEL_TERRITORIES]))}"
                + (" …" if len(armies) > MAX_LABEL_TERRITORIES else ""),
                "is_best": name == "best",
                "value": value,
            }
            for name, armies, value in (("best", spread, float(best.value)), *others)
        ]
        compared = _draw_comparison(tables["values"], objective == "break through")
        bars = vconcat(bars.properties(height=SPREAD_HEIGHT), compared)
    return Chart(
        bars,
        title,
        f"The best spread of {format_count(sum(spread))} over {len(spread)} territories in a row; "
        f"{proof} ({format_rules(rules, label)}).",
        tables,
    )


@register_chart(default_for="FrontsAnswer")
def best_fronts(answer: FrontsAnswer) -> Chart:
    """Draw the best way to divide armies among fronts, and the attackers' chances.

    answer: the answer of `iacta.ask("fronts", ...)`.

    The table `armies` has the armies on each territory, by `kind`: `held` (already there) or `new`.
    The table `values` has the `value` of each front to its attackers.
    """
    question, rule_set = answer.question, answer.question.rule_set
    fronts = [
        (f"front {number}: {format_count(front.front.attackers, 'attacker')}", front)
        for number, front in enumerate(answer.best.fronts, start=1)
    ]
    rows: list[Row] = []
    for number, (_, front) in enumerate(fronts, start=1):
        held = front.front.held or (0,) * len(front.spread)
        for number, (before, after) in enumerate(zip(held, front.spread, strict=True), start=1):
            territory = f"front {number}" + (
                f", territory {number}" if len(front.spread) > 1 else ""
            )
            rows.append({"territory": territory, "kind": "held", "armies": before})
            rows.append({"territory": territory, "kind": "new", "armies": after - before})
    kinds = categories("kind", {"held": GREY, "new": RED}, [row for row in rows if row["armies"]])
    bars = table_view("armies").encode(
        x=axis("armies:Q", "armies", format=",d", tickMinStep=1),
        y=row_axis("territory", rows),
        color=kinds,
        order=field("kind:O"),
        tooltip=["territory:N", "kind:N", "armies:Q"],
    )
    values: list[Row] = [
        {"name": name, "is_best": True, "value": float(front.value)} for name, front in fronts
    ]
    bars = bars.mark("bar").properties(height=13 * len(rows))
    panels = vconcat(bars, _draw_comparison(values, question.objective == "break through"))
    return Chart(
        panels.independent("color"),
        answer.sentence,
        f"The best division of {format_count(question.armies)} among "
        f"{format_count(len(fronts), 'front')} ({format_rules(rule_set.rules, rule_set.name)}).",
        {"armies": rows, "values": values},
    )


def _draw_comparison(rows: Sequence[Row], is_chance: bool) -> View:
    """Return a plot that compares the values of spreads to the attackers."""
    words = "chance to break through" if is_chance else "territories that they take on average"
    low, high = min(row["value"] for row in rows), max(row["value"] for row in rows)
    # Small differences must look small, so the axis covers at least a fifth of the whole.
    width = max(high - low, MIN_AXIS_WIDTH * (1.0 if is_chance else high or 1.0))
    middle, form = (low + high) / 2, {"format": "~%"} if is_chance else {}
    # Use points instead of bars, so that the axis need not start at 0.
    scale = {"domain": [max(middle - 0.65 * width, 0.0), middle + 0.7 * width], "nice": False}
    base = table_view("values").encode(
        y=row_axis("name", rows, grid=True),
        x=axis("value:Q", words, scale, tickCount=5, **form),
        tooltip=["name:N", exact_field("value", words)],
    )
    colour = field("is_best:N", legend=None, scale=value_scale({True: BLUE, False: GREY}))
    value = field("value:Q", format=".1%" if is_chance else ".2f")
    values = base.mark("text", align="left", dx=9).encode(text=value)
    points = base.mark("point", filled=True, size=90, opacity=1).encode(color=colour)
    return layer(points, values).properties(height=26 * len(rows))
