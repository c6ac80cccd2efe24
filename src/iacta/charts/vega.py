"""A small builder for Vega-Lite specifications.

A `View` is a specification, or a part of one: a mark with its encoding, or several views in layers
or side by side. Properties have the names and values of the Vega-Lite documentation. The tests
validate every chart against the schema of Vega-Lite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

Mark: TypeAlias = Literal["area", "bar", "geoshape", "line", "point", "rect", "rule", "text"]
Channel: TypeAlias = str | Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]
Tables: TypeAlias = Mapping[str, Sequence[Row]]
TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


class Channels(TypedDict, total=False):
    """The encoding of a mark: for each channel a column name, as in `field`, or a definition."""

    x: Channel
    x2: Channel
    y: Channel
    y2: Channel
    longitude: Channel
    longitude2: Channel
    latitude: Channel
    latitude2: Channel
    angle: Channel
    color: Channel
    detail: Channel
    fill: Channel
    opacity: Channel
    order: Channel
    shape: Channel
    size: Channel
    stroke: Channel
    text: Channel
    tooltip: Sequence[Channel]


class View(dict[str, Any]):
    """A specification or a part of one. Each method returns an extended copy."""

    def mark(self, kind: Mark, **look: Any) -> View:
        return self.properties(mark={"type": kind, **look})

    def encode(self, **channels: Unpack[Channels]) -> View:
        shown = {name: _read_channel(value) for name, value in channels.items()}
        return self.properties(encoding={**self.get("encoding", {}), **shown})

    def filter(self, condition: str) -> View:
        """Keep only rows for which a Vega expression is true."""
        return self._add_transforms({"filter": condition})

    def calculate(self, **columns: str) -> View:
        """Add columns defined by Vega expressions."""
        return self._add_transforms(
            *({"calculate": how, "as": name} for name, how in columns.items())
        )

    def independent(self, *channels: str) -> View:
        """Give each of several combined views its own scales and legends."""
        return self.properties(resolve={"scale": dict.fromkeys(channels, "independent")})

    def properties(self, **parts: Any) -> View:
        return View(self, **parts)

    def _add_transforms(self, *steps: Mapping[str, str]) -> View:
        return self.properties(transform=[*self.get("transform", []), *steps])


def field(column: str, **more: Any) -> dict[str, Any]:
    """Return the definition of a channel that shows a column.

    column: the name of the column with a letter for its type, such as `"runs:Q"`: Q for
        quantitative, N for nominal, O for ordinal. The second end of an interval has no type.
    more: further properties of the channel.

    >>> field("runs:Q", title="games")
    {'field': 'runs', 'type': 'quantitative', 'title': 'games'}
    """
    name, _, letter = column.partition(":")
    return {"field": name, **({"type": TYPES[letter]} if letter else {}), **more}


def _read_channel(value: object) -> object:
    """Convert column names to channel definitions."""
    if isinstance(value, list):
        return [_read_channel(entry) for entry in value]
    return field(value) if isinstance(value, str) else value


def table_view(table: str, where: str = "", **columns: str) -> View:
    """Return a view of one of the chart's tables, without a mark.

    table: the name of the table.
    where: a Vega expression that selects rows; empty for all rows.
    columns: additional columns, defined by Vega expressions.
    """
    rows = View(data={"name": table})
    if where:
        rows = rows.filter(where)
    return rows.calculate(**columns) if columns else rows


def layer(*views: View, **parts: Any) -> View:
    """Stack views in layers."""
    return View(layer=list(views), **parts)


def vconcat(*views: View, **parts: Any) -> View:
    """Arrange views from top to bottom."""
    return View(vconcat=list(views), **parts)
