"""Charts: functions that draw results of iacta, one function for each chart.

Each function returns a `Chart`, which notebooks display. A chart has its data in `tables` and can
be saved to a file. `choose_chart` returns the default chart of a result. Colours and sizes are
defined in `iacta.charts.theme`.

The public names come from `iacta.charts.registry`, which imports the modules of charts on first
use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers do not run `__getattr__`
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
        from iacta.charts.registry import list_public_names

        if name in (names := list_public_names()):
            return names[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from iacta.charts.registry import list_public_names

    return sorted(list_public_names())
