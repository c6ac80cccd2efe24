"""Whole games with persons, AIs and policies."""

import json
from collections.abc import Mapping
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from iacta import Game, Hand, IactaError, Turn, classic_board, deal
from iacta.game import Action, Attack, EndPhase, Place
from iacta.game.turn import PlayedTurn
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.rules import Rules
from iacta.war.game import DECISIONS, PERSON
from iacta.war.games import War, list_seats
from iacta.war.players import PLAYERS
from tests.cases import choose_seeds, for_each
from tests.game.positions import at_random, make_line_turn
from tests.war.games import NAMES, random_turn
from tests.war.test_hidden import deal_hidden, list_turns
from tests.war.victories import CONDITIONS

pytestmark = pytest.mark.usefixtures("core")
BOARD = classic_board()


def decide_at_random(turn: Turn, rng: Random) -> Action | Mapping[str, Any]:
    """Return a random decision of a person; all new armies go to one territory."""
    if turn.phase == "place":
        own = [t for t, o in enumerate(turn.owners) if o == turn.player and t >= turn.first]
        return Place(turn.board.territories[rng.choice(own)], turn.place)
    action = at_random(turn, rng)
    if isinstance(action, Attack) and rng.random() < 0.5:
        return {"do": "roll", "from": action.start, "to": action.to}
    return action


def play_to_end(game: Game, rng: Random) -> Game:
    """Play a game in which persons decide at random."""
    game = game.play()
    while (player := game.waits_for) is not None:
        assert game.seats[player] == PERSON
        assert game.turn.player == player
        game = game.decide(decide_at_random(game.turn, rng)).play()
    assert game.is_over
    return game


def restore(game: Game) -> Game:
    """Return the game after saving and loading it."""
    return Game.from_record(json.loads(json.dumps(game.to_record())), seed=game.seed)


@for_each("seed", choose_seeds(range(300), 16))
def test_random_games_end_and_can_be_restored(seed: int) -> None:
    rng = Random(seed)  # noqa: S311 # no secrets
    turn = random_turn(rng)
    if rng.random() < 0.5:
        condition = rng.choice([*CONDITIONS])
        turn = turn.with_options(victory=CONDITIONS[condition](rng, turn))
    seats = {name: rng.choice((PERSON, *PLAYERS)) for name in list_seats(turn)}
    if turn.phase == "defend" or len(seats) < 2 or turn.player not in seats:
        return
    game = play_to_end(Game(turn, seats, seed, max_rounds=3), rng)
    assert game.winner is not None or game.rounds == 3
    assert restore(game) == game
    before = game.start
    for step in game.steps:
        assert step.turn == before
        before = step.after


@for_each("victory", ["capitals", "missions", None])
def test_computers_alone_play_a_game_to_its_end(victory: str | None) -> None:
    start = deal(BOARD, NAMES[:4], seed=3, victory=victory)
    seats = dict(zip(NAMES, ("usual", "simple", "keeper", "usual"), strict=False))
    game = Game(start, seats, seed=3).play()
    assert game.winner in NAMES[:4]
    assert game.turn.phase == "over"
    assert game.waits_for is None


def test_a_seed_repeats_a_game_and_iterating_changes_nothing() -> None:
    start = deal(BOARD, NAMES[:3], seed=1)
    game = Game(start, dict.fromkeys(NAMES[:3], "usual"), seed=1, max_rounds=3)
    assert [*game] == [*game]
    assert game.steps == ()
    assert game.play() == Game(start, game.seats, seed=1, max_rounds=3).play()
    other = Game(start, game.seats, seed=2, max_rounds=3).play()
    assert other.steps != game.play().steps


def test_an_ai_chooses_only_from_what_its_player_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Turn]()

    class WatchedWar(War):
        def __init__(self, turn: Turn) -> None:
            opened.append(turn)
            super().__init__(turn)

    monkeypatch.setattr("iacta.war.game.War", WatchedWar)
    rng, hidden = Random(1), 0  # noqa: S311 # no secrets
    for number, name in enumerate(2 * [*PLAYERS]):
        for each in list_turns(number):
            turn = deal_hidden(each, each.player, rng)
            if turn.phase in ("defend", "over") or turn.winner is not None:
                continue
            hidden += turn.seen_by(turn.player) != turn
            for step in Game(turn, dict.fromkeys(list_seats(turn), name), number):
                if step.step["do"] == "next":
                    break
    assert hidden > 5
    assert len(opened) > hidden
    assert all(turn.seen_by(turn.player) is turn for turn in opened)


def test_a_policy_decides_from_what_its_player_sees() -> None:
    start = Turn.from_code(
        "1;classic;red;Peru:red:9,Brazil:blue:1,Siam:blue:1;attack;cards=blue:2.0.0.0.0"
    )
    seen = list[Hand]()

    def look(turn: Turn) -> Action:
        seen.append(turn.hand_of("blue"))
        return turn.actions()[0]

    game = Game(start, {"red": look, "blue": "usual"}, seed=1, max_rounds=1).play()
    assert {*seen} == {Hand(unknown=2)}
    assert game.turn.survivors == ("red", "blue")


def test_a_battle_of_an_ai_is_one_step_with_its_losses() -> None:
    start = Turn.from_code("1;classic;red;Peru:red:60,Brazil:blue:20,Argentina:blue:9")
    steps = [*Game(start, {"red": "usual", "blue": "usual"}, seed=1, max_rounds=1)]
    battles = [step for step in steps if step.losses is not None]
    assert max(sum(step.losses) for step in battles if step.losses) > 10
    assert all(step.step["do"] == "attack" for step in battles)
    borders = [(step.step.get("from"), step.step.get("to")) for step in steps]
    assert not [pair for pair, after in pairwise(borders) if pair == after != (None, None)]
    assert not {"mine", "theirs", "seed"} & {key for step in steps for key in step.step}


def test_taking_back_returns_to_the_last_decision_with_new_dice() -> None:
    start = Turn.from_code("1;classic;red;Peru:red:30,Brazil:blue:20,Siam:blue:3")
    game = Game(start, {"red": PERSON, "blue": "usual"}, seed=1)
    roll = {"do": "roll", "from": "Peru", "to": "Brazil", "dice": 3}
    after = game.decide(roll)
    assert after.take_back().turn == start
    ended = after.decide(EndPhase()).play()
    assert ended.take_back().steps == after.steps
    losses = set[object]()
    again = after
    for _ in range(12):
        again = again.take_back().decide(roll)
        losses.add(again.steps[-1].losses)
    assert len(losses) > 1
    with pytest.raises(IactaError, match="no person has made a decision"):
        game.take_back()


def test_an_ai_continues_for_a_person_who_resigns() -> None:
    start = deal(BOARD, NAMES[:3], seed=1)
    seats = {"red": PERSON, "blue": "simple", "green": "simple"}
    game = Game(start, seats, seed=1).resign("red").play()
    assert game.seats["red"] == "usual"
    assert game.winner is not None
    with pytest.raises(IactaError, match="player must be a person of the game, got 'red'"):
        game.resign("red")
    with pytest.raises(IactaError, match="player must be a person of the game"):
        game.resign(["red"])  # type: ignore[arg-type] # wrong on purpose


def test_the_defender_of_a_person_answers_each_roll() -> None:
    start = make_line_turn("r9 b5 g9", rules=Rules(mode=DefenderSeesFirst()))
    game = Game(start, {"red": PERSON, "blue": PERSON, "green": "simple"}, seed=2)
    after = game.decide(start.actions()[0])
    assert after.turn.phase == "attack"
    assert after.steps[-1].losses is not None


START = "1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1"
SEATS = {"red": PERSON, "blue": "usual"}


@for_each(
    "seats, words",
    [
        ({"red": PERSON}, "seats must be given for red, blue, got ['red']"),
        ({**SEATS, "pink": "usual"}, "seats must be given for red, blue"),
        ({**SEATS, "blue": "hard"}, "player must be one of usual"),
        ({**SEATS, "blue": 3}, "or a policy, got 3"),
        (3, "seats must be a mapping"),
    ],
)
def test_wrong_seats_are_refused(seats: Any, words: str) -> None:
    with pytest.raises(IactaError) as raised:
        Game(Turn.from_code(START), seats)
    assert words in str(raised.value)


@for_each(
    "decision, words",
    [
        ({"do": "next"}, f"do must be one of {', '.join(DECISIONS)}"),
        ({"do": "get", "armies": 9}, "do must be one of"),
        ({"do": "correct", "on": [["Peru", "red", 99]]}, "do must be one of"),
        ({"do": "roll", "from": "Peru", "to": "Brazil", "seed": 4}, "the game rolls the dice"),
        ({"do": "advance", "armies": 2}, "no territory has just been taken"),
        (Attack("Brazil", "Peru", 1), "Brazil cannot attack Peru"),
        (3, "action must be an action class of iacta.game, got 3"),
    ],
)
def test_wrong_decisions_are_refused(decision: Any, words: str) -> None:
    game = Game(Turn.from_code(START), SEATS, seed=1)
    with pytest.raises(IactaError) as raised:
        game.decide(decision)
    assert words in str(raised.value)


def test_nobody_decides_for_a_computer_or_after_the_end() -> None:
    game = Game(Turn.from_code(START), {"red": "usual", "blue": PERSON}, seed=1)
    with pytest.raises(IactaError, match="no person can decide now: the computer plays red"):
        game.decide(EndPhase())
    with pytest.raises(IactaError, match="no person can decide now: the game is over"):
        game.play().decide(EndPhase())


@for_each(
    "change, words",
    [
        ({"version": 2}, "version must be 1, got 2"),
        ({"dice": 3}, "dice"),
        ({"turn": 3}, "turn must be a code"),
        ({"steps": [{"do": "fly"}]}, "step 1: do must be one of"),
        ({"steps": [3]}, "step 1: step must be a JSON object, got 3"),
        ({"max_rounds": 0}, "max_rounds must be"),
    ],
)
def test_a_wrong_record_of_a_game_is_refused(change: dict[str, Any], words: str) -> None:
    record = Game(Turn.from_code(START), SEATS, seed=1).to_record()
    with pytest.raises(IactaError) as raised:
        Game.from_record({**record, **change})
    assert words in str(raised.value)


def test_a_policy_cannot_be_saved() -> None:
    seats: dict[str, Any] = {"red": lambda turn: turn.actions()[-1], "blue": "usual"}
    with pytest.raises(IactaError, match="seats must be names to be saved"):
        Game(Turn.from_code(START), seats, seed=1).to_record()


def test_an_ai_that_finds_no_action_ends_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    start = deal(classic_board(), ("red", "blue"), seed=1)
    seats = {"red": "usual", "blue": "person"}
    monkeypatch.setattr(War, "play_turn", lambda self, *_: PlayedTurn((), self.turn))
    steps = [*Game(start, seats, 1)]
    assert [step.step["do"] for step in steps] == ["place", "stop", "stop", "next"]

    def fail(*_: object) -> None:
        raise IactaError("too many armies")

    monkeypatch.setattr(War, "play_turn", fail)
    assert [step.step["do"] for step in Game(start, seats, 1)] == [
        step.step["do"] for step in steps
    ]


def test_only_a_table_enters_its_own_dice() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
    game = Game(turn, {"red": "person", "blue": "usual"}, seed=5)
    faces = {"do": "faces", "from": "Peru", "to": "Brazil", "mine": "665", "theirs": "11"}
    attack = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 9, "their_left": 0}
    for step in (faces, attack):
        with pytest.raises(IactaError, match=f"do must not be '{step['do']}'"):
            game.decide(step)
        assert game.decide(step, has_table_dice=True).turn.armies_on("Peru") <= 9
