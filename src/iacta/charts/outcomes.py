"""Charts of outcomes: how battles and campaigns end, computed and simulated, and distributions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from iacta.battle.battle import Battle, Outcome, is_won
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    BLUE,
    GREY,
    RED,
    WHOLE,
    WITHOUT_SIGN,
    AnyChart,
    Row,
    Tables,
    alt,
    categories,
    chance_texts,
    counted,
    exactly,
    expect,
    fight,
    finish,
    limit,
    row_axis,
    rows_of,
    rules_words,
    seed_words,
    signed,
    stop_words,
    x_axis,
    y_axis,
)
from iacta.checks import row_of, shown
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError
from iacta.estimate import CONFIDENCE, Estimate
from iacta.methods import find_kernel
from iacta.odds.simulated import Simulated
from iacta.questions.words import count, joined, percent
from iacta.rules.roll import Roll

# How something ends, with a number of armies.
Ends: TypeAlias = Mapping[tuple[str, int], Probability]

WIN, HOLD, STOP = "you win", "they hold", "you stop"
COLOURS = {WIN: BLUE, HOLD: RED, STOP: AMBER}
REMAIN = "armies that remain: theirs to the left, yours to the right"
YOURS, THEIRS = "your armies that remain", "their armies that remain"
CHANCE = "chance"

MOST_COUNTED = 10**4  # states: so many are counted exactly at once
MOST_BARS = 120  # more are no more than hairs
FEW_BARS = 40  # of so few, none is left out
MOST_ROWS = 30  # of a distribution of anything but numbers
ROW_HEIGHT = 22
RARE = 1e-4
PALE = 0.75
LEAST_GAPS = 3  # fewer are not seen as teeth

TAKEN, HELD, STOPPED = "you take it", "they hold it", "you stop there"
FATES = {TAKEN: BLUE, HELD: RED, STOPPED: AMBER}
ALL, ON_THE_WAY = "all taken", "stopped on the way"
SCORES = {ALL: BLUE, ON_THE_WAY: RED}
MOST_TERRITORIES = 100  # more panels cannot be read
PANEL = 140  # pixels
MOST_NUMBERS = 15  # of more territories, the chances are not written
LEAST_WRITTEN = 0.005  # nor are smaller ones
SMALL_SPIKE = 0.2  # lower ones, as a part of the highest bar, have no number

MOST_INTERVALS = 40  # bars, of a simulation
MOST_NAMED = 6  # territories, whose defenders are named
LAST = "your armies in the last territory, if all are taken"
NOT_TAKEN = "territories not taken, if you stop or they hold"
SMALL = 200  # pixels, where there are two plots


@chart(of="Battle")
def battle_outcomes(battle: Battle) -> AnyChart:
    """Return how a battle ends: the chances of each number of armies left, to either side.

    battle: the battle.

    The chart has a table `outcomes`: `end`, the numbers of armies from `least` to `most`, yours
    above 0 where you win or stop and theirs below where they hold, and their `probability`. More
    than 120 numbers are joined; of more than 40, those at the ends that occur once in 10,000
    battles are left out. Battles with more outcomes than can be listed are refused.
    """
    outcomes = battle.outcomes()
    rows = _bar_rows(outcomes.map(lambda end: _end(battle, end)))
    return finish(
        _histogram("outcomes", rows, _whose(rows), is_signed=False),
        _won(outcomes, battle),
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop)
        + f" How it ends, including the garrison of {battle.rules.garrison}.",
        {"outcomes": rows},
    )


@chart(command="difference", example="50 50 --garrison 0")
def final_difference(battle: Battle) -> AnyChart:
    """Return the difference of the armies left at the end: attackers less defenders.

    battle: the battle.

    The chart has a table `differences` with the columns of `battle_outcomes`. In classic Risk a
    roll with all dice takes two armies, so that even and odd differences are not equally likely:
    hence the teeth, where both sides have many more armies than dice. The same is refused as by
    `battle_outcomes`.

    Source: Höhle (2025), the sawtooth of 50 against 50, without garrison.
    """
    expect(battle, Battle, "battle")
    outcomes = battle.outcomes()
    rows = _bar_rows(outcomes.map(lambda end: (_fate(end, battle), end.attackers - end.defenders)))
    end = outcomes.mode()
    left = f"you {counted(end.attackers)}" if is_won(end) else f"them {counted(end.defenders)}"
    bars = [row["probability"] for row in sorted(rows, key=lambda row: float(row["least"]))]
    gaps = sum(a > b < c for a, b, c in zip(bars, bars[1:], bars[2:], strict=False))
    taken = min(battle.rules.full_roll)
    why = ""
    is_rolled = find_kernel(battle.rules).rolled and not battle.rules.mode.grows
    if taken > 1 and gaps >= LEAST_GAPS and is_rolled:
        why = f" A roll with all dice costs {taken} armies in total: hence the teeth."
    return finish(
        _histogram("differences", rows, "attackers minus defenders at the end, in armies"),
        f"{_won(outcomes, battle)} The likeliest single end leaves {left}.",
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop) + why,
        {"differences": rows},
    )


def _won(outcomes: Distribution[Outcome], battle: Battle) -> str:
    won = outcomes.prob(is_won)
    if won in (0, 1) and _is_certain(won, battle):
        return f"You {'always' if won else 'never'} win."
    title = f"You win {percent(float(won), 0)} of the time"
    stopped = outcomes.prob(battle.is_stopped)
    return f"{title}, and stop {percent(stopped, 0)}." if stopped else f"{title}."


def _is_certain(won: Probability, asked: Battle | Campaign) -> bool:
    """Return whether a chance to win of 0 or 1 is exactly that, not a float that is nearly so."""
    if asked.attackers <= asked.rules.garrison:
        return True
    stages = [asked] if isinstance(asked, Battle) else asked.stages()
    if all(find_kernel(stage.rules).certain for stage in stages):
        return True
    if asked.attackers * sum(stage.defenders for stage in stages) > MOST_COUNTED:
        return False
    try:
        return asked.win_probability(exact=True) == won
    except IactaError:  # no method counts it
        return False


def _whose(rows: Sequence[Row]) -> str:
    held = [row["end"] == HOLD for row in rows]
    return THEIRS if all(held) else REMAIN if any(held) else YOURS


def _fate(end: Outcome, battle: Battle) -> str:
    if is_won(end):
        return WIN
    return STOP if battle.is_stopped(end) else HOLD


@chart(of="Roll")
def roll_losses(roll: Roll) -> AnyChart:
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
        x=x_axis("probability:Q", CHANCE, room, format="~%", tickCount=5),
        tooltip=[
            alt.Tooltip("losses:N", title="armies lost"),
            alt.Tooltip("count:Q", title="rolls"),
            alt.Tooltip("total:Q", title="of"),
            exactly("probability", CHANCE),
        ],
    )
    colours = {more[1]: RED, more[-1]: BLUE, more[0]: GREY}
    text = base.mark_text(align="left", dx=5).encode(text=alt.Text("probability:Q", format=".2~%"))
    bars = base.mark_bar().encode(color=categories("worse", colours, rows))
    ours, theirs = map(float, roll.expected_losses())
    dice = count(roll.attack_dice, "attack die", "attack dice")
    return finish(
        alt.layer(bars, text).properties(height=50 * len(rows)),
        f"A roll costs you {ours:.2f} and them {theirs:.2f} armies on average.",
        f"Armies lost in one roll of {dice} against {roll.defence_dice} "
        f"({rules_words(roll.rules)}).",
        {"losses": rows},
    )


@chart(of="Distribution")
def distribution(distribution: Distribution[Any]) -> AnyChart:
    """Return the probability of each outcome of a distribution, in order if they are numbers.

    distribution: the distribution.

    The chart has a table `outcomes`: of whole numbers those from `least` to `most` with their
    `probability`, joined and left out as for `battle_outcomes`; of anything else each `outcome`
    with its `probability`, the 30 likeliest.
    """
    likeliest = distribution.mode()
    often = f"{percent(distribution[likeliest], 0)} of the time"
    if all(isinstance(each, int) for each in distribution):
        rows = _bar_rows({(CHANCE, each): chance for each, chance in distribution.items()})
        return finish(
            _histogram("outcomes", rows, "number", {CHANCE: BLUE}).encode(color=alt.value(BLUE)),
            f"{signed(distribution.mean(), 2)} on average, most often {signed(likeliest)}: "
            f"{often}.",
            "The probability of each number.",
            {"outcomes": rows},
        )
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    rows = [
        {"outcome": _outcome_words(each), "probability": float(chance)}
        for each, chance in ranked[:MOST_ROWS]
    ]
    left_out = len(ranked) - len(rows)
    bars = rows_of("outcomes").mark_bar().properties(height=ROW_HEIGHT * len(rows))
    return finish(
        bars.encode(
            y=row_axis("outcome", rows),
            x=x_axis("probability:Q", CHANCE, format="~%", tickCount=5),
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
    return ", ".join(f"{each} {value}" for each, value in zip(fields, outcome, strict=True))


class BarSpan(NamedTuple):
    """What a bar stands for: how it ends, with from the least to the most armies."""

    end: str
    least: int
    most: int


def _spans(ends: Ends, most: int = MOST_BARS) -> dict[tuple[str, int], BarSpan]:
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


def _bar_rows(ends: Ends, bars: Mapping[tuple[str, int], BarSpan] | None = None) -> list[Row]:
    """Return a row for each bar, which are those of `_spans` unless they are given."""
    bars = bars or _spans(ends)
    sums: dict[BarSpan, float] = defaultdict(float)
    for outcome in filter(bars.__contains__, ends):
        sums[bars[outcome]] += float(ends[outcome])
    return [{**span._asdict(), "probability": chance} for span, chance in sums.items()]


def _histogram(
    table: str,
    rows: Sequence[Row],
    title: str,
    colours: Mapping[str, str] = COLOURS,
    *,
    beneath: bool = False,
    is_signed: bool = True,
) -> Any:
    """Return bars as wide as the armies that they stand for, coloured by how it ends.

    title: what the armies are.
    beneath: whether lines are drawn over the bars; these are then pale, and each begins at 0.
    is_signed: whether numbers below 0 have their sign; without, they are those of the defenders.
    """
    width = max(row["most"] - row["least"] + 1 for row in rows)
    bars = rows_of(table, low="datum.least - 0.45", high="datum.most + 0.45")
    chance = CHANCE if width == 1 else f"chance of {width} numbers in a row"
    label = WHOLE if is_signed else WITHOUT_SIGN
    if not is_signed and all(row["least"] >= 0 for row in rows):
        label = f"datum.value < 0 ? '' : {label}"  # the axis may begin before the first bar
    elif not is_signed and all(row["most"] <= 0 for row in rows):
        label = f"datum.value > 0 ? '' : {label}"
    return bars.mark_bar(binSpacing=0, opacity=PALE if beneath else 1).encode(
        x=x_axis("low:Q", title, format=",~d", tickMinStep=1, labelExpr=label).bin("binned"),
        x2="high:Q",
        y=y_axis("probability:Q", chance, format="~%").stack(None if beneath else "zero"),
        color=categories("end", colours, rows),
        tooltip=[
            "end:N",
            alt.Tooltip("least:Q", title="from"),
            alt.Tooltip("most:Q", title="to"),
            exactly("probability", CHANCE),
        ],
    )


@chart(of="Campaign")
def survival(campaign: Campaign) -> AnyChart:
    """Return how far a campaign comes: where it fails, how often it goes on, and the armies.

    campaign: the campaign.

    The chart has a table `territories`: for each `territory` the chance of each `fate`; a table
    `stacks` of the armies of either side there, the expected `attackers` if they come so far; and a
    table `left` of the armies in the last territory, if all are taken. More than 100 territories
    are refused.
    """
    count = len(campaign.territories)
    words = "a picture of a campaign must have at most {} territories"
    limit(count, MOST_TERRITORIES, words, shown(count))
    outcomes = campaign.outcomes()
    won = outcomes.prob(lambda end: end.conquered == count)
    fails = ""
    if count > 1 and won != 1 and not (won == 0 and _is_certain(won, campaign)):
        failed = outcomes.condition(lambda end: end.conquered < count)
        number = failed.map(lambda end: end.conquered + 1).mode()
        fails = f"; it fails most often at number {number}"
    fates = _fates(campaign, outcomes)
    panels = _survival_panels(fates)
    tables = {"territories": fates, "stacks": _stacks(campaign)}
    ends = {(WIN, end.attackers): p for end, p in outcomes.items() if end.conquered == count}
    if ends:
        tables["left"] = _bar_rows(ends)
        title = "armies in the last territory, if all are taken"
        left = _histogram("left", tables["left"], title, {WIN: BLUE})
        panels.append(left.encode(color=alt.value(BLUE)))
    drawn = alt.vconcat(*(panel.properties(height=PANEL) for panel in panels))
    return finish(
        drawn.resolve_scale(color="independent"),
        f"{_taken(campaign, outcomes)}{fails}.",
        _campaign_subject(campaign),
        tables,
    )


def _goal(campaign: Campaign) -> str:
    count = len(campaign.territories)
    return "the territory" if count == 1 else f"all {count} territories"


def _taken(campaign: Campaign, outcomes: Distribution[CampaignOutcome]) -> str:
    won = outcomes.prob(lambda end: end.conquered == len(campaign.territories))
    if won in (0, 1) and _is_certain(won, campaign):
        return f"You {'always' if won else 'never'} take {_goal(campaign)}"
    return f"You take {_goal(campaign)} {percent(float(won), 0)} of the time"


def _campaign_subject(campaign: Campaign) -> str:
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


def _survival_panels(fates: Sequence[Row]) -> list[Any]:
    """Return where a campaign ends, if it can fail; what it takes; and the armies of both sides."""
    failures = [row for row in fates if row["fate"] != TAKEN]
    count = max(row["territory"] for row in fates)
    across = x_axis("territory:O", "territory", labelAngle=0)
    points: dict[str, Any] = {"filled": True, "size": 45, "opacity": 1}
    panels: list[Any] = []
    if failures:
        chance = y_axis("probability:Q", "chance that it ends there", format="~%", tickCount=4)
        base = rows_of("territories", f"datum.fate != '{TAKEN}'").encode(
            x=across.scale(domain=list(range(1, count + 1))),
            y=chance.stack("zero"),
            tooltip=["territory:O", "fate:N", exactly("probability", "chance")],
        )
        layers = [base.mark_bar().encode(color=categories("fate", FATES, failures))]
        # Vega warns of a layer without rows.
        has_written = any(row["probability"] >= LEAST_WRITTEN for row in failures)
        if has_written and len({row["fate"] for row in failures}) == 1 and count <= MOST_NUMBERS:
            written = base.transform_filter(f"datum.probability >= {LEAST_WRITTEN}")
            layers.append(chance_texts(written, dy=-6, fontSize=10))
        panels.append(alt.layer(*layers))
    words, all_chances = "chance to take it", {"domain": [0, 1]}
    taken = rows_of("territories", f"datum.fate == '{TAKEN}'").encode(
        x=across,
        y=y_axis("probability:Q", words, all_chances, format="~%", tickCount=5),
        tooltip=["territory:O", exactly("probability", words)],
    )
    stacks = rows_of("stacks").encode(
        x=across,
        y=y_axis("armies:Q", "armies (yours: on average)", tickCount=5),
        color=categories("side", {"yours": BLUE, "theirs": RED}),
        tooltip=["territory:O", "side:N", exactly("armies")],
    )
    # A line would say that the armies of one territory had to do with those of the next.
    theirs = stacks.transform_filter("datum.side == 'theirs'").mark_bar()
    yours = stacks.transform_filter("datum.side == 'yours'")
    return [
        *panels,
        alt.layer(taken.mark_line(), taken.mark_point(**points)),
        alt.layer(theirs, yours.mark_line(), yours.mark_point(**points)),
    ]


@chart(command="score", example="72 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --seed 1")
def campaign_score(
    campaign: Campaign,
    simulated: Simulated[CampaignOutcome] | None = None,
    *,
    seed: int | None = None,
) -> AnyChart:
    """Return a campaign's score, simulated and exact: armies left, less the defenders left.

    campaign: the campaign.
    simulated: the same campaign, simulated; `None` for the exact score alone.
    seed: that of the dice, shown so that they can be thrown again; `None` to show none.

    The score is that of `Campaign.score`: armies in the last territory, less the defenders left on
    the way. The chart has a table `scores`: how it ends, the scores from `least` to `most` and
    their `probability`; a table `observed`, the same as simulated; and a table `spikes`: the
    `territory` at which the campaigns of a spike stop, and the likeliest `score` of these.

    Campaigns that stop at a territory have from one to all of its defenders before them, hence as
    many scores as it has defenders. All defenders remain before a stack that moved in with too few
    armies to attack again: hence the spike.

    Source: the histogram of Norvig, "The Unfinished Game ... of Risk" (2020), who explains the
    spikes likewise, and sees them one narrower than the defenders: of the scores of a territory
    that with one defender left is the rarest, and hardly stands out.
    """
    expect(campaign, Campaign, "campaign")
    outcomes = campaign.outcomes()
    exact = _scores(campaign, outcomes)
    bars = _spans(exact)
    tables: dict[str, list[Row]] = {"scores": _bar_rows(exact, bars)}
    title = "score: armies in the last territory, minus the defenders left"
    layers = [_histogram("scores", tables["scores"], title, SCORES)]
    played = ""
    if simulated is not None:
        tables["observed"] = _bar_rows(_scores(campaign, simulated.outcomes), bars)
        spans = rows_of("scores", low="datum.least - 0.5", high="datum.most + 0.5")
        tooltip = [alt.Tooltip("least:Q", title="score"), exactly("probability", "exact chance")]
        caps = spans.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y="probability:Q")
        observed = _histogram("observed", tables["observed"], title, SCORES, beneath=True)
        layers = [observed, caps.encode(tooltip=tooltip)]
        games = counted(simulated.won.runs, "game")
        played = f" Bars: {games} with dice{seed_words(seed)}. Lines: exact."
    spikes: list[Row] = []
    if all(row["least"] == row["most"] for row in tables["scores"]):
        spikes = _spikes(campaign, outcomes, tables)
    if spikes:
        numbers = rows_of("spikes").mark_text(dy=-9, fontSize=10, fontWeight="bold")
        tooltip = [alt.Tooltip("territory:N", title="stopped at territory")]
        at = {"x": "score:Q", "y": "height:Q", "text": "territory:N"}
        layers.append(numbers.encode(**at, tooltip=tooltip))
        tables["spikes"] = spikes
    mean = float(campaign.score().mean())
    return finish(
        alt.layer(*layers),
        f"{_taken(campaign, outcomes)}, and score {mean:.1f} on average.",
        _campaign_subject(campaign) + played + _why(campaign, outcomes, spikes),
        tables,
    )


def _scores(
    campaign: Campaign, outcomes: Distribution[CampaignOutcome]
) -> Distribution[tuple[str, int]]:
    count = len(campaign.territories)
    return outcomes.map(
        lambda end: (ALL if end.conquered == count else ON_THE_WAY, campaign.score_of(end))
    )


def _spikes(
    campaign: Campaign, outcomes: Distribution[CampaignOutcome], tables: Tables
) -> list[Row]:
    """Return the likeliest score of the campaigns that stop at each territory, where it shows."""
    scores = outcomes.map(campaign.score_of)
    least = SMALL_SPIKE * float(scores[scores.mode()])
    spikes: list[Row] = []
    for number in range(len(campaign.territories)):
        there = [campaign.score_of(end) for end in outcomes if end.conquered == number]
        peak = max(there, key=lambda score: float(scores[score]), default=None)
        if peak is not None and scores[peak] > least:
            bars = [row for table in tables.values() for row in table if row["least"] == peak]
            height = max(float(row["probability"]) for row in bars)
            spikes.append({"territory": number + 1, "score": peak, "height": height})
    return spikes


def _why(campaign: Campaign, outcomes: Distribution[CampaignOutcome], spikes: Sequence[Row]) -> str:
    """Return what the spikes are, and if all have the same cause, why they are there."""
    if not spikes:
        return ""
    chain = campaign.stages()

    def is_too_small_to_go_on(spike: Row) -> bool:
        here = spike["territory"] - 1
        garrison = chain[here].rules.garrison
        whole = CampaignOutcome(here, garrison, chain[here].defenders)
        is_there = here > 0 < garrison and whole in outcomes
        return is_there and campaign.score_of(whole) == spike["score"]

    if all(map(is_too_small_to_go_on, spikes)):
        return (
            " Each numbered spike is a territory that stops them. It is as wide as there are "
            "defenders, and highest where all are left: a stack that is too small cannot attack."
        )
    return " Each number marks a territory, at the likeliest score of the games that end there."


@chart(of="Simulated")
def simulated_outcomes(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome],
    asked: Battle | Campaign,
    *,
    seed: int | None = None,
) -> AnyChart:
    """Return how often each outcome was observed, with its interval, beside its exact chance.

    simulated: what `simulate_battle` or `simulate_campaign` returns.
    asked: the battle or the campaign that was simulated.
    seed: that of the dice, shown so that they can be thrown again; `None` to show none.

    The chart has a table `outcomes`: how it ends, the numbers from `least` to `most`, the part of
    the runs that ended so (`probability`), its 95% interval from `low` to `high`, and the `exact`
    chance, empty if no method computes it. After a success the numbers are the armies that remain,
    above 0: in a campaign of several territories those in the last one. Where you stop before the
    only territory they are yours too. Otherwise they are below 0: the defenders that remain, or in
    such a campaign the territories not taken.
    """
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    rows = _simulated_rows(simulated, asked)
    if isinstance(asked, Battle) or len(asked.territories) == 1:
        drawn = _plot(rows, _whose(rows))
    else:  # armies and territories have no axis in common
        most = 1.05 * max(max(row["high"], row["exact"] or 0) for row in rows)
        won = [row for row in rows if row["end"] == WIN]
        lost = [row for row in rows if row["end"] != WIN]
        parts = ((won, LAST, f"datum.end == '{WIN}'"), (lost, NOT_TAKEN, f"datum.end != '{WIN}'"))
        plots = [_plot(*part, most).properties(height=SMALL) for part in parts if part[0]]
        drawn = alt.vconcat(*plots).resolve_scale(color="independent")
    return finish(
        drawn,
        _simulated_title(simulated.won, asked),
        f"{_simulated_subject(asked)} Bars: games with dice{seed_words(seed)}; vertical lines: "
        f"{CONFIDENCE:.0%} intervals; horizontal lines: exact.",
        {"outcomes": rows},
    )


def _simulated_subject(asked: Battle | Campaign) -> str:
    if isinstance(asked, Battle):
        return fight(asked.attackers, asked.defenders, asked.rules, asked.stop)
    chain, count = asked.stages(), len(asked.territories)
    if count == 1:
        return fight(asked.attackers, *chain[0])
    held = joined([str(stage.defenders) for stage in chain])
    by = f", held by {held}" if count <= MOST_NAMED else ""
    return (
        f"{counted(asked.attackers)} against {_goal(asked)}{by}{stop_words(asked.stop)} "
        f"({rules_words(asked.rules)})."
    )


def _simulated_title(won: Estimate, asked: Battle | Campaign) -> str:
    title = f"Won in {percent(won.probability)} of {counted(won.runs, 'game')}"
    exact = _exact_chance(asked)
    return f"{title}." if exact is None else f"{title}; the exact chance is {percent(exact)}."


def _exact_chance(asked: Battle | Campaign) -> Probability | None:
    """Return the chance to win, or `None` if no method computes it."""
    if asked.attackers <= asked.rules.garrison:
        return Fraction(0)
    try:
        return float(asked.win_probability())
    except IactaError:
        return None


def _end(asked: Battle | Campaign, end: Outcome | CampaignOutcome) -> tuple[str, int]:
    """Return how it ends, and the number by which it is shown."""
    if isinstance(asked, Battle):
        left = Outcome(*end)
        fate = _fate(left, asked)
        return fate, -left.defenders if fate == HOLD else left.attackers
    count, last = len(asked.territories), CampaignOutcome(*end)
    if last.conquered == count:
        # After a single battle those who stay behind remain as well.
        return WIN, last.attackers + (asked.rules.garrison if count == 1 else 0)
    stops = asked.is_stopped(last)
    if count > 1:
        return STOP if stops else HOLD, last.conquered - count
    return (STOP, last.attackers) if stops else (HOLD, -last.defenders)


def _simulated_rows(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome], asked: Battle | Campaign
) -> list[Row]:
    observed: Distribution[tuple[str, int]] = simulated.outcomes.map(lambda end: _end(asked, end))
    exact: Distribution[tuple[str, int]] | None = None
    with suppress(IactaError):  # then the simulated chances stand alone
        outcomes: Distribution[Outcome] | Distribution[CampaignOutcome] = asked.outcomes()
        exact = outcomes.map(lambda end: _end(asked, end))
    bars = _spans(exact or observed, MOST_INTERVALS)
    rows: list[Row] = []
    for bar in dict.fromkeys(bars.values()):
        mine = {end for end, span in bars.items() if span == bar}
        successes = int(observed.prob(mine.__contains__) * simulated.won.runs)
        seen = Estimate(simulated.won.runs, successes)
        chances = {"probability": float(seen.probability), **seen.interval()._asdict()}
        true = None if exact is None else float(exact.prob(mine.__contains__))
        rows.append({**bar._asdict(), **chances, "exact": true})
    return rows


def _plot(rows: Sequence[Row], words: str, where: str = "true", most: float = 0) -> Any:
    """Return bars with their intervals, and lines at the exact chances.

    words: what the numbers of the rows are.
    where: which rows of the table these are.
    most: the end of the axis of chances; 0 if nothing stands beside it.
    """
    bars = _histogram("outcomes", rows, words, beneath=True, is_signed=False)
    if most:
        scale = {"domain": [0, most], "nice": False}
        bars = bars.encode(y=y_axis("probability:Q", CHANCE, scale, format="~%").stack(None))
    middles = rows_of("outcomes", middle="(datum.least + datum.most) / 2")
    tooltip = [exactly("low", "interval from"), exactly("high", "to")]
    intervals = middles.mark_rule(strokeWidth=1.5)
    layers = [bars, intervals.encode(x="middle:Q", y="low:Q", y2="high:Q", tooltip=tooltip)]
    if any(row["exact"] is not None for row in rows):
        ends = rows_of("outcomes", left="datum.least - 0.4", right="datum.most + 0.4")
        caps = ends.mark_rule(strokeWidth=2).encode(x="left:Q", x2="right:Q", y="exact:Q")
        layers.append(caps.encode(tooltip=[exactly("exact", "exact chance")]))
    return alt.layer(*(each.transform_filter(where) for each in layers))


@chart(command="convergence", example="12 10 --runs 1e5 --seed 1")
def convergence(
    estimates: Sequence[Estimate], asked: Battle | Campaign, *, seed: int | None = None
) -> AnyChart:
    """Return how a simulation approaches the exact chance as more games are played.

    estimates: what `running_estimates` returns: the chance to win after more and more runs.
    asked, seed: as for `simulated_outcomes`.

    The chart has a table `estimates`: the `estimate` after n `runs` and its 95% interval
    from `low` to `high`; and a table of the `exact` chance, if a method computes it.

    Sources: Norvig, "The Unfinished Game ... of Risk" (2020), and Höhle (2025), who simulate to
    check their formulas.
    """
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    for each in row_of(estimates, "estimates", "Estimate"):
        expect(each, Estimate, "each of estimates")
    rows: list[Row] = [
        {"runs": each.runs, "estimate": float(each.probability), **each.interval()._asdict()}
        for each in estimates
    ]
    words, scale = "games, on a logarithmic scale", {"type": "log", "nice": False}
    base = rows_of("estimates").encode(
        x=x_axis("runs:Q", words, scale, format="~s", grid=False, tickCount=5),
        tooltip=["runs:Q", *map(exactly, ("estimate", "low", "high"))],
    )
    won = y_axis("low:Q", "chance to win", {"zero": False}, format="~%")
    layers: list[Any] = [
        base.mark_area(opacity=0.25, color=BLUE).encode(y=won, y2="high:Q"),
        base.mark_line(color=BLUE, strokeWidth=2, point=True).encode(y="estimate:Q"),
    ]
    exact, tables, end = _exact_chance(asked), {"estimates": rows}, "."
    if exact is not None:
        tables["exact"] = [{"exact": float(exact)}]
        line = rows_of("exact").mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        layers.append(line.encode(y="exact:Q", tooltip=[exactly("exact")]))
        end = "; the line is the exact chance."
    return finish(
        alt.layer(*layers),
        _simulated_title(estimates[-1], asked),
        f"{_simulated_subject(asked)} The share of games won{seed_words(seed)}, with its "
        f"{CONFIDENCE:.0%} interval" + end,
        tables,
    )
