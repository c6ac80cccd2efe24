"""Pictures of what to do: roll, stop or blitz, and with how many dice."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import altair as alt

from iacta.charts.theme import (
    AMBER,
    BLUE,
    COUNT,
    GREEN,
    GREY,
    PURPLE,
    RED,
    AnyChart,
    Row,
    expect,
    finish,
    named,
)
from iacta.charts.words import armies, fight
from iacta.checks import shown
from iacta.errors import TooLargeError
from iacta.questions.decisions import Decision, DiceDecision

__all__ = ["decision_map", "dice_map"]

ACTIONS = {"roll": BLUE, "blitz": GREEN, "stop": AMBER}
DICE = (AMBER, PURPLE, GREEN, BLUE, RED, GREY)  # for no die, one, two ...
MOST_STATES = 10**5
MARGIN = 3  # how many more attackers than the boundary needs are shown
SIDE = 440


def decision_map(decision: Decision) -> AnyChart:
    """Return what to do in every state of a battle, and where that changes.

    decision: what `when_to_stop` or `best_mix` returns.

    The chart has a table `actions`: against so many `defenders` the `action` with `least` to `most`
    attackers; a table `boundary` as the decision has it; and the battle itself. More than 100,000
    states are refused.
    """
    expect(decision, Decision, "decision")
    top = _top(decision)
    if top * decision.defenders > MOST_STATES:
        raise TooLargeError(
            f"a decision that is drawn must have at most {MOST_STATES:,} states, got "
            f"{shown(top)} attackers by {shown(decision.defenders)} defenders"
        )
    boundary = [each._asdict() for each in decision.boundary if each.attackers is not None]
    battle = {"attackers": decision.attackers, "defenders": decision.defenders}
    return finish(
        _map_chart(decision),
        _title(decision),
        fight(decision.attackers, decision.defenders, decision.rules)
        + f" What is best {_aim(decision)}, with every number of armies; the dot is this battle.",
        {
            "actions": list(_runs(decision.action_at, top, decision.defenders, "action")),
            **({"boundary": boundary} if boundary else {}),
            "battle": [{**battle, "action": decision.action}],
        },
    )


def _top(decision: Decision) -> int:
    """Return the most attackers that are worth showing."""
    fewest = [each.attackers for each in decision.boundary if each.attackers is not None]
    known = decision.rolls.shape[1] - 1 + decision.rules.garrison
    return min(max(decision.attackers, *fewest, 1) + MARGIN, int(known))


def _title(decision: Decision) -> str:
    last = decision.boundary[-1]
    word = "blitz" if decision.objective == "conquest" else "roll"
    now = f"{decision.action.capitalize()} now"
    if last.attackers is None:
        return f"{now}: against {last.defenders} it is never best to {word}."
    fewest = armies(last.attackers)
    return f"{now}. To {word} against {last.defenders} takes at least {fewest}."


def _aim(decision: Decision) -> str:
    if decision.objective == "conquest":
        return "to take the territory"
    return "for the worth of territory and armies"


def _runs(at: Callable[[int, int], object], top: int, defenders: int, name: str) -> Iterator[Row]:
    """Yield what to do against each number of defenders, in runs of attackers who do the same."""
    for d in range(1, defenders + 1):
        for done, same in groupby(range(1, top + 1), key=lambda a: at(a, d)):
            run = list(same)
            yield {"defenders": d, name: done, "least": run[0], "most": run[-1]}


def _axes() -> dict[str, Any]:
    whole = alt.Axis(format="d", tickMinStep=1, labelExpr=COUNT, grid=False)
    scale = alt.Scale(zero=False, nice=False)
    return {
        "x": alt.X("left:Q", title="defenders", axis=whole, scale=scale),
        "x2": "right:Q",
        "y": alt.Y("low:Q", title="attackers, garrison included", axis=whole, scale=scale),
    }


def _cells(table: str) -> Any:
    return (
        alt.Chart(named(table))
        .transform_calculate(
            left="datum.defenders - 0.5",
            right="datum.defenders + 0.5",
            low="datum.least - 0.5",
            high="datum.most + 0.5",
        )
        .mark_rect()
        .encode(**_axes(), y2="high:Q")
    )


def _map_chart(decision: Decision) -> AnyChart:
    known = [action for action in ACTIONS if action != "blitz" or decision.objective == "conquest"]
    color = alt.Color(
        "action:N",
        title=None,
        scale=alt.Scale(domain=known, range=[ACTIONS[action] for action in known]),
    )
    shown_runs = [
        "defenders:Q",
        "action:N",
        alt.Tooltip("least:Q", title="attackers from"),
        alt.Tooltip("most:Q", title="to"),
    ]
    line = (
        alt.Chart(named("boundary"))
        .transform_calculate(
            left="datum.defenders - 0.5",
            right="datum.defenders + 0.5",
            low="datum.attackers - 0.5",
        )
        .mark_rule(strokeWidth=2.5)
        .encode(**_axes(), tooltip=["defenders:Q", alt.Tooltip("attackers:Q", title="at least")])
    )
    dot = _dot().encode(tooltip=["attackers:Q", "defenders:Q", "action:N"])
    has_line = any(each.attackers is not None for each in decision.boundary)
    layers = [_cells("actions").encode(color=color, tooltip=shown_runs), *([line] * has_line), dot]
    return alt.layer(*layers).properties(height=SIDE)


def _dot() -> alt.Chart:
    """Return the dot of the battle that is asked about."""
    dot: alt.Chart = (
        alt.Chart(named("battle"))
        .mark_text(text="●", fontSize=16)
        .encode(x="defenders:Q", y="attackers:Q", tooltip=["attackers:Q", "defenders:Q"])
    )
    return dot


def dice_map(decision: DiceDecision) -> AnyChart:
    """Return how many dice both sides should throw in every state of a battle.

    decision: what `how_many_dice` returns.

    The chart has a table `attack` and a table `defence`: against so many `defenders` the `dice` of
    `least` to `most` attackers; and the battle itself. More than 100,000 states are refused.
    """
    expect(decision, DiceDecision, "decision")
    garrison = decision.rules.garrison
    top = decision.attackers
    if top * decision.defenders > MOST_STATES:
        raise TooLargeError(
            f"a decision that is drawn must have at most {MOST_STATES:,} states, got "
            f"{shown(top)} attackers by {shown(decision.defenders)} defenders"
        )

    def dice(policy: Any) -> list[Row]:
        """Return the rows of a side.

        policy: how many dice it throws, at `[defenders, attackers able to attack]`.
        """

        def at(a: int, d: int) -> int:
            """Return the number of dice, 0 where there is no roll.

            a: attackers, garrison included.
            d: defenders.
            """
            return int(policy[d, a - garrison]) if a > garrison else 0

        return list(_runs(at, top, decision.defenders, "dice"))

    tables = {"attack": dice(decision.attack_policy), "defence": dice(decision.defence_policy)}
    most = max(row["dice"] for rows in tables.values() for row in rows)
    panels = [
        alt.layer(_dice_chart(name, most), _dot()).properties(
            height=SIDE // 2, title=alt.TitleParams(f"dice of the {name}", fontSize=12)
        )
        for name in tables
    ]
    battle = [{"attackers": decision.attackers, "defenders": decision.defenders}]
    return finish(
        alt.vconcat(*panels),
        f"Throw {_dice(decision.attack_dice)} now, and expect {_dice(decision.defence_dice)}.",
        fight(decision.attackers, decision.defenders, decision.rules)
        + " The best number of dice for either side, with every number of armies; the dot is this "
        "battle.",
        {**tables, "battle": battle},
    )


def _dice(count: int) -> str:
    return "1 die" if count == 1 else f"{count or 'no'} dice"


def _dice_chart(table: str, most: int) -> Any:
    counts = list(range(most + 1))
    return _cells(table).encode(
        color=alt.Color(
            "dice:O",
            title="dice",
            scale=alt.Scale(domain=counts, range=[DICE[count % len(DICE)] for count in counts]),
            legend=alt.Legend(columns=6),
        ),
        tooltip=["defenders:Q", "dice:O", "least:Q", "most:Q"],
    )
