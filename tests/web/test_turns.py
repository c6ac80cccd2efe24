"""Turns for the board page: new armies, and the texts for rolls and first attacks."""

import pytest
from playwright.sync_api import expect

from iacta import IllegalError, deal
from iacta.board.built_in import classic_board
from iacta.war.players import PLAYERS
from iacta.web.turns import deal_territories, play_turn, replay_turns
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
    assert (turns[-1]["phase"], turns[-1]["sentence"]) == (
        "over",
        "Red has won: no other player is left.",
    )
    assert all(";win=share:4" in turn["code"] for turn in turns)
    assert replay_turns({"code": CODE})["turns"][0]["condition"] == ""


@pytest.mark.parametrize(("more", "words"), [("", "best"), ("&o=1", "to take: best")])
def test_attacks_of_a_hold_plan_are_compared_by_the_chance_to_conquer(
    visit: Visit, more: str, words: str
) -> None:
    page = visit(LINK + more)
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#moves button small").first).to_have_text(words)


NAMES = ["red", "blue", "green"]


def test_a_deal_gives_the_armies_of_the_rule_book() -> None:
    dealt = deal_territories({"players": 3, "territories": 42})
    assert sum(dealt["armies"]) == 3 * 35
    with pytest.raises(IllegalError, match="players must be from 2 to 6, got 7"):
        deal_territories({"players": 7, "territories": 42})


@pytest.mark.parametrize("ai", PLAYERS)
def test_an_ai_plays_its_turn_in_steps_that_a_link_can_repeat(ai: str) -> None:
    start = deal(classic_board(), NAMES, seed=4, cards=False)
    body = {"code": start.to_code(), "players": NAMES}
    turns = play_turn({**body, "ai": ai, "seed": 7})["turns"]
    assert turns[0]["step"]["do"] == "place"
    assert turns[-1]["step"] == {"do": "next"}
    assert (turns[-1]["player"], turns[-1]["phase"]) == ("blue", "place")
    steps = [{"after": k, "text": turn["text"]} for k, turn in enumerate(turns)]
    replayed = replay_turns({**body, "steps": steps, "computers": ["red"]})["turns"][1:]
    keys = ("code", "words", "losses", "text")
    assert [{key: turn[key] for key in keys} for turn in replayed] == [
        {key: turn[key] for key in keys} for turn in turns
    ]


def test_a_step_of_a_computer_names_both_players() -> None:
    step = {"after": 0, "do": "attack", "from": "Peru", "to": "Brazil", "left": 8, "their_left": 2}
    for computers, words in (
        ([], "you lose 1, they lose 1"),
        (["red"], "red loses 1, blue loses 1"),
    ):
        body = {"code": CODE, "steps": [step], "computers": computers}
        after = replay_turns(body)["turns"][1]
        assert after["words"] == f"Peru to Brazil: {words}"
        assert after["losses"] == [1, 1]


def test_an_ai_that_wins_ends_the_game() -> None:
    code = "1;classic;red;Peru:red:900,Brazil:blue:1"
    turns = play_turn({"code": code, "ai": "usual", "seed": 1})["turns"]
    assert turns[-1]["winner"] == "red"
    assert turns[-1]["sentence"] == "Red has won: no other player is left."


@pytest.mark.parametrize("ai", PLAYERS)
def test_an_ai_does_not_use_the_hidden_cards_and_missions_of_others(ai: str) -> None:
    code = deal(classic_board(), NAMES, seed=3, victory="missions").to_code()
    found = []
    for hand, mission in (
        ("0.2.0.0.0", "North%20America%2C%20Africa"),
        ("2.0.0.0.0", "eliminate%20red"),
    ):
        hidden = code.replace("cards=;", f"cards=blue:{hand};")
        hidden = hidden.replace("North%20America%2C%20Africa", mission)
        turns = play_turn({"code": hidden, "ai": ai, "seed": 5})["turns"]
        found.append([(turn["words"], turn["armies"]) for turn in turns])
        assert hand in turns[-1]["code"]
        assert mission in turns[-1]["code"]
    assert found[0] == found[1]


def test_an_ai_that_does_not_exist_is_refused() -> None:
    words = "ai must be one of usual, keeper, strong, simple, got 'hal'"
    with pytest.raises(IllegalError, match=words):
        play_turn({"code": CODE, "ai": "hal"})
