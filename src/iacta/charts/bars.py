"""Laws of whole numbers as bars, few enough to be seen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import altair as alt

from iacta.charts.theme import AMBER, BLUE, RED, WHOLE, Row, named
from iacta.distribution import Probability

__all__ = ["HOLD", "STOP", "WIN", "Law", "Span", "histogram", "rows", "spans", "wide"]

# An end of a battle, and a number of armies.
Law: TypeAlias = Mapping[tuple[str, int], Probability]

WIN, HOLD, STOP = "you win", "they hold", "you stop"
COLOURS = {WIN: BLUE, HOLD: RED, STOP: AMBER}

MOST_BARS = 120  # more are no more than hairs
FEW_BARS = 40  # of no more, none is left out
RARE = 1e-4
PALE = 0.75


class Span(NamedTuple):
    """What one bar stands for.

    end: how it ends.
    least, most: the numbers of armies.
    """

    end: str
    least: int
    most: int


def spans(law: Law, most: int = MOST_BARS) -> dict[tuple[str, int], Span]:
    """Return the bar to which each outcome belongs.

    law: the chance of each outcome.
    most: how many bars there may be; of more, neighbours are joined. Where there are more than 40,
        those at either end are left out that together are rarer than 1 in 10,000.
    """
    numbers = sorted({number for _, number in law})
    if len(numbers) > FEW_BARS:
        numbers = _likely(numbers, law)
    width = -(-(numbers[-1] - numbers[0] + 1) // most)
    return {
        (end, number): Span(end, number // width * width, number // width * width + width - 1)
        for end, number in law
        if numbers[0] <= number <= numbers[-1]
    }


def _likely(numbers: Sequence[int], law: Law) -> list[int]:
    """Return the numbers but for those at both ends that together are rare."""
    chances = dict.fromkeys(numbers, 0.0)
    for (_, number), chance in law.items():
        chances[number] += float(chance)
    kept = list(numbers)
    for last in (0, -1):
        rare = chances[kept[last]]
        while rare < RARE:
            kept.pop(last)
            rare += chances[kept[last]]
    return kept


def rows(law: Law, bars: Mapping[tuple[str, int], Span] | None = None) -> list[Row]:
    """Return a row for each bar: `end`, `least` and `most` armies, and its `probability`.

    law: the chance of each outcome.
    bars: the bar of each outcome; `None` for those of `spans`.
    """
    bars = spans(law) if bars is None else bars
    sums: dict[Span, float] = {}
    for outcome in law:
        if outcome in bars:
            span = bars[outcome]
            sums[span] = sums.get(span, 0.0) + float(law[outcome])
    return [{**span._asdict(), "probability": chance} for span, chance in sums.items()]


def wide(told: Iterable[Row]) -> str:
    """Return what a bar stands for, as the title of its axis: one number of armies, or several.

    told: the rows of the bars.
    """
    width = max(row["most"] - row["least"] + 1 for row in told)
    return "chance" if width == 1 else f"chance of {width} numbers in a row"


def histogram(
    table: str,
    told: Sequence[Row],
    title: str | Sequence[str],
    colours: Mapping[str, str] = COLOURS,
    *,
    beneath: bool = False,
) -> Any:
    """Return bars as wide as the armies that they stand for, coloured by how it ends.

    table: the name of the table.
    told: its rows, those of `rows`.
    title: what the armies are, in one line or several.
    colours: the colour of each end.
    beneath: whether lines are to be laid over the bars; then these are pale, and each begins at 0.
    """
    ends = [end for end in colours if any(row["end"] == end for row in told)]
    return (
        alt.Chart(named(table))
        .transform_calculate(low="datum.least - 0.45", high="datum.most + 0.45")
        .mark_bar(binSpacing=0, opacity=PALE if beneath else 1)
        .encode(
            x=alt.X(
                "low:Q",
                bin="binned",
                title=title if isinstance(title, str) else list(title),
                axis=alt.Axis(format=",~d", tickMinStep=1, labelExpr=WHOLE),
            ),
            x2="high:Q",
            y=alt.Y(
                "probability:Q",
                title=wide(told),
                axis=alt.Axis(format="~%"),
                stack=None if beneath else "zero",
            ),
            color=alt.Color(
                "end:N",
                title=None,
                scale=alt.Scale(domain=ends, range=[colours[end] for end in ends]),
            ),
            tooltip=[
                alt.Tooltip("end:N"),
                alt.Tooltip("least:Q", title="from"),
                alt.Tooltip("most:Q", title="to"),
                alt.Tooltip("probability:Q", title="chance", format=".16~g"),
            ],
        )
    )
