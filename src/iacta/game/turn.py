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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    Unpack,
    cast,
    overload,
    runtime_checkable,
)

import numpy as np

from iacta.board import Board, Holding, Position
from iacta.board.board import fold_name
from iacta.board.position import check_position
from iacta.game.actions import (
    Action,
    Actions,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Place,
    Result,
    Reveal,
    Trade,
)
from iacta.game.board_text import format_board
from iacta.game.cards import (
    DECK,
    NEUTRAL,
    Hand,
    list_hands,
    list_named_cards,
)
from iacta.game.codes import make_turn, read_turn_code, write_turn_code, write_turn_toml
from iacta.game.legal import (
    check_conquest,
    find_legal_action,
    list_actions,
    list_attacks,
    list_fortifications,
    may_trade,
    refuse_attack,
)
from iacta.game.setup import (
    MAX_NEW_ARMIES,
    ChangeableOptions,
    TurnOptions,
    check_option_names,
    read_setting,
    read_state,
    read_victory_condition,
    refuse_empty_territories,
)
from iacta.game.state import TurnData, TurnState, find_battle_choice
from iacta.inputs.checks import FrozenDict, quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError, add_parameter
from iacta.inputs.reprs import MAX_REPR_LENGTH, DisplayMixin
from iacta.methods.kernel import Choice, Kernel, Throw, list_roll_results
from iacta.methods.kernel import Result as RollResult
from iacta.probability.distribution import Distribution
from iacta.rules.roll import Losses
from iacta.rules.rules import Rules
from iacta.rules.thrown import compare_dice

A = TypeVar("A", bound=Action)

Policy: TypeAlias = Callable[["Turn"], Action]


@runtime_checkable
class TurnPolicy(Protocol):
    """A policy with a memory of its earlier choices in the turn."""

    def follow(self) -> Policy:
        """Return a policy for one turn, with an empty memory."""


class Move(NamedTuple):
    """An action of a turn, with its result.

    turn: the turn before the action.
    action: the action that was played.
    result: the result of the action, such as the losses of an attack.
    """

    turn: "Turn"
    action: Action
    result: Result


class PlayedTurn(NamedTuple):
    """A turn that was played to its end.

    moves: the actions with their results, in the order in which they were played.
    end: the turn after the last action, in the phase `over`.
    """

    moves: tuple[Move, ...]
    end: "Turn"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Turn(DisplayMixin, TurnData):
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
    cards_due: the number of cards that the player draws at the end for territories taken earlier in
        the turn: at most 1, unless a house rule gives a card for each territory.
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

    def __init__(
        self,
        position: Position,
        rules: Rules | str = "classic",
        **options: Unpack[TurnOptions],
    ) -> None:
        check_option_names(options, TurnOptions)
        check_position(position)
        owners = tuple(holding.owner for holding in position.holdings)
        setting = read_setting(position.board, position.player, owners, rules, options)
        state = read_state(position, setting, options)
        vars(self).update(setting=setting, state=state)
        with add_parameter("victory"):
            state = state._replace(victory=state.victory.resolve_names(self))
        if state.phase == "trade" and not may_trade(self):
            state = state._replace(phase="place" if state.place else "attack")
        vars(self)["state"] = state

    def __repr__(self) -> str:
        text = f"Turn.from_code({self.to_code()!r})"
        if len(text) <= MAX_REPR_LENGTH and ";#" not in text:
            return text
        return f"<Turn: on {self.board.name!r}, {self.to_act} to {self.phase}>"

    def __str__(self) -> str:
        return format_board(self)

    @property
    def winner(self) -> str | None:
        """The winner, by `victory` or as the last survivor; `None` before the end of the game.

        >>> Turn.from_code("1;classic;red;Peru:red:3,Brazil:grey:2;over;players=red,blue").winner
        'red'
        """
        return self.victory.find_winner(self)

    def seen_by(self, player: str) -> "Turn":
        """Return the turn as a player sees it.

        player: the player, in any spelling. The player knows their own cards and mission, and the
            number of each other player's cards. Secret missions of other players are hidden.

        The AIs of `iacta.war` decide from this turn. Raises `IllegalError` for an unknown player.

        >>> code = "1;classic;red;Peru:red:3,Siam:blue:2;attack;cards=blue:2.0.0.1.0"
        >>> turn = Turn.from_code(code)
        >>> turn.seen_by("red").hand_of("blue"), turn.seen_by("blue").hand_of("blue")
        (Hand(unknown=3), Hand(infantry=2, jokers=1))
        """
        spelling = {fold_name(name): name for name in self.players}
        if not isinstance(player, str) or fold_name(player) not in spelling:
            raise IllegalError(
                f"player must be one of {', '.join(self.players)}, got {quote(player)}"
            )
        viewer, cards = spelling[fold_name(player)], self.cards
        if cards is not None:
            cards = FrozenDict(
                {name: hand if name == viewer else hand.hide() for name, hand in cards.items()}
            )
        victory = self.victory.hide_from(viewer)
        if (cards, victory) == (self.cards, self.victory):
            return self
        return self.replace_state(self.state._replace(cards=cards, victory=victory))

    def replace_armies(self, owners: tuple[str, ...], armies: tuple[int, ...]) -> "Turn":
        """Return a copy of the turn with other owners and armies, without validation.

        owners: the owner of each territory in the order of the board; `""` for no owner.
        armies: the number of armies on each territory. Under rules without a garrison, a territory
            without armies may have an owner.

        If a player loses all territories, the player to move has eliminated them.
        """
        new = self.replace_state(self.state._replace(owners=owners, armies=armies))
        for loser in self.survivors:
            if loser not in owners:
                victory = new.victory.apply_elimination(new, loser)
                new = new.replace_state(new.state._replace(victory=victory))
        return new

    def correct(self, holdings: Mapping[str, Holding]) -> "Turn":
        """Return the turn with a corrected position.

        holdings: a mapping from territories to the correct owner and armies; `Holding("", 0)` for
            a territory without an owner.

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
            t = self.setting.index[self.board.find(name)]
            owner = known.setdefault(fold_name(new_holding.owner), new_holding.owner)
            owners[t], armies[t] = owner, new_holding.armies
            if owner and owner not in (*players, *self.owners):
                players = (*players, owner)
        if self.player not in owners:
            raise IllegalError(f"{self.player} must keep a territory, because it is their turn")
        setting = self.setting
        refuse_empty_territories(self.board, owners, armies, setting.rules)
        if players != self.players:
            setting = replace(setting, players=players)
        state = self.state._replace(owners=(*owners,), armies=(*armies,), first=0)
        new = self.assemble_turn(setting, state)
        # This call refuses, for example, a new player without a capital or a mission.
        new = new.replace_state(state._replace(victory=self.victory.resolve_names(new)))
        if self.phase == "advance" and self.pending is not None:
            v, c = self.index_ends(self.pending)
            if owners[v] != self.player or owners[c] != self.player or new.count_spare(v) < 0:
                raise IllegalError(f"move armies into {self.pending.to} before this correction")
            if new.winner is None and self.then == "over":
                new = new.replace_state(new.state._replace(then="attack"))
        return new

    # The legal actions.

    def actions(self) -> Actions:
        """Return the legal actions in the order of the board; no actions when the turn is over.

        New armies must be placed in the order of the board, so only one sequence of actions leads
        to each placement; `place_armies` takes them in any order. Long parts of the sequence are
        lazy: `actions().parts` has one part for each territory and each pair of territories, whose
        actions differ only in the number of armies.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:900,Brazil:red:1;fortify")
        >>> for part in turn.actions().parts:
        ...     print(part[0], len(part))
        Fortify('Peru', 'Brazil', 1) 899
        EndPhase() 1
        """
        return self._actions

    @cached_property
    def _actions(self) -> Actions:
        return list_actions(self)

    # Results of actions.

    @overload
    def results(self, action: Attack, their_dice: int) -> Distribution[Losses]: ...
    @overload
    def results(self, action: Attack, their_dice: None = None) -> Distribution[Losses | Throw]: ...
    @overload
    def results(self, action: Defend) -> Distribution[Losses]: ...
    @overload
    def results(self, action: Reveal) -> Distribution[Hand]: ...
    @overload
    def results(
        self, action: Trade | Place | Advance | Fortify | EndPhase
    ) -> Distribution[None]: ...
    @overload
    def results(self, action: Action) -> Distribution[Result]: ...
    def results(self, action: Action, their_dice: int | None = None) -> Distribution[Any]:
        """Return the distribution of the results of an action.

        action: a legal action.
        their_dice: the number of defence dice in a single roll; `None` for the usual number, which
            is the largest legal number.

        The results of `Attack` and `Defend` are `Losses`; a negative loss is a gain. If the
        attacked player chooses defence dice after seeing the attack dice, the results of `Attack`
        are throws (`iacta.methods.kernel.Throw`). The result of `Reveal` is a `Hand`. The only
        result of any other action is `None`. The chances of cards are exact; other chances are
        floats that sum to 1 within 1e-12.

        Raises `IllegalError` for an illegal action, for more defence dice than the attacked player
        can roll, and for `their_dice` in a whole battle or under rules by which the attacked player
        chooses after seeing the attack dice.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> attack = Attack("Peru", "Brazil", 3)
        >>> for losses, chance in turn.results(attack, their_dice=1).items():
        ...     print(tuple(losses), round(chance, 4))
        (0, 1) 0.6597
        (1, 0) 0.3403
        >>> turn.results(EndPhase())
        Distribution({None: 1})
        """
        legal = find_legal_action(self, action)
        return self._compute_results(legal, self._read_reduced_dice(legal, their_dice))

    def _read_reduced_dice(self, action: Action, their_dice: int | None) -> int | None:
        """Return the number of defence dice; `None` for the usual number."""
        if their_dice is None:
            return None
        if not isinstance(action, Attack):
            raise IllegalError(f"their_dice applies to attacks only, got {action!r}")
        usual = self.compute_dice_limits(action.start, action.to)[1]
        number = read_int(their_dice, "their_dice", minimum=1, maximum=usual)
        if not self.has_fixed_defence(action.to):
            raise IllegalError(
                f"their_dice must be left out where the attack on {action.to} is a whole battle, "
                f"or the attacked player chooses after the roll, got {number}"
            )
        return None if number == usual else number

    def _compute_results(self, action: Action, their_dice: int | None = None) -> Distribution[Any]:
        if isinstance(action, Attack) and their_dice is not None:
            rules = self.setting.kernels[self.setting.index[action.to]].rules
            return _distribute_losses(list_roll_results(action.dice, their_dice, rules))
        if isinstance(action, Attack):
            return _list_results(*self.find_battle_key(action))
        if isinstance(action, Defend) and self.throw is not None:
            return _distribute_losses(self.throw.options[action.dice - 1])
        if isinstance(action, Reveal):
            return self._list_possible_cards()
        return NOTHING

    def _list_possible_cards(self) -> Distribution[Hand]:
        """Return the distribution of the player's unknown cards, or of one pictured card."""
        seen = sum((each.known for each in (self.cards or {}).values()), Hand())
        if self.symbols:
            return Distribution.from_pairs(list_named_cards(DECK - seen, self.symbols, seen))
        return _distribute_hands(self.hand.unknown, DECK - seen)

    def draw_cards(self, rng: "np.random.Generator") -> Hand:
        """Return random cards for the player's unknown cards, for `reveal`.

        rng: the random number generator.

        If cards picture territories, the result is a single card. Raises `IllegalError` if the
        player has no unknown cards.
        """
        if not self.hand.unknown:
            raise IllegalError(f"{self.player} has no unknown cards to reveal")
        (hand,) = self._list_possible_cards().sample(1, rng)
        return hand

    def reveal(self, cards: Hand) -> "Turn":
        """Return the turn after the player has looked at unknown cards, in any phase.

        cards: the cards, such as the result of `draw_cards`.

        In the phase `trade`, the action `Reveal` does the same. Raises `IllegalError` for cards
        that the player cannot have.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Siam:blue:2;over;cards=red:1")
        >>> turn.reveal(Hand(jokers=1)).hand
        Hand(jokers=1)
        """
        if self.phase == "trade":
            return self.after(Reveal(), cards)
        if not self.hand.unknown or _find_result(cards, self._list_possible_cards()) is None:
            raise IllegalError(f"{self.player} cannot reveal {quote(cards)}: {self.hand!r}")
        return self._replace_hand(self.hand - Hand(unknown=cards.number) + cards)

    def compare_dice(self, attack: Attack, mine: Sequence[int], theirs: Sequence[int]) -> Losses:
        """Return the losses in a single roll with known dice.

        attack: a legal attack.
        mine: the faces of the attack dice, in any order.
        theirs: the faces of the defence dice, in any order.

        Raises `IllegalError` for a whole battle, for a number of dice that the players cannot roll,
        and for faces that the dice do not have.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> attack = Attack("Peru", "Brazil", 3)
        >>> losses = turn.compare_dice(attack, [6, 2, 5], [5, 5])
        >>> losses, turn.after(attack, losses).armies_on("Brazil")
        (Losses(attackers=1, defenders=1), 3)
        """
        legal = find_legal_action(self, attack)
        most = self.compute_dice_limits(legal.start, legal.to)[1]
        if not self.has_single_rolls(legal.to):
            raise IllegalError(f"the battle for {legal.to} has no single rolls")
        for name, faces, least, maximum in (
            ("mine", mine, legal.dice, legal.dice),
            ("theirs", theirs, 1, most),
        ):
            number = len(read_list(faces, name, "numbers"))
            if not least <= number <= maximum:
                span = maximum if least == maximum else f"from {least} to {maximum}"
                raise IllegalError(f"{name} must have {span} dice, got {number}", parameter=name)
        return compare_dice(mine, theirs, self.rules_of.get(legal.to, self.rules))

    def place_armies(self, placement: Mapping[str, int]) -> "Turn":
        """Return the turn after all new armies are placed.

        placement: the number of new armies on each territory, in any order.

        Raises `IllegalError` unless the numbers sum to the new armies, and for territories of other
        players.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Alaska:red:1;place;place=3")
        >>> turn = turn.place_armies({"Peru": 1, "Alaska": 2})
        >>> turn.phase, turn.armies_on("Peru"), turn.armies_on("Alaska")
        ('attack', 10, 3)
        """
        if not isinstance(placement, Mapping):
            raise MalformedError(
                f"placement must map territories to armies, got {quote(placement)}"
            )
        placed = dict[str, int]()
        for given, armies in placement.items():
            name = self.board.find(given)
            placed[name] = placed.get(name, 0) + read_int(armies, f"new armies on {name}")
        if sum(placed.values()) != self.place:
            total = sum(placed.values())
            raise IllegalError(f"new armies must be {self.place} in all, got {total}")
        for name in placed:
            if self.owner_of(name) != self.player:
                raise IllegalError(
                    f"{name} gets no new armies: {self.player} does not own it",
                    parameter="placement",
                )
        turn = self
        for name in self.board.territories:
            if placed.get(name):
                turn = turn.after(Place(name, placed[name]))
        return turn

    def after(
        self,
        action: Action,
        result: Result | tuple[int, int] = None,
        their_dice: int | None = None,
    ) -> "Turn":
        """Return the turn after an action.

        action: a legal action, or an equal value.
        result: a possible result of the action; `None` for an action without dice or cards.
        their_dice: the number of defence dice, as for `results`.

        Raises `IllegalError` for an illegal action, for an impossible result, and for the same
        reasons as `results`.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> turn = turn.after(Attack("Peru", "Brazil", 3), (1, 1))
        >>> turn.armies_on("Peru"), turn.armies_on("Brazil")
        (8, 3)
        >>> turn.after(EndPhase()).phase
        'over'
        """
        legal = find_legal_action(self, action)
        results = self._compute_results(legal, self._read_reduced_dice(legal, their_dice))
        known = _find_result(result, results)
        if known is None and None not in results:
            raise IllegalError(
                f"result must be one of results({legal!r}), such as {quote(next(iter(results)))}, "
                f"got {quote(result)}"
            )
        if result is not None and None in results:
            raise IllegalError(f"result of {legal!r} must be None, got {quote(result)}")
        return self.apply_legal(legal, known)

    def play_action(self, action: Action, rng: "np.random.Generator") -> "tuple[Turn, Result]":
        """Return the turn after an action with a random result, and the result.

        action: a legal action, or an equal value.
        rng: the random number generator.

        The result is `turn.results(action).sample(1, rng)[0]`, but the action is checked only once.
        Raises `IllegalError` for an illegal action.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> after, losses = turn.play_action(Attack("Peru", "Brazil", 3), np.random.default_rng(1))
        >>> losses, after == turn.after(Attack("Peru", "Brazil", 3), losses)
        (Losses(attackers=1, defenders=1), True)
        """
        legal = find_legal_action(self, action)
        (result,) = self._compute_results(legal).sample(1, rng)
        return self.apply_legal(legal, result), result

    def apply_legal(self, action: Action, result: Result) -> "Turn":
        """Return the turn after an action, without validation.

        action: a legal action.
        result: a possible result of the action; `None` for an action without dice or cards.
        """
        return self._apply(action, result)._end_if_won(self)

    def _end_if_won(self, before: "Turn") -> "Turn":
        """Return the turn, which ends if the action since `before` has won the game.

        After a conquest, the turn ends once armies have moved in.
        """
        if self.phase == "over" or self.winner is None or before.winner is not None:
            return self
        if self.phase == "advance":
            return self.replace_state(self.state._replace(then="over"))
        return self.replace_state(self.state._replace(phase="over", place=0, first=0))

    def _apply(self, action: Action, result: Result) -> "Turn":
        """Return the turn after a legal action, without the end of a turn that wins the game."""
        match action, result:
            case Attack(), Throw():
                return self.replace_state(
                    self.state._replace(phase="defend", pending=action, throw=result)
                )
            case Attack() | Defend(), Losses():
                attack = action if isinstance(action, Attack) else self.pending
                return self._lose_armies(cast(Attack, attack), *result)
            case Reveal(), Hand():
                hand = self.hand - Hand(unknown=result.number) + result
                return self._replace_hand(hand)._enter("trade")
            case Trade(), _:
                return self._trade(action)
            case Place(), _:
                return self._place(action)
            case Advance(), _:
                return self._advance(action.armies)
            case Fortify(), _:
                v, to = self.setting.index[action.start], self.setting.index[action.to]
                return self.replace_state(
                    self.state._replace(armies=_move_armies(self.armies, v, to, action.armies))
                )._end_turn()
        if self.phase == "trade":
            return self._enter("place")
        if self.phase == "attack" and any(list_fortifications(self)):
            return self.replace_state(self.state._replace(phase="fortify"))
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
            for attack in list_attacks(self, start, to)
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
        legal = find_legal_action(self, attack)
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

    def compute_dice_limits(self, start: str, to: str) -> tuple[tuple[int, ...], int]:
        """Return the legal numbers of attack dice, and the largest legal number of defence dice.

        start, to: the attacking and the attacked territory.

        Raises `IllegalError` with the reason if the attack is illegal.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
        >>> turn.compute_dice_limits("Peru", "Brazil")
        ((3, 2, 1), 2)
        """
        attacks = list_attacks(self, start, to)
        if not attacks:
            raise refuse_attack(self, start, to)
        c = self.setting.index[attacks[0].to]
        _, defence = self.setting.kernels[c].count_dice(attacks[0].dice, self.armies[c])
        return tuple(attack.dice for attack in attacks), defence

    def has_single_rolls(self, to: str) -> bool:
        """Return whether attacks on a territory are single rolls rather than whole battles.

        to: the attacked territory.
        """
        return not self.setting.has_whole_battles(self.setting.index[self.board.find(to)])

    def has_fixed_defence(self, to: str) -> bool:
        """Return whether attacks on a territory are single rolls with known defence dice.

        to: the attacked territory.
        """
        kernel = self.setting.kernels[self.setting.index[self.board.find(to)]]
        return self.has_single_rolls(to) and kernel.rules.mode.dice_chosen_first

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
        attacks = list_attacks(self, *names)
        if not attacks:
            raise refuse_attack(self, *names)
        v, c = map(self.setting.index.__getitem__, names)
        mine, theirs, garrison = self.armies[v], self.armies[c], self.setting.garrisons[v]
        left = read_int(left, f"armies left on {names[0]}", minimum=garrison, maximum=mine)
        defenders = read_int(defenders, f"armies left on {names[1]}", maximum=theirs)
        lost, killed = mine - left, theirs - defenders
        if their_dice is not None and dice is None:
            raise MalformedError("dice must be given with their_dice, the dice of a single roll")
        if dice is not None:
            number = read_int(dice, "dice", minimum=1, maximum=attacks[0].dice)
            if their_dice is None:
                fit = self.list_dice(*names, lost, killed)
            else:
                losses = Losses(lost, killed)
                if self._read_reduced_dice(attacks[0], their_dice) is None:
                    raise IllegalError(
                        "their_dice must be left out if the attacked player rolls as usual, "
                        f"got {their_dice}"
                    )
                fit = tuple(
                    attack.dice for attack in attacks if losses in self.results(attack, their_dice)
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
        if self.setting.has_whole_battles(c):
            return self.after(attacks[0], (lost, killed))
        if left == garrison and not defenders:
            raise IllegalError(
                f"armies left on {names[0]} must be more than {garrison} when {names[1]} is taken, "
                f"got {left}"
            )
        return self._lose_armies(attacks[0], lost, killed)._end_if_won(self)

    def _lose_armies(self, attack: Attack, lost: int, killed: int) -> "Turn":
        """Return the turn after losses; a conquest also moves in the required minimum of armies."""
        v, c = self.index_ends(attack)
        armies = list(self.armies)
        armies[v] -= lost
        armies[c] -= killed
        if armies[c]:
            return self.replace_state(
                self.state._replace(phase="attack", armies=tuple(armies), pending=None, throw=None)
            )
        least = min(self.find_choice(attack).least, armies[v] - self.setting.garrisons[v])
        owners = _replace_entry(self.owners, c, self.player)
        return self.replace_state(
            self.state._replace(
                phase="advance",
                owners=owners,
                armies=_move_armies(tuple(armies), v, c, least),
                pending=attack,
                throw=None,
                cards_due=self._count_conquest_cards(),
            )
        )._finish_conquest(self.owners[c])

    def _count_conquest_cards(self) -> int:
        """Return the number of cards to draw at the end of the turn after one more conquest."""
        return min(self.cards_due + 1, DECK.number) if self.trade.has_card_per_conquest else 1

    def _finish_conquest(self, loser: str) -> "Turn":
        """Return the turn after a conquest; the player gets the cards of an eliminated player."""
        if loser in self.owners:
            return self.replace_state(self.state._replace(then="attack"))
        new = self._eliminate(loser) if loser in self.players else self
        takes_cards = new.hand.number > self.hand.number
        must = takes_cards and new.hand.number >= self.trade.traded_at_once
        return new.replace_state(new.state._replace(then="trade" if must else "attack"))

    def _eliminate(self, loser: str) -> "Turn":
        """Return the turn after an elimination; the player gets the cards of the loser."""
        after = self.victory.apply_elimination(self, loser)
        new = self.replace_state(self.state._replace(victory=after))
        if self.cards is None:
            return new
        taken = self.cards.get(loser, Hand())
        rest = FrozenDict({name: hand for name, hand in self.cards.items() if name != loser})
        new = new.replace_state(new.state._replace(cards=rest))
        return new._replace_hand(self.hand + taken)

    def _advance(self, armies: int) -> "Turn":
        assert self.pending is not None  # noqa: S101 # an attack is pending in this phase
        v, c = self.index_ends(self.pending)
        return self.replace_state(
            self.state._replace(
                phase=self.then,
                armies=_move_armies(self.armies, v, c, armies - self.armies[c]),
                pending=None,
                then="attack",
            )
        )

    def _place(self, action: Place) -> "Turn":
        t, left = self.setting.index[action.territory], self.place - action.armies
        return self.replace_state(
            self.state._replace(
                phase="place" if left else "attack",
                place=left,
                first=t + 1 if left else 0,
                armies=_replace_entry(self.armies, t, self.armies[t] + action.armies),
            )
        )

    def _trade(self, action: Trade) -> "Turn":
        new = self._replace_hand(self.hand - action.cards)
        if action.territory:
            t = self.setting.index[action.territory]
            more = _replace_entry(self.armies, t, self.armies[t] + self.trade.pictured)
            new = new.replace_state(new.state._replace(armies=more, pictured=True))
        brought = self.place + self.trade.worth(action.cards)
        new = new.replace_state(new.state._replace(place=brought, trade=self.trade.next()))
        if self.trade.is_nuclear:
            struck = map(self.setting.index.__getitem__, action.cards.territories)
            new = new._strike_territories(frozenset(struck))
        return new if new.phase == "over" else new._enter("trade")

    def _strike_territories(self, struck: frozenset[int]) -> "Turn":
        """Return the turn after territories have become neutral, with one army each.

        First the territories of other players become neutral, and then, unless the player has won,
        the player's own territories. The turn ends if the player loses their last territory.
        """
        own = frozenset(self.list_own()) & struck
        new = self._make_neutral(struck - own)
        for loser in self.survivors:
            if loser not in new.owners:
                new = new._eliminate(loser)
        if new.winner is not None:
            return new
        new = new._make_neutral(own)
        if self.player in new.owners:
            return new
        new = new.replace_state(new.state._replace(phase="over", place=0, first=0))
        after = new.victory.apply_elimination(new, self.player)
        return new.replace_state(new.state._replace(victory=after))._replace_hand(Hand())

    def _make_neutral(self, struck: frozenset[int]) -> "Turn":
        """Return the turn with one neutral army on each of some territories."""
        rows = enumerate(zip(self.owners, self.armies, strict=True))
        held = [(NEUTRAL, 1) if t in struck else each for t, each in rows]
        owners, armies = zip(*held, strict=True)
        return self.replace_state(self.state._replace(owners=owners, armies=armies))

    def _replace_hand(self, hand: Hand) -> "Turn":
        assert self.cards is not None  # noqa: S101 # the game has cards
        rest = {name: card for name, card in self.cards.items() if name != self.player}
        return self.replace_state(
            self.state._replace(
                cards=FrozenDict(rest | ({self.player: hand} if hand.number else {}))
            )
        )

    def _enter(self, phase: Literal["trade", "place"]) -> "Turn":
        """Return the turn in a phase, or in a later phase if the player cannot act in this one."""
        if phase == "trade" and may_trade(self):
            return self.replace_state(self.state._replace(phase="trade"))
        return self.replace_state(self.state._replace(phase="place" if self.place else "attack"))

    def _end_turn(self) -> "Turn":
        """Return the finished turn; a player who conquered a territory has drawn their cards."""
        over = self.replace_state(self.state._replace(phase="over"))
        if self.cards is None or not self.cards_due:
            return over
        left = DECK.number - sum(hand.number for hand in self.cards.values())
        return over._replace_hand(self.hand + Hand(unknown=min(self.cards_due, max(left, 0))))

    def next(self) -> "Turn":
        """Return the turn of the next player who owns a territory, with their new armies.

        A player gets the new armies of the rules, by default one army for every three territories,
        rounded down, but at least three, plus the bonuses of the continents that they own. The
        options `keep` and `stay` are reset, because they apply to one player's turn. Raises
        `IllegalError` if this turn is not over, or if the game is over.
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
        setting = self.setting
        if setting.keep or setting.stay:
            setting = replace(setting, keep=FrozenDict({}), stay=())
        place = self.new_armies(following)
        state = self.state._replace(
            player=following, place=place, cards_due=0, pictured=False, first=0
        )
        return self.assemble_turn(setting, state)._enter("trade")

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
        return max(self.rules.count_new_armies(len(owned)) + bonus, 0)

    # Changes of options, odds, and play by a policy.

    def with_options(
        self, *, rules: Rules | str | None = None, **options: Unpack[ChangeableOptions]
    ) -> "Turn":
        """Return the turn with other rules, constraints or new armies.

        rules, place, keep, rules_of, stay, fortify, whole_battles, victory: the same as for
            `Turn`; `None` keeps the current value.

        Raises `IllegalError` for new armies in the phases `defend`, `advance`, `fortify` and
        `over`.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2;attack")
        >>> more = turn.with_options(place=4)
        >>> more.phase, more.place
        ('place', 4)
        """
        check_option_names(options, ChangeableOptions)
        setting, state = self.setting, self.state
        place, victory = options.pop("place", None), options.pop("victory", None)
        changes = {name: value for name, value in options.items() if value is not None}
        if changes or rules is not None:
            new_options = cast(TurnOptions, {**setting.__getstate__(), **changes})
            new_rules = self.rules if rules is None else rules
            setting = read_setting(self.board, self.player, self.owners, new_rules, new_options)
        if place is not None:
            state = self._set_new_armies(read_int(place, "place", 0, MAX_NEW_ARMIES))
        new = self.assemble_turn(setting, state)
        if victory is not None:
            with add_parameter("victory"):
                condition = read_victory_condition(victory).resolve_names(new)
            new = new.replace_state(state._replace(victory=condition))
        if setting is not self.setting:
            new._check_setting()
        return new

    def _set_new_armies(self, armies: int) -> TurnState:
        """Return the state with a number of new armies to place, in a phase that allows them."""
        phase, first = self.phase, self.first
        if armies and phase not in ("trade", "place", "attack"):
            raise IllegalError(
                f"new armies come before or between attacks, not in {phase!r}", parameter="place"
            )
        if phase in ("place", "attack"):
            phase, first = ("place", first) if armies else ("attack", 0)
        return self.state._replace(phase=phase, place=armies, first=first)

    def _check_setting(self) -> None:
        """Raise an error if the rules do not allow the present armies or the attack in progress."""
        refuse_empty_territories(self.board, self.owners, self.armies, self.rules)
        if self.pending is None:
            return
        free = self.replace_state(self.state._replace(phase="attack", pending=None, throw=None))
        if self.phase == "advance":
            check_conquest(free, self.pending)
        elif self.throw not in free.find_choice(find_legal_action(free, self.pending)).throws:
            raise IllegalError("the rules cannot change before the defender has chosen dice")

    def careful_defence(self) -> Defend:
        """Return the defence dice with the best chance to hold the territory.

        The chance assumes that the attacker fights the rest of the battle to its end.
        """
        if self.pending is None or self.throw is None:
            raise IllegalError(f"phase must be 'defend' for defence dice, got {self.phase!r}")
        v, c = self.index_ends(self.pending)
        kernel, spare = self.setting.kernels[c], self.count_spare(v)
        return Defend(1 + kernel.choose_worst_reply(self.throw, spare, self.armies[c]))

    def play(self, policy: Policy, *, seed: int, defender: Policy | None = None) -> PlayedTurn:
        """Play the turn to its end with random dice.

        policy: a function from a turn to a legal action of the player. If the policy has a method
            `follow`, like the AIs of `ai`, this method returns the policy for this turn.
        seed: the seed of the dice. The same seed gives the same dice.
        defender: the policy that chooses defence dice; `None` for `careful_defence`.

        >>> start = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> played = start.play(lambda turn: turn.actions()[0], seed=4)
        >>> for turn, action, result in played.moves:
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
            after, result = turn.play_action(action, rng)
            moves.append(Move(turn, action, result))
            turn = after
        return PlayedTurn(tuple(moves), turn)

    def decide(self, policy: Policy, defender: Policy | None = None) -> Action:
        """Return the next action, chosen by the policy of the player who acts.

        policy, defender: the same as for `play`.
        """
        if self.phase != "defend":
            return find_legal_action(self, policy(self))
        return (
            self.careful_defence() if defender is None else find_legal_action(self, defender(self))
        )

    # The text of a turn.

    def to_code(self) -> str:
        """Return the turn as a one-line code, which `from_code` reads.

        The code contains the position, the phase, and each option that differs from its default.

        >>> from iacta.board.built_in import classic_board
        >>> position = Position(classic_board(), "red", {"Peru": ("red", 3), "Brazil": ("blue", 2)})
        >>> Turn(position, "capital", place=4, keep={"Peru": 2}).to_code()
        '1;classic;red;Peru:red:3,Brazil:blue:2;place;rules=capital;place=4;keep=Peru:2'
        """
        return self._code

    @cached_property
    def _code(self) -> str:
        return write_turn_code(self)

    def to_toml(self) -> str:
        """Return the turn as TOML, which `iacta.game.moment.read_moment` reads.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2;place;place=4")
        >>> turn.to_toml().splitlines()[:3]
        ['board = "classic"', 'player = "red"', 'place = 4']
        """
        return write_turn_toml(self)

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
        return make_turn(cls, *read_turn_code(text, board))


@lru_cache(maxsize=1024)
def _distribute_hands(cards: int, deck: Hand) -> Distribution[Hand]:
    """Return the distribution of a hand of a given size that is drawn from a deck."""
    return Distribution.from_pairs(list_hands(cards, deck))


NOTHING: Distribution[Any] = Distribution([None])


@lru_cache(maxsize=65536)
def _list_results(
    kernel: Kernel, is_whole: bool, able: int, defenders: int, spare: int, dice: int
) -> Distribution[Any]:
    """Return the distribution of the results of an attack, for the arguments of a `BattleKey`."""
    choice = find_battle_choice(kernel, is_whole, able, defenders, spare, dice)
    return _distribute_results(choice)


@lru_cache(maxsize=4096)
def _distribute_results(choice: Choice) -> Distribution[Any]:
    """Return the distribution of losses, or of throws if the defender then chooses dice."""
    if any(len(throw.options) > 1 for throw in choice.throws):
        return Distribution.from_pairs((throw, throw.chance) for throw in choice.throws)
    return Distribution.from_pairs(
        (Losses(*losses), throw.chance * p)
        for throw in choice.throws
        for p, *losses in throw.options[0]
    )


def _distribute_losses(results: Iterable[RollResult]) -> Distribution[Any]:
    """Return the distribution of the losses in a roll."""
    return Distribution.from_pairs((Losses(*losses), p) for p, *losses in results)


def _find_result(result: object, results: Distribution[Any]) -> Result:
    """Return the equal possible result, or `None`."""
    known = result if isinstance(result, tuple) else None
    return next((each for each in results if each == known), None)


def _replace_entry(row: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    return (*row[:index], value, *row[index + 1 :])


def _move_armies(armies: tuple[int, ...], start: int, to: int, number: int) -> tuple[int, ...]:
    return _replace_entry(
        _replace_entry(armies, start, armies[start] - number), to, armies[to] + number
    )
