"""Goals: what a plan is for, what each goal pays, and what it is called.

A goal is a class with these methods; nothing else in iacta asks which goal it is. To add a goal,
add a class.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import inf
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from iacta.board import Board, Position
from iacta.board.board import fold_name
from iacta.board.position import check_position, find_player
from iacta.inputs.checks import (
    check_choice,
    quote,
    read_row,
    refuse_unknown_keys,
    set_field,
    unwrap_number,
)
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.native.bit_sets import bits, make_mask

if TYPE_CHECKING:
    from iacta.game import Turn

MOST_WORTH = 1e9  # floats still tell armies apart beside it
MOST_NAMED = 4  # territories, in a message
GOAL_KINDS = ("take", "take_any", "eliminate", "worth")  # the keys by which users name goals


class Rewards(NamedTuple):
    """What a goal pays in a turn; the value of a policy is what it is paid on average."""

    lands: tuple[float, ...]  # what each territory pays when it is taken
    sets: tuple[tuple[int, float], ...] = ()  # sets, and what each pays when the last of it is
    price: float = 0.0  # what each lost army costs
    once: bool = False  # whether the first payment ends the turn

    @property
    def most(self) -> float:
        """What no play can be paid more than."""
        if self.once:
            return max(self.lands, default=0.0)
        return sum(self.lands) + sum(paid for _, paid in self.sets)


class Goal(PasteableMixin):
    """What a plan is for.

    kind: the kind of the goal in a word or two.
    is_chance: whether the value of a plan is the chance to reach the goal.
    """

    kind: ClassVar[str]
    is_chance: ClassVar[bool] = True

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The territories to own, of a goal that has been read; none for a worth."""

    @property
    def in_order(self) -> tuple["TakeAll", ...]:
        """The goals to reach one after the other; none where there is one alone."""
        return ()

    @abstractmethod
    def read(self, board: Board) -> Self:
        """Return the goal with names as a board spells them; unknown names are refused."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return the goal as JSON has it; it has been read."""

    @abstractmethod
    def phrase(self, position: Position) -> str:
        """Return what a player who reaches the goal does, as a verb with its object.

        position: who holds what.

        >>> from iacta.board import Holding
        >>> from iacta.board.files import classic_board
        >>> holdings = [Holding("blue", 2)] * 41
        >>> start = Position(classic_board(), "red", (*holdings, Holding("red", 9)))
        >>> TakeAll(["Venezuela", "Peru", "Brazil", "Argentina"]).phrase(start)
        'take South America'
        >>> TakeAny(["Peru", "Brazil"]).phrase(start)
        'take Peru or Brazil'
        >>> InOrder((TakeAll("Peru"), eliminate(start, "blue"))).phrase(start)
        'take Peru, then eliminate blue'
        """

    @abstractmethod
    def rewards(self, board: Board, owned: int) -> Rewards:
        """Return what the goal pays for what is not yet owned.

        board: the board; the goal has been read on it.
        owned: the set of the player's territories.
        """

    @abstractmethod
    def worth(self, turn: "Turn") -> float:
        """Return what the player has of the goal, such as 1 where a chance is reached.

        turn: a turn, at any moment of it.
        """

    def is_reached(self, turn: "Turn") -> bool:
        """Return whether nothing that follows can change the worth.

        turn: a turn, at any moment of it.
        """
        return {*self.names} <= _owned(turn)

    def stages(self, board: Board) -> tuple[int, ...]:
        """Return what is to be owned for each of `in_order` and all before it, as sets.

        board: the board; the goal has been read on it.
        """
        return tuple(accumulate((_mask(each.names, board) for each in self.in_order), or_))

    def refuse_unfit(self, turn: "Turn") -> None:
        """Refuse a turn in which the goal cannot be asked for.

        turn: the turn at its attacks.
        """
        mine = _owned(turn)
        for name in self.names:
            if not turn.position.find_holding(name).armies and name not in mine:
                raise IllegalError(
                    f"territories to take must be held by somebody; nobody holds {name}"
                )


@dataclass(frozen=True, repr=False)
class _Conquest(Goal):
    """A goal that is reached by owning some territories, all or any of them."""

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        if not isinstance(self.territories, str):
            set_field(
                self, "territories", tuple(read_row(self.territories, "territories", "names"))
            )
            for name in self.territories:
                if not isinstance(name, str):
                    raise MalformedError(f"territories must be names, got {quote(name)}")

    def _summary(self) -> str:
        names = self.territories
        if isinstance(names, str):
            return quote(names)
        return f"{len(names)} territories, {quote(names[0])} to {quote(names[-1])}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.territories,) if isinstance(self.territories, str) else self.territories

    def read(self, board: Board) -> Self:
        if isinstance(self.territories, str):
            found = board.find_set(self.territories)
        else:
            found = tuple(board.find(name) for name in self.territories)
        if not found:
            raise IllegalError("missing territories")
        return replace(self, territories=tuple(dict.fromkeys(found)))

    def worth(self, turn: "Turn") -> float:
        return float(self.is_reached(turn))


@dataclass(frozen=True, repr=False)
class TakeAll(_Conquest):
    """Own all of some territories at the end.

    territories: their names, or one text: names separated by commas, or a continent's name.
    owner: the player whose they all are, where the player is to be eliminated; it changes only
        what the goal is called.

    >>> TakeAll(["Egypt", "Congo"])
    TakeAll(territories=('Egypt', 'Congo'))
    """

    owner: str = field(default="", compare=False, repr=False)

    kind: ClassVar = "take all"

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "territories": [*self.names]}
        return {**found, "eliminates": self.owner} if self.owner else found

    def phrase(self, position: Position) -> str:
        if self.owner:
            return f"eliminate {self.owner}"
        return _phrase(self.territories, position.board, "take ", "and", "all")

    def rewards(self, board: Board, owned: int) -> Rewards:
        return Rewards(
            (0.0,) * len(board.territories), _paying([(_mask(self.names, board), 1.0)], owned)
        )


@dataclass(frozen=True, repr=False)
class TakeAny(_Conquest):
    """Conquer at least one of some territories.

    territories: as for `TakeAll`.

    >>> TakeAny("Egypt,Congo")
    TakeAny(territories='Egypt,Congo')
    """

    kind: ClassVar = "take any"

    def record(self) -> dict[str, Any]:
        return {"kind": self.kind, "territories": [*self.names]}

    def phrase(self, position: Position) -> str:
        return _phrase(self.territories, position.board, "take a territory of ", "or", "one")

    def rewards(self, board: Board, owned: int) -> Rewards:
        return Rewards(tuple(float(name in self.names) for name in board.territories), once=True)

    def is_reached(self, turn: "Turn") -> bool:
        return not _owned(turn).isdisjoint(self.names)

    def refuse_unfit(self, turn: "Turn") -> None:
        super().refuse_unfit(turn)
        owned = _owned(turn)
        mine = [name for name in turn.board.territories if name in owned and name in self.names]
        if mine:
            raise IllegalError(
                f"territories of TakeAny must be other players'; yours are {', '.join(mine)}"
            )


@dataclass(frozen=True, repr=False)
class Worth(Goal):
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

    kind: ClassVar = "worth"
    is_chance: ClassVar = False

    def __post_init__(self) -> None:
        for name in ("territories", "bonus", "army"):
            set_field(self, name, unwrap_number(getattr(self, name)))
        if isinstance(self.territories, Mapping):
            pairs = ((name, unwrap_number(worth)) for name, worth in self.territories.items())
            set_field(self, "territories", tuple(pairs))
            _check_worths(self.territories)
            set_field(self, "territories", tuple(sorted(self.territories)))
        elif isinstance(self.territories, tuple):
            _check_worths(self.territories)
        else:
            _check_worth(self.territories, "territories")
        _check_worth(self.bonus, "bonus")
        _check_worth(self.army, "army")
        set_field(self, "prizes", tuple(_checked_prizes(self.prizes)))

    def _summary(self) -> str:
        return f"bonus {self.bonus:g}, army {self.army:g}, {len(self.prizes)} prizes"

    def of(self, name: str) -> float:
        """Return the worth of the territory `name`."""
        if isinstance(self.territories, tuple):
            return float(dict(self.territories).get(name, 0.0))
        return float(self.territories)  # type: ignore[arg-type] # checked to be a number

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def read(self, board: Board) -> Self:
        prizes = tuple((goal.read(board), worth) for goal, worth in self.prizes)
        if isinstance(self.territories, tuple):
            named = {board.find(name): worth for name, worth in self.territories}
            return replace(self, territories=named, prizes=prizes)
        return replace(self, prizes=prizes)

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "territory": self.territories}
        found |= {"bonus": self.bonus, "army": self.army}
        prizes = [{**goal.record(), "worth": worth} for goal, worth in self.prizes]
        return {**found, "prizes": prizes} if prizes else found

    def phrase(self, position: Position) -> str:
        return "gain the greatest expected worth"

    def _sets(self, board: Board) -> Iterator[tuple[int, float]]:
        for each in board.continents:
            if each.territories:  # one without any pays nobody
                yield _mask(each.territories, board), self.bonus * each.bonus
        for goal, worth in self.prizes:
            yield _mask(goal.names, board), worth

    def rewards(self, board: Board, owned: int) -> Rewards:
        lands = tuple(
            0.0 if owned >> t & 1 else self.of(name) for t, name in enumerate(board.territories)
        )
        sets = [(mask, paid) for mask, paid in self._sets(board) if paid]
        return Rewards(lands, _paying(sets, owned), self.army)

    def worth(self, turn: "Turn") -> float:
        owned = owned_in(turn)
        whole = sum(paid for mask, paid in self._sets(turn.board) if not mask & ~owned)
        armies = sum(turn.armies[t] for t in bits(owned))
        return float(sum(map(self.of, sorted(_owned(turn)))) + whole + self.army * armies)

    def is_reached(self, turn: "Turn") -> bool:
        return False

    def refuse_unfit(self, turn: "Turn") -> None:
        pass


@dataclass(frozen=True, repr=False)
class InOrder(Goal):
    """Reach several goals, each of which counts only when those before it are reached too.

    goals: a `TakeAll` for each, the first one first.
    worths: what it is worth to reach each of them; none for 1 each. A plan gains the most on
        average, so that the first goal is not risked for the second if it is worth much more.

    >>> InOrder((TakeAll("Egypt"), TakeAll("Africa")))
    InOrder(goals=(TakeAll(territories='Egypt'), TakeAll(territories='Africa')), worths=(1.0, 1.0))
    """

    goals: tuple[TakeAll, ...]
    worths: tuple[float, ...] = ()

    kind: ClassVar = "in order"
    is_chance: ClassVar = False

    def __post_init__(self) -> None:
        goals = read_row(self.goals, "goals", "goals")
        for goal in goals:
            if not isinstance(goal, TakeAll):
                raise MalformedError(f"goals in order must each be TakeAll, got {quote(goal)}")
        if not goals:
            raise IllegalError("goals in order must be at least one, got none")
        given = read_row(self.worths, "worths", "numbers")
        worths = [*map(unwrap_number, given)] or [1.0] * len(goals)
        for worth in worths:
            _check_worth(worth, "worths")
        if len(worths) != len(goals):
            raise IllegalError(
                f"worths must be one for each of {len(goals)} goals in order, got {len(worths)}",
                parameter="worths",
            )
        set_field(self, "goals", tuple(goals))
        set_field(self, "worths", tuple(map(float, worths)))

    def _summary(self) -> str:
        return f"{len(self.goals)} goals"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for goal in self.goals for name in goal.names))

    def read(self, board: Board) -> Self:
        return replace(self, goals=tuple(goal.read(board) for goal in self.goals))

    @property
    def in_order(self) -> tuple[TakeAll, ...]:
        return self.goals

    def record(self) -> dict[str, Any]:
        pairs = zip(self.goals, self.worths, strict=True)
        return {
            "kind": self.kind,
            "goals": [{**goal.record(), "worth": worth} for goal, worth in pairs],
        }

    def phrase(self, position: Position) -> str:
        return ", then ".join(goal.phrase(position) for goal in self.goals)

    def rewards(self, board: Board, owned: int) -> Rewards:
        sets = zip(self.stages(board), self.worths, strict=True)
        return Rewards((0.0,) * len(board.territories), _paying(sets, owned))

    def worth(self, turn: "Turn") -> float:
        owned = owned_in(turn)
        pairs = zip(self.stages(turn.board), self.worths, strict=True)
        return float(sum(worth for mask, worth in pairs if not mask & ~owned))


def eliminate(position: Position, owner: str) -> TakeAll:
    """Return the goal of taking all territories of another player.

    position: who holds what.
    owner: the other player.

    An owner without territories is refused, and so is the player whose turn it is.
    """
    check_position(position)
    if not isinstance(owner, str):
        raise MalformedError(
            f"owner must be a player's name, got {quote(owner)}", parameter="owner"
        )
    others = {each.owner for each in position.holdings} - {position.player}
    found = find_player(owner, "owner", others)
    return TakeAll(position.list_territories(found), found)


def read_goal(turn: "Turn", kind: str, text: str = "") -> Goal | None:
    """Return the goal that a user names.

    turn: the turn that the goal is for.
    kind: one of `GOAL_KINDS`.
    text: a continent, territories that are separated by commas, or a player; not used for `worth`.

    `take_any` leaves out the player's own territories until a territory is conquered in the turn. A
    goal may be reached already (`Goal.is_reached`); `None` is the goal to eliminate a player who
    owns no territory any more.

    >>> from iacta.game import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2")
    >>> read_goal(turn, "take", "brazil"), read_goal(turn, "eliminate", "blue")
    (TakeAll(territories=('Brazil',)), TakeAll(territories=('Brazil',)))
    """
    check_choice(kind, GOAL_KINDS, "goal")
    if kind == "worth":
        return Worth()
    if not isinstance(text, str):
        raise MalformedError(f"{kind} must be text, got {quote(text)}", parameter=kind)
    if kind == "eliminate":
        gone = [name for name in turn.players if name not in turn.owners]
        if fold_name(text) in map(fold_name, gone):
            return None
        return eliminate(turn.position, text)
    names = turn.board.find_set(text)
    if kind == "take_any" and not turn.conquered:  # a territory owned from the start is no success
        owned = _owned(turn)
        names = tuple(name for name in names if name not in owned) or names
    return TakeAny(names) if kind == "take_any" else TakeAll(names)


def read_goal_record(turn: "Turn", record: object) -> Goal | None:
    """Return the goal in an object of JSON with one of `GOAL_KINDS` as its key.

    turn: the turn that the goal is for.
    record: the object, such as `{"take": "Africa"}` or `{"worth": true}`.

    The result is as for `read_goal`; an object of another form is refused.
    """
    if not isinstance(record, Mapping):
        raise MalformedError(f"goal must be a JSON object, got {quote(record)}")
    refuse_unknown_keys(record, GOAL_KINDS)
    if len(record) != 1:
        raise IllegalError(f"goal must have one of {', '.join(GOAL_KINDS)}, got {len(record)}")
    ((kind, text),) = record.items()
    if kind == "worth" and text is not True:
        raise MalformedError(f"worth must be true, got {quote(text)}")
    return read_goal(turn, kind, text)


def owned_in(turn: "Turn") -> int:
    """Return the set of the territories of the player whose turn it is."""
    return make_mask(t for t, owner in enumerate(turn.owners) if owner == turn.player)


def _owned(turn: "Turn") -> set[str]:
    return {turn.board.territories[t] for t in bits(owned_in(turn))}


def _mask(names: Iterable[str], board: Board) -> int:
    numbers = {name: t for t, name in enumerate(board.territories)}
    return make_mask(numbers[name] for name in names)


def _paying(sets: Iterable[tuple[int, float]], owned: int) -> tuple[tuple[int, float], ...]:
    """Return what is left of each set to take, where something is."""
    return tuple((mask & ~owned, paid) for mask, paid in sets if mask & ~owned)


def _phrase(names: tuple[str, ...] | str, board: Board, whole: str, last: str, many: str) -> str:
    """Return what taking some territories is called.

    whole, last, many: the words before a continent, the last of a few names, how many there are.
    """
    if isinstance(names, str):
        names = board.find_set(names)
    if len(names) == 1:
        return f"take {names[0]}"
    same = [each.name for each in board.continents if {*each.territories} == {*names}]
    if same:
        return f"{whole}{same[0]}"
    if len(names) <= MOST_NAMED:
        return f"take {', '.join(names[:-1])} {last} {names[-1]}"
    return f"take {many} of {len(names)} territories"


def _check_worths(pairs: object) -> None:
    for pair in read_row(pairs, "territories", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise MalformedError(
                f"territories must be a number, or pairs of a name and its worth, got {quote(pair)}"
            )
        _check_worth(pair[1], f"the worth of {pair[0]}")


def _checked_prizes(pairs: object) -> Iterator[tuple[TakeAll, float]]:
    for pair in read_row(pairs, "prizes", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], TakeAll):
            raise MalformedError(
                f"prizes must be pairs of a TakeAll and its worth, got {quote(pair)}"
            )
        worth = unwrap_number(pair[1])
        _check_worth(worth, "the worth of a prize")
        yield pair[0], float(worth)


def _check_worth(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < inf:
        raise MalformedError(f"{name} must be a number, got {quote(value)}")
    if value < 0:
        raise IllegalError(f"{name} must be at least 0, got {quote(value)}")
    if value > MOST_WORTH:
        raise TooLargeError(f"{name} must be at most {MOST_WORTH:g}, got {quote(value)}")
