"""The actions of a turn, their results, and the lists of legal actions."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias, overload

from iacta.game.cards import Hand
from iacta.methods.kernel import Throw
from iacta.rules.roll import Losses

MAX_SHOWN_ACTIONS = 8  # the maximum number of actions in the repr of `Actions`


if TYPE_CHECKING:  # a union, so that type checkers can prove that a `match` is exhaustive
    Action: TypeAlias = "Reveal | Trade | Place | Attack | Defend | Advance | Fortify | EndPhase"
    _Action: TypeAlias = object
else:  # a class at run time, so that `help` shows the name `Action`

    class Action:
        """The base class of actions, with a short repr that is valid Python code."""

        def __repr__(self) -> str:
            values = ((getattr(self, each.name), each.default) for each in fields(self))
            shown = (repr(value) for value, default in values if value != default)
            return f"{type(self).__name__}({', '.join(shown)})"

    _Action = Action


@dataclass(frozen=True, repr=False)
class Reveal(_Action):
    """Reveal the unknown cards in the player's hand."""


@dataclass(frozen=True, repr=False)
class Trade(_Action):
    """Trade in a set of cards for new armies.

    cards: the three cards of the set.
    territory: the player's territory that gets two extra armies because a card of the set pictures
        it; `""` if no card does, or if the player already received extra armies this turn.
    """

    cards: Hand
    territory: str = ""


@dataclass(frozen=True, repr=False)
class Place(_Action):
    """Place new armies on a territory.

    territory: the name of the territory.
    armies: the number of new armies.
    """

    territory: str
    armies: int


@dataclass(frozen=True, repr=False)
class Attack(_Action):
    """Attack a territory with one roll, or with a whole battle if the turn has no single rolls.

    start, to: the names of the attacking and the attacked territory.
    dice: the number of attack dice, or of attack dice in the first roll of a whole battle.
    """

    start: str
    to: str
    dice: int


@dataclass(frozen=True, repr=False)
class Defend(_Action):
    """Choose the defence dice after seeing the attack dice.

    dice: the number of defence dice. If several numbers give the same losses, only the smallest
        number is legal.
    """

    dice: int


@dataclass(frozen=True, repr=False)
class Advance(_Action):
    """Move armies into the territory that was just conquered.

    armies: the total number of armies that move in, including the required minimum.
    """

    armies: int


@dataclass(frozen=True, repr=False)
class Fortify(_Action):
    """Move armies at the end of the turn.

    start, to: the names of the territories.
    armies: the number of armies that move.
    """

    start: str
    to: str
    armies: int


@dataclass(frozen=True, repr=False)
class EndPhase(_Action):
    """End the phase: stop trading cards, stop attacking, or skip the fortification."""


Result: TypeAlias = Losses | Throw | Hand | None


class Numbered(Sequence[Action]):
    """A lazy sequence of actions that differ only in the number of armies.

    make: a function from a number of armies to an action.
    numbers: the numbers of armies.
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
        """Return the equal action of the sequence, or `None`."""
        try:
            number = int(getattr(action, "armies"))  # noqa: B009 # may be missing
        except (AttributeError, TypeError, ValueError, OverflowError):
            return None
        if number not in self.numbers:
            return None
        own = self.make(number)
        return own if own == action else None


class Actions(Sequence[Action]):
    """The legal actions of a turn in the order of the board; `EndPhase` comes last.

    parts: consecutive parts of the sequence; long parts are lazy (`Numbered`).

    >>> actions = Actions([Numbered(lambda n: Place("Peru", n), range(1, 1001)), [EndPhase()]])
    >>> len(actions), actions[998:], Place("Peru", 7) in actions
    (1001, [Place('Peru', 999), Place('Peru', 1000), EndPhase()], True)
    """

    def __init__(self, parts: Iterable[Sequence[Action]]) -> None:
        self.parts = [part for part in parts if part]

    @cached_property
    def _ends(self) -> list[int]:
        """The number of actions up to the end of each part."""
        return list(accumulate(map(len, self.parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> list[Action]: ...
    def __getitem__(self, index: int | slice) -> Action | list[Action]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        number = range(len(self))[index]
        part = bisect_right(self._ends, number)
        return self.parts[part][number - (self._ends[part] - len(self.parts[part]))]

    def __iter__(self) -> Iterator[Action]:
        for part in self.parts:
            yield from part

    def __contains__(self, action: object) -> bool:
        return self.find(action) is not None

    def find(self, action: object) -> Action | None:
        """Return the equal legal action, or `None`.

        Numbers of different types can be equal: `Place("Peru", 3.0)` finds `Place("Peru", 3)`.

        >>> Actions([[Attack("Peru", "Brazil", 1)]]).find(Attack("Peru", "Brazil", True))
        Attack('Peru', 'Brazil', 1)
        """
        with suppress(TypeError):  # an action with a value that has no hash is in no dictionary
            if (single := self._singles.get(action)) is not None:
                return single
        found = (part.find(action) for part in self.parts if isinstance(part, Numbered))
        return next((own for own in found if own is not None), None)

    @cached_property
    def _singles(self) -> dict[object, Action]:
        """The actions outside of lazy parts, for a fast search."""
        return {
            each: each for part in self.parts if not isinstance(part, Numbered) for each in part
        }

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:MAX_SHOWN_ACTIONS]))
        return f"<{len(self)} actions: {shown}{', ...' if len(self) > MAX_SHOWN_ACTIONS else ''}>"
