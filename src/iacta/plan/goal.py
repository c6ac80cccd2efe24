"""Goal: what a plan is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from iacta.board import Board, Position
from iacta.checks import put, row_of, shown
from iacta.errors import IllegalError, MalformedError, TooLargeError

__all__ = ["MOST_WORTH", "Goal", "TakeAll", "TakeAny", "Worth", "eliminate", "read_goal"]

MOST_WORTH = 1e9


@dataclass(frozen=True)
class TakeAll:
    """To own all of some territories at the end.

    territories: their names, or one text: names with commas between them, or a continent's name.

    >>> TakeAll(["Egypt", "Congo"])
    TakeAll(territories=('Egypt', 'Congo'))
    """

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))


@dataclass(frozen=True)
class TakeAny:
    """To conquer at least one of some territories.

    territories: as for `TakeAll`.

    >>> TakeAny("Egypt,Congo")
    TakeAny(territories='Egypt,Congo')
    """

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))


@dataclass(frozen=True)
class Worth:
    """To gain as much as can be expected: worths of what is owned at the end, added up.

    territories: the worth of a territory: one number for each territory, or a mapping from names
        to numbers; those not named are worth nothing.
    bonus: the worth of each army of a continent's bonus, for continents owned as a whole.
    army: the worth of each army left to the player.

    Worths are at least 0 and at most 1e9; others are refused.

    >>> Worth(1, bonus=2.0, army=0.5)
    Worth(territories=1, bonus=2.0, army=0.5)
    """

    territories: float | tuple[tuple[str, float], ...] | Mapping[str, float] = 1.0
    bonus: float = 1.0
    army: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.territories, Mapping):
            put(self, "territories", tuple(self.territories.items()))
            _check_worths(self.territories)
            put(self, "territories", tuple(sorted(self.territories)))
        elif isinstance(self.territories, tuple):
            _check_worths(self.territories)
        else:
            _check_worth(self.territories, "territories")
        _check_worth(self.bonus, "bonus")
        _check_worth(self.army, "army")

    def of(self, name: str) -> float:
        """Return the worth of the territory `name`."""
        if isinstance(self.territories, tuple):
            return float(dict(self.territories).get(name, 0.0))
        return float(self.territories)  # type: ignore[arg-type] # checked to be a number


Goal: TypeAlias = TakeAll | TakeAny | Worth


def eliminate(position: Position, owner: str) -> TakeAll:
    """Return the goal to take all territories of another player.

    position: who holds what.
    owner: the other player.

    An owner without territories is refused, and so is the player whose turn it is.
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    if not isinstance(owner, str):
        raise MalformedError(f"owner must be a player's name, got {shown(owner)}")
    theirs = position.owned_by(owner)
    if not theirs or owner == position.player:
        others = sorted({each.owner for each in position.holdings} - {position.player})
        raise IllegalError(f"owner must be one of {', '.join(others)}, got {shown(owner)}")
    return TakeAll(theirs)


def read_goal(goal: Goal, board: Board) -> Goal:
    """Return a goal with its names as the board spells them.

    goal: the goal.
    board: the board; names that it does not know are refused.
    """
    if isinstance(goal, TakeAll | TakeAny):
        return type(goal)(_found(goal.territories, board))
    if not isinstance(goal, Worth):
        raise MalformedError(f"goal must be TakeAll, TakeAny or Worth, got {shown(goal)}")
    if isinstance(goal.territories, tuple):
        named = {board.find(name): worth for name, worth in goal.territories}
        return Worth(named, goal.bonus, goal.army)
    return goal


def _names(territories: object) -> tuple[str, ...] | str:
    if isinstance(territories, str):
        return territories
    names = tuple(row_of(territories, "territories", "names"))
    for name in names:
        if not isinstance(name, str):
            raise MalformedError(f"territories must be names, got {shown(name)}")
    return names


def _found(territories: tuple[str, ...] | str, board: Board) -> tuple[str, ...]:
    if isinstance(territories, str):
        found = tuple(board.find_set(territories))
    else:
        found = tuple(board.find(name) for name in territories)
    if not found:
        raise IllegalError("territories must have at least one name, got none")
    return tuple(dict.fromkeys(found))


def _check_worths(pairs: object) -> None:
    for pair in row_of(pairs, "territories", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise MalformedError(
                f"territories must be a number, or pairs of a name and its worth, got {shown(pair)}"
            )
        _check_worth(pair[1], f"the worth of {pair[0]}")


def _check_worth(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(f"{name} must be a number, got {shown(value)}")
    if isinstance(value, float) and not isfinite(value):
        raise MalformedError(f"{name} must be a number, got {shown(value)}")
    if value < 0:
        raise IllegalError(f"{name} must be at least 0, got {shown(value)}")
    if value > MOST_WORTH:
        raise TooLargeError(f"{name} must be at most {MOST_WORTH:g}, got {shown(value)}")
