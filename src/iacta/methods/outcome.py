"""Outcome: who is left when a battle is over."""

from typing import NamedTuple

from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop

__all__ = ["Outcome", "Stage", "is_won"]


class Outcome(NamedTuple):
    """The armies left when a battle is over.

    attackers: armies on the attacking territory, garrison included, before any advance.
    defenders: armies left on the defended territory; 0 when the attackers have won.
    """

    attackers: int
    defenders: int


def is_won(outcome: Outcome) -> bool:
    """Tell whether the attackers have won: no defender is left.

    >>> is_won(Outcome(attackers=3, defenders=0)), is_won(Outcome(attackers=1, defenders=4))
    (True, False)
    """
    return outcome.defenders == 0


class Stage(NamedTuple):
    """One battle of a campaign.

    defenders: armies that defend the territory.
    rules: the rules of the battle, with the garrison of the territory attacked from.
    stop: when the attackers stop.
    """

    defenders: int
    rules: Rules
    stop: Stop = NEVER
