"""Pictures of tables of chances."""

from typing import Any

import altair as alt
import numpy.typing as npt

from iacta.charts.theme import AnyChart, finish, named

__all__ = ["win_chance_map"]

MOST_VALUES = 20  # more numbers on a side than these cannot be read
SIDE = 560


def win_chance_map(chances: npt.NDArray[Any], label: str = "classic") -> AnyChart:
    """Return the chances of every battle up to a size as a map of colours, with values if few.

    chances: what `win_table` returns.
    label: the name of the rules.

    Source: the heat map of "Analyzing the Board Game Risk" (pracpred).
    """
    rows = [
        {"attackers": a, "defenders": d, "win_probability": float(chance)}
        for a, row in enumerate(chances, start=1)
        for d, chance in enumerate(row, start=1)
    ]
    even = sum(row["win_probability"] > 0.5 for row in rows)
    base = alt.Chart(named("battles")).encode(
        x=alt.X("defenders:O", title="defenders", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("attackers:O", title="attackers, garrison included", sort="descending"),
        tooltip=[
            "attackers:O",
            "defenders:O",
            alt.Tooltip("win_probability:Q", title="chance to win", format=".16~g"),
        ],
    )
    color = alt.Color(
        "win_probability:Q",
        title="chance to win",
        scale=alt.Scale(domain=[0, 0.5, 1], range="diverging"),
        legend=alt.Legend(format="%", gradientLength=200, values=[0, 0.25, 0.5, 0.75, 1]),
    )
    layers = [base.mark_rect().encode(color=color)]
    if max(chances.shape) <= MOST_VALUES:
        room = alt.ExprRef("bandwidth('x') < 26 ? 0 : 1")  # else they would overlap
        text = base.mark_text(fontSize=10, opacity=room)
        layers.append(text.encode(text=alt.Text("win_probability:Q", format=".0%")))
    return finish(
        alt.layer(*layers).properties(height=SIDE),
        f"The attackers are the favourites in {even} of {len(rows)} battles.",
        f"Chance to win each battle, by a fight to the end ({label} rules).",
        {"battles": rows},
    )
