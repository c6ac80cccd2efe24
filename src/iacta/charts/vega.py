"""Vega-Lite specifications, written part by part in Vega-Lite's own words.

A `View` is a specification or a part of one: a mark with its encoding, or views in layers or beside
each other. Properties have the names and values that Vega-Lite's documentation gives them; the
tests hold every chart to Vega-Lite's schema.
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
    """What marks show: of each channel the column, as `field` reads it, or more of it."""

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
    text: Channel
    tooltip: Sequence[Channel]


class View(dict[str, Any]):
    """A specification or a part of one; each method returns another with more in it."""

    def mark(self, kind: Mark, **look: Any) -> View:
        return self.properties(mark={"type": kind, **look})

    def encode(self, **channels: Unpack[Channels]) -> View:
        shown = {name: _read(value) for name, value in channels.items()}
        return self.properties(encoding={**self.get("encoding", {}), **shown})

    def filter(self, condition: str) -> View:
        """Leave out the rows for which a Vega expression is false."""
        return self._transformed({"filter": condition})

    def calculate(self, **columns: str) -> View:
        """Add columns, each given as a Vega expression."""
        return self._transformed(*({"calculate": how, "as": name} for name, how in columns.items()))

    def independent(self, *channels: str) -> View:
        """Let each part have its own scales, and so its own legends."""
        return self.properties(resolve={"scale": dict.fromkeys(channels, "independent")})

    def properties(self, **parts: Any) -> View:
        return View(self, **parts)

    def _transformed(self, *steps: Mapping[str, str]) -> View:
        return self.properties(transform=[*self.get("transform", []), *steps])


def field(column: str, **more: Any) -> dict[str, Any]:
    """Return a channel that shows a column.

    column: its name, with a letter for its type: `"runs:Q"` is quantitative, N nominal, O ordinal.
        The second end of an interval has none: it has the type of the first.
    more: properties of the channel.

    >>> field("runs:Q", title="games")
    {'field': 'runs', 'type': 'quantitative', 'title': 'games'}
    """
    name, _, letter = column.partition(":")
    return {"field": name, **({"type": TYPES[letter]} if letter else {}), **more}


def _read(value: object) -> object:
    """Return a channel, or those of a tooltip, with each column that is given by its name alone."""
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    return field(value) if isinstance(value, str) else value


def rows_of(table: str, where: str = "", **columns: str) -> View:
    """Return a view of one of the tables of a chart, yet without a mark.

    table: its name.
    where: which of its rows are meant, as a Vega expression; empty for all.
    columns: more columns, as Vega expressions.
    """
    rows = View(data={"name": table})
    if where:
        rows = rows.filter(where)
    return rows.calculate(**columns) if columns else rows


def layer(*views: View, **parts: Any) -> View:
    """Return views drawn over each other."""
    return View(layer=list(views), **parts)


def vconcat(*views: View, **parts: Any) -> View:
    """Return views below each other."""
    return View(vconcat=list(views), **parts)
