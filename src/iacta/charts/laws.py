"""Pictures of the laws of battles and campaigns."""

import altair as alt

from iacta.battle import Battle
from iacta.charts.theme import BLUE, RED, AnyChart, finish, named
from iacta.outcome import is_won
from iacta.variants import rules_name

__all__ = ["battle_law"]


def battle_law(battle: Battle) -> AnyChart:
    """Return how a battle ends: the chances of each number of armies left, to either side.

    battle: the battle.
    """
    law = battle.outcomes()
    rows = [
        {
            "end": "you win" if is_won(end) else "they hold",
            "difference": end.attackers if is_won(end) else -end.defenders,
            "probability": float(chance),
        }
        for end, chance in law.items()
    ]
    chance = float(law.prob(is_won))
    chart = (
        alt.Chart(named("outcomes"))
        .mark_bar()
        .encode(
            x=alt.X("difference:Q", title="your armies left (to the right), theirs (to the left)"),
            y=alt.Y("probability:Q", title="chance", axis=alt.Axis(format="%")),
            color=alt.Color(
                "end:N",
                title=None,
                scale=alt.Scale(domain=["you win", "they hold"], range=[BLUE, RED]),
            ),
            tooltip=["end:N", "difference:Q", alt.Tooltip("probability:Q", format=".16~g")],
        )
    )
    return finish(
        chart,
        f"You win {chance:.0%} of the time.",
        f"{battle.attackers} armies against {battle.defenders} ({rules_name(battle.rules)} rules).",
        {"outcomes": rows},
    )
