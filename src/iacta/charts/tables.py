"""Charts of tables of chances: every battle up to a size, and the border of even chances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from iacta.charts.registry import Option, chart
from iacta.charts.theme import (
    ATTACKERS,
    BLUE,
    GREEN,
    GREY,
    AnyChart,
    alt,
    counted,
    exactly,
    expect,
    finish,
    named,
    under_rules,
)
from iacta.checks import whole_number
from iacta.errors import MalformedError, TooLargeError
from iacta.odds.needed import break_even_line
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

MOST_ARMIES = 1_000  # more points make a picture slow and no clearer
MOST_VALUES = 20  # more numbers on a side cannot be read
MOST_CELLS = 40_000
SIDE = 600  # as wide as a plot: cells of whole pixels are drawn faster
EVEN = Fraction(1, 2)
VALUE_ROOM = 14  # pixels that a number of three small digits takes
ABLE = "attackers able to attack"  # without a garrison
ROUNDED = (  # only what is certain is 0 or 100
    "datum.win_probability == 0 || datum.win_probability == 1 ? 100 * datum.win_probability : "
    "datum.win_probability < 0.005 ? '<1' : datum.win_probability >= 0.995 ? '>99' : "
    "format(100 * datum.win_probability, '.0f')"
)
REGION, LINE, EQUAL = "favourites", "nearest line", "equal numbers"


@chart(of="ndarray")
def win_chance_map(
    chances: npt.NDArray[Any], rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return the chances of every battle up to a size as a map of colours, with values if few.

    chances: what `win_table` returns.
    rules: those of the table: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    More than 40,000 battles are refused.

    Source: the heat map of "Analyzing the Board Game Risk" (pracpred), and Höhle's coloured table.
    """
    expect(chances, np.ndarray, "chances")
    if chances.ndim != 2 or not chances.size:
        raise MalformedError(f"chances must be a table, got an array of shape {chances.shape}")
    if chances.size > MOST_CELLS:
        raise TooLargeError(
            f"a map of chances must have at most {MOST_CELLS} battles, "
            f"got {chances.shape[0]} by {chances.shape[1]}"
        )
    found = find_rules(rules)
    base = _cells(ATTACKERS if found.garrison else ABLE)
    count, most = chances.shape[0], max(chances.shape)
    # Each cell covers a pixel of its neighbours, so that no paper shows between them.
    size = alt.RelativeBandSize(1 + 2 * most / SIDE)
    colour = alt.Color(
        "win_probability:Q",
        title="chance to win",
        scale=alt.Scale(domain=[0, 0.5, 1], range="diverging", interpolate="lab"),
        legend=alt.Legend(format="%", gradientLength=200, values=[0, 0.25, 0.5, 0.75, 1]),
    )
    layers = [base.mark_rect(width=size, height=size).encode(color=colour)]
    if most <= MOST_VALUES:
        layers.append(_values(base))
    return finish(
        alt.layer(*layers).properties(height=count * max(round(SIDE / count), 1)),
        _map_title(chances),
        f"Chance to win each battle, in per cent, fought to the end ({under_rules(found, label)}).",
        {
            "battles": [
                {"attackers": a, "defenders": d, "win_probability": chance}
                for a, row in enumerate(chances.astype(float).tolist(), start=1)
                for d, chance in enumerate(row, start=1)
            ]
        },
    )


def _cells(attackers: str) -> alt.Chart:
    """Return the chart of all battles before anything is drawn; attackers is their axis's title."""
    scale = alt.Scale(round=False)
    return alt.Chart(named("battles")).encode(
        x=alt.X("defenders:O", axis=alt.Axis(labelAngle=0, domain=False), scale=scale).title(
            "defenders"
        ),
        y=alt.Y("attackers:O", axis=alt.Axis(domain=False), scale=scale, sort="descending").title(
            attackers
        ),
        tooltip=["attackers:O", "defenders:O", exactly("win_probability", "chance to win")],
    )


def _values(base: alt.Chart) -> alt.Chart:
    """Return the chances as numbers, hidden where they would overlap."""
    room = alt.ExprRef(f"bandwidth('x') < {VALUE_ROOM} ? 0 : 1")
    size = alt.ExprRef("bandwidth('x') < 19 ? 8 : bandwidth('x') < 24 ? 9 : 11")
    text: alt.Chart = (
        base.transform_calculate(per_cent=ROUNDED)
        .mark_text(fontSize=size, opacity=room)
        .encode(text="per_cent:N")
    )
    return text


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


@chart(command="break-even", attackers=Option("50", least=1), defenders=Option("50", least=2))
def break_even(
    attackers: int, defenders: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return where the attackers are favourites, and the straight line nearest to that border.

    attackers: the most attackers, garrison included.
    defenders: the most defenders, at least 2.
    rules: `Rules`, or the name of a rule set; without a garrison, attackers are those able to
        attack.
    label: what the rules are called, if they have no name of their own.

    The same is refused as by `break_even_line`, and more than 1000 armies.

    Source: Höhle's picture of the table of 50 by 50, and its regression.
    """
    most = whole_number(attackers, "attackers", least=1, most=MOST_ARMIES)
    against = whole_number(defenders, "defenders", least=2, most=MOST_ARMIES)
    found = find_rules(rules)
    line = break_even_line(against, found)
    rows = [
        {"defenders": d, "attackers": fewest, "line": line.intercept + line.slope * d}
        for d, fewest in enumerate(line.attackers, start=1)
    ]
    more = "more" if line.intercept >= 0 else "fewer"
    return finish(
        alt.layer(*_region(most, against)),
        f"An even fight takes about {line.slope:.2f} attackers for each defender, and "
        f"{abs(line.intercept):.1f} {more}.",
        "The battles that the attackers win at least half of the time, and the line "
        f"{line.intercept:.4f} + {line.slope:.4f} per defender, by least squares "
        f"({under_rules(found, label)}).",
        {"border": rows},
    )


def _region(most: int, against: int) -> list[alt.Chart]:
    """Return the region of favourites, its line, and the line of equal numbers, in one legend."""
    rim = most + 0.5
    base = alt.Chart(named("border")).encode(
        x=alt.X(
            "defenders:Q",
            title="defenders",
            axis=alt.Axis(format=",d"),
            scale=alt.Scale(domain=[1, against], nice=False),
        )
    )
    region = base.transform_calculate(
        low=f"min(datum.attackers - 0.5, {rim})", high=f"{rim}", kind=f"'{REGION}'"
    ).encode(
        y=alt.Y(
            "low:Q",
            title=ATTACKERS,
            axis=alt.Axis(format=",d"),
            scale=alt.Scale(domain=[0.5, rim], nice=False),
        ),
        y2="high:Q",
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=[REGION, LINE, EQUAL], range=[GREEN, BLUE, GREY]),
            title=None,
            legend=alt.Legend(symbolOpacity=1, symbolType="square"),
        ),
    )

    def inside(column: str) -> alt.Chart:
        # Rows outside the plot are filtered out: clipping takes longer than drawing the rest.
        return base.transform_filter(f"datum.{column} >= 0.5 && datum.{column} <= {rim}")

    tooltip = [
        alt.Tooltip("defenders:Q"),
        alt.Tooltip("attackers:Q", title="fewest attackers"),
        exactly("line", LINE),
    ]
    return [
        region.mark_area(opacity=0.5, interpolate="step"),
        inside("defenders")
        .mark_line(strokeDash=[5, 4])
        .encode(y="defenders:Q", color=alt.datum(EQUAL)),
        inside("line").mark_line().encode(y="line:Q", color=alt.datum(LINE)),
        inside("attackers").mark_point(size=60, opacity=0).encode(y="attackers:Q", tooltip=tooltip),
    ]
