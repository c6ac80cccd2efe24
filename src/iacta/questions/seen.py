"""Seen: the chance to win against a defender who chooses his dice after the attack roll."""

from dataclasses import replace

from iacta.checks import check_choice, whole_number
from iacta.methods import check_rules, sees_first
from iacta.methods.replies import Aim
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["win_probability_if_seen"]


def win_probability_if_seen(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    aim: Aim = "conquest",
    garrison: int | None = None,
) -> float:
    """Return the chance to win against a defender who chooses his dice after the attack roll.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    aim: what the defender plays for: `"conquest"`, that the territory is not taken; `"losses"`,
        to lose as few armies in the battle as he can, in the mean. Of equal numbers of dice he
        throws the larger.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.

    A float, with a relative error of at most `iacta.methods.sees_first.relative_error`. Refused
    are the same battles as by `iacta.methods.sees_first.refuse`, but the rules need not say that
    the defender sees the attack.

    >>> round(win_probability_if_seen(11, 10), 4)
    0.4529
    >>> round(win_probability_if_seen(11, 10, aim="losses"), 4)
    0.454
    """
    check_choice(aim, ("conquest", "losses"), "aim")
    stack = whole_number(attackers, "attackers", least=1)
    held = whole_number(defenders, "defenders", least=1)
    found = find_rules(rules, garrison)
    check_rules(replace(found, mode=DefenderSeesFirst()))
    able = max(stack - found.garrison, 0)
    return float(sees_first.chance_table(able, held, found, aim)[held, able])
