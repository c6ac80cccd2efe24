"""Pictures of every answer: each function takes what iacta answers, and returns a chart.

A chart is Altair's: it shows itself in a notebook, and `save` writes it to a file. The numbers
behind it are had by `chart_tables`, `chart_csv` or `chart_frame`. All look the same by
`iacta.charts.theme`; no picture is drawn anywhere else.
"""

from iacta.errors import MissingError

try:
    import altair  # noqa: F401 # whether it is there
    import vl_convert  # noqa: F401 # the same
except ImportError:
    raise MissingError(
        "pictures need Altair and vl-convert, which are not installed: pip install 'iacta[plot]'"
    ) from None

from iacta.charts.curves import curves_by_delta
from iacta.charts.files import chart_csv, chart_frame, chart_tables, save, specification
from iacta.charts.laws import battle_law
from iacta.charts.tables import win_chance_map

__all__ = [
    "battle_law",
    "chart_csv",
    "chart_frame",
    "chart_tables",
    "curves_by_delta",
    "save",
    "specification",
    "win_chance_map",
]
