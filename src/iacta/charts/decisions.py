"""Charts of decisions: when to stop, how many dice, how many armies, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from iacta.charts.axes_and_labels import (
    ATTACKERS,
    COUNT,
    axis,
    categories,
    exactly,
    level,
    mapped,
    row_axis,
)
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import counted, fight, limit, under_rules
from iacta.charts.theme import AMBER, BLUE, GREEN, GREY, RED
from iacta.charts.vega import Row, View, field, layer, rows_of, vconcat
from iacta.forms.percentages import percent, plain_percent
from iacta.forms.sentences import count
from iacta.inputs.checks import quote
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

if TYPE_CHECKING:  # both take time to import
    from iacta.odds.decisions import Decision, DiceDecision
    from iacta.odds.spread import BestSpread, Objective
    from iacta.questions.defend import HoldAnswer
    from iacta.questions.fronts import FrontsAnswer
    from iacta.questions.need import NeedAnswer

Chances: TypeAlias = Callable[[Sequence[int]], Sequence[Probability]]

ACTIONS = {"roll": BLUE, "blitz": GREEN, "stop": AMBER}
PALE = 0.35  # so that words can be read on them
MOST_STATES = 10**5  # of a map; smaller ones cannot be seen
DICE_WORDS = "datum.dice == 1 ? '1 die' : datum.dice ? datum.dice + ' dice' : 'none'"
LETTERS = "width < 450 ? 11 : 14"
MARGIN = 3  # how many more attackers than the boundary needs are shown
SIDE = 440
SPREAD_HEIGHT = 240
MOST_NUMBERED = 20  # bars, so that there is room for their numbers on a telephone
MOST_WORDS = 8  # of a spread, beside its bar
MOST_POINTS = 60  # of a line, which is straight between them
LOW = 0.02  # chances below this are not drawn


@chart(of="Decision")
def decision_map(decision: Decision, prize: Fraction | None = None) -> Chart:
    """Return what to do in every state of a battle, and where that changes.

    decision: what `when_to_stop` or `best_mix` returns.
    prize: what the territory is worth, for the title; `None` leaves it out.

    The chart has a table `actions`: the `action` against n `defenders` with `least` to `most`
    attackers; a table `boundary` as the decision has it; and the battle itself. More than 100,000
    states are refused.
    """
    known = [point for point in decision.boundary if point.attackers is not None]
    fewest = [point.attackers for point in known if point.attackers is not None]
    decided = int(decision.rolls.shape[1]) - 1 + decision.rules.garrison
    top = min(max(decision.attackers, *fewest, 1) + MARGIN, decided)
    _refuse_large(top, decision.defenders)
    battle = {"attackers": decision.attackers, "defenders": decision.defenders}
    is_mix = decision.objective == "conquest"
    aim = "to take the territory" if is_mix else "for the value of territory and armies"
    actions = _runs(decision.find_action, top, decision.defenders, "action")
    tones = {name: tone for name, tone in ACTIONS.items() if is_mix or name != "blitz"}
    runs = [field("least:Q", title="attackers from"), field("most:Q", title="to")]
    cells = _cells("actions").encode(
        color=categories("action", tones, legend=None),
        opacity={"value": PALE},
        tooltip=["defenders:Q", "action:N", *runs],
    )
    layers = [cells, _region_words("regions", "datum.action"), _battle_dot("action:N")]
    if known:
        least = field("attackers:Q", title="at least")
        line = _states("boundary", low="datum.attackers - 0.5").mark("rule", strokeWidth=2.5)
        layers.insert(1, line.encode(tooltip=["defenders:Q", least]))
    return Chart(
        layer(*layers).properties(height=SIDE),
        _decision_title(decision, prize),
        fight(decision.attackers, decision.defenders, decision.rules)
        + f" The best action {aim}, for every number of armies; the dot is this battle.",
        {
            "actions": actions,
            "regions": _regions(actions, "action"),
            **({"boundary": [point._asdict() for point in known]} if known else {}),
            "battle": [{**battle, "action": decision.action}],
        },
    )


def _refuse_large(attackers: int, defenders: int) -> None:
    got = f"{quote(attackers)} attackers by {quote(defenders)} defenders"
    rule = "a decision that is drawn must have at most {:,} states"
    limit(attackers * defenders, MOST_STATES, rule, got)


def _decision_title(decision: Decision, prize: Fraction | None) -> str:
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
    return f"{now}. To {word} against {last.defenders} takes at least {counted(last.attackers)}."


def _runs(at: Callable[[int, int], object], top: int, defenders: int, name: str) -> list[Row]:
    """Return what to do against each number of defenders, joining attackers who do the same."""
    rows: list[Row] = []
    for d in range(1, defenders + 1):
        for done, same in groupby(range(1, top + 1), key=lambda a: at(a, d)):
            run = list(same)
            rows.append({"defenders": d, name: done, "least": run[0], "most": run[-1]})
    return rows


def _regions(runs: Sequence[Row], name: str) -> list[Row]:
    """Return where the word of each region has most room: in the middle of its longest run."""
    regions: dict[object, list[Row]] = {}
    for row in runs:
        regions.setdefault(row[name], []).append(row)
    places: list[Row] = []
    for done, rows in regions.items():
        # Of columns with nearly the longest run, the one in the middle.
        longest = max(row["most"] - row["least"] for row in rows)
        wide = [row for row in rows if row["most"] - row["least"] >= 0.6 * longest]
        middle = wide[len(wide) // 2]
        height = (middle["least"] + middle["most"]) / 2
        places.append({name: done, "defenders": middle["defenders"], "attackers": height})
    return places


def _region_words(table: str, words: str) -> View:
    placed = rows_of(table, word=words).encode(x="defenders:Q", y="attackers:Q", text="word:N")
    return placed.mark("text", fontSize={"expr": LETTERS}, fontWeight="bold")


def _states(table: str, **edges: str) -> View:
    """Return a chart over attackers and defenders whose marks have these `low` and `high` edges."""
    whole = {"format": "d", "tickMinStep": 1, "labelExpr": COUNT, "grid": False}
    scale = {"zero": False, "nice": False}
    sides = {"left": "datum.defenders - 0.5", "right": "datum.defenders + 0.5"}
    return rows_of(table, **sides, **edges).encode(
        x=axis("left:Q", "defenders", scale, **whole),
        x2="right",
        y=axis("low:Q", ATTACKERS, scale, **whole),
    )


def _cells(table: str) -> View:
    edges = {"low": "datum.least - 0.5", "high": "datum.most + 0.5"}
    return _states(table, **edges).mark("rect").encode(y2="high")


def _battle_dot(*tooltip: str) -> View:
    sides = ["attackers:Q", "defenders:Q"]
    battle = rows_of("battle").encode(x="defenders:Q", y="attackers:Q", tooltip=[*sides, *tooltip])
    return battle.mark("text", text="●", fontSize=16)


@chart(of="DiceDecision")
def dice_map(decision: DiceDecision) -> Chart:
    """Return how many dice both sides should throw in every state of a battle.

    decision: what `how_many_dice` returns.

    The chart has a table `attack` and a table `defence`: the `dice` of `least` to `most` attackers
    against n `defenders`; and the battle itself. More than 100,000 states are refused.
    """
    from iacta.questions.decide import dice_answer  # takes time to import

    _refuse_large(decision.attackers, decision.defenders)
    garrison = decision.rules.garrison

    def dice(policy: Any) -> list[Row]:
        def at(a: int, d: int) -> int:  # a policy counts attackers above the garrison
            return int(policy[d, a - garrison]) if a > garrison else 0

        return _runs(at, decision.attackers, decision.defenders, "dice")

    tables = {"attack": dice(decision.attack_policy), "defence": dice(decision.defence_policy)}
    most = max(row["dice"] for rows in tables.values() for row in rows)
    names = {name: f"{name} regions" for name in tables}
    scale = {"domain": [0, max(most, 1)], "range": [0.04, 0.6]}
    depth = field("dice:Q", scale=scale, legend=None)
    tooltip = ["defenders:Q", "dice:O", "least:Q", "most:Q"]
    panels = [
        layer(
            _cells(name).encode(color={"value": BLUE}, opacity=depth, tooltip=tooltip),
            _region_words(names[name], DICE_WORDS),
            _battle_dot(),
        ).properties(height=SIDE // 2, title={"text": f"dice of the {name}", "fontSize": 12})
        for name in tables
    ]
    return Chart(
        vconcat(*panels),
        dice_answer(decision).sentence,
        fight(decision.attackers, decision.defenders, decision.rules)
        + " The best number of dice for either side, for every number of armies; the dot is this "
        "battle.",
        {
            **tables,
            **{names[name]: _regions(rows, "dice") for name, rows in tables.items()},
            "battle": [{"attackers": decision.attackers, "defenders": decision.defenders}],
        },
    )


@chart(of="NeedAnswer")
def chance_by_attackers(answer: NeedAnswer) -> Chart:
    """Return the chance to win by the number of attackers, marking those that it takes.

    answer: what `iacta.ask` answers to `need`.
    """
    question, rule_set = answer.question, answer.question.rule_set
    return Chart(
        _chance_chart("attackers", answer.attackers, question.chance, ATTACKERS, "chance to win"),
        answer.sentence,
        f"Chance to win by number of attackers; the goal is {plain_percent(question.chance)} "
        f"({under_rules(rule_set.rules, rule_set.name)}).",
        {"chances": _chances_around("attackers", answer.attackers, question.win_probabilities)},
    )


@chart(of="HoldAnswer")
def chance_by_defenders(answer: HoldAnswer) -> Chart:
    """Return the chance to hold by the number of defenders, marking those that it takes.

    answer: what `iacta.ask` answers to `defend` without territories.
    """
    question, rule_set = answer.question, answer.question.rule_set

    def held(counts: Sequence[int]) -> list[Probability]:
        return [question.hold_probability(n) for n in counts]

    return Chart(
        _chance_chart("defenders", answer.defenders, answer.chance, "defenders", "chance to hold"),
        answer.sentence,
        f"Chance to hold by number of defenders; the goal is {plain_percent(answer.chance)} "
        f"({under_rules(rule_set.rules, rule_set.name)}).",
        {"chances": _chances_around("defenders", answer.defenders, held)},
    )


def _chances_around(side: str, enough: int, probabilities: Chances) -> list[Row]:
    """Return the chances of the numbers around the answer, at most some sixty of them."""
    reach = 2
    while reach < enough and probabilities([enough - reach])[0] > LOW:
        reach *= 2
    least, most = max(enough - reach, 1), enough + max(min(reach, enough), 4)
    step = -(-(most - least + 1) // MOST_POINTS)
    numbers = sorted({*range(least, most + 1, step), max(enough - 1, 1), enough})
    return [
        {side: n, "probability": float(chance), "is_enough": n >= enough}
        for n, chance in zip(numbers, probabilities(numbers), strict=True)
    ]


def _chance_chart(side: str, enough: int, chance: Fraction, x_title: str, y_title: str) -> View:
    """Return the chances as points, the wanted one as a line, and the answer with its number."""
    scale = {"zero": False, "nice": False, "padding": 8}
    base = rows_of("chances").encode(
        x=axis(f"{side}:Q", x_title, scale, format=",d", tickMinStep=1),
        y=axis("probability:Q", y_title, {"domain": [0, 1]}, format="%"),
        tooltip=[field(f"{side}:Q", title=x_title), exactly("probability", y_title)],
    )
    colour = field(
        "is_enough:N",
        title=None,
        scale=mapped({True: BLUE, False: RED}),
        legend={"labelExpr": "datum.value ? 'enough' : 'too few'"},
    )
    answer = base.filter(f"datum.{side} == {enough}")
    return layer(
        base.mark("line", color=GREY, strokeWidth=1),
        level("chances", "y", float(chance), color=AMBER, strokeDash=[6, 4]),
        base.mark("point", filled=True, size=36, opacity=1).encode(color=colour),
        answer.mark("point", filled=True, size=140, color=BLUE, opacity=1),
        answer.mark("text", align="right", dx=-8, dy=-9, fontSize=13, fontWeight="bold").encode(
            text=field(f"{side}:Q", format=",d")
        ),
    )


@chart(of="BestSpread")
def best_spread(
    best: BestSpread,
    attackers: int,
    objective: Objective = "break through",
    rules: Rules | str = "classic",
    label: str = "",
    *,
    others: Sequence[tuple[str, Sequence[int], float]] = (),
) -> Chart:
    """Return the best spread of armies as bars, and what other spreads give.

    best: what `spread_defenders` returns.
    attackers: armies of the one stack that attacks, garrison included.
    objective: what the attackers want.
    rules, label: as for `chance_by_attackers`.
    others: spreads with which it is compared: the name of each, its armies, and what attackers who
        play best get against it. Without any there is no comparison.

    The chart has a table `spread` of the armies on each territory of the best; and with others a
    table `values` of the `value` that each `spread` leaves the attackers.
    """
    rules = find_rules(rules)
    spread = best.spreads[0]
    scale = {"domain": [0, 1.08 * max(spread)], "nice": False}  # room for the number
    base = rows_of("spread").encode(
        x=axis("territory:O", "territory of the chain", labelAngle=0),
        y=axis("defenders:Q", "defenders", scale, format=",d", tickMinStep=1),
        tooltip=["territory:O", "defenders:Q"],
    )
    bars = base.mark("bar", color=RED)
    if len(spread) <= MOST_NUMBERED:
        bars = layer(bars, base.mark("text", dy=-7).encode(text="defenders:Q"))
    known = "no spread is better" if best.is_exact else "the best found by a search"
    stack, s = count(attackers, "attacker", "attackers"), "s" if attackers == 1 else ""
    if objective == "break through":
        title = f"{stack} break{s} through {percent(float(best.value), 0)} of the time at best."
    else:
        of_all = counted(len(spread), "territory", "territories")
        title = f"{stack} take{s} {float(best.value):.2f} of {of_all} on average, at best."
    tables: dict[str, list[Row]] = {
        "spread": [
            {"territory": place, "defenders": held} for place, held in enumerate(spread, start=1)
        ]
    }
    if others:
        tables["values"] = [
            {
                "name": f"{name}: {', '.join(map(str, armies[:MOST_WORDS]))}"
                + (" …" if len(armies) > MOST_WORDS else ""),
                "is_best": name == "best",
                "value": value,
            }
            for name, armies, value in (("best", spread, float(best.value)), *others)
        ]
        compared = _compared(tables["values"], objective == "break through")
        bars = vconcat(bars.properties(height=SPREAD_HEIGHT), compared)
    return Chart(
        bars,
        title,
        f"The best spread of {counted(sum(spread))} over {len(spread)} territories in a row; "
        f"{known} ({under_rules(rules, label)}).",
        tables,
    )


@chart(of="FrontsAnswer")
def best_fronts(answer: FrontsAnswer) -> Chart:
    """Return the armies on each territory of each front, and what they leave the attackers.

    answer: what `iacta.ask` answers to `fronts`.

    The chart has a table `armies` with those `held` before and those that are `new` on each
    territory, and a table `values` of the `value` that each front leaves its attackers.
    """
    question, rule_set = answer.question, answer.question.rule_set
    fronts = [
        (f"front {number}: {counted(front.front.attackers, 'attacker')}", front)
        for number, front in enumerate(answer.best.fronts, start=1)
    ]
    rows: list[Row] = []
    for number, (_, front) in enumerate(fronts, start=1):
        held = front.front.held or (0,) * len(front.spread)
        for place, (before, after) in enumerate(zip(held, front.spread, strict=True), start=1):
            territory = f"front {number}" + (
                f", territory {place}" if len(front.spread) > 1 else ""
            )
            rows.append({"territory": territory, "kind": "held", "armies": before})
            rows.append({"territory": territory, "kind": "new", "armies": after - before})
    kinds = categories("kind", {"held": GREY, "new": RED}, [row for row in rows if row["armies"]])
    bars = rows_of("armies").encode(
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
    panels = vconcat(bars, _compared(values, question.objective == "break through"))
    return Chart(
        panels.independent("color"),
        answer.sentence,
        f"The best division of {counted(question.armies)} among {counted(len(fronts), 'front')} "
        f"({under_rules(rule_set.rules, rule_set.name)}).",
        {"armies": rows, "values": values},
    )


def _compared(rows: Sequence[Row], is_chance: bool) -> View:
    """Return what each spread leaves the attackers, the best first, on an axis of what differs."""
    words = "chance to break through" if is_chance else "territories that they take on average"
    ends = [min(row["value"] for row in rows), max(row["value"] for row in rows)]
    beside = max(ends[1] - ends[0], 0.01 * (ends[1] or 1.0))
    form = {"format": "~%"} if is_chance else {}
    # Points, as bars would have to begin at 0, where nothing differs.
    scale = {"domain": [max(ends[0] - 0.15 * beside, 0.0), ends[1] + 0.2 * beside], "nice": False}
    base = rows_of("values").encode(
        y=row_axis("name", rows, grid=True),
        x=axis("value:Q", words, scale, tickCount=5, **form),
        tooltip=["name:N", exactly("value", words)],
    )
    colour = field("is_best:N", legend=None, scale=mapped({True: BLUE, False: GREY}))
    value = field("value:Q", format=".1%" if is_chance else ".2f")
    values = base.mark("text", align="left", dx=9).encode(text=value)
    points = base.mark("point", filled=True, size=90, opacity=1).encode(color=colour)
    return layer(points, values).properties(height=26 * len(rows))
