"""The reasons of attacks that matter, from the turn before and after the attack."""

import pytest

from iacta import Turn
from iacta.forms.reasons import describe_reason
from iacta.game import play_step

HELD = "Peru:red:9,Venezuela:red:1,Argentina:red:1,Brazil:blue:1"
OTHERS = "Siam:blue:5,Ural:green:2"


def reason(code: str, to: str, start: str = "Peru", *, is_taken: bool = True) -> str:
    """Return the reason of an attack with nine armies."""
    left = {"left": 9, "their_left": 0} if is_taken else {"left": 1, "their_left": 1}
    turn = Turn.from_code(f"1;classic;red;{code}")
    return describe_reason(play_step(turn, {"do": "attack", "from": start, "to": to, **left}))


def test_a_conquest_that_changes_little_has_no_reason() -> None:
    assert reason("Peru:red:9,Brazil:blue:1,Argentina:blue:1,Ural:green:2", "Brazil") == ""


def test_the_last_territory_takes_its_continent() -> None:
    assert reason(f"{HELD},{OTHERS}", "Brazil") == "takes South America: +2 a turn"


def test_the_first_territory_breaks_the_continent_of_its_owner() -> None:
    code = "Peru:red:9,Venezuela:blue:1,Argentina:blue:1,Brazil:blue:1"
    assert (
        reason(f"Brazil:red:9,{code.replace('Brazil:blue:1', 'Siam:green:1')}", "Venezuela") == ""
    )
    code = "North Africa:red:9,Venezuela:blue:1,Argentina:blue:1,Brazil:blue:1,Peru:blue:1"
    words = "breaks South America: -2 a turn for blue"
    assert reason(f"{code},Siam:green:1", "Brazil", "North Africa") == words


def test_an_elimination_names_the_cards_that_it_takes() -> None:
    code = "Peru:red:9,Brazil:blue:1,Ural:green:2;attack;cards=red:0.0.0.0.1,blue:3.0.0.0.0"
    assert reason(code, "Brazil") == "eliminates blue and takes 3 cards"


def test_the_last_elimination_wins() -> None:
    assert reason("Peru:red:9,Brazil:blue:1", "Brazil") == "eliminates blue; wins the game"


def test_a_capital_is_named() -> None:
    code = f"{HELD},{OTHERS};attack;win=capitals:all,red:Peru,blue:Brazil,green:Ural"
    words = "takes South America: +2 a turn; takes blue's capital"
    assert reason(code, "Brazil") == words


@pytest.mark.parametrize("before", ["", "conquered=1;"])
def test_only_the_first_conquest_of_a_turn_earns_a_card(before: str) -> None:
    code = (
        f"Peru:red:9,Brazil:blue:1,Argentina:blue:1,Ural:green:2;attack;{before}cards=red:0.0.0.0.1"
    )
    assert reason(code, "Brazil") == ("" if before else "earns a card")


def test_an_attack_that_fails_says_what_it_would_have_changed() -> None:
    words = "would take South America: +2 a turn"
    assert reason(f"{HELD},{OTHERS}", "Brazil", is_taken=False) == words
    cards = "Peru:red:9,Brazil:blue:1,Argentina:blue:1,Ural:green:2;attack;cards=red:0.0.0.0.1"
    assert reason(cards, "Brazil", is_taken=False) == ""
