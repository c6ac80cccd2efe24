"""Charts of simulations: random dice beside the exact answers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from iacta.battle.battle import Battle, Outcome
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.charts.campaigns import goal
from iacta.charts.distributions import (
    HOLD,
    STOP,
    WIN,
    fate,
    histogram,
    signed_left,
    spans,
    whose,
)
from iacta.charts.registry import chart
from iacta.charts.theme import (
    BLUE,
    AnyChart,
    Row,
    alt,
    counted,
    exactly,
    expect,
    fight,
    finish,
    named,
    rules_words,
    seed_words,
    stop_words,
)
from iacta.checks import row_of
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError
from iacta.estimate import CONFIDENCE, Estimate
from iacta.odds.simulated import Simulated
from iacta.questions.words import joined, percent

MOST_BARS = 40  # each has an interval
MOST_TERRITORIES = 6  # whose defenders are named
LAST = "your armies in the last territory, if all are taken"
NOT_TAKEN = "territories not taken, if you stop or they hold"
SMALL = 200  # pixels, where there are two plots


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
    expect(simulated, Simulated, "simulated")
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    rows = _rows(simulated, asked)
    is_one_battle = isinstance(asked, Battle) or len(asked.territories) == 1
    has_exact = any(row["exact"] is not None for row in rows)
    if is_one_battle:
        drawn = _plot(rows, whose(rows), has_exact)
    else:  # armies and territories have no axis in common
        parts = [
            ([row for row in rows if (row["end"] == WIN) == won], words, f"{sign} '{WIN}'")
            for won, words, sign in (
                (True, LAST, "datum.end =="),
                (False, NOT_TAKEN, "datum.end !="),
            )
        ]
        most = 1.05 * max(max(row["high"], row["exact"] or 0) for row in rows)
        drawn = alt.vconcat(
            *(
                _plot(part, words, has_exact, where, most).properties(height=SMALL)
                for part, words, where in parts
                if part
            )
        ).resolve_scale(color="independent")
    return finish(
        drawn,
        _title(simulated.won, asked),
        f"{_subject(asked)} Bars: games with dice{seed_words(seed)}; vertical lines: "
        f"{CONFIDENCE:.0%} intervals; horizontal lines: exact.",
        {"outcomes": rows},
    )


def _subject(asked: Battle | Campaign) -> str:
    if isinstance(asked, Battle):
        return fight(asked.attackers, asked.defenders, asked.rules, asked.stop)
    chain, count = asked.stages(), len(asked.territories)
    if count == 1:
        return fight(asked.attackers, *chain[0])
    held = joined([str(stage.defenders) for stage in chain])
    by = f", held by {held}" if count <= MOST_TERRITORIES else ""
    return (
        f"{counted(asked.attackers)} against {goal(asked)}{by}{stop_words(asked.stop)} "
        f"({rules_words(asked.rules)})."
    )


def _title(won: Estimate, asked: Battle | Campaign) -> str:
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
        outcome = Outcome(*end)
        return fate(outcome, asked), signed_left(outcome, asked)
    count, last = len(asked.territories), CampaignOutcome(*end)
    if last.conquered == count:
        # After a single battle those who stay behind remain as well.
        return WIN, last.attackers + (asked.rules.garrison if count == 1 else 0)
    stops = asked.is_stopped(last)
    if count > 1:
        return STOP if stops else HOLD, last.conquered - count
    return (STOP, last.attackers) if stops else (HOLD, -last.defenders)


def _rows(
    simulated: Simulated[Outcome] | Simulated[CampaignOutcome], asked: Battle | Campaign
) -> list[Row]:
    observed: Distribution[tuple[str, int]] = simulated.outcomes.map(lambda end: _end(asked, end))
    exact: Distribution[tuple[str, int]] | None = None
    try:
        outcomes: Distribution[Outcome] | Distribution[CampaignOutcome] = asked.outcomes()
        exact = outcomes.map(lambda end: _end(asked, end))
    except IactaError:
        pass  # then the simulated chances stand alone
    bars = spans(exact or observed, MOST_BARS)
    rows: list[Row] = []
    for bar in dict.fromkeys(bars.values()):
        mine = {end for end, span in bars.items() if span == bar}
        successes = int(observed.prob(mine.__contains__) * simulated.won.runs)
        seen = Estimate(simulated.won.runs, successes)
        rows.append(
            {
                **bar._asdict(),
                "probability": float(seen.probability),
                **seen.interval()._asdict(),
                "exact": None if exact is None else float(exact.prob(mine.__contains__)),
            }
        )
    return rows


def _plot(
    rows: Sequence[Row], words: str, has_exact: bool, where: str = "true", most: float = 0
) -> Any:
    """Return bars with their intervals, and lines at the exact chances.

    rows: the rows that are drawn.
    words: what their numbers are.
    has_exact: whether the exact chances are known.
    where: which rows of the table these are.
    most: the end of the axis of chances; 0 if nothing stands beside it.
    """
    bars = histogram("outcomes", rows, words, beneath=True, is_signed=False)
    if most:
        axis = alt.Axis(format="~%")
        chance = alt.Y(
            "probability:Q",
            title="chance",
            axis=axis,
            stack=None,
            scale=alt.Scale(domain=[0, most], nice=False),
        )
        bars = bars.encode(y=chance)
    layers = [bars, _intervals(), *([_exact_caps()] if has_exact else [])]
    return alt.layer(*(each.transform_filter(where) for each in layers))


def _intervals() -> Any:
    return (
        alt.Chart(named("outcomes"))
        .transform_calculate(middle="(datum.least + datum.most) / 2")
        .mark_rule(strokeWidth=1.5)
        .encode(
            x="middle:Q",
            y="low:Q",
            y2="high:Q",
            tooltip=[exactly("low", "interval from"), exactly("high", "to")],
        )
    )


def _exact_caps() -> Any:
    return (
        alt.Chart(named("outcomes"))
        .transform_calculate(left="datum.least - 0.4", right="datum.most + 0.4")
        .mark_rule(strokeWidth=2)
        .encode(x="left:Q", x2="right:Q", y="exact:Q", tooltip=[exactly("exact", "exact chance")])
    )


@chart(command="convergence", example="12 10 --runs 1e5 --seed 1")
def convergence(
    estimates: Sequence[Estimate], asked: Battle | Campaign, *, seed: int | None = None
) -> AnyChart:
    """Return how a simulation approaches the exact chance as more games are played.

    estimates: what `running_estimates` returns: the chance to win after more and more runs.
    asked: the battle or the campaign that was simulated.
    seed: that of the dice, shown so that they can be thrown again; `None` to show none.

    The chart has a table `estimates`: the `estimate` after n `runs` and its 95% interval
    from `low` to `high`; and a table of the `exact` chance, if a method computes it.

    Sources: Norvig, "The Unfinished Game ... of Risk" (2020), and Höhle (2025), who simulate to
    check their formulas.
    """
    expect(asked, Battle if isinstance(asked, Battle) else Campaign, "asked")
    for each in row_of(estimates, "estimates", "Estimate"):
        expect(each, Estimate, "each of estimates")
    rows: list[Row] = [
        {
            "runs": each.runs,
            "estimate": float(each.probability),
            **each.interval()._asdict(),
        }
        for each in estimates
    ]
    exact = _exact_chance(asked)
    tables = {"estimates": rows}
    layers, end = _estimate_layers(), "."
    if exact is not None:
        tables["exact"] = [{"exact": float(exact)}]
        line = alt.Chart(named("exact")).mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        layers.append(line.encode(y="exact:Q", tooltip=[exactly("exact")]))
        end = "; the line is the exact chance."
    return finish(
        alt.layer(*layers),
        _title(estimates[-1], asked),
        f"{_subject(asked)} The share of games won{seed_words(seed)}, with its "
        f"{CONFIDENCE:.0%} interval" + end,
        tables,
    )


def _estimate_layers() -> list[Any]:
    base = alt.Chart(named("estimates")).encode(
        x=alt.X(
            "runs:Q",
            title="games, on a logarithmic scale",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~s", grid=False, tickCount=5),
        ),
        tooltip=["runs:Q", exactly("estimate"), exactly("low"), exactly("high")],
    )
    band = base.mark_area(opacity=0.25, color=BLUE).encode(
        y=alt.Y(
            "low:Q",
            title="chance to win",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(zero=False),
        ),
        y2="high:Q",
    )
    return [band, base.mark_line(color=BLUE, strokeWidth=2, point=True).encode(y="estimate:Q")]
