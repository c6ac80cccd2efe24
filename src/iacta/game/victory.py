"""The ways to win a game: victory conditions, which are part of a turn.

A game ends when only one player is left. A victory condition adds another way to win, such as
owning a share of the map. If an action fulfils the condition for several players, the winner is the
first such player in the order of play, starting with the player whose turn it is.

Each condition is a subclass of `Victory`. The rest of iacta only calls the methods of `Victory`.
For the compiled core, a condition is converted to missions (`CoreMission`).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import chain, combinations
from math import ceil, comb
from random import Random
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

from iacta.board import Board
from iacta.board.board import fold_name
from iacta.inputs.checks import FrozenDict, format_fraction, parse_int, quote, read_int, set_field
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.probability.chances import read_chance, read_fraction

SURVIVOR = "survivor"
MAX_PERCENT = 100
# The maximum number of ways to win in a list. Of more ways, the ways with the fewest hostile armies
# are listed.
MAX_WAYS_TO_WIN = 300
SHARES = "share must be like 70%, or a number of territories"
V = TypeVar("V")
VICTORIES: "dict[str, type[Victory]]" = {}  # the keys are the names of conditions


class GameState(Protocol):
    """The properties of `Turn` that determine the winner."""

    @property
    def board(self) -> Board: ...
    @property
    def phase(self) -> str: ...
    @property
    def player(self) -> str: ...
    @property
    def players(self) -> tuple[str, ...]: ...
    @property
    def survivors(self) -> tuple[str, ...]: ...
    @property
    def owners(self) -> tuple[str, ...]: ...
    @property
    def armies(self) -> tuple[int, ...]: ...


def choose_cheapest(
    groups: Sequence[tuple[str, ...]], number: int, turn: GameState, player: str
) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield sets of `number` groups of territories, at most `MAX_WAYS_TO_WIN` sets.

    groups: the names of the territories of each group, such as a continent.
    number: the number of groups in a set.

    If there are more sets, the sets with the fewest hostile armies and territories come first: the
    search starts with the cheapest groups, and repeatedly replaces one group by the next group. Its
    memory is proportional to the number of sets that it yields.
    """
    if comb(len(groups), number) <= MAX_WAYS_TO_WIN:
        yield from combinations(groups, number)
        return
    costs = _count_hostile(groups, turn, player)
    order = sorted(range(len(groups)), key=lambda k: costs[k])
    first = tuple(range(number))
    waiting, known = [(sum(costs[order[k]] for k in first), first)], {first}
    for _ in range(MAX_WAYS_TO_WIN):
        cost, ranks = heappop(waiting)
        yield tuple(groups[k] for k in sorted(order[rank] for rank in ranks))
        for i, rank in enumerate(ranks):
            after = ranks[i + 1] if i + 1 < number else len(groups)
            if rank + 1 < after:
                changed = (*ranks[:i], rank + 1, *ranks[i + 1 :])
                if changed not in known:
                    known.add(changed)
                    more = costs[order[rank + 1]] - costs[order[rank]]
                    heappush(waiting, (cost + more, changed))


def combine_cheapest(
    choices: Sequence[Sequence[tuple[str, ...]]], turn: GameState, player: str
) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield combinations of one group of territories from each choice, the cheapest first.

    choices: the groups of territories of each choice.

    The cost of a combination is the number of hostile armies and territories in its groups. At most
    `MAX_WAYS_TO_WIN` combinations are yielded.
    """
    costs = [_count_hostile(groups, turn, player) for groups in choices]
    orders = [sorted(range(len(each)), key=each.__getitem__) for each in costs]
    if not all(orders):
        return
    first = (0,) * len(orders)
    waiting, known = [(sum(map(min, costs)), first)], {first}
    for _ in range(MAX_WAYS_TO_WIN):
        if not waiting:
            return
        total, ranks = heappop(waiting)
        yield tuple(
            groups[order[rank]] for groups, order, rank in zip(choices, orders, ranks, strict=True)
        )
        for i, (cost, order, rank) in enumerate(zip(costs, orders, ranks, strict=True)):
            changed = (*ranks[:i], rank + 1, *ranks[i + 1 :])
            if rank + 1 < len(order) and changed not in known:
                known.add(changed)
                more = cost[order[rank + 1]] - cost[order[rank]]
                heappush(waiting, (total + more, changed))


def _count_hostile(groups: Sequence[tuple[str, ...]], turn: GameState, player: str) -> list[int]:
    """Return the number of hostile armies and territories in each group of territories."""
    held = zip(turn.board.territories, turn.owners, turn.armies, strict=True)
    hostile = {name: armies + 1 for name, owner, armies in held if owner != player}
    return [sum(hostile.get(name, 0) for name in names) for names in groups]


class WayToWin(NamedTuple):
    """One way in which a player can win.

    territories: the territories that the player must own.
    number: the minimum number of territories that the player must own in total.
    armies: the minimum number of armies on each of these territories.
    """

    territories: tuple[str, ...] = ()
    number: int = 0
    armies: int = 0


class RivalWin(NamedTuple):
    """The win of another player if the player to move eliminates a player.

    loser: the player whose elimination lets the rival win.
    rival: the player who then wins.
    number: the minimum number of territories that the rival must then own.
    """

    loser: str
    rival: str
    number: int = 1


class CoreMission(NamedTuple):
    """The victory condition of one player, in the format of the compiled core.

    kind: the name of a constant `IACTA_MISSION_...` of the core, in lower case.
    number: the number of territories, other continents or capitals that the player must own.
    armies: the minimum number of armies on each territory that counts.
    entries: the indices of the territories, continents or players that the mission names.
    instead: the replacement for a mission to eliminate a player, after another player has
        eliminated the target.
    own: the replacement for a mission to eliminate a player, if the target draws the mission.
    """

    kind: str
    number: int = 0
    armies: int = 0
    entries: tuple[int, ...] = ()
    instead: "CoreMission | None" = None
    own: "CoreMission | None" = None


class Victory:
    """A victory condition: a way to win in addition to being the last survivor.

    word: the name of the condition.
    is_judged_by_v: whether the value function V of `iacta.war` may score unfinished games.
    """

    word: ClassVar[str]
    is_judged_by_v: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def from_texts(cls, value: str, player_texts: Mapping[str, str]) -> Self:
        """Make a condition from texts, the inverse of `format_texts`.

        value: the value of the condition as text, such as a share of the map.
        player_texts: a mapping from players to texts, such as their missions.
        """

    @abstractmethod
    def format_texts(self) -> tuple[str, Mapping[str, str]]:
        """Return the value of the condition as text, and a mapping from players to texts."""

    def resolve_names(self, turn: GameState) -> Self:
        """Return the condition with the spelling of names in a turn; refuse an unsuitable turn."""
        return self

    @abstractmethod
    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        """Return whether a player fulfils the condition in the current state of a turn."""

    @abstractmethod
    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        """Return the ways of a player of a turn to win, at most `MAX_WAYS_TO_WIN`."""

    @abstractmethod
    def describe(self, turn: GameState) -> str:
        """Describe the condition in a sentence, with the players and territories of a turn."""

    @abstractmethod
    def describe_progress(self, turn: GameState, player: str) -> str:
        """Describe the progress of a player in a turn; empty for a condition without progress."""

    def measure_progress(self, turn: GameState, player: str) -> float:
        """Return the progress of a player towards winning, from 0 to 1.

        turn: the turn. The progress is the largest part of a way to win that the player owns; 0
            without a known way.
        """
        return measure_ways(self.list_ways(turn, player), turn, player)

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        """Return the territories that a player needs in every way to win.

        turn: the turn.
        """
        return intersect_ways(self.list_ways(turn, player), turn)

    @abstractmethod
    def describe_win(self, turn: GameState, player: str) -> str:
        """Return the reason for a player's win as a clause; unused for the last survivor.

        turn: the turn in which the player has won.
        player: the winner.
        """

    def describe_prize(self, territory: str, player: str) -> str:
        """Return the meaning of a territory for the condition in words, such as "blue's capital".

        territory: the territory.
        player: the player who takes it.

        The result is empty for most territories.
        """
        return ""

    @abstractmethod
    def encode_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        """Convert the condition to a mission for each player, in the format of the core.

        The mission is `None` for a player who wins only by survival.

        turn: the turn from which games are played.
        players: the players in the order of play.
        """

    @property
    def common_lands(self) -> int:
        """The number of territories with which any player also wins; 0 without this rule."""
        return 0

    @property
    def is_checked_at_end(self) -> bool:
        """Whether a player can only win at the end of their own turn."""
        return False

    def list_core_cards(self, turn: GameState, players: Sequence[str]) -> tuple[CoreMission, ...]:
        """Return the cards from which the core deals hidden missions.

        turn: the turn from which games are played.
        players: the players in the order of play.
        """
        return ()

    def deal(self, turn: GameState, random: Random) -> Self:
        """Return the condition with hidden missions dealt at random.

        turn: the turn from which a game is played.
        random: the random number generator.
        """
        return self

    def list_possible(self, turn: GameState, player: str) -> list[tuple[float, Self]]:
        """Return a condition for each possible mission of a player, with its probability.

        turn: the turn, which determines the possible missions.
        player: the player whose mission may be hidden.
        """
        return [(1.0, self)]

    def is_hidden(self, player: str) -> bool:
        """Return whether the other players do not know a player's mission."""
        return False

    def hide_from(self, player: str) -> Self:
        """Return the condition as a player knows it: the secret missions of others are hidden."""
        return self

    def list_rival_wins(self, turn: GameState) -> tuple[RivalWin, ...]:
        """Return the wins that an elimination by the player to move gives to other players.

        turn: the turn before the elimination.
        """
        return ()

    def apply_elimination(self, turn: GameState, loser: str) -> Self:
        """Return the condition after an elimination.

        turn: the turn in which the player to move has eliminated another player.
        loser: the eliminated player.
        """
        return self

    def find_winner(self, turn: GameState) -> str | None:
        """Return the winner in the current state of a turn, or `None` if nobody has won."""
        if winner := find_survivor(turn):
            return winner
        at = turn.players.index(turn.player)
        order = (*turn.players[at:], *turn.players[:at])
        return next(
            (name for name in order if name in turn.owners and self.is_fulfilled(turn, name)), None
        )


def measure_ways(ways: Sequence[WayToWin], turn: GameState, player: str) -> float:
    """Return the largest part of a way to win that a player owns, from 0 to 1.

    ways: the ways to win.
    turn: the turn.

    >>> from iacta.game import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2")
    >>> measure_ways([WayToWin(("Peru", "Brazil")), WayToWin(number=4)], turn, "red")
    0.5
    """
    held = zip(turn.board.territories, turn.owners, turn.armies, strict=True)
    own = {name: armies for name, owner, armies in held if owner == player}
    parts = [0.0]
    for way in ways:
        number = sum(armies >= way.armies for armies in own.values())
        parts.append(min(number / way.number, 1) if way.number else 1)
        if way.territories:
            parts[-1] *= sum(name in own for name in way.territories) / len(way.territories)
    return max(parts)


def intersect_ways(ways: Sequence[WayToWin], turn: GameState) -> tuple[str, ...]:
    """Return the territories that belong to all ways to win, in the order of the board.

    ways: the ways to win.
    turn: the turn with the board.
    """
    needed = [{*way.territories} for way in ways] or [set[str]()]
    return tuple(name for name in turn.board.territories if name in set.intersection(*needed))


def register_victory(victory: type[V]) -> type[V]:
    """Register a class of victory conditions by its name, for use in texts."""
    VICTORIES[victory.word] = victory  # type: ignore[attr-defined,assignment] # a class of conditions
    return victory


def find_survivor(turn: GameState) -> str | None:
    """Return the last survivor, or `None` if several players survive.

    In a game with a single player, this player must also own all territories that have an owner.
    """
    left = turn.survivors
    is_won = len(left) == 1 and (len(turn.players) > 1 or {*turn.owners} - {""} == {*left})
    return left[0] if is_won else None


@register_victory
@dataclass(frozen=True)
class Survivor(Victory):
    """The last player who owns a territory wins.

    >>> Survivor().format_texts()
    ('', {})
    """

    word: ClassVar = SURVIVOR

    @classmethod
    def from_texts(cls, value: str, player_texts: Mapping[str, str]) -> Self:
        _refuse_values(cls.word, value, player_texts)
        return cls()

    def format_texts(self) -> tuple[str, Mapping[str, str]]:
        return "", {}

    def find_winner(self, turn: GameState) -> str | None:
        return find_survivor(turn)

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return False

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        rivals = {*turn.players} - {player}
        names = zip(turn.board.territories, turn.owners, strict=True)
        return (WayToWin(tuple(name for name, owner in names if owner in rivals)),)

    def describe(self, turn: GameState) -> str:
        return "The last player who owns a territory wins."

    def describe_progress(self, turn: GameState, player: str) -> str:
        return ""

    def measure_progress(self, turn: GameState, player: str) -> float:
        return turn.owners.count(player) / sum(map(bool, turn.owners))

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        return ()

    def describe_win(self, turn: GameState, player: str) -> str:
        return ""

    def encode_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        return (None,) * len(players)


@register_victory
@dataclass(frozen=True)
class Share(Victory):
    """The first player who owns a share of the territories wins.

    share: a share of all territories on the board, such as `"70%"` or `Fraction(7, 10)`, which is
        rounded up to a whole number of territories; or a number of territories.

    >>> Share("70%"), Share(30)
    (Share(share=Fraction(7, 10)), Share(share=30))
    """

    share: Fraction | int | str | float

    word: ClassVar = "share"

    def __post_init__(self) -> None:
        share = self.share
        if isinstance(share, str) and share.strip().isdigit():
            share = parse_int(share.strip(), "share", 1)
        if isinstance(share, int) and not isinstance(share, bool):
            set_field(self, "share", read_int(share, "share", 1))
        else:
            try:
                if isinstance(share, str):  # `read_chance` reads "1.5" as a percentage
                    share = read_fraction(share, "share", SHARES)
                set_field(self, "share", read_chance(share, "share", certain=True))
            except IactaError as error:
                sentence = f"{SHARES}, got {quote(self.share)}"
                raise type(error)(sentence, parameter="share") from None

    @classmethod
    def from_texts(cls, value: str, player_texts: Mapping[str, str]) -> Self:
        if not value:
            raise MalformedError(f"{SHARES}, got ''")
        _refuse_values(cls.word, "", player_texts)
        return cls(value)

    def format_texts(self) -> tuple[str, Mapping[str, str]]:
        share = self.share
        return format_fraction(share) if isinstance(share, Fraction) else str(share), {}

    def count_needed(self, turn: GameState) -> int:
        """Return the number of territories that a player must own.

        turn: the turn, whose board determines the number.

        >>> from iacta.game import Turn
        >>> Share("70%").count_needed(Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2"))
        30
        """
        all_of_them = len(turn.owners)
        return ceil(self.share * all_of_them) if isinstance(self.share, Fraction) else self.share  # type: ignore[return-value] # checked

    def resolve_names(self, turn: GameState) -> Self:
        needed, most = self.count_needed(turn), len(turn.owners)
        if needed > most:
            hint = f"; did you mean {needed}%?" if needed <= MAX_PERCENT else ""
            raise IllegalError(f"share must be at most {most} territories, got {needed}{hint}")
        return self

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return turn.owners.count(player) >= self.count_needed(turn)

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        return (WayToWin(number=self.count_needed(turn)),)

    def describe(self, turn: GameState) -> str:
        needed, most = self.count_needed(turn), len(turn.owners)
        return f"The first player who owns {needed} of the {most} territories wins."

    def describe_progress(self, turn: GameState, player: str) -> str:
        return f"{turn.owners.count(player)} of {self.count_needed(turn)} territories"

    def describe_win(self, turn: GameState, player: str) -> str:
        return f"they own {turn.owners.count(player)} of the {len(turn.owners)} territories"

    def encode_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        return (CoreMission("lands", self.count_needed(turn)),) * len(players)


@register_victory
@dataclass(frozen=True)
class Capitals(Victory):
    """The first player who owns their own capital and enough capitals of others wins.

    capitals: a mapping from names of players to their capitals.
    number: the number of capitals that a player must own, including their own capital; `None` for
        all capitals.

    The capital of an eliminated player still counts. Losing a capital does not eliminate its owner.

    >>> Capitals({"red": "Brazil", "blue": "Ural"})
    Capitals(capitals={'red': 'Brazil', 'blue': 'Ural'}, number=None)
    """

    capitals: Mapping[str, str]
    number: int | None = None

    word: ClassVar = "capitals"
    is_judged_by_v: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.capitals, Mapping) or not self.capitals:
            raise MalformedError(
                "capitals must be a mapping from players to territories, "
                f"got {quote(self.capitals)}"
            )
        set_field(self, "capitals", FrozenDict(self.capitals))
        if self.number is not None:
            most = len(self.capitals)
            set_field(self, "number", read_int(self.number, "capitals", 1, most))

    @classmethod
    def from_texts(cls, value: str, player_texts: Mapping[str, str]) -> Self:
        if not player_texts:
            raise MalformedError("capital must be given for each player, got none")
        number = None if value in ("", "all") else parse_int(value, "capitals", 1)
        return cls(player_texts, number)

    def format_texts(self) -> tuple[str, Mapping[str, str]]:
        return "all" if self.number is None else str(self.number), self.capitals

    def resolve_names(self, turn: GameState) -> Self:
        found = spell_players(self.capitals, turn, "capital", (self.word,))
        capitals = {}
        for name in turn.players:
            if name not in found:
                raise IllegalError(f"capital of {name} is missing")
            with replace_error_prefix(f"capital of {name}: "):
                capitals[name] = turn.board.find(found[name])
        owners = dict(zip(turn.board.territories, turn.owners, strict=True))
        for name, territory in capitals.items():
            if not owners[territory]:
                raise IllegalError(f"capital of {name} must be owned by a player, got {territory}")
            if [*capitals.values()].count(territory) > 1:
                raise IllegalError(f"capital must differ between players, got {territory} twice")
        return replace(self, capitals=capitals)

    @property
    def _needed(self) -> int:
        return len(self.capitals) if self.number is None else self.number

    def _list_owned(self, turn: GameState, player: str) -> list[str]:
        owners = dict(zip(turn.board.territories, turn.owners, strict=True))
        return [capital for capital in self.capitals.values() if owners[capital] == player]

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        owned = self._list_owned(turn, player)
        return self.capitals[player] in owned and len(owned) >= self._needed

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        own = self.capitals[player]
        others = [capital for capital in self.capitals.values() if capital != own]
        chosen = choose_cheapest([(other,) for other in others], self._needed - 1, turn, player)
        return tuple(WayToWin((own, *chain(*capitals))) for capitals in chosen)

    def describe(self, turn: GameState) -> str:
        few = "all" if self.number is None else f"{self.number} of"
        own = "" if self.number is None else ", their own included,"
        places = ", ".join(f"{place} ({name})" for name, place in self.capitals.items())
        return f"The first player who owns {few} {len(self.capitals)} capitals{own} wins: {places}."

    def describe_progress(self, turn: GameState, player: str) -> str:
        owned = self._list_owned(turn, player)
        lost = "" if self.capitals[player] in owned else ", not their own"
        return f"{len(owned)} of {self._needed} capitals{lost}"

    def describe_win(self, turn: GameState, player: str) -> str:
        owned, most = self._list_owned(turn, player), len(self.capitals)
        number = f"all {most}" if len(owned) == most else f"{len(owned)} of the {most}"
        return f"they own {number} capitals ({', '.join(owned)})"

    def describe_prize(self, territory: str, player: str) -> str:
        owner = next((name for name, at in self.capitals.items() if at == territory), "")
        return "their own capital" if owner == player else f"{owner}'s capital" if owner else ""

    def encode_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        places = {name: t for t, name in enumerate(turn.board.territories)}
        every = [places[capital] for capital in self.capitals.values()]
        found = []
        for name in players:
            own = places[self.capitals[name]]
            rest = (t for t in every if t != own)
            found.append(CoreMission("capitals", self._needed, entries=(own, *rest)))
        return tuple(found)


def spell_players(
    values_by_player: Mapping[str, V], turn: GameState, what: str, keys: Sequence[str] = ()
) -> dict[str, V]:
    """Return a mapping from players, spelled as in a turn, to values; refuse unknown players.

    values_by_player: a mapping from players, in any spelling, to values.
    turn: the turn with the correct spelling.
    what: a noun for the values in error messages.
    keys: other keys of the mapping in codes and files, which must not be names of players.
    """
    if taken := next((name for name in turn.players if fold_name(name) in keys), None):
        raise IllegalError(
            f"a player must have another name than {taken!r}, which stands for a way to win"
        )
    spelling, found = {fold_name(name): name for name in turn.players}, dict[str, V]()
    players = ", ".join(turn.players)
    for name, value in values_by_player.items():
        player = spelling.get(fold_name(name)) if isinstance(name, str) else None
        if player is None or player in found:
            raise IllegalError(
                f"{what} must name each player of the game once ({players}), got {quote(name)}"
            )
        found[player] = value
    return found


@contextmanager
def replace_error_prefix(prefix: str, replaced_prefix: str = "") -> Iterator[None]:
    """Replace a prefix in the message of an `IactaError` from a `with` block.

    prefix: the new prefix, such as the name of the player.
    replaced_prefix: the prefix that is removed. A message without this prefix is put behind a
        colon.
    """
    try:
        yield
    except IactaError as error:
        text = str(error)
        rest = (
            text.removeprefix(replaced_prefix) if text.startswith(replaced_prefix) else f": {text}"
        )
        raise type(error)(f"{prefix}{rest}") from None


SURVIVAL = Survivor()


def make_victory(pairs: Mapping[str, str]) -> Victory:
    """Make a victory condition from texts.

    pairs: a mapping from the name of the condition to its value, then from players to their texts.

    >>> make_victory({"share": "70%"})
    Share(share=Fraction(7, 10))
    """
    (word, value), *rest = [*pairs.items()] or [("", "")]
    if word not in VICTORIES:
        near = f"share={word}" if word.endswith("%") else f"{word}s"
        hint = f"; did you mean {near}?" if near.partition("=")[0] in VICTORIES else ""
        raise IllegalError(f"win must be one of {', '.join(VICTORIES)}, got {quote(word)}{hint}")
    return VICTORIES[word].from_texts(value, dict(rest))


def _refuse_values(word: str, value: str, player_texts: Mapping[str, str]) -> None:
    extra = [*filter(None, [value]), *player_texts]
    if extra:
        what = "have no value" if value else "name no player"
        raise IllegalError(f"{word} must {what}, got {quote(extra[0])}")
