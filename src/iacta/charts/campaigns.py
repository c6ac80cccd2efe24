"""Charts of campaigns: how far they get, and with which score they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.distributions import WIN, bar_rows, histogram, is_certain, spans
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    BLUE,
    RED,
    AnyChart,
    Row,
    Tables,
    alt,
    categories,
    counted,
    exactly,
    expect,
    finish,
    named,
    percent_label,
    rules_words,
    seed_words,
    stop_words,
)
from iacta.checks import shown
from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.odds.simulated import Simulated
from iacta.questions.words import percent

TAKEN, HELD, STOPPED = "you take it", "they hold it", "you stop there"
FATES = {TAKEN: BLUE, HELD: RED, STOPPED: AMBER}
ALL, ON_THE_WAY = "all taken", "stopped on the way"
SCORES = {ALL: BLUE, ON_THE_WAY: RED}

MOST_TERRITORIES = 100
PANEL = 140
MOST_NUMBERS = 15  # of more territories, the chances are not written
LEAST_WRITTEN = 0.005  # nor are smaller ones
SMALL_SPIKE = 0.2  # lower ones, as a part of the highest bar, have no number


@chart(of="Campaign")
def survival(campaign: Campaign) -> AnyChart:
    """Return how far a campaign comes: where it fails, how often it goes on, and the armies.

    campaign: the campaign.

    The chart has a table `territories`: for each `territory` the chance of each `fate`; a table
    `stacks` of the armies of either side there, the expected `attackers` if they come so far; and a
    table `left` of the armies in the last territory, if all are taken. More than 100 territories
    are refused.
    """
    expect(campaign, Campaign, "campaign")
    count = len(campaign.territories)
    if count > MOST_TERRITORIES:
        raise TooLargeError(
            f"a picture of a campaign must have at most {MOST_TERRITORIES} territories, "
            f"got {shown(count)}"
        )
    outcomes = campaign.outcomes()
    fates = _fates(campaign, outcomes)
    panels = [_taken_chart(), _stacks_chart()]
    if any(row["fate"] != TAKEN for row in fates):
        panels = [_failures_chart(fates), *panels]
    tables = {"territories": fates, "stacks": _stacks(campaign)}
    won = {(WIN, end.attackers): p for end, p in outcomes.items() if end.conquered == count}
    if won:
        tables["left"] = bar_rows(won)
        title = "armies in the last territory, if all are taken"
        left = histogram("left", tables["left"], title, {WIN: BLUE})
        panels.append(left.encode(color=alt.value(BLUE)))
    return finish(
        alt.vconcat(*(panel.properties(height=PANEL) for panel in panels)).resolve_scale(
            color="independent"
        ),
        _title(campaign, outcomes),
        _subject(campaign),
        tables,
    )


def goal(campaign: Campaign) -> str:
    """Return what a campaign takes, as the end of a sentence."""
    count = len(campaign.territories)
    return "the territory" if count == 1 else f"all {count} territories"


def _title(campaign: Campaign, outcomes: Distribution[CampaignOutcome]) -> str:
    count = len(campaign.territories)
    won = outcomes.prob(lambda end: end.conquered == count)
    if won in (0, 1) and is_certain(won, campaign):
        return f"You {'always' if won else 'never'} take {goal(campaign)}."
    title = f"You take {goal(campaign)} {percent(float(won), 0)} of the time"
    if count == 1 or won == 1:
        return f"{title}."
    failed = outcomes.condition(lambda end: end.conquered < count)
    number = failed.map(lambda end: end.conquered + 1).mode()
    return f"{title}; it fails most often at number {number}."


def _subject(campaign: Campaign) -> str:
    return (
        f"{counted(campaign.attackers)} on {'its' if campaign.attackers == 1 else 'their'} way"
        f"{stop_words(campaign.stop)} ({rules_words(campaign.rules)})."
    )


def _fates(campaign: Campaign, outcomes: Distribution[CampaignOutcome]) -> list[Row]:
    count = len(campaign.territories)

    def fate(end: CampaignOutcome) -> tuple[int, str]:
        """Return how many territories are taken, and what becomes of the next."""
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
    stacks: list[Row] = []
    for number, (odds, territory) in enumerate(
        zip(campaign.territory_odds(), campaign.territories, strict=True), start=1
    ):
        place = {"territory": number}
        if odds.reach_probability:
            stacks.append({**place, "side": "yours", "armies": float(odds.expected_attackers)})
        stacks.append({**place, "side": "theirs", "armies": territory.defenders})
    return stacks


def _territory_axis(count: int = 0) -> alt.X:
    """Return the axis of territories, of all that there are if their number is given."""
    scale = alt.Scale(domain=list(range(1, count + 1))) if count else alt.Undefined
    return alt.X("territory:O", title="territory", axis=alt.Axis(labelAngle=0), scale=scale)


def _failures_chart(fates: Sequence[Row]) -> Any:
    """Return the chance that it ends before each territory, with its number where it shows."""
    failures = [row for row in fates if row["fate"] != TAKEN]
    base = (
        alt.Chart(named("territories"))
        .transform_filter(f"datum.fate != '{TAKEN}'")
        .encode(
            x=_territory_axis(max(row["territory"] for row in fates)),
            y=alt.Y(
                "probability:Q",
                title="chance that it ends there",
                axis=alt.Axis(format="~%", tickCount=4),
                stack="zero",
            ),
            tooltip=["territory:O", "fate:N", exactly("probability", "chance")],
        )
    )
    bars = base.mark_bar().encode(color=categories("fate", FATES, failures))
    numbers = (
        base.transform_filter(f"datum.probability >= {LEAST_WRITTEN}")
        .transform_calculate(label=percent_label("probability"))
        .mark_text(dy=-6, fontSize=10)
        .encode(text="label:N")
    )
    kinds = {row["fate"] for row in failures}
    is_written = (
        len(kinds) == 1
        and max(row["territory"] for row in fates) <= MOST_NUMBERS
        # Vega warns of a layer without rows.
        and any(row["probability"] >= LEAST_WRITTEN for row in failures)
    )
    layers = [numbers] if is_written else []
    return alt.layer(bars, *layers)


def _taken_chart() -> Any:
    """Return the chance to take each territory."""
    base = (
        alt.Chart(named("territories"))
        .transform_filter(f"datum.fate == '{TAKEN}'")
        .encode(
            x=_territory_axis(),
            y=alt.Y(
                "probability:Q",
                title="chance to take it",
                axis=alt.Axis(format="~%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            tooltip=["territory:O", exactly("probability", "chance to take it")],
        )
    )
    return alt.layer(base.mark_line(), base.mark_point(filled=True, size=45, opacity=1))


def _stacks_chart() -> AnyChart:
    base = alt.Chart(named("stacks")).encode(
        x=_territory_axis(),
        y=alt.Y("armies:Q", title="armies (yours: on average)", axis=alt.Axis(tickCount=5)),
        color=categories("side", {"yours": BLUE, "theirs": RED}),
        tooltip=["territory:O", "side:N", exactly("armies")],
    )
    # A line would say that the armies of one territory had to do with those of the next.
    theirs = base.transform_filter("datum.side == 'theirs'").mark_bar()
    yours = base.transform_filter("datum.side == 'yours'")
    return alt.layer(theirs, yours.mark_line(), yours.mark_point(filled=True, size=45, opacity=1))


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
    bars = spans(exact)
    tables: dict[str, list[Row]] = {"scores": bar_rows(exact, bars)}
    title = "score: armies in the last territory, minus the defenders left"
    layers = [histogram("scores", tables["scores"], title, SCORES)]
    played = ""
    if simulated is not None:
        tables["observed"] = bar_rows(_scores(campaign, simulated.outcomes), bars)
        layers = [histogram("observed", tables["observed"], title, SCORES, beneath=True), _caps()]
        games = counted(simulated.won.runs, "game")
        played = f" Bars: {games} with dice{seed_words(seed)}. Lines: exact."
    spikes: list[Row] = []
    if all(row["least"] == row["most"] for row in tables["scores"]):
        spikes = _spikes(campaign, outcomes, tables)
    if spikes:
        layers.append(_spike_numbers())
        tables["spikes"] = spikes
    mean = float(campaign.score().mean())
    return finish(
        alt.layer(*layers),
        f"{_title(campaign, outcomes).split(';')[0].rstrip('.')}, and score {mean:.1f} on average.",
        _subject(campaign) + played + _why(campaign, outcomes, spikes),
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


def _caps() -> Any:
    """Return a line at each exact chance, as wide as its bar."""
    return (
        alt.Chart(named("scores"))
        .transform_calculate(low="datum.least - 0.5", high="datum.most + 0.5")
        .mark_rule(strokeWidth=2)
        .encode(
            x="low:Q",
            x2="high:Q",
            y="probability:Q",
            tooltip=[
                alt.Tooltip("least:Q", title="score"),
                exactly("probability", "exact chance"),
            ],
        )
    )


def _spike_numbers() -> Any:
    return (
        alt.Chart(named("spikes"))
        .mark_text(dy=-9, fontSize=10, fontWeight="bold")
        .encode(
            x="score:Q",
            y="height:Q",
            text="territory:N",
            tooltip=[alt.Tooltip("territory:N", title="stopped at territory")],
        )
    )


def _why(campaign: Campaign, outcomes: Distribution[CampaignOutcome], spikes: Sequence[Row]) -> str:
    """Return what the spikes are, and if all have the same cause, why they are there."""
    if not spikes:
        return ""
    chain = campaign.stages()

    def is_too_small_to_go_on(spike: Row) -> bool:
        """Return whether a spike is that of a stack which moves in and cannot attack."""
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
