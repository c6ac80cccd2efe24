"""Recordings of games: their reviews equal those of the same turns as JSON lines."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from iacta import IactaError, review
from iacta.board import Board, Position
from iacta.game import Advance, Attack, Losses, Turn

BORDERS = [(v, c) for v in "ABCD" for c in "ABCD" if v != c and {v, c} != {"A", "D"}]
BOARD = Board("square", tuple("ABCD"), tuple(BORDERS))
START = {"A": ("Ada", 9), "B": ("Ada", 5), "C": ("Ben", 4), "D": ("Ben", 4)}
NUMBERS = {"Ada": 1, "Ben": 2}
Lands = dict[str, tuple[str, int]]


def format_territories(lands: Lands, before: Lands | None = None) -> dict[str, dict[str, Any]]:
    """Return territories in the format of a recording."""
    return {
        name: {"ownedBy": NUMBERS.get(owner), "units": armies, "isCapital": False}
        | ({} if before is None else {"previousUnits": before[name][1]})
        for name, (owner, armies) in lands.items()
    }


class Recorder:
    """Records a game and plays random turns.

    lands: the current map.
    rounds: the events of each round in the form of a recording.
    """

    def __init__(self, lands: Lands, dice: str = "TrueRandom") -> None:
        self.lands, self.dice = lands, dice
        self.rounds: dict[str, Any] = {}

    def begin(self, player: str) -> None:
        """Begin a turn in a new round."""
        self.snapshots: list[dict[str, Any]] = []
        number = str(len(self.rounds) + 1)
        turns = {str(NUMBERS[player]): {"snapshots": self.snapshots}}
        self.rounds[number] = {"mapState": format_territories(self.lands), "playerTurns": turns}

    def change(self, lands: Lands) -> None:
        """Record a change of some territories."""
        changed = {name: each for name, each in lands.items() if self.lands[name] != each}
        snapshot = {"type": "territory", "time": 50 * len(self.snapshots)}
        self.snapshots.append(snapshot | {"territories": format_territories(changed, self.lands)})
        self.lands = self.lands | changed

    def text(self) -> str:
        """Return the recording."""
        info = {"map": "Square", "dice": self.dice, "gameMode": "WorldDomination"}
        players = {str(number): {"name": name} for name, number in NUMBERS.items()}
        return json.dumps(
            {"gameInfo": info, "players": players, "roundInfo": self.rounds}, indent=1
        )


def read_holdings(turn: Turn) -> Lands:
    """Return the owner and the armies of each territory."""
    holdings = ((name, turn.position.find_holding(name)) for name in turn.board.territories)
    return {name: (each.owner, each.armies) for name, each in holdings}


def play(recorder: Recorder, player: str, rng: np.random.Generator) -> str:
    """Play a random turn; return it as a line of a log."""
    recorder.begin(player)
    place = next(name for name, (owner, _) in recorder.lands.items() if owner == player)
    recorder.change({place: (player, recorder.lands[place][1] + 3)})
    position = Position(BOARD, player, recorder.lands)
    rules = "classic" if recorder.dice == "TrueRandom" else "balanced blitz"
    line = Turn(position, rules, phase="attack").to_code()
    turn, battles = Turn(position, rules, phase="attack", whole_battles=True), []
    for _ in range(4):
        attacks = [each for each in turn.actions() if isinstance(each, Attack)]
        if not attacks:
            break
        attack = attacks[rng.integers(len(attacks))]
        (result,) = turn.results(attack).sample(1, rng)
        assert isinstance(result, Losses)
        if not result.defenders:
            continue  # a recording would not show the target of this attack
        before, turn = turn, turn.after(attack, result)
        battle: dict[str, Any] = {
            "from": attack.start,
            "to": attack.to,
            "left": before.position.find_holding(attack.start).armies - result.attackers,
            "their_left": before.position.find_holding(attack.to).armies - result.defenders,
        }
        if turn.phase == "advance":
            advances = [each for each in turn.actions() if isinstance(each, Advance)]
            recorder.change(read_holdings(turn.after(advances[0])))
            advance = advances[rng.integers(len(advances))]
            turn, battle["moved"] = turn.after(advance), advance.armies
        if read_holdings(turn) != recorder.lands:
            recorder.change(read_holdings(turn))
        battles.append(battle)
    record = {"turn": line, "board": BOARD.to_record(), "battles": battles}
    mine = [name for name, each in recorder.lands.items() if each[0] == player and each[1] > 1]
    if len(mine) > 1 and "moved" not in (battles or [{}])[-1]:  # otherwise it looks like an advance
        (one, from_one), (other, from_other) = (
            (each, recorder.lands[each][1]) for each in mine[:2]
        )
        recorder.change({one: (player, from_one - 1), other: (player, from_other + 1)})
    return json.dumps(record)


@pytest.mark.parametrize("dice", ["TrueRandom", "BalancedBlitz"])
@pytest.mark.parametrize("seed", range(8))
def test_a_recording_and_its_turns_have_equal_reviews(seed: int, dice: str) -> None:
    rng, recorder = np.random.default_rng(seed), Recorder(START, dice)
    lines = [
        play(recorder, player, rng)
        for player in ("Ada", "Ben", "Ada")
        if player in {owner for owner, _ in recorder.lands.values()}
    ]
    found = review(recorder.text(), board=BOARD, worth=True)
    assert replace(found, ambiguous=0) == review("\n".join(lines), worth=True)
    assert len({each.turn for each in found.steps}) == len(lines)
    assert not found.unclear


def test_after_an_unclear_attack_a_turn_continues_from_the_map() -> None:
    recorder = Recorder(START)
    recorder.begin("Ada")
    recorder.change({"A": ("Ada", 8), "C": ("Ben", 3)})
    recorder.change({"A": ("Ada", 6)})  # an attack on an unknown territory
    recorder.change({"A": ("Ada", 1), "C": ("Ada", 4)})
    found = review(recorder.text(), board=BOARD)
    assert [each.name for each in found.steps] == ["A to C", "A to C", "stop"]
    assert {each.turn for each in found.steps} == {1}
    assert found.unclear == (("attacks in which one side shows no loss", 1),)


def test_placing_armies_during_a_turn_is_not_luck() -> None:
    recorder = Recorder(START)
    recorder.begin("Ada")
    recorder.change({"A": ("Ada", 8), "C": ("Ben", 3)})
    recorder.change({"A": ("Ada", 12)})
    found = review(recorder.text(), board=BOARD, worth=True)
    attack, stop = found.steps
    assert (attack.name, stop.name) == ("A to C", "stop")
    assert stop.before is not None
    assert attack.after is not None
    assert stop.before > attack.after


def test_an_attack_over_no_border_is_left_out() -> None:
    recorder = Recorder(START)
    recorder.begin("Ada")
    recorder.change({"A": ("Ada", 8), "D": ("Ben", 3)})
    found = review(recorder.text(), board=BOARD)
    assert [each.name for each in found.steps] == ["stop"]
    assert found.unclear == (("attacks that the rules do not allow", 1),)


def test_players_of_equal_name_are_distinguished() -> None:
    recorder = Recorder(START)
    for player in NUMBERS:
        recorder.begin(player)
        recorder.change({"A": ("Ada", 9)} if player == "Ben" else {"A": ("Ada", 10)})
    text = recorder.text().replace('"Ben"', '"Ada"')
    assert [each.player for each in review(text, board=BOARD).players] == ["Ada 1", "Ada 2"]


def test_a_recording_needs_its_board() -> None:
    recorder = Recorder(START)
    recorder.begin("Ada")
    recorder.change({"A": ("Ada", 12)})
    sentence = "round 1: board must match the map 'Square': board 'classic' has no territory 'A'"
    with pytest.raises(IactaError, match=sentence):
        review(recorder.text())
    with pytest.raises(IactaError, match="the recording has no turns"):
        review(Recorder(START).text())
