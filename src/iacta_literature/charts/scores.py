"""Charts of outcomes from the articles: differences, scores and simulations."""

from __future__ import annotations

from collections.abc import Sequence

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.axes_and_labels import axis, exact_field
from iacta.charts.outcomes import (
    compute_exact_chance,
    describe_attack,
    describe_campaign,
    describe_fate,
    group_outcomes,
    histogram,
    list_bars,
    summarise_simulation,
)
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_type, format_battle, format_count, format_seed
from iacta.charts.theme import BLUE, RED
from iacta.charts.vega import Row, Tables, field, layer, table_view
from iacta.inputs.checks import read_list
from iacta.methods import choose_kernel
from iacta.methods.kernel import is_won
from iacta.odds.simulation import SimulationResult
from iacta.probability.distribution import Distribution
from iacta.probability.estimate import CONFIDENCE, Estimate
from iacta.questions.battle import battle_answer
from iacta.questions.campaign import campaign_answer

MIN_GAPS = 3  # the subtitle explains the sawtooth if there are at least this many gaps
ALL, ON_THE_WAY = "all taken", "stopped on the way"
SCORES = {ALL: BLUE, ON_THE_WAY: RED}
SMALL_SPIKE = 0.2  # spikes below this fraction of the highest bar get no number


def final_difference(battle: Battle) -> Chart:
    """Draw the distribution of attackers left minus defenders left at the end of a battle.

    battle: the battle to draw.

    The table `differences` has the columns of `battle_outcomes`. In classic Risk a roll with all
    dice kills two armies. Therefore even and odd differences are not equally likely. If both sides
    have many more armies than dice, the chart looks like a saw. The exceptions are the same as for
    `battle_outcomes`.

    Source: Höhle (2025), the sawtooth chart of 50 against 50, without a garrison.
    """
    check_type(battle, Battle, "battle")
    answer = battle_answer(battle)
    outcomes = answer.outcomes or battle.outcomes()  # raises an error for too many armies
    rows = list_bars(
        outcomes.map(lambda end: (describe_fate(end, battle), end.attackers - end.defenders))
    )
    end = outcomes.mode()
    left = (
        f"you {format_count(end.attackers)}"
        if is_won(end)
        else f"them {format_count(end.defenders)}"
    )
    bars = [row["probability"] for row in sorted(rows, key=lambda row: float(row["least"]))]
    gaps = sum(a > b < c for a, b, c in zip(bars, bars[1:], bars[2:], strict=False))
    taken = min(battle.rules.full_roll)
    why = ""
    is_rolled = choose_kernel(battle.rules).has_fixed_dice and not battle.rules.mode.grows
    if taken > 1 and gaps >= MIN_GAPS and is_rolled:
        why = f" A roll with all dice costs {taken} armies in total, hence the sawtooth."
    return Chart(
        histogram("differences", rows, "attackers minus defenders at the end, in armies"),
        f"{answer.sentence} The likeliest single outcome leaves {left}.",
        format_battle(battle.attackers, battle.defenders, battle.rules, battle.stop) + why,
        {"differences": rows},
    )


def campaign_score(
    campaign: Campaign,
    simulated: SimulationResult[CampaignOutcome] | None = None,
    *,
    seed: int | None = None,
) -> Chart:
    """Draw the distribution of a campaign's score, exact and simulated.

    campaign: the campaign to draw.
    simulated: a simulation of the same campaign, or `None`.
    seed: the seed of the simulation, shown in the subtitle, or `None`.

    The score is `Campaign.score`: armies on the last territory minus the defenders left on the way.
    The table `scores` has the end of the campaign, the scores from `least` to `most` and their
    `probability`. The table `observed` has the same columns for the simulation. The table `spikes`
    has the `territory` at which the campaigns of a spike stop, and their likeliest `score`.

    If a campaign stops at a territory, between one and all of its defenders remain. The number of
    possible scores of such campaigns therefore equals the number of defenders. If the stack is too
    small to attack after a conquest, all defenders of the next territory remain. This causes the
    spike.

    Source: the histogram in Norvig, "The Unfinished Game ... of Risk" (2020), who gives the same
    explanation. His spikes are one score narrower than the number of defenders, because the score
    with one defender left is rare and hardly visible.
    """
    check_type(campaign, Campaign, "campaign")
    answer = campaign_answer(campaign)
    outcomes = answer.outcomes
    exact = _compute_scores(campaign, outcomes)
    bars = group_outcomes(exact)
    tables: dict[str, list[Row]] = {"scores": list_bars(exact, bars)}
    title = "score: armies in the last territory, minus the defenders left"
    layers = [histogram("scores", tables["scores"], title, SCORES)]
    played = ""
    if simulated is not None:
        tables["observed"] = list_bars(_compute_scores(campaign, simulated.outcomes), bars)
        spans = table_view("scores", low="datum.least - 0.5", high="datum.most + 0.5")
        tooltip = [field("least:Q", title="score"), exact_field("probability", "exact chance")]
        caps = spans.mark("rule", strokeWidth=2).encode(x="low:Q", x2="high", y="probability:Q")
        observed = histogram("observed", tables["observed"], title, SCORES, beneath=True)
        layers = [observed, caps.encode(tooltip=tooltip)]
        games = format_count(simulated.won.runs, "game")
        played = f" Bars: {games} with dice{format_seed(seed)}. Lines: exact."
    spikes: list[Row] = []
    if all(row["least"] == row["most"] for row in tables["scores"]):
        spikes = _list_spikes(campaign, outcomes, tables)
    if spikes:
        numbers = table_view("spikes").mark("text", dy=-9, fontSize=10, fontWeight="bold")
        tooltip = [field("territory:N", title="stopped at territory")]
        at = {"x": "score:Q", "y": "height:Q", "text": "territory:N"}
        layers.append(numbers.encode(**at, tooltip=tooltip))
        tables["spikes"] = spikes
    mean = float(campaign.score().mean())
    return Chart(
        layer(*layers),
        f"{answer.sentence} The score is {mean:.1f} on average.",
        describe_campaign(campaign) + played + _explain_spikes(campaign, outcomes, spikes),
        tables,
    )


def _compute_scores(
    campaign: Campaign, outcomes: Distribution[CampaignOutcome]
) -> Distribution[tuple[str, int]]:
    count = len(campaign.territories)
    return outcomes.map(
        lambda end: (ALL if end.conquered == count else ON_THE_WAY, campaign.compute_score(end))
    )


def _list_spikes(
    campaign: Campaign, outcomes: Distribution[CampaignOutcome], tables: Tables
) -> list[Row]:
    """Return the spikes: for each territory, the likeliest score of campaigns that stop there.

    Spikes that are too low to be visible are omitted.
    """
    scores = outcomes.map(campaign.compute_score)
    least = SMALL_SPIKE * float(scores[scores.mode()])
    spikes: list[Row] = []
    for number in range(len(campaign.territories)):
        there = [campaign.compute_score(end) for end in outcomes if end.conquered == number]
        peak = max(there, key=lambda score: float(scores[score]), default=None)
        if peak is not None and scores[peak] > least:
            bars = [row for table in tables.values() for row in table if row["least"] == peak]
            height = max(float(row["probability"]) for row in bars)
            spikes.append({"territory": number + 1, "score": peak, "height": height})
    return spikes


def _explain_spikes(
    campaign: Campaign, outcomes: Distribution[CampaignOutcome], spikes: Sequence[Row]
) -> str:
    """Return a sentence about the spikes; it states their cause if all spikes have the same."""
    if not spikes:
        return ""
    chain = campaign.stages()

    def is_too_small_to_go_on(spike: Row) -> bool:
        here = spike["territory"] - 1
        garrison = chain[here].rules.garrison
        whole = CampaignOutcome(here, garrison, chain[here].defenders)
        is_there = here > 0 < garrison and whole in outcomes
        return is_there and campaign.compute_score(whole) == spike["score"]

    if all(map(is_too_small_to_go_on, spikes)):
        return (
            " Each numbered spike belongs to the territory at which the attack ends. At its peak, "
            "all defenders are left, because the stack was too small to attack them."
        )
    return " Each number marks a territory, at the likeliest score of the games that end there."


def convergence(
    estimates: Sequence[Estimate], battle_or_campaign: Battle | Campaign, *, seed: int | None = None
) -> Chart:
    """Draw how the estimate of a simulation approaches the exact chance as games are added.

    estimates: the cumulative estimates, as returned by `running_estimates`.
    battle_or_campaign: the simulated battle or campaign.
    seed: the seed of the simulation, shown in the subtitle, or `None`.

    The table `estimates` has the `estimate` after each number of `runs`, and its 95% interval from
    `low` to `high`. The table `exact` has the `exact` chance, if it can be computed.

    Sources: Norvig, "The Unfinished Game ... of Risk" (2020), and Höhle (2025), whose simulations
    check their formulas.
    """
    kind = Battle if isinstance(battle_or_campaign, Battle) else Campaign
    check_type(battle_or_campaign, kind, "battle_or_campaign")
    for estimate in read_list(estimates, "estimates", "Estimate"):
        check_type(estimate, Estimate, "each of estimates")
    rows: list[Row] = [
        {
            "runs": estimate.runs,
            "estimate": float(estimate.probability),
            **estimate.interval()._asdict(),
        }
        for estimate in estimates
    ]
    words, scale = "games, on a logarithmic scale", {"type": "log", "nice": False}
    base = table_view("estimates").encode(
        x=axis("runs:Q", words, scale, format="~s", grid=False, tickCount=5),
        tooltip=["runs:Q", *map(exact_field, ("estimate", "low", "high"))],
    )
    won = axis("low:Q", "chance to win", {"zero": False}, format="~%")
    layers = [
        base.mark("area", opacity=0.25, color=BLUE).encode(y=won, y2="high"),
        base.mark("line", color=BLUE, strokeWidth=2, point=True).encode(y="estimate:Q"),
    ]
    exact, tables, end = compute_exact_chance(battle_or_campaign), {"estimates": rows}, "."
    if exact is not None:
        tables["exact"] = [{"exact": float(exact)}]
        line = table_view("exact").mark("rule", strokeDash=[6, 4], strokeWidth=1.5)
        layers.append(line.encode(y="exact:Q", tooltip=[exact_field("exact")]))
        end = "; the line is the exact chance."
    return Chart(
        layer(*layers),
        summarise_simulation(estimates[-1], battle_or_campaign),
        f"{describe_attack(battle_or_campaign)} The share of games won{format_seed(seed)}, "
        f"with its {CONFIDENCE:.0%} interval" + end,
        tables,
    )
