"""Cards: the chance to hold a set, and the armies that cards bring.

Every card that is in no known hand is equally likely to be any of the other cards. A hand of k
unknown cards out of a pool of N cards, with N_s cards of symbol s, has k_s cards of each symbol
with the probability

    P(k_1 ... k_4) = Π_s C(N_s, k_s) / C(N, k).

The hands of several players are dealt one after another from the same pool. The only states are the
pool that is left and the value of the next set, so the joint distribution is exact and small.

The order of a round: the player may trade, attacks, draws a card after a conquest, and then the
opponents trade in their order of play. Players trade in one of two ways: `early` trades every set
at the first opportunity, for the most armies, and `late` trades only with five or more cards, until
at most four are left. If each set brings more than the one before, these ways are the extremes.

Source: the rule books of Parker Brothers and of Hasbro.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb
from typing import Literal, NamedTuple, TypeAlias

from iacta.game.cards import (
    DECK,
    SET_SIZE,
    Hand,
    Sets,
    list_card_sets,
    list_hands,
)
from iacta.game.state import TurnData
from iacta.inputs.checks import FrozenDict, quote, read_int, set_field
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.probability.distribution import Distribution

Habit = Literal["early", "late"]
HABITS: tuple[Habit, ...] = ("early", "late")
NO_CARDS = Hand()
USUAL_SETS = Sets()
MAX_CARD_DEALS = 500_000  # the largest product of the numbers of pools and hands

# The numbers of deals that lead to a pool of cards that are left and a value of the next set.
Deals: TypeAlias = Mapping[Hand, Mapping[Sets, int]]


class TradeOption(NamedTuple):
    """The cards that a player trades now, and the armies for cards on their next turn.

    cards: the cards traded now; an empty hand to wait.
    now: the armies for them.
    later: the distribution of the armies for all sets on the next turn.
    """

    cards: Hand
    now: int
    later: Distribution[int]

    @property
    def total(self) -> Fraction:
        """The expected armies for cards of both turns."""
        return self.now + Fraction(self.later.mean())


class Prey(NamedTuple):
    """The cards that a player takes by eliminating an opponent.

    number: the number of cards in the player's hand after the elimination.
    set_chance: the chance that this hand contains a set.
    at_once: the distribution of the armies for sets that must be traded immediately.
    worth: how many more armies the player expects for cards, at once and on the next turn, than
        without the elimination, if nobody else trades until then.
    """

    number: int
    set_chance: Fraction
    at_once: Distribution[int]
    worth: Fraction


class OpponentCards(NamedTuple):
    """The armies that the cards of an opponent bring.

    player: the opponent.
    number: the number of their cards.
    set_chance: the chance that they hold a set.
    early: the distribution of their armies for cards on their next turn, if all opponents trade as
        soon as they can.
    late: the same, if all opponents trade only when they must.
    prey: the value of the cards for a player who eliminates this opponent.
    """

    player: str
    number: int
    set_chance: Fraction
    early: Distribution[int]
    late: Distribution[int]
    prey: Prey


@dataclass(frozen=True)
class CardOdds:
    """The exact chances of cards, from the point of view of a player.

    hand: the cards of the player.
    opponents: the hands of the opponents, or their numbers of unknown cards, in the order in which
        they play next.
    trade: the armies for the next sets.
    seen: cards that nobody holds and nobody can draw, such as traded cards that are not shuffled
        into the deck yet.
    deck: all cards of the game.

    Raises `IllegalError` if more cards are held than the deck contains, and `TooLargeError` if the
    unknown cards have too many possible symbols.

    >>> [float(round(CardOdds(Hand(unknown=n)).set_chance, 5)) for n in (3, 4, 5)]
    [0.42283, 0.817, 1.0]
    >>> round(float(CardOdds().cards_needed), 4)
    3.7602
    >>> CardOdds(Hand(unknown=3), deck=Hand(14, 14, 14)).set_chance
    Fraction(137, 410)
    """

    hand: Hand = NO_CARDS
    opponents: Mapping[str, Hand | int] = field(default_factory=dict)
    trade: Sets = USUAL_SETS
    seen: Hand = NO_CARDS
    deck: Hand = DECK

    def __post_init__(self) -> None:
        for name, value in (("hand", self.hand), ("seen", self.seen), ("deck", self.deck)):
            if not isinstance(value, Hand):
                raise MalformedError(f"{name} must be a Hand, got {quote(value)}", parameter=name)
            if value.unknown and name != "hand":
                raise IllegalError(f"{name} must not contain unknown cards", parameter=name)
            set_field(self, name, value._replace(territories=()))
        hands = {name: _read_hand(hand, name) for name, hand in self.opponents.items()}
        set_field(self, "opponents", FrozenDict(hands))
        self._check_deck()

    def _check_deck(self) -> None:
        held = sum(self.hands.values(), self.hand + self.seen)
        names = ("infantry", "cavalry", "artillery", "jokers")
        for name, number, total in zip(names, held[:4], self.deck[:4], strict=True):
            if number > total:
                raise IllegalError(f"the deck has {total} {name}, but {number} are held or seen")
        if held.number > self.deck.number:
            raise IllegalError(
                f"the deck has {self.deck.number} cards, but {held.number} are held or seen"
            )
        dealt, deals = 0, _count_hands(self.hand.unknown + 1, self.deck)
        for hand in self.hands.values():
            deals += _count_hands(dealt, self.deck) * _count_hands(hand.unknown, self.deck)
            dealt += hand.unknown
        if deals > MAX_CARD_DEALS:
            raise TooLargeError(f"{held.unknown} unknown cards of this deck are too many")

    @property
    def hands(self) -> Mapping[str, Hand]:
        """The hands of the opponents."""
        return self.opponents  # type: ignore[return-value] # numbers have become hands

    @cached_property
    def pool(self) -> Hand:
        """The cards that are in no known hand."""
        known = sum((hand.known for hand in self.hands.values()), self.hand.known + self.seen)
        return self.deck - known

    @cached_property
    def set_chance(self) -> Fraction:
        """The chance that the player's hand contains a set."""
        return _find_set_chance(self.hand, self.pool, self.trade)

    def list_set_chances(self) -> list[tuple[int, Fraction]]:
        """Return the chance of a set with each number of cards, up to certainty.

        The first number is that of the known cards, or 3. Unknown cards are drawn one by one.

        >>> [(number, float(round(chance, 4))) for number, chance in CardOdds().list_set_chances()]
        [(3, 0.4228), (4, 0.817), (5, 1.0)]
        """
        found = []
        known = self.hand.known
        for number in range(max(known.number, SET_SIZE), known.number + self.pool.number + 1):
            hand = known._replace(unknown=number - known.number)
            found.append((number, _find_set_chance(hand, self.pool, self.trade)))
            if found[-1][1] == 1:
                break
        return found

    @cached_property
    def cards_to_set(self) -> Distribution[int] | None:
        """The number of cards with which the player's hand first contains a set.

        Unknown cards are drawn one by one. `None` if the deck may be empty before that.
        """
        chances = self.list_set_chances()
        if not chances or chances[-1][1] < 1:
            return None
        numbers, reached = zip(*chances, strict=True)
        steps = (after - before for before, after in pairwise((0, *reached)))
        return Distribution.from_pairs((n, p) for n, p in zip(numbers, steps, strict=True) if p)

    @property
    def cards_needed(self) -> Fraction | None:
        """The mean of `cards_to_set`."""
        return None if self.cards_to_set is None else Fraction(self.cards_to_set.mean())

    def find_opponents_armies(self, habit: Habit = "early") -> dict[str, Distribution[int]]:
        """Return the distribution of each opponent's armies for cards on their next turn.

        habit: how the opponents trade, `"early"` or `"late"`.

        >>> odds = CardOdds(opponents={"blue": 3, "green": 5})
        >>> odds.find_opponents_armies()["green"].mean()
        Fraction(2292, 473)
        """
        deals: Deals = {self.pool: {self.trade: 1}}
        found = {}
        for name, hand in self.hands.items():
            armies: dict[int, int] = defaultdict(int)
            deals = _deal_and_trade(deals, hand, habit, armies)
            found[name] = Distribution.from_pairs((n, Fraction(w)) for n, w in armies.items())
        return found

    def list_opponents(self) -> list[OpponentCards]:
        """Return the armies for the cards of each opponent, in their order of play."""
        early, late = map(self.find_opponents_armies, HABITS)
        return [
            OpponentCards(
                name,
                hand.number,
                _find_set_chance(hand, self.pool, self.trade),
                early[name],
                late[name],
                self.eliminate(name),
            )
            for name, hand in self.hands.items()
        ]

    def compare_trades(self, habit: Habit = "early", *, draws: bool = True) -> list[TradeOption]:
        """Return the player's ways to trade now, the best first; the last way may be to wait.

        habit: how the opponents trade, `"early"` or `"late"`.
        draws: whether the player draws a card at the end of the turn, because of a conquest.

        A player with five or more cards cannot wait. A way is better if it brings more armies now
        and on the next turn together, or as many but earlier. Raises `IllegalError` if the player
        has unknown cards.

        >>> odds = CardOdds(Hand(infantry=3), {"blue": 5})
        >>> for cards, now, later in odds.compare_trades():
        ...     print(cards, now, later)
        Hand() 0 Distribution({6: 1})
        Hand(infantry=3) 4 Distribution({0: 1})
        """
        if self.hand.unknown:
            raise IllegalError("the hand must not contain unknown cards", parameter="hand")
        must = self.hand.number >= self.trade.must_trade
        options = [] if must else [(Hand(), 0, self.trade)]
        options += list_trades(self.hand.known, self.trade)
        found = []
        for cards, now, trade in options:
            rest = self.hand - cards
            more = rest + Hand(unknown=1) if draws and self.pool.number else rest
            deals: Deals = {self.pool: {trade: 1}}
            for hand in self.hands.values():
                deals = _deal_and_trade(deals, hand, habit, defaultdict(int))
            armies: dict[int, int] = defaultdict(int)
            _deal_and_trade(deals, more, "early", armies)
            later = Distribution.from_pairs((n, Fraction(w)) for n, w in armies.items())
            found.append(TradeOption(cards, now, later))
        return sorted(found, key=lambda option: (-option.total, -option.now))

    def eliminate(self, name: str) -> Prey:
        """Return the value of an opponent's cards for a player who eliminates this opponent.

        name: the opponent. Raises `IllegalError` for an unknown name.

        A player with six or more cards immediately trades sets until at most four are left.

        >>> CardOdds(Hand(infantry=2, cavalry=1), {"blue": 3}).eliminate("blue").at_once
        Distribution({4: 1})
        """
        if name not in self.hands:
            raise IllegalError(f"unknown opponent {quote(name)}")
        both = self.hand + self.hands[name]
        at_once: dict[int, int] = defaultdict(int)
        total = Fraction(0)
        ways = comb(self.pool.number, both.unknown)
        for hand, weight in deal_hands(both, self.pool):
            traded = hand.number >= self.trade.traded_at_once
            now, rest, trade = (
                trade_cards(hand, self.trade, "late") if traded else (0, hand, self.trade)
            )
            at_once[now] += weight
            total += Fraction(weight * (now + trade_cards(rest, trade, "early").armies), ways)
        own: dict[int, int] = defaultdict(int)
        _deal_and_trade({self.pool: {self.trade: 1}}, self.hand, "early", own)
        alone = Distribution.from_pairs((n, Fraction(w)) for n, w in own.items()).mean()
        return Prey(
            both.number,
            _find_set_chance(both, self.pool, self.trade),
            Distribution.from_pairs((n, Fraction(w)) for n, w in at_once.items()),
            total - Fraction(alone),
        )


def _read_hand(hand: Hand | int, name: str) -> Hand:
    if isinstance(hand, Hand):
        return hand._replace(territories=())
    return Hand(unknown=read_int(hand, f"cards of {name}", 0))


class Traded(NamedTuple):
    """The result of trading cards.

    armies: the armies for all sets.
    rest: the cards that are left.
    trade: the armies for the next sets.
    """

    armies: int
    rest: Hand
    trade: Sets


@lru_cache(maxsize=2**16)
def trade_cards(hand: Hand, trade: Sets, habit: Habit) -> Traded:
    """Return the trade of known cards for the most armies.

    hand: the cards, without unknown cards and without territories.
    trade: the armies for the next sets.
    habit: `"early"` trades all sets, `"late"` only as long as the player must.

    >>> trade_cards(Hand(infantry=3, cavalry=2, jokers=1), Sets(), "early").armies
    10
    """
    best = Traded(0, hand, trade)
    if hand.number < (SET_SIZE if habit == "early" else trade.must_trade):
        return best
    for cards in list_card_sets(hand, trade):
        after = trade_cards(hand - cards, trade.next(), habit)
        armies = trade.worth(cards) + after.armies
        if best.rest is hand or armies > best.armies:
            best = after._replace(armies=armies)
    return best


def list_trades(hand: Hand, trade: Sets) -> list[tuple[Hand, int, Sets]]:
    """Return the different cards that a player can trade now, with the armies and the next sets.

    hand: the cards, without unknown cards.
    trade: the armies for the next sets.

    If several sets may be traded one after another, each number of sets is a separate way. With
    five or more cards left, the player must go on.
    """
    found: dict[Hand, tuple[Hand, int, Sets]] = {}
    for cards in list_card_sets(hand, trade):
        rest, now, after = hand - cards, trade.worth(cards), trade.next()
        ways = list_trades(rest, after)
        if rest.number < trade.must_trade:
            ways = [(Hand(), 0, after), *ways]
        for more, armies, last in ways:
            both = cards + more
            if both not in found or found[both][1] < now + armies:
                found[both] = both, now + armies, last
    return [*found.values()]


def deal_hands(hand: Hand, pool: Hand) -> Iterator[tuple[Hand, int]]:
    """Yield the possible hands of a player with the number of ways to deal the unknown cards."""
    for drawn, ways in list_hands(hand.unknown, pool):
        yield hand.known + drawn, ways


def _count_hands(number: int, deck: Hand) -> int:
    """Return an upper bound on the number of different hands of unknown cards."""
    return sum(comb(number - jokers + 2, 2) for jokers in range(min(number, deck.jokers) + 1))


def _find_set_chance(hand: Hand, pool: Hand, trade: Sets) -> Fraction:
    ways = sum(ways for dealt, ways in deal_hands(hand, pool) if list_card_sets(dealt, trade))
    return Fraction(ways, comb(pool.number, hand.unknown))


def _deal_and_trade(deals: Deals, hand: Hand, habit: Habit, armies: dict[int, int]) -> Deals:
    """Deal a hand from each pool, let its player trade, and count the deals for each result.

    armies: receives the number of deals for each number of armies.
    """
    after: dict[Hand, dict[Sets, int]] = defaultdict(lambda: defaultdict(int))
    for pool, trades in deals.items():
        for dealt, ways in deal_hands(hand, pool):
            left = after[pool - (dealt - hand.known)]
            for trade, weight in trades.items():
                traded = trade_cards(dealt, trade, habit)
                armies[traded.armies] += weight * ways
                left[traded.trade] += weight * ways
    return after


def find_card_odds(turn: TurnData, seen: Hand = NO_CARDS, deck: Hand = DECK) -> CardOdds:
    """Return the odds of the cards of a turn, as its player sees them.

    turn: the turn.
    seen: cards that nobody holds and nobody can draw.
    deck: all cards of the game.

    Raises `IllegalError` for a game without cards.
    """
    if turn.cards is None:
        raise IllegalError("position must be a turn of a game with cards", parameter="position")
    at = turn.survivors.index(turn.player) if turn.player in turn.survivors else 0
    order = (*turn.survivors[at + 1 :], *turn.survivors[:at])
    opponents = {name: Hand(unknown=turn.hand_of(name).number) for name in order}
    return CardOdds(turn.hand, opponents, turn.trade, seen, deck)
