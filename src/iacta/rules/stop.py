"""Stop rule: when attackers stop, before the territory is taken or the last of them is lost."""

from dataclasses import dataclass, replace

from iacta.checks import check_choice, put, shown, whole_number
from iacta.errors import MalformedError
from iacta.reprs import short_repr
from iacta.rules.rules import Rules


@dataclass(frozen=True, repr=False)
class StopRule:
    """When the attackers stop; of several conditions, the first that is met.

    stop_at: armies kept out of the fight besides the garrison: they throw no dice, and the
        attackers stop when only they are left. `None` or 0 keeps none.
    charge: whether they stop as soon as they would roll fewer dice than in their first roll.
    max_losses: they stop once they have lost at least this many armies; the last roll may cost
        more. With 0 they never roll. `None` sets no limit.
    max_rolls: they stop after this many rolls. With 0 they never roll. `None` sets no limit.

    `StopRule()` never stops: the battle is fought until one side cannot go on. Numbers below 0 or
    not whole are refused.

    >>> StopRule(stop_at=5, charge=True)
    StopRule(stop_at=5, charge=True)
    >>> StopRule(stop_at=0) == StopRule()
    True
    >>> StopRule(max_rolls=-1)
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: max_rolls must be a whole number of at least 0, got -1

    Source: the app "RISK: Global Domination" throws no dice for armies kept out of the fight.
    """

    stop_at: int | None = None
    charge: bool = False
    max_losses: int | None = None
    max_rolls: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.charge, (True, False), "charge")
        for name in ("stop_at", "max_losses", "max_rolls"):
            value = getattr(self, name)
            put(self, name, None if value is None else whole_number(value, name, least=0))
        put(self, "stop_at", self.stop_at or None)

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def is_reserve(self) -> bool:
        """Whether only `stop_at` can stop the battle, which is like a larger garrison."""
        return replace(self, stop_at=None) == NEVER

    def rules_in_fight(self, rules: Rules) -> Rules:
        """Return the rules with a garrison that includes the armies kept out of the fight.

        rules: the rules of the battle.

        >>> StopRule(stop_at=5).rules_in_fight(Rules())
        Rules(garrison=6)
        """
        return replace(rules, garrison=rules.garrison + (self.stop_at or 0))

    def fewest_able(self, able: int, most_dice: int) -> int:
        """Return the fewest attackers able to attack that roll again.

        able: attackers able to attack at the start, without those kept out of the fight.
        most_dice: the most attack dice that count.

        >>> StopRule(charge=True).fewest_able(9, 3), StopRule(max_losses=4).fewest_able(9, 3)
        (3, 6)
        """
        fewest = min(able, most_dice) if self.charge else 1
        if self.max_losses is not None:
            fewest = max(fewest, able - self.max_losses + 1)
        return max(fewest, 1)


NEVER = StopRule()


def read_stop(stop: object) -> StopRule:
    """Return a stop rule, `StopRule()` for `None`, or refuse anything else.

    >>> read_stop(None)
    StopRule()
    """
    if stop is None:
        return NEVER
    if not isinstance(stop, StopRule):
        hint = f"; did you mean StopRule({shown(stop)})?" if type(stop) is int else ""
        raise MalformedError(f"stop must be a StopRule, got {shown(stop)}{hint}")
    return stop


def stop_argument(stop: StopRule) -> str:
    """Return the stop as a last argument in a repr, empty if it never stops.

    >>> stop_argument(StopRule(max_rolls=3)), stop_argument(StopRule())
    (', stop=StopRule(max_rolls=3)', '')
    """
    return "" if stop == NEVER else f", stop={stop!r}"
