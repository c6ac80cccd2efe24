"""Seen: the chance to win against a defender who chooses his dice after the attack roll."""

from iacta.checks import check_choice, whole_number
from iacta.methods.sees_first import Aim, chance_if_seen
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
    rules: `Rules`, or the name of a rule set; they need not say that the defender sees the attack.
    aim: what the defender plays for: `"conquest"`, that the territory is not taken; `"losses"`,
        that he loses as few armies in the battle as he can, on average. Of equally good numbers of
        dice he throws the larger.
    garrison: armies that must stay behind; `None` keeps what the rules say, usually 1.

    A float, with the error of `iacta.methods.sees_first`. Refused are rules with dice in which no
    attack can be seen, and battles too large for memory.

    >>> round(win_probability_if_seen(11, 10), 4)
    0.4529
    >>> round(win_probability_if_seen(11, 10, aim="losses"), 4)
    0.454
    """
    check_choice(aim, ("conquest", "losses"), "aim")
    stack = whole_number(attackers, "attackers", least=1)
    held = whole_number(defenders, "defenders", least=1)
    found = find_rules(rules, garrison)
    return chance_if_seen(stack - found.garrison, held, found, aim)
