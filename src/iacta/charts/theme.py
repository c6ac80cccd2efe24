"""How all charts look and read: colours, light and dark, sizes, titles and the words in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from iacta.charts.vega import View, field, rows_of
from iacta.checks import shown
from iacta.distribution import Probability
from iacta.errors import MalformedError, TooLargeError
from iacta.questions.words import count
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop
from iacta.rules.variants import rules_name

Row: TypeAlias = Mapping[str, Any]
Tables: TypeAlias = Mapping[str, Sequence[Row]]

# After Okabe and Ito, who chose hues that the colour-blind can tell apart; the tones are changed
# so that each stands out from white and from black.
BLUE, RED, GREEN, AMBER, PURPLE, GREY = (
    "#2583c4",  # attackers, and whatever is good for them
    "#d55e00",  # defenders, and whatever is bad for the attackers
    "#009e73",
    "#bd8a00",
    "#b5679b",
    "#808080",
)
CATEGORIES = (BLUE, RED, GREEN, AMBER, PURPLE, GREY)
# The same hues, deep enough for white letters on them.
DEEP = {
    BLUE: "#1f6fab",
    RED: "#b84f00",
    GREEN: "#007a59",
    AMBER: "#8a6500",
    PURPLE: "#9a4c82",
    GREY: "#6b6b6b",
}
ORDERED = (RED, AMBER, GREEN, BLUE)

WIDTH = 600
HEIGHT = 380
PADDING = 12  # pixels around a picture
# Letters as wide as those by which the places in a picture are computed, on any system.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WHOLE = "datum.value % 1 ? '' : datum.label"  # labels an axis at whole numbers only
COUNT = "datum.value % 1 || datum.value < 0 ? '' : datum.label"  # and never below 0
WITHOUT_SIGN = "datum.value % 1 ? '' : format(abs(datum.value), ',d')"
MOST_LABELS = 15  # of an axis
NARROW_PLOT = 450  # a plot narrower than this has its narrow form
ATTACKERS = "attackers, garrison included"

INK = {False: "#1f2328", True: "#e6e6e6"}
PAPER = {False: "#ffffff", True: "#16181d"}
FAINT = {False: "#dddddd", True: "#3a3d44"}
MIDDLE = {False: "#f2f2f2", True: "#2b2d33"}
# Ends of scales of colours on which there are numbers: ink can be read on all of them.
BAD = {False: "#f29b63", True: "#a34a00"}
GOOD = {False: "#70b3e2", True: "#1c6298"}


def config(*, dark: bool = False, width: int = WIDTH) -> dict[str, Any]:
    """Return the Vega-Lite settings of our theme.

    dark: whether the chart stands on a dark page.
    width: the width of its plot in pixels, axes not included.
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
        "style": {  # of marks that keep parts of a picture apart
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


def mapped(looks: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a scale that gives each value its look."""
    return {"domain": list(looks), "range": list(looks.values())}


def categories(
    column: str,
    colours: Mapping[Any, str],
    rows: Iterable[Row] | None = None,
    title: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the colours of a column's values, with their legend.

    column: the column.
    colours: the colour of each value.
    rows: the rows; values that do not occur in them are left out. `None` keeps all.
    title: the title of the legend.
    more: as for `field`.
    """
    known = {
        value: colour
        for value, colour in colours.items()
        if rows is None or any(row[column] == value for row in rows)
    }
    return field(f"{column}:N", title=title, scale=mapped(known), **more)


def exactly(column: str, title: str = "") -> dict[str, Any]:
    """Return the part of a tooltip that shows a column with all its digits."""
    return field(f"{column}:Q", format=".16~g", **({"title": title} if title else {}))


def whole_axis(numbers: Iterable[int]) -> dict[str, Any]:
    """Return the look of an axis labelled at whole numbers, of those given and between."""
    shown = list(numbers)
    step = -(-(max(shown) - min(shown) + 1) // MOST_LABELS)
    return {"format": "d", "values": list(range(min(shown), max(shown) + 1, step))}


def shades(count: int) -> list[str]:
    """Return colours in order, from what is bad for the attackers to what is good for them.

    >>> shades(2)
    ['#d55e00', '#2583c4']
    """
    places = np.linspace(0, len(ORDERED) - 1, count)
    stops = np.array([[int(hue[i : i + 2], 16) for i in (1, 3, 5)] for hue in ORDERED])
    tones = [np.interp(places, range(len(ORDERED)), stops[:, i]).round() for i in range(3)]
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in zip(*tones, strict=True)]


def contrast(colour: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21; small letters need 4.5.

    >>> contrast("#000000", "#ffffff")
    21.0

    Source: Web Content Accessibility Guidelines 2.2, "relative luminance".
    """
    light = []
    for each in (colour, other):
        parts = np.array([int(each[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return round(max(light) / min(light), 9)


def axis(
    column: str, title: str | None, scale: Mapping[str, Any] | None = None, **look: Any
) -> dict[str, Any]:
    """Return a column along an axis, with the axis's title, its scale and its look."""
    return field(
        column,
        title=title,
        **({"axis": look} if look else {}),
        **({"scale": scale} if scale else {}),
    )


def row_axis(
    column: str, rows: Iterable[Row], title: str | None = None, **look: Any
) -> dict[str, Any]:
    """Return the names in a column along an axis, in the order of the rows."""
    names = list(dict.fromkeys(row[column] for row in rows))
    return {**axis(f"{column}:N", title, **look), "sort": names}


def level(table: str, channel: Literal["x", "y"], at: float, **look: Any) -> View:
    """Return a line across the plot at a value of an axis."""
    value = {"datum": at, "type": "quantitative"}
    rule = rows_of(table).mark("rule", **look)
    return rule.encode(x=value) if channel == "x" else rule.encode(y=value)


def chance_texts(base: View, column: str = "probability", **look: Any) -> View:
    """Return the chances in a column as texts beside their marks."""
    return base.calculate(label=percent_label(column)).mark("text", **look).encode(text="label:N")


def limit(size: int, most: int, rule: str, got: str) -> None:
    """Refuse to draw what is too large.

    >>> limit(31, 30, "a tree must have at most {} leaves", "31")
    Traceback (most recent call last):
        ...
    iacta.errors.TooLargeError: a tree must have at most 30 leaves, got 31
    """
    if size > most:
        raise TooLargeError(f"{rule.format(most)}, got {got}")


def expect(value: object, kind: type, name: str) -> None:
    """Refuse a value that is not of the kind of which a chart is asked.

    >>> expect("classic", Rules, "rules")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: rules must be a Rules, got 'classic'
    """
    if not isinstance(value, kind):
        raise MalformedError(f"{name} must be a {kind.__name__}, got {shown(value)}")


def signed(number: Probability, digits: int = 0, *, plus: bool = False) -> str:
    """Return a number with a minus sign, which is wider than a hyphen.

    number: the number.
    digits: how many after the point.
    plus: whether positive numbers have their sign too.

    >>> signed(-2), signed(2, 1, plus=True), signed(0, plus=True)
    ('−2', '+2.0', '0')
    """
    sign = "+" if plus and number > 0 else ""
    return f"{sign}{float(number):,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def percent_label(field: str, digits: int = 0) -> str:
    """Return the Vega expression of a chance beside its mark, which `percent` would round so.

    field: what the chance is called in the data.
    digits: how many after the point.

    >>> percent_label("chance")
    "datum.chance > 0 && datum.chance <= 0.005 ? '< 1%' : \
datum.chance < 1 && datum.chance >= 0.995 ? '> 99%' : format(datum.chance, '.0%')"
    """
    value, least = f"datum.{field}", 10.0**-digits
    half = f"{least / 200:.{digits + 3}f}"
    most = f"{1 - least / 200:.{digits + 3}f}"
    return (
        f"{value} > 0 && {value} <= {half} ? '< {least:.{digits}f}%' : "
        f"{value} < 1 && {value} >= {most} ? '> {100 - least:.{digits}f}%' : "
        f"format({value}, '.{digits}%')"
    )


def counted(number: int, noun: str = "army", plural: str = "") -> str:
    """Return a number with its noun, whose plural is given unless it ends in s.

    >>> counted(1), counted(2_000), counted(3, "defender")
    ('1 army', '2,000 armies', '3 defenders')
    """
    return count(number, noun, plural or ("armies" if noun == "army" else f"{noun}s"), ",")


def under_rules(rules: Rules, label: str = "") -> str:
    """Return the name of rules, with a garrison that is not the usual one.

    rules: the rules.
    label: their name, if it is not one of ours.

    >>> from iacta.rules.dice import Dice
    >>> under_rules(Rules(garrison=0)), under_rules(Rules(attack=Dice((20,))), "my house")
    ('classic rules, garrison 0', 'my house rules')
    """
    name = label or rules_name(rules)
    return f"{name} rules" if rules.garrison == 1 else f"{name} rules, garrison {rules.garrison}"


def rules_words(rules: Rules) -> str:
    """Return the name of rules as `under_rules` does, "house rules" if they have none.

    >>> from iacta.rules.dice import Dice
    >>> rules_words(Rules(attack=Dice((20,))))
    'house rules'
    """
    return under_rules(rules, "house" if rules_name(rules) == repr(rules) else "")


def stop_words(stop: Stop) -> str:
    """Return when the attackers stop, as the end of a sentence; nothing if they never do.

    >>> stop_words(Stop(charge=True, max_rolls=3))
    ', and stop when dice run short or after 3 rolls'
    """
    if stop == NEVER:
        return ""
    lost, rolls = stop.max_losses, stop.max_rolls
    when = [
        *([f"with {stop.stop_at} kept out of the fight"] if stop.stop_at else []),
        *(["when dice run short"] if stop.charge else []),
        *([] if lost is None else [f"with {lost} lost"]),
        *([] if rolls is None else [f"after {count(rolls, 'roll', 'rolls')}"]),
    ]
    return f", and stop {' or '.join(when)}"


def seed_words(seed: int | None) -> str:
    """Return the seed of a simulation's dice as part of a sentence; nothing if it is not known.

    >>> seed_words(7), seed_words(None)
    (' (seed 7)', '')
    """
    return "" if seed is None else f" (seed {seed})"


def fight(attackers: int, defenders: int, rules: Rules, stop: Stop = NEVER) -> str:
    """Return who fights whom under which rules, as the beginning of a subtitle.

    >>> fight(12, 10, Rules())
    '12 armies attack 10 (classic rules).'
    """
    verb = "attacks" if attackers == 1 else "attack"
    return f"{counted(attackers)} {verb} {defenders:,}{stop_words(stop)} ({rules_words(rules)})."
