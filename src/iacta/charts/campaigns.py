"""Pictures of campaigns: how far they come, and with which score they end."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.bars import WIN, histogram, rows, spans
from iacta.charts.theme import AMBER, BLUE, RED, AnyChart, Row, Tables, expect, finish, named
from iacta.charts.words import armies, per_cent, rules_words, seed_words, stop_words
from iacta.checks import shown
from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.questions.simulated import Simulated

__all__ = ["campaign_score", "led", "survival"]

TAKEN, HELD, LEFT_OFF = "you take it", "they hold it", "you stop there"
FATES = {TAKEN: BLUE, HELD: RED, LEFT_OFF: AMBER}
ALL, ON_THE_WAY = "all taken", "stopped on the way"
SCORES = {ALL: BLUE, ON_THE_WAY: RED}

MOST_TERRITORIES = 100
PANEL = 190
SMALL_SPIKE = 0.2  # a lower one, as a part of the highest bar, bears no number


def survival(campaign: Campaign) -> AnyChart:
    """Return how far a campaign comes: the chances, territory by territory, and the armies.

    campaign: the campaign.

    The chart has a table `territories`: for each `territory` the chance of each `fate`; a table
    `stacks` of the armies of either side there, `attackers` on average if they come so far; and a
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
    law = campaign.outcomes()
    fates, left = _fates(campaign, law), _left(law, count)
    panels = [_fates_chart(fates), _stacks_chart()]
    if left:
        title = "armies in the last territory, if all are taken"
        panels.append(histogram("left", left, title, {WIN: BLUE}).encode(color=alt.value(BLUE)))
    return finish(
        alt.vconcat(*(panel.properties(height=PANEL) for panel in panels)).resolve_scale(
            color="independent"
        ),
        _title(campaign, law),
        _way(campaign) + _missing(law, count),
        {"territories": fates, "stacks": _stacks(campaign), **({"left": left} if left else {})},
    )


def _missing(law: Distribution[CampaignOutcome], count: int) -> str:
    if any(end.conquered < count - 1 for end in law):
        return " What is missing to 100 % was not reached."
    return ""


def led(campaign: Campaign) -> str:
    """Return what a campaign takes, as the end of a sentence.

    campaign: the campaign.
    """
    expect(campaign, Campaign, "campaign")
    count = len(campaign.territories)
    return "the territory" if count == 1 else f"all {count} territories"


def _title(campaign: Campaign, law: Distribution[CampaignOutcome]) -> str:
    count = len(campaign.territories)
    won = law.prob(lambda end: end.conquered == count)
    if not won:
        return f"You never take {led(campaign)}."
    if all(end.conquered == count for end in law):
        return f"You always take {led(campaign)}."
    title = f"You take {led(campaign)} {per_cent(won)} of the time"
    if count == 1:
        return f"{title}."
    failed = law.condition(lambda end: end.conquered < count).map(lambda end: end.conquered + 1)
    return f"{title}; it fails most often at number {failed.mode()}."


def _way(campaign: Campaign) -> str:
    return (
        f"{armies(campaign.attackers)} on {'its' if campaign.attackers == 1 else 'their'} way"
        f"{stop_words(campaign.stop)} ({rules_words(campaign.rules)})."
    )


def _fates(campaign: Campaign, law: Distribution[CampaignOutcome]) -> list[Row]:
    way = campaign.stages()

    def fate(end: CampaignOutcome) -> tuple[int, str]:
        """Return how many territories are taken, and what becomes of the next.

        end: how the campaign ends.
        """
        if end.conquered == len(way):
            return len(way), TAKEN
        stops = end.attackers > way[end.conquered].rules.garrison
        return end.conquered, LEFT_OFF if stops else HELD

    ends = law.map(fate)
    return [
        {"territory": number + 1, "fate": fate, "probability": float(chance)}
        for number, odds in enumerate(campaign.territory_odds())
        for fate, chance in (
            (TAKEN, odds.conquer_probability),
            *((fate, ends[number, fate]) for fate in (HELD, LEFT_OFF) if (number, fate) in ends),
        )
    ]


def _stacks(campaign: Campaign) -> list[Row]:
    stacks: list[Row] = []
    for number, odds in enumerate(campaign.territory_odds(), start=1):
        place = {"territory": number}
        if odds.reach_probability:
            stacks.append({**place, "side": "yours", "armies": float(odds.expected_attackers)})
        defenders = campaign.territories[number - 1].defenders
        stacks.append({**place, "side": "theirs", "armies": defenders})
    return stacks


def _left(law: Distribution[CampaignOutcome], count: int) -> list[Row]:
    won = {(WIN, end.attackers): chance for end, chance in law.items() if end.conquered == count}
    return rows(won) if won else []


def _territory() -> alt.X:
    return alt.X("territory:O", title="territory", axis=alt.Axis(labelAngle=0))


def _fates_chart(fates: Sequence[Row]) -> Any:
    known = [fate for fate in FATES if any(row["fate"] == fate for row in fates)]
    return (
        alt.Chart(named("territories"))
        .mark_bar()
        .encode(
            x=_territory(),
            y=alt.Y(
                "probability:Q",
                title="chance",
                axis=alt.Axis(format="~%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "fate:N",
                title=None,
                scale=alt.Scale(domain=known, range=[FATES[fate] for fate in known]),
            ),
            order=alt.Order("fate:N", sort="descending"),
            tooltip=[
                "territory:O",
                "fate:N",
                alt.Tooltip("probability:Q", title="chance", format=".16~g"),
            ],
        )
    )


def _stacks_chart() -> AnyChart:
    sides = alt.Scale(domain=["yours", "theirs"], range=[BLUE, RED])
    base = alt.Chart(named("stacks")).encode(
        x=_territory(),
        y=alt.Y("armies:Q", title="armies there (yours: mean)"),
        color=alt.Color("side:N", title=None, scale=sides),
        tooltip=["territory:O", "side:N", alt.Tooltip("armies:Q", format=".16~g")],
    )
    # A square around a dot: both are seen where the sides are equal.
    yours = base.transform_filter("datum.side == 'yours'").mark_point(
        filled=True, size=45, opacity=1
    )
    theirs = base.transform_filter("datum.side == 'theirs'").mark_point(
        shape="square", size=110, strokeWidth=1.5, opacity=1
    )
    return alt.layer(base.mark_line(), yours, theirs)


def campaign_score(
    campaign: Campaign,
    simulated: Simulated[CampaignOutcome] | None = None,
    *,
    seed: int | None = None,
) -> AnyChart:
    """Return a campaign's score, simulated and exact laid over each other.

    campaign: the campaign.
    simulated: the same campaign, led many times with dice; `None` for the exact score alone.
    seed: that of the dice, told so that they can be thrown again; `None` to tell none.

    The score is that of `Campaign.score`: armies in the last territory, less the defenders left on
    the way. The chart has a table `scores`: how it ends, the scores from `least` to `most` and
    their `probability`; a table `observed`, the same as simulated; and a table `spikes`: the
    `territory` at which the campaigns of a spike stop, and the likeliest `score` of these.

    Those that stop at one territory have from one to all of its defenders before them, so that
    their scores are as many as its defenders. All are left before stacks that took the territory
    before with too few armies to attack again, the garrison being left there: hence the spike.

    Source: the histogram of Norvig, "The Unfinished Game ... of Risk" (2020), who explains the
    spikes likewise, and sees them one narrower than the defenders: of the scores of a territory
    that with one defender left is the rarest, and hardly stands out.
    """
    expect(campaign, Campaign, "campaign")
    exact = campaign.outcomes()
    bars = spans(_scores(campaign, exact))
    told = rows(_scores(campaign, exact), bars)
    title = "score: armies in the last territory, less defenders left"
    tables: dict[str, list[Row]] = {"scores": told}
    layers = [histogram("scores", told, title, SCORES)]
    if simulated is not None:
        tables["observed"] = rows(_scores(campaign, simulated.outcomes), bars)
        seen = histogram("observed", tables["observed"], title, SCORES, beneath=True)
        layers = [seen, _caps("scores")]
    spikes = _spikes(campaign, exact, tables) if _is_one_by_one(told) else []
    why = _why(campaign, exact, spikes)
    if spikes:
        layers.append(_spike_numbers())
        tables["spikes"] = spikes
    mean = float(campaign.score().mean())
    return finish(
        alt.layer(*layers),
        f"{_title(campaign, exact).split(';')[0].rstrip('.')}, and score {mean:.1f} on average.",
        _way(campaign) + _how_to_read(simulated, seed) + why,
        tables,
    )


def _is_one_by_one(told: Sequence[Row]) -> bool:
    return all(row["least"] == row["most"] for row in told)


def _scores(
    campaign: Campaign, law: Distribution[CampaignOutcome]
) -> Distribution[tuple[str, int]]:
    count = len(campaign.territories)
    return law.map(
        lambda end: (ALL if end.conquered == count else ON_THE_WAY, campaign.score_of(end))
    )


def _spikes(campaign: Campaign, law: Distribution[CampaignOutcome], tables: Tables) -> list[Row]:
    """Return the likeliest score of those that stop at each territory, where it can be seen."""
    scores = law.map(campaign.score_of)
    least = SMALL_SPIKE * float(scores[scores.mode()])
    spikes: list[Row] = []
    for number in range(len(campaign.territories)):
        there = {campaign.score_of(end): law[end] for end in law if end.conquered == number}
        peak = max(there, key=lambda score: float(scores[score]), default=None)
        if peak is not None and scores[peak] > least:
            spikes.append({"territory": number + 1, "score": peak, "height": _height(peak, tables)})
    return spikes


def _height(score: int, tables: Tables) -> float:
    """Return the height of the highest bar or line at a score."""
    bars = (row for table in tables.values() for row in table if row["least"] == score)
    return max(float(row["probability"]) for row in bars)


def _caps(table: str) -> Any:
    """Return a line at each exact chance, as wide as its bar."""
    return (
        alt.Chart(named(table))
        .transform_calculate(low="datum.least - 0.5", high="datum.most + 0.5")
        .mark_rule(strokeWidth=2)
        .encode(
            x="low:Q",
            x2="high:Q",
            y="probability:Q",
            tooltip=[
                alt.Tooltip("least:Q", title="score"),
                alt.Tooltip("probability:Q", title="exact chance", format=".16~g"),
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


def _how_to_read(simulated: Simulated[CampaignOutcome] | None, seed: int | None) -> str:
    if simulated is None:
        return ""
    games = "game" if simulated.won.runs == 1 else "games"
    return f" Bars: {simulated.won.runs:,} {games} with dice{seed_words(seed)}. Lines: exact."


def _why(campaign: Campaign, law: Distribution[CampaignOutcome], spikes: Sequence[Row]) -> str:
    """Return what the spikes are: why they are there is said where it is so of each."""
    if not spikes:
        return ""
    way = campaign.stages()

    def is_too_small_to_go_on(spike: Row) -> bool:
        """Tell whether a spike is of a stack that moves in and cannot attack.

        spike: the row of a spike.
        """
        here = spike["territory"] - 1
        garrison = way[here].rules.garrison
        whole = CampaignOutcome(here, garrison, way[here].defenders)
        return here > 0 < garrison and whole in law and campaign.score_of(whole) == spike["score"]

    if all(map(is_too_small_to_go_on, spikes)):
        return (
            " Each numbered spike is a territory that stops them, as wide as its defenders and "
            "highest where all are left: a stack that moves in too small cannot attack."
        )
    return " Each number is a territory, at the likeliest score of those that it stops."
