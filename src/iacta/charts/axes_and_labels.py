"""Parts of charts: axes, legends, tooltips, reference lines and labels for chances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from iacta.charts.vega import Row, View, field, table_view

# Vega expressions for the labels of an axis:
INTEGER_LABELS = "datum.value % 1 ? '' : datum.label"  # only whole numbers
COUNT_LABELS = (
    "datum.value % 1 || datum.value < 0 ? '' : datum.label"  # no fractions, no negative numbers
)
UNSIGNED_LABELS = "datum.value % 1 ? '' : format(abs(datum.value), ',d')"  # no minus signs
MAX_LABELS = 15  # maximum number of labels on an axis
ATTACKERS = "attackers, garrison included"


def value_scale(properties: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a scale that maps values to colours, shapes or other properties."""
    return {"domain": list(properties), "range": list(properties.values())}


def categories(
    column: str,
    colours: Mapping[Any, str],
    rows: Iterable[Row] | None = None,
    title: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a colour channel with a legend.

    column: the column that decides the colour.
    colours: a colour for each value.
    rows: leave out values that do not occur in these rows; `None` keeps all values.
    title: the title of the legend.
    more: further properties, as in `field`.
    """
    used = {
        value: colour
        for value, colour in colours.items()
        if rows is None or any(row[column] == value for row in rows)
    }
    if not used:  # Vega draws an empty legend with infinite sizes
        more["legend"] = None
    return field(f"{column}:N", title=title, scale=value_scale(used), **more)


def axis(
    column: str, title: str | None, scale: Mapping[str, Any] | None = None, **look: Any
) -> dict[str, Any]:
    """Return an axis channel with a title, a scale and further properties."""
    return field(
        column,
        title=title,
        **({"axis": look} if look else {}),
        **({"scale": scale} if scale else {}),
    )


def row_axis(
    column: str, rows: Iterable[Row], title: str | None = None, **look: Any
) -> dict[str, Any]:
    """Return an axis channel for names, listed in the order of the rows."""
    names = list(dict.fromkeys(row[column] for row in rows))
    return {**axis(f"{column}:N", title, **look), "sort": names}


def whole_axis(numbers: Iterable[int]) -> dict[str, Any]:
    """Return the properties of an axis with labels at whole numbers only."""
    shown = list(numbers)
    step = -(-(max(shown) - min(shown) + 1) // MAX_LABELS)
    return {"format": "d", "values": list(range(min(shown), max(shown) + 1, step))}


def exact_field(column: str, title: str = "") -> dict[str, Any]:
    """Return a tooltip field that shows a column with all digits."""
    return field(f"{column}:Q", format=".16~g", **({"title": title} if title else {}))


def draw_level(table: str, channel: Literal["x", "y"], at: float, **look: Any) -> View:
    """Return a line across the plot at a given value.

    channel: the axis with the value: `"x"` or `"y"`.
    at: the value.
    """
    value = {"datum": at, "type": "quantitative"}
    rule = table_view(table).mark("rule", **look)
    return rule.encode(x=value) if channel == "x" else rule.encode(y=value)


def format_percent(field: str, digits: int = 0) -> str:
    """Return a Vega expression that formats a chance as `percent` does.

    field: the column that contains the chance.
    digits: the number of decimal places.

    >>> format_percent("chance")
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


def draw_chance_labels(base: View, **look: Any) -> View:
    """Return labels that show the column `probability` of a table."""
    labelled = base.calculate(label=format_percent("probability"))
    return labelled.mark("text", **look).encode(text="label:N")
