"""Charts of tables: the chances of every battle up to a size."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy.typing as npt

from iacta.charts.axes_and_labels import ATTACKERS, axis, exactly
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import counted, limit, under_rules
from iacta.charts.theme import WIDTH
from iacta.charts.vega import field, layer, rows_of
from iacta.inputs.errors import MalformedError
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

EVEN = Fraction(1, 2)
MOST_VALUES = 20  # more numbers on a side of a table cannot be read
MOST_CELLS = 40_000  # of a map; smaller ones cannot be seen
VALUE_ROOM = 14  # pixels that a number of three small digits takes
ABLE = "attackers able to attack"  # without a garrison
ROUNDED = (  # only what is certain is 0 or 100
    "datum.win_probability == 0 || datum.win_probability == 1 ? 100 * datum.win_probability : "
    "datum.win_probability < 0.005 ? '<1' : datum.win_probability >= 0.995 ? '>99' : "
    "format(100 * datum.win_probability, '.0f')"
)


@chart(of="ndarray")
def win_chance_map(
    chances: npt.NDArray[Any], rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Return the chances of every battle up to a size as a map of colours, with values if few.

    chances: what `win_table` returns.
    rules: those of the table: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    More than 40,000 battles are refused.

    Source: the heat map of "Analyzing the Board Game Risk" (pracpred), and Höhle's coloured table.
    """
    if chances.ndim != 2 or not chances.size:
        raise MalformedError(f"chances must be a table, got an array of shape {chances.shape}")
    got = f"{chances.shape[0]} by {chances.shape[1]}"
    limit(chances.size, MOST_CELLS, "a map of chances must have at most {} battles", got)
    rules = find_rules(rules)
    count, most = chances.shape[0], max(chances.shape)
    scale = {"round": False}
    attackers = axis("attackers:O", ATTACKERS if rules.garrison else ABLE, scale, domain=False)
    base = rows_of("battles").encode(
        x=axis("defenders:O", "defenders", scale, labelAngle=0, domain=False),
        y={**attackers, "sort": "descending"},
        tooltip=["attackers:O", "defenders:O", exactly("win_probability", "chance to win")],
    )
    # Each cell covers a pixel of its neighbours, so that no paper shows between them.
    size = {"band": 1 + 2 * most / WIDTH}
    colour = field(
        "win_probability:Q",
        title="chance to win",
        scale={"domain": [0, 0.5, 1], "range": "diverging", "interpolate": "lab"},
        legend={"format": "%", "gradientLength": 200, "values": [0, 0.25, 0.5, 0.75, 1]},
    )
    layers = [base.mark("rect", width=size, height=size).encode(color=colour)]
    if most <= MOST_VALUES:  # as numbers, hidden where they would overlap
        room = {"expr": f"bandwidth('x') < {VALUE_ROOM} ? 0 : 1"}
        letters = {"expr": "bandwidth('x') < 19 ? 8 : bandwidth('x') < 24 ? 9 : 11"}
        written = base.calculate(per_cent=ROUNDED).encode(text="per_cent:N")
        layers.append(written.mark("text", fontSize=letters, opacity=room))
    return Chart(
        layer(*layers).properties(height=count * max(round(WIDTH / count), 1)),
        _map_title(chances),
        f"Chance to win each battle, in per cent, fought to the end ({under_rules(rules, label)}).",
        {
            "battles": [
                {"attackers": a, "defenders": d, "win_probability": chance}
                for a, row in enumerate(chances.astype(float).tolist(), start=1)
                for d, chance in enumerate(row, start=1)
            ]
        },
    )


def _map_title(chances: npt.NDArray[Any]) -> str:
    """Return from where on the attackers are favourites with equal numbers, or how often in all."""
    ahead = (chances.diagonal() > EVEN).tolist()
    if not any(ahead):
        return f"With equal numbers, up to {counted(len(ahead))}, the defenders are not worse off."
    first = len(ahead) - ahead[::-1].index(False) if False in ahead else 0
    if first == len(ahead):
        count = int((chances > EVEN).sum())
        return f"The attackers are the favourites in {count} of {chances.size} battles."
    least = f"{first + 1} to " if first + 1 < len(ahead) else ""
    return f"With {least}{counted(len(ahead))} on each side you are the favourite."
