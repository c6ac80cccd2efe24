"""The kinds of parameters about cards: hands, and the armies for sets."""

import re
from collections.abc import Mapping
from typing import ClassVar

from iacta.forms.parameter_kinds import Kind, Schema
from iacta.game.cards import SYMBOLS, Hand, Sets
from iacta.game.codes import format_fixed_sets, format_sets, list_house_rules, read_sets
from iacta.inputs.checks import parse_int, quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError

MAX_CARDS = 500  # the largest number of cards of a deck

# The words for the fields of a hand; the first word of a field is printed.
WORDS = {
    **{symbol: symbol for symbol in SYMBOLS},
    "wild": "jokers",
    "wilds": "jokers",
    "wildcard": "jokers",
    "wildcards": "jokers",
    "joker": "jokers",
    "jokers": "jokers",
    "unknown": "unknown",
    "hidden": "unknown",
}


def format_cards(hand: Hand) -> str:
    """Return the cards of a hand in words; `"none"` for an empty hand.

    >>> format_cards(Hand(infantry=2, jokers=1))
    '2 infantry, 1 wild'
    """
    names = {field: word for word, field in reversed(WORDS.items())}
    counts = zip(hand._fields, hand.counts, strict=False)
    return ", ".join(f"{number} {names[field]}" for field, number in counts if number) or "none"


class HeldCards(Kind):
    """The cards of a hand or a deck: numbers of infantry, cavalry, artillery, wild, unknown.

    A name without a number is one card.

    >>> HeldCards().parse("2 infantry, wild", "hand"), HeldCards().parse("3", "hand")
    (Hand(infantry=2, jokers=1), Hand(unknown=3))
    """

    metavar: ClassVar[str] = "CARDS"

    def parse(self, text: str, name: str) -> Hand:
        counts: dict[str, int] = {}
        for part in [] if text.strip() in ("", "none") else text.split(","):
            bare = part.strip()
            bare = f"1 {bare}" if bare.lower() in WORDS else bare
            found = re.fullmatch(r"(\S+)(?:\s+(\w+))?", bare)
            word = "unknown" if found is None or found[2] is None else found[2].lower()
            if found is None or word not in WORDS or not re.fullmatch(r"[+-]?\d+", found[1]):
                raise IllegalError(
                    f"{name} must be cards such as '2 infantry, 1 wild', got {quote(text)}"
                )
            number = parse_int(found[1], name, 0, MAX_CARDS)
            counts[WORDS[word]] = counts.get(WORDS[word], 0) + number
        numbers = [counts.get(field, 0) for field in Hand._fields[:-1]]
        return Hand._make((*numbers, ()))

    def check(self, value: object, name: str) -> Hand:
        if isinstance(value, Hand):
            return value
        if isinstance(value, str):
            return self.parse(value, name)
        if isinstance(value, int):
            return Hand(unknown=read_int(value, name, 0, MAX_CARDS))
        if isinstance(value, Mapping):
            return self.parse(", ".join(f"{n} {word}" for word, n in value.items()), name)
        raise MalformedError(f"{name} must be cards, got {quote(value)}")

    def format(self, value: Hand) -> str:
        return format_cards(value)

    def to_json(self, value: Hand) -> str:
        return format_cards(value)

    def schema(self) -> Schema:
        return {"type": ["string", "integer"]}


class Trades(Kind):
    """The armies for the next sets of cards, or `fixed` for the fixed values of the app.

    Other fixed values follow `fixed`, as in `fixed/6/8/4/10/12`: the armies for three infantry
    cards, for three cavalry cards, for three artillery cards, for one card of each symbol, and for
    a joker with two cards of one symbol. House rules come last, in any order: with `at6` a player
    must trade when they hold six cards, and with `own3` a card that pictures one of the player's
    territories brings three armies. With `nuclear`, a set brings no armies, and the territories on
    its cards become neutral.

    >>> Trades().parse("10,12", "trade").nth(2), Trades().parse("fixed", "trade").is_fixed
    (15, True)
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Sets:
        return read_sets(text, name)

    def check(self, value: object, name: str) -> Sets:
        if isinstance(value, Sets):
            return value
        if isinstance(value, str):
            return self.parse(value, name)
        return read_sets([str(each) for each in read_list(value, name, "numbers")], name)

    def format(self, value: Sets) -> str:
        if value.is_nuclear or not value.is_fixed:
            return format_sets(value)
        return ",".join([format_fixed_sets(value), *list_house_rules(value)])

    def to_json(self, value: Sets) -> str:
        return self.format(value)
