"""A picture of the paths that a small battle can take."""

from collections.abc import Sequence

import altair as alt

from iacta.charts.theme import BLUE, RED, AnyChart, Row, finish, named
from iacta.charts.words import armies, fight, per_cent
from iacta.checks import shown
from iacta.errors import TooLargeError
from iacta.methods import path_tree
from iacta.methods.limits import read_battle
from iacta.methods.outcome import is_won
from iacta.methods.path_tree import Path
from iacta.rules.rules import Rules

__all__ = ["path_chances"]

MOST_PATHS = 30  # more rows are not read
ROW = 34  # pixels for a path and its bar
WON, HELD = "you win", "they hold"


def path_chances(attackers: int, defenders: int, rules: Rules | str = "classic") -> AnyChart:
    """Return the chance of each path that a small battle can take, the likeliest first.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.

    The chart has a table `paths`: the states of each `path`, how it `ends`, its `probability`, and
    that chance as a fraction (`exact`). More than 30 paths are refused.

    Source: Van Wijgerden, "Let slip the dice of war", whose seven paths leave out the garrison.
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules)
    count = path_tree.path_count(attackers, defenders, rules)
    if count > MOST_PATHS:
        raise TooLargeError(
            f"a battle whose paths are drawn must have at most {MOST_PATHS} of them, got "
            f"{shown(attackers)} against {shown(defenders)} with {shown(count)}"
        )
    found = path_tree.paths(attackers, defenders, rules)
    told = [_row(path) for path in sorted(found, key=lambda path: -path.probability)]
    return finish(
        _chart(told),
        _title(told),
        fight(attackers, defenders, rules)
        + " Each way to the end, by the attackers and defenders that are left, and its chance.",
        {"paths": told},
    )


def _row(path: Path) -> Row:
    return {
        "path": ", ".join(f"{state.attackers}v{state.defenders}" for state in path.states),
        "ends": WON if is_won(path.states[-1]) else HELD,
        "probability": float(path.probability),
        "exact": str(path.probability),
    }


def _title(told: Sequence[Row]) -> str:
    if len(told) == 1:
        return "There is one way to the end."
    winning = sum(row["ends"] == WON for row in told)
    return (
        f"{winning} of {armies(len(told), 'path')} {'wins' if winning == 1 else 'win'}; the "
        f"likeliest of all comes {per_cent(told[0]['probability'])} of the time."
    )


def _chart(told: Sequence[Row]) -> AnyChart:
    ends = [end for end in (WON, HELD) if any(row["ends"] == end for row in told)]
    colours = {WON: BLUE, HELD: RED}
    base = alt.Chart(named("paths")).encode(
        y=alt.Y("path:N", sort=[row["path"] for row in told], axis=None),
        tooltip=[
            "path:N",
            "ends:N",
            alt.Tooltip("probability:Q", title="chance", format=".16~g"),
            alt.Tooltip("exact:N", title="exactly"),
        ],
    )
    bars = base.mark_bar(height=8, yOffset=8).encode(
        x=alt.X("probability:Q", title="chance", axis=alt.Axis(format="~%", tickCount=5)),
        color=alt.Color(
            "ends:N",
            title=None,
            scale=alt.Scale(domain=ends, range=[colours[end] for end in ends]),
        ),
    )
    names = (
        base.transform_calculate(
            told="datum.path + ':  ' + format(100 * datum.probability, '.1f') + ' %'"
        )
        .mark_text(align="left", fontSize=11, dx=3, dy=-6)
        .encode(x=alt.datum(0, type="quantitative"), text="told:N")
    )
    return alt.layer(bars, names).properties(height=ROW * len(told))
