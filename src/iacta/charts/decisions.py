"""Charts of decisions: when to stop, how many dice, how many armies, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from iacta.battle.battle import Battle
from iacta.battle.territory import Territory, read_territories, stages
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    ATTACKERS,
    BLUE,
    COUNT,
    GREEN,
    GREY,
    RED,
    AnyChart,
    Row,
    alt,
    categories,
    counted,
    exactly,
    fight,
    finish,
    level,
    limit,
    row_axis,
    rows_of,
    under_rules,
    x_axis,
    y_axis,
)
from iacta.checks import shown, whole_number
from iacta.odds.arrays import win_probability
from iacta.odds.needed import win_probabilities_keeping
from iacta.questions.words import count, percent, plain_percent
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop, read_stop
from iacta.rules.variants import find_rules

if TYPE_CHECKING:  # both take time to import
    from iacta.odds.decisions import Decision, DiceDecision
    from iacta.odds.fronts import BestFronts
    from iacta.odds.spread import BestSpread, Objective

Chances: TypeAlias = Callable[[Sequence[int]], list[float]]

ACTIONS = {"roll": BLUE, "blitz": GREEN, "stop": AMBER}
PALE = 0.35  # so that words can be read on them
MOST_STATES = 10**5  # of a map; smaller ones cannot be seen
DICE_WORDS = "datum.dice == 1 ? '1 die' : datum.dice ? datum.dice + ' dice' : 'none'"
LETTERS = "width < 450 ? 11 : 14"
MARGIN = 3  # how many more attackers than the boundary needs are shown
SIDE = 440
SPREAD_HEIGHT = 240
MOST_WORDS = 8  # of a spread, beside its bar
NEARLY = Fraction(99, 100)  # titles say no more than that a chance is above it
MOST_POINTS = 60  # of a line, which is straight between them
LOW = 0.02  # chances below this are not drawn


@chart(of="Decision")
def decision_map(decision: Decision, prize: Fraction | None = None) -> AnyChart:
    """Return what to do in every state of a battle, and where that changes.

    decision: what `when_to_stop` or `best_mix` returns.
    prize: what the territory is worth, for the title; `None` leaves it out.

    The chart has a table `actions`: the `action` against n `defenders` with `least` to `most`
    attackers; a table `boundary` as the decision has it; and the battle itself. More than 100,000
    states are refused.
    """
    known = [each for each in decision.boundary if each.attackers is not None]
    fewest = [each.attackers for each in known if each.attackers is not None]
    decided = int(decision.rolls.shape[1]) - 1 + decision.rules.garrison
    top = min(max(decision.attackers, *fewest, 1) + MARGIN, decided)
    _refuse_large(top, decision.defenders)
    battle = {"attackers": decision.attackers, "defenders": decision.defenders}
    is_mix = decision.objective == "conquest"
    aim = "to take the territory" if is_mix else "for the value of territory and armies"
    actions = _runs(decision.action_at, top, decision.defenders, "action")
    tones = {name: tone for name, tone in ACTIONS.items() if is_mix or name != "blitz"}
    runs = [alt.Tooltip("least:Q", title="attackers from"), alt.Tooltip("most:Q", title="to")]
    cells = _cells("actions").encode(
        color=categories("action", tones).legend(None),
        opacity=alt.value(PALE),
        tooltip=["defenders:Q", "action:N", *runs],
    )
    layers = [cells, _region_words("regions", "datum.action"), _battle_dot("action:N")]
    if known:
        least = alt.Tooltip("attackers:Q", title="at least")
        line = _states("boundary", low="datum.attackers - 0.5").mark_rule(strokeWidth=2.5)
        layers.insert(1, line.encode(tooltip=["defenders:Q", least]))
    return finish(
        alt.layer(*layers).properties(height=SIDE),
        _decision_title(decision, prize),
        fight(decision.attackers, decision.defenders, decision.rules)
        + f" The best action {aim}, for every number of armies; the dot is this battle.",
        {
            "actions": actions,
            "regions": _regions(actions, "action"),
            **({"boundary": [each._asdict() for each in known]} if known else {}),
            "battle": [{**battle, "action": decision.action}],
        },
    )


def _refuse_large(attackers: int, defenders: int) -> None:
    got = f"{shown(attackers)} attackers by {shown(defenders)} defenders"
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
    found: list[Row] = []
    for done, rows in regions.items():
        # Of columns with nearly the longest run, the one in the middle.
        longest = max(row["most"] - row["least"] for row in rows)
        wide = [row for row in rows if row["most"] - row["least"] >= 0.6 * longest]
        middle = wide[len(wide) // 2]
        height = (middle["least"] + middle["most"]) / 2
        found.append({name: done, "defenders": middle["defenders"], "attackers": height})
    return found


def _region_words(table: str, words: str) -> alt.Chart:
    placed = rows_of(table, word=words).encode(x="defenders:Q", y="attackers:Q", text="word:N")
    text: alt.Chart = placed.mark_text(fontSize=alt.ExprRef(LETTERS), fontWeight="bold")
    return text


def _states(table: str, **edges: str) -> alt.Chart:
    """Return a chart over attackers and defenders whose marks have these `low` and `high` edges."""
    whole = {"format": "d", "tickMinStep": 1, "labelExpr": COUNT, "grid": False}
    scale = {"zero": False, "nice": False}
    sides = {"left": "datum.defenders - 0.5", "right": "datum.defenders + 0.5"}
    return rows_of(table, **sides, **edges).encode(
        x=x_axis("left:Q", "defenders", scale, **whole),
        x2="right:Q",
        y=y_axis("low:Q", ATTACKERS, scale, **whole),
    )


def _cells(table: str) -> alt.Chart:
    edges = {"low": "datum.least - 0.5", "high": "datum.most + 0.5"}
    cells: alt.Chart = _states(table, **edges).mark_rect().encode(y2="high:Q")
    return cells


def _battle_dot(*tooltip: str) -> alt.Chart:
    sides = ["attackers:Q", "defenders:Q"]
    battle = rows_of("battle").encode(x="defenders:Q", y="attackers:Q", tooltip=[*sides, *tooltip])
    dot: alt.Chart = battle.mark_text(text="●", fontSize=16)
    return dot


@chart(of="DiceDecision")
def dice_map(decision: DiceDecision) -> AnyChart:
    """Return how many dice both sides should throw in every state of a battle.

    decision: what `how_many_dice` returns.

    The chart has a table `attack` and a table `defence`: the `dice` of `least` to `most` attackers
    against n `defenders`; and the battle itself. More than 100,000 states are refused.
    """
    _refuse_large(decision.attackers, decision.defenders)
    garrison = decision.rules.garrison

    def dice(policy: Any) -> list[Row]:
        def at(a: int, d: int) -> int:  # a policy counts attackers above the garrison
            return int(policy[d, a - garrison]) if a > garrison else 0

        return _runs(at, decision.attackers, decision.defenders, "dice")

    tables = {"attack": dice(decision.attack_policy), "defence": dice(decision.defence_policy)}
    most = max(row["dice"] for rows in tables.values() for row in rows)
    names = {name: f"{name} regions" for name in tables}
    depth = alt.Opacity("dice:Q").scale(domain=[0, max(most, 1)], range=[0.04, 0.6]).legend(None)
    tooltip = ["defenders:Q", "dice:O", "least:Q", "most:Q"]
    panels = [
        alt.layer(
            _cells(name).encode(color=alt.value(BLUE), opacity=depth, tooltip=tooltip),
            _region_words(names[name], DICE_WORDS),
            _battle_dot(),
        ).properties(height=SIDE // 2, title=alt.TitleParams(f"dice of the {name}", fontSize=12))
        for name in tables
    ]
    ours, theirs = (
        "1 die" if count == 1 else f"{count or 'no'} dice"
        for count in (decision.attack_dice, decision.defence_dice)
    )
    return finish(
        alt.vconcat(*panels),
        f"Throw {ours} now, and expect {theirs}.",
        fight(decision.attackers, decision.defenders, decision.rules)
        + " The best number of dice for either side, for every number of armies; the dot is this "
        "battle.",
        {
            **tables,
            **{names[name]: _regions(rows, "dice") for name, rows in tables.items()},
            "battle": [{"attackers": decision.attackers, "defenders": decision.defenders}],
        },
    )


@chart()
def chance_by_attackers(
    territories: Sequence[int | Territory],
    attackers: int,
    chance: Fraction,
    rules: Rules | str = "classic",
    *,
    keep: int = 0,
    stop: Stop | None = None,
    label: str = "",
) -> AnyChart:
    """Return the chance to take a chain by the number of attackers, marking those that it takes.

    territories: the chain, as for `Campaign`.
    attackers: the fewest that are enough, which `armies_needed_for_campaign` returns.
    chance: the wanted chance.
    rules: `Rules`, or the name of a rule set.
    keep: armies that must be left at the end on the last territory.
    stop: when the attackers stop, as for `Campaign`.
    label: what the rules are called, if they have no name of their own.
    """
    found = find_rules(rules)
    attackers = whole_number(attackers, "attackers", least=1)
    chain = list(stages(read_territories(territories), found, read_stop(stop)))

    def won(counts: Sequence[int]) -> list[float]:
        if len(chain) == 1 and not keep and chain[0].stop == NEVER:
            chances: list[float] = win_probability(counts, *chain[0][:2]).tolist()
            return chances
        return [
            float(each)
            for each in win_probabilities_keeping(counts, territories, keep, found, stop=stop)
        ]

    goal = f"beat {counted(chain[0].defenders, 'defender')}"
    if len(chain) > 1:
        goal = f"take all {len(chain)} territories"
    keeping = f", and keep {keep}" if keep else ""
    return finish(
        _chance_chart("attackers", attackers, chance, ATTACKERS, "chance to win"),
        f"With {counted(attackers)} you win {_often(won([attackers])[0], chance)} of the time.",
        f"Chance to {goal}{keeping}; the goal is {plain_percent(chance)} "
        f"({under_rules(found, label)}).",
        {"chances": _chances_around("attackers", attackers, won)},
    )


@chart()
def chance_by_defenders(
    attackers: int,
    defenders: int,
    chance: Fraction,
    rules: Rules | str = "classic",
    label: str = "",
    *,
    stop: Stop | None = None,
) -> AnyChart:
    """Return the chance to hold by the number of defenders, marking those that it takes.

    attackers: armies on the attacking territory, garrison included.
    defenders: the fewest that are enough, which `defenders_needed` returns.
    chance: the wanted chance.
    rules, label, stop: as for `chance_by_attackers`.
    """
    found = find_rules(rules)
    attackers = whole_number(attackers, "attackers", least=1)
    defenders = whole_number(defenders, "defenders", least=1)

    def held(counts: Sequence[int]) -> list[float]:
        if read_stop(stop) != NEVER:
            battles = [Battle(attackers, n, found, stop=stop) for n in counts]
            return [1 - float(battle.win_probability()) for battle in battles]
        chances: list[float] = (1 - win_probability(attackers, counts, found)).tolist()
        return chances

    verb = "holds" if defenders == 1 else "hold"
    often = _often(held([defenders])[0], chance)
    return finish(
        _chance_chart("defenders", defenders, chance, "defenders", "chance to hold"),
        f"{counted(defenders, 'defender')} {verb} {often} of the time.",
        f"Chance to hold against {counted(attackers)}; the goal is {plain_percent(chance)} "
        f"({under_rules(found, label)}).",
        {"chances": _chances_around("defenders", defenders, held)},
    )


def _often(found: float, chance: Fraction) -> str:
    """Return a chance that is enough, which must not read as less than was wanted."""
    words = percent(found, 0)
    is_more = chance > NEARLY and words.startswith("more")
    return f"at least {plain_percent(chance)}" if is_more else words


def _chances_around(side: str, enough: int, probabilities: Chances) -> list[Row]:
    """Return the chances of the numbers around the answer, at most some sixty of them."""
    reach = 2
    while reach < enough and probabilities([enough - reach])[0] > LOW:
        reach *= 2
    least, most = max(enough - reach, 1), enough + max(min(reach, enough), 4)
    step = -(-(most - least + 1) // MOST_POINTS)
    numbers = sorted({*range(least, most + 1, step), max(enough - 1, 1), enough})
    return [
        {side: n, "probability": chance, "is_enough": n >= enough}
        for n, chance in zip(numbers, probabilities(numbers), strict=True)
    ]


def _chance_chart(side: str, enough: int, chance: Fraction, x_title: str, y_title: str) -> AnyChart:
    """Return the chances as points, the wanted one as a line, and the answer with its number."""
    scale = {"zero": False, "nice": False, "padding": 8}
    base = rows_of("chances").encode(
        x=x_axis(f"{side}:Q", x_title, scale, format=",d", tickMinStep=1),
        y=y_axis("probability:Q", y_title, {"domain": [0, 1]}, format="%"),
        tooltip=[alt.Tooltip(f"{side}:Q", title=x_title), exactly("probability", y_title)],
    )
    colour = alt.Color(
        "is_enough:N",
        title=None,
        scale=alt.Scale(domain=[True, False], range=[BLUE, RED]),
        legend=alt.Legend(labelExpr="datum.value ? 'enough' : 'too few'"),
    )
    answer = base.transform_filter(f"datum.{side} == {enough}")
    return alt.layer(
        base.mark_line(color=GREY, strokeWidth=1),
        level("chances", "y", float(chance), color=AMBER, strokeDash=[6, 4]),
        base.mark_point(filled=True, size=36, opacity=1).encode(color=colour),
        answer.mark_point(filled=True, size=140, color=BLUE, opacity=1),
        answer.mark_text(align="left", dx=9, dy=12, fontSize=13, fontWeight="bold").encode(
            text=alt.Text(f"{side}:Q", format=",d")
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
) -> AnyChart:
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
    found = find_rules(rules)
    spread = best.spreads[0]
    scale = {"domain": [0, 1.08 * max(spread)], "nice": False}  # room for the number
    base = rows_of("spread").encode(
        x=x_axis("territory:O", "territory of the chain", labelAngle=0),
        y=y_axis("defenders:Q", "defenders", scale, format=",d", tickMinStep=1),
        tooltip=["territory:O", "defenders:Q"],
    )
    room = alt.ExprRef("bandwidth('x') < 14 ? 0 : 1")
    values = base.mark_text(dy=-7, opacity=room).encode(text="defenders:Q")
    known = "no spread is better" if best.is_exact else "the best found by a search"
    stack, s = count(attackers, "attacker", "attackers"), "s" if attackers == 1 else ""
    if objective == "break through":
        title = f"{stack} break{s} through {percent(float(best.value), 0)} of the time at best."
    else:
        of_all = counted(len(spread), "territory", "territories")
        title = f"{stack} take{s} {float(best.value):.2f} of {of_all} on average, at best."
    bars: AnyChart = alt.layer(base.mark_bar(color=RED), values)
    tables: dict[str, list[Row]] = {
        "spread": [
            {"territory": place, "defenders": held} for place, held in enumerate(spread, start=1)
        ]
    }
    if others:
        tables["values"] = [
            {
                "name": f"{name}: {', '.join(map(str, each[:MOST_WORDS]))}"
                + (" …" if len(each) > MOST_WORDS else ""),
                "is_best": name == "best",
                "value": value,
            }
            for name, each, value in (("best", spread, float(best.value)), *others)
        ]
        compared = _compared(tables["values"], objective == "break through")
        bars = alt.vconcat(bars.properties(height=SPREAD_HEIGHT), compared)
    return finish(
        bars,
        title,
        f"The best spread of {counted(sum(spread))} over {len(spread)} territories in a row; "
        f"{known} ({under_rules(found, label)}).",
        tables,
    )


@chart(of="BestFronts")
def best_fronts(
    divided: BestFronts,
    objective: Objective = "break through",
    rules: Rules | str = "classic",
    label: str = "",
) -> AnyChart:
    """Return the armies on each territory of each front, and what they leave the attackers.

    divided: what `defend_fronts` returns.
    objective: what the defence minimises.
    rules: `Rules`, or the name of a rule set, for fronts without rules of their own.
    label: what the rules are called, if they have no name of their own.

    The chart has a table `armies` with those `held` before and those that are `new` on each
    territory, and a table `values` of the `value` that each front leaves its attackers.
    """
    found, is_chance = find_rules(rules), objective == "break through"
    fronts = [
        (f"front {number}: {counted(each.front.attackers, 'attacker')}", each)
        for number, each in enumerate(divided.fronts, start=1)
    ]
    rows: list[Row] = []
    for number, (_, each) in enumerate(fronts, start=1):
        held = each.front.held or (0,) * len(each.spread)
        for place, (before, after) in enumerate(zip(held, each.spread, strict=True), start=1):
            territory = f"front {number}" + (f", territory {place}" if len(each.spread) > 1 else "")
            rows.append({"territory": territory, "kind": "held", "armies": before})
            rows.append({"territory": territory, "kind": "new", "armies": after - before})
    kinds = categories("kind", {"held": GREY, "new": RED}, [row for row in rows if row["armies"]])
    bars = rows_of("armies").encode(
        x=x_axis("armies:Q", "armies", format=",d", tickMinStep=1),
        y=row_axis("territory", rows),
        color=kinds,
        order=alt.Order("kind:O"),
        tooltip=["territory:N", "kind:N", "armies:Q"],
    )
    values: list[Row] = [
        {"name": name, "is_best": True, "value": float(each.value)} for name, each in fronts
    ]
    value = float(divided.value)
    total = counted(sum(row["armies"] for row in rows if row["kind"] == "new"))
    bars = bars.mark_bar().properties(height=13 * len(rows))
    panels = alt.vconcat(bars, _compared(values, is_chance))
    return finish(
        panels.resolve_scale(color="independent"),
        f"A front falls {percent(value, 0)} of the time."
        if is_chance
        else f"{value:.2f} territories are lost on average.",
        f"The best division of {total} among {counted(len(fronts), 'front')} "
        f"({under_rules(found, label)}).",
        {"armies": rows, "values": values},
    )


def _compared(rows: Sequence[Row], is_chance: bool) -> AnyChart:
    """Return what each spread leaves the attackers, the best spread first."""
    words = "chance to break through" if is_chance else "territories that they take on average"
    most = max(row["value"] for row in rows) or 1.0
    form = {"format": "~%"} if is_chance else {}
    scale = {"domain": [0, 1.12 * most], "nice": False}
    base = rows_of("values").encode(
        y=row_axis("name", rows),
        x=x_axis("value:Q", words, scale, tickCount=5, **form),
        tooltip=["name:N", exactly("value", words)],
    )
    colour = alt.Color("is_best:N", legend=None).scale(domain=[True, False], range=[BLUE, GREY])
    value = alt.Text("value:Q", format=".1%" if is_chance else ".2f")
    values = base.mark_text(align="left", dx=4).encode(text=value)
    compared = alt.layer(base.mark_bar().encode(color=colour), values)
    return compared.properties(height=26 * len(rows))
