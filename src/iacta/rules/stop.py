"""Stop rules: when attackers stop before a battle ends."""

from dataclasses import dataclass, replace

from iacta.inputs.checks import check_choice, quote, read_int, set_field
from iacta.inputs.errors import MalformedError
from iacta.inputs.reprs import format_short_repr
from iacta.rules.rules import Rules

# The end of error messages about stop rules that need single rolls.
ROLL_STOP_PURPOSE = "for a battle that stops by stop_at, charge, max_losses, max_rolls or leave"
NUMBERS = ("hold_back", "stop_at", "max_losses", "max_rolls", "leave")


@dataclass(frozen=True, repr=False, kw_only=True)
class StopRule:
    """The conditions under which attackers stop. The attackers stop at the first condition met.

    hold_back: the number of armies that stay out of the battle, in addition to the garrison. These
        armies roll no dice, and the attackers stop when no other armies are left. `None` or 0
        holds back no army.
    stop_at: the attackers stop when at most this many armies are left on their territory, including
        the garrison and `hold_back`. Until then these armies roll dice. The last roll may leave
        fewer armies. `None` or 0 sets no limit.
    charge: whether the attackers stop when they can only roll fewer dice than in the first roll.
    max_losses: the attackers stop when they have lost this many armies or more. With 0 they never
        roll. `None` sets no limit.
    max_rolls: the attackers stop after this many rolls. With 0 they never roll. `None` sets no
        limit.
    leave: the attackers stop when at most this many defenders are left; the last roll may destroy
        more. `None` or 0 sets no limit. Only chances and distributions of single battles and of
        campaigns can be computed, not the armies needed.

    `StopRule()` never stops an attack. Negative or fractional numbers raise `IactaError`.

    >>> StopRule(hold_back=5, charge=True)
    StopRule(hold_back=5, charge=True)
    >>> StopRule(hold_back=0, stop_at=0) == StopRule()
    True
    >>> from iacta import Battle
    >>> [round(Battle(10, 5, stop=stop).win_probability(), 4)
    ...  for stop in (StopRule(), StopRule(hold_back=3), StopRule(stop_at=3))]
    [0.8729, 0.6377, 0.8098]
    >>> StopRule(max_rolls=-1)
    Traceback (most recent call last):
        ...
    iacta.IllegalError: max_rolls must be a whole number of at least 0, got -1

    Source: the app "RISK: Global Domination", in which armies that are held back throw no dice.
    """

    hold_back: int | None = None
    stop_at: int | None = None
    charge: bool = False
    max_losses: int | None = None
    max_rolls: int | None = None
    leave: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.charge, (True, False), "charge")
        for name in NUMBERS:
            value = getattr(self, name)
            set_field(self, name, None if value is None else read_int(value, name, minimum=0))
        for name in ("hold_back", "stop_at", "leave"):
            set_field(self, name, getattr(self, name) or None)

    def __repr__(self) -> str:
        return format_short_repr(self)

    @property
    def is_reserve(self) -> bool:
        """Whether `hold_back` is the only condition, which is equivalent to a larger garrison."""
        return replace(self, hold_back=None) == NEVER

    def add_to_garrison(self, rules: Rules) -> Rules:
        """Return rules whose garrison includes the armies held back.

        rules: the rules of the battle.

        >>> StopRule(hold_back=5).add_to_garrison(Rules())
        Rules(garrison=6)
        """
        return replace(rules, garrison=rules.garrison + (self.hold_back or 0))

    def subtract_garrison(self, garrison: int) -> "StopRule":
        """Return the stop rule with a `stop_at` that excludes the garrison.

        garrison: the number of armies that must stay behind.

        >>> StopRule(stop_at=5).subtract_garrison(2), StopRule(stop_at=1).subtract_garrison(2)
        (StopRule(stop_at=3), StopRule())
        """
        return replace(self, stop_at=max((self.stop_at or 0) - garrison, 0))

    def fewest_able(self, able: int, most_dice: int) -> int:
        """Return the minimum number of attackers that continue to roll, excluding the garrison.

        able: the attackers at the start, excluding the garrison and the armies held back.
        most_dice: the largest number of attack dice that count.

        `stop_at` must exclude the garrison; see `subtract_garrison`.

        >>> StopRule(charge=True).fewest_able(9, 3), StopRule(max_losses=4).fewest_able(9, 3)
        (3, 6)
        >>> StopRule(stop_at=4).fewest_able(9, 3)
        5
        """
        fewest = min(able, most_dice) if self.charge else 1
        if self.max_losses is not None:
            fewest = max(fewest, able - self.max_losses + 1)
        return max(fewest, self.fewest_of_all)

    @property
    def fewest_of_all(self) -> int:
        """The minimum of `fewest_able` over all numbers of attackers at the start."""
        return 1 + (self.stop_at or 0)


NEVER = StopRule()


def read_stop(stop: object) -> StopRule:
    """Return a stop rule; `None` becomes `StopRule()`, and other values raise `MalformedError`.

    >>> read_stop(None)
    StopRule()
    """
    if stop is None:
        return NEVER
    if not isinstance(stop, StopRule):
        number = quote(stop)
        hint = f"; did you mean StopRule(hold_back={number}) or StopRule(stop_at={number})?"
        raise MalformedError(
            f"stop must be a StopRule, got {number}{hint if type(stop) is int else ''}"
        )
    return stop


def format_stop_argument(stop: StopRule) -> str:
    """Format the stop rule as the last argument of a repr; empty for `StopRule()`.

    >>> format_stop_argument(StopRule(max_rolls=3)), format_stop_argument(StopRule())
    (', stop=StopRule(max_rolls=3)', '')
    """
    return "" if stop == NEVER else f", stop={stop!r}"
