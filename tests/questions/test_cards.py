"""The answers of the question `cards` in words."""

from typing import Any

import pytest

from iacta import IactaError
from iacta.questions import ask
from iacta.questions.cards import CardOddsRecord


def ask_cards(**parameters: Any) -> CardOddsRecord:
    """Return the answer to the question as a record."""
    record = ask("cards", **parameters).data
    assert isinstance(record, CardOddsRecord)
    return record


def test_the_advice_depends_on_the_habits_only_if_they_matter() -> None:
    hand = "3 infantry"
    forced = ask_cards(hand=hand, opponents={"blue": 5})
    assert "Wait: that brings more armies in two turns." in forced.words
    free = ask_cards(hand=hand, opponents={"blue": 4})
    assert "Whether to trade or to wait depends on how your opponents trade." in free.words
    fixed = ask_cards(hand="1 infantry, 1 cavalry, 1 artillery", trade="fixed")
    assert "Trade 1 infantry, 1 cavalry, 1 artillery now." in fixed.words


def test_a_saved_turn_gives_the_cards_and_the_sets() -> None:
    code = "1;classic;red;Peru:red:3,Siam:blue:2;trade;cards=blue:3,red:2.0.0.1.0;sets=20"
    saved = ask_cards(position=code)
    typed = ask_cards(hand="2 infantry, 1 wild", opponents={"blue": 3}, trade="20")
    assert saved == typed
    later = ask_cards(position=code.replace(";trade;", ";over;"))
    assert later.trades == []  # the time to trade is over


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"hand": "2 cannons"}, "hand must be cards such as '2 infantry, 1 wild'"),
        ({"cards": 4, "hand": "3"}, "cards cannot be combined with hand"),
        ({"opponents": [["blue", 2], ["blue", 3]]}, "opponents must name each player once"),
        ({"position": "1;classic;red;Peru:red:3"}, "position must be a turn of a game with cards"),
        ({"seen": "3 infantry", "deck": "2 infantry"}, "the deck has 2 infantry, but 3 are held"),
    ],
)
def test_wrong_cards_are_rejected(parameters: dict[str, Any], error: str) -> None:
    with pytest.raises(IactaError, match=error):
        ask_cards(**parameters)


def test_a_kind_of_card_without_a_number_counts_one() -> None:
    named = ask("cards", hand="infantry, cavalry, 2 wild")
    assert named.data == ask("cards", hand="1 infantry, 1 cavalry, 2 wild").data
    with pytest.raises(IactaError, match="hand must be cards such as '2 infantry, 1 wild', got"):
        ask("cards", hand="infantry, 2 axes")


def test_sentences_name_the_cards_of_the_house_rule() -> None:
    opponents = {"blue": 6}
    usual = str([*ask("cards", hand="3 infantry", opponents=opponents).sections()])
    assert "late: only with five or more cards" in usual
    assert "because you then hold six or more cards" in usual
    house = str([*ask("cards", hand="3 infantry", opponents=opponents, trade="at8").sections()])
    assert "late: only with eight or more cards" in house
    assert "because you then hold eight or more cards" in house
    code = "1;classic;red;Peru:red:9,Brazil:blue:2,Siam:green:2;attack;cards=red:2,blue:6,green:0"
    plan = str([*ask("plan", position=f"{code};sets=at8", eliminate="blue").sections()])
    assert "Players with eight or more cards must trade in sets until seven or fewer are" in plan
