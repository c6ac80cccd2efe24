"""Charts of what opponents could do on their next turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iacta.charts.axes_and_labels import axis, categories, exactly, percent_label, row_axis
from iacta.charts.boards import owner_colours
from iacta.charts.registry import chart
from iacta.charts.saving import Chart
from iacta.charts.scene import cut
from iacta.charts.vega import Row, layer, rows_of

if TYPE_CHECKING:  # they take time to import
    from iacta.questions.threats import ThreatsAnswer

ROW_HEIGHT = 24
LONGEST_GOAL = 32
ROOM = 1.1  # for the numbers behind bars, as a multiple of a whole bar


@chart(of="ThreatsAnswer")
def threat_bars(answer: ThreatsAnswer) -> Chart:
    """Return the greatest chance of each threat as a bar in the colour of who could do it.

    answer: what `iacta.ask` answers to `threats`.

    The chart has a table `threats`: for each `goal` its `chance`, the bound `at_most`, and the
    `player` who has it.
    """
    from iacta.questions.threats import CONDITION, threats_sentence  # takes time to import

    rows: list[Row] = []
    for goal, by in answer.goals.items():
        first = max(by.values(), key=lambda each: each.chance)
        numbers = {"chance": first.chance, "at_most": first.at_most}
        rows.append({"goal": cut(goal, LONGEST_GOAL), "player": cut(first.player), **numbers})
    colours = owner_colours(answer.question.turn.position)
    by_player = {cut(name): tone for name, tone in colours.items() if name != answer.found.player}
    scale = {"domain": [0, ROOM], "nice": False}
    base = rows_of("threats").encode(
        y=row_axis("goal", rows),
        x=axis("chance:Q", "chance on their next turn", scale, format="~%", tickCount=5),
        tooltip=["goal:N", "player:N", *map(exactly, ("chance", "at_most"))],
    )
    bars = base.mark("bar", style="outlined")
    bars = bars.encode(color=categories("player", by_player, rows))
    written = base.calculate(label=percent_label("chance", 1))
    written = written.mark("text", align="left", dx=5).encode(text="label:N")
    drawn = layer(bars, written).properties(height=ROW_HEIGHT * max(len(rows), 1))
    words = f"{CONDITION[0].upper()}{CONDITION[1:]}."
    return Chart(drawn, threats_sentence(answer), words, {"threats": rows})
