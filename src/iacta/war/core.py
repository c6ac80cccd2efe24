"""The compiled core's whole games: how a turn is handed to it, and what it is asked."""

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, Structure, byref, c_double, c_int32, c_int64, c_uint8, c_uint64
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.game import Action, Advance, Attack, Defend, Fortify, Hand, Place, Reveal, Stop
from iacta.game import Trade as TradeAction
from iacta.game.actions import Result
from iacta.game.cards import DECK, FIXED, MUST_TRADE, PICTURED, SYMBOLS, TRADED_AT_ONCE
from iacta.game.turn import FEWEST_NEW, FORTIFY, LANDS_FOR_AN_ARMY, Move, Record, Turn
from iacta.methods import find_kernel
from iacta.methods.kernel import Kernel
from iacta.plan.core import (
    MOST_ARMIES,
    ProblemData,
    Tables,
    battles_of,
    budget_of,
    core_needed_for,
    find_core,
)
from iacta.plan.deadline import Deadline
from iacta.plan.problem import refuse_large_board
from iacta.rules.roll import Losses
from iacta.war.players import Player

Floats: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.float32]

MOST_PLAYERS = 6
NOBODY = 7
OF_SYMBOL, DECK_SIZE = 14, 44
SETS = 250  # from then on a set brings as much as any may
LARGEST_TABLE = 64  # armies of whole battles that are no rows of rolls; larger ones are scaled
PHASES = ("trade", "place", "attack", "defend", "advance", "fortify", "over")
HOW_FAR = {how: number for number, how in enumerate(reversed(FORTIFY))}
MOST_ACTIONS = 100_000  # of one turn
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
    """PlayedGames that were played.

    chances: of each game and player: 1 and 0 where it was won, else what V says.
    ended: of each game, `WON`, `CUT` or `TOO_LONG`.
    reached: of each game, whether the first turn reached its aim.
    rounds: of each game, how many rounds it took.
    """

    chances: Floats
    ended: npt.NDArray[np.uint8]
    reached: npt.NDArray[np.uint8]
    rounds: npt.NDArray[np.int32]


class _TurnData(Structure):
    _fields_ = (
        ("players", c_int32),
        ("owner", POINTER(c_uint8)),
        *(
            (name, c_int32)
            for name in ("mover", "phase", "place", "first", "conquered", "pictured", "then")
        ),
        *((name, c_int32) for name in ("attack_start", "attack_to", "attack_dice", "thrown")),
        ("continents", c_int32),
        *((name, POINTER(c_int32)) for name in ("continent_first", "continent_lands", "bonus")),
        ("fortify", c_int32),
        ("is_whole", c_int32),
        *((name, POINTER(c_int32)) for name in ("whole_least", "whole_dice")),
        ("has_cards", c_int32),
        ("is_named", c_int32),
        ("known", POINTER(c_uint64)),
        ("hidden", POINTER(c_int32)),
        ("card_land", POINTER(c_int32)),
        ("is_fixed", c_int32),
        ("sets", c_int32),
        ("set_armies", POINTER(c_int32)),
        ("fixed", c_int32 * len(FIXED)),
        *((name, c_int32) for name in ("must_trade", "traded_at_once", "pictured_armies")),
        *((name, c_int32) for name in ("lands_for_an_army", "fewest_new")),
    )


class _ActionData(Structure):
    _fields_ = tuple((name, c_int32) for name in ("done", "a", "b", "number", "x", "y"))


@cache
def _library() -> Any:
    """Return the core with the types of its functions for whole games, or refuse."""
    library = find_core()
    if library is None:
        raise core_needed_for("whole games")
    war, numbers, weights = ctypes.c_void_p, POINTER(c_double), POINTER(ctypes.c_float)
    ints, flags = POINTER(c_int32), POINTER(c_uint8)
    budget: Any = ctypes.c_void_p
    arguments: dict[str, list[Any]] = {
        "open": [POINTER(ProblemData), POINTER(_TurnData), ctypes.c_char_p, c_int32],
        "close": [war],
        "odds": [war, c_int32, c_int32, c_int32, numbers],
        "judge": [war, weights, weights, numbers],
        "aims": [war, numbers, ints, ints],
        "turn": [
            *(war, numbers, weights, c_int32, c_int32, c_uint64, POINTER(_ActionData), ints),
            *(flags, ints, ints),
        ],
        "games": [
            *(war, budget, numbers, weights, weights, c_int32, c_int32, c_int32, c_int32, c_int32),
            *(c_uint64, c_int64, c_int32, numbers, flags, flags, ints, ints),
        ],
        "record": [war, numbers, weights, c_int32, c_double, c_uint64, weights, ints, numbers],
    }
    for name, types in arguments.items():
        getattr(library, f"iacta_war_{name}").argtypes = types
    library.iacta_war_open.restype = war
    return library


def _pointer(array: npt.NDArray[Any] | None, of: Any) -> Any:
    return None if array is None else array.ctypes.data_as(POINTER(of))


def check_war(turn: object) -> Turn:
    """Return a turn from which whole games can be played, or refuse it."""
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {shown(turn)}")
    for rules in (turn.rules, *turn.rules_of.values()):
        if rules.mode.grows:
            raise rules.mode.unfit("for the whole game")
    refuse_large_board(turn.board, "whole games")
    if sum(turn.armies) > MOST_ARMIES:
        raise TooLargeError(
            f"armies must be at most {MOST_ARMIES:,} in all for whole games, "
            f"got {sum(turn.armies):,}"
        )
    return turn


def seats_of(turn: Turn) -> tuple[str, ...]:
    """Return the players who are in the game, in the order of play: who own or hold something."""
    return tuple(each for each in turn.players if each in turn.owners or each in (turn.cards or ()))


def hand_of(turn: Turn, player: str) -> Hand:
    """Return the cards of a player."""
    return Hand() if turn.cards is None else turn.cards.get(player, Hand())


class War:
    """Whole games of the core from a moment of a turn on.

    turn: the moment.

    It does not change, and any number of threads may ask it. Refused are fewer than two players
    and more than six, and rules whose battles can grow.
    """

    def __init__(self, turn: Turn) -> None:
        self._war = None
        self._library = _library()
        self.turn = check_war(turn)
        self.seats = seats_of(turn)
        number = len(self.seats)
        if not 2 <= number <= MOST_PLAYERS:
            raise IllegalError(f"players must be from 2 to {MOST_PLAYERS}, got {number}")
        tables = _WarTables(turn, self.seats)
        self.card_lands = tables.card_lands
        message = ctypes.create_string_buffer(200)
        self._war = self._library.iacta_war_open(
            byref(tables.problem), byref(tables.turn), message, len(message)
        )
        if not self._war:
            raise IactaError(message.value.decode())

    def __del__(self) -> None:
        if self._war:
            self._library.iacta_war_close(self._war)

    def odds(self, to: int, able: int, defenders: int) -> tuple[float, float, float]:
        """Return the chance to take a territory in a whole battle, and what both sides lose."""
        found = np.zeros(3)
        self._library.iacta_war_odds(self._war, to, able, defenders, _pointer(found, c_double))
        won, lost, killed = found.tolist()
        return won, lost, killed

    def judge(self, weights: Weights) -> tuple[Floats, npt.NDArray[np.float32]]:
        """Return V for each player, and the features that it is made of."""
        seen = np.zeros((len(self.seats), FEATURES), dtype=np.float32)
        chances = np.zeros(len(self.seats))
        self._library.iacta_war_judge(
            self._war,
            _pointer(weights, ctypes.c_float),
            _pointer(seen, ctypes.c_float),
            _pointer(chances, c_double),
        )
        return chances, seen

    def aims(self, player: Player) -> list[Aim]:
        """Return what a player could aim at in this turn."""
        count = c_int32(4 * NOBODY + 2 * len(self.turn.board.continents))
        found = np.zeros((count.value, 2), dtype=np.int32)
        self._library.iacta_war_aims(
            self._war, _pointer(player.numbers, c_double), _pointer(found, c_int32), byref(count)
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
            log, count = (_ActionData * room)(), c_int32(room)
            self._library.iacta_war_turn(
                self._war,
                _pointer(player.numbers, c_double),
                _pointer(choosing, ctypes.c_float),
                *aim,
                seed,
                log,
                byref(count),
                _pointer(owners, c_uint8),
                _pointer(armies, c_int32),
                _pointer(cards, c_int32),
            )
            if count.value <= room:
                break
            room = count.value
        record = self._replayed(log[: count.value])
        end, seats = record.end, dict(enumerate(self.seats))
        named = [seats.get(o, self.turn.owners[t]) for t, o in enumerate(owners.tolist())]
        held = [hand_of(end, name).number for name in self.seats]
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
        code = self._library.iacta_war_games(
            self._war,
            budget_of(deadline or Deadline(), 2**62),
            _pointer(numbers, c_double),
            _pointer(choosing, ctypes.c_float),
            _pointer(ending, ctypes.c_float),
            *aim,
            is_dealt,
            cut,
            most_rounds,
            seed % 2**64,
            first,
            games,
            _pointer(chances, c_double),
            _pointer(ended, c_uint8),
            _pointer(reached, c_uint8),
            _pointer(rounds, c_int32),
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
        self._library.iacta_war_record(
            self._war,
            _pointer(numbers, c_double),
            _pointer(choosing, ctypes.c_float),
            most_rounds,
            share,
            seed % 2**64,
            _pointer(seen, ctypes.c_float),
            byref(count),
            _pointer(chances, c_double),
        )
        return seen[: count.value], chances

    def _replayed(self, log: Any) -> Record:
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
                    return attack, _choice_of(turn, attack).throws[row.x]
                return attack, Losses(row.x, row.y)
            case 4:
                return Defend(row.number), Losses(row.x, row.y)
            case 5:
                return Advance(row.number), None
            case 6:
                return Fortify(start, to, row.number), None
        return Stop(), None

    def _hand(self, mask: int) -> Hand:
        cards = [k for k in range(DECK_SIZE) if mask >> k & 1]
        counts = [sum(k // OF_SYMBOL == symbol for k in cards) for symbol in range(4)]
        lands = (self.card_lands[k] for k in cards)
        names = tuple(sorted(self.turn.board.territories[t] for t in lands if t >= 0))
        return Hand._make((*counts, 0, names))


def _choice_of(turn: Turn, attack: Attack) -> Any:
    """Return what a legal roll may show."""
    kernel = find_kernel(turn.rules_of.get(attack.to, turn.rules))
    armies, defenders = (turn.position.of(each).armies for each in (attack.start, attack.to))
    garrison = turn.rules.garrison
    spare = armies - turn.keep.get(attack.start, garrison)
    rolls = kernel.rolls(armies - garrison, defenders, spare)
    return next(each for each in rolls if each.dice == attack.dice)


class _WarTables(Tables):
    """A turn as arrays, which live as long as the core copies them."""

    def __init__(self, turn: Turn, seats: tuple[str, ...]) -> None:
        self.kept: list[Any] = []
        self.problem, self.turn = ProblemData(), _TurnData()
        it, board = self.problem, turn.board
        names = board.territories
        places = {name: t for t, name in enumerate(names)}
        it.lands = len(names)
        borders = [sorted(places[to] for to in board.neighbours(name)) for name in names]
        self._put("border_first", np.cumsum([0, *map(len, borders)]))
        self._put("border_to", [c for row in borders for c in row])
        self._put("armies", turn.armies)
        usual = turn.rules.garrison
        self._put_garrisons((turn.keep.get(name, usual) for name in names), usual)
        self._put("resting", [name in turn.stay for name in names])
        self._put("owner", [2] * len(names))
        each_kernel = [find_kernel(turn.rules_of.get(name, turn.rules)) for name in names]
        kernels = [*dict.fromkeys((*each_kernel, find_kernel(turn.rules)))]
        it.kinds = len(kernels)
        self._put("kind", [kernels.index(each) for each in each_kernel])
        is_whole = [not each.by_rolls for each in kernels]
        self._put_dice(kernels, is_whole, Deadline())
        self._put_tables(kernels, is_whole)
        self._put("pays", [0.0] * len(names))
        self._put("set_first", [0])
        self._put("set_lands", [0])
        self._put("set_pays", [0.0])
        self._put_moment(turn, seats, places)
        self._put_cards(turn, seats, places)
        self._give("whole_least", [each.battle(1, 1).least for each in kernels])
        self._give("whole_dice", [each.rules.attack.kept for each in kernels])

    def _put_tables(self, kernels: list[Kernel], is_whole: list[bool]) -> None:
        it, size = self.problem, LARGEST_TABLE
        whole = [kernel for kernel, each in zip(kernels, is_whole, strict=True) if each]
        it.able, it.defenders, it.battles, it.width = size, size, size * len(whole), size + 1
        won = np.zeros((it.battles, size + 1, it.width))
        lost = np.zeros((it.battles, size + 1, size + 1))
        for row in range(it.battles):
            d = row % size + 1
            by_lost, held = battles_of(whole[row // size], size, d)
            won[row, :, : by_lost.shape[1]] = by_lost
            lost[row, :, : d + 1] = held
        self._put("battle_first", np.cumsum([0, *(size * each for each in is_whole)])[:-1])
        self._put("won", won)
        self._put("lost", lost)

    def _give(self, name: str, values: Any) -> None:
        pointer: Any = next(field[1] for field in _TurnData._fields_ if field[0] == name)
        kinds = {POINTER(c_uint8): np.uint8, POINTER(c_uint64): np.uint64}
        array = np.ascontiguousarray(values, dtype=kinds.get(pointer, np.int32))
        self.kept.append(array)
        setattr(self.turn, name, array.ctypes.data_as(pointer))

    def _put_moment(self, turn: Turn, seats: tuple[str, ...], places: dict[str, int]) -> None:
        it, number = self.turn, len(seats)
        it.players = number
        seat = {name: i for i, name in enumerate(seats)} | {"": NOBODY}
        self._give("owner", [seat.get(each, number) for each in turn.owners])
        it.mover, it.place, it.first = seat[turn.player], turn.place, turn.first
        it.phase, it.then = PHASES.index(turn.phase), PHASES.index(turn.then)
        it.conquered, it.pictured = turn.conquered, turn.pictured
        it.attack_start = it.attack_to = -1
        if turn.pending is not None:
            it.attack_start, it.attack_to = places[turn.pending.start], places[turn.pending.to]
            it.attack_dice = turn.pending.dice
            if turn.throw is not None:
                it.thrown = _choice_of(turn, turn.pending).throws.index(turn.throw)
        lands = [[places[t] for t in each.territories] for each in turn.board.continents]
        it.continents = len(lands)
        self._give("continent_first", np.cumsum([0, *map(len, lands)]))
        self._give("continent_lands", [t for row in lands for t in row])
        self._give("bonus", [each.bonus for each in turn.board.continents])
        it.fortify, it.is_whole = HOW_FAR[turn.fortify], turn.whole_battles

    def _put_cards(self, turn: Turn, seats: tuple[str, ...], places: dict[str, int]) -> None:
        it = self.turn
        it.has_cards, it.is_named = turn.cards is not None, bool(turn.symbols)
        self.card_lands = [-1] * DECK_SIZE
        free: list[list[int]] = []  # of each symbol, and the jokers: cards without names, in hand
        for k, symbol in enumerate((*SYMBOLS, "joker")):
            lands = [places[name] for name, each in turn.symbols.items() if each == symbol]
            first = k * OF_SYMBOL
            self.card_lands[first : first + len(lands)] = lands
            free.append([*range(first + len(lands), first + DECK.counts[k])])
        cards = {t: card for card, t in enumerate(self.card_lands) if t >= 0}
        known = []
        for name in seats:
            hand, mask = hand_of(turn, name), 0
            named = [cards[places[t]] for t in hand.territories]
            for card in named:
                mask |= 1 << card
            for k in range(4):
                plain = hand.counts[k] - sum(card // OF_SYMBOL == k for card in named)
                mask |= sum(1 << free[k].pop(0) for _ in range(plain))
            known.append(mask)
        self._give("known", known)
        self._give("hidden", [hand_of(turn, name).unknown for name in seats])
        self._give("card_land", self.card_lands)
        it.is_fixed, it.fixed = turn.trade.is_fixed, (c_int32 * len(FIXED))(*FIXED)
        self._give("set_armies", [*_values(turn)])
        it.sets = SETS
        it.must_trade, it.traded_at_once, it.pictured_armies = MUST_TRADE, TRADED_AT_ONCE, PICTURED
        it.lands_for_an_army, it.fewest_new = LANDS_FOR_AN_ARMY, FEWEST_NEW


def _values(turn: Turn) -> Iterator[int]:
    """Yield what the next sets bring."""
    trade = turn.trade
    for _ in range(SETS):
        yield trade.nth(0)
        trade = trade.next()
