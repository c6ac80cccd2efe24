"""Charts of the outcomes of battles, campaigns and simulations, and of other distributions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.axes_and_labels import (
    INTEGER_LABELS,
    UNSIGNED_LABELS,
    axis,
    categories,
    draw_chance_labels,
    exact_field,
    row_axis,
)
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import (
    check_size,
    check_type,
    describe_rules,
    format_battle,
    format_count,
    format_seed,
    format_signed,
    format_stop,
)
from iacta.charts.theme import AMBER, BLUE, GREY, RED
from iacta.charts.vega import Row, View, field, layer, table_view, vconcat
from iacta.forms.percentages import percent
from iacta.forms.roll_counts import describe_rolls
from iacta.forms.sentences import add_noun, join_phrases
from iacta.game.card_odds import CardOdds
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError
from iacta.methods.kernel import Outcome, is_won
from iacta.odds.simulation import SimulationResult
from iacta.probability.distribution import Distribution, Probability
from iacta.probability.estimate import CONFIDENCE, Estimate
from iacta.questions.battle import battle_answer
from iacta.questions.campaign import campaign_answer
from iacta.questions.roll import roll_answer
from iacta.rules.roll import Roll, count_losses

# A dictionary from outcomes, as (ending, number of armies), to their probabilities.
Ends: TypeAlias = Mapping[tuple[str, int], Probability]

WIN, HOLD, STOP = "you win", "they hold", "you stop"
COLOURS = {WIN: BLUE, HOLD: RED, STOP: AMBER}
REMAINING = "armies that remain: theirs to the left, yours to the right"
YOURS, THEIRS = "your armies that remain", "their armies that remain"
CHANCE = "chance"

MAX_BARS = 120  # more bars would be too thin to see
MIN_BARS = 40  # rare outcomes are left out only if there are more numbers than this
MAX_OUTCOME_ROWS = 30  # maximum number of outcomes to show if they are not numbers
OUTCOME_ROW_HEIGHT = 22
RARE_CHANCE = 1e-4
PALE_BAR_OPACITY = 0.75

TAKEN, HELD, STOPPED = "you take it", "they hold it", "you stop there"
FATES = {TAKEN: BLUE, HELD: RED, STOPPED: AMBER}
MAX_CHART_TERRITORIES = 100  # a chart with more territories would be unreadable
PANEL_HEIGHT = 140  # pixels
MAX_NUMBERED_BARS = 15  # bars of campaigns with more territories have no labels
MIN_LABELLED_CHANCE = 0.005

MAX_INTERVALS = 40  # maximum number of bars with intervals
MAX_SUBTITLE_TERRITORIES = 6  # longer lists of territories are left out of the subtitle
LAST = "your armies in the last territory, if all are taken"
NOT_TAKEN = "territories not taken, if you stop or they hold"
SMALL_PLOT_HEIGHT = 200  # height of each of two plots, in pixels


@register_chart(default_for="Battle")
def battle_outcomes(battle: Battle) -> Chart:
    """Draw the probability of each outcome of a battle, by the number of armies left.

    battle: the battle.

    The table `outcomes` has the columns `end` (the ending), `least` and `most` (a range of armies
    left) and `probability`. Your armies are positive numbers, the defenders' armies negative. With
    more than 120 numbers, neighbouring numbers share a bar. With more than 40, the rarest outcomes
    are left out, with a total chance below 1 in 10,000 at each end of the axis.
    """
    answer = battle_answer(battle)
    outcomes = answer.outcomes or battle.outcomes()  # raises an error for too many outcomes
    rows = list_bars(outcomes.map(lambda end: _classify_outcome(battle, end)))
    return Chart(
        histogram("outcomes", rows, _choose_title(rows), is_signed=False),
        answer.sentence,
        format_battle(battle.attackers, battle.defenders, battle.rules, battle.stop)
        + f" Armies left, including the garrison of {battle.rules.garrison}.",
        {"outcomes": rows},
    )


def _choose_title(rows: Sequence[Row]) -> str:
    held = [row["end"] == HOLD for row in rows]
    return THEIRS if all(held) else REMAINING if any(held) else YOURS


def describe_fate(end: Outcome, battle: Battle) -> str:
    if is_won(end):
        return WIN
    return STOP if battle.is_stopped(end) else HOLD


@register_chart(default_for="Roll")
def roll_losses(roll: Roll) -> Chart:
    """Draw the losses of both sides in one roll of the dice.

    roll: the roll.

    The table `losses` has the columns `attackers` and `defenders` (armies lost), `count` (the
    number of rolls with these losses) and `total` (the number of equally likely rolls).

    Source: Taflin (2001), table 1.
    """
    total = sum(count_losses(roll.attack_dice, roll.defence_dice, roll.rules).values())
    more = {-1: "they lose more", 0: "neither does", 1: "you lose more"}
    rows: list[Row] = [
        {
            "losses": f"you {lost.attackers}, they {lost.defenders}"
            if lost.attackers >= 0
            else f"both gain {-lost.attackers}",
            "worse": more[(lost.attackers > lost.defenders) - (lost.attackers < lost.defenders)],
            **lost._asdict(),
            "count": int(chance * total),
            "total": total,
            "probability": float(chance),
        }
        for lost, chance in sorted(roll.losses().items())
    ]
    room = {"domainMax": 1.25 * max(row["probability"] for row in rows)}
    base = table_view("losses").encode(
        y=row_axis("losses", rows, "armies lost"),
        x=axis("probability:Q", CHANCE, room, format="~%", tickCount=5),
        tooltip=[
            field("losses:N", title="armies lost"),
            field("count:Q", title="rolls"),
            field("total:Q", title="of"),
            exact_field("probability", CHANCE),
        ],
    )
    colours = {more[1]: RED, more[-1]: BLUE, more[0]: GREY}
    text = base.mark("text", align="left", dx=5).encode(text=field("probability:Q", format=".2~%"))
    bars = base.mark("bar").encode(color=categories("worse", colours, rows))
    dice = add_noun(roll.attack_dice, "attack die", "attack dice")
    return Chart(
        layer(bars, text).properties(height=50 * len(rows)),
        roll_answer(roll).sentence,
        f"Armies lost in one roll of {dice} against {roll.defence_dice} "
        f"({describe_rules(roll.rules)}).",
        {"losses": rows},
    )


@register_chart(default_for="CardOdds")
def set_chances(odds: CardOdds) -> Chart:
    """Draw the chance that a hand contains a set of cards, for each number of cards.

    odds: the odds of a hand, with the known cards of other players.

    The table `chances` has the columns `cards` and `probability`.
    """
    rows: list[Row] = [
        {"cards": add_noun(number, "card", "cards"), "probability": float(chance)}
        for number, chance in odds.list_set_chances()
    ]
    base = table_view("chances").encode(
        y=row_axis("cards", rows, "cards in hand"),
        x=axis("probability:Q", CHANCE, {"domain": [0, 1.1]}, format="~%", tickCount=5),
        tooltip=[field("cards:N", title="cards"), exact_field("probability", CHANCE)],
    )
    text = base.mark("text", align="left", dx=5).encode(text=field("probability:Q", format=".4~%"))
    return Chart(
        layer(base.mark("bar", color=BLUE), text).properties(height=50 * len(rows)),
        "The hand may never contain a set."
        if odds.cards_needed is None
        else f"You hold a set after {float(odds.cards_needed):.4f} cards on average.",
        f"The chance that a hand contains a set of cards ({odds.deck.number} cards in the deck).",
        {"chances": rows},
    )


@register_chart(default_for="Distribution")
def distribution(distribution: Distribution[Any]) -> Chart:
    """Draw the probability of each outcome of a distribution.

    distribution: the distribution.

    If the outcomes are whole numbers, the table `outcomes` has ranges from `least` to `most` with a
    `probability`, as in `battle_outcomes`. Otherwise it has the 30 likeliest outcomes, with the
    columns `outcome` and `probability`.
    """
    likeliest = distribution.mode()
    often = f"{percent(distribution[likeliest], 0)} of the time"
    if all(isinstance(value, int) for value in distribution):
        rows = list_bars({(CHANCE, value): chance for value, chance in distribution.items()})
        return Chart(
            histogram("outcomes", rows, "number", {CHANCE: BLUE}).encode(color={"value": BLUE}),
            f"{format_signed(distribution.mean(), 2)} on average, most often "
            f"{format_signed(likeliest)}: {often}.",
            "The probability of each number.",
            {"outcomes": rows},
        )
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    rows = [
        {"outcome": _format_outcome(value), "probability": float(chance)}
        for value, chance in ranked[:MAX_OUTCOME_ROWS]
    ]
    left_out = len(ranked) - len(rows)
    bars = table_view("outcomes").mark("bar").properties(height=OUTCOME_ROW_HEIGHT * len(rows))
    return Chart(
        bars.encode(
            y=row_axis("outcome", rows),
            x=axis("probability:Q", CHANCE, format="~%", tickCount=5),
            tooltip=["outcome:N", exact_field("probability", CHANCE)],
        ),
        f"Most often {rows[0]['outcome']}: {often}.",
        "The probability of each outcome"
        + (f", without the {left_out:,} least likely." if left_out else "."),
        {"outcomes": rows},
    )


@register_chart()
def roll_counts(battle_or_campaign: Battle | Campaign) -> Chart:
    """Draw the probability of each number of rolls until a battle or a campaign ends.

    battle_or_campaign: the battle or the campaign.

    The table `rolls` has ranges from `least` to `most` with a `probability`, as in
    `battle_outcomes`. Exceptions are as for `Battle.rolls`.
    """
    kind = Battle if isinstance(battle_or_campaign, Battle) else Campaign
    check_type(battle_or_campaign, kind, "battle_or_campaign")
    rolls = battle_or_campaign.rolls()
    rows = list_bars({(CHANCE, count): chance for count, chance in rolls.items()})
    bars = histogram("rolls", rows, "rolls until it ends", {CHANCE: BLUE}, is_signed=False)
    return Chart(
        bars.encode(color={"value": BLUE}),
        describe_rolls(rolls),
        describe_attack(battle_or_campaign),
        {"rolls": rows},
    )


def _format_outcome(outcome: Any) -> str:
    fields = getattr(outcome, "_fields", None)
    if fields is None:
        return str(outcome)
    return ", ".join(f"{field} {value}" for field, value in zip(fields, outcome, strict=True))


class BarSpan(NamedTuple):
    """The outcomes that share a bar: an ending and a range of numbers of armies."""

    end: str
    least: int
    most: int


def group_outcomes(ends: Ends, maximum: int = MAX_BARS) -> dict[tuple[str, int], BarSpan]:
    """Return the bar of each outcome.

    maximum: the maximum number of bars. If there are more numbers, neighbours share a bar.

    If there are more than 40 numbers, the rarest are left out, with a total chance below 1 in
    10,000 at each end of the axis.
    """
    chances: dict[int, float] = defaultdict(float)
    for (_, number), chance in ends.items():
        chances[number] += float(chance)
    kept = sorted(chances)
    for last in (0, -1) if len(kept) > MIN_BARS else ():
        rare = chances[kept[last]]
        while rare < RARE_CHANCE:
            kept.pop(last)
            rare += chances[kept[last]]
    width = -(-(kept[-1] - kept[0] + 1) // maximum)
    return {
        (end, number): BarSpan(end, number // width * width, number // width * width + width - 1)
        for end, number in ends
        if kept[0] <= number <= kept[-1]
    }


def list_bars(ends: Ends, bars: Mapping[tuple[str, int], BarSpan] | None = None) -> list[Row]:
    """Return a row for each bar.

    bars: the bar of each outcome; `None` to use `group_outcomes`.
    """
    bars = bars or group_outcomes(ends)
    sums: dict[BarSpan, float] = defaultdict(float)
    for outcome in filter(bars.__contains__, ends):
        sums[bars[outcome]] += float(ends[outcome])
    return [{**span._asdict(), "probability": chance} for span, chance in sums.items()]


def histogram(
    table: str,
    rows: Sequence[Row],
    title: str,
    colours: Mapping[str, str] = COLOURS,
    *,
    beneath: bool = False,
    is_signed: bool = True,
    max_chance: float = 0,
) -> View:
    """Return a histogram with a colour for each ending.

    table: the name of the table.
    rows: the rows of the table, from `list_bars`.
    title: the title of the armies axis.
    beneath: whether lines will be drawn on top; if so, the bars are pale and not stacked.
    is_signed: whether to show minus signs. Without them, negative numbers stand for defenders.
    max_chance: the upper end of the chance axis; 0 to choose it automatically.
    """
    width = max(row["most"] - row["least"] + 1 for row in rows)
    bars = table_view(table, low="datum.least - 0.45", high="datum.most + 0.45")
    chance = CHANCE if width == 1 else f"chance of {width} consecutive numbers"
    label = INTEGER_LABELS if is_signed else UNSIGNED_LABELS
    if not is_signed and all(row["least"] >= 0 for row in rows):
        label = f"datum.value < 0 ? '' : {label}"  # the axis may extend below 0
    elif not is_signed and all(row["most"] <= 0 for row in rows):
        label = f"datum.value > 0 ? '' : {label}"
    look = {"format": ",~d", "tickMinStep": 1, "labelExpr": label}
    return bars.mark("bar", binSpacing=0, opacity=PALE_BAR_OPACITY if beneath else 1).encode(
        x=field("low:Q", title=title, bin="binned", axis=look),
        x2="high",
        y=field(
            "probability:Q",
            title=chance,
            stack=None if beneath else "zero",
            axis={"format": "~%"},
            **({"scale": {"domain": [0, max_chance], "nice": False}} if max_chance else {}),
        ),
        color=categories("end", colours, rows),
        tooltip=[
            "end:N",
            field("least:Q", title="from"),
            field("most:Q", title="to"),
            exact_field("probability", CHANCE),
        ],
    )


@register_chart(default_for="Campaign")
def survival(campaign: Campaign) -> Chart:
    """Draw the progress of a campaign: the chance to take each territory, and the armies.

    campaign: a campaign with at most 100 territories.

    The table `territories` has, for each `territory`, the `probability` of each `fate`: taken, held
    by its defenders, or reached but not taken because you stopped. The table `stacks` has the
    armies of both sides on each territory; for your side, the expected number on arrival. The table
    `left` has the distribution of your armies on the last territory if all are taken.
    """
    count = len(campaign.territories)
    words = "a chart of a campaign must have at most {} territories"
    check_size(count, MAX_CHART_TERRITORIES, words, quote(count))
    answer = campaign_answer(campaign)
    outcomes = answer.outcomes
    fails = ""
    if count > 1 and len(outcomes) > 1 and answer.win_probability != 1:
        failed = outcomes.condition(lambda end: end.conquered < count)
        number = failed.map(lambda end: end.conquered + 1).mode()
        fails = f" Most failures are at territory {number}."
    fates = _list_fates(campaign, outcomes)
    panels = _draw_survival(fates)
    tables = {"territories": fates, "stacks": _list_stacks(campaign)}
    ends = {(WIN, end.attackers): p for end, p in outcomes.items() if end.conquered == count}
    if ends:
        tables["left"] = list_bars(ends)
        title = "armies in the last territory, if all are taken"
        left = histogram("left", tables["left"], title, {WIN: BLUE})
        panels.append(left.encode(color={"value": BLUE}))
    drawn = vconcat(*(panel.properties(height=PANEL_HEIGHT) for panel in panels))
    return Chart(
        drawn.independent("color"),
        answer.sentence + fails,
        describe_campaign(campaign),
        tables,
    )


def format_goal(campaign: Campaign) -> str:
    count = len(campaign.territories)
    return "the territory" if count == 1 else f"all {count} territories"


def describe_campaign(campaign: Campaign) -> str:
    return (
        f"{format_count(campaign.attackers)} on {'its' if campaign.attackers == 1 else 'their'} way"
        f"{format_stop(campaign.stop)} ({describe_rules(campaign.rules)})."
    )


def _list_fates(campaign: Campaign, outcomes: Distribution[CampaignOutcome]) -> list[Row]:
    count = len(campaign.territories)

    def fate(end: CampaignOutcome) -> tuple[int, str]:
        if end.conquered == count:
            return count, TAKEN
        return end.conquered, STOPPED if campaign.is_stopped(end) else HELD

    ends = outcomes.map(fate)
    return [
        {"territory": number + 1, "fate": fate, "probability": float(chance)}
        for number, odds in enumerate(campaign.territory_odds())
        for fate, chance in (
            (TAKEN, odds.conquer_probability),
            *((fate, ends[number, fate]) for fate in (HELD, STOPPED) if (number, fate) in ends),
        )
    ]


def _list_stacks(campaign: Campaign) -> list[Row]:
    return [
        {"territory": number, "side": side, "armies": armies}
        for number, (odds, territory) in enumerate(
            zip(campaign.territory_odds(), campaign.territories, strict=True), start=1
        )
        for side, armies in (
            ("yours", float(odds.expected_attackers)),
            ("theirs", territory.defenders),
        )
        if side == "theirs" or odds.reach_probability
    ]


def _draw_survival(fates: Sequence[Row]) -> list[View]:
    """Return panels by territory: the chance of failure, the chance of conquest, and armies.

    A campaign that cannot fail has no panel for failures.
    """
    failures = [row for row in fates if row["fate"] != TAKEN]
    count = max(row["territory"] for row in fates)
    across = axis("territory:O", "territory", labelAngle=0)
    points: dict[str, Any] = {"filled": True, "size": 45, "opacity": 1}
    panels: list[View] = []
    if failures:
        every = {"domain": list(range(1, count + 1))}
        chance = {"title": "chance that it ends there", "axis": {"format": "~%", "tickCount": 4}}
        base = table_view("territories", f"datum.fate != '{TAKEN}'").encode(
            x=axis("territory:O", "territory", every, labelAngle=0),
            y=field("probability:Q", stack="zero", **chance),
            tooltip=["territory:O", "fate:N", exact_field("probability", "chance")],
        )
        layers = [base.mark("bar").encode(color=categories("fate", FATES, failures))]
        # Vega warns about layers without rows.
        has_written = any(row["probability"] >= MIN_LABELLED_CHANCE for row in failures)
        if (
            has_written
            and len({row["fate"] for row in failures}) == 1
            and count <= MAX_NUMBERED_BARS
        ):
            written = base.filter(f"datum.probability >= {MIN_LABELLED_CHANCE}")
            layers.append(draw_chance_labels(written, dy=-6, fontSize=10))
        panels.append(layer(*layers))
    words, all_chances = "chance to take it", {"domain": [0, 1]}
    taken = table_view("territories", f"datum.fate == '{TAKEN}'").encode(
        x=across,
        y=axis("probability:Q", words, all_chances, format="~%", tickCount=5),
        tooltip=["territory:O", exact_field("probability", words)],
    )
    stacks = table_view("stacks").encode(
        x=across,
        y=axis("armies:Q", "armies (yours: on average)", tickCount=5),
        color=categories("side", {"yours": BLUE, "theirs": RED}),
        tooltip=["territory:O", "side:N", exact_field("armies")],
    )
    # Draw defenders as bars, because a line would suggest that they are connected.
    theirs = stacks.filter("datum.side == 'theirs'").mark("bar")
    yours = stacks.filter("datum.side == 'yours'")
    return [
        *panels,
        layer(taken.mark("line"), taken.mark("point", **points)),
        layer(theirs, yours.mark("line"), yours.mark("point", **points)),
    ]


@register_chart(default_for="SimulationResult")
def simulated_outcomes(
    simulation: SimulationResult[Outcome] | SimulationResult[CampaignOutcome],
    battle: Battle | Campaign,
    *,
    seed: int | None = None,
) -> Chart:
    """Draw simulated outcomes with their intervals, beside the exact chances.

    simulation: the result of `simulate_battle` or `simulate_campaign`.
    battle: the battle or campaign that was simulated.
    seed: the random seed to mention in the subtitle, or `None`.

    The table `outcomes` has the columns `end` (the ending), `least` and `most` (a range of
    numbers), `probability` (the share of runs), `low` and `high` (its 95% interval) and, if it can
    be computed, `exact` (the exact chance). Positive numbers are your armies left; in a campaign,
    those on the last territory. Negative numbers are the defenders left or, in a campaign of
    several territories, the number of territories not taken.
    """
    check_type(battle, Battle if isinstance(battle, Battle) else Campaign, "battle")
    rows = _list_simulation(simulation, battle)
    if isinstance(battle, Battle) or len(battle.territories) == 1:
        drawn = _draw_simulation(rows, _choose_title(rows))
    else:  # armies and territories are different quantities and need separate axes
        most = 1.05 * max(max(row["high"], row["exact"] or 0) for row in rows)
        won = [row for row in rows if row["end"] == WIN]
        lost = [row for row in rows if row["end"] != WIN]
        parts = ((won, LAST, f"datum.end == '{WIN}'"), (lost, NOT_TAKEN, f"datum.end != '{WIN}'"))
        plots = [
            _draw_simulation(*part, most).properties(height=SMALL_PLOT_HEIGHT)
            for part in parts
            if part[0]
        ]
        drawn = vconcat(*plots).independent("color")
    return Chart(
        drawn,
        summarise_simulation(simulation.won, battle),
        f"{describe_attack(battle)} Bars: games with dice{format_seed(seed)}; vertical lines: "
        f"{CONFIDENCE:.0%} intervals; horizontal lines: exact.",
        {"outcomes": rows},
    )


def describe_attack(battle: Battle | Campaign) -> str:
    if isinstance(battle, Battle):
        return format_battle(battle.attackers, battle.defenders, battle.rules, battle.stop)
    chain, count = battle.stages(), len(battle.territories)
    if count == 1:
        return format_battle(battle.attackers, *chain[0])
    held = join_phrases([str(stage.defenders) for stage in chain])
    by = f", held by {held}" if count <= MAX_SUBTITLE_TERRITORIES else ""
    return (
        f"{format_count(battle.attackers)} against {format_goal(battle)}{by}"
        f"{format_stop(battle.stop)} ({describe_rules(battle.rules)})."
    )


def summarise_simulation(won: Estimate, battle: Battle | Campaign) -> str:
    title = f"Won in {percent(won.probability)} of {format_count(won.runs, 'game')}"
    exact = compute_exact_chance(battle)
    return f"{title}." if exact is None else f"{title}; the exact chance is {percent(exact)}."


def compute_exact_chance(battle: Battle | Campaign) -> Probability | None:
    """Return the exact chance to win, or `None` if no method can compute it."""
    if battle.attackers <= battle.rules.garrison:
        return Fraction(0)
    try:
        return float(battle.win_probability())
    except IactaError:
        return None


def _classify_outcome(battle: Battle | Campaign, end: Outcome | CampaignOutcome) -> tuple[str, int]:
    """Return the ending and the number of an outcome, as in the table of `simulated_outcomes`."""
    if isinstance(battle, Battle):
        left = Outcome(*end)
        fate = describe_fate(left, battle)
        return fate, -left.defenders if fate == HOLD else left.attackers
    count, last = len(battle.territories), CampaignOutcome(*end)
    if last.conquered == count:
        # In a single battle, the number includes the garrison.
        return WIN, last.attackers + (battle.rules.garrison if count == 1 else 0)
    stops = battle.is_stopped(last)
    if count > 1:
        return STOP if stops else HOLD, last.conquered - count
    return (STOP, last.attackers) if stops else (HOLD, -last.defenders)


def _list_simulation(
    simulation: SimulationResult[Outcome] | SimulationResult[CampaignOutcome],
    battle: Battle | Campaign,
) -> list[Row]:
    observed: Distribution[tuple[str, int]] = simulation.outcomes.map(
        lambda end: _classify_outcome(battle, end)
    )
    exact: Distribution[tuple[str, int]] | None = None
    with suppress(IactaError):  # if no method can compute the chances, show only the simulation
        outcomes: Distribution[Outcome] | Distribution[CampaignOutcome] = battle.outcomes()
        exact = outcomes.map(lambda end: _classify_outcome(battle, end))
    bars = group_outcomes(exact or observed, MAX_INTERVALS)
    rows: list[Row] = []
    for bar in dict.fromkeys(bars.values()):
        mine = {end for end, span in bars.items() if span == bar}
        successes = int(observed.prob(mine.__contains__) * simulation.won.runs)
        seen = Estimate(simulation.won.runs, successes)
        chances = {"probability": float(seen.probability), **seen.interval()._asdict()}
        true = None if exact is None else float(exact.prob(mine.__contains__))
        rows.append({**bar._asdict(), **chances, "exact": true})
    return rows


def _draw_simulation(
    rows: Sequence[Row], words: str, where: str = "true", max_chance: float = 0
) -> View:
    """Return bars with intervals, and lines at the exact chances.

    words: the title of the axis.
    where: a Vega expression that selects the rows.
    max_chance: the upper end of the chance axis, as in `histogram`.
    """
    bars = histogram("outcomes", rows, words, beneath=True, is_signed=False, max_chance=max_chance)
    middles = table_view("outcomes", middle="(datum.least + datum.most) / 2")
    tooltip = [exact_field("low", "interval from"), exact_field("high", "to")]
    intervals = middles.mark("rule", strokeWidth=1.5)
    layers = [bars, intervals.encode(x="middle:Q", y="low:Q", y2="high", tooltip=tooltip)]
    if any(row["exact"] is not None for row in rows):
        ends = table_view("outcomes", left="datum.least - 0.4", right="datum.most + 0.4")
        caps = ends.mark("rule", strokeWidth=2).encode(x="left:Q", x2="right", y="exact:Q")
        layers.append(caps.encode(tooltip=[exact_field("exact", "exact chance")]))
    return layer(*(layer.filter(where) for layer in layers))
