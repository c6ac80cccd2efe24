"""Cards: the chance to hold a set, when to trade, and the armies of opponents' cards."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.board.board import Board
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.forms.card_kinds import MAX_CARDS, HeldCards, Trades, format_cards
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import resolve_board
from iacta.forms.parameter_kinds import Pairs, Source, Whole
from iacta.forms.percentages import (
    describe_chance,
    format_all_digits,
    format_if_exact,
    list_fractions,
    percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import EXACT_KEY, ExactText, KeyedRecord, key
from iacta.forms.sections import Bar, Bars, Section, Table
from iacta.forms.sentences import add_noun, capitalise
from iacta.forms.shared_parameters import ExactForm
from iacta.game import Turn
from iacta.game.card_odds import (
    HABITS,
    USUAL_SETS,
    CardOdds,
    Habit,
    OpponentCards,
    TradeOption,
    find_card_odds,
)
from iacta.game.cards import DECK, SET_SIZE, Hand, Sets
from iacta.game.moment import read_moment
from iacta.inputs.errors import IllegalError
from iacta.inputs.meanings import Count, Unit
from iacta.probability.distribution import Probability

HABIT_WORDS = {"early": "they trade as soon as they can", "late": "they trade only when they must"}
CARD_NUMBERS = dict(enumerate(("four", "five", "six", "seven", "eight", "nine"), start=4))
DRAWN_CARD = "You draw a card at the end of this turn, because you take a territory."


@question(
    "cards",
    Topic.BOARD,
    Example("cards 4", "how likely is a set among four cards?"),
    Example(
        'cards --hand "2 infantry, 1 wild" --opponents blue=3',
        "trade now or wait, and what do their cards bring?",
    ),
)
class CardsQuestion(ExactForm, Question):
    """Find the chance of a set of cards, and the armies of cards."""

    headline: ClassVar = "What are cards worth?"

    cards: int | None = parameter(
        Whole(maximum=MAX_CARDS),
        "The number of cards in a hand that nobody has seen.",
        is_argument=True,
        excludes="hand or position",
        default=None,
    )
    hand: Hand | None = parameter(
        HeldCards(), "Your cards: '2 infantry, 1 wild'.", excludes="position", default=None
    )
    opponents: tuple[tuple[str, int], ...] | None = parameter(
        Pairs(Whole(maximum=MAX_CARDS), "blue=3,green=5"),
        "How many cards your opponents hold, in the order in which they play: blue=3,green=5.",
        metavar="CARDS",
        excludes="position",
        default=None,
    )
    trade: Sets | None = parameter(
        Trades(),
        "Armies that the next card sets bring; fixed, or fixed/6/8/4/10/12: fixed values; "
        "nuclear: none; at6, own3, each: house rules.",
        usual="4,6,8,10,12,15",
        excludes="position",
        default=None,
    )
    seen: Hand | None = parameter(
        HeldCards(), "Cards that are out of the game, such as traded ones.", default=None
    )
    deck: Hand | None = parameter(
        HeldCards(), "All cards of the game.", usual="the 44 cards of Risk", default=None
    )
    position: str | Position | Turn | None = parameter(
        Source(Turn, read_moment, reads=(Position,)),
        "A saved turn, a file or a code, instead of your hand and your opponents' cards.",
        metavar="FILE",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board (map) for a code.",
        metavar="FILE",
        usual="classic",
        needs="position",
        default=None,
    )

    @cached_property
    def odds(self) -> CardOdds:
        seen, deck = self.seen or Hand(), self.deck or DECK
        if self.position is not None:
            return find_card_odds(self.turn, seen, deck)
        opponents = dict(self.opponents or ())
        if len(opponents) < len(self.opponents or ()):
            raise IllegalError("opponents must name each player once", parameter="opponents")
        hand = Hand(unknown=self.cards or 0) if self.hand is None else self.hand
        return CardOdds(hand, opponents, self.trade or USUAL_SETS, seen, deck)

    @cached_property
    def turn(self) -> Turn:
        return read_moment(self.position or "", resolve_board(self.board))

    @property
    def may_trade(self) -> bool:
        """Whether the player may trade a known set for armies now."""
        is_start = self.position is None or self.turn.phase == "trade"
        brings_armies = not self.odds.trade.is_nuclear
        return (
            is_start and brings_armies and self.odds.set_chance == 1 and not self.odds.hand.unknown
        )

    def answer(self, watch: Watch | None = None) -> "CardsAnswer":
        odds = self.odds
        habits: tuple[Habit, ...] = HABITS if odds.opponents else HABITS[:1]
        trades = {habit: odds.compare_trades(habit) for habit in habits} if self.may_trade else {}
        return CardsAnswer(self, trades, tuple(odds.list_opponents()))


class CountChance(KeyedRecord):
    """The chance that a number of cards contains a set."""

    cards: Count = key("The number of cards.")
    chance: Unit = key("The chance that they contain a set.")


class TradeRecord(KeyedRecord):
    """A way to trade now, with the armies for cards of two turns."""

    habit: str = key('How the opponents trade: `"early"`, as soon as they can, or `"late"`.')
    cards: str = key("The cards to trade now; `none` to wait.")
    now: Count = key("The armies for them.")
    later: float = key("The expected armies for cards on the player's next turn.")


class ArmiesChance(KeyedRecord):
    """A possible number of armies, with its chance."""

    habit: str = key('How the opponents trade: `"early"` or `"late"`.')
    armies: Count = key("The armies for cards.")
    chance: Unit = key("The chance of this number.")


class OpponentCardsRecord(KeyedRecord, of=OpponentCards):
    """The cards of an opponent."""

    player: str
    number: Count
    set_chance: Unit = key("The chance that they hold a set.")
    early: float = key("Their expected armies for cards if all trade as soon as they can.")
    late: float = key("Their expected armies for cards if all trade only when they must.")
    armies: Sequence[ArmiesChance] = key("The distribution of these armies.")
    at_once: float = key(
        "The expected armies for sets that you must trade at once if you eliminate this opponent."
    )
    worth: float = key(
        "How many more armies you then expect for cards, at once and on your next turn, if nobody "
        "else trades."
    )
    words: str = key("The chance of a set and the armies, in words.")


class CardOddsRecord(KeyedRecord):
    """The chance of a set, the best trade, and the armies of opponents' cards."""

    hand: str = key("The player's cards.")
    words: str = key("The chance of a set and the best trade, in words.")
    set_chance: Unit = key("The chance that the hand contains a set.", is_column=True)
    set_chance_exact: ExactText = key(EXACT_KEY)
    needed: float | None = key(
        "The expected number of cards with which the hand first contains a set; `null` if the "
        "deck may be empty before.",
        is_column=True,
    )
    needed_exact: ExactText = key(EXACT_KEY)
    chances: Sequence[CountChance] = key("The chance of a set with each number of cards.")
    trades: Sequence[TradeRecord] = key("The ways to trade now, the best first for each habit.")
    opponents: Sequence[OpponentCardsRecord] = key("The opponents in the order in which they play.")


class CardsAnswer(Answer):
    """The chance of a set, the best trade, and the armies of opponents' cards.

    trades: the ways to trade now, for each habit of the opponents; empty without a set.
    opponents: the cards of the opponents.
    """

    question: CardsQuestion
    trades: dict[Habit, list[TradeOption]]
    opponents: tuple[OpponentCards, ...]

    @cached_property
    def chances(self) -> list[tuple[int, Fraction]]:
        """The chance of a set with each number of cards, as far as it rises."""
        return self.question.odds.list_set_chances()

    @property
    def data(self) -> CardOddsRecord:
        odds, exact = self.question.odds, self.question.exact
        needed = odds.cards_needed
        return CardOddsRecord(
            hand=format_cards(odds.hand),
            words=" ".join([*self._list_sentences(), *self._advise()]),
            set_chance=float(odds.set_chance),
            set_chance_exact=format_if_exact(odds.set_chance if exact else None),
            needed=None if needed is None else float(needed),
            needed_exact=format_if_exact(needed if exact else None),
            chances=[CountChance(cards=n, chance=float(chance)) for n, chance in self.chances],
            trades=[
                TradeRecord(
                    habit=habit,
                    cards=format_cards(option.cards),
                    now=option.now,
                    later=float(option.later.mean()),
                )
                for habit, options in self.trades.items()
                for option in options
            ],
            opponents=[make_opponent_record(each) for each in self.opponents],
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield "player", "habit", "number", "probability"
        rows: list[tuple[str, str, int, Probability]] = [
            *(("", "set", number, chance) for number, chance in self.chances),
            *(
                (each.player, habit, number, chance)
                for each in self.opponents
                for habit, armies in zip(HABITS, (each.early, each.late), strict=True)
                for number, chance in sorted(armies.items())
            ),
        ]
        for *row, chance in rows:
            yield *row, format_all_digits(chance if self.question.exact else float(chance))

    def draw(self, charts: Charts) -> Any:
        return charts.set_chances(self.question.odds)

    def sections(self) -> Iterator[Section]:
        yield self._describe_hand()
        if self.trades:
            yield self._compare_trades()
        if self.question.odds.opponents:
            yield describe_opponents(self.opponents, self.question.odds.trade)

    def _list_sentences(self) -> list[str]:
        """Return sentences about the hand."""
        odds, number = self.question.odds, self.question.odds.hand.number
        cards = add_noun(number, "card", "cards")
        own = "Your hand" if self.question.cards is None else f"A hand of {cards}"
        chance = percent(odds.set_chance)
        lines = [f"{own} contains a set with a chance of {chance}."] if number else []
        if odds.set_chance in (0, 1) and number:
            lines = [f"{own} contains {'a' if odds.set_chance else 'no'} set."]
        if odds.cards_needed is None:
            lines.append("The deck may be empty before a hand contains a set.")
        elif odds.hand.known.number < SET_SIZE or odds.set_chance < 1:
            needed = float(odds.cards_needed)
            own = ", with those that you hold" if odds.hand.known.number else ""
            lines.append(f"You hold a set after {needed:.4f} cards on average{own}.")
        return lines

    def _advise(self) -> list[str]:
        """Return a sentence about the best trade; nothing without a set."""
        best = {options[0].cards for options in self.trades.values()}
        if len(best) > 1:
            return ["Whether to trade or to wait depends on how your opponents trade."]
        if best == {Hand()}:
            return ["Wait: that brings more armies in two turns."]
        return [f"Trade {format_cards(cards)} now." for cards in best]

    def _describe_hand(self) -> Section:
        odds = self.question.odds
        lines: list[str | Bars] = [*self._list_sentences()]
        if self.question.exact:
            lines += list_fractions(odds.set_chance, odds.cards_needed)
        bars = [
            Bar(add_noun(n, "card", "cards"), chance, "good" if chance else "neutral")
            for n, chance in self.chances
        ]
        return Section([*lines, Bars(bars)] if len(bars) > 1 else lines)

    def _compare_trades(self) -> Section:
        rows = []
        for habit, options in self.trades.items():
            title = f", if {HABIT_WORDS[habit]}" if self.question.odds.opponents else ""
            for option in options:
                word = f"trade {format_cards(option.cards)}" if option.cards.number else "wait"
                later = float(option.later.mean())
                rows.append(
                    (word + title, str(option.now), f"{later:.2f}", f"{float(option.total):.2f}")
                )
        table = Table(("", "now", "next turn", "together"), rows)
        return Section([*self._advise(), table, DRAWN_CARD], title="Armies for your cards:")


def make_opponent_record(each: OpponentCards) -> OpponentCardsRecord:
    """Return the cards of an opponent for programs."""
    return OpponentCardsRecord.from_attributes(
        each,
        set_chance=float(each.set_chance),
        early=float(each.early.mean()),
        late=float(each.late.mean()),
        armies=[
            ArmiesChance(habit=habit, armies=number, chance=float(chance))
            for habit, armies in zip(HABITS, (each.early, each.late), strict=True)
            for number, chance in sorted(armies.items())
        ],
        at_once=float(each.prey.at_once.mean()),
        worth=float(each.prey.worth),
        words=describe_opponent(each),
    )


def describe_opponent(each: OpponentCards) -> str:
    """Return sentences about the cards of an opponent."""
    if not each.number:
        return f"{capitalise(each.player)} holds no cards."
    early, late = float(each.early.mean()), float(each.late.mean())
    return (
        f"{capitalise(each.player)} holds a set with {describe_chance(percent(each.set_chance))}. "
        f"Their cards bring {early:.2f} armies on average next turn if all trade as soon as they "
        f"can, {late:.2f} if only when they must. If you eliminate {each.player}, their cards are "
        f"worth {float(each.prey.worth):.2f} armies to you."
    )


def describe_opponents(opponents: Sequence[OpponentCards], trade: Sets) -> Section:
    """Return a table of the armies that the opponents' cards bring.

    opponents: the opponents with cards.
    trade: the armies for sets.
    """
    columns = ("", "cards", "hold a set", "early", "late", "at once", "worth to you")
    rows = [
        (
            each.player,
            str(each.number),
            percent(each.set_chance),
            f"{float(each.early.mean()):.2f}",
            f"{float(each.late.mean()):.2f}",
            f"{float(each.prey.at_once.mean()):.2f}",
            f"{float(each.prey.worth):.2f}",
        )
        for each in opponents
    ]
    words = (
        "Early: all opponents trade as soon as they can; late: only with "
        f"{CARD_NUMBERS[trade.must_trade]} or more cards.",
        "At once: the sets that you must trade if you eliminate this opponent, because you then "
        f"hold {CARD_NUMBERS[trade.traded_at_once]} or more cards. Worth to you: with the sets of "
        "your next turn, and without the armies that your own cards bring anyway.",
    )
    return Section([Table(columns, rows), *words], title="Their armies for cards next turn:")
