"""Display: values that show themselves, short in a terminal and as an answer in a notebook."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

MAX_REPR_LENGTH = 200  # letters; more is shown in short


def import_upper_module(name: str) -> ModuleType:
    """Return a module from a floor above, which is only looked up when a value is shown or drawn.

    name: its name within the package. A test lists who looks up what.
    """
    return import_module(f"iacta.{name}")


class ChartLike(Protocol):
    """The picture of a value, which is an `iacta.charts.Chart`."""

    def save(self, file: str | Path, *, dark: bool = False) -> None: ...
    def to_csv(self) -> str: ...
    def to_dict(self, *, dark: bool = False) -> dict[str, Any]: ...


class DisplayMixin:
    """A value that shows itself: a terminal says what it is, and a notebook shows its answer.

    The answer is the sentence, its tables and its picture. Answers and charts are built on the
    values, so they are looked up when a value is shown or drawn.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        """Return in a few words what the value is."""
        raise NotImplementedError

    def plot(self, *context: Any) -> ChartLike:
        """Return the picture of the value, a chart; to draw it needs the extra `plot`.

        context: what its chart needs besides, as for `iacta.charts.chart_of`.
        """
        chart: ChartLike = import_upper_module("charts").chart_of(self, *context)
        return chart

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        bundle: dict[str, str] = import_upper_module("forms.notebook").bundle(self)
        return bundle


class PasteableMixin(DisplayMixin):
    """A value that a terminal shows as Python text that can be pasted back, if that is short."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = self.to_text()
        return text if len(text) <= MAX_REPR_LENGTH else super().__repr__()

    def to_text(self) -> str:
        """Return the value as Python text that can be pasted back, however long."""
        shown = [field for field in fields(self) if field.repr]  # type: ignore[arg-type] # a dataclass
        rows = (f"{field.name}={format_literal(getattr(self, field.name))}" for field in shown)
        return f"{type(self).__name__}({', '.join(rows)})"


def format_literal(value: object) -> str:
    """Return a value as Python text that can be pasted back, however long."""
    if type(value) is tuple:
        return f"({', '.join(map(format_literal, value))}{',' * (len(value) == 1)})"
    return value.to_text() if isinstance(value, PasteableMixin) else repr(value)


def format_short_repr(instance: Any, first: str = "") -> str:
    """Return a repr with the fields that differ from their defaults, `first` without its name."""
    shown_fields = [
        f"{field.name}={getattr(instance, field.name)!r}"
        for field in fields(instance)
        if field.name != first and getattr(instance, field.name) != field.default
    ]
    if first:
        shown_fields.insert(0, repr(getattr(instance, first)))
    return f"{type(instance).__name__}({', '.join(shown_fields)})"
