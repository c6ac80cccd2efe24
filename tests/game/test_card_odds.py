"""The odds of cards, compared with an enumeration of all deals of single cards."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest

from iacta import IactaError
from iacta.game import Hand, Sets, Turn
from iacta.game.card_odds import HABITS, CardOdds, Habit, find_card_odds

SMALL = Hand(4, 3, 3, 1)
RISIKO = Sets(is_fixed=True, fixed=(6, 8, 4, 10), joker=12)
TABLES = (Sets(), Sets((10,)), Sets((3, 7, 2)), Sets(is_fixed=True), RISIKO, Sets(must_trade=6))


def list_cards(deck: Hand) -> list[str]:
    """Return the single cards of a deck as letters; `w` is a wild card."""
    return [letter for letter, n in zip("icaw", deck[:4], strict=True) for _ in range(n)]


def is_set(three: Sequence[str], trade: Sets | None = None) -> bool:
    """Return whether three cards are a set: a joker, one of a kind, or all different."""
    if trade == RISIKO and "w" in three:
        return sorted(three) in (["a", "a", "w"], ["c", "c", "w"], ["i", "i", "w"])
    return "w" in three or len({*three}) in (1, 3)


def has_set(cards: Sequence[str]) -> bool:
    return any(map(is_set, combinations(cards, 3)))


def find_worth(three: Sequence[str], trade: Sets) -> int:
    """Return the armies for a set; jokers count as the best symbol."""
    if not trade.is_fixed:
        return trade.nth(0)
    if trade == RISIKO and "w" in three:
        return 12
    kinds = {"iii": 4, "ccc": 6, "aaa": 8, "aci": 10}
    if trade == RISIKO:
        kinds = {"iii": 6, "ccc": 8, "aaa": 4, "aci": 10}
    filled = product(*("ica" if card == "w" else card for card in three))
    return max(kinds.get("".join(sorted(cards)), 0) for cards in filled)


def play_trades(cards: tuple[str, ...], trade: Sets, habit: Habit) -> tuple[int, int]:
    """Return the most armies for a hand, and the number of sets traded for them."""
    best = (0, 0)
    if len(cards) < (3 if habit == "early" else trade.must_trade):
        return best
    for chosen in combinations(range(len(cards)), 3):
        three = [cards[k] for k in chosen]
        if is_set(three, trade):
            rest = tuple(card for k, card in enumerate(cards) if k not in chosen)
            armies, sets = play_trades(rest, trade.next(), habit)
            best = max(best, (find_worth(three, trade) + armies, sets + 1))
    return best


def skip_sets(trade: Sets, sets: int) -> Sets:
    """Return the armies for sets after a number of sets has been traded."""
    for _ in range(sets):
        trade = trade.next()
    return trade


def deal(pool: Sequence[int], numbers: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to deal hands of given sizes from single cards."""
    if not numbers:
        yield []
        return
    for hand in combinations(pool, numbers[0]):
        for others in deal([card for card in pool if card not in hand], numbers[1:]):
            yield [hand, *others]


@pytest.mark.parametrize("deck", [Hand(14, 14, 14, 2), Hand(14, 14, 14), SMALL, Hand(2, 1, 0, 4)])
@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_chance_of_a_set_is_its_share_of_all_hands(deck: Hand, number: int) -> None:
    hands = [*combinations(list_cards(deck), number)]
    share = Fraction(sum(map(has_set, hands)), len(hands))
    assert CardOdds(Hand(unknown=number), deck=deck).set_chance == share


def test_five_cards_always_contain_a_set() -> None:
    assert all(map(has_set, product("ica", repeat=5)))
    assert CardOdds(Hand(unknown=5)).set_chance == 1


def test_published_chances_of_sets() -> None:
    # The Fiddler, 26 September 2025 (thefiddler.substack.com), and its published solutions.
    three, four = (CardOdds(Hand(unknown=n)).set_chance for n in (3, 4))
    assert (round(float(three), 5), round(float(four), 5)) == (0.42283, 0.81700)
    assert round(float(CardOdds().cards_needed or 0), 4) == 3.7602
    assert CardOdds(Hand(unknown=3), deck=Hand(14, 14, 14)).set_chance == Fraction(137, 410)


def test_known_and_seen_cards_are_not_drawn_again() -> None:
    cards = Counter(list_cards(SMALL))
    cards.subtract("iicw")  # two infantry cards are held; a cavalry card and the joker are seen
    drawn = [*combinations(cards.elements(), 2)]
    share = Fraction(sum(has_set(("i", "i", *more)) for more in drawn), len(drawn))
    odds = CardOdds(Hand(infantry=2, unknown=2), seen=Hand(cavalry=1, jokers=1), deck=SMALL)
    assert odds.set_chance == share


@pytest.mark.parametrize("trade", TABLES, ids=repr)
@pytest.mark.parametrize("habit", HABITS)
def test_armies_of_opponents_are_counted_over_all_deals(trade: Sets, habit: Habit) -> None:
    letters = list_cards(SMALL)
    pool = range(1, len(letters))  # the player holds the first infantry card
    counted = {"blue": Counter[int](), "green": Counter[int]()}
    for first, second in deal(pool, (3, 5)):
        armies, sets = play_trades(tuple(letters[k] for k in first), trade, habit)
        counted["blue"][armies] += 1
        hand = tuple(letters[k] for k in second)
        counted["green"][play_trades(hand, skip_sets(trade, sets), habit)[0]] += 1
    odds = CardOdds(Hand(infantry=1), {"blue": 3, "green": 5}, trade, deck=SMALL)
    for name, found in odds.find_opponents_armies(habit).items():
        total = sum(counted[name].values())
        assert dict(found.items()) == {n: Fraction(k, total) for n, k in counted[name].items()}


@pytest.mark.parametrize("trade", TABLES, ids=repr)
@pytest.mark.parametrize("habit", HABITS)
def test_waiting_brings_the_mean_over_all_deals(trade: Sets, habit: Habit) -> None:
    letters = list_cards(SMALL)
    hand = [0, 1 if trade == RISIKO else 4, 10]  # two cards and the joker, a set
    pool = [k for k in range(len(letters)) if k not in hand]
    waited, deals = 0, 0
    for blue, drawn in deal(pool, (5, 1)):
        _, sets = play_trades(tuple(letters[k] for k in blue), trade, habit)
        mine = tuple(letters[k] for k in (*hand, *drawn))
        waited += play_trades(mine, skip_sets(trade, sets), "early")[0]
        deals += 1
    held = Hand(2, 0, 0, 1) if trade == RISIKO else Hand(1, 1, 0, 1)
    options = CardOdds(held, {"blue": 5}, trade, deck=SMALL).compare_trades(habit)
    assert {option.cards for option in options} == {Hand(), held}
    for cards, now, later in options:
        if cards == held:
            worth = find_worth("iiw" if trade == RISIKO else "icw", trade)
            assert (now, later.mean()) == (worth, 0)  # one card is no set
        else:
            assert (now, later.mean()) == (0, Fraction(waited, deals))
    assert options[0].total >= options[1].total


@pytest.mark.parametrize("trade", TABLES, ids=repr)
@pytest.mark.parametrize("number", [2, 4])
def test_the_cards_of_an_elimination_are_counted_over_all_hands(trade: Sets, number: int) -> None:
    mine, worth, at_once = ("i", "i", "a"), 0, 0
    pool = list_cards(SMALL - Hand(2, 0, 1))
    hands = [*combinations(pool, number)]
    for taken in hands:
        both = (*mine, *taken)
        # Seven cards: one trade at once, and perhaps a second trade on the next turn.
        must = len(both) >= 6
        sums = {c: find_worth(c, trade) for c in combinations(both, 3) if is_set(c)}
        now = max(sums.values()) if must else 0
        at_once += now
        if not must:
            worth += play_trades(both, trade, "early")[0]
    prey = CardOdds(Hand(2, 0, 1), {"blue": number}, trade, deck=SMALL).eliminate("blue")
    assert prey.number == 3 + number
    assert prey.at_once.mean() == Fraction(at_once, len(hands))
    assert prey.set_chance == Fraction(sum(has_set((*mine, *t)) for t in hands), len(hands))
    if number == 2:
        assert prey.worth == Fraction(worth, len(hands))
    else:
        assert prey.worth >= prey.at_once.mean()


def test_a_player_with_five_cards_cannot_wait() -> None:
    odds = CardOdds(Hand(infantry=3, cavalry=2), {"blue": 3})
    assert [option.cards for option in odds.compare_trades()] == [Hand(infantry=3)]


def test_a_deck_without_sets_needs_no_number_of_cards() -> None:
    odds = CardOdds(deck=Hand(2, 2))
    assert odds.cards_needed is None
    assert [chance for _, chance in odds.list_set_chances()] == [0, 0]


def test_a_turn_shows_only_what_its_player_sees() -> None:
    code = "1;classic;red;Peru:red:3,Siam:blue:2,Ural:green:4;attack;cards=blue:2,red:2.1.0.0.0"
    odds = find_card_odds(Turn.from_code(code))
    assert odds.hand == Hand(2, 1)
    assert odds.hands == {"blue": Hand(unknown=2), "green": Hand()}


def test_too_many_cards_are_rejected() -> None:
    with pytest.raises(IactaError, match="the deck has 14 infantry, but 15 are held or seen"):
        CardOdds(Hand(infantry=15))
    with pytest.raises(IactaError, match="the deck has 44 cards, but 45 are held or seen"):
        CardOdds(opponents={"blue": 45})
    with pytest.raises(IactaError, match="60 unknown cards of this deck are too many"):
        CardOdds(opponents=dict.fromkeys("abc", 20), deck=Hand(30, 30, 30, 10))
    with pytest.raises(IactaError, match="seen must not contain unknown cards"):
        CardOdds(seen=Hand(unknown=1))
