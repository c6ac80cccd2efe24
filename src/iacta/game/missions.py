"""Missions: the tasks of players, such as owning two continents or eliminating a player.

A mission is known to everybody, secret (known only to its player), or hidden (unknown). Each
simulated game deals hidden missions at random from the remaining mission cards: all cards without
the known missions and the missions that are already fulfilled.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from random import Random
from typing import ClassVar, Self, cast
from urllib.parse import unquote

from iacta.board import Board
from iacta.board.board import fold_name
from iacta.game.victory import (
    CoreMission,
    GameState,
    RivalWin,
    Victory,
    WayToWin,
    choose_cheapest,
    combine_cheapest,
    intersect_ways,
    measure_ways,
    register_victory,
    replace_error_prefix,
    spell_players,
)
from iacta.inputs.checks import (
    FrozenDict,
    check_choice,
    parse_int,
    quote,
    read_int,
    read_list,
    set_field,
)
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

ANY = "any"  # a continent of the player's choice
INSTEAD = 24  # territories to own, for players whose mission is to eliminate themselves
AT_END = "end"
COMMON = re.compile(r"or(\d+)")
HIDDEN, SECRET = "hidden", "secret "
CARDS = "cards"  # the key of the mission cards in the mapping from players to texts
BETWEEN_CARDS = "/"
A_MISSION, A_CARD = "a mission", "mission card"  # the start of messages about a mission
MAX_DEALS = 1000  # the maximum number of attempts to deal hidden missions
BOX_CARDS = (  # the mission cards of the edition of 1993, without eliminations
    "24 territories",
    "18 territories with 2 armies",
    "North America, Africa",
    "North America, Australia",
    "Asia, South America",
    "Asia, Africa",
    "Europe, South America, any",
    "Europe, Australia, any",
)
MAX_MISSION_ARMIES = 1_000_000  # the maximum for each territory; the core can add up so many
TERRITORIES = re.compile(
    r"(\d+) territor(?:y|ies)(?: with (\d+) arm(?:y|ies)(?: each)?)?", re.IGNORECASE
)
ELIMINATE = re.compile(r"eliminate (.+)", re.IGNORECASE)
NAMED = re.compile(r"own (.+)", re.IGNORECASE)
PART = re.compile(r"(\d+) of (.+)", re.IGNORECASE)
TRIO = "3 neighbours"
LIKE_TERRITORIES = re.compile(r"[-+]?\d|.*\b(territor|arm(y|ies)\b)", re.IGNORECASE)
LIKE_ELIMINATE = re.compile(r"eliminat", re.IGNORECASE)


class Mission:
    """The task of one player."""

    @abstractmethod
    def resolve_names(self, turn: GameState) -> Self:
        """Return the mission with the spelling of names in a turn; refuse an unsuitable turn."""

    @abstractmethod
    def format_text(self) -> str:
        """Return the mission as text, which `read_mission` reads."""

    @abstractmethod
    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        """Return whether a player fulfils the mission in the current state of a turn."""

    @abstractmethod
    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        """Return the ways to fulfil the mission for a player of a turn."""

    @abstractmethod
    def describe_progress(self, turn: GameState, player: str) -> str:
        """Describe a player's progress in a turn, such as "3 of 4"; empty if it is unknown."""

    def measure_progress(self, turn: GameState, player: str) -> float:
        """Return a player's progress in a turn, from 0 to 1; 0 if it is unknown."""
        return measure_ways(self.list_ways(turn, player), turn, player)

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        """Return the territories that the mission needs in every way to fulfil it."""
        return intersect_ways(self.list_ways(turn, player), turn)

    @abstractmethod
    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        """Return the mission in the format of the core.

        turn: the turn from which games are played.
        players: the players in the order of play.
        """


@dataclass(frozen=True)
class OwnTerritories(Mission):
    """Own a number of territories, each with enough armies.

    number: the number of territories.
    armies: the minimum number of armies on each of these territories.

    >>> OwnTerritories(18, 2).format_text()
    '18 territories with 2 armies'
    """

    number: int
    armies: int = 0

    def __post_init__(self) -> None:
        set_field(self, "number", read_int(self.number, "number of territories", 1))
        most = MAX_MISSION_ARMIES
        set_field(self, "armies", read_int(self.armies, "armies on each territory", 0, most))

    def resolve_names(self, turn: GameState) -> Self:
        if self.number > len(turn.owners):
            raise IllegalError(
                f"a mission must be for at most {len(turn.owners)} territories, got {self.number}"
            )
        return self

    def format_text(self) -> str:
        armies = f" with {self.armies} armies" if self.armies else ""
        return f"{self.number} territories{armies}"

    def _count(self, turn: GameState, player: str) -> int:
        held = zip(turn.owners, turn.armies, strict=True)
        return sum(owner == player and armies >= self.armies for owner, armies in held)

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return self._count(turn, player) >= self.number

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        return (WayToWin(number=self.number, armies=self.armies),)

    def describe_progress(self, turn: GameState, player: str) -> str:
        return f"{self._count(turn, player)} of {self.format_text()}"

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        """Return the player's territories without enough armies."""
        held = zip(turn.board.territories, turn.owners, turn.armies, strict=True)
        return tuple(t for t, owner, armies in held if owner == player and armies < self.armies)

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        return CoreMission("lands", self.number, self.armies)


@dataclass(frozen=True)
class OwnContinents(Mission):
    """Own certain continents, and a number of other continents of the player's choice.

    continents: the names of the continents.
    others: the number of other continents.

    >>> OwnContinents(("Asia", "South America")).format_text()
    'Asia, South America'
    """

    continents: tuple[str, ...]
    others: int = 0

    def __post_init__(self) -> None:
        names = read_list(self.continents, "continents of a mission", "names")
        set_field(self, "continents", tuple(names))
        set_field(self, "others", read_int(self.others, "other continents of a mission"))
        if not names and not self.others:
            raise IllegalError("a mission must name a continent, got none")

    def resolve_names(self, turn: GameState) -> Self:
        board = turn.board
        found = _spell_continents(self.continents, board)
        whole = [continent for continent in board.continents if continent.territories]
        if len(found) + self.others > len(whole):
            raise IllegalError(
                f"a mission must be for at most {len(whole)} continents, "
                f"got {len(found) + self.others}"
            )
        return replace(self, continents=tuple(found))

    def format_text(self) -> str:
        return ", ".join((*self.continents, *[ANY] * self.others))

    def _list_others(self, board: Board) -> list[tuple[str, ...]]:
        return [
            continent.territories
            for continent in board.continents
            if continent.name not in self.continents and continent.territories
        ]

    def _list_continents(self, board: Board) -> list[tuple[str, ...]]:
        return [_list_territories(board, name) for name in self.continents]

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        names = zip(turn.board.territories, turn.owners, strict=True)
        own = {name for name, owner in names if owner == player}
        others = sum(own.issuperset(other) for other in self._list_others(turn.board))
        named = self._list_continents(turn.board)
        return all(own.issuperset(each) for each in named) and others >= self.others

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        named, others = self._list_continents(turn.board), self._list_others(turn.board)
        ways = []
        for chosen in choose_cheapest(others, self.others, turn, player):
            every = dict.fromkeys(name for each in (*named, *chosen) for name in each)
            ways.append(WayToWin(tuple(every)))
        return tuple(ways)

    def describe_progress(self, turn: GameState, player: str) -> str:
        owners = dict(zip(turn.board.territories, turn.owners, strict=True))

        def format_count(names: Iterable[str]) -> str:
            all_of_them = [*names]
            return f"{sum(owners[t] == player for t in all_of_them)} of {len(all_of_them)}"

        named = zip(self.continents, self._list_continents(turn.board), strict=True)
        parts = [f"{format_count(lands)} in {name}" for name, lands in named]
        if self.others:
            own = {name for name, owner in owners.items() if owner == player}
            whole = sum(own.issuperset(other) for other in self._list_others(turn.board))
            parts.append(f"{min(whole, self.others)} of {self.others} other continents")
        return ", ".join(parts)

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        places = {continent.name: k for k, continent in enumerate(turn.board.continents)}
        entries = tuple(places[name] for name in self.continents)
        return CoreMission("continents", self.others, entries=entries)


@dataclass(frozen=True)
class OwnNamed(Mission):
    """Own certain territories.

    territories: the names of the territories.

    >>> OwnNamed(("Alaska", "Brazil")).format_text()
    'own Alaska, Brazil'
    """

    territories: tuple[str, ...]

    def __post_init__(self) -> None:
        names = read_list(self.territories, "territories of a mission", "names")
        if not names:
            raise IllegalError("a mission must name a territory, got none")
        set_field(self, "territories", tuple(names))

    def resolve_names(self, turn: GameState) -> Self:
        try:
            found = tuple(map(turn.board.find, self.territories))
        except IactaError as error:
            raise IllegalError(f"a mission must name territories of the board: {error}") from None
        if twice := next((name for name in found if found.count(name) > 1), ""):
            raise IllegalError(f"a mission must name each territory once, got {quote(twice)} twice")
        return replace(self, territories=found)

    def format_text(self) -> str:
        return f"own {', '.join(self.territories)}"

    def _count(self, turn: GameState, player: str) -> int:
        owners = dict(zip(turn.board.territories, turn.owners, strict=True))
        return sum(owners[name] == player for name in self.territories)

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return self._count(turn, player) == len(self.territories)

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        return (WayToWin(self.territories),)

    def describe_progress(self, turn: GameState, player: str) -> str:
        return f"{self._count(turn, player)} of {len(self.territories)} territories"

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        places = map(turn.board.territories.index, self.territories)
        return CoreMission("capitals", len(self.territories), entries=tuple(places))


@dataclass(frozen=True)
class OwnParts(Mission):
    """Own parts of continents, such as five territories of North America and two of Europe.

    parts: a mapping from continents to the required numbers of their territories.
    continents: the names of continents to own completely.
    neighbours: whether the mission also requires three territories of other continents that border
        one another.

    >>> OwnParts({"North America": 5, "Europe": 2}, ("Africa",)).format_text()
    'Africa, 5 of North America, 2 of Europe'
    """

    parts: Mapping[str, int]
    continents: tuple[str, ...] = ()
    neighbours: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Mapping):
            raise MalformedError(
                f"parts must be a mapping from continents to numbers, got {quote(self.parts)}"
            )
        check_choice(self.neighbours, (True, False), "neighbours")
        what = "territories of a continent"
        parts = {name: read_int(number, what, 1) for name, number in self.parts.items()}
        if not parts and not self.neighbours:
            raise IllegalError("a mission must name a part of a continent, got none")
        set_field(self, "parts", FrozenDict(parts))
        names = read_list(self.continents, "continents of a mission", "names")
        set_field(self, "continents", tuple(names))

    def resolve_names(self, turn: GameState) -> Self:
        names = _spell_continents((*self.continents, *self.parts), turn.board)
        whole = len(self.continents)
        parts = dict(zip(names[whole:], self.parts.values(), strict=True))
        for name, number in parts.items():
            if number > (most := len(_list_territories(turn.board, name))):
                raise IllegalError(
                    f"a mission must be for at most {most} territories of {name}, got {number}"
                )
        if self.neighbours and not self._list_trios(turn.board, names):
            raise IllegalError(
                "three territories of other continents must border one another for the mission, "
                "got none"
            )
        return replace(self, parts=parts, continents=tuple(names[:whole]))

    def format_text(self) -> str:
        parts = (f"{number} of {name}" for name, number in self.parts.items())
        return ", ".join((*self.continents, *parts, *([TRIO] if self.neighbours else [])))

    def _list_numbers(self, board: Board) -> list[tuple[str, tuple[str, ...], int]]:
        """Return each continent, its territories, and the number of territories to own."""
        whole = ((name, _list_territories(board, name)) for name in self.continents)
        return [
            *((name, lands, len(lands)) for name, lands in whole),
            *((name, _list_territories(board, name), n) for name, n in self.parts.items()),
        ]

    @staticmethod
    def _list_trios(board: Board, continents: Sequence[str]) -> list[tuple[str, ...]]:
        """Return all triples of territories outside some continents that border one another."""
        named = {name for each in continents for name in _list_territories(board, each)}
        free = [name for name in board.territories if name not in named]
        borders = {frozenset(pair) for pair in board.borders}
        near = {a: [b for b in free if a < b and {a, b} in borders] for a in free}
        return [(a, b, c) for a in free for b, c in combinations(near[a], 2) if {b, c} in borders]

    def _list_own_trios(self, turn: GameState) -> list[tuple[str, ...]]:
        return self._list_trios(turn.board, (*self.continents, *self.parts))

    def _count(self, turn: GameState, player: str) -> list[tuple[str, int, int]]:
        """Return the name of each continent, with the numbers of territories owned and required."""
        own = _list_own(turn, player)
        return [
            (name, min(len(own & {*lands}), number), number)
            for name, lands, number in self._list_numbers(turn.board)
        ]

    def _count_neighbours(self, turn: GameState, player: str) -> int:
        own = _list_own(turn, player)
        return max(len(own & {*trio}) for trio in self._list_own_trios(turn))

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        is_whole = all(owned == number for _, owned, number in self._count(turn, player))
        return is_whole and (not self.neighbours or self._count_neighbours(turn, player) == 3)

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        own = _list_own(turn, player)
        choices = []
        for _, lands, number in self._list_numbers(turn.board):
            held = tuple(name for name in lands if name in own)[:number]
            others = [(name,) for name in lands if name not in own]
            chosen = choose_cheapest(others, number - len(held), turn, player)
            choices.append([(*held, *chain(*groups)) for groups in chosen])
        if self.neighbours:
            trios = self._list_own_trios(turn)
            choices.append([trio for (trio,) in choose_cheapest(trios, 1, turn, player)])
        return tuple(
            WayToWin(tuple(dict.fromkeys(chain(*groups))))
            for groups in combine_cheapest(choices, turn, player)
        )

    def describe_progress(self, turn: GameState, player: str) -> str:
        counts = self._count(turn, player)
        parts = [f"{owned} of {number} in {name}" for name, owned, number in counts]
        if self.neighbours:
            parts.append(f"{self._count_neighbours(turn, player)} of {TRIO}")
        return ", ".join(parts)

    def measure_progress(self, turn: GameState, player: str) -> float:
        """Return the share of the required territories that a player owns."""
        counts = self._count(turn, player)
        owned, number = sum(each[1] for each in counts), sum(each[2] for each in counts)
        if self.neighbours:
            owned, number = owned + self._count_neighbours(turn, player), number + 3
        return owned / number

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        """Return the territories of all continents that the mission names."""
        lands = {t for _, territories, _ in self._list_numbers(turn.board) for t in territories}
        return tuple(name for name in turn.board.territories if name in lands)

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        places = {continent.name: k for k, continent in enumerate(turn.board.continents)}
        numbers = self._list_numbers(turn.board)
        entries = chain(*((places[name], number) for name, _, number in numbers))
        return CoreMission("parts", int(self.neighbours), entries=tuple(entries))


def _list_own(turn: GameState, player: str) -> set[str]:
    names = zip(turn.board.territories, turn.owners, strict=True)
    return {name for name, owner in names if owner == player}


def _list_territories(board: Board, name: str) -> tuple[str, ...]:
    return next(each.territories for each in board.continents if each.name == name)


def _spell_continents(names: Sequence[str], board: Board) -> list[str]:
    """Return continents with the spelling of a board; refuse other names and repeated names."""
    spelling = {fold_name(continent.name): continent.name for continent in board.continents}
    found = []
    for name in names:
        if not isinstance(name, str) or fold_name(name) not in spelling:
            raise _refuse_continent(name, [*spelling.values()])
        if not _list_territories(board, spelling[fold_name(name)]):
            raise IllegalError(
                f"a mission must name continents with territories, got {quote(name)}"
            )
        found.append(spelling[fold_name(name)])
    if twice := next((name for name in found if found.count(name) > 1), ""):
        raise IllegalError(f"a mission must name each continent once, got {quote(twice)} twice")
    return found


def _refuse_continent(name: object, known: Sequence[str]) -> IactaError:
    """Return the error for an unknown continent, which may be a malformed mission of another kind.

    known: the names of the continents.
    """
    text = name if isinstance(name, str) else ""
    if LIKE_TERRITORIES.match(text):
        return MalformedError(
            "a mission must be like '24 territories' or '18 territories with 2 armies', "
            f"got {quote(name)}"
        )
    if LIKE_ELIMINATE.match(text):
        return MalformedError(f"a mission must be like 'eliminate blue', got {quote(name)}")
    names = ", ".join(known) or "none"
    return IllegalError(f"a mission must name continents of the board ({names}), got {quote(name)}")


@dataclass(frozen=True)
class Eliminate(Mission):
    """Eliminate a player: the player must have no territories.

    player: the player to eliminate.

    >>> Eliminate("blue").format_text()
    'eliminate blue'
    """

    player: str

    def resolve_names(self, turn: GameState) -> Self:
        names = ", ".join(turn.players)
        spelling = {fold_name(name): name for name in turn.players}
        if not isinstance(self.player, str) or fold_name(self.player) not in spelling:
            raise IllegalError(
                f"a mission must eliminate a player of the game ({names}), got {quote(self.player)}"
            )
        return replace(self, player=spelling[fold_name(self.player)])

    def format_text(self) -> str:
        return f"eliminate {self.player}"

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return self.player not in turn.owners

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        names = zip(turn.board.territories, turn.owners, strict=True)
        return (WayToWin(tuple(name for name, owner in names if owner == self.player)),)

    def describe_progress(self, turn: GameState, player: str) -> str:
        return f"{turn.owners.count(self.player)} territories of {self.player} left"

    def measure_progress(self, turn: GameState, player: str) -> float:
        """Return 1 without territories of the target, and 0 from an equal share of the map."""
        equal = len(turn.owners) / len(turn.players)  # territories of each player after a deal
        return max(0.0, 1 - turn.owners.count(self.player) / equal)

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        if self.player not in players:  # eliminated: any survivor fulfils the mission
            return CoreMission("lands", 1)
        return CoreMission("eliminate", entries=(players.index(self.player),))


@dataclass(frozen=True)
class Hidden(Mission):
    """An unknown mission.

    >>> Hidden().format_text()
    'hidden'
    """

    def resolve_names(self, turn: GameState) -> Self:
        return self

    def format_text(self) -> str:
        return HIDDEN

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return False

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        return ()

    def describe_progress(self, turn: GameState, player: str) -> str:
        return ""

    def convert_for_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        return CoreMission(HIDDEN)


def read_mission(text: str) -> Mission:
    """Read a mission.

    text: continents, such as `"Asia, South America"`, where `any` stands for any other continent; a
        number of territories, such as `"18 territories with 2 armies"`; named territories, such as
        `"own Alaska, Brazil"`; parts of continents, such as `"Africa, 5 of North America"`, and
        `"3 neighbours"` for three territories elsewhere that border one another; `"eliminate
        blue"`; or `"hidden"`.

    >>> read_mission("Europe, Australia, any")
    OwnContinents(continents=('Europe', 'Australia'), others=1)
    >>> read_mission("18 territories with 2 armies"), read_mission("eliminate blue")
    (OwnTerritories(number=18, armies=2), Eliminate(player='blue'))
    """
    if not isinstance(text, str) or not text.strip():
        raise MalformedError(
            f"a mission must be like 'Asia, South America', '24 territories' or 'eliminate blue', "
            f"got {quote(text)}"
        )
    plain = text.strip()
    if plain.casefold() == HIDDEN:
        return Hidden()
    if match := TERRITORIES.fullmatch(plain):
        number = parse_int(match[1], "number of territories", 1)
        return OwnTerritories(number, parse_int(match[2] or "0", "armies on each territory"))
    if match := ELIMINATE.fullmatch(plain):
        return Eliminate(match[1])
    if match := NAMED.fullmatch(plain):
        return OwnNamed(tuple(name.strip() for name in match[1].split(",")))
    names = [name.strip() for name in plain.split(",")]
    others = [name for name in names if name not in (ANY, "*")]
    parts = [match for name in others if (match := PART.fullmatch(name))]
    whole = tuple(name for name in others if not PART.fullmatch(name) and name != TRIO)
    if len(whole) == len(others):
        return OwnContinents(whole, len(names) - len(others))
    numbers = {part[2]: parse_int(part[1], "territories of a continent", 1) for part in parts}
    if len(numbers) < len(parts) or len(others) < len(names) or names.count(TRIO) > 1:
        raise MalformedError(
            f"a mission must be like 'Africa, 5 of North America, 3 neighbours', got {quote(text)}"
        )
    return OwnParts(numbers, whole, TRIO in names)


def _read_secret_mission(text: str) -> tuple[Mission, bool]:
    """Read a mission, and return whether its text begins with the word `secret`."""
    if not isinstance(text, str) or not f"{text.strip().casefold()} ".startswith(SECRET):
        return read_mission(text), False
    rest = text.strip()[len(SECRET) :]
    mission = read_mission(rest) if rest else Hidden()
    if mission == Hidden():
        raise MalformedError(f"a mission must be like 'secret Asia, Africa', got {quote(text)}")
    return mission, True


def _refuse_ambiguous(mission: Mission, board: Board, prefix: str = "") -> None:
    """Raise an error if the text of a mission has a second meaning, such as a continent `any`.

    prefix: the text before the mission, such as `secret `.
    """
    text = f"{prefix}{mission.format_text()}"
    named = mission.continents if isinstance(mission, OwnContinents | OwnParts) else ()
    others = {
        fold_name(continent.name) for continent in board.continents if continent.name not in named
    }
    is_read = _read_secret_mission(text) == (mission, bool(prefix))
    if not is_read or not others.isdisjoint(map(fold_name, text.split(","))):
        raise IllegalError(
            "a mission must have one meaning, but a continent or player has a name of another: "
            f"{quote(text)}"
        )


@register_victory
@dataclass(frozen=True)
class Missions(Victory):
    """The first player who fulfils their mission wins.

    missions: a mapping from names of players to their missions, or to texts in the format of
        `read_mission`. A text may begin with `secret` if the other players do not know the mission.
        The missions of other players are hidden.
    instead: the number of territories that a player must own if another player has eliminated the
        target of their mission; `None` if the mission then counts as fulfilled. A player whose
        mission is to eliminate themselves must also own this number of territories (24 by default).
    at_end: whether a mission is only checked at the end of its player's turn.
    cards: the cards from which hidden missions are dealt; `None` for the cards of the board game.
    secret: the players whose missions are secret, in addition to hidden missions.
    common: the number of territories with which a player also wins, whatever their mission is;
        `None` if only missions win.

    >>> Missions({"red": "Asia, South America", "blue": "eliminate red"}).missions["blue"]
    Eliminate(player='red')
    """

    missions: Mapping[str, Mission | str]
    instead: int | None = None
    at_end: bool = False
    cards: tuple[Mission | str, ...] | None = None
    secret: tuple[str, ...] = ()
    common: int | None = None

    word: ClassVar = "missions"
    is_judged_by_v: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.missions, Mapping) or not self.missions:
            raise MalformedError(
                f"missions must be a mapping from players to missions, got {quote(self.missions)}"
            )
        check_choice(self.at_end, (True, False), "at_end")
        players = {fold_name(name): name for name in self.missions if isinstance(name, str)}
        secret, found = dict[str, None](), dict[str, Mission]()
        for name in read_list(self.secret, "secret", "players"):
            if not isinstance(name, str) or fold_name(name) not in players:
                raise IllegalError(f"secret must name players with missions, got {quote(name)}")
            secret[players[fold_name(name)]] = None
        for name, mission in self.missions.items():
            with replace_error_prefix(f"mission of {name}", A_MISSION):
                if isinstance(mission, Mission):
                    found[name] = mission
                else:
                    found[name], is_secret = _read_secret_mission(mission)
                    secret |= {name: None} if is_secret else {}
        set_field(self, "missions", FrozenDict(found))
        set_field(
            self,
            "secret",
            tuple(each for each in found if each in secret and found[each] != Hidden()),
        )
        if self.cards is not None:
            rows = read_list(self.cards, "cards", "missions")
            with replace_error_prefix(A_CARD, A_MISSION):
                cards = (row if isinstance(row, Mission) else read_mission(row) for row in rows)
                set_field(self, "cards", tuple(cards))
        for field in ("instead", "common"):
            if getattr(self, field) is not None:
                set_field(self, field, read_int(getattr(self, field), field, 1))

    @property
    def _missions(self) -> Mapping[str, Mission]:
        return cast(Mapping[str, Mission], self.missions)

    @classmethod
    def from_texts(cls, value: str, player_texts: Mapping[str, str]) -> Self:
        if not player_texts:
            raise MalformedError("mission must be given for each player, got none")
        words = [word.strip() for word in value.split("+") if word.strip()]
        common = [match[1] for word in words if (match := COMMON.fullmatch(word))]
        numbers = [word for word in words if word != AT_END and not COMMON.fullmatch(word)]
        is_number = all(word.isdecimal() for word in numbers)
        if not is_number or max(len(numbers), len(common)) > 1 or len(words) > len({*words}):
            raise MalformedError(f"missions must be like 24+end or 24+or30, got {quote(value)}")
        instead = parse_int(numbers[0], "missions", 1) if numbers else None
        missions = dict[str, Mission | str](player_texts)
        cards = missions.pop(CARDS, None)
        deck = None if cards is None else tuple(map(unquote, str(cards).split(BETWEEN_CARDS)))
        shared = parse_int(common[0], "missions", 1) if common else None
        return cls(missions, instead, AT_END in words, deck, common=shared)

    def format_texts(self) -> tuple[str, Mapping[str, str]]:
        number = [] if self.instead is None else [str(self.instead)]
        shared = [] if self.common is None else [f"or{self.common}"]
        value = "+".join([*number, *([AT_END] if self.at_end else []), *shared])
        texts = {
            name: f"{SECRET if name in self.secret else ''}{mission.format_text()}"
            for name, mission in self._missions.items()
        }
        if self.cards is not None:
            cards = cast(tuple[Mission, ...], self.cards)
            # A name in a card may contain the separator.
            texts[CARDS] = BETWEEN_CARDS.join(
                card.format_text().replace("%", "%25").replace(BETWEEN_CARDS, "%2F")
                for card in cards
            )
        return value, texts

    def resolve_names(self, turn: GameState) -> Self:
        given = spell_players(self._missions, turn, "mission", (self.word, CARDS))
        found = dict[str, Mission]()
        for name in turn.players:
            with replace_error_prefix(f"mission of {name}", A_MISSION):
                mission = given.get(name, Hidden()).resolve_names(turn)
            is_own = isinstance(mission, Eliminate) and mission.player == name
            found[name] = self._make_own_mission(turn) if is_own else mission
        cards = self.cards
        if cards is not None:
            with replace_error_prefix(A_CARD, A_MISSION):
                cards = tuple(cast(Mission, each).resolve_names(turn) for each in cards)
        if (most := max(self.instead or 0, self.common or 0)) > len(turn.owners):
            raise IllegalError(
                f"missions must be at most {len(turn.owners)}, the number of territories, "
                f"got {most}"
            )
        spelling = {fold_name(name): name for name in turn.players}
        secret = tuple(spelling[fold_name(name)] for name in self.secret)
        for name, mission in found.items():
            with replace_error_prefix(f"mission of {name}", A_MISSION):
                _refuse_ambiguous(mission, turn.board, SECRET if name in secret else "")
        with replace_error_prefix(A_CARD, A_MISSION):
            for card in cards or ():
                _refuse_ambiguous(card, turn.board)
        new = replace(self, missions=found, cards=cards, secret=secret)
        hidden, deck = new.list_hidden(turn), new.list_cards(turn)
        if len(deck) < len(hidden):
            raise IllegalError(
                f"hidden missions of {len(hidden)} players need at least {len(hidden)} cards, "
                f"got {len(deck)}"
            )
        return new

    def list_hidden(self, turn: GameState) -> list[str]:
        """Return the survivors of a turn whose missions are hidden."""
        return [name for name in turn.survivors if isinstance(self._missions[name], Hidden)]

    def list_cards(self, turn: GameState) -> list[Mission]:
        """Return the cards from which hidden missions can be dealt in a turn."""
        if not self.list_hidden(turn):
            return []
        if self.cards is not None:
            cards = [*cast(tuple[Mission, ...], self.cards)]
        else:
            names = {continent.name for continent in turn.board.continents}
            box = [read_mission(text) for text in BOX_CARDS]
            for each in box:
                if isinstance(each, OwnContinents) and not {*each.continents} <= names:
                    raise IllegalError(
                        f"hidden missions on the board {turn.board.name!r} need cards; give them "
                        "with --mission-cards, in Python cards, or name the mission of each player"
                    )
            cards = [*box, *(Eliminate(name) for name in turn.players)]
        for known in self._missions.values():
            if known in cards:
                cards.remove(known)
        found = []
        for each in cards:
            is_gone = isinstance(each, Eliminate) and each.player not in turn.owners
            if not is_gone:
                found.append(each)
            elif self.instead is not None:
                found.append(self._make_own_mission(turn))
        return found

    def deal(self, turn: GameState, random: Random) -> Self:
        hidden, deck = self.list_hidden(turn), self.list_cards(turn)
        dealt = self
        for _ in range(MAX_DEALS if hidden else 0):
            missions = dict(self._missions)
            for name, card in zip(hidden, random.sample(deck, len(hidden)), strict=True):
                missions[name] = self._make_own_mission(turn) if card == Eliminate(name) else card
            dealt = replace(self, missions=missions, secret=(*self.secret, *hidden))
            if not any(dealt.is_fulfilled(turn, name) for name in hidden):
                break
        return dealt

    def list_possible(self, turn: GameState, player: str) -> list[tuple[float, Self]]:
        if not isinstance(self._missions[player], Hidden):
            return [(1.0, self)]
        own = Eliminate(player)
        missions = (
            self._make_own_mission(turn) if card == own else card for card in self.list_cards(turn)
        )
        counts = Counter(mission for mission in missions if not mission.is_fulfilled(turn, player))
        return [
            (number / counts.total(), replace(self, missions={**self._missions, player: each}))
            for each, number in counts.items()
        ]

    def is_hidden(self, player: str) -> bool:
        return player in self.secret or isinstance(self._missions[player], Hidden)

    def hide_from(self, player: str) -> Self:
        secret = {name: Hidden() for name in self.secret if name != player}
        return replace(self, missions={**self._missions, **secret}) if secret else self

    def _make_own_mission(self, turn: GameState) -> Mission:
        return OwnTerritories(min(self.instead or INSTEAD, len(turn.owners)))

    def list_rival_wins(self, turn: GameState) -> tuple[RivalWin, ...]:
        if self.at_end:
            return ()
        return tuple(
            RivalWin(mission.player, name, 1 if self.instead is None else self.instead)
            for name, mission in self._missions.items()
            if isinstance(mission, Eliminate)
            and name in turn.owners
            and mission.player in turn.owners
            and len({name, mission.player, turn.player}) == 3
        )

    def apply_elimination(self, turn: GameState, loser: str) -> Self:
        if self.instead is None:
            return self
        return replace(
            self,
            missions={
                name: OwnTerritories(self.instead)
                if mission == Eliminate(loser) and name != turn.player
                else mission
                for name, mission in self._missions.items()
            },
        )

    @property
    def is_checked_at_end(self) -> bool:
        return self.at_end

    @property
    def common_lands(self) -> int:
        return self.common or 0

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        if self.at_end and (turn.phase != "over" or turn.player != player):
            return False
        if self.common is not None and turn.owners.count(player) >= self.common:
            return True
        return self._missions[player].is_fulfilled(turn, player)

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        ways = self._missions[player].list_ways(turn, player)
        return ways if self.common is None else (*ways, WayToWin(number=self.common))

    def describe(self, turn: GameState) -> str:
        texts = {name: text for name, text in self.format_texts()[1].items() if name != CARDS}
        rows = "; ".join(f"{name}: {text}" for name, text in texts.items())
        when = " at the end of their turn" if self.at_end else ""
        shared = "" if self.common is None else f", or owns {self.common} territories,"
        wins = f"The first player who has fulfilled their mission{when}{shared} wins."
        if all(isinstance(mission, Hidden) for mission in self._missions.values()):
            return f"{wins} All missions are hidden."
        return f"{wins} Missions: {rows}."

    def describe_progress(self, turn: GameState, player: str) -> str:
        return self._missions[player].describe_progress(turn, player)

    def measure_progress(self, turn: GameState, player: str) -> float:
        return self._missions[player].measure_progress(turn, player)

    def list_targets(self, turn: GameState, player: str) -> tuple[str, ...]:
        if self.common is not None:
            return intersect_ways(self.list_ways(turn, player), turn)
        return self._missions[player].list_targets(turn, player)

    def describe_win(self, turn: GameState, player: str) -> str:
        if self.common is not None and turn.owners.count(player) >= self.common:
            return f"they own {self.common} territories"
        kind = SECRET if player in self.secret else ""
        return f"their {kind}mission is fulfilled ({self._missions[player].format_text()})"

    def encode_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        missions = (self._missions[name] for name in players)
        return tuple(self._complete(mission, turn, players) for mission in missions)

    def list_core_cards(self, turn: GameState, players: Sequence[str]) -> tuple[CoreMission, ...]:
        return tuple(self._complete(card, turn, players) for card in self.list_cards(turn))

    def _complete(self, mission: Mission, turn: GameState, players: Sequence[str]) -> CoreMission:
        """Convert a mission for the core; add the missions that can replace an elimination."""
        found = mission.convert_for_core(turn, players)
        if found.kind != "eliminate":
            return found
        own = CoreMission("lands", min(self.instead or INSTEAD, len(turn.owners)))
        return found._replace(instead=None if self.instead is None else own, own=own)
