"""Goals: what a plan is for, what each goal pays, and what it is called."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import isfinite
from operator import or_
from typing import TypeAlias

from iacta.board import Board, Position
from iacta.checks import plain_number, put, row_of, shown
from iacta.display import Pasted
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.plan.problem import Problem, bits, mask_of, union

__all__ = [
    "MOST_WORTH",
    "Goal",
    "InOrder",
    "Rewards",
    "TakeAll",
    "TakeAny",
    "Worth",
    "deed",
    "eliminate",
    "goal_words",
    "held_worth",
    "names_in",
    "paying_sets",
    "read_goal",
    "worth_rewards",
]

MOST_WORTH = 1e9
MOST_NAMED = 4


@dataclass(frozen=True, repr=False)
class TakeAll(Pasted):
    """Own all of some territories at the end.

    territories: their names, or one text: names separated by commas, or a continent's name.
    owner: the player whose they all are, where he is to be eliminated; it changes only what the
        goal is called.

    >>> TakeAll(["Egypt", "Congo"])
    TakeAll(territories=('Egypt', 'Congo'))
    """

    territories: tuple[str, ...] | str
    owner: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))

    def _summary(self) -> str:
        return _several(self.territories)


@dataclass(frozen=True, repr=False)
class TakeAny(Pasted):
    """Conquer at least one of some territories.

    territories: as for `TakeAll`.

    >>> TakeAny("Egypt,Congo")
    TakeAny(territories='Egypt,Congo')
    """

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        put(self, "territories", _names(self.territories))

    def _summary(self) -> str:
        return _several(self.territories)


@dataclass(frozen=True, repr=False)
class Worth(Pasted):
    """Maximise the expected worth of what is owned at the end.

    territories: the worth of a territory: one number for all of them, or a mapping from names to
        numbers; those not named are worth nothing.
    bonus: the worth of each army of a continent's bonus, for continents owned as a whole.
    army: the worth of each army that the player still has.
    prizes: goals, each with what it is worth to reach it: pairs of a `TakeAll` and a number.

    Worths are at least 0 and at most 1e9; others are refused.

    >>> Worth(1, bonus=2.0, army=0.5).of("Egypt")
    1.0
    >>> Worth(0, bonus=0.0, prizes=((TakeAll("Africa"), 3.0), (TakeAll("Egypt"), 1.0))).prizes[1]
    (TakeAll(territories='Egypt'), 1.0)
    """

    territories: float | tuple[tuple[str, float], ...] | Mapping[str, float] = 1.0
    bonus: float = 1.0
    army: float = 0.0
    prizes: tuple[tuple[TakeAll, float], ...] = ()

    def __post_init__(self) -> None:
        for name in ("territories", "bonus", "army"):
            put(self, name, plain_number(getattr(self, name)))
        if isinstance(self.territories, Mapping):
            pairs = ((name, plain_number(worth)) for name, worth in self.territories.items())
            put(self, "territories", tuple(pairs))
            _check_worths(self.territories)
            put(self, "territories", tuple(sorted(self.territories)))
        elif isinstance(self.territories, tuple):
            _check_worths(self.territories)
        else:
            _check_worth(self.territories, "territories")
        _check_worth(self.bonus, "bonus")
        _check_worth(self.army, "army")
        put(self, "prizes", tuple(_checked_prizes(self.prizes)))

    def _summary(self) -> str:
        return f"bonus {self.bonus:g}, army {self.army:g}, {len(self.prizes)} prizes"

    def of(self, name: str) -> float:
        """Return the worth of the territory `name`."""
        if isinstance(self.territories, tuple):
            return float(dict(self.territories).get(name, 0.0))
        return float(self.territories)  # type: ignore[arg-type] # checked to be a number


@dataclass(frozen=True, repr=False)
class InOrder(Pasted):
    """Reach several goals, each of which counts only when those before it are reached too.

    goals: a `TakeAll` for each, the first one first.
    worths: what it is worth to reach each of them; none for 1 each. A plan gains the most on
        average, so that the first goal is not risked for the second if it is worth much more.

    >>> InOrder((TakeAll("Egypt"), TakeAll("Africa")))
    InOrder(goals=(TakeAll(territories='Egypt'), TakeAll(territories='Africa')), worths=(1.0, 1.0))
    """

    goals: tuple[TakeAll, ...]
    worths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        goals = row_of(self.goals, "goals", "goals")
        for goal in goals:
            if not isinstance(goal, TakeAll):
                raise MalformedError(f"goals in order must each be TakeAll, got {shown(goal)}")
        if not goals:
            raise IllegalError("goals in order must be at least one, got none")
        worths = [*map(plain_number, row_of(self.worths, "worths", "numbers"))] or [1.0] * len(
            goals
        )
        for worth in worths:
            _check_worth(worth, "worths")
        if len(worths) != len(goals):
            raise IllegalError(
                f"worths must be one for each of {len(goals)} goals in order, got {len(worths)}"
            )
        put(self, "goals", tuple(goals))
        put(self, "worths", tuple(map(float, worths)))

    def _summary(self) -> str:
        return f"{len(self.goals)} goals"


Goal: TypeAlias = TakeAll | TakeAny | Worth | InOrder


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
    return TakeAll(theirs, position.of(theirs[0]).owner)


def read_goal(goal: Goal, board: Board) -> Goal:
    """Return a goal with its names as the board spells them; unknown names are refused."""
    if isinstance(goal, TakeAll):
        return TakeAll(_found(goal.territories, board), goal.owner)
    if isinstance(goal, TakeAny):
        return TakeAny(_found(goal.territories, board))
    if isinstance(goal, InOrder):
        return replace(goal, goals=tuple(_read_all(goal.goals, board)))
    if not isinstance(goal, Worth):
        raise MalformedError(f"goal must be TakeAll, TakeAny, Worth or InOrder, got {shown(goal)}")
    worths = [worth for _, worth in goal.prizes]
    prizes = tuple(zip(_read_all([each for each, _ in goal.prizes], board), worths, strict=True))
    if isinstance(goal.territories, tuple):
        named = {board.find(name): worth for name, worth in goal.territories}
        return replace(goal, territories=named, prizes=prizes)
    return replace(goal, prizes=prizes)


def names_in(goal: TakeAll | TakeAny | InOrder) -> tuple[str, ...]:
    """Return all territories of a goal that has been read, each once.

    >>> names_in(InOrder((TakeAll(("Peru",)), TakeAll(("Brazil", "Peru")))))
    ('Peru', 'Brazil')
    """
    parts = goal.goals if isinstance(goal, InOrder) else (goal,)
    named = [(each,) if isinstance(each, str) else each for each in (p.territories for p in parts)]
    return tuple(dict.fromkeys(name for names in named for name in names))


def _read_all(goals: Iterable[TakeAll], board: Board) -> Iterator[TakeAll]:
    for goal in goals:
        yield replace(goal, territories=_found(goal.territories, board))


def _several(territories: tuple[str, ...] | str) -> str:
    """Return a few of some names, for the repr of a goal."""
    if isinstance(territories, str):
        return shown(territories)
    return f"{len(territories)} territories, {shown(territories[0])} to {shown(territories[-1])}"


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
        raise IllegalError("missing territories")
    return tuple(dict.fromkeys(found))


def _check_worths(pairs: object) -> None:
    for pair in row_of(pairs, "territories", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise MalformedError(
                f"territories must be a number, or pairs of a name and its worth, got {shown(pair)}"
            )
        _check_worth(pair[1], f"the worth of {pair[0]}")


def _checked_prizes(pairs: object) -> Iterator[tuple[TakeAll, float]]:
    for pair in row_of(pairs, "prizes", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], TakeAll):
            raise MalformedError(
                f"prizes must be pairs of a TakeAll and its worth, got {shown(pair)}"
            )
        worth = plain_number(pair[1])
        _check_worth(worth, "the worth of a prize")
        yield pair[0], float(worth)


def _check_worth(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(f"{name} must be a number, got {shown(value)}")
    if isinstance(value, float) and not isfinite(value):
        raise MalformedError(f"{name} must be a number, got {shown(value)}")
    if value < 0:
        raise IllegalError(f"{name} must be at least 0, got {shown(value)}")
    if value > MOST_WORTH:
        raise TooLargeError(f"{name} must be at most {MOST_WORTH:g}, got {shown(value)}")


@dataclass(frozen=True)
class Rewards:
    """What a goal pays; the value of a plan is what it pays on average.

    all_of: a set that pays 1 when all of it is taken, which ends the plan; 0 for none.
    any_of: a set that pays 1 when any of it is taken, which ends the plan; 0 for none.
    territories: what each territory pays when it is taken.
    continents: sets, of continents or of goals, and what each pays when all of it is taken. They
        may overlap; goals in order are sets of which each contains the one before.
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

    @property
    def most(self) -> float:
        """What no play can be paid more than."""
        if self.is_chance:
            return 1.0
        return sum(self.territories) + sum(max(worth, 0.0) for _, worth in self.continents)

    @cached_property
    def paying(self) -> int:
        """All territories that pay, or belong to a set that does."""
        if self.is_chance:
            return self.all_of or self.any_of
        lands = mask_of(t for t, paid in enumerate(self.territories) if paid)
        return lands | union(mask for mask, _ in self.continents)

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
        return bool(taken & self.any_of) if self.any_of else not left & self.paying


def worth_rewards(problem: Problem, goal: "Worth | InOrder", field: int) -> Rewards:
    """Return what a worth, or goals in order, pay for the territories of `field`.

    field: all that may be attacked; a set that is not wholly within it can never be paid.
    """
    paid = tuple(goal.of(name) if isinstance(goal, Worth) else 0.0 for name in _names_of(problem))
    sets = tuple(
        (mask & problem.enemy, worth)
        for mask, worth in paying_sets(problem, goal)
        if mask & problem.enemy and not mask & problem.enemy & ~field and worth
    )
    army = goal.army if isinstance(goal, Worth) else 0.0
    return Rewards(territories=paid, continents=sets, army=army)


def paying_sets(problem: Problem, goal: "Worth | InOrder") -> tuple[tuple[int, float], ...]:
    """Return all sets that pay when the player owns all of them, and what each pays.

    For goals in order there is one set for each of them, which contains those before.
    """
    numbers = {name: t for t, name in enumerate(_names_of(problem))}

    def mask_of_names(names: Iterable[str]) -> int:
        return mask_of(numbers[name] for name in names)

    if isinstance(goal, InOrder):
        masks = accumulate((mask_of_names(each.territories) for each in goal.goals), or_)
        return tuple(zip(masks, goal.worths, strict=True))
    continents = problem.board.continents
    return (
        *((mask_of_names(each.territories), goal.bonus * each.bonus) for each in continents),
        *((mask_of_names(each.territories), worth) for each, worth in goal.prizes),
    )


def _names_of(problem: Problem) -> tuple[str, ...]:
    return problem.board.territories


def held_worth(problem: Problem, goal: Goal) -> float:
    """Return what the player's territories, continents and armies are worth at the start.

    Only a `Worth` and goals in order pay for these; for the other goals it is 0.
    """
    if not isinstance(goal, Worth | InOrder):
        return 0.0
    whole = sum(worth for mask, worth in paying_sets(problem, goal) if not mask & problem.enemy)
    if isinstance(goal, InOrder):
        return whole
    armies = sum(problem.armies[t] for t in bits(problem.owned))
    return sum(goal.of(problem.name(t)) for t in bits(problem.owned)) + whole + goal.army * armies


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
    >>> deed(start, InOrder((TakeAll("Peru"), eliminate(start, "blue"))))
    'take Peru, then eliminate blue'
    """
    if isinstance(goal, Worth):
        return "gain the greatest expected worth"
    if isinstance(goal, InOrder):
        return ", then ".join(deed(position, each) for each in goal.goals)
    if isinstance(goal, TakeAll) and goal.owner:
        return f"eliminate {goal.owner}"
    names = goal.territories
    if isinstance(names, str):
        names = position.board.find_set(names)
    same = [each.name for each in position.board.continents if {*each.territories} == {*names}]
    continent = same[0] if same and len(names) > 1 else None
    is_any = isinstance(goal, TakeAny)
    if continent is not None:
        return f"take a territory of {continent}" if is_any else f"take {continent}"
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
    kinds = {TakeAll: "take all", TakeAny: "take any", Worth: "worth", InOrder: "in order"}
    return kinds[type(goal)]
