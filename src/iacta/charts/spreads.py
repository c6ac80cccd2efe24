"""Pictures of armies spread over a chain of territories."""

import altair as alt

from iacta.charts.theme import RED, AnyChart, expect, finish, named
from iacta.charts.words import armies, per_cent, under_rules
from iacta.questions.spread import BestSpread, Objective
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["best_spread"]


def best_spread(
    best: BestSpread,
    attackers: int,
    objective: Objective = "break through",
    rules: Rules | str = "classic",
    label: str = "",
) -> AnyChart:
    """Return the best spread of armies as bars, from one end of the chain to the other.

    best: what `spread_defenders` returns.
    attackers: armies of the one stack that attacks, garrison included.
    objective: what the attackers want.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.
    """
    expect(best, BestSpread, "best")
    found = find_rules(rules)
    spread = best.spreads[0]
    rows = [{"territory": place, "defenders": count} for place, count in enumerate(spread, start=1)]
    base = alt.Chart(named("spread")).encode(
        x=alt.X("territory:O", title="territory of the chain", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "defenders:Q",
            title="defenders",
            axis=alt.Axis(format=",d", tickMinStep=1),
            scale=alt.Scale(domain=[0, 1.08 * max(spread)], nice=False),  # room for the number
        ),
        tooltip=["territory:O", "defenders:Q"],
    )
    room = alt.ExprRef("bandwidth('x') < 14 ? 0 : 1")
    values = base.mark_text(dy=-7, opacity=room).encode(text="defenders:Q")
    known = "no spread is better" if best.is_exact else "the best that a search has found"
    return finish(
        alt.layer(base.mark_bar(color=RED), values),
        _title(best, attackers, objective),
        f"The best spread of {armies(sum(spread))} over {len(spread)} territories in a row; "
        f"{known} ({under_rules(label or rules_name(found), found.garrison)}).",
        {"spread": rows},
    )


def _title(best: BestSpread, attackers: int, objective: Objective) -> str:
    stack = f"{attackers} {'attacker' if attackers == 1 else 'attackers'}"
    if objective == "break through":
        verb = "breaks" if attackers == 1 else "break"
        return f"{stack} {verb} through {per_cent(float(best.value))} of the time at best."
    verb = "takes" if attackers == 1 else "take"
    of_all = armies(len(best.spreads[0]), "territory", "territories")
    return f"{stack} {verb} {float(best.value):.2f} of {of_all} on average, at best."
