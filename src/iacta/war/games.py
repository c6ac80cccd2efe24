"""Whole games of the compiled core: what can be asked about one moment of a game."""

from ctypes import byref, c_int32
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.game import Action, Advance, Attack, Defend, EndPhase, Fortify, Hand, Place, Reveal
from iacta.game import Trade as TradeAction
from iacta.game.actions import Result
from iacta.game.turn import Move, Record, Turn
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.native.calls import make_budget
from iacta.native.core_library import find_pointer, load_library
from iacta.native.deadline import Deadline
from iacta.plan.problem import refuse_large_board
from iacta.plan.tables import MAX_ARMIES
from iacta.rules.roll import Losses
from iacta.war.players import Player
from iacta.war.tables import DECK_SIZE, NOBODY, OF_SYMBOL, find_choice, find_hand, make_tables

Floats: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.float32]

MOST_PLAYERS = 6
FEATURES = 48
WON, CUT, TOO_LONG = range(3)
AS_LIKED, HOLD, ONE_CARD, CONTINENT, BREAK, ELIMINATE, BOLDLY, WARILY = range(8)
CHOSEN = -1
REVEALED, TRADED, PLACED, ATTACKED, DEFENDED, ADVANCED, FORTIFIED, STOPPED = range(8)


class Aim(NamedTuple):
    """What a turn is to bring about.

    kind: such as `CONTINENT`; `CHOSEN` where the player chooses it.
    which: the number of the continent or the player.
    """

    kind: int = CHOSEN
    which: int = 0


ANY = Aim()


class PlayedGames(NamedTuple):
    """The results of games that the core played.

    chances: of each game and player: 1 and 0 where it was won, else what V says.
    ended: of each game, `WON`, `CUT` or `TOO_LONG`.
    reached: of each game, whether the first turn reached its aim.
    rounds: of each game, how many rounds it took.
    """

    chances: Floats
    ended: npt.NDArray[np.uint8]
    reached: npt.NDArray[np.uint8]
    rounds: npt.NDArray[np.int32]


def check_war(turn: object) -> Turn:
    """Return a turn from which whole games can be played, or refuse it."""
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    for rules in (turn.rules, *turn.rules_of.values()):
        if rules.mode.grows:
            raise rules.mode.unfit("for the whole game")
    refuse_large_board(turn.board, "whole games")
    if sum(turn.armies) > MAX_ARMIES:
        raise TooLargeError(
            f"armies must be at most {MAX_ARMIES:,} in all for whole games, "
            f"got {sum(turn.armies):,}"
        )
    return turn


def list_seats(turn: Turn) -> tuple[str, ...]:
    """Return the players who are in the game, in the order of play: who own or hold something."""
    return tuple(each for each in turn.players if each in turn.owners or each in (turn.cards or ()))


class War:
    """Whole games of the core from a moment of a turn on.

    turn: the moment.

    It does not change, and any number of threads may ask it. Refused are fewer than two players
    and more than six, and rules whose battles can grow.
    """

    def __init__(self, turn: Turn) -> None:
        self._war = None
        self._library = load_library("whole games")
        self._core = self._library.functions
        self.turn = check_war(turn)
        self.seats = list_seats(turn)
        number = len(self.seats)
        if not 2 <= number <= MOST_PLAYERS:
            raise IllegalError(f"players must be from 2 to {MOST_PLAYERS}, got {number}")
        tables = make_tables(self._library, turn, self.seats)
        self.card_lands = tables.turn.arrays["card_land"].tolist()
        self._war = self._library.open("war_open", tables.problem.reference, tables.turn.reference)

    def __del__(self) -> None:
        if self._war:
            self._core.iacta_war_close(self._war)

    def odds(self, to: int, able: int, defenders: int) -> tuple[float, float, float]:
        """Return the chance to take a territory in a whole battle, and what both sides lose."""
        found = np.zeros(3)
        self._core.iacta_war_odds(self._war, to, able, defenders, find_pointer(found))
        won, lost, killed = found.tolist()
        return won, lost, killed

    def judge(self, weights: Weights) -> tuple[Floats, npt.NDArray[np.float32]]:
        """Return V for each player, and the features that it is made of."""
        seen = np.zeros((len(self.seats), FEATURES), dtype=np.float32)
        chances = np.zeros(len(self.seats))
        self._core.iacta_war_judge(
            self._war,
            find_pointer(weights),
            find_pointer(seen),
            find_pointer(chances),
        )
        return chances, seen

    def aims(self, player: Player) -> list[Aim]:
        """Return what a player could aim at in this turn."""
        count = c_int32(4 * NOBODY + 2 * len(self.turn.board.continents))
        found = np.zeros((count.value, 2), dtype=np.int32)
        self._core.iacta_war_aims(
            self._war, find_pointer(player.numbers), find_pointer(found), byref(count)
        )
        return [Aim(*row) for row in found[: count.value].tolist()]

    def play_turn(
        self, player: Player, choosing: Weights | None, seed: int, aim: Aim = ANY
    ) -> Record:
        """Return the rest of the turn as a player plays it."""
        room, lands = 1000, len(self.turn.armies)
        owners, armies = np.zeros(lands, np.uint8), np.zeros(lands, np.int32)
        cards = np.zeros(len(self.seats), np.int32)
        while True:
            log: Any = (self._library.header.structures["action"] * room)()
            count = c_int32(room)
            self._core.iacta_war_turn(
                self._war,
                find_pointer(player.numbers),
                find_pointer(choosing),
                *aim,
                seed,
                log,
                byref(count),
                find_pointer(owners),
                find_pointer(armies),
                find_pointer(cards),
            )
            if count.value <= room:
                break
            room = count.value
        record = self._replay(log[: count.value])
        end, seats = record.end, dict(enumerate(self.seats))
        named = [seats.get(o, self.turn.owners[t]) for t, o in enumerate(owners.tolist())]
        held = [find_hand(end, name).number for name in self.seats]
        if ([*end.owners], [*end.armies], held) != (named, armies.tolist(), cards.tolist()):
            raise IactaError("the core and the turn disagree on how a turn ended")
        return record

    def games(
        self,
        players: tuple[Player, ...],
        choosing: Weights | None,
        ending: Weights,
        *,
        games: int,
        seed: int = 0,
        first: int = 0,
        aim: Aim = ANY,
        cut: int = 0,
        most_rounds: int = 200,
        is_dealt: bool = False,
        deadline: Deadline | None = None,
    ) -> PlayedGames:
        """Play games; fewer where the deadline comes first.

        players: who plays, in the order of the seats.
        choosing: the weights of the V by which players choose aims.
        ending: those of the V by which cut games are ended.
        games, first: how many, and the number of the first one; each has its own dice.
        aim: of the first turn.
        cut: after how many rounds games are cut, 0 for never.
        most_rounds: after how many rounds they are too long.
        is_dealt: whether each is dealt anew.
        """
        chances = np.zeros((games, len(self.seats)))
        ended, reached = np.zeros(games, np.uint8), np.zeros(games, np.uint8)
        rounds, played = np.zeros(games, np.int32), c_int32()
        numbers = np.concatenate([each.numbers for each in players])
        code = self._core.iacta_war_games(
            self._war,
            make_budget(self._library, deadline or Deadline(), inf),
            find_pointer(numbers),
            find_pointer(choosing),
            find_pointer(ending),
            *aim,
            is_dealt,
            cut,
            most_rounds,
            seed % 2**64,
            first,
            games,
            find_pointer(chances),
            find_pointer(ended),
            find_pointer(reached),
            find_pointer(rounds),
            byref(played),
        )
        if code not in (0, 1):
            raise IactaError("the core ran out of memory, or was asked what cannot be")
        n = played.value
        return PlayedGames(chances[:n], ended[:n], reached[:n], rounds[:n])

    def record(
        self,
        players: tuple[Player, ...],
        choosing: Weights | None,
        *,
        share: float,
        seed: int,
        most_rounds: int = 200,
        room: int = 400,
    ) -> tuple[npt.NDArray[np.float32], Floats]:
        """Play a game that is dealt anew; return what was seen of players, and how it ended.

        share: with which chance a turn's start is written down.
        room: how many at most.
        """
        seen = np.zeros((room, len(self.seats), FEATURES), dtype=np.float32)
        count, chances = c_int32(room), np.zeros(len(self.seats))
        numbers = np.concatenate([each.numbers for each in players])
        self._core.iacta_war_record(
            self._war,
            find_pointer(numbers),
            find_pointer(choosing),
            most_rounds,
            share,
            seed % 2**64,
            find_pointer(seen),
            byref(count),
            find_pointer(chances),
        )
        return seen[: count.value], chances

    def _replay(self, log: Any) -> Record:
        """Return what was played as `Turn` has it, which refuses what is illegal."""
        turn, moves = self.turn, list[Move]()
        for row in log:
            action, result = self._action(turn, row)
            moves.append(Move(turn, action, result))
            turn = turn.after(action, result)
        return Record(tuple(moves), turn)

    def _action(self, turn: Turn, row: Any) -> tuple[Action, Result]:
        names = turn.board.territories
        start, to = names[max(row.a, 0)], names[max(row.b, 0)]
        mask = (row.y & 0xFFFFFFFF) << 32 | row.x & 0xFFFFFFFF
        match row.done:
            case 0:  # `REVEALED`, and so on; names would be captured
                return Reveal(), self._hand(mask)
            case 1:
                return TradeAction(self._hand(mask), start if row.a >= 0 else ""), None
            case 2:
                return Place(start, row.number), None
            case 3:
                attack = Attack(start, to, row.number)
                if row.y < 0:
                    return attack, find_choice(turn, attack).throws[row.x]
                return attack, Losses(row.x, row.y)
            case 4:
                return Defend(row.number), Losses(row.x, row.y)
            case 5:
                return Advance(row.number), None
            case 6:
                return Fortify(start, to, row.number), None
        return EndPhase(), None

    def _hand(self, mask: int) -> Hand:
        cards = [k for k in range(DECK_SIZE) if mask >> k & 1]
        counts = [sum(k // OF_SYMBOL == symbol for k in cards) for symbol in range(4)]
        lands = (self.card_lands[k] for k in cards)
        names = tuple(sorted(self.turn.board.territories[t] for t in lands if t >= 0))
        return Hand._make((*counts, 0, names))
