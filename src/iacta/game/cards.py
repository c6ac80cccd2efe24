"""Cards: hands, the sets in them, and the armies that sets bring.

The deck has 44 cards: 14 of each of three symbols and two jokers. A set is three cards of a symbol
or one of each, where a joker stands for any symbol, so that five cards are certain to hold one. A
card that nobody has seen is equally likely to be any of those that are in no known hand: cards that
were traded in go back into the deck. Cards may picture a territory each; then they have names.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

from iacta.inputs.checks import quote, read_int, read_row, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.probability.distribution import Distribution

PROGRESSIVE = (4, 6, 8, 10, 12, 15)
STEP = 5
FIXED = (4, 6, 8, 10)  # for the sets of `KINDS`
KINDS = ((3, 0, 0), (0, 3, 0), (0, 0, 3), (1, 1, 1))
MOST_VALUE = 1000  # armies for a set; houses play with tens
MOST_VALUES = 1000  # sets whose armies are listed
DECK_SIZE = 44
FEWEST_TRADED = 3
MUST_TRADE = 5  # cards; a player who holds as many must trade, and after an elimination goes on
TRADED_AT_ONCE = 6  # cards; a player whom an elimination brings as many must trade at once
SYMBOLS = ("infantry", "cavalry", "artillery")
PICTURED = 2  # armies for a territory on a traded card


class _Cards(NamedTuple):
    infantry: int
    cavalry: int
    artillery: int
    jokers: int
    unknown: int
    territories: tuple[str, ...]


class Hand(_Cards):
    """A player's cards, by number.

    infantry, cavalry, artillery: those of each symbol.
    jokers: those that stand for any symbol.
    unknown: those that nobody has seen.
    territories: those pictured on known cards, which are counted by their symbols, too; none where
        cards have no names.

    >>> Hand(infantry=2) + Hand(jokers=1, unknown=2)
    Hand(infantry=2, jokers=1, unknown=2)
    """

    __slots__ = ()

    def __new__(
        cls,
        infantry: int = 0,
        cavalry: int = 0,
        artillery: int = 0,
        jokers: int = 0,
        unknown: int = 0,
        territories: Iterable[str] = (),
    ) -> "Hand":
        """Return a hand of checked numbers and names; `_make` checks nothing."""
        counts = (infantry, cavalry, artillery, jokers, unknown)
        checked = (
            read_int(count, name) for name, count in zip(_Cards._fields, counts, strict=False)
        )
        names = read_row(territories, "territories", "names", DECK_SIZE)
        for name in names:
            if not isinstance(name, str):
                raise MalformedError(f"territories of cards must be names, got {quote(name)}")
        return cls._make((*checked, tuple(names)))

    def __add__(self, other: object) -> "Hand":
        if not isinstance(other, Hand):
            return NotImplemented
        counts = (mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True))
        return Hand._make((*counts, tuple(sorted(self.territories + other.territories))))

    def __sub__(self, other: "Hand") -> "Hand":
        counts = (mine - theirs for mine, theirs in zip(self.counts, other.counts, strict=True))
        left = tuple(each for each in self.territories if each not in other.territories)
        return Hand._make((*counts, left))

    def __repr__(self) -> str:
        counts = (f"{key}={n}" for key, n in self._asdict().items() if n)
        return f"Hand({', '.join(counts)})"

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """The numbers of cards: of each symbol, jokers, and unknown ones."""
        return self[:5]

    @property
    def number(self) -> int:
        """How many cards there are."""
        return sum(self.counts)

    @property
    def known(self) -> "Hand":
        """The cards that are known."""
        return self._replace(unknown=0)


DECK = Hand(14, 14, 14, 2)


def _is_set(symbols: tuple[int, ...], jokers: int) -> bool:
    """Return whether three cards are a set: with a joker they always are."""
    return sum(symbols) + jokers == FEWEST_TRADED and (jokers > 0 or symbols in KINDS)


SETS = tuple(
    Hand(one, two, three, jokers)
    for one, two, three, jokers in product(range(4), range(4), range(4), range(DECK.jokers + 1))
    if _is_set((one, two, three), jokers)
)


def sets_in(hand: Hand) -> tuple[Hand, ...]:
    """Return the different sets that the known cards of a hand hold.

    >>> sets_in(Hand(infantry=2, cavalry=1, jokers=1))
    (Hand(infantry=1, cavalry=1, jokers=1), Hand(infantry=2, jokers=1))
    """
    return tuple(
        each for each in SETS if all(n <= m for n, m in zip(each[:4], hand[:4], strict=True))
    )


def named_sets(hand: Hand, symbols: Mapping[str, str]) -> Iterator[Hand]:
    """Yield the sets that a hand holds where cards may picture territories.

    symbols: the symbol of each territory's card.

    >>> hand = Hand(infantry=3, cavalry=1, jokers=1, territories=("Peru",))
    >>> for each in named_sets(hand, {"Peru": "infantry"}):
    ...     print(each)
    Hand(infantry=1, cavalry=1, jokers=1)
    Hand(infantry=1, cavalry=1, jokers=1, territories=('Peru',))
    Hand(infantry=2, jokers=1)
    Hand(infantry=2, jokers=1, territories=('Peru',))
    Hand(infantry=3, territories=('Peru',))
    """
    named = [[t for t in hand.territories if symbols[t] == symbol] for symbol in SYMBOLS]
    for each in sets_in(hand):
        choices = [
            [
                names
                for count in range(number + 1)
                if number - count <= have - len(those)
                for names in combinations(those, count)
            ]
            for number, have, those in zip(each[:3], hand[:3], named, strict=True)
        ]
        for row in product(*choices):
            yield each._replace(territories=tuple(sorted(sum(row, ()))))


@dataclass(frozen=True)
class Sets:
    """What sets of cards bring.

    values: the armies for the next sets, in order. After the last of them each set brings what
        follows in 4, 6, 8, 10, 12, 15, if it is among these, and otherwise 5 more than the one
        before.
    is_fixed: whether instead each set brings the same at any time: 4, 6 or 8 for three of the
        first, second or third symbol, and 10 for one of each, as in the app's fixed mode.

    >>> [Sets().nth(k) for k in range(8)]
    [4, 6, 8, 10, 12, 15, 20, 25]
    >>> Sets((10,)).worth(Hand(infantry=3)), Sets((10,)).next()
    (10, Sets(values=(12,), is_fixed=False))
    """

    values: tuple[int, ...] = PROGRESSIVE
    is_fixed: bool = False

    def __post_init__(self) -> None:
        values = read_row(self.values, "values", "whole numbers", MOST_VALUES)
        if not values:
            raise IllegalError("values of sets must be at least one, got none")
        set_field(self, "values", tuple(read_int(v, "values", 0, MOST_VALUE) for v in values))

    def nth(self, place: int) -> int:
        """Return what the set at a place brings, the next one being at 0."""
        if place < len(self.values):
            return self.values[place]
        last, more = self.values[-1], place - len(self.values) + 1
        if last in PROGRESSIVE:
            coming = PROGRESSIVE[PROGRESSIVE.index(last) + 1 :]
            if more <= len(coming):
                return coming[more - 1]
            last, more = PROGRESSIVE[-1], more - len(coming)
        return last + STEP * more

    def worth(self, cards: Hand) -> int:
        """Return what a set of three cards brings if it is the next, read as the best kind."""
        if not self.is_fixed:
            return self.nth(0)
        return max(
            value
            for value, kind in zip(FIXED, KINDS, strict=True)
            if all(have <= n for have, n in zip(cards[:3], kind, strict=True))
        )

    def next(self) -> "Sets":
        """Return what sets bring after one more."""
        if self.is_fixed:
            return self
        return Sets(self.values[1:] or (min(self.nth(1), MOST_VALUE),))


def hands(cards: int, deck: Hand = DECK) -> Iterator[tuple[Hand, int]]:
    """Yield the hands that some cards of a deck may be, and in how many ways."""
    for jokers in range(min(cards, deck.jokers) + 1):
        for one in range(min(cards - jokers, deck.infantry) + 1):
            for two in range(min(cards - jokers - one, deck.cavalry) + 1):
                hand = Hand(one, two, cards - jokers - one - two, jokers)
                ways = prod(comb(all_, n) for all_, n in zip(deck[:4], hand[:4], strict=True))
                if ways:
                    yield hand, ways


def named_cards(unseen: Hand, symbols: Mapping[str, str], seen: Hand) -> Iterator[tuple[Hand, int]]:
    """Yield what a card that nobody has seen may be, and in how many ways.

    unseen, seen: the cards that are in no known hand, and those that are.
    symbols: the symbol of each territory's card.
    """
    free = [t for t in symbols if t not in seen.territories]
    for territory in free:
        yield _card(symbols[territory], territory), 1
    for symbol, number in zip(SYMBOLS, unseen[:3], strict=True):
        plain = number - sum(symbols[t] == symbol for t in free)
        if plain:
            yield _card(symbol), plain
    if unseen.jokers:
        yield Hand(jokers=1), unseen.jokers


def _card(symbol: str, *territories: str) -> Hand:
    return Hand._make((*(int(each == symbol) for each in SYMBOLS), 0, 0, territories))


def traded_armies(cards: int, trade: Sets | None = None) -> Distribution[int]:
    """Return the distribution of the new armies that a hand brings after an elimination, exactly.

    cards: how many it comes to, all dealt at random; at most 44.
    trade: what sets bring; `None` for 4, 6, 8, 10, 12, 15 and then 5 more each.

    With six cards or more sets are traded in at once, those that bring the most, until four cards
    or fewer are left; with fewer than six none is.

    >>> traded_armies(5), traded_armies(6), traded_armies(8)
    (Distribution({0: 1}), Distribution({4: 1}), Distribution({10: 1}))
    """
    number = read_int(cards, "cards", least=0, most=DECK.number)
    table = Sets() if trade is None else trade
    if not isinstance(table, Sets):
        raise MalformedError(f"trade must be Sets, got {quote(trade)}")
    sets = -(-(number - MUST_TRADE + 1) // FEWEST_TRADED) if number >= TRADED_AT_ONCE else 0
    if not table.is_fixed:
        return Distribution({sum(map(table.nth, range(sets))): 1})
    return Distribution.from_pairs(
        (_best_sets(hand, sets), Fraction(ways)) for hand, ways in hands(number)
    )


@cache
def _best_sets(hand: Hand, number: int) -> int:
    """Return the most that so many disjoint sets of a hand bring, where each brings the same."""
    best = 0
    for value, kind in zip(FIXED, KINDS, strict=True) if number else ():
        missing = sum(max(n - have, 0) for n, have in zip(kind, hand[:3], strict=True))
        if missing <= hand.jokers:
            one, two, three = (max(h - n, 0) for n, h in zip(kind, hand[:3], strict=True))
            rest = Hand(one, two, three, hand.jokers - missing)
            best = max(best, value + _best_sets(rest, number - 1))
    return best
