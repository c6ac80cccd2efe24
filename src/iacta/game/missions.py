"""Missions: the secret tasks of players, such as two continents or the elimination of a player."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Self, cast

from iacta.board import Board
from iacta.board.board import fold_name
from iacta.game.victory import (
    CoreMission,
    GameState,
    Victory,
    WayToWin,
    register_victory,
    spell_players,
)
from iacta.inputs.checks import FrozenDict, parse_int, quote, read_int, read_list, set_field
from iacta.inputs.errors import IllegalError, MalformedError

ANY = "any"  # a continent of the player's choice
INSTEAD = 24  # territories of the mission of a player who would have to eliminate themselves
AT_END = "end"
TERRITORIES = re.compile(r"(\d+) territories(?: with (\d+) arm(?:y|ies)(?: each)?)?", re.IGNORECASE)
ELIMINATE = re.compile(r"eliminate (.+)", re.IGNORECASE)


class Mission:
    """The task of one player."""

    @abstractmethod
    def read(self, turn: GameState) -> Self:
        """Return the mission with the spelling of a turn, or refuse an unfit turn.

        turn: the turn.
        """

    @abstractmethod
    def to_text(self) -> str:
        """Return the mission as text, which `read_mission` reads."""

    @abstractmethod
    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        """Return whether a player fulfils the mission.

        turn, player: the turn and the player.
        """

    @abstractmethod
    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        """Return the ways in which a player can fulfil the mission.

        turn, player: the turn and the player.
        """

    @abstractmethod
    def describe_progress(self, turn: GameState, player: str) -> str:
        """Return the parts of the mission that a player has, in words.

        turn, player: the turn and the player.
        """

    @abstractmethod
    def to_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        """Return the mission for the core.

        turn, players: the turn, and the players in the order of play.
        """


@dataclass(frozen=True)
class OwnTerritories(Mission):
    """Own a number of territories, each with enough armies.

    number: the number of territories.
    armies: the least armies that must be on each of them.

    >>> OwnTerritories(18, 2).to_text()
    '18 territories with 2 armies'
    """

    number: int
    armies: int = 0

    def __post_init__(self) -> None:
        set_field(self, "number", read_int(self.number, "number of a mission", 1))
        set_field(self, "armies", read_int(self.armies, "armies of a mission"))

    def read(self, turn: GameState) -> Self:
        if self.number > len(turn.owners):
            raise IllegalError(
                f"a mission must be for at most {len(turn.owners)} territories, got {self.number}"
            )
        return self

    def to_text(self) -> str:
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
        return f"{self._count(turn, player)} of {self.to_text()}"

    def to_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        return CoreMission("lands", self.number, self.armies)


@dataclass(frozen=True)
class OwnContinents(Mission):
    """Own some continents, and a number of further continents of choice.

    continents: the names of the continents.
    others: the number of further continents.

    >>> OwnContinents(("Asia", "South America")).to_text()
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

    def read(self, turn: GameState) -> Self:
        board = turn.board
        spelling = {fold_name(each.name): each.name for each in board.continents}
        found = []
        for name in self.continents:
            if not isinstance(name, str) or fold_name(name) not in spelling:
                known = ", ".join(spelling.values()) or "none"
                raise IllegalError(
                    f"a mission must name continents of the board ({known}), got {quote(name)}"
                )
            found.append(spelling[fold_name(name)])
        if len({*found}) < len(found):
            raise IllegalError(f"a mission must name each continent once, got {quote(found)}")
        whole = [each for each in board.continents if each.territories]
        if len(found) + self.others > len(whole):
            raise IllegalError(
                f"a mission must be for at most {len(whole)} continents, "
                f"got {len(found) + self.others}"
            )
        return replace(self, continents=tuple(found))

    def to_text(self) -> str:
        return ", ".join((*self.continents, *[ANY] * self.others))

    def _list_others(self, board: Board) -> list[tuple[str, ...]]:
        return [
            each.territories
            for each in board.continents
            if each.name not in self.continents and each.territories
        ]

    def _list_named(self, board: Board) -> list[tuple[str, ...]]:
        found = {each.name: each.territories for each in board.continents}
        return [found[name] for name in self.continents]

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        names = zip(turn.board.territories, turn.owners, strict=True)
        own = {name for name, owner in names if owner == player}
        others = sum(own.issuperset(each) for each in self._list_others(turn.board))
        named = self._list_named(turn.board)
        return all(own.issuperset(each) for each in named) and others >= self.others

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        named, others = self._list_named(turn.board), self._list_others(turn.board)
        ways = []
        for chosen in combinations(others, self.others):
            every = dict.fromkeys(name for each in (*named, *chosen) for name in each)
            ways.append(WayToWin(tuple(every)))
        return tuple(ways)

    def describe_progress(self, turn: GameState, player: str) -> str:
        owners = dict(zip(turn.board.territories, turn.owners, strict=True))

        def count(names: Iterable[str]) -> str:
            all_of_them = [*names]
            return f"{sum(owners[t] == player for t in all_of_them)} of {len(all_of_them)}"

        named = zip(self.continents, self._list_named(turn.board), strict=True)
        parts = [f"{count(lands)} in {name}" for name, lands in named]
        if self.others:
            own = {name for name, owner in owners.items() if owner == player}
            whole = sum(own.issuperset(each) for each in self._list_others(turn.board))
            parts.append(f"{min(whole, self.others)} of {self.others} other continents")
        return ", ".join(parts)

    def to_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        places = {each.name: k for k, each in enumerate(turn.board.continents)}
        entries = tuple(places[name] for name in self.continents)
        return CoreMission("continents", self.others, entries=entries)


@dataclass(frozen=True)
class Eliminate(Mission):
    """A player has no territory left.

    player: the player.

    >>> Eliminate("blue").to_text()
    'eliminate blue'
    """

    player: str

    def read(self, turn: GameState) -> Self:
        names = ", ".join(turn.players)
        spelling = {fold_name(name): name for name in turn.players}
        if not isinstance(self.player, str) or fold_name(self.player) not in spelling:
            raise IllegalError(
                f"a mission must eliminate a player of the game ({names}), got {quote(self.player)}"
            )
        return replace(self, player=spelling[fold_name(self.player)])

    def to_text(self) -> str:
        return f"eliminate {self.player}"

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        return self.player not in turn.owners

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        names = zip(turn.board.territories, turn.owners, strict=True)
        return (WayToWin(tuple(name for name, owner in names if owner == self.player)),)

    def describe_progress(self, turn: GameState, player: str) -> str:
        return f"{turn.owners.count(self.player)} territories of {self.player} left"

    def to_core(self, turn: GameState, players: Sequence[str]) -> CoreMission:
        if self.player not in players:  # eliminated: any player alive fulfils the mission
            return CoreMission("lands", 1)
        return CoreMission("eliminate", entries=(players.index(self.player),))


def read_mission(text: str) -> Mission:
    """Return the mission in a text.

    text: continents such as `"Asia, South America"`, in which `any` is a continent of choice; a
        number of territories such as `"18 territories with 2 armies"`; or `"eliminate blue"`.

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
    if match := TERRITORIES.fullmatch(plain):
        return OwnTerritories(int(match[1]), int(match[2] or 0))
    if match := ELIMINATE.fullmatch(plain):
        return Eliminate(match[1])
    names = [name.strip() for name in plain.split(",")]
    chosen = tuple(name for name in names if name not in (ANY, "*"))
    return OwnContinents(chosen, len(names) - len(chosen))


@register_victory
@dataclass(frozen=True)
class Missions(Victory):
    """The first player who fulfils their mission wins.

    missions: the mission of each player: a mapping from names of players to missions, or to their
        texts as for `read_mission`.
    instead: the territories that a player must own instead, when another player eliminates the
        player of their mission; `None` if the mission is then fulfilled. A player who would have to
        eliminate themselves always has a mission of territories, 24 by default.
    at_end: whether a mission is checked at the end of the turn of its player, and not at once.

    >>> Missions({"red": "Asia, South America", "blue": "eliminate red"}).missions["blue"]
    Eliminate(player='red')
    """

    missions: Mapping[str, Mission | str]
    instead: int | None = None
    at_end: bool = False

    word: ClassVar = "missions"
    is_judged_by_v: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.missions, Mapping) or not self.missions:
            raise MalformedError(
                f"missions must be a mapping from players to missions, got {quote(self.missions)}"
            )
        found = {
            name: each if isinstance(each, Mission) else read_mission(each)
            for name, each in self.missions.items()
        }
        set_field(self, "missions", FrozenDict(found))
        if self.instead is not None:
            set_field(self, "instead", read_int(self.instead, "instead", 1))

    @property
    def _missions(self) -> Mapping[str, Mission]:
        return cast(Mapping[str, Mission], self.missions)

    @classmethod
    def from_texts(cls, value: str, of_players: Mapping[str, str]) -> Self:
        if not of_players:
            raise MalformedError("missions must give each player a mission, got none")
        words = [word.strip() for word in value.split("+") if word.strip()]
        numbers = [word for word in words if word != AT_END]
        if len(numbers) > 1 or len(words) > len({*words}):
            raise MalformedError(f"missions must be like 24+end, got {quote(value)}")
        instead = parse_int(numbers[0], "missions", 1) if numbers else None
        missions = {name: read_mission(text) for name, text in of_players.items()}
        return cls(missions, instead, AT_END in words)

    def to_texts(self) -> tuple[str, Mapping[str, str]]:
        number = [] if self.instead is None else [str(self.instead)]
        value = "+".join([*number, *([AT_END] if self.at_end else [])])
        return value, {name: each.to_text() for name, each in self._missions.items()}

    def read(self, turn: GameState) -> Self:
        given = spell_players(self._missions, turn, "mission")
        found = dict[str, Mission]()
        for name in turn.players:
            if name not in given:
                raise IllegalError(f"missions must give {name} a mission")
            mission = given[name].read(turn)
            is_own = isinstance(mission, Eliminate) and mission.player == name
            found[name] = self._find_own(turn) if is_own else mission
        return replace(self, missions=found)

    def _find_own(self, turn: GameState) -> Mission:
        return OwnTerritories(min(self.instead or INSTEAD, len(turn.owners)))

    def after_elimination(self, turn: GameState, loser: str) -> Self:
        if self.instead is None:
            return self
        number = min(self.instead, len(turn.owners))
        return replace(
            self,
            missions={
                name: OwnTerritories(number)
                if each == Eliminate(loser) and name != turn.player
                else each
                for name, each in self._missions.items()
            },
        )

    @property
    def is_checked_at_end(self) -> bool:
        return self.at_end

    def is_fulfilled(self, turn: GameState, player: str) -> bool:
        if self.at_end and (turn.phase != "over" or turn.player != player):
            return False
        return self._missions[player].is_fulfilled(turn, player)

    def list_ways(self, turn: GameState, player: str) -> tuple[WayToWin, ...]:
        return self._missions[player].list_ways(turn, player)

    def describe(self, turn: GameState) -> str:
        rows = "; ".join(f"{name}: {each.to_text()}" for name, each in self._missions.items())
        when = " at the end of their turn" if self.at_end else ""
        return f"The first player who has fulfilled their mission{when} wins. Missions: {rows}."

    def describe_progress(self, turn: GameState, player: str) -> str:
        return self._missions[player].describe_progress(turn, player)

    def list_missions(
        self, turn: GameState, players: Sequence[str]
    ) -> tuple[CoreMission | None, ...]:
        instead = None
        if self.instead is not None:
            instead = CoreMission("lands", min(self.instead, len(turn.owners)))
        own = CoreMission("lands", min(self.instead or INSTEAD, len(turn.owners)))
        found = []
        for name in players:
            each = self._missions[name].to_core(turn, players)
            is_target = each.kind == "eliminate"
            found.append(each._replace(instead=instead, own=own) if is_target else each)
        return tuple(found)
