"""Turns for the board page: new armies, and the texts for rolls and first attacks."""

import pytest
from playwright.sync_api import expect

from iacta.board.files import classic_board
from iacta.web.turns import replay_turns
from tests.web.conftest import Visit

CODE = "1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1,Venezuela:blue:2"
# Alaska has 9 armies, the Northwest Territory has 1, and all other territories are unowned.
LINK = "/map#p=red&p=blue&h=a9.b1.-x40&g=all&t=1"


def test_a_replayed_turn_has_its_usual_new_armies_and_the_words_of_its_rolls() -> None:
    (start,) = replay_turns({"code": CODE})["turns"]
    assert start["usual"] == 3
    rolls = [roll for border in start["odds"] for roll in border["rolls"]]
    assert rolls
    for lost, killed, label, sentence in rolls:
        assert label == f"I lose {lost}, they {killed}"
        assert sentence.startswith(f"I lose {lost}, they lose {killed} with ")


def test_an_incomplete_setup_has_a_reason_instead_of_turns() -> None:
    empty = {"owners": [-1] * 42, "armies": [0] * 42}
    found = replay_turns({"setup": {"players": ["red", "blue"], "mover": 0, **empty}})
    assert found["turns"] == []
    assert found["problem"] == "player must be a player with a territory, got 'red'"


def test_a_turn_states_the_victory_condition_and_the_winner() -> None:
    places = {name: t for t, name in enumerate(classic_board().territories)}
    steps = list[dict[str, object]]()
    for name, left, moved in (("Argentina", 9, 3), ("Brazil", 6, 3), ("Venezuela", 3, 2)):
        border = {"from": places["Peru"], "to": places[name], "left": left, "their_left": 0}
        steps.append({"do": "attack", "after": len(steps), **border})
        steps.append({"do": "advance", "after": len(steps), "armies": moved})
    turns = replay_turns({"code": f"{CODE};attack;win=share:4", "steps": steps})["turns"]
    assert [turn.get("problem") for turn in turns] == [None] * 7
    assert [turn["winner"] for turn in turns] == [None] * 5 + ["red"] * 2
    assert turns[0]["condition"] == (
        "The first player who owns 4 of the 42 territories wins. So far: blue: 3 of 4 territories; "
        "red: 1 of 4 territories."
    )
    assert turns[-1]["condition"].endswith("Red has won: no other player is left.")
    assert (turns[-1]["phase"], turns[-1]["sentence"]) == ("over", "Red wins the game.")
    assert all(";win=share:4" in turn["code"] for turn in turns)
    assert replay_turns({"code": CODE})["turns"][0]["condition"] == ""


@pytest.mark.parametrize(("more", "words"), [("", "best"), ("&o=1", "to take: best")])
def test_attacks_of_a_hold_plan_are_compared_by_the_chance_to_conquer(
    visit: Visit, more: str, words: str
) -> None:
    page = visit(LINK + more)
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#moves button small").first).to_have_text(words)
