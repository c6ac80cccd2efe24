"""Pictures of chances as curves."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from iacta.charts.theme import AnyChart, finish, named
from iacta.odds import win_probability
from iacta.rules import Rules

__all__ = ["curves_by_delta"]


def curves_by_delta(
    deltas: Sequence[int], defenders: int, rules: Rules | str = "classic"
) -> AnyChart:
    """Return the chance to win by the number of defenders, a curve for each lead of the attackers.

    deltas: how many more attackers than defenders there are, garrison included.
    defenders: the most defenders.
    rules: `Rules`, or the name of a rule set.

    Source: the chart of Norvig, "The Unfinished Game ... of Risk".
    """
    against = np.arange(1, defenders + 1)
    rows = [
        {"delta": delta, "defenders": d, "win_probability": float(chance)}
        for delta in deltas
        for d, chance in zip(
            against.tolist(),
            win_probability(np.maximum(against + delta, 1), against, rules),
            strict=True,
        )
    ]
    chart = (
        alt.Chart(named("curves"))
        .mark_line()
        .encode(
            x=alt.X("defenders:Q", title="defenders"),
            y=alt.Y("win_probability:Q", title="chance to win", axis=alt.Axis(format="%")),
            color=alt.Color("delta:O", title="attackers less defenders"),
            tooltip=["delta:O", "defenders:Q", alt.Tooltip("win_probability:Q", format=".16~g")],
        )
    )
    return finish(
        chart,
        "With as many armies as they, attack in large numbers.",
        "Chance to win.",
        {"curves": rows},
    )
