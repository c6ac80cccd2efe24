"""The chart of any object: the registry of charts, in which a decorated function is all it takes.

The names of `iacta.charts`, the commands of `iacta chart`, the pages of the documentation and the
tests over every chart all come from here.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from iacta.checks import shown
from iacta.errors import MalformedError

if TYPE_CHECKING:
    from iacta.charts.theme import AnyChart

__all__ = ["Chart", "Option", "chart", "chart_of", "charts", "public", "public_names"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Option(NamedTuple):
    """An argument of a chart that `iacta chart` takes as an option.

    default: its value, as typed, if it is not given.
    least: the least whole number that it can be; `None` if it can be negative.
    """

    default: str
    least: int | None = None


@dataclass(frozen=True)
class Chart:
    """A registered chart.

    draw: the function that draws it.
    of: the class of the objects whose default chart it is; empty for none. The chart's first
        argument is one of these, or is refused.
    command: its name in `iacta chart`; empty for none.
    example: what follows the name of the file in the example of that command.
    options: the arguments that are options there, by name.
    """

    draw: Callable[..., AnyChart]
    of: str = ""
    command: str = ""
    example: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)


_public: dict[str, Any] = {}
_charts: dict[str, Chart] = {}


def public(named: Function) -> Function:
    """Make a function or class a public name of `iacta.charts`."""
    _public[named.__name__] = named
    return named


def chart(
    *, of: str = "", command: str = "", example: str = "", **options: Option
) -> Callable[[Function], Function]:
    """Make a function a chart.

    of, command, example, options: as for `Chart`. A class is given by its name, so that it need
        not be imported before one of its objects is drawn.
    """

    def register(draw: Function) -> Function:
        checked = _expecting(of.split(), draw) if of else draw
        _charts[draw.__name__] = Chart(checked, of, command, example, options)
        return public(checked)

    return register


def _expecting(kinds: Sequence[str], draw: Function) -> Function:
    """Return a chart that refuses objects that are of none of the kinds, given by name."""
    signature = inspect.signature(draw)
    first = next(iter(signature.parameters))

    @wraps(draw)
    def checked(*args: Any, **named: Any) -> Any:
        value = signature.bind(*args, **named).arguments[first]
        if not {each.__name__ for each in type(value).__mro__} & set(kinds):
            raise MalformedError(f"{first} must be a {' or a '.join(kinds)}, got {shown(value)}")
        return draw(*args, **named)

    return cast("Function", checked)


def charts() -> Mapping[str, Chart]:
    """Return every chart by its name, file by file in the order in which they stand there."""
    _load()
    return _charts


def public_names() -> Mapping[str, Any]:
    """Return every public name of `iacta.charts` with what it names."""
    _load()
    return _public


def _load() -> None:
    """Import every file of charts, none of which imports Altair before it draws."""
    package = import_module(__package__)
    for file in pkgutil.iter_modules(package.__path__):
        import_module(f"{__package__}.{file.name}")


@public
def chart_of(value: object, *context: Any) -> AnyChart:
    """Return the default chart of an object.

    value: a `Battle`, `Campaign`, `Distribution`, `Roll`, `RuleSet`, `Decision`, `DiceDecision`,
        `Plan`, `Position`, `Board`, `Audit`, or a table of chances; or a `Simulated` or a
        `BestSpread`.
    context: what its chart needs besides: of a `Simulated` the battle or the campaign, of a
        `BestSpread` the attackers.

    Objects that have no chart, and those that come without what it needs, are refused.
    """
    default = {name: each for each in charts().values() for name in each.of.split()}
    for kind in type(value).__mro__:
        if found := default.get(kind.__name__):
            break
    else:
        raise MalformedError(f"value must be an object that has a chart, got {shown(value)}")
    needed = [
        name
        for name, each in inspect.signature(found.draw).parameters.items()
        if each.default is each.empty
    ]
    if missing := needed[1 + len(context) :]:
        raise MalformedError(
            f"context must have {' and '.join(missing)} to draw a {kind.__name__}, got {context}"
        )
    return found.draw(value, *context)
