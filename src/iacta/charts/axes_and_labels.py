"""Parts of charts: axes, colours with their legend, tooltips, lines across and chances as texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from iacta.charts.vega import Row, View, field, rows_of

WHOLE = "datum.value % 1 ? '' : datum.label"  # labels an axis at whole numbers only
COUNT = "datum.value % 1 || datum.value < 0 ? '' : datum.label"  # and never below 0
WITHOUT_SIGN = "datum.value % 1 ? '' : format(abs(datum.value), ',d')"
MOST_LABELS = 15  # of an axis
ATTACKERS = "attackers, garrison included"


def mapped(looks: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a scale that gives each value its look."""
    return {"domain": list(looks), "range": list(looks.values())}


def categories(
    column: str,
    colours: Mapping[Any, str],
    rows: Iterable[Row] | None = None,
    title: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the colours of a column's values, with their legend.

    column: the column.
    colours: the colour of each value.
    rows: the rows; values that do not occur in them are left out. `None` keeps all.
    title: the title of the legend.
    more: as for `field`.
    """
    known = {
        value: colour
        for value, colour in colours.items()
        if rows is None or any(row[column] == value for row in rows)
    }
    return field(f"{column}:N", title=title, scale=mapped(known), **more)


def axis(
    column: str, title: str | None, scale: Mapping[str, Any] | None = None, **look: Any
) -> dict[str, Any]:
    """Return a column along an axis, with the axis's title, its scale and its look."""
    return field(
        column,
        title=title,
        **({"axis": look} if look else {}),
        **({"scale": scale} if scale else {}),
    )


def row_axis(
    column: str, rows: Iterable[Row], title: str | None = None, **look: Any
) -> dict[str, Any]:
    """Return the names in a column along an axis, in the order of the rows."""
    names = list(dict.fromkeys(row[column] for row in rows))
    return {**axis(f"{column}:N", title, **look), "sort": names}


def whole_axis(numbers: Iterable[int]) -> dict[str, Any]:
    """Return the look of an axis labelled at whole numbers, of those given and between."""
    shown = list(numbers)
    step = -(-(max(shown) - min(shown) + 1) // MOST_LABELS)
    return {"format": "d", "values": list(range(min(shown), max(shown) + 1, step))}


def exactly(column: str, title: str = "") -> dict[str, Any]:
    """Return the part of a tooltip that shows a column with all its digits."""
    return field(f"{column}:Q", format=".16~g", **({"title": title} if title else {}))


def level(table: str, channel: Literal["x", "y"], at: float, **look: Any) -> View:
    """Return a line across the plot at a value of an axis."""
    value = {"datum": at, "type": "quantitative"}
    rule = rows_of(table).mark("rule", **look)
    return rule.encode(x=value) if channel == "x" else rule.encode(y=value)


def percent_label(field: str, digits: int = 0) -> str:
    """Return the Vega expression of a chance beside its mark, which `percent` would round so.

    field: what the chance is called in the data.
    digits: how many after the point.

    >>> percent_label("chance")
    "datum.chance > 0 && datum.chance <= 0.005 ? '< 1%' : \
datum.chance < 1 && datum.chance >= 0.995 ? '> 99%' : format(datum.chance, '.0%')"
    """
    value, least = f"datum.{field}", 10.0**-digits
    half = f"{least / 200:.{digits + 3}f}"
    most = f"{1 - least / 200:.{digits + 3}f}"
    return (
        f"{value} > 0 && {value} <= {half} ? '< {least:.{digits}f}%' : "
        f"{value} < 1 && {value} >= {most} ? '> {100 - least:.{digits}f}%' : "
        f"format({value}, '.{digits}%')"
    )


def chance_texts(base: View, **look: Any) -> View:
    """Return the probabilities of a table as texts beside their marks."""
    labelled = base.calculate(label=percent_label("probability"))
    return labelled.mark("text", **look).encode(text="label:N")
