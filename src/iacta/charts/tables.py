"""A heat map of the chances of all battles up to a given size."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy.typing as npt

from iacta.charts.axes_and_labels import ATTACKERS, axis, exact_field
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_size, format_count, format_rules
from iacta.charts.theme import WIDTH
from iacta.charts.vega import field, layer, table_view
from iacta.inputs.errors import MalformedError
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

EVEN = Fraction(1, 2)
MAX_NUMBERED_ROWS = 20  # maps with more rows or columns show no numbers
MAX_MAP_CELLS = 40_000  # cells of larger maps would be too small to see
MIN_NUMBER_WIDTH = 14  # space for three small digits, in pixels
ABLE = "attackers able to attack"  # title of the axis if the rules have no garrison
PERCENT_LABELS = (  # only exactly 0 and 1 are shown as 0 and 100
    "datum.win_probability == 0 || datum.win_probability == 1 ? 100 * datum.win_probability : "
    "datum.win_probability < 0.005 ? '<1' : datum.win_probability >= 0.995 ? '>99' : "
    "format(100 * datum.win_probability, '.0f')"
)


@register_chart(default_for="ndarray")
def win_chance_map(
    chances: npt.NDArray[Any], rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw a heat map of the chances of all battles up to a size; small maps show the numbers.

    chances: the result of `win_table`, for at most 40,000 battles.
    rules: the rules of the table: `Rules`, or the name of a rule set.
    label: a name to use instead of the rules' own name.

    Source: the heat map of "Analyzing the Board Game Risk" (pracpred), and Höhle's coloured table.
    """
    if chances.ndim != 2 or not chances.size:
        raise MalformedError(f"chances must be a table, got an array of shape {chances.shape}")
    got = f"{chances.shape[0]} by {chances.shape[1]}"
    check_size(chances.size, MAX_MAP_CELLS, "a map of chances must have at most {} battles", got)
    rules = find_rules(rules)
    count, most = chances.shape[0], max(chances.shape)
    scale = {"round": False}
    attackers = axis("attackers:O", ATTACKERS if rules.garrison else ABLE, scale, domain=False)
    base = table_view("battles").encode(
        x=axis("defenders:O", "defenders", scale, labelAngle=0, domain=False),
        y={**attackers, "sort": "descending"},
        tooltip=["attackers:O", "defenders:O", exact_field("win_probability", "chance to win")],
    )
    # Cells overlap by one pixel to avoid gaps.
    size = {"band": 1 + 2 * most / WIDTH}
    colour = field(
        "win_probability:Q",
        title="chance to win",
        scale={"domain": [0, 0.5, 1], "range": "diverging", "interpolate": "lab"},
        legend={"format": "%", "gradientLength": 200, "values": [0, 0.25, 0.5, 0.75, 1]},
    )
    layers = [base.mark("rect", width=size, height=size).encode(color=colour)]
    if most <= MAX_NUMBERED_ROWS:  # numbers in cells that are too narrow are made transparent
        room = {"expr": f"bandwidth('x') < {MIN_NUMBER_WIDTH} ? 0 : 1"}
        letters = {"expr": "bandwidth('x') < 19 ? 8 : bandwidth('x') < 24 ? 9 : 11"}
        written = base.calculate(per_cent=PERCENT_LABELS).encode(text="per_cent:N")
        layers.append(written.mark("text", fontSize=letters, opacity=room))
    return Chart(
        layer(*layers).properties(height=count * max(round(WIDTH / count), 1)),
        _format_title(chances),
        "Chance to win each battle, in per cent, fought to the end "
        f"({format_rules(rules, label)}).",
        {
            "battles": [
                {"attackers": a, "defenders": d, "win_probability": chance}
                for a, row in enumerate(chances.astype(float).tolist(), start=1)
                for d, chance in enumerate(row, start=1)
            ]
        },
    )


def _format_title(chances: npt.NDArray[Any]) -> str:
    """Describe the battles in which the attackers are the favourites.

    The description gives the range of equal numbers in which the attackers are favourites. If they
    are not favourites at the largest number, it gives the number of battles instead.
    """
    ahead = (chances.diagonal() > EVEN).tolist()
    if not any(ahead):
        armies = format_count(len(ahead))
        return f"With equal numbers up to {armies} on each side you are never the favourite."
    first = len(ahead) - ahead[::-1].index(False) if False in ahead else 0
    if first == len(ahead):
        count = int((chances > EVEN).sum())
        return f"The attackers are the favourites in {count} of {chances.size} battles."
    least = f"{first + 1} to " if first + 1 < len(ahead) else ""
    return f"With {least}{format_count(len(ahead))} on each side you are the favourite."
