"""The layers of the graph of a small battle: its rolls, their labels, its states."""

import altair as alt

from iacta.charts.theme import BLUE, GREY, RED, AnyChart, named

__all__ = ["GOES_ON", "HELD", "WON", "graph"]

GOES_ON, WON, HELD = "goes on", "you win", "they hold"
KINDS = {GOES_ON: GREY, WON: BLUE, HELD: RED}

OVAL = "M-1,0A1,0.6,0,1,0,1,0A1,0.6,0,1,0,-1,0Z"
OVAL_SIZE = 1000  # as wide as two letters on either side of the middle


def graph(label: str) -> AnyChart:
    """Return the chart of states and of the rolls between.

    label: the column of the rolls with their labels, `losses` or `chance`.
    """
    rolls, states = _rolls(), _states()
    return alt.layer(*_edges(rolls), *_labels(rolls, label), *_dots(states), _ends(states))


def _hidden() -> tuple[alt.X, alt.Y]:
    """Return a place without axes, with room for the nodes at the rims."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=24))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(nice=False, padding=36))
    return x, y


def _exact() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("probability:Q", title="chance", format=".16~g"),
        alt.Tooltip("exact:N", title="exactly"),
    ]


def _rolls() -> alt.Chart:
    """Return the chart of the rolls, with nothing drawn yet.

    A roll is two straight lines that meet at `mx`, `my`; its label is at `lx`, `ly`.
    """
    x, y = _hidden()
    losses = alt.Tooltip("losses:N", title="you lose, they lose")
    rolls: alt.Chart = (
        alt.Chart(named("rolls"))
        .transform_calculate(
            mx="(datum.x + datum.x2) / 2 + datum.bend",
            my="(datum.y + datum.y2) / 2",
        )
        .transform_calculate(
            lx="datum.x + datum.along * (datum.mx - datum.x)",
            ly="datum.y + datum.along * (datum.my - datum.y)",
        )
        .encode(x=x, y=y, tooltip=["from:N", "to:N", losses, *_exact()])
    )
    return rolls


def _edges(rolls: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """Return both halves of the rolls."""
    line = rolls.mark_rule(opacity=0.35, strokeWidth=1.5)
    return (
        line.encode(x2="mx:Q", y2="my:Q"),
        line.encode(x=alt.X("mx:Q", axis=None), y=alt.Y("my:Q", axis=None), x2="x2:Q", y2="y2:Q"),
    )


def _labels(rolls: alt.Chart, label: str) -> tuple[alt.Chart, alt.Chart]:
    """Return the labels of the rolls, on paper that hides the line."""
    labels = rolls.encode(x=alt.X("lx:Q", axis=None), y=alt.Y("ly:Q", axis=None), text=f"{label}:N")
    return (
        labels.mark_point(shape=OVAL, size=OVAL_SIZE, filled=True, opacity=1, style="halo"),
        labels.mark_text(fontSize=11),
    )


def _states() -> alt.Chart:
    """Return the chart of the states, with nothing drawn yet."""
    x, y = _hidden()
    return alt.Chart(named("states")).encode(x=x, y=y, tooltip=["state:N", "is:N", *_exact()])


def _dots(states: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """Return the states as dots, with their names."""
    color = alt.Color(
        "is:N",
        title=None,
        scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
    )
    return (
        states.mark_point(filled=True, size=900, opacity=1).encode(color=color),
        states.mark_text(fontSize=11, fontWeight="bold", color="white").encode(text="state:N"),
    )


def _ends(states: alt.Chart) -> alt.Chart:
    """Return the chances of the states in which the battle is over."""
    ends: alt.Chart = (
        states.transform_filter(f"datum.is != '{GOES_ON}'")
        .mark_text(dy=25, fontSize=11)
        .encode(text=alt.Text("probability:Q", format=".0%"))
    )
    return ends
