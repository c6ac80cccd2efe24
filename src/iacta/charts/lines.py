"""Many lines in one picture, each with its label at its end."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from iacta.charts.theme import HEIGHT, AnyChart, Row, named, shades
from iacta.checks import row_of, shown, whole_number
from iacta.errors import IllegalError

__all__ = ["Axis", "Lines", "draw_lines", "read_lines"]

LABEL_HEIGHT = 12  # pixels from one label to the next
WHOLE = "whole numbers"
MOST_LINES = 20  # more cannot be told apart
FEW_LINES = 10  # more are drawn thinner
LEADER = 9  # pixels from the end of a line to its label
MOST_SPOTS = 1_500  # more would make the picture slow


@dataclass(frozen=True)
class Axis:
    """One of two axes.

    column: what it shows.
    title: what that is called, with its unit.
    least, most: its ends.
    format: how its numbers are written.
    """

    column: str
    title: str
    least: float
    most: float
    format: str = ",d"


@dataclass(frozen=True)
class Lines:
    """Lines over the same numbers.

    x, y: the axes.
    column: what differs from line to line.
    title: what that is called.
    values: its values, from what is worst for the attackers to what is best.
    labels: what each line is called, at its end.
    """

    x: Axis
    y: Axis
    column: str
    title: str
    values: Sequence[float]
    labels: Sequence[str]


def read_lines(
    values: object, name: str, least: int | None = None, most: int | None = None
) -> list[int]:
    """Return the whole numbers for which lines are drawn, in order, each once, or refuse them.

    values: at least one and at most 20.
    name: what they are called.
    least, most: their ends, if they have any.
    """
    numbers = sorted({whole_number(v, name, -(10**9), 10**9) for v in row_of(values, name, WHOLE)})
    if not 1 <= len(numbers) <= MOST_LINES:
        raise IllegalError(f"{name} must be 1 to {MOST_LINES} numbers, got {len(numbers)}")
    for end in (numbers[0], numbers[-1]):
        if (least is not None and end < least) or (most is not None and end > most):
            span = f"at least {least}" if least is not None else f"at most {most}"
            raise IllegalError(f"{name} must be {span} to have a line, got {shown(end)}")
    return numbers


def draw_lines(lines: Lines, table: str, rows: Sequence[Row], where: str = "true") -> AnyChart:
    """Return the lines with their labels, still without a title.

    lines: how they are drawn.
    table: the name of the rows.
    rows: a row for each point of each line.
    where: which rows of the table are meant, as a Vega expression.
    """
    base = alt.Chart(named(table)).encode(
        x=alt.X(**_axis(lines.x)),
        color=alt.Color(
            f"{lines.column}:O",
            scale=alt.Scale(domain=list(lines.values), range=shades(len(lines.values))),
            legend=None,
        ),
    )
    if where != "true":
        base = base.transform_filter(where)
    chance = base.encode(y=alt.Y(**_axis(lines.y)))
    layers = [
        chance.mark_line(strokeWidth=2 if len(lines.values) <= FEW_LINES else 1),
        *_labels(base, lines, rows),
    ]
    if len(rows) <= MOST_SPOTS:
        layers.append(chance.mark_point(size=60, opacity=0).encode(tooltip=_tooltip(lines)))
    return alt.layer(*layers)


def _axis(axis: Axis) -> dict[str, Any]:
    """Return what a channel is told of an axis."""
    return {
        "shorthand": f"{axis.column}:Q",
        "title": axis.title,
        "axis": alt.Axis(format=axis.format),
        "scale": alt.Scale(domain=[axis.least, axis.most], nice=False, zero=False),
    }


def _tooltip(lines: Lines) -> list[alt.Tooltip]:
    return [
        alt.Tooltip(f"{lines.column}:O", title=lines.title),
        alt.Tooltip(f"{lines.x.column}:Q", title=lines.x.title, format=".16~g"),
        alt.Tooltip(f"{lines.y.column}:Q", title=lines.y.title, format=".16~g"),
    ]


def _labels(base: alt.Chart, lines: Lines, rows: Sequence[Row]) -> list[alt.Chart]:
    """Return the labels at the right ends of the lines, moved so that none covers another."""
    last = max(row[lines.x.column] for row in rows)
    ends = {row[lines.column]: row[lines.y.column] for row in rows if row[lines.x.column] == last}
    shown = [value for value in lines.values if value in ends]
    gap = LABEL_HEIGHT * (lines.y.most - lines.y.least) / HEIGHT
    places = apart([ends[value] for value in shown], gap, lines.y.least, lines.y.most)
    labels = dict(zip(lines.values, lines.labels, strict=True))
    which = f"indexof({json.dumps(shown)}, datum['{lines.column}'])"
    placed = base.transform_filter(
        f"datum['{lines.x.column}'] == {last} && {which} >= 0"
    ).transform_calculate(
        place=f"{json.dumps(places)}[{which}]",
        label=f"{json.dumps([labels[value] for value in shown])}[{which}]",
    )
    text = placed.mark_text(align="left", dx=LEADER + 2, baseline="middle", fontSize=11)
    leader = placed.mark_rule(x2Offset=LEADER, strokeWidth=0.7)
    return [
        leader.encode(x2=lines.x.column, y=f"{lines.y.column}:Q", y2="place:Q"),
        text.encode(y="place:Q", text="label:N"),
    ]


def apart(places: Sequence[float], gap: float, least: float, most: float) -> list[float]:
    """Return places near those given, no two of which are nearer to each other than a gap.

    places: where the labels should stand.
    gap: the room that each needs.
    least, most: the ends of the room that there is for all.

    >>> apart([0.5, 0.5, 0.9], 0.1, 0, 1)
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    wanted = np.array(places, dtype=float)[order] - steps
    # Moved up at most as far as is needed, and down likewise; between the two is the fairest.
    up = np.maximum.accumulate(wanted)
    down = np.minimum.accumulate(wanted[::-1])[::-1]
    held = np.clip((up + down) / 2, least, max(most - steps[-1], least)) + steps
    moved = np.empty(len(places))
    moved[order] = held
    return [float(place) for place in moved.round(12)]
