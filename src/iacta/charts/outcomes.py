"""Charts of outcomes: how battles and campaigns end, computed and simulated, and distributions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.axes_and_labels import (
    WHOLE,
    WITHOUT_SIGN,
    axis,
    categories,
    chance_texts,
    exactly,
    row_axis,
)
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import (
    counted,
    expect,
    fight,
    limit,
    rules_words,
    seed_words,
    signed,
    stop_words,
)
from iacta.charts.theme import AMBER, BLUE, GREY, RED
from iacta.charts.vega import Row, View, field, layer, rows_of, vconcat
from iacta.forms.percentages import percent
from iacta.forms.sentences import count, join_phrases
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError
from iacta.methods.kernel import Outcome, is_won
from iacta.odds.simulated import Simulated
from iacta.probability.distribution import Distribution, Probability
from iacta.probability.estimate import CONFIDENCE, Estimate
from iacta.questions.battle import battle_answer
from iacta.questions.campaign import campaign_answer
from iacta.questions.roll import roll_answer
from iacta.rules.roll import Roll

# How something ends, with a number of armies.
Ends: TypeAlias = Mapping[tuple[str, int], Probability]

WIN, HOLD, STOP = "you win", "they hold", "you stop"
COLOURS = {WIN: BLUE, HOLD: RED, STOP: AMBER}
REMAIN = "armies that remain: theirs to the left, yours to the right"
YOURS, THEIRS = "your armies that remain", "their armies that remain"
CHANCE = "chance"

MOST_BARS = 120  # more are no more than hairs
FEW_BARS = 40  # of so few, none is left out
MOST_ROWS = 30  # of a distribution of anything but numbers
ROW_HEIGHT = 22
RARE = 1e-4
PALE = 0.75

TAKEN, HELD, STOPPED = "you take it", "they hold it", "you stop there"
FATES = {TAKEN: BLUE, HELD: RED, STOPPED: AMBER}
MOST_TERRITORIES = 100  # more panels cannot be read
PANEL = 140  # pixels
MOST_NUMBERS = 15  # of more territories, the chances are not written
LEAST_WRITTEN = 0.005  # nor are smaller ones

MOST_INTERVALS = 40  # bars, of a simulation
MOST_NAMED = 6  # territories, whose defenders are named
LAST = "your armies in the last territory, if all are taken"
NOT_TAKEN = "territories not taken, if you stop or they hold"
SMALL = 200  # pixels, where there are two plots


@chart(of="Battle")
def battle_outcomes(battle: Battle) -> Chart:
    """Return how a battle ends: the chances of each number of armies left, to either side.

    battle: the battle.

    The chart has a table `outcomes`: `end`, the numbers of armies from `least` to `most`, yours
    above 0 where you win or stop and theirs below where they hold, and their `probability`. More
    than 120 numbers are joined; of more than 40, those at the ends that occur once in 10,000
    battles are left out. Battles with more outcomes than can be listed are refused.
    """
    answer = battle_answer(battle)
    outcomes = answer.outcomes or battle.outcomes()  # which refuses too many
    rows = bar_rows(outcomes.map(lambda end: _end(battle, end)))
    return Chart(
        histogram("outcomes", rows, _whose(rows), is_signed=False),
        answer.sentence,
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop)
        + f" How it ends, including the garrison of {battle.rules.garrison}.",
        {"outcomes": rows},
    )


def _whose(rows: Sequence[Row]) -> str:
    held = [row["end"] == HOLD for row in rows]
    return THEIRS if all(held) else REMAIN if any(held) else YOURS


def fate_of(end: Outcome, battle: Battle) -> str:
    if is_won(end):
        return WIN
    return STOP if battle.is_stopped(end) else HOLD


@chart(of="Roll")
def roll_losses(roll: Roll) -> Chart:
    """Return what one roll of the dice costs both sides.

    roll: the roll.

    The chart has a table `losses`: the armies that `attackers` and `defenders` lose, and the
    `count` of equally likely rolls, of a `total`, that cost this many.

    Source: Taflin (2001), table 1.
    """
    total = roll.loss_counts().total
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
    base = rows_of("losses").encode(
        y=row_axis("losses", rows, "armies lost"),
        x=axis("probability:Q", CHANCE, room, format="~%", tickCount=5),
        tooltip=[
            field("losses:N", title="armies lost"),
            field("count:Q", title="rolls"),
            field("total:Q", title="of"),
            exactly("probability", CHANCE),
        ],
    )
    colours = {more[1]: RED, more[-1]: BLUE, more[0]: GREY}
    text = base.mark("text", align="left", dx=5).encode(text=field("probability:Q", format=".2~%"))
    bars = base.mark("bar").encode(color=categories("worse", colours, rows))
    dice = count(roll.attack_dice, "attack die", "attack dice")
    return Chart(
        layer(bars, text).properties(height=50 * len(rows)),
        roll_answer(roll).sentence,
        f"Armies lost in one roll of {dice} against {roll.defence_dice} "
        f"({rules_words(roll.rules)}).",
        {"losses": rows},
    )


@chart(of="Distribution")
def distribution(distribution: Distribution[Any]) -> Chart:
    """Return the probability of each outcome of a distribution, in order if they are numbers.

    distribution: the distribution.

    The chart has a table `outcomes`: of whole numbers those from `least` to `most` with their
    `probability`, joined and left out as for `battle_outcomes`; of anything else each `outcome`
    with its `probability`, the 30 likeliest.
    """
    likeliest = distribution.mode()
    often = f"{percent(distribution[likeliest], 0)} of the time"
    if all(isinstance(value, int) for value in distribution):
        rows = bar_rows({(CHANCE, value): chance for value, chance in distribution.items()})
        return Chart(
            histogram("outcomes", rows, "number", {CHANCE: BLUE}).encode(color={"value": BLUE}),
            f"{signed(distribution.mean(), 2)} on average, most often {signed(likeliest)}: "
            f"{often}.",
            "The probability of each number.",
            {"outcomes": rows},
        )
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    rows = [
        {"outcome": _outcome_words(value), "probability": float(chance)}
        for value, chance in ranked[:MOST_ROWS]
    ]
    left_out = len(ranked) - len(rows)
    bars = rows_of("outcomes").mark("bar").properties(height=ROW_HEIGHT * len(rows))
    return Chart(
        bars.encode(
            y=row_axis("outcome", rows),
            x=axis("probability:Q", CHANCE, format="~%", tickCount=5),
            tooltip=["outcome:N", exactly("probability", CHANCE)],
        ),
        f"Most often {rows[0]['outcome']}: {often}.",
        "The probability of each outcome"
        + (f", without the {left_out:,} least likely." if left_out else "."),
        {"outcomes": rows},
    )


def _outcome_words(outcome: Any) -> str:
    fields = getattr(outcome, "_fields", None)
    if fields is None:
        return str(outcome)
    return ", ".join(f"{field} {value}" for field, value in zip(fields, outcome, strict=True))


class BarSpan(NamedTuple):
    """What a bar stands for: how it ends, with from the least to the most armies."""

    end: str
    least: int
    most: int


def spans_of(ends: Ends, most: int = MOST_BARS) -> dict[tuple[str, int], BarSpan]:
    """Return the bar to which each outcome belongs.

    most: how many bars there may be; of more, neighbours are joined. Where there are more than 40,
        those at either end are left out that together are rarer than 1 in 10,000.
    """
    chances: dict[int, float] = defaultdict(float)
    for (_, number), chance in ends.items():
        chances[number] += float(chance)
    kept = sorted(chances)
    for last in (0, -1) if len(kept) > FEW_BARS else ():
        rare = chances[kept[last]]
        while rare < RARE:
            kept.pop(last)
            rare += chances[kept[last]]
    width = -(-(kept[-1] - kept[0] + 1) // most)
    return {
        (end, number): BarSpan(end, number // width * width, number // width * width + width - 1)
        for end, number in ends
        if kept[0] <= number <= kept[-1]
    }


def bar_rows(ends: Ends, bars: Mapping[tuple[str, int], BarSpan] | None = None) -> list[Row]:
    """Return a row for each bar, which are those of `spans_of` unless they are given."""
    bars = bars or spans_of(ends)
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
    end: float = 0,
) -> View:
    """Return bars as wide as the armies that they stand for, coloured by how it ends.

    title: what the armies are.
    beneath: whether lines are drawn over the bars; these are then pale, and each begins at 0.
    is_signed: whether numbers below 0 have their sign; without, they are those of the defenders.
    end: of the axis of chances; 0 if nothing stands beside it.
    """
    width = max(row["most"] - row["least"] + 1 for row in rows)
    bars = rows_of(table, low="datum.least - 0.45", high="datum.most + 0.45")
    chance = CHANCE if width == 1 else f"chance of {width} numbers in a row"
    label = WHOLE if is_signed else WITHOUT_SIGN
    if not is_signed and all(row["least"] >= 0 for row in rows):
        label = f"datum.value < 0 ? '' : {label}"  # the axis may begin before the first bar
    elif not is_signed and all(row["most"] <= 0 for row in rows):
        label = f"datum.value > 0 ? '' : {label}"
    look = {"format": ",~d", "tickMinStep": 1, "labelExpr": label}
    return bars.mark("bar", binSpacing=0, opacity=PALE if beneath else 1).encode(
        x=field("low:Q", title=title, bin="binned", axis=look),
        x2="high",
        y=field(
            "probability:Q",
            title=chance,
            stack=None if beneath else "zero",
            axis={"format": "~%"},
            **({"scale": {"domain": [0, end], "nice": False}} if end else {}),
        ),
        color=categories("end", colours, rows),
        tooltip=[
            "end:N",
            field("least:Q", title="from"),
            field("most:Q", title="to"),
            exactly("probability", CHANCE),
        ],
    )


@chart(of="Campaign")
def survival(campaign: Campaign) -> Chart:
    """Return how far a campaign comes: where it fails, how often it goes on, and the armies.

    campaign: the campaign.

    The chart has a table `territories`: for each `territory` the chance of each `fate`; a table
    `stacks` of the armies of either side there, the expected `attackers` if they come so far; and a
    table `left` of the armies in the last territory, if all are taken. More than 100 territories
    are refused.
    """
    count = len(campaign.territories)
    words = "a picture of a campaign must have at most {} territories"
    limit(count, MOST_TERRITORIES, words, quote(count))
    answer = campaign_answer(campaign)
    outcomes = answer.outcomes
    fails = ""
    if count > 1 and len(outcomes) > 1 and answer.win_probability != 1:
        failed = outcomes.condition(lambda end: end.conquered < count)
        number = failed.map(lambda end: end.conquered + 1).mode()
        fails = f" Most failures are at territory {number}."
    fates = _fates(campaign, outcomes)
    panels = _survival_panels(fates)
    tables = {"territories": fates, "stacks": _stacks(campaign)}
    ends = {(WIN, end.attackers): p for end, p in outcomes.items() if end.conquered == count}
    if ends:
        tables["left"] = bar_rows(ends)
        title = "armies in the last territory, if all are taken"
        left = histogram("left", tables["left"], title, {WIN: BLUE})
        panels.append(left.encode(color={"value": BLUE}))
    drawn = vconcat(*(panel.properties(height=PANEL) for panel in panels))
    return Chart(
        drawn.independent("color"),
        answer.sentence + fails,
        campaign_subject(campaign),
        tables,
    )


def goal(campaign: Campaign) -> str:
    count = len(campaign.territories)
    return "the territory" if count == 1 else f"all {count} territories"


def campaign_subject(campaign: Campaign) -> str:
    return (
        f"{counted(campaign.attackers)} on {'its' if campaign.attackers == 1 else 'their'} way"
        f"{stop_words(campaign.stop)} ({rules_words(campaign.rules)})."
    )


def _fates(campaign: Campaign, outcomes: Distribution[CampaignOutcome]) -> list[Row]:
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


def _stacks(campaign: Campaign) -> list[Row]:
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


def _survival_panels(fates: Sequence[Row]) -> list[View]:
    """Return where a campaign ends, if it can fail; what it takes; and the armies of both sides."""
    failures = [row for row in fates if row["fate"] != TAKEN]
    count = max(row["territory"] for row in fates)
    across = axis("territory:O", "territory", labelAngle=0)
    points: dict[str, Any] = {"filled": True, "size": 45, "opacity": 1}
    panels: list[View] = []
    if failures:
        every = {"domain": list(range(1, count + 1))}
        chance = {"title": "chance that it ends there", "axis": {"format": "~%", "tickCount": 4}}
        base = rows_of("territories", f"datum.fate != '{TAKEN}'").encode(
            x=axis("territory:O", "territory", every, labelAngle=0),
            y=field("probability:Q", stack="zero", **chance),
            tooltip=["territory:O", "fate:N", exactly("probability", "chance")],
        )
        layers = [base.mark("bar").encode(color=categories("fate", FATES, failures))]
        # Vega warns of a layer without rows.
        has_written = any(row["probability"] >= LEAST_WRITTEN for row in failures)
        if has_written and len({row["fate"] for row in failures}) == 1 and count <= MOST_NUMBERS:
            written = base.filter(f"datum.probability >= {LEAST_WRITTEN}")
            layers.append(chance_texts(written, dy=-6, fontSize=10))
        panels.append(layer(*layers))
    words, all_chances = "chance to take it", {"domain": [0, 1]}
    taken = rows_of("territories", f"datum.fate == '{TAKEN}'").encode(
        x=across,
        y=axis("probability:Q", words, all_chances, format="~%", tickCount=5),
        tooltip=["territory:O", exactly("probability", words)],
    )
    stacks = rows_of("stacks").encode(
        x=across,
        y=axis("armies:Q", "armies (yours: on average)", tickCount=5),
        color=categories("side", {"yours": BLUE, "theirs": RED}),
        tooltip=["territory:O", "side:N", exactly("armies")],
    )
    # A line would say that the armies of one territory had to do with those of the next.
    theirs = stacks.filter("datum.side == 'theirs'").mark("bar")
    yours = stacks.filter("datum.side == 'yours'")
    return [
        *panels,
        layer(taken.mark("line"), taken.mark("point", **points)),
        layer(theirs, yours.mark("line"), yours.mark("point", **points)),
    ]


@chart(of="Simulated")
def simulated_outcomes(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome],
    fought: Battle | Campaign,
    *,
    seed: int | None = None,
) -> Chart:
    """Return how often each outcome was observed, with its interval, beside its exact chance.

    simulated: what `simulate_battle` or `simulate_campaign` returns.
    fought: the battle or the campaign that was simulated.
    seed: that of the dice, shown so that they can be thrown again; `None` to show none.

    The chart has a table `outcomes`: how it ends, the numbers from `least` to `most`, the part of
    the runs that ended so (`probability`), its 95% interval from `low` to `high`, and the `exact`
    chance, empty if no method computes it. After a success the numbers are the armies that remain,
    above 0: in a campaign of several territories those in the last one. Where you stop before the
    only territory they are yours too. Otherwise they are below 0: the defenders that remain, or in
    such a campaign the territories not taken.
    """
    expect(fought, Battle if isinstance(fought, Battle) else Campaign, "fought")
    rows = _simulated_rows(simulated, fought)
    if isinstance(fought, Battle) or len(fought.territories) == 1:
        drawn = _plot(rows, _whose(rows))
    else:  # armies and territories have no axis in common
        most = 1.05 * max(max(row["high"], row["exact"] or 0) for row in rows)
        won = [row for row in rows if row["end"] == WIN]
        lost = [row for row in rows if row["end"] != WIN]
        parts = ((won, LAST, f"datum.end == '{WIN}'"), (lost, NOT_TAKEN, f"datum.end != '{WIN}'"))
        plots = [_plot(*part, most).properties(height=SMALL) for part in parts if part[0]]
        drawn = vconcat(*plots).independent("color")
    return Chart(
        drawn,
        simulated_title(simulated.won, fought),
        f"{simulated_subject(fought)} Bars: games with dice{seed_words(seed)}; vertical lines: "
        f"{CONFIDENCE:.0%} intervals; horizontal lines: exact.",
        {"outcomes": rows},
    )


def simulated_subject(fought: Battle | Campaign) -> str:
    if isinstance(fought, Battle):
        return fight(fought.attackers, fought.defenders, fought.rules, fought.stop)
    chain, count = fought.stages(), len(fought.territories)
    if count == 1:
        return fight(fought.attackers, *chain[0])
    held = join_phrases([str(stage.defenders) for stage in chain])
    by = f", held by {held}" if count <= MOST_NAMED else ""
    return (
        f"{counted(fought.attackers)} against {goal(fought)}{by}{stop_words(fought.stop)} "
        f"({rules_words(fought.rules)})."
    )


def simulated_title(won: Estimate, fought: Battle | Campaign) -> str:
    title = f"Won in {percent(won.probability)} of {counted(won.runs, 'game')}"
    exact = exact_chance(fought)
    return f"{title}." if exact is None else f"{title}; the exact chance is {percent(exact)}."


def exact_chance(fought: Battle | Campaign) -> Probability | None:
    """Return the chance to win, or `None` if no method computes it."""
    if fought.attackers <= fought.rules.garrison:
        return Fraction(0)
    try:
        return float(fought.win_probability())
    except IactaError:
        return None


def _end(fought: Battle | Campaign, end: Outcome | CampaignOutcome) -> tuple[str, int]:
    """Return how it ends, and the number by which it is shown."""
    if isinstance(fought, Battle):
        left = Outcome(*end)
        fate = fate_of(left, fought)
        return fate, -left.defenders if fate == HOLD else left.attackers
    count, last = len(fought.territories), CampaignOutcome(*end)
    if last.conquered == count:
        # After a single battle those who stay behind remain as well.
        return WIN, last.attackers + (fought.rules.garrison if count == 1 else 0)
    stops = fought.is_stopped(last)
    if count > 1:
        return STOP if stops else HOLD, last.conquered - count
    return (STOP, last.attackers) if stops else (HOLD, -last.defenders)


def _simulated_rows(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome], fought: Battle | Campaign
) -> list[Row]:
    observed: Distribution[tuple[str, int]] = simulated.outcomes.map(lambda end: _end(fought, end))
    exact: Distribution[tuple[str, int]] | None = None
    with suppress(IactaError):  # then the simulated chances stand alone
        outcomes: Distribution[Outcome] | Distribution[CampaignOutcome] = fought.outcomes()
        exact = outcomes.map(lambda end: _end(fought, end))
    bars = spans_of(exact or observed, MOST_INTERVALS)
    rows: list[Row] = []
    for bar in dict.fromkeys(bars.values()):
        mine = {end for end, span in bars.items() if span == bar}
        successes = int(observed.prob(mine.__contains__) * simulated.won.runs)
        seen = Estimate(simulated.won.runs, successes)
        chances = {"probability": float(seen.probability), **seen.interval()._asdict()}
        true = None if exact is None else float(exact.prob(mine.__contains__))
        rows.append({**bar._asdict(), **chances, "exact": true})
    return rows


def _plot(rows: Sequence[Row], words: str, where: str = "true", end: float = 0) -> View:
    """Return bars with their intervals, and lines at the exact chances.

    words: what the numbers of the rows are.
    where: which rows of the table these are.
    end: as for `histogram`.
    """
    bars = histogram("outcomes", rows, words, beneath=True, is_signed=False, end=end)
    middles = rows_of("outcomes", middle="(datum.least + datum.most) / 2")
    tooltip = [exactly("low", "interval from"), exactly("high", "to")]
    intervals = middles.mark("rule", strokeWidth=1.5)
    layers = [bars, intervals.encode(x="middle:Q", y="low:Q", y2="high", tooltip=tooltip)]
    if any(row["exact"] is not None for row in rows):
        ends = rows_of("outcomes", left="datum.least - 0.4", right="datum.most + 0.4")
        caps = ends.mark("rule", strokeWidth=2).encode(x="left:Q", x2="right", y="exact:Q")
        layers.append(caps.encode(tooltip=[exactly("exact", "exact chance")]))
    return layer(*(layer.filter(where) for layer in layers))
