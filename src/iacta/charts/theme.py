"""The colours and sizes of all charts, in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from iacta.board.scene import SHAPES

# Hues by Okabe and Ito that colour-blind readers can distinguish, visible on white and black.
BLUE, RED, GREEN, AMBER, PURPLE, GREY = (
    "#2583c4",  # attackers, or results that are good for them
    "#d55e00",  # defenders, or results that are bad for the attackers
    "#009e73",
    "#bd8a00",
    "#b5679b",
    "#808080",
)
CATEGORIES = (BLUE, RED, GREEN, AMBER, PURPLE, GREY)
# The same hues, made dark enough for white text.
DEEP = {
    BLUE: "#1f6fab",
    RED: "#b84f00",
    GREEN: "#007a59",
    AMBER: "#8a6500",
    PURPLE: "#9a4c82",
    GREY: "#6b6b6b",
}
ORDERED = (RED, AMBER, GREEN, BLUE)

# Colours for players who are named after a colour, and for all other players.
NAMED_COLOURS = {
    "blue": "#1f6fab",
    "red": "#c22f2f",
    "orange": "#b84f00",
    "green": "#007a59",
    "yellow": "#f0c020",
    "amber": "#f0c020",
    "purple": "#9a4c82",
    "pink": "#e79ac4",
    "violet": "#9a4c82",
    "black": "#3b3f45",
    "grey": "#8f8f8f",
    "white": "#f7f7f7",
}
PLAYER_COLOURS = ("#1f6fab", "#c22f2f", "#007a59", "#9a4c82", "#b84f00", "#8a6500")

WIDTH = 600
HEIGHT = 380
PADDING = 12
# The layout of labels assumes that these fonts are metrically compatible.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
NARROW_PLOT = 450  # a plot narrower than this uses the `narrow` properties of its chart
SIZES = {
    "width": WIDTH,
    "narrow": NARROW_PLOT,
    "padding": 2 * PADDING,
}  # sizes in pixels, read by `fit.js`

INK = {False: "#1f2328", True: "#e6e6e6"}
PAPER = {False: "#ffffff", True: "#16181d"}
FAINT = {False: "#dddddd", True: "#3a3d44"}
MIDDLE = {False: "#f2f2f2", True: "#2b2d33"}
# The ends of colour scales, light or dark enough to keep text on top readable.
BAD = {False: "#f29b63", True: "#a34a00"}
GOOD = {False: "#70b3e2", True: "#1c6298"}


def make_config(*, dark: bool = False, width: int = WIDTH) -> dict[str, Any]:
    """Return the theme as a Vega-Lite configuration.

    dark: whether to draw on a dark background.
    width: the width of the plot in pixels, without axes.
    """
    ink, paper, faint, middle = INK[dark], PAPER[dark], FAINT[dark], MIDDLE[dark]
    words = {
        "labelColor": ink,
        "labelFontSize": 11,
        "titleColor": ink,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    return {
        "background": paper,
        "font": FONT,
        "padding": PADDING,
        "view": {
            "continuousWidth": width,
            "discreteWidth": width,
            "stroke": faint,
            "continuousHeight": HEIGHT,
            "discreteHeight": HEIGHT,
        },
        "title": {
            "anchor": "start",
            "color": ink,
            "fontSize": 16,
            "frame": "bounds",
            "offset": 14,
            "subtitleColor": ink,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
        },
        "axis": {
            **words,
            "domainColor": faint,
            "gridColor": faint,
            "gridOpacity": 0.7,
            "labelOverlap": True,
            "labelSeparation": 4,
            "tickColor": faint,
            "titlePadding": 8,
        },
        "legend": {
            **words,
            "columnPadding": 24,
            "columns": 3,
            "labelLimit": 300,
            "orient": "top",
            "symbolStrokeWidth": 2,
        },
        "header": {"labelColor": ink, "labelFontSize": 12, "titleColor": ink},
        "text": {"color": ink},
        "style": {  # styles of marks that overlap other marks
            "halo": {"color": paper},
            "outlined": {"stroke": paper, "strokeJoin": "round"},
            "paper": {"color": paper},
            "ink": {"color": ink},
            "inked": {"color": ink, "fill": ink},
        },
        "rule": {"color": ink},
        **{mark: {"color": BLUE} for mark in ("bar", "line", "point")},
        "range": {
            "category": list(CATEGORIES),
            "diverging": [BAD[dark], middle, GOOD[dark]],
            "heatmap": [middle, BLUE],
            "ramp": [middle, BLUE],
        },
    }


def list_shades(count: int) -> list[str]:
    """Return `count` colours, ordered from bad to good for the attackers.

    >>> list_shades(2)
    ['#d55e00', '#2583c4']
    """
    positions = np.linspace(0, len(ORDERED) - 1, count)
    stops = np.array([[int(hue[i : i + 2], 16) for i in (1, 3, 5)] for hue in ORDERED])
    tones = [np.interp(positions, range(len(ORDERED)), stops[:, i]).round() for i in range(3)]
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in zip(*tones, strict=True)]


def choose_colours(players: Iterable[str]) -> dict[str, str]:
    """Assign a colour to each player; the result does not depend on their order.

    players: the names of the players. A player named after a colour gets that colour.

    >>> choose_colours(["Ben", "red", "Ada"])
    {'Ada': '#1f6fab', 'Ben': '#007a59', 'red': '#c22f2f'}
    """
    own = {name: NAMED_COLOURS.get(name.lower()) for name in sorted(players)}
    free = [tone for tone in PLAYER_COLOURS if tone not in own.values()] or list(PLAYER_COLOURS)
    tones: dict[str, str] = {}
    for name, tone in own.items():
        if tone is None or tone in tones.values():
            tone = free[0]
            free = [*free[1:], tone]
        tones[name] = tone
    return tones


def choose_shapes(colours: Mapping[str, str]) -> dict[str, str]:
    """Assign a shape of badges to each player; the result does not depend on their order.

    colours: the colour of each player, which determines the shape. Players have different shapes
        unless there are more players than shapes.

    >>> shapes = choose_shapes(choose_colours(["red", "blue", "green"]))
    >>> shapes == choose_shapes(choose_colours(["green", "red", "blue"]))
    True
    """
    tones = [*dict.fromkeys((*PLAYER_COLOURS, *NAMED_COLOURS.values()))]
    free, shapes = list(SHAPES), dict[str, str]()
    for name, tone in sorted(colours.items()):
        usual = SHAPES[tones.index(tone) % len(SHAPES)] if tone in tones else SHAPES[-1]
        shapes[name] = usual if usual in free else free[0]
        free.remove(shapes[name])
        free = free or list(SHAPES)
    return shapes


def compute_contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21. Small text needs 4.5 or more.

    >>> compute_contrast("#000000", "#ffffff")
    21.0

    Source: Web Content Accessibility Guidelines 2.2, "relative luminance".
    """
    light = []
    for shade in (colour, other):
        parts = np.array([int(shade[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return round(max(light) / min(light), 9)
