"""Goals: what a plan is for, what each goal pays, and what it is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, TypeAlias

from iacta.board import Board, Position
from iacta.checks import put, row_of, shown
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.plan.problem import Problem, bits, mask_of

__all__ = [
    "MOST_WORTH",
    "Goal",
    "Rewards",
    "TakeAll",
    "TakeAny",
    "Worth",
    "deed",
    "eliminate",
    "goal_words",
    "held_worth",
    "read_goal",
    "worth_rewards",
]

MOST_WORTH = 1e9
MOST_NAMED = 4


@dataclass(frozen=True)
class TakeAll:
    """Own all of some territories at the end.

    territories: their names, or one text: names separated by commas, or a continent's name.

    >>> TakeAll(["Egypt", "Congo"])
    TakeAll(territories=('Egypt', 'Congo'))
    """

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))


@dataclass(frozen=True)
class TakeAny:
    """Conquer at least one of some territories.

    territories: as for `TakeAll`.

    >>> TakeAny("Egypt,Congo")
    TakeAny(territories='Egypt,Congo')
    """

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))


@dataclass(frozen=True)
class Worth:
    """Maximise the expected worth of what is owned at the end.

    territories: the worth of a territory: one number for all of them, or a mapping from names to
        numbers; those not named are worth nothing.
    bonus: the worth of each army of a continent's bonus, for continents owned as a whole.
    army: the worth of each army that the player still has.

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
    """Return the goal of taking all territories of another player.

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
    """Return a goal with its names as the board spells them; unknown names are refused."""
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


class Rewards(NamedTuple):
    """What a goal pays; the value of a plan is what it pays on average.

    all_of: a set that pays 1 when all of it is taken, which ends the plan; 0 for none.
    any_of: a set that pays 1 when any of it is taken, which ends the plan; 0 for none.
    territories: what each territory pays when it is taken.
    continents: sets, and what each pays when it is taken.
    army: what each lost army costs.
    """

    all_of: int = 0
    any_of: int = 0
    territories: tuple[float, ...] = ()
    continents: tuple[tuple[int, float], ...] = ()
    army: float = 0.0

    @property
    def is_chance(self) -> bool:
        """Whether what is paid on average is the chance of a goal."""
        return bool(self.all_of or self.any_of)

    def of(self, c: int, left: int) -> float:
        """Return what it pays to take c when the set `left`, c included, is not yet taken."""
        after = left & ~(1 << c)
        if self.all_of:
            return float(not after & self.all_of)
        if self.any_of:
            return float(bool(self.any_of >> c & 1))
        paid = self.territories[c] if self.territories else 0.0
        return paid + sum(w for mask, w in self.continents if mask >> c & 1 and not after & mask)

    def is_over(self, left: int, taken: int) -> bool:
        """Return whether nothing more can be paid when `taken` is taken and `left` is not."""
        if self.all_of:
            return not left & self.all_of
        return bool(taken & self.any_of)


def worth_rewards(problem: Problem, goal: Worth, field: int) -> Rewards:
    """Return what a worth pays for the territories of `field`, all that may be attacked."""
    names = problem.board.territories
    numbers = {name: t for t, name in enumerate(names)}
    continents = []
    for each in problem.board.continents:
        missing = mask_of(numbers[name] for name in each.territories) & problem.enemy
        if missing and not missing & ~field and goal.bonus * each.bonus:
            continents.append((missing, goal.bonus * each.bonus))
    paid = tuple(goal.of(name) for name in names)
    return Rewards(territories=paid, continents=tuple(continents), army=goal.army)


def held_worth(problem: Problem, goal: Goal) -> float:
    """Return what the player's territories, continents and armies are worth at the start.

    Only a `Worth` pays for these; for the other goals it is 0.
    """
    if not isinstance(goal, Worth):
        return 0.0
    owned = [problem.name(t) for t in bits(problem.owned)]
    whole = [each for each in problem.board.continents if {*owned} >= {*each.territories}]
    bonus = sum(each.bonus for each in whole)
    armies = sum(problem.armies[t] for t in bits(problem.owned))
    return sum(map(goal.of, owned)) + goal.bonus * bonus + goal.army * armies


def deed(position: Position, goal: Goal) -> str:
    """Return what a player who reaches a goal does, as a verb with its object.

    position: who holds what.
    goal: the goal, with the names of the board.

    >>> from iacta.board.files import classic_board
    >>> from iacta.board import Holding
    >>> holdings = [Holding("blue", 2)] * 41
    >>> start = Position(classic_board(), "red", (*holdings, Holding("red", 9)))
    >>> deed(start, TakeAll(["Venezuela", "Peru", "Brazil", "Argentina"]))
    'take South America'
    >>> deed(start, TakeAny(["Peru", "Brazil"]))
    'take Peru or Brazil'
    """
    if isinstance(goal, Worth):
        return "gain the greatest expected worth"
    names = goal.territories
    if isinstance(names, str):
        names = position.board.find_set(names)
    same = [each.name for each in position.board.continents if {*each.territories} == {*names}]
    continent = same[0] if same and len(names) > 1 else None
    is_any = isinstance(goal, TakeAny)
    if continent is not None:
        return f"take a territory of {continent}" if is_any else f"take {continent}"
    for owner in {each.owner for each in position.holdings} - {"", position.player}:
        if not is_any and {*position.owned_by(owner)} == {*names}:
            return f"eliminate {owner}"
    if len(names) == 1:
        return f"take {names[0]}"
    if len(names) <= MOST_NAMED:
        return f"take {', '.join(names[:-1])} {'or' if is_any else 'and'} {names[-1]}"
    return f"take {'one' if is_any else 'all'} of {len(names)} territories"


def goal_words(goal: Goal) -> str:
    """Return the kind of a goal in a word or two.

    >>> goal_words(TakeAny("Peru"))
    'take any'
    """
    if isinstance(goal, Worth):
        return "worth"
    return "take any" if isinstance(goal, TakeAny) else "take all"
