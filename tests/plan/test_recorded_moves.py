"""Recordings of the official app's form: armies that move after a conquest, read by the rules.

Each recording is made up. Its form is that of RiskGameRecorder: the map at the start of a round,
then snapshots of the territories that changed, with their previous armies.
"""

import json
from typing import Any, NamedTuple

import pytest

from iacta import review
from iacta.board import Board
from tests.cases import for_each
from tests.tables import table

EDGES = [("A", "B"), ("B", "C"), ("C", "D"), ("A", "F"), ("F", "G")]
BOARD = Board("coast", tuple("ABCDFG"), tuple(way for v, c in EDGES for way in ((v, c), (c, v))))
NAMES = {1: "Ada", 2: "Ben", 3: "Cleo"}
Lands = dict[str, list[int]]  # the owner and the armies of each territory


class Recorded(NamedTuple):
    """A recorded turn of Ada, and its only reading.

    start: the owner and the armies of each territory.
    snapshots: the changes, in order.
    battles: the start, the target, the losses of both sides and the armies that move in.
    unclear: the events that are left out.
    ambiguous: the number of turns whose last move has two readings.
    dice: the dice mode.
    """

    start: Lands
    snapshots: list[Lands]
    battles: list[list[Any]]
    unclear: list[list[Any]]
    ambiguous: int = 0
    dice: str = "BalancedBlitz"


RECORDINGS = {name: Recorded(*fields) for name, *fields in table(__file__, "recordings")[1]}


def format_lands(lands: Lands, before: Lands | None = None) -> dict[str, dict[str, Any]]:
    """Return territories in the form of a recording."""
    return {
        name: {
            "ownedBy": owner,
            "isCapital": False,
            "isPortal": False,
            "isActivePortal": False,
            "units": armies,
            **({} if before is None else {"previousUnits": before[name][1]}),
        }
        for name, (owner, armies) in lands.items()
    }


def record(game: Recorded) -> str:
    """Return the recording of a turn."""
    lands, snapshots = game.start, list[dict[str, Any]]()
    for time, changed in enumerate(game.snapshots, 1):
        territories = format_lands(changed, lands)
        snapshots.append({"type": "territory", "territories": territories, "time": 1000 * time})
        lands = lands | changed
    events = {"income": 0, "cardsAtTurnStart": [], "cardsAfterTurn": [], "snapshots": snapshots}
    return json.dumps(
        {
            "metadata": {"version": 1, "date": "2026-01-01 00:00:00 +00:00"},
            "gameInfo": {"map": "coast", "gameMode": "WorldDomination", "dice": game.dice},
            "players": {str(number): {"name": name} for number, name in NAMES.items()},
            "roundInfo": {
                "1": {"mapState": format_lands(game.start), "playerTurns": {"1": events}}
            },
        }
    )


@for_each("name", RECORDINGS)
def test_no_battle_is_lost_and_forbidden_actions_are_not_assumed(name: str) -> None:
    game = RECORDINGS[name]
    found = review(record(game), board=BOARD)
    battles = [
        [each.start, each.to, each.lost, each.killed, each.moved] for each in found.steps if each.to
    ]
    assert battles == game.battles
    assert [*map(list, found.unclear)] == game.unclear
    assert found.ambiguous == game.ambiguous
    assert [each.name for each in found.steps].count("stop") == 1


def test_armies_that_move_back_cost_no_luck() -> None:
    board = Board.from_edges("three in a row", [("North", "Middle"), ("Middle", "South")])
    start: Lands = {"North": [1, 5], "Middle": [2, 2], "South": [2, 4]}
    there: Lands = {"North": [1, 1], "Middle": [1, 4]}
    back: Lands = {"North": [1, 4], "Middle": [1, 1]}
    found = review(record(Recorded(start, [there, back], [], [])), board=board)
    battle, stop = found.steps
    assert (battle.name, battle.lost, battle.killed, battle.moved) == ("North to Middle", 0, 2, 4)
    assert battle.luck_armies == pytest.approx(1.0, abs=0.05)
    assert (stop.name, found.unclear, found.ambiguous) == ("stop", (), 0)


def test_a_recorded_turn_ends_before_its_fortifying_move() -> None:
    back = RECORDINGS["fortification back of all that moved in"]
    ahead = back._replace(snapshots=back.snapshots[:1])
    assert review(record(back), board=BOARD) == review(record(ahead), board=BOARD)
