"""Actions as JSON, and played moves as recorded steps."""

import json
from random import Random

import jsonschema
import pytest

from iacta import (
    Board,
    Hand,
    IactaError,
    IllegalError,
    MalformedError,
    Position,
    Rules,
    Turn,
)
from iacta.game import (
    ACTION_SCHEMA,
    Action,
    Defend,
    Fortify,
    Place,
    Reveal,
    Trade,
    play_step,
    read_action,
    record_action,
)
from iacta.game.action_records import record_moves
from iacta.game.step_text import format_step_text, parse_step_text
from tests.cases import choose_seeds, for_each
from tests.game.positions import at_random
from tests.game.test_sent_actions import BOARD, CODES, KINDS
from tests.war.games import random_turn

SCHEMA = jsonschema.Draft202012Validator(ACTION_SCHEMA)


def send(turn: Turn, action: Action) -> Action:
    """Return an action that was sent as JSON, and read again."""
    record = json.loads(json.dumps(record_action(action)))
    SCHEMA.validate(record)
    return read_action(turn, record)


def test_the_schema_of_actions_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(ACTION_SCHEMA)


def test_each_kind_of_action_can_be_sent() -> None:
    kinds = set[type[object]]()
    for code in CODES:
        turn = Turn.from_code(code)
        for action in turn.actions():
            assert send(turn, action) == action
            kinds.add(type(action))
    assert kinds == {*KINDS}


@for_each("seed", choose_seeds(range(100), 12))
def test_actions_of_random_turns_can_be_sent(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    turn = random_turn(rng)
    for _ in range(15):
        for action in turn.actions()[:200]:
            assert send(turn, action) == action
        if turn.phase == "over":
            break
        action = at_random(turn, rng)
        turn = turn.after(action, turn.results(action).sample(1, rng.randrange(10**6))[0])


@for_each(
    "record, words",
    [
        ([], "action must be a JSON object, got []"),
        ({"do": "fly"}, "do must be one of reveal, trade, place, roll"),
        ({"do": "roll", "from": "Peru", "to": "Brazil"}, "dice must be given for an action 'roll'"),
        ({"do": "stop", "dice": 2}, "dice"),
        ({"do": "roll", "from": "Peru", "to": "Nowhere", "dice": 2}, "Nowhere"),
        ({"do": "roll", "from": "Peru", "to": "Brazil", "dice": "2"}, "dice must be"),
        ({"do": "roll", "from": "Brazil", "to": "Peru", "dice": 2}, "Brazil cannot attack Peru"),
        ({"do": "advance", "armies": 2}, "action must be legal in the phase 'attack'"),
        ({"do": "place", "on": [["Peru"]]}, "on must be one pair of a territory and armies"),
        ({"do": "trade", "cards": {"gold": 3}}, "cards must be infantry"),
        ({"do": "trade", "cards": 3}, "cards must be a JSON object, got 3"),
    ],
)
def test_a_wrong_record_is_refused_in_one_sentence(record: object, words: str) -> None:
    with pytest.raises(IactaError) as raised:
        read_action(Turn.from_code(f"{BOARD};attack"), record)  # type: ignore[arg-type] # wrong
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@for_each("seed", choose_seeds(range(200), 20))
def test_the_steps_of_played_moves_lead_to_the_same_turns(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    start = random_turn(rng)
    if start.phase == "over":
        return
    played = start.play(lambda turn: at_random(turn, rng), seed=seed)
    steps = [*record_moves(played.moves, played.end)]
    turn = start
    for each in steps:
        assert each.turn == turn
        turn = play_step(turn, json.loads(json.dumps(each.step))).after
        assert each.after == turn
    assert turn == played.end


def test_a_battle_and_a_placement_are_one_step_each() -> None:
    start = Turn.from_code("1;classic;red;Peru:red:20,Brazil:blue:9,Argentina:red:1;place;place=4")

    def attack(turn: Turn) -> Action:
        if turn.phase == "place":
            return Place("Peru", 1) if turn.place == 4 else Place("Argentina", turn.place)
        return turn.actions()[-1 if turn.phase in ("advance", "fortify") else 0]

    played = start.play(attack, seed=1)
    assert len(played.moves) > 8
    kinds = [each.step["do"] for each in record_moves(played.moves, played.end)]
    assert kinds == ["place", "attack", "advance"]


def test_steps_with_cards_have_short_texts() -> None:
    board = Board.from_edges("three", [("A", "B"), ("B", "C")])
    for step, text in (
        ({"do": "reveal", "cards": {"infantry": 2, "jokers": 1}}, "d2-0-0-1"),
        ({"do": "reveal", "cards": {"cavalry": 1, "territories": ["C"]}}, "d0-1-0-0-2"),
        ({"do": "trade", "cards": {"artillery": 3}}, "t0-0-3-0-0"),
        (
            {
                "do": "trade",
                "cards": {"infantry": 3, "territories": ["A", "C"]},
                "territory": "C",
            },
            "t3-0-0-0-3-0-2",
        ),
    ):
        assert format_step_text(step, board, ()) == text
        assert parse_step_text(text, (), board) == step
    for text in ("d1-0-0", "t1-1-1-0", "t1-1-1-0-4", "d1-0-0-0-3"):
        with pytest.raises(MalformedError, match=f"cannot read the step '{text}'"):
            parse_step_text(text, (), board)


def test_unknown_cards_can_be_revealed_in_any_phase() -> None:
    code = "1;classic;red;Peru:red:3,Siam:blue:2;over;cards=red:0.1.0.0.2"
    turn = Turn.from_code(code)
    drawn = {str(play_step(turn, {"do": "reveal", "seed": k}).step) for k in range(20)}
    assert len(drawn) > 3
    played = play_step(turn, {"do": "reveal", "cards": {"jokers": 2}})
    assert played.after.hand == Hand(cavalry=1, jokers=2)
    assert played.after.phase == "over"
    for cards in ({"jokers": 1}, {"jokers": 3}):
        with pytest.raises(IllegalError, match="red cannot reveal"):
            play_step(turn, {"do": "reveal", "cards": cards})
    with pytest.raises(IllegalError, match="red has no unknown cards to reveal"):
        play_step(played.after, {"do": "reveal", "seed": 1})


def test_cards_are_revealed_and_traded_by_steps() -> None:
    turn = Turn.from_code(f"{BOARD};trade;cards=red:5")
    shown = play_step(turn, {"do": "reveal", "seed": 3})
    assert shown.step["cards"] == {"cavalry": 3, "artillery": 2}
    assert play_step(turn, shown.step).after == shown.after
    traded = play_step(shown.after, {"do": "trade", "cards": {"cavalry": 3}})
    assert traded.words == "Trade 3 cavalry for 4 armies"
    assert traded.after.hand == Hand(artillery=2)


def test_a_single_roll_has_the_number_of_dice_that_was_chosen() -> None:
    turn = Turn.from_code(f"{BOARD};attack")
    step = {"do": "roll", "from": "Peru", "to": "Brazil", "dice": 1, "seed": 1}
    played = play_step(turn, step)
    assert played.step["dice"] == 1
    assert played.losses is not None
    assert sum(played.losses) == 1
    with pytest.raises(IactaError, match="dice must be 1 or 2 or 3 from Peru to Brazil, got 4"):
        play_step(turn, {**step, "dice": 4})


def test_records_without_a_step_of_their_own_are_actions_too() -> None:
    assert record_action(Defend(2)) == {"do": "defend", "dice": 2}
    assert record_action(Reveal()) == {"do": "reveal"}
    assert record_action(Fortify("A", "B", 1))["armies"] == 1
    assert record_action(Trade(Hand(jokers=2, infantry=1)))["cards"] == {"infantry": 1, "jokers": 2}


def test_new_armies_can_be_placed_on_an_own_territory_without_armies() -> None:
    line = Board.from_edges("line", [("A", "B"), ("B", "C")])
    start = Turn(
        Position(line, "red", {"A": ("red", 3), "B": ("blue", 1), "C": ("blue", 1)}), "classic"
    )
    turn = start.with_options(rules=Rules(garrison=0), place=2).replace_armies(
        ("red", "red", "blue"), (3, 0, 1)
    )
    assert play_step(turn, {"do": "place", "on": [["B", 2]]}).after.armies_on("B") == 2


def test_the_words_of_a_battle_name_both_players() -> None:
    turn = Turn.from_code(f"{BOARD};attack")
    step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 5, "their_left": 0}
    words = "Peru to Brazil: red loses 1, blue loses 3; Brazil is taken"
    assert play_step(turn, step).words == words
