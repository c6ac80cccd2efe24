"""Heat maps of all battles up to a given size: chances, means, and a sheet to print."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from iacta.charts.axes_and_labels import ATTACKERS, axis, exact_field
from iacta.charts.registry import register_chart
from iacta.charts.saving import Chart
from iacta.charts.subtitles import check_size, check_type, format_count, format_rules
from iacta.charts.theme import WIDTH
from iacta.charts.vega import Row, View, field, layer, table_view, vconcat
from iacta.forms.sentences import capitalise
from iacta.inputs.checks import read_int
from iacta.inputs.errors import MalformedError
from iacta.odds.arrays import expected_attackers_left, win_table
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
CHANCE_COLOUR = field(
    "win_probability:Q",
    title="chance to win",
    scale={"domain": [0, 0.5, 1], "range": "diverging", "interpolate": "lab"},
    legend={"format": "%", "gradientLength": 200, "values": [0, 0.25, 0.5, 0.75, 1]},
)
AVERAGE_LABELS = "format(datum.average, '.1f')"
SHEET_ROW = 17  # the height of a row in pixels
SHEET_WIDTH = 480


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
    _check_map(chances)
    rules = find_rules(rules)
    view = _draw_map(
        chances.shape, "battles", "win_probability", CHANCE_COLOUR, PERCENT_LABELS, rules
    )
    return Chart(
        view,
        _format_title(chances),
        "Chance to win each battle, in per cent, fought to the end "
        f"({format_rules(rules, label)}).",
        {"battles": _list_cells(chances, "win_probability")},
    )


@register_chart()
def average_map(
    averages: npt.NDArray[Any],
    mean: str = "rolls to the end",
    rules: Rules | str = "classic",
    label: str = "",
) -> Chart:
    """Draw a heat map of a mean of all battles up to a size; small maps show the numbers.

    averages: the means, `[attackers - 1, defenders - 1]`, for at most 40,000 battles.
    mean: the name of the numbers, such as `"armies that you lose"`.
    rules, label: the same as for `win_chance_map`.

    The table `battles` has the columns `attackers`, `defenders` and `average`.
    """
    _check_map(averages, "averages")
    rules = find_rules(rules)
    most = averages.shape
    return Chart(
        _draw_map(most, "battles", "average", _make_average_colour(mean), AVERAGE_LABELS, rules),
        f"{most[0]} against {most[1]}: {float(averages[-1, -1]):.1f} {mean} on average.",
        f"{capitalise(mean)} on average in each battle, fought to the end "
        f"({format_rules(rules, label)}).",
        {"battles": _list_cells(averages, "average")},
    )


@register_chart()
def cheat_sheet(
    rules: Rules | str = "classic", label: str = "", *, attackers: int = 20, defenders: int = 15
) -> Chart:
    """Draw the chances and the losses of all battles up to a size, to print on a page (A4).

    rules, label: the same as for `win_chance_map`.
    attackers: the largest number of attackers, up to 20.
    defenders: the largest number of defenders, up to 20.

    A PDF has the size of a page. The tables `chances` and `losses` have the columns `attackers` and
    `defenders`, with `win_probability` and `average`, the attackers lost.
    """
    for side, number in (("attackers", attackers), ("defenders", defenders)):
        read_int(number, side, minimum=1, maximum=MAX_NUMBERED_ROWS)
    rules = find_rules(rules)
    chances = win_table(attackers, defenders, rules)
    ours = np.arange(1, attackers + 1)[:, np.newaxis]
    left = expected_attackers_left(ours, np.arange(1, defenders + 1), rules)
    maps = [
        _draw_map(chances.shape, table, column, colour, labels, rules, is_printed=True).properties(
            height=attackers * SHEET_ROW, width=SHEET_WIDTH, title=title
        )
        for table, column, colour, labels, title in (
            (
                "chances",
                "win_probability",
                CHANCE_COLOUR,
                PERCENT_LABELS,
                "Chance to win, per cent",
            ),
            (
                "losses",
                "average",
                _make_average_colour("armies"),
                AVERAGE_LABELS,
                "Armies that you lose, on average",
            ),
        )
    ]
    return Chart(
        vconcat(*maps, resolve={"scale": {"color": "independent"}}),
        f"Risk: all battles up to {attackers} against {defenders}.",
        f"You fight each battle to the end ({format_rules(rules, label)}). Your armies are in the "
        "rows, theirs in the columns.",
        {
            "chances": _list_cells(chances, "win_probability"),
            "losses": _list_cells(ours - left, "average"),
        },
        is_page=True,
    )


def _check_map(numbers: npt.NDArray[Any], name: str = "chances") -> None:
    check_type(numbers, np.ndarray, name)
    if numbers.ndim != 2 or not numbers.size:
        raise MalformedError(f"{name} must be a table, got an array of shape {numbers.shape}")
    got = f"{numbers.shape[0]} by {numbers.shape[1]}"
    check_size(numbers.size, MAX_MAP_CELLS, "a map of chances must have at most {} battles", got)


def _list_cells(numbers: npt.NDArray[Any], column: str) -> list[Row]:
    return [
        {"attackers": a, "defenders": d, column: number}
        for a, row in enumerate(numbers.astype(float).tolist(), start=1)
        for d, number in enumerate(row, start=1)
    ]


def _make_average_colour(title: str) -> dict[str, Any]:
    return field("average:Q", title=title, scale={"range": "ramp"}, legend={"gradientLength": 200})


def _draw_map(
    shape: tuple[int, ...],
    table: str,
    column: str,
    colour: Mapping[str, Any],
    labels: str,
    rules: Rules,
    *,
    is_printed: bool = False,
) -> View:
    """Return a map with a cell for each battle.

    shape: the largest numbers of attackers and of defenders.
    table, column: the table of the cells, and its column of numbers.
    colour: the encoding of the colours.
    labels: the Vega expression of the number in a cell.
    is_printed: whether to show all numbers, so that the colours need no legend.
    """
    count, most = shape[0], max(shape)
    scale = {"round": False}
    attackers = axis("attackers:O", ATTACKERS if rules.garrison else ABLE, scale, domain=False)
    title = "chance to win" if column == "win_probability" else column
    base = table_view(table).encode(
        x=axis("defenders:O", "defenders", scale, labelAngle=0, domain=False),
        y={**attackers, "sort": "descending"},
        tooltip=["attackers:O", "defenders:O", exact_field(column, title)],
    )
    # Cells overlap by one pixel to avoid gaps.
    size = {"band": 1 + 2 * most / WIDTH}
    colour = {**colour, "legend": None} if is_printed else colour
    layers = [base.mark("rect", width=size, height=size).encode(color=colour)]
    if most <= MAX_NUMBERED_ROWS:  # numbers in cells that are too narrow are made transparent
        room = {"expr": f"bandwidth('x') < {MIN_NUMBER_WIDTH} ? 0 : 1"}
        letters = {"expr": "bandwidth('x') < 19 ? 8 : bandwidth('x') < 24 ? 9 : 11"}
        look = {"fontSize": 10} if is_printed else {"fontSize": letters, "opacity": room}
        written = base.calculate(per_cent=labels).encode(text="per_cent:N")
        layers.append(written.mark("text", **look))
    return layer(*layers).properties(height=count * max(round(WIDTH / count), 1))


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
