"""The legal actions of a turn in each phase, and the reasons why an attack is illegal."""

from collections.abc import Iterator
from functools import partial
from typing import TypeVar, cast

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
    Reveal,
    Trade,
)
from iacta.game.cards import MUST_TRADE, SET_SIZE, Hand, list_card_sets, list_named_sets
from iacta.game.state import TurnData
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError

A = TypeVar("A", bound=Action)

REFUSED_ATTACKS = {
    "trade": "trade cards first, or end the trade",
    "place": "place the new armies first",
    "defend": "the defender chooses dice first",
    "fortify": "the attacks are over",
    "over": "the turn is over",
}


def list_actions(turn: TurnData) -> Actions:
    """Return the legal actions of a turn; long parts of the sequence are lazy."""
    if turn.phase == "trade":
        return Actions(_list_trades(turn))
    if turn.phase == "place":
        return Actions(_list_placements(turn))
    if turn.phase == "attack":
        return Actions([*_list_attacks(turn), (EndPhase(),)])
    if turn.phase == "defend" and turn.throw is not None:
        return Actions([[Defend(k + 1) for k in range(len(turn.throw.options))]])
    if turn.phase == "advance" and turn.pending is not None:
        v, c = turn.index_ends(turn.pending)
        least = turn.armies[c]
        most = turn.setting.kernels[c].rules.limit_advance(least + turn.count_spare(v))
        return Actions([Numbered(Advance, range(least, max(least, most) + 1))])
    if turn.phase == "fortify":
        return Actions([*list_fortifications(turn), (EndPhase(),)])
    return Actions([])


def list_attacks(turn: TurnData, actions: Actions, start: str, to: str) -> list[Attack]:
    """Return the attacks from one territory on another among legal actions, most dice first."""
    pair = turn.board.find(start), turn.board.find(to)
    return [
        action
        for action in actions
        if isinstance(action, Attack) and (action.start, action.to) == pair
    ]


def find_legal_action(turn: TurnData, actions: Actions, action: A) -> A:
    """Return the legal action that equals an action.

    turn: the turn.
    actions: its legal actions.
    action: the action.

    Raises `IllegalError`, with the reason for an illegal attack.
    """
    if not isinstance(action, Action):
        raise IllegalError(f"action must be an action class of iacta.game, got {quote(action)}")
    own = actions.find(action)
    if own is not None:
        return cast(A, own)
    near: list[Action] = [*actions[:1]]
    if isinstance(action, Attack) and turn.phase == "attack":
        pair = action.start, action.to
        if all(isinstance(name, str) for name in pair):
            near = [*list_attacks(turn, actions, *pair)]
            if not near:
                raise refuse_attack(turn, *pair)
    few = f", such as {near[0]!r}" if near else ""
    raise IllegalError(
        f"action must be legal in the phase {turn.phase!r}{few}, got {quote(action)}"
    )


def check_conquest(turn: TurnData, attack: Attack) -> None:
    """Raise `IllegalError` unless an attack may have conquered its territory in the turn."""
    v, c = turn.index_ends(attack)
    is_own = turn.owners[v] == turn.owners[c] == turn.player
    is_conquest = is_own and c in turn.setting.borders[v] and turn.armies[c] > 0
    if not is_conquest or turn.count_spare(v) < 0:
        raise IllegalError(f"attack must be a conquest in the phase 'advance', got {attack!r}")


def may_trade(turn: TurnData) -> bool:
    """Return whether the player can trade a set, or can reveal cards that may contain a set."""
    hand = turn.hand
    # After a conquest, players trade only because they have eliminated somebody.
    least = MUST_TRADE if turn.conquered else SET_SIZE
    return hand.number >= least and (hand.unknown > 0 or bool(list_card_sets(hand)))


def _list_trades(turn: TurnData) -> list[list[Action]]:
    hand = turn.hand
    reveal: list[Action] = [Reveal()] if hand.unknown else []
    stop: list[Action] = [EndPhase()] if hand.number < MUST_TRADE else []
    if not turn.symbols:
        return [reveal, [Trade(each) for each in list_card_sets(hand)], stop]
    trades: list[Action] = [
        Trade(cards, territory)
        for cards in list_named_sets(hand, turn.symbols)
        for territory in _list_pictured(turn, cards) or ("",)
    ]
    return [reveal, trades, stop]


def _list_pictured(turn: TurnData, cards: Hand) -> tuple[str, ...]:
    """Return the pictured territories that may get two extra armies from a set."""
    if turn.pictured:
        return ()
    index = turn.setting.index
    return tuple(t for t in cards.territories if turn.owners[index[t]] == turn.player)


def _list_placements(turn: TurnData) -> Iterator[Numbered]:
    """Yield the placements on each territory; the last territory must get all other armies."""
    own = [t for t in turn.list_own() if t >= turn.first]
    for t in own:
        least = turn.place if t == own[-1] else 1
        yield Numbered(partial(Place, turn.board.territories[t]), range(least, turn.place + 1))


def _list_attacks(turn: TurnData) -> Iterator[list[Action]]:
    names, setting = turn.board.territories, turn.setting
    player, owners, armies = turn.player, turn.owners, turn.armies
    for v in turn.list_own():
        if armies[v] > setting.garrisons[v] and not setting.immobile[v]:
            for c in setting.borders[v]:
                if owners[c] != player and armies[c]:
                    numbers = turn.list_attack_dice(v, c)
                    yield [Attack(names[v], names[c], dice) for dice in numbers]


def list_fortifications(turn: TurnData) -> Iterator[Numbered]:
    """Yield the last moves of armies that would be legal in the phase `fortify`."""
    names, setting = turn.board.territories, turn.setting
    if turn.fortify != "none":
        for v in turn.list_own():
            spare = turn.count_spare(v)
            if spare > 0 and not setting.immobile[v]:
                for to in _find_reach(turn, v):
                    yield Numbered(partial(Fortify, names[v], names[to]), range(1, spare + 1))


def list_fortify_limits(turn: TurnData) -> dict[tuple[str, str], int]:
    """Return the largest number of armies for each last move that is legal in the phase `fortify`.

    The keys are pairs of the start and the end. Each smaller number from 1 is also legal.
    """
    return {
        (most.start, most.to): most.armies
        for part in list_fortifications(turn)
        if isinstance(most := part[-1], Fortify)
    }


def _find_reach(turn: TurnData, v: int) -> list[int]:
    """Return the territories to which the armies of v may move at the end of the turn."""
    player, owners, borders = turn.player, turn.owners, turn.setting.borders
    reached = [c for c in borders[v] if owners[c] == player]
    if turn.fortify == "connected":
        for near in reached:
            further = (c for c in borders[near] if owners[c] == player)
            reached += [c for c in further if c != v and c not in reached]
    return sorted(reached)


def refuse_attack(turn: TurnData, start: str, to: str) -> IllegalError:
    """Return an exception with the reason why an attack is illegal.

    turn: the turn.
    start, to: the attacking and the attacked territory of an illegal attack, in any spelling.
    """
    start, to = turn.board.find(start), turn.board.find(to)
    return IllegalError(f"{start} cannot attack {to}: {_explain_refusal(turn, start, to)}")


def _explain_refusal(turn: TurnData, start: str, to: str) -> str:
    v, owner, owned = turn.setting.index[start], *map(turn.owner_of, (start, to))
    garrison, armies = turn.setting.garrisons[v], turn.armies[v]
    if turn.phase == "advance" and turn.pending is not None:
        return f"move armies into {turn.pending.to} first"
    if turn.phase != "attack":
        return REFUSED_ATTACKS[turn.phase]
    if owner != turn.player:
        return f"it is not {turn.player}'s"
    if owned == turn.player:
        return f"{turn.player} owns it already"
    if to not in turn.board.neighbours(start):
        return "no border leads there"
    if armies <= garrison:
        return f"{garrison} must stay, and it has {armies}"
    return "its armies must stay" if owned else "it is empty"
