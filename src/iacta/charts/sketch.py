"""The part of Altair with which our charts are made, for commands, which need no more than a file.

Importing Altair takes longer than computing most answers. This stand-in writes the same Vega-Lite
at once: the tests compare what both make of every chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Sketch", "sketches"]

TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal", "T": "temporal"}
UNTYPED = ("x2", "y2", "latitude2", "longitude2")
GROUPS = ("layer", "vconcat", "concat")


class Undefined:
    """What an argument is that was not given."""


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not Undefined}


def _parsed(shorthand: str, *, is_typed: bool = True) -> dict[str, str]:
    name, _, letter = shorthand.rpartition(":")
    if not name:
        return {"field": shorthand}
    return {"field": name, "type": TYPES[letter]} if is_typed else {"field": name}


class Channel(dict[str, Any]):
    """What a channel of an encoding shows."""

    def __init__(self, shorthand: str = "", **more: Any) -> None:
        super().__init__(_parsed(shorthand) if shorthand else {}, **_given(more))

    def __getattr__(self, name: str) -> Callable[..., Channel]:
        if name.startswith("_"):
            raise AttributeError(name)

        def changed(value: Any = Undefined, **more: Any) -> Channel:
            channel = Channel()
            channel.update(self, **{name: _given(more) if value is Undefined else value})
            return channel

        return changed


class Sketch:
    """A chart: the parts of a Vega-Lite specification."""

    def __init__(self, data: Any = Undefined, **parts: Any) -> None:
        self._parts: dict[str, Any] = _given({"data": data, **parts})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("mark_"):
            return lambda **look: self._with(mark={"type": name[5:], **_given(look)})
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(name)
        return self._parts[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_parts":
            super().__setattr__(name, value)
        else:
            self._parts[name] = value

    def _with(self, **parts: Any) -> Sketch:
        return Sketch(**{**self._parts, **parts})

    def copy(self, deep: bool = True) -> Sketch:
        return self._with()

    def encode(self, **channels: Any) -> Sketch:
        read = {name: _channel(name, value) for name, value in channels.items()}
        return self._with(encoding={**self._parts.get("encoding", {}), **read})

    def properties(self, **parts: Any) -> Sketch:
        return self._with(**_given(parts))

    def project(self, **projection: Any) -> Sketch:
        return self._with(projection=projection)

    def resolve_scale(self, **scales: str) -> Sketch:
        return self._with(resolve={"scale": scales})

    def transform_calculate(self, **columns: str) -> Sketch:
        return self._transformed({"calculate": how, "as": name} for name, how in columns.items())

    def transform_filter(self, condition: str) -> Sketch:
        return self._transformed([{"filter": condition}])

    def _transformed(self, steps: Any) -> Sketch:
        return self._with(transform=[*self._parts.get("transform", []), *steps])

    def to_dict(self, *, validate: bool = False) -> dict[str, Any]:
        parts = _given(self._parts)
        for group in GROUPS:
            if group in parts:
                parts[group] = [each.to_dict() for each in parts[group]]
        return parts


def _channel(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return _parsed(value, is_typed=name not in UNTYPED)
    if isinstance(value, list):
        return [_channel(name, each) for each in value]
    return value


def _group(name: str) -> Callable[..., Sketch]:
    """Return a function that puts charts together; the data that all share are those of the whole.

    name: one of `GROUPS`.
    """

    def put_together(*charts: Sketch, **parts: Any) -> Sketch:
        data = [chart._parts.get("data", Undefined) for chart in charts]
        if data[0] is Undefined or not all(each is data[0] for each in data):
            return Sketch(**{name: list(charts)}, **parts)
        bare = [chart._with(data=Undefined) for chart in charts]
        return Sketch(data[0], **{name: bare}, **parts)

    return put_together


def _named_first(name: str) -> Callable[..., dict[str, Any]]:
    return lambda value, **more: _given({name: value, **more})


def _record(**parts: Any) -> dict[str, Any]:
    return _given(parts)


class _Sketches:
    """What charts take from Altair, by the same names."""

    Undefined = Undefined
    Chart = Sketch
    layer, vconcat, concat = map(staticmethod, map(_group, GROUPS))
    Angle = Color = Fill = Opacity = Order = Shape = Size = Text = Tooltip = X = Y = Channel
    Axis = InlineData = Legend = Scale = ViewBackground = staticmethod(_record)
    ExprRef, NamedData, RelativeBandSize, TitleParams, datum, value = map(
        staticmethod,
        map(_named_first, ("expr", "name", "band", "text", "datum", "value")),
    )


sketches = _Sketches()
