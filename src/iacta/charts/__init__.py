"""Pictures of every answer: each function takes what iacta answers and returns a chart.

A `Chart` shows itself in a notebook, has its numbers in `tables`, and saves itself to a file.
`chart_of` finds the chart of any answer. All charts look alike by `iacta.charts.theme`.

The names are those that `iacta.charts.registry` knows, whose files are read when one is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for tools that check types without running the registry
    from iacta.charts.audits import *
    from iacta.charts.boards import *
    from iacta.charts.comparisons import *
    from iacta.charts.decisions import *
    from iacta.charts.outcomes import *
    from iacta.charts.registry import *
    from iacta.charts.saving import *
    from iacta.charts.tables import *
    from iacta.charts.whole_games import *


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if not name.startswith("_"):
        from iacta.charts.registry import public_names

        if name in (known := public_names()):
            return known[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from iacta.charts.registry import public_names

    return sorted(public_names())
