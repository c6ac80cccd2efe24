"""Hands and missions for the board page: the cards of the player to move, and the public facts."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from iacta.forms.moment import describe_condition, describe_winner
from iacta.forms.sentences import add_noun, capitalise
from iacta.game import EndPhase, Trade, Turn
from iacta.game.action_records import record_action
from iacta.game.cards import KINDS, SYMBOLS, Hand
from iacta.game.missions import Missions
from iacta.game.step_fields import describe_gain

MAX_TRADES_SHOWN = 400  # a hand of many named cards contains thousands of sets
JOKER, UNKNOWN = "joker", "unknown"


def describe_hands(turn: Turn) -> dict[str, Any]:
    """Return the cards of a turn as JSON values, and the player's mission if it is hidden.

    turn: the turn, with the hands of all players.

    `public` is the victory condition without secrets.
    """
    is_secret = turn.victory.is_hidden(turn.player)
    public = turn.replace_state(turn.state._replace(victory=turn.victory.hide_from("")))
    condition = [*describe_condition(public), describe_winner(turn)]
    return {
        "hand": [
            {"key": key, "symbol": key.partition(" ")[0], "territory": territory}
            for key, territory in list_cards(turn, turn.hand)
        ],
        "trades": [_describe_trade(turn, trade) for trade in _list_trades(turn)],
        "must_trade": turn.phase == "trade" and EndPhase() not in turn.actions(),
        "sets": "" if turn.cards is None else describe_sets(turn),
        "mission": _describe_mission(turn) if is_secret else "",
        "public": " ".join(filter(None, condition)),
    }


def encode_seen(turn: Turn) -> str:
    """Return the code of a turn as its player sees it; empty if nothing is hidden from them."""
    seen = turn.seen_by(turn.player)
    return "" if seen is turn else seen.to_code()


def list_cards(turn: Turn, cards: Hand) -> Iterator[tuple[str, int | None]]:
    """Yield the key of each card, such as `"cavalry Peru"`, and the territory that it pictures.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:3;attack;cards=red:1.0.0.1.2")
    >>> [*list_cards(turn, turn.hand)]
    [('infantry', None), ('joker', None), ('unknown', None), ('unknown', None)]
    """
    index = turn.setting.index
    for symbol, number in zip(SYMBOLS, cards[:3], strict=True):
        named = [t for t in cards.territories if turn.symbols[t] == symbol]
        yield from ((f"{symbol} {name}", index[name]) for name in named)
        yield from [(symbol, None)] * (number - len(named))
    yield from [(JOKER, None)] * cards.jokers
    yield from [(UNKNOWN, None)] * cards.unknown


def _list_trades(turn: Turn) -> Iterator[Trade]:
    if turn.phase == "trade":
        trades = (action for action in turn.actions() if isinstance(action, Trade))
        yield from islice(trades, MAX_TRADES_SHOWN)


def _describe_trade(turn: Turn, trade: Trade) -> dict[str, Any]:
    """Return a trade: the keys of its cards, the trade in words, and its step."""
    keys = sorted(key for key, _ in list_cards(turn, trade.cards))
    words = f"Trade {describe_gain(turn, trade)}"
    return {"keys": keys, "words": words, "step": record_action(trade)}


def describe_sets(turn: Turn) -> str:
    """Return a sentence about the armies for sets of cards, and about the duty to trade.

    >>> print(describe_sets(Turn.from_code("1;classic;red;Peru:red:3;attack;cards=red:3")))
    A set is three cards of one kind, or one of each; the next set brings 4 armies.
    """
    if turn.trade.is_nuclear:
        return (
            "A set is three cards of one kind, or one of each. It brings no armies: each territory "
            "on its cards becomes neutral, with one army."
        )
    if turn.trade.is_fixed:
        rows = (
            f"{number} for {'one of each' if kind == (1, 1, 1) else f'3 {symbol}'}"
            for number, kind, symbol in zip(turn.trade.fixed, KINDS, (*SYMBOLS, ""), strict=True)
        )
        joker = turn.trade.joker
        more = [] if joker is None else [f"{joker} for a joker with 2 equal cards"]
        return f"Armies for a set of cards: {', '.join([*rows, *more])}."
    return (
        "A set is three cards of one kind, or one of each; the next set brings "
        f"{add_noun(turn.trade.nth(0), 'army', 'armies')}."
    )


def describe_trade_phase(turn: Turn) -> str:
    """Return a sentence about the phase in which the player trades cards."""
    player = capitalise(turn.player)
    if turn.hand.number >= turn.trade.must_trade:
        return f"{player} has {turn.hand.number} cards and must trade a set."
    return f"{player} may trade cards."


def _describe_mission(turn: Turn) -> str:
    """Return the mission of the player to move, with their progress."""
    assert isinstance(turn.victory, Missions)  # noqa: S101 # only missions are hidden
    _, texts = turn.victory.format_texts()
    text = texts[turn.player].removeprefix("secret ")
    progress = turn.victory.describe_progress(turn, turn.player)
    return f"{text}{f'. So far: {progress}' if progress else ''}"
