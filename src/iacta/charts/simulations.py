"""Pictures of simulations beside the exact answers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.bars import HOLD, STOP, WIN, histogram, spans
from iacta.charts.campaigns import led
from iacta.charts.laws import REMAIN, signed_left
from iacta.charts.theme import BLUE, AnyChart, Row, expect, finish, named
from iacta.charts.words import armies, fight, joined, per_cent, rules_words, seed_words, stop_words
from iacta.checks import row_of
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError
from iacta.estimate import Estimate
from iacta.methods.outcome import Outcome, is_won
from iacta.questions.simulated import Simulated

__all__ = ["convergence", "simulated_law"]

MOST_BARS = 40  # each bears an interval
MOST_TERRITORIES = 6  # whose defenders are named
LEVEL = "95 %"
ON_THE_WAY = ("left of 0: territories not taken,", "right of 0: your armies in the last territory")
EXACT_FORMAT = ".16~g"


def simulated_law(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome],
    asked: Battle | Campaign,
    *,
    seed: int | None = None,
) -> AnyChart:
    """Return how often each end was observed, with its interval, beside its exact chance.

    simulated: what `simulate_battle` or `simulate_campaign` returns.
    asked: the battle or the campaign that was simulated.
    seed: that of the dice, told so that they can be thrown again; `None` to tell none.

    The chart has a table `outcomes`: how it ends, the numbers from `least` to `most`, the part of
    the runs that ended so (`probability`), its 95 % interval from `low` to `high`, and the `exact`
    chance, empty where no method tells it. After a success the numbers are the armies that remain,
    above 0: in a campaign of several territories those in the last one. Otherwise they are below
    0: the defenders that remain, or in such a campaign the territories not taken.
    """
    expect(simulated, Simulated, "simulated")
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    told = _outcomes(simulated, asked)
    layers: list[Any] = [
        histogram("outcomes", told, REMAIN if _is_battle(asked) else ON_THE_WAY, beneath=True),
        _intervals(),
    ]
    if any(row["exact"] is not None for row in told):
        layers.append(_exact_caps())
    return finish(
        alt.layer(*layers),
        _title(simulated.won, asked),
        f"{_words(asked)} Bars: games with dice{seed_words(seed)}; upright lines: {LEVEL} "
        "intervals; level lines: exact.",
        {"outcomes": told},
    )


def _is_battle(asked: Battle | Campaign) -> bool:
    return isinstance(asked, Battle) or len(asked.territories) == 1


def _words(asked: Battle | Campaign) -> str:
    if isinstance(asked, Battle):
        return fight(asked.attackers, asked.defenders, asked.rules, asked.stop)
    way, count = asked.stages(), len(asked.territories)
    if count == 1:
        return fight(asked.attackers, *way[0])
    held = joined([str(stage.defenders) for stage in way])
    of = f", held by {held}" if count <= MOST_TERRITORIES else ""
    return (
        f"{armies(asked.attackers)} against {led(asked)}{of}{stop_words(asked.stop)} "
        f"({rules_words(asked.rules)})."
    )


def _title(won: Estimate, asked: Battle | Campaign) -> str:
    games = "game" if won.runs == 1 else "games"
    title = f"Won in {per_cent(won.probability, 2)} of {won.runs:,} {games}"
    exact = exact_chance(asked)
    return f"{title}." if exact is None else f"{title}; exactly it is {per_cent(exact, 2)}."


def exact_chance(asked: Battle | Campaign) -> Probability | None:
    """Return the chance to win that a method computes, and `None` where all refuse.

    asked: the battle or the campaign.
    """
    if asked.attackers <= asked.rules.garrison:
        return Fraction(0)
    try:
        return float(asked.win_probability())
    except IactaError:
        return None


def _end(asked: Battle | Campaign, end: Outcome | CampaignOutcome) -> tuple[str, int]:
    """Return how it ends, and the number by which it is shown."""
    if isinstance(asked, Campaign):
        return _campaign_end(asked, CampaignOutcome(*end))
    outcome = Outcome(*end)
    if is_won(outcome):
        return WIN, signed_left(outcome)
    stops = outcome.attackers > asked.rules.garrison
    return STOP if stops else HOLD, signed_left(outcome)


def _campaign_end(asked: Campaign, end: CampaignOutcome) -> tuple[str, int]:
    way = asked.stages()
    if end.conquered == len(way):
        # In a single battle those who stay behind remain as well.
        return WIN, end.attackers + (way[0].rules.garrison if len(way) == 1 else 0)
    stops = end.attackers > way[end.conquered].rules.garrison
    missing = end.defenders if len(way) == 1 else len(way) - end.conquered
    return STOP if stops else HOLD, -missing


def _outcomes(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome], asked: Battle | Campaign
) -> list[Row]:
    observed: Distribution[tuple[str, int]] = simulated.outcomes.map(lambda end: _end(asked, end))
    exact = _exact_law(asked)
    bars = spans(exact or observed, MOST_BARS)
    rows: list[Row] = []
    for bar in dict.fromkeys(bars.values()):
        mine = {end for end, span in bars.items() if span == bar}
        seen = Estimate(
            simulated.won.runs, int(observed.prob(mine.__contains__) * simulated.won.runs)
        )
        rows.append(
            {
                **bar._asdict(),
                "probability": float(seen.probability),
                **seen.interval()._asdict(),
                "exact": None if exact is None else float(exact.prob(mine.__contains__)),
            }
        )
    return rows


def _exact_law(asked: Battle | Campaign) -> Distribution[tuple[str, int]] | None:
    try:
        law: Distribution[Outcome] | Distribution[CampaignOutcome] = asked.outcomes()
    except IactaError:
        return None
    return law.map(lambda end: _end(asked, end))


def _intervals() -> Any:
    return (
        alt.Chart(named("outcomes"))
        .transform_calculate(middle="(datum.least + datum.most) / 2")
        .mark_rule(strokeWidth=1.5)
        .encode(
            x="middle:Q",
            y="low:Q",
            y2="high:Q",
            tooltip=[
                alt.Tooltip("low:Q", title="interval from", format=EXACT_FORMAT),
                alt.Tooltip("high:Q", title="to", format=EXACT_FORMAT),
            ],
        )
    )


def _exact_caps() -> Any:
    return (
        alt.Chart(named("outcomes"))
        .transform_calculate(left="datum.least - 0.4", right="datum.most + 0.4")
        .mark_rule(strokeWidth=2)
        .encode(
            x="left:Q",
            x2="right:Q",
            y="exact:Q",
            tooltip=[alt.Tooltip("exact:Q", title="exact chance", format=EXACT_FORMAT)],
        )
    )


def convergence(
    estimates: Sequence[Estimate], asked: Battle | Campaign, *, seed: int | None = None
) -> AnyChart:
    """Return how a simulation comes nearer to the exact chance, the more games are played.

    estimates: what `running_estimates` returns: the chance to win after more and more runs.
    asked: the battle or the campaign that was simulated.
    seed: that of the dice, told so that they can be thrown again; `None` to tell none.

    The chart has a table `estimates`: after so many `runs` the `estimate` and its 95 % interval
    from `low` to `high`; and a table of the `exact` chance, if a method tells it.

    Sources: Norvig, "The Unfinished Game ... of Risk" (2020), and Höhle (2025), who simulate to
    check their formulas.
    """
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    for each in row_of(estimates, "estimates", "Estimate"):
        expect(each, Estimate, "each of estimates")
    told = [
        {
            "runs": each.runs,
            "estimate": float(each.probability),
            **each.interval()._asdict(),
        }
        for each in estimates
    ]
    exact = exact_chance(asked)
    line = [] if exact is None else [{"exact": float(exact)}]
    return finish(
        alt.layer(*_estimate_layers(), *([_exact_line()] if line else [])),
        _title(estimates[-1], asked),
        f"{_words(asked)} The part of the games won{seed_words(seed)}, with its {LEVEL} interval"
        + ("; the line is the exact chance." if line else "."),
        {"estimates": told, **({"exact": line} if line else {})},
    )


def _estimate_layers() -> tuple[Any, Any]:
    base = alt.Chart(named("estimates")).encode(
        x=alt.X(
            "runs:Q",
            title="games, on a logarithmic scale",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~s", grid=False, tickCount=5),
        ),
        tooltip=[
            "runs:Q",
            *(
                alt.Tooltip(f"{name}:Q", format=EXACT_FORMAT)
                for name in ("estimate", "low", "high")
            ),
        ],
    )
    chance = alt.Scale(zero=False)
    band = base.mark_area(opacity=0.25, color=BLUE).encode(
        y=alt.Y("low:Q", title="chance to win", axis=alt.Axis(format="~%"), scale=chance),
        y2="high:Q",
    )
    return band, base.mark_line(color=BLUE, strokeWidth=2, point=True).encode(y="estimate:Q")


def _exact_line() -> Any:
    return (
        alt.Chart(named("exact"))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="exact:Q", tooltip=[alt.Tooltip("exact:Q", format=EXACT_FORMAT)])
    )
