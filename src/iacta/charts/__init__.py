"""Pictures of every answer: each function takes what iacta answers and returns a chart.

A chart is Altair's: it shows itself in a notebook, and `save` writes it to a file. Its numbers come
from `chart_tables`, `chart_csv` or `chart_frame`, and `chart_of` finds the chart of any answer. All
charts look alike by `iacta.charts.theme`.

The names are those that `iacta.charts.registry` knows. Altair is slow to import: that happens when
the first chart is drawn.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iacta.errors import missing

if TYPE_CHECKING:  # for tools that check types without running the registry
    from iacta.charts.audits import *
    from iacta.charts.boards import *
    from iacta.charts.comparisons import *
    from iacta.charts.curves import *
    from iacta.charts.decisions import *
    from iacta.charts.files import *
    from iacta.charts.outcomes import *
    from iacta.charts.registry import *
    from iacta.charts.states import *


def check_installed() -> None:
    """Refuse to draw without the packages that it takes."""
    if not (find_spec("altair") and find_spec("vl_convert")):
        raise missing("pictures need Altair and vl-convert, which are not installed", "plot")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if not name.startswith("_"):
        from iacta.charts.registry import public_names

        if name in (known := public_names()):
            check_installed()
            return known[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from iacta.charts.registry import public_names

    return sorted(public_names())
