"""Conversion of a turn to arrays for the compiled core."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from iacta.game import Hand, Sets
from iacta.game.cards import DECK, SYMBOLS
from iacta.game.state import Setting
from iacta.game.turn import Turn
from iacta.game.victory import CoreMission
from iacta.native.core_library import CoreData, Library
from iacta.native.deadline import Deadline
from iacta.plan.tables import BoardArrays, solve_battles

SET_COUNT = 250  # length of the table of armies for sets; the last entry applies to later sets


class WarTables(NamedTuple):
    """A turn of a whole game, as two structures of the core."""

    problem: BoardArrays
    turn: CoreData


def make_tables(library: Library, turn: Turn, seats: Sequence[str]) -> WarTables:
    """Convert a turn to the structures of the core.

    seats: the players in the order of play.
    """
    if (usual := _known_tables.get(turn.setting)) is None:
        usual = _known_tables[turn.setting] = _make_setting_tables(library, turn)
    tables = WarTables(usual.problem.copy(), usual.turn.copy())
    tables.problem.set_fields(armies=turn.armies)
    writer = _StateWriter(library, tables.turn, turn, seats)
    writer.write_state()
    writer.write_cards()
    writer.write_missions()
    return tables


# The tables for each setting. Each turn gets a copy, in which the fields of its state are set.
_known_tables: WeakKeyDictionary[Setting, WarTables] = WeakKeyDictionary()


def _make_setting_tables(library: Library, turn: Turn) -> WarTables:
    """Convert the setting of a turn to the structures of the core."""
    arrays = BoardArrays(library, turn, Deadline())
    # The core extrapolates from this table to larger battles.
    size = library.constant("LARGEST_TABLE")
    arrays.set_battles(
        [
            [solve_battles(kernel, size, d + 1) for d in range(size if is_whole else 0)]
            for kernel, is_whole in zip(arrays.kernels, arrays.is_whole, strict=True)
        ],
        size,
        size,
    )
    index, board = turn.setting.index, turn.board
    of_symbol = library.constant("CARDS_OF_SYMBOL")
    card_lands = [-1] * library.constant("CARDS")
    for k, symbol in enumerate(SYMBOLS):
        lands = [index[name] for name, each in turn.symbols.items() if each == symbol]
        card_lands[k * of_symbol : k * of_symbol + len(lands)] = lands
    moment = CoreData(
        library,
        "turn",
        whole_least=[each.battle(1, 1).least for each in arrays.kernels],
        whole_dice=[each.rules.attack.kept for each in arrays.kernels],
        continents=len(board.continents),
        bonus=[continent.bonus for continent in board.continents],
        fortify=library.constant(f"FORTIFY_{turn.fortify.upper()}"),
        is_whole=turn.whole_battles,
        is_named=bool(turn.symbols),
        card_land=card_lands,
        sets=SET_COUNT,
        lands_for_an_army=turn.rules.territories_per_army,
        fewest_new=turn.rules.least_new_armies,
    )
    continents = [[index[t] for t in continent.territories] for continent in board.continents]
    moment.set_rows("continent_first", "continent_lands", continents)
    return WarTables(arrays, moment)


class _StateWriter(NamedTuple):
    """A turn, and the structure of the core to which it is written.

    seats: the players in the order of play.
    """

    library: Library
    data: CoreData
    turn: Turn
    seats: Sequence[str]

    def write_state(self) -> None:
        library, turn, seats = self.library, self.turn, self.seats
        index = turn.setting.index
        seat = {name: i for i, name in enumerate(seats)} | {"": library.constant("NOBODY")}
        self.data.set_fields(
            players=len(seats),
            owner=[seat.get(owner, len(seats)) for owner in turn.owners],
            mover=seat[turn.player],
            phase=library.constant(f"PHASE_{turn.phase.upper()}"),
            place=turn.place,
            first=turn.first,
            cards_due=turn.cards_due,
            pictured=turn.pictured,
            then=library.constant(f"PHASE_{turn.then.upper()}"),
            attack_start=-1,
            attack_to=-1,
        )
        if turn.pending is not None:
            self.data.set_fields(
                attack_start=index[turn.pending.start],
                attack_to=index[turn.pending.to],
                attack_dice=turn.pending.dice,
            )
            if turn.throw is not None:
                self.data.set_fields(thrown=turn.find_choice(turn.pending).throws.index(turn.throw))

    def write_cards(self) -> None:
        turn, hands = self.turn, [self.turn.hand_of(name) for name in self.seats]
        known = self._mark_known_cards(hands) if any(any(hand[:4]) for hand in hands) else []
        self.data.set_fields(
            has_cards=turn.cards is not None,
            known=known or [0] * len(hands),
            hidden=[hand.unknown for hand in hands],
            is_fixed=turn.trade.is_fixed,
            fixed=(*turn.trade.fixed, -1 if turn.trade.joker is None else turn.trade.joker),
            set_armies=_list_set_armies(turn.trade),
            must_trade=turn.trade.must_trade,
            has_card_per_conquest=turn.trade.has_card_per_conquest,
            is_nuclear=turn.trade.is_nuclear,
            traded_at_once=turn.trade.traded_at_once,
            pictured_armies=turn.trade.pictured,
        )

    def _mark_known_cards(self, hands: Sequence[Hand]) -> list[int]:
        """Return the known cards of each hand as a mask of cards of the core."""
        index = self.turn.setting.index
        of_symbol = self.library.constant("CARDS_OF_SYMBOL")
        card_lands = self.data.arrays["card_land"].tolist()
        cards = {t: card for card, t in enumerate(card_lands) if t >= 0}
        free: list[list[int]] = []  # cards without a territory, by symbol; the jokers come last
        for k, number in enumerate(DECK.counts[:4]):
            some = range(k * of_symbol, k * of_symbol + number)
            free.append([card for card in some if card_lands[card] < 0])
        known = []
        for hand in hands:
            mask = 0
            named = [cards[index[t]] for t in hand.territories]
            for card in named:
                mask |= 1 << card
            for k in range(4):
                plain = hand.counts[k] - sum(card // of_symbol == k for card in named)
                mask |= sum(1 << free[k].pop(0) for _ in range(plain))
            known.append(mask)
        return known

    def write_missions(self) -> None:
        library, turn, seats = self.library, self.turn, self.seats
        missions = turn.victory.encode_missions(turn, seats)
        cards = turn.victory.list_core_cards(turn, seats)
        hidden = CoreMission("hidden")
        named = [each for each in (*missions, *cards) if each not in (None, hidden)]
        others = (
            other for each in named for other in (each.instead, each.own) if other is not None
        )
        every = [*dict.fromkeys((*named, *others))]
        places = {None: -1, hidden: library.constant("MISSION_HIDDEN")}
        places |= {each: number for number, each in enumerate(every)}
        rows, entries = list[tuple[int, ...]](), list[int]()
        for each in every:
            first = len(entries)
            entries += each.entries
            kind = library.constant(f"MISSION_{each.kind.upper()}")
            replaced = places[each.instead], places[each.own]
            rows.append((kind, each.number, each.armies, first, len(entries), *replaced))
        self.data.set_fields(
            missions=len(every),
            mission_list=rows,
            mission_entries=[*entries, 0],
            mission_of=[places[mission] for mission in missions],
            mission_unseen=[turn.victory.is_hidden(name) for name in seats],
            missions_at_end=turn.victory.is_checked_at_end,
            common_lands=turn.victory.common_lands,
            mission_cards=len(cards),
            mission_deck=[*(places[card] for card in cards), 0],
        )


@lru_cache
def _list_set_armies(trade: Sets) -> npt.NDArray[np.int32]:
    """Return the armies for the next `SET_COUNT` sets."""
    found = []
    for _ in range(SET_COUNT):
        found.append(trade.nth(0))
        trade = trade.next()
    return np.array(found, np.int32)
