"""The turn as a game: states, legal actions, the results of actions, and the next states.

The phases of a turn are `trade` (cards for new armies), `place` (the new armies), `attack` (as
often as the player likes), `fortify` (a last move of armies) and `over`. Two more phases can
interrupt the attacks: `defend`, if the attacked player chooses defence dice after seeing the attack
dice, and `advance`, in which armies move into a conquered territory. For an attacking territory v,

    able      = armies on v − garrison of the rules: armies that may roll, one die each,
    spare     = armies on v − armies that must remain on v: armies that may be lost or move on.

An attack is legal if no result costs more than the spare armies, or forces more than these armies
to advance. The kernel lists the attacks with their losses (`iacta.methods.kernel.Choice`): a roll
of dice, a roll to which the defender replies, or a whole battle.

Cards. At the start of a turn, a player with at least five cards must trade a set, and a player with
three or four cards may trade. A player who eliminates another player takes their cards, and
immediately trades sets if this gives a hand of at least six cards, until at most four cards remain.
A player who conquers a territory draws a card at the end of the turn. The card stays hidden until
its owner reveals cards to trade. If cards picture territories, a set that pictures a territory of
the player adds two armies to that territory, at most once a turn; such cards are revealed one by
one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import fsum
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    cast,
    get_args,
    runtime_checkable,
)

import numpy as np

from iacta.board import Board, Holding, Position
from iacta.board.board import fold_name, format_json
from iacta.board.codes import Code, escape_name, read_code, unescape_name, write_code
from iacta.board.position import check_position
from iacta.game.actions import (
    Action,
    Actions,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Numbered,
    Place,
    Result,
    Reveal,
    Trade,
)
from iacta.game.cards import (
    DECK,
    MUST_TRADE,
    PICTURED,
    SET_SIZE,
    TRADED_AT_ONCE,
    Hand,
    Sets,
    find_named_sets,
    find_sets,
    list_hands,
    list_named_cards,
)
from iacta.game.codes import (
    OPTIONS,
    format_attack_code,
    format_hand,
    format_names,
    format_pairs,
    format_rules,
    format_sets,
    format_symbols,
    read_attack_code,
    read_hand,
    read_names,
    read_options,
    read_pairs,
    read_rules,
    read_sets,
    read_symbols,
)
from iacta.game.setup import (
    list_owners,
    read_card_symbols,
    read_cards,
    read_keep,
    read_players,
    read_rules_of,
    read_stay,
)
from iacta.game.victory import SURVIVAL, Victory, format_victory, read_victory
from iacta.inputs.checks import (
    FrozenDict,
    check_choice,
    parse_int,
    quote,
    read_int,
    set_field,
)
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.meanings import Count, Unit
from iacta.inputs.reprs import MAX_REPR_LENGTH
from iacta.methods import find_kernel
from iacta.methods.kernel import Choice, Kernel, Throw
from iacta.probability.distribution import Distribution
from iacta.rules.roll import Losses
from iacta.rules.rules import CLASSIC, Rules
from iacta.rules.variants import find_rules

Phase = Literal["trade", "place", "attack", "defend", "advance", "fortify", "over"]
Policy: TypeAlias = Callable[["Turn"], Action]


@runtime_checkable
class TurnPolicy(Protocol):
    """A policy with a memory of its earlier choices in the turn."""

    def follow(self) -> Policy:
        """Return a policy for one turn, with an empty memory."""


STARTS: tuple[Phase, ...] = ("trade", "place", "attack", "fortify", "over")
FORTIFY = ("connected", "adjacent", "none")
TERRITORIES_PER_ARMY, MIN_NEW = 3, 3
MAX_NEW = 10**6  # the maximum number of new armies in a turn
REFUSED_ATTACKS = {
    "trade": "trade cards first, or end the trade",
    "place": "place the new armies first",
    "defend": "the defender chooses dice first",
    "fortify": "the attacks are over",
    "over": "the turn is over",
}
MAX_EXPECTED = 10**6  # computing the expected losses of a larger battle takes over a second


class BorderOdds(NamedTuple):
    """The odds of a battle between two neighbouring territories, fought to its end.

    start: the attacking territory.
    to: the attacked territory.
    attackers: the armies on the attacking territory, garrison included.
    defenders: the armies on the attacked territory.
    win_probability: the chance to conquer the territory if the battle is fought to its end.
    """

    start: str
    to: str
    attackers: Count
    defenders: Count
    win_probability: Unit


class Move(NamedTuple):
    """An action of a turn, with its result.

    turn: the turn before the action.
    action: the action that was played.
    result: the result of the action, such as the losses of an attack.
    """

    turn: "Turn"
    action: Action
    result: Result


class Record(NamedTuple):
    """A turn that was played to its end.

    moves: the actions with their results, in the order in which they were played.
    end: the turn after the last action, in the phase `over`.
    """

    moves: tuple[Move, ...]
    end: "Turn"


class _BoardData(NamedTuple):
    """The properties of territories that do not change during a turn.

    places: a mapping from the name of each territory to its index in the order of the board.
    out: the indices of the neighbours that each territory can attack.
    kernels: the kernel of attacks on each territory.
    garrisons: the armies that must remain on each territory.
    rests: whether the armies on each territory may neither attack nor move.
    """

    places: Mapping[str, int]
    out: tuple[tuple[int, ...], ...]
    kernels: tuple[Kernel, ...]
    garrisons: tuple[int, ...]
    rests: tuple[bool, ...]


@dataclass(frozen=True, init=False, repr=False)
class Turn:
    """A turn of a player, in any phase.

    position: the owners and armies of the territories, and the player whose turn it is.
    rules: the rules of battles, or the name of a rule set.
    phase: `"trade"`, `"place"`, `"attack"`, `"fortify"` or `"over"`. The default `None` means
        `"place"` if the player has new armies, and otherwise `"attack"`.
    place: the number of new armies that still have to be placed.
    cards: a mapping from players to a `Hand` or a number of cards; players who are not listed hold
        no cards. `None` for a game without cards.
    trade: the armies for sets; `None` for 4, 6, 8, 10, 12, 15 and then 5 more for each set.
    keep: a mapping from territories to the armies that must always remain there. A number up to the
        garrison of the rules has no effect.
    rules_of: a mapping from territories to the rules of attacks on them; the default is `rules`.
        The garrison in these rules is ignored.
    stay: the player's territories whose armies may neither attack nor move at the end of the turn.
    fortify: how far armies may move at the end of the turn: `"connected"` for any distance through
        the player's own territories, `"adjacent"` for one border, or `"none"`.
    whole_battles: whether each attack is a whole battle, fought to its end.
    players: the players in the order of play; `None` for the order of the first territory of each
        player on the board.
    conquered: whether the player took a territory earlier in the turn; if so, the player draws a
        card at the end.
    symbols: a mapping from territories to the symbols on their cards: `"infantry"`, `"cavalry"` or
        `"artillery"`; `None` if cards do not picture territories.
    pictured: whether a traded card has already added two armies to a territory in this turn.
    victory: the victory condition; `None` if the last player who owns a territory wins.

    Turns are immutable: `after` returns the next state. A player who is not in `players` is
    neutral. Neutral players have no turns, and a game can end while they still own territories.

    >>> from iacta.board import Board, Position
    >>> line = Board.from_edges("line", [("A", "B"), ("B", "C")])
    >>> turn = Turn(Position(line, "red", {"A": ("red", 4)}, others=("blue", 1)))
    >>> turn.phase, turn.to_act, list(turn.actions())
    ('attack', 'red', [Attack('A', 'B', 3), Attack('A', 'B', 2), Attack('A', 'B', 1), EndPhase()])
    >>> roll = turn.actions()[0]
    >>> for losses, chance in turn.results(roll).items():
    ...     print(losses, round(chance, 4))
    Losses(attackers=0, defenders=1) 0.6597
    Losses(attackers=1, defenders=0) 0.3403
    >>> won = turn.after(roll, (0, 1))
    >>> won.phase, won.owner_of("B"), won.armies_on("B"), list(won.actions())
    ('advance', 'red', 3, [Advance(3)])
    >>> won.after(Advance(3)).armies_on("A")
    1
    """

    board: Board
    player: str
    owners: tuple[str, ...]
    armies: tuple[int, ...]
    rules: Rules
    phase: Phase
    place: int
    cards: FrozenDict[str, Hand] | None
    trade: Sets
    keep: FrozenDict[str, int]
    rules_of: FrozenDict[str, Rules]
    stay: tuple[str, ...]
    fortify: str
    whole_battles: bool
    players: tuple[str, ...]
    conquered: bool
    first: int  # new armies can only be placed on territories from this index on
    pending: Attack | None  # the attack in progress, in the phases `defend` and `advance`
    throw: Throw | None  # the result of the attack dice, in the phase `defend`
    then: Phase  # the phase after the advance
    symbols: FrozenDict[str, str]
    pictured: bool
    victory: Victory

    def __init__(
        self,
        position: Position,
        rules: Rules | str = "classic",
        *,
        phase: Phase | None = None,
        place: int = 0,
        cards: Mapping[str, Hand | int] | None = None,
        trade: Sets | None = None,
        keep: Mapping[str, int] | None = None,
        rules_of: Mapping[str, Rules | str] | None = None,
        stay: Iterable[str] | str = (),
        fortify: str = "connected",
        whole_battles: bool = False,
        players: Iterable[str] | None = None,
        conquered: bool = False,
        symbols: Mapping[str, str] | None = None,
        pictured: bool = False,
        victory: Victory | None = None,
    ) -> None:
        check_position(position)
        board, usual = position.board, find_rules(rules)
        new = read_int(place, "place", 0, MAX_NEW)
        moment = phase if phase is not None else "place" if new else "attack"
        check_choice(moment, STARTS, "phase")
        if new and moment not in ("trade", "place"):
            raise IllegalError(f"place must be 0 in the phase {moment!r}, got {new}")
        if moment == "place" and not new:
            raise IllegalError("place must be at least 1 in the phase 'place', got 0")
        check_choice(fortify, FORTIFY, "fortify")
        check_choice(whole_battles, (True, False), "whole_battles")
        check_choice(conquered, (True, False), "conquered")
        check_choice(pictured, (True, False), "pictured")
        table = Sets() if trade is None else trade
        if not isinstance(table, Sets):
            raise MalformedError(f"trade must be Sets, got {quote(trade)}")
        condition = SURVIVAL if victory is None else victory
        if not isinstance(condition, Victory):
            raise MalformedError(f"victory must be a Victory, got {quote(victory)}")
        order = read_players(players, position)
        named = read_card_symbols(symbols, board)
        held = read_cards(cards, order, named, board)
        if moment == "trade" and held is None:
            raise IllegalError("cards must be given in the phase 'trade', got None")
        values = {
            "board": board,
            "player": position.player,
            "owners": tuple(each.owner for each in position.holdings),
            "armies": tuple(each.armies for each in position.holdings),
            "rules": usual,
            "phase": moment,
            "place": new,
            "cards": held,
            "trade": table,
            "keep": read_keep(keep, board, usual.garrison),
            "rules_of": read_rules_of(rules_of, board, usual),
            "stay": read_stay(stay, position),
            "fortify": fortify,
            "whole_battles": whole_battles,
            "players": order,
            "conquered": conquered,
            "first": 0,
            "pending": None,
            "throw": None,
            "then": "attack",
            "symbols": named,
            "pictured": pictured,
            "victory": condition,
        }
        vars(self).update(values)
        set_field(self, "victory", condition.resolve_names(self))
        if moment == "trade" and not self._may_trade:
            set_field(self, "phase", "place" if new else "attack")

    def __hash__(self) -> int:
        return hash(self.state)

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __repr__(self) -> str:
        text = f"Turn.from_code({self.to_code()!r})"
        if len(text) <= MAX_REPR_LENGTH and ";#" not in text:
            return text
        return f"<Turn: on {self.board.name!r}, {self.to_act} to {self.phase}>"

    @property
    def state(self) -> tuple[object, ...]:
        """The attributes that actions can change, as a key that identifies a state of a game."""
        return (
            self.player,
            self.phase,
            self.owners,
            self.armies,
            self.place,
            self.cards and frozenset(self.cards.items()),
            self.trade.values,
            self.conquered,
            self.first,
            self.pending,
            self.throw,
            self.then,
            self.pictured,
            self.victory,
        )

    @cached_property
    def position(self) -> Position:
        """The current position.

        Under rules without a garrison, a player may leave a territory empty. A position does not
        record the owner of an empty territory, so it may contain no territory of the player.
        """
        held = zip(self.owners, self.armies, strict=True)
        holdings = (Holding(owner if armies else "", armies) for owner, armies in held)
        return Position.from_turn(self.board, self.player, tuple(holdings))

    @property
    def to_act(self) -> str:
        """The player who decides next: the attacked player in the phase `defend`."""
        if self.phase == "defend" and self.pending is not None:
            return self.owners[self._board_data.places[self.pending.to]]
        return self.player

    def owner_of(self, name: str) -> str:
        """Return the owner of a territory; `""` for a territory without an owner.

        name: the territory, in any spelling.

        Under rules without a garrison, an empty territory keeps its owner.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2")
        >>> turn.owner_of("peru"), turn.armies_on("Brazil"), turn.owner_of("Iceland")
        ('red', 2, '')
        """
        return self.owners[self._board_data.places[self.board.find(name)]]

    def armies_on(self, name: str) -> int:
        """Return the number of armies on a territory.

        name: the territory, in any spelling.
        """
        return self.armies[self._board_data.places[self.board.find(name)]]

    @property
    def survivors(self) -> tuple[str, ...]:
        """The players who own a territory, in the order of play."""
        return tuple(each for each in self.players if each in self.owners)

    @property
    def winner(self) -> str | None:
        """The winner, by `victory` or as the last survivor; `None` before the end of the game.

        >>> Turn.from_code("1;classic;red;Peru:red:3,Brazil:grey:2;over;players=red,blue").winner
        'red'
        """
        return self.victory.find_winner(self)

    @cached_property
    def _board_data(self) -> _BoardData:
        names = self.board.territories
        index = {name: t for t, name in enumerate(names)}
        return _BoardData(
            index,
            tuple(tuple(index[to] for to in self.board.neighbours(name)) for name in names),
            tuple(find_kernel(self.rules_of.get(name, self.rules)) for name in names),
            tuple(self.keep.get(name, self.rules.garrison) for name in names),
            tuple(name in self.stay for name in names),
        )

    def _replace(self, **changes: Any) -> "Turn":
        """Return a copy of the turn with changed attributes, without validation."""
        new = object.__new__(Turn)
        vars(new).update(
            {name: vars(self)[name] for name in _COPIED if name in vars(self)} | changes
        )
        return new

    def replace_armies(self, owners: tuple[str, ...], armies: tuple[int, ...]) -> "Turn":
        """Return a copy of the turn with other owners and armies, without validation.

        owners: the owner of each territory in the order of the board; `""` for no owner.
        armies: the number of armies on each territory. Under rules without a garrison, a territory
            without armies may have an owner.
        """
        return self._replace(owners=owners, armies=armies)

    def correct(self, holdings: Mapping[str, Holding]) -> "Turn":
        """Return the turn with a corrected position.

        holdings: a mapping from territories to the correct owner and armies; `Holding("", 0)` for
            an empty territory.

        The phase, the cards and the new armies do not change. A new owner is added at the end of
        the order of play. The player whose turn it is must keep a territory. In the phase `advance`
        the player must also own both territories of the attack.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
        >>> turn.correct({"Brazil": Holding("blue", 4)}).to_code()
        '1;classic;red;Peru:red:6,Brazil:blue:4;attack'
        """
        if self.phase == "defend":
            raise IllegalError(
                "the position cannot be corrected before the defender has chosen dice"
            )
        owners, armies, players = [*self.owners], [*self.armies], self.players
        known = {fold_name(name): name for name in (*players, *self.owners)}
        for name, new_holding in holdings.items():
            t = self._board_data.places[self.board.find(name)]
            owner = known.setdefault(fold_name(new_holding.owner), new_holding.owner)
            owners[t], armies[t] = owner, new_holding.armies
            if owner and owner not in (*players, *self.owners):
                players = (*players, owner)
        if self.player not in owners:
            raise IllegalError(f"{self.player} must keep a territory, because it is their turn")
        new = self._replace(owners=(*owners,), armies=(*armies,), players=players, first=0)
        if self.phase == "advance" and self.pending is not None:
            v, c = (self._board_data.places[name] for name in (self.pending.start, self.pending.to))
            if owners[v] != self.player or owners[c] != self.player or new._count_spare(v) < 0:
                raise IllegalError(f"move armies into {self.pending.to} before this correction")
            if new.winner is None and self.then == "over":
                new = new._replace(then="attack")
        return new

    # The legal actions.

    def actions(self) -> Actions:
        """Return the legal actions in the order of the board; no actions when the turn is over.

        Long parts of the sequence, such as placing up to a thousand armies, are lazy. New armies
        must be placed in the order of the board, so only one sequence of actions leads to each
        placement.
        """
        return self._actions

    @cached_property
    def _actions(self) -> Actions:
        if self.phase == "trade":
            return Actions(self._list_trades())
        if self.phase == "place":
            return Actions(self._list_placements())
        if self.phase == "attack":
            return Actions([*self._list_all_attacks(), (EndPhase(),)])
        if self.phase == "defend" and self.throw is not None:
            return Actions([[Defend(k + 1) for k in range(len(self.throw.options))]])
        if self.phase == "advance" and self.pending is not None:
            v, c = (self._board_data.places[name] for name in (self.pending.start, self.pending.to))
            least = self.armies[c]
            return Actions([Numbered(Advance, range(least, least + self._count_spare(v) + 1))])
        return Actions(
            [*self._list_fortifications(), (EndPhase(),)] if self.phase == "fortify" else []
        )

    def _list_own(self) -> Iterator[int]:
        return (t for t, owner in enumerate(self.owners) if owner == self.player)

    def _count_spare(self, v: int) -> int:
        """Return the number of armies that can be lost or moved."""
        return self.armies[v] - self._board_data.garrisons[v]

    @property
    def _hand(self) -> Hand:
        return Hand() if self.cards is None else self.cards.get(self.player, Hand())

    @property
    def _may_trade(self) -> bool:
        """Return whether the player can trade a set, or can reveal cards that may contain a set."""
        hand = self._hand
        # After a conquest, players trade only because they have eliminated somebody.
        least = MUST_TRADE if self.conquered else SET_SIZE
        return hand.number >= least and (hand.unknown > 0 or bool(find_sets(hand)))

    def _list_trades(self) -> list[list[Action]]:
        hand = self._hand
        reveal: list[Action] = [Reveal()] if hand.unknown else []
        stop: list[Action] = [EndPhase()] if hand.number < MUST_TRADE else []
        if not self.symbols:
            return [reveal, [Trade(each) for each in find_sets(hand)], stop]
        trades: list[Action] = [
            Trade(cards, territory)
            for cards in find_named_sets(hand, self.symbols)
            for territory in self._find_pictured(cards) or ("",)
        ]
        return [reveal, trades, stop]

    def _find_pictured(self, cards: Hand) -> tuple[str, ...]:
        """Return the pictured territories that may get two extra armies from a set."""
        if self.pictured:
            return ()
        places = self._board_data.places
        return tuple(t for t in cards.territories if self.owners[places[t]] == self.player)

    def _list_placements(self) -> Iterator[Numbered]:
        """Yield the placements on each territory; the last territory must get all other armies."""
        own = [t for t in self._list_own() if t >= self.first]
        for t in own:
            least = self.place if t == own[-1] else 1
            yield Numbered(partial(Place, self.board.territories[t]), range(least, self.place + 1))

    def _list_all_attacks(self) -> Iterator[list[Action]]:
        names = self.board.territories
        for v in self._list_own():
            if self._count_spare(v) > 0 and not self._board_data.rests[v]:
                for c in self._board_data.out[v]:
                    if self.owners[c] != self.player and self.armies[c]:
                        yield [Attack(names[v], names[c], dice) for dice in self._list_dice(v, c)]

    def _is_whole(self, kernel: Kernel) -> bool:
        return self.whole_battles or not kernel.is_rolled

    def _list_dice(self, v: int, c: int) -> list[int]:
        """Return the legal numbers of dice for an attack from territory v on territory c."""
        kernel, spare = self._board_data.kernels[c], self._count_spare(v)
        if self._is_whole(kernel):
            return [min(spare, kernel.rules.attack.kept)]
        able = self.armies[v] - self.rules.garrison
        return [choice.dice for choice in kernel.rolls(able, self.armies[c], spare)]

    def find_choice(self, attack: Attack, their_dice: int | None = None) -> Choice:
        """Return the kernel's `Choice` for an attack: its dice with the possible throws.

        attack: a legal attack, or the attack in progress (`pending`).
        their_dice: an upper limit on the number of defence dice; `None` for the usual number.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> choice = turn.find_choice(Attack("Peru", "Brazil", 3))
        >>> choice.dice, choice.least, len(choice.throws)
        (3, 3, 1)
        """
        v, c = self._board_data.places[attack.start], self._board_data.places[attack.to]
        kernel, spare, defenders = self._board_data.kernels[c], self._count_spare(v), self.armies[c]
        if their_dice is not None:
            defenders = min(defenders, their_dice)
        if self._is_whole(kernel):
            return _make_battle_choice(kernel, spare, defenders)
        rolls = kernel.rolls(self.armies[v] - self.rules.garrison, defenders, spare)
        return next(choice for choice in rolls if choice.dice == attack.dice)

    def _list_fortifications(self) -> Iterator[Numbered]:
        names = self.board.territories
        if self.fortify != "none":
            for v in self._list_own():
                spare = self._count_spare(v)
                if spare > 0 and not self._board_data.rests[v]:
                    for to in self._find_reach(v):
                        yield Numbered(partial(Fortify, names[v], names[to]), range(1, spare + 1))

    def _find_reach(self, v: int) -> list[int]:
        """Return the territories to which the armies of v may move at the end of the turn."""
        reached = [c for c in self._board_data.out[v] if self.owners[c] == self.player]
        if self.fortify == "connected":
            for near in reached:
                further = (c for c in self._board_data.out[near] if self.owners[c] == self.player)
                reached += [c for c in further if c != v and c not in reached]
        return sorted(reached)

    # Results of actions.

    def results(self, action: Action) -> Distribution[Any]:
        """Return the distribution of the results of an action.

        action: a legal action.

        The results of `Attack` and `Defend` are `Losses`; a negative loss is a gain. If the
        attacked player chooses defence dice after seeing the attack dice, the results of `Attack`
        are throws (`iacta.methods.kernel.Throw`). The result of `Reveal` is a `Hand`. The only
        result of any other action is `None`. The chances of cards are exact; other chances are
        floats that sum to 1 within 1e-12.
        """
        return self._find_results(self._find_legal(action))

    def _find_results(self, action: Action) -> Distribution[Any]:
        if isinstance(action, Attack):
            return _list_results(self.find_choice(action))
        if isinstance(action, Defend) and self.throw is not None:
            option = self.throw.options[action.dice - 1]
            return Distribution.from_pairs((Losses(*losses), p) for p, *losses in option)
        if isinstance(action, Reveal):
            seen = sum((each.known for each in (self.cards or {}).values()), Hand())
            if self.symbols:
                return Distribution.from_pairs(list_named_cards(DECK - seen, self.symbols, seen))
            return Distribution.from_pairs(list_hands(self._hand.unknown, DECK - seen))
        return NOTHING

    def after(self, action: Action, result: Result | tuple[int, int] = None) -> "Turn":
        """Return the turn after an action.

        action: a legal action, or an equal value.
        result: a possible result of the action; `None` for an action without dice or cards.

        Raises `IllegalError` for an illegal action and for an impossible result.
        """
        return self._apply(action, result)._end_if_won(self)

    def _end_if_won(self, before: "Turn") -> "Turn":
        """Return the turn, which ends if the action since `before` has won the game.

        After a conquest, the turn ends once armies have moved in.
        """
        if self.phase == "over" or self.winner is None or before.winner is not None:
            return self
        if self.phase == "advance":
            return self._replace(then="over")
        return self._replace(phase="over", place=0, first=0)

    def _apply(self, action: Action, result: Result | tuple[int, int]) -> "Turn":
        action = self._find_legal(action)
        found = self._find_results(action)
        known = _find_result(result, found)
        if known is None and None not in found:
            raise IllegalError(
                f"result must be one of results({action!r}), such as {quote(next(iter(found)))}, "
                f"got {quote(result)}"
            )
        if result is not None and None in found:
            raise IllegalError(f"result of {action!r} must be None, got {quote(result)}")
        match action, known:
            case Attack(), Throw():
                return self._replace(phase="defend", pending=action, throw=known)
            case Attack() | Defend(), Losses():
                attack = action if isinstance(action, Attack) else self.pending
                return self._lose_armies(cast(Attack, attack), *known)
            case Reveal(), Hand():
                hand = self._hand - Hand(unknown=known.number) + known
                return self._replace_hand(hand)._enter("trade")
            case Trade(), _:
                return self._trade(action)
            case Place(), _:
                return self._place(action)
            case Advance(), _:
                return self._advance(action.armies)
            case Fortify(), _:
                v, to = self._board_data.places[action.start], self._board_data.places[action.to]
                return self._replace(
                    armies=_move_armies(self.armies, v, to, action.armies)
                )._end_turn()
        if self.phase == "trade":
            return self._enter("place")
        if self.phase == "attack" and any(self._list_fortifications()):
            return self._replace(phase="fortify")
        return self._end_turn()

    def list_dice(self, start: str, to: str, lost: int, killed: int) -> tuple[int, ...]:
        """Return the numbers of attack dice that can cause the losses, in descending order.

        start, to: the attacking and the attacked territory.
        lost, killed: the armies that the attacker and the defender lost.

        For a whole battle, the result contains the number of dice in its first roll.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> turn.list_dice("Peru", "Brazil", 0, 1), turn.list_dice("Peru", "Brazil", 1, 1)
        ((1,), (3, 2))
        """
        return tuple(
            attack.dice
            for attack in self._list_attacks(start, to)
            if (lost, killed) in self.list_losses(attack)
        )

    def list_losses(self, attack: Attack) -> tuple[Losses, ...]:
        """Return all losses that an attack can cause.

        attack: a legal attack. If the rules let the attacked player choose defence dice, the result
            covers all choices; otherwise they roll as many dice as possible.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> [tuple(each) for each in turn.list_losses(turn.actions()[0])]
        [(0, 2), (1, 1), (2, 0)]
        """
        legal = cast(Attack, self._find_legal(attack))
        return tuple(
            sorted(
                {
                    Losses(*losses)
                    for throw in self.find_choice(legal).throws
                    for option in throw.options
                    for _, *losses in option
                }
            )
        )

    def find_dice_limits(self, start: str, to: str) -> tuple[tuple[int, ...], int]:
        """Return the legal numbers of attack dice, and the largest legal number of defence dice.

        start, to: the attacking and the attacked territory.

        Raises `IllegalError` with the reason if the attack is illegal.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> turn.find_dice_limits("Peru", "Brazil")
        ((3, 2, 1), 2)
        """
        attacks = self._list_attacks(start, to)
        if not attacks:
            raise self._refuse_attack(start, to)
        c = self._board_data.places[attacks[0].to]
        defence = self._board_data.kernels[c].rules.defence
        return tuple(each.dice for each in attacks), min(self.armies[c], defence.kept)

    def find_reduced_results(self, attack: Attack, their_dice: int) -> Distribution[Losses]:
        """Return the distribution of losses if the attacked player rolls fewer dice than possible.

        attack: a legal attack.
        their_dice: the number of defence dice.

        Raises `IllegalError` if the attacked player can roll no more dice, for a whole battle, and
        under rules by which the attacked player chooses after seeing the attack dice. Under such
        rules, `results` already covers all choices.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> for losses, chance in turn.find_reduced_results(Attack("Peru", "Brazil", 3), 1).items():
        ...     print(tuple(losses), round(chance, 4))
        (0, 1) 0.6597
        (1, 0) 0.3403
        """
        legal = cast(Attack, self._find_legal(attack))
        usual = self.find_dice_limits(legal.start, legal.to)[1]
        number = read_int(their_dice, "their_dice", least=1, most=usual)
        if number == usual or not self.has_fixed_defence(legal.to):
            raise IllegalError(
                f"their_dice must be left out if the attacked player rolls as usual, got {number}"
            )
        return cast(Distribution[Losses], _list_results(self.find_choice(legal, number)))

    def has_single_rolls(self, to: str) -> bool:
        """Return whether attacks on a territory are single rolls rather than whole battles.

        to: the attacked territory.
        """
        return not self._is_whole(
            self._board_data.kernels[self._board_data.places[self.board.find(to)]]
        )

    def has_fixed_defence(self, to: str) -> bool:
        """Return whether attacks on a territory are single rolls with known defence dice.

        to: the attacked territory.
        """
        kernel = self._board_data.kernels[self._board_data.places[self.board.find(to)]]
        return self.has_single_rolls(to) and kernel.has_fixed_dice

    def find_expected_roll_losses(
        self, attack: Attack, their_dice: int | None = None
    ) -> tuple[float, float]:
        """Return the expected losses of the attacker and of the defender in one attack.

        attack: a legal attack. A defender who sees the attack dice chooses as in `careful_defence`.
        their_dice: the number of defence dice if the defender rolls fewer than possible.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> losses = turn.find_expected_roll_losses(Attack("Peru", "Brazil", 3))
        >>> [round(each, 4) for each in losses]
        [0.9209, 1.0791]
        """
        legal = cast(Attack, self._find_legal(attack))
        if their_dice is not None:
            reduced = self.find_reduced_results(legal, their_dice).items()
            lost, killed = zip(*((p * a, p * d) for (a, d), p in reduced), strict=True)
            return fsum(lost), fsum(killed)
        v, c = self._board_data.places[legal.start], self._board_data.places[legal.to]
        kernel, spare, defenders = self._board_data.kernels[c], self._count_spare(v), self.armies[c]
        results = [
            (throw.chance * p, lost, killed)
            for throw in self.find_choice(legal).throws
            for p, lost, killed in throw.options[kernel.find_worst_reply(throw, spare, defenders)]
        ]
        return fsum(p * lost for p, lost, _ in results), fsum(p * each for p, _, each in results)

    def find_expected_battle_losses(self, start: str, to: str) -> tuple[float, float] | None:
        """Return the expected losses of the attacker and of the defender in a whole battle.

        start, to: the attacking and the attacked territory.

        Both sides roll as many dice as possible. The result is `None` for a battle of more than a
        million armies, or of more armies than the method for its rules can handle.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> [round(losses, 4) for losses in turn.find_expected_battle_losses("Peru", "Brazil")]
        [3.1362, 3.7571]
        """
        v, c = (self._board_data.places[self.board.find(name)] for name in (start, to))
        kernel, spare, defenders = self._board_data.kernels[c], self._count_spare(v), self.armies[c]
        if spare <= 0 or self.owners[c] == self.player:
            return 0.0, 0.0
        if spare + defenders > MAX_EXPECTED or kernel.refusal(spare, defenders) is not None:
            return None
        (results,) = _make_battle_choice(kernel, spare, defenders).throws[0].options
        return fsum(p * lost for p, lost, _ in results), fsum(p * each for p, _, each in results)

    def apply_battle(
        self,
        start: str,
        to: str,
        left: int,
        defenders: int,
        dice: int | None = None,
        their_dice: int | None = None,
    ) -> "Turn":
        """Return the turn after one or more rolls of a battle.

        start, to: the attacking and the attacked territory.
        left: the armies left on the attacking territory, before armies move into a conquest.
        defenders: the armies left on the attacked territory; 0 for a conquest.
        dice: the number of attack dice if the battle was a single roll, otherwise `None`. Without
            `dice`, the last roll is assumed to use the most attack dice, and that many armies must
            advance.
        their_dice: the number of defence dice in a single roll, if the defender rolled fewer than
            possible.

        Raises `IllegalError` for an illegal attack, for more armies than before the battle, for an
        impossible outcome, and for dice that cannot cause the losses.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> turn.apply_battle("Peru", "Brazil", 7, 1).armies_on("Brazil")
        1
        >>> turn.apply_battle("Peru", "Brazil", 6, 0).phase
        'advance'
        """
        names = self.board.find(start), self.board.find(to)
        attacks = self._list_attacks(*names)
        if not attacks:
            raise self._refuse_attack(*names)
        v, c = map(self._board_data.places.__getitem__, names)
        mine, theirs, garrison = self.armies[v], self.armies[c], self._board_data.garrisons[v]
        left = read_int(left, f"armies left on {names[0]}", least=garrison, most=mine)
        defenders = read_int(defenders, f"armies left on {names[1]}", most=theirs)
        lost, killed = mine - left, theirs - defenders
        if their_dice is not None and dice is None:
            raise MalformedError("dice must be given with their_dice, the dice of a single roll")
        if dice is not None:
            number = read_int(dice, "dice", least=1, most=attacks[0].dice)
            if their_dice is None:
                fit = self.list_dice(*names, lost, killed)
            else:
                losses = Losses(lost, killed)
                fit = tuple(
                    each.dice
                    for each in attacks
                    if losses in self.find_reduced_results(each, their_dice)
                )
            if number not in fit:
                few = " or ".join(map(str, sorted(fit))) or "left out, as for several rolls,"
                raise IllegalError(
                    f"dice must be {few} where {names[0]} loses {lost} and {names[1]} {killed}, "
                    f"got {number}"
                )
            return self._lose_armies(Attack(*names, number), lost, killed)._end_if_won(self)
        if not lost and not killed:
            raise IllegalError(
                f"one side must lose an army, got all {mine} left on {names[0]} and all "
                f"{theirs} on {names[1]}"
            )
        if self._is_whole(self._board_data.kernels[c]):
            return self.after(attacks[0], (lost, killed))
        if left == garrison and not defenders:
            raise IllegalError(
                f"armies left on {names[0]} must be more than {garrison} when {names[1]} is taken, "
                f"got {left}"
            )
        return self._lose_armies(attacks[0], lost, killed)._end_if_won(self)

    def _refuse_attack(self, start: str, to: str) -> IllegalError:
        """Return an exception with the reason why an attack is illegal."""
        start, to = self.board.find(start), self.board.find(to)
        return IllegalError(f"{start} cannot attack {to}: {self._explain_refusal(start, to)}")

    def _explain_refusal(self, start: str, to: str) -> str:
        """Return the reason why an attack is illegal."""
        v, owner, owned = self._board_data.places[start], *map(self.owner_of, (start, to))
        garrison, armies = self._board_data.garrisons[v], self.armies[v]
        if self.phase == "advance" and self.pending is not None:
            return f"move armies into {self.pending.to} first"
        if self.phase != "attack":
            return REFUSED_ATTACKS[self.phase]
        if owner != self.player:
            return f"it is not {self.player}'s"
        if owned == self.player:
            return f"{self.player} owns it already"
        if to not in self.board.neighbours(start):
            return "no border leads there"
        if armies <= garrison:
            return f"{garrison} must stay, and it has {armies}"
        return "its armies must stay" if owned else "it is empty"

    def _list_attacks(self, start: str, to: str) -> list[Attack]:
        """Return the legal attacks from one territory on another, most dice first."""
        pair = self.board.find(start), self.board.find(to)
        return [
            each
            for each in self._actions
            if isinstance(each, Attack) and (each.start, each.to) == pair
        ]

    def _find_legal(self, action: object) -> Action:
        """Return the equal legal action, or raise `IllegalError`."""
        if not isinstance(action, Action):
            raise IllegalError(f"action must be an action class of iacta.game, got {quote(action)}")
        own = self._actions.find(action)
        if own is not None:
            return own
        near: list[Action] = [*self._actions[:1]]
        if isinstance(action, Attack) and self.phase == "attack":
            pair = action.start, action.to
            if all(isinstance(name, str) for name in pair):
                near = [*self._list_attacks(*pair)]
                if not near:
                    raise self._refuse_attack(*pair)
        few = f", such as {near[0]!r}" if near else ""
        raise IllegalError(
            f"action must be legal in the phase {self.phase!r}{few}, got {quote(action)}"
        )

    def _lose_armies(self, attack: Attack, lost: int, killed: int) -> "Turn":
        """Return the turn after losses; a conquest also moves in the required minimum of armies."""
        v, c = self._board_data.places[attack.start], self._board_data.places[attack.to]
        armies = list(self.armies)
        armies[v] -= lost
        armies[c] -= killed
        if armies[c]:
            return self._replace(phase="attack", armies=tuple(armies), pending=None, throw=None)
        least = min(self.find_choice(attack).least, armies[v] - self._board_data.garrisons[v])
        owners = _replace_entry(self.owners, c, self.player)
        return self._replace(
            phase="advance",
            owners=owners,
            armies=_move_armies(tuple(armies), v, c, least),
            pending=attack,
            throw=None,
            conquered=True,
        )._finish_conquest(self.owners[c])

    def _finish_conquest(self, loser: str) -> "Turn":
        """Return the turn after a conquest; the player gets the cards of an eliminated player."""
        if loser in self.owners:
            return self._replace(then="attack")
        if loser in self.players:
            after = self.victory.apply_elimination(self, loser)
            return self._replace(victory=after)._take_over_cards(loser)
        return self._take_over_cards(loser)

    def _take_over_cards(self, loser: str) -> "Turn":
        if self.cards is None:
            return self._replace(then="attack")
        taken = self.cards.get(loser, Hand())
        rest = FrozenDict({name: hand for name, hand in self.cards.items() if name != loser})
        new = self._replace(cards=rest)._replace_hand(self._hand + taken)
        must = taken.number > 0 and new._hand.number >= TRADED_AT_ONCE
        return new._replace(then="trade" if must else "attack")

    def _advance(self, armies: int) -> "Turn":
        assert self.pending is not None  # noqa: S101 # an attack is pending in this phase
        v, c = self._board_data.places[self.pending.start], self._board_data.places[self.pending.to]
        return self._replace(
            phase=self.then,
            armies=_move_armies(self.armies, v, c, armies - self.armies[c]),
            pending=None,
            then="attack",
        )

    def _place(self, action: Place) -> "Turn":
        t, left = self._board_data.places[action.territory], self.place - action.armies
        return self._replace(
            phase="place" if left else "attack",
            place=left,
            first=t + 1 if left else 0,
            armies=_replace_entry(self.armies, t, self.armies[t] + action.armies),
        )

    def _trade(self, action: Trade) -> "Turn":
        new = self._replace_hand(self._hand - action.cards)
        if action.territory:
            t = self._board_data.places[action.territory]
            more = _replace_entry(self.armies, t, self.armies[t] + PICTURED)
            new = new._replace(armies=more, pictured=True)
        brought = self.place + self.trade.worth(action.cards)
        return new._replace(place=brought, trade=self.trade.next())._enter("trade")

    def _replace_hand(self, hand: Hand) -> "Turn":
        assert self.cards is not None  # noqa: S101 # the game has cards
        rest = {name: each for name, each in self.cards.items() if name != self.player}
        return self._replace(cards=FrozenDict(rest | ({self.player: hand} if hand.number else {})))

    def _enter(self, phase: Literal["trade", "place"]) -> "Turn":
        """Return the turn in a phase, or in a later phase if the player cannot act in this one."""
        if phase == "trade" and self._may_trade:
            return self._replace(phase="trade")
        return self._replace(phase="place" if self.place else "attack")

    def _end_turn(self) -> "Turn":
        """Return the finished turn; a player who conquered a territory draws a card."""
        over = self._replace(phase="over")
        if self.cards is None or not self.conquered:
            return over
        if sum(hand.number for hand in self.cards.values()) >= DECK.number:
            return over
        return over._replace_hand(self._hand + Hand(unknown=1))

    def next(self) -> "Turn":
        """Return the turn of the next player who owns a territory, with their new armies.

        A player gets one army for every three territories, rounded down, but at least three, plus
        the bonuses of the continents that they own. The options `keep` and `stay` are reset,
        because they apply to one player's turn. Raises `IllegalError` if this turn is not over, or
        if the game is over.
        """
        if self.phase != "over":
            raise IllegalError(f"phase must be 'over' for the next turn, got {self.phase!r}")
        at = self.players.index(self.player)
        after = (*self.players[at + 1 :], *self.players[:at])
        following = next((each for each in after if each in self.owners), None)
        if following is None:
            raise IllegalError(f"the game is over: nobody is left to play after {self.player}")
        if (winner := self.winner) is not None:
            raise IllegalError(f"the game is over: {winner} has won")
        free = self._replace(keep=FrozenDict({}), stay=()) if self.keep or self.stay else self
        if free is not self:
            vars(free).pop("_board_data", None)
        new = free._replace(player=following, conquered=False, pictured=False, first=0)
        return new._replace(place=new.new_armies())._enter("trade")

    def new_armies(self, player: str | None = None) -> int:
        """Return the number of new armies that a player gets at the start of a turn.

        player: the player; `None` for the player whose turn it is.

        >>> Turn.from_code("1;classic;red;Peru:red:9,Brazil:red:2,Argentina:blue:1").new_armies()
        3
        """
        owner = self.player if player is None else player
        names = zip(self.board.territories, self.owners, strict=True)
        owned = {name for name, each in names if each == owner}
        whole = (c for c in self.board.continents if c.territories and owned >= {*c.territories})
        bonus = sum(each.bonus for each in whole)
        return max(max(len(owned) // TERRITORIES_PER_ARMY, MIN_NEW) + bonus, 0)

    # Changes of options, odds, and play by a policy.

    def with_options(
        self,
        *,
        rules: Rules | None = None,
        place: int | None = None,
        keep: Mapping[str, int] | None = None,
        rules_of: Mapping[str, Rules | str] | None = None,
        stay: Iterable[str] | None = None,
        fortify: str | None = None,
        whole_battles: bool | None = None,
        victory: Victory | None = None,
    ) -> "Turn":
        """Return the turn with other rules, constraints or new armies.

        rules, place, keep, rules_of, stay, fortify, whole_battles, victory: the same as for `Turn`;
            `None` keeps the current value.

        Raises `IllegalError` for new armies in the phases `defend`, `advance`, `fortify` and
        `over`.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2;attack")
        >>> more = turn.with_options(place=4)
        >>> more.phase, more.place
        ('place', 4)
        """
        code = read_code(self.to_code(), self.board)
        phase, *fields = code.rest
        if place and phase not in ("trade", "place", "attack"):
            raise IllegalError(f"new armies come before or between attacks, not in {phase!r}")
        if place is not None and phase in ("place", "attack"):
            phase = "place" if place else "attack"
        given = {
            "rules": None if rules is None else format_rules(rules),
            "place": None if place is None else str(read_int(place, "place", 0, MAX_NEW)),
            "keep": None if keep is None else format_pairs(keep),
            "own": None
            if rules_of is None
            else format_pairs({t: format_rules(find_rules(own)) for t, own in rules_of.items()}),
            "stay": None if stay is None else format_names(stay),
            "fortify": fortify,
            "whole": None if whole_battles is None else "1" if whole_battles else "",
            "win": None if victory is None else format_victory(victory),
        }
        options = read_options(fields, OPTIONS) | {
            key: text for key, text in given.items() if text is not None
        }
        written = (f"{key}={text}" for key, text in options.items() if text)
        return Turn.from_fields(code._replace(rest=(phase, *written)))

    def odds(self) -> tuple[BorderOdds, ...]:
        """Return the odds of all battles that the player could start if the phase were `attack`.

        Each battle is fought to its end with all spare armies of the attacking territory. The
        battles are in the order of the board.
        """
        names, data = self.board.territories, self._board_data
        return tuple(
            BorderOdds(
                names[v],
                names[c],
                self.armies[v],
                self.armies[c],
                _win_chance(data.kernels[c], self._count_spare(v), self.armies[c]),
            )
            for v in self._list_own()
            if self._count_spare(v) > 0 and not data.rests[v]
            for c in data.out[v]
            if self.owners[c] != self.player and self.armies[c]
        )

    def careful_defence(self) -> Defend:
        """Return the defence dice with the best chance to hold the territory.

        The chance assumes that the attacker fights the rest of the battle to its end.
        """
        if self.pending is None or self.throw is None:
            raise IllegalError(f"phase must be 'defend' for defence dice, got {self.phase!r}")
        v, c = self._board_data.places[self.pending.start], self._board_data.places[self.pending.to]
        kernel, spare = self._board_data.kernels[c], self._count_spare(v)
        return Defend(1 + kernel.find_worst_reply(self.throw, spare, self.armies[c]))

    def play(self, policy: Policy, *, seed: int, defender: Policy | None = None) -> Record:
        """Play the turn to its end with random dice.

        policy: a function from a turn to a legal action of the player. If the policy has a method
            `follow`, like the AIs of `ai`, this method returns the policy for this turn.
        seed: the seed of the dice. The same seed gives the same dice.
        defender: the policy that chooses defence dice; `None` for `careful_defence`.

        >>> start = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> record = start.play(lambda turn: turn.actions()[0], seed=4)
        >>> for turn, action, result in record.moves:
        ...     print(action, result)
        Attack('Peru', 'Brazil', 3) Losses(attackers=2, defenders=0)
        Attack('Peru', 'Brazil', 3) Losses(attackers=1, defenders=1)
        Attack('Peru', 'Brazil', 3) Losses(attackers=1, defenders=0)
        Attack('Peru', 'Brazil', 3) Losses(attackers=0, defenders=1)
        Advance(3) None
        Attack('Peru', 'Argentina', 1) Losses(attackers=0, defenders=1)
        Advance(1) None
        """
        rng = np.random.default_rng(read_int(seed, "seed"))
        turn, moves = self, list[Move]()
        follow = policy.follow() if isinstance(policy, TurnPolicy) else policy
        while turn.phase != "over":
            action = turn.decide(follow, defender)
            (result,) = turn.results(action).sample(1, rng)
            moves.append(Move(turn, action, result))
            turn = turn.after(action, result)
        return Record(tuple(moves), turn)

    def decide(self, policy: Policy, defender: Policy | None = None) -> Action:
        """Return the next action, chosen by the policy of the player who acts.

        policy, defender: the same as for `play`.
        """
        if self.phase != "defend":
            return self._find_legal(policy(self))
        return self.careful_defence() if defender is None else self._find_legal(defender(self))

    # The code of a turn.

    def to_code(self) -> str:
        """Return the turn as a one-line code, which `from_code` reads.

        The code contains the position, the phase, and each option that differs from its default.

        >>> from iacta.board.files import classic_board
        >>> position = Position(classic_board(), "red", {"Peru": ("red", 3), "Brazil": ("blue", 2)})
        >>> Turn(position, "capital", place=4, keep={"Peru": 2}).to_code()
        '1;classic;red;Peru:red:3,Brazil:blue:2;place;rules=capital;place=4;keep=Peru:2'
        """
        trade, order, cards = self.trade, self.players, self.cards
        options = {
            "rules": format_rules(self.rules) if self.rules != CLASSIC else None,
            "place": self.place or None,
            "cards": None if cards is None else format_pairs(self._hand_texts()),
            "sets": format_sets(trade) if trade != Sets() else None,
            "keep": format_pairs(self.keep) or None,
            "own": format_pairs({t: format_rules(own) for t, own in self.rules_of.items()}) or None,
            "stay": format_names(self.stay) or None,
            "fortify": self.fortify if self.fortify != "connected" else None,
            "whole": 1 if self.whole_battles else None,
            "players": format_names(order) if order != list_owners(self.owners) else None,
            "conquered": 1 if self.conquered else None,
            "first": escape_name(self.board.territories[self.first]) if self.first else None,
            "attack": self._attack_text() if self.pending else None,
            "throw": self._throw_number() if self.throw else None,
            "then": self.then if self.then != "attack" else None,
            "symbols": format_symbols(self.symbols, self.board.territories)
            if self.symbols
            else None,
            "named": format_pairs(self._named_cards()) or None,
            "pictured": 1 if self.pictured else None,
            "win": format_victory(self.victory) if self.victory != SURVIVAL else None,
        }
        written = (f"{key}={text}" for key, text in options.items() if text is not None)
        return write_code(self.board, self.player, self.owners, self.armies, self.phase, *written)

    def to_toml(self) -> str:
        """Return the turn as TOML, which `iacta.game.moment.read_moment` reads.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2;place;place=4")
        >>> turn.to_toml().splitlines()[:3]
        ['board = "classic"', 'player = "red"', 'place = 4']
        """
        phase, *fields = read_code(self.to_code(), self.board).rest
        options = read_options(fields, OPTIONS)
        usual = "place" if self.place else "attack"
        if phase != usual:
            options = {"phase": phase, **options}
        lines = [
            f"{key} = {text if text.isdigit() else format_json(text)}"
            for key, text in options.items()
        ]
        player, mark, lands = self.position.to_toml().partition("\n\n[territories]")
        return "\n".join([player, *lines]) + mark + lands

    def _hand_texts(self) -> dict[str, str]:
        held: Mapping[str, Hand] = self.cards or {}
        return {name: format_hand(held[name]) for name in self.players if name in held}

    def _named_cards(self) -> dict[str, str]:
        held: Mapping[str, Hand] = self.cards or {}
        return {t: name for name in self.players if name in held for t in held[name].territories}

    def _attack_text(self) -> str:
        assert self.pending is not None  # noqa: S101 # an attack is pending in this phase
        return format_attack_code(self.pending.start, self.pending.to, self.pending.dice)

    def _throw_number(self) -> int:
        assert self.pending is not None  # noqa: S101 # an attack is pending in this phase
        assert self.throw is not None  # noqa: S101
        return self.find_choice(self.pending).throws.index(self.throw)

    @classmethod
    def from_code(cls, text: str, board: Board | None = None) -> "Turn":
        """Read a turn from a code.

        text: the code of a turn, as returned by `to_code`, or the code of a position.
        board: the board of the code; `None` for the classic board.

        Raises `IactaError` for a malformed code, and for a board with another name than the board
        of the code.

        >>> Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2;place;place=4").actions()
        <1 actions: Place('Peru', 4)>
        """
        return cls.from_fields(read_code(text, board))

    @classmethod
    def from_fields(cls, code: Code) -> "Turn":
        """Make a turn from the fields of a code.

        code: the fields, as returned by `iacta.board.codes.read_code`.
        """
        phase, *rest = code.rest or ("attack",)
        check_choice(phase, get_args(Phase), "phase of the code")
        options = read_options(rest, OPTIONS)
        rules = read_rules(options["rules"]) if "rules" in options else CLASSIC
        # Under rules without a garrison, a territory without armies may have an owner.
        is_left = rules.garrison == 0
        held = [
            Holding(owner, max(number, 1) if owner and is_left else number)
            for owner, number in zip(code.owners, code.armies, strict=True)
        ]
        whole_cards = None
        if "cards" in options:
            whole_cards = {name: read_hand(hand) for name, hand in read_pairs(options["cards"])}
            for territory, name in read_pairs(options.get("named", "")):
                hand = whole_cards.get(unescape_name(name), Hand())
                whole_cards[unescape_name(name)] = hand + Hand(territories=(territory,))
        turn = cls(
            Position(code.board, code.player, held),
            rules,
            phase=phase if phase in STARTS else "attack",
            place=parse_int(options.get("place", "0"), "place", 0, MAX_NEW),
            cards=whole_cards,
            trade=read_sets(options["sets"]) if "sets" in options else None,
            keep={
                name: parse_int(number, f"keep of {name}")
                for name, number in read_pairs(options.get("keep", ""))
            },
            rules_of={name: read_rules(own) for name, own in read_pairs(options.get("own", ""))},
            stay=read_names(options.get("stay", "")),
            fortify=options.get("fortify", "connected"),
            whole_battles="whole" in options,
            players=read_names(options["players"]) if "players" in options else None,
            conquered="conquered" in options,
            symbols=(
                read_symbols(options["symbols"], code.board.territories)
                if "symbols" in options
                else None
            ),
            pictured="pictured" in options,
            victory=read_victory(options["win"]) if "win" in options else None,
        )
        if turn.phase != phase and phase in STARTS:
            raise IllegalError(f"phase must be {turn.phase!r} with these cards, got {phase!r}")
        turn = turn._replace(armies=code.armies)
        if "first" in options:
            turn = turn._skip_territories_before(unescape_name(options["first"]))
        if phase in ("defend", "advance"):
            return turn._resume_battle(phase, options)
        return turn

    def _skip_territories_before(self, name: str) -> "Turn":
        first = self._board_data.places[self.board.find(name)]
        if self.phase != "place" or not any(t >= first for t in self._list_own()):
            raise IllegalError(
                f"first must be a territory that can get new armies, got {quote(name)}"
            )
        return self._replace(first=first)

    def _resume_battle(self, phase: str, options: Mapping[str, str]) -> "Turn":
        """Return the turn during an attack, in the phase `defend` or `advance`."""
        code = read_attack_code(options.get("attack", ""))
        attack = Attack(self.board.find(code.start), self.board.find(code.to), code.dice)
        if phase == "defend":
            throws = self.find_choice(cast(Attack, self._find_legal(attack))).throws
            number = parse_int(options.get("throw", ""), "throw", 0, len(throws) - 1)
            return self.after(attack, throws[number])
        v, c = self._board_data.places[attack.start], self._board_data.places[attack.to]
        then = options.get("then", "attack")
        check_choice(then, ("attack", "trade", "over"), "then")
        is_own = self.owners[v] == self.owners[c] == self.player
        if (
            not is_own
            or c not in self._board_data.out[v]
            or self._count_spare(v) < 0
            or not self.armies[c]
        ):
            raise IllegalError(f"attack must be a conquest in the phase 'advance', got {attack!r}")
        return self._replace(phase="advance", pending=attack, then=then)


_COPIED = (*Turn.__dataclass_fields__, "_board_data")
NOTHING: Distribution[Any] = Distribution([None])


@lru_cache(maxsize=65536)
def _make_battle_choice(kernel: Kernel, able: int, defenders: int) -> Choice:
    return kernel.battle(able, defenders)


@lru_cache(maxsize=65536)
def _win_chance(kernel: Kernel, able: int, defenders: int) -> float:
    """Return the attacker's chance of winning a battle that is fought to its end."""
    if not defenders:
        return 1.0
    return float(kernel.win_probability(able, defenders)) if able > 0 else 0.0


@lru_cache(maxsize=65536)
def _list_results(choice: Choice) -> Distribution[Any]:
    """Return the distribution of losses, or of throws if the defender then chooses dice."""
    if any(len(throw.options) > 1 for throw in choice.throws):
        return Distribution.from_pairs((throw, throw.chance) for throw in choice.throws)
    return Distribution.from_pairs(
        (Losses(*losses), throw.chance * p)
        for throw in choice.throws
        for p, *losses in throw.options[0]
    )


def _find_result(result: object, results: Distribution[Any]) -> Result:
    """Return the equal possible result, or `None`."""
    known = result if isinstance(result, tuple) else None
    return next((each for each in results if each == known), None)


def _replace_entry(row: tuple[Any, ...], place: int, value: object) -> tuple[Any, ...]:
    return (*row[:place], value, *row[place + 1 :])


def _move_armies(armies: tuple[int, ...], start: int, to: int, number: int) -> tuple[int, ...]:
    return _replace_entry(
        _replace_entry(armies, start, armies[start] - number), to, armies[to] + number
    )
