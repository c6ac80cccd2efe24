"""Actions of a turn, what comes of them, and the rows in which a turn lists them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias, overload

from iacta.game.cards import Hand
from iacta.methods.kernel import Throw
from iacta.rules.roll import Losses

MOST_SHOWN = 8  # actions, in a repr


if TYPE_CHECKING:  # the union of all, so that a `match` of them can be seen to be complete
    Action: TypeAlias = "Reveal | Trade | Place | Attack | Defend | Advance | Fortify | EndPhase"
    _Action: TypeAlias = object
else:  # a class, whose name help shows

    class Action:
        """An action of a turn; its repr is short and can be pasted back."""

        def __repr__(self) -> str:
            values = ((getattr(self, each.name), each.default) for each in fields(self))
            shown = (repr(value) for value, default in values if value != default)
            return f"{type(self).__name__}({', '.join(shown)})"

    _Action = Action


@dataclass(frozen=True, repr=False)
class Reveal(_Action):
    """Turn over the cards in hand that are not known."""


@dataclass(frozen=True, repr=False)
class Trade(_Action):
    """Trade in a set of cards for new armies.

    cards: the three cards.
    territory: the player's own one, pictured on one of the cards, that gets two armies more; `""`
        where there is none, or another one had them in this turn.
    """

    cards: Hand
    territory: str = ""


@dataclass(frozen=True, repr=False)
class Place(_Action):
    """Place new armies on a territory.

    territory: its name.
    armies: how many.
    """

    territory: str
    armies: int


@dataclass(frozen=True, repr=False)
class Attack(_Action):
    """Roll from one territory against another; a whole battle, where these are decided at once.

    start, to: the names of the two territories.
    dice: how many attack dice are thrown; in a whole battle, in its first roll.
    """

    start: str
    to: str
    dice: int


@dataclass(frozen=True, repr=False)
class Defend(_Action):
    """Answer the attack dice that are seen.

    dice: how many defence dice are thrown; where several numbers lead to the same results, the
        first of them stands for all.
    """

    dice: int


@dataclass(frozen=True, repr=False)
class Advance(_Action):
    """Move armies into the territory that has just been taken.

    armies: how many move in, those that must included.
    """

    armies: int


@dataclass(frozen=True, repr=False)
class Fortify(_Action):
    """Move armies at the end of the turn.

    start, to: the names of the two territories.
    armies: how many move.
    """

    start: str
    to: str
    armies: int


@dataclass(frozen=True, repr=False)
class EndPhase(_Action):
    """End the phase: trade no more, attack no more, or move no armies."""


Result: TypeAlias = Losses | Throw | Hand | None


class Numbered(Sequence[Action]):
    """Actions that differ in a number of armies only, each made when it is asked for.

    make: the action with a number of armies.
    numbers: the numbers.
    """

    def __init__(self, make: Callable[[int], Action], numbers: range) -> None:
        self.make, self.numbers = make, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> "Numbered": ...
    def __getitem__(self, index: int | slice) -> "Action | Numbered":
        if isinstance(index, slice):
            return Numbered(self.make, self.numbers[index])
        return self.make(self.numbers[index])

    def __contains__(self, action: object) -> bool:
        return self.find(action) is not None

    def find(self, action: object) -> Action | None:
        """Return the action that is equal to a given one, `None` if there is none."""
        try:
            number = int(getattr(action, "armies"))  # noqa: B009 # an object may have none
        except (AttributeError, TypeError, ValueError, OverflowError):
            return None
        if number not in self.numbers:
            return None
        own = self.make(number)
        return own if own == action else None


class Actions(Sequence[Action]):
    """The legal actions of a turn, in the order of the board; `EndPhase` comes last.

    parts: rows of actions, one after another. Large ones are `Numbered`.

    >>> actions = Actions([Numbered(lambda n: Place("Peru", n), range(1, 1001)), [EndPhase()]])
    >>> len(actions), actions[998:], Place("Peru", 7) in actions
    (1001, [Place('Peru', 999), Place('Peru', 1000), EndPhase()], True)
    """

    def __init__(self, parts: Iterable[Sequence[Action]]) -> None:
        self.parts = [part for part in parts if part]
        self._ends = list(accumulate(map(len, self.parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> list[Action]: ...
    def __getitem__(self, index: int | slice) -> Action | list[Action]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        place = range(len(self))[index]
        part = bisect_right(self._ends, place)
        return self.parts[part][place - (self._ends[part] - len(self.parts[part]))]

    def __iter__(self) -> Iterator[Action]:
        for part in self.parts:
            yield from part

    def __contains__(self, action: object) -> bool:
        return any(action in part for part in self.parts)

    def find(self, action: object) -> Action | None:
        """Return the legal action that is equal to a given one, `None` if there is none.

        Equal values may be of another type: 3.0 and `True` equal whole numbers.

        >>> Actions([[Attack("Peru", "Brazil", 1)]]).find(Attack("Peru", "Brazil", True))
        Attack('Peru', 'Brazil', 1)
        """
        for part in self.parts:
            if isinstance(part, Numbered):
                own = part.find(action)
            else:
                own = next((each for each in part if each == action), None)
            if own is not None:
                return own
        return None

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:MOST_SHOWN]))
        return f"<{len(self)} actions: {shown}{', ...' if len(self) > MOST_SHOWN else ''}>"
