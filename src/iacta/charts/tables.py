"""Pictures of tables of chances."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from iacta.charts.curves import CHANCE, MOST_ARMIES
from iacta.charts.lines import Axis, Lines, draw_lines, read_lines
from iacta.charts.theme import BLUE, GREEN, GREY, AnyChart, Row, expect, finish, named
from iacta.charts.words import armies, joined, under_rules
from iacta.checks import whole_number
from iacta.errors import MalformedError, TooLargeError
from iacta.questions.armies_needed import armies_needed
from iacta.questions.arrays import win_probability
from iacta.questions.break_even import BreakEvenLine, break_even_line
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["break_even", "slices", "win_chance_map"]

MOST_VALUES = 20  # more numbers on a side than these cannot be read
MOST_CELLS = 40_000
SIDE = 600  # as wide as a plot: cells that are whole pixels are drawn in less time
EVEN = Fraction(1, 2)
VALUE_ROOM = 14  # pixels that a number of three small digits takes

ATTACKERS = "attackers, garrison included"
ABLE = "attackers able to attack"  # without a garrison


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
    _refuse_unlike_a_map(chances)
    found = find_rules(rules)
    base = _cells(ATTACKERS if found.garrison else ABLE)
    count, most = chances.shape[0], max(chances.shape)
    layers = [_squares(base, most)]
    if most <= MOST_VALUES:
        layers.append(_values(base))
    return finish(
        alt.layer(*layers).properties(height=count * max(round(SIDE / count), 1)),
        _map_title(chances),
        "Chance to win each battle in per cent, by a fight to the end "
        f"({under_rules(label or rules_name(found), found.garrison)}).",
        {"battles": _battles(chances)},
    )


def _refuse_unlike_a_map(chances: npt.NDArray[Any]) -> None:
    """Refuse what is no table, and one that is too large to be drawn."""
    expect(chances, np.ndarray, "chances")
    if chances.ndim != 2 or not chances.size:
        raise MalformedError(f"chances must be a table, got an array of shape {chances.shape}")
    if chances.size > MOST_CELLS:
        raise TooLargeError(
            f"a map of chances must have at most {MOST_CELLS} battles, "
            f"got {chances.shape[0]} by {chances.shape[1]}"
        )


def _battles(chances: npt.NDArray[Any]) -> list[Row]:
    return [
        {"attackers": a, "defenders": d, "win_probability": chance}
        for a, row in enumerate(chances.astype(float).tolist(), start=1)
        for d, chance in enumerate(row, start=1)
    ]


def _cells(attackers: str) -> alt.Chart:
    """Return the chart of all battles, with nothing drawn yet; the attackers have this title."""
    scale = alt.Scale(round=False)
    x = alt.X(
        "defenders:O",
        title="defenders",
        axis=alt.Axis(labelAngle=0, domain=False),
        scale=scale,
    )
    y = alt.Y(
        "attackers:O",
        title=attackers,
        sort="descending",
        axis=alt.Axis(domain=False),
        scale=scale,
    )
    tooltip: list[str | alt.Tooltip] = [
        "attackers:O",
        "defenders:O",
        alt.Tooltip("win_probability:Q", title="chance to win", format=".16~g"),
    ]
    return alt.Chart(named("battles")).encode(x=x, y=y, tooltip=tooltip)


def _squares(base: alt.Chart, count: int) -> alt.Chart:
    """Return the cells; each covers a pixel of its neighbours, so that no paper shows between."""
    size = alt.RelativeBandSize(1 + 2 * count / SIDE)
    squares: alt.Chart = base.mark_rect(width=size, height=size).encode(color=_map_colour())
    return squares


def _map_colour() -> alt.Color:
    return alt.Color(
        "win_probability:Q",
        title="chance to win",
        scale=alt.Scale(domain=[0, 0.5, 1], range="diverging", interpolate="lab"),
        legend=alt.Legend(format="%", gradientLength=200, values=[0, 0.25, 0.5, 0.75, 1]),
    )


def _values(base: alt.Chart) -> alt.Chart:
    """Return the chances as numbers, which are left out where they would overlap."""
    room = alt.ExprRef(f"bandwidth('x') < {VALUE_ROOM} ? 0 : 1")
    size = alt.ExprRef("bandwidth('x') < 19 ? 8 : bandwidth('x') < 24 ? 9 : 11")
    text: alt.Chart = (
        base.transform_calculate(per_cent="format(100 * datum.win_probability, '.0f')")
        .mark_text(fontSize=size, opacity=room)
        .encode(text="per_cent:N")
    )
    return text


def _map_title(chances: npt.NDArray[Any]) -> str:
    """Return from where on the attackers are favourites with equal numbers, or how often in all."""
    ahead = (chances.diagonal() > EVEN).tolist()
    if not any(ahead):
        return f"With equal numbers, up to {armies(len(ahead))}, the defenders are not worse off."
    first = len(ahead) - ahead[::-1].index(False) if False in ahead else 0
    if first == len(ahead):
        count = int((chances > EVEN).sum())
        return f"The attackers are the favourites in {count} of {chances.size} battles."
    least = f"{first + 1} to " if first + 1 < len(ahead) else ""
    return f"With {least}{armies(len(ahead))} on each side you are the favourite."


def break_even(
    attackers: int, defenders: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return where the attackers are favourites, with the straight line nearest to its border.

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
        f"The battles that the attackers win at least half of the time, and the line "
        f"{_equation(line)} ({under_rules(label or rules_name(found), found.garrison)}).",
        {"border": rows},
    )


def _equation(line: BreakEvenLine) -> str:
    return f"{line.intercept:.4f} + {line.slope:.4f} per defender, by least squares"


REGION, BORDER, EQUAL = "favourites", "nearest line", "equal numbers"


def _region(most: int, against: int) -> list[alt.Chart]:
    """Return the region, its line, and the line of equal numbers, in one legend."""
    base = _border(against)
    rim = most + 0.5
    return [
        _area(base, rim),
        _inside(base, "defenders", rim)
        .mark_line(strokeDash=[5, 4])
        .encode(y="defenders:Q", color=alt.datum(EQUAL)),
        _inside(base, "line", rim).mark_line().encode(y="line:Q", color=alt.datum(BORDER)),
        _inside(base, "attackers", rim)
        .mark_point(size=60, opacity=0)
        .encode(y="attackers:Q", tooltip=_border_tooltip()),
    ]


def _border(against: int) -> alt.Chart:
    """Return the chart of the border, with nothing drawn yet."""
    x = alt.X(
        "defenders:Q",
        title="defenders",
        axis=alt.Axis(format=",d"),
        scale=alt.Scale(domain=[1, against], nice=False),
    )
    return alt.Chart(named("border")).encode(x=x)


def _border_tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("defenders:Q"),
        alt.Tooltip("attackers:Q", title="fewest attackers"),
        alt.Tooltip("line:Q", title=BORDER, format=".16~g"),
    ]


def _area(base: alt.Chart, rim: float) -> alt.Chart:
    """Return the region, with the axis and the legend of all."""
    y = alt.Y(
        "low:Q",
        title=ATTACKERS,
        axis=alt.Axis(format=",d"),
        scale=alt.Scale(domain=[0.5, rim], nice=False),
    )
    scale = alt.Scale(domain=[REGION, BORDER, EQUAL], range=[GREEN, BLUE, GREY])
    legend = alt.Legend(symbolOpacity=1, symbolType="square")
    colour = alt.Color("kind:N", scale=scale, title=None, legend=legend)
    area: alt.Chart = (
        base.transform_calculate(
            low=f"min(datum.attackers - 0.5, {rim})", high=f"{rim}", kind=f"'{REGION}'"
        )
        .mark_area(opacity=0.5, interpolate="step")
        .encode(y=y, y2="high:Q", color=colour)
    )
    return area


def _inside(base: alt.Chart, column: str, rim: float) -> alt.Chart:
    """Return the chart of the rows of which a column lies in the picture."""
    # What lies outside is left out here: to clip the picture takes longer than to draw it.
    chart: alt.Chart = base.transform_filter(f"datum.{column} >= 0.5 && datum.{column} <= {rim}")
    return chart


def slices(
    defenders: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return the chance to win by attackers for some defenders, the first favourites marked.

    defenders: armies on the defended territory, a curve for each.
    attackers: the most attackers, garrison included.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    Refused are more than 20 numbers of defenders, more than 1000 attackers, and rules under which
    no number of attackers has an even chance.

    Source: Höhle's slices of the table at 15, 25 and 35 defenders.
    """
    most = whole_number(attackers, "attackers", least=1, most=MOST_ARMIES)
    defended = read_lines(defenders, "defenders", least=1)[::-1]
    found = find_rules(rules)
    needed = armies_needed(defended, EVEN, found).tolist()
    rows = _slice_rows(defended, np.arange(1, most + 1), needed, found)
    lines = Lines(
        Axis("attackers", ATTACKERS, 0, most),
        CHANCE,
        "defenders",
        "defenders",
        defended,
        [str(d) for d in defended],
    )
    return finish(
        alt.layer(*_marks(), draw_lines(lines, "slices", rows)),
        _slices_title(dict(zip(defended[::-1], needed[::-1], strict=True)), most),
        "Chance to win, by the attackers; at the end of each line, how many defenders there are, "
        "and beside each dot the fewest attackers with an even chance "
        f"({under_rules(label or rules_name(found), found.garrison)}).",
        {"slices": rows},
    )


def _slices_title(needed: dict[int, int], most: int) -> str:
    """Return the fewest favourites, of those in the picture, and against whom there are none."""
    inside = {d: fewest for d, fewest in needed.items() if fewest <= most}
    outside = [f"{d:,}" for d in needed if d not in inside]
    few = ""
    if outside:
        few = f"{most:,} {'is' if most == 1 else 'are'} too few against {joined(outside)}"
    if not inside:
        noun = "defender" if outside == ["1"] else "defenders"
        return f"To be favourites, {few} {noun}."
    fewest = joined([f"{each:,}" for each in inside.values()])
    against = joined([f"{d:,}" for d in inside])
    verb = "attacker is" if fewest == "1" else "attackers are"
    noun = "defender" if against == "1" else "defenders"
    title = f"{fewest} {verb} enough to be favourites against {against} {noun}"
    return f"{title}; {few}." if few else f"{title}."


def _slice_rows(
    defended: Sequence[int], count: npt.NDArray[np.int64], needed: Sequence[int], rules: Rules
) -> list[Row]:
    return [
        {"attackers": a, "defenders": d, "win_probability": chance, "is_fewest": a == fewest}
        for d, fewest in zip(defended, needed, strict=True)
        for a, chance in zip(count.tolist(), win_probability(count, d, rules).tolist(), strict=True)
    ]


def _marks() -> list[alt.Chart]:
    """Return the fewest favourites of each curve, each with a line down to the axis."""
    marked = alt.Chart(named("slices")).transform_filter("datum.is_fewest")
    even = (
        alt.Chart(named("slices"))
        .mark_rule(color=GREY, strokeDash=[2, 4])
        .encode(y=alt.datum(0.5, type="quantitative"))
    )
    return [
        even,
        marked.mark_rule(strokeDash=[4, 3]).encode(
            x="attackers:Q", y="win_probability:Q", y2=alt.datum(0), color="defenders:O"
        ),
        marked.mark_point(filled=True, size=50, opacity=1).encode(
            x="attackers:Q", y="win_probability:Q", color="defenders:O"
        ),
        marked.mark_text(align="left", dx=6, dy=12).encode(
            x="attackers:Q",
            y=alt.datum(0.5, type="quantitative"),
            text="attackers:Q",
            color="defenders:O",
        ),
    ]
