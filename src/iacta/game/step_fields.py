"""The fields of recorded steps: territories, armies and cards."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from iacta.board import Board, Holding
from iacta.game.actions import Advance, Attack, Trade
from iacta.game.cards import Hand
from iacta.game.turn import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.rules.roll import Losses

CARD_KEYS = ("infantry", "cavalry", "artillery", "jokers", "territories")
Step: TypeAlias = Mapping[str, Any]


def read_territory(turn: Turn, given: object, name: str) -> str:
    """Read a territory, given by name or by index in the order of the board.

    name: the name of the value, for error messages.
    """
    names = turn.board.territories
    if isinstance(given, str):
        return turn.board.find(given)
    if not isinstance(given, int) or isinstance(given, bool):
        raise MalformedError(f"{name} must be a territory, got {quote(given)}")
    return names[read_int(given, name, maximum=len(names) - 1)]


def read_border(turn: Turn, step: Step) -> tuple[str, str]:
    """Return the names of the territories `from` and `to` of a step."""
    start, to = (read_territory(turn, step.get(name), name) for name in ("from", "to"))
    return start, to


def name_territories(board: Board, step: Step) -> dict[str, Any]:
    """Return a step with the names of its territories instead of their numbers, for logs.

    >>> board = Board.from_edges("two", [("A", "B")])
    >>> name_territories(board, {"do": "place", "on": [[0, 3]]})
    {'do': 'place', 'on': [['A', 3]]}
    """

    def name(given: object) -> object:
        return board.territories[given] if isinstance(given, int) else given

    named = {key: name(given) if key in ("from", "to") else given for key, given in step.items()}
    if "on" in step:
        named["on"] = [[name(place), *held] for place, *held in step["on"]]
    return named


def read_losses(turn: Turn, step: Step) -> Losses:
    """Return the losses of both sides in a recorded battle.

    turn: the turn before the battle.
    step: the battle, with the keys `from`, `to`, `left` and `their_left`.
    """
    left, their_left = (read_int(step.get(name), name) for name in ("left", "their_left"))
    mine, theirs = map(turn.armies_on, read_border(turn, step))
    return Losses(mine - left, theirs - their_left)


def find_attack(turn: Turn, start: str, to: str) -> Attack | None:
    """Return the legal attack from `start` on `to` with the most dice, or `None`."""
    known = (action for action in turn.actions() if isinstance(action, Attack))
    return next((attack for attack in known if (attack.start, attack.to) == (start, to)), None)


def count_reduced_dice(turn: Turn, start: str, to: str, number: int) -> int | None:
    """Return `number` if it is less than the usual number of defence dice, otherwise `None`.

    start, to: the attacking and the attacked territory.
    number: the number of defence dice that were rolled.
    """
    usual = turn.compute_dice_limits(start, to)[1]
    return number if number < usual and turn.has_fixed_defence(to) else None


def list_advances(turn: Turn) -> list[int]:
    """Return the legal numbers of armies that may advance into the conquered territory."""
    return [action.armies for action in turn.actions() if isinstance(action, Advance)]


def read_corrections(turn: Turn, given: object) -> dict[str, Holding]:
    """Read the corrections: a mapping from territories to their new owners and armies.

    given: rows, each with a territory, its owner (`""` for nobody) and its armies.
    """
    found = dict[str, Holding]()
    for entry in read_list(given, "on", "rows of a territory, an owner and armies"):
        row = read_list(entry, "on", "a territory, an owner and armies")
        if len(row) != 3 or not isinstance(row[1], str):
            raise MalformedError(
                "on must be a list of rows, each with a territory, an owner and armies, "
                f"got {quote(entry)}"
            )
        name = read_territory(turn, row[0], "on")
        armies = read_int(row[2], f"armies on {name}")
        if armies and not row[1]:
            raise IllegalError(f"{name} must have an owner or no armies, got {armies}")
        found[name] = Holding(row[1], armies)
    return found


def record_battle(start: str, to: str, after: Turn) -> dict[str, Any]:
    """Return the step of a battle, without dice.

    start, to: the attacking and the attacked territory.
    after: the turn after the battle, before armies move in.
    """
    left, other = map(after.armies_on, (start, to))
    is_taken = after.owner_of(to) == after.player
    left, other = (left + other, 0) if is_taken else (left, other)
    return {"do": "attack", "from": start, "to": to, "left": left, "their_left": other}


def read_trade(turn: Turn, step: Step) -> Trade:
    """Return the trade of a step `trade`."""
    given = step.get("territory")
    name = "" if given in (None, "") else read_territory(turn, given, "territory")
    return Trade(read_cards(step.get("cards")), name)


def record_cards(cards: Hand) -> dict[str, Any]:
    """Return known cards as JSON, for `read_cards`.

    >>> record_cards(Hand(infantry=2, territories=("Peru",)))
    {'infantry': 2, 'territories': ['Peru']}
    """
    numbers = {name: number for name, number in cards._asdict().items() if number}
    return numbers | ({"territories": [*cards.territories]} if cards.territories else {})


def read_cards(given: object) -> Hand:
    """Read known cards from JSON: a mapping from symbols to numbers, and a list of territories."""
    if not isinstance(given, Mapping):
        raise MalformedError(f"cards must be a JSON object, got {quote(given)}")
    for name in given:
        if name not in CARD_KEYS:
            raise MalformedError(f"cards must be {', '.join(CARD_KEYS)}, got {quote(name)}")
    hand = Hand(**given)
    return hand._replace(territories=tuple(sorted(hand.territories)))


def describe_cards(cards: Hand) -> str:
    """Describe known cards, such as "2 infantry, 1 joker"."""
    words = [f"{number} {name}" for name, number in zip(CARD_KEYS[:3], cards, strict=False)]
    words.append(f"{cards.jokers} {'joker' if cards.jokers == 1 else 'jokers'}")
    return ", ".join(word for word in words if not word.startswith("0"))


def describe_gain(turn: Turn, trade: Trade) -> str:
    """Return the gain from a trade in words, such as "for 4 armies, and 2 more on Peru"."""
    if turn.trade.is_nuclear:
        return f"to make {' and '.join(trade.cards.territories) or 'no territory'} neutral"
    armies = turn.trade.worth(trade.cards)
    words = f"for {armies} {'army' if armies == 1 else 'armies'}"
    if trade.territory:
        words += f", and {turn.trade.pictured} more on {trade.territory}"
    return words
