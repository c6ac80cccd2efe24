"""How all pictures look: their colours, light and dark, their width, their title."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import altair as alt

from iacta.checks import shown
from iacta.errors import MalformedError

__all__ = [
    "AMBER",
    "BLUE",
    "CATEGORIES",
    "COUNT",
    "GREEN",
    "GREY",
    "HEIGHT",
    "PADDING",
    "PURPLE",
    "RED",
    "WHOLE",
    "WIDTH",
    "AnyChart",
    "Row",
    "Tables",
    "config",
    "expect",
    "finish",
    "named",
    "shades",
    "whole_axis",
]

Row: TypeAlias = Mapping[str, Any]
Tables: TypeAlias = Mapping[str, Sequence[Row]]
# In quotes, for Altair is slow to import: a picture's other process starts before that.
AnyChart: TypeAlias = (
    "alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart"
)

# After Okabe and Ito, who chose hues that the colour-blind can tell apart; their tones are changed
# so that each stands out from white and from black alike.
BLUE, RED, GREEN, AMBER, PURPLE, GREY = (
    "#2583c4",  # attackers, and whatever is good for them
    "#d55e00",  # defenders, and whatever is bad for the attackers
    "#009e73",
    "#bd8a00",
    "#b5679b",
    "#808080",
)
CATEGORIES = (BLUE, RED, GREEN, AMBER, PURPLE, GREY)
ORDERED = (RED, AMBER, GREEN, BLUE)

WIDTH = 600
HEIGHT = 380
PADDING = 12  # pixels around a picture
WHOLE = "datum.value % 1 ? '' : datum.label"  # on the axis of a number that is always whole
COUNT = "datum.value % 1 || datum.value < 0 ? '' : datum.label"  # and never below 0
MOST_LABELS = 15
TITLE_LETTERS = 42  # as many fit into 360 pixels
SUBTITLE_LETTERS = 56

INK = {False: "#1f2328", True: "#e6e6e6"}
PAPER = {False: "#ffffff", True: "#16181d"}
FAINT = {False: "#dddddd", True: "#3a3d44"}
MIDDLE = {False: "#f2f2f2", True: "#2b2d33"}


def config(*, dark: bool = False, width: int = WIDTH) -> dict[str, Any]:
    """Return the settings that make a chart one of ours.

    dark: whether it stands on a dark page.
    width: how wide its plot is, in pixels, axes not included.
    """
    ink, paper, faint = INK[dark], PAPER[dark], FAINT[dark]
    return {
        "background": paper,
        "font": "sans-serif",
        "padding": PADDING,
        "view": _view(width, faint),
        "title": _title(ink),
        "axis": _axis(ink, faint),
        "legend": _legend(ink),
        "header": {"labelColor": ink, "labelFontSize": 12, "titleColor": ink},
        "text": {"color": ink},
        "style": _styles(paper),
        "rule": {"color": ink},
        "bar": {"color": BLUE},
        "line": {"color": BLUE},
        "point": {"color": BLUE},
        "range": _ranges(MIDDLE[dark]),
    }


def _view(width: int, faint: str) -> Row:
    return {
        "continuousWidth": width,
        "discreteWidth": width,
        "stroke": faint,
        "continuousHeight": HEIGHT,
        "discreteHeight": HEIGHT,
    }


def _title(ink: str) -> Row:
    return {
        "anchor": "start",
        "color": ink,
        "fontSize": 16,
        "frame": "bounds",
        "offset": 14,
        "subtitleColor": ink,
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
    }


def _axis(ink: str, faint: str) -> Row:
    return {
        "domainColor": faint,
        "gridColor": faint,
        "gridOpacity": 0.7,
        "labelColor": ink,
        "labelFontSize": 11,
        "labelOverlap": True,
        "labelSeparation": 4,
        "tickColor": faint,
        "titleColor": ink,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }


def _legend(ink: str) -> Row:
    return {
        "columns": 3,
        "labelColor": ink,
        "labelFontSize": 11,
        "labelLimit": 300,
        "orient": "top",
        "symbolStrokeWidth": 2,
        "titleColor": ink,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }


def _styles(paper: str) -> Row:
    """Return the styles of marks that parts of a picture are set off with."""
    return {
        "halo": {"color": paper},
        "outlined": {"stroke": paper, "strokeJoin": "round"},
        "paper": {"color": paper},
    }


def _ranges(middle: str) -> Row:
    """Return the colours of scales, through or from the one that is neither good nor bad."""
    return {
        "category": list(CATEGORIES),
        "diverging": [RED, middle, BLUE],
        "heatmap": [middle, BLUE],
        "ramp": [middle, BLUE],
    }


def whole_axis(numbers: Iterable[int]) -> "alt.Axis":
    """Return an axis with labels at whole numbers, from the least to the most of those shown.

    numbers: those shown.
    """
    import altair as alt

    shown = list(numbers)
    step = -(-(max(shown) - min(shown) + 1) // MOST_LABELS)
    return alt.Axis(format="d", values=list(range(min(shown), max(shown) + 1, step)))


def shades(count: int) -> list[str]:
    """Return colours in order, from what is bad for the attackers to what is good for them.

    count: how many.

    >>> shades(2)
    ['#d55e00', '#2583c4']
    """
    places = np.linspace(0, len(ORDERED) - 1, count)
    stops = np.array([[int(hue[i : i + 2], 16) for i in (1, 3, 5)] for hue in ORDERED])
    tones = [np.interp(places, range(len(ORDERED)), stops[:, i]).round() for i in range(3)]
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in zip(*tones, strict=True)]


def expect(value: object, kind: type, name: str) -> None:
    """Refuse what is not the object that a chart is of.

    value: what was given.
    kind: what is expected.
    name: what the argument is called.
    """
    if not isinstance(value, kind):
        raise MalformedError(f"{name} must be a {kind.__name__}, got {shown(value)}")


def named(table: str) -> "alt.NamedData":
    """Return the data of a chart, or of one of its layers, by the name of its table.

    table: the name under which `finish` is given the rows.
    """
    import altair as alt

    return alt.NamedData(table)


def finish(chart: AnyChart, title: str, subtitle: str, tables: Tables) -> AnyChart:
    """Return a chart with its title, its data and our theme.

    chart: the chart, with data by name.
    title: the finding, in a sentence; wrapped so that it fits into 360 pixels.
    subtitle: what is shown, and under which rules.
    tables: the rows of each table, the one that matters first.
    """
    import altair as alt

    finished: AnyChart = chart.properties(
        title=alt.TitleParams(
            textwrap.wrap(title, TITLE_LETTERS), subtitle=textwrap.wrap(subtitle, SUBTITLE_LETTERS)
        )
    )
    # As attributes they are not checked value by value, which takes a second for a large table.
    finished.description = f"{title} {subtitle}"
    finished.datasets = {name: list(rows) for name, rows in tables.items()}
    finished.config = config()
    return finished
