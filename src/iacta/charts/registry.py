"""The chart of any object: the registry of charts, in which a decorated function is all it takes.

The names of `iacta.charts`, the pages of the documentation and the tests over every chart all come
from here.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any, TypeAlias, TypeVar, cast

from iacta.charts.saving import Chart
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError

Function = TypeVar("Function", bound=Callable[..., Any])
Draw: TypeAlias = Callable[..., Chart]

_charts: dict[str, Draw] = {}
_defaults: dict[str, Draw] = {}


def chart(*, of: str = "") -> Callable[[Function], Function]:
    """Make a function a chart.

    of: the classes of the objects whose default chart it is; empty for none. The chart's first
        argument is one of these, or is refused. They are given by name, so that a class need not be
        imported before one of its objects is drawn.
    """

    def register(draw: Function) -> Function:
        checked = _expecting(of.split(), draw) if of else draw
        _charts[draw.__name__] = checked
        _defaults.update(dict.fromkeys(of.split(), checked))
        return checked

    return register


def _expecting(kinds: Sequence[str], draw: Function) -> Function:
    """Return a chart that refuses objects that are of none of the kinds, given by name."""
    signature = inspect.signature(draw)
    first = next(iter(signature.parameters))

    @wraps(draw)
    def checked(*args: Any, **named: Any) -> Any:
        value = signature.bind(*args, **named).arguments[first]
        if not {base.__name__ for base in type(value).__mro__} & set(kinds):
            raise MalformedError(f"{first} must be a {' or a '.join(kinds)}, got {quote(value)}")
        return draw(*args, **named)

    return cast("Function", checked)


def charts() -> Mapping[str, Draw]:
    """Return every chart by its name, file by file in the order in which they stand there."""
    _load()
    return _charts


def defaults() -> Mapping[str, Draw]:
    """Return the charts that are defaults, by the name of the class whose objects they draw."""
    _load()
    return _defaults


def public_names() -> Mapping[str, Any]:
    """Return every public name of `iacta.charts` with what it names."""
    return {**charts(), "Chart": Chart, "chart_of": chart_of}


def _load() -> None:
    package = import_module(__package__)
    for file in pkgutil.iter_modules(package.__path__):
        import_module(f"{__package__}.{file.name}")


def chart_of(value: object, *context: Any) -> Chart:
    """Return the default chart of an object.

    value: a `Battle`, `Campaign`, `Distribution`, `Roll`, `RuleSet`, `Decision`, `DiceDecision`,
        `Plan`, `Position`, `Board`, `Audit`, or a table of chances; or a `Simulated` or a
        `BestSpread`.
    context: what its chart needs besides: of a `Simulated` the battle or the campaign, of a
        `BestSpread` the attackers.

    Objects that have no chart, and those that come without what it needs, are refused.
    """
    known = defaults()
    kind = next((base.__name__ for base in type(value).__mro__ if base.__name__ in known), "")
    if not kind:
        raise MalformedError(f"value must be an object that has a chart, got {quote(value)}")
    needed = [
        name
        for name, parameter in inspect.signature(known[kind]).parameters.items()
        if parameter.default is parameter.empty
    ]
    if missing := needed[1 + len(context) :]:
        raise MalformedError(
            f"context must have {' and '.join(missing)} to draw a {kind}, got {context}"
        )
    return known[kind](value, *context)
