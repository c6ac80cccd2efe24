"""The registry of charts. To add a chart, decorate a function with `register_chart`.

The public names of `iacta.charts`, the documentation and the tests that cover every chart all
derive from this registry.
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


def register_chart(*, default_for: str = "") -> Callable[[Function], Function]:
    """Return a decorator that registers a chart function.

    default_for: names of classes, separated by spaces. The function draws the default chart of
        these classes, and takes an instance as its first argument. Names are used instead of
        classes to avoid imports.
    """

    def register(draw: Function) -> Function:
        kinds = default_for.split()
        checked = _check_argument(kinds, draw) if kinds else draw
        _charts[draw.__name__] = checked
        _defaults.update(dict.fromkeys(kinds, checked))
        return checked

    return register


def _check_argument(kinds: Sequence[str], draw: Function) -> Function:
    """Wrap a chart function so that it checks the class of its first argument by name."""
    signature = inspect.signature(draw)
    first = next(iter(signature.parameters))

    @wraps(draw)
    def checked(*args: Any, **named: Any) -> Any:
        value = signature.bind(*args, **named).arguments[first]
        if not {base.__name__ for base in type(value).__mro__} & set(kinds):
            raise MalformedError(f"{first} must be a {' or a '.join(kinds)}, got {quote(value)}")
        return draw(*args, **named)

    return cast("Function", checked)


def list_charts() -> Mapping[str, Draw]:
    """Return all chart functions by name, in the order of the source code."""
    _load()
    return _charts


def list_defaults() -> Mapping[str, Draw]:
    """Return the default chart function of each class, by class name."""
    _load()
    return _defaults


def list_public_names() -> Mapping[str, Any]:
    """Return the public names of `iacta.charts` with their values."""
    return {**list_charts(), "Chart": Chart, "choose_chart": choose_chart}


def _load() -> None:
    package = import_module(__package__)
    for file in pkgutil.iter_modules(package.__path__):
        import_module(f"{__package__}.{file.name}")


def choose_chart(value: object, *context: Any) -> Chart:
    """Return the default chart of an object.

    value: a `Battle`, `Campaign`, `Distribution`, `Roll`, `RuleSet`, `Decision`, `DiceDecision`,
        `Plan`, `Turn`, `Position`, `Board` or `Audit`; a table of chances; a `SimulationResult` or
        a `BestSpread`.
    context: further arguments of the chart function: the battle or campaign for a
        `SimulationResult`, or the number of attackers for a `BestSpread`.
    """
    defaults = list_defaults()
    kind = next((base.__name__ for base in type(value).__mro__ if base.__name__ in defaults), "")
    if not kind:
        raise MalformedError(f"value must be an object that has a chart, got {quote(value)}")
    needed = [
        name
        for name, parameter in inspect.signature(defaults[kind]).parameters.items()
        if parameter.default is parameter.empty
    ]
    if missing := needed[1 + len(context) :]:
        raise MalformedError(
            f"context must have {' and '.join(missing)} to draw a {kind}, got {context}"
        )
    return defaults[kind](value, *context)
