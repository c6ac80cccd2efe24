"""Reprs for terminals and notebooks."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

MAX_REPR_LENGTH = 200  # the maximum number of characters; longer reprs are replaced by a summary


def import_upper_module(name: str) -> ModuleType:
    """Import a module of a higher layer, to display or draw a value.

    name: the name of the module within iacta. A test lists the permitted callers of this function.
    """
    return import_module(f"iacta.{name}")


class ChartLike(Protocol):
    """The interface of `iacta.charts.Chart`, declared here to avoid an import of the charts."""

    def save(self, file: str | Path, *, dark: bool = False) -> None: ...
    def to_csv(self) -> str: ...
    def to_dict(self, *, dark: bool = False) -> dict[str, Any]: ...


class DisplayMixin:
    """Mixin for values with a short repr in terminals, and tables and a chart in notebooks.

    Answers and charts belong to higher layers. They are imported when they are first used.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        """Return a short description of the value, for the repr."""
        raise NotImplementedError

    def plot(self, *context: Any) -> ChartLike:
        """Return a chart of the value. To save a chart as an image, install the extra `plot`.

        context: further arguments of the chart, the same as for `iacta.charts.choose_chart`.
        """
        chart: ChartLike = import_upper_module("charts").choose_chart(self, *context)
        return chart

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        bundle: dict[str, str] = import_upper_module("forms.notebook").make_mime_bundle(self)
        return bundle


class PasteableMixin(DisplayMixin):
    """Mixin for values whose repr is a Python expression, unless the expression would be long."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = self.to_text()
        return text if len(text) <= MAX_REPR_LENGTH else super().__repr__()

    def to_text(self) -> str:
        """Return the value as a Python expression of any length."""
        shown = [field for field in fields(self) if field.repr]  # type: ignore[arg-type] # a dataclass
        rows = (f"{field.name}={format_literal(getattr(self, field.name))}" for field in shown)
        return f"{type(self).__name__}({', '.join(rows)})"


def format_literal(value: object) -> str:
    """Return a value as a Python expression of any length."""
    if type(value) is tuple:
        return f"({', '.join(map(format_literal, value))}{',' * (len(value) == 1)})"
    return value.to_text() if isinstance(value, PasteableMixin) else repr(value)


def format_short_repr(instance: Any, first: str = "") -> str:
    """Return a repr without the fields whose values are the defaults.

    first: the name of a field that is shown first, as a positional argument.
    """
    shown_fields = [
        f"{field.name}={getattr(instance, field.name)!r}"
        for field in fields(instance)
        if field.name != first and getattr(instance, field.name) != field.default
    ]
    if first:
        shown_fields.insert(0, repr(getattr(instance, first)))
    return f"{type(instance).__name__}({', '.join(shown_fields)})"
