"""The legal actions of a turn in each phase, and the reasons why an attack is illegal."""

from collections.abc import Iterable, Iterator, Sequence
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
from iacta.game.cards import SET_SIZE, Hand, list_card_sets, list_named_sets
from iacta.game.state import TurnData
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError

A = TypeVar("A", bound=Action)

END = (EndPhase(),)
REFUSED_ATTACKS = {
    "trade": "trade cards first, or end the trade",
    "place": "place the new armies first",
    "defend": "the defender chooses dice first",
    "fortify": "the attacks are over",
    "over": "the turn is over",
}


def list_actions(turn: TurnData) -> Actions:
    """Return the legal actions of a turn; long parts of the sequence are lazy."""
    return Actions(_list_parts(turn))


def _list_parts(turn: TurnData) -> Iterable[Sequence[Action]]:
    """Return consecutive parts of the sequence of legal actions."""
    if turn.phase == "trade":
        return _list_trades(turn)
    if turn.phase == "place":
        return _list_placements(turn)
    if turn.phase == "attack":
        return [*_list_attacks(turn, enumerate(turn.setting.borders)), END]
    if turn.phase == "defend" and turn.throw is not None:
        return [[Defend(k + 1) for k in range(len(turn.throw.options))]]
    if turn.phase == "advance" and turn.pending is not None:
        v, c = turn.index_ends(turn.pending)
        least = turn.armies[c]
        most = turn.setting.kernels[c].rules.limit_advance(least + turn.count_spare(v))
        return [Numbered(Advance, range(least, max(least, most) + 1))]
    if turn.phase == "fortify":
        return [*list_fortifications(turn), END]
    return []


def list_attacks(turn: TurnData, start: str, to: str) -> tuple[Attack, ...]:
    """Return the legal attacks from one territory on another, most dice first."""
    v, c = (turn.setting.index[turn.board.find(name)] for name in (start, to))
    if turn.phase != "attack" or c not in turn.setting.borders[v]:
        return ()
    (attacks,) = _list_attacks(turn, [(v, (c,))]) or [()]
    return attacks


def find_legal_action(turn: TurnData, action: A) -> A:
    """Return the legal action that equals an action.

    turn: the turn.
    action: the action.

    Raises `IllegalError`, with the reason for an illegal attack.
    """
    if not isinstance(action, Action):
        raise IllegalError(f"action must be an action class of iacta.game, got {quote(action)}")
    own = Actions(_list_similar(turn, action)).find(action)
    if own is not None:
        return cast(A, own)
    near: list[Action] = list_actions(turn)[:1]
    if isinstance(action, Attack) and turn.phase == "attack":
        ends = action.start, action.to
        if all(isinstance(name, str) for name in ends):
            near = [*list_attacks(turn, *ends)]
            if not near:
                raise refuse_attack(turn, *ends)
    few = f", such as {near[0]!r}" if near else ""
    raise IllegalError(
        f"action must be legal in the phase {turn.phase!r}{few}, got {quote(action)}"
    )


def _list_similar(turn: TurnData, action: Action) -> Iterable[Sequence[Action]]:
    """Return some legal actions, which include the given action if it is legal."""
    phase = turn.phase
    if isinstance(action, Attack):
        if phase == "attack" and isinstance(action.start, str) and isinstance(action.to, str):
            v, c = map(turn.setting.index.get, (action.start, action.to))
            if v is None or c is None or c not in turn.setting.borders[v]:
                return ()
            return _list_attacks(turn, [(v, (c,))])
    elif isinstance(action, EndPhase):
        if phase in ("attack", "fortify"):
            return (END,)
    elif phase == "place" and isinstance(action, Place) and isinstance(action.territory, str):
        return _list_placements(turn, action.territory)
    elif phase == "fortify" and isinstance(action, Fortify) and isinstance(action.start, str):
        return list_fortifications(turn, action.start)
    return _list_parts(turn)


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
    least = turn.trade.must_trade if turn.cards_due else SET_SIZE
    return hand.number >= least and (hand.unknown > 0 or bool(list_card_sets(hand, turn.trade)))


def _list_trades(turn: TurnData) -> list[list[Action]]:
    hand = turn.hand
    reveal: list[Action] = [Reveal()] if hand.unknown else []
    stop: list[Action] = [EndPhase()] if hand.number < turn.trade.must_trade else []
    if not turn.symbols:
        return [reveal, [Trade(each) for each in list_card_sets(hand, turn.trade)], stop]
    trades: list[Action] = [
        Trade(cards, territory)
        for cards in list_named_sets(hand, turn.symbols, turn.trade)
        for territory in _list_pictured(turn, cards) or ("",)
    ]
    return [reveal, trades, stop]


def _list_pictured(turn: TurnData, cards: Hand) -> tuple[str, ...]:
    """Return the pictured territories that may get two extra armies from a set."""
    if turn.pictured or turn.trade.is_nuclear:
        return ()
    index = turn.setting.index
    return tuple(t for t in cards.territories if turn.owners[index[t]] == turn.player)


def _list_placements(turn: TurnData, territory: str | None = None) -> Iterator[Numbered]:
    """Yield the placements on each territory; the last territory must get all other armies.

    territory: the territory that gets armies; `None` for all territories.
    """
    own = [t for t in turn.list_own() if t >= turn.first]
    for t in own:
        if territory in (None, name := turn.board.territories[t]):
            least = turn.place if t == own[-1] else 1
            yield Numbered(partial(Place, name), range(least, turn.place + 1))


def _list_attacks(
    turn: TurnData, borders: Iterable[tuple[int, Iterable[int]]]
) -> list[tuple[Attack, ...]]:
    """Return the legal attacks over borders: for each border, most dice first.

    borders: pairs of an attacking territory and its neighbours, as indices.
    """
    setting, (player, _, owners, armies, *_) = turn.setting, turn.state
    garrisons, immobile, list_attacks = setting.garrisons, setting.immobile, setting.list_attacks
    return [
        list_attacks(v, c, armies[v], armies[c])
        for v, neighbours in borders
        if owners[v] == player and armies[v] > garrisons[v] and not immobile[v]
        for c in neighbours
        if owners[c] != player
    ]


def list_fortifications(turn: TurnData, start: str | None = None) -> Iterator[Numbered]:
    """Yield the last moves of armies that would be legal in the phase `fortify`.

    start: the territory from which armies move; `None` for all territories.
    """
    names, setting = turn.board.territories, turn.setting
    if turn.fortify != "none":
        for v in turn.list_own():
            spare = turn.count_spare(v)
            if spare > 0 and not setting.immobile[v] and start in (None, names[v]):
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
    able = armies - turn.rules.garrison
    kernel = turn.setting.kernels[turn.setting.index[to]]
    most, theirs = kernel.count_dice(able, turn.armies_on(to))
    if not most:
        dice = "die" if able == 1 else "dice"
        return f"the rules allow no roll of {able} {dice} against {theirs}"
    return "its armies must stay" if turn.armies_on(to) else "it is empty"
