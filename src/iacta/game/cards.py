"""Cards: hands, sets of cards, and the armies that players get for sets.

The deck has 44 cards: 14 cards of each of three symbols, and two jokers. A set is three cards of
one symbol, or one card of each symbol. A joker stands for any symbol, but in RisiKo! it makes a set
only with two cards of one symbol. Five cards always contain a set. Traded cards return to the deck,
so an unknown card can be any card that is not in a known hand, with equal probability. A card that
also pictures a territory is called a named card.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

from iacta.inputs.checks import check_choice, quote, read_int, read_list, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.probability.distribution import Distribution

PROGRESSIVE = (4, 6, 8, 10, 12, 15)
STEP = 5
FIXED = (4, 6, 8, 10)  # the armies for each kind of set in `KINDS`, in the fixed mode
KINDS = ((3, 0, 0), (0, 3, 0), (0, 0, 3), (1, 1, 1))
MAX_SET_ARMIES = 1000  # the largest number of armies for a set; even house rules rarely give 100
MAX_SETS_LISTED = 1000  # the maximum length of a list of armies for sets
DECK_SIZE = 44
SET_SIZE = 3
SMALLEST_FULL_HAND = 5  # the smallest number of cards that always contain a set
TRADED_AT_ONCE = 6  # a player with at least 6 cards after an elimination trades immediately
MAX_MUST_TRADE = 9
MAX_PICTURED = 100
SYMBOLS = ("infantry", "cavalry", "artillery")
NEUTRAL = "neutral"  # the owner of a neutral army


class _Cards(NamedTuple):
    infantry: int
    cavalry: int
    artillery: int
    jokers: int
    unknown: int
    territories: tuple[str, ...]


class Hand(_Cards):
    """The cards of a player.

    infantry, cavalry, artillery: the number of known cards with each symbol.
    jokers: the number of known jokers.
    unknown: the number of unknown cards.
    territories: the territories on the known cards; empty if cards do not picture territories.
        These cards are also counted by their symbols.

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
        """Return a validated hand; `_make` skips the validation."""
        counts = (infantry, cavalry, artillery, jokers, unknown)
        checked = (
            read_int(count, name) for name, count in zip(_Cards._fields, counts, strict=False)
        )
        names = read_list(territories, "territories", "names", DECK_SIZE)
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
        left = tuple(
            territory for territory in self.territories if territory not in other.territories
        )
        return Hand._make((*counts, left))

    def __repr__(self) -> str:
        counts = (f"{key}={n}" for key, n in self._asdict().items() if n)
        return f"Hand({', '.join(counts)})"

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """The numbers of infantry, cavalry and artillery cards, jokers, and unknown cards."""
        return self[:5]

    @property
    def number(self) -> int:
        """The total number of cards."""
        return sum(self.counts)

    @property
    def known(self) -> "Hand":
        """The hand without the unknown cards."""
        return self._replace(unknown=0)

    def hide(self) -> "Hand":
        """Return a hand with the same number of cards, all unknown."""
        number = self.number
        return self if number == self.unknown else Hand._make((0, 0, 0, 0, number, ()))


DECK = Hand(14, 14, 14, 2)


def _list_all_sets(needs_pair: bool) -> tuple[Hand, ...]:
    """Return all sets: three cards of one symbol, one of each symbol, or three with a joker.

    needs_pair: whether a joker needs two cards of one symbol.
    """
    some = range(SET_SIZE + 1)
    hands = (Hand(*each) for each in product(some, some, some, some))
    return tuple(
        hand
        for hand in hands
        if hand.number == SET_SIZE
        and (hand[:3] in KINDS if not hand.jokers else not needs_pair or SET_SIZE - 1 in hand[:3])
    )


ANY_SETS, PAIR_SETS = _list_all_sets(False), _list_all_sets(True)


def list_card_sets(hand: Hand, trade: "Sets | None" = None) -> tuple[Hand, ...]:
    """Return the different sets among the known cards of a hand.

    trade: the armies for sets; if it has a value for a joker, a joker makes a set only with two
        cards of one symbol. With `None`, a joker stands for any symbol.

    >>> list_card_sets(Hand(infantry=2, cavalry=1, jokers=1))
    (Hand(infantry=1, cavalry=1, jokers=1), Hand(infantry=2, jokers=1))
    """
    sets = ANY_SETS if trade is None or trade.joker is None else PAIR_SETS
    return tuple(
        each for each in sets if all(n <= m for n, m in zip(each[:4], hand[:4], strict=True))
    )


def list_named_sets(
    hand: Hand, symbols: Mapping[str, str], trade: "Sets | None" = None
) -> Iterator[Hand]:
    """Yield the different sets in a hand. Sets that picture different territories are different.

    symbols: a mapping from territories to the symbols on their cards.
    trade: the same as for `list_card_sets`.

    >>> hand = Hand(infantry=3, cavalry=1, jokers=1, territories=("Peru",))
    >>> for each in list_named_sets(hand, {"Peru": "infantry"}):
    ...     print(each)
    Hand(infantry=1, cavalry=1, jokers=1)
    Hand(infantry=1, cavalry=1, jokers=1, territories=('Peru',))
    Hand(infantry=2, jokers=1)
    Hand(infantry=2, jokers=1, territories=('Peru',))
    Hand(infantry=3, territories=('Peru',))
    """
    named = [[t for t in hand.territories if symbols[t] == symbol] for symbol in SYMBOLS]
    for each in list_card_sets(hand, trade):
        choices = [
            [
                names
                for count in range(number + 1)
                if number - count <= have - len(pictured)
                for names in combinations(pictured, count)
            ]
            for number, have, pictured in zip(each[:3], hand[:3], named, strict=True)
        ]
        for row in product(*choices):
            yield each._replace(territories=tuple(sorted(sum(row, ()))))


@dataclass(frozen=True)
class Sets:
    """The armies that players get for sets of cards.

    values: the armies for the next sets, in order. If the last value is 4, 6, 8, 10 or 12, the
        sequence 4, 6, 8, 10, 12, 15 continues from there. After that, each set is worth 5 more.
    is_fixed: whether the armies depend only on the kind of set, as in the app's fixed mode.
    fixed: the armies in the fixed mode for three cards of infantry, cavalry or artillery, and for
        one card of each.
    joker: the armies in the fixed mode for a joker with two cards of one symbol, as in RisiKo!,
        where a joker makes no other set; `None` if a joker stands for any symbol.
    must_trade: the smallest number of cards with which a player must trade, from 5 to 9.
    pictured: the armies that a traded card brings to one of the player's territories if the card
        pictures it.
    has_card_per_conquest: whether a turn brings a card for each conquest, instead of one card for
        all conquests.
    is_nuclear: whether a set brings no armies; instead, each territory that a traded card pictures
        becomes neutral, with one army.

    >>> [Sets().nth(k) for k in range(8)]
    [4, 6, 8, 10, 12, 15, 20, 25]
    >>> Sets((10,)).worth(Hand(infantry=3)), Sets((10,)).next().values
    (10, (12,))
    >>> risiko = Sets(is_fixed=True, fixed=(6, 8, 4, 10), joker=12)
    >>> risiko.worth(Hand(infantry=3)), risiko.worth(Hand(infantry=2, jokers=1))
    (6, 12)
    """

    values: tuple[int, ...] = PROGRESSIVE
    is_fixed: bool = False
    fixed: tuple[int, ...] = FIXED
    joker: int | None = None
    must_trade: int = 5
    pictured: int = 2
    has_card_per_conquest: bool = False
    is_nuclear: bool = False

    def __post_init__(self) -> None:
        values = read_list(self.values, "values", "whole numbers", MAX_SETS_LISTED)
        if not values:
            raise IllegalError("values must contain the armies for at least one set, got none")
        set_field(self, "values", tuple(read_int(v, "values", 0, MAX_SET_ARMIES) for v in values))
        fixed = read_list(self.fixed, "fixed", "whole numbers")
        if len(fixed) != len(FIXED):
            raise IllegalError(f"fixed must contain {len(FIXED)} numbers, got {quote([*fixed])}")
        set_field(self, "fixed", tuple(read_int(v, "fixed", 0, MAX_SET_ARMIES) for v in fixed))
        if self.joker is not None:
            set_field(self, "joker", read_int(self.joker, "joker", 0, MAX_SET_ARMIES))
        for name in ("has_card_per_conquest", "is_nuclear"):
            check_choice(getattr(self, name), (True, False), name)
        for name, minimum, maximum in (
            ("must_trade", SMALLEST_FULL_HAND, MAX_MUST_TRADE),
            ("pictured", 0, MAX_PICTURED),
        ):
            set_field(self, name, read_int(getattr(self, name), name, minimum, maximum))
        if not self.is_fixed and (self.fixed != FIXED or self.joker is not None):
            raise IllegalError("fixed and joker must be given only if is_fixed is True, got False")
        usual = self.values, self.is_fixed, self.pictured
        if self.is_nuclear and usual != (PROGRESSIVE, False, Sets.pictured):
            raise IllegalError(
                "values, is_fixed and pictured must be left out if is_nuclear is True, because "
                f"nuclear sets bring no armies, got {self!r}"
            )

    @property
    def traded_at_once(self) -> int:
        """The smallest number of cards with which a player trades at once after an elimination."""
        return max(TRADED_AT_ONCE, self.must_trade)

    def nth(self, index: int) -> int:
        """Return the armies for a later set; index 0 is the next set to be traded."""
        if self.is_nuclear:
            return 0
        if index < len(self.values):
            return self.values[index]
        last, more = self.values[-1], index - len(self.values) + 1
        if last in PROGRESSIVE:
            coming = PROGRESSIVE[PROGRESSIVE.index(last) + 1 :]
            if more <= len(coming):
                return coming[more - 1]
            last, more = PROGRESSIVE[-1], more - len(coming)
        return last + STEP * more

    def worth(self, cards: Hand) -> int:
        """Return the armies for trading the cards of a set now.

        Jokers count as the best symbol, unless `joker` is given.
        """
        if not self.is_fixed:
            return self.nth(0)
        if self.joker is not None and cards.jokers:
            return self.joker
        return max(
            value
            for value, kind in zip(self.fixed, KINDS, strict=True)
            if all(have <= n for have, n in zip(cards[:3], kind, strict=True))
        )

    def next(self) -> "Sets":
        """Return the armies for sets after the next set has been traded."""
        if self.is_fixed or self.is_nuclear:
            return self
        left = self.values[1:] or (min(self.nth(1), MAX_SET_ARMIES),)
        if len(left) == 1 and left[0] in PROGRESSIVE and self.nth(2) == left[0] + STEP:
            left = (*left, self.nth(2))  # the sequence 4, 6, 8, ... does not begin here
        return replace(self, values=left)


def list_hands(cards: int, deck: Hand = DECK) -> Iterator[tuple[Hand, int]]:
    """Yield each hand of a given size with the number of ways to draw the hand from a deck."""
    for jokers in range(min(cards, deck.jokers) + 1):
        for one in range(min(cards - jokers, deck.infantry) + 1):
            for two in range(min(cards - jokers - one, deck.cavalry) + 1):
                hand = Hand(one, two, cards - jokers - one - two, jokers)
                ways = prod(comb(all_, n) for all_, n in zip(deck[:4], hand[:4], strict=True))
                if ways:
                    yield hand, ways


def list_named_cards(
    unseen: Hand, symbols: Mapping[str, str], seen: Hand
) -> Iterator[tuple[Hand, int]]:
    """Yield the possible identities of an unknown card, with the number of such cards in the deck.

    unseen: the cards that are in no known hand.
    symbols: a mapping from territories to the symbols on their cards.
    seen: the cards in known hands.
    """
    free = [t for t in symbols if t not in seen.territories]
    for territory in free:
        yield _make_hand_of_one(symbols[territory], territory), 1
    for symbol, number in zip(SYMBOLS, unseen[:3], strict=True):
        plain = number - sum(symbols[t] == symbol for t in free)
        if plain:
            yield _make_hand_of_one(symbol), plain
    if unseen.jokers:
        yield Hand(jokers=1), unseen.jokers


def _make_hand_of_one(symbol: str, *territories: str) -> Hand:
    return Hand._make((*(int(each == symbol) for each in SYMBOLS), 0, 0, territories))


def traded_armies(cards: int, trade: Sets | None = None) -> Distribution[int]:
    """Return the exact distribution of the armies for the cards after an elimination.

    cards: the number of cards in the player's hand, from 0 to 44, dealt at random.
    trade: the armies for sets; `None` for 4, 6, 8, 10, 12, 15 and then 5 more for each set.

    A player with at least six cards immediately trades the best sets, until at most four cards are
    left. A player with fewer cards trades no set. `trade.must_trade` changes both numbers.

    >>> traded_armies(5), traded_armies(6), traded_armies(8)
    (Distribution({0: 1}), Distribution({4: 1}), Distribution({10: 1}))
    """
    number = read_int(cards, "cards", minimum=0, maximum=DECK.number)
    table = Sets() if trade is None else trade
    if not isinstance(table, Sets):
        raise MalformedError(f"trade must be Sets, got {quote(trade)}")
    too_many = number - table.must_trade + 1
    sets = -(-too_many // SET_SIZE) if number >= table.traded_at_once else 0
    if not table.is_fixed:
        return Distribution({sum(map(table.nth, range(sets))): 1})
    return Distribution.from_pairs(
        (_best_sets(hand, sets, table), Fraction(ways)) for hand, ways in list_hands(number)
    )


@cache
def _best_sets(hand: Hand, number: int, trade: Sets) -> int:
    """Return the maximum number of armies for trading `number` sets in the fixed mode."""
    if not number:
        return 0
    sets = list_card_sets(hand, trade)
    values = (trade.worth(each) + _best_sets(hand - each, number - 1, trade) for each in sets)
    return max(values, default=0)
