"""Goals of a plan, with their payoffs and their names.

A goal is a class with the methods of `Goal`. The rest of iacta calls only these methods, so adding
a goal means adding one class.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import inf
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from iacta.board import Board, Position
from iacta.board.position import check_position, find_player
from iacta.inputs.checks import (
    quote,
    read_int,
    read_list,
    set_field,
    unwrap_number,
)
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.native.bit_sets import bits, make_mask

if TYPE_CHECKING:
    from iacta.game import Fortify, Turn
    from iacta.game.victory import WayToWin

MAX_WORTH = 1e9  # maximum worth of anything; floats still resolve the worth of a single army
MAX_GOAL_TERRITORIES = 4  # a description of a goal lists at most this many territories by name


class RewardedWay(NamedTuple):
    """A way to win, as the core sees it."""

    lands: int  # the territories to take, as an integer with a bit for each territory
    number: int  # the number of territories to own in all
    armies: int  # the minimum number of armies on each of this number of territories


class Rewards(NamedTuple):
    """The payoffs of a goal during a turn. The value of a policy is its expected total payoff."""

    lands: tuple[float, ...]  # payoff for conquering each territory
    # Pairs of a set of territories and the payoff for owning the whole set at the end.
    sets: tuple[tuple[int, float], ...] = ()
    price: float = 0.0  # cost of each army that the player loses
    once: bool = False  # whether the first conquest with a payoff ends the turn
    # The turn ends with a payoff of 1 when the player fulfils one of these ways. If there are any,
    # there are no other payoffs.
    ways: tuple[RewardedWay, ...] = ()
    # The fortify rule. The fortifying move may supply the armies that a way requires.
    fortify: str = "none"

    @property
    def armies(self) -> int:
        """The largest number of armies that a way requires on each territory."""
        return max((way.armies for way in self.ways), default=0)

    @property
    def most(self) -> float:
        """The largest possible total payoff of a turn."""
        if self.ways:
            return 1.0
        if self.once:
            return max(self.lands, default=0.0)
        return sum(self.lands) + sum(paid for _, paid in self.sets)


class Goal(PasteableMixin):
    """A goal that a plan tries to reach, such as the conquest of a continent.

    kind: the name of this kind of goal, in one or two words.
    is_chance: whether the value of a plan is the chance to reach this goal.
    ends_at_win: whether a win of the game by other conquests ends the turn, and the goal is missed.
    """

    kind: ClassVar[str]
    is_chance: ClassVar[bool] = True
    ends_at_win: ClassVar[bool] = False

    @property
    def has_margin(self) -> bool:
        """Whether plans may give up some chance to lose fewer armies (`iacta.plan.margin`).

        A `Worth` has a price of lost armies of its own.
        """
        return self.is_chance or bool(self.sequence)

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The territories to own, spelled as on the board after `resolve_names`.

        Empty for a `Worth` or an `OwnAny`.
        """

    @property
    def sequence(self) -> tuple["TakeAll", ...]:
        """The goals to reach in order; empty for a single goal."""
        return ()

    @abstractmethod
    def resolve_names(self, board: Board) -> Self:
        """Return the goal with names spelled as on the board; an unknown name raises an error."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return the goal as a JSON object. Call `resolve_names` first."""

    @abstractmethod
    def phrase(self, position: Position) -> str:
        """Return the goal as a verb phrase.

        position: the position, whose board has the names of territories and continents.

        >>> from iacta.board import Holding
        >>> from iacta.board.built_in import classic_board
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
        """Return the payoffs of the goal for a player who owns some territories already.

        board: the board passed to `resolve_names`.
        owned: the set of the player's territories, as an integer with a bit for each territory.
        """

    @abstractmethod
    def worth(self, turn: "Turn") -> float:
        """Return the value of the goal if the player stops now: a chance (0 or 1), or a worth.

        turn: a turn in any phase.
        """

    def is_reached(self, turn: "Turn") -> bool:
        """Return whether the goal is reached and cannot be lost during the turn.

        turn: a turn in any phase.
        """
        owners, index = turn.owners, turn.setting.index
        return all(owners[index[name]] == turn.player for name in self.names)

    def stages(self, board: Board) -> tuple[int, ...]:
        """Return, for each goal of `sequence`, the territories of this goal and all earlier goals.

        board: the board passed to `resolve_names`.
        """
        return tuple(accumulate((_make_mask(each.names, board) for each in self.sequence), or_))

    def compute_garrison(self, name: str) -> int:
        """Return the fewest armies that must stay on an owned territory because of the goal.

        name: the name of the territory.
        """
        return 0

    def find_last_move(self, turn: "Turn") -> "Fortify | None":
        """Return the last move of armies that reaches the goal, or `None`.

        turn: a turn in any phase.
        """
        return None

    def refuse_unfit(self, turn: "Turn") -> None:
        """Raise an error if the goal does not fit a turn, such as a territory without an owner.

        turn: a turn in its attack phase.
        """
        for name in self.names:
            if not turn.owner_of(name):
                raise IllegalError(f"territories to take must have an owner; {name} has none")


def list_kinds(base: type[Goal] = Goal) -> list[str]:
    """Return the names of all kinds of goals.

    >>> list_kinds()
    ['take all', 'take any', 'own any', 'win', 'worth', 'in order']
    """
    found = [vars(base)["kind"]] if "kind" in vars(base) else []
    return found + [kind for each in base.__subclasses__() for kind in list_kinds(each)]


@dataclass(frozen=True, repr=False)
class _Conquest(Goal):
    """The base class of goals to own all given territories, or at least one territory."""

    territories: tuple[str, ...] | str

    def __post_init__(self) -> None:
        if not isinstance(self.territories, str):
            set_field(
                self, "territories", tuple(read_list(self.territories, "territories", "names"))
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

    def resolve_names(self, board: Board) -> Self:
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
    """Own all given territories when the attacks end.

    territories: a sequence of names, or a string with names separated by commas or the name of a
        continent.
    owner: the player to eliminate, who owns all these territories; empty for other goals.

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
        return _describe_conquest(self.territories, position.board, "take ", "and", "all")

    def rewards(self, board: Board, owned: int) -> Rewards:
        return Rewards(
            (0.0,) * len(board.territories),
            _list_missing_sets([(_make_mask(self.names, board), 1.0)], owned),
        )


@dataclass(frozen=True, repr=False)
class TakeWithArmies(TakeAll):
    """Own all given territories at the end of the attacks, with a minimum number of armies on each.

    territories: as for `TakeAll`.
    kept: the player's own territories where the minimum also applies.
    armies: the minimum number of armies on each of these territories, from its conquest on.
    """

    kept: tuple[str, ...] = ()
    armies: int = 1

    def record(self) -> dict[str, Any]:
        return {**super().record(), "kept": [*self.kept], "armies": self.armies}

    def phrase(self, position: Position) -> str:
        return f"{super().phrase(position)} and keep {self.armies} armies on each"

    def compute_garrison(self, name: str) -> int:
        return self.armies if name in self.names or name in self.kept else 0

    def is_reached(self, turn: "Turn") -> bool:
        armies = dict(zip(turn.board.territories, turn.armies, strict=True))
        every = (*self.names, *self.kept)
        return super().is_reached(turn) and all(armies[name] >= self.armies for name in every)


@dataclass(frozen=True, repr=False)
class TakeAny(_Conquest):
    """Conquer at least one of the given territories.

    territories: as for `TakeAll`.

    >>> TakeAny("Egypt,Congo")
    TakeAny(territories='Egypt,Congo')
    """

    kind: ClassVar = "take any"

    def record(self) -> dict[str, Any]:
        return {"kind": self.kind, "territories": [*self.names]}

    def phrase(self, position: Position) -> str:
        return _describe_conquest(
            self.territories, position.board, "take a territory of ", "or", "at least one"
        )

    def rewards(self, board: Board, owned: int) -> Rewards:
        return Rewards(tuple(float(name in self.names) for name in board.territories), once=True)

    def is_reached(self, turn: "Turn") -> bool:
        return not _list_owned(turn).isdisjoint(self.names)

    def refuse_unfit(self, turn: "Turn") -> None:
        super().refuse_unfit(turn)
        owned = _list_owned(turn)
        mine = [name for name in turn.board.territories if name in owned and name in self.names]
        if mine:
            raise IllegalError(
                f"TakeAny must not contain your own territories, got {', '.join(mine)}"
            )


@dataclass(frozen=True, repr=False)
class OwnAny(Goal):
    """Own a number of territories at the end of the attacks, no matter which territories.

    number: the number of territories, including the player's present territories.
    armies: the minimum number of armies on a territory that counts.

    If exact play has too many states, a search chooses the territories that the plan takes.

    >>> OwnAny(21, armies=2)
    OwnAny(number=21, armies=2)
    """

    number: int
    armies: int = 1

    kind: ClassVar = "own any"

    def __post_init__(self) -> None:
        set_field(self, "number", read_int(self.number, "number", minimum=1))
        set_field(self, "armies", read_int(self.armies, "armies", minimum=1))

    def _summary(self) -> str:
        return f"{self.number} territories, {self.armies} armies"

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def resolve_names(self, board: Board) -> Self:
        most = len(board.territories)
        if self.number > most:
            raise IllegalError(
                f"number must be at most {most} territories, got {self.number}", parameter="number"
            )
        return self

    def record(self) -> dict[str, Any]:
        return {"kind": self.kind, "number": self.number, "armies": self.armies}

    def phrase(self, position: Position) -> str:
        armies = f" with at least {self.armies} armies on each" if self.armies > 1 else ""
        return f"own {self.number} territories{armies}"

    def rewards(self, board: Board, owned: int) -> Rewards:
        nothing = (0.0,) * len(board.territories)
        return Rewards(nothing, ways=(RewardedWay(0, self.number, self.armies),))

    def count_held(self, owned: int, armies: Sequence[int]) -> int:
        """Return how many of the player's territories have at least `self.armies` armies.

        owned: the set of the player's territories.
        armies: the armies on each territory.

        If `self.armies` is 1, empty territories count too, as they do in the core. They exist only
        under rules without a garrison.
        """
        if self.armies == 1:
            return owned.bit_count()
        return sum(armies[t] >= self.armies for t in bits(owned))

    def worth(self, turn: "Turn") -> float:
        return float(self.is_reached(turn))

    def is_reached(self, turn: "Turn") -> bool:
        return self.count_held(make_owned_mask(turn), turn.armies) >= self.number

    def refuse_unfit(self, turn: "Turn") -> None:
        pass


@dataclass(frozen=True, repr=False)
class WinGame(Goal):
    """Win the game in this turn, in any of several ways.

    ways: the ways to win; one way is enough.
    fortify: the range of the fortifying move. If a way requires several armies on each territory,
        this move may add the missing armies to the last territory.
    is_complete: whether `ways` contains all ways to win; if not, the chance to win may be greater.

    >>> from iacta.game.victory import WayToWin
    >>> WinGame((WayToWin(("Peru",)), WayToWin(number=30))).ways[1].number
    30
    """

    ways: tuple["WayToWin", ...]
    fortify: str = "none"
    is_complete: bool = True

    kind: ClassVar = "win"

    def _summary(self) -> str:
        return f"{len(self.ways)} ways to win"

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def resolve_names(self, board: Board) -> Self:
        ways = (
            way._replace(territories=tuple(map(board.find, way.territories))) for way in self.ways
        )
        return replace(self, ways=tuple(ways))

    def record(self) -> dict[str, Any]:
        ways = (
            {"territories": [*way.territories], "number": way.number, "armies": way.armies}
            for way in self.ways
        )
        return {
            "kind": self.kind,
            "ways": [{name: value for name, value in way.items() if value} for way in ways],
        }

    def phrase(self, position: Position) -> str:
        return "win the game"

    def rewards(self, board: Board, owned: int) -> Rewards:
        ways = (
            RewardedWay(_make_mask(way.territories, board) & ~owned, way.number, way.armies)
            for way in self.ways
        )
        return Rewards((0.0,) * len(board.territories), ways=tuple(ways), fortify=self.fortify)

    def worth(self, turn: "Turn") -> float:
        return float(self.is_reached(turn))

    def is_reached(self, turn: "Turn") -> bool:
        if any(self._count_missing(way, turn) <= 0 for way in self.ways):
            return True
        return self.find_last_move(turn) is not None

    def find_last_move(self, turn: "Turn") -> "Fortify | None":
        if self.fortify == "none" or turn.phase == "over":
            return None
        for way in self.ways:
            if way.armies > 1 and self._count_missing(way, turn) == 1:
                move = _find_strengthening_move(turn, way.armies, self.fortify)
                if move is not None:
                    return move
        return None

    @staticmethod
    def _count_missing(way: "WayToWin", turn: "Turn") -> int:
        """Return how many territories with enough armies a way still requires.

        If the player lacks a named territory, the number is at least 2.
        """
        if not {*way.territories} <= _list_owned(turn):
            return 2
        return way.number - sum(turn.armies[t] >= way.armies for t in bits(make_owned_mask(turn)))

    def refuse_unfit(self, turn: "Turn") -> None:
        pass


def _find_strengthening_move(turn: "Turn", enough: int, fortify: str) -> "Fortify | None":
    """Return a last move that gives one more territory enough armies, or `None`.

    turn: a turn in any phase before its end.
    enough: the number of armies that a territory needs.
    fortify: the range of the move, "adjacent" or "connected".
    """
    from iacta.game import Fortify  # imported here because `iacta.game` imports slowly

    names, board = turn.board.territories, turn.board
    owned = {names[t] for t in bits(make_owned_mask(turn))}
    armies = dict(zip(names, turn.armies, strict=True))
    for start in (name for name in names if name in owned and name not in turn.stay):
        spare = armies[start] - turn.keep.get(start, turn.rules.garrison)
        reached, fresh = {start}, [start]
        while fresh:
            near = {*board.neighbours(fresh.pop())} & owned - reached
            reached |= near
            fresh += near if fortify == "connected" else ()
        for to in (name for name in names if name in reached and name != start):
            missing = enough - armies[to]
            stays_strong = armies[start] < enough or armies[start] - missing >= enough
            if 0 < missing <= spare and stays_strong:
                return Fortify(start, to, missing)
    return None


@dataclass(frozen=True, repr=False)
class Worth(Goal):
    """Maximise the expected worth of the player's holdings when the attacks end.

    territories: the worth of a territory: one number for all territories, or a mapping from names
        to numbers. Territories missing from the mapping are worth 0.
    bonus: the worth of each bonus army per turn from continents that the player owns.
    army: the worth of each army that the player still has.
    prizes: additional goals, as pairs of a `TakeAll` and its worth.

    Each worth must be from 0 to 1e9.

    >>> Worth(1, bonus=2.0, army=0.5).compute_worth("Egypt")
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
        set_field(self, "prizes", tuple(_read_prizes(self.prizes)))

    def _summary(self) -> str:
        return f"bonus {self.bonus:g}, army {self.army:g}, {len(self.prizes)} prizes"

    def compute_worth(self, name: str) -> float:
        """Return the worth of the territory with the given name."""
        if isinstance(self.territories, tuple):
            return float(dict(self.territories).get(name, 0.0))
        return float(self.territories)  # type: ignore[arg-type] # checked to be a number

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def resolve_names(self, board: Board) -> Self:
        prizes = tuple((goal.resolve_names(board), worth) for goal, worth in self.prizes)
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

    def _list_sets(self, board: Board) -> Iterator[tuple[int, float]]:
        for continent in board.continents:
            if continent.territories:  # a continent without territories brings no bonus
                yield _make_mask(continent.territories, board), self.bonus * continent.bonus
        for goal, worth in self.prizes:
            yield _make_mask(goal.names, board), worth

    def rewards(self, board: Board, owned: int) -> Rewards:
        lands = tuple(
            0.0 if owned >> t & 1 else self.compute_worth(name)
            for t, name in enumerate(board.territories)
        )
        sets = [(mask, paid) for mask, paid in self._list_sets(board) if paid]
        return Rewards(lands, _list_missing_sets(sets, owned), self.army)

    def worth(self, turn: "Turn") -> float:
        owned = make_owned_mask(turn)
        whole = sum(paid for mask, paid in self._list_sets(turn.board) if not mask & ~owned)
        armies = sum(turn.armies[t] for t in bits(owned))
        return float(
            sum(map(self.compute_worth, sorted(_list_owned(turn)))) + whole + self.army * armies
        )

    def is_reached(self, turn: "Turn") -> bool:
        return False

    def refuse_unfit(self, turn: "Turn") -> None:
        pass


@dataclass(frozen=True, repr=False)
class InOrder(Goal):
    """Reach several goals in order; a goal counts only if all goals before it are reached.

    goals: a sequence of `TakeAll`.
    worths: the worth of each goal; by default, each goal is worth 1. A plan maximises the expected
        total worth, so it does not risk a valuable first goal for a second goal of little worth.

    >>> InOrder((TakeAll("Egypt"), TakeAll("Africa")))
    InOrder(goals=(TakeAll(territories='Egypt'), TakeAll(territories='Africa')), worths=(1.0, 1.0))
    """

    goals: tuple[TakeAll, ...]
    worths: tuple[float, ...] = ()

    kind: ClassVar = "in order"
    is_chance: ClassVar = False

    def __post_init__(self) -> None:
        goals = read_list(self.goals, "goals", "goals")
        for goal in goals:
            if not isinstance(goal, TakeAll):
                raise MalformedError(f"goals of InOrder must be TakeAll goals, got {quote(goal)}")
        if not goals:
            raise IllegalError("InOrder must have at least one goal, got none")
        given = read_list(self.worths, "worths", "numbers")
        worths = [*map(unwrap_number, given)] or [1.0] * len(goals)
        for worth in worths:
            _check_worth(worth, "worths")
        if len(worths) != len(goals):
            raise IllegalError(
                f"worths must have one number for each of {len(goals)} goals, got {len(worths)}",
                parameter="worths",
            )
        set_field(self, "goals", tuple(goals))
        set_field(self, "worths", tuple(map(float, worths)))

    def _summary(self) -> str:
        return f"{len(self.goals)} goals"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for goal in self.goals for name in goal.names))

    def resolve_names(self, board: Board) -> Self:
        return replace(self, goals=tuple(goal.resolve_names(board) for goal in self.goals))

    @property
    def sequence(self) -> tuple[TakeAll, ...]:
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
        return Rewards((0.0,) * len(board.territories), _list_missing_sets(sets, owned))

    def worth(self, turn: "Turn") -> float:
        owned = make_owned_mask(turn)
        pairs = zip(self.stages(turn.board), self.worths, strict=True)
        return float(sum(worth for mask, worth in pairs if not mask & ~owned))


def eliminate(position: Position, owner: str) -> TakeAll:
    """Return the goal of taking all territories of another player.

    position: the position.
    owner: the player to eliminate.

    It is an error to name a player without territories, or the player to move.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Egypt:blue:1")
    >>> eliminate(turn.position, "blue").names
    ('Brazil', 'Egypt')
    """
    check_position(position)
    if not isinstance(owner, str):
        raise MalformedError(
            f"owner must be a player's name, got {quote(owner)}", parameter="owner"
        )
    others = {holding.owner for holding in position.holdings} - {position.player}
    player = find_player(owner, "owner", others)
    return TakeAll(position.list_territories(player), player)


def make_owned_mask(turn: "Turn") -> int:
    """Return the territories of the player to move, as an integer with a bit for each territory."""
    return make_mask(t for t, owner in enumerate(turn.owners) if owner == turn.player)


def _list_owned(turn: "Turn") -> set[str]:
    return {turn.board.territories[t] for t in bits(make_owned_mask(turn))}


def _make_mask(names: Iterable[str], board: Board) -> int:
    numbers = {name: t for t, name in enumerate(board.territories)}
    return make_mask(numbers[name] for name in names)


def _list_missing_sets(
    sets: Iterable[tuple[int, float]], owned: int
) -> tuple[tuple[int, float], ...]:
    """Return the sets that the player does not own yet, without the territories already owned."""
    return tuple((mask & ~owned, paid) for mask, paid in sets if mask & ~owned)


def _describe_conquest(
    names: tuple[str, ...] | str,
    board: Board,
    continent_prefix: str,
    conjunction: str,
    number_prefix: str,
) -> str:
    """Describe a goal to take territories in words, such as `take Peru or Brazil`.

    continent_prefix: the words before the name of a continent, such as `"take "`.
    conjunction: the conjunction before the last name, such as `"and"`.
    number_prefix: the words before `of N territories` if there are too many names to list, such as
        `"all"`.
    """
    if isinstance(names, str):
        names = board.find_set(names)
    if len(names) == 1:
        return f"take {names[0]}"
    same = [
        continent.name for continent in board.continents if {*continent.territories} == {*names}
    ]
    if same:
        return f"{continent_prefix}{same[0]}"
    if len(names) <= MAX_GOAL_TERRITORIES:
        return f"take {', '.join(names[:-1])} {conjunction} {names[-1]}"
    return f"take {number_prefix} of {len(names)} territories"


def _check_worths(pairs: object) -> None:
    for pair in read_list(pairs, "territories", "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise MalformedError(
                f"territories must be a number, or pairs of a name and its worth, got {quote(pair)}"
            )
        _check_worth(pair[1], f"the worth of {pair[0]}")


def _read_prizes(pairs: object) -> Iterator[tuple[TakeAll, float]]:
    for pair in read_list(pairs, "prizes", "pairs"):
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
    if value > MAX_WORTH:
        raise TooLargeError(f"{name} must be at most {MAX_WORTH:g}, got {quote(value)}")
